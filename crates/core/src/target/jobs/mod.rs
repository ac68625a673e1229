//! What a target brings to jobs, whose rows several processes write. The protocol itself is the same for all engines, and stands in
//! the facade.

mod sql;

use std::collections::BTreeMap;
use std::sync::atomic::AtomicBool;
use std::time::Duration;

use serde::{Deserialize, Serialize};

use super::{Console, Location};
use crate::error::{Error, Result};
use crate::{Job, TableFacts, TargetFacts, Type};

pub use sql::SqlRows;

/// What every hidden table of a job is called, before its number and what it is for.
pub const JOB_PREFIX: &str = "inrush_job_";

/// What to do without the right to make tables.
pub const WITHOUT_TABLES: &str =
    "inrush load from one machine makes no other tables, and is all or nothing as well";

/// The error of a target that has no jobs: why, and what to do instead.
pub fn no_jobs(why: &str, instead: &str) -> Error {
    Error::usage(format!("no job can write here: {why}")).advise(instead)
}

/// The error where another load or job fills the table that is to be empty.
pub fn fills(home: &Home) -> Error {
    Error::target(format!("another load writes into table {}", home.table))
        .advise("try again when that one is through")
        .of_giving_way()
}

/// Where a job's table is; its hidden tables and the ledger are beside it.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Home {
    /// The schema, or the database that statements have to name; `None` where there is neither.
    pub schema: Option<String>,
    /// The table's name, unquoted.
    pub table: String,
}

/// An engine's part in jobs.
#[derive(Clone, Copy)]
pub struct Jobs {
    /// How its tables are made, named and dropped.
    pub tables: &'static dyn JobTables,
    /// What goes over a connection: the ledger's rows, those of partitions and attempts, and locks.
    pub rows: &'static dyn JobRows,
}

/// The tables of a job. Statements are the engine's own, as its [`Console`] takes them; names of tables are given as they are, without
/// quotes, and are beside the job's table.
pub trait JobTables: Sync {
    /// Where the table is that the facts are of.
    fn home(&self, facts: &TargetFacts, table: &str) -> Home;

    /// Refuses an existing table that no job can write into, whatever else is asked for.
    ///
    /// # Errors
    /// Why, and what to do instead.
    fn refuse_table(&self, _table: &TableFacts) -> Result<()> {
        Ok(())
    }

    /// Refuses a table that no job can write into; or none that makes tables for its attempts.
    ///
    /// # Errors
    /// Why, and what to do instead.
    fn refuse(&self, _job: &Job, _makes_tables: bool) -> Result<()> {
        Ok(())
    }

    /// Refuses what only the database can say, before anything is made: a table that can't be read as a whole, or that can't make room for
    /// the one which replaces it.
    ///
    /// # Errors
    /// Why, and what to do instead; or as the database says.
    fn admits(&self, _console: &mut dyn Console, _job: &Job, _home: &Home) -> Result<()> {
        Ok(())
    }

    /// What of a table has to be the same when a job is published as when it began, in words.
    fn outline(&self, table: &TableFacts) -> String {
        let TableFacts { columns, primary_key, unique_keys, storage, .. } = table;
        let columns: Vec<_> = columns
            .iter()
            .map(|column| (&column.name, &column.declared, column.required))
            .collect();
        format!("{columns:?} {primary_key:?} {unique_keys:?} {storage:?}")
    }

    /// Whether rows may be gone that a statement says it has written into the existing table, for rules, triggers or a view have a say in
    /// what becomes of them: then the table is counted.
    fn miscounts(&self, _job: &Job) -> bool {
        false
    }

    /// What attempts have to be told, since the tables that are made for them don't say it.
    fn untold(&self, _job: &Job) -> Untold {
        Untold::default()
    }

    /// What every connection of a job begins with: statements that go out as one message.
    fn opening(&self) -> Option<&'static str>;

    /// The table as a request names it.
    fn requested(&self, home: &Home, table: &str) -> String;

    /// Makes the ledger, unless it is there: `id` is its key, `begun` and `heartbeat` are whole seconds, all else is text.
    fn make_ledger(&self, home: &Home, ledger: &str) -> String;

    /// Makes the table that knows which partitions are in the job's table: `part` is its key, `loaded` a count, `origin` and `token` are
    /// text that may be NULL. What it holds outlasts a crash.
    fn make_partitions(&self, home: &Home, partitions: &str) -> String;

