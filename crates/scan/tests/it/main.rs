//! The crate from outside: the grammar against a model, against csv-core, and against itself, cut in
//! every possible way.

/// Whole inputs given to every machine at once.
mod machines;
/// The model: what the grammar says, written as plainly as possible.
mod model;

/// Dates, timestamps and booleans against a calendar that counts day by day.
mod dates;
/// Input made to be slow.
mod hostile;
/// Numbers against the standard library and against arithmetic on digit strings.
mod numbers;
/// Random bytes, made of what matters.
mod random;
/// The grammar, case by case.
mod records;
