//! What a scanner finds: records, members, faults.

use std::fmt;

/// How records are laid out in an input; the grammar is in [`crate::json`].
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum JsonLayout {
    /// One value a line. Lines may be blank.
    Lines,
    /// One array, whose elements are the records.
    Array,
    /// Values one after the other, with white space in between, that may span lines.
    Values,
}

/// Where in its input a run of records lies. Only [`JsonLayout::Array`] asks, which has a bracket at
/// either end.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct JsonPart {
    /// Whether the input starts with it.
    pub first: bool,
    /// Whether the input ends with it.
    pub last: bool,
}

impl JsonPart {
    /// All of the input.
    pub const WHOLE: Self = Self { first: true, last: true };
    /// Neither the start nor the end.
    pub const INSIDE: Self = Self { first: false, last: false };
}

/// What a value is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum JsonKind {
    /// `null`
    Null,
    /// `true`
    True,
    /// `false`
    False,
    /// A number, as long and as exact as it is written.
    Number,
    /// A string without escapes: the bytes are the text.
    String,
    /// A string with escapes: [`json_unescape`](crate::json::json_unescape) gives the text.
    EscapedString,
    /// An object.
    Object,
    /// An array.
    Array,
}

/// Where a value lies in the scanned bytes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct JsonValue {
    /// Offset of the first byte: of a string behind its quote, of an object or array its bracket.
    pub start: u32,
    /// Offset behind the last byte: of a string its closing quote, else behind the value.
    pub end: u32,
    /// What it is.
    pub kind: JsonKind,
}

impl JsonValue {
    /// The value's bytes as they are written, without a string's quotes; `bytes` are those that were
    /// scanned.
    #[inline]
    #[must_use]
    pub fn raw<'a>(&self, bytes: &'a [u8]) -> &'a [u8] {
        &bytes[self.start as usize..self.end as usize]
    }
}

/// Where a member's key lies in the scanned bytes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct JsonKey {
    /// Offset of the first byte, behind the quote.
    pub start: u32,
    /// Offset behind the last byte, of the closing quote.
    pub end: u32,
    /// Whether there are escapes, so that [`json_unescape`](crate::json::json_unescape) gives the
    /// key.
    pub escaped: bool,
}

impl JsonKey {
    /// The key's bytes as they are written, without its quotes; `bytes` are those that were scanned.
    #[inline]
    #[must_use]
    pub fn raw<'a>(&self, bytes: &'a [u8]) -> &'a [u8] {
        &bytes[self.start as usize..self.end as usize]
    }
}

/// A member of an object that is a record, or an element of an array that is one.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct JsonMember {
    /// The key; of an array's element it is empty, from 0 to 0.
    pub key: JsonKey,
    /// The value.
    pub value: JsonValue,
}

// A record of a hundred members should stay in the first-level cache together with its text.
const _: () = assert!(size_of::<JsonMember>() == 24);

/// Where a record lies in the scanned bytes, and what it is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct JsonRecord {
    /// Offset of the first byte, behind white space and the array's opening bracket.
    pub start: u32,
    /// Offset behind the last byte, before white space and separators.
    pub end: u32,
    /// Offset behind what ends the record: the line's newline, the array's `,`. After the array's
    /// closing bracket, the end of the bytes.
    pub next: u32,
    /// What the value is. Says nothing of a broken record or a blank line.
    pub kind: JsonKind,
    /// How many of the first members have, byte for byte, the same keys as those of the record
    /// before, in the same order. 0 where that one was broken, blank, or no object, and for the
    /// first of all.
    pub same_keys: u32,
    /// Set when the record isn't a JSON value or its separator is missing. Its members are not to
    /// be used.
    pub fault: Option<JsonFault>,
}

impl JsonRecord {
    /// Whether it is a blank line, which only [`JsonLayout::Lines`] has.
    #[inline]
    #[must_use]
    pub const fn is_blank(&self) -> bool {
        self.start == self.end && self.fault.is_none()
    }
}

/// What is wrong with a record.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum JsonFault {
    /// Something else stands where there should be a certain token.
    Expected {
        /// Offset where it should be. A separator is missed right behind the value before.
        at: u32,
        /// The token, in words: "a comma or }".
        what: &'static str,
    },
    /// A string holds a control character (below 0x20) that isn't escaped.
    ControlCharacter {
        /// Its offset.
        at: u32,
    },
    /// A backslash starts no escape that JSON has, or half of a surrogate pair.
    Escape {
        /// Offset of the backslash.
        at: u32,
    },
    /// A number isn't written as JSON writes them: `01`, `1.`, `-`.
    Number {
        /// Offset of the number.
        at: u32,
    },
    /// More arrays and objects are inside each other than [`DEPTH_MAX`](Self::DEPTH_MAX).
    Depth {
        /// Offset of the bracket that is one too many.
        at: u32,
    },
    /// A string isn't closed on its line, or the record ends before it is complete, or the array
    /// isn't closed.
    Unclosed {
        /// Offset of the string's quote, else of the record.
        at: u32,
    },
    /// The value is complete, and more than white space follows on its line.
    TextAfter {
        /// Offset of the text.
        at: u32,
    },
}

impl JsonFault {
    /// How many arrays and objects may be inside each other; as many as `serde_json` takes.
    pub const DEPTH_MAX: usize = 127;

    /// The offset that the fault tells of.
    #[must_use]
    pub const fn at(&self) -> u32 {
        match *self {
            Self::Expected { at, .. }
            | Self::ControlCharacter { at }
            | Self::Escape { at }
            | Self::Number { at }
            | Self::Depth { at }
            | Self::Unclosed { at }
            | Self::TextAfter { at } => at,
        }
    }
}

/// The fault in words, without the place: "a comma or } is expected".
impl fmt::Display for JsonFault {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Expected { what, .. } => write!(f, "{what} is expected"),
            Self::ControlCharacter { .. } => {
                f.write_str("a control character in a string must be written as an escape")
            }
            Self::Escape { .. } => f.write_str("a backslash starts no valid escape"),
            Self::Number { .. } => f.write_str("a number isn't written as in JSON"),
            Self::Depth { .. } => {
                write!(f, "arrays and objects are nested more than {} levels deep", Self::DEPTH_MAX)
            }
            Self::Unclosed { .. } => f.write_str("what starts here is never closed"),
            Self::TextAfter { .. } => f.write_str("text follows the complete value"),
        }
    }
}
