//! Inputs, opened as often as they have to be read.

use std::borrow::Cow;
use std::io::{self, Read};
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering::Relaxed};
use std::sync::{Arc, Mutex, PoisonError};
use std::thread;

use encoding_rs::{Encoding, UTF_8};
use inrush_scan::{Dialect, Scanner};

use crate::columns;
use crate::decode::BeyondAscii;
use crate::format::{self, Layout};
use crate::head::{self, Head, lead, read_head};
use crate::infer::{Observed, Surveyor};
use crate::sample::Sampled;
use crate::{
    Compression, Place, apart, decode, footer, header, json, quoting, separator_line, shapes,
    sniff, text,
};
use inrush_core::encode::{self, Encode, EncodeRow, Grammar, Shape, ShapeColumn};
use inrush_core::error::{Error, Result};
use inrush_core::flow::Feeder;
use inrush_core::flow::{Meter, Point};
use inrush_core::reading::{ColumnReads, Readers, Reading};
use inrush_core::wording::shell_word;
use inrush_core::{DialectRequest, FieldFacts, Nulls, ReadFacts, SourceFacts, Type};
use inrush_place::cannot_open;
use inrush_place::{Bounded, Refusal};
use inrush_store::Fault;
use inrush_store::Pipe;
use inrush_store::{Stop, watched};

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
    /// Where that is UTF-8, what its first bytes beyond ASCII are, those of columns of bytes aside.
    pub beyond_ascii: BeyondAscii,
    /// Whether its first bytes have fields that are quoted as they should be, and as many of them as others: without quotes each would be
    /// another value.
    pub is_quoted: bool,
    /// Whether its first bytes have backslashes in fields without quotes, which an escape would take as well.
    pub has_bare_escapes: bool,
    /// Its size as stored, of a part of it that part's; `None` for a pipe.
    pub bytes_stored: Option<u64>,
    /// Where its data begins in the decoded text: after byte order mark, skipped lines and header.
    pub body_at: u64,
    /// Where they end there; `None` for the input's end.
    pub body_end: Option<u64>,
    /// Physical lines before its data.
    pub lines_before: u64,
    /// Records before it, which others read.
    pub records_before: u64,
    /// The line that says what separates fields, verbatim with its terminator; empty without one, or where the user says otherwise.
    pub separator_line: Vec<u8>,
    /// The header, verbatim with its terminator; empty without one.
    pub header: Vec<u8>,
}

/// Everything that is read in one load.
#[derive(Debug)]
pub struct Source {
    /// In the order they are loaded.
    pub inputs: Vec<Input>,
    /// How all of them are written.
    pub grammar: Grammar,
    /// How values are read.
    pub(super) read: Readers,
    /// What of that concerns each of the first input's fields; none where nothing does.
    pub reads: Vec<Option<Arc<ColumnReads>>>,
    /// Spellings of NULL besides the empty unquoted field, by the first input's fields.
    pub nulls: Nulls,
    /// Whether the first record names the columns.
    pub header: bool,
    /// Which of the fields of delimited text are bytes, and need not be UTF-8; none where no column is.
    pub(super) bytes: Vec<bool>,
    /// Whether fields of structs are fields of their own, where inputs are columns.
    pub(super) flatten: bool,
    /// For each input, the position of each of the source's fields; `None` where it does not have one.
    pub orders: Vec<Vec<Option<usize>>>,
    /// For each input, how many fields a record has.
    pub widths: Vec<usize>,
    /// Where inputs are columns, what each says of them.
    pub(super) tables: Vec<columns::Table>,
    /// The one pipe among the inputs, until it is read.
    pub(super) pipe: Mutex<Option<Pipe>>,
    /// Set once the user stops it from being opened; each pass over it has a flag of its own.
    pub(super) abandoned: Stop,
}

impl Source {
    /// Whether its rows are a program's.
    pub fn is_of_program(&self) -> bool {
        self.inputs.first().is_some_and(|input| matches!(input.place, Place::Rows))
    }

    /// Whether the types of a program's rows are those of the first ones, so that it may begin again with others.
    pub fn is_guess(&self) -> bool {
        self.tables.iter().any(columns::Table::is_guess)
    }

