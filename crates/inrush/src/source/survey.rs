//! A look at every value of an input: what its columns are.

use std::sync::{Arc, Mutex, PoisonError};

use crate::pipe::encode::{Encode, Grammar};
use crate::plan::FieldFacts;
use crate::source::Source;
use crate::source::header::unique;
use crate::source::infer::Observed;
use crate::source::json::{MemberSurveyor, Seen};

/// A survey under way.
pub(crate) struct Survey<'a> {
    source: &'a Source,
    fields: &'a [FieldFacts],
    total: Total,
}

enum Total {
    /// The fields are known.
    Fields(Arc<Mutex<Vec<Observed>>>),
    /// There may be others.
    Members(Arc<Mutex<Seen>>),
}

impl<'a> Survey<'a> {
    /// A survey of all of a source of these fields, as far as they are known.
    pub(crate) fn of(source: &'a Source, fields: &'a [FieldFacts]) -> Self {
        let total = match source.grammar {
            Grammar::Json(_) => Total::Members(Arc::default()),
            _ => Total::Fields(Arc::new(Mutex::new(vec![Observed::default(); fields.len()]))),
        };
        Self { source, fields, total }
    }

    /// An encoder for one thread, which sends nothing on.
    pub(crate) fn encoder(&self) -> Box<dyn Encode> {
        match (&self.total, &self.source.grammar) {
            (Total::Fields(total), _) => self.source.surveyor(total),
            (Total::Members(total), Grammar::Json(json)) => Box::new(MemberSurveyor::new(
                json,
                &self.source.nulls,
                self.fields,
                Arc::clone(total),
            )),
            (Total::Members(_), _) => unreachable!("only JSON has members"),
        }
    }

    /// What the fields are; and the source that knows all of them, where some are new.
    pub(crate) fn end(self) -> (Vec<FieldFacts>, Option<Source>) {
        match self.total {
            Total::Fields(total) => {
                let seen = total.lock().unwrap_or_else(PoisonError::into_inner);
                let field = |(field, seen): (&FieldFacts, &Observed)| FieldFacts {
                    name: field.name.clone(),
                    ty: seen.ty(),
                    spoiler: seen.spoiler(),
                    is_declared: false,
                };
                (self.fields.iter().zip(seen.iter()).map(field).collect(), None)
            }
            Total::Members(total) => {
                let mut fields = total.lock().unwrap_or_else(PoisonError::into_inner).fields();
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
