//! Values of nested types, which come as JSON documents: lists, structs and maps.
//!
//! A document that fits is written again in one form: no white space, and each scalar as a string with the text that its type has for
//! it. Engines read numbers of JSON as doubles, and of a text all digits.

use std::collections::HashSet;

use inrush_scan::{
    JsonKind, JsonLayout, JsonMember, JsonPart, JsonScanner, JsonValue, json_unescape,
};

use crate::value::{self, Decimals, Misfit, Moments};
use inrush_core::encode::{Moment, Typed, write_time};
use inrush_core::flow::Code;
use inrush_core::value::{double, json, rule};

/// The type of a column, or of what is in its values.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Nested {
    /// A value by itself.
    Scalar(Scalar),
    /// Any number of values.
    List(Box<Nested>),
    /// So many values.
    Array(Box<Nested>, usize),
    /// Members, each with its name.
    Struct(Vec<(String, Nested)>),
    /// Values under keys; a document has the keys' texts as names.
    Map(Scalar, Box<Nested>),
}

/// The type of a value that holds no others.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Scalar {
    /// `true` and `false`.
    Boolean,
    /// Whole numbers from the one to the other.
    Integer(i128, i128),
    /// Floats of 32 bits.
    Single,
    /// Floats of 64 bits.
    Double,
    /// Decimals of at most 38 digits.
    Decimal {
        /// All digits.
        precision: u8,
        /// Those behind the point, at most as many.
        scale: u8,
    },
    /// Days.
    Date,
    /// Days with a time.
    Moment {
        /// Decimal digits of a second.
        digits: u8,
        /// Whether they are moments of UTC.
        zone: bool,
    },
    /// Times of day, in microseconds.
    Time,
    /// UUIDs.
    Uuid,
    /// Any text.
    Text,
}

const MISFIT: Misfit = (Code::Type, "a document that the column's type keeps as it is");

/// What a scalar may be written as.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Spelling {
    /// What JSON has for its type.
    Json,
    /// The text of a value of its type, as a string.
    Text,
}

impl Nested {
    /// Appends the document of a value in one form: no white space, and each scalar as a string with its type's text.
    ///
    /// # Errors
    /// When it is no document, or one that the type would not keep as it is. Part of it may have been appended then.
    pub fn write(&self, document: &[u8], out: &mut Vec<u8>) -> Result<(), Misfit> {
        self.write_as(Spelling::Json, document, out)
    }

    /// The same of a document whose scalars are strings already, with the texts that an engine has for them.
    ///
    /// # Errors
    /// As those of [`Nested::write`].
    pub fn write_again(&self, document: &[u8], out: &mut Vec<u8>) -> Result<(), Misfit> {
        self.write_as(Spelling::Text, document, out)
    }

    fn write_as(
        &self,
        spelling: Spelling,
        document: &[u8],
        out: &mut Vec<u8>,
    ) -> Result<(), Misfit> {
        let mut members = Vec::new();
        let mut scanner = JsonScanner::new(JsonLayout::Values, JsonPart::WHOLE, document);
        let whole = scanner.next(&mut members).filter(|record| record.fault.is_none());
        match whole {
            Some(whole) if scanner.next(&mut Vec::new()).is_none() => {
                self.write_members(spelling, whole.kind, &members, document, out)
            }
            _ => Err((Code::Type, "a JSON document")),
        }
    }

    fn write_value(
        &self,
        spelling: Spelling,
        found: JsonValue,
        bytes: &[u8],
        out: &mut Vec<u8>,
    ) -> Result<(), Misfit> {
        let raw = found.raw(bytes);
        match (self, found.kind) {
            (_, JsonKind::Null) => {
                out.extend_from_slice(b"null");
                Ok(())
            }
            (Self::Scalar(scalar), kind) => scalar.write(spelling, kind, raw, out),
            (_, kind @ (JsonKind::Object | JsonKind::Array)) => {
                let mut members = Vec::new();
                JsonScanner::new(JsonLayout::Values, JsonPart::WHOLE, raw).next(&mut members);
                self.write_members(spelling, kind, &members, raw, out)
            }
            _ => Err(MISFIT),
        }
    }

