//! Cuts what is read into chunks of whole records.

use std::io::{ErrorKind, Read};

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
        let (mut held, mut goal) = (0, chunk_bytes);
        let end = loop {
            let ended = self.reader.fill(bytes, &mut held, goal)?;
            let tail = match (ended, held >= RECORD_BYTES_MAX) {
                (true, _) => Tail::End,
                (false, true) => Tail::Limit,
                (false, false) => Tail::More,
            };
            match self.cutter.cut(&bytes[..held], chunk_bytes, tail) {
                Some(end) => {
                    self.is_over = ended && end == held;
                    break end;
                }
                None if held == 0 => {
                    bytes.clear();
                    return Ok(Next::End);
                }
                None if tail == Tail::More => goal = (goal * 2).min(RECORD_BYTES_MAX),
                None => return Ok(Next::TooLong),
            }
        };
        self.reader.put_back(&bytes[end..held]);
        bytes.truncate(end);
        Ok(Next::Chunk)
    }
}

/// Bytes that an input is asked for first, where there is nothing to write over.
const STEP_BYTES_MIN: usize = 64 << 10;

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

    /// Fills `bytes`, of which the first `held` count, up to `goal`; true when nothing is left behind them. What a chunk before has left
    /// there is written over as it is: cleared memory would be written twice. Behind the chunk of a small input it is cleared by steps,
    /// for the next input may be small as well.
    fn fill(
        &mut self,
        bytes: &mut Vec<u8>,
        held: &mut usize,
        goal: usize,
    ) -> std::io::Result<bool> {
        if bytes.capacity() < goal {
            // New memory is zeros as it comes, and a small input never touches most of it.
            let mut room = vec![0; goal];
            room[..*held].copy_from_slice(&bytes[..*held]);
            *bytes = room;
        } else if 4 * bytes.len() >= goal {
            bytes.resize(bytes.len().max(goal), 0);
        }
        let back = &self.back[self.back_at..];
        let take = back.len().min(goal.saturating_sub(*held));
        bytes.resize(bytes.len().max(*held + take), 0);
        bytes[*held..*held + take].copy_from_slice(&back[..take]);
        self.back_at += take;
        *held += take;
        while *held < goal && !self.ended {
            if *held >= bytes.len() {
                bytes.resize((4 * *held).max(STEP_BYTES_MIN).min(goal), 0);
            }
            let end = bytes.len().min(goal);
            match self.input.read(&mut bytes[*held..end]) {
                Ok(0) => self.ended = true,
                Ok(got) => *held += got,
                Err(error) if error.kind() == ErrorKind::Interrupted => {}
                Err(error) => return Err(error),
            }
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
        let mut fill = |ahead: &mut Ahead<_>, goal| {
            let mut held = 0;
            let is_over = ahead.fill(&mut bytes, &mut held, goal).unwrap();
            (bytes[..held].to_vec(), is_over)
        };
        assert_eq!(fill(&mut ahead, 8), (b"01234567".to_vec(), false));
        ahead.put_back(b"34567");
        assert_eq!(fill(&mut ahead, 2), (b"34".to_vec(), false));
        ahead.put_back(b"4");
        assert_eq!(fill(&mut ahead, 20), (b"456789".to_vec(), true));
        ahead.put_back(b"789");
        assert_eq!(fill(&mut ahead, 20), (b"789".to_vec(), true));
    }

    /// Reads a few bytes at a time, and is interrupted in between.
    struct Halting<'a> {
        bytes: &'a [u8],
        interrupted: bool,
    }

    impl Read for Halting<'_> {
        fn read(&mut self, out: &mut [u8]) -> std::io::Result<usize> {
            self.interrupted = !self.interrupted;
            if self.interrupted {
                return Err(ErrorKind::Interrupted.into());
            }
            let room = out.len().min(3);
            self.bytes.read(&mut out[..room])
        }
    }

    #[test]
    fn what_a_longer_chunk_left_is_not_read() {
        let text = b"a,long,record,that,is,whole\n1,2\n3,4\n5";
        let input = Halting { bytes: text, interrupted: false };
        let mut reader = ChunkReader::new(input, &Dialect::csv());
        let mut bytes = b"whatever was in them, and more of it than there is in the input".to_vec();
        let mut chunks = Vec::new();
        while reader.next(&mut bytes, 8).unwrap() == Next::Chunk {
            chunks.push((String::from_utf8(bytes.clone()).unwrap(), reader.is_over));
        }
        assert!(bytes.is_empty());
        let expected =
            [("a,long,record,that,is,whole\n", false), ("1,2\n3,4\n", false), ("5", true)];
        assert_eq!(chunks, expected.map(|(text, is_over)| (text.to_owned(), is_over)));
    }
}
