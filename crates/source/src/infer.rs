//! Column types from values: the narrowest type that no value would have to change for.

use std::cmp::Ordering;
use std::sync::{Arc, Mutex, PoisonError};

use inrush_scan as scan;

use crate::Input;
use inrush_core::encode::{BadValue, EncodeRow, Row, Typed};
use inrush_core::error::shorten;
use inrush_core::flow::{Chunk, Encoded, Origin, Wire};
use inrush_core::reading::{ColumnReads, Family, Fractions, Unread};
use inrush_core::value;
use inrush_core::{Form, Misfit, MomentFacts, ReadFacts, Spoiler, Type};

/// The candidates, narrowest first. A column gets the first one that all its values fit.
const CANDIDATES: [Candidate; 8] = [
    Candidate::Integer,
    Candidate::Float,
    Candidate::Decimal,
    Candidate::Boolean,
    Candidate::Date,
    Candidate::Timestamp,
    Candidate::TimestampZone,
    Candidate::Json,
];

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Candidate {
    Integer,
    Float,
    Decimal,
    Boolean,
    Date,
    Timestamp,
    TimestampZone,
    Json,
}

/// Of a column of text one value in so many, as options for all columns would read it, says that they may have been meant for it.
const UNREAD_SHARE: u64 = 10;

/// What programs write for NULL, in any case. Only ever suggested: `NA` is also Namibia, and where an empty text is one, it is no NULL.
const NULL_LIKE: [&[u8]; 15] = [
    b"NA", b"N/A", b"#N/A", b"<NA>", b"NULL", b"(null)", b"<null>", b"NaN", b"None", b"\\N", b"-",
    b"--", b".", b"?", b"",
];

/// Whether the value is what many a program writes for NULL.
pub fn is_null_like(value: &[u8]) -> bool {
    value.len() <= 6 && NULL_LIKE.iter().any(|null| null.eq_ignore_ascii_case(value))
}

/// What was seen of one column.
#[derive(Clone, Debug, Default, PartialEq)]
pub(crate) struct Observed {
    values: u64,
    tried: [Tried; CANDIDATES.len()],
    /// The first value that is a float among floats, and else rather an identifier: `1e5`, `-0`, whole numbers of more than 64 bits.
    odd: Option<Sight>,
    /// The first value that begins with a byte order mark, as where one file was put behind another.
    marked: Option<Sight>,
    /// Values written with a point, or otherwise as nothing but a float.
    points: u64,
    /// Floats of a source with types of its own that are no numbers: NaN and the infinities.
    specials: u64,
    /// Digits after the point of values that have one, at the least; `digits_after` is the most.
    scale_min: Option<u16>,
    /// The first value with a zero at the end that no program writes for a number: `1.10`, not `1.0`.
    padded: Option<Sight>,
    /// Values that are no texts to a source that tells these from others.
    typed: u64,
    /// Values that look like a way to write NULL, and how they are written.
    null_like: u64,
    null_spellings: Vec<String>,
    /// The quotes around the value that is looked at, if it is one of them: without these no spelling is for it.
    null_quote: Option<u8>,
    digits_before: u16,
    digits_after: u16,
    /// Whether it is known which values are no truths, days, moments or documents, so that another number is no news...
    is_numeric: bool,
    /// ... and that some are no numbers either.
    is_textual: bool,
    moments: MomentFacts,
    /// The first value that is as fine as any.
    finest: Option<Sight>,
    /// What was seen of the values as the options of reading have them, where any concern the column.
    read: Option<Box<ReadSeen>>,
}

/// What the values of a column are as the options of reading have them.
#[derive(Clone, Debug)]
struct ReadSeen {
    reads: Arc<ColumnReads>,
    seen: Observed,
    /// How many values are others as the options read them than as they are written, by what the options make of them.
    meant: [u64; Family::ALL.len()],
    /// The first value that the options don't read.
    misfit: Option<Sight>,
    /// How many such values are more than text as they are written.
    plain: u64,
    /// The first value that two forms read differently, and these.
    two_ways: Option<(Sight, [String; 2])>,
    text: Vec<u8>,
}

impl ReadSeen {
    /// Whether values were found that are others as the options read them, and more of these than of values that only are any as they
    /// are written: then the options are meant for the column, whatever else stands there.
    fn is_meant(&self) -> bool {
        self.meant.iter().any(|meant| *meant > self.plain)
    }

    fn sights(&mut self) -> impl Iterator<Item = &mut Sight> {
        let two_ways = self.two_ways.as_mut().map(|(sight, _)| sight);
        self.misfit.iter_mut().chain(two_ways)
    }
}

impl PartialEq for ReadSeen {
    fn eq(&self, other: &Self) -> bool {
        Arc::ptr_eq(&self.reads, &other.reads) && self.seen == other.seen
    }
}

/// What was seen of one column as values of one type.
#[derive(Clone, Debug, Default, PartialEq)]
struct Tried {
    /// Values that are of the type.
    fits: u64,
    /// The first that isn't.
    misfit: Option<Sight>,
}

/// A value that decides something, shortened, and where it stands.
#[derive(Clone, Debug, PartialEq)]
struct Sight {
    value: String,
    spot: Spot,
}

/// A record's place in the source: its input, its offset there, and its line, from 1, when that is known. Offsets order them.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) struct Spot {
    file: u32,
    byte: u64,
    line: Option<u64>,
    /// The row's number, from 1, of what is in columns, which have no bytes.
    row: Option<u64>,
}

impl Spot {
    /// The place of a chunk's row, from 0, until [`Observed::place`] knows more.
    pub(crate) fn row(row: u64) -> Self {
        Self { byte: row, ..Self::default() }
    }

    /// A row of a sheet, from 0.
    pub(crate) fn of_sheet(row: u32) -> Self {
        Self { byte: row.into(), line: Some(u64::from(row) + 1), ..Self::default() }
    }

