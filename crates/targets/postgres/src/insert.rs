//! `values`, `unnest`, `prepared` and `row-sql`: INSERT, as programs write it.

use std::sync::Arc;

use crate::client::Parameters;
use crate::ddl::{self, Insert, Table, literal};
use crate::encode::{self, Binary, Stores, Tuples};
use crate::facts::ServerFacts;
use crate::fit;
use crate::load::Writing;
use crate::session::{self, Failure, Session};
use crate::types;
use inrush_core::encode::Shape;
use inrush_core::error::{Error, Result};
use inrush_core::flow::Encode;
use inrush_core::target::{Fit, Knobs};
use inrush_core::{Column, Facts, Job, OnConflict, Request};
use inrush_net::statement::{Batch, Done, Write};

/// INSERT as SQL text.
pub(super) enum Text {
    /// With many rows.
    Values,
    /// With one row.
    Row,
}

/// A prepared INSERT, run once a row.
pub(super) struct Prepared;

/// A prepared INSERT of arrays, one a column, as long as a chunk has rows.
pub(super) struct Unnest;

pub(super) fn fit_unnest(request: &Request, facts: &Facts, knobs: &mut Knobs) -> Fit {
    let columns = fit::columns(request, facts);
    if let Some(column) = columns.iter().find(|column| ddl::declared(column).ends_with("[]")) {
        let reason = format!("column {} is an array, and unnest would take it apart", column.name);
        return Fit::Unusable { reason };
    }
    fit(request, facts, knobs)
}

/// A row that a trigger leaves out is counted by nobody, as is one whose key is taken; COPY asks for it afterwards.
pub(super) fn fit(request: &Request, facts: &Facts, knobs: &mut Knobs) -> Fit {
    // Where COPY isn't to be had, a note says so.
    if facts.kept_table(request).is_some_and(|table| table.engine_only.is_none())
        && request.on_conflict == OnConflict::Skip
        && ServerFacts::of(&facts.target).triggers_decide
    {
        let reason = "the table has triggers that may leave rows out, which with --on-conflict skip only COPY tells from those whose key is taken";
        return Fit::Unusable { reason: reason.to_owned() };
    }
    fit::fit(request, facts, knobs)
}

impl Writing for Text {
    fn encoder(&self, shape: Arc<Shape>, stores: &Stores, job: &Job) -> Box<dyn Encode> {
        encode::encoder::<Tuples>(shape, stores, job)
    }

    fn writer<'p, 's: 'p>(
        &self,
        _session: &mut Session<'s>,
        table: &Table,
        _stores: &Stores,
        job: &'p Job,
    ) -> Result<Box<dyn Write<Session<'s>> + 'p>> {
        let insert = of_tuples(table, job);
        Ok(match self {
            Self::Values => Box::new(TupleWriter { insert, converts: converts(job) }),
            Self::Row => Box::new(RowWriter { insert }),
        })
    }
}

/// INSERT around tuples. Where those are values of a query they don't have the types of the table's columns, nor of each other, by
/// themselves: a first tuple says them, and is passed over.
fn of_tuples(table: &Table, job: &Job) -> Insert {
    let Insert { head, tail } = Insert::into(table, job);
    if job.kept_columns().is_empty() {
        return Insert { head: format!("{head}VALUES "), tail };
    }
    let null = |column: &Column| format!("NULL::{}", bare_type(column));
    let nulls: Vec<String> = job.choice.columns.iter().map(null).collect();
    Insert {
        head: format!("{head}VALUES ({}), ", nulls.join(", ")),
        tail: format!(" OFFSET 1{tail}"),
    }
}

/// The column's type, of a domain the one underneath, which takes NULL; without its length or digits.
fn bare_type(column: &Column) -> String {
    let declared = ddl::declared(column);
    let name = types::sql_type(&declared);
    let underneath = declared[name.len()..].strip_prefix(" = ").map(types::sql_type);
    element_type(underneath.filter(|it| !it.starts_with("enum(")).unwrap_or(name))
}

/// The statement around tuples, of which the last has a comma behind it. They are text that was checked before, except for the bytes
/// of columns which a new table takes as they are; and those are in hex.
fn statement(insert: &Insert, tuples: &[u8]) -> Result<String, Failure> {
    let tuples =
        std::str::from_utf8(&tuples[..tuples.len() - 1]).map_err(|_| Failure::garbled())?;
    Ok([insert.head.as_str(), tuples, insert.tail.as_str()].concat())
}

/// Whether the server converts what it hears to an encoding that may not have every character.
fn converts(job: &Job) -> bool {
    let encoding = ServerFacts::of(&job.facts.target).setting("server_encoding");
    !matches!(encoding, "UTF8" | "SQL_ASCII")
}

struct TupleWriter {
    insert: Insert,
    converts: bool,
}

