//! Parquet files (<https://parquet.apache.org/docs/file-format/>).
//!
//! Row groups are read one after the other, for chunks have to come in the file's order within a fixed memory; what is shared between
//! threads are a group's columns. So a file of one big group takes as many processors as one of many.

use std::cell::RefCell;
use std::io::Read;
use std::ops::Range;
use std::sync::Arc;
use std::thread;

use arrow_array::ArrayRef;
use arrow_schema::extension::EXTENSION_TYPE_NAME_KEY;
use arrow_schema::{ArrowError, DataType, Field, FieldRef, Fields, Schema, SchemaRef, TimeUnit};
use bytes::Bytes;
use crossbeam_channel::{Receiver, Sender, bounded};
use parquet::arrow::arrow_reader::{
    ArrowReaderMetadata, ArrowReaderOptions, ParquetRecordBatchReaderBuilder,
};
use parquet::arrow::{ProjectionMask, parquet_to_arrow_schema};
use parquet::basic::{ConvertedType, LogicalType, Type as PhysicalType};
use parquet::column::page::PageReader as _;
use parquet::errors::ParquetError;
use parquet::file::metadata::{ColumnChunkMetaData, KeyValue, RowGroupMetaData};
use parquet::file::reader::{ChunkReader, Length};
use parquet::file::serialized_reader::SerializedPageReader;
use parquet::schema::types::{SchemaDescriptor, Type};

use crate::blocks::{Piece, Room};
use crate::columns::int96::{self, Twin};
use crate::columns::intervals::{self, Intervals};
use crate::columns::leaves;
use crate::columns::reading::{BOOL8, Reading, VARIANT, readings};
use crate::columns::{Batch, Failure, Take, UNSUPPORTED, Unreadable};
use inrush_core::guard::guarded;
use inrush_store::Fault;

/// Batches that a thread may be ahead.
const AHEAD: usize = 2;

/// Batches in memory before they are on their way: those ahead, one that the threads make, and one that is put together.
pub(super) const CHUNKS_AHEAD: usize = AHEAD + 2;

/// Threads that read columns; what comes after them is more work.
const THREADS_MAX: usize = 4;

/// The key under which Arrow's libraries keep the types that a table had
/// (<https://arrow.apache.org/docs/cpp/parquet.html#serialization-details>).
const ARROW_SCHEMA: &str = "ARROW:schema";

/// What a dictionary takes at most, as writers make them.
const DICTIONARY_BYTES: u64 = 1 << 20;

/// The file's schema with what only the program that wrote it says of its integers: durations, days in milliseconds, and moments and
/// times of day in seconds, for which the format has no types. `None` where it has none.
///
/// # Errors
/// As for [`written_schema`].
fn with_counts(metadata: &ArrowReaderMetadata) -> Result<Option<Schema>, Failure> {
    let Some(written) = written_schema(metadata)? else { return Ok(None) };
    let own = metadata.schema();
    let fields = counts(own.fields(), written.fields());
    Ok(fields.map(|fields| Schema::new_with_metadata(fields, own.metadata().clone())))
}

/// The file's schema in the types of the program that wrote it; `None` where it does not say them.
///
/// # Errors
/// When it says them in a way that can't be read, such as one column of a type that this version of Arrow does not know: without them
/// other columns would have other values than were written: a duration would be a number.
pub(super) fn written_schema(metadata: &ArrowReaderMetadata) -> Result<Option<Schema>, Failure> {
    let file = metadata.metadata().file_metadata();
    let said = file.key_value_metadata();
    let is_said = |pairs: &Vec<KeyValue>| pairs.iter().any(|pair| pair.key == ARROW_SCHEMA);
    if !said.is_some_and(is_said) {
        return Ok(None);
    }
    let read = parquet_to_arrow_schema(file.schema_descr(), said).map_err(|why| Unreadable {
        what: format!("the types in its {ARROW_SCHEMA} can't be read: {why}"),
        advice: UNSUPPORTED,
    })?;
    Ok(Some(read))
}

/// Fields with those that are such counts as they were written; `None` where none is.
fn counts(own: &Fields, written: &Fields) -> Option<Fields> {
    let mut has_counts = false;
    let fields = own.iter().zip(written).map(|(own, written)| {
        let found = count(own.data_type(), written.data_type());
        has_counts |= found.is_some();
        match found {
            Some(ty) => Arc::new(own.as_ref().clone().with_data_type(ty)),
            None => Arc::clone(own),
        }
    });
    let fields: Fields = fields.collect();
    has_counts.then_some(fields)
}

