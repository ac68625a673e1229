//! Input made to be slow. Each of these takes hours when a broken record costs a walk to the end of
//! the bytes, and a blink when it doesn't; the test runner's time limit tells the two apart.

use inrush_scan::{Cutter, Dialect, Fault, Scanner, Tail};

use crate::machines::{agreed, expect_in_chunks};

const CSV: Dialect = Dialect::csv();
const ESCAPE: Dialect = Dialect { escape: Some(b'\\'), ..Dialect::csv() };
const LINES: usize = 1 << 19;

/// Scans `start`, then `line` many times, then `end`; how many records are whole and how many
/// broken.
fn counts(dialect: &Dialect, start: &str, line: &str, end: &str) -> (usize, usize) {
    let text = start.to_owned() + &line.repeat(LINES) + end;
    let bytes = text.as_bytes();
    let (mut whole, mut broken) = (0, 0);
    let mut fields = Vec::new();
    let mut scanner = Scanner::new(dialect, bytes);
    while let Some(record) = scanner.next(&mut fields) {
        whole += usize::from(record.fault.is_none());
        broken += usize::from(record.fault.is_some());
    }
    // The cutter comes to the same records. Its goal is a large part of the bytes, as documented.
    let cutter = Cutter::new(dialect);
    let goal = bytes.len() / 8;
    let (mut at, mut chunks) = (0, 0);
    while at < bytes.len() {
        let cut = cutter.cut(&bytes[at..], goal, Tail::End).expect("the end can be cut");
        at += cut;
        chunks += 1;
    }
    assert!(chunks <= 17, "{chunks} chunks");
    // A small input of the same shape, by all machines.
    let small = start.to_owned() + &line.repeat(10) + end;
    let rows = agreed(dialect, small.as_bytes());
    for goal in [0, 10, 30, 1000] {
        expect_in_chunks(dialect, small.as_bytes(), 7, goal, &rows);
    }
    (whole, broken)
}

#[test]
fn every_line_opens_a_quote() {
    assert_eq!(counts(&CSV, "", "\"\n", "\""), (LINES / 2, 1));
}

#[test]
fn every_line_opens_a_quote_with_text_behind() {
    assert_eq!(counts(&CSV, "", "a,\"b\n", ""), (0, LINES));
}

/// The worst: a quote is open at the end of each line, whether or not one is open before.
#[test]
fn every_line_opens_a_quote_in_both_states() {
    assert_eq!(counts(&CSV, "", "\",x\",\"\n", ""), (0, LINES));
    assert_eq!(counts(&CSV, "", "\",x\",\"\n", "\"x\n"), (0, LINES + 1));
    assert_eq!(counts(&CSV, "", "\",x\",\"\n", "\"\n"), (1, 0));
}

/// The same, and an escaped newline outside quotes in between, so that walks are in either state.
#[test]
fn every_line_opens_a_quote_or_escapes_its_newline() {
    for end in ["", "\"x\n", "\\", "x,\"", "\"\"\n"] {
        counts(&ESCAPE, "", "\",x\",\"\n\",x\\\n", end);
        counts(&ESCAPE, "", "\",x\",\"\n\",\\\n\",x\",\"\n", end);
        counts(&ESCAPE, "", "\",x\",y\\\n", end);
        counts(&ESCAPE, "", "\\\"\\\n\"\\\"\n", end);
        counts(&ESCAPE, "", "x\\\n", end);
    }
}

/// The first line opens a quote that is never closed, the others do nothing to it; from outside
/// they end in plain text, which fails too, but not by meeting the first line's walk.
#[test]
fn both_states_fail() {
    assert_eq!(counts(&ESCAPE, "\"\n", "\"\",x\\\n", ""), (0, 1 + LINES));
}

/// One quote that is never closed costs its line, not the file.
#[test]
fn one_quote_is_never_closed() {
    let text = "a,b\n".repeat(1000) + "c,\"d\n" + &"e,f\n".repeat(1000);
    let rows = agreed(&CSV, text.as_bytes());
    assert_eq!(rows.len(), 2001);
    assert_eq!(rows[1000].fault, Some(Fault::UnclosedQuote { at: 4002 }));
    assert_eq!(rows.iter().filter(|row| row.fault.is_some()).count(), 1);
}

/// A long line of fields that open and close, behind a quote that is never closed.
#[test]
fn long_line_near_an_unclosed_quote() {
    let text = "\"\n".to_owned() + &"\"\"\"\",".repeat(LINES) + "\n";
    let cutter = Cutter::new(&CSV);
    assert_eq!(cutter.cut(text.as_bytes(), text.len() - 1, Tail::End), Some(2));
    let mut scanner = Scanner::new(&CSV, text.as_bytes());
    let mut fields = Vec::new();
    assert!(scanner.next(&mut fields).unwrap().fault.is_some());
    assert!(scanner.next(&mut fields).unwrap().fault.is_none());
    assert_eq!(fields.len(), LINES + 1);
}

/// Quotes inside a field, on one endless line, with comments to look for.
#[test]
fn long_line_of_plain_quotes() {
    let dialect = Dialect { comment: Some(b'#'), ..CSV };
    for start in ["x", "#", "\\\"", ""] {
        let text = start.to_owned() + &"'\"".repeat(LINES);
        let cutter = Cutter::new(&dialect);
        assert_eq!(cutter.cut(text.as_bytes(), 1000, Tail::More), None);
        assert_eq!(cutter.cut(text.as_bytes(), 1000, Tail::Limit), None);
        assert_eq!(cutter.cut(text.as_bytes(), 1000, Tail::End), Some(text.len()));
    }
}
