//! What a metric's name says: `PHASE.QUANTITY`, where the quantity ends in its unit.

use crate::metric::is_better_when_higher;

/// A metric's name, taken apart.
#[derive(Clone, Copy, Debug)]
pub(super) struct Metric<'a> {
    /// The whole name.
    pub(super) name: &'a str,
    /// The phase; empty when the name has none.
    pub(super) phase: &'a str,
    /// What is measured of it.
    pub(super) quantity: &'a str,
}

impl<'a> Metric<'a> {
    /// Of a name.
    pub(super) fn of(name: &'a str) -> Self {
        let (phase, quantity) = name.split_once('.').unwrap_or(("", name));
        Self { name, phase, quantity }
    }

    /// The unit, for a table's header or an axis.
    pub(super) fn unit(&self) -> String {
        let quantity = self.quantity;
        if let Some(what) = quantity.strip_suffix("_per_s") {
            let what = what.rsplit('_').next().unwrap_or(what);
            return format!("{}/s", large(what));
        }
        if let Some((what, per)) = quantity.rsplit_once("_per_") {
            let unit = what.rsplit('_').next().unwrap_or(what);
            return format!("{unit}/{per}");
        }
        match quantity.rsplit('_').next() {
            Some("seconds" | "s") => "s".to_owned(),
            Some(unit @ ("us" | "ms" | "ns" | "bytes" | "rows" | "mb")) => large(unit).to_owned(),
            _ => quantity.replace('_', " "),
        }
    }

    /// Phase and unit: `insert, rows/s`.
    pub(super) fn title(&self) -> String {
        let unit = self.unit();
        let words = self.quantity.replace('_', " ");
        let plain = ["seconds", "bytes", "rows_per_s", "requests_per_s", "mb_per_s"]
            .contains(&self.quantity);
        match (self.phase, plain) {
            ("", true) => unit,
            ("", false) => words,
            (phase, true) => format!("{phase}, {unit}"),
            (phase, false) => format!("{phase}, {words}"),
        }
    }

    /// By what bytes of about that many are divided to be read with ease, and what the unit is then called.
    pub(super) fn scale(&self, least: f64) -> (f64, String) {
        let units = [(1e9, "GB"), (1e6, "MB"), (1e3, "kB")];
        let fits = units.into_iter().find(|(size, _)| self.quantity == "bytes" && least >= *size);
        match fits {
            Some((size, unit)) => (size, self.title().replace("bytes", unit)),
            None => (1.0, self.title()),
        }
    }

    /// Whether more of it is better.
    pub(super) fn more_is_better(&self) -> bool {
        is_better_when_higher(self.name)
    }

    /// Whether it is a number of rows or the like in a second.
    pub(super) fn is_rate(&self) -> bool {
        self.quantity.ends_with("_per_s")
    }

    /// How plotly.js writes its ticks. SI prefixes suit what is large; of a second they would make `5m`.
    pub(super) fn tick_format(&self) -> &'static str {
        if self.is_rate() || self.quantity.ends_with("bytes") { "~s" } else { "~g" }
    }

    /// How good `value` is beside the best, 0 to 1.
    pub(super) fn share(&self, value: f64, best: f64) -> f64 {
        let share = if self.more_is_better() { value / best } else { best / value };
        if share.is_finite() { share.clamp(0.0, 1.0) } else { 0.0 }
    }

    /// The best of these.
    pub(super) fn best(&self, values: impl Iterator<Item = f64>) -> Option<f64> {
        values.reduce(|a, b| if (a > b) == self.more_is_better() { a } else { b })
    }
}

/// Names of metrics are in small letters; this unit is not.
fn large(unit: &str) -> &str {
    if unit == "mb" { "MB" } else { unit }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_name_says_unit_and_direction() {
        let cases = [
            ("insert.rows_per_s", "rows/s", "insert, rows/s", true),
            ("mix.requests_per_s", "requests/s", "mix, requests/s", true),
            ("sum.seconds", "s", "sum, s", false),
            ("insert.client_us_per_row", "us/row", "insert, client us per row", false),
            ("size.bytes", "bytes", "size, bytes", false),
            ("query.statement_p99_ms", "ms", "query, statement p99 ms", false),
            ("insert.durable_rows_per_s", "rows/s", "insert, durable rows per s", true),
            ("insert.mb_per_s", "MB/s", "insert, MB/s", true),
        ];
        for (name, unit, title, more) in cases {
            let metric = Metric::of(name);
            assert_eq!((metric.unit().as_str(), metric.title().as_str()), (unit, title));
            assert_eq!(metric.more_is_better(), more);
        }
        assert_eq!(Metric::of("a.rows_per_s").best([1.0, 3.0, 2.0].into_iter()), Some(3.0));
        assert_eq!(Metric::of("a.seconds").best([1.0, 3.0, 2.0].into_iter()), Some(1.0));
        assert!((Metric::of("a.seconds").share(4.0, 1.0) - 0.25).abs() < 1e-12);
    }
}
