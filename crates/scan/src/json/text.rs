//! What a string's text is, and counting lines.

use memchr::{memchr, memchr_iter};

/// Appends the text of an escaped string or key to `out`. `raw` is what the scanner found between
/// the quotes; of anything else, what is no escape comes out as U+FFFD or as it is.
pub fn json_unescape(raw: &[u8], out: &mut Vec<u8>) {
    let mut rest = raw;
    while let Some(at) = memchr(b'\\', rest) {
        out.extend_from_slice(&rest[..at]);
        rest = &rest[at + 1..];
        let Some((&letter, behind)) = rest.split_first() else { return };
        rest = behind;
        let literal = match letter {
            b'b' => 0x08,
            b'f' => 0x0c,
            b'n' => b'\n',
            b'r' => b'\r',
            b't' => b'\t',
            b'u' => {
                let (character, length) = code_point(rest);
                let mut utf8 = [0; 4];
                out.extend_from_slice(character.encode_utf8(&mut utf8).as_bytes());
                rest = &rest[length..];
                continue;
            }
            other => other,
        };
        out.push(literal);
    }
    out.extend_from_slice(rest);
}

/// The character that the digits behind `\u` stand for, with the second half of a surrogate pair,
/// and how many bytes that takes.
fn code_point(digits: &[u8]) -> (char, usize) {
    let Some(unit) = hex4(digits) else { return (char::REPLACEMENT_CHARACTER, 0) };
    if let Some(character) = char::from_u32(unit.into()) {
        return (character, 4);
    }
    let low = digits.get(4..6).filter(|&start| start == b"\\u").and_then(|_| hex4(&digits[6..]));
    match low.map(|low| char::decode_utf16([unit, low]).next()) {
        Some(Some(Ok(character))) => (character, 10),
        _ => (char::REPLACEMENT_CHARACTER, 4),
    }
}

/// The number that the first four bytes are in base 16.
pub(super) fn hex4(digits: &[u8]) -> Option<u16> {
    let digits = digits.first_chunk::<4>()?;
    let mut unit = 0;
    for &digit in digits {
        unit = unit << 4 | char::from(digit).to_digit(16)? as u16;
    }
    Some(unit)
}

/// How many physical lines end in `bytes`: newline bytes, wherever they are.
#[must_use]
pub fn json_lines(bytes: &[u8]) -> u64 {
    memchr_iter(b'\n', bytes).count() as u64
}
