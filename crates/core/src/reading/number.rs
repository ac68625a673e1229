//! Numbers as people write them: with a comma, in groups, with a currency or a percent sign.

use std::sync::OnceLock;

use crate::reading::Read;

/// How the numbers of a column are written.
#[derive(Debug)]
pub(super) struct Numbers {
    /// The decimal separator.
    pub(super) decimal: u8,
    /// What may stand between groups of three digits.
    pub(super) thousands: Option<Box<str>>,
    pub(super) style: Style,
}

#[derive(Debug)]
pub(super) enum Style {
    Plain,
    /// With a currency, before or after. The first one that is seen is the column's: a sum of two currencies would be wrong.
    Money(OnceLock<Box<str>>),
    Percent,
}

impl Numbers {
    /// Appends the number as inrush writes numbers.
    ///
    /// # Errors
    /// What it should be, when it is none; some of it may have been appended.
    pub(super) fn read(&self, text: &[u8], out: &mut Vec<u8>) -> Result<(), String> {
        match &self.style {
            Style::Plain => self.plain(text, out).ok_or_else(|| self.words()),
            Style::Percent => self.percent(text, out).ok_or_else(|| self.words()),
            Style::Money(known) => {
                let currency = self.money(text, out).ok_or_else(|| self.words())?;
                let Some(currency) = currency else { return Ok(()) };
                let known = known.get_or_init(|| currency.into());
                match **known == *currency {
                    true => Ok(()),
                    false => Err(format!("an amount in {known}, as others of its column are")),
                }
            }
        }
    }

    /// Reads a number of the usual length without groups, signs or an exponent, and writes it over `texts[start..end]`; `None` says
    /// nothing.
    #[inline(always)]
    pub(super) fn read_in_place(&self, texts: &mut [u8], start: usize, end: usize) -> Option<Read> {
        if !matches!(self.style, Style::Plain) {
            return None;
        }
        match inrush_scan::plain_decimal_point(&texts[start..end], self.decimal) {
            Some(point) => {
                texts[start + point] = b'.';
                Some(Read::Written)
            }
            None => inrush_scan::plain_integer_within(texts, start, end).map(|_| Read::AsIs),
        }
    }

    /// A number that inrush has written, as this one reads it; `None` where it can't be written so.
    pub(super) fn write(&self, text: &[u8]) -> Option<Vec<u8>> {
        let mut form = match self.style {
            Style::Percent => hundredfold(text)?,
            Style::Plain | Style::Money(_) => text.to_vec(),
        };
        if let Some(point) = form.iter_mut().find(|byte| **byte == b'.') {
            *point = self.decimal;
        }
        if matches!(self.style, Style::Percent) {
            form.push(b'%');
        }
        let number = |text: &[u8]| std::str::from_utf8(text).ok()?.parse::<f64>().ok();
        let mut back = Vec::new();
        self.read(&form, &mut back).ok()?;
        (number(&back)? == number(text)?).then_some(form)
    }

    /// What a value has to be.
    pub(super) fn words(&self) -> String {
        let what = match self.style {
            Style::Plain => "a number",
            Style::Money(_) => "an amount of money",
            Style::Percent => "a percentage",
        };
        let point = char::from(self.decimal);
        match &self.thousands {
            None => format!("{what} with '{point}' before its decimals"),
            Some(group) => {
                format!(
                    "{what} with '{point}' before its decimals and '{group}' between groups of three digits"
                )
            }
        }
    }

    /// `[+-]?D+([decimal]D+)?([eE][+-]?D+)?`, where the digits before the separator may be in groups.
    fn plain(&self, text: &[u8], out: &mut Vec<u8>) -> Option<()> {
        let sign = usize::from(matches!(text, [b'+' | b'-', ..]));
        let whole = sign + digits(&text[sign..]).0.len();
        if whole == sign {
            return None;
        }
        out.extend_from_slice(&text[..whole]);
        let mut rest = &text[whole..];
        if let Some(group) = &self.thousands {
            rest = groups(rest, group.as_bytes(), &text[sign..whole], out)?;
        }
        // What follows is as we would write it but for the separator.
        let point = out.len();
        out.extend_from_slice(rest);
        if let [separator, behind @ ..] = rest
            && *separator == self.decimal
        {
            out[point] = b'.';
            let (fraction, behind) = digits(behind);
            if fraction.is_empty() {
                return None;
            }
            rest = behind;
        }
        if let [b'e' | b'E', behind @ ..] = rest {
            let unsigned = behind.strip_prefix(b"-").or(behind.strip_prefix(b"+"));
            let (exponent, after) = digits(unsigned.unwrap_or(behind));
            if exponent.is_empty() {
                return None;
            }
            rest = after;
        }
        rest.is_empty().then_some(())
    }