    /// Makes the table that those of attempts are made like: it takes the job's columns, and refuses what the job's table refuses of a
    /// single row, and rows that repeat a key where `keyed`.
    fn make_template(&self, job: &Job, home: &Home, template: &str, keyed: bool) -> Vec<String>;

    /// Makes a table like the template.
    fn make_like(&self, home: &Home, table: &str, template: &str) -> String;

    /// Makes the table that gets the job's rows, keys and indexes where the job makes its table, before it gets that one's name.
    fn make_hidden(&self, home: &Home, hidden: &str, template: &str) -> String {
        self.make_like(home, hidden, template)
    }

    /// What a new table gets after its rows: keys, where the template has none (`keyed`), and indexes.
    fn complete(&self, job: &Job, home: &Home, table: &str, keyed: bool) -> Vec<String>;

    /// Whether a table gets another name within a transaction, with all else that this one does.
    fn renames_in_transaction(&self) -> bool;

    /// Gives `hidden` the name of the job's table; what has the name goes where the new one `replaces` it. In one statement, where
    /// it is not within a transaction.
    ///
    /// # Errors
    /// As the database says.
    fn take_name(
        &self,
        console: &mut dyn Console,
        home: &Home,
        hidden: &str,
        replaces: bool,
    ) -> Result<()>;

    /// Gives a hidden table the name of another one that does not exist, and its own again, where a right of its own is needed for what
    /// [`take_name`](Self::take_name) does.
    ///
    /// # Errors
    /// As the database says.
    fn try_name(
        &self,
        _console: &mut dyn Console,
        _home: &Home,
        _hidden: &str,
        _other: &str,
    ) -> Result<()> {
        Ok(())
    }

    /// Drops the tables, of which there is one at least, unless another connection goes on using one of them; whether they are gone.
    fn drop_tables(&self, console: &mut dyn Console, home: &Home, tables: &[&str]) -> bool;

    /// Drops what is left of loads that are no more, as each load does at its beginning.
    fn sweep(&self, console: &mut dyn Console, home: &Home);

    /// Tables on which loads can be tried; `None` where there are none.
    fn twins(&self) -> Option<&dyn Twins> {
        None
    }
}

/// What attempts have to be told, since the tables that are made for them don't say it.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Untold {
    /// The primary key.
    pub primary_key: Vec<String>,
    /// Types of columns that files don't say.
    pub types: BTreeMap<String, Type>,
}

/// Hidden tables like the user's, into which loads are tried.
pub trait Twins: SqlRows {
    /// Has no sweep take the hidden table for that of a load which is no more, for as long as the connection is open. Such a table is not
    /// a job's: it is named as those are that loads fill before they take the target's place.
    ///
    /// # Errors
    /// As the database says.
    fn keep_hidden(&self, console: &mut dyn Console, home: &Home, hidden: &str) -> Result<()>;

    /// Makes an empty table like an existing one: columns, keys and indexes, and counters of its own. Without triggers, and without
    /// foreign keys.
    fn make_twin(&self, home: &Home, twin: &str, table: &str) -> Vec<String>;
}

/// A connection to a job's database, and where its tables are.
pub struct At<'c> {
    /// The connection.
    pub console: &'c mut dyn Console,
    /// Where the job's table is.
    pub home: &'c Home,
}

/// A row of the ledger.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Entry {
    /// The job's name.
    pub id: String,
    /// Its table.
    pub target: String,
    /// How far it is.
    pub state: String,
    /// What tells it from others of the name.
    pub digits: String,
    /// The version of inrush that has begun it.
    pub version: String,
    /// When, in seconds since 1970.
    pub begun: i64,
    /// When a process at work has noted last that it is, likewise.
    pub heartbeat: i64,
    /// Seconds since then.
    pub age: i64,
    /// What publishing has to know.
    pub job: String,
    /// The tokens that are published.
    pub tokens: Option<String>,
    /// What the job has done.
    pub report: Option<String>,
}

/// Which rows of the ledger are asked for.
#[derive(Clone, Copy, Debug)]
pub enum Wanted<'w> {
    /// A job's; once nobody is changing it, where `settled`.
    One {
        /// The job's name.
        id: &'w str,
        /// Whether to wait for a transaction that changes it.
        settled: bool,
    },
    /// All, by the time they were begun.
    All,
}

