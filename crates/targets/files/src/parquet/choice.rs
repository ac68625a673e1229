//! Which columns are worth a dictionary.

use arrow_array::cast::AsArray;
use arrow_array::{Array, RecordBatch};
use arrow_buffer::ArrowNativeType;
use arrow_schema::DataType;
use xxhash_rust::xxh3::xxh3_64;

/// Bits that values are noted in, by their hashes: several for each row of a batch.
const BITS: usize = 1 << 16;

/// For each column whether a dictionary of its values pays: when there are at least twice as many values as different ones.
pub(super) fn dictionaries(batch: &RecordBatch) -> Vec<bool> {
    let mut bits = vec![0_u64; BITS / 64];
    batch
        .columns()
        .iter()
        .map(|column| {
            bits.fill(0);
            let values = column.len() - column.null_count();
            let distinct = distinct(column.as_ref(), &mut bits);
            distinct * 2.0 <= values as f64
        })
        .collect()
}

/// About how many different values there are, by linear counting (Whang and others, 1990): how many bits are hit tells how many
/// values hit them.
fn distinct(array: &dyn Array, bits: &mut [u64]) -> f64 {
    let mut note = |hash: u64| {
        let bit = (hash >> 48) as usize % BITS;
        bits[bit / 64] |= 1 << (bit % 64);
    };
    match array.data_type() {
        DataType::Utf8 => {
            array.as_string::<i32>().iter().flatten().for_each(|v| note(xxh3_64(v.as_bytes())));
        }
        DataType::Binary => {
            array.as_binary::<i32>().iter().flatten().for_each(|v| note(xxh3_64(v)))
        }
        // Two values need none, and Parquet has none for them.
        DataType::Boolean => return 0.0,
        _ => {
            let data = array.to_data();
            let Some(buffer) = data.buffers().first() else { return 0.0 };
            match array.data_type().primitive_width() {
                Some(4) => {
                    each(buffer.typed_data::<u32>(), array, |value| note(mixed(u64::from(value))))
                }
                Some(8) => each(buffer.typed_data::<u64>(), array, |value| note(mixed(value))),
                Some(width) => {
                    let rows = array.offset()..array.offset() + array.len();
                    for row in rows.filter(|row| array.is_valid(row - array.offset())) {
                        note(xxh3_64(&buffer[row * width..(row + 1) * width]));
                    }
                }
                None => {}
            }
        }
    }
    let hit = bits.iter().map(|word| word.count_ones()).sum::<u32>() as usize;
    let free = (BITS - hit).max(1) as f64;
    BITS as f64 * (BITS as f64 / free).ln()
}

fn each<T: ArrowNativeType>(values: &[T], array: &dyn Array, mut note: impl FnMut(T)) {
    let values = &values[array.offset()..array.offset() + array.len()];
    match array.nulls() {
        None => values.iter().for_each(|value| note(*value)),
        Some(nulls) => nulls.valid_indices().for_each(|row| note(values[row])),
    }
}

/// The high bits depend on all bits: a multiplication by 2^64 over the golden ratio does that for numbers in sequence, and folding
/// before it brings the high ones of doubles in.
#[inline]
fn mixed(value: u64) -> u64 {
    (value ^ (value >> 32)).wrapping_mul(0x9e37_79b9_7f4a_7c15)
}

#[cfg(test)]
mod tests {
    use std::sync::Arc;

    use super::*;
    use arrow_array::{
        ArrayRef, BooleanArray, Decimal128Array, Float64Array, Int8Array, Int64Array, StringArray,
    };

    #[test]
    fn a_dictionary_is_for_values_that_come_again() {
        const ROWS: i64 = 8_192;
        let batch = |columns: Vec<ArrayRef>| {
            let names = (0..columns.len()).map(|at| format!("c{at}"));
            RecordBatch::try_from_iter(names.zip(columns)).unwrap()
        };
        let numbers = |modulus: i64| (0..ROWS).map(move |n| n % modulus);
        let columns = |modulus: i64| -> Vec<ArrayRef> {
            vec![
                Arc::new(Int64Array::from_iter_values(numbers(modulus))),
                Arc::new(Float64Array::from_iter_values(numbers(modulus).map(|n| n as f64 / 7.0))),
                Arc::new(Decimal128Array::from_iter_values(numbers(modulus).map(i128::from))),
                Arc::new(StringArray::from_iter_values(numbers(modulus).map(|n| n.to_string()))),
                // NULL is no value.
                Arc::new(Int64Array::from_iter(
                    (0..ROWS).map(|n| (n % 4 == 0).then_some(n / 4 % (modulus / 4))),
                )),
            ]
        };
        assert_eq!(dictionaries(&batch(columns(ROWS))), [false; 5]);
        assert_eq!(dictionaries(&batch(columns(ROWS * 3 / 4))), [false; 5]);
        assert_eq!(dictionaries(&batch(columns(ROWS / 4))), [true; 5]);
        let few: Vec<ArrayRef> = vec![
            Arc::new(BooleanArray::from(vec![true, false])),
            Arc::new(Int8Array::from(vec![None, None])),
        ];
        assert_eq!(dictionaries(&batch(few)), [true; 2]);
    }
}
