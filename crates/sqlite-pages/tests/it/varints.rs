use inrush_sqlite_pages::varint;
use proptest::prelude::*;

/// The same from the description: 7 bits at a time, and 8 in the ninth byte.
fn model(value: u64) -> Vec<u8> {
    if value >= 1 << 56 {
        let mut bytes: Vec<u8> =
            (0..8).map(|i| (value >> (57 - 7 * i)) as u8 & 0x7f | 0x80).collect();
        bytes.push(value as u8);
        return bytes;
    }
    let mut bytes = vec![value as u8 & 0x7f];
    let mut rest = value >> 7;
    while rest > 0 {
        bytes.insert(0, rest as u8 & 0x7f | 0x80);
        rest >>= 7;
    }
    bytes
}

fn check(value: u64) {
    let expected = model(value);
    let mut bytes = [0xaa; 12];
    let length = varint::write(&mut bytes, value);
    assert_eq!(&bytes[..length], expected, "{value}");
    assert_eq!(bytes[length..], [0xaa; 12][length..], "{value} is written past its end");
    assert_eq!(varint::length(value), length, "{value}");
    assert_eq!(varint::read(&bytes), Some((value, length)));
    assert_eq!(varint::read(&bytes[..length]), Some((value, length)));
    assert_eq!(varint::read(&bytes[..length - 1]), None);
}

#[test]
fn borders() {
    for bits in 0..64 {
        let power = 1_u64 << bits;
        [power - 1, power, power + 1, !power].into_iter().for_each(check);
    }
    [u64::MAX, i64::MIN as u64, i64::MAX as u64, -1_i64 as u64].into_iter().for_each(check);
}

proptest! {
    #![proptest_config(ProptestConfig {
        cases: 4000,
        failure_persistence: None,
        ..Default::default()
    })]

    #[test]
    fn any_value(value in any::<u64>(), shift in 0_u32..64) {
        check(value >> shift);
    }
}
