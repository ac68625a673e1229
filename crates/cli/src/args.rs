//! The command line as it is typed. What it means is decided in `settings`.

mod job;
#[cfg(feature = "bench")]
mod tune;

use std::path::PathBuf;

use clap::{Args, Parser, Subcommand, ValueHint};
use clap_complete::Shell;

use crate::settings;

pub(crate) use self::job::{BeginArgs, JobCommand, PublishArgs, WriteArgs};
#[cfg(feature = "bench")]
pub(crate) use self::tune::TuneArgs;

const EXAMPLES: &str = "\
Examples:
  inrush load weather.csv.gz weather.db          load a file into a new table of its name
  inrush plan weather.csv.gz weather.db          what load would do, and why
  inrush check weather.csv.gz                    types and bad rows of all of it
  inrush load 'logs/*.tsv' logs.db --table log   several files into one table
  inrush tune weather.csv.gz weather.db          which way to load it is the fastest here
  inrush doctor weather.db                       what puts data at risk or holds loads back
  inrush job begin URL --table T --like FILE     a load that many processes write
  inrush strategies                              the ways to write that this build has
  inrush bench mass-inserts                      measure ways to write on this machine
  inrush report results/RUN                      write a bench's report again
  inrush compare results/RUN_A results/RUN_B     two runs of a bench, cell by cell

Exit codes: 0 all rows are in; 3 done, with bad rows rejected; 1 failed; 2 usage; 130 interrupted.";

const LOAD_EXAMPLES: &str = "\
Examples:
  inrush load weather.csv.gz weather.db
  inrush load flights.csv air.db --null NA --primary-key id --index carrier --index origin,dest
  inrush load dirty.csv shop.db --table orders --if-exists append --max-rejects 100
  zcat big.csv.gz | inrush load - big.db --table big --type code=text
  inrush load nodes.tsv osm.db --header no --json --durability process
  inrush load weather.csv.gz csv:clean.csv --null NA
  inrush load huge.csv big.db --guarantee chunks   in steps; after a crash the same with --resume

Bad rows go, verbatim, to a file beside the source, orders.rejects.csv for orders.csv, with their positions and reasons in \
orders.rejects.csv.jsonl. Fix that file and load it with --if-exists append.

Exit codes: 0 all rows are in; 3 done, with bad rows rejected; 1 failed; 2 usage; 130 interrupted.";

const PLAN_EXAMPLES: &str = "\
Examples:
  inrush plan weather.csv.gz weather.db
  inrush plan flights.csv air.db --null NA --primary-key id
  inrush plan orders.csv shop.db --json | jq '.columns[] | {name, type}'
  inrush plan orders.csv shop.db --as-config > load.toml     what inrush load --config takes

Takes what inrush load takes, and refuses what it would refuse. Beginnings of the files are read, and nothing is written.

Exit codes: 0 the load could begin; 1 it could not; 2 usage; 130 interrupted.";

const CHECK_EXAMPLES: &str = "\
Examples:
  inrush check orders.csv                        what is in it
  inrush check orders.csv shop.db                whether shop.db would take all of it
  inrush check orders.csv shop.db --rejects bad.csv
  inrush check 'logs/*.jsonl' --json | jq '.columns[] | {name, type, nulls}'

The last of several places is the target if it can be one. Where the target has the table, its columns decide what is a bad row. In a \
shape digits are 9, letters are a, and what comes several times in a row is one: 2024-01-31 is 9-9-9. A terminal shows the first 100 bad \
rows; they go to a file with --rejects FILE, or beside each source with --max-rejects all.

Exit codes: 0 all rows are good; 3 some are bad; 1 failed; 2 usage; 130 interrupted.";

const DOCTOR_EXAMPLES: &str = "\
Examples:
  inrush doctor shop.db
  inrush doctor mysql://root@localhost/shop
  inrush doctor postgres:///shop orders.csv      judged for a load of this size
  inrush doctor shop.db --json | jq -r '.findings[].statements[] + \";\"' | sqlite3 shop.db
  inrush doctor mysql://root@localhost/shop orders.csv --measure

