//! `tablespace`: the table's file, written without the server, which then takes it over (`ALTER TABLE ... IMPORT TABLESPACE`).
//!
//! ```text
//! values -> form (InnoDB's own) -> record -> one lane -> pack, in the order of the key -> inrush-innodb-pages -> space, the file
//!
//! hidden table: made, its empty file taken as a template, discarded -> file written -> imported, checked -> renamed
//! ```
//!
//! Of nothing in it the server's logs know: a replica that reads the binary log stops, a backup that goes by the logs lacks the rows. So
//! it is used where it is asked for by its name, and for tables without rows, whose every column is known.
//!
//! [`obstacle`]: why it can't be used; [`existing`]: what an existing table is; [`form`]: values as InnoDB stores them; [`pack`]: rows in the order of the key; [`space`]: the
//! files in the server's directory; [`checkpoint`]: what MariaDB needs to survive a crash.

mod checkpoint;
mod existing;
mod form;
mod obstacle;
mod pack;
mod space;

use std::sync::Arc;
use std::sync::atomic::AtomicBool;

use inrush_core::encode::{BadValue, Shape};
use inrush_core::error::{Error, Result};
use inrush_core::flow::{Code, Encode};
use inrush_core::target::{Fit, Knob, Knobs, Load, Memory, Strategy};
use inrush_core::{Column, Facts, Job, Request, Verify};
use inrush_innodb_pages::{Encoder, Layout, Tablespace, layout};
use inrush_net::statement::Write;

use crate::ddl::{self, quote};
use crate::encode::{self, Notation, Stores};
use crate::facts::ServerFacts;
use crate::knobs::{self, CHECK, INDEXES, SORT_MEMORY};
use crate::load::{self, MysqlLoad, Writing};
use crate::session::{Failure, Refusal, Session};
use crate::types::Class;
pub(super) use existing::Existing;
use form::Form;
use pack::Packer;
use space::Folder;

/// The strategy's id.
pub(super) const ID: &str = "mysql/tablespace";

/// The collation of texts in tables that the load makes.
const OWN_COLLATION: &str = "utf8mb4_bin";

/// The strategy.
pub(super) struct IntoTablespace;

impl Strategy for IntoTablespace {
    fn id(&self) -> &'static str {
        ID
    }

    fn about(&self) -> &'static str {
        "the table's InnoDB file, written without the server, which then imports it; only where it is asked for"
    }

    fn gives_up(&self) -> Option<&'static str> {
        Some(
            "the server's logs know nothing of the rows, so replicas and backups that go by the logs lack them",
        )
    }

    fn fills_at_once(&self) -> bool {
        true
    }

    fn knobs(&self) -> &'static [Knob] {
        &knobs::TABLESPACE
    }

    fn fit(&self, request: &Request, facts: &Facts, knobs: &mut Knobs) -> Fit {
        match obstacle::of(request, facts, knobs) {
            Some(reason) => Fit::Unusable { reason },
            // The rows have one order, and one packer.
            None => {
                let mut fit = load::fit(request, facts, knobs, false);
                if let Fit::Usable { encoders, .. } = &mut fit {
                    // The server has nothing to do meanwhile, and the lane waits for the disk.
                    *encoders = facts.processors + 1;
                }
                // The file has no index but the table's own, however few rows there are.
                knobs.suggest(&INDEXES, "after");
                fit
            }
        }
    }

    fn memory(&self, request: &Request, knobs: &Knobs) -> Memory {
        let sums = match request.verify {
            Verify::Checksum => 16,
            Verify::Count | Verify::None => 0,
        };
        Memory {
            // The shortest field is a byte, and becomes a number of eight; the shortest row has 30 bytes that no field says.
            wire_bytes_per_byte: 24 + sums,
            fixed_bytes: (24 << 20) + knobs.count(&SORT_MEMORY),
            chunk_bytes: 512 << 10,
        }
    }

    fn begin<'a>(&self, job: &'a Job, stop: &'a AtomicBool) -> Result<Box<dyn Load + 'a>> {
        MysqlLoad::start(&IntoTablespace, job, stop)
    }
}

impl Writing for IntoTablespace {
    fn encoder(&self, shape: Arc<Shape>, stores: &Stores, job: &Job) -> Box<dyn Encode> {
        encode::encoder_in(Records::of(job), shape, stores, job)
    }

    fn ready(&self, session: &mut Session<'_>, job: &Job) -> Result<()> {
        layout_of(job)?;
        Folder::of(job, session.database()).map(drop)
    }

