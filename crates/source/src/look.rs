//! The records of an input's first bytes, for whoever asks in which dialect they are read best.
//!
//! Where the bytes end is not where a record ends. What is cut off says nothing; and of a quote that is open to the end, be it that its field
//! goes on behind the head or that it was never closed, the lines that follow are text, of which none may be taken for a record. Unless they
//! are like the record before: then the quote is a stray one, which costs its line.

use inrush_scan::{Dialect, Fault, Field, Form, Record, Scanner, is_open};

use crate::quoting::usual;
use crate::sniff::RECORDS_MAX;

/// Which quotes that are open to the end are stray ones.
#[derive(Clone, Copy)]
pub(super) enum Strays<'s> {
    /// Those at these places, and those whose lines that follow are records.
    At(&'s [u32]),
    /// All: each line is one.
    All,
}

/// The records, without blank lines; up to [`RECORDS_MAX`] of them.
pub(super) struct Records<'h> {
    head: &'h [u8],
    /// There is no more of the input.
    whole: bool,
    dialect: &'h Dialect,
    scanner: Scanner<'h>,
    /// Numbers of fields of the sound ones so far.
    widths: Vec<usize>,
    seen: usize,
    strays: Strays<'h>,
    /// Where a stray quote stands; others are not looked for.
    stray: Option<u32>,
    /// Where a quote stands whose field has no end.
    open: Option<u32>,
}

impl<'h> Records<'h> {
    pub(super) fn new(head: &'h [u8], whole: bool, dialect: &'h Dialect) -> Self {
        Self::knowing(Strays::At(&[]), head, whole, dialect)
    }

    pub(super) fn knowing(
        strays: Strays<'h>,
        head: &'h [u8],
        whole: bool,
        dialect: &'h Dialect,
    ) -> Self {
        Self {
            head,
            whole,
            dialect,
            scanner: Scanner::new(dialect, head),
            widths: Vec::new(),
            seen: 0,
            strays,
            stray: None,
            open: None,
        }
    }

    /// The next one, its fields in `fields`.
    pub(super) fn next(&mut self, fields: &mut Vec<Field>) -> Option<Record> {
        if self.open.is_some() || self.seen == RECORDS_MAX {
            return None;
        }
        let record = loop {
            let record = self.scanner.next(fields)?;
            if !record.is_blank() {
                break record;
            }
        };
        let is_first = self.seen == 0;
        self.seen += 1;
        if let Some(at) = self.open_at(&record) {
            self.open = Some(at);
            return match (self.whole, is_first) {
                (true, _) => Some(record),
                (false, true) => Some(self.before(at, &record, fields)),
                (false, false) => None,
            };
        }
        let is_cut_off = !self.whole && record.next as usize == self.head.len();
        if is_cut_off && !is_first {
            return None;
        }
        if record.fault.is_none() {
            self.widths.push(fields.len());
        }
        Some(record)
    }

    /// Where the quote stands whose field has no end, once there are no more records.
    pub(super) fn open(&self) -> Option<u32> {
        self.open
    }

    /// Where a quote stands whose field has no end, and which the lines that follow show to be a stray one.
    pub(super) fn stray(&self) -> Option<u32> {
        self.stray
    }

    fn open_at(&mut self, record: &Record) -> Option<u32> {
        let Some(Fault::UnclosedQuote { at }) = record.fault else { return None };
        let is_known = match self.strays {
            Strays::At(places) => places.contains(&at),
            Strays::All => true,
        };
        if is_known || self.stray.is_some() || !is_open(self.dialect, self.head, at) {
            return None;
        }
        let is_stray = self.is_stray(at, record);
        self.stray = is_stray.then_some(at);
        (!is_stray).then_some(at)
    }

