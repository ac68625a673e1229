//! `appender`: data chunks of the engine's own size, filled by us.

use std::ffi::CString;

use arrow_array::cast::AsArray as _;
use arrow_array::{Array, RecordBatch};

use crate::connection::{Connection, Refusal, text, words};
use crate::ddl;
use crate::library::{
    AppenderHandle, ChunkHandle, Library, SUCCESS, TypeHandle, VectorHandle, kind,
};
use crate::sift::Write;
use crate::types::Carried;
use inrush_core::Job;

/// The appender, and a chunk that is filled again and again.
pub(super) struct AppendWriter {
    library: &'static Library,
    appender: AppenderHandle,
    chunk: ChunkHandle,
    carried: Vec<Carried>,
    rows_max: usize,
    is_dirty: bool,
}

impl AppendWriter {
    /// An appender for the loaded columns of the table.
    pub(super) fn open(
        connection: &Connection,
        job: &Job,
        carried: &[Carried],
    ) -> Result<Self, Refusal> {
        let library = connection.library;
        let table = text(ddl::table(job))?;
        // It looks in the main schema, whatever the connection's is; and where a schema is called like the database, both have to be said.
        let here = connection.rows("SELECT current_database(), current_schema()")?.pop();
        let here = here.unwrap_or_default().into_iter().flatten();
        let here: Vec<CString> = here.map(|name| text(&name)).collect::<Result<_, _>>()?;
        let [database, schema] = here.as_slice() else {
            return Err(Refusal::new("DuckDB names no schema to append to"));
        };
        let mut writer = Self {
            library,
            appender: AppenderHandle::null(),
            chunk: ChunkHandle::null(),
            carried: carried.to_vec(),
            // SAFETY: the function takes nothing.
            rows_max: unsafe { (library.vector_size)() } as usize,
            is_dirty: false,
        };
        // SAFETY: the connection is open; the names are C strings.
        let state = unsafe {
            (library.appender_create_ext)(
                connection.handle,
                database.as_ptr(),
                schema.as_ptr(),
                table.as_ptr(),
                &raw mut writer.appender,
            )
        };
        writer.checked(state)?;
        for column in &job.choice.columns {
            let name: CString = text(&column.name)?;
            // SAFETY: the appender is live, the name a C string.
            let state = unsafe { (library.appender_add_column)(writer.appender, name.as_ptr()) };
            writer.checked(state)?;
        }
        let mut types: Vec<TypeHandle> =
            carried.iter().map(|carried| logical_type(library, *carried)).collect();
        // SAFETY: as many types as it is told; they are copied, and destroyed once.
        unsafe {
            writer.chunk = (library.create_data_chunk)(types.as_mut_ptr(), types.len() as u64);
            types.iter_mut().for_each(|ty| (library.destroy_logical_type)(ty));
        }
        Ok(writer)
    }

    fn checked(&self, state: i32) -> Result<(), Refusal> {
        if state == SUCCESS {
            return Ok(());
        }
        // SAFETY: the appender was written by the library; the message lives as long as it.
        Err(Refusal::new(&unsafe { words((self.library.appender_error)(self.appender)) }))
    }

    fn append(&mut self, batch: &RecordBatch, rows: &Rows<'_>) -> Result<(), Refusal> {
        let library = self.library;
        // SAFETY: the chunk is live and has as many columns as the batch, of the types that `fill` is told; no more rows are put into
        // a column than a chunk has.
        let state = unsafe {
            (library.data_chunk_reset)(self.chunk);
            for (column, (array, carried)) in batch.columns().iter().zip(&self.carried).enumerate()
            {
                let vector = (library.data_chunk_get_vector)(self.chunk, column as u64);
                fill(library, vector, array, *carried, rows);
            }
            (library.data_chunk_set_size)(self.chunk, rows.len() as u64);
            (library.append_data_chunk)(self.appender, self.chunk)
        };
        self.is_dirty = true;
        self.checked(state)
    }
}

