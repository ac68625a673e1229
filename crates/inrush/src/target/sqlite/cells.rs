//! Fields to cells, for every strategy of this target.

use crate::pipe::encode::{BadValue, EncodeRow, Row};
use crate::pipe::{Cell, Wire};
use crate::plan::Column;
use crate::target::sqlite::types::{Kept, Store};

/// Encodes a row as one cell a column.
pub(super) struct CellEncoder {
    stores: Vec<Store>,
}

impl CellEncoder {
    pub(super) fn new(columns: &[Column]) -> Self {
        Self { stores: columns.iter().map(Store::of).collect() }
    }
}

impl EncodeRow for CellEncoder {
    #[inline]
    fn row(&mut self, row: &Row<'_>, wire: &mut Wire) -> Result<(), BadValue> {
        for (column, store) in self.stores.iter().enumerate() {
            let cell = match row.value(column, &mut wire.values) {
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
