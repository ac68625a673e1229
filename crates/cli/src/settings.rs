//! From what was typed to what is asked of the library.

use std::collections::BTreeMap;
use std::io::{self, IsTerminal as _};
use std::path::{Path, PathBuf};
use std::time::Duration;

use inrush::plan::{ColumnRequest, DialectRequest, Guarantee, ReadRequest, Trim, TypeWord};
use inrush::target::parse_count;
use inrush::wording::shell_word;
use inrush::{Error, Kind, LoadOptions, RejectsTo, Request, without_secrets};

use crate::args::{BeginArgs, InputArgs, LoadArgs, TableArgs, WayArgs};
use crate::config;

type Result<T> = std::result::Result<T, Error>;

fn usage(what: String) -> Error {
    Error::new(Kind::Usage, what)
}

/// The request that the arguments of `command` make.
pub(crate) fn request(args: &LoadArgs, command: &str) -> Result<Request> {
    // Options may stand between them, so it is here that the last one turns out to be the target.
    match args.places.split_last() {
        Some((target, sources)) if !sources.is_empty() => made(args, target, sources),
        _ => {
            let place = without_secrets(&args.places.join(" "));
            let what = match place.is_empty() {
                true => {
                    "nothing is named: name one or more sources and, last, the target".to_owned()
                }
                false => {
                    format!(
                        "'{place}' stands alone: name one or more sources and, last, the target"
                    )
                }
            };
            // Whoever pipes rows into a load means them.
            if !io::stdin().is_terminal()
                && let [target] = args.places.as_slice()
                && let Ok((_, location)) = inrush::target::find(target)
            {
                let target = shell_word(&location.shown);
                return Err(usage(what).advise(format!(
                    "put - before it for standard input: inrush {command} - {target} --table NAME"
                )));
            }
            Err(usage(what).advise(format!("inrush {command} FILE.csv DATABASE.db")))
        }
    }
}

/// The same of a check, which need not have a target, and writes no bad rows in a dry run.
pub(crate) fn check_request(args: &LoadArgs) -> Result<Request> {
    let mut request = match args.places.split_last() {
        Some((target, sources)) if is_target_of_check(&args.places) => made(args, target, sources)?,
        _ => made(args, "", &args.places)?,
    };
    if args.dry_run {
        request.options.rejects = RejectsTo::Observer;
    }
    Ok(request)
}

/// Whether the last of several places is a check's target: if it can be one.
pub(crate) fn is_target_of_check(places: &[String]) -> bool {
    places.len() > 1 && places.last().is_some_and(|last| inrush::target::find(last).is_ok())
}

/// Refuses a word of `--trim` that stands where a place does, unless there is such a file.
fn refuse_stray_trim(args: &InputArgs, places: &[String]) -> Result<()> {
    let is_word = |place: &&String| ["unquoted", "all"].contains(&place.as_str());
    match places.iter().find(is_word) {
        Some(word) if args.trim.is_some() && !Path::new(word).exists() => {
            Err(usage(format!("--trim {word}: the word has to follow an equals sign"))
                .advise(format!("--trim={word}")))
        }
        _ => Ok(()),
    }
}

/// Refuses options that commit rows before the last one, where the user has said that a load which fails is to leave nothing.
fn refuse_two_guarantees(args: &LoadArgs) -> Result<()> {
    const ROWS_PER_TRANSACTION: &str = "rows_per_transaction";
    if args.guarantee != Some(Guarantee::Atomic) {
        return Ok(());
    }
    let knobs = common(&args.table, &args.way, &args.input)?.knobs;
    let rows = knobs.get(ROWS_PER_TRANSACTION).filter(|rows| *rows != "0");
    let (option, what) = match rows {
        _ if args.resume => ("--resume".to_owned(), "goes on behind steps that are committed"),
        Some(rows) => {
            (format!("--set {ROWS_PER_TRANSACTION}={rows}"), "commits rows before the last one")
        }
        None => return Ok(()),
    };
    Err(usage(format!("--guarantee atomic: {option} {what}"))
        .advise(format!("leave one of the two out: without {option} a load that fails leaves nothing, as far as the target can")))
}