Nothing is written, changed or locked. For every finding: what it is, what it should be, why, with the manual's page, the \
statement or the line of the server's file that changes it, and what the change risks. docs/doctor.md lists every rule.
--measure tries out what is slow on private servers of the same version: it loads the source, or rows like those of \
the tables, with the settings as they are and as they should be, for at most 60 seconds each and 5 minutes in all.

Exit codes: 0 no data is at risk; 3 data is at risk; 1 there is no such database, or it does not answer; 2 usage; 130 interrupted.";

#[cfg(feature = "bench")]
const BENCH_EXAMPLES: &str = "\
Examples:
  inrush bench                                             list the suites
  inrush bench mass-inserts                                run one, on what needs no server
  inrush bench mass-inserts --server mariadb --server postgres
  inrush bench fastest-import --server mysql-5.7 --server mysql-8.0 --profile paper
  inrush bench high-speed-inserts --server mariadb --dry-run
  inrush bench my-suite.toml --only sqlite --blocks 6..12
  inrush bench --resume results/20261121T215137Z-3fa9c1    go on after an interruption

A server that is asked for by name is a private one, started from what is installed and stopped at the end; with a URL the server \
is yours, and gets a database of the run's own, which is dropped at the end, also if the run is killed.

Exit codes: 0 everything that is here was measured; 3 some cells failed, or a server can't be used that was asked for; 1 failed; \
2 usage; 130 interrupted.";

#[cfg(feature = "bench")]
const REPORT_EXAMPLES: &str = "\
Examples:
  inrush report results/20261121T215137Z-3fa9c1
  xdg-open \"$(inrush report results/20261121T215137Z-3fa9c1 | tail -n 1)\"

Needs no network, and neither does the page.";

#[cfg(feature = "bench")]
const COMPARE_EXAMPLES: &str = "\
Examples:
  inrush compare results/20261120T080000Z-3fa9c1 results/20261121T215137Z-3fa9c1
  inrush compare results/BEFORE results/AFTER --fail-if-slower 5%
  inrush compare results/BEFORE results/AFTER --json | jq '.cells[0]'

A cell counts as slower only if the whole interval of its ratio is beyond the limit, and beyond the noise of both runs; \
neither is told from fewer than three samples of each.

Exit codes: 0 nothing is slower than allowed; 1 something is, or fails in RUN_B alone, or the runs can't be read; 2 the \
runs can't be compared.";

/// Moves files into databases as fast as each database allows, and loses no row silently
#[derive(Parser)]
#[command(name = "inrush", version, after_help = EXAMPLES, max_term_width = 100)]
pub(crate) struct Cli {
    #[command(subcommand)]
    pub(crate) command: Command,
}

