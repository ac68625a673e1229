//! What a target brings to jobs, whose rows several processes write.

use serde::{Deserialize, Serialize};

use super::Console;
use crate::error::{Error, Result};
use crate::{Job, TableFacts, TargetFacts};

/// What every hidden table of a job is called, before its number and what it is for.
pub const JOB_PREFIX: &str = "inrush_job_";

/// What to do without the right to make tables.
pub const WITHOUT_TABLES: &str =
    "inrush load from one machine makes no other tables, and is all or nothing as well";

/// The error of a target that has no jobs: why, and what to do instead.
pub fn no_jobs(why: &str, instead: &str) -> Error {
    Error::usage(format!("no job can write here: {why}")).advise(instead)
}

/// Where a job's table is; its hidden tables and the ledger are beside it.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Home {
    /// The schema; `None` where a database has no schemas.
    pub schema: Option<String>,
    /// The table's name, unquoted.
    pub table: String,
}

/// The engine's part in a job: SQL, and what only its own words can do. The protocol itself is the same for all engines, and stands
/// in the facade.
///
/// Names of tables are given as they are, without quotes, and are beside the job's table.
pub trait Jobs: Sync {
    /// Where the table is that the facts are of.
    fn home(&self, facts: &TargetFacts, table: &str) -> Home;

    /// Refuses a table that no job can write into.
    ///
    /// # Errors
    /// Why, and what to do instead.
    fn refuse(&self, _job: &Job) -> Result<()> {
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

    /// Statements that every connection of a job begins with.
    fn opening(&self) -> &'static [&'static str];

    /// The table as statements name it.
    fn named(&self, home: &Home, table: &str) -> String;

    /// The table as a request names it.
    fn requested(&self, home: &Home, table: &str) -> String;

    /// The text as a literal.
    fn literal(&self, text: &str) -> String;

    /// The server's clock, in whole seconds since 1970, as an expression.
    fn seconds(&self) -> &'static str;

    /// A query for the schemas that have a table of this name and can be read; one row with NULL where there are no schemas.
    fn schemas_with(&self, table: &str) -> String;

    /// A query for the names of the tables beside the job's that begin so.
    fn tables(&self, home: &Home, prefix: &str) -> String;

    /// Makes the ledger, unless it is there: `id` is its key, `begun` and `heartbeat` are whole seconds, all else is text.
    fn make_ledger(&self, home: &Home, ledger: &str) -> String;

    /// Makes the table that knows which partitions are in the job's table: `part` is its key, `loaded` a count, `origin` and `token` are
    /// text that may be NULL. What it holds outlasts a crash.
    fn make_partitions(&self, home: &Home, partitions: &str) -> String;

    /// What ends a query for rows that no other transaction may lock to change before this one is over, while others may ask the same.
    fn shared(&self) -> &'static str;

    /// Makes the table that those of attempts are made like: it takes the job's columns, and refuses what the job's table refuses of a
    /// single row, and rows that repeat a key where `keyed`.
    fn make_template(&self, job: &Job, home: &Home, template: &str, keyed: bool) -> Vec<String>;

    /// Makes a table like the template.
    fn make_like(&self, home: &Home, table: &str, template: &str) -> String;

    /// Makes the table that gets the job's rows, keys and indexes where the job makes its table, before it gets that one's name.
    fn make_hidden(&self, home: &Home, hidden: &str, template: &str) -> String {
        self.make_like(home, hidden, template)
    }

    /// What stands before and after a query for the job's columns in the statement that adds its rows to `table`.
    fn insert(&self, job: &Job, home: &Home, table: &str) -> (String, String);

    /// The job's columns, as a query names them.
    fn columns(&self, job: &Job) -> String;

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

    /// Drops the tables, of which there is one at least, unless another connection goes on using one of them; whether they are gone.
    fn drop_tables(&self, console: &mut dyn Console, home: &Home, tables: &[&str]) -> bool;

    /// Drops what is left of loads that are no more, as each load does at its beginning.
    fn sweep(&self, console: &mut dyn Console, home: &Home);

    /// Has no sweep take the hidden table for that of a load which is no more, for as long as the connection is open. Such a table is not
    /// a job's: it is named as those are that loads fill before they take the target's place.
    ///
    /// # Errors
    /// As the database says.
    fn keep_hidden(&self, console: &mut dyn Console, home: &Home, hidden: &str) -> Result<()>;

    /// Makes an empty table like an existing one: columns, keys and indexes, and counters of its own. Without triggers, and without
    /// foreign keys.
    fn make_twin(&self, home: &Home, twin: &str, table: &str) -> Vec<String>;

    /// What a connection runs before the first [`Jobs::try_lock`].
    fn begin_locks(&self) -> &'static str;

    /// A query for whether the connection has got a lock just now, `t` or `1`: the one of this number of the job whose hidden tables
    /// have these sixteen digits. It is the connection's until that closes.
    fn try_lock(&self, digits: &str, number: u32) -> String;

    /// A query for whether no connection has one of the locks up to this number, `t` or `1`.
    fn are_free(&self, digits: &str, last: u32) -> String;
}
