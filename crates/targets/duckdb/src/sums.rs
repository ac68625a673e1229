//! Sums over values, as they were sent and as they are stored.

use arrow_array::cast::AsArray as _;

use crate::connection::{Connection, Refusal, Vector};
use crate::ddl::{self, literal, quote};
use crate::encode::batch_of;
use crate::nested::NestedType;
use crate::session::Session;
use crate::sift::Rules;
use crate::types::{self, Carried};
use inrush_arrow::add_batch;
use inrush_core::error::Result;
use inrush_core::flow::checksum::Stored;
use inrush_core::flow::{Checksum, Wire};
use inrush_core::{Column, Job};

/// Sums over what is sent, as [`of_table`] has them of what is stored.
pub(super) struct Sent<'l> {
    pub(super) session: &'l Session<'l>,
    pub(super) job: &'l Job,
    pub(super) carried: &'l [Carried],
    pub(super) rules: &'l Rules,
}

impl Sent<'_> {
    /// Those over a wire's rows except for these, where the encoder has summed all of them.
    pub(super) fn without(&self, wire: &Wire, rows: &[u32]) -> Result<Option<Checksum>> {
        let (Some(all), Some(batch)) = (&wire.checksum, batch_of(wire)) else {
            return Ok(wire.checksum.clone());
        };
        let columns = batch.num_columns();
        let from: Vec<Option<usize>> = (0..columns).map(Some).collect();
        let mut left_out = Checksum::new(columns);
        for row in rows {
            add_batch(&mut left_out, &batch.slice(*row as usize, 1), &from);
        }
        let mut sums = all.since(&left_out);
        for (at, column) in self.job.choice.columns.iter().enumerate() {
            if self.carried[at] == Carried::Nested {
                let texts = (0..).zip(batch.column(at).as_string::<i32>());
                let is_own = |text: &&str| !text.starts_with(' ');
                let own = texts.filter_map(|(row, text)| Some((row, text.filter(is_own)?)));
                // Few are, and of those that are left out there may be many.
                let own = own.filter(|(row, _)| !rows.contains(row));
                let own: Vec<&str> = own.map(|(_, text)| text).collect();
                sums = self.with_documents(&sums, at, column, &own)?;
            }
        }
        Ok(Some(sums))
    }

    /// Sums with the documents that texts in the engine's own words are, which only the engine knows.
    fn with_documents(
        &self,
        sums: &Checksum,
        at: usize,
        column: &Column,
        own: &[&str],
    ) -> Result<Checksum> {
        let mut texts = Checksum::new(self.carried.len());
        own.iter().for_each(|text| texts.add(at, Stored::Text(text.as_bytes())));
        let mut sums = sums.since(&texts);
        let (Some(nested), false) = (types::nested(column), own.is_empty()) else {
            return Ok(sums);
        };
        let values: Vec<String> = own.iter().map(|text| format!("({})", literal(text))).collect();
        let declared = column.declared.as_deref().unwrap_or_default();
        let sql = format!(
            "SELECT {} FROM (VALUES {}) given(text)",
            as_document(&self.rules.tried("text", declared), &nested),
            values.join(", ")
        );
        let explain = |refusal: Refusal| self.session.explain(&refusal);
        // The load's own connection may be in the middle of its statement.
        let connection = self.session.connection().another().map_err(explain)?;
        for row in connection.rows(&sql).map_err(explain)? {
            let document = row.into_iter().next().flatten().unwrap_or_default();
            add_document(&mut sums, at, &nested, document.as_bytes(), &mut Vec::new());
        }
        Ok(sums)
    }
}

/// A value of a nested type as a document whose scalars are texts.
fn as_document(value: &str, nested: &NestedType) -> String {
    format!("CAST(to_json(CAST({value} AS {})) AS VARCHAR)", nested.texts)
}

/// Adds a document in the form in which the encoder has it.
fn add_document(
    sums: &mut Checksum,
    column: usize,
    nested: &NestedType,
    document: &[u8],
    again: &mut Vec<u8>,
) {
    again.clear();
    again.push(b' ');
    // What the type does not take was not sent, and makes the sums differ.
    let kept = nested.tree.write_again(document, again);
    sums.add(column, Stored::Text(if kept.is_ok() { again } else { document }));
}

