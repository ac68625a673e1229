//! Rules of the server's settings.

use inrush_core::doctor::{Check, Found, Rule, Severity};
use inrush_core::wording::bytes;

use super::change::{set, set_all};
use super::seen::Seen;

const SETTINGS: &str = "pg_settings";
const ALTER_SYSTEM: &str = "ALTER SYSTEM and pg_reload_conf(); ALTER DATABASE, ALTER ROLE or ALTER ROLE ALL ... RESET where those have set it";
const AT_START: &str = "ALTER SYSTEM or a line of postgresql.conf, and a restart";

/// The log is to hold this share of a load, up to [`LOG_BYTES_MAX`]: what is beyond means a checkpoint in a hurry.
const LOG_SHARE: u64 = 4;
const LOG_BYTES_MAX: u64 = 16 << 30;

/// The buffers are to have this share of the memory, or the whole of the load or the largest table.
const BUFFERS_SHARE: u64 = 4;

/// Sizes are proposed in steps of these.
const STEP_BYTES: u64 = 128 << 20;

/// What a load or a table is from which its indexes are no more sorted in memory by the server's default.
const LARGE_BYTES: u64 = 1 << 30;

/// Memory for building an index: the default, and what a large one takes.
const SORT_BYTES: u64 = 64 << 20;
const SORT_BYTES_LARGE: u64 = 256 << 20;

/// Seconds between checkpoints: the default.
const CHECKPOINT_S: u64 = 300;

