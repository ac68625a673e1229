//! Bad rows: rejected verbatim, with their position and the reason.

use std::collections::BTreeMap;
use std::fmt;
use std::fs::{self, File};
use std::io::{self, BufRead as _, BufReader, BufWriter, Read as _, Seek as _, SeekFrom, Write};
use std::path::{Path, PathBuf};

use inrush_core::Type;
use inrush_core::flow::Code;
use inrush_core::ledger::RejectsLength;
use inrush_scan::{Dialect, Scanner, escapes_delimiter};
use serde::Serialize;
use xxhash_rust::xxh3::Xxh3;

use crate::plan::{Plan, RejectLimit, RejectsTo, Request};
use inrush_core::error::{Error, ErrorPlace, Kind, Result, shorten};
use inrush_core::locks::{LOCK_LINGERS, lock_within};
use inrush_core::path::text;
use inrush_core::pending::{Pending, Turn, directory, from_root};
use inrush_source::footer;
use inrush_source::rejects::{RejectsDialect, RejectsTable, dialect_of, line_hash};

pub use inrush_source::rejects::sidecar_path;

/// A bad row with its position in the input.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Reject {
    /// The input's index in the source.
    pub file: u32,
    /// The data record's number in its input, from 1; the header isn't counted.
    pub record: u64,
    /// Where that is.
    pub at: Position,
    /// Which column, where one is to blame.
    pub column: Option<String>,
    /// What sort of fault.
    pub code: Code,
    /// The reason, with the value shortened.
    pub message: String,
    /// The record verbatim, with its terminator if it has one.
    pub raw: Vec<u8>,
}

impl Reject {
    /// The same place for an error about it; `name` is the input's.
    pub(crate) fn place(&self, name: &str) -> ErrorPlace {
        let mut place = ErrorPlace::default();
        name.clone_into(&mut place.file);
        place.line = self.at.line();
        place.record = Some(self.record);
        place.column.clone_from(&self.column);
        place
    }
}

/// Where a bad row is in its input.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Position {
    /// In text.
    Text {
        /// The physical line on which the record begins, from 1; everything is counted.
        line: u64,
        /// The record's offset in the decoded input, from 0.
        byte: u64,
        /// The record's number, from 1, where several may be on one line.
        record: Option<u64>,
    },
    /// In columns.
    Columns {
        /// The row of the input, from 1.
        row: u64,
        /// Its row group, or record batch, from 0.
        group: u32,
        /// The row of that, from 1.
        group_row: u64,
    },
    /// In a sheet.
    Sheet {
        /// The row of the sheet, from 1; everything is counted.
        row: u64,
    },
    /// Among the rows of a program.
    Rows {
        /// The row of the load, from 1.
        row: u64,
    },
}

impl Position {
    /// The physical line on which the record begins, or the row of the sheet that it is.
    pub fn line(&self) -> Option<u64> {
        match self {
            Position::Text { line, .. } => Some(*line),
            Position::Sheet { row } => Some(*row),
            Position::Columns { .. } | Position::Rows { .. } => None,
        }
    }
}

impl fmt::Display for Position {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Position::Text { line, record: None, .. } => write!(f, "line {line}"),
            Position::Text { line, record: Some(record), .. } => {
                write!(f, "record {record} (line {line})")
            }
            Position::Columns { row, group, group_row } => {
                write!(f, "row {row} (row {group_row} of group {group})")
            }
            Position::Sheet { row } | Position::Rows { row } => write!(f, "row {row}"),
        }
    }
}

/// One line of the sidecar.
#[derive(Serialize)]
struct SidecarLine<'a> {
    file: &'a str,
    record: u64,
    line: Option<u64>,
    byte: Option<u64>,
    #[serde(skip_serializing_if = "Option::is_none")]
    row_group: Option<u32>,
    #[serde(skip_serializing_if = "Option::is_none")]
    row: Option<u64>,
    column: Option<&'a str>,
    code: Code,
    message: &'a str,
    table: &'a str,
    #[serde(skip_serializing_if = "std::ops::Not::not")]
    table_named: bool,
    #[serde(skip_serializing_if = "Option::is_none")]
    dialect: Option<&'a RejectsDialect>,
    #[serde(skip_serializing_if = "Option::is_none")]
    types: Option<&'a BTreeMap<String, Type>>,
    #[serde(skip_serializing_if = "Option::is_none")]
    names: Option<&'a BTreeMap<String, String>>,
    #[serde(skip_serializing_if = "Option::is_none")]
    line_hash: Option<String>,
}

