//! Files that are there: what they say of themselves, and what they hold.

use std::fs::File;
use std::path::Path;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering::Relaxed};

use arrow_array::cast::AsArray;
use arrow_array::types::{
    ArrowPrimitiveType, Float16Type, Float32Type, Float64Type, Int8Type, Int16Type, Int64Type,
    Time32MillisecondType, Time32SecondType, Time64MicrosecondType, Time64NanosecondType,
    UInt8Type, UInt16Type, UInt32Type,
};
use arrow_array::{Array, ArrayRef, RecordBatch, downcast_integer_array};
use arrow_schema::extension::EXTENSION_TYPE_NAME_KEY;
use arrow_schema::{ArrowError, DataType, TimeUnit};
use parquet::arrow::arrow_reader::{
    ArrowReaderOptions, ParquetRecordBatchReader, ParquetRecordBatchReaderBuilder,
};
use parquet::arrow::{ProjectionMask, parquet_to_arrow_schema};
use parquet::basic::{ConvertedType, LogicalType};
use parquet::column::page::PageReader as _;
use parquet::errors::ParquetError;
use parquet::file::metadata::{
    ColumnChunkMetaData, ParquetMetaData, ParquetMetaDataReader, RowGroupMetaData,
};
use parquet::file::reader::{ChunkReader as _, Length as _};
use parquet::file::serialized_reader::SerializedPageReader;
use parquet::schema::types::{SchemaDescriptor, TypePtr};

use crate::layout::Layout;
use crate::parquet::layout::{declared, is_written, meaning};
use crate::parquet::{BATCH_ROWS, guarded, read_error};
use crate::place::Place;
use crate::read::Contents;
use inrush_arrow::{ArrowColumn, add_batch};
use inrush_core::encode::{Texts, is_viewed};
use inrush_core::encrypted::is_encrypted;
use inrush_core::error::{Error, Result};
use inrush_core::flow::Checksum;
use inrush_core::target::Row;
use inrush_core::{Basis, Column, TableFacts, Type};

/// What Arrow calls texts of JSON (<https://arrow.apache.org/docs/format/CanonicalExtensions.html#json>).
const JSON: &str = "arrow.json";

