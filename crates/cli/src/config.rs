//! Options that are not on the command line: those of a file (`--config`), and of the environment (`INRUSH_...`).
//!
//! ```text
//! words as typed + file + environment -> words as if all had been typed -> args
//! ```
//!
//! What is typed stands above the file, the file above the environment; a list that is given higher up replaces the lower one. No option
//! is known here by its name: what the command takes, the file and the environment take as well. `INRUSH_CONFIG` names the file where no
//! `--config` does.

use std::borrow::Cow;
use std::collections::{BTreeMap, BTreeSet};
use std::env::{self, VarError};
use std::ffi::OsString;
use std::fs;
use std::path::{Path, PathBuf};

use clap::error::ErrorKind;
use clap::parser::ValueSource;
use clap::{Arg, ArgAction, ArgMatches, Command};
use inrush::{Error, Kind, without_secrets};
use serde::Serialize;
use toml::Spanned;
use toml::de::{DeTable, DeValue};

use crate::hints;
use crate::render;
use crate::settings::is_target_of_check;

type Result<T> = std::result::Result<T, Error>;

/// Commands that load, or would.
pub(crate) const COMMANDS: [&str; 4] = ["load", "plan", "check", "tune"];

/// Options that say where options are, what to print of them, or what to do instead of the command's work.
const OWN: [&str; 6] = ["config", "as-config", "list", "export", "forget", "help"];

/// An option that is left out of the file and the environment where the other one stands above it, with this value if one is named,
/// although both may be typed: to no effect, or to be refused.
const STANDS_ABOVE: [(&str, &str, Option<&str>); 4] = [
    ("progress", "quiet", None),
    ("commit-rows", "guarantee", Some("atomic")),
    ("resume", "guarantee", Some("atomic")),
    ("key", "on-conflict", Some("fail")),
];

/// Keys of a file that are no options, besides tables of columns.
const PLACES: [&str; 2] = ["source", "target"];

/// What the library looks up by itself, and only where it is needed.
pub(crate) const OF_LIBRARY: &str = "INRUSH_DUCKDB_LIB";

/// Where options come from that are typed.
pub(crate) const COMMAND_LINE: &str = "command line";

/// The file of settings, where none is typed.
const CONFIG: &str = "INRUSH_CONFIG";

/// Variables that are no options of a load.
const OF_OTHERS: [&str; 4] = [OF_LIBRARY, CONFIG, "INRUSH_PASSWORD", "INRUSH_MSSQL_TOKEN"];

/// The libraries that the user names, by the target that is to open them: what `--duckdb-lib` says.
pub(crate) fn libraries(duckdb: Option<&PathBuf>) -> BTreeMap<String, PathBuf> {
    duckdb.map(|path| ("duckdb".to_owned(), path.clone())).into_iter().collect()
}

/// What `[columns.NAME]` takes, and the option that says the same. A `format` is one of dates, or of timestamps.
const OF_COLUMN: [(&str, &str); 9] = [
    ("type", "type"),
    ("format", "date-format"),
    ("null", "null"),
    ("rename", "rename"),
    ("decimal", "decimal"),
    ("thousands", "thousands"),
    ("true", "true"),
    ("false", "false"),
    ("time-zone", "time-zone"),
];

/// Letters of a format that are of a time of day.
const OF_TIME: [&str; 9] = ["%H", "%I", "%M", "%S", "%T", "%p", "%f", "%s", "%z"];

/// An option that was given, and where.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub(crate) struct Given {
    /// The option, with its dashes.
    pub(crate) option: String,
    /// Its values; none of one that takes none.
    pub(crate) values: Vec<String>,
    /// [`COMMAND_LINE`], the file's name, or the variable's.
    pub(crate) from: String,
}

/// The words of a command, and where those come from that nobody typed.
#[derive(Debug)]
pub(crate) struct Words {
    pub(crate) words: Vec<OsString>,
    /// The options that were given, in the order in which help has them.
    pub(crate) given: Vec<Given>,
    /// Whether standard output is for a program, also where the rest of the command line makes no sense.
    pub(crate) json: bool,
}

/// Whether `--json` is typed, or the file or a variable says it where they may. Whatever else is wrong with the words or the file.
pub(crate) fn wants_json(words: &[OsString]) -> bool {
    let name = words.get(1).and_then(|word| word.to_str()).unwrap_or_default();
    let said = || env::var("INRUSH_JSON").ok().and_then(|value| switch(&value));
    has_json(words) || COMMANDS.contains(&name) && file_says_json(words).or_else(said) == Some(true)
}

