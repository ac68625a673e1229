//! The layouts, case by case: whole and broken records. Each is read by the scanner and the model,
//! and by a reader with chunks and pieces of every size.

use inrush_scan::{JsonCutter, JsonFault, JsonLayout, Tail};

use super::machines::{Scanned, agreed, agreed_however_cut, expect_in_chunks};

/// A record as text: as it is written if it is whole, with the fault if it isn't; `-` for a blank
/// line.
fn shown(text: &str, row: &Scanned) -> String {
    let raw = &text[row.start..row.end];
    match row.fault {
        None if row.kind.is_none() => "-".to_owned(),
        None => raw.to_owned(),
        Some(fault) => format!("{raw} !{} {fault}", fault.at() as usize - row.start),
    }
}

/// `reads_as!(name, layout, input, [record, ...])`
macro_rules! reads_as {
    ($name:ident, $layout:ident, $input:expr, [$($record:expr),* $(,)?]) => {
        #[test]
        fn $name() {
            let rows = agreed_however_cut(JsonLayout::$layout, $input.as_bytes());
            let records: Vec<String> = rows.iter().map(|row| shown($input, row)).collect();
            assert_eq!(records, [$($record),*] as [&str; _]);
        }
    };
}

const COMMA_OR_BRACE: &str = "a comma or } is expected";

reads_as!(no_lines, Lines, "", []);
reads_as!(lines, Lines, "{\"a\":1}\n{\"a\":2}\n", ["{\"a\":1}", "{\"a\":2}"]);
reads_as!(no_last_newline, Lines, "1\n2", ["1", "2"]);
reads_as!(blank_lines, Lines, "\n{}\r\n \t\r\n\n[]\n ", ["-", "{}", "-", "-", "[]", "-"]);
reads_as!(space_around, Lines, " {} \r\n\t2\r", ["{}", "2"]);
reads_as!(two_on_a_line, Lines, "{} {}\n{}", ["{} {} !3 text follows the complete value", "{}"]);
reads_as!(
    over_two_lines,
    Lines,
    "{\"a\":\n1}\n{}",
    ["{\"a\": !0 what starts here is never closed", "1} !1 text follows the complete value", "{}"]
);
reads_as!(
    string_over_two_lines,
    Lines,
    "{\"a\":\"b\nc\"}\n{}",
    ["{\"a\":\"b !5 what starts here is never closed", "c\"} !0 a value is expected", "{}"]
);

