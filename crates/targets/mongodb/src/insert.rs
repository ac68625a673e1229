//! The lane of both strategies: the encoder's documents behind one command after another, and what the server says of each.

use std::collections::HashMap;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering::Relaxed};
use std::sync::{Mutex, PoisonError};

use crate::bson::{Document, Raw, kind};
use crate::client::{self, Failure, Greeted, code};
use crate::encode::{NullKey, ROW_ID_AT};
use crate::facts::{ID, ServerFacts};
use crate::fields::{Fields, same_names};
use crate::ids::{self, Ids};
use crate::knobs::{DOCUMENTS_PER_BATCH, ORDERED};
use crate::session::Session;
use inrush_core::error::{Error, Result};
use inrush_core::flow::{Ack, Checksum, Chunk, Code, RowFault, Wire};
use inrush_core::target::Lane;
use inrush_core::{Job, OnConflict, Retry, Verify};
use inrush_net::staging;

/// What the lanes of a load share with it.
#[derive(Default)]
pub(super) struct Shared {
    /// What a lane found out before it gave up.
    pub(super) retry: Mutex<Option<Retry>>,
    /// Rows that are in the collection that takes them.
    pub(super) committed: AtomicU64,
    /// It isn't known which rows are in it: the connection broke, or the server has not accounted for all that it was sent.
    pub(super) unsure: AtomicBool,
}

/// What a lane knows of its load.
#[derive(Clone)]
pub(super) struct Errand {
    /// The collection that takes the rows.
    pub(super) collection: String,
    /// Its name in the end.
    pub(super) table: String,
    /// The names of the load's columns, and the fields that they become.
    pub(super) columns: Vec<String>,
    pub(super) fields: Vec<String>,
    /// Other unique keys than that of the ids.
    pub(super) has_unique_keys: bool,
    pub(super) on_conflict: OnConflict,
    /// The fields that `on_conflict` compares, and what NULL in them is.
    pub(super) key: Vec<String>,
    pub(super) null: NullKey,
    pub(super) sums: bool,
    pub(super) lanes: usize,
    /// In one command; 0 is as many as the server takes.
    pub(super) documents_max: usize,
    pub(super) ordered: bool,
    pub(super) concern: Concern,
    /// The ids of the rows, where these say which row a document is.
    pub(super) ids: Option<Ids>,
}

/// What writes wait for.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Concern {
    /// `majority`, `1` or `0`.
    pub(super) members: String,
    pub(super) journal: bool,
    pub(super) timeout: Option<i64>,
}

impl Concern {
    pub(super) fn document(&self) -> Document {
        let concern = match self.members.as_str() {
            "majority" => Document::new().string("w", "majority"),
            number => Document::new().int32("w", number.parse().unwrap_or(1)),
        };
        let concern = if self.journal { concern.boolean("j", true) } else { concern };
        match self.timeout {
            Some(millis) => concern.int64("wtimeout", millis),
            None => concern,
        }
    }

    fn is_deaf(&self) -> bool {
        self.members == "0"
    }
}

/// Rows `from..to` of a wire.
#[derive(Clone, Copy)]
struct Batch<'w> {
    wire: &'w Wire,
    all: &'w [u8],
    from: usize,
    to: usize,
}

impl<'w> Batch<'w> {
    fn bytes(&self) -> &'w [u8] {
        self.document(self.from, self.to)
    }

    fn document(&self, from: usize, to: usize) -> &'w [u8] {
        &self.all[offset(self.wire, from)..offset(self.wire, to)]
    }
}

/// Where row `row` begins in the wire's bytes.
fn offset(wire: &Wire, row: usize) -> usize {
    if row == 0 { 0 } else { wire.rows[row - 1].end as usize }
}

/// A row that the server refuses: its index in the batch.
struct Refused {
    index: usize,
    code: i64,
    message: String,
    /// The fields of the key that it repeats, where the server says so.
    key: Vec<String>,
}

/// What came of a batch.
enum Outcome {
    /// The first so many rows were looked at; of these some are bad.
    Seen(usize, Vec<Refused>),
    /// The server makes nothing of the whole of it, for the sake of one of its documents.
    Senseless(i64, String),
}

/// A lane.
pub(super) struct InsertLane<'l> {
    session: Session<'l>,
    stop: &'l AtomicBool,
    errand: Errand,
    shared: &'l Shared,
    bytes_max: usize,
    document_max: usize,
    batch_max: usize,
    told: bool,
    /// Rows that this lane has written; where there is one alone, that is all of them in their order.
    rows: u64,
    /// Documents with their ids.
    identified: Vec<u8>,
}