    /// The place of a chunk's record.
    pub(crate) fn of(chunk: &Chunk, start: u32) -> Self {
        let Origin { file, byte, records, .. } = chunk.origin;
        let here = u64::from(start);
        match (&chunk.sheet, &chunk.batch) {
            (Some(sheet), _) => Self {
                byte: records + here,
                line: sheet.rows.get(start as usize).map(|row| u64::from(*row)),
                file,
                row: None,
            },
            (None, Some(_)) => {
                Self { file, byte: records + here, line: None, row: Some(records + here + 1) }
            }
            (None, None) => Self { file, byte: byte + here, line: None, row: None },
        }
    }
}

impl Sight {
    /// Keeps what comes first in the source.
    fn earlier(known: &mut Option<Sight>, new: &Option<Sight>) {
        if let Some(sight) = new
            && known.as_ref().is_none_or(|known| sight.spot < known.spot)
        {
            *known = new.clone();
        }
    }

    fn misfit(&self, inputs: &[Input]) -> Misfit {
        let Spot { file, byte, line, row } = self.spot;
        let name = inputs.get(file as usize).filter(|_| inputs.len() > 1);
        Misfit {
            value: self.value.clone(),
            file: name.map(|input| input.name.clone()),
            line,
            row,
            byte,
        }
    }
}

/// What a column is as one of the types that were tried.
#[derive(Clone, Debug)]
pub(crate) struct Attempt {
    /// The type.
    pub ty: Type,
    /// Values that are of it.
    pub fits: u64,
    /// The first that isn't.
    pub misfit: Option<Misfit>,
}

/// The narrowest type of a value as files have it; text where there is none.
pub fn type_of(value: &str) -> Type {
    let mut seen = Observed::default();
    if !value.is_empty() {
        seen.add(value.as_bytes(), Spot::default());
    }
    seen.ty()
}

impl Observed {
    /// Nothing seen yet of a column that these options of reading concern.
    pub(crate) fn of(reads: Option<&Arc<ColumnReads>>) -> Self {
        let read = reads.map(|reads| {
            let (reads, seen) = (Arc::clone(reads), Observed::default());
            let (meant, misfit, plain, two_ways, text) = Default::default();
            Box::new(ReadSeen { reads, seen, meant, misfit, plain, two_ways, text })
        });
        Self { read, ..Self::default() }
    }

    /// Nothing seen yet of the same column.
    pub(crate) fn anew(&self) -> Self {
        Self::of(self.read.as_ref().map(|read| &read.reads))
    }

    /// Looks at a value, and notes its place if that matters.
    pub(crate) fn add(&mut self, value: &[u8], spot: Spot) {
        self.add_glanced(value, spot, Plain::of(value), || false);
    }

    /// Looks at a value that is no text. The options read texts, moments of a zone, and numbers of a column that they name.
    pub(crate) fn add_typed(&mut self, value: &[u8], spot: Spot) {
        self.typed += 1;
        self.add_glanced(value, spot, Plain::of(value), || true);
    }

    /// The same of a value whose digits have been looked at, and which may be no text.
    #[inline]
    pub(crate) fn add_glanced(
        &mut self,
        value: &[u8],
        spot: Spot,
        plain: Option<Plain>,
        is_typed: impl FnOnce() -> bool,
    ) {
        if self.read.is_some() {
            self.read(value, spot, is_typed());
        }
        self.add_number(value, spot, plain);
    }

    /// Looks at a value as the options of reading have it.
    #[inline(never)]
    fn read(&mut self, value: &[u8], spot: Spot, is_typed: bool) {
        let Some(read) = self.read.as_deref_mut() else { return };
        let ReadSeen { reads, seen, meant, misfit, plain, two_ways, text } = read;
        text.clear();
        let family = match is_typed {
            true => reads.canonical_typed(value, text),
            false => reads.canonical(value, text),
        };
        match family {
            Some(family) => {
                meant[family as usize] += u64::from(!text.eq_ignore_ascii_case(value));
                seen.add(text, spot);
            }
            None => {
                misfit.get_or_insert_with(|| Sight { value: shorten(value), spot });
                *plain += u64::from(general(value).fits != 0);
                if !reads.is_declared() {
                    seen.count(value, spot, &Class::default());
                }
            }
        }
        if two_ways.is_none()
            && (!is_typed || text.as_slice() != value)
            && let Some(forms) = reads.two_ways(value)
        {
            let sight = Sight { value: shorten(value), spot };
            *two_ways = Some((sight, forms.map(str::to_owned)));
        }
    }

    /// What is reported of the column: of its values as the options of reading have them, where these are for it, and else as they are
    /// written.
    fn reported(&self) -> &Self {
        match &self.read {
            Some(read) if self.is_read() => &read.seen,
            _ => self,
        }
    }

    /// Whether the column's type is that of its values as the options of reading have them: because these make a type of all, or because
    /// most values that can tell are meant so. Then it is text where one can't be read, for as it is written 1.234 would be another number.
    /// Strings of JSON that look like numbers or booleans are of such a type only if any of them is written as the options say: `"12"`
    /// beside `"1,5"`, and not for itself.
    fn is_read(&self) -> bool {
        self.read.as_ref().is_some_and(|read| {
            let is_typed = || self.own_type() != Type::Text;
            let has_type = || read.seen.values > 0 && read.seen.own_type() != Type::Text;
            read.reads.is_declared() || read.is_meant() || has_type() && is_typed()
        })
    }

    /// Whether it has values, and no options are said that read them all, or declare what they are.
    fn is_open(&self) -> bool {
        let is_read = |read: &ReadSeen| {
            let is_all = read.reads.makes_values() && read.misfit.is_none();
            read.reads.is_declared() || is_all
        };
        self.values > 0 && !self.read.as_deref().is_some_and(is_read)
    }

    /// The type of the column as it stands, where it is [open](ReadFacts::is_open).
    pub(crate) fn open_type(&self) -> Option<Type> {
        self.is_open().then(|| self.ty())
    }

