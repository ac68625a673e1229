//! Words that people bring from other tools, and what they are called here: a line each, in the place of a guess by the letters.

use std::path::Path;

use clap::builder::StyledStr;
use clap::error::{ContextKind, ContextValue, ErrorKind};
use inrush::wording::shell_word;

/// Options of other loaders, for `load`, `plan` and their like. What comes first is how they are written, without dashes.
const OPTIONS: &[(&[&str], &str)] = &[
    (
        &["upsert", "merge", "update", "on-duplicate", "on-duplicate-key-update"],
        "say --on-conflict update --key COLUMN",
    ),
    (
        MODES,
        "say --if-exists append, truncate or replace for the table, or --on-conflict update --key COLUMN for rows of the same key",
    ),
    (
        &[
            "ignore",
            "insert-ignore",
            "skip-duplicates",
            "on-conflict-do-nothing",
            "ignore-dups",
            "ignore-duplicates",
            "dedup",
            "dedupe",
            "deduplicate",
            "distinct",
        ],
        "say --on-conflict skip --key COLUMN for duplicate keys, or --max-rejects N for bad rows",
    ),
    (
        &["overwrite", "drop-table", "recreate", "replace-table", "full-refresh", "include-drop"],
        "say --if-exists replace (a new table in its place)",
    ),
    (
        &["replace"],
        "say --if-exists replace for the table, or --on-conflict replace for rows of the same key",
    ),
    (
        &["truncate", "truncate-existing", "delete", "clear", "empty-table"],
        "say --if-exists truncate",
    ),
    (&["append", "insert"], "say --if-exists append"),
    (
        &["create-table", "create", "create-tables", "ddl"],
        "leave it out: a table that does not exist is created; inrush plan shows its columns",
    ),
    (
        &[
            "threads",
            "jobs",
            "parallel",
            "workers",
            "concurrency",
            "processes",
            "num-threads",
            "use-threads",
        ],
        "say --encoders N (threads that parse) or --lanes N (connections that write)",
    ),
    (
        &["limit", "head", "nrows", "n-rows", "max-rows", "rows", "sample"],
        "load part of the file: head -n LINES FILE | inrush load - TARGET --table TABLE, where LINES are the rows and the header's",
    ),
    (
        &["skip", "skip-rows", "skiprows", "offset", "ignore-lines", "header-lines", "skip-header"],
        "say --skip-lines N for lines before the header; the header itself is --header yes",
    ),
    (
        &[
            "batch-size",
            "batch",
            "chunk",
            "commit",
            "commit-every",
            "bytes-per-chunk",
            "rows-per-batch",
            "bulk-size",
            "prefetch",
        ],
        "say --set rows_per_statement=N or --set rows_per_transaction=N, where the strategy has it (inrush strategies), or --chunk-size SIZE",
    ),
    (
        &[
            "skip-errors",
            "ignore-errors",
            "force",
            "continue-on-error",
            "on-error",
            "max-errors",
            "maxerrors",
            "maximum-errors",
            "badmax",
            "error-limit",
            "reject-limit",
        ],
        "say --max-rejects N (or N%): bad rows go to a file beside the source",
    ),
    (
        &[
            "bad",
            "badfile",
            "reject-file",
            "rejects-file",
            "error-file",
            "errors-file",
            "errors",
            "error-log",
            "log",
            "logfile",
            "log-file",
            "log-errors",
        ],
        "say --rejects FILE, with --max-rejects N",
    ),
    (
        &[
            "sep",
            "separator",
            "delim",
            "field-separator",
            "fields-terminated-by",
            "fields-separated-by",
            "terminated-by",
        ],
        "say --delimiter C",
    ),
    (&["tabs", "tsv"], "say --format tsv, or nothing: the delimiter is detected"),
    (
        &["csv", "parquet", "nl", "ndjson", "jsonl"],
        "say --format FORMAT, or nothing: the format is detected",
    ),
    (
        &[
            "quotechar",
            "quote-char",
            "fields-enclosed-by",
            "fields-optionally-enclosed-by",
            "enclosed-by",
        ],
        "say --quote C",
    ),
    (&["escapechar", "escape-char", "fields-escaped-by", "escaped-by"], "say --escape C"),
    (
        &["lines-terminated-by", "newline", "row-separator", "line-ending"],
        "leave it out: line ends are detected",
    ),
    (&["no-header", "no-headers", "noheader", "no-header-row", "headers-none"], "say --header no"),
    (
        &["has-header", "headers", "csv-header", "first-row-header", "with-header", "header-row"],
        "say --header yes",
    ),
    (
        &["na", "nulls", "null-string", "null-values", "na-values", "nullstr", "empty-null"],
        "say --null S, such as --null NA",
    ),
    (
        &["charset", "default-character-set", "character-set", "charset-name", "input-encoding"],
        "say --encoding NAME",
    ),
    (
        &["cols", "fields", "column-names", "names", "fieldnames", "select", "usecols"],
        "say --columns A,B to load these alone; --rename OLD=NEW gives them other names",
    ),
    (
        &["pk", "primary", "unique", "unique-key", "key-columns", "merge-key"],
        "say --primary-key COLUMN for a new table, or --key COLUMN with --on-conflict",
    ),
    (
        &["dtype", "types-map", "column-types", "schema-overrides", "casts", "cast", "convert"],
        "say --type COLUMN=TYPE, once a column",
    ),
    (
        &["detect-types", "infer", "infer-schema", "auto-detect", "autodetect", "guess-types"],
        "leave it out: types are detected; --types text makes all columns text",
    ),
    (
        &["no-detect-types", "no-infer", "no-inference", "all-varchar", "all-text", "raw"],
        "say --types text",
    ),
    (
        &["schema", "namespace"],
        "say --table SCHEMA.TABLE (PostgreSQL, SQL Server, DuckDB), or name the database in the URL",
    ),
    (
        &["into", "table-name", "tablename", "tbl", "collection", "tgt-object", "dest-table"],
        "say --table NAME",
    ),
    (
        &["user", "username", "password", "host", "hostname", "port", "socket", "server", "login"],
        "put it in the target: mysql://USER@HOST:PORT/DATABASE or postgres://USER@HOST:PORT/DATABASE; passwords also in MYSQL_PWD, PGPASSWORD or INRUSH_PASSWORD",
    ),
    (
        &[
            "database",
            "db",
            "dbname",
            "target",
            "to",
            "output",
            "out",
            "uri",
            "url",
            "dsn",
            "conn",
            "connection-string",
            "tgt-conn",
        ],
        "name the target last, without an option: inrush load FILE.csv DATABASE.db",
    ),
    (
        &["source", "from", "input", "file", "infile", "src", "src-stream", "src-conn"],
        "name the sources first, without an option: inrush load FILE.csv DATABASE.db",
    ),
    (
        &["local", "local-infile", "compress"],
        "leave it out: the file is always read here, and the URL's parameters say how it travels",
    ),
    (
        &["ssl", "tls", "ssl-mode", "sslmode", "ssl-ca"],
        "put it in the target's URL: ?ssl-mode=required (MySQL), ?sslmode=require (PostgreSQL), ?tls=true (MongoDB)",
    ),
    (
        &["check", "validate"],
        "say inrush check: it reads all as load would, and writes nothing; inrush plan says what load would do",
    ),
    (&["explain"], "say inrush plan: what load would do, and why"),
    (
        &["transaction", "single-transaction", "atomic", "no-transaction"],
        "leave it out: a load is all or nothing where the target can; inrush plan says so",
    ),
    (
        &["low-priority", "lock-tables", "disable-keys", "disable-triggers", "analyze", "vacuum"],
        "leave it out: the strategy decides; inrush strategies lists what can be set with --set",
    ),
    (&["yes", "no-prompt", "assume-yes"], "leave it out: inrush never asks"),
    (
        &["timeout", "connect-timeout", "connection-timeout", "wait"],
        "put it in the target's URL: ?connect-timeout=SECONDS, or ?connect_timeout=SECONDS for PostgreSQL; say --set busy_timeout=MILLISECONDS for SQLite",
    ),
    (
        &["query", "where", "filter", "predicate"],
        "choose the rows before: PROGRAM FILE | inrush load - TARGET --table NAME",
    ),
    (
        &["exec", "execute", "sql", "init-command", "pre-sql", "post-sql", "before", "after"],
        "leave it out, and run statements by the database's own client before the load or after it",
    ),
    (
        &["compression", "gzip", "gz", "gunzip", "zstd", "bzip2", "decompress", "unzip"],
        "leave it out: compressed files are known by their content; csv:FILE.gz as the target writes one",
    ),
    (
        &["retry", "retries", "max-retries"],
        "say --commit-rows N, and --resume to go on behind the last step of a load that failed",
    ),
    (
        &["stats", "statistics", "summary", "timing"],
        "leave it out: the report says it; --json has all of it",
    ),
    (
        &["default", "defaults", "default-value", "constant"],
        "say --add COLUMN=VALUE for a column that the source does not have",
    ),
    (
        &["defaults-file", "defaults-extra-file", "login-path"],
        "put it in the target: mysql://USER@HOST:PORT/DATABASE; of option files [client] of ~/.my.cnf is read",
    ),
    (
        &["alter", "alter-table", "add-columns", "evolve", "schema-evolution"],
        "say --new-columns add",
    ),
    (
        &["exclude", "ignore-columns", "skip-columns", "omit"],
        "say --drop COLUMN for a column; files are chosen by a pattern, such as 'FOLDER/2024-*.csv'",
    ),
    (
        &["recursive", "recurse"],
        "name a pattern: 'FOLDER/**/*.csv' has the files of all its folders",
    ),
    (&["tz", "timezone"], "say --time-zone ZONE"),
    (&["version"], "say inrush --version"),
    (&["no-color", "no-colour", "color"], "leave it out, or set NO_COLOR=1"),
    (&["silent", "no-progress"], "say --quiet, or --progress none"),
    (&["debug", "log-level"], "say --verbose"),
    (&["output-json", "format-json"], "say --json"),
];