    fn percent(&self, text: &[u8], out: &mut Vec<u8>) -> Option<()> {
        let number = trimmed(text.strip_suffix(b"%")?);
        let mut plain = Vec::new();
        self.plain(number, &mut plain)?;
        if plain.iter().any(u8::is_ascii_alphabetic) {
            return None;
        }
        let digits = plain.strip_prefix(b"-").or(plain.strip_prefix(b"+")).unwrap_or(&plain);
        out.extend_from_slice(&plain[..plain.len() - digits.len()]);
        let point = digits.iter().position(|byte| *byte == b'.').unwrap_or(digits.len());
        let (whole, fraction) = (&digits[..point], digits.get(point + 1..).unwrap_or_default());
        // The point moves two places.
        let missing = 3_usize.saturating_sub(whole.len());
        let shifted = [&b"000"[..missing], whole].concat();
        let (whole, hundredths) = shifted.split_at(shifted.len() - 2);
        out.extend_from_slice(whole);
        out.push(b'.');
        out.extend_from_slice(hundredths);
        out.extend_from_slice(fraction);
        Some(())
    }

    /// The number, and the currency if there is one: before or after it, with a minus before or behind the sign, or in parentheses.
    fn money<'t>(&self, text: &'t [u8], out: &mut Vec<u8>) -> Option<Option<&'t str>> {
        let (mut rest, mut negative) = match text {
            [b'(', inner @ .., b')'] => (trimmed(inner), true),
            text => (text, false),
        };
        let is_in_parentheses = negative;
        let mut take_minus = |rest: &mut &'t [u8]| match *rest {
            [b'-', behind @ ..] if !negative => {
                negative = true;
                *rest = trimmed(behind);
            }
            _ => {}
        };
        if !is_in_parentheses {
            take_minus(&mut rest);
        }
        let mut currency = None;
        if let Some((found, behind)) = currency_before(rest) {
            currency = Some(found);
            rest = trimmed(behind);
            if !is_in_parentheses {
                take_minus(&mut rest);
            }
        }
        if currency.is_none()
            && let Some((before, found)) = currency_behind(rest)
        {
            currency = Some(found);
            rest = trimmed(before);
        }
        if !rest.first()?.is_ascii_digit() || rest.iter().any(|byte| matches!(byte, b'e' | b'E')) {
            return None;
        }
        if negative {
            out.push(b'-');
        }
        self.plain(rest, out)?;
        Some(currency)
    }
}

/// Appends the digits of groups of three, which follow a first one, and says what is behind them. Nobody writes 750 as `0.750`: there
/// the separator is a decimal point.
fn groups<'t>(
    text: &'t [u8],
    separator: &[u8],
    first: &[u8],
    out: &mut Vec<u8>,
) -> Option<&'t [u8]> {
    let mut rest = text;
    while let Some(behind) = rest.strip_prefix(separator) {
        let (three, after) = digits(behind);
        // The first group has what is left.
        if three.len() != 3 || first.len() > 3 || first.starts_with(b"0") {
            return None;
        }
        out.extend_from_slice(three);
        rest = after;
    }
    Some(rest)
}

