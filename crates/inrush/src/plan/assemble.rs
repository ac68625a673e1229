//! The plan, put together from request, facts and choice.

use std::collections::{BTreeMap, HashMap};
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering::Relaxed};

use serde::Serialize;

use crate::job;
use crate::limits;
use crate::observer::Observer;
use crate::pipe::reject::RejectPlace;
use crate::plan::choose::{called, candidates, choose, spelt};
use crate::plan::steps::{self, Start};
use crate::profile;
use crate::target::{self, Location, TableName, Target};
use inrush_core::encode::{AddedValue, Foreseen, Grammar, Shape, ShapeColumn};
use inrush_core::error::{Error, Kind, Result, shorten, without_secrets};
use inrush_core::facts::{Facts, FieldFacts, SourceFacts, TableFacts, TargetFacts};
use inrush_core::job::{Choice, Job, Measured};
use inrush_core::ledger::{self, Entry, InputName, StepPlan};
use inrush_core::nulls::Nulls;
use inrush_core::path;
use inrush_core::reading::{
    Added, Family, Fractions, Holds, Proposal, ReadRequest, Readers, Reading, Unread, is_alike,
    rejoined,
};
use inrush_core::request::{
    DialectRequest, Durability, Empty, Format, Guarantee, IfExists, Inference, LoadOptions,
    MatchBy, OnConflict, RejectLimit, RejectsTo, Request, Verify,
};
use inrush_core::schema::{Basis, Column, Type};
use inrush_core::split::SplitPart;
use inrush_core::value::double::special;
use inrush_core::value::rule;
use inrush_core::wording::{counted, noun, said_of, shell_word};
use inrush_source::rejects::{
    RejectsNote, RejectsTable, dialect_of, first_note, merged_at, sidecar_path,
};
use inrush_source::{BatchSource, Compression, Input, InputFiles, Place, Source, decode};

/// What a load will do. Made by [`plan`], carried out by [`crate::run`].
#[derive(Clone)]
pub struct Plan {
    /// What the target has to know of it: the request, the facts, the choice.
    pub job: Job,
    /// The kind of database.
    pub target: &'static dyn Target,
    /// The inputs.
    pub source: Arc<Source>,
    /// The files that they are, which have to stay as they are until all is read.
    pub files: Arc<InputFiles>,
    /// Where each input's bad rows would go.
    pub reject_places: Vec<RejectPlace>,
    /// Where in the source a load in steps begins, and why, where that is not the first row.
    reason: Option<String>,
}

impl std::ops::Deref for Plan {
    type Target = Job;

    fn deref(&self) -> &Job {
        &self.job
    }
}

impl std::ops::DerefMut for Plan {
    fn deref_mut(&mut self) -> &mut Job {
        &mut self.job
    }
}

/// Looks at source and target, changing neither, and decides how to load the one into the other.
///
/// # Errors
/// When the request contradicts itself, an input can't be read, the target would refuse the load, or the observer wants to
/// stop.
pub fn plan(request: &Request, observer: &dyn Observer) -> Result<Plan> {
    plan_knowing(None, request, None, observer)
}

/// The same for rows that a program has: `request` names no source then.
///
/// # Errors
/// As for [`plan`].
pub(crate) fn plan_rows(
    rows: Box<dyn BatchSource>,
    request: &Request,
    observer: &dyn Observer,
) -> Result<Plan> {
    plan_knowing(Some(rows), request, None, observer)
}

/// The same where the target may have been looked at already, and rows may be those of a program.
///
/// # Errors
/// As for [`plan`].
pub(crate) fn plan_knowing(
    rows: Option<Box<dyn BatchSource>>,
    request: &Request,
    known: Option<TargetFacts>,
    observer: &dyn Observer,
) -> Result<Plan> {
    limits::check(request)?;
    let (target, mut location) =
        target::find(&request.target).map_err(|error| target_first(request, error))?;
    location.spare = request.spare.clone();
    let request = &steps::settled(request)?;
    let facts = |request: &Request, table: &str, stop: &AtomicBool| match known {
        Some(facts) => Ok(facts),
        None => observer.follow(&location.spare, || target.facts(&location, table, request, stop)),
    };
    stoppable(observer, |stop| gather(request, rows, target, &location, facts, stop))
}

/// The error of a place that no target takes; where a word among the places may be a table, or the first source is a database, what to try
/// is what was meant.
fn target_first(request: &Request, error: Error) -> Error {
    let is_database =
        |text: &String| target::find(text).is_ok_and(|(target, _)| target.has_tables());
    if let Some(meant) = with_table(request, is_database) {
        return error.readvised(|_| None).advise(meant);
    }
    match request.sources.as_slice() {
        [first, others @ ..] if is_database(first) => {
            let places = others.iter().chain([&request.target, first]).map(String::as_str);
            error
                .readvised(|_| None)
                .advise(format!("name the database last: {}", shown_command(places, "")))
        }
        _ => error,
    }
}

/// The command with `--table` that is meant where the places are files, one database and one word, or where the table is written behind the
/// database: other programs take their tables so.
fn with_table(request: &Request, is_database: impl Fn(&String) -> bool) -> Option<String> {
    let may_be_table = |word: &str| {
        !word.is_empty()
            && word.bytes().all(|byte| byte.is_ascii_alphanumeric() || byte == b'_')
            && !Path::new(word).exists()
    };
    if request.table.is_some() {
        return None;
    }
    let places = request.sources.iter().chain([&request.target]);
    let (databases, others): (Vec<&String>, Vec<&String>) = places.partition(|it| is_database(it));
    let (words, files): (Vec<&String>, Vec<&String>) =
        others.into_iter().partition(|it| may_be_table(it));
    let (files, database, table) = match (databases.as_slice(), words.as_slice()) {
        ([database], [word]) => (files, database.as_str(), word.as_str()),
        ([], []) => {
            let split = |between: &str| request.target.rsplit_once(between);
            let mut places = ["?table=", ":", "/"].into_iter().filter_map(split);
            let (database, table) = places
                .find(|(place, word)| may_be_table(word) && is_database(&(*place).to_owned()))?;
            (request.sources.iter().collect(), database, table)
        }
        _ => return None,
    };
    if files.is_empty() {
        return None;
    }
    // An option behind `--` is none.
    let files = files.into_iter().map(String::as_str).filter(|file| *file != "--table");
    let options = format!("--table {table}");
    let command = shown_command(files.chain([database]), &options);
    Some(format!("name the table by --table: {command}"))
}

/// The load of these places with these options, without secrets. Where a place looks like an option, these come first.
fn shown_command<'p>(places: impl Iterator<Item = &'p str>, options: &str) -> String {
    let words: Vec<String> = places.map(|word| shell_word(&without_secrets(word))).collect();
    let places = words.join(" ");
    let parts = match words.iter().any(|word| word.starts_with('-') && word != "-") {
        true => ["inrush load", options, "--", &places],
        false => ["inrush load", &places, options, ""],
    };
    parts.into_iter().filter(|part| !part.is_empty()).collect::<Vec<_>>().join(" ")
}

/// The plan of a load that only looks: of a request without a target, too, and of a table that holds rows, as if they were to be added
/// to.
pub(crate) fn plan_check(request: &Request, observer: &dyn Observer) -> Result<Plan> {
    limits::check(request)?;
    let (target, location) = match request.target.as_str() {
        "" => crate::unnamed::unnamed(),
        named => target::find(named)?,
    };
    // What is only looked at has no steps.
    let mut request = request.clone();
    (request.guarantee, request.commit_rows, request.resume) = Default::default();
    let request = &request;
    let facts_for = |request: &Request, table: &str, stop: &AtomicBool| {
        let facts = target.facts(&location, table, request, stop)?;
        Ok(TargetFacts { ledger: Vec::new(), ..facts })
    };
    stoppable(observer, |stop| {
        if request.if_exists == IfExists::Empty && !request.target.is_empty() {
            let mut adding = request.clone();
            adding.if_exists = IfExists::Append;
            let mut is_there = false;
            let facts = |request: &Request, table: &str, stop: &AtomicBool| {
                let facts = facts_for(request, table, stop)?;
                is_there = facts.table.is_some();
                // What can be read only once is not to be looked at twice.
                is_there.then_some(facts).ok_or_else(|| Error::target("there is no table"))
            };
            let adding = gather(&adding, None, target, &location, facts, stop);
            if is_there {
                return adding;
            }
        }
        gather(request, None, target, &location, facts_for, stop)
    })
}

