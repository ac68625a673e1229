//! JSON as bytes: where records end, where an object's members lie, what a string's text is.
//!
//! # Layouts
//!
//! A record is one JSON value (RFC 8259, strictly), nearly always an object. Inputs have one of
//! three layouts:
//!
//! ```text
//! lines  = { [value] newline }                      one value a line, NDJSON; lines may be blank
//! array  = "[" [element { "," element }] "]"        one array; its elements are the records
//! values = { value }                                values one after the other, over many lines
//! ```
//!
//! with spaces, tabs, `\r` and `\n` anywhere between tokens, except that in `lines` a `\n` always
//! ends the record. In `values` a number, string or literal has white space behind it, an object or
//! array need not. Before a record of `lines` or `values` may stand U+001E, as in text sequences (RFC 7464), which is as white space
//! there, and nowhere else.
//!
//! # Broken records
//!
//! What isn't written so is a *broken* record, which carries a [`JsonFault`]. All bytes but white
//! space and the separators belong to some record, so nothing is dropped without being told of.
//! Where a broken record ends:
//!
//! - `lines`: with its line;
//! - `array`: at the next `,` that is outside strings and brackets, or before the next *fresh start*,
//!   or at the input's end. A `]` belongs to the record if anything but white space follows it. An
//!   element is whole only with the `,` or `]` behind it;
//! - `values`: a record that starts with a bracket ends with the bracket that closes it, or before
//!   the next fresh start, or at the input's end; anything else ends with its line.
//!
//! To tell brackets from text, a string is taken to end with its line at the latest (no JSON string
//! holds a newline), and a quote behind a backslash to be none, in strings or not. A closing bracket
//! closes what it can: with the innermost open bracket of its kind those inside of it, and nothing
//! when there is none. More than 128 levels deep brackets are only counted, whatever their kind, and
//! nothing is a fresh start.
//!
//! A *fresh start* is a `{` that is the first byte of its line other than white space, indented no
//! further than the record itself (a U+001E right before it counts for nothing), where no value can
//! stand: in an object not behind a `:`, in an array not behind a `,` or `[`, and outside of brackets.
//! A record that isn't the first of its line isn't indented, except that the first of an array is as
//! far as it is from its line's start.
//!
//! So a bracket that is missing costs its record and not the rest of the input, wherever records
//! start on lines of their own. What may well be a value inside the record is taken for one. A record
//! is never looked for inside another, unless a comma is missing in front of a line that is indented
//! no further; the records around it are broken then, and tell of it.
//!
//! These rules ask for nothing before the record but its indentation, so chunks give the same records as the whole
//! input, faults included.
//!
//! # How it is done
//!
//! The scanner checks values byte by byte, except for strings and runs of digits, which it passes over
//! 16 bytes at a time. What stands between two values of an object (`, "name": `) is compared as a
//! whole with what stood there in the record before: in most inputs it is the same.
//!
//! The cutter and broken records need the brackets outside strings and nothing else: those are
//! found 64 bytes at a time.

mod cutter;
mod extent;
mod lanes;
mod marks;
mod record;
mod scanner;
mod text;
mod value;

pub use cutter::JsonCutter;
pub use record::{
    JsonFault, JsonKey, JsonKind, JsonLayout, JsonMember, JsonPart, JsonRecord, JsonValue,
};
pub use scanner::JsonScanner;
pub use text::{json_lines, json_unescape};
