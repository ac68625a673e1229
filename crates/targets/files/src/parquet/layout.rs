//! The columns of a file, in its own terms and in ours.

use std::sync::Arc;

use arrow_schema::{DataType, Field, FieldRef, Fields, Schema, TimeUnit};
use parquet::arrow::{
    ARROW_SCHEMA_META_KEY, ArrowSchemaConverter, encode_arrow_schema, parquet_to_arrow_schema,
};
use parquet::basic::{Compression, ConvertedType, LogicalType, Type as PhysicalType, ZstdLevel};
use parquet::errors::Result;
use parquet::file::metadata::{FileMetaData, KeyValue, ParquetMetaData};
use parquet::file::properties::{EnabledStatistics, WriterProperties, WriterPropertiesBuilder};
use parquet::schema::types::{SchemaDescPtr, SchemaDescriptor, Type as ParquetType};

use crate::knobs::{COMPRESSION, ROW_GROUP_ROWS};
use crate::layout::Layout;
use crate::parquet::read::columns_of;
use inrush_arrow::ArrowColumn;
use inrush_core::target::Knobs;
use inrush_core::{Column, Job, Type};

/// What is written into a file, and how.
#[derive(Clone, Debug)]
pub(crate) struct ParquetLayout {
    pub(super) columns: Vec<ArrowColumn>,
    /// For each column of decimals in so many bytes each, how many these are.
    pub(super) decimal_bytes: Vec<Option<usize>>,
    pub(super) schema: SchemaDescPtr,
    compression: Compression,
    /// What the file that rows are added to says of itself.
    about: Option<Vec<KeyValue>>,
    /// The most rows of a row group.
    pub(super) rows_max: usize,
    /// Bytes of input in a chunk.
    pub(super) chunk_bytes: usize,
}

impl ParquetLayout {
    /// That of a plan; `old` is the file whose columns stay.
    pub(crate) fn new(job: &Job, layout: &Layout, old: Option<&ParquetMetaData>) -> Result<Self> {
        let loaded = &job.choice.columns;
        let (columns, schema, about) = match old {
            Some(old) => {
                let file = old.file_metadata();
                let mut columns = columns_of(file.schema_descr())?;
                for (column, place) in columns.iter_mut().zip(&layout.columns) {
                    column.from = place.from;
                }
                (columns, file.schema_descr_ptr(), about(file))
            }
            None => {
                let columns: Vec<_> = loaded
                    .iter()
                    .enumerate()
                    .map(|(at, column)| ArrowColumn::of(at, column))
                    .collect();
                let schema = new_schema(&columns)?;
                (columns, Arc::new(schema), None)
            }
        };
        let knobs = &job.choice.knobs;
        let rows_max = usize::try_from(knobs.count(&ROW_GROUP_ROWS)).unwrap_or(usize::MAX);
        let decimal_bytes = schema.root_schema().get_fields().iter().map(decimal_bytes).collect();
        let compression = compression(knobs);
        let chunk_bytes = job.choice.chunk_bytes;
        Ok(Self { columns, decimal_bytes, schema, compression, about, rows_max, chunk_bytes })
    }

    pub(super) fn properties(&self) -> WriterPropertiesBuilder {
        WriterProperties::builder()
            .set_created_by(concat!("inrush version ", env!("CARGO_PKG_VERSION")).to_owned())
            .set_compression(self.compression)
            // A row group is a few pages: what its own statistics don't rule out is read in one go.
            .set_statistics_enabled(EnabledStatistics::Chunk)
            .set_offset_index_disabled(true)
            .set_key_value_metadata(self.about.clone())
    }
}

/// What a file says of itself, as far as it holds for rows that are added. Where an Arrow library has noted that a column's values are
/// those of a list, others are not: some readers take them for NULL, and some have no numbers left for them. So that is noted no more.
fn about(file: &FileMetaData) -> Option<Vec<KeyValue>> {
    let mut about = file.key_value_metadata().cloned()?;
    let is_note = |said: &KeyValue| said.key == ARROW_SCHEMA_META_KEY;
    let Ok(noted) = parquet_to_arrow_schema(file.schema_descr(), Some(&about)) else {
        // What can't be read may hold or not.
        about.retain(|said| !is_note(said));
        return Some(about);
    };
    let plain = |field: &FieldRef| match field.data_type() {
        DataType::Dictionary(_, value) => {
            let plain = Field::new(field.name(), (**value).clone(), field.is_nullable());
            Arc::new(plain.with_metadata(field.metadata().clone()))
        }
        _ => Arc::clone(field),
    };
    let fields: Fields = noted.fields().iter().map(plain).collect();
    if fields != *noted.fields() {
        let schema = Schema::new_with_metadata(fields, noted.metadata().clone());
        let note = encode_arrow_schema(&schema);
        about
            .iter_mut()
            .filter(|said| is_note(said))
            .for_each(|said| said.value = Some(note.clone()));
    }
    Some(about)
}

