//! Values, case by case: what is JSON and what isn't, and what strings mean. Each is scanned as a
//! line, as an element and on its own, and inside of an object and an array; `serde_json` has to agree
//! that it is one or isn't.

use inrush_scan::{
    JsonFault, JsonKind, JsonLayout, JsonPart, JsonScanner, json_lines, json_unescape,
};

use super::machines::{agreed, agreed_however_cut};

const LAYOUTS: [JsonLayout; 3] = [JsonLayout::Lines, JsonLayout::Array, JsonLayout::Values];

/// `text` in all the places where a value can be; whether it is one in all of them, or in none.
fn is_json(text: &str) -> bool {
    let inside = [
        format!("{{\"a\":{text}}}"),
        format!("[{text}]"),
        format!("{{\"a\":[{{\"b\": {text} }},1],\"c\":{text}}}"),
        format!("[[{text}] , {text}]"),
    ];
    let mut answers = Vec::new();
    for document in std::iter::once(text).chain(inside.iter().map(String::as_str)) {
        for layout in LAYOUTS {
            let wrapped = match layout {
                JsonLayout::Array => format!("[\t{document}\r]"),
                _ => document.to_owned(),
            };
            let rows = agreed(layout, wrapped.as_bytes());
            answers.push(rows.len() == 1 && rows[0].fault.is_none());
        }
    }
    assert!(answers.iter().all(|answer| *answer == answers[0]), "{text}: {answers:?}");
    answers[0]
}

#[test]
fn json() {
    let yes = [
        "null",
        "true",
        "false",
        "0",
        "-0",
        "1",
        "-1",
        "10",
        "1234567890123456789012345678901234567890",
        "0.0",
        "-0.5",
        "1.25",
        "0e0",
        "0E+1",
        "1e5",
        "1E-5",
        "1.5e+10",
        "123456789.0123456789e-123",
        "\"\"",
        "\"a\"",
        "\"\u{7f}\"",
        "\"\u{e4}\u{20ac}\u{1f600}\"",
        "\"\u{2028}\u{0085}\"",
        "\"/\"",
        r#""\"""#,
        r#""\\""#,
        r#""\/\b\f\n\r\t""#,
        r#""\u0000""#,
        r#""\u00e4\u00E4""#,
        r#""\uD83D\uDE00""#,
        r#""\\u""#,
        r#""\\\\""#,
        r#""\\\"""#,
        r#""{}[],:""#,
        "{}",
        "[]",
        "{ }",
        "[\t\r]",
        "[[]]",
        "{\"\":{}}",
        "{\"a\":1,\"a\":2}",
        "[ 1 ,\t2 ]",
        "{ \"a\" :\t1 , \"b\"\r: 2 }",
        "[{},[],{}]",
        r#"{"\u0061":1}"#,
        "\"0123456789abcde\"",
        "\"0123456789abcdef\"",
        "\"0123456789abcdef0123456789abcdef\"",
        "\"0123456789abcde\\\"\"",
        "\"0123456789abcdef\\\"0123456789abcdef\"",
    ];
    for text in yes {
        assert!(is_json(text), "{text}");
    }
}

#[test]
fn no_json() {
    let no = [
        "nul",
        "NULL",
        "True",
        "none",
        "NaN",
        "Infinity",
        "-Infinity",
        "undefined",
        "nullx",
        "truefalse",
        "+1",
        "01",
        "-01",
        "00",
        "1.",
        ".5",
        "-",
        "-.5",
        "1.e5",
        "1e",
        "1e+",
        "1E-",
        "1.5.2",
        "0x10",
        "1_000",
        "1a",
        "--1",
        "- 1",
        "1 000",
        "\u{ff11}",
        "'a'",
        "\"a",
        "a\"",
        "\"",
        "\"a\"b\"",
        "\"\t\"",
        "\"\u{0}\"",
        "\"\u{1f}\"",
        r#""\""#,
        r#""\x""#,
        r#""\u""#,
        r#""\u12""#,
        r#""\u12g4""#,
        r#""\u+123""#,
        r#""\U0041""#,
        r#""\'""#,
        r#""\ ""#,
        r#""\uD83D""#,
        r#""\uDE00""#,
        r#""\uD83Dx""#,
        r#""\uD83D\n""#,
        r#""\uD83D\u0041""#,
        r#""\uD83D\uD83D""#,
        r#""\uDE00\uD83D""#,
        r#""\uD83D\u""#,
        "{",
        "}",
        "]",
        "[",
        "{]",
        "[}",
        "{}}",
        "[]]",
        "[1,]",
        "[,1]",
        "[,]",
        "[1,,2]",
        "[1 2]",
        "[1;2]",
        "{,}",
        "{\"a\"}",
        "{\"a\":}",
        "{\"a\":1,}",
        "{\"a\":1,,\"b\":2}",
        "{\"a\":1 \"b\":2}",
        "{\"a\" 1}",
        "{\"a\"::1}",
        "{a:1}",
        "{'a':1}",
        "{1:2}",
        "{null:1}",
        "{\"a\":1;}",
        "{[]:1}",
        "{\"a\\x\":1}",
        "{\"a\u{1}\":1}",
        "[\u{a0}1]",
        "[\u{b}1]",
        "[\u{c}1]",
        "\u{feff}1",
        "/**/1",
        "1//",
        "#",
        "\\",
        ":",
        "\"0123456789abcdef\u{1}\"",
        "\"0123456789abcde\\x\"",
        "\"\\u12\"34\"",
    ];
    for text in no {
        assert!(!is_json(text), "{text}");
    }
}

