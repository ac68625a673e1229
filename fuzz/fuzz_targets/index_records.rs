//! Records of an index: any bytes can be read, compared and projected, and what is written from
//! values reads back as the same values.

#![no_main]

use inrush_sqlite_pages::order::{compare, first_null, prefix, same_key};
use inrush_sqlite_pages::{ProjectedColumn, Projection, RecordReader, RecordWriter, Value};
use libfuzzer_sys::fuzz_target;

fuzz_target!(|input: &[u8]| {
    // Where to cut the rest in two, and which columns to take.
    let [cut, column, rest @ ..] = input else { return };
    let (a, b) = rest.split_at(usize::from(*cut).min(rest.len()));
    any_bytes(a, b, usize::from(*column));
    written(rest);
});

fn any_bytes(a: &[u8], b: &[u8], column: usize) {
    let order = compare(a, b);
    assert_eq!(order, compare(b, a).reverse());
    assert!(prefix(a) >= prefix(b) || order.is_lt());
    assert!(prefix(b) >= prefix(a) || order.is_gt());
    let fields = RecordReader::new(a).count();
    assert_eq!(same_key(a, a, fields), first_null(a, fields).is_none());
    assert!(!same_key(a, b, fields + 1));

    let columns = [ProjectedColumn::Column(column), ProjectedColumn::Rowid];
    let mut out = Vec::new();
    Projection::new(&columns).write(a, column as i64, &mut out);
    let projected: Vec<_> = RecordReader::new(&out).collect();
    assert_eq!(projected.len(), 2);
    assert_eq!(projected[1].value(), Value::Integer(column as i64));
    match RecordReader::new(a).nth(column) {
        Some(field) => assert_eq!(projected[0], field),
        None => assert_eq!(projected[0].value(), Value::Null),
    }
}

/// The bytes as values: a kind, then what it takes.
fn values(bytes: &[u8]) -> Vec<Value<'_>> {
    let mut values = Vec::new();
    let mut rest = bytes;
    while let [kind, more @ ..] = rest {
        let length = usize::from(kind / 8).min(more.len());
        let (bytes, after) = more.split_at(length);
        let mut number = [0; 8];
        let digits = length.min(8);
        number[..digits].copy_from_slice(&bytes[..digits]);
        let number = i64::from_be_bytes(number) >> (kind / 4 % 64);
        values.push(match kind % 5 {
            0 => Value::Null,
            1 => Value::Integer(number),
            2 => Value::Real(
                Some(f64::from_bits(number as u64)).filter(|real| !real.is_nan()).unwrap_or(0.5),
            ),
            3 => Value::Text(bytes),
            _ => Value::Blob(bytes),
        });
        rest = after;
    }
    values
}

fn written(bytes: &[u8]) {
    let values = values(bytes);
    let mut record = RecordWriter::new(values.len());
    values.iter().for_each(|value| record.push(*value));
    let record = record.finish();
    let read: Vec<Value<'_>> = RecordReader::new(record).map(|field| field.value()).collect();
    assert_eq!(read, values);
    let columns: Vec<_> = (0..values.len()).map(ProjectedColumn::Column).collect();
    let mut copy = Vec::new();
    Projection::new(&columns).write(record, 0, &mut copy);
    assert_eq!(copy, record);
    assert!(compare(record, &copy).is_eq());
}
