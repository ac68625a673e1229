//! The knobs of both strategies.

use inrush_core::target::{Knob, KnobKind};

/// Those of inserts with many documents.
pub(super) static MANY: [Knob; 7] =
    [DOCUMENTS_PER_BATCH, ORDERED, WRITE_CONCERN, JOURNAL, INTEGERS, TIMESTAMPS, NULLS];

/// Those of inserts with one.
pub(super) static ONE: [Knob; 5] = [WRITE_CONCERN, JOURNAL, INTEGERS, TIMESTAMPS, NULLS];

pub(super) const DOCUMENTS_PER_BATCH: Knob = Knob {
    name: "documents_per_batch",
    kind: KnobKind::Count { min: 0, max: 100_000 },
    default: "0",
    about: "documents in one insert; 0 is all of a chunk, as far as the server takes so many",
    tries: &[],
};
pub(super) const ORDERED: Knob = Knob {
    name: "ordered",
    kind: KnobKind::Choice(&["no", "yes"]),
    default: "no",
    about: "whether the server stops a batch at its first bad document; what is left of it is sent again then",
    tries: &[],
};
pub(super) const WRITE_CONCERN: Knob = Knob {
    name: "write_concern",
    kind: KnobKind::Choice(&["1", "majority", "0"]),
    default: "1",
    about: "what an insert waits for: the server that takes it, most of its replica set, or none; the end of a load waits for what --durability says",
    tries: &[],
};
pub(super) const JOURNAL: Knob = Knob {
    name: "journal",
    kind: KnobKind::Choice(&["no", "yes"]),
    default: "no",
    about: "whether an insert also waits until the journal is on disk; the end of a load waits for what --durability says",
    tries: &[],
};
pub(super) const INTEGERS: Knob = Knob {
    name: "integers",
    kind: KnobKind::Choice(&["smallest", "int64"]),
    default: "smallest",
    about: "integers in 32 bits where those keep them, as drivers and mongoimport have it, or all in 64",
    tries: &[],
};
pub(super) const TIMESTAMPS: Knob = Knob {
    name: "timestamps",
    kind: KnobKind::Choice(&["date", "text"]),
    default: "date",
    about: "timestamps as dates, which keep milliseconds, or all as they are written; a column of a guessed type that holds finer ones is text in any case",
    tries: &[],
};
pub(super) const NULLS: Knob = Knob {
    name: "nulls",
    kind: KnobKind::Choice(&["store", "omit"]),
    default: "store",
    about: "NULL as a field that is null, or as no field",
    tries: &[],
};