    fn writer<'p, 's: 'p>(
        &self,
        session: &mut Session<'s>,
        table: &str,
        _stores: &Stores,
        job: &'p Job,
    ) -> Result<Box<dyn Write<Session<'s>> + 'p>> {
        if let Some(index) = index_of(session, table).map_err(|failure| session.explain(failure))? {
            return Err(Error::target(format!(
                "mysql/tablespace: the table's index {index} can't be built after the rows"
            ))
            .advise("leave --strategy out"));
        }
        if job.facts.kept_table(&job.request).is_some_and(|table| !table.indexes.is_empty()) {
            // The file keeps the pages of an index that was dropped until the server clears them away; a new one has none.
            session
                .execute(format!("ALTER TABLE {} FORCE", quote(table)))
                .map_err(|failure| session.explain(failure))?;
        }
        let (template, file) = Folder::of(job, session.database())?.begin(session, table)?;
        let (layout, _) = layout_of(job)?;
        let tablespace = Tablespace::new(&template, &layout, file.pages()?);
        Ok(Box::new(Packer::new(tablespace, file, layout, job)))
    }

    fn writes_once(&self) -> bool {
        true
    }

    fn writes_file(&self) -> bool {
        true
    }

    fn completes_slowly(&self) -> bool {
        true
    }

    fn complete(
        &self,
        session: &mut Session<'_>,
        table: &str,
        job: &Job,
    ) -> Result<Option<u64>, Failure> {
        let folder = Folder::of(job, session.database()).map_err(|error| refusal(&error))?;
        folder.import(session, table)?;
        if job.choice.knobs.is(&CHECK, "no") {
            return Ok(None);
        }
        // Looking at every page keeps one of the server's threads busy, and so does counting: where there can be a second connection,
        // they do it at the same time.
        let beside = (job.request.verify == Verify::Count).then(|| session.beside().ok()).flatten();
        let Some(mut beside) = beside else { return check(session, table).map(|()| None) };
        std::thread::scope(|scope| {
            let counting = scope.spawn(|| load::count(&mut beside, table));
            check(session, table)?;
            counting.join().unwrap_or_else(|panic| std::panic::resume_unwind(panic)).map(Some)
        })
    }

    fn discard(&self, session: &Session<'_>, table: &str, job: &Job) {
        if let Ok(folder) = Folder::of(job, session.database()) {
            folder.remove(table);
        }
    }
}

/// An index that the table has besides its key.
fn index_of(session: &mut Session<'_>, table: &str) -> Result<Option<String>, Failure> {
    session.value(&format!(
        "SELECT INDEX_NAME FROM information_schema.STATISTICS \
         WHERE TABLE_SCHEMA = DATABASE() AND TABLE_NAME = {} AND INDEX_NAME <> 'PRIMARY' LIMIT 1",
        ddl::literal(table)
    ))
}

/// Has the server look at every page and record.
fn check(session: &mut Session<'_>, table: &str) -> Result<(), Failure> {
    let rows = session.table(&format!("CHECK TABLE {}", quote(table)))?;
    let is_wrong = |row: &&Vec<Option<String>>| {
        let kind = row.get(2).and_then(Option::as_deref).unwrap_or_default();
        let text = row.get(3).and_then(Option::as_deref).unwrap_or_default();
        !(kind.eq_ignore_ascii_case("note") || kind == "status" && text == "OK")
    };
    match rows.iter().find(is_wrong) {
        None if !rows.is_empty() => Ok(()),
        found => {
            let text = found.and_then(|row| row.get(3)?.clone()).unwrap_or_default();
            Err(said(format!(
                "CHECK TABLE finds the new table damaged: {text}; nothing of it is kept"
            )))
        }
    }
}

/// A failure that is ours, and no row's.
fn said(message: String) -> Failure {
    Failure::Server(Box::new(Refusal { code: 0, state: String::new(), message }))
}

fn refusal(error: &Error) -> Failure {
    said(error.what().to_owned())
}

/// The columns of the load's key, in its order.
fn key_of(job: &Job) -> &[String] {
    match job.facts.kept_table(&job.request) {
        Some(table) => &table.primary_key,
        None => &job.request.primary_key,
    }
}

