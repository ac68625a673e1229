//! What a pass adds up to, and the bad rows in it.

use std::collections::BTreeSet;

use super::Mismatch;
use crate::pipe::reject::{Position, Reject, Written, ends_in_escape, limit_error};
use crate::plan::{Column, Plan, RejectLimit, Verify};
use crate::report::InputReport;
use inrush_core::encode::{Grammar, NOT_ENDLESS, Shape, found_by_lane, verbatim};
use inrush_core::error::{Error, Kind, Result};
use inrush_core::flow::{Checksum, Chunk, Code, Found, Point, RowFault, Slot};
use inrush_core::ledger::{HeaderRows, RejectsLength, Rows, SoFar};
use inrush_core::reading::{Family, Read, ReadType, Unit};
use inrush_core::value::rule;
use inrush_core::wording::{counted, listed, said_of, shell_word, were};
use inrush_core::{Basis, Spoiler, Type};
use inrush_scan::{Scanner, Zone};
use inrush_source::decode::BeyondAscii;
use inrush_source::{EMPTY_OF_NUL, Input, Place, is_null_like, null_spelling, type_of};

/// What the slots add up to, seen in the source's order.
pub(crate) struct Tally {
    /// The current input.
    pub(super) file: u32,
    /// Records and lines of the current input so far.
    records: u64,
    lines: u64,
    /// Where in it the next chunk begins.
    byte: u64,
    pub(crate) read: u64,
    pub(super) loaded: u64,
    pub(crate) rejected: u64,
    /// Rows that a writer's steps before this one have read, and rejected: the limit is for all of them.
    pub(super) before: (u64, u64),
    pub(super) skipped: u64,
    pub(super) blanks: u64,
    /// Columns of text that may be more, for the first value that says so was behind the sample of a pipe.
    unforeseen: BTreeSet<u32>,
    /// Columns of documents with floats in them that JSON has no number for.
    spelled: BTreeSet<u32>,
    /// Rows that are the header once more.
    headers: Vec<HeaderRows>,
    pub(super) checksum: Option<Checksum>,
    /// A value that didn't fit what its column was taken for.
    pub(crate) mismatch: Option<Mismatch>,
    /// Bad rows of columns that keep a type although not all of their values are of it.
    tolerated: u64,
    pub(super) last_reject: Option<Reject>,
    /// Whether it stands behind a line that ends in a backslash.
    is_after_escape: bool,
    /// The same for each input.
    pub(super) inputs: Vec<InputReport>,
}

impl Tally {
    pub(crate) fn new(plan: &Plan) -> Self {
        let checksum = (plan.request.verify == Verify::Checksum)
            .then(|| Checksum::new(plan.choice.columns.len()));
        let mut tally = Self {
            file: 0,
            records: plan.source.inputs[0].records_before,
            lines: plan.source.inputs[0].lines_before,
            byte: 0,
            read: 0,
            loaded: 0,
            rejected: 0,
            before: (0, 0),
            skipped: 0,
            blanks: 0,
            unforeseen: BTreeSet::new(),
            spelled: BTreeSet::new(),
            headers: Vec::new(),
            checksum,
            mismatch: None,
            tolerated: 0,
            last_reject: None,
            is_after_escape: false,
            inputs: plan.source.inputs.iter().map(InputReport::of).collect(),
        };
        if let Some(entry) = plan.goes_on() {
            tally.go_on(plan, &entry.so_far);
        }
        tally
    }

    /// Begins with what earlier steps have brought.
    fn go_on(&mut self, plan: &Plan, so_far: &SoFar) {
        let SoFar { point, rows, inputs, blanks, headers, spelled, checksum, held: _, rejects: _ } =
            so_far;
        (self.file, self.records, self.byte) = (point.file, point.records, point.byte);
        self.lines = point.lines.max(plan.source.inputs[point.file as usize].lines_before);
        (self.read, self.loaded) = (rows.read, rows.loaded);
        (self.rejected, self.skipped) = (rows.rejected, rows.skipped);
        self.blanks = *blanks;
        self.headers.clone_from(headers);
        self.spelled.clone_from(spelled);
        if let (Some(sums), Some(before)) = (&mut self.checksum, checksum) {
            sums.merge(before);
        }
        for (input, rows) in self.inputs.iter_mut().zip(inputs) {
            (input.rows_read, input.rows_loaded) = (rows.read, rows.loaded);
            (input.rows_rejected, input.rows_skipped) = (rows.rejected, rows.skipped);
        }
    }