/// Whatever was waited for when the user stopped it, the user's wish is the reason.
fn stoppable(
    observer: &dyn Observer,
    work: impl FnOnce(&AtomicBool) -> Result<Plan>,
) -> Result<Plan> {
    let stop = observer.stop_flag();
    work(stop).map_err(|error| if stop.load(Relaxed) { Error::interrupted() } else { error })
}

/// Refuses to load into a table in which inrush itself keeps what loads and jobs have done.
fn refuse_ledgers(request: &Request, target: &dyn Target, table: &str) -> Result<()> {
    let name = TableName::of(request, table, target.quotes());
    let name = name.map_or_else(|_| table.to_owned(), |name| name.table);
    let ledgers = [
        (ledger::TABLE, target.no_steps().is_none(), "loads in steps are entered"),
        (job::LEDGER, target.jobs().is_ok(), "jobs are kept"),
    ];
    let taken =
        ledgers.iter().find(|(ledger, is_kept, _)| *is_kept && ledger.eq_ignore_ascii_case(&name));
    match taken {
        None => Ok(()),
        Some((ledger, _, what)) => Err(Error::usage(format!(
            "{ledger} is the table in which {what}, and takes no rows of others"
        ))
        .advise("say --table NAME, with another name")),
    }
}

fn gather(
    request: &Request,
    rows: Option<Box<dyn BatchSource>>,
    target: &'static dyn Target,
    location: &Location,
    facts: impl FnOnce(&Request, &str, &AtomicBool) -> Result<TargetFacts>,
    stop: &AtomicBool,
) -> Result<Plan> {
    // A name that is wrong is not worth a connection.
    candidates(request, target)?;
    request.sources.iter().try_for_each(|source| target::refuse_server(source))?;
    let mut request = request.clone();
    let (places, twice) = match (&rows, &request.split) {
        (Some(_), _) => (vec![Place::Rows], Vec::new()),
        (None, None) => inrush_source::expand(&request.sources, request.dialect.expand_max, stop)?,
        (None, Some(split)) => {
            let nothing_else = request.sources.is_empty()
                && request.dialect == DialectRequest::default()
                && request.read == ReadRequest::default()
                && (request.types.is_empty() || request.is_attempt())
                && request.inference == Inference::Infer;
            if !nothing_else {
                return Err(Error::usage(
                    "a split knows its files, how they are written and their types: say these where the files are split",
                ));
            }
            let place = |part: &SplitPart| Place::File(part.path.clone());
            let places = split.parts.iter().map(place).collect();
            request.options.read.clone_from(&split.read);
            (places, Vec::new())
        }
    };
    let files = Arc::new(InputFiles::of(&places));
    for place in &places {
        let ids = FileId::of_input(place);
        if location.files.iter().flat_map(|file| FileId::of(file)).any(|id| ids.contains(&id)) {
            return Err(Error::usage(format!("{} is source and target", place.name()))
                .advise("name another target, and put it in the source's place afterwards"));
        }
    }
    let notes: Vec<_> = places.iter().map(note_of).collect();
    // A name that a file gives is whatever it is.
    let typed = request.table.clone().filter(|_| target.has_tables());
    let table = match &request.table {
        Some(table) if table.is_empty() || table.contains('\0') => {
            return Err(Error::usage("--table needs a name that isn't empty and holds no NUL"));
        }
        Some(table) => table.clone(),
        None if rows.is_some() && target.has_tables() => {
            return Err(Error::usage("rows of a program need the name of a table")
                .advise("say --table NAME"));
        }
        None => match inrush_source::folder_table(&request.sources, &places) {
            Some(folder) => folder,
            None => {
                let RejectsTable { name, is_named } = own_table(&places, &notes)?;
                if is_named {
                    request.options.table = Some(name.clone());
                }
                name
            }
        },
    };
    let mut rejects_note = None;
    let nothing_to_skip = unskipped(&request.dialect, &places, &notes);
    if request.split.is_none() {
        (request.dialect, rejects_note) = as_refused(&request.dialect, &notes);
    }
    let DialectRequest { quote, escape, header, .. } = request.dialect;
    let is_usual = (quote, escape, header) == (Some(Some(b'"')), Some(None), None);
    let (rejects_reason, rejects_note) =
        if is_usual { (rejects_note, None) } else { (None, rejects_note) };
    let request = &request;
    let in_steps = request.guarantee == Guarantee::Chunks;
    if in_steps {
        steps::refuse(target, &places)?;
    }
    refuse_ledgers(request, target, &table)?;
    let mut target_facts = facts(request, &table, stop)?;
    let hardly_meant = typed
        .filter(|_| target_facts.table.is_none())
        .and_then(|typed| TableName::hardly_meant(&typed, target.quotes()));
    steps::rename(&mut target_facts.ledger, &places);
    let (mut start, mut begun) = (None, Vec::new());
    match in_steps {
        true => {
            let begins = Start::of(request, steps::inputs(&places)?, &target_facts, &table)?;
            begun.clone_from(&begins.warnings);
            start = Some(begins);
        }
        false => begun = steps::refuse_begun(&places, &target_facts, &table)?,
    }
    let mut adjusted = start.as_ref().map(|start| start.request(request));
    if target_facts.is_stream {
        // What is out is whoever reads it to keep, and to count.
        let streamed = adjusted.get_or_insert_with(|| request.clone());
        (streamed.durability, streamed.verify) = (Durability::None, Verify::None);
    }
    let is_virtual = target_facts.table.as_ref().is_some_and(|table| table.module.is_some());
    let is_kept = request.if_exists != IfExists::Replace;
    let is_counted = request.verify == Verify::Count && request.on_conflict == OnConflict::Fail;
    if is_virtual && is_kept && is_counted {
        adjusted.get_or_insert_with(|| request.clone()).verify = Verify::Checksum;
    }
    let named = names_as_refused(request, &notes);
    if !named.is_empty() {
        adjusted.get_or_insert_with(|| request.clone()).read.columns.renamed.clone_from(&named);
    }
    let mut as_refused =
        types_as_refused(adjusted.as_ref().unwrap_or(request), &target_facts, &notes);
    if !as_refused.is_empty() {
        adjusted.get_or_insert_with(|| request.clone()).types.extend(as_refused.clone());
    }
    let request = adjusted.as_ref().unwrap_or(request);
    target_facts.ledger = Vec::new();
    let known: Option<Vec<String>> = target_facts
        .table
        .as_ref()
        .filter(|table| {
            request.if_exists != IfExists::Replace && !table.takes_any && !table.is_nameless
        })
        .map(|table| table.columns.iter().map(|column| column.name.clone()).collect());
    let mut readers = Readers::of(&request.read)?;
    readers.typed = request.types.keys().cloned().collect();
    readers.bytes = columns_of(request, &target_facts, |ty| ty == Type::Bytes);
    readers.moments = columns_of(request, &target_facts, |ty| {
        matches!(ty, Type::Timestamp { .. } | Type::TimestampNs { .. })
    });
    let opened = match (rows, &request.split) {
        (Some(rows), _) => Source::of_rows(rows, &readers, request.dialect.flatten, stop),
        (None, Some(split)) => Source::of_split(split, &readers),
        (None, None) => Source::open(&places, &request.dialect, &readers, known.as_deref(), stop),
    };
    let (source, mut source_facts) = opened.map_err(|error| match places.as_slice() {
        [place] => error.in_input(&place.name()),
        _ => error,
    })?;
    source_facts
        .warnings
        .splice(0..0, twice.into_iter().chain(begun).chain(rejects_note).chain(nothing_to_skip));
    source_facts.reasons.extend(rejects_reason);
    // A part is of a whole that was looked at.
    if request.split.is_none() {
        source.inputs.iter().try_for_each(|input| expect_apart(input, &source))?;
    }
    let mut request = with_whole_names(request, &source_facts.fields);
    if !notes.is_empty() && notes.iter().all(Option::is_some) {
        // What was said of all files is said again of the bad rows of one, which may be without some columns.
        request.options.read.columns.forget_absent(&source_facts.fields);
    }
    let own: Vec<String> = source_facts.fields.iter().map(|field| field.name.clone()).collect();
    let columns = &request.read.columns;
    source_facts.taken = columns.apply(&mut source_facts.fields, inrush_source::type_of)?;
    // Objects of JSON may all lack a member, and columns may be left out.
    let lacks = |name: &String| !source_facts.loaded().any(|field| field.is_called(name));
    request.options.types.retain(|name, _| !(as_refused.contains_key(name) && lacks(name)));
    as_refused.retain(|name, _| !lacks(name));
    source_facts.reasons.extend(of_types_as_refused(&as_refused));
    source_facts.reasons.extend(of_names_as_refused(&named));
    let request = &request;
    are_there(&readers, &source_facts)?;
    let spelt = null_everywhere(request, &own, &source_facts.fields, target_facts.table.as_ref());
    source_facts.warnings.extend(hardly_meant);
    source_facts.warnings.extend(spelt);
    source_facts.warnings.extend(left_in_folders(&places, &source_facts));
    source_facts.warnings.extend(added_as_one(&source_facts.fields));
    let reason = start.as_ref().and_then(|start| start.reason.clone());
    let begun = |start: Start| {
        let is_named = |field: &FieldFacts| matches!(field.added, Some(Added::File | Added::Path));
        let names = match source_facts.fields.iter().any(is_named) {
            true => input_names(&source),
            false => Vec::new(),
        };
        start.with_source(dialect_shown(&source, request).options(), names)
    };
    let steps = start.map(begun).transpose()?;
    if let Some(steps) = &steps {
        settle(&mut source_facts, &steps.entry, target_facts.table.as_ref());
    }
    let processors = std::thread::available_parallelism().map_or(1, usize::from);
    let memory_bytes = inrush_machine::memory_bytes();
    let facts = Facts { source: source_facts, target: target_facts, processors, memory_bytes };
    let choice = chosen(request, &facts, target, location, &table, &source)?;
    let reject_places = reject_places(request, &places, &source, location)?;
    let shape = Arc::new(shape(request, &facts, &choice, &source, steps.as_ref(), target));
    let location = location.clone();
    let mut request = request.clone();
    spell_keys(&mut request, &choice.columns);
    let job = Job { request, facts, choice, location, table, shape, steps };
    let mut plan = Plan { job, target, source: Arc::new(source), files, reject_places, reason };
    plan.annotate();
    Ok(plan)
}

