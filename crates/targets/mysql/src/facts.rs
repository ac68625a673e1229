//! What the server, the database and the table are.

use std::collections::BTreeMap;

use crate::ddl::{self, literal};
use crate::indexes;
use crate::lost;
use crate::rights;
use crate::session::{Failure, Session};
use crate::tablespace::{self, Existing};
use crate::types;
use inrush_core::Basis;
use inrush_core::error::{Error, Kind, Result};
use inrush_core::ledger::{self, Entries, Entry};
use inrush_core::value::double::Specials;
use inrush_core::value::rule::Truths;
use inrush_core::{
    Column, IfExists, Job, MomentLimits, OnConflict, Own, Request, TableFacts, TargetFacts, Type,
};
use inrush_net::TextRows;

/// Has SELECT and SHOW answer with all rows: by the server's default they may give the first ones alone, or refuse to look at many
/// (<https://dev.mysql.com/doc/refman/8.0/en/server-system-variables.html#sysvar_sql_select_limit>, `max_join_size`).
pub(super) const ALL_ROWS: &str =
    "SESSION sql_select_limit = 18446744073709551615, SESSION sql_big_selects = 1";

/// <https://dev.mysql.com/doc/refman/8.0/en/innodb-limits.html>
const COLUMNS_MAX: usize = 1017;

/// What only this target knows: what the server is and how it is set.
#[derive(Debug, Default)]
pub(super) struct ServerFacts {
    /// Those of [`VARIABLES`] that it knows, by their names.
    variables: BTreeMap<String, String>,
    /// Whether it is on this machine, and has the same files.
    pub(super) is_local: bool,
    /// Whether it takes rows of parameters in bulk.
    pub(super) has_bulk: bool,
    /// Whether its moments have fractions of a second.
    pub(super) keeps_fractions: bool,
    /// Its storage engines, in lower case.
    pub(super) engines: Vec<String>,
    /// Whether a default of the existing table's columns asks a sequence for its number.
    pub(super) asks_sequences: bool,
    /// Columns of the existing table, other than TIMESTAMPs, that the server fills by its clock, which shows the time of the session's zone.
    pub(super) clocks: Vec<String>,
    /// The column of the existing table that counts by itself.
    pub(super) counts: Option<String>,
    /// The engine of the table behind an existing view, where that is known, in lower case.
    pub(super) behind_view: Option<String>,
    /// What the existing table's triggers follow, as far as the login sees them: INSERT, UPDATE, DELETE.
    pub(super) triggers: Vec<String>,
    /// Whether it may have some that the login does not see; looked for where the load would run those for rows that it skips, and where
    /// what they write could be taken for a number that the server has made itself.
    pub(super) hides_triggers: bool,
    /// Which foreign keys to the existing table the login may not see; looked for where the load may delete existing rows.
    pub(super) unseen_keys: Unseen,
    /// Whether foreign keys refer to it that the catalogue does not show to the login, though InnoDB's own list does.
    pub(super) is_parent: bool,
    /// The existing table, read only for a load that writes its file.
    pub(super) existing: Option<Existing>,
}

impl ServerFacts {
    pub(super) fn of(facts: &TargetFacts) -> &Self {
        facts.own.get()
    }

    /// How many connections the login may have at once, where that is limited.
    pub(super) fn connections_max(&self) -> Option<usize> {
        self.variable("max_user_connections").parse().ok().filter(|max| *max > 0)
    }

    /// The value of one of [`VARIABLES`]; empty where the server doesn't know it.
    pub(super) fn variable(&self, name: &str) -> &str {
        debug_assert!(VARIABLES.contains(&name), "{name} was not asked for");
        self.variables.get(name).map_or("", String::as_str)
    }
}

/// Server variables that bear on loads. One that a server doesn't know is left out.
const VARIABLES: [&str; 32] = [
    "binlog_transaction_dependency_tracking",
    "check_constraint_checks",
    "datadir",
    "default_table_encryption",
    "innodb_buffer_pool_size",
    "innodb_default_row_format",
    "innodb_doublewrite",
    "innodb_encrypt_tables",
    "innodb_file_per_table",
    "innodb_flush_log_at_trx_commit",
    "innodb_log_file_size",
    "innodb_log_files_in_group",
    "innodb_page_size",
    "innodb_redo_log_capacity",
    "innodb_snapshot_isolation",
    "local_infile",
    "log_bin",
    "max_allowed_packet",
    "max_error_count",
    "max_user_connections",
    "read_only",
    "rocksdb_flush_log_at_trx_commit",
    "secure_file_priv",
    "sql_mode",
    "system_time_zone",
    "time_zone",
    "transaction_read_only",
    "transaction_write_set_extraction",
    "tx_read_only",
    "version",
    "version_comment",
    "wsrep_on",
];

/// Those of them on which it depends which strategy is the fastest.
const SETTINGS: [&str; 10] = [
    "innodb_buffer_pool_size",
    "innodb_doublewrite",
    "innodb_flush_log_at_trx_commit",
    "innodb_log_file_size",
    "innodb_redo_log_capacity",
    "local_infile",
    "log_bin",
    "max_allowed_packet",
    "rocksdb_flush_log_at_trx_commit",
    "sql_mode",
];

/// Why no table or column can be called so (<https://dev.mysql.com/doc/refman/8.0/en/identifiers.html>).
fn name_fault(name: &str) -> Option<String> {
    /// In characters.
    const NAME_MAX: usize = 64;
    if let Some(wide) = name.chars().find(|character| *character > '\u{ffff}') {
        return Some(format!(
            "the server's names have no characters beyond U+FFFF, such as {wide}"
        ));
    }
    match name.chars().count() {
        length if length > NAME_MAX => {
            Some(format!("the name has {length} characters, and the server keeps {NAME_MAX}"))
        }
        _ => name.ends_with(' ').then(|| "no name ends with a blank".to_owned()),
    }
}

