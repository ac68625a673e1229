//! Inputs: where they are, how they are compressed and encoded, how their text is written, what its columns are.

mod decode;
mod decompress;
pub(crate) mod infer;
mod place;
mod sniff;
mod stdin;
pub(crate) mod text;

use std::fs::File;
use std::io::{self, Read, Seek, SeekFrom};
use std::sync::atomic::{AtomicBool, Ordering::Relaxed};
use std::sync::{Arc, Mutex, PoisonError};

use encoding_rs::{Encoding, UTF_8};
use inrush_scan::{Cutter, Dialect, Newline, Tail};

pub use decompress::Compression;
pub use place::Place;
pub(crate) use place::expand;
pub use text::RECORD_BYTES_MAX;

use crate::error::{Error, Result};
use crate::pipe::encode::{Encode, Shape, ShapeColumn, TextEncoder};
use crate::pipe::{Chunk, Encoded, Meter, Origin};
use crate::plan::{DialectRequest, FieldFacts, SourceFacts};
use infer::{Observed, Surveyor};
use place::cannot_open;
use stdin::Pipe;

/// Bytes of an input that are looked at before a plan is made, from its start.
const HEAD_BYTES: usize = 1 << 20;

/// Places in a plain file, besides its start, that are looked at too...
const SPREAD_PLACES: u64 = 8;

/// ... and how much at each.
const SPREAD_BYTES: usize = 64 << 10;

/// One input, opened, looked at, and closed again (standard input stays open).
#[derive(Clone, Debug)]
pub struct Input {
    /// The name that messages and the sidecar show.
    pub name: String,
    /// Where it is.
    pub place: Place,
    /// How it is compressed.
    pub compression: Option<Compression>,
    /// How its characters are encoded.
    pub encoding: &'static Encoding,
    /// Its size as stored; `None` for a pipe.
    pub bytes_stored: Option<u64>,
    /// Where its data begins in the decoded text: after byte order mark, skipped lines and header.
    pub body_at: u64,
    /// Physical lines before that.
    pub lines_before: u64,
    /// The header, verbatim with its terminator; empty without one.
    pub header: Vec<u8>,
}

/// Everything that is read in one load.
#[derive(Debug)]
pub struct Source {
    /// In the order they are loaded.
    pub inputs: Vec<Input>,
    /// How all of them are written.
    pub dialect: Dialect,
    /// Spellings of NULL besides the empty unquoted field.
    pub nulls: Vec<Vec<u8>>,
    /// Whether the first record names the columns.
    pub header: bool,
    /// For each input, the position of each of the first input's fields.
    pub orders: Vec<Vec<usize>>,
    /// The one pipe among the inputs, until it is read.
    pipe: Mutex<Option<Pipe>>,
    abandoned: Arc<AtomicBool>,
}

/// The first bytes of one input, decoded.
struct Head {
    input: Input,
    text: Vec<u8>,
    /// Nothing comes after `text`.
    whole: bool,
}

impl Source {
    /// Opens and looks at every input. `known` are the columns of the table, if it is there: they help to tell a header.
    pub(crate) fn open(
        places: &[Place],
        request: &DialectRequest,
        known: Option<&[String]>,
    ) -> Result<(Self, SourceFacts)> {
        let mut heads = Vec::new();
        let mut pipe = None;
        let abandoned = Arc::new(AtomicBool::new(false));
        for place in places {
            heads.push(read_head(place, request, &mut pipe, &abandoned)?);
        }
        let mut reasons = Vec::new();
        let mut warnings = Vec::new();
        let first = &heads[0];
        let skipped = body_start(&first.text, request.skip_lines);
        let (dialect, why) = sniff::dialect(
            &first.text[skipped..],
            first.whole,
            request,
            &first.input.place.extension(),
        );
        dialect.check().map_err(|error| Error::usage(error.to_string()))?;
        reasons.extend(why);

        let mut source = Source {
            inputs: Vec::new(),
            dialect,
            nulls: request.nulls.iter().map(|null| null.clone().into_bytes()).collect(),
            header: false,
            orders: Vec::new(),
            pipe: Mutex::new(pipe),
            abandoned,
        };
        let names = source.find_header(&mut heads, request, known, &mut reasons, &mut warnings)?;
        source.inputs = heads.iter().map(|head| head.input.clone()).collect();
        let seen = source.sample(&heads, names.len())?;
        let fields = names
            .into_iter()
            .zip(seen)
            .map(|(name, seen)| FieldFacts { name, ty: seen.ty(), spoiler: seen.spoiler() })
            .collect();
        for input in &source.inputs {
            let named = request.encoding.is_some();
            if input.encoding != UTF_8 && !named {
                reasons.push(format!("{} is in {}", input.name, input.encoding.name()));
            }
        }
        let bytes = source.inputs.iter().map(|input| input.bytes_stored).sum();
        let seekable = source.inputs.iter().all(|input| input.bytes_stored.is_some());
        let facts =
            SourceFacts { fields, header: source.header, reasons, warnings, bytes, seekable };
        Ok((source, facts))
    }

