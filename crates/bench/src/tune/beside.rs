//! A private server of the same version and settings, for who may not make a table in the user's, or does not want to.

use inrush::doctor::Copy;
use inrush::profile::Key;
use inrush::{Error, Kind, Observer, Request, Result};
use inrush_core::IfExists;

use super::outcome::Outcome;
use crate::doctor::twin::{Ground, Twin};

/// The server, and what the user's own is.
pub(super) struct Beside {
    twin: Twin,
    /// What a profile of the user's load is kept under, where that can be planned.
    key: Option<Key>,
    place: String,
    shown: String,
    /// Whether the user's table holds rows, which this one's does not.
    pub(super) holds_rows: bool,
}

impl Beside {
    /// Starts the server, with an empty copy of the table if that is there. `None` where the target is a file: that is measured beside
    /// itself anyway.
    ///
    /// # Errors
    /// When no server of that version is installed here, or the table can't be copied.
    pub(super) fn of(request: &Request, observer: &dyn Observer) -> Result<Option<Self>> {
        let (target, location) = inrush::target::find(&request.target)?;
        if !location.files.is_empty() {
            return Ok(None);
        }
        let alone = Request { target: request.target.clone(), ..Request::default() };
        let diagnosis = inrush::doctor(&alone, observer)?;
        let ground = Ground::of(&alone, &diagnosis.version, &diagnosis.settings)?;
        let mut adding = request.clone();
        if adding.if_exists == IfExists::Empty {
            adding.if_exists = IfExists::Append;
        }
        let planned =
            [&adding, request].into_iter().find_map(|request| inrush::plan(request, observer).ok());
        let table = planned.as_ref().and_then(|plan| plan.facts.target.table.as_ref());
        let copy = match table {
            Some(table) => ground.copy(&alone, Some(&table.name), observer)?,
            None => Copy::default(),
        };
        Ok(Some(Self {
            holds_rows: table.is_some_and(|table| table.holds_rows),
            twin: ground.twin(&[], &copy, &[], observer)?,
            place: Key::place(target, &location),
            key: planned.as_ref().map(inrush::Plan::key),
            shown: location.shown,
        }))
    }

    /// The request that loads there.
    pub(super) fn request(&self, request: &Request) -> Request {
        Request { target: self.twin.url().to_owned(), ..request.clone() }
    }

    /// Loads rows that the table holds before, as the user's does.
    pub(super) fn fill(&self, mut request: Request, observer: &dyn Observer) -> Result<()> {
        request.target = self.twin.url().to_owned();
        request.if_exists = IfExists::Append;
        inrush::run(&inrush::plan(&request, observer)?, observer).map(drop)
    }

    /// The outcome as that of the user's own target.
    pub(super) fn named(self, mut outcome: Outcome) -> Outcome {
        match self.key {
            Some(key) => outcome.key = key,
            None => outcome.key.target = self.place,
        }
        outcome.target = self.shown;
        outcome
    }
}

/// What a private server lacks, with the way out.
pub(super) fn unavailable(error: Error) -> Error {
    match error.kind() {
        Kind::Interrupted => error,
        _ => error.advise("or leave --beside out, with the right to make a table in the target"),
    }
}
