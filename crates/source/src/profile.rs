//! What the values of each column look like: how many there are, how they are written, and which of them decided the type.

use std::collections::HashMap;
use std::sync::{Arc, Mutex, PoisonError};

use crate::Source;
use crate::infer::{Observed, Plain, Spot};
use crate::survey::LinesSoFar;
use inrush_core::encode::{self, BadValue, Encode, EncodeRow, Row, Shape};
use inrush_core::flow::{Chunk, Encoded, Wire};
use inrush_core::reading::Reading;
use inrush_core::{Misfit, Type};

/// What was seen of one column.
#[derive(Clone, Debug, Default)]
pub struct Profile {
    observed: Observed,
    /// How many values are NULL.
    pub nulls: u64,
    /// How the values are written.
    pub shapes: Shapes,
}

impl Profile {
    /// The type that all values are of.
    pub fn ty(&self) -> Type {
        self.observed.ty()
    }

    /// Values that are not NULL.
    pub fn values(&self) -> u64 {
        self.observed.values()
    }

    /// The first value that is not of the type which most others are of, where the column was given another because of it.
    pub fn decider(&self, ty: Type, source: &Source) -> Option<(Misfit, Type)> {
        let attempts = self.observed.attempts(&source.inputs).into_iter();
        let failed = attempts.filter(|attempt| attempt.ty != ty && attempt.fits > 0);
        // Of those that as many values fit, the first is the narrowest, of values as they are written.
        let nearest = failed.rev().max_by_key(|attempt| attempt.fits)?;
        Some((nearest.misfit?, nearest.ty))
    }

    /// The first value that is none of the type.
    pub fn misfit(&self, ty: Type, source: &Source) -> Option<Misfit> {
        let attempts = self.observed.attempts(&source.inputs).into_iter();
        attempts.filter(|attempt| attempt.ty == ty).find_map(|attempt| attempt.misfit)
    }
}

/// The profiles of all columns, as they grow.
pub struct Profiles<'a> {
    source: &'a Source,
    shape: Arc<Shape>,
    total: Arc<Mutex<Vec<Profile>>>,
    lines: LinesSoFar,
}

impl<'a> Profiles<'a> {
    /// Nothing seen yet of rows of this shape, whose columns take their values from these fields of the source.
    pub fn of(source: &'a Source, shape: &Shape, fields: &[usize]) -> Self {
        let mut shape = shape.clone();
        // What is a value of its column is for others to judge.
        // And how values are written is counted as they stand, without the blanks that are cut off.
        shape.columns.iter_mut().for_each(|column| {
            column.pinned = true;
            column.reading = column.reading.as_ref().and_then(Reading::only_trim);
            column.foreseen = Default::default();
        });
        shape.found_max = u64::MAX;
        let unseen = |field: &usize| Profile {
            observed: Observed::of(source.reads.get(*field).and_then(Option::as_ref)),
            ..Profile::default()
        };
        let total = fields.iter().map(unseen).collect();
        let (shape, total) = (Arc::new(shape), Arc::new(Mutex::new(total)));
        Self { source, shape, total, lines: LinesSoFar::default() }
    }

    /// An encoder for one thread, which sends nothing on.
    pub fn encoder(&self) -> Box<dyn Encode> {
        let total = self.total.lock().unwrap_or_else(PoisonError::into_inner);
        let unseen =
            |profile: &Profile| Profile { observed: profile.observed.anew(), ..Profile::default() };
        let profiler = Profiler {
            seen: total.iter().map(unseen).collect(),
            total: Arc::clone(&self.total),
            rows: 0,
        };
        encode::encoder(Arc::clone(&self.shape), profiler)
    }

    /// Takes note of a chunk that an encoder has looked at; they come in the source's order. Only here is it known how many lines
    /// came before it.
    pub fn collect(&mut self, chunk: &Chunk, lines: u64) {
        let before = self.lines.before(self.source, chunk, lines);
        let grammar = &self.shape.grammar;
        let line = |at: usize| before + grammar.lines(&chunk.bytes[..at]) + 1;
        let mut total = self.total.lock().unwrap_or_else(PoisonError::into_inner);
        total.iter_mut().for_each(|profile| profile.observed.locate(chunk, line));
    }

    /// What there was to see.
    pub fn end(self) -> Vec<Profile> {
        std::mem::take(&mut *self.total.lock().unwrap_or_else(PoisonError::into_inner))
    }
}

/// Looks at every value of the good records it is given, and makes no wire.
struct Profiler {
    seen: Vec<Profile>,
    total: Arc<Mutex<Vec<Profile>>>,
    /// Of the chunk, so far.
    rows: u64,
}

impl EncodeRow for Profiler {
    fn row<R: Row>(&mut self, row: &R, wire: &mut Wire) -> Result<(), BadValue<'_>> {
        let spot = Spot::row(self.rows);
        for (column, seen) in self.seen.iter_mut().enumerate() {
            wire.values.clear();
            match row.value(column, &mut wire.values) {
                None => seen.nulls += 1,
                Some((home, span)) => {
                    let value = row.bytes(home, span, &wire.values);
                    let plain = Plain::of(value);
                    seen.observed.add_glanced(value, spot, plain, || row.is_typed(column));
                    seen.shapes.add(value, plain);
                }
            }
        }
        self.rows += 1;
        Ok(())
    }

    fn end(&mut self, chunk: &Chunk, out: &mut Encoded) {
        self.rows = 0;
        let mut total = self.total.lock().unwrap_or_else(PoisonError::into_inner);
        for (sum, seen) in total.iter_mut().zip(&mut self.seen) {
            seen.observed.place(chunk, |row| out.wire.rows[row as usize].start);
            sum.observed.merge(&seen.observed);
            sum.nulls += std::mem::take(&mut seen.nulls);
            sum.shapes.merge(&mut seen.shapes);
            seen.observed = seen.observed.anew();
        }
        out.wire.clear();
    }
}

