//! How a column's values are stored.

use std::io::Write as _;

use tiberius::ColumnData;
use tiberius::numeric::Numeric;
use tiberius::time::{Date, DateTime, DateTime2, DateTimeOffset, SmallDateTime, Time};
use tiberius::xml::XmlData;

use inrush_core::encode::Typed;
use inrush_core::flow::checksum::Stored;
use inrush_core::flow::{Cell, Code};
use inrush_core::value::hex;
use inrush_core::value::rule;
use inrush_core::{Column, Type};

use super::declared::{self, Declared};
use super::moment::{self, Moment};
use super::number;
use super::text::{self, Characters, Texts};
use inrush_core::wording::counted;

/// Why a value can't be stored as it is: what sort of fault, and what the column takes.
pub(crate) type Misfit<'a> = (Code, &'a str);

/// Bytes of a value at most.
const VALUE_LEN_MAX: usize = (1 << 31) - 1;

/// A column's type, ready to take values.
#[derive(Clone, Debug)]
pub(crate) struct Store {
    kind: Kind,
    /// Only values that stay as they are written: the type is a guess, and a value that would change disproves it.
    strict: bool,
    /// What the column takes, with its numbers; made once, and lent to each [`Misfit`].
    wanted: Box<str>,
    /// Why INSERT BULK isn't for it, as the driver sends it.
    not_bulk: Option<&'static str>,
}

#[derive(Clone, Debug)]
enum Kind {
    Bit,
    Integer(Integers),
    Decimal {
        precision: u32,
        scale: u32,
    },
    Money {
        is_small: bool,
    },
    Float {
        single: bool,
    },
    Date,
    Time {
        scale: u8,
    },
    DateTime2 {
        scale: u8,
    },
    DateTime,
    SmallDateTime,
    Offset {
        scale: u8,
    },
    Text(Texts),
    Bytes {
        min: usize,
        max: usize,
        /// The file has the bytes themselves; else as the server writes them.
        raw: bool,
    },
    Uuid,
    Xml,
    Json,
    /// The server's to read.
    Other,
    /// A text that must be a value of another type as well.
    Checked {
        text: Texts,
        check: Box<Kind>,
    },
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Integers {
    Tiny,
    Small,
    Int,
    Big,
}

impl Integers {
    fn range(self) -> (i64, i64) {
        match self {
            Self::Tiny => (0, 255),
            Self::Small => (i16::MIN.into(), i16::MAX.into()),
            Self::Int => (i32::MIN.into(), i32::MAX.into()),
            Self::Big => (i64::MIN, i64::MAX),
        }
    }
}

/// A value as its column keeps it.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) enum Kept {
    /// A number, or what counts days, ticks or minutes.
    Integer(i64),
    Real(f64),
    /// The source's own bytes.
    AsIs,
    /// What was appended.
    Written,
}

impl Store {
    /// The store of a column whose type is `declared`: as the catalogue has it, with its collation's code page behind.
    pub(crate) fn of(column: &Column, declared: &str) -> Self {
        let parsed = Declared::parse(declared);
        // What `--type` calls bytes is bytes as they are, and no notation for them.
        let is_raw = column.is_own() && column.ty == Type::Bytes;
        let (kind, not_bulk) = kind(&parsed, is_raw);
        let wanted_is = wanted(&kind, declared);
        let kind = match (kind, check(column)) {
            (Kind::Text(text), Some(check)) => Kind::Checked { text, check: Box::new(check) },
            (kind, _) => kind,
        };
        Self { kind, strict: column.is_strict(), wanted: wanted_is.into(), not_bulk }
    }