/// What a message has besides documents.
const HEAD_BYTES_MAX: usize = 16 << 10;

/// More than a document may have where a server adds an id of its own, or reads an update.
const UPDATE_BYTES: usize = 64;

impl<'l> InsertLane<'l> {
    pub(super) fn new(
        session: Session<'l>,
        stop: &'l AtomicBool,
        errand: Errand,
        shared: &'l Shared,
    ) -> Self {
        let Greeted { document_max, message_max, batch_max, .. } = session.greeted;
        let bytes_max = message_max.saturating_sub(HEAD_BYTES_MAX).max(document_max);
        let batch_max = match errand.documents_max {
            0 => batch_max,
            most => most.min(batch_max),
        };
        Self {
            session,
            stop,
            errand,
            shared,
            bytes_max,
            document_max,
            batch_max,
            told: false,
            rows: 0,
            identified: Vec::new(),
        }
    }

    fn is_update(&self) -> bool {
        matches!(self.errand.on_conflict, OnConflict::Replace | OnConflict::Update)
    }

    /// Where the batch ends that begins with row `from`.
    fn end(&self, wire: &Wire, from: usize, all: usize) -> usize {
        let to = all.min(from.saturating_add(self.batch_max));
        let last = offset(wire, from).saturating_add(self.bytes_max);
        let fitting = wire.rows[from..to].partition_point(|row| row.end as usize <= last);
        let to = from + fitting.max(1);
        // One that no server takes goes alone.
        let long = (from..to).find(|row| self.is_too_long(wire, *row));
        long.map_or(to, |row| row.max(from + 1))
    }

    fn is_too_long(&self, wire: &Wire, row: usize) -> bool {
        let room = if self.is_update() { UPDATE_BYTES } else { 0 };
        offset(wire, row + 1) - offset(wire, row) > self.document_max + room
    }

    /// Writes into the documents of a wire which rows they are.
    fn identify(&mut self, ids: Ids, wire: &Wire) -> Result<Vec<u8>> {
        let mut identified = std::mem::take(&mut self.identified);
        identified.clear();
        identified.extend_from_slice(&wire.bytes);
        for row in 0..wire.rows.len() {
            let at = offset(wire, row) + ROW_ID_AT;
            identified[at..at + ids::BYTES].copy_from_slice(&ids.row(self.rows)?);
            self.rows += 1;
        }
        Ok(identified)
    }

    /// Sends all rows, and gives those back that were skipped.
    fn batches(
        &mut self,
        wire: &Wire,
        all_bytes: &[u8],
        faults: &mut Vec<RowFault>,
    ) -> Result<Vec<u32>> {
        let mut skipped = Vec::new();
        // What is next comes last.
        let mut ahead = vec![(0, wire.rows.len())];
        while let Some((from, all)) = ahead.pop() {
            if from == all {
                continue;
            }
            // No command of a single document takes so long that it would be ended.
            if self.stop.load(Relaxed) {
                return Err(Error::interrupted());
            }
            let to = self.end(wire, from, all);
            if self.is_too_long(wire, from) {
                faults.push(self.too_long(wire, from));
                ahead.push((to, all));
                continue;
            }
            let batch = Batch { wire, all: all_bytes, from, to };
            match self.write(batch)? {
                Outcome::Seen(rows, refused) => {
                    let refused = match self.errand.ids {
                        Some(_) => self.missing(batch, refused)?,
                        None => refused,
                    };
                    let bad = refused.len() as u64;
                    for refused in refused {
                        if self.is_skipped(batch, &refused)? {
                            skipped.push((from + refused.index) as u32);
                            continue;
                        }
                        let fault = self.fault(from, refused);
                        self.refuse(fault, faults)?;
                    }
                    self.shared.committed.fetch_add(rows as u64 - bad, Relaxed);
                    ahead.push((from + rows, all));
                }
                Outcome::Senseless(code, message) if to - from == 1 => {
                    let refused = Refused { index: 0, code, message, key: Vec::new() };
                    let fault = self.fault(from, refused);
                    self.refuse(fault, faults)?;
                    ahead.push((to, all));
                }
                Outcome::Senseless(..) => {
                    let middle = from + (to - from) / 2;
                    ahead.extend([(to, all), (middle, to), (from, middle)]);
                }
            }
        }
        Ok(skipped)
    }

