//! What there is to know of a server and a collection before a load.

use crate::bson::{Document, Raw, Value, kind};
use crate::client::{Failure, Reply, code, code_of};
use crate::fields;
use crate::keys::{self, KeyField};
use crate::knobs::TIMESTAMPS;
use crate::lost;
use crate::session::Session;
use inrush_core::error::{Error, Result};
use inrush_core::value::double::Specials;
use inrush_core::{IfExists, MomentLimits, Own, Request, TableFacts, TargetFacts};

/// What only this target knows: what the server is.
#[derive(Debug, Default)]
pub(super) struct ServerFacts {
    /// The database.
    pub(super) database: String,
    /// Its protocol, by number.
    pub(super) wire_version: i64,
    /// Whether it hands on what others keep, in shards.
    pub(super) is_router: bool,
    /// Whether it is FerretDB.
    pub(super) is_ferret: bool,
    /// Whether it is FerretDB, and keeps its documents in SQLite.
    pub(super) is_on_sqlite: bool,
    /// The key by which rows are documents of the collection, where that holds it.
    pub(super) keys: Vec<KeyField>,
    /// What was seen of the collection.
    pub(super) seen: Seen,
}

/// What of a collection no other table has.
#[derive(Debug, Default)]
pub(super) struct Seen {
    /// The fields of its first document, and the kinds of their values.
    pub(super) fields: Vec<(String, u8)>,
    /// Whether any index but that of the ids keeps documents unique, be it only some of them.
    pub(super) has_unique_keys: bool,
    /// Those of its unique keys whose index holds no document without their fields.
    pub(super) sparse_keys: Vec<Vec<String>>,
}

impl Seen {
    /// The kind of the first document's field.
    pub(super) fn kind(&self, name: &str) -> Option<u8> {
        self.fields.iter().find(|(field, _)| field == name).map(|(_, kind)| *kind)
    }

    /// The kind of the first document's id, where a column may have given it: those that are made for documents without one are of
    /// kinds that no source has.
    pub(super) fn given_id(&self) -> Option<u8> {
        self.kind(ID).filter(|found| !matches!(*found, kind::OBJECT_ID | kind::BINARY))
    }
}

/// The protocol of MongoDB 4.4, the first to say which key a document repeats.
const NAMES_KEYS: i64 = 9;

impl ServerFacts {
    pub(super) fn of(facts: &TargetFacts) -> &Self {
        facts.own.get()
    }

    /// Whether the server says of a document that repeats a key, which one.
    pub(super) fn names_keys(&self) -> bool {
        self.wire_version >= NAMES_KEYS && !self.is_ferret
    }
}

/// What a collection may be that takes rows and can be replaced by another.
pub(super) const PLAIN: &str = "collection";
pub(super) const CAPPED: &str = "capped collection";
pub(super) const VIEW: &str = "view";
pub(super) const TIME_SERIES: &str = "timeseries";

/// The name of every document's own key.
pub(super) const ID: &str = "_id";

/// The facts of a load into `collection`.
pub(super) fn gather(
    session: &mut Session<'_>,
    collection: &str,
    request: &Request,
) -> Result<TargetFacts> {
    let is_text = request.knobs.get(TIMESTAMPS.name).is_some_and(|kept| kept == "text");
    let (engine, is_ferret) = {
        let info = session.command(Document::new().int32("buildInfo", 1));
        let info = info.map_err(|failure| session.explain(failure))?;
        let is_ferret = ferret(info.document()).is_some();
        check_name(session.database(), collection)?;
        (engine(info.document()), is_ferret)
    };
    let mut server = ServerFacts {
        database: session.database().to_owned(),
        wire_version: session.greeted.wire_version,
        is_router: session.greeted.is_router,
        is_ferret,
        is_on_sqlite: is_ferret && is_on_sqlite(session),
        keys: Vec::new(),
        seen: Seen::default(),
    };
    let table = read_table(session, collection, &mut server.seen);
    let table = table.map_err(|failure| session.explain(failure))?;
    let replaces = matches!(request.if_exists, IfExists::Replace | IfExists::Truncate);
    if is_ferret && collection.contains('.') && (replaces || table.is_none()) {
        return Err(unnamed(
            collection,
            "FerretDB renames no collection to a name with a point, and a new one gets its name so",
        ));
    }
    if let Some(found) = &table
        && !replaces
        && found.holds_rows
        // Others have no index on _id.
        && matches!(found.storage.as_deref(), Some(PLAIN | CAPPED))
    {
        let keys = keys::read(session, found, &server.seen, request);
        server.keys = keys.map_err(|failure| session.explain(failure))?;
    }
    let mut lost_with = Vec::new();
    if let Some(found) = &table
        && request.if_exists == IfExists::Replace
        && found.storage.as_deref() != Some(VIEW)
    {
        lost_with = lost::read(session, collection).map_err(|failure| session.explain(failure))?;
    }
    Ok(TargetFacts {
        engine,
        lost_with,
        mentioned_by: Vec::new(),
        held_by: Vec::new(),
        // A database is there as soon as something is written into it.
        exists: true,
        table,
        // More than any document has room for.
        columns_max: u32::MAX as usize,
        name_fault: Some(fields::name_fault(&server)),
        moments: if is_text { MomentLimits::default() } else { MomentLimits::of(3) },
        // FerretDB hangs up on who sends a NaN, and refuses infinities.
        specials: if is_ferret { Specials::None } else { Specials::All },
        own: Own::new(server),
        round_trip: session.round_trip(),
        ..TargetFacts::default()
    })
}

