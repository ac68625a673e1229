//! `bulk`: INSERT BULK, which takes rows as the protocol has them
//! (<https://learn.microsoft.com/en-us/openspecs/windows_protocols/ms-tds/88176081-df75-4b24-bcfb-4c16ff03cbfa>).
//!
//! The driver asks the server for the columns and declares them to it as it got them. Of some types it declares another length than it
//! sends ([`Store::not_bulk`]); tables with such columns are for `values`. And it sends no value of more than 64 KB: a row with one is
//! inserted by a statement.

use std::sync::Arc;

use tiberius::{SqlBulkCopyOption, SqlBulkCopyOptions, TokenRow};

use crate::ddl::{Table, quote};
use crate::encode::{self, Form, Stores};
use crate::facts::DatabaseFacts;
use crate::fit;
use crate::knobs::{CHECK_CONSTRAINTS, FIRE_TRIGGERS, TABLOCK};
use crate::link;
use crate::load::{SAVE, Writing};
use crate::session::{Failure, Session};
use crate::types::{Kept, Store};
use inrush_core::encode::Shape;
use inrush_core::flow::{Cell, Encode};
use inrush_core::target::{Fit, Knobs};
use inrush_core::{Facts, Job, Request};
use inrush_net::statement::{Batch, Done, Write};

/// The strategy.
pub(super) struct Bulk;

pub(super) fn fit(request: &Request, facts: &Facts, knobs: &mut Knobs) -> Fit {
    if let Some(reason) = fit::not_for_bulk(request, facts) {
        return Fit::Unusable { reason };
    }
    for column in fit::columns(request, facts) {
        let declared = column.declared.clone().unwrap_or_default();
        if let Some(why) = Store::of(&column, &declared).not_bulk() {
            let reason = format!("column {} is {declared}: {why}", column.name);
            return Fit::Unusable { reason };
        }
        if column.name.chars().any(char::is_control) {
            let reason = format!("the name of column {:?} has a control character", column.name);
            return Fit::Unusable { reason };
        }
    }
    fit::fit(request, facts, knobs)
}

impl Writing for Bulk {
    fn encoder(&self, shape: Arc<Shape>, stores: &Stores, job: &Job) -> Box<dyn Encode> {
        encode::encoder(shape, stores, job, Form::Cells)
    }

    fn writer<'p, 's: 'p>(
        &self,
        table: &Table,
        stores: &Stores,
        job: &'p Job,
    ) -> Box<dyn Write<Session<'s>> + 'p> {
        let columns = job.choice.columns.iter().map(|column| quote(&column.name));
        Box::new(BulkWriter {
            table: table.sql(),
            columns: columns.collect(),
            stores: stores.clone(),
            options: options(&job.choice.knobs),
            has_identity: loads_identity(job),
        })
    }

    fn writes_identity(&self) -> bool {
        true
    }
}

/// Whether the file has something to say of the column that counts by itself.
fn loads_identity(job: &Job) -> bool {
    let identity = DatabaseFacts::of(&job.facts.target).identity.as_ref();
    !job.choice.action.makes_table()
        && job.choice.columns.iter().any(|column| Some(&column.name) == identity)
}

/// What the server is told besides the columns. NULL is never a column's default, and what the file says of a column that counts by
/// itself is kept: neither is asked for, for both are what the file says.
fn options(knobs: &Knobs) -> SqlBulkCopyOptions {
    let wanted = [
        (TABLOCK, SqlBulkCopyOption::TableLock),
        (CHECK_CONSTRAINTS, SqlBulkCopyOption::CheckConstraints),
        (FIRE_TRIGGERS, SqlBulkCopyOption::FireTriggers),
    ];
    wanted
        .into_iter()
        .filter(|(knob, _)| knobs.is(knob, "yes"))
        .fold(SqlBulkCopyOption::KeepNulls | SqlBulkCopyOption::KeepIdentity, |all, (_, option)| {
            all | option
        })
}

struct BulkWriter {
    table: String,
    /// The columns' names, as SQL has them.
    columns: Vec<String>,
    stores: Stores,
    options: SqlBulkCopyOptions,
    /// One of the columns counts by itself.
    has_identity: bool,
}

/// Bytes of a value at most that the driver sends: it takes the mark of a type without end for the type's length.
const VALUE_BYTES_MAX: usize = 0xffff;

