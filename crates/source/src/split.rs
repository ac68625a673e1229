//! Parts of a source, for many to read: where it is cut, and how a part is opened.
//!
//! ```text
//! Source -> split: pieces of each file, on all processors -> boundaries near the goals -> parts
//! Split  -> of_split: a Source that reads its part, as the whole would be read
//! ```
//!
//! Files are taken one behind the other, and cut where each share of all bytes ends, so a part may be the end of one file and the
//! start of the next. What can't be cut belongs to one part as a whole: compressed files, other encodings, JSON that isn't lines, Arrow.

use std::fs::File;
use std::io::{self, Read, Seek, SeekFrom};
use std::path::Path;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering::Relaxed};
use std::sync::{Arc, Mutex, PoisonError};
use std::thread;

use inrush_scan::piece::join;
use inrush_scan::{Boundary, JsonLayout, Lines, Piece, Tail};

use crate::columns;
use crate::{Input, Place, Source, decode};
use inrush_core::cut::{ChunkReader, Next, RECORD_BYTES_MAX};
use inrush_core::encode::{Grammar, Json};
use inrush_core::error::{Error, Result};
use inrush_core::reading::{Families, ReadFacts, ReadRequest, Readers};
use inrush_core::split::{Layout, Parts, Split, SplitField, SplitPart, Stamp, Writing};
use inrush_core::{FieldFacts, MomentFacts, SourceFacts};
use inrush_place::cannot_open;

/// Bytes of text that are looked at as one: what a processor has in memory besides, and few enough for many to have something to do.
const PIECE_BYTES: u64 = 8 << 20;

/// Bytes that are read to find the end of a line.
const LINE_BYTES: u64 = 64 << 10;

/// Where a part begins: in which file, and where in it.
#[derive(Clone, Copy)]
struct Border {
    file: usize,
    at: At,
}

/// A place in a file where it can be cut.
#[derive(Clone, Copy)]
enum At {
    /// Its first record.
    Start,
    /// A record of text.
    Record(Boundary),
    /// A row group, with so many rows and stored bytes before it.
    Group { group: usize, rows: u64, stored: u64 },
}

impl Source {
    /// Cuts the source into about equal parts, each of whole records. `read` and `fields` are what is known of its columns, besides.
    ///
    /// # Errors
    /// When a file can't be read, has changed, or is a pipe; and when `stop` is set.
    pub fn split(
        &self,
        parts: Parts,
        read: &ReadRequest,
        fields: &[SplitField],
        stop: &AtomicBool,
    ) -> Result<Vec<Split>> {
        let mut stamps = Vec::new();
        for input in &self.inputs {
            let whole = match &input.place {
                Place::Member(_) => Some(("within an archive", "unpack it, and name the files")),
                Place::Sheet(_) => Some(("a sheet", "load it as it is, or save it as CSV")),
                Place::Stored(_) => Some(("no file", "load it as a whole, or fetch it first")),
                Place::File(_) | Place::Stdin | Place::Rows => None,
            };
            if let Some((what, advice)) = whole {
                let error =
                    format!("{} is {what}, and only files are split into parts", input.name);
                return Err(Error::source(error).about(&input.name).advise(advice));
            }
            let (Some(path), Some(_)) = (input.place.plain(), input.bytes_stored) else {
                return Err(Error::source(format!("{} can be read only once", input.name))
                    .about(&input.name)
                    .advise("save it to a file that all who read a part of it can open"));
            };
            stamps.push(Stamp::of(path).map_err(|error| cannot_open(&input.name, &error))?);
        }
        let total: u64 = stamps.iter().map(|stamp| stamp.bytes).sum();
        let count = match parts {
            Parts::Count(count) => count as u64,
            Parts::Bytes(bytes) => total.div_ceil(bytes.max(1)),
        };
        let count = count.clamp(1, total.max(1));
        let goal = |part: u64| (u128::from(total) * u128::from(part) / u128::from(count)) as u64;
        let goals: Vec<u64> = (1..count).map(goal).collect();

        let mut borders = vec![Border { file: 0, at: At::Start }];
        let mut before = 0;
        for (file, stamp) in stamps.iter().enumerate() {
            let from = goals.partition_point(|goal| *goal <= before);
            let to = goals.partition_point(|goal| *goal < before + stamp.bytes);
            if file > 0 && from > 0 && goals[from - 1] == before {
                borders.push(Border { file, at: At::Start });
            }
            if from < to {
                let goals: Vec<u64> = goals[from..to].iter().map(|goal| goal - before).collect();
                let (cuts, is_over) = self.cuts(file, &goals, fields.len(), stop)?;
                borders.extend(cuts.into_iter().map(|at| Border { file, at }));
                if is_over && file + 1 < self.inputs.len() {
                    borders.push(Border { file: file + 1, at: At::Start });
                }
            }
            before += stamp.bytes;
        }
        borders.dedup_by_key(|border| (border.file, border.at.place()));
        let ends: Vec<Border> = borders[1..].iter().copied().chain([self.end()]).collect();
        let runs: Vec<Vec<SplitPart>> = borders
            .iter()
            .zip(&ends)
            .map(|(from, to)| self.run(*from, *to, &stamps))
            .collect::<Result<_>>()?;
        let of = runs.len();
        let splits: Vec<Split> = (0..)
            .zip(runs)
            .map(|(number, parts)| {
                let (read, fields) = (read.clone(), fields.to_vec());
                Split::new((number, of), self.writing(), self.header, read, fields, parts)
            })
            .collect();
        for split in &splits {
            split.expect_unchanged()?;
        }
        Ok(splits)
    }