    /// Sends one batch.
    fn write(&mut self, batch: Batch<'_>) -> Result<Outcome> {
        let rows = batch.to - batch.from;
        let (verb, name) =
            if self.is_update() { ("update", "updates") } else { ("insert", "documents") };
        let command = Document::new()
            .string(verb, &self.errand.collection)
            .boolean("ordered", self.errand.ordered)
            .document("writeConcern", self.errand.concern.document());
        if self.errand.concern.is_deaf() {
            self.told = true;
            self.lose_count();
            let told = self
                .session
                .drive(|client, database| client.tell_with(database, command, name, batch.bytes()));
            return match told {
                Ok(()) => Ok(Outcome::Seen(rows, Vec::new())),
                Err(failure) => Err(self.explain(failure)),
            };
        }
        let answered = self
            .session
            .drive(|client, database| client.command_with(database, command, name, batch.bytes()));
        match answered {
            Ok(reply) => self.judge(reply.document(), rows),
            Err(Failure::Server(refused)) if is_senseless(refused.code) => {
                Ok(Outcome::Senseless(refused.code, refused.message))
            }
            Err(failure) => Err(self.explain(failure)),
        }
    }

    /// What the server says of a batch of so many rows.
    fn judge(&self, reply: Raw<'_>, rows: usize) -> Result<Outcome> {
        let mut refused = Vec::new();
        for error in reply.documents("writeErrors") {
            let code = error.number("code").unwrap_or_default();
            let message =
                error.text("errmsg").unwrap_or("the server refuses the document").to_owned();
            let index = error.number("index").and_then(|index| usize::try_from(index).ok());
            let Some(index) = index.filter(|index| *index < rows && !is_of_server(code)) else {
                self.lose_count();
                return Err(self.session.explain(client::refused(code, message)));
            };
            let key = error.document("keyPattern").map(Raw::elements).into_iter().flatten();
            let key = key.map(|(name, _)| String::from_utf8_lossy(name).into_owned()).collect();
            refused.push(Refused { index, code, message, key });
        }
        refused.sort_by_key(|refused| refused.index);
        refused.dedup_by_key(|refused| refused.index);
        let taken = reply.number("n").and_then(|n| usize::try_from(n).ok()).unwrap_or_default();
        let seen = match refused.first() {
            Some(first) if self.errand.ordered => first.index + 1,
            _ => rows,
        };
        let wanted = seen - refused.len();
        if taken != wanted {
            self.lose_count();
            return Err(Error::target(format!(
                "the server says that it took {taken} of {rows} documents and refused {}, and says nothing of the others",
                refused.len()
            ))
            .advise("--strategy insert-one sends one document after the other"));
        }
        if let Some(error) = reply.document("writeConcernError") {
            let code = error.number("code").unwrap_or_default();
            let message = error.text("errmsg").unwrap_or("the write concern can't be satisfied");
            // They are there, although not as safely as was asked for.
            self.shared.committed.fetch_add(wanted as u64, Relaxed);
            return Err(self.session.explain(client::refused(code, message)));
        }
        Ok(Outcome::Seen(seen, refused))
    }

    /// Leaves out of the refused what is there already, as this row of this partition.
    ///
    /// # Errors
    /// When another document has the row's id.
    fn missing(&mut self, batch: Batch<'_>, refused: Vec<Refused>) -> Result<Vec<Refused>> {
        let (repeated, mut missing): (Vec<_>, Vec<_>) =
            refused.into_iter().partition(|refused| refused.code == code::DUPLICATE_KEY);
        if repeated.is_empty() {
            return Ok(missing);
        }
        let sent = |refused: &Refused| {
            let row = batch.from + refused.index;
            batch.document(row, row + 1)
        };
        let id = |document: &[u8]| {
            let mut id = [0; ids::BYTES];
            id.copy_from_slice(&document[ROW_ID_AT..ROW_ID_AT + ids::BYTES]);
            id
        };
        let ids = repeated.iter().map(|refused| id(sent(refused)));
        let asked = ids.fold((Document::new(), 0), |(list, at), id| {
            (list.element(&at.to_string(), kind::BINARY, &ids::value(id)), at + 1)
        });
        let among = Document::new().element("$in", kind::ARRAY, &asked.0.finish());
        let find = Document::new()
            .string("find", &self.errand.collection)
            .document("filter", Document::new().document(ID, among));
        let mut there: HashMap<[u8; ids::BYTES], Vec<u8>> = HashMap::new();
        let found = self.session.documents(find, |document| {
            let bytes = document.bytes();
            if bytes.len() > ROW_ID_AT + ids::BYTES {
                there.insert(id(bytes), bytes.to_vec());
            }
        });
        found.map_err(|failure| self.explain(failure))?;
        for refused in repeated {
            let document = sent(&refused);
            match there.get(&id(document)) {
                Some(known) if known == document => {}
                Some(_) => {
                    return Err(Error::target(
                        "the partition was written before, at least in part, and its rows are not the same now",
                    )
                    .advise("rows of a partition have to be the same, in the same order, whenever it is written")
                    .advise("or give this load another name, when nothing of the first one is to stay"));
                }
                // Another key is the one that it repeats.
                None => missing.push(refused),
            }
        }
        missing.sort_by_key(|refused| refused.index);
        Ok(missing)
    }

