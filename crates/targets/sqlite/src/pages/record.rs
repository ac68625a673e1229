//! Fields to records: the bytes of a row as SQLite stores it, except for its rowid.

use inrush_scan::{Zone, plain_decimal, plain_integer_within, timestamp};
use inrush_sqlite_pages::{RecordWriter, ShortRoom, ShortValues};
use rusqlite::types::Value;

use crate::pages::layout::Layout;
use crate::session::Session;
use crate::types::{Affinity, Common, Kept, Store};
use inrush_core::Job;
use inrush_core::encode::{BadValue, EncodeRow, Row, Typed, is_plain};
use inrush_core::error::Result;
use inrush_core::flow::{Code, Wire};

/// What each value of a record is made of.
#[derive(Clone)]
pub(super) struct RecordShape {
    slots: Vec<Slot>,
    /// A column that every row leaves NULL and that takes no NULL.
    pub(super) always_null: Option<String>,
}

#[derive(Clone)]
enum Slot {
    /// A loaded column, by its place among those of the plan.
    Field { column: usize, store: Store, affinity: Affinity, required: bool },
    /// The loaded column whose values are the rowids; the record has NULL in its place.
    Rowid { column: usize, store: Store },
    /// A column that the source doesn't have.
    Constant { value: Value, affinity: Affinity },
}

impl Slot {
    /// The column that the value comes from, and what most values are if they are stored as they are told to be.
    fn common(&self) -> (usize, Common) {
        match self {
            Self::Field { column, store, affinity, .. } => match (store.common(), affinity) {
                (Common::Integer, Affinity::Real) => (*column, Common::Unknown),
                (
                    Common::Real,
                    Affinity::Integer | Affinity::Numeric | Affinity::Text | Affinity::None,
                ) => (*column, Common::Unknown),
                (common, _) => (*column, common),
            },
            Self::Rowid { column, .. } => (*column, Common::Unknown),
            Self::Constant { .. } => (0, Common::Unknown),
        }
    }
}

impl RecordShape {
    /// How the plan's columns become records of this layout.
    pub(super) fn new(job: &Job, layout: &Layout, session: &Session<'_>) -> Result<Self> {
        let columns = &job.choice.columns;
        let mut always_null = None;
        let mut slots = Vec::with_capacity(layout.columns.len());
        for (index, kept) in layout.columns.iter().enumerate() {
            let loaded =
                columns.iter().position(|column| column.name.eq_ignore_ascii_case(&kept.name));
            let rowid = layout.rowid == Some(index);
            slots.push(match loaded {
                Some(column) if rowid => Slot::Rowid { column, store: Store::of(&columns[column]) },
                Some(column) => Slot::Field {
                    column,
                    store: Store::of(&columns[column]),
                    affinity: kept.affinity,
                    required: columns[column].required,
                },
                None => {
                    let value = match &kept.default {
                        // A rowid is numbered, whatever default its column has.
                        Some(literal) if !rowid => session
                            .connection()
                            .query_row(&format!("SELECT {literal}"), [], |row| row.get(0))
                            .map_err(|error| session.explain(&error))?,
                        _ => Value::Null,
                    };
                    if kept.not_null && !rowid && value == Value::Null {
                        always_null.get_or_insert_with(|| kept.name.clone());
                    }
                    Slot::Constant { value, affinity: kept.affinity }
                }
            });
        }
        Ok(Self { slots, always_null })
    }

    /// The loaded columns in the order of the record, each by its place among those of the plan; none where the record has what
    /// every row has.
    pub(super) fn loaded(&self) -> impl Iterator<Item = Option<usize>> + '_ {
        self.slots.iter().map(|slot| match slot {
            Slot::Field { column, .. } | Slot::Rowid { column, .. } => Some(*column),
            Slot::Constant { .. } => None,
        })
    }

    /// Whether rowids come from the source.
    pub(super) fn has_rowids(&self) -> bool {
        self.slots.iter().any(|slot| matches!(slot, Slot::Rowid { .. }))
    }
}

/// Encodes a row as a record; where the source has the rowid, that comes before it, in 8 bytes.
pub(super) struct RecordEncoder {
    shape: RecordShape,
    /// For each slot the column and what most of its values are.
    common: Vec<(usize, Common)>,
    record: RecordWriter,
    /// What a record takes at most that has such values only, if every column has some.
    room: Option<ShortRoom>,
    /// Whether the last one had.
    was_short: bool,
}

