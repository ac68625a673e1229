//! Numbers as digits, for types that keep each of them.

/// A number's text, taken apart: `[+-]?(digits[.digits*]|.digits)([eE][+-]?digits)?`.
#[derive(Debug)]
pub struct Digits<'a> {
    /// Whether it begins with `-`.
    pub negative: bool,
    /// The digits before the point.
    pub whole: &'a [u8],
    /// The digits behind the point.
    pub fraction: &'a [u8],
    /// Whether a point is written.
    pub has_point: bool,
    /// Whether an exponent is written, even one of 0.
    pub has_exponent: bool,
    /// Saturated far beyond what any digits could make up for.
    pub exponent: i64,
}

impl<'a> Digits<'a> {
    /// Takes a text apart; `None` where it is no number.
    pub fn parse(value: &'a [u8]) -> Option<Self> {
        let (negative, value) = signed(value);
        let (whole, rest) = split_digits(value);
        let has_point = rest.first() == Some(&b'.');
        let (fraction, rest) = split_digits(if has_point { &rest[1..] } else { rest });
        if whole.is_empty() && fraction.is_empty() {
            return None;
        }
        let has_exponent = !rest.is_empty();
        let mut exponent = 0;
        if let [b'e' | b'E', power @ ..] = rest {
            let (negative, power) = signed(power);
            let (digits, rest) = split_digits(power);
            if digits.is_empty() || !rest.is_empty() {
                return None;
            }
            let digit = |number: i64, digit: &u8| {
                (number * 10 + i64::from(digit - b'0')).min(10_000_000_000)
            };
            exponent = digits.iter().fold(0, digit);
            exponent = if negative { -exponent } else { exponent };
        } else if has_exponent {
            return None;
        }
        Some(Self { negative, whole, fraction, has_point, has_exponent, exponent })
    }

    /// Where the digits that count start and end; `None` for zero.
    pub fn significant(&self) -> Option<(i64, i64)> {
        let digits = || self.whole.iter().chain(self.fraction);
        let first = digits().position(|digit| *digit != b'0')?;
        let zeros = digits().rev().take_while(|digit| **digit == b'0').count();
        Some((first as i64, (self.whole.len() + self.fraction.len() - zeros) as i64))
    }

    /// How many digits the number has before its point, and how many behind it are needed. Both 0 for zero.
    pub fn size(&self) -> (i64, i64) {
        let Some((first, end)) = self.significant() else { return (0, 0) };
        let point = self.point();
        ((point - first).max(0), (end - point).max(0))
    }

    /// Where the point is, counted in digits.
    pub fn point(&self) -> i64 {
        self.whole.len() as i64 + self.exponent
    }

    /// The value of the digit at a place; zeros beyond those that are written.
    #[inline]
    pub fn digit(&self, place: i64) -> u8 {
        let Ok(place) = usize::try_from(place) else { return 0 };
        let digit = match place.checked_sub(self.whole.len()) {
            None => self.whole.get(place),
            Some(place) => self.fraction.get(place),
        };
        digit.map_or(0, |digit| digit - b'0')
    }
}

/// Whether a text begins with `-`, and what comes after its sign.
pub fn signed(value: &[u8]) -> (bool, &[u8]) {
    match value {
        [b'-', rest @ ..] => (true, rest),
        [b'+', rest @ ..] => (false, rest),
        _ => (false, value),
    }
}

/// The digits that a text begins with, and what comes after them.
pub fn split_digits(value: &[u8]) -> (&[u8], &[u8]) {
    value.split_at(value.iter().take_while(|byte| byte.is_ascii_digit()).count())
}
