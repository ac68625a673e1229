//! Values that have a type of their own, for columns that keep them as they are.

use inrush_core::encode::{Day, Moment, Typed};

/// A value that the column keeps.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) enum Exact {
    /// A whole number, for a column of any numbers.
    Integer(i64),
    /// A finite double, no negative zero.
    Real(f64),
    /// `digits` / 10^`scale`, without zeros at the end of the fraction.
    Decimal { digits: i128, scale: u8 },
    /// A day.
    Day(Day),
    /// A moment of the years 1 to 9999, of whose fraction so many digits are shown.
    Moment { moment: Moment, digits: u8 },
}

impl Exact {
    /// Appends the text that the server will show, except for the zeros at a decimal's end.
    #[inline]
    pub(crate) fn write(self, out: &mut Vec<u8>) {
        match self {
            Self::Integer(number) => Typed::Integer(number).write(out),
            Self::Real(number) => Typed::Float(number).write(out),
            Self::Decimal { digits, scale } => Typed::Decimal { digits, scale }.write(out),
            Self::Day(day) => out.extend_from_slice(&day.text()),
            Self::Moment { moment, digits } => {
                Typed::Moment(Moment { nanos: 0, zone: false, ..moment }).write(out);
                if digits > 0 {
                    out.push(b'.');
                    let mut below = 1_000_000_000;
                    for _ in 0..digits {
                        below /= 10;
                        out.push(b'0' + (moment.nanos / below % 10) as u8);
                    }
                }
            }
        }
    }
}
