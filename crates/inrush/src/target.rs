//! The targets of this build, and the one that a text names.

mod spelled;

use inrush_core::error::{Error, Result, without_secrets};

pub use inrush_core::locks::expect_other_libraries;
pub use inrush_core::target::*;

pub(crate) use spelled::refuse_server;

/// Every target of this build. A target is a folder, its line here, and the contract suite passing.
pub static ALL: &[&dyn Target] = &[
    #[cfg(feature = "sqlite")]
    inrush_sqlite::TARGET,
    #[cfg(feature = "mysql")]
    inrush_mysql::TARGET,
    #[cfg(feature = "postgres")]
    inrush_postgres::TARGET,
    #[cfg(feature = "mongodb")]
    inrush_mongodb::TARGET,
    #[cfg(feature = "duckdb")]
    inrush_duckdb::TARGET,
    #[cfg(feature = "mssql")]
    inrush_mssql::TARGET,
    #[cfg(feature = "files")]
    inrush_files::TARGET,
];

/// A target that a build may lack, and what names it.
struct Known {
    /// Its name, which is that of the feature, too.
    name: &'static str,
    /// For people.
    title: &'static str,
    schemes: &'static [&'static str],
    endings: &'static [&'static str],
}

/// Every target that there is. Those of this build say themselves what they take.
#[rustfmt::skip]
const KNOWN: [Known; 7] = [
    Known { name: "sqlite", title: "SQLite", schemes: &["sqlite"], endings: &["db", "sqlite", "sqlite3"] },
    Known { name: "mysql", title: "MySQL or MariaDB", schemes: &["mysql", "mariadb"], endings: &[] },
    Known { name: "postgres", title: "PostgreSQL", schemes: &["postgres", "postgresql"], endings: &[] },
    Known { name: "mongodb", title: "MongoDB", schemes: &["mongodb", "mongodb+srv"], endings: &[] },
    Known { name: "duckdb", title: "DuckDB", schemes: &["duckdb"], endings: &["duckdb", "ddb"] },
    Known { name: "mssql", title: "SQL Server", schemes: &["mssql", "sqlserver"], endings: &[] },
    Known { name: "files", title: "files as targets", schemes: &["csv", "jsonl", "parquet", "arrow"], endings: &["parquet"] },
];

impl Known {
    /// Whether it is a file on this machine.
    fn is_file(&self) -> bool {
        !self.endings.is_empty()
    }

    fn is_meant(&self, text: &str) -> bool {
        match scheme(text) {
            Some((scheme, _)) => self.schemes.contains(&scheme.as_str()),
            None => {
                let text = text.to_ascii_lowercase();
                let ending = text.rsplit_once('.').map(|(_, ending)| ending);
                ending.is_some_and(|ending| self.endings.contains(&ending))
            }
        }
    }
}

/// Whether there is a target of this name, in this build or another.
pub(crate) fn is_known(name: &str) -> bool {
    KNOWN.iter().any(|known| known.name == name)
}

/// The target that `text` names.
///
/// # Errors
/// When no target of this build takes it.
pub fn find(text: &str) -> Result<(&'static dyn Target, Location)> {
    inrush_core::path::expect_expanded(text)?;
    // What a name that is not UTF-8 is, too.
    if text.starts_with("file://") {
        // Behind a question mark other programs have what opens the file.
        let (path, behind) = text.split_once('?').map_or((text, ""), |(path, _)| (path, "?..."));
        return Err(Error::usage(format!("'{path}{behind}' is a URL of a source, and no target"))
            .advise("name the target by its path, which has to be UTF-8"));
    }
    spelled::refuse_misread(text)?;
    ALL.iter().find_map(|target| Some((*target, target.claim(text)?))).ok_or_else(|| {
        let is_lacking = |known: &&Known| !ALL.iter().any(|target| target.name() == known.name);
        let meant = KNOWN.iter().filter(is_lacking).find(|known| known.is_meant(text));
        if let Some(Known { name, title, .. }) = meant {
            return Error::usage(format!(
                "this build has no {title}: it was built without the feature `{name}`"
            ));
        }
        let spellings: Vec<&str> = ALL.iter().map(|target| target.spelling()).collect();
        let error = Error::usage(format!("'{}' is not a supported target", without_secrets(text)));
        match (spelled::advice(text), as_file(text)) {
            (Some(advice), _) => return error.advise(advice),
            (None, Some((spelling, what))) => {
                error.advise(format!("say {spelling} to write {what}"))
            }
            (None, None) => error,
        }
        .advise(match spellings.as_slice() {
            [] => "build with the feature of a target: this build has none".to_owned(),
            spellings => format!("name the target last, as {}", spellings.join(" or ")),
        })
    })
}

/// What files of rows are to be, and the endings of names that tell it.
struct Written {
    scheme: &'static str,
    /// In words.
    what: &'static str,
    /// Endings of such files.
    own: &'static [&'static str],
    /// Endings of files that are read and not written, for which this is the nearest.
    others: &'static [&'static str],
    /// Whether a further ending ([`PACKED`]) has them compressed.
    is_packed: bool,
}

/// Endings of files of text that are written compressed.
const PACKED: [&str; 4] = ["gz", "gzip", "zst", "zstd"];

const WRITTEN: [Written; 3] = [
    Written {
        scheme: "csv",
        what: "a CSV file",
        own: &["csv"],
        others: &["tsv", "tab", "txt", "psv", "xlsx", "xls", "ods"],
        is_packed: true,
    },
    Written {
        scheme: "jsonl",
        what: "a JSON Lines file",
        own: &["jsonl", "ndjson"],
        others: &["json"],
        is_packed: true,
    },
    Written {
        scheme: "parquet",
        what: "a Parquet file",
        own: &["parquet", "pq"],
        others: &["arrow", "arrows", "feather", "ipc"],
        is_packed: false,
    },
];

