//! `copy-binary`, `copy-text` and `copy-server`: COPY, from memory or from a file that the server reads.

use std::sync::Arc;

use crate::client::Frame;
use crate::ddl::{self, Insert, Table, literal, quote};
use crate::encode::{self, Binary, Lines, Stores};
use crate::facts::ServerFacts;
use crate::filter::Filter;
use crate::fit;
use crate::knobs::{INDEXES, ROWS_PER_STATEMENT};
use crate::load::Writing;
use crate::orphans;
use crate::session::{self, Failure, Refusal, Session};
use inrush_core::encode::Shape;
use inrush_core::error::{Error, Result};
use inrush_core::flow::Encode;
use inrush_core::target::{Fit, Knobs};
use inrush_core::{Facts, Job, OnConflict, Request};
use inrush_net::folder::Folder;
use inrush_net::staging::unhidden;
use inrush_net::statement::{Batch, Done, Write, Written};

/// COPY, by the way that the rows take.
pub(super) enum Copy {
    /// In binary, from memory.
    Binary,
    /// As text, from memory.
    Text,
    /// In binary, from files that the server reads itself.
    Server,
}

/// What stands before and after rows in binary: a signature that no transfer leaves whole which changes bytes, no flags, no
/// extension; and a row of -1 fields (<https://www.postgresql.org/docs/current/sql-copy.html#SQL-COPY-BINARY-FORMAT>).
const BINARY: Frame = Frame { head: b"PGCOPY\n\xff\r\n\0\0\0\0\0\0\0\0\0", tail: b"\xff\xff" };

const TEXT: Frame = Frame { head: b"", tail: b"" };

pub(super) fn fit_binary(request: &Request, facts: &Facts, knobs: &mut Knobs) -> Fit {
    fit(request, facts, knobs, true)
}

pub(super) fn fit_text(request: &Request, facts: &Facts, knobs: &mut Knobs) -> Fit {
    fit(request, facts, knobs, false)
}

pub(super) fn fit_server(request: &Request, facts: &Facts, knobs: &mut Knobs) -> Fit {
    let server = ServerFacts::of(&facts.target);
    let unusable = |reason: &str| Fit::Unusable { reason: reason.to_owned() };
    if !server.is_local {
        return unusable("the server is on another machine, and can't read files of this one");
    }
    if !server.reads_files {
        return unusable(
            "the user may not have the server read files (GRANT pg_read_server_files)",
        );
    }
    fit(request, facts, knobs, true)
}

fn fit(request: &Request, facts: &Facts, knobs: &mut Knobs, binary: bool) -> Fit {
    let kept = facts.kept_table(request);
    if let Some(reason) = kept.and_then(|table| table.engine_only.clone()) {
        return Fit::Unusable { reason };
    }
    if binary && let Some(reason) = fit::not_binary(request, facts) {
        return Fit::Unusable { reason };
    }
    let makes_temporary = ServerFacts::of(&facts.target).makes_temporary;
    if request.on_conflict != OnConflict::Fail && !makes_temporary {
        return Fit::Unusable {
            reason: "--on-conflict takes a temporary table with COPY, and the user may make none (GRANT TEMPORARY ON DATABASE)".to_owned(),
        };
    }
    fit::fit(request, facts, knobs)
}

impl Writing for Copy {
    fn streams(&self, job: &Job) -> bool {
        !matches!(self, Self::Server)
            && job.choice.knobs.is(&ROWS_PER_STATEMENT, "0")
            && job.request.on_conflict == OnConflict::Fail
            // There a row that repeats a key is expected.
            && !(job.choice.action.makes_table()
                && job.choice.knobs.is(&INDEXES, "before")
                && !job.request.primary_key.is_empty())
    }

    fn sends_binary(&self) -> bool {
        matches!(self, Self::Binary | Self::Server)
    }

    fn encoder(&self, shape: Arc<Shape>, stores: &Stores, job: &Job) -> Box<dyn Encode> {
        match self {
            Self::Binary | Self::Server => encode::encoder::<Binary>(shape, stores, job),
            Self::Text => encode::encoder::<Lines>(shape, stores, job),
        }
    }

