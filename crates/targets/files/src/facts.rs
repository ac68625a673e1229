//! What there is to know of a file before a load.

use std::fs::File;
use std::io::{self, Read};

use inrush_scan::{Form, Scanner, unescape};

use crate::form;
use crate::json::JsonRow;
use crate::packing::Packing;
use crate::parquet;
use crate::place::{Format, Place};
use crate::read;
use inrush_core::Basis;
use inrush_core::error::{Error, Result};
use inrush_core::value::double::Specials;
use inrush_core::wording::shell_word;
use inrush_core::{
    Column, IfExists, MomentLimits, OnConflict, Own, Request, TableFacts, TargetFacts, Type, Verify,
};

/// What only this target knows: how the file is written.
#[derive(Debug, Default)]
pub(super) struct FileFacts {
    /// As what.
    pub(super) format: Option<Format>,
    pub(super) packing: Option<Packing>,
    /// What the rows of an existing JSON Lines file are, in the words of [`crate::knobs::ROWS`]; `None` where they differ.
    pub(super) rows: Option<&'static str>,
    /// What it is, where rows can't be added to such a file.
    unfit: Option<Unfit>,
}

/// What a file is to which no rows can be added.
#[derive(Debug)]
struct Unfit {
    /// In words that follow its name.
    what: String,
    /// Whether it can be loaded into a file of its own.
    is_source: bool,
}

impl FileFacts {
    pub(super) fn of(facts: &TargetFacts) -> &Self {
        facts.own.get()
    }

    /// Of a file of which nothing but its name is known.
    fn bare(place: &Place) -> Self {
        Self { format: Some(place.format), packing: place.packing(), ..Self::default() }
    }
}

/// The facts of a file.
///
/// # Errors
/// When it can't be the target of this load.
pub(super) fn gather(place: &Place, request: &Request) -> Result<TargetFacts> {
    let shown = place.path.display();
    if place.format == Format::Arrow && !place.is_stdout() {
        return Err(Error::usage("an Arrow stream goes to standard output only: arrow:-")
            .advise(format!("send it there: arrow:- > {}", shell_word(&shown.to_string())))
            .advise("or name a Parquet file"));
    }
    form::check_name(place)?;
    let wants_keys = !request.primary_key.is_empty()
        || !request.key.is_empty()
        || !request.indexes.is_empty()
        || request.on_conflict != OnConflict::Fail;
    if wants_keys {
        return Err(Error::usage(format!("{} has no keys and no indexes", place.format.a()))
            .advise("leave --primary-key, --key, --index and --on-conflict out"));
    }
    if place.is_stdout() {
        return stream(place, request);
    }
    // What is replaced may be damaged, or something else.
    let mut facts = match request.if_exists {
        IfExists::Replace | IfExists::Fail => outside(place)?,
        IfExists::Empty | IfExists::Append | IfExists::Truncate => read(place)?,
    };
    let Some(table) = &facts.table else {
        return match request.if_exists {
            IfExists::Fail if facts.exists => Err(is_there(place)),
            IfExists::Append | IfExists::Truncate => Err(missing(place, facts.exists, request)),
            _ => Ok(facts),
        };
    };
    match request.if_exists {
        IfExists::Fail => return Err(is_there(place)),
        IfExists::Empty if table.holds_rows => {
            let append = "--if-exists append adds the new rows to them";
            check(place, &facts, table).map_err(|error| error.advise("name another file"))?;
            return Err(Error::target(format!("{shown} holds rows already"))
                .advise(table.way_out.as_deref().unwrap_or(append))
                .advise("--if-exists replace puts a new file in its place")
                .advise("name another file"));
        }
        // What it holds is nobody's business then, and may be no table at all.
        IfExists::Replace => {
            facts.table = Some(TableFacts { columns: Vec::new(), ..table.clone() })
        }
        IfExists::Empty | IfExists::Append | IfExists::Truncate => check(place, &facts, table)?,
    }
    Ok(facts)
}

fn missing(place: &Place, exists: bool, request: &Request) -> Error {
    let what = if exists { "is empty" } else { "does not exist" };
    Error::target(format!(
        "{} {what}, and --if-exists {} is for a file that holds rows",
        place.path.display(),
        request.if_exists
    ))
    .advise("check the name, or leave --if-exists out: then the load makes the file")
}

fn is_there(place: &Place) -> Error {
    Error::target(format!("{} already exists", place.path.display()))
        .advise("--if-exists fail asks for this error; leave it out, or name another file")
}

/// The facts of standard output.
fn stream(place: &Place, request: &Request) -> Result<TargetFacts> {
    let wrong = |what: &str| {
        Err(Error::usage(format!("{what}: rows on standard output are out as they come"))
            .advise("load into a file instead"))
    };
    match () {
        () if place.format == Format::Parquet => wrong("a Parquet file is whole or none"),
        () if request.verify == Verify::Checksum => {
            wrong("--verify checksum reads back what was written")
        }
        () if !matches!(request.if_exists, IfExists::Empty | IfExists::Fail) => {
            wrong(&format!("--if-exists {} is for what is there already", request.if_exists))
        }
        () => Ok(TargetFacts { is_stream: true, ..bare(place) }),
    }
}