#[derive(Subcommand)]
pub(crate) enum Command {
    /// Load files into a table
    #[command(override_usage = "inrush load [OPTIONS] SOURCE... TARGET", after_help = LOAD_EXAMPLES)]
    Load(LoadArgs),
    /// Say what load would do, and why; touches nothing
    #[command(override_usage = "inrush plan [OPTIONS] SOURCE... TARGET", after_help = PLAN_EXAMPLES)]
    Plan(PlanArgs),
    /// Read all as load would, and write nothing: types, bad rows, CREATE TABLE
    #[command(override_usage = "inrush check [OPTIONS] SOURCE... [TARGET]", after_help = CHECK_EXAMPLES)]
    Check(LoadArgs),
    /// Say which settings, tables and files put data at risk or hold loads back, and how to change them; touches nothing
    #[command(after_help = DOCTOR_EXAMPLES)]
    Doctor(DoctorArgs),
    /// Measure which way to load these rows into this target is the fastest here; load goes by it
    #[cfg(feature = "bench")]
    #[command(override_usage = "inrush tune [OPTIONS] SOURCE... TARGET", after_help = tune::EXAMPLES)]
    Tune(Box<TuneArgs>),
    /// Load from many processes into one table: all rows or none
    #[command(subcommand, after_help = job::EXAMPLES)]
    Job(JobCommand),
    /// Measure every way of writing on this machine
    #[cfg(feature = "bench")]
    #[command(after_help = BENCH_EXAMPLES)]
    Bench(BenchArgs),
    /// What `bench` starts to do the work
    #[cfg(feature = "bench")]
    #[command(hide = true)]
    BenchWorker,
    /// List the ways to write that this build has
    Strategies {
        /// Only those of this target: a URL, a file, or a name such as sqlite
        target: Option<String>,
    },
    /// Write a bench's report again, as JSON, Markdown and HTML, from the samples that its run has stored
    #[cfg(feature = "bench")]
    #[command(after_help = REPORT_EXAMPLES)]
    Report {
        /// The run's folder
        #[arg(value_name = "RUN_DIR", value_hint = ValueHint::DirPath)]
        run: PathBuf,
    },
    /// Compare two runs of a bench, cell by cell
    #[cfg(feature = "bench")]
    #[command(after_help = COMPARE_EXAMPLES)]
    Compare(CompareArgs),
    /// Print a completion script for a shell
    #[command(
        after_help = "Example:\n  inrush completions bash > ~/.local/share/bash-completion/completions/inrush"
    )]
    Completions {
        /// The shell
        shell: Shell,
    },
    /// Print the manual page, or write one for every command
    #[command(
        after_help = "Examples:\n  inrush man | man -l -\n  inrush man --out ~/.local/share/man/man1"
    )]
    Man {
        /// Write inrush.1, inrush-load.1 and so on to this folder [default: one page, to standard output]
        #[arg(long, value_name = "DIR", value_hint = ValueHint::DirPath)]
        out: Option<PathBuf>,
    },
}

impl Command {
    /// The target of a load, as it was typed.
    pub(crate) fn target(&self) -> Option<&str> {
        match self {
            Command::Load(args) => args.places.last().map(String::as_str),
            _ => None,
        }
    }

    /// Whether there is a target that a failure may have changed.
    pub(crate) fn has_target(&self) -> bool {
        match self {
            Command::Load(_) | Command::Plan(_) | Command::Job(_) => true,
            Command::Check(args) => settings::is_target_of_check(&args.places),
            Command::Doctor(_)
            | Command::Strategies { .. }
            | Command::Completions { .. }
            | Command::Man { .. } => false,
            #[cfg(feature = "bench")]
            Command::Tune(_)
            | Command::Bench(_)
            | Command::BenchWorker
            | Command::Report { .. }
            | Command::Compare(_) => false,
        }
    }
}

/// What `plan` takes.
#[derive(Args)]
pub(crate) struct PlanArgs {
    #[command(flatten)]
    pub(crate) load: LoadArgs,
    /// Print the options as a file of settings for --config, and plan nothing
    #[arg(long, conflicts_with = "json", help_heading = "Output")]
    pub(crate) as_config: bool,
}

/// What `load` and `plan` take.
#[derive(Args)]
pub(crate) struct LoadArgs {
    /// Files, folders, patterns or URLs to load, '-' for standard input; then the target, of those that the build has
    #[arg(value_name = "SOURCE... TARGET", num_args = 1.., required = true, value_hint = ValueHint::FilePath)]
    pub(crate) places: Vec<String>,

    #[command(flatten)]
    pub(crate) table: TableArgs,
    #[command(flatten)]
    pub(crate) input: InputArgs,

