//! Short ways to write a record against the long ones.

use inrush_sqlite_pages::{RecordWriter, ShortRoom, ShortValues};

/// Every length up to 100, every distance from the end of the bytes that the text lies in.
#[test]
fn a_text_within_bytes_is_that_text() {
    let bytes: Vec<u8> = (0..200).collect();
    let (mut within, mut alone) = (RecordWriter::new(3), RecordWriter::new(3));
    for at in 0..=200 {
        for length in 0..=(200 - at).min(100) {
            within.text_within(&bytes, at, length);
            within.integer(-2);
            within.text_within(&bytes, at, length);
            alone.text(&bytes[at..at + length]);
            alone.integer(-2);
            alone.text(&bytes[at..at + length]);
            assert_eq!(within.finish(), alone.finish(), "{at} {length}");
        }
    }
}

#[test]
fn many_short_texts_have_room() {
    let bytes = [b'x'; 64];
    for columns in [1, 2, 7, 100, 2000] {
        let (mut within, mut alone) = (RecordWriter::new(columns), RecordWriter::new(columns));
        for _ in 0..columns {
            within.text_within(&bytes, 0, 32);
            alone.text(&bytes[..32]);
        }
        assert_eq!(within.finish(), alone.finish());
    }
}

#[test]
fn records_go_behind_what_is_there() {
    let bytes: Vec<u8> = (0..=255).cycle().take(1000).collect();
    let (mut appended, mut alone) = (RecordWriter::new(2), RecordWriter::new(2));
    let (mut out, mut expected) = (b"before".to_vec(), b"before".to_vec());
    for length in 0..1000 {
        appended.blob(&bytes[..length]);
        appended.null();
        appended.finish_into(&mut out);
        alone.blob(&bytes[..length]);
        alone.null();
        expected.extend_from_slice(alone.finish());
        assert_eq!(out, expected, "{length}");
    }
}

/// Short values one by one, in one go, and with other values in between.
#[test]
fn short_values_are_values() {
    let line = b"some text and what follows it, which is longer than a short text";
    let (mut short, mut alone) = (RecordWriter::new(6), RecordWriter::new(6));
    for number in (0..64).flat_map(|bit| [(1_i64 << bit).wrapping_sub(1), -1 << bit, 1 << bit]) {
        short.append_short(|values| {
            values.integer(number);
            assert!(values.text_within(line, 0, 9));
            assert!(!values.text_within(line, 0, 33));
        });
        short.text(&line[..33]);
        assert!(!short.append_short(|values| values.text_within(line, 40, 4)), "too near the end");
        short.append_short(|values| {
            values.integer(number);
            values.compact_real(0.5);
            values.integer(number);
        });
        alone.integer(number);
        alone.text(&line[..9]);
        alone.text(&line[..33]);
        alone.integer(number);
        alone.real(0.5);
        alone.integer(number);
        assert_eq!(short.finish(), alone.finish(), "{number}");
    }
}

/// Records of as many short values as there is room for, those of them that end early, and what they go on with then.
#[test]
fn short_records_are_records() {
    let line = b"some text and what follows it, which is longer than a short text";
    let widths = (1..=30).flat_map(|columns| (0..=columns).map(move |texts| (columns, texts)));
    let (mut ended, mut whole) = (0, 0);
    for (columns, texts) in widths {
        let Some(room) = ShortRoom::new(columns, texts) else { continue };
        let (mut short, mut alone) = (RecordWriter::new(columns), RecordWriter::new(columns));
        let (mut out, mut expected) = (b"before".to_vec(), b"before".to_vec());
        for given in 0..=columns {
            let append = |values: &mut ShortValues<'_>| {
                for column in 0..given {
                    match column < texts {
                        true => assert!(values.text_within(line, 0, 32)),
                        false => values.integer(i64::MIN),
                    }
                }
            };
            let before = out.clone();
            if short.short_into(&mut out, room, append) {
                assert_eq!(given, columns);
                whole += 1;
            } else {
                assert_eq!(out, before);
                (given..columns).for_each(|_| short.blob(line));
                short.finish_into(&mut out);
                ended += 1;
            }
            for column in 0..columns {
                match (column < given, column < texts) {
                    (false, _) => alone.blob(line),
                    (true, true) => alone.text(&line[..32]),
                    (true, false) => alone.integer(i64::MIN),
                }
            }
            expected.extend_from_slice(alone.finish());
            assert_eq!(out, expected, "{columns} columns, {texts} texts, {given} given");
        }
    }
    assert!(whole > 300 && ended > 3000, "{whole} whole, {ended} ended");
    assert!(ShortRoom::new(126, 0).is_none() && ShortRoom::new(16, 16).is_none());
}

/// Whole numbers of up to 48 bits are integers in a column of REAL affinity, and nothing else is.
#[test]
fn whole_doubles_are_compact() {
    let mut values = vec![0.0, 0.5, 1.5, 1e15, 1e16, 1e300, 0.1, 5e-324, f64::MAX, f64::INFINITY];
    for power in 0..64 {
        let value = 2_f64.powi(power);
        for value in [value, value - 1.0, value + 1.0, value - 0.5, value + 0.5, value * 1.5] {
            values.extend([value, value.next_up(), value.next_down()]);
        }
    }
    let (mut compact, mut plain) = (RecordWriter::new(1), RecordWriter::new(1));
    for value in values.iter().flat_map(|value| [*value, -value]) {
        compact.compact_real(value);
        if value.fract() == 0.0 && (-(2_f64.powi(47))..2_f64.powi(47)).contains(&value) {
            plain.integer(value as i64);
        } else {
            plain.real(value);
        }
        let expected = plain.finish();
        assert_eq!(compact.finish(), expected, "{value}");
        compact.append_short(|values| values.compact_real(value));
        assert_eq!(compact.finish(), expected, "{value}");
    }
}
