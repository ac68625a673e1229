//! The arguments of `inrush job`.

use std::path::PathBuf;

use clap::{ArgGroup, Args, Subcommand, ValueHint};

use super::{InputArgs, ShownArgs, TableArgs, WayArgs};

pub(super) const EXAMPLES: &str = "\
Examples:
  inrush job begin postgres://app@db/shop --table orders --like part-0.csv > job.json
  inrush job write job.json part-0.csv > token-0.json         on any machine, any number of times
  inrush job write job.json part-1.csv > token-1.json
  inrush job publish job.json token-*.json                    now the rows can be seen, all at once
  inrush job list postgres://app@db/shop
  inrush job gc postgres://app@db/shop

Jobs are for PostgreSQL, MySQL, MariaDB and MongoDB. What begin, write and publish print is JSON for the next step; it holds no password: \
--password says where each step finds it.

Exit codes: 0 done; 3 done, with bad rows rejected; 1 failed; 2 usage; 130 interrupted.";

/// The steps of a job.
#[derive(Subcommand)]
pub(crate) enum JobCommand {
    /// Begin a job; prints it as JSON
    Begin(Box<BeginArgs>),
    /// Write rows of files for a job, all of them or none; prints a token as JSON
    #[command(override_usage = "inrush job write [OPTIONS] JOB SOURCE...")]
    Write(Box<WriteArgs>),
    /// Let others see the rows that the tokens name, all at once; prints what was done as JSON
    Publish(PublishArgs),
    /// End a job that is not to be published, and drop what it has written and others don't see; prints it as JSON. One that is committed
    /// stays so, which is an error
    Abort {
        /// The file that begin has printed into, '-' for standard input
        #[arg(value_hint = ValueHint::FilePath)]
        job: PathBuf,
        /// Say nothing but errors
        #[arg(short, long)]
        quiet: bool,
    },
    /// List the jobs of a database
    List {
        #[command(flatten)]
        ledger: LedgerArgs,
        /// Print them as JSON
        #[arg(long)]
        json: bool,
    },
    /// Bring a job to its end whose processes are gone: publish it where that had begun, else abort it; prints it as JSON
    Recover {
        #[command(flatten)]
        ledger: LedgerArgs,
        /// The job's name
        id: String,
    },
    /// Drop what jobs have left that are over, and end those that no process works at any more; prints as JSON what was dropped, and how
    /// each of these has ended
    Gc {
        #[command(flatten)]
        ledger: LedgerArgs,
        /// How long no process has worked at it: 90s, 30m, 12h or 1d; 0 for all that hold no lock
        #[arg(long, value_name = "TIME", default_value = "1d")]
        older_than: String,
    },
}

impl JobCommand {
    /// The step's name.
    pub(crate) fn name(&self) -> &'static str {
        match self {
            JobCommand::Begin(_) => "begin",
            JobCommand::Write(_) => "write",
            JobCommand::Publish(_) => "publish",
            JobCommand::Abort { .. } => "abort",
            JobCommand::List { .. } => "list",
            JobCommand::Recover { .. } => "recover",
            JobCommand::Gc { .. } => "gc",
        }
    }
}

/// A database with jobs.
#[derive(Args)]
pub(crate) struct LedgerArgs {
    /// The database, without a password
    pub(crate) url: String,
    /// Where the password is: env:NAME or file:PATH
    #[arg(long, value_name = "REF")]
    pub(crate) password: Option<String>,
    /// Say nothing but errors
    #[arg(short, long)]
    pub(crate) quiet: bool,
}

/// What `begin` takes.
#[derive(Args)]
#[command(group = ArgGroup::new("rows").args(["schema", "like"]).required(true))]
pub(crate) struct BeginArgs {
    /// The database, without a password
    pub(crate) url: String,
    /// A file whose columns the job's rows have, and have to be of those types: Parquet or Arrow, which may be without rows
    #[arg(long, value_name = "FILE", value_hint = ValueHint::FilePath)]
    pub(crate) schema: Option<String>,
    /// A file like those that will be written; none of its rows is
    #[arg(long, value_name = "SOURCE", value_hint = ValueHint::FilePath)]
    pub(crate) like: Option<String>,
    /// What the job is called: once it is committed, it does nothing a second time [default: made up]
    #[arg(long, value_name = "ID")]
    pub(crate) job_id: Option<String>,
    /// Attempts that write at the same time, over all machines
    #[arg(long, value_name = "N", default_value_t = 8)]
    pub(crate) connections: u32,
    /// Tokens that publish wants, no more and no fewer [default: as many as come]
    #[arg(long, value_name = "N")]
    pub(crate) attempts: Option<u32>,
    /// Where every machine finds the password: env:NAME or file:PATH
    #[arg(long, value_name = "REF")]
    pub(crate) password: Option<String>,
    /// What others see before publish: nothing (atomic), each partition once it is written, and once (per_partition), or whatever attempts
    /// write, also twice (none)
    #[arg(
        long,
        value_name = "atomic|per_partition|none",
        default_value = "atomic",
        hide_default_value = true,
        help_heading = "Promises"
    )]
    pub(crate) guarantee: inrush::job::Guarantee,
    #[command(flatten)]
    pub(crate) table: TableArgs,
    #[command(flatten)]
    pub(crate) input: InputArgs,
    #[command(flatten)]
    pub(crate) way: WayArgs,
    /// Bad rows of the whole job to reject before giving up: a number, a share, or all
    #[arg(
        long,
        value_name = "N|P%|all",
        default_value = "0",
        hide_default_value = true,
        help_heading = "Promises"
    )]
    pub(crate) max_rejects: inrush::plan::RejectLimit,
    /// What the job's rows survive once they are published: a power failure, a crash of the process, or nothing
    #[arg(
        long,
        value_name = "durable|process|none",
        default_value = "durable",
        hide_default_value = true,
        help_heading = "Promises"
    )]
    pub(crate) durability: inrush::plan::Durability,
    /// Compare each attempt's table with what was sent: by its count of rows, by a sum over every column, or not
    #[arg(
        long,
        value_name = "count|checksum|none",
        default_value = "count",
        hide_default_value = true,
        help_heading = "Promises"
    )]
    pub(crate) verify: inrush::plan::Verify,
    /// Say nothing but errors
    #[arg(short, long)]
    pub(crate) quiet: bool,
}

/// What `write` takes.
#[derive(Args)]
pub(crate) struct WriteArgs {
    /// The file that begin has printed into
    #[arg(value_hint = ValueHint::FilePath)]
    pub(crate) job: PathBuf,
    /// Files or patterns to write, '-' for standard input
    #[arg(value_name = "SOURCE", num_args = 1.., required = true, value_hint = ValueHint::FilePath)]
    pub(crate) sources: Vec<String>,
    /// Which part of the job's rows these are, from 0: publish sees to it then that each part is there once. Wanted with --guarantee
    /// per_partition
    #[arg(long, value_name = "N")]
    pub(crate) partition: Option<u32>,
    #[command(flatten)]
    pub(crate) input: InputArgs,
    #[command(flatten)]
    pub(crate) shown: ShownArgs,
}

/// What `publish` takes.
#[derive(Args)]
pub(crate) struct PublishArgs {
    /// The file that begin has printed into
    #[arg(value_hint = ValueHint::FilePath)]
    pub(crate) job: PathBuf,
    /// Files that write has printed into; of a job that is committed already none is needed
    #[arg(value_name = "TOKEN_FILE", value_hint = ValueHint::FilePath)]
    pub(crate) tokens: Vec<PathBuf>,
    /// Say nothing but errors
    #[arg(short, long)]
    pub(crate) quiet: bool,
}
