//! JSON to BSON and back.
//!
//! Columns of JSON become documents; commands on a console are JSON, in which an object with a `$` name stands for what JSON has
//! not (<https://www.mongodb.com/docs/manual/reference/mongodb-extended-json/>); so are values of answers.

use std::borrow::Cow;
use std::fmt::Write as _;

use base64::prelude::{BASE64_STANDARD, Engine as _};
use inrush_scan as scan;

use crate::bson::{self, Raw, Value, kind};
use crate::decimal;
use crate::types::Wishes;
use inrush_core::value::hex;
use inrush_core::value::rule;

/// The server takes no deeper documents, the outermost counted
/// (<https://www.mongodb.com/docs/manual/reference/limits/#bson-documents>).
const DEPTH_MAX: usize = 100;

/// Why a text is no value of BSON: the end of "it is not ...".
pub(super) type Wanted = &'static str;

const A_DOCUMENT: Wanted = "a JSON document";

/// Appends the value that the text is, and gives its kind. Objects are as they are written: names that come twice stay.
pub(super) fn put(text: &[u8], wishes: Wishes, out: &mut Vec<u8>) -> Result<u8, Wanted> {
    whole(Walker { text, at: 0, wishes, extended: false }, out)
}

/// The document that extended JSON is.
pub(super) fn command(text: &str) -> Result<Vec<u8>, Wanted> {
    let mut out = Vec::new();
    let walker = Walker { text: text.as_bytes(), at: 0, wishes: Wishes::ALL, extended: true };
    match whole(walker, &mut out)? {
        kind::DOCUMENT => Ok(out),
        _ => Err("a JSON object"),
    }
}

fn whole(mut walker: Walker<'_>, out: &mut Vec<u8>) -> Result<u8, Wanted> {
    // So what follows need not doubt the grammar.
    rule::json(walker.text).map_err(|(_, wanted)| wanted)?;
    walker.value(1, out)
}

struct Walker<'t> {
    text: &'t [u8],
    at: usize,
    wishes: Wishes,
    extended: bool,
}

impl<'t> Walker<'t> {
    fn blank(&mut self) -> Option<u8> {
        while matches!(self.text.get(self.at), Some(b' ' | b'\t' | b'\n' | b'\r')) {
            self.at += 1;
        }
        self.text.get(self.at).copied()
    }

    fn value(&mut self, depth: usize, out: &mut Vec<u8>) -> Result<u8, Wanted> {
        match self.blank().ok_or(A_DOCUMENT)? {
            b'{' => self.object(depth + 1, out),
            b'[' => self.array(depth + 1, out),
            b'"' => {
                let text = self.string()?;
                bson::put_string(text.as_bytes(), out);
                Ok(kind::STRING)
            }
            b't' => Ok(self.word(4, &[1], kind::BOOLEAN, out)),
            b'f' => Ok(self.word(5, &[0], kind::BOOLEAN, out)),
            b'n' => Ok(self.word(4, &[], kind::NULL, out)),
            _ => self.number(out),
        }
    }

    fn word(&mut self, length: usize, value: &[u8], kind: u8, out: &mut Vec<u8>) -> u8 {
        self.at += length;
        out.extend_from_slice(value);
        kind
    }

    fn object(&mut self, depth: usize, out: &mut Vec<u8>) -> Result<u8, Wanted> {
        if self.extended
            && let Some(kind) = self.special(out)?
        {
            return Ok(kind);
        }
        let document = begin(depth, out)?;
        self.at += 1;
        loop {
            match self.blank().ok_or(A_DOCUMENT)? {
                b'}' => break,
                b',' => self.at += 1,
                _ => {
                    let name = self.string()?;
                    // The colon.
                    self.blank();
                    self.at += 1;
                    self.member(name.as_bytes(), depth, out)?;
                }
            }
        }
        self.at += 1;
        document.close(out);
        Ok(kind::DOCUMENT)
    }

