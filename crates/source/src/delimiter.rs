//! What separates fields: the character that gives every record the same number of them.
//!
//! What one character's reading finds in quotes says nothing for another: in `a<TAB>"31,818.28"` the comma is text. Where two read the
//! head equally well, one that a space follows every time loses (`Last, First`), and then the rarer in running text and in numbers wins.

use inrush_scan::{Dialect, Field, Scanner};

use crate::look::{Records, Strays};
use crate::quoting::usual;

/// Delimiters that are looked for, in the order in which they win where several read the head equally well.
pub(super) const DELIMITERS: [u8; 4] = [b'\t', b';', b'|', b','];

/// Delimiters that are never found by looking, but pointed out where no other was found.
const OTHERS: [u8; 5] = [b' ', b':', b'^', 0x01, 0x1f];

/// Shares of regular records that differ by less than this differ by a few bad rows.
const NOISE: f64 = 0.02;

/// Lines with few values among which a title is looked for; below more of them is a table that is mostly empty.
const TITLE_LINES_MAX: usize = 10;

/// Records that have to agree before nothing else is possible.
const SURE_MIN: usize = 2;

/// The reading that was chosen.
pub(super) struct Found {
    pub(super) dialect: Dialect,
    /// Other delimiters that read the head as well.
    pub(super) rivals: Vec<u8>,
    /// Whether each record is one field.
    pub(super) is_one_column: bool,
    /// Whether no more than half of the records have the same number of fields, and more than one.
    pub(super) is_ragged: bool,
    /// Lines before the first with the usual number of fields, if all of them have far fewer: a title.
    pub(super) title_lines: usize,
    /// Whether these have as many fields, most of them empty, as programs fill up all lines of a sheet.
    pub(super) title_is_filled_up: bool,
    /// Whether a blank stands behind every delimiter, or nearly.
    pub(super) is_spaced: bool,
}

impl Found {
    /// Commas, where nothing else can be.
    pub(super) fn plain() -> Self {
        Self {
            dialect: Dialect::csv(),
            rivals: Vec::new(),
            is_one_column: false,
            is_ragged: false,
            title_lines: 0,
            title_is_filled_up: false,
            is_spaced: false,
        }
    }
}

/// Of these dialects, one for each delimiter and the likelier first, the one that reads `head` best; where none gives
/// several fields to most records, the one with `default` as its delimiter, unless another splits them at least.
pub(super) fn choose(
    head: &[u8],
    whole: bool,
    dialects: Vec<Dialect>,
    default: u8,
) -> Option<Found> {
    let strays: Vec<u32> =
        dialects.iter().filter_map(|dialect| stray(head, whole, dialect)).collect();
    let mut readings = readings(head, whole, &dialects, Strays::At(&strays));
    if !readings.iter().any(Reading::separates) {
        readings = self::readings(head, whole, &dialects, Strays::All);
    }
    let most = readings.iter().filter(|reading| reading.separates()).map(Reading::share);
    let most = most.fold(0.0, f64::max);
    // The first record counts for more than one in a thousand: a header has the data's delimiters, and not their text.
    let mut good: Vec<&Reading> = readings
        .iter()
        .filter(|reading| reading.separates() && reading.share() > most - NOISE)
        .collect();
    if good.iter().any(|reading| reading.starts_regular()) {
        good.retain(|reading| reading.starts_regular());
    }
    // A stable sort: the likelier first.
    good.sort_by_key(|reading| (reading.is_spaced(), !reading.is_perfect()));
    let (chosen, rivals) = match good.split_first() {
        Some((first, others)) => (*first, others),
        None => (ragged(&readings, default)?, &[][..]),
    };
    Some(Found {
        dialect: chosen.dialect.clone(),
        rivals: rivals.iter().map(|reading| reading.dialect.delimiter).collect(),
        is_one_column: chosen.is_one_column(),
        is_ragged: !chosen.separates(),
        title_lines: chosen.title_lines(head),
        title_is_filled_up: chosen.starts_regular(),
        is_spaced: chosen.is_spaced(),
    })
}

/// What all dialects look at.
#[derive(Clone, Copy)]
struct Look<'h> {
    head: &'h [u8],
    whole: bool,
    strays: Strays<'h>,
}

