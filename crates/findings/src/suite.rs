//! Suites as they are written: TOML, checked when read. `docs/suites.md` is the guide for people.
//!
//! Words in braces are placeholders. `{name}` is, in this order: one of the cell's axes, one of the target's `vars`, one of the
//! profile's `vars`, or one of what every cell has: `table` (each worker's own, or the one of all where the experiment is `shared`), `worker` (from 1), `workers`, `target`, `file.DATASET` (a path), `rows.DATASET`, `sum.DATASET.COLUMN`, `dir` (a private
//! folder), `python`, `script` (a program in it that has rows), and for a target in a file `db` (its path).

use std::collections::BTreeMap;
use std::fmt;

use serde::{Deserialize, Serialize};

use inrush_core::Durability;

/// A suite.
#[derive(Clone, Debug, Deserialize, Serialize)]
#[serde(deny_unknown_fields)]
pub struct Suite {
    /// The version of this format: 1.
    pub format: u32,
    /// As users name it.
    pub id: String,
    /// For people.
    pub title: String,
    /// What it measures, and why. A few sentences.
    pub about: String,
    /// The study that it repeats.
    #[serde(default)]
    pub source: Option<Source>,
    /// Its sizes: `smoke`, `quick`, `paper`.
    pub profile: BTreeMap<String, Profile>,
    /// The rows.
    #[serde(default)]
    pub dataset: BTreeMap<String, Dataset>,
    /// The databases.
    pub target: BTreeMap<String, Target>,
    /// What is done to them.
    pub experiment: Vec<Experiment>,
    /// Figures that the study has published.
    #[serde(default)]
    pub reference: Vec<Reference>,
    /// Its sentences, as predicates over our samples.
    #[serde(default)]
    pub claim: Vec<Claim>,
}

/// Where a suite comes from.
#[derive(Clone, Debug, Deserialize, Serialize)]
#[serde(deny_unknown_fields)]
pub struct Source {
    /// The study's title.
    pub title: String,
    /// Where it was published.
    pub url: String,
    /// When.
    pub date: String,
    /// On what it was measured.
    pub machine: String,
    /// With which versions of what.
    pub software: String,
    /// How ours differs from it, a sentence each.
    #[serde(default)]
    pub deviations: Vec<String>,
}

/// One size of a suite.
#[derive(Clone, Debug, Deserialize, Serialize)]
#[serde(deny_unknown_fields)]
pub struct Profile {
    /// Rows, by dataset; the others have what they say themselves.
    #[serde(default)]
    pub rows: BTreeMap<String, u64>,
    /// Values that the axes keep, by axis; those that are not named keep all.
    #[serde(default)]
    pub axes: BTreeMap<String, Vec<Value>>,
    /// Further placeholders.
    #[serde(default)]
    pub vars: BTreeMap<String, Value>,
    /// How often every cell is measured at least.
    pub blocks_min: u32,
    /// And at most: between the two as often as it takes until half of the median's interval is `precision` of the median.
    pub blocks_max: u32,
    /// See `blocks_max`.
    #[serde(default = "Profile::precision")]
    pub precision: f64,
    /// Blocks at the start that are recorded and not counted.
    #[serde(default)]
    pub warmups: u32,
    /// No block begins after this.
    pub budget_s: u64,
    /// What others may take of the processors, 0 to 1; a sample that saw more is taken once more.
    #[serde(default = "Profile::foreign_cpu_max")]
    pub foreign_cpu_max: f64,
    /// A sample that takes longer is ended, and its status is `timeout`.
    #[serde(default = "Profile::sample_s")]
    pub sample_s: u64,
}

impl Profile {
    fn precision() -> f64 {
        0.05
    }

    fn foreign_cpu_max() -> f64 {
        0.1
    }

    fn sample_s() -> u64 {
        600
    }
}

/// Rows that a generator makes from a seed, or a file that holds them.
#[derive(Clone, Debug, Deserialize, Serialize)]
#[serde(deny_unknown_fields)]
pub struct Dataset {
    /// The generator.
    pub kind: String,
    /// Rows at the published size.
    pub rows: u64,
    /// What the generator starts from.
    pub seed: u64,
}