    #[command(flatten)]
    pub(crate) way: WayArgs,
    /// Connections that write; of several, rows have no order [default: the strategy's]
    #[arg(long, value_name = "N", help_heading = "Work")]
    pub(crate) lanes: Option<usize>,
    /// Threads that parse and encode [default: the strategy's]
    #[arg(long, value_name = "N", help_heading = "Work")]
    pub(crate) encoders: Option<usize>,
    /// Input bytes in a chunk, such as 256k [default: the strategy's]
    #[arg(long, value_name = "SIZE", help_heading = "Work")]
    pub(crate) chunk_size: Option<String>,

    /// DuckDB's library, or the folder it is in [default: INRUSH_DUCKDB_LIB, beside inrush, or the system's]
    #[arg(long, value_name = "PATH", value_hint = ValueHint::FilePath, help_heading = "Work")]
    pub(crate) duckdb_lib: Option<PathBuf>,

    /// The file of what inrush tune has measured, which the load goes by where these options leave it the choice; none goes by nothing
    /// [default: inrush/profiles.toml in $XDG_CONFIG_HOME or ~/.config]
    #[arg(long, value_name = "FILE|none", value_hint = ValueHint::FilePath, help_heading = "Work")]
    pub(crate) profiles: Option<PathBuf>,

    /// What the loaded rows survive: a power failure, a crash of the process, or nothing
    #[arg(
        long,
        value_name = "durable|process|none",
        default_value = "durable",
        hide_default_value = true,
        help_heading = "Promises"
    )]
    pub(crate) durability: inrush::plan::Durability,
    /// What a load that fails leaves: nothing, as far as the target can (atomic), or whole steps behind which --resume goes on (chunks)
    /// [default: atomic]
    #[arg(long, value_name = "atomic|chunks", help_heading = "Promises")]
    pub(crate) guarantee: Option<inrush::plan::Guarantee>,
    /// Rows of a step of --guarantee chunks, about [default: the planner's choice]
    #[arg(long, value_name = "N", help_heading = "Promises")]
    pub(crate) commit_rows: Option<u64>,
    /// Go on behind the last step of the same load; a finished one is left as it is, and without any it begins at the first row.
    /// Implies --guarantee chunks
    #[arg(long, help_heading = "Promises")]
    pub(crate) resume: bool,
    /// Bad rows to reject before giving up: a number, a share, or all [default: 0]. In a new table a column keeps the type of
    /// nearly all its values, and so many others are bad rows; else it becomes text
    #[arg(
        long,
        value_name = "N|P%|all",
        default_value = "0",
        hide_default_value = true,
        help_heading = "Promises"
    )]
    pub(crate) max_rejects: inrush::plan::RejectLimit,
    /// Where bad rows go [default: beside the source, as orders.rejects.csv for orders.csv]
    #[arg(long, value_name = "FILE", value_hint = ValueHint::FilePath, help_heading = "Promises")]
    pub(crate) rejects: Option<PathBuf>,
    /// Compare the table with what was sent: by its count of rows, by a sum over every column, or not
    #[arg(
        long,
        value_name = "count|checksum|none",
        default_value = "count",
        hide_default_value = true,
        help_heading = "Promises"
    )]
    pub(crate) verify: inrush::plan::Verify,

    /// A file of settings (TOML): options without dashes, source, target, tables [columns.NAME]; what is typed stands above it, the
    /// environment's INRUSH_OPTION below
    #[arg(long, value_name = "FILE", value_hint = ValueHint::FilePath, help_heading = "Work")]
    pub(crate) config: Option<PathBuf>,

    /// Say what load would do, and why, and touch nothing: as inrush plan
    #[arg(long, help_heading = "Output")]
    pub(crate) dry_run: bool,
    /// Print the report, or the failure, as one JSON object on standard output
    #[arg(long, help_heading = "Output")]
    pub(crate) json: bool,
    #[command(flatten)]
    pub(crate) shown: ShownArgs,
    /// Say more: the plan before the load, and what each stage waited for
    #[arg(short, long, conflicts_with = "quiet", help_heading = "Output")]
    pub(crate) verbose: bool,
}