/// What the reject files need to know of one input.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct RejectPlace {
    /// The input's name, as the sidecar shows it.
    pub file: String,
    /// Where its bad rows go; `None` where the observer takes them, or none is allowed and no file is named.
    pub path: Option<PathBuf>,
    /// The line that says what separates fields and the header, verbatim with terminators, so that the rejects load again after fixing.
    pub header: Vec<u8>,
}

/// Writes bad rows beside the source. Files appear under their names only by [`RejectFiles::publish`], and go away by
/// [`RejectFiles::withdraw`], unless rows were committed with them ([`RejectFiles::keep`]).
pub(crate) struct RejectFiles {
    places: Vec<RejectPlace>,
    open: Vec<OpenPair>,
    /// Bad rows that go to no file.
    held: Vec<Reject>,
    /// Files of earlier steps which take no rows any more.
    closed: Vec<RejectsLength>,
    /// Why some of them hold more than that, or something else.
    left: Vec<String>,
    newline: u8,
    /// The table that refused the rows.
    table: RejectsTable,
    /// How they are written, where they are records of text.
    dialect: Option<RejectsDialect>,
    /// See [`Plan::types_of_bad_rows`].
    types: BTreeMap<String, Type>,
    /// See [`Plan::names_of_bad_rows`].
    names: BTreeMap<String, String>,
}

struct OpenPair {
    path: PathBuf,
    /// Where rows and notes are until they are published; nothing where they were by an earlier run.
    hidden: Option<(PathBuf, PathBuf)>,
    published: bool,
    /// Whether bad rows in it go with committed ones.
    is_kept: bool,
    /// Files of an earlier load that had the names: (name, where it is now).
    moved: Vec<(PathBuf, PathBuf)>,
    rows: Half,
    notes: Half,
}

/// A file of rows, or of notes.
struct Half {
    /// Locked as long as it is ours. There may be as many pairs as inputs, so no file has a second handle.
    file: BufWriter<File>,
    /// What was put into it so far.
    put: Extent,
    /// How much of that goes with committed rows.
    kept: Extent,
}

/// The beginning of a file.
#[derive(Clone, Default)]
struct Extent {
    bytes: u64,
    sum: Xxh3,
}

impl RejectFiles {
    /// Those of a load. Nothing is created before the first bad row.
    pub(crate) fn of(plan: &Plan) -> Self {
        let name = plan.table.clone();
        // Any other name is one part, whoever has said it.
        let has_parts = name.contains(['.', '"', '[']);
        let is_named = has_parts && plan.request.table.is_some();
        let table = RejectsTable { name, is_named };
        Self {
            places: plan.reject_places.clone(),
            open: Vec::new(),
            held: Vec::new(),
            closed: Vec::new(),
            left: Vec::new(),
            newline: plan.source.grammar.newline(),
            table,
            dialect: dialect_of(&plan.source),
            types: plan.types_of_bad_rows(),
            names: plan.names_of_bad_rows(),
        }
    }

    /// Goes on with the files of earlier steps: what is in them of rows that were not committed is cut off, also where bad rows go
    /// elsewhere from now on.
    ///
    /// # Errors
    /// When one that takes more rows is not what the steps have left, or another process writes into it.
    pub(crate) fn go_on(&mut self, lengths: &[RejectsLength]) -> Result<()> {
        if lengths.is_empty() {
            return Ok(());
        }
        let planned = by_place(&self.places);
        for length in lengths {
            match planned.get(&from_root(&length.path)) {
                Some(path) => self.open.push(OpenPair::again(path, length)?),
                None => {
                    // Nothing is written into it any more, so whatever was done to it since is its owner's business.
                    let is_gone = fs::symlink_metadata(&length.path)
                        .is_err_and(|error| error.kind() == io::ErrorKind::NotFound);
                    if let Err(error) = OpenPair::again(&length.path, length) {
                        let what = error.what();
                        self.left.push(match is_gone {
                            true => format!("{what}: they are lost"),
                            false => format!("{what}; it stays as it is"),
                        });
                    }
                    if !is_gone {
                        self.closed.push(length.clone());
                    }
                }
            }
        }
        Ok(())
    }

