//! Records and cuts: scanner, cutter, csv-core and the model must agree on any bytes, in any
//! dialect, however the input comes in, and in pieces.

#![no_main]

use inrush_scan::{Cutter, Dialect, Newline, Tail};
use libfuzzer_sys::fuzz_target;

#[path = "../../crates/scan/tests/it/in_pieces.rs"]
mod in_pieces;
#[allow(dead_code, reason = "the tests use more of it")]
#[path = "../../crates/scan/tests/it/machines.rs"]
mod machines;
#[path = "../../crates/scan/tests/it/model.rs"]
mod model;

fuzz_target!(|input: &[u8]| {
    // Dialect, bytes per read, bytes per chunk, then the text.
    let [flags, step, goal, text @ ..] = input else { return };
    let has = |bit: u8| flags & bit != 0;
    let dialect = Dialect {
        delimiter: if has(32) { b'\t' } else { b',' },
        quote: has(1).then_some(b'"'),
        escape: has(2).then_some(b'\\'),
        comment: has(4).then_some(b'#'),
        newline: if has(8) { Newline::Cr } else { Newline::Lf },
        blanks: has(128),
        ..Dialect::csv()
    };
    // Long fields, so that blocks of 64 bytes have borders everywhere.
    let stretched: Vec<u8>;
    let text = if has(16) {
        let stretch = |&byte: &u8| std::iter::repeat_n(byte, if byte == b'x' { 61 } else { 1 });
        stretched = text.iter().flat_map(stretch).collect();
        &stretched
    } else {
        text
    };
    let (step, goal) = (1 + usize::from(*step), usize::from(*goal));
    let rows = machines::agreed(&dialect, text);
    machines::expect_in_chunks(&dialect, text, step, goal, &rows);
    in_pieces::expect_in_pieces(&dialect, text, goal.max(1), has(64));
    // At the limit a chunk is whole lines, and scanned like any other.
    if let Some(cut) = Cutter::new(&dialect).cut(text, goal, Tail::Limit) {
        machines::agreed(&dialect, &text[..cut]);
    }
});
