//! A load into MySQL or MariaDB, step by step: the same for every strategy except for the encoder and the statements.

use std::collections::BTreeMap;
use std::sync::atomic::{AtomicBool, Ordering::Relaxed};
use std::sync::{Arc, PoisonError};

use crate::connect::{self, Place};
use crate::ddl::{self, quote};
use crate::encode::{Real, Stores, session_zone};
use crate::facts::{self, ALL_ROWS, ServerFacts, Unseen};
use crate::knobs::{
    BINLOG, ENGINE, FOREIGN_KEY_CHECKS, INDEXES, ROWS_PER_STATEMENT, ROWS_PER_TRANSACTION,
    SQL_LOG_BIN, UNIQUE_CHECKS,
};
use crate::session::{Counter, Failure, Session};
use crate::staging::{self, Staging};
use crate::types::{self, Class, SessionZone};
use inrush_core::encode::Shape;
use inrush_core::error::{Aftermath, Error, Result};
use inrush_core::flow::checksum::Stored;
use inrush_core::flow::{Checksum, Encode};
use inrush_core::ledger::{self, Begun, Entry};
use inrush_core::target::{
    Ended, Fit, Inspect, Knobs, Lane, Load, Memory, Sent, Snapshot, Verdict, Weakness,
};
use inrush_core::{
    Action, Column, Durability, Facts, Guarantee, IfExists, Job, OnConflict, Request, Retry,
    TableFacts, Verify,
};
use inrush_net::statement::{Bounds, Commits, Held, Shared, StatementLane, Undo, Write};

/// What differs between strategies.
pub(super) trait Writing: Sync {
    fn encoder(&self, shape: Arc<Shape>, stores: &Stores, job: &Job) -> Box<dyn Encode>;

    /// What writes the rows of one lane into `table`.
    ///
    /// # Errors
    /// When it can't be made ready.
    fn writer<'p, 's: 'p>(
        &self,
        session: &mut Session<'s>,
        table: &str,
        stores: &Stores,
        job: &'p Job,
    ) -> Result<Box<dyn Write<Session<'s>> + 'p>>;

    /// The engine that takes the rows, where it isn't the table's in the end.
    fn engine<'k>(&self, in_the_end: &'k str) -> &'k str {
        in_the_end
    }

    /// Whether [`Writing::complete`] takes so long that the user wants to be told.
    fn completes_slowly(&self) -> bool {
        false
    }

    /// Looks, before anything is made, whether the load can be done so.
    ///
    /// # Errors
    /// Why it can't be done.
    fn ready(&self, _session: &mut Session<'_>, _job: &Job) -> Result<()> {
        Ok(())
    }

    /// Whether the writer takes all rows and ends once, and not at the end of each of several transactions.
    fn writes_once(&self) -> bool {
        false
    }

    /// Whether the server reads the rows from a file by the hidden table's definition, without a statement that names their columns.
    fn writes_file(&self) -> bool {
        false
    }

    /// The hidden table is dropped: removes what else there is of it.
    fn discard(&self, _session: &Session<'_>, _table: &str, _job: &Job) {}

    /// All rows are sent. Returns how many there are where they were counted on the way.
    fn complete(
        &self,
        _session: &mut Session<'_>,
        _table: &str,
        _plan: &Job,
    ) -> Result<Option<u64>, Failure> {
        Ok(None)
    }
}

/// Whether the rows go into a hidden table first, which then takes the name: the table is new, or another can take its place and
/// nobody notices.
fn is_staged(request: &Request, facts: &Facts) -> bool {
    request.guarantee == Guarantee::Atomic
        && !request.shares_table
        && facts.kept_table(request).is_none_or(|table| {
            (request.if_exists == IfExists::Truncate || !table.holds_rows)
                && request.on_conflict == OnConflict::Fail
                // A table of the load's own is nobody else's to have triggers on.
                && (request.owns_table || table.engine_only.is_none())
                && !table.is_parent
                && !ServerFacts::of(&facts.target).is_parent
        })
}

/// Whether no row of another table can refer to those of the job's: what foreign keys are left are the table's own, to itself or to others.
fn refers_only_to_itself(job: &Job) -> bool {
    let server = ServerFacts::of(&job.facts.target);
    let is_table = |table: &TableFacts| table.storage.is_some() && !table.is_parent;
    job.kept_table().is_some_and(is_table)
        && !server.is_parent
        && server.unseen_keys == Unseen::None
}

/// The engine that keeps the plan's table in the end.
pub(super) fn engine_of(job: &Job) -> &str {
    engine(&job.request, &job.facts, &job.choice.knobs)
}

/// What [`engine`] says of a view, where it can't be told what keeps its rows.
const UNKNOWN: &str = "unknown";

/// The engine that keeps the table in the end; of a view, the one that keeps the table behind it.
pub(super) fn engine<'f>(request: &Request, facts: &'f Facts, knobs: &'f Knobs) -> &'f str {
    let behind_view = || ServerFacts::of(&facts.target).behind_view.as_deref();
    match facts.kept_table(request) {
        Some(table) => table.storage.as_deref().or_else(behind_view).unwrap_or(UNKNOWN),
        None => knobs.get(&ENGINE).unwrap_or("innodb"),
    }
}

/// A table that the engine keeps, in words.
fn kept_by(engine: &str) -> String {
    match engine {
        UNKNOWN => "a view of which it can't be told what keeps its rows".to_owned(),
        engine => format!("a table of the engine {engine}"),
    }
}

/// Whether a failed statement, and a transaction that is rolled back, leave no trace.
pub(super) fn has_transactions(engine: &str) -> bool {
    matches!(engine, "innodb" | "rocksdb")
}

/// What a crash of server or machine leaves of what was committed.
fn durability(engine: &str, facts: &Facts) -> (Durability, Option<Weakness>) {
    let thing = || Some(Weakness::thing(kept_by(engine)));
    let name = match engine {
        "innodb" => "innodb_flush_log_at_trx_commit",
        "rocksdb" => "rocksdb_flush_log_at_trx_commit",
        // https://mariadb.com/kb/en/memory-storage-engine/: in memory only.
        "memory" | "blackhole" => return (Durability::None, thing()),
        // Their files are written, and nobody syncs them.
        _ => return (Durability::Process, thing()),
    };
    // https://dev.mysql.com/doc/refman/8.0/en/innodb-parameters.html#sysvar_innodb_flush_log_at_trx_commit
    let found = match ServerFacts::of(&facts.target).variable(name) {
        "" => "unknown",
        found => found,
    };
    let weakness = || Some(Weakness::server(name, found, "1"));
    match found {
        "1" => (Durability::Durable, None),
        "2" => (Durability::Process, weakness()),
        _ => (Durability::None, weakness()),
    }
}

/// Below so many bytes of input a second connection has nothing to do.
const BYTES_FOR_LANES: u64 = 4 << 20;

