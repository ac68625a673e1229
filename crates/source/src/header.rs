//! The columns' names: from a header, or made up.

use std::mem;

use inrush_scan::{Dialect, Fault, Newline, Record, escapes_delimiter, is_blank_after_quote};

use crate::decode::BeyondAscii;
use crate::first_line::{self, Below, HeaderVerdict};
use crate::head::{Head, lead};
use crate::infer::{Observed, Spot, is_null_like};
use crate::look::Records;
use crate::proposal::Forms;
use crate::sample::Sample;
use crate::sniff::{self, First};
use crate::{Place, Source, apart, decode, quoting};
use inrush_core::encode::{self, quoting_words};
use inrush_core::error::{Error, Result, is_invisible, shorten};
use inrush_core::reading::Readers;
use inrush_core::{ColumnRequest, DialectRequest, MissingColumns, NewColumns, Nulls, Type};

impl Source {
    /// Decides about the header, moves every input's body behind it, and maps each input's fields to the first one's.
    pub(super) fn find_header(
        &mut self,
        heads: &mut [Head],
        dialect: &Dialect,
        request: &DialectRequest,
        known: Option<&[String]>,
        reasons: &mut Vec<String>,
        warnings: &mut Vec<String>,
    ) -> Result<Vec<String>> {
        let lead = lead(heads, request);
        let mut names: Vec<String> = Vec::new();
        let mut rows_of_lead = Vec::new();
        let are_plain = dialect.newline == Newline::Lf
            && heads.iter().all(|Head { input, .. }| {
                input.place.plain().is_some()
                    && input.compression.is_none()
                    && decode::is_utf8(input.encoding)
            });
        let places = heads.iter().map(|head| head.input.place.clone()).collect();
        let lines = Lines { places, lead, are_plain };
        for (index, head) in heads.iter_mut().enumerate() {
            let start = head.body_start();
            let text = &head.text[start..];
            let first = sniff::first_record(text, dialect);
            if first.is_none()
                && index != lead
                && let Some(skipped) = left_out_by(head, request)
            {
                let name = &head.input.name;
                warnings.push(format!("{name} has nothing but what {skipped} leaves out"));
            }
            if index == lead {
                self.header = match (request.header, &first) {
                    (_, None) => false,
                    (Some(header), _) => header,
                    (None, Some(first)) => {
                        let rest = &text[first.record.next as usize..];
                        let (verdict, _) = self.looks_like_header(first, rest, known);
                        let Some(header) = verdict.header else {
                            let name = &head.input.name;
                            return Err(unclear(name, &first.values, known, verdict.why));
                        };
                        let (what, otherwise) = match header {
                            true => (
                                "the first line is taken as the header",
                                "--header no if it is data",
                            ),
                            false => {
                                ("there is no header", "--header yes if the first line is one")
                            }
                        };
                        let reason = format!("{what}: {}", verdict.why);
                        if verdict.proven {
                            reasons.push(reason);
                        } else {
                            warnings.push(format!("{reason} ({otherwise})"));
                        }
                        if !header {
                            rows_of_lead = text.to_vec();
                        }
                        header
                    }
                };
            } else if !rows_of_lead.is_empty()
                && let Some(first) = &first
            {
                // Of a file that is a header alone the first one's rows tell.
                let rest = &text[first.record.next as usize..];
                let is_alone = rest.trim_ascii().is_empty();
                let rest = if is_alone { &rows_of_lead } else { rest };
                let (verdict, below) = self.looks_like_header(first, rest, known);
                // One line may well be a row with a code of another kind, such as A17.
                let is_name = |(value, below): (&Vec<u8>, &Observed)| {
                    let count = |is: fn(&&u8) -> bool| value.iter().filter(is).count();
                    below.ty() != Type::Text
                        && count(|byte| byte.is_ascii_digit())
                            < count(|byte| !byte.is_ascii() || byte.is_ascii_alphabetic())
                };
                let are_names = !is_alone || first.values.iter().zip(&below).any(is_name);
                if verdict.header == Some(true) && verdict.proven && are_names {
                    return Err(header_of_later(&head.input.name, &first.values));
                }
            }
            let mut body_at = start;
            let here = match first {
                Some(First { values, record, quoted, .. }) if self.header => {
                    if let Some(fault) = record.fault {
                        return Err(broken(head, &record, fault, dialect));
                    }
                    body_at = start + record.next as usize;
                    head.input.header = text[record.start as usize..record.next as usize].to_vec();
                    let names = header_names(head, values, &quoted, warnings)?;
                    warnings.extend(stray_quote(&names, &quoted, dialect));
                    names
                }
                Some(First { values, .. }) if index == lead => {
                    let width = sniff::width(text, head.whole, dialect).max(if head.whole {
                        1
                    } else {
                        values.len()
                    });
                    (1..=width).map(column_name).collect()
                }
                _ => names.clone(),
            };
            head.input.lines_before = inrush_scan::count_lines(dialect, &head.text[..body_at]);
            head.input.body_at = body_at as u64;
            let width = here.len();
            if index == lead {
                names = here;
                self.orders.push((0..names.len()).map(Some).collect());
            } else {
                let (name, columns) = (&head.input.name, &self.read.columns);
                refuse_other_delimiter(name, &here, &names, dialect, columns)?;
                let order = order(&mut names, &here, name, Names::Line(&lines), columns)?;
                self.orders.push(order);
            }
            self.widths.push(width);
        }
        if names.is_empty() {
            let name = &heads[0].input.name;
            return Err(match left_out_by(&heads[0], request) {
                Some(skipped) => Error::source(format!(
                    "{name} has no header and no rows but what {skipped} leaves out"
                )),
                None => Error::source(format!("{name} is empty: no header, no rows")),
            }
            .advise("check that it is the file you mean"));
        }
        self.orders.iter_mut().for_each(|order| order.resize(names.len(), None));
        named(names, &self.read, warnings)
    }