    /// How long the files are, with all that was put into them.
    ///
    /// # Errors
    /// When they can't be written.
    pub(crate) fn lengths(&mut self) -> Result<Vec<RejectsLength>> {
        let of = |pair: &mut OpenPair| -> io::Result<RejectsLength> {
            pair.rows.file.flush()?;
            pair.notes.file.flush()?;
            let (rows, notes) = (&pair.rows.put, &pair.notes.put);
            Ok(RejectsLength {
                path: from_root(&pair.path),
                rows_bytes: rows.bytes,
                notes_bytes: notes.bytes,
                sums: Some((rows.sum.digest(), notes.sum.digest())),
            })
        };
        let open = self.open.iter_mut();
        let open = open.map(|pair| of(pair).map_err(|error| cannot_write(&pair.path, error)));
        self.closed.iter().cloned().map(Ok).chain(open).collect()
    }

    /// What is in the files stays, whatever becomes of the load: rows are committed that go with it.
    pub(crate) fn keep(&mut self) {
        self.open.iter_mut().for_each(OpenPair::keep);
    }

    /// Whether there was no bad row.
    pub(crate) fn is_empty(&self) -> bool {
        self.open.is_empty() && self.closed.is_empty()
    }

    /// The files that hold rows, in the order of their first row.
    pub(crate) fn paths(&self) -> Vec<PathBuf> {
        let closed = self.closed.iter().map(|length| length.path.clone());
        closed.chain(self.open.iter().map(|pair| pair.path.clone())).collect()
    }

    /// Takes the bad rows that went to no file.
    pub(crate) fn take_held(&mut self) -> Vec<Reject> {
        std::mem::take(&mut self.held)
    }

    pub(crate) fn push(&mut self, reject: &Reject) -> Result<()> {
        let place = &self.places[reject.file as usize];
        let Some(path) = &place.path else {
            self.held.push(reject.clone());
            return Ok(());
        };
        let fail = |error| cannot_write(path, error);
        let known = self.open.iter().position(|pair| pair.path == *path);
        let index = match known {
            Some(index) => index,
            None => {
                let mut pair = OpenPair::create(path).map_err(fail)?;
                pair.put(&[&place.header], &[]).map_err(fail)?;
                self.open.push(pair);
                self.open.len() - 1
            }
        };
        let pair = &mut self.open[index];
        let (line, byte, row_group, row) = match reject.at {
            Position::Text { line, byte, .. } => (Some(line), Some(byte), None, None),
            Position::Columns { group, group_row, .. } => {
                (None, None, Some(group), Some(group_row))
            }
            Position::Sheet { row } => (Some(row), None, None, None),
            Position::Rows { .. } => (None, None, None, None),
        };
        let end = [self.newline];
        let end = if reject.raw.last() == Some(&self.newline) { &[] } else { &end[..] };
        let note = SidecarLine {
            file: &place.file,
            record: reject.record,
            line,
            byte,
            row_group,
            row,
            column: reject.column.as_deref(),
            code: reject.code,
            message: &reject.message,
            table: &self.table.name,
            table_named: self.table.is_named,
            dialect: self.dialect.as_ref(),
            types: (known.is_none() && !self.types.is_empty()).then_some(&self.types),
            names: (known.is_none() && !self.names.is_empty()).then_some(&self.names),
            line_hash: (reject.code == Code::Quote).then(|| line_hash(&reject.raw)),
        };
        let mut line = serde_json::to_vec(&note).map_err(|error| fail(error.into()))?;
        line.push(b'\n');
        pair.put(&[&reject.raw, end], &line).map_err(fail)
    }

    /// Gives the files their names, safe on disk. Done just before the target commits: a crash between the two leaves
    /// a rejects file too many, never a bad row lost. Files of an earlier load are moved aside, for they may be half fixed.
    pub(crate) fn publish(&mut self) -> Result<()> {
        for pair in &mut self.open {
            pair.publish().map_err(|error| cannot_write(&pair.path, error))?;
        }
        Ok(())
    }

    /// What was moved aside, and what is not as the steps have left it, in words.
    pub(crate) fn notes(&self) -> Vec<String> {
        let moved = self.open.iter().flat_map(|pair| &pair.moved);
        let moved =
            moved.map(|(name, aside)| format!("an earlier {} is now {}", text(name), text(aside)));
        self.left.iter().cloned().chain(moved).collect()
    }

