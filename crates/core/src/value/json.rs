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