    /// Whether a line names the columns, where these rows stand below it; and what was seen of those.
    fn looks_like_header(
        &mut self,
        line: &First<'_>,
        rest: &[u8],
        known: Option<&[String]>,
    ) -> (HeaderVerdict, Vec<Observed>) {
        let First { values, raw, quoted, text, .. } = line;
        let names: Vec<String> =
            values.iter().map(|value| String::from_utf8_lossy(value).into_owned()).collect();
        // What is known of the inputs before this one says nothing of its fields.
        let before = (mem::take(&mut self.orders), mem::take(&mut self.widths));
        // Whether these are the columns' names is the question, so each column has both of its names.
        let numbers: Vec<String> = (1..=names.len()).map(column_name).collect();
        let known_as = [&names, &numbers].map(|names| names.iter().map(String::as_str).collect());
        let trimmed: Vec<String> = names.iter().map(|name| name.trim().to_owned()).collect();
        let are_bytes = [&trimmed, &numbers].map(|names| self.read.are_bytes(names));
        self.bytes = are_bytes.into_iter().find(|are| !are.is_empty()).unwrap_or_default();
        self.nulls = Nulls::of(&self.read.nulls, &known_as);
        // As in rows, a spelling of NULL is compared with what is written: of `\N` an escape leaves an N.
        let is_said_null = |column: usize| {
            let raw = raw[column].trim_ascii();
            !raw.is_empty()
                && self.nulls.of_column(column).any(|null| {
                    self.grammar
                        .dialect()
                        .is_some_and(|dialect| encode::is_null(dialect, null, raw, quoted[column]))
                })
        };
        let is_null = |column: usize, value: &[u8]| {
            is_null_like(value) || is_null_like(raw[column].trim_ascii()) || is_said_null(column)
        };
        // An empty one may be a column without a name, and in quotes they are texts.
        let is_null_written = |column: usize| {
            let raw = raw[column].trim_ascii();
            !raw.is_empty() && !quoted[column] && is_null_like(raw)
        };
        // Blanks that fill a field up say nothing of what stands in it, whether --trim cuts them off or not.
        let first: Vec<Observed> = names
            .iter()
            .enumerate()
            .map(|(column, name)| {
                let (value, mut observed) = (name.trim().as_bytes(), Observed::default());
                if !is_null(column, value) {
                    observed.add(value, Spot::default());
                }
                observed
            })
            .collect();
        let has_null = (0..values.len()).any(|at| is_said_null(at) || is_null_written(at));
        let (seen, _) = self.survey(vec![Sample::of(0, rest)], values.len());
        // Percentages, grouped numbers and the like are text only because of how they are written.
        let has_word = names.iter().any(|name| name.contains(char::is_alphabetic));
        let below = match has_word {
            true => vec![false; values.len()],
            false => {
                let forms = |bytes: &[u8]| {
                    let are_text =
                        seen.iter().map(|seen| Some(seen.ty()).filter(|ty| *ty == Type::Text));
                    self.propose(are_text, vec![Sample::of(0, bytes)])
                };
                let both = [*text, rest].concat();
                let pairs = forms(rest).into_iter().zip(forms(&both));
                pairs.map(|(rest, both)| rest.is_some() && both.is_none()).collect()
            }
        };
        let likes = trimmed.iter().zip(&seen).zip(&first).map(|((name, seen), first)| {
            let is_text = seen.ty() == Type::Text && *first != Observed::default();
            is_text.then(|| Forms::like(name)).flatten()
        });
        let alike = self.compare(likes.collect(), Forms::are_alike, vec![Sample::of(0, rest)]);
        (self.orders, self.widths) = before;
        let below = Below { seen: &seen, are_other_forms: &below, are_alike: &alike };
        let verdict =
            first_line::header(&names, &first, has_null, &below, known, &self.read.columns);
        (verdict, seen)
    }
}

