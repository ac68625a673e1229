//! The grammar, case by case. Each case is read by the model, the scanner, csv-core where it means
//! the same, and by a reader with chunks and pieces of every size.

use inrush_scan::{Dialect, DialectError, Fault, Newline};

use crate::machines::agreed_however_cut;
use crate::model::Row;

const CSV: Dialect = Dialect::csv();
const TSV: Dialect = Dialect::tsv();
const BARE: Dialect = Dialect { quote: None, ..Dialect::csv() };
const ESCAPE: Dialect = Dialect { escape: Some(b'\\'), ..Dialect::csv() };
const BARE_ESCAPE: Dialect = Dialect { quote: None, ..ESCAPE };
const COMMENT: Dialect = Dialect { comment: Some(b'#'), ..Dialect::csv() };
const BLANKS: Dialect = Dialect { blanks: true, ..Dialect::csv() };
const MAC: Dialect = Dialect { newline: Newline::Cr, ..Dialect::csv() };

/// A record as text: fields in brackets, quoted ones in quotes; a broken one as its raw line, its
/// fault and where that is, counted from the record's start.
fn shown(bytes: &[u8], row: &Row) -> String {
    let (name, at) = match row.fault {
        None => {
            let field = |(value, quoted): &(Vec<u8>, bool)| {
                let value = value.escape_ascii().to_string().replace("\\\"", "\"");
                if *quoted { format!("[\"{value}\"]") } else { format!("[{value}]") }
            };
            return row.fields.iter().map(field).collect();
        }
        Some(Fault::UnclosedQuote { at }) => ("unclosed", at),
        Some(Fault::TextAfterQuote { at }) => ("text", at),
        Some(Fault::EscapedEnd { at }) => ("escaped end", at),
    };
    let raw = bytes[row.start..row.end].escape_ascii().to_string().replace("\\\"", "\"");
    format!("{raw} ({name} at {})", at as usize - row.start)
}

/// `reads_as!(name, dialect, input, [record, ...])`
macro_rules! reads_as {
    ($name:ident, $dialect:expr, $input:expr, [$($record:expr),* $(,)?]) => {
        #[test]
        fn $name() {
            let input: &[u8] = $input.as_ref();
            let rows = agreed_however_cut(&$dialect, input);
            let records: Vec<String> = rows.iter().map(|row| shown(input, row)).collect();
            assert_eq!(records, [$($record),*] as [&str; _]);
        }
    };
}

reads_as!(nothing, CSV, "", []);
reads_as!(one_field, CSV, "a", ["[a]"]);
reads_as!(fields, CSV, "a,b,c\n", ["[a][b][c]"]);
reads_as!(empty_fields, CSV, ",,\n,\n", ["[][][]", "[][]"]);
reads_as!(no_last_newline, CSV, "a,b\nc,", ["[a][b]", "[c][]"]);
reads_as!(blank_lines, CSV, "\n\r\na\n\n", ["[]", "[]", "[a]", "[]"]);
reads_as!(crlf, CSV, "a,b\r\nc,d\r\n", ["[a][b]", "[c][d]"]);
reads_as!(lone_cr_is_data, CSV, "a\rb,\r\r\n\r", [r"[a\rb][\r]", r"[\r]"]);
reads_as!(empty_field_before_crlf, CSV, "a,\r\n", ["[a][]"]);
reads_as!(tabs, TSV, "a,b\t\"c\td\"\n", ["[a,b][\"c\td\"]".replace('\t', r"\t").as_str()]);

