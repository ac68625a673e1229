//! Amounts of money, which the server keeps as a number of the currency's smallest unit.
//!
//! How many digits that has behind the point, and how the server reads and writes amounts, its setting `lc_monetary` says:
//! <https://www.postgresql.org/docs/current/datatype-money.html>. What it reads it rounds, and makes nothing into zero.

use inrush_core::flow::Code;

use super::store::Misfit;

/// The amount that a server is asked to write, with and without a minus, so that its way is known.
pub(crate) const AMOUNT: u32 = 12_345;

/// A server's way with amounts.
#[derive(Clone, Debug)]
pub(super) struct Money {
    /// Before the first digit and after the last: the currency.
    before: Box<str>,
    after: Box<str>,
    /// The same of an amount below zero: `-$`, or a minus behind the currency, or brackets.
    debt: Option<[Box<str>; 2]>,
    /// Between groups of three digits.
    group: Box<str>,
    point: Box<str>,
    /// Behind the point.
    digits: u8,
}

impl Money {
    /// That of a server which writes [`AMOUNT`] so: `$12,345.00`, `12.345,00 €`; on a line of its own may follow how it writes it below zero.
    pub(super) fn of(shown: &str) -> Option<Self> {
        let (shown, debt) = shown.split_once('\n').unwrap_or((shown, ""));
        let (before, rest) = shown.split_once("12")?;
        let (group, rest) = rest.split_once("345")?;
        let (point, rest) = rest.split_at(rest.find('0').unwrap_or(0));
        let after = rest.trim_start_matches('0');
        let digits = u8::try_from(rest.len() - after.len()).ok().filter(|digits| *digits <= 9)?;
        let number = &shown[before.len()..shown.len() - after.len()];
        let debt = debt.split_once(number).map(|(before, after)| [before, after].map(Box::from));
        let [before, after, group, point] = [before, after, group, point].map(Box::from);
        Some(Self { before, after, debt, group, point, digits })
    }

    /// What values are to be, in words.
    pub(super) fn wanted(&self) -> String {
        let Self { before, after, group, point, digits, .. } = self;
        let fraction = "0".repeat(usize::from(*digits));
        let dot = if fraction.is_empty() { "" } else { "." };
        format!("money (12345{dot}{fraction} or {before}12{group}345{point}{fraction}{after})")
    }

