//! What a column takes, and how BSON has it.

use inrush_scan::{self as scan};

use crate::bson::{self, kind};
use crate::{decimal, json};
use inrush_core::encode::Typed;
use inrush_core::flow::Code;
use inrush_core::value::double::{self, Specials};
use inrush_core::value::rule::{self, Truths};
use inrush_core::{Column, Type};

/// What of a server and of the user's wishes bears on types.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Wishes {
    /// The server has decimals.
    pub(super) decimals: bool,
    /// The server has lists within lists.
    pub(super) nested_lists: bool,
    /// Integers take 64 bits, whatever they are.
    pub(super) wide: bool,
    /// Timestamps stay as they are written.
    pub(super) text_timestamps: bool,
    /// Doubles that are no numbers. A server without any takes -0 for 0, too.
    pub(super) specials: Specials,
}

impl Wishes {
    /// Nothing is kept otherwise than MongoDB does.
    pub(super) const ALL: Self = Self {
        decimals: true,
        nested_lists: true,
        wide: false,
        text_timestamps: false,
        specials: Specials::All,
    };

    /// Whether a number is to the server what it is here.
    pub(super) fn keeps(self, number: f64) -> bool {
        self.specials != Specials::None || number != 0.0 || number.is_sign_positive()
    }
}

/// What a column takes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Store {
    ty: Type,
    /// Only values that stay as they are written: the type is a guess, and a value that would change disproves it.
    strict: bool,
    form: Form,
    wishes: Wishes,
}

/// What a column's values are in BSON.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Form {
    Integer,
    Double,
    Decimal,
    Boolean,
    Date,
    Text,
    Document,
    Binary,
}

/// What was written of a value.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) enum Kept {
    Integer(i64),
    Real(f64),
    /// As it came.
    Text,
    Bytes,
    /// Bytes of BSON, kind and value.
    Raw,
}

/// Why a value doesn't fit: what sort of fault, and what the column takes.
pub(super) type Misfit = rule::Misfit<'static>;

const FINER: &str = "a timestamp to the millisecond, which is all that MongoDB's dates keep";

impl Store {
    pub(super) fn of(column: &Column, wishes: Wishes) -> Self {
        let strict = column.is_strict();
        let form = match column.ty {
            Type::Integer => Form::Integer,
            Type::Float => Form::Double,
            Type::Decimal { precision, .. }
                if !wishes.decimals || strict && precision > decimal::DIGITS_MAX =>
            {
                Form::Text
            }
            Type::Decimal { .. } => Form::Decimal,
            Type::Boolean => Form::Boolean,
            Type::Timestamp { .. } if wishes.text_timestamps => Form::Text,
            Type::Date | Type::Timestamp { .. } => Form::Date,
            Type::TimestampNs { .. } | Type::Text | Type::Time | Type::Uuid | Type::Interval => {
                Form::Text
            }
            Type::Json => Form::Document,
            Type::Bytes => Form::Binary,
        };
        Self { ty: column.ty, strict, form, wishes }
    }

    pub(super) fn form(self) -> Form {
        self.form
    }

