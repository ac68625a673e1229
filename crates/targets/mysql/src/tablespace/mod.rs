//! `tablespace`: the table's file, written without the server, which then takes it over (`ALTER TABLE ... IMPORT TABLESPACE`).
//!
//! ```text
//! values -> form (InnoDB's own) -> record -> one lane -> pack, in the order of the key -> inrush-innodb-pages -> space, the file
//!
//! hidden table: made, its empty file taken as a template, discarded -> file written -> imported, checked -> renamed
//! ```
//!
//! Of nothing in it the server's logs know: a replica that reads the binary log stops, a backup that goes by the logs lacks the rows. So
//! it is used where it is asked for by its name, and for tables that the load makes: of those every column is known.
//!
//! [`obstacle`]: why it can't be used; [`form`]: values as InnoDB stores them; [`pack`]: rows in the order of the key; [`space`]: the
//! files in the server's directory.

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
use inrush_innodb_pages::{Encoder, Layout, Tablespace};
use inrush_net::statement::Write;

use crate::ddl::{self, quote};
use crate::encode::{self, Notation, Stores};
use crate::knobs::{self, CHECK, SORT_MEMORY};
use crate::load::{self, MysqlLoad, Writing};
use crate::session::{Failure, Refusal, Session};
use crate::types::Class;
use form::Form;
use pack::Packer;
use space::Folder;

/// The strategy.
pub(super) struct IntoTablespace;

impl Strategy for IntoTablespace {
    fn id(&self) -> &'static str {
        "mysql/tablespace"
    }

    fn about(&self) -> &'static str {
        "the table's InnoDB file, written without the server, which then imports it; only where it is asked for"
    }

    fn gives_up(&self) -> Option<&'static str> {
        Some(
            "the server's logs know nothing of the rows, so replicas and backups that go by the logs lack them",
        )
    }

    fn knobs(&self) -> &'static [Knob] {
        &knobs::TABLESPACE
    }

    fn fit(&self, request: &Request, facts: &Facts, knobs: &mut Knobs) -> Fit {
        match obstacle::of(request, facts, knobs) {
            Some(reason) => Fit::Unusable { reason },
            // The rows have one order, and one packer.
            None => load::fit(request, facts, knobs, false),
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
        Folder::of(job, session.database())?.sweep(session);
        Ok(())
    }

    fn writer<'p, 's: 'p>(
        &self,
        session: &mut Session<'s>,
        table: &str,
        _stores: &Stores,
        job: &'p Job,
    ) -> Result<Box<dyn Write<Session<'s>> + 'p>> {
        let (template, file) = Folder::of(job, session.database())?.begin(session, table)?;
        let (layout, _) = layout_of(job)?;
        let tablespace = Tablespace::new(&template, &layout, file.pages()?);
        Ok(Box::new(Packer::new(tablespace, file, layout, job)))
    }

    fn writes_once(&self) -> bool {
        true
    }

    fn completes_slowly(&self) -> bool {
        true
    }

    fn complete(&self, session: &mut Session<'_>, table: &str, job: &Job) -> Result<(), Failure> {
        let folder = Folder::of(job, session.database()).map_err(|error| refusal(&error))?;
        folder.import(session, table)?;
        if !job.choice.knobs.is(&CHECK, "no") {
            check(session, table)?;
        }
        Ok(())
    }

    fn discard(&self, session: &Session<'_>, table: &str, job: &Job) {
        if let Ok(folder) = Folder::of(job, session.database()) {
            folder.remove(table);
        }
    }
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

/// The layout of the load's table, and for each of its columns the load's.
fn layout_of(job: &Job) -> Result<(Layout, Vec<usize>)> {
    let unfit = |why: String| {
        Error::target(format!("mysql/tablespace: {why}")).advise("leave --strategy out")
    };
    let columns = &job.choice.columns;
    let form = |column: &Column| {
        let declared = ddl::declared(job, column);
        Form::of(&declared)
            .ok_or_else(|| unfit(format!("column {} is of type {declared}", column.name)))
    };
    let forms: Vec<Form> = columns.iter().map(form).collect::<Result<_>>()?;
    let place = |name: &String| {
        let exact = columns.iter().position(|column| column.name == *name);
        let alike = || columns.iter().position(|column| column.name.eq_ignore_ascii_case(name));
        exact.or_else(alike)
    };
    let key: Vec<usize> = job.request.primary_key.iter().filter_map(place).collect();
    let others = (0..columns.len()).filter(|column| !key.contains(column));
    let order: Vec<usize> = key.iter().copied().chain(others).collect();
    if let Some(at) = key.iter().find(|at| !forms[**at].orders()) {
        let name = &columns[*at].name;
        return Err(unfit(format!(
            "the values of the key's column {name} have another order than their bytes"
        )));
    }
    let column = |at: &usize| {
        let stored = forms[*at].column();
        // A key makes its columns NOT NULL.
        let is_required = columns[*at].required || key.contains(at);
        if is_required { stored } else { stored.nullable() }
    };
    let layout = Layout::new(order.iter().map(column).collect(), key.len());
    Ok((layout.map_err(|error| unfit(error.to_string()))?, order))
}

/// Rows as records in transit.
#[derive(Clone)]
struct Records {
    encoder: Encoder,
    forms: Arc<[Form]>,
    /// The load's columns in the order of the record.
    order: Arc<[usize]>,
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
            match self.places[*column] {
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
