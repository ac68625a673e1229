//! Everything decided before the first byte moves, and why.
//!
//! [`plan()`] takes a [`Request`], gathers [`Facts`], lets [`choose()`] decide, and gives a [`Plan`] that can explain itself.

mod after;
mod assemble;
mod choose;
mod explain;
mod lost;
mod matching;
mod spoilt;
pub(crate) mod steps;
mod textual;

pub(crate) use after::AS_ALL_ARE;
pub use assemble::{DialectShown, Plan, plan};
pub(crate) use assemble::{plan_check, plan_knowing, plan_rows};
pub use choose::choose;
pub(crate) use choose::choose_because;
pub use inrush_core::facts::{
    Facts, FieldFacts, Form, KeyValues, Misfit, Orphans, Own, Parentless, PlainFiles, RepeatedRows,
    Repeats, Retry, SourceFacts, Spoiler, TableFacts, TargetFacts,
};
pub use inrush_core::job::{Action, Choice, Job, Measured};
pub use inrush_core::moments::{MomentFacts, MomentLimits};
pub use inrush_core::nulls::Nulls;
pub use inrush_core::reading::{
    Added, ColumnRequest, ReadRequest, ReadType, Readers, Trim, TypeWord,
};
pub use inrush_core::request::{
    Case, DialectRequest, Durability, Empty, Format, Guarantee, IfExists, Inference, LoadOptions,
    MatchBy, MissingColumns, NewColumns, OnConflict, RejectLimit, RejectsTo, Request, Verify,
    character,
};
pub use inrush_core::schema::{Basis, Column, Type};
