//! Everything decided before the first byte moves, and why.
//!
//! [`plan()`] takes a [`Request`], gathers [`Facts`], lets [`choose()`] decide, and gives a [`Plan`] that can explain itself.

mod assemble;
mod choose;
mod explain;
mod facts;
mod lost;
mod matching;
mod moments;
mod nulls;
mod request;
mod schema;
mod spoilt;
mod textual;

pub(crate) use assemble::plan_check;
pub use assemble::{DialectShown, Plan, plan};
pub use choose::{Action, Choice, choose};
pub use facts::{
    Facts, FieldFacts, Form, KeyValues, Lesson, Misfit, Repeats, SourceFacts, Spoiler, TableFacts,
    TargetFacts,
};
pub use moments::{MomentFacts, MomentLimits};
pub use nulls::Nulls;
pub use request::{
    DialectRequest, Durability, Format, IfExists, Inference, MatchBy, OnConflict, RejectLimit,
    Request, Verify,
};
pub use schema::{Column, Type};
