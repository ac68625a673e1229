//! How a column's values are stored.

use crate::pipe::Code;
use crate::plan::{Column, Type};
use crate::source::infer;

use super::declared::{self, Declared};
use super::moment::{Moments, Times, keep_date, keep_year};
use super::number::{Bits, Decimals, Floats, Integers, truth};
use super::text::{Charset, Members, Texts, keep_inet4, keep_inet6, keep_uuid};

/// What the session's sql_mode allows of dates.
#[derive(Clone, Copy, Debug)]
pub(in crate::target::mysql) struct Modes {
    /// `0000-00-00`.
    pub(in crate::target::mysql) zero_date: bool,
    /// `2020-00-01`, `2020-01-00`.
    pub(in crate::target::mysql) zero_in_date: bool,
    /// `2020-02-31`: any day up to 31 in any month.
    pub(in crate::target::mysql) invalid_dates: bool,
}

/// What values are, for writers of statements and of fields to LOAD DATA.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(in crate::target::mysql) enum Class {
    /// Digits, needing neither quotes nor escapes.
    Number,
    /// Dates, times, addresses: quotes but no escapes.
    Plain,
    /// Any characters.
    Text,
    /// Any bytes.
    Bytes,
    /// A decimal number for a column of bits, which takes the bytes of a text for bits.
    Bit,
}

/// Where the text is that the server will show for a value.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(in crate::target::mysql) enum Kept {
    /// It is the value's own.
    AsIs,
    /// It was appended.
    Written,
}

/// Why a value can't be stored as it is: what sort of fault, and what the column takes.
pub(in crate::target::mysql) type Misfit<'a> = (Code, &'a str);

/// A column's type, ready to take values.
#[derive(Clone, Debug)]
pub(in crate::target::mysql) struct Store {
    kind: Kind,
    /// Only values that stay as they are written: the type is a guess, and a value that would change disproves it.
    strict: bool,
    modes: Modes,
    /// What the column takes, with its numbers; made once, and lent to each [`Misfit`].
    wanted: Box<str>,
}

#[derive(Clone, Debug)]
enum Kind {
    Integer(Integers),
    Boolean(Integers),
    Decimal(Decimals),
    Float(Floats),
    Bit(Bits),
    Date,
    Moment(Moments),
    Time(Times),
    Year,
    Text(Texts),
    Bytes {
        min: usize,
        max: usize,
    },
    Enum(Members),
    Set(Members),
    Json,
    Uuid,
    Inet4,
    Inet6,
    /// A decimal that no decimal type holds, kept as text.
    Digits {
        precision: u16,
        scale: u16,
    },
    /// A text that must be a value of another type as well.
    Checked {
        text: Box<Store>,
        check: Box<Store>,
    },
}

/// Whether what was appended to `out` from `start` on differs from the value; taken back if not.
pub(super) fn settle(value: &[u8], start: usize, out: &mut Vec<u8>) -> Kept {
    if &out[start..] == value {
        out.truncate(start);
        return Kept::AsIs;
    }
    Kept::Written
}

impl Store {
    /// The store of a column whose type the server spells as `declared`. Text that isn't utf8mb4 has its character set behind the
    /// type, ` character set latin1`, and may have its collation, ` collate latin1_bin`.
    ///
    /// # Errors
    /// Why values can't be loaded into such a column.
    pub(in crate::target::mysql) fn of(
        column: &Column,
        declared: &str,
        modes: Modes,
    ) -> Result<Self, String> {
        let parsed = Declared::parse(declared);
        let is_made = column.declared.is_none();
        let utc = is_made && column.ty == Type::Timestamp { zone: true };
        let kind = kind(&parsed, column.ty, utc)?;
        let store = Self {
            wanted: wanted(&kind, &parsed, declared).into(),
            kind,
            strict: !column.pinned,
            modes,
        };
        let Some(check) = store.check(column.ty) else { return Ok(store) };
        Ok(Self {
            wanted: Box::default(),
            strict: store.strict,
            kind: Kind::Checked { text: Box::new(store), check: Box::new(check) },
            modes,
        })
    }

    /// What values of a text column must be besides, when the column's type was asked for or has no better home.
    fn check(&self, ty: Type) -> Option<Self> {
        if !matches!(self.kind, Kind::Text(_)) {
            return None;
        }
        let kind = match ty {
            Type::Text | Type::Bytes => return None,
            Type::Json => Kind::Json,
            Type::Decimal { precision, scale } => Kind::Digits { precision, scale },
            ty => kind(&Declared::parse(&declared::spell(ty, true, false)), ty, false).ok()?,
        };
        let wanted = format!("{ty}").into();
        Some(Self { kind, wanted, ..self.clone() })
    }