    /// For each input, its encoding, where that is another one than UTF-8.
    pub fn decoded(&self) -> Vec<Option<&'static str>> {
        let other =
            |input: &Input| (!decode::is_utf8(input.encoding)).then(|| input.encoding.name());
        self.inputs.iter().map(other).collect()
    }

    /// For each input of delimited text its line of names, without its end; empty where it has none.
    pub fn header_lines(&self) -> Vec<Vec<u8>> {
        let line = |input: &Input| match self.grammar {
            Grammar::Delimited(_) => {
                let line = input.header.strip_suffix(b"\n").unwrap_or(&input.header);
                line.strip_suffix(b"\r").unwrap_or(line).to_vec()
            }
            Grammar::Json(_) | Grammar::Columns => Vec::new(),
        };
        self.inputs.iter().map(line).collect()
    }

    /// Whether its rows are those of sheets.
    pub(super) fn is_of_sheets(&self) -> bool {
        self.inputs.iter().all(|input| matches!(input.place, Place::Sheet(_)))
    }

    /// Opens and looks at every input. `known` are the columns of the table, if it is there: they help to tell a header.
    pub fn open(
        places: &[Place],
        request: &DialectRequest,
        read: &Readers,
        known: Option<&[String]>,
        stop: &AtomicBool,
    ) -> Result<(Self, SourceFacts)> {
        let abandoned = Stop::default();
        let opened = watched(stop, &abandoned, || {
            ask_side_by_side(places, &abandoned);
            Self::open_places(places, request, read, known, &abandoned)
        });
        let (source, mut facts) = opened?;
        facts.memory_bytes += places.iter().map(Place::memory_bytes).sum::<u64>();
        Ok((source, facts))
    }

    fn open_places(
        places: &[Place],
        request: &DialectRequest,
        read: &Readers,
        known: Option<&[String]>,
        stop: &Stop,
    ) -> Result<(Self, SourceFacts)> {
        let abandoned = Arc::clone(stop);
        let mut pipe = None;
        for place in places.iter().filter(|place| !place.can_be_reread()) {
            if pipe.replace(place.pipe(&abandoned)?).is_some() {
                return Err(Error::usage(
                    "only one of the sources can be a pipe or standard input",
                ));
            }
        }
        let mut layouts = Vec::new();
        for place in places {
            let layout = format::layout(place, request, &mut pipe, stop)
                .map_err(|error| error.in_input(&place.name()))?;
            layouts.push((place.clone(), layout));
        }
        let is_text = |(_, layout): &&(Place, Layout)| *layout == Layout::Text;
        match (layouts.iter().find(is_text), layouts.iter().find(|layout| !is_text(layout))) {
            (_, None) => Self::open_text(places, request, read, known, pipe, abandoned),
            (None, _) => Self::open_columns(&layouts, request, read, known, pipe, abandoned),
            (Some((text, _)), Some((place, layout))) => {
                let error = Error::source(format!(
                    "{} is {}, and {} is text",
                    place.name(),
                    layout.words(),
                    text.name()
                ));
                let of_kind = |is_kind: bool| -> Vec<&Place> {
                    let fitting = layouts.iter().filter(|layout| is_text(layout) == is_kind);
                    fitting.map(|(place, _)| place).collect()
                };
                Err(match apart::advice(&of_kind(false), &of_kind(true)) {
                    Some(advice) => error.advise(advice),
                    None => error,
                }
                .advise("load them one by one"))
            }
        }
    }

    /// Opens inputs of text.
    fn open_text(
        places: &[Place],
        request: &DialectRequest,
        read: &Readers,
        known: Option<&[String]>,
        mut pipe: Option<Pipe>,
        abandoned: Stop,
    ) -> Result<(Self, SourceFacts)> {
        let request = &DialectRequest { blanks: read.trims(), ..request.clone() };
        let mut heads = Vec::new();
        for place in places {
            let head = read_head(place, request, pipe.as_mut(), &abandoned);
            heads.push(head.map_err(|error| error.in_input(&place.name()))?);
        }
        for head in &heads {
            let (input, whole) = (&head.input, head.whole);
            shapes::refuse(&input.name, head.body(), whole, request, &input.place.extension())?;
        }
        let layout = |head: &Head| {
            json::layout(head.body(), head.whole, request, &head.input.place.extension())
        };
        let layouts: Vec<_> = heads.iter().map(layout).collect();
        let is_json = layouts[0].is_some();
        if let Some(other) = layouts.iter().position(|layout| layout.is_some() != is_json) {
            let (json, text) = if is_json { (0, other) } else { (other, 0) };
            let mut error = Error::source(format!(
                "{} is JSON, and {} is not",
                heads[json].input.name, heads[text].input.name
            ));
            let told = heads.iter().find(|head| head.input.name.contains(".rejects."));
            if let Some(told) = told {
                error = error.advise(format!(
                    "leave out the files of an earlier load's bad rows, such as {}",
                    told.input.name
                ));
            }
            let of_kind = |is_kind: bool| -> Vec<&Place> {
                let kinds = heads.iter().zip(&layouts);
                let fitting = kinds.filter(|(_, layout)| layout.is_some() == is_kind);
                fitting.map(|(head, _)| &head.input.place).collect()
            };
            if let Some(advice) = apart::advice(&of_kind(false), &of_kind(true)) {
                error = error.advise(advice);
            }
            return Err(error.advise("load them one by one, or say what they are with --format"));
        }
        if let Some(layouts) = layouts.into_iter().collect::<Option<Vec<_>>>() {
            return Self::open_json(heads, layouts, request, read, known, pipe, abandoned);
        }
        if request.flatten {
            return Err(nothing_to_flatten(&heads[0].input.name, "delimited text")
                .advise("leave it out, or say --format jsonl if it is JSON"));
        }
        let mut reasons = Vec::new();
        let mut warnings = head::notes(&heads);
        let lead = lead(&heads, request);
        let first = &heads[lead];
        let said = separator_line::said(first, request, &mut reasons)?;
        let extension = first.input.place.extension();
        let sniffed = sniff::dialect(first.body(), first.whole, request, said, &extension)
            .map_err(|error| Error::usage(error.to_string()))?;
        reasons.extend(sniffed.reasons);
        warnings.extend(sniffed.warnings);
        if sniffed.is_spaced && !read.trims() {
            warnings.push(
                "a blank stands behind each delimiter, and is part of the value (--trim leaves it out)"
                    .to_owned(),
            );
        }
        let dialect = sniffed.dialect;
        let reads_null = |word: &str| {
            let is_word = |null: &String| {
                null.strip_suffix(word)
                    .is_some_and(|column| column.is_empty() || column.ends_with('='))
            };
            read.nulls.iter().any(is_word)
        };
        let lost = |head: &Head| sniff::lost_escapes(&head.text, &dialect, reads_null("\\N"));
        warnings.extend(heads.iter().find_map(lost));
        for head in &heads[lead + 1..] {
            if memchr::memchr2(b'\n', b'\r', &head.text).is_some()
                && sniff::newline(&head.text) != dialect.newline
            {
                return Err(Error::source(format!(
                    "{} ends its lines otherwise than {}",
                    head.input.name, heads[lead].input.name
                ))
                .advise("load them one by one: a lone carriage return ends lines in one of them"));
            }
        }
        for head in &mut heads {
            let body = head.body();
            if sniff::doubles_cr(body) {
                return Err(Error::source(format!(
                    "{}: lines end in two carriage returns and a newline",
                    head.input.name
                ))
                .advise("convert the file first: sed 's/\\r\\r$/\\r/' takes one of them out")
                .advise("Python's csv module writes no such files where they are opened with newline=''"));
            }
            if sniff::ends_records_in_ascii(body, head.whole, &dialect) {
                return Err(Error::source(format!(
                    "{}: U+001E stands between rows, as in .mode ascii of sqlite3, and newlines do not",
                    head.input.name
                ))
                .advise(
                    "have it written otherwise (sqlite3 -csv -header), or convert it, if its values have no tabs and newlines: tr '\\036\\037' '\\n\\t'",
                ));
            }
            if sniff::mixes_line_ends(body, &dialect) {
                return Err(Error::source(format!(
                    "{}: lines end in lone carriage returns, and some in newlines",
                    head.input.name
                ))
                .advise(format!(
                    "convert the file first: {} makes newlines of all",
                    sniff::TO_NEWLINES
                )));
            }
            separator_line::keep(head, dialect.delimiter, request)?;
            if head.whole && footer::ends_as_dos(&head.text) {
                warnings.push(format!(
                    "{}: the last value ends in U+001A, which is how DOS ended its files: tr -d '\\032' leaves it out",
                    head.input.name
                ));
            }
            if head.whole && sniff::ends_in_half(&head.text, &dialect) {
                warnings.push(format!(
                    "{}: the file ends in the middle of its last line end, and the CR is part of the last value: fetch the file again",
                    head.input.name
                ));
            }
        }

        let mut source = Source {
            inputs: Vec::new(),
            grammar: Grammar::Delimited(dialect.clone()),
            read: read.clone(),
            reads: Vec::new(),
            nulls: Nulls::default(),
            header: false,
            bytes: Vec::new(),
            flatten: false,
            orders: Vec::new(),
            widths: Vec::new(),
            tables: Vec::new(),
            pipe: Mutex::new(pipe),
            abandoned,
        };
        let names = source.find_header(
            &mut heads,
            &dialect,
            request,
            known,
            &mut reasons,
            &mut warnings,
        )?;
        if let (true, [name], Some(known)) = (source.header, names.as_slice(), known)
            && known.contains(name)
        {
            warnings.retain(|note| Some(note) != sniffed.one_column.as_ref());
        }
        if names.len() == 1 {
            let footers = heads.iter().filter(|head| head.whole).filter_map(|head| {
                let footer = footer::at_end(head.body())?;
                let (name, advice) = (&head.input.name, footer::footer_advice(footer));
                Some(format!("{name} ends in a row {footer}, as it seems: {advice}"))
            });
            warnings.extend(footers);
        }
        warnings.extend(sniff::stray_quotes(heads[lead].body(), &dialect, source.header));
        for head in &mut heads {
            let (body, whole) = (head.body(), head.whole);
            let is_quoted = quoting::is_sound(body, whole, &dialect);
            let has_bare_escapes = quoting::has_bare_escapes(body, whole, &dialect);
            (head.input.is_quoted, head.input.has_bare_escapes) = (is_quoted, has_bare_escapes);
        }
        source.bytes = read.are_bytes(&names);
        let unnamed = source.header.then(|| {
            let head = &heads[lead];
            let body_at = (head.input.body_at as usize).min(head.text.len());
            // Comments, lines that are skipped and one that says what separates fields among them.
            let through_header = source.grammar.lines(&head.text[..body_at]);
            header::lacks_a_name(head, &dialect, source.widths[lead], through_header)
        });
        let unnamed = unnamed.flatten();
        warnings.extend(unnamed.clone());
        source.nulls = read.nulls_of(names.iter().map(String::as_str));
        source.reads = names.iter().map(|name| read.column(name)).collect();
        source.inputs = heads.iter().map(|head| head.input.clone()).collect();
        let Sampled { seen, proposals, row_bytes, rows, bad } =
            source.sample(&heads, &dialect, names.len())?;
        let of_lead =
            &heads[lead].text[(heads[lead].input.body_at as usize).min(heads[lead].text.len())..];
        let hex = sniff::hex(of_lead, &dialect, source.widths[lead]);
        let field_of = |column: usize| match source.orders.get(lead) {
            Some(order) => order.get(column).copied().flatten(),
            None => Some(column),
        };
        let is_hex = |column: usize| field_of(column).and_then(|at| hex.get(at)) == Some(&true);
        let fields: Vec<FieldFacts> = names
            .into_iter()
            .zip(seen)
            .zip(proposals)
            .enumerate()
            .map(|(at, ((name, seen), proposal))| FieldFacts {
                written: None,
                added: None,
                name,
                ty: seen.ty(),
                spoiler: seen.spoiler(&source.inputs),
                is_declared: false,
                is_settled: false,
                moments: seen.moments(&source.inputs),
                reads: ReadFacts {
                    is_hex: is_hex(at),
                    ..seen.reads(&source.inputs).proposing(proposal)
                },
            })
            .collect();
        let is_plain_text = |field: usize| {
            fields.get(field).is_some_and(|it| it.ty == Type::Text && it.spoiler.is_none())
        };
        warnings.extend(sniff::dumped(of_lead, &dialect, request, reads_null, is_plain_text));
        let unmatched = |null: &String| sniff::unmatched_null(null, of_lead, &dialect);
        warnings.extend(read.nulls.iter().filter_map(unmatched));
        for input in &source.inputs {
            let named = request.encoding.is_some();
            if input.encoding != UTF_8 && !named {
                reasons.push(format!("{} is in {}", input.name, input.encoding.name()));
            }
        }
        for (index, head) in heads.iter().enumerate() {
            // What is to be bytes is no text of any encoding.
            let is_open = decode::is_utf8(head.input.encoding);
            if !is_open {
                continue;
            }
            let beyond_ascii = BeyondAscii::of(&source.without_bytes(head, &dialect));
            source.inputs[index].beyond_ascii = beyond_ascii;
            let Some(words) = head.input.encoding_words(beyond_ascii) else { continue };
            let loaded = read.columns.apply(&mut fields.clone(), |_| Type::Text).ok().flatten();
            let column = |field: usize| match source.orders.get(index) {
                Some(order) => order.iter().position(|at| *at == Some(field)),
                None => Some(field),
            };
            let is_loaded = |field: usize| {
                column(field).is_some_and(|at| {
                    loaded.as_ref().is_none_or(|loaded| loaded.contains(&at))
                        && !source.bytes.get(at).copied().unwrap_or(false)
                })
            };
            if let Some(at) = malformed(head, &dialect, is_loaded) {
                let (line, byte) = (source.grammar.lines(&head.text[..at]) + 1, head.text[at]);
                warnings.push(format!(
                    "{}: line {line} is not UTF-8 (byte {byte:#04x}), so it is a bad row ({words})",
                    head.input.name
                ));
            }
        }
        let bytes = source.inputs.iter().map(|input| input.bytes_stored).sum();
        let seekable = source.inputs.iter().all(|input| input.place.can_be_reread());
        let facts = SourceFacts {
            fields,
            taken: None,
            case: read.columns.case,
            header: source.header,
            header_is_detected: true,
            reasons,
            warnings,
            title: sniffed.widths.or(unnamed),
            bytes,
            row_bytes,
            rows_seen: rows,
            rows_bad: bad,
            seekable,
            is_delimited: true,
            is_typed: false,
            is_surveyed: false,
            is_intolerant: false,
            repeats: Arc::default(),
            orphans: Arc::default(),
            memory_bytes: 0,
            chunks_ahead: 0,
            plain_files: None,
        };
        Ok((source, facts))
    }

    /// An input's head in which columns of bytes hold none beyond ASCII; offsets stay.
    fn without_bytes<'h>(&self, head: &'h Head, dialect: &Dialect) -> Cow<'h, [u8]> {
        if !self.bytes.contains(&true) || str::from_utf8(&head.text).is_ok() {
            return Cow::Borrowed(&head.text);
        }
        let at = (head.input.body_at as usize).min(head.text.len());
        let mut text = head.text.clone();
        let (_, body) = text.split_at_mut(at);
        let mut scanner = Scanner::new(dialect, &head.text[at..]);
        let mut fields = Vec::new();
        while scanner.next(&mut fields).is_some() {
            let are_bytes = self.bytes.iter().zip(&fields).filter(|(are_bytes, _)| **are_bytes);
            for (_, field) in are_bytes {
                let value = &mut body[field.start as usize..field.end as usize];
                value.iter_mut().filter(|byte| !byte.is_ascii()).for_each(|byte| *byte = b'?');
            }
        }
        Cow::Owned(text)
    }

    /// Nothing seen yet of so many columns.
    pub(super) fn unseen(&self, width: usize) -> Vec<Observed> {
        let reads = |at: usize| self.reads.get(at).and_then(Option::as_ref);
        (0..width).map(|at| Observed::of(reads(at))).collect()
    }

    /// An encoder that only looks at the values' types and adds what it saw to `total`, one entry a field.
    pub(super) fn surveyor(&self, total: &Arc<Mutex<Vec<Observed>>>) -> Box<dyn Encode> {
        let width = total.lock().unwrap_or_else(PoisonError::into_inner).len();
        let quote = self.grammar.dialect().and_then(|dialect| dialect.quote);
        self.looker(width, Surveyor::new(quote, Arc::clone(total)))
    }

    /// An encoder of so many columns that are looked at as they are.
    pub(super) fn looker(&self, width: usize, row: impl EncodeRow + 'static) -> Box<dyn Encode> {
        let (fields, widths) = match self.orders.is_empty() {
            true => (vec![(0..width).map(Some).collect()], vec![width]),
            false => (self.orders.clone(), self.widths.clone()),
        };
        let columns = (0..width)
            .map(|n| ShapeColumn {
                name: n.to_string(),
                pinned: true,
                strict: false,
                // What has a type is looked at as it is, bytes among it.
                bytes: self.grammar.form() == "columns"
                    || self.bytes.get(n).copied().unwrap_or(false),
                typed: true,
                is_textual: true,
                is_document: false,
                is_list: false,
                reading: Reading::trim(self.reads.get(n).and_then(Option::as_ref)),
                added: None,
                refuses_null: false,
                foreseen: Default::default(),
            })
            .collect();
        let shape = Shape {
            grammar: self.grammar.clone(),
            nulls: self.nulls.clone(),
            widths,
            fields,
            decoded: self.decoded(),
            headers: vec![],
            columns,
            // Who looks at values leaves those with one out.
            nul_fault: None,
            found_max: u64::MAX,
        };
        encode::encoder(Arc::new(shape), row)
    }

    /// Feeds every input into the pipeline, in order, as chunks of about `chunk_bytes`: what comes behind `from`.
    pub fn feed(
        &self,
        chunk_bytes: usize,
        from: &Point,
        meter: &Meter,
        feeder: &mut dyn Feeder,
    ) -> Result<()> {
        match self.grammar {
            Grammar::Delimited(_) | Grammar::Json(_) => {
                text::feed(self, chunk_bytes, from, meter, feeder)
            }
            Grammar::Columns => columns::feed(self, chunk_bytes, from, meter, feeder),
        }
    }

    /// How many rows an input says that it holds, where it says so.
    pub fn rows_of(&self, file: usize) -> Option<u64> {
        self.tables.get(file).and_then(columns::Table::rows)
    }

    /// The text of one input from its first data record on. Bytes taken from storage are counted in `meter`; who waits for them gives up
    /// once `stop` is set.
    pub fn open_body<'a>(
        &self,
        file: usize,
        meter: &'a Meter,
        stop: &Stop,
    ) -> Result<Box<dyn Read + Send + 'a>> {
        self.open_at(file, self.inputs[file].body_at, meter, stop)
    }

    /// The same from a byte of the decoded text on. What is compressed, or in another encoding, is read up to there.
    pub(super) fn open_at<'a>(
        &self,
        file: usize,
        byte: u64,
        meter: &'a Meter,
        stop: &Stop,
    ) -> Result<Box<dyn Read + Send + 'a>> {
        let input = &self.inputs[file];
        let mut reader: Box<dyn Read + Send + 'a> = match &input.place {
            place if place.can_be_reread() => {
                let is_plain = input.compression.is_none() && decode::is_utf8(input.encoding);
                let from = if is_plain { byte } else { 0 };
                let raw = place.open(from, stop);
                let raw = raw.map_err(|error| cannot_open(&input.name, &error))?;
                if is_plain {
                    meter.add_stored(byte - input.body_at);
                    let length = input.body_end.map_or(u64::MAX, |end| end.saturating_sub(byte));
                    return Ok(Box::new(Counted { input: raw.take(length), meter }));
                }
                layers(Box::new(Counted { input: raw, meter }), input)?
            }
            _ => {
                let pipe = self.pipe.lock().unwrap_or_else(PoisonError::into_inner).take();
                let Some(pipe) = pipe.map(|pipe| pipe.until(stop)) else {
                    return Err(Error::source(format!("{} can be read only once", input.name))
                        .about(&input.name)
                        .advise("save it to a file first"));
                };
                layers(Box::new(Counted { input: pipe, meter }), input)?
            }
        };
        io::copy(&mut reader.by_ref().take(byte), &mut io::sink())
            .map_err(|error| input.read_error(&error))?;
        Ok(reader)
    }
}

