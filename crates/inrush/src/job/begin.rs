//! Begins a job: all that can be refused is refused here, before anything runs.

use std::collections::BTreeMap;

use arrow_array::RecordBatch;
use arrow_schema::{DataType, SchemaRef};

use super::brought::{Brought, adds_each, rows_before};
use super::keep;
use super::ledger::{Entry, Ledger, Made, Record};
use super::partitions::{self, Partitions};
use super::publish::look;
use super::text::{Guarantee, Job, Load, Options, Place, State, Visible, changed};
use super::{BEAT, LEDGER};
use crate::observer::Observer;
use crate::plan::{
    IfExists, Inference, LoadOptions, OnConflict, Plan, ReadRequest, RejectLimit, RejectsTo,
    Request, TargetFacts, Verify, plan_knowing,
};
use crate::split::{Parts, Split, split_with_warnings};
use crate::target::{Untold, WITHOUT_TABLES};
use inrush_core::error::{Error, Result};
use inrush_core::wording::{noun, said_of};
use inrush_core::{RowIds, TableFacts, Type, unique};

/// Characters of a job's name.
const ID_MAX: usize = 190;

/// Attempts of a job that write at the same time: each looks through the locks of all.
const CONNECTIONS_MAX: u32 = 1_000;

/// A process that has not noted for so long that it is at work is taken for dead.
const STALE: u64 = 6 * BEAT.as_secs();

/// Begins a job for rows of this schema.
///
/// # Errors
/// When the target has no jobs, the rows don't fit the table, the user may not make tables, or another job has the name. A job of the
/// name that is committed is no error: it comes back in that state, and publishing it does nothing. One that is aborted is begun again;
/// with [`Guarantee::PerPartition`] it goes on, and what is in the table of it is not written again.
pub fn begin(
    schema: SchemaRef,
    url: &str,
    load: &LoadOptions,
    options: &Options,
    observer: &dyn Observer,
) -> Result<Job> {
    let request = Request { target: url.to_owned(), options: load.clone(), ..Request::default() };
    let rows = |request: &Request, _: &mut Job, facts: Option<TargetFacts>| {
        let untyped: Vec<String> = schema
            .fields()
            .iter()
            .filter(|field| options.wants_types && *field.data_type() == DataType::Null)
            .map(|field| field.name().clone())
            .collect();
        let none = vec![RecordBatch::new_empty(schema)];
        let plan = plan_knowing(Some(Box::new(none)), request, facts, observer)?;
        refuse_untyped(&plan, &untyped)?;
        Ok(plan)
    };
    begun(request, options, rows, observer)
}

/// The same for rows like those of the request's sources, which nothing is loaded of.
///
/// # Errors
/// As for [`begin`].
pub fn begin_like(request: &Request, options: &Options, observer: &dyn Observer) -> Result<Job> {
    let planned =
        |request: &Request, _: &mut Job, facts| plan_knowing(None, request, facts, observer);
    begun(request.clone(), options, planned, observer)
}

/// The same for the rows of the request's sources, cut into parts of which each is an attempt's: see [`split`](fn@crate::split), and
/// [`write_split`](super::write_split). Publishing wants a token of each of them. Of a job that is committed already there are none.
///
/// # Errors
/// As for [`begin`], and for [`split`](fn@crate::split).
pub fn begin_split(
    request: &Request,
    parts: Parts,
    options: &Options,
    observer: &dyn Observer,
) -> Result<(Job, Vec<Split>)> {
    let mut splits = Vec::new();
    let job = begun(
        request.clone(),
        options,
        |request, job, facts| {
            let warnings;
            (splits, warnings) = split_with_warnings(request, parts, observer)?;
            job.attempts = u32::try_from(splits.len()).ok();
            // The splits know types, and how the files are written.
            let options = LoadOptions {
                types: BTreeMap::new(),
                inference: Inference::Infer,
                read: ReadRequest::default(),
                ..request.options.clone()
            };
            let split = splits.first().cloned();
            let target = request.target.clone();
            let request = Request { split, target, options, ..Request::default() };
            let mut plan = plan_knowing(None, &request, facts, observer)?;
            plan.facts.source.warnings = warnings;
            Ok(plan)
        },
        observer,
    )?;
    Ok((job, splits))
}

