//! Loads in steps: whether one begins, or goes on behind the last step of an earlier run.

use std::collections::BTreeMap;
use std::fs::{self, File};
use std::hash::Hasher as _;
use std::io::{Read as _, Seek as _, SeekFrom};
use std::path::{Path, PathBuf};
use std::time::UNIX_EPOCH;

use crate::plan::{Guarantee, IfExists, OnConflict, Request, TargetFacts};
use crate::target::{ALL, Target};
use inrush_core::error::{Error, Result};
use inrush_core::ledger::{Entry, InputName, InputState, Moved, StepPlan};
use inrush_core::path;
use inrush_core::wording::{counted, shell_word};
use inrush_source::{Place, Stored};

/// Rows of a step where the user says nothing: a commit costs some milliseconds, and as many rows take about a second.
const COMMIT_ROWS: u64 = 500_000;

/// Bytes of an input that a sum is taken of, at its beginning and at its end.
const SUM_BYTES: u64 = 64 << 10;

/// Rows from which on a step ends.
///
/// # Errors
/// When the user wants steps without rows.
pub(super) fn commit_rows(request: &Request) -> Result<u64> {
    match request.commit_rows {
        Some(0) => Err(Error::usage("--commit-rows 0: takes at least 1")),
        rows => Ok(rows.unwrap_or(COMMIT_ROWS)),
    }
}

/// The request with what its words for steps imply.
///
/// # Errors
/// When they contradict each other.
pub(super) fn settled(request: &Request) -> Result<Request> {
    let mut request = request.clone();
    if request.is_in_steps() {
        request.guarantee = Guarantee::Chunks;
    }
    commit_rows(&request)?;
    if request.guarantee == Guarantee::Atomic && request.commit_rows.is_some() {
        return Err(Error::usage("--commit-rows is for a load that commits in steps")
            .advise("say --guarantee chunks as well"));
    }
    Ok(request)
}

/// Refuses what can't be loaded in steps, whatever the table.
///
/// # Errors
/// When the target has no ledger, or a source can't be read again.
pub(super) fn refuse(target: &dyn Target, places: &[Place]) -> Result<()> {
    if let Some(reason) = target.no_steps() {
        let with: Vec<&str> = ALL
            .iter()
            .filter(|known| known.no_steps().is_none())
            .map(|known| known.name())
            .collect();
        return Err(Error::usage(format!(
            "{} takes no --guarantee chunks: {reason}",
            target.name()
        ))
        .advise("leave it out: inrush plan says what a load that fails leaves")
        .advise(format!("or load into a target that takes it: {}", with.join(", "))));
    }
    match places.iter().find(|place| !place.can_be_reread()) {
        None => Ok(()),
        Some(place) => Err(Error::usage(format!(
            "--guarantee chunks: {} can't be read a second time, so no later run could go on behind the last step",
            named(place)
        ))
        .advise("save it to a file first")
        .advise("or leave --guarantee chunks out: then a load that fails leaves nothing")),
    }
}

fn named(place: &Place) -> String {
    match place {
        Place::Stdin => "standard input".to_owned(),
        Place::Rows => "what a program has".to_owned(),
        Place::File(_) | Place::Member(_) | Place::Sheet(_) | Place::Stored(_) => place.name(),
    }
}

/// The inputs as they are now.
///
/// # Errors
/// When one can't be read.
pub(super) fn inputs(places: &[Place]) -> Result<Vec<InputState>> {
    places.iter().map(input).collect()
}

fn input(place: &Place) -> Result<InputState> {
    if let Some(stored) = place.in_store() {
        return state_of_stored(stored, place);
    }
    let Some(path) = place.on_disk() else {
        return Err(Error::usage(format!("{} is no file", place.name())));
    };
    let named = || Ok(named_from_root(place, fs::canonicalize(path)?));
    named().and_then(|name| state(path, name)).map_err(|error: std::io::Error| {
        Error::source(format!("cannot read {}: {error}", place.name())).about(&place.name())
    })
}