fn count(own: &DataType, written: &DataType) -> Option<DataType> {
    use DataType as D;
    use TimeUnit::Second;
    let inner = |own: &FieldRef, written: &FieldRef| {
        let ty = count(own.data_type(), written.data_type())?;
        Some(Arc::new(own.as_ref().clone().with_data_type(ty)))
    };
    match (own, written) {
        (D::Int64, D::Duration(_) | D::Date64 | D::Timestamp(Second, _))
        | (D::Int32, D::Time32(Second)) => Some(written.clone()),
        (D::Struct(own), D::Struct(written)) => counts(own, written).map(D::Struct),
        // Every list is one of the format's.
        (
            D::List(own),
            D::List(written)
            | D::LargeList(written)
            | D::FixedSizeList(written, _)
            | D::ListView(written)
            | D::LargeListView(written),
        ) => inner(own, written).map(D::List),
        (D::Map(own, sorted), D::Map(written, _)) => {
            inner(own, written).map(|entries| D::Map(entries, *sorted))
        }
        (own, D::Dictionary(_, written)) => count(own, written),
        (own, D::RunEndEncoded(_, written)) => count(own, written.data_type()),
        _ => None,
    }
}

/// The file's schema with the names of Arrow's extensions where the format has a type for which Arrow has only those, and where the
/// program that wrote it says that bytes are truth values.
fn marked(schema: &Schema, descriptor: &SchemaDescriptor, written: Option<&Schema>) -> SchemaRef {
    let truths = RefCell::new(Vec::new());
    if let Some(written) = written {
        leaves::changed(written, &|_, field| {
            truths.borrow_mut().push(field.extension_type_name() == Some(BOOL8));
            field
        });
    }
    // Views of lists may be nested otherwise than the format has them.
    let truths = Some(truths.into_inner()).filter(|of| of.len() == descriptor.num_columns());
    let truths = truths.unwrap_or_default();
    let schema = leaves::changed(schema, &|leaf, mut field: Field| {
        let of = descriptor.column(leaf);
        let extension = match (of.logical_type_ref(), of.converted_type()) {
            (Some(LogicalType::Uuid), _) => "arrow.uuid",
            (Some(LogicalType::Json), _) | (_, ConvertedType::JSON) => "arrow.json",
            _ if truths.get(leaf) == Some(&true) => BOOL8,
            _ => return field,
        };
        field.metadata_mut().insert(EXTENSION_TYPE_NAME_KEY.to_owned(), extension.to_owned());
        field
    });
    let roots = schema.fields().iter().zip(descriptor.root_schema().get_fields()).enumerate();
    let roots = roots.map(|(at, (field, of))| {
        let said = || {
            let written = written?.fields().get(at)?;
            // What the format has a type for is known by that.
            let is_own = |name: &&str| !name.starts_with("arrow.");
            written.extension_type_name().filter(is_own).filter(|_| written.name() == field.name())
        };
        let extension = if is_variant(of) { Some(VARIANT) } else { said() };
        match extension {
            Some(name) if field.extension_type_name().is_none() => {
                let mut field = Field::clone(field);
                field.metadata_mut().insert(EXTENSION_TYPE_NAME_KEY.to_owned(), name.to_owned());
                Arc::new(field)
            }
            _ => Arc::clone(field),
        }
    });
    let roots: Fields = roots.collect();
    Arc::new(Schema::new_with_metadata(roots, schema.metadata().clone()))
}

/// Whether a column, or something within, is a VARIANT.
fn is_variant(of: &Type) -> bool {
    matches!(of.get_basic_info().logical_type_ref(), Some(LogicalType::Variant(_)))
        || of.is_group() && of.get_fields().iter().any(|inner| is_variant(inner))
}

/// What a file says of itself.
#[derive(Clone, Debug)]
pub(super) struct Footer {
    metadata: ArrowReaderMetadata,
    /// What its columns are.
    schema: SchemaRef,
    /// What timestamps of INT96 are compared with.
    twin: Option<Twin>,
    /// What of its bytes are intervals.
    intervals: Option<Intervals>,
    /// What reading takes in memory besides batches.
    pub(super) memory_bytes: u64,
    /// How much of it is in memory at a time, where it has to be fetched.
    pub(super) room: Room,
}

impl Footer {
    pub(super) fn read(file: &Piece) -> Result<Self, Failure> {
        guarded(|| Self::read_it(file))
    }