/// A database with its settings.
#[derive(Clone, Debug, Deserialize, Serialize)]
#[serde(deny_unknown_fields)]
pub struct Target {
    /// The loader's word for its kind: `sqlite`, `mysql`, `postgres`, `csv`, ...; `none` for commands that need no database of ours.
    pub family: String,
    /// For people.
    pub about: String,
    /// A server of its own with these settings; absent where the database is a file or lies in memory.
    #[serde(default)]
    pub server: Option<ServerSpec>,
    /// The database lies in the writer's memory.
    #[serde(default)]
    pub memory: bool,
    /// How clients reach a server.
    #[serde(default)]
    pub transport: Transport,
    /// With the transport `relay`: what a round trip takes longer, in milliseconds.
    #[serde(default)]
    pub delay_ms: f64,
    /// What an acknowledged write survives.
    #[serde(default)]
    pub durability: Durability,
    /// Statements that every connection begins with; loads take the strategy's knobs instead.
    #[serde(default)]
    pub connect: Vec<String>,
    /// Settings, as the database tells them, that have to be so, or nothing is measured: by name, the value.
    #[serde(default)]
    pub read_back: BTreeMap<String, Value>,
    /// Placeholders.
    #[serde(default)]
    pub vars: BTreeMap<String, Value>,
}

/// A private server.
#[derive(Clone, Debug, Default, Deserialize, Serialize)]
#[serde(deny_unknown_fields)]
pub struct ServerSpec {
    /// Its settings, besides those that keep it private.
    #[serde(default)]
    pub settings: BTreeMap<String, Value>,
    /// Others for servers whose name begins so; `false` leaves a setting out.
    #[serde(default)]
    pub settings_on: BTreeMap<String, BTreeMap<String, Value>>,
    /// Servers that have it, by the beginning of their name; empty for all of the family.
    #[serde(default)]
    pub only: Vec<String>,
}

/// How clients reach a server.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Deserialize, Serialize)]
#[serde(rename_all = "lowercase")]
pub enum Transport {
    /// A unix socket.
    #[default]
    Socket,
    /// TCP over the loopback interface.
    Tcp,
    /// TCP through a relay of ours that holds every byte back for half of `delay_ms`.
    Relay,
}

impl Transport {
    /// As suites have it.
    pub fn word(self) -> &'static str {
        match self {
            Transport::Socket => "socket",
            Transport::Tcp => "tcp",
            Transport::Relay => "relay",
        }
    }
}

/// A matrix of cells, and what is done in each.
#[derive(Clone, Debug, Deserialize, Serialize)]
#[serde(deny_unknown_fields)]
pub struct Experiment {
    /// Unique in the suite.
    pub id: String,
    /// For people.
    pub title: String,
    /// What it answers.
    #[serde(default)]
    pub question: String,
    /// Its targets, by their names in the suite.
    pub targets: Vec<String>,
    /// Further axes.
    #[serde(default)]
    pub axes: BTreeMap<String, Vec<Value>>,
    /// Cells that match one of these are left out.
    #[serde(default)]
    pub exclude: Vec<Cell>,
    /// Where there are any, only cells that match one of these are kept.
    #[serde(default)]
    pub include: Vec<Cell>,
    /// Processes that write at the same time.
    #[serde(default = "one")]
    pub workers: Value,
    /// All workers have one database file, and `{table}` is one and the same; otherwise each has its own.
    #[serde(default)]
    pub shared: bool,
    /// The cell that is measured twice in every block, to see how much two equal ones differ; the first, if absent.
    #[serde(default)]
    pub twice: Option<Cell>,
    /// The metric that tables and figures show first, such as `insert.rows_per_s`.
    pub metric: String,
    /// The axis whose values are a sweep, for a figure over it.
    #[serde(default)]
    pub sweep: Option<String>,
    /// The steps.
    pub phase: Vec<Phase>,
}

