//! What travels between the processes of a job, as JSON.

use std::collections::BTreeMap;
use std::fmt;
use std::str::FromStr;

use serde::{Deserialize, Serialize};

use crate::pipe::reject::{Position, Reject};
use crate::plan::{
    DialectRequest, Durability, MatchBy, OnConflict, ReadRequest, ReadType, RejectLimit, Verify,
};
use crate::target::{self, Home, JOB_PREFIX, Jobs, Lease, Location, Target, Untold};
use inrush_core::Type;
use inrush_core::error::{Error, Result};
use inrush_core::flow::Code;
use inrush_core::unique;
use inrush_core::wording::counted;

use super::password;

/// How a job is carried out, besides what any load says.
#[derive(Clone, Debug)]
pub struct Options {
    /// What the job is called: beginning it again does nothing once it is committed. `None` makes up a name.
    pub id: Option<String>,
    /// Attempts that write at the same time, over all machines; at least 1.
    pub connections: u32,
    /// Tokens that publishing wants; `None` takes as many as come.
    pub attempts: Option<u32>,
    /// Where every process finds the password: `env:NAME` or `file:PATH`.
    pub password: Option<String>,
    /// What others see of the job before it is published, and how often a row may come into the table.
    pub guarantee: Guarantee,
    /// Whether the types of all columns are to be known: a table is made with none that nothing has said.
    pub wants_types: bool,
}

impl Default for Options {
    fn default() -> Self {
        let guarantee = Guarantee::Atomic;
        Self {
            id: None,
            connections: 8,
            attempts: None,
            password: None,
            guarantee,
            wants_types: false,
        }
    }
}

/// What others see of a job before it is published, and how often a row may come into the table.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Guarantee {
    /// Nothing before it is published, then all rows, each once.
    #[default]
    Atomic,
    /// Each partition as soon as it is written, as a whole, and once: also where the job is begun again.
    PerPartition,
    /// The rows of each attempt, and of each one that is repeated again.
    None,
}

impl Guarantee {
    /// Every word.
    pub const WORDS: [&str; 3] = ["atomic", "per_partition", "none"];

    /// The word that users type.
    pub fn word(self) -> &'static str {
        match self {
            Guarantee::Atomic => Self::WORDS[0],
            Guarantee::PerPartition => Self::WORDS[1],
            Guarantee::None => Self::WORDS[2],
        }
    }

    /// Whether others see rows before the job is published.
    pub fn is_early(self) -> bool {
        self != Guarantee::Atomic
    }
}

impl fmt::Display for Guarantee {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.word())
    }
}

impl FromStr for Guarantee {
    type Err = String;

    fn from_str(text: &str) -> std::result::Result<Self, String> {
        let all = [Guarantee::Atomic, Guarantee::PerPartition, Guarantee::None];
        let found = all.into_iter().find(|guarantee| guarantee.word() == text);
        found.ok_or_else(|| format!("'{text}' is none of {}", Self::WORDS.join(", ")))
    }
}

/// What others see of a job that is not committed.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Visible {
    /// Partitions whose rows are in the table.
    pub partitions: u64,
    /// Rows of these.
    pub rows: u64,
}

/// How far a job is.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum State {
    /// Attempts write.
    Open,
    /// Its tokens are known, and nothing of it can be seen yet.
    Publishing,
    /// Its table is whole, and gets its name, or has it already.
    Renaming,
    /// Its rows can be seen.
    Committed,
    /// It has left nothing.
    Aborted,
}

impl State {
    const ALL: [Self; 5] =
        [Self::Open, Self::Publishing, Self::Renaming, Self::Committed, Self::Aborted];

    /// The state of this word.
    pub(super) fn of(word: &str) -> Option<Self> {
        Self::ALL.into_iter().find(|state| state.word() == word)
    }

    /// The same as a step that only `publisher` may go on from, where a process is publishing.
    pub(super) fn by(self, publisher: &str) -> Stage {
        match self {
            State::Publishing | State::Renaming => Stage(self, publisher.to_owned()),
            _ => self.into(),
        }
    }

