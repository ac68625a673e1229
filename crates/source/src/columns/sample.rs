//! Columns that options of reading name: what the options make of their values no schema says, so the first ones are looked at, as those
//! of files of text are. A later value may disprove the guess, as theirs may.

use std::io::{Cursor, Read};
use std::ops::Range;
use std::sync::{Arc, Mutex, PoisonError};

use arrow_array::{ArrayRef, RecordBatch, new_null_array};
use arrow_schema::{DataType, Field, Schema};

use crate::columns::reading::{Reading, names_of};
use crate::columns::{Batch, Store, Table};
use crate::format::begin;
use crate::head::HEAD_BYTES;
use crate::infer::Observed;
use crate::{Input, Place, Source};
use inrush_core::FieldFacts;
use inrush_core::encode::{Encode, Encoded};
use inrush_core::error::{Error, Result};
use inrush_core::flow::{Chunk, Origin};
use inrush_store::Stop;

/// Row groups of a Parquet file that are looked at, and of one that is fetched.
const GROUPS: usize = 8;
const FETCHED_GROUPS: usize = 2;

impl Source {
    /// Looks at the first values of these fields, and says what they are as the options have them. Nothing is known of rows that a program
    /// gives only once.
    ///
    /// # Errors
    /// When an input can't be read.
    pub(super) fn sample_columns(
        &self,
        fields: &mut [FieldFacts],
        asked: &[usize],
        stop: &Stop,
    ) -> Result<()> {
        if asked.is_empty() {
            return Ok(());
        }
        let total: Arc<Mutex<Vec<Observed>>> = Arc::new(Mutex::new(self.unseen(fields.len())));
        let mut look = Look { encoder: self.surveyor(&total), encoded: Encoded::default() };
        for (file, order) in self.orders.iter().enumerate() {
            let places: Vec<usize> = asked.iter().filter_map(|field| order[*field]).collect();
            self.look_at(file, &places, &mut look, stop)?;
        }
        let seen = total.lock().unwrap_or_else(PoisonError::into_inner);
        for at in asked {
            let (field, seen) = (&mut fields[*at], &seen[*at]);
            field.ty = seen.ty();
            field.moments = seen.moments(&self.inputs);
            field.reads = seen.reads(&self.inputs);
        }
        Ok(())
    }

    /// Looks at the first rows of an input: at its columns in these places.
    fn look_at(&self, file: usize, places: &[usize], look: &mut Look, stop: &Stop) -> Result<()> {
        let (table, input) = (&self.tables[file], &self.inputs[file]);
        let can_be_reread = match &table.store {
            Store::Rows { rows, .. } => rows.source().is_replayable(),
            _ => input.place.can_be_reread(),
        };
        let is_pipe = !can_be_reread && matches!(table.store, Store::IpcStream);
        if places.is_empty() || !can_be_reread && !is_pipe {
            return Ok(());
        }
        // Batches of a program, and rows of a sheet, are read as a whole.
        let all: Vec<usize> = (0..table.readings.len()).collect();
        let read = match table.store {
            Store::Rows { .. } | Store::Sheet(_) => all.as_slice(),
            _ => places,
        };
        let readings: Vec<Reading> = read.iter().map(|at| table.readings[*at].clone()).collect();
        let mut groups = looked_at(table, input);
        groups.truncate(if file == 0 { groups.len() } else { 1 });
        for (groups, before) in groups {
            let mut take = |batch: Batch| {
                let records = input.records_before + before + batch.row;
                look.add(table, read, file, records, batch)?;
                Ok(false)
            };
            if !is_pipe {
                let body = || input.begin(stop);
                table.read(input, groups, &readings, body, stop, HEAD_BYTES, &mut take)?;
                continue;
            }
            // Of a pipe there is what it begins with, which may end before the first batch does.
            let mut pipe = self.pipe.lock().unwrap_or_else(PoisonError::into_inner);
            let (head, _) = begin(&input.place, &mut pipe, HEAD_BYTES, stop)?;
            let body = || Ok(Box::new(Cursor::new(head)) as Box<dyn Read + Send>);
            let _ = table.read(input, groups, &readings, body, stop, HEAD_BYTES, &mut take);
        }
        Ok(())
    }
}

/// The row groups of a Parquet file that are looked at, each with the number of rows before it; of anything else its first rows.
fn looked_at(table: &Table, input: &Input) -> Vec<(Range<usize>, u64)> {
    let Some(_) = table.groups() else { return vec![(0..0, 0)] };
    let max = if matches!(input.place, Place::Stored(_)) { FETCHED_GROUPS } else { GROUPS };
    let (sizes, first) = (table.group_sizes(), table.first_group());
    let mut before = 0;
    let begins = sizes.iter().map(|(rows, _)| {
        before += rows;
        before - rows
    });
    let groups: Vec<(Range<usize>, u64)> =
        begins.enumerate().map(|(at, before)| (first + at..first + at + 1, before)).collect();
    let step = groups.len().div_ceil(max).max(1);
    groups.into_iter().step_by(step).collect()
}

/// A look under way.
struct Look {
    encoder: Box<dyn Encode>,
    encoded: Encoded,
}

impl Look {
    /// Takes rows of an input, which has these of the table's columns; the others are for nothing.
    fn add(
        &mut self,
        table: &Table,
        read: &[usize],
        file: usize,
        records: u64,
        batch: Batch,
    ) -> Result<()> {
        let rows = batch.rows.num_rows();
        let names = names_of(&table.readings);
        let column = |(at, field): (usize, &Arc<Field>)| -> (Arc<Field>, ArrayRef) {
            match read.iter().position(|place| *place == at) {
                Some(place) => {
                    let array = batch.rows.column(place);
                    // Of a program's rows each batch has the types of its own values.
                    let ty = array.data_type().clone();
                    (Arc::new(field.as_ref().clone().with_data_type(ty)), Arc::clone(array))
                }
                None => {
                    let field = Field::new(field.name(), DataType::Null, true);
                    (Arc::new(field), new_null_array(&DataType::Null, rows))
                }
            }
        };
        let (fields, arrays): (Vec<_>, Vec<_>) =
            names.fields().iter().enumerate().map(column).unzip();
        let rows = RecordBatch::try_new(Arc::new(Schema::new(fields)), arrays)
            .map_err(|error| Error::source(error.to_string()))?;
        let origin = Origin { file: file as u32, records, ..Origin::default() };
        let chunk = Chunk { origin, batch: Some(rows), sheet: batch.sheet, ..Chunk::default() };
        self.encoded.clear();
        self.encoder.encode(&chunk, &mut self.encoded);
        Ok(())
    }
}
