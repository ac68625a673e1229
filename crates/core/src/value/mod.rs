//! What a text is as a value: one rule for all engines, and the forms in which they take it.

pub mod digits;
pub mod double;
pub mod hex;
pub mod json;
pub mod rule;

use inrush_scan as scan;

/// Whether the bytes are a whole number with an exponent, such as `1e5`, that a double keeps.
pub fn is_whole_with_exponent(value: &[u8]) -> bool {
    let Some(at) = memchr::memchr2(b'e', b'E', value) else { return false };
    let (whole, exponent) = (&value[..at], &value[at + 1..]);
    scan::is_canonical_integer(whole)
        && whole.len() <= 15
        && !exponent.is_empty()
        && exponent.iter().all(u8::is_ascii_digit)
        && scan::float(value).is_ok()
}
