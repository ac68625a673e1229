//! What the server, the database and the table are.

use std::collections::BTreeMap;

use crate::ddl::{self, Table, literal, quote};
use crate::lost;
use crate::orphans::{self, OwnKey};
use crate::session::{self, Failure, Session, pairs, state};
use crate::types::{self, AMOUNT};
use inrush_core::Basis;
use inrush_core::error::{Error, Kind, Result};
use inrush_core::ledger::{self, Entries, Entry};
use inrush_core::target::TableName;
use inrush_core::value::double::Specials;
use inrush_core::value::rule::Truths;
use inrush_core::{
    Column, IfExists, MomentLimits, OnConflict, Own, Request, TableFacts, TargetFacts, Type,
};
use inrush_net::TextRows;

/// <https://www.postgresql.org/docs/current/limits.html>
const COLUMNS_MAX: usize = 1600;

/// What only this target knows: where the table is or will be, how the server is set and what it lets the user do.
#[derive(Debug, Default)]
pub(super) struct ServerFacts {
    /// Those of [`SETTINGS`] that it knows, by their names. Sizes have their unit.
    settings: BTreeMap<String, String>,
    /// How it writes an amount of [`AMOUNT`], and on a line of its own the same below zero; the setting `lc_monetary` says so.
    pub(super) amount: String,
    /// Whether it is on this machine, and has the same files.
    pub(super) is_local: bool,
    /// Whether it is a standby, which only reads.
    pub(super) recovers: bool,
    /// Whether the user may have it read files.
    pub(super) reads_files: bool,
    /// Whether the user may make temporary tables.
    pub(super) makes_temporary: bool,
    /// Whether the user may make tables in the schema.
    pub(super) creates: bool,
    /// How many connections the user may have besides the one that asks, where user or database have a limit.
    connections: Option<usize>,
    /// The table's schema.
    pub(super) schema: String,
    /// The table, as the user names it.
    pub(super) table: String,
    /// Columns of the existing table that count by themselves and take no other number in an update.
    pub(super) always_identity: Vec<String>,
    /// Whether row-level security decides which rows of the existing table the user sees and may change.
    pub(super) is_secured: bool,
    /// Whether triggers have a say in rows of the existing table before they are written.
    pub(super) triggers_decide: bool,
    /// Whether rows may be gone that a statement says it has written into the existing table.
    pub(super) loses_written: bool,
    /// What the partition of the existing table is that keeps rows the least, where one is no plain table.
    pub(super) weakest_part: Option<String>,
    /// Foreign keys of the existing table that refer to itself.
    pub(super) own_keys: Vec<OwnKey>,
    /// Keys of the existing table that can wait for the end of a transaction.
    pub(super) late_keys: Vec<LateKey>,
    /// Constraint triggers of the existing table that can wait for the end of a transaction.
    pub(super) late_triggers: Vec<String>,
    /// Publications that have whatever table is made in the schema, and are followed by its name.
    pub(super) publications: Vec<String>,
}

impl ServerFacts {
    pub(super) fn of(facts: &TargetFacts) -> &Self {
        facts.own.get()
    }

    /// Lanes for which there are connections, besides the one that publishes what they bring; `None` without a limit.
    pub(super) fn lanes_max(&self) -> Option<usize> {
        self.connections.map(|connections| connections.saturating_sub(1))
    }

    /// The value of one of [`SETTINGS`]; empty where the server doesn't know it.
    pub(super) fn setting(&self, name: &str) -> &str {
        debug_assert!(SETTINGS.contains(&name), "{name} was not asked for");
        self.settings.get(name).map_or("", String::as_str)
    }
}

/// Settings that bear on loads. One that a server doesn't know is left out.
const SETTINGS: [&str; 13] = [
    "TimeZone",
    "array_nulls",
    "checkpoint_timeout",
    "default_transaction_read_only",
    "fsync",
    "full_page_writes",
    "maintenance_work_mem",
    "max_wal_size",
    "server_encoding",
    "server_version",
    "shared_buffers",
    "synchronous_commit",
    "wal_level",
];

/// Those of them on which it depends which strategy is the fastest.
const BEARING: [&str; 8] = [
    "checkpoint_timeout",
    "fsync",
    "full_page_writes",
    "maintenance_work_mem",
    "max_wal_size",
    "shared_buffers",
    "synchronous_commit",
    "wal_level",
];

