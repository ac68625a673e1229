//! The crate from outside: the grammar against a model, against csv-core, and against itself, cut
//! in every possible way.

/// Dates and timestamps, done in a way that is easy to believe.
mod date_model;
/// An input in pieces, held to the model.
mod in_pieces;
/// The machines that read an input, and how their answers are compared.
mod machines;
/// What the grammar says, written as plainly as possible.
mod model;
/// Numbers, done in a way that is easy to believe.
mod number_model;

/// Dates, timestamps and booleans against a calendar that counts day by day.
mod dates;
/// Input made to be slow.
mod hostile;
/// JSON: the layouts against a model and `serde_json`, and against themselves, cut in every way.
mod json;
/// Numbers against the standard library and against arithmetic on digit strings.
mod numbers;
/// Pieces of an input, each looked at by itself.
mod pieces;
/// Random bytes, made of what matters.
mod random;
/// The grammar, case by case.
mod records;