fn one() -> Value {
    Value::Integer(1)
}

/// Some of a cell's coordinates: by axis, `target` and `server` among them, the value or the values. For `server` the beginning is enough.
pub type Cell = BTreeMap<String, OneOrMany>;

/// One step. Exactly one of `load`, `sql`, `mix`, `verify`, `command` and `size` is there.
#[derive(Clone, Debug, Deserialize, Serialize)]
#[serde(deny_unknown_fields)]
pub struct Phase {
    /// Unique among those that a cell does: different ways to the same end have the same, and so one metric.
    pub id: String,
    /// Whether its time is a result.
    #[serde(default = "yes")]
    pub timed: bool,
    /// Done by the first worker only, the others wait.
    #[serde(default)]
    pub once: bool,
    /// A database that refuses it has not failed: it can't do this.
    #[serde(default)]
    pub may_refuse: bool,
    /// Done only in cells that match one of these.
    #[serde(default)]
    pub when: Vec<Cell>,
    /// Rows that it handles (for each worker), for its rate; a load knows by itself.
    #[serde(default)]
    pub rows: Option<Value>,
    /// Load rows.
    #[serde(default)]
    pub load: Option<Load>,
    /// Run statements.
    #[serde(default)]
    pub sql: Option<Sql>,
    /// With `sql`: so often, with a latency for each time. `{n}` counts from 1.
    #[serde(default)]
    pub repeat: Option<Value>,
    /// With `sql`: what the first value of the last statement has to be.
    #[serde(default)]
    pub expect: Option<Value>,
    /// Run requests.
    #[serde(default)]
    pub mix: Option<Mix>,
    /// Compare a table with what was generated. Never timed.
    #[serde(default)]
    pub verify: Option<Verify>,
    /// Run a program.
    #[serde(default)]
    pub command: Option<Program>,
    /// A query whose one value is a number of bytes. Never timed.
    #[serde(default)]
    pub size: Option<Sql>,
}

fn yes() -> bool {
    true
}

impl Phase {
    /// Whether its time is a result: what compares or measures a size is none, whatever the suite says.
    pub fn is_timed(&self) -> bool {
        self.timed && self.verify.is_none() && self.size.is_none()
    }
}

/// Statements: the same for all, or by target family or target.
#[derive(Clone, Debug, Deserialize, Serialize)]
#[serde(untagged)]
pub enum Sql {
    /// For every target.
    All(Lines),
    /// By the target's name in the suite, or else its family, or else `others`.
    For(BTreeMap<String, Lines>),
}

/// One statement or several.
#[derive(Clone, Debug, Deserialize, Serialize)]
#[serde(untagged)]
pub enum Lines {
    /// One.
    One(String),
    /// Several, one after the other.
    Many(Vec<String>),
}

/// Rows through the loader, as a user would load them.
#[derive(Clone, Debug, Deserialize, Serialize)]
#[serde(deny_unknown_fields)]
pub struct Load {
    /// What.
    pub dataset: String,
    /// What the rows are before the load.
    #[serde(default)]
    pub by: By,
    /// Where to.
    #[serde(default = "table")]
    pub table: String,
    /// `target/name`; without one the planner chooses. A word that is no such id is a placeholder of the target's.
    #[serde(default)]
    pub strategy: Option<String>,
    /// Knobs. One whose value is empty is left alone.
    #[serde(default)]
    pub set: BTreeMap<String, Value>,
    /// Connections; 0 for the planner's choice.
    #[serde(default)]
    pub lanes: Option<Value>,
    /// Only so many of the rows: the sample is then marked as partial.
    #[serde(default)]
    pub rows: Option<Value>,
    /// For a table that the load makes.
    #[serde(default)]
    pub primary_key: Vec<String>,
}

fn table() -> String {
    "{table}".to_owned()
}

/// By which door rows come to the loader.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Deserialize, Serialize)]
#[serde(rename_all = "lowercase")]
pub enum By {
    /// They are a file.
    #[default]
    File,
    /// A program has them, and hands them to a writer one batch after the other.
    Writer,
}

