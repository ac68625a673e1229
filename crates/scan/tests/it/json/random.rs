//! Random bytes, made of what matters.

use inrush_scan::JsonLayout;
use proptest::prelude::*;

use super::machines::{agreed, agreed_however_cut, expect_in_chunks};

/// Tokens, and what reads differently when it is cut in two.
const PIECES: [&str; 46] = [
    "{",
    "}",
    "[",
    "]",
    ",",
    ":",
    "\"",
    "\"",
    "\n",
    " ",
    "\\",
    "\\\"",
    "\\n",
    "\\u00e4",
    "\\ud83d\\ude00",
    "\\ud83d",
    "\\ude00",
    "\\u12",
    "\\x",
    "\t",
    "\r\n",
    "\r",
    "1",
    "0",
    "-",
    ".",
    "e5",
    "E-2",
    "-12.50",
    "null",
    "true",
    "false",
    "nul",
    "a",
    "\"a\"",
    "\"b\":",
    "\"a\":1",
    "\u{e4}",
    "\u{1f600}",
    "\u{1}",
    "\u{1e}",
    "\n\u{1e}{",
    "\n{",
    "},\n{",
    "\n  {",
    "0123456789abcdefghijklmnopqrstuvwxyz",
];

/// Records and parts of them, whole and broken, with and without what separates them.
const RECORDS: [&str; 26] = [
    "{\"a\":1,\"b\":\"x\"}",
    "{\"a\":2,\"b\":\"y\"}",
    "{ \"a\" : 2 , \"b\" : null }",
    "{\"a\":1,\"c\":[1,{\"d\":2}]}",
    "{\n  \"a\": {\n    \"b\": \"}\"\n  },\n  \"c\": [\n    {\n      \"d\": 1\n    },\n    {}\n  ]\n}",
    "{\"a\":[\n{\"b\":1},\n{\"b\":2}\n]}",
    "{\"a\":\n{\"b\":1}}",
    "{\"a\":1",
    "{\"a\":\"x}",
    "{\"a\":[1,2}",
    "{\"a\":1]",
    "{\"a\":1}}",
    "{\"a\":1}]",
    "{\"a\":1,}",
    "{}",
    "[1,\"x\",null]",
    "[]",
    "12",
    "\"x y\"",
    "null",
    "junk",
    "{\"\\u0061\":1}",
    "[",
    "]",
    "{\"o\":[{\"a\":1},\n{\"o\":[{\"a\":1}]}",
    "{\"0123456789abcdefghijklmnopqrstuvwxyz0123456789\":\"0123456789abcdefghijklmnopqrstuvwxyz0123456789\"}",
];

const SEPARATORS: [&str; 11] =
    [",", ",\n", ", ", "\n", "\n\n", " ", "", "\r\n", " ,\n  ", "\n\u{1e}", "\u{1e}"];

fn layouts() -> impl Strategy<Value = JsonLayout> {
    prop_oneof![Just(JsonLayout::Lines), Just(JsonLayout::Array), Just(JsonLayout::Values)]
}

fn pieces(count: impl Into<proptest::collection::SizeRange>) -> impl Strategy<Value = String> {
    proptest::collection::vec(proptest::sample::select(&PIECES[..]), count)
        .prop_map(|pieces| pieces.concat())
}

/// Records one after the other, with the separators of one layout and now and then of another.
fn records() -> impl Strategy<Value = String> {
    let separator = proptest::sample::select(&SEPARATORS[..]);
    let record = proptest::sample::select(&RECORDS[..]);
    (
        proptest::collection::vec((record, separator.clone(), 0..6_u8), 0..12),
        separator,
        any::<(bool, bool)>(),
    )
        .prop_map(|(records, usual, (opens, closes))| {
            let mut text = String::from(if opens { "[" } else { "" });
            let last = records.len().saturating_sub(1);
            for (i, (record, separator, odd)) in records.into_iter().enumerate() {
                text += record;
                text += if odd == 0 {
                    separator
                } else if i < last {
                    usual
                } else {
                    ""
                };
            }
            text + if closes { "]\n" } else { "" }
        })
}