    fn writer<'p, 's: 'p>(
        &self,
        session: &mut Session<'s>,
        table: &Table,
        _stores: &Stores,
        job: &'p Job,
    ) -> Result<Box<dyn Write<Session<'s>> + 'p>> {
        let (format, frame) = match self {
            Self::Binary | Self::Server => ("binary", BINARY),
            Self::Text => ("text", TEXT),
        };
        let columns = ddl::columns(job);
        let merge = match job.request.on_conflict {
            OnConflict::Fail => None,
            _ => {
                let merge = Merge::of(table, job);
                let made = session.execute(merge.make(table, job));
                made.map_err(|failure| session.explain(failure))?;
                Some(merge)
            }
        };
        let (into, relation) = match &merge {
            Some(_) => (format!("pg_temp.{CHUNK}"), CHUNK.to_owned()),
            None => (table.sql(), table.name.clone()),
        };
        let freeze = if fit::freezes(job) { ", FREEZE" } else { "" };
        let folder = match self {
            Self::Server => {
                Some(Folder::make(&std::env::temp_dir()).map_err(|(path, error)| {
                    Error::target(format!("{} can't be made: {error}", path.display()))
                })?)
            }
            Self::Binary | Self::Text => None,
        };
        Ok(Box::new(CopyWriter {
            carrier: Carrier {
                copy: format!("COPY {into} ({columns}) FROM "),
                options: format!(" (FORMAT {format}{freeze})"),
                frame,
                folder,
            },
            relation,
            merge,
            filter: self.sends_binary().then(|| Filter::of(job)).flatten(),
            stream: self.streams(job).then(|| Stream::of(job)),
        }))
    }
}

/// The table in between, where existing rows have a say; a temporary one, which goes with the transaction.
const CHUNK: &str = "inrush_chunk";

/// Beside it, the rows of a chunk that repeats keys, by rounds.
const ROUNDS: &str = "inrush_rounds";

/// Numbers the rows of [`CHUNK`] in their order; in [`ROUNDS`] with the round in front.
const NUMBER: &str = "\"inrush row\"";

/// Bits of the number in a round: more rows than a load has.
const NUMBER_BITS: u32 = 40;

/// Rounds that are sent at once.
const ROUNDS_AT_ONCE: u64 = 64;

/// Beyond so many rounds the rows between the first ones of a key and its last one are judged without being written, where rules of single
/// rows are all that can refuse them and nothing else sees them. A transaction finds a row that it has changed by way of all its earlier
/// versions, so that one which changes for each of many rows costs their square.
const ROUNDS_MAX: u64 = 16;

/// Takes the rows that are judged alone; named as those are which messages name after the target.
const JUDGED: &str = "inrush_staging_0000000000000000";

fn make_chunk(table: &Table, columns: &str) -> String {
    // Keys, NOT NULL and defaults stay behind; types come along.
    format!(
        "CREATE TEMPORARY TABLE {CHUNK} ON COMMIT DROP AS SELECT {columns} FROM {} WITH NO DATA; \
         ALTER TABLE pg_temp.{CHUNK} ADD COLUMN {NUMBER} bigint GENERATED ALWAYS AS IDENTITY",
        table.sql()
    )
}

fn make_rounds(table: &Table, columns: &str) -> String {
    format!(
        "CREATE TEMPORARY TABLE {ROUNDS} ON COMMIT DROP AS SELECT {columns}, 0::bigint AS {NUMBER} FROM {} WITH NO DATA; \
         CREATE INDEX ON pg_temp.{ROUNDS} ({NUMBER})",
        table.sql()
    )
}

