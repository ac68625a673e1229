//! Values as InnoDB stores them, by the type that the server spells.
//!
//! Sources: the prototype's measurements, and <https://dev.mysql.com/doc/dev/mysql-server/latest/> for DECIMAL (`decimal2bin`), DATETIME,
//! TIMESTAMP and TIME (`my_datetime_packed_to_binary` and its neighbours). Integers are big-endian with the sign bit flipped, so that
//! bytes compare as numbers do.

use std::collections::HashMap;
use std::sync::Arc;

use encoding_rs::WINDOWS_1252;
use inrush_innodb_pages::Column;

use crate::types::Declared;

/// How the values of a column are stored.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum Form {
    /// TINYINT to BIGINT, BIT: so many bytes.
    Integer {
        bytes: u8,
        is_signed: bool,
    },
    /// FLOAT, DOUBLE, little-endian as they are in memory.
    Single,
    Double,
    /// DECIMAL of so many digits, `scale` of them behind the point.
    Decimal {
        precision: u8,
        scale: u8,
    },
    /// DATE, three bytes.
    Date,
    /// DATETIME, five bytes and those of so many digits of a second's fraction.
    Moment {
        digits: u8,
    },
    /// TIMESTAMP, seconds since 1970 in UTC in four bytes, and those of the fraction.
    Epoch {
        digits: u8,
    },
    /// TIME, three bytes and those of the fraction.
    Time {
        digits: u8,
    },
    /// YEAR, a byte from 1900 on.
    Year,
    /// ENUM: the number of the member in so many bytes.
    Enum {
        members: Members,
        bytes: u8,
    },
    /// SET: a bit for each member, the first one's the lowest, in so many bytes.
    Set {
        members: Members,
        bytes: u8,
    },
    /// VARBINARY and VARCHAR of so many bytes.
    Short {
        bytes_max: u32,
        charset: Charset,
    },
    /// CHAR: spaces behind it up to so many bytes. Where characters have different lengths it may take more.
    Padded {
        bytes: u16,
        charset: Charset,
    },
    /// BINARY of so many bytes.
    Fixed {
        bytes: u16,
    },
    /// TINYTEXT to LONGTEXT, TINYBLOB to LONGBLOB.
    Long {
        bytes_max: u32,
        charset: Charset,
    },
}

/// The members of an ENUM or a SET by their texts, from 0.
type Members = Arc<HashMap<Box<[u8]>, u16>>;

/// The bytes of a text.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Charset {
    /// No text.
    Binary,
    /// Those of UTF-8: utf8mb4, utf8mb3, ascii, so many a character at most.
    Utf8 { most: u8 },
    /// Those of Windows-1252.
    Latin1,
}

impl Charset {
    fn of(declared: &Declared<'_>) -> Option<Self> {
        Some(match declared.charset.as_deref() {
            None | Some("utf8mb4") => Self::Utf8 { most: 4 },
            Some("utf8" | "utf8mb3") => Self::Utf8 { most: 3 },
            Some("ascii") => Self::Utf8 { most: 1 },
            Some("latin1") => Self::Latin1,
            Some("binary") => Self::Binary,
            Some(_) => return None,
        })
    }

    /// Bytes of a character at most.
    fn most(self) -> u8 {
        match self {
            Self::Utf8 { most } => most,
            Self::Binary | Self::Latin1 => 1,
        }
    }

    /// Appends a text.
    fn put(self, value: &[u8], out: &mut Vec<u8>) -> Option<()> {
        if self != Self::Latin1 || value.is_ascii() {
            out.extend_from_slice(value);
            return Some(());
        }
        let (bytes, _, has_others) = WINDOWS_1252.encode(std::str::from_utf8(value).ok()?);
        out.extend_from_slice(&bytes);
        (!has_others).then_some(())
    }
}

/// Bytes that the digits of an incomplete group take (`dig2bytes`).
const GROUP_BYTES: [u8; 10] = [0, 1, 1, 2, 2, 3, 3, 4, 4, 4];

/// Digits in a group of four bytes.
const GROUP_DIGITS: usize = 9;