pub(super) fn gather(
    session: &mut Session<'_>,
    is_local: bool,
    table_name: &str,
    request: &Request,
) -> Result<TargetFacts> {
    if let Some(fault) = name_fault(table_name) {
        return Err(
            Error::usage(format!("--table {table_name}: {fault}")).advise("name another --table")
        );
    }
    let [_, variables, engines, asking, clocks, counts, events, table, ledger_entry] = session
        .tables([
            &format!("SET {ALL_ROWS}"),
            &all_variables(),
            ENGINES,
            &sequence_defaults(table_name),
            &clock_columns(table_name),
            &counting_column(table_name),
            &triggers(table_name),
            &table_entry(table_name),
            &table_entry(ledger::TABLE),
        ])
        .map_err(|failure| session.explain(failure))?;
    let variables = by_name(variables);
    let event = |row: Vec<Option<String>>| row.into_iter().nth(EVENT).flatten();
    let events: Vec<String> = events.into_iter().filter_map(event).collect();
    let variable = |name: &str| variables.get(name).map_or("", String::as_str);
    let version = variable("version");
    let engine = engine(version, variable("version_comment"));
    // https://dev.mysql.com/doc/refman/5.6/en/fractional-seconds.html: since 5.6.4. MariaDB says 5.5 or 10 and up, and has had
    // them since 5.3.
    let keeps_fractions = engine.starts_with("MariaDB") || numbers(version) >= (5, 6, 4);
    let kind = table.first().and_then(|row| row.get(KIND)?.as_deref());
    let is_versioned = kind == Some("SYSTEM VERSIONED");
    let mut table = with_columns(session, table_name, table)?;
    let behind_view = match &table {
        Some(found) if found.storage.is_none() => {
            behind_view(session, &found.name).map_err(|failure| session.explain(failure))?
        }
        _ => None,
    };
    let (is_parent, unseen_keys) = match &mut table {
        Some(found) => {
            let list = OwnList::of(&engine, version);
            look_for_children(session, found, behind_view.as_ref(), request, list)?
        }
        None => (false, Unseen::None),
    };
    match &table {
        Some(found)
            if request.on_conflict != OnConflict::Fail
                && request.if_exists != IfExists::Replace =>
        {
            if engine.starts_with("MariaDB") && found.storage.is_some() {
                refuse_unseen_keys(session, &found.name, request.on_conflict)?;
            }
            refuse_conflicts(session, found, request, &events, is_versioned, unseen_keys)?;
        }
        Some(_) => {}
        None => refuse_database(session, table_name, request)?,
    }
    let is_kept = |table: &&TableFacts| {
        request.strategy.as_deref() == Some(tablespace::ID)
            && request.if_exists != IfExists::Replace
            && table.storage.as_deref() == Some("innodb")
    };
    let existing = table.as_ref().filter(is_kept).map(|table| Existing::read(session, &table.name));
    let counts = counts.into_iter().flatten().flatten().next();
    let hides_triggers = match &table {
        Some(found)
            if request.on_conflict == OnConflict::Skip
                || counts.is_some() && may_count_out_of_range(found) =>
        {
            rights::sees_triggers(session, &found.name).map(|sees| !sees)
        }
        _ => Ok(false),
    };
    let server = ServerFacts {
        variables,
        is_local,
        has_bulk: session.has_bulk(),
        keeps_fractions,
        engines: engines.into_iter().flatten().flatten().collect(),
        // MySQL has none.
        asks_sequences: session.has_bulk() && !asking.is_empty(),
        clocks: clocks.into_iter().flatten().flatten().collect(),
        counts,
        behind_view: behind_view.map(|behind| behind.engine),
        triggers: events,
        hides_triggers: hides_triggers.map_err(|failure| session.explain(failure))?,
        unseen_keys,
        is_parent,
        existing: existing.transpose().map_err(|failure| session.explain(failure))?,
    };
    let ledger = ledger::known(request, table.as_ref(), |entries| match ledger_entry.is_empty() {
        true => Ok(Vec::new()),
        false => {
            ledger(session, table_name, entries).map_err(|failure| of_ledger(session, failure))?
        }
    })?;
    let (mut lost_with, mut mentioned_by) = (Vec::new(), Vec::new());
    if let Some(found) = &table
        && request.if_exists == IfExists::Replace
        && found.is_parent
        // What would change others' rows the planner refuses.
        && found.dependents.is_empty()
    {
        let children = session.table(&children(&found.name));
        let children = children.map_err(|failure| session.explain(failure))?;
        let children: Vec<String> = children.into_iter().flatten().flatten().collect();
        return Err(Error::target(format!(
            "foreign keys of {} refer to table {table_name}, and no other can take its place",
            children.join(", ")
        ))
        .advise("--if-exists truncate keeps the table, and deletes its rows"));
    }
    if let Some(found) = &table
        && request.if_exists == IfExists::Replace
        // A view has none.
        && found.storage.is_some()
    {
        let lost = lost::read(session, &found.name);
        lost_with = lost.map_err(|failure| session.explain(failure))?;
        let mentioned = lost::mentioned_by(session, &found.name);
        mentioned_by = mentioned.map_err(|failure| session.explain(failure))?;
    }
    let of = |name: &&str| Some(((*name).to_owned(), server.variables.get(*name)?.clone()));
    let settings = SETTINGS.iter().filter_map(of).collect();
    let read_only = read_only(&server);
    Ok(TargetFacts {
        settings,
        read_only,
        text_types: text_types(&server, &engine),
        engine,
        exists: true,
        table,
        lost_with,
        mentioned_by,
        held_by: Vec::new(),
        columns_max: COLUMNS_MAX,
        name_fault: Some(name_fault),
        decimals_are_texts: false,
        truths: Truths::Digits,
        specials: Specials::None,
        reads_hex: false,
        moments: MomentLimits::of(if keeps_fractions { 6 } else { 0 }),
        is_stream: false,
        own: Own::new(server),
        engine_only: None,
        gave_up: BTreeMap::new(),
        ledger,
        round_trip: session.round_trip(),
    })
}

