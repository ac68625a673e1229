//! A load into a collection, step by step.

use std::collections::BTreeMap;
use std::sync::atomic::{AtomicBool, Ordering::Relaxed};
use std::sync::{Arc, PoisonError};
use std::time::{SystemTime, UNIX_EPOCH};

use crate::bson::{Document, Raw, Value, kind};
use crate::client::{Failure, refused};
use crate::connect::{self, Place};
use crate::encode::{self, Common};
use crate::facts::{self, CAPPED, ID, PLAIN, Seen, ServerFacts, TIME_SERIES, VIEW};
use crate::fields;
use crate::ids::{self, Ids};
use crate::insert::{self, Concern, InsertLane, Shared};
use crate::keys;
use crate::knobs::{JOURNAL, WRITE_CONCERN};
use crate::session::Session;
use crate::staging::{self, Staging};
use crate::types::{Form, Store};
use inrush_core::encode::Shape;
use inrush_core::error::{Aftermath, Error, Result};
use inrush_core::flow::checksum::Stored;
use inrush_core::flow::{Cell, Checksum, Encode, RowMark};
use inrush_core::target::{
    Ended, Fit, Inspect, Knobs, Lane, Load, Memory, Sent, Snapshot, Verdict,
};
use inrush_core::unique;
use inrush_core::{
    Action, Durability, Facts, IfExists, Job, OnConflict, Request, Retry, Type, Verify,
};

/// Whether the rows go into a hidden collection first, which then takes the name.
fn is_staged(request: &Request, facts: &Facts) -> bool {
    facts.kept_table(request).is_none_or(|table| {
        !request.shares_table
            && request.if_exists == IfExists::Truncate
            && request.on_conflict == OnConflict::Fail
            && table.storage.as_deref() == Some(PLAIN)
            // A collection in shards would be replaced by one in one piece.
            && !ServerFacts::of(&facts.target).is_router
    })
}

/// Below so many bytes of input a second connection has nothing to do.
const BYTES_FOR_LANES: u64 = 4 << 20;

/// More connections than this help no server.
const LANES_MAX: usize = 64;

/// What both strategies answer to `fit`.
pub(super) fn fit(request: &Request, facts: &Facts, knobs: &mut Knobs) -> Fit {
    let unusable = |reason: String| Fit::Unusable { reason };
    let kept = facts.kept_table(request);
    let ferret = ServerFacts::of(&facts.target).is_ferret;
    let storage = facts.target.table.as_ref().and_then(|table| table.storage.as_deref());
    if let Some(reason) = storage.and_then(|storage| storage_fault(storage, request)) {
        return unusable(reason);
    }
    let wrong = |reason: String, advice: &str| Fit::Wrong { reason, advice: advice.to_owned() };
    if let Some(reason) = id_fault(request, facts) {
        return wrong(reason, "--rename or --drop takes one of the two out of its way");
    }
    if let Some(reason) = name_fault(request, facts) {
        return unusable(reason);
    }
    if kept.is_some()
        && let Some((reason, advice)) = keys::fault(request, facts, knobs)
    {
        return wrong(reason, &advice);
    }
    let names: Vec<&str> =
        facts.source.loaded().map(|field| fields::name(&field.name, request)).collect();
    let has_id = names.contains(&ID);
    if kept.is_some() && request.primary_key.len() > 1 {
        return wrong(
            "an existing collection has its primary key, _id".to_owned(),
            "--primary-key names the one column for it",
        );
    }
    if request.on_conflict != OnConflict::Fail
        && request.key.is_empty()
        && !has_id
        && request.primary_key.len() < 2
    {
        return wrong(
            "--on-conflict compares _id, and no column gives it".to_owned(),
            "--primary-key COLUMN says which, --key COLUMN compares another",
        );
    }
    if let Some(rows) = &request.row_ids {
        if rows.partition >= ids::PARTITIONS_MAX {
            return unusable(format!(
                "a job's partitions are numbered up to {}",
                ids::PARTITIONS_MAX - 1
            ));
        }
        if has_id && request.on_conflict == OnConflict::Fail {
            return unusable("a partition that is written twice would repeat the ids that a column gives: --on-conflict skip, update or replace says what then".to_owned());
        }
    }
    let deaf = knobs.is(&WRITE_CONCERN, "0");
    if deaf && request.row_ids.is_some() {
        return unusable(
            "with write_concern=0 the server does not say which rows are there already".to_owned(),
        );
    }
    if deaf && (request.verify == Verify::None || request.on_conflict != OnConflict::Fail) {
        return unusable("with write_concern=0 the server says of no row whether it took it: only --verify count or checksum would tell, without --on-conflict".to_owned());
    }
    if deaf && ferret {
        return unusable("FerretDB does not know write_concern=0".to_owned());
    }
    if deaf && knobs.is(&JOURNAL, "yes") {
        return unusable(
            "write_concern=0 waits for nothing, journal=yes for the journal".to_owned(),
        );
    }
    if request.shares_table && request.row_ids.is_none() && request.verify == Verify::Checksum {
        return unusable("others write into the collection meanwhile, and nothing tells their documents apart: --verify count or none".to_owned());
    }
    let staged = is_staged(request, facts);
    // Where keys may be repeated the order of rows decides which is the bad one, and what is in the target can't be undone.
    let keyed = has_id
        || request.primary_key.len() > 1
        || kept.is_some() && ServerFacts::of(&facts.target).seen.has_unique_keys;
    let changes = request.on_conflict != OnConflict::Fail;
    let lanes_max = if (staged || !keyed) && !changes { LANES_MAX } else { 1 };
    let large = facts.source.bytes.is_none_or(|bytes| bytes >= BYTES_FOR_LANES);
    // Of a pipe nobody can say a second time which of two rows came first.
    let in_order = keyed && !facts.source.seekable;
    // FerretDB writes into one SQLite file, or one table.
    let lanes =
        if large && !in_order && !ferret { facts.processors.clamp(2, 4).min(lanes_max) } else { 1 };
    Fit::Usable {
        atomic: staged,
        durability: Durability::Durable,
        weakness: None,
        lanes,
        lanes_max,
        // The server does most of the work, and may be on this machine.
        encoders: (facts.processors / 2).max(1),
        notes: notes(request, facts, knobs, staged),
    }
}

