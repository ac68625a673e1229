//! The rules, worst first.

use inrush_core::doctor::indexes::{ForeignKey, Index, covered, unserved};
use inrush_core::doctor::{Check, Found, Rule, Severity};
use inrush_core::wording::{bytes, counted};

use super::seen::Seen;
use crate::ddl::{create_index, quote};

/// The least page that SQLite itself has made new databases with since 3.12.
const PAGE_BYTES: u64 = 4096;

/// Free pages: from this share of the file on, and so many bytes.
const FREE_SHARE: f64 = 0.10;
const FREE_BYTES: u64 = 1_000_000;

/// A write-ahead log is checkpointed at 1,000 pages, about 4 MB; this is what long readers or writers leave.
const WAL_BYTES: u64 = 64 << 20;

/// Rows of a table from which an index of few values is worth a word, and the share of them that has one value.
const DULL_ROWS: u64 = 10_000;
const DULL_SHARE: u64 = 10;

/// File systems over a network, where SQLite's locks can't be relied on.
const REMOTE: [&str; 8] =
    ["nfs", "nfs4", "cifs", "smb3", "smbfs", "fuse.sshfs", "afs", "fuse.s3fs"];

pub(super) static CHECKS: &[Check<Seen>] = &[
    Check {
        rule: Rule {
            id: "file-system",
            severity: Severity::Risk,
            reads: "/proc/self/mountinfo",
            finds: "the file lies on NFS, SMB, AFS, sshfs or s3fs",
            why: "locks of network file systems are often broken or missing, and two writers then damage the database; WAL needs memory that \
                  all its users share, which hosts don't",
            source: "https://sqlite.org/useovernet.html",
            change: "the file moves to a disk of this machine",
            risk: "programs that open the file have to be stopped for the move",
        },
        look: |seen| {
            let remote = seen.file_system.iter().filter(|kind| REMOTE.contains(&kind.as_str()));
            remote.map(|kind| Found::new(&seen.shown, kind, "a disk of this machine")).collect()
        },
    },
    Check {
        rule: Rule {
            id: "page_size",
            severity: Severity::Slow,
            reads: "PRAGMA page_size",
            finds: "below 4096 bytes",
            why: "each page is a write, a checksum and a place in a tree that is deeper than it need be; disks write 4096 bytes at least",
            source: "https://sqlite.org/pragma.html#pragma_page_size",
            change: "PRAGMA page_size, then VACUUM; a database in WAL mode leaves that mode for it",
            risk: "VACUUM writes the whole file anew: it takes as much free space again, and shuts out writers meanwhile",
        },
        look: |seen| {
            if seen.page_bytes >= PAGE_BYTES || seen.page_bytes == 0 {
                return Vec::new();
            }
            let mut found = Found::new(
                &seen.shown,
                format!("{} bytes", seen.page_bytes),
                format!("{PAGE_BYTES} bytes"),
            );
            if seen.is_wal {
                found = found.statement("PRAGMA journal_mode = DELETE");
            }
            found = found.statement(format!("PRAGMA page_size = {PAGE_BYTES}")).statement("VACUUM");
            if seen.is_wal {
                found = found.statement("PRAGMA journal_mode = WAL");
            }
            vec![found.tried_on(None)]
        },
    },
    Check {
        rule: Rule {
            id: "auto_vacuum",
            severity: Severity::Slow,
            reads: "PRAGMA auto_vacuum",
            finds: "FULL",
            why: "every commit moves pages about to cut off the end of the file, which costs writes and scatters tables",
            source: "https://sqlite.org/pragma.html#pragma_auto_vacuum",
            change: "PRAGMA auto_vacuum = INCREMENTAL, at any time; NONE takes a VACUUM",
            risk: "the file does not shrink any more by itself; PRAGMA incremental_vacuum does it on request",
        },
        look: |seen| match seen.auto_vacuum {
            1 => vec![
                Found::new(&seen.shown, "FULL", "INCREMENTAL or NONE")
                    .statement("PRAGMA auto_vacuum = INCREMENTAL")
                    .tried_on(None),
            ],
            _ => Vec::new(),
        },
    },
    Check {
        rule: Rule {
            id: "wal-left-behind",
            severity: Severity::Slow,
            reads: "the file's size",
            finds: "a -wal file over 64 MB",
            why: "every reader looks through the log first, and it grows as long as a reader keeps it from being checkpointed to its end",
            source: "https://sqlite.org/wal.html#avoiding_excessively_large_wal_files",
            change: "PRAGMA wal_checkpoint(TRUNCATE)",
            risk: "it waits for readers and shuts out writers while pages are copied into the database",
        },
        look: |seen| match seen.is_wal && seen.beside.wal_bytes > WAL_BYTES {
            true => vec![
                Found::new(
                    format!("{}-wal", seen.shown),
                    bytes(seen.beside.wal_bytes),
                    format!("at most {}", bytes(WAL_BYTES)),
                )
                .statement("PRAGMA wal_checkpoint(TRUNCATE)"),
            ],
            false => Vec::new(),
        },
    },
    Check {
        rule: Rule {
            id: "redundant-index",
            severity: Severity::Slow,
            reads: "pragma_index_list, pragma_index_xinfo",
            finds: "an index whose columns are, or begin, those of another one or of the key",
            why: "every row is written into both indexes, and the other one answers all that this one can",
            source: "https://sqlite.org/queryplanner.html#_multi_column_indices",
            change: "DROP INDEX",
            risk: "a query that names it with INDEXED BY fails",
        },
        look: |seen| covered(&seen.indexes).into_iter().map(redundant).collect(),
    },
    Check {
        rule: Rule {
            id: "foreign-key-without-index",
            severity: Severity::Slow,
            reads: "pragma_foreign_key_list, pragma_index_xinfo",
            finds: "a foreign key with whose columns no index begins",
            why: "a change or deletion in the table that it refers to reads all of this one, where foreign keys are checked",
            source: "https://sqlite.org/foreignkeys.html#fk_indexes",
            change: "CREATE INDEX on the columns",
            risk: "the index takes space, and every insert writes to it",
        },
        look: |seen| {
            unserved(&seen.foreign_keys, &seen.indexes, plain)
                .into_iter()
                .map(|key| unserved_key(seen, key))
                .collect()
        },
    },
    Check {
        rule: Rule {
            id: "random-key",
            severity: Severity::Slow,
            reads: "the first 100 keys",
            finds: "a primary key of one column of which nine tenths are UUIDs of a version other than 6 and 7",
            why: "each row goes to another page of the key's tree, which no longer fits the cache when the table grows",
            source: "https://sqlite.org/withoutrowid.html",
            change: "the program that makes the keys: INTEGER PRIMARY KEY, or UUIDs of version 7, which ascend",
            risk: "keys of existing rows stay as they are",
        },
        look: |seen| {
            let found = |(table, column): &(String, String)| {
                Found::new(
                    format!("table {table}"),
                    format!("{column} holds random UUIDs"),
                    "keys that ascend",
                )
            };
            seen.random.iter().map(found).collect()
        },
    },
    Check {
        rule: Rule {
            id: "journal-left-behind",
            severity: Severity::Note,
            reads: "the file's first bytes",
            finds: "a -journal file that is to be played back",
            why: "a writer is at work, or was interrupted: the next connection that may write undoes its transaction with this file, and \
                  without it the database is damaged",
            source: "https://sqlite.org/lockingv3.html#hot_journals",
            change: "any query of a connection that may write",
            risk: "none; what was not committed is undone",
        },
        look: |seen| match seen.beside.journal_bytes {
            0 => Vec::new(),
            size => vec![
                Found::new(format!("{}-journal", seen.shown), bytes(size), "none")
                    .statement("SELECT count(*) FROM sqlite_schema"),
            ],
        },
    },
    Check {
        rule: Rule {
            id: "freelist",
            severity: Severity::Note,
            reads: "PRAGMA freelist_count, PRAGMA page_count",
            finds: "more than 10 % of the pages, and more than 1 MB",
            why: "the file is larger than its rows, and new rows go to pages all over it",
            source: "https://sqlite.org/lang_vacuum.html",
            change: "VACUUM",
            risk: "VACUUM writes the whole file anew: it takes as much free space again, and shuts out writers meanwhile",
        },
        look: |seen| {
            let free_bytes = seen.free_pages * seen.page_bytes;
            let share = seen.free_pages as f64 / seen.pages.max(1) as f64;
            if share <= FREE_SHARE || free_bytes <= FREE_BYTES {
                return Vec::new();
            }
            let is =
                format!("{} of {} is free", bytes(free_bytes), bytes(seen.pages * seen.page_bytes));
            vec![Found::new(&seen.shown, is, "at most a tenth").statement("VACUUM")]
        },
    },
    Check {
        rule: Rule {
            id: "index-of-little-use",
            severity: Severity::Note,
            reads: "sqlite_stat1, where ANALYZE has filled it",
            finds: "an index over at least 10,000 rows of which one value has more than a tenth on average",
            why: "every row is written into it, and a query that finds a tenth of the table by it had better read the table",
            source: "https://sqlite.org/fileformat2.html#the_sqlite_stat1_table",
            change: "DROP INDEX, if no query looks for one of the rare values",
            risk: "queries for rare values read the whole table",
        },
        look: |seen| {
            let is_dull = |(table, name, all, alike): &&(String, String, u64, u64)| {
                let index = seen.indexes.iter().find(|i| i.table == *table && i.name == *name);
                let is_optional =
                    index.is_some_and(|i| !i.is_kept && !i.is_unique && i.kind.is_empty());
                let is_covered = covered(&seen.indexes).iter().any(|(i, _)| i.name == *name);
                let others: Vec<Index> =
                    seen.indexes.iter().filter(|i| i.name != *name).cloned().collect();
                let serves_key = unserved(&seen.foreign_keys, &others, plain).len()
                    > unserved(&seen.foreign_keys, &seen.indexes, plain).len();
                is_optional
                    && !is_covered
                    && !serves_key
                    && *all >= DULL_ROWS
                    && *alike > all / DULL_SHARE
            };
            let found = |(table, name, all, alike): &(String, String, u64, u64)| {
                let is = format!("one value has {alike} of {}", counted(*all, "row"));
                Found::new(
                    format!("index {name} of table {table}"),
                    is,
                    "none, or one over more columns",
                )
                .statement(format!("DROP INDEX {}", quote(name)))
            };
            seen.dull.iter().filter(is_dull).map(found).collect()
        },
    },
];

fn redundant((index, other): (&Index, &Index)) -> Found {
    let object = format!("index {} of table {}", index.name, index.table);
    let is = match other.name.as_str() {
        "rowid" => "is on the INTEGER PRIMARY KEY, which is the table itself".to_owned(),
        name if name.starts_with("sqlite_autoindex_") => "covered by the key".to_owned(),
        name => format!("covered by {name}"),
    };
    Found::new(object, is, "no index")
        .statement(format!("DROP INDEX {}", quote(&index.name)))
        .tried_on(Some(&index.table))
}

fn unserved_key(seen: &Seen, key: &ForeignKey) -> Found {
    let columns = key.columns.join(", ");
    let taken = |name: &str| seen.names.iter().any(|known| known.eq_ignore_ascii_case(name));
    Found::new(
        format!("table {}", key.table),
        format!("({columns}) refers to {} without an index", key.parent),
        format!("an index that begins with {columns}"),
    )
    .statement(create_index(&key.table, &key.columns, taken))
}

/// The name in an index's column.
fn plain(column: &str) -> String {
    column.split('\0').next().unwrap_or_default().to_owned()
}