/// Appends a number that a program has written with an exponent, `1e-05`, as a decimal one, 0.00001; `None` where that has more digits
/// than any decimal has.
pub(super) fn without_exponent(text: &[u8], out: &mut Vec<u8>) -> Option<()> {
    const DIGITS_MAX: i32 = 76;
    let (mantissa, exponent) = std::str::from_utf8(text).ok()?.split_once('e')?;
    let exponent: i32 = exponent.parse().ok()?;
    let unsigned = mantissa.strip_prefix('-').unwrap_or(mantissa);
    let (whole, fraction) = unsigned.split_once('.').unwrap_or((unsigned, ""));
    let digits = [whole, fraction].concat();
    let point = i32::try_from(whole.len()).ok()?.checked_add(exponent)?;
    let behind = i32::try_from(digits.len()).ok()? - point.clamp(-DIGITS_MAX, DIGITS_MAX);
    if !(0..DIGITS_MAX).contains(&point.abs()) || behind > DIGITS_MAX {
        return None;
    }
    let in_front = "0".repeat((1 - point).max(0) as usize);
    let digits = in_front + &digits + &"0".repeat((-behind).max(0) as usize);
    let (whole, fraction) = digits.split_at(point.max(1) as usize);
    out.extend_from_slice(&text[..mantissa.len() - unsigned.len()]);
    out.extend_from_slice(whole.as_bytes());
    if !fraction.is_empty() {
        out.push(b'.');
        out.extend_from_slice(fraction.as_bytes());
    }
    Some(())
}

/// The digits of a number, its point moved by two places; `None` where it has an exponent.
fn hundredfold(text: &[u8]) -> Option<Vec<u8>> {
    let unsigned = text.strip_prefix(b"-").unwrap_or(text);
    if unsigned.iter().any(|byte| !byte.is_ascii_digit() && *byte != b'.') {
        return None;
    }
    let point = unsigned.iter().position(|byte| *byte == b'.').unwrap_or(unsigned.len());
    let fraction = unsigned.get(point + 1..).unwrap_or_default();
    let missing = 2_usize.saturating_sub(fraction.len());
    let fraction = [fraction, &b"00"[..missing]].concat();
    let whole = [&unsigned[..point], &fraction[..2]].concat();
    let zeros = whole.iter().take_while(|byte| **byte == b'0').count().min(whole.len() - 1);
    let mut out = text[..text.len() - unsigned.len()].to_vec();
    out.extend_from_slice(&whole[zeros..]);
    if fraction.len() > 2 {
        out.push(b'.');
        out.extend_from_slice(&fraction[2..]);
    }
    Some(out)
}

#[inline]
fn digits(text: &[u8]) -> (&[u8], &[u8]) {
    text.split_at(text.iter().take_while(|byte| byte.is_ascii_digit()).count())
}

/// Without blanks around it, those among them that don't break a line.
pub(super) fn trimmed(text: &[u8]) -> &[u8] {
    let mut rest = text.trim_ascii();
    loop {
        let before = rest;
        for blank in ["\u{a0}", "\u{202f}"] {
            let blank = blank.as_bytes();
            rest = rest.strip_prefix(blank).unwrap_or(rest);
            rest = rest.strip_suffix(blank).unwrap_or(rest);
        }
        rest = rest.trim_ascii();
        if rest == before {
            return rest;
        }
    }
}

/// Signs of currencies. A letter or two before a dollar say whose it is.
const SIGNS: &str = "$\u{a2}\u{a3}\u{a4}\u{a5}\u{e3f}\u{20a1}\u{20a6}\u{20a8}\u{20a9}\u{20aa}\u{20ab}\u{20ac}\u{20ae}\u{20b1}\u{20b2}\u{20b4}\u{20b5}\u{20b8}\u{20b9}\u{20ba}\u{20bc}\u{20bd}\u{20be}\u{20bf}";

/// Signs that stand for one currency alone, which files may name by its code as well.
const ALIASES: [(&str, &str); 8] = [
    ("\u{20ac}", "EUR"),
    ("\u{a3}", "GBP"),
    ("\u{20b9}", "INR"),
    ("\u{20a9}", "KRW"),
    ("\u{20bd}", "RUB"),
    ("\u{20ba}", "TRY"),
    ("\u{20b4}", "UAH"),
    ("US$", "USD"),
];

fn named(currency: &str) -> &str {
    ALIASES.iter().find(|(sign, _)| *sign == currency).map_or(currency, |(_, code)| code)
}

fn is_sign(character: char) -> bool {
    SIGNS.contains(character)
}