/// A query whether a row that repeats a key can be judged alone: nothing but rules of single rows and the one key can refuse it, nothing
/// sees it once a later one supersedes it, and no rule reads what a changed row keeps, where the row by itself has a default.
fn is_plain(table: &Table, job: &Job) -> String {
    let changed = ddl::changed_columns(job).into_iter().map(|column| &column.name);
    let changed: Vec<String> = changed.chain(&job.choice.key).map(|name| literal(name)).collect();
    // Foreign keys are triggers as well. An index of an expression refuses what that refuses. A generated column depends on others by
    // itself, or from version 15 on by its expression. LIKE takes the right to read all of the table, and no CHECK of the whole row,
    // which is its column 0.
    format!(
        "SELECT c.relkind = 'r' AND NOT c.relrowsecurity AND pg_catalog.has_table_privilege(c.oid, 'SELECT') \
         AND NOT EXISTS (SELECT FROM pg_catalog.pg_trigger WHERE tgrelid = c.oid) \
         AND NOT EXISTS (SELECT FROM pg_catalog.pg_rewrite WHERE ev_class = c.oid) \
         AND (SELECT pg_catalog.count(*) FROM pg_catalog.pg_index WHERE indrelid = c.oid \
             AND (indisunique OR indisexclusion OR indexprs IS NOT NULL OR indpred IS NOT NULL)) = 1 \
         AND NOT EXISTS (SELECT FROM pg_catalog.pg_constraint WHERE conrelid = c.oid AND contype = 'c' AND 0 = ANY (conkey)) \
         AND NOT EXISTS (SELECT FROM pg_catalog.pg_attribute a WHERE a.attrelid = c.oid AND a.attnum > 0 AND NOT a.attisdropped \
             AND a.attgenerated = '' AND a.attname <> ALL (ARRAY[{}]::pg_catalog.name[]) \
             AND (EXISTS (SELECT FROM pg_catalog.pg_constraint WHERE conrelid = c.oid AND contype = 'c' AND a.attnum = ANY (conkey)) \
                 OR EXISTS (SELECT FROM pg_catalog.pg_depend d LEFT JOIN pg_catalog.pg_attrdef f \
                     ON d.classid = 'pg_catalog.pg_attrdef'::pg_catalog.regclass AND f.oid = d.objid AND f.adnum <> a.attnum \
                     WHERE d.refclassid = 'pg_catalog.pg_class'::pg_catalog.regclass AND d.refobjid = c.oid AND d.refobjsubid = a.attnum \
                     AND (f.adrelid = c.oid OR d.classid = 'pg_catalog.pg_class'::pg_catalog.regclass AND d.objid = c.oid)))) \
         FROM pg_catalog.pg_class c WHERE c.oid = {}::pg_catalog.regclass",
        changed.join(", "),
        table.literal()
    )
}

/// Moves the rows of a chunk on.
struct Merge {
    /// Counts those that are missing behind a trigger.
    lost: Option<String>,
    /// Where a row changes one with its key that came before it in the chunk.
    rounds: Option<Rounds>,
    insert: String,
}

/// Rows that repeat a key, one after the other: a statement changes no row twice, and each row has to be judged, also one that a later
/// one supersedes. The first round has the first row of each key, the second one the second, and so on.
struct Rounds {
    /// How many the chunk takes.
    count: String,
    /// Puts the chunk's rows into [`ROUNDS`].
    sort: String,
    /// The same where those behind [`ROUNDS_MAX`] are judged alone.
    sort_few: String,
    /// Whether they can be, once that was asked for, by this query.
    is_plain: (Option<bool>, String),
    /// Makes the table for these, and puts them into it.
    judge: (String, String),
    /// What moves one on, before its numbers and behind them.
    insert: (String, String),
    /// The table's name, for messages.
    target: String,
    /// Whether the last chunk has left rows in there.
    are_used: bool,
}

impl Rounds {
    fn of(table: &Table, job: &Job) -> Self {
        let Insert { head, tail } = Insert::into(table, job);
        let columns = ddl::columns(job);
        let key: Vec<String> = job.choice.key.iter().map(|name| quote(name)).collect();
        let is_whole: Vec<String> = key.iter().map(|name| format!("{name} IS NOT NULL")).collect();
        // What is NULL repeats nothing.
        let (key, is_whole) = (key.join(", "), is_whole.join(" AND "));
        let sort = |round: &str| {
            format!(
                "INSERT INTO pg_temp.{ROUNDS} SELECT {columns}, {NUMBER} + (CASE WHEN {is_whole} THEN {round} ELSE 1 END \
                 << {NUMBER_BITS}) FROM pg_temp.{CHUNK} WINDOW key AS (PARTITION BY {key})"
            )
        };
        let row = format!("pg_catalog.row_number() OVER (PARTITION BY {key} ORDER BY {NUMBER})");
        let (last, judged) = (ROUNDS_MAX, ROUNDS_MAX + 1);
        let judged_table = Table::in_schema("pg_temp", JUDGED);
        let judging = Insert::judging(&judged_table, table, job);
        Self {
            sort_few: sort(&format!(
                "CASE WHEN {row} < {last} THEN {row} WHEN {row} = pg_catalog.count(*) OVER key THEN {last} ELSE {judged} END"
            )),
            is_plain: (None, is_plain(table, job)),
            judge: (
                format!(
                    "CREATE TEMPORARY TABLE IF NOT EXISTS {JUDGED} (LIKE {} INCLUDING CONSTRAINTS INCLUDING DEFAULTS \
                     INCLUDING GENERATED INCLUDING IDENTITY) ON COMMIT DROP; TRUNCATE pg_temp.{JUDGED}",
                    table.sql()
                ),
                format!(
                    "{}SELECT {columns} FROM pg_temp.{ROUNDS} WHERE {NUMBER} >= {} ORDER BY {NUMBER}{}",
                    judging.head,
                    judged << NUMBER_BITS,
                    judging.tail
                ),
            ),
            count: format!(
                "SELECT pg_catalog.max(rows) FROM (SELECT pg_catalog.count(*) AS rows FROM pg_temp.{CHUNK} \
                 WHERE {is_whole} GROUP BY {key}) repeated"
            ),
            sort: sort(&row),
            insert: (
                format!("{head}SELECT {columns} FROM pg_temp.{ROUNDS} WHERE {NUMBER}"),
                format!(" ORDER BY {NUMBER}{tail}"),
            ),
            target: table.name.clone(),
            are_used: false,
        }
    }

