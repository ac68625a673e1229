//! Delimited text and JSON as bytes: where records end, where fields lie, what a field's text is.
//!
//! ```text
//! bytes -> cutter (whole records) -> scanner (fields, as spans) -> number, date: what a field's text is
//!          json: the same two, for JSON
//! ```
//!
//! The crate is pure. It does no I/O, allocates nothing in a loop (the caller owns the memory), and
//! its answers depend on the bytes alone. The order below is the order in which a load meets them:
//!
//! - [`dialect`]: how records and fields are written;
//! - [`cutter`]: where a buffer may be cut, so that chunks hold whole records;
//! - [`piece`]: the same for an input of which many read a piece each;
//! - [`scanner`]: the records and fields of a chunk;
//! - [`number`] and [`date`]: what a field's text denotes, and whether it survives a change of
//!   type;
//! - [`json`]: the same for JSON, a cutter and a scanner.
//!
//! The cutter and the scanner implement one grammar, written down in [`scanner`]. That they agree
//! on every input, however it is cut, is what the tests and the fuzzer hold them to.

mod blocks;
pub mod cutter;
pub mod date;
pub mod dialect;
mod float;
pub mod json;
pub mod number;
pub mod piece;
mod record;
mod repair;
pub mod scanner;

pub use cutter::{Cutter, Tail};
pub use date::{
    Timestamp, Zone, date_days, is_boolean, is_date, read_timestamp, timestamp, timestamp_micros,
    timestamp_text,
};
pub use dialect::{Dialect, DialectError, Newline};
pub use json::{
    JsonCutter, JsonFault, JsonKey, JsonKind, JsonLayout, JsonMember, JsonPart, JsonRecord,
    JsonScanner, JsonValue, json_lines, json_unescape,
};
pub use number::{
    Decimal, NumberFault, decimal, float, float_round_trips, integer, is_canonical_integer,
    plain_decimal, plain_decimal_point, plain_integer, plain_integer_within, whole_is_exact,
};
pub use piece::{Boundary, Lines, Piece};
pub use record::{
    Fault, Field, Form, Record, escapes_delimiter, is_blank_after_quote, is_open, unescape,
};
pub use scanner::{Scanner, count_lines};
