//! Where a buffer may be cut, so that chunks hold whole records.

use memchr::{memchr, memrchr};

use super::extent::{Behind, Extents, Start};
use super::record::JsonLayout;
use super::value::{skip_space, skip_to_record};
use crate::cutter::Tail;

/// Finds record boundaries.
///
/// Chunks of [`JsonLayout::Lines`] end behind a newline, those of [`JsonLayout::Values`] right
/// behind a record. In an array the opening bracket goes with the first record, and each `,` and the
/// closing bracket with the record before; and something is left until [`Tail::End`], so that the
/// call that takes the rest then is known to give the input's last chunk
/// ([`JsonPart::last`](super::JsonPart)).
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

    /// A cutter for the rest of an input of which others have cut off whole records.
    #[must_use]
    pub fn of_rest(layout: JsonLayout) -> Self {
        Self { layout, begun: true }
    }

    /// The end (exclusive) of a run of whole records. `bytes` are what is left of the input.
    ///
    /// That is the last boundary in `bytes[..goal]` if there is one, else the first behind it.
    /// `None` when no record is known to be complete. A record that starts before the goal, though not with the
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
        let is_array = self.layout == JsonLayout::Array;
        let skip = match is_array {
            true => skip_space::<false>,
            false => skip_to_record::<false>,
        };
        let mut at = skip(bytes, 0);
        let mut behind = Some(0);
        if is_array && !self.begun {
            behind = None;
            if bytes.get(at) == Some(&b'[') {
                at = skip_space::<false>(bytes, at + 1);
            }
        }
        if at == bytes.len() {
            return ended.then_some(at);
        }
        let mut extents = Extents::new(self.layout);
        let is_takable = |next: usize| next < bytes.len() || ended || !is_array;
        let what_follows = if ended { Behind::Nothing } else { Behind::Anything };
        let first = extents.at(bytes, Start { at, behind }, what_follows)?;
        if !is_takable(first.next) {
            return None;
        }
        let mut cut = first.next;
        loop {
            // Only what ends before the goal: as if nothing came behind it.
            at = skip(near, cut);
            if at >= near.len() {
                return Some(cut);
            }
            match extents.at(near, Start { at, behind: Some(cut) }, Behind::Anything) {
                Some(extent) if is_takable(extent.next) => cut = extent.next,
                _ => return Some(cut),
            }
        }
    }
}
