//! Cells of sheets that are kept from the look at them, to be handed on by the load: to unpack and to parse a sheet takes longer than all
//! else of a load.

use std::str::from_utf8;
use std::sync::atomic::{AtomicUsize, Ordering::Relaxed};

use crate::columns::Failure;
use inrush_place::workbook::Cell;

/// Bytes that all kept sheets of a process take at most; what has no room is read again.
const TOTAL_MAX: usize = 64 << 20;

/// Bytes that are taken of them at once.
const PIECE: usize = 1 << 20;

static TOTAL: AtomicUsize = AtomicUsize::new(0);

/// A sheet's rows, each with its number, how many cells it has, and these.
#[derive(Debug, Default)]
pub(super) struct Kept {
    pieces: Vec<Vec<u8>>,
    /// What cells are instead of values: a few sentences, which cells refer to by number.
    whys: Vec<&'static str>,
    taken: usize,
}

impl Drop for Kept {
    fn drop(&mut self) {
        TOTAL.fetch_sub(self.taken, Relaxed);
    }
}

/// What a cell begins with, behind its column.
mod sort {
    pub(super) const INTEGER: u8 = 0;
    pub(super) const FLOAT: u8 = 1;
    pub(super) const FALSE: u8 = 2;
    pub(super) const TRUE: u8 = 3;
    pub(super) const DATE: u8 = 4;
    pub(super) const MOMENT: u8 = 5;
    pub(super) const TEXT: u8 = 6;
    pub(super) const BAD: u8 = 7;
}

impl Kept {
    /// Bytes of memory that it takes.
    pub(super) fn bytes(&self) -> u64 {
        self.taken as u64
    }