/// A value, written with white space or without.
fn documents() -> impl Strategy<Value = String> {
    let leaf = prop_oneof![
        Just("null".to_owned()),
        Just("true".to_owned()),
        Just("false".to_owned()),
        any::<i64>().prop_map(|number| number.to_string()),
        any::<f64>()
            .prop_filter("JSON has no others", |number| number.is_finite())
            .prop_map(|number| format!("{number:e}")),
        any::<String>().prop_map(|text| serde_json::to_string(&text).expect("a string")),
    ];
    leaf.prop_recursive(4, 24, 5, |inner| {
        let space = || proptest::sample::select(&["", "", " ", "\n  ", "\t", "\r\n"][..]);
        let key = prop_oneof!["[a-c]", "\\PC{0,20}"]
            .prop_map(|key| serde_json::to_string(&key).expect("a string"));
        prop_oneof![
            proptest::collection::vec((space(), inner.clone(), space()), 0..5).prop_map(|parts| {
                let parts = parts.into_iter().map(|(a, value, b)| format!("{a}{value}{b}"));
                format!("[{}]", parts.collect::<Vec<_>>().join(","))
            }),
            proptest::collection::vec((space(), key, space(), inner), 0..5).prop_map(|parts| {
                let parts = parts
                    .into_iter()
                    .map(|(a, key, b, value)| format!("{a}{key}{b}:{b}{value}{a}"));
                format!("{{{}}}", parts.collect::<Vec<_>>().join(","))
            }),
        ]
    })
}

/// A document with a few bytes replaced, put in or taken out.
fn mutated() -> impl Strategy<Value = String> {
    let edit = (any::<proptest::sample::Index>(), 0..3_u8, proptest::sample::select(&PIECES[..]));
    (documents(), proptest::collection::vec(edit, 0..4)).prop_map(|(document, edits)| {
        let mut characters: Vec<char> = document.chars().collect();
        for (index, what, piece) in edits {
            let at = index.index(characters.len() + 1);
            let end = (at + usize::from(what > 0)).min(characters.len());
            let piece = if what == 1 { "" } else { piece };
            characters.splice(at..end, piece.chars());
        }
        characters.into_iter().collect()
    })
}

/// Findings go into the tables, not into files beside the tests.
fn cases(cases: u32) -> ProptestConfig {
    ProptestConfig { cases, failure_persistence: None, ..ProptestConfig::default() }
}

proptest! {
    #![proptest_config(cases(3000))]

    /// Any document, with mistakes or without, is accepted and understood as `serde_json` does.
    #[test]
    fn documents_agree(text in mutated()) {
        for layout in [JsonLayout::Lines, JsonLayout::Array, JsonLayout::Values] {
            agreed(layout, text.as_bytes());
        }
        agreed(JsonLayout::Array, format!("[{text}]").as_bytes());
    }

    #[test]
    fn pieces_agree(
        layout in layouts(),
        text in pieces(0..60),
        step in 1_usize..100,
        goal in 0_usize..200,
    ) {
        let rows = agreed(layout, text.as_bytes());
        expect_in_chunks(layout, text.as_bytes(), step, goal, &rows);
    }

    #[test]
    fn records_agree(
        layout in layouts(),
        text in records(),
        step in 1_usize..100,
        goal in 0_usize..300,
    ) {
        let rows = agreed(layout, text.as_bytes());
        expect_in_chunks(layout, text.as_bytes(), step, goal, &rows);
    }
}

proptest! {
    #![proptest_config(cases(300))]

    #[test]
    fn all_cuts_agree(layout in layouts(), text in pieces(0..14)) {
        agreed_however_cut(layout, text.as_bytes());
    }
}
