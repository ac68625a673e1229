//! DuckDB's types: what a declared type means, and in which form a column's values are given to the engine.
//!
//! Names are those that `duckdb_columns()` shows (<https://duckdb.org/docs/stable/sql/data_types/overview>).

use std::sync::Arc;

use crate::nested::NestedType;
use inrush_core::{Column, Job, Type};

/// The most digits of a decimal.
const DIGITS_MAX: u16 = 38;

/// The declared type of a column that a load makes; `has_json` where the engine has the type.
///
/// A decimal with more digits than the engine keeps is text, which keeps them all.
pub(super) fn spell(ty: Type, has_json: bool) -> String {
    match ty {
        Type::Integer => "BIGINT".to_owned(),
        Type::Float => "DOUBLE".to_owned(),
        Type::Decimal { precision: precision @ 1..=DIGITS_MAX, scale } => {
            format!("DECIMAL({precision},{scale})")
        }
        Type::Boolean => "BOOLEAN".to_owned(),
        Type::Date => "DATE".to_owned(),
        Type::Timestamp { zone: false } => "TIMESTAMP".to_owned(),
        Type::Timestamp { zone: true } => "TIMESTAMP WITH TIME ZONE".to_owned(),
        Type::TimestampNs { zone: false } => "TIMESTAMP_NS".to_owned(),
        Type::Time => "TIME".to_owned(),
        Type::Uuid => "UUID".to_owned(),
        Type::Json if has_json => "JSON".to_owned(),
        // Nanoseconds with a zone it has not.
        Type::TimestampNs { zone: true }
        | Type::Decimal { .. }
        | Type::Text
        | Type::Interval
        | Type::Json => "VARCHAR".to_owned(),
        Type::Bytes => "BLOB".to_owned(),
    }
}

/// In which form a column's values are given to the engine.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Carried {
    Boolean,
    /// So many bits, with or without a sign.
    Integer {
        bits: u8,
        signed: bool,
    },
    Float,
    Double,
    Decimal {
        precision: u8,
        scale: u8,
    },
    /// Days.
    Date,
    /// Decimal digits of a second.
    Timestamp {
        digits: u8,
    },
    /// Microseconds of UTC.
    Moment,
    /// Microseconds since midnight.
    Time,
    Text,
    /// Text as the engine writes them itself.
    Uuid,
    Bytes,
    /// Text that the engine checks and keeps as it is.
    Json,
    /// A document of a list, struct or map, in the form that [`crate::nested`] says, behind a space; or its text as the engine writes it.
    Nested,
    /// Text of which the engine makes what the column's type has. The value counts as kept where the engine writes the same text.
    Cast,
}

/// What a declared type says about its values, and how they are given to it.
pub(super) fn declared(declared: &str) -> (Type, Carried) {
    let integer = |bits, signed| (Type::Integer, Carried::Integer { bits, signed });
    match declared {
        "BOOLEAN" => (Type::Boolean, Carried::Boolean),
        "TINYINT" => integer(8, true),
        "SMALLINT" => integer(16, true),
        "INTEGER" => integer(32, true),
        "BIGINT" => integer(64, true),
        "UTINYINT" => integer(8, false),
        "USMALLINT" => integer(16, false),
        "UINTEGER" => integer(32, false),
        "UBIGINT" => integer(64, false),
        "FLOAT" => (Type::Float, Carried::Float),
        "DOUBLE" => (Type::Float, Carried::Double),
        "DATE" => (Type::Date, Carried::Date),
        "TIMESTAMP_S" => (Type::Timestamp { zone: false }, Carried::Timestamp { digits: 0 }),
        "TIMESTAMP_MS" => (Type::Timestamp { zone: false }, Carried::Timestamp { digits: 3 }),
        "TIMESTAMP" => (Type::Timestamp { zone: false }, Carried::Timestamp { digits: 6 }),
        "TIMESTAMP_NS" => (Type::TimestampNs { zone: false }, Carried::Timestamp { digits: 9 }),
        "TIMESTAMP WITH TIME ZONE" => (Type::Timestamp { zone: true }, Carried::Moment),
        "TIME" => (Type::Time, Carried::Time),
        "UUID" => (Type::Uuid, Carried::Uuid),
        "VARCHAR" => (Type::Text, Carried::Text),
        "BLOB" => (Type::Bytes, Carried::Bytes),
        "JSON" => (Type::Json, Carried::Json),
        _ => decimal(declared).unwrap_or((Type::Text, Carried::Cast)),
    }
}

/// `DECIMAL(18,3)`.
fn decimal(declared: &str) -> Option<(Type, Carried)> {
    let inner = declared.strip_prefix("DECIMAL(")?.strip_suffix(')')?;
    let (precision, scale) = inner.split_once(',')?;
    let (precision, scale): (u8, u8) = (precision.trim().parse().ok()?, scale.trim().parse().ok()?);
    let ty = Type::Decimal { precision: precision.into(), scale: scale.into() };
    Some((ty, Carried::Decimal { precision, scale }))
}

/// How a column's values are given to the engine.
pub(super) fn carried(column: &Column, has_json: bool) -> Carried {
    match &column.declared {
        Some(name) => declared(name).1,
        None => declared(&spell(column.ty, has_json)).1,
    }
}

/// How the values of all of a load's columns are given to the engine.
pub(super) fn carried_of(job: &Job) -> Arc<[Carried]> {
    let has_json = super::ddl::has_json(job);
    let columns = job.choice.columns.iter();
    columns
        .map(|column| match carried(column, has_json) {
            Carried::Cast if has_json && nested(column).is_some() => Carried::Nested,
            carried => carried,
        })
        .collect()
}

/// What the values of a column of a nested type hold.
pub(super) fn nested(column: &Column) -> Option<NestedType> {
    column.declared.as_deref().and_then(NestedType::parse)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_type_that_is_made_reads_back_as_itself() {
        let all = [
            Type::Integer,
            Type::Float,
            Type::Decimal { precision: 38, scale: 7 },
            Type::Boolean,
            Type::Date,
            Type::Timestamp { zone: false },
            Type::Timestamp { zone: true },
            Type::TimestampNs { zone: false },
            Type::Time,
            Type::Uuid,
            Type::Text,
            Type::Json,
            Type::Bytes,
        ];
        for ty in all {
            assert_eq!(declared(&spell(ty, true)).0, ty);
        }
        assert_eq!(spell(Type::Decimal { precision: 39, scale: 2 }, true), "VARCHAR");
        assert_eq!(spell(Type::Decimal { precision: 0, scale: 0 }, true), "VARCHAR");
        assert_eq!(spell(Type::Json, false), "VARCHAR");
        for other in ["HUGEINT", "INTEGER[]", "STRUCT(x INTEGER)", "DECIMAL", "TIME WITH TIME ZONE"]
        {
            assert_eq!(declared(other), (Type::Text, Carried::Cast), "{other}");
        }
    }
}