    /// Decides about the header, moves every input's body behind it, and maps each input's fields to the first one's.
    fn find_header(
        &mut self,
        heads: &mut [Head],
        request: &DialectRequest,
        known: Option<&[String]>,
        reasons: &mut Vec<String>,
        warnings: &mut Vec<String>,
    ) -> Result<Vec<String>> {
        let mut names: Vec<String> = Vec::new();
        for (index, head) in heads.iter_mut().enumerate() {
            let start = body_start(&head.text, request.skip_lines);
            let text = &head.text[start..];
            let first = sniff::first_record(text, &self.dialect);
            if index == 0 {
                self.header = match (request.header, &first) {
                    (_, None) => false,
                    (Some(header), _) => header,
                    (None, Some((values, record))) => {
                        let (header, why) =
                            self.looks_like_header(values, &text[record.next as usize..], known);
                        reasons.push(if header {
                            format!("the first line is the header: {why}")
                        } else {
                            format!("there is no header: {why}")
                        });
                        header
                    }
                };
            }
            let mut body_at = start;
            let here =
                match first {
                    Some((values, record)) if self.header => {
                        if record.fault.is_some() {
                            return Err(Error::source(format!(
                                "{}: the quoting of the header is broken",
                                head.input.name
                            ))
                            .advise("check --quote, or say --quote none"));
                        }
                        body_at = start + record.next as usize;
                        head.input.header =
                            text[record.start as usize..record.next as usize].to_vec();
                        header_names(&head.input.name, values)?
                    }
                    Some((values, _)) if index == 0 => {
                        let width = sniff::width(text, head.whole, &self.dialect)
                            .max(if head.whole { 1 } else { values.len() });
                        (1..=width).map(|n| format!("column_{n}")).collect()
                    }
                    _ => names.clone(),
                };
            head.input.lines_before =
                inrush_scan::count_lines(&self.dialect, &head.text[..body_at]);
            head.input.body_at = body_at as u64;
            if index == 0 {
                names = here;
                self.orders.push((0..names.len()).collect());
            } else {
                let order = order(&names, &here, &head.input.name)?;
                self.orders.push(order);
            }
        }
        if names.is_empty() {
            return Err(Error::source(format!(
                "{} is empty: no header, no rows",
                heads[0].input.name
            ))
            .advise("check that it is the file you mean"));
        }
        Ok(unique(names, warnings))
    }

    fn looks_like_header(
        &self,
        values: &[Vec<u8>],
        rest: &[u8],
        known: Option<&[String]>,
    ) -> (bool, &'static str) {
        let names: Vec<String> =
            values.iter().map(|value| String::from_utf8_lossy(value).into_owned()).collect();
        let first: Vec<Observed> = values
            .iter()
            .map(|value| {
                let mut observed = Observed::default();
                if !value.is_empty() && !self.nulls.contains(value) {
                    observed.add(value);
                }
                observed
            })
            .collect();
        let seen = self.survey(&[(0, rest)], values.len());
        sniff::header(&names, &first, &seen, known)
    }

    /// The inference over every input's head, and over places spread through a plain first file.
    fn sample(&self, heads: &[Head], width: usize) -> Result<Vec<Observed>> {
        let mut texts: Vec<(u32, Vec<u8>)> = Vec::new();
        for (index, head) in heads.iter().enumerate() {
            let body = &head.text[(head.input.body_at as usize).min(head.text.len())..];
            let cutter = Cutter::new(&self.dialect);
            if head.whole {
                texts.push((index as u32, body.to_vec()));
            } else if let Some(end) = cutter.cut(body, body.len(), Tail::More) {
                texts.push((index as u32, body[..end].to_vec()));
            } else if head.input.bytes_stored.is_some() {
                texts.push((index as u32, self.first_record(index, &cutter)?));
            }
        }
        texts.extend(self.spread(&heads[0])?);
        let texts: Vec<(u32, &[u8])> =
            texts.iter().map(|(file, text)| (*file, text.as_slice())).collect();
        Ok(self.survey(&texts, width))
    }