/// Why what the collection is does not allow what is asked for.
fn storage_fault(storage: &str, request: &Request) -> Option<String> {
    let why = match (storage, request.if_exists) {
        (VIEW, IfExists::Replace) => {
            "the target is a view, whose place no collection takes: drop it first"
        }
        (VIEW, _) => {
            "the target is a view, which takes no rows: load into the collection behind it"
        }
        (TIME_SERIES, IfExists::Replace) => {
            "the target is a time series, whose place no collection takes: drop it first"
        }
        (TIME_SERIES, _) if request.on_conflict != OnConflict::Fail => {
            "the target is a time series, which has no unique key: no row is another's duplicate, so --on-conflict has nothing to compare"
        }
        (CAPPED, IfExists::Truncate) => "rows of a capped collection can't be deleted",
        (CAPPED, how) if how != IfExists::Replace && request.verify == Verify::Checksum => {
            "a capped collection drops its oldest documents as new ones come, so its sums can't be compared: --verify count or none"
        }
        _ => return None,
    };
    Some(why.to_owned())
}

/// Why two columns would be the field `_id`.
fn id_fault(request: &Request, facts: &Facts) -> Option<String> {
    let [key] = request.primary_key.as_slice() else { return None };
    let has_id = facts.source.loaded().any(|field| field.name == ID);
    (has_id && !key.eq_ignore_ascii_case(ID))
        .then(|| format!("column {key} would become _id, and there is a column _id"))
}

/// Why the source's names can't be those of fields that this request asks for.
fn name_fault(request: &Request, facts: &Facts) -> Option<String> {
    let names = || facts.source.loaded().map(|field| field.name.as_str());
    if let OnConflict::Replace | OnConflict::Update = request.on_conflict
        && let Some(odd) = request.key.iter().find(|name| fields::is_odd(name))
    {
        let how = request.on_conflict;
        return Some(format!(
            "--on-conflict {how} would look for {odd} as a field within another, and the rows' is none"
        ));
    }
    match request.on_conflict {
        OnConflict::Fail | OnConflict::Skip => None,
        how @ (OnConflict::Replace | OnConflict::Update) => {
            let is_operator = |name: &&str| name.starts_with('$');
            let operator = names().find(is_operator).map(|name| {
                format!("--on-conflict {how} would take {name} for an operator: --rename '{name}=NAME' gives it another name")
            });
            let within = |name: &&str| how == OnConflict::Update && fields::is_odd(name);
            operator.or_else(|| names().find(within).map(|name| {
                format!("--on-conflict update would take {name} for a field within another: --on-conflict replace does not")
            }))
        }
    }
}

