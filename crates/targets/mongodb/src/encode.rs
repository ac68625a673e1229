//! Rows as documents, or as what an update says of them: the bytes that go out.

use std::sync::Arc;

use crate::bson::{self, Document, kind};
use crate::facts::{ID, ServerFacts};
use crate::fields::{Fields, same_names};
use crate::ids;
use crate::knobs::NULLS;
use crate::types::{Kept, Store};
use inrush_core::encode::{self, BadValue, EncodeRow, Row, Shape};
use inrush_core::flow::{Cell, Encode, Home, Span, Wire};
use inrush_core::{Job, OnConflict, Verify};

/// Bytes of output for a byte of input: an empty field is one, and becomes a null with a name of up to a dozen characters; a
/// document has a head, an id and an end besides.
pub(super) const GROWTH: usize = 24;

/// What all encoders of a load share.
pub(super) struct Common {
    pub(super) fields: Fields,
    pub(super) stores: Vec<Store>,
    ids: IdSource,
}

impl Common {
    pub(super) fn of(job: &Job, seconds: u32) -> Self {
        let fields = Fields::of(job);
        let wishes = crate::fields::wishes(job);
        let stores = job.choice.columns.iter().map(|column| Store::of(column, wishes)).collect();
        Self { fields, stores, ids: IdSource::new(seconds) }
    }
}

/// Whether documents get their ids here: no column gives it, and there is no document that might be there already.
pub(super) fn makes_ids(job: &Job, fields: &Fields) -> bool {
    fields.id_column().is_none()
        && matches!(job.request.on_conflict, OnConflict::Fail | OnConflict::Skip)
}

/// An encoder for one thread.
pub(super) fn encoder(shape: Arc<Shape>, job: &Job, common: &Arc<Common>) -> Box<dyn Encode> {
    encode::encoder(shape, Documents::new(job, common))
}

/// Ids that nobody else makes: those of one load ascend, so that the index grows at its end
/// (<https://www.mongodb.com/docs/manual/reference/bson-types/#objectid>).
struct IdSource {
    seconds: u32,
}

impl IdSource {
    fn new(seconds: u32) -> Self {
        Self { seconds }
    }

    /// Ids for one encoder: what tells it from all others is random.
    fn ids(&self) -> Ids {
        let word = u64::from_str_radix(&inrush_core::unique::word(), 16).unwrap_or_default();
        let [a, b, c, d, e, ..] = word.to_le_bytes();
        Ids { seconds: self.seconds, random: [a, b, c, d, e], counter: 0 }
    }
}

/// How a document gets its id here.
enum MadeId {
    /// One that nobody else makes.
    Own(Ids),
    /// Room for one that says which row this is: only the lane knows that.
    Row,
}

impl MadeId {
    #[inline]
    fn put(&mut self, out: &mut Vec<u8>) {
        let is_row = matches!(self, MadeId::Row);
        out.push(if is_row { kind::BINARY } else { kind::OBJECT_ID });
        out.extend_from_slice(b"_id\0");
        match self {
            MadeId::Own(ids) => ids.put(out),
            MadeId::Row => out.extend_from_slice(&ids::value([0; ids::BYTES])),
        }
    }
}

/// Where in a document the bytes of such an id are: behind the document's length, the value's kind, its name, and its head.
pub(super) const ROW_ID_AT: usize = 4 + 1 + 4 + ids::VALUE_BYTES - ids::BYTES;

struct Ids {
    seconds: u32,
    random: [u8; 5],
    counter: u32,
}

impl Ids {
    #[inline]
    fn put(&mut self, out: &mut Vec<u8>) {
        out.extend_from_slice(&self.seconds.to_be_bytes());
        out.extend_from_slice(&self.random);
        out.extend_from_slice(&self.counter.to_be_bytes()[1..]);
        self.counter += 1;
        if self.counter == 1 << 24 {
            // As if a second had passed: a load has no more than its own ids.
            self.counter = 0;
            self.seconds = self.seconds.wrapping_add(1);
        }
    }
}

/// A column, in the order of the document.
struct Field {
    /// The load's column.
    column: usize,
    /// With the NUL at its end.
    name: Vec<u8>,
    store: Store,
    required: bool,
    /// Whether an update finds documents by it.
    is_key: bool,
}