reads_as!(no_array, Array, "", []);
reads_as!(blank_array, Array, " \n", [" !0 [ is expected".trim_start_matches('x')]);
reads_as!(empty_array, Array, " [\n] \n", []);
reads_as!(array, Array, "[{\"a\":1},{\"a\":2}]", ["{\"a\":1}", "{\"a\":2}"]);
reads_as!(array_on_lines, Array, "[\n{},\n [1,2] ,\n3\n]\n", ["{}", "[1,2]", "3"]);
reads_as!(
    pretty_array,
    Array,
    "[\n  {\n    \"a\": {\n      \"b\": \"]\"\n    }\n  },\n  {}\n]\n",
    ["{\n    \"a\": {\n      \"b\": \"]\"\n    }\n  }", "{}"]
);
reads_as!(
    commas_in_records,
    Array,
    "[\"a,b\",[1,2],{\"a\":[3,4]}]",
    ["\"a,b\"", "[1,2]", "{\"a\":[3,4]}"]
);
reads_as!(array_of_arrays, Array, "[[1],[2]]", ["[1]", "[2]"]);
reads_as!(trailing_comma, Array, "[1,2,]", ["1", "2", "] !0 a value is expected"]);
reads_as!(comma_too_many, Array, "[1,,2]", ["1", " !0 a value is expected", "2"]);
reads_as!(
    comma_missing,
    Array,
    "[{\"a\":1} {\"a\":2},\n3]",
    ["{\"a\":1} {\"a\":2} !7 a comma or ] is expected", "3"]
);
reads_as!(
    comma_missing_on_a_line,
    Array,
    "[\n{\"a\":1}\n{\"a\":2},\n3]",
    ["{\"a\":1} !7 a comma or ] is expected", "{\"a\":2}", "3"]
);
reads_as!(bracket_missing, Array, "{\"a\":1},\n2]", ["{\"a\":1} !0 [ is expected", "2"]);
reads_as!(not_closed, Array, "[1,2", ["1", "2 !1 a comma or ] is expected"]);
reads_as!(
    not_closed_behind_comma,
    Array,
    "[1,2,\n",
    ["1", "2", " !0 what starts here is never closed"]
);
reads_as!(not_closed_at_all, Array, "[", [" !0 what starts here is never closed"]);
reads_as!(
    not_closed_in_a_record,
    Array,
    "[1,\n{\"a\":[{\"b\":1},\n{\"b\":2",
    ["1", "{\"a\":[{\"b\":1},\n{\"b\":2 !0 what starts here is never closed"]
);
reads_as!(
    closed_too_early,
    Array,
    "[{\"a\":1}],\n{\"a\":2}]",
    ["{\"a\":1}] !7 a comma or ] is expected", "{\"a\":2}"]
);
reads_as!(two_arrays, Array, "[1,2]\n[3,4]", ["1", "2]\n[3,4] !1 a comma or ] is expected"]);
reads_as!(text_behind_array, Array, "[1] x", ["1] x !1 a comma or ] is expected"]);
reads_as!(
    brace_missing,
    Array,
    "[\n {\"a\":1,\n {\"a\":2},\n {\"a\":3}]",
    ["{\"a\":1, !0 what starts here is never closed", "{\"a\":2}", "{\"a\":3}"]
);
reads_as!(
    brace_missing_without_comma,
    Array,
    "[\n {\"a\":1\n {\"a\":2}]",
    ["{\"a\":1 !0 what starts here is never closed", "{\"a\":2}"]
);
reads_as!(
    brace_too_many,
    Array,
    "[\n{\"a\":1}},\n{\"a\":2}]",
    ["{\"a\":1}} !7 a comma or ] is expected", "{\"a\":2}"]
);
reads_as!(
    bracket_missing_in_record,
    Array,
    "[{\"a\":[1,2},{\"a\":3}]",
    ["{\"a\":[1,2} !9 a comma or ] is expected", "{\"a\":3}"]
);
reads_as!(
    bracket_for_brace,
    Array,
    "[{\"a\":{\"b\":1]},{\"a\":3}]",
    [format!("{{\"a\":{{\"b\":1]}},{{\"a\":3}}] !11 {COMMA_OR_BRACE}").as_str()]
);
reads_as!(
    bracket_for_brace_on_a_line,
    Array,
    "[{\"a\":{\"b\":1]},\n{\"a\":3}]",
    [format!("{{\"a\":{{\"b\":1]}}, !11 {COMMA_OR_BRACE}").as_str(), "{\"a\":3}"]
);
reads_as!(
    quote_missing,
    Array,
    "[\n{\"a\":\"x},\n{\"a\":\"y\"}]",
    ["{\"a\":\"x}, !5 what starts here is never closed", "{\"a\":\"y\"}"]
);
reads_as!(
    quote_missing_in_pretty,
    Array,
    "[\n{\n\"a\":\"x,\n\"b\":1\n},\n{\"a\":\"y\"}]",
    ["{\n\"a\":\"x,\n\"b\":1\n} !6 what starts here is never closed", "{\"a\":\"y\"}"]
);
reads_as!(
    quote_too_many,
    Array,
    "[\n{\"a\":\"x\"y\"},\n{\"a\":\"z\"}]",
    [format!("{{\"a\":\"x\"y\"}}, !8 {COMMA_OR_BRACE}").as_str(), "{\"a\":\"z\"}"]
);
// What is inside a broken record is never a record.
reads_as!(
    nested_stays_nested,
    Array,
    "[\n{\"a\":[\n{\"b\":1},\n{\"b\":2,,},\n{\"b\":3}\n]},\n{\"a\":4}]",
    [
        "{\"a\":[\n{\"b\":1},\n{\"b\":2,,},\n{\"b\":3}\n]} !23 a key in quotes is expected",
        "{\"a\":4}"
    ]
);
reads_as!(
    nested_without_comma_stays_nested,
    Array,
    "[\n {\"a\":[\n  {\"b\":1}\n  {\"b\":2}\n ]},\n {\"a\":3}]",
    ["{\"a\":[\n  {\"b\":1}\n  {\"b\":2}\n ]} !19 a comma or ] is expected", "{\"a\":3}"]
);
reads_as!(
    nested_without_indentation_tells,
    Array,
    "[\n{\"a\":[\n{\"b\":1}\n{\"b\":2}\n]},\n{\"a\":3}]",
    [
        "{\"a\":[\n{\"b\":1} !0 what starts here is never closed",
        "{\"b\":2}\n]} !7 a comma or ] is expected",
        "{\"a\":3}"
    ]
);
reads_as!(
    first_record_behind_the_bracket,
    Array,
    "[{\"a\":1,\n {\"a\":2},\n {\"a\":3},\n {\"a\":[4},\n  {\"a\":5}]",
    [
        "{\"a\":1, !0 what starts here is never closed",
        "{\"a\":2}",
        "{\"a\":3}",
        "{\"a\":[4} !7 a comma or ] is expected",
        "{\"a\":5}"
    ]
);
reads_as!(
    not_on_a_line_of_its_own,
    Array,
    "[{\n\"a\":1\n}, {\n\"a\":2,\n}, {\n\"a\":[3\n},\n{\"a\":4}]",
    [
        "{\n\"a\":1\n}",
        "{\n\"a\":2,\n} !9 a key in quotes is expected",
        "{\n\"a\":[3\n} !9 a comma or ] is expected",
        "{\"a\":4}"
    ]
);
reads_as!(
    member_on_a_line_of_its_own,
    Array,
    "[{\"a\":\n{\"b\":1 2},\"c\":\n{}},3]",
    [format!("{{\"a\":\n{{\"b\":1 2}},\"c\":\n{{}}}} !13 {COMMA_OR_BRACE}").as_str(), "3"]
);

