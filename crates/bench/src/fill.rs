//! Placeholders, filled in.

use std::collections::BTreeMap;

use inrush_core::error::{Error, Result};
use inrush_findings::record::PlannedCell;
use inrush_findings::suite::{Lines, Profile, Sql, Suite, Value};

/// Among statements by target: those of every target that isn't named.
const OTHERS: &str = "others";

/// A value may hold placeholders itself, but not without end.
const DEPTH_MAX: u32 = 8;

/// What placeholders stand for in one cell, for one worker.
#[derive(Clone, Debug, Default)]
pub(super) struct Words {
    words: BTreeMap<String, String>,
    /// The target's name in the suite, and its family.
    target: String,
    family: String,
}

impl Words {
    /// Those of a cell; `built_in` are what every cell has. The suite's own go before them.
    pub(super) fn of(
        suite: &Suite,
        profile: &Profile,
        cell: &PlannedCell,
        built_in: impl IntoIterator<Item = (String, String)>,
    ) -> Self {
        let target = cell.get("target").unwrap_or_default().to_owned();
        let spec = suite.target.get(&target);
        let shown = |(name, value): (&String, &Value)| (name.clone(), value.to_string());
        let mut words: BTreeMap<_, _> = built_in.into_iter().collect();
        words.extend(profile.vars.iter().map(shown));
        words.extend(spec.iter().flat_map(|target| target.vars.iter().map(shown)));
        words.extend(cell.coordinates.clone());
        let family = spec.map_or_else(String::new, |target| target.family.clone());
        Self { words, target, family }
    }

    /// The same with one more.
    #[must_use]
    pub(super) fn with(&self, name: &str, value: impl ToString) -> Self {
        let mut more = self.clone();
        more.words.insert(name.to_owned(), value.to_string());
        more
    }

    /// `template` with its placeholders filled. A brace that is none is written twice.
    ///
    /// # Errors
    /// When one has no value, or a brace is open.
    pub(super) fn fill(&self, template: &str) -> Result<String> {
        self.fill_to(template, 0)
    }

    fn fill_to(&self, template: &str, depth: u32) -> Result<String> {
        let wrong = |what: &str| Error::usage(format!("{what} in '{template}'"));
        if depth > DEPTH_MAX {
            return Err(wrong("a placeholder that stands for itself"));
        }
        let mut out = String::with_capacity(template.len());
        let mut rest = template;
        while let Some(at) = rest.find(['{', '}']) {
            out.push_str(&rest[..at]);
            let brace = &rest[at..=at];
            rest = &rest[at + 1..];
            if let Some(after) = rest.strip_prefix(brace) {
                out.push_str(brace);
                rest = after;
                continue;
            }
            let (name, after) = match rest.split_once('}') {
                Some(parts) if brace == "{" => parts,
                _ => {
                    return Err(wrong(
                        "a brace without its other one (write it twice if it is no placeholder)",
                    ));
                }
            };
            let value = self
                .words
                .get(name)
                .ok_or_else(|| wrong(&format!("no value for the placeholder {{{name}}}")))?;
            out.push_str(&self.fill_to(value, depth + 1)?);
            rest = after;
        }
        out.push_str(rest);
        Ok(out)
    }

    /// A value, filled.
    pub(super) fn value(&self, value: &Value) -> Result<String> {
        self.fill(&value.to_string())
    }

    /// A value that has to be a number.
    ///
    /// # Errors
    /// When it is none.
    pub(super) fn count(&self, value: &Value) -> Result<u64> {
        let text = self.value(value)?;
        inrush::target::parse_count(&text)
            .ok_or_else(|| Error::usage(format!("'{text}' is not a number")))
    }

    /// The statements for this target.
    ///
    /// # Errors
    /// When there are none for it.
    pub(super) fn statements(&self, sql: &Sql) -> Result<Vec<String>> {
        let lines = match sql {
            Sql::All(lines) => lines,
            Sql::For(by_target) => by_target
                .get(&self.target)
                .or_else(|| by_target.get(&self.family))
                .or_else(|| by_target.get(OTHERS))
                .ok_or_else(|| {
                    let (target, family) = (&self.target, &self.family);
                    Error::usage(format!("no statement for target {target} (of {family})"))
                })?,
        };
        let lines = match lines {
            Lines::One(line) => std::slice::from_ref(line),
            Lines::Many(lines) => lines,
        };
        let filled = lines.iter().map(|line| self.fill(line)).collect::<Result<Vec<_>>>()?;
        Ok(filled.into_iter().filter(|line| !line.trim().is_empty()).collect())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn words(pairs: &[(&str, &str)]) -> Words {
        let words = pairs.iter().map(|(name, value)| ((*name).to_owned(), (*value).to_owned()));
        Words { words: words.collect(), ..Words::default() }
    }

    #[test]
    fn placeholders_are_filled_and_doubled_braces_stay() {
        let words = words(&[("a", "1"), ("b", "<{a}>"), ("rows.x", "7")]);
        assert_eq!(words.fill("{a} {b} {{a}} {rows.x}").unwrap(), "1 <1> {a} 7");
        assert_eq!(words.with("a", 2).fill("{b}").unwrap(), "<2>");
    }

    #[test]
    fn what_has_no_value_is_said() {
        let words = words(&[("a", "{a}")]);
        assert!(words.fill("x {y} z").unwrap_err().what().contains("{y} in 'x {y} z'"));
        assert!(words.fill("{a}").unwrap_err().what().contains("stands for itself"));
        assert!(words.fill("{").unwrap_err().what().contains("brace"));
        assert!(words.fill("a } b").unwrap_err().what().contains("brace"));
    }
}