/// Names the columns of keys and indexes as the table does, whatever case the user wrote: a target takes them as they are.
fn spell_keys(request: &mut Request, columns: &[Column]) {
    let LoadOptions { primary_key, key, indexes, .. } = &mut request.options;
    for name in indexes.iter_mut().chain([primary_key, key]).flatten() {
        *name = spelt(columns, name).to_owned();
    }
}

/// The planner's choice, or what was measured here for the same.
fn chosen(
    request: &Request,
    facts: &Facts,
    target: &'static dyn Target,
    location: &Location,
    table: &str,
    source: &Source,
) -> Result<Choice> {
    let mut choice = choose(request, facts, target, &location.shown, table)?;
    let format = source.grammar.word();
    profile::apply(request, facts, target, location, table, format, &mut choice);
    Ok(choice)
}

impl Plan {
    pub(super) fn choose_again(&mut self) -> Result<()> {
        let Self { job, target, source, .. } = self;
        let Job { request, facts, location, table, .. } = &*job;
        job.choice = chosen(request, facts, *target, location, table, source)?;
        self.shape_again();
        self.annotate();
        Ok(())
    }

    /// Says of a choice what is known once it is made: of the source, of the shape of its rows, and by the target.
    fn annotate(&mut self) {
        let Self { job, target, source, reason, .. } = self;
        let Job { request, facts, choice, shape, .. } = &*job;
        let reasons: Vec<String> = reason.iter().cloned().chain(read_so(shape)).collect();
        let mut hints = two_ways(&facts.source, choice, shape);
        hints.extend(unread(request, facts, choice, shape));
        hints.extend(unapplied(&facts.source, choice, source));
        hints.extend(in_utc(shape));
        hints.extend(marked(&facts.source, choice));
        hints.extend(in_hex(facts, choice));
        hints.extend(proposed(request, facts, choice, source));
        hints.extend(target.cautions(job));
        job.choice.reasons.extend(reasons);
        job.choice.hints.extend(hints);
    }

    fn shape_again(&mut self) {
        let Self { job, target, source, .. } = self;
        let steps = job.steps.as_ref();
        job.shape = Arc::new(shape(&job.request, &job.facts, &job.choice, source, steps, *target));
    }

    /// From here on so many bad rows are allowed; types stay as they were decided on.
    pub(crate) fn allow(&mut self, max_rejects: RejectLimit) {
        self.request.max_rejects = max_rejects;
        self.shape_again();
    }

    /// Columns of the source whose types most of their values have decided on, and these types.
    pub(crate) fn settled(&self) -> impl Iterator<Item = (String, Type)> {
        let choice = &self.choice;
        let pairs = choice.columns.iter().zip(&choice.fields);
        let settled = pairs.filter(|(column, _)| column.basis == Basis::Settled);
        settled.map(|(column, field)| (self.facts.source.fields[*field].name.clone(), column.ty))
    }

    /// The types of the source's columns, by their names there, that a load of its bad rows has to know: those that no table says, and
    /// those of bytes where the rows are written as JSON by this load, which has no form for them.
    pub(crate) fn types_of_bad_rows(&self) -> BTreeMap<String, Type> {
        let Job { request, facts, choice, .. } = &self.job;
        let pairs = choice.columns.iter().zip(&choice.fields);
        let untold = pairs.filter_map(|(column, field)| {
            let field = &facts.source.fields[*field];
            let name = field.source_name().to_owned();
            if facts.source.is_typed && [column.ty, field.ty].contains(&Type::Bytes) {
                return Some((name, Type::Bytes));
            }
            let is_word = matches!(column.basis, Basis::Asked | Basis::Declared);
            let is_known = is_word || !field.reads.is_null;
            let ty = match column.ty {
                // The digits of a guess are those of the values that were looked at.
                Type::Decimal { .. } if !is_word => Type::Decimal { precision: 0, scale: 0 },
                ty => ty,
            };
            (is_known && !says_type(&facts.target, request, &column.name)).then_some((name, ty))
        });
        untold.collect()
    }

    /// The names that the user gave the source's columns where it names none, by which they found the table's: a load of its bad rows has
    /// to know them.
    pub(crate) fn names_of_bad_rows(&self) -> BTreeMap<String, String> {
        let source = &self.facts.source;
        if source.header || self.request.match_by == Some(MatchBy::Position) {
            return BTreeMap::new();
        }
        let named = source.loaded().filter_map(|field| Some((field.written.clone()?, field)));
        named.map(|(written, field)| (written, field.name.clone())).collect()
    }

    /// The loaded column that a user means by a name.
    pub(crate) fn called(&self, name: &str) -> Option<&Column> {
        let Choice { columns, fields, .. } = &self.choice;
        Some(&columns[called(name, &self.facts, columns, fields)?])
    }

    /// The input's names, in order.
    pub fn source_names(&self) -> Vec<&str> {
        self.source.inputs.iter().map(|input| input.name.as_str()).collect()
    }
}

/// Takes the types that the load's first run has settled on. Where its entry does not say which these are, the table does.
fn settle(source: &mut SourceFacts, entry: &Entry, table: Option<&TableFacts>) {
    let columns = table.map(|table| table.columns.as_slice()).unwrap_or_default();
    let case = source.case;
    for field in source.fields.iter_mut().filter(|field| entry.settled.contains(&field.name)) {
        let column = || columns.iter().find(|column| case.is_same(&column.name, &field.name));
        let ty = entry.types.get(&field.name).copied().or_else(|| Some(column()?.ty));
        field.ty = ty.unwrap_or(field.ty);
        field.is_settled = true;
    }
}

