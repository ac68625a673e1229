//! Parameters of the strategies.

use inrush_core::target::{Knob, KnobKind};

pub(super) const FSYNC: Knob = Knob {
    name: "fsync",
    kind: KnobKind::Choice(&["end", "never", "flush"]),
    default: "end",
    about: "when the disk is waited for: once all rows are written, never (also with --durability process or none), or after every flush (fdatasync) and at the end",
    tries: &[],
};

pub(super) const ROWS_PER_FLUSH: Knob = Knob {
    name: "rows_per_flush",
    kind: KnobKind::Count { min: 0, max: 1_000_000_000_000 },
    default: "0",
    about: "rows handed to the kernel in one write, if they take no more than 8 MiB; 0 is a chunk's rows, 1 a write for every row",
    tries: &[],
};

pub(super) const ROWS: Knob = Knob {
    name: "rows",
    kind: KnobKind::Choice(&["object", "array"]),
    default: "object",
    about: "a row as an object with the columns' names, or as an array of the values alone; a file that holds rows already keeps its kind",
    tries: &[],
};

pub(super) static CSV: [Knob; 2] = [FSYNC, ROWS_PER_FLUSH];
pub(super) static JSONL: [Knob; 3] = [FSYNC, ROWS_PER_FLUSH, ROWS];

pub(super) const COMPRESSION: Knob = Knob {
    name: "compression",
    kind: KnobKind::Choice(&["zstd", "snappy", "lz4", "gzip", "brotli", "none"]),
    default: "zstd",
    about: "how pages are compressed; snappy takes the least time, zstd little more for much smaller files",
    tries: &[],
};

pub(super) const ROW_GROUP_ROWS: Knob = Knob {
    name: "row_group_rows",
    kind: KnobKind::Count { min: 1, max: 1 << 31 },
    default: "1048576",
    about: "rows of a row group at most; a chunk's rows (--chunk-size) are one, or several where they are more than this",
    tries: &[],
};

const FSYNC_AT_END: Knob = Knob {
    kind: KnobKind::Choice(&["end", "never"]),
    about: "when the disk is waited for: once the file is whole, or never (also with --durability process or none)",
    ..FSYNC
};

pub(super) static PARQUET: [Knob; 3] = [COMPRESSION, ROW_GROUP_ROWS, FSYNC_AT_END];
