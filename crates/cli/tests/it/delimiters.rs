//! What separates fields: found by looking, or said by the file itself in a first line `sep=;`.

use crate::fixture::{Fixture, rows};

fn utf16(text: &str) -> Vec<u8> {
    format!("\u{feff}{text}").encode_utf16().flat_map(u16::to_le_bytes).collect()
}

/// The report of a load of this file into `t`, and its rows.
#[track_caller]
fn loaded(
    bytes: impl AsRef<[u8]>,
    options: &[&str],
) -> (serde_json::Value, Vec<Vec<rusqlite::types::Value>>) {
    let fixture = Fixture::new();
    fixture.write("in.csv", bytes);
    let report = fixture.report(&[&["in.csv", "t.db", "--table", "t"], options].concat());
    (report, fixture.table("t.db", "t"))
}

#[test]
fn a_title_is_named_by_the_load_that_it_ends() {
    let fixture = Fixture::new();
    fixture.write("in.csv", "Report 2024\n\nid,v\n1,2\n2,3\n4,5\n");
    let advice = "the first 2 lines have fewer fields than the others: if they are a title, --skip-lines 2 leaves them out";
    fixture.refuses(&["in.csv", "t.db"]).says(&["line 3: 2 fields", advice, "--max-rejects"]);
    let run = fixture.load(&["in.csv", "t.db", "--json"]).exits(1);
    assert_eq!(run.json()["error"]["advice"][0], advice);
    // As it is said.
    fixture.load(&["in.csv", "t.db", "--skip-lines", "2"]).exits(0);
    assert_eq!(fixture.table("t.db", "in"), rows![[1, 2], [2, 3], [4, 5]]);
    // Comments and blank lines are no title.
    fixture.write("in.csv", "\n# made\n# v1.2\nid,a,b\n1,2,3\n4,5\n");
    let run = fixture.refuses(&["in.csv", "u.db", "--comment", "#"]).says(&["line 6: 2 fields"]);
    assert!(!run.stderr.contains("title"), "{run:?}");
}

/// As Excel saves a sheet with lines above the header.
#[test]
fn a_title_that_is_filled_up_with_empty_fields_is_named() {
    let fixture = Fixture::new();
    let text = "Kontoums\u{e4}tze;;;;\nZeitraum:;\"1.1. - 31.1.\";;;\n;;;;\nTag;Text;Betrag;Saldo;Art\n1;a;2;3;x\n2;b;3;6;y\n";
    fixture.write("in.csv", text);
    let note = "the first 3 lines have fewer values than the others: if they are a title, --skip-lines 3 leaves them out";
    let run = fixture.load(&["in.csv", "t.db"]).exits(0);
    run.prints(&[note]);
    let again = ["in.csv", "t.db", "--if-exists", "replace", "--skip-lines", "3"];
    let report = fixture.report(&again);
    assert!(!report["warnings"].to_string().contains("title"), "{report}");
    assert_eq!(fixture.table("t.db", "in"), rows![[1, "a", 2, 3, "x"], [2, "b", 3, 6, "y"]]);
    // What is mostly empty has no title, and of what the user calls no header nothing is said.
    for (text, header) in [
        ("a;b;c;d\n1;;;\n;2;;\n1;2;3;4\n".to_owned(), "auto"),
        (format!("{}1;2;3;4\n", "1;;;\n".repeat(20)), "auto"),
        ("1;;;\n2;2;3;4\n".to_owned(), "no"),
    ] {
        let report = loaded(&text, &["--header", header]).0;
        assert!(!report["warnings"].to_string().contains("title"), "{text}: {report}");
    }
}

#[test]
fn a_comma_in_quotes_separates_nothing_in_a_file_of_tabs() {
    let text = "north\t\"31,818.28\"\nsouth\t\"1,234.50\"\n";
    for bytes in [text.as_bytes().to_vec(), utf16(text)] {
        let (report, rows) = loaded(bytes, &["--header", "no"]);
        assert_eq!(report["plan"]["dialect"]["delimiter"], "\t");
        assert_eq!(rows, rows![["north", "31,818.28"], ["south", "1,234.50"]]);
    }
}