/// What is said of the way to write.
#[derive(Args)]
pub(crate) struct WayArgs {
    /// The way to write, see 'inrush strategies' [default: the planner's choice]
    #[arg(long, value_name = "ID", help_heading = "Work")]
    pub(crate) strategy: Option<String>,
    /// A parameter of the strategy; may be repeated
    #[arg(long = "set", value_name = "KNOB=VALUE", help_heading = "Work")]
    pub(crate) knobs: Vec<String>,
}

/// What `doctor` takes.
#[derive(Args)]
pub(crate) struct DoctorArgs {
    /// The database: a file or a URL, as load takes it
    #[arg(value_name = "TARGET", value_hint = ValueHint::FilePath)]
    pub(crate) target: String,
    /// Files that are to be loaded: sizes are judged by theirs, and --measure loads them
    #[arg(value_name = "SOURCE", value_hint = ValueHint::FilePath)]
    pub(crate) sources: Vec<String>,
    /// Measure what each change is worth, on private servers of the same version
    #[cfg(feature = "bench")]
    #[arg(long)]
    pub(crate) measure: bool,
    /// DuckDB's library, or the folder it is in [default: INRUSH_DUCKDB_LIB, beside inrush, or the system's]
    #[arg(long, value_name = "PATH", value_hint = ValueHint::FilePath)]
    pub(crate) duckdb_lib: Option<PathBuf>,
    /// Print what was found, or the failure, as one JSON object on standard output
    #[arg(long)]
    pub(crate) json: bool,
    /// Print risks only
    #[arg(short, long)]
    pub(crate) quiet: bool,
}

/// What is to be seen of the work.
#[derive(Args)]
pub(crate) struct ShownArgs {
    /// How to show progress on standard error; auto is a bar on a terminal and nothing elsewhere
    #[arg(long, value_name = "auto|bar|plain|json|none", default_value = "auto", hide_default_value = true, value_parser = ["auto", "bar", "plain", "json", "none"], help_heading = "Output")]
    pub(crate) progress: String,
    /// Say nothing but errors
    #[arg(short, long, help_heading = "Output")]
    pub(crate) quiet: bool,
}

/// What is said of the table.
#[derive(Args)]
pub(crate) struct TableArgs {
    /// The table [default: the first source's name without endings]
    #[arg(long, value_name = "NAME", help_heading = "Table")]
    pub(crate) table: Option<String>,
    /// What to do with an existing table: load only when it is empty, append, replace (drop and recreate), truncate, or fail
    #[arg(
        long,
        value_name = "empty|append|replace|truncate|fail",
        default_value = "empty",
        hide_default_value = true,
        help_heading = "Table"
    )]
    pub(crate) if_exists: inrush::plan::IfExists,
    /// What to do with a row with a duplicate key: fail (it is a bad row), skip, replace, or update
    #[arg(
        long,
        value_name = "fail|skip|replace|update",
        default_value = "fail",
        hide_default_value = true,
        help_heading = "Table"
    )]
    pub(crate) on_conflict: inrush::plan::OnConflict,
    /// How the source's columns find those of an existing table [default: by name, or by position where the source names none]
    #[arg(long = "match", value_name = "name|position", help_heading = "Table")]
    pub(crate) match_by: Option<inrush::plan::MatchBy>,
    /// The columns that --on-conflict compares [default: the table's primary key]
    #[arg(long, value_name = "COL[,COL]", value_delimiter = ',', help_heading = "Table")]
    pub(crate) key: Vec<String>,
    /// The primary key of a table that the load makes
    #[arg(long, value_name = "COL[,COL]", value_delimiter = ',', help_heading = "Table")]
    pub(crate) primary_key: Vec<String>,
    /// An index to build after the rows; may be repeated
    #[arg(long, value_name = "COL[,COL]", help_heading = "Table")]
    pub(crate) index: Vec<String>,
    /// A column's type: integer, float, decimal(P,S), boolean, date, timestamp, timestamptz, timestamp_ns, timestamptz_ns, text, time, uuid,
    /// interval, json or bytes, as far as the target has it; or how its values are written: money, percent, timestamp[s|ms|us|ns]; may be
    /// repeated
    #[arg(long = "type", value_name = "COL=TYPE", help_heading = "Table")]
    pub(crate) types: Vec<String>,
    /// Infer the other columns' types, or make them all text
    #[arg(
        long = "types",
        value_name = "infer|text",
        default_value = "infer",
        hide_default_value = true,
        help_heading = "Table"
    )]
    pub(crate) inference: inrush::plan::Inference,
}

