//! Fields to cells, for every strategy of this target.

use crate::types::{Common, Kept, Store};
use inrush_core::Column;
use inrush_core::encode::{BadValue, EncodeRow, Row};
use inrush_core::flow::{Cell, Wire};

/// How a column stores its values.
struct ColumnStore {
    store: Store,
    common: Common,
    required: bool,
}

/// Encodes a row as one cell a column.
pub(super) struct CellEncoder {
    stores: Vec<ColumnStore>,
}

impl CellEncoder {
    pub(super) fn new(columns: &[Column]) -> Self {
        let store = |column: &Column| {
            let store = Store::of(column);
            ColumnStore { store, common: store.common(), required: column.required }
        };
        Self { stores: columns.iter().map(store).collect() }
    }
}

impl EncodeRow for CellEncoder {
    #[inline]
    fn row<R: Row>(&mut self, row: &R, wire: &mut Wire) -> Result<(), BadValue<'_>> {
        for (column, ColumnStore { store, common, required }) in self.stores.iter().enumerate() {
            let straight = row.typed(column).and_then(|typed| store.keep_typed(typed));
            let number = match straight {
                Some(Kept::Integer(number)) => Some(Cell::Integer(number)),
                Some(Kept::Real(number)) => Some(Cell::Real(number)),
                _ => None,
            };
            if let Some(cell) = number {
                wire.cells.push(cell);
                continue;
            }
            let cell = match row.value(column, &mut wire.values) {
                None if *required => {
                    return Err(BadValue::null(column));
                }
                None => Cell::Null,
                Some((home, span)) => {
                    let value = row.bytes(home, span, &wire.values);
                    let kept = straight.or_else(|| common.keep(value));
                    match kept.map_or_else(|| store.keep(value), Ok) {
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

#[cfg(test)]
mod tests {
    use super::*;
    use crate::types;

    #[test]
    fn values_become_what_their_texts_become() {
        let encoder = |column: &Column| {
            let encoder = CellEncoder::new(std::slice::from_ref(column));
            (format!("{column:?}"), encoder)
        };
        inrush_proof::check(types::samples().iter().map(encoder));
    }
}