    /// Whether the lines that follow are records: most have the same number of fields, which is that of the record before, or one more, as
    /// where all but the header end in a delimiter. Of one field each line of text is.
    fn is_stray(&self, at: u32, record: &Record) -> bool {
        let mut fields = Vec::new();
        self.before(at, record, &mut fields);
        let least = fields.len().max(2);
        let mut scanner = Scanner::new(self.dialect, &self.head[record.next as usize..]);
        let (mut lines, mut widths) = (0, Vec::new());
        while lines < RECORDS_MAX
            && let Some(record) = scanner.next(&mut fields)
        {
            if !record.is_blank() {
                lines += 1;
                widths.extend(record.fault.is_none().then_some(fields.len()));
            }
        }
        let width = usual(&widths);
        let alike = widths.iter().filter(|other| **other == width).count();
        let is_known = match self.widths.last() {
            Some(before) => *before == width || *before > 1 && *before + 1 == width,
            // One line alone agrees with itself.
            None => alike > 1,
        };
        width >= least && is_known && alike * 2 > lines
    }

    /// What is known of a record that is cut off inside the quotes at `at`: the fields before, and that one more begins.
    fn before(&self, at: u32, record: &Record, fields: &mut Vec<Field>) -> Record {
        let mut scanner = Scanner::new(self.dialect, &self.head[..at as usize]);
        while scanner.next(fields).is_some_and(|other| other.start < record.start) {}
        if fields.is_empty() {
            fields.push(Field { start: at, end: at, form: Form::Plain });
        }
        Record { end: at, next: self.head.len() as u32, fault: None, ..*record }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The numbers of fields of the records, 0 of one whose quoting is broken; and whether a quote is open in the end.
    fn looked(head: &str, whole: bool) -> (Vec<usize>, bool) {
        let dialect = Dialect::csv();
        let mut records = Records::new(head.as_bytes(), whole, &dialect);
        let (mut fields, mut found) = (Vec::new(), Vec::new());
        while let Some(record) = records.next(&mut fields) {
            found.push(if record.fault.is_some() { 0 } else { fields.len() });
        }
        (found, records.open().is_some())
    }

    #[test]
    fn lines_behind_a_quote_that_is_open_to_the_end_are_text() {
        let text = "id,v\n1,x\n\n2,\"a\n\"\"b\"\", c\n\"\"d\"\", e\nf\n";
        assert_eq!(looked(text, true), (vec![2, 2, 0], true));
        assert_eq!(looked(text, false), (vec![2, 2], true));
        // Of a record that is longer than the head the fields before the quote are known.
        assert_eq!(looked("1,2,\"x\ny,z\n", false), (vec![3], true));
        assert_eq!(looked("\n\"x\ny,z\n", false), (vec![1], true));
        assert_eq!(looked("1,2,\"x\ny,z\n", true), (vec![0], true));
        // One that is closed somewhere is broken as it ever was, and so is what follows.
        assert_eq!(looked("1,\"x\ny\" z\n2,3\n", true), (vec![0, 1, 2], false));
    }

    #[test]
    fn a_stray_quote_costs_its_line() {
        let text = "id,v\n1,\"abc\n2,def\n3,ghi\n4,jkl\n";
        assert_eq!(looked(text, true), (vec![2, 0, 2, 2, 2], false));
        assert_eq!(looked(&text[..text.len() - 2], false), (vec![2, 0, 2, 2], false));
        assert_eq!(looked("1,\"abc\n2,def\n3,ghi\n", true), (vec![0, 2, 2], false));
        // In whichever column, below a title, and where all rows end in a comma.
        assert_eq!(looked("1,\"abc,x\n2,d,e\n3,g,h\n", true), (vec![0, 3, 3], false));
        assert_eq!(looked("\"1,a,x\n2,d,e\n3,g,h\n", true), (vec![0, 3, 3], false));
        assert_eq!(looked("t\na,b\n\"1,a\n2,d\n3,g\n", true), (vec![1, 2, 0, 2, 2], false));
        assert_eq!(looked("a,b\n1,\"x,\n2,y,\n3,z,\n", true), (vec![2, 0, 3, 3], false));
    }

    #[test]
    fn a_record_that_is_cut_off_says_nothing_unless_it_is_the_only_one() {
        assert_eq!(looked("1,2\n3,4,", false), (vec![2], false));
        assert_eq!(looked("1,2\n3,4,", true), (vec![2, 3], false));
        assert_eq!(looked("1,2,", false), (vec![3], false));
        // A quote that opens on the last line has no line behind it.
        assert_eq!(looked("1,2\n3,\"4", false), (vec![2], true));
        assert_eq!(looked("1,2\n3,\"4", true), (vec![2, 0], true));
    }
}
