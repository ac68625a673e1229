//! BSON, as much of it as loads need (<https://bsonspec.org/spec.html>): documents are written into memory that is there, and read
//! where they lie.

/// An element's type, its first byte.
pub(super) mod kind {
    pub(in super::super) const DOUBLE: u8 = 0x01;
    pub(in super::super) const STRING: u8 = 0x02;
    pub(in super::super) const DOCUMENT: u8 = 0x03;
    pub(in super::super) const ARRAY: u8 = 0x04;
    pub(in super::super) const BINARY: u8 = 0x05;
    pub(in super::super) const UNDEFINED: u8 = 0x06;
    pub(in super::super) const OBJECT_ID: u8 = 0x07;
    pub(in super::super) const BOOLEAN: u8 = 0x08;
    pub(in super::super) const DATE: u8 = 0x09;
    pub(in super::super) const NULL: u8 = 0x0a;
    pub(in super::super) const REGEX: u8 = 0x0b;
    pub(in super::super) const DB_POINTER: u8 = 0x0c;
    pub(in super::super) const JAVASCRIPT: u8 = 0x0d;
    pub(in super::super) const SYMBOL: u8 = 0x0e;
    pub(in super::super) const JAVASCRIPT_SCOPE: u8 = 0x0f;
    pub(in super::super) const INT32: u8 = 0x10;
    pub(in super::super) const TIMESTAMP: u8 = 0x11;
    pub(in super::super) const INT64: u8 = 0x12;
    pub(in super::super) const DECIMAL128: u8 = 0x13;
    pub(in super::super) const MAX_KEY: u8 = 0x7f;
    pub(in super::super) const MIN_KEY: u8 = 0xff;
}

/// A document that has begun at this place, and isn't closed yet.
#[derive(Clone, Copy)]
pub(super) struct Open(usize);

/// Begins a document.
#[inline]
pub(super) fn open(out: &mut Vec<u8>) -> Open {
    let at = out.len();
    out.extend_from_slice(&[0; 4]);
    Open(at)
}

impl Open {
    /// Ends it. None is longer than a chunk's wire, whose offsets have 32 bits.
    #[inline]
    pub(super) fn close(self, out: &mut Vec<u8>) {
        out.push(0);
        let length = (out.len() - self.0) as u32;
        out[self.0..self.0 + 4].copy_from_slice(&length.to_le_bytes());
    }
}

/// The value of a string: its length, and a NUL at its end, which counts.
#[inline]
pub(super) fn put_string(text: &[u8], out: &mut Vec<u8>) {
    out.extend_from_slice(&(text.len() as u32 + 1).to_le_bytes());
    out.extend_from_slice(text);
    out.push(0);
}

/// The value of a binary, of the general subtype.
#[inline]
pub(super) fn put_binary(bytes: &[u8], out: &mut Vec<u8>) {
    out.extend_from_slice(&(bytes.len() as u32).to_le_bytes());
    out.push(0);
    out.extend_from_slice(bytes);
}

/// A document that is put together element by element: commands.
#[derive(Clone, Debug)]
pub(super) struct Document(Vec<u8>);

impl Document {
    pub(super) fn new() -> Self {
        Self(vec![0; 4])
    }

    /// An element of any kind. A name ends at its first NUL, and ours have none.
    pub(super) fn element(mut self, name: &str, kind: u8, value: &[u8]) -> Self {
        self.0.push(kind);
        self.0.extend_from_slice(name.as_bytes());
        self.0.push(0);
        self.0.extend_from_slice(value);
        self
    }

    pub(super) fn value(self, name: &str, value: Value<'_>) -> Self {
        self.element(name, value.kind, value.bytes)
    }

    pub(super) fn string(self, name: &str, text: &str) -> Self {
        let mut value = Vec::with_capacity(text.len() + 5);
        put_string(text.as_bytes(), &mut value);
        self.element(name, kind::STRING, &value)
    }

    pub(super) fn int32(self, name: &str, number: i32) -> Self {
        self.element(name, kind::INT32, &number.to_le_bytes())
    }

    pub(super) fn int64(self, name: &str, number: i64) -> Self {
        self.element(name, kind::INT64, &number.to_le_bytes())
    }

    pub(super) fn boolean(self, name: &str, truth: bool) -> Self {
        self.element(name, kind::BOOLEAN, &[truth.into()])
    }

    pub(super) fn binary(self, name: &str, bytes: &[u8]) -> Self {
        let mut value = Vec::with_capacity(bytes.len() + 5);
        put_binary(bytes, &mut value);
        self.element(name, kind::BINARY, &value)
    }