    /// Keeps a row; `None` where there is no room for it, and nothing is kept any more.
    pub(super) fn add(mut self, at: u32, cells: &[(u32, Cell<'_>)]) -> Option<Self> {
        let room = 8 + cells.iter().map(|(_, cell)| 13 + text_of(cell).len()).sum::<usize>();
        let is_full = |piece: &Vec<u8>| piece.capacity() - piece.len() < room;
        if self.pieces.last().is_none_or(is_full) {
            let piece = room.max(PIECE);
            self.taken += piece;
            if TOTAL.fetch_add(piece, Relaxed) + piece > TOTAL_MAX {
                return None;
            }
            self.pieces.push(Vec::with_capacity(piece));
        }
        let piece = self.pieces.last_mut()?;
        piece.extend_from_slice(&at.to_le_bytes());
        piece.extend_from_slice(&u32::try_from(cells.len()).ok()?.to_le_bytes());
        for (column, cell) in cells {
            piece.extend_from_slice(&column.to_le_bytes());
            match cell {
                Cell::Integer(number) => put(piece, sort::INTEGER, &number.to_le_bytes()),
                Cell::Float(number) => put(piece, sort::FLOAT, &number.to_le_bytes()),
                Cell::Boolean(false) => put(piece, sort::FALSE, &[]),
                Cell::Boolean(true) => put(piece, sort::TRUE, &[]),
                Cell::Date(days) => put(piece, sort::DATE, &days.to_le_bytes()),
                Cell::Moment(ms) => put(piece, sort::MOMENT, &ms.to_le_bytes()),
                Cell::Text(text) => put_text(piece, sort::TEXT, text)?,
                Cell::Bad { shown, why } => {
                    put_text(piece, sort::BAD, shown)?;
                    let known = self.whys.iter().position(|known| known == why);
                    let number = known.unwrap_or_else(|| {
                        self.whys.push(why);
                        self.whys.len() - 1
                    });
                    piece.push(u8::try_from(number).ok()?);
                }
            }
        }
        Some(self)
    }

    /// Hands on the rows, as [`Workbook::rows`](inrush_place::workbook::Workbook::rows) does.
    ///
    /// # Errors
    /// Those of `take`.
    pub(super) fn rows(
        &self,
        mut take: impl FnMut(u32, &[(u32, Cell<'_>)]) -> Result<bool, Failure>,
    ) -> Result<(), Failure> {
        for piece in &self.pieces {
            let mut left = piece.as_slice();
            let mut cells = Vec::new();
            while !left.is_empty() {
                let (at, count) = (u32::from_le_bytes(cut(&mut left)?), cut(&mut left)?);
                cells.clear();
                for _ in 0..u32::from_le_bytes(count) {
                    let column = u32::from_le_bytes(cut(&mut left)?);
                    cells.push((column, self.cell(&mut left)?));
                }
                if !take(at, &cells)? {
                    return Ok(());
                }
            }
        }
        Ok(())
    }

    fn cell<'k>(&self, left: &mut &'k [u8]) -> Result<Cell<'k>, Failure> {
        let [sort] = cut(left)?;
        Ok(match sort {
            sort::INTEGER => Cell::Integer(i64::from_le_bytes(cut(left)?)),
            sort::FLOAT => Cell::Float(f64::from_le_bytes(cut(left)?)),
            sort::FALSE => Cell::Boolean(false),
            sort::TRUE => Cell::Boolean(true),
            sort::DATE => Cell::Date(i32::from_le_bytes(cut(left)?)),
            sort::MOMENT => Cell::Moment(i64::from_le_bytes(cut(left)?)),
            sort::TEXT => Cell::Text(cut_text(left)?.into()),
            _ => {
                let shown = cut_text(left)?.to_owned();
                let [number] = cut(left)?;
                let why = self.whys.get(usize::from(number)).ok_or(BROKEN)?;
                Cell::Bad { shown, why }
            }
        })
    }
}

fn text_of<'c>(cell: &'c Cell<'_>) -> &'c str {
    match cell {
        Cell::Text(text) => text,
        Cell::Bad { shown, .. } => shown,
        _ => "",
    }
}

fn put(to: &mut Vec<u8>, sort: u8, value: &[u8]) {
    to.push(sort);
    to.extend_from_slice(value);
}

fn put_text(to: &mut Vec<u8>, sort: u8, text: &str) -> Option<()> {
    put(to, sort, &u32::try_from(text.len()).ok()?.to_le_bytes());
    to.extend_from_slice(text.as_bytes());
    Some(())
}

/// Never seen: rows are cut as they were put.
const BROKEN: &str = "what was kept of it is broken";

fn cut<const N: usize>(left: &mut &[u8]) -> Result<[u8; N], Failure> {
    let (head, rest) = left.split_first_chunk().ok_or(BROKEN)?;
    *left = rest;
    Ok(*head)
}

fn cut_text<'k>(left: &mut &'k [u8]) -> Result<&'k str, Failure> {
    let length = u32::from_le_bytes(cut(left)?) as usize;
    let (text, rest) = left.split_at_checked(length).ok_or(BROKEN)?;
    *left = rest;
    Ok(from_utf8(text)?)
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    fn cell() -> impl Strategy<Value = Cell<'static>> {
        prop_oneof![
            any::<i64>().prop_map(Cell::Integer),
            any::<f64>().prop_filter("NaN equals nothing", |n| !n.is_nan()).prop_map(Cell::Float),
            any::<bool>().prop_map(Cell::Boolean),
            any::<i32>().prop_map(Cell::Date),
            any::<i64>().prop_map(Cell::Moment),
            ".{0,40}".prop_map(|text| Cell::Text(text.into())),
            (".{0,9}", prop_oneof![Just("no value"), Just("no day")])
                .prop_map(|(shown, why)| Cell::Bad { shown, why }),
        ]
    }

    fn row() -> impl Strategy<Value = (u32, Vec<(u32, Cell<'static>)>)> {
        (any::<u32>(), prop::collection::vec((0..16_384_u32, cell()), 0..20))
    }

    proptest! {
        #[test]
        fn rows_are_handed_on_as_they_came(rows in prop::collection::vec(row(), 0..50)) {
            let add = |kept: Kept, (at, cells): &(u32, Vec<_>)| kept.add(*at, cells);
            let kept = rows.iter().try_fold(Kept::default(), add).expect("there is room");
            let mut found = Vec::new();
            kept.rows(|at, cells| {
                let owned = cells.iter().map(|(column, cell)| (*column, cell.clone().into_owned()));
                found.push((at, owned.collect::<Vec<_>>()));
                Ok(true)
            })
            .unwrap();
            prop_assert_eq!(found, rows);
        }
    }
}
