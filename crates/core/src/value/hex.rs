//! Bytes as hexadecimal digits, as databases read them.

/// The two digits of a byte.
pub fn pair(byte: u8) -> [u8; 2] {
    const DIGITS: &[u8; 16] = b"0123456789abcdef";
    [DIGITS[usize::from(byte >> 4)], DIGITS[usize::from(byte & 15)]]
}

/// Two digits for each byte.
pub fn put(bytes: &[u8], out: &mut Vec<u8>) {
    out.extend(bytes.iter().copied().flat_map(pair));
}

/// What a digit of either case stands for; `None` for what is none.
pub fn digit(byte: u8) -> Option<u8> {
    char::from(byte).to_digit(16).map(|value| value as u8)
}
