//! What a database's settings, tables and files put at risk or hold back: rules, and what they find.
//!
//! ```text
//! engine's crate: what is read (its own `Seen`) -> its table of Checks (Rule + look) -> Found -> Finding
//! ```
//!
//! A [`Rule`] is data, from which docs/doctor.md is generated; a [`Check`] is a rule with the function that looks. What several engines
//! judge by the same rule is here as well: indexes that others cover ([`indexes`]), and keys that come in no order ([`keys`]).

mod ask;
mod finding;
pub mod indexes;
pub mod keys;
mod rule;

use std::path::PathBuf;
use std::sync::atomic::AtomicBool;

use crate::error::{Error, Result};
use crate::target::Location;
use indexes::ForeignKey;

pub use ask::{Answer, Asked};
pub use finding::{Finding, Severity, Trial, Worth};
pub use rule::{Check, Found, Rule, apply};

/// An engine's part: its rules, and what they find.
pub trait Doctor: Sync {
    /// Every rule, in the order of the documentation.
    fn rules(&self) -> Vec<&'static Rule>;

    /// Reads settings, tables and files, and changes nothing: not by a statement, not by opening. What may not be read is in
    /// [`Examined::not_known`], and fails nothing. `stop` ends a wait.
    ///
    /// # Errors
    /// When the database is missing, does not answer, or the user has stopped it.
    fn examine(
        &self,
        location: &Location,
        around: &Surroundings,
        stop: &AtomicBool,
    ) -> Result<Examined>;

    /// What makes an empty copy of a table elsewhere, or of the database where it is none: as [`Trial::Statements`] names it. Only read, as
    /// by [`Doctor::examine`].
    ///
    /// # Errors
    /// When it can't be read, or the engine has no such thing.
    fn copy(&self, _location: &Location, _table: Option<&str>, _stop: &AtomicBool) -> Result<Copy> {
        Err(Error::target("this engine's tables are not copied"))
    }
}

/// What makes an empty copy.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Copy {
    /// The database that it has to be in, where the change names it.
    pub database: Option<String>,
    /// Statements, in their order.
    pub statements: Vec<String>,
    /// The table's foreign keys, where they can't be left out. What they refer to is not copied: only what refers to nothing, NULL, can be
    /// loaded.
    pub referring: Vec<ForeignKey>,
    /// The table, as a load names it; `None` where there is no one table.
    pub table: Option<String>,
}

/// What else bears on a judgement.
#[derive(Clone, Debug, Default)]
pub struct Surroundings {
    /// Bytes of the load that is to come; `None` where no source is named, or its size can't be told.
    pub load_bytes: Option<u64>,
    /// Bytes of memory of this machine, or of the group that we are in; `None` where that can't be told.
    pub memory_bytes: Option<u64>,
    /// The machine's own name, by which a server says that it is here; empty where that can't be told.
    pub host: String,
}

/// What was found.
#[derive(Clone, Debug, Default)]
pub struct Examined {
    /// The engine and its version.
    pub version: String,
    /// What the rules have found.
    pub findings: Vec<Finding>,
    /// What could not be read, and what that takes.
    pub not_known: Vec<String>,
    /// Where its files are, as far as they are on this machine, the data first.
    pub folders: Vec<PathBuf>,
    /// The settings that bear on loads, which a private server has to have to be like this one.
    pub settings: Vec<(String, String)>,
}
