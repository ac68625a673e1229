//! What a load can do and promise, before it begins.

use crate::encode;
use crate::facts::{ServerFacts, VIEW_WITH_RULES};
use crate::knobs::{
    FREEZE, INDEXES, ROWS_PER_STATEMENT, ROWS_PER_TRANSACTION, SYNCHRONOUS_COMMIT, UNLOGGED,
};
use inrush_core::target::{Fit, Knobs, Memory, Weakness};
use inrush_core::{
    Action, Column, Durability, Facts, Guarantee, IfExists, Job, OnConflict, RejectLimit, Request,
    Verify,
};

/// The columns of the existing table, or those that the load would make one with.
pub(super) fn columns(request: &Request, facts: &Facts) -> Vec<Column> {
    match facts.kept_table(request) {
        Some(table) => {
            // Those that the source names, or all, by their place.
            let is_named =
                |column: &&Column| facts.source.field_for(column, &table.columns).is_some();
            let named: Vec<Column> = table.columns.iter().filter(is_named).cloned().collect();
            if named.is_empty() || !facts.source.header { table.columns.clone() } else { named }
        }
        None => Vec::new(),
    }
}

/// Why the loaded columns can't all be written in binary. Those of a table that the load makes can.
pub(super) fn not_binary(request: &Request, facts: &Facts) -> Option<String> {
    encode::not_binary(&columns(request, facts), &encode::locale(&facts.target))
}

/// How a load reaches its end all at once.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Mode {
    /// Everything is in the transaction of the first connection.
    InOne,
    /// Several transactions fill a hidden table.
    Hidden,
    /// It doesn't: rows are committed on the way, into the table itself.
    Piecemeal,
    /// It won't: the rows go into a hidden table without keys, only to learn which of them repeat one.
    Survey,
}

impl Mode {
    pub(super) fn of(kept: bool, lanes: usize, knobs: &Knobs) -> Self {
        let commits = knobs.get_count(&ROWS_PER_TRANSACTION).is_some_and(|rows| rows != 0);
        match kept {
            true if commits => Mode::Piecemeal,
            false if commits || lanes > 1 => Mode::Hidden,
            _ => Mode::InOne,
        }
    }
}

/// Whether constraint triggers may wait for the last row. What they say then names none; so where rows may be bad, they are asked as the
/// rows come.
pub(super) fn triggers_wait(request: &Request) -> bool {
    request.max_rejects == RejectLimit::Rows(0)
}

/// Whether rows are written as if they had been there for long.
pub(super) fn freezes(job: &Job) -> bool {
    job.choice.knobs.is(&FREEZE, "on")
}

/// Below so many bytes of input a second connection has nothing to do.
const BYTES_FOR_LANES: u64 = 4 << 20;

/// More connections than this help no server.
const LANES_MAX: usize = 64;

