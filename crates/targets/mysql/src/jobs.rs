//! MySQL's and MariaDB's part in jobs, whose rows several processes write.

use crate::ddl::{self, Insert, literal, quote};
use crate::load::{engine_of, has_transactions};
use crate::{indexes, staging};
use inrush_core::error::{Error, Result};
use inrush_core::target::{At, Console, Home, JobTables, SqlRows, Twins, fills};
use inrush_core::{Job, TableFacts, TargetFacts};
use inrush_net::staging::Asks as _;

/// Jobs of MySQL and MariaDB: rows and ledger are one transaction, a new name is one statement.
pub(super) struct MysqlJobs;

/// A lock's name: random digits, so that no other database of the server has it.
fn lock(digits: &str, number: u32) -> String {
    literal(&format!("inrush_job_{digits}_{number}"))
}

impl JobTables for MysqlJobs {
    fn home(&self, facts: &TargetFacts, table: &str) -> Home {
        let named = facts.table.as_ref().map_or(table, |table| &table.name);
        Home { schema: None, table: named.to_owned() }
    }

    fn refuse(&self, job: &Job, makes_tables: bool) -> Result<()> {
        if let Some(table) = job.kept_table()
            && table.storage.is_none()
            && makes_tables
        {
            let name = &table.name;
            return Err(Error::target(format!(
                "{name} is a view, and no table can be made like it for the rows of each attempt"
            ))
            .advise("begin the job for the table behind it")
            .advise("or with --guarantee none, whose rows go straight into the view; inrush load takes a view as well, from one machine"));
        }
        refuse_engine(engine_of(job))
    }

    fn refuse_table(&self, table: &TableFacts) -> Result<()> {
        table.storage.as_deref().map_or(Ok(()), refuse_engine)
    }

    /// What the attempts' tables took is taken again, and 0 is 0 in a column that counts by itself.
    fn opening(&self) -> Option<&'static str> {
        // One may wait for as long as others copy, and rows which are read for a copy are not to be locked. Outside of transactions each
        // statement stays, whatever the server's default is.
        Some(
            "SET SESSION autocommit = 1, SESSION sql_mode = 'STRICT_ALL_TABLES,NO_AUTO_VALUE_ON_ZERO,NO_ENGINE_SUBSTITUTION,ALLOW_INVALID_DATES', \
             SESSION wait_timeout = 2147483, SESSION innodb_lock_wait_timeout = 2147483, \
             SESSION sql_select_limit = 18446744073709551615, SESSION sql_big_selects = 1; \
             SET SESSION TRANSACTION ISOLATION LEVEL READ COMMITTED",
        )
    }

    fn requested(&self, _home: &Home, table: &str) -> String {
        table.to_owned()
    }

    fn make_ledger(&self, _home: &Home, ledger: &str) -> String {
        format!(
            "CREATE TABLE IF NOT EXISTS {} (id varchar(190) PRIMARY KEY, target text NOT NULL, state varchar(16) NOT NULL, \
             digits varchar(16) NOT NULL, version varchar(32) NOT NULL, begun bigint NOT NULL, heartbeat bigint NOT NULL, \
             job longtext NOT NULL, tokens longtext, report longtext) ENGINE=InnoDB DEFAULT CHARACTER SET utf8mb4 COLLATE utf8mb4_bin",
            quote(ledger)
        )
    }

    fn make_partitions(&self, _home: &Home, partitions: &str) -> String {
        format!(
            "CREATE TABLE {} (part bigint PRIMARY KEY, attempt varchar(16) NOT NULL, loaded bigint NOT NULL, origin longtext, \
             token longtext) ENGINE=InnoDB DEFAULT CHARACTER SET utf8mb4 COLLATE utf8mb4_bin",
            quote(partitions)
        )
    }

    /// Keys stay: rows lie in the order of the primary one. Other indexes would be built in vain.
    fn make_template(&self, job: &Job, home: &Home, template: &str, _keyed: bool) -> Vec<String> {
        let Some(kept) = job.kept_table() else {
            return vec![ddl::create_table(template, job, engine_of(job))];
        };
        let mut made = vec![self.make_like(home, template, &home.table)];
        if !kept.indexes.is_empty() {
            made.push(indexes::leave(template, &kept.indexes));
        }
        made
    }

    fn make_like(&self, _home: &Home, table: &str, template: &str) -> String {
        format!("CREATE TABLE {} LIKE {}", quote(table), quote(template))
    }

    fn complete(&self, job: &Job, _home: &Home, table: &str, _keyed: bool) -> Vec<String> {
        match job.request.indexes.is_empty() {
            true => Vec::new(),
            false => vec![ddl::add_indexes(table, job)],
        }
    }

    /// RENAME TABLE commits what was before it (<https://dev.mysql.com/doc/refman/8.0/en/implicit-commit.html>).
    fn renames_in_transaction(&self) -> bool {
        false
    }

    fn take_name(
        &self,
        console: &mut dyn Console,
        home: &Home,
        hidden: &str,
        replaces: bool,
    ) -> Result<()> {
        staging::take_name(console, hidden, &home.table, replaces)
    }

    /// RENAME takes ALTER (<https://dev.mysql.com/doc/refman/8.0/en/rename-table.html>).
    fn try_name(
        &self,
        console: &mut dyn Console,
        _home: &Home,
        hidden: &str,
        other: &str,
    ) -> Result<()> {
        for (from, to) in [(hidden, other), (other, hidden)] {
            console.execute(&format!("RENAME TABLE {} TO {}", quote(from), quote(to)))?;
        }
        Ok(())
    }

    fn drop_tables(&self, console: &mut dyn Console, _home: &Home, tables: &[&str]) -> bool {
        staging::drop_soon(console, tables)
    }

    fn sweep(&self, console: &mut dyn Console, _home: &Home) {
        let hidden = console.names(&staging::hidden_tables()).unwrap_or_default();
        staging::sweep(console, hidden);
    }

    fn twins(&self) -> Option<&dyn Twins> {
        Some(self)
    }
}