/// Encodes a row as a document, or as an update.
struct Documents {
    fields: Vec<Field>,
    /// Where no column gives it, and the document needs one.
    ids: Option<MadeId>,
    statement: Statement,
    omits_nulls: bool,
    /// Whether values are noted for the checksum.
    sums: bool,
    /// What NULL in a key is to the index.
    null: NullKey,
    /// A document that goes into an update, and the elements by which it finds the existing one.
    document: Vec<u8>,
    query: Vec<u8>,
}

/// Which documents have the key of a row that has a NULL in it: never more than the index says are one.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(super) enum NullKey {
    /// To the index a field that is missing is null, and one document at most has either
    /// (<https://www.mongodb.com/docs/manual/core/index-unique/#missing-document-field-in-a-unique-single-field-index>).
    OrMissing,
    /// Documents without the field are no part of the index, so that there may be any number.
    Stored,
}

impl NullKey {
    pub(super) fn of(job: &Job, fields: &Fields) -> Self {
        let server = ServerFacts::of(&job.facts.target);
        let key = fields.key_names(job);
        // A new collection has its own index, which is whole.
        let is_kept = !job.choice.action.makes_table();
        let is_sparse =
            is_kept && server.seen.sparse_keys.iter().any(|sparse| same_names(sparse, &key));
        // FerretDB's indexes hold no document without the field, whatever they are said to be.
        if is_sparse || server.is_ferret { Self::Stored } else { Self::OrMissing }
    }

    /// What a query asks of the field: a value's kind and bytes.
    pub(super) fn value(self) -> (u8, Vec<u8>) {
        match self {
            Self::OrMissing => (kind::NULL, Vec::new()),
            Self::Stored => {
                (kind::DOCUMENT, Document::new().int32("$type", kind::NULL.into()).finish())
            }
        }
    }

    /// The element of a query, `name` with the NUL at its end.
    fn put(self, name: &[u8], out: &mut Vec<u8>) {
        let (kind, value) = self.value();
        out.push(kind);
        out.extend_from_slice(name);
        out.extend_from_slice(&value);
    }
}

/// The element of a query for a value that is no NULL, from that of a document.
fn put_equal(element: &[u8], name_bytes: usize, out: &mut Vec<u8>) {
    let (head, value) = element.split_at(1 + name_bytes);
    out.extend_from_slice(head);
    if head[0] != kind::DOCUMENT {
        out.extend_from_slice(value);
        return;
    }
    // Else what is in it could be taken for operators.
    let equals = bson::open(out);
    out.push(kind::DOCUMENT);
    out.extend_from_slice(b"$eq\0");
    out.extend_from_slice(value);
    equals.close(out);
}

#[derive(Clone, Copy, PartialEq, Eq)]
enum Statement {
    Insert,
    Replace,
    Update,
}

impl Documents {
    fn new(job: &Job, common: &Arc<Common>) -> Self {
        let columns = &job.choice.columns;
        let statement = match job.request.on_conflict {
            OnConflict::Fail | OnConflict::Skip => Statement::Insert,
            OnConflict::Replace => Statement::Replace,
            OnConflict::Update => Statement::Update,
        };
        let key = match statement {
            Statement::Insert => Vec::new(),
            Statement::Replace | Statement::Update => common.fields.key(job),
        };
        let field = |column: usize| {
            let name = common.fields.name(column);
            Field {
                column,
                name: [name.as_bytes(), b"\0"].concat(),
                store: common.stores[column],
                required: columns[column].required || name == ID,
                is_key: key.contains(&column),
            }
        };
        let mut fields: Vec<Field> = (0..columns.len()).map(field).collect();
        // The server would put it there.
        fields.sort_by_key(|field| field.name != b"_id\0");
        let ids = makes_ids(job, &common.fields).then(|| match job.request.row_ids {
            Some(_) => MadeId::Row,
            None => MadeId::Own(common.ids.ids()),
        });
        Self {
            fields,
            ids,
            statement,
            omits_nulls: job.choice.knobs.is(&NULLS, "omit"),
            sums: job.request.verify == Verify::Checksum,
            null: NullKey::of(job, &common.fields),
            document: Vec::new(),
            query: Vec::new(),
        }
    }