    pub(in crate::target::mysql) fn class(&self) -> Class {
        match &self.kind {
            Kind::Integer(_) | Kind::Boolean(_) | Kind::Decimal(_) | Kind::Float(_) => {
                Class::Number
            }
            Kind::Bit(_) => Class::Bit,
            Kind::Date | Kind::Moment(_) | Kind::Time(_) | Kind::Year => Class::Plain,
            Kind::Uuid | Kind::Inet4 | Kind::Inet6 => Class::Plain,
            Kind::Text(_) | Kind::Enum(_) | Kind::Set(_) | Kind::Json | Kind::Digits { .. } => {
                Class::Text
            }
            Kind::Checked { text, .. } => text.class(),
            Kind::Bytes { .. } => Class::Bytes,
        }
    }

    /// How `value` is stored. Where the server will show another text for it, that text is appended to `out`; after a misfit
    /// `out` is as it was.
    #[inline]
    pub(in crate::target::mysql) fn keep(
        &self,
        value: &[u8],
        out: &mut Vec<u8>,
    ) -> Result<Kept, Misfit<'_>> {
        let is_plain = match &self.kind {
            Kind::Integer(integers) => integers.is_plain(value),
            Kind::Float(floats) => floats.is_plain(value),
            Kind::Text(texts) => texts.is_plain(value),
            Kind::Moment(moments) => {
                if let Some(kept) = moments.keep_plain(value, out) {
                    return Ok(kept);
                }
                false
            }
            _ => false,
        };
        if is_plain { Ok(Kept::AsIs) } else { self.keep_any(value, out) }
    }

    /// [`Store::keep`] for values that take a closer look.
    #[inline(never)]
    fn keep_any(&self, value: &[u8], out: &mut Vec<u8>) -> Result<Kept, Misfit<'_>> {
        let (strict, wanted) = (self.strict, &*self.wanted);
        match &self.kind {
            Kind::Integer(integers) => integers.keep(value, strict, wanted, out),
            Kind::Boolean(integers) => match truth(value) {
                Some(digit) => {
                    out.push(digit);
                    Ok(Kept::Written)
                }
                None if strict => Err((Code::Type, "a boolean (true, false)")),
                None => {
                    integers.keep(value, false, wanted, out).map_err(|(code, wanted)| match code {
                        Code::Type => (code, "a boolean (true, false, 1, 0)"),
                        _ => (code, wanted),
                    })
                }
            },
            Kind::Decimal(decimals) if decimals.is_plain(value) => Ok(Kept::AsIs),
            Kind::Decimal(decimals) => decimals.keep(value, strict, wanted, out),
            Kind::Float(floats) => floats.keep(value, strict, wanted, out),
            Kind::Bit(bits) => bits.keep(value, wanted, out),
            Kind::Date => keep_date(value, strict, self.modes),
            Kind::Moment(moments) => moments.keep(value, strict, self.modes, wanted, out),
            Kind::Time(times) => times.keep(value, wanted, out),
            Kind::Year => keep_year(value),
            Kind::Text(texts) => texts.keep(value, wanted),
            Kind::Bytes { min, .. } if value.len() < *min => Err((Code::Type, wanted)),
            Kind::Bytes { max, .. } if value.len() > *max => Err((Code::TooLong, wanted)),
            Kind::Bytes { .. } => Ok(Kept::AsIs),
            Kind::Enum(members) => members.keep_one(value, wanted, out),
            Kind::Set(members) => members.keep_set(value, wanted, out),
            Kind::Json if infer::is_json(value) => Ok(Kept::AsIs),
            Kind::Json => Err((Code::Type, "a JSON document")),
            Kind::Uuid => keep_uuid(value, out),
            Kind::Inet4 => keep_inet4(value, out),
            Kind::Inet6 => keep_inet6(value, out),
            Kind::Digits { precision, scale } => keep_digits(value, *precision, *scale, wanted),
            Kind::Checked { text, check } => {
                let start = out.len();
                check.keep(value, out)?;
                out.truncate(start);
                text.keep(value, out)
            }
        }
    }
}

