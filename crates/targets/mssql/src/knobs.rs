//! The knobs of all strategies.

use inrush_core::target::{Knob, KnobKind};

/// Those of INSERT BULK.
pub(super) static BULK: [Knob; 5] =
    [ROWS_PER_BATCH, TABLOCK, CHECK_CONSTRAINTS, FIRE_TRIGGERS, PACKET_SIZE];

/// Those of INSERT with many rows.
pub(super) static STATEMENT: [Knob; 3] = [ROWS_PER_TRANSACTION, ROWS_PER_STATEMENT, PACKET_SIZE];

/// Those of INSERT with one row.
pub(super) static ROW: [Knob; 2] = [ROWS_PER_TRANSACTION, PACKET_SIZE];

pub(super) const ROWS_PER_BATCH: Knob = Knob {
    name: "rows_per_batch",
    kind: KnobKind::Count { min: 0, max: 10_000_000 },
    default: "0",
    about: "rows in one INSERT BULK, and no more than a chunk has; 0 is all rows of a chunk",
    tries: &[],
};
pub(super) const TABLOCK: Knob = Knob {
    name: "tablock",
    kind: KnobKind::Choice(&["yes", "no"]),
    default: "yes",
    about: "a lock on the whole table instead of one a row; with it a heap is logged by the page where the database's recovery model allows",
    tries: &[],
};
pub(super) const CHECK_CONSTRAINTS: Knob = Knob {
    name: "check_constraints",
    kind: KnobKind::Choice(&["yes", "no"]),
    default: "yes",
    about: "whether CHECKs and foreign keys look at the rows; 'no' leaves them untrusted",
    tries: &[],
};
pub(super) const FIRE_TRIGGERS: Knob = Knob {
    name: "fire_triggers",
    kind: KnobKind::Choice(&["yes", "no"]),
    default: "yes",
    about: "whether the table's triggers see the rows",
    tries: &[],
};
pub(super) const PACKET_SIZE: Knob = Knob {
    name: "packet_size",
    kind: KnobKind::Count { min: 512, max: 32_767 },
    default: "32767",
    about: "bytes of a packet that the server is asked for; an encrypted connection takes at most 16383",
    tries: &[],
};
pub(super) const ROWS_PER_STATEMENT: Knob = Knob {
    name: "rows_per_statement",
    // https://learn.microsoft.com/en-us/sql/t-sql/queries/table-value-constructor-transact-sql
    kind: KnobKind::Count { min: 1, max: 1_000 },
    default: "1000",
    about: "rows in one statement; the server takes 1000",
    tries: &[],
};
pub(super) const ROWS_PER_TRANSACTION: Knob = Knob {
    name: "rows_per_transaction",
    kind: KnobKind::Count { min: 0, max: 1_000_000_000_000 },
    default: "0",
    about: "rows between commits, 1 is autocommit; 0 is the whole load",
    tries: &[],
};