pub(super) fn gather(
    session: &mut Session<'_>,
    table: &str,
    request: &Request,
) -> Result<TargetFacts> {
    let name = TableName::of(request, table, ddl::QUOTES)?;
    let name = name.within("PostgreSQL", (ddl::NAME_MAX, "bytes"), str::len)?;
    let [settings, entry] =
        session.tables([&all_settings(), &table_entry(&name)]).map_err(|failure| {
            match state(&failure) {
                session::NOT_ENCODED => session::not_encoded("table", table, "its encoding")
                    .advise("--table NAME loads into a table of another name"),
                _ => session.explain(failure),
            }
        })?;
    let mut server = server(session, settings);
    let table = with_columns(session, entry)?;
    (server.schema, server.creates) = match &table {
        Some(found) => (found.schema.clone(), found.creates),
        None => schema_for(session, &name)?,
    };
    if server.setting("wal_level") == "logical" {
        let found = session.table(&publications(&server));
        let found = found.map_err(|failure| session.explain(failure))?;
        server.publications = found.into_iter().flatten().flatten().collect();
    }
    let (mut lost_with, mut held_by) = (Vec::new(), Vec::new());
    if let Some(found) = &table {
        server.always_identity.clone_from(&found.always_identity);
        server.own_keys.clone_from(&found.own_keys);
        server.late_keys.clone_from(&found.late_keys);
        server.late_triggers.clone_from(&found.late_triggers);
        server.weakest_part.clone_from(&found.weakest_part);
        (server.is_secured, server.triggers_decide) = (found.is_secured, found.triggers_decide);
        server.loses_written = found.loses_written;
        let storage = found.facts.storage.as_deref().unwrap_or_default();
        if request.if_exists == IfExists::Replace
            && (storage == "foreign table" || !storage.ends_with("table"))
        {
            return Err(Error::target(format!(
                "{} is a {storage}, and no table can take its place",
                found.facts.name
            ))
            .advise("--if-exists append writes through it, where the server lets it"));
        }
        if request.on_conflict != OnConflict::Fail && storage.contains("view") {
            return Err(Error::target(format!(
                "{} is a {storage}, which has no key that --on-conflict {} could look at",
                found.facts.name, request.on_conflict
            ))
            .advise("load into the table behind it"));
        }
        let stays = request.if_exists != IfExists::Replace;
        if request.on_conflict != OnConflict::Fail && stays && found.is_ruled {
            return Err(Error::target(format!(
                "table {} has rules for INSERT or UPDATE: with those the server takes no ON CONFLICT, or does not say which rows a rule \
                 leaves out, as --on-conflict {} has to know",
                found.facts.name, request.on_conflict
            ))
            .advise("load into a table without rules, and add its rows by INSERT ... SELECT"));
        }
        if request.if_exists == IfExists::Truncate
            && found.is_secured
            && !may_truncate(&found.facts)
        {
            return Err(Error::target(format!(
                "row-level security decides which rows of table {} this user may delete, and others would stay",
                found.facts.name
            ))
            .advise("use its owner, or a user with BYPASSRLS, or delete the rows yourself and load with --if-exists append"));
        }
        if request.if_exists == IfExists::Replace {
            let name = &found.facts.name;
            let losing = lost::read(session, &found.schema, name)
                .map_err(|failure| session.explain(failure))?;
            if !losing.is_droppable {
                return Err(Error::target(format!(
                    "--if-exists replace drops table {name}, and this user is not its owner"
                ))
                .advise("use its owner")
                .advise("or empty the table first, and load with --if-exists append"));
            }
            if let Some(belongs) = losing.belongs {
                return Err(Error::target(format!(
                    "table {name} {belongs}, and the table that takes its place would not: its rows would be missing there"
                ))
                .advise("--if-exists truncate keeps the table where it is"));
            }
            (held_by, lost_with) = (losing.held_by, losing.lost_with);
        }
    }
    let found = table.as_ref().map(|found| &found.facts);
    let ledger = ledger::known(request, found, |entries| {
        ledger(session, &server.schema, &name.table, entries)
    })?;
    server.table = name.table;
    let of = |name: &&str| Some(((*name).to_owned(), server.settings.get(*name)?.clone()));
    let settings = BEARING.iter().filter_map(of).collect();
    let read_only = read_only(&server).map(str::to_owned);
    Ok(TargetFacts {
        settings,
        read_only,
        engine: engine(server.setting("server_version")),
        exists: true,
        table: table.map(|found| found.facts),
        columns_max: COLUMNS_MAX,
        name_fault: Some(ddl::name_fault),
        text_types: &[Type::Time, Type::Uuid, Type::Interval],
        decimals_are_texts: false,
        truths: Truths::Words,
        specials: Specials::All,
        reads_hex: true,
        lost_with,
        mentioned_by: Vec::new(),
        held_by,
        moments: MomentLimits::of(6),
        is_stream: false,
        own: Own::new(server),
        engine_only: None,
        gave_up: BTreeMap::new(),
        ledger,
        // COPY goes on while it does.
        round_trip: None,
    })
}

/// Why the database takes no rows of this user. Whoever has set that transactions only read had a reason, so no load says otherwise.
fn read_only(server: &ServerFacts) -> Option<&'static str> {
    match () {
        () if server.recovers => Some("the server is a standby, which only reads"),
        () if server.setting("default_transaction_read_only") == "on" => Some(
            "transactions only read here: default_transaction_read_only is on for this server, database, user or connection \
             (PGOPTIONS='-c default_transaction_read_only=off' lets one load write)",
        ),
        () => None,
    }
}