impl RecordEncoder {
    pub(super) fn new(shape: RecordShape) -> Self {
        let record = RecordWriter::new(shape.slots.len());
        let common: Vec<_> = shape.slots.iter().map(Slot::common).collect();
        let is = |of: &[Common]| common.iter().filter(|(_, common)| of.contains(common)).count();
        let texts = is(&[Common::Text, Common::Moment]);
        let room = match is(&[Common::Unknown]) {
            0 => ShortRoom::new(common.len(), texts),
            _ => None,
        };
        Self { shape, common, record, room, was_short: true }
    }
}

impl EncodeRow for RecordEncoder {
    fn row<R: Row>(&mut self, row: &R, wire: &mut Wire) -> Result<(), BadValue<'_>> {
        let (slots, record) = (self.shape.slots.as_slice(), &mut self.record);
        record.clear();
        // The record has its own copy of what had to be rewritten.
        wire.values.clear();
        let mut done = match self.room.filter(|_| self.was_short) {
            Some(room) => {
                let (done, whole) = push_record(&self.common, row, record, room, &mut wire.bytes);
                if whole {
                    return Ok(());
                }
                done
            }
            None => push_common(&self.common, row, record),
        };
        self.was_short = done == slots.len();
        while let Some(slot) = slots.get(done) {
            let (column, common) = self.common[done];
            match long_text(column, common, row) {
                Some(text) => record.text(text),
                None => push_any(slot, row, record, wire)?,
            }
            done += 1;
            done += push_common(&self.common[done..], row, record);
        }
        record.finish_into(&mut wire.bytes);
        Ok(())
    }
}

/// Appends the value of any slot.
#[inline(never)]
fn push_any(
    slot: &Slot,
    row: &impl Row,
    record: &mut RecordWriter,
    wire: &mut Wire,
) -> Result<(), BadValue<'static>> {
    match slot {
        Slot::Field { column, store, affinity, required } => {
            let straight = row.typed(*column).and_then(|typed| store.keep_typed(typed));
            match straight {
                Some(Kept::Integer(number)) => {
                    push_integer(record, *affinity, number);
                    return Ok(());
                }
                Some(Kept::Real(number)) => {
                    push_real(record, *affinity, number);
                    return Ok(());
                }
                _ => {}
            }
            let Some((home, span)) = row.value(*column, &mut wire.values) else {
                if *required {
                    return Err(BadValue::null(*column));
                }
                record.null();
                return Ok(());
            };
            let value = row.bytes(home, span, &wire.values);
            match straight.map_or_else(|| store.keep(value), Ok) {
                Ok(Kept::Text) => record.text(value),
                Ok(Kept::Integer(number)) => push_integer(record, *affinity, number),
                Ok(Kept::Real(number)) => push_real(record, *affinity, number),
                Ok(Kept::Bytes) => record.blob(value),
                Err((code, wanted)) => {
                    return Err(BadValue { column: *column, code, wanted });
                }
            }
        }
        Slot::Rowid { column, store } => {
            let straight = row.typed(*column).and_then(|typed| store.keep_typed(typed));
            if let Some(Kept::Integer(number)) = straight {
                wire.bytes.extend_from_slice(&number.to_be_bytes());
                record.null();
                return Ok(());
            }
            let Some((home, span)) = row.value(*column, &mut wire.values) else {
                return Err(BadValue::null(*column));
            };
            let value = row.bytes(home, span, &wire.values);
            match store.common().keep(value).map_or_else(|| store.keep(value), Ok) {
                Ok(Kept::Integer(number)) => wire.bytes.extend_from_slice(&number.to_be_bytes()),
                Ok(_) => {
                    let wanted = "an integer";
                    return Err(BadValue { column: *column, code: Code::Type, wanted });
                }
                Err((code, wanted)) => {
                    return Err(BadValue { column: *column, code, wanted });
                }
            }
            record.null();
        }
        Slot::Constant { value, affinity } => match value {
            Value::Null => record.null(),
            Value::Integer(number) => push_integer(record, *affinity, *number),
            Value::Real(number) => push_real(record, *affinity, *number),
            Value::Text(text) => record.text(text.as_bytes()),
            Value::Blob(bytes) => record.blob(bytes),
        },
    }
    Ok(())
}

/// Appends values as long as each is short and one of those that its column mostly has. Returns how many those are.
#[inline(never)]
fn push_common(columns: &[(usize, Common)], row: &impl Row, record: &mut RecordWriter) -> usize {
    record.append_short(|values| push_short(columns, row, values))
}

/// Appends a whole record of such values to `out`; else `record` has the values that come before the first that isn't. Returns how many
/// there are, and whether they are all.
#[inline(never)]
fn push_record(
    columns: &[(usize, Common)],
    row: &impl Row,
    record: &mut RecordWriter,
    room: ShortRoom,
    out: &mut Vec<u8>,
) -> (usize, bool) {
    let mut done = 0;
    let whole = record.short_into(out, room, |values| done = push_short(columns, row, values));
    (done, whole)
}