/// Rows that are shorter than this crowd where the server numbers them: of 76 bytes in 8 columns one connection wrote 1.5 to 1.7 times as
/// many as two (MariaDB 10.11 and MySQL 8.0, two processors), of 235 bytes two wrote 1.1 times as many as one.
const CROWDING_BYTES: u64 = 200;

/// Bytes of rows between two commits into a table that is ours alone: so many that waiting for the disk doesn't show, and few
/// enough that the server need not remember much.
const COMMIT_BYTES: usize = 16 << 20;

/// More connections than this help no server.
const LANES_MAX: usize = 64;

/// Below so many bytes of input it is cheaper to keep the indexes of an existing table while its rows come.
const BYTES_FOR_INDEXES: u64 = 4 << 20;

/// Indexes of the existing table which are built after the rows.
fn indexes_after<'f>(request: &Request, facts: &'f Facts, knobs: &Knobs) -> &'f [String] {
    match facts.kept_table(request) {
        Some(table) if is_staged(request, facts) && knobs.is(&INDEXES, "after") => &table.indexes,
        _ => &[],
    }
}

/// Decides when indexes are built, where the user leaves it to us, and says what comes of it; an error is why the user's wish
/// can't be had.
fn time_indexes(
    request: &Request,
    facts: &Facts,
    knobs: &mut Knobs,
) -> Result<Option<String>, &'static str> {
    let count = match facts.kept_table(request) {
        Some(table) if !table.indexes.is_empty() => {
            let small = facts.source.bytes.is_some_and(|bytes| bytes < BYTES_FOR_INDEXES);
            // The hidden table has to be like the existing one when they are built.
            let is_wider = !facts.new_fields(request).is_empty();
            if is_wider && knobs.is_set(&INDEXES) && knobs.is(&INDEXES, "after") {
                return Err("indexes=after takes a table that no columns are added to");
            }
            if small || is_wider || !is_staged(request, facts) {
                knobs.suggest(&INDEXES, "before");
            }
            if !is_staged(request, facts) && knobs.is(&INDEXES, "after") {
                return Err(
                    "indexes=after takes a hidden table, and the rows go straight into the existing one",
                );
            }
            indexes_after(request, facts, knobs).len()
        }
        None if !knobs.is(&INDEXES, "before") => request.indexes.len(),
        _ => 0,
    };
    Ok(match count {
        0 => None,
        1 => Some("1 index is built after the rows".to_owned()),
        _ => Some(format!("{count} indexes are built after the rows, in one go")),
    })
}

/// What all strategies answer to `fit`.
pub(super) fn fit(request: &Request, facts: &Facts, knobs: &mut Knobs, many_lanes: bool) -> Fit {
    let kept = facts.kept_table(request);
    let engine = engine(request, facts, knobs).to_owned();
    let unusable = |reason: String| Fit::Unusable { reason };
    let server = ServerFacts::of(&facts.target);
    if kept.is_none() && !server.engines.contains(&engine) {
        let known = server.engines.join(" ");
        return unusable(format!("the server has no engine {engine}; it has {known}"));
    }
    // A table is of another engine than InnoDB only where the user names that, or a strategy for such tables.
    let is_named = request.strategy.is_some() || knobs.is_set(&ENGINE);
    if kept.is_none() && engine != ENGINE.default && !is_named {
        return Fit::Foreign { reason: format!("its tables are of the engine {engine}") };
    }
    if engine == "csv"
        && kept.is_none()
        && (!request.primary_key.is_empty() || !request.indexes.is_empty())
    {
        return unusable("tables of the CSV engine have no keys".to_owned());
    }
    if engine == "blackhole" && request.verify != Verify::None {
        return Fit::Wrong {
            reason: "a table of the engine blackhole keeps no rows that could be counted"
                .to_owned(),
            advice: "--verify none sends them all the same".to_owned(),
        };
    }
    if let Some(why) = &facts.target.read_only {
        return unusable(why.clone());
    }
    let in_steps = request.guarantee == Guarantee::Chunks;
    if in_steps && request.if_exists == IfExists::Replace {
        return Fit::Wrong {
            reason: "--guarantee chunks: the server makes and drops tables outside of transactions"
                .to_owned(),
            advice: "--if-exists truncate keeps the table".to_owned(),
        };
    }
    if in_steps && let Some(reason) = no_steps(&engine, knobs) {
        return unusable(reason);
    }
    if in_steps {
        knobs.suggest(&INDEXES, "before");
    }
    let staged = is_staged(request, facts);
    let transactions = has_transactions(&engine);
    if !staged && engine != "innodb" {
        // Nothing could take back the first rows of a statement that fails at a later one.
        knobs.suggest(&ROWS_PER_STATEMENT, "1");
    }
    if knobs.is(&UNIQUE_CHECKS, "off") && kept.is_some_and(|table| !table.unique_keys.is_empty()) {
        // https://dev.mysql.com/doc/refman/8.0/en/server-system-variables.html#sysvar_unique_checks
        return unusable(
            "with unique_checks=off a repeated key of a secondary index may go unseen".to_owned(),
        );
    }
    if !staged && knobs.is(&FOREIGN_KEY_CHECKS, "off") {
        return unusable(
            "with foreign_key_checks=off rows without a parent would go unseen".to_owned(),
        );
    }
    let keyed = match kept {
        Some(table) => !table.primary_key.is_empty() || !table.unique_keys.is_empty(),
        None => !request.primary_key.is_empty(),
    };
    let commits = knobs.get_count(&ROWS_PER_TRANSACTION).is_some_and(|rows| rows != 0);
    let mut notes = Vec::new();
    // Several connections would decide by their speed which of two rows with one key is the last.
    let conflicts = request.on_conflict != OnConflict::Fail;
    // One more makes the hidden table, where the login may have it.
    let allowed = server.connections_max().map_or(LANES_MAX, |max| (max - 1).clamp(1, LANES_MAX));
    let lanes_max = if staged && many_lanes && !conflicts { allowed } else { 1 };
    // A second connection fills the gaps of the first while it waits for the disk or for us, even on one core.
    let large = facts.source.bytes.is_none_or(|bytes| bytes >= BYTES_FOR_LANES);
    // Of a pipe nobody can say a second time which of two rows came first.
    let ordered = keyed && !facts.source.seekable;
    let crowded = lanes_max > 1 && crowds(&engine, keyed, facts);
    let lanes = match large && !ordered && !crowded {
        true => facts.processors.clamp(2, 4).min(lanes_max),
        false => 1,
    };
    notes.push(match (staged, facts.target.table.is_some()) {
        _ if in_steps => "one connection, and a transaction for each step".to_owned(),
        (true, false) => "the rows go into a hidden table, which gets its name when all are in: a rename".to_owned(),
        (true, true) => "the rows go into a hidden table, which takes the place of the existing one when all are in: a rename".to_owned(),
        (false, _) if transactions && !commits => match kept.and_then(|table| table.engine_only.as_ref()) {
            Some(reason) => format!("one connection and one transaction: {reason}"),
            None => "one connection and one transaction: the table is in use".to_owned(),
        },
        (false, _) if transactions => "one connection, straight into the table".to_owned(),
        (false, _) => format!(
            "one connection, row by row: what a load that fails has sent stays, also rows behind the bad one ({})",
            kept_by(&engine)
        ),
    });
    if crowded && large && request.lanes.is_none() {
        notes.push(
            "one connection: rows without a primary key are numbered by the server, and short ones of several connections wait for each other there (--primary-key)"
                .to_owned(),
        );
    }
    match time_indexes(request, facts, knobs) {
        Ok(note) => notes.extend(note),
        Err(reason) => return unusable(reason.to_owned()),
    }
    if let Some(table) = kept.filter(|_| staged && logs_rows(server, knobs)) {
        notes.push(format!(
            "log_bin is ON: the binary log has the rows under the hidden table's name, so what follows it by the names of tables sees none of {} \
             (--guarantee chunks writes into the table itself)",
            table.name
        ));
    }
    if !staged && !facts.new_fields(request).is_empty() {
        notes.push(
            "the columns are added before the rows, for ALTER TABLE commits: a load that fails drops them again, one that is killed leaves them, all NULL"
                .to_owned(),
        );
    }
    notes.extend(advice(facts, &engine, knobs));
    let (durability, weakness) = durability(&engine, facts);
    Fit::Usable {
        atomic: staged || transactions && !commits,
        durability,
        weakness,
        lanes,
        lanes_max,
        // The server does most of the work, and may be on this machine.
        encoders: (facts.processors / 2).max(1),
        notes,
    }
}