/// Requests of several statements, as a web server would make them.
#[derive(Clone, Debug, Deserialize, Serialize)]
#[serde(deny_unknown_fields)]
pub struct Mix {
    /// Over all workers.
    pub requests: Value,
    /// `worker` keeps its connection, `request` opens one for each.
    #[serde(default = "worker")]
    pub connect: Value,
    /// `{r}` is a random number from 0 to this, drawn for each request.
    #[serde(default)]
    pub range: u64,
    /// Requests a second that are due (over all workers), whether or not earlier ones are through; without it the next one waits for
    /// the one before it.
    #[serde(default)]
    pub rate: Option<Value>,
    /// How often a failed request is tried again.
    #[serde(default)]
    pub retries: u32,
    /// Its statements. One that is empty once its placeholders are filled is left out.
    pub step: Vec<Step>,
    /// What has to hold when all requests are through.
    #[serde(default)]
    pub check: Vec<Check>,
}

fn worker() -> Value {
    Value::Text("worker".to_owned())
}

/// One statement of a request.
#[derive(Clone, Debug, Deserialize, Serialize)]
#[serde(deny_unknown_fields)]
pub struct Step {
    /// Unique among the steps.
    pub id: String,
    /// The statement.
    pub sql: Sql,
    /// Only if the first value of that step was a number above 0.
    #[serde(default)]
    pub when: Option<String>,
    /// What it does to the transaction, so that acknowledged rows are counted when they are committed.
    #[serde(default)]
    pub transaction: Option<Transaction>,
}

/// What a statement does to the transaction.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Deserialize, Serialize)]
#[serde(rename_all = "lowercase")]
pub enum Transaction {
    /// Begins one.
    Begin,
    /// Commits it.
    Commit,
}

/// A query whose one value has to be the number of rows that steps were acknowledged to have changed, over all workers.
#[derive(Clone, Debug, Deserialize, Serialize)]
#[serde(deny_unknown_fields)]
pub struct Check {
    /// For people.
    pub about: String,
    /// The query.
    pub sql: Sql,
    /// The steps whose changed rows are added.
    pub steps: Vec<String>,
    /// Added to them: what was there before.
    #[serde(default)]
    pub plus: Option<Value>,
}

/// A comparison of a table with the generated rows.
#[derive(Clone, Debug, Deserialize, Serialize)]
#[serde(deny_unknown_fields)]
pub struct Verify {
    /// With which rows.
    pub dataset: String,
    /// How to read them: all columns in the dataset's order.
    pub sql: Sql,
    /// Only so many of the rows.
    #[serde(default)]
    pub rows: Option<Value>,
    /// What was added to every value of an integer column meanwhile, by column.
    #[serde(default)]
    pub added: BTreeMap<String, i64>,
}

/// A program of the user's machine.
#[derive(Clone, Debug, Deserialize, Serialize)]
#[serde(deny_unknown_fields)]
pub struct Program {
    /// Its arguments, the program first. One that is not installed makes the cell unavailable.
    pub run: Vec<String>,
    /// So does another program that is not installed, or does not succeed: a look for what the first one needs. With its arguments. The
    /// first line that it writes is kept as the version of what was measured.
    #[serde(default)]
    pub needs: Vec<String>,
    /// It prepares itself: it says `ready` on a line of standard output, waits for a line of standard input, and says `done`. Only what lies
    /// between is timed.
    #[serde(default)]
    pub waits: bool,
    /// What it reads on standard input.
    #[serde(default)]
    pub input: String,
    /// Its environment, beside ours.
    #[serde(default)]
    pub env: BTreeMap<String, String>,
    /// Exit codes that are success.
    #[serde(default = "zero")]
    pub codes: Vec<i32>,
}

fn zero() -> Vec<i32> {
    vec![0]
}