/// What the file of settings says of `json`.
fn file_says_json(words: &[OsString]) -> Option<bool> {
    const OPTION: &str = "--config";
    let words: Vec<&OsString> = words.iter().take_while(|word| *word != "--").collect();
    let mut typed = words.iter().enumerate().filter_map(|(at, word)| match word.to_str() {
        Some(OPTION) => words.get(at + 1).map(PathBuf::from),
        Some(word) => Some(PathBuf::from(word.strip_prefix(OPTION)?.strip_prefix('=')?)),
        None => None,
    });
    let path = typed.next().or_else(named_file)?;
    // A pipe can be read only once.
    let is_file = fs::metadata(&path).is_ok_and(|found| found.is_file());
    let text = is_file.then(|| fs::read_to_string(path).ok()).flatten()?;
    let (table, _) = DeTable::parse_recoverable(&text);
    match table.get_ref().get("json")?.get_ref() {
        DeValue::Boolean(said) => Some(*said),
        _ => None,
    }
}

/// The file that a variable names.
fn named_file() -> Option<PathBuf> {
    env::var_os(CONFIG).filter(|name| !name.is_empty()).map(PathBuf::from)
}

fn has_json(words: &[OsString]) -> bool {
    words.iter().take_while(|word| *word != "--").any(|word| word == "--json")
}

/// The words as typed, with what the file and the environment say. `command` is the whole command line.
///
/// # Errors
/// When the file can't be read, or says what is no option; or when a variable says what its option does not take.
pub(crate) fn complete(command: &Command, words: Vec<OsString>) -> Result<Words> {
    let name = words.get(1).map(|word| word.to_string_lossy().into_owned()).unwrap_or_default();
    let as_typed = |words: Vec<OsString>| {
        let json = wants_json(&words);
        Ok(Words { words, given: Vec::new(), json })
    };
    if !COMMANDS.contains(&name.as_str()) || command.find_subcommand(&name).is_none() {
        return as_typed(words);
    }
    // The places may be in the file.
    let mut lenient = command
        .clone()
        .mut_subcommand(&name, |sub| sub.mut_arg("places", |places| places.required(false)));
    // What is wrong with them is said when they are taken as they are.
    let Ok(matches) = lenient.try_get_matches_from_mut(&words) else {
        return as_typed(words);
    };
    let (Some((_, typed)), Some(sub)) = (matches.subcommand(), lenient.find_subcommand(&name))
    else {
        return as_typed(words);
    };
    refuse_slips(sub)?;
    let file = match typed.get_one::<PathBuf>("config").cloned().or_else(named_file) {
        Some(path) => {
            inrush::path::expect_expanded(&inrush::path::text(&path))?;
            File::read(&path, sub)?
        }
        None => File::default(),
    };
    let said = |arg: &Arg| is_typed(typed, arg).then(|| raw(typed, arg));
    let in_file = |arg: &Arg| {
        let values = file.options.get(long(arg))?;
        (!is_ruled_out(sub, arg, &said)).then(|| values.clone())
    };
    let mut given = Vec::new();
    let mut layered = Vec::new();
    for arg in sub.get_arguments().filter(|arg| is_layered(arg)) {
        let found = match file.options.get(long(arg)) {
            _ if is_typed(typed, arg) => Some((raw(typed, arg), COMMAND_LINE.to_owned())),
            Some(_) if is_ruled_out(sub, arg, &said) => None,
            Some(values) => Some((values.clone(), file.name.clone())),
            None if !has_variable(arg) || file.off.contains(long(arg)) => None,
            None if is_ruled_out(sub, arg, &said) || is_ruled_out(sub, arg, &in_file) => None,
            None => variable(arg)?,
        };
        let Some((values, from)) = found else { continue };
        if !is_typed(typed, arg) {
            layered.push((words_of(arg, &values), from.clone()));
        }
        // How the answer looks is no matter of the plan.
        if arg.get_help_heading() != Some("Output") {
            given.push(Given { option: format!("--{}", long(arg)), values, from });
        }
    }
    refuse_values(&lenient, &name, &layered)?;
    let places = typed.get_many::<String>("places").map_or(0, |places| places.len());
    let takes_places =
        sub.get_arguments().any(|arg| arg.get_id() == "places" && !is_ruled_out(sub, arg, &said));
    let (sources, target) = match places {
        _ if !takes_places => (Vec::new(), None),
        // The last of them would be the target.
        0 if file.target.is_none() && is_target_wanted(&name, &file.sources) => {
            return Err(Error::usage(format!("{} names a source, and no target", file.name))
                .advise(
                    "name the target in it (target = \"DATABASE.db\"), or behind the command",
                ));
        }
        0 => (file.sources, file.target),
        // It stands for whichever of the two the file does not have, or else for the source.
        1 if file.target.is_none() => (file.sources, None),
        1 => (Vec::new(), file.target),
        _ => (Vec::new(), None),
    };
    let mut all = words;
    let options = layered.into_iter().flat_map(|(words, _)| words);
    let before = options.chain(sources).map(OsString::from);
    all.splice(2..2, before);
    all.extend(target.map(OsString::from));
    let json = has_json(&all);
    Ok(Words { words: all, given, json })
}

