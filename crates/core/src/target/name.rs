//! A table as users name it.

use std::iter;

use crate::error::{Error, Result};
use crate::request::Request;
use crate::wording::shell_word;

/// Refuses the URL of a server that goes on behind the database, as with the name of a table.
pub fn behind_database(database: &str, rest: &str) -> Error {
    let error = Error::usage(format!("the URL has {rest} behind the database {database}"));
    error.advise(format!("end it with the database, and say --table {}", shell_word(rest)))
}

/// A table as users name it.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct TableName {
    /// `None` where the database looks for it: in the user's own schema, or along a search path.
    pub schema: Option<String>,
    /// Without its schema.
    pub table: String,
}

impl TableName {
    /// The load's table. `quotes` begin and end a part with a dot in it. What a file's name makes of itself is one part, dots and all.
    ///
    /// # Errors
    /// When there are more than two parts, or one is empty.
    pub fn of(request: &Request, table: &str, quotes: &[(char, char)]) -> Result<Self> {
        match request.table {
            Some(_) => Self::parse(table, quotes),
            None => Ok(Self { schema: None, table: table.to_owned() }),
        }
    }

    /// `table`, `schema.table`, `"schema"."table"`. Upper case stays.
    ///
    /// # Errors
    /// When there are more than two parts, or one is empty.
    pub fn parse(text: &str, quotes: &[(char, char)]) -> Result<Self> {
        let mut parts = vec![String::new()];
        // What ends the part that has begun with a quote.
        let mut end = None;
        let mut characters = text.chars().peekable();
        while let Some(character) = characters.next() {
            let Some(part) = parts.last_mut() else { break };
            let begun = quotes.iter().find(|(open, _)| *open == character && part.is_empty());
            match (end, begun) {
                (Some(close), _) if character == close => match characters.peek() == Some(&close) {
                    true => part.extend(characters.next()),
                    false => end = None,
                },
                (None, Some((_, close))) => end = Some(*close),
                (None, None) if character == '.' => parts.push(String::new()),
                _ => part.push(character),
            }
        }
        let mut parts = parts.into_iter().rev();
        let (table, schema, more) = (parts.next().unwrap_or_default(), parts.next(), parts.next());
        if end.is_some() || more.is_some() || table.is_empty() || schema.as_deref() == Some("") {
            let (open, close) = quotes.first().copied().unwrap_or_default();
            return Err(Error::usage(format!("--table {text}: takes TABLE or SCHEMA.TABLE"))
                .advise(format!(
                    "put a name with a dot in it in quotes: --table '{open}a.b{close}'"
                )));
        }
        Ok(Self { schema, table })
    }

    /// What to know of a new table that is hardly to be called so: in quotes that the target, whose own are `quotes`, takes for a part of
    /// the name, with a list of columns behind it, or with blanks around it.
    pub fn hardly_meant(text: &str, quotes: &[(char, char)]) -> Option<String> {
        const QUOTES: [(char, char); 4] = [('"', '"'), ('\'', '\''), ('`', '`'), ('[', ']')];
        let bare = text.trim();
        if bare.len() < text.len() {
            let meant = shell_word(bare);
            return Some(format!(
                "blanks are a part of the name '{text}' (--table {meant} has none)"
            ));
        }
        let mut foreign = QUOTES.iter().filter(|pair| !quotes.contains(pair));
        let is_around = |(open, close): &&(char, char)| {
            text.len() > 2 && text.starts_with(*open) && text.ends_with(*close)
        };
        if let Some((open, close)) = foreign.find(is_around) {
            let meant = shell_word(&text.replace([*open, *close], ""));
            return Some(format!(
                "the quotes are a part of the name {text} (--table {meant} has none)"
            ));
        }
        let (name, columns) = text.strip_suffix(')')?.rsplit_once('(')?;
        let columns: Vec<&str> = columns.split(',').map(str::trim).collect();
        let is_column = |name: &&str| name.starts_with(|c: char| c.is_alphabetic() || c == '_');
        // A copy of a file may be called `t (copy)`.
        let is_list = !name.is_empty() && (columns.len() > 1 || !name.ends_with(' '));
        (is_list && columns.iter().all(is_column)).then(|| {
            format!(
                "what is in brackets is a part of the name {text} (--table {} --columns {} takes columns)",
                shell_word(name.trim_end()),
                shell_word(&columns.join(","))
            )
        })
    }