/// The same by what the store says: its bytes are those of the version that it names.
fn state_of_stored(stored: &Stored, place: &Place) -> Result<InputState> {
    let name = place.name();
    let Some((bytes, version)) = stored.bytes().zip(stored.version()) else {
        return Err(Error::usage(format!(
            "--guarantee chunks: the server says no size or no ETag of {name}, so a later run could not tell whether it is the same"
        ))
        .advise("fetch it first, and load that file")
        .advise("or leave --guarantee chunks out: then a load that fails leaves nothing"));
    };
    let head = xxhash_rust::xxh3::xxh3_64(version.as_bytes());
    Ok(InputState { path: PathBuf::from(name), bytes, modified_ns: None, head, tail: None })
}

/// A file's, of an input of this name. A member of an archive is what the archive is: it has changed when that has.
fn state(path: &Path, name: PathBuf) -> std::io::Result<InputState> {
    let meta = fs::metadata(path)?;
    let modified = meta.modified().ok().and_then(|at| at.duration_since(UNIX_EPOCH).ok());
    let mut file = File::open(path)?;
    let mut sum = |from| -> std::io::Result<u64> {
        let mut bytes = Vec::new();
        file.seek(SeekFrom::Start(from))?;
        file.by_ref().take(SUM_BYTES).read_to_end(&mut bytes)?;
        let mut hasher = xxhash_rust::xxh3::Xxh3::new();
        hasher.write(&bytes);
        Ok(hasher.finish())
    };
    let (head, tail) = (sum(0)?, sum(meta.len().saturating_sub(SUM_BYTES))?);
    Ok(InputState {
        path: name,
        bytes: meta.len(),
        modified_ns: modified.and_then(|since| i64::try_from(since.as_nanos()).ok()),
        head,
        tail: Some(tail),
    })
}

/// The name of an input whose file on disk has this path from the root on: its own name, where it has one, follows that of the file.
fn named_from_root(place: &Place, from_root: PathBuf) -> PathBuf {
    match place {
        Place::File(_) | Place::Stdin | Place::Rows | Place::Stored(_) => from_root,
        Place::Member(_) | Place::Sheet(_) => {
            let mut name = from_root.into_os_string();
            name.push(within(place));
            name.into()
        }
    }
}

/// Gives inputs in the ledger the names that their files have now: of older entries, in whose paths are the links and dots of how they
/// were named, and of files that have moved since.
pub(super) fn rename(ledger: &mut [Entry], places: &[Place]) {
    if ledger.is_empty() {
        return;
    }
    let on_disk = |place: &&Place| place.in_store().is_none();
    let names = |place: &Place| {
        let path = place.on_disk()?;
        let (older, newer) = (std::path::absolute(path).ok()?, fs::canonicalize(path).ok()?);
        let named = |from_root| named_from_root(place, from_root);
        (older != newer).then(|| (named(older), named(newer)))
    };
    let names: BTreeMap<PathBuf, PathBuf> =
        places.iter().filter(on_disk).filter_map(names).collect();
    for input in ledger.iter_mut().flat_map(|entry| &mut entry.inputs) {
        if let Some(newer) = names.get(&input.path) {
            input.path.clone_from(newer);
        }
    }
    // What can't be read a second time is in no ledger.
    let kept = places.iter().filter(on_disk).filter(|place| place.can_be_reread());
    let given: Vec<(InputState, String)> =
        kept.filter_map(|place| Some((input(place).ok()?, within(place)))).collect();
    for entry in ledger {
        let is_done = entry.is_done;
        for (at, was) in entry.inputs.iter_mut().enumerate() {
            let is_moved = |(is, within): &&(InputState, String)| is_moved(was, is, within);
            // Of files that are the same in all each has its place.
            let now = given.get(at).filter(is_moved).or_else(|| given.iter().find(is_moved));
            let is_given = || given.iter().any(|(is, _)| is.is_still(was));
            if let Some((now, _)) = now
                && !is_given()
            {
                let is_copied = is_still_there(was);
                // A copy beside a file that was loaded is a file of its own.
                if is_done && is_copied {
                    continue;
                }
                let (from, to) = (was.path.clone(), now.path.clone());
                entry.moved.push(Moved { from, to, is_copied });
                was.path.clone_from(&now.path);
            }
        }
    }
}

/// What the name of an input has behind that of its file.
fn within(place: &Place) -> String {
    let name = place.name();
    let file = place.on_disk().map(|path| path::text(path).into_owned()).unwrap_or_default();
    name.strip_prefix(&*file).unwrap_or("").to_owned()
}

