//! The ledger of loads that commit in steps: a table beside theirs, in which each of them has one row.
//!
//! ```text
//! rows of step 1, ledger: 1 | commit | rows of step 2, ledger: 2 | commit | ... | the last rows, indexes, ledger: done | commit
//! ```
//!
//! The row is written in the transaction of the step's rows, so it says what the table holds whatever happens to either.

use std::collections::{BTreeMap, BTreeSet};
use std::path::PathBuf;

use serde::{Deserialize, Serialize};

use crate::error::{Error, Result};
use crate::facts::TableFacts;
use crate::flow::{Checksum, Point};
use crate::reading::Added;
use crate::request::{Guarantee, IfExists, OnConflict, Request};
use crate::schema::Type;
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
    /// A word that no other load has, but for one that begins with the same inputs and the same ledger: the first of the two to enter
    /// it is the only one.
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
    /// Their types, which a catalogue may call otherwise. Older entries have none.
    #[serde(default)]
    pub types: BTreeMap<String, Type>,
    /// The moment that a column of `%now` holds, in all of the load's runs. Older entries have none.
    #[serde(default)]
    pub now: Option<String>,
    /// What the inputs are called in columns of `%path` and `%file`, where there are such: in all of the load's runs.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub names: Vec<InputName>,
    /// What the steps add up to.
    pub so_far: SoFar,
    /// The ledger that it was read from, as [`Ledger::name`] has it.
    #[serde(skip)]
    pub ledger: String,
    /// Inputs that are taken for those of another path now.
    #[serde(skip)]
    pub moved: Vec<Moved>,
}

/// An input that has the path of a file which is like it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Moved {
    /// Its path when the load began.
    pub from: PathBuf,
    /// The one of the file that it is taken for.
    pub to: PathBuf,
    /// Whether it is still there as well.
    pub is_copied: bool,
}

/// An input as it was when the load began.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct InputState {
    /// Its path from the root on, without links; in older entries those of the path that was named are in it.
    #[serde(with = "crate::path")]
    pub path: PathBuf,
    /// Its size as stored.
    pub bytes: u64,
    /// When it was last changed: nanoseconds since 1970, where the file system says.
    pub modified_ns: Option<i64>,
    /// A sum of its first bytes.
    pub head: u64,
    /// A sum of its last bytes, of a file on disk. Older entries have none.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub tail: Option<u64>,
}

impl InputState {
    /// Whether it is as it was then, as far as both say.
    pub fn is_still(&self, was: &Self) -> bool {
        self.path == was.path && self.is_like(was)
    }

    /// The same of a file that may have another path.
    pub fn is_like(&self, was: &Self) -> bool {
        let ends_so = self.tail.zip(was.tail).is_none_or(|(is, was)| is == was);
        (self.bytes, self.modified_ns, self.head) == (was.bytes, was.modified_ns, was.head)
            && ends_so
    }
}

/// What an input is called in its rows.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct InputName {
    /// Its name as the user wrote it.
    pub path: String,
    /// The last part of that.
    pub file: String,
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
    /// Rows that are the header once more.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub headers: Vec<HeaderRows>,
    /// Columns of documents with floats in them that JSON has no number for.
    #[serde(default, skip_serializing_if = "BTreeSet::is_empty")]
    pub spelled: BTreeSet<u32>,
    /// The most rows that the table is known to have held at the end of a step, where the number of loaded ones does not say so: none is
    /// lost as long as it holds as many.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub held: Option<u64>,
    /// Sums over the loaded values, where they are verified by that.
    pub checksum: Option<Checksum>,
    /// The files of bad rows.
    pub rejects: Vec<RejectsLength>,
}

/// Rows of an input that are its header once more.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct HeaderRows {
    /// How many.
    pub rows: u64,
    /// Which input that is.
    pub file: u32,
    /// The line of the first.
    pub line: u64,
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
    /// Its path from the root on.
    #[serde(with = "crate::path")]
    pub path: PathBuf,
    /// Bytes of rows.
    pub rows_bytes: u64,
    /// Bytes of their positions and reasons, in the file beside it.
    pub notes_bytes: u64,
    /// XXH3 of both, by which a file is known that others have put in its place, or changed. Older entries have none.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub sums: Option<(u64, u64)>,
}