    /// What the options of reading make of the column.
    pub(crate) fn reads(&self, inputs: &[Input]) -> ReadFacts {
        let (is_null, fractions) = (self.is_null(), self.reported().fractions());
        let (is_open, marked) = (self.is_open(), self.marked.as_ref());
        let marked = marked.map(|sight| sight.misfit(inputs));
        let mut facts = ReadFacts { is_null, is_open, fractions, marked, ..ReadFacts::default() };
        let Some(read) = &self.read else { return facts };
        let fits = |seen: &Self, family| {
            let tried = CANDIDATES.iter().zip(&seen.tried);
            let of_family = tried
                .filter(|(candidate, _)| Family::of(seen.type_of(**candidate)) == Some(family));
            of_family.map(|(_, tried)| tried.fits).max().unwrap_or(0)
        };
        for family in Family::ALL {
            // A number may be another one as it is written, and a moment without an offset as well: what the options don't read is
            // bad there. Other values are what they are, or nothing. Days may be the midnights of a column of moments.
            let is_sure = match family {
                Family::Number => false,
                Family::Moment => !read.reads.has_zone(),
                Family::Truth | Family::Day => true,
            };
            // What stands there need not be what a guess takes for such a value: a table's boolean has 0 and 1, its date may be infinite.
            if is_sure && self.values > 0 && fits(&read.seen, family) == 0 {
                facts.plain.add(family);
            } else if read.reads.has(family) && read.plain > 0 {
                facts.made.add(family);
            }
        }
        facts.is_read =
            self.is_read() || self.own_type() == Type::Text && self.own_spoiler(inputs).is_none();
        facts.unread = self.unread(read, inputs);
        let two_ways = read.two_ways.as_ref();
        facts.two_ways = two_ways.map(|(sight, forms)| (sight.misfit(inputs), forms.clone()));
        if read.reads.is_exact() && read.seen.values > 0 {
            facts.exact = Some(read.seen.type_of(Candidate::Decimal));
        }
        facts
    }

    /// What options for all columns read of a column that is taken as it is written, or is text because they don't read all of it.
    fn unread(&self, read: &ReadSeen, inputs: &[Input]) -> Option<Unread> {
        if read.reads.is_declared() {
            return None;
        }
        let (family, meant) = Family::ALL.into_iter().zip(read.meant).max_by_key(|(_, n)| *n)?;
        // 1.234 is a thousand and more to who writes decimals with a comma.
        let has_points = meant == 0
            && self.points > 0
            && read.reads.has_other_point()
            && Family::of(self.own_type()) == Some(Family::Number);
        let is_meant = match self.own_type() {
            // A few such values may stand in any text.
            Type::Text => meant > 0 && UNREAD_SHARE * meant >= self.values,
            Type::Timestamp { zone: false } if read.reads.has_zone() => true,
            _ => meant > 0 || has_points,
        };
        if !is_meant {
            return None;
        }
        let family = if has_points { Family::Number } else { family };
        let (options, words) = read.reads.said_of(family);
        let is_plain = Family::of(self.own_type()) == Some(family);
        let as_written = family.as_written().filter(|_| is_plain && self.is_read());
        let misfit = read.misfit.as_ref()?.misfit(inputs);
        Some(Unread { options, words, as_written, fitting: meant, seen: self.values, misfit })
    }

    /// Looks at a value as it is written. Nearly all numbers of a column of numbers bring no news.
    #[inline]
    fn add_number(&mut self, value: &[u8], spot: Spot, plain: Option<Plain>) {
        let Some(plain) = plain else {
            return self.count(value, spot, &general(value));
        };
        let is_padded = plain.fraction > 1 && value.last() == Some(&b'0');
        let is_known = self.is_numeric && (self.points > 0 || !plain.has_fraction());
        if is_padded || !is_known {
            return self.count(value, spot, &plain.class());
        }
        self.values += 1;
        self.digits_before = self.digits_before.max(plain.whole);
        self.tried[Candidate::Float as usize].fits += 1;
        self.tried[Candidate::Decimal as usize].fits += 1;
        if plain.has_fraction() {
            self.points += 1;
            self.digits_after = self.digits_after.max(plain.fraction);
            self.scale_min =
                Some(self.scale_min.map_or(plain.fraction, |min| min.min(plain.fraction)));
        } else {
            self.tried[Candidate::Integer as usize].fits += 1;
        }
    }

    fn count(&mut self, value: &[u8], spot: Spot, class: &Class) {
        self.values += 1;
        self.points += u64::from(class.is_point);
        let sight = || Sight { value: shorten(value), spot };
        if class.is_odd {
            self.odd.get_or_insert_with(sight);
        }
        if value.starts_with("\u{feff}".as_bytes()) {
            self.marked.get_or_insert_with(sight);
        }
        if is_null_like(value) {
            self.null_like += 1;
            note_spelling(&mut self.null_spellings, &null_spelling(value, self.null_quote));
        }
        if let Some(decimal) = &class.decimal {
            self.digits_before = self.digits_before.max(decimal.precision - decimal.scale);
            self.digits_after = self.digits_after.max(decimal.scale);
            if decimal.scale > 0 {
                self.scale_min =
                    Some(self.scale_min.map_or(decimal.scale, |min| min.min(decimal.scale)));
            }
            if decimal.scale > 1 && value.last() == Some(&b'0') {
                self.padded.get_or_insert_with(sight);
            }
        }
        if let Some(moment) = &class.moment
            && self.moments.see(moment)
        {
            self.finest = Some(sight());
        }
        if class.fits == 0 && self.is_textual {
            return;
        }
        for (candidate, tried) in CANDIDATES.iter().zip(&mut self.tried) {
            if class.fits & (1 << *candidate as u16) != 0 {
                tried.fits += 1;
            } else if tried.misfit.is_none() {
                tried.misfit = Some(sight());
            }
        }
        let is_misfit = |tried: &Tried| tried.misfit.is_some();
        self.is_numeric = self.tried[Candidate::Boolean as usize..].iter().all(is_misfit);
        self.is_textual = self.tried.iter().all(is_misfit);
    }

    /// The quotes around the next value, if that is a way to write NULL.
    fn note_quote(&mut self, quote: Option<u8>) {
        self.null_quote = quote;
        if let Some(read) = &mut self.read {
            read.seen.null_quote = quote;
        }
    }