/// How many bytes each decimal of a column has, where that is a matter of the column and not of its precision alone.
fn decimal_bytes(field: &Arc<ParquetType>) -> Option<usize> {
    match &**field {
        ParquetType::PrimitiveType {
            physical_type: PhysicalType::FIXED_LEN_BYTE_ARRAY,
            type_length,
            ..
        } => usize::try_from(*type_length).ok(),
        _ => None,
    }
}

/// Whether rows can be written into the column of a file: its values are of a type that encoders make, and stored as that is written. The
/// type alone says nothing of the latter, for Parquet stores decimals in four ways and moments in two.
pub(super) fn is_written(column: &ArrowColumn, stored: &ParquetType) -> bool {
    let ParquetType::PrimitiveType { physical_type, type_length, .. } = stored else {
        return false;
    };
    match physical_type {
        PhysicalType::BOOLEAN
        | PhysicalType::INT32
        | PhysicalType::INT64
        | PhysicalType::FLOAT
        | PhysicalType::DOUBLE => ArrowColumn::takes(&column.ty),
        PhysicalType::BYTE_ARRAY => {
            matches!(column.ty, DataType::Utf8 | DataType::Binary) && meaning(stored).is_none()
        }
        PhysicalType::FIXED_LEN_BYTE_ARRAY => match column.ty {
            DataType::Decimal128(precision, _) => {
                ArrowColumn::takes(&column.ty)
                    && (bytes_of(precision)..=size_of::<i128>())
                        .contains(&usize::try_from(*type_length).unwrap_or(0))
            }
            _ => false,
        },
        PhysicalType::INT96 => false,
    }
}

/// What the bytes of a column are, where they are neither text nor just bytes: documents of BSON, shapes on a map.
pub(super) fn meaning(stored: &ParquetType) -> Option<String> {
    let ParquetType::PrimitiveType {
        basic_info: info,
        physical_type: PhysicalType::BYTE_ARRAY,
        ..
    } = stored
    else {
        return None;
    };
    let meaning = match (info.logical_type_ref(), info.converted_type()) {
        (Some(LogicalType::String | LogicalType::Enum | LogicalType::Json), _) => return None,
        (Some(logical), _) => format!("{logical:?}"),
        (
            None,
            ConvertedType::NONE | ConvertedType::UTF8 | ConvertedType::ENUM | ConvertedType::JSON,
        ) => return None,
        (None, converted) => converted.to_string(),
    };
    let end = meaning.find(|c: char| !c.is_alphanumeric()).unwrap_or(meaning.len());
    Some(meaning[..end].to_lowercase())
}

/// Bytes that every decimal of so many digits fits into, with its sign.
fn bytes_of(precision: u8) -> usize {
    (1..size_of::<i128>())
        .find(|bytes| 10_i128.pow(precision.into()) <= 1_i128 << (8 * bytes - 1))
        .unwrap_or(size_of::<i128>())
}

fn compression(knobs: &Knobs) -> Compression {
    match knobs.word(&COMPRESSION) {
        "snappy" => Compression::SNAPPY,
        "lz4" => Compression::LZ4_RAW,
        "gzip" => Compression::GZIP(Default::default()),
        "brotli" => Compression::BROTLI(Default::default()),
        "none" => Compression::UNCOMPRESSED,
        _ => Compression::ZSTD(ZstdLevel::default()),
    }
}