impl Form {
    /// That of a type as the server spells it; `None` where it is not known here.
    pub(super) fn of(declared: &str) -> Option<Self> {
        // Moments in an older form, columns that are compressed.
        if declared.contains("/*") {
            return None;
        }
        let parsed = Declared::parse(declared);
        let numbers = parsed.numbers();
        let integer = |bytes| Some(Self::Integer { bytes, is_signed: !parsed.unsigned });
        let digits = numbers.0.unwrap_or(0) as u8;
        let long = |bytes_max| Some(Self::Long { bytes_max, charset: Charset::of(&parsed)? });
        let blob = |bytes_max| Some(Self::Long { bytes_max, charset: Charset::Binary });
        match parsed.name.as_str() {
            "tinyint" => integer(1),
            "smallint" => integer(2),
            "mediumint" => integer(3),
            "int" => integer(4),
            "bigint" => integer(8),
            "bit" => Some(Self::Integer {
                bytes: numbers.0.unwrap_or(1).div_ceil(8) as u8,
                is_signed: false,
            }),
            // With a number of digits the server rounds in a way of its own.
            "float" if numbers.0.is_none() => Some(Self::Single),
            "double" if numbers.0.is_none() => Some(Self::Double),
            "decimal" => {
                Some(Self::Decimal { precision: numbers.0? as u8, scale: numbers.1? as u8 })
            }
            "date" => Some(Self::Date),
            "datetime" => Some(Self::Moment { digits }),
            "timestamp" => Some(Self::Epoch { digits }),
            "time" => Some(Self::Time { digits }),
            "year" => Some(Self::Year),
            "enum" | "set" => {
                let members = parsed.members();
                let bytes = match (parsed.name.as_str(), members.len()) {
                    ("enum", count) => 1 + u8::from(count > 255),
                    (_, count) if count <= 32 => count.div_ceil(8) as u8,
                    _ => 8,
                };
                let numbered = members.into_iter().zip(0..);
                let members = Arc::new(numbered.collect::<HashMap<_, _>>());
                Some(match parsed.name.as_str() {
                    "enum" => Self::Enum { members, bytes },
                    _ => Self::Set { members, bytes },
                })
            }
            "varchar" => {
                let charset = Charset::of(&parsed)?;
                Some(Self::Short { bytes_max: numbers.0? * u32::from(charset.most()), charset })
            }
            "varbinary" => Some(Self::Short { bytes_max: numbers.0?, charset: Charset::Binary }),
            // Where all characters have one length it is padded to that.
            "char" if numbers.0 != Some(0) => Some(Self::Padded {
                bytes: numbers.0.unwrap_or(1) as u16,
                charset: Charset::of(&parsed).filter(|charset| *charset != Charset::Binary)?,
            }),
            "binary" if numbers.0 != Some(0) => {
                Some(Self::Fixed { bytes: numbers.0.unwrap_or(1) as u16 })
            }
            "tinytext" => long(u32::from(u8::MAX)),
            "text" => long(u32::from(u16::MAX)),
            "mediumtext" => long((1 << 24) - 1),
            "longtext" => long(u32::MAX),
            "tinyblob" => blob(u32::from(u8::MAX)),
            "blob" => blob(u32::from(u16::MAX)),
            "mediumblob" => blob((1 << 24) - 1),
            "longblob" => blob(u32::MAX),
            _ => None,
        }
    }

    /// That of a column, whose texts have this collation if it is one of the key's.
    ///
    /// # Errors
    /// Why a table with such a column can't be written.
    pub(super) fn of_column(
        name: &str,
        declared: &str,
        in_key: Option<&str>,
    ) -> Result<Self, String> {
        let form =
            Self::of(declared).ok_or_else(|| format!("column {name} is of type {declared}"))?;
        if let Some(collation) = in_key {
            form.order(collation)
                .map_err(|why| format!("the key's column {name} is of type {declared}, {why}"))?;
        }
        Ok(form)
    }

    /// Whether its values can be compared in a key byte by byte, those of a text by this collation; else why not.
    fn order(&self, collation: &str) -> Result<(), String> {
        match self {
            Self::Single | Self::Double | Self::Long { .. } => {
                Err("whose bytes have another order".to_owned())
            }
            Self::Short { charset, .. } | Self::Padded { charset, .. }
                if *charset != Charset::Binary && !collation.ends_with("_bin") =>
            {
                Err(format!(
                    "of the collation {collation}; only those that end in _bin compare by bytes"
                ))
            }
            _ => Ok(()),
        }
    }

    /// The column; `collation` is that of a text.
    pub(super) fn column(&self, collation: &str) -> Column {
        // Those of Unicode 9, and those that MariaDB names so, don't compare as if spaces followed.
        let pads = !(collation.contains("_nopad_") || collation.contains("_0900_"));
        let padded = |column: Column| if pads { column.padded() } else { column };
        match *self {
            Self::Integer { bytes, .. } | Self::Enum { bytes, .. } | Self::Set { bytes, .. } => {
                Column::fixed(bytes.into())
            }
            Self::Single => Column::fixed(4),
            Self::Double => Column::fixed(8),
            Self::Decimal { precision, scale } => Column::fixed(decimal_bytes(precision, scale)),
            Self::Date => Column::fixed(3),
            Self::Moment { digits } => Column::fixed(5 + u16::from(digits.div_ceil(2))),
            Self::Epoch { digits } => Column::fixed(4 + u16::from(digits.div_ceil(2))),
            Self::Time { digits } => Column::fixed(3 + u16::from(digits.div_ceil(2))),
            Self::Year => Column::fixed(1),
            Self::Short { bytes_max, charset: Charset::Binary } => Column::variable(bytes_max),
            // The _bin collations of UTF-8 compare by code points, as its bytes do.
            Self::Short { bytes_max, .. } => padded(Column::variable(bytes_max)),
            Self::Padded { bytes, charset } if charset.most() == 1 => padded(Column::fixed(bytes)),
            Self::Padded { bytes, charset } => {
                padded(Column::variable(u32::from(bytes) * u32::from(charset.most())))
            }
            Self::Fixed { bytes } => Column::fixed(bytes),
            Self::Long { bytes_max, .. } => Column::blob(bytes_max),
        }
    }

