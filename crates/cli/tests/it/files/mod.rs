/// Text that is compressed.
mod compressed;
/// Files that are there: rows added, replaced, refused.
mod existing;
/// What no load can go well with, and what is left of one that ended early.
mod failures;
/// Parquet files: types, row groups, files of other programs.
mod parquet;
/// What the contract asks of them.
mod place;
/// Rows to standard output.
mod stdout;
/// What a value becomes, and that it comes back.
mod values;

use crate::fixture::Fixture;
#[cfg(feature = "parquet")]
pub(crate) use place::Parquet;
pub(crate) use place::{Csv, File, JsonLines};

/// The target in a test's directory, by its name's ending.
const TARGETS: [&str; 2] = ["csv:out", "jsonl:out"];

/// A load that succeeds: what the file `out` then holds.
#[track_caller]
fn loaded(fixture: &Fixture, args: &[&str]) -> String {
    fixture.load(&[args, &["--verify", "checksum"]].concat()).exits(0);
    String::from_utf8(fixture.read("out")).unwrap()
}