fn new_schema(columns: &[ArrowColumn]) -> Result<SchemaDescriptor> {
    let schema =
        ArrowSchemaConverter::new().schema_root("schema").convert(&ArrowColumn::schema(columns))?;
    let fields = columns.iter().zip(schema.root_schema().get_fields()).map(|(column, field)| {
        match column.content {
            Type::Json => {
                ParquetType::primitive_type_builder(&column.name, PhysicalType::BYTE_ARRAY)
                    .with_repetition(field.get_basic_info().repetition())
                    .with_logical_type(Some(LogicalType::Json))
                    .build()
                    .map(Arc::new)
            }
            _ => Ok(Arc::clone(field)),
        }
    });
    let root = ParquetType::group_type_builder(schema.root_schema().name())
        .with_fields(fields.collect::<Result<_>>()?)
        .build()?;
    Ok(SchemaDescriptor::new(Arc::new(root)))
}

/// A column's type, for people.
pub(crate) fn spell(column: &Column) -> String {
    match &column.declared {
        Some(declared) => declared.clone(),
        None => {
            let column = ArrowColumn::of(0, column);
            declared(&column.ty, column.content)
        }
    }
}

/// An Arrow type in the words of Parquet's logical types.
pub(super) fn declared(ty: &DataType, content: Type) -> String {
    match ty {
        DataType::Utf8 if content == Type::Json => "json".to_owned(),
        DataType::Utf8 => "string".to_owned(),
        DataType::Float32 => "float".to_owned(),
        DataType::Float64 => "double".to_owned(),
        DataType::Date32 => "date".to_owned(),
        DataType::Decimal128(precision, scale) | DataType::Decimal256(precision, scale) => {
            format!("decimal({precision},{scale})")
        }
        DataType::Timestamp(unit, zone) => {
            let unit = match unit {
                TimeUnit::Second => "s",
                TimeUnit::Millisecond => "ms",
                TimeUnit::Microsecond => "us",
                TimeUnit::Nanosecond => "ns",
            };
            format!("timestamp({unit}{})", if zone.is_some() { ", UTC" } else { "" })
        }
        other => other.to_string().to_lowercase(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use inrush_core::Basis;
    use parquet::schema::parser::parse_message_type;

    /// Of each decimal that a new file can have, the way in which it is stored is one that is written.
    #[test]
    fn what_is_made_can_be_added_to() {
        for precision in 1..=38 {
            let column = Column {
                name: "d".to_owned(),
                ty: Type::Decimal { precision, scale: 0 },
                declared: None,
                basis: Basis::Declared,
                required: false,
            };
            let column = ArrowColumn::of(0, &column);
            let schema = new_schema(std::slice::from_ref(&column)).unwrap();
            let field = &schema.root_schema().get_fields()[0];
            assert!(is_written(&column, field), "{precision}");
            assert!(decimal_bytes(field).is_none_or(|bytes| bytes == bytes_of(precision as u8)));
        }
    }

    #[test]
    fn how_a_column_is_stored_decides_whether_it_is_written() {
        for (field, is_it) in [
            ("optional fixed_len_byte_array(16) d (DECIMAL(20,2));", true),
            ("optional fixed_len_byte_array(9) d (DECIMAL(20,2));", true),
            ("optional fixed_len_byte_array(5) d (DECIMAL(5,2));", true),
            ("optional fixed_len_byte_array(17) d (DECIMAL(20,2));", false),
            ("optional int32 d (DECIMAL(5,2));", true),
            ("optional int64 d (DECIMAL(5,2));", true),
            ("optional binary d (DECIMAL(20,2));", false),
            ("optional int96 d;", false),
            ("optional fixed_len_byte_array(16) d;", false),
            ("optional fixed_len_byte_array(16) d (UUID);", false),
            ("optional binary d;", true),
            ("optional binary d (STRING);", true),
            ("optional binary d (ENUM);", true),
            ("optional binary d (JSON);", true),
            ("optional binary d (BSON);", false),
            ("optional binary d (GEOMETRY);", false),
            ("optional int64 d (TIMESTAMP(MILLIS,true));", true),
            ("optional int64 d (TIME(MICROS,true));", true),
            ("optional int32 d (TIME(MILLIS,true));", false),
            ("required int32 d (DATE);", true),
            ("repeated int32 d;", false),
            ("optional group d { optional int32 x; }", false),
        ] {
            let schema = parse_message_type(&format!("message m {{ {field} }}")).unwrap();
            let schema = SchemaDescriptor::new(Arc::new(schema));
            let columns = columns_of(&schema).unwrap();
            let stored = &schema.root_schema().get_fields()[0];
            assert_eq!(is_written(&columns[0], stored), is_it, "{field}");
        }
    }
}