/// Sums over the loaded columns of the table as it is now.
pub(super) fn of_table(
    connection: &Connection,
    job: &Job,
    carried: &[Carried],
) -> std::result::Result<Checksum, Refusal> {
    let nested: Vec<Option<NestedType>> = (job.choice.columns.iter().zip(carried))
        .map(|(column, carried)| match carried {
            Carried::Nested => types::nested(column),
            _ => None,
        })
        .collect();
    let columns = job.choice.columns.iter().zip(carried).zip(&nested);
    let columns = columns.map(|((column, carried), nested)| {
        let name = quote(&column.name);
        match (carried, nested) {
            (_, Some(nested)) => as_document(&name, nested),
            (Carried::Uuid | Carried::Json | Carried::Cast, None) => {
                format!("CAST({name} AS VARCHAR)")
            }
            _ => name,
        }
    });
    let columns: Vec<String> = columns.collect();
    let sql = format!("SELECT {} FROM {}", columns.join(", "), quote(ddl::table(job)));
    let mut sums = Checksum::new(carried.len());
    let mut again = Vec::new();
    let mut answer = connection.prepare(&sql)?.stream()?;
    while let Some(chunk) = answer.chunk() {
        for (column, (carried, nested)) in carried.iter().zip(&nested).enumerate() {
            let vector = chunk.vector(column);
            for row in 0..chunk.rows() {
                // SAFETY: the row is one of the chunk's, and the column of the type that was asked for.
                unsafe {
                    if let (Carried::Decimal { precision, .. }, true) =
                        (carried, vector.is_valid(row))
                    {
                        let digits = decimal(&vector, *precision, row).to_le_bytes();
                        sums.add(column, Stored::Bytes(&digits));
                    } else if let (Some(nested), true) = (nested, vector.is_valid(row)) {
                        add_document(&mut sums, column, nested, vector.bytes(row), &mut again);
                    } else {
                        sums.add(column, stored(&vector, *carried, row));
                    }
                }
            }
        }
    }
    answer.ended()?;
    Ok(sums)
}

/// # Safety
/// The row is one of the vector's, whose values are as `carried` says, except for what was asked for as text.
unsafe fn stored<'c>(vector: &Vector<'c>, carried: Carried, row: usize) -> Stored<'c> {
    // SAFETY: the caller promises all of it.
    unsafe {
        if !vector.is_valid(row) {
            return Stored::Null;
        }
        match carried {
            Carried::Boolean => Stored::Integer(vector.value::<u8>(row).into()),
            Carried::Integer { bits: 8, signed: true } => {
                Stored::Integer(vector.value::<i8>(row).into())
            }
            Carried::Integer { bits: 8, .. } => Stored::Integer(vector.value::<u8>(row).into()),
            Carried::Integer { bits: 16, signed: true } => {
                Stored::Integer(vector.value::<i16>(row).into())
            }
            Carried::Integer { bits: 16, .. } => Stored::Integer(vector.value::<u16>(row).into()),
            Carried::Integer { bits: 32, signed: true } => {
                Stored::Integer(vector.value::<i32>(row).into())
            }
            Carried::Integer { bits: 32, .. } => Stored::Integer(vector.value::<u32>(row).into()),
            Carried::Date => Stored::Integer(vector.value::<i32>(row).into()),
            Carried::Integer { .. }
            | Carried::Timestamp { .. }
            | Carried::Moment
            | Carried::Time => Stored::Integer(vector.value::<i64>(row)),
            Carried::Float => Stored::Real(vector.value::<f32>(row).into()),
            Carried::Double => Stored::Real(vector.value::<f64>(row)),
            Carried::Bytes => Stored::Bytes(vector.bytes(row)),
            // Decimals are the caller's.
            Carried::Decimal { .. } => Stored::Null,
            Carried::Text | Carried::Uuid | Carried::Json | Carried::Nested | Carried::Cast => {
                Stored::Text(vector.bytes(row))
            }
        }
    }
}

/// All digits of a decimal, which is stored in as many bytes as its precision needs
/// (<https://duckdb.org/docs/stable/clients/c/vector>).
///
/// # Safety
/// The row is one of the vector's, which is of decimals of this precision.
unsafe fn decimal(vector: &Vector<'_>, precision: u8, row: usize) -> i128 {
    // SAFETY: the caller promises.
    unsafe {
        match precision {
            0..=4 => vector.value::<i16>(row).into(),
            5..=9 => vector.value::<i32>(row).into(),
            10..=18 => vector.value::<i64>(row).into(),
            // Halves, as the engine need not align them as we would.
            _ => {
                let [low, high] = vector.value::<[u64; 2]>(row);
                (i128::from(high.cast_signed()) << 64) | i128::from(low)
            }
        }
    }
}
