//! Patterns of names, with the same rule for files, members of archives and objects of stores.

use inrush_core::error::{Error, Result};

const OPTIONS: glob::MatchOptions = glob::MatchOptions {
    case_sensitive: true,
    require_literal_separator: true,
    require_literal_leading_dot: true,
};

/// A pattern: `*` and `?` are characters of one folder's or file's name, `[...]` is one of those, and `**` any number of folders. As in
/// shells none of them is the dot with which a hidden name begins.
pub struct Pattern(glob::Pattern);

impl Pattern {
    /// The pattern that a text is.
    ///
    /// # Errors
    /// When it is none.
    pub fn new(text: &str) -> Result<Self> {
        let wrong = |error: glob::PatternError| {
            Error::usage(format!("'{text}' is no pattern: {}", error.msg))
        };
        glob::Pattern::new(text).map(Self).map_err(wrong)
    }

    /// Whether a text has characters of a pattern.
    pub fn is_one(text: &str) -> bool {
        text.contains(['*', '?', '['])
    }

    /// Whether the pattern names hidden files or folders.
    pub fn names_hidden(text: &str) -> bool {
        text.split('/').any(|part| part.starts_with('.') && !matches!(part, "." | ".."))
    }

    /// Whether all of a name fits.
    pub fn fits(&self, name: &str) -> bool {
        self.0.matches_with(name, OPTIONS) && shows(self.0.as_str(), name)
    }
}

/// Whether each hidden part of a name is one whose dot the pattern begins with too. The crate takes the second character of `*.csv` for
/// the dot of `.csv`.
fn shows(pattern: &str, name: &str) -> bool {
    let names_dot = |(part, name): (&str, &str)| !name.starts_with('.') || part.starts_with('.');
    let fixed = |part: &&str| *part != "**";
    let (parts, names) = (pattern.split('/'), name.split('/'));
    parts.clone().take_while(fixed).zip(names.clone()).all(names_dot)
        && parts.rev().take_while(fixed).zip(names.rev()).all(names_dot)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn hidden_names_fit_where_the_dot_is_named() {
        let fits = |pattern: &str, name: &str| Pattern::new(pattern).unwrap().fits(name);
        for (pattern, name) in [
            ("*.csv", "a.csv"),
            (".*.csv", ".a.csv"),
            ("**/*.csv", "a.csv"),
            ("**/*.csv", "x/y/a.csv"),
            ("**/.*.csv", "x/.a.csv"),
            (".x/*.csv", ".x/a.csv"),
            ("./*.csv", "./a.csv"),
            (".*", ".csv"),
            (".x/**/*.csv", ".x/y/z/a.csv"),
            ("[ab].c", "a.c"),
        ] {
            assert!(fits(pattern, name), "{pattern} {name}");
        }
        for (pattern, name) in [
            ("*.csv", ".a.csv"),
            ("?a.csv", ".a.csv"),
            ("[.]a.csv", ".a.csv"),
            ("x/*.csv", "x/.a.csv"),
            ("*.csv", ".csv"),
            ("**/*.csv", ".csv"),
            ("**/*.csv", "x/.csv"),
            ("*.d/*.csv", ".d/a.csv"),
            ("*.d/**/a.csv", ".d/x/a.csv"),
            ("*/a.csv", ".x/a.csv"),
            ("**/*.csv", ".a.csv"),
            ("**/*.csv", "x/.y/a.csv"),
            ("*.csv", "x/a.csv"),
        ] {
            assert!(!fits(pattern, name), "{pattern} {name}");
        }
        assert!(Pattern::names_hidden("a/.b/*.csv") && !Pattern::names_hidden("./../a.b/*"));
    }
}
