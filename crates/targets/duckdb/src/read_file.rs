//! `read-file`: the engine reads the source's files. Parquet only: of text its casts make other values silently (`1.7` and ` 1` are
//! integers to it), and its reader says of a row that it refuses neither where it is nor why.

use std::path::PathBuf;

use arrow_schema::{DataType, TimeUnit};

use crate::connection::{Connection, Refusal};
use crate::ddl::{self, literal, quote};
use crate::types;
use crate::types::Carried;
use inrush_core::target::Fit;
use inrush_core::{Facts, Format, Job, OnConflict, PlainFiles, Request, Verify};

/// Why the engine can't do a load.
pub(super) fn unfit(request: &Request, facts: &Facts) -> Option<Fit> {
    if parquet(facts).is_none() {
        let reason = "DuckDB reads by itself Parquet files of this machine, of one schema that leaves nothing open (INT96 does, \
                      and bytes that are truth values do), and with no option of reading; of text its own casts would change values silently";
        return Some(Fit::Foreign { reason: reason.to_owned() });
    }
    let reason = match () {
        () if request.on_conflict != OnConflict::Fail => {
            "--on-conflict asks the engine of each chunk, and here it reads the file by itself"
        }
        () if request.verify == Verify::Checksum => {
            "--verify checksum compares with values that inrush has read, and here DuckDB reads them"
        }
        () if !request.read.nulls.is_empty() => {
            "--null is inrush's own, and here DuckDB reads values"
        }
        () if files_of(facts).is_none() => {
            "DuckDB takes '*', '?' and '[' in a path for a pattern of several, and paths in UTF-8 alone"
        }
        () => {
            let reason = otherwise(facts)?;
            return Some(Fit::Unusable { reason });
        }
    };
    Some(Fit::Unusable { reason: reason.to_owned() })
}

/// The source, where it is files that the engine reads as inrush does.
fn parquet(facts: &Facts) -> Option<&PlainFiles> {
    facts.source.plain_files.as_ref().filter(|files| files.format == Format::Parquet)
}

/// The files as the engine finds them: by paths in which nothing stands for anything else. `None` where one has no such path.
fn files_of(facts: &Facts) -> Option<Vec<String>> {
    let path = |path: &PathBuf| {
        let path = std::path::absolute(path).ok()?.into_os_string().into_string().ok()?;
        (!path.contains(['*', '?', '['])).then_some(path)
    };
    parquet(facts)?.paths.iter().map(path).collect()
}

/// Why the engine would read a column's values as others, in the first column of which it would.
fn otherwise(facts: &Facts) -> Option<String> {
    let types = &parquet(facts)?.types;
    let mut columns = facts.source.taken().into_iter();
    columns.find_map(|at| {
        let why = misread(types.get(at)?)?;
        Some(format!("DuckDB's reader {why} in column {}", facts.source.fields[at].name))
    })
}

/// What the engine makes of values of a type that it doesn't read as they are.
fn misread(ty: &DataType) -> Option<&'static str> {
    use DataType as D;
    match ty {
        D::Timestamp(TimeUnit::Nanosecond, Some(_)) => {
            Some("cuts nanoseconds off timestamps of UTC")
        }
        D::Time64(TimeUnit::Nanosecond) => Some("may cut nanoseconds off times of day"),
        D::Decimal256(..) => Some("makes doubles of decimals with more than 38 digits"),
        // What only the program says that wrote the file.
        D::Duration(_)
        | D::Date64
        | D::Time32(TimeUnit::Second)
        | D::Timestamp(TimeUnit::Second, _) => Some("sees bare numbers instead of time"),
        D::Struct(fields) => fields.iter().find_map(|field| misread(field.data_type())),
        // The table would have a value that no client can read.
        D::Map(..) => Some("takes maps that have a key twice"),
        D::List(field) | D::LargeList(field) | D::FixedSizeList(field, _) => {
            misread(field.data_type())
        }
        _ => None,
    }
}

/// Has the engine read the files; how many rows it took.
pub(super) fn run(connection: &Connection, job: &Job) -> Result<u64, Refusal> {
    let paths = files_of(&job.facts).unwrap_or_default();
    let paths: Vec<String> = paths.iter().map(|path| literal(path)).collect();
    // What folders are called (`year=2024`) is no value of a row.
    let read = format!("read_parquet([{}], hive_partitioning = false)", paths.join(", "));
    let there =
        connection.rows(&format!("SELECT column_name, column_type FROM (DESCRIBE FROM {read})"))?;
    let has_json = ddl::has_json(job);
    let mut names = Vec::new();
    for (column, field) in job.choice.columns.iter().zip(&job.choice.fields) {
        let found = there.get(*field).map(Vec::as_slice);
        let Some([Some(name), Some(from)]) = found else {
            return Err(Refusal::new("DuckDB finds fewer columns in the file than inrush does"));
        };
        let to = column.declared.clone().unwrap_or_else(|| types::spell(column.ty, has_json));
        if !is_kept(from, &to) {
            return Err(Refusal::new(&format!(
                "DuckDB reads column {name} as {from}, of which {to} might not keep every value"
            )));
        }
        names.push(quote(name));
    }
    connection.execute(&format!(
        "INSERT INTO {} ({}) SELECT {} FROM {read}",
        quote(ddl::table(job)),
        ddl::columns(job),
        names.join(", ")
    ))
}