reads_as!(quoted, CSV, "\"a\",\"b,c\"\n\"d\"", [r#"["a"]["b,c"]"#, r#"["d"]"#]);
reads_as!(quoted_empty, CSV, "\"\",,\"\"\n", [r#"[""][][""]"#]);
reads_as!(quoted_newlines, CSV, "\"a\nb\r\nc\rd\"\r\ne\n", [r#"["a\nb\r\nc\rd"]"#, "[e]"]);
reads_as!(
    doubled,
    CSV,
    "\"a\"\"b\",\"\"\"\",\"\"\"c\"\n",
    [r#"["a"b"]["""]["""c"]"#.replacen("\"\"\"c", "\"\"c", 1).as_str()]
);
reads_as!(quote_in_text, CSV, "a\"b,c\",\"d\"\n 7\" \n", [r#"[a"b][c"]["d"]"#, r#"[ 7" ]"#]);
reads_as!(no_quotes, BARE, "\"a,b\"\n\"\n", [r#"["a][b"]"#, r#"["]"#]);

reads_as!(text_after_quote, CSV, "\"a\"b,c\nd\n", [r#""a"b,c (text at 3)"#, "[d]"]);
reads_as!(blank_after_quote, CSV, "x,\"a\" \r\nd\n", [r#"x,"a"  (text at 5)"#, "[d]"]);
reads_as!(
    blanks_around_quotes,
    BLANKS,
    " \"a\" ,\t\"b, c\"\t \r\n \"d\"",
    [r#"["a"]["b, c"]"#, r#"["d"]"#]
);
reads_as!(
    blanks_in_text,
    BLANKS,
    " a \"b , \" \"\"\" ,\n ,\t\n",
    [r#"[ a "b ][" ""][]"#, r"[ ][\t]"]
);
reads_as!(text_after_blanks, BLANKS, "x, \"\" c\ny", [r#"x, "" c (text at 6)"#, "[y]"]);
reads_as!(unclosed_behind_blanks, BLANKS, "x,  \"\nb\n", [r#"x,  " (unclosed at 4)"#, "[b]"]);
reads_as!(cr_after_quote, CSV, "\"a\"\r,b\n", [r#""a"\r,b (text at 3)"#]);
reads_as!(cr_after_last_quote, CSV, "\"a\"\r", [r#""a"\r (text at 3)"#]);
reads_as!(unclosed, CSV, "a,\"b\nc,d\ne\"f\n", [r#"a,"b (unclosed at 2)"#, "[c][d]", r#"[e"f]"#]);
reads_as!(unclosed_last, CSV, "a\nb,\"c", ["[a]", r#"b,"c (unclosed at 2)"#]);
reads_as!(unclosed_nothing, CSV, "\"", [r#"" (unclosed at 0)"#]);
reads_as!(
    unclosed_doubled,
    CSV,
    "\"\"\"\n\"\"\"x\n",
    [r#"""" (unclosed at 0)"#, r#""""x (unclosed at 0)"#]
);
reads_as!(
    text_far_below,
    CSV,
    "1,\"a\n2\n3\nb\"x\n",
    [r#"1,"a (unclosed at 2)"#, "[2]", "[3]", r#"[b"x]"#]
);
reads_as!(
    second_field_is_broken,
    CSV,
    "\"a\n\",\"b\nc\"d\n",
    [r#""a (unclosed at 0)"#, r#"","b (text at 3)"#, r#"[c"d]"#,]
);
reads_as!(
    opens_in_both_states,
    CSV,
    "\",x\",\"\n\",x\",\"\n\",x\",\"\n7\"7\n",
    [
        r#"",x"," (unclosed at 5)"#,
        r#"",x"," (unclosed at 5)"#,
        r#"",x"," (unclosed at 5)"#,
        r#"[7"7]"#,
    ]
);
reads_as!(same_but_whole, CSV, "\",x\",\"\n\",x\",\"\n\"\n", [
    r#"[",x"]["\n",x"]["\n"]"#.replace("[\",x\"][\"\\n\",x\"]", "[\",x\"][\"\\n\"][x\"]").as_str(),
]);

reads_as!(escapes, ESCAPE, r#"a\,b,\"c,"d\"e\\","f""g\,""#, [r#"[a,b]["c]["d"e\\"]["f"g,"]"#,]);
reads_as!(escaped_newlines, ESCAPE, "a\\\nb,\"c\\\nd\"\ne\n", [r#"[a\nb]["c\nd"]"#, "[e]"]);
reads_as!(escaped_cr, ESCAPE, "a\\\r\nb\n", [r"[a\r]", "[b]"]);
reads_as!(escape_is_last, ESCAPE, "a,b\\", [r"[a][b\\]"]);
reads_as!(escape_hides_quote, ESCAPE, "\"a\\\"\nb\n", [r#""a\\" (unclosed at 0)"#, "[b]"]);
reads_as!(escape_before_quote, ESCAPE, "\\x\"a\",\\,\"b\n", [r#"[x"a"][,"b]"#]);
reads_as!(escaped_end, ESCAPE, "a\nb\\\n", ["[a]", r"b\\ (escaped end at 1)"]);
reads_as!(
    escaped_end_in_broken,
    ESCAPE,
    "a\\\nb,\"c\nd",
    [r"a\\ (escaped end at 1)", r#"b,"c (unclosed at 2)"#, "[d]",]
);
reads_as!(
    escape_without_quotes,
    BARE_ESCAPE,
    "\"a\\,b\\\n\",\\N\n\\\\\n",
    [r#"["a,b\n"][N]"#, r"[\\]",]
);

reads_as!(comments, COMMENT, "#a,\"b\nc\n#\"\n\n#", ["[c]", "[]"]);
reads_as!(
    comment_within,
    COMMENT,
    "a,#b\n #c\n\"#d\n#e\"\n",
    ["[a][#b]", "[ #c]", r##"["#d\n#e"]"##]
);
reads_as!(comment_after_broken, COMMENT, "\"a\n#\"b\nc\n", [r#""a (unclosed at 0)"#, "[c]"]);
reads_as!(comment_crlf, COMMENT, "#\"\r\na\r\n", ["[a]"]);
reads_as!(only_comments, COMMENT, "#a\n#b", []);

reads_as!(mac, MAC, "a,b\r\rc\nd\r", ["[a][b]", "[]", r"[c\nd]"]);
reads_as!(mac_quoted, MAC, "\"a\rb\"\r\"c\"\n\r", [r#"["a\rb"]"#, r#""c"\n (text at 3)"#]);
reads_as!(mac_unclosed, MAC, "\"a\rb\n\r", [r#""a (unclosed at 0)"#, r"[b\n]"]);

/// Fields and quotes across the borders of the scanner's 64-byte blocks.
#[test]
fn every_alignment() {
    for dialect in [CSV, ESCAPE, COMMENT] {
        for indent in 0..140 {
            let mut input = "x".repeat(indent);
            input.push_str(",\"a\"\"b\n\",\"\",c\\,d\r\n\"e\"\r\n#\"\n\"f\"g\nh\n\"i\n");
            let rows = crate::machines::agreed(&dialect, input.as_bytes());
            for goal in [0, 1, indent, indent + 12, indent + 70] {
                for step in [1, 64, 65] {
                    crate::machines::expect_in_chunks(
                        &dialect,
                        input.as_bytes(),
                        step,
                        goal,
                        &rows,
                    );
                }
            }
        }
    }
}

#[test]
fn lines_are_newline_bytes() {
    assert_eq!(inrush_scan::count_lines(&CSV, b"a\r\n\"\n\"\nb"), 3);
    assert_eq!(inrush_scan::count_lines(&MAC, b"a\r\n\"\n\"\nb"), 1);
}

#[test]
fn dialects_are_checked() {
    assert_eq!(CSV.check(), Ok(()));
    assert_eq!(Dialect { delimiter: 0, ..CSV }.check(), Ok(()));
    assert_eq!(Dialect { delimiter: b'"', ..CSV }.check(), Err(DialectError::TwoMeanings(b'"')));
    assert_eq!(
        Dialect { comment: Some(b','), ..CSV }.check(),
        Err(DialectError::TwoMeanings(b','))
    );
    assert_eq!(Dialect { escape: Some(b'\r'), ..CSV }.check(), Err(DialectError::Newline(b'\r')));
    assert_eq!(Dialect { delimiter: 0xa7, ..CSV }.check(), Err(DialectError::NotAscii(0xa7)));
    let message = DialectError::Newline(b'\n').to_string();
    assert_eq!(message, r"`\n` ends records and can't have another meaning");
}

#[test]
fn an_escape_before_a_plain_byte_disproves_that_it_is_one() {
    for (text, at) in [
        ("a,\"say \\\"hi\\\"\",\\\\,\\,b\\\n", None),
        ("C:\\new", Some(2)),
        ("\\\\srv\\share", Some(5)),
        ("\\", None),
        ("", None),
    ] {
        assert_eq!(ESCAPE.disproof(text.as_bytes()), at, "{text}");
        assert_eq!(CSV.disproof(text.as_bytes()), None, "{text}");
    }
}