    /// Why the column's values can't go with INSERT BULK.
    pub(crate) fn not_bulk(&self) -> Option<&'static str> {
        self.not_bulk
    }

    /// Looks at a value; what is [`Kept::Written`] is appended to `out`. After a misfit `out` is as it was.
    #[inline]
    pub(crate) fn keep(&self, value: &[u8], out: &mut Vec<u8>) -> Result<Kept, Misfit<'_>> {
        let start = out.len();
        let kept = keep(&self.kind, value, self.strict, &self.wanted, out);
        if kept.is_err() {
            out.truncate(start);
        }
        kept
    }

    /// The same of bytes that are what they are, and no text that may stand for others.
    pub(crate) fn keep_bytes(&self, value: &[u8], out: &mut Vec<u8>) -> Result<Kept, Misfit<'_>> {
        match self.kind {
            Kind::Bytes { min, max, .. } => {
                keep(&Kind::Bytes { min, max, raw: true }, value, self.strict, &self.wanted, out)
            }
            _ => self.keep(value, out),
        }
    }

    /// The same for a value that the input has in a type of its own, where the column is of that type; `None` says nothing: then the
    /// value's text tells.
    #[inline]
    pub(crate) fn keep_typed(&self, typed: Typed, out: &mut Vec<u8>) -> Option<Kept> {
        Some(match (&self.kind, typed) {
            (Kind::Bit, Typed::Boolean(truth)) => Kept::Integer(truth.into()),
            (Kind::Integer(integers), Typed::Integer(number)) => {
                let (min, max) = integers.range();
                Kept::Integer(Some(number).filter(|number| (min..=max).contains(number))?)
            }
            (Kind::Float { single: false }, Typed::Float(number)) if number.is_normal() => {
                Kept::Real(number)
            }
            (Kind::Decimal { precision, scale }, Typed::Decimal { digits, scale: from }) => {
                let units = number::rescale(digits, from.into(), (*precision, *scale))?;
                out.extend_from_slice(&units.to_le_bytes());
                Kept::Written
            }
            (Kind::Date, Typed::Date(days)) => Kept::Integer(moment::days_since_1970(days.into())?),
            (Kind::DateTime2 { scale }, Typed::Moment(at)) if !at.zone => {
                Kept::Integer(Moment::of(at)?.ticks(*scale)?)
            }
            (Kind::Offset { scale }, Typed::Moment(at)) if at.zone => {
                put_offset(Moment::of(at)?, *scale, out)?;
                Kept::Written
            }
            (Kind::Bytes { min, max, .. }, Typed::Bytes(_, span))
                if (*min..=*max).contains(&(span.len as usize)) =>
            {
                Kept::AsIs
            }
            _ => return None,
        })
    }

    /// Appends the value as SQL text has it. `bytes` are the source's where it is [`Kept::AsIs`], else what was written.
    pub(crate) fn literal(&self, kept: Kept, bytes: &[u8], out: &mut Vec<u8>) {
        // Writing to memory doesn't fail.
        match (&self.kind, kept) {
            (Kind::Bit | Kind::Integer(_), Kept::Integer(number)) => {
                let _ = write!(out, "{number}");
            }
            (Kind::Money { .. }, Kept::Integer(units)) => number::put_decimal(units.into(), 4, out),
            (Kind::Decimal { scale, .. }, _) => {
                number::put_decimal(units(bytes), *scale, out);
            }
            // With an exponent it is a float literal, and the shortest that reads back as the same double.
            (_, Kept::Real(number)) => {
                let _ = write!(out, "{number:e}");
            }
            (_, Kept::Integer(count)) => {
                out.push(b'\'');
                self.put_moment(count, out);
                out.push(b'\'');
            }
            (Kind::Offset { scale }, _) => {
                let (ticks, offset) = offset(bytes);
                let local = ticks + i64::from(offset) * moment::MINUTE;
                out.push(b'\'');
                put_ticks(local, *scale, b'T', out);
                let sign = if offset < 0 { '-' } else { '+' };
                let minutes = offset.unsigned_abs();
                let _ = write!(out, "{sign}{:02}:{:02}'", minutes / 60, minutes % 60);
            }
            (Kind::Bytes { .. }, _) => {
                out.extend_from_slice(b"0x");
                hex::put(bytes, out);
            }
            (Kind::Uuid, _) => {
                out.push(b'\'');
                out.extend_from_slice(uuid(bytes).to_string().as_bytes());
                out.push(b'\'');
            }
            _ => put_text(bytes, out),
        }
    }

    /// What a count means, as the server reads it whatever its DATEFORMAT is.
    fn put_moment(&self, count: i64, out: &mut Vec<u8>) {
        match &self.kind {
            Kind::Date => moment::put_date(count, out),
            Kind::Time { scale } => {
                moment::put_clock(count / 10_i64.pow(u32::from(7 - scale)), *scale, out);
            }
            Kind::DateTime => {
                let (days, fragments) = (
                    count.div_euclid(moment::DAY_FRAGMENTS),
                    count.rem_euclid(moment::DAY_FRAGMENTS),
                );
                moment::put_date(days + moment::DAYS_TO_1900, out);
                out.push(b'T');
                moment::put_clock((fragments * 10 + 1) / 3, 3, out);
            }
            Kind::SmallDateTime => {
                moment::put_date(count / 1440 + moment::DAYS_TO_1900, out);
                out.push(b'T');
                moment::put_clock(count % 1440 * 60, 0, out);
            }
            Kind::DateTime2 { scale } => put_ticks(count, *scale, b'T', out),
            _ => {}
        }
    }

    /// The value as the driver sends it; `None` is NULL.
    pub(crate) fn data<'v>(&self, cell: Cell, bytes: &'v [u8]) -> Option<ColumnData<'v>> {
        let text = || std::str::from_utf8(bytes).ok();
        if cell == Cell::Null {
            return Some(self.null());
        }
        let count = match cell {
            Cell::Integer(count) => count,
            _ => 0,
        };
        Some(match &self.kind {
            Kind::Bit => ColumnData::Bit(Some(count == 1)),
            Kind::Integer(Integers::Tiny) => ColumnData::U8(Some(count.try_into().ok()?)),
            Kind::Integer(Integers::Small) => ColumnData::I16(Some(count.try_into().ok()?)),
            Kind::Integer(Integers::Int) => ColumnData::I32(Some(count.try_into().ok()?)),
            Kind::Integer(Integers::Big) => ColumnData::I64(Some(count)),
            Kind::Decimal { scale, .. } => {
                ColumnData::Numeric(Some(Numeric::new_with_scale(units(bytes), *scale as u8)))
            }
            Kind::Money { .. } => {
                ColumnData::Numeric(Some(Numeric::new_with_scale(count.into(), 4)))
            }
            Kind::Float { single } => {
                let Cell::Real(number) = cell else { return None };
                match single {
                    true => ColumnData::F32(Some(number as f32)),
                    false => ColumnData::F64(Some(number)),
                }
            }
            Kind::Date => ColumnData::Date(Some(Date::new(count.try_into().ok()?))),
            Kind::Time { scale } => ColumnData::Time(Some(time(count, *scale))),
            Kind::DateTime2 { scale } => ColumnData::DateTime2(Some(datetime2(count, *scale)?)),
            Kind::DateTime => ColumnData::DateTime(Some(DateTime::new(
                count.div_euclid(moment::DAY_FRAGMENTS).try_into().ok()?,
                count.rem_euclid(moment::DAY_FRAGMENTS) as u32,
            ))),
            Kind::SmallDateTime => ColumnData::SmallDateTime(Some(SmallDateTime::new(
                (count / 1440).try_into().ok()?,
                (count % 1440) as u16,
            ))),
            Kind::Offset { scale } => {
                let (ticks, minutes) = offset(bytes);
                let at = datetime2(ticks, *scale)?;
                ColumnData::DateTimeOffset(Some(DateTimeOffset::new(at, minutes)))
            }
            Kind::Bytes { .. } => ColumnData::Binary(Some(bytes.into())),
            Kind::Uuid => ColumnData::Guid(Some(uuid(bytes))),
            Kind::Xml => ColumnData::Xml(Some(std::borrow::Cow::Owned(XmlData::new(text()?)))),
            Kind::Text(_) | Kind::Json | Kind::Other | Kind::Checked { .. } => {
                ColumnData::String(Some(text()?.into()))
            }
        })
    }

    /// NULL as the driver has it for this type.
    fn null(&self) -> ColumnData<'static> {
        match &self.kind {
            Kind::Bit => ColumnData::Bit(None),
            Kind::Integer(Integers::Tiny) => ColumnData::U8(None),
            Kind::Integer(Integers::Small) => ColumnData::I16(None),
            Kind::Integer(Integers::Int) => ColumnData::I32(None),
            Kind::Integer(Integers::Big) => ColumnData::I64(None),
            Kind::Decimal { .. } | Kind::Money { .. } => ColumnData::Numeric(None),
            Kind::Float { single: true } => ColumnData::F32(None),
            Kind::Float { single: false } => ColumnData::F64(None),
            Kind::Date => ColumnData::Date(None),
            Kind::Time { .. } => ColumnData::Time(None),
            Kind::DateTime2 { .. } => ColumnData::DateTime2(None),
            Kind::DateTime => ColumnData::DateTime(None),
            Kind::SmallDateTime => ColumnData::SmallDateTime(None),
            Kind::Offset { .. } => ColumnData::DateTimeOffset(None),
            Kind::Bytes { .. } => ColumnData::Binary(None),
            Kind::Uuid => ColumnData::Guid(None),
            Kind::Xml => ColumnData::Xml(None),
            Kind::Text(_) | Kind::Json | Kind::Other | Kind::Checked { .. } => {
                ColumnData::String(None)
            }
        }
    }

    /// Whether what the server keeps compares with what was sent; it doesn't where the server rewrites values.
    pub(crate) fn compares(&self) -> bool {
        !matches!(self.kind, Kind::Xml | Kind::Json | Kind::Other)
    }

    /// How the stored value is asked for, so that the driver reads it without loss: it knows no UTF-8 in columns of bytes, and makes
    /// doubles of money.
    pub(crate) fn read_back(&self, name: &str) -> String {
        match &self.kind {
            _ if !self.compares() => format!("CASE WHEN {name} IS NOT NULL THEN 1 END"),
            Kind::Money { .. } => format!("CONVERT(decimal(19,4), {name})"),
            Kind::Text(_) | Kind::Checked { .. } => format!("CONVERT(nvarchar(max), {name})"),
            Kind::Bytes { .. } => format!("CONVERT(varbinary(max), {name})"),
            _ => name.to_owned(),
        }
    }

    /// What sums are taken of, of a value that was read back.
    pub(crate) fn stored<'v>(
        &self,
        data: &'v ColumnData<'_>,
        written: &'v mut Vec<u8>,
    ) -> Stored<'v> {
        written.clear();
        let integer = |number: Option<i64>| number.map_or(Stored::Null, Stored::Integer);
        match data {
            _ if !self.compares() => match data {
                ColumnData::I32(None) => Stored::Null,
                _ => Stored::Text(b""),
            },
            ColumnData::U8(number) => integer(number.map(i64::from)),
            ColumnData::I16(number) => integer(number.map(i64::from)),
            ColumnData::I32(number) => integer(number.map(i64::from)),
            ColumnData::I64(number) => integer(*number),
            ColumnData::Bit(bit) => integer(bit.map(i64::from)),
            ColumnData::F32(number) => {
                number.map_or(Stored::Null, |number| Stored::Real(number.into()))
            }
            ColumnData::F64(number) => number.map_or(Stored::Null, Stored::Real),
            ColumnData::String(text) => {
                text.as_ref().map_or(Stored::Null, |text| Stored::Text(text.as_bytes()))
            }
            ColumnData::Binary(bytes) => {
                bytes.as_ref().map_or(Stored::Null, |bytes| Stored::Bytes(bytes))
            }
            ColumnData::Guid(Some(guid)) => {
                written.extend_from_slice(guid.as_bytes());
                Stored::Bytes(written)
            }
            ColumnData::Numeric(Some(number)) => match &self.kind {
                Kind::Money { .. } => integer(i64::try_from(number.value()).ok()),
                _ => {
                    written.extend_from_slice(&number.value().to_le_bytes());
                    Stored::Bytes(written)
                }
            },
            ColumnData::DateTime(at) => integer(at.map(|at| {
                i64::from(at.days()) * moment::DAY_FRAGMENTS + i64::from(at.seconds_fragments())
            })),
            ColumnData::SmallDateTime(at) => integer(
                at.map(|at| i64::from(at.days()) * 1440 + i64::from(at.seconds_fragments())),
            ),
            ColumnData::Date(date) => integer(date.map(|date| i64::from(date.days()))),
            ColumnData::Time(time) => integer(time.map(|time| {
                time.increments() as i64 * 10_i64.pow(u32::from(7 - time.scale().min(7)))
            })),
            ColumnData::DateTime2(at) => integer(at.map(moment::ticks)),
            ColumnData::DateTimeOffset(Some(at)) => {
                put_offset_bytes(moment::ticks(at.datetime2()), at.offset(), written);
                Stored::Bytes(written)
            }
            ColumnData::Guid(None)
            | ColumnData::Numeric(None)
            | ColumnData::DateTimeOffset(None)
            | ColumnData::Xml(_) => Stored::Null,
        }
    }

    /// What sums are taken of, of a value that is sent: its bytes are text, or not.
    pub(crate) fn is_text(&self) -> bool {
        matches!(
            self.kind,
            Kind::Text(_) | Kind::Checked { .. } | Kind::Xml | Kind::Json | Kind::Other
        )
    }
}

