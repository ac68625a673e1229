//! What help is made of besides the arguments' own words: the targets that this build has, and the one screen of `-h`.

use std::any::TypeId;
use std::ffi::OsString;
use std::path::Path;

use clap::builder::{OsStringValueParser, TypedValueParser as _};
use clap::{Arg, ArgMatches, Command, CommandFactory as _, ValueHint};
use inrush::{path, target};

use crate::args::Cli;

/// The longest line of `-h`, so that nothing wraps on the narrowest terminal.
const WIDE: usize = 80;

/// Where the words begin, but behind an option that is longer.
const WORDS_AT: usize = 29;

/// The command line, complete: defaults are shown wherever there are any, and targets are those of the build.
pub(crate) fn command() -> Command {
    Cli::command().mut_subcommands(|sub| {
        let has_places = sub.get_arguments().any(|arg| arg.get_id() == "places");
        let sub = match sub.get_name() {
            // What was measured before is listed without any; a dry run is refused by the command, which says what to do instead.
            "tune" => sub
                .mut_arg("places", |places| places.required(false))
                .mut_arg("dry_run", |dry_run| dry_run.hide(true))
                .mut_args(of_measuring),
            "job" => sub.mut_subcommand("begin", |begin| {
                let begin =
                    begin.mut_arg("table", |table| table.help("The table; it has to be said"));
                begin.mut_arg("if_exists", of_job)
            }),
            _ => sub,
        };
        let sub = match has_places {
            true => sub.mut_arg("places", |arg| arg.help(places())),
            false => sub,
        };
        completed(sub)
    })
}

/// A command whose arguments are, besides what each says of itself, what all are.
fn completed(command: Command) -> Command {
    let complete = |arg: Arg| {
        let arg = match has_hidden_default(&arg) {
            true => arg.hide_default_value(false),
            false => arg,
        };
        // There is no option -1, so that is a value, and the option can say what is wrong with it.
        let is_option = !arg.is_positional() && arg.get_action().takes_values();
        let arg = if is_option { arg.allow_negative_numbers(true) } else { arg };
        let is_text = arg.get_value_parser().type_id() == TypeId::of::<String>();
        match is_text && is_path(&arg) {
            true => arg.value_parser(OsStringValueParser::new().map(place)),
            false => arg,
        }
    };
    command.mut_args(complete).mut_subcommands(completed)
}

/// Whether it takes paths, or words that may be some.
fn is_path(arg: &Arg) -> bool {
    matches!(arg.get_value_hint(), ValueHint::FilePath | ValueHint::DirPath)
}

/// A place as text: a file whose name is not UTF-8 by its URL.
pub(crate) fn place(word: OsString) -> String {
    word.into_string().unwrap_or_else(|word| {
        let list = word.as_encoded_bytes().strip_prefix(b"@");
        let list = list.and_then(|list| path::of_bytes(list.to_vec()));
        match list {
            Some(list) => format!("@{}", path::text(&list)),
            None => path::text(Path::new(&word)).into_owned(),
        }
    })
}

/// Refuses paths in which no shell has put the home directory: of sources and targets, and of all that options name.
///
/// # Errors
/// When there is one.
pub(crate) fn expect_expanded(command: &Command, matches: &ArgMatches) -> inrush::Result<()> {
    for arg in command.get_arguments().filter(|arg| is_path(arg)) {
        let values = matches.get_raw(arg.get_id().as_str()).into_iter().flatten();
        for value in values {
            path::expect_expanded(&value.to_string_lossy())?;
        }
    }
    let sub = matches
        .subcommand()
        .and_then(|(name, matches)| Some((command.find_subcommand(name)?, matches)));
    sub.map_or(Ok(()), |(command, matches)| expect_expanded(command, matches))
}

/// An argument of tune: what only measuring uses is refused beside what lists, prints or forgets profiles.
fn of_measuring(arg: Arg) -> Arg {
    const INSTEAD: [&str; 3] = ["list", "export", "forget"];
    let id = arg.get_id().as_str();
    let is_used = arg.get_help_heading() == Some("Output") || ["config", "profiles"].contains(&id);
    match is_used || INSTEAD.contains(&id) {
        true => arg,
        false => arg.conflicts_with_all(INSTEAD),
    }
}