    /// Behind everything.
    fn end(&self) -> Border {
        Border { file: self.inputs.len(), at: At::Start }
    }

    fn writing(&self) -> Writing {
        match &self.grammar {
            Grammar::Delimited(dialect) => Writing::from(dialect),
            Grammar::Json(json) => {
                let mut members: Vec<_> = json.places.iter().collect();
                members.sort_by_key(|(_, place)| **place);
                let name = |name: &[u8]| String::from_utf8_lossy(name).into_owned();
                let members = members.into_iter().map(|(member, _)| name(member)).collect();
                Writing::Json { members, flatten: json.flatten }
            }
            Grammar::Columns => Writing::Columns { flatten: self.flatten },
        }
    }

    /// Where a file can be cut next behind each of the goals, which are offsets in it as it is stored; and whether there is none behind
    /// the last.
    fn cuts(
        &self,
        file: usize,
        goals: &[u64],
        width: usize,
        stop: &AtomicBool,
    ) -> Result<(Vec<At>, bool)> {
        let input = &self.inputs[file];
        let is_text = input.compression.is_none() && decode::is_utf8(input.encoding);
        let lines = match &self.grammar {
            Grammar::Delimited(dialect) if is_text => {
                Lines::Delimited { dialect: dialect.clone(), blanks_count: width == 1 }
            }
            Grammar::Json(json) if is_text && json.layouts[file] == JsonLayout::Lines => {
                Lines::Json
            }
            Grammar::Columns => return Ok(self.tables[file].cuts(goals)),
            Grammar::Delimited(_) | Grammar::Json(_) => return Ok((Vec::new(), true)),
        };
        let found = Cutting { source: self, file, lines: &lines, stop }.boundaries(goals)?;
        let end = found.last().map_or(input.body_at, |last| last.byte);
        let is_over = goals.last().is_some_and(|goal| *goal > end);
        Ok((found.into_iter().map(At::Record).collect(), is_over))
    }

    /// The parts of files from one border to the next.
    fn run(&self, from: Border, to: Border, stamps: &[Stamp]) -> Result<Vec<SplitPart>> {
        let mut parts = Vec::new();
        for (file, stamp) in stamps.iter().enumerate().skip(from.file) {
            let start = if file == from.file { from.at } else { At::Start };
            let end = (file == to.file).then_some(to.at);
            if matches!(end, Some(At::Start)) {
                break;
            }
            parts.push(self.part(file, start, end, *stamp)?);
            if end.is_some() {
                break;
            }
        }
        Ok(parts)
    }