impl<'s> Write<Session<'s>> for TupleWriter {
    fn write(
        &mut self,
        session: &mut Session<'s>,
        batch: &Batch<'_>,
        guarded: bool,
    ) -> Result<Done, Failure> {
        let mut set = session::savepoint(guarded);
        if guarded && self.converts {
            // Of a message that can't be converted nothing is done, not even the savepoint set.
            session.execute(set)?;
            set = "";
        }
        let sql = statement(&self.insert, batch.bytes())?;
        let affected = session.execute([set, &sql].concat())?;
        Ok(Done { affected, warnings: 0 })
    }

    fn needs_savepoint(&self, _batch: &Batch<'_>) -> bool {
        true
    }
}

struct RowWriter {
    insert: Insert,
}

impl<'s> Write<Session<'s>> for RowWriter {
    fn write(
        &mut self,
        session: &mut Session<'s>,
        batch: &Batch<'_>,
        guarded: bool,
    ) -> Result<Done, Failure> {
        let insert = &self.insert;
        row_by_row(session, batch, guarded, |session, row| session.execute(statement(insert, row)?))
    }

    fn needs_savepoint(&self, _batch: &Batch<'_>) -> bool {
        true
    }
}

/// Runs a statement for each row, and says at which one it failed.
fn row_by_row(
    session: &mut Session<'_>,
    batch: &Batch<'_>,
    guarded: bool,
    mut each: impl FnMut(&mut Session<'_>, &[u8]) -> Result<u64, Failure>,
) -> Result<Done, Failure> {
    if guarded {
        session.execute(session::SET)?;
    }
    let mut done = Done { affected: 0, warnings: 0 };
    for (index, row) in batch.rows_of_bytes().enumerate() {
        done.affected += each(session, row).map_err(|failure| session::at_row(failure, index))?;
    }
    Ok(done)
}

/// The formats of parameters, behind their number: binary, or text for what only the server reads
/// (<https://www.postgresql.org/docs/current/protocol-message-formats.html#PROTOCOL-MESSAGE-FORMATS-BIND>).
fn formats(are_binary: impl Iterator<Item = bool>) -> Vec<u8> {
    let formats: Vec<[u8; 2]> = are_binary.map(|binary| u16::from(binary).to_be_bytes()).collect();
    // At most 1600.
    [&(formats.len() as u16).to_be_bytes()[..], formats.as_flattened()].concat()
}

/// A statement that the server has prepared.
struct Statement {
    sql: String,
    formats: Vec<u8>,
    /// The transaction for which it was prepared, counted by the session.
    transaction: Option<u64>,
}

impl Statement {
    fn of(sql: String, are_binary: impl Iterator<Item = bool>) -> Self {
        Self { sql, formats: formats(are_binary), transaction: None }
    }

    /// Has the server prepare it, once a transaction: behind a pooler the next one may be on another connection to the server, which
    /// has it not.
    fn prepare(&mut self, session: &mut Session<'_>) -> Result<(), Failure> {
        if self.transaction != Some(session.transactions) {
            session.prepare(&self.sql)?;
            self.transaction = Some(session.transactions);
        }
        Ok(())
    }

    fn execute(&self, session: &mut Session<'_>, values: &[u8]) -> Result<u64, Failure> {
        let formats = &self.formats;
        session.drive(|client| client.execute(&Parameters { formats, values }))
    }
}

impl Writing for Prepared {
    fn encoder(&self, shape: Arc<Shape>, stores: &Stores, job: &Job) -> Box<dyn Encode> {
        encode::encoder::<Binary>(shape, stores, job)
    }

    fn writer<'p, 's: 'p>(
        &self,
        _session: &mut Session<'s>,
        table: &Table,
        stores: &Stores,
        job: &'p Job,
    ) -> Result<Box<dyn Write<Session<'s>> + 'p>> {
        let Insert { head, tail } = Insert::into(table, job);
        // A column of the table lends a parameter its type, a query doesn't.
        let is_query = !job.kept_columns().is_empty();
        let mark = |(number, column): (usize, &Column)| match is_query {
            true => format!("${number}::{}", bare_type(column)),
            false => format!("${number}"),
        };
        let marks: Vec<String> = (1..).zip(&job.choice.columns).map(mark).collect();
        let sql = format!("{head}VALUES ({}){tail}", marks.join(", "));
        Ok(Box::new(PreparedWriter { statement: Statement::of(sql, stores.are_binary()) }))
    }
}

struct PreparedWriter {
    statement: Statement,
}

impl<'s> Write<Session<'s>> for PreparedWriter {
    fn write(
        &mut self,
        session: &mut Session<'s>,
        batch: &Batch<'_>,
        guarded: bool,
    ) -> Result<Done, Failure> {
        self.statement.prepare(session)?;
        row_by_row(session, batch, guarded, |session, row| self.statement.execute(session, row))
    }

    fn needs_savepoint(&self, _batch: &Batch<'_>) -> bool {
        true
    }
}

impl Writing for Unnest {
    fn encoder(&self, shape: Arc<Shape>, stores: &Stores, job: &Job) -> Box<dyn Encode> {
        encode::encoder::<Binary>(shape, stores, job)
    }