    /// The word that the ledger has.
    pub fn word(self) -> &'static str {
        match self {
            State::Open => "open",
            State::Publishing => "publishing",
            State::Renaming => "renaming",
            State::Committed => "committed",
            State::Aborted => "aborted",
        }
    }
}

/// What the ledger has as a job's state: while the job is published also by whom, so that a process which was taken for dead changes
/// nothing any more.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Stage(pub(super) State, pub(super) String);

impl Stage {
    /// The stage of this text.
    pub(super) fn of(text: &str) -> Option<Self> {
        let (word, publisher) = text.split_once(':').unwrap_or((text, ""));
        Some(Self(State::of(word)?, publisher.to_owned()))
    }

    /// A publisher that no other process is, in so few letters that its stages fit into 16.
    pub(super) fn publisher() -> String {
        unique::word()[..5].to_owned()
    }
}

impl From<State> for Stage {
    fn from(state: State) -> Self {
        Self(state, String::new())
    }
}

impl fmt::Display for Stage {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self.1.as_str() {
            "" => f.write_str(self.0.word()),
            publisher => write!(f, "{}:{publisher}", self.0.word()),
        }
    }
}

impl fmt::Display for State {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.word())
    }
}

/// A job, as text that any process may have: it holds no password.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub struct Job {
    /// The version of inrush that has begun it; another one refuses it.
    pub version: String,
    /// What it is called.
    pub id: String,
    /// How far it was when this text was made.
    pub state: State,
    /// The database.
    pub url: String,
    /// Where the password is.
    pub password: Option<String>,
    /// Where its table is.
    pub home: Home,
    /// Sixteen hexadecimal digits at random: another job of the same name has others, also where that goes on.
    pub digits: String,
    /// Attempts that write at the same time.
    pub connections: u32,
    /// Tokens that publishing wants.
    pub attempts: Option<u32>,
    /// What others see of it before it is published.
    #[serde(default)]
    pub guarantee: Guarantee,
    /// What of it was in the table when this text was made, where each partition comes in by itself.
    pub visible: Option<Visible>,
    /// The columns that its rows have, as the table spells them.
    pub columns: Vec<String>,
    /// What every attempt does with its rows.
    pub(super) load: Load,
}

/// What every attempt does with its rows: what of `LoadOptions` holds for each of them.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub(super) struct Load {
    #[serde(default)]
    pub(super) match_by: Option<MatchBy>,
    pub(super) on_conflict: OnConflict,
    pub(super) key: Vec<String>,
    pub(super) max_rejects: String,
    pub(super) verify: Verify,
    /// What rows survive, once they are in the job's table.
    #[serde(default)]
    pub(super) durability: Durability,
    pub(super) strategy: Option<String>,
    pub(super) knobs: BTreeMap<String, String>,
    #[serde(default)]
    pub(super) untold: Untold,
    /// The types that its columns were said to be of, by the names that the job has for them.
    #[serde(default)]
    pub(super) types: BTreeMap<String, Type>,
    /// How files are written, as far as it was said when the job began.
    #[serde(default)]
    pub(super) dialect: DialectRequest,
    /// How their values are read.
    #[serde(default)]
    pub(super) read: ReadRequest,
}

impl Load {
    pub(super) fn max_rejects(&self) -> RejectLimit {
        self.max_rejects.parse().unwrap_or_default()
    }
}

/// What a job writes into.
#[derive(Clone)]
pub(super) struct Place {
    pub(super) target: &'static dyn Target,
    pub(super) jobs: Jobs,
    pub(super) location: Location,
    /// One step takes over the connection that the step before has left, for as long as the work takes that the place is for.
    _lease: Lease,
}

