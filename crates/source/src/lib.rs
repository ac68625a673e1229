//! Inputs: how they are encoded, how their text is written, what its columns are.
//!
//! ```text
//! place (inrush-place) -> head (compression, encoding, is it text?) -> sniff (dialect) -> header (names) -> sample -> infer (types)
//! input -> decode -> text (chunks)
//! input -> columns (Parquet, Arrow IPC, sheets, rows of a program: batches)
//! all of the input -> survey (types, after a guess was wrong), profile (what a check shows)
//! source -> split (parts of files, as text) -> a source of each, elsewhere
//! rejects (of earlier loads, read as their rows were written)
//! ```
//!
//! Nothing here knows a target. A new format is a `Layout`, what opens it, and chunks or batches for the feeder.

mod apart;
mod blocks;
mod columns;
pub mod decode;
mod delimiter;
mod first_line;
pub mod footer;
mod format;
mod head;
mod header;
mod infer;
mod input;
mod json;
mod look;
pub mod profile;
mod proposal;
mod quoting;
pub mod rejects;
mod sample;
mod separator_line;
mod shapes;
mod sniff;
mod split;
pub mod survey;
mod text;

pub use columns::{BatchSource, Stream, columns_of, duration_text, interval_text};
pub use infer::{is_null_like, null_spelling, type_of};
pub use input::{Input, Source};
pub use inrush_core::cut::RECORD_BYTES_MAX;
pub use inrush_place::{
    Compression, InputFiles, Member, Place, Sheet, expand, folder_columns, folder_table, query_of,
    shown, stdin_number, table,
};
pub use inrush_store::{Store, Stored};
pub use sniff::EMPTY_OF_NUL;