reads_as!(no_values, Values, " \n\n", []);
reads_as!(
    values,
    Values,
    "{\n  \"a\": 1\n}\n{\"a\":2}{\"a\":3} [4]\n5 \"x y\"\tnull\n",
    ["{\n  \"a\": 1\n}", "{\"a\":2}", "{\"a\":3}", "[4]", "5", "\"x y\"", "null"]
);
reads_as!(
    junk_between_values,
    Values,
    "{\"a\":1},\n{\"a\":2}\nx {}\n3",
    ["{\"a\":1}", ", !0 a value is expected", "{\"a\":2}", "x {} !0 a value is expected", "3"]
);
reads_as!(
    scalars_need_space,
    Values,
    "1{}\n\"a\"\"b\"\n2,3\n4",
    [
        "1{} !1 text follows the complete value",
        "\"a\"\"b\" !3 text follows the complete value",
        "2,3 !1 text follows the complete value",
        "4"
    ]
);
reads_as!(
    brace_missing_in_values,
    Values,
    "{\n\"a\":{\n\"b\":1\n}\n{\n\"a\":2\n}\n",
    ["{\n\"a\":{\n\"b\":1\n} !0 what starts here is never closed", "{\n\"a\":2\n}"]
);
reads_as!(
    brace_too_many_in_values,
    Values,
    "{\"a\":1}\n}\n{\"a\":2}",
    ["{\"a\":1}", "} !0 a value is expected", "{\"a\":2}"]
);
reads_as!(
    broken_value_keeps_its_lines,
    Values,
    "{\n\"a\": tru,\n\"b\": [\n1,\n]\n}\n{}",
    ["{\n\"a\": tru,\n\"b\": [\n1,\n]\n} !7 a value is expected", "{}"]
);

