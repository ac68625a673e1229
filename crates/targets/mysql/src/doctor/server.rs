//! Rules of the server's settings.

use inrush_core::doctor::{Check, Found, Rule, Severity};
use inrush_core::wording::bytes;

use super::change::{SERVER, at_start, dynamic, of_sessions};
use super::seen::Seen;

const VARIABLES: &str = "SHOW GLOBAL VARIABLES";
const WHILE_IT_RUNS: &str = "SET PERSIST, or SET GLOBAL and a line of the option file";
const OF_SESSIONS: &str = "SET PERSIST, or SET GLOBAL, which a restart does by itself";
const AT_START: &str = "a line of the option file, and a restart";

/// The log is to hold this share of a load, up to [`LOG_BYTES_MAX`]: what is beyond makes the server write pages in a hurry.
const LOG_SHARE: u64 = 4;
const LOG_BYTES_MAX: u64 = 16 << 30;

/// The buffer pool is to have this share of the memory, or the whole of the load or the largest table.
const POOL_SHARE: u64 = 4;

/// Sizes are proposed in steps of these.
const STEP_BYTES: u64 = 128 << 20;

/// The least that packets may have: a statement with many rows is one.
const PACKET_BYTES: u64 = 4 << 20;
const PACKET_BYTES_GOOD: u64 = 64 << 20;

/// What the server has had for its writes in the background since disks turned, and what a disk without moving parts takes.
const CAPACITY_OLD: u64 = 200;
const CAPACITY: u64 = 2000;

