//! Parameters of strategies: what help, documentation and the planner know of them.

use std::collections::BTreeMap;
use std::fmt;

use serde::{Serialize, Serializer};

use crate::error::{Error, Result};
use crate::target::Strategy;
use crate::wording::said_of;

/// A named, typed, bounded parameter of a strategy.
#[derive(Debug, PartialEq, Eq)]
pub struct Knob {
    /// As users type it: `--set NAME=VALUE`.
    pub name: &'static str,
    /// What values it takes.
    pub kind: KnobKind,
    /// The value without `--set`.
    pub default: &'static str,
    /// One sentence.
    pub about: &'static str,
    /// Values worth measuring besides the default: those that change nothing of what a load promises, or of what it leaves.
    pub tries: &'static [&'static str],
}

/// What values a knob takes.
#[derive(Debug, PartialEq, Eq)]
pub enum KnobKind {
    /// A whole number within bounds, both included.
    Count {
        /// The least.
        min: u64,
        /// The most.
        max: u64,
    },
    /// One of these words.
    Choice(&'static [&'static str]),
}

impl KnobKind {
    /// The value as the knob has it: a number without suffix, a word as it is listed.
    ///
    /// # Errors
    /// When it isn't one that the knob takes; says which those are.
    pub fn check(&self, value: &str) -> Result<String, String> {
        match self {
            KnobKind::Count { min, max } => match parse_count(value) {
                Some(number) if (*min..=*max).contains(&number) => Ok(number.to_string()),
                _ => Err(format!("takes a number from {min} to {max}")),
            },
            KnobKind::Choice(words) => words
                .iter()
                .find(|word| word.eq_ignore_ascii_case(value))
                .map(|word| (*word).to_owned())
                .ok_or_else(|| format!("takes one of {}", words.join(", "))),
        }
    }
}

impl fmt::Display for KnobKind {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            KnobKind::Count { min, max } => write!(f, "{min}..{max}"),
            KnobKind::Choice(words) => f.write_str(&words.join("|")),
        }
    }
}

/// A number with an optional binary suffix: `64k`, `1m`, `2g`, with or without `ib`.
pub fn parse_count(text: &str) -> Option<u64> {
    let lower = text.trim().to_ascii_lowercase();
    let digits = lower.trim_end_matches(|c: char| c.is_ascii_alphabetic());
    let factor = match &lower[digits.len()..] {
        "" => 1,
        "k" | "kb" | "kib" => 1 << 10,
        "m" | "mb" | "mib" => 1 << 20,
        "g" | "gb" | "gib" => 1 << 30,
        _ => return None,
    };
    digits.trim().replace('_', "").parse::<u64>().ok()?.checked_mul(factor)
}

/// Every knob of one strategy, with its value and whether the user set it.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Knobs(BTreeMap<&'static str, (String, bool)>);

impl Knobs {
    /// The strategy's knobs, as they are where the user sets none.
    pub fn of(strategy: &dyn Strategy) -> Self {
        let default = |knob: &Knob| (knob.name, (knob.default.to_owned(), false));
        Self(strategy.knobs().iter().map(default).collect())
    }

    /// The strategy's knobs with the user's settings.
    ///
    /// # Errors
    /// When a setting names no knob of the strategy, or its value isn't one the knob takes.
    pub fn resolve(strategy: &dyn Strategy, settings: &BTreeMap<String, String>) -> Result<Self> {
        let mut knobs = Self::of(strategy);
        for (name, value) in settings {
            let Some(knob) = strategy.knobs().iter().find(|knob| knob.name == name) else {
                let names: Vec<&str> = strategy.knobs().iter().map(|knob| knob.name).collect();
                let error = Error::usage(format!("{} has no knob '{name}'", strategy.id()));
                return Err(error.advise(match names.as_slice() {
                    [] => format!(
                        "it has no knobs at all: leave {} out",
                        said_of("--set", name, value)
                    ),
                    _ => format!("use one of its knobs: {}", names.join(", ")),
                }));
            };
            let value = knob.kind.check(value).map_err(|wanted| {
                Error::usage(format!("{}: {name} {wanted}", said_of("--set", name, value)))
            })?;
            knobs.0.insert(knob.name, (value, true));
        }
        Ok(knobs)
    }

    /// Sets a knob that the user left alone; nothing where the strategy has no such knob.
    ///
    /// # Panics
    /// In a debug build, when the knob takes no such value.
    pub fn suggest(&mut self, knob: &Knob, value: &str) {
        debug_assert_eq!(knob.kind.check(value).as_deref(), Ok(value), "{}", knob.name);
        if let Some(entry) = self.0.get_mut(knob.name)
            && !entry.1
        {
            value.clone_into(&mut entry.0);
        }
    }

    /// The value.
    ///
    /// # Panics
    /// When the strategy has no such knob, which is a mistake in its own code.
    pub fn word(&self, knob: &Knob) -> &str {
        &self.0[knob.name].0
    }

    /// The number; words are 0.
    ///
    /// # Panics
    /// As `word`.
    pub fn count(&self, knob: &Knob) -> u64 {
        self.word(knob).parse().unwrap_or(0)
    }

    /// Whether the strategy has the knob, and this is its value.
    ///
    /// # Panics
    /// In a debug build, when the knob takes no such value.
    pub fn is(&self, knob: &Knob, value: &str) -> bool {
        debug_assert_eq!(knob.kind.check(value).as_deref(), Ok(value), "{}", knob.name);
        self.get(knob) == Some(value)
    }

    /// From here on no value counts as the user's, so that a try may find that it wants another.
    pub fn release(&mut self) {
        self.0.values_mut().for_each(|(_, set)| *set = false);
    }

    /// Whether the user has set the knob.
    pub fn is_set(&self, knob: &Knob) -> bool {
        self.0.get(knob.name).is_some_and(|(_, set)| *set)
    }

    /// The value, if the strategy has such a knob.
    pub fn get(&self, knob: &Knob) -> Option<&str> {
        self.0.get(knob.name).map(|(value, _)| value.as_str())
    }

    /// The number, if the strategy has such a knob.
    pub fn get_count(&self, knob: &Knob) -> Option<u64> {
        self.get(knob)?.parse().ok()
    }

    /// Names and values, by name.
    pub fn iter(&self) -> impl Iterator<Item = (&'static str, &str)> {
        self.0.iter().map(|(name, (value, _))| (*name, value.as_str()))
    }
}

impl Serialize for Knobs {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.collect_map(self.iter().map(|(name, value)| match value.parse::<u64>() {
            Ok(number) => (name, serde_json::Value::from(number)),
            Err(_) => (name, serde_json::Value::from(value)),
        }))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn counts_take_binary_suffixes() {
        assert_eq!(parse_count("64k"), Some(65_536));
        assert_eq!(parse_count("1MiB"), Some(1 << 20));
        assert_eq!(parse_count("100_000"), Some(100_000));
        assert_eq!(parse_count("x"), None);
        assert_eq!(parse_count("99999999999g"), None);
    }
}