/// What all strategies answer to `fit`.
pub(super) fn fit(request: &Request, facts: &Facts, knobs: &mut Knobs) -> Fit {
    let kept = facts.kept_table(request);
    let unusable = |reason: String| Fit::Unusable { reason };
    let server = ServerFacts::of(&facts.target);
    if let Some(why) = &facts.target.read_only {
        return unusable(why.clone());
    }
    if kept.is_some_and(|table| table.storage.as_deref() == Some(VIEW_WITH_RULES)) {
        return unusable("the target is a view whose rules say what becomes of rows: load into the tables behind it".to_owned());
    }
    let conflicts = request.on_conflict != OnConflict::Fail;
    let keyed = match kept {
        Some(table) => !table.primary_key.is_empty() || !table.unique_keys.is_empty(),
        None => !request.primary_key.is_empty(),
    };
    // Of a pipe nobody can say a second time which of two rows came first.
    let ordered = keyed && !facts.source.seekable;
    // Where no row may be bad, none has to be found among those of a statement that takes all.
    let is_whole = kept.is_some()
        && server.own_keys.iter().any(|key| !key.is_deferrable)
        && request.max_rejects == RejectLimit::Rows(0);
    if !facts.source.seekable && !is_whole {
        // What several chunks had in one statement can't be sent again.
        knobs.suggest(&ROWS_PER_STATEMENT, "1000000");
    }
    // Some partition takes rows, whichever.
    let part = server.weakest_part.as_deref();
    let storage = kept.and_then(|table| part.or(table.storage.as_deref()));
    let in_steps = request.guarantee == Guarantee::Chunks;
    if in_steps && let Some(reason) = no_steps(storage, knobs) {
        return unusable(reason.to_owned());
    }
    if in_steps && knobs.is(&ROWS_PER_STATEMENT, "0") {
        // What an earlier step has brought is not sent again to find a bad row.
        knobs.suggest(&ROWS_PER_STATEMENT, "1000000");
    }
    if ordered || conflicts || in_steps {
        knobs.suggest(&INDEXES, "before");
    }
    if conflicts && kept.is_none() && knobs.is(&INDEXES, "after") {
        return unusable(
            "--on-conflict needs the key while the rows come (indexes=before)".to_owned(),
        );
    }
    if let Some(column) = kept.and_then(|_| fixed_number(request, facts)) {
        return unusable(format!(
            "column {column} is GENERATED ALWAYS, and the server takes no other number for a row that is changed: \
             --key {column} finds rows by it, --drop {column} leaves it out"
        ));
    }
    let large = facts.source.bytes.is_none_or(|bytes| bytes >= BYTES_FOR_LANES);
    if kept.is_none()
        && !large
        && !conflicts
        && !in_steps
        && facts.source.seekable
        && request.lanes.is_none_or(|lanes| lanes == 1)
    {
        // One transaction, and the rows are as good as vacuumed.
        knobs.suggest(&FREEZE, "on");
    }
    let freeze = knobs.is(&FREEZE, "on");
    if freeze {
        let table = kept.filter(|_| request.if_exists != IfExists::Truncate);
        if table.is_some() {
            return unusable("freeze=on takes a table that the same transaction makes or truncates (--if-exists truncate)".to_owned());
        }
        if kept.is_some_and(|table| table.is_parent || table.storage.as_deref() != Some("table")) {
            return unusable(
                "freeze=on takes a plain table that no foreign key points to".to_owned(),
            );
        }
        if conflicts {
            return unusable("freeze=on leaves no room for --on-conflict".to_owned());
        }
    }
    if knobs.is(&UNLOGGED, "on") && kept.is_some() {
        return unusable(
            "unlogged=on is for a table that the load makes; this one is there".to_owned(),
        );
    }
    let promised = match server.setting("synchronous_commit") {
        "off" if request.durability == Durability::Durable => {
            knobs.suggest(&SYNCHRONOUS_COMMIT, "on");
            knobs.get(&SYNCHRONOUS_COMMIT).unwrap_or("on").to_owned()
        }
        servers => match knobs.get(&SYNCHRONOUS_COMMIT) {
            Some("keep") | None => servers.to_owned(),
            Some(ours) => ours.to_owned(),
        },
    };
    let lanes_max =
        if kept.is_none() && !conflicts && !freeze && !in_steps { LANES_MAX } else { 1 };
    // A second connection fills the gaps of the first while it waits for the disk or for us, even on one core.
    let lanes = if large && !ordered { facts.processors.clamp(2, 4).min(lanes_max) } else { 1 };
    let room = server.lanes_max().map(|room| room.max(1)).filter(|room| *room < lanes);
    let lanes = room.unwrap_or(lanes);
    let lanes_used = request.lanes.unwrap_or(lanes).min(lanes_max);
    let mode = Mode::of(kept.is_some(), lanes_used, knobs);
    let (durability, weakness) =
        durability(storage, part.is_some(), &promised, knobs, server.setting("fsync"));
    Fit::Usable {
        atomic: mode != Mode::Piecemeal,
        durability,
        weakness,
        lanes,
        lanes_max,
        // The server does most of the work, and may be on this machine.
        encoders: (facts.processors / 2).max(1),
        notes: [
            notes(request, facts, knobs, mode),
            room.map(few_connections).into_iter().collect(),
        ]
        .concat(),
    }
}