    /// The first record of an input, where it is longer than what was looked at.
    fn first_record(&self, file: usize, cutter: &Cutter) -> Result<Vec<u8>> {
        let meter = Meter::default();
        let mut reader = self.open_body(file, &meter)?;
        let mut text = Vec::new();
        loop {
            let more = text.len().max(2 * HEAD_BYTES) as u64;
            let got = reader.by_ref().take(more).read_to_end(&mut text);
            let ended = (got.map_err(|error| self.inputs[file].read_error(&error))? as u64) < more;
            let tail = if ended { Tail::End } else { Tail::More };
            if let Some(end) = cutter.cut(&text, 1, tail) {
                text.truncate(end);
                return Ok(text);
            }
            if ended || text.len() >= RECORD_BYTES_MAX {
                return Ok(Vec::new());
            }
        }
    }

    /// Whole lines from places spread over the first input, when lines can be told there: in a plain file whose head has no
    /// newline inside quotes. What is missed costs a restart of the load, never a value.
    fn spread(&self, head: &Head) -> Result<Vec<(u32, Vec<u8>)>> {
        let (Place::File(path), Some(bytes)) = (&head.input.place, head.input.bytes_stored) else {
            return Ok(vec![]);
        };
        let lines =
            self.dialect.quote.is_none_or(|quote| memchr::memchr(quote, &head.text).is_none());
        if head.whole
            || !lines
            || head.input.compression.is_some()
            || !decode::is_utf8(head.input.encoding)
            || self.dialect.newline == Newline::Cr
        {
            return Ok(vec![]);
        }
        let fail = |error: io::Error| cannot_open(&head.input.name, &error);
        let mut file = File::open(path).map_err(fail)?;
        let mut texts = Vec::new();
        for place in 1..=SPREAD_PLACES {
            // The last place is the end of the file, where appended rows of another kind would be.
            let at = (bytes.saturating_sub(SPREAD_BYTES as u64)) / SPREAD_PLACES * place;
            if at < head.text.len() as u64 {
                continue;
            }
            file.seek(SeekFrom::Start(at)).map_err(fail)?;
            let mut text = Vec::with_capacity(SPREAD_BYTES);
            file.by_ref().take(SPREAD_BYTES as u64).read_to_end(&mut text).map_err(fail)?;
            let start = memchr::memchr(b'\n', &text).map_or(text.len(), |at| at + 1);
            let end = memchr::memrchr(b'\n', &text).map_or(start, |at| at + 1).max(start);
            // A quote here may close a field that began before, and nobody can tell.
            if self.dialect.quote.is_none_or(|quote| memchr::memchr(quote, &text).is_none()) {
                texts.push((0, text[start..end].to_vec()));
            }
        }
        Ok(texts)
    }

    fn survey(&self, texts: &[(u32, &[u8])], width: usize) -> Vec<Observed> {
        let total = Arc::new(Mutex::new(vec![Observed::default(); width]));
        let mut encoder = self.surveyor(&total);
        let mut encoded = Encoded::default();
        for (file, text) in texts {
            let chunk =
                Chunk { seq: 0, origin: Origin { file: *file, byte: 0 }, bytes: text.to_vec() };
            encoded.clear();
            encoder.encode(&chunk, &mut encoded);
        }
        let total = total.lock().unwrap_or_else(PoisonError::into_inner);
        total.clone()
    }

    /// An encoder that only looks at the values' types and adds what it saw to `total`, one entry a field.
    pub(crate) fn surveyor(&self, total: &Arc<Mutex<Vec<Observed>>>) -> Box<dyn Encode> {
        let width = total.lock().unwrap_or_else(PoisonError::into_inner).len();
        let fields =
            if self.orders.is_empty() { vec![(0..width).collect()] } else { self.orders.clone() };
        let columns = (0..width)
            .map(|n| ShapeColumn { name: n.to_string(), pinned: true, bytes: false })
            .collect();
        let shape = Shape {
            dialect: self.dialect.clone(),
            nulls: self.nulls.clone(),
            width,
            fields,
            columns,
        };
        Box::new(TextEncoder::new(Arc::new(shape), Surveyor::new(Arc::clone(total))))
    }