    /// Of an object or an array.
    fn write_members(
        &self,
        spelling: Spelling,
        kind: JsonKind,
        members: &[JsonMember],
        bytes: &[u8],
        out: &mut Vec<u8>,
    ) -> Result<(), Misfit> {
        let comma = |at: usize, out: &mut Vec<u8>| {
            if at > 0 {
                out.push(b',');
            }
        };
        match (self, kind) {
            (Self::Array(_, count), JsonKind::Array) if members.len() != *count => {
                return Err((Code::Type, "a list of as many elements as the column's type has"));
            }
            (Self::List(element) | Self::Array(element, _), JsonKind::Array) => {
                out.push(b'[');
                for (at, member) in members.iter().enumerate() {
                    comma(at, out);
                    element.write_value(spelling, member.value, bytes, out)?;
                }
                out.push(b']');
            }
            (Self::Struct(fields), JsonKind::Object) => {
                let is_same = |(member, (name, _)): (&JsonMember, &(String, Self))| {
                    key(member, bytes) == name.as_bytes()
                };
                if members.len() != fields.len() || !members.iter().zip(fields).all(is_same) {
                    const WANTED: &str =
                        "a document with the members of the column's type, in their order";
                    return Err((Code::Type, WANTED));
                }
                out.push(b'{');
                for (at, (member, (name, ty))) in members.iter().zip(fields).enumerate() {
                    comma(at, out);
                    json::push_string(name.as_bytes(), out);
                    out.push(b':');
                    ty.write_value(spelling, member.value, bytes, out)?;
                }
                out.push(b'}');
            }
            (Self::Map(keys, values), JsonKind::Object) => {
                let mut seen = HashSet::new();
                out.push(b'{');
                for (at, member) in members.iter().enumerate() {
                    comma(at, out);
                    let from = out.len();
                    keys.write_text(&key(member, bytes), out)?;
                    if !seen.insert(out[from..].to_vec()) {
                        return Err((Code::Type, "a document whose keys differ"));
                    }
                    out.push(b':');
                    values.write_value(spelling, member.value, bytes, out)?;
                }
                out.push(b'}');
            }
            _ => return Err(MISFIT),
        }
        Ok(())
    }
}

/// The name of a member.
fn key(member: &JsonMember, bytes: &[u8]) -> Vec<u8> {
    let mut name = Vec::new();
    json_unescape(member.key.raw(bytes), &mut name);
    name
}

impl Scalar {
    /// Appends a value, if it is of the kind that it may be.
    fn write(
        self,
        spelling: Spelling,
        kind: JsonKind,
        raw: &[u8],
        out: &mut Vec<u8>,
    ) -> Result<(), Misfit> {
        let is_string = matches!(kind, JsonKind::String | JsonKind::EscapedString);
        let is_fit = match self {
            _ if spelling == Spelling::Text => is_string,
            Self::Boolean => matches!(kind, JsonKind::True | JsonKind::False),
            Self::Integer(..) | Self::Decimal { .. } => kind == JsonKind::Number,
            // JSON has no number that isn't one.
            Self::Single | Self::Double => {
                kind == JsonKind::Number
                    || kind == JsonKind::String && double::special(raw).is_some()
            }
            Self::Date | Self::Moment { .. } | Self::Time | Self::Uuid | Self::Text => is_string,
        };
        match (is_fit, kind) {
            (false, _) => Err(MISFIT),
            (true, JsonKind::EscapedString) => {
                let mut text = Vec::new();
                json_unescape(raw, &mut text);
                self.write_text(&text, out)
            }
            (true, _) => self.write_text(raw, out),
        }
    }