/// Whether these sources of a file need a target beside them; a check does where the last one can be taken for it.
fn is_target_wanted(command: &str, sources: &[String]) -> bool {
    !sources.is_empty() && (command != "check" || is_target_of_check(sources))
}

/// The options that were given as a file of settings.
pub(crate) fn as_file(given: &[Given], places: &[String]) -> String {
    // Control characters are written out when this is printed, which only a string as JSON has them takes for what they were.
    let text = |text: &str| match render::legible(text) {
        Cow::Borrowed(text) => toml::Value::String(text.to_owned()).to_string(),
        Cow::Owned(_) => serde_json::Value::from(text).to_string(),
    };
    let list = |texts: &[String]| {
        let texts: Vec<String> = texts.iter().map(|one| text(one)).collect();
        if let [one] = texts.as_slice() { one.clone() } else { format!("[{}]", texts.join(", ")) }
    };
    let mut out = String::new();
    let place = |out: &mut String, key: &str, places: &[String]| {
        let shown: Vec<String> = places.iter().map(|place| without_password(place)).collect();
        if shown != places {
            *out += "# without its password\n";
        }
        *out += &format!("{key} = {}\n", list(&shown));
    };
    // Without its query an address may be of other rows, and with some of the sources left out there would be fewer.
    let source = |out: &mut String, places: &[String]| {
        if places.iter().all(|place| inrush::source::query_of(place).is_none()) {
            return place(out, "source", places);
        }
        *out += "# no source: the query of a web address may hold a secret, so name this on the command line:\n";
        for place in places {
            *out += &format!("#   {}\n", inrush::source::shown(place));
        }
    };
    match places.split_last() {
        Some((target, sources)) if !sources.is_empty() => {
            source(&mut out, sources);
            place(&mut out, "target", std::slice::from_ref(target));
        }
        _ if !places.is_empty() => source(&mut out, places),
        _ => {}
    }
    for Given { option, values, .. } in given {
        let key = option.trim_start_matches('-');
        let value = if values.is_empty() { "true".to_owned() } else { list(values) };
        out += &format!("{key} = {value}\n");
    }
    out
}

/// Schemes of stores, whose URLs hold no password, and any character in the names of objects.
const STORES: [&str; 3] = ["s3", "gs", "az"];

/// Schemes of web servers.
const WEB: [&str; 2] = ["http", "https"];

/// Schemes of servers: what follows may be a login, however it is written.
const SERVERS: [&str; 8] =
    ["postgres", "postgresql", "mysql", "mariadb", "mssql", "sqlserver", "mongodb", "mongodb+srv"];

/// A place, or any other word, as it was typed, but for a password: that of a login, of a parameter, or whatever the query of a web address
/// is. A URL whose login can't be told from what follows is shown as in messages, and so is what else may hold a password.
pub(crate) fn without_password(place: &str) -> String {
    let shown = match place.split_once("://") {
        Some((scheme, _)) if is_one_of(scheme, &STORES) => return place.to_owned(),
        // Of several in one word the end of the first can't be told.
        Some((scheme, rest)) if !is_one_of(scheme, &WEB) && rest.contains("://") => {
            return without_secrets(place);
        }
        Some((scheme, rest)) => url_without_password(place, scheme, rest),
        None => place.to_owned(),
    };
    let is_login = || {
        let parts = place.split_once(':');
        parts.is_some_and(|(scheme, rest)| is_one_of(scheme, &SERVERS) && rest.contains('@'))
    };
    let lower = shown.to_ascii_lowercase();
    let names_one = ["password=", "passwd=", "pwd="].iter().any(|name| lower.contains(name));
    match names_one || !place.contains("://") && is_login() {
        true => without_secrets(place),
        false => shown,
    }
}

/// The same of any word of a command line; of a web address the query is left out as well.
pub(crate) fn shown(word: &str) -> String {
    match inrush::source::shown(word) {
        same if same == word => without_password(word),
        shown => shown,
    }
}

/// Words that hold a password, and how they are shown. A place may be typed where a name, a command or an option's value belongs, and is
/// repeated by what refuses it there, in whoever's words.
pub(crate) struct Secrets(Vec<(String, String)>);

