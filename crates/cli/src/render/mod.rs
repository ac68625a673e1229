//! Answers as people read them.

mod bar;
#[cfg(feature = "bench")]
mod bench;
mod check;
#[cfg(feature = "bench")]
mod compare;
mod doctor;
mod failure;
mod jobs;
mod progress;
mod report;
#[cfg(feature = "bench")]
mod tune;

use std::borrow::Cow;
use std::fmt::Write as _;
use std::io::Write as _;

use inrush::target::Target;
use inrush::wording::{noun, were};
use inrush::{Aftermath, Kind};

#[cfg(feature = "bench")]
pub(crate) use bench::BenchProgress;
pub(crate) use check::check;
#[cfg(feature = "bench")]
pub(crate) use compare::comparison;
pub(crate) use doctor::diagnosis;
#[cfg(feature = "bench")]
pub(crate) use failure::failure_object;
pub(crate) use failure::{failure, misuse};
pub(crate) use jobs::{jobs, visible};
pub use progress::{Progress, ProgressMode};
pub(crate) use report::report;
#[cfg(feature = "bench")]
pub(crate) use tune::{TuneProgress, profiles, tuned};

/// What happened, what to try, and, where there is a target, as the last line what is left of the load; `again` is the command that goes on
/// with it, where one can.
pub(crate) fn error(error: &anyhow::Error, has_target: bool, again: &str) {
    let mut text = String::new();
    match error.downcast_ref::<inrush::Error>() {
        Some(error) => {
            let what = if error.kind() == Kind::Closed { "note" } else { "error" };
            let _ = writeln!(text, "{what}: {}", error.what());
            for advice in error.advice() {
                let _ = writeln!(text, "  try: {advice}");
            }
            match error.aftermath() {
                Some(Aftermath::Committed { .. }) if error.kind() == Kind::Output => {
                    text.push_str("committed: only the report is lost\n");
                }
                Some(Aftermath::Committed { rows: 0 }) => text.push_str(
                    "no row was committed, but what comes before rows was: the table may have been emptied or altered\n",
                ),
                Some(Aftermath::Committed { rows }) => {
                    let stay = if rows == 1 { "stays" } else { "stay" };
                    let (rows, were) = (counted(rows, "row"), were(rows));
                    // Chunks are on their way while the one before them is looked at.
                    let behind = match error.kind() {
                        Kind::Rejects | Kind::Source => {
                            " (rows from behind the one that ended the load may be among them)"
                        }
                        _ => "",
                    };
                    let _ = writeln!(
                        text,
                        "{rows} {were} committed before, and {stay} in the table{behind}"
                    );
                }
                Some(Aftermath::Resumable { rows, or_more }) => {
                    let (rows, were) = (counted(rows, "row"), were(rows));
                    let least = if or_more { "at least " } else { "" };
                    // The same limit would end it at the same row.
                    let how = match error.kind() {
                        Kind::Rejects => ", with a higher --max-rejects",
                        _ => "",
                    };
                    let _ = writeln!(
                        text,
                        "resumable: {least}{rows} of whole steps {were} committed; go on behind them{how}: {again}"
                    );
                }
                Some(Aftermath::Written { rows }) => {
                    let (rows, were) = (counted(rows, "row"), were(rows));
                    let _ = writeln!(text, "{rows} {were} written to standard output before");
                }
                Some(Aftermath::Unknown) => {
                    let _ = writeln!(
                        text,
                        "what the target holds now is not known: look at it before you go on"
                    );
                }
                _ if has_target => text.push_str("nothing changed in the target\n"),
                _ => {}
            }
        }
        None => {
            let _ = writeln!(text, "error: {error:#}");
        }
    }
    // Nobody is left to tell when standard error is closed.
    let _ = std::io::stderr().lock().write_all(legible(&text).as_bytes());
}

/// A text in which control characters are written out, and those that turn the direction of what follows: names of columns and the like are
/// whatever a file or a table has, and a terminal would do what they say. Written out as JSON and TOML have them, so that what programs read
/// stays what it is.
pub(crate) fn legible(text: &str) -> Cow<'_, str> {
    let is_unseen = |c: char| match c {
        '\n' | '\t' => false,
        '\u{202a}'..='\u{202e}' | '\u{2066}'..='\u{2069}' => true,
        c => c.is_control(),
    };
    if !text.contains(is_unseen) {
        return Cow::Borrowed(text);
    }
    let mut out = String::with_capacity(text.len());
    for c in text.chars() {
        match is_unseen(c) {
            // None has more digits.
            true => {
                let _ = write!(out, "\\u{:04x}", u32::from(c));
            }
            false => out.push(c),
        }
    }
    Cow::Owned(out)
}

/// A number with its thousands apart: 26,115.
pub(crate) fn count(number: u64) -> String {
    let digits = number.to_string();
    let mut out = String::new();
    for (index, digit) in digits.chars().enumerate() {
        if index > 0 && (digits.len() - index).is_multiple_of(3) {
            out.push(',');
        }
        out.push(digit);
    }
    out
}

/// The same with its noun: 1 row, 26,115 rows.
pub(crate) fn counted(number: u64, one: &str) -> String {
    format!("{} {}", count(number), noun(number, one))
}

/// The strategies of a target with their knobs.
pub(crate) fn strategies(target: &dyn Target) -> String {
    let mut out = String::new();
    for strategy in target.strategies() {
        let _ = writeln!(out, "{}\n  {}", strategy.id(), strategy.about());
        for knob in strategy.knobs() {
            let _ = writeln!(
                out,
                "    {:<22} {} [{}; {}]",
                knob.name, knob.about, knob.kind, knob.default
            );
        }
        out.push('\n');
    }
    out
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn thousands_stand_apart() {
        assert_eq!(count(0), "0");
        assert_eq!(count(999), "999");
        assert_eq!(count(26_115), "26,115");
        assert_eq!(count(1_000_000), "1,000,000");
    }

    #[test]
    fn what_a_terminal_would_do_is_written_out() {
        assert_eq!(legible("a\tb\n\u{5d0}é"), "a\tb\n\u{5d0}é");
        let turned = "\u{1b}[31m \u{9b} fdp\u{202e}vsc. \u{2066}x";
        assert_eq!(legible(turned), r"\u001b[31m \u009b fdp\u202evsc. \u2066x");
    }
}
