//! What the user asked for, before anything was looked at.

use std::collections::BTreeMap;
use std::fmt;
use std::ops::{Deref, DerefMut};
use std::path::PathBuf;
use std::str::FromStr;

use serde::{Deserialize, Deserializer, Serialize};

use crate::reading::{ReadRequest, is_alike};
use crate::schema::Type;
use crate::split::Split;
use crate::target::Spare;

/// A load as the user asked for it. The planner turns it into a [`crate::Job`].
#[derive(Clone, Default)]
pub struct Request {
    /// Files, globs, or `-` for standard input; at least one, or a split.
    pub sources: Vec<String>,
    /// A part of files instead, which knows how they are written: `dialect` says nothing then.
    pub split: Option<Split>,
    /// The target's URL or file name, possibly with a password in it.
    pub target: String,
    /// How the input is written; `None` fields are sniffed.
    pub dialect: DialectRequest,
    /// How to load.
    pub options: LoadOptions,
    /// Room for the connection that planning leaves for the load; by default each connects by itself.
    pub spare: Spare,
}

/// How to load, whatever the rows come from.
#[derive(Clone, Default)]
pub struct LoadOptions {
    /// The table; `None` takes the first source's stem. Rows of a program need one.
    pub table: Option<String>,
    /// What to do with an existing table.
    pub if_exists: IfExists,
    /// How the source's columns find those of an existing table; `None` compares names where both sides have them.
    pub match_by: Option<MatchBy>,
    /// What to do with a row with a duplicate key.
    pub on_conflict: OnConflict,
    /// The columns that `on_conflict` compares; empty takes the table's primary key.
    pub key: Vec<String>,
    /// The primary key of a table that the load makes.
    pub primary_key: Vec<String>,
    /// Indexes to build after the rows, each a list of columns.
    pub indexes: Vec<Vec<String>>,
    /// Types the user fixed, by column name.
    pub types: BTreeMap<String, Type>,
    /// Whether other columns' types are inferred or all text.
    pub inference: Inference,
    /// How values are read.
    pub read: ReadRequest,
    /// A strategy id, `target/name` or just `name`; `None` lets the planner choose.
    pub strategy: Option<String>,
    /// Knob settings by name, unparsed.
    pub knobs: BTreeMap<String, String>,
    /// Connections; `None` lets the planner choose.
    pub lanes: Option<usize>,
    /// Encoder threads; `None` lets the planner choose.
    pub encoders: Option<usize>,
    /// Bytes of input in a chunk; `None` lets the planner choose.
    pub chunk_bytes: Option<usize>,
    /// The promise at the end of the load.
    pub durability: Durability,
    /// What a load that fails leaves.
    pub guarantee: Guarantee,
    /// Rows of a step where the load commits in steps; `None` lets the planner choose.
    pub commit_rows: Option<u64>,
    /// Whether to go on behind the last step of a load that has not reached its end. In a [`crate::Job`]: whether this one does.
    pub resume: bool,
    /// How many bad rows are rejected before the load stops.
    pub max_rejects: RejectLimit,
    /// Where bad rows go.
    pub rejects: RejectsTo,
    /// How the loaded rows are verified.
    pub verify: Verify,
    /// Whether the existing table was made for this load alone, under a name that nobody else knows, and counts for nothing should the
    /// load fail: then nothing has to be looked at twice, and no other table has to stand in for it.
    pub owns_table: bool,
    /// Whether others load into the existing table at the same time: then it is filled as it stands, and no other takes its place.
    pub shares_table: bool,
    /// Which rows of a job these are, where their ids are to say it: a row whose id the table has is not written again, and has to be the
    /// same. Only documents have such ids.
    pub row_ids: Option<RowIds>,
    /// Client libraries, or the folders they are in, by the name of the target that is to open them; one without looks for its own.
    pub libraries: BTreeMap<String, PathBuf>,
    /// The file of what was measured on this machine, which the plan goes by where the user leaves it the choice; `None` goes by nothing
    /// that was measured here.
    pub profiles: Option<PathBuf>,
}

/// Which rows of a job a load's rows are.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct RowIds {
    /// The job's name.
    pub job: String,
    /// The partition.
    pub partition: u32,
}

impl Deref for Request {
    type Target = LoadOptions;

    fn deref(&self) -> &LoadOptions {
        &self.options
    }
}

