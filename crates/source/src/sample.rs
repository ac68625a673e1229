//! Values to infer types from: the inputs' heads, and places spread over a plain file.

use std::io::{self, Read as _};
use std::sync::{Arc, Mutex, PoisonError};

use inrush_scan::{Cutter, Dialect, Newline, Tail};

use crate::head::{HEAD_BYTES, Head};
use crate::infer::Observed;
use crate::proposal::{Forms, Proposer};
use crate::{Input, Place, Source, decode};
use inrush_core::cut::RECORD_BYTES_MAX;
use inrush_core::error::Result;
use inrush_core::flow::{Chunk, Encoded, Meter, Origin, Part};
use inrush_core::{Proposal, Type};
use inrush_place::cannot_open;

/// Places in a plain file, besides its start, that are looked at too, and in one that is fetched...
const SPREAD_PLACES: u64 = 8;
const FETCHED_PLACES: u64 = 2;

/// ... and how much at each.
const SPREAD_BYTES: usize = 64 << 10;

/// Whole records of an input, to be looked at.
pub(super) struct Sample {
    pub(super) origin: Origin,
    /// Physical lines before them, where somebody has counted.
    pub(super) lines_before: Option<u64>,
    /// Which ends of the input they have, where that matters.
    pub(super) part: Part,
    pub(super) bytes: Vec<u8>,
    /// How many records they are; 0 before [`Source::survey`].
    pub(super) records: u64,
    /// How many of these are no rows.
    pub(super) bad: u64,
}

/// What the samples say.
pub(super) struct Sampled {
    /// Of each column.
    pub(super) seen: Vec<Observed>,
    /// What to propose for it.
    pub(super) proposals: Vec<Option<Proposal>>,
    /// Bytes of a row, the mean.
    pub(super) row_bytes: Option<u64>,
    /// How many rows they are.
    pub(super) rows: u64,
    /// How many of these are bad whatever the types.
    pub(super) bad: u64,
}

/// Bytes of a record, the mean; `None` where there is none.
pub(super) fn record_bytes(samples: &[Sample]) -> Option<u64> {
    let bytes: u64 = samples.iter().map(|sample| sample.bytes.len() as u64).sum();
    bytes.checked_div(records(samples))
}

/// How many records there are.
pub(super) fn records(samples: &[Sample]) -> u64 {
    samples.iter().map(|sample| sample.records).sum()
}

/// How many of these are no rows.
pub(super) fn bad(samples: &[Sample]) -> u64 {
    samples.iter().map(|sample| sample.bad).sum()
}

impl Sample {
    /// Records of which it doesn't matter where they stand.
    pub(super) fn of(file: u32, bytes: &[u8]) -> Self {
        let origin = Origin { file, ..Origin::default() };
        let (part, bytes) = (Part::default(), bytes.to_vec());
        Self { origin, lines_before: None, part, bytes, records: 0, bad: 0 }
    }

    /// An input's first records.
    fn first(file: usize, input: &Input, bytes: &[u8]) -> Self {
        let sample = Self::of(file as u32, bytes);
        let origin = Origin { byte: input.body_at, ..sample.origin };
        Self { origin, lines_before: Some(input.lines_before), ..sample }
    }
}

impl Source {
    /// Looks at every input's head, and at places spread through a plain first file.
    pub(super) fn sample(
        &self,
        heads: &[Head],
        dialect: &Dialect,
        width: usize,
    ) -> Result<Sampled> {
        let mut texts = Vec::new();
        for (index, head) in heads.iter().enumerate() {
            let body = &head.text[(head.input.body_at as usize).min(head.text.len())..];
            let cutter = Cutter::new(dialect);
            if head.whole {
                texts.push(Sample::first(index, &head.input, body));
            } else if let Some(end) = cutter.cut(body, body.len(), Tail::More) {
                texts.push(Sample::first(index, &head.input, &body[..end]));
            } else if head.input.place.can_be_reread() {
                let record = self.first_record(index, &cutter)?;
                texts.push(Sample::first(index, &head.input, &record));
            }
        }
        texts.extend(self.spread(&heads[0], Some(dialect))?);
        let (seen, texts) = self.survey(texts, width);
        let (row_bytes, rows, bad) = (record_bytes(&texts), records(&texts), bad(&texts));
        let proposals = self.propose(seen.iter().map(Observed::open_type), texts);
        Ok(Sampled { seen, proposals, row_bytes, rows, bad })
    }

    /// What to say of columns that are open to it and of these types, where all of their values in the samples are written in one way that
    /// an option reads: of text, of integers that are to be days, of floats that may be thousands.
    pub(super) fn propose(
        &self,
        types: impl Iterator<Item = Option<Type>>,
        texts: Vec<Sample>,
    ) -> Vec<Option<Proposal>> {
        self.compare(types.map(|ty| ty.and_then(Forms::of)).collect(), Forms::proposal, texts)
    }