/// A query for settings that every user may read; the value of one that the server doesn't know is NULL. The view `pg_settings` makes all
/// of its rows for each query, which takes twenty times as long.
pub(super) fn settings_of(names: &[&str]) -> String {
    let wanted: Vec<String> = names.iter().map(|name| literal(name)).collect();
    format!(
        "SELECT name, pg_catalog.current_setting(name, true) FROM pg_catalog.unnest(ARRAY[{}]) AS wanted (name)",
        wanted.join(", ")
    )
}

/// A query for [`SETTINGS`], and what user and server may do. Sizes come with their unit.
fn all_settings() -> String {
    format!(
        "{} \
         UNION ALL SELECT 'amount', pg_catalog.money({AMOUNT})::text || pg_catalog.chr(10) || pg_catalog.money(-{AMOUNT})::text \
         UNION ALL SELECT 'recovers', pg_catalog.pg_is_in_recovery()::text \
         UNION ALL SELECT 'reads_files', pg_catalog.pg_has_role('pg_read_server_files', 'USAGE')::text \
         UNION ALL SELECT 'makes_temporary', \
             pg_catalog.has_database_privilege(pg_catalog.current_database(), 'TEMPORARY')::text \
         UNION ALL SELECT 'connections', (SELECT LEAST({}, {})::text FROM pg_catalog.pg_roles r, pg_catalog.pg_database d \
             WHERE r.rolname = SESSION_USER AND NOT r.rolsuper AND d.datname = pg_catalog.current_database())",
        settings_of(&SETTINGS),
        free("r.rolconnlimit", "usesysid = r.oid"),
        free("d.datconnlimit", "datid = d.oid")
    )
}

/// How many connections such a limit leaves; NULL without one.
fn free(limit: &str, whose: &str) -> String {
    format!(
        "CASE WHEN {limit} >= 0 THEN {limit} - (SELECT pg_catalog.count(*) FROM pg_catalog.pg_stat_activity \
         WHERE backend_type = 'client backend' AND {whose}) END"
    )
}

/// The server, whatever the table.
fn server(session: &Session<'_>, settings: TextRows) -> ServerFacts {
    let mut settings = pairs(settings);
    let amount = settings.remove("amount").unwrap_or_default();
    let connections = settings.remove("connections").and_then(|free| free.parse::<i64>().ok());
    let mut is_true = |name: &str| settings.remove(name).is_some_and(|value| value == "true");
    ServerFacts {
        amount,
        is_local: session.is_local(),
        recovers: is_true("recovers"),
        reads_files: is_true("reads_files"),
        makes_temporary: is_true("makes_temporary"),
        // Sessions of superusers count, and may be more than the limit.
        connections: connections.map(|free| free.max(0) as usize),
        settings,
        ..ServerFacts::default()
    }
}

/// A query for the publications of rows of any table that is made in the schema
/// (<https://www.postgresql.org/docs/current/sql-createpublication.html>).
fn publications(server: &ServerFacts) -> String {
    let all = "SELECT pubname FROM pg_catalog.pg_publication WHERE puballtables AND pubinsert";
    let version = server.setting("server_version").split(|c: char| !c.is_ascii_digit()).next();
    // Those of a schema came with version 15.
    match version.and_then(|version| version.parse::<u32>().ok()) {
        Some(15..) => format!(
            "{all} UNION SELECT p.pubname FROM pg_catalog.pg_publication p JOIN pg_catalog.pg_publication_namespace n ON n.pnpubid = p.oid \
             JOIN pg_catalog.pg_namespace s ON s.oid = n.pnnspid WHERE p.pubinsert AND s.nspname = {} ORDER BY 1",
            literal(&server.schema)
        ),
        _ => format!("{all} ORDER BY 1"),
    }
}

/// An existing relation, by its name in SQL.
pub(super) fn relation(session: &mut Session<'_>, sql: &str) -> Result<Option<String>, Failure> {
    session.value(&format!("SELECT pg_catalog.to_regclass({})::text", literal(sql)))
}

/// The table's loads in steps.
fn ledger(
    session: &mut Session<'_>,
    schema: &str,
    table: &str,
    entries: Entries,
) -> Result<Vec<Entry>> {
    let ledger = ddl::ledger(schema, table);
    let known = relation(session, &ledger.name).map_err(|failure| session.explain(failure))?;
    if known.is_none() {
        return Ok(Vec::new());
    }
    let rows =
        session.table(&ledger.read(entries)).map_err(|failure| of_ledger(session, failure))?;
    rows.into_iter().flatten().flatten().map(|text| ledger.parse(&text)).collect()
}

