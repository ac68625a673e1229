//! How a column's values are stored.

use inrush_core::encode::{Day, Typed};
use inrush_core::flow::Code;
use inrush_core::value::rule::{self, Truths};
use inrush_core::{Basis, Column, Type};

use super::declared::{self, Declared};
use super::exact::Exact;
use super::geometry::Geometries;
use super::json;
use super::moment::{LastDay, Moments, Times, keep_date, keep_year};
use super::number::{Bits, Decimals, Floats, Integers, truth};
use super::text::{Charset, Members, Texts, keep_inet4, keep_inet6, keep_uuid};
use inrush_core::wording::{counted, fraction};

/// What the session allows of dates and moments.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Modes {
    /// `0000-00-00`.
    pub(crate) zero_date: bool,
    /// `2020-00-01`, `2020-01-00`.
    pub(crate) zero_in_date: bool,
    /// `2020-02-31`: any day up to 31 in any month.
    pub(crate) invalid_dates: bool,
    /// What TIMESTAMP takes, as the session's zone has it...
    pub(crate) zone: SessionZone,
    /// ... and up to when.
    pub(crate) last_day: LastDay,
}

/// The time zone of a load's sessions. TIMESTAMP is a moment of UTC; the server takes what it is sent for one of the session's zone.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) enum SessionZone {
    /// The server's own, whichever that is: a moment with an offset can't be written in it, for one hour comes twice in autumn.
    #[default]
    Servers,
    /// UTC, and so is the server's: moments without an offset mean what they always do.
    Utc,
    /// UTC for the load, and the server's is another: there a moment without an offset would be shifted.
    UtcForLoad,
}

/// What values are, for writers of statements and of fields to LOAD DATA.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Class {
    /// The digits of a whole number.
    Integer { unsigned: bool },
    /// The digits of a number that is to be taken by them.
    Decimal,
    /// The digits of a binary fraction.
    Real,
    /// `YYYY-MM-DD`.
    Date,
    /// `YYYY-MM-DD hh:mm:ss`, perhaps with a fraction.
    Moment,
    /// Times, years, addresses: quotes but no escapes.
    Plain,
    /// Any characters.
    Text,
    /// Any bytes.
    Bytes,
    /// A decimal number for a column of bits, which takes the bytes of a text for bits.
    Bit,
}

impl Class {
    /// Whether values need neither quotes nor escapes.
    pub(crate) fn is_number(self) -> bool {
        matches!(self, Self::Integer { .. } | Self::Decimal | Self::Real | Self::Bit)
    }
}

/// Where the text is that the server will show for a value.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Kept {
    /// It is the value's own.
    AsIs,
    /// It was appended.
    Written,
}

/// Why a value can't be stored as it is: what sort of fault, and what the column takes.
pub(crate) type Misfit<'a> = (Code, &'a str);

