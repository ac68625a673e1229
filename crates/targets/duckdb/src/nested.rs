//! Lists, arrays, structs and maps: what a declared type holds, and how values that come as JSON get into it.
//!
//! The engine's own cast from JSON reads numbers as doubles, rounds them, and takes what is missing for NULL. So each document is looked
//! at beforehand ([`Nested`]), and comes with all scalars as strings; the engine casts these, and has the last word on types that only
//! it knows.

use std::sync::Arc;

use crate::ddl::quote;
use crate::types::{self, Carried};
use inrush_arrow::{Nested, Scalar};

/// A nested type.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct NestedType {
    /// What is in its values.
    pub(super) tree: Arc<Nested>,
    /// The same type with text for every scalar.
    pub(super) texts: String,
    /// The same where a value may have several texts, and of it; text for all others.
    pub(super) compared: String,
}

/// A type while it is read.
struct Read {
    tree: Nested,
    texts: String,
    compared: String,
}

impl NestedType {
    /// The type as `duckdb_columns()` shows it; `None` where it is not nested, or holds what JSON has no text for (BLOB, BIT, UNION).
    pub(super) fn parse(declared: &str) -> Option<Self> {
        match read(declared)? {
            Read { tree: Nested::Scalar(_), .. } => None,
            Read { tree, texts, compared } => Some(Self { tree: Arc::new(tree), texts, compared }),
        }
    }
}

fn read(declared: &str) -> Option<Read> {
    let declared = declared.trim();
    let within = |name: &str| declared.strip_prefix(name)?.strip_prefix('(')?.strip_suffix(')');
    if let Some(rest) = declared.strip_suffix(']') {
        let (element, count) = rest.rsplit_once('[')?;
        let Read { tree, texts, compared } = read(element)?;
        let tree = Box::new(tree);
        return Some(Read {
            tree: match count {
                "" => Nested::List(tree),
                count => Nested::Array(tree, count.parse().ok()?),
            },
            texts: format!("{texts}[{count}]"),
            compared: format!("{compared}[{count}]"),
        });
    }
    if let Some(members) = within("STRUCT") {
        let members: Option<Vec<(String, Read)>> = parts(members).into_iter().map(member).collect();
        let members = members?;
        let spelled = |of: fn(&Read) -> &str| {
            let member = |(name, read): &(String, Read)| format!("{} {}", quote(name), of(read));
            format!("STRUCT({})", members.iter().map(member).collect::<Vec<_>>().join(", "))
        };
        let (texts, compared) = (spelled(|read| &read.texts), spelled(|read| &read.compared));
        let members = members.into_iter().map(|(name, read)| (name, read.tree));
        return Some(Read { tree: Nested::Struct(members.collect()), texts, compared });
    }
    if let Some(inner) = within("MAP") {
        let [keys, values] = parts(inner)[..] else { return None };
        let (keys, values) = (read(keys)?, read(values)?);
        let Nested::Scalar(key) = keys.tree else { return None };
        return Some(Read {
            tree: Nested::Map(key, Box::new(values.tree)),
            texts: format!("MAP({}, {})", keys.texts, values.texts),
            compared: format!("MAP({}, {})", keys.compared, values.compared),
        });
    }
    let scalar = scalar(declared)?;
    let compared = match scalar {
        Scalar::Single | Scalar::Double | Scalar::Moment { .. } | Scalar::Time => declared,
        _ => "VARCHAR",
    };
    Some(Read {
        tree: Nested::Scalar(scalar),
        texts: "VARCHAR".to_owned(),
        compared: compared.to_owned(),
    })
}

/// A type that holds no others.
fn scalar(declared: &str) -> Option<Scalar> {
    Some(match types::declared(declared).1 {
        Carried::Boolean => Scalar::Boolean,
        Carried::Integer { bits, signed: true } => {
            Scalar::Integer(-(1 << (bits - 1)), (1 << (bits - 1)) - 1)
        }
        Carried::Integer { bits, signed: false } => Scalar::Integer(0, (1 << bits) - 1),
        Carried::Float => Scalar::Single,
        Carried::Double => Scalar::Double,
        Carried::Decimal { precision, scale } => Scalar::Decimal { precision, scale },
        Carried::Date => Scalar::Date,
        Carried::Timestamp { digits } => Scalar::Moment { digits, zone: false },
        Carried::Moment => Scalar::Moment { digits: 6, zone: true },
        Carried::Time => Scalar::Time,
        Carried::Uuid => Scalar::Uuid,
        Carried::Text => Scalar::Text,
        Carried::Cast if declared == "HUGEINT" => Scalar::Integer(i128::MIN, i128::MAX),
        // Kept where the engine writes the same text again.
        Carried::Cast if declared == "INTERVAL" || declared.starts_with("ENUM(") => Scalar::Text,
        Carried::Bytes | Carried::Json | Carried::Nested | Carried::Cast => return None,
    })
}