/// Why the server takes no rows. Whoever has set that it only reads had a reason, so no load says otherwise.
fn read_only(server: &ServerFacts) -> Option<String> {
    // MariaDB's name, and that of MySQL from 5.7.20 on.
    let is_set = |name: &&str| server.variable(name) == "ON";
    if is_set(&"read_only") {
        return Some(
            "the server is read-only, as a replica is: load into its primary (SET GLOBAL read_only = OFF lets it take rows)"
                .to_owned(),
        );
    }
    ["transaction_read_only", "tx_read_only"].iter().find(|name| is_set(name)).map(|name| {
        format!(
            "transactions only read here: {name} is ON for this server, or for this user's connections \
             (SET GLOBAL {name} = OFF lets them write)"
        )
    })
}

/// Types of its own for what are texts elsewhere. A time of day is one of its times, which go further; those without fractions would
/// keep few that programs have. UUIDs: <https://mariadb.com/kb/en/uuid-data-type/>.
fn text_types(server: &ServerFacts, engine: &str) -> &'static [Type] {
    let has_uuids =
        engine.strip_prefix("MariaDB ").is_some_and(|version| numbers(version) >= (10, 7, 0));
    match (server.keeps_fractions, has_uuids) {
        (true, true) => &[Type::Time, Type::Uuid],
        (true, false) => &[Type::Time],
        (false, _) => &[],
    }
}

/// What a statement that reads or writes the ledger has failed with.
pub(super) fn of_ledger(session: &Session<'_>, failure: Failure) -> Error {
    // ER_DBACCESS_DENIED_ERROR, ER_TABLEACCESS_DENIED_ERROR
    let is_denied = failure.refusal().is_some_and(|refused| matches!(refused.code, 1044 | 1142));
    let error = session.explain(failure);
    if is_denied { ledger::denied(&error) } else { error }
}

/// The table's loads in steps, of a ledger that exists.
fn ledger(
    session: &mut Session<'_>,
    table: &str,
    entries: Entries,
) -> Result<Result<Vec<Entry>>, Failure> {
    let ledger = ddl::ledger(table);
    let rows = session.table(&ledger.read(entries))?;
    Ok(rows.into_iter().flatten().flatten().map(|text| ledger.parse(&text)).collect())
}

/// Name and version, from the variables `version` and `version_comment`.
pub(super) fn engine(version: &str, comment: &str) -> String {
    let is_mariadb = version.contains("MariaDB") || comment.contains("MariaDB");
    let name = if is_mariadb { "MariaDB" } else { "MySQL" };
    format!("{name} {}", version.split('-').next().unwrap_or(version))
}

/// The first three numbers of a version.
pub(super) fn numbers(version: &str) -> (u32, u32, u32) {
    let mut parts = version
        .split(|c: char| !c.is_ascii_digit())
        .filter(|part| !part.is_empty())
        .map(|part| part.parse().unwrap_or(0));
    let mut next = || parts.next().unwrap_or(0);
    (next(), next(), next())
}

/// A query for [`VARIABLES`].
fn all_variables() -> String {
    let wanted: Vec<String> = VARIABLES.iter().map(|name| literal(name)).collect();
    format!("SHOW VARIABLES WHERE Variable_name IN ({})", wanted.join(", "))
}

fn by_name(variables: TextRows) -> BTreeMap<String, String> {
    let pair = |row: Vec<Option<String>>| {
        let mut row = row.into_iter();
        let name = row.next()??.to_ascii_lowercase();
        Some((name, row.next()?.unwrap_or_else(|| "NULL".to_owned())))
    };
    variables.into_iter().filter_map(pair).collect()
}

const ENGINES: &str =
    "SELECT LOWER(ENGINE) FROM information_schema.ENGINES WHERE SUPPORT IN ('YES', 'DEFAULT')";

/// The table, if it is there.
pub(super) fn read_table(session: &mut Session<'_>, table: &str) -> Result<Option<TableFacts>> {
    let entry = session.table(&table_entry(table)).map_err(|failure| session.explain(failure))?;
    with_columns(session, table, entry)
}

/// A query for what is known of a table as a whole.
pub(super) fn table_entry(table: &str) -> String {
    format!(
        "SELECT TABLE_NAME, LOWER(ENGINE), TABLE_TYPE, CREATE_OPTIONS FROM information_schema.TABLES \
         WHERE TABLE_SCHEMA = DATABASE() AND TABLE_NAME = {}",
        literal(table)
    )
}

/// Where [`table_entry`] says what sort of table it is.
const KIND: usize = 2;

/// Where [`triggers`] says what each of them follows.
const EVENT: usize = 2;

/// A query for the triggers of a table.
pub(super) fn triggers(table: &str) -> String {
    format!(
        "SELECT TRIGGER_NAME, ACTION_TIMING, EVENT_MANIPULATION, ACTION_STATEMENT FROM information_schema.TRIGGERS \
         WHERE EVENT_OBJECT_SCHEMA = DATABASE() AND EVENT_OBJECT_TABLE = {} ORDER BY 1",
        literal(table)
    )
}

/// A query for the tables whose foreign keys refer to this one.
fn children(table: &str) -> String {
    format!(
        "SELECT DISTINCT TABLE_NAME FROM information_schema.KEY_COLUMN_USAGE \
         WHERE REFERENCED_TABLE_SCHEMA = DATABASE() AND REFERENCED_TABLE_NAME = {0} \
         AND NOT (TABLE_SCHEMA = DATABASE() AND TABLE_NAME = {0}) ORDER BY 1",
        literal(table)
    )
}

/// A query for foreign keys of and to this table: whether it is one of them and whether to it, the table that has it, and whether rows of
/// that are changed when those are deleted which it refers to. Of a rule that the login may not see the worst is expected.
fn references(schema: &str, table: &str) -> String {
    let is = |place: &str| format!("k.{place}_SCHEMA = {schema} AND k.{place}_NAME = {table}");
    let (is_own, is_parent) = (is("TABLE"), is("REFERENCED_TABLE"));
    format!(
        "SELECT {is_own}, {is_parent}, IF(k.TABLE_SCHEMA = DATABASE(), k.TABLE_NAME, CONCAT(k.TABLE_SCHEMA, '.', k.TABLE_NAME)), \
         COALESCE(r.DELETE_RULE, 'CASCADE') IN ('CASCADE', 'SET NULL', 'SET DEFAULT') \
         FROM information_schema.KEY_COLUMN_USAGE k LEFT JOIN information_schema.REFERENTIAL_CONSTRAINTS r \
         ON r.CONSTRAINT_SCHEMA = k.CONSTRAINT_SCHEMA AND r.CONSTRAINT_NAME = k.CONSTRAINT_NAME AND r.TABLE_NAME = k.TABLE_NAME \
         WHERE k.REFERENCED_TABLE_NAME IS NOT NULL AND ({is_own} OR {is_parent})"
    )
}

