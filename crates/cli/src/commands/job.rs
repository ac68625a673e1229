//! The steps of a job: what each prints is JSON for the next one.

use std::collections::BTreeMap;
use std::fs;
use std::io::{self, Read as _};
use std::path::{Path, PathBuf};
use std::str::FromStr;

use anyhow::Result;
use inrush::job::{Guarantee, Job, Options, State, Token};
use inrush::{Aftermath, Error, job as jobs};

use super::{eprint_text, print, print_all, stop_on_signals, unsaid};
use crate::args::{BeginArgs, JobCommand, PublishArgs, WriteArgs};
use crate::render::{self, ProgressMode};
use crate::{help, hints, settings};

/// Does a step; how many bad rows it knows of.
pub(crate) fn job(command: &JobCommand) -> Result<u64> {
    step(command).map_err(|error| match error.downcast::<Error>() {
        Ok(error) => error.readvised(|advice| advice_of(command.name(), advice)).into(),
        Err(error) => error,
    })
}

/// The advice of a load as a step can follow it: an option that the step lacks is begin's, or no job has it.
fn advice_of(step: &str, advice: &str) -> Option<String> {
    // What says itself where its options belong.
    if ["inrush ", "begin", "begun"].iter().any(|word| advice.contains(word)) {
        return Some(advice.to_owned());
    }
    let command = help::command();
    let has = |step: &str, option: &str| {
        let step = command.find_subcommand("job").and_then(|job| job.find_subcommand(step));
        step.is_some_and(|step| step.get_arguments().any(|arg| arg.get_long() == Some(option)))
    };
    let mut is_of_begin = false;
    for option in hints::options_in(advice).filter(|option| !has(step, option)) {
        if !has("begin", option) {
            return None;
        }
        is_of_begin = true;
    }
    let whose =
        if is_of_begin { ": an option of inrush job begin, for all of its rows" } else { "" };
    Some(format!("{advice}{whose}"))
}

fn step(command: &JobCommand) -> Result<u64> {
    let stop = stop_on_signals()?;
    let observer = |progress: &str, quiet| {
        render::Progress::new(ProgressMode::of(progress, quiet), stop, quiet)
    };
    match command {
        JobCommand::Begin(args) => begin(args, &observer("none", args.quiet)),
        JobCommand::Write(args) => write(args, &observer(&args.shown.progress, args.shown.quiet)),
        JobCommand::Publish(args) => publish(args, &observer("none", args.quiet)),
        JobCommand::Abort { job, quiet } => {
            let job: Job = read(job)?;
            let job = jobs::abort(&job, &observer("none", *quiet))?;
            let done = format!("job {} is ended", job.id);
            answer(&format!("{job}\n"), &done, REPORT, ONCE_MORE)?;
            if job.state == State::Committed {
                let what = format!("job {} is committed, and its rows stay", job.id);
                return Err(Error::target(what)
                    .advise("inrush job publish JOB gives its report again")
                    .into());
            }
            note_rows_left(&job, *quiet);
            Ok(0)
        }
        JobCommand::List { ledger, json } => {
            let observer = observer("none", ledger.quiet);
            let listed = jobs::list(&ledger.url, ledger.password.as_deref(), &observer)?;
            print(&if *json {
                serde_json::to_string(&listed)? + "\n"
            } else {
                render::jobs(&listed)
            })?;
            Ok(0)
        }
        JobCommand::Recover { ledger, id } => {
            let job = jobs::recover(
                &ledger.url,
                ledger.password.as_deref(),
                id,
                &observer("none", ledger.quiet),
            )?;
            let done = format!("job {id} is ended");
            answer(&format!("{job}\n"), &done, REPORT, ONCE_MORE)?;
            note_rows_left(&job, ledger.quiet);
            Ok(0)
        }
        JobCommand::Gc { ledger, older_than } => {
            let is_bare = older_than.bytes().all(|byte| byte.is_ascii_digit());
            let older_than = settings::time(older_than, "--older-than")?;
            // Who means days is not to have what a process has worked at a moment ago.
            if is_bare && !older_than.is_zero() {
                let seconds = older_than.as_secs();
                return Err(Error::usage(format!("--older-than {seconds}: the unit is missing"))
                    .advise(format!("--older-than {seconds}d for days, {seconds}h for hours; m is minutes, s seconds"))
                    .into());
            }
            let collected = jobs::gc(
                &ledger.url,
                ledger.password.as_deref(),
                older_than,
                &observer("none", ledger.quiet),
            )?;
            let text = serde_json::to_string(&collected)? + "\n";
            let done = "what jobs have left is dropped";
            answer(&text, done, REPORT, "inrush job list has what is left")?;
            Ok(0)
        }
    }
}

/// Prints what the next step takes. Where that fails the step is `done` all the same: what to do `then`.
fn answer(text: &str, done: &str, lost: &str, then: &str) -> inrush::Result<()> {
    print_all(text).map_err(|error| unsaid(error, done, lost).advise(then))
}

/// What is lost with the answer of a step that no other one goes on from.
const REPORT: &str = "the report";

/// What to do where the same step answers once more.
const ONCE_MORE: &str = "the same command once more has the same answer";

/// Says what others go on seeing of an aborted job.
fn note_rows_left(job: &Job, quiet: bool) {
    let text = match (job.state, job.guarantee, job.visible) {
        _ if quiet => return,
        (State::Aborted, _, Some(visible)) if visible.partitions > 0 => format!(
            "note: {} stay in the table; the job goes on behind them when it is begun again\n",
            render::visible(visible)
        ),
        (State::Aborted, Guarantee::None, _) => {
            "note: rows that its attempts have written stay in the table\n".to_owned()
        }
        _ => return,
    };
    eprint_text(&text);
}

