//! The grammar, byte by byte and without a thought for speed. The fuzzer uses this file too.

use inrush_scan::{Dialect, Fault, Newline};

/// A record with its fields' values.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Row {
    pub(crate) start: usize,
    pub(crate) end: usize,
    pub(crate) next: usize,
    /// Values, and whether they were quoted; empty when there is a fault.
    pub(crate) fields: Vec<(Vec<u8>, bool)>,
    pub(crate) fault: Option<Fault>,
}

/// All records, comments left out.
pub(crate) fn rows(dialect: &Dialect, bytes: &[u8]) -> Vec<Row> {
    let mut rows = Vec::new();
    let mut start = 0;
    while start < bytes.len() {
        if dialect.comment == Some(bytes[start]) {
            start = first_line(dialect, bytes, start).1;
            continue;
        }
        let row = match Walk::new(dialect, bytes, start).record() {
            Ok((end, next, fields)) => Row { start, end, next, fields, fault: None },
            Err(()) => {
                let (end, next) = first_line(dialect, bytes, start);
                let fault = Some(fault(dialect, bytes, start, next));
                Row { start, end, next, fields: Vec::new(), fault }
            }
        };
        start = row.next;
        rows.push(row);
    }
    rows
}

/// Every place where the input may be cut, those around comments included.
pub(crate) fn boundaries(dialect: &Dialect, bytes: &[u8]) -> Vec<usize> {
    let mut boundaries = Vec::new();
    let mut at = 0;
    while at < bytes.len() {
        at = if dialect.comment == Some(bytes[at]) {
            first_line(dialect, bytes, at).1
        } else {
            match Walk::new(dialect, bytes, at).record() {
                Ok((_, next, _)) => next,
                Err(()) => first_line(dialect, bytes, at).1,
            }
        };
        boundaries.push(at);
    }
    boundaries
}

/// End and next of the physical line at `start`.
fn first_line(dialect: &Dialect, bytes: &[u8], start: usize) -> (usize, usize) {
    let newline = newline(dialect);
    let Some(length) = bytes[start..].iter().position(|&byte| byte == newline) else {
        return (bytes.len(), bytes.len());
    };
    let end = start + length;
    if dialect.newline == Newline::Lf && length > 0 && bytes[end - 1] == b'\r' {
        (end - 1, end + 1)
    } else {
        (end, end + 1)
    }
}

/// What a broken record's first line, taken alone, is broken by.
fn fault(dialect: &Dialect, bytes: &[u8], start: usize, next: usize) -> Fault {
    let mut walk = Walk::new(dialect, &bytes[..next], start);
    assert!(walk.record().is_err(), "the first line of a broken record is broken");
    walk.fault.expect("a walk that fails says why")
}

fn newline(dialect: &Dialect) -> u8 {
    match dialect.newline {
        Newline::Lf => b'\n',
        Newline::Cr => b'\r',
    }
}

struct Walk<'a> {
    dialect: &'a Dialect,
    bytes: &'a [u8],
    at: usize,
    fault: Option<Fault>,
}

type Whole = (usize, usize, Vec<(Vec<u8>, bool)>);

impl<'a> Walk<'a> {
    fn new(dialect: &'a Dialect, bytes: &'a [u8], start: usize) -> Self {
        Self { dialect, bytes, at: start, fault: None }
    }

    fn peek(&self) -> Option<u8> {
        self.bytes.get(self.at).copied()
    }

    fn rest(&self) -> &[u8] {
        &self.bytes[self.at..]
    }

    /// Length of the blanks here that belong to no field.
    fn blanks(&self) -> usize {
        let Dialect { delimiter, quote, escape, .. } = *self.dialect;
        let is_blank = |byte: u8| {
            (byte == b' ' || byte == b'\t')
                && ![Some(delimiter), quote, escape].contains(&Some(byte))
        };
        let blanks = self.rest().iter().take_while(|byte| is_blank(**byte)).count();
        if self.dialect.blanks { blanks } else { 0 }
    }

    /// Length of the terminator here.
    fn terminator(&self) -> Option<usize> {
        match self.dialect.newline {
            Newline::Lf if self.rest().starts_with(b"\r\n") => Some(2),
            Newline::Lf if self.rest().starts_with(b"\n") => Some(1),
            Newline::Cr if self.rest().starts_with(b"\r") => Some(1),
            _ => None,
        }
    }

    fn record(&mut self) -> Result<Whole, ()> {
        let mut fields = Vec::new();
        loop {
            let opening = self.rest().get(self.blanks()).copied();
            let quoted = opening.is_some() && opening == self.dialect.quote;
            let value = if quoted {
                self.at += self.blanks();
                let value = self.quoted()?;
                self.at += self.blanks();
                value
            } else {
                self.unquoted()?
            };
            fields.push((value, quoted));
            let end = self.at;
            if let Some(length) = self.terminator() {
                return Ok((end, end + length, fields));
            }
            match self.peek() {
                None => return Ok((end, end, fields)),
                Some(byte) if byte == self.dialect.delimiter => self.at += 1,
                Some(_) => {
                    self.fault = Some(Fault::TextAfterQuote { at: self.at as u32 });
                    return Err(());
                }
            }
        }
    }

    fn quoted(&mut self) -> Result<Vec<u8>, ()> {
        let at = self.at as u32;
        let mut value = Vec::new();
        self.at += 1;
        while let Some(byte) = self.peek() {
            self.at += 1;
            if Some(byte) == self.dialect.escape && self.peek().is_some() {
                value.extend(self.peek());
                self.at += 1;
            } else if Some(byte) != self.dialect.quote {
                value.push(byte);
            } else if self.peek() == self.dialect.quote {
                value.push(byte);
                self.at += 1;
            } else {
                return Ok(value);
            }
        }
        self.fault = Some(Fault::UnclosedQuote { at });
        Err(())
    }

    fn unquoted(&mut self) -> Result<Vec<u8>, ()> {
        let mut value = Vec::new();
        while let Some(byte) = self.peek() {
            if byte == self.dialect.delimiter || self.terminator().is_some() {
                break;
            }
            if Some(byte) == self.dialect.escape && self.at + 1 < self.bytes.len() {
                if self.rest()[1..] == [newline(self.dialect)] {
                    self.fault = Some(Fault::EscapedEnd { at: self.at as u32 });
                    return Err(());
                }
                self.at += 1;
            }
            value.extend(self.peek());
            self.at += 1;
        }
        Ok(value)
    }
}
