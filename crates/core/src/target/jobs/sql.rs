//! Rows of jobs where the database speaks SQL and has transactions.

use std::sync::atomic::AtomicBool;

use super::{
    At, Copying, Entry, Fence, Home, JobLock, JobRows, Location, Lost, Part, Set, Wanted, Which,
};
use crate::Job;
use crate::error::{Error, Result};
use crate::target::{Console, text};

/// The number of the fence's row; partitions count from 0.
const FENCE: i64 = -1;

/// What only the engine's own words can say.
pub trait SqlRows: Sync {
    /// The table as statements name it.
    fn named(&self, home: &Home, table: &str) -> String;

    /// The text as a literal.
    fn literal(&self, text: &str) -> String;

    /// The server's clock, in whole seconds since 1970, as an expression.
    fn seconds(&self) -> &'static str;

    /// A query for the schemas that have a table of this name, or may have one that this user is not to know of; one row with NULL where
    /// there are no schemas.
    fn schemas_with(&self, table: &str) -> String;

    /// A query for the names of the tables beside the job's that begin so.
    fn tables(&self, home: &Home, prefix: &str) -> String;

    /// What ends a query for rows that no other transaction may read FOR UPDATE before this one is over, while others may ask the same.
    /// One that sees the rows as they were long ago may ask this, too, whatever has changed in them besides their keys.
    fn shared(&self) -> &'static str;

