//! The ledger: a table beside the job's, with a row a job. Every change of a state is one statement that has to hit the row in the state
//! it is expected in.

use std::sync::atomic::{AtomicBool, Ordering::Relaxed};
use std::thread;
use std::time::{Duration, Instant};

use serde::{Deserialize, Serialize};

use super::LEDGER;
use super::text::{Job, Place, State, other_version};
use crate::observer::Observer;
use crate::target::{Console, Home, Jobs, WITHOUT_TABLES, text};
use inrush_core::error::{Error, Result};

/// What publishing has to know, and only who reads the ledger does.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub(super) struct Record {
    pub(super) job: Job,
    /// What stands before and after a query for rows, in the statement that adds them to the table.
    pub(super) insert: (String, String),
    /// The job's columns, as that query names them.
    pub(super) columns: String,
    /// What a new table gets after its rows.
    pub(super) complete: Vec<String>,
    /// Whether the job makes its table.
    pub(super) makes: bool,
    /// Whether it takes the place of another.
    pub(super) replaces: bool,
    /// Whether the table has to be empty.
    pub(super) wants_empty: bool,
    /// What the table was like, if there was one.
    pub(super) outline: Option<String>,
    /// Whether every row that is sent is a row more in the table.
    pub(super) counts: bool,
    /// The table that knows its partitions, where each comes in by itself.
    #[serde(default)]
    pub(super) partitions: Option<String>,
    /// What a user should know, such as what goes with a table that is replaced.
    pub(super) warnings: Vec<String>,
}

/// A row of the ledger.
pub(super) struct Entry {
    pub(super) state: State,
    pub(super) digits: String,
    pub(super) version: String,
    pub(super) begun: i64,
    /// Seconds since a process at work has noted that it is.
    pub(super) age: i64,
    /// `None` where only the version knows it that has begun the job.
    pub(super) record: Option<Record>,
    /// The table that knows its partitions, which is also read of a job that another version has begun.
    pub(super) partitions: Option<String>,
    pub(super) tokens: Option<String>,
    pub(super) report: Option<String>,
    pub(super) table: String,
    pub(super) id: String,
}

impl Entry {
    /// What publishing has to know.
    ///
    /// # Errors
    /// When another version of inrush has begun the job.
    pub(super) fn record(&self) -> Result<&Record> {
        let own = self.record.as_ref().filter(|_| self.version == env!("CARGO_PKG_VERSION"));
        own.ok_or_else(|| other_version(&self.id, &self.version))
    }
}

/// A connection to the ledger's database.
pub(super) struct Ledger<'a> {
    pub(super) console: Box<dyn Console + 'a>,
    pub(super) sql: &'static dyn Jobs,
    pub(super) home: Home,
}

impl<'a> Ledger<'a> {
    pub(super) fn open(place: &Place, home: &Home, stop: &'a AtomicBool) -> Result<Self> {
        let mut console = place.target.console(&place.location, stop)?;
        for statement in place.sql.opening() {
            console.execute(statement)?;
        }
        Ok(Self { console, sql: place.sql, home: home.clone() })
    }

    pub(super) fn name(&self) -> String {
        self.sql.named(&self.home, LEDGER)
    }

    pub(super) fn literal(&self, text: &str) -> String {
        self.sql.literal(text)
    }

    /// Makes the ledger.
    pub(super) fn make(&mut self) -> Result<()> {
        let sql = self.sql.make_ledger(&self.home, LEDGER);
        match self.console.execute(&sql) {
            Ok(_) => Ok(()),
            // Another process may have made it meanwhile.
            Err(_) if self.is_there().unwrap_or(false) => Ok(()),
            Err(error) => Err(Error::target(format!(
                "can't make the table {LEDGER}, in which jobs are kept: {}",
                error.what()
            ))
            .advise("ask for the right to make tables")
            .advise(WITHOUT_TABLES)),
        }
    }

    pub(super) fn is_there(&mut self) -> Result<bool> {
        let sql = self.sql.tables(&self.home, LEDGER);
        Ok(self.names(&sql)?.iter().any(|name| name == LEDGER))
    }

    /// Names that a query answers with.
    pub(super) fn names(&mut self, sql: &str) -> Result<Vec<String>> {
        Ok(self.console.column(sql)?.into_iter().flatten().collect())
    }

    /// The job's row; with `settled` once nobody is changing it.
    pub(super) fn entry(&mut self, id: &str, settled: bool) -> Result<Option<Entry>> {
        let update = if settled { " FOR UPDATE" } else { "" };
        let wanted = format!(" WHERE id = {}{update}", self.literal(id));
        Ok(self.entries(&wanted)?.pop())
    }