impl Entry {
    /// A load that has committed nothing yet.
    pub fn new(id: String, inputs: Vec<InputState>, options: BTreeMap<String, String>) -> Self {
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
            types: BTreeMap::new(),
            now: Some(Added::now()),
            names: Vec::new(),
            so_far,
            ledger: String::new(),
            moved: Vec::new(),
        }
    }
}

/// Which of a table's entries are read.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Entries {
    /// All of them.
    All,
    /// Those of loads that have committed rows, and not their last ones.
    Unfinished,
}

/// What a load into the table has to know of the ledger. One in steps, whatever there is. One that is all or nothing, which of its rows the
/// table may hold already: nothing where it adds to no rows, or asks a key which of them are there. It takes what it may see, for whoever
/// can't read the ledger has begun no load in steps.
///
/// # Errors
/// When a load in steps can't read it.
pub fn known(
    request: &Request,
    table: Option<&TableFacts>,
    read: impl FnOnce(Entries) -> Result<Vec<Entry>>,
) -> Result<Vec<Entry>> {
    let adds = matches!(request.if_exists, IfExists::Empty | IfExists::Append)
        && table.is_some_and(|table| table.holds_rows);
    match request.guarantee {
        Guarantee::Chunks => read(Entries::All).map_err(|error| {
            match error.advice().is_empty() && !error.is_lost_connection() {
                true => error.advise(format!(
                    "look at table {TABLE}, in which loads in steps are entered: one of another program's has to have another name"
                )),
                false => error,
            }
        }),
        Guarantee::Atomic if adds && request.on_conflict == OnConflict::Fail => {
            Ok(read(Entries::Unfinished).unwrap_or_default())
        }
        Guarantee::Atomic => Ok(Vec::new()),
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
    /// What an INSERT ends with that leaves a row of the same key as it is, and has then changed none.
    pub unless_known: &'static str,
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
    pub fn read(&self, entries: Entries) -> String {
        let table = (self.literal)(self.table);
        let condition = match self.folds_case {
            true => format!("lower(table_name) = lower({table})"),
            false => format!("table_name = {table}"),
        };
        let which = match entries {
            Entries::All => "",
            Entries::Unfinished => " AND state <> 'done' AND rows_loaded > 0",
        };
        format!("SELECT entry FROM {} WHERE {condition}{which} ORDER BY id", self.name)
    }

    /// The entry that the ledger has as `text`.
    ///
    /// # Errors
    /// When it is in another form than this version writes.
    pub fn parse(&self, text: &str) -> Result<Entry> {
        match serde_json::from_str::<Entry>(text) {
            Ok(entry) if entry.version == VERSION => {
                Ok(Entry { ledger: self.name.clone(), ..entry })
            }
            _ => Err(Error::target(format!(
                "table {} has a row that this version of inrush can't read",
                self.name
            ))
            .advise("use the version that wrote it, or delete the row")),
        }
    }

    /// The statement that removes entries; `None` where there are none.
    pub fn forget(&self, ids: &[String]) -> Option<String> {
        let ids: Vec<String> = ids.iter().map(|id| (self.literal)(id)).collect();
        let list = ids.join(", ");
        (!ids.is_empty()).then(|| format!("DELETE FROM {} WHERE id IN ({list})", self.name))
    }

    /// The statement that adds the entry. It has to change one row, see [`entered`].
    ///
    /// # Errors
    /// When a path in it is no text.
    pub fn enter(&self, entry: &Entry) -> Result<String> {
        let values = [entry.id.as_str(), self.table].map(self.literal).join(", ");
        let state = state(entry);
        Ok(format!(
            "INSERT INTO {} (id, table_name, state, steps, rows_loaded, entry) VALUES ({values}, '{state}', {}, {}, {}) {}",
            self.name,
            entry.steps,
            entry.so_far.rows.loaded,
            (self.literal)(&written(entry)?),
            self.unless_known
        ))
    }

    /// The statement by which a load that goes on has the entry to itself until its first step. It has to change one row, as
    /// [`Ledger::update`] does: whoever comes second waits for that step, and then finds none. A row that is given what it has counts as
    /// unchanged in MySQL, so the state alternates.
    pub fn claim(&self, entry: &Entry) -> String {
        format!(
            "UPDATE {} SET state = CASE state WHEN 'claimed' THEN 'open' ELSE 'claimed' END WHERE id = {} AND steps = {}",
            self.name,
            (self.literal)(&entry.id),
            entry.steps
        )
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

/// What the target says that refuses the ledger to its user: what it is for, which privileges it takes, and what goes without.
#[must_use]
pub fn denied(refused: &Error) -> Error {
    Error::target(format!("loads in steps are entered in a table {TABLE}: {}", refused.what()))
        .advise(format!(
            "ask for the privilege to make it (CREATE), or for {TABLE} with SELECT, INSERT, UPDATE and DELETE on it"
        ))
        .advise("or leave --guarantee chunks out: a load that is all or nothing makes no such table")
}

/// Judges what [`Ledger::update`] or [`Ledger::claim`] has changed.
///
/// # Errors
/// When that is not one row.
pub fn updated(rows: u64) -> Result<()> {
    one(rows, "another process goes on with the same load")
}

/// Judges what [`Ledger::enter`] has added.
///
/// # Errors
/// When that is not one row.
pub fn entered(rows: u64) -> Result<()> {
    one(rows, "another process has begun a load of the same files into the same table")
}

fn one(rows: u64, otherwise: &str) -> Result<()> {
    match rows {
        1 => Ok(()),
        _ => Err(Error::target(otherwise)
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
        let unless_known = "ON CONFLICT DO NOTHING";
        Ledger {
            name,
            table: "t",
            text: "text",
            suffix: "",
            unless_known,
            folds_case: false,
            literal,
        }
    }

    #[test]
    fn an_entry_comes_back_as_it_was_written() {
        let input = InputState {
            path: "/a/it's.csv".into(),
            bytes: 7,
            modified_ns: Some(-1),
            head: u64::MAX,
            tail: None,
        };
        let mut entry = Entry::new("x".to_owned(), vec![input], BTreeMap::new());
        entry.so_far.checksum = Some(Checksum::new(3));
        entry.types.insert("a".to_owned(), Type::Timestamp { zone: true });
        let ledger = ledger();
        let back = ledger.parse(&written(&entry).unwrap()).unwrap();
        assert_eq!(
            (back.types, back.now, back.ledger),
            (entry.types, entry.now, ledger.name.clone())
        );
        assert_eq!((back.id, back.inputs, back.so_far), (entry.id, entry.inputs, entry.so_far));
        assert!(ledger.parse("{}").unwrap_err().what().contains("can't read"));
    }

    #[test]
    fn a_step_changes_the_row_of_the_step_before_and_no_other() {
        let mut entry = Entry::new("x".to_owned(), Vec::new(), BTreeMap::new());
        entry.steps = 3;
        let sql = ledger().update(&entry).unwrap();
        assert!(sql.ends_with("WHERE id = 'x' AND steps = 2"), "{sql}");
        let sql = ledger().claim(&entry);
        assert!(sql.ends_with("WHERE id = 'x' AND steps = 3"), "{sql}");
        assert!(updated(1).is_ok());
        assert!(updated(0).is_err());
        assert_eq!(ledger().forget(&[]), None);
    }

    #[test]
    fn a_plain_load_looks_only_where_rows_may_be_there_already() {
        let looks = |request: &Request, holds_rows: Option<bool>| {
            let table =
                holds_rows.map(|holds_rows| TableFacts { holds_rows, ..TableFacts::default() });
            let mut asked = None;
            let read = |entries| {
                asked = Some(entries);
                Ok(Vec::new())
            };
            known(request, table.as_ref(), read).unwrap();
            asked
        };
        let mut request = Request::default();
        request.options.if_exists = IfExists::Append;
        assert_eq!(looks(&request, Some(true)), Some(Entries::Unfinished));
        assert_eq!(looks(&request, Some(false)), None);
        assert_eq!(looks(&request, None), None);
        request.options.on_conflict = OnConflict::Skip;
        assert_eq!(looks(&request, Some(true)), None);
        request.options.guarantee = Guarantee::Chunks;
        assert_eq!(looks(&request, None), Some(Entries::All));
        let sql = ledger().read(Entries::Unfinished);
        assert!(sql.contains("state <> 'done'") && !ledger().read(Entries::All).contains("state"));
    }
}