/// How values are written: digits in a row are one `9`, letters one `a`, blanks one blank, and everything else is itself.
#[derive(Clone, Debug, Default)]
pub struct Shapes {
    seen: HashMap<u64, (u64, String)>,
    /// The last one, which the next value nearly always has as well, and how often it came since it was looked up.
    last: (u64, u64),
    /// Whether there were more than are kept apart.
    pub are_more: bool,
}

/// Shapes of a column that are kept apart: beyond, they say no more than that the column is text.
const SHAPES_MAX: usize = 1_000;

/// Of a shape, so much is shown.
const SHOWN_BYTES: usize = 40;

/// What each byte is in a shape.
const CLASSES: [u8; 256] = {
    let mut classes = [0; 256];
    let mut byte = 0;
    while byte < 256 {
        classes[byte] = match byte as u8 {
            b'0'..=b'9' => b'9',
            b'a'..=b'z' | b'A'..=b'Z' | 0x80.. => b'a',
            b' ' | b'\t' => b' ',
            0..0x20 | 0x7f => b'?',
            other => other,
        };
        byte += 1;
    }
    classes
};

impl Shapes {
    /// How many there are.
    pub fn count(&self) -> usize {
        self.seen.len()
    }

    /// The most frequent ones, and how many values have each.
    pub fn most(&self, max: usize) -> Vec<(String, u64)> {
        let mut all: Vec<_> = self.seen.values().map(|(count, shape)| (shape, *count)).collect();
        all.sort_by(|a, b| b.1.cmp(&a.1).then(a.0.cmp(b.0)));
        all.into_iter().take(max).map(|(shape, count)| (shape.clone(), count)).collect()
    }

    #[inline]
    fn add(&mut self, value: &[u8], plain: Option<Plain>) {
        // What a shape is of numbers is known without a look at their digits.
        const NUMBERS: [u64; 4] = [hash(b"9"), hash(b"-9"), hash(b"9.9"), hash(b"-9.9")];
        let hash = match plain {
            None => hash(value),
            Some(plain) => {
                NUMBERS[usize::from(plain.is_negative()) + 2 * usize::from(plain.has_fraction())]
            }
        };
        if hash == self.last.0 && self.last.1 > 0 {
            self.last.1 += 1;
            return;
        }
        self.flush();
        if self.seen.contains_key(&hash) || self.seen.len() < SHAPES_MAX {
            self.seen.entry(hash).or_insert_with(|| (0, shown(value)));
            self.last = (hash, 1);
        } else {
            self.are_more = true;
        }
    }

    fn flush(&mut self) {
        let (hash, count) = std::mem::take(&mut self.last);
        if count > 0
            && let Some((sum, _)) = self.seen.get_mut(&hash)
        {
            *sum += count;
        }
    }

    /// Adds what another has seen, which forgets it.
    fn merge(&mut self, other: &mut Shapes) {
        other.flush();
        self.are_more |= std::mem::take(&mut other.are_more);
        for (hash, (count, shape)) in other.seen.drain() {
            if let Some((sum, _)) = self.seen.get_mut(&hash) {
                *sum += count;
            } else if self.seen.len() < SHAPES_MAX {
                self.seen.insert(hash, (count, shape));
            } else {
                self.are_more = true;
            }
        }
    }
}

/// A shape's hash: of two values with the same it is taken that they have the same shape. Nothing but a number on the screen depends
/// on it.
#[inline]
const fn hash(value: &[u8]) -> u64 {
    const PRIME: u64 = 0x9e37_79b9_7f4a_7c15;
    let (mut hash, mut before) = (PRIME, 0);
    let mut at = 0;
    while at < value.len() {
        let class = CLASSES[value[at] as usize];
        // Only these stand for several.
        if class != before || !matches!(class, b'9' | b'a' | b' ') {
            hash = (hash ^ class as u64).wrapping_mul(PRIME).rotate_left(23);
            before = class;
        }
        at += 1;
    }
    hash
}

/// A shape as people read it.
fn shown(value: &[u8]) -> String {
    let (mut out, mut before) = (String::new(), 0);
    for byte in value {
        let class = CLASSES[usize::from(*byte)];
        if class != before || !matches!(class, b'9' | b'a' | b' ') {
            if out.len() == SHOWN_BYTES {
                out.push_str("...");
                break;
            }
            out.push(char::from(class));
            before = class;
        }
    }
    out
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn shapes_are_what_is_left_when_digits_and_letters_are_alike() {
        let mut shapes = Shapes::default();
        for value in
            ["2024-01-02", "1999-12-31", "12.5", "7.25", "n/a", "", "2001-01-01", "\u{e9}t\u{e9}"]
        {
            shapes.add(value.as_bytes(), Plain::of(value.as_bytes()));
        }
        let mut total = Shapes::default();
        total.merge(&mut shapes);
        assert_eq!(total.count(), 5);
        let most: Vec<(String, u64)> =
            [("9-9-9", 3), ("9.9", 2)].map(|(shape, count)| (shape.to_owned(), count)).into();
        assert_eq!(total.most(2), most);
        assert_eq!(shapes.count(), 0);
        assert_eq!(shown(&[b'.'; 100]).len(), SHOWN_BYTES + 3);
    }

    #[test]
    fn only_so_many_shapes_are_kept_apart() {
        let mut shapes = Shapes::default();
        (1..2_000).for_each(|count| shapes.add(&vec![b'-'; count], None));
        shapes.flush();
        assert_eq!((shapes.count(), shapes.are_more), (SHAPES_MAX, true));
    }
}
