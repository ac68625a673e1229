//! Targets as other programs spell them, and how they are written here.

use std::path::Path;

use inrush_core::error::{Error, Result, without_secrets};
use inrush_core::target::scheme;
use inrush_core::wording::shell_word;

use super::{ALL, KNOWN, Known};

/// Other programs' schemes, and the target that is meant.
const SCHEMES: [(&[&str], &str); 6] = [
    (&["pgsql", "psql", "pg"], "postgres"),
    (&["mysql2", "mysqli", "mysqlx"], "mysql"),
    (&["mongo"], "mongodb"),
    (&["sqlite3"], "sqlite"),
    (&["duck"], "duckdb"),
    (&["sqlsrv"], "mssql"),
];

/// Schemes of object stores, which no target writes to.
const STORES: [&str; 9] = ["s3", "s3a", "gs", "gcs", "az", "abfs", "abfss", "r2", "hdfs"];

/// Endings of SQLite's files that other files have as well, so that they name no target without a scheme.
const OF_SQLITE: [&str; 4] = [".db3", ".sqlitedb", ".s3db", ".sdb"];

/// Refuses what a target would take for the name of a file, and is hardly meant as one.
///
/// # Errors
/// When it is such a spelling.
pub(super) fn refuse_misread(text: &str) -> Result<()> {
    let Some((scheme, rest)) = scheme(text) else { return Ok(()) };
    if let Some((name, table)) = table_parameter(rest) {
        return Err(Error::usage(format!("the URL has a parameter {name}, and names no table"))
            .advise(format!("leave it out, and say --table {}", shell_word(table))));
    }
    let Some(known) = of_scheme(&scheme).filter(|known| known.is_file()) else { return Ok(()) };
    let refused = |place: &str, why: &str| {
        Error::usage(format!("{scheme}:{}{why}", path_without_secrets(place)))
    };
    if rest.starts_with("file:") {
        let path = parameters(rest).map_or(rest, |(path, _)| path);
        return Err(refused(path, ": a file has one scheme").advise(written(known, &scheme, rest)));
    }
    let bare = rest.trim_start_matches('/');
    if is_url(bare) {
        let why = format!(": {scheme}: takes a file, and this is a URL");
        let advice = advice(bare).unwrap_or_else(|| written(known, &scheme, rest));
        return Err(refused(bare, &why).advise(advice));
    }
    if let Some((path, name)) = parameters(rest)
        && !Path::new(rest).exists()
    {
        // The value may be a password, whatever it is called.
        let why = format!(
            ": {scheme}: takes no parameters, and would take ?{name}=... for a part of the file's name"
        );
        return Err(refused(path, &why).advise(format!(
            "{}; what can be set is said by --set (inrush strategies {})",
            written(known, &scheme, rest),
            known.name
        )));
    }
    match here_to_sqlalchemy(known, rest) {
        Some(name) => {
            let why = format!(" is {name} in this folder to SQLAlchemy, and /{name} to others");
            Err(refused(rest, &why).advise(written(known, &scheme, rest)))
        }
        None => Ok(()),
    }
}

/// Refuses the URL of a server as a source.
///
/// # Errors
/// When it is one.
pub(crate) fn refuse_server(source: &str) -> Result<()> {
    match scheme(source) {
        Some((scheme, rest))
            if rest.starts_with("//") && of_scheme(&scheme).is_some_and(|known| !known.is_file()) =>
        {
            Err(Error::usage(format!("{scheme}://...: a database is a target, and no source"))
                .advise("if it is the target, name it last; its rows come by its own client: CLIENT ... | inrush load - TARGET --table NAME, as CSV or JSON Lines"))
        }
        _ => Ok(()),
    }
}

/// Whether a text is a URL, be it one of several schemes.
fn is_url(text: &str) -> bool {
    let is_word = |word: &str| scheme(&format!("{word}:")).is_some();
    text.split_once("://").is_some_and(|(words, _)| words.split(':').all(is_word))
}