fn keep<'w>(
    kind: &Kind,
    value: &[u8],
    strict: bool,
    wanted: &'w str,
    out: &mut Vec<u8>,
) -> Result<Kept, Misfit<'w>> {
    let out_of_range = (Code::Range, wanted);
    if value.len() > VALUE_LEN_MAX {
        return Err((Code::TooLong, "shorter than 2 GB"));
    }
    Ok(match kind {
        Kind::Bit => Kept::Integer(number::keep_truth(value, strict)?.into()),
        Kind::Integer(integers) => {
            Kept::Integer(number::keep_integer(value, integers.range(), strict, wanted)?)
        }
        Kind::Decimal { precision, scale } => {
            let units = number::keep_decimal(value, (*precision, *scale), strict, wanted)?;
            out.extend_from_slice(&units.to_le_bytes());
            Kept::Written
        }
        Kind::Money { is_small } => {
            let units = number::keep_decimal(value, (19, 4), strict, wanted)?;
            let units = i64::try_from(units).map_err(|_| out_of_range)?;
            if *is_small && i32::try_from(units).is_err() {
                return Err(out_of_range);
            }
            Kept::Integer(units)
        }
        Kind::Float { single } => Kept::Real(number::keep_float(value, *single, strict, wanted)?),
        Kind::Date => Kept::Integer(moment::keep_date(value)?),
        Kind::Time { scale } => Kept::Integer(moment::keep_time(value, *scale, wanted)?),
        Kind::DateTime2 { scale } => {
            Kept::Integer(moment::read_local(value, strict)?.ticks(*scale).ok_or(out_of_range)?)
        }
        Kind::DateTime => Kept::Integer(
            moment::fragments(moment::read_local(value, strict)?).ok_or(out_of_range)?,
        ),
        Kind::SmallDateTime => {
            Kept::Integer(moment::minutes(moment::read_local(value, strict)?).ok_or(out_of_range)?)
        }
        Kind::Offset { scale } => {
            put_offset(moment::read_zoned(value)?, *scale, out).ok_or(out_of_range)?;
            Kept::Written
        }
        Kind::Text(texts) => match texts.keep(value, wanted)? {
            0 => Kept::AsIs,
            blanks => {
                Texts::pad(value, blanks, out);
                Kept::Written
            }
        },
        Kind::Bytes { min, max, raw } => {
            let length = if *raw {
                value.len()
            } else {
                let start = out.len();
                text::keep_hex(value, out)?;
                out.len() - start
            };
            match length {
                length if length > *max => return Err((Code::TooLong, wanted)),
                length if length < *min => return Err((Code::Type, wanted)),
                _ if *raw => Kept::AsIs,
                _ => Kept::Written,
            }
        }
        Kind::Uuid => {
            text::keep_uuid(value, out)?;
            Kept::Written
        }
        Kind::Json => {
            rule::json(value)?;
            Kept::AsIs
        }
        Kind::Xml | Kind::Other => Kept::AsIs,
        Kind::Checked { text, check } => {
            let start = out.len();
            keep(check, value, strict, wanted, out)?;
            out.truncate(start);
            return keep(&Kind::Text(*text), value, strict, wanted, out);
        }
    })
}