fn ferret(info: Raw<'_>) -> Option<&str> {
    info.text("ferretdbVersion").or_else(|| info.document("ferretdb")?.text("version"))
}

/// Whether FerretDB says that SQLite is behind it. Who may not ask is told no, and loses nothing but time.
fn is_on_sqlite(session: &mut Session<'_>) -> bool {
    let log = session.admin(Document::new().string("getLog", "startupWarnings"));
    let says = |reply: &Reply| {
        let lines = reply.document().get("log");
        lines.is_some_and(|lines| memchr::memmem::find(lines.bytes, b" and SQLite ").is_some())
    };
    log.as_ref().is_ok_and(says)
}

/// The engine and its version, for people.
pub(super) fn engine(info: Raw<'_>) -> String {
    let version = info.text("version").unwrap_or("of unknown version");
    match ferret(info) {
        Some(ferret) => {
            format!("FerretDB {} (as MongoDB {version})", ferret.trim_start_matches('v'))
        }
        None => format!("MongoDB {version}"),
    }
}

/// <https://www.mongodb.com/docs/manual/reference/limits/#naming-restrictions>
fn check_name(database: &str, collection: &str) -> Result<()> {
    /// Of database and collection together, with the point between them.
    const NAME_MAX: usize = 255;
    let what = if collection.contains('$') {
        "no collection's name may hold a $"
    } else if collection.starts_with("system.") {
        "names that begin with 'system.' are the server's own"
    } else if collection.starts_with('.') || collection.ends_with('.') {
        "no collection's name begins or ends with a point"
    } else if database.len() + 1 + collection.len() > NAME_MAX {
        "the name is too long"
    } else {
        return Ok(());
    };
    Err(unnamed(collection, what))
}

/// The error of a name that the collection can't have.
fn unnamed(collection: &str, what: &str) -> Error {
    Error::usage(format!("--table {collection}: {what}")).advise("name another --table")
}

/// The collection, if it is there, and what is `seen` of it.
pub(super) fn read_table(
    session: &mut Session<'_>,
    collection: &str,
    seen: &mut Seen,
) -> Result<Option<TableFacts>, Failure> {
    let mut storage = None;
    session.catalogue(list(collection), |found| {
        let capped = found.document("options").is_some_and(|options| options.is_true("capped"));
        storage = Some(match found.text("type") {
            Some("collection") | None if capped => CAPPED.to_owned(),
            Some(kind) => kind.to_owned(),
            None => PLAIN.to_owned(),
        });
    })?;
    let Some(storage) = storage else { return Ok(None) };
    let is_view = storage == VIEW;
    // Those that all documents have to keep, and those that all documents have to keep that have their fields.
    let (mut whole, mut sparse): (Vec<Vec<String>>, Vec<_>) = Default::default();
    if !is_view {
        indexes(session, collection, |index| {
            let key = key_of(index);
            if !index.is_true("unique") || key == [ID] {
                return;
            }
            seen.has_unique_keys = true;
            // What holds for some documents of its own choice is no key of all rows.
            if index.document("partialFilterExpression").is_none() {
                let keys = if index.is_true("sparse") { &mut sparse } else { &mut whole };
                keys.push(key);
            }
        })?;
    }
    sparse.retain(|key| !whole.iter().any(|other| fields::same_names(other, key)));
    seen.sparse_keys.clone_from(&sparse);
    let mut holds_rows = false;
    let first =
        Document::new().string("find", collection).int32("limit", 1).boolean("singleBatch", true);
    session.catalogue(first, |document| {
        holds_rows = true;
        let names = document.elements();
        let named = |(name, value): (&[u8], Value<'_>)| {
            (String::from_utf8_lossy(name).into_owned(), value.kind)
        };
        seen.fields = names.map(named).collect();
    })?;
    Ok(Some(TableFacts {
        name: collection.to_owned(),
        storage: Some(storage),
        takes_any: true,
        holds_rows,
        primary_key: vec![ID.to_owned()],
        unique_keys: [whole, sparse].concat(),
        ..TableFacts::default()
    }))
}

/// The command that lists one collection.
pub(super) fn list(collection: &str) -> Document {
    let filter = Document::new().string("name", collection);
    Document::new().int32("listCollections", 1).document("filter", filter)
}

/// Hands each index of a collection to `each`.
pub(super) fn indexes(
    session: &mut Session<'_>,
    collection: &str,
    each: impl FnMut(Raw<'_>),
) -> Result<(), Failure> {
    let listed = session.catalogue(Document::new().string("listIndexes", collection), each);
    match listed {
        // It went meanwhile.
        Err(failure) if code_of(&failure) == code::NAMESPACE_NOT_FOUND => Ok(()),
        listed => listed,
    }
}

/// Whether it is the index that every collection has: another one of the ids, which may be hashed or descend, is a user's.
pub(super) fn is_default(index: Raw<'_>) -> bool {
    let key = index.document("key");
    key.is_some_and(|key| key.elements().count() == 1 && key.number(ID) == Some(1))
}

/// The fields of an index.
pub(super) fn key_of(index: Raw<'_>) -> Vec<String> {
    let fields = index.document("key").map(Raw::elements).into_iter().flatten();
    fields.map(|(name, _): (&[u8], Value<'_>)| String::from_utf8_lossy(name).into_owned()).collect()
}