#[test]
fn depth() {
    for (open, close) in [("[", "]"), ("{\"a\":", "}"), ("[{\"a\":", "}]")] {
        let levels = open.matches(['[', '{']).count();
        for (count, is_whole) in [(127 / levels, true), (128, false), (500, false)] {
            let text = open.repeat(count) + "1" + &close.repeat(count);
            let rows = agreed_however_cut_somewhere(JsonLayout::Values, &text);
            assert_eq!(rows[0].fault.is_none(), is_whole, "{text}");
            if !is_whole {
                let over = text.match_indices(['[', '{']).nth(127).expect("so many").0;
                assert_eq!(rows[0].fault, Some(JsonFault::Depth { at: over as u32 }));
                // The next record is found all the same.
                let rows = agreed_however_cut_somewhere(JsonLayout::Values, &(text + " {\"a\":1}"));
                assert_eq!(rows.len(), 2);
                assert_eq!(rows[1].kind, Some(JsonKind::Object));
            }
        }
    }
}

/// As [`agreed_however_cut`], for texts too long for every way.
fn agreed_however_cut_somewhere(layout: JsonLayout, text: &str) -> Vec<super::machines::Scanned> {
    let rows = agreed(layout, text.as_bytes());
    for goal in [0, 1, 64, 200, 1000, 10_000] {
        super::machines::expect_in_chunks(layout, text.as_bytes(), 100, goal, &rows);
    }
    rows
}

#[test]
fn members() {
    let text = br#"{"a":1,"b\n":"x","":"\u00e4\"","n":null,"t":true,"f":false,"o":{"x": [1]},"l":[ {} ],"d":-1.5E3}"#;
    let rows = agreed_however_cut(JsonLayout::Lines, text);
    let shown: Vec<String> = rows[0]
        .members
        .iter()
        .map(|(key, kind, value)| {
            let text = |bytes: &[u8]| String::from_utf8(bytes.to_vec()).expect("UTF-8");
            format!("{}={kind:?}:{}", text(key), text(value))
        })
        .collect();
    assert_eq!(
        shown,
        [
            "a=Number:1",
            "b\n=String:x",
            "=EscapedString:\u{e4}\"",
            "n=Null:null",
            "t=True:true",
            "f=False:false",
            r#"o=Object:{"x": [1]}"#,
            "l=Array:[ {} ]",
            "d=Number:-1.5E3",
        ]
    );
    // An array's elements have no keys.
    let rows = agreed_however_cut(JsonLayout::Lines, b"[1, \"a\",null]");
    let empty = Vec::new;
    assert_eq!(
        rows[0].members,
        [
            (empty(), JsonKind::Number, b"1".to_vec()),
            (empty(), JsonKind::String, b"a".to_vec()),
            (empty(), JsonKind::Null, b"null".to_vec()),
        ]
    );
}

