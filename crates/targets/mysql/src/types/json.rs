//! Documents for columns of MySQL's own JSON, which keeps values and not their text.
//!
//! A number is an integer of 64 bits, with a sign or without, or a double; of keys that repeat in an object the last one stays; the order
//! of keys and white space are not kept, and say nothing. MariaDB's JSON is a text.
//!
//! The server rounds twice where a number of 16 and more digits has a point or an exponent: of what `random()` gives, one in ten ends
//! up as the double beside it. So such a number is written with other digits, of which the server's own steps make the double that it
//! is; where there are none, it is a bad value.

use inrush_core::flow::Code;
use inrush_core::value::digits::Digits;
use inrush_core::value::rule;
use inrush_scan::float;

use super::store::{Kept, Misfit};

const NUMBER: Misfit<'static> =
    (Code::Range, "a JSON document of numbers that MySQL keeps (integers of 64 bits, doubles)");
const REPEATED: Misfit<'static> = (Code::Type, "a JSON document whose keys don't repeat");
const DEPTH: Misfit<'static> = (Code::Range, "a JSON document nested at most 100 deep");
const KEY: Misfit<'static> = (Code::TooLong, "a JSON document with keys of at most 65535 bytes");

/// Arrays and objects within each other that the server takes.
const DEPTH_MAX: usize = 100;
const KEY_BYTES_MAX: usize = u16::MAX as usize;

/// Powers of ten that are doubles.
const EXACT_POWER_MAX: i64 = 22;
/// Numbers of so many digits come back from the nearest double as they are.
const EXACT_DIGITS_MAX: usize = 15;
/// From here on all doubles are whole numbers.
const WHOLE_MIN: f64 = 9_007_199_254_740_992.0;

/// How a document is stored.
pub(super) fn keep(value: &[u8], out: &mut Vec<u8>) -> Result<Kept, Misfit<'static>> {
    rule::json(value)?;
    let start = out.len();
    let mut reading = Reading { bytes: value, at: 0, copied: 0, keys: Vec::new(), out };
    let read = reading.value(0);
    let copied = reading.copied;
    match read {
        Ok(()) if copied == 0 => Ok(Kept::AsIs),
        Ok(()) => {
            out.extend_from_slice(&value[copied..]);
            Ok(Kept::Written)
        }
        Err(misfit) => {
            out.truncate(start);
            Err(misfit)
        }
    }
}

/// A walk through a document that is one.
struct Reading<'a> {
    bytes: &'a [u8],
    at: usize,
    /// The document up to here is in `out`, where anything is written otherwise.
    copied: usize,
    /// The keys of all open objects, as they are written.
    keys: Vec<&'a [u8]>,
    out: &'a mut Vec<u8>,
}

impl<'a> Reading<'a> {
    fn skip_space(&mut self) {
        while self.bytes.get(self.at).is_some_and(u8::is_ascii_whitespace) {
            self.at += 1;
        }
    }

    /// What the next token begins with, white space before it skipped.
    fn next(&mut self) -> u8 {
        self.skip_space();
        self.bytes.get(self.at).copied().unwrap_or_default()
    }