/// Whether rows of several connections would be in each other's way: InnoDB numbers rows of a table without a key itself, one after the
/// other for all tables (<https://dev.mysql.com/doc/refman/8.0/en/innodb-index-types.html>), and they all go to the end of one tree.
fn crowds(engine: &str, keyed: bool, facts: &Facts) -> bool {
    engine == "innodb"
        && !keyed
        && facts.source.row_bytes.is_none_or(|bytes| bytes < CROWDING_BYTES)
}

/// Why a load with these knobs can't be committed step by step.
fn no_steps(engine: &str, knobs: &Knobs) -> Option<String> {
    if engine != "innodb" {
        return Some(format!(
            "{} has no transaction that takes rows and the ledger together: it takes InnoDB",
            kept_by(engine)
        ));
    }
    let reason = match () {
        () if knobs.get_count(&ROWS_PER_TRANSACTION).is_some_and(|rows| rows != 0) => {
            "rows_per_transaction commits without the ledger; --commit-rows says how many rows a step has"
        }
        () if knobs.is_set(&INDEXES) && knobs.is(&INDEXES, "after") => {
            "indexes=after changes the table outside of transactions"
        }
        () => return None,
    };
    Some(reason.to_owned())
}

/// Settings of the server that hold this load back, with what was found and what would help. They are the administrator's.
fn advice(facts: &Facts, engine: &str, knobs: &Knobs) -> Vec<String> {
    let server = ServerFacts::of(&facts.target);
    let bytes = |name: &str| server.variable(name).parse::<u64>().ok();
    let mut notes = Vec::new();
    let input = facts.source.bytes.unwrap_or(0);
    if engine == "innodb" {
        if let Some(pool) = bytes("innodb_buffer_pool_size").filter(|pool| *pool < input) {
            notes.push(format!(
                "innodb_buffer_pool_size is {} MB and the input {} MB: a larger pool saves writing pages twice",
                pool >> 20,
                input >> 20
            ));
        }
        // Where the capacity isn't set, its variable says the default, whatever the files' sizes come to.
        let files = bytes("innodb_log_files_in_group").unwrap_or(1);
        let of_files = bytes("innodb_log_file_size").map(|size| size.saturating_mul(files));
        let redo = bytes("innodb_redo_log_capacity").max(of_files);
        if let Some(redo) = redo.filter(|redo| *redo < input) {
            notes.push(format!(
                "the redo log holds {} MB: a larger one (innodb_redo_log_capacity, innodb_log_file_size) lets the load run ahead of the disk",
                redo >> 20
            ));
        }
        if server.variable("innodb_doublewrite") == "ON" && input > 1 << 30 {
            notes.push("innodb_doublewrite is ON: every page is written twice, which only file systems with atomic writes make superfluous".to_owned());
        }
    }
    if knobs.get(&SQL_LOG_BIN).is_some() && logs_rows(server, knobs) {
        notes.push("log_bin is ON: every row goes into the binary log as well (--set sql_log_bin=off leaves it out, with the privilege for that; replicas then lack the rows)".to_owned());
    }
    notes
}

/// Whether the rows of a load with these knobs go into the binary log as well.
fn logs_rows(server: &ServerFacts, knobs: &Knobs) -> bool {
    server.variable("log_bin") == "ON"
        && !knobs.is(&SQL_LOG_BIN, "off")
        && !knobs.is(&BINLOG, "skip")
}

/// What a user should know of the table's triggers, and of columns that the load leaves to the server.
pub(super) fn cautions(job: &Job) -> Vec<String> {
    let Job { request, facts, choice, .. } = job;
    let Some(table) = facts.kept_table(request) else { return Vec::new() };
    let server = ServerFacts::of(&facts.target);
    let mut cautions = Vec::new();
    if session_zone(job) == SessionZone::UtcForLoad {
        let is_left = |name: &&String| !choice.columns.iter().any(|column| column.name == **name);
        let mut clocks: Vec<String> = server.clocks.iter().filter(is_left).cloned().collect();
        if !server.triggers.is_empty() {
            clocks.push("its triggers".to_owned());
        }
        if !clocks.is_empty() {
            cautions.push(format!(
                "the load's clock shows UTC, for a TIMESTAMP column gets moments with an offset: what {} of table {} get from the server's clock \
                 is UTC too, and not the server's local time",
                clocks.join(", "),
                table.name
            ));
        }
    }
    let is_swapped = |column: &&Column| {
        column.declared.as_ref().is_some_and(|declared| declared.contains(types::LATITUDE_FIRST))
    };
    let swapped: Vec<&str> =
        choice.columns.iter().filter(is_swapped).map(|column| column.name.as_str()).collect();
    if !swapped.is_empty() {
        cautions.push(format!(
            "text (WKT) has latitude first in {}, as ST_GeomFromText reads it for the column's SRID; behind SRID=...; it has longitude first",
            swapped.join(", ")
        ));
    }
    if !server.triggers.is_empty() && has_transactions(engine_of(job)) {
        cautions.push(format!(
            "table {} has triggers: what they write into tables without transactions stays when the load fails, and is written again \
             where a bad row has its neighbours sent again (--set rows_per_statement=1 sends each row once)",
            table.name
        ));
    }
    let deletes = choice.action == Action::Truncate || request.on_conflict == OnConflict::Replace;
    if let Unseen::Elsewhere { makes_tables } = server.unseen_keys
        && deletes
        && !(makes_tables && is_staged(request, facts))
    {
        cautions.push(format!(
            "whether foreign keys of other databases refer to table {} is not known, for this login has no rights to those: \
             they could change rows with the ones that are deleted (GRANT PROCESS ON *.* shows them)",
            table.name
        ));
    }
    if server.hides_triggers && request.on_conflict == OnConflict::Skip {
        cautions.push(format!(
            "whether table {} has UPDATE triggers is not known, for the server shows them to a login with the TRIGGER right: \
             they would run for each row that --on-conflict skip leaves as it is",
            table.name
        ));
    }
    cautions
}