/// What is said of the input.
#[derive(Args)]
pub(crate) struct InputArgs {
    /// The input's format [default: detected from its content]
    #[arg(long, value_name = "csv|tsv|jsonl|json|parquet|arrow", help_heading = "Input")]
    pub(crate) format: Option<inrush::plan::Format>,
    /// Make columns a.b, a.c of nested values [default: they are JSON]
    #[arg(long, help_heading = "Input")]
    pub(crate) flatten: bool,
    /// The character between fields, or a name: tab, comma, semicolon, pipe, space [default: sniffed]
    #[arg(long, value_name = "C", help_heading = "Input")]
    pub(crate) delimiter: Option<String>,
    /// The character around fields that need it, or none [default: sniffed, mostly "]
    #[arg(long, value_name = "C", help_heading = "Input")]
    pub(crate) quote: Option<String>,
    /// The character that makes the next one literal, or none [default: sniffed, mostly none]
    #[arg(long, value_name = "C", help_heading = "Input")]
    pub(crate) escape: Option<String>,
    /// Whether the first line names the columns
    #[arg(long, value_name = "yes|no|auto", default_value = "auto", hide_default_value = true, value_parser = ["yes", "no", "auto"], help_heading = "Input")]
    pub(crate) header: String,
    /// A spelling of NULL besides the empty unquoted field, such as NA, for all columns or for one; may be repeated. '' makes
    /// quoted empty fields NULL too, and '"NA"' a quoted NA
    #[arg(long, value_name = "[COLUMN=]S", allow_hyphen_values = true, help_heading = "Input")]
    pub(crate) null: Vec<String>,
    /// What an empty unquoted field is: NULL, or the empty text, as a quoted one [default: null]
    #[arg(long, value_name = "null|text", help_heading = "Input")]
    pub(crate) empty: Option<inrush::plan::Empty>,
    /// The decimal separator, . or ,
    #[arg(long, value_name = "[COLUMN=]C", help_heading = "Values")]
    pub(crate) decimal: Vec<String>,
    /// What stands between groups of three digits: . , ' or a blank
    #[arg(long, value_name = "[COLUMN=]C", help_heading = "Values")]
    pub(crate) thousands: Vec<String>,
    /// How dates are written, such as %d.%m.%Y; may be repeated, and is tried in that order
    #[arg(long, value_name = "[COLUMN=]FORMAT", help_heading = "Values")]
    pub(crate) date_format: Vec<String>,
    /// How timestamps are written, such as '%d.%m.%Y %H:%M'; may be repeated, and is tried in that order
    #[arg(long, value_name = "[COLUMN=]FORMAT", help_heading = "Values")]
    pub(crate) timestamp_format: Vec<String>,
    /// Words for true, such as yes,y, in any case
    #[arg(long = "true", value_name = "[COLUMN=]WORD[,WORD]", help_heading = "Values")]
    pub(crate) truths: Vec<String>,
    /// Words for false
    #[arg(long = "false", value_name = "[COLUMN=]WORD[,WORD]", help_heading = "Values")]
    pub(crate) falses: Vec<String>,
    /// The time zone of timestamps without one, such as Europe/Berlin: they are stored as moments of UTC
    #[arg(long, value_name = "[COLUMN=]ZONE", help_heading = "Values")]
    pub(crate) time_zone: Vec<String>,
    /// Cut off blanks around values without quotes, or around all
    #[arg(
        long,
        value_name = "unquoted|all",
        num_args = 0..=1,
        default_missing_value = "unquoted",
        require_equals = true,
        value_parser = ["unquoted", "all"],
        help_heading = "Values"
    )]
    pub(crate) trim: Option<String>,
    /// The only columns to load, in this order
    #[arg(long, value_name = "COL[,COL]", value_delimiter = ',', help_heading = "Columns")]
    pub(crate) columns: Vec<String>,
    /// Columns to leave out
    #[arg(long, value_name = "COL[,COL]", value_delimiter = ',', help_heading = "Columns")]
    pub(crate) drop: Vec<String>,
    /// Another name for a column; may be repeated
    #[arg(long, value_name = "OLD=NEW", help_heading = "Columns")]
    pub(crate) rename: Vec<String>,
    /// A column more: %file or %path of the input, %row (the record's number in it), %now, or the same text in all rows; may be
    /// repeated
    #[arg(long, value_name = "NAME=VALUE", help_heading = "Columns")]
    pub(crate) add: Vec<String>,
    /// Columns in which NULL, as an empty field is, is a bad row; a table that the load makes gets NOT NULL
    #[arg(long, value_name = "COL[,COL]", value_delimiter = ',', help_heading = "Columns")]
    pub(crate) not_null: Vec<String>,
    /// How names are compared with a table's and other files': case counts (exact) or not (ignore); snake writes new ones as order_id
    #[arg(
        long,
        value_name = "exact|ignore|snake",
        default_value = "ignore",
        hide_default_value = true,
        help_heading = "Columns"
    )]
    pub(crate) case: inrush::plan::Case,
    /// What to do with a column that an existing table, or the first file, does not have
    #[arg(
        long,
        value_name = "fail|add|ignore",
        default_value = "fail",
        hide_default_value = true,
        help_heading = "Columns"
    )]
    pub(crate) new_columns: inrush::plan::NewColumns,
    /// What to do with a column that the input lacks and an existing table, or another file, has [default: the table's default value;
    /// fail between files]
    #[arg(long, value_name = "fail|null", help_heading = "Columns")]
    pub(crate) missing_columns: Option<inrush::plan::MissingColumns>,
    /// The input's encoding: utf-8, utf-16le, utf-16be, latin1, ... [default: UTF-8, or as a byte order mark says]
    #[arg(long, value_name = "NAME", help_heading = "Input")]
    pub(crate) encoding: Option<String>,
    /// Lines to skip at the start of every input
    #[arg(
        long,
        value_name = "N",
        default_value_t = 0,
        hide_default_value = true,
        help_heading = "Input"
    )]
    pub(crate) skip_lines: u64,
    /// The character that begins a comment line [default: none]
    #[arg(long, value_name = "C", help_heading = "Input")]
    pub(crate) comment: Option<String>,
    /// What an archive may unpack to, such as 20G [default: 1 GiB, or 200 times its size]
    #[arg(long, value_name = "SIZE", help_heading = "Input")]
    pub(crate) max_expand: Option<String>,
}