    /// Which rows are in the target is not known from here on.
    fn lose_count(&self) {
        self.shared.unsure.store(true, Relaxed);
    }

    fn explain(&self, failure: Failure) -> Error {
        if matches!(failure, Failure::Lost(_) | Failure::Stopped) {
            self.lose_count();
        }
        self.session.explain(failure)
    }

    /// Whether the row is one that the request says to leave out.
    fn is_skipped(&mut self, batch: Batch<'_>, refused: &Refused) -> Result<bool> {
        if self.errand.on_conflict != OnConflict::Skip || refused.code != code::DUPLICATE_KEY {
            return Ok(false);
        }
        match refused.key.as_slice() {
            [] if !self.errand.has_unique_keys => Ok(true),
            // The server does not say which.
            [] => {
                let row = batch.from + refused.index;
                self.has_key_of(batch.document(row, row + 1))
            }
            key => Ok(same_names(key, &self.errand.key)),
        }
    }

    /// Whether a document of the collection has this one's key.
    fn has_key_of(&mut self, document: &[u8]) -> Result<bool> {
        let Some(document) = Raw::read(document) else { return Ok(false) };
        let mut filter = Document::new();
        for name in &self.errand.key {
            filter = match document.get(name) {
                Some(value) if !value.is_null() => {
                    filter.document(name, Document::new().value("$eq", value))
                }
                // Such an index holds no document without the field.
                None if self.errand.null == NullKey::Stored => return Ok(false),
                _ => {
                    let (kind, value) = self.errand.null.value();
                    filter.element(name, kind, &value)
                }
            };
        }
        let find = Document::new()
            .string("find", &self.errand.collection)
            .document("filter", filter)
            .int32("limit", 1)
            .boolean("singleBatch", true);
        let mut is_there = false;
        let found = self.session.documents(find, |_| is_there = true);
        found.map_err(|failure| self.explain(failure))?;
        Ok(is_there)
    }

    fn fault(&self, from: usize, refused: Refused) -> RowFault {
        let code = fault_code(refused.code);
        let named = match refused.key.as_slice() {
            [field] => Some(field.as_str()),
            [] if code == Code::DuplicateKey && !self.errand.has_unique_keys => Some(ID),
            _ => None,
        };
        let column = named.and_then(|field| {
            let at = self.errand.fields.iter().position(|known| known == field)?;
            Some(self.errand.columns[at].clone())
        });
        let message = staging::unhidden(&refused.message, &self.errand.table);
        let message = format!("{message} (code {})", refused.code);
        RowFault { row: (from + refused.index) as u32, column, code, message }
    }

    fn refuse(&self, fault: RowFault, faults: &mut Vec<RowFault>) -> Result<()> {
        // Another lane may have written the row that this one repeats, although it comes later in the source.
        if fault.code == Code::DuplicateKey && self.errand.lanes > 1 {
            let mut known = self.shared.retry.lock().unwrap_or_else(PoisonError::into_inner);
            known.get_or_insert(Retry::InOrder(None));
            return Err(Error::target(format!(
                "a row repeats a key, and with several connections which one came first is not known ({})",
                fault.message
            )));
        }
        faults.push(fault);
        Ok(())
    }

    fn too_long(&self, wire: &Wire, row: usize) -> RowFault {
        let bytes = offset(wire, row + 1) - offset(wire, row);
        let message =
            format!("the document takes {bytes} bytes, and the server takes {}", self.document_max);
        RowFault { row: row as u32, column: None, code: Code::TooLong, message }
    }
}