fn keep_digits<'a>(
    value: &[u8],
    precision: u16,
    scale: u16,
    wanted: &'a str,
) -> Result<Kept, Misfit<'a>> {
    match inrush_scan::decimal(value) {
        None => Err((Code::Type, "a decimal number")),
        Some(decimal)
            if precision > 0
                && (decimal.scale > scale
                    || decimal.precision - decimal.scale > precision - scale) =>
        {
            Err((Code::Range, wanted))
        }
        Some(_) => Ok(Kept::AsIs),
    }
}

fn kind(declared: &Declared<'_>, ty: Type, utc: bool) -> Result<Kind, String> {
    let numbers = declared.numbers();
    let digits = numbers.0.unwrap_or(0) as u8;
    let integer = |bytes| {
        let width = if declared.zerofill { digits } else { 0 };
        let integers = Integers::new(bytes, declared.unsigned, width);
        if bytes == 1 && ty == Type::Boolean {
            Kind::Boolean(integers)
        } else {
            Kind::Integer(integers)
        }
    };
    let size = numbers.0.unwrap_or(1) as usize;
    Ok(match declared.name.as_str() {
        "bool" | "boolean" | "tinyint" => integer(1),
        "smallint" => integer(2),
        "mediumint" => integer(3),
        "int" | "integer" => integer(4),
        "bigint" => integer(8),
        "decimal" | "numeric" | "dec" | "fixed" => Kind::Decimal(Decimals {
            precision: numbers.0.unwrap_or(10) as u8,
            scale: numbers.1.unwrap_or(0) as u8,
            unsigned: declared.unsigned,
            zerofill: declared.zerofill,
        }),
        name @ ("float" | "double" | "real") => Kind::Float(Floats {
            single: name == "float",
            unsigned: declared.unsigned,
            digits: numbers.0.zip(numbers.1).map(|(all, scale)| (all as u8, scale as u8)),
        }),
        "bit" => Kind::Bit(Bits { bits: numbers.0.unwrap_or(1).clamp(1, 64) as u8 }),
        "date" => Kind::Date,
        name @ ("datetime" | "timestamp") => {
            Kind::Moment(Moments { digits, utc, counts: name == "timestamp" })
        }
        "time" => Kind::Time(Times { digits }),
        "year" if numbers.0 == Some(2) => {
            return Err("YEAR(2) keeps no more than two digits of a year".to_owned());
        }
        "year" => Kind::Year,
        "json" => Kind::Json,
        "uuid" => Kind::Uuid,
        "inet4" => Kind::Inet4,
        "inet6" => Kind::Inet6,
        "binary" => Kind::Bytes { min: size, max: size },
        "varbinary" => Kind::Bytes { min: 0, max: size },
        "enum" => Kind::Enum(members(declared)),
        "set" => Kind::Set(members(declared)),
        name => match (name, blob_len_max(name)) {
            ("char" | "varchar", _) => text(declared, size, true),
            ("tinytext" | "text" | "mediumtext" | "longtext", Some(max)) => {
                text(declared, max, false)
            }
            (_, Some(max)) => Kind::Bytes { min: 0, max },
            (_, None) => return Err(format!("columns of type {name} take no text as it is")),
        },
    })
}

fn blob_len_max(name: &str) -> Option<usize> {
    Some(match name {
        "tinytext" | "tinyblob" => 0xff,
        "text" | "blob" => 0xffff,
        "mediumtext" | "mediumblob" => 0xff_ffff,
        "longtext" | "longblob" => 0xffff_ffff,
        _ => return None,
    })
}

fn members(declared: &Declared<'_>) -> Members {
    let collation = declared.collation.as_deref().unwrap_or_default();
    let tells_case = declared.charset.as_deref() == Some("binary")
        || ["binary", "_bin", "_cs", "_cs_ks"].iter().any(|end| collation.ends_with(end));
    Members::new(declared.members(), !tells_case)
}

fn text(declared: &Declared<'_>, max: usize, counts_characters: bool) -> Kind {
    let name = declared.charset.as_deref().unwrap_or("utf8mb4");
    if name == "binary" {
        return Kind::Bytes { min: 0, max };
    }
    let known = format!("a text of {name}'s characters").into();
    Kind::Text(Texts::new(
        Charset::named(name),
        max,
        counts_characters,
        declared.name == "char",
        known,
    ))
}