/// What `bench` takes.
#[cfg(feature = "bench")]
#[derive(Args)]
pub(crate) struct BenchArgs {
    /// Suites: names of those that are built in, all of them (all), or TOML files; none lists them
    #[arg(value_name = "SUITE", value_hint = ValueHint::FilePath)]
    pub(crate) suites: Vec<String>,
    /// The size: smoke takes seconds, quick minutes, paper what the study took
    #[arg(long, value_name = "smoke|quick|paper", default_value = "quick")]
    pub(crate) profile: String,
    /// A server to measure on: a private one by its name (mariadb, mysql-8.0, postgres-15, all, ...), or the URL of yours; may be repeated
    #[arg(long, value_name = "NAME|URL")]
    pub(crate) server: Vec<String>,
    /// Where results are kept
    #[arg(long, value_name = "DIR", default_value = "results", value_hint = ValueHint::DirPath)]
    pub(crate) results: PathBuf,
    /// Where databases lie while they are measured [default: the system's folder for temporary files]
    #[arg(long, value_name = "DIR", value_hint = ValueHint::DirPath)]
    pub(crate) place: Option<PathBuf>,
    /// DuckDB's library, or the folder it is in [default: INRUSH_DUCKDB_LIB, beside inrush, or the system's]
    #[arg(long, value_name = "PATH", value_hint = ValueHint::FilePath)]
    pub(crate) duckdb_lib: Option<PathBuf>,
    /// Go on with a run that was interrupted
    #[arg(
        long,
        value_name = "RUN_DIR",
        conflicts_with_all = ["suites", "profile", "server", "results", "dry_run", "only", "axes", "blocks", "budget", "seed"],
        value_hint = ValueHint::DirPath
    )]
    pub(crate) resume: Option<PathBuf>,
    /// Say what would be measured, how long it takes and how much disk, and do nothing
    #[arg(long)]
    pub(crate) dry_run: bool,
    /// Only cells whose experiment, target, server and axes hold this text; may be repeated, all have to match
    #[arg(long, value_name = "TEXT", help_heading = "Matrix")]
    pub(crate) only: Vec<String>,
    /// Only these values of an axis; may be repeated
    #[arg(long = "set", value_name = "AXIS=VALUE[,VALUE]", help_heading = "Matrix")]
    pub(crate) axes: Vec<String>,
    /// How often every cell is measured, at least and at most [default: the profile's]
    #[arg(long, value_name = "MIN..MAX", help_heading = "Matrix")]
    pub(crate) blocks: Option<String>,
    /// After how long no block begins, such as 90, 90s or 2m [default: the profile's]
    #[arg(long, value_name = "TIME", help_heading = "Matrix")]
    pub(crate) budget: Option<String>,
    /// What the order of the samples comes from [default: the clock]
    #[arg(long, value_name = "N", help_heading = "Matrix")]
    pub(crate) seed: Option<u64>,
    /// Print what was found, or the failure, as one JSON object on standard output
    #[arg(long, help_heading = "Output")]
    pub(crate) json: bool,
    #[command(flatten)]
    pub(crate) shown: ShownArgs,
}