impl Place {
    /// The place that a URL names, with the password that it lacks.
    ///
    /// # Errors
    /// When it names none, or one that has no jobs.
    pub(super) fn of(url: &str, reference: Option<&str>) -> Result<Self> {
        password::refuse(url)?;
        let (target, _) = target::find(url)?;
        let jobs = target.jobs()?;
        let (target, mut location) = target::find(&password::resolve(url, reference)?)?;
        let lease = Lease::default();
        location.spare = lease.spare();
        Ok(Self { target, jobs, location, _lease: lease })
    }
}

impl Job {
    /// How the values of columns are written that were said to be of such a type when the job began, as numbers of seconds are moments.
    pub fn read_types(&self) -> &BTreeMap<String, ReadType> {
        &self.load.read.types
    }

    pub(super) fn place(&self) -> Result<Place> {
        Place::of(&self.url, self.password.as_deref())
    }

    /// A hidden table of the job.
    pub(super) fn hidden(&self, what: &str) -> String {
        format!("{JOB_PREFIX}{}_{what}", self.digits)
    }

    /// What the hidden tables' names begin with.
    pub(super) fn prefix(&self) -> String {
        self.hidden("")
    }

    /// What attempts' tables are made like.
    pub(super) fn template(&self) -> String {
        self.hidden("like")
    }

    /// The table that gets the job's own's name: each process that publishes the job has one of its own, whose name goes on.
    pub(super) fn new_table(&self) -> String {
        self.hidden("new")
    }

    /// The one of a publisher.
    pub(super) fn new_table_of(&self, publisher: &str) -> String {
        format!("{}{publisher}", self.new_table())
    }

    /// What to do where it is over without being published, or not known any more.
    pub(super) fn again(&self) -> &'static str {
        match self.guarantee {
            Guarantee::Atomic => "begin it again, and write its rows again",
            Guarantee::PerPartition => {
                "begin it again, and write its rows again: no partition in the table comes a second time, as long as the job's row of \
                 inrush_jobs is there"
            }
            Guarantee::None => {
                "begin it again, and write its rows again, but delete first what its attempts have brought into the table: that stays, and \
                 would be there twice"
            }
        }
    }

    /// Its own name for the table, for people.
    pub fn table(&self) -> &str {
        &self.home.table
    }

    /// Refuses a job of another version: what one means another may not know.
    pub(super) fn check_version(&self) -> Result<()> {
        match self.version == env!("CARGO_PKG_VERSION") {
            true => Ok(()),
            false => Err(other_version(&self.id, &self.version)),
        }
    }
}

/// The error of a job whose row is no longer in the state in which this process has found it.
pub(super) fn changed(job: &Job) -> Error {
    Error::target(format!("job {} was changed by another process", job.id))
}

/// The error of a job that another version has begun.
pub(super) fn other_version(id: &str, version: &str) -> Error {
    let own = env!("CARGO_PKG_VERSION");
    Error::usage(format!("job {id} was begun by inrush {version}, and this is inrush {own}"))
        .advise("have the same version on every machine")
}

impl fmt::Display for Job {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        json(self, f)
    }
}

impl FromStr for Job {
    type Err = Error;

    fn from_str(text: &str) -> Result<Self> {
        parsed(text, "a job").and_then(|job: Self| {
            let is_number =
                job.digits.len() == 16 && job.digits.bytes().all(|byte| byte.is_ascii_hexdigit());
            if !is_number || job.connections == 0 {
                return Err(Error::usage("this is no text of a job"));
            }
            job.check_version()?;
            Ok(job)
        })
    }
}

/// What an attempt has written, as text.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Token {
    /// The version of inrush.
    pub version: String,
    /// The job's name.
    pub job: String,
    /// The job's digits.
    pub digits: String,
    /// The attempt, by sixteen hexadecimal digits at random.
    pub attempt: String,
    /// Which part of the rows, where the attempt knew it.
    pub partition: Option<u32>,
    /// Whether the partition was in the table before, and nothing was written: then all else is of the attempt that did.
    #[serde(default)]
    pub already_written: bool,
    /// Rows that it has read.
    pub rows_read: u64,
    /// Rows in its table.
    pub rows: u64,
    /// Rows that were loaded: more than there are where some have taken the place of others.
    pub rows_loaded: u64,
    /// Rows left out for their key's sake.
    pub rows_skipped: u64,
    /// Bad rows: all of them in the text that the attempt has answered, and else as many as the database keeps.
    pub rejected: Vec<Rejected>,
    /// What a user should know although all went well.
    #[serde(default)]
    pub warnings: Vec<String>,
}

