//! Parts of files, as text: what one process finds out of a source, so that others read their parts of it as one would read the whole.

use std::fmt;
use std::fs;
use std::path::{Path, PathBuf};
use std::str::FromStr;
use std::sync::Arc;
use std::time::UNIX_EPOCH;

use arrow_schema::{DataType, Field, Schema, SchemaRef, TimeUnit};
use inrush_scan::{Boundary, Dialect, JsonLayout, Newline};
use serde::{Deserialize, Serialize};

use crate::error::{Error, Result, reason};
use crate::reading::{Families, ReadRequest};
use crate::schema::Type;

/// The form of the text. Another one is refused: what its fields mean is not known.
const FORM: u32 = 1;

/// Into how many parts a source is to be cut.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Parts {
    /// So many, or fewer where there is no place to cut. At least 1.
    Count(usize),
    /// Parts of about so many bytes, as they are stored. At least 1.
    Bytes(u64),
}

/// A part of a source: a run of records of one or more files, and everything that has to be known to read them as the whole is read.
/// [`Display`](fmt::Display) writes it as a line of JSON, and [`FromStr`] reads that; it holds no secrets, and paths are absolute.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Split {
    form: u32,
    /// Which of the parts it is, from 0.
    pub number: usize,
    /// How many there are.
    pub of: usize,
    /// How the files are written.
    pub writing: Writing,
    /// Whether the columns' names are the files' own.
    pub header: bool,
    /// How values are read, as it was asked for.
    pub read: ReadRequest,
    /// The columns, in the first file's order.
    pub fields: Vec<SplitField>,
    /// The files, in the source's order.
    pub parts: Vec<SplitPart>,
}

/// How files are written.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(tag = "format", rename_all = "lowercase")]
pub enum Writing {
    /// Fields between delimiters; all of these are ASCII.
    Delimited {
        /// Between fields.
        delimiter: char,
        /// Around fields.
        quote: Option<char>,
        /// Makes the next byte literal.
        escape: Option<char>,
        /// Whether that is a guess, which its use may disprove.
        #[serde(default, skip_serializing_if = "std::ops::Not::not")]
        escape_is_guessed: bool,
        /// Starts a line that is no record.
        comment: Option<char>,
        /// Whether blanks may stand around quotes.
        #[serde(default, skip_serializing_if = "std::ops::Not::not")]
        blanks: bool,
        /// Whether an empty field without quotes is an empty text.
        #[serde(default, skip_serializing_if = "std::ops::Not::not")]
        empty_is_text: bool,
        /// Whether lines end in lone carriage returns.
        cr: bool,
    },
    /// JSON.
    Json {
        /// The members' names, each at its field's place; none where records are arrays.
        members: Vec<String>,
        /// Whether members of objects inside are fields of their own.
        flatten: bool,
    },
    /// Columns of values in types of their own.
    Columns {
        /// Whether fields of structs are fields of their own.
        flatten: bool,
    },
}

/// A column.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct SplitField {
    /// Its name.
    pub name: String,
    /// What its values are: a declared type, for whoever has a part of the rows can't guess another.
    #[serde(rename = "type")]
    pub ty: Type,
    /// Whether that is what most of its values are, so that others are bad rows ([`FieldFacts::is_settled`](crate::FieldFacts::is_settled)).
    #[serde(default)]
    pub is_settled: bool,
    /// The decimal digits of a second that its moments need.
    pub digits: u8,
    /// Of what families its values are as they are written, whatever the options read.
    #[serde(default)]
    pub plain: Families,
}

/// What is read of one file.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct SplitPart {
    /// Where it is, for all that read it.
    #[serde(with = "crate::path")]
    pub path: PathBuf,
    /// What the file was when it was split.
    pub stamp: Stamp,
    /// Bytes of the file that belong to the part, as they are stored.
    pub stored: u64,
    /// How its characters are encoded, by the WHATWG standard's name.
    pub encoding: String,
    /// How its JSON is laid out.
    pub layout: Option<Layout>,
    /// Its first byte in the decoded text, and what comes before it.
    #[serde(with = "Start")]
    pub start: Boundary,
    /// The byte behind its last one; `None` where it goes to the file's end.
    pub end: Option<u64>,
    /// Its row groups: the first, and the one behind the last. `None` takes all.
    pub groups: Option<(usize, usize)>,
    /// The header, verbatim; empty without one.
    pub header: String,
    /// The line that says what separates fields, verbatim; empty without one.
    pub separator_line: String,
    /// Where the file has each of the fields, if it does.
    pub order: Vec<Option<usize>>,
    /// How many fields its records have.
    pub width: usize,
}