/// How the load goes about it.
fn notes(request: &Request, facts: &Facts, knobs: &Knobs, staged: bool) -> Vec<String> {
    let ferret = ServerFacts::of(&facts.target).is_ferret;
    let replaces = facts.target.table.is_some();
    let mut notes = Vec::new();
    notes.push(match (staged, replaces) {
        (true, false) => "the rows go into a hidden collection, which gets its name when all are in: a rename".to_owned(),
        (true, true) if ferret => "the rows go into a hidden collection; when all are in, the existing one is dropped, and the hidden one gets its name".to_owned(),
        (true, true) => "the rows go into a hidden collection, which takes the place of the existing one when all are in: a rename".to_owned(),
        (false, _) => "straight into the existing collection: MongoDB has no transaction for so many rows, so whoever looks sees them come".to_owned(),
    });
    let names = || facts.source.loaded().map(|field| field.name.as_str());
    match request.primary_key.as_slice() {
        [key] if !key.eq_ignore_ascii_case(ID) => {
            notes.push(format!("the values of column {key} become the field _id, which is every document's primary key"));
        }
        [] if !names().any(|name| name == ID) => {
            notes.push("documents get an _id made here, for no column is called _id (--primary-key COLUMN takes one)".to_owned());
        }
        [_, _, ..] => {
            notes.push("a unique index keeps the primary key's columns, and documents get an _id made here".to_owned());
        }
        _ => {}
    }
    let is_odd = |name: &&str| name.starts_with('$') || name.contains('.');
    if let Some(name) = names().find(is_odd) {
        notes.push(format!("queries reach a field called {name} by $getField alone"));
    }
    if is_capped(request, facts) {
        notes.push("a capped collection drops its oldest documents as new ones come, so the rows in it are not counted".to_owned());
    }
    let wishes = fields::wishes_of(facts, knobs);
    let types = facts.source.loaded().map(|field| &field.ty).chain(request.types.values());
    if !wishes.decimals && types.into_iter().any(|ty| matches!(ty, Type::Decimal { .. })) {
        notes.push("FerretDB has no decimals, so they are stored as text".to_owned());
    }
    notes
}

/// Whether the rows go into a collection that makes room for them by dropping others.
fn is_capped(request: &Request, facts: &Facts) -> bool {
    let kept = facts.kept_table(request).and_then(|table| table.storage.as_deref());
    kept == Some(CAPPED)
}

pub(super) fn memory(request: &Request) -> Memory {
    // The narrowest field is a delimiter, and noted in a cell where values are summed; documents and decimals are noted twice.
    let cells = if request.verify == Verify::Checksum { size_of::<Cell>() + 4 } else { 0 };
    Memory {
        wire_bytes_per_byte: encode::GROWTH + cells + size_of::<RowMark>() / 2,
        // Connections, their buffers, and the program itself.
        fixed_bytes: 16 << 20,
        chunk_bytes: 256 << 10,
    }
}

/// A load under way.
pub(super) struct MongoLoad<'a> {
    job: &'a Job,
    stop: &'a AtomicBool,
    place: Arc<Place>,
    session: Session<'a>,
    staging: Option<Staging>,
    common: Arc<Common>,
    shape: Arc<Shape>,
    shared: Shared,
    before: Snapshot,
    /// The rename, or what deletes the old rows, was sent, and no answer came.
    unsure: bool,
    /// Rows of the target were deleted, or others have taken their place.
    changed: bool,
}