    /// Takes the bad rows away again that were put here since [`RejectFiles::keep`], published or not, and puts back what had the names
    /// of files that hold no others: the load they belong to did not happen.
    pub(crate) fn withdraw(&mut self) {
        self.open.retain_mut(|pair| {
            match pair.is_kept {
                false => pair.withdraw(),
                // A bad row too many is no loss, and the load's own error matters more.
                true => drop(pair.rows.cut().and_then(|()| pair.notes.cut())),
            }
            pair.is_kept
        });
    }
}

impl Drop for RejectFiles {
    fn drop(&mut self) {
        self.open.iter_mut().filter(|pair| !pair.published).for_each(OpenPair::withdraw);
    }
}

impl OpenPair {
    fn create(path: &Path) -> io::Result<Self> {
        // Bad rows are the user's data: as private as a file can be, until its owner says otherwise.
        let (rows_path, rows) = Pending::create(path, true)?.into_file();
        let notes = Pending::create(&sidecar_path(path), true);
        // A load that fails leaves nothing.
        let notes = notes.inspect_err(|_| drop(fs::remove_file(&rows_path)));
        let (notes_path, notes) = notes?.into_file();
        let (rows, notes) = (Half::new(rows), Half::new(notes));
        let (path, moved) = (path.to_owned(), Vec::new());
        let hidden = Some((rows_path, notes_path));
        Ok(Self { path, hidden, published: false, is_kept: false, moved, rows, notes })
    }

    /// The files of earlier steps, as long as they were after the last of them.
    fn again(path: &Path, length: &RejectsLength) -> Result<Self> {
        let (rows_sum, notes_sum) = length.sums.unzip();
        let mut rows = Half::again(path, length.rows_bytes, rows_sum)?;
        let mut notes = Half::again(&sidecar_path(path), length.notes_bytes, notes_sum)?;
        for half in [&mut rows, &mut notes] {
            half.cut().map_err(|error| cannot_write(path, error))?;
        }
        let (path, moved) = (path.to_owned(), Vec::new());
        Ok(Self { path, hidden: None, published: true, is_kept: true, moved, rows, notes })
    }

    /// Writes rows, and what is wrong with them.
    fn put(&mut self, rows: &[&[u8]], notes: &[u8]) -> io::Result<()> {
        rows.iter().try_for_each(|part| self.rows.put(part))?;
        self.notes.put(notes)
    }

    fn keep(&mut self) {
        self.is_kept = true;
        for half in [&mut self.rows, &mut self.notes] {
            if !half.is_kept() {
                half.kept = half.put.clone();
            }
        }
    }

    /// Takes the files away, and puts back what had their names.
    fn withdraw(&mut self) {
        // Nothing is lost when a file can't be removed, and the load's own error matters more.
        let names = [sidecar_path(&self.path), self.path.clone()];
        if let Some((rows, notes)) = &self.hidden {
            for (hidden, name) in [notes, rows].into_iter().zip(names) {
                // What is no longer there has got its name.
                if fs::remove_file(hidden).is_err() {
                    let _ = fs::remove_file(name);
                }
            }
        }
        for (name, aside) in self.moved.drain(..) {
            let _ = fs::rename(aside, name);
        }
    }

    fn publish(&mut self) -> io::Result<()> {
        if self.is_kept && self.rows.is_kept() && self.notes.is_kept() {
            return Ok(());
        }
        for Half { file, .. } in [&mut self.rows, &mut self.notes] {
            file.flush()?;
            file.get_ref().sync_all()?;
        }
        let Some((rows, notes)) = self.hidden.as_ref().filter(|_| !self.published) else {
            return Ok(());
        };
        let _turn = Turn::wait(&self.path)?;
        let aside = free_name(&self.path);
        let names = [
            (notes, sidecar_path(&self.path), sidecar_path(&aside)),
            (rows, self.path.clone(), aside),
        ];
        for (hidden, name, aside) in names {
            if fs::metadata(&name).is_ok_and(|meta| meta.len() > 0) {
                fs::rename(&name, &aside)?;
                self.moved.push((name.clone(), aside));
            }
            fs::rename(hidden, &name)?;
        }
        self.published = true;
        Ok(())
    }
}

impl Half {
    fn new(file: File) -> Self {
        Self { file: BufWriter::new(file), put: Extent::default(), kept: Extent::default() }
    }