    /// A float that is no number. That it is a float its own type says, as no text would: `NaN` may be a name.
    pub(crate) fn add_special(&mut self, value: &[u8], spot: Spot) {
        let class =
            Class { fits: 1 << Candidate::Float as u16, is_point: true, ..Class::default() };
        self.count(value, spot, &class);
        self.specials += 1;
    }

    /// Whether the column is of floats, and some of them are none that a text would be taken for: then that is its type, and no
    /// guess. Where the target has no such floats, their rows are bad ones.
    pub(crate) fn has_specials(&self) -> bool {
        self.specials > 0 && self.ty() == Type::Float
    }

    /// A value that is a string: it may be a day or a moment, which have no other form, and nothing else but text.
    pub(crate) fn add_string(&mut self, value: &[u8], spot: Spot) {
        if self.read.is_some() {
            self.read(value, spot, false);
        }
        const MOMENTS: u16 = 1 << Candidate::Date as u16
            | 1 << Candidate::Timestamp as u16
            | 1 << Candidate::TimestampZone as u16;
        let class = general(value);
        let moments =
            Class { fits: class.fits & MOMENTS, moment: class.moment, ..Class::default() };
        self.count(value, spot, &moments);
    }

    pub(crate) fn merge(&mut self, other: &Observed) {
        if let (Some(read), Some(other)) = (&mut self.read, &other.read) {
            read.seen.merge(&other.seen);
            read.meant.iter_mut().zip(other.meant).for_each(|(sum, more)| *sum += more);
            read.plain += other.plain;
            Sight::earlier(&mut read.misfit, &other.misfit);
            if let Some((sight, _)) = &other.two_ways
                && read.two_ways.as_ref().is_none_or(|(known, _)| sight.spot < known.spot)
            {
                read.two_ways.clone_from(&other.two_ways);
            }
        }
        self.values += other.values;
        self.points += other.points;
        self.specials += other.specials;
        self.typed += other.typed;
        self.null_like += other.null_like;
        other.null_spellings.iter().for_each(|more| note_spelling(&mut self.null_spellings, more));
        for (known, new) in self.tried.iter_mut().zip(&other.tried) {
            known.fits += new.fits;
            Sight::earlier(&mut known.misfit, &new.misfit);
        }
        self.digits_before = self.digits_before.max(other.digits_before);
        self.digits_after = self.digits_after.max(other.digits_after);
        self.scale_min = match (self.scale_min, other.scale_min) {
            (Some(a), Some(b)) => Some(a.min(b)),
            (a, b) => a.or(b),
        };
        match self.moments.merge(&other.moments) {
            Ordering::Less => self.finest.clone_from(&other.finest),
            Ordering::Equal => Sight::earlier(&mut self.finest, &other.finest),
            Ordering::Greater => {}
        }
        Sight::earlier(&mut self.padded, &other.padded);
        Sight::earlier(&mut self.odd, &other.odd);
        Sight::earlier(&mut self.marked, &other.marked);
    }

    /// The values that decide something.
    fn sights(&mut self) -> impl Iterator<Item = &mut Sight> {
        let misfits = self.tried.iter_mut().filter_map(|tried| tried.misfit.as_mut());
        let others = [&mut self.padded, &mut self.odd, &mut self.finest, &mut self.marked];
        misfits.chain(others.into_iter().flatten())
    }

    /// Values were told apart by their row in the chunk alone, from 0: now their records' `starts` are known.
    pub(crate) fn place(&mut self, chunk: &Chunk, starts: impl Fn(u64) -> u32) {
        if let Some(read) = &mut self.read {
            read.seen.place(chunk, &starts as &dyn Fn(u64) -> u32);
            read.sights().for_each(|sight| {
                sight.spot = Spot::of(chunk, starts(sight.spot.byte));
            });
        }
        for sight in self.sights() {
            sight.spot = Spot::of(chunk, starts(sight.spot.byte));
        }
    }

    /// Finds the lines of what was seen in this chunk, of which `line` tells the one at an offset.
    pub(crate) fn locate(&mut self, chunk: &Chunk, line: impl Fn(usize) -> u64) {
        if let Some(read) = &mut self.read {
            read.seen.locate(chunk, &line as &dyn Fn(usize) -> u64);
        }
        let Origin { file, byte, .. } = chunk.origin;
        let here = byte..byte + chunk.bytes.len() as u64;
        let mut read = self.read.take();
        let of_read = read.iter_mut().flat_map(|read| read.sights());
        for Sight { spot, .. } in self.sights().chain(of_read) {
            if spot.line.is_none() && spot.file == file && here.contains(&spot.byte) {
                spot.line = Some(line((spot.byte - byte) as usize));
            }
        }
        self.read = read;
    }

    /// How fine the values are that are moments.
    pub(crate) fn moments(&self, inputs: &[Input]) -> MomentFacts {
        let seen = self.reported();
        let finest = seen.finest.as_ref().map(|sight| sight.misfit(inputs));
        MomentFacts { finest, ..seen.moments.clone() }
    }

    /// Digits of the numbers seen before their points, at the most.
    pub(crate) fn digits_before(&self) -> u16 {
        self.digits_before
    }

    /// How many values were seen.
    pub(crate) fn values(&self) -> u64 {
        self.values
    }

    /// What the column is as each of the types, narrowest first: how many values fit, and which is the first that doesn't. Of values as
    /// the options of reading have them, where these are for the column, and else behind those as they are written.
    pub(crate) fn attempts(&self, inputs: &[Input]) -> Vec<Attempt> {
        let attempts = |seen: &Self| {
            let attempt = |(candidate, tried): (&Candidate, &Tried)| Attempt {
                ty: seen.type_of(*candidate),
                fits: tried.fits,
                misfit: tried.misfit.as_ref().map(|sight| sight.misfit(inputs)),
            };
            CANDIDATES.iter().zip(&seen.tried).map(attempt).collect::<Vec<_>>()
        };
        let other = self.read.as_ref().filter(|_| !self.is_read());
        let other = other.map(|read| attempts(&read.seen));
        attempts(self.reported()).into_iter().chain(other.into_iter().flatten()).collect()
    }

    /// Whether it has any value but NULL.
    pub(crate) fn has_values(&self) -> bool {
        self.values > 0
    }