impl DerefMut for Request {
    fn deref_mut(&mut self) -> &mut LoadOptions {
        &mut self.options
    }
}

/// Where bad rows go.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub enum RejectsTo {
    /// Beside each source, as `SOURCE.rejects.csv`. Rows of a program have no such place.
    #[default]
    Beside,
    /// Into this file, with a second one that says of each where it was and what is wrong.
    File(PathBuf),
    /// To who observes the load.
    Observer,
}

impl LoadOptions {
    /// Whether the load commits in steps: it says so, or goes on with one that does.
    pub fn is_in_steps(&self) -> bool {
        self.guarantee == Guarantee::Chunks || self.resume
    }

    /// Whether the load is an attempt at a job: one of several, into a table whose columns were settled when the job began.
    pub fn is_attempt(&self) -> bool {
        self.owns_table || self.shares_table
    }

    /// Whether a column of a table that the load makes is part of its key or of an index.
    pub fn is_keyed(&self, column: &str) -> bool {
        self.indexes.iter().chain([&self.primary_key]).flatten().any(|name| is_alike(name, column))
    }
}

/// How the input is written, as far as the user says. `None` is sniffed.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default)]
pub struct DialectRequest {
    /// What the input is.
    pub format: Option<Format>,
    /// Whether the fields of nested values become columns of their own, `a.b`; else such values are JSON.
    pub flatten: bool,
    /// The byte between fields.
    pub delimiter: Option<u8>,
    /// The byte around fields; `Some(None)` for none.
    #[serde(deserialize_with = "said", skip_serializing_if = "Option::is_none")]
    pub quote: Option<Option<u8>>,
    /// The byte that makes the next one literal; `Some(None)` for none.
    #[serde(deserialize_with = "said", skip_serializing_if = "Option::is_none")]
    pub escape: Option<Option<u8>>,
    /// Whether that is what an earlier load has guessed of the same records, so that a record with another escape is a bad row.
    #[serde(skip)]
    pub escape_is_guess: bool,
    /// Whether blanks may stand around quotes. `--trim` has it so, whoever opens a source.
    #[serde(skip)]
    pub blanks: bool,
    /// What an empty field without quotes is; NULL unless said otherwise.
    pub empty: Option<Empty>,
    /// Whether the first record names the columns.
    pub header: Option<bool>,
    /// A label of the WHATWG encoding standard.
    pub encoding: Option<String>,
    /// Physical lines to skip at the start of every file.
    pub skip_lines: u64,
    /// The byte that starts a comment line.
    pub comment: Option<u8>,
    /// What an archive may unpack to, in bytes, however small it is; `None` for the limits that hold unasked.
    pub expand_max: Option<u64>,
}

/// One character of ASCII, by itself, by its number (`0x01`) or by its name: `tab`, `comma`, `semicolon`, `pipe`, `space`.
pub fn character(text: &str) -> Option<u8> {
    let word = text.to_ascii_lowercase();
    if let Some(digits) = word.strip_prefix("0x") {
        return u8::from_str_radix(digits, 16).ok().filter(u8::is_ascii);
    }
    match word.as_str() {
        "tab" | "\\t" => Some(b'\t'),
        "comma" => Some(b','),
        "semicolon" => Some(b';'),
        "pipe" => Some(b'|'),
        "space" => Some(b' '),
        _ => match text.as_bytes() {
            [byte] if byte.is_ascii() => Some(*byte),
            _ => None,
        },
    }
}

/// Null is something that the user says.
fn said<'de, D: Deserializer<'de>>(value: D) -> Result<Option<Option<u8>>, D::Error> {
    Option::deserialize(value).map(Some)
}

impl DialectRequest {
    /// What is said here, and else what is said there.
    #[must_use]
    pub fn or(&self, other: &Self) -> Self {
        Self {
            format: self.format.or(other.format),
            flatten: self.flatten || other.flatten,
            delimiter: self.told_delimiter().or(other.delimiter),
            quote: self.quote.or(other.quote),
            escape: self.escape.or(other.escape),
            escape_is_guess: if self.escape.is_some() { self } else { other }.escape_is_guess,
            blanks: self.blanks || other.blanks,
            empty: self.empty.or(other.empty),
            header: self.header.or(other.header),
            encoding: self.encoding.clone().or_else(|| other.encoding.clone()),
            skip_lines: if self.skip_lines > 0 { self.skip_lines } else { other.skip_lines },
            comment: self.comment.or(other.comment),
            expand_max: self.expand_max.or(other.expand_max),
        }
    }