impl Lane for InsertLane<'_> {
    fn send(&mut self, chunk: &Chunk, wire: &Wire) -> Result<Ack> {
        let mut ack = Ack::default();
        let skipped = match self.errand.ids {
            None => self.batches(wire, &wire.bytes, &mut ack.faults)?,
            Some(ids) => {
                let identified = self.identify(ids, wire)?;
                let skipped = self.batches(wire, &identified, &mut ack.faults)?;
                self.identified = identified;
                skipped
            }
        };
        ack.faults.sort_by_key(|fault| fault.row);
        ack.skipped = skipped.len() as u64;
        ack.loaded = wire.rows.len() as u64 - ack.faults.len() as u64 - ack.skipped;
        if self.errand.sums {
            let columns = self.errand.columns.len();
            let mut sums = Checksum::new(columns);
            let bad = ack.faults.iter().map(|fault| fault.row);
            let mut left_out: Vec<u32> = bad.chain(skipped).collect();
            left_out.sort_unstable();
            let mut left_out = left_out.into_iter().peekable();
            for (row, cells) in (0..).zip(wire.cells.chunks_exact(columns.max(1))) {
                if left_out.next_if_eq(&row).is_none() {
                    sums.add_row(cells, chunk, wire);
                }
            }
            ack.checksum = Some(sums);
        }
        Ok(ack)
    }

    fn finish(&mut self) -> Result<()> {
        if self.told {
            // What nobody answered is done when what comes behind it is.
            let done = self.session.command(Document::new().int32("ping", 1));
            done.map_err(|failure| self.explain(failure))?;
        }
        Ok(())
    }
}

/// Whether a command failed for what one of its documents is: nothing of it was written
/// (<https://github.com/mongodb/mongo/blob/master/src/mongo/base/error_codes.yml>).
fn is_senseless(code: i64) -> bool {
    // BadValue, FailedToParse, TypeMismatch, Overflow, InvalidBSON, InvalidUTF8, BSONObjectTooLarge.
    matches!(code, 2 | 9 | 14 | 15 | 22 | 10_334)
}

/// Whether the server itself has a trouble that no document is to blame for.
fn is_of_server(code: i64) -> bool {
    matches!(
        code,
        // Host not found or reachable, unauthorized, expired, lock timeout, stale routing, shutdown, write conflict.
        6 | 7
            | 13
            | 24
            | 50
            | 63
            | 89
            | 91
            | 112
            | 133
            | 134
            | 150
            | 189
            | 202
            | 234
            | 262
            | 317
            | 358
            | 9001
            | 10_107
            | 11_600
            | 11_601
            | 11_602
            | 13_388
            | 13_435
            | 13_436
            | 14_031
    )
}

/// What a write error says of its row.
fn fault_code(code: i64) -> Code {
    match code {
        11_000 | 11_001 | 12_582 => Code::DuplicateKey,
        121 => Code::Constraint,
        // A document, or an index's key, that is too long.
        10_334 | 17_280 | 17_419 | 17_420 => Code::TooLong,
        // BadValue, FailedToParse, TypeMismatch, Overflow, InvalidBSON, InvalidIdField, names with dollars and points.
        2 | 9 | 14 | 15 | 22 | 52 | 53 | 55 | 57 => Code::Type,
        _ => Code::Constraint,
    }
}

/// What a lane has to know.
pub(super) fn errand(
    job: &Job,
    collection: &str,
    fields: &Fields,
    concern: Concern,
    ids: Option<Ids>,
) -> Errand {
    let server = ServerFacts::of(&job.facts.target);
    let has_unique_keys = match job.choice.action.makes_table() {
        true => job.request.primary_key.len() > 1,
        false => server.seen.has_unique_keys,
    };
    let columns: Vec<String> =
        job.choice.columns.iter().map(|column| column.name.clone()).collect();
    let knobs = &job.choice.knobs;
    let is_vague = match job.request.on_conflict {
        OnConflict::Fail => false,
        OnConflict::Skip => has_unique_keys && !server.names_keys(),
        OnConflict::Replace | OnConflict::Update => server.is_ferret,
    };
    let documents_max = match is_vague {
        // What such a server says of several is not enough to know which of them it took, and why not the others.
        true => 1,
        false => knobs.get_count(&DOCUMENTS_PER_BATCH).unwrap_or(1) as usize,
    };
    Errand {
        collection: collection.to_owned(),
        table: job.table.clone(),
        key: fields.key_names(job),
        null: NullKey::of(job, fields),
        columns,
        fields: fields.names().to_vec(),
        has_unique_keys,
        on_conflict: job.request.on_conflict,
        sums: job.request.verify == Verify::Checksum,
        lanes: job.choice.lanes,
        documents_max,
        // Each duplicate would end a batch.
        ordered: knobs.is(&ORDERED, "yes") && ids.is_none(),
        concern,
        ids,
    }
}