reads_as!(
    sequence,
    Lines,
    "\x1e{}\n\x1e\x1e {\"a\":1}\n\x1e\n\x1e2\x1e\n{\x1e}",
    [
        "{}",
        "{\"a\":1}",
        "-",
        "2\x1e !1 text follows the complete value",
        "{\x1e} !1 a key in quotes or } is expected"
    ]
);
reads_as!(
    sequence_over_lines,
    Values,
    "\x1e{\n\"a\": [\n1\n]\n}\n\x1e{\n\"a\": 1\n\x1e{}\n\x1e[2]\x1e 3\n",
    ["{\n\"a\": [\n1\n]\n}", "{\n\"a\": 1 !0 what starts here is never closed", "{}", "[2]", "3"]
);
reads_as!(no_sequence, Array, "[{},\n\x1e{}]", ["{}", "\x1e{} !0 a value is expected"]);

/// Nothing that isn't white space or a separator is outside of records.
#[test]
fn nothing_is_dropped() {
    let texts = [
        "[{\"a\":1},x y,{\"b\":2]},\n{\"c\":3\n{\"d\":4}]]\n[5,6",
        "{\"a\":1}} {\"b\":\n{ {\"c\":2}\n{\"d\":3}\n,,] \"",
        "]]][[[\n{{{\n}}}\n\"\\\"\n\\",
    ];
    for text in texts {
        for layout in [JsonLayout::Lines, JsonLayout::Array, JsonLayout::Values] {
            let rows = agreed_however_cut(layout, text.as_bytes());
            let mut rest = text.as_bytes().to_vec();
            for row in rows {
                rest[row.start..row.end].fill(b' ');
            }
            let rest = String::from_utf8(rest).expect("ASCII");
            let left: String = rest.split_whitespace().collect();
            let separators = if layout == JsonLayout::Array { "[]," } else { "" };
            assert!(
                left.chars().all(|left| separators.contains(left)),
                "{layout:?} {text}: {left}"
            );
        }
    }
}

/// Where a record starts at the goal, and what is left until the input ends.
#[test]
fn cuts() {
    let lines = b"{}\n{}\n{}";
    let cut = |layout, bytes: &[u8], goal, tail| JsonCutter::new(layout).cut(bytes, goal, tail);
    assert_eq!(cut(JsonLayout::Lines, lines, 5, Tail::More), Some(3));
    assert_eq!(cut(JsonLayout::Lines, lines, 6, Tail::More), Some(6));
    assert_eq!(cut(JsonLayout::Lines, lines, 8, Tail::More), Some(6));
    assert_eq!(cut(JsonLayout::Lines, lines, 8, Tail::End), Some(8));
    assert_eq!(cut(JsonLayout::Lines, lines, 0, Tail::Limit), Some(3));
    assert_eq!(cut(JsonLayout::Lines, b"{}", 0, Tail::Limit), None);
    assert_eq!(cut(JsonLayout::Lines, b"", 0, Tail::End), None);
    let values = b"{} {}\n{}";
    assert_eq!(cut(JsonLayout::Values, values, 4, Tail::More), Some(2));
    assert_eq!(cut(JsonLayout::Values, values, 5, Tail::More), Some(5));
    assert_eq!(cut(JsonLayout::Values, values, 9, Tail::More), Some(8));
    assert_eq!(cut(JsonLayout::Values, b"{\"a\":[]", 1, Tail::Limit), None);
    let array = b"[{},{}]\n";
    assert_eq!(cut(JsonLayout::Array, array, 0, Tail::More), Some(4));
    assert_eq!(cut(JsonLayout::Array, array, 7, Tail::More), Some(4));
    assert_eq!(cut(JsonLayout::Array, array, 8, Tail::End), Some(8));
    assert_eq!(cut(JsonLayout::Array, &array[..4], 8, Tail::More), None);
    // Later chunks start with an element, which may be an array itself.
    let mut cutter = JsonCutter::new(JsonLayout::Array);
    assert_eq!(cutter.cut(b"[[1],[2],[3]]", 0, Tail::More), Some(5));
    assert_eq!(cutter.cut(b"[2],[3]]", 0, Tail::More), Some(4));
    assert_eq!(cutter.cut(b"[3]]", 0, Tail::More), None);
    assert_eq!(cutter.cut(b"[3]]", 0, Tail::End), Some(4));
}