/// What values of a text column must be besides, when another type was asked for.
fn check(column: &Column) -> Option<Kind> {
    Some(match column.ty {
        Type::Text | Type::Bytes => return None,
        Type::Json => Kind::Json,
        // One that no decimal type holds: its digits are the text's.
        Type::Decimal { precision, .. } if !(1..=declared::PRECISION_MAX).contains(&precision) => {
            return None;
        }
        ty => kind(&Declared::parse(&declared::spell(ty)), true).0,
    })
}

/// How values are kept, and why they can't go with INSERT BULK.
fn kind(declared: &Declared<'_>, is_raw: bool) -> (Kind, Option<&'static str>) {
    /// What the driver declares isn't always what it sends.
    const DECLARES: Option<&str> =
        Some("the driver's INSERT BULK declares such columns otherwise than it sends them");
    const NO_UTF8: Option<&str> = Some("the driver knows no UTF-8 in columns of bytes");
    const REWRITES: Option<&str> =
        Some("the server rewrites such values, and sums are taken of what INSERT BULK sends");
    const UNKNOWN: Option<&str> = Some("the driver has no INSERT BULK for this type");
    let numbers = declared.numbers;
    let scale = numbers.0.unwrap_or(7).min(7) as u8;
    let length = |default: u32| match declared.is_max {
        true => VALUE_LEN_MAX,
        false => numbers.0.unwrap_or(default) as usize,
    };
    let text = |characters, pads, max| Kind::Text(Texts { max, characters, pads });
    let narrow = |pads: bool, max: usize| {
        let characters = Characters::of(declared.code_page);
        let not_bulk = match characters {
            Characters::Utf8 => NO_UTF8,
            Characters::Ascii => Some("the code page of its collation isn't known"),
            Characters::Wide | Characters::Page(_) => None,
        };
        (text(characters, pads, max), not_bulk)
    };
    /// UTF-16 units of a type with a length, of which the driver declares twice as many.
    const HALF: usize = 2000;
    let kind = match declared.name {
        "bit" => Kind::Bit,
        "tinyint" => Kind::Integer(Integers::Tiny),
        "smallint" => Kind::Integer(Integers::Small),
        "int" => Kind::Integer(Integers::Int),
        "bigint" => Kind::Integer(Integers::Big),
        "decimal" | "numeric" => {
            Kind::Decimal { precision: numbers.0.unwrap_or(18), scale: numbers.1.unwrap_or(0) }
        }
        name @ ("money" | "smallmoney") => Kind::Money { is_small: name == "smallmoney" },
        "real" => Kind::Float { single: true },
        "float" => Kind::Float { single: numbers.0.is_some_and(|bits| bits <= 24) },
        "date" => Kind::Date,
        "time" => return (Kind::Time { scale }, if scale == 7 { None } else { DECLARES }),
        "datetime2" => Kind::DateTime2 { scale },
        "datetime" => Kind::DateTime,
        "smalldatetime" => return (Kind::SmallDateTime, DECLARES),
        "datetimeoffset" => {
            return (Kind::Offset { scale }, if scale == 7 { None } else { DECLARES });
        }
        name @ ("nvarchar" | "nchar") => {
            let max = if declared.is_max { VALUE_LEN_MAX / 2 } else { length(1) };
            let fits = declared.is_max || max <= HALF;
            let kind = text(Characters::Wide, name == "nchar", max);
            return (kind, if fits { None } else { DECLARES });
        }
        "sysname" => text(Characters::Wide, false, 128),
        "ntext" => return (text(Characters::Wide, false, VALUE_LEN_MAX / 2), UNKNOWN),
        name @ ("varchar" | "char") => return narrow(name == "char", length(1)),
        "text" => return (narrow(false, VALUE_LEN_MAX).0, UNKNOWN),
        "binary" => {
            let size = length(1);
            Kind::Bytes { min: size, max: size, raw: is_raw }
        }
        "varbinary" => Kind::Bytes { min: 0, max: length(1), raw: is_raw },
        "image" => {
            return (Kind::Bytes { min: 0, max: VALUE_LEN_MAX, raw: is_raw }, UNKNOWN);
        }
        "uniqueidentifier" => Kind::Uuid,
        "xml" => return (Kind::Xml, REWRITES),
        "json" => return (Kind::Json, UNKNOWN),
        _ => return (Kind::Other, UNKNOWN),
    };
    (kind, None)
}

