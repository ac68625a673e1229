//! A look at every value of an input: what its columns are.

use std::sync::{Arc, Mutex, PoisonError};

use crate::Source;
use crate::header::unique;
use crate::infer::Observed;
use crate::json::{MemberSurveyor, Seen};
use inrush_core::FieldFacts;
use inrush_core::encode::{Encode, Grammar};
use inrush_core::flow::Chunk;

/// A survey under way.
pub struct Survey<'a> {
    source: &'a Source,
    fields: &'a [FieldFacts],
    total: Total,
    lines: LinesSoFar,
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
    /// A survey of all of a source of these fields, as far as they are known.
    pub fn of(source: &'a Source, fields: &'a [FieldFacts]) -> Self {
        let total = match source.grammar {
            Grammar::Json(_) => Total::Members(Arc::default()),
            _ => Total::Fields(Arc::new(Mutex::new(source.unseen(fields.len())))),
        };
        Self { source, fields, total, lines: LinesSoFar::default() }
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
    pub fn collect(&mut self, chunk: &Chunk, lines: u64) {
        let before = self.lines.before(self.source, chunk, lines);
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

    /// What the fields are; and the source that knows all of them, where some are new.
    pub fn end(self) -> (Vec<FieldFacts>, Option<Source>) {
        match self.total {
            Total::Fields(total) => {
                let seen = total.lock().unwrap_or_else(PoisonError::into_inner);
                let inputs = &self.source.inputs;
                let field = |(field, seen): (&FieldFacts, &Observed)| match field.is_declared {
                    // What it is the input has said, but not how fine its values are.
                    true => FieldFacts { moments: seen.moments(inputs), ..field.clone() },
                    false => FieldFacts {
                        written: None,
                        added: None,
                        name: field.name.clone(),
                        ty: seen.ty(),
                        spoiler: seen.spoiler(inputs),
                        is_declared: seen.has_specials(),
                        moments: seen.moments(inputs),
                        reads: seen.reads(inputs),
                    },
                };
                (self.fields.iter().zip(seen.iter()).map(field).collect(), None)
            }
            Total::Members(total) => {
                let inputs = &self.source.inputs;
                let mut fields =
                    total.lock().unwrap_or_else(PoisonError::into_inner).fields(inputs);
                let source = self.source.with_members(&fields);
                // What has a name of its own in the source may not have one in SQL. Whoever looks at the plan sees it.
                let names = fields.iter().map(|field| field.name.clone()).collect();
                for (field, name) in fields.iter_mut().zip(unique(names, &mut Vec::new())) {
                    field.name = name;
                }
                (fields, Some(source))
            }
        }
    }
}