/// What `compare` takes.
#[cfg(feature = "bench")]
#[derive(Args)]
pub(crate) struct CompareArgs {
    /// The folder of the run that the other one is compared with
    #[arg(value_name = "RUN_A", value_hint = ValueHint::DirPath)]
    pub(crate) a: PathBuf,
    /// The folder of the other run
    #[arg(value_name = "RUN_B", value_hint = ValueHint::DirPath)]
    pub(crate) b: PathBuf,
    /// Exit with 1 if a cell of RUN_B is slower than RUN_A's by more than P per cent, or fails where RUN_A's does not
    #[arg(long, value_name = "P%", value_parser = percent)]
    pub(crate) fail_if_slower: Option<f64>,
    /// Compare runs of other machines, suites or data as well: under a banner, as only ratios mean anything
    #[arg(long)]
    pub(crate) force: bool,
    /// Print what was found, or the failure, as one JSON object on standard output
    #[arg(long)]
    pub(crate) json: bool,
}

/// `5%`, `2.5` or the like.
#[cfg(feature = "bench")]
fn percent(text: &str) -> Result<f64, String> {
    match text.strip_suffix('%').unwrap_or(text).trim().parse::<f64>() {
        Ok(percent) if (0.0..100.0).contains(&percent) => Ok(percent),
        _ => Err("write 0% to 99%, such as 5%".to_owned()),
    }
}