    /// What a later run has to know to go on behind what there is.
    pub(super) fn so_far(&self, held: Option<u64>, rejects: Vec<RejectsLength>) -> SoFar {
        let (file, byte, records, lines) = (self.file, self.byte, self.records, self.lines);
        let (read, loaded, rejected, skipped) =
            (self.read, self.loaded, self.rejected, self.skipped);
        let of = |input: &InputReport| Rows {
            read: input.rows_read,
            loaded: input.rows_loaded,
            rejected: input.rows_rejected,
            skipped: input.rows_skipped,
        };
        SoFar {
            point: Point { file, byte, records, lines },
            rows: Rows { read, loaded, rejected, skipped },
            inputs: self.inputs.iter().map(of).collect(),
            blanks: self.blanks,
            headers: self.headers.clone(),
            spelled: self.spelled.clone(),
            held,
            checksum: self.checksum.clone(),
            rejects,
        }
    }

    /// Adds what became of a chunk, and hands on its bad rows.
    pub(crate) fn collect(
        &mut self,
        plan: &Plan,
        shape: &Shape,
        slot: &mut Slot,
        put: &mut dyn FnMut(&Reject) -> Result<()>,
    ) -> Result<()> {
        let Slot { chunk, encoded, ack, .. } = slot;
        if chunk.origin.file != self.file {
            self.file = chunk.origin.file;
            let input = &plan.source.inputs[self.file as usize];
            (self.records, self.lines) = (input.records_before, input.lines_before);
        }
        if !ack.faults.is_empty() {
            let kept = plan.job.kept_columns();
            ack.faults.iter_mut().for_each(|fault| say_of_new_row(&kept, fault));
        }
        let mut found = found_by_lane(shape, chunk, encoded, &ack.faults);
        found.append(&mut encoded.found);
        found.sort_by_key(|found| found.start);
        self.read += u64::from(encoded.records);
        self.loaded += ack.loaded;
        self.skipped += ack.skipped;
        let here = &mut self.inputs[self.file as usize];
        here.rows_read += u64::from(encoded.records);
        here.rows_loaded += ack.loaded;
        here.rows_skipped += ack.skipped;
        self.blanks += encoded.blanks;
        self.unforeseen.extend(&encoded.unforeseen);
        if encoded.repeats.rows > 0 {
            let rows = u64::from(encoded.repeats.rows);
            match self.headers.last_mut() {
                Some(before) if before.file == self.file => before.rows += rows,
                _ => {
                    let line = self.lines + u64::from(encoded.repeats.line) + 1;
                    self.headers.push(HeaderRows { rows, file: self.file, line });
                }
            }
        }
        if !chunk.spelled.is_empty() {
            self.spelled.extend(spelled(plan, shape, chunk));
        }
        if let (Some(sums), Some(more)) = (&mut self.checksum, &ack.checksum) {
            sums.merge(more);
        }
        for found in found {
            let reject = self.place(plan, shape, chunk, &found);
            self.rejected += 1;
            let is_tolerated = |column: u32| plan.choice.tolerated.contains(&(column as usize));
            self.tolerated += u64::from(found.column.is_some_and(is_tolerated));
            self.inputs[self.file as usize].rows_rejected += 1;
            let over = self.exceeds(plan, false);
            self.is_after_escape = matches!(shape.grammar, Grammar::Delimited(_))
                && ends_in_escape(&chunk.bytes[..found.start as usize]);
            put(&reject)?;
            self.last_reject = Some(reject);
            if over {
                self.mismatch = self.disproves();
                return Err(self.over_limit(plan));
            }
        }
        if let Some(found) = encoded.mismatch.take() {
            let reject = self.place(plan, shape, chunk, &found);
            self.mismatch = Some(match &reject.column {
                Some(column) => Mismatch::Type(column.clone()),
                None => Mismatch::Column,
            });
            let input = &plan.source.inputs[self.file as usize].name;
            let place = reject.place(input);
            let (null, float) = (null_of(plan, &reject), float_of(plan, &reject));
            let (at, message) = (reject.at, reject.message);
            let error = match reject.column {
                Some(column) => {
                    let error = Error::source(format!("{input}: {at}, column {column}: {message}"));
                    let mut error = float.into_iter().fold(error, Error::advise);
                    // A value that is not of a declared type is a bad row, which the user allows.
                    let guessed = plan.guessed(&column).map(|(_, ty)| ty);
                    if plan.request.max_rejects != RejectLimit::Rows(0)
                        && let Some(ty) = guessed.filter(|ty| *ty != Type::Text)
                    {
                        let said = said_of("--type", &column, ty);
                        error = error.advise(format!("{said} makes a bad row of it"));
                    }
                    error = null.into_iter().fold(error, Error::advise);
                    error.advise(format!(
                        "say {} (or --types text for all columns)",
                        said_of("--type", &column, Type::Text)
                    ))
                }
                None => Error::source(format!("{input}: {at}: {message}")),
            };
            return Err(error.at(place));
        }
        self.records += u64::from(encoded.records);
        self.lines += encoded.lines;
        self.byte = chunk.origin.byte + chunk.bytes.len() as u64;
        Ok(())
    }