    pub(super) fn document(self, name: &str, document: Document) -> Self {
        self.element(name, kind::DOCUMENT, &document.finish())
    }

    pub(super) fn array(self, name: &str, documents: impl IntoIterator<Item = Document>) -> Self {
        let array =
            documents.into_iter().enumerate().fold(Document::new(), |array, (index, document)| {
                array.document(&index.to_string(), document)
            });
        self.element(name, kind::ARRAY, &array.finish())
    }

    /// The document's bytes.
    pub(super) fn finish(mut self) -> Vec<u8> {
        Open(0).close(&mut self.0);
        self.0
    }
}

/// A whole document, where it lies.
#[derive(Clone, Copy, Debug)]
pub(super) struct Raw<'a>(&'a [u8]);

impl<'a> Raw<'a> {
    /// The document that `bytes` begin with, if they hold all of it.
    pub(super) fn read(bytes: &'a [u8]) -> Option<Self> {
        let length = usize::try_from(i32::from_le_bytes(*bytes.first_chunk()?)).ok()?;
        let document = bytes.get(..length).filter(|document| document.len() >= 5)?;
        (document.last() == Some(&0)).then_some(Self(document))
    }

    /// All of its bytes.
    pub(super) fn bytes(self) -> &'a [u8] {
        self.0
    }

    pub(super) fn elements(self) -> Elements<'a> {
        Elements(&self.0[4..self.0.len() - 1])
    }

    pub(super) fn get(self, name: &str) -> Option<Value<'a>> {
        self.elements().find(|(found, _)| *found == name.as_bytes()).map(|(_, value)| value)
    }

    pub(super) fn text(self, name: &str) -> Option<&'a str> {
        self.get(name)?.text()
    }

    pub(super) fn number(self, name: &str) -> Option<i64> {
        self.get(name)?.number()
    }

    pub(super) fn is_true(self, name: &str) -> bool {
        self.get(name).is_some_and(Value::is_true)
    }

    pub(super) fn document(self, name: &str) -> Option<Raw<'a>> {
        self.get(name)?.document()
    }

    /// The documents of an array; what isn't one is left out.
    pub(super) fn documents(self, name: &str) -> impl Iterator<Item = Raw<'a>> {
        let array = self.get(name).filter(|value| value.kind == kind::ARRAY);
        let elements = array.and_then(Value::document).map(Raw::elements);
        elements.into_iter().flatten().filter_map(|(_, value)| value.document())
    }

    /// The texts of an array.
    pub(super) fn texts(self, name: &str) -> impl Iterator<Item = &'a str> {
        let array = self.get(name).filter(|value| value.kind == kind::ARRAY);
        let elements = array.and_then(Value::document).map(Raw::elements);
        elements.into_iter().flatten().filter_map(|(_, value)| value.text())
    }
}

/// A value where it lies: everything behind its element's name.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Value<'a> {
    pub(super) kind: u8,
    pub(super) bytes: &'a [u8],
}

impl<'a> Value<'a> {
    pub(super) fn text(self) -> Option<&'a str> {
        std::str::from_utf8(self.string()?).ok()
    }

    /// The bytes of a string.
    pub(super) fn string(self) -> Option<&'a [u8]> {
        (self.kind == kind::STRING).then(|| &self.bytes[4..self.bytes.len() - 1])
    }

    /// A document's, or an array's, which is one with numbers for names.
    pub(super) fn document(self) -> Option<Raw<'a>> {
        match self.kind {
            kind::DOCUMENT | kind::ARRAY => Raw::read(self.bytes),
            _ => None,
        }
    }

    pub(super) fn double(self) -> Option<f64> {
        let bytes = (self.kind == kind::DOUBLE).then_some(self.bytes)?;
        bytes.try_into().ok().map(f64::from_le_bytes)
    }

    /// A whole number, of whatever kind.
    pub(super) fn number(self) -> Option<i64> {
        match self.kind {
            kind::INT32 => {
                self.bytes.try_into().ok().map(|bytes| i64::from(i32::from_le_bytes(bytes)))
            }
            kind::INT64 => self.bytes.try_into().ok().map(i64::from_le_bytes),
            kind::DOUBLE => {
                self.double().filter(|number| number.trunc() == *number).map(|number| number as i64)
            }
            _ => None,
        }
    }

    /// Milliseconds since 1970-01-01 00:00:00 UTC.
    pub(super) fn date(self) -> Option<i64> {
        let bytes = (self.kind == kind::DATE).then_some(self.bytes)?;
        bytes.try_into().ok().map(i64::from_le_bytes)
    }

    pub(super) fn boolean(self) -> Option<bool> {
        (self.kind == kind::BOOLEAN).then(|| self.bytes == [1])
    }

    /// The bytes of a binary of any subtype.
    pub(super) fn binary(self) -> Option<&'a [u8]> {
        (self.kind == kind::BINARY).then(|| &self.bytes[5..])
    }

    pub(super) fn is_null(self) -> bool {
        self.kind == kind::NULL
    }

    /// As commands answer: `ok: 1.0`, `isWritablePrimary: true`.
    pub(super) fn is_true(self) -> bool {
        self.boolean().or(self.number().map(|number| number != 0)) == Some(true)
    }
}