/// Whether an input is what another one was under another name: a file of the same size, time, beginning and end, and the same part of it.
fn is_moved(was: &InputState, is: &InputState, within: &str) -> bool {
    was.path != is.path
        && was.modified_ns.is_some()
        && is.is_like(was)
        && path::text(&was.path).ends_with(within)
}

/// Whether the file of an input on disk is there, which may be an archive or a workbook.
fn is_there(path: &Path) -> bool {
    files_of(path).any(|file| file.exists())
}

/// Whether it is there as it was.
fn is_still_there(was: &InputState) -> bool {
    let now = |file: PathBuf| state(&file, was.path.clone()).ok();
    files_of(&was.path).filter_map(now).any(|now| now.is_like(was))
}

/// The file of an input of this path, if it is one: its own, or the archive or workbook that it is in.
fn files_of(path: &Path) -> impl Iterator<Item = PathBuf> {
    let name = path::text(path).into_owned();
    let ends: Vec<usize> = name.match_indices('!').map(|(at, _)| at).collect();
    let within = ends.into_iter().map(move |at| PathBuf::from(&name[..at]));
    std::iter::once(path.to_owned()).chain(within)
}

/// The options that decide what a row means, or with which step an index comes, as they are typed, besides those of the dialect, which is
/// compared as it was detected.
fn options(request: &Request) -> BTreeMap<String, String> {
    let mut types: Vec<String> =
        request.types.iter().map(|(name, ty)| format!("{name}={ty}")).collect();
    types.extend(request.read.types.iter().map(|(name, ty)| format!("{name}={ty}")));
    let indexes: Vec<String> = request.indexes.iter().map(|columns| columns.join(",")).collect();
    let said = [
        ("--type", types.join(", ")),
        ("--types", request.inference.to_string()),
        ("--match", request.match_by.map(|by| by.to_string()).unwrap_or_default()),
        ("--on-conflict", request.on_conflict.to_string()),
        ("--key", request.key.join(",")),
        ("--primary-key", request.primary_key.join(",")),
        (INDEX, indexes.join(&format!(" {INDEX} "))),
        (VERIFY, request.verify.to_string()),
        ("--flatten", if request.dialect.flatten { "said" } else { "" }.to_owned()),
    ];
    let read = request.read.said().filter(|(_, value)| !value.is_empty());
    said.into_iter().chain(read).map(|(name, value)| (name.to_owned(), value)).collect()
}

/// Refuses to add all rows of files at once of which a load in steps has committed some: those would be in the table twice. Whether a file
/// that has changed since still has them is not known, which is worth a word; so is a load whose files are gone.
///
/// # Errors
/// When there is such a load, and a file is as it was then.
pub(super) fn refuse_begun(
    places: &[Place],
    facts: &TargetFacts,
    table: &str,
) -> Result<Vec<String>> {
    if facts.ledger.is_empty() {
        return Ok(Vec::new());
    }
    // What can't be read a second time is in no ledger.
    let kept = places.iter().filter(|place| place.can_be_reread());
    let given: Vec<InputState> = kept.filter_map(|place| input(place).ok()).collect();
    let is_same =
        |entry: &&Entry| entry.inputs.iter().any(|was| given.iter().any(|is| is.is_still(was)));
    if let Some(entry) = facts.ledger.iter().find(is_same) {
        return Err(unfinished(entry, table));
    }
    let shares =
        |entry: &&Entry| paths(&entry.inputs).any(|path| paths(&given).any(|other| other == path));
    let note = |entry: &Entry| {
        format!(
            "the files have changed since a load of {} in steps committed {} and ended: those that table {table} still holds may come \
             once more ({})",
            listed(&entry.inputs),
            counted(entry.so_far.rows.loaded, "row"),
            forgets(entry)
        )
    };
    let changed = facts.ledger.iter().find(shares).map(note);
    Ok(changed.into_iter().chain(gone(facts)).collect())
}

/// Unfinished loads of files that are not there any more: under other names, and written again, they may be those that are given now.
fn gone(facts: &TargetFacts) -> impl Iterator<Item = String> {
    // What a server keeps has a URL as its path.
    let is_gone = |path: &PathBuf| path.is_absolute() && !is_there(path);
    let unfinished = facts.ledger.iter().filter(|entry| !entry.is_done);
    unfinished.filter(move |entry| paths(&entry.inputs).all(is_gone)).map(|entry| {
        format!(
            "a load of {} in steps committed {} and ended, and what it read is not there any more: rows that are the same come once more \
             ({})",
            listed(&entry.inputs),
            counted(entry.so_far.rows.loaded, "row"),
            forgets(entry)
        )
    })
}