    /// A file of earlier steps, which begins with so many bytes of theirs.
    fn again(path: &Path, bytes: u64, sum: Option<u64>) -> Result<Self> {
        const CHANGED: &str = "or leave it as it is, and name another file with --rejects for those that are still to come";
        const GONE: &str = "or name another file with --rejects for those that are still to come; those of the steps are lost";
        let shown = text(path);
        let other = |what: String, or: &str| {
            Error::source(what)
                .advise("put it back as it was, and fix the rows when the load is through")
                .advise(or)
        };
        let changed = |why: &str| {
            other(format!("{shown} holds bad rows of the steps so far, and {why}"), CHANGED)
        };
        let fail = |error: io::Error| match error.kind() {
            io::ErrorKind::NotFound => {
                let what = "which held bad rows of the steps so far, is not there any more";
                other(format!("{shown}, {what}"), GONE)
            }
            _ => cannot_write(path, error),
        };
        let file = File::options().read(true).write(true).open(path).map_err(fail)?;
        if lock_within(&file, LOCK_LINGERS).is_err() {
            return Err(changed("another process writes into it"));
        }
        let kept = Extent::of(&file, bytes).map_err(fail)?;
        if kept.bytes < bytes {
            return Err(changed("it has changed: it is shorter now"));
        }
        // What is behind them may be cut off only where they are ours: its owner may have fixed rows, and another load may have the name.
        if sum.is_some_and(|sum| sum != kept.sum.digest()) {
            return Err(changed("it has changed: it does not begin with them any more"));
        }
        Ok(Self { file: BufWriter::new(file), put: kept.clone(), kept })
    }

    fn put(&mut self, part: &[u8]) -> io::Result<()> {
        self.file.write_all(part)?;
        self.put.add(part);
        Ok(())
    }

    fn is_kept(&self) -> bool {
        self.kept.bytes == self.put.bytes
    }

    /// Makes the file as long as what is kept of it.
    fn cut(&mut self) -> io::Result<()> {
        let mut own = self.file.get_ref().try_clone()?;
        own.set_len(self.kept.bytes)?;
        own.seek(SeekFrom::Start(self.kept.bytes))?;
        // What the buffer holds is not to be written any more.
        let _ = std::mem::replace(&mut self.file, BufWriter::new(own)).into_parts();
        self.put = self.kept.clone();
        Ok(())
    }
}

impl Extent {
    /// So many bytes of a file, or all that it has.
    fn of(file: &File, bytes: u64) -> io::Result<Self> {
        let mut extent = Self::default();
        let mut reader = BufReader::with_capacity(1 << 16, file).take(bytes);
        loop {
            let part = reader.fill_buf()?;
            if part.is_empty() {
                return Ok(extent);
            }
            extent.add(part);
            let taken = part.len();
            reader.consume(taken);
        }
    }

    fn add(&mut self, part: &[u8]) {
        self.bytes += part.len() as u64;
        self.sum.update(part);
    }
}

/// The paths of files of bad rows, by the same from the root on: a link in the place of one is not followed, for bad rows would take it.
pub(crate) fn by_place(places: &[RejectPlace]) -> BTreeMap<PathBuf, &PathBuf> {
    let paths = places.iter().filter_map(|place| place.path.as_ref());
    paths.map(|path| (from_root(path), path)).collect()
}

/// `NAME.1`, or the next number that nothing has: neither rows nor a sidecar, which stay together.
fn free_name(path: &Path) -> PathBuf {
    let numbered = |n: u32| {
        let mut name = path.as_os_str().to_owned();
        name.push(format!(".{n}"));
        PathBuf::from(name)
    };
    let is_free = |name: &PathBuf| !name.exists() && !sidecar_path(name).exists();
    (1..).map(numbered).find(is_free).unwrap_or_else(|| numbered(0))
}

fn cannot_write(path: &Path, error: io::Error) -> Error {
    let why = match error.kind() {
        // Such as /proc: the system's words would be about a file that nobody expects to be there.
        io::ErrorKind::NotFound if directory(path).is_dir() => {
            "its directory takes no new files".to_owned()
        }
        _ => error.to_string(),
    };
    Error::source(format!("cannot write the bad rows to {}: {why}", text(path)))
        .advise("--rejects FILE puts them elsewhere")
}