    fn array(&mut self, depth: usize, out: &mut Vec<u8>) -> Result<u8, Wanted> {
        let document = begin(depth, out)?;
        self.at += 1;
        let mut index = 0_u32;
        loop {
            match self.blank().ok_or(A_DOCUMENT)? {
                b']' => break,
                b',' => self.at += 1,
                b'[' if !self.wishes.nested_lists => {
                    return Err(
                        "a JSON document without lists within lists, of which FerretDB keeps none",
                    );
                }
                _ => {
                    let name = itoa::Buffer::new().format(index).to_owned();
                    self.member(name.as_bytes(), depth, out)?;
                    index += 1;
                }
            }
        }
        self.at += 1;
        document.close(out);
        Ok(kind::ARRAY)
    }

    fn member(&mut self, name: &[u8], depth: usize, out: &mut Vec<u8>) -> Result<(), Wanted> {
        if memchr::memchr(0, name).is_some() {
            return Err("a JSON document without a NUL in a name");
        }
        let at = out.len();
        out.push(0);
        out.extend_from_slice(name);
        out.push(0);
        out[at] = self.value(depth, out)?;
        Ok(())
    }

    /// The string that begins here, without its escapes.
    fn string(&mut self) -> Result<Cow<'t, str>, Wanted> {
        let text = self.text;
        let start = self.at;
        self.at += 1;
        while let Some(more) = memchr::memchr2(b'"', b'\\', text.get(self.at..).unwrap_or_default())
        {
            self.at += more;
            if text[self.at] == b'"' {
                self.at += 1;
                let quoted = &text[start..self.at];
                let inner = &quoted[1..quoted.len() - 1];
                if memchr::memchr(b'\\', inner).is_none() {
                    return std::str::from_utf8(inner).map(Cow::Borrowed).map_err(|_| A_DOCUMENT);
                }
                let text: Result<String, _> = serde_json::from_slice(quoted);
                return text.map(Cow::Owned).map_err(|_| A_DOCUMENT);
            }
            self.at += 2;
        }
        Err(A_DOCUMENT)
    }

    fn number(&mut self, out: &mut Vec<u8>) -> Result<u8, Wanted> {
        let rest = &self.text[self.at..];
        let is_part = |byte: &&u8| matches!(byte, b'0'..=b'9' | b'+' | b'-' | b'.' | b'e' | b'E');
        let length = rest.iter().take_while(is_part).count();
        if length == 0 {
            return Err(A_DOCUMENT);
        }
        self.at += length;
        put_number(&rest[..length], self.wishes, out)
    }

    /// The value that `{"$oid": "..."}` and its like stand for; `None` where the object is what it is.
    fn special(&mut self, out: &mut Vec<u8>) -> Result<Option<u8>, Wanted> {
        const WORDS: [&str; 7] = [
            "$oid",
            "$date",
            "$numberInt",
            "$numberLong",
            "$numberDouble",
            "$numberDecimal",
            "$binary",
        ];
        let start = self.at;
        self.at += 1;
        let word = match self.blank() {
            Some(b'"') => self.string()?,
            _ => Cow::Borrowed(""),
        };
        if !WORDS.contains(&&*word) {
            self.at = start;
            return Ok(None);
        }
        self.blank();
        self.at += 1;
        // A string, except for binaries and for dates, which may be numbers.
        let mut value = Vec::new();
        let found = self.value(1, &mut value)?;
        if self.blank() != Some(b'}') {
            return Err("an object that is nothing but what its $ name says");
        }
        self.at += 1;
        special_value(&word, Value { kind: found, bytes: &value }, out).map(Some)
    }
}

fn begin(depth: usize, out: &mut Vec<u8>) -> Result<bson::Open, Wanted> {
    if depth > DEPTH_MAX {
        return Err("a JSON document of at most 99 levels");
    }
    Ok(bson::open(out))
}