/// [`references`] of a table of the connection's database.
fn references_here(table: &str) -> String {
    references("DATABASE()", &literal(table))
}

/// Which foreign keys to a table there may be that the login does not see: the catalogue shows it those of tables to which it has a right.
#[derive(Debug, Default, Clone, Copy, PartialEq)]
pub(super) enum Unseen {
    /// It sees all of them, or none can be.
    #[default]
    None,
    /// Those of tables in other databases.
    Elsewhere {
        /// Whether it may make tables beside its own, so that one can take its place.
        makes_tables: bool,
    },
    /// Those of any table but its own.
    Anywhere,
}

/// Adds the tables whose rows are changed with those that the load deletes where they are, in the table or behind the view. Whether any
/// refer to it, and which of them are not known.
///
/// # Errors
/// When rows would be deleted through a view of which it can't be told where they are.
fn look_for_children(
    session: &mut Session<'_>,
    found: &mut TableFacts,
    behind: Option<&Behind>,
    request: &Request,
    list: OwnList,
) -> Result<(bool, Unseen)> {
    let truncates = request.if_exists == IfExists::Truncate;
    let replaces =
        request.on_conflict == OnConflict::Replace && request.if_exists != IfExists::Replace;
    if !truncates && !replaces {
        return Ok((false, Unseen::None));
    }
    let is_view = found.storage.is_none();
    if truncates && is_view && behind.is_none() {
        return Err(Error::target(format!(
            "--if-exists truncate would delete the rows behind view {}, and it can't be told which table has them, so neither whether foreign \
             keys change those of others",
            found.name
        ))
        .advise("delete them yourself and load with --if-exists append")
        .advise("or load into the table behind it"));
    }
    let children = children_of(session, found, behind, list);
    let (children, unseen) = children.map_err(|failure| session.explain(failure))?;
    let is_parent = !children.is_empty();
    for (child, changes) in children {
        if changes && !found.dependents.contains(&child) {
            found.dependents.push(child);
        }
    }
    Ok((is_parent, unseen))
}

/// Tables whose foreign keys refer to the table, or to the one behind the view, besides those that are known, and whether their rows are
/// changed with its own.
fn children_of(
    session: &mut Session<'_>,
    found: &TableFacts,
    behind: Option<&Behind>,
    list: OwnList,
) -> Result<(Vec<(String, bool)>, Unseen), Failure> {
    let mut children = Vec::new();
    let own = session.value("SELECT DATABASE()")?.unwrap_or_default();
    let (schema, table, engine) = match behind {
        Some(Behind { schema, table, engine }) => (schema, table, Some(engine)),
        None => (&own, &found.name, found.storage.as_ref()),
    };
    if behind.is_some() {
        // A view may leave rows of the table where they are, and they may refer to the others.
        for row in session.table(&references(&literal(schema), &literal(table)))? {
            if let [_, Some(is_parent), Some(child), Some(changes)] = &row[..]
                && is_parent == "1"
            {
                children.push((child.clone(), changes == "1"));
            }
        }
    }
    // Other engines know of none.
    if engine.is_some_and(|engine| !matches!(engine.as_str(), "innodb" | "ndbcluster")) {
        return Ok((children, Unseen::None));
    }
    // InnoDB's own list has all of its keys, for who has the right PROCESS.
    if engine.is_some_and(|engine| engine == "innodb") {
        let listed = session.table(&listed_references(schema, table, list));
        if let Some(listed) = rights::unless_refused(listed)? {
            for row in listed {
                let mut row = row.into_iter().map(Option::unwrap_or_default);
                let mut next = || row.next().unwrap_or_default();
                let (child, is_own, changes) = (next(), next() == "1", next() == "1");
                let child = match child.split_once('/') {
                    Some((database, name)) if database.eq_ignore_ascii_case(&own) => {
                        name.to_owned()
                    }
                    _ => child.replacen('/', ".", 1),
                };
                if !is_own || behind.is_some() {
                    children.push((child, changes));
                }
            }
            return Ok((children, Unseen::None));
        }
    }
    Ok((children, rights::unseen_keys(session, schema)?))
}

/// How a server writes InnoDB's own list of foreign keys.
#[derive(Clone, Copy)]
struct OwnList {
    /// Whether names are in it as they are: of MySQL 8 alone.
    names_are_plain: bool,
    /// Whether it has what becomes of rows: some versions of MySQL 8 write 0 for every rule (8.0.15 does, 8.0.31 does not), which
    /// elsewhere stands for RESTRICT.
    has_rules: bool,
}

impl OwnList {
    fn of(engine: &str, version: &str) -> Self {
        let is_new = engine.starts_with("MySQL") && numbers(version) >= (8, 0, 0);
        Self { names_are_plain: is_new, has_rules: !is_new || numbers(version) >= (8, 0, 31) }
    }
}

