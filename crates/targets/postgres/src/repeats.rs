//! Rows that repeat a key, when there are many: all at once, instead of one failed statement for each.
//!
//! A table without keys takes all rows; the server tells which values of the key come more than once, or are in the target already;
//! the next try leaves out the rows that come second with one of them. It takes a second reading of the source, which costs less
//! than some thousands of statements that fail.

use crate::blame::{key_named, repeated};
use crate::ddl::{self, Table, quote};
use crate::rows::RowReader;
use crate::session::{Failure, Session};
use inrush_core::flow::Code;
use inrush_core::{Job, KeyValues, Repeats};
use inrush_net::statement::{Batch, Blame, Named};

/// More values than this, or more bytes of them, are not kept in memory; then each row is refused by itself.
const VALUES_MAX: usize = 1 << 20;
const BYTES_MAX: usize = 64 << 20;

/// Memory for gathering keys, in megabytes.
const WORK_MEMORY_MB: u64 = 64;

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
                    // A value's entries in the two tables take about as much besides.
                    let bytes = row.form.len() + row.shown.len() + 100;
                    match (bytes_left.checked_sub(bytes), found.forms.len() < VALUES_MAX) {
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

/// What comes of one form.
#[derive(Default)]
struct Row {
    fields: usize,
    number: i64,
    is_taken: bool,
    form: Vec<u8>,
    shown: String,
}

impl Row {
    fn take(&mut self, field: usize, value: Option<&[u8]>, columns: usize) {
        let value = value.unwrap_or_default();
        self.fields += 1;
        match field {
            0 => self.number = value.try_into().map_or(0, i64::from_be_bytes),
            1 => self.is_taken = value == [1],
            _ if field < 2 + columns => {
                // As in a row of the wire.
                self.form.extend_from_slice(&(value.len() as u32).to_be_bytes());
                self.form.extend_from_slice(value);
            }
            _ => {
                if field > 2 + columns {
                    self.shown.push_str(", ");
                }
                self.shown.push_str(&String::from_utf8_lossy(value));
            }
        }
    }

    fn put(&self, found: &mut KeyValues) {
        // Numbers begin with 1 and have no gaps, but may come in any order.
        let number = usize::try_from(self.number.saturating_sub(1)).unwrap_or(0).min(VALUES_MAX);
        if found.shown.len() <= number {
            found.shown.resize(number + 1, String::new());
            found.taken.resize(number + 1, false);
        }
        found.shown[number].clone_from(&self.shown);
        found.taken[number] = self.is_taken;
        found.forms.insert(self.form.as_slice().into(), number as u32);
    }
}

/// Leaves out the rows that repeat a key.
pub(super) struct Filter<'p> {
    values: &'p KeyValues,
    /// The key's columns, by name, by their place in a row, and for messages where there is one only.
    key: &'p [String],
    columns: Vec<usize>,
    named: Named,
    /// Which values the table has now.
    taken: Vec<bool>,
    /// Those that came with the batch which is being written.
    coming: Vec<u32>,
    /// Its rows that repeat nothing, and where in the batch each is.
    pub(super) bytes: Vec<u8>,
    pub(super) rows: Vec<usize>,
    form: Vec<u8>,
}

impl<'p> Filter<'p> {
    /// `None` where nothing is known of such rows.
    pub(super) fn of(job: &'p Job) -> Option<Self> {
        let Repeats::Values { key, values } = &*job.facts.source.repeats else { return None };
        let place =
            |name: &String| job.choice.columns.iter().position(|column| column.name == *name);
        Some(Self {
            key,
            columns: key.iter().map(place).collect::<Option<_>>()?,
            named: match key.as_slice() {
                [column] => Named::Column(column.clone()),
                _ => Named::Nothing,
            },
            taken: values.taken.clone(),
            values,
            coming: Vec::new(),
            bytes: Vec::new(),
            rows: Vec::new(),
            form: Vec::new(),
        })
    }

    /// Puts the batch's rows that repeat nothing into `bytes`, and gives the others.
    pub(super) fn sift(&mut self, batch: &Batch<'_>) -> Vec<(usize, Blame)> {
        self.forget();
        self.bytes.clear();
        self.rows.clear();
        let mut repeated = Vec::new();
        for (index, row) in batch.rows_of_bytes().enumerate() {
            if let Some(value) = self.value(row) {
                if self.taken[value as usize] {
                    repeated.push((index, self.blame(value)));
                    continue;
                }
                self.taken[value as usize] = true;
                self.coming.push(value);
            }
            self.bytes.extend_from_slice(row);
            self.rows.push(index);
        }
        repeated
    }

    /// The batch is there.
    pub(super) fn keep(&mut self) {
        self.coming.clear();
    }

    /// The batch isn't there.
    pub(super) fn forget(&mut self) {
        for value in self.coming.drain(..) {
            self.taken[value as usize] = false;
        }
    }

    /// Which of the repeated values the row has.
    fn value(&mut self, row: &[u8]) -> Option<u32> {
        self.form.clear();
        for column in &self.columns {
            self.form.extend_from_slice(field(row, *column)?);
        }
        self.values.forms.get(self.form.as_slice()).copied()
    }

    fn blame(&self, value: u32) -> Blame {
        let shown = &self.values.shown[value as usize];
        let message = repeated(&self.values.words, self.key, shown);
        Blame { row: None, named: self.named.clone(), code: Code::DuplicateKey, message }
    }
}

/// A field of a row in binary, with its length in front; `None` for NULL.
fn field(row: &[u8], column: usize) -> Option<&[u8]> {
    // Behind the number of fields.
    let mut rest = row.get(2..)?;
    for place in 0.. {
        let length = i32::from_be_bytes(*rest.first_chunk::<4>()?);
        let bytes = 4 + usize::try_from(length).unwrap_or(0);
        if place == column {
            return if length < 0 { None } else { rest.get(..bytes) };
        }
        rest = rest.get(bytes..)?;
    }
    None
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
