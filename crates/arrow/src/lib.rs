//! Rows as Arrow record batches, for targets that take columns.
//!
//! A value goes straight from the source's bytes into its column's memory, checked on the way: `builder` holds the columns, `value`
//! knows what a text is as a value of each type and what can't be kept, `nested` the same of documents of lists, structs and maps.
//!
//! ```text
//! Row (core) -> encode: ArrowEncoder -> value (text -> number, day, moment) -> builder -> RecordBatch
//!                                                                               |
//!                                                                    sums: what a batch adds up to
//! ```
//!
//! DuckDB's stream and Parquet files are made of these batches. What is here knows neither.

mod builder;
mod column;
mod encode;
mod nested;
mod sums;
mod value;

pub use column::ArrowColumn;
pub use encode::{ArrowEncoder, bytes_of};
pub use nested::{Nested, Scalar};
pub use sums::add_batch;