/// The elements of a document. They end where they make no sense any more.
#[derive(Clone)]
pub(super) struct Elements<'a>(&'a [u8]);

impl<'a> Iterator for Elements<'a> {
    type Item = (&'a [u8], Value<'a>);

    fn next(&mut self) -> Option<Self::Item> {
        let rest = std::mem::take(&mut self.0);
        let (kind, rest) = rest.split_first()?;
        let end = memchr::memchr(0, rest)?;
        let (name, rest) = (&rest[..end], &rest[end + 1..]);
        let (bytes, rest) = rest.split_at_checked(length(*kind, rest)?)?;
        self.0 = rest;
        Some((name, Value { kind: *kind, bytes }))
    }
}

/// Bytes that a value takes.
fn length(kind: u8, bytes: &[u8]) -> Option<usize> {
    let counted = || usize::try_from(i32::from_le_bytes(*bytes.first_chunk()?)).ok();
    let is_ended = |length: usize| bytes.get(length - 1) == Some(&0);
    let length = match kind {
        kind::DOUBLE | kind::DATE | kind::TIMESTAMP | kind::INT64 => 8,
        kind::INT32 => 4,
        kind::BOOLEAN => 1,
        kind::OBJECT_ID => 12,
        kind::DECIMAL128 => 16,
        kind::NULL | kind::UNDEFINED | kind::MIN_KEY | kind::MAX_KEY => 0,
        kind::STRING | kind::JAVASCRIPT | kind::SYMBOL => counted()
            .filter(|length| *length > 0)?
            .checked_add(4)
            .filter(|length| is_ended(*length))?,
        kind::DOCUMENT | kind::ARRAY => {
            counted().filter(|length| *length >= 5 && is_ended(*length))?
        }
        kind::JAVASCRIPT_SCOPE => counted().filter(|length| *length >= 14)?,
        kind::BINARY => counted()?.checked_add(5)?,
        kind::DB_POINTER => counted().filter(|length| *length > 0)?.checked_add(4 + 12)?,
        kind::REGEX => {
            let pattern = memchr::memchr(0, bytes)? + 1;
            pattern + memchr::memchr(0, &bytes[pattern..])? + 1
        }
        _ => return None,
    };
    Some(length)
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    #[test]
    fn a_document_is_read_as_it_was_written() {
        let inner = Document::new().string("s", "a\u{0}b").boolean("b", true);
        let bytes = Document::new()
            .int32("i", -7)
            .int64("l", i64::MAX)
            .document("d", inner)
            .array("a", [Document::new().int32("x", 1), Document::new()])
            .binary("n", b"\x00\xff")
            .finish();
        let document = Raw::read(&bytes).unwrap();
        assert_eq!(document.bytes().len(), bytes.len());
        assert_eq!((document.number("i"), document.number("l")), (Some(-7), Some(i64::MAX)));
        let inner = document.document("d").unwrap();
        assert_eq!((inner.text("s"), inner.is_true("b")), (Some("a\u{0}b"), true));
        assert_eq!(document.documents("a").count(), 2);
        assert_eq!(document.get("n").and_then(Value::binary), Some(&b"\x00\xff"[..]));
        assert_eq!(document.get("nothing"), None);
    }

    proptest! {
        /// Servers are other people's.
        #[test]
        fn no_bytes_make_a_reader_panic(
            kinds in proptest::collection::vec(any::<u8>(), 0..4),
            bytes in proptest::collection::vec(prop_oneof![Just(0), Just(1), Just(0xff), any::<u8>()], 0..60),
        ) {
            let mut document = vec![0; 4];
            for kind in kinds {
                document.extend_from_slice(&[kind, 0]);
                document.extend_from_slice(&bytes);
            }
            Open(0).close(&mut document);
            fn look(raw: Raw<'_>) {
                for (_, value) in raw.elements() {
                    let _ = (value.text(), value.number(), value.is_true(), value.binary(), value.date());
                    value.document().into_iter().for_each(look);
                }
            }
            Raw::read(&document).into_iter().for_each(look);
            Raw::read(&bytes).into_iter().for_each(look);
        }
    }
}
