//! The suites that come with inrush, and those that users write.

use std::fs;

use inrush_core::error::{Error, Result};
use inrush_findings::suite::Suite;

/// The built-in suites: what users call them, and their text.
pub static ALL: &[(&str, &str)] = &[
    ("mass-inserts", include_str!("../../../suites/mass-inserts.toml")),
    ("load-testing", include_str!("../../../suites/load-testing.toml")),
    ("tuning-sqlite", include_str!("../../../suites/tuning-sqlite.toml")),
    ("fastest-import", include_str!("../../../suites/fastest-import.toml")),
    ("high-speed-inserts", include_str!("../../../suites/high-speed-inserts.toml")),
    ("billion", include_str!("../../../suites/billion.toml")),
    ("peers", include_str!("../../../suites/peers.toml")),
];

/// The suite of this name, or in the file at this path.
///
/// # Errors
/// When there is none, or it is not as [`inrush_findings::suite`] says: with file, line and column, or with everything that its parts
/// have wrong about each other.
pub fn load(name_or_path: &str) -> Result<Suite> {
    if let Some((name, text)) = ALL.iter().find(|(name, _)| *name == name_or_path) {
        return read(&format!("{name}.toml"), text);
    }
    match fs::read_to_string(name_or_path) {
        Ok(text) => read(name_or_path, &text),
        Err(error) if error.kind() == std::io::ErrorKind::NotFound => {
            let names: Vec<&str> = ALL.iter().map(|(name, _)| *name).collect();
            Err(Error::usage(format!("no suite is called '{name_or_path}', and no file"))
                .advise(format!("there are {}", names.join(", "))))
        }
        Err(error) => Err(Error::source(format!("{name_or_path}: {error}"))),
    }
}

/// A suite from its text; `place` is where that comes from.
fn read(place: &str, text: &str) -> Result<Suite> {
    let suite: Suite = toml::from_str(text).map_err(|error| {
        let at = error.span().map_or(0, |span| span.start.min(text.len()));
        let before = &text.as_bytes()[..at];
        let line = 1 + before.iter().filter(|byte| **byte == b'\n').count();
        let column = 1 + before.iter().rev().take_while(|byte| **byte != b'\n').count();
        let what = error.message().replace('\n', ", ");
        Error::usage(format!("{place}:{line}:{column}: {what}"))
    })?;
    let mut faults = crate::suite_check::faults(&suite).into_iter();
    match faults.next() {
        None => Ok(suite),
        Some(first) => {
            let error = Error::usage(format!("{place}: {first}"));
            Err(faults.fold(error, |error, fault| error.advise(format!("also: {fault}"))))
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_built_in_suite_is_sound() {
        let mut faults = Vec::new();
        for (name, _) in ALL {
            match load(name) {
                Ok(suite) => {
                    assert_eq!(suite.id, *name);
                    for profile in ["smoke", "quick", "paper"] {
                        assert!(suite.profile.contains_key(profile), "{name}: {profile}");
                    }
                }
                Err(error) => {
                    faults.push(error.what().to_owned());
                    faults.extend(error.advice().iter().map(|advice| format!("{name}: {advice}")));
                }
            }
        }
        assert!(faults.is_empty(), "{}", faults.join("\n"));
    }

    #[test]
    fn the_guide_s_example_is_sound() {
        let guide = include_str!("../../../docs/suites.md");
        let text = guide.split("```toml\n").nth(1).and_then(|rest| rest.split("```").next());
        let suite = read("docs/suites.md", text.unwrap()).unwrap();
        assert_eq!(suite.id, "batches");
    }

    #[test]
    fn an_unknown_key_is_told_with_its_place() {
        let error = read("mine.toml", "format = 1\nid = \"x\"\n\n[dataset.a]\n  kin = 3\n");
        let what = error.unwrap_err().what().to_owned();
        assert!(what.starts_with("mine.toml:5:3: unknown field `kin`"), "{what}");
    }

    #[test]
    fn a_name_that_is_no_suite_is_told_which_there_are() {
        let error = load("mass-insert").unwrap_err().to_string();
        assert!(error.contains("'mass-insert'") && error.contains("mass-inserts,"), "{error}");
    }
}
