//! An input of which each piece is looked at by itself, held to the model. The fuzzer uses this file too.

use inrush_scan::piece::join;
use inrush_scan::{Boundary, Cutter, Dialect, Lines, Newline, Tail};

use crate::model::{boundaries, rows};

/// Looks at `bytes` in pieces of about `size`, and expects of every boundary found that it is one, with what comes before it; and
/// of every piece that the first boundary in it is found.
pub(crate) fn expect_in_pieces(dialect: &Dialect, bytes: &[u8], size: usize, blanks_count: bool) {
    let lines = Lines::Delimited { dialect: dialect.clone(), blanks_count };
    let newline = if dialect.newline == Newline::Lf { b'\n' } else { b'\r' };
    let mut pieces = Vec::new();
    let mut starts = vec![0];
    while let Some(&start) = starts.last()
        && start < bytes.len()
    {
        let goal = (start + size).min(bytes.len());
        let line = bytes[goal - 1..].iter().position(|byte| *byte == newline);
        let end = line.map_or(bytes.len(), |length| goal + length);
        let tail = if end == bytes.len() { Tail::End } else { Tail::More };
        pieces.push(lines.piece(&bytes[start..end], tail));
        starts.push(end);
    }
    let rows = rows(dialect, bytes);
    let mut all = boundaries(dialect, bytes);
    all.insert(0, 0);
    let expected = |byte: usize| Boundary {
        byte: byte as u64,
        records: rows.iter().filter(|row| row.start < byte && counts(row, blanks_count)).count()
            as u64,
        lines: bytes[..byte].iter().filter(|byte| **byte == newline).count() as u64,
    };
    let mut asked = false;
    let found = join(Boundary::default(), &pieces, u64::MAX, |from, goal| {
        asked = true;
        let rest = &bytes[from.byte as usize..];
        let end = Cutter::new(dialect).cut(rest, (goal - from.byte) as usize, Tail::End);
        let end = end.expect("an input that ends can be cut");
        let more = lines.count(&rest[..end]);
        Ok::<_, ()>(Boundary {
            byte: from.byte + more.byte,
            records: from.records + more.records,
            lines: from.lines + more.lines,
        })
    });
    let found = found.expect("no error was made");
    for (at, found) in found.into_iter().enumerate() {
        let first = all.iter().copied().find(|byte| starts[at] <= *byte);
        let first = first.filter(|byte| *byte < starts[at + 1]).map(expected);
        assert_eq!(found, first, "piece {at}, {size} bytes, {}", bytes.escape_ascii());
    }
    let is_sound = rows.iter().all(|row| row.fault.is_none()) && bytes.ends_with(&[newline]);
    assert!(!(asked && is_sound), "read again, {size} bytes, {}", bytes.escape_ascii());
    assert_eq!(lines.count(bytes), expected(bytes.len()), "{}", bytes.escape_ascii());
}

fn counts(row: &crate::model::Row, blanks_count: bool) -> bool {
    blanks_count || row.start < row.end
}