fn made(args: &LoadArgs, target: &str, sources: &[String]) -> Result<Request> {
    refuse_stray_trim(&args.input, &args.places)?;
    refuse_two_guarantees(args)?;
    let chunk_bytes = args
        .chunk_size
        .as_deref()
        .map(|text| {
            parse_count(text)
                .and_then(|bytes| usize::try_from(bytes).ok())
                .ok_or_else(|| usage(format!("--chunk-size {text}: takes a size such as 256k")))
        })
        .transpose()?;
    Ok(Request {
        sources: sources.to_vec(),
        target: target.to_owned(),
        dialect: dialect(&args.input)?,
        options: LoadOptions {
            lanes: args.lanes,
            encoders: args.encoders,
            chunk_bytes,
            durability: args.durability,
            guarantee: args.guarantee.unwrap_or_default(),
            commit_rows: args.commit_rows,
            resume: args.resume,
            max_rejects: args.max_rejects,
            rejects: args.rejects.clone().map_or(RejectsTo::Beside, RejectsTo::File),
            verify: args.verify,
            libraries: config::libraries(args.duckdb_lib.as_ref()),
            profiles: profiles(args.profiles.as_deref()),
            ..common(&args.table, &args.way, &args.input)?
        },
        ..Request::default()
    })
}

/// The file of what was measured here; `none` is none.
pub(crate) fn profiles(named: Option<&Path>) -> Option<PathBuf> {
    match named {
        Some(path) if path.as_os_str() == "none" => None,
        Some(path) => Some(path.to_owned()),
        None => inrush::profile::default_path(),
    }
}

/// A span of time: a number of seconds, or one with a unit.
pub(crate) fn time(text: &str, option: &str) -> Result<Duration> {
    let digits = text.trim_end_matches(|c: char| c.is_ascii_alphabetic());
    let unit = match &text[digits.len()..] {
        "" | "s" => Some(1),
        "m" => Some(60),
        "h" => Some(3_600),
        "d" => Some(86_400),
        _ => None,
    };
    let seconds =
        digits.parse::<u64>().ok().zip(unit).and_then(|(number, unit)| number.checked_mul(unit));
    let wrong = || usage(format!("{option} {text}: takes a time such as 90s, 30m, 12h or 1d"));
    seconds.map(Duration::from_secs).ok_or_else(wrong)
}

/// A size in bytes.
#[cfg(feature = "bench")]
pub(crate) fn size(text: &str, option: &str) -> Result<u64> {
    let wrong = || usage(format!("{option} {text}: takes a size such as 200MB"));
    parse_count(text).filter(|bytes| *bytes > 0).ok_or_else(wrong)
}

/// The request that a job of these arguments begins with.
pub(crate) fn job_request(args: &BeginArgs, like: &str) -> Result<Request> {
    Ok(Request {
        sources: vec![like.to_owned()],
        target: args.url.clone(),
        dialect: dialect(&args.input)?,
        options: LoadOptions {
            max_rejects: args.max_rejects,
            durability: args.durability,
            verify: args.verify,
            ..common(&args.table, &args.way, &args.input)?
        },
        ..Request::default()
    })
}

/// What is said of the table, of its values, and of the way to write.
fn common(args: &TableArgs, way: &WayArgs, input: &InputArgs) -> Result<LoadOptions> {
    let mut types = BTreeMap::new();
    let mut read = read(input);
    let mut said: BTreeMap<String, TypeWord> = BTreeMap::new();
    for text in &args.types {
        // A name may have an equals sign of its own.
        let (column, ty) = pair(text.rsplit_once('='), &format!("--type {text}: takes COL=TYPE"))?;
        let word = ty.parse().map_err(usage)?;
        if said.insert(column.clone(), word).is_some_and(|other| other != word) {
            return Err(usage(format!("--type {text}: another --type says otherwise of {column}")));
        }
        match word {
            TypeWord::Type(ty) => drop(types.insert(column, ty)),
            TypeWord::Read(ty) => drop(read.types.insert(column, ty)),
        }
    }
    let mut knobs = BTreeMap::new();
    for text in &way.knobs {
        let (knob, value) = pair(text.split_once('='), &format!("--set {text}: takes KNOB=VALUE"))?;
        if knobs.insert(knob.clone(), value.clone()).is_some_and(|other| other != value) {
            return Err(usage(format!("--set {text}: another --set says otherwise of {knob}")));
        }
    }
    let columns = |text: &String| text.split(',').map(|name| name.trim().to_owned()).collect();
    Ok(LoadOptions {
        table: args.table.clone(),
        if_exists: args.if_exists,
        match_by: args.match_by,
        on_conflict: args.on_conflict,
        key: args.key.clone(),
        primary_key: args.primary_key.clone(),
        indexes: args.index.iter().map(columns).collect(),
        types,
        inference: args.inference,
        read,
        strategy: way.strategy.clone(),
        knobs,
        ..LoadOptions::default()
    })
}