impl Secrets {
    /// Those of a command line, and of the variables that stand for options.
    pub(crate) fn of<'w>(words: impl IntoIterator<Item = &'w str>) -> Self {
        let mut secrets = Self(Vec::new());
        let variables = env::vars_os().filter_map(|(name, value)| {
            name.to_str()?.starts_with("INRUSH_").then(|| value.into_string().ok())?
        });
        variables.for_each(|value| secrets.add(&value));
        words.into_iter().for_each(|word| secrets.add(word));
        secrets
    }

    fn add(&mut self, word: &str) {
        // An option's value may be repeated without the option.
        let value = word.strip_prefix('-').and_then(|option| Some(option.split_once('=')?.1));
        for word in [Some(word), value].into_iter().flatten() {
            let shown = shown(word);
            if shown != word {
                self.0.push((word.to_owned(), shown));
            }
        }
    }

    /// A text that repeats none of them.
    pub(crate) fn hidden_in(&self, text: &str) -> String {
        self.0.iter().fold(text.to_owned(), |text, (word, shown)| text.replace(word, shown))
    }
}

fn is_one_of(scheme: &str, schemes: &[&str]) -> bool {
    schemes.iter().any(|one| one.eq_ignore_ascii_case(scheme))
}

fn url_without_password(place: &str, scheme: &str, rest: &str) -> String {
    let (authority, behind) = rest.split_at(rest.find(['/', '?', '#']).unwrap_or(rest.len()));
    if behind.contains('@') && authority.contains(['@', ':']) {
        return without_secrets(place);
    }
    let authority = match authority.rsplit_once('@') {
        Some((login, host)) => match login.split(':').next().unwrap_or_default() {
            "" => host.to_owned(),
            user => format!("{user}@{host}"),
        },
        None => authority.to_owned(),
    };
    if is_one_of(scheme, &WEB) {
        // Another `?` is a character of a pattern.
        let query =
            inrush::source::query_of(place).map_or_else(String::new, |query| format!("?{query}"));
        return format!("{scheme}://{authority}{}", behind.replacen(&query, "", 1));
    }
    let (path, query) = match behind.split_once('?') {
        Some((path, query)) => (path, query),
        None => (behind, ""),
    };
    let is_shown = |parameter: &&str| {
        let name = parameter.split('=').next().unwrap_or_default().to_ascii_lowercase();
        !["pass", "pwd", "token", "secret"].iter().any(|word| name.contains(word))
    };
    let query: Vec<&str> =
        query.split('&').filter(|parameter| !parameter.is_empty()).filter(is_shown).collect();
    let query = if query.is_empty() { String::new() } else { format!("?{}", query.join("&")) };
    format!("{scheme}://{authority}{path}{query}")
}

/// What is wrong with options, and where those of them come from that were not typed.
pub(crate) fn with_origins(error: Error, given: &[Given]) -> Error {
    if error.kind() != Kind::Usage {
        return error;
    }
    let text = error.what().to_owned();
    let is_named = |given: &&Given| {
        let mut words = text.split(|c: char| !(c.is_ascii_alphanumeric() || c == '-'));
        given.from != COMMAND_LINE && words.any(|word| word == given.option)
    };
    given.iter().filter(is_named).fold(error, |error, Given { option, from, .. }| {
        error.advise(format!("{option} was not typed: it is from {from}"))
    })
}

/// Options and where they come from, for people; nothing where all were typed.
pub(crate) fn origins(given: &[Given]) -> String {
    if given.iter().all(|given| given.from == COMMAND_LINE) {
        return String::new();
    }
    let shown = |given: &Given| {
        let words: Vec<String> =
            [&given.option].into_iter().chain(&given.values).cloned().collect();
        format!("  {} ({})\n", words.join(" "), given.from)
    };
    "options\n".to_owned() + &given.iter().map(shown).collect::<String>()
}

fn long(arg: &Arg) -> &str {
    arg.get_long().unwrap_or_default()
}

/// Whether a file or a variable may say it.
fn is_layered(arg: &Arg) -> bool {
    arg.get_long().is_some_and(|long| !OWN.contains(&long))
}

fn is_flag(arg: &Arg) -> bool {
    !arg.get_action().takes_values()
}

fn is_typed(matches: &ArgMatches, arg: &Arg) -> bool {
    matches.value_source(arg.get_id().as_str()) == Some(ValueSource::CommandLine)
}