    /// Whether rows can be judged alone.
    fn are_plain(&mut self, session: &mut Session<'_>) -> Result<bool, Failure> {
        let (known, query) = &mut self.is_plain;
        if known.is_none() {
            *known = Some(session.value(query.as_str())?.as_deref() == Some("t"));
        }
        Ok(*known == Some(true))
    }

    /// How many rows they have written, or judged.
    fn run(&mut self, session: &mut Session<'_>, count: u64) -> Result<u64, Failure> {
        self.are_used = true;
        let mut written = 0;
        let count = match count > ROUNDS_MAX && self.are_plain(session)? {
            true => {
                session.execute(&self.sort_few)?;
                let (make, judge) = &self.judge;
                session.execute(make)?;
                written += session.execute(judge).map_err(|failure| match failure {
                    Failure::Server(mut refused) => {
                        refused.message = unhidden(&refused.message, &self.target);
                        Failure::Server(refused)
                    }
                    failure => failure,
                })?;
                ROUNDS_MAX
            }
            false => {
                session.execute(&self.sort)?;
                count
            }
        };
        let (head, tail) = &self.insert;
        let insert = |round: u64| {
            let (first, next) = (round << NUMBER_BITS, (round + 1) << NUMBER_BITS);
            format!("{head} >= {first} AND {NUMBER} < {next}{tail}")
        };
        for first in (1..=count).step_by(ROUNDS_AT_ONCE as usize) {
            let next = (first + ROUNDS_AT_ONCE).min(count + 1);
            let all: Vec<String> = (first..next).map(insert).collect();
            written += session.execute_all(all.join("; "))?;
        }
        Ok(written)
    }
}

impl Merge {
    fn of(table: &Table, job: &Job) -> Self {
        let Insert { head, tail } = Insert::into(table, job);
        let columns = ddl::columns(job);
        let changes = matches!(job.request.on_conflict, OnConflict::Update | OnConflict::Replace);
        let lost = ServerFacts::of(&job.facts.target).triggers_decide && !changes;
        Self {
            lost: lost.then(|| {
                let (before, after) = ddl::lost(table, &job.choice.key);
                format!("{before}pg_temp.{CHUNK}{after}")
            }),
            rounds: changes.then(|| Rounds::of(table, job)),
            insert: format!("{head}SELECT {columns} FROM pg_temp.{CHUNK} ORDER BY {NUMBER}{tail}"),
        }
    }

    /// What makes the tables in between.
    fn make(&self, table: &Table, job: &Job) -> String {
        let columns = ddl::columns(job);
        match &self.rounds {
            Some(_) => [make_chunk(table, &columns), make_rounds(table, &columns)].join("; "),
            None => make_chunk(table, &columns),
        }
    }

    /// What empties them.
    fn empty(&mut self) -> String {
        let are_used = self.rounds.as_mut().is_some_and(|it| std::mem::take(&mut it.are_used));
        let rounds = if are_used { format!(", pg_temp.{ROUNDS}") } else { String::new() };
        format!("TRUNCATE pg_temp.{CHUNK}{rounds}")
    }

    /// How many of so many rows it has written.
    fn run(&mut self, session: &mut Session<'_>, rows: u64) -> Result<u64, Failure> {
        if let Some(rounds) = &mut self.rounds {
            let count = session.value(&rounds.count)?.and_then(|count| count.parse().ok());
            if let Some(count @ 2..) = count {
                return rounds.run(session, count);
            }
        }
        let done = session.execute(&self.insert)?;
        match &self.lost {
            Some(lost) if done < rows => {
                let lost = session.value(lost)?.and_then(|lost| lost.parse().ok()).unwrap_or(0);
                // More than were left out are rows whose keys a trigger has changed: which of them were is not known.
                if (1..=rows - done).contains(&lost) { Err(session::left_out()) } else { Ok(done) }
            }
            _ => Ok(done),
        }
    }
}