    /// Appends a value that the server would show so; `None` where it is written otherwise than is known here.
    #[inline]
    pub(super) fn put(&self, value: &[u8], out: &mut Vec<u8>) -> Option<()> {
        match *self {
            Self::Integer { bytes, is_signed: true } => {
                let number: i64 = match inrush_scan::plain_integer(value) {
                    Some(number) => number,
                    None => std::str::from_utf8(value).ok()?.parse().ok()?,
                };
                let bits = u32::from(bytes) * 8;
                let fits =
                    bits == 64 || (-(1_i64 << (bits - 1))..1 << (bits - 1)).contains(&number);
                let flipped = number.cast_unsigned() ^ (1 << (bits - 1));
                put_low(flipped, bytes, out);
                return fits.then_some(());
            }
            Self::Integer { bytes, is_signed: false } => {
                let number: u64 = std::str::from_utf8(value).ok()?.parse().ok()?;
                put_low(number, bytes, out);
                return (bytes == 8 || number >> (u32::from(bytes) * 8) == 0).then_some(());
            }
            // As the server does, by way of a double.
            Self::Single => out.extend_from_slice(&(real(value)? as f32).to_le_bytes()),
            Self::Double => out.extend_from_slice(&real(value)?.to_le_bytes()),
            Self::Decimal { precision, scale } => put_decimal(value, precision, scale, out)?,
            Self::Date => out.extend_from_slice(&date(value)?.to_be_bytes()[1..]),
            Self::Moment { digits } => put_moment(value, digits, out)?,
            Self::Epoch { digits } => put_epoch(value, digits, out)?,
            Self::Time { digits } => put_time(value, digits, out)?,
            Self::Year => match number(value)? {
                0 => out.push(0),
                year => out.push(u8::try_from(year.checked_sub(1900)?).ok()?),
            },
            Self::Enum { ref members, bytes } => {
                put_low(u64::from(members.get(value)? + 1), bytes, out);
            }
            Self::Set { ref members, bytes } => {
                let mut bits = 0_u64;
                for member in value.split(|byte| *byte == b',').filter(|_| !value.is_empty()) {
                    bits |= 1 << members.get(member)?;
                }
                put_low(bits, bytes, out);
            }
            Self::Short { bytes_max, charset } | Self::Long { bytes_max, charset } => {
                let start = out.len();
                charset.put(value, out)?;
                return (out.len() - start <= bytes_max as usize).then_some(());
            }
            Self::Padded { bytes, charset } => {
                let start = out.len();
                charset.put(without_spaces(value), out)?;
                let length = out.len() - start;
                let most = usize::from(bytes) * usize::from(charset.most());
                out.resize(start + length.max(bytes.into()), b' ');
                return (length <= most).then_some(());
            }
            Self::Fixed { bytes } => {
                if value.len() != usize::from(bytes) {
                    return None;
                }
                out.extend_from_slice(value);
            }
        }
        Some(())
    }
}

/// The lowest bytes of a number, the highest of them first.
#[inline]
fn put_low(number: u64, bytes: u8, out: &mut Vec<u8>) {
    out.extend_from_slice(&number.to_be_bytes()[8 - usize::from(bytes)..]);
}

