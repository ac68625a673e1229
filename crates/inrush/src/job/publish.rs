//! Makes a job's rows seen: all of them in one step, or none.
//!
//! ```text
//! open -> publishing -> committed              rows into an existing table, or a new name within a transaction
//!             |
//!             |                                or rows that are in the table, where each attempt has brought in its own
//!             |
//!             +-> renaming -> committed        a new name is a statement of its own: whether the hidden table is there says whether it
//!                                              has happened, and dropping that table is how to see to it that it never will
//! ```
//!
//! The tokens are in the ledger from `publishing` on, so that another process can go on where one was killed. One that was only taken for
//! dead, as it was stopped for longer than its lock lasts or has lost the connection with it, must not spoil what the other does: while a
//! job is published its state says by whom, no step is taken but from a state of one's own, and each has a hidden table of its own.

use std::collections::{BTreeMap, BTreeSet};
use std::io;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering::Relaxed};
use std::thread;
use std::time::{Duration, Instant};

use super::alone::{Alone, expect_empty};
use super::brought::Brought;
use super::copy::{Tally, by_name, copy, in_words};
use super::ledger::{Entry, Ledger, Lock, NEVER, Record};
use super::partitions::Partitions;
use super::text::{Guarantee, Job, Place, PublishSeconds, Published, Stage, State, Token, changed};
use crate::observer::Observer;
use crate::plan::{IfExists, LoadOptions, RejectLimit, Request};
use inrush_core::TableFacts;
use inrush_core::error::{Aftermath, Error, Kind, Result};
use inrush_core::flow::Phase;
use inrush_core::wording::{asks_about_commit, counted};

/// Connections that copy rows into a hidden table.
const COPIERS: usize = 4;

/// For how long a server that has lost the connection at the commit is asked what became of it.
const PATIENCE: Duration = Duration::from_secs(60);

/// Publishes the rows that the tokens name, and no others. A job that is committed already is no error: what it has done comes back.
///
/// # Errors
/// When a token is missing, twice, another job's or none of those that the job was published with before; more rows are bad than the job
/// allows; the table isn't what it was when the job began; or the database refuses. Nothing can be seen of the job then, but what its
/// guarantee lets others see before, and it can be published again.
pub fn publish(job: &Job, tokens: &[Token], observer: &dyn Observer) -> Result<Published> {
    published(job, tokens, false, observer)
}

/// What [`publish`] answers of a job that it was called for before, whose tokens the ledger has.
///
/// # Errors
/// As [`publish`]; and when it was not, for then nothing says that the job is to have no rows.
pub fn publish_again(job: &Job, observer: &dyn Observer) -> Result<Published> {
    published(job, &[], true, observer)
}