/// Options that mean one thing or another by their value.
const MODES: &[&str] = &["write-disposition", "mode", "write-mode"];

/// Those values, and what they are here.
const OF_MODES: &[(&[&str], &str)] = &[
    (&["replace", "overwrite", "create"], "say --if-exists replace"),
    (&["truncate", "write-truncate"], "say --if-exists truncate"),
    (&["append", "write-append", "insert"], "say --if-exists append"),
    (&["merge", "upsert", "update"], "say --on-conflict update --key COLUMN"),
    (&["errorifexists", "error", "fail", "write-empty"], "say --if-exists fail"),
];

/// The same for options of one letter, as `mysqlimport`, `psql`, `bcp` and `sqlite3` have them.
const LETTERS: &[(&str, &str)] = &[
    ("u", "put the user in the target: mysql://USER@HOST/DATABASE"),
    ("U", "put the user in the target: postgres://USER@HOST/DATABASE"),
    (
        "p",
        "put port and password in the target's URL, or the password in MYSQL_PWD, PGPASSWORD or INRUSH_PASSWORD",
    ),
    (
        "P",
        "put port and password in the target's URL, or the password in MYSQL_PWD, PGPASSWORD or INRUSH_PASSWORD",
    ),
    ("H", "put the host in the target: mysql://USER@HOST:PORT/DATABASE"),
    ("d", "say --delimiter C for a delimiter; the database comes last, without an option"),
    ("D", "name the database last, without an option"),
    ("s", "say --delimiter C"),
    ("t", "say --table NAME"),
    ("f", "say --format FORMAT for the format; sources come first, without an option"),
    ("j", "say --encoders N (threads that parse) or --lanes N (connections that write)"),
    ("o", "name the target last, without an option"),
    ("i", "name the sources first, without an option"),
    ("n", "leave it out, or say inrush plan: what load would do, and why"),
    ("y", "leave it out: inrush never asks"),
];