    /// The value that comes next, inside of `depth` others.
    fn value(&mut self, depth: usize) -> Result<(), Misfit<'static>> {
        match self.next() {
            b'{' | b'[' if depth == DEPTH_MAX => Err(DEPTH),
            b'{' => self.object(depth),
            b'[' => self.items(b']', |reading| reading.value(depth + 1)),
            b'"' => {
                self.string();
                Ok(())
            }
            b'-' | b'0'..=b'9' => self.number(),
            _ => {
                self.at +=
                    self.bytes[self.at..].iter().take_while(|b| b.is_ascii_lowercase()).count();
                Ok(())
            }
        }
    }

    /// What is between two brackets, with commas between.
    fn items(
        &mut self,
        closing: u8,
        mut item: impl FnMut(&mut Self) -> Result<(), Misfit<'static>>,
    ) -> Result<(), Misfit<'static>> {
        self.at += 1;
        while self.next() != closing {
            item(self)?;
            if self.next() == b',' {
                self.at += 1;
            }
        }
        self.at += 1;
        Ok(())
    }

    fn object(&mut self, depth: usize) -> Result<(), Misfit<'static>> {
        let first = self.keys.len();
        self.items(b'}', |reading| {
            reading.next();
            let key = reading.string();
            reading.keys.push(key);
            // The colon.
            reading.next();
            reading.at += 1;
            reading.value(depth + 1)
        })?;
        let own = &mut self.keys[first..];
        if own.iter().any(|key| key.len() > KEY_BYTES_MAX) {
            return Err(KEY);
        }
        let repeats = match own.iter().any(|key| key.contains(&b'\\')) {
            true => repeats(&mut own.iter().map(|key| unescaped(key)).collect::<Vec<_>>()),
            false => repeats(own),
        };
        self.keys.truncate(first);
        if repeats { Err(REPEATED) } else { Ok(()) }
    }

    /// The string that comes next, without its quotes.
    fn string(&mut self) -> &'a [u8] {
        let start = self.at + 1;
        let mut end = start;
        while self.bytes[end] != b'"' {
            end += 1 + usize::from(self.bytes[end] == b'\\');
        }
        self.at = end + 1;
        &self.bytes[start..end]
    }

    fn number(&mut self) -> Result<(), Misfit<'static>> {
        let start = self.at;
        let is_part = |byte: &&u8| matches!(**byte, b'0'..=b'9' | b'-' | b'+' | b'.' | b'e' | b'E');
        self.at += self.bytes[start..].iter().take_while(is_part).count();
        let text = &self.bytes[start..self.at];
        if is_plain(text) {
            return Ok(());
        }
        if let Some(other) = exactly(text).ok_or(NUMBER)? {
            self.out.extend_from_slice(&self.bytes[self.copied..start]);
            self.out.extend_from_slice(other.as_bytes());
            self.copied = self.at;
        }
        Ok(())
    }
}

fn repeats<K: Ord>(keys: &mut [K]) -> bool {
    // A few are compared with each other sooner than they are in order.
    if keys.len() <= 8 {
        return (1..keys.len()).any(|at| keys[..at].contains(&keys[at]));
    }
    keys.sort_unstable();
    keys.windows(2).any(|pair| pair[0] == pair[1])
}

fn unescaped(key: &[u8]) -> Vec<u8> {
    let mut text = Vec::new();
    inrush_scan::json::json_unescape(key, &mut text);
    text
}

/// Whether a number has so few digits that nobody can be mistaken.
fn is_plain(text: &[u8]) -> bool {
    text.len() <= EXACT_DIGITS_MAX
        && text != b"-0"
        && !text.iter().any(|byte| matches!(byte, b'e' | b'E'))
}

/// How a number is written so that the server's value is the same number; `Some(None)` where that is as it is, `None` where nothing does.
fn exactly(text: &[u8]) -> Option<Option<String>> {
    let digits = Digits::parse(text)?;
    if text == b"-0" {
        // Without a point it is a whole number, which has no sign there.
        return Some(Some("-0.0".to_owned()));
    }
    if !digits.has_point && !digits.has_exponent {
        let text = std::str::from_utf8(text).ok()?;
        if text.parse::<i64>().is_ok() || text.parse::<u64>().is_ok() {
            return Some(None);
        }
    }
    let number = float(text).ok().filter(|number| number.is_finite())?;
    let mut buffer = zmij::Buffer::new();
    let shortest = buffer.format(number).as_bytes();
    if !is_same(&digits, &Digits::parse(shortest)?) {
        return None;
    }
    let (first, end) = digits.significant().unwrap_or((0, 0));
    let power = digits.exponent - digits.fraction.len() as i64;
    // Up to 15 digits and a power of ten that is a double: one rounding, which is the right one. A zero may have any exponent but a
    // large one.
    let is_short = end - first <= EXACT_DIGITS_MAX as i64
        && digits.fraction.len() + digits.whole.len() <= EXACT_DIGITS_MAX;
    if is_short && power.abs() <= EXACT_POWER_MAX {
        return Some(None);
    }
    if number == 0.0 {
        return Some(Some(if digits.negative { "-0.0" } else { "0.0" }.to_owned()));
    }
    by_whole_digits(number).map(Some)
}

