//! `inrush doctor`: what it names, what it proposes, and that it leaves everything as it is.

#[cfg(feature = "bench")]
mod measure;
mod mysql;
mod others;
mod postgres;
#[cfg(feature = "sqlite")]
mod sqlite;

use serde_json::Value as Json;

use crate::fixture::Outcome;

/// What a doctor's answer names: severity and id of each finding, in its order.
fn named(answer: &Json) -> Vec<String> {
    let word = |finding: &Json, key: &str| finding[key].as_str().unwrap().to_owned();
    let findings = answer["findings"].as_array().unwrap();
    findings
        .iter()
        .map(|finding| format!("{} {}", word(finding, "severity"), word(finding, "id")))
        // What the machine does meanwhile is no matter of the test's.
        .filter(|named| {
            !["note sync-time", "note steal", "note throttled"].contains(&named.as_str())
        })
        .collect()
}

/// The statements that it proposes, in their order.
fn statements(answer: &Json) -> Vec<String> {
    let findings = answer["findings"].as_array().unwrap().iter();
    let of = |finding: &Json| finding["statements"].as_array().unwrap().clone();
    findings.flat_map(of).map(|sql| sql.as_str().unwrap().to_owned()).collect()
}

/// The answer, whose keys are those that are promised.
fn answer(outcome: &Outcome) -> Json {
    let answer = outcome.json();
    let keys = |json: &Json| json.as_object().unwrap().keys().cloned().collect::<Vec<_>>();
    assert_eq!(keys(&answer), sorted(["target", "version", "seconds", "findings", "not_known"]));
    for finding in answer["findings"].as_array().unwrap() {
        assert_eq!(
            keys(finding),
            sorted([
                "id",
                "severity",
                "object",
                "is",
                "should",
                "why",
                "source",
                "statements",
                "file_lines",
                "restart",
                "risk",
                "worth",
            ])
        );
        assert!(finding["source"].as_str().unwrap().starts_with("https://"), "{finding}");
        for key in ["object", "is", "should", "why", "risk"] {
            assert_ne!(finding[key], "", "{key} of {finding}");
        }
    }
    answer
}

fn sorted<const N: usize>(mut words: [&str; N]) -> Vec<String> {
    words.sort_unstable();
    words.map(str::to_owned).to_vec()
}
