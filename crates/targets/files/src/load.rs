//! A load into a file, step by step.

use std::collections::BTreeMap;
use std::fs::{self, File, Metadata};
use std::io::{self, Read as _, Seek as _, SeekFrom};
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::sync::atomic::AtomicBool;

use crate::facts::{self, FileFacts};
use crate::knobs;
use crate::layout::Layout;
use crate::output::{Output, WAITING_MAX};
use crate::parquet::{self, ParquetLane, ParquetLayout, ParquetOutput};
use crate::place::{Format, Place, Version};
use crate::stdout::StdoutLoad;
use crate::{csv, jsonl};
use crate::{old, read};
use inrush_core::encode::Shape;
use inrush_core::error::{Aftermath, Error, Result};
use inrush_core::flow::{Ack, Cell, Checksum, Chunk, Encode, RowMark, Wire};
use inrush_core::pending::{Pending, Turn, no_directory, publish, sync_name};
use inrush_core::target::{Fit, Knobs, Lane, Load, Memory, Sent, Snapshot, Verdict, Weakness};
use inrush_core::{Action, Durability, Facts, Job, Request, Verify};

/// What all strategies answer to `fit`.
pub(super) fn fit(format: Format, request: &Request, facts: &Facts, knobs: &mut Knobs) -> Fit {
    let file = FileFacts::of(&facts.target);
    if file.format != Some(format) {
        return Fit::Foreign { reason: format!("the target is {}", facts.target.engine) };
    }
    let table = facts.target.table.as_ref();
    if let Some(rows) = file.rows
        && table.is_some_and(|table| table.holds_rows && !table.columns.is_empty())
        && knobs.get(&knobs::ROWS).is_some()
    {
        knobs.suggest(&knobs::ROWS, rows);
        if knobs.word(&knobs::ROWS) != rows {
            return Fit::Unusable { reason: format!("the file holds its rows as {rows}s") };
        }
    }
    if facts.target.is_stream {
        return Fit::Usable {
            atomic: false,
            durability: Durability::None,
            weakness: None,
            lanes: 1,
            lanes_max: 1,
            encoders: facts.processors.saturating_sub(1),
            notes: vec![
                "rows go to standard output as they come: those before a bad row are out when it is found".to_owned(),
            ],
        };
    }
    if request.durability != Durability::Durable {
        knobs.suggest(&knobs::FSYNC, "never");
    }
    if file.packing.is_some()
        && knobs.get_count(&knobs::ROWS_PER_FLUSH).is_some_and(|rows| rows > 0)
    {
        return Fit::Unusable {
            reason: "rows_per_flush is of text, and a file that is compressed is written a chunk at a time".to_owned(),
        };
    }
    let (durability, weakness) = match knobs.word(&knobs::FSYNC) {
        "never" => (Durability::Process, Some(Weakness::knob(&knobs::FSYNC, "never"))),
        _ => (Durability::Durable, None),
    };
    Fit::Usable {
        atomic: true,
        durability,
        weakness,
        lanes: 1,
        lanes_max: 1,
        // The lane copies bytes into the kernel, and waits for the disk at the end. What is compressed is a fraction of them.
        encoders: match format {
            Format::Csv | Format::Jsonl if file.packing.is_none() => {
                facts.processors.saturating_sub(1)
            }
            _ => facts.processors,
        },
        notes: Vec::new(),
    }
}

/// What a load takes in memory whose encoder makes `growth` bytes of one, at worst.
pub(super) fn memory(growth: usize, request: &Request) -> Memory {
    // The narrowest field is a delimiter, and noted in a cell where values are summed.
    let cells = if request.verify == Verify::Checksum { size_of::<Cell>() } else { 0 };
    Memory {
        wire_bytes_per_byte: growth + cells + size_of::<RowMark>() / 2,
        // Rows that wait for others, the program itself, and the buffer that the file is read back with.
        fixed_bytes: (WAITING_MAX as u64) * 2 + (8 << 20),
        chunk_bytes: 256 << 10,
    }
}