    fn place(&self, plan: &Plan, shape: &Shape, chunk: &Chunk, found: &Found) -> Reject {
        let record = self.records + u64::from(found.record) + 1;
        let is_rows = plan.source.inputs[self.file as usize].place == Place::Rows;
        let of_sheet = chunk.sheet.as_ref().and_then(|sheet| sheet.rows.get(found.start as usize));
        let text = |record| Position::Text {
            line: self.lines + u64::from(found.line) + 1,
            byte: chunk.origin.byte + u64::from(found.start),
            record,
        };
        let at = match &shape.grammar {
            _ if of_sheet.is_some() => {
                Position::Sheet { row: of_sheet.copied().unwrap_or_default().into() }
            }
            Grammar::Columns if is_rows => Position::Rows { row: record },
            Grammar::Columns => Position::Columns {
                row: record,
                group: chunk.origin.group,
                group_row: chunk.origin.group_row + u64::from(found.start) + 1,
            },
            Grammar::Json(json) if !json.is_in_lines(self.file) => text(Some(record)),
            _ => text(None),
        };
        let raw = verbatim(shape, chunk, found);
        let mut message = found.message.to_string();
        if shape.repeats_header(self.file as usize, &raw) {
            message.push_str("; the line repeats the header");
        }
        Reject {
            file: self.file,
            record,
            at,
            column: found.column.map(|column| shape.columns[column as usize].name.clone()),
            code: found.code,
            message,
            raw,
        }
    }

    /// Whether there are too many bad rows; `done` where nothing more will be read.
    pub(super) fn exceeds(&self, plan: &Plan, done: bool) -> bool {
        let (read, rejected) = self.before;
        plan.request.max_rejects.exceeded(rejected + self.rejected, read + self.read, done)
    }

    /// How many blank lines were left out, where there were some.
    fn note_of_blanks(&self) -> Option<String> {
        let (blanks, were) = (counted(self.blanks, "blank line"), were(self.blanks));
        (self.blanks > 0).then(|| format!("{blanks} {were} left out"))
    }

    /// What to do about rows that are the header once more, where there are some.
    fn note_of_repeats(&self) -> Option<String> {
        // Of so many inputs a line is named.
        const SHOWN: usize = 3;
        let of = |HeaderRows { file, line, .. }: &HeaderRows| {
            format!("line {line} of {}", self.inputs[*file as usize].file)
        };
        let rows: u64 = self.headers.iter().map(|of| of.rows).sum();
        let what = match self.headers.as_slice() {
            [] => return None,
            [one] if rows == 1 => format!("{} repeats the header, and is read as a row", of(one)),
            [one] => format!(
                "{} repeat the header, and are read as rows, the first is {}",
                counted(rows, "line"),
                of(one)
            ),
            several => {
                let mut firsts: Vec<String> = several.iter().take(SHOWN).map(of).collect();
                let more = several.len().saturating_sub(SHOWN);
                firsts.extend(
                    (more > 0).then(|| format!("those of {}", counted(more as u64, "more file"))),
                );
                format!(
                    "{} repeat the header, and are read as rows, of each file the first: {}",
                    counted(rows, "line"),
                    listed(firsts.iter().map(String::as_str))
                )
            }
        };
        Some(format!(
            "{what}: name the files that were joined one after the other instead, or take such lines out"
        ))
    }