fn real(value: &[u8]) -> Option<f64> {
    match inrush_scan::plain_decimal(value) {
        Some(number) => Some(number),
        None => std::str::from_utf8(value).ok()?.parse().ok(),
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

/// A text without the spaces at its end.
fn without_spaces(value: &[u8]) -> &[u8] {
    let spaces = value.iter().rev().take_while(|byte| **byte == b' ').count();
    &value[..value.len() - spaces]
}

/// Digits, up to nine.
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

/// `hh:mm:ss`, perhaps with a fraction: hours, minutes, seconds, and millionths.
fn clock(text: &[u8]) -> Option<[u32; 4]> {
    let hours = memchr::memchr(b':', text)?;
    let (hours, rest) = text.split_at(hours);
    let [b':', a, b, b':', c, d, fraction @ ..] = rest else { return None };
    let micros = match fraction {
        [] => 0,
        [b'.', shown @ ..] if (1..=6).contains(&shown.len()) => {
            number(shown)? * 10_u32.pow(6 - shown.len() as u32)
        }
        _ => return None,
    };
    Some([number(hours)?, number(&[*a, *b])?, number(&[*c, *d])?, micros])
}

/// A day and a time of it: `YYYY-MM-DD hh:mm:ss`, perhaps with a fraction.
fn moment(value: &[u8]) -> Option<([u32; 3], [u32; 4])> {
    let (date, time) = value.split_at_checked(10)?;
    match time {
        [b' ' | b'T', time @ ..] => Some((day(date)?, clock(time)?)),
        _ => None,
    }
}

/// The fraction of a second of which so many digits are kept: of an odd number one more is stored, which is zero. `None` where there
/// are more.
fn put_fraction(micros: u32, digits: u8, out: &mut Vec<u8>) -> Option<()> {
    let bytes = digits.div_ceil(2);
    let unit = 100_u32.pow(3 - u32::from(bytes));
    if !micros.is_multiple_of(10_u32.pow(6 - u32::from(digits))) {
        return None;
    }
    out.extend_from_slice(&(micros / unit).to_be_bytes()[4 - usize::from(bytes)..]);
    Some(())
}

fn put_moment(value: &[u8], digits: u8, out: &mut Vec<u8>) -> Option<()> {
    let (date, [hour, minute, second, micros]) = moment(value)?;
    let [year, month, day] = date.map(u64::from);
    let clock = u64::from(hour << 12 | minute << 6 | second);
    let packed = ((year * 13 + month) << 5 | day) << 17 | clock;
    out.extend_from_slice(&(packed + 0x80_0000_0000).to_be_bytes()[3..]);
    put_fraction(micros, digits, out)
}

/// A moment of UTC. Second 0 stands for the one that is not a moment, and the servers whose files are known take none behind second
/// 2^31 - 1, 2038-01-19 03:14:07 (<https://dev.mysql.com/doc/refman/8.0/en/datetime.html>).
fn put_epoch(value: &[u8], digits: u8, out: &mut Vec<u8>) -> Option<()> {
    let (seconds, micros) = match value.strip_prefix(b"0000-00-00 00:00:00") {
        Some(_) => (0, 0),
        None => {
            let micros = u64::try_from(inrush_scan::timestamp_micros(value)?).ok()?;
            let seconds = u32::try_from(micros / 1_000_000).ok()?;
            if !(1..=i32::MAX.cast_unsigned()).contains(&seconds) {
                return None;
            }
            (seconds, (micros % 1_000_000) as u32)
        }
    };
    out.extend_from_slice(&seconds.to_be_bytes());
    put_fraction(micros, digits, out)
}

/// A time, perhaps a negative one: seconds as a number in units of the last digits that are stored.
fn put_time(value: &[u8], digits: u8, out: &mut Vec<u8>) -> Option<()> {
    let (is_negative, shown) = match value {
        [b'-', shown @ ..] => (true, shown),
        shown => (false, shown),
    };
    let [hour, minute, second, micros] = clock(shown)?;
    if !micros.is_multiple_of(10_u32.pow(6 - u32::from(digits))) {
        return None;
    }
    let fraction_bytes = u32::from(digits.div_ceil(2));
    let packed = i64::from(hour << 12 | minute << 6 | second);
    let fraction = i64::from(micros / 100_u32.pow(3 - fraction_bytes));
    let all = packed << (8 * fraction_bytes) | fraction;
    let all = if is_negative { -all } else { all };
    let stored = (0x80_0000_i64 << (8 * fraction_bytes)) + all;
    put_low(stored.cast_unsigned(), 3 + fraction_bytes as u8, out);
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
            ("timestamp", "1970-01-01 00:00:01", Some("00000001")),
            ("timestamp", "2038-01-19 03:14:07", Some("7fffffff")),
            ("timestamp(2)", "2038-01-19 03:14:07.99", Some("7fffffff63")),
            ("timestamp", "2038-01-19 03:14:08", None),
            ("timestamp", "1970-01-01 00:00:00", None),
            ("timestamp(2)", "1970-01-01 00:00:00.50", None),
            ("timestamp", "1969-12-31 23:59:59", None),
            ("timestamp", "0000-00-00 00:00:00", Some("00000000")),
            ("varchar(191)", "a", Some("61")),
        ] {
            assert_eq!(stored(declared, value).as_deref(), wanted, "{declared} {value}");
        }
        assert_eq!(Form::of("point"), None);
    }
}
