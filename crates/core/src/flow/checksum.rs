//! An order-independent sum over every column, taken where values are encoded and again where they are stored.

use serde::{Deserialize, Serialize};
use xxhash_rust::xxh3::xxh3_64_with_seed;

use crate::flow::{Cell, Chunk, Wire};

/// One number a column: the wrapping sum of a hash of each value with its kind. Adding rows adds sums, so the sums of
/// a table before and after a load differ by exactly the sums of the loaded rows, whatever their order.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Checksum(Vec<u64>);

/// A stored value, as both sides see it.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Stored<'a> {
    /// NULL.
    Null,
    /// An integer.
    Integer(i64),
    /// A double. One that is a whole number counts as that integer: engines store `2.0` either way.
    Real(f64),
    /// Text.
    Text(&'a [u8]),
    /// Bytes.
    Bytes(&'a [u8]),
}

impl Checksum {
    /// Sums of no rows.
    pub fn new(columns: usize) -> Self {
        Self(vec![0; columns])
    }

    /// Adds one value of `column`.
    pub fn add(&mut self, column: usize, value: Stored<'_>) {
        self.0[column] = self.0[column].wrapping_add(hash(value));
    }

    /// Adds the values of one row.
    pub fn add_row(&mut self, cells: &[Cell], chunk: &Chunk, wire: &Wire) {
        let bytes = |home, span| wire.value(chunk, home, span);
        for (column, cell) in cells.iter().enumerate() {
            let stored = match *cell {
                Cell::Null => Stored::Null,
                Cell::Integer(number) => Stored::Integer(number),
                Cell::Real(number) => Stored::Real(number),
                Cell::Text(home, span) => Stored::Text(bytes(home, span)),
                Cell::Bytes(home, span) => Stored::Bytes(bytes(home, span)),
            };
            self.add(column, stored);
        }
    }

    /// Adds another's rows.
    pub fn merge(&mut self, other: &Checksum) {
        for (sum, more) in self.0.iter_mut().zip(&other.0) {
            *sum = sum.wrapping_add(*more);
        }
    }

    /// Takes one value of `column` away again.
    pub fn remove(&mut self, column: usize, value: Stored<'_>) {
        self.0[column] = self.0[column].wrapping_sub(hash(value));
    }

    /// The sums of the rows that came after `before` was taken.
    #[must_use]
    pub fn since(&self, before: &Checksum) -> Checksum {
        Checksum(self.0.iter().zip(&before.0).map(|(now, then)| now.wrapping_sub(*then)).collect())
    }

    /// The first column whose sum differs.
    pub fn first_difference(&self, other: &Checksum) -> Option<usize> {
        self.0.iter().zip(&other.0).position(|(a, b)| a != b)
    }
}

fn hash(value: Stored<'_>) -> u64 {
    match value {
        Stored::Null => 0x9e37_79b9_7f4a_7c15,
        Stored::Integer(number) => xxh3_64_with_seed(&number.to_le_bytes(), 1),
        Stored::Real(number) => {
            // 2^63 itself doesn't fit; every double below it that is whole does.
            const LIMIT: f64 = (1u64 << 63) as f64;
            if number.trunc() == number && (-LIMIT..LIMIT).contains(&number) {
                hash(Stored::Integer(number as i64))
            } else {
                xxh3_64_with_seed(&number.to_le_bytes(), 2)
            }
        }
        Stored::Text(bytes) => xxh3_64_with_seed(bytes, 3),
        Stored::Bytes(bytes) => xxh3_64_with_seed(bytes, 4),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn order_does_not_matter_and_every_value_does() {
        let mut forth = Checksum::new(1);
        let mut back = Checksum::new(1);
        let values = [
            Stored::Null,
            Stored::Integer(7),
            Stored::Real(0.5),
            Stored::Text(b"7"),
            Stored::Bytes(b"7"),
        ];
        values.iter().for_each(|value| forth.add(0, *value));
        values.iter().rev().for_each(|value| back.add(0, *value));
        assert_eq!(forth, back);
        for value in values {
            let mut less = forth.clone();
            less.remove(0, value);
            assert_ne!(less, forth);
        }
    }

    #[test]
    fn two_rows_swapped_for_each_other_show_in_no_sum_but_a_changed_kind_does() {
        let mut number = Checksum::new(1);
        number.add(0, Stored::Integer(1));
        let mut text = Checksum::new(1);
        text.add(0, Stored::Text(b"1"));
        assert_eq!(number.first_difference(&text), Some(0));
        let mut real = Checksum::new(1);
        real.add(0, Stored::Real(1.0));
        assert_eq!(number, real);
    }
}