/// What a column takes, in words that its numbers are part of.
fn wanted(kind: &Kind, declared: &str) -> String {
    let sql = Declared::sql(declared);
    match kind {
        Kind::Integer(integers) => {
            let (min, max) = integers.range();
            format!("{sql} ({min} to {max})")
        }
        Kind::Text(Texts { max, .. }) if *max >= VALUE_LEN_MAX / 2 => {
            "a text of at most 2 GB".to_owned()
        }
        Kind::Text(Texts { max, characters: Characters::Wide, .. }) => {
            format!("a text of at most {}", counted(*max as u64, "UTF-16 unit"))
        }
        Kind::Text(Texts { max, .. }) => {
            format!("a text of at most {}", counted(*max as u64, "byte"))
        }
        Kind::Bytes { min, max, .. } if min == max => {
            format!("{} long, as every value of {sql}", counted(*max as u64, "byte"))
        }
        Kind::Bytes { max, .. } => format!("at most {} long", counted(*max as u64, "byte")),
        _ => sql.to_owned(),
    }
}

fn units(bytes: &[u8]) -> i128 {
    bytes.try_into().map_or(0, i128::from_le_bytes)
}

fn uuid(bytes: &[u8]) -> tiberius::Uuid {
    tiberius::Uuid::from_bytes(bytes.try_into().unwrap_or_default())
}