/// A file's footer.
///
/// # Errors
/// When it can't be read, or the file is encrypted: what its values are encrypted with is not in a footer, and copies of its pages under
/// another one would be lost.
pub(crate) fn metadata(place: &Place, file: &File) -> Result<ParquetMetaData> {
    let is_encrypted = is_encrypted(file.len(), |start, length| file.get_bytes(start, length));
    if is_encrypted.map_err(|error| read_error(place, error))? {
        return Err(Error::target(format!(
            "{} is an encrypted Parquet file: no rows can be added to it",
            place.path.display()
        ))
        .advise("--if-exists replace puts a new file in its place")
        .advise("name another file"));
    }
    guarded(|| ParquetMetaDataReader::new().parse_and_finish(file))
        .map_err(|error| read_error(place, error))
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
                nested: None,
                takes_literals: false,
                strict: false,
                required: !field.is_nullable(),
                infinite_ends: false,
                takes_days: false,
                takes_day_end: false,
                takes_far: false,
                escapes: false,
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
    let stored = file.schema_descr().root_schema().get_fields();
    // What an Arrow library has noted of bare values: durations and others, for which the format has no types, and types of programs.
    let noted = parquet_to_arrow_schema(file.schema_descr(), file.key_value_metadata());
    let noted = |at: usize| {
        let (field, column) = (noted.as_ref().ok()?.fields().get(at)?, &columns[at]);
        match field.metadata().get(EXTENSION_TYPE_NAME_KEY) {
            Some(name) if name != JSON || column.content != Type::Json => Some(name.clone()),
            _ if column.ty.is_integer() && field.data_type().is_temporal() => {
                Some(declared(field.data_type(), column.content))
            }
            _ if matches!(column.ty, DataType::Utf8 | DataType::Binary) => meaning(&stored[at]),
            _ => None,
        }
    };
    let not_written = |(at, (column, stored)): &(usize, (&ArrowColumn, &TypePtr))| {
        !is_written(column, stored) || noted(*at).is_some()
    };
    if let Some((at, (column, stored))) = columns.iter().zip(stored).enumerate().find(not_written) {
        let declared = noted(at).unwrap_or_else(|| declared(&column.ty, column.content));
        let (name, shown) = (&column.name, place.path.display());
        let how = match stored.is_primitive() {
            true => format!(" stored as {}", stored.get_physical_type()),
            false => String::new(),
        };
        return Err(Error::target(format!(
            "column {name} of {shown} is of type {declared}{how}, which inrush does not write"
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
        basis: Basis::Declared,
        required: column.required,
    }
}

/// Hands out the rows of a file from a row group on, of one column where that is all that is wanted.
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
        first_group: usize,
        stop: &'a AtomicBool,
    ) -> Result<Self> {
        let file = File::open(path).map_err(|error| place.read_error(&error))?;
        let options = ArrowReaderOptions::new().with_skip_arrow_metadata(true);
        let mut builder = ParquetRecordBatchReaderBuilder::try_new_with_options(file, options)
            .map_err(|error| read_error(place, error))?
            .with_batch_size(BATCH_ROWS);
        let groups = builder.metadata().num_row_groups();
        builder = builder.with_row_groups((first_group..groups).collect());
        if let Some(column) = column {
            let mask = ProjectionMask::roots(builder.parquet_schema(), [column]);
            builder = builder.with_projection(mask);
        }
        let reader = builder.build().map_err(|error| read_error(place, error))?;
        Ok(Self { reader, place, stop })
    }

    fn each(self, mut work: impl FnMut(&RecordBatch) -> Result<()>) -> Result<()> {
        let mut reader = self.reader;
        while let Some(batch) = guarded(|| Ok(reader.next().transpose()?)).map_err(|error| {
            Error::target(format!("{} can't be read: {error}", self.place.path.display()))
        })? {
            if self.stop.load(Relaxed) {
                return Err(Error::interrupted());
            }
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
    Batches::of(place, path, None, 0, stop)?.each(|batch| {
        found += batch.num_rows() as u64;
        add_batch(&mut sums, batch, &from);
        Ok(())
    })?;
    Ok(Contents { rows: found, sums: Some(sums) })
}

/// Reads the rows of the file at `path`, which will be `place`, from a row group on: what was written can be read again.
///
/// # Errors
/// When it can't, or the user wants to stop.
pub(crate) fn decode(
    place: &Place,
    path: &Path,
    first_group: usize,
    stop: &AtomicBool,
) -> Result<()> {
    Batches::of(place, path, None, first_group, stop)?.each(|_| Ok(()))
}

/// Looks whether the pages of the first row groups of the file at `path`, which will be `place`, are where its footer says, and hold as
/// many values: they are copies, and the footer of the other file may be wrong.
///
/// # Errors
/// When they don't, or the user wants to stop.
pub(crate) fn look_through(
    place: &Place,
    path: &Path,
    groups: usize,
    stop: &AtomicBool,
) -> Result<()> {
    let file = File::open(path).map_err(|error| place.read_error(&error))?;
    let metadata = metadata(place, &file)?;
    let file = Arc::new(file);
    for column in metadata.row_groups().iter().take(groups).flat_map(RowGroupMetaData::columns) {
        if stop.load(Relaxed) {
            return Err(Error::interrupted());
        }
        let (said, found) = (column.num_values(), guarded(|| values_in(&file, column)));
        let found = found.map_err(|error| read_error(place, error))?;
        if found != said {
            let what = format!("{found} of {said} values of {} are found", column.column_path());
            return Err(read_error(place, ParquetError::General(what)));
        }
    }
    Ok(())
}

/// How many values the pages of a column's chunk say they hold.
fn values_in(file: &Arc<File>, column: &ColumnChunkMetaData) -> parquet::errors::Result<i64> {
    let mut pages = SerializedPageReader::new(Arc::clone(file), column, 0, None)?;
    let mut values = 0;
    while let Some(page) = pages.peek_next_page()? {
        values += page.num_levels.unwrap_or(0) as i64;
        pages.skip_next_page()?;
    }
    Ok(values)
}

/// All rows, values as text.
pub(crate) fn rows(place: &Place, stop: &AtomicBool, row: &mut dyn FnMut(&Row<'_>)) -> Result<()> {
    Batches::of(place, &place.path, None, 0, stop)?.each(|batch| {
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
        DataType::Int8 => Ok(widened::<Int8Type, Int64Type>(array)),
        DataType::Int16 => Ok(widened::<Int16Type, Int64Type>(array)),
        DataType::UInt8 => Ok(widened::<UInt8Type, Int64Type>(array)),
        DataType::UInt16 => Ok(widened::<UInt16Type, Int64Type>(array)),
        DataType::UInt32 => Ok(widened::<UInt32Type, Int64Type>(array)),
        DataType::Float16 => Ok(widened::<Float16Type, Float64Type>(array)),
        DataType::Float32 => Ok(widened::<Float32Type, Float64Type>(array)),
        // Units since midnight.
        DataType::Time32(TimeUnit::Second) => Ok(widened::<Time32SecondType, Int64Type>(array)),
        DataType::Time32(TimeUnit::Millisecond) => {
            Ok(widened::<Time32MillisecondType, Int64Type>(array))
        }
        DataType::Time64(TimeUnit::Microsecond) => {
            Ok(widened::<Time64MicrosecondType, Int64Type>(array))
        }
        DataType::Time64(TimeUnit::Nanosecond) => {
            Ok(widened::<Time64NanosecondType, Int64Type>(array))
        }
        ty => Err(ArrowError::CastError(format!("values of type {ty} have no text"))),
    }
}

fn widened<F, T>(array: &ArrayRef) -> ArrayRef
where
    F: ArrowPrimitiveType<Native: Into<T::Native>>,
    T: ArrowPrimitiveType,
{
    Arc::new(array.as_primitive::<F>().unary::<_, T>(Into::into))
}

/// The sum of a column of integers; `None` where it has no value.
pub(crate) fn sum(place: &Place, stop: &AtomicBool, column: &str) -> Result<Option<i128>> {
    let file = File::open(&place.path).map_err(|error| place.read_error(&error))?;
    let metadata = metadata(place, &file)?;
    let fields = metadata.file_metadata().schema_descr().root_schema().get_fields();
    let at = fields.iter().position(|field| field.name() == column);
    let at = at.ok_or_else(|| Error::target(format!("there is no column {column}")))?;
    let mut sum: Option<i128> = None;
    Batches::of(place, &place.path, Some(at), 0, stop)?.each(|batch| {
        let array = batch.column(0);
        if !array.data_type().is_integer() {
            return Err(Error::target(format!("column {column} is no column of integers")));
        }
        if let Some(total) = total(array) {
            *sum.get_or_insert(0) += total;
        }
        Ok(())
    })?;
    Ok(sum)
}

/// The sum of an array of integers; `None` where it has no value.
fn total(array: &dyn Array) -> Option<i128> {
    downcast_integer_array! {
        array => array.iter().flatten().map(i128::from).reduce(|sum, number| sum + number),
        _ => None
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use arrow_array::types::{Decimal128Type, Int32Type, UInt64Type};
    use arrow_array::{PrimitiveArray, new_null_array};
    use parquet::arrow::ArrowWriter;
    use proptest::prelude::*;
    use proptest::strategy::Union;

    fn array<T: ArrowPrimitiveType>(
        value: impl Strategy<Value = T::Native> + 'static,
    ) -> BoxedStrategy<ArrayRef> {
        let values = prop::collection::vec(prop::option::of(value), 0..20);
        values.prop_map(|values| Arc::new(PrimitiveArray::<T>::from_iter(values)) as _).boxed()
    }

    /// Arrays of each type of numbers, the extremes among them.
    fn numbers() -> impl Strategy<Value = ArrayRef> {
        macro_rules! integers {
            ($($of:ty: $native:ident),*) => {
                vec![$(array::<$of>(prop_oneof![
                    any::<$native>(), Just($native::MIN), Just($native::MAX)
                ])),*]
            };
        }
        let mut all = integers![
            Int8Type: i8, Int16Type: i16, Int32Type: i32, Int64Type: i64,
            UInt8Type: u8, UInt16Type: u16, UInt32Type: u32, UInt64Type: u64,
            Time32SecondType: i32, Time32MillisecondType: i32,
            Time64MicrosecondType: i64, Time64NanosecondType: i64
        ];
        all.push(array::<Float32Type>(any::<u32>().prop_map(f32::from_bits)));
        Union::new(all)
    }

    proptest! {
        #![proptest_config(ProptestConfig::with_cases(1_000))]

        #[test]
        fn numbers_are_what_arrow_makes_of_them(array in numbers()) {
            let ty = array.data_type();
            let to = match ty {
                ty if is_viewed(ty) => ty.clone(),
                DataType::Float32 => DataType::Float64,
                _ => DataType::Int64,
            };
            let wanted = arrow_cast::cast(&array, &to).unwrap();
            prop_assert_eq!(wide(&array).unwrap().to_data(), wanted.to_data());
            if ty.is_integer() {
                let numbers = arrow_cast::cast(&array, &DataType::Decimal128(20, 0)).unwrap();
                let numbers = numbers.as_primitive::<Decimal128Type>();
                prop_assert_eq!(numbers.null_count(), array.null_count());
                let sum = numbers.iter().flatten().reduce(|sum, number| sum + number);
                prop_assert_eq!(total(&array), sum);
            }
        }
    }

    #[test]
    fn rows_that_can_not_be_decoded_are_found() {
        let dir = tempfile::tempdir().unwrap();
        let path = dir.path().join("x.parquet");
        let numbers: ArrayRef = Arc::new(PrimitiveArray::<Int64Type>::from_iter_values(0..100));
        let batch = RecordBatch::try_from_iter([("n", numbers)]).unwrap();
        let file = File::create(&path).unwrap();
        let mut writer = ArrowWriter::try_new(file, batch.schema(), None).unwrap();
        for _ in 0..2 {
            writer.write(&batch).unwrap();
            writer.flush().unwrap();
        }
        writer.close().unwrap();
        let place = Place { format: crate::place::Format::Parquet, path: path.clone() };
        let stop = AtomicBool::new(false);
        let found = metadata(&place, &File::open(&path).unwrap()).unwrap();
        let (at, bytes) = found.row_group(0).column(0).byte_range();
        let mut whole = std::fs::read(&path).unwrap();
        whole[at as usize..][..bytes as usize].fill(0xff);
        assert!(decode(&place, &path, 0, &stop).is_ok());
        std::fs::write(&path, whole).unwrap();
        assert!(decode(&place, &path, 0, &stop).is_err());
        assert!(decode(&place, &path, 1, &stop).is_ok());
    }

    #[test]
    fn integers_of_64_bits_are_added_up_beyond_them() {
        let numbers =
            PrimitiveArray::<UInt64Type>::from(vec![Some(u64::MAX), None, Some(u64::MAX)]);
        assert_eq!(total(&numbers), Some(2 * i128::from(u64::MAX)));
        assert_eq!(total(&new_null_array(&DataType::Int64, 3)), None);
    }

    #[test]
    fn halves_keep_what_is_behind_the_point() {
        let half = <Float16Type as ArrowPrimitiveType>::Native::from_bits(0x3e00);
        let array: ArrayRef = Arc::new(PrimitiveArray::<Float16Type>::from_iter_values([half]));
        assert_eq!(wide(&array).unwrap().as_primitive::<Float64Type>().value(0), 1.5);
    }

    #[test]
    fn what_is_no_number_is_not_made_one() {
        for ty in [DataType::Decimal256(40, 2), DataType::FixedSizeBinary(2), DataType::LargeUtf8] {
            assert!(wide(&new_null_array(&ty, 1)).is_err(), "{ty}");
        }
    }
}
