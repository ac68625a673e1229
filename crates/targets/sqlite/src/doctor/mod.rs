//! What a database file puts at risk or holds back.
//!
//! Only what the file keeps is judged. `synchronous`, `cache_size` and `foreign_keys` are each connection's own.

mod open;
mod rules;
mod seen;

use std::sync::atomic::AtomicBool;

use inrush_core::doctor::indexes::ForeignKey;
use inrush_core::doctor::{Copy, Doctor, Examined, Rule, Surroundings, apply};
use inrush_core::error::{Error, Result};
use inrush_core::pending::{directory, follow_link};
use inrush_core::target::Location;

use crate::facts::engine;
use crate::session::Home;
pub(super) use open::{Beside, open};
use seen::Seen;

pub(super) struct SqliteDoctor;

impl Doctor for SqliteDoctor {
    fn rules(&self) -> Vec<&'static Rule> {
        rules::CHECKS.iter().map(|check| &check.rule).collect()
    }

    fn examine(
        &self,
        location: &Location,
        _around: &Surroundings,
        stop: &AtomicBool,
    ) -> Result<Examined> {
        let Home::File(path) = Home::of(location.secret.as_ref()) else {
            return Err(
                Error::usage("a database in memory has no file to look at").advise("name a file")
            );
        };
        let path = follow_link(path);
        let seen = Seen::read(&path, &location.shown, stop)?;
        Ok(Examined {
            version: engine(),
            findings: apply(rules::CHECKS, &seen),
            not_known: seen.not_known,
            folders: vec![directory(&path).to_owned()],
            settings: Vec::new(),
        })
    }

    fn copy(&self, location: &Location, table: Option<&str>, stop: &AtomicBool) -> Result<Copy> {
        let path = follow_link(location.secret.as_ref());
        let (statements, keys) = seen::definition(&path, &location.shown, stop)?;
        let is_ours =
            |key: &ForeignKey| table.is_some_and(|table| table.eq_ignore_ascii_case(&key.table));
        let ours = keys.into_iter().filter(is_ours);
        Ok(Copy {
            database: None,
            statements,
            referring: ours.collect(),
            table: table.map(str::to_owned),
        })
    }
}