/// A query for the foreign keys to a table by InnoDB's own list: the table that has one, whether that is the same, and whether its rows are
/// changed with those that they refer to (<https://dev.mysql.com/doc/refman/8.0/en/information-schema-innodb-foreign-table.html>). Of a rule
/// that the login may not see the worst is expected.
fn listed_references(schema: &str, table: &str, list: OwnList) -> String {
    let is_plain = list.names_are_plain;
    let changes = match list.has_rules {
        true => "(TYPE & 3) <> 0",
        false => {
            "COALESCE((SELECT MAX(r.DELETE_RULE IN ('CASCADE', 'SET NULL', 'SET DEFAULT')) \
             FROM information_schema.REFERENTIAL_CONSTRAINTS r \
             WHERE CONCAT(r.CONSTRAINT_SCHEMA, '/', r.CONSTRAINT_NAME) = ID), 1)"
        }
    };
    let list = if is_plain { "INNODB_FOREIGN" } else { "INNODB_SYS_FOREIGN" };
    let spelled = |name: &str| match is_plain {
        true => literal(name),
        false if name.is_ascii() => literal(&file_name(name)),
        // MySQL 5.7 has no such conversion, and refuses the query.
        false => {
            format!("CONVERT(CAST(CONVERT({} USING filename) AS BINARY) USING utf8)", literal(name))
        }
    };
    format!(
        "SELECT FOR_NAME, FOR_NAME = REF_NAME, {changes} FROM information_schema.{list} \
         WHERE LOWER(REF_NAME) = LOWER(CONCAT({}, '/', {}))",
        spelled(schema),
        spelled(table)
    )
}

/// Whether rows of other tables refer to the table. Where the login can't be shown all of those, some may.
pub(super) fn has_children(session: &mut Session<'_>, job: &Job) -> Result<bool, Failure> {
    let table = &job.table;
    let of_others = format!(
        "REFERENCED_TABLE_SCHEMA = DATABASE() AND REFERENCED_TABLE_NAME = {0} AND NOT (TABLE_SCHEMA = DATABASE() AND TABLE_NAME = {0})",
        literal(table)
    );
    let columns = session.table(&format!(
        "SELECT TABLE_SCHEMA, TABLE_NAME, CONSTRAINT_NAME, COLUMN_NAME FROM information_schema.KEY_COLUMN_USAGE WHERE {of_others}"
    ))?;
    // A key with a NULL in one of its columns refers to nothing.
    let mut keys: BTreeMap<[String; 3], Vec<String>> = BTreeMap::new();
    for row in columns {
        let mut row = row.into_iter().map(Option::unwrap_or_default);
        let mut next = || row.next().unwrap_or_default();
        let key = [next(), next(), next()];
        keys.entry(key).or_default().push(format!("{} IS NOT NULL", ddl::quote(&next())));
    }
    let version = ServerFacts::of(&job.facts.target).variable("version");
    let list = OwnList::of(&job.facts.target.engine, version);
    let own = session.database().to_owned();
    let listed = session.table(&listed_references(&own, table, list));
    if let Some(listed) = rights::unless_refused(listed)? {
        let is_own =
            |row: &&Vec<Option<String>>| row.get(1).is_some_and(|own| own.as_deref() == Some("1"));
        if listed.iter().filter(|row| !is_own(row)).count() != keys.len() {
            return Ok(true);
        }
    }
    for ([schema, table, _], refers) in keys {
        let look = format!(
            "SELECT 1 FROM {}.{} WHERE {} LIMIT 1",
            ddl::quote(&schema),
            ddl::quote(&table),
            refers.join(" AND ")
        );
        match rights::unless_refused(session.table(&look))? {
            Some(rows) if rows.is_empty() => {}
            _ => return Ok(true),
        }
    }
    Ok(false)
}

/// A name of ASCII as files have it (<https://dev.mysql.com/doc/refman/8.0/en/identifier-mapping.html>).
fn file_name(name: &str) -> String {
    name.chars()
        .map(|c| match c {
            '0'..='9' | 'a'..='z' | 'A'..='Z' | '_' => c.to_string(),
            other => format!("@{:04x}", u32::from(other)),
        })
        .collect()
}

/// What to say where rows would be deleted, and the login may not see whose foreign keys refer to them.
pub(super) fn unseen_error(session: &mut Session<'_>, table: &str, doing: &str) -> Error {
    let account = account(session);
    Error::target(format!(
        "{doing} deletes rows of table {table}, and whether foreign keys change those of other tables with them is not known: \
         the server shows them to a login with rights to those tables"
    ))
    .advise(format!("ask for a right by which they are seen: GRANT PROCESS ON *.* TO {account}"))
}

/// Whose rights the connection has, as GRANT takes it.
fn account(session: &mut Session<'_>) -> String {
    let account = session.value("SELECT CURRENT_USER()").ok().flatten().unwrap_or_default();
    let (user, host) = account.rsplit_once('@').unwrap_or((&account, "%"));
    format!("{}@{}", literal(user), literal(host))
}

/// Refuses an answer to conflicts with keys that the login may not see: MariaDB shows those over columns that it has a right to. Who has
/// one to the table, whichever that is, sees all of them, and the table's definition.
fn refuse_unseen_keys(
    session: &mut Session<'_>,
    table: &str,
    on_conflict: OnConflict,
) -> Result<()> {
    let shown = rights::unless_refused(session.table(&indexes::show_create(table)));
    if shown.map_err(|failure| session.explain(failure))?.is_some() {
        return Ok(());
    }
    let (account, database) = (account(session), session.database().to_owned());
    let place = format!("{}.{}", ddl::quote(&database), ddl::quote(table));
    Err(Error::target(format!(
        "this login has rights to single columns of table {table}, whose keys it may not see, and the server's own --on-conflict {on_conflict} \
         would look at all of them"
    ))
    .advise(format!("ask for a right to the table, by which they are seen: GRANT SELECT ON {place} TO {account}"))
    .advise("--on-conflict fail makes a bad row of a duplicate key"))
}

