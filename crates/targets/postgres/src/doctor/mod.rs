//! What a server's settings and a database's tables put at risk or hold back.
//!
//! ```text
//! seen     what is read: settings, catalogue, the first keys of tables
//! change   how a setting is changed, which depends on who has set it
//! server   rules of settings        tables   rules of tables        copy   what makes a table elsewhere
//! ```

mod change;
mod copy;
mod seen;
mod server;
mod tables;

use std::sync::Arc;
use std::sync::atomic::AtomicBool;

use inrush_core::doctor::{Asked, Check, Copy, Doctor, Examined, Rule, Surroundings, apply};
use inrush_core::error::Result;
use inrush_core::target::Location;

use crate::connect;
use crate::console::PostgresConsole;
use seen::Seen;

pub(super) struct PostgresDoctor;

/// What is the server's, then what is a table's.
const PARTS: [&[Check<Seen>]; 2] = [server::CHECKS, tables::CHECKS];

impl Doctor for PostgresDoctor {
    fn rules(&self) -> Vec<&'static Rule> {
        PARTS.iter().flat_map(|checks| checks.iter().map(|check| &check.rule)).collect()
    }

    fn examine(
        &self,
        location: &Location,
        around: &Surroundings,
        stop: &AtomicBool,
    ) -> Result<Examined> {
        let place = Arc::new(connect::place(&location.secret, &location.spare)?);
        let console = PostgresConsole::open(&place, stop)?;
        let is_near = console.is_local();
        let mut asked = Asked::new(Box::new(console));
        let version = asked.engine()?;
        let seen = Seen::read(&mut asked, is_near, around)?;
        let mut findings: Vec<_> =
            PARTS.into_iter().flat_map(|checks| apply(checks, &seen)).collect();
        findings.sort_by_key(|finding| finding.severity);
        Ok(Examined {
            version,
            findings,
            not_known: asked.unknown(),
            folders: seen.folders(),
            settings: seen.bearing(),
        })
    }

    fn copy(&self, location: &Location, table: Option<&str>, stop: &AtomicBool) -> Result<Copy> {
        let Some(table) = table else { return Ok(Copy::default()) };
        let place = Arc::new(connect::place(&location.secret, &location.spare)?);
        let mut asked = Asked::new(Box::new(PostgresConsole::open(&place, stop)?));
        copy::read(&mut asked, table)
    }
}
