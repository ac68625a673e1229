//! The choice: pure, so that it can be tested by tables of facts.
//!
//! What a strategy can't do forbids it first; then what the user was promised (durability); then the static ranking, which is
//! the order in which a target lists its strategies, but for those that say that one behind them is faster for this load.

use std::collections::{BTreeSet, VecDeque};
use std::time::Duration;

use crate::plan::lost::{broken_with, lost_with};
use crate::plan::matching::{existing_columns, list};
use crate::plan::spoilt;
use crate::plan::steps;
use crate::plan::{
    Action, Choice, Durability, Facts, FieldFacts, Guarantee, IfExists, Inference, MatchBy,
    OnConflict, RejectLimit, Request, TableFacts, TargetFacts, Verify,
};
use crate::target::{Fit, Knobs, Strategy, Target};
use inrush_core::error::{Error, Kind, Result};
use inrush_core::moments::Settled;
use inrush_core::reading::{Family, is_alike};
use inrush_core::schema::{Basis, Column, Type};
use inrush_core::wording::{counted_in, listed, said_of, shell_word};

/// What a short bad row takes in memory: its note, and the message with the allocator's share. Longer ones have longer messages,
/// but there are fewer of them.
const BAD_ROW_BYTES: u64 = 160;

/// The most encoder threads: beyond any machine's use, below any system's limit.
const ENCODERS_MAX: usize = 256;

/// Servers that take so long to answer are far: one on this machine does only when it is very busy.
const FAR: Duration = Duration::from_millis(10);

/// How many times larger chunks for them are. Over 20 ms 1,000,000 rows of 76 bytes took 6.2 s by LOAD DATA instead of 7.7 (MariaDB 10.11,
/// one connection); where the server is near, larger ones gain nothing.
const FAR_TIMES: usize = 4;

/// The bounds of `--chunk-size`.
const CHUNK_BYTES_RANGE: std::ops::RangeInclusive<usize> = (1 << 10)..=(16 << 20);

/// Bytes of a row for which chunks are made small enough that a step has about as many rows as the user wants.
const STEP_ROW_BYTES: u64 = 32;

/// Decides. `place` and `table` are for messages.
///
/// # Errors
/// When nothing can do what the request asks for, with the reason.
pub fn choose(
    request: &Request,
    facts: &Facts,
    target: &'static dyn Target,
    place: &str,
    table: &str,
) -> Result<Choice> {
    choose_because(request, facts, target, place, table, None)
}

/// The same where the request's strategy is not the user's: `because` says whose it is.
pub(crate) fn choose_because(
    request: &Request,
    facts: &Facts,
    target: &'static dyn Target,
    place: &str,
    table: &str,
    because: Option<String>,
) -> Result<Choice> {
    let mut reasons = Vec::new();
    let mut hints = Vec::new();
    let action = action(request, facts, target, place, table)?;
    if action == Action::Replace {
        hints.extend(lost_with(request, facts));
    }
    let mut tolerated = Vec::new();
    let (columns, fields) =
        columns(request, facts, target, action, table, &mut reasons, &mut hints, &mut tolerated)?;
    if action == Action::Replace {
        hints.extend(broken_with(facts, &columns));
    }
    let key = key(request, facts, target, action, table, &columns)?;
    if !key.is_empty() && !action.makes_table() {
        target.compares(request, facts, &columns)?;
        hints.extend(never_met(request, facts, &columns, &key));
    }
    let (strategy, knobs, fit) =
        strategy(request, facts, target, because, &mut reasons, &mut hints)?;
    let Fit::Usable { atomic, lanes, lanes_max, encoders, .. } = fit else {
        unreachable!("strategy() gives usable ones only")
    };

    let in_steps = request.guarantee == Guarantee::Chunks;
    if in_steps {
        reasons.push(format!(
            "rows are committed in steps of about {} (--commit-rows), over one connection in the source's order; --resume goes on \
             behind the last one",
            steps::commit_rows(request)?
        ));
        if columns.iter().any(|column| !column.is_pinned()) && !facts.source.is_surveyed {
            reasons.push(
                "all of the input is looked at first: after a step the table can get no other types"
                    .to_owned(),
            );
        }
    }
    if let Some(module) = facts.kept_table(request).and_then(|table| table.module.as_ref())
        && request.verify == Verify::Checksum
    {
        reasons.push(format!(
            "table {table} is virtual: what its module, {module}, stores is compared with the values that were sent"
        ));
    }
    let (lanes, lanes_max) = if in_steps { (1, 1) } else { (lanes, lanes_max) };
    let lanes = match request.lanes {
        Some(0) => return Err(Error::usage("--lanes 0: takes at least 1")),
        // More hands than can work are no reason not to.
        Some(asked) if asked > lanes_max => {
            let id = strategy.id();
            hints.push(format!("--lanes {asked}: {id} can use {lanes_max}, so it is {lanes_max}"));
            lanes_max
        }
        asked => asked.unwrap_or(lanes),
    };
    let encoders = request.encoders.unwrap_or(encoders.clamp(1, ENCODERS_MAX));
    if !(1..=ENCODERS_MAX).contains(&encoders) {
        return Err(Error::usage(format!("--encoders {encoders}: takes 1 to {ENCODERS_MAX}")));
    }
    let memory = strategy.memory(request, &knobs);
    let mut usual_bytes = memory.chunk_bytes;
    if let Some(round_trip) = facts.target.round_trip.filter(|round_trip| *round_trip >= FAR)
        && request.chunk_bytes.is_none()
        && facts.source.bytes.is_none_or(|bytes| bytes > usual_bytes as u64)
    {
        usual_bytes *= FAR_TIMES;
        reasons.push(format!(
            "the server takes {} ms to answer, and each chunk waits for that: chunks are {FAR_TIMES} times larger",
            round_trip.as_millis()
        ));
    }
    let chunk_bytes = request.chunk_bytes.unwrap_or(match in_steps {
        // A step ends with a chunk, so that of few rows takes small ones.
        true => {
            let few = steps::commit_rows(request)?.saturating_mul(STEP_ROW_BYTES);
            usual_bytes.min(usize::try_from(few).unwrap_or(usize::MAX)).max(16 << 10)
        }
        false => usual_bytes,
    });
    if !CHUNK_BYTES_RANGE.contains(&chunk_bytes) {
        return Err(Error::usage(format!("--chunk-size {chunk_bytes}: takes 1k to 16m")));
    }
    // One in each stage's hands, and enough between them to ride out a hiccup.
    let slots = encoders + lanes + 4;
    // A row is either good, and in the wire, or bad, and noted; the shortest record has two bytes.
    let bad_rows = match request.max_rejects {
        RejectLimit::Rows(rows) => rows.saturating_add(1).min(chunk_bytes as u64 / 2),
        RejectLimit::Percent(_) | RejectLimit::All => chunk_bytes as u64 / 2,
    };
    let wire_bytes = chunk_bytes as u64 * memory.wire_bytes_per_byte as u64;
    let parcel_bytes = chunk_bytes as u64 * 2 + wire_bytes.max(bad_rows * BAD_ROW_BYTES);
    Ok(Choice {
        strategy,
        knobs,
        action,
        columns,
        fields,
        tolerated,
        key,
        atomic: atomic && !in_steps,
        lanes,
        encoders,
        chunk_bytes,
        slots,
        memory_ceiling_bytes: slots as u64 * parcel_bytes
            + memory.fixed_bytes
            + facts.source.memory_bytes
            + facts.source.chunks_ahead as u64 * chunk_bytes as u64 * 2,
        reasons,
        hints,
        measured: None,
    })
}