impl Token {
    /// What follows the prefix in its table's name.
    pub(super) fn suffix(attempt: &str, partition: Option<u32>) -> String {
        match partition {
            Some(partition) => format!("{attempt}_p{partition}"),
            None => attempt.to_owned(),
        }
    }

    pub(super) fn table(&self, job: &Job) -> String {
        job.hidden(&Self::suffix(&self.attempt, self.partition))
    }

    /// Bad rows, of which a text that was in the database may list fewer.
    pub fn rows_rejected(&self) -> u64 {
        self.rows_read.saturating_sub(self.rows_loaded.saturating_add(self.rows_skipped))
    }

    /// Tokens as the database keeps them: with as many of their bad rows as it has room for.
    pub(super) fn kept(tokens: &[Self]) -> Vec<Self> {
        let mut room = KEPT_BYTES;
        tokens.iter().map(|token| token.kept_in(&mut room)).collect()
    }

    /// The same of a partition's.
    pub(super) fn kept_alone(&self) -> Self {
        self.kept_in(&mut { KEPT_BYTES })
    }

    fn kept_in(&self, room: &mut usize) -> Self {
        Self { rejected: kept(&self.rejected, room), ..self.clone() }
    }

    /// Tokens from the database, with the bad rows of the same ones that a user has.
    pub(super) fn completed(kept: Vec<Self>, given: &[Self]) -> Vec<Self> {
        let complete = |token: Self| {
            let own = given.iter().find(|given| {
                given.attempt == token.attempt && given.rejected.len() > token.rejected.len()
            });
            match own.map(|own| own.rejected.clone()) {
                Some(rejected) => Self { rejected, ..token },
                None => token,
            }
        };
        kept.into_iter().map(complete).collect()
    }
}

/// Bytes of bad rows that the database keeps of a job, or of one of its partitions. No database takes a value of any length: MySQL a
/// message of 4 MB, MongoDB a document of 16, unless it is told otherwise.
const KEPT_BYTES: usize = 1 << 20;

/// The first of the rows, as many as there is room for.
fn kept(rejected: &[Rejected], room: &mut usize) -> Vec<Rejected> {
    let fits = |row: &&Rejected| {
        let left = serde_json::to_string(row).ok().and_then(|text| room.checked_sub(text.len()));
        *room = left.unwrap_or(0);
        left.is_some()
    };
    rejected.iter().take_while(fits).cloned().collect()
}

impl fmt::Display for Token {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        json(self, f)
    }
}

impl FromStr for Token {
    type Err = Error;

    fn from_str(text: &str) -> Result<Self> {
        parsed(text, "a token").and_then(|token: Self| {
            match token.attempt.len() == 16
                && token.attempt.bytes().all(|byte| byte.is_ascii_hexdigit())
            {
                true => Ok(token),
                false => Err(Error::usage("this is no text of a token")),
            }
        })
    }
}

/// A bad row of an attempt.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Rejected {
    /// The part of the rows, where the attempt knew it.
    pub partition: Option<u32>,
    /// The input's name, where it has one.
    pub file: Option<String>,
    /// The line on which the row begins, in text.
    pub line: Option<u64>,
    /// The row of the file, or of the rows that the attempt was given, from 1.
    pub record: u64,
    /// The column, where one is to blame.
    pub column: Option<String>,
    /// What sort of fault.
    pub code: Code,
    /// The reason.
    pub message: String,
    /// The row as it was given.
    pub row: String,
}

