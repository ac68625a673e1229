//! JSON as bytes: numbers written, rows read.

use std::borrow::Cow;
use std::fmt;

use serde::de::{Deserialize, Deserializer, MapAccess, SeqAccess, Visitor};
use serde_json::value::RawValue;

/// Whether `text` is a number as JSON writes it: `-?(0|[1-9][0-9]*)(\.[0-9]+)?([eE][+-]?[0-9]+)?`.
pub(super) fn is_number(text: &[u8]) -> bool {
    let digits = |text: &[u8]| text.iter().take_while(|byte| byte.is_ascii_digit()).count();
    let rest = text.strip_prefix(b"-").unwrap_or(text);
    let whole = digits(rest);
    if whole == 0 || (whole > 1 && rest[0] == b'0') {
        return false;
    }
    let mut rest = &rest[whole..];
    if let [b'.', fraction @ ..] = rest {
        let count = digits(fraction);
        if count == 0 {
            return false;
        }
        rest = &fraction[count..];
    }
    if let [b'e' | b'E', power @ ..] = rest {
        let power = power.strip_prefix(b"+").or(power.strip_prefix(b"-")).unwrap_or(power);
        let count = digits(power);
        if count == 0 {
            return false;
        }
        rest = &power[count..];
    }
    rest.is_empty()
}

/// A value as text: a string's characters, anything else as it is written; `None` for null.
pub(super) fn text_of(raw: &str) -> Option<Cow<'_, str>> {
    match raw.as_bytes() {
        b"null" => None,
        [b'"', ..] => Some(Cow::Owned(serde_json::from_str(raw).unwrap_or_default())),
        _ => Some(Cow::Borrowed(raw)),
    }
}

/// A row as it is written: an object, or an array.
#[derive(Debug)]
pub(super) enum JsonRow<'a> {
    Object(Vec<(Cow<'a, str>, &'a RawValue)>),
    Array(Vec<&'a RawValue>),
}

impl<'a> JsonRow<'a> {
    /// The row in a line; `None` when it is neither.
    pub(super) fn read(line: &'a [u8]) -> Option<Self> {
        serde_json::from_slice(line).ok()
    }

    /// All values, in their order.
    pub(super) fn values(&self) -> impl Iterator<Item = &'a str> {
        let (members, values) = match self {
            Self::Object(members) => (members.as_slice(), &[][..]),
            Self::Array(values) => (&[][..], values.as_slice()),
        };
        let members = members.iter().map(|(_, value)| value.get());
        members.chain(values.iter().map(|value| value.get()))
    }

    /// The value of a column, by name or position.
    pub(super) fn value(&self, position: usize, name: &str) -> Option<&'a str> {
        match self {
            Self::Object(members) => members
                .get(position)
                .filter(|(key, _)| key == name)
                .or_else(|| members.iter().find(|(key, _)| key == name))
                .map(|(_, value)| value.get()),
            Self::Array(values) => values.get(position).map(|value| value.get()),
        }
    }
}

impl<'de> Deserialize<'de> for JsonRow<'de> {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        struct Rows;
        #[derive(serde::Deserialize)]
        struct Key<'k>(#[serde(borrow)] Cow<'k, str>);
        impl<'de> Visitor<'de> for Rows {
            type Value = JsonRow<'de>;

            fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                f.write_str("an object or an array")
            }

            fn visit_map<A: MapAccess<'de>>(self, mut map: A) -> Result<JsonRow<'de>, A::Error> {
                let mut members = Vec::new();
                while let Some((Key(key), value)) = map.next_entry()? {
                    members.push((key, value));
                }
                Ok(JsonRow::Object(members))
            }

            fn visit_seq<A: SeqAccess<'de>>(self, mut seq: A) -> Result<JsonRow<'de>, A::Error> {
                let mut values = Vec::new();
                while let Some(value) = seq.next_element()? {
                    values.push(value);
                }
                Ok(JsonRow::Array(values))
            }
        }
        deserializer.deserialize_any(Rows)
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;
    use inrush_core::value::json::push_string;

    #[test]
    fn rows_are_read_as_they_are_written() {
        let row = JsonRow::read(br#" {"a":1.50,"\u0062": [1, 2]} "#).unwrap();
        assert_eq!((row.value(0, "a"), row.value(1, "b")), (Some("1.50"), Some("[1, 2]")));
        assert_eq!((row.value(5, "a"), row.value(0, "c")), (Some("1.50"), None));
        let row = JsonRow::read(br#"[null,"x"]"#).unwrap();
        assert_eq!((row.value(0, "a"), row.value(1, "a")), (Some("null"), Some("\"x\"")));
        assert!(JsonRow::read(b"7").is_none() && JsonRow::read(b"{}{}").is_none());
    }

    proptest! {
        #[test]
        fn strings_come_back(text in ".*|[\\x00-\\x7f]*") {
            let mut out = Vec::new();
            push_string(text.as_bytes(), &mut out);
            prop_assert_eq!(serde_json::from_slice::<String>(&out).unwrap(), text);
            prop_assert!(!out.contains(&b'\n'));
        }

        #[test]
        fn numbers_are_what_serde_takes(text in "-?[0-9]{0,3}(\\.[0-9]{0,2})?([eE][+-]?[0-9]{0,2})?|[-+.eE0-9]{0,6}") {
            let known = serde_json::from_str::<&RawValue>(&text).is_ok_and(|raw| raw.get() == text);
            prop_assert_eq!(is_number(text.as_bytes()), known);
        }
    }
}