fn currency_before(text: &[u8]) -> Option<(&str, &[u8])> {
    let whole = std::str::from_utf8(text).ok()?;
    let letters = whole.bytes().take_while(u8::is_ascii_uppercase).count();
    let mut behind = whole[letters..].chars();
    let sign = behind.next().filter(|sign| is_sign(*sign));
    let len = match (letters, sign) {
        (0, Some(sign)) => sign.len_utf8(),
        (1 | 2, Some('$')) => letters + 1,
        (3, None) => letters,
        _ => return None,
    };
    Some((named(&whole[..len]), &text[len..]))
}

fn currency_behind(text: &[u8]) -> Option<(&[u8], &str)> {
    let whole = std::str::from_utf8(text).ok()?;
    let letters = whole.bytes().rev().take_while(u8::is_ascii_uppercase).count();
    let len = match (letters, whole.chars().next_back().filter(|sign| is_sign(*sign))) {
        (0, Some(sign)) => sign.len_utf8(),
        (3, None) => letters,
        _ => return None,
    };
    let at = whole.len() - len;
    Some((&text[..at], named(&whole[at..])))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn numbers(decimal: u8, thousands: Option<&str>, style: Style) -> Numbers {
        Numbers { decimal, thousands: thousands.map(Into::into), style }
    }

    fn read(numbers: &Numbers, text: &str) -> Option<String> {
        let mut out = Vec::new();
        numbers.read(text.as_bytes(), &mut out).ok()?;
        Some(String::from_utf8(out).unwrap())
    }

    fn check(numbers: &Numbers, cases: &[(&str, Option<&str>)]) {
        for (text, wanted) in cases {
            assert_eq!(read(numbers, text).as_deref(), *wanted, "{text}");
        }
    }

    #[test]
    fn what_is_written_back_is_the_same_number_or_nothing() {
        let written = |style, text: &str| {
            let form = numbers(b',', Some("."), style).write(text.as_bytes())?;
            Some(String::from_utf8(form).unwrap())
        };
        for (text, wanted) in [
            ("1.234", Some("1,234")),
            ("1234567.5", Some("1234567,5")),
            ("-7", Some("-7")),
            ("1e20", Some("1e20")),
            ("1.5e-7", Some("1,5e-7")),
            ("NaN", None),
        ] {
            assert_eq!(written(Style::Plain, text).as_deref(), wanted, "{text}");
        }
        for (text, wanted) in [("-1234.5", Some("-1234,5")), ("1.5e-7", None)] {
            let money = Style::Money(OnceLock::new());
            assert_eq!(written(money, text).as_deref(), wanted, "{text}");
        }
        for (text, wanted) in [
            ("0.125", Some("12,5%")),
            ("-0.5", Some("-50%")),
            ("1", Some("100%")),
            ("0.001", Some("0,1%")),
            ("0", Some("0%")),
            ("1e-7", None),
        ] {
            assert_eq!(written(Style::Percent, text).as_deref(), wanted, "{text}");
        }
    }

    #[test]
    fn commas_and_groups_are_read_and_nothing_else_is() {
        check(
            &numbers(b',', Some("."), Style::Plain),
            &[
                ("1.234.567,89", Some("1234567.89")),
                ("-1.234,5", Some("-1234.5")),
                ("1234,5", Some("1234.5")),
                ("0,5", Some("0.5")),
                ("7", Some("7")),
                ("+1", Some("+1")),
                ("1,5e-3", Some("1.5e-3")),
                ("12.34,5", None),
                ("0.750", None),
                ("-012.345", None),
                ("10.750", Some("10750")),
                ("1234.567", None),
                ("1.2345", None),
                ("1,", None),
                (",5", None),
                (".123", None),
                ("1,234.5", None),
                ("1.234.", None),
                ("1 234", None),
                ("", None),
                ("-", None),
                ("abc", None),
            ],
        );
        check(
            &numbers(b',', None, Style::Plain),
            &[("1,5", Some("1.5")), ("1.5", None), ("1.234,5", None)],
        );
        check(
            &numbers(b'.', Some("\u{202f}"), Style::Plain),
            &[("1\u{202f}234.5", Some("1234.5")), ("1 234.5", None)],
        );
        check(&numbers(b'.', Some("'"), Style::Plain), &[("1'234'567", Some("1234567"))]);
    }

    #[test]
    fn money_has_one_currency_before_or_after_and_one_minus() {
        let dollars = || numbers(b'.', Some(","), Style::Money(OnceLock::new()));
        for (text, wanted) in [
            ("$1,299.00", Some("1299.00")),
            ("-$5", Some("-5")),
            ("$-5", Some("-5")),
            ("($12.00)", Some("-12.00")),
            ("(12.00)", Some("-12.00")),
            ("USD 7", Some("7")),
            ("7 USD", Some("7")),
            ("US$ 7.50", Some("7.50")),
            ("12", Some("12")),
            ("12\u{a0}\u{20ac}", Some("12")),
            ("--5", None),
            ("-$-5", None),
            ("(-5)", None),
            ("$", None),
            ("$5$", None),
            ("5 dollars", None),
            ("usd 5", None),
            ("1e5", None),
            ("12.34,5", None),
        ] {
            assert_eq!(read(&dollars(), text).as_deref(), wanted, "{text}");
        }
        let column = dollars();
        assert_eq!(read(&column, "12").as_deref(), Some("12"));
        assert_eq!(read(&column, "\u{20ac}5").as_deref(), Some("5"));
        assert_eq!(read(&column, "5 EUR").as_deref(), Some("5"));
        let error = column.read(b"$5", &mut Vec::new()).unwrap_err();
        assert_eq!(error, "an amount in EUR, as others of its column are");
    }

    /// What a text is, slowly: its parts by splitting, each looked at by itself.
    fn model(text: &str, decimal: char, group: Option<&str>) -> Option<String> {
        let are_digits = |part: &str| !part.is_empty() && part.bytes().all(|b| b.is_ascii_digit());
        let sign = if text.starts_with(['+', '-']) { &text[..1] } else { "" };
        let (number, exponent) = match text[sign.len()..].find(['e', 'E']) {
            Some(at) => text[sign.len()..].split_at(at),
            None => (&text[sign.len()..], ""),
        };
        if !exponent.is_empty() {
            let rest = &exponent[1..];
            let digits = rest.strip_prefix(['+', '-']).unwrap_or(rest);
            are_digits(digits).then_some(())?;
        }
        let (whole, fraction) = match number.split_once(decimal) {
            Some((whole, fraction)) => (whole, Some(fraction)),
            None => (number, None),
        };
        if let Some(fraction) = fraction {
            are_digits(fraction).then_some(())?;
        }
        let groups: Vec<&str> = match group {
            Some(group) => whole.split(group).collect(),
            None => vec![whole],
        };
        let (first, others) = groups.split_first()?;
        let is_right = groups.iter().all(|part| are_digits(part))
            && (others.is_empty() || first.len() <= 3 && !first.starts_with('0'))
            && others.iter().all(|part| part.len() == 3);
        let fraction = fraction.map(|digits| format!(".{digits}")).unwrap_or_default();
        is_right.then(|| format!("{sign}{}{fraction}{exponent}", groups.concat()))
    }

    proptest::proptest! {
        #[test]
        fn any_text_is_what_a_slow_look_finds(
            text in "[+-]?[0-9]{0,4}([., '][0-9]{2,4}){0,3}([.,][0-9]{0,3})?(e[+-]?[0-9]{0,2})?",
            decimal in proptest::sample::select(vec![b'.', b',']),
            group in proptest::sample::select(vec![None, Some("."), Some(","), Some("'"), Some(" ")]),
        ) {
            if group.map(str::as_bytes) != Some(&[decimal][..]) {
                let found = read(&numbers(decimal, group, Style::Plain), &text);
                proptest::prop_assert_eq!(found, model(&text, decimal.into(), group));
            }
        }
    }

    #[test]
    fn a_percentage_is_a_hundredth_exactly() {
        check(
            &numbers(b'.', None, Style::Percent),
            &[
                ("12.5%", Some("0.125")),
                ("12.5 %", Some("0.125")),
                ("-3%", Some("-0.03")),
                ("100%", Some("1.00")),
                ("12345.678%", Some("123.45678")),
                ("0.000000000000000000001%", Some("0.00000000000000000000001")),
                ("12.5", None),
                ("%", None),
                ("1e2%", None),
            ],
        );
    }
}