impl Input {
    /// An input that is read as it is.
    pub(super) fn plain(place: &Place) -> Self {
        Self {
            name: place.name(),
            place: place.clone(),
            compression: None,
            encoding: UTF_8,
            beyond_ascii: BeyondAscii::default(),
            is_quoted: false,
            has_bare_escapes: false,
            bytes_stored: place.regular_bytes(),
            body_at: 0,
            body_end: None,
            lines_before: 0,
            records_before: 0,
            separator_line: Vec::new(),
            header: Vec::new(),
        }
    }

    /// What to say of its encoding, where bytes beyond ASCII are not of UTF-8: what its server says of it, or else what they look like.
    pub fn encoding_words(&self, beyond: BeyondAscii) -> Option<Cow<'static, str>> {
        let words = beyond.words();
        let charset = match &self.place {
            Place::Stored(stored) => stored.charset(),
            _ => None,
        };
        let is_other =
            |label: &String| decode::by_label(label).is_ok_and(|named| !decode::is_utf8(named));
        match charset.filter(is_other) {
            Some(label) if words.is_some() || beyond.is_of_another() => Some(Cow::Owned(format!(
                "its server says that it is in {label}: --encoding {} reads that",
                shell_word(&label)
            ))),
            _ => words.map(Cow::Borrowed),
        }
    }

    /// What a failed read means, in words.
    pub fn read_error(&self, error: &io::Error) -> Error {
        let error = match self.compression {
            _ if Refusal::within(error).is_some() || Fault::within(error).is_some() => {
                cannot_open(&self.name, error)
            }
            None if error.kind() == io::ErrorKind::UnexpectedEof => {
                Error::source(format!("{}: ends in the middle", self.name))
                    .advise("fetch the file again: it is incomplete")
            }
            Some(compression) if error.kind() == io::ErrorKind::UnexpectedEof => {
                Error::source(format!(
                    "{}: the {} data ends in the middle, or something else follows it",
                    self.name,
                    compression.name()
                ))
                .advise("fetch the file again if it is incomplete, or cut off what follows")
            }
            Some(compression) if error.raw_os_error().is_none() => Error::source(format!(
                "{}: the {} data is damaged: {error}",
                self.name,
                compression.name()
            ))
            .advise("fetch the file again"),
            _ => cannot_open(&self.name, error),
        };
        error.about(&self.name)
    }
}