fn published(
    job: &Job,
    tokens: &[Token],
    is_again: bool,
    observer: &dyn Observer,
) -> Result<Published> {
    job.check_version()?;
    let place = job.place()?;
    let _lock = Lock::take(&place, job, 0..=0, observer)?;
    let mut ledger = Ledger::open(&place, &job.home, observer.stop_flag())?;
    let entry = entry_of(&mut ledger, job)?;
    let record = entry.record()?;
    match entry.state {
        State::Committed => {
            own(job, tokens)?;
            taken(&entry, tokens)?;
            return report_of(&entry, tokens);
        }
        State::Aborted => {
            return Err(Error::target(format!("job {} is aborted", job.id)).advise(job.again()));
        }
        State::Open if is_again => {
            return Err(Error::usage(format!(
                "job {} is not published yet, and no token came: it would have no rows",
                job.id
            ))
            .advise("give the files that inrush job write has printed into: inrush job publish JOB TOKEN_FILE...")
            .advise("inrush job abort JOB ends it, and the table stays as it is")
            .advise("where it is to have no rows, have inrush job write a file without any, and publish that token")
            .leaving(left_by(&mut ledger, record, tokens)));
        }
        State::Open => {}
        State::Publishing | State::Renaming => {
            own(job, tokens)?;
            taken(&entry, tokens)?;
            let entry = with_tokens(entry, |kept| Token::completed(kept, tokens))?;
            return finish(&place, &mut ledger, entry, observer);
        }
    }
    let checked = own(job, tokens).and_then(|()| all(job, tokens));
    checked.map_err(|error| error.leaving(left_by(&mut ledger, record, tokens)))?;
    let rejected = tokens.iter().map(Token::rows_rejected).sum();
    let read = tokens.iter().map(|token| token.rows_read).sum();
    let allowed = record.job.load.max_rejects();
    if allowed.exceeded(rejected, read, true) {
        let rows = tokens.iter().flat_map(|token| &token.rejected);
        rows.for_each(|row| observer.rejected(&row.told()));
        let (all, are) = (counted(rejected, "row"), if rejected == 1 { "is" } else { "are" });
        let what = match allowed {
            RejectLimit::Percent(_) => {
                format!("{all} of {read} of job {} {are} bad, and {allowed} of them may be", job.id)
            }
            _ => format!("{all} of job {} {are} bad, and {allowed} may be", job.id),
        };
        return Err(Error::new(Kind::Rejects, what)
            .advise("the tokens have them, with their reasons")
            .leaving(left_by(&mut ledger, record, tokens)));
    }
    if job.guarantee == Guarantee::Atomic {
        known(&mut ledger, job, tokens)?;
    }
    // Of rows with one key the last token's is to stay, and that is the last part's, in whatever order files of tokens are listed.
    let mut tokens = tokens.to_vec();
    tokens.sort_by_key(|token| token.partition);
    let text = text_of(&Token::kept(&tokens))?;
    let publisher = Stage::publisher();
    let steps = (State::Open, State::Publishing.by(&publisher));
    if !ledger.step((&job.id, &job.digits), steps, Some(&text), None)? {
        return Err(missed(job));
    }
    let entry = Entry { state: State::Publishing, publisher: publisher.clone(), ..entry };
    let entry = with_tokens(entry, |_| tokens)?;
    carry_out(&place, &mut ledger, &entry, publisher, observer)
}

/// The error of a step that another process has come before.
fn missed(job: &Job) -> Error {
    changed(job).advise("publish it again")
}

/// The job's row of the ledger.
pub(super) fn entry_of(ledger: &mut Ledger<'_>, job: &Job) -> Result<Entry> {
    own_entry(ledger, job)?.ok_or_else(|| {
        Error::target(format!("job {} has been begun again by another process, or swept", job.id))
            .advise(job.again())
    })
}

/// The same; `None` where another job has the name, or none.
pub(super) fn own_entry(ledger: &mut Ledger<'_>, job: &Job) -> Result<Option<Entry>> {
    Ok(ledger.entry(&job.id, true)?.filter(|entry| entry.digits == job.digits))
}

/// What the job has done, with the bad rows that the tokens have.
pub(super) fn report_of(entry: &Entry, tokens: &[Token]) -> Result<Published> {
    let report = entry.report.as_deref().unwrap_or_default();
    let published = serde_json::from_str(report).map(|kept: Published| kept.completed(tokens));
    published.map_err(|error| {
        Error::target(format!(
            "job {} is committed, and what the ledger says of it can't be read: {error}",
            entry.id
        ))
    })
}

/// What a job leaves whose end is refused.
fn left_by(ledger: &mut Ledger<'_>, record: &Record, tokens: &[Token]) -> Aftermath {
    if record.job.guarantee == Guarantee::Atomic {
        return Aftermath::NothingChanged;
    }
    // A partition whose token is missing is in the table as well.
    let partitions = record.partitions.as_deref().map(Partitions);
    let visible = partitions.and_then(|partitions| partitions.visible(ledger).ok());
    let known = || tokens.iter().map(|token| token.rows_loaded).sum();
    Aftermath::Committed { rows: visible.map_or_else(known, |visible| visible.rows) }
}

