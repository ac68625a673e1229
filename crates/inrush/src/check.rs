//! A check: reads the whole input as a load would, and writes nothing.
//!
//! ```text
//! source -> chunks -> target's encoder (bad rows) + profile (values, shapes) -> nowhere
//! ```

use std::cell::Cell;
use std::path::PathBuf;
use std::time::Instant;

use serde::Serialize;

use crate::load::{Mismatch, Nowhere, Tally, guess_again, progress};
use crate::observer::Observer;
use crate::pipe::reject::{Position, Reject, RejectFiles};
use crate::pipe::run::{Calls, Pass, pass};
use crate::plan::{
    Column, DialectShown, Inference, Plan, RejectLimit, RejectsTo, Request, Type, plan_check,
};
use inrush_core::error::{Error, Result};
use inrush_core::flow::Code;
use inrush_core::flow::{Chunk, Encode, Encoded, Meter, Phase, Point, Slot};
use inrush_core::reading::Reading;
use inrush_core::schema::Basis;
use inrush_source::profile::{Profile, Profiles};

/// Shapes of a column that are told.
const SHAPES_TOLD: usize = 5;

/// What a check found. Serializes to what `check --json` prints, whose keys are stable.
#[derive(Serialize)]
pub struct Check {
    /// The version of inrush.
    pub version: &'static str,
    /// The inputs.
    pub source: Vec<String>,
    /// The target, without a password; `None` where none was named.
    pub target: Option<String>,
    /// The table.
    pub table: String,
    /// Whether a load would make the table; else it is there, and its columns rule.
    pub makes_table: bool,
    /// How the inputs are written.
    pub dialect: DialectShown,
    /// Records read.
    pub rows_read: u64,
    /// Those that a load would take.
    pub rows_good: u64,
    /// Those that it would reject.
    pub rows_bad: u64,
    /// The columns, in the table's order.
    pub columns: Vec<CheckedColumn>,
    /// The statement that makes the table; `None` where there is one, or none is needed.
    pub create_table: Option<String>,
    /// The bad rows in the source's order, as many as were asked for.
    pub bad_rows: Vec<BadRow>,
    /// The files that hold the bad rows, where they were asked for.
    #[serde(serialize_with = "inrush_core::path::serialize_all")]
    pub rejects: Vec<PathBuf>,
    /// Bytes of text read, decompressed and decoded.
    pub bytes_read: u64,
    /// How long it took.
    pub seconds: f64,
    /// Bytes read a second, in 10^6 bytes.
    pub mb_per_second: f64,
    /// What a user should know besides.
    pub warnings: Vec<String>,
}

/// What a check found of a column.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct CheckedColumn {
    /// Its name in the table.
    pub name: String,
    /// Its type.
    #[serde(rename = "type")]
    pub ty: Type,
    /// The type as the target spells it.
    pub declared: String,
    /// Whether table, source or user say the type; else the values do.
    pub is_declared: bool,
    /// Values that are not NULL.
    pub values: u64,
    /// Those that are.
    pub nulls: u64,
    /// How many shapes the values have, where digits and letters are alike.
    pub shapes: usize,
    /// Whether there were more, which were not counted.
    pub shapes_more: bool,
    /// The most frequent of them.
    pub most_shapes: Vec<ShapeCount>,
    /// The value that kept the column from a narrower type, or that is not of the type that most are of, which the column has at the price
    /// of bad rows; `None` where all its values are of one.
    pub decided_by: Option<Decider>,
}

/// How many values have a shape.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct ShapeCount {
    /// Digits are `9`, letters `a`, and what comes several times in a row is one.
    pub shape: String,
    /// Values of it.
    pub values: u64,
}

/// A value that decided a column's type.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct Decider {
    /// The value, shortened and in quotes.
    pub value: String,
    /// The type that it is not of.
    pub is_not: Type,
    /// The input, where there are several.
    pub file: Option<String>,
    /// The physical line on which its record begins, from 1; `None` in columns.
    pub line: Option<u64>,
}

/// A row that a load would reject.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct BadRow {
    /// The input.
    pub file: String,
    /// The data record's number in its input, from 1.
    pub record: u64,
    /// The physical line, from 1; `None` in columns.
    pub line: Option<u64>,
    /// The record's offset in the decoded input; `None` in columns.
    pub byte: Option<u64>,
    /// The row's place in words.
    #[serde(skip)]
    pub at: String,
    /// The column to blame, where one is.
    pub column: Option<String>,
    /// What sort of fault.
    pub code: Code,
    /// The reason.
    pub message: String,
}

