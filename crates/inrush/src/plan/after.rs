//! Plans of another try, which know what the one before has found out.

use std::sync::Arc;

use super::Plan;
use inrush_core::encode::Foreseen;
use inrush_core::error::Result;
use inrush_core::reading::of_source;
use inrush_core::target::Knob;
use inrush_core::wording::said_of;
use inrush_core::{Repeats, Retry, Type};
use inrush_source::survey::Surveyed;

/// How another try begins whose types all values have decided on.
pub(crate) const AS_ALL_ARE: &str = "with the types that all values have";

impl Plan {
    /// The plan of another try with what one has found out that ended for the reason `why`, and what of it is new in words. `None`
    /// when it would end as this one did, or when the user wants it as it is.
    ///
    /// # Errors
    /// When no strategy is left.
    pub(crate) fn after(&self, retry: Retry, why: &str) -> Result<Option<(Plan, String)>> {
        Ok(match retry {
            Retry::Knob(knob, value) => self
                .with_knob(knob, value)
                .map(|plan| (plan, format!("with {}={value}", knob.name))),
            Retry::InOrder(knob) => self.in_order(knob),
            Retry::GaveUp if self.request.strategy.is_some() => None,
            Retry::GaveUp => {
                let plan = self.without_strategy(why)?;
                let how = format!("with {}", plan.choice.strategy.id());
                Some((plan, how))
            }
            Retry::Repeats(_) if self.facts.source.repeats.are_known() => None,
            Retry::Repeats(repeats) => {
                let how = match repeats.are_known() {
                    true => "to reject such rows",
                    false => "to look for such rows first",
                };
                Some((self.without(repeats), how.to_owned()))
            }
            Retry::Orphans(found) => self.facts.source.orphans.with(&found).map(|orphans| {
                let how = match orphans.are_known() {
                    true => "to reject such rows",
                    false => "to look for such rows first",
                };
                let mut plan = self.clone();
                plan.facts.source.orphans = Arc::new(orphans);
                (plan, how.to_owned())
            }),
        })
    }

    /// The plan for the same load with another value of a knob; `None` when that value is the knob's already, or the user's
    /// choice is another.
    fn with_knob(&self, knob: &Knob, value: &str) -> Option<Plan> {
        let mut plan = self.clone();
        plan.choice.knobs.suggest(knob, value);
        (plan.choice.knobs != self.choice.knobs).then_some(plan)
    }

    /// The plan for the same load over one connection, and with another value of a knob where one is given, and what of this is
    /// new in words; `None` when nothing is.
    fn in_order(&self, knob: Option<(&'static Knob, &'static str)>) -> Option<(Plan, String)> {
        let mut plan = self.clone();
        let mut how = Vec::new();
        if self.choice.lanes > 1 {
            plan.choice.lanes = 1;
            how.push("over one connection".to_owned());
        }
        if let Some((knob, value)) = knob
            && let Some(with) = plan.with_knob(knob, value)
        {
            plan = with;
            how.push(format!("with {}={value}", knob.name));
        }
        (!how.is_empty()).then(|| (plan, how.join(", ")))
    }

    /// The plan for the same load with the next strategy in the ranking.
    ///
    /// # Errors
    /// When there is none, or the user wants this one.
    fn without_strategy(&self, why: &str) -> Result<Plan> {
        let mut plan = self.clone();
        plan.facts.target.gave_up.insert(self.choice.strategy.id(), why.to_owned());
        plan.choose_again()?;
        if plan.facts.source.repeats.are_known() {
            plan.choice.lanes = 1;
        }
        Ok(plan)
    }

    /// The plan for the same load that knows which rows repeat keys, or looks for them first. Whoever knows them takes the rows in
    /// the source's order, over one connection.
    fn without(&self, repeats: Repeats) -> Plan {
        let mut plan = self.clone();
        if repeats.are_known() {
            plan.choice.lanes = 1;
        }
        plan.facts.source.repeats = Arc::new(repeats);
        plan
    }