    pub(super) fn entries(&mut self, wanted: &str) -> Result<Vec<Entry>> {
        let sql = format!(
            "SELECT state, digits, version, begun, {} - heartbeat, job, tokens, report, target, id FROM {}{wanted}",
            self.sql.seconds(),
            self.name()
        );
        let mut entries = Vec::new();
        self.console.query(&sql, &mut |row| {
            let must = |index| text(row, index).unwrap_or_default();
            // A state that is not known here is another version's, as is what it says besides.
            let state = State::of(&must(0));
            let said: serde_json::Value = serde_json::from_str(&must(5)).unwrap_or_default();
            let partitions = said["partitions"].as_str().map(str::to_owned);
            let record = serde_json::from_value(said).ok().filter(|_| state.is_some());
            entries.push(Entry {
                state: state.unwrap_or(State::Open),
                digits: must(1),
                version: must(2),
                begun: must(3).parse().unwrap_or(0),
                age: must(4).parse().unwrap_or(0),
                record,
                partitions,
                tokens: text(row, 6),
                report: text(row, 7),
                table: must(8),
                id: must(9),
            });
        })?;
        Ok(entries)
    }

    /// Adds a row; an error where there is one of the name.
    pub(super) fn insert(&mut self, record: &Record) -> Result<()> {
        let job = &record.job;
        let text =
            serde_json::to_string(record).map_err(|error| Error::target(error.to_string()))?;
        let texts = [&job.id, job.table(), State::Open.word(), &job.digits, &job.version]
            .map(|text| self.literal(text));
        let (now, ledger, text) = (self.sql.seconds(), self.name(), self.literal(&text));
        let sql = format!(
            "INSERT INTO {ledger} (id, target, state, digits, version, begun, heartbeat, job) VALUES ({}, {now}, {now}, {text})",
            texts.join(", ")
        );
        self.console.execute(&sql).map(drop)
    }

    /// Goes on with a job that is aborted, which had these digits: everything of it is as `record` says; whether it was in that state.
    pub(super) fn reopen(&mut self, record: &Record, digits: &str) -> Result<bool> {
        let job = &record.job;
        let text =
            serde_json::to_string(record).map_err(|error| Error::target(error.to_string()))?;
        let [id, old, new, text] =
            [&job.id, digits, &job.digits, &text].map(|text| self.literal(text));
        let (open, aborted) = (State::Open.word(), State::Aborted.word());
        let sql = format!(
            "UPDATE {} SET state = '{open}', digits = {new}, heartbeat = {}, job = {text}, tokens = NULL, report = NULL \
             WHERE id = {id} AND digits = {old} AND state = '{aborted}'",
            self.name(),
            self.sql.seconds()
        );
        Ok(self.console.execute(&sql)? == 1)
    }

    /// Writes down what is known of an open job by now.
    pub(super) fn rewrite(&mut self, record: &Record) -> Result<()> {
        let job = &record.job;
        let text =
            serde_json::to_string(record).map_err(|error| Error::target(error.to_string()))?;
        let [id, digits, text] = [&job.id, &job.digits, &text].map(|text| self.literal(text));
        let sql = format!(
            "UPDATE {} SET job = {text} WHERE id = {id} AND digits = {digits} AND state = '{}'",
            self.name(),
            State::Open.word()
        );
        match self.console.execute(&sql)? {
            1 => Ok(()),
            _ => Err(Error::target(format!("job {} was changed by another process", job.id))),
        }
    }

    /// Takes away a job that is over, for another of its name; whether it was there.
    pub(super) fn delete(&mut self, id: &str, digits: &str, state: State) -> Result<bool> {
        let [id, digits, state] = [id, digits, state.word()].map(|text| self.literal(text));
        let sql = format!(
            "DELETE FROM {} WHERE id = {id} AND digits = {digits} AND state = {state}",
            self.name()
        );
        Ok(self.console.execute(&sql)? == 1)
    }

    /// Brings the job from one state into another; whether it was in that one. `tokens` and `report` are kept with it.
    pub(super) fn step(
        &mut self,
        (id, digits): (&str, &str),
        (from, to): (State, State),
        tokens: Option<&str>,
        report: Option<&str>,
    ) -> Result<bool> {
        let mut sets = vec![
            format!("state = {}", self.literal(to.word())),
            format!("heartbeat = {}", self.sql.seconds()),
        ];
        sets.extend(tokens.map(|tokens| format!("tokens = {}", self.literal(tokens))));
        sets.extend(report.map(|report| format!("report = {}", self.literal(report))));
        let [id, digits, from] = [id, digits, from.word()].map(|text| self.literal(text));
        let sql = format!(
            "UPDATE {} SET {} WHERE id = {id} AND digits = {digits} AND state = {from}",
            self.name(),
            sets.join(", ")
        );
        Ok(self.console.execute(&sql)? == 1)
    }

