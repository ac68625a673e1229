//! The knobs of all strategies.

use inrush_core::target::{Knob, KnobKind};

/// Those of strategies that send many rows with one statement and leave its size to the chunk.
pub(super) static BULK: [Knob; 6] =
    [ENGINE, INDEXES, SQL_LOG_BIN, UNIQUE_CHECKS, FOREIGN_KEY_CHECKS, ROWS_PER_STATEMENT];

/// Those of INSERT with many rows.
pub(super) static STATEMENT: [Knob; 7] = [
    ROWS_PER_TRANSACTION,
    ENGINE,
    INDEXES,
    SQL_LOG_BIN,
    UNIQUE_CHECKS,
    FOREIGN_KEY_CHECKS,
    Knob { default: "1000", ..ROWS_PER_STATEMENT },
];

/// Those of INSERT with one row.
pub(super) static ROW: [Knob; 6] =
    [ROWS_PER_TRANSACTION, ENGINE, INDEXES, SQL_LOG_BIN, UNIQUE_CHECKS, FOREIGN_KEY_CHECKS];

/// Those of a load whose rows pass through MyISAM.
pub(super) static CONVERT: [Knob; 4] =
    [SQL_LOG_BIN, UNIQUE_CHECKS, FOREIGN_KEY_CHECKS, ROWS_PER_STATEMENT];

/// Those of a load that makes the table's file.
pub(super) static FILE: [Knob; 2] =
    [Knob { kind: KnobKind::Choice(&["csv"]), default: "csv", ..ENGINE }, SQL_LOG_BIN];

/// Those of INSERT DELAYED.
pub(super) static DELAYED: [Knob; 3] = [
    Knob { default: "myisam", ..ENGINE },
    SQL_LOG_BIN,
    Knob { default: "1", ..ROWS_PER_STATEMENT },
];

/// Those of a load that makes the table's InnoDB file.
pub(super) static TABLESPACE: [Knob; 6] = [
    Knob { kind: KnobKind::Choice(&["innodb"]), ..ENGINE },
    Knob {
        kind: KnobKind::Choice(&["after"]),
        about: "when indexes are built: by the server, after the rows",
        tries: &[],
        ..INDEXES
    },
    BINLOG,
    CHECK,
    ROW_ORDER,
    SORT_MEMORY,
];

pub(super) const BINLOG: Knob = Knob {
    name: "binlog",
    kind: KnobKind::Choice(&["refuse", "skip"]),
    default: "refuse",
    about: "what happens where the server writes a binary log: 'skip' leaves the table out of it, so replicas lack it; takes a privilege",
    tries: &[],
};
pub(super) const CHECK: Knob = Knob {
    name: "check",
    kind: KnobKind::Choice(&["yes", "no"]),
    default: "yes",
    about: "whether the server looks at every page of the new table (CHECK TABLE) before it gets its name",
    tries: &[],
};
pub(super) const ROW_ORDER: Knob = Knob {
    name: "row_order",
    kind: KnobKind::Choice(&["ascending", "any"]),
    default: "ascending",
    about: "how rows come, by the primary key; 'any' sorts them, and a file that turns out to need it is read again",
    tries: &[],
};
pub(super) const SORT_MEMORY: Knob = Knob {
    name: "sort_memory",
    kind: KnobKind::Count { min: 1 << 20, max: 64 << 30 },
    default: "25165824",
    about: "bytes in which rows are sorted; what is more goes to nameless files beside the table's",
    tries: &[],
};
pub(super) const ROWS_PER_STATEMENT: Knob = Knob {
    name: "rows_per_statement",
    kind: KnobKind::Count { min: 0, max: 10_000_000 },
    default: "0",
    about: "rows in one statement, as far as max_allowed_packet allows; 0 is all rows of a chunk",
    tries: &["0", "1000", "10000"],
};
pub(super) const ROWS_PER_TRANSACTION: Knob = Knob {
    name: "rows_per_transaction",
    kind: KnobKind::Count { min: 0, max: 1_000_000_000_000 },
    default: "0",
    about: "rows between commits, 1 is autocommit; 0 is the whole load, or 16 MB where a hidden table takes the rows",
    tries: &[],
};
pub(super) const ENGINE: Knob = Knob {
    name: "engine",
    kind: KnobKind::Choice(&[
        "innodb",
        "myisam",
        "aria",
        "memory",
        "csv",
        "archive",
        "rocksdb",
        "blackhole",
    ]),
    default: "innodb",
    about: "the storage engine of a table that the load makes",
    tries: &[],
};
pub(super) const INDEXES: Knob = Knob {
    name: "indexes",
    kind: KnobKind::Choice(&["after", "before"]),
    default: "after",
    about: "whether indexes that are not unique are built after the rows; 'before' is the planner's choice for an existing table and few rows",
    tries: &["before"],
};
pub(super) const SQL_LOG_BIN: Knob = Knob {
    name: "sql_log_bin",
    kind: KnobKind::Choice(&["keep", "off"]),
    default: "keep",
    about: "'off' leaves the rows out of the binary log, so replicas lack them; takes a privilege",
    tries: &[],
};
pub(super) const UNIQUE_CHECKS: Knob = Knob {
    name: "unique_checks",
    kind: KnobKind::Choice(&["on", "off"]),
    default: "on",
    about: "whether InnoDB looks for repeated keys at once, for a table without unique keys besides the primary one",
    tries: &["off"],
};
pub(super) const FOREIGN_KEY_CHECKS: Knob = Knob {
    name: "foreign_key_checks",
    kind: KnobKind::Choice(&["on", "off"]),
    default: "on",
    about: "whether foreign keys are checked, for a table that the load makes, which has none",
    tries: &["off"],
};
