//! Keys whose values come in no order: every row lands on another page of the index.

/// The least number of values that says anything.
const VALUES_MIN: usize = 8;

/// Whether nearly all of these keys are UUIDs that don't ascend: each but versions 6 and 7, whose first bits are the time
/// (<https://www.rfc-editor.org/rfc/rfc9562>). Each is text of 36 or 32 digits, or 16 bytes.
pub fn are_random<'v>(values: impl IntoIterator<Item = &'v [u8]>) -> bool {
    let (mut all, mut random) = (0, 0);
    for value in values {
        all += 1;
        random += usize::from(is_random(value));
    }
    all >= VALUES_MIN && random * 10 >= all * 9
}

/// Whether it is a UUID of one of the other versions.
fn is_random(value: &[u8]) -> bool {
    /// The variant's bits are 10 in front.
    const VARIANT: std::ops::RangeInclusive<u8> = 8..=11;
    let (version, variant) = match value.len() {
        16 => (value[6] >> 4, value[8] >> 4),
        32 | 36 => {
            let mut digits = [0; 32];
            let mut count = 0;
            for (at, &byte) in value.iter().enumerate() {
                match (char::from(byte).to_digit(16), at) {
                    (Some(digit), _) if count < digits.len() => {
                        digits[count] = digit as u8;
                        count += 1;
                    }
                    (None, 8 | 13 | 18 | 23) if byte == b'-' && value.len() == 36 => {}
                    _ => return false,
                }
            }
            if count != digits.len() {
                return false;
            }
            (digits[12], digits[16])
        }
        _ => return false,
    };
    VARIANT.contains(&variant) && (1..=8).contains(&version) && !matches!(version, 6 | 7)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn random_uuids_are_known_by_their_version() {
        let v4: &[u8] = b"f47ac10b-58cc-4372-a567-0e02b2c3d479";
        assert!(are_random([v4; 8]));
        assert!(!are_random([v4; 7]), "too few");
        assert!(are_random([&v4.to_ascii_uppercase()[..]; 8]));
        assert!(are_random([&b"f47ac10b58cc4372a5670e02b2c3d479"[..]; 8]));
        let bytes: &[u8] = &[
            0xf4, 0x7a, 0xc1, 0x0b, 0x58, 0xcc, 0x43, 0x72, 0xa5, 0x67, 0x0e, 0x02, 0xb2, 0xc3,
            0xd4, 0x79,
        ];
        assert!(are_random([bytes; 8]));
        let v7: &[u8] = b"017f22e2-79b0-7cc3-98c4-dc0c0c07398f";
        assert!(!are_random([v7; 8]));
        assert!(!are_random([v4, v4, v4, v4, v4, v4, v4, b"other"]));
        assert!(!are_random([&b"0000000000000017"[..]; 8]), "sixteen digits");
        assert!(!are_random(std::iter::empty()));
    }
}