#[test]
fn where_two_delimiters_read_as_well_both_are_named() {
    let text = "Last, First\tAmount\nSmith, Jo\t12\n";
    let (report, rows) = loaded(text, &[]);
    assert_eq!(rows, rows![["Smith, Jo", 12]]);
    let note = "fields are separated by tab; comma would read it as well: --delimiter comma";
    assert!(report["warnings"].to_string().contains(note), "{}", report["warnings"]);
    let fixture = Fixture::new();
    fixture.write("in.csv", text);
    fixture.inrush(&["plan", "in.csv", "t.db"]).exits(0).prints(&[note]);
    // Whoever says which gets it, and no note.
    let (report, rows) = loaded(text, &["--delimiter", "comma"]);
    assert_eq!(rows, rows![["Smith", " Jo\t12"]]);
    assert!(!report["warnings"].to_string().contains("as well"), "{}", report["warnings"]);
}

#[test]
fn a_file_without_delimiters_is_one_column_and_says_so() {
    let note = "no delimiter was found, so each line is loaded as one column";
    let (report, rows) = loaded("word\none\ntwo\n", &[]);
    assert_eq!(rows, rows![["one"], ["two"]]);
    assert!(report["warnings"].to_string().contains(note), "{}", report["warnings"]);
    let fixture = Fixture::new();
    fixture.write("in.csv", "id  name\n1   a\n");
    fixture.inrush(&["plan", "in.csv", "t.db"]).exits(0).prints(&[note]);
    // A table with this column has settled it.
    fixture.write("mails.csv", "email\na@b.c\n").load(&["mails.csv", "m.db"]).exits(0);
    fixture.inrush(&["plan", "mails.csv", "n.db"]).exits(0).prints(&[note]);
    let adding = fixture.report(&["mails.csv", "m.db", "--if-exists", "append"]);
    assert!(!adding["warnings"].to_string().contains(note), "{adding}");
    let (report, _) = loaded("a,b\n1,2\n", &["--delimiter", ";"]);
    let note = "the delimiter semicolon was not found, so each line is loaded as one column";
    assert!(report["warnings"].to_string().contains(note), "{}", report["warnings"]);
}

#[test]
fn a_line_that_says_what_separates_fields_is_no_data() {
    let body = "id;name\n1;a,b\n2;c,d\n";
    let rows = rows![[1, "a,b"], [2, "c,d"]];
    for line in ["sep=;\n", "\"sep=;\"\n", "SEP=;\n", "sep=;\r\n", "\u{feff}sep=;\n"] {
        let (report, found) = loaded(format!("{line}{body}"), &[]);
        assert_eq!(found, rows, "{line:?}");
        assert_eq!(report["plan"]["columns"][0]["name"], "id", "{line:?}");
        let reasons = report["plan"]["reasons"].to_string();
        assert!(reasons.contains("fields are separated by semicolons: the line sep=; says so"));
    }
    assert_eq!(loaded(utf16(&format!("sep=;\n{body}")), &[]).1, rows);
    for line in ["sep=\t\n", "sep=\\t\n"] {
        assert_eq!(loaded(format!("{line}{}", body.replace(';', "\t")), &[]).1, rows, "{line:?}");
    }
    // Even one that nobody looks for, and against the evidence.
    assert_eq!(loaded(format!("sep=^\n{}", body.replace(';', "^")), &[]).1, rows);
    assert_eq!(loaded("sep=;\na,b;c\n1,2;3\n", &[]).1, rows![["1,2", 3]]);
    // Without a header, and with CRs.
    assert_eq!(loaded("sep=;\n1;a\n2;b\n", &["--header", "no"]).1, rows![[1, "a"], [2, "b"]]);
    assert_eq!(loaded("sep=;\rid;name\r1;a\r", &[]).1, rows![[1, "a"]]);
    // What the user says goes before it; the line is no data all the same.
    let (report, found) = loaded("sep=;\na,b;c\n1,2;3\n", &["--delimiter", ","]);
    assert_eq!(found, rows![[1, "2;3"]]);
    assert!(report["plan"]["reasons"].to_string().contains("the line sep=; is skipped"));
}