/// Whether it goes against what is said above it: `above` has the values of what is.
fn is_ruled_out(sub: &Command, arg: &Arg, above: &dyn Fn(&Arg) -> Option<Vec<String>>) -> bool {
    let conflicts = |one: &Arg, other: &Arg| {
        sub.get_arg_conflicts_with(one).iter().any(|against| against.get_id() == other.get_id())
    };
    let stands_above = |other: &Arg, said: &[String]| {
        STANDS_ABOVE.iter().any(|(lower, upper, value)| {
            (*lower, *upper) == (long(arg), long(other))
                && value.is_none_or(|value| said == [value])
        })
    };
    sub.get_arguments().any(|other| {
        above(other).is_some_and(|said| {
            conflicts(arg, other) || conflicts(other, arg) || stands_above(other, &said)
        })
    })
}

/// The values as they were typed.
fn raw(matches: &ArgMatches, arg: &Arg) -> Vec<String> {
    if is_flag(arg) {
        return Vec::new();
    }
    let values = matches.get_raw(arg.get_id().as_str()).into_iter().flatten();
    values.map(|value| value.to_string_lossy().into_owned()).collect()
}

/// The option as it would be typed.
fn words_of(arg: &Arg, values: &[String]) -> Vec<String> {
    let long = long(arg);
    let may_stand_alone = arg.get_num_args().is_some_and(|range| range.min_values() == 0);
    if is_flag(arg) {
        return vec![format!("--{long}")];
    }
    match arg.get_value_delimiter() {
        Some(_) if values.is_empty() => Vec::new(),
        Some(_) => vec![format!("--{long}={}", values.join(","))],
        None => {
            let word = |value: &String| match value.as_str() {
                "true" if may_stand_alone => format!("--{long}"),
                value => format!("--{long}={value}"),
            };
            values.iter().map(word).collect()
        }
    }
}

/// Refuses values that their option does not take, and options that do not go together, and says where they stand: whoever typed the
/// command can't see it there. `layered` are words of options, and what each comes from.
fn refuse_values(command: &Command, name: &str, layered: &[(Vec<String>, String)]) -> Result<()> {
    let refusal = |options: &[(Vec<String>, String)]| {
        let words = options.iter().flat_map(|(words, _)| words).map(String::as_str);
        let words = ["inrush", name].into_iter().chain(words);
        let error = command.clone().try_get_matches_from(words).err()?;
        // What else is wrong is said when all options are taken together.
        let is_theirs = matches!(
            error.kind(),
            ErrorKind::InvalidValue | ErrorKind::ValueValidation | ErrorKind::ArgumentConflict
        );
        is_theirs.then(|| error.to_string())
    };
    if layered.is_empty() || refusal(layered).is_none() {
        return Ok(());
    }
    let singles = layered.iter().map(|option| vec![option.clone()]);
    let pairs = (1..layered.len()).flat_map(|at| {
        layered[..at].iter().map(move |other| vec![other.clone(), layered[at].clone()])
    });
    for options in singles.chain(pairs) {
        if let Some(text) = refusal(&options) {
            let what = text.lines().next().unwrap_or_default();
            let what = what.strip_prefix("error: ").unwrap_or(what);
            let words = options.iter().flat_map(|(words, _)| words).map(String::as_str);
            let what = Secrets::of(words).hidden_in(what);
            let mut from: Vec<&str> = options.iter().map(|(_, from)| from.as_str()).collect();
            from.dedup();
            return Err(Error::usage(format!("{}: {what}", from.join(", "))));
        }
    }
    Ok(())
}

/// The variable of an option.
fn variable_of(arg: &Arg) -> String {
    format!("INRUSH_{}", long(arg).to_ascii_uppercase().replace('-', "_"))
}

/// Letters of an option that another word is hardly like: `INRUSH_BASE` is not meant for `INRUSH_CASE`.
const SLIP_LETTERS_MIN: usize = 5;

/// Refuses variables whose names are nearly those of options: what they say would be left out without a word. Any others are another
/// program's.
fn refuse_slips(sub: &Command) -> Result<()> {
    let names = env::vars_os().filter_map(|(name, _)| name.into_string().ok());
    let is_other = |name: &String| OF_OTHERS.contains(&name.as_str());
    let names: Vec<String> =
        names.filter(|name| name.starts_with("INRUSH_") && !is_other(name)).collect();
    if names.is_empty() {
        return Ok(());
    }
    let options: Vec<String> =
        sub.get_arguments().filter(|arg| is_layered(arg)).map(variable_of).collect();
    for name in names.into_iter().filter(|name| !options.contains(name)) {
        let is_long = |option: &&String| option.len() - "INRUSH_".len() >= SLIP_LETTERS_MIN;
        if let Some(option) = options.iter().filter(is_long).find(|option| is_slip(&name, option)) {
            return Err(Error::usage(format!("{name} is no variable of an option"))
                .advise(format!("write {option}, or unset {name}")));
        }
    }
    Ok(())
}