/// Whether two texts are the same number, to the last digit.
fn is_same(one: &Digits<'_>, other: &Digits<'_>) -> bool {
    let (Some((first, end)), Some((start, last))) = (one.significant(), other.significant()) else {
        return one.significant() == other.significant();
    };
    one.negative == other.negative
        && end - first == last - start
        && one.point() - first == other.point() - start
        && (0..end - first).all(|at| one.digit(first + at) == other.digit(start + at))
}

/// A double as the digits of a whole number and a power of ten, of which the server makes just this double.
fn by_whole_digits(number: f64) -> Option<String> {
    let (size, is_negative) = (number.abs(), number < 0.0);
    let whole_end = if is_negative { -(i64::MIN as f64) } else { 2.0 * -(i64::MIN as f64) };
    let least = 15 - size.log10().floor() as i64;
    // With more zeros other digits meet the number, each time nearly all numbers.
    for zeros in 0..=12_usize {
        for places in least..=least + 4 {
            // A part at a time, for a power may be beyond what a double holds.
            let about = by_ten(by_ten(size, places.min(300)), (places - 300).max(0));
            if !(WHOLE_MIN..whole_end).contains(&about) {
                continue;
            }
            for step in 0..=16 {
                for bits in [about.to_bits() + step, about.to_bits() - step] {
                    let whole = f64::from_bits(bits);
                    if whole >= whole_end {
                        continue;
                    }
                    let digits = format!("{}{:0<zeros$}", whole as u64, "");
                    let power = -places - zeros as i64;
                    if by_ten(read_digits(&digits, is_negative), power) == size {
                        let sign = if is_negative { "-" } else { "" };
                        return Some(format!("{sign}{digits}e{power}"));
                    }
                }
            }
        }
    }
    None
}

/// The whole number that the server reads: of 64 bits for as long as that holds it, then a double, rounded with every digit.
fn read_digits(digits: &str, is_negative: bool) -> f64 {
    let max = if is_negative { i64::MIN.unsigned_abs() } else { u64::MAX };
    let (mut whole, mut double) = (0_u64, None);
    for digit in digits.bytes().map(|byte| u64::from(byte - b'0')) {
        let next = whole.checked_mul(10).and_then(|whole| whole.checked_add(digit));
        match (double, next.filter(|next| *next <= max)) {
            (None, Some(next)) => whole = next,
            (before, _) => double = Some(before.unwrap_or(whole as f64) * 10.0 + digit as f64),
        }
    }
    double.unwrap_or(whole as f64)
}

