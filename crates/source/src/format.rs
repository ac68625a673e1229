//! What an input is: told by the user, by its first bytes, by its name.

use std::io::Read;

use crate::Place;
use crate::place::cannot_open;
use inrush_core::error::{Error, Result};
use inrush_core::{DialectRequest, Format};
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
}

/// The layout of the input at `place`, by its first bytes; a pipe's can be looked at again.
pub(super) fn layout(
    place: &Place,
    request: &DialectRequest,
    pipe: &mut Option<Pipe>,
    stop: &Stop,
) -> Result<Layout> {
    let fail = |error| cannot_open(&place.name(), &error);
    let mut magic = Vec::new();
    match (place, pipe) {
        (place, _) if place.can_be_reread() => {
            let begins = place.begin(stop);
            begins.and_then(|file| file.take(8).read_to_end(&mut magic)).map_err(fail)?;
        }
        (_, Some(pipe)) => magic = pipe.peek(8, stop).map_err(fail)?,
        _ => {}
    }
    let found = match place {
        Place::Sheet(_) => Layout::Sheet,
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