/// Refuses an answer to conflicts that would reach further than the rows which it is about.
fn refuse_conflicts(
    session: &mut Session<'_>,
    found: &TableFacts,
    request: &Request,
    triggers: &[String],
    is_versioned: bool,
    unseen_keys: Unseen,
) -> Result<()> {
    let name = &found.name;
    if found.storage.is_none() {
        return Err(Error::target(format!(
            "{name} is a view, which has no key that --on-conflict {} could look at",
            request.on_conflict
        ))
        .advise("load into the table behind it"));
    }
    const INTO_OWN: &str = "load into a table of its own, and add what is new by INSERT ... SELECT ... WHERE NOT EXISTS";
    const FAIL: &str = "--on-conflict fail makes a bad row of a duplicate key";
    const KEEPS: &str = "--on-conflict update keeps a row and sets the columns that the source has";
    if request.on_conflict == OnConflict::Skip && is_versioned {
        return Err(Error::target(format!(
            "table {name} is system-versioned, and the server's way to skip a row, an update that changes nothing, adds to its history"
        ))
        .advise(INTO_OWN)
        .advise(FAIL));
    }
    if request.on_conflict == OnConflict::Skip && triggers.iter().any(|event| event == "UPDATE") {
        return Err(Error::target(format!(
            "table {name} has UPDATE triggers, and the server's way to skip a row, an update that changes nothing, would run them"
        ))
        .advise(INTO_OWN)
        .advise(FAIL));
    }
    if request.on_conflict != OnConflict::Replace {
        return Ok(());
    }
    if ddl::keys(found) > 1 {
        return Err(Error::target(format!(
            "table {name} has several unique keys, and the server's REPLACE would delete every row that has one of a new row's"
        ))
        .advise(KEEPS)
        .advise("or load into a table with this key alone, and merge the two by a statement of your own"));
    }
    // The server deletes the row and makes another.
    let rows = session.table(&references_here(name)).map_err(|failure| session.explain(failure))?;
    let mut changed = found.dependents.clone();
    for row in rows {
        if let [_, Some(is_parent), Some(child), Some(changes)] = &row[..]
            && is_parent == "1"
            && changes == "1"
            && !changed.contains(child)
        {
            changed.push(child.clone());
        }
    }
    if changed.is_empty() {
        return match unseen_keys {
            Unseen::Anywhere => {
                Err(unseen_error(session, name, "--on-conflict replace").advise(KEEPS))
            }
            Unseen::None | Unseen::Elsewhere { .. } => Ok(()),
        };
    }
    Err(Error::target(format!(
        "--on-conflict replace would delete rows of table {name}, and so change those of {}, whose foreign keys say so",
        changed.join(", ")
    ))
    .advise(KEEPS))
}

/// Refuses `--table DATABASE.TABLE`, which would be a table of that name in the URL's database.
fn refuse_database(session: &mut Session<'_>, table: &str, request: &Request) -> Result<()> {
    let Some((database, name)) = table.split_once('.').filter(|_| request.table.is_some()) else {
        return Ok(());
    };
    let look = format!(
        "SELECT SCHEMA_NAME FROM information_schema.SCHEMATA WHERE SCHEMA_NAME = {}",
        literal(database)
    );
    match session.value(&look).map_err(|failure| session.explain(failure))? {
        None => Ok(()),
        Some(database) => Err(Error::usage(format!(
            "--table {table}: the server has a database {database}, and the table would be made in database {}, with the dot in its name",
            session.database()
        ))
        .advise(format!("name the database in the URL, behind the host: /{database}, and the table with --table {name}"))),
    }
}

/// The table behind a view.
struct Behind {
    schema: String,
    table: String,
    /// In lower case.
    engine: String,
}

/// The table behind a view, or behind a view that it reads, where it is that table's alone and the login sees them all.
fn behind_view(session: &mut Session<'_>, view: &str) -> Result<Option<Behind>, Failure> {
    /// Views behind each other.
    const VIEWS_MAX: usize = 8;
    let mut read = ("DATABASE()".to_owned(), literal(view));
    for _ in 0..VIEWS_MAX {
        let named = format!("TABLE_SCHEMA = {} AND TABLE_NAME = {}", read.0, read.1);
        let definition = session.value(&format!(
            "SELECT VIEW_DEFINITION FROM information_schema.VIEWS WHERE {named}"
        ))?;
        let Some((schema, table)) = definition.as_deref().and_then(only_table) else { break };
        read = (literal(&schema), literal(&table));
        let named = format!("TABLE_SCHEMA = {} AND TABLE_NAME = {}", read.0, read.1);
        let engine = session
            .value(&format!("SELECT LOWER(ENGINE) FROM information_schema.TABLES WHERE {named}"))?;
        if let Some(engine) = engine {
            return Ok(Some(Behind { schema, table, engine }));
        }
    }
    Ok(None)
}

/// The one table that a view reads, as its definition names each: with its database, whatever the login may see of it.
fn only_table(definition: &str) -> Option<(String, String)> {
    let is_one = definition.matches("select ").count() == 1 && !definition.contains("join ");
    let from = definition.split_once(" from ").filter(|_| is_one)?.1;
    let (schema, rest) = quoted(from)?;
    let (table, _) = quoted(rest.strip_prefix('.')?)?;
    Some((schema, table))
}

/// A name in backticks at the beginning of a text, and what follows it.
fn quoted(text: &str) -> Option<(String, &str)> {
    let (mut name, mut rest) = (String::new(), text.strip_prefix('`')?);
    loop {
        let (part, behind) = rest.split_once('`')?;
        name.push_str(part);
        match behind.strip_prefix('`') {
            Some(behind) => {
                name.push('`');
                rest = behind;
            }
            None => return Some((name, behind)),
        }
    }
}

/// A query for columns whose default asks a sequence (<https://mariadb.com/kb/en/sequence-functions/>).
fn sequence_defaults(table: &str) -> String {
    format!(
        "SELECT 1 FROM information_schema.COLUMNS WHERE TABLE_SCHEMA = DATABASE() AND TABLE_NAME = {} \
         AND COLUMN_DEFAULT REGEXP '(nextval|lastval|setval)[(]' LIMIT 1",
        literal(table)
    )
}

/// A query for the names of columns that the server fills by its clock, with the time of the session's zone. A TIMESTAMP keeps the moment
/// (<https://dev.mysql.com/doc/refman/8.0/en/timestamp-initialization.html>).
fn clock_columns(table: &str) -> String {
    format!(
        "SELECT COLUMN_NAME FROM information_schema.COLUMNS WHERE TABLE_SCHEMA = DATABASE() AND TABLE_NAME = {} AND DATA_TYPE <> 'timestamp' \
         AND (LOWER(COLUMN_DEFAULT) REGEXP '(current_timestamp|localtime|now[(]|sysdate|curdate|curtime|current_date|current_time)' \
         OR LOWER(EXTRA) LIKE '%on update%') ORDER BY ORDINAL_POSITION",
        literal(table)
    )
}

