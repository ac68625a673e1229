//! Fields to cells, for every strategy of this target.

use crate::pipe::encode::{BadValue, EncodeRow, Row};
use crate::pipe::{Cell, Code, Wire};
use crate::plan::Column;
use crate::target::sqlite::types::{Kept, Store};

/// Encodes a row as one cell a column.
pub(super) struct CellEncoder {
    /// How each column stores its values, and whether it must have one.
    stores: Vec<(Store, bool)>,
}

impl CellEncoder {
    pub(super) fn new(columns: &[Column]) -> Self {
        Self { stores: columns.iter().map(|column| (Store::of(column), column.required)).collect() }
    }
}

impl EncodeRow for CellEncoder {
    #[inline]
    fn row(&mut self, row: &Row<'_>, wire: &mut Wire) -> Result<(), BadValue> {
        for (column, (store, required)) in self.stores.iter().enumerate() {
            let cell = match row.value(column, &mut wire.values) {
                None if *required => {
                    return Err(BadValue { column, code: Code::NotNull, wanted: "a key" });
                }
                None => Cell::Null,
                Some((home, span)) => {
                    let value = row.bytes(home, span, &wire.values);
                    match store.keep(value) {
                        Ok(Kept::Integer(number)) => Cell::Integer(number),
                        Ok(Kept::Real(number)) => Cell::Real(number),
                        Ok(Kept::Text) => Cell::Text(home, span),
                        Ok(Kept::Bytes) => Cell::Bytes(home, span),
                        Err((code, wanted)) => return Err(BadValue { column, code, wanted }),
                    }
                }
            };
            wire.cells.push(cell);
        }
        Ok(())
    }
}