/// What to know of values that are in the names of folders, and in no column.
fn left_in_folders(places: &[Place], facts: &SourceFacts) -> Option<String> {
    let has_path = facts.fields.iter().any(|field| field.added == Some(Added::Path));
    let mut columns = inrush_source::folder_columns(places);
    columns.retain(|name| !facts.fields.iter().any(|field| field.is_called(name)));
    (!has_path && !columns.is_empty()).then(|| {
        format!(
            "folders are named after values of {} {}, which no file has: they are not loaded (--add path=%path keeps the whole name)",
            noun(columns.len() as u64, "column"),
            columns.join(", ")
        )
    })
}

/// What to know of columns whose value has another `NAME=VALUE` behind a comma, which elsewhere is between columns.
fn added_as_one(fields: &[FieldFacts]) -> impl Iterator<Item = String> {
    let another = |text: &str| {
        text.split(',').skip(1).find_map(|part| {
            let (name, _) = part.split_once('=')?;
            let is_name = name.starts_with(|c: char| c.is_alphabetic() || c == '_')
                && name.chars().all(|c| c.is_alphanumeric() || c == '_');
            is_name.then(|| name.to_owned())
        })
    };
    fields.iter().filter_map(move |field| {
        let Some(Added::Text(text)) = &field.added else { return None };
        let (name, other) = (&field.name, another(text)?);
        Some(format!(
            "column {name} has the value {} in all rows, and column {other} is not added: that takes an --add of its own",
            shorten(text.as_bytes())
        ))
    })
}

/// What values have to be that are read otherwise than they are written, in words.
fn read_so(shape: &Shape) -> Vec<String> {
    let words = |column: &ShapeColumn| {
        let words = column.reading.as_ref()?.words()?;
        Some(format!("a value of column {} is {words}", column.name))
    };
    shape.columns.iter().filter_map(words).collect()
}

/// What to say to have a column's values read, which are text as they stand.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct Proposed {
    /// The column, by its name in the source.
    pub column: String,
    /// Options and their values, one after the other.
    pub options: Vec<String>,
    /// Why.
    pub reason: String,
}

impl Plan {
    /// Options that would read columns whose values are all written in one way, and in no other that is known. Nothing is read so
    /// unless the user says it.
    pub fn proposals(&self) -> Vec<Proposed> {
        proposals(&self.request, &self.facts, &self.choice, &self.source)
    }
}

/// Columns that could be read otherwise, by their names in the source, and how.
fn readable<'a>(
    request: &Request,
    facts: &'a Facts,
    choice: &Choice,
    source: &Source,
) -> Vec<(&'a str, &'a Proposal)> {
    let readable = |(at, column): (&usize, &Column)| {
        let field = &facts.source.fields[*at];
        let proposal = field.reads.proposal.as_ref()?;
        let is_guess = column.declared.is_none() && !column.is_asked() && column.ty == Type::Text;
        let is_of_type = Family::of(column.ty).is_some_and(|own| {
            own == proposal.family || own == Family::Moment && proposal.family == Family::Day
        });
        // A column of truths may read the words by itself, and with the options no others.
        let is_read = |(_, word): &(&str, String)| {
            rule::boolean(word.as_bytes(), false, facts.target.truths).is_ok()
        };
        // Floats that are none are left alone by the options that read the others, which an existing column may have.
        let is_said = source.reads.get(*at).and_then(Option::as_ref).is_some_and(|reads| {
            let mut nulls = proposal.options.iter().filter(|(option, _)| *option == "--null");
            facts.is_typed(request, column)
                && reads.said_of(proposal.family).1 == proposal.words
                && nulls.all(|(_, null)| special(null.as_bytes()).is_some())
        });
        let is_needed = proposal.family != Family::Truth || !proposal.options.iter().all(is_read);
        let is_needed = is_needed && !is_said;
        let is_meant = is_guess && request.inference == Inference::Infer
            || is_of_type && is_needed && !(proposal.is_of_values() && column.is_asked());
        is_meant.then(|| (field.source_name(), proposal))
    };
    let found = choice.fields.iter().zip(&choice.columns).filter_map(readable);
    let mut found: Vec<(&str, &Proposal)> = found.collect();
    // Numbers with a point are those that they are, unless the same hand writes decimals with a comma.
    let comma = ("--decimal", ",".to_owned());
    let has_comma = |(_, proposal): &(&str, &Proposal)| {
        proposal.others.is_empty() && proposal.options.contains(&comma)
    };
    let is_said = source.reads.iter().flatten().any(|reads| reads.has_other_point());
    if !is_said && !found.iter().any(has_comma) {
        found.retain(|(_, proposal)| !proposal.is_of_values());
    }
    found
}

/// Values of texts that begin with a byte order mark, which is not seen.
fn marked(facts: &SourceFacts, choice: &Choice) -> Vec<String> {
    let words = |(field, column): (&usize, &Column)| {
        let misfit = facts.fields[*field].reads.marked.as_ref()?;
        (column.ty == Type::Text).then(|| {
            format!(
                "column {}: {misfit} begins with a byte order mark, as where a file was put behind another one: it is part of the value",
                column.name
            )
        })
    };
    choice.fields.iter().zip(&choice.columns).filter_map(words).collect()
}

/// Columns of bytes whose values are digits that stand for other ones, and are taken as they are written.
fn in_hex(facts: &Facts, choice: &Choice) -> Vec<String> {
    let words = |(field, column): (&usize, &Column)| {
        let is_read = facts.target.reads_hex && column.declared.is_some() && !column.is_asked();
        let is_taken = column.ty == Type::Bytes && facts.source.fields[*field].reads.is_hex;
        (is_taken && !is_read).then(|| {
            let name = &column.name;
            format!(
                "column {name}: \\x and hexadecimal digits are how PostgreSQL writes bytes, and are not read as these here \
                 (encode({name}, 'base64') in JSON brings the bytes)"
            )
        })
    };
    choice.fields.iter().zip(&choice.columns).filter_map(words).collect()
}