    /// The type as the server's own `$type` calls it.
    pub(super) fn spelling(self) -> &'static str {
        match self.form {
            Form::Integer if self.wishes.wide => "long",
            Form::Integer => "int or long",
            Form::Double => "double",
            Form::Decimal => "decimal",
            Form::Boolean => "bool",
            Form::Date => "date",
            Form::Text => "string",
            Form::Document => "object, array or value",
            Form::Binary => "binData",
        }
    }

    /// Appends the value that `value` is; its kind, and what there is to sum.
    #[inline]
    pub(super) fn put(self, value: &[u8], out: &mut Vec<u8>) -> Result<(u8, Kept), Misfit> {
        match self.form {
            Form::Integer => {
                let number = match scan::plain_integer(value) {
                    Some(number) => number,
                    None => rule::long(value, self.strict)?,
                };
                Ok((json::put_integer(number, self.wishes.wide, out), Kept::Integer(number)))
            }
            Form::Double => {
                let number = match scan::plain_decimal(value) {
                    Some(number) => number,
                    None => double::kept(value, self.strict, self.wishes.specials)?,
                };
                if !self.wishes.keeps(number) {
                    return Err((Code::Range, "a double that FerretDB keeps, which has no -0"));
                }
                out.extend_from_slice(&number.to_le_bytes());
                Ok((kind::DOUBLE, Kept::Real(number)))
            }
            Form::Text => {
                self.check(value)?;
                bson::put_string(value, out);
                Ok((kind::STRING, Kept::Text))
            }
            Form::Date => {
                let millis = self.millis(value)?;
                out.extend_from_slice(&millis.to_le_bytes());
                Ok((kind::DATE, Kept::Integer(millis)))
            }
            Form::Boolean => {
                let truth = rule::boolean(value, self.strict, Truths::Digits)?;
                out.push(truth.into());
                Ok((kind::BOOLEAN, Kept::Integer(truth.into())))
            }
            Form::Decimal => {
                self.check(value)?;
                let bytes = decimal::read(value).ok_or((Code::Range, "a decimal of 34 digits"))?;
                out.extend_from_slice(&bytes);
                Ok((kind::DECIMAL128, Kept::Raw))
            }
            Form::Document => {
                let kind =
                    json::put(value, self.wishes, out).map_err(|wanted| (Code::Type, wanted))?;
                Ok((kind, Kept::Raw))
            }
            Form::Binary => {
                bson::put_binary(value, out);
                Ok((kind::BINARY, Kept::Bytes))
            }
        }
    }

    /// The same for a value that isn't text; `None` where the column is of another kind, and its text has the word.
    #[inline]
    pub(super) fn put_typed(self, typed: Typed, out: &mut Vec<u8>) -> Option<(u8, Kept)> {
        Some(match (self.form, typed) {
            (Form::Integer, Typed::Integer(number)) => {
                (json::put_integer(number, self.wishes.wide, out), Kept::Integer(number))
            }
            (Form::Double, Typed::Float(number))
                if number.is_finite() && self.wishes.keeps(number) =>
            {
                out.extend_from_slice(&number.to_le_bytes());
                (kind::DOUBLE, Kept::Real(number))
            }
            (Form::Boolean, Typed::Boolean(truth)) => {
                out.push(truth.into());
                (kind::BOOLEAN, Kept::Integer(truth.into()))
            }
            (Form::Date, Typed::Date(days))
                if self.ty == Type::Date && DAYS.contains(&i64::from(days)) =>
            {
                let millis = i64::from(days) * DAY_MILLIS;
                out.extend_from_slice(&millis.to_le_bytes());
                (kind::DATE, Kept::Integer(millis))
            }
            (Form::Date, Typed::Moment(moment))
                if self.ty == (Type::Timestamp { zone: moment.zone })
                    && moment.nanos.is_multiple_of(1_000_000)
                    && DAYS.contains(&moment.seconds.div_euclid(DAY_MILLIS / 1000)) =>
            {
                let millis = moment.seconds * 1000 + i64::from(moment.nanos / 1_000_000);
                out.extend_from_slice(&millis.to_le_bytes());
                (kind::DATE, Kept::Integer(millis))
            }
            (Form::Decimal, Typed::Decimal { digits, scale }) => {
                // What a column promises to hold is compared digit by digit.
                if matches!(self.ty, Type::Decimal { precision: 1.., .. }) {
                    return None;
                }
                out.extend_from_slice(&decimal::encode(digits, -i64::from(scale))?);
                (kind::DECIMAL128, Kept::Raw)
            }
            _ => return None,
        })
    }

    #[inline(never)]
    fn millis(self, value: &[u8]) -> Result<i64, Misfit> {
        let Type::Timestamp { zone } = self.ty else {
            let days = rule::date(value)?;
            return Ok(i64::from(days) * DAY_MILLIS);
        };
        rule::timestamp(value, zone)?;
        let micros = scan::timestamp_micros(value).filter(|micros| micros % 1000 == 0);
        micros.map(|micros| micros.div_euclid(1000)).ok_or((Code::Type, FINER))
    }

    /// Whether text, stored as it is, is what the column's type says.
    fn check(self, value: &[u8]) -> Result<(), Misfit> {
        match self.ty {
            Type::Decimal { precision, scale } => rule::decimal_text(value, precision, scale),
            Type::Timestamp { zone } | Type::TimestampNs { zone } => rule::timestamp(value, zone),
            _ => Ok(()),
        }
    }
}

const DAY_MILLIS: i64 = 86_400_000;

/// The days of the years 0001 to 9999, since 1970-01-01: those that can be written.
const DAYS: std::ops::RangeInclusive<i64> = -719_162..=2_932_896;

#[cfg(test)]
mod tests {
    use super::*;
    use crate::bson::Value;
    use inrush_core::Basis;

