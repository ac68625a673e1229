//! A file of which any part is read: a plain one, or one whose parts are fetched in blocks.

use std::collections::VecDeque;
use std::fs::File;
use std::io::{self, Read, Seek, SeekFrom};
use std::path::PathBuf;
use std::sync::{Arc, Mutex, PoisonError};

use bytes::Bytes;

use crate::Place;
use inrush_store::Copied;
use inrush_store::Stop;
use inrush_store::Stored;

/// Blocks of an input whose end is looked at.
pub(crate) const LOOK: Room = Room { block_bytes: 256 << 10, blocks: 4 };

/// How much of an input is in memory at a time.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Room {
    pub(crate) block_bytes: u64,
    pub(crate) blocks: usize,
}

impl Room {
    #[cfg(feature = "parquet")]
    /// Room to read so many columns side by side, of which the longest runs have so many bytes together: about one block each.
    pub(crate) fn of_columns(columns: usize, bytes: u64) -> Self {
        const LEAST: u64 = 256 << 10;
        const MOST: u64 = 4 << 20;
        // Those that are about to be used up.
        const SPARE: usize = 4;
        let each = bytes / (columns as u64).max(1);
        Self { block_bytes: each.next_power_of_two().clamp(LEAST, MOST), blocks: columns + SPARE }
    }

    #[cfg(feature = "parquet")]
    pub(crate) fn bytes(self) -> u64 {
        self.block_bytes * self.blocks as u64
    }
}

/// A file to read parts of.
#[derive(Debug)]
pub(crate) enum Piece {
    /// Its path opens it once more.
    File(#[cfg_attr(not(feature = "parquet"), expect(dead_code))] PathBuf, File),
    Blocks(Blocks),
}

impl Piece {
    /// The input, with room for so much of it where it has to be fetched.
    pub(crate) fn of(place: &Place, room: Room, stop: &Stop) -> io::Result<Self> {
        match place {
            Place::File(path) => Ok(Self::File(path.clone(), File::open(path)?)),
            Place::Stored(stored) => {
                let bytes = stored.length(stop)?;
                let origin = Origin::Store(stored.clone(), Arc::clone(stop));
                Ok(Self::Blocks(Blocks::of(origin, bytes, room)))
            }
            Place::Member(member) => {
                let origin = Origin::Copy(member.copied()?);
                Ok(Self::Blocks(Blocks::of(origin, member.bytes, room)))
            }
            _ => Err(io::ErrorKind::NotSeekable.into()),
        }
    }

    #[cfg(feature = "parquet")]
    /// The same for another thread: descriptors that are copies of one share a position.
    pub(crate) fn again(&self) -> io::Result<Self> {
        Ok(match self {
            Self::File(path, _) => Self::File(path.clone(), File::open(path)?),
            Self::Blocks(blocks) => Self::Blocks(blocks.clone()),
        })
    }
}

/// An input's blocks, of which those used last are kept.
#[derive(Clone, Debug)]
pub(crate) struct Blocks {
    origin: Origin,
    pub(crate) bytes: u64,
    room: Room,
    /// The one used last at the end.
    kept: Arc<Mutex<VecDeque<(u64, Block)>>>,
    position: u64,
}

/// What blocks are of.
#[derive(Clone, Debug)]
enum Origin {
    Store(Stored, Stop),
    /// A member of an archive, unpacked.
    Copy(Arc<Copied>),
}

impl Origin {
    fn read_at(&self, at: u64, length: usize) -> io::Result<Vec<u8>> {
        match self {
            Self::Store(stored, stop) => stored.read_at(at, length, stop),
            Self::Copy(copied) => copied.read_at(at, length),
        }
    }
}

/// A block, there once the first that wants it has fetched it.
type Block = Arc<Mutex<Option<Bytes>>>;

impl Blocks {
    fn of(origin: Origin, bytes: u64, room: Room) -> Self {
        Self { origin, bytes, room, kept: Arc::default(), position: 0 }
    }

    /// Some bytes from `at` on, as many as are at hand; none behind the end.
    pub(crate) fn some(&self, at: u64) -> io::Result<Bytes> {
        if at >= self.bytes {
            return Ok(Bytes::new());
        }
        let number = at / self.room.block_bytes;
        let block = self.block(number);
        let mut block = block.lock().unwrap_or_else(PoisonError::into_inner);
        let start = number * self.room.block_bytes;
        let bytes = match &*block {
            Some(bytes) => bytes.clone(),
            None => {
                let length = self.room.block_bytes.min(self.bytes - start) as usize;
                let bytes = Bytes::from(self.origin.read_at(start, length)?);
                if bytes.len() < length {
                    return Err(io::ErrorKind::UnexpectedEof.into());
                }
                block.insert(bytes).clone()
            }
        };
        Ok(bytes.slice((at - start) as usize..))
    }

    /// So many bytes from `at` on.
    #[cfg(feature = "parquet")]
    pub(crate) fn exactly(&self, at: u64, length: usize) -> io::Result<Bytes> {
        let first = self.some(at)?;
        if first.len() >= length {
            return Ok(first.slice(..length));
        }
        let mut all = Vec::with_capacity(length);
        all.extend_from_slice(&first);
        while all.len() < length {
            let more = self.some(at + all.len() as u64)?;
            if more.is_empty() {
                return Err(io::ErrorKind::UnexpectedEof.into());
            }
            all.extend_from_slice(&more[..more.len().min(length - all.len())]);
        }
        Ok(all.into())
    }

    /// What is read from there on.
    #[cfg(feature = "parquet")]
    pub(crate) fn from(&self, position: u64) -> Self {
        Self { position, ..self.clone() }
    }

    fn block(&self, number: u64) -> Block {
        let mut kept = self.kept.lock().unwrap_or_else(PoisonError::into_inner);
        let found = kept.iter().position(|(own, _)| *own == number).and_then(|at| kept.remove(at));
        let (_, block) = found.unwrap_or_default();
        while kept.len() >= self.room.blocks {
            kept.pop_front();
        }
        kept.push_back((number, Arc::clone(&block)));
        block
    }
}

impl Read for Piece {
    fn read(&mut self, out: &mut [u8]) -> io::Result<usize> {
        match self {
            Self::File(_, file) => file.read(out),
            Self::Blocks(blocks) => blocks.read(out),
        }
    }
}

impl Read for Blocks {
    fn read(&mut self, out: &mut [u8]) -> io::Result<usize> {
        let got = self.some(self.position)?;
        let length = got.len().min(out.len());
        out[..length].copy_from_slice(&got[..length]);
        self.position += length as u64;
        Ok(length)
    }
}

impl Seek for Piece {
    fn seek(&mut self, to: SeekFrom) -> io::Result<u64> {
        match self {
            Self::File(_, file) => file.seek(to),
            Self::Blocks(blocks) => {
                let at = match to {
                    SeekFrom::Start(at) => Some(at),
                    SeekFrom::End(by) => blocks.bytes.checked_add_signed(by),
                    SeekFrom::Current(by) => blocks.position.checked_add_signed(by),
                };
                blocks.position = at.ok_or(io::ErrorKind::InvalidInput)?;
                Ok(blocks.position)
            }
        }
    }
}
