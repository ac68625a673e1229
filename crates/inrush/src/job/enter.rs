//! How a partition comes into the job's table by itself: its rows, and the note that they are there, in one transaction. Doing it again is
//! safe at any moment, for it begins with a look at the note; so what has become of a lost answer is found out by doing it again.

use std::sync::atomic::Ordering::Relaxed;
use std::thread;
use std::time::{Duration, Instant};

use super::alone::{Alone, expect_empty};
use super::brought::is_in_place;
use super::copy::{Tally, copy, in_words};
use super::ledger::{Entry, Ledger, Record};
use super::partitions::{Known, Partitions};
use super::publish::unchanged;
use super::text::{Job, Place, Token};
use super::write::is_open;
use crate::observer::Observer;
use inrush_core::error::{Aftermath, Error, Kind, Result};

/// How often a partition is undone for another transaction's sake before that is an error. After the first time it waits for the other
/// partitions of its job, and has them wait, so only others' transactions can be in its way.
const TRIES: usize = 10;

/// For how long a server that has lost the connection is asked again.
const PATIENCE: Duration = Duration::from_secs(60);

const PAUSE: Duration = Duration::from_millis(100);

/// A partition, and the attempt that has written it into a table of its own.
pub(super) struct Entering<'a> {
    pub(super) place: &'a Place,
    pub(super) job: &'a Job,
    pub(super) partition: u32,
    /// What it was read from, where that can be said.
    pub(super) origin: Option<&'a str>,
}

impl Entering<'_> {
    /// The partition's token, where it is in the table already.
    ///
    /// # Errors
    /// When it was read from something else.
    pub(super) fn found(&self, ledger: &mut Ledger<'_>, entry: &Entry) -> Result<Option<Token>> {
        let Some(part) = self.partitions(entry)?.find(ledger, self.job, self.partition)? else {
            return Ok(None);
        };
        if let (Some(before), Some(now)) = (&part.origin, self.origin)
            && before != now
        {
            return Err(Error::usage(format!(
                "partition {} of job {} is in the table already, and was read from other bytes: the files have changed, or were cut \
                 into other parts",
                self.partition, self.job.id
            ))
            .advise("cut the same files into the same parts")
            .advise("or give this load another name, when nothing of the first one is to stay in the table"));
        }
        Ok(Some(Token { already_written: true, ..part.token }))
    }

    /// Brings the attempt's rows into the table, or finds that another attempt's are there.
    ///
    /// # Errors
    /// When the job is over, the table is not what it was, or the database refuses.
    pub(super) fn enter(&self, token: &Token, observer: &dyn Observer) -> Result<Token> {
        let mut lost: Option<Instant> = None;
        let mut tries = 0;
        loop {
            let stop = observer.stop_flag();
            let opened = Ledger::open(self.place, &self.job.home, stop);
            let error = match opened
                .and_then(|mut ledger| self.once(&mut ledger, token, tries > 0, observer))
            {
                Ok(token) => return Ok(token),
                Err(error) => error,
            };
            if error.is_lost_connection() && !stop.load(Relaxed) {
                if lost.get_or_insert_with(Instant::now).elapsed() > PATIENCE {
                    return Err(error
                        .advise("write the partition again once the server answers: it does not come in twice")
                        .leaving(Aftermath::Unknown));
                }
            } else if error.gave_way() && tries < TRIES {
                tries += 1;
            } else {
                return Err(error);
            }
            thread::sleep(PAUSE);
        }
    }

    fn once(
        &self,
        ledger: &mut Ledger<'_>,
        token: &Token,
        alone: bool,
        observer: &dyn Observer,
    ) -> Result<Token> {
        let entry = is_open(ledger, self.job)?;
        // The attempt itself knows all of its bad rows, of which the database may keep fewer.
        let own = |found: Token| match found.attempt == token.attempt {
            true => Token { rejected: token.rejected.clone(), already_written: false, ..found },
            false => Token { already_written: true, ..found },
        };
        if let Some(found) = self.found(ledger, &entry)? {
            return Ok(own(found));
        }
        let record = entry.record()?;
        let found = is_in_place(self.place, ledger, &entry, observer)?;
        unchanged(self.place, record, found.as_ref())?;
        if !self.place.jobs.rows.has_transactions() {
            // Its rows are there, and say themselves which they are.
            let part = Known { origin: self.origin.map(str::to_owned), token: token.clone() };
            return match self.partitions(&entry)?.note(ledger, self.partition, &part) {
                Ok(()) => Ok(part.token),
                Err(error) if error.is_lost_connection() => Err(error),
                Err(error) => self.found(ledger, &entry)?.map(own).ok_or(error),
            };
        }
        match self.transaction(ledger, record, self.partitions(&entry)?, token, alone, observer) {
            Err(error) if !error.is_lost_connection() && error.kind() != Kind::Interrupted => {
                ledger.roll_back()?;
                // The end of the job, or the claim of another attempt, may be what was in the way.
                let entry = is_open(ledger, self.job)?;
                self.found(ledger, &entry)?.map(own).ok_or(error)
            }
            outcome => outcome,
        }
    }

    fn transaction(
        &self,
        ledger: &mut Ledger<'_>,
        record: &Record,
        partitions: Partitions<'_>,
        token: &Token,
        alone: bool,
        observer: &dyn Observer,
    ) -> Result<Token> {
        ledger.begin()?;
        match alone {
            true => partitions.close(ledger)?,
            false => partitions.enter(ledger)?,
        }
        is_open(ledger, self.job)?;
        let alone = self.alone(ledger, record, partitions)?;
        partitions.claim(ledger, self.partition, &token.attempt)?;
        let tally = Tally::before(ledger, record)?;
        let skipped = copy(ledger, record, token)?;
        tally.grown(ledger, record, token.rows - skipped)?;
        let (rows_loaded, rows_skipped) =
            (token.rows_loaded - skipped, token.rows_skipped + skipped);
        let token = Token { rows_loaded, rows_skipped, ..token.clone() };
        let part = Known { origin: self.origin.map(str::to_owned), token };
        partitions.note(ledger, self.partition, &part)?;
        if let Some(alone) = alone {
            alone.end(self.place, record, observer)?;
        }
        if observer.stop_flag().load(Relaxed) {
            return Err(Error::interrupted());
        }
        let committed = ledger.commit();
        if let Some(warning) = committed.map_err(|error| in_words(ledger, record, error))? {
            observer.noted(&format!("note: {warning}"));
        }
        Ok(part.token)
    }

    /// The table for itself, where it has to be empty and no partition is in: what it holds later are the job's own rows.
    fn alone(
        &self,
        ledger: &mut Ledger<'_>,
        record: &Record,
        partitions: Partitions<'_>,
    ) -> Result<Option<Alone>> {
        if !record.wants_empty || ledger.has_parts(partitions.0)? {
            return Ok(None);
        }
        let alone = Alone::begin(ledger)?;
        // Another partition may have come in while this one waited: those behind it are not kept waiting.
        if ledger.has_parts(partitions.0)? {
            ledger.end_alone()?;
            return Ok(None);
        }
        expect_empty(ledger, record)?;
        Ok(Some(alone))
    }

    fn partitions<'e>(&self, entry: &'e Entry) -> Result<Partitions<'e>> {
        entry.partitions.as_deref().map(Partitions).ok_or_else(|| {
            Error::target(format!("the ledger does not know the partitions of job {}", self.job.id))
        })
    }
}
