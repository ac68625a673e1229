//! Finding the few bytes that matter, 64 at a time.
//!
//! A block of 64 bytes is compared with each special byte; the results are one `u64` with a bit per
//! byte. [`Bits`] walks over the set bits of one block after the other. Most of the text is thus
//! never looked at byte by byte, and a walk costs per special byte, not per byte.
//!
//! x86-64 has the compare as SSE2, which every such CPU has. Elsewhere eight bytes are compared at
//! a time in a `u64`. Both are compiled for the tests, which hold them to the same answers. AVX2
//! was measured and doesn't pay: the walk over the bits takes most of the time, and what it finds
//! is dealt with one by one either way.

/// Bytes compared at once: as many as a `u64` has bits.
pub(crate) const BLOCK: usize = 64;

/// A bit per byte of the block, set where the byte is one of `needles`.
#[inline(always)]
pub(crate) fn matches<const N: usize>(block: &[u8; BLOCK], needles: [u8; N]) -> u64 {
    #[cfg(target_arch = "x86_64")]
    return matches_sse2(block, needles);
    #[cfg(not(target_arch = "x86_64"))]
    return matches_portable(block, needles);
}

/// [`matches`] with SSE2: four times sixteen bytes.
#[cfg(target_arch = "x86_64")]
#[inline(always)]
fn matches_sse2<const N: usize>(block: &[u8; BLOCK], needles: [u8; N]) -> u64 {
    use std::arch::x86_64::{
        __m128i, _mm_cmpeq_epi8, _mm_loadu_si128, _mm_movemask_epi8, _mm_or_si128, _mm_set1_epi8,
        _mm_setzero_si128,
    };
    let mut mask = 0;
    for (i, part) in block.as_chunks::<16>().0.iter().enumerate() {
        // SAFETY: `part` is 16 readable bytes, the load needs no alignment, and SSE2 belongs to
        // x86-64.
        let bits = unsafe {
            let text = _mm_loadu_si128(part.as_ptr().cast::<__m128i>());
            let mut equal = _mm_setzero_si128();
            for needle in needles {
                let needle = _mm_set1_epi8(needle.cast_signed());
                equal = _mm_or_si128(equal, _mm_cmpeq_epi8(text, needle));
            }
            _mm_movemask_epi8(equal)
        };
        // The upper 16 bits of a movemask are 0.
        mask |= u64::from(bits.cast_unsigned()) << (16 * i);
    }
    mask
}

/// [`matches`] with 64-bit integers: eight times eight bytes.
#[cfg(any(test, not(target_arch = "x86_64")))]
#[inline(always)]
fn matches_portable<const N: usize>(block: &[u8; BLOCK], needles: [u8; N]) -> u64 {
    const ONES: u64 = 0x0101_0101_0101_0101;
    const LOW: u64 = 0x7f * ONES;
    let mut mask = 0;
    for (i, part) in block.as_chunks::<8>().0.iter().enumerate() {
        let text = u64::from_le_bytes(*part);
        let mut equal = 0;
        for needle in needles {
            // A byte is 0 where it equals the needle. Adding 0x7f then carries into no high bit,
            // and no carry leaves a byte, so the answer is exact.
            let differ = text ^ (u64::from(needle) * ONES);
            equal |= !(((differ & LOW) + LOW) | differ | LOW);
        }
        // The high bits are gathered in the topmost byte: bit 8k moves to 56 + k.
        mask |= ((equal >> 7).wrapping_mul(0x0102_0408_1020_4080) >> 56) << (8 * i);
    }
    mask
}

/// A walk over the positions of the special bytes, in order. The methods' `N` says how many of the
/// needles are in use; one walk keeps to one `N`.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Bits {
    needles: [u8; 4],
    /// Offset behind the current block.
    next_base: usize,
    /// Where the current block's special bytes are, those not yet visited.
    mask: u64,
}

impl Bits {
    /// A walk that starts with the first byte.
    #[inline]
    pub(crate) fn new(needles: [u8; 4]) -> Self {
        Self { needles, next_base: 0, mask: 0 }
    }

