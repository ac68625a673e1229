//! Of which kinds the values of a collection's key are: `1` and `'1'` are two keys to the server, so rows of the one kind are never
//! those of the other.

use crate::bson::{Document, Raw, kind};
use crate::client::Failure;
use crate::facts::{ID, ServerFacts};
use crate::fields;
use crate::session::Session;
use crate::types::{Form, Store};
use inrush_core::target::Knobs;
use inrush_core::{
    Basis, Column, Facts, FieldFacts, Inference, OnConflict, Request, TableFacts, Type,
};

/// A field of the key that `--on-conflict` compares, and the kinds of its values that were seen, in the words of the server's `$type`.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct KeyField {
    name: String,
    kinds: Vec<&'static str>,
}

/// Looks at the first and the last document by the key's index. Values are in the order of their kinds there, so where both ends are of
/// one kind nearly all are.
pub(super) fn read(
    session: &mut Session<'_>,
    table: &TableFacts,
    request: &Request,
) -> Result<Vec<KeyField>, Failure> {
    if request.on_conflict == OnConflict::Fail || !table.holds_rows {
        return Ok(Vec::new());
    }
    let asked: Vec<&str> = match (request.key.as_slice(), request.primary_key.as_slice()) {
        ([], [] | [_]) => vec![ID],
        ([], columns) | (columns, _) => {
            columns.iter().map(|name| fields::name(name, request)).collect()
        }
    };
    let is_asked = |key: &&Vec<String>| {
        key.len() == asked.len() && key.iter().all(|name| asked.contains(&name.as_str()))
    };
    let id = vec![ID.to_owned()];
    let Some(key) = [&id].into_iter().chain(&table.unique_keys).find(is_asked) else {
        return Ok(Vec::new());
    };
    let mut found: Vec<KeyField> =
        key.iter().map(|name| KeyField { name: name.clone(), kinds: Vec::new() }).collect();
    for direction in [1, -1] {
        let mut shown = Document::new();
        for name in key {
            shown = shown.int32(name, 1);
        }
        let end = Document::new()
            .string("find", &table.name)
            .document("sort", Document::new().int32(&key[0], direction))
            .document("projection", shown)
            .int32("limit", 1)
            .boolean("singleBatch", true);
        session
            .documents(end, |document| found.iter_mut().for_each(|field| field.see(document)))?;
    }
    Ok(found)
}

impl KeyField {
    fn see(&mut self, document: Raw<'_>) {
        let kind = document.get(&self.name).and_then(|value| word(value.kind));
        if let Some(kind) = kind.filter(|kind| !self.kinds.contains(kind)) {
            self.kinds.push(kind);
        }
    }

    /// The field of the source that gives its values.
    fn source<'f>(&self, request: &Request, facts: &'f Facts) -> Option<&'f FieldFacts> {
        facts.source.loaded().find(|field| fields::name(&field.name, request) == self.name)
    }
}

/// What is wrong with the key's values: all that were seen are of other kinds than those of the rows, or, as a note, some are.
pub(super) enum Fault {
    /// No row can be one of the documents.
    All(String),
    /// Some documents are no row's.
    Some(String),
}

impl Fault {
    pub(super) fn words(self) -> String {
        match self {
            Self::All(words) | Self::Some(words) => words,
        }
    }
}

/// Whether rows have keys of the kinds that documents have.
pub(super) fn fault(request: &Request, facts: &Facts, knobs: &Knobs) -> Option<Fault> {
    let wishes = fields::wishes_of(facts, knobs);
    ServerFacts::of(&facts.target).keys.iter().find_map(|key| {
        let field = key.source(request, facts)?;
        let column = column(field, request);
        let sent = match Store::of(&column, wishes).form() {
            Form::Integer | Form::Double | Form::Decimal => "number",
            Form::Boolean => "bool",
            Form::Date => "date",
            Form::Text => "string",
            Form::Binary => "binData",
            Form::Document => return None,
        };
        let other = key.kinds.iter().find(|kind| **kind != sent)?;
        let ty = match *other {
            "string" => Some("text"),
            "number" => Some("integer"),
            "bool" => Some("boolean"),
            "date" => Some("timestamp"),
            "binData" => Some("bytes"),
            _ => None,
        };
        let advice = match ty {
            Some(ty) => format!("--type {}={ty} sends the rows' as such", column.name),
            None => "--key COLUMN compares another".to_owned(),
        };
        let name = &key.name;
        Some(match key.kinds.contains(&sent) {
            true => Fault::Some(format!(
                "documents whose {name} is of kind {other} are none of the rows', whose values are of kind {sent}; {advice}"
            )),
            false => Fault::All(format!(
                "--on-conflict {}: {name} holds values of kind {other} in the collection, and {sent} in the rows, so no row is one of its documents; {advice}",
                request.on_conflict
            )),
        })
    })
}

/// The column that the load makes of a field.
fn column(field: &FieldFacts, request: &Request) -> Column {
    let asked = request.types.iter().find(|(name, _)| field.is_called(name));
    let ty = match asked {
        Some((_, ty)) => *ty,
        None if request.inference == Inference::Text => Type::Text,
        None => field.ty,
    };
    let basis = if asked.is_some() { Basis::Asked } else { Basis::Inferred };
    Column { name: field.name.clone(), ty, declared: None, basis, required: true }
}

/// The kind of a value; `None` where it is compared with nothing. Numbers of all widths are one kind.
fn word(found: u8) -> Option<&'static str> {
    Some(match found {
        kind::DOUBLE | kind::INT32 | kind::INT64 | kind::DECIMAL128 => "number",
        kind::STRING | kind::SYMBOL => "string",
        kind::BOOLEAN => "bool",
        kind::DATE => "date",
        kind::OBJECT_ID => "objectId",
        kind::BINARY => "binData",
        kind::DOCUMENT => "object",
        kind::ARRAY => "array",
        _ => return None,
    })
}
