//! Rows whose foreign key refers to none, where that is known only when all rows are in: in a table that refers to itself a row's parent may
//! come later. So such a load has all keys checked at its end (<https://sqlite.org/pragma.html#pragma_defer_foreign_keys>). Where rows
//! have no parent then, the values of their keys are looked for, and the load starts again without the rows that have them.

use std::collections::HashMap;

use rusqlite::types::{Value, ValueRef};
use rusqlite::{Connection, params_from_iter};

use crate::ddl::quote;
use crate::deferred::shown;
use crate::session::Session;
use crate::types::{Affinity, affinity};
use inrush_core::flow::{Cell, Chunk, Code, RowFault, Wire};
use inrush_core::{Column, Job, OnConflict, Orphans, Parentless};

/// Most values that are kept.
const VALUES_MAX: usize = 200_000;

/// Whether the keys of the job's table are to be checked when all rows are in: one refers to the table itself, and whatever is wrong at the
/// end will be so by the rows' own keys. What triggers do to tables that have keys, too, and a change of what keys refer to, is laid to
/// a row only if SQLite checks it at once.
pub(super) fn wait(connection: &Connection, job: &Job) -> rusqlite::Result<bool> {
    const IS_ASKED: &str = "SELECT (SELECT foreign_keys FROM pragma_foreign_keys) \
         AND EXISTS (SELECT 1 FROM pragma_foreign_key_list(?1) WHERE \"table\" = ?1 COLLATE NOCASE) \
         AND NOT (EXISTS (SELECT 1 FROM sqlite_schema WHERE type = 'trigger' AND tbl_name = ?1 COLLATE NOCASE) \
             AND EXISTS (SELECT 1 FROM sqlite_schema AS other, pragma_foreign_key_list(other.name) \
                 WHERE other.type = 'table' AND other.name <> ?1 COLLATE NOCASE))";
    const REFERRED_TO: &str = "SELECT key.\"to\" FROM sqlite_schema AS child, pragma_foreign_key_list(child.name) AS key \
         WHERE child.type = 'table' AND key.\"table\" = ?1 COLLATE NOCASE";
    let Some(table) = job.kept_table() else { return Ok(false) };
    if !connection.query_row(IS_ASKED, [&job.table], |row| row.get(0))? {
        return Ok(false);
    }
    if matches!(job.request.on_conflict, OnConflict::Fail | OnConflict::Skip) {
        return Ok(true);
    }
    let stays = |name: &String| job.choice.key.iter().any(|key| key.eq_ignore_ascii_case(name));
    let mut columns = connection.prepare(REFERRED_TO)?;
    let mut columns = columns.query([&job.table])?;
    while let Some(row) = columns.next()? {
        let stay = match row.get::<_, Option<String>>(0)? {
            Some(name) => stays(&name),
            // A key without columns of the parent's means its primary key.
            None => table.primary_key.iter().all(stays),
        };
        if !stay {
            return Ok(false);
        }
    }
    Ok(true)
}

/// A foreign key of the load's table.
struct ForeignKey {
    columns: Vec<String>,
    parent: String,
    /// The columns that it refers to.
    parents: Vec<String>,
    is_own: bool,
    /// Of each column, whether `1` and `'1'` are two values in it.
    are_exact: Vec<bool>,
}

impl ForeignKey {
    /// Those whose columns the load brings.
    fn all(connection: &Connection, job: &Job) -> rusqlite::Result<Vec<Self>> {
        let mut list = connection.prepare(
            "SELECT id, \"table\", \"from\", coalesce(\"to\", (SELECT name FROM pragma_table_info(\"table\") WHERE pk = seq + 1)) \
             FROM pragma_foreign_key_list(?1) ORDER BY id, seq",
        )?;
        let mut rows = list.query([&job.table])?;
        let mut all: Vec<(i64, Self)> = Vec::new();
        while let Some(row) = rows.next()? {
            let (id, parent, from, to): (i64, String, String, String) =
                (row.get(0)?, row.get(1)?, row.get(2)?, row.get(3)?);
            if all.last().is_none_or(|(last, _)| *last != id) {
                let is_own = parent.eq_ignore_ascii_case(&job.table);
                let (columns, parents, are_exact) = (Vec::new(), Vec::new(), Vec::new());
                all.push((id, Self { columns, parent, parents, is_own, are_exact }));
            }
            if let Some((_, key)) = all.last_mut() {
                key.are_exact.push(place(job, &from).is_some_and(|(_, is_exact)| is_exact));
                key.columns.push(from);
                key.parents.push(to);
            }
        }
        let is_loaded = |key: &Self| key.columns.iter().all(|name| place(job, name).is_some());
        Ok(all.into_iter().map(|(_, key)| key).filter(is_loaded).collect())
    }

