//! Rows that repeat a key, when there are many: all at once, instead of one failed statement for each.
//!
//! A table without keys takes all rows; the server tells which values of the key come more than once, or are in the target already;
//! the next try leaves out the rows that come second with one of them. It takes a second reading of the source, which costs less
//! than some thousands of statements that fail.

use crate::blame::key_named;
use crate::ddl::{self, Table, quote};
use crate::rows::RowReader;
use crate::session::{Failure, Session};
use inrush_core::{Job, KeyValues};

/// More values than this, or more bytes of them, are not kept in memory; then each row is refused by itself.
pub(super) const VALUES_MAX: usize = 1 << 20;
pub(super) const BYTES_MAX: usize = 64 << 20;

/// Memory for gathering keys, in megabytes.
pub(super) const WORK_MEMORY_MB: u64 = 64;

/// Looks for values of `key` that come more than once in `rows`, or are in `target` already; `None` when there are too many.
pub(super) fn find(
    session: &mut Session<'_>,
    rows: &Table,
    target: Option<&Table>,
    key: &[String],
    words: &str,
) -> Result<Option<KeyValues>, Failure> {
    // Nearly all values come once, which the server, without statistics, does not expect: it would gather them in hash tables.
    // Sorting them takes a third of the time.
    session.execute(format!(
        "SET LOCAL work_mem = '{WORK_MEMORY_MB}MB'; SET LOCAL enable_hashagg = off; \
         SET LOCAL max_parallel_workers_per_gather = 0"
    ))?;
    let mut found = KeyValues { words: words.to_owned(), ..KeyValues::default() };
    let mut reader = RowReader::default();
    let mut row = Row::default();
    let mut bytes_left = BYTES_MAX;
    let mut are_too_many = false;
    session.drive(|client| {
        client.copy_out(&sql(rows, target, key), |bytes| {
            reader.read(bytes, |field, value| {
                row.take(field, value, key.len());
                if row.fields == 2 + 2 * key.len() {
                    match (
                        bytes_left.checked_sub(row.value.bytes()),
                        found.forms.len() < VALUES_MAX,
                    ) {
                        (Some(left), true) => {
                            bytes_left = left;
                            row.put(&mut found);
                        }
                        _ => are_too_many = true,
                    }
                    row = Row::default();
                }
            });
        })
    })?;
    Ok((!are_too_many).then_some(found))
}

/// Every form of every such value, under the value's number: whether the target has it, the form, and how it is shown.
fn sql(rows: &Table, target: Option<&Table>, key: &[String]) -> String {
    let each = |between: &str, of: &dyn Fn(&str) -> String| {
        key.iter().map(|name| of(&quote(name))).collect::<Vec<_>>().join(between)
    };
    let names = each(", ", &str::to_owned);
    let same = |other: &str| each(" AND ", &|name| format!("{other}.{name} = key.{name}"));
    let is_taken = match target {
        Some(target) => {
            format!("EXISTS (SELECT FROM {} target WHERE {})", target.only(), same("target"))
        }
        None => "false".to_owned(),
    };
    let rows = rows.sql();
    // What is NULL repeats nothing.
    let is_whole = each(" AND ", &|name| format!("key.{name} IS NOT NULL"));
    let taken = match target {
        Some(target) => format!(
            " UNION SELECT {} FROM {rows} key JOIN {} target ON {}",
            each(", ", &|name| format!("key.{name}")),
            target.only(),
            same("target")
        ),
        None => String::new(),
    };
    format!(
        "COPY (WITH repeated AS (SELECT {names} FROM {rows} key WHERE {is_whole} GROUP BY {names} HAVING count(*) > 1{taken}), \
         form AS (SELECT DISTINCT ON ({texts}) {of_key} FROM {rows} key JOIN repeated ON {same}) \
         SELECT dense_rank() OVER (ORDER BY {names}), {is_taken}, {names}, {shown} FROM form key) TO STDOUT (FORMAT binary)",
        texts = each(", ", &|name| format!("key.{name}::text")),
        of_key = each(", ", &|name| format!("key.{name}")),
        shown = each(", ", &|name| format!("{name}::text")),
        same = same("repeated"),
    )
}

/// A value of a key of several columns: the form that a row has it in, and how it is shown.
#[derive(Default)]
pub(super) struct Spelt {
    pub(super) form: Vec<u8>,
    pub(super) shown: String,
}

impl Spelt {
    /// Takes a field of those that are first the columns' values and then the same as texts.
    pub(super) fn take(&mut self, field: usize, value: &[u8], columns: usize) {
        if field < columns {
            // As in a row of the wire.
            self.form.extend_from_slice(&(value.len() as u32).to_be_bytes());
            self.form.extend_from_slice(value);
            return;
        }
        if field > columns {
            self.shown.push_str(", ");
        }
        self.shown.push_str(&String::from_utf8_lossy(value));
    }

    /// About how many bytes it takes where it is kept: its entries in tables take about as much besides.
    pub(super) fn bytes(&self) -> usize {
        self.form.len() + self.shown.len() + 100
    }
}

/// What comes of one form.
#[derive(Default)]
struct Row {
    fields: usize,
    number: i64,
    is_taken: bool,
    value: Spelt,
}

impl Row {
    fn take(&mut self, field: usize, value: Option<&[u8]>, columns: usize) {
        let value = value.unwrap_or_default();
        self.fields += 1;
        match field {
            0 => self.number = value.try_into().map_or(0, i64::from_be_bytes),
            1 => self.is_taken = value == [1],
            _ => self.value.take(field - 2, value, columns),
        }
    }

    fn put(&self, found: &mut KeyValues) {
        // Numbers begin with 1 and have no gaps, but may come in any order.
        let number = usize::try_from(self.number.saturating_sub(1)).unwrap_or(0).min(VALUES_MAX);
        if found.shown.len() <= number {
            found.shown.resize(number + 1, String::new());
            found.taken.resize(number + 1, false);
        }
        found.shown[number].clone_from(&self.value.shown);
        found.taken[number] = self.is_taken;
        found.forms.insert(self.value.form.as_slice().into(), number as u32);
    }
}

/// The key that a message of a repeated value means, of those that the load's table has.
pub(super) fn key_meant(job: &Job, detail: &str) -> Option<Vec<String>> {
    let named = key_named(detail)?;
    let there = job.facts.target.table.as_ref().filter(|_| !job.choice.action.makes_table());
    let is_loaded = |name: &String| job.choice.columns.iter().any(|column| column.name == *name);
    match there {
        Some(table) => {
            let mut keys = [&table.primary_key].into_iter().chain(&table.unique_keys);
            keys.find(|key| **key == named && key.iter().all(is_loaded)).cloned()
        }
        None => Some(ddl::key(job)).filter(|key| *key == named),
    }
}
