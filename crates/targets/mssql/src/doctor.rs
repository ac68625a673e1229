//! What a database's settings and tables put at risk or hold back.

use std::sync::Arc;
use std::sync::atomic::AtomicBool;

use inrush_core::doctor::indexes::{ForeignKey, Index, covered, unserved};
use inrush_core::doctor::{
    Asked, Check, Doctor, Examined, Found, Rule, Severity, Surroundings, apply,
};
use inrush_core::error::Result;
use inrush_core::target::Location;

use crate::connect;
use crate::console::MssqlConsole;
use crate::ddl::quote;

const DATABASES: &str = "sys.databases";

/// What is read of a database.
#[derive(Default)]
struct Seen {
    database: String,
    page_verify: String,
    recovery: String,
    delayed: String,
    is_shrunk: bool,
    is_closed: bool,
    /// Bytes of the load that is to come.
    load_bytes: Option<u64>,
    indexes: Vec<Index>,
    foreign_keys: Vec<ForeignKey>,
    /// Foreign keys and checks that not all rows are known to keep: table, name.
    untrusted: Vec<(String, String)>,
}

impl Seen {
    /// A finding of the database, with the statement that sets what should be.
    fn found(&self, is: &str, should: &str, set: &str) -> Vec<Found> {
        vec![
            Found::new(format!("database {}", self.database), is, should)
                .statement(format!("ALTER DATABASE {} SET {set}", quote(&self.database))),
        ]
    }
}

/// A load from which it counts that all of it goes to the log.
const LARGE_BYTES: u64 = 1 << 30;