/// How the records of delimited text are written.
pub(crate) struct Written<'a> {
    pub(crate) dialect: &'a Dialect,
    /// How many fields they have.
    pub(crate) width: usize,
    /// Whether quotes quote in the first ones.
    pub(crate) is_quoted: bool,
    /// Whether they have backslashes in fields without quotes.
    pub(crate) has_bare_escapes: bool,
    /// Whether the bad row stands behind a line that ends in a backslash, as far as its chunk has that line.
    pub(crate) is_after_escape: bool,
}

/// Whether a text ends in a backslash, which is not one that another one escapes, and the end of a line.
pub(crate) fn ends_in_escape(text: &[u8]) -> bool {
    let Some(line) = text.strip_suffix(b"\n") else { return false };
    let line = line.strip_suffix(b"\r").unwrap_or(line);
    line.iter().rev().take_while(|byte| **byte == b'\\').count() % 2 == 1
}

/// Whether a record has too many fields, and a backslash stands before a delimiter.
fn has_escaped_delimiter(raw: &[u8], text: &Written<'_>) -> bool {
    let Written { dialect, width, .. } = *text;
    let mut fields = Vec::new();
    Scanner::new(dialect, raw).next(&mut fields);
    fields.len() > width && escapes_delimiter(dialect, raw, &fields)
}

/// Whether a record has another number of fields because a backslash stands before its end, or before its beginning.
fn has_escaped_end(reject: &Reject, text: &Written<'_>) -> bool {
    text.dialect.escape.is_none() && (text.is_after_escape || ends_in_escape(&reject.raw))
}

/// Whether a field begins with an apostrophe, and ends without one: to who quotes with them the value goes on.
fn has_apostrophe(raw: &[u8], text: &Written<'_>) -> bool {
    let mut fields = Vec::new();
    Scanner::new(text.dialect, raw).next(&mut fields);
    let is_open = |field: &inrush_scan::Field| {
        field.raw(raw).strip_prefix(b"'").is_some_and(|rest| !rest.ends_with(b"'"))
    };
    text.dialect.quote != Some(b'\'') && fields.iter().any(is_open)
}

/// The message of a load that stops because of a bad row; `text` is how delimited ones are written.
pub(crate) fn limit_error(
    name: &str,
    reject: &Reject,
    rejected: u64,
    request: &Request,
    title: Option<&str>,
    text: Option<&Written<'_>>,
    in_steps: bool,
) -> Error {
    let limit = request.max_rejects;
    let column = reject.column.as_ref().map(|c| format!(", column {c}")).unwrap_or_default();
    let mut what = format!("{name}: {}{column}: {}", reject.at, reject.message);
    if matches!(reject.code, Code::FieldCount | Code::Quote | Code::Escape) {
        what.push_str(&format!(": {}", shorten(reject.raw.trim_ascii_end())));
    }
    if limit != RejectLimit::Rows(0) {
        what.push_str(&format!(" (bad row {rejected}; --max-rejects {limit} allows no more)"));
    }
    let mut error = Error::new(Kind::Rejects, what).at(reject.place(name));
    if let (Code::FieldCount | Code::Json, Some(title)) = (reject.code, title) {
        error = error.advise(title);
    }
    let footer = text.and_then(|_| footer::footer(&reject.raw));
    match reject.code {
        Code::FieldCount if text.is_some_and(|text| has_escaped_delimiter(&reject.raw, text)) => {
            error = error.advise(
                "if a backslash makes the delimiter behind it part of the value, say --escape '\\'",
            );
        }
        Code::FieldCount if footer.is_some() => {
            error = footer.map(footer::footer_advice).into_iter().fold(error, Error::advise);
        }
        Code::FieldCount if text.is_some_and(|text| has_escaped_end(reject, text)) => {
            error = error.advise(
                "if a backslash makes the end of line behind it part of the value, as INTO OUTFILE and mysqldump --tab write it, say \
                 --escape '\\' --null '\\N' (and --quote none where values hold quotes)",
            );
        }
        Code::FieldCount if text.is_some_and(|text| has_apostrophe(&reject.raw, text)) => {
            error = error.advise("if apostrophes stand around values, say --quote \"'\"");
        }
        Code::Quote => {
            if reject.raw.windows(2).any(|two| two == b"\\\"") {
                error = error.advise(match text.is_some_and(|text| text.has_bare_escapes) {
                    true => {
                        "write quotes within values doubled (COPY of PostgreSQL without ESCAPE '\\'): --escape '\\' reads those behind a \
                         backslash, and takes backslashes from fields without quotes as well"
                    }
                    false => "if a backslash makes the quote behind it part of the value, say --escape '\\'",
                });
            }
            if text.is_none_or(|text| !text.is_quoted) {
                error =
                    error.advise("if quotes are plain characters in this file, say --quote none");
            }
        }
        Code::Escape => {
            error = error
                .advise("--escape '\\' if a backslash makes whatever follows it literal, and is no part of the value")
                .advise("--escape none if it is a character like others");
        }
        _ => {}
    }
    match in_steps {
        // What to try then depends on whether a step was committed.
        true => error,
        false => error.advise(fix_or_reject(request, matches!(reject.at, Position::Rows { .. }))),
    }
}