/// Refuses tokens of other jobs, and one that comes twice.
fn own(job: &Job, tokens: &[Token]) -> Result<()> {
    let mut attempts = BTreeSet::new();
    for token in tokens {
        if token.job != job.id {
            return Err(Error::usage(format!(
                "a token of job {} was given to job {}",
                token.job, job.id
            ))
            .advise(
                "give the tokens that inrush job write has printed for this job, and no others",
            ));
        }
        if token.digits != job.digits {
            return Err(Error::usage(format!(
                "a token was given of a job {} that was ended, and is not this one of the same name",
                job.id
            ))
            .advise("give the tokens that inrush job write has printed since this one began"));
        }
        if !attempts.insert(&token.attempt) {
            let what = format!("the token of attempt {} was given twice", token.attempt);
            return Err(Error::usage(what));
        }
    }
    Ok(())
}

/// Refuses tokens that the job was published without: what is answered is not of their rows.
fn taken(entry: &Entry, tokens: &[Token]) -> Result<()> {
    let taken = tokens_of(entry)?;
    let is_taken = |token: &&Token| taken.iter().any(|taken| taken.attempt == token.attempt);
    let Some(token) = tokens.iter().find(|token| !is_taken(token)) else { return Ok(()) };
    if entry.state != State::Committed {
        return Err(Error::usage(format!(
            "job {} is being published, without the token of attempt {}, by a process that has not ended it",
            entry.id, token.attempt
        ))
        .advise(
            "publish with the tokens that were given then, or inrush job recover: either ends what was begun, without these rows",
        )
        .advise("or abort the job, begin it again, and write all of its rows again"));
    }
    let error = Error::usage(format!(
        "job {} was published without the token of attempt {}",
        entry.id, token.attempt
    ));
    Err(match entry.record()?.job.guarantee {
        Guarantee::Atomic => {
            error.advise("its rows are not in: write them again, in a job of another name")
        }
        Guarantee::PerPartition | Guarantee::None => error,
    }
    .advise("leave that token out, and publish answers as it did then"))
}

/// The tokens that the job was published with.
fn tokens_of(entry: &Entry) -> Result<Vec<Token>> {
    let Some(text) = &entry.tokens else { return Ok(Vec::new()) };
    serde_json::from_str(text).map_err(|error| {
        Error::target(format!("the ledger's tokens of job {} can't be read: {error}", entry.id))
    })
}

/// The job's row as this process goes on with it: with more of the tokens than the ledger keeps.
fn with_tokens(entry: Entry, tokens: impl FnOnce(Vec<Token>) -> Vec<Token>) -> Result<Entry> {
    let kept = tokens_of(&entry)?;
    Ok(Entry { tokens: Some(text_of(&tokens(kept))?), ..entry })
}

fn text_of(tokens: &[Token]) -> Result<String> {
    serde_json::to_string(tokens).map_err(|error| Error::usage(error.to_string()))
}

/// Refuses tokens that can't be all of the job's.
fn all(job: &Job, tokens: &[Token]) -> Result<()> {
    let wrong = |what: String| Err(Error::usage(what));
    let mut partitions = BTreeSet::new();
    for token in tokens {
        if let Some(partition) = token.partition
            && !partitions.insert(partition)
        {
            return wrong(format!(
                "two tokens are of partition {partition}: one of them is to be published"
            ));
        }
    }
    if let Some(wanted) = job.attempts
        && tokens.len() as u64 != u64::from(wanted)
    {
        let (wanted, came) = (u64::from(wanted), tokens.len() as u64);
        let what = format!(
            "job {} was begun for {}, and {} came",
            job.id,
            counted(wanted, "attempt"),
            counted(came, "token")
        );
        return Err(Error::usage(what).advise(match came > wanted {
            true => "give one token for each part of the rows: of a part that was written twice, one of the two",
            false => "give the tokens of all parts; a part that has none is to be written first",
        }));
    }
    if !partitions.is_empty() && partitions.len() != tokens.len() {
        return wrong(
            "some of the tokens say which partition they are of, and others don't".to_owned(),
        );
    }
    if let Some(gap) = (0..).zip(&partitions).find(|(wanted, partition)| wanted != *partition) {
        return wrong(format!("no token is of partition {}", gap.0));
    }
    Ok(())
}

