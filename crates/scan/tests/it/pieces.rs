//! Pieces of an input, each looked at by itself.

use inrush_scan::piece::join;
use inrush_scan::{Boundary, Cutter, Dialect, Lines, Tail};
use proptest::prelude::*;

use crate::in_pieces::expect_in_pieces;
use crate::random::{cases, dialects, lines, text};

proptest! {
    #![proptest_config(cases(8000))]

    #[test]
    fn pieces_know_the_boundaries_that_the_whole_has(
        dialect in dialects(),
        bytes in text(0..80),
        size in 1_usize..60,
        blanks_count in any::<bool>(),
    ) {
        expect_in_pieces(&dialect, &bytes, size, blanks_count);
    }

    #[test]
    fn records_that_break_in_a_later_piece_are_read_as_the_whole_is(
        escape in any::<bool>(),
        blanks in any::<bool>(),
        bytes in lines(),
        size in 1_usize..30,
    ) {
        let dialect = Dialect { escape: escape.then_some(b'\\'), blanks, ..Dialect::csv() };
        expect_in_pieces(&dialect, &bytes, size, false);
    }
}

#[test]
fn a_quoted_text_of_many_lines_is_no_boundary() {
    let mut bytes = b"1,\"first\n".to_vec();
    (0..200).for_each(|line| bytes.extend(format!("a,b, {line}\n").as_bytes()));
    bytes.extend(b"\"\"said\"\", and\n\"\n2,\"\"\n\n3,\n");
    for size in 1..bytes.len() {
        expect_in_pieces(&Dialect::csv(), &bytes, size, false);
        expect_in_pieces(&Dialect::csv(), &bytes, size, true);
    }
}

#[test]
fn a_record_that_is_too_long_ends_the_search() {
    let bytes = b"1,\"a\nb\nc\nd\n\"\n2,x\n";
    let lines = Lines::Delimited { dialect: Dialect::csv(), blanks_count: false };
    let pieces: Vec<_> = [&bytes[..5], &bytes[5..9], &bytes[9..13], &bytes[13..]]
        .map(|piece| lines.piece(piece, if piece == b"2,x\n" { Tail::End } else { Tail::More }))
        .into();
    let bound = |limit| {
        join(Boundary::default(), &pieces, limit, |from, goal| {
            let rest = &bytes[from.byte as usize..];
            let seen = &rest[..rest.len().min(limit as usize)];
            let tail = if seen.len() == rest.len() { Tail::End } else { Tail::Limit };
            let end = Cutter::new(&Dialect::csv()).cut(seen, (goal - from.byte) as usize, tail);
            let byte = from.byte + end.ok_or("too long")? as u64;
            Ok::<_, &str>(Boundary { byte, ..from })
        })
        .map(|found| found.into_iter().map(|at| at.map(|at| at.byte)).collect::<Vec<_>>())
    };
    assert_eq!(bound(13).unwrap(), [Some(0), None, None, Some(13)]);
    assert_eq!(bound(12), Err("too long"));
}

#[test]
fn lines_of_json_are_records_unless_they_are_blank() {
    let bytes = b"{\"a\":1}\n \r\n\n{\"a\":\"\\n\"}\r\n[1]";
    let found = Lines::Json.count(bytes);
    assert_eq!(found, Boundary { byte: bytes.len() as u64, records: 3, lines: 4 });
}
