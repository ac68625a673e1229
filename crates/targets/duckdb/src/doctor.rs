//! What a database file holds back. The engine's settings are each program's own, and not in the file.

use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::sync::atomic::AtomicBool;

use inrush_core::doctor::indexes::{Index, covered};
use inrush_core::doctor::{
    Check, Copy, Doctor, Examined, Found, Rule, Severity, Surroundings, apply,
};
use inrush_core::error::{Error, Result};
use inrush_core::pending::{directory, plain_file};
use inrush_core::target::{Location, TableName};
use inrush_core::wording::{bytes, shell_word};

use crate::connection::{Connection, Database, Interrupter, Refusal, explain};
use crate::ddl::{self, quote};
use crate::facts::{self, Home, engine, enter, here, path_text};
use crate::library::library;

/// A log is written into the database at 16 MB, by default, and when the last program closes it.
const WAL_BYTES: u64 = 64 << 20;

/// Free blocks: from this share of the file on, and so many bytes.
const FREE_SHARE: f64 = 0.10;
const FREE_BYTES: u64 = 10_000_000;

/// What is read of a file.
#[derive(Default)]
struct Seen {
    shown: String,
    wal_bytes: u64,
    block_bytes: u64,
    blocks: u64,
    free_blocks: u64,
    /// Indexes, and keys as what they are; a table is `schema.name`.
    indexes: Vec<Index>,
}

static CHECKS: &[Check<Seen>] = &[
    Check {
        rule: Rule {
            id: "wal-left-behind",
            severity: Severity::Slow,
            reads: "the file's size",
            finds: "a .wal file over 64 MB",
            why: "every program that opens the database plays all of it back first",
            source: "https://duckdb.org/docs/stable/sql/statements/checkpoint",
            change: "CHECKPOINT",
            risk: "it waits for transactions that are under way",
        },
        look: |seen| match seen.wal_bytes > WAL_BYTES {
            true => vec![
                Found::new(
                    format!("{}.wal", seen.shown),
                    bytes(seen.wal_bytes),
                    format!("at most {}", bytes(WAL_BYTES)),
                )
                .statement("CHECKPOINT"),
            ],
            false => Vec::new(),
        },
    },
    Check {
        rule: Rule {
            id: "redundant-index",
            severity: Severity::Slow,
            reads: "duckdb_indexes(), duckdb_constraints()",
            finds: "an index whose columns are those of another one, or of a key",
            why: "each row is written into both, row by row, where a table without them takes whole columns",
            source: "https://duckdb.org/docs/stable/guides/performance/indexing",
            change: "DROP INDEX",
            risk: "none for queries: the other index answers them",
        },
        look: |seen| {
            // Lookups go by all columns of an index: one that begins another is no help to its queries.
            let is_equal = |pair: &(&Index, &Index)| pair.0.columns == pair.1.columns;
            let found = |(index, other): (&Index, &Index)| {
                let (schema, _) = index.table.split_once('.').unwrap_or_default();
                Found::new(
                    format!("index {} of table {}", index.name, index.table),
                    format!("covered by {}", other.name),
                    "no index",
                )
                .statement(format!(
                    "DROP INDEX {}.{}",
                    quote(schema),
                    quote(&index.name)
                ))
            };
            covered(&seen.indexes).into_iter().filter(is_equal).map(found).collect()
        },
    },
    Check {
        rule: Rule {
            id: "free-blocks",
            severity: Severity::Note,
            reads: "pragma_database_size()",
            finds: "more than 10 % of the blocks, and more than 10 MB",
            why: "the file is larger than its rows; CHECKPOINT gives back only what is free at its end",
            source: "https://duckdb.org/docs/stable/operations_manual/footprint_of_duckdb/reclaiming_space",
            change: "ATTACH a new file, and COPY FROM DATABASE into it",
            risk: "the copy takes as much room again",
        },
        look: |seen| {
            let free_bytes = seen.free_blocks * seen.block_bytes;
            let share = seen.free_blocks as f64 / seen.blocks.max(1) as f64;
            if share <= FREE_SHARE || free_bytes <= FREE_BYTES {
                return Vec::new();
            }
            let all = bytes(seen.blocks * seen.block_bytes);
            let is = format!("{} of {all} is free", bytes(free_bytes));
            vec![Found::new(&seen.shown, is, "at most a tenth")]
        },
    },
];

pub(super) struct DuckDoctor;