    /// What to know of the types of columns that were read only once, of values that change their kind, of headers among the rows, and of
    /// the blank lines.
    pub(crate) fn notes(&self, shape: &Shape) -> impl Iterator<Item = String> {
        let of_column = |at: &u32| {
            let name = &shape.columns[*at as usize].name;
            format!(
                "column {name} is text: the first rows have no value that says what it is, and a pipe can be read only once ({} says that it is more)",
                said_of("--type", name, "TYPE")
            )
        };
        let spelled = |at: &u32| {
            format!(
                "column {}: within its lists and structs, floats that are no numbers are the texts \"NaN\", \"Infinity\" and \"-Infinity\", \
                 for JSON has no such numbers",
                shape.columns[*at as usize].name
            )
        };
        let of_columns = self.unforeseen.iter().map(of_column);
        let of_rows = self.note_of_repeats().into_iter().chain(self.note_of_blanks());
        of_columns.chain(self.spelled.iter().map(spelled)).chain(of_rows)
    }

    /// When there are too many bad rows: whether columns of tolerated types have brought some, which with another type are none.
    pub(crate) fn disproves(&self) -> Option<Mismatch> {
        (self.tolerated > 0).then_some(Mismatch::Tolerated)
    }

    pub(super) fn over_limit(&self, plan: &Plan) -> Error {
        match &self.last_reject {
            Some(reject) => {
                let name = &plan.source.inputs[reject.file as usize].name;
                let title = plan.facts.source.title.as_deref();
                let (request, in_steps) = (&plan.request, plan.steps.is_some());
                let rejected = self.before.1 + self.rejected;
                let width = plan.source.widths.get(reject.file as usize).copied();
                let Input { is_quoted, has_bare_escapes, .. } =
                    plan.source.inputs[reject.file as usize];
                let text = plan.source.grammar.dialect().zip(width);
                let text = text.map(|(dialect, width)| Written {
                    dialect,
                    width,
                    is_quoted,
                    has_bare_escapes,
                    is_after_escape: self.is_after_escape,
                });
                let error =
                    limit_error(name, reject, rejected, request, title, text.as_ref(), in_steps);
                let fields = &plan.facts.source.fields;
                let of_column = |name: &String| fields.iter().find(|field| field.name == *name);
                // Bytes of one file beside another one's values of another type.
                if reject.code == Code::Utf8
                    && let Some(field) = reject.column.as_ref().and_then(of_column)
                    && let Some(Spoiler::Inputs { narrower, narrower_in, other, other_in }) =
                        &field.spoiler
                {
                    return error.advise(format!(
                        "column {} is text, for it is of type {narrower} in {narrower_in}, and of type {other} in {other_in}: {} takes bytes \
                         and texts as they are",
                        field.name,
                        said_of("--type", &field.name, Type::Bytes)
                    ));
                }
                // Of another encoding it is known what it is, and columns have none.
                let is_text = matches!(reject.at, Position::Text { .. });
                let encoding = plan.source.inputs[reject.file as usize].encoding.name();
                if reject.code == Code::Utf8 && is_text && encoding == "UTF-8" {
                    let input = &plan.source.inputs[reject.file as usize];
                    let head = input.beyond_ascii;
                    let all = head.with(BeyondAscii::of(&reject.raw));
                    let error = match input.encoding_words(all) {
                        Some(words) => error.advise(words),
                        None if head.has_utf8() => error,
                        None => error
                            .advise("if the file is in another encoding, say so: --encoding NAME"),
                    };
                    // JSON has bytes in base64, and an existing table its own types.
                    let is_open = |name: &String| {
                        let mut columns = plan.choice.columns.iter();
                        columns.any(|column| column.name == *name && column.declared.is_none())
                    };
                    return match &reject.column {
                        Some(name) if plan.source.grammar.dialect().is_some() && is_open(name) => {
                            let said = said_of("--type", name, Type::Bytes);
                            error.advise(format!(
                                "if column {name} holds bytes and no text, {said} loads them as they are"
                            ))
                        }
                        _ => error,
                    };
                }
                let is_bytes = |name: &&String| {
                    let mut columns = plan.choice.columns.iter();
                    columns.any(|column| column.name == **name && column.ty == Type::Bytes)
                };
                // UTF-16 is decoded without the option, too.
                if reject.code == Code::Utf8
                    && is_text
                    && !encoding.starts_with("UTF-16")
                    && let Some(name) = reject.column.as_ref().filter(is_bytes)
                {
                    return error.advise(format!(
                        "without --encoding the bytes of column {name} are loaded as they are, and text has to be UTF-8"
                    ));
                }
                let is_guess = |name: &&String| {
                    let mut columns = plan.choice.columns.iter();
                    let is_rows = plan.source.inputs[reject.file as usize].place == Place::Rows;
                    let is_it = |column: &Column| column.name == **name && !column.is_asked();
                    is_rows && columns.any(|column| is_it(column) && column.declared.is_none())
                };
                // Of a new table: the input's own word.
                let is_of_input = |name: &String| {
                    let is_it = |column: &Column| {
                        let is_word = column.basis == Basis::Declared && column.declared.is_none();
                        column.name == *name && is_word
                    };
                    matches!(reject.at, Position::Columns { .. })
                        && plan.choice.columns.iter().any(is_it)
                };
                let is_of = |family, name: &String| {
                    let mut columns = plan.choice.columns.iter();
                    columns
                        .any(|column| column.name == *name && Family::of(column.ty) == Some(family))
                };
                let special = special_shown(&reject.message);
                let column = reject.column.as_ref();
                let proposal = column.filter(|_| reject.code == Code::Type);
                let proposal = proposal.and_then(|column| proposed(plan, column));
                match (column, special, null_of(plan, reject)) {
                    (Some(column), None, _)
                        if matches!(reject.code, Code::Type | Code::Range) && is_guess(&column) =>
                    {
                        error.advise(format!(
                            "{} says what the column is: its type is the one that the load began with",
                            said_of("--type", column, "TYPE")
                        ))
                    }
                    (Some(column), Some(special), _) => error.advise(format!(
                        "{} loads NULL for it: column {column} takes no such value",
                        said_of("--null", column, spelling_of(plan, reject, special)),
                    )),
                    (Some(_), None, Some(null)) => error.advise(null),
                    (Some(_), None, None)
                        if reject.code == Code::Nul
                            && field_of(plan, reject).is_some_and(|(raw, _)| raw == [0]) =>
                    {
                        error.advise(format!(
                            "bcp -c writes an empty text as one NUL byte: {EMPTY_OF_NUL}"
                        ))
                    }
                    // No type of the column's keeps it, text neither.
                    (Some(column), None, None) if reject.message.ends_with(NOT_ENDLESS) => {
                        let name = format!("\"{}\"", column.replace('"', "\"\""));
                        error.advise(format!(
                            "write NULL for it: CASE WHEN isfinite({name}) THEN {name} END in DuckDB"
                        ))
                    }
                    (Some(column), None, None)
                        if is_of(Family::Day, column) && is_compact_day(&reject.message) =>
                    {
                        error.advise(format!(
                            "{} reads it as a day",
                            said_of("--date-format", column, "%Y%m%d")
                        ))
                    }
                    (Some(column), None, None)
                        if is_of(Family::Moment, column) && is_day(&reject.message) =>
                    {
                        error.advise("--date-format %Y-%m-%d reads days as their midnights")
                    }
                    (Some(column), None, None)
                        if is_of(Family::Moment, column)
                            && counted_unit(&reject.message).is_some() =>
                    {
                        let advice = counted_unit(&reject.message).map(|unit| {
                            let said = said_of("--type", column, ReadType::Epoch(unit));
                            format!("{said} reads it as {} since 1970", unit.words())
                        });
                        advice.into_iter().fold(error, Error::advise)
                    }
                    (Some(column), None, None)
                        if is_of(Family::Moment, column) && is_in_zone(&reject.message) =>
                    {
                        error.advise(
                            "--time-zone UTC reads it as a moment, of which the column gets what clocks in UTC show",
                        )
                    }
                    (Some(_), None, None) if proposal.is_some() => {
                        proposal.into_iter().fold(error, Error::advise)
                    }
                    // The words that are said for all columns leave the column none of its own.
                    (Some(column), None, None)
                        if is_of(Family::Truth, column)
                            && let Some((truth, falsehood)) = truths_of(plan, reject) =>
                    {
                        error.advise(format!(
                            "{} {} reads such values as well",
                            said_of("--true", column, truth),
                            said_of("--false", column, falsehood)
                        ))
                    }
                    (Some(column), None, None)
                        if matches!(reject.code, Code::Type | Code::Range)
                            && is_of_input(column) =>
                    {
                        let said = said_of("--type", column, Type::Text);
                        error.advise(format!("{said} keeps all of the column's values"))
                    }
                    _ => error,
                }
            }
            None => Error::new(Kind::Rejects, "too many bad rows"),
        }
    }
}