/// A file's path, and the name of the first parameter behind it.
fn parameters(rest: &str) -> Option<(&str, &str)> {
    let (path, parameters) = rest.split_once('?').filter(|_| !rest.contains(":memory:"))?;
    let (name, _) = parameters.split_once('=')?;
    is_word(name).then_some((path, name))
}

/// The path that SQLAlchemy, which knows no schemes but these, takes for one from this folder on.
fn here_to_sqlalchemy<'t>(known: &Known, rest: &'t str) -> Option<&'t str> {
    let name = rest.strip_prefix("///").filter(|_| ["sqlite", "duckdb"].contains(&known.name))?;
    may_be_here(name).then_some(name)
}

/// A path behind a scheme without what may be a password. Slashes alone make no login of it.
fn path_without_secrets(path: &str) -> String {
    let bare = path.trim_start_matches('/');
    format!("{}{}", &path[..path.len() - bare.len()], without_secrets(bare))
}

/// How to write a file's place that was written otherwise. It is advised only where it is taken.
fn written(known: &Known, scheme: &str, rest: &str) -> String {
    let scheme = if known.schemes.contains(&scheme) { scheme } else { known.name };
    let path = parameters(rest).map_or(rest, |(path, _)| path);
    let places = match path.strip_prefix("file:") {
        // Behind file:// a path is one from the root on.
        Some(path) if path.starts_with("///") => vec![format!("{scheme}:{}", &path[2..])],
        Some(path) => vec![format!("{scheme}:{path}")],
        None => match here_to_sqlalchemy(known, path) {
            Some(name) => vec![format!("{scheme}:{name}"), format!("{scheme}:/{name}")],
            None => vec![format!("{scheme}:{path}")],
        },
    };
    let bare = path.strip_prefix("file:").unwrap_or(path);
    let is_shown = path_without_secrets(bare) == bare;
    let is_taken = |place: &String| is_shown && refuse_misread(place).is_ok() && is_claimed(place);
    match places.iter().all(is_taken) {
        true => format!("write {}", places.join(" or ")),
        false => format!("write {}", spelling(known).unwrap_or_else(|| format!("{scheme}:FILE"))),
    }
}

/// The parameter of a server's URL that is to name a table. What has an `@` behind it may be a piece of a password.
fn table_parameter(rest: &str) -> Option<(&str, &str)> {
    const NAMES: [&str; 5] = ["table", "tablename", "table_name", "schema", "collection"];
    let (_, query) =
        rest.strip_prefix("//")?.split_once('?').filter(|(_, query)| !query.contains('@'))?;
    let mut parameters = query.split('&').filter_map(|parameter| parameter.split_once('='));
    let found =
        parameters.find(|(name, _)| NAMES.iter().any(|known| known.eq_ignore_ascii_case(name)))?;
    Some(match found.0.eq_ignore_ascii_case("schema") {
        true => (found.0, "SCHEMA.TABLE"),
        false => found,
    })
}

fn is_word(text: &str) -> bool {
    !text.is_empty() && text.bytes().all(|byte| byte.is_ascii_alphanumeric() || byte == b'_')
}

/// Whether a path behind `sqlite:///` may be meant from this folder on: SQLAlchemy has a slash more before one from the root on.
fn may_be_here(name: &str) -> bool {
    let is_memory = name == ":memory:";
    let name = Path::new(name);
    if name.has_root() || is_memory {
        return false;
    }
    let folder = name.parent().unwrap_or(name);
    if folder.as_os_str().is_empty() || folder.starts_with(".") || folder.starts_with("..") {
        return true;
    }
    let real = |folder: &Path| folder.canonicalize().ok().filter(|found| found.is_dir());
    real(folder).is_some_and(|here| real(&Path::new("/").join(folder)) != Some(here))
}

