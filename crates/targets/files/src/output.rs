//! Bytes on their way into a file: how many rows a write takes, and when the disk is waited for.

use std::fs::File;
use std::io::{self, Write as _};

use crate::knobs::{FSYNC, ROWS_PER_FLUSH};
use crate::packing::{self, Packing};
use inrush_core::flow::Wire;
use inrush_core::target::Knobs;

/// When the disk is waited for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Fsync {
    End,
    Never,
    Flush,
}

/// A file that is being written.
#[derive(Debug)]
pub(super) struct Output {
    file: File,
    packing: Option<Packing>,
    fsync: Fsync,
    /// Rows of one write; 0 when a chunk's rows are one, as they are where they are compressed.
    rows_per_flush: u64,
    /// Rows that wait for others.
    waiting: Vec<u8>,
    waiting_rows: u64,
}

impl Output {
    pub(super) fn new(file: File, packing: Option<Packing>, knobs: &Knobs) -> Self {
        let fsync = match knobs.word(&FSYNC) {
            "never" => Fsync::Never,
            "flush" => Fsync::Flush,
            _ => Fsync::End,
        };
        let rows_per_flush = knobs.get_count(&ROWS_PER_FLUSH).unwrap_or(0);
        Self { file, packing, fsync, rows_per_flush, waiting: Vec::new(), waiting_rows: 0 }
    }

    /// Writes what belongs to no row.
    pub(super) fn head(&mut self, bytes: &[u8]) -> io::Result<()> {
        let mut packed = Vec::new();
        self.file.write_all(match self.packing {
            Some(packing) => {
                packing.pack(bytes, &mut packed)?;
                &packed
            }
            None => bytes,
        })
    }

    /// Writes the rows of a wire, or keeps those that don't fill a write.
    pub(super) fn rows(&mut self, wire: &Wire) -> io::Result<()> {
        if let Some(fault) = packing::fault(wire) {
            return Err(fault);
        }
        if self.rows_per_flush == 0 {
            return if wire.rows.is_empty() { Ok(()) } else { self.write(&wire.bytes) };
        }
        let (mut row, mut start) = (0, 0);
        while row < wire.rows.len() {
            let missing = self.rows_per_flush - self.waiting_rows;
            let left = wire.rows.len() - row;
            let take = usize::try_from(missing).unwrap_or(usize::MAX).min(left);
            row += take;
            let end = wire.rows[row - 1].end as usize;
            let bytes = &wire.bytes[start..end];
            start = end;
            if self.waiting_rows == 0 && take as u64 == missing {
                self.write(bytes)?;
                continue;
            }
            self.waiting.extend_from_slice(bytes);
            self.waiting_rows += take as u64;
            if self.waiting_rows == self.rows_per_flush || self.waiting.len() > WAITING_MAX {
                self.flush()?;
            }
        }
        Ok(())
    }

    /// Writes the rows that wait.
    pub(super) fn flush(&mut self) -> io::Result<()> {
        self.waiting_rows = 0;
        if self.waiting.is_empty() {
            return Ok(());
        }
        let mut waiting = std::mem::take(&mut self.waiting);
        let written = self.write(&waiting);
        waiting.clear();
        self.waiting = waiting;
        written
    }

    /// The same at the end. What is compressed has at least one member, be it of no text: without any it can't be read.
    pub(super) fn end(&mut self) -> io::Result<()> {
        self.flush()?;
        match self.packing.is_some() && self.file.metadata()?.len() == 0 {
            true => self.head(b""),
            false => Ok(()),
        }
    }

    /// Waits for the disk, unless that was not asked for.
    pub(super) fn sync(&mut self) -> io::Result<()> {
        match self.fsync {
            Fsync::Never => Ok(()),
            Fsync::End | Fsync::Flush => self.file.sync_all(),
        }
    }

    pub(super) fn is_synced(&self) -> bool {
        self.fsync != Fsync::Never
    }

    fn write(&mut self, bytes: &[u8]) -> io::Result<()> {
        self.file.write_all(bytes)?;
        if self.fsync == Fsync::Flush {
            self.file.sync_data()?;
        }
        Ok(())
    }
}

/// Rows wait in at most about so many bytes, so that memory stays within the plan's bounds.
pub(super) const WAITING_MAX: usize = 8 << 20;