impl SplitPart {
    /// Becomes longer by the part that follows it in its file. Any other is given back.
    pub fn join(&mut self, next: Self) -> Option<Self> {
        let follows = match (self.groups, next.groups) {
            (Some((_, behind)), Some((first, _))) => behind == first,
            _ => self.end == Some(next.start.byte),
        };
        if !follows || self.path != next.path {
            return Some(next);
        }
        self.stored += next.stored;
        self.end = next.end;
        self.groups = self.groups.zip(next.groups).map(|((first, _), (_, behind))| (first, behind));
        None
    }
}

/// [`JsonLayout`], as text.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Layout {
    /// One value a line.
    Lines,
    /// One array.
    Array,
    /// Values one after the other.
    Values,
}

/// [`Boundary`], as text.
#[derive(Serialize, Deserialize)]
#[serde(remote = "Boundary")]
struct Start {
    byte: u64,
    records: u64,
    lines: u64,
}

/// What tells a file from what it becomes when it is written again.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Stamp {
    /// Its size.
    pub bytes: u64,
    /// When it was last written, in nanoseconds since 1970; 0 where the file system does not say.
    pub modified_ns: u64,
}

impl Stamp {
    /// The file at `path`, as it is now.
    ///
    /// # Errors
    /// When it can't be looked at.
    pub fn of(path: &Path) -> std::io::Result<Self> {
        Ok(Self::from(&fs::metadata(path)?))
    }
}

impl From<&fs::Metadata> for Stamp {
    fn from(found: &fs::Metadata) -> Self {
        let since = found.modified().ok().and_then(|at| at.duration_since(UNIX_EPOCH).ok());
        let nanos = since.map_or(0, |since| since.as_nanos());
        Self { bytes: found.len(), modified_ns: u64::try_from(nanos).unwrap_or(0) }
    }
}

impl Split {
    /// The part `number` of `of`.
    pub fn new(
        (number, of): (usize, usize),
        writing: Writing,
        header: bool,
        read: ReadRequest,
        fields: Vec<SplitField>,
        parts: Vec<SplitPart>,
    ) -> Self {
        Self { form: FORM, number, of, writing, header, read, fields, parts }
    }

    /// The columns in Arrow's words, from which a table can be made. Documents of JSON are marked as such; a decimal of unknown width
    /// is text.
    pub fn schema(&self) -> SchemaRef {
        let fields = self.fields.iter().map(SplitField::in_arrow);
        Arc::new(Schema::new(fields.collect::<Vec<_>>()))
    }

    /// Whether what counts on each other fits, as it does where nobody has changed the text.
    fn is_sound(&self) -> bool {
        let width = self.fields.len();
        let are_members = match &self.writing {
            Writing::Json { members, .. } => members.is_empty() || members.len() == width,
            Writing::Delimited { .. } | Writing::Columns { .. } => true,
        };
        let is_part = |part: &SplitPart| {
            let mut places: Vec<usize> = part.order.iter().copied().flatten().collect();
            places.sort_unstable();
            places.dedup();
            part.order.len() == width
                && places.len() == part.order.iter().flatten().count()
                && places.last().is_none_or(|last| *last < part.width)
                && part.end.is_none_or(|end| part.start.byte <= end)
                && part.groups.is_none_or(|(first, end)| first <= end)
        };
        width > 0 && are_members && !self.parts.is_empty() && self.parts.iter().all(is_part)
    }

    /// Says so where a file is not what it was when it was split.
    ///
    /// # Errors
    /// When one has changed, or can't be looked at from here.
    pub fn expect_unchanged(&self) -> Result<()> {
        for part in &self.parts {
            let shown = crate::path::text(&part.path).into_owned();
            let found = Stamp::of(&part.path).map_err(|error| {
                let why = reason(&error);
                Error::source(format!("cannot read {shown}: {why}"))
                    .about(&shown)
                    .advise("the file has to be at this path wherever a part of it is read")
            })?;
            if found != part.stamp {
                return Err(Error::source(format!("{shown} has changed since it was split"))
                    .about(&shown)
                    .advise("split it again, and load all parts of it anew"));
            }
        }
        Ok(())
    }
}