/// The load's columns that have floats of a chunk as texts: none of those that take lists as what they are.
fn spelled(plan: &Plan, shape: &Shape, chunk: &Chunk) -> impl Iterator<Item = u32> {
    let fields = (0..).zip(&shape.fields[chunk.origin.file as usize]).zip(&plan.choice.columns);
    let spelled = fields.filter(|((_, field), column)| {
        let is_it = |field: usize| chunk.spelled.contains(&(field as u32));
        field.is_some_and(is_it) && !plan.target.takes_nested(column)
    });
    spelled.map(|((at, _), _)| at)
}

/// What reads the value of a bad row as NULL, if it is what programs write for that, and its column is of another type and takes NULL.
fn null_of(plan: &Plan, reject: &Reject) -> Option<String> {
    let column = column_of(plan, reject)?.1;
    if column.required || !matches!(reject.code, Code::Type | Code::Range) {
        return None;
    }
    // It is compared as it is written.
    let is_escaped = || {
        let escape = plan.source.grammar.dialect().and_then(|dialect| dialect.escape);
        escape == Some(b'\\') && field_of(plan, reject).is_some_and(|(raw, _)| raw == b"\\N")
    };
    if is_escaped() {
        return Some("--null '\\N' reads \\N as NULL".to_owned());
    }
    let shown = refused_value(&reject.message).or_else(|| value_out_of_range(&reject.message))?;
    let is_no_day = shown.strip_prefix("0000-00-00").is_some_and(|time| {
        time.bytes().all(|byte| matches!(byte, b' ' | b'T' | b':' | b'.' | b'0'))
    });
    let is_like = reject.code == Code::Type && is_null_like(shown.as_bytes());
    if !is_no_day && !is_like {
        return None;
    }
    let said = said_of("--null", &column.name, spelling_of(plan, reject, shown));
    let of_all = if shown.is_empty() { ", as --null '' does in all columns" } else { "" };
    let why = if is_no_day { ": MySQL has it for no day" } else { "" };
    Some(format!("{said} reads it as NULL{of_all}{why}"))
}