/// A number keeps its value, in the smallest kind that keeps it.
fn put_number(text: &[u8], wishes: Wishes, out: &mut Vec<u8>) -> Result<u8, Wanted> {
    // Who writes -0 means the double: no integer has that sign.
    if let Some(number) = scan::integer(text).ok().filter(|_| text != b"-0") {
        return Ok(put_integer(number, wishes.wide, out));
    }
    // Digits alone are a count or an identifier, of which a double's neighbour is another one.
    let has_part = text.iter().any(|byte| matches!(byte, b'.' | b'e' | b'E'));
    let is_kept = if has_part { is_same } else { scan::whole_is_exact };
    if let Ok(number) = scan::float(text)
        && number.is_finite()
        && is_kept(text, number)
    {
        if !wishes.keeps(number) {
            return Err("a JSON document of numbers that FerretDB keeps, which has no -0");
        }
        out.extend_from_slice(&number.to_le_bytes());
        return Ok(kind::DOUBLE);
    }
    match decimal::read(text).filter(|_| wishes.decimals) {
        Some(bytes) => {
            out.extend_from_slice(&bytes);
            Ok(kind::DECIMAL128)
        }
        None if wishes.decimals => {
            Err("a JSON document of numbers that a decimal of 34 digits keeps")
        }
        None => Err("a JSON document of numbers that a double keeps"),
    }
}

/// Whether the shortest text of the double is that number.
fn is_same(text: &[u8], number: f64) -> bool {
    let shown = zmij::Buffer::new().format_finite(number).to_owned();
    let digits = |text: &[u8]| {
        let number = inrush_core::value::digits::Digits::parse(text)?;
        let (from, to) = number.significant().unwrap_or((0, 0));
        let digits: Vec<u8> = (from..to).map(|place| number.digit(place)).collect();
        Some((digits.clone(), if digits.is_empty() { 0 } else { number.point() - from }))
    };
    digits(text) == digits(shown.as_bytes())
}

/// An integer in 32 bits where those keep it; `wide` always takes 64.
#[inline]
pub(super) fn put_integer(number: i64, wide: bool, out: &mut Vec<u8>) -> u8 {
    match i32::try_from(number) {
        Ok(number) if !wide => {
            out.extend_from_slice(&number.to_le_bytes());
            kind::INT32
        }
        _ => {
            out.extend_from_slice(&number.to_le_bytes());
            kind::INT64
        }
    }
}

fn special_value(word: &str, value: Value<'_>, out: &mut Vec<u8>) -> Result<u8, Wanted> {
    let text = value.text();
    match word {
        "$oid" => {
            let bytes = text.and_then(object_id).ok_or("an object id of 24 hexadecimal digits")?;
            out.extend_from_slice(&bytes);
            Ok(kind::OBJECT_ID)
        }
        "$date" => {
            let millis = match text {
                Some(text) => scan::timestamp_micros(text.as_bytes())
                    .filter(|micros| micros % 1000 == 0)
                    .map(|micros| micros / 1000),
                None => value.number(),
            };
            out.extend_from_slice(
                &millis.ok_or("a date (YYYY-MM-DDTHH:MM:SS.mmmZ)")?.to_le_bytes(),
            );
            Ok(kind::DATE)
        }
        "$numberInt" | "$numberLong" => {
            let number =
                text.and_then(|text| scan::integer(text.as_bytes()).ok()).ok_or("a number")?;
            Ok(put_integer(number, word == "$numberLong", out))
        }
        "$numberDouble" => {
            let number = text.and_then(|text| text.parse::<f64>().ok()).ok_or("a number")?;
            out.extend_from_slice(&number.to_le_bytes());
            Ok(kind::DOUBLE)
        }
        "$numberDecimal" => {
            let bytes = text.and_then(|text| decimal::read(text.as_bytes()));
            out.extend_from_slice(&bytes.ok_or("a decimal of 34 digits")?);
            Ok(kind::DECIMAL128)
        }
        _ => {
            let binary = value.document().and_then(|binary| {
                let subtype =
                    u8::from_str_radix(binary.text("subType").unwrap_or("00"), 16).ok()?;
                Some((BASE64_STANDARD.decode(binary.text("base64")?).ok()?, subtype))
            });
            let (bytes, subtype) = binary.ok_or("a binary in base64")?;
            let at = out.len();
            bson::put_binary(&bytes, out);
            out[at + 4] = subtype;
            Ok(kind::BINARY)
        }
    }
}

