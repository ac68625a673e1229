//! Values as InnoDB stores them, of the types that the load's own tables have.
//!
//! Sources: the prototype's measurements, and <https://dev.mysql.com/doc/dev/mysql-server/latest/> for DECIMAL (`decimal2bin`) and DATETIME
//! (`my_datetime_packed_to_binary`). Integers are big-endian with the sign bit flipped, so that bytes compare as numbers do.

use inrush_innodb_pages::Column;

/// How the values of a column are stored.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Form {
    /// BIGINT, TINYINT: so many bytes.
    Integer { bytes: u8 },
    /// DOUBLE, little-endian as it is in memory.
    Double,
    /// DECIMAL of so many digits, `scale` of them behind the point.
    Decimal { precision: u8, scale: u8 },
    /// DATE, three bytes.
    Date,
    /// DATETIME, five bytes and those of so many digits of a second's fraction.
    Moment { digits: u8 },
    /// VARCHAR, VARBINARY of so many bytes.
    Short { bytes_max: u32, pads: bool },
    /// LONGTEXT, LONGBLOB.
    Long,
}

/// Bytes that the digits of an incomplete group take (`dig2bytes`).
const GROUP_BYTES: [u8; 10] = [0, 1, 1, 2, 2, 3, 3, 4, 4, 4];

/// Digits in a group of four bytes.
const GROUP_DIGITS: usize = 9;

impl Form {
    /// That of a type as the load's own tables have it; `None` for all others.
    pub(super) fn of(declared: &str) -> Option<Self> {
        let numbers = |name: &str| {
            let inner = declared.strip_prefix(name)?.strip_prefix('(')?.split(')').next()?;
            let mut numbers = inner.split(',').map(|number| number.parse::<u8>().ok());
            Some((numbers.next()??, numbers.next().flatten().unwrap_or(0)))
        };
        let name = declared.split([' ', '(']).next()?;
        Some(match name {
            "bigint" => Self::Integer { bytes: 8 },
            "tinyint" => Self::Integer { bytes: 1 },
            "double" => Self::Double,
            "decimal" => {
                let (precision, scale) = numbers("decimal")?;
                Self::Decimal { precision, scale }
            }
            "date" => Self::Date,
            "datetime" => {
                Self::Moment { digits: numbers("datetime").map_or(0, |(digits, _)| digits) }
            }
            // Four bytes are the most that a character of utf8mb4 takes.
            "varchar" => {
                Self::Short { bytes_max: u32::from(numbers("varchar")?.0) * 4, pads: true }
            }
            "varbinary" => {
                Self::Short { bytes_max: u32::from(numbers("varbinary")?.0), pads: false }
            }
            "longtext" | "longblob" => Self::Long,
            _ => return None,
        })
    }

    /// Whether its values can be compared in a key byte by byte.
    pub(super) fn orders(self) -> bool {
        !matches!(self, Self::Double | Self::Long)
    }

    /// The column.
    pub(super) fn column(self) -> Column {
        match self {
            Self::Integer { bytes } => Column::fixed(bytes.into()),
            Self::Double => Column::fixed(8),
            Self::Decimal { precision, scale } => Column::fixed(decimal_bytes(precision, scale)),
            Self::Date => Column::fixed(3),
            Self::Moment { digits } => Column::fixed(5 + u16::from(digits.div_ceil(2))),
            Self::Short { bytes_max, pads: false } => Column::variable(bytes_max),
            // utf8mb4_bin compares by code points, as UTF-8 does by bytes, and as if spaces followed.
            Self::Short { bytes_max, pads: true } => Column::variable(bytes_max).padded(),
            Self::Long => Column::blob(u32::MAX),
        }
    }