static CHECKS: &[Check<Seen>] = &[
    Check {
        rule: Rule {
            id: "page_verify",
            severity: Severity::Risk,
            reads: DATABASES,
            finds: "NONE",
            why: "a page that the disk has changed, or a power failure left half written, is read as if it were right",
            source: "https://learn.microsoft.com/en-us/sql/t-sql/statements/alter-database-transact-sql-set-options#page_verify",
            change: "ALTER DATABASE ... SET PAGE_VERIFY CHECKSUM",
            risk: "pages get their checksum when they are next written; some processor time",
        },
        look: |seen| match seen.page_verify.as_str() {
            "NONE" => seen.found("NONE", "CHECKSUM", "PAGE_VERIFY CHECKSUM"),
            _ => Vec::new(),
        },
    },
    Check {
        rule: Rule {
            id: "auto_shrink",
            severity: Severity::Slow,
            reads: DATABASES,
            finds: "ON",
            why: "free space is given back between loads, pages are moved for it, and the next load has the files grow again",
            source: "https://learn.microsoft.com/en-us/sql/t-sql/statements/alter-database-transact-sql-set-options#auto_shrink",
            change: "ALTER DATABASE ... SET AUTO_SHRINK OFF",
            risk: "files keep their size until DBCC SHRINKFILE",
        },
        look: |seen| match seen.is_shrunk {
            true => seen.found("ON", "OFF", "AUTO_SHRINK OFF"),
            false => Vec::new(),
        },
    },
    Check {
        rule: Rule {
            id: "auto_close",
            severity: Severity::Slow,
            reads: DATABASES,
            finds: "ON",
            why: "the database is shut down with its last connection, and its cache is lost",
            source: "https://learn.microsoft.com/en-us/sql/t-sql/statements/alter-database-transact-sql-set-options#auto_close",
            change: "ALTER DATABASE ... SET AUTO_CLOSE OFF",
            risk: "the memory stays taken",
        },
        look: |seen| match seen.is_closed {
            true => seen.found("ON", "OFF", "AUTO_CLOSE OFF"),
            false => Vec::new(),
        },
    },
    Check {
        rule: Rule {
            id: "recovery_model",
            severity: Severity::Slow,
            reads: DATABASES,
            finds: "with SOURCE over 1 GB: FULL",
            why: "each row of a bulk load goes to the log; with BULK_LOGGED only the pages that it filled are noted, where the table is locked",
            source: "https://learn.microsoft.com/en-us/sql/relational-databases/import-export/prerequisites-for-minimal-logging-in-bulk-import",
            change: "ALTER DATABASE ... SET RECOVERY BULK_LOGGED, and FULL again behind the load",
            risk: "the database can't be restored to a moment within the load; back the log up before and after",
        },
        look: |seen| {
            let is_large = seen.load_bytes.is_some_and(|load| load > LARGE_BYTES);
            match is_large && seen.recovery == "FULL" {
                true => seen.found("FULL", "BULK_LOGGED for the load", "RECOVERY BULK_LOGGED"),
                false => Vec::new(),
            }
        },
    },
    Check {
        rule: Rule {
            id: "redundant-index",
            severity: Severity::Slow,
            reads: "sys.indexes, sys.index_columns",
            finds: "an index whose columns are, or begin, those of another one",
            why: "every row is written into both indexes, and the other one answers all that this one can",
            source: "https://learn.microsoft.com/en-us/sql/relational-databases/sql-server-index-design-guide",
            change: "DROP INDEX",
            risk: "a query that names it in an index hint fails",
        },
        look: |seen| {
            let found = |(index, other): (&Index, &Index)| {
                let is = format!("covered by {}", other.name);
                Found::new(format!("index {} of table {}", index.name, index.table), is, "no index")
                    .statement(format!("DROP INDEX {} ON {}", quote(&index.name), index.table))
            };
            covered(&seen.indexes).into_iter().map(found).collect()
        },
    },
    Check {
        rule: Rule {
            id: "foreign-key-without-index",
            severity: Severity::Slow,
            reads: "sys.foreign_key_columns",
            finds: "a foreign key with whose columns no index begins",
            why: "each row that is deleted or gets another key in the table that it refers to has all of this one read",
            source: "https://learn.microsoft.com/en-us/sql/relational-databases/tables/primary-and-foreign-key-constraints#indexes-on-foreign-key-constraints",
            change: "CREATE INDEX on the columns",
            risk: "the index takes space, every insert writes to it, and its building locks the table",
        },
        look: |seen| {
            let name = |column: &str| column.split('\0').next().unwrap_or_default().to_owned();
            let found = |key: &ForeignKey| {
                let columns: Vec<String> = key.columns.iter().map(|name| quote(name)).collect();
                let names = key.columns.join(", ");
                let is = format!("({names}) refers to {} without an index", key.parent);
                let index = quote(&format!("ix_{}", key.columns.join("_")));
                Found::new(
                    format!("table {}", key.table),
                    is,
                    format!("an index that begins with {names}"),
                )
                .statement(format!(
                    "CREATE INDEX {index} ON {} ({})",
                    key.table,
                    columns.join(", ")
                ))
            };
            unserved(&seen.foreign_keys, &seen.indexes, name).into_iter().map(found).collect()
        },
    },
    Check {
        rule: Rule {
            id: "delayed_durability",
            severity: Severity::Note,
            reads: DATABASES,
            finds: "FORCED",
            why: "commits are acknowledged before the log is on disk: a crash loses the last of them",
            source: "https://learn.microsoft.com/en-us/sql/relational-databases/logs/control-transaction-durability",
            change: "ALTER DATABASE ... SET DELAYED_DURABILITY = DISABLED",
            risk: "each commit waits for the disk; a load of inrush commits once",
        },
        look: |seen| match seen.delayed.as_str() {
            "FORCED" => {
                seen.found("FORCED", "DISABLED, or ALLOWED", "DELAYED_DURABILITY = DISABLED")
            }
            _ => Vec::new(),
        },
    },
    Check {
        rule: Rule {
            id: "untrusted-constraint",
            severity: Severity::Note,
            reads: "sys.foreign_keys, sys.check_constraints",
            finds: "a constraint that is not trusted: rows came while it was not checked, as bulk loads of other tools bring them",
            why: "there may be rows that break it, and queries are planned as if it were not there",
            source: "https://learn.microsoft.com/en-us/sql/t-sql/statements/alter-table-transact-sql#with--check--nocheck-",
            change: "ALTER TABLE ... WITH CHECK CHECK CONSTRAINT",
            risk: "it reads all rows, and fails where one breaks the constraint",
        },
        look: |seen| {
            let found = |(table, name): &(String, String)| {
                Found::new(
                    format!("constraint {name} of table {table}"),
                    "not trusted",
                    "checked for all rows",
                )
                .statement(format!(
                    "ALTER TABLE {table} WITH CHECK CHECK CONSTRAINT {}",
                    quote(name)
                ))
            };
            seen.untrusted.iter().map(found).collect()
        },
    },
];

pub(super) struct MssqlDoctor;

impl Doctor for MssqlDoctor {
    fn rules(&self) -> Vec<&'static Rule> {
        CHECKS.iter().map(|check| &check.rule).collect()
    }

    fn examine(
        &self,
        location: &Location,
        around: &Surroundings,
        stop: &AtomicBool,
    ) -> Result<Examined> {
        let place = Arc::new(connect::place(&location.secret)?);
        let mut asked = Asked::new(Box::new(MssqlConsole::open(&place, stop)?));
        let version = asked.engine()?;
        asked.not_known("memory, disk and processors of the server's machine: SQL Server is looked at by queries only");
        let seen = Seen { load_bytes: around.load_bytes, ..Seen::default() }.read(&mut asked)?;
        Ok(Examined {
            version,
            findings: apply(CHECKS, &seen),
            not_known: asked.unknown(),
            folders: Vec::new(),
            settings: Vec::new(),
        })
    }
}