/// Compares the tokens with the tables in the database.
fn known(ledger: &mut Ledger<'_>, job: &Job, tokens: &[Token]) -> Result<()> {
    let found: BTreeSet<String> = ledger.tables(&job.prefix())?.into_iter().collect();
    let given: BTreeSet<String> = tokens.iter().map(|token| token.table(job)).collect();
    if let Some(token) = tokens.iter().find(|token| !found.contains(&token.table(job))) {
        return Err(Error::target(format!(
            "the rows of attempt {} are not in the database any more",
            token.attempt
        ))
        .advise("write them again, in a job of another name"));
    }
    let is_own = |table: &String| *table == job.template() || table.starts_with(&job.new_table());
    if tokens.is_empty() && !found.iter().all(is_own) {
        return Err(Error::usage(format!(
            "rows were written for job {}, and no token came",
            job.id
        ))
        .advise("give the tokens that write has answered, or abort the job")
        .leaving(Aftermath::NothingChanged));
    }
    // The rows of a partition that was written and has no token would be missing. Of one that has a token more attempts may be left.
    let partition = |table: &String| table.rsplit_once("_p")?.1.parse::<u32>().ok();
    let covered: BTreeSet<u32> = given.iter().filter_map(partition).collect();
    if let Some(missing) =
        found.iter().filter_map(partition).find(|partition| !covered.contains(partition))
    {
        return Err(Error::usage(format!(
            "rows of partition {missing} were written, and no token is of it"
        ))
        .advise(format!(
            "inrush job write with --partition {missing} writes them again: give that token with the others, and what was written before is dropped"
        ))
        .advise("or inrush job abort JOB, where the number is wrong, and begin another job")
        .leaving(Aftermath::NothingChanged));
    }
    Ok(())
}

/// Goes on where a job is that another process was publishing; the lock is the caller's.
pub(super) fn finish(
    place: &Place,
    ledger: &mut Ledger<'_>,
    entry: Entry,
    observer: &dyn Observer,
) -> Result<Published> {
    let record = entry.record()?.by(&entry.publisher);
    if entry.state == State::Renaming && has_name(place, ledger, &record, observer.stop_flag())? {
        return renamed(ledger, &entry);
    }
    let publisher = Stage::publisher();
    let steps = (entry.state.by(&entry.publisher), State::Publishing.by(&publisher));
    if !ledger.step((&entry.id, &entry.digits), steps, None, None)? {
        return Err(missed(&record.job));
    }
    carry_out(place, ledger, &entry, publisher, observer)
}

/// Publishes a job whose state says that this process does.
fn carry_out(
    place: &Place,
    ledger: &mut Ledger<'_>,
    entry: &Entry,
    publisher: String,
    observer: &dyn Observer,
) -> Result<Published> {
    let record = &entry.record()?.by(&publisher);
    let job = &record.job;
    let tokens = tokens_of(entry)?;
    let publishing = Publishing { place, record, tokens, observer, began: Instant::now() };
    let outcome = observer.follow(&place.location.spare, || match job.guarantee {
        Guarantee::Atomic => look(place, job, observer.stop_flag())
            .and_then(|found| unchanged(place, record, found.as_ref()))
            .and_then(|()| match record.makes {
                true => publishing.make(ledger),
                false => publishing.add(ledger),
            }),
        Guarantee::PerPartition | Guarantee::None => publishing.close(ledger),
    });
    match outcome {
        Ok(published) => {
            ledger.clear(job);
            ledger.forget(record);
            Ok(published.noting_rows_left_out())
        }
        Err(error) => {
            let _ = ledger.roll_back();
            // What the user changes now may be the reason: other tokens, or an abort.
            let steps = (State::Publishing.by(&publisher), State::Open);
            let _ = ledger.step((&job.id, &job.digits), steps, None, None);
            let error =
                if observer.stop_flag().load(Relaxed) { Error::interrupted() } else { error };
            Err(match error.aftermath() {
                None => error.leaving(left_by(ledger, record, &publishing.tokens)),
                Some(_) => error,
            })
        }
    }
}

