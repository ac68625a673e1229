//! Types as the server spells them, and back.

use inrush_core::Type;

/// A declared type, taken apart: `timestamp(3) without time zone[]`.
#[derive(Debug, PartialEq, Eq)]
pub(super) struct Declared<'a> {
    /// `timestamp without time zone`: what is left without arguments. Names with quotes are whole.
    pub(super) name: String,
    /// `3`; empty when there are none.
    arguments: &'a str,
    pub(super) is_array: bool,
    /// Whether the array's elements have a type that isn't built in, whatever is underneath.
    pub(super) has_named_elements: bool,
}

impl<'a> Declared<'a> {
    /// Takes apart what the type is underneath: a domain's base type, an enum's labels.
    pub(super) fn parse(text: &'a str) -> Self {
        let mut text = text.trim();
        let mut has_named_elements = false;
        while let Some((name, under)) = split_named(text) {
            has_named_elements |= name.ends_with("[]");
            text = under.trim();
        }
        let (text, is_array) = match text.strip_suffix("[]") {
            Some(element) => (element, true),
            None => (text, false),
        };
        // A quoted name may have parentheses in it, and none behind it that matter.
        let is_plain = text.starts_with("enum(") || !text.contains('"');
        let open = if is_plain { text.find('(') } else { None };
        let (name, arguments) = match open {
            None => (text.to_owned(), ""),
            Some(at) => {
                let (arguments, tail) = text[at + 1..].split_at(closing(&text[at + 1..]));
                (format!("{}{}", &text[..at], tail.strip_prefix(')').unwrap_or(tail)), arguments)
            }
        };
        Self { name, arguments, is_array, has_named_elements }
    }

    /// The first number in parentheses.
    pub(super) fn number(&self) -> Option<usize> {
        self.arguments.trim().parse().ok()
    }

    /// A decimal's precision and scale.
    pub(super) fn digits(&self) -> Option<(i64, i64)> {
        let mut numbers = self.arguments.split(',').map(|number| number.trim().parse().ok());
        let precision = numbers.next()??;
        Some((precision, numbers.next().unwrap_or(Some(0))?))
    }

    /// An enum's labels, in whose spelling quotes are doubled.
    pub(super) fn labels(&self) -> Vec<Box<[u8]>> {
        let mut labels = Vec::new();
        let mut label: Option<Vec<u8>> = None;
        let mut bytes = self.arguments.bytes().peekable();
        while let Some(byte) = bytes.next() {
            match (&mut label, byte) {
                (None, b'\'') => label = Some(Vec::new()),
                (None, _) => {}
                (Some(text), b'\'') if bytes.next_if_eq(&b'\'').is_some() => text.push(b'\''),
                (Some(_), b'\'') => labels.extend(label.take().map(Vec::into_boxed_slice)),
                (Some(text), byte) => text.push(byte),
            }
        }
        labels
    }
}

/// Where the parenthesis closes that was opened before `text`.
fn closing(text: &str) -> usize {
    let mut quoted = false;
    for (at, byte) in text.bytes().enumerate() {
        match byte {
            b'\'' => quoted = !quoted,
            b')' if !quoted => return at,
            _ => {}
        }
    }
    text.len()
}

/// A type's name, and what it is underneath where that is said: `mood = enum('sad')`. A quoted name may have anything in it, and so
/// may an enum's labels.
fn split_named(text: &str) -> Option<(&str, &str)> {
    let mut quoted = false;
    for (at, byte) in text.bytes().enumerate() {
        match byte {
            b'"' => quoted = !quoted,
            b'\'' if !quoted => return None,
            b' ' if !quoted && text[at..].starts_with(" = ") => {
                return Some((&text[..at], &text[at + 3..]));
            }
            _ => {}
        }
    }
    None
}

/// The type's name as a cast takes it: without what it is underneath.
pub(crate) fn sql_type(declared: &str) -> &str {
    split_named(declared).map_or(declared, |(name, _)| name)
}

/// Whether a declared type is one of arrays.
pub(crate) fn is_array(text: &str) -> bool {
    Declared::parse(text).is_array
}

/// What a declared type says about its values.
pub(crate) fn declared(text: &str) -> Type {
    let declared = Declared::parse(text);
    if declared.is_array {
        return Type::Text;
    }
    match declared.name.as_str() {
        "smallint" | "integer" | "bigint" | "oid" => Type::Integer,
        "real" | "double precision" => Type::Float,
        "numeric" => match declared.digits() {
            None => Type::Decimal { precision: 0, scale: 0 },
            // As many digits as such a number has when it is written without an exponent.
            Some((precision, scale)) => Type::Decimal {
                precision: (precision - scale.min(0)).max(scale) as u16,
                scale: scale.max(0) as u16,
            },
        },
        "boolean" => Type::Boolean,
        "date" => Type::Date,
        "timestamp without time zone" => Type::Timestamp { zone: false },
        "timestamp with time zone" => Type::Timestamp { zone: true },
        "json" | "jsonb" => Type::Json,
        "bytea" => Type::Bytes,
        // Characters, and what is read by its own rules: times, addresses, enums, whatever extensions bring.
        _ => Type::Text,
    }
}

/// The type of a column in a table that the load makes.
pub(crate) fn spell(ty: Type) -> String {
    /// What a column can be declared to have.
    const PRECISION_MAX: u16 = 1000;
    let name = match ty {
        Type::Integer => "bigint",
        Type::Float => "double precision",
        Type::Decimal { precision: precision @ 1..=PRECISION_MAX, scale } => {
            return format!("numeric({precision},{scale})");
        }
        Type::Decimal { .. } => "numeric",
        Type::Boolean => "boolean",
        Type::Date => "date",
        Type::Timestamp { zone: false } => "timestamp without time zone",
        Type::Timestamp { zone: true } => "timestamp with time zone",
        Type::Text | Type::TimestampNs { .. } => "text",
        Type::Time => "time without time zone",
        Type::Uuid => "uuid",
        Type::Interval => "interval",
        Type::Json => "json",
        Type::Bytes => "bytea",
    };
    name.to_owned()
}