/// Whether a column of the table that counts by itself may come to a number that is out of its range: InnoDB stays at the last one.
pub(super) fn may_count_out_of_range(table: &TableFacts) -> bool {
    table.storage.as_deref() != Some("innodb")
}

/// A query for the name of the column that counts by itself.
fn counting_column(table: &str) -> String {
    format!(
        "SELECT COLUMN_NAME FROM information_schema.COLUMNS WHERE TABLE_SCHEMA = DATABASE() AND TABLE_NAME = {} \
         AND LOWER(EXTRA) LIKE '%auto_increment%'",
        literal(table)
    )
}

/// What the numbers of a spatial reference system are, as the server defines it
/// (<https://dev.mysql.com/doc/refman/8.0/en/spatial-reference-systems.html>): only those of the globe may have latitude first.
fn axes(definition: &str) -> String {
    if !definition.starts_with("GEOGCS[") {
        return String::new();
    }
    let first = definition.split("AXIS[").nth(1).and_then(|axis| axis.split(']').next());
    let is_latitude = first.is_some_and(|axis| axis.ends_with("NORTH") || axis.ends_with("SOUTH"));
    let is_degrees = definition.contains("UNIT[\"degree\"");
    let order = if is_latitude { types::LATITUDE_FIRST } else { "" };
    [order, if is_degrees { types::DEGREES } else { "" }].concat()
}

/// Engines whose tables keep their rows themselves, so that a second table made like one is another table. Those of others (MERGE,
/// FEDERATED, CONNECT, SPIDER) have their rows in tables elsewhere, which both would write into.
const KEEP_ROWS: [&str; 11] = [
    "innodb",
    "rocksdb",
    "tokudb",
    "myisam",
    "aria",
    "memory",
    "csv",
    "archive",
    "blackhole",
    "columnstore",
    "ndbcluster",
];

/// The table that has this entry.
///
/// # Errors
/// When the server refuses, or the table is none that takes rows.
pub(super) fn with_columns(
    session: &mut Session<'_>,
    table: &str,
    entry: TextRows,
) -> Result<Option<TableFacts>> {
    let found = table_facts(session, table, entry);
    found.map_err(|failure| session.explain(failure)).and_then(|found| match found {
        Some(facts) if facts.columns.is_empty() => Err(Error::new(
            Kind::Target,
            format!("table {table} has no column that can be written"),
        )),
        found => Ok(found),
    })
}