/// Whether the source is a line that could be anything, an error message among others, and was taken for a header for want of another.
fn is_another_line(request: &Request, facts: &Facts, found: &TableFacts) -> bool {
    let source = &facts.source;
    let is_known = |field| source.is_one_of(field, &found.columns);
    source.header
        && source.header_is_detected
        && request.dialect.header.is_none()
        && source.rows_seen == 0
        && !found.columns.is_empty()
        && !source.taken().into_iter().any(is_known)
}

fn action(
    request: &Request,
    facts: &Facts,
    target: &dyn Target,
    place: &str,
    table: &str,
) -> Result<Action> {
    let Some(found) = &facts.target.table else {
        return match request.if_exists {
            IfExists::Append | IfExists::Truncate => Err(missing(request.if_exists, place, table)),
            IfExists::Empty | IfExists::Replace | IfExists::Fail => Ok(Action::Create),
        };
    };
    if matches!(request.if_exists, IfExists::Replace | IfExists::Truncate)
        && !found.dependents.is_empty()
    {
        return Err(Error::new(
            Kind::Target,
            format!(
                "deleting the rows of table {table} would change those of {}, whose foreign keys say so",
                found.dependents.join(", ")
            ),
        )
        .advise("delete them yourself and load with --if-exists append, or load into another --table"));
    }
    let held_by = &facts.target.held_by;
    if request.if_exists == IfExists::Replace && !held_by.is_empty() {
        let error = Error::new(
            Kind::Target,
            format!(
                "--if-exists replace drops table {table}, and others depend on it: {}",
                list(held_by.iter().map(String::as_str))
            ),
        );
        // Rows that others refer to can't be deleted either.
        let error = match found.is_parent {
            true => error,
            false => error
                .advise(format!("--if-exists truncate keeps table {table} and what depends on it")),
        };
        return Err(error
            .advise("delete its rows yourself and load with --if-exists append")
            .advise("or drop what depends on it first, and make it again afterwards"));
    }
    match request.if_exists {
        IfExists::Fail => {
            Err(Error::new(Kind::Target, format!("{place} has a table {table} already")).advise(
                "--if-exists fail asks for this error; leave it out, or name another --table",
            ))
        }
        IfExists::Replace if is_another_line(request, facts, found) => Err(Error::new(
            Kind::Target,
            format!(
                "the source has one line and no rows, and the line names no column of table {table}, which --if-exists replace drops"
            ),
        )
        .advise("check that it is the file you mean")
        .advise("--header yes if the line has the names of the new table's columns")),
        IfExists::Replace => Ok(Action::Replace),
        IfExists::Truncate => Ok(Action::Truncate),
        IfExists::Append => Ok(Action::Append),
        IfExists::Empty if found.holds_rows => {
            Err(Error::new(Kind::Target, format!("table {table} in {place} holds rows already"))
                .advise("--if-exists append adds the new rows to them")
                .advise(format!("--if-exists truncate {}", target.truncating(&facts.target)))
                .advise("--if-exists replace drops the table and recreates it")
                .advise("--table NAME loads into another table"))
        }
        IfExists::Empty => Ok(Action::Append),
    }
}

/// Who says `append` or `truncate` means an existing table: a new one beside it would be a slip of the pen.
fn missing(if_exists: IfExists, place: &str, table: &str) -> Error {
    Error::new(
        Kind::Target,
        format!("{place} has no table {table}, and --if-exists {if_exists} is for an existing one"),
    )
    .advise("check the name of the database, and --table NAME")
    .advise("leave --if-exists out: then the load makes the table")
}