/// A load under way.
pub(super) struct FileLoad<'a> {
    job: &'a Job,
    stop: &'a AtomicBool,
    place: Place,
    /// The file behind links.
    path: PathBuf,
    /// What was there when the load began.
    version: Option<Version>,
    /// Where rows go until the commit; `None` afterwards.
    pending: Option<Pending>,
    sink: Sink,
    layout: Layout,
    shape: Arc<Shape>,
    before: Snapshot,
    /// Of a Parquet file whose columns another program may have made, the first row group of ours.
    added_from: Option<usize>,
}

/// What rows are written with.
enum Sink {
    Text(Output),
    Parquet(Box<ParquetOutput>, ParquetLayout),
}

impl Sink {
    fn is_synced(&self) -> bool {
        match self {
            Self::Text(output) => output.is_synced(),
            Self::Parquet(output, _) => output.is_synced(),
        }
    }

    /// Waits for the disk, unless that was not asked for.
    fn sync(&mut self) -> io::Result<()> {
        match self {
            Self::Text(output) => output.sync(),
            Self::Parquet(output, _) => output.sync(),
        }
    }
}

impl<'a> FileLoad<'a> {
    pub(super) fn start(
        format: Format,
        job: &'a Job,
        stop: &'a AtomicBool,
    ) -> Result<Box<dyn Load + 'a>> {
        let place = Place::of(&job.location);
        if place.is_stdout() {
            return StdoutLoad::start(job);
        }
        let fail = |error: io::Error| place.write_error(&error);
        let found = place.found()?;
        let action = job.choice.action;
        // Between plan and load another client may have written.
        let as_planned = match &job.facts.target.table {
            Some(_) if action == Action::Replace => true,
            planned => facts::read(&place)?.table == *planned,
        };
        if !as_planned {
            return Err(Error::target(format!(
                "{} has changed since the plan was made",
                place.path.display()
            ))
            .advise("run the load again: it will look at what is there now"));
        }
        let path = place.real_path();
        if found.is_some() {
            // A directory's owner may replace what can't be written; that is not what its permissions ask for.
            File::options().write(true).open(&path).map_err(|error| {
                Error::target(format!("cannot write {}: {error}", place.path.display()))
                    .advise("check the permissions of the file")
            })?;
        }
        let pending = Pending::create(&path, false).map_err(|error| match error.kind() {
            io::ErrorKind::NotFound => no_directory(&path),
            _ => fail(error),
        })?;
        let file = File::options().write(true).open(&pending.path).map_err(|error| {
            // One that can't be removed is swept by the next load.
            let _ = fs::remove_file(&pending.path);
            fail(error)
        })?;
        let mut load = Self {
            job,
            stop,
            version: found.as_ref().map(Version::of),
            pending: Some(pending),
            sink: Sink::Text(Output::new(file, place.packing(), &job.choice.knobs)),
            layout: Layout::of(job),
            shape: Arc::clone(&job.shape),
            before: Snapshot::default(),
            added_from: None,
            place,
            path,
        };
        match format {
            Format::Csv | Format::Jsonl => load.begin_text(action, found.as_ref())?,
            Format::Parquet | Format::Arrow => load.begin_parquet(action, found.as_ref())?,
        }
        let verify = load.job.request.verify;
        if verify != Verify::None && action == Action::Append {
            load.before = load.contents(load.old_path())?;
        } else if verify == Verify::Checksum {
            load.before.sums = Some(Checksum::new(load.job.choice.columns.len()));
        }
        Ok(Box::new(load))
    }

    /// A file of text: the old rows, or a header.
    fn begin_text(&mut self, action: Action, found: Option<&Metadata>) -> Result<()> {
        if action == Action::Append {
            self.copy_old()?;
            self.keep_permissions(found)?;
            let columns = &self.job.choice.columns;
            return old::check(&self.place, self.old_path(), &self.layout, columns, self.stop);
        }
        self.keep_permissions(found)?;
        if let (Format::Csv, Sink::Text(output)) = (self.place.format, &mut self.sink) {
            let header = csv::header(&self.layout);
            output.head(&header).map_err(|error| self.place.write_error(&error))?;
        }
        Ok(())
    }

    /// A Parquet file: the old row groups, or none.
    fn begin_parquet(&mut self, action: Action, found: Option<&Metadata>) -> Result<()> {
        let place = &self.place;
        self.keep_permissions(found)?;
        let old = match action {
            Action::Append | Action::Truncate => {
                let file = File::open(&self.path).map_err(|error| place.read_error(&error))?;
                let metadata = parquet::metadata(place, &file)?;
                Some((file, metadata))
            }
            Action::Create | Action::Replace => None,
        };
        let metadata = old.as_ref().map(|(_, metadata)| metadata);
        let layout = ParquetLayout::new(self.job, &self.layout, metadata)
            .map_err(|error| parquet::write_error(place, error))?;
        let file = File::options().write(true).open(self.pending_path());
        let file = file.map_err(|error| place.write_error(&error))?;
        let is_synced = self.sink.is_synced();
        let mut output = ParquetOutput::new(place, file, &layout, is_synced)?;
        self.added_from = old.as_ref().map(|_| 0);
        if let (Action::Append, Some((file, metadata))) = (action, &old) {
            self.added_from = Some(output.copy(place, file, metadata)?);
        }
        self.sink = Sink::Parquet(Box::new(output), layout);
        Ok(())
    }

    /// A file that is replaced keeps its permissions, and owner and group as far as who loads may give files away.
    fn keep_permissions(&self, found: Option<&Metadata>) -> Result<()> {
        let Some(found) = found else { return Ok(()) };
        // Before the permissions: a new owner takes some of them away.
        #[cfg(unix)]
        keep_owner(self.pending_path(), found);
        fs::set_permissions(self.pending_path(), found.permissions())
            .map_err(|error| self.place.write_error(&error))
    }

    /// The old rows, to which new ones are added: the file of that name stays as it is until all are there.
    fn copy_old(&mut self) -> Result<()> {
        let path = self.pending_path();
        let copied = || -> io::Result<Output> {
            fs::copy(&self.path, path)?;
            let mut file = File::options().read(true).write(true).open(path)?;
            let last = self.last_byte(&mut file)?;
            file.seek(SeekFrom::End(0))?;
            let mut output = Output::new(file, self.place.packing(), &self.job.choice.knobs);
            // The last line may have no end.
            if last.is_some_and(|last| last != b'\n') {
                output.head(b"\n")?;
            }
            Ok(output)
        };
        let output = copied().map_err(|error| self.place.write_error(&error))?;
        self.sink = Sink::Text(output);
        Ok(())
    }

    /// The last byte of the text that a file holds, if it holds any.
    fn last_byte(&self, file: &mut File) -> io::Result<Option<u8>> {
        if self.place.packing().is_none() && file.seek(SeekFrom::End(0))? > 0 {
            file.seek(SeekFrom::End(-1))?;
        }
        let mut text = self.place.text(file)?;
        let (mut buffer, mut last) = (vec![0; 64 << 10], None);
        loop {
            match text.read(&mut buffer)? {
                0 => return Ok(last),
                got => last = Some(buffer[got - 1]),
            }
        }
    }

    /// Where the old rows are, and no new ones yet.
    fn old_path(&self) -> &Path {
        match self.sink {
            Sink::Text(_) => self.pending_path(),
            // Half a file of Parquet is none.
            Sink::Parquet(..) => &self.path,
        }
    }

    fn pending_path(&self) -> &Path {
        self.pending.as_ref().map_or(&self.path, |pending| &pending.path)
    }

    /// What a file holds: the one that is being written, or the one that it was before.
    fn contents(&self, path: &Path) -> Result<Snapshot> {
        let sums = self.job.request.verify == Verify::Checksum;
        let columns = sums.then_some(self.job.choice.columns.as_slice());
        let found = read::contents(&self.place, path, &self.layout, columns, self.stop)?;
        Ok(Snapshot { rows: Some(found.rows), sums: found.sums })
    }

    /// Gives the file its name, at once for whoever reads it.
    fn publish(&self) -> Result<()> {
        let pending = self.pending_path();
        let fail = |error: io::Error| self.place.write_error(&error);
        // Until the name is given: another load that looked meanwhile would find what we found.
        let _turn = Turn::wait(&self.path).map_err(fail)?;
        let now = self.place.found()?.as_ref().map(Version::of);
        if now != self.version || self.place.real_path() != self.path {
            return Err(self.place.changed());
        }
        if now.is_some() {
            return fs::rename(pending, &self.path).map_err(fail);
        }
        publish(pending, &self.path).map_err(|error| match error.kind() {
            io::ErrorKind::AlreadyExists => self.place.changed(),
            _ => fail(error),
        })
    }

    fn discard(&mut self) {
        if let Some(pending) = self.pending.take() {
            // One that can't be removed is swept by the next load.
            let _ = fs::remove_file(&pending.path);
        }
    }
}