/// What a statement that reads or writes the ledger has failed with.
pub(super) fn of_ledger(session: &Session<'_>, failure: Failure) -> Error {
    let is_denied = session::state(&failure) == DENIED;
    let error = session.explain(failure);
    if is_denied { ledger::denied(&error) } else { error }
}

/// insufficient_privilege
const DENIED: &str = "42501";

/// Name and version, from the setting `server_version`, behind which packagers may have written something.
pub(super) fn engine(version: &str) -> String {
    format!("PostgreSQL {}", version.split(' ').next().unwrap_or_default())
}

/// Where a new table would be made, and whether the user may. Relations and types share their names: what has the new table's is found
/// before the rows are sent.
fn schema_for(session: &mut Session<'_>, name: &TableName) -> Result<(String, bool)> {
    let place = match &name.schema {
        Some(schema) => literal(schema),
        // That of temporary tables may be on the path as well, and what is in it goes with the session.
        None => "(SELECT s FROM pg_catalog.unnest(pg_catalog.current_schemas(false)) WITH ORDINALITY p(s, at) \
             WHERE s !~ '^pg_temp_' ORDER BY at LIMIT 1)"
            .to_owned(),
    };
    let schema = format!(
        "SELECT nspname, pg_catalog.has_schema_privilege(oid, 'CREATE') FROM pg_catalog.pg_namespace WHERE nspname = {place}"
    );
    let table = literal(&name.table);
    let taken = format!(
        "SELECT CASE relkind WHEN 'i' THEN 'index' WHEN 'I' THEN 'index' WHEN 'S' THEN 'sequence' ELSE 'type' END \
         FROM pg_catalog.pg_class WHERE relnamespace = (SELECT oid FROM pg_catalog.pg_namespace WHERE nspname = {place}) \
           AND relname = {table} \
         UNION ALL SELECT 'type' FROM pg_catalog.pg_type WHERE typname = {table} AND typelem = 0 \
           AND typnamespace = (SELECT oid FROM pg_catalog.pg_namespace WHERE nspname = {place})"
    );
    let [schema, taken] =
        session.tables([&schema, &taken]).map_err(|failure| session.explain(failure))?;
    let mut schema = schema.into_iter().flatten();
    let (Some(found), creates) = (schema.next().flatten(), schema.next().flatten()) else {
        return Err(match &name.schema {
            Some(schema) => Error::target(format!("there is no schema {schema}"))
                .advise(match schema.chars().any(char::is_uppercase) {
                    true => format!(
                        "write {} if it was made without quotes, or make it first: CREATE SCHEMA {}",
                        schema.to_lowercase(),
                        quote(schema)
                    ),
                    false => format!("make it first: CREATE SCHEMA {}", quote(schema)),
                }),
            None => Error::target("the search path names no existing schema")
                .advise("--table SCHEMA.TABLE says where the table is to be"),
        });
    };
    match taken.into_iter().flatten().flatten().next() {
        Some(kind) => {
            Err(Error::target(format!("the schema has a {kind} of that name already: {table}"))
                .advise("--table NAME loads into another table"))
        }
        None => Ok((found, creates.as_deref() == Some("t"))),
    }
}

/// What keeps the rows of a view whose rules say what becomes of them.
pub(super) const VIEW_WITH_RULES: &str = "view with rules";

/// Whether TRUNCATE empties the table without touching others; where it doesn't, DELETE has to.
pub(super) fn may_truncate(table: &TableFacts) -> bool {
    let storage = table.storage.as_deref();
    !table.is_parent && matches!(storage, Some("table" | "unlogged table" | "partitioned table"))
}

/// An existing table.
#[derive(Debug, PartialEq)]
pub(super) struct Found {
    pub(super) facts: TableFacts,
    /// The schema that it is in.
    pub(super) schema: String,
    /// Columns that count by themselves and take no other number in an update.
    always_identity: Vec<String>,
    /// Whether the user may make tables in that schema.
    creates: bool,
    /// Whether row-level security is active for the user.
    is_secured: bool,
    /// Whether triggers have a say in rows before they are written.
    triggers_decide: bool,
    /// Whether rows may be gone that a statement says it has written.
    loses_written: bool,
    /// What the partition is that keeps rows the least, where one is no plain table.
    weakest_part: Option<String>,
    /// Whether it has rules for INSERT or UPDATE.
    is_ruled: bool,
    /// Foreign keys that refer to the table itself.
    own_keys: Vec<OwnKey>,
    /// Keys that can wait.
    late_keys: Vec<LateKey>,
    /// Constraint triggers that can wait.
    late_triggers: Vec<String>,
}

/// The table, if it is there.
pub(super) fn read_table(session: &mut Session<'_>, name: &TableName) -> Result<Option<Found>> {
    let entry = session.table(&table_entry(name)).map_err(|failure| session.explain(failure))?;
    with_columns(session, entry)
}

