//! `load-data`, `load-data-server` and `convert`: LOAD DATA, from memory or from a file that the server reads.

use std::fs::OpenOptions;
use std::path::PathBuf;
use std::sync::Arc;

use crate::chunk::{CHUNK, Chunk};
use crate::ddl::{self, Insert, file_name, quote};
use crate::encode::{self, Fields, Stores};
use crate::facts::ServerFacts;
use crate::load::{self, Writing};
use crate::session::{Failure, Refusal, SAVEPOINT, Session};
use crate::types::Class;
use inrush_core::encode::Shape;
use inrush_core::error::{Error, Result};
use inrush_core::flow::Encode;
use inrush_core::target::{Fit, Knobs};
use inrush_core::{Column, Facts, Guarantee, Job, OnConflict, Request};
use inrush_net::folder::Folder;
use inrush_net::statement::{Batch, Done, Write};

/// LOAD DATA, by the way that the rows take.
pub(super) enum LoadData {
    /// LOCAL, streamed from memory.
    Local,
    /// From files that the server reads itself.
    Server,
    /// LOCAL into MyISAM, then ALTER TABLE.
    Converted,
}

pub(super) fn fit_local(request: &Request, facts: &Facts, knobs: &mut Knobs) -> Fit {
    match no_local(facts) {
        Some(reason) => Fit::Barred { reason },
        None => fit(request, facts, knobs),
    }
}

/// Of rows that existing ones have a say in, INSERT with many rows is faster.
fn fit(request: &Request, facts: &Facts, knobs: &mut Knobs) -> Fit {
    let fit = load::fit(request, facts, knobs, true);
    // What stays as it is takes a table in between whatever brings the rows.
    let is_direct = facts.kept_columns(request).is_empty();
    if request.on_conflict == OnConflict::Fail || !is_direct || !matches!(fit, Fit::Usable { .. }) {
        return fit;
    }
    let reason = "with --on-conflict its rows pass through a table in between, which INSERT with many rows does without";
    Fit::Outdone { reason: reason.to_owned(), fit: Box::new(fit) }
}

pub(super) fn fit_server(request: &Request, facts: &Facts, knobs: &mut Knobs) -> Fit {
    match server_directory(facts) {
        Err(reason) => Fit::Unusable { reason },
        Ok(_) => fit(request, facts, knobs),
    }
}

pub(super) fn fit_converted(request: &Request, facts: &Facts, knobs: &mut Knobs) -> Fit {
    if request.guarantee == Guarantee::Chunks {
        let reason = "MyISAM, which takes the rows first, has no transactions";
        return Fit::Unusable { reason: reason.to_owned() };
    }
    if let Some(reason) = no_local(facts) {
        return Fit::Barred { reason };
    }
    if facts.kept_table(request).is_some() {
        return Fit::Unusable { reason: "the table is there, with the engine it has".to_owned() };
    }
    // MyISAM takes one writer at a time.
    load::fit(request, facts, knobs, false)
}

fn no_local(facts: &Facts) -> Option<String> {
    let off = ServerFacts::of(&facts.target).variable("local_infile") == "OFF";
    off.then(|| {
        "the server has local_infile off (SET GLOBAL local_infile = 1 turns it on)".to_owned()
    })
}

/// Where a server on this machine reads files for LOAD DATA
/// (<https://dev.mysql.com/doc/refman/8.0/en/server-system-variables.html#sysvar_secure_file_priv>).
fn server_directory(facts: &Facts) -> Result<PathBuf, String> {
    let server = ServerFacts::of(&facts.target);
    if !server.is_local {
        return Err("the server is on another machine, and can't read files of this one".to_owned());
    }
    let directory = match server.variable("secure_file_priv") {
        "NULL" => return Err("the server reads no files (secure_file_priv is NULL)".to_owned()),
        "" => std::env::temp_dir(),
        directory => PathBuf::from(directory),
    };
    let probe = directory.join(format!(".inrush_{}", std::process::id()));
    match OpenOptions::new().write(true).create_new(true).open(&probe) {
        Ok(_) => {
            let _ = std::fs::remove_file(probe);
            Ok(directory)
        }
        Err(error) => Err(format!("no file can be made in {}: {error}", directory.display())),
    }
}

