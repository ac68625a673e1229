//! Parameters of the strategies.

use inrush_core::target::{Knob, KnobKind};

pub(super) const THREADS: Knob = Knob {
    name: "threads",
    kind: KnobKind::Count { min: 0, max: 1_024 },
    default: "0",
    about: "threads of DuckDB's own; 0 is one for each processor, of arrow 1 where there are two and rows are too long to be gathered",
    tries: &["1", "2", "4"],
};
pub(super) const MEMORY_LIMIT: Knob = Knob {
    name: "memory_limit",
    kind: KnobKind::Count { min: 64 << 20, max: 1 << 44 },
    default: "536870912",
    about: "bytes that DuckDB may take for its buffers, in a database that no other connection of this program has open; a quarter of the machine's memory, if that is more, up to 2 GiB",
    tries: &[],
};
pub(super) const STORAGE_VERSION: Knob = Knob {
    name: "storage_version",
    kind: KnobKind::Choice(&["v1.0.0", "v1.1.0", "v1.2.0", "v1.3.0", "v1.4.0", "v1.5.0"]),
    default: "v1.0.0",
    about: "the oldest DuckDB that can open a database which the load makes; an existing one keeps its own",
    tries: &[],
};
pub(super) const SIFT: Knob = Knob {
    name: "sift",
    kind: KnobKind::Choice(&["off", "on"]),
    default: "off",
    about: "on asks the engine of each chunk which rows it would refuse, before it gets the others; off asks only once it has refused some",
    tries: &[],
};
pub(super) const ROWS_PER_TRANSACTION: Knob = Knob {
    name: "rows_per_transaction",
    kind: KnobKind::Count { min: 0, max: 1_000_000_000_000 },
    default: "0",
    about: "rows between commits; 0 is the whole load in one transaction",
    tries: &[],
};

pub(super) static STREAM: [Knob; 4] = [THREADS, MEMORY_LIMIT, STORAGE_VERSION, SIFT];
pub(super) static ROWS: [Knob; 5] =
    [THREADS, MEMORY_LIMIT, STORAGE_VERSION, SIFT, ROWS_PER_TRANSACTION];
pub(super) static FILE: [Knob; 3] = [THREADS, MEMORY_LIMIT, STORAGE_VERSION];