    fn writer<'p, 's: 'p>(
        &self,
        session: &mut Session<'s>,
        table: &Table,
        stores: &Stores,
        job: &'p Job,
    ) -> Result<Box<dyn Write<Session<'s>> + 'p>> {
        let Insert { head, tail } = Insert::into(table, job);
        let mut elements = Vec::new();
        let mut arrays = Vec::new();
        let mut casts = Vec::new();
        for (index, (column, binary)) in
            job.choice.columns.iter().zip(stores.are_binary()).enumerate()
        {
            let declared = ddl::declared(column);
            let name = types::sql_type(&declared).to_owned();
            // What only the server reads goes as an array of texts, each of which it casts.
            let element = if binary { element_type(&name).to_owned() } else { "text".to_owned() };
            arrays.push(format!("pg_catalog.unnest(${}::{element}[])", index + 1));
            casts.push(if binary { format!("c{index}") } else { format!("c{index}::{name}") });
            elements.push(oid(session, &element, column)?);
        }
        let names: Vec<String> = (0..elements.len()).map(|index| format!("c{index}")).collect();
        let sql = format!(
            "{head}SELECT {} FROM ROWS FROM ({}) AS inrush_chunk({}){tail}",
            casts.join(", "),
            arrays.join(", "),
            names.join(", ")
        );
        Ok(Box::new(UnnestWriter {
            statement: Statement::of(sql, elements.iter().map(|_| true)),
            arrays: elements.into_iter().map(Array::of).collect(),
            values: Vec::new(),
        }))
    }
}

/// The type without its length or digits: those count for the column alone.
fn element_type(name: &str) -> String {
    // By these names without a length the server means a length of 1.
    if name.starts_with("character(") {
        return "pg_catalog.bpchar".to_owned();
    }
    if name.starts_with("bit(") {
        return "pg_catalog.\"bit\"".to_owned();
    }
    let Some((before, rest)) = name.split_once('(') else { return name.to_owned() };
    // In a quoted name a parenthesis is part of it.
    if before.contains('"') {
        return name.to_owned();
    }
    let after = rest.split_once(')').map_or("", |(_, after)| after);
    format!("{before}{after}")
}

fn oid(session: &mut Session<'_>, name: &str, column: &Column) -> Result<u32> {
    let sql = format!("SELECT pg_catalog.to_regtype({})::oid", literal(name));
    let oid = session.value(&sql).map_err(|failure| session.explain(failure))?;
    oid.and_then(|oid| oid.parse().ok()).ok_or_else(|| {
        Error::target(format!("column {}: the server does not know its type {name}", column.name))
    })
}

/// The values of one column, as the server takes an array in binary: dimensions, whether there are NULLs, type, length, first
/// index, and each element behind its length.
struct Array {
    element: u32,
    has_nulls: bool,
    elements: Vec<u8>,
}

impl Array {
    fn of(element: u32) -> Self {
        Self { element, has_nulls: false, elements: Vec::new() }
    }

    fn put(&self, rows: usize, out: &mut Vec<u8>) -> Result<(), Failure> {
        let length = i32::try_from(20 + self.elements.len()).map_err(|_| session::too_long())?;
        out.extend_from_slice(&length.to_be_bytes());
        // Rows of a chunk, whose offsets have 32 bits.
        for number in [1, u32::from(self.has_nulls), self.element, rows as u32, 1] {
            out.extend_from_slice(&number.to_be_bytes());
        }
        out.extend_from_slice(&self.elements);
        Ok(())
    }
}

struct UnnestWriter {
    statement: Statement,
    arrays: Vec<Array>,
    values: Vec<u8>,
}

impl UnnestWriter {
    /// Turns rows into columns.
    fn transpose(&mut self, batch: &Batch<'_>) -> Result<(), Failure> {
        for array in &mut self.arrays {
            array.has_nulls = false;
            array.elements.clear();
        }
        for row in batch.rows_of_bytes() {
            // Behind the number of fields.
            let mut rest = &row[2..];
            for array in &mut self.arrays {
                let (length, behind) =
                    rest.split_first_chunk::<4>().ok_or_else(Failure::garbled)?;
                let bytes = usize::try_from(i32::from_be_bytes(*length)).ok();
                array.has_nulls |= bytes.is_none();
                let end = 4 + bytes.unwrap_or(0);
                array.elements.extend_from_slice(&rest[..end]);
                rest = &behind[end - 4..];
            }
        }
        self.values.clear();
        self.values.extend_from_slice(&(self.arrays.len() as u16).to_be_bytes());
        let rows = batch.rows_of_bytes().count();
        self.arrays.iter().try_for_each(|array| array.put(rows, &mut self.values))
    }
}

impl<'s> Write<Session<'s>> for UnnestWriter {
    fn write(
        &mut self,
        session: &mut Session<'s>,
        batch: &Batch<'_>,
        guarded: bool,
    ) -> Result<Done, Failure> {
        self.transpose(batch)?;
        self.statement.prepare(session)?;
        if guarded {
            session.execute(session::SET)?;
        }
        let affected = self.statement.execute(session, &self.values)?;
        Ok(Done { affected, warnings: 0 })
    }

    fn needs_savepoint(&self, _batch: &Batch<'_>) -> bool {
        true
    }
}