struct CopyWriter<'p> {
    carrier: Carrier,
    /// As the server names it when it says which row it was at.
    relation: String,
    merge: Option<Merge>,
    filter: Option<Filter<'p>>,
    /// The statement that takes the rows of several batches, where one does.
    stream: Option<Stream>,
}

/// Brings rows to the server.
struct Carrier {
    copy: String,
    options: String,
    frame: Frame,
    /// Where the server finds the rows, if they don't come over the connection.
    folder: Option<Folder>,
}

impl Carrier {
    /// The statement that takes rows from `place`.
    fn statement(&self, place: &str) -> String {
        let Self { copy, options, .. } = self;
        format!("{copy}{place}{options}")
    }

    /// Brings rows with a statement of their own, with `before` in front of it.
    fn carry(
        &mut self,
        session: &mut Session<'_>,
        rows: &[u8],
        before: &str,
    ) -> Result<u64, Failure> {
        let frame = self.frame;
        let Some(folder) = &mut self.folder else {
            let sql = [before, &self.statement("STDIN")].concat();
            return session.drive(|client| client.copy_in(&sql, frame, rows));
        };
        let path = folder.put(&[frame.head, rows, frame.tail]).map_err(|(path, error)| {
            Failure::Server(Box::new(Refusal {
                message: format!("{} can't be written: {error}", path.display()),
                ..Refusal::default()
            }))
        })?;
        let name = literal(&path.to_string_lossy());
        let copied = session.execute([before, &self.statement(&name)].concat());
        let _ = std::fs::remove_file(path);
        copied
    }
}

/// A statement that takes the rows of several batches: the server makes itself ready for each as long as it takes to load a thousand
/// rows.
struct Stream {
    /// Bytes after which it ends.
    bytes_max: usize,
    is_open: bool,
    rows: u64,
    bytes: usize,
}

/// Bytes of rows after which a streamed statement ends, so that a refusal is heard before long.
const STREAM_BYTES: usize = 16 << 20;

impl Stream {
    fn of(job: &Job) -> Self {
        let bytes_max = match orphans::come_in_one(job) {
            true => usize::MAX,
            false => STREAM_BYTES,
        };
        Self { bytes_max, is_open: false, rows: 0, bytes: 0 }
    }

    /// Sends rows with the statement that is under way, or begins one.
    fn send(
        &mut self,
        session: &mut Session<'_>,
        carrier: &Carrier,
        bytes: &[u8],
        rows: usize,
    ) -> Result<u64, Failure> {
        if !self.is_open {
            let sql = carrier.statement("STDIN");
            session.drive(|client| client.copy_begin(&sql, carrier.frame))?;
            (self.is_open, self.rows, self.bytes) = (true, 0, 0);
        }
        session.drive(|client| client.copy_more(bytes))?;
        self.rows += rows as u64;
        self.bytes += bytes.len();
        if self.bytes >= self.bytes_max {
            self.end(session, carrier)?;
        }
        Ok(rows as u64)
    }

    /// Ends the statement that is under way.
    fn end(&mut self, session: &mut Session<'_>, carrier: &Carrier) -> Result<(), Failure> {
        if !std::mem::take(&mut self.is_open) {
            return Ok(());
        }
        let written = session.drive(|client| client.copy_end(carrier.frame))?;
        if written == self.rows { Ok(()) } else { Err(session::left_out()) }
    }
}

impl CopyWriter<'_> {
    /// Has the server take rows, and says at which one it failed.
    fn send(
        &mut self,
        session: &mut Session<'_>,
        rows: &[u8],
        count: usize,
        guarded: bool,
    ) -> Result<u64, Failure> {
        let Self { carrier, relation, merge, stream, .. } = self;
        if let Some(stream) = stream {
            let sent = stream.send(session, carrier, rows, count);
            return sent.map_err(|failure| placed(failure, relation));
        }
        let affected = match merge {
            None => carrier.carry(session, rows, session::savepoint(guarded)),
            Some(merge) => {
                // Emptied where the table was made, in the transaction itself, it needs no new file.
                let empty = match guarded {
                    true => session::around(&merge.empty()),
                    false => format!("{}; ", merge.empty()),
                };
                carrier.carry(session, rows, &empty).and_then(|rows| merge.run(session, rows))
            }
        };
        match affected {
            Ok(affected) => {
                session.written += affected;
                Ok(affected)
            }
            Err(failure) => Err(placed(failure, relation)),
        }
    }
}