/// What to say where every row has one field more than the header, which then is at fault and no row is; the file's lines up to the
/// end of the header are so many.
pub(super) fn lacks_a_name(
    head: &Head,
    dialect: &Dialect,
    width: usize,
    through_header: u64,
) -> Option<String> {
    let body = &head.text[(head.input.body_at as usize).min(head.text.len())..];
    let mut looked = Records::new(body, head.whole, dialect);
    let mut fields = Vec::new();
    let (mut rows, mut ends_empty, mut are_escaped) = (0, true, true);
    while let Some(record) = looked.next(&mut fields) {
        if record.fault.is_some() || fields.len() != width + 1 {
            return None;
        }
        rows += 1;
        ends_empty &= fields.last().is_some_and(|field| field.raw(body).is_empty());
        are_escaped &= escapes_delimiter(dialect, body, &fields);
    }
    // What is one more then is part of a value.
    if are_escaped {
        return None;
    }
    let numbered = format!(
        "--header no --skip-lines {through_header} calls them column_1, column_2 and so on"
    );
    let why = match ends_empty {
        true => "rows end in a delimiter, and the header does not: end it in one as well",
        false => "if the first column has no name, as in files of R, put one in front",
    };
    (rows > 1).then(|| {
        format!("all rows have one field more than the header has names: {why}; {numbered}")
    })
}

/// What a column without a name is called.
pub(super) fn column_name(number: usize) -> String {
    format!("column_{number}")
}

/// The first line may be a row of the table or the header of another one: to take it for either would be to lose a row, or to make one.
pub(super) fn unclear(
    input: &str,
    values: &[Vec<u8>],
    known: Option<&[String]>,
    why: &str,
) -> Error {
    let known = known.unwrap_or_default();
    let known: Vec<&str> = known.iter().take(SHOWN_MAX).map(String::as_str).collect();
    Error::source(format!(
        "{input}: is the first line a header? {why}: {}; the table's columns are {}",
        shown(values),
        known.join(", ")
    ))
    .advise("--header yes if it is one: then its names have to be the table's, or --match position goes by their order")
    .advise("--header no if it is data")
}

/// Where the first input has no header, and a later one has: that would be a row.
fn header_of_later(input: &str, values: &[Vec<u8>]) -> Error {
    Error::source(format!(
        "{input} seems to have a header, and the first input has none: its first line is {}",
        shown(values)
    ))
    .advise("--header no if it is a row")
    .advise("or load the files that have a header by themselves: --if-exists append --match position adds them to the others' table")
}

