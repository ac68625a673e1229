//! The words that all of inrush shares: what a user asks for, what is found, what is decided, what flows, and what a target is.
//!
//! ```text
//! Request + Facts -> Job (Choice, Shape)
//!                     |
//! source: Chunk -> encode: Encoded (Wire, Found) -> target: Lane -> Ack
//! ```
//!
//! - [`request`], [`schema`], [`facts`], [`moments`], [`nulls`], [`reading`], [`job`], [`ledger`]: data, decided on by the planner and
//!   read by all.
//! - [`flow`]: what goes from stage to stage. [`cut`] makes chunks of what is read, [`mod@encode`] makes wires of chunks.
//! - [`value`]: what a text is as a number, once for all engines.
//! - [`target`]: the traits that an engine's crate implements. [`doctor`]: rules of settings and tables, and what they find.
//! - [`error`], [`guard`], [`wording`], [`path`], [`patient`], [`pending`], [`locks`], [`signature`], [`encrypted`], [`unique`]: what
//!   everything needs.
//!
//! Nothing here knows a source, an engine, a thread or a socket. A change here rebuilds everything above; what only one engine needs
//! belongs into its crate.

pub mod cut;
pub mod doctor;
pub mod encode;
pub mod encrypted;
pub mod error;
pub mod facts;
pub mod flow;
pub mod guard;
pub mod job;
pub mod ledger;
pub mod limits;
pub mod locks;
pub mod mentions;
pub mod moments;
pub mod nulls;
pub mod path;
pub mod patient;
pub mod pending;
pub mod reading;
pub mod request;
pub mod schema;
pub mod signature;
pub mod split;
pub mod target;
pub mod unique;
pub mod value;
pub mod wording;

pub use error::{Aftermath, Error, ErrorPlace, Kind, Result, without_secrets};
pub use facts::{
    Facts, FieldFacts, Form, KeyValues, Misfit, Orphans, Own, Parentless, PlainFiles, RepeatedRows,
    Repeats, Retry, SourceFacts, Spoiler, TableFacts, TargetFacts,
};
pub use job::{Action, Choice, Job, Measured};
pub use moments::{MomentFacts, MomentLimits, Settled};
pub use nulls::Nulls;
pub use reading::{
    Added, ColumnRequest, Proposal, ReadFacts, ReadRequest, ReadType, Trim, TypeWord,
};
pub use request::{
    Case, DialectRequest, Durability, Empty, Format, Guarantee, IfExists, Inference, LoadOptions,
    MatchBy, MissingColumns, NewColumns, OnConflict, RejectLimit, RejectsTo, Request, RowIds,
    Verify,
};
pub use schema::{Basis, Column, Type};
pub use split::{Parts, Split};
