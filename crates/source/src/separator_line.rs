//! `sep=;`: a first line that tells spreadsheets what separates fields. It is no header and no row.

use crate::head::Head;
use crate::sniff::name;
use inrush_core::DialectRequest;
use inrush_core::error::{Error, Result};

/// Such a line, with its line end.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct SeparatorLine<'a> {
    /// As it is written, with its line end.
    pub(super) raw: &'a [u8],
    /// The character it names, as it is written.
    pub(super) named: &'a str,
}

impl<'a> SeparatorLine<'a> {
    /// The line at the start of `text`, where `newline` ends lines, if it is one: `sep=`, in whatever case, and exactly
    /// one character or `\t` behind it; in double quotes or not.
    pub(super) fn at(text: &'a [u8], newline: u8) -> Option<Self> {
        // The longest: two quotes, a character of four bytes and the line's end.
        let near = &text[..text.len().min(16)];
        let end = memchr::memchr(newline, near);
        let line = &near[..end.unwrap_or(near.len())];
        if end.is_none() && text.len() > near.len() {
            return None;
        }
        let line = line.strip_suffix(b"\r").unwrap_or(line);
        let line =
            line.strip_prefix(b"\"").and_then(|line| line.strip_suffix(b"\"")).unwrap_or(line);
        let (word, named) = line.split_at_checked(4)?;
        let named = std::str::from_utf8(named).ok()?;
        let is_one = named.chars().count() == 1 || named == "\\t";
        let raw = &text[..end.map_or(text.len(), |end| end + 1)];
        (word.eq_ignore_ascii_case(b"sep=") && is_one).then_some(Self { raw, named })
    }

    /// The delimiter.
    ///
    /// # Errors
    /// When it is one that no text can be read with; `input` is whose line it is.
    pub(super) fn delimiter(&self, input: &str) -> Result<u8> {
        match self.named.as_bytes() {
            b"\\t" => Ok(b'\t'),
            [byte] if byte.is_ascii() && *byte != b'"' => Ok(*byte),
            _ => Err(Error::source(format!(
                "{input}: the first line says that fields are separated by '{}', which is no character that can separate fields",
                self.named
            ))
            .advise("say what separates them with --delimiter: the line is skipped then")),
        }
    }

    /// As messages show it.
    pub(super) fn shown(&self) -> String {
        format!("sep={}", self.named.escape_debug())
    }
}

/// The delimiter that the input says it has, unless the user says it.
///
/// # Errors
/// When no text can be read with it.
pub(super) fn said(
    head: &Head,
    request: &DialectRequest,
    reasons: &mut Vec<String>,
) -> Result<Option<u8>> {
    let Some(line) = head.separator_line() else { return Ok(None) };
    let shown = line.shown();
    if request.told_delimiter().is_some() {
        reasons.push(format!("the line {shown} is skipped: --delimiter or --format is said"));
        return Ok(None);
    }
    let delimiter = line.delimiter(&head.input.name)?;
    reasons.push(format!("fields are separated by {}: the line {shown} says so", name(delimiter)));
    Ok(Some(delimiter))
}

/// Keeps the line for the input's bad rows, which are separated in the same way.
///
/// # Errors
/// When this input says that something else separates its fields than `delimiter`, which the first one's does.
pub(super) fn keep(head: &mut Head, delimiter: u8, request: &DialectRequest) -> Result<()> {
    if request.told_delimiter().is_some() {
        return Ok(());
    }
    let Some(line) = head.separator_line() else { return Ok(()) };
    let (own, input) = (line.delimiter(&head.input.name)?, &head.input.name);
    if own != delimiter {
        return Err(Error::source(format!(
            "{input} says {} in its first line, and the first input's fields are separated by {}",
            line.shown(),
            name(delimiter)
        ))
        .advise("load them one by one"));
    }
    head.input.separator_line = line.raw.to_vec();
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn named(text: &str) -> Option<&str> {
        SeparatorLine::at(text.as_bytes(), b'\n').map(|line| line.named)
    }

    #[test]
    fn one_character_behind_sep_makes_the_line() {
        for (text, wanted) in [
            ("sep=;\na;b\n", ";"),
            ("sep=;", ";"),
            ("SEP=,\r\na,b\r\n", ","),
            ("\"sep=;\"\r\na;b\n", ";"),
            ("sep=\t\na\tb\n", "\t"),
            ("sep=\\t\na\tb\n", "\\t"),
            ("sep= \na b\n", " "),
            ("sep=\u{a6}\nx\n", "\u{a6}"),
            ("sep==\na=b\n", "="),
        ] {
            assert_eq!(named(text), Some(wanted), "{text:?}");
        }
        for text in [
            "",
            "sep",
            "sep=",
            "sep=\n;\n",
            "sep=ab\n",
            "sep=;;\n",
            "sep=; \n",
            " sep=;\n",
            "sep=,x\n",
            "sep,=\n",
            "separator=;\n",
            "\"sep=;\n",
            "sep=\\n\n",
            "sep=;x,more,and,more\n",
            "\u{e9}\u{e9}\u{e9}\n",
        ] {
            assert_eq!(named(text), None, "{text:?}");
        }
    }

    #[test]
    fn the_line_ends_where_lines_end() {
        let line = SeparatorLine::at(b"sep=;\ra;b\r", b'\r').unwrap();
        assert_eq!(line.raw, b"sep=;\r");
        assert_eq!(SeparatorLine::at(b"sep=;\r\na\n", b'\n').unwrap().raw, b"sep=;\r\n");
        assert_eq!(SeparatorLine::at(b"sep=|", b'\n').unwrap().raw, b"sep=|");
    }

    #[test]
    fn only_a_byte_of_ascii_separates_fields() {
        let delimiter =
            |text: &str| SeparatorLine::at(text.as_bytes(), b'\n').unwrap().delimiter("x.csv");
        assert_eq!(delimiter("sep=\\t\n").unwrap(), b'\t');
        assert_eq!(delimiter("sep=^\n").unwrap(), b'^');
        assert!(delimiter("sep=\u{a6}\n").unwrap_err().what().contains("x.csv"));
        assert!(delimiter("sep=\"\n").is_err());
    }
}