fn shown(values: &[Vec<u8>]) -> String {
    let shown: Vec<String> =
        values.iter().take(SHOWN_MAX).map(|value| shorten(value.trim_ascii())).collect();
    shown.join(", ")
}

/// Fields of a line that a message shows.
const SHOWN_MAX: usize = 10;

/// That the quoting of the header's record is broken. Without quotes, which would be part of all names and values, it is read where most
/// lines are broken by something else than blanks.
fn broken(head: &Head, record: &Record, fault: Fault, dialect: &Dialect) -> Error {
    let start = head.body_start();
    let text = &head.text[start..];
    let line = inrush_scan::count_lines(dialect, &head.text[..start + record.start as usize]) + 1;
    let error = Error::source(format!(
        "{}: line {line}: the quoting of the header is broken: {}",
        head.input.name,
        quoting_words(fault, record, text, dialect)
    ));
    if is_blank_after_quote(dialect, text, fault) {
        return error;
    }
    match quoting::is_sound(text, head.whole, dialect) {
        true => error.advise("check --quote, or fix the line"),
        false => error.advise("check --quote, or say --quote none"),
    }
}

/// What to know of a file in which a blank stands before quotes: they quote nothing then (RFC 4180, section 2).
fn stray_quote(names: &[String], quoted: &[bool], dialect: &Dialect) -> Option<String> {
    let quote = char::from(dialect.quote?);
    let is_stray = |(name, is_quoted): (&String, &bool)| !is_quoted && name.starts_with(quote);
    let stray = names.iter().zip(quoted).position(is_stray)?;
    Some(format!(
        "a blank stands before the quote of {} in the header, so its quotes are part of the name, and those of values after a blank are \
         part of them ({})",
        names[stray],
        sniff::BLANK_THEN_QUOTE
    ))
}

/// The names; blanks at an end of one are part of it only in quotes.
fn header_names(
    head: &Head,
    values: Vec<Vec<u8>>,
    quoted: &[bool],
    warnings: &mut Vec<String>,
) -> Result<Vec<String>> {
    let bad = |what: &str, n: usize| {
        Error::source(format!("{}: the name of column {n} in the header {what}", head.input.name))
    };
    let or_data = "or say --header no if the first line is data";
    let no_utf8 = |n: usize| {
        let error = bad("is not UTF-8", n);
        // Of UTF-8 elsewhere in the file a byte may have been lost, and no other encoding is right.
        match BeyondAscii::of(&head.text) {
            _ if !decode::is_utf8(head.input.encoding) => {
                error.advise(format!("check --encoding, {or_data}"))
            }
            beyond if let Some(words) = head.input.encoding_words(beyond) => {
                error.advise(words).advise(or_data)
            }
            beyond if beyond.has_utf8() => error.advise(format!("fix the name, {or_data}")),
            _ => error.advise(format!("check --encoding, {or_data}")),
        }
    };
    values
        .into_iter()
        .enumerate()
        .map(|(index, value)| {
            let name = String::from_utf8(value).map_err(|_| no_utf8(index + 1))?;
            if name.contains('\0') {
                let error = bad("holds a NUL byte", index + 1);
                return Err(error.advise(format!("check --encoding, {or_data}")));
            }
            let is_quoted = quoted.get(index).copied().unwrap_or(false);
            let is_kept = is_quoted && !name.trim().is_empty();
            let name = if is_kept { name } else { name.trim().to_owned() };
            if let Some(unseen) = unseen(&name) {
                let what = match unseen {
                    '\u{feff}' => ", a byte order mark",
                    '\u{a0}' => ", a blank that breaks no line",
                    '\n' | '\r' => ", a line break",
                    _ => "",
                };
                warnings.push(format!(
                    "the name of column {} in the header, {}, holds a character that is not seen: U+{:04X}{what}",
                    index + 1,
                    shorten(name.as_bytes()),
                    u32::from(unseen),
                ));
            }
            Ok(name)
        })
        .collect()
}

/// What is the same of names that no database tells apart. MySQL has the capital dotted i of Turkish for an i.
fn folded(name: &str) -> String {
    name.replace('\u{130}', "i").to_lowercase()
}