/// Whether a publisher's table, which was whole, has its name; if not, it never will.
fn has_name(
    place: &Place,
    ledger: &mut Ledger<'_>,
    record: &Record,
    stop: &AtomicBool,
) -> Result<bool> {
    let (job, hidden) = (&record.job, record.new_table());
    // Some engines drop the old table first, and then the rows are in this one alone.
    if record.replaces
        && ledger.tables(&hidden)?.contains(&hidden)
        && look(place, job, stop)?.is_none()
    {
        return match ledger.take_name(&job.home, &hidden, false) {
            Err(error) if ledger.tables(&hidden)?.contains(&hidden) => Err(error),
            _ => Ok(true),
        };
    }
    Ok(!ledger.drop_surely(&hidden)?)
}

/// The table has its name: so it is written down.
fn renamed(ledger: &mut Ledger<'_>, entry: &Entry) -> Result<Published> {
    let job = &entry.record()?.job;
    write_down(ledger, job, &entry.publisher)?;
    ledger.clear(job);
    report_of(entry, &tokens_of(entry)?)
}

/// Notes that a publisher's table has its name, unless another process has done so.
fn write_down(ledger: &mut Ledger<'_>, job: &Job, publisher: &str) -> Result<()> {
    let steps = (State::Renaming.by(publisher), State::Committed);
    if ledger.step((&job.id, &job.digits), steps, None, None)? {
        return Ok(());
    }
    match entry_of(ledger, job)?.state {
        State::Committed => Ok(()),
        _ => Err(missed(job)),
    }
}

/// The job's table, as it is now.
pub(super) fn look(place: &Place, job: &Job, stop: &AtomicBool) -> Result<Option<TableFacts>> {
    let table = place.jobs.tables.requested(&job.home, &job.home.table);
    let options = LoadOptions {
        table: Some(table.clone()),
        if_exists: IfExists::Append,
        ..LoadOptions::default()
    };
    let request = Request { target: place.location.secret.clone(), options, ..Request::default() };
    Ok(place.target.facts(&place.location, &table, &request, stop)?.table)
}

/// Compares the table with what it was when the job began.
pub(super) fn unchanged(place: &Place, record: &Record, found: Option<&TableFacts>) -> Result<()> {
    let home = &record.job.home;
    if found.map(|table| place.jobs.tables.outline(table)) != record.outline {
        return Err(Error::target(format!(
            "table {} has changed since job {} began",
            home.table, record.job.id
        ))
        .advise("abort the job, and begin another one: it will look at what is there now"));
    }
    Ok(())
}

/// Whether only the database knows what became of the statement.
fn is_unknown(error: &Error) -> bool {
    error.is_lost_connection() || error.kind() == Kind::Interrupted
}

fn unknown(error: Error) -> Error {
    error
        .advise(
            "publish the job again once the server answers: it knows then whether its rows are in",
        )
        .leaving(Aftermath::Unknown)
}

/// A job that is being published.
struct Publishing<'a> {
    place: &'a Place,
    record: &'a Record,
    tokens: Vec<Token>,
    observer: &'a dyn Observer,
    began: Instant,
}

