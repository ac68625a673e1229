//! Databases: what each can do, and the steps of a load into one.

use std::cell::Cell;
use std::collections::BTreeMap;
use std::fmt;
use std::path::PathBuf;
use std::sync::atomic::AtomicBool;

use serde::{Serialize, Serializer};

use crate::error::{Error, Result, without_secrets};
use crate::pipe::{Ack, Checksum, Chunk, Encode, Wire};
use crate::plan::{Column, Durability, Facts, Lesson, OnConflict, Plan, Request, TargetFacts};
use crate::wording::{counted, were};

mod console;
mod knob;

// A target is a folder and a feature.
#[cfg(feature = "duckdb")]
mod duckdb;
#[cfg(feature = "files")]
mod files;
#[cfg(feature = "mongodb")]
mod mongodb;
#[cfg(feature = "mssql")]
mod mssql;
#[cfg(feature = "mysql")]
mod mysql;
#[cfg(feature = "postgres")]
mod postgres;
#[cfg(feature = "sqlite")]
mod sqlite;

// What several of them share. A build of few targets needs but a part of it.
#[cfg(any(feature = "mysql", feature = "postgres"))]
mod account;
#[cfg(feature = "arrow")]
#[cfg_attr(not(feature = "targets"), allow(dead_code, unused_imports))]
mod arrow;
#[cfg(feature = "channel")]
mod channel;
#[cfg_attr(not(feature = "targets"), allow(dead_code))]
mod digits;
#[cfg_attr(not(feature = "targets"), allow(dead_code))]
mod double;
#[cfg_attr(not(feature = "targets"), allow(dead_code))]
mod folder;
#[cfg_attr(not(feature = "targets"), allow(dead_code))]
mod hex;
#[cfg_attr(not(feature = "targets"), allow(dead_code))]
mod staging;
#[cfg_attr(not(feature = "targets"), allow(dead_code))]
mod statement;
#[cfg_attr(not(feature = "targets"), allow(dead_code))]
mod unnamed;
#[cfg_attr(not(feature = "targets"), allow(dead_code))]
mod way;

pub(crate) use unnamed::unnamed;

pub use console::{Console, Row, Setting};
pub use knob::{Knob, KnobKind, Knobs, parse_count};

/// Every target of this build. A target is a folder, its line here, and the contract suite passing.
pub static ALL: &[&dyn Target] = &[
    #[cfg(feature = "sqlite")]
    &sqlite::Sqlite,
    #[cfg(feature = "mysql")]
    &mysql::Mysql,
    #[cfg(feature = "postgres")]
    &postgres::Postgres,
    #[cfg(feature = "mongodb")]
    &mongodb::Mongodb,
    #[cfg(feature = "duckdb")]
    &duckdb::DuckDb,
    #[cfg(feature = "mssql")]
    &mssql::Mssql,
    #[cfg(feature = "files")]
    &files::Files,
];

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

    /// Why text with a NUL byte is a bad row here; `None` where it is as good as any.
    fn nul_fault(&self) -> Option<&'static str>;

    /// The engine's type for a column of a table that the load makes.
    fn spell(&self, column: &Column, plan: &Plan) -> String;

    /// An encoder that refuses the rows which encoders of this target's loads refuse. What it makes of the others nobody sends, so
    /// the database is not asked for anything.
    ///
    /// # Errors
    /// When the plan has a column that the target has no type for.
    fn checker(&self, plan: &Plan) -> Result<Box<dyn Encode>>;

    /// The statement by which a load makes the table, without indexes that it builds after the rows; `None` where no statement
    /// does.
    fn definition(&self, _plan: &Plan) -> Option<String> {
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

/// The target that `text` names.
///
/// # Errors
/// When no target of this build takes it.
pub fn find(text: &str) -> Result<(&'static dyn Target, Location)> {
    ALL.iter().find_map(|target| Some((*target, target.claim(text)?))).ok_or_else(|| {
        let spellings: Vec<&str> = ALL.iter().map(|target| target.spelling()).collect();
        let error = Error::usage(format!("'{}' names no target", without_secrets(text)));
        match as_file(text) {
            Some(spelling) => error.advise(format!("say {spelling} to write such a file")),
            None => error,
        }
        .advise(format!("name the target last, as {}", spellings.join(" or ")))
    })
}

/// How to write to what is named like a file of rows: the scheme is never guessed, for the last of several sources may have been meant.
fn as_file(text: &str) -> Option<String> {
    const SCHEMES: [(&str, &[&str]); 3] = [
        ("csv", &["csv", "tsv", "tab", "txt", "psv"]),
        ("jsonl", &["jsonl", "ndjson", "json"]),
        ("parquet", &["parquet", "pq", "arrow", "arrows", "feather", "ipc"]),
    ];
    if text.contains("://") {
        return None;
    }
    let (_, ending) = text.rsplit_once('.')?;
    let ending = ending.to_ascii_lowercase();
    let (scheme, endings) =
        SCHEMES.iter().find(|(_, endings)| endings.contains(&ending.as_str()))?;
    // A format that is read and not written keeps its name for what is.
    let known = ["csv", "jsonl", "ndjson", "parquet", "pq"].contains(&ending.as_str());
    let path = if known { text } else { &text[..text.len() - ending.len() - 1] };
    let spelling =
        if known { format!("{scheme}:{path}") } else { format!("{scheme}:{path}.{}", endings[0]) };
    ALL.iter().any(|target| target.claim(&spelling).is_some()).then_some(spelling)
}

/// One way to write to one target.
pub trait Strategy: Sync {
    /// `target/name`. Users type it and reports keep it: never renamed.
    fn id(&self) -> &'static str;

    /// One sentence for help and docs.
    fn about(&self) -> &'static str;

    /// Its parameters.
    fn knobs(&self) -> &'static [Knob];

    /// Whether it can do this load, and what it would give up. Sets the knobs that the user left alone to what the request
    /// needs.
    fn fit(&self, request: &Request, facts: &Facts, knobs: &mut Knobs) -> Fit;

    /// What a load takes in memory.
    fn memory(&self, request: &Request, knobs: &Knobs) -> Memory;

    /// Begins a load: opens, locks, makes the table. `stop` is set when the user wants to.
    ///
    /// # Errors
    /// When the target refuses; it is then as it was.
    fn begin<'a>(&self, plan: &'a Plan, stop: &'a AtomicBool) -> Result<Box<dyn Load + 'a>>;
}

/// Whether a strategy can do a load.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Fit {
    /// It can, with these properties.
    Usable {
        /// Whether a failed load leaves the target as it was.
        atomic: bool,
        /// The strongest promise it can make with these knobs.
        durability: Durability,
        /// Why that is not the strongest of all.
        weakness: Option<Weakness>,
        /// The connections to use where the user says nothing.
        lanes: usize,
        /// The most connections it can use.
        lanes_max: usize,
        /// Encoder threads that keep this machine busy beside the lanes and the database they wait for.
        encoders: usize,
        /// What the user should know of how it goes about this load, one sentence each.
        notes: Vec<String>,
    },
    /// It can't, for this reason.
    Unusable {
        /// One sentence.
        reason: String,
    },
    /// It isn't for such a target, and nobody has to be told: another strategy is.
    Foreign {
        /// One sentence, for who asks for it all the same.
        reason: String,
    },
    /// It could if the administrator let it; users are told what they miss.
    Barred {
        /// One sentence, with what to change.
        reason: String,
    },
}