/// Whether a name is another one but for a letter that is missing, too many, another one, or in its neighbour's place.
fn is_slip(name: &str, other: &str) -> bool {
    let (name, other) = (name.as_bytes(), other.as_bytes());
    let alike = name.iter().zip(other).take_while(|(a, b)| a == b).count();
    let (name, other) = (&name[alike..], &other[alike..]);
    match (name, other) {
        ([a, b, name @ ..], [c, d, other @ ..]) if (a, b) == (d, c) && name == other => true,
        ([_, name @ ..], [_, other @ ..]) if name == other => true,
        (name, [_, other @ ..]) if name == other => true,
        ([_, name @ ..], other) => name == other,
        _ => false,
    }
}

/// What a variable says of an option that takes no value; `None` where that makes no sense.
fn switch(value: &str) -> Option<bool> {
    match value.to_ascii_lowercase().as_str() {
        "1" | "true" | "yes" => Some(true),
        "0" | "false" | "no" => Some(false),
        _ => None,
    }
}

/// The values of an option that may be repeated, on a line of its variable. Commas are between them, unless they are a value's own: those
/// between the columns of an index, and any other behind which no `NAME=` begins another value.
fn listed<'v>(arg: &Arg, line: &'v str) -> Vec<&'v str> {
    let option = long(arg);
    if let Some(between) = arg.get_value_delimiter().or((option == "null").then_some(',')) {
        return if line == "," { vec![line] } else { line.split(between).collect() };
    }
    let is_format = option.ends_with("-format");
    let begins_another = |rest: &str| {
        if is_format && rest.starts_with('%') {
            return true;
        }
        rest.split(',')
            .next()
            .and_then(|next| next.split_once('='))
            .is_some_and(|(name, _)| !name.is_empty())
    };
    let (mut values, mut from) = (Vec::new(), 0);
    for (comma, _) in line.match_indices(',').filter(|_| option != "index") {
        if begins_another(&line[comma + 1..]) {
            values.push(&line[from..comma]);
            from = comma + 1;
        }
    }
    values.push(&line[from..]);
    values
}

/// Whether there is a variable of an option, whatever it says.
fn has_variable(arg: &Arg) -> bool {
    env::var_os(variable_of(arg)).is_some()
}

/// What a variable says of an option, and its name; `None` where there is none. A value is as it would be typed.
fn variable(arg: &Arg) -> Result<Option<(Vec<String>, String)>> {
    let name = variable_of(arg);
    let value = match env::var(&name) {
        _ if name == OF_LIBRARY => return Ok(None),
        Ok(value) if value.is_empty() => return Ok(None),
        Ok(value) => value,
        Err(VarError::NotPresent) => return Ok(None),
        Err(VarError::NotUnicode(_)) => {
            return Err(Error::usage(format!("{name} is not UTF-8"))
                .advise(format!("unset {name}, and say --{} instead", long(arg))));
        }
    };
    let values = match arg.get_action() {
        _ if is_flag(arg) => match switch(&value) {
            Some(true) => Vec::new(),
            Some(false) => return Ok(None),
            None => {
                return Err(Error::usage(format!("{name}={value}: takes 1 or 0"))
                    .advise(format!("unset {name}")));
            }
        },
        ArgAction::Append => {
            value.lines().flat_map(|line| listed(arg, line)).map(str::to_owned).collect()
        }
        _ => vec![value],
    };
    Ok(Some((values, name)))
}

/// What a file of settings says.
#[derive(Default)]
struct File {
    /// Its name, for people.
    name: String,
    sources: Vec<String>,
    target: Option<String>,
    /// By the option's name without dashes; of one that takes no value there is none.
    options: BTreeMap<String, Vec<String>>,
    /// Names of options that are said to be off, whatever a variable says.
    off: BTreeSet<String>,
}