/// `number` times a power of ten, as the server has it: by the nearest double to that, and by two where there is none.
fn by_ten(number: f64, power: i64) -> f64 {
    let ten = |power: u64| format!("1e{power}").parse::<f64>().unwrap_or(f64::INFINITY);
    match power {
        0.. => number * ten(power.unsigned_abs()),
        -308..=-1 => number / ten(power.unsigned_abs()),
        _ => number / ten(308) / ten(power.unsigned_abs() - 308),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn kept(text: &str) -> Result<String, Code> {
        let mut out = b"before".to_vec();
        match keep(text.as_bytes(), &mut out) {
            Ok(Kept::AsIs) => {
                assert_eq!(out, b"before");
                Ok(text.to_owned())
            }
            Ok(Kept::Written) => Ok(String::from_utf8(out[6..].to_vec()).unwrap()),
            Err((code, _)) => {
                assert_eq!(out, b"before");
                Err(code)
            }
        }
    }

    #[test]
    fn documents_whose_values_stay_are_kept_as_they_are() {
        let deep = format!("{}1{}", "[".repeat(100), "]".repeat(100));
        for text in [
            "1",
            "1.10",
            "1E+2",
            "0.3",
            "1e22",
            "null",
            "true",
            "\"\"",
            "{}",
            "[ ]",
            &deep,
            "18446744073709551615",
            "-9223372036854775808",
            "6.02214076e20",
            "-12.5e-7",
            r#"{"a": [1, {"b": "x\"}"}, [], {}], "c" : {"a": false}, "": 0.125 }"#,
            r#"{"a":{"x":1},"b":{"x":1},"c":[{"x":1},{"x":1}],"A":1,"a\n":2}"#,
        ] {
            assert_eq!(kept(text).as_deref(), Ok(text));
        }
    }

    /// A whole number has no sign of zero.
    #[test]
    fn a_negative_zero_is_written_as_a_double() {
        assert_eq!(kept("[-0, -0.0,-0]").as_deref(), Ok("[-0.0, -0.0,-0.0]"));
    }

    #[test]
    fn what_the_server_would_round_or_drop_is_refused() {
        let range = [
            "18446744073709551616",
            "-9223372036854775809",
            "[18446744073709551617]",
            "1.2345678901234567890123",
            "1e400",
            "0.1234567890123456789",
            "-1e-400",
            "1000000000000000000001",
        ];
        for text in range {
            assert_eq!(kept(text), Err(Code::Range), "{text}");
        }
        assert_eq!(kept(&format!("{}1{}", "[".repeat(101), "]".repeat(101))), Err(Code::Range));
        let many: Vec<String> = (0..20).map(|at| format!(r#""k{}":0"#, at % 19)).collect();
        let repeated = [
            r#"{"a":1,"a":2}"#,
            r#"{"a":1,"b":{"c":1,"d":0,"c":1}}"#,
            r#"[{"a":1,"\u0061":1}]"#,
            &format!("{{{}}}", many.join(",")),
        ];
        for text in repeated {
            assert_eq!(kept(text), Err(Code::Type), "{text}");
        }
        assert_eq!(kept("{\"a\":}"), Err(Code::Type));
    }

    /// What the server makes of digits and a power of ten.
    fn server(text: &str) -> f64 {
        let (digits, power) = text.split_once('e').unwrap();
        let size = digits.trim_start_matches('-');
        let is_negative = size.len() < digits.len();
        let number = by_ten(read_digits(size, is_negative), power.parse().unwrap());
        if is_negative { -number } else { number }
    }

    #[test]
    fn a_double_is_written_so_that_the_server_reads_that_double() {
        let mut state = 1_u64;
        let mut next = || {
            // Of Knuth.
            state = state
                .wrapping_mul(6_364_136_223_846_793_005)
                .wrapping_add(1_442_695_040_888_963_407);
            state
        };
        for is_fraction in [true, false] {
            let mut lost = 0;
            for _ in 0..20_000 {
                let number = match is_fraction {
                    true => ((next() >> 11) as f64 / WHOLE_MIN - 0.5) * 1e6,
                    false => f64::from_bits(next()),
                };
                if !number.is_finite() {
                    continue;
                }
                let text = format!("[0.5,{number:e},1]");
                match kept(&text) {
                    Ok(kept) if kept == text => {}
                    Ok(kept) => {
                        let written = kept.trim_start_matches("[0.5,").trim_end_matches(",1]");
                        assert_eq!(server(written), number, "{text}");
                    }
                    Err(_) => lost += 1,
                }
            }
            assert!(lost <= 20, "{lost} of 20,000");
        }
    }
}