pub(super) fn memory(request: &Request) -> Memory {
    // Connections, their buffers, and the program itself.
    let fixed_bytes = 16 << 20;
    match request.verify {
        // The narrowest field is one byte, and becomes a cell of 16 bytes besides; and a row has a mark.
        Verify::Checksum => Memory { wire_bytes_per_byte: 24, fixed_bytes, chunk_bytes: 384 << 10 },
        // An empty field becomes NULL and a comma; a digit a number of eight bytes.
        Verify::Count | Verify::None => Memory {
            wire_bytes_per_byte: 11,
            fixed_bytes,
            // A statement has a price whatever its size: opening the table, a savepoint, a round trip.
            chunk_bytes: 768 << 10,
        },
    }
}

/// A load under way.
pub(super) struct MysqlLoad<'a> {
    job: &'a Job,
    stop: &'a AtomicBool,
    place: Arc<Place>,
    session: Session<'a>,
    writing: &'static dyn Writing,
    engine: String,
    staging: Option<Staging>,
    stores: Stores,
    shape: Arc<Shape>,
    shared: Shared,
    before: Snapshot,
    /// Something was sent that ends in success or failure on the server, and no answer came.
    unsure: bool,
    /// Statements that committed by themselves have changed the table.
    changed: bool,
    /// The existing table has got columns, which a load that fails takes out again.
    widened: bool,
    /// Rows of the table, where they were counted before anybody asked.
    counted: Option<u64>,
    /// What a load in steps has committed before its first step.
    ahead: Ahead,
}

/// What a load in steps that makes its table commits before its rows, for the server makes tables outside of transactions.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Ahead {
    /// Nothing, or by now a step as well.
    Nothing,
    /// The ledger knows the load.
    Entry,
    /// So it does, and the load has asked for the table without hearing whether it has made it, or another client has.
    Asked,
    /// So it does, and the load has made the table.
    Table,
}