impl Twins for MysqlJobs {
    fn keep_hidden(&self, console: &mut dyn Console, _home: &Home, hidden: &str) -> Result<()> {
        staging::keep(console, hidden)
    }

    fn make_twin(&self, home: &Home, twin: &str, table: &str) -> Vec<String> {
        vec![self.make_like(home, twin, table)]
    }
}

impl SqlRows for MysqlJobs {
    fn named(&self, _home: &Home, table: &str) -> String {
        quote(table)
    }

    fn literal(&self, text: &str) -> String {
        literal(text)
    }

    fn seconds(&self) -> &'static str {
        "UNIX_TIMESTAMP()"
    }

    /// The catalogue keeps quiet about what the login has no right to.
    fn schemas_with(&self, _table: &str) -> String {
        "SELECT NULL".to_owned()
    }

    fn tables(&self, _home: &Home, prefix: &str) -> String {
        staging::tables_like(prefix)
    }

    /// FOR SHARE is newer than some servers (<https://dev.mysql.com/doc/refman/8.0/en/innodb-locking-reads.html>).
    fn shared(&self) -> &'static str {
        " LOCK IN SHARE MODE"
    }

    /// The lock of loads: any other connection may add rows meanwhile.
    fn begin_alone(&self, at: At<'_>) -> Result<bool> {
        let At { console, home } = at;
        let lock = filling(console, home)?;
        match console.value(&format!("SELECT GET_LOCK({lock}, 10)")) {
            Ok(Some(locked)) if locked == "1" => Ok(true),
            Ok(_) => Err(fills(home)),
            // Some clusters have no such locks.
            Err(error) if error.is_refusal() => Ok(true),
            Err(error) => Err(error),
        }
    }

    fn end_alone(&self, at: At<'_>) -> Result<()> {
        let At { console, home } = at;
        let lock = filling(console, home)?;
        match console.execute(&format!("DO RELEASE_LOCK({lock})")) {
            Err(error) if !error.is_refusal() => Err(error),
            _ => Ok(()),
        }
    }

    fn impatient(&self) -> &'static str {
        "SET SESSION lock_wait_timeout = 1, SESSION innodb_lock_wait_timeout = 1"
    }

    fn insert(&self, job: &Job, _home: &Home, table: &str) -> (String, String) {
        let insert = Insert::into(table, job, "");
        (insert.head, insert.tail)
    }

    fn columns(&self, job: &Job) -> String {
        ddl::columns(job)
    }

    fn begin_locks(&self) -> &'static str {
        "SET SESSION wait_timeout = 2147483"
    }

    fn try_lock(&self, digits: &str, number: u32) -> String {
        format!("GET_LOCK({}, 0)", lock(digits, number))
    }

    fn are_free(&self, digits: &str, last: u32) -> String {
        let free = |number| format!("IS_FREE_LOCK({})", lock(digits, number));
        format!("SELECT {}", (0..=last).map(free).collect::<Vec<_>>().join(" AND "))
    }
}

/// Refuses tables whose rows come one after the other.
fn refuse_engine(engine: &str) -> Result<()> {
    if has_transactions(engine) {
        return Ok(());
    }
    Err(Error::target(format!(
        "tables of the engine {engine} have no transactions: a job's rows would come one after the other"
    ))
    .advise("write them into an InnoDB table, or use inrush load"))
}

/// The name of the lock that loads into an empty table have.
fn filling(console: &mut dyn Console, home: &Home) -> Result<String> {
    let database = console.value("SELECT DATABASE()")?.unwrap_or_default();
    Ok(staging::filling(&database, &home.table))
}