fn put_offset(at: Moment, scale: u8, out: &mut Vec<u8>) -> Option<()> {
    let offset = i16::try_from(at.offset?).ok()?;
    put_offset_bytes(at.utc(scale)?, offset, out);
    Some(())
}

fn put_offset_bytes(ticks: i64, offset: i16, out: &mut Vec<u8>) {
    out.extend_from_slice(&ticks.to_le_bytes());
    out.extend_from_slice(&offset.to_le_bytes());
}

/// Ticks in UTC, and minutes from there.
fn offset(bytes: &[u8]) -> (i64, i16) {
    match (bytes.first_chunk(), bytes.last_chunk()) {
        (Some(ticks), Some(offset)) => (i64::from_le_bytes(*ticks), i16::from_le_bytes(*offset)),
        _ => (0, 0),
    }
}

fn time(ticks: i64, scale: u8) -> Time {
    Time::new((ticks / 10_i64.pow(u32::from(7 - scale))) as u64, scale)
}

fn datetime2(ticks: i64, scale: u8) -> Option<DateTime2> {
    let days = u32::try_from(ticks.div_euclid(moment::DAY)).ok()?;
    Some(DateTime2::new(Date::new(days), time(ticks.rem_euclid(moment::DAY), scale)))
}

fn put_ticks(ticks: i64, scale: u8, between: u8, out: &mut Vec<u8>) {
    moment::put_date(ticks.div_euclid(moment::DAY), out);
    out.push(between);
    let units = ticks.rem_euclid(moment::DAY) / 10_i64.pow(u32::from(7 - scale));
    moment::put_clock(units, scale, out);
}