impl<'a> MysqlLoad<'a> {
    pub(super) fn start(
        writing: &'static dyn Writing,
        job: &'a Job,
        stop: &'a AtomicBool,
    ) -> Result<Box<dyn Load + 'a>> {
        let place = Arc::new(connect::place(&job.location.secret, &job.location.spare)?);
        let session = Session::take_over(&place, stop)?;
        let engine = engine_of(job).to_owned();
        let stores = Stores::of(job, engine != "csv")?;
        let mut load = Self {
            job,
            stop,
            place,
            session,
            writing,
            staging: None,
            stores,
            shape: Arc::clone(&job.shape),
            shared: Shared::default(),
            before: Snapshot::default(),
            unsure: false,
            changed: false,
            widened: false,
            counted: None,
            ahead: Ahead::Nothing,
            engine,
        };
        match load.prepare() {
            Ok(()) => Ok(Box::new(load)),
            // What the server does outside of transactions may stay.
            Err(error) => Err(error.leaving(load.abort())),
        }
    }

    /// Makes the table ready.
    fn prepare(&mut self) -> Result<()> {
        let job = self.job;
        configure(&mut self.session, job, None)?;
        if !job.request.owns_table {
            let asked = [&*staging::hidden_tables(), &facts::table_entry(&job.table)];
            let [hidden, entry] =
                self.session.tables(asked).map_err(|failure| self.session.explain(failure))?;
            staging::sweep(&mut self.session, hidden.into_iter().flatten().flatten().collect());
            self.writing.ready(&mut self.session, job)?;
            // A hidden table takes the place of an empty one.
            let replaces_empty =
                is_staged(&job.request, &job.facts) && job.choice.action == Action::Append;
            let found = facts::with_columns(&mut self.session, &job.table, entry)?;
            job.expects(found, replaces_empty)?;
        }
        if is_staged(&job.request, &job.facts) {
            let first = self.writing.engine(&self.engine).to_owned();
            let indexes = indexes_after(&job.request, &job.facts, &job.choice.knobs);
            match Staging::make(&mut self.session, job, &first) {
                Ok(staging) => {
                    let staging = self.staging.insert(staging);
                    let mut ready = staging.leave_out(indexes, &mut self.session, job);
                    if self.writing.writes_file() {
                        ready = ready.and_then(|()| staging.note(&mut self.session));
                    }
                    return ready.map_err(|failure| self.session.explain(failure));
                }
                // Who may write rows but make no table loads them over one connection, in one transaction; so does a table with rows
                // so wide that no second one like it could be made (1118), since innodb_strict_mode is on, or without a key where the
                // server makes none like it (3750, MariaDB 1173).
                Err(Failure::Server(refused))
                    if matches!(refused.code, 1044 | 1118 | 1142 | 1173 | 3750)
                        && !job.choice.action.makes_table()
                        && has_transactions(&self.engine) => {}
                Err(failure) => return Err(self.session.explain(failure)),
            }
        }
        if job.choice.action == Action::Truncate
            && ServerFacts::of(&job.facts.target).unseen_keys == Unseen::Anywhere
        {
            return Err(facts::unseen_error(&mut self.session, &job.table, "--if-exists truncate")
                .advise("delete them yourself and load with --if-exists append"));
        }
        self.make_in_place()?;
        if let Some(add) = ddl::add_columns(&job.table, job) {
            let added = self.run(&add);
            self.widened = added.is_ok() || self.session.is_lost();
            added?;
        }
        let in_one = self.rows_per_transaction() == 0;
        if job.choice.action == Action::Truncate {
            self.changed = !(in_one && has_transactions(&self.engine));
            if in_one {
                self.run("START TRANSACTION")?;
            }
            self.delete_all(in_one)?;
        }
        let begins = in_one && job.choice.action != Action::Truncate;
        let counts_own = begins && self.counts_own();
        if counts_own {
            self.run(
                "SET TRANSACTION ISOLATION LEVEL REPEATABLE READ; START TRANSACTION WITH CONSISTENT SNAPSHOT",
            )?;
        }
        self.before = match job.before() {
            Some(before) => before.clone(),
            None => self.snapshot(job.request.verify)?,
        };
        if begins && !counts_own {
            self.run("START TRANSACTION")?;
        }
        self.expect_empty()?;
        if self.ahead == Ahead::Nothing { self.enter() } else { Ok(()) }
    }

    /// Deletes the table's rows. Rows that refer to these, which the login need not see, would be left alone with keys of none, where the
    /// server's default is to check nothing. InnoDB checks row by row: rows that refer to others of the same table, and go with them, it
    /// would keep.
    fn delete_all(&mut self, in_one: bool) -> Result<()> {
        let job = self.job;
        let checks = i32::from(!refers_only_to_itself(job));
        self.run(&format!(
            "SET @inrush_checks = @@SESSION.foreign_key_checks, SESSION foreign_key_checks = {checks}"
        ))?;
        let delete = format!("DELETE FROM {}", quote(&job.table));
        let deleted = self.session.execute(&delete);
        if let Err(failure) = deleted {
            let is_referred_to = failure.refusal().is_some_and(|refused| refused.code == IS_PARENT);
            let is_undone = in_one && has_transactions(&self.engine);
            let is_table = job.kept_table().is_some_and(|table| table.storage.is_some());
            let sees_all = ServerFacts::of(&job.facts.target).unseen_keys == Unseen::None;
            if !(is_referred_to && is_undone && is_table && sees_all) {
                return Err(self.session.explain(failure));
            }
            // Once the rows are deleted whoever would refer to one waits for this transaction, so what is seen then is all there is.
            self.run(&format!("SET SESSION foreign_key_checks = 0; {delete}"))?;
            let refers = facts::has_children(&mut self.session, job);
            if refers.map_err(|failure| self.session.explain(failure))? {
                return Err(self.session.explain(failure));
            }
        }
        self.run("SET SESSION foreign_key_checks = @inrush_checks")
    }

    /// Whether the table is counted as the transaction sees it from its beginning on, where what others add meanwhile is not taken for
    /// the load's.
    fn counts_own(&self) -> bool {
        has_transactions(&self.engine) && self.job.steps.is_none()
    }

    /// Whether the existing table is to hold the load's rows alone.
    fn must_be_empty(&self) -> bool {
        let Job { request, choice, steps, .. } = self.job;
        request.if_exists == IfExists::Empty
            && choice.action == Action::Append
            && !request.owns_table
            && !request.shares_table
            && steps.is_none()
    }

    /// Looks whether rows that go straight into a table which has to be empty are the first ones. Of two loads at the same time one ends
    /// here.
    fn expect_empty(&mut self) -> Result<()> {
        if !self.must_be_empty() {
            return Ok(());
        }
        let table = &self.job.table;
        let lock = staging::filling(self.session.database(), table);
        // Some clusters have no such locks.
        let locked = match self.session.value(&format!("SELECT GET_LOCK({lock}, 10)")) {
            Err(failure) if failure.refusal().is_some() => true,
            locked => {
                locked.map_err(|failure| self.session.explain(failure))?.as_deref() == Some("1")
            }
        };
        let rows = self
            .session
            .table(&ddl::first_row(table))
            .map_err(|failure| self.session.explain(failure))?;
        match (rows.is_empty(), locked) {
            (true, true) => Ok(()),
            (false, _) => Err(staging::written(self.job)),
            (true, false) => Err(Error::target(format!(
                "another load fills table {table}, or the server has not noticed yet that it has ended"
            ))
            .advise("run the load again when that one is through: --if-exists append adds to its rows")),
        }
    }

    /// Commits. Without an answer it can't be told whether it was done; one that the user stopped may have had none.
    fn commit(&mut self) -> Result<()> {
        self.session.execute("COMMIT").map(drop).map_err(|failure| {
            self.unsure = !matches!(failure, Failure::Server(_));
            self.session.explain(failure)
        })
    }

    /// Looks whether they are the only ones, by a connection that sees what others have committed, and nothing of this load.
    fn expect_alone(&mut self) -> Result<()> {
        if !self.must_be_empty() || !self.counts_own() || self.rows_per_transaction() != 0 {
            return Ok(());
        }
        let Ok(mut beside) = self.session.beside() else { return Ok(()) };
        // Whoever waits to alter the table waits for this load, and would let that connection wait behind.
        let rows = beside.tables([
            "SET SESSION TRANSACTION ISOLATION LEVEL READ COMMITTED",
            "SET SESSION lock_wait_timeout = 1",
            &ddl::first_row(&self.job.table),
        ]);
        match rows {
            Err(failure) if failure.refusal().is_some_and(|refused| refused.code == TIMED_OUT) => {
                Ok(())
            }
            Err(failure) => Err(beside.explain(failure)),
            Ok([_, _, rows]) if rows.is_empty() => Ok(()),
            Ok(_) => Err(staging::written(self.job)),
        }
    }

    /// Makes the table of a load in steps. That commits by itself, so the ledger has to know of it before.
    fn make_in_place(&mut self) -> Result<()> {
        let job = self.job;
        if job.steps.as_ref().is_none_or(|steps| steps.goes_on) {
            return Ok(());
        }
        // Who may write into an existing one need not have the right to make it.
        let known = staging::exists(&mut self.session, ledger::TABLE);
        if !known.map_err(|failure| self.session.explain(failure))? {
            self.changed_in_ledger(&ddl::ledger(&job.table).make())?;
        }
        if job.choice.action.makes_table() {
            self.enter()?;
            self.ahead = Ahead::Entry;
            let made = self.session.execute(ddl::create_table(&job.table, job, &self.engine));
            if self.session.is_lost() {
                self.ahead = Ahead::Asked;
            }
            made.map_err(|failure| match failure.refusal() {
                Some(refused) if refused.code == staging::IS_TAKEN => job.was_made_meanwhile(),
                _ => self.session.explain(failure),
            })?;
            self.ahead = Ahead::Table;
        }
        Ok(())
    }

    /// Enters a load in steps into the ledger, or claims the entry that it goes on with.
    fn enter(&mut self) -> Result<()> {
        let Some(steps) = &self.job.steps else {
            return Ok(());
        };
        let ledger = ddl::ledger(&self.job.table);
        if steps.goes_on {
            return ledger::updated(self.changed_in_ledger(&ledger.claim(&steps.entry))?);
        }
        if let Some(forget) = ledger.forget(&steps.outdated) {
            self.changed_in_ledger(&forget)?;
        }
        ledger::entered(self.changed_in_ledger(&ledger.enter(&steps.entry)?)?)
    }

    /// Runs a statement that makes or writes the ledger; the rows that it has changed.
    fn changed_in_ledger(&mut self, statement: &str) -> Result<u64> {
        let done = self.session.execute(statement);
        Ok(done.map_err(|failure| facts::of_ledger(&self.session, failure))?.affected)
    }

    /// Takes back what [`MysqlLoad::make_in_place`] has made; whether that could be done.
    fn unmake(&mut self, ahead: Ahead) -> bool {
        let Some(steps) = &self.job.steps else { return true };
        let table = &self.job.table;
        if ahead == Ahead::Table
            && !self.take_back(&ddl::first_row(table), &format!("DROP TABLE {}", quote(table)))
        {
            return false;
        }
        let forget = ddl::ledger(table).forget(std::slice::from_ref(&steps.entry.id));
        forget.is_none_or(|forget| self.session.execute(forget).is_ok())
    }

    /// Takes the added columns out of the existing table again; whether that could be done.
    fn narrow(&mut self) -> bool {
        self.is_there()
            && self.take_back(&ddl::added_values(self.job), &ddl::drop_columns(self.job))
    }

    /// Whether there is a connection, if it takes a second one.
    fn is_there(&mut self) -> bool {
        !self.session.is_lost() || self.place.is_local && self.session.reconnect().is_ok()
    }

    /// Runs a statement that takes back what the load has made of the table, unless `look` finds rows: those are another client's.
    /// From the look on no other client writes into the table; what they have not committed yet is waited for before, for a while. Whether
    /// it is taken back.
    fn take_back(&mut self, look: &str, statement: &str) -> bool {
        let looked = self.session.tables([
            &staging::wait_soon(),
            &format!("LOCK TABLES {} WRITE", quote(&self.job.table)),
            look,
        ]);
        let taken = match looked {
            Ok([_, _, rows]) => rows.is_empty() && self.session.execute(statement).is_ok(),
            // Another client has dropped it.
            Err(failure) => failure.refusal().is_some_and(|refused| refused.code == NO_TABLE),
        };
        let _ = self.session.execute(format!("UNLOCK TABLES; {}", staging::WAIT));
        taken
    }

    fn run(&mut self, sql: &str) -> Result<()> {
        match self.session.execute(sql) {
            Ok(_) => Ok(()),
            Err(failure) => Err(self.session.explain(failure)),
        }
    }

    /// The table that takes the rows.
    fn table(&self) -> &str {
        self.staging.as_ref().map_or(&self.job.table, |staging| &staging.name)
    }

    fn rows_per_transaction(&self) -> usize {
        self.job.choice.knobs.get_count(&ROWS_PER_TRANSACTION).unwrap_or(0) as usize
    }

    fn bounds(&self) -> Bounds {
        let knobs = &self.job.choice.knobs;
        let rows_per_transaction = self.rows_per_transaction();
        let first = self.writing.engine(&self.engine);
        let one_by_one = rows_per_transaction == 1;
        let transactions = has_transactions(first) && !one_by_one;
        Bounds {
            // https://github.com/facebook/mysql-5.6/wiki/MyRocks-limitations: no rolling back to a savepoint.
            undo: match transactions && first != "rocksdb" {
                true => Undo::Yes,
                false => Undo::No {
                    alone: true,
                    why: "the table's engine can't undo those before it",
                    knob: (&ROWS_PER_STATEMENT, "1"),
                    advice: "--set rows_per_statement=1 sends each row by itself",
                },
            },
            lasting: self.staging.is_none() && !transactions,
            rows_per_statement: knobs.get_count(&ROWS_PER_STATEMENT).unwrap_or(1) as usize,
            commits: match (&self.staging, rows_per_transaction) {
                _ if self.writing.writes_once() => Commits::Never,
                _ if !transactions => Commits::Always,
                (None, 0) => Commits::Never,
                (Some(_), 0) => Commits::Bytes(COMMIT_BYTES),
                (_, rows) => Commits::Rows(rows),
            },
            // The head of the statement, which names table and columns, needs room as well.
            bytes_max: packet(&self.job.facts)
                .saturating_sub(ddl::columns(self.job).len() * 4 + 1024)
                .max(512),
            bytes_max_of: "the server's max_allowed_packet",
        }
    }
}