    /// What lies between two places of a file.
    fn part(&self, file: usize, start: At, end: Option<At>, stamp: Stamp) -> Result<SplitPart> {
        let input = &self.inputs[file];
        let Some(path) = input.place.plain() else {
            return Err(Error::source(format!("{} is no file", input.name)));
        };
        let path = std::path::absolute(path).map_err(|error| cannot_open(&input.name, &error))?;
        if path.to_str().is_none() {
            return Err(Error::source(format!(
                "the name of {} is not UTF-8, and can't be sent to other processes",
                input.name
            ))
            .advise("rename the file"));
        }
        let (records, lines) = (input.records_before, input.lines_before);
        let own = Boundary { byte: input.body_at, records, lines };
        let boundary = match start {
            At::Record(boundary) => boundary,
            At::Start => own,
            At::Group { rows, .. } => Boundary { records: rows, ..own },
        };
        let groups = self.tables.get(file).and_then(columns::Table::groups);
        let groups = groups.map(|all| {
            let first = if let At::Group { group, .. } = start { group } else { 0 };
            let last = if let Some(At::Group { group, .. }) = end { group } else { all };
            (first, last)
        });
        let stored = |at: At| match at {
            At::Start => 0,
            At::Record(boundary) => boundary.byte,
            At::Group { stored, .. } => stored,
        };
        let text = |bytes: &[u8]| String::from_utf8_lossy(bytes).into_owned();
        let layout = match &self.grammar {
            Grammar::Json(json) => Some(Layout::from(json.layouts[file])),
            Grammar::Delimited(_) | Grammar::Columns => None,
        };
        Ok(SplitPart {
            path,
            stamp,
            stored: end.map_or(stamp.bytes, stored) - stored(start),
            encoding: input.encoding.name().to_owned(),
            layout,
            start: boundary,
            end: match end {
                Some(At::Record(boundary)) => Some(boundary.byte),
                _ => None,
            },
            groups,
            header: text(&input.header),
            separator_line: text(&input.separator_line),
            order: self.orders.get(file).cloned().unwrap_or_default(),
            width: self.widths.get(file).copied().unwrap_or_default(),
        })
    }

    /// Opens a part of a source as the whole was opened, with nothing left to find out. `read` is what the split says of values, looked
    /// through.
    ///
    /// # Errors
    /// When a file is not there, or not what it was.
    pub fn of_split(split: &Split, read: &Readers) -> Result<(Self, SourceFacts)> {
        split.expect_unchanged()?;
        let mut inputs = Vec::new();
        for part in &split.parts {
            let place = Place::File(part.path.clone());
            let input = Input {
                compression: match split.writing {
                    Writing::Columns { .. } => None,
                    _ => compression(&part.path)?,
                },
                encoding: decode::by_label(&part.encoding)?,
                bytes_stored: Some(part.stored),
                body_at: part.start.byte,
                body_end: part.end,
                lines_before: part.start.lines,
                records_before: part.start.records,
                separator_line: part.separator_line.clone().into_bytes(),
                header: part.header.clone().into_bytes(),
                ..Input::plain(&place)
            };
            inputs.push(input);
        }
        let fields: Vec<FieldFacts> = split
            .fields
            .iter()
            .map(|field| FieldFacts {
                written: None,
                added: None,
                name: field.name.clone(),
                ty: field.ty,
                spoiler: None,
                is_declared: true,
                is_settled: field.is_settled,
                moments: MomentFacts { digits: field.digits, ..MomentFacts::default() },
                reads: ReadFacts {
                    is_read: field.plain == Families::default(),
                    plain: field.plain,
                    ..ReadFacts::default()
                },
            })
            .collect();
        let mut tables = Vec::new();
        let grammar = match &split.writing {
            Writing::Json { members, flatten } => {
                let lines = |part: &SplitPart| part.layout.unwrap_or(Layout::Lines).into();
                let json = Json {
                    layouts: split.parts.iter().map(lines).collect(),
                    arrays: !split.header,
                    places: Default::default(),
                    objects: Default::default(),
                    flatten: *flatten,
                    takes_new: true,
                };
                Grammar::Json(json.with_fields(members.iter().map(String::as_str)))
            }
            Writing::Columns { flatten } => {
                for (input, part) in inputs.iter_mut().zip(&split.parts) {
                    let mut table = columns::Table::of_part(input, *flatten, part.groups)?;
                    table.take_days(&part.order, &fields);
                    tables.push(table);
                }
                Grammar::Columns
            }
            writing => match writing.dialect()? {
                Some(dialect) => Grammar::Delimited(dialect),
                None => Grammar::Columns,
            },
        };
        let names: Vec<&str> = fields.iter().map(|field| field.name.as_str()).collect();
        let facts = SourceFacts {
            header: split.header,
            case: read.columns.case,
            reasons: vec![format!("part {} of {}", split.number + 1, split.of)],
            bytes: Some(split.parts.iter().map(|part| part.stored).sum()),
            seekable: true,
            // Members that no sample had are looked for where they turn up.
            is_delimited: grammar.dialect().is_some(),
            is_typed: grammar == Grammar::Columns,
            is_surveyed: !matches!(grammar, Grammar::Json(_)),
            memory_bytes: tables.iter().map(columns::Table::memory_bytes).max().unwrap_or(0),
            chunks_ahead: tables.iter().map(columns::Table::chunks_ahead).max().unwrap_or(0),
            ..SourceFacts::default()
        };
        let source = Source {
            inputs,
            grammar,
            reads: names.iter().map(|name| read.column(name)).collect(),
            nulls: read.nulls_of(names.iter().copied()),
            read: read.clone(),
            header: split.header,
            bytes: Vec::new(),
            flatten: matches!(split.writing, Writing::Columns { flatten: true }),
            orders: split.parts.iter().map(|part| part.order.clone()).collect(),
            widths: split.parts.iter().map(|part| part.width).collect(),
            tables,
            pipe: Mutex::new(None),
            abandoned: Arc::default(),
        };
        Ok((source, SourceFacts { fields, ..facts }))
    }
}