/// The layout of the load's table, and which of the load's columns each of its columns is; `None` where the source has none, and it
/// is NULL in every row.
fn layout_of(job: &Job) -> Result<(Layout, Vec<Option<usize>>)> {
    let unfit = |why: String| {
        Error::target(format!("mysql/tablespace: {why}")).advise("leave --strategy out")
    };
    let loaded = &job.choice.columns;
    let kept = job.facts.kept_table(&job.request);
    let existing = ServerFacts::of(&job.facts.target).existing.as_ref();
    // All columns of the table, in its order.
    let columns: Vec<(&Column, Option<usize>)> = match kept {
        None => loaded.iter().zip((0..).map(Some)).collect(),
        Some(table) => {
            let place = |column: &Column| loaded.iter().position(|other| other.name == column.name);
            table.columns.iter().map(|column| (column, place(column))).collect()
        }
    };
    let key = key_of(job);
    let mut order: Vec<(Option<usize>, layout::Column, Option<usize>)> = Vec::new();
    for (column, loaded) in columns {
        let collation = existing.map_or(OWN_COLLATION, |existing| existing.collation(&column.name));
        let exact = key.iter().position(|name| *name == column.name);
        let alike = || key.iter().position(|name| name.eq_ignore_ascii_case(&column.name));
        let in_key = exact.or_else(alike);
        let declared = ddl::declared(job, column);
        let form =
            Form::of_column(&column.name, &declared, in_key.map(|_| collation)).map_err(unfit)?;
        let may_be_left_out =
            existing.is_some_and(|existing| existing.may_be_left_out(&column.name));
        if loaded.is_none() && !may_be_left_out {
            return Err(unfit(format!(
                "the source lacks column {}, whose default is the server's to write",
                column.name
            )));
        }
        let stored = form.column(collation);
        // A key makes its columns NOT NULL.
        let is_required = column.required || in_key.is_some();
        let stored = if is_required { stored } else { stored.nullable() };
        order.push((in_key, stored, loaded));
    }
    // Those of the key in its order, then the others in theirs.
    order.sort_by_key(|(in_key, ..)| in_key.unwrap_or(usize::MAX));
    let (layout, order): (Vec<_>, Vec<_>) =
        order.into_iter().map(|(_, layout, loaded)| (layout, loaded)).unzip();
    let layout = Layout::new(layout, key.len()).map_err(|error| unfit(error.to_string()))?;
    Ok((layout, order))
}

/// Rows as records in transit.
#[derive(Clone)]
struct Records {
    encoder: Encoder,
    /// The forms of the load's columns.
    forms: Arc<[Form]>,
    /// The load's columns in the order of the record.
    order: Arc<[Option<usize>]>,
    values: Vec<u8>,
    /// Where the row's values are, by the load's columns; `None` for NULL.
    places: Vec<Option<(usize, usize)>>,
    /// The first column whose value is in no form that is known here.
    unknown: Option<usize>,
}

impl Records {
    fn of(job: &Job) -> Self {
        // `ready` has asked whether there is one.
        let (layout, order) = layout_of(job).expect("a table that can be written has a layout");
        let form = |column: &Column| {
            Form::of(&ddl::declared(job, column))
                .expect("a table that can be written has such columns")
        };
        Self {
            encoder: Encoder::new(&layout),
            forms: job.choice.columns.iter().map(form).collect(),
            order: order.into(),
            values: Vec::new(),
            places: Vec::new(),
            unknown: None,
        }
    }
}

impl Notation for Records {
    fn open(&mut self, _columns: usize, _out: &mut Vec<u8>) {
        self.values.clear();
        self.places.clear();
        self.unknown = None;
    }

    #[inline]
    fn null(&mut self, _column: usize, _out: &mut Vec<u8>) {
        self.places.push(None);
    }

    #[inline]
    fn value(&mut self, _class: Class, value: &[u8], _out: &mut Vec<u8>) {
        let (column, start) = (self.places.len(), self.values.len());
        if self.forms[column].put(value, &mut self.values).is_none() {
            self.unknown.get_or_insert(column);
        }
        self.places.push(Some((start, self.values.len())));
    }

    fn close(&mut self, out: &mut Vec<u8>) -> Result<(), BadValue<'static>> {
        if let Some(column) = self.unknown {
            let wanted =
                "written as this strategy reads it (mysql/load-data leaves that to the server)";
            return Err(BadValue { column, code: Code::Type, wanted });
        }
        let mut row = self.encoder.row(out);
        for column in self.order.iter() {
            match column.and_then(|column| self.places[column]) {
                Some((from, to)) => row.field(&self.values[from..to]),
                None => row.null(),
            }
        }
        row.finish().map_err(|_| {
            let length = |place: &Option<(usize, usize)>| place.map_or(0, |(from, to)| to - from);
            let longest = (0..self.places.len()).max_by_key(|at| length(&self.places[*at]));
            BadValue {
                column: longest.unwrap_or(0),
                code: Code::TooLong,
                wanted: "short enough: what InnoDB keeps of a row on its page is at most about 8,100 bytes",
            }
        })
    }
}