/// A query for what is known of a table as a whole.
pub(super) fn table_entry(name: &TableName) -> String {
    let place = match &name.schema {
        Some(schema) => format!("n.nspname = {}", literal(schema)),
        None => "pg_catalog.pg_table_is_visible(c.oid)".to_owned(),
    };
    format!(
        "SELECT c.oid, n.nspname, c.relname, c.relkind, c.relpersistence, \
                pg_catalog.row_security_active(c.oid), \
                EXISTS (SELECT FROM pg_catalog.pg_rewrite r WHERE r.ev_class = c.oid AND r.ev_type = '3'), \
                EXISTS (SELECT FROM pg_catalog.pg_rewrite r WHERE r.ev_class = c.oid AND r.ev_type IN ('2', '3')), \
                EXISTS (SELECT FROM pg_catalog.pg_trigger t WHERE t.tgrelid = c.oid AND t.tgtype & 69 = 69), \
                pg_catalog.has_schema_privilege(n.oid, 'CREATE'), {}, {}, \
                (SELECT CASE WHEN pg_catalog.bool_or(p.relpersistence = 'u') THEN 'unlogged table' \
                             WHEN pg_catalog.bool_or(p.relkind = 'f') THEN 'foreign table' END \
                 FROM pg_catalog.pg_partition_tree(c.oid) t JOIN pg_catalog.pg_class p ON p.oid = t.relid WHERE c.relkind = 'p') \
         FROM pg_catalog.pg_class c JOIN pg_catalog.pg_namespace n ON n.oid = c.relnamespace \
         WHERE c.relname = {} AND {place} AND c.relkind IN ('r', 'p', 'v', 'm', 'f')",
        triggers_decide("c.oid"),
        triggers_follow("c.oid"),
        literal(&name.table)
    )
}

/// The table that has this entry.
///
/// # Errors
/// When the server refuses, or the table is none that takes rows.
pub(super) fn with_columns(session: &mut Session<'_>, entry: TextRows) -> Result<Option<Found>> {
    let found = table_facts(session, entry).map_err(|failure| {
        let lacks_right = state(&failure) == "42501";
        let error = session.explain(failure);
        match lacks_right {
            true => error.advise(
                "a load takes SELECT on its table: it looks whether that holds rows, and counts them",
            ),
            false => error,
        }
    })?;
    match found {
        Some(Found { facts, .. }) if facts.columns.is_empty() => Err(Error::new(
            Kind::Target,
            format!("table {} has no column that can be written", facts.name),
        )),
        Some(Found { facts, .. }) if facts.storage.as_deref() == Some("materialized view") => {
            Err(Error::target(format!(
                "{} is a materialized view: only its query fills it",
                facts.name
            )))
        }
        found => Ok(found),
    }
}

fn table_facts(session: &mut Session<'_>, entry: TextRows) -> Result<Option<Found>, Failure> {
    let Some(row) = entry.into_iter().next() else { return Ok(None) };
    let mut row = row.into_iter().map(Option::unwrap_or_default);
    let mut next = || row.next().unwrap_or_default();
    let (oid, schema, relname, kind, persistence) = (next(), next(), next(), next(), next());
    let (is_secured, has_rules, is_ruled) = (next() == "t", next() == "t", next() == "t");
    // Of each row, INSTEAD OF, INSERT (https://github.com/postgres/postgres/blob/master/src/include/catalog/pg_trigger.h).
    let has_instead = next() == "t";
    let (creates, triggers_decide) = (next() == "t", next() == "t");
    let loses_written = next() == "t" || has_rules || kind == "v";
    let weakest_part = Some(next()).filter(|part| !part.is_empty());
    let storage = match (kind.as_str(), persistence.as_str()) {
        ("p", _) => "partitioned table",
        ("v", _) if has_rules => VIEW_WITH_RULES,
        ("v", _) => "view",
        ("m", _) => "materialized view",
        ("f", _) => "foreign table",
        (_, "u") => "unlogged table",
        (_, "t") => "temporary table",
        _ => "table",
    };
    let engine_only = match kind.as_str() {
        // One with rules no strategy takes, for a reason of its own.
        "v" if has_rules => None,
        "v" if has_instead => Some(format!(
            "{relname} is a view, and COPY counts rows as well that its INSTEAD OF trigger leaves out"
        )),
        "v" => {
            Some(format!("{relname} is a view, and COPY takes none without an INSTEAD OF trigger"))
        }
        _ if has_rules => {
            Some(format!("table {relname} has rules for INSERT, which COPY passes over"))
        }
        _ if is_secured => {
            Some(format!("table {relname} has row-level security, which COPY refuses"))
        }
        _ => None,
    };
    let mut facts = TableFacts {
        name: relname,
        storage: Some(storage.to_owned()),
        engine_only,
        ..TableFacts::default()
    };
    let first_row = ddl::first_row(&ddl::Table::in_schema(&schema, &facts.name));
    let [_, columns, keys, late_keys, references, own_keys, late_triggers, first_row] = session
        .tables([
            PLAIN_NAMES,
            &columns_of(&oid),
            &keys_of(&oid),
            &late_keys_of(&oid),
            &references_to(&oid),
            &orphans::own_keys(&oid),
            &orphans::late_triggers(&oid),
            &first_row,
        ])?;
    let always_identity = take_columns(columns, &mut facts);
    take_keys(keys, &mut facts);
    take_references(references, &mut facts);
    facts.holds_rows = !first_row.is_empty();
    Ok(Some(Found {
        facts,
        schema,
        always_identity,
        creates,
        is_secured,
        triggers_decide,
        loses_written,
        weakest_part,
        is_ruled,
        own_keys: OwnKey::all(own_keys),
        late_keys: LateKey::all(late_keys),
        late_triggers: late_triggers.into_iter().flatten().flatten().collect(),
    }))
}