    /// Writes the document's elements.
    #[inline(always)]
    fn elements<R: Row>(
        &mut self,
        row: &R,
        (cells, values): (&mut Vec<Cell>, &mut Vec<u8>),
        out: &mut Vec<u8>,
    ) -> Result<(), BadValue<'static>> {
        let first = cells.len();
        if self.sums {
            cells.resize(first + self.fields.len(), Cell::Null);
        }
        if let Some(ids) = &mut self.ids {
            ids.put(out);
        }
        for field in &self.fields {
            let at = out.len();
            out.push(kind::NULL);
            out.extend_from_slice(&field.name);
            let start = out.len();
            let typed = row.typed(field.column).and_then(|typed| field.store.put_typed(typed, out));
            let (kept, place) = match typed {
                Some(kept) => (Some(kept), None),
                None => {
                    out.truncate(start);
                    match row.value(field.column, values) {
                        None => (None, None),
                        Some((home, span)) => {
                            let text = row.bytes(home, span, values);
                            let bad =
                                |(code, wanted)| BadValue { column: field.column, code, wanted };
                            let kept = field.store.put(text, out).map_err(bad)?;
                            (Some(kept), Some((home, span)))
                        }
                    }
                }
            };
            let Some((kind, kept)) = kept else {
                if field.required {
                    return Err(BadValue::null(field.column));
                }
                if field.is_key {
                    self.null.put(&field.name, &mut self.query);
                }
                if self.omits_nulls {
                    out.truncate(at);
                }
                continue;
            };
            out[at] = kind;
            if field.is_key {
                match kind {
                    // JSON has a null of its own.
                    kind::NULL => self.null.put(&field.name, &mut self.query),
                    _ => put_equal(&out[at..], field.name.len(), &mut self.query),
                }
            }
            if self.sums {
                cells[first + field.column] = match (kept, place) {
                    (Kept::Integer(number), _) => Cell::Integer(number),
                    (Kept::Real(number), _) => Cell::Real(number),
                    (Kept::Text, Some((home, span))) => Cell::Text(home, span),
                    (Kept::Bytes, Some((home, span))) => Cell::Bytes(home, span),
                    // JSON has a null of its own.
                    _ if kind == kind::NULL => Cell::Null,
                    _ => {
                        let span =
                            Span { at: values.len() as u32, len: (1 + out.len() - start) as u32 };
                        values.push(kind);
                        values.extend_from_slice(&out[start..]);
                        Cell::Bytes(Home::Wire, span)
                    }
                };
            }
        }
        Ok(())
    }
}

impl EncodeRow for Documents {
    #[inline]
    fn row<R: Row>(&mut self, row: &R, wire: &mut Wire) -> Result<(), BadValue<'_>> {
        let Wire { cells, values, bytes, .. } = wire;
        if self.statement == Statement::Insert {
            let document = bson::open(bytes);
            self.elements(row, (cells, values), bytes)?;
            document.close(bytes);
            return Ok(());
        }
        let mut document = std::mem::take(&mut self.document);
        document.clear();
        self.query.clear();
        let written = self.elements(row, (cells, values), &mut document);
        if written.is_ok() {
            put_update(self.statement, &document, &self.query, bytes);
        }
        self.document = document;
        written
    }
}

