use std::cmp::Ordering;

use inrush_innodb_pages::{Column, Encoder, Layout};

/// Keys that ascend.
fn ascend(columns: Vec<Column>, keys: &[&[&[u8]]]) {
    let layout = Layout::new(columns.clone(), columns.len()).unwrap();
    let mut encoder = Encoder::new(&layout);
    let mut record = |key: &[&[u8]]| {
        let fields: Vec<_> = key.iter().map(|field| Some(*field)).collect();
        let mut wire = Vec::new();
        encoder.encode(&fields, &mut wire).unwrap();
        wire
    };
    let records: Vec<_> = keys.iter().map(|key| record(key)).collect();
    for (i, a) in records.iter().enumerate() {
        for (j, b) in records.iter().enumerate() {
            assert_eq!(layout.compare(a, b), i.cmp(&j), "{:?} and {:?}", keys[i], keys[j]);
            assert!(i > j || layout.prefix(a) <= layout.prefix(b));
        }
    }
}

#[test]
fn numbers_go_by_their_bytes() {
    let int = Column::fixed(4);
    ascend(vec![int], &[&[b"\0\0\0\0"], &[b"\x7f\xff\xff\xff"], &[b"\x80\0\0\0"]]);
    ascend(
        vec![int, Column::fixed(8)],
        &[&[b"\x80\0\0\0", &[0; 8]], &[b"\x80\0\0\0", &[1; 8]], &[b"\x80\0\0\x01", &[0; 8]]],
    );
}

#[test]
fn binary_strings_go_by_their_bytes_and_then_their_length() {
    let keys: &[&[&[u8]]] = &[
        &[b"", b"b"],
        &[b"\0", b""],
        &[b"a", b"z"],
        &[b"a\0", b""],
        &[b"a ", b""],
        &[b"aaaaaaaab", b""],
        &[b"aaaaaaaac", b""],
        &[b"b", b""],
    ];
    ascend(vec![Column::variable(10), Column::variable(300)], keys);
}

#[test]
fn padded_strings_go_as_if_spaces_followed() {
    let column = Column::variable(300).padded();
    ascend(vec![column], &[&[b"\t"], &[b""], &[b"a\t"], &[b"a"], &[b"a!"], &[b"aa"]]);
    let layout = Layout::new(vec![column], 1).unwrap();
    let mut encoder = Encoder::new(&layout);
    let [mut a, mut b] = [Vec::new(), Vec::new()];
    encoder.encode(&[Some(b"a")], &mut a).unwrap();
    encoder.encode(&[Some(b"a   ")], &mut b).unwrap();
    assert_eq!((layout.compare(&a, &b), layout.prefix(&a)), (Ordering::Equal, layout.prefix(&b)));
}

#[test]
fn rows_without_a_key_have_no_order() {
    let layout = Layout::new(vec![Column::fixed(1)], 0).unwrap();
    let mut encoder = Encoder::new(&layout);
    let [mut a, mut b] = [Vec::new(), Vec::new()];
    encoder.encode(&[Some(b"a")], &mut a).unwrap();
    encoder.encode(&[Some(b"b")], &mut b).unwrap();
    assert_eq!((layout.compare(&a, &b), layout.prefix(&b)), (Ordering::Equal, 0));
}