/// Has types spelt without quotes where none are needed, until the transaction is over
/// (<https://www.postgresql.org/docs/current/runtime-config-compatible.html#GUC-QUOTE-ALL-IDENTIFIERS>).
const PLAIN_NAMES: &str = "SET LOCAL quote_all_identifiers = off";

/// A table's columns, what a domain is underneath, also one that an array is of, and the members of an enum: COPY in binary takes the
/// values of those.
fn columns_of(oid: &str) -> String {
    format!(
        "WITH RECURSIVE underneath(top, oid, typmod, depth) AS ( \
             SELECT DISTINCT a.atttypid, a.atttypid, -1, 0 FROM pg_catalog.pg_attribute a WHERE a.attrelid = {oid} AND a.attnum > 0 AND NOT a.attisdropped \
             UNION ALL \
             SELECT u.top, t.typbasetype, t.typtypmod, u.depth + 1 FROM underneath u JOIN pg_catalog.pg_type t ON t.oid = u.oid WHERE t.typtype = 'd' \
         ), base AS (SELECT DISTINCT ON (top) top, oid, typmod, depth FROM underneath ORDER BY top, depth DESC), \
         element(array_of, oid, typmod, depth) AS ( \
             SELECT DISTINCT t.oid, t.typelem, -1, 0 FROM base b JOIN pg_catalog.pg_type t ON t.oid = b.oid WHERE t.typcategory = 'A' \
             UNION ALL \
             SELECT e.array_of, t.typbasetype, t.typtypmod, e.depth + 1 FROM element e JOIN pg_catalog.pg_type t ON t.oid = e.oid WHERE t.typtype = 'd' \
         ) SELECT a.attname, pg_catalog.format_type(a.atttypid, a.atttypmod), pg_catalog.concat_ws(' = ', \
                CASE WHEN b.depth > 0 THEN pg_catalog.format_type(b.oid, b.typmod) END, \
                (SELECT pg_catalog.format_type(e.oid, e.typmod) || '[]' FROM element e WHERE e.array_of = b.oid AND e.depth > 0 \
                 ORDER BY e.depth DESC LIMIT 1)), \
                (SELECT pg_catalog.string_agg('''' || replace(e.enumlabel, '''', '''''') || '''', ',' ORDER BY e.enumsortorder) \
                 FROM pg_catalog.pg_enum e WHERE e.enumtypid IN (b.oid, t.typelem) AND t.typcategory IN ('E', 'A')), \
                t.typcategory, a.attnotnull, a.atthasdef, a.attidentity, a.attgenerated \
         FROM pg_catalog.pg_attribute a JOIN base b ON b.top = a.atttypid JOIN pg_catalog.pg_type t ON t.oid = b.oid \
         WHERE a.attrelid = {oid} AND a.attnum > 0 AND NOT a.attisdropped ORDER BY a.attnum"
    )
}

/// Takes the columns; those are given back that count by themselves and take no other number in an update.
fn take_columns(columns: TextRows, facts: &mut TableFacts) -> Vec<String> {
    let mut always_identity = Vec::new();
    for row in columns {
        let mut row = row.into_iter();
        let mut next = || row.next().flatten();
        let (name, spelled, base, labels) = (
            next().unwrap_or_default(),
            next().unwrap_or_default(),
            next().filter(|base| !base.is_empty()),
            next(),
        );
        let mut word = || next().unwrap_or_default();
        let (category, not_null, has_default, identity, generated) =
            (word(), word() == "t", word() == "t", word(), word());
        // Its values are the server's to compute.
        if !generated.is_empty() {
            facts.computed.push(name);
            continue;
        }
        let underneath = match (labels, category.as_str()) {
            (Some(labels), "A") => Some(format!("enum({labels})[]")),
            (Some(labels), _) => Some(format!("enum({labels})")),
            (None, _) => base,
        };
        let declared = match underneath {
            Some(underneath) => format!("{spelled} = {underneath}"),
            None => spelled,
        };
        if not_null && !has_default && identity.is_empty() {
            facts.needs.push(name.clone());
        }
        if identity == "a" {
            always_identity.push(name.clone());
        }
        facts.default_bytes.push(1);
        facts.columns.push(Column {
            name,
            ty: types::declared(&declared),
            declared: Some(declared),
            basis: Basis::Declared,
            required: not_null,
        });
    }
    always_identity
}