/// What to write instead of a text that no target takes.
pub(super) fn advice(text: &str) -> Option<String> {
    let Some((scheme, rest)) = scheme(text) else { return of_no_scheme(text) };
    // What may hold a password is not repeated.
    let is_shown = without_secrets(text) == text;
    if let Some((database, driver)) = scheme.split_once('+') {
        let known = of_scheme(database)?;
        return Some(format!(
            "leave +{driver} out, for no driver is named here: write {}",
            spelling(known)?
        ));
    }
    match scheme.as_str() {
        "jdbc" => {
            let inner = of_scheme(&self::scheme(rest)?.0)?;
            let is_whole = is_shown && is_claimed(rest);
            let meant = if is_whole { rest.to_owned() } else { spelling(inner)? };
            Some(format!("leave jdbc: out: write {meant}"))
        }
        "file" => {
            let path = parameters(rest).map_or(rest, |(path, _)| path);
            Some(format!("write the path alone: {path}")).filter(|_| is_shown)
        }
        store if STORES.contains(&store) && rest.starts_with("//") && has_files() => Some(format!(
            "write a file, such as parquet:OUT.parquet, and copy it to {store}: with the store's own client"
        )),
        _ => match of_scheme(&scheme) {
            Some(known) => {
                let same = format!("{}:{rest}", known.name);
                let is_whole = is_shown && known.is_file() && is_claimed(&same);
                Some(format!("write {}", if is_whole { same } else { spelling(known)? }))
            }
            // What looks like the name of a file may be one.
            None if is_shown && !rest.starts_with("//") => {
                let path = format!("./{text}");
                is_claimed(&path).then(|| {
                    format!("write {path} if that is the file's name: {scheme}: begins no target")
                })
            }
            None => None,
        },
    }
}

/// As `psql` takes a place, or by an ending that may be another file's.
fn of_no_scheme(text: &str) -> Option<String> {
    if ["-", "/dev/stdout"].contains(&text) && has_files() {
        return Some("write csv:-, jsonl:- or arrow:- for standard output".to_owned());
    }
    let lower = text.to_ascii_lowercase();
    if ["host=", "dbname=", "hostaddr=", "service="].iter().any(|name| lower.starts_with(name)) {
        return Some(format!("write it as a URL: {}", spelling(of_scheme("postgres")?)?));
    }
    let is_of_sqlite = OF_SQLITE.iter().any(|ending| lower.ends_with(ending));
    let has_sqlite = ALL.iter().any(|target| target.name() == "sqlite");
    (is_of_sqlite && has_sqlite).then(|| format!("write sqlite:{text}"))
}

fn has_files() -> bool {
    ALL.iter().any(|target| target.name() == "files")
}

fn is_claimed(text: &str) -> bool {
    ALL.iter().any(|target| target.claim(text).is_some())
}

/// The target whose scheme this is here or elsewhere.
fn of_scheme(scheme: &str) -> Option<&'static Known> {
    let other = SCHEMES.iter().find(|(words, _)| words.contains(&scheme)).map(|(_, name)| *name);
    let is_meant = |known: &&Known| known.schemes.contains(&scheme) || other == Some(known.name);
    KNOWN.iter().find(is_meant)
}

/// How such a target is written, if this build has it.
fn spelling(known: &Known) -> Option<String> {
    let target = ALL.iter().find(|target| target.name() == known.name)?;
    Some(target.spelling().to_owned())
}

#[cfg(all(
    test,
    feature = "sqlite",
    feature = "postgres",
    feature = "mysql",
    feature = "mongodb",
    feature = "files"
))]
mod tests {
    use crate::target::find;