impl File {
    fn read(path: &Path, sub: &Command) -> Result<Self> {
        let name = inrush::path::text(path).into_owned();
        let text = fs::read_to_string(path).map_err(|error| {
            Error::new(Kind::Source, format!("cannot read {name}: {error}")).about(&name)
        })?;
        let table = DeTable::parse(&text).map_err(|error| {
            let at = error.span().map_or(0, |span| span.start);
            let line = line_of(&text, at);
            if says_columns_twice(&text, at) {
                return Error::usage(format!(
                    "{name}, line {line}: the list columns and a table [columns.NAME] can't stand in one file, for TOML takes them for one key"
                ))
                .advise("write what the table says as options: type = [\"NAME=TYPE\"], null = [\"NAME=NA\"], not-null = [\"NAME\"]")
                .advise("or leave the list out of the file, and say --columns on the command line");
            }
            Error::usage(format!("{name}, line {line}: {}", error.message()))
        })?;
        let wrong = |at: usize, what: String| {
            Error::usage(format!("{name}, line {}: {what}", line_of(&text, at)))
        };
        let mut file = File::default();
        for (key, value) in table.get_ref() {
            let at = key.span().start;
            let fail = |what| wrong(at, what);
            match (key.get_ref().as_ref(), value.get_ref()) {
                ("source", value) => {
                    file.sources = texts(value).map_err(|what| fail(format!("source: {what}")))?;
                }
                ("target", DeValue::String(target)) => file.target = Some(target.to_string()),
                ("target", _) => return Err(fail("target: takes one text".to_owned())),
                ("columns", DeValue::Table(columns)) => {
                    for (column, said) in columns {
                        let said = said.get_ref().as_table().ok_or_else(|| {
                            fail(format!("columns.{}: takes a table", column.get_ref()))
                        })?;
                        for (key, value) in said {
                            file.column(column.get_ref(), key, value)
                                .map_err(|what| wrong(key.span().start, what))?;
                        }
                    }
                }
                (name, value) => {
                    let arg = sub.get_arguments().find(|arg| is_layered(arg) && long(arg) == name);
                    let Some(arg) = arg else {
                        let error = fail(format!("there is no option --{name}"));
                        let error = match hints::of_key(name, sub.get_name(), &PLACES, is_layered) {
                            Some(hint) => error.advise(hint),
                            None => error,
                        };
                        let known = format!(
                            "the keys are the options of inrush {} without dashes, source, target, and tables [columns.NAME]",
                            sub.get_name()
                        );
                        return Err(error.advise(known));
                    };
                    match values(arg, value).map_err(fail)? {
                        Some(values) => {
                            file.options.entry(name.to_owned()).or_default().extend(values);
                        }
                        None => drop(file.off.insert(name.to_owned())),
                    }
                }
            }
        }
        Ok(File { name, ..file })
    }

    /// What is said of one column.
    fn column(
        &mut self,
        column: &str,
        key: &Spanned<std::borrow::Cow<'_, str>>,
        value: &Spanned<DeValue<'_>>,
    ) -> std::result::Result<(), String> {
        let key = key.get_ref().as_ref();
        if key == "not-null" {
            match value.get_ref().as_bool() {
                Some(true) => {
                    self.options.entry(key.to_owned()).or_default().push(column.to_owned());
                }
                Some(false) => {}
                None => return Err(format!("columns.{column}.{key}: takes true or false")),
            }
            return Ok(());
        }
        let Some((_, option)) = OF_COLUMN.iter().find(|(known, _)| *known == key) else {
            let known: Vec<&str> = OF_COLUMN.iter().map(|(known, _)| *known).collect();
            return Err(format!("columns.{column}.{key}: takes {}, not-null", known.join(", ")));
        };
        let named = |what| format!("columns.{column}.{key}: {what}");
        for value in texts(value.get_ref()).map_err(named)? {
            let is_time = key == "format" && OF_TIME.iter().any(|letter| value.contains(letter));
            let option = if is_time { "timestamp-format" } else { option };
            let said = format!("{column}={value}");
            self.options.entry(option.to_owned()).or_default().push(said);
        }
        Ok(())
    }
}

/// The values of an option; `None` where it is said not to be.
fn values(arg: &Arg, value: &DeValue<'_>) -> std::result::Result<Option<Vec<String>>, String> {
    let may_stand_alone = arg.get_num_args().is_some_and(|range| range.min_values() == 0);
    let forms = arg.get_value_names().unwrap_or_default();
    let is_yes_or_no = forms.iter().any(|form| form.starts_with("yes|no"));
    match value {
        DeValue::Boolean(said) if is_flag(arg) => Ok(said.then(Vec::new)),
        DeValue::Boolean(said) if may_stand_alone => Ok(said.then(|| vec!["true".to_owned()])),
        DeValue::Boolean(said) if is_yes_or_no => {
            Ok(Some(vec![if *said { "yes" } else { "no" }.to_owned()]))
        }
        _ if is_flag(arg) => Err(format!("{}: takes true or false", long(arg))),
        value => texts(value).map(Some).map_err(|what| format!("{}: {what}", long(arg))),
    }
}

/// A value as it would be typed, or several.
fn texts(value: &DeValue<'_>) -> std::result::Result<Vec<String>, String> {
    Ok(match value {
        DeValue::String(text) => vec![text.to_string()],
        DeValue::Integer(number) => vec![number.to_string()],
        DeValue::Float(number) => vec![number.to_string()],
        DeValue::Boolean(said) => {
            return Err(format!("takes no {said}; in quotes it is the text \"{said}\""));
        }
        DeValue::Datetime(moment) => vec![moment.to_string()],
        DeValue::Array(values) => {
            let each = values.iter().map(|value| texts(value.get_ref()));
            each.collect::<std::result::Result<Vec<_>, _>>()?.concat()
        }
        DeValue::Table(_) => return Err("takes no table".to_owned()),
    })
}