impl Write for AppendWriter {
    fn write(
        &mut self,
        _connection: &Connection,
        batch: &RecordBatch,
        without: &[u32],
    ) -> Result<(), Refusal> {
        if without.is_empty() {
            for from in (0..batch.num_rows()).step_by(self.rows_max) {
                let to = (from + self.rows_max).min(batch.num_rows());
                self.append(batch, &Rows::Run(from, to))?;
            }
            return Ok(());
        }
        let mut left_out = without.iter().peekable();
        let rows = (0..batch.num_rows())
            .filter(|row| left_out.next_if(|next| **next as usize == *row).is_none());
        let rows: Vec<usize> = rows.collect();
        rows.chunks(self.rows_max).try_for_each(|rows| self.append(batch, &Rows::Some(rows)))
    }

    fn flush(&mut self) -> Result<(), Refusal> {
        if !std::mem::take(&mut self.is_dirty) {
            return Ok(());
        }
        // SAFETY: the appender is live.
        let state = unsafe { (self.library.appender_flush)(self.appender) };
        self.checked(state)
    }
}

impl Drop for AppendWriter {
    fn drop(&mut self) {
        // SAFETY: both are NULL or made by us, and destroyed once. What the appender still holds it would write; after a failure the
        // transaction is undone, and otherwise `flush` has left nothing.
        unsafe {
            (self.library.appender_destroy)(&raw mut self.appender);
            if !self.chunk.is_null() {
                (self.library.destroy_data_chunk)(&raw mut self.chunk);
            }
        }
    }
}

/// Which rows of a batch go into a chunk.
enum Rows<'r> {
    Run(usize, usize),
    Some(&'r [usize]),
}

impl Rows<'_> {
    fn len(&self) -> usize {
        match self {
            Self::Run(from, to) => to - from,
            Self::Some(rows) => rows.len(),
        }
    }

    fn each(&self, mut work: impl FnMut(usize, usize)) {
        match self {
            Self::Run(from, to) => (*from..*to).enumerate().for_each(|(slot, row)| work(slot, row)),
            Self::Some(rows) => rows.iter().enumerate().for_each(|(slot, row)| work(slot, *row)),
        }
    }
}

/// Puts the rows' values into a vector.
///
/// # Safety
/// The vector is of the logical type of `carried`, has room for the rows, and the array is of the type that it is carried in.
unsafe fn fill(
    library: &Library,
    vector: VectorHandle,
    array: &dyn Array,
    carried: Carried,
    rows: &Rows<'_>,
) {
    if array.null_count() > 0 {
        // SAFETY: the vector is live; after the call it has a bit for each row.
        unsafe {
            (library.vector_ensure_validity_writable)(vector);
            let validity = (library.vector_get_validity)(vector);
            rows.each(|slot, row| {
                if array.is_null(row) {
                    *validity.add(slot / 64) &= !(1 << (slot % 64));
                }
            });
        }
    }
    // SAFETY: the vector is live.
    let data = unsafe { (library.vector_get_data)(vector) }.cast::<u8>();
    match carried {
        Carried::Text | Carried::Uuid | Carried::Json | Carried::Nested | Carried::Cast => {
            let strings = array.as_string::<i32>();
            rows.each(|slot, row| {
                // SAFETY: the string is copied during the call.
                unsafe { assign(library, vector, slot, strings.value(row).as_bytes()) }
            });
        }
        Carried::Bytes => {
            let bytes = array.as_binary::<i32>();
            // SAFETY: as above.
            rows.each(|slot, row| unsafe { assign(library, vector, slot, bytes.value(row)) });
        }
        Carried::Boolean => {
            let bits = array.as_boolean();
            // SAFETY: a byte for each row.
            rows.each(|slot, row| unsafe { *data.add(slot) = u8::from(bits.value(row)) });
        }
        Carried::Decimal { precision, .. } => {
            let digits = array.as_primitive::<arrow_array::types::Decimal128Type>();
            // https://duckdb.org/docs/stable/clients/c/vector: decimals are stored in as many bytes as their precision needs.
            // SAFETY: so many bytes for each row.
            rows.each(|slot, row| unsafe {
                let number = digits.value(row);
                match precision {
                    0..=4 => data.cast::<i16>().add(slot).write(number as i16),
                    5..=9 => data.cast::<i32>().add(slot).write(number as i32),
                    10..=18 => data.cast::<i64>().add(slot).write(number as i64),
                    _ => data.cast::<i128>().add(slot).write_unaligned(number),
                }
            });
        }
        Carried::Integer { bits: 8, .. } => copy::<1>(array, data, rows),
        Carried::Integer { bits: 16, .. } => copy::<2>(array, data, rows),
        Carried::Integer { bits: 32, .. } | Carried::Float | Carried::Date => {
            copy::<4>(array, data, rows);
        }
        Carried::Integer { .. }
        | Carried::Double
        | Carried::Timestamp { .. }
        | Carried::Moment
        | Carried::Time => {
            copy::<8>(array, data, rows);
        }
    }
}