impl Publishing<'_> {
    fn job(&self) -> &Job {
        &self.record.job
    }

    fn names(&self) -> (&str, &str) {
        (&self.job().id, &self.job().digits)
    }

    /// A state as this process has it.
    fn own(&self, state: State) -> Stage {
        state.by(&self.record.publisher)
    }

    /// Adds the rows to the existing table, in one transaction with the ledger's row.
    fn add(&self, ledger: &mut Ledger<'_>) -> Result<Published> {
        self.observer.phase(&Phase::Load);
        ledger.begin()?;
        // The row first: who asks for it waits until this transaction is over, however it ends.
        self.commits(ledger)?;
        let alone = self.record.wants_empty.then(|| Alone::begin(ledger)).transpose()?;
        if alone.is_some() {
            expect_empty(ledger, self.record)?;
        }
        let began = Instant::now();
        let tally = Tally::before(ledger, self.record)?;
        let mut skipped = 0;
        for token in &self.tokens {
            skipped += copy(ledger, self.record, token)?;
        }
        let rows: u64 = self.tokens.iter().map(|token| token.rows).sum();
        tally.grown(ledger, self.record, rows - skipped)?;
        if let Some(alone) = alone {
            alone.end(self.place, self.record, self.observer)?;
        }
        let seconds =
            PublishSeconds { load: began.elapsed().as_secs_f64(), ..PublishSeconds::default() };
        let mut published = self.published("insert", skipped, seconds);
        self.report(ledger, &published)?;
        self.observer.phase(&Phase::Commit);
        self.commit(ledger, &mut published)?;
        Ok(published)
    }

    /// Ends a job whose attempts have brought in their rows themselves.
    fn close(&self, ledger: &mut Ledger<'_>) -> Result<Published> {
        self.observer.phase(&Phase::Commit);
        if self.job().guarantee == Guarantee::None {
            ledger.await_commits(&self.job().id)?;
        }
        let table = look(self.place, self.job(), self.observer.stop_flag())?;
        ledger.begin()?;
        let mut tokens = self.tokens.clone();
        let mut publish = "load";
        if let Some(partitions) = self.record.partitions.as_deref().map(Partitions) {
            if self.place.jobs.rows.has_transactions() {
                publish = "insert";
            }
            partitions.close(ledger)?;
            let found =
                partitions.all(ledger, self.job())?.into_iter().map(|part| part.token).collect();
            self.compare(&found)?;
            // An attempt that has found another's rows there has not counted anything itself.
            tokens = Token::completed(found, &self.tokens);
        }
        Brought::by(&tokens, self.record).stays(ledger, self.job(), table.as_ref())?;
        let this = Self { tokens, ..*self };
        let mut published = this.published(publish, 0, PublishSeconds::default());
        if self.job().guarantee == Guarantee::None && this.tokens.is_empty() {
            published.warnings.push(
                "no token came: rows that attempts have written are in the table, and are not counted here"
                    .to_owned(),
            );
        }
        let steps = (self.own(State::Publishing), State::Committed);
        if !ledger.step(self.names(), steps, None, Some(&published.kept().to_string()))? {
            return Err(missed(self.job()));
        }
        self.commit(ledger, &mut published)?;
        Ok(published)
    }

    /// Compares the tokens with the partitions that are in the table.
    fn compare(&self, found: &Vec<Token>) -> Result<()> {
        let wrong = |what: String| Err(Error::usage(what));
        let given: BTreeMap<_, _> =
            self.tokens.iter().map(|token| (token.partition, &token.attempt)).collect();
        for token in found {
            let partition = token.partition.unwrap_or_default();
            match given.get(&token.partition) {
                Some(attempt) if **attempt == token.attempt => {}
                Some(_) => {
                    return wrong(format!(
                        "partition {partition} is in the table by attempt {}, and its token is of another",
                        token.attempt
                    ));
                }
                None => {
                    return Err(Error::usage(format!(
                        "partition {partition} is in the table, and no token is of it"
                    ))
                    .advise(format!(
                        "inrush job write with --partition {partition} answers with its token, and writes nothing"
                    )));
                }
            }
        }
        let is_there: BTreeSet<_> = found.iter().map(|token| token.partition).collect();
        match self.tokens.iter().find(|token| !is_there.contains(&token.partition)) {
            Some(Token { partition: Some(partition), .. }) => {
                wrong(format!("partition {partition} is not in the table: write it again"))
            }
            Some(_) => wrong("a token says of no partition that it is there".to_owned()),
            None => Ok(()),
        }
    }

    /// Copies the rows into a hidden table, which gets the table's name.
    fn make(&self, ledger: &mut Ledger<'_>) -> Result<Published> {
        let (tables, job) = (self.place.jobs.tables, self.job());
        let hidden = self.record.new_table();
        self.observer.phase(&Phase::Load);
        // Processes that were killed may have left theirs. What one still writes goes with all else in the end.
        let left = ledger.tables(&job.new_table())?;
        ledger.drop_tables(&left);
        let began = Instant::now();
        ledger.run([&tables.make_hidden(&job.home, &hidden, &job.template())])?;
        let skipped = self.fill()?;
        let load = began.elapsed().as_secs_f64();
        let began = Instant::now();
        if !self.record.complete.is_empty() {
            self.observer.phase(&Phase::Index);
            let completed = ledger.run(&self.record.complete);
            completed.map_err(|error| by_name(ledger, self.record, error))?;
        }
        let seconds = PublishSeconds {
            load,
            index: began.elapsed().as_secs_f64(),
            ..PublishSeconds::default()
        };
        let mut published = self.published("rename", skipped, seconds);
        self.observer.phase(&Phase::Commit);
        let replaces = self.record.replaces;
        if tables.renames_in_transaction() {
            ledger.begin()?;
            self.commits(ledger)?;
            let named = ledger.take_name(&job.home, &hidden, replaces);
            named.map_err(|error| self.was_made(error))?;
            self.report(ledger, &published)?;
            self.commit(ledger, &mut published)?;
            return Ok(published);
        }
        let text = published.kept().to_string();
        let steps = (self.own(State::Publishing), self.own(State::Renaming));
        if !ledger.step(self.names(), steps, None, Some(&text))? {
            return Err(missed(job));
        }
        let back = || (self.own(State::Renaming), self.own(State::Publishing));
        if let Err(error) = ledger.take_name(&job.home, &hidden, replaces) {
            // Where the old table is gone the job stays on its way to the name: only so its next publisher gives it.
            if error.aftermath().is_some() {
                return Err(error);
            }
            if !is_unknown(&error) {
                ledger.step(self.names(), back(), None, None)?;
                return Err(self.was_made(error));
            }
            let asked = self.ask(&error, |ledger| {
                let is_named = has_name(self.place, ledger, self.record, &NEVER)?;
                if !is_named {
                    ledger.step(self.names(), back(), None, None)?;
                }
                Ok(is_named)
            });
            match asked {
                Some(true) => {}
                Some(false) => return Err(error),
                None => return Err(unknown(error)),
            }
        }
        // The table has its name: what the ledger says can be put right later, by whoever asks for the job next.
        let publisher = &self.record.publisher;
        match write_down(ledger, job, publisher) {
            Err(error) if is_unknown(&error) => {
                self.ask(&error, |ledger| write_down(ledger, job, publisher));
            }
            written => written.map_err(|error| error.leaving(Aftermath::Unknown))?,
        }
        Ok(published)
    }

    /// Copies the rows of all tokens over several connections: nobody sees the table yet.
    fn fill(&self) -> Result<u64> {
        // Of rows with one key the last token's is to stay.
        let copiers = match self.record.counts {
            true => COPIERS.min(self.tokens.len()).min(self.job().connections as usize),
            false => 1,
        };
        let next = AtomicUsize::new(0);
        let copied = thread::scope(|scope| {
            let copy = || -> Result<u64> {
                let mut ledger =
                    Ledger::open(self.place, &self.job().home, self.observer.stop_flag())?;
                let mut skipped = 0;
                while let Some(token) = self.tokens.get(next.fetch_add(1, Relaxed)) {
                    skipped += copy(&mut ledger, self.record, token)?;
                }
                Ok(skipped)
            };
            let start = |_| thread::Builder::new().spawn_scoped(scope, copy);
            let copiers: Vec<_> = (0..copiers).map(start).collect();
            let join = |copier: io::Result<thread::ScopedJoinHandle<'_, Result<u64>>>| match copier
            {
                Ok(copier) => {
                    copier.join().unwrap_or_else(|panic| std::panic::resume_unwind(panic))
                }
                Err(error) => Err(Error::no_thread(&error)),
            };
            copiers.into_iter().map(join).collect::<Vec<_>>()
        });
        copied.into_iter().sum()
    }

    fn commits(&self, ledger: &mut Ledger<'_>) -> Result<()> {
        let steps = (self.own(State::Publishing), State::Committed);
        match ledger.step(self.names(), steps, None, None)? {
            true => Ok(()),
            false => Err(missed(self.job())),
        }
    }

    fn report(&self, ledger: &mut Ledger<'_>, published: &Published) -> Result<()> {
        ledger
            .step(
                self.names(),
                (State::Committed, State::Committed),
                None,
                Some(&published.kept().to_string()),
            )
            .map(drop)
    }

    /// Ends the transaction; where the answer is lost, asks what became of it. The report gets what the database warns of.
    fn commit(&self, ledger: &mut Ledger<'_>, published: &mut Published) -> Result<()> {
        if self.observer.stop_flag().load(Relaxed) {
            return Err(Error::interrupted());
        }
        let error = match ledger.commit() {
            Ok(warning) => {
                published.warnings.extend(warning);
                return Ok(());
            }
            Err(error) => error,
        };
        if !is_unknown(&error) {
            return Err(in_words(ledger, self.record, error));
        }
        // Who asks for the row waits until the lost transaction has ended.
        let state = self.ask(&error, |ledger| Ok(entry_of(ledger, self.job())?.state));
        match state {
            Some(State::Committed) => Ok(()),
            Some(_) => Err(error),
            None => Err(unknown(error)),
        }
    }

    /// The error of a name that the job's table does not get: or, where another table has it by now, that.
    fn was_made(&self, error: Error) -> Error {
        let found = match error.is_refusal() {
            true => look(self.place, self.job(), &NEVER).ok(),
            false => None,
        };
        let now = found.map(|found| unchanged(self.place, self.record, found.as_ref()));
        now.and_then(Result::err).unwrap_or(error)
    }

    /// Asks over another connection, for as long as there is no answer: a server that has crashed takes a while, and one that has not
    /// noticed yet that a connection is lost goes on with its transaction.
    fn ask<T>(&self, error: &Error, question: impl Fn(&mut Ledger<'_>) -> Result<T>) -> Option<T> {
        // Who was stopped has the connection still, and most often an answer at once.
        if error.is_lost_connection() {
            self.observer.noted(&asks_about_commit(PATIENCE));
        }
        let began = Instant::now();
        while began.elapsed() < PATIENCE {
            let answer =
                Ledger::open(self.place, &self.job().home, &NEVER).and_then(|mut ledger| {
                    ledger.hurry()?;
                    question(&mut ledger)
                });
            if let Ok(answer) = answer {
                return Some(answer);
            }
            thread::sleep(Duration::from_millis(200));
        }
        None
    }

    fn published(&self, publish: &str, skipped: u64, seconds: PublishSeconds) -> Published {
        let sum = |of: fn(&Token) -> u64| self.tokens.iter().map(of).sum::<u64>();
        let rejected: Vec<_> =
            self.tokens.iter().flat_map(|token| token.rejected.iter().cloned()).collect();
        let mut warnings = self.record.warnings.clone();
        for warning in self.tokens.iter().flat_map(|token| &token.warnings) {
            if !warnings.contains(warning) {
                warnings.push(warning.clone());
            }
        }
        Published {
            version: env!("CARGO_PKG_VERSION").to_owned(),
            job: self.job().id.clone(),
            table: self.job().table().to_owned(),
            state: State::Committed,
            guarantee: self.job().guarantee,
            publish: publish.to_owned(),
            attempts: self.tokens.len(),
            rows_read: sum(|token| token.rows_read),
            rows_loaded: sum(|token| token.rows_loaded) - skipped,
            rows_rejected: sum(Token::rows_rejected),
            rows_skipped: sum(|token| token.rows_skipped) + skipped,
            rejected,
            seconds: PublishSeconds { total: self.began.elapsed().as_secs_f64(), ..seconds },
            warnings,
        }
    }
}
