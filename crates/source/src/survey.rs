//! A look at every value of an input: what its columns are.

use std::sync::{Arc, Mutex, PoisonError};

use crate::Source;
use crate::header::named;
use crate::infer::Observed;
use crate::json::{MemberSurveyor, Seen};
use inrush_core::FieldFacts;
use inrush_core::encode::{Encode, Encoded, Grammar};
use inrush_core::error::Result;
use inrush_core::flow::Chunk;

/// What a survey has found.
pub struct Surveyed {
    /// What the fields are.
    pub fields: Vec<FieldFacts>,
    /// The source that knows all of them, where some may be new.
    pub source: Option<Source>,
    /// Things a user should know, such as a renamed column.
    pub warnings: Vec<String>,
    /// How many rows there are.
    pub rows: u64,
    /// How many of these are bad whatever the types.
    pub bad: u64,
}

/// A survey under way.
pub struct Survey<'a> {
    source: &'a Source,
    fields: &'a [FieldFacts],
    /// Which of them a value has disproved, where that is known.
    disproved: Option<usize>,
    total: Total,
    lines: LinesSoFar,
    rows: u64,
    bad: u64,
}

/// How many lines of an input came before a chunk, where chunks come in the source's order.
#[derive(Default)]
pub(super) struct LinesSoFar {
    /// The input that is being read; `None` before the first chunk.
    file: Option<u32>,
    lines: u64,
}

impl LinesSoFar {
    /// The lines before the chunk, which has so many itself.
    pub(super) fn before(&mut self, source: &Source, chunk: &Chunk, lines: u64) -> u64 {
        let file = chunk.origin.file;
        if self.file != Some(file) {
            self.file = Some(file);
            self.lines = source.inputs[file as usize].lines_before;
        }
        let before = self.lines;
        self.lines += lines;
        before
    }
}

enum Total {
    /// The fields are known.
    Fields(Arc<Mutex<Vec<Observed>>>),
    /// There may be others.
    Members(Arc<Mutex<Seen>>),
}

impl<'a> Survey<'a> {
    /// A survey of all of a source of these fields, as far as they are known; `disproved` is the one whose type a value was not of.
    pub fn of(source: &'a Source, fields: &'a [FieldFacts], disproved: Option<usize>) -> Self {
        let total = match source.grammar {
            Grammar::Json(_) => Total::Members(Arc::default()),
            _ => Total::Fields(Arc::new(Mutex::new(source.unseen(fields.len())))),
        };
        Self { source, fields, disproved, total, lines: LinesSoFar::default(), rows: 0, bad: 0 }
    }

    /// An encoder for one thread, which sends nothing on.
    pub fn encoder(&self) -> Box<dyn Encode> {
        match (&self.total, &self.source.grammar) {
            (Total::Fields(total), _) => self.source.surveyor(total),
            (Total::Members(total), Grammar::Json(json)) => Box::new(MemberSurveyor::new(
                json,
                &self.source.read,
                &self.source.nulls,
                self.fields,
                Arc::clone(total),
            )),
            (Total::Members(_), _) => unreachable!("only JSON has members"),
        }
    }

    /// Takes note of a chunk that an encoder has looked at; they come in the source's order. Only here is it known how many lines came
    /// before it.
    pub fn collect(&mut self, chunk: &Chunk, encoded: &Encoded) {
        self.rows += u64::from(encoded.records);
        self.bad += encoded.found.len() as u64;
        let before = self.lines.before(self.source, chunk, encoded.lines);
        let grammar = &self.source.grammar;
        let line = |at: usize| before + grammar.lines(&chunk.bytes[..at]) + 1;
        match &self.total {
            Total::Fields(total) => {
                let mut total = total.lock().unwrap_or_else(PoisonError::into_inner);
                total.iter_mut().for_each(|seen| seen.locate(chunk, line));
            }
            Total::Members(total) => {
                total.lock().unwrap_or_else(PoisonError::into_inner).locate(chunk, line);
            }
        }
    }

    /// What was found.
    ///
    /// # Errors
    /// When an option may mean either of two members, whose names differ in case alone.
    pub fn end(self) -> Result<Surveyed> {
        match self.total {
            Total::Fields(total) => {
                let seen = total.lock().unwrap_or_else(PoisonError::into_inner);
                let inputs = &self.source.inputs;
                // A program's values have types of their own, whatever their texts look like: a value that is not of one column's
                // says nothing of the others. Of a sheet all cells were looked at before.
                let are_typed = self.source.is_of_program();
                let is_of_others = are_typed && self.disproved.is_some();
                let is_another =
                    |at| (is_of_others || self.source.is_of_sheets()) && self.disproved != Some(at);
                let field = |(at, (field, seen)): (usize, (&FieldFacts, &Observed))| match field
                    .is_declared
                    || is_another(at)
                {
                    // What it is the input has said, but not how fine its values are.
                    true => FieldFacts { moments: seen.moments(inputs), ..field.clone() },
                    false => FieldFacts {
                        written: None,
                        added: None,
                        name: field.name.clone(),
                        ty: if are_typed { seen.ty_after(field.ty) } else { seen.ty() },
                        spoiler: seen.spoiler(inputs).filter(|_| !are_typed),
                        is_declared: seen.has_specials(),
                        is_settled: false,
                        moments: seen.moments(inputs),
                        reads: seen.reads(inputs),
                    },
                };
                let fields = self.fields.iter().zip(seen.iter()).enumerate().map(field).collect();
                Ok(Surveyed {
                    fields,
                    source: None,
                    warnings: Vec::new(),
                    rows: self.rows,
                    bad: self.bad,
                })
            }
            Total::Members(total) => {
                let inputs = &self.source.inputs;
                let is_flat = matches!(&self.source.grammar, Grammar::Json(json) if json.flatten);
                let mut fields =
                    total.lock().unwrap_or_else(PoisonError::into_inner).fields(inputs, is_flat);
                let source = self.source.with_members(&fields);
                // What has a name of its own in the source may not have one in SQL.
                let mut warnings = Vec::new();
                let names = fields.iter().map(|field| field.name.clone()).collect();
                for (field, name) in
                    fields.iter_mut().zip(named(names, &self.source.read, &mut warnings)?)
                {
                    field.name = name;
                }
                Ok(Surveyed {
                    fields,
                    source: Some(source),
                    warnings,
                    rows: self.rows,
                    bad: self.bad,
                })
            }
        }
    }
}