    /// Notes that a process is at work.
    pub(super) fn beat(&mut self, id: &str, digits: &str) -> Result<()> {
        let [id, digits] = [id, digits].map(|text| self.literal(text));
        let sql = format!(
            "UPDATE {} SET heartbeat = {} WHERE id = {id} AND digits = {digits}",
            self.name(),
            self.sql.seconds()
        );
        self.console.execute(&sql).map(drop)
    }

    /// Whether nobody holds one of the job's locks.
    pub(super) fn is_idle(&mut self, job: &Job) -> Result<bool> {
        Ok(is_yes(self.console.value(&self.sql.are_free(&job.digits, job.connections))?))
    }

    /// The same, but for connections that have just ended: a server takes a moment to notice, and gives up their locks then.
    pub(super) fn falls_idle(&mut self, job: &Job, observer: &dyn Observer) -> Result<bool> {
        let began = Instant::now();
        while !self.is_idle(job)? {
            if observer.stop().load(Relaxed) {
                return Err(Error::interrupted());
            }
            if began.elapsed() > ENDING {
                return Ok(false);
            }
            thread::sleep(TICK);
        }
        Ok(true)
    }

    /// Tables of the job that are left.
    pub(super) fn tables(&mut self, prefix: &str) -> Result<Vec<String>> {
        let sql = self.sql.tables(&self.home, prefix);
        self.names(&sql)
    }

    /// Rows of a hidden table.
    pub(super) fn count(&mut self, table: &str) -> Result<u64> {
        let sql = format!("SELECT COUNT(*) FROM {}", self.sql.named(&self.home, table));
        let count = self.console.value(&sql)?;
        Ok(count.and_then(|count| count.parse().ok()).unwrap_or(0))
    }

    /// Drops tables; how many are gone. One that is in use stays for another time.
    pub(super) fn drop_tables(&mut self, tables: &[String]) -> usize {
        let mut drop =
            |tables: &[&str]| self.sql.drop_tables(&mut *self.console, &self.home, tables);
        let all: Vec<&str> = tables.iter().map(String::as_str).collect();
        // All at once, unless one of them is in the way of the others.
        if all.len() > 1 && drop(&all) {
            return all.len();
        }
        all.iter().filter(|table| drop(&[**table])).count()
    }

    /// Drops all that is left of a job but the ledger's row, and what it knows of its partitions.
    pub(super) fn clear(&mut self, job: &Job) {
        if let Ok(tables) = self.tables(&job.prefix()) {
            self.drop_tables(&tables);
        }
    }

    /// Drops what it knows of the partitions of a job that is over, for good.
    pub(super) fn forget(&mut self, record: &Record) {
        if let Some(partitions) = &record.partitions {
            self.drop_tables(std::slice::from_ref(partitions));
        }
    }
}

fn is_yes(value: Option<String>) -> bool {
    matches!(value.as_deref(), Some("t" | "1"))
}

/// For what has to be done whether or not the user wants to stop.
pub(super) static NEVER: AtomicBool = AtomicBool::new(false);

/// One of a job's locks, for as long as this is there: number 0 is for who publishes, aborts or recovers, the others are for attempts.
pub(super) struct Lock<'a> {
    _connection: Box<dyn Console + 'a>,
}

/// How often a lock is asked for that others hold.
const TICK: Duration = Duration::from_millis(100);

/// How long the end of a connection may take to be noticed.
const ENDING: Duration = Duration::from_secs(5);

/// After so long a user wants to know what is waited for.
const NOTICED: Duration = Duration::from_secs(5);

impl<'a> Lock<'a> {
    /// Waits for one of the numbers.
    ///
    /// # Errors
    /// When the observer stops it, or the database does not answer.
    pub(super) fn take(
        place: &Place,
        job: &Job,
        numbers: std::ops::RangeInclusive<u32>,
        observer: &'a dyn Observer,
    ) -> Result<Self> {
        let mut console = place.target.console(&place.location, observer.stop())?;
        console.execute(place.sql.begin_locks())?;
        let began = Instant::now();
        let mut noticed = false;
        loop {
            for number in numbers.clone() {
                if is_yes(console.value(&place.sql.try_lock(&job.digits, number))?) {
                    return Ok(Self { _connection: console });
                }
            }
            if observer.stop().load(Relaxed) {
                return Err(Error::interrupted());
            }
            if !noticed && began.elapsed() > NOTICED {
                noticed = true;
                observer.replanned(&match numbers.clone().count() {
                    1 => format!(
                        "job {} is being published or aborted by another process: waiting for it",
                        job.id
                    ),
                    all => format!(
                        "job {} has {all} connections, and all of them write: waiting for one",
                        job.id
                    ),
                });
            }
            thread::sleep(TICK);
        }
    }
}