/// What keeps a load from a stronger promise.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Weakness {
    /// The setting and its value, or what the table is: what follows "with".
    pub what: String,
    /// What to change, where the load alone can't.
    pub remedy: Option<String>,
}

#[cfg_attr(not(feature = "targets"), allow(dead_code))]
impl Weakness {
    /// A setting of a server, which its administrator could have otherwise.
    pub(crate) fn server(name: &str, value: &str, better: &str) -> Self {
        Self {
            what: format!("{name}={value}, a setting of the server,"),
            remedy: Some(format!("or have the server run with {name}={better}")),
        }
    }

    /// A knob of the strategy.
    pub(crate) fn knob(name: &str, value: &str) -> Self {
        Self {
            what: format!("{name}={value}"),
            remedy: Some(format!("or leave --set {name}={value} out")),
        }
    }

    /// What the table, or the database, is.
    pub(crate) fn thing(what: impl Into<String>) -> Self {
        Self { what: what.into(), remedy: None }
    }
}

/// What a load takes in memory.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Memory {
    /// For each byte of a chunk, at worst.
    pub wire_bytes_per_byte: usize,
    /// Besides parcels: caches, buffers.
    pub fixed_bytes: u64,
    /// Bytes of input in a chunk, where the user says nothing.
    pub chunk_bytes: usize,
}

/// A load under way. The steps, in order:
///
/// 1. [`Strategy::begin`] gave it.
/// 2. [`Load::hand_over`], which ends the next two steps where the engine reads the source by itself; else [`Load::encoder`] as often
///    as there are encoder threads, and [`Load::lanes`] once.
/// 3. The pipeline runs; the lanes are dropped when all chunks are sent.
/// 4. [`Load::complete`], [`Load::verify`].
/// 5. [`Load::commit`]; or, from any step, [`Load::abort`]. One dropped without either is aborted.
pub trait Load: Send {
    /// Has the engine read the source by itself, and says how many rows it took; `None` where they go through the pipeline.
    ///
    /// # Errors
    /// When the engine refuses.
    fn hand_over(&mut self) -> Result<Option<u64>> {
        Ok(None)
    }

    /// An encoder for one thread.
    fn encoder(&self) -> Box<dyn Encode>;

    /// A connection that sends.
    ///
    /// # Errors
    /// When it can't be had.
    fn lanes(&mut self) -> Result<Vec<Box<dyn Lane + '_>>>;

    /// Whether keys or indexes are built after the rows.
    fn indexes(&self) -> bool;

    /// Completes the table once all rows are sent: what comes after the rows, keys and indexes among it.
    ///
    /// # Errors
    /// When one can't be built; a duplicate key found here names its columns.
    fn complete(&mut self) -> Result<()>;