    /// Has loads and jobs that want the job's table empty wait until the transaction is over; whether others may add rows to it all the
    /// same.
    ///
    /// # Errors
    /// When one of them does not end, or as the database says.
    fn begin_alone(&self, at: At<'_>) -> Result<bool>;

    /// Gives back what [`SqlRows::begin_alone`] has taken.
    ///
    /// # Errors
    /// As the database says.
    fn end_alone(&self, at: At<'_>) -> Result<()>;

    /// What has a connection wait for no lock longer than a second; it may begin a transaction, which only asks.
    fn impatient(&self) -> &'static str;

    /// What stands before and after a query for the job's columns in the statement that adds its rows to `table`.
    fn insert(&self, job: &Job, home: &Home, table: &str) -> (String, String);

    /// How rows are known that a trigger has kept out of `table`, where keys decide what becomes of a row.
    fn lost(&self, _job: &Job, _home: &Home, _table: &str) -> Option<Lost> {
        None
    }

    /// The job's columns, as a query names them.
    fn columns(&self, job: &Job) -> String;

    /// What a connection runs before it asks for a lock.
    fn begin_locks(&self) -> &'static str;

    /// A condition that holds where the connection gets a lock just now: the one of this number of the job whose hidden tables have these
    /// sixteen digits. It is the connection's until that closes.
    fn try_lock(&self, digits: &str, number: u32) -> String;

    /// A query for whether no connection has one of the locks up to this number, `t` or `1`.
    fn are_free(&self, digits: &str, last: u32) -> String;
}

fn is_yes(value: Option<String>) -> bool {
    matches!(value.as_deref(), Some("t" | "1"))
}

/// A query for one row of the job's table, if there is one.
fn first_row(sql: &(impl SqlRows + ?Sized), home: &Home) -> String {
    format!("SELECT 1 FROM {} LIMIT 1", sql.named(home, &home.table))
}

fn condition(sql: &(impl SqlRows + ?Sized), which: Which<'_>) -> String {
    let [id, digits] = [which.id, which.digits].map(|text| sql.literal(text));
    let state = which.state.map(|state| format!(" AND state = {}", sql.literal(state)));
    format!("WHERE id = {id} AND digits = {digits}{}", state.unwrap_or_default())
}

impl<S: SqlRows> JobRows for S {
    fn has_transactions(&self) -> bool {
        true
    }

    fn schemas_with(&self, console: &mut dyn Console, table: &str) -> Result<Vec<Option<String>>> {
        console.column(&SqlRows::schemas_with(self, table))
    }

    fn tables(&self, at: At<'_>, prefix: &str) -> Result<Vec<String>> {
        let names = at.console.column(&SqlRows::tables(self, at.home, prefix))?;
        Ok(names.into_iter().flatten().collect())
    }

    fn count(&self, at: At<'_>, table: &str) -> Result<u64> {
        let sql = format!("SELECT COUNT(*) FROM {}", self.named(at.home, table));
        let count = at.console.value(&sql)?;
        Ok(count.and_then(|count| count.parse().ok()).unwrap_or(0))
    }

    fn is_empty(&self, at: At<'_>) -> Result<bool> {
        Ok(at.console.value(&first_row(self, at.home))?.is_none())
    }

    fn begin_alone(&self, at: At<'_>) -> Result<bool> {
        SqlRows::begin_alone(self, at)
    }

    fn end_alone(&self, at: At<'_>) -> Result<()> {
        SqlRows::end_alone(self, at)
    }

    fn hurry(&self, at: At<'_>) -> Result<()> {
        at.console.execute(self.impatient()).map(drop)
    }

    fn holds_others(&self, beside: At<'_>) -> Result<bool> {
        let At { console, home } = beside;
        self.hurry(At { console, home })?;
        let beside = At { console, home };
        match beside.console.value(&first_row(self, beside.home)) {
            Ok(first) => Ok(first.is_some()),
            // Who waits to alter the table waits for the transaction, and lets this connection wait behind.
            Err(error) if error.gave_way() => Ok(false),
            Err(error) => Err(error),
        }
    }

    fn drop_surely(&self, at: At<'_>, table: &str) -> Result<bool> {
        let At { console, home } = at;
        match console.execute(&format!("DROP TABLE {}", self.named(home, table))) {
            Ok(_) => Ok(true),
            Err(error) => match JobRows::tables(self, At { console, home }, table)? {
                left if left.iter().any(|left| left == table) => Err(error),
                _ => Ok(false),
            },
        }
    }

    fn copying(&self, job: &Job, home: &Home, into: &str) -> Copying {
        let (head, after) = self.insert(job, home, into);
        let before = format!("{head}SELECT {} FROM ", self.columns(job));
        Copying { before, after, lost: SqlRows::lost(self, job, home, into) }
    }

    fn copy(
        &self,
        at: At<'_>,
        _source: (&Location, &AtomicBool),
        copying: &Copying,
        from: &str,
    ) -> Result<u64> {
        let Copying { before, after, .. } = copying;
        let from = self.named(at.home, from);
        at.console.execute(&format!("{before}{from}{after}"))
    }

    fn lost(
        &self,
        at: At<'_>,
        copying: &Copying,
        from: &str,
        rows: u64,
        written: u64,
    ) -> Result<u64> {
        match &copying.lost {
            Some(Lost::Found { before, after }) if written < rows => {
                let from = self.named(at.home, from);
                let found = at.console.value(&format!("{before}{from}{after}"))?;
                let lost = found.and_then(|found| found.parse().ok()).unwrap_or(0);
                // More than were left out are rows whose keys a trigger has changed: which of them were is not known.
                Ok(if lost <= rows - written { lost } else { 0 })
            }
            Some(Lost::Uncounted) => Ok(rows.saturating_sub(written)),
            Some(Lost::Found { .. }) | None => Ok(0),
        }
    }

    fn try_rights(&self, at: At<'_>, ledger: &str, hidden: Option<&str>) -> Result<()> {
        let insert = |table: &str, column: &str| {
            format!("INSERT INTO {table} ({column}) SELECT {column} FROM {table} WHERE 1 = 0")
        };
        let ledger = self.named(at.home, ledger);
        let mut tried = vec![
            insert(&ledger, "id"),
            format!("UPDATE {ledger} SET state = state WHERE 1 = 0"),
            format!("DELETE FROM {ledger} WHERE 1 = 0"),
        ];
        if let Some(hidden) = hidden.map(|hidden| self.named(at.home, hidden)) {
            tried.extend([insert(&hidden, "id"), format!("DROP TABLE {hidden}")]);
        }
        for sql in tried {
            match at.console.execute(&sql) {
                Err(error) if error.lacks_right() || !error.is_refusal() => return Err(error),
                // What does not exist yet will be the user's own.
                _ => {}
            }
        }
        Ok(())
    }

    fn entries(&self, at: At<'_>, ledger: &str, wanted: Wanted<'_>) -> Result<Vec<Entry>> {
        let wanted = match wanted {
            Wanted::One { id, settled } => {
                let update = if settled { " FOR UPDATE" } else { "" };
                format!("WHERE id = {}{update}", self.literal(id))
            }
            Wanted::All => "ORDER BY begun, id".to_owned(),
        };
        let sql = format!(
            "SELECT id, target, state, digits, version, begun, heartbeat, {} - heartbeat, job, tokens, report FROM {} {wanted}",
            self.seconds(),
            self.named(at.home, ledger)
        );
        let mut entries = Vec::new();
        at.console.query(&sql, &mut |row| {
            let must = |index| text(row, index).unwrap_or_default();
            let number = |index| must(index).parse().unwrap_or(0);
            entries.push(Entry {
                id: must(0),
                target: must(1),
                state: must(2),
                digits: must(3),
                version: must(4),
                begun: number(5),
                heartbeat: number(6),
                age: number(7),
                job: must(8),
                tokens: text(row, 9),
                report: text(row, 10),
            });
        })?;
        Ok(entries)
    }

    fn holding(&self, home: &Home, ledger: &str, id: &str) -> Option<String> {
        let (ledger, id) = (self.named(home, ledger), self.literal(id));
        Some(format!("SELECT 1 FROM {ledger} WHERE id = {id}{}", self.shared()))
    }

    fn add_entry(&self, at: At<'_>, ledger: &str, entry: &Entry) -> Result<()> {
        let Entry { id, target, state, digits, version, job, .. } = entry;
        let texts = [id, target, state, digits, version].map(|text| self.literal(text));
        let sql = format!(
            "INSERT INTO {} (id, target, state, digits, version, begun, heartbeat, job) VALUES ({}, {now}, {now}, {})",
            self.named(at.home, ledger),
            texts.join(", "),
            self.literal(job),
            now = self.seconds(),
        );
        at.console.execute(&sql).map(drop)
    }

    fn change_entry(
        &self,
        at: At<'_>,
        ledger: &str,
        which: Which<'_>,
        sets: &[(&str, Set<'_>)],
    ) -> Result<bool> {
        let set = |(column, set): &(&str, Set<'_>)| match set {
            Set::Text(text) => format!("{column} = {}", self.literal(text)),
            Set::Null => format!("{column} = NULL"),
            Set::Now => format!("{column} = {}", self.seconds()),
        };
        let sets: Vec<String> = sets.iter().map(set).collect();
        let (ledger, condition) = (self.named(at.home, ledger), condition(self, which));
        let sql = format!("UPDATE {ledger} SET {} {condition}", sets.join(", "));
        Ok(at.console.execute(&sql)? == 1)
    }

    fn remove_entry(&self, at: At<'_>, ledger: &str, which: Which<'_>) -> Result<bool> {
        let sql = format!("DELETE FROM {} {}", self.named(at.home, ledger), condition(self, which));
        Ok(at.console.execute(&sql)? == 1)
    }

    fn add_fence(&self, at: At<'_>, partitions: &str) -> Result<()> {
        let partitions = self.named(at.home, partitions);
        let sql =
            format!("INSERT INTO {partitions} (part, attempt, loaded) VALUES ({FENCE}, '', 0)");
        at.console.execute(&sql).map(drop)
    }

    fn keep_fence(&self, at: At<'_>, partitions: &str, fence: Fence) -> Result<()> {
        let how = match fence {
            Fence::Shared => self.shared(),
            Fence::Alone => " FOR UPDATE",
        };
        let named = self.named(at.home, partitions);
        let sql = format!("SELECT part FROM {named} WHERE part = {FENCE}{how}");
        match at.console.value(&sql)? {
            Some(_) => Ok(()),
            None => Err(Error::target(format!("the table {partitions} has lost its first row"))),
        }
    }

    fn claim(&self, at: At<'_>, partitions: &str, number: u32, attempt: &str) -> Result<()> {
        let sql = format!(
            "INSERT INTO {} (part, attempt, loaded) VALUES ({number}, {}, 0)",
            self.named(at.home, partitions),
            self.literal(attempt)
        );
        at.console.execute(&sql).map(drop)
    }

    fn note(&self, at: At<'_>, partitions: &str, number: u32, part: &Part) -> Result<()> {
        let origin = part.origin.as_ref().map_or("NULL".to_owned(), |origin| self.literal(origin));
        let sql = format!(
            "UPDATE {} SET loaded = {}, origin = {origin}, token = {} WHERE part = {number}",
            self.named(at.home, partitions),
            part.loaded,
            self.literal(&part.token)
        );
        at.console.execute(&sql).map(drop)
    }

    fn has_parts(&self, at: At<'_>, partitions: &str) -> Result<bool> {
        let partitions = self.named(at.home, partitions);
        let sql = format!("SELECT 1 FROM {partitions} WHERE part > {FENCE} LIMIT 1");
        Ok(at.console.value(&sql)?.is_some())
    }

    fn parts(&self, at: At<'_>, partitions: &str, number: Option<u32>) -> Result<Vec<Part>> {
        let wanted = match number {
            Some(number) => format!("part = {number}"),
            None => format!("part > {FENCE} ORDER BY part"),
        };
        let partitions = self.named(at.home, partitions);
        let sql = format!("SELECT loaded, origin, token FROM {partitions} WHERE {wanted}");
        let mut parts = Vec::new();
        at.console.query(&sql, &mut |row| {
            parts.push(Part {
                loaded: text(row, 0).and_then(|text| text.parse().ok()).unwrap_or(0),
                origin: text(row, 1),
                token: text(row, 2).unwrap_or_default(),
            });
        })?;
        Ok(parts)
    }

    fn try_locks(
        &self,
        at: At<'_>,
        _ledger: &str,
        first: JobLock<'_>,
        last: u32,
        again: bool,
    ) -> Result<Option<u32>> {
        let begin = if again { String::new() } else { format!("{}; ", self.begin_locks()) };
        // Those behind the first that holds are not asked for.
        let gets = |number| format!("WHEN {} THEN {number}", self.try_lock(first.digits, number));
        let gets: Vec<String> = (first.number..=last).map(gets).collect();
        let got = at.console.value(&format!("{begin}SELECT CASE {} END", gets.join(" ")))?;
        Ok(got.and_then(|number| number.parse().ok()))
    }

    fn are_free(&self, at: At<'_>, _ledger: &str, last: JobLock<'_>) -> Result<bool> {
        let sql = SqlRows::are_free(self, last.digits, last.number);
        Ok(is_yes(at.console.value(&sql)?))
    }
}