fn begun(
    mut request: Request,
    options: &Options,
    planned: impl FnOnce(&Request, &mut Job, Option<TargetFacts>) -> Result<Plan>,
    observer: &dyn Observer,
) -> Result<Job> {
    let url = request.target.clone();
    let place = Place::of(&url, options.password.as_deref())?;
    request.target.clone_from(&place.location.secret);
    request.rejects = RejectsTo::Observer;
    check(&request, options)?;
    let table = match &request.table {
        Some(table) if !table.is_empty() => table.clone(),
        _ => {
            return Err(
                Error::usage("a job needs the name of its table").advise("say --table NAME")
            );
        }
    };
    let early = options.guarantee.is_early();
    let of_jobs = |error: Error| error.readvised(|advice| done_by_jobs(advice, early));
    let facts = place.target.facts(&place.location, &table, &request, observer.stop_flag());
    let facts = facts.map_err(of_jobs)?;
    let has_table = facts.table.is_some();
    // Schedulers say append of a table that the first job makes.
    if facts.table.is_none() && request.if_exists == IfExists::Append {
        request.if_exists = IfExists::Empty;
    }
    let home = place.jobs.tables.home(&facts, &table);
    let mut job = Job {
        version: env!("CARGO_PKG_VERSION").to_owned(),
        id: options.id.clone().unwrap_or_else(unique::word),
        state: State::Open,
        url,
        password: options.password.clone(),
        home,
        digits: unique::word(),
        connections: options.connections,
        attempts: options.attempts,
        guarantee: options.guarantee,
        visible: None,
        columns: Vec::new(),
        load: Load {
            match_by: request.match_by,
            on_conflict: request.on_conflict,
            key: Vec::new(),
            max_rejects: request.max_rejects.to_string(),
            verify: request.verify,
            durability: request.durability,
            strategy: request.strategy.clone(),
            knobs: request.knobs.clone(),
            untold: Untold::default(),
            types: BTreeMap::new(),
            dialect: request.dialect.clone(),
            read: request.read.clone(),
        },
    };
    // A name that is done has to be known before its rows are in the way of a table that was to be empty.
    let mut ledger = Ledger::open(&place, &job.home, observer.stop_flag())?;
    let has_ledger = ledger.is_there()?;
    let mut facts = Some(facts);
    let (mut earlier, mut made) = (None, None);
    if has_ledger && let Some(entry) = ledger.entry(&job.id, false).map_err(unreadable)? {
        match free(&mut ledger, &place, &job, entry, observer)? {
            Name::Done(known) => return Ok(*known),
            Name::Free(with) => made = with,
            Name::Begun(begun) => {
                made.clone_from(&begun.made);
                earlier = Some(begun);
            }
        }
        // To free the name may have been to publish what it had.
        facts = None;
    }
    let found = match (&earlier, &made) {
        (None, None) => None,
        _ => look(&place, &job, observer.stop_flag())?,
    };
    made = made.filter(|_| found.is_some());
    if let (Some(made), Some(table)) = (&made, &found) {
        has_made(&mut request, &job, made, table)?;
    }
    if let Some(begun) = &earlier {
        let brought = Brought { visible: begun.visible, before: begun.before };
        brought.stays(&mut ledger, &job, found.as_ref())?;
        // What it holds is the job's own.
        request.if_exists = IfExists::Append;
        job.visible = Some(begun.visible);
    }
    if !place.jobs.rows.has_transactions() {
        without_transactions(&mut request, &job, has_table)?;
    }
    // Before the plan, which may advise what makes such a table fit for a load.
    let kept = facts.as_ref().and_then(|facts| facts.table.as_ref()).or(found.as_ref());
    if let Some(table) = kept.filter(|_| request.if_exists != IfExists::Replace) {
        place.jobs.tables.refuse_table(table)?;
    }
    let plan = planned(&request, &mut job, facts).map_err(of_jobs)?;
    let makes = plan.choice.action.makes_table();
    // Rows that go straight into an existing table need no other.
    let makes_tables = job.guarantee != Guarantee::None || makes;
    place.jobs.tables.refuse(&plan.job, makes_tables)?;
    refuse_new_columns(&plan)?;
    if makes_tables {
        refuse_kept_columns(&plan)?;
        ledger.admits(&plan.job)?;
    }
    ledger.try_rights(makes_tables.then(|| job.template()).as_deref())?;
    if !has_ledger {
        ledger.make()?;
    }
    // By the job's names: an attempt's files may have others for the same columns.
    let named = |(name, ty): (&String, &Type)| Some((plan.called(name)?.name.clone(), *ty));
    job.load.types = request.types.iter().filter_map(named).collect();
    job.load.untold = place.jobs.tables.untold(&plan.job);
    job.columns = plan.choice.columns.iter().map(|column| column.name.clone()).collect();
    if job.load.on_conflict != OnConflict::Fail {
        job.load.key.clone_from(&plan.choice.key);
    }
    let keyed =
        job.load.on_conflict != OnConflict::Fail || request.max_rejects != RejectLimit::Rows(0);
    let into = if makes && !early { job.new_table() } else { job.home.table.clone() };
    let (tables, kept) = (place.jobs.tables, plan.facts.target.table.as_ref());
    let before = match &earlier {
        Some(begun) => {
            begun.admits(&job)?;
            begun.before.filter(|_| adds_each(&job))
        }
        None => rows_before(&mut ledger, plan.job.kept_table(), &job)?,
    };
    let partitions = match &earlier {
        Some(begun) => Some(begun.partitions.clone()),
        None => (job.guarantee == Guarantee::PerPartition).then(partitions::new_name),
    };
    let mut record = Record {
        copying: place.jobs.rows.copying(&plan.job, &job.home, &into),
        complete: if makes {
            tables.complete(&plan.job, &job.home, &job.new_table(), keyed)
        } else {
            Vec::new()
        },
        makes: makes && !early,
        replaces: makes && kept.is_some(),
        wants_empty: !makes && request.if_exists == IfExists::Empty,
        outline: kept.map(|table| tables.outline(table)),
        counts: job.load.on_conflict == OnConflict::Fail,
        recounts: adds_each(&job) && job.load.verify != Verify::None && tables.miscounts(&plan.job),
        partitions,
        before,
        made: match makes && early {
            true => Some(Made {
                primary_key: request.primary_key.clone(),
                indexes: request.indexes.clone(),
            }),
            false => made,
        },
        warnings: plan.warnings(),
        publisher: String::new(),
        job,
    };
    // The row first: a table of a job that nobody knows would be swept.
    let entered = match &earlier {
        Some(begun) => match ledger.reopen(&record, &begun.digits)? {
            true => Ok(()),
            false => Err(changed(&record.job)),
        },
        None => ledger.insert(&record),
    };
    if let Err(error) = entered {
        return match ledger.entry(&record.job.id, false) {
            Ok(Some(entry)) => Err(taken(&entry)),
            _ => Err(error),
        };
    }
    let mut template = Vec::new();
    if makes_tables {
        let name = record.job.template();
        template = tables.make_template(&plan.job, &record.job.home, &name, keyed);
    }
    let makes_partitions = earlier.is_none();
    if let Err(error) = make(&mut ledger, &template, &record, makes_partitions) {
        withdraw(&mut ledger, &record);
        return Err(not_made(&record.job, &error, makes));
    }
    if makes {
        let (template, other) = (record.job.template(), record.job.new_table());
        if let Err(error) = ledger.try_name(&template, &other) {
            withdraw(&mut ledger, &record);
            let (table, why) = (record.job.table(), error.what());
            return Err(Error::target(format!(
                "a job gives a table that it has made the name {table}, and this user may not rename it: {why}"
            ))
            .advise("ask for ALTER and DROP on the tables of the database")
            .advise(WITHOUT_TABLES));
        }
    }
    if makes && early {
        let named = make_named(&mut ledger, &place, &mut record, observer);
        if let Err(error) = named {
            withdraw(&mut ledger, &record);
            return Err(error);
        }
    }
    Ok(record.job)
}

