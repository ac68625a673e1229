//! Databases: what each can do, and the steps of a load into one.
//!
//! A [`Target`] says what it finds ([`TargetFacts`]) and lists its [`Strategy`]s; each says how well it fits a [`Job`]'s request and begins
//! a [`Load`]; a load gives encoders, and [`Lane`]s that send.

mod console;
mod jobs;
mod knob;
mod load;
mod name;
mod scheme;
mod snapshot;
mod spare;
mod strategy;
mod way;

use std::fmt;
use std::path::{Path, PathBuf};
use std::sync::atomic::AtomicBool;

use serde::{Serialize, Serializer};

use crate::doctor::Doctor;
use crate::error::Result;
use crate::flow::Encode;
use crate::{Column, Facts, Job, Request, TargetFacts};

pub use console::{Console, Row, Setting, may_be_secret, text};
pub use jobs::{
    At, Copying, Entry, Fence, Home, JOB_PREFIX, JobLock, JobRows, JobTables, Jobs, Lost, Part,
    Set, SqlRows, Twins, Untold, WITHOUT_TABLES, Wanted, Which, fills, no_jobs,
};
pub use knob::{Knob, KnobKind, Knobs, parse_count};
pub use load::{Ended, Lane, Load};
pub use name::{TableName, behind_database};
pub use scheme::{path_of, scheme};
pub use snapshot::{Inspect, Sent, Snapshot, Verdict};
pub use spare::{Lease, NOTED_AFTER, Spare};
pub use strategy::{Fit, Memory, Strategy, Weakness};
pub use way::{Start, Way};

/// A kind of database.
pub trait Target: Sync {
    /// The word before the slash of its strategies' ids.
    fn name(&self) -> &'static str;

    /// How users write such a target, for help and messages.
    fn spelling(&self) -> &'static str;

    /// The location that `text` names, if it is one of this target's.
    fn claim(&self, text: &str) -> Option<Location>;

