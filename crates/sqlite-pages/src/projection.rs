//! Some fields of a table's record as a new record.
//!
//! That is how an index entry comes out of a row, and the row of a table `WITHOUT ROWID`. Serial
//! types and values are copied as they are; nothing is decoded:
//!
//! ```text
//! table record     | 04 | t0 t1 t2 | v0 | v1 | v2 |         rowid
//!                            |  `---------|----.               |
//! t2, t1, rowid    | 04 | t2 t1 tr | v2 | v1 | rowid |  <------'
//! ```
//!
//! A column of REAL affinity needs nothing special: the short form of its whole numbers
//! ([`crate::RecordWriter::compact_real`]) is copied, as `CREATE INDEX` does. SQLite has both forms
//! in indexes: where there is an index when a row is inserted, version 3.54 writes doubles, 3.40 the
//! short form. They are equal in every comparison, and both read as doubles.

use std::ops::Range;

use crate::reader::RecordReader;
use crate::record::{header_length, integer_bytes};
use crate::varint;

/// A field of the new record.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ProjectedColumn {
    /// The table record's field of this index, from 0. NULL when the record is shorter.
    Column(usize),
    /// The rowid; also a column that is an alias of it, in whose place the table record has NULL.
    Rowid,
}

/// Makes records out of columns of other records.
///
/// ```
/// use inrush_sqlite_pages::{Projection, ProjectedColumn};
///
/// // An index on the third column: that column, then the rowid.
/// let mut index = Projection::new(&[ProjectedColumn::Column(2), ProjectedColumn::Rowid]);
/// let mut entry = Vec::new();
/// index.write(b"\x04\x00\x03\x1b\x02\x9e\xfcrubensd", 77, &mut entry);
/// assert_eq!(entry, b"\x03\x1b\x01rubensd\x4d");
/// ```
#[derive(Clone, Debug)]
pub struct Projection {
    columns: Vec<ProjectedColumn>,
    /// Where the fields are in the record that is read, up to the last one that is needed.
    places: Vec<Place>,
}

/// A field of the record that is read.
#[derive(Clone, Debug)]
struct Place {
    serial_type: u64,
    bytes: Range<usize>,
}

const NULL: Place = Place { serial_type: 0, bytes: 0..0 };

impl Projection {
    /// A projection on `columns`, in this order.
    #[must_use]
    pub fn new(columns: &[ProjectedColumn]) -> Self {
        let needed = columns.iter().map(|column| match column {
            ProjectedColumn::Column(index) => index + 1,
            ProjectedColumn::Rowid => 0,
        });
        let needed = needed.max().unwrap_or(0);
        Self { columns: columns.to_vec(), places: vec![NULL; needed] }
    }

    /// Appends to `out` the record made of `record` and `rowid`. Bytes that are no record have no
    /// fields, so that all columns but the rowid are NULL.
    #[inline]
    pub fn write(&mut self, record: &[u8], rowid: i64, out: &mut Vec<u8>) {
        let (rowid_type, rowid_bytes, rowid_length) = integer_bytes(rowid);
        let rowid_bytes = &rowid_bytes[..rowid_length];
        self.locate(record);
        let mut types_length = 0;
        for column in &self.columns {
            types_length += match *column {
                ProjectedColumn::Column(index) => varint::length(self.places[index].serial_type),
                ProjectedColumn::Rowid => 1,
            };
        }
        let header_length = header_length(types_length);
        let start = out.len();
        out.resize(start + header_length, 0);
        let mut header = &mut out[start..];
        let mut append = |value: u64| {
            let length = varint::write(header, value);
            header = &mut std::mem::take(&mut header)[length..];
        };
        append(header_length as u64);
        for column in &self.columns {
            append(match *column {
                ProjectedColumn::Column(index) => self.places[index].serial_type,
                ProjectedColumn::Rowid => u64::from(rowid_type),
            });
        }
        for column in &self.columns {
            out.extend_from_slice(match *column {
                ProjectedColumn::Column(index) => &record[self.places[index].bytes.clone()],
                ProjectedColumn::Rowid => rowid_bytes,
            });
        }
    }

    /// Finds the fields that are needed.
    #[inline]
    fn locate(&mut self, record: &[u8]) {
        let mut reader = RecordReader::new(record);
        for place in &mut self.places {
            *place = match reader.next() {
                Some(field) => {
                    let end = record.len() - reader.rest();
                    let bytes = end - field.bytes.len()..end;
                    Place { serial_type: field.serial_type, bytes }
                }
                None => NULL,
            };
        }
    }
}