    /// The byte between fields, where the user says it, by itself or by the format.
    pub fn told_delimiter(&self) -> Option<u8> {
        self.delimiter.or((self.format == Some(Format::Tsv)).then_some(b'\t'))
    }

    /// An option that was used and has a meaning for delimited text only.
    pub fn delimited_option(&self) -> Option<&'static str> {
        let options = [
            ("--delimiter", self.delimiter.is_some()),
            ("--quote", self.quote.is_some()),
            ("--escape", self.escape.is_some()),
            ("--empty", self.empty.is_some()),
            ("--header", self.header.is_some()),
            ("--comment", self.comment.is_some()),
        ];
        options.into_iter().find_map(|(option, is_said)| is_said.then_some(option))
    }
}

macro_rules! words {
    ($(#[$doc:meta])* $name:ident { $($(#[$vdoc:meta])* $variant:ident = $word:literal),+ $(,)? }) => {
        $(#[$doc])*
        #[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Deserialize, Serialize)]
        pub enum $name { $($(#[$vdoc])* #[serde(rename = $word)] $variant),+ }

        impl $name {
            /// Every value, by the word users type.
            pub const WORDS: &'static [&'static str] = &[$($word),+];

            /// The word users type.
            pub fn word(self) -> &'static str {
                match self { $($name::$variant => $word),+ }
            }
        }

        impl fmt::Display for $name {
            fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                f.write_str(self.word())
            }
        }

        impl FromStr for $name {
            type Err = String;

            fn from_str(text: &str) -> Result<Self, String> {
                // Databases and their clients take such words in any case.
                match text.to_ascii_lowercase().as_str() {
                    $($word => Ok($name::$variant),)+
                    _ => Err(format!("'{text}' is none of {}", Self::WORDS.join(", "))),
                }
            }
        }
    };
}

words! {
    /// What to do with an existing table.
    IfExists {
        /// Load only when it holds no row.
        #[default]
        Empty = "empty",
        /// Add rows to those it holds.
        Append = "append",
        /// Drop it and recreate it from the source.
        Replace = "replace",
        /// Delete its rows, keep its definition.
        Truncate = "truncate",
        /// Load only when it isn't there.
        Fail = "fail",
    }
}

words! {
    /// What an empty field without quotes is.
    Empty {
        /// NULL.
        #[default]
        Null = "null",
        /// The empty text, as an empty field in quotes.
        Text = "text",
    }
}

words! {
    /// How names of columns are compared, and written.
    Case {
        /// As they are: names that differ in case are two.
        Exact = "exact",
        /// Case doesn't tell them apart.
        #[default]
        Ignore = "ignore",
        /// In small letters with underscores between words.
        Snake = "snake",
    }
}

words! {
    /// What to do with a column that an existing table, or the first file, does not have.
    NewColumns {
        /// Refuse the load.
        #[default]
        Fail = "fail",
        /// Add it to the table.
        Add = "add",
        /// Leave it out.
        Ignore = "ignore",
    }
}

words! {
    /// What to do where a column is missing that an existing table, or another file, has.
    MissingColumns {
        /// Refuse the load.
        #[default]
        Fail = "fail",
        /// It is NULL, or what the table says it is by default.
        Null = "null",
    }
}

words! {
    /// How the source's columns find those of an existing table.
    MatchBy {
        /// Each goes to the column of its name.
        #[default]
        Name = "name",
        /// The first goes to the first, whatever they are called.
        Position = "position",
    }
}

words! {
    /// What to do with a row with a duplicate key.
    OnConflict {
        /// It is a bad row.
        #[default]
        Fail = "fail",
        /// Leave the existing row.
        Skip = "skip",
        /// Delete the row that is there and insert the new one.
        Replace = "replace",
        /// Set the columns of the existing row to the new row's values.
        Update = "update",
    }
}

words! {
    /// What a load that reported success survives.
    Durability {
        /// A loss of power at the very moment of the report.
        #[default]
        Durable = "durable",
        /// A crash of the database process.
        Process = "process",
        /// Nothing is promised.
        None = "none",
    }
}

words! {
    /// What a load that fails leaves.
    Guarantee {
        /// All rows or none, as far as the target can; the plan says where it can't.
        #[default]
        Atomic = "atomic",
        /// Whole steps, behind which the load can go on.
        Chunks = "chunks",
    }
}

words! {
    /// How the loaded rows are verified.
    Verify {
        /// The table grew by as many rows as were sent.
        #[default]
        Count = "count",
        /// And an order-independent sum over every column's stored values is the sum of what was sent.
        Checksum = "checksum",
        /// Not at all.
        None = "none",
    }
}

words! {
    /// The shape of the input.
    Format {
        /// Fields between delimiters, quotes around fields that need them.
        #[default]
        Csv = "csv",
        /// The same with tabs.
        Tsv = "tsv",
        /// Objects of JSON, or arrays, one a line.
        Jsonl = "jsonl",
        /// One array of JSON, whose elements are the rows, or objects over many lines.
        Json = "json",
        /// A Parquet file.
        Parquet = "parquet",
        /// Arrow IPC, as a file or a stream.
        Arrow = "arrow",
    }
}

words! {
    /// Where types come from.
    Inference {
        /// From a sample of the values.
        #[default]
        Infer = "infer",
        /// Every column is text.
        Text = "text",
    }
}

/// How many bad rows are rejected before the load stops.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum RejectLimit {
    /// So many rows; 0 stops at the first.
    Rows(u64),
    /// So much of the rows read, in percent; judged at the end, and on the way once 1,000 rows were read.
    Percent(f64),
    /// All that there are.
    All,
}

impl Default for RejectLimit {
    fn default() -> Self {
        RejectLimit::Rows(0)
    }
}

impl RejectLimit {
    /// Rows that must have been read before a percentage can stop a load on the way: one bad row among the first
    /// ten is no reason to give up on 1 %.
    const PERCENT_ROWS_MIN: u64 = 1_000;

    /// Whether `rejected` of `read` rows are too many; `done` when nothing more will be read.
    pub fn exceeded(self, rejected: u64, read: u64, done: bool) -> bool {
        match self {
            RejectLimit::All => false,
            RejectLimit::Rows(limit) => rejected > limit,
            RejectLimit::Percent(percent) => {
                // 14 of 1,000 are exactly 1.4 %, which has no exact double.
                let allowed = percent * read as f64 * (1.0 + 1e-9);
                (done || read >= Self::PERCENT_ROWS_MIN) && rejected as f64 * 100.0 > allowed
            }
        }
    }
}

impl fmt::Display for RejectLimit {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            RejectLimit::All => f.write_str("all"),
            RejectLimit::Rows(rows) => write!(f, "{rows}"),
            RejectLimit::Percent(percent) => write!(f, "{percent}%"),
        }
    }
}