fn object_id(text: &str) -> Option<[u8; 12]> {
    let mut bytes = [0; 12];
    if text.len() != 24 || !text.is_ascii() {
        return None;
    }
    for (index, byte) in bytes.iter_mut().enumerate() {
        *byte = u8::from_str_radix(&text[index * 2..index * 2 + 2], 16).ok()?;
    }
    Some(bytes)
}

/// A value as a console shows it: text and numbers as they are, the rest as JSON; `None` for null.
pub(super) fn shown(value: Value<'_>) -> Option<String> {
    let mut out = String::new();
    match value.kind {
        kind::NULL | kind::UNDEFINED => return None,
        kind::STRING => out.push_str(&String::from_utf8_lossy(value.string()?)),
        kind::OBJECT_ID => push_hex(value.bytes, &mut out),
        kind::DATE => push_date(value, &mut out),
        kind::DECIMAL128 => decimal::show(value.bytes.try_into().ok()?, &mut out),
        _ => push(value, &mut out),
    }
    Some(out)
}

fn push_hex(bytes: &[u8], out: &mut String) {
    let mut digits = Vec::new();
    hex::put(bytes, &mut digits);
    out.extend(digits.into_iter().map(char::from));
}

fn push_date(value: Value<'_>, out: &mut String) {
    let millis = value.date().unwrap_or_default();
    match millis.checked_mul(1000).and_then(scan::timestamp_text) {
        // Milliseconds of the six digits.
        Some(text) => {
            out.extend(
                text[..23].iter().map(|byte| if *byte == b' ' { 'T' } else { char::from(*byte) }),
            );
            out.push('Z');
        }
        None => drop(write!(out, "{millis}")),
    }
}

/// A value as JSON. Writing to memory doesn't fail.
fn push(value: Value<'_>, out: &mut String) {
    let quoted = |name: &str, text: &str| format!("{{\"{name}\":\"{text}\"}}");
    let mut text = String::new();
    match value.kind {
        kind::DOUBLE => {
            let number = value.double().unwrap_or_default();
            match number.is_finite() {
                true => drop(write!(out, "{number}")),
                false => out.push_str(&quoted("$numberDouble", &number.to_string())),
            }
        }
        kind::INT32 | kind::INT64 => drop(write!(out, "{}", value.number().unwrap_or_default())),
        kind::STRING => push_text(value.string().unwrap_or_default(), out),
        kind::BOOLEAN => out.push_str(if value.is_true() { "true" } else { "false" }),
        kind::DOCUMENT | kind::ARRAY => push_parts(value, out),
        kind::OBJECT_ID => {
            push_hex(value.bytes, &mut text);
            out.push_str(&quoted("$oid", &text));
        }
        kind::DATE => {
            push_date(value, &mut text);
            out.push_str(&quoted("$date", &text));
        }
        kind::DECIMAL128 => {
            value.bytes.try_into().into_iter().for_each(|bytes| decimal::show(bytes, &mut text));
            out.push_str(&quoted("$numberDecimal", &text));
        }
        kind::BINARY => {
            let base64 = BASE64_STANDARD.encode(value.binary().unwrap_or_default());
            let subtype = value.bytes[4];
            let _ = write!(
                out,
                "{{\"$binary\":{{\"base64\":\"{base64}\",\"subType\":\"{subtype:02x}\"}}}}"
            );
        }
        // Kinds that no load writes.
        _ => out.push_str("null"),
    }
}

fn push_parts(value: Value<'_>, out: &mut String) {
    let is_array = value.kind == kind::ARRAY;
    let (open, close) = if is_array { ('[', ']') } else { ('{', '}') };
    out.push(open);
    let elements = value.document().map(Raw::elements);
    for (index, (name, value)) in elements.into_iter().flatten().enumerate() {
        if index > 0 {
            out.push(',');
        }
        if !is_array {
            push_text(name, out);
            out.push(':');
        }
        push(value, out);
    }
    out.push(close);
}

fn push_text(text: &[u8], out: &mut String) {
    out.push_str(&serde_json::Value::from(String::from_utf8_lossy(text)).to_string());
}