#[expect(clippy::too_many_arguments, reason = "three of them are what it has to say")]
fn columns(
    request: &Request,
    facts: &Facts,
    target: &dyn Target,
    action: Action,
    table: &str,
    reasons: &mut Vec<String>,
    hints: &mut Vec<String>,
    tolerated: &mut Vec<usize>,
) -> Result<(Vec<Column>, Vec<usize>)> {
    if let Some(field) = facts.source.loaded().find(|field| field.name.contains('\0')) {
        return Err(Error::source(format!("the column name {:?} holds a NUL byte", field.name))
            .advise(
                "name the columns to load without it: --columns A,B (no target has such names)",
            ));
    }
    let takes_any = facts.target.table.as_ref().is_some_and(|found| found.takes_any);
    if takes_any && !action.makes_table() && request.match_by == Some(MatchBy::Position) {
        return Err(Error::usage(format!(
            "--match position: {table} has documents, whose fields have no order"
        ))
        .advise("leave it out: fields go by their names"));
    }
    let (mut columns, fields) = match &facts.target.table {
        Some(found) if !action.makes_table() && !found.takes_any => {
            let (mut columns, mut fields) =
                existing_columns(found, request, facts, table, target, reasons, hints)?;
            let open: Vec<usize> =
                (0..columns.len()).filter(|at| !columns[*at].is_pinned()).collect();
            if !open.is_empty() {
                let theirs: Vec<usize> = open.iter().map(|at| fields[*at]).collect();
                // A column without a type takes every value: none is bad for the sake of a guess.
                let mut none_bad = request.clone();
                none_bad.options.max_rejects = RejectLimit::Rows(0);
                let (made, _) = made_columns(&none_bad, facts, 0, &theirs, hints)?;
                reasons.push(format!(
                    "without a type in table {table}, so that values are stored as in a new one: {}",
                    list(open.iter().map(|at| columns[*at].name.as_str()))
                ));
                for (at, made) in open.into_iter().zip(made) {
                    (columns[at].ty, columns[at].basis) = (made.ty, made.basis);
                }
            }
            // The table is the load's own, whatever the catalogue knows of it.
            for (column, field) in columns.iter_mut().zip(&fields) {
                let field = &facts.source.fields[*field];
                if field.is_settled {
                    (column.ty, column.basis) = (field.ty, Basis::Settled);
                }
            }
            let new = facts.new_fields(request);
            if !new.is_empty() {
                may_add(request, target, facts)?;
                let at = columns.len();
                let (added, prices) = made_columns(request, facts, at, &new, hints)?;
                tolerated.extend(prices);
                columns.extend(added);
                fields.extend(new);
            }
            (columns, fields)
        }
        _ => {
            let fields = facts.source.taken();
            let (columns, prices) = made_columns(request, facts, 0, &fields, hints)?;
            tolerated.extend(prices);
            (columns, fields)
        }
    };
    // What is said of a column is promised of the table, so that one that is left out is none to say it of.
    let find = |said: String, name: &str, columns: &[Column]| {
        called(name, facts, columns, &fields).ok_or_else(|| {
            let names = columns.iter().map(|column| column.name.as_str());
            Error::usage(format!("{said}: there is no column {name}"))
                .advise(format!("use one of the columns: {}", listed(names)))
        })
    };
    // What is said of a job's columns is said of those that a part of its rows has.
    for (name, ty) in &request.types {
        let at = match find(said_of("--type", name, ty), name, &columns) {
            Err(_) if request.is_attempt() => continue,
            Err(error) if name.contains(['=', ',']) => {
                return Err(error.advise("say one --type for each column"));
            }
            found => found?,
        };
        let column = &mut columns[at];
        if column.is_asked() && column.ty != *ty {
            let name = &column.name;
            return Err(Error::usage(format!(
                "--type: column {name} is said to be {}, and {ty}",
                column.ty
            )));
        }
        column.ty = asked_type(name, *ty, column, facts)?;
        column.basis = Basis::Asked;
    }
    for name in &request.read.columns.required {
        let at = find(format!("--not-null {}", shell_word(name)), name, &columns)?;
        columns[at].required = true;
    }
    Ok((columns, fields))
}

/// The column that the user means by a name: the source's, or else the table's.
pub(super) fn called(
    name: &str,
    facts: &Facts,
    columns: &[Column],
    fields: &[usize],
) -> Option<usize> {
    let source = |field: &usize| facts.source.fields[*field].source_name();
    let exact = fields.iter().position(|field| source(field) == name);
    let alike = || fields.iter().position(|field| is_alike(source(field), name));
    let own = || columns.iter().position(|column| is_alike(&column.name, name));
    exact.or_else(alike).or_else(own)
}

/// The type that `--type` names.
fn asked_type(name: &str, ty: Type, column: &Column, facts: &Facts) -> Result<Type> {
    let TargetFacts { moments, engine, .. } = &facts.target;
    match ty {
        _ if facts.target.own_type(ty) != ty => Err(Error::usage(format!(
            "{}: {engine} has no type {ty} in new tables",
            said_of("--type", name, ty)
        ))
        .advise(format!(
            "{} keeps its values as they are written",
            said_of("--type", name, Type::Text)
        ))),
        _ if column.declared.is_some() => Ok(ty),
        Type::TimestampNs { zone } if moments.has_nanos(zone) => Ok(ty),
        // As it is written.
        Type::TimestampNs { zone } if moments.digits == 9 => Ok(Type::Timestamp { zone }),
        Type::TimestampNs { .. } => Err(Error::usage(format!(
            "{}: {engine} has no type of such timestamps",
            said_of("--type", name, ty)
        ))
        .advise(format!("{} keeps all of their digits", said_of("--type", name, Type::Text)))),
        _ => Ok(ty),
    }
}

/// Whether columns can be added to the existing table.
fn may_add(request: &Request, target: &dyn Target, facts: &Facts) -> Result<()> {
    let engine = &facts.target.engine;
    let error = match () {
        () if !target.adds_columns() => Error::target(format!(
            "--new-columns add: no load adds columns to an existing table of {engine}"
        )),
        () if request.guarantee == Guarantee::Chunks => Error::usage(
            "--new-columns add: a load in steps keeps the table as it is defined".to_owned(),
        )
        .advise("add the columns to the table first, or leave --guarantee chunks out"),
        () if request.is_attempt() => Error::usage(
            "--new-columns add: the columns of a job's table are settled when the job begins",
        )
        .advise("add the columns to the table before"),
        () => return Ok(()),
    };
    Err(error.advise("--new-columns ignore leaves them out"))
}

/// The type of a column that is of numbers by the user's word, and of which none was seen.
const NO_NUMBER: Type = Type::Decimal { precision: 0, scale: 0 };