impl SplitField {
    fn in_arrow(&self) -> Field {
        let unit = if self.digits > 6 { TimeUnit::Nanosecond } else { TimeUnit::Microsecond };
        let zoned = |zone: bool| zone.then(|| "UTC".into());
        let ty = match self.ty {
            Type::Integer => DataType::Int64,
            Type::Float => DataType::Float64,
            Type::Boolean => DataType::Boolean,
            Type::Date => DataType::Date32,
            Type::Timestamp { zone } => DataType::Timestamp(unit, zoned(zone)),
            Type::TimestampNs { zone } => DataType::Timestamp(TimeUnit::Nanosecond, zoned(zone)),
            Type::Bytes => DataType::Binary,
            Type::Decimal { precision: precision @ 1..=38, scale: scale @ 0..=38 } => {
                DataType::Decimal128(precision as u8, scale as i8)
            }
            Type::Decimal { precision: precision @ 39..=76, scale: scale @ 0..=76 } => {
                DataType::Decimal256(precision as u8, scale as i8)
            }
            Type::Decimal { .. }
            | Type::Text
            | Type::Time
            | Type::Uuid
            | Type::Interval
            | Type::Json => DataType::Utf8,
        };
        self.ty.marked(Field::new(&self.name, ty, true))
    }
}

impl fmt::Display for Split {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&serde_json::to_string(self).map_err(|_| fmt::Error)?)
    }
}

impl FromStr for Split {
    type Err = Error;

    fn from_str(text: &str) -> Result<Self> {
        #[derive(Deserialize)]
        struct Form {
            form: u32,
        }
        let wrong = |error: serde_json::Error| {
            Error::usage(format!("this is not the text of a split: {error}"))
        };
        let Form { form } = serde_json::from_str(text).map_err(wrong)?;
        if form != FORM {
            return Err(Error::usage(format!(
                "the split is of form {form}, and this version of inrush reads form {FORM}"
            ))
            .advise("install the same version of inrush wherever a part of the load runs"));
        }
        let split: Self = serde_json::from_str(text).map_err(wrong)?;
        match split.is_sound() {
            true => Ok(split),
            false => {
                Err(Error::usage("this is not the text of a split: its parts don't fit each other")
                    .advise("take it whole and unchanged from where the files were split"))
            }
        }
    }
}

impl From<&Dialect> for Writing {
    fn from(dialect: &Dialect) -> Self {
        Self::Delimited {
            delimiter: char::from(dialect.delimiter),
            quote: dialect.quote.map(char::from),
            escape: dialect.escape.map(char::from),
            escape_is_guessed: dialect.escape_is_guessed,
            comment: dialect.comment.map(char::from),
            blanks: dialect.blanks,
            empty_is_text: dialect.empty_is_text,
            cr: dialect.newline == Newline::Cr,
        }
    }
}

impl Writing {
    /// How delimited text is written; `None` for anything else.
    ///
    /// # Errors
    /// When it can't be written so.
    pub fn dialect(&self) -> Result<Option<Dialect>> {
        let Self::Delimited {
            delimiter,
            quote,
            escape,
            escape_is_guessed,
            comment,
            blanks,
            empty_is_text,
            cr,
        } = *self
        else {
            return Ok(None);
        };
        let byte = |special: char| {
            u8::try_from(special).map_err(|_| Error::usage(format!("'{special}' is not ASCII")))
        };
        let maybe = |special: Option<char>| special.map(byte).transpose();
        let dialect = Dialect {
            delimiter: byte(delimiter)?,
            quote: maybe(quote)?,
            escape: maybe(escape)?,
            escape_is_guessed,
            comment: maybe(comment)?,
            blanks,
            empty_is_text,
            newline: if cr { Newline::Cr } else { Newline::Lf },
        };
        dialect.check().map_err(|error| Error::usage(error.to_string()))?;
        Ok(Some(dialect))
    }
}

impl From<JsonLayout> for Layout {
    fn from(layout: JsonLayout) -> Self {
        match layout {
            JsonLayout::Lines => Self::Lines,
            JsonLayout::Array => Self::Array,
            JsonLayout::Values => Self::Values,
        }
    }
}

