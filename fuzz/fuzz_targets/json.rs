//! JSON: scanner, cutter, `serde_json` and the model must agree on any bytes, in any layout, however
//! the input comes in.

#![no_main]

use inrush_scan::{JsonLayout, JsonPart};
use libfuzzer_sys::fuzz_target;

#[allow(dead_code, reason = "the tests use more of it")]
#[path = "../../crates/scan/tests/it/json/machines.rs"]
mod machines;
#[path = "../../crates/scan/tests/it/json/model.rs"]
mod model;

fuzz_target!(|input: &[u8]| {
    // Layout, bytes per read, bytes per chunk, then the text.
    let [flags, step, goal, text @ ..] = input else { return };
    let layout = match flags % 3 {
        0 => JsonLayout::Lines,
        1 => JsonLayout::Array,
        _ => JsonLayout::Values,
    };
    // Long strings and numbers, so that lanes and blocks have borders everywhere.
    let stretched: Vec<u8>;
    let text = if flags & 16 != 0 {
        let stretch = |&byte: &u8| {
            std::iter::repeat_n(byte, if matches!(byte, b'x' | b'7') { 13 } else { 1 })
        };
        stretched = text.iter().flat_map(stretch).collect();
        &stretched
    } else {
        text
    };
    let (step, goal) = (1 + usize::from(*step), usize::from(*goal));
    // What isn't UTF-8 is for the caller to find: the model can't say what it means.
    let rows = if std::str::from_utf8(text).is_ok() {
        machines::agreed(layout, text)
    } else {
        machines::scanned(layout, JsonPart::WHOLE, text)
    };
    machines::expect_in_chunks(layout, text, step, goal, &rows);
});