impl<'a> MongoLoad<'a> {
    pub(super) fn start(job: &'a Job, stop: &'a AtomicBool) -> Result<Box<dyn Load + 'a>> {
        let place = Arc::new(connect::place(&job.location.secret)?);
        let session = Session::open(&place, stop)?;
        let now = SystemTime::now().duration_since(UNIX_EPOCH).unwrap_or_default();
        let seconds = u32::try_from(now.as_secs()).unwrap_or(u32::MAX);
        let mut load = Self {
            job,
            stop,
            place,
            session,
            staging: None,
            common: Arc::new(Common::of(job, seconds)),
            shape: Arc::clone(&job.shape),
            shared: Shared::default(),
            before: Snapshot::default(),
            unsure: false,
            changed: false,
        };
        match load.prepare() {
            Ok(()) => Ok(Box::new(load)),
            // Rows that were deleted stay so.
            Err(error) => Err(error.leaving(load.abort())),
        }
    }

    /// Makes the collection ready.
    fn prepare(&mut self) -> Result<()> {
        let job = self.job;
        staging::sweep(&mut self.session);
        let found = facts::read_table(&mut self.session, &job.table, &mut Seen::default());
        job.expects(found.map_err(|failure| self.session.explain(failure))?, false)?;
        if is_staged(&job.request, &job.facts) {
            self.staging = Some(Staging::make(&mut self.session, job)?);
            return Ok(());
        }
        if job.choice.action == Action::Truncate {
            self.changed = true;
            let all = Document::new().document("q", Document::new()).int32("limit", 0);
            let delete = Document::new().string("delete", &job.table).array("deletes", [all]);
            let deleted = self.run(delete);
            self.unsure = self.session.is_lost();
            deleted?;
        }
        // What is there of the partition is the load's own.
        if self.ids().is_none() {
            self.before = self.snapshot(job.request.verify)?;
        }
        Ok(())
    }

    fn run(&mut self, command: Document) -> Result<()> {
        let answered = self.session.command(command).and_then(|reply| {
            let reply = reply.document();
            let error =
                reply.documents("writeErrors").next().or(reply.document("writeConcernError"));
            match error {
                Some(error) => {
                    let code = error.number("code").unwrap_or_default();
                    Err(refused(code, error.text("errmsg").unwrap_or("the server refuses it")))
                }
                None => Ok(()),
            }
        });
        answered.map_err(|failure| self.session.explain(failure))
    }

    /// The ids of the rows, where these say which row of a job a document is.
    fn ids(&self) -> Option<Ids> {
        let rows = self.job.request.row_ids.as_ref()?;
        let makes = encode::makes_ids(self.job, &self.common.fields);
        makes.then(|| Ids::of(&rows.job, rows.partition))
    }

    /// Which documents are the load's; `None` where others write meanwhile, and nothing tells them apart.
    fn own(&self) -> Option<Document> {
        match self.ids() {
            Some(ids) => {
                let [first, last] = ids.ends().map(ids::value);
                let range = Document::new().element("$gte", kind::BINARY, &first).element(
                    "$lte",
                    kind::BINARY,
                    &last,
                );
                Some(Document::new().document(ID, range))
            }
            None => (!self.job.request.shares_table).then(Document::new),
        }
    }

    /// The collection that takes the rows.
    fn collection(&self) -> &str {
        self.staging.as_ref().map_or(&self.job.table, |staging| &staging.name)
    }

    /// Whether the end can wait for all that came before it. Time series take no updates, so their inserts wait each by itself.
    fn settles_at_the_end(&self) -> bool {
        let kept = self.job.kept_table();
        kept.and_then(|table| table.storage.as_deref()) != Some(TIME_SERIES)
    }

    /// What an insert waits for: the user's knobs, then the URL.
    fn concern(&self) -> Concern {
        if !self.settles_at_the_end() {
            return self.promise();
        }
        let knobs = &self.job.choice.knobs;
        let word = knobs.word(&WRITE_CONCERN).to_owned();
        let members = match &self.place.write_concern {
            Some(asked) if !knobs.is_set(&WRITE_CONCERN) && asked != "0" => asked.clone(),
            _ => word,
        };
        let journal = match self.place.journal {
            Some(asked) if !knobs.is_set(&JOURNAL) => asked,
            _ => knobs.is(&JOURNAL, "yes"),
        };
        Concern { members, journal, timeout: self.place.write_timeout }
    }

    /// What the load's end waits for.
    fn promise(&self) -> Concern {
        let (members, journal) = match self.job.request.durability {
            Durability::Durable => ("majority", true),
            // The server's own log is written every 100 ms, and a crash of its process loses what is not.
            Durability::Process => ("1", true),
            Durability::None => ("1", false),
        };
        Concern { members: members.to_owned(), journal, timeout: self.place.write_timeout }
    }

    /// Waits until everything that was written is as safe as was promised: an update that finds nothing to do waits for all that
    /// came before it (<https://www.mongodb.com/docs/manual/reference/write-concern/>).
    fn settle(&mut self) -> Result<()> {
        // FerretDB waits for its database's log at each insert, whatever the concern, and would read the whole collection for the id.
        let waits_always = ServerFacts::of(&self.job.facts.target).is_ferret;
        if waits_always || !self.settles_at_the_end() {
            return Ok(());
        }
        let nobody = Document::new().string("_id", &format!("inrush_{}", unique::word()));
        let change = Document::new().document("$set", Document::new().int32("inrush", 1));
        let nothing = Document::new().document("q", nobody).document("u", change);
        let command = Document::new()
            .string("update", self.collection())
            .array("updates", [nothing])
            .document("writeConcern", self.promise().document());
        self.run(command)
    }

    /// The same on FerretDB over SQLite, which takes longer to unpack all documents, only to count them, than to store them. Its
    /// statistics are no estimate: for each it counts the cells in the leaves of the table's tree (<https://sqlite.org/dbstat.html>).
    fn cells(&mut self) -> Result<u64> {
        let command = Document::new().string("collStats", self.collection());
        let reply = self.session.command(command);
        let reply = reply.map_err(|failure| self.session.explain(failure))?;
        Ok(reply.document().number("count").and_then(|rows| u64::try_from(rows).ok()).unwrap_or(0))
    }

    /// The error of a collection that did not get the target's name. Where the old one is gone, the rows stay in the one that has them.
    fn unnamed(&mut self, failure: Failure) -> Error {
        let error = self.session.explain(failure);
        let Some(staging) = self.staging.take_if(|staging| staging.is_alone) else { return error };
        self.changed = true;
        self.shared.committed.store(0, Relaxed);
        let (hidden, table) = (&staging.name, &self.job.table);
        let left = match self.unsure {
            true => format!(
                "the old collection {table} is dropped, or may be; the new rows are in collection {hidden}, unless that has got its name"
            ),
            false => format!(
                "the old collection {table} is dropped, and the new rows are in collection {hidden}, which did not get its name"
            ),
        };
        Error::new(error.kind(), format!("{}: {left}", error.what())).advise(format!(
            "give it the name (db.{hidden}.renameCollection(\"{table}\")), or drop it and run the load again"
        ))
    }

    fn settings(&self) -> BTreeMap<String, String> {
        let promise = self.promise();
        let mut settings = BTreeMap::from([
            ("w".to_owned(), promise.members.clone()),
            ("j".to_owned(), promise.journal.to_string()),
        ]);
        settings.extend(
            self.session.greeted.replica_set.clone().map(|name| ("replica_set".to_owned(), name)),
        );
        settings
    }
}