impl From<Layout> for JsonLayout {
    fn from(layout: Layout) -> Self {
        match layout {
            Layout::Lines => Self::Lines,
            Layout::Array => Self::Array,
            Layout::Values => Self::Values,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn split() -> Split {
        let part = SplitPart {
            path: "/data/a.csv".into(),
            stamp: Stamp { bytes: 100, modified_ns: 5 },
            stored: 40,
            encoding: "UTF-8".to_owned(),
            layout: None,
            start: Boundary { byte: 7, records: 2, lines: 3 },
            end: Some(47),
            groups: None,
            header: "a,b\r\n".to_owned(),
            separator_line: String::new(),
            order: vec![Some(0)],
            width: 1,
        };
        let ty = Type::Decimal { precision: 9, scale: 2 };
        let fields = vec![SplitField {
            name: "a".to_owned(),
            ty,
            is_settled: false,
            digits: 0,
            plain: Families::default(),
        }];
        let escape = Some(b'\\');
        let writing = Writing::from(&Dialect { escape, escape_is_guessed: true, ..Dialect::tsv() });
        let read = ReadRequest { nulls: vec!["NA".to_owned()], ..ReadRequest::default() };
        Split::new((1, 3), writing, true, read, fields, vec![part])
    }

    #[test]
    fn parts_join_where_one_follows_the_other() {
        let part = split().parts.remove(0);
        let boundary = Boundary { byte: 47, records: 9, lines: 10 };
        let next = SplitPart { start: boundary, end: None, stored: 53, ..part.clone() };
        let mut whole = part.clone();
        assert_eq!(whole.join(next.clone()), None);
        assert_eq!((whole.start.byte, whole.end, whole.stored), (7, None, 93));
        assert_eq!(whole.join(next.clone()), Some(next.clone()), "nothing follows a file's end");
        let elsewhere = SplitPart { path: "/data/b.csv".into(), ..next };
        assert_eq!(part.clone().join(elsewhere.clone()), Some(elsewhere));
        let of_groups = |groups| SplitPart { groups: Some(groups), end: None, ..part.clone() };
        let mut whole = of_groups((0, 2));
        assert_eq!(whole.join(of_groups((2, 5))), None);
        assert_eq!(whole.groups, Some((0, 5)));
        assert!(whole.join(of_groups((6, 7))).is_some());
    }

    #[test]
    fn a_split_reads_back_from_its_text() {
        let split = split();
        let text = split.to_string();
        assert!(!text.contains('\n'), "{text}");
        assert_eq!(text.parse::<Split>().unwrap(), split);
        let dialect = split.writing.dialect().unwrap().unwrap();
        assert_eq!((dialect.delimiter, dialect.escape), (b'\t', Some(b'\\')));
    }

    #[test]
    fn a_split_of_another_form_is_refused_with_what_to_do() {
        let text = split().to_string().replacen("\"form\":1", "\"form\":2", 1);
        let error = text.parse::<Split>().unwrap_err();
        assert!(error.to_string().contains("of form 2"), "{error}");
        for (good, changed) in [("\"order\":[0]", "\"order\":[7]"), ("\"end\":47", "\"end\":1")] {
            let text = split().to_string().replacen(good, changed, 1);
            let error = text.parse::<Split>().unwrap_err();
            assert!(error.what().ends_with("its parts don't fit each other"), "{error}");
        }
        assert!("{}".parse::<Split>().unwrap_err().to_string().contains("not the text of a split"));
        let other = Writing::Delimited {
            delimiter: '\u{20ac}',
            quote: None,
            escape: None,
            escape_is_guessed: false,
            comment: None,
            blanks: false,
            empty_is_text: false,
            cr: false,
        };
        assert!(other.dialect().is_err());
    }

    #[test]
    fn a_file_that_is_written_again_is_another_one() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("a.csv");
        fs::write(&path, "a\n1\n").unwrap();
        let mut split = split();
        split.parts[0].path.clone_from(&path);
        split.parts[0].stamp = Stamp::of(&path).unwrap();
        split.expect_unchanged().unwrap();
        fs::write(&path, "a\n1\n2\n").unwrap();
        let error = split.expect_unchanged().unwrap_err().what().to_owned();
        assert!(error.ends_with("has changed since it was split"), "{error}");
        fs::remove_file(&path).unwrap();
        let error = split.expect_unchanged().unwrap_err().what().to_owned();
        assert!(error.starts_with("cannot read "), "{error}");
    }
}