/// What takes a value that is the first fraction of a column of whole numbers, as a look at all values would.
fn float_of(plan: &Plan, reject: &Reject) -> Option<String> {
    let (at, column) = column_of(plan, reject)?;
    let value = refused_value(&reject.message).filter(|_| column.ty == Type::Integer)?;
    let mut text = Vec::new();
    let reading = plan.shape.columns[at].reading.as_ref();
    let value = match reading.map(|reading| reading.read(value.as_bytes(), &mut text)) {
        Some(Ok(Read::Written)) => std::str::from_utf8(&text).ok()?,
        _ => value,
    };
    let is_fraction = type_of(value) == Type::Float;
    is_fraction.then(|| format!("{} takes it", said_of("--type", &column.name, Type::Float)))
}

/// What plan proposes for a column.
fn proposed(plan: &Plan, column: &str) -> Option<String> {
    let at = plan.choice.columns.iter().position(|own| own.name == column)?;
    let name = plan.facts.source.fields[*plan.choice.fields.get(at)?].source_name();
    let proposed = plan.proposals().into_iter().find(|proposed| proposed.column == name)?;
    let options: Vec<String> = proposed.options.iter().map(|word| shell_word(word)).collect();
    Some(format!("{} reads its values: {}", options.join(" "), proposed.reason))
}

/// The column that a row is bad for, and its place.
fn column_of<'p>(plan: &'p Plan, reject: &Reject) -> Option<(usize, &'p Column)> {
    let name = reject.column.as_ref()?;
    plan.choice.columns.iter().enumerate().find(|(_, column)| column.name == *name)
}