    fn each(&self, between: &str, of: impl Fn(&str, &str) -> String) -> String {
        let pairs = self.columns.iter().zip(&self.parents);
        let all: Vec<String> =
            pairs.map(|(column, parent)| of(&quote(column), &quote(parent))).collect();
        all.join(between)
    }

    /// A condition: whether the row `p` is the parent of `c`. As SQLite checks keys the parent's affinity and collation decide, and an
    /// operand with a plus has none (<https://sqlite.org/datatype3.html>).
    fn is_parent(&self) -> String {
        self.each(" AND ", |column, parent| format!("p.{parent} = +c.{column}"))
    }

    /// A query for its values that refer to no row.
    fn parentless(&self, table: &str) -> String {
        format!(
            "SELECT {} FROM {} AS c WHERE {} AND NOT EXISTS (SELECT 1 FROM {} AS p WHERE {})",
            self.each(", ", |column, _| format!("c.{column}")),
            quote(table),
            self.each(" AND ", |column, _| format!("c.{column} IS NOT NULL")),
            quote(&self.parent),
            self.is_parent()
        )
    }

    /// A query for the values of this key, which is the table's own, that refer to rows with a value of `bad`.
    fn below(&self, bad: &Self, table: &str) -> String {
        format!(
            "SELECT {} FROM {table} AS p CROSS JOIN {table} AS c ON {} AND {} WHERE {}",
            self.each(", ", |column, _| format!("c.{column}")),
            // By an index.
            self.each(" AND ", |column, parent| format!("c.{column} = p.{parent}")),
            self.is_parent(),
            bad.each(" AND ", |column, _| format!("p.{column} = ? COLLATE BINARY")),
            table = quote(table),
        )
    }
}

/// Where a column is among a row's cells, and whether `1` and `'1'` are two values in it.
fn place(job: &Job, name: &str) -> Option<(usize, bool)> {
    let columns = &job.choice.columns;
    let at = columns.iter().position(|column| column.name.eq_ignore_ascii_case(name))?;
    let declared = |column: &Column| column.declared.as_deref().map_or(Affinity::None, affinity);
    Some((at, declared(&columns[at]) == Affinity::None))
}

/// Values of one key, each in its form.
#[derive(Clone, Default)]
struct Found {
    forms: HashMap<Box<[u8]>, Box<str>>,
    values: Vec<Vec<Value>>,
}

impl Found {
    /// Takes the values that a query gives; false where there are too many.
    fn take(&mut self, key: &ForeignKey, rows: &mut rusqlite::Rows<'_>) -> rusqlite::Result<bool> {
        let mut form = Vec::new();
        while let Some(row) = rows.next()? {
            form.clear();
            let (mut values, mut words) = (Vec::new(), Vec::new());
            for (at, (name, is_exact)) in key.columns.iter().zip(&key.are_exact).enumerate() {
                let value = row.get_ref(at)?;
                write(value, *is_exact, &mut form);
                words.push(format!("{name} = {}", shown(value)));
                values.push(row.get(at)?);
            }
            if self.forms.contains_key(form.as_slice()) {
                continue;
            }
            if self.values.len() == VALUES_MAX {
                return Ok(false);
            }
            self.forms.insert(form.as_slice().into(), words.join(", ").into());
            self.values.push(values);
        }
        Ok(true)
    }
}

/// Looks for the values of keys that refer to no row; with `follows` also for those that refer to rows which have such values, and so on.
/// `None` when there are too many. The transaction is none to go on with, or has been rolled back.
pub(super) fn find(
    session: &Session<'_>,
    job: &Job,
    follows: bool,
) -> rusqlite::Result<Option<Orphans>> {
    let (connection, table) = (session.connection(), &job.table);
    let keys = ForeignKey::all(connection, job)?;
    let mut found = vec![Found::default(); keys.len()];
    for (key, found) in keys.iter().zip(&mut found) {
        let mut query = connection.prepare(&key.parentless(table))?;
        if !found.take(key, &mut query.query([])?)? {
            return Ok(None);
        }
    }
    if follows {
        let mut all = found.clone();
        if !follow(connection, table, &keys, &mut all)? {
            return Ok(None);
        }
        connection.execute_batch("ROLLBACK")?;
        // Rows that had no parent before the load stay, and what refers to them is right.
        let mut are_old = false;
        for key in &keys {
            let query = format!("SELECT EXISTS ({})", key.parentless(table));
            are_old = are_old || connection.query_row(&query, [], |row| row.get(0))?;
        }
        if !are_old {
            found = all;
        }
    }
    let known = keys.into_iter().zip(found).filter(|(_, found)| !found.forms.is_empty());
    let known = known.map(|(key, found)| Parentless {
        words: format!("table {}, by {}", key.parent, key.columns.join(", ")),
        key: key.columns,
        parent: key.parent,
        forms: found.forms,
    });
    let known: Vec<_> = known.collect();
    Ok((!known.is_empty()).then_some(Orphans::Known(known)))
}

