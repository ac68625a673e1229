//! The crate from outside: readings against a model.
#![allow(clippy::unwrap_used, reason = "clippy knows tests by their attribute, helpers have none")]

/// How values are read, done in a way that is easy to believe.
mod reading_model;
/// Texts that look like values, as readings and as the model have them.
mod readings;