impl BadRow {
    fn of(reject: &Reject, plan: &Plan) -> Self {
        let (line, byte) = match reject.at {
            Position::Text { line, byte, .. } => (Some(line), Some(byte)),
            at => (at.line(), None),
        };
        Self {
            file: plan.source.inputs[reject.file as usize].name.clone(),
            record: reject.record,
            line,
            byte,
            at: reject.at.to_string(),
            column: reject.column.clone(),
            code: reject.code,
            message: reject.message.clone(),
        }
    }
}

/// Reads all of the request's sources as a load would, and says what it would make of them. Nothing is written, except for the bad rows
/// where the request names a file for them, or allows all of them. Without a target (an empty one) the values decide about all
/// columns whose types the request leaves open. At most `bad_rows_max` bad rows are listed; all are counted.
///
/// # Errors
/// When the request contradicts itself, an input can't be read, the target would refuse the load, or the observer wants to stop.
pub fn check(request: &Request, observer: &dyn Observer, bad_rows_max: usize) -> Result<Check> {
    let began = Instant::now();
    let allowed = request.max_rejects;
    let mut plan = plan_check(request, observer)?;
    loop {
        // How many bad rows there may be decides about types; here it is over, and all of them are told.
        plan.allow(RejectLimit::All);
        let (error, mismatch) = match attempt(&plan, observer, began, bad_rows_max, allowed)? {
            Attempt::Done(check) => return Ok(*check),
            Attempt::Mismatch(error, mismatch) => (error, mismatch),
        };
        if !plan.facts.source.seekable {
            return Err(error.advise("or check a file instead of a pipe, which can be read again"));
        }
        plan.allow(allowed);
        match guess_again(&plan, &mismatch, observer, began)? {
            Some((next, _)) => plan = next,
            None => return Err(error),
        }
    }
}

enum Attempt {
    Done(Box<Check>),
    /// A value disproved what the sample had shown; what a user reads who can't be helped.
    Mismatch(Error, Mismatch),
}

fn attempt(
    plan: &Plan,
    observer: &dyn Observer,
    began: Instant,
    bad_rows_max: usize,
    allowed: RejectLimit,
) -> Result<Attempt> {
    observer.phase(&Phase::Check);
    let meter = Meter::default();
    let shape = &*plan.shape;
    let mut profiles = Profiles::of(&plan.source, shape, &plan.choice.fields);
    let threads = plan.request.encoders.unwrap_or(plan.facts.processors).max(1);
    // Where the values of a text alone decide, there is nothing that they could be refused for.
    let is_free = plan.request.target.is_empty()
        && plan.source.grammar.dialect().is_some()
        && plan.choice.columns.iter().all(|column| !column.is_pinned() && !column.required)
        && shape.columns.iter().all(|column| column.reading.is_none());
    let encoders = (0..threads).map(|_| {
        if is_free {
            return Ok(profiles.encoder());
        }
        let checker = plan.target.checker(&plan.job)?;
        let both = Both { checker, profiler: profiles.encoder(), seen: Encoded::default() };
        Ok(Box::new(both) as Box<dyn Encode>)
    });
    let parts = Pass {
        // One in each stage's hands, and enough between them to ride out a hiccup.
        slots: threads + 5,
        chunk_bytes: plan.choice.chunk_bytes,
        encoders: encoders.collect::<Result<_>>()?,
        step_records: None,
        meter: &meter,
        stop: observer.stop_flag(),
    };
    let keeps = match plan.request.rejects {
        RejectsTo::File(_) => true,
        RejectsTo::Beside => allowed == RejectLimit::All,
        RejectsTo::Observer => false,
    };
    let mut files = RejectFiles::of(plan);
    let mut bad_rows = Vec::new();
    let mut tally = Tally::new(plan);
    let so_far = Cell::new((0, 0));
    let mut put = |reject: &Reject| {
        if bad_rows.len() < bad_rows_max {
            bad_rows.push(BadRow::of(reject, plan));
        }
        if keeps { files.push(reject) } else { Ok(()) }
    };
    let passed = pass(
        parts,
        |feeder| plan.source.feed(plan.choice.chunk_bytes, &Point::default(), &meter, feeder),
        &mut Nowhere,
        &mut Calls {
            collect: |slot: &mut Slot| {
                let lines = slot.encoded.lines;
                tally.collect(plan, shape, slot, &mut put)?;
                so_far.set((tally.read - tally.rejected, tally.rejected));
                profiles.collect(&slot.chunk, lines);
                Ok(())
            },
            tick: || {
                let (good, bad) = so_far.get();
                observer.progress(&progress(plan, &meter, began, good, bad));
            },
        },
    );
    plan.files.expect_unchanged()?;
    match (passed, tally.mismatch.take()) {
        (Err(error), Some(mismatch)) => return Ok(Attempt::Mismatch(error, mismatch)),
        (passed, _) => passed?,
    }
    if allowed.exceeded(tally.rejected, tally.read, true)
        && let Some(mismatch) = tally.disproves()
    {
        let why = "bad rows are more than a sample had shown, and than --max-rejects allows";
        return Ok(Attempt::Mismatch(Error::source(why), mismatch));
    }
    let profiles = profiles.end();
    let mut free = plan.choice.columns.iter().zip(&profiles).filter(|_| is_free);
    let is_news = |(column, profile): &(&Column, &Profile)| {
        profile.values() > 0 && profile.ty() != column.ty && !plan.facts.source.is_surveyed
    };
    if plan.request.inference == Inference::Infer
        && let Some((column, _)) = free.find(is_news)
    {
        let error = Error::source(
            "a pipe can be read only once, and its values are not what a sample had shown",
        );
        return Ok(Attempt::Mismatch(error, Mismatch::Type(column.name.clone())));
    }
    files.publish()?;
    let bytes_read = meter.bytes_read();
    let seconds = began.elapsed().as_secs_f64();
    let mut warnings = plan.warnings();
    warnings.extend(tally.notes(shape));
    warnings.extend(files.notes());
    warnings.extend(left_to_the_database(plan));
    let is_named = !plan.request.target.is_empty();
    Ok(Attempt::Done(Box::new(Check {
        version: env!("CARGO_PKG_VERSION"),
        source: plan.source_names().into_iter().map(str::to_owned).collect(),
        target: is_named.then(|| plan.location.shown.clone()),
        table: plan.table.clone(),
        makes_table: plan.choice.action.makes_table(),
        dialect: plan.dialect(),
        rows_read: tally.read,
        rows_good: tally.read - tally.rejected,
        rows_bad: tally.rejected,
        columns: columns(plan, &profiles),
        create_table: plan
            .choice
            .action
            .makes_table()
            .then(|| plan.target.definition(&plan.job))
            .flatten(),
        bad_rows,
        rejects: files.paths(),
        bytes_read,
        seconds,
        mb_per_second: bytes_read as f64 / 1e6 / seconds,
        warnings,
    })))
}