    /// Appends a value that the server would show so; `None` where it is written otherwise than is known here.
    #[inline]
    pub(super) fn put(self, value: &[u8], out: &mut Vec<u8>) -> Option<()> {
        match self {
            Self::Integer { bytes } => {
                let number: i64 = match inrush_scan::plain_integer(value) {
                    Some(number) => number,
                    None => std::str::from_utf8(value).ok()?.parse().ok()?,
                };
                let bits = u32::from(bytes) * 8;
                let fits =
                    bits == 64 || (-(1_i64 << (bits - 1))..1 << (bits - 1)).contains(&number);
                if !fits {
                    out.resize(out.len() + usize::from(bytes), 0);
                    return None;
                }
                let flipped = number.cast_unsigned() ^ (1 << (bits - 1));
                out.extend_from_slice(&flipped.to_be_bytes()[8 - usize::from(bytes)..]);
            }
            Self::Double => {
                let number: f64 = match inrush_scan::plain_decimal(value) {
                    Some(number) => number,
                    None => std::str::from_utf8(value).ok()?.parse().ok()?,
                };
                out.extend_from_slice(&number.to_le_bytes());
            }
            Self::Decimal { precision, scale } => put_decimal(value, precision, scale, out)?,
            Self::Date => out.extend_from_slice(&date(value)?.to_be_bytes()[1..]),
            Self::Moment { digits } => put_moment(value, digits, out)?,
            Self::Short { bytes_max, .. } => {
                if value.len() > bytes_max as usize {
                    return None;
                }
                out.extend_from_slice(value);
            }
            Self::Long => out.extend_from_slice(value),
        }
        Some(())
    }
}

/// Bytes of a DECIMAL.
fn decimal_bytes(precision: u8, scale: u8) -> u16 {
    let bytes = |digits: u8| {
        let (groups, rest) = (digits / 9, digits % 9);
        u16::from(groups) * 4 + u16::from(GROUP_BYTES[usize::from(rest)])
    };
    bytes(precision - scale) + bytes(scale)
}

/// Groups of nine digits from the point outwards, each a big-endian number; the sign is in the first bit, which is flipped, and of negative
/// numbers all bits are.
fn put_decimal(value: &[u8], precision: u8, scale: u8, out: &mut Vec<u8>) -> Option<()> {
    let (negative, digits) = match value {
        [b'-', digits @ ..] => (true, digits),
        [b'+', digits @ ..] => (false, digits),
        digits => (false, digits),
    };
    let point = memchr::memchr(b'.', digits);
    let (whole, fraction) = match point {
        Some(point) => (&digits[..point], &digits[point + 1..]),
        None => (digits, &[][..]),
    };
    let zeros = whole.iter().take_while(|digit| **digit == b'0').count();
    let whole = &whole[zeros..];
    let fraction = fraction.trim_ascii_end();
    let kept = fraction.len() - fraction.iter().rev().take_while(|digit| **digit == b'0').count();
    let fraction = &fraction[..kept];
    let are_digits = whole.iter().chain(fraction).all(u8::is_ascii_digit);
    let (whole_max, scale) = (usize::from(precision - scale), usize::from(scale));
    if digits.is_empty() || !are_digits || whole.len() > whole_max || fraction.len() > scale {
        return None;
    }
    let start = out.len();
    // Digit `at` of the number as it is stored, zeros in front and behind included.
    let digit = |at: usize| {
        let stored = match at.checked_sub(whole_max) {
            None => (at + whole.len()).checked_sub(whole_max).map(|at| whole[at]),
            Some(at) => fraction.get(at).copied(),
        };
        u32::from(stored.unwrap_or(b'0') - b'0')
    };
    let mut group = |from: usize, digits: usize| {
        let number = (from..from + digits).fold(0, |number, at| number * 10 + digit(at));
        let bytes = usize::from(GROUP_BYTES[digits]);
        out.extend_from_slice(&number.to_be_bytes()[4 - bytes..]);
    };
    let first = whole_max % GROUP_DIGITS;
    if first > 0 {
        group(0, first);
    }
    (first..whole_max).step_by(GROUP_DIGITS).for_each(|from| group(from, GROUP_DIGITS));
    let last = scale % GROUP_DIGITS;
    let end = whole_max + scale - last;
    (whole_max..end).step_by(GROUP_DIGITS).for_each(|from| group(from, GROUP_DIGITS));
    if last > 0 {
        group(end, last);
    }
    // A zero has no sign.
    if negative && !(whole.is_empty() && fraction.is_empty()) {
        out[start..].iter_mut().for_each(|byte| *byte = !*byte);
    }
    out[start] ^= 0x80;
    Some(())
}