/// The field that a row of delimited text is bad for, as it is written, and the quotes around it.
fn field_of<'r>(plan: &Plan, reject: &'r Reject) -> Option<(&'r [u8], Option<u8>)> {
    let dialect = plan.source.grammar.dialect()?;
    let mut fields = Vec::new();
    Scanner::new(dialect, &reject.raw).next(&mut fields);
    let at = column_of(plan, reject)?.0;
    let field = fields.get((*plan.shape.fields.get(reject.file as usize)?.get(at)?)?)?;
    Some((field.raw(&reject.raw), dialect.quote.filter(|_| field.form.is_quoted())))
}

/// The spelling of NULL that a bad row's value is: one in quotes has them in its spelling, unless it is empty.
fn spelling_of(plan: &Plan, reject: &Reject, shown: &str) -> String {
    let quote = field_of(plan, reject).and_then(|(_, quote)| quote);
    null_spelling(shown.as_bytes(), quote.filter(|_| !shown.is_empty()))
}

/// Whether a message shows a value first that is a day in digits, and does not say itself how to have it read.
fn is_compact_day(message: &str) -> bool {
    let value = message.split(' ').next().unwrap_or_default().trim_matches('\'');
    let is_day = value.parse().is_ok_and(rule::is_compact_day);
    is_day && !message.contains("--date-format")
}

/// The value that a message shows first, and says what it is not.
fn refused_value(message: &str) -> Option<&str> {
    message.strip_prefix('\'')?.split_once("' is not ").map(|(value, _)| value)
}

/// The value that a message shows first, and says that it is out of range.
fn value_out_of_range(message: &str) -> Option<&str> {
    message.strip_prefix('\'')?.split_once("' is out of range").map(|(value, _)| value)
}

/// Whether a message shows a moment with an offset first, and says that there may be none; one that names a form has another reason.
fn is_in_zone(message: &str) -> bool {
    refused_value(message)
        .filter(|_| !message.contains(" has it"))
        .is_some_and(|value| inrush_scan::timestamp(value.as_bytes()) == Some(Zone::Offset))
}

/// Whether that is a day.
fn is_day(message: &str) -> bool {
    refused_value(message).is_some_and(|value| inrush_scan::is_date(value.as_bytes()))
}

/// Words for true and for false, the user's and those of which a bad row's value is one, where the user has said some for all columns.
fn truths_of(plan: &Plan, reject: &Reject) -> Option<(String, String)> {
    const PAIRS: [(&str, &str); 5] =
        [("1", "0"), ("t", "f"), ("y", "n"), ("yes", "no"), ("on", "off")];
    let read = &plan.request.read;
    let value = refused_value(&reject.message)?.to_ascii_lowercase();
    let is_one = |(truth, falsehood): &(&str, &str)| value == *truth || value == *falsehood;
    let (truth, falsehood) = PAIRS.into_iter().find(is_one)?;
    let is_for_all = |words: &&String| !words.contains('=');
    let with = |said: &[String], word: &str| {
        let said = said.iter().filter(is_for_all).map(String::as_str);
        said.chain([word]).collect::<Vec<_>>().join(",")
    };
    let has_words = read.truths.iter().chain(&read.falses).any(|words| is_for_all(&words));
    has_words.then(|| (with(&read.truths, truth), with(&read.falses, falsehood)))
}

/// What a message's value counts, where it is a number that may be a moment and the message does not say itself how to have it read.
fn counted_unit(message: &str) -> Option<Unit> {
    let value = refused_value(message).filter(|_| !message.contains("--type"))?;
    Unit::of_count(value)
}

/// What isn't a number, or infinite, at the start of a message that shows it as a value of its column.
fn special_shown(message: &str) -> Option<&str> {
    let (value, why) = message.strip_prefix('\'')?.split_once('\'')?;
    let (_, word) = match value.split_at_checked(1) {
        Some(signed @ ("+" | "-", _)) => signed,
        _ => ("", value),
    };
    let is_special =
        ["nan", "inf", "infinity"].iter().any(|special| special.eq_ignore_ascii_case(word));
    (is_special && why.starts_with(" is not ")).then_some(value)
}

/// What a target says of a row without a value that it needs: of a column that keeps what the row with the key has, that there is none.
fn say_of_new_row(kept: &[&str], fault: &mut RowFault) {
    let is_kept = |name: &&str| kept.iter().any(|kept| kept.eq_ignore_ascii_case(name));
    if fault.code == Code::NotNull
        && let Some(name) = fault.column.as_deref().filter(is_kept)
    {
        fault.message = format!(
            "the row is new, column {name} has no default, and the source has no such column"
        );
    }
}