impl Doctor for DuckDoctor {
    fn rules(&self) -> Vec<&'static Rule> {
        CHECKS.iter().map(|check| &check.rule).collect()
    }

    fn examine(
        &self,
        location: &Location,
        _around: &Surroundings,
        stop: &AtomicBool,
    ) -> Result<Examined> {
        let shown = location.shown.as_str();
        let (connection, real) = open(location)?;
        let _interrupter = Interrupter::new(&connection, stop);
        let mut seen = Seen { shown: shown.to_owned(), ..Seen::default() };
        seen.read(&connection, &real).map_err(|refusal| explain(shown, &refusal))?;
        Ok(Examined {
            version: engine(&connection),
            findings: apply(CHECKS, &seen),
            not_known: vec![
                "memory_limit, threads: each program sets its own, and the file does not keep them"
                    .to_owned(),
            ],
            folders: vec![directory(&real).to_owned()],
            settings: Vec::new(),
        })
    }

    fn copy(&self, location: &Location, table: Option<&str>, stop: &AtomicBool) -> Result<Copy> {
        let (connection, _) = open(location)?;
        let _interrupter = Interrupter::new(&connection, stop);
        let read = |sql: &str| {
            let rows = connection.rows(sql);
            rows.map_err(|refusal| explain(&location.shown, &refusal))
                .map(|rows| rows.into_iter().flatten().flatten().collect::<Vec<String>>())
        };
        let mut statements = read(
            "SELECT 'CREATE SCHEMA \"' || replace(schema_name, '\"', '\"\"') || '\"' FROM duckdb_schemas() \
             WHERE database_name = current_database() AND NOT internal AND schema_name <> 'main'",
        )?;
        let Some(table) = table else { return Ok(Copy { statements, ..Copy::default() }) };
        let known = |table: &str| {
            let found = facts::read(&connection, Some(table));
            found.map_err(|refusal| explain(&location.shown, &refusal)).map(|facts| facts.table)
        };
        // Whoever asks has the name from the user, or from the catalogue: a dot may be part of it.
        let mut found = known(table)?;
        if found.is_none() {
            let name = TableName::parse(table, ddl::QUOTES)?;
            enter(&connection, &name, &location.shown)?;
            found = known(&name.table)?;
        }
        let ours = here(found.as_ref().map_or(table, |found| &found.name));
        let parents = format!(
            "SELECT constraint_text FROM duckdb_constraints() WHERE constraint_type = 'FOREIGN KEY' AND {ours}"
        );
        if let Some(key) = read(&parents)?.first() {
            return Err(Error::target(format!(
                "{table} refers to rows of another table, which are not copied: {key}"
            )));
        }
        // A default may take its numbers from a sequence, of any schema. Their statements name no schema, unlike those of tables.
        let counted = read(
            "SELECT 'USE \"' || replace(schema_name, '\"', '\"\"') || '\"', sql FROM duckdb_sequences() \
             WHERE database_name = current_database() ORDER BY sequence_oid",
        )?;
        if !counted.is_empty() {
            statements.extend(counted);
            statements.push("USE main".to_owned());
        }
        for list in ["duckdb_tables", "duckdb_indexes"] {
            statements.extend(read(&format!("SELECT sql FROM {list}() WHERE {ours}"))?);
        }
        let table = Some(table.to_owned());
        Ok(Copy { statements, table, ..Copy::default() })
    }
}

/// A connection that can't write, and where the file is.
fn open(location: &Location) -> Result<(Connection, PathBuf)> {
    let shown = location.shown.as_str();
    let Home::File { named, real } = Home::of(location) else {
        return Err(
            Error::usage("a database in memory has no file to look at").advise("name a file")
        );
    };
    if plain_file(&named, "database")?.is_none() {
        return Err(Error::target(format!("there is no database {shown}"))
            .advise("check the name: doctor looks at a database that exists"));
    }
    let words = |refusal: Refusal| explain(shown, &refusal);
    let options = [("access_mode", "READ_ONLY")];
    let database = Database::open(library(None)?, path_text(&real)?, &options);
    let database = database.map_err(|refusal| match refusal.is_of_log() {
        true => words(refusal).advise(format!(
            "open it once with a program that may write, as doctor may not: duckdb {} -c CHECKPOINT",
            shell_word(shown)
        )),
        false => words(refusal),
    })?;
    let connection = Arc::new(database).connect().map_err(words)?;
    Ok((connection, real))
}

impl Seen {
    fn read(&mut self, connection: &Connection, path: &Path) -> std::result::Result<(), Refusal> {
        let mut log = path.as_os_str().to_owned();
        log.push(".wal");
        self.wal_bytes = std::fs::metadata(log).map_or(0, |found| found.len());
        let sizes = connection.rows(
            "SELECT block_size, total_blocks, free_blocks FROM pragma_database_size() WHERE database_name = current_database()",
        )?;
        let sizes: Vec<u64> = sizes
            .into_iter()
            .flatten()
            .map(|number| number.and_then(|number| number.parse().ok()).unwrap_or(0))
            .collect();
        if let [block_bytes, blocks, free_blocks] = sizes[..] {
            (self.block_bytes, self.blocks, self.free_blocks) = (block_bytes, blocks, free_blocks);
        }
        // A key comes before the indexes, and has no name of its own everywhere.
        let rows = connection.rows(
            "SELECT schema_name || '.' || table_name, 'the key', 'true', 'true', array_to_string(constraint_column_names, chr(31)) \
             FROM duckdb_constraints() WHERE database_name = current_database() AND constraint_type IN ('PRIMARY KEY', 'UNIQUE') \
             UNION ALL SELECT schema_name || '.' || table_name, index_name, 'false', CAST(is_unique AS VARCHAR), \
                 regexp_replace(CAST(expressions AS VARCHAR), '^\\[|\\]$|''|\"', '', 'g') \
             FROM duckdb_indexes() WHERE database_name = current_database()",
        )?;
        for row in rows {
            let Ok([Some(table), Some(name), Some(is_kept), Some(is_unique), Some(columns)]) =
                <[Option<String>; 5]>::try_from(row)
            else {
                continue;
            };
            let (is_kept, is_unique) = (is_kept == "true", is_unique == "true");
            let split = if is_kept { "\u{1f}" } else { ", " };
            let columns = columns.split(split).map(compared).collect();
            self.indexes.push(Index {
                table,
                name,
                columns,
                kind: String::new(),
                is_unique,
                is_kept,
            });
        }
        Ok(())
    }
}

/// A part of an index as it is compared with others: names of columns are as whoever made the index has spelled them, and in an expression
/// there may be texts.
fn compared(part: &str) -> String {
    match part.chars().all(|char| char.is_alphanumeric() || char == '_') {
        true => part.to_ascii_lowercase(),
        false => part.to_owned(),
    }
}
