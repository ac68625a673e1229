//! Places: where inputs are, from what the user typed, and their bytes.
//!
//! ```text
//! words of the user -> place: file, pipe, folder, stored elsewhere (inrush-store)
//!                        -> archive  (a member of a zip or tar)
//!                        -> workbook (a sheet of an .xlsx, .xlsb, .xls or .ods: its cells as they are shown)
//! bytes -> decompress (gzip, zstd, bzip2, xz, lz4)
//! files (as they were before the first byte: who commits asks whether they still are)
//! rejects (files of bad rows, by the sidecars beside them)
//! ```
//!
//! Nothing here knows what a record is, nor what types values have: that is `inrush-source`'s. A new kind of place is a [`Place`] and what
//! opens it; what may not change is that one input is read once, by whatever names it is called.

mod archive;
mod claims;
mod decompress;
mod files;
mod merged;
mod number_format;
mod place;
pub mod rejects;
pub mod workbook;
mod xls;
mod xlsb;

pub use archive::{Bounded, Limit, Member, Refusal};
pub use decompress::Compression;
pub use files::{InputFiles, stdin_number};
pub use place::{
    Place, cannot_open, expand, folder_columns, folder_table, query_of, shown, some_of, table,
};
pub use workbook::Sheet;