/// The error of a table that can't be made for a job, which itself `makes` its table or not.
fn not_made(job: &Job, error: &Error, makes: bool) -> Error {
    let what = format!("can't make a table beside {}: {}", job.table(), error.what());
    let refused = Error::target(what);
    if error.lacks_right() || (makes && error.advice().is_empty()) {
        return refused
            .advise("a job makes tables in the schema of its own: ask for the right to")
            .advise(WITHOUT_TABLES);
    }
    if makes {
        return error.advice().iter().cloned().fold(refused, Error::advise);
    }
    refused
        .advise("begin the job with --guarantee none, whose rows go straight into the table")
        .advise(WITHOUT_TABLES)
}

/// Refuses columns that the table lacks: attempts would add them to their own.
fn refuse_new_columns(plan: &Plan) -> Result<()> {
    let new: Vec<&str> = plan.job.added_columns().map(|column| column.name.as_str()).collect();
    if new.is_empty() {
        return Ok(());
    }
    Err(Error::usage(format!(
        "no job adds columns to a table: table {} has no {} {}",
        plan.table,
        noun(new.len() as u64, "column"),
        new.join(", ")
    ))
    .advise("add them to the table first")
    .advise("or --new-columns ignore leaves them out"))
}

/// Refuses a table whose columns have types that nothing says.
fn refuse_untyped(plan: &Plan, untyped: &[String]) -> Result<()> {
    let columns = plan.choice.columns.iter().zip(&plan.choice.fields);
    let unsaid = columns.filter(|(column, _)| column.declared.is_none() && !column.is_asked());
    let mut unsaid = unsaid.map(|(_, field)| plan.facts.source.fields[*field].source_name());
    match unsaid.find(|name| untyped.iter().any(|untyped| untyped == name)) {
        Some(name) if plan.choice.action.makes_table() => Err(Error::usage(format!(
            "nothing says of what type column {name} is, and the job makes table {}",
            plan.table
        ))
        .advise(format!("say it, as in {}", said_of("--type", name, "text")))
        .advise("or make the table first: the types of its columns hold")),
        _ => Ok(()),
    }
}