/// What to try where a bad row has ended a load that left nothing. Beside a program, whose rows have positions only, is no place for bad ones.
pub(crate) fn fix_or_reject(request: &Request, is_of_program: bool) -> String {
    let has_none = is_of_program && request.rejects == RejectsTo::Beside;
    let place = if has_none { " and --rejects FILE" } else { "" };
    format!("fix the row, or reject bad rows with --max-rejects N (or N%){place}")
}

#[cfg(test)]
mod tests {
    use super::*;

    fn files(place: &Path) -> RejectFiles {
        let file = RejectPlace {
            file: "in.csv".to_owned(),
            path: Some(place.join("bad.csv")),
            header: b"a\n".to_vec(),
        };
        RejectFiles {
            places: vec![file],
            open: Vec::new(),
            held: Vec::new(),
            closed: Vec::new(),
            left: Vec::new(),
            newline: b'\n',
            table: RejectsTable { name: "t".to_owned(), is_named: false },
            types: BTreeMap::new(),
            names: BTreeMap::new(),
            dialect: None,
        }
    }

    fn bad(raw: &[u8]) -> Reject {
        Reject {
            file: 0,
            record: 1,
            at: Position::Rows { row: 1 },
            column: None,
            code: Code::Json,
            message: "bad".to_owned(),
            raw: raw.to_vec(),
        }
    }

    /// Rows are put, kept and cut in one run and the next, and the sums are those of what is there.
    #[test]
    fn what_is_kept_is_known_again() {
        let place = tempfile::tempdir().unwrap();
        let path = place.path().join("bad.csv");
        let step = |files: &mut RejectFiles, raw: &[u8]| {
            files.push(&bad(raw)).unwrap();
            let lengths = files.lengths().unwrap();
            files.publish().unwrap();
            files.keep();
            lengths
        };
        let mut first = files(place.path());
        step(&mut first, b"one");
        first.push(&bad(b"is cut")).unwrap();
        first.withdraw();
        let lengths = step(&mut first, b"two");
        first.push(&bad(b"is left by who is killed")).unwrap();
        first.lengths().unwrap();
        drop(first);
        assert_eq!(fs::read(&path).unwrap(), b"a\none\ntwo\nis left by who is killed\n");
        let mut second = files(place.path());
        second.go_on(&lengths).unwrap();
        let lengths = step(&mut second, b"three");
        drop(second);
        let whole = b"a\none\ntwo\nthree\n";
        assert_eq!(fs::read(&path).unwrap(), whole);
        let mut third = files(place.path());
        third.go_on(&lengths).unwrap();
        assert_eq!(third.lengths().unwrap(), lengths);
        drop(third);
        let changed = [b"a\n1", &whole[3..], b"and more"].concat();
        fs::write(&path, &changed).unwrap();
        assert!(files(place.path()).go_on(&lengths).is_err());
        let mut elsewhere = files(place.path());
        elsewhere.places[0].path = None;
        elsewhere.go_on(&lengths).unwrap();
        assert_eq!((elsewhere.notes().len(), elsewhere.paths().len()), (1, 1));
        assert_eq!(fs::read(&path).unwrap(), changed);
        fs::write(&path, [whole, &b"is cut"[..]].concat()).unwrap();
        let mut elsewhere = files(place.path());
        elsewhere.places[0].path = None;
        elsewhere.go_on(&lengths).unwrap();
        assert!(elsewhere.notes().is_empty());
        assert_eq!(fs::read(&path).unwrap(), whole);
    }
}