impl At {
    /// What tells it from other places of the same file.
    fn place(self) -> u64 {
        match self {
            At::Start => 0,
            At::Record(boundary) => boundary.byte,
            At::Group { group, .. } => group as u64,
        }
    }
}

fn compression(path: &Path) -> Result<Option<crate::Compression>> {
    let mut magic = Vec::new();
    File::open(path)
        .and_then(|file| file.take(crate::head::NOTES_BYTES).read_to_end(&mut magic))
        .map_err(|error| cannot_open(&inrush_core::path::text(path), &error))?;
    Ok(crate::Compression::detect(&magic))
}

impl columns::Table {
    /// As [`Source::cuts`], in front of row groups.
    fn cuts(&self, goals: &[u64]) -> (Vec<At>, bool) {
        let mut cuts = Vec::new();
        let (mut rows, mut stored) = (0, 0);
        let mut goals = goals.iter().copied().peekable();
        for (group, (more_rows, more_stored)) in self.group_sizes().into_iter().enumerate() {
            if goals.next_if(|goal| *goal <= stored).is_some() && group > 0 {
                while goals.next_if(|goal| *goal <= stored).is_some() {}
                cuts.push(At::Group { group, rows, stored });
            }
            rows += more_rows;
            stored += more_stored;
        }
        (cuts, goals.peek().is_some())
    }
}

/// A file of text that is to be cut.
struct Cutting<'a> {
    source: &'a Source,
    file: usize,
    lines: &'a Lines,
    stop: &'a AtomicBool,
}

/// What becomes of a piece.
enum Seen {
    Piece(Piece),
    /// A line without an end, as far as a record may go.
    Endless,
}

