//! Columns and their types, as every target understands them.

use std::fmt;
use std::str::FromStr;

use arrow_schema::Field;
use arrow_schema::extension::{EXTENSION_TYPE_METADATA_KEY, EXTENSION_TYPE_NAME_KEY};
use serde::{Deserialize, Serialize};

/// What a column's values are. Each target maps these to its own types and back.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Deserialize, Serialize)]
#[serde(into = "String", try_from = "String")]
pub enum Type {
    /// Whole numbers of 64 bits.
    Integer,
    /// IEEE 754 double precision.
    Float,
    /// Exact decimals; both 0 when the width isn't known.
    Decimal {
        /// Digits in all.
        precision: u16,
        /// Digits after the point.
        scale: u16,
    },
    /// True or false.
    Boolean,
    /// A calendar day.
    Date,
    /// A day and a time of day.
    Timestamp {
        /// Whether values carry an offset from UTC.
        zone: bool,
    },
    /// A day and a time of day to the nanosecond, in the years 1677 to 2262. Only for targets with such a type; with others
    /// [`Type::Timestamp`] is as fine as they are.
    TimestampNs {
        /// Whether values carry an offset from UTC.
        zone: bool,
    },
    /// Characters, kept as they are.
    Text,
    /// Texts that are times of day, `HH:MM:SS.ffffff`. Only for targets with such a type, see [`TargetFacts::text_types`](crate::facts::TargetFacts::text_types);
    /// with others they are texts.
    Time,
    /// Texts that are UUIDs; the same goes for these.
    Uuid,
    /// Texts that are durations as ISO 8601 has them; the same goes for these.
    Interval,
    /// A JSON document, kept as it is written.
    Json,
    /// Bytes, kept as they are; need not be UTF-8.
    Bytes,
}

impl fmt::Display for Type {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Type::Integer => f.write_str("integer"),
            Type::Float => f.write_str("float"),
            Type::Decimal { precision: 0, .. } => f.write_str("decimal"),
            Type::Decimal { precision, scale } => write!(f, "decimal({precision},{scale})"),
            Type::Boolean => f.write_str("boolean"),
            Type::Date => f.write_str("date"),
            Type::Timestamp { zone: false } => f.write_str("timestamp"),
            Type::Timestamp { zone: true } => f.write_str("timestamptz"),
            Type::TimestampNs { zone: false } => f.write_str("timestamp_ns"),
            Type::TimestampNs { zone: true } => f.write_str("timestamptz_ns"),
            Type::Text => f.write_str("text"),
            Type::Time => f.write_str("time"),
            Type::Uuid => f.write_str("uuid"),
            Type::Interval => f.write_str("interval"),
            Type::Json => f.write_str("json"),
            Type::Bytes => f.write_str("bytes"),
        }
    }
}

impl From<Type> for String {
    fn from(ty: Type) -> Self {
        ty.to_string()
    }
}

impl TryFrom<String> for Type {
    type Error = String;

    fn try_from(text: String) -> Result<Self, String> {
        text.parse()
    }
}

impl FromStr for Type {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        let lower = text.trim().to_ascii_lowercase();
        let (word, inner) = match lower.strip_suffix(')').and_then(|text| text.split_once('(')) {
            Some((word, inner)) => (word.trim_end(), Some(inner)),
            None => (lower.as_str(), None),
        };
        if let (Some(inner), "decimal" | "numeric") = (inner, word) {
            let mut parts = inner.split(',').map(|part| part.trim().parse::<u16>());
            if let (Some(Ok(precision)), scale, None) = (parts.next(), parts.next(), parts.next())
                && let Ok(scale) = scale.unwrap_or(Ok(0))
                && precision > 0
                && scale <= precision
            {
                return Ok(Type::Decimal { precision, scale });
            }
            return Err(format!("'{text}' is not a decimal type: write decimal(PRECISION,SCALE)"));
        }
        if inner.is_some() && ["varchar", "char", "nvarchar", "varchar2"].contains(&word) {
            return Err(format!(
                "'{text}' has a length, and no type of a new table has one here: use text, or create the table before"
            ));
        }
        Ok(match lower.as_str() {
            "integer" | "int" | "bigint" | "smallint" | "int2" | "int4" | "int8" => Type::Integer,
            "float" | "real" | "double" | "double precision" | "float4" | "float8" => Type::Float,
            "decimal" | "numeric" => Type::Decimal { precision: 0, scale: 0 },
            "boolean" | "bool" => Type::Boolean,
            "date" => Type::Date,
            "timestamp" | "datetime" => Type::Timestamp { zone: false },
            "timestamptz" => Type::Timestamp { zone: true },
            "timestamp_ns" => Type::TimestampNs { zone: false },
            "timestamptz_ns" => Type::TimestampNs { zone: true },
            "text" | "string" | "varchar" => Type::Text,
            "time" => Type::Time,
            "uuid" => Type::Uuid,
            "interval" => Type::Interval,
            "json" => Type::Json,
            "bytes" | "blob" | "bytea" => Type::Bytes,
            _ => {
                return Err(format!(
                    "'{text}' is not a type: use integer, float, decimal(P,S), boolean, date, timestamp, timestamptz, timestamp_ns, timestamptz_ns, text, time, uuid, interval, json or bytes"
                ));
            }
        })
    }
}

/// The key of [`Type::written_out`] in a field's metadata.
const WRITTEN_OUT_KEY: &str = "inrush.written_out";