    /// The plan for the same load with the types that a look at the whole input showed.
    pub(crate) fn widened(&self, found: Surveyed) -> Result<Plan> {
        let mut plan = self.clone();
        let Surveyed { mut fields, source, warnings, rows, bad } = found;
        for warning in warnings {
            let known = &mut plan.job.facts.source.warnings;
            if !known.contains(&warning) {
                known.push(warning);
            }
        }
        if let Some(source) = source {
            plan.source = Arc::new(source);
        }
        let columns = &plan.job.request.read.columns;
        plan.job.facts.source.taken = columns.apply(&mut fields, inrush_source::type_of)?;
        plan.job.facts.source.fields = fields;
        plan.facts.source.is_surveyed = true;
        plan.facts.source.rows_seen = rows;
        plan.facts.source.rows_bad = bad;
        // Other types make other rows good.
        plan.facts.source.repeats = Arc::default();
        plan.facts.source.orphans = Arc::default();
        plan.choose_again()?;
        Ok(plan)
    }

    /// The plan for the same load in which a column is text; `None` where it is already, or where the load does not decide on it.
    pub(crate) fn with_text(&self, column: &str) -> Result<Option<Plan>> {
        let Some((field, ty)) = self.guessed(column) else { return Ok(None) };
        if ty == Type::Text {
            return Ok(None);
        }
        let mut plan = self.clone();
        let facts = &mut plan.facts.source;
        facts.fields[field].ty = Type::Text;
        facts.fields[field].is_declared = false;
        facts.fields[field].spoiler = None;
        facts.repeats = Arc::default();
        facts.orphans = Arc::default();
        plan.choose_again()?;
        Ok(Some(plan))
    }

    /// The plan for the same load in which no column keeps a type at the price of bad rows.
    pub(crate) fn intolerant(&self) -> Result<Plan> {
        let mut plan = self.clone();
        plan.facts.source.is_intolerant = true;
        plan.facts.source.repeats = Arc::default();
        plan.facts.source.orphans = Arc::default();
        plan.choose_again()?;
        Ok(plan)
    }

    /// The source's field that a column takes its values from, and its type; `None` where that is pinned.
    pub(crate) fn guessed(&self, column: &str) -> Option<(usize, Type)> {
        let choice = &self.choice;
        let at = choice.columns.iter().position(|known| known.name == column)?;
        let known = &choice.columns[at];
        (!known.is_pinned()).then_some((choice.fields[at], known.ty))
    }

    /// Whether a sample has shown all of a column that matters, so that only a value which its type does not take disproves that.
    pub(crate) fn is_foreseen(&self, column: &str) -> bool {
        let mut columns = self.shape.columns.iter();
        columns
            .find(|known| known.name == column)
            .is_none_or(|known| matches!(known.foreseen, Foreseen::All))
    }

    /// Whether a value that disproved the type of a column before may be taken now; without a column, what disproved them all.
    pub(crate) fn takes_other(&self, before: &Plan, column: Option<&str>) -> bool {
        match column {
            Some(column) => self.guessed(column) != before.guessed(column),
            // What the source has, for a column that is not loaded has to be known as well.
            None => {
                let names = |plan: &Plan| -> Vec<String> {
                    let fields = of_source(&plan.facts.source.fields);
                    fields.into_iter().map(|field| field.name).collect()
                };
                names(self) != names(before)
            }
        }
    }

    /// What is other than before, in words.
    pub(crate) fn told_from(&self, before: &Plan, column: Option<&str>) -> String {
        let ty = |plan: &Plan, name: &str| {
            plan.choice.columns.iter().find(|known| known.name == name).map(|known| known.ty)
        };
        match column.and_then(|name| Some((name, ty(self, name)?, ty(before, name)?))) {
            Some((_, now, before)) if now == before => AS_ALL_ARE.to_owned(),
            Some((name, Type::Text, before)) => {
                let said = said_of("--type", name, before);
                format!("with column {name} as text ({said} makes such rows bad rows)")
            }
            Some((name, now, _)) => format!("with column {name} as {now}"),
            None => "with the columns that there are".to_owned(),
        }
    }
}