/// What a job does with an existing table: its rows are not to be seen before the job's, so none empties it.
fn of_job(if_exists: Arg) -> Arg {
    if_exists.value_name("empty|append|replace").help(
        "What to do with an existing table: load only when it is empty, append, or replace (drop and recreate)",
    )
}

fn has_hidden_default(arg: &Arg) -> bool {
    let is_told = || arg.get_help().is_some_and(|help| help.to_string().contains("[default"));
    arg.get_action().takes_values() && !arg.get_default_values().is_empty() && !is_told()
}

fn places() -> String {
    let targets: Vec<&str> = target::ALL.iter().map(|target| target.spelling()).collect();
    format!(
        "Files, folders, patterns or URLs to load, '-' for standard input; then the target: {}",
        targets.join("; ")
    )
}

/// The default of an option as help shows it; empty where it has none, or says so in words.
pub(crate) fn default(arg: &Arg) -> String {
    if !has_hidden_default(arg) {
        return String::new();
    }
    let values: Vec<_> =
        arg.get_default_values().iter().map(|value| value.to_string_lossy()).collect();
    format!("[default: {}]", values.join(","))
}

/// The options that `-h` shows, with as few words as do; the others it only names.
const SHORT: &[(&str, &[(&str, &str)])] =
    &[("load", LOAD), ("plan", LOAD), ("check", LOAD), ("bench", BENCH)];

const LOAD: &[(&str, &str)] = &[
    ("table", "the table [default: the first source's name]"),
    ("if-exists", "if it exists"),
    ("match", "columns of an existing table"),
    ("on-conflict", "duplicate key"),
    ("key", "what --on-conflict compares [default: primary key]"),
    ("primary-key", "the key of a new table [default: none]"),
    ("index", "an index, built after the rows"),
    ("type", "a column's type [default: inferred]"),
    ("types", ""),
    ("format", "[default: detected]"),
    ("delimiter", "between fields [default: detected]"),
    ("header", "the first line has names"),
    ("null", "what else is NULL, such as NA"),
    ("encoding", "[default: UTF-8, or its byte order mark]"),
    ("skip-lines", "lines before the header"),
    ("strategy", "how to write [default: the planner's choice]"),
    ("set", "a parameter of the strategy"),
    ("lanes", "connections [default: the strategy's]"),
    ("encoders", "threads that parse [default: the strategy's]"),
    ("durability", "what the rows survive"),
    ("max-rejects", "bad rows allowed [default: 0]"),
    ("rejects", "where they go [default: NAME.rejects.csv]"),
    ("verify", ""),
    ("dry-run", "say what would be done, as inrush plan"),
    ("json", "the report, or the failure, as a JSON object"),
    ("progress", ""),
    ("quiet", "errors only"),
    ("verbose", "more: the plan, and what each stage waited for"),
];

const BENCH: &[(&str, &str)] = &[
    ("profile", "the size"),
    ("server", "a private server, all, or yours; repeatable"),
    ("results", "where results are kept"),
    ("place", "where databases lie [default: for temporary files]"),
    ("resume", "go on with an interrupted run"),
    ("dry-run", "say what would be measured"),
    ("only", "cells that hold this text; repeatable"),
    ("set", "only these values; repeatable"),
    ("blocks", "how often [default: the profile's]"),
    ("budget", "the last block's start [default: the profile's]"),
    ("seed", "what the order comes from [default: the clock]"),
    ("json", "what was found, or the failure, as a JSON object"),
    ("progress", ""),
    ("quiet", "errors only"),
];

/// `-h` of the subcommand that was asked about, on one screen; `None` where clap's own is as short.
pub(crate) fn short(arguments: &[String]) -> Option<String> {
    if arguments.iter().any(|argument| argument == "--help") {
        return None;
    }
    let name = arguments.iter().find(|argument| !argument.starts_with('-'))?;
    let (name, words) = SHORT.iter().find(|(command, _)| command == name)?;
    let mut root = command();
    root.build();
    root.find_subcommand_mut(name).map(|sub| one_screen(name, sub, words))
}

