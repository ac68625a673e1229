//! Bad rows, as the stage that finds them knows them.

use std::fmt;

use serde::{Deserialize, Serialize};

/// What is wrong with a bad row. The words are stable: they stand in the sidecar.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Deserialize, Serialize)]
#[non_exhaustive]
pub enum Code {
    /// More or fewer fields than columns.
    #[serde(rename = "field-count")]
    FieldCount,
    /// A quote that never closes, or text after a closing quote.
    #[serde(rename = "quote")]
    Quote,
    /// An escape that stands where none has to, although it was only guessed that it is one.
    #[serde(rename = "escape")]
    Escape,
    /// JSON that is broken, or no object, or names a value twice.
    #[serde(rename = "json")]
    Json,
    /// Bytes that aren't UTF-8.
    #[serde(rename = "utf-8")]
    Utf8,
    /// A NUL byte in text.
    #[serde(rename = "nul")]
    Nul,
    /// A value that the column's type can't hold unchanged.
    #[serde(rename = "type")]
    Type,
    /// A number beyond the column's range.
    #[serde(rename = "range")]
    Range,
    /// A value longer than the column or the engine takes.
    #[serde(rename = "too-long")]
    TooLong,
    /// NULL in a column that takes none.
    #[serde(rename = "not-null")]
    NotNull,
    /// A duplicate key.
    #[serde(rename = "duplicate-key")]
    DuplicateKey,
    /// A foreign key without its parent.
    #[serde(rename = "foreign-key")]
    ForeignKey,
    /// A CHECK constraint, or a trigger, refused the row.
    #[serde(rename = "constraint")]
    Constraint,
}

impl fmt::Display for Code {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.serialize(f)
    }
}

/// A bad row as the stage that found it knows it: relative to its chunk, and small, for all rows of a chunk may be bad.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Found {
    /// Offset of the record in the chunk.
    pub start: u32,
    /// Offset behind it, with its terminator if it has one.
    pub end: u32,
    /// Data records of the chunk before this one.
    pub record: u32,
    /// Physical lines of the chunk before this one.
    pub line: u32,
    /// Which column of the shape, where one is to blame.
    pub column: Option<u32>,
    /// What sort of fault.
    pub code: Code,
    /// The reason, with the value shortened.
    pub message: Box<str>,
}
