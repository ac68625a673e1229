//! Where a buffer may be cut, so that chunks hold whole records.

use memchr::{memchr, memrchr};

use super::extent::{EndedBy, Extents};
use super::record::JsonLayout;
use super::value::skip_space;
use crate::cutter::Tail;

/// Finds record boundaries.
///
/// Chunks of [`JsonLayout::Lines`] end behind a newline, those of [`JsonLayout::Values`] right behind
/// a record. In an array the opening bracket goes with the first record, and each `,` and the
/// closing bracket with the record before.
#[derive(Clone, Debug)]
pub struct JsonCutter {
    layout: JsonLayout,
    /// Whether something has been cut off, with the array's opening bracket.
    begun: bool,
}

impl JsonCutter {
    /// A cutter for one input.
    #[must_use]
    pub fn new(layout: JsonLayout) -> Self {
        Self { layout, begun: false }
    }

    /// The end (exclusive) of a run of whole records. `bytes` are what is left of the input.
    ///
    /// That is the last boundary in `bytes[..goal]` if there is one, else the first behind it.
    /// `None` when no record is complete. A record that starts before the goal, though not with the
    /// first byte, and doesn't end before it, is left to the next chunk.
    ///
    /// Nothing is remembered from call to call, except that the array's opening bracket is only
    /// looked for until a call has cut something off. A call looks at no byte more than a few times,
    /// whatever the input. [`Tail::Limit`] is as [`Tail::More`]: a record ends where the layout says,
    /// whole or broken, and how long one may grow is the caller's to say.
    #[must_use]
    pub fn cut(&mut self, bytes: &[u8], goal: usize, tail: Tail) -> Option<usize> {
        let end = self.find(bytes, goal, tail == Tail::End);
        self.begun |= end.is_some();
        end
    }

    fn find(&self, bytes: &[u8], goal: usize, ended: bool) -> Option<usize> {
        if bytes.is_empty() {
            return None;
        }
        if ended && goal >= bytes.len() {
            return Some(bytes.len());
        }
        let near = &bytes[..goal.min(bytes.len())];
        if self.layout == JsonLayout::Lines {
            return memrchr(b'\n', near)
                .or_else(|| Some(near.len() + memchr(b'\n', &bytes[near.len()..])?))
                .map(|newline| newline + 1)
                .or(ended.then_some(bytes.len()));
        }
        let mut start = skip_space::<false>(bytes, 0);
        if self.layout == JsonLayout::Array && !self.begun && bytes.get(start) == Some(&b'[') {
            start = skip_space::<false>(bytes, start + 1);
        }
        let mut extents = Extents::new(self.layout);
        if start == bytes.len() {
            return ended.then_some(start);
        }
        let first = extents.at(bytes, start, ended)?;
        let mut cut = first.next;
        if first.by != EndedBy::Input {
            // Only what ends before the goal: as if nothing came behind it.
            loop {
                start = skip_space::<false>(near, cut);
                if start >= near.len() {
                    break;
                }
                let Some(extent) = extents.at(near, start, false) else { break };
                cut = extent.next;
            }
        }
        Some(cut)
    }
}
