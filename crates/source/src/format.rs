//! What an input is: told by the user, by its first bytes, by its name.

use std::io::{self, Read};

use crate::head::HEAD_BYTES;
use crate::{Compression, Place};
use inrush_core::error::{Error, Result};
use inrush_core::{DialectRequest, Format};
use inrush_place::cannot_open;
use inrush_store::Pipe;
use inrush_store::Stop;

/// How an input is laid out.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Layout {
    /// Text: which sort of it is found out when it is read.
    Text,
    /// A Parquet file.
    Parquet,
    /// Arrow IPC with a footer.
    ArrowFile,
    /// Arrow IPC as it is sent over a wire.
    ArrowStream,
    /// A sheet of a workbook.
    Sheet,
    /// Rows of a program.
    Rows,
}

impl Layout {
    /// For people.
    pub(super) fn words(self) -> &'static str {
        match self {
            Self::Text => "text",
            Self::Parquet => "a Parquet file",
            Self::ArrowFile => "an Arrow file",
            Self::ArrowStream => "an Arrow stream",
            Self::Sheet => "a sheet",
            Self::Rows => "rows of a program",
        }
    }

    fn of(magic: &[u8]) -> Self {
        match magic {
            [b'P', b'A', b'R', b'1', ..] => Self::Parquet,
            [b'A', b'R', b'R', b'O', b'W', b'1', ..] => Self::ArrowFile,
            // The mark before a message, and its length, which is no more than a few megabytes.
            [0xff, 0xff, 0xff, 0xff, _, _, _, 0, ..] => Self::ArrowStream,
            _ => Self::Text,
        }
    }

    /// Whether an Arrow stream of an old writer may begin so: with a message's length, and where in the message its table is. Text has no
    /// zeros, but in UTF-16 and UTF-32.
    fn may_be_old_stream(magic: &[u8]) -> bool {
        matches!(magic, [_, _, 0, 0, 4..=64, 0, 0, 0])
    }
}

/// What tells one layout from another, and how an input is compressed.
const MAGIC_BYTES: usize = 8;

/// The first bytes of the input at `place`, decompressed, and how it is compressed; a pipe's can be looked at again. Of damaged data they
/// are what comes before the damage: whoever reads all of it says so.
pub(super) fn begin(
    place: &Place,
    pipe: &mut Option<Pipe>,
    bytes_max: usize,
    stop: &Stop,
) -> Result<(Vec<u8>, Option<Compression>)> {
    let fail = |error| cannot_open(&place.name(), &error);
    let mut raw: Box<dyn Read + Send> = match pipe {
        _ if place.can_be_reread() => place.begin(stop).map_err(fail)?,
        Some(pipe) => {
            let mut head = pipe.peek(MAGIC_BYTES, stop).map_err(fail)?;
            // Compressed data comes in blocks.
            if bytes_max > MAGIC_BYTES || Compression::detect(&head).is_some() {
                head = pipe.peek(HEAD_BYTES, stop).map_err(fail)?;
            }
            Box::new(io::Cursor::new(head))
        }
        None => Box::new(io::empty()),
    };
    let mut magic = Vec::new();
    raw.by_ref().take(MAGIC_BYTES as u64).read_to_end(&mut magic).map_err(fail)?;
    let compression = Compression::detect(&magic);
    let raw = io::Cursor::new(magic).chain(raw);
    let mut head = Vec::new();
    match compression {
        None => {
            raw.take(bytes_max as u64).read_to_end(&mut head).map_err(fail)?;
        }
        Some(compression) => {
            let plain = compression.open(Box::new(raw));
            // What was read before a failure stays.
            let _ = plain.and_then(|plain| plain.take(bytes_max as u64).read_to_end(&mut head));
        }
    }
    Ok((head, compression))
}

/// The layout of the input at `place`, by its first bytes; a pipe's can be looked at again.
pub(super) fn layout(
    place: &Place,
    request: &DialectRequest,
    pipe: &mut Option<Pipe>,
    stop: &Stop,
) -> Result<Layout> {
    let (magic, compression) = begin(place, pipe, MAGIC_BYTES, stop)?;
    let is_old_stream = Layout::may_be_old_stream(&magic)
        && crate::columns::ipc::is_old_stream(&begin(place, pipe, HEAD_BYTES, stop)?.0);
    let found = match place {
        Place::Sheet(_) => Layout::Sheet,
        _ if is_old_stream => Layout::ArrowStream,
        // The others are read from their end.
        _ if compression.is_some() && Layout::of(&magic) != Layout::ArrowStream => Layout::Text,
        _ => Layout::of(&magic),
    };
    let wanted = match request.format {
        Some(Format::Parquet) => found == Layout::Parquet,
        Some(Format::Arrow) => matches!(found, Layout::ArrowFile | Layout::ArrowStream),
        Some(_) => found == Layout::Text,
        None => true,
    };
    match request.format {
        Some(format) if !wanted => {
            let what = if magic.is_empty() { "empty" } else { found.words() };
            Err(Error::source(format!("{} is {what}, not {format}", place.name()))
                .advise("leave --format out: inrush finds out by itself"))
        }
        _ => Ok(found),
    }
}
