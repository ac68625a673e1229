//! What else in a database names a table: views, triggers, macros, by the SQL that defines them.

use std::collections::BTreeSet;

/// Whose SQL a text is: engines quote differently.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Sql {
    /// `[name]` is a name.
    Sqlite,
    /// `$$text$$` and `$tag$text$tag$` are texts, `[1, 2]` a list.
    Duckdb,
    /// Backslashes escape in texts, and `#` begins a comment.
    Mysql,
}

/// What a database has beside its tables.
#[derive(Clone, Debug)]
pub struct Definition {
    /// Its kind, in the words of SQL: `VIEW`.
    pub kind: String,
    /// Its schema, where it is another than the table's.
    pub schema: Option<String>,
    /// Its name.
    pub name: String,
    /// What defines it.
    pub sql: String,
}

/// A definition that names a table, or another that does.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Mention {
    what: String,
    words: BTreeSet<String>,
}

impl Mention {
    /// Its kind and name: `VIEW v`.
    pub fn what(&self) -> &str {
        &self.what
    }

    /// Whether it may need a column of the table: whose column a name is, only the engine knows.
    pub fn says(&self, column: &str) -> bool {
        self.words.contains(&folded(column))
    }
}

/// The definitions that name a table, those that name views of it included.
pub fn mentions(table: &str, sql: Sql, mut definitions: Vec<Definition>) -> Vec<Mention> {
    let mut found: Vec<Mention> = Vec::new();
    let mut names = vec![(folded(table), BTreeSet::new())];
    while let Some((name, behind)) = names.pop() {
        definitions.retain(|definition| {
            let mut words: BTreeSet<String> =
                tokens(&definition.sql, sql).filter_map(word).collect();
            if !words.contains(&name) {
                return true;
            }
            // A view over a view needs what that needs. Nothing refers to a trigger.
            words.extend(behind.iter().cloned());
            if definition.kind != "TRIGGER" {
                names.push((folded(&definition.name), words.clone()));
            }
            let Definition { kind, schema, name, .. } = definition;
            let what = match schema {
                Some(schema) => format!("{kind} {schema}.{name}"),
                None => format!("{kind} {name}"),
            };
            found.push(Mention { what, words });
            false
        });
    }
    found.sort_by(|one, other| one.what.cmp(&other.what));
    found
}

fn folded(name: &str) -> String {
    name.to_lowercase()
}

/// The name that a token may be.
fn word(token: &str) -> Option<String> {
    let inner = || &token[1..token.len() - 1];
    let name = match token.as_bytes() {
        [b'"', .., b'"'] => &inner().replace("\"\"", "\""),
        [b'`', .., b'`'] => &inner().replace("``", "`"),
        [b'[', .., b']'] => inner(),
        [first, ..] if first.is_ascii_punctuation() && *first != b'_' => return None,
        _ => token,
    };
    Some(folded(name))
}

/// The tokens of SQL text: words, what is in quotes, single characters. Comments and blanks are left out.
pub fn tokens(text: &str, sql: Sql) -> impl Iterator<Item = &str> {
    let mut rest = text;
    std::iter::from_fn(move || {
        loop {
            rest = rest.trim_start();
            let skipped = match rest {
                text if text.starts_with("--") || sql == Sql::Mysql && text.starts_with('#') => {
                    text.find('\n').unwrap_or(text.len())
                }
                text if text.starts_with("/*") => {
                    text[2..].find("*/").map_or(text.len(), |at| at + 4)
                }
                _ => break,
            };
            rest = &rest[skipped..];
        }
        let first = rest.chars().next()?;
        let is_word = |c: char| c.is_alphanumeric() || c == '_' || c == '$';
        let end = match first {
            '\'' | '"' => quoted(rest, first, sql == Sql::Mysql),
            '`' => quoted(rest, first, false),
            '[' if sql == Sql::Sqlite => rest.find(']').map_or(rest.len(), |at| at + 1),
            '$' if sql == Sql::Duckdb && dollars(rest).is_some() => dollars(rest)?,
            c if is_word(c) => rest.find(|c| !is_word(c)).unwrap_or(rest.len()),
            c => c.len_utf8(),
        };
        let (token, behind) = rest.split_at(end);
        rest = behind;
        Some(token)
    })
}

