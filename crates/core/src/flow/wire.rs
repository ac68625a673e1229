//! What an encoder makes of a chunk, and how a lane answers.

use crate::flow::Chunk;

/// Where a value's bytes are: in the chunk as they came, or in the wire, where an encoder had to write the value out.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Home {
    /// In [`super::Chunk::bytes`].
    Chunk,
    /// In a column of the chunk's batch.
    Column(u16),
    /// In [`Wire::values`].
    Wire,
}

/// Bytes `at..at + len` of a home.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Span {
    /// The first byte.
    pub at: u32,
    /// How many.
    pub len: u32,
}

/// One parameter of a prepared statement. 16 bytes, no pointer: it names bytes in the slot it travels with.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Cell {
    /// NULL.
    Null,
    /// A 64-bit integer.
    Integer(i64),
    /// A double.
    Real(f64),
    /// UTF-8 text.
    Text(Home, Span),
    /// Bytes.
    Bytes(Home, Span),
}

const _: () = assert!(size_of::<Cell>() == 16, "cells are the wire's bulk");

/// Where one row is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct RowMark {
    /// The offset of its record in the chunk.
    pub start: u32,
    /// The end of its part of [`Wire::bytes`].
    pub end: u32,
}

/// A chunk in the form that the target takes: parameters, or bytes of a protocol or a statement, or both.
#[derive(Debug, Default)]
pub struct Wire {
    /// One mark a row, in order.
    pub rows: Vec<RowMark>,
    /// Parameters, as many a row as the statement has.
    pub cells: Vec<Cell>,
    /// Values that had to be rewritten.
    pub values: Vec<u8>,
    /// Statement text or protocol bytes.
    pub bytes: Vec<u8>,
    /// The rows as columns.
    pub batch: Option<arrow_array::RecordBatch>,
    /// Whether the load, or this try of it, ends at a record behind these rows: none behind that is loaded.
    pub is_last: bool,
    /// What only the target's own encoders and lanes know of the rows in [`Wire::bytes`].
    pub own: Option<Box<dyn std::any::Any + Send + Sync>>,
    /// Sums over the rows' values, where there are no cells to take them from.
    pub checksum: Option<super::Checksum>,
}

/// A place in a wire, to come back to when a row turns out bad.
#[derive(Clone, Copy)]
pub struct WireMark {
    cells: usize,
    values: usize,
    bytes: usize,
}

impl Wire {
    /// Where the wire ends now.
    pub fn mark(&self) -> WireMark {
        WireMark { cells: self.cells.len(), values: self.values.len(), bytes: self.bytes.len() }
    }

    /// The bytes of a value that a cell names, in this wire or in its chunk.
    pub fn value<'b>(&'b self, chunk: &'b Chunk, home: Home, span: Span) -> &'b [u8] {
        let from = if home == Home::Wire { self.values.as_slice() } else { chunk.home(home) };
        &from[span.at as usize..(span.at + span.len) as usize]
    }

    /// Takes back what came after `mark`.
    pub fn rewind(&mut self, mark: WireMark) {
        self.cells.truncate(mark.cells);
        self.values.truncate(mark.values);
        self.bytes.truncate(mark.bytes);
    }

    /// Forgets everything, keeps the memory.
    pub fn clear(&mut self) {
        self.rows.clear();
        self.cells.clear();
        self.values.clear();
        self.bytes.clear();
        self.batch = None;
        self.is_last = false;
        self.checksum = None;
        self.own = None;
    }

    /// Gives back what one outsized chunk made it grow to.
    pub fn shrink(&mut self, bytes_max: usize) {
        self.bytes.shrink_to(bytes_max);
        self.values.shrink_to(bytes_max);
        self.cells.shrink_to(bytes_max / size_of::<Cell>());
        self.rows.shrink_to(bytes_max / size_of::<RowMark>());
    }
}

/// A row that the target refused, by its position in the wire.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct RowFault {
    /// Index in [`Wire::rows`].
    pub row: u32,
    /// The column's name, where the target named one.
    pub column: Option<String>,
    /// What sort of fault, see [`super::reject::Code`].
    pub code: super::reject::Code,
    /// The target's own words.
    pub message: String,
}

/// A lane's answer to one wire.
#[derive(Debug, Default, PartialEq)]
pub struct Ack {
    /// Rows the target took.
    pub loaded: u64,
    /// Rows left out because their key was a duplicate and the request said to skip such rows.
    pub skipped: u64,
    /// Rows the target refused, in order.
    pub faults: Vec<RowFault>,
    /// Sums over the loaded rows' values, where the load verifies by checksum.
    pub checksum: Option<super::Checksum>,
}