    /// A file of a dataset that has rows somewhere else, where the first of these are.
    fn rows_elsewhere(metadata: &ArrowReaderMetadata) -> Option<String> {
        let mut groups = metadata.metadata().row_groups().iter();
        groups.find_map(|group| group.columns().first()?.file_path().map(str::to_owned))
    }

    fn read_it(file: &Piece) -> Result<Self, Failure> {
        // The file's own types say enough, and have fewer forms than those of the program that wrote it; but of some integers only
        // that program says what they count.
        let options = ArrowReaderOptions::new().with_skip_arrow_metadata(true);
        let metadata = ArrowReaderMetadata::load(file, options)?;
        if let Some(other) = Self::rows_elsewhere(&metadata) {
            return Err(Unreadable {
                what: format!("it sums up a dataset, and its rows are in other files, as {other}"),
                advice: "name the folder of the dataset, with /** where its files are in folders",
            }
            .into());
        }
        let (mut metadata, intervals) = intervals::of(metadata)?;
        if let Some(schema) = with_counts(&metadata)? {
            let options = ArrowReaderOptions::new().with_schema(Arc::new(schema));
            metadata = ArrowReaderMetadata::try_new(Arc::clone(metadata.metadata()), options)?;
        }
        let (metadata, twin) = int96::of(file, metadata)?;
        let schema = match &intervals {
            Some(intervals) => intervals.schema(metadata.schema()),
            None => Arc::clone(metadata.schema()),
        };
        let schema =
            marked(&schema, metadata.parquet_schema(), written_schema(&metadata)?.as_ref());
        let groups = metadata.metadata().row_groups().iter();
        let largest = groups.max_by_key(|group| group.total_byte_size());
        let stored = largest.map_or(0, |group| group.compressed_size().unsigned_abs());
        let room = Room::of_columns(largest.map_or(0, RowGroupMetaData::num_columns), stored);
        let memory_bytes = match (file, largest) {
            (_, None) => 0,
            (Piece::File(..), Some(group)) => pages_bytes(&Arc::new(file.again()?), group),
            // To look at each column's first page would take as many requests.
            (Piece::Blocks(_), Some(group)) => room.bytes() + likely_pages_bytes(group),
        };
        Ok(Self { metadata, schema, twin, intervals, memory_bytes, room })
    }

    /// Rows and stored bytes of row groups.
    pub(super) fn group_sizes(&self, groups: Range<usize>) -> impl Iterator<Item = (u64, u64)> {
        self.metadata.metadata().row_groups()[groups]
            .iter()
            .map(|group| (group.num_rows().unsigned_abs(), group.compressed_size().unsigned_abs()))
    }

    pub(super) fn readings(&self, flatten: bool) -> Vec<Reading> {
        readings(&self.schema, flatten)
    }

    /// Whether it has timestamps of which no type says how fine they are.
    pub(super) fn has_int96(&self) -> bool {
        self.twin.is_some()
    }

    pub(super) fn groups(&self) -> usize {
        self.metadata.metadata().num_row_groups()
    }

    /// Those of the row groups that are not within their first `rows`, and how many rows the others have.
    pub(super) fn groups_behind(&self, groups: Range<usize>, rows: u64) -> (Range<usize>, u64) {
        let (mut first, mut before) = (groups.start, 0);
        while first < groups.end {
            let rows_of = self.metadata.metadata().row_group(first).num_rows().unsigned_abs();
            if before + rows_of > rows {
                break;
            }
            (first, before) = (first + 1, before + rows_of);
        }
        (first..groups.end, before)
    }

    /// Reads the rows of these groups, a batch of about `batch_bytes` at a time.
    pub(super) fn batches(
        &self,
        file: &Piece,
        groups: Range<usize>,
        readings: &[Reading],
        names: &SchemaRef,
        batch_bytes: usize,
        take: &mut Take<'_>,
    ) -> Result<(), Failure> {
        let shares = self.shares(readings);
        let groups: Vec<Group> = groups.map(|at| self.group(at, readings, batch_bytes)).collect();
        let groups = groups.as_slice();
        thread::scope(|scope| {
            let mut parts = Vec::new();
            for share in &shares {
                let (to, from) = bounded(AHEAD);
                let read = move || {
                    let read = guarded(|| self.read_share(file, readings, share, groups, &to));
                    if let Err(failure) = read {
                        // Nobody listens any more when the load has ended.
                        let _ = to.send(Err(failure));
                    }
                };
                thread::Builder::new()
                    .spawn_scoped(scope, read)
                    .map_err(|error| Fault::no_thread(&error))?;
                parts.push(from);
            }
            self.merge(names, groups, &parts, take)
        })
    }

