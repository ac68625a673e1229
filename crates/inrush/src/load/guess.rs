//! What is done about a guess that a row has disproved.

use std::time::Instant;

use super::nowhere::pass_nowhere;
use super::{Mismatch, Tally};
use crate::observer::Observer;
use crate::plan::{AS_ALL_ARE, Column, Plan};
use inrush_core::Type;
use inrush_core::encode::Grammar;
use inrush_core::error::{Kind, Result};
use inrush_core::flow::Phase;
use inrush_core::reading::of_source;
use inrush_source::survey::{Survey, Surveyed};

/// The plan of another try after a guess was disproved, and what of it is new in words: all values are looked at, unless they were.
/// `None` when another try would end as this one did.
pub(crate) fn guess_again(
    plan: &Plan,
    mismatch: &Mismatch,
    observer: &dyn Observer,
    began: Instant,
) -> Result<Option<(Plan, String)>> {
    let mut next = plan.clone();
    let disproved = match mismatch {
        Mismatch::Type(column) => plan.guessed(column).map(|(field, _)| field),
        Mismatch::Column | Mismatch::Tolerated => None,
    };
    // Of a program's columns a look finds out about the one that was disproved.
    let is_open = plan.source.is_of_program() && disproved.is_some();
    // What they are is known, and all that bad rows say is that they are too many.
    let are_too_many = plan.source.is_of_program() && matches!(mismatch, Mismatch::Tolerated);
    let is_known = plan.facts.source.is_surveyed || are_too_many;
    if is_open || !is_known {
        observer.phase(&Phase::Survey);
        next = plan.widened(survey(plan, disproved, observer, began)?)?;
    }
    let column = match mismatch {
        Mismatch::Tolerated => {
            // The same types would have the same bad rows.
            let is_same =
                next.choice.columns == plan.choice.columns && !next.takes_other(plan, None);
            if is_known || is_same {
                next = next.intolerant()?;
            }
            return Ok(Some((next, AS_ALL_ARE.to_owned())));
        }
        Mismatch::Column => None,
        Mismatch::Type(column) => Some(column.as_str()),
    };
    // Where all values were looked at, and the target's type keeps one of them not, a try with that type would end as this one did.
    // Text takes any. After a sample the type may stay: then it was a value of another sort that ended the try.
    let is_foreseen = column.is_none_or(|column| plan.is_foreseen(column));
    if is_foreseen && !next.takes_other(plan, column) {
        match column.map(|column| next.with_text(column)).transpose()?.flatten() {
            Some(text) => next = text,
            None => return Ok(None),
        }
    }
    let how = next.told_from(plan, column);
    Ok(Some((next, how)))
}

/// The plan for a load that can't change its table's types on the way, for a step of it is committed by then, or rows are out, or can't be
/// taken back: all values are looked at first, unless the types are known without that.
pub(super) fn looked_at(mut plan: Plan, observer: &dyn Observer, began: Instant) -> Result<Plan> {
    let is_of_first_rows = plan.source.is_guess();
    let is_open = |column: &Column| {
        let is_said = column.declared.is_some() || column.is_asked();
        !column.is_pinned() || is_of_first_rows && !is_said
    };
    let is_guess = plan.choice.columns.iter().any(is_open);
    // Of JSON not even the columns are known.
    let is_json = matches!(plan.source.grammar, Grammar::Json(_));
    let is_stream = plan.facts.target.is_stream && plan.facts.source.seekable;
    let stays = !plan.choice.atomic && plan.facts.source.seekable;
    if !(plan.steps.is_some() || is_stream || stays) || !(is_guess || is_json) {
        return Ok(plan);
    }
    if !plan.facts.source.is_surveyed {
        observer.phase(&Phase::Survey);
        plan = plan.widened(survey(&plan, None, observer, began)?)?;
    }
    // Which times of day a type takes, of how many digits, or 24:00:00, only the target's encoder knows.
    let is_time = |column: &Column| column.ty == Type::Time && !column.is_pinned();
    while is_stream && plan.choice.columns.iter().any(is_time) {
        let Some((column, why)) = disproved(&plan, observer, began)? else { break };
        let Some((mut next, how)) = guess_again(&plan, &Mismatch::Type(column), observer, began)?
        else {
            break;
        };
        next.facts.source.warnings.push(format!("{why}: loaded {how}"));
        plan = next;
    }
    Ok(plan)
}

/// The first column of a guessed type that a value is not of, as the target has the types, and where which value is that.
fn disproved(
    plan: &Plan,
    observer: &dyn Observer,
    began: Instant,
) -> Result<Option<(String, String)>> {
    observer.phase(&Phase::Survey);
    let checker = |_| plan.target.checker(&plan.job);
    let encoders = (0..plan.facts.processors.max(1)).map(checker).collect::<Result<_>>()?;
    let mut tally = Tally::new(plan);
    let passed = pass_nowhere(plan, observer, began, encoders, |slot| {
        tally.collect(plan, &plan.shape, slot, &mut |_| Ok(()))
    });
    match (tally.mismatch, passed) {
        (Some(Mismatch::Type(column)), Err(error)) => Ok(Some((column, error.what().to_owned()))),
        (Some(_), _) => Ok(None),
        // More bad rows than are allowed end the load, which says so.
        (None, Err(error)) if error.kind() == Kind::Rejects => Ok(None),
        (None, passed) => passed.map(|_| None),
    }
}

/// Looks at every value of the whole input, through the same pipeline, and says what each column really is; with another source
/// where there are columns that nobody knew of.
fn survey(
    plan: &Plan,
    disproved: Option<usize>,
    observer: &dyn Observer,
    began: Instant,
) -> Result<Surveyed> {
    let fields = of_source(&plan.facts.source.fields);
    let mut survey = Survey::of(&plan.source, &fields, disproved);
    let surveyors = (0..plan.facts.processors.max(1)).map(|_| survey.encoder()).collect();
    pass_nowhere(plan, observer, began, surveyors, |slot| {
        survey.collect(&slot.chunk, &slot.encoded);
        Ok(())
    })?;
    survey.end()
}
