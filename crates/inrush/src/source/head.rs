//! The first bytes of an input: what it is, and whether it is text at all.

use std::fs::File;
use std::io::{self, Read};
use std::sync::Arc;
use std::sync::atomic::AtomicBool;

use encoding_rs::UTF_8;

use crate::error::{Error, Result};
use crate::plan::DialectRequest;
use crate::source::decode;
use crate::source::place::cannot_open;
use crate::source::stdin::Pipe;
use crate::source::text::RECORD_BYTES_MAX;
use crate::source::{Compression, Input, Place};

/// Bytes of an input that are looked at before a plan is made, from its start.
pub(super) const HEAD_BYTES: usize = 1 << 20;

/// The first bytes of one input, decoded.
pub(super) struct Head {
    pub(super) input: Input,
    pub(super) text: Vec<u8>,
    /// Nothing comes after `text`.
    pub(super) whole: bool,
}

pub(super) fn read_head(
    place: &Place,
    request: &DialectRequest,
    pipe: &mut Option<Pipe>,
    abandoned: &Arc<AtomicBool>,
) -> Result<Head> {
    let name = place.name();
    let bytes_stored = place.regular_bytes();
    let fail = |error: &io::Error| cannot_open(&name, error);
    // The head of a pipe ends where it was cut off, which isn't the input's fault.
    let mut cut_off = false;
    let mut reader: Box<dyn Read + Send> = match place {
        Place::File(path) if bytes_stored.is_some() => {
            Box::new(File::open(path).map_err(|error| fail(&error))?)
        }
        _ => {
            if pipe.is_some() {
                return Err(Error::usage(
                    "only one of the sources can be a pipe or standard input",
                ));
            }
            let pipe = pipe.insert(Pipe::open(place, Arc::clone(abandoned))?);
            let head = pipe.peek(HEAD_BYTES).map_err(|error| fail(&error))?;
            cut_off = head.len() == HEAD_BYTES;
            Box::new(io::Cursor::new(head))
        }
    };
    let mut magic = Vec::new();
    reader.by_ref().take(8192).read_to_end(&mut magic).map_err(|error| fail(&error))?;
    let compression = Compression::detect(&magic);
    let mut input = Input {
        name: name.clone(),
        place: place.clone(),
        compression,
        encoding: UTF_8,
        bytes_stored,
        body_at: 0,
        lines_before: 0,
        header: Vec::new(),
    };
    let forgive = |error: io::Error| if cut_off { Ok(0) } else { Err(input.read_error(&error)) };
    let mut plain: Box<dyn Read + Send> = Box::new(io::Cursor::new(magic).chain(reader));
    if let Some(compression) = compression {
        plain = compression.open(plain).map_err(|error| input.read_error(&error))?;
    }
    let mut bytes = Vec::new();
    plain.by_ref().take(HEAD_BYTES as u64).read_to_end(&mut bytes).or_else(forgive)?;
    let encoding = match &request.encoding {
        Some(label) => decode::by_label(label)?,
        None => decode::detect(&bytes).unwrap_or(UTF_8),
    };
    let mut whole = bytes.len() < HEAD_BYTES && !cut_off;
    let mut text = bytes;
    if decode::is_utf8(encoding) {
        refuse_binary(&name, &text)?;
        // A header, or one record, must be whole to be understood.
        while !whole
            && memchr::memchr2(b'\n', b'\r', &text).is_none()
            && text.len() < RECORD_BYTES_MAX
        {
            let got =
                plain.by_ref().take(HEAD_BYTES as u64).read_to_end(&mut text).or_else(forgive)?;
            whole = got < HEAD_BYTES && !cut_off;
            if got == 0 {
                break;
            }
        }
    } else {
        let mut decoded = Vec::new();
        let mut decoder = decode::Decoder::new(text.as_slice(), encoding);
        decoder.read_to_end(&mut decoded).map_err(|error| fail(&error))?;
        text = decoded;
    }
    input.encoding = encoding;
    Ok(Head { input, text, whole })
}

/// Files that are not text, by their first bytes, and what to do with them.
const BINARIES: [(&[u8], &str, &str); 8] = [
    (b"PAR1", "a Parquet file", "this version reads CSV and TSV"),
    (b"ARROW1", "an Arrow file", "this version reads CSV and TSV"),
    (
        b"SQLite format 3\0",
        "an SQLite database",
        "the target comes last: inrush load FILE.csv DATABASE.db",
    ),
    (b"PK\x03\x04", "a ZIP archive or a spreadsheet", "unpack it, or save the sheet as CSV"),
    (b"%PDF", "a PDF document", "inrush reads CSV and TSV"),
    (b"\x7fELF", "a program", "inrush reads CSV and TSV"),
    (b"\x89PNG", "a picture", "inrush reads CSV and TSV"),
    (b"\xd0\xcf\x11\xe0", "an old Office document", "save the sheet as CSV"),
];

fn refuse_binary(name: &str, text: &[u8]) -> Result<()> {
    if let Some((_, what, advice)) = BINARIES.iter().find(|(magic, ..)| text.starts_with(magic)) {
        return Err(Error::source(format!("{name} is {what}, not text")).advise(*advice));
    }
    // Stray NULs make bad rows; one in a hundred bytes makes a binary file.
    let zeros = memchr::memchr_iter(0, text).count();
    if zeros >= 8 && zeros >= text.len() / 100 {
        let at = memchr::memchr(0, text).unwrap_or(0);
        return Err(Error::source(format!("{name} does not look like text: {zeros} of its first {} bytes are NUL, the first at byte {at}", text.len()))
            .advise("if it is UTF-16 without a byte order mark, say --encoding utf-16le"));
    }
    Ok(())
}

/// Where records begin: after a byte order mark and `skip_lines` physical lines.
pub(super) fn body_start(text: &[u8], skip_lines: u64) -> usize {
    let mut at = if text.starts_with(b"\xef\xbb\xbf") { 3 } else { 0 };
    for _ in 0..skip_lines {
        let Some(end) = memchr::memchr2(b'\n', b'\r', &text[at..]) else { return text.len() };
        at += end + if text[at + end..].starts_with(b"\r\n") { 2 } else { 1 };
    }
    at
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn skipped_lines_and_byte_order_marks_come_off() {
        assert_eq!(body_start(b"\xef\xbb\xbfa,b\n", 0), 3);
        assert_eq!(body_start(b"x\r\ny\nz", 2), 5);
        assert_eq!(body_start(b"x", 3), 1);
    }
}