/// The columns that the load makes of `fields`, and which of them keep a type at the price of bad rows. `at` of the table's own columns
/// come first.
fn made_columns(
    request: &Request,
    facts: &Facts,
    at: usize,
    fields: &[usize],
    hints: &mut Vec<String>,
) -> Result<(Vec<Column>, Vec<usize>)> {
    let fields: Vec<FieldFacts> =
        fields.iter().map(|field| facts.source.fields[*field].clone()).collect();
    let max = facts.target.columns_max;
    if at + fields.len() > max {
        let error = Error::new(
            Kind::Target,
            format!(
                "the source has {}; {} takes at most {max} in a table",
                counted_in(&fields, "column"),
                facts.target.engine
            ),
        );
        return Err(match facts.source.is_delimited {
            true => error.advise("if that is not the file's real width, check --delimiter"),
            false if request.dialect.flatten => error
                .advise("leave --flatten out: nested values are JSON then, and a column each")
                .advise("or name the columns to load: --columns"),
            false => error.advise("name the columns to load: --columns"),
        });
    }
    let faulty = |field: &FieldFacts| {
        let fault = facts.target.name_fault?(&field.name)?;
        Some((field.name.clone(), fault))
    };
    if let Some((name, fault)) = fields.iter().find_map(faulty) {
        let renamed = said_of("--rename", &name, "NEW");
        return Err(Error::usage(format!("column {}: {fault}", name.escape_debug()))
            .advise(format!("{renamed} gives it another name")));
    }
    let types = spoilt::types(request, (&facts.source, &facts.target), &fields, hints);
    let tolerated = (at..).zip(&types).filter(|(_, (_, has_price))| *has_price);
    let tolerated = tolerated.map(|(at, _)| at).collect();
    let text = request.inference == Inference::Text;
    let open =
        |field: &&FieldFacts| !text && !request.types.keys().any(|name| field.is_called(name));
    let TargetFacts { moments, engine, .. } = &facts.target;
    let finer = fields.iter().filter(open).filter(|field| moments.settle(field) == Settled::Text);
    let why = |field| moments.why_text(field, engine, request.read.type_of(field));
    hints.extend(finer.map(why));
    // What a value is that all values have been looked at for, and that is none of its column's: a bad row.
    let is_settled = request.guarantee == Guarantee::Chunks && facts.source.is_surveyed;
    let columns = fields
        .iter()
        .zip(types)
        .map(|(field, (ty, has_price))| {
            let ty = match field.reads.exact {
                Some(exact) if Family::of(ty).is_some() && !facts.target.decimals_are_texts => {
                    exact
                }
                // Of numbers none was seen, so that a float may keep them all.
                _ if ty == NO_NUMBER && facts.target.decimals_are_texts => Type::Float,
                _ => ty,
            };
            let (ty, pinned) = match moments.settle(&FieldFacts { ty, ..field.clone() }) {
                _ if text => (Type::Text, true),
                Settled::As(ty) => {
                    let ty = facts.target.own_type(ty);
                    // One that is finer than the engine's disproves it, as it does with moments, where the rows can be had again.
                    let is_fine = matches!(ty, Type::Time | Type::Interval);
                    (ty, field.is_declared && !(is_fine && facts.source.seekable))
                }
                Settled::Hoped => (ty, field.is_declared && !facts.source.seekable),
                Settled::Text => (Type::Text, field.is_declared),
            };
            let is_key = |key: &String| is_alike(key, &field.name);
            Column {
                name: field.name.clone(),
                ty,
                declared: None,
                basis: match () {
                    () if field.is_settled => Basis::Settled,
                    () if pinned => Basis::Declared,
                    () if has_price || is_settled => Basis::Settled,
                    () => Basis::Inferred,
                },
                required: request.primary_key.iter().any(is_key),
            }
        })
        .collect();
    Ok((columns, tolerated))
}

