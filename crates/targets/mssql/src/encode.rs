//! Rows as values, and as literals.

use std::sync::Arc;

use crate::ddl;
use crate::types::{Kept, Store};
use inrush_core::encode::{self, BadValue, EncodeRow, Row, Shape, Typed};
use inrush_core::flow::{Cell, Encode, Home, Span, Wire};
use inrush_core::{Job, Verify};

/// How every loaded column stores its values.
#[derive(Clone)]
pub(super) struct Stores(Arc<[ColumnStore]>);

struct ColumnStore {
    store: Store,
    required: bool,
}

impl Stores {
    /// Those of the plan.
    pub(super) fn of_plan(job: &Job) -> Self {
        let store = |column| ColumnStore {
            store: Store::of(column, &ddl::declared(column, job)),
            required: column.required,
        };
        Self(job.choice.columns.iter().map(store).collect())
    }

    pub(super) fn iter(&self) -> impl Iterator<Item = &Store> {
        self.0.iter().map(|column| &column.store)
    }
}

/// What becomes of a row.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Form {
    /// Cells, one a value.
    Cells,
    /// `(1,N'a',NULL),` for INSERT.
    Tuples,
}

struct RowEncoder {
    stores: Stores,
    /// Tuples are wanted.
    tuples: bool,
    /// Cells are wanted: to be sent, or for sums.
    cells: bool,
    /// What was written of one value.
    written: Vec<u8>,
}

/// Encodes rows in this form.
pub(super) fn encoder(
    shape: Arc<Shape>,
    stores: &Stores,
    job: &Job,
    form: Form,
) -> Box<dyn Encode> {
    let tuples = form == Form::Tuples;
    let cells = !tuples || job.request.verify == Verify::Checksum;
    let row = RowEncoder { stores: stores.clone(), tuples, cells, written: Vec::new() };
    encode::encoder(shape, row)
}

impl EncodeRow for RowEncoder {
    #[inline]
    fn row<R: Row>(&mut self, row: &R, wire: &mut Wire) -> Result<(), BadValue<'_>> {
        let Self { stores, tuples, cells: wants_cells, written } = self;
        let Wire { cells, values, bytes, .. } = wire;
        for (column, ColumnStore { store, required }) in stores.0.iter().enumerate() {
            if *tuples {
                bytes.push(if column == 0 { b'(' } else { b',' });
            }
            written.clear();
            let Some((home, span)) = row.value(column, values) else {
                if *required {
                    return Err(BadValue::null(column));
                }
                if *tuples {
                    bytes.extend_from_slice(b"NULL");
                }
                if *wants_cells {
                    cells.push(Cell::Null);
                }
                continue;
            };
            let value = row.bytes(home, span, values);
            let typed = row.typed(column);
            let is_bytes = match typed {
                Some(typed) => matches!(typed, Typed::Bytes(..)),
                None => row.has_bytes(column),
            };
            let kept = match typed.and_then(|typed| store.keep_typed(typed, written)) {
                Some(kept) => kept,
                None => {
                    written.clear();
                    let kept = match is_bytes {
                        true => store.keep_bytes(value, written),
                        false => store.keep(value, written),
                    };
                    kept.map_err(|(code, wanted)| BadValue { column, code, wanted })?
                }
            };
            if *tuples {
                let of = if kept == Kept::AsIs { value } else { written.as_slice() };
                store.literal(kept, of, bytes);
            }
            if *wants_cells {
                cells.push(cell(store, kept, (home, span), written, values));
            }
        }
        if *tuples {
            bytes.extend_from_slice(b"),");
        }
        Ok(())
    }
}

/// The value as a cell; what was written for it goes to `values`.
#[inline]
fn cell(
    store: &Store,
    kept: Kept,
    (home, span): (Home, Span),
    written: &[u8],
    values: &mut Vec<u8>,
) -> Cell {
    if !store.compares() {
        // Of these sums only tell whether there is a value.
        return Cell::Text(Home::Wire, Span { at: 0, len: 0 });
    }
    let (home, span) = match kept {
        Kept::Integer(number) => return Cell::Integer(number),
        Kept::Real(number) => return Cell::Real(number),
        Kept::AsIs => (home, span),
        Kept::Written => {
            let at = values.len() as u32;
            values.extend_from_slice(written);
            (Home::Wire, Span { at, len: written.len() as u32 })
        }
    };
    if store.is_text() { Cell::Text(home, span) } else { Cell::Bytes(home, span) }
}