impl Type {
    /// The name of the Arrow extension by which a field of texts says that they are values of this type. Only that of JSON is known to
    /// others: <https://arrow.apache.org/docs/format/CanonicalExtensions.html> has UUIDs of bytes only.
    fn extension(self) -> Option<&'static str> {
        match self {
            Type::Json => Some("arrow.json"),
            Type::Time => Some("inrush.time"),
            Type::Uuid => Some("inrush.uuid"),
            Type::Interval => Some("inrush.interval"),
            _ => None,
        }
    }

    /// The field of such texts, with what they are in its metadata; other types are what Arrow's own say.
    pub fn marked(self, field: Field) -> Field {
        match self.extension() {
            // Some readers take no extension without a word on it, and that of documents is the empty one.
            Some(name) => {
                let said = [(EXTENSION_TYPE_NAME_KEY, name), (EXTENSION_TYPE_METADATA_KEY, "")];
                field.with_metadata(said.map(|(key, value)| (key.to_owned(), value.to_owned())))
            }
            None => field,
        }
    }

    /// What a field's texts are, by the name of its extension: the way back from [`Type::marked`].
    pub fn of_marked(extension: &str) -> Self {
        let marked = [Type::Json, Type::Time, Type::Uuid, Type::Interval];
        let found = marked.into_iter().find(|ty| ty.extension() == Some(extension));
        found.unwrap_or(Type::Text)
    }

    /// The field of texts that are values of another type, written out, with that in its metadata: what is said of how texts are read
    /// is not meant for them.
    pub fn written_out(mut field: Field) -> Field {
        field.metadata_mut().insert(WRITTEN_OUT_KEY.to_owned(), String::new());
        field
    }

    /// Whether a field is one of [`Type::written_out`].
    pub fn is_written_out(field: &Field) -> bool {
        field.metadata().contains_key(WRITTEN_OUT_KEY)
    }

    /// Whether its values are texts that some targets have a type of their own for, and others have not.
    pub fn is_kind_of_text(self) -> bool {
        matches!(self, Type::Time | Type::Uuid | Type::Interval)
    }

    /// Whether its values are timestamps with an offset from UTC.
    pub fn has_offset(self) -> bool {
        matches!(self, Type::Timestamp { zone: true } | Type::TimestampNs { zone: true })
    }
}

/// One column of the table, and where its values come from.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct Column {
    /// Its name in the table.
    pub name: String,
    /// What its values are.
    #[serde(rename = "type")]
    pub ty: Type,
    /// The type as the target's catalogue spells it; `None` for a table that the load makes, and where the catalogue has none.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub declared: Option<String>,
    /// What the type rests on.
    #[serde(skip)]
    pub basis: Basis,
    /// Whether a NULL is a bad row although the engine would take it, and make up a value.
    #[serde(skip)]
    pub required: bool,
}

/// What a column's type rests on, which decides on a value that doesn't fit it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Basis {
    /// The values that were looked at: another one widens the column.
    Inferred,
    /// What most of its values are, and no promise of the user's: the others are bad rows.
    Settled,
    /// `--type`: another value is a bad row.
    Asked,
    /// The table as it is, or the source's own types: another value is a bad row. A column of an existing table whose type is not
    /// the catalogue's word is [`Basis::Inferred`] there, and takes the type that the source's column would have in a new table.
    Declared,
}

impl Column {
    /// Whether a value that doesn't fit the type is a bad row, rather than what widens the column.
    pub fn is_pinned(&self) -> bool {
        self.basis != Basis::Inferred
    }

    /// Whether `--type` says what it is.
    pub fn is_asked(&self) -> bool {
        self.basis == Basis::Asked
    }

    /// Whether its values mean what they mean in a table that the load makes, and not what an existing table's column makes of them: so
    /// it is wherever `--type` says the type, and where an earlier run of the same load has settled on it.
    pub fn is_own(&self) -> bool {
        self.declared.is_none() || matches!(self.basis, Basis::Asked | Basis::Settled)
    }

    /// Whether only values are taken that stay as they are written. A guess takes no others, for they disprove it. Where a type is
    /// a promise, a value may be written otherwise and be the same; but days and moments of a new table, or of which `--type` speaks,
    /// are those that a guess would find, whatever else the engine takes for one.
    pub fn is_strict(&self) -> bool {
        let is_moment =
            matches!(self.ty, Type::Date | Type::Timestamp { .. } | Type::TimestampNs { .. });
        match self.basis {
            Basis::Inferred | Basis::Settled => true,
            Basis::Asked => is_moment,
            Basis::Declared => is_moment && self.declared.is_none(),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_type_reads_back_from_its_own_name() {
        let all = [
            Type::Integer,
            Type::Float,
            Type::Decimal { precision: 9, scale: 7 },
            Type::Decimal { precision: 0, scale: 0 },
            Type::Boolean,
            Type::Date,
            Type::Timestamp { zone: false },
            Type::Timestamp { zone: true },
            Type::TimestampNs { zone: false },
            Type::TimestampNs { zone: true },
            Type::Text,
            Type::Time,
            Type::Uuid,
            Type::Interval,
            Type::Json,
            Type::Bytes,
        ];
        for ty in all {
            assert_eq!(ty.to_string().parse::<Type>(), Ok(ty));
        }
        assert!("decimal(2,3)".parse::<Type>().is_err());
        assert!("decimal(a)".parse::<Type>().is_err());
        assert!("elephant".parse::<Type>().is_err());
        let decimal = Type::Decimal { precision: 10, scale: 2 };
        assert_eq!("NUMERIC (10,2)".parse(), Ok(decimal));
        assert_eq!("float8".parse(), Ok(Type::Float));
        assert!("varchar(20)".parse::<Type>().unwrap_err().contains("use text"));
    }
}
