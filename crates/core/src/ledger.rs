//! The ledger of loads that commit in steps: a table beside theirs, in which each of them has one row.
//!
//! ```text
//! rows of step 1, ledger: 1 | commit | rows of step 2, ledger: 2 | commit | ... | the last rows, indexes, ledger: done | commit
//! ```
//!
//! The row is written in the transaction of the step's rows, so it says what the table holds whatever happens to either.

use std::collections::BTreeMap;
use std::path::PathBuf;

use serde::{Deserialize, Serialize};

use crate::error::{Error, Result};
use crate::flow::{Checksum, Point};
use crate::target::Snapshot;

/// The table's name, beside the tables that are loaded.
pub const TABLE: &str = "inrush_steps";

/// The form in which entries are written.
const VERSION: u32 = 1;

/// A load in steps, as the planner hands it to the target.
#[derive(Clone, Debug)]
pub struct StepPlan {
    /// Rows from which on a step is committed, behind the chunk that brings as many.
    pub commit_rows: u64,
    /// The load as it begins: with what an earlier run has committed, where it goes on behind that.
    pub entry: Entry,
    /// Whether the ledger has it already.
    pub goes_on: bool,
    /// Whether it has reached its end, so that nothing is left to do.
    pub is_finished: bool,
    /// Loads in the ledger whose rows this one replaces, or which it repeats: by their ids.
    pub outdated: Vec<String>,
}

/// What the ledger knows of a load.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub struct Entry {
    version: u32,
    /// A word that no other load has.
    pub id: String,
    /// Whether all of it is committed.
    pub is_done: bool,
    /// The steps that are.
    pub steps: u64,
    /// The inputs, in their order.
    pub inputs: Vec<InputState>,
    /// Options that decide what a row means, as users type them; with those that were detected.
    pub options: BTreeMap<String, String>,
    /// The table that it found, or made.
    pub begun: Option<Begun>,
    /// Columns of the source whose types the load has settled on by most of their values, so that others are bad rows.
    #[serde(default)]
    pub settled: Vec<String>,
    /// What the steps add up to.
    pub so_far: SoFar,
}

/// An input as it was when the load began.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct InputState {
    /// Its absolute path.
    pub path: PathBuf,
    /// Its size as stored.
    pub bytes: u64,
    /// When it was last changed: nanoseconds since 1970, where the file system says.
    pub modified_ns: Option<i64>,
    /// A sum of its first bytes.
    pub head: u64,
}

/// The table as the load's first row finds it.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Begun {
    /// What it holds before.
    pub before: Snapshot,
    /// How it is defined, as [`crate::TableFacts::definition`] has it.
    pub definition: String,
}

/// What the committed steps of a load add up to.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct SoFar {
    /// Where in the source the next step begins.
    pub point: Point,
    /// All rows.
    pub rows: Rows,
    /// Those of each input.
    pub inputs: Vec<Rows>,
    /// Blank lines.
    pub blanks: u64,
    /// Sums over the loaded values, where they are verified by that.
    pub checksum: Option<Checksum>,
    /// The files of bad rows.
    pub rejects: Vec<RejectsLength>,
}

/// Rows, by what became of them.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Rows {
    /// All of them.
    pub read: u64,
    /// Those that the target took.
    pub loaded: u64,
    /// Bad rows.
    pub rejected: u64,
    /// Those left out for a duplicate key.
    pub skipped: u64,
}

/// How much of a rejects file belongs to committed steps.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct RejectsLength {
    /// Its absolute path.
    pub path: PathBuf,
    /// Bytes of rows.
    pub rows_bytes: u64,
    /// Bytes of their positions and reasons, in the file beside it.
    pub notes_bytes: u64,
}

impl Entry {
    /// A load that has committed nothing yet.
    pub fn new(inputs: Vec<InputState>, options: BTreeMap<String, String>) -> Self {
        let id = crate::unique::word();
        let so_far = SoFar::default();
        Self {
            version: VERSION,
            id,
            is_done: false,
            steps: 0,
            inputs,
            options,
            begun: None,
            settled: Vec::new(),
            so_far,
        }
    }

    /// The entry that the ledger has as `text`.
    ///
    /// # Errors
    /// When it is in another form than this version writes.
    pub fn parse(text: &str) -> Result<Self> {
        match serde_json::from_str::<Self>(text) {
            Ok(entry) if entry.version == VERSION => Ok(entry),
            _ => Err(Error::target(format!(
                "table {TABLE} has a row that this version of inrush can't read"
            ))
            .advise("use the version that wrote it, or delete the row")),
        }
    }
}