/// What other tools call the commands.
const COMMANDS: &[(&[&str], &str)] = &[
    (
        &[
            "import", "insert", "copy", "ingest", "upload", "run", "sync", "bulk", "memory",
            "loaddata", "write",
        ],
        "say inrush load SOURCE... TARGET",
    ),
    (&["explain", "dry-run", "preview", "schema"], "say inrush plan SOURCE... TARGET"),
    (&["validate", "verify", "lint", "sniff", "stats"], "say inrush check SOURCE... [TARGET]"),
    #[cfg(not(feature = "bench"))]
    (
        &["bench", "tune", "report", "compare"],
        "this build of inrush measures nothing: take the command that is published by itself",
    ),
    (&["benchmark", "perf", "measure"], "say inrush bench SUITE"),
    (&["version"], "say inrush --version"),
    (&["diff"], "say inrush compare RUN_A RUN_B"),
    (&["manpage", "docs"], "say inrush man"),
];

/// Values of options as other tools spell them: option, words, what to say.
const VALUES: &[(&str, &[&str], &str)] = &[
    ("if-exists", &["overwrite", "drop", "recreate"], "say --if-exists replace"),
    ("if-exists", &["delete", "clear"], "say --if-exists truncate"),
    ("if-exists", &["error", "abort", "create"], "say --if-exists fail"),
    (
        "if-exists",
        &["skip", "ignore", "keep"],
        "nothing is loaded into a table that holds rows, unless you say append, truncate or replace",
    ),
    (
        "if-exists",
        &["upsert", "merge", "update"],
        "say --if-exists append --on-conflict update --key COLUMN",
    ),
    ("on-conflict", &["ignore", "nothing", "do-nothing", "keep"], "say --on-conflict skip"),
    ("on-conflict", &["upsert", "merge", "do-update"], "say --on-conflict update"),
    (
        "on-conflict",
        &["overwrite"],
        "say --on-conflict replace, or update to keep the columns that the source does not name",
    ),
    ("on-conflict", &["error", "abort", "rollback"], "say --on-conflict fail"),
    ("header", &["true", "on", "1", "present", "first"], "say --header yes"),
    ("header", &["false", "off", "0", "none", "absent"], "say --header no"),
    ("format", &["ndjson", "json-lines", "jsonlines", "nl"], "say --format jsonl"),
    (
        "format",
        &["text", "txt", "psv", "delimited"],
        "say --format csv, and --delimiter C if it is not detected",
    ),
    (
        "format",
        &["excel", "xlsx", "xlsm", "xlsb", "xls", "ods", "zip", "tar"],
        "leave --format out: workbooks and archives are known by their content",
    ),
    ("format", &["feather", "ipc"], "say --format arrow"),
    ("format", &["pq"], "say --format parquet"),
    ("types", &["string", "str", "varchar", "none", "off"], "say --types text"),
    ("types", &["auto", "detect", "on"], "say --types infer, or nothing"),
    ("durability", &["full", "safe", "on"], "say --durability durable, or nothing"),
    ("durability", &["off", "fast", "unsafe"], "say --durability none"),
    ("verify", &["hash", "sum", "full"], "say --verify checksum"),
    ("verify", &["off", "no", "skip"], "say --verify none"),
];