/// Which row of the ledger is to change, and in what state it has to be.
#[derive(Clone, Copy, Debug)]
pub struct Which<'w> {
    /// The job's name.
    pub id: &'w str,
    /// What tells it from others of the name.
    pub digits: &'w str,
    /// The state; `None` for whatever it is.
    pub state: Option<&'w str>,
}

/// What a column of the ledger is set to.
#[derive(Clone, Copy, Debug)]
pub enum Set<'s> {
    /// This text.
    Text(&'s str),
    /// NULL.
    Null,
    /// The database's clock, in whole seconds since 1970.
    Now,
}

/// A partition that is in a job's table.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Part {
    /// Its rows there.
    pub loaded: u64,
    /// What it was written from, where that can be said.
    pub origin: Option<String>,
    /// The token of the attempt that has written it.
    pub token: String,
}

/// How rows of an attempt's table come into another.
#[derive(Clone, Debug, Default, Serialize, Deserialize)]
pub struct Copying {
    /// What the engine's copy has before the table from which they come.
    pub before: String,
    /// And after it.
    pub after: String,
    /// How it is known which of the rows a trigger has kept out; `None` where none can be, or nobody knows.
    #[serde(default)]
    pub lost: Option<Lost>,
}

/// How rows are known that a trigger has kept out, where keys decide what becomes of a row.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub enum Lost {
    /// The statement counts all others.
    Uncounted,
    /// A query counts them. This stands before the table from which they came.
    Found {
        /// What the query has before it.
        before: String,
        /// And after it.
        after: String,
    },
}

/// Who keeps a job's fence.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Fence {
    /// As many transactions as bring in partitions.
    Shared,
    /// One that waits for all of these, and has others wait.
    Alone,
}

/// A lock of a job: number 0 is for who ends it, the others are for attempts.
#[derive(Clone, Copy, Debug)]
pub struct JobLock<'l> {
    /// The job's name.
    pub id: &'l str,
    /// The job's sixteen digits.
    pub digits: &'l str,
    /// Which.
    pub number: u32,
    /// Who asks, by a word that nobody else has.
    pub owner: &'l str,
}

/// Rows that jobs read and write, and locks. Methods may fail as the database says.
///
/// # Errors
/// As the database says.
#[allow(clippy::missing_errors_doc, reason = "all of them fail as the database says")]
pub trait JobRows: Sync {
    /// Whether rows of several tables change in one transaction, by BEGIN and COMMIT.
    fn has_transactions(&self) -> bool;

    /// The schemas that have a table of this name, or may have one that this user is not to know of; one `None` where there are no schemas.
    fn schemas_with(&self, console: &mut dyn Console, table: &str) -> Result<Vec<Option<String>>>;