/// Adds the values that refer to rows which have one of those found; false where there are too many.
fn follow(
    connection: &Connection,
    table: &str,
    keys: &[ForeignKey],
    found: &mut [Found],
) -> rusqlite::Result<bool> {
    for (number, key) in keys.iter().enumerate() {
        let columns = key.each(", ", |column, _| format!("{column} COLLATE BINARY"));
        let name = quote(&format!("inrush orphans {number}"));
        connection
            .execute_batch(&format!("CREATE INDEX {name} ON {} ({columns})", quote(table)))?;
    }
    let mut steps = Vec::new();
    for (from, bad) in keys.iter().enumerate() {
        for (to, key) in keys.iter().enumerate().filter(|(_, key)| key.is_own) {
            steps.push((from, to, connection.prepare(&key.below(bad, table))?));
        }
    }
    let mut done = vec![0; keys.len()];
    while let Some(from) = (0..keys.len()).find(|at| done[*at] < found[*at].values.len()) {
        let value = found[from].values[done[from]].clone();
        done[from] += 1;
        for (_, to, step) in steps.iter_mut().filter(|(at, ..)| *at == from) {
            let mut rows = step.query(params_from_iter(&value))?;
            if !found[*to].take(&keys[*to], &mut rows)? {
                return Ok(false);
            }
        }
    }
    Ok(true)
}

/// A value in the form in which it is looked for. What a column's affinity makes of one sort another has the same form.
fn write(value: ValueRef<'_>, is_exact: bool, form: &mut Vec<u8>) {
    let number;
    let (sort, bytes) = match value {
        ValueRef::Null => (b'0', &[][..]),
        ValueRef::Integer(whole) => {
            number = whole.to_string();
            (b'n', number.as_bytes())
        }
        // Below it each whole number is a double.
        ValueRef::Real(real) if real.fract() == 0.0 && real.abs() < 9e15 => {
            number = (real as i64).to_string();
            (b'n', number.as_bytes())
        }
        ValueRef::Real(real) => {
            number = format!("{real:?}");
            (b'n', number.as_bytes())
        }
        ValueRef::Text(text) => (b't', text),
        ValueRef::Blob(bytes) => (b'b', bytes),
    };
    form.push(if is_exact || sort == b'b' { sort } else { b'v' });
    form.extend_from_slice(&(bytes.len() as u64).to_le_bytes());
    form.extend_from_slice(bytes);
}

/// Finds rows that a try before has found to refer to none.
pub(super) struct Filter<'l> {
    keys: Vec<(Vec<(usize, bool)>, &'l Parentless)>,
    form: Vec<u8>,
}

impl<'l> Filter<'l> {
    pub(super) fn of(job: &'l Job) -> Option<Self> {
        let Orphans::Known(all) = &*job.facts.source.orphans else { return None };
        let places = |known: &Parentless| {
            known.key.iter().map(|name| place(job, name)).collect::<Option<Vec<_>>>()
        };
        let keys = all.iter().filter_map(|known| Some((places(known)?, known))).collect();
        Some(Self { keys, form: Vec::new() })
    }

    /// What is wrong with the row, if it is one of them.
    pub(super) fn fault(
        &mut self,
        row: usize,
        cells: &[Cell],
        chunk: &Chunk,
        wire: &Wire,
    ) -> Option<RowFault> {
        let Self { keys, form } = self;
        keys.iter().find_map(|(places, known)| {
            form.clear();
            for (at, is_exact) in places {
                let value = match cells[*at] {
                    Cell::Null => return None,
                    Cell::Integer(number) => ValueRef::Integer(number),
                    Cell::Real(number) => ValueRef::Real(number),
                    Cell::Text(home, span) => ValueRef::Text(wire.value(chunk, home, span)),
                    Cell::Bytes(home, span) => ValueRef::Blob(wire.value(chunk, home, span)),
                };
                write(value, *is_exact, form);
            }
            let shown = known.forms.get(form.as_slice())?;
            let parent = &known.parent;
            let message = format!("the row it refers to is not there (table {parent}, by {shown})");
            let column = match known.key.as_slice() {
                [column] => Some(column.clone()),
                _ => None,
            };
            Some(RowFault { row: row as u32, column, code: Code::ForeignKey, message })
        })
    }
}
