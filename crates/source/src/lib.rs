//! Inputs: where they are, how they are compressed and encoded, how their text is written, what its columns are.
//!
//! ```text
//! place (file, pipe, member of an archive, stored elsewhere) -> head (compression, encoding, is it text?) -> sniff (dialect) -> header
//!     (names) -> sample -> infer (types)
//! input -> decompress -> decode -> text (chunks)
//! input -> columns (Parquet, Arrow IPC, sheets, rows of a program: batches)
//! all of the input -> survey (types, after a guess was wrong), profile (what a check shows)
//! source -> split (parts of files, as text) -> a source of each, elsewhere
//! places -> files (as they were before the first byte: who commits asks whether they still are), rejects (of earlier loads)
//! ```
//!
//! Nothing here knows a target. A new format is a `Layout`, what opens it, and chunks or batches for the feeder.

mod archive;
mod blocks;
mod columns;
pub mod decode;
mod decompress;
mod delimiter;
mod files;
mod first_line;
mod format;
mod head;
mod header;
mod infer;
mod input;
mod json;
mod merged;
mod number_format;
mod place;
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
mod workbook;
mod xlsb;

pub use archive::Member;
pub use columns::{BatchSource, Stream, columns_of};
pub use decompress::Compression;
pub use files::InputFiles;
pub use infer::type_of;
pub use input::{Input, Source};
pub use inrush_core::cut::RECORD_BYTES_MAX;
pub use inrush_store::{Store, Stored};
pub use place::Place;
pub use place::{expand, folder_columns, folder_table, query_of, shown, table};
pub use workbook::Sheet;
