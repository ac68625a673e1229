//! How records and fields are written.

use std::fmt;

/// How records and fields are written.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Dialect {
    /// Separates the fields of a record. `,` unless said otherwise.
    pub delimiter: u8,
    /// Opens a quoted field, but only as the field's first byte; doubled inside one it stands for
    /// itself. `None`: quotes mean nothing.
    pub quote: Option<u8>,
    /// Makes the byte after it literal, inside and outside quotes (Python's `escapechar`, MySQL's
    /// `ESCAPED BY`). As the last byte of the input it stands for itself.
    pub escape: Option<u8>,
    /// Whether the escape is a guess, which one that stands before a byte without a meaning
    /// disproves: see [`Dialect::disproof`]. The scanner does not look at this.
    pub escape_is_guessed: bool,
    /// A line of which this is the first byte is no record and is skipped, quotes and all.
    pub comment: Option<u8>,
    /// Whether blanks around a quoted field are no part of it: a quote opens one behind them as
    /// well, and they may follow a closing quote. Blanks are spaces and tabs, unless they have
    /// another meaning.
    pub blanks: bool,
    /// Whether an empty field without quotes is an empty text, as one in quotes is, and not NULL.
    /// The scanner does not look at this.
    pub empty_is_text: bool,
    /// What ends a record.
    pub newline: Newline,
}

/// What ends a record.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Newline {
    /// `\n`, and `\r\n` equally. A `\r` anywhere else is data.
    #[default]
    Lf,
    /// `\r`, as in old Mac files. `\n` is data.
    Cr,
}

impl Newline {
    /// The byte that ends a physical line.
    #[inline]
    pub(crate) const fn byte(self) -> u8 {
        match self {
            Self::Lf => b'\n',
            Self::Cr => b'\r',
        }
    }
}

impl Default for Dialect {
    fn default() -> Self {
        Self::csv()
    }
}

impl Dialect {
    /// Commas and double quotes, RFC 4180.
    #[must_use]
    pub const fn csv() -> Self {
        Self {
            delimiter: b',',
            quote: Some(b'"'),
            escape: None,
            escape_is_guessed: false,
            comment: None,
            blanks: false,
            empty_is_text: false,
            newline: Newline::Lf,
        }
    }

    /// Tabs and double quotes.
    #[must_use]
    pub const fn tsv() -> Self {
        Self { delimiter: b'\t', ..Self::csv() }
    }

    /// Whether the byte is one that may stand around a quoted field.
    #[inline]
    #[must_use]
    pub(crate) fn is_blank(&self, byte: u8) -> bool {
        self.blanks
            && matches!(byte, b' ' | b'\t')
            && byte != self.delimiter
            && ![self.quote, self.escape].contains(&Some(byte))
    }

    /// Where the blanks begin that stand before `at`, though not before `from`.
    #[inline]
    pub(crate) fn before_blanks(&self, bytes: &[u8], from: usize, at: usize) -> usize {
        let blanks = bytes[from..at].iter().rev().take_while(|byte| self.is_blank(**byte));
        at - blanks.count()
    }

    /// The offset of the first escape in `bytes` that stands where none has to: before another
    /// byte than a quote, a delimiter, an end of line or an escape. One in a path or a regular
    /// expression is a character like others. `None` where there is none, or no escape at all.
    #[must_use]
    pub fn disproof(&self, bytes: &[u8]) -> Option<usize> {
        let escape = self.escape?;
        let mut at = 0;
        while let Some(next) = memchr::memchr(escape, &bytes[at..]) {
            at += next + 1;
            match bytes.get(at)? {
                byte if *byte == escape => at += 1,
                byte if Some(*byte) == self.quote
                    || *byte == self.delimiter
                    || matches!(byte, b'\n' | b'\r') => {}
                _ => return Some(at - 1),
            }
        }
        None
    }

    /// Whether the scanner can tell the special bytes apart, in any ASCII-compatible encoding.
    ///
    /// # Errors
    ///
    /// When one of them isn't ASCII, is a `\n` or `\r`, or has two meanings.
    pub fn check(&self) -> Result<(), DialectError> {
        let special = [Some(self.delimiter), self.quote, self.escape, self.comment];
        for (i, byte) in special.iter().enumerate() {
            let Some(byte) = *byte else { continue };
            if !byte.is_ascii() {
                return Err(DialectError::NotAscii(byte));
            }
            if byte == b'\n' || byte == b'\r' {
                return Err(DialectError::Newline(byte));
            }
            if special[..i].contains(&Some(byte)) {
                return Err(DialectError::TwoMeanings(byte));
            }
        }
        Ok(())
    }
}

/// Why a dialect can't be scanned.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum DialectError {
    /// A special byte is above 127, where it could be part of a longer character.
    NotAscii(u8),
    /// A special byte is `\n` or `\r`.
    Newline(u8),
    /// One byte has two meanings.
    TwoMeanings(u8),
}

impl fmt::Display for DialectError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::NotAscii(byte) => {
                write!(
                    f,
                    "byte 0x{byte:02x} can't be a delimiter, quote, escape or comment: \
                           only ASCII characters can"
                )
            }
            Self::Newline(byte) => {
                let byte = byte.escape_ascii();
                write!(f, "`{byte}` ends records and can't have another meaning")
            }
            Self::TwoMeanings(byte) => {
                let byte = byte.escape_ascii();
                write!(f, "`{byte}` can't be two of delimiter, quote, escape and comment")
            }
        }
    }
}

impl std::error::Error for DialectError {}