    #[test]
    fn what_other_programs_write_is_told_as_it_is_written_here() {
        let advice = |text: &str| find(text).err().expect(text).advice()[0].clone();
        for (text, wanted) in [
            ("postgresql+psycopg2://u@h/d", "leave +psycopg2 out"),
            ("mysql+pymysql://u@h/d", "leave +pymysql out"),
            ("sqlite+pysqlite:///x.db", "leave +pysqlite out"),
            ("jdbc:sqlite:x.db", "leave jdbc: out: write sqlite:x.db"),
            ("jdbc:postgresql://h/d", "leave jdbc: out: write postgresql://h/d"),
            ("pgsql://h/d", "write postgres://USER@HOST"),
            ("mysql2://h/d", "write mysql://USER@HOST"),
            ("mongo://h/d", "write mongodb://USER@HOST"),
            ("postgres:x.db", "write postgres://USER@HOST"),
            ("mysql:x.parquet", "write mysql://USER@HOST"),
            ("host=h dbname=d", "write it as a URL: postgres://"),
            ("sqlite3:x.db", "write sqlite:x.db"),
            ("x.db3", "write sqlite:x.db3"),
            ("x.SQLiteDB", "write sqlite:x.SQLiteDB"),
            ("file:x.db", "write the path alone: x.db"),
            ("s3://b/x.parquet", "write a file, such as parquet:OUT.parquet, and copy it"),
            ("-", "write csv:-, "),
            ("/dev/stdout", "write csv:-, "),
            ("http:x.db", "write ./http:x.db if that is the file's name"),
            ("https:x.parquet", "write ./https:x.parquet if that is the file's name"),
            ("sqlite:x.db?mode=ro", "write sqlite:x.db; what can be set is said by --set"),
            ("sqlite:file:x.db", "write sqlite:x.db"),
            ("sqlite:///rel.db", "write sqlite:rel.db or sqlite:/rel.db"),
            ("mysql://u@h/d?tablename=t1", "leave it out, and say --table t1"),
            (
                "postgres://u@h/d?sslmode=disable&schema=s",
                "leave it out, and say --table SCHEMA.TABLE",
            ),
            ("sqlite:////../rel.db?a=b", "write sqlite:////../rel.db; what"),
            ("sqlite:///rel.db?a=b", "write sqlite:rel.db or sqlite:/rel.db; what"),
            ("sqlite:file:x.db?mode=ro&cache=shared", "write sqlite:x.db"),
            ("sqlite:file:///x.db?mode=ro", "write sqlite:/x.db"),
            ("sqlite3:x.db?mode=ro", "write sqlite:x.db; what can be set is said by --set"),
            ("file:/x.db?mode=rw", "write the path alone: /x.db"),
            ("sqlite:postgres://u@h/d", "write postgres://USER@HOST"),
            ("csv:mysql2://u@h/d", "write mysql://USER@HOST"),
            ("parquet:s3://b/x.parquet", "write a file, such as parquet:OUT.parquet, and copy it"),
            ("jsonl:https://h/a.jsonl?token=x", "write csv:PATH, jsonl:PATH or "),
        ] {
            let told = advice(text);
            assert!(told.starts_with(wanted), "{text}: {told}");
        }
        for text in ["./http:x.db", "sqlite:///no/such/folder/x.db", "sqlite:////x.db", "C:x.db"] {
            assert!(find(text).is_ok(), "{text}");
        }
        assert_eq!(find("sqlite:///:memory:").unwrap().1.secret, ":memory:");
    }

    #[test]
    fn a_url_behind_the_scheme_of_a_file_is_refused_and_not_shown() {
        for scheme in
            ["sqlite:", "sqlite3:", "sqlite://", "sqlite:///", "csv:", "jsonl:", "parquet:"]
        {
            for url in [
                "postgres://u:tiger@h/d",
                "https://h/a?key=tiger",
                "S3://tiger:k@b/a",
                "jdbc:mysql://u:tiger@h/d",
            ] {
                let place = format!("{scheme}{url}");
                let error = find(&place).err().expect(&place);
                assert!(!error.to_string().contains("tiger"), "{error}");
                assert!(error.what().ends_with("takes a file, and this is a URL"), "{error}");
            }
        }
    }
}