/// Published figures of one metric of one experiment.
#[derive(Clone, Debug, Deserialize, Serialize)]
#[serde(deny_unknown_fields)]
pub struct Reference {
    /// Unique in the suite.
    pub id: String,
    /// For people.
    pub title: String,
    /// Ours.
    pub experiment: String,
    /// Ours. Published seconds may stand beside our seconds, published rates beside our rates.
    pub metric: String,
    /// Of the values.
    pub unit: String,
    /// The cell that all are shown in relation to.
    pub baseline: Cell,
    /// The figures.
    pub values: Vec<Published>,
}

/// One figure.
#[derive(Clone, Debug, Deserialize, Serialize)]
#[serde(deny_unknown_fields)]
pub struct Published {
    /// Where it belongs.
    pub cell: Cell,
    /// What was published.
    pub value: f64,
    /// What the study calls it, where that differs.
    #[serde(default)]
    pub label: Option<String>,
}

/// A sentence of the study as a predicate.
#[derive(Clone, Debug, Deserialize, Serialize)]
#[serde(deny_unknown_fields)]
pub struct Claim {
    /// Unique in the suite.
    pub id: String,
    /// As the study says it.
    pub text: String,
    /// The number that it is about; absent with `untestable`.
    #[serde(default)]
    pub ratio: Option<Ratio>,
    /// What `ratio` is divided by.
    #[serde(default)]
    pub over: Option<Ratio>,
    /// Or: a metric of one cell.
    #[serde(default)]
    pub value: Option<Pick>,
    /// Or: the least value of an axis at which a metric is within 90 % of its best.
    #[serde(default)]
    pub knee: Option<Knee>,
    /// The least that the number is, if the sentence is true.
    #[serde(default)]
    pub at_least: Option<f64>,
    /// The most.
    #[serde(default)]
    pub at_most: Option<f64>,
    /// Why it can't be tested.
    #[serde(default)]
    pub untestable: Option<String>,
}

/// One metric of two cells, the first divided by the second, in pairs of one block.
#[derive(Clone, Debug, Deserialize, Serialize)]
#[serde(deny_unknown_fields)]
pub struct Ratio {
    /// Above the line.
    pub of: Pick,
    /// Below it.
    pub to: Pick,
}

/// A metric of a cell. What a cell leaves open is the same on both sides of a ratio (the server), or has to be unique.
#[derive(Clone, Debug, Deserialize, Serialize)]
#[serde(deny_unknown_fields)]
pub struct Pick {
    /// The experiment.
    pub experiment: String,
    /// The cell.
    pub cell: Cell,
    /// The metric.
    pub metric: String,
}

/// Where a sweep bends.
#[derive(Clone, Debug, Deserialize, Serialize)]
#[serde(deny_unknown_fields)]
pub struct Knee {
    /// The experiment.
    pub experiment: String,
    /// Everything but the axis.
    pub cell: Cell,
    /// The axis.
    pub axis: String,
    /// The metric.
    pub metric: String,
}

/// A word or a number; shown, and filled in, as written.
#[derive(Clone, Debug, PartialEq, Deserialize, Serialize)]
#[serde(untagged)]
pub enum Value {
    /// `true` or `false`.
    Flag(bool),
    /// A whole number.
    Integer(i64),
    /// Another number.
    Number(f64),
    /// A word, perhaps with placeholders.
    Text(String),
}

impl fmt::Display for Value {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Value::Flag(flag) => flag.fmt(f),
            Value::Integer(number) => number.fmt(f),
            Value::Number(number) => number.fmt(f),
            Value::Text(text) => f.write_str(text),
        }
    }
}

/// A value or a list of them.
#[derive(Clone, Debug, PartialEq, Deserialize, Serialize)]
#[serde(untagged)]
pub enum OneOrMany {
    /// One.
    One(Value),
    /// Any of these.
    Many(Vec<Value>),
}

impl OneOrMany {
    /// The values.
    pub fn values(&self) -> &[Value] {
        match self {
            OneOrMany::One(value) => std::slice::from_ref(value),
            OneOrMany::Many(values) => values,
        }
    }
}