fn unfinished(entry: &Entry, table: &str) -> Error {
    Error::target(format!(
        "a load of {} into table {table} is unfinished: {} of it are committed",
        listed(&entry.inputs),
        counted(entry.so_far.rows.loaded, "row")
    ))
    .advise("--resume goes on behind them")
    .advise(FROM_THE_FIRST_ROW)
    .advise(format!("or, where the table does not hold them any more, {}", forgets(entry)))
}

/// How a user ends a load whose rows are gone.
pub(crate) fn forgets(entry: &Entry) -> String {
    format!("DELETE FROM {} WHERE id = '{}' forgets that load", entry.ledger, entry.id)
}

/// The word of a load that begins with the inputs and with these entries of theirs. Two that begin at the same time have the same one, so
/// that the ledger takes only one of them.
fn id(table: &str, inputs: &[InputState], before: &[String], ledger: &[Entry]) -> String {
    let mut hasher = xxhash_rust::xxh3::Xxh3::new();
    let paths = paths(inputs).map(|path| path.as_os_str().as_encoded_bytes());
    let ids = before.iter().map(String::as_bytes);
    for part in [table.as_bytes()].into_iter().chain(paths).chain(ids) {
        hasher.write(part);
        hasher.write(&[0]);
    }
    let id = format!("{:016x}", hasher.finish());
    // One of a file that had this path, and has moved since, is another load.
    match ledger.iter().any(|entry| entry.id == id) {
        true => self::id(table, inputs, &[before, &[id]].concat(), ledger),
        false => id,
    }
}

/// What a load in steps begins with.
pub(super) struct Start {
    plan: StepPlan,
    options: BTreeMap<String, String>,
    /// Where in the source it begins, and why; as far as no report says so.
    pub(super) reason: Option<String>,
    /// What the user should know who takes it for one that goes on, or that repeats no row.
    pub(super) warnings: Vec<String>,
}