/// Bytes of the longest statement that the server takes.
pub(super) fn packet(facts: &Facts) -> usize {
    ServerFacts::of(&facts.target).variable("max_allowed_packet").parse().unwrap_or(1 << 20)
}

/// Whether indexes that the user asked for are built after the rows of a table that the load makes.
fn asks_for_indexes(job: &Job) -> bool {
    !job.request.indexes.is_empty() && !job.choice.knobs.is(&INDEXES, "before")
}

/// Why rows that went into a view may be missing from it.
const VIEW_HIDES: &str =
    "; the view may show only some of them, as its WHERE says: load into the table behind it";

/// How the server ends a statement that has waited too long for a lock: ER_LOCK_WAIT_TIMEOUT.
pub(super) const TIMED_OUT: u16 = 1205;

/// How it refuses to delete a row that others refer to: ER_ROW_IS_REFERENCED_2.
const IS_PARENT: u16 = 1451;

/// How it refuses one for a table that does not exist: ER_NO_SUCH_TABLE.
const NO_TABLE: u16 = 1146;

/// Sets what the load relies on. Only this connection is concerned.
pub(super) fn configure(session: &mut Session<'_>, job: &Job, own: Option<&str>) -> Result<()> {
    let server = ServerFacts::of(&job.facts.target);
    let found = server.variable("sql_mode");
    // What a value is, and whether a zero date is a date, stays the server's decision. That a value which doesn't fit is an
    // error, that 0 is 0 in a column which counts by itself, and how text is quoted, is ours.
    const KEPT: [&str; 3] = ["NO_ZERO_DATE", "NO_ZERO_IN_DATE", "ALLOW_INVALID_DATES"];
    let mut modes: Vec<&str> = found
        .split(',')
        .filter(|mode| KEPT.contains(&mode.to_ascii_uppercase().as_str()))
        .collect();
    modes.extend(["STRICT_ALL_TABLES", "NO_AUTO_VALUE_ON_ZERO", "NO_ENGINE_SUBSTITUTION"]);
    let mut settings = vec![
        "NAMES utf8mb4".to_owned(),
        format!("SESSION sql_mode = '{}'", modes.join(",")),
        "SESSION autocommit = 1".to_owned(),
        // A load changes and deletes what it was asked to, by whatever key the server finds the rows.
        "SESSION sql_safe_updates = 0".to_owned(),
        // A load may take its time between two statements of the first connection.
        "SESSION wait_timeout = 2147483".to_owned(),
        ALL_ROWS.to_owned(),
    ];
    // MariaDB would not let a load change what others have changed since it began, whatever --on-conflict says
    // (https://mariadb.com/kb/en/innodb-system-variables/#innodb_snapshot_isolation).
    if server.variable("innodb_snapshot_isolation") == "ON" {
        settings.push("SESSION innodb_snapshot_isolation = OFF".to_owned());
    }
    // What a table's CHECK refuses is a bad row on MariaDB too, where the server's own setting looks at none
    // (https://mariadb.com/kb/en/server-system-variables/#check_constraint_checks).
    if server.variable("check_constraint_checks") == "OFF" {
        settings.push("SESSION check_constraint_checks = ON".to_owned());
    }
    settings.extend(own.map(str::to_owned));
    // MySQL 8.0 doesn't let every user set it; where all may, the server is not asked a second time.
    let warnings = keeps_warnings(server);
    let may_refuse = job.facts.target.engine.starts_with("MySQL")
        && facts::numbers(server.variable("version")) >= (8, 0, 0);
    settings.extend(warnings.clone().filter(|_| !may_refuse));
    if session_zone(job) != SessionZone::Servers {
        settings.push("SESSION time_zone = '+00:00'".to_owned());
    }
    let knobs = &job.choice.knobs;
    for knob in [UNIQUE_CHECKS, FOREIGN_KEY_CHECKS] {
        match knobs.get(&knob) {
            Some("off") => settings.push(format!("SESSION {} = 0", knob.name)),
            Some("on") => settings.push(format!("SESSION {} = 1", knob.name)),
            _ => {}
        }
    }
    // Where there is no binary log to skip, no privilege is asked for.
    let is_logged = server.variable("log_bin") == "ON";
    if knobs.is(&SQL_LOG_BIN, "off") || is_logged && knobs.is(&BINLOG, "skip") {
        settings.push("SESSION sql_log_bin = 0".to_owned());
    }
    session
        .execute(format!("SET {}", settings.join(", ")))
        .map_err(|failure| session.explain(failure))?;
    session.set_counter(counter(job));
    spare_write_sets(session, job);
    if let Some(setting) = warnings.filter(|_| may_refuse) {
        // Then a warning that is counted and not kept makes its row a bad one.
        let _ = session.execute(format!("SET {setting}"));
    }
    Ok(())
}