    fn group(&self, at: usize, readings: &[Reading], batch_bytes: usize) -> Group {
        let group = self.metadata.metadata().row_group(at);
        let rows = group.num_rows().unsigned_abs();
        let stored = group.total_byte_size().unsigned_abs() / rows.max(1);
        // A dictionary makes texts small in the file, and writers of late say how long they are.
        let texts =
            group.columns().iter().filter_map(ColumnChunkMetaData::unencoded_byte_array_data_bytes);
        let texts = texts.sum::<i64>().unsigned_abs() / rows.max(1);
        let held = texts + readings.iter().map(Reading::width).sum::<u64>();
        let batch_rows = (batch_bytes as u64 / stored.max(held).max(1)).clamp(1, 1 << 16);
        Group { at, rows, batch_rows, bytes: group.compressed_size().unsigned_abs() }
    }

    /// The columns, shared so that all threads have about as much to do.
    fn shares(&self, readings: &[Reading]) -> Vec<Vec<usize>> {
        let processors = thread::available_parallelism().map_or(1, usize::from);
        let metadata = self.metadata.metadata();
        let schema = self.metadata.parquet_schema();
        let mut work = vec![0; schema.root_schema().get_fields().len()];
        for (leaf, _) in schema.columns().iter().enumerate() {
            let bytes = |group: &RowGroupMetaData| {
                group.column(leaf).uncompressed_size() + group.num_rows()
            };
            work[schema.get_column_root_idx(leaf)] +=
                metadata.row_groups().iter().map(bytes).sum::<i64>();
        }
        let mut roots: Vec<usize> = readings.iter().map(|reading| reading.path[0]).collect();
        roots.dedup();
        let threads = processors.min(THREADS_MAX).min(roots.len()).max(1);
        // The largest first, each to whom has least.
        roots.sort_by_key(|root| std::cmp::Reverse(work[*root]));
        let mut shares = vec![(0, Vec::new()); threads];
        for root in roots {
            if let Some((sum, share)) = shares.iter_mut().min_by_key(|(sum, _)| *sum) {
                *sum += work[root];
                share.push(root);
            }
        }
        shares
            .into_iter()
            .map(|(_, mut share)| {
                share.sort_unstable();
                share
            })
            .collect()
    }

    fn read_share(
        &self,
        file: &Piece,
        readings: &[Reading],
        share: &[usize],
        groups: &[Group],
        to: &Sender<Part>,
    ) -> Result<(), Failure> {
        let rows = |metadata: &ArrowReaderMetadata, roots: &[usize], group: &Group| {
            let mask = ProjectionMask::roots(metadata.parquet_schema(), roots.iter().copied());
            let again = file.again()?;
            ParquetRecordBatchReaderBuilder::new_with_metadata(again, metadata.clone())
                .with_row_groups(vec![group.at])
                .with_projection(mask)
                .with_batch_size(group.batch_rows as usize)
                .build()
        };
        let compared = self.twin.as_ref().map(|twin| {
            let place = |root: &usize| Some((*root, share.binary_search(root).ok()?));
            let (roots, places): (Vec<_>, Vec<_>) = twin.roots.iter().filter_map(place).unzip();
            (&twin.metadata, roots, places)
        });
        let compared = compared.filter(|(_, roots, _)| !roots.is_empty());
        for group in groups {
            let mut twins = match &compared {
                Some((metadata, roots, places)) => Some((rows(metadata, roots, group)?, places)),
                None => None,
            };
            for batch in rows(&self.metadata, share, group)? {
                let batch = batch?;
                if let Some((twins, places)) = &mut twins
                    && let Some(twin) = twins.next()
                {
                    int96::compare(&batch, &twin?, places)?;
                }
                let batch = leaves::batch(&batch, &self.schema, share, &|array, to| match (
                    &self.intervals,
                    to,
                ) {
                    (Some(intervals), DataType::Interval(_)) => intervals.read(array),
                    _ => Err(ArrowError::CastError(format!("no values of {to} are in it"))),
                })?;
                let mut columns = Vec::new();
                for (index, reading) in readings.iter().enumerate() {
                    if let Ok(root) = share.binary_search(&reading.path[0]) {
                        columns.push((index, reading.apply(&batch, root)?));
                    }
                }
                if to.send(Ok(columns)).is_err() {
                    return Ok(());
                }
            }
        }
        Ok(())
    }