    /// The column's type; text where nothing was seen, unless the user says what it is.
    pub(crate) fn ty(&self) -> Type {
        match &self.read {
            Some(read) if read.reads.is_declared() => {
                let seen = &read.seen;
                // A number is one here whatever its zeros.
                let fits = |(candidate, tried): (&Candidate, &Tried)| {
                    (tried.fits == seen.values).then(|| seen.type_of(*candidate))
                };
                let found = CANDIDATES.iter().zip(&seen.tried).find_map(fits);
                found.filter(|_| seen.values > 0).unwrap_or_else(|| read.reads.default_type())
            }
            _ => self.reported().own_type(),
        }
    }

    /// Whether there was no value but NULL.
    pub(crate) fn is_null(&self) -> bool {
        self.values == 0
    }

    /// The type of all values, of which the first were of that type, and have one each: where all can be of it they are, and texts are
    /// texts whatever they look like.
    pub(crate) fn ty_after(&self, first: Type) -> Type {
        let all = |candidate: Candidate| self.tried[candidate as usize].fits == self.values;
        match first {
            Type::Text | Type::Json | Type::Bytes => first,
            _ if first.is_kind_of_text() => Type::Text,
            Type::Float if all(Candidate::Float) => first,
            Type::Decimal { precision: room, .. }
                if self.specials == 0 && all(Candidate::Decimal) =>
            {
                let (whole, scale) = (self.digits_before, self.digits_after);
                Type::Decimal { precision: room.max(whole.saturating_add(scale)), scale }
            }
            _ => self.ty(),
        }
    }

    fn own_type(&self) -> Type {
        let fits_all =
            |index: usize| self.tried[index].fits == self.values && self.is_float_column(index);
        let fitting = (0..CANDIDATES.len()).find(|index| self.values > 0 && fits_all(*index));
        fitting.map_or(Type::Text, |index| self.type_of(CANDIDATES[index]))
    }

    /// The type that a candidate is: a decimal has the size that the numbers seen need.
    fn type_of(&self, candidate: Candidate) -> Type {
        match candidate {
            Candidate::Integer => Type::Integer,
            Candidate::Float => Type::Float,
            Candidate::Decimal => Type::Decimal {
                precision: self.digits_before.saturating_add(self.digits_after),
                scale: self.digits_after,
            },
            Candidate::Boolean => Type::Boolean,
            Candidate::Date => Type::Date,
            Candidate::Timestamp => Type::Timestamp { zone: false },
            Candidate::TimestampZone => Type::Timestamp { zone: true },
            Candidate::Json => Type::Json,
        }
    }

    /// Among whole numbers `1e5` is rather an identifier that a spreadsheet has not got at yet, and `-0` no number that a program has
    /// counted; among decimals the one is 100000, and the other how C writes a rounded -0.001. And `1.10` beside `1.9` is a version,
    /// which as a number would become its neighbour; where all fractions have as many digits, as in prices, the zero says nothing.
    fn is_float_column(&self, index: usize) -> bool {
        CANDIDATES[index] != Candidate::Float
            || !self.are_versions() && (self.odd.is_none() || self.points > 0)
    }

    fn fractions(&self) -> Option<Fractions> {
        let (most, are_padded) = (self.digits_after, self.padded.is_some());
        self.scale_min.map(|least| Fractions { least, most, are_padded })
    }

    fn are_versions(&self) -> bool {
        self.padded.is_some() && self.scale_min != Some(self.digits_after)
    }

    /// Why the column is no narrower type than it is: of text, although at least half of its values fit one; of decimals, which
    /// targets without such make text of.
    pub(crate) fn spoiler(&self, inputs: &[Input]) -> Option<Spoiler> {
        match &self.read {
            Some(read) if read.reads.is_declared() => None,
            Some(_) if self.is_read() => self.reported().own_spoiler(inputs),
            Some(read) => self.own_spoiler(inputs).or_else(|| read.seen.own_spoiler(inputs)),
            None => self.own_spoiler(inputs),
        }
    }

    fn own_spoiler(&self, inputs: &[Input]) -> Option<Spoiler> {
        let index = match self.own_type() {
            Type::Text => self.nearest()?,
            Type::Decimal { .. } => Candidate::Float as usize,
            _ => return None,
        };
        let Tried { fits, misfit } = &self.tried[index];
        let (fitting, narrower) = (*fits, self.type_of(CANDIDATES[index]));
        // What is an identifier without them is text all the same.
        let is_all = fitting > 0 && fitting + self.null_like == self.values;
        if self.null_like > 0 && is_all && self.is_float_column(index) {
            let (spellings, seen) = (self.null_spellings.clone(), self.values);
            return Some(Spoiler::Null { spellings, narrower, fitting, seen });
        }
        let Some(misfit) = misfit else {
            let (sight, form) = match &self.padded {
                Some(padded) if self.are_versions() => (padded, Form::Padded),
                _ => (self.odd.as_ref()?, Form::Odd),
            };
            return Some(Spoiler::Form { narrower, form, misfit: sight.misfit(inputs) });
        };
        let misfit = misfit.misfit(inputs);
        Some(Spoiler::Values { narrower, fitting, seen: self.values, misfit })
    }

    /// The type that a column of text nearly is: the one that most values fit, the narrowest of several, if these, or days and
    /// moments together, are half of all; or however few they are, where the source itself has values of several kinds: as texts, 1 and
    /// "1" are equal. Of the source's own numbers that no double is, it is a float.
    fn nearest(&self) -> Option<usize> {
        if self.typed > 0
            && self.typed == self.values
            && self.tried.iter().all(|tried| tried.fits == 0)
        {
            return Some(Candidate::Float as usize);
        }
        let (index, tried) = self
            .tried
            .iter()
            .enumerate()
            .rev()
            .max_by_key(|(index, tried)| (tried.fits, self.is_float_column(*index)))?;
        let days_and_moments: u64 = self.tried
            [Candidate::Date as usize..=Candidate::TimestampZone as usize]
            .iter()
            .map(|tried| tried.fits)
            .sum();
        let of_this_kind = match CANDIDATES[index] {
            Candidate::Date | Candidate::Timestamp | Candidate::TimestampZone => days_and_moments,
            _ => tried.fits,
        };
        let is_nearly = 2 * of_this_kind >= self.values
            || tried.fits + self.null_like == self.values
            || self.typed > 0;
        (of_this_kind > 0 && is_nearly).then_some(index)
    }
}