fn columns(plan: &Plan, profiles: &[Profile]) -> Vec<CheckedColumn> {
    let columns = plan.choice.columns.iter().zip(profiles).zip(&plan.shape.columns);
    let checked = columns.map(|((column, profile), shape)| {
        // A column whose values are read otherwise than they are written is what the options make of them.
        let is_declared = column.is_pinned() && column.basis != Basis::Settled;
        let decider = if is_declared || shape.reading.as_ref().is_some_and(Reading::makes_values) {
            None
        } else if column.basis == Basis::Settled {
            profile.misfit(column.ty, &plan.source).map(|misfit| (misfit, column.ty))
        } else {
            profile.decider(column.ty, &plan.source)
        };
        CheckedColumn {
            name: column.name.clone(),
            ty: column.ty,
            declared: plan.spelled(column),
            is_declared,
            values: profile.values(),
            nulls: profile.nulls,
            shapes: profile.shapes.count(),
            shapes_more: profile.shapes.are_more,
            most_shapes: profile
                .shapes
                .most(SHAPES_TOLD)
                .into_iter()
                .map(|(shape, values)| ShapeCount { shape, values })
                .collect(),
            decided_by: decider.map(|(misfit, is_not)| Decider {
                value: misfit.value,
                is_not,
                file: misfit.file,
                line: misfit.line,
            }),
        }
    });
    checked.collect()
}

/// What no look at the source alone can tell.
fn left_to_the_database(plan: &Plan) -> Option<String> {
    let table = plan.facts.target.table.as_ref().filter(|_| !plan.choice.action.makes_table());
    let has_rules = table.is_some() || !plan.request.primary_key.is_empty();
    has_rules.then(|| {
        "rows that repeat a key, those that a foreign key, a CHECK or a trigger refuses or that no partition takes, and values of types that only the \
         database reads are found by a load only"
            .to_owned()
    })
}

/// Two looks at the same chunk: what the target would refuse, and what there is.
struct Both {
    checker: Box<dyn Encode>,
    profiler: Box<dyn Encode>,
    /// The profiler's account of the chunk, which is the checker's.
    seen: Encoded,
}

impl Encode for Both {
    fn encode(&mut self, chunk: &Chunk, out: &mut Encoded) {
        self.seen.clear();
        self.profiler.encode(chunk, &mut self.seen);
        self.checker.encode(chunk, out);
    }
}