    /// Puts the threads' columns side by side.
    fn merge(
        &self,
        names: &SchemaRef,
        groups: &[Group],
        parts: &[Receiver<Part>],
        take: &mut Take<'_>,
    ) -> Result<(), Failure> {
        for group in groups {
            let mut row = 0;
            while row < group.rows {
                let rows = group.batch_rows.min(group.rows - row);
                let mut columns = Vec::with_capacity(names.fields().len());
                for part in parts {
                    columns.extend(part.recv().map_err(|_| "a column ends before its rows do")??);
                }
                columns.sort_by_key(|(index, _)| *index);
                let bytes = |rows| {
                    (u128::from(group.bytes) * u128::from(rows) / u128::from(group.rows)) as u64
                };
                let stored = bytes(row + rows) - bytes(row);
                let columns = columns.into_iter().map(|(_, column)| column).collect();
                let batch = Batch::of(columns, names, group.at as u32, row, stored)?;
                if batch.rows.num_rows() as u64 != rows {
                    return Err("a row group has fewer rows than it says".into());
                }
                if !take(batch)? {
                    return Ok(());
                }
                row += rows;
            }
        }
        Ok(())
    }
}

/// What a page of each of the group's columns takes, packed and unpacked, and a dictionary: some writers make one page of all
/// values. Columns whose pages are not what they should be are told when they are read.
fn pages_bytes(file: &Arc<Piece>, group: &RowGroupMetaData) -> u64 {
    let rows = usize::try_from(group.num_rows()).unwrap_or(0);
    let of = |column: &ColumnChunkMetaData| {
        let (packed, unpacked) = (column.compressed_size(), column.uncompressed_size());
        let all = column.num_values().unsigned_abs().max(1);
        let values = first_page(file, column, rows).map_or(all, |values| values.min(all));
        let share = |bytes: i64| {
            (u128::from(bytes.unsigned_abs()) * u128::from(values) / u128::from(all)) as u64
        };
        let page = share(packed) + share(unpacked);
        times_read(column) * (page + unpacked.unsigned_abs().min(DICTIONARY_BYTES))
    };
    group.columns().iter().map(of).sum()
}

/// How many readers a column has at a time, see [`int96`].
fn times_read(column: &ColumnChunkMetaData) -> u64 {
    if column.column_type() == PhysicalType::INT96 { 2 } else { 1 }
}

/// The same where nothing is known of the pages: as writers make them.
fn likely_pages_bytes(group: &RowGroupMetaData) -> u64 {
    const PAGE_BYTES: u64 = 1 << 20;
    let page = |bytes: i64| bytes.unsigned_abs().min(PAGE_BYTES);
    let of = |column: &ColumnChunkMetaData| {
        let unpacked = column.uncompressed_size();
        let pages = page(column.compressed_size()) + page(unpacked);
        times_read(column) * (pages + unpacked.unsigned_abs().min(DICTIONARY_BYTES))
    };
    group.columns().iter().map(of).sum()
}

impl Length for Piece {
    fn len(&self) -> u64 {
        match self {
            Self::File(_, file) => Length::len(file),
            Self::Blocks(blocks) => blocks.bytes,
        }
    }
}

impl ChunkReader for Piece {
    type T = Box<dyn Read>;

    fn get_read(&self, start: u64) -> Result<Self::T, ParquetError> {
        Ok(match self {
            Self::File(_, file) => Box::new(file.get_read(start)?),
            Self::Blocks(blocks) => Box::new(blocks.from(start)),
        })
    }

    fn get_bytes(&self, start: u64, length: usize) -> Result<Bytes, ParquetError> {
        match self {
            Self::File(_, file) => file.get_bytes(start, length),
            Self::Blocks(blocks) => {
                blocks.exactly(start, length).map_err(|error| ParquetError::External(error.into()))
            }
        }
    }
}

/// How many values are in the first page of a column, as its header says.
fn first_page(file: &Arc<Piece>, column: &ColumnChunkMetaData, rows: usize) -> Option<u64> {
    let mut pages = SerializedPageReader::new(Arc::clone(file), column, rows, None).ok()?;
    let first = pages.peek_next_page().ok()??;
    if !first.is_dict {
        return first.num_levels.map(|values| values as u64);
    }
    pages.skip_next_page().ok()?;
    pages.peek_next_page().ok()??.num_levels.map(|values| values as u64)
}

/// Some columns of a batch, each with its place among all.
type Part = Result<Vec<(usize, (ArrayRef, bool))>, Failure>;