/// A character of a name that is not seen: one without a look of its own, one that is for terminals, or another blank than that of the
/// keyboard at one end.
fn unseen(name: &str) -> Option<char> {
    let is_blank = |c: &char| c.is_whitespace() && *c != ' ';
    let ends = [name.chars().next(), name.chars().next_back()];
    let inside = name.chars().find(|c| is_invisible(*c) || c.is_control());
    inside.or_else(|| ends.into_iter().flatten().find(is_blank))
}

/// Makes names usable, as [`unique`] does, for columns that options may name.
///
/// # Errors
/// When an option names a column so that gets another name for differing from an earlier one's in case alone: by that name options mean the
/// earlier one, and the user hardly does.
pub(super) fn named(
    names: Vec<String>,
    read: &Readers,
    warnings: &mut Vec<String>,
) -> Result<Vec<String>> {
    // Thousands of columns are looked through only where something is said of one.
    if read.option_that_names(|_| true).is_none() {
        return Ok(unique(names, warnings));
    }
    let made = unique(names.clone(), warnings);
    for (name, is) in names.iter().zip(&made).filter(|(name, is)| name != is) {
        let is_same = |other: &str| folded(other) == folded(name);
        // Of columns with the very same name it is the first.
        let first = made.iter().find(|other| is_same(other)).filter(|first| *first != name);
        let Some(first) = first else { continue };
        if let Some((option, said)) = read.option_that_names(|said| is_same(said) && said != first)
        {
            return Err(Error::usage(format!(
                "{option} {said}: which column is that? The source has {first}, and a second one whose name, {name}, differs in case alone"
            ))
            .advise(format!("say {first}, or for the second one {is}, which it is called")));
        }
    }
    Ok(made)
}

/// Makes names usable: an empty one becomes `column_N`, a second `a` becomes `a_2`. Case doesn't tell names apart in SQL.
pub(super) fn unique(names: Vec<String>, warnings: &mut Vec<String>) -> Vec<String> {
    let mut taken: std::collections::HashSet<String> =
        names.iter().map(|name| folded(name)).collect();
    let mut seen = std::collections::HashSet::new();
    // Where the search for a free number goes on, by what stands before it: thousands of columns may have one name.
    let mut next = std::collections::HashMap::new();
    names
        .into_iter()
        .enumerate()
        .map(|(index, name)| {
            if !name.is_empty() && seen.insert(folded(&name)) {
                return name;
            }
            let (base, first) =
                if name.is_empty() { ("column", index + 1) } else { (name.as_str(), 2) };
            let next = next.entry(name.clone()).or_insert(first);
            *next = first.max(*next);
            let free = loop {
                let candidate = format!("{base}_{next}");
                *next += 1;
                if taken.insert(folded(&candidate)) {
                    break candidate;
                }
            };
            let what = if name.is_empty() {
                "has no name".to_owned()
            } else {
                format!("is a second '{name}'")
            };
            warnings.push(format!("column {} {what}: it is called {free}", index + 1));
            seen.insert(folded(&free));
            free
        })
        .collect()
}

/// What a later input's names are.
#[derive(Clone, Copy)]
pub(super) enum Names<'a> {
    /// Its first line, which may be a row.
    Line(&'a Lines),
    /// The first row of a sheet, which may be none of names either.
    Row,
    /// Its schema.
    Schema,
}

/// Inputs of text.
pub(super) struct Lines {
    places: Vec<Place>,
    /// The one that says how all are written.
    lead: usize,
    /// Whether all are plain files of text, which other programs can join.
    are_plain: bool,
}

