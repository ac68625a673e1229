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

    /// Refuses what a new table is hardly to be called: a name in quotes that the target, whose own are `quotes`, would take for a part of
    /// it, with a list of columns behind it, or with blanks around it.
    ///
    /// # Errors
    /// When it is such a name.
    pub fn expect_meant(text: &str, quotes: &[(char, char)]) -> Result<()> {
        const QUOTES: [(char, char); 4] = [('"', '"'), ('\'', '\''), ('`', '`'), ('[', ']')];
        let refused = |why: &str, meant: String| {
            Err(Error::usage(format!("--table {text}: {why}"))
                .advise(meant)
                .advise("or create a table of that whole name before, and load into that one"))
        };
        let bare = text.trim();
        if bare.len() < text.len() {
            let meant = format!("say --table {}", shell_word(bare));
            return refused("the name has blanks around it", meant);
        }
        let mut foreign = QUOTES.iter().filter(|pair| !quotes.contains(pair));
        let is_around = |(open, close): &&(char, char)| {
            text.len() > 2 && text.starts_with(*open) && text.ends_with(*close)
        };
        if let Some((open, close)) = foreign.find(is_around) {
            let meant = format!("say --table {}", shell_word(&text.replace([*open, *close], "")));
            return refused("the quotes would be a part of the name", meant);
        }
        let list = text.strip_suffix(')').and_then(|text| text.rsplit_once('('));
        let Some((name, columns)) = list.filter(|(name, _)| !name.is_empty()) else {
            return Ok(());
        };
        let columns: Vec<&str> = columns.split(',').map(str::trim).collect();
        let is_column = |name: &&str| name.starts_with(|c: char| c.is_alphabetic() || c == '_');
        // A copy of a file may be called `t (copy)`.
        let is_list = columns.len() > 1 || !name.ends_with(' ');
        match is_list && columns.iter().all(is_column) {
            true => refused(
                "the list of columns would be a part of the name",
                format!(
                    "say --table {} --columns {}",
                    shell_word(name.trim_end()),
                    shell_word(&columns.join(","))
                ),
            ),
            false => Ok(()),
        }
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
    fn a_name_that_is_hardly_meant_is_refused() {
        let advice = |text: &str, quotes: &[(char, char)]| {
            Some(TableName::expect_meant(text, quotes).err()?.advice()[0].clone())
        };
        for (text, wanted) in [
            ("\"t\"", "say --table t"),
            ("[t]", "say --table t"),
            ("`d`.`t`", "say --table d.t"),
            ("'a b'", "say --table 'a b'"),
            (" t", "say --table t"),
            ("t(id,name)", "say --table t --columns id,name"),
            ("t (id, name)", "say --table t --columns id,name"),
        ] {
            assert_eq!(advice(text, &[]).as_deref(), Some(wanted), "{text}");
        }
        for text in ["t", "a b", "t\"", "2024 (1)", "t (copy)", "f(1)", "(a)", "a.b", "\""] {
            assert_eq!(advice(text, &[]), None, "{text}");
        }
        assert_eq!(advice("\"t(a)\"", &[('"', '"')]), None);
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