/// Every `--option` that a text says.
pub(crate) fn options_in(text: &str) -> impl Iterator<Item = &str> {
    let words = text.split(|c: char| !(c.is_ascii_alphanumeric() || c == '-'));
    words.filter_map(|word| word.strip_prefix("--"))
}

/// Gives an error of the command line the line that helps: where the word is one of another tool's, or nearly one of ours.
pub(crate) fn advise(mut error: clap::Error, arguments: &[String]) -> clap::Error {
    let Some(hint) = hint(&error, arguments) else { return with_own_guess(without_far(error)) };
    // What is alike by its letters is another thing.
    for guess in [
        ContextKind::SuggestedArg,
        ContextKind::SuggestedSubcommand,
        ContextKind::SuggestedCommand,
        ContextKind::SuggestedValue,
    ] {
        error.remove(guess);
    }
    error.insert(ContextKind::Suggested, ContextValue::StyledStrs(vec![StyledStr::from(hint)]));
    error
}

/// Without an option that is proposed and has little of the word that was typed.
fn without_far(mut error: clap::Error) -> clap::Error {
    let is_far = match (error.get(ContextKind::InvalidArg), error.get(ContextKind::SuggestedArg)) {
        (Some(ContextValue::String(typed)), Some(ContextValue::String(ours))) => {
            !is_near(typed, ours)
        }
        _ => false,
    };
    if is_far {
        error.remove(ContextKind::SuggestedArg);
    }
    error
}

/// Whether a word is one of ours with some letters more, fewer or other than these.
fn is_near(typed: &str, ours: &str) -> bool {
    let typed = typed.split('=').next().unwrap_or(typed).trim_start_matches('-');
    let ours = ours.trim_start_matches('-');
    let typos = strsim::osa_distance(typed, ours);
    typos * 3 <= typed.chars().count() || typed.len() > 3 && ours.contains(typed)
}

/// What clap proposes besides options that are alike: of a word with dashes, that it could be a file's name, which it never is.
fn with_own_guess(mut error: clap::Error) -> clap::Error {
    if let Some(ContextValue::StyledStrs(tips)) = error.remove(ContextKind::Suggested) {
        let is_of_use = |tip: &StyledStr| !tip.to_string().contains("as a value");
        let tips: Vec<_> = tips.into_iter().filter(is_of_use).collect();
        if !tips.is_empty() {
            error.insert(ContextKind::Suggested, ContextValue::StyledStrs(tips));
        }
    }
    // `inrush help WORD` makes no guess, `inrush WORD` does.
    if error.kind() == ErrorKind::InvalidSubcommand
        && error.get(ContextKind::SuggestedSubcommand).is_none()
        && let Some(ContextValue::String(word)) = error.get(ContextKind::InvalidSubcommand)
        && let Err(other) = crate::help::command().try_get_matches_from(["inrush", word])
        && let Some(names) = other.get(ContextKind::SuggestedSubcommand)
    {
        error.insert(ContextKind::SuggestedSubcommand, names.clone());
    }
    error
}