    /// Goes to `position`, wherever it is.
    #[inline]
    pub(crate) fn seek(&mut self, position: usize) {
        self.next_base = position;
        self.mask = 0;
    }

    /// Passes over what lies before `position`, which isn't before the current block.
    #[inline(always)]
    pub(crate) fn skip_to(&mut self, position: usize) {
        if position >= self.next_base {
            self.seek(position);
        } else {
            // The current block is the 64 bytes before `next_base`.
            self.mask &= u64::MAX << ((position + BLOCK - self.next_base) % BLOCK);
        }
    }

    /// The next special byte's position; `None` at the end of `bytes`.
    #[inline(always)]
    pub(crate) fn next<const N: usize>(&mut self, bytes: &[u8]) -> Option<usize> {
        while self.mask == 0 {
            if self.next_base >= bytes.len() {
                return None;
            }
            self.mask = self.load::<N>(bytes);
            self.next_base += BLOCK;
        }
        let position = self.next_base - BLOCK + self.mask.trailing_zeros() as usize;
        self.mask &= self.mask - 1;
        Some(position)
    }

    #[inline(always)]
    fn load<const N: usize>(&self, bytes: &[u8]) -> u64 {
        const { assert!(N <= 4) };
        let needles = std::array::from_fn::<u8, N, _>(|i| self.needles[i]);
        let rest = &bytes[self.next_base..];
        match rest.first_chunk::<BLOCK>() {
            Some(block) => matches(block, needles),
            None => last_block(rest, needles),
        }
    }
}

/// [`matches`] for fewer than 64 bytes.
#[inline(never)]
fn last_block<const N: usize>(rest: &[u8], needles: [u8; N]) -> u64 {
    let mut block = [0; BLOCK];
    block[..rest.len()].copy_from_slice(rest);
    // The padding may look like a special byte.
    matches(&block, needles) & ((1 << rest.len()) - 1)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn naive<const N: usize>(block: &[u8; BLOCK], needles: [u8; N]) -> u64 {
        (0..BLOCK).map(|i| u64::from(needles.contains(&block[i])) << i).sum()
    }

    /// Every byte value at every position, next to its neighbours in value (carries!).
    #[test]
    fn machines_agree() {
        for start in 0..=255_u8 {
            for step in [0, 1, 3, 128, 255_u8] {
                let mut value = start;
                let block = std::array::from_fn(|_| {
                    value = value.wrapping_add(step);
                    value
                });
                for needle in [0, 1, b'\n', b',', b'"', 0x7f, start, start ^ 0x80] {
                    let needles = [needle, b'\t', start.wrapping_add(7), needle.wrapping_add(1)];
                    let expected = naive(&block, needles);
                    assert_eq!(matches_portable(&block, needles), expected);
                    assert_eq!(matches(&block, needles), expected);
                    #[cfg(target_arch = "x86_64")]
                    assert_eq!(matches_sse2(&block, needles), expected);
                }
            }
        }
    }

    #[test]
    fn bits_visit_every_special_byte() {
        let bytes: Vec<u8> = (0..1000_u32).map(|i| (i * i % 7) as u8).collect();
        for len in [0, 1, 63, 64, 65, 127, 128, 129, 1000] {
            let bytes = &bytes[..len];
            let mut bits = Bits::new([0, 2, 9, 9]);
            let mut seen = Vec::new();
            while let Some(position) = bits.next::<2>(bytes) {
                seen.push(position);
            }
            let expected: Vec<usize> =
                (0..len).filter(|&i| bytes[i] == 0 || bytes[i] == 2).collect();
            assert_eq!(seen, expected);
            assert_eq!(bits.next::<2>(bytes), None);
            for target in 0..len + 70 {
                let mut bits = Bits::new([0, 2, 9, 9]);
                bits.skip_to(target);
                let next = expected.iter().copied().find(|&position| position >= target);
                assert_eq!(bits.next::<2>(bytes), next);
            }
        }
    }
}