impl FromStr for RejectLimit {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        let bad = || {
            format!("'{text}' is neither a number of rows, nor a percentage such as 0.5%, nor all")
        };
        if text == "all" {
            return Ok(RejectLimit::All);
        }
        match text.strip_suffix('%') {
            Some(number) => match number.trim().parse::<f64>() {
                Ok(percent) if (0.0..=100.0).contains(&percent) => {
                    Ok(RejectLimit::Percent(percent))
                }
                _ => Err(bad()),
            },
            None => text.parse().map(RejectLimit::Rows).map_err(|_| bad()),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_percentage_waits_for_enough_rows() {
        let limit: RejectLimit = "1%".parse().unwrap();
        assert!(!limit.exceeded(1, 10, false));
        assert!(limit.exceeded(1, 10, true));
        assert!(limit.exceeded(11, 1_000, false));
        assert!(!limit.exceeded(10, 1_000, true));
        assert!(!RejectLimit::Percent(1.4).exceeded(14, 1_000, true));
        assert!(RejectLimit::Percent(1.4).exceeded(15, 1_000, true));
        assert!(RejectLimit::default().exceeded(1, 1, false));
        assert!(!"all".parse::<RejectLimit>().unwrap().exceeded(u64::MAX, 1, true));
        assert!("101%".parse::<RejectLimit>().is_err());
        assert!("-1".parse::<RejectLimit>().is_err());
    }

    #[test]
    fn words_round_trip() {
        for word in IfExists::WORDS {
            assert_eq!(word.parse::<IfExists>().unwrap().word(), *word);
        }
        assert!("sometimes".parse::<Durability>().unwrap_err().contains("durable, process, none"));
    }
}