fn key(
    request: &Request,
    facts: &Facts,
    target: &dyn Target,
    action: Action,
    table: &str,
    columns: &[Column],
) -> Result<Vec<String>> {
    let known = |names: &[String], option: &str| {
        let is_loaded = |name: &&String| columns.iter().any(|column| is_alike(&column.name, name));
        let Some(name) = names.iter().find(|name| !is_loaded(name)) else { return Ok(()) };
        let there = facts.kept_table(request);
        let is_computed =
            there.is_some_and(|table| table.computed.iter().any(|own| is_alike(own, name)));
        let is_of_table = is_computed
            || there.is_some_and(|table| table.columns.iter().any(|own| is_alike(&own.name, name)));
        let what = match (is_of_table, is_computed) {
            (_, true) => format!(
                "{option} {name}: the database computes {name}, so that no row of the source has a value for it"
            ),
            (true, _) => format!("{option} {name}: the source has no column {name}"),
            _ => format!("{option} {name}: there is no column {name}"),
        };
        let names = columns.iter().map(|column| column.name.as_str());
        Err(Error::usage(what).advise(format!("use one of the columns: {}", listed(names))))
    };
    known(&request.primary_key, "--primary-key")?;
    known(&request.key, "--key")?;
    for index in &request.indexes {
        known(index, "--index")?;
    }
    // Where rows may have any columns, somebody has to say which of them is the key that all rows have.
    let takes_any = facts.target.table.as_ref().is_some_and(|table| table.takes_any);
    let names_key = !request.primary_key.is_empty() && !takes_any;
    // A load that goes on builds the indexes of the table that its first run has made.
    let is_own = request.resume;
    if !action.makes_table() && !is_own && (names_key || !request.indexes.is_empty()) {
        return Err(Error::usage(
            "--primary-key and --index are for a table that the load makes; this one is there",
        )
        .advise("leave them out")
        .advise("or let --if-exists replace recreate the table"));
    }
    if request.on_conflict == OnConflict::Fail {
        return match request.key.as_slice() {
            [] => Ok(Vec::new()),
            key => Err(Error::usage(format!(
                "--key {}: rows are compared by it with --on-conflict skip, replace and update alone",
                key.join(",")
            ))
            .advise("say which of them is meant: --on-conflict skip, replace or update")
            .advise("or leave --key out: every key that the table has holds")),
        };
    }
    if request.verify == Verify::Checksum && request.on_conflict != OnConflict::Skip {
        return Err(Error::usage(format!(
            "--verify checksum can't tell rows that --on-conflict {} changed from those it added",
            request.on_conflict
        ))
        .advise("--verify count compares the number of rows"));
    }
    let there = facts.target.table.as_ref().filter(|_| !action.makes_table());
    if there.is_some() {
        target.compares_by(request, &facts.target)?;
    }
    let of_table = there.filter(|table| !table.takes_any || request.primary_key.is_empty());
    let primary = of_table.map_or(&request.primary_key, |table| &table.primary_key);
    let defined = there.filter(|table| !table.takes_any);
    let all = defined.map_or(columns, |table| &table.columns);
    let spelt = |key: &Vec<String>| -> Vec<String> {
        key.iter().map(|name| spelt(all, name).to_owned()).collect()
    };
    let key = spelt(if request.key.is_empty() { primary } else { &request.key });
    if key.is_empty() {
        let error =
            Error::usage(format!("--on-conflict {} needs to know the key", request.on_conflict));
        return Err(error.advise(match there {
            Some(table) if !table.takes_any => {
                "name it with --key COL[,COL]: it takes a UNIQUE or PRIMARY KEY of the table"
            }
            _ => "name it with --key COL[,COL], or make one with --primary-key",
        }));
    }
    let others = there.map(|table| table.unique_keys.as_slice()).unwrap_or_default();
    let missing = |key: &[String]| {
        let is_loaded = |name: &String| columns.iter().any(|column| column.name == *name);
        key.iter().find(|name| !is_loaded(name)).cloned()
    };
    if let Some(name) = missing(&key).filter(|_| defined.is_some()) {
        let error = Error::new(
            Kind::Target,
            format!(
                "--on-conflict {}: rows are compared by the key of table {table} ({}), and the source has no column {name}",
                request.on_conflict,
                key.join(", ")
            ),
        )
        .advise(format!(
            "add the column to the source, or say what it is in all rows: {}",
            said_of("--add", &name, "VALUE")
        ));
        let others = others.iter().map(spelt).filter(|unique| missing(unique).is_none());
        return Err(others.fold(error, |error, unique| {
            let unique = shell_word(&unique.join(","));
            error.advise(format!("or compare by another key that the table has: --key {unique}"))
        }));
    }
    if !others.iter().chain([primary]).any(|unique| same_columns(&spelt(unique), &key)) {
        let names = key.join(",");
        return Err(match there {
            Some(_) => Error::new(
                Kind::Target,
                format!(
                    "--key {names}: the table has no UNIQUE or PRIMARY KEY on it that holds at once and for all rows"
                ),
            )
            .advise(target.unique_key(table, &key, &facts.target)),
            None => Error::usage(format!(
                "--key {names}: nothing makes these columns unique in a new table"
            ))
            .advise(format!("make them its key: --primary-key {}", shell_word(&names))),
        });
    }
    Ok(key)
}

/// What to say of a key that takes NULL: where one NULL is not another, no row with one is a duplicate.
fn never_met(
    request: &Request,
    facts: &Facts,
    columns: &[Column],
    key: &[String],
) -> Option<String> {
    let table = facts.target.table.as_ref().filter(|table| !table.takes_any)?;
    // SQLite's primary keys take NULL (https://sqlite.org/lang_createtable.html#the_primary_key), and hardly one of them has any.
    let mut of_one_null = table.null_keys.iter().chain([&table.primary_key]);
    if of_one_null.any(|known| same_columns(known, key)) {
        return None;
    }
    let takes_null = |column: &&Column| !column.required && key.contains(&column.name);
    let open: Vec<&str> =
        columns.iter().filter(takes_null).map(|column| column.name.as_str()).collect();
    let first = open.first()?;
    Some(format!(
        "--on-conflict {}: the key ({}) takes NULL in {}, and a row with NULL there is no duplicate of any other, so each load adds it \
         once more (--not-null {} makes it a bad row)",
        request.on_conflict,
        key.join(", "),
        listed(open.iter().copied()),
        shell_word(first)
    ))
}

/// The column that a name means: the one that is spelt so, or else one that differs in case alone.
pub(super) fn spelt<'n>(columns: &'n [Column], name: &'n str) -> &'n str {
    let alike = |column: &&Column| is_alike(&column.name, name);
    let exact = columns.iter().find(|column| column.name == name);
    exact.or_else(|| columns.iter().find(alike)).map_or(name, |column| &column.name)
}

/// Whether two keys are the same columns, in any order.
fn same_columns(a: &[String], b: &[String]) -> bool {
    let sorted = |names: &[String]| {
        let mut names = names.to_vec();
        names.sort();
        names
    };
    sorted(a) == sorted(b)
}

/// The strategies that the request leaves to choose from, of whatever database: the one that it names, or those that give nothing up.
///
/// # Errors
/// When the target has none of that name.
pub(super) fn candidates(
    request: &Request,
    target: &'static dyn Target,
) -> Result<Vec<&'static dyn Strategy>> {
    let all = target.strategies().iter().copied();
    let Some(name) = request.strategy.as_deref() else {
        return Ok(all.filter(|strategy| strategy.gives_up().is_none()).collect());
    };
    let is_named = |strategy: &&dyn Strategy| {
        let id = strategy.id();
        let own = id.rsplit('/').next().unwrap_or(id);
        [id, own].iter().any(|known| known.eq_ignore_ascii_case(name))
    };
    let found: Vec<&'static dyn Strategy> = all.clone().filter(is_named).collect();
    if found.is_empty() {
        let ids: Vec<&str> = all.map(Strategy::id).collect();
        return Err(Error::usage(format!("'{name}' is no strategy for this target"))
            .advise(format!("use one of {}", ids.join(", "))));
    }
    Ok(found)
}