/// Refuses columns that are to stay as they are in the rows which the job changes: an attempt's own table has none of those.
fn refuse_kept_columns(plan: &Plan) -> Result<()> {
    let Some(name) = plan.job.kept_columns().first().copied() else { return Ok(()) };
    Err(Error::target(format!(
        "column {name} of table {} has no default, and the source has no such column, which the tables of a job's attempts take for a bad row",
        plan.table
    ))
    .advise("add the column to the source, or give the table's column a default")
    .advise("or begin the job with --guarantee none, whose rows go straight into the table"))
}

/// Leaves out of the request what the table has because the job itself has made it so: the command that has begun the job goes on with it.
///
/// # Errors
/// When the job has made it otherwise.
fn has_made(request: &mut Request, job: &Job, made: &Made, table: &TableFacts) -> Result<()> {
    let is_same = (request.primary_key.is_empty() || request.primary_key == made.primary_key)
        && (request.indexes.is_empty() || request.indexes == made.indexes);
    if !is_same {
        let key = Some(("--primary-key", &made.primary_key)).filter(|(_, key)| !key.is_empty());
        let indexes = made.indexes.iter().map(|index| ("--index", index));
        let options = key.into_iter().chain(indexes);
        let options = options.map(|(option, names)| format!("{option} {}", names.join(",")));
        let how = match options.collect::<Vec<_>>() {
            none if none.is_empty() => "without --primary-key and --index".to_owned(),
            options => format!("with {}", options.join(" ")),
        };
        return Err(Error::usage(format!(
            "job {} has made table {} {how}, and goes on with it as it is",
            job.id,
            job.table()
        ))
        .advise("say what was said the first time, or leave --primary-key and --index out"));
    }
    // A table that has been made since by another program has what that gave it.
    let is_key = |name: &String| table.primary_key.iter().any(|key| key.eq_ignore_ascii_case(name));
    let has_key =
        table.primary_key.len() == made.primary_key.len() && made.primary_key.iter().all(is_key);
    if table.takes_any || has_key {
        request.indexes.clear();
        request.primary_key = table.key_said_again(&made.primary_key);
    }
    Ok(())
}

/// Makes what attempts need.
fn make(
    ledger: &mut Ledger<'_>,
    template: &[String],
    record: &Record,
    makes_partitions: bool,
) -> Result<()> {
    ledger.run(template)?;
    match record.partitions.as_deref().filter(|_| makes_partitions) {
        Some(partitions) => Partitions(partitions).make(ledger),
        None => Ok(()),
    }
}