/// Keys that conflicts are found by: whole, at once, over plain columns, whose values they hold for equal where `=` does. A collation
/// or an operator class of the index's own may see to it that they don't.
fn keys_of(oid: &str) -> String {
    // The operator of equality (https://www.postgresql.org/docs/current/xindex.html#XINDEX-STRATEGIES).
    let equality = |class: &str| {
        format!(
            "(SELECT o.amopopr FROM pg_catalog.pg_amop o WHERE o.amopfamily = {class}.opcfamily AND o.amopstrategy = 3 \
             AND o.amoplefttype = {class}.opcintype AND o.amoprighttype = {class}.opcintype)"
        )
    };
    let is_exact = |collation: &str| {
        format!(
            "EXISTS (SELECT FROM pg_catalog.pg_collation l WHERE l.oid = {collation} AND l.collisdeterministic)"
        )
    };
    format!(
        "SELECT i.indexrelid, i.indisprimary, a.attname, pg_catalog.to_jsonb(i) ->> 'indnullsnotdistinct' FROM pg_catalog.pg_index i \
         CROSS JOIN LATERAL pg_catalog.unnest(i.indkey::int2[]) WITH ORDINALITY AS k(attnum, place) \
         JOIN pg_catalog.pg_attribute a ON a.attrelid = i.indrelid AND a.attnum = k.attnum \
         WHERE i.indrelid = {oid} AND i.indisunique AND i.indisvalid AND i.indimmediate \
           AND i.indpred IS NULL AND i.indexprs IS NULL AND k.place <= i.indnkeyatts \
           AND NOT EXISTS (SELECT FROM pg_catalog.generate_series(0, i.indnkeyatts - 1) n \
             JOIN pg_catalog.pg_attribute o ON o.attrelid = i.indrelid AND o.attnum = i.indkey[n] \
             JOIN pg_catalog.pg_opclass c ON c.oid = i.indclass[n] \
             WHERE (i.indcollation[n] <> o.attcollation AND NOT ({} AND {})) \
               OR NOT (c.opcdefault OR EXISTS (SELECT FROM pg_catalog.pg_opclass d WHERE d.opcmethod = c.opcmethod \
                 AND d.opcintype = c.opcintype AND d.opcdefault AND {} = {}))) \
         ORDER BY i.indexrelid, k.place",
        is_exact("i.indcollation[n]"),
        is_exact("o.attcollation"),
        equality("c"),
        equality("d")
    )
}

fn take_keys(keys: TextRows, facts: &mut TableFacts) {
    let mut unique: BTreeMap<(String, bool), Vec<String>> = BTreeMap::new();
    for row in keys {
        let mut row = row.into_iter().map(Option::unwrap_or_default);
        let mut next = || row.next().unwrap_or_default();
        let (index, primary, column, has_one_null) =
            (next(), next() == "t", next(), next() == "true");
        match primary {
            true => facts.primary_key.push(column),
            false => unique.entry((index, has_one_null)).or_default().push(column),
        }
    }
    let of_one_null = unique.iter().filter(|((_, has_one_null), _)| *has_one_null);
    facts.null_keys = of_one_null.map(|(_, key)| key.clone()).collect();
    facts.unique_keys = unique.into_values().collect();
}

/// A key that is DEFERRABLE, by which the server compares no rows (ON CONFLICT), whatever other index is on its columns.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct LateKey {
    name: String,
    is_primary: bool,
    columns: Vec<String>,
}

fn late_keys_of(oid: &str) -> String {
    format!(
        "SELECT k.conname, k.contype = 'p', a.attname FROM pg_catalog.pg_constraint k \
         CROSS JOIN LATERAL pg_catalog.unnest(k.conkey) WITH ORDINALITY AS u(attnum, place) \
         JOIN pg_catalog.pg_attribute a ON a.attrelid = k.conrelid AND a.attnum = u.attnum \
         WHERE k.conrelid = {oid} AND k.contype IN ('p', 'u') AND k.condeferrable ORDER BY k.oid, u.place"
    )
}

impl LateKey {
    /// What [`late_keys_of`] has found.
    fn all(rows: TextRows) -> Vec<Self> {
        let mut all: Vec<Self> = Vec::new();
        for row in rows {
            let mut row = row.into_iter().map(Option::unwrap_or_default);
            let mut next = || row.next().unwrap_or_default();
            let (name, is_primary, column) = (next(), next() == "t", next());
            match all.last_mut().filter(|last| last.name == name) {
                Some(last) => last.columns.push(column),
                None => all.push(Self { name, is_primary, columns: vec![column] }),
            }
        }
        all
    }
}