/// # Safety
/// The vector is of strings and has the slot.
unsafe fn assign(library: &Library, vector: VectorHandle, slot: usize, value: &[u8]) {
    // SAFETY: the bytes are copied with their length.
    unsafe {
        (library.vector_assign_string_element_len)(
            vector,
            slot as u64,
            value.as_ptr().cast(),
            value.len() as u64,
        );
    }
}

/// Copies values of so many bytes, which lie in the array as they do in the vector.
fn copy<const WIDTH: usize>(array: &dyn Array, data: *mut u8, rows: &Rows<'_>) {
    let given = array.to_data();
    let values = &given.buffers()[0].as_slice()[given.offset() * WIDTH..];
    if let Rows::Run(from, to) = rows {
        let values = &values[from * WIDTH..to * WIDTH];
        // SAFETY: the vector has room for the rows, and isn't the array.
        unsafe { data.copy_from_nonoverlapping(values.as_ptr(), values.len()) };
        return;
    }
    rows.each(|slot, row| {
        let value = &values[row * WIDTH..(row + 1) * WIDTH];
        // SAFETY: as above.
        unsafe { data.add(slot * WIDTH).copy_from_nonoverlapping(value.as_ptr(), WIDTH) };
    });
}

/// The engine's type of values that are carried so.
fn logical_type(library: &Library, carried: Carried) -> TypeHandle {
    let kind = match carried {
        Carried::Boolean => kind::BOOLEAN,
        Carried::Integer { bits: 8, signed: true } => kind::TINYINT,
        Carried::Integer { bits: 8, signed: false } => kind::UTINYINT,
        Carried::Integer { bits: 16, signed: true } => kind::SMALLINT,
        Carried::Integer { bits: 16, signed: false } => kind::USMALLINT,
        Carried::Integer { bits: 32, signed: true } => kind::INTEGER,
        Carried::Integer { bits: 32, signed: false } => kind::UINTEGER,
        Carried::Integer { signed: true, .. } => kind::BIGINT,
        Carried::Integer { signed: false, .. } => kind::UBIGINT,
        Carried::Float => kind::FLOAT,
        Carried::Double => kind::DOUBLE,
        Carried::Decimal { precision, scale } => {
            // SAFETY: both are within bounds: they are a column's.
            return unsafe { (library.create_decimal_type)(precision, scale) };
        }
        Carried::Date => kind::DATE,
        Carried::Timestamp { digits: 0 } => kind::TIMESTAMP_S,
        Carried::Timestamp { digits: 3 } => kind::TIMESTAMP_MS,
        Carried::Timestamp { digits: 9 } => kind::TIMESTAMP_NS,
        Carried::Timestamp { .. } => kind::TIMESTAMP,
        Carried::Moment => kind::TIMESTAMP_TZ,
        Carried::Time => kind::TIME,
        Carried::Text | Carried::Uuid | Carried::Json | Carried::Nested | Carried::Cast => {
            kind::VARCHAR
        }
        Carried::Bytes => kind::BLOB,
    };
    // SAFETY: a type without parameters.
    unsafe { (library.create_logical_type)(kind) }
}
