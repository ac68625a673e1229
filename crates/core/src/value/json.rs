//! Strings of JSON (RFC 8259, section 7).

use super::hex;

/// What stands for a byte in a string after the backslash: 0 for itself, `u` for four hexadecimal digits.
static ESCAPES: [u8; 256] = {
    let mut escapes = [0; 256];
    let mut byte = 0;
    while byte < 0x20 {
        escapes[byte] = b'u';
        byte += 1;
    }
    escapes[0x08] = b'b';
    escapes[0x09] = b't';
    escapes[0x0a] = b'n';
    escapes[0x0c] = b'f';
    escapes[0x0d] = b'r';
    escapes[b'"' as usize] = b'"';
    escapes[b'\\' as usize] = b'\\';
    escapes
};

/// Whether an escape in a document, which follows the grammar, is half of a surrogate pair.
pub fn has_half_pair(document: &[u8]) -> bool {
    /// The unit that an escape at the beginning stands for.
    fn unit(bytes: &[u8]) -> Option<u16> {
        let digits = bytes.strip_prefix(b"\\u")?.first_chunk::<4>()?;
        let digit = |unit, byte: &u8| Some(unit << 4 | u16::from(hex::digit(*byte)?));
        digits.iter().try_fold(0, digit)
    }
    let mut rest = document;
    while let Some(at) = memchr::memchr(b'\\', rest) {
        rest = &rest[at..];
        let length = match unit(rest) {
            Some(0xd800..=0xdbff) => match unit(&rest[6..]) {
                Some(0xdc00..=0xdfff) => 12,
                _ => return true,
            },
            Some(0xdc00..=0xdfff) => return true,
            Some(_) => 6,
            None => 2,
        };
        rest = rest.get(length..).unwrap_or_default();
    }
    false
}

/// Appends `text`, which is UTF-8, as a string.
#[inline]
pub fn push_string(text: &[u8], out: &mut Vec<u8>) {
    out.push(b'"');
    let mut rest = text;
    while let Some(at) = rest.iter().position(|byte| ESCAPES[*byte as usize] != 0) {
        out.extend_from_slice(&rest[..at]);
        let byte = rest[at];
        match ESCAPES[byte as usize] {
            b'u' => {
                out.extend_from_slice(b"\\u00");
                out.extend_from_slice(&hex::pair(byte));
            }
            letter => out.extend_from_slice(&[b'\\', letter]),
        }
        rest = &rest[at + 1..];
    }
    out.extend_from_slice(rest);
    out.push(b'"');
}