impl Lines {
    /// What to try where the input of this name has none of the first one's columns.
    fn advice(&self, input: &str) -> Vec<String> {
        let join = match self.are_plain {
            true => {
                "if that is a row, the file is a piece of a split one: sed '' FIRST SECOND... | inrush load - TARGET --table NAME"
            }
            false => {
                "if that is a row, the file is a piece of a split one: put the header in front of it"
            }
        };
        let here = self.places.iter().find(|place| place.name() == input);
        let Some((first, here)) = self.places.get(self.lead).zip(here) else {
            return vec![join.to_owned()];
        };
        // What is called text may be about the data.
        let is_about = |place: &Place| matches!(&*place.extension(), "" | "txt");
        if first.extension() == here.extension() || !is_about(first) && !is_about(here) {
            return vec![join.to_owned()];
        }
        let (others, wanted): (Vec<_>, Vec<_>) =
            self.places.iter().partition(|place| is_about(place));
        let mut advice: Vec<String> = apart::advice(&wanted, &others).into_iter().collect();
        match others[..] {
            [one] => advice.insert(0, format!("leave out {}, if it is about the data", one.name())),
            _ => advice.push(join.to_owned()),
        }
        advice
    }
}

/// Where a later input has each of the fields that those before it have; what only it has becomes one of them where the user wants
/// that.
pub(super) fn order(
    names: &mut Vec<String>,
    here: &[String],
    input: &str,
    are: Names<'_>,
    columns: &ColumnRequest,
) -> Result<Vec<Option<usize>>> {
    if names == here {
        return Ok((0..names.len()).map(Some).collect());
    }
    let find = |name: &String, among: &[String]| position(name, among, columns);
    let listed =
        |found: &mut dyn Iterator<Item = &String>| -> Vec<String> { found.cloned().collect() };
    let mut missing = listed(&mut names.iter().filter(|name| find(name, here).is_none()));
    let mut extra = listed(&mut here.iter().filter(|name| find(name, names).is_none()));
    let may_miss = columns.missing == Some(MissingColumns::Null);
    let are_same = missing.is_empty() && extra.is_empty();
    // The pieces of a file that was split have no header but the first: whatever is allowed, none of their rows names columns.
    let are_all_other = missing.len() == names.len() && !names.is_empty() && !here.is_empty();
    // What is not loaded may be missing, or more.
    let both: Vec<&String> = names.iter().chain(here).collect();
    let is_left_out = |name: &String| columns.is_dropped(name, &both);
    let is_unloaded = |name: &String| is_left_out(name) || columns.is_unchosen(name, &both);
    let dropped = listed(&mut extra.iter().filter(|name| is_left_out(name)));
    missing.retain(|name| !is_unloaded(name));
    extra.retain(|name| !is_unloaded(name));
    let is_other = !missing.is_empty() && !may_miss
        || !extra.is_empty() && columns.new == NewColumns::Fail
        || are_same && names.len() != here.len();
    let are_added = columns.new == NewColumns::Add && !is_other;
    if are_all_other && !(are_added && matches!(are, Names::Schema)) {
        return Err(all_other(input, here, names, are));
    }
    if !is_other {
        // The option that drops one has to find it.
        names.extend(dropped);
    }
    if are_added {
        names.extend(extra.iter().cloned());
    }
    let order: Vec<Option<usize>> = names.iter().map(|name| find(name, here)).collect();
    // Where a name comes twice, here or there, one place has both, or none.
    let mut takers = vec![0; here.len()];
    order.iter().copied().flatten().for_each(|at| takers[at] += 1);
    let are_told_apart = takers
        .iter()
        .zip(here)
        .all(|(takers, name)| *takers == 1 || *takers == 0 && find(name, names).is_none());
    if !is_other && are_told_apart {
        return Ok(order);
    }
    if !is_other || missing.is_empty() && extra.is_empty() {
        return Err(Error::source(format!(
            "{input} has the columns {}, and the first input {}: of a name that comes twice it can't be told which is which",
            list(here),
            list(names)
        ))
        .advise("give each column a name of its own, or load them one by one"));
    }
    let mut error = Error::source(format!(
        "{input} has other columns than the first input (missing: {}; more: {})",
        list(&missing),
        list(&extra)
    ));
    if !missing.is_empty() && !may_miss {
        error = error.advise("--missing-columns null makes them NULL in its rows");
    }
    if !extra.is_empty() && columns.new == NewColumns::Fail {
        error = error.advise("--new-columns add takes what it has more, ignore leaves it out");
    }
    Err(error.advise("or load files of different shape into tables of their own"))
}