impl Cutting<'_> {
    /// The first boundaries behind the goals; each only once, and fewer where there is none before the file's end.
    fn boundaries(&self, goals: &[u64]) -> Result<Vec<Boundary>> {
        let input = self.input();
        let size = input.bytes_stored.unwrap_or(0);
        let mut starts = vec![input.body_at];
        // Of the goals, which piece is the first behind each.
        let mut firsts = Vec::new();
        for goal in goals.iter().copied().filter(|goal| *goal > input.body_at).chain([size]) {
            let last = starts.last().copied().unwrap_or(0);
            let pieces = (goal - last.min(goal)).div_ceil(PIECE_BYTES).max(1);
            starts.extend((1..pieces).map(|piece| last + piece * PIECE_BYTES));
            firsts.push(starts.len());
            starts.push(goal);
        }
        // The last one is the file's end, and no goal.
        firsts.pop();
        starts.pop();
        let pieces = self.pieces(&starts, size)?;
        let (byte, records, lines) = (input.body_at, input.records_before, input.lines_before);
        let start = Boundary { byte, records, lines };
        let found = match pieces {
            Some(pieces) => join(start, &pieces, RECORD_BYTES_MAX as u64, |from, goal| {
                self.read_on(from, goal)
            })?,
            None => return Ok(Vec::new()),
        };
        let mut boundaries: Vec<Boundary> = Vec::new();
        for first in firsts {
            let next = found[first..].iter().flatten().next();
            if let Some(boundary) = next.filter(|boundary| boundary.byte < size) {
                boundaries.push(*boundary);
            }
        }
        boundaries.dedup();
        Ok(boundaries)
    }

    fn input(&self) -> &Input {
        &self.source.inputs[self.file]
    }

    /// Looks at all pieces that start at these offsets, or rather at the line behind, on all processors. `None` where a line is too
    /// long to be one.
    fn pieces(&self, starts: &[u64], size: u64) -> Result<Option<Vec<Piece>>> {
        let threads = thread::available_parallelism().map_or(1, usize::from).min(starts.len());
        let next = AtomicUsize::new(0);
        let seen: Mutex<Vec<Option<Seen>>> = Mutex::new(starts.iter().map(|_| None).collect());
        let work = || -> Result<()> {
            let mut file = self.open()?;
            let mut bytes = Vec::new();
            loop {
                let at = next.fetch_add(1, Relaxed);
                let Some(&start) = starts.get(at) else { return Ok(()) };
                if self.stop.load(Relaxed) {
                    return Err(Error::interrupted());
                }
                let end = starts.get(at + 1).copied().unwrap_or(size);
                let piece = self
                    .look(&mut file, &mut bytes, (start, end), at == 0, size)
                    .map_err(|error| self.input().read_error(&error))?;
                seen.lock().unwrap_or_else(PoisonError::into_inner)[at] = Some(piece);
            }
        };
        thread::scope(|scope| {
            let start = |_| thread::Builder::new().spawn_scoped(scope, work);
            let workers = (0..threads).map(start).collect::<io::Result<Vec<_>>>();
            workers.map_err(|error| Error::no_thread(&error))?.into_iter().try_for_each(|worker| {
                worker.join().unwrap_or_else(|panic| std::panic::resume_unwind(panic))
            })
        })?;
        let seen = seen.into_inner().unwrap_or_else(PoisonError::into_inner);
        let pieces = seen.into_iter().map(|seen| match seen {
            Some(Seen::Piece(piece)) => Some(piece),
            Some(Seen::Endless) | None => None,
        });
        Ok(pieces.collect())
    }

    /// Looks at the lines that start in a range of the file; those of the `first` piece from its first byte on, which starts one.
    fn look(
        &self,
        file: &mut File,
        bytes: &mut Vec<u8>,
        (start, end): (u64, u64),
        is_first: bool,
        size: u64,
    ) -> io::Result<Seen> {
        let newline = self.lines.newline();
        bytes.clear();
        file.seek(SeekFrom::Start(start))?;
        file.by_ref().take(end - start).read_to_end(bytes)?;
        let mut own = bytes.len();
        if (own as u64) < end - start {
            return Err(io::ErrorKind::UnexpectedEof.into());
        }
        let skipped = match memchr::memchr(newline, bytes) {
            _ if is_first => 0,
            Some(at) => at + 1,
            // The line is an earlier piece's, as a whole.
            None => return Ok(Seen::Piece(self.lines.piece(&[], Tail::More))),
        };
        let mut is_over = end == size;
        while !is_over {
            let got = file.by_ref().take(LINE_BYTES).read_to_end(bytes)?;
            is_over = got == 0 || start + bytes.len() as u64 >= size;
            if let Some(length) = memchr::memchr(newline, &bytes[own..]) {
                is_over = start + (own + length + 1) as u64 >= size;
                own += length + 1;
                break;
            }
            own = bytes.len();
            if bytes.len() as u64 > end - start + RECORD_BYTES_MAX as u64 {
                return Ok(Seen::Endless);
            }
        }
        let tail = if is_over { Tail::End } else { Tail::More };
        Ok(Seen::Piece(self.lines.piece(&bytes[skipped..own], tail)))
    }

    /// Reads records as a load does, see [`join`].
    fn read_on(&self, from: Boundary, goal: u64) -> Result<Boundary> {
        let input = self.input();
        let mut file = self.open()?;
        file.seek(SeekFrom::Start(from.byte)).map_err(|error| input.read_error(&error))?;
        let cutter = self.source.grammar.cutter(self.file, from.byte > input.body_at);
        let mut chunk = Vec::new();
        let goal = usize::try_from(goal - from.byte).unwrap_or(usize::MAX);
        let next = ChunkReader::cutting(file, cutter).next(&mut chunk, goal);
        match next.map_err(|error| input.read_error(&error))? {
            Next::Chunk => {}
            Next::TooLong => return Err(input.too_long(from.byte, &self.source.grammar)),
            Next::End => {
                let end = io::ErrorKind::UnexpectedEof.into();
                return Err(input.read_error(&end));
            }
        }
        let more = self.lines.count(&chunk);
        Ok(Boundary {
            byte: from.byte + more.byte,
            records: from.records + more.records,
            lines: from.lines + more.lines,
        })
    }

    fn open(&self) -> Result<File> {
        let input = self.input();
        match input.place.plain() {
            Some(path) => File::open(path).map_err(|error| cannot_open(&input.name, &error)),
            None => Err(Error::source(format!("{} is no file", input.name))),
        }
    }
}
