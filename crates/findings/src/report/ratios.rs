//! A page of ratios to one baseline, with one figure: what `inrush tune` shows.

use std::collections::BTreeMap;
use std::fmt::Write as _;

use minijinja::value::Serde;
use minijinja::{AutoEscape, Environment, UndefinedBehavior, Value};
use serde::Serialize;
use serde_json::json;

use super::figures::{Figure, forest};
use super::html::{SCRIPT, STYLE, failed, plotly_js, safe};
use super::number::significant;
use inrush_core::Result;

const TEMPLATE: &str = include_str!("assets/ratios.html.j2");

/// What is on the page.
#[derive(Clone, Debug, Serialize)]
pub struct Page {
    /// Its heading.
    pub title: String,
    /// The version of inrush.
    pub version: String,
    /// The day.
    pub date: String,
    /// Sentences, the most telling first.
    pub verdict: Vec<String>,
    /// What all of it holds for.
    pub facts: Vec<(String, String)>,
    /// How far two measurements of the same lie apart, as a share.
    pub noise: Option<f64>,
    /// What was measured; the baseline first.
    pub rows: Vec<Row>,
    /// What was not, and why.
    pub left_out: Vec<(String, String)>,
}

/// One of the things that were measured.
#[derive(Clone, Debug, Serialize)]
pub struct Row {
    /// What it is.
    pub label: String,
    /// With what it was measured.
    pub group: String,
    /// How many times as fast as the baseline.
    pub ratio: Option<f64>,
    /// The interval's ends.
    pub low: Option<f64>,
    /// See `low`.
    pub high: Option<f64>,
    /// Pairs that it comes from.
    pub pairs: usize,
    /// Its median.
    pub rows_per_second: Option<f64>,
}

/// What the template is given.
#[derive(Serialize)]
struct Context<'a> {
    style: Value,
    script: Value,
    plotly: Value,
    figures: Value,
    figure: &'a Figure,
    page: &'a Page,
    noise: String,
    rows: Vec<[String; 7]>,
}

impl Row {
    fn cells(&self) -> [String; 7] {
        let shown =
            |value: Option<f64>| value.map(|value| format!("{value:.2}")).unwrap_or_default();
        [
            self.label.clone(),
            self.group.clone(),
            shown(self.ratio),
            shown(self.low),
            shown(self.high),
            self.pairs.to_string(),
            self.rows_per_second.map(significant).unwrap_or_default(),
        ]
    }
}

impl Page {
    fn noise_shown(&self) -> String {
        self.noise.map(|noise| format!("{:.1} %", noise * 100.0)).unwrap_or_default()
    }

    /// The page as HTML, which asks no network for anything.
    ///
    /// # Errors
    /// When a template is wrong, which a test finds out.
    pub fn html(&self) -> Result<String> {
        let figure = self.figure();
        let figures = BTreeMap::from([(figure.id.as_str(), &figure)]);
        let figures = serde_json::to_string(&figures).map_err(failed)?.replace('<', "\\u003c");
        let mut environment = Environment::new();
        environment.set_auto_escape_callback(|_| AutoEscape::Html);
        environment.set_undefined_behavior(UndefinedBehavior::Strict);
        environment.add_template("ratios", TEMPLATE).map_err(failed)?;
        let context = Context {
            style: safe(STYLE),
            script: safe(SCRIPT),
            plotly: Value::from_safe_string(plotly_js()?),
            figures: safe(&figures),
            figure: &figure,
            page: self,
            noise: self.noise_shown(),
            rows: self.rows.iter().map(Row::cells).collect(),
        };
        let template = environment.get_template("ratios").map_err(failed)?;
        template.render(Serde(&context)).map_err(failed)
    }

    /// The same as tables for a pull request.
    pub fn markdown(&self) -> String {
        let escaped = |text: &str| text.replace('|', "\\|");
        let mut out = format!("# {}\n\n", self.title);
        for sentence in &self.verdict {
            let _ = writeln!(out, "{sentence}\n");
        }
        if self.noise.is_some() {
            let _ = writeln!(out, "Two loads of the same lie {} apart.\n", self.noise_shown());
        }
        let _ = writeln!(
            out,
            "| way to load | measured in | times the default | low | high | pairs | rows a second |\n|---|---|--:|--:|--:|--:|--:|"
        );
        for row in &self.rows {
            let _ = writeln!(out, "| {} |", row.cells().map(|cell| escaped(&cell)).join(" | "));
        }
        let _ = writeln!(out, "\n| | |\n|---|---|");
        for (name, value) in &self.facts {
            let _ = writeln!(out, "| {name} | {} |", escaped(value));
        }
        if !self.left_out.is_empty() {
            let _ = writeln!(out, "\n| not measured, or of no use here | why |\n|---|---|");
            for (label, why) in &self.left_out {
                let _ = writeln!(out, "| {} | {} |", escaped(label), escaped(why));
            }
        }
        out
    }

    fn figure(&self) -> Figure {
        let rows = self.rows.iter().filter_map(|row| {
            Some((row.label.as_str(), row.group.as_str(), [row.low?, row.ratio?, row.high?]))
        });
        let csv =
            self.rows.iter().map(|row| row.cells().map(|cell| json!(cell)).to_vec()).collect();
        forest(rows.collect(), self.noise.unwrap_or_default(), csv)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_page_escapes_what_it_is_given() {
        let row = |label: &str, ratio| Row {
            label: label.to_owned(),
            group: "finals".to_owned(),
            ratio,
            low: ratio,
            high: ratio,
            pairs: 6,
            rows_per_second: Some(1.0),
        };
        let page = Page {
            title: "a <b>".to_owned(),
            version: "1".to_owned(),
            date: "2026-11-23".to_owned(),
            verdict: vec!["x".to_owned()],
            facts: vec![("target".to_owned(), "</script>|".to_owned())],
            noise: Some(0.031),
            rows: vec![row("the <i>", Some(1.0)), row("other", None)],
            left_out: vec![("c".to_owned(), "d".to_owned())],
        };
        let html = page.html().unwrap();
        assert!(html.contains("a &lt;b&gt;") && !html.contains("the <i>"), "escaped");
        assert!(html.contains("3.1 %"));
        let markdown = page.markdown();
        assert!(markdown.contains("</script>\\|") && markdown.contains("| other | finals |  |"));
    }
}