pub(super) static CHECKS: &[Check<Seen>] = &[
    Check {
        rule: Rule {
            id: "innodb_flush_log_at_trx_commit",
            severity: Severity::Risk,
            reads: VARIABLES,
            finds: "0",
            why: "commits are acknowledged before anything of them is written: a server that ends loses up to a second of them",
            source: "https://dev.mysql.com/doc/refman/8.0/en/innodb-parameters.html#sysvar_innodb_flush_log_at_trx_commit",
            change: WHILE_IT_RUNS,
            risk: "each commit waits for a sync; a load of inrush commits once",
        },
        look: |seen| match seen.variable("innodb_flush_log_at_trx_commit") {
            "0" => vec![dynamic(seen, "innodb_flush_log_at_trx_commit", "1", "1", "1")],
            _ => Vec::new(),
        },
    },
    Check {
        rule: Rule {
            id: "sync_binlog",
            severity: Severity::Risk,
            reads: VARIABLES,
            finds: "0, where a binary log is written",
            why: "after a power failure the binary log may lack transactions that the tables have: replicas and restored backups lose them",
            source: "https://dev.mysql.com/doc/refman/8.0/en/replication-options-binary-log.html#sysvar_sync_binlog",
            change: WHILE_IT_RUNS,
            risk: "each commit waits for a sync of the binary log",
        },
        look: |seen| match seen.is_on("log_bin") && seen.number("sync_binlog") == Some(0) {
            true => vec![dynamic(seen, "sync_binlog", "1", "1", "1")],
            false => Vec::new(),
        },
    },
    Check {
        rule: Rule {
            id: "innodb_doublewrite",
            severity: Severity::Risk,
            reads: VARIABLES,
            finds: "OFF, or DETECT_ONLY",
            why: "a page that a power failure leaves half written can't be repaired: the table is damaged",
            source: "https://dev.mysql.com/doc/refman/8.0/en/innodb-doublewrite-buffer.html",
            change: AT_START,
            risk: "pages are written twice; nothing is lost by it",
        },
        look: |seen| {
            let is_off = seen.is_off("innodb_doublewrite")
                || seen.variable("innodb_doublewrite") == "DETECT_ONLY";
            match is_off {
                true => vec![at_start(seen, "innodb_doublewrite", "ON", "ON")],
                false => Vec::new(),
            }
        },
    },
    Check {
        rule: Rule {
            id: "innodb_flush_method",
            severity: Severity::Risk,
            reads: VARIABLES,
            finds: "nosync, or littlesync",
            why: "files are not synced when they have to be: a power failure damages tables",
            source: "https://dev.mysql.com/doc/refman/8.0/en/innodb-parameters.html#sysvar_innodb_flush_method",
            change: AT_START,
            risk: "commits and checkpoints wait for the disk",
        },
        look: |seen| match seen.variable("innodb_flush_method") {
            "nosync" | "littlesync" => {
                vec![at_start(seen, "innodb_flush_method", "O_DIRECT", "O_DIRECT")]
            }
            _ => Vec::new(),
        },
    },
    Check {
        rule: Rule {
            id: "innodb_checksum_algorithm",
            severity: Severity::Risk,
            reads: VARIABLES,
            finds: "none",
            why: "a page that the disk has changed is read as if it were right",
            source: "https://dev.mysql.com/doc/refman/8.0/en/innodb-parameters.html#sysvar_innodb_checksum_algorithm",
            change: WHILE_IT_RUNS,
            risk: "none; the checksum is a hundredth of a load's time at most",
        },
        look: |seen| match seen.variable("innodb_checksum_algorithm") {
            "none" | "strict_none" => {
                vec![dynamic(seen, "innodb_checksum_algorithm", "crc32", "'crc32'", "crc32")]
            }
            _ => Vec::new(),
        },
    },
    Check {
        rule: Rule {
            id: "foreign_key_checks",
            severity: Severity::Risk,
            reads: VARIABLES,
            finds: "OFF for all new connections",
            why: "rows are taken that refer to none, and never checked again",
            source: "https://dev.mysql.com/doc/refman/8.0/en/server-system-variables.html#sysvar_foreign_key_checks",
            change: OF_SESSIONS,
            risk: "rows that refer to none are refused from then on; those that were taken stay",
        },
        look: |seen| match seen.is_off("foreign_key_checks") {
            true => vec![of_sessions(seen, "foreign_key_checks", "ON")],
            false => Vec::new(),
        },
    },
    Check {
        rule: Rule {
            id: "unique_checks",
            severity: Severity::Risk,
            reads: VARIABLES,
            finds: "OFF for all new connections",
            why: "rows with a duplicate key may be taken into unique secondary indexes",
            source: "https://dev.mysql.com/doc/refman/8.0/en/server-system-variables.html#sysvar_unique_checks",
            change: OF_SESSIONS,
            risk: "inserts into large unique indexes read them",
        },
        look: |seen| match seen.is_off("unique_checks") {
            true => vec![of_sessions(seen, "unique_checks", "ON")],
            false => Vec::new(),
        },
    },
    Check {
        rule: Rule {
            id: "innodb_log_file_size",
            severity: Severity::Slow,
            reads: VARIABLES,
            finds: "with SOURCE: a redo log smaller than a quarter of it, up to 16 GB (innodb_redo_log_capacity, where the server has that); not before 5.6.8, which starts with no log of another size",
            why: "when the log is full, the load waits until pages are written that it will change again",
            source: "https://dev.mysql.com/doc/refman/8.0/en/innodb-redo-log.html",
            change: "SET PERSIST, or a line of the option file; MariaDB before 10.9 and MySQL before 8.0.30 want a restart",
            risk: "the log takes the disk's room, and recovery after a crash takes longer",
        },
        look: log_size,
    },
    Check {
        rule: Rule {
            id: "innodb_buffer_pool_size",
            severity: Severity::Slow,
            reads: VARIABLES,
            finds: "less than a quarter of the machine's memory, and less than SOURCE or the largest table",
            why: "pages that do not fit are written, dropped and read again while rows go into them",
            source: "https://dev.mysql.com/doc/refman/8.0/en/innodb-buffer-pool-resize.html",
            change: WHILE_IT_RUNS,
            risk: "the memory is missing for other programs: what does not fit is swapped, or a process is ended",
        },
        look: pool_size,
    },
    Check {
        rule: Rule {
            id: "innodb_io_capacity",
            severity: Severity::Slow,
            reads: VARIABLES,
            finds: "200 or less, where SOURCE or the largest table is larger than the buffer pool",
            why: "the server writes no more pages a second in the background than a disk that turns can, until the log is full and the load waits",
            source: "https://dev.mysql.com/doc/refman/8.0/en/innodb-configuring-io-capacity.html",
            change: WHILE_IT_RUNS,
            risk: "more writes in the background, which queries wait behind on a slow disk",
        },
        look: |seen| {
            let capacity = seen.number("innodb_io_capacity").unwrap_or(u64::MAX);
            let pool = seen.number("innodb_buffer_pool_size").unwrap_or(u64::MAX);
            if capacity > CAPACITY_OLD || seen.weight() <= pool {
                return Vec::new();
            }
            let value = CAPACITY.to_string();
            let mut found = Found::new(SERVER, capacity.to_string(), &value)
                .tried_with("innodb_io_capacity", &value)
                .tried_with("innodb_io_capacity_max", &value)
                .for_all_of_it();
            // Above the other one it would be cut down to it.
            let is_bound = seen.number("innodb_io_capacity_max").is_some_and(|max| max < CAPACITY);
            let names: &[&str] = match is_bound {
                true => &["innodb_io_capacity_max", "innodb_io_capacity"],
                false => &["innodb_io_capacity"],
            };
            for name in names {
                found = match seen.persists() {
                    true => found.statement(format!("SET PERSIST {name} = {value}")),
                    false => found
                        .statement(format!("SET GLOBAL {name} = {value}"))
                        .line(format!("{name} = {value}")),
                };
            }
            vec![found]
        },
    },
    Check {
        rule: Rule {
            id: "innodb_flush_method",
            severity: Severity::Slow,
            reads: VARIABLES,
            finds: "fsync, where SOURCE or the largest table is larger than the buffer pool",
            why: "pages are kept twice, by the server and by the system, and pushed out of one by the other",
            source: "https://dev.mysql.com/doc/refman/8.0/en/innodb-parameters.html#sysvar_innodb_flush_method",
            change: AT_START,
            risk: "on some network storage O_DIRECT is slower",
        },
        look: |seen| {
            let pool = seen.number("innodb_buffer_pool_size").unwrap_or(u64::MAX);
            match seen.variable("innodb_flush_method") {
                // Empty is fsync as well: https://dev.mysql.com/doc/refman/5.7/en/innodb-parameters.html#sysvar_innodb_flush_method
                // On Windows there is no O_DIRECT.
                "fsync" | "fdatasync" | ""
                    if seen.knows("innodb_flush_method")
                        && !seen.variable("version_compile_os").starts_with("Win")
                        && seen.weight() > pool =>
                {
                    vec![at_start(seen, "innodb_flush_method", "O_DIRECT", "O_DIRECT")]
                }
                _ => Vec::new(),
            }
        },
    },
    Check {
        rule: Rule {
            id: "local_infile",
            severity: Severity::Slow,
            reads: VARIABLES,
            finds: "OFF",
            why: "LOAD DATA LOCAL is refused, the fastest way for rows that are not on the server's disk; inrush then sends INSERTs",
            source: "https://dev.mysql.com/doc/refman/8.0/en/load-data-local-security.html",
            change: WHILE_IT_RUNS,
            risk: "a server that is not trusted could ask a client for its files; inrush sends nothing but the rows",
        },
        look: |seen| match seen.is_off("local_infile") {
            true => vec![dynamic(seen, "local_infile", "ON", "ON", "ON")],
            false => Vec::new(),
        },
    },
    Check {
        rule: Rule {
            id: "max_allowed_packet",
            severity: Severity::Slow,
            reads: VARIABLES,
            finds: "below 4 MiB",
            why: "statements and values end there: rows come in more statements, and long values are refused",
            source: "https://dev.mysql.com/doc/refman/8.0/en/packet-too-large.html",
            change: WHILE_IT_RUNS,
            risk: "a connection may take so much memory",
        },
        look: |seen| match seen.number("max_allowed_packet") {
            Some(size) if size < PACKET_BYTES => {
                let value = PACKET_BYTES_GOOD.to_string();
                vec![dynamic(seen, "max_allowed_packet", &value, &value, &value)]
            }
            _ => Vec::new(),
        },
    },
    Check {
        rule: Rule {
            id: "general_log",
            severity: Severity::Slow,
            reads: VARIABLES,
            finds: "ON",
            why: "every statement is written to a file or a table, in full",
            source: "https://dev.mysql.com/doc/refman/8.0/en/query-log.html",
            change: WHILE_IT_RUNS,
            risk: "what was done is no longer on record",
        },
        look: |seen| match seen.is_on("general_log") {
            true => vec![dynamic(seen, "general_log", "OFF", "OFF", "OFF")],
            false => Vec::new(),
        },
    },
    Check {
        rule: Rule {
            id: "innodb_flush_log_at_trx_commit",
            severity: Severity::Note,
            reads: VARIABLES,
            finds: "2",
            why: "a power failure, or a crash of the system, loses up to a second of commits; loads that commit often gain by it",
            source: "https://dev.mysql.com/doc/refman/8.0/en/innodb-parameters.html#sysvar_innodb_flush_log_at_trx_commit",
            change: WHILE_IT_RUNS,
            risk: "each commit waits for a sync; a load of inrush commits once",
        },
        look: |seen| match seen.variable("innodb_flush_log_at_trx_commit") {
            "2" => vec![dynamic(seen, "innodb_flush_log_at_trx_commit", "1", "1", "1")],
            _ => Vec::new(),
        },
    },
    Check {
        rule: Rule {
            id: "sync_binlog",
            severity: Severity::Note,
            reads: VARIABLES,
            finds: "more than 1, where a binary log is written",
            why: "a power failure may take that many groups of commits from the binary log that the tables have",
            source: "https://dev.mysql.com/doc/refman/8.0/en/replication-options-binary-log.html#sysvar_sync_binlog",
            change: WHILE_IT_RUNS,
            risk: "each commit waits for a sync of the binary log",
        },
        look: |seen| match seen.is_on("log_bin")
            && seen.number("sync_binlog").is_some_and(|n| n > 1)
        {
            true => vec![dynamic(seen, "sync_binlog", "1", "1", "1")],
            false => Vec::new(),
        },
    },
    Check {
        rule: Rule {
            id: "sql_mode",
            severity: Severity::Note,
            reads: VARIABLES,
            finds: "neither STRICT_TRANS_TABLES nor STRICT_ALL_TABLES",
            why: "values that do not fit are changed without a word: cut off, made 0, or made a date of zeros; inrush sets its own connections to strict",
            source: "https://dev.mysql.com/doc/refman/8.0/en/sql-mode.html#sql-mode-strict",
            change: WHILE_IT_RUNS,
            risk: "programs that relied on it get errors",
        },
        look: |seen| {
            let mode = seen.variable("sql_mode");
            if seen.variable("version").is_empty() || mode.contains("STRICT_") {
                return Vec::new();
            }
            let mut modes: Vec<&str> = mode.split(',').filter(|mode| !mode.is_empty()).collect();
            modes.push("STRICT_TRANS_TABLES");
            let value = modes.join(",");
            let found = dynamic(
                seen,
                "sql_mode",
                "with STRICT_TRANS_TABLES",
                &format!("'{value}'"),
                &value,
            );
            vec![found]
        },
    },
    Check {
        rule: Rule {
            id: "binlog_format",
            severity: Severity::Note,
            reads: VARIABLES,
            finds: "STATEMENT, where a binary log is written",
            why: "a statement that depends on more than its text gives other rows on a replica",
            source: "https://dev.mysql.com/doc/refman/8.0/en/binary-log-setting.html",
            change: WHILE_IT_RUNS,
            risk: "the binary log takes more room; connections that are open keep the old format",
        },
        look: |seen| match seen.is_on("log_bin") && seen.variable("binlog_format") == "STATEMENT" {
            true => vec![dynamic(seen, "binlog_format", "ROW", "'ROW'", "ROW")],
            false => Vec::new(),
        },
    },
    Check {
        rule: Rule {
            id: "time-zone-tables",
            severity: Severity::Note,
            reads: "CONVERT_TZ()",
            finds: "empty, where a table has a TIMESTAMP column",
            why: "the server knows no time zone by its name: a connection that sets one fails, and CONVERT_TZ() answers NULL",
            source: "https://dev.mysql.com/doc/refman/8.0/en/time-zone-support.html",
            change: "mysql_tzinfo_to_sql /usr/share/zoneinfo | mysql mysql, in a shell",
            risk: "none",
        },
        look: |seen| match seen.has_timestamps && !seen.knows_zones {
            true => vec![Found::new(
                SERVER,
                "empty",
                "filled by mysql_tzinfo_to_sql (MariaDB: mariadb-tzinfo-to-sql)",
            )],
            false => Vec::new(),
        },
    },
];