#[test]
fn only_one_character_behind_sep_makes_that_line() {
    // A header is a header.
    for (text, name) in [("sep=\nx\n", "sep="), ("sep=ab\nx\n", "sep=ab"), ("sep\nx\n", "sep")] {
        let (report, found) = loaded(text, &[]);
        assert_eq!(report["plan"]["columns"][0]["name"], name);
        assert_eq!(found, rows![["x"]]);
    }
    let fixture = Fixture::new();
    fixture.write("in.csv", "sep=\u{a6}\na\u{a6}b\n1\u{a6}2\n");
    fixture.refuses(&["in.csv", "t.db"]).says(&["in.csv", "'\u{a6}'", "--delimiter"]);
    fixture.write("in.csv", "sep=;\n");
    fixture.refuses(&["in.csv", "t.db"]).says(&["in.csv is empty"]);
}

#[test]
fn lines_are_counted_and_skipped_with_it() {
    let fixture = Fixture::new();
    fixture.write("in.csv", "sep=;\nid;name\n1;a\n2\n3;c\n");
    fixture.refuses(&["in.csv", "t.db"]).says(&["in.csv: line 4", "1 field where 2 are expected"]);
    // The bad rows' file says it as well: a few rows might be read otherwise.
    fixture.load(&["in.csv", "t.db", "--max-rejects", "1"]).exits(3);
    assert_eq!(fixture.read("in.rejects.csv"), b"sep=;\nid;name\n2\n");
    fixture.write("in.rejects.csv", "sep=;\nid;name\n2;b, b\n");
    let again = ["in.rejects.csv", "t.db", "--table", "in", "--if-exists", "append"];
    fixture.load(&again).exits(0);
    assert_eq!(fixture.table("t.db", "in"), rows![[1, "a"], [3, "c"], [2, "b, b"]]);
    // One of the lines that are skipped, or the first that isn't.
    let rows = rows![["1,5", 2]];
    assert_eq!(loaded("sep=;\na,x;b\n1,5;2\n", &["--skip-lines", "1"]).1, rows);
    assert_eq!(loaded("sep=;\nSales\na,x;b\n1,5;2\n", &["--skip-lines", "2"]).1, rows);
    assert_eq!(loaded("Sales\nsep=;\na,x;b\n1,5;2\n", &["--skip-lines", "1"]).1, rows);
}

#[test]
fn each_of_several_files_may_have_that_line() {
    let fixture = Fixture::new();
    fixture
        .write("a.csv", "sep=;\nid;name\n1;a\n")
        .write("b.csv", "id;name\n2;b\n")
        .write("c.csv", "sep=;\r\nname;id\r\nc;3\r\n")
        .write("d.csv", "sep=,\nid,name\n4,d\n");
    fixture.load(&["a.csv", "b.csv", "c.csv", "t.db", "--table", "t"]).exits(0);
    assert_eq!(fixture.table("t.db", "t"), rows![[1, "a"], [2, "b"], [3, "c"]]);
    fixture.refuses(&["a.csv", "d.csv", "u.db"]).says(&["d.csv says sep=,", "one by one"]);
    fixture.refuses(&["d.csv", "b.csv", "u.db"]);
}

#[test]
fn lines_that_end_in_carriage_returns_and_a_newline_are_not_one_row() {
    let fixture = Fixture::new();
    fixture.write("in.csv", "a,b\r1,2\r3,4\r\n");
    fixture.refuses(&["in.csv", "t.db"]).says(&[
        "in.csv",
        "lone carriage returns",
        "perl -pe 's/\\r\\n?/\\n/g'",
    ]);
    // As it is advised; a blank line would be a row of one column.
    fixture.write("one.csv", "a\rb\rc\r\n");
    for (file, lines) in [("in.csv", "a,b\n1,2\n3,4\n"), ("one.csv", "a\nb\nc\n")] {
        let made = fixture.tool("perl", &["-pe", "s/\\r\\n?/\\n/g", file], b"");
        assert_eq!(String::from_utf8(made).unwrap(), lines);
    }
}

