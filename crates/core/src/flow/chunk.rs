//! Chunks: whole records, with their origin.

use serde::{Deserialize, Serialize};

use crate::flow::Home;

/// Where a chunk comes from.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Origin {
    /// The input's index in the source.
    pub file: u32,
    /// The offset of the chunk's first byte in the decoded (decompressed, UTF-8) input; 0 where there are columns.
    pub byte: u64,
    /// Where records are columns: the row group or batch of the input, from 0.
    pub group: u32,
    /// And the place of the chunk's first row in it, from 0.
    pub group_row: u64,
    /// Records of the input before the chunk's first; 0 where nothing depends on it, for to count them takes time.
    pub records: u64,
}

/// A place between two records of a source, with what of the same input comes before it.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Point {
    /// The input's index in the source.
    pub file: u32,
    /// The offset in the decoded input; 0 where there are columns, and before the first record.
    pub byte: u64,
    /// Records.
    pub records: u64,
    /// Physical lines; 0 before the first record.
    pub lines: u64,
}

/// Where a chunk lies in its input.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Part {
    /// Whether the input starts with it.
    pub first: bool,
    /// Whether the input ends with it.
    pub last: bool,
}

/// Whole records of one input. Offsets inside are `u32`, so a chunk stays below 4 GiB.
#[derive(Debug, Default)]
pub struct Chunk {
    /// Position in the source as a whole, from 0.
    pub seq: u64,
    /// Where it comes from.
    pub origin: Origin,
    /// The records, with their terminators; empty where they are columns.
    pub bytes: Vec<u8>,
    /// Where in its input it lies, for records of JSON.
    pub part: Part,
    /// The records, where they are columns.
    pub batch: Option<arrow_array::RecordBatch>,
    /// What is known of them besides, where they are rows of a sheet.
    pub sheet: Option<SheetRows>,
    /// The batch's columns with floats within lists or structs that JSON has no number for: there they are texts.
    pub spelled: Vec<u32>,
}

/// What a batch's rows are in the sheet that they come from.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct SheetRows {
    /// The row of the sheet that each is, from 1: empty ones are left out.
    pub rows: Vec<u32>,
    /// Cells that hold no value although they aren't empty, in the order of rows.
    pub bad: Vec<BadCell>,
    /// For each column of the batch, by row: whether its text is a value of another type, written out, as where numbers stand among texts.
    /// Empty where no text is.
    pub typed: Vec<Vec<bool>>,
}

/// A cell that holds no value although it isn't empty: NULL in the batch.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct BadCell {
    /// The row of the batch, from 0.
    pub row: u32,
    /// The column of the batch.
    pub column: u32,
    /// What the cell shows.
    pub shown: Box<str>,
    /// What is wrong, with the cell's name.
    pub message: Box<str>,
}

impl SheetRows {
    /// Without its first rows.
    pub fn skip(&mut self, rows: u32) {
        self.rows.drain(..(rows as usize).min(self.rows.len()));
        self.bad.retain(|bad| bad.row >= rows);
        self.bad.iter_mut().for_each(|bad| bad.row -= rows);
        for typed in &mut self.typed {
            typed.drain(..(rows as usize).min(typed.len()));
        }
    }

    /// The bad cells of a row.
    pub fn bad_of(&self, row: u32) -> &[BadCell] {
        let from = self.bad.partition_point(|bad| bad.row < row);
        let to = self.bad.partition_point(|bad| bad.row <= row);
        &self.bad[from..to]
    }
}

impl Chunk {
    /// What a home of the chunk's values holds; nothing for the wire's, which isn't here.
    #[inline]
    pub fn home(&self, home: Home) -> &[u8] {
        match home {
            Home::Chunk => &self.bytes,
            Home::Column(at) => match &self.batch {
                Some(batch) => crate::encode::column_data(batch, at.into()),
                None => &[],
            },
            Home::Wire => &[],
        }
    }
}