impl Writing for LoadData {
    fn encoder(&self, shape: Arc<Shape>, stores: &Stores, job: &Job) -> Box<dyn Encode> {
        encode::encoder::<Fields>(shape, stores, job)
    }

    fn writer<'p, 's: 'p>(
        &self,
        session: &mut Session<'s>,
        table: &str,
        stores: &Stores,
        job: &'p Job,
    ) -> Result<Box<dyn Write<Session<'s>> + 'p>> {
        let carrier = match self {
            Self::Local | Self::Converted => Carrier::Memory,
            Self::Server => {
                let directory = server_directory(&job.facts).map_err(Error::target)?;
                let folder = Folder::make(&directory).map_err(|(directory, error)| {
                    Error::target(format!("{} can't be made: {error}", directory.display()))
                })?;
                Carrier::Folder(folder)
            }
        };
        writer(session, table, stores, job, carrier)
    }

    fn engine<'k>(&self, in_the_end: &'k str) -> &'k str {
        if self.completes_slowly() { "myisam" } else { in_the_end }
    }

    fn completes_slowly(&self) -> bool {
        matches!(self, Self::Converted)
    }

    fn complete(
        &self,
        session: &mut Session<'_>,
        table: &str,
        _plan: &Job,
    ) -> Result<Option<u64>, Failure> {
        match self {
            Self::Local | Self::Server => Ok(None),
            Self::Converted => {
                session.execute(format!("ALTER TABLE {} ENGINE=InnoDB", quote(table))).map(|_| None)
            }
        }
    }
}

/// How the server gets the rows.
enum Carrier {
    Memory,
    Folder(Folder),
}

struct LoadDataWriter {
    carrier: Carrier,
    /// The statement around the file's name.
    head: String,
    tail: String,
    /// Where existing rows have a say.
    chunk: Option<Chunk>,
    /// How suspect rows go, but for those that pass through a table in between.
    insert: Option<Inserted>,
}

/// Lines of a file as tuples of an INSERT. That ends at the first bad row, where LOAD DATA goes on with a warning, so that all of its rows
/// have to be taken back; and it is one message, where LOAD DATA asks for its file.
struct Inserted {
    head: String,
    classes: Vec<Class>,
    /// Bytes of lines that fit into a statement.
    most: usize,
    sql: Vec<u8>,
}

fn writer<'p, 's: 'p>(
    session: &mut Session<'s>,
    table: &str,
    stores: &Stores,
    job: &'p Job,
    carrier: Carrier,
) -> Result<Box<dyn Write<Session<'s>> + 'p>> {
    let chunk = match job.request.on_conflict {
        OnConflict::Fail => None,
        _ => Some(Chunk::make(session, table, job)?),
    };
    let into = if chunk.is_some() { CHUNK } else { table };
    let mut fields = Vec::new();
    let mut sets = Vec::new();
    for (index, (column, class)) in job.choice.columns.iter().zip(stores.classes()).enumerate() {
        let name = quote(&column.name);
        let variable = format!("@inrush_{index}");
        let value = match class {
            Class::Bytes => format!("UNHEX({variable})"),
            // A number in a file is its digits; in a BIT column these would be bytes. As an operand they would be a double,
            // which has 53 bits.
            Class::Bit => format!("CAST({variable} AS UNSIGNED)"),
            _ => {
                fields.push(name);
                continue;
            }
        };
        sets.push(format!("{name} = {value}"));
        fields.push(variable);
    }
    let insert = chunk.is_none().then(|| {
        let head = Insert::into(table, job, "").head;
        // An empty value, one byte with its tab, may become `x'',`.
        let most = (load::packet(&job.facts) / 4).saturating_sub(head.len());
        Inserted { head, classes: stores.classes().collect(), most, sql: Vec::new() }
    });
    let set = if sets.is_empty() { String::new() } else { format!(" SET {}", sets.join(", ")) };
    let local = if matches!(carrier, Carrier::Memory) { "LOCAL " } else { "" };
    Ok(Box::new(LoadDataWriter {
        carrier,
        head: format!("LOAD DATA {local}INFILE "),
        tail: format!(
            " INTO TABLE {} CHARACTER SET {} FIELDS TERMINATED BY '\\t' ESCAPED BY '\\\\' \
             LINES TERMINATED BY '\\n' ({}){set}",
            quote(into),
            character_set(job),
            fields.join(", ")
        ),
        chunk,
        insert,
    }))
}

