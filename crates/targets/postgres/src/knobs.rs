//! The knobs of all strategies.

use inrush_core::target::{Knob, KnobKind};

/// Those of COPY.
pub(super) static COPY: [Knob; 5] = [FREEZE, UNLOGGED, INDEXES, SYNCHRONOUS_COMMIT, STREAMED];

/// Those of INSERT with many rows.
pub(super) static STATEMENT: [Knob; 5] = [
    ROWS_PER_TRANSACTION,
    UNLOGGED,
    INDEXES,
    SYNCHRONOUS_COMMIT,
    Knob { default: "1000", ..ROWS_PER_STATEMENT },
];

/// Those of INSERT with the rows of a chunk as arrays.
pub(super) static ARRAYS: [Knob; 5] =
    [ROWS_PER_TRANSACTION, UNLOGGED, INDEXES, SYNCHRONOUS_COMMIT, ROWS_PER_STATEMENT];

/// Those of INSERT with one row.
pub(super) static ROW: [Knob; 4] = [ROWS_PER_TRANSACTION, UNLOGGED, INDEXES, SYNCHRONOUS_COMMIT];

pub(super) const ROWS_PER_STATEMENT: Knob = Knob {
    name: "rows_per_statement",
    kind: KnobKind::Count { min: 0, max: 10_000_000 },
    default: "0",
    about: "rows in one statement; 0 is all rows of a chunk",
    tries: &["0", "1000", "10000", "1000000"],
};
const STREAMED: Knob = Knob {
    about: "rows in one statement, and no more than a chunk has; 0 lets a statement take many chunks, until a row is refused",
    ..ROWS_PER_STATEMENT
};
pub(super) const ROWS_PER_TRANSACTION: Knob = Knob {
    name: "rows_per_transaction",
    kind: KnobKind::Count { min: 0, max: 1_000_000_000_000 },
    default: "0",
    about: "rows between commits, 1 is autocommit; 0 is the whole load",
    tries: &[],
};
pub(super) const FREEZE: Knob = Knob {
    name: "freeze",
    kind: KnobKind::Choice(&["off", "on"]),
    default: "off",
    about: "COPY FREEZE over one connection into a table that the same transaction makes or truncates: no vacuum has to visit the rows again",
    tries: &["on"],
};
pub(super) const UNLOGGED: Knob = Knob {
    name: "unlogged",
    kind: KnobKind::Choice(&["off", "on"]),
    default: "off",
    about: "load a table that the load makes without write-ahead log, then SET LOGGED, which writes it a second time",
    tries: &["on"],
};
pub(super) const INDEXES: Knob = Knob {
    name: "indexes",
    kind: KnobKind::Choice(&["after", "before"]),
    default: "after",
    about: "whether primary key and indexes of a table that the load makes are built after its rows",
    tries: &["before"],
};
pub(super) const SYNCHRONOUS_COMMIT: Knob = Knob {
    name: "synchronous_commit",
    kind: KnobKind::Choice(&["keep", "on", "local", "remote_write", "remote_apply", "off"]),
    default: "keep",
    about: "what the commit that ends the load waits for; 'keep' is the server's own setting",
    tries: &[],
};
