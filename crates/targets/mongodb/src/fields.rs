//! Which field of a document each column is.

use crate::facts::{ID, ServerFacts};
use crate::knobs::{INTEGERS, TIMESTAMPS};
use crate::types::Wishes;
use inrush_core::target::Knobs;
use inrush_core::{Column, Facts, Job, Request};

/// The fields, one a column.
#[derive(Default)]
pub(super) struct Fields {
    names: Vec<String>,
}

impl Fields {
    pub(super) fn of(job: &Job) -> Self {
        let name = |column: &Column| name(&column.name, &job.request).to_owned();
        Self { names: job.choice.columns.iter().map(name).collect() }
    }

    pub(super) fn name(&self, column: usize) -> &str {
        &self.names[column]
    }

    pub(super) fn names(&self) -> &[String] {
        &self.names
    }

    /// The places of the columns that `--on-conflict` compares. No two names of columns differ in case alone.
    pub(super) fn key(&self, job: &Job) -> Vec<usize> {
        let columns = &job.choice.columns;
        let place = |key: &String| {
            let mut both = columns.iter().zip(&self.names);
            both.position(|(column, name)| column.name.eq_ignore_ascii_case(key) || name == key)
        };
        job.choice.key.iter().filter_map(place).collect()
    }

    /// The fields that these are.
    pub(super) fn key_names(&self, job: &Job) -> Vec<String> {
        self.key(job).into_iter().map(|at| self.names[at].clone()).collect()
    }

    /// The column that gives documents their ids.
    pub(super) fn id_column(&self) -> Option<usize> {
        self.names.iter().position(|name| name == ID)
    }
}

/// Whether two keys are the same fields, in any order.
pub(super) fn same_names(one: &[String], other: &[String]) -> bool {
    one.len() == other.len() && one.iter().all(|name| other.contains(name))
}

/// The first protocol whose servers take names with points and dollars: MongoDB 5.0.
const ANY_NAMES: i64 = 13;

/// Whether queries and updates would take the name for something else.
pub(super) fn is_odd(name: &str) -> bool {
    name.starts_with('$') || name.contains('.')
}

/// Whether FerretDB takes a field's name and then fails to read its own documents, which it has as JSON: of what needs an escape there. Of
/// fields within documents it does not mind.
fn is_unreadable(name: &str) -> bool {
    name.contains(|c: char| matches!(c, '"' | '\\') || c < ' ')
}

/// What the server has against a field's name.
pub(super) fn name_fault(server: &ServerFacts) -> fn(&str) -> Option<String> {
    match () {
        () if server.is_ferret => |name| {
            let unreadable = is_unreadable(name)
                .then_some("FerretDB keeps no field whose name holds a quote, a backslash or a control character");
            let odd = "FerretDB takes no field whose name holds a point or begins with a dollar";
            fault(name, odd).or_else(|| unreadable.map(str::to_owned))
        },
        () if server.wire_version < ANY_NAMES => |name| {
            fault(name, "before MongoDB 5.0 no field's name holds a point or begins with a dollar")
        },
        () => |name| fault(name, ""),
    }
}

/// Why the name can't be a field's: a NUL is in it, or, where the server minds, what queries would take for something else.
fn fault(name: &str, odd: &str) -> Option<String> {
    let fault = match () {
        () if name.contains('\0') => "no field's name holds a NUL",
        () if is_odd(name) => odd,
        () => "",
    };
    (!fault.is_empty()).then(|| fault.to_owned())
}

/// The field that a column becomes: a primary key of one column is the document's own.
pub(super) fn name<'n>(column: &'n str, request: &Request) -> &'n str {
    match request.primary_key.as_slice() {
        [key] if key.eq_ignore_ascii_case(column) => ID,
        _ => column,
    }
}

/// What bears on types.
pub(super) fn wishes(job: &Job) -> Wishes {
    wishes_of(&job.facts, &job.choice.knobs)
}

pub(super) fn wishes_of(facts: &Facts, knobs: &Knobs) -> Wishes {
    let is_ferret = ServerFacts::of(&facts.target).is_ferret;
    Wishes {
        // FerretDB hangs up on who sends a decimal.
        decimals: !is_ferret,
        specials: facts.target.specials,
        wide: knobs.is(&INTEGERS, "int64"),
        nested_lists: !is_ferret,
        text_timestamps: knobs.is(&TIMESTAMPS, "text"),
    }
}