/// The existing table's column that counts by itself, where the server makes its numbers: triggers may make them too, or write into
/// other tables with such columns, of which the server's messages read the same.
fn counter(job: &Job) -> Option<Counter> {
    let table = job.kept_table()?;
    let server = ServerFacts::of(&job.facts.target);
    let counts = server.counts.as_ref()?;
    if !server.triggers.is_empty() || job.choice.columns.iter().any(|loaded| loaded.name == *counts)
    {
        return None;
    }
    let own = table.columns.iter().find(|own| own.name == *counts)?;
    let is_key = table.primary_key == std::slice::from_ref(counts);
    let last = own.declared.as_deref().filter(|_| is_key).and_then(types::last_number);
    let is_sole = facts::may_count_out_of_range(table) && !server.hides_triggers;
    Some(Counter { column: counts.clone(), last, is_sole })
}

/// Has the server keep a statement's warnings, as MySQL 8.0 does by default; `None` where it does. Beside what is wrong with a row there
/// is a warning for each VALUES() of an update
/// (<https://dev.mysql.com/doc/refman/8.0/en/server-system-variables.html#sysvar_max_error_count>).
fn keeps_warnings(server: &ServerFacts) -> Option<String> {
    const ENOUGH: u64 = 1024;
    let kept = server.variable("max_error_count").parse::<u64>();
    kept.is_ok_and(|kept| kept < ENOUGH).then(|| format!("SESSION max_error_count = {ENOUGH}"))
}

/// With a binary log MySQL 8.0 hashes every row's keys to tell which transactions depend on each other, also where it is set to
/// tell that by the order of commits and never looks at the hashes. It refuses where
/// they are needed (group replication, another kind of tracking), or where the user may not, and then it stays as it is
/// (<https://dev.mysql.com/doc/refman/8.0/en/replication-options-binary-log.html#sysvar_transaction_write_set_extraction>).
fn spare_write_sets(session: &mut Session<'_>, job: &Job) {
    let server = ServerFacts::of(&job.facts.target);
    if server.variable("log_bin") == "ON"
        && server.variable("binlog_transaction_dependency_tracking") == "COMMIT_ORDER"
        && !matches!(server.variable("transaction_write_set_extraction"), "" | "OFF")
    {
        let _ = session.execute("SET SESSION transaction_write_set_extraction = OFF");
    }
}

/// Rows of the table.
pub(super) fn count(session: &mut Session<'_>, table: &str) -> Result<u64, Failure> {
    let count = session.value(&format!("SELECT COUNT(*) FROM {}", quote(table)))?;
    Ok(count.and_then(|count| count.parse().ok()).unwrap_or(0))
}

impl Inspect for MysqlLoad<'_> {
    type Failure = Error;

    fn rows(&mut self) -> Result<Option<u64>> {
        if let Some(rows) = self.counted.take() {
            return Ok(Some(rows));
        }
        let table = self.table().to_owned();
        let rows = count(&mut self.session, &table);
        rows.map(Some).map_err(|failure| self.session.explain(failure))
    }

    fn sums(&mut self) -> Result<Checksum> {
        let job = self.job;
        let columns = &job.choice.columns;
        let reals: Vec<Option<Real>> = self.stores.reals().collect();
        let classes: Vec<Class> = self.stores.classes().collect();
        let compare: Vec<bool> = self.stores.compare().collect();
        let shown: Vec<String> = columns
            .iter()
            .enumerate()
            .map(|(index, column)| {
                let name = quote(&column.name);
                match (reals[index], classes[index]) {
                    _ if !compare[index] => format!("IF({name} IS NULL, NULL, '')"),
                    // Of a FLOAT the server shows six digits; as a double it shows all.
                    (Some(Real::Single), _) => format!("{name} + 0e0"),
                    (_, Class::Bit) => format!("{name} + 0"),
                    _ => name,
                }
            })
            .collect();
        let sql = format!("SELECT {} FROM {}", shown.join(", "), quote(self.table()));
        let mut sums = Checksum::new(columns.len());
        let read = self.session.rows(&sql, |row| {
            for (column, value) in row.iter().enumerate() {
                let Some(text) = *value else {
                    sums.add(column, Stored::Null);
                    continue;
                };
                // As a double it is shown, whatever the column.
                let number = reals[column].and_then(|_| Real::Double.number(text));
                sums.add(
                    column,
                    match number {
                        Some(number) => Stored::Real(number),
                        None if classes[column] == Class::Bytes => Stored::Bytes(text),
                        None => Stored::Text(text),
                    },
                );
            }
        });
        read.map_err(|failure| self.session.explain(failure))?;
        Ok(sums)
    }
}