/// The spelling of NULL that a value is, in quotes or not, as `--null` takes it.
pub fn null_spelling(value: &[u8], quote: Option<u8>) -> String {
    let text = String::from_utf8_lossy(value);
    match quote.map(char::from) {
        Some(quote) => format!("{quote}{text}{quote}"),
        None => text.into_owned(),
    }
}

/// Adds a spelling of NULL to those that were seen.
pub(crate) fn note_spelling(spellings: &mut Vec<String>, spelling: &str) {
    if !spellings.iter().any(|known| known == spelling) {
        spellings.push(spelling.to_owned());
    }
}

/// What a value may be.
#[derive(Debug, Default, PartialEq)]
struct Class {
    fits: u16,
    decimal: Option<scan::Decimal>,
    /// See [`Observed::odd`].
    is_odd: bool,
    /// See [`Observed::points`].
    is_point: bool,
    moment: Option<scan::Timestamp>,
}

/// A number that is written as programs write them, with up to 15 digits: what a glance tells of it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Plain {
    /// Digits before the point; a lone zero with digits behind it isn't counted.
    whole: u16,
    /// Digits behind it.
    fraction: u16,
    is_negative: bool,
}

impl Plain {
    /// `None` says nothing.
    #[inline(always)]
    pub(crate) fn of(value: &[u8]) -> Option<Self> {
        let is_negative = *value.first()? == b'-';
        let digits = value.len() - usize::from(is_negative);
        if value.len() <= 15 && scan::plain_integer(value).is_some() {
            return Some(Self { whole: digits as u16, fraction: 0, is_negative });
        }
        if scan::plain_decimal(value)? == 0.0 {
            return None;
        }
        let point = value.iter().position(|byte| *byte == b'.')?;
        let (whole, fraction) = (point - usize::from(is_negative), value.len() - point - 1);
        let is_zero = value[usize::from(is_negative)] == b'0';
        let whole = if is_zero { 0 } else { whole as u16 };
        Some(Self { whole, fraction: fraction as u16, is_negative })
    }

    /// Whether it is no whole number.
    #[inline(always)]
    pub(crate) fn has_fraction(self) -> bool {
        self.fraction > 0
    }

    /// Whether it has a sign.
    #[inline(always)]
    pub(crate) fn is_negative(self) -> bool {
        self.is_negative
    }

    fn class(self) -> Class {
        const FLOAT: u16 = 1 << Candidate::Float as u16 | 1 << Candidate::Decimal as u16;
        let integer = u16::from(!self.has_fraction()) << Candidate::Integer as u16;
        Class {
            fits: FLOAT | integer,
            decimal: Some(scan::Decimal {
                precision: self.whole + self.fraction,
                scale: self.fraction,
            }),
            is_point: self.has_fraction(),
            ..Class::default()
        }
    }
}

fn general(value: &[u8]) -> Class {
    let bit = |candidate: Candidate| 1u16 << candidate as u16;
    let mut class = Class::default();
    match value.first() {
        Some(b'0'..=b'9' | b'-' | b'.') => {
            let is_integer = scan::is_canonical_integer(value) && scan::integer(value).is_ok();
            let is_odd = value::is_whole_with_exponent(value);
            if is_integer {
                class.fits |= bit(Candidate::Integer);
            }
            if is_odd || scan::float_round_trips(value) {
                class.fits |= bit(Candidate::Float);
                class.is_odd = !is_integer && (is_odd || is_whole(value));
                class.is_point = !is_integer && !class.is_odd;
            }
            // Decimals have no negative zero.
            class.decimal = scan::decimal(value).filter(|_| !is_negative_zero(value));
            if class.decimal.is_some() {
                class.fits |= bit(Candidate::Decimal);
            } else if scan::is_date(value) {
                class.fits |= bit(Candidate::Date);
            } else {
                class.moment = scan::read_timestamp(value);
                match class.moment.map(|moment| moment.zone) {
                    Some(scan::Zone::None) => class.fits |= bit(Candidate::Timestamp),
                    Some(scan::Zone::Offset) => class.fits |= bit(Candidate::TimestampZone),
                    None => {}
                }
            }
        }
        Some(b't' | b'T' | b'f' | b'F') if scan::is_boolean(value).is_some() => {
            class.fits |= bit(Candidate::Boolean)
        }
        Some(b'{' | b'[') if value::rule::json(value).is_ok() => class.fits |= bit(Candidate::Json),
        _ => {}
    }
    class
}

/// Whether a number is written as nothing but digits.
fn is_whole(value: &[u8]) -> bool {
    value.strip_prefix(b"-").unwrap_or(value).iter().all(u8::is_ascii_digit)
}

fn is_negative_zero(value: &[u8]) -> bool {
    value.first() == Some(&b'-') && value[1..].iter().all(|byte| matches!(byte, b'0' | b'.'))
}

/// Looks at every value of the good records it is given, and makes no wire.
pub(crate) struct Surveyor {
    seen: Vec<Observed>,
    /// Good rows of the chunk so far.
    rows: u64,
    /// What stands around quoted fields.
    quote: Option<u8>,
    total: Arc<Mutex<Vec<Observed>>>,
}

impl Surveyor {
    /// All surveyors of one survey share `total`, one entry a column.
    pub(crate) fn new(quote: Option<u8>, total: Arc<Mutex<Vec<Observed>>>) -> Self {
        let known = total.lock().unwrap_or_else(PoisonError::into_inner);
        let seen = known.iter().map(Observed::anew).collect();
        drop(known);
        Self { seen, rows: 0, quote, total }
    }
}

/// Whether it depends on the target whether a text is a value.
pub(crate) fn has_nul(value: &[u8]) -> bool {
    memchr::memchr(0, value).is_some()
}

