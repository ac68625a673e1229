//! Types of columns: which values each keeps as they are, and how it keeps them.
//!
//! <https://learn.microsoft.com/en-us/sql/t-sql/data-types/data-types-transact-sql>

mod declared;
pub(super) mod moment;
mod number;
mod store;
mod text;

pub(super) use declared::{TEXT, spell};
pub(super) use store::{Kept, Store};