/// A size that is a multiple of the step.
fn stepped(size: u64) -> u64 {
    size.div_ceil(STEP_BYTES) * STEP_BYTES
}

/// With log files of another size than its setting has an older server does not start
/// (<https://dev.mysql.com/doc/relnotes/mysql/5.6/en/news-5-6-8.html>).
const RESIZES_LOG: (u32, u32, u32) = (5, 6, 8);

fn log_size(seen: &Seen) -> Vec<Found> {
    let Some(load) = seen.around.load_bytes.filter(|_| seen.version >= RESIZES_LOG) else {
        return Vec::new();
    };
    let capacity = seen.number("innodb_redo_log_capacity");
    let files = seen.number("innodb_log_files_in_group").unwrap_or(1);
    let of_files = seen.number("innodb_log_file_size").map(|size| size * files);
    let wanted = (load / LOG_SHARE).min(LOG_BYTES_MAX);
    let Some(size) = capacity.or(of_files).filter(|&size| size < wanted) else { return Vec::new() };
    let should = stepped(wanted);
    let shown = format!("{}: a quarter of the load", bytes(should));
    let (is_live, name, value) = match capacity {
        Some(_) => (true, "innodb_redo_log_capacity", should),
        // https://mariadb.com/kb/en/innodb-redo-log/: without a restart since 10.9.
        None => (
            seen.is_mariadb && seen.version >= (10, 9, 0),
            "innodb_log_file_size",
            should.div_ceil(files.max(1)),
        ),
    };
    let value = value.to_string();
    let found = Found::new(SERVER, bytes(size), shown).tried_with(name, &value).for_all_of_it();
    vec![match (is_live, seen.persists()) {
        (true, true) => found.statement(format!("SET PERSIST {name} = {value}")),
        (true, false) => found
            .statement(format!("SET GLOBAL {name} = {value}"))
            .line(format!("{name} = {value}")),
        (false, _) => found.line(format!("{name} = {value}")).after_restart(),
    }]
}