/// `{q: {key}, u: {...} or {$set: {...}}, upsert: true}`.
fn put_update(statement: Statement, elements: &[u8], key: &[u8], out: &mut Vec<u8>) {
    let begin = |name: &[u8], out: &mut Vec<u8>| {
        out.push(kind::DOCUMENT);
        out.extend_from_slice(name);
        bson::open(out)
    };
    let whole = bson::open(out);
    let query = begin(b"q\0", out);
    out.extend_from_slice(key);
    query.close(out);
    let update = begin(b"u\0", out);
    match statement {
        Statement::Update => {
            let set = begin(b"$set\0", out);
            out.extend_from_slice(elements);
            set.close(out);
        }
        Statement::Insert | Statement::Replace => out.extend_from_slice(elements),
    }
    update.close(out);
    out.push(kind::BOOLEAN);
    out.extend_from_slice(b"upsert\0\x01");
    whole.close(out);
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::bson::Raw;
    use crate::types::Wishes;
    use inrush_core::{Basis, Column, Type};

    fn encoder_of(column: &Column, wishes: Wishes) -> Documents {
        let store = Store::of(column, wishes);
        let field =
            Field { column: 0, name: b"a\0".to_vec(), store, required: false, is_key: false };
        Documents {
            fields: vec![field],
            ids: None,
            statement: Statement::Insert,
            omits_nulls: false,
            sums: false,
            null: NullKey::OrMissing,
            document: Vec::new(),
            query: Vec::new(),
        }
    }

    #[test]
    fn values_become_what_their_texts_become() {
        let types = [
            Type::Integer,
            Type::Float,
            Type::Decimal { precision: 0, scale: 0 },
            Type::Decimal { precision: 12, scale: 3 },
            Type::Boolean,
            Type::Date,
            Type::Timestamp { zone: false },
            Type::Timestamp { zone: true },
            Type::Text,
        ];
        let mut encoders = Vec::new();
        for (decimals, text_timestamps) in [(true, false), (false, true)] {
            let wishes = Wishes { decimals, wide: !decimals, text_timestamps, ..Wishes::ALL };
            for (ty, pinned) in types.iter().flat_map(|ty| [(*ty, true), (*ty, false)]) {
                let column = Column {
                    name: "a".to_owned(),
                    ty,
                    declared: None,
                    basis: if pinned { Basis::Declared } else { Basis::Inferred },
                    required: false,
                };
                encoders.push((format!("{column:?}"), encoder_of(&column, wishes)));
            }
        }
        inrush_proof::check(encoders);
    }

    #[test]
    fn ids_ascend_and_no_two_are_the_same() {
        let source = IdSource::new(7);
        let (mut one, mut other) = (source.ids(), source.ids());
        let make = |ids: &mut Ids| {
            let mut out = Vec::new();
            ids.put(&mut out);
            out
        };
        let first = make(&mut one);
        assert_eq!((first.len(), &first[..4]), (12, &[0, 0, 0, 7][..]));
        assert!(first < make(&mut one));
        assert_ne!(first[4..9], make(&mut other)[4..9]);
        one.counter = (1 << 24) - 1;
        let last = make(&mut one);
        assert!(last < make(&mut one));
    }

    #[test]
    fn an_update_looks_for_the_key_and_says_the_rest() {
        let elements = Document::new().int32("_id", 1).int32("n", 2).finish();
        let elements = &elements[4..elements.len() - 1];
        let mut out = Vec::new();
        put_update(Statement::Update, elements, &elements[..9], &mut out);
        let update = Raw::read(&out).unwrap();
        assert_eq!(update.document("q").unwrap().number("_id"), Some(1));
        assert_eq!(update.document("q").unwrap().elements().count(), 1);
        assert_eq!(update.document("u").unwrap().document("$set").unwrap().number("n"), Some(2));
        assert!(update.is_true("upsert"));
    }

    #[test]
    fn a_key_is_looked_for_as_the_index_has_it() {
        let query = |put: &dyn Fn(&mut Vec<u8>)| {
            let mut out = Vec::new();
            let whole = bson::open(&mut out);
            put(&mut out);
            whole.close(&mut out);
            out
        };
        let found = query(&|out| NullKey::OrMissing.put(b"a\0", out));
        assert!(Raw::read(&found).unwrap().get("a").unwrap().is_null());
        let found = query(&|out| NullKey::Stored.put(b"a\0", out));
        let found = Raw::read(&found).unwrap();
        assert_eq!(found.document("a").unwrap().number("$type"), Some(10));
        let element = |document: Document| {
            let bytes = document.finish();
            bytes[4..bytes.len() - 1].to_vec()
        };
        let found = query(&|out| put_equal(&element(Document::new().int32("a", 7)), 2, out));
        assert_eq!(Raw::read(&found).unwrap().number("a"), Some(7));
        // No operator of a query.
        let value = Document::new().document("a", Document::new().int32("$gt", 7));
        let found = query(&|out| put_equal(&element(value.clone()), 2, out));
        let found = Raw::read(&found).unwrap();
        let equal = found.document("a").unwrap().document("$eq").unwrap();
        assert_eq!(equal.number("$gt"), Some(7));
    }
}