fn one_screen(name: &str, command: &mut Command, words: &[(&str, &str)]) -> String {
    let about = command.get_about().map(ToString::to_string).unwrap_or_default();
    let usage = command.render_usage();
    let mut out = format!("{about}\n\n{usage}\n");
    if command.get_arguments().any(|arg| arg.get_id() == "places") {
        out +=
            "\nSources are files, folders, patterns, URLs, or - (standard input). Target last:\n";
        for target in target::ALL {
            out += &format!("  {}\n", target.spelling());
        }
    }
    let mut heading = None;
    for (option, about) in words {
        let Some(arg) = command.get_arguments().find(|arg| arg.get_long() == Some(option)) else {
            continue;
        };
        let under = arg.get_help_heading().unwrap_or("Options");
        if heading != Some(under) {
            out += &format!("\n{under}:\n");
            heading = Some(under);
        }
        out += &line(arg, about);
    }
    let rest: Vec<String> = command
        .get_arguments()
        .filter(|arg| !arg.is_hide_set())
        .filter_map(clap::Arg::get_long)
        .filter(|long| !["help", "version"].contains(long))
        .filter(|long| !words.iter().any(|(known, _)| known == long))
        .map(|long| format!("--{long}"))
        .collect();
    if !rest.is_empty() {
        out += &wrapped(&format!("Also {}.", rest.join(", ")));
    }
    out += &format!("\n'inrush {name} --help' says all of each, and has examples.\n");
    out
}

/// Words on lines of their own, none of them too long.
fn wrapped(text: &str) -> String {
    let (mut out, mut at) = (String::new(), WIDE);
    for word in text.split(' ') {
        let is_new = at + 1 + word.len() > WIDE;
        out.push(if is_new { '\n' } else { ' ' });
        at = if is_new { word.len() } else { at + 1 + word.len() };
        out += word;
    }
    out
}

/// An option with its value, its words and its default.
fn line(arg: &Arg, about: &str) -> String {
    let dashed = arg.get_long().unwrap_or_default();
    let short = arg.get_short().map(|short| format!("-{short}, ")).unwrap_or_default();
    let value = match arg.get_value_names() {
        Some(names) if arg.get_action().takes_values() => format!(" {}", names.join(" ")),
        _ => String::new(),
    };
    let spec = format!("  {short}--{dashed}{value}");
    let default = default(arg);
    let words = [about, &default].into_iter().filter(|words| !words.is_empty());
    let words = words.collect::<Vec<_>>().join(" ");
    let at = WORDS_AT.max(spec.len() + 2);
    format!("{}\n", format!("{spec:<at$}{words}").trim_end())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_short_help_is_one_screen() {
        for (name, _) in SHORT.iter().filter(|(name, _)| command().find_subcommand(name).is_some())
        {
            let text = short(&[(*name).to_owned(), "-h".to_owned()]).unwrap();
            assert!(text.lines().count() <= 60, "{name}: {} lines\n{text}", text.lines().count());
            for line in text.lines() {
                assert!(line.chars().count() <= WIDE, "{name}: {line}");
            }
            assert_eq!(short(&[(*name).to_owned(), "--help".to_owned()]), None);
        }
    }

    #[test]
    fn defaults_are_shown_for_every_option_that_has_one() {
        let mut command = command();
        command.build();
        for sub in command.get_subcommands() {
            for arg in sub.get_arguments().filter(|arg| arg.get_action().takes_values()) {
                let told = arg.get_help().map(ToString::to_string).unwrap_or_default();
                let is_told = told.contains("[default") || !arg.is_hide_default_value_set();
                assert!(is_told || arg.get_default_values().is_empty(), "{}", arg.get_id());
                assert!(!told.contains("[default") || default(arg).is_empty(), "{}", arg.get_id());
            }
        }
    }

    #[test]
    fn targets_are_those_of_the_build() {
        let command = command();
        let load = command.find_subcommand("load").unwrap();
        let places = load.get_arguments().find(|arg| arg.get_id() == "places").unwrap();
        let told = places.get_help().unwrap().to_string();
        let screen = short(&["load".to_owned(), "-h".to_owned()]).unwrap();
        for target in target::ALL {
            assert!(told.contains(target.spelling()), "{told}");
            assert!(screen.contains(target.spelling()), "{screen}");
        }
    }
}
