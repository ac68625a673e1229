//! By which fields, and values of which kinds, rows are documents of a collection: to the server `1` and `'1'` are two keys, and `sku` and
//! `SKU` two fields.

use crate::bson::{Document, Raw, kind};
use crate::client::Failure;
use crate::facts::{ID, Seen, ServerFacts};
use crate::fields;
use crate::session::Session;
use crate::types::{Form, Store, Wishes};
use inrush_core::target::Knobs;
use inrush_core::wording::{said_of, shell_word};
use inrush_core::{
    Basis, Column, Facts, FieldFacts, IfExists, Inference, OnConflict, Request, TableFacts, Type,
};

/// A field of the key by which rows are documents, and the kinds of its values that were seen, in the words of the server's `$type`.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct KeyField {
    name: String,
    kinds: Vec<&'static str>,
}

/// Looks at the first and the last document by the key's index. Values are in the order of their kinds there, so where both ends are of
/// one kind nearly all are. Of a load that compares no keys what was `seen` has to do.
pub(super) fn read(
    session: &mut Session<'_>,
    table: &TableFacts,
    seen: &Seen,
    request: &Request,
) -> Result<Vec<KeyField>, Failure> {
    if request.on_conflict == OnConflict::Fail {
        let given = seen.given_id().and_then(word);
        return Ok(given
            .map(|kind| KeyField { name: ID.to_owned(), kinds: vec![kind] })
            .into_iter()
            .collect());
    }
    let asked: Vec<&str> = match (request.key.as_slice(), request.primary_key.as_slice()) {
        ([], [] | [_]) => vec![ID],
        ([], columns) | (columns, _) => {
            columns.iter().map(|name| fields::name(name, request)).collect()
        }
    };
    let is_asked = |key: &&Vec<String>| {
        let has = |name: &String| asked.iter().any(|asked| asked.eq_ignore_ascii_case(name));
        key.len() == asked.len() && key.iter().all(has)
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

/// Why `--key` compares a field that no index has: names that differ in case are one to the planner, and two to the server.
fn name_fault(request: &Request, facts: &Facts) -> Option<(String, String)> {
    let table = facts.kept_table(request)?;
    let own =
        |name: &String| facts.source.loaded().find(|field| field.name.eq_ignore_ascii_case(name));
    let fields: Vec<&FieldFacts> = request.key.iter().filter_map(own).collect();
    let names: Vec<String> =
        fields.iter().map(|field| fields::name(&field.name, request).to_owned()).collect();
    let keys: Vec<&Vec<String>> =
        [&table.primary_key].into_iter().chain(&table.unique_keys).collect();
    if names.is_empty() || keys.iter().any(|key| fields::same_names(key, &names)) {
        return None;
    }
    let alike = |key: &&&Vec<String>| {
        let has = |name: &String| key.iter().any(|field| field.eq_ignore_ascii_case(name));
        key.len() == names.len() && names.iter().all(has)
    };
    let key = keys.iter().find(alike)?;
    let (at, name) = names.iter().enumerate().find(|(_, name)| !key.contains(name))?;
    let field = key.iter().find(|field| field.eq_ignore_ascii_case(name))?;
    Some((
        format!(
            "--key {}: the collection's key is {field}, and the source's column {name}: to MongoDB these are two fields, so no row would be one of the documents",
            request.key.join(",")
        ),
        format!(
            "--rename {} loads the column into that field",
            shell_word(&format!("{}={field}", fields[at].source_name()))
        ),
    ))
}

/// What is wrong with the kinds of the key's values.
enum Fault {
    /// No row can be one of the documents: why, and what to try.
    All(String, String),
    /// Some documents are no row's, or may be none: what the user should know.
    Some(String),
}

/// Where rows have keys of other kinds than documents.
fn kind_faults(request: &Request, facts: &Facts, knobs: &Knobs) -> impl Iterator<Item = Fault> {
    let wishes = fields::wishes_of(facts, knobs);
    ServerFacts::of(&facts.target).keys.iter().filter_map(move |key| {
        let field = key.source(request, facts)?;
        let column = column(field, request);
        let sent = sent(field, request, wishes)?;
        let other = *key.kinds.iter().find(|kind| **kind != sent)?;
        let ty = match other {
            "string" => Some("text"),
            "number" => Some("integer"),
            "bool" => Some("boolean"),
            "date" => Some("timestamp"),
            "binData" => Some("bytes"),
            _ => None,
        };
        let compares = request.on_conflict != OnConflict::Fail;
        let advice = match ty {
            Some(ty) => format!("{} sends the rows' as such", said_of("--type", &column.name, ty)),
            None if compares => "--key COLUMN compares another".to_owned(),
            None => "--type names another".to_owned(),
        };
        let name = &key.name;
        Some(match () {
            () if field.reads.is_null && column.basis == Basis::Inferred => Fault::Some(format!(
                "no value of {} was seen: if there are some, they are of kind {sent}, and {name} of documents is of kind {other} ({advice})",
                column.name
            )),
            () if compares && !key.kinds.contains(&sent) => Fault::All(
                format!(
                    "--on-conflict {}: {name} holds values of kind {other} in the collection, and {sent} in the rows, so no row is one of its documents",
                    request.on_conflict
                ),
                advice,
            ),
            () => Fault::Some(format!(
                "documents whose {name} is of kind {other} are none of the rows', whose values are of kind {sent} ({advice})"
            )),
        })
    })
}

/// Why no row can be one of the documents, and what to try.
pub(super) fn fault(request: &Request, facts: &Facts, knobs: &Knobs) -> Option<(String, String)> {
    let of_all = |fault| match fault {
        Fault::All(reason, advice) => Some((reason, advice)),
        Fault::Some(_) => None,
    };
    name_fault(request, facts).or_else(|| kind_faults(request, facts, knobs).find_map(of_all))
}

/// What the user should know of columns that could be fields of the documents, and are not, by the first of these.
pub(super) fn cautions(request: &Request, facts: &Facts, knobs: &Knobs) -> Vec<String> {
    let mut cautions = Vec::new();
    if facts.kept_table(request).is_none() || request.if_exists == IfExists::Truncate {
        return cautions;
    }
    cautions.extend(kind_faults(request, facts, knobs).filter_map(|fault| match fault {
        Fault::Some(words) => Some(words),
        Fault::All(..) => None,
    }));
    let seen = &ServerFacts::of(&facts.target).seen;
    let new: Vec<&FieldFacts> = facts
        .source
        .loaded()
        .filter(|field| seen.kind(fields::name(&field.name, request)).is_none())
        .collect();
    let has_id = facts.source.loaded().any(|field| fields::name(&field.name, request) == ID);
    if let Some(kind) = seen.given_id().and_then(word).filter(|_| !has_id) {
        let wishes = fields::wishes_of(facts, knobs);
        let may_be_it = |field: &&&FieldFacts| sent(field, request, wishes) == Some(kind);
        let names: Vec<&str> =
            new.iter().filter(may_be_it).map(|field| field.name.as_str()).collect();
        if let Some(first) = names.first() {
            cautions.push(format!(
                "the rows get an _id made here, and the collection's first document has one that was given, but no field {}: \
                 --primary-key {} if that column is what _id holds",
                names.join(" or "),
                shell_word(first)
            ));
        }
    }
    let alike = |field: &&FieldFacts| {
        let fields = seen.fields.iter().map(|(name, _)| name);
        let mut alike = fields.filter(|name| name.eq_ignore_ascii_case(&field.name));
        Some((field.source_name().to_owned(), alike.next()?.clone()))
    };
    if let Some((column, field)) = new.iter().find_map(alike) {
        cautions.push(format!(
            "documents have a field {field}, and column {column} becomes another one, for MongoDB tells case apart (--rename {column}={field} makes it the same)"
        ));
    }
    cautions
}

/// The kind of a field's values as documents have them; `None` where that is said by each value.
fn sent(field: &FieldFacts, request: &Request, wishes: Wishes) -> Option<&'static str> {
    Some(match Store::of(&column(field, request), wishes).form() {
        Form::Integer | Form::Double | Form::Decimal => "number",
        Form::Boolean => "bool",
        Form::Date => "date",
        Form::Text => "string",
        Form::Binary => "binData",
        Form::Document => return None,
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