    /// Compares the table with what was sent.
    ///
    /// # Errors
    /// When it can't be read. A difference is an answer, not an error.
    fn verify(&mut self, sent: &Sent) -> Result<Verdict>;

    /// Makes everything visible and lasting, and reads back what durability the engine was running with.
    ///
    /// # Errors
    /// When the target refuses; [`Load::abort`] says what is left.
    fn commit(&mut self) -> Result<BTreeMap<String, String>>;

    /// What a load that has just failed found out: with it another try fares better.
    fn lesson(&mut self, _ended_by: Ended) -> Option<Lesson> {
        None
    }

    /// Undoes everything that can be undone, and says what is left.
    fn abort(&mut self) -> crate::error::Aftermath;
}

/// What ended a load before its time.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Ended {
    /// Bad rows: there may be earlier ones that it would have told at its end only.
    ByRows,
    /// A row that disproves a guessed type, before which the same holds; with nothing else to learn the types are.
    BySurprise,
    /// Anything else, or what was learnt before.
    Otherwise,
}

/// One connection. Only I/O: the encoder has done the thinking.
pub trait Lane: Send {
    /// Sends one wire, whole. Rows that the target refuses are in the answer; an error ends the load.
    ///
    /// # Errors
    /// When the target fails for a reason that no row is to blame for.
    fn send(&mut self, chunk: &Chunk, wire: &Wire) -> Result<Ack>;

    /// All wires of this lane are sent.
    ///
    /// # Errors
    /// When what was sent can't be completed.
    fn finish(&mut self) -> Result<()> {
        Ok(())
    }
}

/// What a load sent, to be compared with what is there.
#[derive(Debug)]
pub struct Sent {
    /// Rows the target acknowledged.
    pub rows: u64,
    /// Sums over their values, when verified by checksum.
    pub checksum: Option<Checksum>,
    /// By how many rows the table has grown, once [`Load::verify`] has counted them.
    pub grown: Cell<Option<u64>>,
}

impl Sent {
    /// What is wrong with a table that went from `before` to `after` rows. Where nothing is, the report knows from here on how many
    /// of the rows are new.
    pub(crate) fn miscounted(&self, before: u64, after: u64, plan: &Plan) -> Option<String> {
        let grown = after.checked_sub(before);
        self.grown.set(grown);
        let ok = match plan.request.on_conflict {
            // Rows that replaced or changed others did not make the table longer.
            OnConflict::Update | OnConflict::Replace => {
                grown.is_some_and(|grown| grown <= self.rows)
            }
            OnConflict::Fail | OnConflict::Skip => grown == Some(self.rows),
        };
        let sent = self.rows;
        let (after, were) = (counted(after, "row"), were(sent));
        (!ok).then(|| format!("the table went from {before} to {after}, {sent} {were} sent"))
    }

    /// What is wrong with a table to which values of these sums were added.
    pub(crate) fn differs(&self, arrived: &Checksum, plan: &Plan) -> Option<String> {
        let column = arrived.first_difference(self.checksum.as_ref()?)?;
        let name = &plan.choice.columns[column].name;
        Some(format!("the values in column {name} are not those that were sent"))
    }
}

/// The outcome of a verification.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Verdict {
    /// Whether the target holds what was sent.
    pub ok: bool,
    /// The difference, in words.
    pub difference: Option<String>,
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn ids_are_unique_and_begin_with_their_target() {
        let mut ids = std::collections::HashSet::new();
        for target in ALL {
            assert!(!target.strategies().is_empty());
            for strategy in target.strategies() {
                assert!(ids.insert(strategy.id()), "{}", strategy.id());
                assert!(strategy.id().starts_with(&format!("{}/", target.name())));
                for knob in strategy.knobs() {
                    knob.kind.check(knob.default).unwrap();
                }
            }
        }
    }

    #[cfg(feature = "files")]
    #[test]
    fn a_file_of_rows_is_told_how_to_be_a_target() {
        let advice = |text: &str| find(text).err().unwrap().advice()[0].clone();
        assert_eq!(advice("out.csv"), "say csv:out.csv to write such a file");
        assert_eq!(advice("a/out.JSONL"), "say jsonl:a/out.JSONL to write such a file");
        assert_eq!(advice("out.tsv"), "say csv:out.csv to write such a file");
        assert_eq!(advice("out.json"), "say jsonl:out.jsonl to write such a file");
        #[cfg(feature = "parquet")]
        assert_eq!(advice("out.arrow"), "say parquet:out.parquet to write such a file");
        for text in ["out.gz", "oracle://host/a.csv", "csv"] {
            assert!(advice(text).starts_with("name the target last"), "{text}");
        }
    }

    #[test]
    fn passwords_do_not_reach_messages() {
        for url in
            ["oracle://scott:tig@er@db/x", "oracle://db/x?password=tiger", "oracle:scott:tiger@db"]
        {
            let error = find(url).err().unwrap();
            assert!(!error.to_string().contains("tig"), "{error}");
            assert!(error.what().contains("'oracle:...'"), "{error}");
        }
    }
}