/// A member of a STRUCT: `name TYPE` or `"a name" TYPE`.
fn member(text: &str) -> Option<(String, Read)> {
    let text = text.trim();
    let (name, ty) = match text.strip_prefix('"') {
        Some(rest) => {
            // A quote that is doubled is one of the name's.
            let quotes = rest.match_indices('"').map(|(at, _)| at);
            let is_end = |at: &usize| {
                let run = rest[*at..].bytes().take_while(|byte| *byte == b'"').count();
                let before = rest[..*at].bytes().rev().take_while(|byte| *byte == b'"').count();
                run == 1 && before % 2 == 0
            };
            let end = quotes.into_iter().find(is_end)?;
            (rest[..end].replace("\"\"", "\""), &rest[end + 1..])
        }
        None => {
            let (name, ty) = text.split_once(' ')?;
            (name.to_owned(), ty)
        }
    };
    Some((name, read(ty)?))
}

/// What stands between commas that are in no quotes and no brackets.
fn parts(text: &str) -> Vec<&str> {
    let (mut found, mut from, mut depth, mut quote) = (Vec::new(), 0, 0, None);
    for (at, byte) in text.bytes().enumerate() {
        match (quote, byte) {
            // A doubled quote ends a name and begins it again.
            (Some(open), byte) if open == byte => quote = None,
            (Some(_), _) => {}
            (None, b'"' | b'\'') => quote = Some(byte),
            (None, b'(' | b'[') => depth += 1,
            (None, b')' | b']') => depth -= 1,
            (None, b',') if depth == 0 => {
                found.push(&text[from..at]);
                from = at + 1;
            }
            (None, _) => {}
        }
    }
    found.push(&text[from..]);
    found
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_type_is_what_it_holds() {
        let declared = "STRUCT(\"b c\" INTEGER, d ENUM('x', 'y,)')[], \"q\"\"x,\" DECIMAL(5,2)[3], m MAP(VARCHAR, STRUCT(z TIMESTAMP WITH TIME ZONE)))[]";
        let found = NestedType::parse(declared).unwrap();
        let scalar = |scalar| Box::new(Nested::Scalar(scalar));
        let moment = Nested::Scalar(Scalar::Moment { digits: 6, zone: true });
        let members = vec![
            ("b c".to_owned(), *scalar(Scalar::Integer(i32::MIN.into(), i32::MAX.into()))),
            ("d".to_owned(), Nested::List(scalar(Scalar::Text))),
            (
                "q\"x,".to_owned(),
                Nested::Array(scalar(Scalar::Decimal { precision: 5, scale: 2 }), 3),
            ),
            (
                "m".to_owned(),
                Nested::Map(Scalar::Text, Box::new(Nested::Struct(vec![("z".to_owned(), moment)]))),
            ),
        ];
        assert_eq!(*found.tree, Nested::List(Box::new(Nested::Struct(members))));
        assert_eq!(
            found.texts,
            "STRUCT(\"b c\" VARCHAR, \"d\" VARCHAR[], \"q\"\"x,\" VARCHAR[3], \"m\" MAP(VARCHAR, STRUCT(\"z\" VARCHAR)))[]"
        );
        assert!(found.compared.contains("STRUCT(\"z\" TIMESTAMP WITH TIME ZONE)"));
    }

    #[test]
    fn what_json_has_no_text_for_is_none() {
        for declared in [
            "BLOB[]",
            "UNION(n INTEGER, s VARCHAR)",
            "STRUCT(j JSON)",
            "INTEGER",
            "BIT[]",
            "MAP(INTEGER[], INTEGER)",
        ] {
            assert_eq!(NestedType::parse(declared), None, "{declared}");
        }
        assert!(NestedType::parse("HUGEINT[][]").is_some());
    }
}