    /// Refuses a part that `engine` would cut off, with `max` units of what `length` counts.
    ///
    /// # Errors
    /// When there is one.
    pub fn within(
        self,
        engine: &str,
        (max, unit): (usize, &str),
        length: impl Fn(&str) -> usize,
    ) -> Result<Self> {
        let mut parts = iter::once(&self.table).chain(&self.schema);
        match parts.find(|part| length(part) > max) {
            None => Ok(self),
            Some(name) => Err(Error::usage(format!(
                "the name {name} has {} {unit}; {engine} keeps {max}",
                length(name)
            ))
            .advise("--table NAME gives a shorter one")),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_name_may_have_a_schema_and_quotes() {
        let double = [('"', '"')];
        let brackets = [('[', ']'), ('"', '"')];
        let parsed = |text: &str, quotes: &[(char, char)]| {
            let name = TableName::parse(text, quotes).ok()?;
            Some((name.schema, name.table))
        };
        let some =
            |schema: Option<&str>, table: &str| Some((schema.map(str::to_owned), table.to_owned()));
        for quotes in [&double[..], &brackets] {
            assert_eq!(parsed("t", quotes), some(None, "t"));
            assert_eq!(parsed("Sales.Order", quotes), some(Some("Sales"), "Order"));
            assert_eq!(parsed("\"a.b\"", quotes), some(None, "a.b"));
            assert_eq!(parsed("s.\"a\"\"b.c\"", quotes), some(Some("s"), "a\"b.c"));
            assert_eq!(parsed("\"a.b\".\"c\"\"d\"", quotes), some(Some("a.b"), "c\"d"));
            for wrong in ["", ".", "a.", ".b", "a.b.c", "\"a"] {
                assert_eq!(parsed(wrong, quotes), None, "{wrong}");
            }
        }
        assert_eq!(parsed("[a.b]", &brackets), some(None, "a.b"));
        assert_eq!(parsed("dbo.[a]]b.c]", &brackets), some(Some("dbo"), "a]b.c"));
        assert_eq!(parsed("[a", &brackets), None);
        assert_eq!(parsed("[a", &double), some(None, "[a"));
    }

    #[test]
    fn a_name_that_is_hardly_meant_is_told() {
        let note = |text: &str, quotes: &[(char, char)]| TableName::hardly_meant(text, quotes);
        for (text, wanted) in [
            ("\"t\"", "--table t "),
            ("[t]", "--table t "),
            ("`d`.`t`", "--table d.t "),
            ("'a b'", "--table 'a b' "),
            (" t", "--table t "),
            ("t(id,name)", "--table t --columns id,name "),
            ("t (id, name)", "--table t --columns id,name "),
        ] {
            assert!(note(text, &[]).unwrap().contains(wanted), "{text}");
        }
        for text in ["t", "a b", "t\"", "2024 (1)", "t (copy)", "f(1)", "(a)", "a.b", "\""] {
            assert_eq!(note(text, &[]), None, "{text}");
        }
        assert_eq!(note("\"t(a)\"", &[('"', '"')]), None);
    }

    #[test]
    fn a_name_that_would_be_cut_off_is_refused() {
        let name = |schema: Option<&str>, table: &str| TableName {
            schema: schema.map(str::to_owned),
            table: table.to_owned(),
        };
        let within = |name: TableName| name.within("X", (3, "bytes"), str::len).is_ok();
        assert!(within(name(Some("abc"), "abc")));
        assert!(!within(name(Some("abcd"), "abc")));
        assert!(!within(name(None, "\u{e9}\u{e9}")));
    }
}
