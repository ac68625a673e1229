//! Generated rows as record batches: what a program has that has rows, and no file.

use std::sync::Arc;

use arrow_array::types::{
    ArrowPrimitiveType, Date32Type, Decimal128Type, Int16Type, Int32Type, Int64Type,
    TimestampMicrosecondType,
};
use arrow_array::{ArrayRef, PrimitiveArray, RecordBatch, StringArray};
use jiff::civil::{Date, DateTime, date};
use jiff::tz::TimeZone;

use crate::generate::{GeneratedColumn, Generator};
use inrush_core::error::{Error, Result};

/// Rows of a batch.
const ROWS: u64 = 10_000;

/// The first `rows` rows, with the types that their columns name.
///
/// # Errors
/// When a value is not of its column's type.
pub(super) fn batches(generator: &Generator, rows: u64) -> Result<Vec<RecordBatch>> {
    // A table without rows has columns all the same.
    let starts = (0..rows.max(1)).step_by(ROWS as usize);
    starts.map(|start| batch(generator, start, rows.min(start + ROWS))).collect()
}

fn batch(generator: &Generator, start: u64, end: u64) -> Result<RecordBatch> {
    let wrong = |error: &dyn std::fmt::Display| Error::source(format!("generated rows: {error}"));
    let mut text = Vec::new();
    generator.write(start..end, &mut text).map_err(|error| wrong(&error))?;
    let text = String::from_utf8(text).map_err(|error| wrong(&error))?;
    let columns = generator.columns();
    let mut values: Vec<Vec<&str>> = vec![Vec::new(); columns.len()];
    for line in text.lines() {
        for (values, value) in values.iter_mut().zip(line.split('\t')) {
            values.push(value);
        }
    }
    let arrays = columns
        .iter()
        .zip(&values)
        .map(|(column, values)| match array(column, values) {
            Some(array) => Ok((column.name, array)),
            None => Err(wrong(&format!("a value of {} is no {}", column.name, column.sql))),
        })
        .collect::<Result<Vec<_>>>()?;
    RecordBatch::try_from_iter(arrays).map_err(|error| wrong(&error))
}

/// A column; `None` when one of its values is not of its type.
fn array(column: &GeneratedColumn, values: &[&str]) -> Option<ArrayRef> {
    let (name, size) = column.sql.split_once('(').unwrap_or((column.sql, ""));
    Some(match name {
        "smallint" => Arc::new(parsed::<Int16Type>(values, |value| value.parse().ok())?),
        "int" => Arc::new(parsed::<Int32Type>(values, |value| value.parse().ok())?),
        "bigint" => Arc::new(parsed::<Int64Type>(values, |value| value.parse().ok())?),
        "decimal" => {
            let (precision, scale) = size.trim_end_matches(')').split_once(',')?;
            let (precision, scale) = (precision.parse().ok()?, scale.parse::<u8>().ok()?);
            let decimals = parsed::<Decimal128Type>(values, |value| {
                let (whole, fraction) = value.split_once('.')?;
                (fraction.len() == usize::from(scale)).then_some(())?;
                format!("{whole}{fraction}").parse().ok()
            })?;
            Arc::new(decimals.with_precision_and_scale(precision, i8::try_from(scale).ok()?).ok()?)
        }
        "date" => Arc::new(parsed::<Date32Type>(values, |value| {
            Some((value.parse::<Date>().ok()? - date(1970, 1, 1)).get_days())
        })?),
        "timestamp" => Arc::new(parsed::<TimestampMicrosecondType>(values, |value| {
            let moment = value.parse::<DateTime>().ok()?.to_zoned(TimeZone::UTC).ok()?;
            Some(moment.timestamp().as_microsecond())
        })?),
        _ => Arc::new(StringArray::from_iter_values(values)),
    })
}

fn parsed<T: ArrowPrimitiveType>(
    values: &[&str],
    parse: impl Fn(&str) -> Option<T::Native>,
) -> Option<PrimitiveArray<T>> {
    let values = values.iter().map(|value| parse(value)).collect::<Option<Vec<_>>>()?;
    Some(PrimitiveArray::from_iter_values(values))
}

#[cfg(test)]
mod tests {
    use std::sync::atomic::AtomicBool;

    use super::*;
    use crate::generate::KINDS;
    use crate::sums::RowSums;
    use inrush::plan::IfExists;
    use inrush::{LoadOptions, Unobserved};

    #[test]
    fn a_program_s_rows_are_those_of_the_file() {
        for kind in KINDS {
            let directory = tempfile::tempdir().unwrap();
            let url = format!("sqlite:{}", directory.path().join("rows.db").display());
            let (target, location) = inrush::target::find(&url).unwrap();
            let stop = AtomicBool::new(false);
            let mut console = target.console(&location, &stop).unwrap();
            let generator = Generator::of(kind, 7).unwrap();
            let columns = generator.columns();
            let definitions: Vec<String> = columns
                .iter()
                .map(|column| {
                    let sort = if column.integer { "INTEGER" } else { "TEXT" };
                    format!("{} {sort}", column.name)
                })
                .collect();
            console.execute(&format!("CREATE TABLE t ({})", definitions.join(", "))).unwrap();
            let options = LoadOptions {
                table: Some("t".to_owned()),
                if_exists: IfExists::Append,
                ..LoadOptions::default()
            };
            let rows = ROWS + 10;
            let batches = batches(&generator, rows).unwrap();
            assert_eq!(batches.iter().map(RecordBatch::num_rows).collect::<Vec<_>>(), [10_000, 10]);
            inrush::load(batches, &url, &options, &Unobserved).unwrap();
            let added: Vec<i128> = columns.iter().map(|_| 0).collect();
            let mut found = RowSums::new(columns, &added);
            console.query("SELECT * FROM t", &mut |row| found.add(row)).unwrap();
            assert_eq!(found.differences(&generator.expected(rows)), [""; 0], "{kind}");
        }
    }
}