/// Makes the table that attempts bring their rows into: whole, with its keys and indexes, before it gets its name.
fn make_named(
    ledger: &mut Ledger<'_>,
    place: &Place,
    record: &mut Record,
    observer: &dyn Observer,
) -> Result<()> {
    let (tables, job) = (place.jobs.tables, &record.job);
    let hidden = job.new_table();
    ledger.run([&tables.make_hidden(&job.home, &hidden, &job.template())])?;
    ledger.run(&record.complete)?;
    if tables.renames_in_transaction() {
        ledger.begin()?;
    }
    if let Err(error) = ledger.take_name(&job.home, &hidden, false) {
        return Err(match look(place, job, observer.stop_flag()) {
            Ok(Some(_)) if error.is_refusal() => Error::target(format!(
                "another process has made table {} while job {} began",
                job.table(),
                job.id
            ))
            .advise("begin the job again: with --if-exists append it adds to that table"),
            _ => error,
        });
    }
    if tables.renames_in_transaction() {
        ledger.commit()?;
    }
    record.outline = look(place, job, observer.stop_flag())?.map(|table| tables.outline(&table));
    ledger.rewrite(record)
}

/// Ends a job that can't begin.
fn withdraw(ledger: &mut Ledger<'_>, record: &Record) {
    let job = &record.job;
    let _ = ledger.roll_back();
    ledger.clear(job);
    let _ = ledger.step((&job.id, &job.digits), (State::Open, State::Aborted), None, None);
}

/// The ledger is others', as are the rights to it.
fn unreadable(error: Error) -> Error {
    match error.is_lost_connection() {
        true => error,
        false => Error::target(format!(
            "can't use the table {LEDGER}, which jobs make: {}",
            error.what()
        ))
        .advise(format!(
            "have its owner grant SELECT, INSERT, UPDATE and DELETE on {LEDGER}, and the right to make tables beside it"
        ))
        .advise(WITHOUT_TABLES),
    }
}

/// Refuses what takes a transaction.
fn without_transactions(request: &mut Request, job: &Job, has_table: bool) -> Result<()> {
    if job.guarantee == Guarantee::PerPartition {
        request.row_ids = Some(RowIds { job: job.id.clone(), partition: 0 });
    }
    if job.guarantee != Guarantee::Atomic {
        return Ok(());
    }
    let table = job.table();
    if has_table && request.if_exists != IfExists::Replace {
        return Err(Error::usage(format!(
            "{table} exists, and its database has no transaction that could add all rows of a job at once"
        ))
        .advise("--guarantee per_partition adds each partition as soon as it is written, and once")
        .advise("--if-exists replace has a new one take its place once all rows are there"));
    }
    if request.on_conflict != OnConflict::Fail {
        return Err(Error::usage(format!(
            "rows of a job that makes {table} come from several attempts at once, and this database can't compare their keys: no --on-conflict {}",
            request.on_conflict
        ))
        .advise("--guarantee per_partition compares them as they are written"));
    }
    Ok(())
}

/// The advice of a load, unless it is something that no job does.
fn done_by_jobs(advice: &str, early: bool) -> Option<String> {
    let never = ["--if-exists truncate", "--if-exists fail", "--new-columns add"];
    let at_once = early.then_some("--if-exists replace");
    let is_refused = never.into_iter().chain(at_once).any(|option| advice.contains(option));
    (!is_refused).then(|| advice.to_owned())
}

fn check(request: &Request, options: &Options) -> Result<()> {
    if matches!(request.if_exists, IfExists::Truncate | IfExists::Fail) {
        return Err(Error::usage(format!("no job does --if-exists {}", request.if_exists))
            .advise("--if-exists append, empty or replace"));
    }
    if options.guarantee.is_early() && request.if_exists == IfExists::Replace {
        return Err(Error::usage(format!(
            "rows of a job with --guarantee {} can be seen before they are all there, and --if-exists replace is done at once",
            options.guarantee
        ))
        .advise("--guarantee atomic replaces the table once all rows are there")
        .advise("or empty the table first, and begin with --if-exists append"));
    }
    if options.connections > CONNECTIONS_MAX {
        return Err(Error::usage(format!(
            "a job writes over at most {CONNECTIONS_MAX} connections, and {} are asked for",
            options.connections
        ))
        .advise(
            "say --connections with a smaller number: attempts that find none free wait for one",
        ));
    }
    if options.connections == 0 || options.attempts == Some(0) {
        return Err(Error::usage("a job has at least one connection, and at least one attempt"));
    }
    if let Some(id) = &options.id
        && (id.is_empty() || id.contains('\0') || id.chars().count() > ID_MAX)
    {
        return Err(Error::usage(format!("a job's name has 1 to {ID_MAX} characters, and no NUL")));
    }
    // Some databases take a name with blanks behind it for the name without.
    if let Some(id) = &options.id
        && id.trim() != id
    {
        return Err(Error::usage(format!(
            "a job's name neither begins nor ends with blanks: '{id}'"
        ))
        .advise("leave the blanks out"));
    }
    Ok(())
}

