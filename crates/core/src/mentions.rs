//! What else in a database names a table: views, triggers, macros, by the SQL that defines them.

use std::collections::BTreeSet;

/// What a database has beside its tables.
#[derive(Clone, Debug)]
pub struct Definition {
    /// Its kind, in the words of SQL: `VIEW`.
    pub kind: String,
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
pub fn mentions(table: &str, mut definitions: Vec<Definition>) -> Vec<Mention> {
    let mut found: Vec<Mention> = Vec::new();
    let mut names = vec![(folded(table), BTreeSet::new())];
    while let Some((name, behind)) = names.pop() {
        definitions.retain(|definition| {
            let mut words: BTreeSet<String> = tokens(&definition.sql).filter_map(word).collect();
            if !words.contains(&name) {
                return true;
            }
            // A view over a view needs what that needs. Nothing refers to a trigger.
            words.extend(behind.iter().cloned());
            if definition.kind != "TRIGGER" {
                names.push((folded(&definition.name), words.clone()));
            }
            found.push(Mention { what: format!("{} {}", definition.kind, definition.name), words });
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
    let inner = match token.as_bytes() {
        [b'"', .., b'"'] | [b'`', .., b'`'] | [b'[', .., b']'] => &token[1..token.len() - 1],
        [first, ..] if first.is_ascii_punctuation() && *first != b'_' => return None,
        _ => token,
    };
    Some(folded(inner))
}

/// The tokens of SQL text: words, what is in quotes, single characters. Comments and blanks are left out.
pub fn tokens(sql: &str) -> impl Iterator<Item = &str> {
    let mut rest = sql;
    std::iter::from_fn(move || {
        loop {
            rest = rest.trim_start();
            let skipped = match rest {
                text if text.starts_with("--") || is_hash_comment(text) => {
                    text.find('\n').unwrap_or(text.len())
                }
                text if text.starts_with("/*") => text.find("*/").map_or(text.len(), |at| at + 2),
                _ => break,
            };
            rest = &rest[skipped..];
        }
        let first = rest.chars().next()?;
        let is_word = |c: char| c.is_alphanumeric() || c == '_' || c == '$';
        let end = match first {
            '\'' | '"' | '`' => rest[1..].find(first).map_or(rest.len(), |at| at + 2),
            '[' => rest.find(']').map_or(rest.len(), |at| at + 1),
            c if is_word(c) => rest.find(|c| !is_word(c)).unwrap_or(rest.len()),
            c => c.len_utf8(),
        };
        let (token, behind) = rest.split_at(end);
        rest = behind;
        Some(token)
    })
}

/// Whether a comment of MySQL's begins: in DuckDB a number follows, which is that of a column.
fn is_hash_comment(text: &str) -> bool {
    let rest = text.strip_prefix('#');
    rest.is_some_and(|rest| !rest.starts_with(|first: char| first.is_ascii_digit()))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_names_a_table_or_a_view_of_it_is_found() {
        let definition = |kind: &str, name: &str, sql: &str| Definition {
            kind: kind.to_owned(),
            name: name.to_owned(),
            sql: sql.to_owned(),
        };
        let found = mentions(
            "T",
            vec![
                definition("VIEW", "w", "CREATE VIEW w AS SELECT x FROM \"V\""),
                definition("VIEW", "v", "CREATE VIEW v AS SELECT \"Name\" AS x FROM main.t"),
                definition("VIEW", "other", "SELECT 't' /* t */, `name` FROM [t t] -- t"),
                definition("TRIGGER", "g", "BEGIN\n# don't\nINSERT INTO [t] VALUES (new.id); END"),
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
}
