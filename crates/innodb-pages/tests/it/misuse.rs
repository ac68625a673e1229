use inrush_innodb_pages::{Checksum, Column, Encoder, Layout, LayoutError, PushError, records};

use crate::rows::{push_error, write};
use crate::templates;

fn layout(columns: Vec<Column>, key: usize) -> Result<Layout, LayoutError> {
    Layout::new(columns, key)
}

#[test]
fn tables_that_can_t_be() {
    let int = Column::fixed(4);
    for (columns, key, expected) in [
        (vec![], 0, LayoutError::Columns(0)),
        (vec![int; 1018], 1, LayoutError::Columns(1018)),
        (vec![int], 2, LayoutError::KeyColumns(2)),
        (vec![int; 17], 17, LayoutError::KeyColumns(17)),
        (vec![int, int.nullable()], 2, LayoutError::NullableKey(1)),
        (vec![Column::blob(65_535)], 1, LayoutError::BlobKey(0)),
        (vec![Column::fixed(768), Column::variable(2305)], 2, LayoutError::KeyBytes(3073)),
        (vec![int, Column::fixed(0)], 1, LayoutError::FixedBytes(1)),
        (vec![int, Column::fixed(769)], 1, LayoutError::FixedBytes(1)),
    ] {
        assert_eq!(layout(columns, key).unwrap_err(), expected);
    }
}

#[test]
#[should_panic(expected = "a value of a fixed length has it")]
fn a_value_of_another_length() {
    let layout = layout(vec![Column::fixed(4)], 1).unwrap();
    Encoder::new(&layout).row(&mut Vec::new()).field(b"123");
}

#[test]
#[should_panic(expected = "a value fits its column")]
fn a_value_that_is_too_long() {
    let layout = layout(vec![Column::variable(4)], 1).unwrap();
    Encoder::new(&layout).row(&mut Vec::new()).field(b"12345");
}

#[test]
#[should_panic(expected = "a column that is NULL may be so")]
fn null_where_it_can_t_be() {
    let layout = layout(vec![Column::fixed(4)], 0).unwrap();
    Encoder::new(&layout).row(&mut Vec::new()).null();
}

#[test]
#[should_panic(expected = "a row has a value for each column")]
fn a_value_is_missing() {
    let layout = layout(vec![Column::fixed(4); 2], 1).unwrap();
    let _ = Encoder::new(&layout).encode(&[Some(b"1234")], &mut Vec::new());
}

#[test]
fn a_row_that_is_left_unfinished_leaves_nothing() {
    let layout = layout(vec![Column::fixed(1), Column::variable(9)], 1).unwrap();
    let (mut encoder, mut wire) = (Encoder::new(&layout), Vec::new());
    encoder.encode(&[Some(b"1"), Some(b"one")], &mut wire).unwrap();
    let one = wire.clone();
    encoder.row(&mut wire).field(b"2");
    assert_eq!(wire, one);
    encoder.encode(&[Some(b"1"), Some(b"one")], &mut wire).unwrap();
    assert_eq!(records(&wire).collect::<Vec<_>>(), [&one[..], &one[..]]);
}

#[test]
fn keys_that_don_t_ascend_are_refused_and_nothing_is_lost() {
    let template = templates::one(Checksum::Full);
    let layout = layout(vec![Column::fixed(1)], 1).unwrap();
    let row = |key: u8| vec![Some(vec![key])];
    assert_eq!(push_error(&template, &layout, &[row(1), row(1)]), Some(PushError::KeyRepeats));
    assert_eq!(push_error(&template, &layout, &[row(2), row(1)]), Some(PushError::KeyDescends));
    let (mut encoder, mut wire) = (Encoder::new(&layout), Vec::new());
    for key in [3_u8, 1, 3, 2, 5] {
        encoder.encode(&[Some(&[key])], &mut wire).unwrap();
    }
    let mut file = Vec::new();
    let mut tablespace = inrush_innodb_pages::Tablespace::new(&template, &layout, &mut file);
    let taken: Vec<bool> = records(&wire).map(|record| tablespace.push(record).is_ok()).collect();
    assert_eq!(taken, [true, false, false, false, true]);
    assert_eq!(tablespace.finish().unwrap().rows, 2);
    assert_eq!(file, write(&template, &layout, &[row(3), row(5)]).0);
}

#[test]
fn a_sink_that_fails_ends_it() {
    struct Full;
    impl inrush_innodb_pages::Sink for Full {
        type Error = &'static str;
        fn pages(&mut self, _: u32, _: &mut Vec<u8>) -> Result<(), &'static str> {
            Err("no space")
        }
    }
    let layout = layout(vec![Column::fixed(1)], 1).unwrap();
    let template = templates::one(Checksum::Crc32);
    let tablespace = inrush_innodb_pages::Tablespace::new(&template, &layout, Full);
    assert_eq!(tablespace.finish(), Err(PushError::Sink("no space")));
}