/// What to say instead of a key in a file of settings that is none of the options which `may` stand there, nor one of these.
pub(crate) fn of_key(
    key: &str,
    command: &str,
    others: &[&'static str],
    may: impl Fn(&clap::Arg) -> bool,
) -> Option<String> {
    let whole = crate::help::command();
    let whole = whole.find_subcommand(command)?;
    if whole.get_arguments().any(|arg| arg.get_long() == Some(key)) {
        return Some(format!("say --{key} on the command line"));
    }
    let is_key = |name: &str| {
        others.contains(&name)
            || whole.get_arguments().any(|arg| arg.get_long() == Some(name) && may(arg))
    };
    let written = key.replace('_', "-").to_ascii_lowercase();
    if is_key(&written) {
        return Some(format!("write {written}"));
    }
    if let Some(hint) = of_option(key, None) {
        return Some(hint.to_owned());
    }
    let others = others.iter().map(|name| clap::Arg::new(*name).long(*name));
    let command = whole.clone().args(others);
    let error = command.try_get_matches_from(["inrush", &format!("--{key}")]).err()?;
    match without_far(error).get(ContextKind::SuggestedArg)? {
        ContextValue::String(option) => {
            let option = option.trim_start_matches('-');
            is_key(option).then(|| format!("did you mean {option}?"))
        }
        _ => None,
    }
}

fn hint(error: &clap::Error, arguments: &[String]) -> Option<String> {
    let said = |kind| match error.get(kind) {
        Some(ContextValue::String(text)) => Some(text.as_str()),
        _ => None,
    };
    let command = arguments.iter().find(|argument| !argument.starts_with('-'))?;
    let is_load = crate::config::COMMANDS.contains(&command.as_str());
    match error.kind() {
        ErrorKind::InvalidSubcommand => of_command(said(ContextKind::InvalidSubcommand)?),
        ErrorKind::UnknownArgument if is_load => {
            let option = said(ContextKind::InvalidArg)?;
            let is_file = |word: &&String| word.starts_with(option) && Path::new(word).exists();
            match arguments.iter().find(is_file) {
                Some(file) => Some(format!("name the file {}", shell_word(&format!("./{file}")))),
                None => of_option(option, value_of(option, arguments)).map(str::to_owned),
            }
        }
        ErrorKind::InvalidValue | ErrorKind::ValueValidation if is_load => {
            of_value(said(ContextKind::InvalidArg)?, said(ContextKind::InvalidValue)?)
                .map(str::to_owned)
        }
        ErrorKind::ArgumentConflict
            if command == "bench"
                && arguments.iter().any(|word| word.split('=').next() == Some("--resume")) =>
        {
            Some(
                "leave it out: a run goes on with the suite and the size that it was begun with"
                    .to_owned(),
            )
        }
        // Other steps of a job take what has begun it.
        ErrorKind::MissingRequiredArgument
            if arguments.iter().map(String::as_str).take(2).eq(["job", "recover"]) =>
        {
            Some("say inrush job recover URL ID: inrush job list URL has the names".to_owned())
        }
        _ => None,
    }
}

/// What was typed behind an option, as one word with it or as the next.
fn value_of<'a>(option: &str, arguments: &'a [String]) -> Option<&'a str> {
    let name = option.split('=').next().unwrap_or(option);
    let at = arguments.iter().position(|word| word.split('=').next() == Some(name))?;
    match arguments[at].split_once('=') {
        Some((_, value)) => Some(value),
        None => arguments.get(at + 1).map(String::as_str),
    }
}

fn of_option(text: &str, value: Option<&str>) -> Option<&'static str> {
    // Some tools write one dash, or underscores.
    let name = text.trim_start_matches('-');
    let name = name.split('=').next().unwrap_or(name);
    if name.chars().count() == 1 {
        return LETTERS.iter().find(|(letter, _)| *letter == name).map(|(_, hint)| *hint);
    }
    let spelt = |text: &str| text.to_ascii_lowercase().replace('_', "-");
    let name = spelt(name);
    if let Some(value) = value.filter(|_| MODES.contains(&name.as_str())).map(spelt) {
        let is_value = |(values, _): &&(&[&str], &str)| values.contains(&value.as_str());
        if let Some((_, hint)) = OF_MODES.iter().find(is_value) {
            return Some(hint);
        }
    }
    let known = |(names, _): &&(&[&str], &'static str)| names.contains(&name.as_str());
    OPTIONS.iter().find(known).map(|(_, hint)| *hint)
}