    /// What `tell` makes of the forms of each column, once those that not all values in the samples have are left out.
    pub(super) fn compare<T: Clone + Default + Send + 'static>(
        &self,
        columns: Vec<Option<Forms>>,
        tell: fn(&Forms) -> T,
        texts: Vec<Sample>,
    ) -> Vec<T> {
        let width = columns.len();
        let found = Arc::new(Mutex::new(vec![T::default(); width]));
        if columns.iter().any(Option::is_some) {
            let quote = self.grammar.dialect().and_then(|dialect| dialect.quote);
            let proposer = Proposer::new(columns, quote, tell, Arc::clone(&found));
            let mut encoder = self.looker(width, proposer);
            let mut encoded = Encoded::default();
            for Sample { origin, part, bytes, .. } in texts {
                let chunk = Chunk { seq: 0, origin, part, bytes, ..Chunk::default() };
                encoded.clear();
                encoder.encode(&chunk, &mut encoded);
            }
        }
        found.lock().unwrap_or_else(PoisonError::into_inner).clone()
    }

    /// The first record of an input, where it is longer than what was looked at.
    fn first_record(&self, file: usize, cutter: &Cutter) -> Result<Vec<u8>> {
        let meter = Meter::default();
        let mut reader = self.open_body(file, &meter, &self.abandoned)?;
        let mut text = Vec::new();
        loop {
            let more = text.len().max(2 * HEAD_BYTES) as u64;
            let got = reader.by_ref().take(more).read_to_end(&mut text);
            let ended = (got.map_err(|error| self.inputs[file].read_error(&error))? as u64) < more;
            let tail = if ended { Tail::End } else { Tail::More };
            if let Some(end) = cutter.cut(&text, 1, tail) {
                text.truncate(end);
                return Ok(text);
            }
            if ended || text.len() >= RECORD_BYTES_MAX {
                return Ok(Vec::new());
            }
        }
    }

    /// Whole lines from places spread over the first input, when lines can be told there: in a plain file whose head has no
    /// newline inside quotes. What is missed costs a restart of the load, never a value.
    pub(super) fn spread(&self, head: &Head, dialect: Option<&Dialect>) -> Result<Vec<Sample>> {
        let Some(bytes) = head.input.bytes_stored else { return Ok(vec![]) };
        let places = match &head.input.place {
            Place::File(_) => SPREAD_PLACES,
            Place::Stored(stored) if stored.has_parts() => FETCHED_PLACES,
            _ => return Ok(vec![]),
        };
        let quote = dialect.and_then(|dialect| dialect.quote);
        let lines = quote.is_none_or(|quote| memchr::memchr(quote, &head.text).is_none());
        if head.whole
            || !lines
            || head.input.compression.is_some()
            || !decode::is_utf8(head.input.encoding)
            || dialect.is_some_and(|dialect| dialect.newline == Newline::Cr)
        {
            return Ok(vec![]);
        }
        let fail = |error: io::Error| cannot_open(&head.input.name, &error);
        let read = |at: u64| match &head.input.place {
            Place::Stored(stored) => stored.read_at(at, SPREAD_BYTES, &self.abandoned),
            place => {
                let mut text = Vec::with_capacity(SPREAD_BYTES);
                let file = place.open(at, &self.abandoned)?;
                file.take(SPREAD_BYTES as u64).read_to_end(&mut text)?;
                Ok(text)
            }
        };
        let mut texts = Vec::new();
        for place in 1..=places {
            // The last place is the end of the file to its last byte, where appended rows of another kind would be.
            let last = bytes.saturating_sub(SPREAD_BYTES as u64);
            let at = last - last / places * (places - place);
            if at < head.text.len() as u64 {
                continue;
            }
            let text = read(at).map_err(fail)?;
            let start = memchr::memchr(b'\n', &text).map_or(text.len(), |at| at + 1);
            let end = memchr::memrchr(b'\n', &text).map_or(start, |at| at + 1).max(start);
            // A quote here may close a field that began before, and nobody can tell.
            if quote.is_none_or(|quote| memchr::memchr(quote, &text).is_none()) {
                let sample = Sample::of(0, &text[start..end]);
                let origin = Origin { byte: at + start as u64, ..sample.origin };
                texts.push(Sample { origin, ..sample });
            }
        }
        Ok(texts)
    }

    /// What was seen of the samples' columns; and the samples.
    pub(super) fn survey(
        &self,
        mut texts: Vec<Sample>,
        width: usize,
    ) -> (Vec<Observed>, Vec<Sample>) {
        let total = Arc::new(Mutex::new(self.unseen(width)));
        let mut encoder = self.surveyor(&total);
        let mut encoded = Encoded::default();
        for Sample { origin, lines_before, bytes: kept, records, bad, .. } in &mut texts {
            let (origin, bytes) = (*origin, std::mem::take(kept));
            let mut chunk = Chunk { seq: 0, origin, bytes, ..Chunk::default() };
            encoded.clear();
            encoder.encode(&chunk, &mut encoded);
            let mut total = total.lock().unwrap_or_else(PoisonError::into_inner);
            for seen in total.iter_mut().filter(|_| lines_before.is_some()) {
                seen.locate(&chunk, |at| {
                    lines_before.unwrap_or(0) + self.grammar.lines(&chunk.bytes[..at]) + 1
                });
            }
            drop(total);
            *records = encoded.records.into();
            *bad = encoded.found.len() as u64;
            *kept = std::mem::take(&mut chunk.bytes);
        }
        let total = total.lock().unwrap_or_else(PoisonError::into_inner);
        (total.clone(), texts)
    }
}