/// Gives a new file owner and group of the old one. Who may not give it to its owner may be one of its group.
#[cfg(unix)]
fn keep_owner(new: &Path, old: &Metadata) {
    use std::os::unix::fs::{MetadataExt as _, lchown};
    let (owner, group) = (old.uid(), old.gid());
    // One that is refused belongs to who loads, as any new file.
    let _ = lchown(new, Some(owner), Some(group)).or_else(|_| lchown(new, None, Some(group)));
}

impl Load for FileLoad<'_> {
    fn encoder(&self) -> Box<dyn Encode> {
        let (shape, packing) = (Arc::clone(&self.shape), self.place.packing());
        match (&self.sink, self.place.format) {
            (Sink::Text(_), Format::Jsonl) => {
                jsonl::encoder(shape, self.job, &self.layout, packing)
            }
            (Sink::Text(_), _) => csv::encoder(shape, self.job, &self.layout, packing),
            (Sink::Parquet(_, layout), _) => parquet::encoder(shape, self.job, layout),
        }
    }

    fn lanes(&mut self) -> Result<Vec<Box<dyn Lane + '_>>> {
        let place = &self.place;
        Ok(vec![match &mut self.sink {
            Sink::Text(output) => Box::new(FileLane {
                output,
                place,
                columns: self.job.choice.columns.len(),
                sums: self.job.request.verify == Verify::Checksum,
            }),
            Sink::Parquet(output, layout) => Box::new(ParquetLane::new(output, layout, place)),
        }])
    }

    fn indexes(&self) -> bool {
        false
    }

    fn complete(&mut self) -> Result<()> {
        Ok(())
    }

    fn verify(&mut self, sent: &Sent) -> Result<Verdict> {
        // The footer says how many rows there are, and not whether they are what its columns hold.
        if let Some(group) = self.added_from.filter(|_| self.job.request.verify == Verify::Count) {
            parquet::look_through(&self.place, self.pending_path(), group, self.stop)?;
            parquet::decode(&self.place, self.pending_path(), group, self.stop)?;
        }
        let after = self.contents(self.pending_path())?;
        Ok(sent.verdict(&self.before, &after, self.job))
    }

    fn commit(&mut self, _note: &dyn Fn(&str)) -> Result<BTreeMap<String, String>> {
        self.sink.sync().map_err(|error| self.place.write_error(&error))?;
        self.publish()?;
        self.pending = None;
        let knobs = &self.job.choice.knobs;
        let fsync = knobs.word(&knobs::FSYNC).to_owned();
        let mut settings = BTreeMap::from([(knobs::FSYNC.name.to_owned(), fsync)]);
        if self.sink.is_synced() {
            settings.extend(sync_name(&self.path).map(|unsure| ("directory".to_owned(), unsure)));
        }
        Ok(settings)
    }

    fn abort(&mut self) -> Aftermath {
        self.discard();
        Aftermath::NothingChanged
    }
}

impl Drop for FileLoad<'_> {
    fn drop(&mut self) {
        self.discard();
    }
}

/// The file takes what the encoder made, byte for byte.
struct FileLane<'l> {
    output: &'l mut Output,
    place: &'l Place,
    columns: usize,
    sums: bool,
}

impl Lane for FileLane<'_> {
    fn send(&mut self, chunk: &Chunk, wire: &Wire) -> Result<Ack> {
        self.output.rows(wire).map_err(|error| self.place.write_error(&error))?;
        let checksum = self.sums.then(|| {
            let mut sums = Checksum::new(self.columns);
            for row in wire.cells.chunks_exact(self.columns.max(1)) {
                sums.add_row(row, chunk, wire);
            }
            sums
        });
        Ok(Ack { loaded: wire.rows.len() as u64, checksum, ..Ack::default() })
    }

    fn finish(&mut self) -> Result<()> {
        self.output.end().map_err(|error| self.place.write_error(&error))
    }
}
