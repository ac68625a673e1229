//! The columns of a file, in its own terms and in ours.

use std::sync::Arc;

use arrow_schema::{DataType, TimeUnit};
use parquet::arrow::ArrowSchemaConverter;
use parquet::basic::{Compression, LogicalType, Repetition, Type as PhysicalType, ZstdLevel};
use parquet::errors::Result;
use parquet::file::metadata::{KeyValue, ParquetMetaData};
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
    pub(super) schema: SchemaDescPtr,
    compression: Compression,
    /// What the file that rows are added to says of itself.
    about: Option<Vec<KeyValue>>,
    /// The most rows of a row group.
    pub(super) rows_max: usize,
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
                (columns, file.schema_descr_ptr(), file.key_value_metadata().cloned())
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
        Ok(Self { columns, schema, compression: compression(knobs), about, rows_max })
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
                    .with_repetition(Repetition::OPTIONAL)
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
        DataType::Decimal128(precision, scale) => format!("decimal({precision},{scale})"),
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
