//! What a column takes, and how JSON says it.

use inrush_scan as scan;

use inrush_core::encode::{Day, Typed, has_whole_digits};
use inrush_core::value::double::{self, Specials};
use inrush_core::value::rule::{self, Truths};
use inrush_core::{Column, Type};

/// Decimal digits that every double keeps.
const SAFE_DIGITS: u16 = 15;

/// Whether all values of a type keep their digits in a reader that makes doubles of numbers.
pub(super) fn is_safe_decimal(ty: Type) -> bool {
    matches!(ty, Type::Decimal { precision: 1..=SAFE_DIGITS, .. })
}

/// What a column takes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Store {
    ty: Type,
    /// Only values that stay as they are written: the type is a guess, and a value that would change disproves it.
    strict: bool,
    /// What the file has besides numbers.
    specials: Specials,
}

/// What a value is. Numbers may be written in ways that JSON has not.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) enum Kept {
    Integer(i64),
    Float(f64),
    /// Digits that JSON has as they are written, and that every reader keeps.
    Decimal,
    Boolean(bool),
    Text,
    /// A timestamp, a `T` or a blank between day and time.
    Moment,
    Json,
    Bytes,
}

/// Why a value doesn't fit: what sort of fault, and what the column takes.
pub(super) type Misfit = rule::Misfit<'static>;

impl Store {
    pub(super) fn of(column: &Column) -> Self {
        Self { ty: column.ty, strict: column.is_strict(), specials: Specials::None }
    }

    /// The same in a file of text, which has any float.
    pub(super) fn of_text(column: &Column) -> Self {
        Self { specials: Specials::All, ..Self::of(column) }
    }

    /// Whether any text will do.
    pub(super) fn takes_all(self) -> bool {
        matches!(self.ty, Type::Text | Type::Bytes)
    }

    /// What `value` is.
    #[inline]
    pub(super) fn keep(self, value: &[u8]) -> Result<Kept, Misfit> {
        match self.ty {
            Type::Text | Type::Time | Type::Uuid | Type::Interval => Ok(Kept::Text),
            Type::Bytes => Ok(Kept::Bytes),
            Type::Integer => match scan::plain_integer(value) {
                Some(number) => Ok(Kept::Integer(number)),
                None => self.integer(value),
            },
            Type::Float => match scan::plain_decimal(value) {
                Some(number) => Ok(Kept::Float(number)),
                None => self.float(value),
            },
            Type::Decimal { precision, scale } => self.decimal(value, precision, scale),
            Type::Boolean => rule::boolean(value, self.strict, Truths::Digits).map(Kept::Boolean),
            Type::Date => rule::date(value).map(|_| Kept::Text),
            Type::Timestamp { zone } | Type::TimestampNs { zone } => {
                rule::timestamp(value, zone).map(|()| Kept::Moment)
            }
            Type::Json => rule::json(value).map(|()| Kept::Json),
        }
    }

    /// What a value is that has a type of its own, where that is what its text would be. `None` says nothing; ask [`Store::keep`]
    /// for the text.
    #[inline]
    pub(super) fn keep_typed(self, typed: Typed) -> Option<Kept> {
        Some(match (self.ty, typed) {
            (Type::Integer, Typed::Integer(number)) => Kept::Integer(number),
            (Type::Float, typed) => Kept::Float(typed.double()?),
            (Type::Decimal { precision, scale }, Typed::Decimal { digits, scale: written }) => {
                let (precision, scale) = (i64::from(precision), i64::from(scale));
                // A zero without a point counts as a digit.
                let fits = has_whole_digits(digits, written, precision - scale)
                    && i64::from(written) <= scale
                    && (written > 0 || precision > scale);
                match fits || precision == 0 {
                    false => return None,
                    true if is_safe_decimal(self.ty) => Kept::Decimal,
                    true => Kept::Text,
                }
            }
            (Type::Boolean, Typed::Boolean(truth)) => Kept::Boolean(truth),
            (Type::Boolean, Typed::Integer(number @ 0..=1)) if !self.strict => {
                Kept::Boolean(number == 1)
            }
            (Type::Date, Typed::Date(days)) if Day::COMMON.contains(&days.into()) => Kept::Text,
            (Type::Timestamp { zone } | Type::TimestampNs { zone }, Typed::Moment(moment))
                if zone == moment.zone && moment.is_common() =>
            {
                Kept::Moment
            }
            _ => return None,
        })
    }

    #[inline(never)]
    fn integer(self, value: &[u8]) -> Result<Kept, Misfit> {
        rule::long(value, self.strict).map(Kept::Integer)
    }

    #[inline(never)]
    fn float(self, value: &[u8]) -> Result<Kept, Misfit> {
        double::kept(value, self.strict, self.specials).map(Kept::Float)
    }

    #[inline(never)]
    fn decimal(self, value: &[u8], precision: u16, scale: u16) -> Result<Kept, Misfit> {
        rule::decimal_text(value, precision, scale)?;
        Ok(if is_safe_decimal(self.ty) { Kept::Decimal } else { Kept::Text })
    }
}

/// A column of each sort, for tests.
#[cfg(test)]
pub(super) fn samples() -> Vec<Column> {
    use inrush_core::Basis;

    let types = [
        Type::Integer,
        Type::Float,
        Type::Decimal { precision: 0, scale: 0 },
        Type::Decimal { precision: 10, scale: 2 },
        Type::Decimal { precision: 2, scale: 2 },
        Type::Decimal { precision: 38, scale: 20 },
        Type::Boolean,
        Type::Date,
        Type::Timestamp { zone: false },
        Type::Timestamp { zone: true },
        Type::Text,
        Type::Json,
        Type::Bytes,
    ];
    let column = |ty, pinned| {
        let name = "c".to_owned();
        Column {
            name,
            ty,
            declared: None,
            basis: if pinned { Basis::Declared } else { Basis::Inferred },
            required: false,
        }
    };
    types.iter().flat_map(|ty| [false, true].map(|pinned| column(*ty, pinned))).collect()
}