    /// Its strategies, best first: the static ranking.
    fn strategies(&self) -> &'static [&'static dyn Strategy];

    /// Whether tables have names there; a file of rows is one table.
    fn has_tables(&self) -> bool {
        true
    }

    /// What users may put around a part of a table's name, as the engine's own statements have it.
    fn quotes(&self) -> &'static [(char, char)] {
        &[]
    }

    /// Loads the engine's library, where it has one that inrush does not contain; `named` is the one that the user names.
    ///
    /// # Errors
    /// When it isn't here, with where it was looked for and how to get it.
    fn find_library(&self, _named: Option<&Path>) -> Result<()> {
        Ok(())
    }

    /// Looks at the database and the table without changing either. Of the request only what bears on connecting counts;
    /// `stop` ends a wait.
    ///
    /// # Errors
    /// When the database is there but can't be read.
    fn facts(
        &self,
        location: &Location,
        table: &str,
        request: &Request,
        stop: &AtomicBool,
    ) -> Result<TargetFacts>;

    /// Opens a connection that runs statements. What opens or creates the database is the target's affair: a file of SQLite's that isn't
    /// there is made, a server's database has to be there. `stop` ends a long statement, as it does a load's.
    ///
    /// # Errors
    /// When the location makes no sense, nobody answers, or the database refuses; in its own words, as [`Console`] says.
    fn console<'a>(
        &self,
        location: &Location,
        stop: &'a AtomicBool,
    ) -> Result<Box<dyn Console + 'a>>;

    /// How a server gets a database of this name, which is a word, and gets rid of it; `None` where a database is a file.
    fn own_database(&self, _name: &str) -> Option<OwnDatabase> {
        None
    }

    /// Its rules of settings and tables; `None` where there are none, as of files of rows.
    fn doctor(&self) -> Option<&'static dyn Doctor> {
        None
    }

    /// Its part in jobs, whose rows several processes write.
    ///
    /// # Errors
    /// Why there are none here, and what to do instead.
    fn jobs(&self) -> Result<Jobs>;

    /// Why text with a NUL byte is a bad row here; `None` where it is as good as any.
    fn nul_fault(&self) -> Option<&'static str>;

    /// Whether a column of timestamps takes one with an offset from UTC. Into another one, values of which the user says the time zone go as
    /// clocks in UTC show them.
    fn takes_offsets(&self, column: &Column) -> bool {
        column.ty.has_offset()
    }

    /// Whether an existing column takes lists, or what else is nested, as what they are, and not as documents of JSON or as their texts.
    fn takes_nested(&self, _column: &Column) -> bool {
        false
    }

    /// Whether a load adds columns to an existing table (`--new-columns add`), in its own transaction or so that they are dropped where it
    /// fails.
    fn adds_columns(&self) -> bool {
        false
    }

    /// Why no load commits in steps here; `None` where the strategies that can't say so themselves.
    fn no_steps(&self) -> Option<&'static str> {
        Some("no transaction takes rows and the ledger of steps together")
    }

    /// What `--if-exists truncate` does to the rows of an existing table.
    fn truncating(&self, _facts: &TargetFacts) -> &'static str {
        "deletes them first, in the same transaction"
    }

    /// What a user should know of a planned load beforehand, and read in its report, one sentence each.
    fn cautions(&self, _job: &Job) -> Vec<String> {
        Vec::new()
    }

    /// Whether loads of these columns into an existing table can compare rows by one of its keys (`--on-conflict`).
    ///
    /// # Errors
    /// Why they can't, and what to try.
    fn compares(&self, _request: &Request, _facts: &Facts, _columns: &[Column]) -> Result<()> {
        Ok(())
    }

    /// Whether the key that rows of an existing table would be compared by, that of `--key` or its primary one, can be compared by at all.
    ///
    /// # Errors
    /// Why not, and what to try.
    fn compares_by(&self, _request: &Request, _facts: &TargetFacts) -> Result<()> {
        Ok(())
    }

    /// What to try where `--key` names columns of an existing table that no key of it keeps unique.
    fn unique_key(&self, _table: &str, columns: &[String], _facts: &TargetFacts) -> String {
        format!("make one first: CREATE UNIQUE INDEX ... ({})", columns.join(","))
    }

    /// What, besides a load, may change its rows on their way: what users look for where a table is not what was sent.
    fn suspects(&self) -> &'static str {
        "triggers that change rows"
    }

    /// The engine's type for a column of a table that the load makes.
    fn spell(&self, column: &Column, job: &Job) -> String;

    /// An encoder that refuses the rows which encoders of this target's loads refuse. What it makes of the others nobody sends, so
    /// the database is not asked for anything.
    ///
    /// # Errors
    /// When the plan has a column that the target has no type for.
    fn checker(&self, job: &Job) -> Result<Box<dyn Encode>>;

    /// The statement by which a load makes the table, without indexes that it builds after the rows; `None` where no statement
    /// does.
    fn definition(&self, _plan: &Job) -> Option<String> {
        None
    }
}

/// A database that somebody needs for a while. Its statements are for a [`Console`].
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct OwnDatabase {
    /// The database in which the statements run; `None` for the one that the server's own URL names.
    pub enter: Option<String>,
    /// What makes it.
    pub make: String,
    /// What drops it, whether or not it is there.
    pub drop: String,
}

/// Where a database is. Shows itself without the password.
#[derive(Clone, PartialEq, Eq)]
pub struct Location {
    /// What the target needs to open it; may hold a password.
    pub secret: String,
    /// The same for people.
    pub shown: String,
    /// Files of this machine that are the database: nothing of ours may overwrite them.
    pub files: Vec<PathBuf>,
    /// What a step leaves for the next one that connects.
    pub spare: Spare,
}

/// What people read for a location that is the process's own standard output.
pub const STANDARD_OUTPUT: &str = "standard output";

impl Location {
    /// A location that keeps no connection.
    pub fn new(secret: String, shown: String, files: Vec<PathBuf>) -> Self {
        Self { secret, shown, files, spare: Spare::default() }
    }

    /// Whether rows go to standard output.
    pub fn is_stdout(&self) -> bool {
        self.files.is_empty() && self.shown == STANDARD_OUTPUT
    }
}

impl fmt::Debug for Location {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.shown)
    }
}

impl Serialize for Location {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.serialize_str(&self.shown)
    }
}