/// How values are read, as far as the arguments of the input say.
pub(crate) fn read(args: &InputArgs) -> ReadRequest {
    ReadRequest {
        nulls: args.null.clone(),
        decimals: args.decimal.clone(),
        thousands: args.thousands.clone(),
        date_formats: args.date_format.clone(),
        timestamp_formats: args.timestamp_format.clone(),
        truths: args.truths.clone(),
        falses: args.falses.clone(),
        time_zones: args.time_zone.clone(),
        trim: match args.trim.as_deref() {
            None => Trim::No,
            Some("all") => Trim::All,
            Some(_) => Trim::Unquoted,
        },
        types: BTreeMap::new(),
        columns: ColumnRequest {
            chosen: args.columns.clone(),
            dropped: args.drop.clone(),
            renamed: args.rename.clone(),
            added: args.add.clone(),
            added_types: BTreeMap::new(),
            required: args.not_null.clone(),
            case: args.case,
            new: args.new_columns,
            missing: args.missing_columns,
        },
    }
}

/// How the input is written, as far as the arguments say.
pub(crate) fn dialect(args: &InputArgs) -> Result<DialectRequest> {
    let maybe =
        |text: &Option<String>, option| text.as_deref().map(|text| byte(text, option)).transpose();
    let or_none = |text: &Option<String>, option| {
        text.as_deref()
            .map(|text| if text == "none" { Ok(None) } else { byte(text, option).map(Some) })
            .transpose()
    };
    Ok(DialectRequest {
        format: args.format,
        flatten: args.flatten,
        delimiter: maybe(&args.delimiter, "--delimiter")?,
        quote: or_none(&args.quote, "--quote")?,
        escape: or_none(&args.escape, "--escape")?,
        escape_is_guess: false,
        blanks: false,
        empty: args.empty,
        header: match args.header.as_str() {
            "yes" => Some(true),
            "no" => Some(false),
            _ => None,
        },
        encoding: args.encoding.clone(),
        skip_lines: args.skip_lines,
        comment: maybe(&args.comment, "--comment")?,
        expand_max: match args.max_expand.as_deref() {
            Some(text) => {
                Some(parse_count(text).ok_or_else(|| {
                    usage(format!("--max-expand {text}: takes a size such as 20G"))
                })?)
            }
            None => None,
        },
    })
}

/// One byte, by itself or by name.
fn byte(text: &str, option: &str) -> Result<u8> {
    inrush::plan::character(text).ok_or_else(|| {
        let error = usage(format!("{option} '{text}': takes one ASCII character"));
        match text.starts_with('\\') {
            true => error.advise("most shells write a control character as $'\\x01'"),
            false if option == "--delimiter" && !text.is_empty() => {
                let escaped = |c: char| match "/.*[^$\\".contains(c) {
                    true => format!("\\{c}"),
                    false => c.to_string(),
                };
                let all: String = text.chars().map(escaped).collect();
                // Of bash and others; in it a backslash and an apostrophe have one more before them.
                let all = all.replace('\\', r"\\").replace('\'', r"\'");
                error.advise(format!(
                    "make one character of it first, if no value holds it: sed $'s/{all}/\\x1f/g' FILE | inrush load - TARGET --delimiter $'\\x1f'"
                ))
            }
            false => error,
        }
    })
}

/// The two sides of an equals sign; `otherwise` is what is wrong without them.
fn pair(sides: Option<(&str, &str)>, otherwise: &str) -> Result<(String, String)> {
    match sides {
        Some((name, value)) if !name.is_empty() => {
            Ok((name.trim().to_owned(), value.trim().to_owned()))
        }
        _ => Err(usage(otherwise.to_owned())),
    }
}