/// Options and their values, as they are said for a column.
fn said_for(column: &str, options: &[(&'static str, String)]) -> Vec<String> {
    let said = |(option, value): &(&str, String)| [(*option).into(), format!("{column}={value}")];
    options.iter().flat_map(said).collect()
}

fn proposals(request: &Request, facts: &Facts, choice: &Choice, source: &Source) -> Vec<Proposed> {
    let columns = readable(request, facts, choice, source).into_iter();
    let sure = columns.filter(|(_, proposal)| proposal.others.is_empty());
    let proposed = |(column, proposal): (&str, &Proposal)| Proposed {
        column: column.to_owned(),
        options: said_for(column, &proposal.options),
        reason: format!("{} seen, each {}", counted(proposal.values, "value"), proposal.words),
    };
    sure.map(proposed).collect()
}

/// The same in words, and what only the user can tell: one sentence for all columns that are written alike.
fn proposed(request: &Request, facts: &Facts, choice: &Choice, source: &Source) -> Vec<String> {
    let mut alike: Vec<(&Proposal, u64, Vec<&str>)> = Vec::new();
    let mut found = readable(request, facts, choice, source);
    found.sort_by_key(|(_, proposal)| !proposal.others.is_empty());
    for (column, proposal) in found {
        match alike.iter_mut().find(|(first, ..)| first.is_like(proposal)) {
            Some((_, values, columns)) => {
                *values += proposal.values;
                columns.push(column);
            }
            None => alike.push((proposal, proposal.values, vec![column])),
        }
    }
    let words = |(proposal, values, columns): (&Proposal, u64, Vec<&str>)| {
        let noun = if columns.len() == 1 { "column" } else { "columns" };
        let head = format!("{noun} {}: {} seen", columns.join(", "), counted(values, "value"));
        let shown = |way: &Vec<(&'static str, String)>| {
            let options = columns.iter().flat_map(|column| said_for(column, way));
            options.map(|option| shell_word(&option)).collect::<Vec<_>>().join(" ")
        };
        if proposal.others.is_empty() {
            let (words, options) = (&proposal.words, shown(&proposal.options));
            return format!("{head}, each {words} ({options} reads them so)");
        }
        let ways = std::iter::once(&proposal.options).chain(&proposal.others);
        let ways: Vec<String> = ways.map(shown).collect();
        format!(
            "{head}, and all may be read in {} ways, so none is proposed: say which, {}{}",
            ways.len(),
            ways.join(" or "),
            if proposal.is_of_values() { " (they are loaded as the last has them)" } else { "" }
        )
    };
    alike.into_iter().map(words).collect()
}

/// Guesses that are of values as they are written, although options for all columns read some of these. Why a column is text is said
/// already where most of its values are something else.
fn unread(request: &Request, facts: &Facts, choice: &Choice, shape: &Shape) -> Vec<String> {
    let words = |(at, column): (usize, &Column)| {
        let field = &facts.source.fields[choice.fields[at]];
        let FieldFacts { reads, spoiler, .. } = field;
        let is_guess = match Family::of(column.ty) {
            Some(_) => !facts.is_typed(request, column),
            // A file of text has no types of its own.
            None => column.declared.is_none() && !column.is_asked(),
        };
        let is_read = shape.columns[at].reading.as_ref().is_some_and(Reading::makes_values);
        let is_said = column.ty == Type::Text && spoiler.is_some() && reads.is_read;
        if !is_guess || is_read || is_said {
            return None;
        }
        let unread = reads.unread.as_ref()?;
        let Unread { words, fitting, seen, misfit, .. } = unread;
        let seen = match fitting {
            0 => format!("none of {seen} values seen is {words}, such as {misfit}"),
            _ => format!("{fitting} of {seen} values seen are {words}, but {misfit} is not"),
        };
        Some(format!(
            "column {} is taken as it is written: {seen}{}",
            column.name,
            match reads.proposal {
                Some(_) => String::new(),
                None => format!(" ({})", unread.advice(field.source_name())),
            }
        ))
    };
    let columns = choice.columns.iter().enumerate();
    columns.filter(|_| request.inference == Inference::Infer).filter_map(words).collect()
}

/// Options that name a column whose type, which the table or the user names, has other values than they make.
fn unapplied(facts: &SourceFacts, choice: &Choice, source: &Source) -> Vec<String> {
    let words = |(column, field): (&Column, &usize)| {
        let options = source.reads.get(*field)?.as_ref()?.unapplied(column.ty);
        let said = said_for(facts.fields[*field].source_name(), &options);
        let said: Vec<String> = said.iter().map(|option| shell_word(option)).collect();
        (!said.is_empty()).then(|| {
            format!(
                "column {} is of type {}, which has no such values as {} makes: its values are taken as they are written",
                column.name,
                column.ty,
                said.join(" ")
            )
        })
    };
    choice.columns.iter().zip(&choice.fields).filter_map(words).collect()
}

/// Spellings of NULL that may be meant for one column, and hold in all of them, for none has the name: neither of the source's `own` nor
/// of those that are loaded or the table has.
fn null_everywhere(
    request: &Request,
    own: &[String],
    fields: &[FieldFacts],
    table: Option<&TableFacts>,
) -> Vec<String> {
    let own = own.iter().map(String::as_str).collect();
    let loaded = fields.iter().map(|field| field.name.as_str()).collect();
    let known = table.map(|table| table.columns.as_slice()).unwrap_or_default();
    let known = known.iter().map(|column| column.name.as_str()).collect();
    let words = |(name, text): (&str, &str)| {
        format!("no column is called {name}: in every column '{text}' is NULL, as a whole")
    };
    Nulls::of_none(&request.read.nulls, &[own, loaded, known]).map(words).collect()
}

/// Columns that keep no offset from UTC, and get moments.
fn in_utc(shape: &Shape) -> Vec<String> {
    let is_in_utc = |column: &&ShapeColumn| column.reading.as_ref().is_some_and(Reading::is_in_utc);
    let words = |column: &ShapeColumn| {
        format!(
            "column {} keeps no offset from UTC: its values are stored as clocks in UTC show them",
            column.name
        )
    };
    shape.columns.iter().filter(is_in_utc).map(words).collect()
}

/// Values that two forms read differently: which of the two is taken.
fn two_ways(facts: &SourceFacts, choice: &Choice, shape: &Shape) -> Vec<String> {
    let words = |(field, column): (&usize, &ShapeColumn)| {
        let (misfit, [first, other]) = facts.fields[*field].reads.two_ways.as_ref()?;
        column.reading.as_ref()?.words()?;
        Some(format!(
            "column {}: {misfit} is one value as {first} has it and another as {other} has it: {first} comes first, and is taken",
            column.name
        ))
    };
    choice.fields.iter().zip(&shape.columns).filter_map(words).collect()
}

/// The columns that are known to be of such a type before the source is opened: the user says so, or the table.
fn columns_of(request: &Request, facts: &TargetFacts, is: impl Fn(Type) -> bool) -> Vec<String> {
    let of_user = request.types.iter().filter(|(_, ty)| is(**ty));
    // By position any column of the source may be the table's.
    let by_name = request.match_by != Some(MatchBy::Position);
    let table = facts.kept_table(request).filter(|_| by_name);
    let of_table = table.into_iter().flat_map(|table| &table.columns);
    let of_table = of_table.filter(|column| is(column.ty));
    let names = of_user.map(|(name, _)| name).chain(of_table.map(|column| &column.name));
    names.cloned().collect()
}

/// Whether the source has the columns that options of reading name. What is added to them is no text of the source's.
fn are_there(readers: &Readers, facts: &SourceFacts) -> Result<()> {
    for field in facts.fields.iter().filter(|field| field.added.is_some()) {
        if let Some(option) = readers.option_of(&[&field.name]) {
            let name = &field.name;
            return Err(Error::usage(format!(
                "{option} {name}=...: column {name} comes from --add, whose values are not read but taken as they are"
            ))
            .advise("write its value as inrush does: 2024-12-31, 2024-12-31 23:59:00, 1234.56, true"));
        }
    }
    let names = |field: &FieldFacts| (field.source_name().to_owned(), field.name.clone());
    let names: Vec<_> = facts.fields.iter().map(names).collect();
    let names: Vec<Vec<&str>> =
        names.iter().map(|(own, loaded)| vec![own.as_str(), loaded]).collect();
    readers.fit(&names)
}

/// How records become rows.
fn shape(
    request: &Request,
    facts: &Facts,
    choice: &Choice,
    source: &Source,
    steps: Option<&StepPlan>,
    target: &dyn Target,
) -> Shape {
    let now = steps.and_then(|steps| steps.entry.now.clone()).unwrap_or_else(Added::now);
    let names = steps.map(|steps| steps.entry.names.clone()).filter(|names| !names.is_empty());
    let names = names.unwrap_or_else(|| input_names(source));
    let known = &facts.source.fields;
    let fields = source
        .orders
        .iter()
        .map(|order| {
            let place = |field: &usize| order.get(*field).copied().flatten();
            choice.fields.iter().map(place).collect()
        })
        .collect();
    let refuses_null = |column: &Column, field: &FieldFacts| {
        let required = &request.read.columns.required;
        required.iter().any(|name| {
            // A new name counts where it is not the one that another column of the source has.
            match known.iter().any(|field| is_alike(field.source_name(), name)) {
                true => is_alike(field.source_name(), name),
                false => field.is_called(name) || is_alike(&column.name, name),
            }
        })
    };
    let columns = choice
        .columns
        .iter()
        .zip(&choice.fields)
        .map(|(column, field)| ShapeColumn {
            name: column.name.clone(),
            pinned: column.is_pinned(),
            strict: column.is_strict(),
            bytes: column.ty == Type::Bytes,
            typed: column.ty != Type::Bytes,
            is_textual: matches!(
                column.ty,
                Type::Text
                    | Type::Time
                    | Type::Uuid
                    | Type::Interval
                    | Type::Bytes
                    | Type::Date
                    | Type::Timestamp { .. }
                    | Type::TimestampNs { .. }
            ),
            is_document: column.ty == Type::Json && column.basis == Basis::Declared,
            is_list: target.takes_nested(column)
                && column.declared.as_deref().is_some_and(|declared| declared.ends_with(']')),
            reading: Reading::of(
                source.reads.get(*field).and_then(Option::as_ref),
                column,
                &known[*field],
                Holds {
                    all_text: request.inference == Inference::Text,
                    is_typed: facts.is_typed(request, column),
                    takes_offsets: target.takes_offsets(column),
                },
            ),
            added: known[*field].added.as_ref().map(|added| added_values(added, &names, &now)),
            refuses_null: refuses_null(column, &known[*field]),
            foreseen: foreseen(facts, column, &known[*field], source, *field),
        })
        .collect();
    // A spelling may be for one column, by its name in the source or in the table.
    let sources = choice.fields.iter().map(|field| known[*field].source_name()).collect();
    let loaded = choice.fields.iter().map(|field| known[*field].name.as_str()).collect();
    let targets = choice.columns.iter().map(|column| column.name.as_str()).collect();
    Shape {
        grammar: source.grammar.clone(),
        nulls: Nulls::of(&request.read.nulls, &[sources, loaded, targets]),
        widths: source.widths.clone(),
        fields,
        decoded: source.decoded(),
        headers: source.header_lines(),
        columns,
        nul_fault: target.nul_fault(),
        found_max: match request.max_rejects {
            RejectLimit::Rows(rows) => rows,
            RejectLimit::Percent(_) | RejectLimit::All => u64::MAX,
        },
    }
}

/// What a sample has shown of a column's values, where its type is a guess that a value of another sort may change although the type
/// takes it. Of what can't be read again only a value that does change it ends the load.
fn foreseen(
    facts: &Facts,
    column: &Column,
    field: &FieldFacts,
    source: &Source,
    at: usize,
) -> Foreseen {
    let reads = source.reads.get(at).and_then(Option::as_ref);
    let is_known = facts.source.is_surveyed
        || column.is_pinned()
        || field.added.is_some()
        || reads.is_some_and(|reads| reads.is_declared())
        || source.grammar == Grammar::Columns;
    let seekable = facts.source.seekable;
    match field.reads.fractions {
        _ if is_known => Foreseen::All,
        _ if field.reads.is_null => Foreseen::Nothing { reads: reads.cloned(), is_told: !seekable },
        _ if column.ty != Type::Float => Foreseen::All,
        Some(Fractions { least, most, are_padded }) if least == most && most > 1 => {
            if are_padded || seekable { Foreseen::Digits(most) } else { Foreseen::All }
        }
        Some(_) => Foreseen::Unpadded,
        None if seekable => Foreseen::Unpadded,
        None => Foreseen::All,
    }
}

/// What the inputs are called in their rows.
fn input_names(source: &Source) -> Vec<InputName> {
    let places = source.inputs.iter().map(|input| &input.place);
    places.map(|place| InputName { path: place.name(), file: place.file_name() }).collect()
}

/// What a column holds that the source does not have; `names` are those of the inputs, and `now` is the moment of the load.
fn added_values(added: &Added, names: &[InputName], now: &str) -> AddedValue {
    let of_each = |text: &dyn Fn(&InputName) -> String| {
        AddedValue::Text(names.iter().map(|name| text(name).into()).collect())
    };
    match added {
        Added::Row => AddedValue::Row,
        Added::File => of_each(&|name| name.file.clone()),
        Added::Path => of_each(&|name| name.path.clone()),
        Added::Now => of_each(&|_| now.to_owned()),
        Added::Text(text) => of_each(&|_| text.clone()),
    }
}

/// The table that the sources are for where the user names none. Bad rows are for the one that refused them, which stands beside
/// them; anything else for the one of its own name.
fn own_table(places: &[Place], notes: &[Option<RejectsNote>]) -> Result<RejectsTable> {
    let of_rejects = |note: &Option<RejectsNote>| note.as_ref().map(|note| note.table.clone());
    let first = of_rejects(&notes[0]);
    let mut others = places.iter().zip(notes);
    if let Some((other, note)) = others.find(|(_, note)| of_rejects(note) != first)
        && let Some(table) = first.clone().or_else(|| of_rejects(note))
    {
        return Err(Error::usage(format!(
            "some of the sources are rows that table {} refused, and {} is not",
            table.name,
            if first.is_some() { other.name() } else { places[0].name() }
        ))
        .advise("load them one by one, or say --table NAME"));
    }
    let by_name = || RejectsTable { name: inrush_source::table(places), is_named: false };
    Ok(first.unwrap_or_else(by_name))
}

/// The request with names of columns that have commas of their own in the place of lists.
fn with_whole_names(request: &Request, fields: &[FieldFacts]) -> Request {
    let mut request = request.clone();
    request.read.columns.rejoin(fields);
    let columns = &request.options.read.columns;
    let loaded: Vec<String> =
        fields.iter().map(|field| columns.name(field.source_name())).collect();
    let is_known = |name: &str| {
        loaded.iter().any(|known| is_alike(known, name))
            || fields.iter().any(|field| field.is_called(name))
    };
    let LoadOptions { key, primary_key, indexes, .. } = &mut request.options;
    for list in [key, primary_key].into_iter().chain(indexes) {
        *list = rejoined(list, is_known);
    }
    request
}

/// What the sidecar of an input says, where its rows are bad rows of an earlier load.
fn note_of(place: &Place) -> Option<RejectsNote> {
    match place {
        Place::File(path) => first_note(path),
        Place::Stored(_) | Place::Member(_) | Place::Sheet(_) | Place::Stdin | Place::Rows => None,
    }
}

/// How inputs are written as far as it is known: what the user says, and of bad rows also how the load took them that refused them; and
/// what to know of that.
fn as_refused(
    said: &DialectRequest,
    notes: &[Option<RejectsNote>],
) -> (DialectRequest, Option<String>) {
    // Of JSON nothing is known that its text does not say.
    let is_text = matches!(said.format, None | Some(Format::Csv | Format::Tsv));
    let of = |note: &Option<RejectsNote>| {
        let dialect = note.as_ref().and_then(|note| note.dialect.as_ref()).filter(|_| is_text);
        dialect.map_or_else(|| said.clone(), |dialect| said.or(&dialect.request()))
    };
    let first = of(&notes[0]);
    // Of several that are not all known to be written alike the text says how.
    if notes[1..].iter().any(|note| of(note) != first) {
        return (said.clone(), None);
    }
    let typed = |byte: Option<u8>| match byte {
        None => "none".to_owned(),
        Some(b'\t') => "tab".to_owned(),
        Some(byte) => shell_word(&char::from(byte).to_string()),
    };
    let options = [
        ("--delimiter", said.told_delimiter().is_none().then(|| typed(first.delimiter))),
        ("--quote", said.quote.is_none().then(|| typed(first.quote.flatten()))),
        ("--escape", said.escape.is_none().then(|| typed(first.escape.flatten()))),
        ("--header", (said.header != first.header).then(|| "no".to_owned())),
    ];
    let options =
        options.into_iter().filter_map(|(option, value)| Some(format!("{option} {}", value?)));
    let note = (first != *said).then(|| {
        format!(
            "bad rows of an earlier load are read as that load read them ({})",
            options.collect::<Vec<_>>().join(" ")
        )
    });
    (first, note)
}

/// The names that an earlier load had for the columns of its bad rows, as `--rename` has them, where the user says nothing of names.
fn names_as_refused(request: &Request, notes: &[Option<RejectsNote>]) -> Vec<String> {
    let is_said = request.match_by == Some(MatchBy::Position)
        || request.dialect.header == Some(true)
        || !request.read.columns.renamed.is_empty();
    let names = said_by_all(notes, |note| &note.names).filter(|_| !is_said).into_iter().flatten();
    names.map(|(old, new)| format!("{old}={new}")).collect()
}

/// What the notes of all inputs say alike; `None` where an input has none, or they differ.
fn said_by_all<T: PartialEq>(
    notes: &[Option<RejectsNote>],
    of: impl Fn(&RejectsNote) -> &T,
) -> Option<&T> {
    let first = of(notes.first()?.as_ref()?);
    let says_it = |note: &Option<RejectsNote>| note.as_ref().is_some_and(|note| of(note) == first);
    notes.iter().all(says_it).then_some(first)
}

/// What to know of such names.
fn of_names_as_refused(renamed: &[String]) -> Option<String> {
    let words: Vec<String> =
        renamed.iter().map(|said| format!("--rename {}", shell_word(said))).collect();
    (!words.is_empty())
        .then(|| format!("bad rows of an earlier load have its names ({})", words.join(" ")))
}

/// The types that an earlier load gave the columns of its bad rows, where the user says no others and no table has them.
fn types_as_refused(
    request: &Request,
    target: &TargetFacts,
    notes: &[Option<RejectsNote>],
) -> BTreeMap<String, Type> {
    // By position any column may be the table's.
    let by_position = request.match_by == Some(MatchBy::Position);
    let is_said = by_position || request.inference == Inference::Text;
    let types = said_by_all(notes, |note| &note.types).filter(|_| !is_said);
    let is_open = |name: &String, ty: Type| {
        let loaded = request.read.columns.name(name);
        let says = |said: &String| is_alike(said, name) || is_alike(said, &loaded);
        let is_said = request.types.keys().chain(request.read.types.keys()).any(says);
        // Another target may have taken the rows.
        let is_possible = match ty {
            Type::TimestampNs { zone } => target.moments.has_nanos(zone),
            ty => target.own_type(ty) == ty,
        };
        let is_of_table = ty != Type::Bytes && says_type(target, request, &loaded);
        is_possible && !is_said && !is_of_table
    };
    let open = types.into_iter().flatten().filter(|(name, ty)| is_open(name, **ty));
    open.map(|(name, ty)| (name.clone(), *ty)).collect()
}

/// Whether the table that stays as it is defined says the type of its column. That a file of text holds texts says nothing.
fn says_type(target: &TargetFacts, request: &Request, name: &str) -> bool {
    let typed = target.typed(request, name);
    typed.is_some_and(|own| own.declared.is_some() || own.ty != Type::Text)
}

/// What to know of such types.
fn of_types_as_refused(types: &BTreeMap<String, Type>) -> Option<String> {
    let words: Vec<String> = types.iter().map(|(name, ty)| said_of("--type", name, ty)).collect();
    (!words.is_empty())
        .then(|| format!("bad rows of an earlier load are of its types ({})", words.join(" ")))
}

/// What to know of lines to skip where some inputs are bad rows of an earlier load, above which nothing stands.
fn unskipped(
    said: &DialectRequest,
    places: &[Place],
    notes: &[Option<RejectsNote>],
) -> Option<String> {
    let of_rejects = places.iter().zip(notes).filter(|(_, note)| note.is_some());
    let names: Vec<String> = of_rejects.map(|(place, _)| place.name()).collect();
    let lines = said.skip_lines;
    (lines > 0 && !names.is_empty()).then(|| {
        let names = names.join(", ");
        format!("--skip-lines {lines} is not for {names}: above bad rows of an earlier load there is nothing to skip")
    })
}

/// Refuses bad rows of which one takes in the next, where each was a row of its own before.
fn expect_apart(input: &Input, source: &Source) -> Result<()> {
    let dialect = source.grammar.dialect();
    let (Place::File(path), Some(dialect)) = (&input.place, dialect) else { return Ok(()) };
    let fail = |error| Error::source(format!("{}: {error}", input.name));
    match merged_at(path, input, dialect).map_err(fail)? {
        None => Ok(()),
        Some(line) => Err(Error::new(
            Kind::Rejects,
            format!(
                "{}: line {line}: a quote is open at the end of the line, and takes in the bad row below",
                input.name
            ),
        )
        .advise("close the quote, or take the row out of the file")
        .advise(format!(
            "or take {} away, if that is one row",
            path::text(&sidecar_path(path))
        ))),
    }
}

/// `--rejects FILE` for all inputs, or a file beside each.
fn reject_places(
    request: &Request,
    places: &[Place],
    source: &Source,
    location: &Location,
) -> Result<Vec<RejectPlace>> {
    let path = |place: &Place| match &request.rejects {
        RejectsTo::File(path) => Some(path.clone()),
        // The first one ends the load, and the failure shows it: a file for it is for who asks for one.
        RejectsTo::Beside if request.max_rejects == RejectLimit::Rows(0) => None,
        RejectsTo::Beside => beside(place, &source.grammar),
        RejectsTo::Observer => None,
    };
    if request.rejects == RejectsTo::Beside
        && request.max_rejects != RejectLimit::Rows(0)
        && places.contains(&Place::Rows)
    {
        return Err(Error::usage("bad rows of a program have no place of their own")
            .advise("say where they go: a file, or what takes them"));
    }
    if request.rejects == RejectsTo::File("-".into()) {
        return Err(Error::usage("--rejects -: bad rows go into a file, and what is wrong with them into another beside it")
            .advise("--rejects FILE; ./- is a file of that name"));
    }
    // Files of bad rows are in UTF-8 whatever their inputs were. A mark says so where an --encoding may be said of them once more: for one
    // that was, or for an input that is not in UTF-8. Of several inputs each begins so, for they may share a file.
    let said = request.dialect.encoding.as_deref().map(decode::by_label).transpose()?;
    let found = source.inputs.iter().map(|input| input.encoding);
    let is_marked = !found.chain(said).all(decode::is_utf8);
    let mark = if is_marked { "\u{feff}".as_bytes() } else { &[] };
    let places: Vec<RejectPlace> = places
        .iter()
        .zip(&source.inputs)
        .map(|(place, input)| RejectPlace {
            file: input.name.clone(),
            path: path(place),
            header: [mark, &input.separator_line, &input.header].concat(),
        })
        .collect();
    let is_text = dialect_of(source).is_some();
    // The first input whose bad rows go to a file.
    let mut first: HashMap<&Path, usize> = HashMap::new();
    for (index, place) in places.iter().enumerate() {
        let Some(path) = place.path.as_deref() else { continue };
        let other = *first.entry(path).or_insert(index);
        let differs = match () {
            () if source.orders[other] != source.orders[index] => "in different order",
            // Fields that are left out have no place among the columns, and stand in the records.
            () if is_text && source.widths[other] != source.widths[index] => "not equally many",
            () => continue,
        };
        return Err(Error::usage(format!(
            "bad rows of {} and of {} would share {}, and their columns are {differs}",
            places[other].file,
            place.file,
            path::text(path)
        ))
        .advise("load them one by one"));
    }
    if request.max_rejects != RejectLimit::Rows(0) {
        places.iter().flat_map(|place| &place.path).try_for_each(|path| can_be_made(path))?;
    }
    // A rejects file takes the place of what has its name, so that must be nobody's data.
    let inputs = source.inputs.iter().map(|input| (FileId::of_input(&input.place), "an input"));
    let database = location.files.iter().map(|path| (FileId::of(path), "the target"));
    let written = places.iter().filter_map(|place| place.path.as_ref());
    let written = written.flat_map(|path| [path.clone(), sidecar_path(path)]);
    let written: HashMap<FileId, PathBuf> = written
        .flat_map(|path| FileId::of(&path).into_iter().map(move |id| (id, path.clone())))
        .collect();
    if written.is_empty() {
        return Ok(places);
    }
    for (ids, what) in inputs.chain(database) {
        if let Some(written) = ids.iter().find_map(|id| written.get(id)) {
            return Err(Error::usage(format!(
                "bad rows would go to {}, and that is {what}",
                path::text(written)
            ))
            .advise("--rejects FILE puts them elsewhere"));
        }
    }
    Ok(places)
}

/// Says before the load what would be found out at the first bad row.
fn can_be_made(path: &Path) -> Result<()> {
    let shown = path::text(path);
    path::expect_expanded(&shown)?;
    let error = match path.symlink_metadata() {
        // A device or a link would be replaced by a file.
        Ok(found) if !found.is_file() => {
            Error::usage(format!("bad rows can't go to {shown}: it is there and no plain file"))
        }
        _ if !inrush_core::pending::directory(path).is_dir() => {
            Error::usage(format!("bad rows can't go to {shown}: its directory does not exist"))
        }
        _ => return Ok(()),
    };
    Err(error.advise("--rejects FILE puts them elsewhere"))
}

/// What names of one file have in common, there already or to be made: links of either kind lead to the same one.
#[derive(PartialEq, Eq, Hash)]
enum FileId {
    /// Where it is, without links.
    Path(PathBuf),
    /// Its device, and its number there, where the system tells.
    Number((u64, u64)),
}

impl FileId {
    fn of(path: &Path) -> Vec<Self> {
        let Ok(found) = path.canonicalize() else {
            return std::path::absolute(path).ok().map(Self::Path).into_iter().collect();
        };
        let number = found.metadata().ok().and_then(|meta| path::number(&meta)).map(Self::Number);
        number.into_iter().chain([Self::Path(found)]).collect()
    }

    /// Of the file that an input is, or is in: none of what is no file.
    fn of_input(place: &Place) -> Vec<Self> {
        match (place, place.on_disk()) {
            (Place::Stdin, _) => {
                inrush_source::stdin_number().map(Self::Number).into_iter().collect()
            }
            (_, Some(path)) => Self::of(path),
            (_, None) => Vec::new(),
        }
    }
}

/// The file beside a source, or in the current directory where that is no directory's; rows of a program stand nowhere.
fn beside(place: &Place, grammar: &Grammar) -> Option<PathBuf> {
    let ending = match place.extension() {
        _ if matches!(place, Place::Sheet(_)) => "csv".to_owned(),
        // Objects of JSON, one a line.
        _ if grammar.dialect().is_none() => "jsonl".to_owned(),
        ending if ending.is_empty() || ending == place.stem().to_lowercase() => "csv".to_owned(),
        ending => ending,
    };
    place.beside(&format!("rejects.{ending}"))
}

/// How the input is written, as reports show it.
#[derive(Serialize)]
pub struct DialectShown {
    format: &'static str,
    delimiter: Option<String>,
    quote: Option<String>,
    escape: Option<String>,
    empty: Option<Empty>,
    comment: Option<String>,
    newline: Option<&'static str>,
    header: bool,
    nulls: Vec<String>,
    encodings: Vec<&'static str>,
    compressions: Vec<Option<&'static str>>,
    skip_lines: u64,
}

impl DialectShown {
    /// The same by the options that say it, as they are typed; what no option says, in words. What is empty is not said.
    pub(super) fn options(&self) -> Vec<(&'static str, String)> {
        let typed = |text: &Option<String>, none: &str| match text.as_deref() {
            None => none.to_owned(),
            Some("\t") => "tab".to_owned(),
            Some(",") => "comma".to_owned(),
            Some(";") => "semicolon".to_owned(),
            Some("|") => "pipe".to_owned(),
            Some(" ") => "space".to_owned(),
            Some(text) => shell_word(text),
        };
        let nulls: Vec<String> = self.nulls.iter().map(|null| shell_word(null)).collect();
        let mut encodings = self.encodings.clone();
        encodings.dedup();
        let compressions = self.compressions.iter().map(|name| name.unwrap_or("none"));
        let is_said = |empty: &Empty| *empty != Empty::default();
        let mut options = vec![
            ("--format", self.format.to_owned()),
            ("--delimiter", typed(&self.delimiter, "")),
            ("--quote", typed(&self.quote, "none")),
            ("--escape", typed(&self.escape, "none")),
            (
                "--empty",
                self.empty.filter(is_said).map(|empty| empty.to_string()).unwrap_or_default(),
            ),
            ("--comment", typed(&self.comment, "")),
            ("--null", nulls.join(" ")),
            ("--encoding", encodings.join(", ")),
            ("--skip-lines", self.skip_lines.to_string()),
            ("the line end", self.newline.unwrap_or_default().to_owned()),
            ("the compression", compressions.collect::<Vec<_>>().join(", ")),
        ];
        // JSON and columns take no word about a header.
        if self.delimiter.is_some() {
            options.push((steps::HEADER, if self.header { "yes" } else { "no" }.to_owned()));
        }
        options
    }
}

impl Plan {
    /// How the input is written.
    pub fn dialect(&self) -> DialectShown {
        dialect_shown(&self.source, &self.request)
    }

    /// Files of bad rows, and what goes beside them: where this load puts some, and where one would that allows more.
    pub(crate) fn files_of_rejects(&self) -> impl Iterator<Item = PathBuf> {
        // Nothing stands beside a pipe.
        let inputs = self.source.inputs.iter().map(|input| &input.place);
        let inputs = inputs.filter(|place| place.can_be_reread());
        let beside = inputs.filter_map(|place| beside(place, &self.source.grammar));
        let planned = self.reject_places.iter().filter_map(|place| place.path.clone());
        planned.chain(beside).flat_map(|path| [sidecar_path(&path), path])
    }

    /// What a load that fails leaves, in the user's word; none where rows are committed on the way, and no later run can go on.
    pub fn guarantee(&self) -> &'static str {
        match (&self.steps, self.choice.atomic) {
            (Some(_), _) => Guarantee::Chunks.word(),
            (None, true) => Guarantee::Atomic.word(),
            (None, false) => "none",
        }
    }
}

fn dialect_shown(source: &Source, request: &Request) -> DialectShown {
    let grammar = &source.grammar;
    let dialect = grammar.dialect();
    let text = |byte: u8| char::from(byte).to_string();
    let compressions = source.inputs.iter().map(|input| input.compression.map(Compression::name));
    DialectShown {
        format: grammar.word(),
        delimiter: dialect.map(|dialect| text(dialect.delimiter)),
        quote: dialect.and_then(|dialect| dialect.quote).map(text),
        escape: dialect.and_then(|dialect| dialect.escape).map(text),
        empty: dialect.map(|dialect| match dialect.empty_is_text {
            true => Empty::Text,
            false => Empty::Null,
        }),
        comment: dialect.and_then(|dialect| dialect.comment).map(text),
        newline: dialect.map(|dialect| match dialect.newline {
            inrush_scan::Newline::Lf => "lf",
            inrush_scan::Newline::Cr => "cr",
        }),
        header: source.header,
        nulls: request.read.nulls.clone(),
        encodings: source.inputs.iter().map(|input| input.encoding.name()).collect(),
        compressions: compressions.collect(),
        skip_lines: request.dialect.skip_lines,
    }
}

impl Serialize for Plan {
    fn serialize<S: serde::Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        #[derive(Serialize)]
        struct Shown<'a> {
            source: Vec<&'a str>,
            target: &'a Location,
            table: &'a str,
            strategy: &'static str,
            knobs: &'a target::Knobs,
            columns: &'a [Column],
            dialect: DialectShown,
            durability: Durability,
            atomic: bool,
            guarantee: &'static str,
            commit_rows: Option<u64>,
            lanes: usize,
            encoders: usize,
            chunk_bytes: usize,
            memory_ceiling_bytes: u64,
            reasons: Vec<String>,
            measured: Option<&'a Measured>,
            proposals: Vec<Proposed>,
        }
        let choice = &self.choice;
        Shown {
            source: self.source_names(),
            target: &self.location,
            table: &self.table,
            strategy: choice.strategy.id(),
            knobs: &choice.knobs,
            columns: &choice.columns,
            dialect: self.dialect(),
            durability: self.request.durability,
            atomic: choice.atomic,
            guarantee: self.guarantee(),
            commit_rows: self.steps.as_ref().map(|steps| steps.commit_rows),
            lanes: choice.lanes,
            encoders: choice.encoders,
            chunk_bytes: choice.chunk_bytes,
            memory_ceiling_bytes: choice.memory_ceiling_bytes,
            reasons: self.reasons(),
            measured: choice.measured.as_ref(),
            proposals: self.proposals(),
        }
        .serialize(serializer)
    }
}
