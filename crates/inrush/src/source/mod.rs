//! Inputs: where they are, how they are compressed and encoded, how their text is written, what its columns are.
//!
//! ```text
//! place -> head (compression, encoding, is it text?) -> sniff (dialect) -> header (names) -> sample -> infer (types)
//! input -> decompress -> decode -> text (chunks)
//! input -> columns (Parquet, Arrow IPC: batches)
//! ```

#[cfg(feature = "parquet")]
mod columns;
pub(crate) mod decode;
mod decompress;
mod delimiter;
mod format;
mod head;
mod header;
pub(crate) mod infer;
mod input;
mod json;
mod place;
pub(crate) mod profile;
mod quoting;
mod sample;
mod separator_line;
mod shapes;
mod sniff;
mod stdin;
pub(crate) mod survey;
pub(crate) mod text;

pub use decompress::Compression;
pub use input::{Input, Source};
pub use place::Place;
pub(crate) use place::expand;
pub use text::RECORD_BYTES_MAX;