/// The facts of a file, whatever it holds.
fn outside(place: &Place) -> Result<TargetFacts> {
    let found = place.found()?;
    let holds_any = found.as_ref().is_some_and(|found| found.len() > 0);
    Ok(TargetFacts {
        exists: found.is_some(),
        table: holds_any.then(TableFacts::default),
        ..bare(place)
    })
}

/// What holds for every file of a format.
fn bare(place: &Place) -> TargetFacts {
    TargetFacts {
        engine: place.format.a(),
        // More than any line has.
        columns_max: u32::MAX as usize,
        name_fault: None,
        moments: match place.format {
            Format::Csv | Format::Jsonl => MomentLimits::default(),
            Format::Parquet | Format::Arrow => {
                MomentLimits { nanos: true, nanos_zoned: true, ..MomentLimits::of(6) }
            }
        },
        // JSON's numbers are none of these.
        specials: match place.format {
            Format::Jsonl => Specials::None,
            Format::Csv | Format::Parquet | Format::Arrow => Specials::All,
        },
        text_types: match place.format {
            Format::Csv | Format::Jsonl => &[],
            Format::Parquet | Format::Arrow => &[Type::Time],
        },
        own: Own::new(FileFacts::bare(place)),
        ..TargetFacts::default()
    }
}

/// The facts of the file as it is now.
pub(super) fn read(place: &Place) -> Result<TargetFacts> {
    let mut facts = outside(place)?;
    if facts.table.take().is_none() {
        return Ok(facts);
    }
    let file = File::open(&place.path).map_err(|error| place.read_error(&error))?;
    let mut own = FileFacts::bare(place);
    let mut table = None;
    match place.format {
        Format::Csv | Format::Jsonl => {
            let fail = |error| place.read_error(&error);
            let (text, unfit) = text_of(place, file).map_err(fail)?;
            match unfit {
                Some(unfit) => {
                    own.unfit = Some(unfit);
                    table = Some(TableFacts { holds_rows: true, ..TableFacts::default() });
                }
                None => table = read_text(place, text, &mut own)?,
            }
        }
        Format::Parquet => table = Some(parquet::facts(place, &file)?),
        // Never a file, see [`gather`].
        Format::Arrow => {}
    }
    (facts.table, facts.own) = (table, Own::new(own));
    Ok(facts)
}

/// The text of a file, or what it is instead.
fn text_of(place: &Place, file: File) -> io::Result<(Box<dyn Read>, Option<Unfit>)> {
    let (head, file) = beginning(file)?;
    if let Some(packing) = place.packing().filter(|packing| !head.starts_with(packing.magic())) {
        let what = format!("is not compressed by {}, as it is called", packing.name());
        return Ok((Box::new(file), Some(Unfit { what, is_source: true })));
    }
    let (head, text) = beginning(place.text(file)?)?;
    let unfit = form::no_text(&head)
        .map(|(what, is_source)| Unfit { what: format!("is {what}"), is_source });
    Ok((Box::new(text), unfit))
}

/// The first bytes, and all of them again.
fn beginning(mut input: impl Read + 'static) -> io::Result<(Vec<u8>, impl Read + 'static)> {
    let mut head = Vec::new();
    input.by_ref().take(form::MAGIC_BYTES as u64).read_to_end(&mut head)?;
    Ok((head.clone(), io::Cursor::new(head).chain(input)))
}

/// The columns of a file of text; `None` where it holds nothing.
fn read_text(place: &Place, text: impl Read, own: &mut FileFacts) -> Result<Option<TableFacts>> {
    if place.format == Format::Csv {
        let mut table = None;
        read::chunks(place, text, |bytes| Ok(read_csv(bytes, &mut table)))?;
        if let Some(table) = &mut table
            && let [column] = table.columns.as_slice()
            && let Some(separator) = form::separator(&column.name)
        {
            let shown = place.path.display();
            let said = shell_word(&shown.to_string());
            table.way_out = Some(format!(
                "{shown} seems to separate fields by {separator}, and rows are added with commas: \
                 inrush load {said} csv:NEW.csv makes a file with commas of it"
            ));
        }
        return Ok(table);
    }
    let mut seen = JsonColumns::default();
    read::chunks(place, text, |bytes| {
        if seen.rows == 0 && form::is_array_of_rows(bytes) {
            let what = "holds one array of JSON, and no row in each line".to_owned();
            own.unfit = Some(Unfit { what, is_source: true });
        }
        read::lines(bytes).for_each(|line| seen.add(line));
        Ok(seen.rows == 0)
    })?;
    own.rows = seen.kind();
    Ok((seen.rows > 0).then(|| seen.table()))
}

