//! The server's types: what a declared type means, and how a value is stored so that it stays what it is.
//!
//! ```text
//! "decimal(10,2) unsigned" -> declared -> Store -> keep("1.5") -> "1.50", as the server will show it
//! ```
//!
//! A value is kept when the server, in strict mode, stores it without a warning and nothing of it is lost: the same number, the
//! same moment, the same characters. Where the server would show another text than was written, `keep` writes that text, so that
//! what was sent and what is stored can be compared byte by byte. Only floats are shown as the server likes; they compare as
//! numbers.

mod declared;
mod exact;
mod geometry;
mod json;
mod moment;
mod number;
#[cfg(test)]
mod oracle;
mod store;
mod text;

pub(super) use declared::{DEGREES, Declared, LATITUDE_FIRST, UTC, declared, spell};
pub(super) use exact::Exact;
pub(super) use moment::LastDay;
#[cfg(test)]
pub(super) use oracle::{DECLARED, MADE};
pub(super) use store::{Class, Kept, Modes, SessionZone, Store, last_number};
