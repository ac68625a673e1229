//! Random bytes, made of what matters.

use inrush_scan::{Cutter, Dialect, Newline, Tail};
use proptest::prelude::*;

use crate::machines::{agreed, agreed_however_cut, expect_in_chunks};

/// Dialects with and without each special byte.
fn dialects() -> impl Strategy<Value = Dialect> {
    (any::<bool>(), any::<bool>(), any::<bool>(), any::<bool>()).prop_map(
        |(quote, escape, comment, cr)| Dialect {
            delimiter: b',',
            quote: quote.then_some(b'"'),
            escape: escape.then_some(b'\\'),
            comment: comment.then_some(b'#'),
            newline: if cr { Newline::Cr } else { Newline::Lf },
        },
    )
}

/// The bytes that matter, and what reads differently when it is cut in two.
const PIECES: [&str; 22] = [
    ",",
    ",",
    "\"",
    "\"",
    "\"\"",
    "\n",
    "\n",
    "\r\n",
    "\r",
    "\\",
    "\\\n",
    "\\\"",
    "#",
    "a",
    "bc",
    "\",\"",
    "\"\n\"",
    "\",x\",\"\n",
    "\"\r",
    ",\"",
    "\",",
    "0123456789abcdefghijklmnopqrstuvwxyz",
];

fn text(pieces: impl Into<proptest::collection::SizeRange>) -> impl Strategy<Value = Vec<u8>> {
    proptest::collection::vec(proptest::sample::select(&PIECES[..]), pieces)
        .prop_map(|pieces| pieces.concat().into_bytes())
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 4000, failure_persistence: None, ..Default::default() })]

    #[test]
    fn machines_agree(dialect in dialects(), bytes in text(0..80)) {
        agreed(&dialect, &bytes);
    }

    #[test]
    fn chunks_agree(
        dialect in dialects(),
        bytes in text(0..60),
        step in 1_usize..100,
        goal in 0_usize..200,
    ) {
        let rows = agreed(&dialect, &bytes);
        expect_in_chunks(&dialect, &bytes, step, goal, &rows);
    }

    /// What is cut off at the limit is scanned as one run of records, and something is cut off
    /// whenever there is a whole line.
    #[test]
    fn limit_cuts_off_a_line(dialect in dialects(), bytes in text(0..60), goal in 0_usize..200) {
        let newline = if dialect.newline == Newline::Lf { b'\n' } else { b'\r' };
        let lines: Vec<usize> =
            (1..=bytes.len()).filter(|&at| bytes[at - 1] == newline).collect();
        let cut = Cutter::new(&dialect).cut(&bytes, goal, Tail::Limit);
        prop_assert_eq!(cut.is_some(), !lines.is_empty());
        if let Some(cut) = cut {
            prop_assert!(lines.contains(&cut));
            let more = Cutter::new(&dialect).cut(&bytes, goal, Tail::More);
            prop_assert!(more.is_none_or(|more| more == cut));
            agreed(&dialect, &bytes[..cut]);
        }
    }
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 300, failure_persistence: None, ..Default::default() })]

    #[test]
    fn all_cuts_agree(dialect in dialects(), bytes in text(0..14)) {
        agreed_however_cut(&dialect, &bytes);
    }
}