#[inline(always)]
fn push_short(columns: &[(usize, Common)], row: &impl Row, values: &mut ShortValues<'_>) -> usize {
    let (chunk, fields) = (row.text(), row.fields());
    for (index, (column, common)) in columns.iter().enumerate() {
        let Some(field) = fields.get(*column).filter(|field| is_plain(field)) else {
            if push_short_typed(*column, *common, row, values) {
                continue;
            }
            return index;
        };
        let value = field.raw(chunk);
        let (start, end) = (field.start as usize, field.end as usize);
        match common {
            Common::Integer => {
                let Some(number) = plain_integer_within(chunk, start, end) else { return index };
                values.integer(number);
            }
            Common::Real => {
                let Some(number) = plain_decimal(value) else { return index };
                values.compact_real(number);
            }
            Common::Moment => {
                if timestamp(value) != Some(Zone::None)
                    || !values.text_within(chunk, start, value.len())
                {
                    return index;
                }
            }
            Common::Text => {
                if !values.text_within(chunk, start, value.len()) {
                    return index;
                }
            }
            Common::Unknown => return index,
        }
    }
    columns.len()
}

/// Appends a short value of a column that isn't text, or of one that holds all its texts; false when it has to be looked at.
#[inline(always)]
fn push_short_typed(
    column: usize,
    common: Common,
    row: &impl Row,
    values: &mut ShortValues<'_>,
) -> bool {
    match common {
        Common::Integer => match row.typed(column) {
            Some(Typed::Integer(number)) => values.integer(number),
            _ => return false,
        },
        Common::Real => match row.typed(column) {
            Some(Typed::Float(number)) if number.is_finite() => values.compact_real(number),
            _ => return false,
        },
        Common::Moment => match row.typed(column) {
            Some(Typed::Moment(moment)) if !moment.zone => {
                let Some((text, length)) = moment.text() else { return false };
                return values.text_within(&text, 0, length);
            }
            _ => return false,
        },
        Common::Text => {
            let Some((texts, span)) = row.text_among(column) else { return false };
            return values.text_within(texts, span.at as usize, span.len as usize);
        }
        Common::Unknown => return false,
    }
    true
}

/// The text that [`push_common`] stopped at because it is long.
fn long_text(column: usize, common: Common, row: &impl Row) -> Option<&[u8]> {
    if common != Common::Text {
        return None;
    }
    match row.fields().get(column).filter(|field| is_plain(field)) {
        Some(field) => Some(field.raw(row.text())),
        None => {
            let (texts, span) = row.text_among(column)?;
            Some(&texts[span.at as usize..(span.at + span.len) as usize])
        }
    }
}

/// An integer as SQLite stores it in a column of this affinity.
#[inline]
fn push_integer(record: &mut RecordWriter, affinity: Affinity, number: i64) {
    match affinity {
        Affinity::Real => record.compact_real(number as f64),
        _ => record.integer(number),
    }
}

/// A double as SQLite stores it in a column of this affinity: one of NUMERIC or INTEGER affinity makes an integer of a whole number
/// (`sqlite3VdbeIntegerAffinity`, which leaves the two extremes alone).
#[inline]
fn push_real(record: &mut RecordWriter, affinity: Affinity, number: f64) {
    match affinity {
        Affinity::Real => record.compact_real(number),
        Affinity::Integer | Affinity::Numeric => {
            let whole = number as i64;
            if whole as f64 == number && whole > i64::MIN && whole < i64::MAX {
                record.integer(whole);
            } else {
                record.real(number);
            }
        }
        Affinity::Text | Affinity::None => record.real(number),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::types::{affinity, samples, spell};

    fn encoder(slots: Vec<Slot>) -> RecordEncoder {
        RecordEncoder::new(RecordShape { slots, always_null: None })
    }

    #[test]
    fn values_become_what_their_texts_become() {
        let mut encoders = Vec::new();
        for column in samples() {
            let store = Store::of(&column);
            let declared = column.declared.as_deref().unwrap_or_else(|| spell(column.ty));
            let affinity = affinity(declared);
            if column.declared.is_none() {
                // A column of an existing table without a type.
                let affinity = Affinity::None;
                let open = Slot::Field { column: 0, store, affinity, required: false };
                encoders.push((format!("typeless {column:?}"), encoder(vec![open])));
            }
            let field = Slot::Field { column: 0, store, affinity, required: false };
            let rowid = Slot::Rowid { column: 0, store };
            encoders.push((format!("{column:?}"), encoder(vec![field.clone(), field])));
            encoders.push((format!("{column:?}"), encoder(vec![rowid])));
        }
        inrush_proof::check(encoders);
    }
}