/// The character set that the server takes the fields for. As `binary` it need not look at each character, and stores the same
/// bytes where the column's own set is UTF-8; other columns have to be told what the bytes mean.
fn character_set(job: &Job) -> &'static str {
    const BYTES_ARE_TEXT: [&str; 25] = [
        "tinyint",
        "smallint",
        "mediumint",
        "int",
        "bigint",
        "decimal",
        "float",
        "double",
        "date",
        "datetime",
        "timestamp",
        "time",
        "year",
        "char",
        "varchar",
        "tinytext",
        "text",
        "mediumtext",
        "longtext",
        "enum",
        "set",
        "tinyblob",
        "blob",
        "mediumblob",
        "longblob",
    ];
    let is_plain = |column: &Column| {
        let declared = ddl::declared(job, column).to_lowercase();
        let name = declared.split(|c: char| !c.is_ascii_alphanumeric()).next().unwrap_or_default();
        let set = declared.split(" character set ").nth(1);
        let set = set.and_then(|set| set.split(' ').next()).unwrap_or("utf8mb4");
        BYTES_ARE_TEXT.contains(&name) && matches!(set, "utf8mb4" | "utf8mb3" | "utf8" | "ascii")
    };
    if job.choice.columns.iter().all(is_plain) { "binary" } else { "utf8mb4" }
}

impl Inserted {
    fn takes(&self, batch: &Batch<'_>) -> bool {
        batch.suspect && batch.bytes().len() <= self.most
    }

    fn run(&mut self, session: &mut Session<'_>, batch: &Batch<'_>) -> Result<Done, Failure> {
        let Self { head, classes, sql, .. } = self;
        sql.clear();
        sql.extend_from_slice(head.as_bytes());
        sql.extend_from_slice(b"VALUES ");
        batch.rows_of_bytes().for_each(|line| encode::tuple_of_fields(line, classes, sql));
        // The last tuple's comma.
        sql.pop();
        session.execute(sql)
    }
}

impl LoadDataWriter {
    fn load(
        &mut self,
        session: &mut Session<'_>,
        batch: &Batch<'_>,
        guarded: bool,
    ) -> Result<Done, Failure> {
        let Self { carrier, head, tail, .. } = self;
        let guard = if guarded { SAVEPOINT } else { "" };
        match carrier {
            Carrier::Memory => {
                let sql = format!("{guard}{head}'inrush'{tail}");
                session.drive(|client| client.load_local(sql.as_bytes(), batch.bytes()))
            }
            Carrier::Folder(folder) => {
                let path = folder.put(&[batch.bytes()]).map_err(|(path, error)| {
                    Failure::Server(Box::new(Refusal {
                        code: 0,
                        state: String::new(),
                        message: format!("{} can't be written: {error}", path.display()),
                    }))
                })?;
                let name = file_name(&path.to_string_lossy());
                let loaded = session.execute(format!("{guard}{head}{name}{tail}"));
                let _ = std::fs::remove_file(path);
                loaded
            }
        }
    }
}

impl<'s> Write<Session<'s>> for LoadDataWriter {
    fn write(
        &mut self,
        session: &mut Session<'s>,
        batch: &Batch<'_>,
        guarded: bool,
    ) -> Result<Done, Failure> {
        if let Some(insert) = self.insert.as_mut().filter(|insert| insert.takes(batch)) {
            return insert.run(session, batch);
        }
        if let Some(chunk) = &self.chunk {
            chunk.empty(session)?;
        }
        let loaded = self.load(session, batch, guarded)?;
        match &self.chunk {
            Some(chunk) => chunk.move_on(session, batch, loaded),
            None => Ok(loaded),
        }
    }

    /// Where INSERT fails it may only warn.
    fn needs_savepoint(&self, batch: &Batch<'_>) -> bool {
        !self.insert.as_ref().is_some_and(|insert| insert.takes(batch))
    }
}