/// Where a name is among others; one that is written the same goes before one that differs in case.
fn position(name: &str, among: &[String], columns: &ColumnRequest) -> Option<usize> {
    let exactly = among.iter().position(|other| other == name);
    exactly.or_else(|| among.iter().position(|other| columns.is_one(other, name)))
}

/// An input that has none of the columns of those before it, `names`.
fn all_other(input: &str, here: &[String], names: &[String], are: Names<'_>) -> Error {
    let (what, advice) = match are {
        Names::Line(lines) => ("its first line is", lines.advice(input)),
        Names::Row => (
            "its own are",
            vec!["give all sheets the names of their columns in the first row".to_owned()],
        ),
        Names::Schema => {
            ("its own are", vec!["give its columns the names that the first input has".to_owned()])
        }
    };
    let of_first = match are {
        Names::Line(Lines { places, lead, .. }) => {
            let name = places.get(*lead).map(Place::name).unwrap_or_default();
            format!("; {name} has {}", list(&names[..names.len().min(SHOWN_MAX)]))
        }
        Names::Row | Names::Schema => String::new(),
    };
    let error = Error::source(format!(
        "{input} has none of the first input's columns: {what} {}{of_first}",
        list(here)
    ));
    advice
        .into_iter()
        .fold(error, Error::advise)
        .advise("or load files of different shape into tables of their own")
}

/// A header that is one name by the first input's delimiter, and by another several, one of them a name of the inputs before it.
fn refuse_other_delimiter(
    input: &str,
    here: &[String],
    names: &[String],
    dialect: &Dialect,
    columns: &ColumnRequest,
) -> Result<()> {
    let [name] = here else { return Ok(()) };
    let own = char::from(dialect.delimiter);
    let separates = |delimiter: &char| {
        *delimiter != own
            && name.contains(*delimiter)
            && name.split(*delimiter).any(|part| position(part.trim(), names, columns).is_some())
    };
    let other = [',', ';', '\t', '|'].into_iter().find(separates);
    match other.filter(|_| position(name, names, columns).is_none()) {
        Some(other) => Err(Error::source(format!(
            "{input} seems to separate its fields by [{}], and the first input does by [{}]",
            other.escape_default(),
            own.escape_default()
        ))
        .advise("load files with other delimiters one by one")),
        None => Ok(()),
    }
}

fn list(names: &[String]) -> String {
    if names.is_empty() { "none".to_owned() } else { names.join(", ") }
}

/// The options that leave out lines, of a file that has any.
fn left_out_by(head: &Head, request: &DialectRequest) -> Option<String> {
    let skipped = [
        (head.skip_lines > 0).then(|| format!("--skip-lines {}", head.skip_lines)),
        request.comment.map(|byte| format!("--comment '{}'", char::from(byte))),
    ];
    let skipped: Vec<String> = skipped.into_iter().flatten().collect();
    (!skipped.is_empty() && !head.text.trim_ascii().is_empty()).then(|| skipped.join(" and "))
}

#[cfg(test)]
mod tests {
    use super::*;
    use inrush_core::Case;