#[test]
fn utf_32_is_refused_by_its_name() {
    let fixture = Fixture::new();
    let text = "id,name\n1,a\n";
    let le: Vec<u8> = text.chars().flat_map(|c| u32::from(c).to_le_bytes()).collect();
    let be: Vec<u8> = text.chars().flat_map(|c| u32::from(c).to_be_bytes()).collect();
    for bytes in [[&[0xff, 0xfe, 0, 0], &le[..]].concat(), le, be] {
        fixture.write("in.csv", bytes);
        fixture.refuses(&["in.csv", "t.db"]).says(&["in.csv is text in UTF-32", "iconv"]);
    }
}

#[test]
fn utf_16_of_other_scripts_is_known_by_its_lines() {
    let text = "\u{438}\u{43c}\u{44f}\t\u{446}\u{435}\u{43d}\u{430}\r\n\u{410}\u{43d}\u{43d}\u{430}\t12\r\n";
    let bytes: Vec<u8> = text.encode_utf16().flat_map(u16::to_le_bytes).collect();
    assert_eq!(loaded(bytes, &[]).1, rows![["\u{410}\u{43d}\u{43d}\u{430}", 12]]);
}

#[test]
fn what_is_no_delimiter_is_answered_with_one() {
    let fixture = Fixture::new();
    fixture.write("in.csv", "a||b\n1||2\n");
    for (delimiter, advice) in [
        ("||", "sed "),
        ("\u{a7}", "sed "),
        ("\\x01", "$'\\x01'"),
        ("\\001", "$'\\x01'"),
        ("0x101", "sed "),
    ] {
        let run = fixture.misused(&["load", "in.csv", "t.db", "--delimiter", delimiter]);
        run.says(&["takes one ASCII character", "try: ", advice]);
    }
    // As it is advised.
    for delimiter in ["||", ", ", "''", "|'|", "^.*", "[$]", "//", "\u{a7}", "&&", "{1}", "(+)?"] {
        let fixture = Fixture::new();
        fixture.write(
            "in.csv",
            ["a,b", "1.5|x*", "2,$y"]
                .map(|line| line.replacen(['|', ','], delimiter, 1) + "\n")
                .concat(),
        );
        let run = fixture.misused(&["load", "in.csv", "t.db", "--delimiter", delimiter]);
        let (_, advice) = run.stderr.split_once("no value holds it: ").unwrap();
        let (made, load) = advice.lines().next().unwrap().split_once(" FILE | ").unwrap();
        assert_eq!(load, "inrush load - TARGET --delimiter $'\\x1f'");
        let made = fixture.tool("bash", &["-c", &format!("{made} in.csv")], b"");
        fixture.load_reading(&made, &["-", "t.db", "--table", "t", "--delimiter", "\x1f"]).exits(0);
        assert_eq!(fixture.table("t.db", "t"), rows![[1.5, "x*"], [2.0, "$y"]], "{delimiter}");
    }
}

#[test]
fn bad_rows_name_the_delimiter_that_all_lines_have() {
    let fixture = Fixture::new();
    for (text, advice) in [
        (
            "root:x:0:root\nbin:x:1:bin\nann:x:2:Ann,,,\n",
            "with --delimiter ':' each line would have 4",
        ),
        ("1\u{1}a,b\u{1}c\n2\u{1}d\u{1}e\n", "with --delimiter $'\\x01' each line would have 3"),
    ] {
        fixture.write("in.csv", text);
        fixture.refuses(&["in.csv", "t.db"]).says(&["expected", advice]);
    }
}