/// Where the quotes end with which a text begins: two of them in it are one.
fn quoted(text: &str, quote: char, escapes: bool) -> usize {
    let mut chars = text.char_indices().skip(1).peekable();
    while let Some((at, char)) = chars.next() {
        if char == '\\' && escapes {
            chars.next();
        } else if char == quote && chars.next_if(|(_, next)| *next == quote).is_none() {
            return at + 1;
        }
    }
    text.len()
}

/// Where the text in dollars ends with which a text begins, if it begins so.
fn dollars(text: &str) -> Option<usize> {
    let tag = text[1..].find('$').map(|at| &text[..at + 2])?;
    let is_tag = tag.trim_matches('$').chars().all(|c| c.is_alphanumeric() || c == '_');
    let at = text[tag.len()..].find(tag).filter(|_| is_tag)?;
    Some(at + 2 * tag.len())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn definition(kind: &str, name: &str, sql: &str) -> Definition {
        let (kind, name, sql) = (kind.to_owned(), name.to_owned(), sql.to_owned());
        Definition { kind, schema: None, name, sql }
    }

    #[test]
    fn what_names_a_table_or_a_view_of_it_is_found() {
        let found = mentions(
            "T",
            Sql::Sqlite,
            vec![
                definition("VIEW", "w", "CREATE VIEW w AS SELECT x FROM \"V\""),
                definition("VIEW", "v", "CREATE VIEW v AS SELECT \"Name\" AS x FROM main.t"),
                definition("VIEW", "other", "SELECT 't' /* t */, `name` FROM [t t] -- t"),
                definition("TRIGGER", "g", "BEGIN\n-- don't\nINSERT INTO [t] VALUES (new.id); END"),
                definition("VIEW", "of_none", "SELECT id AS g FROM o"),
            ],
        );
        let needs = |column: &str| -> Vec<&str> {
            found.iter().filter(|mention| mention.says(column)).map(Mention::what).collect()
        };
        assert_eq!(found.len(), 3);
        assert_eq!(needs("NAME"), ["VIEW v", "VIEW w"]);
        assert_eq!(needs("id"), ["TRIGGER g"]);
        assert_eq!(needs("missing"), [""; 0]);
    }

    #[test]
    fn quotes_are_those_of_the_engine() {
        let all = |text, sql| tokens(text, sql).collect::<Vec<_>>();
        for sql in [Sql::Sqlite, Sql::Duckdb, Sql::Mysql] {
            let found = all(r#"'it''s t' "a""b",`c``d` /*/ t */ x"#, sql);
            assert_eq!(found, ["'it''s t'", r#""a""b""#, ",", "`c``d`", "x"], "{sql:?}");
        }
        let escaped = r"'it\'s t' 'x\\' # don't";
        assert_eq!(all(escaped, Sql::Mysql), [r"'it\'s t'", r"'x\\'"]);
        assert_eq!(all(r"'x\' a", Sql::Sqlite), [r"'x\'", "a"]);
        assert_eq!(all("$$it's t$$ $q$ $$ t $q$ $1 [a]", Sql::Duckdb).len(), 6);
        assert_eq!(all("[t t] #1", Sql::Sqlite), ["[t t]", "#", "1"]);
    }

    #[test]
    fn a_name_with_quotes_in_it_is_found_and_a_text_names_nothing() {
        let view = |sql: &str| vec![definition("VIEW", "v", sql)];
        let doubled = r#"SELECT "a""b", 'it''s t' FROM `t``u`"#;
        let found = mentions("t`u", Sql::Sqlite, view(doubled));
        assert!(found[0].says("a\"b"));
        assert_eq!(mentions("t", Sql::Sqlite, view(doubled)), []);
        let escaped = r"select 'it\'s t' AS `x` from `o`";
        assert_eq!(mentions("t", Sql::Mysql, view(escaped)), []);
        assert_eq!(mentions("t", Sql::Duckdb, view("SELECT $$ it's t $$ FROM o")), []);
        let list = mentions("t", Sql::Duckdb, view("SELECT [a, b] FROM t"));
        assert!(list[0].says("a") && list[0].says("b"));
    }

    #[test]
    fn what_is_of_another_schema_is_named_with_it() {
        let there = Definition {
            schema: Some("s".to_owned()),
            ..definition("VIEW", "v", "SELECT a FROM main.t")
        };
        let here = definition("VIEW", "w", "SELECT a FROM s.v");
        let found = mentions("t", Sql::Duckdb, vec![there, here]);
        assert_eq!(found.iter().map(Mention::what).collect::<Vec<_>>(), ["VIEW s.v", "VIEW w"]);
    }
}