fn strategy(
    request: &Request,
    facts: &Facts,
    target: &'static dyn Target,
    because: Option<String>,
    reasons: &mut Vec<String>,
    hints: &mut Vec<String>,
) -> Result<(&'static dyn Strategy, Knobs, Fit)> {
    let named = request.strategy.as_deref();
    let candidates = candidates(request, target)?;
    let adds_columns = !facts.new_fields(request).is_empty();
    // The last strategy is the plainest: what even that one can't do is what the user should read.
    let (mut last_error, mut value_error) = (None, None);
    // Why each of those can't that have their knobs.
    let mut all_why: BTreeSet<String> = BTreeSet::new();
    // The strategies that lack a knob, and what to say of the last of them.
    let (mut lacking, mut knob_error) = (Vec::new(), None);
    // Those that others behind them outdo come once more at the end.
    let mut candidates: VecDeque<_> = candidates.into();
    let mut outdone = Vec::new();
    while let Some(strategy) = candidates.pop_front() {
        let mut knobs = match Knobs::resolve(strategy, &request.knobs) {
            Ok(knobs) => knobs,
            Err(error) => {
                let fit = strategy.fit(request, facts, &mut Knobs::of(strategy));
                if named.is_none() && matches!(fit, Fit::Foreign { .. }) {
                    continue;
                }
                reasons.push(format!("not {}", error.what()));
                // Why a strategy that has the knob can't do it says more than that others have none.
                let has = |name: &String| strategy.knobs().iter().any(|knob| knob.name == name);
                match request.knobs.keys().all(has) {
                    true => value_error = Some(error),
                    false => {
                        lacking.push(strategy);
                        knob_error = Some(error);
                    }
                }
                continue;
            }
        };
        let fit = match facts.target.gave_up.get(strategy.id()) {
            Some(reason) => Fit::Unusable { reason: reason.clone() },
            None => strategy.fit(request, facts, &mut knobs),
        };
        let fit = match fit {
            Fit::Outdone { fit, .. } if named.is_some() || outdone.contains(&strategy.id()) => *fit,
            Fit::Outdone { reason, .. } => {
                reasons.push(format!("not {}: {reason}", strategy.id()));
                outdone.push(strategy.id());
                candidates.push_back(strategy);
                continue;
            }
            fit => fit,
        };
        let mut advice = Vec::new();
        let why_not = match &fit {
            Fit::Foreign { .. } if named.is_none() => continue,
            Fit::Outdone { reason, .. } => reason.clone(),
            Fit::Unusable { reason } | Fit::Foreign { reason } => reason.clone(),
            Fit::Wrong { reason, advice: tried } => {
                advice.push(tried.clone());
                reason.clone()
            }
            Fit::Barred { reason } => {
                hints.push(format!("not {}: {reason}", strategy.id()));
                reason.clone()
            }
            Fit::Usable { durability, weakness, .. }
                if !promises(*durability, request.durability) =>
            {
                advice.push(format!(
                    "say --durability {durability}, which guarantees no more than that"
                ));
                advice.extend(weakness.as_ref().and_then(|weakness| weakness.remedy.clone()));
                let with = weakness.as_ref().map_or("these settings", |weakness| &weakness.what);
                format!(
                    "with {with} a load is '{durability}' at best, and '{}' is asked for",
                    request.durability
                )
            }
            Fit::Usable { atomic: false, .. } if adds_columns => {
                "columns are added to a table only by a load that is all or nothing (--new-columns add)"
                    .to_owned()
            }
            Fit::Usable { atomic, notes, .. } => {
                reasons.push(match (because, named) {
                    (Some(because), _) => because,
                    (None, Some(_)) => format!("{} was asked for", strategy.id()),
                    (None, None) => format!("{}: {}", strategy.id(), strategy.about()),
                });
                reasons.extend(notes.iter().cloned());
                hints.extend(strategy.gives_up().map(|what| format!("{}: {what}", strategy.id())));
                if !atomic && request.guarantee != Guarantee::Chunks && !facts.target.is_stream {
                    reasons.push("rows are committed on the way: a failed load leaves those that were".to_owned());
                }
                return Ok((strategy, knobs, fit));
            }
        };
        reasons.push(format!("not {}: {why_not}", strategy.id()));
        all_why.insert(why_not.clone());
        if named.is_some()
            && advice.is_empty()
            && let Some(other) = another(request, facts, target)
        {
            advice.push(format!("leave --strategy out: {other} can"));
        }
        // What all of them lack is no strategy's fault, and the user chose none.
        let is_no_fault = !advice.is_empty()
            || all_why.len() == 1
            || facts.target.read_only.as_ref() == Some(&why_not);
        let error = match named {
            None if is_no_fault => Error::usage(why_not),
            _ => Error::usage(format!("{}: {why_not}", strategy.id())),
        };
        last_error = Some(advice.into_iter().fold(error, Error::advise));
    }
    Err(last_error
        .or(value_error)
        .or_else(|| knob_of_none(request, &lacking).or(knob_error))
        .unwrap_or_else(|| Error::usage("this target has no strategy in this build")))
}

