//! How a column's values are stored.

use inrush_core::encode::{Day, Typed};
use inrush_core::flow::Code;
use inrush_core::value::{hex, rule};
use inrush_core::{Column, Type};

use super::address::{encode_card, encode_inet};
use super::array::{self, Arrays, Items, element_oid};
use super::clock::Times;
use super::declared::{self, Declared};
use super::interval::Intervals;
use super::json;
use super::locale::Locale;
use super::moment::{Moments, encode_date, encode_plain_date, put_date};
use super::money::Money;
use super::number::{Bits, Floats, Integers, truth};
use super::numeric::Numerics;
use super::text::{Labels, Texts, encode_bytes};
use super::zone::{Zone, Zoned};
use inrush_core::wording::{counted, fraction};

/// The server allocates no gigabyte for a value, its head of four bytes included:
/// <https://www.postgresql.org/docs/current/limits.html>.
pub(super) const VALUE_LEN_MAX: usize = (1 << 30) - 1 - 4;

/// Why a value can't be stored as it is: what sort of fault, and what the column takes.
pub(crate) type Misfit<'a> = (Code, &'a str);

/// A column's type, ready to take values.
#[derive(Clone, Debug)]
pub(crate) struct Store {
    kind: Kind,
    /// Only values that stay as they are written: the type is a guess, and a value that would change disproves it.
    strict: bool,
    /// What the column takes, with its numbers; made once, and lent to each [`Misfit`].
    wanted: Box<str>,
}

#[derive(Clone, Debug)]
enum Kind {
    Integer(Integers),
    Float(Floats),
    Numeric(Numerics),
    Money(Money),
    Boolean,
    Bit(Bits),
    Date,
    Moment(Moments),
    Time(Times),
    Interval(Intervals),
    Text(Texts),
    Label(Labels),
    /// Kept as it is written: of an existing column the server takes whatever follows the grammar.
    Json {
        is_own: bool,
    },
    Jsonb,
    /// Bytes as the server writes them.
    Bytes,
    /// Bytes as they are.
    RawBytes,
    Uuid,
    Inet {
        is_network: bool,
    },
    /// Of 6 or 8 bytes.
    Card(usize),
    Array(Arrays),
    /// A moment whose zone, where the value names none, is the server's.
    Zoned(Zoned),
    /// An array of such moments.
    ZonedArray(Arrays),
    /// One of values of a type that isn't built in, which only the server knows by its number.
    NamedArray(Arrays),
    /// A single byte, or none.
    Char,
    /// The server's to read.
    Other,
    /// An array of what is the server's to read.
    OtherArray,
    /// A text that must be a value of another type as well.
    Checked {
        text: Texts,
        check: Box<Store>,
    },
}

impl Store {
    /// The store of a column whose type `format_type()` spells as `declared`. Behind a type that isn't built in stands what it is
    /// underneath: `zip = character varying(5)`, `mood = enum('sad','it''s ok')`. `locale` is the session's.
    pub(crate) fn of(column: &Column, declared: &str, locale: &Locale) -> Self {
        let parsed = Declared::parse(declared);
        let own = column.is_own().then_some(column.ty);
        let mut kind = kind(&parsed, own, locale);
        if let Kind::Text(text) = kind
            && let Some(check) = check(column)
        {
            kind = Kind::Checked { text, check: Box::new(check) };
        }
        let mut store =
            Self { wanted: wanted(&kind, declared).into(), kind, strict: column.is_strict() };
        if parsed.is_array {
            store = store.array(&parsed, declared);
        }
        store
    }

    /// An array of such values.
    fn array(self, parsed: &Declared<'_>, declared: &str) -> Self {
        let kind = match element_oid(&parsed.name) {
            Some(oid) => {
                let element = Box::new(Self { strict: false, ..self });
                match element.kind {
                    Kind::Zoned(_) => Kind::ZonedArray(Arrays { element, oid }),
                    // Which way a text in braces will go is not known yet.
                    Kind::Money(ref money) if !money.reads_plain() => Kind::OtherArray,
                    _ if !element.is_binary() => Kind::OtherArray,
                    _ if parsed.has_named_elements => Kind::NamedArray(Arrays { element, oid }),
                    _ => Kind::Array(Arrays { element, oid }),
                }
            }
            None => Kind::OtherArray,
        };
        Self { wanted: wanted(&kind, declared).into(), kind, strict: false }
    }