    const LINE: Names<'_> = Names::Line(&Lines { places: Vec::new(), lead: 0, are_plain: true });

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
        let turkish = unique(names(&["ID", "\u{130}d", "\u{130}D_2"]), &mut Vec::new());
        assert_eq!(turkish, ["ID", "\u{130}d_3", "\u{130}D_2"]);
    }

    /// By the square of their number they would take an hour.
    #[test]
    fn many_columns_of_one_name_take_no_time_out_of_proportion() {
        let made = unique(vec!["a".to_owned(); 200_000], &mut Vec::new());
        assert_eq!((made[0].as_str(), made[199_999].as_str()), ("a", "a_200000"));
    }

    #[test]
    fn later_inputs_may_order_their_columns_otherwise() {
        let columns = ColumnRequest::default();
        let of = |here: &[&str], columns: &ColumnRequest| {
            let mut all = names(&["a", "b"]);
            order(&mut all, &names(here), "x", LINE, columns).map(|order| (all, order))
        };
        assert_eq!(of(&["B", "a"], &columns).unwrap().1, [Some(1), Some(0)]);
        let error = of(&["a", "c"], &columns).unwrap_err();
        assert!(error.what().contains("missing: b; more: c"));
        assert!(of(&["a"], &columns).is_err());
        let null = ColumnRequest { missing: Some(MissingColumns::Null), ..columns.clone() };
        assert_eq!(of(&["a"], &null).unwrap().1, [Some(0), None]);
        assert!(of(&["a", "c"], &null).is_err());
        let add = ColumnRequest { new: NewColumns::Add, ..columns.clone() };
        let (all, order) = of(&["c", "b", "a"], &add).unwrap();
        assert_eq!((all, order), (names(&["a", "b", "c"]), vec![Some(2), Some(1), Some(0)]));
        let ignore = ColumnRequest { new: NewColumns::Ignore, ..null };
        assert_eq!(of(&["c", "b"], &ignore).unwrap(), (names(&["a", "b"]), vec![None, Some(1)]));
        let exact = ColumnRequest { case: Case::Exact, ..columns };
        assert!(of(&["B", "a"], &exact).is_err());
    }

    #[test]
    fn what_the_options_leave_out_or_rename_makes_no_difference() {
        let list = |of: &[&str]| names(of);
        let none = ColumnRequest::default();
        let drops = ColumnRequest { dropped: list(&["x"]), ..none.clone() };
        let of = |first: &[&str], here: &[&str], columns: &ColumnRequest| {
            let mut all = names(first);
            order(&mut all, &names(here), "in", LINE, columns).map(|order| (all, order))
        };
        let (both, added) = (vec![Some(0), Some(1), Some(2)], names(&["a", "b", "x"]));
        assert_eq!(of(&["a", "b"], &["a", "b", "x"], &drops).unwrap(), (added.clone(), both));
        let lacks = vec![Some(1), Some(0), None];
        assert_eq!(of(&["a", "b", "x"], &["b", "a"], &drops).unwrap(), (added, lacks));
        assert!(of(&["a", "b"], &["a", "x"], &drops).is_err());
        assert!(of(&["a", "b"], &["a", "b", "x", "y"], &drops).is_err());
        let chooses = ColumnRequest { chosen: list(&["a", "B"]), ..none.clone() };
        let (all, order) = of(&["a", "b", "c"], &["b", "x", "a"], &chooses).unwrap();
        assert_eq!((all.len(), order), (3, vec![Some(2), Some(0), None]));
        assert!(of(&["a", "b", "c"], &["x", "a"], &chooses).is_err());
        // Of a name with commas the pieces name nothing.
        let pieces = ColumnRequest { chosen: list(&["a", "b", "c"]), ..none.clone() };
        assert!(of(&["a", "b,c"], &["a"], &pieces).is_err());
        let renames = ColumnRequest { renamed: list(&["ident=a"]), ..none };
        for (first, here) in [("a", "ident"), ("ident", "a")] {
            let (_, order) = of(&[first, "b"], &["b", here], &renames).unwrap();
            assert_eq!(order, [Some(1), Some(0)]);
        }
    }

    #[test]
    fn a_field_that_has_the_name_of_another_is_not_left_out() {
        let null =
            ColumnRequest { missing: Some(MissingColumns::Null), ..ColumnRequest::default() };
        let add = ColumnRequest { new: NewColumns::Add, ..null.clone() };
        let ignore = ColumnRequest { new: NewColumns::Ignore, ..null.clone() };
        for (here, columns) in [
            (&["a", "a"][..], &null),
            (&["a", "A", "c"], &add),
            (&["a", "c", "c"], &add),
            (&["a", "b", "b", "c"], &ignore),
        ] {
            let error =
                order(&mut names(&["a", "b"]), &names(here), "x", LINE, columns).unwrap_err();
            assert!(error.what().contains("a name that comes twice"), "{here:?}: {}", error.what());
        }
        // Of columns that are left out it does not matter.
        let left_out = order(&mut names(&["a", "b"]), &names(&["a", "c", "c"]), "x", LINE, &ignore);
        assert_eq!(left_out.unwrap(), [Some(0), None]);
    }
}
