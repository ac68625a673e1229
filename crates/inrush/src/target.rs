//! The targets of this build, and the one that a text names.

use inrush_core::error::{Error, Result, without_secrets};

pub use inrush_core::target::*;

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

/// The target that `text` names.
///
/// # Errors
/// When no target of this build takes it.
pub fn find(text: &str) -> Result<(&'static dyn Target, Location)> {
    ALL.iter().find_map(|target| Some((*target, target.claim(text)?))).ok_or_else(|| {
        let spellings: Vec<&str> = ALL.iter().map(|target| target.spelling()).collect();
        let error = Error::usage(format!("'{}' is not a supported target", without_secrets(text)));
        match as_file(text) {
            Some(spelling) => error.advise(format!("say {spelling} to write such a file")),
            None => error,
        }
        .advise(format!("name the target last, as {}", spellings.join(" or ")))
    })
}

/// The schemes of files of rows, and the endings of names that tell one.
const SCHEMES: [(&str, &[&str]); 3] = [
    ("csv", &["csv", "tsv", "tab", "txt", "psv"]),
    ("jsonl", &["jsonl", "ndjson", "json"]),
    ("parquet", &["parquet", "pq", "arrow", "arrows", "feather", "ipc"]),
];

/// How to write to what is named like a file of rows: the scheme is never guessed, for the last of several sources may have been meant.
fn as_file(text: &str) -> Option<String> {
    let of_ending = |ending: &str| SCHEMES.iter().find(|(_, endings)| endings.contains(&ending));
    if text.contains("://") {
        return None;
    }
    // `tsv:out.tsv` means what `csv:` writes, and its scheme is no part of the name.
    let text = match text.split_once(':') {
        Some((scheme, path)) if of_ending(&scheme.to_ascii_lowercase()).is_some() => path,
        _ => text,
    };
    let (_, ending) = text.rsplit_once('.')?;
    let ending = ending.to_ascii_lowercase();
    let (scheme, endings) = of_ending(&ending)?;
    // A format that is read and not written keeps its name for what is.
    let known = ["csv", "jsonl", "ndjson", "parquet", "pq"].contains(&ending.as_str());
    let path = if known { text } else { &text[..text.len() - ending.len() - 1] };
    let spelling =
        if known { format!("{scheme}:{path}") } else { format!("{scheme}:{path}.{}", endings[0]) };
    ALL.iter().any(|target| target.claim(&spelling).is_some()).then_some(spelling)
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

    #[cfg(feature = "files")]
    #[test]
    fn a_file_of_rows_is_told_how_to_be_a_target() {
        let advice = |text: &str| find(text).err().unwrap().advice()[0].clone();
        assert_eq!(advice("out.csv"), "say csv:out.csv to write such a file");
        assert_eq!(advice("a/out.JSONL"), "say jsonl:a/out.JSONL to write such a file");
        assert_eq!(advice("out.tsv"), "say csv:out.csv to write such a file");
        assert_eq!(advice("tsv:a/out.tsv"), "say csv:a/out.csv to write such a file");
        assert_eq!(advice("json:out.json"), "say jsonl:out.jsonl to write such a file");
        assert_eq!(advice("JSON:out.jsonl"), "say jsonl:out.jsonl to write such a file");
        assert_eq!(advice("out.json"), "say jsonl:out.jsonl to write such a file");
        assert_eq!(advice("out.arrow"), "say parquet:out.parquet to write such a file");
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
