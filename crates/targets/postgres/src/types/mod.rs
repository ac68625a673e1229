//! The server's types: what a declared type means, and how a value is stored so that it stays what it is.
//!
//! ```text
//! "numeric(10,2)" -> declared -> Store -> encode("1.5") -> 0002 0000 0000 0002 0001 1388, as COPY ... (FORMAT binary) takes it
//! ```
//!
//! A value is kept when what the server stores for it is exactly what the text says: the same number, the same moment, the same
//! characters. What the server would round, cut off or ignore is a misfit, and so is what it refuses.
//!
//! Binary forms are those of the types' receive functions, written as the send functions write what is stored, so that what was
//! sent and what is stored can be compared byte by byte:
//! <https://www.postgresql.org/docs/current/sql-copy.html#SQL-COPY-FILE-FORMATS>. Types whose form is the server's own affair
//! (ranges, shapes, extensions' types) go as text, and the server reads them.
//!
//! Of the ways to write a value only those are read that mean one thing whatever the session's settings (DateStyle, IntervalStyle)
//! are; the server guesses at more.

mod address;
mod array;
mod clock;
mod declared;
mod interval;
mod json;
mod locale;
mod moment;
mod money;
mod number;
mod numeric;
#[cfg(test)]
mod oracle;
mod store;
mod text;
mod zone;

pub(super) use declared::{declared, is_array, spell, sql_type};
pub(super) use locale::Locale;
pub(super) use money::AMOUNT;
pub(super) use store::{Misfit, Store};