struct Group {
    /// Its place in the file, from 0.
    at: usize,
    rows: u64,
    batch_rows: u64,
    /// As stored.
    bytes: u64,
}

#[cfg(test)]
mod tests {
    use arrow_array::cast::AsArray;
    use arrow_array::{Int64Array, RecordBatch};
    use inrush_core::Type;
    use parquet::arrow::ArrowWriter;
    use parquet::data_type::{
        ByteArray, ByteArrayType, FixedLenByteArray, FixedLenByteArrayType, Int64Type,
    };
    use parquet::file::properties::WriterProperties;
    use parquet::file::writer::SerializedFileWriter;
    use parquet::schema::parser::parse_message_type;

    use crate::columns::reading::names_of;

    use super::*;

    /// Also within an object, as Arrow's extensions are.
    #[test]
    fn types_of_the_format_are_those_of_fields_and_of_what_is_nested() {
        let message = "message m { required group s { required int64 n; \
                       required fixed_len_byte_array(16) u (UUID); required binary j (JSON); } }";
        let schema = Arc::new(parse_message_type(message).unwrap());
        let file = tempfile::NamedTempFile::new().unwrap();
        let mut writer =
            SerializedFileWriter::new(file.reopen().unwrap(), schema, Arc::default()).unwrap();
        let mut group = writer.next_row_group().unwrap();
        let uuid = FixedLenByteArray::from(ByteArray::from(vec![0x12; 16]));
        let mut column = group.next_column().unwrap().unwrap();
        column.typed::<Int64Type>().write_batch(&[7], None, None).unwrap();
        column.close().unwrap();
        let mut column = group.next_column().unwrap().unwrap();
        column.typed::<FixedLenByteArrayType>().write_batch(&[uuid], None, None).unwrap();
        column.close().unwrap();
        let mut column = group.next_column().unwrap().unwrap();
        let document = [ByteArray::from("[1]")];
        column.typed::<ByteArrayType>().write_batch(&document, None, None).unwrap();
        column.close().unwrap();
        group.close().unwrap();
        writer.close().unwrap();
        let piece = Piece::File(file.path().to_owned(), file.reopen().unwrap());
        let footer = Footer::read(&piece).unwrap();
        let read = |flatten| {
            let readings = footer.readings(flatten);
            let types: Vec<Type> = readings.iter().map(|reading| reading.ty).collect();
            let mut texts = Vec::new();
            let mut take = |batch: Batch| {
                let columns = batch.rows.columns().iter();
                let texts_of = columns.filter_map(|column| column.as_string_opt::<i32>());
                texts.extend(texts_of.map(|column| column.value(0).to_owned()));
                Ok(true)
            };
            let names = names_of(&readings);
            footer.batches(&piece, 0..1, &readings, &names, 1 << 20, &mut take).unwrap();
            (types, texts)
        };
        let uuid = "12121212-1212-1212-1212-121212121212";
        let within = format!(r#"{{"n":7,"u":"{uuid}","j":[1]}}"#);
        assert_eq!(read(false), (vec![Type::Json], vec![within]));
        let types = vec![Type::Integer, Type::Uuid, Type::Json];
        assert_eq!(read(true), (types, vec![uuid.to_owned(), "[1]".to_owned()]));
    }

    #[test]
    fn a_page_may_be_as_large_as_its_column() {
        let column: ArrayRef = Arc::new((0..500_000).collect::<Int64Array>());
        let batch = RecordBatch::try_from_iter([("n", column)]).unwrap();
        let memory = |page_bytes: usize| {
            let properties = WriterProperties::builder()
                .set_dictionary_enabled(false)
                .set_data_page_size_limit(page_bytes)
                .set_data_page_row_count_limit(usize::MAX)
                .build();
            let file = tempfile::NamedTempFile::new().unwrap();
            let mut writer =
                ArrowWriter::try_new(file.reopen().unwrap(), batch.schema(), Some(properties))
                    .unwrap();
            writer.write(&batch).unwrap();
            writer.close().unwrap();
            let piece = Piece::File(file.path().to_owned(), file.reopen().unwrap());
            Footer::read(&piece).unwrap().memory_bytes
        };
        // Packed as it is unpacked, so a page is there twice.
        let pages = |memory: u64| (memory - DICTIONARY_BYTES) / 2;
        assert_eq!(pages(memory(usize::MAX)) >> 20, (500_000 * 8) >> 20);
        assert!(pages(memory(64 << 10)) < 128 << 10);
    }
}