    const WISHES: Wishes = Wishes::ALL;

    fn stored(ty: Type, pinned: bool, wishes: Wishes, text: &str) -> Option<(u8, String)> {
        let column = Column {
            name: String::new(),
            ty,
            declared: None,
            basis: if pinned { Basis::Declared } else { Basis::Inferred },
            required: false,
        };
        let mut out = Vec::new();
        let (kind, _) = Store::of(&column, wishes).put(text.as_bytes(), &mut out).ok()?;
        json::shown(Value { kind, bytes: &out }).map(|shown| (kind, shown))
    }

    #[test]
    fn values_are_what_their_columns_say() {
        let decimal = Type::Decimal { precision: 20, scale: 2 };
        let local = Type::Timestamp { zone: false };
        let zoned = Type::Timestamp { zone: true };
        for (ty, text, kind, shown) in [
            (Type::Integer, "-7", kind::INT32, "-7"),
            (Type::Integer, "2147483648", kind::INT64, "2147483648"),
            (Type::Float, "1.50", kind::DOUBLE, "1.5"),
            (decimal, "123456789012345678.90", kind::DECIMAL128, "123456789012345678.90"),
            (Type::Boolean, "true", kind::BOOLEAN, "true"),
            (Type::Date, "2024-02-29", kind::DATE, "2024-02-29T00:00:00.000Z"),
            (Type::Date, "0001-01-01", kind::DATE, "0001-01-01T00:00:00.000Z"),
            (local, "2024-02-29 01:02", kind::DATE, "2024-02-29T01:02:00.000Z"),
            (local, "1969-12-31 23:59:59.999000", kind::DATE, "1969-12-31T23:59:59.999Z"),
            (zoned, "2024-02-29 01:02:03+02:00", kind::DATE, "2024-02-28T23:02:03.000Z"),
            (Type::Json, "{\"a\": [1]}", kind::DOCUMENT, "{\"a\":[1]}"),
            (Type::Text, "a\u{0}\u{1f600}", kind::STRING, "a\u{0}\u{1f600}"),
        ] {
            let wanted = Some((kind, shown.to_owned()));
            assert_eq!(stored(ty, false, WISHES, text), wanted, "{ty} {text}");
        }
    }

    #[test]
    fn a_guess_keeps_the_text_and_a_promise_keeps_the_value() {
        let shown = |ty, pinned, text| stored(ty, pinned, WISHES, text).map(|(_, shown)| shown);
        assert_eq!(shown(Type::Integer, false, "007"), None);
        assert_eq!(shown(Type::Integer, true, "007").as_deref(), Some("7"));
        assert_eq!(shown(Type::Integer, true, "9223372036854775808"), None);
        assert_eq!(shown(Type::Float, true, "9007199254740993"), None);
        assert_eq!(shown(Type::Boolean, true, "1").as_deref(), Some("true"));
        assert_eq!(shown(Type::Timestamp { zone: false }, true, "2024-02-29 01:02:03.0001"), None);
        let digits = "1".repeat(35);
        let any = Type::Decimal { precision: 0, scale: 0 };
        assert_eq!(shown(any, true, &digits), None);
        // Nothing has to change for a guess: digits that are too many for a decimal stay text.
        let wide = Type::Decimal { precision: 35, scale: 0 };
        assert_eq!(stored(wide, false, WISHES, &digits), Some((kind::STRING, digits.clone())));
    }

    #[test]
    fn wishes_and_servers_change_the_kind_and_not_the_value() {
        let none = Wishes { decimals: false, wide: true, text_timestamps: true, ..Wishes::ALL };
        let ferret = Wishes { specials: Specials::None, ..Wishes::ALL };
        assert_eq!(stored(Type::Float, true, ferret, "-0.0"), None);
        assert!(stored(Type::Float, true, ferret, "-0.5").is_some());
        let decimal = Type::Decimal { precision: 20, scale: 2 };
        assert_eq!(stored(decimal, false, none, "1.10"), Some((kind::STRING, "1.10".to_owned())));
        assert_eq!(stored(decimal, true, none, "x"), None);
        assert_eq!(stored(Type::Integer, false, none, "1"), Some((kind::INT64, "1".to_owned())));
        let local = Type::Timestamp { zone: false };
        let text = "2024-02-29 01:02:03.0001";
        assert_eq!(stored(local, false, none, text), Some((kind::STRING, text.to_owned())));
    }
}