    pub(super) fn encode<'a>(
        &self,
        value: &[u8],
        wanted: &'a str,
        out: &mut Vec<u8>,
    ) -> Result<(), Misfit<'a>> {
        let text = std::str::from_utf8(value).map_err(|_| (Code::Type, wanted))?;
        let debt = self
            .debt
            .as_ref()
            .and_then(|[before, after]| text.strip_prefix(&**before)?.strip_suffix(&**after));
        let amount = debt.or_else(|| text.strip_prefix('-')).unwrap_or(text);
        let (number, fraction) = match plain(amount) {
            // Thousandths to most programs, a group of three to the server.
            Some((_, fraction)) if &*self.group == "." && fraction.len() == 3 => {
                return Err((Code::Range, wanted));
            }
            plain => plain.or_else(|| self.shown(amount)).ok_or((Code::Type, wanted))?,
        };
        // Zeros at its end are no digits that anything is lost with.
        let fraction = fraction.trim_end_matches('0');
        let missing = usize::from(self.digits).checked_sub(fraction.len());
        let missing = missing.ok_or((Code::Range, wanted))?;
        let all = [&number, fraction, &"0".repeat(missing)].concat();
        let sign = if amount.len() < text.len() { "-" } else { "" };
        let units: i64 = [sign, &all].concat().parse().map_err(|_| (Code::Range, wanted))?;
        out.extend_from_slice(&units.to_be_bytes());
        Ok(())
    }

    /// Appends a number of `digits` / 10^`scale`, if money keeps it.
    pub(super) fn encode_digits(&self, digits: i128, scale: u8, out: &mut Vec<u8>) -> bool {
        let power = |places: u8| 10_i128.checked_pow(places.into());
        let units = match self.digits.checked_sub(scale) {
            Some(missing) => power(missing).and_then(|power| digits.checked_mul(power)),
            None => power(scale - self.digits)
                .filter(|power| digits % power == 0)
                .map(|power| digits / power),
        };
        let Some(units) = units.and_then(|units| i64::try_from(units).ok()) else { return false };
        out.extend_from_slice(&units.to_be_bytes());
        true
    }

    /// Whether the server reads `1234.5` as what it is.
    pub(super) fn reads_plain(&self) -> bool {
        &*self.group != "." && matches!(&*self.point, "." | "")
    }

    /// Writes an amount, given in its binary form, so that the server reads it.
    pub(super) fn write(&self, binary: [u8; 8], out: &mut Vec<u8>) {
        let units = i64::from_be_bytes(binary);
        let digits = usize::from(self.digits);
        let all = format!("{:0>width$}", units.unsigned_abs(), width = digits + 1);
        let (number, fraction) = all.split_at(all.len() - digits);
        let sign = if units < 0 { "-" } else { "" };
        [sign, number, &self.point, fraction].iter().for_each(|part| out.extend(part.bytes()));
    }

    /// Whole number and fraction of an amount, written as the server writes it, with or without currency and groups, and with a
    /// fraction of as many digits as money keeps, or fewer.
    fn shown<'v>(&self, amount: &'v str) -> Option<(String, &'v str)> {
        let amount = amount.strip_prefix(&*self.before).unwrap_or(amount);
        let amount = amount.strip_suffix(&*self.after).unwrap_or(amount);
        let (number, fraction) = split(amount, &self.point)?;
        let groups: Vec<&str> = match &*self.group {
            "" => vec![number],
            group => number.split(group).collect(),
        };
        let [first, others @ ..] = &groups[..] else { return None };
        let are_groups =
            others.is_empty() || (first.len() <= 3 && others.iter().all(|group| group.len() == 3));
        let number = groups.concat();
        let are_digits = !first.is_empty() && is_digits(&number) && is_digits(fraction);
        let is_kept = fraction.len() <= self.digits.into();
        (are_groups && are_digits && is_kept).then_some((number, fraction))
    }
}

/// Whole number and fraction of `1234.5`.
fn plain(amount: &str) -> Option<(String, &str)> {
    let (number, fraction) = split(amount, ".")?;
    let are_digits = !number.is_empty() && is_digits(number) && is_digits(fraction);
    are_digits.then(|| (number.to_owned(), fraction))
}

/// What stands before and behind the point; nothing behind where there is no point. `None` for a point with nothing behind.
fn split<'v>(amount: &'v str, point: &str) -> Option<(&'v str, &'v str)> {
    match amount.split_once(point) {
        _ if point.is_empty() => Some((amount, "")),
        Some((_, "")) => None,
        parts => Some(parts.unwrap_or((amount, ""))),
    }
}