    /// Whether values go in binary. Others go as text, and the server reads them.
    pub(crate) fn is_binary(&self) -> bool {
        !matches!(
            self.kind,
            Kind::Other
                | Kind::OtherArray
                | Kind::Zoned(_)
                | Kind::ZonedArray(_)
                | Kind::NamedArray(_)
        )
    }

    /// Whether a moment without an offset is one of the session's zone, which is not UTC.
    pub(crate) fn is_zoned(&self) -> bool {
        matches!(self.kind, Kind::Zoned(_) | Kind::ZonedArray(_))
    }

    /// Whether the server alone says what a value is.
    pub(crate) fn is_servers(&self) -> bool {
        matches!(self.kind, Kind::Other | Kind::OtherArray)
    }

    /// Whether the server's binary form of a stored value is what [`Store::encode`] wrote. It isn't where the server rewrites values.
    pub(crate) fn compares(&self) -> bool {
        match &self.kind {
            Kind::Other
            | Kind::OtherArray
            | Kind::Zoned(_)
            | Kind::ZonedArray(_)
            | Kind::NamedArray(_)
            | Kind::Jsonb => false,
            Kind::Array(arrays) => arrays.element.compares(),
            _ => true,
        }
    }

    /// Appends the value's binary form, without the length in front; for a type that [`Store::is_binary`] denies, the text itself.
    /// After a misfit `out` is as it was.
    #[inline]
    pub(crate) fn encode(&self, value: &[u8], out: &mut Vec<u8>) -> Result<(), Misfit<'_>> {
        let is_done = match &self.kind {
            Kind::Integer(integers) => integers.encode_plain(value, out),
            Kind::Float(floats) => floats.encode_plain(value, out),
            Kind::Text(texts) => texts.encode_plain(value, out),
            Kind::Moment(moments) => moments.encode_plain(value, out),
            Kind::Date => encode_plain_date(value, out),
            _ => false,
        };
        if is_done { Ok(()) } else { self.encode_any(value, out) }
    }

    /// Appends the binary form of a value that has a type of its own, where its text would become that very form. `false` says
    /// nothing, and leaves `out` as it was; ask [`Store::encode`] for the text.
    #[inline]
    pub(crate) fn encode_typed(&self, typed: Typed, out: &mut Vec<u8>) -> bool {
        match (&self.kind, typed) {
            (Kind::Integer(integers), Typed::Integer(number)) => {
                integers.encode_number(number, out)
            }
            (Kind::Integer(integers), Typed::Decimal { digits, scale: 0 }) => {
                i64::try_from(digits).is_ok_and(|number| integers.encode_number(number, out))
            }
            (Kind::Float(floats), typed) => floats.encode_typed(typed, self.strict, out),
            (Kind::Numeric(numerics), Typed::Integer(number)) => {
                numerics.encode_digits(number.into(), 0, out)
            }
            (Kind::Numeric(numerics), Typed::Decimal { digits, scale }) => {
                numerics.encode_digits(digits, scale, out)
            }
            (Kind::Money(money), Typed::Integer(number)) => {
                money.encode_digits(number.into(), 0, out)
            }
            (Kind::Money(money), Typed::Decimal { digits, scale }) => {
                money.encode_digits(digits, scale, out)
            }
            (Kind::Boolean, Typed::Boolean(truth)) => {
                out.push(u8::from(truth));
                true
            }
            (Kind::Date, Typed::Date(days)) if Day::COMMON.contains(&days.into()) => {
                put_date(days, out);
                true
            }
            (Kind::Moment(moments), Typed::Moment(moment)) => moments.encode_moment(moment, out),
            _ => false,
        }
    }

    /// Whether values are moments of UTC. A text without an offset is taken as the server takes it; a value that has a type of its
    /// own, and no zone, has been taken for something else by whoever made it.
    pub(crate) fn is_of_utc(&self) -> bool {
        match &self.kind {
            Kind::Moment(moments) => moments.zone,
            Kind::Zoned(_) => true,
            _ => false,
        }
    }

    /// Whether values are integers: of such a type, or of a domain over one.
    pub(super) fn integers(&self) -> Option<&Integers> {
        match &self.kind {
            Kind::Integer(integers) => Some(integers),
            _ => None,
        }
    }

    /// What the server's input function reads as the value, of which [`Store::encode`] has made `binary`: its own text, or one that
    /// `written` takes, so that a value is the same whichever way it goes.
    pub(crate) fn text<'v>(
        &self,
        value: &'v [u8],
        binary: &'v [u8],
        written: &'v mut Vec<u8>,
    ) -> &'v [u8] {
        written.clear();
        match &self.kind {
            Kind::Integer(integers) => integers.write(binary, written),
            Kind::Money(money) => {
                if let Some(binary) = binary.first_chunk() {
                    money.write(*binary, written);
                }
            }
            Kind::RawBytes => {
                written.extend_from_slice(b"\\x");
                hex::put(binary, written);
            }
            Kind::Array(arrays) => {
                let list = self.list(value).ok().flatten();
                arrays.write(list.as_deref().unwrap_or(value), binary, written);
            }
            // What was made of it is a text already.
            Kind::ZonedArray(_) | Kind::NamedArray(_) | Kind::OtherArray => return binary,
            _ => return value,
        }
        written
    }

    /// The store for bytes that are no text, where a column's text is a notation for bytes.
    pub(crate) fn for_bytes(&self) -> Option<Self> {
        let kind = Kind::RawBytes;
        matches!(self.kind, Kind::Bytes).then(|| Self { kind, ..self.clone() })
    }

    /// [`Store::encode`] for values that take a closer look.
    #[inline(never)]
    fn encode_any(&self, value: &[u8], out: &mut Vec<u8>) -> Result<(), Misfit<'_>> {
        const TOO_LONG: Misfit<'static> = (Code::TooLong, "shorter than a gigabyte");
        if value.len() > VALUE_LEN_MAX {
            return Err(TOO_LONG);
        }
        let start = out.len();
        let encoded = self
            .encode_whole(value, out)
            .and_then(|()| if out.len() - start > VALUE_LEN_MAX { Err(TOO_LONG) } else { Ok(()) });
        if encoded.is_err() {
            out.truncate(start);
        }
        encoded
    }

    /// A list of JSON as the array that it is here.
    fn list(&self, value: &[u8]) -> Result<Option<Vec<u8>>, Misfit<'static>> {
        let arrays = match &self.kind {
            Kind::Array(arrays) | Kind::ZonedArray(arrays) | Kind::NamedArray(arrays) => arrays,
            // As a list it can be nothing that the server reads.
            Kind::OtherArray => return array::of_json(value, Items::Values),
            _ => return Ok(None),
        };
        let items = match &arrays.element.kind {
            // What JSON has for bytes is text, of which it does not say what it is: base64, or the server's notation.
            Kind::Bytes | Kind::RawBytes => return Ok(None),
            // Those of Parquet and Arrow may have no zone: the session's is none that was asked for.
            Kind::Moment(moments) | Kind::Zoned(Zoned { moments, .. }) if moments.zone => {
                Items::Moments(*moments)
            }
            Kind::Json { .. } | Kind::Jsonb => Items::Documents,
            _ => Items::Values,
        };
        array::of_json(value, items)
    }

    /// Leaves behind what it wrote before a misfit.
    fn encode_whole(&self, value: &[u8], out: &mut Vec<u8>) -> Result<(), Misfit<'_>> {
        let (strict, wanted) = (self.strict, &*self.wanted);
        let list = self.list(value)?;
        let value = list.as_deref().unwrap_or(value);
        match &self.kind {
            Kind::Integer(integers) => integers.encode(value, strict, wanted, out),
            Kind::Float(floats) => floats.encode(value, strict, wanted, out),
            Kind::Numeric(numerics) if numerics.encode_plain(value, out) => Ok(()),
            Kind::Numeric(numerics) => numerics.encode(value, strict, wanted, out),
            Kind::Money(money) => money.encode(value, wanted, out),
            Kind::Boolean => {
                out.push(u8::from(truth(value, strict)?));
                Ok(())
            }
            Kind::Bit(bits) => bits.encode(value, wanted, out),
            Kind::Date => encode_date(value, strict, wanted, out),
            Kind::Moment(moments) => moments.encode(value, strict, wanted, out),
            Kind::Time(times) => times.encode(value, wanted, out),
            Kind::Zoned(zoned) => zoned.encode(value, strict, wanted, out),
            Kind::ZonedArray(arrays) | Kind::NamedArray(arrays) => {
                let start = out.len();
                arrays.encode(value, wanted, out)?;
                let binary = out.split_off(start);
                arrays.write(value, &binary, out);
                Ok(())
            }
            Kind::Interval(intervals) => intervals.encode(value, wanted, out),
            Kind::Text(texts) => texts.encode(value, wanted, out),
            Kind::Char => {
                // One that has no byte has the byte zero.
                out.push(match value {
                    [] => 0,
                    [byte] if byte.is_ascii() => *byte,
                    _ => return Err((Code::TooLong, wanted)),
                });
                Ok(())
            }
            Kind::Label(labels) => labels.encode(value, wanted, out),
            Kind::Json { is_own } => {
                if *is_own { rule::json(value) } else { rule::json_grammar(value) }?;
                out.extend_from_slice(value);
                Ok(())
            }
            Kind::Jsonb => encode_jsonb(value, out),
            Kind::Bytes => encode_bytes(value, out),
            Kind::RawBytes | Kind::Other | Kind::OtherArray => {
                out.extend_from_slice(value);
                Ok(())
            }
            Kind::Uuid => {
                out.extend_from_slice(&rule::uuid(value)?);
                Ok(())
            }
            Kind::Inet { is_network } => encode_inet(value, *is_network, out),
            Kind::Card(len) => encode_card(value, *len, out),
            Kind::Array(arrays) => arrays.encode(value, wanted, out),
            Kind::Checked { text, check } => {
                let start = out.len();
                check.encode(value, out)?;
                out.truncate(start);
                text.encode(value, wanted, out)
            }
        }
    }
}