impl Load for MysqlLoad<'_> {
    fn encoder(&self) -> Box<dyn Encode> {
        self.writing.encoder(Arc::clone(&self.shape), &self.stores, self.job)
    }

    fn lanes(&mut self) -> Result<Vec<Box<dyn Lane + '_>>> {
        let bounds = self.bounds();
        let table = self.table().to_owned();
        let Self { job, session, writing, stores, shared, staging, stop, .. } = self;
        let shared: &Shared = shared;
        // One that the login may not have does not fill the hidden table either.
        let is_alone = ServerFacts::of(&job.facts.target).connections_max() == Some(1);
        if staging.is_none() || is_alone {
            let writer = writing.writer(session, &table, stores, job)?;
            let held = Held::Lent(session);
            return Ok(vec![Box::new(StatementLane::new(held, writer, bounds, shared, job))]);
        }
        let mut lanes: Vec<Box<dyn Lane + '_>> = Vec::new();
        for _ in 0..job.choice.lanes {
            let mut own = session.another(stop)?;
            // Only lanes that repeat each other's keys wait, and they can wait for ever.
            configure(&mut own, job, Some("SESSION innodb_lock_wait_timeout = 2"))?;
            let writer = writing.writer(&mut own, &table, stores, job)?;
            let held = Held::Own(Box::new(own));
            lanes.push(Box::new(StatementLane::new(held, writer, bounds, shared, job)));
        }
        Ok(lanes)
    }

    fn begun(&mut self) -> Result<Begun> {
        let found = facts::read_table(&mut self.session, &self.job.table)?;
        let definition = found.as_ref().map(TableFacts::definition).unwrap_or_default();
        Ok(Begun { before: self.before.clone(), definition })
    }

    fn held(&mut self) -> Result<Option<u64>> {
        self.rows()
    }

    fn record(&mut self, entry: &Entry) -> Result<()> {
        let update = ddl::ledger(&self.job.table).update(entry)?;
        ledger::updated(self.changed_in_ledger(&update)?)
    }

    fn step(&mut self) -> Result<()> {
        self.commit()?;
        self.ahead = Ahead::Nothing;
        Ok(())
    }

    fn next_step(&mut self) -> Result<()> {
        self.run("START TRANSACTION")
    }

    fn indexes(&self) -> bool {
        asks_for_indexes(self.job)
            || self.staging.as_ref().is_some_and(Staging::lacks_indexes)
            || self.writing.completes_slowly()
    }

    fn complete(&mut self) -> Result<()> {
        let table = self.table().to_owned();
        let Self { writing, session, job, staging, .. } = self;
        let counted = writing.complete(session, &table, job);
        self.counted = counted.map_err(|failure| session.explain(failure))?;
        if let Some(staging) = staging {
            staging.expect_as_noted(session)?;
        }
        if asks_for_indexes(job) {
            let indexed = session.execute(ddl::add_indexes(&table, job));
            indexed.map_err(|failure| session.explain(failure))?;
        }
        match staging {
            Some(staging) => staging.build_indexes(session, job),
            None => self.expect_alone(),
        }
    }

    fn verify(&mut self, sent: &Sent) -> Result<Verdict> {
        let after = self.snapshot(self.job.request.verify)?;
        let mut verdict = sent.verdict(&self.before, &after, self.job);
        let is_view = self.job.kept_table().is_some_and(|table| table.storage.is_none());
        if let Some(difference) = verdict.difference.as_mut().filter(|_| is_view) {
            difference.push_str(VIEW_HIDES);
        }
        Ok(verdict)
    }

    fn retry(&mut self, _ended_by: Ended) -> Option<Retry> {
        self.shared.retry.get_mut().unwrap_or_else(PoisonError::into_inner).take()
    }

    fn hold(&mut self, statement: &str) -> Result<()> {
        match self.staging.is_none() && self.rows_per_transaction() == 0 {
            true => self.run(statement),
            false => Ok(()),
        }
    }

    fn commit(&mut self, note: &dyn Fn(&str)) -> Result<BTreeMap<String, String>> {
        let wanted = [
            "innodb_flush_log_at_trx_commit",
            "innodb_doublewrite",
            "sync_binlog",
            "rocksdb_flush_log_at_trx_commit",
        ];
        let names: Vec<String> = wanted.iter().map(|name| ddl::literal(name)).collect();
        let sql = format!("SHOW VARIABLES WHERE Variable_name IN ({})", names.join(", "));
        let rows = self.session.table(&sql).map_err(|failure| self.session.explain(failure))?;
        let mut settings: BTreeMap<String, String> = rows
            .into_iter()
            .filter_map(|row| {
                let mut row = row.into_iter().flatten();
                Some((row.next()?, row.next()?))
            })
            .collect();
        settings.insert("engine".to_owned(), self.engine.clone());
        match &self.staging {
            Some(staging) => {
                if let Err(error) = staging.publish(&mut self.session, self.job, note) {
                    self.session.unwatch();
                    // A hidden table that is gone may have the target's name, or another load has swept it away.
                    self.unsure = !staging.is_there(&mut self.session);
                    return Err(error);
                }
                self.staging = None;
            }
            None if self.rows_per_transaction() == 0 => {
                self.session.unwatch();
                self.commit()?;
                self.widened = false;
            }
            None => {}
        }
        Ok(settings)
    }

    fn beyond_undoing(&self) -> Option<String> {
        let Job { request, facts, .. } = self.job;
        let runs_triggers =
            !request.owns_table && !ServerFacts::of(&facts.target).triggers.is_empty();
        let table = facts.kept_table(request).filter(|_| runs_triggers)?;
        Some(format!(
            "look into tables without transactions (MyISAM, Aria) that triggers of table {} write into: what they wrote there stays",
            table.name
        ))
    }

    fn abort(&mut self) -> Aftermath {
        self.session.unwatch();
        if self.unsure {
            return Aftermath::Unknown;
        }
        if let Some(staging) = self.staging.take() {
            // A server that is gone can't be asked; one that only dropped us can. What can't be dropped now has no owner any
            // more: the next load drops it.
            if !staging.discard(&mut self.session)
                && self.session.is_lost()
                && self.place.is_local
                && self.session.reconnect().is_ok()
            {
                staging.discard(&mut self.session);
            }
            self.writing.discard(&self.session, &staging.name, self.job);
            return Aftermath::NothingChanged;
        }
        let rows = self.shared.committed.load(Relaxed);
        let Bounds { lasting, commits, .. } = self.bounds();
        // The last commit, or a statement whose rows stay by themselves, may have had no answer.
        let is_unsure = self.session.is_lost() && (lasting || matches!(commits, Commits::Rows(_)));
        let _ = self.session.execute("ROLLBACK");
        if std::mem::take(&mut self.widened) && !self.narrow() {
            return Aftermath::Committed { rows };
        }
        let ahead = std::mem::replace(&mut self.ahead, Ahead::Nothing);
        if ahead != Ahead::Nothing {
            // The one that asked without an answer can't tell whose table there is.
            let is_undone = ahead != Ahead::Asked && self.is_there() && self.unmake(ahead);
            return match is_undone || ahead == Ahead::Entry {
                true => Aftermath::NothingChanged,
                // No row, but a table; and the ledger knows of it.
                false => Aftermath::Resumable { rows: 0, or_more: false },
            };
        }
        match rows {
            _ if is_unsure => Aftermath::Unknown,
            _ if rows > 0 => Aftermath::Committed { rows },
            // The server rolls back by itself what a lost connection did not commit.
            _ if !self.changed => Aftermath::NothingChanged,
            _ => Aftermath::Committed { rows },
        }
    }
}