/// The strategy that would be chosen if the request named none.
fn another(request: &Request, facts: &Facts, target: &'static dyn Target) -> Option<&'static str> {
    let mut free = request.clone();
    free.options.strategy = None;
    let chosen = strategy(&free, facts, target, None, &mut Vec::new(), &mut Vec::new());
    chosen.ok().map(|(strategy, ..)| strategy.id())
}

/// What to say of a knob that none of several strategies has: each has knobs of its own, and any of them could be meant.
fn knob_of_none(request: &Request, lacking: &[&dyn Strategy]) -> Option<Error> {
    let names = |strategy: &&dyn Strategy| strategy.knobs().iter().map(|knob| knob.name);
    let known: BTreeSet<&str> = lacking.iter().flat_map(names).collect();
    let unknown = request.knobs.keys().find(|name| !known.contains(name.as_str()))?;
    let ids: Vec<&str> = lacking.iter().map(|strategy| strategy.id()).collect();
    let error = Error::usage(format!("none of {} has a knob '{unknown}'", ids.join(", ")));
    (ids.len() > 1 && !known.is_empty())
        .then(|| error.advise(format!("use one of their knobs: {}", listed(known.iter().copied()))))
}

/// Whether `offered` keeps what `asked` promises.
fn promises(offered: Durability, asked: Durability) -> bool {
    let rank = |durability| match durability {
        Durability::Durable => 2,
        Durability::Process => 1,
        Durability::None => 0,
    };
    rank(offered) >= rank(asked)
}

#[cfg(all(test, feature = "sqlite"))]
mod tests {
    use super::*;
    use crate::plan::SourceFacts;
    use crate::target::find;
    use inrush_core::LoadOptions;

    fn field(name: &str, ty: Type) -> FieldFacts {
        FieldFacts {
            written: None,
            added: None,
            name: name.to_owned(),
            ty,
            spoiler: None,
            is_declared: false,
            is_settled: false,
            moments: Default::default(),
            reads: Default::default(),
        }
    }

    fn facts() -> Facts {
        Facts {
            source: SourceFacts {
                taken: None,
                case: Default::default(),
                fields: vec![field("id", Type::Integer), field("name", Type::Text)],
                header: true,
                header_is_detected: true,
                reasons: vec![],
                warnings: vec![],
                title: None,
                bytes: Some(1_000),
                row_bytes: None,
                rows_seen: 0,
                rows_bad: 0,
                seekable: true,
                is_delimited: true,
                is_typed: false,
                is_surveyed: false,
                is_intolerant: false,
                repeats: Default::default(),
                orphans: Default::default(),
                memory_bytes: 0,
                chunks_ahead: 0,
                plain_files: None,
            },
            target: TargetFacts {
                engine: "SQLite".to_owned(),
                columns_max: 2_000,
                name_fault: None,
                ..TargetFacts::default()
            },
            processors: 2,
            memory_bytes: None,
        }
    }

    fn table(names: &[&str], holds_rows: bool) -> TableFacts {
        let columns = names
            .iter()
            .map(|name| Column {
                name: (*name).to_owned(),
                ty: Type::Text,
                declared: Some("TEXT".to_owned()),
                basis: Basis::Declared,
                required: false,
            })
            .collect();
        TableFacts { name: "t".to_owned(), columns, holds_rows, ..TableFacts::default() }
    }

    fn decide(options: &LoadOptions, facts: &Facts) -> Result<Choice> {
        let request = &Request { options: options.clone(), ..Request::default() };
        choose(request, facts, find("x.db")?.0, "x.db", "t")
    }

    /// The whole decision in a few lines.
    fn told(choice: &Choice) -> String {
        let columns: Vec<String> = choice
            .columns
            .iter()
            .zip(&choice.fields)
            .map(|(column, field)| {
                format!(
                    "{}:{}<-{field}{}",
                    column.name,
                    column.ty,
                    if column.is_pinned() { "!" } else { "" }
                )
            })
            .collect();
        format!(
            "{:?} {} [{}] atomic={} {}x{}\n{}",
            choice.action,
            choice.strategy.id(),
            columns.join(" "),
            choice.atomic,
            choice.encoders,
            choice.lanes,
            choice.reasons.join("\n")
        )
    }

    #[test]
    fn a_new_table_takes_the_inferred_types() {
        let choice = decide(&LoadOptions::default(), &facts()).unwrap();
        insta::assert_snapshot!(told(&choice), @r"
        Create sqlite/pages [id:integer<-0 name:text<-1] atomic=true 3x1
        sqlite/pages: pages of the table's b-trees, built outside SQL: straight into a new file, or through SQLite's pager into an existing database
        ");
    }

    #[test]
    fn a_server_that_is_far_gets_larger_chunks() {
        let after = |milliseconds| {
            let mut facts = facts();
            facts.target.round_trip = Some(Duration::from_millis(milliseconds));
            facts.source.bytes = Some(1 << 30);
            facts
        };
        let usual = decide(&LoadOptions::default(), &after(9)).unwrap();
        let near = decide(&LoadOptions::default(), &facts()).unwrap();
        assert_eq!((usual.chunk_bytes, told(&usual)), (near.chunk_bytes, told(&near)));
        let far = decide(&LoadOptions::default(), &after(10)).unwrap();
        assert_eq!(far.chunk_bytes, usual.chunk_bytes * FAR_TIMES);
        assert!(far.memory_ceiling_bytes > usual.memory_ceiling_bytes);
        assert!(told(&far).contains("takes 10 ms to answer"), "{}", told(&far));
        let asked = LoadOptions { chunk_bytes: Some(8 << 10), ..LoadOptions::default() };
        let asked = decide(&asked, &after(10)).unwrap();
        assert_eq!(asked.chunk_bytes, 8 << 10);
        assert!(!told(&asked).contains("to answer"));
        let mut few = after(10);
        few.source.bytes = Some(100);
        assert!(!told(&decide(&LoadOptions::default(), &few).unwrap()).contains("to answer"));
    }

    #[test]
    fn a_table_that_is_there_rules_by_name_and_by_position() {
        let mut by_name = facts();
        by_name.target.table = Some(table(&["NAME", "note", "ID"], false));
        insta::assert_snapshot!(told(&decide(&LoadOptions::default(), &by_name).unwrap()), @r"
        Append sqlite/pages [NAME:text<-1! ID:text<-0!] atomic=true 3x1
        the source's columns go to the columns of table t by name
        not in the source, so they get their default: note
        sqlite/pages: pages of the table's b-trees, built outside SQL: straight into a new file, or through SQLite's pager into an existing database
        ");

        let mut by_position = facts();
        by_position.source.header = false;
        by_position.target.table = Some(table(&["a", "b"], false));
        let choice = decide(&LoadOptions::default(), &by_position).unwrap();
        insta::assert_snapshot!(told(&choice), @r"
        Append sqlite/pages [a:text<-0! b:text<-1!] atomic=true 3x1
        sqlite/pages: pages of the table's b-trees, built outside SQL: straight into a new file, or through SQLite's pager into an existing database
        ");

        assert!(choice.hints[0].contains("go to those of table t by position, that is to a, b"));

        let mut said = facts();
        said.target.table = Some(table(&["a", "b"], false));
        let by = |match_by| decide(&LoadOptions { match_by, ..LoadOptions::default() }, &said);
        assert_eq!(by(Some(MatchBy::Position)).unwrap().hints, [""; 0]);
        let error = by(None).err().unwrap();
        assert_eq!(
            error.what(),
            "table t has no columns id, name that the source names: the source has id, name; the table has a, b"
        );
        assert_eq!(error.advice().len(), 5);

        let mut unknown = facts();
        unknown.target.table = Some(table(&["id"], false));
        let error = decide(&LoadOptions::default(), &unknown).err().unwrap();
        assert_eq!(
            error.what(),
            "table t has no column name that the source names: the source has id, name; the table has id"
        );
        assert_eq!(error.advice().len(), 4, "as many columns are not to be had by position");

        let mut too_narrow = facts();
        too_narrow.source.header = false;
        too_narrow.target.table = Some(table(&["a"], false));
        let error = decide(&LoadOptions::default(), &too_narrow).err().unwrap();
        assert_eq!(error.what(), "the source has 2 columns, table t has 1: a");
    }

    #[test]
    fn what_is_to_be_added_to_has_to_be_there() {
        for if_exists in [IfExists::Append, IfExists::Truncate] {
            let request = LoadOptions { if_exists, ..LoadOptions::default() };
            let error = decide(&request, &facts()).err().unwrap();
            assert!(error.what().starts_with("x.db has no table t, and --if-exists"), "{error}");
        }
    }

    #[test]
    fn a_table_with_rows_needs_a_word_from_the_user() {
        let mut facts = facts();
        facts.target.table = Some(table(&["id", "name"], true));
        let error = decide(&LoadOptions::default(), &facts).err().unwrap();
        assert_eq!(error.what(), "table t in x.db holds rows already");
        assert_eq!(error.advice().len(), 4);
        let action = |if_exists| {
            decide(&LoadOptions { if_exists, ..LoadOptions::default() }, &facts).map(|c| c.action)
        };
        assert_eq!(action(IfExists::Append).unwrap(), Action::Append);
        assert_eq!(action(IfExists::Truncate).unwrap(), Action::Truncate);
        assert_eq!(action(IfExists::Replace).unwrap(), Action::Replace);
        assert!(action(IfExists::Fail).is_err());
    }

    #[test]
    fn promises_forbid_what_cannot_keep_them() {
        let fast = [("synchronous".to_owned(), "off".to_owned())].into();
        let error =
            decide(&LoadOptions { knobs: fast, ..LoadOptions::default() }, &facts()).err().unwrap();
        assert_eq!(error.kind(), Kind::Usage);
        assert_eq!(
            error.what(),
            "with synchronous=off a load is 'process' at best, and 'durable' is asked for"
        );
        assert_eq!(
            error.advice(),
            [
                "say --durability process, which guarantees no more than that",
                "or leave --set synchronous=off out"
            ]
        );

        let relaxed = LoadOptions { durability: Durability::None, ..LoadOptions::default() };
        let knobs = decide(&relaxed, &facts()).unwrap().knobs;
        assert!(knobs.iter().any(|knob| knob == ("synchronous", "off")));
    }

    #[test]
    fn committing_on_the_way_gives_up_atomicity_in_a_database_that_is_there() {
        let request = LoadOptions {
            knobs: [("rows_per_transaction".to_owned(), "1k".to_owned())].into(),
            ..LoadOptions::default()
        };
        assert!(
            decide(&request, &facts()).unwrap().atomic,
            "a new database appears whole or not at all"
        );
        let mut there = facts();
        there.target.exists = true;
        let choice = decide(&request, &there).unwrap();
        assert!(!choice.atomic);
        assert!(choice.knobs.iter().any(|knob| knob == ("rows_per_transaction", "1024")));
        assert!(choice.reasons.iter().any(|reason| reason.contains("committed on the way")));
    }

    #[test]
    fn more_connections_than_can_be_used_are_as_many_as_can() {
        let choice =
            decide(&LoadOptions { lanes: Some(4), ..LoadOptions::default() }, &facts()).unwrap();
        assert_eq!(choice.lanes, 1);
        let hint = &choice.hints[0];
        assert!(hint.starts_with("--lanes 4: sqlite/"), "{hint}");
        assert!(hint.ends_with("can use 1, so it is 1"), "{hint}");
    }

    #[test]
    fn contradictions_are_usage_errors() {
        let usage = |request: LoadOptions| {
            let error = decide(&request, &facts()).err().unwrap();
            assert_eq!(error.kind(), Kind::Usage, "{error}");
            error.what().to_owned()
        };
        let base = LoadOptions::default;
        assert!(
            usage(LoadOptions { strategy: Some("sqlite/magic".to_owned()), ..base() })
                .contains("no strategy")
        );
        assert!(usage(LoadOptions { lanes: Some(0), ..base() }).contains("at least 1"));
        assert!(usage(LoadOptions { chunk_bytes: Some(1), ..base() }).contains("--chunk-size"));
        assert!(
            usage(LoadOptions { primary_key: vec!["x".to_owned()], ..base() })
                .contains("no column x")
        );
        assert!(
            usage(LoadOptions { on_conflict: OnConflict::Skip, ..base() }).contains("know the key")
        );
        assert!(
            usage(LoadOptions { types: [("x".to_owned(), Type::Text)].into(), ..base() })
                .contains("no column x")
        );
        let keyed = LoadOptions {
            on_conflict: OnConflict::Update,
            key: vec!["id".to_owned()],
            primary_key: vec!["id".to_owned()],
            verify: Verify::Checksum,
            max_rejects: RejectLimit::default(),
            ..base()
        };
        assert!(usage(keyed).contains("checksum"));
    }

    #[test]
    fn memory_does_not_depend_on_the_input() {
        let small = decide(&LoadOptions::default(), &facts()).unwrap().memory_ceiling_bytes;
        let mut huge = facts();
        huge.source.bytes = Some(1 << 40);
        assert_eq!(decide(&LoadOptions::default(), &huge).unwrap().memory_ceiling_bytes, small);
        assert!(small < 100_000_000, "{small}");
    }

    #[test]
    fn too_many_columns_are_said_before_anything_is_made() {
        let mut facts = facts();
        facts.source.fields = (0..2_001).map(|n| field(&format!("c{n}"), Type::Text)).collect();
        let error = decide(&LoadOptions::default(), &facts).err().unwrap();
        assert!(
            error.what().contains("2001 columns") && error.what().contains("at most 2000"),
            "{error}"
        );
    }
}
