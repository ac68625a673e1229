//! Files that are there: what they say of themselves, and what they hold.

use std::fs::File;
use std::path::Path;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering::Relaxed};

use arrow_array::cast::AsArray;
use arrow_array::types::Decimal128Type;
use arrow_array::{Array, ArrayRef, RecordBatch};
use arrow_schema::{ArrowError, DataType, TimeUnit};
use parquet::arrow::arrow_reader::{
    ArrowReaderOptions, ParquetRecordBatchReader, ParquetRecordBatchReaderBuilder,
};
use parquet::arrow::{ProjectionMask, parquet_to_arrow_schema};
use parquet::basic::{ConvertedType, LogicalType};
use parquet::file::metadata::{ParquetMetaData, ParquetMetaDataReader};
use parquet::schema::types::SchemaDescriptor;

use crate::layout::Layout;
use crate::parquet::layout::declared;
use crate::parquet::{BATCH_ROWS, read_error};
use crate::place::Place;
use crate::read::Contents;
use inrush_arrow::{ArrowColumn, add_batch};
use inrush_core::encode::{Texts, is_viewed};
use inrush_core::error::{Error, Result};
use inrush_core::flow::Checksum;
use inrush_core::target::Row;
use inrush_core::{Column, TableFacts, Type};

/// A file's footer.
pub(crate) fn metadata(place: &Place, file: &File) -> Result<ParquetMetaData> {
    ParquetMetaDataReader::new().parse_and_finish(file).map_err(|error| read_error(place, error))
}

/// The columns of a file, in the types that values are encoded in.
pub(super) fn columns_of(schema: &SchemaDescriptor) -> parquet::errors::Result<Vec<ArrowColumn>> {
    // Without what some Arrow library has noted of its own types: those of the file say what is stored.
    let arrow = parquet_to_arrow_schema(schema, None)?;
    let fields = arrow.fields().iter().zip(schema.root_schema().get_fields());
    Ok(fields
        .map(|(field, parquet)| {
            let info = parquet.get_basic_info();
            let is_json = info.logical_type_ref() == Some(&LogicalType::Json)
                || info.converted_type() == ConvertedType::JSON;
            ArrowColumn {
                name: field.name().clone(),
                from: None,
                ty: field.data_type().clone(),
                content: if is_json { Type::Json } else { Type::Text },
                strict: false,
                required: !field.is_nullable(),
            }
        })
        .collect())
}

/// What a file says of its columns and rows.
///
/// # Errors
/// When it can't be read, is no Parquet file, or has a column of a type that isn't written.
pub(crate) fn facts(place: &Place, file: &File) -> Result<TableFacts> {
    let metadata = metadata(place, file)?;
    let file = metadata.file_metadata();
    let columns = columns_of(file.schema_descr()).map_err(|error| read_error(place, error))?;
    if let Some(column) = columns.iter().find(|column| !ArrowColumn::takes(&column.ty)) {
        let declared = declared(&column.ty, column.content);
        let (name, shown) = (&column.name, place.path.display());
        return Err(Error::target(format!(
            "column {name} of {shown} is of type {declared}, which inrush does not write"
        ))
        .advise("--if-exists replace puts a new file in its place")
        .advise("name another file"));
    }
    let needs = columns.iter().filter(|column| column.required).map(|column| column.name.clone());
    Ok(TableFacts {
        needs: needs.collect(),
        columns: columns.iter().map(plan_column).collect(),
        holds_rows: file.num_rows() > 0,
        ..TableFacts::default()
    })
}

fn plan_column(column: &ArrowColumn) -> Column {
    let ty = match &column.ty {
        DataType::Float32 | DataType::Float64 => Type::Float,
        DataType::Decimal128(precision, scale) => {
            Type::Decimal { precision: (*precision).into(), scale: *scale as u16 }
        }
        DataType::Boolean => Type::Boolean,
        DataType::Date32 => Type::Date,
        DataType::Timestamp(TimeUnit::Nanosecond, zone) => {
            Type::TimestampNs { zone: zone.is_some() }
        }
        DataType::Timestamp(_, zone) => Type::Timestamp { zone: zone.is_some() },
        DataType::Binary => Type::Bytes,
        ty if ty.is_integer() => Type::Integer,
        _ => column.content,
    };
    Column {
        name: column.name.clone(),
        ty,
        declared: Some(declared(&column.ty, column.content)),
        pinned: true,
        required: column.required,
        asked: false,
    }
}

/// Hands out the rows of a file, of one column where that is all that is wanted.
struct Batches<'a> {
    reader: ParquetRecordBatchReader,
    place: &'a Place,
    stop: &'a AtomicBool,
}