/// Whether what is wrong there is that `columns` is both an option and a table of columns.
fn says_columns_twice(text: &str, at: usize) -> bool {
    let line = text.lines().nth(line_of(text, at) - 1).unwrap_or_default();
    let key = line.trim_start_matches(|c: char| c == '[' || c.is_whitespace());
    let Some(behind) = key.strip_prefix("columns") else { return false };
    let (known, _) = DeTable::parse_recoverable(text);
    let columns = known.get_ref().iter().find(|(key, _)| key.get_ref() == "columns");
    columns.is_some_and(|(_, value)| {
        let is_table = value.get_ref().as_table().is_some();
        is_table != behind.trim_start().starts_with('.')
    })
}

fn line_of(text: &str, at: usize) -> usize {
    text.bytes().take(at).filter(|byte| *byte == b'\n').count() + 1
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_place_loses_nothing_but_its_password() {
        for (typed, shown) in [
            ("da:ta@x.csv", "da:ta@x.csv"),
            ("sqlite:a@b.db", "sqlite:a@b.db"),
            ("Server=h;Password=SECRET", "Server=h;Password=..."),
            ("Server=h;PWD=SEC:RET@x", "Server=h;PWD=..."),
            ("host=h passwd=SECRET user=u", "host=h passwd=..."),
            ("mssql:Server=h;Password=SECRET", "mssql:Server=h;Password=..."),
            ("Server=tcp://h;Password=SECRET", "Server=tcp:..."),
            ("mssql://h/db;password=SECRET", "mssql:..."),
            ("postgres:u:SECRET@h/db", "postgres:..."),
            ("MySQL:/u:SECRET@h/db", "MySQL:..."),
            ("mongodb+srv:u:SECRET@h/db", "mongodb+srv:..."),
            ("postgres:db", "postgres:db"),
            ("--server=postgres://u:SECRET@h/db", "--server=postgres://u@h/db"),
            ("postgres://h/a,mysql://u:SECRET@h/db", "postgres:..."),
            ("s3://b/x@y.csv", "s3://b/x@y.csv"),
            ("s3://b/x?.csv", "s3://b/x?.csv"),
            ("postgres://u@h:5432/db", "postgres://u@h:5432/db"),
            (
                "postgres://u:SECRET@h:5432/db?sslmode=require",
                "postgres://u@h:5432/db?sslmode=require",
            ),
            ("mysql://:SECRET@h/db", "mysql://h/db"),
            (
                "mysql://u:SEC:RET@h/db?socket=/s&compress=yes",
                "mysql://u@h/db?socket=/s&compress=yes",
            ),
            ("postgres://h/db?password=SECRET&user=u", "postgres://h/db?user=u"),
            ("postgres://h/db?PASSWORD=SECRET", "postgres://h/db"),
            ("mongodb://u:SECRET@h1,h2:5/db", "mongodb://u@h1,h2:5/db"),
            ("https://u:SECRET@h/x.csv?sig=SECRET", "https://u@h/x.csv"),
            ("https://u:SECRET@h/x.zip?sig=SECRET!a/*.csv", "https://u@h/x.zip!a/*.csv"),
            ("https://h/x.zip!a/?.csv", "https://h/x.zip!a/?.csv"),
            ("postgres://u:SEC/RET@h/db", "postgres:..."),
            ("postgres://u:SEC@SEC/RET@h/db", "postgres:..."),
            ("postgres://u:SEC?RET@h/db", "postgres:..."),
            ("postgres://u:SEC#RET@h/db", "postgres:..."),
        ] {
            assert_eq!(without_password(typed), shown);
        }
    }

    #[test]
    fn a_slip_is_one_letter() {
        let option = "INRUSH_MAX_REJECTS";
        for slip in ["MAX_REJECT", "MAX_REJECTSS", "MAX_REJECTZ", "MAX_REJETCS", "MAXREJECTS"] {
            assert!(is_slip(&format!("INRUSH_{slip}"), option), "{slip}");
        }
        for other in ["MAX", "MAX_ERRORS", "TEST_SERVERS", "REJECTS"] {
            assert!(!is_slip(&format!("INRUSH_{other}"), option), "{other}");
        }
        assert!(is_slip("INRUSH_IF_EXIST", "INRUSH_IF_EXISTS"));
    }
}
