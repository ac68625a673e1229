//! Cuts what is read into chunks of whole records.

use std::io::Read;

use inrush_scan::json::JsonCutter;
use inrush_scan::{Cutter, Dialect, Tail};

use crate::encode::Grammar;

/// A record must fit in this: above the 50 MB that single values reach in practice, small enough for the memory ceiling
/// to stay modest when a quote is never closed. 64 MiB.
pub const RECORD_BYTES_MAX: usize = 64 << 20;

/// Reads an input chunk by chunk, each of whole records.
pub struct ChunkReader<R> {
    reader: Ahead<R>,
    cutter: AnyCutter,
    /// Whether the last chunk ended with the input.
    pub is_over: bool,
}

/// Finds boundaries of records, however they are written.
pub enum AnyCutter {
    /// Of delimited text.
    Delimited(Cutter),
    /// Of JSON.
    Json(JsonCutter),
}

impl AnyCutter {
    fn cut(&mut self, bytes: &[u8], goal: usize, tail: Tail) -> Option<usize> {
        match self {
            Self::Delimited(cutter) => cutter.cut(bytes, goal, tail),
            Self::Json(cutter) => cutter.cut(bytes, goal, tail),
        }
    }
}

impl Grammar {
    /// Finds boundaries of records of the input `file`; `begun` where something of it was cut off before.
    pub fn cutter(&self, file: usize, begun: bool) -> AnyCutter {
        match self {
            Grammar::Delimited(dialect) => AnyCutter::Delimited(Cutter::new(dialect)),
            Grammar::Json(json) if begun => {
                AnyCutter::Json(JsonCutter::of_rest(json.layouts[file]))
            }
            Grammar::Json(json) => AnyCutter::Json(JsonCutter::new(json.layouts[file])),
            // Nobody cuts columns; they come as they are.
            Grammar::Columns => AnyCutter::Delimited(Cutter::new(&Dialect::csv())),
        }
    }
}

/// What a [`ChunkReader`] has read.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Next {
    /// A chunk.
    Chunk,
    /// Nothing: the input is over.
    End,
    /// Part of a record that is longer than [`RECORD_BYTES_MAX`].
    TooLong,
}

impl<R: Read> ChunkReader<R> {
    /// A reader of `input`, which starts on a record boundary.
    pub fn new(input: R, dialect: &Dialect) -> Self {
        Self::cutting(input, AnyCutter::Delimited(Cutter::new(dialect)))
    }

    /// A reader of `input`, which starts on a record boundary, by this cutter.
    pub fn cutting(input: R, cutter: AnyCutter) -> Self {
        Self { reader: Ahead::new(input), cutter, is_over: false }
    }

    /// Reads the next chunk into `bytes`, whatever was in them: about `chunk_bytes`, and more where the first record is longer.
    pub fn next(&mut self, bytes: &mut Vec<u8>, chunk_bytes: usize) -> std::io::Result<Next> {
        bytes.clear();
        let mut goal = chunk_bytes;
        let end = loop {
            let ended = self.reader.fill(bytes, goal)?;
            let tail = match (ended, bytes.len() >= RECORD_BYTES_MAX) {
                (true, _) => Tail::End,
                (false, true) => Tail::Limit,
                (false, false) => Tail::More,
            };
            match self.cutter.cut(bytes, chunk_bytes, tail) {
                Some(end) => {
                    self.is_over = ended && end == bytes.len();
                    break end;
                }
                None if bytes.is_empty() => return Ok(Next::End),
                None if tail == Tail::More => goal = (goal * 2).min(RECORD_BYTES_MAX),
                None => return Ok(Next::TooLong),
            }
        };
        self.reader.put_back(&bytes[end..]);
        bytes.truncate(end);
        Ok(Next::Chunk)
    }
}

/// A reader that takes bytes back: what was read beyond the last whole record.
struct Ahead<R> {
    input: R,
    back: Vec<u8>,
    back_at: usize,
    ended: bool,
}

impl<R: Read> Ahead<R> {
    fn new(input: R) -> Self {
        Self { input, back: Vec::new(), back_at: 0, ended: false }
    }

    /// Fills `bytes` up to `goal`; true when nothing is left behind them.
    fn fill(&mut self, bytes: &mut Vec<u8>, goal: usize) -> std::io::Result<bool> {
        let back = &self.back[self.back_at..];
        let take = back.len().min(goal.saturating_sub(bytes.len()));
        bytes.extend_from_slice(&back[..take]);
        self.back_at += take;
        let missing = goal.saturating_sub(bytes.len());
        if missing > 0 && !self.ended {
            bytes.reserve(missing);
            let got = self.input.by_ref().take(missing as u64).read_to_end(bytes)?;
            self.ended = got < missing;
        }
        Ok(self.ended && self.back_at == self.back.len())
    }

    /// Takes back the end of what [`Ahead::fill`] gave.
    fn put_back(&mut self, bytes: &[u8]) {
        if self.back_at >= bytes.len() && self.back_at < self.back.len() {
            // They are still here, just before what is to be read next: after a quote that never closes there can be much.
            self.back_at -= bytes.len();
        } else {
            self.back.drain(..self.back_at);
            self.back.splice(0..0, bytes.iter().copied());
            self.back_at = 0;
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_put_back_comes_again() {
        let mut ahead = Ahead::new(&b"0123456789"[..]);
        let mut bytes = Vec::new();
        assert!(!ahead.fill(&mut bytes, 8).unwrap());
        assert_eq!(bytes, b"01234567");
        ahead.put_back(b"34567");
        bytes.clear();
        assert!(!ahead.fill(&mut bytes, 2).unwrap());
        assert_eq!(bytes, b"34");
        ahead.put_back(b"4");
        bytes.clear();
        assert!(ahead.fill(&mut bytes, 20).unwrap());
        assert_eq!(bytes, b"456789");
        ahead.put_back(b"789");
        bytes.clear();
        assert!(ahead.fill(&mut bytes, 20).unwrap());
        assert_eq!(bytes, b"789");
    }
}