impl BulkWriter {
    /// The values of one row; `None` when they aren't what the stores have made.
    fn row<'w>(&self, cells: &[Cell], batch: &Batch<'w>) -> Option<TokenRow<'w>> {
        let mut row = TokenRow::with_capacity(cells.len());
        for (cell, store) in cells.iter().zip(self.stores.iter()) {
            row.push(store.data(*cell, bytes(*cell, batch))?);
        }
        Some(row)
    }

    /// Whether a row has a value that the driver doesn't send.
    fn is_long(cells: &[Cell], batch: &Batch<'_>) -> bool {
        cells.iter().any(|cell| match cell {
            Cell::Bytes(_, span) => span.len as usize > VALUE_BYTES_MAX,
            // A character takes at most twice as many bytes in UTF-16 as in UTF-8, and nearly all values are far from it.
            Cell::Text(_, span) if span.len as usize > VALUE_BYTES_MAX / 2 => {
                let text = String::from_utf8_lossy(bytes(*cell, batch));
                text.encode_utf16().count() * 2 > VALUE_BYTES_MAX
            }
            Cell::Null | Cell::Integer(_) | Cell::Real(_) | Cell::Text(..) => false,
        })
    }

    /// Sends rows as they are.
    fn send(
        &self,
        session: &mut Session<'_>,
        rows: &[&[Cell]],
        batch: &Batch<'_>,
    ) -> Result<u64, Failure> {
        let columns: Vec<&str> = self.columns.iter().map(String::as_str).collect();
        let garbled =
            || tiberius::error::Error::Protocol("a value is not of its column's type".into());
        session.drive(|client| {
            link::run(async {
                let mut request = client
                    .bulk_insert_with_options(&self.table, &columns, self.options, &[])
                    .await?;
                for cells in rows {
                    request.send(self.row(cells, batch).ok_or_else(garbled)?).await?;
                }
                // What triggers do is counted before, each of their statements by itself.
                request.finalize().await.map(|done| done.into_iter().next_back().unwrap_or(0))
            })
        })
    }

    /// Sends a row as a statement.
    fn insert(
        &self,
        session: &mut Session<'_>,
        cells: &[Cell],
        batch: &Batch<'_>,
    ) -> Result<u64, Failure> {
        let mut sql = format!("INSERT INTO {} ({}) VALUES (", self.table, self.columns.join(", "))
            .into_bytes();
        for (index, (cell, store)) in cells.iter().zip(self.stores.iter()).enumerate() {
            if index > 0 {
                sql.push(b',');
            }
            match cell {
                Cell::Null => sql.extend_from_slice(b"NULL"),
                Cell::Integer(number) => store.literal(Kept::Integer(*number), &[], &mut sql),
                Cell::Real(number) => store.literal(Kept::Real(*number), &[], &mut sql),
                Cell::Text(..) | Cell::Bytes(..) => {
                    store.literal(Kept::Written, bytes(*cell, batch), &mut sql);
                }
            }
        }
        sql.push(b')');
        let sql = String::from_utf8(sql).map_err(|_| Failure::garbled())?;
        if !self.has_identity {
            return session.affected(&sql);
        }
        session.execute(format!("SET IDENTITY_INSERT {} ON", self.table))?;
        let affected = session.affected(&sql)?;
        session.execute(format!("SET IDENTITY_INSERT {} OFF", self.table))?;
        Ok(affected)
    }
}

fn bytes<'w>(cell: Cell, batch: &Batch<'w>) -> &'w [u8] {
    match cell {
        Cell::Text(home, span) | Cell::Bytes(home, span) => {
            batch.wire.value(batch.chunk, home, span)
        }
        Cell::Null | Cell::Integer(_) | Cell::Real(_) => &[],
    }
}

impl<'s> Write<Session<'s>> for BulkWriter {
    fn write(
        &mut self,
        session: &mut Session<'s>,
        batch: &Batch<'_>,
        guarded: bool,
    ) -> Result<Done, Failure> {
        if guarded {
            session.execute(SAVE)?;
        }
        let mut affected = 0;
        let mut rows: Vec<&[Cell]> = Vec::new();
        for cells in batch.cells() {
            if !Self::is_long(cells, batch) {
                rows.push(cells);
                continue;
            }
            if !rows.is_empty() {
                affected += self.send(session, &rows, batch)?;
                rows.clear();
            }
            affected += self.insert(session, cells, batch)?;
        }
        if !rows.is_empty() {
            affected += self.send(session, &rows, batch)?;
        }
        Ok(Done { affected, warnings: 0 })
    }

    fn needs_savepoint(&self, _batch: &Batch<'_>) -> bool {
        true
    }
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeMap;

    use super::*;
    use crate::STRATEGIES;

    #[test]
    fn options_are_those_of_the_knobs() {
        let knobs = |settings: &[(&str, &str)]| {
            let settings: BTreeMap<String, String> = settings
                .iter()
                .map(|(name, value)| ((*name).to_owned(), (*value).to_owned()))
                .collect();
            Knobs::resolve(STRATEGIES[0], &settings).unwrap()
        };
        assert_eq!(options(&knobs(&[])), SqlBulkCopyOptions::all());
        let few = options(&knobs(&[("tablock", "no"), ("fire_triggers", "no")]));
        assert!(few.contains(SqlBulkCopyOption::CheckConstraints));
        assert!(!few.contains(SqlBulkCopyOption::TableLock));
        assert!(few.contains(SqlBulkCopyOption::KeepNulls));
    }
}