/// Why no more lanes are planned.
fn few_connections(lanes: usize) -> String {
    let lanes = match lanes {
        1 => "one lane".to_owned(),
        lanes => format!("{lanes} lanes"),
    };
    format!("the connections that the user or the database may have are enough for {lanes}")
}

/// A column of the source that counts by itself and takes no change, of which a row that is changed by another key may have another number.
fn fixed_number<'f>(request: &Request, facts: &'f Facts) -> Option<&'f String> {
    if matches!(request.on_conflict, OnConflict::Fail | OnConflict::Skip) {
        return None;
    }
    let table = facts.kept_table(request)?;
    let key = if request.key.is_empty() { &table.primary_key } else { &request.key };
    let case = facts.source.case;
    let taken =
        |index: &usize| facts.source.taken.as_ref().is_none_or(|taken| taken.contains(index));
    ServerFacts::of(&facts.target).always_identity.iter().find(|column| {
        let fields = facts.source.fields.iter().enumerate();
        let mut given = fields.filter(|(index, _)| taken(index)).map(|(_, field)| &field.name);
        given.any(|name| case.is_same(name, column))
            && !key.iter().any(|name| case.is_same(name, column))
    })
}

/// Why a load with these knobs can't be committed step by step.
fn no_steps(storage: Option<&str>, knobs: &Knobs) -> Option<&'static str> {
    Some(match () {
        () if knobs.get_count(&ROWS_PER_TRANSACTION).is_some_and(|rows| rows != 0) => {
            "rows_per_transaction commits without the ledger; --commit-rows says how many rows a step has"
        }
        () if knobs.is(&FREEZE, "on") => {
            "freeze=on takes a table that the same transaction makes, and each step is another one"
        }
        () if knobs.is(&UNLOGGED, "on") => {
            "unlogged=on keeps nothing of a table whose server crashes, and so none of the steps"
        }
        () if knobs.is_set(&INDEXES) && knobs.is(&INDEXES, "after") => {
            "indexes=after finds a row that repeats a key when the steps are committed"
        }
        () if storage == Some("foreign table") => {
            "rows of a foreign table are not committed together with the ledger"
        }
        () => return None,
    })
}

/// What a crash of server or machine leaves of what was committed
/// (<https://www.postgresql.org/docs/current/wal-async-commit.html>).
fn durability(
    storage: Option<&str>,
    is_part: bool,
    synchronous_commit: &str,
    knobs: &Knobs,
    fsync: &str,
) -> (Durability, Option<Weakness>) {
    let what = if is_part { "a partition" } else { "a table" };
    let thing = |kind: &str| Some(Weakness::thing(format!("{what} that is {kind}")));
    match storage {
        Some("unlogged table") => {
            return (Durability::None, thing("UNLOGGED"));
        }
        Some("temporary table") => return (Durability::None, thing("a temporary table")),
        Some("foreign table") => return (Durability::Process, thing("a foreign table")),
        _ => {}
    }
    match (synchronous_commit, fsync) {
        ("off", _) => {
            let weakness = match knobs.is(&SYNCHRONOUS_COMMIT, "off") {
                true => Weakness::knob(&SYNCHRONOUS_COMMIT, "off"),
                false => Weakness::server(SYNCHRONOUS_COMMIT.name, "off", "on"),
            };
            (Durability::None, Some(weakness))
        }
        (_, "off") => (Durability::Process, Some(Weakness::server("fsync", "off", "on"))),
        _ => (Durability::Durable, None),
    }
}