/// How many keys each record shares with the one before.
#[test]
fn same_keys() {
    let lines = [
        (r#"{"a":1,"b":2,"c":3}"#, 0),
        (r#"{"a":"x","b":[],"c":{}}"#, 3),
        (r#"{ "a" : 1 , "b" : 2, "c": 3 }"#, 3),
        (r#"{ "a" : 1 , "b" : 2, "c": 3 }"#, 3),
        (r#"{"a":1,"b":2}"#, 2),
        (r#"{"a":1,"b":2,"c":3}"#, 2),
        (r#"{"b":1,"a":2,"c":3}"#, 0),
        (r#"{"b":1,"ab":2,"c":3}"#, 1),
        (r#"{"b":1,"a":2,"c":3}"#, 1),
        (r#"{}"#, 0),
        (r#"{"a":1}"#, 0),
        (r#"{"\u0061":1}"#, 0),
        (r#"{"a":1}"#, 0),
        (r#"[1]"#, 0),
        (r#"{"a":1}"#, 0),
        (r#"{"a":1"#, 0),
        (r#"{"a":1}"#, 0),
        (r#""#, 0),
        (r#"{"a":1}"#, 0),
        (r#"{"a":   1}"#, 1),
        (r#"{"a":1}"#, 1),
    ];
    let text: Vec<&str> = lines.iter().map(|(line, _)| *line).collect();
    let text = text.join("\n");
    let mut scanner = JsonScanner::new(JsonLayout::Lines, JsonPart::WHOLE, text.as_bytes());
    let mut members = Vec::new();
    for (line, same_keys) in lines {
        let record = scanner.next(&mut members).expect("a line");
        assert_eq!(record.same_keys, same_keys, "{line}");
    }
    assert_eq!(scanner.next(&mut members), None);
}

#[test]
fn faults() {
    // As `{` at the fault's place.
    let cases = [
        ("{\"a\":1 ^\"b\":2}", "a comma or } is expected"),
        ("{\"a\":1,^}", "a key in quotes is expected"),
        ("{^,}", "a key in quotes or } is expected"),
        ("{\"a\" ^1}", "a colon is expected"),
        ("{\"a\": ^tru}", "a value is expected"),
        ("[1 ^2]", "a comma or ] is expected"),
        ("{\"a\":\"b^\tc\"}", "a control character in a string must be written as an escape"),
        ("{\"a\":\"b^\\xc\"}", "a backslash starts no valid escape"),
        ("{\"a\":^-}", "a number isn't written as in JSON"),
        ("{\"a\":^\"b}", "what starts here is never closed"),
        ("^{\"a\":1", "what starts here is never closed"),
        ("{\"a\":1} ^{}", "text follows the complete value"),
    ];
    for (marked, words) in cases {
        let at = marked.find('^').expect("a mark");
        let text = marked.replacen('^', "", 1);
        let rows = agreed_however_cut(JsonLayout::Lines, text.as_bytes());
        let fault = rows[0].fault.expect("a fault");
        assert_eq!((fault.at() as usize, fault.to_string().as_str()), (at, words), "{text}");
    }
    let deep = "[".repeat(128);
    let rows = agreed(JsonLayout::Lines, deep.as_bytes());
    let words = rows[0].fault.expect("a fault").to_string();
    assert_eq!(words, "arrays and objects are nested more than 127 levels deep");
}

/// Invalid UTF-8 is for the caller to find; it passes as text and spans stay where they belong.
#[test]
fn bytes_that_are_no_utf8() {
    let text = b"{\"a\":\"\xff\x80\xc3\"}\n{\"\xe2\x82\":\"\\u00e4\xf0\"}\n\xff\n{\xff}\n";
    let mut scanner = JsonScanner::new(JsonLayout::Lines, JsonPart::WHOLE, text);
    let mut members = Vec::new();
    assert!(scanner.next(&mut members).is_some_and(|record| record.fault.is_none()));
    assert_eq!(members[0].value.raw(text), b"\xff\x80\xc3");
    assert!(scanner.next(&mut members).is_some_and(|record| record.fault.is_none()));
    assert_eq!(members[0].key.raw(text), b"\xe2\x82");
    let mut value = Vec::new();
    json_unescape(members[0].value.raw(text), &mut value);
    assert_eq!(value, b"\xc3\xa4\xf0");
    assert!(scanner.next(&mut members).is_some_and(|record| record.fault.is_some()));
    assert!(scanner.next(&mut members).is_some_and(|record| record.fault.is_some()));
    assert_eq!(scanner.next(&mut members), None);
}

/// What hasn't been scanned comes out somehow, and nothing breaks.
#[test]
fn unescape_of_anything() {
    let cases = [
        ("plain", "plain"),
        ("\\", ""),
        ("a\\", "a"),
        ("\\u", "\u{fffd}"),
        ("\\u12", "\u{fffd}12"),
        ("\\ud800", "\u{fffd}"),
        ("\\ud800\\u0041", "\u{fffd}A"),
        ("\\udc00x", "\u{fffd}x"),
        ("\\q", "q"),
    ];
    for (raw, expected) in cases {
        let mut text = b"before ".to_vec();
        json_unescape(raw.as_bytes(), &mut text);
        assert_eq!(String::from_utf8(text), Ok(format!("before {expected}")), "{raw}");
    }
}

#[test]
fn lines_are_counted() {
    assert_eq!(json_lines(b""), 0);
    assert_eq!(json_lines(b"[\n1\r\n]"), 2);
}