/// Takes the header from the first chunk, and whether there are rows from as many as that needs; whether it needs more.
fn read_csv(bytes: &[u8], table: &mut Option<TableFacts>) -> bool {
    let dialect = Format::Csv.dialect();
    let mut scanner = Scanner::new(&dialect, bytes);
    let mut fields = Vec::new();
    while let Some(record) = scanner.next(&mut fields) {
        let Some(table) = table else {
            let columns = fields.iter().map(|field| {
                let mut name = Vec::new();
                unescape(&dialect, field.raw(bytes), field.form, &mut name);
                let name = String::from_utf8_lossy(&name);
                // As a source's names are read.
                column(
                    if field.form == Form::Plain { name.trim() } else { &name }.to_owned(),
                    Type::Text,
                )
            });
            // A line whose quoting is broken names nothing.
            let columns = if record.fault.is_some() { Vec::new() } else { columns.collect() };
            *table = Some(TableFacts { columns, ..TableFacts::default() });
            continue;
        };
        if !record.is_blank() || table.columns.len() == 1 {
            table.holds_rows = true;
            return false;
        }
    }
    true
}

fn column(name: String, ty: Type) -> Column {
    Column { name, ty, declared: None, basis: Basis::Declared, required: false }
}

/// Whether rows can be added under the table's columns.
fn check(place: &Place, facts: &TargetFacts, table: &TableFacts) -> Result<()> {
    let shown = place.path.display();
    if let Some(Unfit { what, is_source }) = &FileFacts::of(facts).unfit {
        let mut error = Error::target(format!("{shown} {what}: no rows can be added to it"));
        if *is_source {
            let (scheme, words) = (place.format.scheme(), place.format.words());
            let said = shell_word(&shown.to_string());
            error = error
                .advise(format!("inrush load {said} {scheme}:NEW.{scheme} makes a {words} of it"));
        }
        return Err(error.advise("--if-exists replace puts a new file in its place"));
    }
    let names = || table.columns.iter().map(|column| column.name.as_str());
    let twice =
        names().enumerate().find(|(at, name)| names().take(*at).any(|other| other == *name));
    let what = match (place.format, twice) {
        (_, None) if !table.columns.is_empty() => return Ok(()),
        (Format::Parquet, Some((_, name))) => format!("{shown} has two columns '{name}'"),
        (_, Some((_, name))) => format!("the first line of {shown} names column '{name}' twice"),
        (Format::Csv, None) => format!("the first line of {shown} is no header"),
        (Format::Jsonl, None) => format!("{shown} does not hold a row of JSON in each line"),
        (Format::Parquet | Format::Arrow, None) => format!("{shown} has no columns"),
    };
    Err(Error::target(what).advise("--if-exists replace puts a new file in its place"))
}

/// The columns of JSON rows, from those of a first chunk.
#[derive(Default)]
struct JsonColumns {
    columns: Vec<(String, Option<Type>)>,
    rows: u64,
    objects: u64,
    arrays: u64,
}

impl JsonColumns {
    fn add(&mut self, line: &[u8]) {
        self.rows += 1;
        match JsonRow::read(line) {
            None => {}
            Some(JsonRow::Object(members)) => {
                self.objects += 1;
                members.iter().for_each(|(name, value)| self.see(name, value.get()));
            }
            Some(JsonRow::Array(values)) => {
                self.arrays += 1;
                for (index, value) in values.iter().enumerate() {
                    self.see(&format!("column_{}", index + 1), value.get());
                }
            }
        }
    }

    /// What all rows are; `None` when they are not all the same.
    fn kind(&self) -> Option<&'static str> {
        match (self.objects, self.arrays) {
            (objects, 0) if objects == self.rows => Some("object"),
            (0, arrays) if arrays == self.rows => Some("array"),
            _ => None,
        }
    }

    fn see(&mut self, name: &str, raw: &str) {
        let at = match self.columns.iter().position(|(known, _)| known == name) {
            Some(at) => at,
            None => {
                self.columns.push((name.to_owned(), None));
                self.columns.len() - 1
            }
        };
        let ty = match raw.as_bytes() {
            b"null" => return,
            b"true" | b"false" => Type::Boolean,
            [b'"', ..] => Type::Text,
            [b'{' | b'[', ..] => Type::Json,
            number if inrush_scan::integer(number).is_ok() => Type::Integer,
            _ => Type::Float,
        };
        let known = &mut self.columns[at].1;
        *known = Some(match (*known, ty) {
            (None, ty) => ty,
            (Some(known), ty) if known == ty => ty,
            (Some(Type::Integer | Type::Float), Type::Integer | Type::Float) => Type::Float,
            // Values of several kinds: text takes all that a source can say.
            _ => Type::Text,
        });
    }

    fn table(self) -> TableFacts {
        let is_nameless = self.arrays > 0;
        let columns = match self.kind() {
            None => Vec::new(),
            Some(_) => self
                .columns
                .into_iter()
                .map(|(name, ty)| match ty {
                    Some(ty) => column(name, ty),
                    // NULL in every row says nothing of what other values are.
                    None => Column { basis: Basis::Inferred, ..column(name, Type::Text) },
                })
                .collect(),
        };
        TableFacts { columns, is_nameless, holds_rows: true, ..TableFacts::default() }
    }
}