impl<'h> Look<'h> {
    fn by(self, dialect: &'h Dialect) -> Records<'h> {
        Records::knowing(self.strays, self.head, self.whole, dialect)
    }
}

/// How each dialect reads the head, where the others' quotes are respected.
fn readings(head: &[u8], whole: bool, dialects: &[Dialect], strays: Strays<'_>) -> Vec<Reading> {
    let look = Look { head, whole, strays };
    let quoted: Vec<_> = dialects.iter().map(|dialect| quoted(look.by(dialect))).collect();
    let read = |dialect: &Dialect, others| Reading::of(look.by(dialect), head, dialect, others);
    let alone: Vec<Reading> = dialects.iter().map(|dialect| read(dialect, Vec::new())).collect();
    let tears = |other: usize, index: usize| {
        !quoted[other].is_empty() && read(&dialects[index], vec![&quoted[other]]).torn > 0
    };
    // The wrong reading has quotes, too: those that open where the right one's close. It has them from line to line, and so
    // fewer records; and few of them are alike.
    let opens_inside = |other: usize, index: usize| {
        let first = quoted[other].first();
        first.is_some_and(|(at, _)| quoted[index].iter().any(|(from, to)| from < at && at <= to))
    };
    let is_believed = |other: usize, index: usize| {
        other != index
            && alone[other].separates()
            && tears(other, index)
            && !opens_inside(other, index)
            && (alone[other].records > alone[index].records || !tears(index, other))
    };
    (0..dialects.len())
        .map(|index| {
            let others = (0..dialects.len()).filter(|other| is_believed(*other, index));
            read(&dialects[index], others.map(|other| quoted[other].as_slice()).collect())
        })
        .collect()
}

/// Where no reading gives most records the same number of fields: the one that splits most of them, and the first.
fn ragged(readings: &[Reading], default: u8) -> Option<&Reading> {
    let is_default = |reading: &&Reading| reading.dialect.delimiter == default;
    readings
        .iter()
        .filter(|reading| reading.first_width > 1 && reading.wide * 2 > reading.records)
        .max_by_key(|reading| (reading.wide, is_default(reading)))
        .or_else(|| readings.iter().find(is_default))
        .or(readings.first())
}

/// A delimiter that is not looked for and would give every record the same number of fields, and how many. `dialect` is
/// the one that was found, and `is_ragged` whether it does so to no more than half of the records. Of others a blank or a colon may be
/// part of each record, and a control character is none of any text.
pub(super) fn pointed_out(
    head: &[u8],
    whole: bool,
    dialect: &Dialect,
    is_ragged: bool,
) -> Option<(u8, usize)> {
    let may_be = |delimiter: &&u8| {
        (is_ragged || delimiter.is_ascii_control()) && memchr::memchr(**delimiter, head).is_some()
    };
    OTHERS.iter().filter(may_be).find_map(|&delimiter| {
        let dialect = Dialect { delimiter, ..dialect.clone() };
        dialect.check().ok()?;
        let reading = Reading::of(Records::new(head, whole, &dialect), head, &dialect, Vec::new());
        reading.is_sure().then_some((delimiter, reading.width))
    })
}

/// Whether every record of `head` has the same number of fields, and more than one; of a single record nobody can tell.
pub(super) fn is_regular(head: &[u8], whole: bool, dialect: &Dialect) -> bool {
    Reading::of(Records::new(head, whole, dialect), head, dialect, Vec::new()).is_sure()
}

/// How a dialect reads the head.
struct Reading {
    dialect: Dialect,
    /// Records looked at, without blank lines.
    records: usize,
    /// The usual number of fields.
    width: usize,
    /// Records with that number, sound quoting, and no field that ends inside another dialect's quotes.
    regular: usize,
    /// Records with a field that ends inside another dialect's quotes.
    torn: usize,
    /// Records of more than one field.
    wide: usize,
    /// The first record's number of fields.
    first_width: usize,
    /// Delimiters between fields, and how many of them a space follows.
    delimiters: usize,
    spaced: usize,
}

impl Reading {
    fn of(
        mut looked: Records<'_>,
        head: &[u8],
        dialect: &Dialect,
        others: Vec<&[(u32, u32)]>,
    ) -> Self {
        let mut others: Vec<Spans> = others.into_iter().map(Spans::new).collect();
        let mut fields = Vec::new();
        let mut widths: Vec<usize> = Vec::new();
        let (mut records, mut torn, mut wide, mut delimiters, mut spaced) = (0, 0, 0, 0, 0);
        let mut first_width = None;
        while let Some(record) = looked.next(&mut fields) {
            records += 1;
            if record.fault.is_some() {
                first_width.get_or_insert(0);
                continue;
            }
            first_width.get_or_insert(fields.len());
            let mut is_torn = false;
            for at in ends(&fields) {
                delimiters += 1;
                spaced += usize::from(head.get(at as usize + 1) == Some(&b' '));
                is_torn |= others.iter_mut().fold(false, |torn, spans| torn | spans.hold(at));
            }
            torn += usize::from(is_torn);
            if !is_torn {
                widths.push(fields.len());
                wide += usize::from(fields.len() > 1);
            }
        }
        let width = usual(&widths);
        let regular = widths.iter().filter(|w| **w == width).count();
        let first_width = first_width.unwrap_or(0);
        let dialect = dialect.clone();
        Self { dialect, records, width, regular, torn, wide, first_width, delimiters, spaced }
    }