    /// The names of the tables that begin so.
    fn tables(&self, at: At<'_>, prefix: &str) -> Result<Vec<String>>;

    /// Rows of a table.
    fn count(&self, at: At<'_>, table: &str) -> Result<u64>;

    /// Whether the job's table holds no rows.
    fn is_empty(&self, at: At<'_>) -> Result<bool> {
        let table = at.home.table.clone();
        Ok(self.count(at, &table)? == 0)
    }

    /// Has loads and jobs that want the job's table empty wait until the transaction is over, as a load into an empty table has them
    /// wait; whether others may add rows to it all the same.
    fn begin_alone(&self, _at: At<'_>) -> Result<bool> {
        Ok(false)
    }

    /// Gives back what [`JobRows::begin_alone`] has taken, before the transaction is over.
    fn end_alone(&self, _at: At<'_>) -> Result<()> {
        Ok(())
    }

    /// Has the connection wait for no lock longer than a second, where it would wait for one at all.
    fn hurry(&self, _at: At<'_>) -> Result<()> {
        Ok(())
    }

    /// Whether the job's table holds rows that others have committed, as a second connection sees it while the first one's transaction
    /// is open. One that would have to wait for longer than a moment does not find out.
    fn holds_others(&self, _beside: At<'_>) -> Result<bool> {
        Ok(false)
    }

    /// Rows of a table that say themselves that they are the job's: an attempt that was killed may have left them, and the next one at its
    /// partition finds them again. None where what such an attempt has written is undone.
    fn left(&self, _at: At<'_>, _table: &str, _job: &str) -> Result<u64> {
        Ok(0)
    }

    /// Drops a table; whether it was there. After this it never gets another name.
    fn drop_surely(&self, at: At<'_>, table: &str) -> Result<bool>;

    /// How rows come into `into`.
    fn copying(&self, job: &Job, home: &Home, into: &str) -> Copying;

    /// Copies all rows of a table; how many came into the other. `source` is where to connect for it, should one connection not do.
    fn copy(
        &self,
        at: At<'_>,
        source: (&Location, &AtomicBool),
        copying: &Copying,
        from: &str,
    ) -> Result<u64>;

    /// How many of a copied table's `rows`, of which `written` were said to come into the other, left no trace there: a trigger has kept
    /// them out. Asked where keys decide what becomes of a row, so that fewer may come by right.
    fn lost(
        &self,
        _at: At<'_>,
        _copying: &Copying,
        _from: &str,
        _rows: u64,
        _written: u64,
    ) -> Result<u64> {
        Ok(0)
    }

    /// Tries, without changing anything, what is done to the ledger's rows, and to those of a hidden table of this name, which need not
    /// exist, where one is named; the first no of a database that says who may not before it looks what there is.
    fn try_rights(&self, _at: At<'_>, _ledger: &str, _hidden: Option<&str>) -> Result<()> {
        Ok(())
    }

    /// Rows of the ledger.
    fn entries(&self, at: At<'_>, ledger: &str, wanted: Wanted<'_>) -> Result<Vec<Entry>>;

    /// The statement by which a transaction has those wait who change a job's row and then read it [settled](Wanted::One), until it is over
    /// itself. Others note meanwhile that they are at work, though they may have to wait, too. `None` where there are no transactions.
    fn holding(&self, _home: &Home, _ledger: &str, _id: &str) -> Option<String> {
        None
    }

    /// Adds a row to the ledger: it begins now. An error where there is one of the name.
    fn add_entry(&self, at: At<'_>, ledger: &str, entry: &Entry) -> Result<()>;

    /// Changes a row of the ledger in one step; whether it was there, in that state.
    fn change_entry(
        &self,
        at: At<'_>,
        ledger: &str,
        which: Which<'_>,
        sets: &[(&str, Set<'_>)],
    ) -> Result<bool>;

    /// Takes a row out of the ledger; whether it was there.
    fn remove_entry(&self, at: At<'_>, ledger: &str, which: Which<'_>) -> Result<bool>;

    /// Adds the fence to a table of partitions that was just made.
    fn add_fence(&self, at: At<'_>, partitions: &str) -> Result<()>;

    /// Keeps the fence until the transaction is over.
    fn keep_fence(&self, at: At<'_>, partitions: &str, fence: Fence) -> Result<()>;

    /// Notes that a partition is this attempt's; an error where it is another's already. An attempt that is under way is waited for.
    fn claim(&self, at: At<'_>, partitions: &str, number: u32, attempt: &str) -> Result<()>;

    /// Notes what the attempt has done.
    fn note(&self, at: At<'_>, partitions: &str, number: u32, part: &Part) -> Result<()>;

    /// Whether there is a partition.
    fn has_parts(&self, at: At<'_>, partitions: &str) -> Result<bool> {
        Ok(!self.parts(at, partitions, None)?.is_empty())
    }

    /// The partition of this number, or all of them.
    fn parts(&self, at: At<'_>, partitions: &str, number: Option<u32>) -> Result<Vec<Part>>;

    /// Takes the first of the locks from this one up to number `last` that is free, and says which: it is the owner's from here on, until
    /// the connection closes, or as long as it is renewed. `again` where the connection has asked before.
    fn try_locks(
        &self,
        at: At<'_>,
        ledger: &str,
        first: JobLock<'_>,
        last: u32,
        again: bool,
    ) -> Result<Option<u32>>;

    /// Whether nobody has one of the locks up to this one.
    fn are_free(&self, at: At<'_>, ledger: &str, last: JobLock<'_>) -> Result<bool>;

    /// For how long a lock is the owner's that is not renewed; `None` where a lock is the connection's.
    fn lease(&self) -> Option<Duration> {
        None
    }

    /// Renews the lock, or gives it up; does nothing where a lock is the connection's.
    fn renew(&self, _at: At<'_>, _ledger: &str, _lock: JobLock<'_>, _keep: bool) -> Result<()> {
        Ok(())
    }
}