pub(super) static CHECKS: &[Check<Seen>] = &[
    Check {
        rule: Rule {
            id: "fsync",
            severity: Severity::Risk,
            reads: SETTINGS,
            finds: "off",
            why: "nothing is forced to disk: a power failure, or a crash of the system, damages the whole cluster beyond repair",
            source: "https://www.postgresql.org/docs/current/runtime-config-wal.html#GUC-FSYNC",
            change: ALTER_SYSTEM,
            risk: "commits and checkpoints wait for the disk; a load of inrush commits once",
        },
        look: |seen| match seen.value("fsync") == "off" {
            true => vec![set(seen, "fsync", "on", "on")],
            false => Vec::new(),
        },
    },
    Check {
        rule: Rule {
            id: "full_page_writes",
            severity: Severity::Risk,
            reads: SETTINGS,
            finds: "off",
            why: "a page that a power failure leaves half written can't be repaired",
            source: "https://www.postgresql.org/docs/current/runtime-config-wal.html#GUC-FULL-PAGE-WRITES",
            change: ALTER_SYSTEM,
            risk: "the log is larger after each checkpoint",
        },
        look: |seen| match seen.value("full_page_writes") == "off" {
            true => vec![set(seen, "full_page_writes", "on", "on")],
            false => Vec::new(),
        },
    },
    Check {
        rule: Rule {
            id: "autovacuum",
            severity: Severity::Risk,
            reads: SETTINGS,
            finds: "off, where tables have dead rows",
            why: "dead rows stay: tables grow without end, and when transaction numbers run out the server takes no more writes",
            source: "https://www.postgresql.org/docs/current/runtime-config-autovacuum.html#GUC-AUTOVACUUM",
            change: ALTER_SYSTEM,
            risk: "workers read and write tables at times that they choose",
        },
        look: |seen| match seen.value("autovacuum") == "off" && seen.dead_rows() > 0 {
            true => vec![set(seen, "autovacuum", "on", "on")],
            false => Vec::new(),
        },
    },
    Check {
        rule: Rule {
            id: "zero_damaged_pages",
            severity: Severity::Risk,
            reads: SETTINGS,
            finds: "on",
            why: "a damaged page is read as an empty one: its rows are gone without an error",
            source: "https://www.postgresql.org/docs/current/runtime-config-developer.html#GUC-ZERO-DAMAGED-PAGES",
            change: ALTER_SYSTEM,
            risk: "queries of damaged pages fail",
        },
        look: |seen| match seen.value("zero_damaged_pages") == "on" {
            true => vec![set(seen, "zero_damaged_pages", "off", "off")],
            false => Vec::new(),
        },
    },
    Check {
        rule: Rule {
            id: "ignore_checksum_failure",
            severity: Severity::Risk,
            reads: SETTINGS,
            finds: "on",
            why: "a page that the disk has changed is read as if it were right",
            source: "https://www.postgresql.org/docs/current/runtime-config-developer.html#GUC-IGNORE-CHECKSUM-FAILURE",
            change: ALTER_SYSTEM,
            risk: "queries of damaged pages fail",
        },
        look: |seen| match seen.value("ignore_checksum_failure") == "on" {
            true => vec![set(seen, "ignore_checksum_failure", "off", "off")],
            false => Vec::new(),
        },
    },
    Check {
        rule: Rule {
            id: "session_replication_role",
            severity: Severity::Risk,
            reads: SETTINGS,
            finds: "replica, for all new connections",
            why: "neither triggers nor foreign keys are checked: rows are taken that refer to none",
            source: "https://www.postgresql.org/docs/current/runtime-config-client.html#GUC-SESSION-REPLICATION-ROLE",
            change: ALTER_SYSTEM,
            risk: "rows that refer to none are refused from then on; those that were taken stay",
        },
        look: |seen| match seen.value("session_replication_role") == "replica" {
            true => vec![set(seen, "session_replication_role", "origin", "origin")],
            false => Vec::new(),
        },
    },
    Check {
        rule: Rule {
            id: "max_wal_size",
            severity: Severity::Slow,
            reads: SETTINGS,
            finds: "with SOURCE: smaller than a quarter of it, up to 16 GB",
            why: "when the log has grown to that, a checkpoint begins in the middle of the load, and each page that changes afterwards goes to the log as a whole",
            source: "https://www.postgresql.org/docs/current/runtime-config-wal.html#GUC-MAX-WAL-SIZE",
            change: ALTER_SYSTEM,
            risk: "the log takes the disk's room, and recovery after a crash takes longer",
        },
        look: |seen| {
            let Some(load) = seen.around.load_bytes else { return Vec::new() };
            let wanted = (load / LOG_SHARE).min(LOG_BYTES_MAX);
            sized(seen, "max_wal_size", wanted, "a quarter of the load")
        },
    },
    Check {
        rule: Rule {
            id: "checkpoint_timeout",
            severity: Severity::Slow,
            reads: SETTINGS,
            finds: "below 5 minutes",
            why: "each page that changes after a checkpoint goes to the log as a whole: the more checkpoints, the larger the log",
            source: "https://www.postgresql.org/docs/current/runtime-config-wal.html#GUC-CHECKPOINT-TIMEOUT",
            change: ALTER_SYSTEM,
            risk: "recovery after a crash takes longer",
        },
        look: |seen| match seen.bytes("checkpoint_timeout") {
            Some(seconds) if seconds < CHECKPOINT_S => {
                vec![set(seen, "checkpoint_timeout", "5 minutes", "5min")]
            }
            _ => Vec::new(),
        },
    },
    Check {
        rule: Rule {
            id: "shared_buffers",
            severity: Severity::Slow,
            reads: SETTINGS,
            finds: "less than a quarter of the machine's memory, and less than SOURCE or the largest table",
            why: "pages of tables and indexes that do not fit are written out while rows still go into them",
            source: "https://www.postgresql.org/docs/current/runtime-config-resource.html#GUC-SHARED-BUFFERS",
            change: AT_START,
            risk: "the memory is missing for other programs and for the system's own cache",
        },
        look: |seen| {
            let Some(memory) = seen.memory_bytes() else { return Vec::new() };
            let wanted = seen.weight().min(memory / BUFFERS_SHARE);
            sized(seen, "shared_buffers", wanted, &format!("of {} of memory", bytes(memory)))
        },
    },
    Check {
        rule: Rule {
            id: "maintenance_work_mem",
            severity: Severity::Slow,
            reads: SETTINGS,
            finds: "below 64 MB; below 256 MB where SOURCE or the largest table is over 1 GB",
            why: "an index is sorted in files instead of memory",
            source: "https://www.postgresql.org/docs/current/runtime-config-resource.html#GUC-MAINTENANCE-WORK-MEM",
            change: ALTER_SYSTEM,
            risk: "each statement that builds an index, and each worker of autovacuum, may take so much",
        },
        look: |seen| {
            let is_large = seen.weight() > LARGE_BYTES;
            let wanted = if is_large { SORT_BYTES_LARGE } else { SORT_BYTES };
            sized(seen, "maintenance_work_mem", wanted, "for building an index")
        },
    },
    Check {
        rule: Rule {
            id: "max_parallel_maintenance_workers",
            severity: Severity::Slow,
            reads: SETTINGS,
            finds: "0",
            why: "an index is built by one process",
            source: "https://www.postgresql.org/docs/current/runtime-config-resource.html#GUC-MAX-PARALLEL-MAINTENANCE-WORKERS",
            change: ALTER_SYSTEM,
            risk: "building an index takes the processors of two more processes",
        },
        look: |seen| match seen.value("max_parallel_maintenance_workers") == "0" {
            true => vec![set(seen, "max_parallel_maintenance_workers", "2", "2")],
            false => Vec::new(),
        },
    },
    Check {
        rule: Rule {
            id: "wal_level",
            severity: Severity::Slow,
            reads: "pg_settings, pg_replication_slots, pg_stat_replication",
            finds: "with SOURCE over 1 GB: replica or logical, where no standby, slot or archive reads the log, and summarize_wal is off",
            why: "rows of a table that is made in the same transaction have to go to the log; with minimal the table is synced instead",
            source: "https://www.postgresql.org/docs/current/runtime-config-wal.html#GUC-WAL-LEVEL",
            change: AT_START,
            risk: "without the log there is no standby and no restoring to a moment until the setting is back and a base backup is taken",
        },
        look: |seen| {
            let is_large = seen.around.load_bytes.is_some_and(|load| load > LARGE_BYTES);
            let is_read = seen.replicates || seen.value("wal_level") == "minimal";
            if !is_large || is_read || seen.value("wal_level").is_empty() {
                return Vec::new();
            }
            let settings = [("wal_level", "minimal"), ("max_wal_senders", "0")];
            vec![set_all(seen, &settings, "minimal, for as long as nobody reads the log")]
        },
    },
    Check {
        rule: Rule {
            id: "log_statement",
            severity: Severity::Slow,
            reads: SETTINGS,
            finds: "all",
            why: "every statement is written to the server's log, in full",
            source: "https://www.postgresql.org/docs/current/runtime-config-logging.html#GUC-LOG-STATEMENT",
            change: ALTER_SYSTEM,
            risk: "what was done is no longer on record",
        },
        look: |seen| match seen.value("log_statement") == "all" {
            true => vec![set(seen, "log_statement", "none", "none")],
            false => Vec::new(),
        },
    },
    Check {
        rule: Rule {
            id: "autovacuum",
            severity: Severity::Note,
            reads: SETTINGS,
            finds: "off, where no table has dead rows",
            why: "statistics grow old and dead rows will stay: tables grow without end",
            source: "https://www.postgresql.org/docs/current/runtime-config-autovacuum.html#GUC-AUTOVACUUM",
            change: ALTER_SYSTEM,
            risk: "workers read and write tables at times that they choose",
        },
        look: |seen| match seen.value("autovacuum") == "off" && seen.dead_rows() == 0 {
            true => vec![set(seen, "autovacuum", "on", "on")],
            false => Vec::new(),
        },
    },
    Check {
        rule: Rule {
            id: "synchronous_commit",
            severity: Severity::Note,
            reads: SETTINGS,
            finds: "off",
            why: "a power failure, or a crash, loses up to three times wal_writer_delay of commits; loads that commit often gain by it",
            source: "https://www.postgresql.org/docs/current/runtime-config-wal.html#GUC-SYNCHRONOUS-COMMIT",
            change: ALTER_SYSTEM,
            risk: "each commit waits for a sync; a load of inrush commits once",
        },
        look: |seen| match seen.value("synchronous_commit") == "off" {
            true => vec![set(seen, "synchronous_commit", "on", "on")],
            false => Vec::new(),
        },
    },
    Check {
        rule: Rule {
            id: "statement_timeout",
            severity: Severity::Note,
            reads: SETTINGS,
            finds: "not 0",
            why: "a load or an index that takes longer is cancelled",
            source: "https://www.postgresql.org/docs/current/runtime-config-client.html#GUC-STATEMENT-TIMEOUT",
            change: ALTER_SYSTEM,
            risk: "a statement that never ends holds its locks",
        },
        look: |seen| match seen.bytes("statement_timeout").is_some_and(|time| time > 0) {
            true => vec![set(seen, "statement_timeout", "0", "0")],
            false => Vec::new(),
        },
    },
];

/// A size that should be larger, in steps.
fn sized(seen: &Seen, name: &str, wanted: u64, why: &str) -> Vec<Found> {
    match seen.bytes(name) {
        Some(size) if size < wanted => {
            let step = STEP_BYTES.min(wanted.next_power_of_two());
            let should = wanted.div_ceil(step) * step;
            let value = format!("{}MB", should.div_ceil(1 << 20));
            vec![set(seen, name, &format!("{}, {why}", bytes(should)), &value).for_all_of_it()]
        }
        _ => Vec::new(),
    }
}
