//! Parquet files (<https://parquet.apache.org/docs/file-format/>).
//!
//! A chunk becomes a row group, or several, on its encoder's thread: encoded, compressed, with its statistics. All that is left to
//! the lane is to append the bytes to the file, and the footer in the end. Of chunks that are too small for that it makes row groups
//! itself.
//!
//! ```text
//! chunk -> encode: ParquetEncoder -- row groups --------> output: ParquetLane -> file
//!                                 \- batch -> gather ----/
//! ```

mod choice;
mod encode;
mod gather;
mod layout;
mod output;
mod read;

use std::fs::File;
use std::io;
use std::sync::Arc;

use parquet::errors::ParquetError;

use crate::layout::Layout;
use crate::place::Place;
use inrush_core::encode::Shape;
use inrush_core::error::{Error, Result};
use inrush_core::flow::Encode;
use inrush_core::guard;
use inrush_core::target::Memory;
use inrush_core::{Job, Request};

pub(super) use encode::encoder;
pub(super) use layout::{ParquetLayout, spell};
pub(super) use output::{ParquetLane, ParquetOutput};
pub(super) use read::{contents, decode, facts, look_through, metadata, rows, sum};

/// Bytes of input in a chunk, which is what a row group holds: some 50,000 rows of 80 bytes.
const CHUNK_BYTES: usize = 4 << 20;

/// Rows of a batch, so that what is being encoded stays in a core's cache.
const BATCH_ROWS: usize = 8_192;

/// What a load takes in memory.
pub(super) fn memory(_request: &Request) -> Memory {
    Memory {
        // A mark for each row, of which the shortest has two bytes. Encoded values are rarely larger than their text; where
        // the text is three digits and a comma, values that repeat are numbers of a dictionary. As much again while
        // pages are compressed.
        wire_bytes_per_byte: 4 + 3,
        // The program, a batch and dictionaries for each encoder.
        fixed_bytes: 32 << 20,
        chunk_bytes: CHUNK_BYTES,
    }
}

/// An encoder of rows for the file as it is now, or for a new one, that nobody sends.
pub(super) fn checker(shape: Arc<Shape>, job: &Job, layout: &Layout) -> Result<Box<dyn Encode>> {
    let place = &Place::of(&job.location);
    let metadata = match job.choice.action.makes_table() {
        true => None,
        false => {
            let file = File::open(&place.path).map_err(|error| place.read_error(&error))?;
            Some(metadata(place, &file)?)
        }
    };
    let layout = ParquetLayout::new(job, layout, metadata.as_ref())
        .map_err(|error| write_error(place, error))?;
    Ok(encoder(shape, job, &layout))
}

/// What is wrong with a file that is read.
fn read_error(place: &Place, error: ParquetError) -> Error {
    match io_error(error) {
        Ok(error) => place.read_error(&error),
        Err(error) => Error::target(format!(
            "{} can't be read as a Parquet file: {}",
            place.path.display(),
            words(&error)
        ))
        .advise("--if-exists replace puts a new file in its place"),
    }
}

/// Reads a file, of which the library may panic if it is damaged.
fn guarded<T>(read: impl FnOnce() -> parquet::errors::Result<T>) -> parquet::errors::Result<T> {
    guard::guarded(read).map_err(|failure| match failure.downcast() {
        Ok(error) => *error,
        Err(failure) => ParquetError::General(failure.to_string()),
    })
}

/// What is wrong with a file that is written.
pub(super) fn write_error(place: &Place, error: ParquetError) -> Error {
    match io_error(error) {
        Ok(error) => place.write_error(&error),
        Err(error) => {
            Error::target(format!("cannot write {}: {}", place.path.display(), words(&error)))
        }
    }
}

fn io_error(error: ParquetError) -> std::result::Result<io::Error, ParquetError> {
    match error {
        ParquetError::External(inner) => match inner.downcast::<io::Error>() {
            Ok(error) => Ok(*error),
            Err(inner) => Err(ParquetError::External(inner)),
        },
        error => Err(error),
    }
}

/// Without the crate's own `Parquet error: ` in front.
fn words(error: &ParquetError) -> String {
    let text = error.to_string();
    text.split_once(": ").map_or(text.clone(), |(_, rest)| rest.to_owned())
}
