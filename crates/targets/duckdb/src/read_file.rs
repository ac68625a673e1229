//! `read-file`: the engine reads the source's files. Parquet only: of text its casts make other values silently (`1.7` and ` 1` are
//! integers to it), and its reader says of a row that it refuses neither where it is nor why.

use std::path::PathBuf;

use crate::connection::{Connection, Refusal};
use crate::ddl::{self, literal, quote};
use crate::types;
use crate::types::Carried;
use inrush_core::target::Fit;
use inrush_core::{Facts, FieldFacts, Format, Job, OnConflict, PlainFiles, Request, Type, Verify};

/// Why the engine can't do a load.
pub(super) fn unfit(request: &Request, facts: &Facts) -> Option<Fit> {
    if parquet(facts).is_none() {
        let reason = "DuckDB reads Parquet files by itself; of text its own casts would change values silently";
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
        () if facts.source.loaded().any(has_zoned_nanos) => {
            "DuckDB's reader cuts nanoseconds off where the file's timestamps are those of UTC"
        }
        () => return None,
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

fn has_zoned_nanos(field: &FieldFacts) -> bool {
    field.ty == Type::Timestamp { zone: true } && field.moments.digits > 6
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
    use super::is_kept;

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