/// Whether a field's value looks like a way to write NULL and stands in quotes, where only a spelling with these says that it is NULL. One
/// for the empty field needs none.
pub(crate) fn is_null_in_quotes<R: Row>(row: &R, column: usize, value: &[u8]) -> bool {
    let is_quoted = row.fields().get(column).is_some_and(|field| field.form.is_quoted());
    is_quoted && !value.is_empty() && is_null_like(value)
}

impl EncodeRow for Surveyor {
    fn row<R: Row>(&mut self, row: &R, wire: &mut Wire) -> Result<(), BadValue<'_>> {
        // Where the record begins the row doesn't know, so its number stands for that until the chunk ends.
        let spot = Spot::row(self.rows);
        for (column, seen) in self.seen.iter_mut().enumerate() {
            wire.values.clear();
            if let Some((home, span)) = row.value(column, &mut wire.values) {
                let value = row.bytes(home, span, &wire.values);
                seen.note_quote(self.quote.filter(|_| is_null_in_quotes(row, column, value)));
                match row.typed(column) {
                    // It may be what a crash has left, or be a bad row's. What stands beside it is what it is.
                    None if has_nul(value) => {}
                    Some(Typed::Float(number)) if !number.is_finite() => {
                        seen.add_special(value, spot);
                    }
                    Some(_) => seen.add_typed(value, spot),
                    None if row.is_typed(column) => seen.add_typed(value, spot),
                    None => seen.add(value, spot),
                }
            }
        }
        self.rows += 1;
        Ok(())
    }

    fn end(&mut self, chunk: &Chunk, out: &mut Encoded) {
        self.rows = 0;
        let mut total = self.total.lock().unwrap_or_else(PoisonError::into_inner);
        for (sum, seen) in total.iter_mut().zip(&mut self.seen) {
            seen.place(chunk, |row| out.wire.rows[row as usize].start);
            sum.merge(seen);
            *seen = seen.anew();
        }
        out.wire.clear();
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use inrush_core::encode::may_be_more_than_text;

    fn ty(values: &[&str]) -> Type {
        observed(values).ty()
    }

    #[test]
    fn a_glance_at_a_number_tells_what_a_closer_look_does() {
        let digits = ["0", "1", "10", "007", "1234567", "123456789012345", "99999999999999999999"];
        let fractions = ["", ".", ".0", ".5", ".50", ".00", ".12345678", ".123456789", "e3"];
        for sign in ["", "-", "+"] {
            for (whole, fraction) in digits.iter().flat_map(|d| fractions.map(|f| (d, f))) {
                let text = format!("{sign}{whole}{fraction}");
                if let Some(plain) = Plain::of(text.as_bytes()) {
                    assert_eq!(plain.class(), general(text.as_bytes()), "{text}");
                }
            }
        }
        assert!(Plain::of(b"12").is_some() && Plain::of(b"-1.50").is_some());
        // And what is seen of many of them is what is seen of each.
        let values = ["1", "-20", "3.5", "x", "7", "0.25", "1.50", "2024-01-01", "12", "-0.5"];
        let (mut quick, mut slow) = (Observed::default(), Observed::default());
        for (at, value) in (0..).zip(values.iter().cycle().take(50)) {
            let (value, spot) = (value.as_bytes(), Spot::row(at));
            quick.add(value, spot);
            slow.count(value, spot, &general(value));
        }
        assert_eq!(quick, slow);
    }

    #[test]
    fn the_narrowest_type_that_changes_nothing() {
        let decimal = |precision, scale| Type::Decimal { precision, scale };
        let cases: &[(&[&str], Type)] = &[
            (&[], Type::Text),
            (&["1", "-20", "9223372036854775807"], Type::Integer),
            (&["1", "007"], Type::Text),
            (&["1", "+1"], Type::Text),
            (&["1", "1e5"], Type::Text),
            (&["1", "9223372036854775808"], decimal(19, 0)),
            (&["12345678901234567890"], decimal(20, 0)),
            (&["1", "2.5", "-0.25"], Type::Float),
            (&["39.02", "10.357019999999999", "1e-05"], Type::Float),
            (&["1012.3", "1e3"], Type::Float),
            (&["19.90", "5.00", "7.25"], Type::Float),
            (&["10.0", "0.25"], Type::Float),
            (&["1.1", "1.10", "1.2"], decimal(3, 2)),
            (&["9.5", "9.50", "10", "100.25"], decimal(5, 2)),
            (&["9.5", "10", "100.25"], Type::Float),
            (&["1.10", "2.50", "3"], Type::Float),
            (&["3.10", "3.9"], decimal(3, 2)),
            (&["1", "-0"], Type::Text),
            (&["-0", "1.5"], Type::Float),
            (&["-0.0", "1.5"], Type::Float),
            (&["-0.0", "0.1234567890123456789"], Type::Text),
            (&["10000000000000000000000"], decimal(23, 0)),
            (&["10000000000000000000000", "1.5"], Type::Float),
            (&["12345678901234567000", "1.5"], decimal(21, 1)),
            (&["0.1234567890123456789", "12"], decimal(21, 19)),
            (&["NaN", "1.5"], Type::Text),
            (&["true", "false", "True"], Type::Boolean),
            (&["true", "1"], Type::Text),
            (&["2013-01-01", "2012-02-29"], Type::Date),
            (&["2013-01-01", "2012-02-30"], Type::Text),
            (&["2013-01-01 05:00:00", "2013-01-01T06:00"], Type::Timestamp { zone: false }),
            (
                &["2013-01-01T05:00:00Z", "2013-01-01 05:00:00+02:00"],
                Type::Timestamp { zone: true },
            ),
            (&["2013-01-01 05:00:00", "2013-01-01 05:00:00Z"], Type::Text),
            (&["{\"a\":1}", "[1,2]"], Type::Json),
            (&["{\"a\":1}", "{a}"], Type::Text),
            (&["1", ""], Type::Text),
            (&[" 1"], Type::Text),
        ];
        for (values, wanted) in cases {
            assert_eq!(ty(values), *wanted, "{values:?}");
        }
    }

    #[test]
    fn what_may_be_more_than_text_is_what_some_type_is_tried_for() {
        let values = [
            "",
            "x",
            "1",
            "-1",
            "+1",
            "007",
            "1.50",
            ".5",
            "5.",
            "-",
            ".",
            "1e5",
            "1e-05",
            "1e999",
            "0.1234567890123456789",
            "12345678901234567890",
            "true",
            "F",
            "tea",
            "2024-01-31",
            "2024-13-01",
            "2024-01-31 05:00",
            "2024-01-31T05:00:00Z",
            "3 apples",
            "[1]",
            "{a}",
        ];
        for value in values.map(str::as_bytes) {
            let is_tried = general(value).fits != 0;
            assert_eq!(may_be_more_than_text(value, false), is_tried, "{value:?}");
            let mut string = Observed::default();
            string.add_string(value, Spot::default());
            let is_tried = string.tried.iter().any(|tried| tried.fits > 0);
            assert_eq!(may_be_more_than_text(value, true), is_tried, "{value:?}");
        }
    }

    /// One value a line, of which each takes ten bytes.
    fn observed(values: &[&str]) -> Observed {
        let mut observed = Observed::default();
        for (index, value) in values.iter().enumerate() {
            observed.add(value.as_bytes(), Spot { byte: index as u64 * 10, ..Spot::default() });
        }
        let bytes = vec![b' '; values.len() * 10];
        observed.locate(&Chunk { bytes, ..Chunk::default() }, |at| at as u64 / 10 + 1);
        observed
    }

    fn misfit(value: &str, line: u64) -> Misfit {
        let (value, byte) = (format!("'{value}'"), (line - 1) * 10);
        Misfit { value, file: None, line: Some(line), row: None, byte }
    }

    #[test]
    fn a_column_nearly_of_a_type_says_what_spoils_it() {
        let numbers: Vec<String> = (0..99).map(|n| n.to_string()).collect();
        let mut values: Vec<&str> = numbers.iter().map(String::as_str).collect();
        values.insert(7, "abc");
        let spoiler = Spoiler::Values {
            narrower: Type::Integer,
            fitting: 99,
            seen: 100,
            misfit: misfit("abc", 8),
        };
        assert_eq!(observed(&values).spoiler(&[]), Some(spoiler));
        let null = |spellings: &[&str], seen| {
            let spellings = spellings.iter().map(|spelling| (*spelling).to_owned()).collect();
            let (narrower, fitting) = (Type::Integer, 1);
            Some(Spoiler::Null { spellings, narrower, fitting, seen })
        };
        assert_eq!(observed(&["NA", "NA", "1"]).spoiler(&[]), null(&["NA"], 3));
        assert_eq!(observed(&["-", "", "1", "-"]).spoiler(&[]), null(&["-", ""], 4));
        assert_eq!(observed(&["abc"; 99]).spoiler(&[]), None);
        // As NULL it would leave a column of text.
        let misfit = misfit("N/A", 1);
        let spoiler = Spoiler::Values { narrower: Type::Float, fitting: 1, seen: 3, misfit };
        assert_eq!(observed(&["N/A", "1e5", "N/A"]).spoiler(&[]), Some(spoiler));
    }

    #[test]
    fn columns_of_numbers_and_days_that_are_text_say_why() {
        let spoiler = |values: &[&str]| observed(values).spoiler(&[]);
        let values = |narrower, fitting, seen, value, line| {
            Some(Spoiler::Values { narrower, fitting, seen, misfit: misfit(value, line) })
        };
        let form = |form, value, line| {
            Some(Spoiler::Form { narrower: Type::Float, form, misfit: misfit(value, line) })
        };
        assert_eq!(spoiler(&["9.5", "free", "3"]), values(Type::Float, 2, 3, "free", 2));
        assert_eq!(spoiler(&["Ann", "Bob", "5"]), None);
        assert_eq!(spoiler(&["1", "2", "007"]), values(Type::Integer, 2, 3, "007", 3));
        assert_eq!(spoiler(&["1", "2", "1e5"]), form(Form::Odd, "1e5", 3));
        assert_eq!(spoiler(&["1", "-0"]), form(Form::Odd, "-0", 2));
        assert_eq!(spoiler(&["9.5", "9.50", "10", "100.25"]), form(Form::Padded, "9.50", 2));
        let long = "12345678901234567890";
        assert_eq!(spoiler(&["1", long]), values(Type::Float, 1, 2, long, 2));
        // Neither days nor moments are half of it, and together they are.
        assert_eq!(
            spoiler(&["2024-01-01", "2024-01-01 05:00", "x", "2024-01-02", "y"]),
            values(Type::Date, 2, 5, "2024-01-01 05:00", 2)
        );
        for values in [&["1", "2"][..], &["1.5", "2"], &["3.10", "3.90"], &["a", ""]] {
            assert_eq!(spoiler(values), None, "{values:?}");
        }
    }

    #[test]
    fn the_first_misfit_of_each_type_is_that_of_the_source_whoever_saw_it_first() {
        let spot = |file, byte| Spot { file, byte, ..Spot::default() };
        let (mut early, mut late) = (Observed::default(), Observed::default());
        early.add(b"1", spot(0, 0));
        early.add(b"1.5", spot(0, 4));
        late.add(b"2.5", spot(0, 8));
        late.add(b"x", spot(1, 0));
        late.merge(&early);
        assert_eq!(late.values(), 4);
        let inputs = ["a.csv", "b.csv"].map(|name| Input::plain(&crate::Place::File(name.into())));
        let attempts = late.attempts(&inputs);
        let of = |ty| attempts.iter().find(|attempt| attempt.ty == ty).unwrap();
        let shown = |ty| (of(ty).fits, of(ty).misfit.as_ref().unwrap().to_string());
        assert_eq!(shown(Type::Integer), (1, "'1.5' (a.csv, near byte 4)".to_owned()));
        assert_eq!(shown(Type::Float), (3, "'x' (b.csv, near byte 0)".to_owned()));
        assert_eq!(shown(Type::Date), (0, "'1' (a.csv, near byte 0)".to_owned()));
    }
}
