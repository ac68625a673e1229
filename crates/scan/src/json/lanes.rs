//! Passing over bytes sixteen at a time.
//!
//! x86-64 has SSE2 always. Elsewhere, and at the end of the bytes, it goes byte by byte.

/// Bytes looked at together.
#[cfg(target_arch = "x86_64")]
const LANE: usize = 16;

/// Where the first byte from `at` on is that can't stand in a string as it is: a quote, a backslash
/// or a control character. The end of `bytes` if there is none.
#[inline(always)]
pub(super) fn text_end(bytes: &[u8], mut at: usize) -> usize {
    #[cfg(target_arch = "x86_64")]
    while let Some(lane) = lane(bytes, at) {
        let ends = sse2::text_ends(lane);
        if ends != 0 {
            return at + ends.trailing_zeros() as usize;
        }
        at += LANE;
    }
    while bytes.get(at).is_some_and(|&byte| !ends_text(byte)) {
        at += 1;
    }
    at
}

#[inline(always)]
fn ends_text(byte: u8) -> bool {
    byte < 0x20 || byte == b'"' || byte == b'\\'
}

/// Where the digits from `at` on end.
#[inline(always)]
pub(super) fn digits_end(bytes: &[u8], mut at: usize) -> usize {
    #[cfg(target_arch = "x86_64")]
    while let Some(lane) = lane(bytes, at) {
        let digits = sse2::digits(lane);
        if digits != u32::from(u16::MAX) {
            return at + digits.trailing_ones() as usize;
        }
        at += LANE;
    }
    while bytes.get(at).is_some_and(u8::is_ascii_digit) {
        at += 1;
    }
    at
}

/// Whether the `length` bytes at `one` and at `other` are the same. False when the bytes end before.
#[inline(always)]
pub(super) fn same(bytes: &[u8], mut one: usize, mut other: usize, mut length: usize) -> bool {
    #[cfg(target_arch = "x86_64")]
    while let (Some(left), Some(right)) = (lane(bytes, one), lane(bytes, other)) {
        let equal = sse2::equals(left, right).trailing_ones() as usize;
        if equal >= length || equal < LANE {
            return equal >= length;
        }
        (one, other, length) = (one + LANE, other + LANE, length - LANE);
    }
    let at = |from: usize| bytes.get(from..from + length);
    at(one).is_some() && at(one) == at(other)
}

#[cfg(target_arch = "x86_64")]
#[inline(always)]
fn lane(bytes: &[u8], at: usize) -> Option<&[u8; LANE]> {
    bytes.get(at..)?.first_chunk()
}

/// One bit per byte of a lane.
#[cfg(target_arch = "x86_64")]
mod sse2 {
    use std::arch::x86_64::{
        __m128i, _mm_cmpeq_epi8, _mm_loadu_si128, _mm_min_epu8, _mm_movemask_epi8, _mm_or_si128,
        _mm_set1_epi8, _mm_sub_epi8,
    };

    use super::LANE;

    /// Quotes, backslashes, control characters.
    #[inline(always)]
    pub(super) fn text_ends(lane: &[u8; LANE]) -> u32 {
        // SAFETY: `lane` is 16 readable bytes, the load needs no alignment, and SSE2 belongs to
        // x86-64.
        unsafe {
            let text = _mm_loadu_si128(lane.as_ptr().cast::<__m128i>());
            let quote = _mm_cmpeq_epi8(text, _mm_set1_epi8(b'"'.cast_signed()));
            let backslash = _mm_cmpeq_epi8(text, _mm_set1_epi8(b'\\'.cast_signed()));
            let control = _mm_cmpeq_epi8(_mm_min_epu8(text, _mm_set1_epi8(0x1f)), text);
            let ends = _mm_or_si128(_mm_or_si128(quote, backslash), control);
            _mm_movemask_epi8(ends).cast_unsigned()
        }
    }

    /// Digits.
    #[inline(always)]
    pub(super) fn digits(lane: &[u8; LANE]) -> u32 {
        // SAFETY: as in `text_ends`.
        unsafe {
            let text = _mm_loadu_si128(lane.as_ptr().cast::<__m128i>());
            let value = _mm_sub_epi8(text, _mm_set1_epi8(b'0'.cast_signed()));
            let digit = _mm_cmpeq_epi8(_mm_min_epu8(value, _mm_set1_epi8(9)), value);
            _mm_movemask_epi8(digit).cast_unsigned()
        }
    }

    /// Bytes that are the same in both.
    #[inline(always)]
    pub(super) fn equals(left: &[u8; LANE], right: &[u8; LANE]) -> u32 {
        // SAFETY: as in `text_ends`, for both.
        unsafe {
            let left = _mm_loadu_si128(left.as_ptr().cast::<__m128i>());
            let right = _mm_loadu_si128(right.as_ptr().cast::<__m128i>());
            _mm_movemask_epi8(_mm_cmpeq_epi8(left, right)).cast_unsigned()
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Every byte value at every distance from the start of a lane, and at the end of the bytes.
    #[test]
    fn every_byte_at_every_place() {
        for byte in 0..=255_u8 {
            for before in 0..40 {
                for after in [0, 1, 15, 40] {
                    let around = |filler: u8| {
                        let mut bytes = vec![filler; before + 1 + after];
                        bytes[before] = byte;
                        bytes
                    };
                    let end = |found: bool| if found { before } else { before + 1 + after };
                    let is_end = byte < 0x20 || byte == b'"' || byte == b'\\';
                    assert_eq!(text_end(&around(0xe4), 0), end(is_end));
                    assert_eq!(digits_end(&around(b'7'), 0), end(!byte.is_ascii_digit()));
                    let (left, right) = (around(b'x'), vec![b'x'; before + 1 + after]);
                    let both = [left, right].concat();
                    let length = both.len() / 2;
                    assert_eq!(same(&both, length, 0, length), byte == b'x');
                    assert!(same(&both, length, 0, before));
                    assert!(!same(&both, length, 0, length + 1));
                }
            }
        }
    }
}