impl<'a> Batches<'a> {
    fn of(
        place: &'a Place,
        path: &Path,
        column: Option<usize>,
        stop: &'a AtomicBool,
    ) -> Result<Self> {
        let file = File::open(path).map_err(|error| place.read_error(&error))?;
        let options = ArrowReaderOptions::new().with_skip_arrow_metadata(true);
        let mut builder = ParquetRecordBatchReaderBuilder::try_new_with_options(file, options)
            .map_err(|error| read_error(place, error))?
            .with_batch_size(BATCH_ROWS);
        if let Some(column) = column {
            let mask = ProjectionMask::roots(builder.parquet_schema(), [column]);
            builder = builder.with_projection(mask);
        }
        let reader = builder.build().map_err(|error| read_error(place, error))?;
        Ok(Self { reader, place, stop })
    }

    fn each(self, mut work: impl FnMut(&RecordBatch) -> Result<()>) -> Result<()> {
        for batch in self.reader {
            if self.stop.load(Relaxed) {
                return Err(Error::interrupted());
            }
            let batch = batch.map_err(|error| {
                Error::target(format!("{} can't be read: {error}", self.place.path.display()))
            })?;
            work(&batch)?;
        }
        Ok(())
    }
}

/// What the file at `path`, which is or will be `place`, holds; with `columns`, how many the load has, sums over their values.
///
/// # Errors
/// When it can't be read, or the user wants to stop.
pub(crate) fn contents(
    place: &Place,
    path: &Path,
    layout: &Layout,
    columns: Option<usize>,
    stop: &AtomicBool,
) -> Result<Contents> {
    let file = File::open(path).map_err(|error| place.read_error(&error))?;
    let rows = metadata(place, &file)?.file_metadata().num_rows().cast_unsigned();
    let Some(columns) = columns else { return Ok(Contents { rows, sums: None }) };
    let from: Vec<Option<usize>> = layout.columns.iter().map(|column| column.from).collect();
    let mut sums = Checksum::new(columns);
    let mut found = 0;
    Batches::of(place, path, None, stop)?.each(|batch| {
        found += batch.num_rows() as u64;
        add_batch(&mut sums, batch, &from);
        Ok(())
    })?;
    Ok(Contents { rows: found, sums: Some(sums) })
}

/// All rows, values as text.
pub(crate) fn rows(place: &Place, stop: &AtomicBool, row: &mut dyn FnMut(&Row<'_>)) -> Result<()> {
    Batches::of(place, &place.path, None, stop)?.each(|batch| {
        let failed = |error| Error::target(format!("the rows can't be shown: {error}"));
        let names = batch.schema_ref().fields().iter().map(|field| field.name());
        let columns: Vec<ArrayRef> = batch
            .columns()
            .iter()
            .map(wide)
            .collect::<std::result::Result<_, _>>()
            .map_err(failed)?;
        let batch = RecordBatch::try_from_iter(names.zip(columns)).map_err(failed)?;
        let columns = Texts::of(&batch);
        let mut texts = vec![Vec::new(); batch.num_columns()];
        for at in 0..batch.num_rows() {
            let values = texts.iter_mut().enumerate().map(|(column, text)| {
                text.clear();
                columns.push(column, at, text).then_some(&text[..])
            });
            row(&values.collect::<Vec<_>>());
        }
        Ok(())
    })
}

/// A column in a type that encoders have a view of.
fn wide(array: &ArrayRef) -> std::result::Result<ArrayRef, ArrowError> {
    match array.data_type() {
        ty if is_viewed(ty) => Ok(Arc::clone(array)),
        DataType::Float32 => arrow_cast::cast(array, &DataType::Float64),
        _ => arrow_cast::cast(array, &DataType::Int64),
    }
}

/// The sum of a column of integers; `None` where it has no value.
pub(crate) fn sum(place: &Place, stop: &AtomicBool, column: &str) -> Result<Option<i128>> {
    let file = File::open(&place.path).map_err(|error| place.read_error(&error))?;
    let metadata = metadata(place, &file)?;
    let fields = metadata.file_metadata().schema_descr().root_schema().get_fields();
    let at = fields.iter().position(|field| field.name() == column);
    let at = at.ok_or_else(|| Error::target(format!("there is no column {column}")))?;
    let mut sum: Option<i128> = None;
    Batches::of(place, &place.path, Some(at), stop)?.each(|batch| {
        let array = batch.column(0);
        if !array.data_type().is_integer() {
            return Err(Error::target(format!("column {column} is no column of integers")));
        }
        let failed = |error| Error::target(format!("column {column} can't be added up: {error}"));
        // Of up to 20 digits: unsigned ones have one more than 64 bits.
        let numbers = arrow_cast::cast(array, &DataType::Decimal128(20, 0)).map_err(failed)?;
        for number in numbers.as_primitive::<Decimal128Type>().iter().flatten() {
            *sum.get_or_insert(0) += number;
        }
        Ok(())
    })?;
    Ok(sum)
}