/// Whether rows can be compared by the key that is asked for.
pub(super) fn compares_by(request: &Request, facts: &TargetFacts) -> Result<()> {
    let server = ServerFacts::of(facts);
    let is_named = |key: &&LateKey| {
        let is_one =
            |name: &String| request.key.iter().any(|asked| asked.eq_ignore_ascii_case(name));
        key.columns.len() == request.key.len() && key.columns.iter().all(is_one)
    };
    let is_asked = |key: &&LateKey| match request.key.is_empty() {
        true => key.is_primary,
        false => is_named(key),
    };
    let Some(LateKey { name, is_primary, columns }) = server.late_keys.iter().find(is_asked) else {
        return Ok(());
    };
    let table = facts.table.as_ref().map_or(server.table.as_str(), |table| &table.name);
    let kind = if *is_primary { "PRIMARY KEY" } else { "UNIQUE" };
    let quoted: Vec<String> = columns.iter().map(|column| quote(column)).collect();
    Err(Error::new(
        Kind::Target,
        format!(
            "--on-conflict {}: the key ({}) of table {table} is DEFERRABLE (constraint {name}), and PostgreSQL compares rows by no such key",
            request.on_conflict,
            columns.join(", ")
        ),
    )
    .advise(format!(
        "make it one that holds at once: ALTER TABLE {} DROP CONSTRAINT {name}, ADD CONSTRAINT {name} {kind} ({})",
        Table::of(facts).sql(),
        quoted.join(", "),
        name = quote(name)
    )))
}

/// Tables whose foreign keys look at one of those whose rows go when this one's are deleted: it, its partitions, what a view reads, and
/// what inherits from that. What refers to a table whose rows all go is not asked when it is one of these itself.
fn references_to(oid: &str) -> String {
    format!(
        "WITH RECURSIVE reached(oid) AS ( \
             SELECT {oid}::oid \
             UNION \
             SELECT found.oid FROM reached r JOIN pg_catalog.pg_class c ON c.oid = r.oid \
             CROSS JOIN LATERAL ( \
                 SELECT d.refobjid FROM pg_catalog.pg_rewrite w JOIN pg_catalog.pg_depend d \
                 ON d.classid = 'pg_catalog.pg_rewrite'::pg_catalog.regclass AND d.objid = w.oid \
                 AND d.refclassid = 'pg_catalog.pg_class'::pg_catalog.regclass \
                 WHERE w.ev_class = c.oid AND w.ev_type = '1' AND c.relkind = 'v' \
                 UNION ALL \
                 SELECT i.inhrelid FROM pg_catalog.pg_inherits i \
                 WHERE i.inhparent = c.oid AND (c.relkind = 'p' OR c.oid <> {oid}) \
             ) found(oid) \
         ) SELECT DISTINCT conrelid::pg_catalog.regclass, confdeltype IN ('c', 'n', 'd') FROM pg_catalog.pg_constraint \
         WHERE contype = 'f' AND confrelid IN (SELECT oid FROM reached) AND NOT (conrelid IN (SELECT oid FROM reached) \
             AND EXISTS (SELECT FROM pg_catalog.pg_class WHERE oid = {oid} AND relkind IN ('r', 'p'))) ORDER BY 1"
    )
}

fn take_references(references: TextRows, facts: &mut TableFacts) {
    for row in references {
        let mut row = row.into_iter().map(Option::unwrap_or_default);
        let (child, changes) = (row.next().unwrap_or_default(), row.next().unwrap_or_default());
        facts.is_parent = true;
        if changes == "t" && !facts.dependents.contains(&child) {
            facts.dependents.push(child);
        }
    }
}

/// Whether triggers have a say in rows before they are written, of the table or of one of its partitions: then what is written is no
/// longer what was sent. A condition; `table` is its OID.
pub(super) fn triggers_decide(table: &str) -> String {
    // Of each row, BEFORE, INSERT (https://github.com/postgres/postgres/blob/master/src/include/catalog/pg_trigger.h).
    format!(
        "EXISTS (SELECT FROM pg_catalog.pg_trigger WHERE tgtype & 7 = 7 AND tgenabled <> 'D' \
         AND (tgrelid = {table} OR tgrelid IN (SELECT relid FROM pg_catalog.pg_partition_tree({table}))))"
    )
}

/// Whether triggers run behind the rows that are written into the table or one of its partitions: they may take rows away again. A
/// condition; `table` is its OID.
fn triggers_follow(table: &str) -> String {
    // Neither BEFORE nor INSTEAD OF, INSERT. Those that check foreign keys are the server's own.
    format!(
        "EXISTS (SELECT FROM pg_catalog.pg_trigger WHERE tgtype & 70 = 4 AND tgenabled <> 'D' AND NOT tgisinternal \
         AND (tgrelid = {table} OR tgrelid IN (SELECT relid FROM pg_catalog.pg_partition_tree({table}))))"
    )
}