fn encode_jsonb(value: &[u8], out: &mut Vec<u8>) -> Result<(), Misfit<'static>> {
    /// The only one there is.
    const VERSION: u8 = 1;
    rule::json(value)?;
    if !json::is_kept(value) {
        return Err((Code::Type, "a JSON document that jsonb keeps (no key twice, no \\u0000)"));
    }
    out.push(VERSION);
    out.extend_from_slice(value);
    Ok(())
}

/// What values of a text column must be besides, when another type was asked for.
fn check(column: &Column) -> Option<Store> {
    if matches!(column.ty, Type::Text | Type::Bytes) {
        return None;
    }
    let spelled = declared::spell(column.ty);
    let kind = kind(&Declared::parse(&spelled), Some(column.ty), &Locale::of("UTC", ""));
    Some(Store { wanted: wanted(&kind, &spelled).into(), kind, strict: column.is_strict() })
}

/// How an array's elements are stored, or the values of another type. `own` is the load's word on what they are, where the column
/// [is its own](Column::is_own).
fn kind(declared: &Declared<'_>, own: Option<Type>, locale: &Locale) -> Kind {
    let digits = declared.number().map_or(6, |digits| digits.min(6) as u8);
    let zone = declared.name.ends_with("with time zone");
    match declared.name.as_str() {
        "smallint" => Kind::Integer(Integers::SMALLINT),
        "integer" => Kind::Integer(Integers::INTEGER),
        "bigint" => Kind::Integer(Integers::BIGINT),
        "oid" => Kind::Integer(Integers::OID),
        "real" => Kind::Float(Floats { single: true }),
        "double precision" => Kind::Float(Floats { single: false }),
        "numeric" => Kind::Numeric(Numerics { limits: declared.digits() }),
        "money" => locale.money.clone().map_or(Kind::Other, Kind::Money),
        "boolean" => Kind::Boolean,
        "bit" => Kind::Bit(Bits { len: Some(declared.number().unwrap_or(1)), varying: false }),
        "\"bit\"" => Kind::Bit(Bits { len: None, varying: false }),
        "bit varying" => Kind::Bit(Bits { len: declared.number(), varying: true }),
        "date" => Kind::Date,
        "timestamp without time zone" | "timestamp with time zone" => {
            let wants_offset = zone && own.is_some_and(Type::has_offset);
            let moments = Moments { digits, zone, wants_offset };
            match &locale.zone {
                // Without an offset a value is of the session's time zone.
                Zone::Named(name) if zone && !wants_offset => Kind::Zoned(Zoned::of(moments, name)),
                _ => Kind::Moment(moments),
            }
        }
        "time without time zone" | "time with time zone" => {
            let is_known = matches!(locale.zone, Zone::Utc);
            Kind::Time(Times { digits, zone, wants_offset: zone && !is_known })
        }
        "text" | "bpchar" => Kind::Text(Texts::ANY),
        "character varying" => Kind::Text(declared.number().map_or(Texts::ANY, Texts::characters)),
        "character" => Kind::Text(Texts::padded(declared.number().unwrap_or(1))),
        "name" => Kind::Text(Texts::NAME),
        "\"char\"" => Kind::Char,
        "enum" => Kind::Label(Labels::new(declared.labels())),
        "json" => Kind::Json { is_own: own.is_some() },
        "jsonb" => Kind::Jsonb,
        "bytea" if own == Some(Type::Bytes) => Kind::RawBytes,
        "bytea" => Kind::Bytes,
        "uuid" => Kind::Uuid,
        "inet" => Kind::Inet { is_network: false },
        "cidr" => Kind::Inet { is_network: true },
        "macaddr" => Kind::Card(6),
        "macaddr8" => Kind::Card(8),
        name => Intervals::named(name, digits).map_or(Kind::Other, Kind::Interval),
    }
}