/// How the load goes about it, and settings of the server that hold it back.
fn notes(request: &Request, facts: &Facts, knobs: &Knobs, mode: Mode) -> Vec<String> {
    let kept = facts.kept_table(request);
    let mut notes = Vec::new();
    notes.push(match (mode, kept.is_some()) {
        (Mode::InOne, _) if request.guarantee == Guarantee::Chunks => {
            "one connection, and a transaction for each step".to_owned()
        }
        (Mode::InOne, false) => "one connection and one transaction, which makes the table".to_owned(),
        (Mode::InOne, true) => "one connection and one transaction: the table is there, and may be in use".to_owned(),
        (Mode::Hidden, _) => "the rows go into a hidden table, which gets its name when all are in: a rename in one transaction".to_owned(),
        (Mode::Piecemeal | Mode::Survey, _) => "one connection, straight into the table".to_owned(),
    });
    if knobs.is(&FREEZE, "on") {
        notes.push("COPY FREEZE: no vacuum has to visit the rows again".to_owned());
    }
    let after = usize::from(!request.primary_key.is_empty()) + request.indexes.len();
    if kept.is_none() && after > 0 && knobs.is(&INDEXES, "after") {
        notes.push(match after {
            1 => "its key or index is built after the rows".to_owned(),
            _ => format!("its {after} keys and indexes are built after the rows"),
        });
    }
    let late = &ServerFacts::of(&facts.target).late_triggers;
    let is_one = mode == Mode::InOne && request.guarantee != Guarantee::Chunks;
    if kept.is_some() && !late.is_empty() && !(is_one && triggers_wait(request)) {
        let cure = match is_one {
            true => "; without --max-rejects it is asked when all rows are in",
            false => "",
        };
        notes.push(format!(
            "constraint trigger {} is asked after each statement: a row that takes a later one to be good is refused{cure}",
            late.join(", ")
        ));
    }
    let input = facts.source.bytes.unwrap_or(0);
    if kept.is_some_and(|table| table.engine_only.is_some())
        && request.on_conflict == OnConflict::Skip
        && ServerFacts::of(&facts.target).triggers_decide
    {
        notes.push(
            "rows that a trigger leaves out are counted with those whose key is taken: only COPY tells them apart, which this table can't have"
                .to_owned(),
        );
    }
    let wal = ServerFacts::of(&facts.target).setting("max_wal_size");
    if let Some(wal) = bytes(wal).filter(|wal| *wal < input) {
        notes.push(format!(
            "max_wal_size is {} MB and the input {} MB: a larger one saves checkpoints during the load",
            wal >> 20,
            input >> 20
        ));
    }
    notes
}

/// What a user should know of rows that can't be counted, and of those who follow the server's tables by their names.
pub(super) fn cautions(job: &Job) -> Vec<String> {
    let server = ServerFacts::of(&job.facts.target);
    let mut cautions = Vec::new();
    if job.kept_table().is_some() && server.is_secured && job.request.verify != Verify::None {
        cautions.push(
            "row-level security may hide rows from this user, so they are not counted in the table: what the server says of each statement is what is compared"
                .to_owned(),
        );
    }
    if job.choice.action == Action::Truncate && server.is_secured {
        cautions.push(
            "the table is emptied by TRUNCATE, which asks no policy: rows that row-level security hides from this user are deleted as well"
                .to_owned(),
        );
    }
    let is_logged = !job.choice.knobs.is(&UNLOGGED, "on");
    if job.choice.action.makes_table() && is_logged && !server.publications.is_empty() {
        cautions.push(format!(
            "the rows are published ({}) under a hidden name, inrush_staging_..., which the new table has until all are in: a subscriber without a \
             table of that name stops there with an error; make the table on both sides, and load into the empty one",
            server.publications.join(", ")
        ));
    }
    cautions
}

/// A size as the server shows it: `64MB`, `1GB`.
pub(super) fn bytes(setting: &str) -> Option<u64> {
    inrush_core::target::parse_count(setting)
}

pub(super) fn memory(request: &Request) -> Memory {
    // Connections, their buffers, and the program itself.
    let fixed_bytes = 16 << 20;
    match request.verify {
        // The narrowest field is one byte, and becomes a cell of 16 bytes besides; and a row has a mark.
        Verify::Checksum => Memory { wire_bytes_per_byte: 30, fixed_bytes, chunk_bytes: 256 << 10 },
        // A digit and a line end become a row of a number: its mark, its count, a length, and at most ten bytes.
        Verify::Count | Verify::None => {
            Memory { wire_bytes_per_byte: 14, fixed_bytes, chunk_bytes: 512 << 10 }
        }
    }
}