impl Rejected {
    pub(super) fn of(reject: &Reject, partition: Option<u32>, file: Option<&str>) -> Self {
        let line = reject.at.line();
        let Reject { record, column, message, raw, .. } = reject;
        Self {
            partition,
            file: file.map(str::to_owned),
            line,
            record: *record,
            column: column.clone(),
            code: reject.code,
            message: message.clone(),
            row: String::from_utf8_lossy(raw).trim_end_matches(['\r', '\n']).to_owned(),
        }
    }

    /// The row as observers are told of it.
    pub(super) fn told(&self) -> Reject {
        let at = match self.line {
            Some(line) => Position::Text { line, byte: 0, record: None },
            None => Position::Rows { row: self.record },
        };
        Reject {
            file: 0,
            record: self.record,
            at,
            column: self.column.clone(),
            code: self.code,
            message: self.message.clone(),
            raw: self.row.clone().into_bytes(),
        }
    }
}

/// What a job has done.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Published {
    /// The version of inrush.
    pub version: String,
    /// The job's name.
    pub job: String,
    /// The table.
    pub table: String,
    /// `committed`.
    pub state: State,
    /// What others have seen of it before, and how often a row may be there.
    pub guarantee: Guarantee,
    /// How its rows came into the table: `insert`, `rename`, or `load`, where attempts have written them there.
    pub publish: String,
    /// Attempts whose rows are in it.
    pub attempts: usize,
    /// Rows that these have read.
    pub rows_read: u64,
    /// Rows that the table holds because of the job.
    pub rows_loaded: u64,
    /// Bad rows.
    pub rows_rejected: u64,
    /// Rows left out because their key was a duplicate.
    pub rows_skipped: u64,
    /// The bad rows, as far as the tokens that were given, or the database, list them.
    pub rejected: Vec<Rejected>,
    /// Where the time of publishing went.
    pub seconds: PublishSeconds,
    /// What a user should know although all went well.
    pub warnings: Vec<String>,
}

/// Where the time of publishing went, in seconds.
#[derive(Clone, Copy, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct PublishSeconds {
    /// All of it.
    pub total: f64,
    /// Copying rows into the table.
    pub load: f64,
    /// Building keys and indexes.
    pub index: f64,
}

impl Published {
    /// The report as the database keeps it: with as many of the bad rows as it has room for.
    pub(super) fn kept(&self) -> Self {
        Self { rejected: kept(&self.rejected, &mut { KEPT_BYTES }), ..self.clone() }
    }

    /// A report from the database, with the bad rows that the tokens have; or it says how many it lacks.
    pub(super) fn completed(mut self, tokens: &[Token]) -> Self {
        // As they were published: a partition behind the one before it.
        let mut tokens: Vec<&Token> = tokens.iter().collect();
        tokens.sort_by_key(|token| token.partition);
        let given: Vec<&Rejected> = tokens.iter().flat_map(|token| &token.rejected).collect();
        if given.len() > self.rejected.len() {
            self.rejected = given.into_iter().cloned().collect();
        }
        self.noting_rows_left_out()
    }

    /// The same with a note where bad rows are counted and not listed.
    pub(super) fn noting_rows_left_out(mut self) -> Self {
        let listed = self.rejected.len() as u64;
        if listed < self.rows_rejected {
            self.warnings.push(format!(
                "{listed} of {} are listed here, for the database keeps no more of them: the tokens of the attempts have all",
                counted(self.rows_rejected, "bad row")
            ));
        }
        self
    }
}

impl fmt::Display for Published {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        json(self, f)
    }
}

fn json(value: &impl Serialize, f: &mut fmt::Formatter<'_>) -> fmt::Result {
    f.write_str(&serde_json::to_string(value).map_err(|_| fmt::Error)?)
}

fn parsed<T: for<'t> Deserialize<'t>>(text: &str, what: &str) -> Result<T> {
    serde_json::from_str(text).map_err(|error| {
        Error::usage(format!("this is no text of {what}: {error}"))
            .advise("take what begin or write has answered, whole and unchanged")
    })
}