/// Adds a document's values.
fn add(document: Raw<'_>, common: &Common, sums: &mut Checksum) {
    let names = common.fields.names();
    let mut given = vec![false; names.len()];
    let mut next = 0;
    for (name, value) in document.elements() {
        let is_it = |at: &usize| names.get(*at).is_some_and(|known| known.as_bytes() == name);
        let at = Some(next).filter(is_it).or_else(|| (0..names.len()).find(is_it));
        let Some(at) = at else { continue };
        next = at + 1;
        given[at] = true;
        add_value(at, common.stores[at], value, sums);
    }
    for at in (0..names.len()).filter(|at| !given[*at]) {
        sums.add(at, Stored::Null);
    }
}

fn add_value(column: usize, store: Store, value: Value<'_>, sums: &mut Checksum) {
    let is_whole = matches!(value.kind, kind::INT32 | kind::INT64);
    let stored = match store.form() {
        _ if value.is_null() => Some(Stored::Null),
        Form::Integer => value.number().filter(|_| is_whole).map(Stored::Integer),
        Form::Double => value.double().map(Stored::Real),
        Form::Boolean => value.boolean().map(|truth| Stored::Integer(truth.into())),
        Form::Date => value.date().map(Stored::Integer),
        Form::Text => value.string().map(Stored::Text),
        Form::Binary => value.binary().map(Stored::Bytes),
        Form::Decimal | Form::Document => None,
    };
    match stored {
        Some(stored) => sums.add(column, stored),
        // Of another kind than it was sent, it is another value; documents are compared with their kind, too.
        None => sums.add(column, Stored::Bytes(&[&[value.kind], value.bytes].concat())),
    }
}