/// A literal of any text.
///
/// Two things the server's parser does to literals have to be kept away from them: a backslash before a line end takes both out of
/// the text (<https://learn.microsoft.com/en-us/sql/t-sql/language-elements/sql-server-utilities-statements-backslash>), and a NUL may
/// end the statement. Where a text has one of these, it is put together of several.
fn put_text(value: &[u8], out: &mut Vec<u8>) {
    let is_plain = memchr::memchr2(0, b'\\', value).is_none();
    if is_plain {
        put_piece(value, out);
        return;
    }
    let mut pieces = Vec::new();
    let mut from = 0;
    for at in 0..value.len() {
        let behind = &value[at + 1..];
        if value[at] == b'\\' && matches!(behind, [b'\n', ..] | [b'\r', ..]) {
            pieces.push(&value[from..=at]);
            from = at + 1;
        } else if value[at] == 0 {
            pieces.extend([&value[from..at], &value[at..=at]]);
            from = at + 1;
        }
    }
    pieces.push(&value[from..]);
    if pieces.len() == 1 {
        put_piece(value, out);
        return;
    }
    // Shorter strings would be cut off at 8000 bytes when they are put together.
    out.extend_from_slice(b"CONVERT(nvarchar(max),N'')");
    for piece in pieces.into_iter().filter(|piece| !piece.is_empty()) {
        out.push(b'+');
        match piece {
            [0] => out.extend_from_slice(b"NCHAR(0)"),
            piece => put_piece(piece, out),
        }
    }
}

fn put_piece(piece: &[u8], out: &mut Vec<u8>) {
    out.extend_from_slice(b"N'");
    let mut done = 0;
    for at in memchr::memchr_iter(b'\'', piece) {
        out.extend_from_slice(&piece[done..=at]);
        out.push(b'\'');
        done = at + 1;
    }
    out.extend_from_slice(&piece[done..]);
    out.push(b'\'');
}

#[cfg(test)]
mod tests;