impl<'s> Write<Session<'s>> for CopyWriter<'_> {
    fn write(
        &mut self,
        session: &mut Session<'s>,
        batch: &Batch<'_>,
        guarded: bool,
    ) -> Result<Done, Failure> {
        let affected = self.send(session, batch.bytes(), batch.to - batch.from, guarded)?;
        Ok(Done { affected, warnings: 0 })
    }

    fn write_new(
        &mut self,
        session: &mut Session<'s>,
        batch: &Batch<'_>,
        guarded: bool,
    ) -> Result<Written, Failure> {
        let Some(mut filter) = self.filter.take() else {
            let done = self.write(session, batch, guarded)?;
            return Ok(Written { done, left_out: Vec::new() });
        };
        let left_out = filter.sift(batch);
        let sent = self.send(session, &filter.bytes, filter.rows.len(), guarded);
        // What a trigger left out is taken back with the rest.
        match &sent {
            Ok(affected) if *affected == filter.rows.len() as u64 => filter.keep(),
            _ => filter.forget(),
        }
        let outcome = match sent {
            Ok(affected) => Ok(Written { done: Done { affected, warnings: 0 }, left_out }),
            Err(Failure::Server(mut refused)) => {
                // A streamed statement counts from its own beginning, and only whether it was at a row matters there.
                let place = |row: usize| filter.rows.get(row).copied().unwrap_or(row);
                refused.row = refused.row.map(place);
                Err(Failure::Server(refused))
            }
            Err(failure) => Err(failure),
        };
        self.filter = Some(filter);
        outcome
    }

    fn finish(&mut self, session: &mut Session<'s>) -> Result<(), Failure> {
        match &mut self.stream {
            Some(stream) => {
                let ended = stream.end(session, &self.carrier);
                ended.map_err(|failure| placed(failure, &self.relation))
            }
            None => Ok(()),
        }
    }

    fn needs_savepoint(&self, _batch: &Batch<'_>) -> bool {
        true
    }
}

/// Says at which row and column of the statement the server was.
fn placed(mut failure: Failure, relation: &str) -> Failure {
    if let Failure::Server(refused) = &mut failure
        && let Some((row, column)) =
            refused.context.as_deref().and_then(|context| place(context, relation))
    {
        // Counted from 1.
        refused.row = row.checked_sub(1);
        refused.column = refused.column.take().or(column);
    }
    failure
}

/// The row, from 1, and perhaps the column, that the server was at: `COPY t, line 5, column a: "x"` in one of the context's lines, in the
/// server's own language.
fn place(context: &str, relation: &str) -> Option<(usize, Option<String>)> {
    let at = context
        .lines()
        .find_map(|line| line.strip_prefix("COPY ")?.strip_prefix(relation)?.strip_prefix(", "))?;
    let from = at.find(|c: char| c.is_ascii_digit())?;
    let digits = &at[from..];
    let end = digits.find(|c: char| !c.is_ascii_digit()).unwrap_or(digits.len());
    let row = digits[..end].parse().ok()?;
    // `, column a: "x"`, `, column a: null input`, `, column a`.
    let column = digits[end..].strip_prefix(", ").and_then(|rest| {
        let (_, named) = rest.split_once(' ')?;
        Some(named.split_once(": ").map_or(named, |(name, _)| name).to_owned())
    });
    Some((row, column))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_context_names_the_row() {
        assert_eq!(place("COPY t, line 5", "t"), Some((5, None)));
        assert_eq!(
            place("COPY a, 7, line 12, column b c: \"x, 9\"", "a, 7"),
            Some((12, Some("b c".to_owned())))
        );
        assert_eq!(place("COPY t, Zeile 3, Spalte n", "t"), Some((3, Some("n".to_owned()))));
        let nested = "PL/pgSQL function f() line 3 at RAISE\nCOPY t, line 8: \"1\\t2\"";
        assert_eq!(place(nested, "t"), Some((8, None)));
        assert_eq!(place("SQL statement \"SELECT 1\"", "t"), None);
        assert_eq!(place("COPY u, line 5", "t"), None);
    }
}