    /// Whoever waits for a pipe's data need wait no longer.
    pub(crate) fn abandon(&self) {
        self.abandoned.store(true, Relaxed);
    }

    /// The text of one input from its first data record on. Bytes taken from storage are counted in `meter`.
    pub(crate) fn open_body<'a>(
        &self,
        file: usize,
        meter: &'a Meter,
    ) -> Result<Box<dyn Read + Send + 'a>> {
        let input = &self.inputs[file];
        let mut reader: Box<dyn Read + Send + 'a> = match &input.place {
            Place::File(path) if input.bytes_stored.is_some() => {
                let mut raw = File::open(path).map_err(|error| cannot_open(&input.name, &error))?;
                if input.compression.is_none() && decode::is_utf8(input.encoding) {
                    raw.seek(SeekFrom::Start(input.body_at))
                        .map_err(|error| input.read_error(&error))?;
                    return Ok(Box::new(Counted { input: raw, meter }));
                }
                layers(Box::new(Counted { input: raw, meter }), input)?
            }
            _ => {
                let Some(pipe) = self.pipe.lock().unwrap_or_else(PoisonError::into_inner).take()
                else {
                    return Err(Error::source(format!("{} can be read only once", input.name))
                        .advise("save it to a file first"));
                };
                layers(Box::new(Counted { input: pipe, meter }), input)?
            }
        };
        io::copy(&mut reader.by_ref().take(input.body_at), &mut io::sink())
            .map_err(|error| input.read_error(&error))?;
        Ok(reader)
    }
}

impl Input {
    /// What a failed read means, in words.
    pub(crate) fn read_error(&self, error: &io::Error) -> Error {
        match self.compression {
            Some(compression) if error.kind() == io::ErrorKind::UnexpectedEof => Error::source(
                format!("{}: the {} data ends in the middle", self.name, compression.name()),
            )
            .advise("the file is incomplete: fetch it again"),
            Some(compression) if error.raw_os_error().is_none() => Error::source(format!(
                "{}: the {} data is damaged: {error}",
                self.name,
                compression.name()
            ))
            .advise("fetch the file again"),
            _ => cannot_open(&self.name, error),
        }
    }
}

/// Decompression and decoding around raw bytes.
fn layers<'a>(raw: Box<dyn Read + Send + 'a>, input: &Input) -> Result<Box<dyn Read + Send + 'a>> {
    let plain = match input.compression {
        Some(compression) => compression.open(raw).map_err(|error| input.read_error(&error))?,
        None => raw,
    };
    Ok(if decode::is_utf8(input.encoding) {
        plain
    } else {
        Box::new(decode::Decoder::new(plain, input.encoding))
    })
}

/// Counts what is taken from storage, for the progress bar.
struct Counted<'a, R> {
    input: R,
    meter: &'a Meter,
}

impl<R: Read> Read for Counted<'_, R> {
    fn read(&mut self, out: &mut [u8]) -> io::Result<usize> {
        let got = self.input.read(out)?;
        self.meter.add_stored(got as u64);
        Ok(got)
    }
}