fn pool_size(seen: &Seen) -> Vec<Found> {
    let (Some(memory), Some(pool)) = (seen.memory_bytes(), seen.number("innodb_buffer_pool_size"))
    else {
        return Vec::new();
    };
    if pool >= memory / POOL_SHARE || pool >= seen.weight() {
        return Vec::new();
    }
    let should = stepped(seen.weight().min(memory / POOL_SHARE));
    let name = "innodb_buffer_pool_size";
    let shown = format!("{}, of {} of memory", bytes(should), bytes(memory));
    let found =
        Found::new(SERVER, bytes(pool), shown).tried_with(name, should.to_string()).for_all_of_it();
    // https://mariadb.com/kb/en/innodb-system-variables/#innodb_buffer_pool_size_max
    let is_bound = seen.number("innodb_buffer_pool_size_max").is_some_and(|max| max < should);
    let is_live = match seen.is_mariadb {
        true => seen.version >= (10, 2, 2) && !is_bound,
        false => seen.version >= (5, 7, 5),
    };
    vec![match (is_live, seen.persists()) {
        (true, true) => found.statement(format!("SET PERSIST {name} = {should}")),
        (true, false) => found
            .statement(format!("SET GLOBAL {name} = {should}"))
            .line(format!("{name} = {should}")),
        (false, _) => found.line(format!("{name} = {should}")).after_restart(),
    }]
}