    /// Appends a value as a string with the one text that it has.
    fn write_text(self, text: &[u8], out: &mut Vec<u8>) -> Result<(), Misfit> {
        if self == Self::Text {
            json::push_string(text, out);
            return Ok(());
        }
        out.push(b'"');
        match self {
            Self::Boolean => Typed::Boolean(value::truth(text, false)?).write(out),
            Self::Integer(min, max) => {
                let wanted = "a document whose integers the column's type has room for";
                let number = rule::integer(text, (min, max), false, wanted)?;
                out.extend_from_slice(number.to_string().as_bytes());
            }
            Self::Single => {
                // The shortest text of the single, which is not that of the same double.
                let single = value::single(text, false)?;
                match single.is_finite() {
                    true => out.extend_from_slice(format!("{single:e}").as_bytes()),
                    false => Typed::Float(single.into()).write(out),
                }
            }
            Self::Double => Typed::Float(value::double(text, false)?).write(out),
            Self::Decimal { precision, scale } => {
                let digits = Decimals::new(precision, scale).keep(text, false)?;
                Typed::Decimal { digits, scale }.write(out);
            }
            Self::Date => Typed::Date(value::day(text)?).write(out),
            Self::Moment { digits, zone } => {
                let moments = Moments::new(10_i64.pow(digits.into()), zone, true);
                let ticks = moments.read(text).ok_or_else(|| moments.misfit(text))?;
                let nanos =
                    ticks.rem_euclid(moments.per_second) * (1_000_000_000 / moments.per_second);
                let seconds = ticks.div_euclid(moments.per_second);
                Typed::Moment(Moment { seconds, nanos: nanos as u32, zone }).write(out);
            }
            Self::Time => {
                // Only engines that have the end of the day keep times in lists.
                match value::time(text, true)? {
                    value::DAY => out.extend_from_slice(b"24:00:00"),
                    micros => write_time(micros * 1_000, out),
                }
            }
            Self::Uuid => out.extend_from_slice(&rule::uuid_text(rule::uuid(text)?)),
            Self::Text => {}
        }
        out.push(b'"');
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn written(ty: &Nested, document: &str) -> Result<String, Code> {
        let mut out = Vec::new();
        let kept = ty.write(document.as_bytes(), &mut out);
        let text = String::from_utf8(out).unwrap();
        if kept.is_ok() {
            let mut again = Vec::new();
            ty.write_again(text.as_bytes(), &mut again).unwrap();
            assert_eq!(String::from_utf8(again).unwrap(), text);
        }
        kept.map(|()| text).map_err(|(code, _)| code)
    }

    fn list(scalar: Scalar) -> Nested {
        Nested::List(Box::new(Nested::Scalar(scalar)))
    }

    #[test]
    fn a_document_that_fits_has_one_form() {
        let small = Scalar::Integer(-128, 127);
        let pair = Nested::Struct(vec![
            ("a".to_owned(), Nested::Scalar(small)),
            ("b c".to_owned(), list(Scalar::Text)),
        ]);
        let map = Nested::Map(small, Box::new(Nested::Scalar(Scalar::Double)));
        let decimals = list(Scalar::Decimal { precision: 38, scale: 2 });
        let moments = list(Scalar::Moment { digits: 6, zone: true });
        for (ty, document, wanted) in [
            (list(small), " [ 1 , -2,null]\n", r#"["1","-2",null]"#),
            (
                list(Scalar::Text),
                r#"["p", "q\u00e9\n", "\/\"", ""]"#,
                "[\"p\",\"q\u{e9}\\n\",\"/\\\"\",\"\"]",
            ),
            (list(Scalar::Boolean), "[true,false]", r#"["true","false"]"#),
            (list(Scalar::Single), r#"[3.1, 1, "NaN"]"#, r#"["3.1e0","1e0","NaN"]"#),
            (
                decimals,
                "[123456789012345678901234567890.5]",
                r#"["123456789012345678901234567890.50"]"#,
            ),
            (moments, r#"["2020-01-01T02:00:00+02:00"]"#, r#"["2020-01-01 00:00:00+00:00"]"#),
            (
                list(Scalar::Time),
                r#"["12:00", "10:20:30.50", "24:00"]"#,
                r#"["12:00:00","10:20:30.5","24:00:00"]"#,
            ),
            (list(Scalar::Date), r#"["2020-02-29"]"#, r#"["2020-02-29"]"#),
            (
                Nested::Array(Box::new(pair.clone()), 1),
                r#"[{"a":7,"b c":["x"]}]"#,
                r#"[{"a":"7","b c":["x"]}]"#,
            ),
            (Nested::List(Box::new(pair)), "[null, null]", "[null,null]"),
            (map, r#"{"1": 1.5, "2": null}"#, r#"{"1":"1.5","2":null}"#),
        ] {
            assert_eq!(written(&ty, document).as_deref(), Ok(wanted), "{document}");
        }
    }

    #[test]
    fn a_document_that_would_change_does_not_fit() {
        let small = Scalar::Integer(-128, 127);
        let pair = Nested::Struct(vec![
            ("a".to_owned(), Nested::Scalar(small)),
            ("b".to_owned(), Nested::Scalar(small)),
        ]);
        for (ty, document) in [
            (list(small), "[1.5]"),
            (list(small), "[128]"),
            (list(small), r#"["1"]"#),
            (list(small), "[true]"),
            (list(small), "[[1]]"),
            (list(small), "1"),
            (list(small), r#"{"a":1}"#),
            (list(small), "[1"),
            (list(small), "[1] 2"),
            (list(small), ""),
            (list(Scalar::Text), "[1]"),
            (list(Scalar::Boolean), "[1]"),
            (list(Scalar::Single), "[1e39]"),
            (list(Scalar::Single), r#"["1"]"#),
            (list(Scalar::Decimal { precision: 5, scale: 2 }), "[1.005]"),
            (list(Scalar::Moment { digits: 3, zone: false }), r#"["2020-01-01 00:00:00.0001"]"#),
            (Nested::Array(Box::new(Nested::Scalar(small)), 2), "[1]"),
            (pair.clone(), r#"{"a":1}"#),
            (pair.clone(), r#"{"b":1,"a":1}"#),
            (pair.clone(), r#"{"a":1,"b":1,"c":1}"#),
            (pair, r#"{"a":1,"a":1}"#),
            (Nested::Map(small, Box::new(Nested::Scalar(small))), r#"{"1":1,"1.0":2}"#),
            (Nested::Map(small, Box::new(Nested::Scalar(small))), r#"{"x":1}"#),
        ] {
            assert!(written(&ty, document).is_err(), "{document}");
        }
    }
}