/// What a column takes, in words that its numbers are part of.
fn wanted(kind: &Kind, declared: &Declared<'_>, text: &str) -> String {
    let text = text.trim();
    match kind {
        Kind::Integer(integers) | Kind::Boolean(integers) => {
            let (min, max) = integers.range();
            format!("{text} ({min} to {max})")
        }
        Kind::Text(texts) if texts.counts_characters => {
            format!("a text of at most {} characters", texts.max)
        }
        Kind::Text(texts) => format!("a text of at most {} bytes", texts.max),
        Kind::Bytes { min, max } if min == max => {
            format!("{max} bytes long, as every value of {}({max})", declared.name)
        }
        Kind::Bytes { max, .. } => format!("at most {max} bytes long"),
        Kind::Enum(members) => format!("one of {}", members.shown()),
        Kind::Set(members) => format!("some of {}", members.shown()),
        Kind::Time(_) => format!("{text} (-838:59:59 to 838:59:59)"),
        _ => text.to_owned(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const MODES: Modes = Modes { zero_date: false, zero_in_date: false, invalid_dates: false };

    fn existing(declared: &str) -> Store {
        with_modes(declared, MODES)
    }

    fn with_modes(declared: &str, modes: Modes) -> Store {
        of(declared::declared(declared), Some(declared), true, modes)
    }

    fn made(ty: Type, pinned: bool) -> Store {
        of(ty, None, pinned, MODES)
    }

    fn of(ty: Type, declared: Option<&str>, pinned: bool, modes: Modes) -> Store {
        let column = Column {
            name: "c".to_owned(),
            ty,
            declared: declared.map(str::to_owned),
            pinned,
            required: false,
        };
        let spelled = declared::spell(ty, true, false);
        Store::of(&column, declared.unwrap_or(&spelled), modes).unwrap()
    }

    /// What becomes of a value: the text that is shown, or the fault's code in brackets.
    fn outcome(store: &Store, value: &str) -> String {
        let mut out = Vec::new();
        match store.keep(value.as_bytes(), &mut out) {
            Ok(Kept::AsIs) => value.to_owned(),
            Ok(Kept::Written) => String::from_utf8(out).unwrap(),
            Err((code, _)) => format!("[{code}]"),
        }
    }

    #[track_caller]
    fn check(store: &Store, cases: &[(&str, &str)]) {
        for (value, wanted) in cases {
            assert_eq!(outcome(store, value), *wanted, "{value:?} in {store:?}");
        }
    }

    #[test]
    fn integers_have_ranges_to_the_last_number() {
        for (declared, min, below, max, above) in [
            ("tinyint(4)", "-128", "-129", "127", "128"),
            ("tinyint(3) unsigned", "0", "-1", "255", "256"),
            ("smallint", "-32768", "-32769", "32767", "32768"),
            ("mediumint(9)", "-8388608", "-8388609", "8388607", "8388608"),
            ("mediumint unsigned", "0", "-1", "16777215", "16777216"),
            ("int(11)", "-2147483648", "-2147483649", "2147483647", "2147483648"),
            ("int unsigned", "0", "-1", "4294967295", "4294967296"),
            (
                "bigint(20)",
                "-9223372036854775808",
                "-9223372036854775809",
                "9223372036854775807",
                "9223372036854775808",
            ),
            ("bigint(20) unsigned", "0", "-1", "18446744073709551615", "18446744073709551616"),
        ] {
            let store = existing(declared);
            check(&store, &[(min, min), (max, max), (below, "[range]"), (above, "[range]")]);
        }
    }

    #[test]
    fn integers_are_shown_without_what_means_nothing() {
        check(
            &existing("int(11)"),
            &[
                ("+7", "7"),
                ("007", "7"),
                ("-0", "0"),
                ("1.00", "1"),
                ("-01.0", "-1"),
                ("1.5", "[type]"),
                ("1.", "[type]"),
                (".0", "[type]"),
                ("1e3", "[type]"),
                ("", "[type]"),
                ("-", "[type]"),
                (" 1", "[type]"),
                ("0x1", "[type]"),
            ],
        );
        check(
            &existing("int(5) unsigned zerofill"),
            &[("7", "00007"), ("00007", "00007"), ("123456", "123456")],
        );
        check(
            &made(Type::Integer, false),
            &[
                ("-7", "-7"),
                ("+7", "[type]"),
                ("007", "[type]"),
                ("-0", "[type]"),
                ("1.0", "[type]"),
                ("9223372036854775808", "[range]"),
            ],
        );
    }

    #[test]
    fn truths_are_numbers() {
        for declared in ["tinyint(1)", "bit(1)"] {
            check(
                &existing(declared),
                &[("true", "1"), ("FALSE", "0"), ("1", "1"), ("yes", "[type]"), ("", "[type]")],
            );
        }
        check(&existing("tinyint(1)"), &[("-5", "-5"), ("128", "[range]")]);
        check(&existing("tinyint(4)"), &[("true", "[type]")]);
        check(&made(Type::Boolean, false), &[("True", "1"), ("1", "[type]"), ("t", "[type]")]);
        check(&made(Type::Boolean, true), &[("0", "0")]);
    }

    #[test]
    fn decimals_lose_no_digit() {
        check(
            &existing("decimal(5,2)"),
            &[
                (".5", "0.50"),
                ("5.", "5.00"),
                ("-0.00", "0.00"),
                ("+007.5", "7.50"),
                ("999.99", "999.99"),
                ("-999.990", "-999.99"),
                ("1000", "[range]"),
                ("0.001", "[range]"),
                ("1e2", "100.00"),
                ("1e3", "[range]"),
                ("1.5E-1", "0.15"),
                ("1e-3", "[range]"),
                ("0e99999999999999999999", "0.00"),
                ("e1", "[type]"),
                ("1e", "[type]"),
                (".", "[type]"),
                ("1,5", "[type]"),
                ("NaN", "[type]"),
                ("", "[type]"),
            ],
        );
        check(
            &existing("decimal(3,3)"),
            &[("0.5", "0.500"), ("0.500", "0.500"), ("1", "[range]"), ("00.125", "0.125")],
        );
        check(
            &existing("decimal(5,2) unsigned"),
            &[("-0.0", "0.00"), ("-0.01", "[range]"), ("-1.00", "[range]")],
        );
        check(
            &existing("decimal(5,2) unsigned zerofill"),
            &[("1.5", "001.50"), ("0", "000.00"), ("001.50", "001.50")],
        );
        check(
            &existing("decimal(65)"),
            &[(&"9".repeat(65), &"9".repeat(65)), (&"9".repeat(66), "[range]")],
        );
        check(
            &made(Type::Decimal { precision: 5, scale: 2 }, false),
            &[
                ("1.5", "1.50"),
                ("7", "7.00"),
                ("-0.00", "[type]"),
                (".5", "[type]"),
                ("+1", "[type]"),
                ("1e1", "[type]"),
                ("1.500", "[range]"),
            ],
        );
        check(
            &made(Type::Decimal { precision: 70, scale: 40 }, true),
            &[("0.5000", "0.5000"), (".5", "[type]"), (&"9".repeat(31), "[range]")],
        );
    }

    #[test]
    fn floats_round_measurements_and_keep_counts() {
        check(
            &existing("double"),
            &[
                ("1.5", "1.5"),
                ("1e308", "1e308"),
                ("1e309", "[range]"),
                ("9007199254740993", "[range]"),
                ("9007199254740994", "9007199254740994"),
                ("100000000000000000000000", "[range]"),
                ("18446744073709551616", "18446744073709551616"),
                ("-0.0", "-0e0"),
                ("nan", "[type]"),
                ("inf", "[type]"),
                ("0x1p3", "[type]"),
                ("0.1234567890123456789", "0.1234567890123456789"),
                // As a decimal this would be 0.
                (
                    "0.000000000000000000000000000000000000000001",
                    "0.000000000000000000000000000000000000000001e0",
                ),
            ],
        );
        check(&existing("double unsigned"), &[("-1.5", "[range]"), ("-0.0", "0"), ("1.5", "1.5")]);
        check(
            &existing("float"),
            &[
                ("16777216", "16777216"),
                ("16777217", "[range]"),
                ("16777218", "16777218"),
                ("0.1", "0.1"),
                ("3.4e38", "3.4e38"),
                ("3.5e38", "[range]"),
            ],
        );
        check(
            &existing("float(5,2)"),
            &[
                ("1.25", "1.25"),
                ("1.250", "1.250"),
                ("1.255", "[range]"),
                ("999.99", "999.99"),
                ("1000", "[range]"),
            ],
        );
        check(
            &made(Type::Float, false),
            &[
                ("1.50", "1.50"),
                ("1e5", "1e5"),
                ("0.1234567890123456789", "[type]"),
                ("+1", "[type]"),
            ],
        );
    }

    #[test]
    fn bits_are_numbers() {
        check(
            &existing("bit(3)"),
            &[
                ("7", "7"),
                ("007", "7"),
                ("8", "[range]"),
                ("b'101'", "5"),
                ("0b0111", "7"),
                ("b'1000'", "[range]"),
                ("b''", "[type]"),
                ("b'2'", "[type]"),
                ("-1", "[type]"),
                ("true", "[type]"),
            ],
        );
        check(
            &existing("bit(64)"),
            &[
                ("18446744073709551615", "18446744073709551615"),
                ("18446744073709551616", "[range]"),
            ],
        );
    }

    #[test]
    fn days_exist_or_are_allowed() {
        let zero = "0000-00-00";
        check(
            &existing("date"),
            &[
                ("2012-02-29", "2012-02-29"),
                ("2013-02-29", "[type]"),
                (zero, "[type]"),
                ("0000-01-01", "0000-01-01"),
                ("0000-02-29", "[type]"),
                ("2020-00-01", "[type]"),
                ("20120229", "[type]"),
                ("2012-2-9", "[type]"),
            ],
        );
        let zeros = Modes { zero_date: true, ..MODES };
        check(&with_modes("date", zeros), &[(zero, zero), ("2020-00-01", "[type]")]);
        check(
            &with_modes("timestamp", zeros),
            &[(zero, "0000-00-00 00:00:00"), ("0000-00-00 00:00:01", "[type]")],
        );
        let parts = Modes { zero_in_date: true, ..MODES };
        check(
            &with_modes("date", parts),
            &[(zero, "[type]"), ("2020-00-31", "2020-00-31"), ("2020-01-00", "2020-01-00")],
        );
        check(&with_modes("timestamp", parts), &[("2020-01-00 00:00:00", "[range]")]);
        let invalid = Modes { invalid_dates: true, ..MODES };
        check(
            &with_modes("date", invalid),
            &[("2013-02-31", "2013-02-31"), ("2013-02-32", "[type]"), ("2013-13-01", "[type]")],
        );
        check(&of(Type::Date, None, false, invalid), &[("2013-02-31", "[type]")]);
    }

    #[test]
    fn moments_are_shown_with_all_their_digits() {
        check(
            &existing("datetime"),
            &[
                ("2012-02-29 10:11:12", "2012-02-29 10:11:12"),
                ("2012-02-29T10:11:12", "2012-02-29 10:11:12"),
                ("2012-02-29 10:11", "2012-02-29 10:11:00"),
                ("2012-02-29", "2012-02-29 00:00:00"),
                ("2012-02-29 10:11:12.000", "2012-02-29 10:11:12"),
                ("2012-02-29 10:11:12.5", "[range]"),
                ("2012-02-29 10:11:12Z", "[type]"),
                ("2012-02-29 24:00:00", "[type]"),
                ("2012-02-29 10", "[type]"),
                ("2013-02-29 10:11:12", "[type]"),
                ("", "[type]"),
            ],
        );
        check(
            &existing("datetime(3)"),
            &[
                ("2012-02-29 10:11:12", "2012-02-29 10:11:12.000"),
                ("2012-02-29 10:11:12.25", "2012-02-29 10:11:12.250"),
                ("2012-02-29 10:11:12.2500000", "2012-02-29 10:11:12.250"),
                ("2012-02-29 10:11:12.2505", "[range]"),
                ("2012-02-29 10:11:12.0000001", "[range]"),
            ],
        );
        check(
            &existing("timestamp"),
            &[
                ("1970-01-01 00:00:01", "1970-01-01 00:00:01"),
                ("1968-12-31 23:59:59", "[range]"),
                ("2107-01-01 00:00:00", "[range]"),
                ("2012-02-29 10:11:12+00:00", "[type]"),
            ],
        );
        check(
            &made(Type::Timestamp { zone: false }, false),
            &[
                ("2012-02-29 10:11:12", "2012-02-29 10:11:12.000000"),
                ("2012-02-29", "[type]"),
                ("2012-02-29 10:11:12Z", "[type]"),
                ("2012-02-29 10:11:12.123456789", "[range]"),
            ],
        );
        check(
            &made(Type::Timestamp { zone: true }, false),
            &[
                ("2012-02-29T23:30:00-01:00", "2012-03-01 00:30:00.000000"),
                ("2012-02-29 10:11:12.5Z", "2012-02-29 10:11:12.500000"),
                ("2012-02-29 10:11:12", "[type]"),
                ("0001-01-01 00:30:00+01:00", "[range]"),
                ("9999-12-31 23:30:00-01:00", "[range]"),
                ("2012-02-29 10:11:12.1234567Z", "[range]"),
            ],
        );
    }

    #[test]
    fn times_and_years() {
        check(
            &existing("time"),
            &[
                ("10:11", "10:11:00"),
                ("1:02:03", "01:02:03"),
                ("001:02:03", "01:02:03"),
                ("-838:59:59", "-838:59:59"),
                ("839:00:00", "[range]"),
                ("-00:00:00", "00:00:00"),
                ("10:11:12.0", "10:11:12"),
                ("10:11:12.5", "[range]"),
                ("10:60:00", "[type]"),
                ("101112", "[type]"),
                ("1 10:11:12", "[type]"),
                ("+10:11", "[type]"),
                ("10:1", "[type]"),
            ],
        );
        check(
            &existing("time(2)"),
            &[
                ("10:11:12.5", "10:11:12.50"),
                ("-0:00:00.01", "-00:00:00.01"),
                ("838:59:59.5", "[range]"),
            ],
        );
        check(
            &existing("year(4)"),
            &[
                ("1901", "1901"),
                ("2155", "2155"),
                ("0000", "0000"),
                ("1900", "[range]"),
                ("99", "[type]"),
                ("0", "[type]"),
            ],
        );
    }

    #[test]
    fn texts_fit_by_characters_or_by_bytes() {
        let snow = "\u{2603}";
        check(
            &existing("varchar(3)"),
            &[
                ("abc", "abc"),
                ("abcd", "[too-long]"),
                (&snow.repeat(3), &snow.repeat(3)),
                (&snow.repeat(4), "[too-long]"),
                ("a  ", "a  "),
            ],
        );
        check(&existing("char(3)"), &[("abc", "abc"), (" ab", " ab"), ("a ", "[type]"), ("", "")]);
        check(
            &existing("tinytext"),
            &[(&snow.repeat(85), &snow.repeat(85)), (&snow.repeat(86), "[too-long]")],
        );
        check(
            &existing("tinytext character set utf16"),
            &[
                (&"a".repeat(127), &"a".repeat(127)),
                (&"a".repeat(128), "[too-long]"),
                (&"\u{1f600}".repeat(64), "[too-long]"),
            ],
        );
        check(&existing("longtext"), &[("", ""), ("a\0b ", "a\0b ")]);
        assert_eq!(
            existing("varchar(20)").keep(&[b'a'; 21], &mut Vec::new()),
            Err((Code::TooLong, "a text of at most 20 characters"))
        );
    }

    #[test]
    fn character_sets_refuse_what_they_have_not() {
        check(
            &existing("text character set utf8mb3"),
            &[("\u{2603}", "\u{2603}"), ("\u{1f600}", "[type]")],
        );
        check(
            &existing("text character set ucs2"),
            &[("\u{2603}", "\u{2603}"), ("\u{1f600}", "[type]")],
        );
        check(&existing("text character set ascii"), &[("a", "a"), ("\u{e9}", "[type]")]);
        check(
            &existing("text character set latin1"),
            &[
                ("\u{e9}\u{20ac}\u{81}", "\u{e9}\u{20ac}\u{81}"),
                ("\u{2603}", "[type]"),
                ("\u{80}", "[type]"),
            ],
        );
        check(
            &existing("text character set cp1251"),
            &[("\u{416}", "\u{416}"), ("\u{e9}", "[type]")],
        );
        // The server warns.
        check(&existing("text character set keybcs2"), &[("\u{2603}", "\u{2603}")]);
    }

    #[test]
    fn bytes_are_neither_padded_nor_cut() {
        check(&existing("binary(3)"), &[("abc", "abc"), ("ab", "[type]"), ("abcd", "[too-long]")]);
        check(&existing("varbinary(3)"), &[("", ""), ("abcd", "[too-long]")]);
        assert_eq!(existing("blob").keep(b"\xff\0", &mut Vec::new()), Ok(Kept::AsIs));
        assert_eq!(existing("varchar(3) character set binary").class(), Class::Bytes);
    }

    #[test]
    fn members_are_named_as_they_are_declared() {
        check(
            &existing("enum('a','B','it''s','1','x\\\\y')"),
            &[
                ("a", "a"),
                ("A", "a"),
                ("b", "B"),
                ("it's", "it's"),
                ("x\\y", "x\\y"),
                ("1", "1"),
                ("2", "[type]"),
                ("", "[type]"),
                ("a ", "[type]"),
            ],
        );
        check(&existing("enum('a','A') collate utf8mb4_bin"), &[("A", "A"), ("a", "a")]);
        check(&existing("enum('a') collate utf8mb4_bin"), &[("A", "[type]")]);
        check(&existing("enum('a','')"), &[("", "")]);
        check(&existing("enum('a','b,c)','d')"), &[("b,c)", "b,c)"), ("d", "d")]);
        check(
            &existing("set('a','B','1')"),
            &[
                ("", ""),
                ("a", "a"),
                ("b,a,a", "a,B"),
                ("1,a", "a,1"),
                ("a,", "[type]"),
                ("a, B", "[type]"),
                ("3", "[type]"),
            ],
        );
    }

    #[test]
    fn identifiers_and_documents() {
        let uuid = "123e4567-e89b-12d3-a456-426655440000";
        check(
            &existing("uuid"),
            &[
                (uuid, uuid),
                (&uuid.to_uppercase(), uuid),
                (&uuid.replace('-', ""), uuid),
                (&uuid[1..], "[type]"),
                ("", "[type]"),
            ],
        );
        check(
            &existing("inet4"),
            &[("1.2.3.4", "1.2.3.4"), ("1.2.3", "[type]"), ("256.1.1.1", "[type]")],
        );
        check(
            &existing("inet6"),
            &[
                ("::", "::"),
                ("0:0:0:0:0:0:0:1", "::1"),
                ("ABCD::", "abcd::"),
                ("::ffff:102:304", "::ffff:1.2.3.4"),
                ("::102:304", "::1.2.3.4"),
                ("1:0:2:3:4:5:6:7", "1::2:3:4:5:6:7"),
                ("1:0:0:2:0:0:0:3", "1:0:0:2::3"),
                ("1.2.3.4", "[type]"),
            ],
        );
        check(
            &existing("json"),
            &[("{\"a\": 1}", "{\"a\": 1}"), ("{a}", "[type]"), ("", "[type]")],
        );
        check(&made(Type::Json, false), &[("[1]", "[1]"), ("x", "[type]")]);
    }

    #[test]
    fn a_text_column_is_checked_for_the_type_that_was_asked_for() {
        let store = of(Type::Integer, Some("varchar(3)"), true, MODES);
        check(&store, &[("007", "007"), ("x", "[type]"), ("1000", "[too-long]")]);
        assert_eq!(store.class(), Class::Text);
    }

    #[test]
    fn some_types_take_no_text() {
        for declared in ["geometry", "point", "vector(3)", "year(2)"] {
            let column = Column {
                name: "c".to_owned(),
                ty: Type::Bytes,
                declared: Some(declared.to_owned()),
                pinned: true,
                required: false,
            };
            assert!(Store::of(&column, declared, MODES).is_err(), "{declared}");
        }
    }

    /// What is taken at a glance is what a closer look would say.
    #[test]
    fn plain_values_are_kept_as_any_value_is() {
        let values = "0 -0 7 -7 +7 007 127 128 -128 1.0 1.5 -1.50 .5 1e5 16777217 9007199254740993 40.2103345 0.00 -0.0 99.99 x";
        for declared in [
            "tinyint(4)",
            "bigint(20) unsigned",
            "int(3) zerofill",
            "double",
            "float unsigned",
            "float(3,1)",
            "varchar(3)",
            "char(3)",
        ] {
            let store = existing(declared);
            for value in values.split(' ').chain(["2012-02-29 10:11:12", ""]) {
                let (mut out, mut any) = (Vec::new(), Vec::new());
                let kept = store.keep(value.as_bytes(), &mut out);
                assert_eq!(
                    kept,
                    store.keep_any(value.as_bytes(), &mut any),
                    "{value} in {declared}"
                );
                assert_eq!(out, any);
            }
        }
        for digits in 0..=6 {
            let store = existing(&format!("datetime({digits})"));
            for value in ["2012-02-29 10:11:12", "2012-02-29T10:11:12", "2013-02-29 10:11:12"] {
                let (mut out, mut any) = (Vec::new(), Vec::new());
                let kept = store.keep(value.as_bytes(), &mut out);
                assert_eq!(
                    kept,
                    store.keep_any(value.as_bytes(), &mut any),
                    "{value} with {digits}"
                );
                assert_eq!(out, any);
            }
        }
    }
}