/// A column's type, ready to take values.
#[derive(Clone, Debug)]
pub(crate) struct Store {
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
    /// Of an existing table, where the same type may hold other small numbers.
    Boolean(Integers),
    /// Of values that are booleans and nothing else, see [`Column::is_own`].
    Truth,
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
    Geometry(Geometries),
    Enum(Members),
    Set(Members),
    /// A text that is a JSON document.
    Json,
    /// MySQL's own JSON, which keeps values and not their text.
    Document,
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
    /// type, ` character set latin1`, and may have its collation, ` collate latin1_bin`; geometries have their SRID, ` srid 4326`.
    ///
    /// # Errors
    /// Why values can't be loaded into such a column.
    pub(crate) fn of(column: &Column, declared: &str, modes: Modes) -> Result<Self, String> {
        let parsed = Declared::parse(declared);
        let mut kind = kind(&parsed, column.ty)?;
        if matches!(kind, Kind::Boolean(_)) && column.is_own() {
            kind = Kind::Truth;
        }
        if let Kind::Moment(moments) = &mut kind {
            moments.zoned = column.is_own();
            moments.last_day = modes.last_day;
            if moments.counts && modes.zone != SessionZone::Servers {
                moments.utc = true;
                moments.zoned = modes.zone == SessionZone::UtcForLoad;
            }
        }
        let store = Self {
            wanted: wanted(&kind, &parsed, declared).into(),
            kind,
            strict: column.is_strict(),
            modes,
        };
        // Which text is a document, the CHECK of an existing column of documents decides.
        let is_judged =
            column.ty == Type::Json && column.declared.is_some() && column.basis == Basis::Declared;
        let check = store.check(column.ty).filter(|_| !is_judged);
        let Some(check) = check else { return Ok(store) };
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
            ty => kind(&Declared::parse(&declared::spell(ty, true, false)), ty).ok()?,
        };
        let wanted = format!("{ty}").into();
        Some(Self { kind, wanted, ..self.clone() })
    }

    pub(crate) fn class(&self) -> Class {
        match &self.kind {
            Kind::Integer(integers) | Kind::Boolean(integers) => {
                Class::Integer { unsigned: integers.are_unsigned() }
            }
            Kind::Truth => Class::Integer { unsigned: false },
            Kind::Decimal(_) => Class::Decimal,
            Kind::Float(_) => Class::Real,
            Kind::Bit(_) => Class::Bit,
            Kind::Date => Class::Date,
            Kind::Moment(_) => Class::Moment,
            Kind::Time(_) | Kind::Year => Class::Plain,
            Kind::Uuid | Kind::Inet4 | Kind::Inet6 => Class::Plain,
            Kind::Text(_) | Kind::Enum(_) | Kind::Set(_) => Class::Text,
            Kind::Json | Kind::Document | Kind::Digits { .. } => Class::Text,
            Kind::Checked { text, .. } => text.class(),
            Kind::Bytes { .. } | Kind::Geometry(_) => Class::Bytes,
        }
    }

    /// Whether it is known which text the server will show for a value. A document it spells in its own way
    /// (<https://dev.mysql.com/doc/refman/8.0/en/json.html#json-normalization>).
    pub(crate) fn compares(&self) -> bool {
        !matches!(self.kind, Kind::Document)
    }

    /// How `value` is stored. Where the server will show another text for it, that text is appended to `out`; after a misfit
    /// `out` is as it was.
    #[inline]
    pub(crate) fn keep(&self, value: &[u8], out: &mut Vec<u8>) -> Result<Kept, Misfit<'_>> {
        let is_plain = match &self.kind {
            Kind::Integer(integers) => integers.is_plain(value),
            Kind::Boolean(integers) => !self.strict && integers.is_plain(value),
            Kind::Truth => !self.strict && matches!(value, b"0" | b"1"),
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

    /// What the column keeps of a value that has a type of its own, where its text would be kept as that very value. `None` says
    /// nothing; ask [`Store::keep`] for the text.
    #[inline]
    pub(crate) fn keep_typed(&self, typed: Typed) -> Option<Exact> {
        match (&self.kind, typed) {
            (Kind::Integer(integers), Typed::Integer(number)) => integers.keep_number(number),
            (Kind::Boolean(_) | Kind::Truth, Typed::Boolean(truth)) => {
                Some(Exact::Integer(truth.into()))
            }
            (Kind::Truth, Typed::Integer(number @ 0..=1)) if !self.strict => {
                Some(Exact::Integer(number))
            }
            (Kind::Boolean(integers), Typed::Integer(number)) if !self.strict => {
                integers.keep_number(number)
            }
            (Kind::Decimal(decimals), Typed::Integer(number)) => {
                decimals.keep_digits(number.into(), 0)
            }
            (Kind::Decimal(decimals), Typed::Decimal { digits, scale }) => {
                decimals.keep_digits(digits, scale)
            }
            (Kind::Float(floats), typed) => floats.keep_typed(typed),
            (Kind::Bit(bits), Typed::Boolean(truth)) if bits.bits == 1 => {
                Some(Exact::Integer(truth.into()))
            }
            (Kind::Bit(bits), Typed::Integer(number)) => bits.keep_number(number),
            (Kind::Date, Typed::Date(days)) => Day::of(days.into()).map(Exact::Day),
            (Kind::Moment(moments), Typed::Moment(moment)) => moments.keep_moment(moment),
            _ => None,
        }
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
            Kind::Truth => {
                let (truth, start) = (rule::boolean(value, strict, Truths::Digits)?, out.len());
                out.push(b'0' + u8::from(truth));
                Ok(settle(value, start, out))
            }
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
            Kind::Geometry(geometries) => geometries.keep(value, wanted, out),
            Kind::Enum(members) => members.keep_one(value, wanted, out),
            Kind::Set(members) => members.keep_set(value, wanted, out),
            Kind::Json => rule::json(value).map(|()| Kept::AsIs),
            Kind::Document => json::keep(value, out),
            Kind::Uuid => keep_uuid(value, out),
            Kind::Inet4 => keep_inet4(value, out),
            Kind::Inet6 => keep_inet6(value, out),
            Kind::Digits { precision, scale } => {
                let kept = rule::decimal_text(value, *precision, *scale).map(|()| Kept::AsIs);
                kept.map_err(|(code, words)| {
                    (code, if code == Code::Range { wanted } else { words })
                })
            }
            Kind::Checked { text, check } => {
                let start = out.len();
                check.keep(value, out)?;
                out.truncate(start);
                text.keep(value, out)
            }
        }
    }
}

/// The greatest number of an integer type.
pub(crate) fn last_number(declared: &str) -> Option<u64> {
    match kind(&Declared::parse(declared), Type::Integer) {
        Ok(Kind::Integer(integers)) => Some(integers.range().1),
        _ => None,
    }
}

fn kind(declared: &Declared<'_>, ty: Type) -> Result<Kind, String> {
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
            let utc = declared.utc && ty == Type::Timestamp { zone: true };
            Kind::Moment(Moments {
                digits,
                utc,
                zoned: true,
                counts: name == "timestamp",
                last_day: LastDay::OF_31_BITS,
            })
        }
        "time" => Kind::Time(Times { digits }),
        "year" if numbers.0 == Some(2) => {
            return Err("YEAR(2) keeps no more than two digits of a year".to_owned());
        }
        "year" => Kind::Year,
        "json" => Kind::Document,
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
            (_, None) => match Geometries::of(declared) {
                Some(geometries) => Kind::Geometry(geometries),
                None => return Err(format!("columns of type {name} take no text as it is")),
            },
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
            format!("a text of at most {}", counted(texts.max as u64, "character"))
        }
        Kind::Text(texts) => format!("a text of at most {}", counted(texts.max as u64, "byte")),
        Kind::Bytes { min, max } if min == max => {
            format!(
                "{} long, as every value of {}({max})",
                counted(*max as u64, "byte"),
                declared.name
            )
        }
        Kind::Bytes { max, .. } => format!("at most {} long", counted(*max as u64, "byte")),
        Kind::Geometry(geometries) => geometries.wanted(),
        Kind::Enum(members) => format!("one of {}", members.shown()),
        Kind::Set(members) => format!("some of {}", members.shown()),
        Kind::Time(Times { digits }) => {
            format!("{text} (-838:59:59 to 838:59:59), {}", fraction(*digits))
        }
        Kind::Moment(moments) => {
            format!("{text}{}, {}", moments.days(), fraction(moments.digits))
        }
        _ => text.to_owned(),
    }
}

#[cfg(test)]
mod tests;
