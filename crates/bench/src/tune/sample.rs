//! The rows that are loaded: whole chunks from several places of the user's source.

use inrush::{Error, Kind, Observer, Parts, Plan, Request, Result, Split, split_plan};
use inrush_core::wording::{bytes, counted};

/// Pieces of a sample at most: so many that a load of some and one of all differ by enough.
const PIECES: u64 = 16;

/// A sample of the source.
pub(super) struct Sample {
    /// Pieces, each of whole records, in the source's order; none of a source that can't be cut.
    pieces: Vec<Split>,
    /// Rows that the table holds before each load, where the user's holds some.
    pub(super) before: Option<Split>,
    /// The source as a whole.
    whole: Request,
    /// Pieces below which a load says nothing.
    least: usize,
    /// Bytes of all pieces, as they are stored.
    pub(super) bytes: u64,
    /// Bytes of the source.
    pub(super) of_bytes: u64,
}

impl Sample {
    /// About `wanted` bytes of the plan's source, or all of it. `is_seeded` has a piece set aside.
    ///
    /// # Errors
    /// When it is too small to say anything, can be read only once, or the user wants to stop.
    pub(super) fn of(
        plan: &Plan,
        wanted: u64,
        is_seeded: bool,
        observer: &dyn Observer,
    ) -> Result<Self> {
        let facts = &plan.facts.source;
        if !facts.seekable {
            return Err(Error::source("the source can be read only once, and tune reads it often")
                .advise("save it to a file, and name that"));
        }
        let chunk = plan.choice.chunk_bytes as u64;
        let total = facts.bytes.unwrap_or(0);
        let wanted = wanted.min(total);
        // Besides what is loaded each time, a table that holds rows has a piece before.
        let least = inrush::profile::CHUNKS_MIN;
        let needed = least + u64::from(is_seeded);
        let compressed = plan.source.inputs.iter().any(|input| input.compression.is_some());
        if wanted < needed * chunk && !compressed && plan.source.grammar.form() == "text" {
            let what = if wanted < total { "sample" } else { "source" };
            return Err(Error::source(format!(
                "the {what} has {}, and at least {} of {} are needed",
                bytes(wanted),
                counted(needed, "chunk"),
                bytes(chunk)
            ))
            .advise(match what {
                "sample" => "--sample SIZE takes more of the source",
                _ => {
                    "name a larger source: what is loaded in a blink is loaded as fast in every way"
                }
            }));
        }
        let piece = wanted.div_ceil(PIECES * chunk).max(1) * chunk;
        let count = usize::try_from(total / piece).unwrap_or(1).max(1);
        let splits = match split_plan(plan, Parts::Count(count), observer.stop_flag()) {
            Ok(splits) => splits,
            Err(error) if error.kind() == Kind::Interrupted => return Err(error),
            // What can't be cut is loaded as a whole.
            Err(_) => Vec::new(),
        };
        let mut pieces = spread(splits, (wanted / piece).max(1));
        let before = if is_seeded && pieces.len() > 1 { pieces.pop() } else { None };
        if pieces.len() < 2 && before.is_none() {
            pieces.clear();
        }
        let stored = |split: &Split| split.parts.iter().map(|part| part.stored).sum::<u64>();
        let sampled = if pieces.is_empty() { total } else { pieces.iter().map(stored).sum() };
        let least = usize::try_from((least * chunk).div_ceil(piece)).unwrap_or(1);
        let whole = plan.request.clone();
        Ok(Self { pieces, before, whole, least, bytes: sampled, of_bytes: total })
    }

    /// Pieces below which a load says nothing: what is loaded in a blink is loaded as fast in every way.
    pub(super) fn least(&self) -> usize {
        self.least.min(self.pieces())
    }

    /// How many pieces there are.
    pub(super) fn pieces(&self) -> usize {
        self.pieces.len().max(1)
    }

    /// The request that loads so many of the pieces, from all over the source.
    pub(super) fn request(&self, pieces: usize) -> Request {
        let every = spread(self.pieces.iter().collect(), pieces as u64);
        let Some(first) = every.first() else { return self.whole.clone() };
        let mut split = (*first).clone();
        split.parts.clear();
        for part in every.iter().flat_map(|piece| piece.parts.iter().cloned()) {
            // A chunk ends where a part does, and the load's own would go on.
            let apart = match split.parts.last_mut() {
                Some(last) => last.join(part),
                None => Some(part),
            };
            split.parts.extend(apart);
        }
        self.of_split(split)
    }

    /// The request that loads one split.
    pub(super) fn of_split(&self, split: Split) -> Request {
        let mut options = self.whole.options.clone();
        // The split knows them.
        (options.types, options.inference, options.read) = Default::default();
        let target = self.whole.target.clone();
        Request { split: Some(split), target, options, ..Request::default() }
    }
}

/// So many of them at most, as far from each other as can be.
fn spread<T>(all: Vec<T>, wanted: u64) -> Vec<T> {
    let (count, wanted) = (all.len() as u64, wanted.max(1));
    if count <= wanted {
        return all;
    }
    let is_taken = |at: u64| at * wanted / count != (at + 1) * wanted / count;
    (0..).zip(all).filter(|(at, _)| is_taken(*at)).map(|(_, one)| one).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn pieces_are_from_all_over_the_source() {
        assert_eq!(spread((0..100).collect(), 4), [24, 49, 74, 99]);
        assert_eq!(spread(vec![1, 2, 3], 16), [1, 2, 3]);
        assert_eq!(spread((0..7).collect::<Vec<i32>>(), 0).len(), 1);
    }
}
