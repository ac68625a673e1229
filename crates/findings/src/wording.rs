//! Numbers and cells in sentences.

use crate::finding::{Interval, Measured};
use crate::suite::Cell;

/// Three significant digits, or all that a whole number has: `0.0123`, `11.8`, `124000`.
pub(crate) fn number(value: f64) -> String {
    if value == 0.0 || !value.is_finite() {
        return value.to_string();
    }
    let digits = 2 - value.abs().log10().floor() as i32;
    let text = format!("{value:.*}", usize::try_from(digits.clamp(0, 12)).unwrap_or(0));
    match text.split_once('.') {
        Some(_) => text.trim_end_matches('0').trim_end_matches('.').to_owned(),
        None => text,
    }
}

/// `11.8 (11.2 to 12.3, n=6)`; of fewer than six `11.8 (range 11.2 to 12.3, n=3)`.
pub(crate) fn measured(measured: &Measured) -> String {
    let Measured { value, low, high, n, interval } = *measured;
    format!("{} ({})", number(value), interval_words(low, high, n, interval))
}

/// `11.2 to 12.3, n=6`.
pub(crate) fn interval_words(low: f64, high: f64, n: usize, interval: Interval) -> String {
    let range = match interval {
        Interval::Range => "range ",
        Interval::Confidence => "",
    };
    if n == 1 {
        return "n=1".to_owned();
    }
    format!("{range}{} to {}, n={n}", number(low), number(high))
}

/// `insert.seconds`; of two that differ, both.
pub(crate) fn metric(of: &str, to: &str) -> String {
    if of == to { format!("`{of}`") } else { format!("`{of}` against `{to}`") }
}

/// `innodb workers=1`, `innodb|myisam mysql`.
pub(crate) fn selector(cell: &Cell) -> String {
    let words = |axis: &str, plain: bool| {
        let values = cell.get(axis)?.values().iter().map(ToString::to_string).collect::<Vec<_>>();
        let values = values.join("|");
        Some(if plain { values } else { format!("{axis}={values}") })
    };
    let first = ["target", "server"].into_iter().filter_map(|axis| words(axis, true));
    let others = cell.keys().filter(|axis| !matches!(&***axis, "target" | "server"));
    let all: Vec<String> = first.chain(others.filter_map(|axis| words(axis, false))).collect();
    if all.is_empty() { "every cell".to_owned() } else { all.join(" ") }
}

/// `1 cell`, `2 cells`.
pub(crate) fn count(n: usize, one: &str) -> String {
    if n == 1 { format!("1 {one}") } else { format!("{n} {one}s") }
}

/// The first three, and how many more.
pub(crate) fn list(words: &[String]) -> String {
    const SHOWN_MAX: usize = 3;
    let shown = words.iter().take(SHOWN_MAX).cloned().collect::<Vec<_>>().join(", ");
    match words.len().saturating_sub(SHOWN_MAX) {
        0 => shown,
        more => format!("{shown} and {more} more"),
    }
}