/// How to write to what is named like a file of rows, and what that makes: the scheme is never guessed, for the last of several sources
/// may have been meant. Where its ending is of no file that is written, another one with another ending.
fn as_file(text: &str) -> Option<(String, String)> {
    let of_ending = |ending: &str| {
        let ending = ending.to_ascii_lowercase();
        let has = |endings: &[&str]| endings.contains(&ending.as_str());
        WRITTEN.iter().find(|written| has(written.own) || has(written.others))
    };
    if text.contains("://") {
        return None;
    }
    // `tsv:out.tsv` means what `csv:` writes, and its scheme is no part of the name.
    let (scheme, path) = match text.split_once(':') {
        Some((scheme, path)) if of_ending(scheme).is_some() => (Some(scheme), path),
        _ => (None, text),
    };
    let (path, packed) = match path.rsplit_once('.') {
        Some((inner, ending)) if PACKED.contains(&ending.to_ascii_lowercase().as_str()) => {
            (inner, format!(".{ending}"))
        }
        _ => (path, String::new()),
    };
    let (stem, ending) = match path.rsplit_once('.') {
        Some((stem, ending)) if of_ending(ending).is_some() => (stem, ending),
        // A name of no ending that tells more than its scheme.
        _ => (path, scheme?),
    };
    let Written { scheme, what, own, is_packed, .. } = of_ending(ending)?;
    let (packed, is_lost) = match is_packed {
        true => (packed.as_str(), false),
        false => ("", !packed.is_empty()),
    };
    // Standard output has no ending.
    let is_own = path == "-" || own.contains(&ending.to_ascii_lowercase().as_str());
    let spelling = match is_own {
        true => format!("{scheme}:{path}{packed}"),
        false => format!("{scheme}:{stem}.{}{packed}", own[0]),
    };
    let what = match is_own && !is_lost {
        true => (*what).to_owned(),
        false => format!("{what} instead"),
    };
    let is_target = ALL.iter().any(|target| target.claim(&spelling).is_some());
    is_target.then_some((spelling, what))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn ids_are_unique_and_begin_with_their_target() {
        let mut ids = std::collections::HashSet::new();
        for target in ALL {
            assert!(!target.strategies().is_empty());
            for strategy in target.strategies() {
                assert!(ids.insert(strategy.id()), "{}", strategy.id());
                assert!(strategy.id().starts_with(&format!("{}/", target.name())));
                for knob in strategy.knobs() {
                    knob.kind.check(knob.default).unwrap();
                }
            }
        }
    }

    #[test]
    fn what_names_a_target_that_a_build_lacks_is_known() {
        for target in ALL {
            let known = KNOWN.iter().find(|known| known.name == target.name()).unwrap();
            let schemes = known.schemes.iter().map(|scheme| match *scheme {
                "sqlite" | "duckdb" | "csv" | "jsonl" | "parquet" | "arrow" => {
                    format!("{scheme}:a")
                }
                _ => format!("{scheme}://h/d"),
            });
            for text in schemes.chain(known.endings.iter().map(|ending| format!("a.{ending}"))) {
                assert!(target.claim(&text).is_some() && known.is_meant(&text), "{text}");
            }
        }
        for known in KNOWN.iter().filter(|known| !ALL.iter().any(|own| own.name() == known.name)) {
            let error = find(&format!("{}://host/a", known.schemes[0])).err().unwrap();
            assert!(
                error.what().ends_with(&format!("without the feature `{}`", known.name)),
                "{error}"
            );
        }
    }

    #[cfg(feature = "files")]
    #[test]
    fn a_file_of_rows_is_told_how_to_be_a_target() {
        let advice = |text: &str| find(text).err().unwrap().advice()[0].clone();
        for (text, wanted) in [
            ("out.csv", "say csv:out.csv to write a CSV file"),
            ("a/out.JSONL", "say jsonl:a/out.JSONL to write a JSON Lines file"),
            ("out.tsv", "say csv:out.csv to write a CSV file instead"),
            ("tsv:a/out.tsv", "say csv:a/out.csv to write a CSV file instead"),
            ("tsv:-", "say csv:- to write a CSV file"),
            ("tsv:out", "say csv:out.csv to write a CSV file instead"),
            ("out.xlsx", "say csv:out.csv to write a CSV file instead"),
            ("json:out.json", "say jsonl:out.jsonl to write a JSON Lines file instead"),
            ("JSON:out.jsonl", "say jsonl:out.jsonl to write a JSON Lines file"),
            ("out.json", "say jsonl:out.jsonl to write a JSON Lines file instead"),
            ("out.csv.GZ", "say csv:out.csv.GZ to write a CSV file"),
            ("out.json.zst", "say jsonl:out.jsonl.zst to write a JSON Lines file instead"),
            ("out.parquet.gz", "say parquet:out.parquet to write a Parquet file instead"),
            ("out.arrow", "say parquet:out.parquet to write a Parquet file instead"),
            ("feather:out.feather", "say parquet:out.parquet to write a Parquet file instead"),
        ] {
            assert_eq!(advice(text), wanted);
        }
        for text in ["out.gz", "oracle://host/a.csv", "csv"] {
            assert!(advice(text).starts_with("name the target last"), "{text}");
        }
    }

    #[test]
    fn passwords_do_not_reach_messages() {
        for url in
            ["oracle://scott:tig@er@db/x", "oracle://db/x?password=tiger", "oracle:scott:tiger@db"]
        {
            let error = find(url).err().unwrap();
            assert!(!error.to_string().contains("tig"), "{error}");
            assert!(error.what().contains("'oracle:...'"), "{error}");
        }
    }
}
