//! The plan in plain words.

use std::fmt::Write as _;

use crate::plan::{Action, Column, Plan, RejectLimit};
use inrush_core::wording::counted;

impl Plan {
    /// Why the plan is as it is, one sentence each.
    pub fn reasons(&self) -> Vec<String> {
        self.facts.source.reasons.iter().chain(&self.choice.reasons).cloned().collect()
    }

    /// What a user should know of source and choice before the load.
    pub fn warnings(&self) -> Vec<String> {
        let known = self.facts.source.warnings.iter().chain(&self.choice.hints);
        known.cloned().chain(self.textual()).collect()
    }

    /// What the load would do, for people: several lines.
    pub fn explain(&self) -> String {
        let mut out = String::new();
        let choice = &self.choice;
        let names = self.source_names();
        let _ = writeln!(out, "source    {}", names.join(", "));
        let _ = writeln!(out, "          {}", self.dialect_words());
        let _ = writeln!(out, "target    {} ({})", self.location.shown, self.facts.target.engine);
        let _ = writeln!(out, "table     {}: {}", self.table, self.action_words());
        let wide = choice
            .columns
            .iter()
            .map(|column| column.name.chars().count())
            .max()
            .unwrap_or(0)
            .min(40);
        for column in &choice.columns {
            let engine = self.spelled(column);
            let pad = wide.saturating_sub(column.name.chars().count());
            let _ = writeln!(
                out,
                "            {}{:pad$}  {:<12} {engine}",
                column.name,
                "",
                column.ty.to_string()
            );
        }
        let _ = writeln!(out, "strategy  {}", choice.strategy.id());
        let knobs: Vec<String> =
            choice.knobs.iter().map(|(name, value)| format!("{name}={value}")).collect();
        let _ = writeln!(out, "          {}", knobs.join(" "));
        let _ = writeln!(
            out,
            "guarantee {}; {}; {}; verified by {}",
            self.request.durability,
            self.guarantee_words(),
            match self.request.max_rejects {
                RejectLimit::All => "any number of bad rows".to_owned(),
                RejectLimit::Rows(1) => "at most 1 bad row".to_owned(),
                limit => format!("at most {limit} bad rows"),
            },
            self.request.verify
        );
        let _ = writeln!(
            out,
            "work      {}, {}, chunks of {} KiB, at most {} MB of memory",
            counted(choice.encoders as u64, "encoder"),
            counted(choice.lanes as u64, "connection"),
            choice.chunk_bytes >> 10,
            choice.memory_ceiling_bytes.div_ceil(1_000_000)
        );
        let _ = writeln!(out, "why");
        for reason in self.reasons() {
            let _ = writeln!(out, "  - {reason}");
        }
        for warning in self.warnings() {
            let _ = writeln!(out, "  ! {warning}");
        }
        out
    }

    /// The target's type of a column, in its own words.
    pub(crate) fn spelled(&self, column: &Column) -> String {
        let is_open = |own: &Column| own.name == column.name && !own.is_pinned();
        let is_open = || self.kept_table().is_some_and(|table| table.columns.iter().any(is_open));
        match &column.declared {
            Some(declared) if !declared.is_empty() => declared.clone(),
            declared if declared.is_some() || is_open() => "no type of its own".to_owned(),
            _ => self.target.spell(column, &self.job),
        }
    }

    fn dialect_words(&self) -> String {
        let Some(dialect) = self.source.grammar.dialect() else {
            return self.source.grammar.word().to_owned();
        };
        let show = |byte: Option<u8>| match byte {
            None => "none".to_owned(),
            Some(b'\t') => "tab".to_owned(),
            Some(byte) => format!("[{}]", char::from(byte)),
        };
        let mut words =
            format!("delimiter {}, quote {}", show(Some(dialect.delimiter)), show(dialect.quote));
        if dialect.escape.is_some() {
            let _ = write!(words, ", escape {}", show(dialect.escape));
        }
        words.push_str(if self.source.header { ", header" } else { ", no header" });
        let input = &self.source.inputs[0];
        let _ = write!(words, ", {}", input.encoding.name());
        if let Some(compression) = input.compression {
            let _ = write!(words, ", {}", compression.name());
        }
        words
    }

    fn guarantee_words(&self) -> String {
        match (&self.steps, self.choice.atomic) {
            (Some(steps), _) => format!("in steps of about {}", counted(steps.commit_rows, "row")),
            (None, true) => "all rows or none".to_owned(),
            (None, false) if self.facts.target.is_stream => "written as they come".to_owned(),
            (None, false) => "committed on the way".to_owned(),
        }
    }

    fn action_words(&self) -> &'static str {
        match self.choice.action {
            Action::Create => "will be created",
            Action::Replace => "will be dropped and recreated",
            Action::Truncate => "its rows will be deleted first",
            Action::Append => match &self.facts.target.table {
                Some(table) if table.holds_rows => "rows will be added to those it holds",
                _ => "is there and empty",
            },
        }
    }
}