fn table_facts(
    session: &mut Session<'_>,
    table: &str,
    entry: TextRows,
) -> Result<Option<TableFacts>, Failure> {
    let Some(row) = entry.into_iter().next() else { return Ok(None) };
    let mut row = row.into_iter();
    let name = row.next().flatten().unwrap_or_else(|| table.to_owned());
    let storage = row.next().flatten();
    let kind = row.next().flatten().unwrap_or_default();
    let options = row.next().flatten().unwrap_or_default();
    let mut facts = TableFacts { name, storage, ..TableFacts::default() };

    let of = |table_column: &str, schema_column: &str| {
        format!("{schema_column} = DATABASE() AND {table_column} = {}", literal(table))
    };
    let columns = format!(
        "SELECT COLUMN_NAME, COLUMN_TYPE, CHARACTER_SET_NAME, IS_NULLABLE, COLUMN_DEFAULT IS NOT NULL, EXTRA, COLLATION_NAME, \
         COLUMN_COMMENT, 0 /*M!100300 OR GENERATION_EXPRESSION = 'ROW END' */ \
         /*!80003 , SRS_ID, (SELECT s.DEFINITION FROM information_schema.ST_SPATIAL_REFERENCE_SYSTEMS s WHERE s.SRS_ID = c.SRS_ID) */ \
         FROM information_schema.COLUMNS c WHERE {} ORDER BY ORDINAL_POSITION",
        of("TABLE_NAME", "TABLE_SCHEMA")
    );
    let keys = format!(
        "SELECT INDEX_NAME, IF(SUB_PART IS NULL, COLUMN_NAME, NULL) FROM information_schema.STATISTICS WHERE {} AND NON_UNIQUE = 0 \
         ORDER BY INDEX_NAME, SEQ_IN_INDEX",
        of("TABLE_NAME", "TABLE_SCHEMA")
    );
    let references = references_here(table);
    let triggers = triggers(table);
    // MySQL's from 8.0 on; MariaDB takes what others say between these for a comment (https://mariadb.com/kb/en/comment-syntax/). The
    // LIMIT keeps the server from writing the condition into the query within, in its own spelling of the name, which it then reads in
    // the session's mode.
    let histograms = format!(
        "SELECT 1 FROM (SELECT '' AS SCHEMA_NAME, '' AS TABLE_NAME FROM DUAL WHERE 1 = 0 \
         /*!80000 UNION ALL SELECT SCHEMA_NAME, TABLE_NAME FROM information_schema.COLUMN_STATISTICS */ LIMIT 1000000) s WHERE {} LIMIT 1",
        of("TABLE_NAME", "SCHEMA_NAME")
    );
    let first_row = ddl::first_row(&facts.name);
    let [server, columns, keys, references, triggers, histograms, first_row, explicit] = session
        .tables([
            "SELECT VERSION(), DATABASE()",
            &columns,
            &keys,
            &references,
            &triggers,
            &histograms,
            &first_row,
            "SHOW VARIABLES LIKE 'explicit_defaults_for_timestamp'",
        ])?;
    facts.holds_rows = !first_row.is_empty();
    // Without it NULL is the time for a TIMESTAMP that takes none
    // (https://dev.mysql.com/doc/refman/8.0/en/server-system-variables.html#sysvar_explicit_defaults_for_timestamp).
    let is_explicit =
        explicit.first().and_then(|row| row.get(1)?.as_deref()).is_some_and(|value| value == "ON");
    let mut row_end = None;
    for row in columns {
        let mut row = row.into_iter().map(Option::unwrap_or_default);
        let mut next = || row.next().unwrap_or_default();
        let (name, spelled, charset) = (next(), next(), next());
        let (nullable, has_default, extra) =
            (next() == "YES", next() == "1", next().to_lowercase());
        let (collation, comment, is_row_end) = (next(), next(), next() == "1");
        let (srid, system) = (next(), next());
        if is_row_end {
            row_end = Some(name.clone());
        }
        // Their values are the server's to compute.
        if ["generated", "virtual", "persistent", "stored"]
            .iter()
            .any(|word| extra.contains(word) && !extra.contains("default_generated"))
        {
            facts.computed.push(name);
            continue;
        }
        if extra.contains("invisible") {
            facts.invisible.push(name.clone());
        }
        let mut declared = spelled;
        if !matches!(charset.as_str(), "" | "utf8mb4") {
            declared.push_str(&format!(" character set {charset}"));
        }
        // Of the others only the server compares values.
        if ["enum", "set"].iter().any(|name| declared.starts_with(name)) {
            declared.push_str(&format!(" collate {collation}"));
        }
        if declared.starts_with("datetime") && comment == "UTC" {
            declared.push_str(types::UTC);
        }
        if !srid.is_empty() {
            declared.push_str(&format!(" srid {srid}{}", axes(&system)));
        }
        let fills_itself =
            extra.contains("auto_increment") || declared.starts_with("timestamp") && !is_explicit;
        if !nullable && !has_default && !fills_itself {
            facts.needs.push(name.clone());
        }
        facts.default_bytes.push(1);
        facts.columns.push(Column {
            name,
            ty: types::declared(&declared),
            declared: Some(declared),
            basis: Basis::Declared,
            required: !nullable,
        });
    }
    let mut unique: BTreeMap<String, Vec<String>> = BTreeMap::new();
    // An expression and the first characters of a text are no column: they have no name, so that a key with them is unique over no columns.
    for row in keys {
        let mut row = row.into_iter().map(Option::unwrap_or_default);
        // MariaDB has each key of a system-versioned table end in the end of the row's time, which all current rows have in common
        // (https://mariadb.com/kb/en/system-versioned-tables/).
        if let (Some(index), Some(column)) = (row.next(), row.next())
            && row_end.as_ref() != Some(&column)
        {
            unique.entry(index).or_default().push(column);
        }
    }
    let is_whole = |key: &Vec<String>| key.iter().all(|column| !column.is_empty());
    if unique.get("PRIMARY").is_some_and(is_whole) {
        facts.primary_key = unique.remove("PRIMARY").unwrap_or_default();
    }
    facts.unique_keys = unique.into_values().collect();

    let mut is_child = false;
    for row in references {
        let mut row = row.into_iter().map(Option::unwrap_or_default);
        let mut next = || row.next().unwrap_or_default();
        let (is_own, is_parent, child, changes) =
            (next() == "1", next() == "1", next(), next() == "1");
        is_child |= is_own;
        // What a table's own keys ask of it goes when it goes.
        if is_parent && !is_own {
            facts.is_parent = true;
            if changes && !facts.dependents.contains(&child) {
                facts.dependents.push(child);
            }
        }
    }
    let (mut create, mut grants) = (None, Vec::new());
    if kind == "BASE TABLE" {
        let show = indexes::show_create(&facts.name);
        let asked = [indexes::PLAIN, &show, rights::SHOW_GRANTS, indexes::RESTORE];
        // Whoever may not see it may not build its indexes either.
        if let Some([_, shown, granted, _]) =
            rights::unless_refused(indexes::plainly(session, asked))?
        {
            (create, grants) = (Some(indexes::created(shown)), granted);
        }
    }
    let documents = create.as_deref().map(indexes::documents).unwrap_or_default();
    for column in &mut facts.columns {
        if column.ty == Type::Text && documents.contains(&column.name) {
            column.ty = Type::Json;
        }
    }
    let mut server = server.into_iter().flatten().map(Option::unwrap_or_default);
    let (version, database) =
        (server.next().unwrap_or_default(), server.next().unwrap_or_default());
    facts.engine_only = if kind != "BASE TABLE" {
        Some(format!("{table} is a {}", kind.to_lowercase()))
    } else if let Some(engine) =
        facts.storage.as_deref().filter(|engine| !KEEP_ROWS.contains(engine))
    {
        Some(format!("table {table} is of the engine {engine}, whose rows may be in other tables"))
    } else if !triggers.is_empty() {
        Some(format!("table {table} has triggers"))
    } else if is_child {
        Some(format!("table {table} has foreign keys"))
    } else if options.to_lowercase().contains("data directory") {
        Some(format!("table {table} has a directory of its own"))
    } else if !histograms.is_empty() {
        Some(format!("table {table} has histograms"))
    } else if !rights::may_make_triggers(grants, &database, &facts.name) {
        Some(format!(
            "whether table {table} has triggers is not known: the server shows them to a login with the TRIGGER right"
        ))
    } else if version.contains("MariaDB") {
        None
    } else if create.as_ref().is_none_or(|create| indexes::renames_checks(create, &facts.name)) {
        Some(format!("table {table} has CHECK constraints with names"))
    } else {
        None
    };
    // Other engines build an index by writing the whole table again.
    if facts.storage.as_deref() == Some("innodb") {
        facts.indexes = create.as_deref().map(indexes::deferrable).unwrap_or_default();
    }
    Ok(Some(facts))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn foreign_keys_are_listed_by_the_names_of_files() {
        assert_eq!(file_name("my-t_1 $"), "my@002dt_1@0020@0024");
    }

    #[test]
    fn names_that_the_server_does_not_keep_are_refused() {
        for name in ["a\u{1f600}", "a ", &"x".repeat(65)] {
            assert!(name_fault(name).is_some(), "{name}");
        }
        for name in ["\u{ffff}", "na\u{ef}ve", &"\u{e9}".repeat(64)] {
            assert!(name_fault(name).is_none(), "{name}");
        }
    }
}