fn begin(args: &BeginArgs, observer: &render::Progress) -> Result<u64> {
    let like = args.schema.as_ref().or(args.like.as_ref()).map_or("", String::as_str);
    if args.schema.is_some() && !has_types(Path::new(like))? {
        let error = Error::usage(format!(
            "{like} is neither a Parquet nor an Arrow file, and names no types"
        ));
        return Err(error
            .advise(format!("--like {like} takes the types that its values have"))
            .into());
    }
    let options = Options {
        id: args.job_id.clone(),
        connections: args.connections,
        attempts: args.attempts,
        password: args.password.clone(),
        guarantee: args.guarantee,
        ..Options::default()
    };
    let job = jobs::begin_like(&settings::job_request(args, like)?, &options, observer)?;
    answer(
        &format!("{job}\n"),
        &format!("job {} is begun", job.id),
        "its description",
        "begin another one: inrush job gc drops what the first one has made",
    )?;
    if args.quiet {
        return Ok(0);
    }
    if job.state == State::Committed {
        eprint_text(&format!(
            "note: job {} is committed already, and its rows are in the table: inrush job publish JOB gives its report again\n",
            job.id
        ));
    } else if let Some(visible) = job.visible.filter(|visible| visible.partitions > 0) {
        eprint_text(&format!(
            "note: {} are in the table already, and are not written again\n",
            render::visible(visible)
        ));
    }
    Ok(0)
}

fn write(args: &WriteArgs, observer: &render::Progress) -> Result<u64> {
    reads_once([args.job.as_path()].into_iter().chain(args.sources.iter().map(Path::new)))?;
    let job: Job = read(&args.job)?;
    let dialect = settings::dialect(&args.input)?;
    let read = settings::read(&args.input);
    let types = BTreeMap::new();
    let outcome =
        jobs::write_sources(&job, &args.sources, &dialect, &read, &types, args.partition, observer);
    observer.finish();
    let token = outcome?;
    answer(
        &format!("{token}\n"),
        "the rows are written",
        "their token",
        "write them once more: without their token the first ones are not published",
    )?;
    if let Some(partition) = token.partition.filter(|_| token.already_written && !args.shown.quiet)
    {
        eprint_text(&format!(
            "note: partition {partition} is in the table already: nothing is written\n"
        ));
    }
    Ok(token.rows_rejected())
}

fn publish(args: &PublishArgs, observer: &render::Progress) -> Result<u64> {
    reads_once([&args.job].into_iter().chain(&args.tokens).map(PathBuf::as_path))?;
    let job: Job = read(&args.job)?;
    let mut tokens = Vec::new();
    for path in &args.tokens {
        let lines = text(path)?;
        let lines = lines.lines().filter(|line| !line.trim().is_empty());
        let parsed = lines.map(Token::from_str).collect::<inrush::Result<Vec<_>>>();
        let parsed =
            parsed.map_err(|error| error.reworded(|text| format!("{}: {text}", path.display())))?;
        if parsed.is_empty() {
            let error = Error::usage(format!(
                "{} holds no token: the attempt that should have printed it has failed",
                path.display()
            ));
            return Err(error.advise("write those rows again, and publish then").into());
        }
        tokens.extend(parsed);
    }
    let published = match args.tokens.is_empty() {
        true => jobs::publish_again(&job, observer)?,
        false => jobs::publish(&job, &tokens, observer)?,
    };
    let done = format!("job {} is published", job.id);
    let rows = published.rows_loaded;
    answer(&format!("{published}\n"), &done, REPORT, ONCE_MORE)
        .map_err(|error| error.leaving(Aftermath::Committed { rows }))?;
    Ok(published.rows_rejected)
}

/// Refuses standard input for two things: the first takes all of it.
fn reads_once<'p>(mut paths: impl Iterator<Item = &'p Path>) -> Result<()> {
    let mut is_stdin = |path: &Path| path.as_os_str() == "-";
    match paths.any(&mut is_stdin) && paths.any(is_stdin) {
        false => Ok(()),
        true => Err(Error::usage("two of the arguments are '-', and standard input is read once")
            .advise("name a file for all but one of them")
            .into()),
    }
}

fn read<T: FromStr<Err = Error>>(path: &Path) -> Result<T> {
    let parsed = text(path)?.parse();
    Ok(parsed
        .map_err(|error: Error| error.reworded(|text| format!("{}: {text}", path.display())))?)
}

fn text(path: &Path) -> Result<String> {
    let mut text = String::new();
    let read = match path.as_os_str() == "-" {
        true => io::stdin().lock().read_to_string(&mut text).map(drop),
        false => fs::read_to_string(path).map(|found| text = found),
    };
    match read {
        Ok(()) => Ok(text),
        Err(error) => Err(Error::usage(format!("can't read {}: {error}", path.display())).into()),
    }
}

/// Whether the file's columns have types of their own: by what such files begin with.
fn has_types(path: &Path) -> Result<bool> {
    let mut head = Vec::new();
    let read = fs::File::open(path).and_then(|file| file.take(6).read_to_end(&mut head));
    read.map_err(|error| Error::usage(format!("can't read {}: {error}", path.display())))?;
    // An Arrow stream begins with the mark of a message.
    Ok(head.starts_with(b"PAR1") || head == *b"ARROW1" || head.starts_with(&[0xff; 4]))
}