fn read_head(
    place: &Place,
    request: &DialectRequest,
    pipe: &mut Option<Pipe>,
    abandoned: &Arc<AtomicBool>,
) -> Result<Head> {
    let name = place.name();
    let bytes_stored = place.regular_bytes();
    let fail = |error: &io::Error| cannot_open(&name, error);
    // The head of a pipe ends where it was cut off, which isn't the input's fault.
    let mut cut_off = false;
    let mut reader: Box<dyn Read + Send> = match place {
        Place::File(path) if bytes_stored.is_some() => {
            Box::new(File::open(path).map_err(|error| fail(&error))?)
        }
        _ => {
            if pipe.is_some() {
                return Err(Error::usage(
                    "only one of the sources can be a pipe or standard input",
                ));
            }
            let pipe = pipe.insert(Pipe::open(place, Arc::clone(abandoned))?);
            let head = pipe.peek(HEAD_BYTES).map_err(|error| fail(&error))?;
            cut_off = head.len() == HEAD_BYTES;
            Box::new(io::Cursor::new(head))
        }
    };
    let mut magic = Vec::new();
    reader.by_ref().take(8192).read_to_end(&mut magic).map_err(|error| fail(&error))?;
    let compression = Compression::detect(&magic);
    let mut input = Input {
        name: name.clone(),
        place: place.clone(),
        compression,
        encoding: UTF_8,
        bytes_stored,
        body_at: 0,
        lines_before: 0,
        header: Vec::new(),
    };
    let forgive = |error: io::Error| if cut_off { Ok(0) } else { Err(input.read_error(&error)) };
    let mut plain: Box<dyn Read + Send> = Box::new(io::Cursor::new(magic).chain(reader));
    if let Some(compression) = compression {
        plain = compression.open(plain).map_err(|error| input.read_error(&error))?;
    }
    let mut bytes = Vec::new();
    plain.by_ref().take(HEAD_BYTES as u64).read_to_end(&mut bytes).or_else(forgive)?;
    let encoding = match &request.encoding {
        Some(label) => decode::by_label(label)?,
        None => decode::detect(&bytes).unwrap_or(UTF_8),
    };
    let mut whole = bytes.len() < HEAD_BYTES && !cut_off;
    let mut text = bytes;
    if decode::is_utf8(encoding) {
        refuse_binary(&name, &text)?;
        // A header, or one record, must be whole to be understood.
        while !whole
            && memchr::memchr2(b'\n', b'\r', &text).is_none()
            && text.len() < RECORD_BYTES_MAX
        {
            let got =
                plain.by_ref().take(HEAD_BYTES as u64).read_to_end(&mut text).or_else(forgive)?;
            whole = got < HEAD_BYTES && !cut_off;
            if got == 0 {
                break;
            }
        }
    } else {
        let mut decoded = Vec::new();
        let mut decoder = decode::Decoder::new(text.as_slice(), encoding);
        decoder.read_to_end(&mut decoded).map_err(|error| fail(&error))?;
        text = decoded;
    }
    input.encoding = encoding;
    Ok(Head { input, text, whole })
}

/// Files that are not text, by their first bytes, and what to do with them.
const BINARIES: [(&[u8], &str, &str); 8] = [
    (b"PAR1", "a Parquet file", "this version reads CSV and TSV"),
    (b"ARROW1", "an Arrow file", "this version reads CSV and TSV"),
    (
        b"SQLite format 3\0",
        "an SQLite database",
        "the target comes last: inrush load FILE.csv DATABASE.db",
    ),
    (b"PK\x03\x04", "a ZIP archive or a spreadsheet", "unpack it, or save the sheet as CSV"),
    (b"%PDF", "a PDF document", "inrush reads CSV and TSV"),
    (b"\x7fELF", "a program", "inrush reads CSV and TSV"),
    (b"\x89PNG", "a picture", "inrush reads CSV and TSV"),
    (b"\xd0\xcf\x11\xe0", "an old Office document", "save the sheet as CSV"),
];

fn refuse_binary(name: &str, text: &[u8]) -> Result<()> {
    if let Some((_, what, advice)) = BINARIES.iter().find(|(magic, ..)| text.starts_with(magic)) {
        return Err(Error::source(format!("{name} is {what}, not text")).advise(*advice));
    }
    // Stray NULs make bad rows; one in a hundred bytes makes a binary file.
    let zeros = memchr::memchr_iter(0, text).count();
    if zeros >= 8 && zeros >= text.len() / 100 {
        let at = memchr::memchr(0, text).unwrap_or(0);
        return Err(Error::source(format!("{name} does not look like text: {zeros} of its first {} bytes are NUL, the first at byte {at}", text.len()))
            .advise("if it is UTF-16 without a byte order mark, say --encoding utf-16le"));
    }
    Ok(())
}

/// Where records begin: after a byte order mark and `skip_lines` physical lines.
fn body_start(text: &[u8], skip_lines: u64) -> usize {
    let mut at = if text.starts_with(b"\xef\xbb\xbf") { 3 } else { 0 };
    for _ in 0..skip_lines {
        let Some(end) = memchr::memchr2(b'\n', b'\r', &text[at..]) else { return text.len() };
        at += end + if text[at + end..].starts_with(b"\r\n") { 2 } else { 1 };
    }
    at
}