/// Ten thousand records of which one is broken, in each way: none of the others is lost.
#[test]
fn one_broken_record_of_many() {
    let broken = [
        "{\"id\":1,\"t\":\"x}",
        "{\"id\":1,\"t\":[1,2}",
        "{\"id\":1,\"o\":{\"a\":1}",
        "{\"id\":1}}",
    ];
    for record in broken {
        let around = "{\"id\":7,\"t\":\"some text\",\"o\":{\"a\":[1,{}]}}";
        let records = [vec![around; 5_000], vec![record], vec![around; 5_000]].concat();
        let array = format!("[\n{}\n]\n", records.join(",\n"));
        let rows = agreed_quickly(JsonLayout::Array, &array);
        assert_eq!(rows.len(), 10_001, "{record}");
        assert_eq!(rows.iter().filter(|row| row.fault.is_some()).count(), 1, "{record}");
        assert!(rows[5_000].fault.is_some());
        let lines = records.join("\n");
        let rows = agreed_quickly(JsonLayout::Lines, &lines);
        assert_eq!(rows.len(), 10_001);
        assert_eq!(rows.iter().filter(|row| row.fault.is_some()).count(), 1);
        let rows = agreed_quickly(JsonLayout::Values, &lines);
        assert_eq!(rows.iter().filter(|row| row.fault.is_some()).count(), 1, "{record}");
        assert_eq!(
            rows.iter().filter(|row| row.fault.is_none()).count(),
            10_000 + usize::from(record.ends_with("}}"))
        );
    }
}

/// The scanner's records, whole and in chunks; the model is too slow here.
fn agreed_quickly(layout: JsonLayout, text: &str) -> Vec<Scanned> {
    let rows = super::machines::scanned(layout, inrush_scan::JsonPart::WHOLE, text.as_bytes());
    expect_in_chunks(layout, text.as_bytes(), 1 << 18, 1 << 18, &rows);
    rows
}

/// Input made to be slow: each would take hours if a byte were looked at once for every record,
/// bracket or line before it.
#[test]
fn hostile() {
    const COUNT: usize = 1 << 17;
    let texts = [
        "[".repeat(COUNT),
        "]".repeat(COUNT),
        "{".repeat(COUNT),
        "{\n".repeat(COUNT),
        "[\n".repeat(COUNT),
        "[{\n".repeat(COUNT),
        "\n ".repeat(COUNT) + "{",
        "{\"a\":".repeat(COUNT),
        "{\"a\":1,\n".repeat(COUNT),
        "[".to_owned() + &"]  ".repeat(COUNT),
        "{\"a\":[1,2},\n".repeat(COUNT),
        "{\"".repeat(COUNT),
        "\"\n".repeat(COUNT),
        "\"\\".repeat(COUNT),
        ",".repeat(COUNT),
        "{} ,".repeat(COUNT),
        "1 ".repeat(COUNT),
        "x\n".repeat(COUNT),
        "{}x".repeat(COUNT),
        "[1}".repeat(COUNT),
        "[{\"a\":".to_owned() + &"[1}\n,".repeat(COUNT),
    ];
    for text in texts {
        for layout in [JsonLayout::Lines, JsonLayout::Array, JsonLayout::Values] {
            let rows =
                super::machines::scanned(layout, inrush_scan::JsonPart::WHOLE, text.as_bytes());
            let goal = text.len() / 8;
            expect_in_chunks(layout, text.as_bytes(), goal, goal, &rows);
            let small = &text[..text.len().min(60)];
            agreed(layout, small.as_bytes());
        }
    }
}

/// What a record ends in before anything else comes doesn't tell of what comes.
#[test]
fn faults_are_the_records_own() {
    let whole = "{\"a\":1,\n{\"a\":2}";
    let rows = agreed(JsonLayout::Values, whole.as_bytes());
    let alone = agreed(JsonLayout::Values, &whole.as_bytes()[..8]);
    assert_eq!(rows[0].fault, Some(JsonFault::Unclosed { at: 0 }));
    assert_eq!(rows[0].fault, alone[0].fault);
}