/// Whether a column of the one type keeps every value of the other.
fn is_kept(from: &str, to: &str) -> bool {
    if from == to {
        return true;
    }
    match (types::declared(from).1, types::declared(to).1) {
        (
            Carried::Integer { bits: from, signed: is_signed },
            Carried::Integer { bits: to, signed },
        ) => (is_signed == signed && from <= to) || (!is_signed && signed && from < to),
        (Carried::Integer { bits, .. }, Carried::Decimal { precision, scale }) => {
            let digits = match bits {
                8 => 3,
                16 => 5,
                32 => 10,
                _ => 20,
            };
            digits <= precision - scale
        }
        (
            Carried::Decimal { precision: p, scale: s },
            Carried::Decimal { precision: q, scale: t },
        ) => s <= t && p - s <= q - t,
        (Carried::Float, Carried::Double) => true,
        (Carried::Timestamp { digits: 0 | 3 }, Carried::Timestamp { digits: 6 }) => true,
        _ => false,
    }
}

#[cfg(test)]
mod tests {
    use std::sync::Arc;

    use arrow_schema::{DataType, Field, TimeUnit};

    use super::{is_kept, misread};

    #[test]
    fn what_the_engine_reads_as_other_values_is_known_however_deep_it_is() {
        let list = |ty| DataType::List(Arc::new(Field::new_list_field(ty, true)));
        let within = |ty| DataType::Struct(vec![Field::new("a", list(ty), true)].into());
        let pair = vec![
            Field::new("key", DataType::Utf8, false),
            Field::new("value", DataType::Int64, true),
        ];
        let pair = Field::new("entries", DataType::Struct(pair.into()), false);
        let map = DataType::Map(Arc::new(pair), false);
        let zoned = |unit| DataType::Timestamp(unit, Some("UTC".into()));
        for ty in [
            zoned(TimeUnit::Nanosecond),
            DataType::Time64(TimeUnit::Nanosecond),
            DataType::Duration(TimeUnit::Millisecond),
            DataType::Date64,
            DataType::Timestamp(TimeUnit::Second, None),
            DataType::Decimal256(40, 2),
            map,
        ] {
            assert!(misread(&ty).is_some() && misread(&within(ty.clone())).is_some(), "{ty}");
        }
        for ty in [
            zoned(TimeUnit::Microsecond),
            DataType::Timestamp(TimeUnit::Nanosecond, None),
            DataType::Time64(TimeUnit::Microsecond),
            DataType::Int64,
            DataType::Decimal128(38, 2),
        ] {
            assert!(misread(&ty).is_none() && misread(&within(ty.clone())).is_none(), "{ty}");
        }
    }

    #[test]
    fn only_what_keeps_every_value_is_left_to_the_engine() {
        for (from, to) in [
            ("INTEGER", "BIGINT"),
            ("UINTEGER", "BIGINT"),
            ("UBIGINT", "DECIMAL(20,0)"),
            ("DECIMAL(9,2)", "DECIMAL(12,3)"),
            ("FLOAT", "DOUBLE"),
            ("STRUCT(a INTEGER)", "STRUCT(a INTEGER)"),
            ("TIMESTAMP_MS", "TIMESTAMP"),
        ] {
            assert!(is_kept(from, to), "{from} to {to}");
        }
        for (from, to) in [
            ("BIGINT", "INTEGER"),
            ("UBIGINT", "BIGINT"),
            ("INTEGER", "UINTEGER"),
            ("BIGINT", "DOUBLE"),
            ("DOUBLE", "FLOAT"),
            ("DECIMAL(9,3)", "DECIMAL(12,2)"),
            ("TIMESTAMP_NS", "TIMESTAMP"),
            ("TIMESTAMP", "TIMESTAMP WITH TIME ZONE"),
            ("TIMESTAMP", "DATE"),
            ("INTEGER[]", "VARCHAR"),
        ] {
            assert!(!is_kept(from, to), "{from} to {to}");
        }
    }
}