impl Start {
    /// Looks into the ledger for a load of the same files.
    ///
    /// # Errors
    /// When there is one that this one would repeat, or which it can't go on with.
    pub(super) fn of(
        request: &Request,
        inputs: Vec<InputState>,
        facts: &TargetFacts,
        table: &str,
    ) -> Result<Self> {
        let options = options(request);
        let is_same = |entry: &&Entry| paths(&entry.inputs).eq(paths(&inputs));
        let shares = |entry: &&Entry| {
            paths(&entry.inputs).any(|path| paths(&inputs).any(|other| other == path))
        };
        let all = || facts.ledger.iter().map(|entry| entry.id.clone()).collect::<Vec<_>>();
        let own = facts.ledger.iter().filter(is_same).min_by_key(|entry| entry.is_done);
        let other = facts.ledger.iter().filter(|entry| !is_same(entry)).find(shares);
        let starts_over = matches!(request.if_exists, IfExists::Replace | IfExists::Truncate);
        let mut outdated: Vec<String> =
            facts.ledger.iter().filter(is_same).map(|entry| entry.id.clone()).collect();
        let name = facts.table.as_ref().map_or(table, |table| &table.name);
        let id = id(name, &inputs, &outdated, &facts.ledger);
        let mut warnings = Vec::new();
        let repeats = request.on_conflict == OnConflict::Fail;
        match (&facts.table, own) {
            (None, _) => {
                outdated = all();
                if request.resume {
                    warnings.push(format!(
                        "--resume: there is no table {table}, so the load begins at the first row"
                    ));
                }
            }
            (Some(found), Some(entry)) if request.resume => {
                goes_on(entry, &inputs, &options, facts, request.if_exists, table)?;
                for Moved { from, to, is_copied } in &entry.moved {
                    let (was_shown, is_shown) = (path::text(from), path::text(to));
                    if *is_copied {
                        return Err(Error::source(format!(
                            "{is_shown} has the size, time, beginning and end of {was_shown}, of which a load into table {table} is unfinished"
                        ))
                        .advise(format!("name {was_shown} to go on with that load"))
                        .advise(format!(
                            "touch {} if it is another file: then all of its rows are loaded",
                            shell_word(&is_shown)
                        )));
                    }
                    warnings.push(format!(
                        "{is_shown} is taken for what was {was_shown}: size, time, beginning and end are the same"
                    ));
                }
                let is_finished = entry.is_done;
                if is_finished && entry.so_far.rows.loaded > 0 && !found.holds_rows {
                    return Err(Error::target(format!(
                        "the load is finished, with {} in table {table}, which holds no row any more",
                        counted(entry.so_far.rows.loaded, "row")
                    ))
                    .advise("leave --resume out: then the load begins at the first row"));
                }
                let plan = StepPlan {
                    commit_rows: commit_rows(request)?,
                    entry: entry.clone(),
                    goes_on: true,
                    is_finished,
                    outdated: Vec::new(),
                };
                let (steps, rows) = (entry.steps, entry.so_far.rows.read);
                let (steps, rows) = (counted(steps, "step"), counted(rows, "row"));
                let reason = Some(match is_finished {
                    true => format!(
                        "the load is finished already, with {rows} in {steps}: nothing is left to do"
                    ),
                    false => {
                        format!("the load goes on behind {rows} in {steps}, which are committed")
                    }
                });
                return Ok(Self { plan, options, reason, warnings });
            }
            (Some(_), None) if request.resume => {
                if let Some(other) = other {
                    let begun = if other.is_done { "finished" } else { "begun" };
                    let error = Error::source(format!(
                        "the files have changed since the load of table {table} was {begun}: it had {}",
                        listed(&other.inputs)
                    ));
                    let same = "name the same files; what has come since can be loaded by itself";
                    return Err(match other.is_done {
                        true => error
                            .advise(same)
                            .advise(format!("or {}", without_resume(request.if_exists, table))),
                        false => error.advise(same).advise(FROM_THE_FIRST_ROW),
                    });
                }
                warnings.push(format!(
                    "--resume: no load of these files into table {table} was begun, so it begins at the first row"
                ));
                match starts_over {
                    true => outdated = all(),
                    false => warnings.extend(gone(facts).filter(|_| repeats)),
                }
            }
            (Some(_), _) if starts_over => outdated = all(),
            (Some(_), _) => {
                if let Some(entry) = facts.ledger.iter().filter(shares).find(|entry| !entry.is_done)
                {
                    return Err(unfinished(entry, table));
                }
                warnings.extend(gone(facts).filter(|_| repeats));
            }
        }
        let plan = StepPlan {
            commit_rows: commit_rows(request)?,
            entry: Entry::new(id, inputs, BTreeMap::new()),
            goes_on: false,
            is_finished: false,
            outdated,
        };
        Ok(Self { plan, options, reason: None, warnings })
    }

    /// The request of the load from here on: one that goes on adds to the table that its first run has found or made.
    pub(super) fn request(&self, request: &Request) -> Request {
        let mut request = request.clone();
        request.resume = self.plan.goes_on;
        if self.plan.goes_on {
            request.if_exists = IfExists::Append;
            request.primary_key = Vec::new();
            let header = self.plan.entry.options.get(HEADER);
            // With a table there the first line may be judged otherwise.
            request.dialect.header =
                request.dialect.header.or(header.map(|header| header == "yes"));
        }
        request
    }

