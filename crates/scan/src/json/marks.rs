//! The brackets outside strings, found 64 bytes at a time.
//!
//! A block is compared with the bytes that matter; the results are `u64`s with a bit per byte.
//! Quotes that aren't escaped are turned into strings by a prefix xor, and brackets in strings are
//! masked out.
//!
//! ```text
//!   {"a":"}\"","b":[1]}
//!   . .. .   ..  . .    .       quotes that count
//!    --  ----- --               in a string: from an opening quote up to its closing one
//!   *                *  **      brackets that are left
//! ```
//!
//! A string that is open at a newline ends there. A block that holds such a newline, which well-formed
//! input never has, is walked over byte by byte.

use crate::blocks::{BLOCK, matches};

/// A walk over the brackets outside strings, in order.
#[derive(Clone, Copy, Debug)]
pub(super) struct Marks {
    /// Offset behind the current block.
    next_base: usize,
    /// The current block's brackets, those not yet visited.
    brackets: u64,
    /// What the current block ends in.
    state: State,
}

/// What a block starts or ends in.
#[derive(Clone, Copy, Debug, Default)]
struct State {
    in_string: bool,
    /// Behind a backslash that isn't escaped itself.
    escaped: bool,
}

impl Marks {
    /// A walk from the start, outside strings.
    pub(super) fn new() -> Self {
        Self { next_base: 0, brackets: 0, state: State::default() }
    }

    /// Goes to `position`, which is outside strings, wherever it is.
    pub(super) fn seek(&mut self, position: usize) {
        *self = Self { next_base: position, ..Self::new() };
    }

    /// The next bracket's position; `None` at the end of `bytes`, and then for good.
    #[inline(always)]
    pub(super) fn next(&mut self, bytes: &[u8]) -> Option<usize> {
        while self.brackets == 0 {
            if self.next_base >= bytes.len() {
                return None;
            }
            self.load(bytes);
            self.next_base += BLOCK;
        }
        let position = self.next_base - BLOCK + self.brackets.trailing_zeros() as usize;
        self.brackets &= self.brackets - 1;
        (position < bytes.len()).then_some(position)
    }

    #[inline(always)]
    fn load(&mut self, bytes: &[u8]) {
        let rest = &bytes[self.next_base..];
        match rest.first_chunk::<BLOCK>() {
            Some(block) => self.brackets = self.state.pass(block),
            None => self.load_last(rest),
        }
    }

    #[inline(never)]
    fn load_last(&mut self, rest: &[u8]) {
        let mut block = [b' '; BLOCK];
        block[..rest.len()].copy_from_slice(rest);
        self.brackets = self.state.pass(&block);
    }
}

impl State {
    /// Passes over a block: its brackets outside strings.
    #[inline(always)]
    fn pass(&mut self, block: &[u8; BLOCK]) -> u64 {
        let newlines = matches(block, [b'\n']);
        let quotes = matches(block, [b'"']) & !self.escapes(matches(block, [b'\\']));
        let strings = prefix_xor(quotes) ^ if self.in_string { u64::MAX } else { 0 };
        if newlines & strings != 0 {
            return self.pass_by_byte(block, quotes);
        }
        self.in_string = strings >> (BLOCK - 1) != 0;
        matches(block, [b'{', b'}', b'[', b']']) & !strings
    }

    /// The bytes that a backslash escapes, in a string or not. A run of backslashes escapes every
    /// second of them, and what follows it when it is odd.
    #[inline(always)]
    fn escapes(&mut self, backslashes: u64) -> u64 {
        if backslashes == 0 {
            return u64::from(std::mem::take(&mut self.escaped));
        }
        let mut escapes = 0;
        let mut left = backslashes;
        let mut escaped = u64::from(self.escaped);
        self.escaped = false;
        // Each backslash that isn't escaped takes the byte behind it out of the game.
        loop {
            escapes |= escaped;
            left &= !escaped;
            if left == 0 {
                return escapes;
            }
            let backslash = left & left.wrapping_neg();
            left ^= backslash;
            escaped = backslash << 1;
            self.escaped = escaped == 0;
        }
    }

    /// [`State::pass`] where a newline ends a string.
    #[cold]
    #[inline(never)]
    fn pass_by_byte(&mut self, block: &[u8; BLOCK], quotes: u64) -> u64 {
        let mut brackets = 0;
        for (i, byte) in block.iter().enumerate() {
            match byte {
                b'\n' => self.in_string = false,
                b'"' if quotes >> i & 1 != 0 => self.in_string ^= true,
                b'{' | b'}' | b'[' | b']' if !self.in_string => brackets |= 1 << i,
                _ => {}
            }
        }
        brackets
    }
}

/// A bit is set where an odd number of bits up to and including it was.
#[inline(always)]
fn prefix_xor(mut bits: u64) -> u64 {
    for shift in [1, 2, 4, 8, 16, 32] {
        bits ^= bits << shift;
    }
    bits
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Byte by byte, as the layouts' documentation has it.
    fn naive(bytes: &[u8]) -> Vec<usize> {
        let (mut in_string, mut escaped) = (false, false);
        let mut brackets = Vec::new();
        for (at, &byte) in bytes.iter().enumerate() {
            let literal = std::mem::take(&mut escaped);
            match byte {
                b'\n' => in_string = false,
                b'\\' => escaped = !literal,
                b'"' if !literal => in_string = !in_string,
                b'{' | b'}' | b'[' | b']' if !in_string => brackets.push(at),
                _ => {}
            }
        }
        brackets
    }

    /// Texts made of the bytes that matter, sparse and dense, from any offset to any end.
    #[test]
    fn brackets_outside_strings() {
        let mut seed = 1_u64;
        let mut random = |end: u64| {
            seed = seed.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1);
            (seed >> 33) % end
        };
        for round in 0..3000 {
            let density = [2, 5, 30][round % 3];
            let bytes: Vec<u8> = (0..300)
                .map(|_| match random(density) {
                    0 => b"\"\"\"\\\\{}[]\n"[random(10) as usize],
                    _ => b'x',
                })
                .collect();
            // Not behind a backslash: no walk starts there.
            let from = random(70) as usize;
            let from = if from > 0 && bytes[from - 1] == b'\\' { 0 } else { from };
            for len in [from, from + 1, from + 63, from + 64, from + 65, 200, 300] {
                let bytes = &bytes[..len.max(from)];
                let mut marks = Marks::new();
                marks.seek(from);
                let mut found = Vec::new();
                while let Some(at) = marks.next(bytes) {
                    found.push(at);
                }
                let expected: Vec<usize> =
                    naive(&bytes[from..]).into_iter().map(|at| from + at).collect();
                assert_eq!(found, expected, "{}", bytes.escape_ascii());
            }
        }
    }
}