impl Seen {
    fn read(mut self, asked: &mut Asked<'_>) -> Result<Self> {
        let sql = "SELECT name, page_verify_option_desc, recovery_model_desc, is_auto_shrink_on, is_auto_close_on \
             FROM sys.databases WHERE database_id = DB_ID()";
        let rows = asked.rows(sql, "settings of the database", "takes VIEW ANY DATABASE")?;
        if let Some(row) = rows.unwrap_or_default().into_iter().next() {
            let mut row = row.into_iter().map(Option::unwrap_or_default);
            let mut next = || row.next().unwrap_or_default();
            (self.database, self.page_verify, self.recovery) = (next(), next(), next());
            let mut is_on = || matches!(next().as_str(), "1" | "true");
            (self.is_shrunk, self.is_closed) = (is_on(), is_on());
        }
        // Servers before 2014 have no such column.
        let delayed =
            "SELECT delayed_durability_desc FROM sys.databases WHERE database_id = DB_ID()";
        self.delayed = asked.value(delayed)?.unwrap_or_default();
        // The catalogue keeps quiet about what the login has no right to.
        let sees = "SELECT HAS_PERMS_BY_NAME(DB_NAME(), 'DATABASE', 'VIEW DEFINITION') + HAS_PERMS_BY_NAME(DB_NAME(), 'DATABASE', 'SELECT')";
        if asked.value(sees)?.as_deref() == Some("0") {
            asked.not_known("tables that the login has no right to, if there are any: takes VIEW DEFINITION on the database");
        }
        self.read_indexes(asked)?;
        let sql = format!(
            "SELECT f.name, {}, c.name, {} FROM sys.foreign_keys f JOIN sys.foreign_key_columns k ON k.constraint_object_id = f.object_id \
             JOIN sys.columns c ON c.object_id = k.parent_object_id AND c.column_id = k.parent_column_id \
             ORDER BY 2, f.object_id, k.constraint_column_id",
            named("f.parent_object_id"),
            named("f.referenced_object_id")
        );
        let mut last = None;
        for row in asked.rows_if_any(&sql)? {
            let Ok([Some(name), Some(table), Some(column), Some(parent)]) =
                <[Option<String>; 4]>::try_from(row)
            else {
                continue;
            };
            if last.as_ref() != Some(&(table.clone(), name.clone())) {
                last = Some((table.clone(), name));
                self.foreign_keys.push(ForeignKey { table, parent, columns: Vec::new() });
            }
            if let Some(key) = self.foreign_keys.last_mut() {
                key.columns.push(column);
            }
        }
        let untrusted = ["sys.foreign_keys", "sys.check_constraints"].map(|catalogue| {
            let table = named("parent_object_id");
            format!("SELECT {table}, name FROM {catalogue} WHERE is_not_trusted = 1 AND is_not_for_replication = 0")
        });
        for row in asked.rows_if_any(&untrusted.join(" UNION ALL "))? {
            if let Ok([Some(table), Some(name)]) = <[Option<String>; 2]>::try_from(row) {
                self.untrusted.push((table, name));
            }
        }
        Ok(self)
    }

    fn read_indexes(&mut self, asked: &mut Asked<'_>) -> Result<()> {
        // Included columns are no key's, and what has some is of a kind of its own; so is a filtered one, and what is no b-tree.
        let sql = format!(
            "SELECT {}, i.name, CASE WHEN i.is_primary_key = 1 OR i.is_unique_constraint = 1 OR i.type = 1 THEN 1 ELSE 0 END, \
                 CASE WHEN i.is_unique = 1 THEN 1 ELSE 0 END, \
                 CASE WHEN i.type > 2 OR i.has_filter = 1 OR EXISTS (SELECT 1 FROM sys.index_columns o WHERE o.object_id = i.object_id \
                     AND o.index_id = i.index_id AND o.is_included_column = 1) THEN i.name ELSE N'' END, \
                 c.name, CASE WHEN k.is_descending_key = 1 THEN 1 ELSE 0 END \
             FROM sys.indexes i JOIN sys.tables t ON t.object_id = i.object_id AND t.is_ms_shipped = 0 \
             JOIN sys.index_columns k ON k.object_id = i.object_id AND k.index_id = i.index_id AND k.is_included_column = 0 \
             JOIN sys.columns c ON c.object_id = k.object_id AND c.column_id = k.column_id \
             WHERE i.is_disabled = 0 ORDER BY 1, 3 DESC, 2, k.key_ordinal",
            named("i.object_id")
        );
        let rows = asked.rows(&sql, "indexes", "takes VIEW DEFINITION")?;
        for row in rows.unwrap_or_default() {
            let mut row = row.into_iter().map(Option::unwrap_or_default);
            let mut next = || row.next().unwrap_or_default();
            let (table, name) = (next(), next());
            let (is_kept, is_unique, kind) = (next() == "1", next() == "1", next());
            let column = format!("{}\0{}", next(), next());
            if self.indexes.last().is_none_or(|last| last.name != name || last.table != table) {
                let columns = Vec::new();
                self.indexes.push(Index { table, name, columns, kind, is_unique, is_kept });
            }
            if let Some(index) = self.indexes.last_mut() {
                index.columns.push(column);
            }
        }
        Ok(())
    }
}

/// A table's name as statements take it.
fn named(object: &str) -> String {
    format!("QUOTENAME(OBJECT_SCHEMA_NAME({object})) + N'.' + QUOTENAME(OBJECT_NAME({object}))")
}
