//! Readings of values against the slow model of the tests.

#![no_main]

use libfuzzer_sys::fuzz_target;

#[path = "../../crates/core/tests/it/reading_model.rs"]
mod reading_model;

fuzz_target!(|text: &str| {
    for way in reading_model::WAYS {
        reading_model::check(way, text);
    }
});
