//! Random bytes, made of what matters.

use inrush_scan::{Cutter, Dialect, Newline, Tail};
use proptest::prelude::*;

use crate::machines::{agreed, agreed_however_cut, expect_in_chunks};

/// Dialects with and without each special byte.
pub(crate) fn dialects() -> impl Strategy<Value = Dialect> {
    (any::<bool>(), any::<bool>(), any::<bool>(), any::<bool>(), 0..4).prop_map(
        |(quote, escape, comment, cr, blanks)| Dialect {
            delimiter: if blanks == 3 { b'\t' } else { b',' },
            blanks: blanks > 1,
            quote: quote.then_some(b'"'),
            escape: escape.then_some(b'\\'),
            comment: comment.then_some(b'#'),
            newline: if cr { Newline::Cr } else { Newline::Lf },
            ..Dialect::csv()
        },
    )
}

/// The bytes that matter, and what reads differently when it is cut in two.
const PIECES: [&str; 27] = [
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
    " ",
    "\t",
    ", \"",
    "\" ,",
    "\"  \r\n",
    "0123456789abcdefghijklmnopqrstuvwxyz",
];

/// Lines that take a walk from in quotes to in plain text, or not, or break it.
const LINES: [&str; 17] = [
    "\",x\",\"\n",
    "\",x\",y\\\n",
    "\",x\\\n",
    "x\\\n",
    "\\\n",
    "\"\n",
    "\"x\n",
    "x\n",
    "x,\"\n",
    "\"\",\\\n",
    "\\\",\"\n",
    "\"\\\n",
    "\",\"\",\"\n",
    "x\",\\\n",
    " \"\n",
    "\" , \"\n",
    "x \",\" x\n",
];

pub(crate) fn lines() -> impl Strategy<Value = Vec<u8>> {
    (
        proptest::collection::vec(proptest::sample::select(&LINES[..]), 0..12),
        proptest::sample::select(&PIECES[..]),
    )
        .prop_map(|(lines, end)| (lines.concat() + end).into_bytes())
}

pub(crate) fn text(
    pieces: impl Into<proptest::collection::SizeRange>,
) -> impl Strategy<Value = Vec<u8>> {
    proptest::collection::vec(proptest::sample::select(&PIECES[..]), pieces)
        .prop_map(|pieces| pieces.concat().into_bytes())
}

/// Findings go into the tables, not into files beside the tests.
pub(crate) fn cases(cases: u32) -> ProptestConfig {
    ProptestConfig { cases, failure_persistence: None, ..ProptestConfig::default() }
}

proptest! {
    #![proptest_config(cases(8000))]

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

    /// Walks that fail, and others that meet them or not.
    #[test]
    fn broken_records_agree(
        escape in any::<bool>(),
        blanks in any::<bool>(),
        bytes in lines(),
        step in 1_usize..100,
        goal in 0_usize..100,
    ) {
        let dialect = Dialect { escape: escape.then_some(b'\\'), blanks, ..Dialect::csv() };
        let rows = agreed(&dialect, &bytes);
        expect_in_chunks(&dialect, &bytes, step, goal, &rows);
    }

    /// At the limit a cut is where it is without one.
    #[test]
    fn limit_cuts_where_more_may_come(dialect in dialects(), bytes in text(0..60), goal in 0_usize..200) {
        let cutter = Cutter::new(&dialect);
        let cut = |tail| cutter.cut(&bytes, goal, tail);
        prop_assert_eq!(cut(Tail::Limit), cut(Tail::More));
    }
}

proptest! {
    #![proptest_config(cases(300))]

    #[test]
    fn all_cuts_agree(dialect in dialects(), bytes in text(0..14)) {
        agreed_however_cut(&dialect, &bytes);
    }
}
