//! The machines that read an input, and how their answers are compared. The fuzzer uses this file
//! too.

use inrush_scan::{Cutter, Dialect, Fault, Field, Form, Newline, Scanner, Tail, unescape};

use crate::model::{Row, boundaries, rows};

/// All records, by the scanner alone.
pub(crate) fn scanned(dialect: &Dialect, bytes: &[u8]) -> Vec<Row> {
    let mut scanner = Scanner::new(dialect, bytes);
    let mut fields = vec![Field { start: 9, end: 9, form: Form::Plain }; 3];
    let mut rows = Vec::new();
    while let Some(record) = scanner.next(&mut fields) {
        let values = fields.iter().map(|field| {
            let mut value = Vec::new();
            unescape(dialect, field.raw(bytes), field.form, &mut value);
            if matches!(field.form, Form::Plain | Form::Quoted) {
                assert_eq!(value, field.raw(bytes));
            }
            (value, field.form.is_quoted())
        });
        rows.push(Row {
            start: record.start as usize,
            end: record.end as usize,
            next: record.next as usize,
            fields: if record.fault.is_none() { values.collect() } else { Vec::new() },
            fault: record.fault,
        });
    }
    assert!(scanner.next(&mut fields).is_none());
    assert!(fields.is_empty());
    rows
}

/// All records, by a reader that gets `step` bytes at a time and cuts chunks of about `goal` bytes.
pub(crate) fn scanned_in_chunks(
    dialect: &Dialect,
    bytes: &[u8],
    step: usize,
    goal: usize,
) -> Vec<Row> {
    let cutter = Cutter::new(dialect);
    let boundaries = boundaries(dialect, bytes);
    let mut all = Vec::new();
    let (mut start, mut end) = (0, 0);
    while start < bytes.len() {
        let tail = if end == bytes.len() { Tail::End } else { Tail::More };
        let buffer = &bytes[start..end];
        let Some(cut) = cutter.cut(buffer, goal, tail) else {
            assert!(tail == Tail::More, "an input that ends can be cut");
            end = (end + step).min(bytes.len());
            continue;
        };
        check_cut(dialect, bytes, &boundaries, start, cut, goal.min(buffer.len()));
        all.extend(scanned(dialect, &buffer[..cut]).into_iter().map(|row| shifted(row, start)));
        start += cut;
    }
    all
}

/// A cut is a boundary: the last one before the goal, unless the record behind it is broken, or the
/// first one behind the goal.
fn check_cut(
    dialect: &Dialect,
    bytes: &[u8],
    boundaries: &[usize],
    start: usize,
    cut: usize,
    goal: usize,
) {
    let end = start + cut;
    assert!(boundaries.contains(&end), "cut at {end} of {}", bytes.escape_ascii());
    let goal = start + goal;
    let better = boundaries.iter().copied().rfind(|&at| start < at && at <= goal);
    if end > goal {
        assert_eq!(better, None);
        assert_eq!(boundaries.iter().find(|&&at| at > start), Some(&end), "not the first");
    } else if better != Some(end) {
        let broken = rows(dialect, bytes)
            .into_iter()
            .find(|row| row.start == end)
            .expect("a cut starts a record");
        assert!(broken.fault.is_some(), "cut at {end}, not at {better:?}");
    }
}

fn shifted(mut row: Row, by: usize) -> Row {
    row.start += by;
    row.end += by;
    row.next += by;
    match &mut row.fault {
        None => {}
        Some(
            Fault::UnclosedQuote { at } | Fault::TextAfterQuote { at } | Fault::EscapedEnd { at },
        ) => *at += by as u32,
    }
    row
}

/// All records that aren't blank, by csv-core.
pub(crate) fn csv_core(dialect: &Dialect, bytes: &[u8]) -> Vec<Vec<Vec<u8>>> {
    use csv_core::{ReadRecordResult, Terminator};
    let mut reader = csv_core::ReaderBuilder::new()
        .delimiter(dialect.delimiter)
        .quote(dialect.quote.unwrap_or(b'"'))
        .quoting(dialect.quote.is_some())
        .comment(dialect.comment)
        .terminator(match dialect.newline {
            Newline::Lf => Terminator::CRLF,
            Newline::Cr => Terminator::Any(b'\r'),
        })
        .build();
    let mut text = vec![0; bytes.len() + 16];
    let mut ends = vec![0; bytes.len() + 16];
    let mut rows = Vec::new();
    let (mut read, mut written, mut count) = (0, 0, 0);
    loop {
        // Once everything is read, the empty rest says that nothing will come.
        let (result, more_read, more_written, more_ends) =
            reader.read_record(&bytes[read..], &mut text[written..], &mut ends[count..]);
        read += more_read;
        written += more_written;
        count += more_ends;
        match result {
            ReadRecordResult::InputEmpty => {}
            ReadRecordResult::Record => {
                let starts = [0].into_iter().chain(ends.iter().copied());
                let spans = starts.zip(ends[..count].iter().copied());
                rows.push(spans.map(|(start, end)| text[start..end].to_vec()).collect());
                (written, count) = (0, 0);
            }
            ReadRecordResult::End => return rows,
            full => panic!("{full:?}"),
        }
    }
}

/// Whether csv-core and the model mean the same by `bytes`.
pub(crate) fn is_csv_core_able(dialect: &Dialect, bytes: &[u8], rows: &[Row]) -> bool {
    let lone_cr = bytes
        .iter()
        .enumerate()
        .any(|(i, &byte)| byte == b'\r' && bytes.get(i + 1) != Some(&b'\n'));
    dialect.escape.is_none()
        && !dialect.blanks
        && (dialect.newline == Newline::Cr || !lone_cr)
        // In csv-core comments end at `\n` whatever else does, and only there.
        && (dialect.comment.is_none() || (dialect.newline == Newline::Lf && bytes.ends_with(b"\n")))
        && !bytes.starts_with(b"\xef\xbb\xbf")
        && rows.iter().all(|row| row.fault.is_none())
}

/// Gives `bytes` to every machine; the answer of all.
pub(crate) fn agreed(dialect: &Dialect, bytes: &[u8]) -> Vec<Row> {
    dialect.check().expect("a dialect that can be scanned");
    let expected = rows(dialect, bytes);
    assert_eq!(scanned(dialect, bytes), expected, "scanner, {}", bytes.escape_ascii());
    if is_csv_core_able(dialect, bytes, &expected) {
        let values: Vec<Vec<Vec<u8>>> = expected
            .iter()
            .filter(|row| row.start < row.end)
            .map(|row| row.fields.iter().map(|(value, _)| value.clone()).collect())
            .collect();
        assert_eq!(csv_core(dialect, bytes), values, "csv-core, {}", bytes.escape_ascii());
    }
    expected
}

/// Reads in chunks of `goal` bytes that come `step` at a time, and expects `rows`.
pub(crate) fn expect_in_chunks(
    dialect: &Dialect,
    bytes: &[u8],
    step: usize,
    goal: usize,
    rows: &[Row],
) {
    assert_eq!(
        scanned_in_chunks(dialect, bytes, step, goal),
        rows,
        "{step} bytes at a time, chunks of {goal}, {}",
        bytes.escape_ascii()
    );
}

/// As [`agreed`], and read in chunks of every size, coming in pieces of every size.
pub(crate) fn agreed_however_cut(dialect: &Dialect, bytes: &[u8]) -> Vec<Row> {
    let rows = agreed(dialect, bytes);
    for step in 1..=bytes.len() {
        for goal in 0..=bytes.len() + 1 {
            expect_in_chunks(dialect, bytes, step, goal, &rows);
        }
    }
    rows
}