fn is_digits(text: &str) -> bool {
    text.bytes().all(|byte| byte.is_ascii_digit())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn units(shown: &str, value: &str) -> Result<i64, Code> {
        let mut out = Vec::new();
        let money = Money::of(shown).unwrap();
        money.encode(value.as_bytes(), "", &mut out).map_err(|(code, _)| code)?;
        Ok(i64::from_be_bytes(out.try_into().unwrap()))
    }

    #[test]
    fn amounts_are_kept_or_refused() {
        let (type_, range) = (Err(Code::Type), Err(Code::Range));
        for (shown, cases) in [
            (
                "$12,345.00",
                &[
                    ("12", Ok(1200)),
                    ("-12.5", Ok(-1250)),
                    ("0.010", Ok(1)),
                    ("$1,234,567.89", Ok(123_456_789)),
                    ("-$1.00", Ok(-100)),
                    ("$1234.00", Ok(123_400)),
                    ("$5", Ok(500)),
                    ("-$1.5", Ok(-150)),
                    ("$1,234", Ok(123_400)),
                    ("1,234.56", Ok(123_456)),
                    ("1,234,567", Ok(123_456_700)),
                    ("92233720368547758.07", Ok(i64::MAX)),
                    ("-92233720368547758.08", Ok(i64::MIN)),
                    ("92233720368547758.08", range),
                    ("1.005", range),
                    ("", type_),
                    ("$", type_),
                    (".5", type_),
                    ("5.", type_),
                    ("12,34", type_),
                    ("$12,34.00", type_),
                    ("$,234.00", type_),
                    ("$1.005", type_),
                    ("$1.500", type_),
                    ("$1.", type_),
                    ("$$1", type_),
                    ("1$", type_),
                    ("1234,567", type_),
                    ("1,234,56", type_),
                    ("1.234,56", type_),
                    ("1e3", type_),
                    ("($1.00)", type_),
                ][..],
            ),
            (
                "12.345,00 €",
                &[
                    ("1234.5", Ok(123_450)),
                    ("-1.234,50 €", Ok(-123_450)),
                    ("1.234,5", Ok(123_450)),
                    ("1,50", Ok(150)),
                    ("5 €", Ok(500)),
                    ("1.234 €", Ok(123_400)),
                    ("1.234.567", Ok(123_456_700)),
                    // A fraction to some, thousands to others.
                    ("1.234", range),
                    ("1.500", range),
                    ("1,234", type_),
                    ("1,500", type_),
                    ("1.23 €", type_),
                    ("1,234.56", type_),
                ],
            ),
            (
                "￥12,345",
                &[
                    ("7", Ok(7)),
                    ("￥1,234", Ok(1234)),
                    ("1,234", Ok(1234)),
                    ("1.5", range),
                    ("1.0", Ok(1)),
                    ("￥1.0", type_),
                ],
            ),
            ("$12.345", &[("$1.234", Ok(1234)), ("1.000", range), ("1.0", Ok(1))]),
            (
                "$12,345.00\n($12,345.00)",
                &[
                    ("($1.00)", Ok(-100)),
                    ("-$1.00", Ok(-100)),
                    ("$1.00", Ok(100)),
                    ("($1.00", type_),
                ],
            ),
            (
                "€ 12.345,00\n€ 12.345,00-",
                &[("€ 1,50-", Ok(-150)), ("-1", Ok(-100)), ("1-", type_)],
            ),
            ("€ 12.345,00\n€ -12.345,00", &[("€ -1,50", Ok(-150)), ("€ 1,50", Ok(150))]),
        ] {
            for (value, wanted) in cases {
                assert_eq!(units(shown, value), *wanted, "{shown} {value:?}");
            }
        }
    }

    #[test]
    fn amounts_are_written_with_the_servers_point() {
        for (shown, units, text) in [
            ("$12,345.00", -5, "-0.05"),
            ("12.345,00 €", 123_456, "1234,56"),
            ("￥12,345", 7, "7"),
            ("$12,345.00", i64::MIN, "-92233720368547758.08"),
        ] {
            let mut out = Vec::new();
            Money::of(shown).unwrap().write(units.to_be_bytes(), &mut out);
            assert_eq!(String::from_utf8(out).unwrap(), text);
        }
    }

    #[test]
    fn a_point_that_sets_off_groups_is_read_otherwise() {
        for (shown, reads) in
            [("$12,345.00", true), ("￥12,345", true), ("12.345,00 €", false), ("$12.345", false)]
        {
            assert_eq!(Money::of(shown).unwrap().reads_plain(), reads, "{shown}");
        }
    }

    #[test]
    fn numbers_are_what_their_texts_are() {
        for (digits, scale, wanted) in
            [(5, 0, Some(500)), (-1005, 3, None), (1500, 3, Some(150)), (i128::MAX, 2, None)]
        {
            let mut out = Vec::new();
            let is_kept = Money::of("$12,345.00").unwrap().encode_digits(digits, scale, &mut out);
            let kept = is_kept.then(|| i64::from_be_bytes(out.try_into().unwrap()));
            assert_eq!(kept, wanted, "{digits} {scale}");
        }
    }
}