    fn share(&self) -> f64 {
        self.regular as f64 / self.records.max(1) as f64
    }

    fn is_perfect(&self) -> bool {
        self.regular == self.records
    }

    /// Whether most records have the same number of fields, and more than one.
    fn separates(&self) -> bool {
        self.width > 1 && self.regular * 2 > self.records
    }

    /// Whether every record has the same number of fields, and more than one; of a single record nobody can tell.
    fn is_sure(&self) -> bool {
        self.width > 1 && self.is_perfect() && self.records >= SURE_MIN
    }

    fn starts_regular(&self) -> bool {
        self.first_width == self.width
    }

    /// Whether a space follows every delimiter, as in running text; or nearly.
    fn is_spaced(&self) -> bool {
        self.spaced > 0 && self.spaced as f64 > (1.0 - NOISE) * self.delimiters as f64
    }

    fn title_lines(&self, head: &[u8]) -> usize {
        if !self.separates() {
            return 0;
        }
        let is_filled_up = self.starts_regular();
        let mut scanner = Scanner::new(&self.dialect, head);
        let (mut fields, mut lines) = (Vec::new(), 0);
        while let Some(record) = scanner.next(&mut fields) {
            if record.is_blank() {
                continue;
            }
            let with_values = match is_filled_up {
                true => fields.iter().filter(|field| !field.raw(head).is_empty()).count(),
                false => fields.len(),
            };
            let is_short = with_values * 2 <= self.width;
            let is_whole = fields.len() == self.width && !(is_filled_up && is_short);
            if record.fault.is_none() && is_whole {
                // Comments and blank lines alone are no title.
                if lines == 0 {
                    return 0;
                }
                let before = &head[..record.start as usize];
                return inrush_scan::count_lines(&self.dialect, before) as usize;
            }
            lines += 1;
            if record.fault.is_some() || !is_short || is_filled_up && lines == TITLE_LINES_MAX {
                return 0;
            }
        }
        0
    }

    fn is_one_column(&self) -> bool {
        self.records > 0 && self.width == 1 && self.first_width <= 1
    }
}

/// Where the delimiters behind all fields but the last stand.
fn ends(fields: &[Field]) -> impl Iterator<Item = u32> + '_ {
    let inner = fields.split_last().map_or(&[][..], |(_, inner)| inner);
    inner.iter().map(|field| field.end + u32::from(field.form.is_quoted()))
}

/// Where a stray quote stands to a dialect. To others it is one as well, though what follows may be no records to them.
fn stray(head: &[u8], whole: bool, dialect: &Dialect) -> Option<u32> {
    let mut looked = Records::new(head, whole, dialect);
    let mut fields = Vec::new();
    while looked.next(&mut fields).is_some() {}
    looked.stray()
}

/// Where quoted fields lie, in order.
fn quoted(mut looked: Records<'_>) -> Vec<(u32, u32)> {
    let mut spans = Vec::new();
    let mut fields = Vec::new();
    while let Some(record) = looked.next(&mut fields) {
        if record.fault.is_none() {
            let quoted = fields.iter().filter(|field| field.form.is_quoted());
            spans.extend(quoted.map(|field| (field.start, field.end)));
        }
    }
    spans.extend(looked.open().map(|at| (at, u32::MAX)));
    spans
}

/// Spans that are asked about offsets in rising order.
struct Spans<'a> {
    left: &'a [(u32, u32)],
}

impl<'a> Spans<'a> {
    fn new(spans: &'a [(u32, u32)]) -> Self {
        Self { left: spans }
    }

    /// Whether one of them holds the offset.
    fn hold(&mut self, at: u32) -> bool {
        while let Some(((_, end), left)) = self.left.split_first()
            && *end <= at
        {
            self.left = left;
        }
        self.left.first().is_some_and(|(start, _)| *start <= at)
    }
}

#[cfg(test)]
mod tests;