    /// The steps of a load whose inputs are written in this way, the options of a dialect, and have these names in their rows.
    ///
    /// # Errors
    /// When they were read otherwise before.
    pub(super) fn with_source(
        mut self,
        dialect: Vec<(&'static str, String)>,
        names: Vec<InputName>,
    ) -> Result<StepPlan> {
        self.options.extend(dialect.into_iter().map(|(name, value)| (name.to_owned(), value)));
        let entry = &mut self.plan.entry;
        if !self.plan.goes_on {
            (entry.options, entry.names) = (self.options, names);
            return Ok(self.plan);
        }
        same_options(&entry.options, &self.options)?;
        Ok(self.plan)
    }
}

/// How the rows are verified, which decides on what has to be known of the table before the first.
const VERIFY: &str = "--verify";

/// The indexes of a table that the load makes: some databases build them with the first step, others with the last.
const INDEX: &str = "--index";

/// The word for whether there is a header.
pub(super) const HEADER: &str = "--header";

/// What else a user can do.
pub(crate) const FROM_THE_FIRST_ROW: &str = "or begin at the first row, without --resume: --guarantee chunks --if-exists truncate, which deletes the table's rows";

/// How files are loaded that have changed since they were, as far as the user has said what becomes of the table's rows.
fn without_resume(if_exists: IfExists, table: &str) -> String {
    let becomes = match if_exists {
        IfExists::Truncate => format!("truncate deletes the rows of table {table} first"),
        IfExists::Replace => format!("replace drops table {table} first"),
        IfExists::Empty | IfExists::Append | IfExists::Fail => {
            format!("append adds all of their rows to those in table {table}")
        }
    };
    format!("leave --resume out: --guarantee chunks --if-exists {becomes}")
}

fn paths(inputs: &[InputState]) -> impl Iterator<Item = &PathBuf> {
    inputs.iter().map(|input| &input.path)
}

fn listed(inputs: &[InputState]) -> String {
    const SHOWN: usize = 3;
    let mut names: Vec<String> =
        paths(inputs).take(SHOWN).map(|path| path::text(path).into_owned()).collect();
    if inputs.len() > SHOWN {
        names.push(format!("{} more", inputs.len() - SHOWN));
    }
    names.join(", ")
}

/// Whether the load of the entry can go on with what there is now.
fn goes_on(
    entry: &Entry,
    inputs: &[InputState],
    options: &BTreeMap<String, String>,
    facts: &TargetFacts,
    if_exists: IfExists,
    table: &str,
) -> Result<()> {
    if let Some((was, is)) = entry.inputs.iter().zip(inputs).find(|(was, is)| !is.is_still(was)) {
        let name = path::text(&is.path);
        let how = match () {
            () if was.bytes != is.bytes => {
                format!(
                    "it had {} and has {}",
                    counted(was.bytes, "byte"),
                    counted(is.bytes, "byte")
                )
            }
            () if was.head != is.head => match was.modified_ns {
                Some(_) => "it begins otherwise".to_owned(),
                None => "it has another ETag".to_owned(),
            },
            () if was.modified_ns == is.modified_ns => "it ends otherwise".to_owned(),
            () => "it was written again".to_owned(),
        };
        if entry.is_done {
            return Err(Error::source(format!(
                "{name} has changed since the load was finished, with {}: {how}",
                counted(entry.so_far.rows.loaded, "row")
            ))
            .about(&name)
            .advise(without_resume(if_exists, table)));
        }
        let error = Error::source(format!("{name} has changed since the load was begun: {how}"));
        return Err(error
            .about(&name)
            .advise("put the file back as it was, and its time")
            .advise(FROM_THE_FIRST_ROW));
    }
    let before: BTreeMap<String, String> = entry
        .options
        .iter()
        .filter(|(name, _)| options.contains_key(*name))
        .map(|(name, value)| (name.clone(), value.clone()))
        .collect();
    same_options(&before, options)?;
    let definition = facts.table.as_ref().map(inrush_core::TableFacts::definition);
    if let (Some(begun), Some(now)) = (&entry.begun, definition)
        && begun.definition != now
    {
        return Err(Error::target(format!(
            "the definition of table {table} has changed since the load was begun: it was {}, and is {now}",
            begun.definition
        ))
        .advise("change it back until the load is through")
        .advise(FROM_THE_FIRST_ROW));
    }
    Ok(())
}

fn same_options(before: &BTreeMap<String, String>, now: &BTreeMap<String, String>) -> Result<()> {
    let nothing = String::new();
    let names = before.keys().chain(now.keys());
    for name in names {
        let (was, is) = (before.get(name).unwrap_or(&nothing), now.get(name).unwrap_or(&nothing));
        // Less can always be compared.
        let is_less = name == VERIFY && (was == "checksum" || is == "none");
        // Older entries have none.
        let is_unknown = name == INDEX && !before.contains_key(name);
        if was != is && !is_less && !is_unknown {
            let shown = |value: &String| match value.as_str() {
                "" => "not said".to_owned(),
                value => value.to_owned(),
            };
            return Err(Error::usage(format!(
                "the options have changed since the load was begun: {name} was {}, and is {}",
                shown(was),
                shown(is)
            ))
            .advise("say the same options as then: the other rows are loaded with them already")
            .advise(FROM_THE_FIRST_ROW));
        }
    }
    Ok(())
}