/// The error to say that an input has no values that `--flatten` is for; `words` are what it is.
pub(super) fn nothing_to_flatten(name: &str, words: &str) -> Error {
    Error::usage(format!("--flatten is for nested values, and {name} is {words}"))
}

/// Where a value of a row begins that is not UTF-8, in a column that `is_loaded`: the byte's place in the head.
fn malformed(head: &Head, dialect: &Dialect, is_loaded: impl Fn(usize) -> bool) -> Option<usize> {
    let body_at = (head.input.body_at as usize).min(head.text.len());
    let body = &head.text[body_at..];
    let mut scanner = Scanner::new(dialect, body);
    let mut fields = Vec::new();
    while scanner.next(&mut fields).is_some() {
        let mut loaded = fields.iter().enumerate().filter(|(at, _)| is_loaded(*at));
        let found = loaded.find_map(|(_, field)| {
            let start = field.start as usize;
            let value = &body[start..field.end as usize];
            str::from_utf8(value).err().map(|error| body_at + start + error.valid_up_to())
        });
        if found.is_some() {
            return found;
        }
    }
    None
}

/// Asks for the first bytes of several inputs that something else keeps, for each answer takes its time. What fails does so again where
/// it is looked at.
fn ask_side_by_side(places: &[Place], stop: &Stop) {
    const THREADS_MAX: usize = 8;
    let is_stored = |place: &&Place| matches!(place, Place::Stored(_));
    let stored: Vec<&Place> = places.iter().filter(is_stored).collect();
    if stored.len() < 2 {
        return;
    }
    let next = AtomicUsize::new(0);
    thread::scope(|scope| {
        for _ in 0..stored.len().min(THREADS_MAX) {
            let ask = || {
                while let Some(place) = stored.get(next.fetch_add(1, Relaxed))
                    && place.begin(stop).is_ok()
                {}
            };
            // What is not asked for now is where it is looked at.
            let _ = thread::Builder::new().spawn_scoped(scope, ask);
        }
    });
}

/// Decompression and decoding around raw bytes.
fn layers<'a>(raw: Box<dyn Read + Send + 'a>, input: &Input) -> Result<Box<dyn Read + Send + 'a>> {
    let plain = match input.compression {
        Some(compression) => {
            let plain = compression.open(raw).map_err(|error| input.read_error(&error))?;
            match input.place.limit() {
                Some(limit) => Box::new(Bounded::new(plain, limit)),
                None => plain,
            }
        }
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
