//! SQLite's integers of 1 to 9 bytes (section 1.6, "variable-length integer").
//!
//! ```text
//! 1xxxxxxx 1xxxxxxx ... 0xxxxxxx      up to 8 bytes, 7 bits each, the most significant first
//! 1xxxxxxx (8 times)    xxxxxxxx      9 bytes: the last one holds 8 bits
//! ```
//!
//! Signed integers (rowids) are written as their two's complement, so negative ones take 9 bytes.

/// The longest varint.
pub const BYTES_MAX: usize = 9;

/// How many bytes `value` takes.
#[inline]
#[must_use]
pub fn length(value: u64) -> usize {
    let bits = 64 - (value | 1).leading_zeros() as usize;
    if bits > 56 { BYTES_MAX } else { bits.div_ceil(7) }
}

/// Writes `value` at the start of `out` and returns how many bytes it took.
///
/// # Panics
///
/// When `out` is too short.
#[inline]
pub fn write(out: &mut [u8], value: u64) -> usize {
    if value < 0x80 {
        out[0] = value as u8;
        return 1;
    }
    let length = length(value);
    let out = &mut out[..length];
    let mut rest = value;
    if length == BYTES_MAX {
        out[BYTES_MAX - 1] = rest as u8;
        rest >>= 8;
    } else {
        out[length - 1] = rest as u8 & 0x7f;
        rest >>= 7;
    }
    for byte in out[..length - 1].iter_mut().rev() {
        *byte = rest as u8 | 0x80;
        rest >>= 7;
    }
    length
}

/// The bytes of a `value` below 2^28, the first one in the highest byte, and how many they are. Without a loop or a branch.
#[inline(always)]
pub(crate) const fn short(value: u32) -> (u32, usize) {
    debug_assert!(value < 1 << 28);
    let bits = value | 1;
    let length = bits.ilog2() as usize / 7 + 1;
    let sevens = (value & 0x7f)
        | (value << 1 & 0x7f00)
        | (value << 2 & 0x007f_0000)
        | (value << 3 & 0x7f00_0000);
    // All but the last byte say that another one follows.
    ((sevens | 0x8080_8000) << (32 - 8 * length), length)
}

/// The varint at the start of `bytes` and its length; `None` when `bytes` ends within it.
#[must_use]
pub fn read(bytes: &[u8]) -> Option<(u64, usize)> {
    let mut value = 0;
    for (i, &byte) in bytes.iter().take(BYTES_MAX - 1).enumerate() {
        value = value << 7 | u64::from(byte & 0x7f);
        if byte < 0x80 {
            return Some((value, i + 1));
        }
    }
    let last = *bytes.get(BYTES_MAX - 1)?;
    Some((value << 8 | u64::from(last), BYTES_MAX))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn short_ones_are_varints() {
        let borders = (0..28).flat_map(|bit| [(1 << bit) - 1, 1 << bit, (1 << bit) + 1]);
        for value in borders.chain(0..100_000).chain([(1 << 28) - 1]) {
            let mut expected = [0; BYTES_MAX];
            let expected_length = write(&mut expected, u64::from(value));
            let (bytes, length) = short(value);
            assert_eq!(length, expected_length, "{value}");
            assert_eq!(bytes.to_be_bytes()[..length], expected[..length], "{value}");
        }
    }
}
