//! A failure as `--json` reports it.

use inrush::Aftermath;
use serde_json::{Value, json};

/// `{"error": {...}}`, on one line. `has_target` says whether there is a target that the failure may have changed.
pub(crate) fn failure(error: &anyhow::Error, has_target: bool) -> String {
    line(failure_object(error, has_target))
}

/// What is told of the error.
pub(crate) fn failure_object(error: &anyhow::Error, has_target: bool) -> Value {
    match error.downcast_ref::<inrush::Error>() {
        Some(error) => of_library(error, has_target),
        None => object("other", &format!("{error:#}"), &[], has_target.then_some(UNTOUCHED)),
    }
}

/// The same for what is wrong on the command line, as clap words it: the first paragraph says what, and tips follow.
pub(crate) fn misuse(error: &clap::Error) -> String {
    let text = error.to_string();
    let first = text.split("\n\n").next().unwrap_or_default();
    let what: Vec<&str> = first.lines().map(str::trim).filter(|line| !line.is_empty()).collect();
    let what = what.join(" ");
    let tips: Vec<String> = text
        .lines()
        .filter_map(|line| line.trim().strip_prefix("tip: "))
        .map(str::to_owned)
        .collect();
    line(object("usage", what.strip_prefix("error: ").unwrap_or(&what), &tips, None))
}

/// A load that had not begun leaves the target as one that was undone.
const UNTOUCHED: Aftermath = Aftermath::NothingChanged;

fn of_library(error: &inrush::Error, has_target: bool) -> Value {
    let aftermath = error.aftermath().or(has_target.then_some(UNTOUCHED));
    let mut object = object(error.kind().word(), error.what(), error.advice(), aftermath);
    if let Some(place) = error.place() {
        object["file"] = json!(place.file);
        object["line"] = json!(place.line);
        object["record"] = json!(place.record);
        object["column"] = json!(place.column);
    }
    object
}

fn object(kind: &str, message: &str, advice: &[String], aftermath: Option<Aftermath>) -> Value {
    let rows_committed = match aftermath {
        Some(
            Aftermath::Committed { rows }
            | Aftermath::Resumable { rows, .. }
            | Aftermath::Written { rows },
        ) => Some(rows),
        _ => None,
    };
    json!({
        "kind": kind,
        "message": message,
        "advice": advice,
        "aftermath": aftermath.map(Aftermath::word),
        "rows_committed": rows_committed,
        "file": null,
        "line": null,
        "record": null,
        "column": null,
    })
}

fn line(error: Value) -> String {
    format!("{}\n", json!({ "version": env!("CARGO_PKG_VERSION"), "error": error }))
}
