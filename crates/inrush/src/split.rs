//! Files cut into parts for many processes, each of which reads its own as one process would read the whole.

use std::sync::atomic::AtomicBool;
use std::time::Instant;

use crate::load::{Mismatch, guess_again};
use crate::observer::Observer;
use crate::plan::{Inference, Plan, Request, plan_check};
use inrush_core::error::{Error, Result};
use inrush_core::reading::{Families, Family, Reading, of_source};
use inrush_core::schema::Basis;
use inrush_core::split::SplitField;
pub use inrush_core::split::{Parts, Split};

/// Cuts the request's sources into parts, each of whole records: ranges of CSV and JSON Lines, row groups of Parquet, files that can't be
/// cut as a whole. A [`Split`] is text that any process can load from with [`Request::split`]; it knows how its files are written, their
/// columns and where in them it starts, so that rows and their positions are those of the whole.
///
/// With a target, columns are looked at as a load into it would. Where that would make the table, or none is named, every value is looked
/// at: whoever loads a part can't change a type that others have begun with. Types that the request names save that.
///
/// # Errors
/// When the request contradicts itself, an input can't be read or read again, or the observer wants to stop.
pub fn split(request: &Request, parts: Parts, observer: &dyn Observer) -> Result<Vec<Split>> {
    split_with_warnings(request, parts, observer).map(|(splits, _)| splits)
}

/// Cuts a plan's source into parts whose columns have the types that the plan has for them: no value is looked at for it, so one that the
/// samples did not have may turn out to be a bad row.
///
/// # Errors
/// When the source is no file that can be read in parts, or `stop` is set.
pub fn split_plan(plan: &Plan, parts: Parts, stop: &AtomicBool) -> Result<Vec<Split>> {
    plan.source.split(parts, &plan.request.read, &fields(plan), stop)
}

/// The same, with what a user should know of the source.
pub(crate) fn split_with_warnings(
    request: &Request,
    parts: Parts,
    observer: &dyn Observer,
) -> Result<(Vec<Split>, Vec<String>)> {
    if request.split.is_some() {
        return Err(
            Error::usage("a split can't be split again").advise("split the files into more parts")
        );
    }
    let mut plan = plan_check(request, observer)?;
    if is_guessed(&plan)
        && let Some((next, _)) = guess_again(&plan, &Mismatch::Tolerated, observer, Instant::now())?
    {
        plan = next;
    }
    let fields = fields(&plan);
    let read = &plan.request.read;
    let splits = plan.source.split(parts, read, &fields, observer.stop_flag())?;
    Ok((splits, plan.facts.source.warnings.clone()))
}

/// Whether a value that no sample had may disprove the type of a column.
fn is_guessed(plan: &Plan) -> bool {
    plan.choice.action.makes_table()
        && plan.request.inference == Inference::Infer
        && plan.source.grammar.form() == "text"
        && plan.choice.columns.iter().any(|column| !column.is_pinned())
}

/// The source's columns, each of the type that a table made for them has.
fn fields(plan: &Plan) -> Vec<SplitField> {
    let makes_table = plan.choice.action.makes_table();
    let field = |(at, field): (usize, &inrush_core::FieldFacts)| {
        let place = plan.choice.fields.iter().position(|of| *of == at);
        let column = place.filter(|_| makes_table).map(|column| &plan.choice.columns[column]);
        // Whoever loads a part sees but that part, so what the values are is decided here.
        let plain = match place.map(|at| (&plan.choice.columns[at], &plan.shape.columns[at])) {
            Some((_, shaped)) if shaped.reading.as_ref().is_some_and(Reading::makes_values) => {
                Families::default()
            }
            Some((column, _)) if Family::of(column.ty).is_some() => Families::ALL,
            _ => field.reads.plain,
        };
        SplitField {
            name: field.name.clone(),
            ty: column.map_or(field.ty, |column| column.ty),
            is_settled: column.is_some_and(|column| column.basis == Basis::Settled),
            digits: field.moments.digits,
            plain,
        }
    };
    of_source(&plan.facts.source.fields).iter().enumerate().map(field).collect()
}
