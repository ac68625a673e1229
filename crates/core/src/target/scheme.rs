//! What a target's text begins with, by one rule for all targets.

/// The scheme of a text in lower case, and what follows its colon: of `duckdb:shop.db` and of `mysql://host/shop`. A single letter is a
/// drive of Windows, and what has other characters than schemes have is a part of a name: so `./a:b.db` has none.
pub fn scheme(text: &str) -> Option<(String, &str)> {
    let (word, rest) = text.split_once(':')?;
    let is_of_scheme = |byte: u8| byte.is_ascii_alphanumeric() || matches!(byte, b'+' | b'-');
    let is_one = word.len() > 1
        && word.starts_with(|first: char| first.is_ascii_alphabetic())
        && word.bytes().all(is_of_scheme);
    is_one.then(|| (word.to_ascii_lowercase(), rest))
}

/// The path that a text names as a database of one file: behind the scheme `name`, or, without any, of a name with one of the `endings`.
pub fn path_of<'t>(text: &'t str, name: &str, endings: &[&str]) -> Option<&'t str> {
    let path = match scheme(text) {
        Some((scheme, rest)) if scheme == name => match rest.strip_prefix("//") {
            // SQLAlchemy has a slash before it.
            Some("/:memory:") => ":memory:",
            Some(path) => path,
            None => rest,
        },
        Some(_) => return None,
        None => {
            let lower = text.to_ascii_lowercase();
            let has_ending = endings.iter().any(|ending| lower.ends_with(ending));
            (has_ending && !text.contains("://")).then_some(text)?
        }
    };
    (!path.is_empty()).then_some(path)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_scheme_is_a_word_of_two_letters_or_more() {
        let of = |text| scheme(text).map(|(scheme, rest)| format!("{scheme} {rest}"));
        for (text, wanted) in [
            ("duckdb:x.db", Some("duckdb x.db")),
            ("SQLite:a:b", Some("sqlite a:b")),
            ("mongodb+srv://h/d", Some("mongodb+srv //h/d")),
            ("C:\\x.db", None),
            ("./a:b.db", None),
            ("a.b:c.db", None),
            ("2024-01-01T12:00.db", None),
            (":memory:", None),
            ("x.db", None),
        ] {
            assert_eq!(of(text).as_deref(), wanted, "{text}");
        }
    }

    #[test]
    fn a_path_has_the_scheme_or_none_and_an_ending() {
        let of = |text| path_of(text, "sqlite", &[".db"]);
        for (text, wanted) in [
            ("a.db", Some("a.db")),
            ("/a/B.DB", Some("/a/B.DB")),
            ("sqlite:a", Some("a")),
            ("SQLITE:a:b.db", Some("a:b.db")),
            ("sqlite:///a", Some("/a")),
            ("sqlite:///:memory:", Some(":memory:")),
            ("./duckdb:x.db", Some("./duckdb:x.db")),
            ("C:/x.db", Some("C:/x.db")),
            ("duckdb:x.db", None),
            ("word:x.db", None),
            ("a_b://x.db", None),
            ("sqlite:", None),
            ("a.csv", None),
        ] {
            assert_eq!(of(text), wanted, "{text}");
        }
    }
}