/// What has become of the name that a job is to have.
enum Name {
    /// What its job has made the table with, where that has brought in nothing.
    Free(Option<Made>),
    /// Its job is committed.
    Done(Box<Job>),
    /// Its job was aborted with partitions in the table, and this one goes on with it.
    Begun(Begun),
}

/// A job that is gone on with.
struct Begun {
    digits: String,
    partitions: String,
    visible: Visible,
    columns: Vec<String>,
    attempts: Option<u32>,
    before: Option<u64>,
    made: Option<Made>,
}

impl Begun {
    /// Refuses a job whose partitions can't be those of the earlier one.
    fn admits(&self, job: &Job) -> Result<()> {
        let why = match (self.attempts, job.attempts) {
            (Some(before), Some(now)) if before != now => {
                format!("its rows were in {before} parts, and now are in {now}")
            }
            _ if self.columns != job.columns => format!(
                "its columns were {}, and now are {}",
                self.columns.join(", "),
                job.columns.join(", ")
            ),
            _ => return Ok(()),
        };
        Err(Error::usage(format!(
            "{} partitions of job {} are in the table already, and these are not the same: {why}",
            self.visible.partitions, job.id
        ))
        .advise(
            "give this load another name, when nothing of the first one is to stay in the table",
        ))
    }
}

/// Makes the name of a job that is over free, or finds out that it is gone on with, or done.
fn free(
    ledger: &mut Ledger<'_>,
    place: &Place,
    job: &Job,
    mut entry: Entry,
    observer: &dyn Observer,
) -> Result<Name> {
    let known = entry.record()?.job.clone();
    if known.home != job.home {
        return Err(Error::usage(format!(
            "job {} is one of table {}, and not of {}",
            job.id,
            known.table(),
            job.table()
        ))
        .advise("give each load a name of its own"));
    }
    if !matches!(entry.state, State::Committed | State::Aborted) {
        let is_young = entry.age.unsigned_abs() < STALE;
        let publishes = entry.state != State::Open;
        if !ledger.is_idle(&known)? || (is_young && !publishes) {
            return Err(taken(&entry));
        }
        keep::settle(place, &known, observer)?;
        let settled = ledger.entry(&job.id, false)?;
        entry = settled.ok_or_else(|| {
            Error::target(format!("the row of job {} is gone from {LEDGER}", job.id))
        })?;
    }
    if entry.state == State::Committed {
        return Ok(Name::Done(Box::new(Job { state: State::Committed, ..known })));
    }
    let visible = match entry.partitions.as_deref() {
        Some(partitions) => Partitions(partitions).visible(ledger)?,
        None => Visible::default(),
    };
    let leaves = visible.partitions > 0 || known.guarantee == Guarantee::None;
    if entry.state == State::Aborted && leaves && known.guarantee != job.guarantee {
        return Err(Error::usage(format!(
            "rows of job {} may be in table {} already, for it was begun with --guarantee {}",
            job.id,
            job.table(),
            known.guarantee
        ))
        .advise(format!("begin it with --guarantee {} again", known.guarantee))
        .advise(
            "or give this load another name, when nothing of the first one is to stay in the table",
        ));
    }
    match (entry.state, entry.partitions.clone()) {
        (State::Aborted, Some(partitions)) if visible.partitions > 0 => {
            ledger.clear(&known);
            let (before, made) = (entry.record()?.before, entry.record()?.made.clone());
            let Job { digits, columns, attempts, .. } = known;
            Ok(Name::Begun(Begun { digits, partitions, visible, columns, attempts, before, made }))
        }
        (State::Aborted, _) if ledger.delete(&job.id, &known.digits, State::Aborted)? => {
            ledger.clear(&known);
            ledger.forget(entry.record()?);
            Ok(Name::Free(entry.record()?.made.clone()))
        }
        _ => Err(taken(&entry)),
    }
}

fn taken(entry: &Entry) -> Error {
    Error::target(format!(
        "job {} is {} already: a process was at work {} s ago",
        entry.id, entry.state, entry.age
    ))
    .advise(format!("where none is any more, inrush job recover URL '{}' frees the name", entry.id))
    .advise("or give this load another name")
}