/// What a column takes, in words that its numbers are part of.
fn wanted(kind: &Kind, declared: &str) -> String {
    let declared = declared.trim();
    let name = declared::sql_type(declared);
    match kind {
        Kind::Integer(integers) => {
            let (min, max) = integers.range();
            format!("{name} ({min} to {max})")
        }
        Kind::Text(texts) | Kind::Checked { text: texts, .. } => {
            texts.limit().unwrap_or_else(|| name.to_owned())
        }
        Kind::Bit(Bits { len: Some(len), varying: false }) => format!("a string of {len} bits"),
        Kind::Bit(Bits { len: Some(len), .. }) => {
            format!("a string of at most {}", counted(*len as u64, "bit"))
        }
        Kind::Money(money) => money.wanted(),
        Kind::Label(_) => format!("one of {}", Labels::shown(&Declared::parse(declared).labels())),
        Kind::Array(arrays) | Kind::ZonedArray(arrays) | Kind::NamedArray(arrays) => {
            let list = match arrays.element.is_of_utc() {
                true => ", or a list of timestamps with an offset from UTC",
                false => "",
            };
            format!("an array as {name} takes it ({{1,2}}){list}")
        }
        Kind::Char => format!("{name}, which has one character of ASCII"),
        Kind::Moment(Moments { digits, .. })
        | Kind::Time(Times { digits, .. })
        | Kind::Zoned(Zoned { moments: Moments { digits, .. }, .. }) => {
            format!("{name}, {}", fraction(*digits))
        }
        _ => name.to_owned(),
    }
}

#[cfg(test)]
pub(super) mod tests;