/// Two or four digits.
fn number(digits: &[u8]) -> Option<u32> {
    let are_digits = digits.iter().all(u8::is_ascii_digit);
    are_digits.then(|| digits.iter().fold(0, |all, digit| all * 10 + u32::from(digit - b'0')))
}

/// `YYYY-MM-DD`, zeros included, which a server may allow: year, month and day.
fn day(text: &[u8]) -> Option<[u32; 3]> {
    match text {
        [year @ .., b'-', a, b, b'-', c, d] if year.len() == 4 => {
            Some([number(year)?, number(&[*a, *b])?, number(&[*c, *d])?])
        }
        _ => None,
    }
}

/// A day as three bytes below the highest of four, the sign bit flipped.
fn date(value: &[u8]) -> Option<u32> {
    let [year, month, day] = day(value)?;
    Some((year << 9 | month << 5 | day) ^ 0x80_0000)
}

/// `YYYY-MM-DD hh:mm:ss`, perhaps with a fraction.
fn put_moment(value: &[u8], digits: u8, out: &mut Vec<u8>) -> Option<()> {
    let (date, time) = value.split_at_checked(10)?;
    let [year, month, day] = day(date)?.map(u64::from);
    let (hour, minute, second, fraction) = match time {
        [b' ' | b'T', a, b, b':', c, d, b':', e, f, fraction @ ..] => {
            (number(&[*a, *b])?, number(&[*c, *d])?, number(&[*e, *f])?, fraction)
        }
        _ => return None,
    };
    let fraction = match fraction {
        [] => 0,
        [b'.', shown @ ..] if (1..=6).contains(&shown.len()) => {
            number(shown)? * 10_u32.pow(6 - shown.len() as u32)
        }
        _ => return None,
    };
    let clock = u64::from(hour << 12 | minute << 6 | second);
    let packed = ((year * 13 + month) << 5 | day) << 17 | clock;
    out.extend_from_slice(&(packed + 0x80_0000_0000).to_be_bytes()[3..]);
    // Of an odd number of digits one more is kept, which is zero.
    let bytes = digits.div_ceil(2);
    let unit = 100_u32.pow(3 - u32::from(bytes));
    if !fraction.is_multiple_of(10_u32.pow(6 - u32::from(digits))) {
        return None;
    }
    out.extend_from_slice(&(fraction / unit).to_be_bytes()[4 - usize::from(bytes)..]);
    Some(())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn stored(declared: &str, value: &str) -> Option<String> {
        let form = Form::of(declared).unwrap();
        let mut out = Vec::new();
        form.put(value.as_bytes(), &mut out)?;
        Some(out.iter().map(|byte| format!("{byte:02x}")).collect())
    }

    /// DECIMAL(14,4) is the example of the servers' own sources. Whether the servers read all of them so is tested on these.
    #[test]
    fn values_are_stored_as_the_server_stores_them() {
        for (declared, value, wanted) in [
            ("bigint", "1", Some("8000000000000001")),
            ("bigint", "-1", Some("7fffffffffffffff")),
            ("bigint", "-9223372036854775808", Some("0000000000000000")),
            ("bigint", "9223372036854775808", None),
            ("tinyint(1)", "1", Some("81")),
            ("double", "1.5", Some("000000000000f83f")),
            ("decimal(14,4)", "1234567890.1234", Some("810dfb38d204d2")),
            ("decimal(14,4)", "-1234567890.1234", Some("7ef204c72dfb2d")),
            ("decimal(14,4)", "0", Some("80000000000000")),
            ("decimal(14,4)", "-0.0000", Some("80000000000000")),
            ("decimal(5,2)", "7.5", Some("800732")),
            ("decimal(5,2)", "1000", None),
            ("decimal(5,2)", "1.234", None),
            ("date", "2024-02-29", Some("8fd05d")),
            ("datetime(6)", "2024-02-29 12:34:56.789", Some("99b2bac8b80c0a08")),
            ("datetime", "2024-02-29 12:34:56", Some("99b2bac8b8")),
            ("datetime", "2024-02-29 12:34:56.5", None),
            ("varchar(191)", "a", Some("61")),
        ] {
            assert_eq!(stored(declared, value).as_deref(), wanted, "{declared} {value}");
        }
        assert_eq!(Form::of("int"), None);
    }
}