fn of_command(text: &str) -> Option<String> {
    let word = text.to_ascii_lowercase();
    let known = COMMANDS.iter().find(|(words, _)| words.contains(&word.as_str()));
    // Whoever names a file first wants it loaded.
    let is_place = text.contains(['.', '/', '*', ':']);
    known
        .map(|(_, hint)| (*hint).to_owned())
        .or_else(|| is_place.then(|| "say inrush load SOURCE... TARGET".to_owned()))
}

fn of_value(option: &str, value: &str) -> Option<&'static str> {
    let name = option.trim_start_matches('-').split([' ', '=']).next()?;
    let value = value.to_ascii_lowercase();
    let known = |(option, values, _): &&(&str, &[&str], &'static str)| {
        *option == name && values.contains(&value.as_str())
    };
    VALUES.iter().find(known).map(|(.., hint)| *hint)
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeSet;

    use super::*;

    #[test]
    fn hints_name_options_that_exist_and_are_for_words_that_do_not() {
        let command = crate::help::command();
        let load = command.find_subcommand("load").unwrap();
        let ours: BTreeSet<&str> = load.get_arguments().filter_map(clap::Arg::get_long).collect();
        let mut words = BTreeSet::new();
        for (names, hint) in OPTIONS {
            for name in *names {
                assert!(!ours.contains(name), "--{name} is an option");
                assert!(words.insert(*name), "--{name} has two hints");
                assert_eq!(of_option(&format!("--{name}"), None), Some(*hint));
            }
        }
        let letters: BTreeSet<char> =
            load.get_arguments().filter_map(clap::Arg::get_short).collect();
        for (letter, _) in LETTERS {
            assert!(!letters.contains(&letter.chars().next().unwrap()), "-{letter} is an option");
        }
        let of_letters = LETTERS.iter().map(|(_, hint)| *hint);
        let of_values = VALUES.iter().map(|(_, _, hint)| *hint);
        let of_commands = COMMANDS.iter().map(|(_, hint)| *hint);
        let of_modes = OF_MODES.iter().map(|(_, hint)| *hint);
        let all = OPTIONS.iter().map(|(_, hint)| *hint).chain(of_modes);
        for hint in all.chain(of_letters).chain(of_values).chain(of_commands) {
            for option in options_in(hint) {
                let is_ours = ours.contains(option) || option == "version";
                assert!(is_ours, "{hint}: there is no --{option}");
            }
        }
    }

    #[test]
    fn values_have_hints_where_they_are_not_values() {
        for (option, values, hint) in VALUES {
            for value in *values {
                let typed = format!("--{option}={value}");
                let error = crate::help::command()
                    .try_get_matches_from(["inrush", "load", "a.csv", "a.db", &typed])
                    .expect_err(&typed);
                let arguments = ["load".to_owned(), typed];
                let told = advise(error, &arguments).to_string();
                assert!(told.contains(hint), "{told}");
            }
        }
    }

    #[test]
    fn a_guess_by_letters_has_most_of_them() {
        for (typed, ours) in [
            ("--max-rejets", "--max-rejects"),
            ("--laness", "--lanes"),
            ("--tabel", "--table"),
            ("--if-exist", "--if-exists"),
            ("--timezone", "--time-zone"),
            ("--conflict=skip", "--on-conflict"),
        ] {
            assert!(is_near(typed, ours), "{typed} {ours}");
        }
        for (typed, ours) in [
            ("--timeout", "--time-zone"),
            ("--query", "--quiet"),
            ("--na", "--rename"),
            ("--alter", "--false"),
            ("--where", "--header"),
            ("--stats", "--strategy"),
            ("--alarm", "--lanes"),
        ] {
            assert!(!is_near(typed, ours), "{typed} {ours}");
        }
    }

    #[test]
    fn spellings_of_other_tools_are_one() {
        for text in ["--batch_size", "--batch-size=100", "-batch-size", "--Batch-Size"] {
            assert!(of_option(text, None).unwrap().contains("rows_per_statement"), "{text}");
        }
        assert_eq!(of_option("--warp", None), None);
        assert_eq!(of_command("fly"), None);
        assert!(of_command("weather.csv").unwrap().contains("inrush load"));
    }
}