/// How one engine spells the ledger.
#[derive(Clone, Debug)]
pub struct Ledger<'n> {
    /// The ledger's name, quoted and qualified.
    pub name: String,
    /// The loaded table's name, as the catalogue has it.
    pub table: &'n str,
    /// The engine's type for text of any length.
    pub text: &'static str,
    /// What follows the definition of a table.
    pub suffix: &'static str,
    /// Whether names of tables that differ in case alone are one table's.
    pub folds_case: bool,
    /// A string literal.
    pub literal: fn(&str) -> String,
}

impl Ledger<'_> {
    /// The statement that makes the ledger where there is none.
    pub fn make(&self) -> String {
        let Self { name, text, suffix, .. } = self;
        format!(
            "CREATE TABLE IF NOT EXISTS {name} (id varchar(32) NOT NULL PRIMARY KEY, \
             table_name varchar(255) NOT NULL, state varchar(8) NOT NULL, steps bigint NOT NULL, \
             rows_loaded bigint NOT NULL, entry {text} NOT NULL){suffix}"
        )
    }

    /// The query for the table's entries.
    pub fn read(&self) -> String {
        let table = (self.literal)(self.table);
        let condition = match self.folds_case {
            true => format!("lower(table_name) = lower({table})"),
            false => format!("table_name = {table}"),
        };
        format!("SELECT entry FROM {} WHERE {condition} ORDER BY id", self.name)
    }

    /// The statement that removes entries; `None` where there are none.
    pub fn forget(&self, ids: &[String]) -> Option<String> {
        let ids: Vec<String> = ids.iter().map(|id| (self.literal)(id)).collect();
        let list = ids.join(", ");
        (!ids.is_empty()).then(|| format!("DELETE FROM {} WHERE id IN ({list})", self.name))
    }

    /// The statement that adds the entry.
    ///
    /// # Errors
    /// When a path in it is no text.
    pub fn enter(&self, entry: &Entry) -> Result<String> {
        let values = [entry.id.as_str(), self.table].map(self.literal).join(", ");
        let state = state(entry);
        Ok(format!(
            "INSERT INTO {} (id, table_name, state, steps, rows_loaded, entry) VALUES ({values}, '{state}', {}, {}, {})",
            self.name,
            entry.steps,
            entry.so_far.rows.loaded,
            (self.literal)(&written(entry)?)
        ))
    }

    /// The statement by which the entry takes the place of what it was a step before. It has to change one row: with none another load
    /// has gone on.
    ///
    /// # Errors
    /// As for [`Ledger::enter`].
    pub fn update(&self, entry: &Entry) -> Result<String> {
        Ok(format!(
            "UPDATE {} SET state = '{}', steps = {}, rows_loaded = {}, entry = {} WHERE id = {} AND steps = {}",
            self.name,
            state(entry),
            entry.steps,
            entry.so_far.rows.loaded,
            (self.literal)(&written(entry)?),
            (self.literal)(&entry.id),
            entry.steps.saturating_sub(1)
        ))
    }
}

/// Judges what [`Ledger::update`] has changed.
///
/// # Errors
/// When that is not one row.
pub fn updated(rows: u64) -> Result<()> {
    match rows {
        1 => Ok(()),
        _ => Err(Error::target("another process goes on with the same load")
            .advise("wait until it is through; --resume then says what is left")),
    }
}

fn state(entry: &Entry) -> &'static str {
    if entry.is_done { "done" } else { "open" }
}

fn written(entry: &Entry) -> Result<String> {
    serde_json::to_string(entry)
        .map_err(|error| Error::usage(format!("the load can't be entered in {TABLE}: {error}")))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn ledger() -> Ledger<'static> {
        let literal = |text: &str| format!("'{}'", text.replace('\'', "''"));
        let name = "\"s\".\"inrush_steps\"".to_owned();
        Ledger { name, table: "t", text: "text", suffix: "", folds_case: false, literal }
    }

    #[test]
    fn an_entry_comes_back_as_it_was_written() {
        let input = InputState {
            path: "/a/it's.csv".into(),
            bytes: 7,
            modified_ns: Some(-1),
            head: u64::MAX,
        };
        let mut entry = Entry::new(vec![input], BTreeMap::new());
        entry.so_far.checksum = Some(Checksum::new(3));
        let back = Entry::parse(&written(&entry).unwrap()).unwrap();
        assert_eq!((back.id, back.inputs, back.so_far), (entry.id, entry.inputs, entry.so_far));
        assert!(Entry::parse("{}").unwrap_err().what().contains("can't read"));
    }

    #[test]
    fn a_step_changes_the_row_of_the_step_before_and_no_other() {
        let mut entry = Entry::new(Vec::new(), BTreeMap::new());
        entry.id = "x".to_owned();
        entry.steps = 3;
        let sql = ledger().update(&entry).unwrap();
        assert!(sql.ends_with("WHERE id = 'x' AND steps = 2"), "{sql}");
        assert!(updated(1).is_ok());
        assert!(updated(0).is_err());
        assert_eq!(ledger().forget(&[]), None);
    }
}