fn header_names(input: &str, values: Vec<Vec<u8>>) -> Result<Vec<String>> {
    let bad = |what: &str, n: usize| {
        Error::source(format!("{input}: the name of column {n} in the header {what}"))
            .advise("check --encoding, or say --header no if the first line is data")
    };
    values
        .into_iter()
        .enumerate()
        .map(|(index, value)| {
            let name = String::from_utf8(value).map_err(|_| bad("is not UTF-8", index + 1))?;
            if name.contains('\0') {
                return Err(bad("holds a NUL byte", index + 1));
            }
            Ok(name.trim().to_owned())
        })
        .collect()
}

/// Makes names usable: an empty one becomes `column_N`, a second `a` becomes `a_2`. Case doesn't tell names apart in SQL.
fn unique(names: Vec<String>, warnings: &mut Vec<String>) -> Vec<String> {
    let mut taken: std::collections::HashSet<String> =
        names.iter().map(|name| name.to_lowercase()).collect();
    let mut seen = std::collections::HashSet::new();
    names
        .into_iter()
        .enumerate()
        .map(|(index, name)| {
            if !name.is_empty() && seen.insert(name.to_lowercase()) {
                return name;
            }
            let (base, first) =
                if name.is_empty() { ("column", index + 1) } else { (name.as_str(), 2) };
            let free = (first..)
                .map(|n| format!("{base}_{n}"))
                .find(|candidate| taken.insert(candidate.to_lowercase()))
                .unwrap_or_default();
            let what = if name.is_empty() {
                "has no name".to_owned()
            } else {
                format!("is a second '{name}'")
            };
            warnings
                .push(format!("column {} of the header {what}: it is called {free}", index + 1));
            seen.insert(free.to_lowercase());
            free
        })
        .collect()
}

/// Where a later input has each of the first one's fields.
fn order(names: &[String], here: &[String], input: &str) -> Result<Vec<usize>> {
    if names == here {
        return Ok((0..names.len()).collect());
    }
    let find = |name: &String| here.iter().position(|other| other.eq_ignore_ascii_case(name));
    let order: Option<Vec<usize>> = names.iter().map(find).collect();
    match order {
        Some(order)
            if names.len() == here.len()
                && order.iter().collect::<std::collections::HashSet<_>>().len() == order.len() =>
        {
            Ok(order)
        }
        _ => {
            let missing: Vec<&str> =
                names.iter().filter(|name| find(name).is_none()).map(String::as_str).collect();
            let extra: Vec<&str> = here
                .iter()
                .filter(|name| !names.iter().any(|other| other.eq_ignore_ascii_case(name)))
                .map(String::as_str)
                .collect();
            Err(Error::source(format!(
                "{input} has other columns than the first input (missing: {}; more: {})",
                list(&missing),
                list(&extra)
            ))
            .advise("load files of different shape into tables of their own"))
        }
    }
}

fn list(names: &[&str]) -> String {
    if names.is_empty() { "none".to_owned() } else { names.join(", ") }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn names(names: &[&str]) -> Vec<String> {
        names.iter().map(|name| (*name).to_owned()).collect()
    }

    #[test]
    fn names_become_unique_without_taking_anothers() {
        let mut warnings = Vec::new();
        let made = unique(names(&["a", "A", "", "a_2", "a", "column_3"]), &mut warnings);
        assert_eq!(made[0], "a");
        assert_eq!(made[3], "a_2");
        assert_eq!(made[5], "column_3");
        let lower: std::collections::HashSet<String> =
            made.iter().map(|name| name.to_lowercase()).collect();
        assert_eq!(lower.len(), made.len(), "{made:?}");
        assert_eq!(warnings.len(), 3);
    }

    #[test]
    fn later_inputs_may_order_their_columns_otherwise() {
        assert_eq!(order(&names(&["a", "b"]), &names(&["B", "a"]), "x").unwrap(), vec![1, 0]);
        assert!(
            order(&names(&["a", "b"]), &names(&["a", "c"]), "x")
                .unwrap_err()
                .what()
                .contains("missing: b; more: c")
        );
        assert!(order(&names(&["a", "b"]), &names(&["a"]), "x").is_err());
    }

    #[test]
    fn skipped_lines_and_byte_order_marks_come_off() {
        assert_eq!(body_start(b"\xef\xbb\xbfa,b\n", 0), 3);
        assert_eq!(body_start(b"x\r\ny\nz", 2), 5);
        assert_eq!(body_start(b"x", 3), 1);
    }
}
