//! Rules of tables.

use inrush_core::doctor::indexes::{ForeignKey, Index, covered, unserved};
use inrush_core::doctor::{Check, Found, Rule, Severity};
use inrush_core::wording::counted;

use super::seen::{Invalid, Seen, Table};
use crate::ddl::quote;

pub(super) static CHECKS: &[Check<Seen>] = &[
    Check {
        rule: Rule {
            id: "unlogged-table",
            severity: Severity::Risk,
            reads: "pg_class, and whether there is a row",
            finds: "an unlogged table with rows",
            why: "after a crash the server empties it, and no standby has its rows",
            source: "https://www.postgresql.org/docs/current/sql-createtable.html#SQL-CREATETABLE-UNLOGGED",
            change: "ALTER TABLE ... SET LOGGED, first of the tables that its foreign keys refer to",
            risk: "the statement writes the whole table anew, to the log too, and locks it meanwhile",
        },
        look: |seen| {
            let (mut met, mut order) = (Vec::new(), Vec::new());
            let at_risk = |table: &&Table| table.is_unlogged && table.holds_rows;
            for table in seen.tables.iter().filter(at_risk) {
                with_parents(seen, table, &mut met, &mut order);
            }
            // One without rows is logged for the sake of the next.
            let mut statements = Vec::new();
            let mut found = Vec::new();
            for table in order {
                statements.push(format!("ALTER TABLE {} SET LOGGED", table.sql));
                if table.holds_rows {
                    let what = format!("table {}", table.sql);
                    let one = Found::new(what, "unlogged, with rows", "logged");
                    found.push(statements.drain(..).fold(one, Found::statement));
                }
            }
            found
        },
    },
    Check {
        rule: Rule {
            id: "autovacuum_enabled",
            severity: Severity::Risk,
            reads: "pg_class, pg_stat_all_tables",
            finds: "off for a table with dead rows",
            why: "dead rows stay: the table grows without end, and when transaction numbers run out the server takes no more writes",
            source: "https://www.postgresql.org/docs/current/routine-vacuuming.html",
            change: "ALTER TABLE ... RESET (autovacuum_enabled)",
            risk: "a worker reads and writes the table at times that it chooses",
        },
        look: |seen| {
            let found = |table: &Table| {
                let is = format!("off, {}", counted(table.dead_rows, "dead row"));
                Found::new(format!("table {}", table.sql), is, "on")
                    .statement(format!("ALTER TABLE {} RESET (autovacuum_enabled)", table.sql))
            };
            let at_risk = |table: &&Table| table.is_not_vacuumed && table.dead_rows > 0;
            seen.tables.iter().filter(at_risk).map(found).collect()
        },
    },
    Check {
        rule: Rule {
            id: "collation-version",
            severity: Severity::Risk,
            reads: "pg_database, pg_collation",
            finds: "the system's rules of order are of another version than when the database, or a collation that a column has, was made",
            why: "indexes over texts are in the old order: queries miss rows, and unique indexes take duplicate keys",
            source: "https://www.postgresql.org/docs/current/sql-altercollation.html#SQL-ALTERCOLLATION-NOTES",
            change: "REINDEX DATABASE, then REFRESH COLLATION VERSION",
            risk: "each index is locked while it is built; a unique index that has taken duplicate keys can't be",
        },
        look: |seen| {
            let found = |(what, before, now): &(String, String, String)| {
                let object = match what.strip_prefix("collation ") {
                    Some(name) => format!("COLLATION {name}"),
                    None => format!("DATABASE {}", quote(&seen.database)),
                };
                Found::new(
                    what,
                    format!("made with {before}"),
                    format!("{now}, which the system has"),
                )
                .statement(format!("REINDEX DATABASE {}", quote(&seen.database)))
                .statement(format!(
                    "ALTER {object} REFRESH {}VERSION",
                    if what == "database" { "COLLATION " } else { "" }
                ))
            };
            seen.collations.iter().map(found).collect()
        },
    },
    Check {
        rule: Rule {
            id: "redundant-index",
            severity: Severity::Slow,
            reads: "pg_index",
            finds: "an index whose columns are, or begin, those of another one of the same kind",
            why: "every row is written into both indexes, and the other one answers all that this one can",
            source: "https://www.postgresql.org/docs/current/indexes-multicolumn.html",
            change: "DROP INDEX",
            risk: "a query by the first columns alone reads a wider index",
        },
        look: |seen| {
            let found = |(index, other): (&Index, &Index)| {
                Found::new(
                    format!("index {} of table {}", index.name, index.table),
                    format!("covered by {}", other.name),
                    "no index",
                )
                .statement(format!("DROP INDEX {}", index.name))
                .tried_on(Some(&index.table))
            };
            covered(&seen.indexes).into_iter().map(found).collect()
        },
    },
    Check {
        rule: Rule {
            id: "invalid-index",
            severity: Severity::Slow,
            reads: "pg_index",
            finds: "an index that is not valid: CREATE INDEX CONCURRENTLY, or REINDEX CONCURRENTLY, did not come to its end",
            why: "every row is written into it, and no query uses it",
            source: "https://www.postgresql.org/docs/current/sql-createindex.html#SQL-CREATEINDEX-CONCURRENTLY",
            change: "REINDEX INDEX; DROP INDEX of a unique one, over which there may be duplicate keys, and of what REINDEX has left (_ccnew, _ccold)",
            risk: "REINDEX locks the table against writes while it builds",
        },
        look: |seen| {
            let found = |index: &Invalid| {
                let Invalid { sql, table, has_to_go } = index;
                let (should, verb) = match has_to_go {
                    true => ("dropped", "DROP"),
                    false => ("valid, or dropped", "REINDEX"),
                };
                Found::new(format!("index {sql} of table {table}"), "not valid", should)
                    .statement(format!("{verb} INDEX {sql}"))
            };
            seen.invalid.iter().map(found).collect()
        },
    },
    Check {
        rule: Rule {
            id: "foreign-key-without-index",
            severity: Severity::Slow,
            reads: "pg_constraint, pg_index",
            finds: "a foreign key with whose columns no index begins",
            why: "each row that is deleted or gets another key in the table that it refers to has all of this one read",
            source: "https://www.postgresql.org/docs/current/ddl-constraints.html#DDL-CONSTRAINTS-FK",
            change: "CREATE INDEX on the columns",
            risk: "the index takes space, every insert writes to it, and CREATE INDEX locks the table against writes",
        },
        look: |seen| {
            let name = |column: &str| column.split('\0').next().unwrap_or_default().to_owned();
            let found = |key: &ForeignKey| {
                let columns: Vec<String> = key.columns.iter().map(|name| quote(name)).collect();
                let (columns, names) = (columns.join(", "), key.columns.join(", "));
                let is = format!("({names}) refers to {} without an index", key.parent);
                Found::new(
                    format!("table {}", key.table),
                    is,
                    format!("an index that begins with {names}"),
                )
                .statement(format!("CREATE INDEX ON {} ({columns})", key.table))
            };
            unserved(&seen.foreign_keys, &seen.indexes, name).into_iter().map(found).collect()
        },
    },
    Check {
        rule: Rule {
            id: "random-key",
            severity: Severity::Slow,
            reads: "the first 100 keys",
            finds: "a primary key of one column of which nine tenths are UUIDs of a version other than 6 and 7",
            why: "each row goes to another page of the key's index, all of which go to the log as a whole after each checkpoint",
            source: "https://www.postgresql.org/docs/current/wal-reliability.html",
            change: "what makes the keys: GENERATED ALWAYS AS IDENTITY, or UUIDs of version 7, which ascend",
            risk: "keys of existing rows stay as they are",
        },
        look: |seen| {
            let found = |table: &Table| {
                let is = format!("{} holds random UUIDs", table.random.as_ref()?);
                Some(Found::new(format!("table {}", table.sql), is, "keys that ascend"))
            };
            seen.tables.iter().filter_map(found).collect()
        },
    },
    Check {
        rule: Rule {
            id: "trigger",
            severity: Severity::Note,
            reads: "pg_trigger",
            finds: "a trigger that runs for each inserted row",
            why: "each row of a load calls a function, whatever way it comes",
            source: "https://www.postgresql.org/docs/current/trigger-definition.html",
            change: "a trigger FOR EACH STATEMENT with a transition table, or a generated column",
            risk: "what the trigger does has to be done otherwise",
        },
        look: |seen| {
            let found = |table: &Table| {
                let is = format!("{} for each inserted row", table.triggers.join(", "));
                Found::new(format!("table {}", table.sql), is, "none, or one for each statement")
            };
            seen.tables.iter().filter(|table| !table.triggers.is_empty()).map(found).collect()
        },
    },
];

/// The unlogged tables that have to be logged before this one can be, in that order, and it: a logged table refers to logged ones alone.
/// Those that were `met` before are left out.
fn with_parents<'s>(
    seen: &'s Seen,
    table: &'s Table,
    met: &mut Vec<&'s str>,
    order: &mut Vec<&'s Table>,
) {
    if !table.is_unlogged || met.contains(&table.sql.as_str()) {
        return;
    }
    met.push(&table.sql);
    let keys = seen.foreign_keys.iter().filter(|key| key.table == table.sql);
    let parents = keys.filter_map(|key| seen.tables.iter().find(|known| known.sql == key.parent));
    parents.for_each(|parent| with_parents(seen, parent, met, order));
    order.push(table);
}