impl Inspect for MongoLoad<'_> {
    type Failure = Error;

    fn rows(&mut self) -> Result<Option<u64>> {
        let Some(own) = self.own() else { return Ok(None) };
        if is_capped(&self.job.request, &self.job.facts) {
            return Ok(None);
        }
        if ServerFacts::of(&self.job.facts.target).is_on_sqlite && self.ids().is_none() {
            return self.cells().map(Some);
        }
        let own = Document::new().document("$match", own);
        let count = Document::new().string("$count", "n");
        let command = Document::new()
            .string("aggregate", self.collection())
            .array("pipeline", [own, count])
            .document("cursor", Document::new());
        let mut rows = 0;
        let counted = self.session.documents(command, |found| {
            rows = found.number("n").and_then(|rows| u64::try_from(rows).ok()).unwrap_or_default();
        });
        counted.map_err(|failure| self.session.explain(failure))?;
        Ok(Some(rows))
    }

    fn sums(&mut self) -> Result<Checksum> {
        let common = Arc::clone(&self.common);
        let mut sums = Checksum::new(self.job.choice.columns.len());
        let own = self.own().unwrap_or_else(Document::new);
        let find = Document::new().string("find", self.collection()).document("filter", own);
        let read = self.session.documents(find, |document| add(document, &common, &mut sums));
        read.map_err(|failure| self.session.explain(failure))?;
        Ok(sums)
    }
}

impl Load for MongoLoad<'_> {
    fn encoder(&self) -> Box<dyn Encode> {
        encode::encoder(Arc::clone(&self.shape), self.job, &self.common)
    }

    fn lanes(&mut self) -> Result<Vec<Box<dyn Lane + '_>>> {
        let errand = insert::errand(
            self.job,
            self.collection(),
            &self.common.fields,
            self.concern(),
            self.ids(),
        );
        let mut lanes: Vec<Box<dyn Lane + '_>> = Vec::new();
        for _ in 0..self.job.choice.lanes {
            let own = self.session.another(self.stop)?;
            lanes.push(Box::new(InsertLane::new(own, self.stop, errand.clone(), &self.shared)));
        }
        Ok(lanes)
    }

    fn indexes(&self) -> bool {
        !self.job.request.indexes.is_empty()
    }

    fn complete(&mut self) -> Result<()> {
        let columns = &self.job.choice.columns;
        let field = |name: &String| {
            let at = columns.iter().position(|column| column.name.eq_ignore_ascii_case(name));
            at.map_or_else(|| name.clone(), |at| self.common.fields.name(at).to_owned())
        };
        let indexes = self.job.request.indexes.iter();
        let indexes: Vec<Document> = indexes
            .map(|names| staging::index(&names.iter().map(field).collect::<Vec<_>>()))
            .collect();
        let collection = self.collection().to_owned();
        let built = staging::build(&mut self.session, &collection, indexes);
        built.map_err(|failure| self.session.explain(failure))
    }

    fn verify(&mut self, sent: &Sent) -> Result<Verdict> {
        let after = self.snapshot(self.job.request.verify)?;
        let verdict = sent.verdict(&self.before, &after, self.job);
        if verdict.ok {
            // All that was sent is there, whether the server has said so or not.
            self.shared.unsure.store(false, Relaxed);
        }
        Ok(verdict)
    }

    fn retry(&mut self, _ended_by: Ended) -> Option<Retry> {
        self.shared.retry.get_mut().unwrap_or_else(PoisonError::into_inner).take()
    }

    fn commit(&mut self, note: &dyn Fn(&str)) -> Result<BTreeMap<String, String>> {
        self.settle()?;
        if let Some(staging) = &mut self.staging {
            if let Err(failure) = staging.publish(&mut self.session, self.job, note) {
                self.unsure = matches!(failure, Failure::Lost(_));
                return Err(self.unnamed(failure));
            }
            self.staging = None;
            self.changed = true;
            // The name has to be as safe as the rows.
            self.settle()?;
        }
        Ok(self.settings())
    }

    fn abort(&mut self) -> Aftermath {
        self.session.unwatch();
        if self.unsure {
            return Aftermath::Unknown;
        }
        if let Some(staging) = self.staging.take() {
            // What can't be dropped now has no owner any more: the next load drops it.
            let dropped = staging.discard(&mut self.session);
            if !dropped && self.session.is_lost() && self.session.reconnect().is_ok() {
                staging.discard(&mut self.session);
            }
            return Aftermath::NothingChanged;
        }
        let rows = self.shared.committed.load(Relaxed);
        match rows {
            _ if self.shared.unsure.load(Relaxed) => Aftermath::Unknown,
            0 if !self.changed => Aftermath::NothingChanged,
            rows => Aftermath::Committed { rows },
        }
    }
}

impl Drop for MongoLoad<'_> {
    fn drop(&mut self) {
        if let Some(staging) = self.staging.take() {
            self.session.unwatch();
            staging.discard(&mut self.session);
        }
    }
}