#[cfg(test)]
mod tests {
    use super::*;
    use inrush_core::value::double::Specials;

    fn back(text: &str) -> Result<String, Wanted> {
        let mut out = Vec::new();
        let kind = put(text.as_bytes(), Wishes::ALL, &mut out)?;
        let mut shown = String::new();
        push(Value { kind, bytes: &out }, &mut shown);
        Ok(shown)
    }

    #[test]
    fn documents_come_back_as_they_were() {
        for text in [
            r#"{"a":1,"b":[1,2.5,"x",null,true,{"c":{}}],"":"","a":2}"#,
            "[]",
            "[[1],[]]",
            "9223372036854775807",
            "0.1",
            "\"\u{1f600}\\n\\\"\"",
            "null",
        ] {
            assert_eq!(back(text).as_deref(), Ok(text));
        }
        assert_eq!(back(" { \"a\" : [ 1 ,\n2 ] } ").as_deref(), Ok(r#"{"a":[1,2]}"#));
        assert_eq!(back(r#""\ud83d\ude00""#).as_deref(), Ok("\"\u{1f600}\""));
        // More digits than a double has.
        assert_eq!(
            back("12345678901234567890").as_deref(),
            Ok(r#"{"$numberDecimal":"12345678901234567890"}"#)
        );
        // As many as its shortest text, and another number.
        assert_eq!(
            back("150000000000000000000000").as_deref(),
            Ok(r#"{"$numberDecimal":"150000000000000000000000"}"#)
        );
        assert_eq!(back("10000000000000000000000").as_deref(), Ok("10000000000000000000000"));
        assert_eq!(back("1.10").as_deref(), Ok("1.1"));
        assert_eq!(back("[-0.0,-0,-0e1]").as_deref(), Ok("[-0,-0,-0]"));
        assert_eq!(back("1e3").as_deref(), Ok("1000"));
    }

    #[test]
    fn integers_within_documents_are_as_wide_as_others() {
        let wide = Wishes { wide: true, ..Wishes::ALL };
        for (wishes, kind) in [(Wishes::ALL, kind::INT32), (wide, kind::INT64)] {
            let mut out = Vec::new();
            put(br#"{"n":5}"#, wishes, &mut out).unwrap();
            assert_eq!(Raw::read(&out).unwrap().get("n").unwrap().kind, kind);
        }
    }

    #[test]
    fn what_bson_has_not_is_refused() {
        let digits = "1".repeat(35);
        let deep = format!("{}1{}", "[".repeat(100), "]".repeat(100));
        for text in ["{", r#"{"a\u0000b":1}"#, r#""\ud800""#, &digits, "1e9999", &deep] {
            assert!(back(text).is_err(), "{text}");
        }
        let ferret = Wishes {
            decimals: false,
            nested_lists: false,
            specials: Specials::None,
            ..Wishes::ALL
        };
        for text in
            ["12345678901234567890", "[150000000000000000000000]", "[-0.0]", "[-0]", "{\"a\":[[]]}"]
        {
            assert!(put(text.as_bytes(), ferret, &mut Vec::new()).is_err(), "{text}");
            assert!(back(text).is_ok(), "{text}");
        }
        assert!(back(&deep[1..deep.len() - 1]).is_ok());
    }

    #[test]
    fn commands_say_what_json_has_not() {
        let text = r#"{"a":{"$oid":"0123456789abcdef01234567"},"b":{"$date":"2024-02-29T01:02:03.004Z"},"c":{"$numberDecimal":"1.10"},"d":{"$binary":{"base64":"AP8=","subType":"00"}},"e":{"$gt":5}}"#;
        let command = command(text).unwrap();
        let mut shown = String::new();
        push(Value { kind: kind::DOCUMENT, bytes: &command }, &mut shown);
        assert_eq!(shown, text);
        let long = super::command(r#"{"a":{"$numberLong":"5"}}"#).unwrap();
        assert_eq!(Raw::read(&long).unwrap().get("a").unwrap().kind, kind::INT64);
        assert!(super::command("[1]").is_err() && super::command("SELECT 1").is_err());
    }
}
