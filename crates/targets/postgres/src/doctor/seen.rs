//! What is read of a server and a database.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

use inrush_core::doctor::indexes::{ForeignKey, Index};
use inrush_core::doctor::{Asked, Surroundings, keys};
use inrush_core::error::Result;

use crate::ddl::quote;

/// Keys that are looked at to see whether they come in an order.
const KEYS: u32 = 100;

/// Tables whose keys or rows are looked at: each is a query.
const LOOKED_AT_MAX: usize = 300;

/// Settings that a private server has to have to be like this one.
const BEARING: [&str; 18] = [
    "autovacuum",
    "checkpoint_completion_target",
    "checkpoint_timeout",
    "commit_delay",
    "fsync",
    "full_page_writes",
    "log_statement",
    "maintenance_work_mem",
    "max_parallel_maintenance_workers",
    "max_wal_senders",
    "max_wal_size",
    "min_wal_size",
    "shared_buffers",
    "synchronous_commit",
    "wal_buffers",
    "wal_compression",
    "wal_level",
    "wal_sync_method",
];

/// Schemas of users, in a query that has `pg_namespace n`.
const OURS: &str =
    "n.nspname NOT IN ('pg_catalog', 'information_schema') AND n.nspname !~ '^pg_(toast|temp)'";

/// Tables that are no job's or load's under way, which are unlogged on purpose, in a query that has `pg_class c`.
const LASTING: &str = "c.relname !~ '^inrush_(job|staging)_[0-9a-f]{16}'";

/// A setting.
#[derive(Clone, Debug, Default)]
struct Setting {
    value: String,
    unit: String,
    /// Who has set it.
    source: String,
    /// When it can be changed.
    context: String,
}

/// A table of the database.
#[derive(Clone, Debug, Default)]
pub(super) struct Table {
    /// As statements take it.
    pub(super) sql: String,
    pub(super) is_unlogged: bool,
    /// Whether it has rows, of unlogged ones.
    pub(super) holds_rows: bool,
    /// With its indexes.
    pub(super) bytes: u64,
    pub(super) dead_rows: u64,
    /// Whether autovacuum was switched off for it.
    pub(super) is_not_vacuumed: bool,
    /// Triggers that run for each row.
    pub(super) triggers: Vec<String>,
    /// The column of the primary key, where it is one, and its values are random.
    pub(super) random: Option<String>,
}

/// An index that takes writes and answers no query.
#[derive(Clone, Debug)]
pub(super) struct Invalid {
    pub(super) sql: String,
    pub(super) table: String,
    /// It can't be built, or need not be.
    pub(super) has_to_go: bool,
}

impl Invalid {
    /// Over rows that repeat a key no unique index can be built. A REINDEX CONCURRENTLY that has failed leaves its new index, or the old one
    /// beside the new: `_ccnew` and `_ccold`, and a number where the name was taken
    /// (<https://www.postgresql.org/docs/current/sql-reindex.html#SQL-REINDEX-CONCURRENTLY>).
    fn new(sql: String, table: String, is_unique: bool) -> Self {
        let name = sql.trim_end_matches('"').trim_end_matches(|char: char| char.is_ascii_digit());
        let has_to_go = is_unique || name.ends_with("_ccnew") || name.ends_with("_ccold");
        Self { sql, table, has_to_go }
    }
}

/// What the server and the database are.
#[derive(Default)]
pub(super) struct Seen {
    settings: BTreeMap<String, Setting>,
    is_here: bool,
    pub(super) around: Surroundings,
    pub(super) database: String,
    pub(super) user: String,
    pub(super) tables: Vec<Table>,
    pub(super) indexes: Vec<Index>,
    /// Indexes by their names in SQL.
    pub(super) foreign_keys: Vec<ForeignKey>,
    pub(super) invalid: Vec<Invalid>,
    /// Collations, or the database, whose rules the system has changed: what it is, before, now.
    pub(super) collations: Vec<(String, String, String)>,
    /// Whether the log is read: by a standby, a slot, an archive, or the server itself for incremental backups, which starts with no minimal
    /// log then (<https://www.postgresql.org/docs/current/runtime-config-wal.html#GUC-SUMMARIZE-WAL>).
    pub(super) replicates: bool,
}

impl Seen {
    /// Reads all of it, by queries.
    pub(super) fn read(
        asked: &mut Asked<'_>,
        is_near: bool,
        around: &Surroundings,
    ) -> Result<Self> {
        let mut seen = Self { around: around.clone(), ..Self::default() };
        // The catalogue's queries look expensive, and compiling them would take longer than running them.
        asked.rows_if_any("SET SESSION jit = off")?;
        let sql = "SELECT name, setting, unit, source, context FROM pg_catalog.pg_settings";
        for row in asked.rows(sql, "settings", "takes a login")?.unwrap_or_default() {
            let mut row = row.into_iter().map(Option::unwrap_or_default);
            let mut next = || row.next().unwrap_or_default();
            let name = next();
            let (value, unit, source, context) = (next(), next(), next(), next());
            seen.settings.insert(name, Setting { value, unit, source, context });
        }
        let who = asked.rows_if_any("SELECT pg_catalog.current_database(), SESSION_USER::text")?;
        if let Some([Some(database), Some(user)]) = who.first().map(Vec::as_slice) {
            (seen.database, seen.user) = (database.clone(), user.clone());
        }
        let data = seen.value("data_directory").to_owned();
        if data.is_empty() {
            asked.not_known("memory and disk of the server's machine: takes the role pg_read_all_settings, to see data_directory");
        }
        seen.is_here = is_near && !data.is_empty() && Path::new(&data).symlink_metadata().is_ok();
        if !data.is_empty() && !seen.is_here {
            asked.not_known(
                "memory, disk and processors of the server's machine: doctor has to run on that machine",
            );
        }
        seen.read_tables(asked)?;
        seen.read_triggers(asked)?;
        seen.read_indexes(asked)?;
        seen.read_foreign_keys(asked)?;
        seen.read_keys(asked)?;
        seen.read_collations(asked)?;
        let readers = "SELECT (SELECT count(*) FROM pg_catalog.pg_replication_slots) + (SELECT count(*) FROM pg_catalog.pg_stat_replication)";
        seen.replicates = asked.value(readers)?.is_none_or(|count| count != "0")
            || seen.value("archive_mode") != "off"
            || seen.value("summarize_wal") == "on";
        Ok(seen)
    }

    fn read_tables(&mut self, asked: &mut Asked<'_>) -> Result<()> {
        let sql = format!(
            "SELECT pg_catalog.quote_ident(n.nspname) || '.' || pg_catalog.quote_ident(c.relname), c.relpersistence = 'u', \
                 pg_catalog.pg_total_relation_size(c.oid), pg_catalog.pg_relation_size(c.oid) > 0, coalesce(s.n_dead_tup, 0), \
                 coalesce((SELECT NOT o.option_value::boolean FROM pg_catalog.pg_options_to_table(c.reloptions) o \
                     WHERE o.option_name = 'autovacuum_enabled'), false) \
             FROM pg_catalog.pg_class c JOIN pg_catalog.pg_namespace n ON n.oid = c.relnamespace \
             LEFT JOIN pg_catalog.pg_stat_all_tables s ON s.relid = c.oid \
             WHERE c.relkind IN ('r', 'p') AND {OURS} AND {LASTING} ORDER BY 1"
        );
        let rows = asked.rows(&sql, "tables", "takes USAGE on their schemas")?.unwrap_or_default();
        for row in rows {
            let mut row = row.into_iter().map(Option::unwrap_or_default);
            let mut next = || row.next().unwrap_or_default();
            self.tables.push(Table {
                sql: next(),
                is_unlogged: next() == "t",
                bytes: next().parse().unwrap_or(0),
                holds_rows: next() == "t",
                dead_rows: next().parse().unwrap_or(0),
                is_not_vacuumed: next() == "t",
                ..Table::default()
            });
        }
        // A page may hold nothing but rows that were deleted.
        let unlogged = self.tables.iter_mut().filter(|table| table.is_unlogged && table.holds_rows);
        for table in unlogged.take(LOOKED_AT_MAX) {
            let sql = format!("SELECT EXISTS (SELECT 1 FROM {})::text", table.sql);
            let what = format!("whether {} has rows", table.sql);
            if let Some(rows) = asked.rows(&sql, &what, "takes SELECT on the table")? {
                table.holds_rows = rows == [[Some("true".to_owned())]];
            }
        }
        Ok(())
    }

    fn read_triggers(&mut self, asked: &mut Asked<'_>) -> Result<()> {
        // Bit 0 of the type is FOR EACH ROW, bit 2 INSERT; O fires where nothing is replicated to.
        let sql = format!(
            "SELECT pg_catalog.quote_ident(n.nspname) || '.' || pg_catalog.quote_ident(c.relname), t.tgname::text \
             FROM pg_catalog.pg_trigger t JOIN pg_catalog.pg_class c ON c.oid = t.tgrelid \
             JOIN pg_catalog.pg_namespace n ON n.oid = c.relnamespace \
             WHERE NOT t.tgisinternal AND t.tgenabled IN ('O', 'A') AND t.tgtype & 1 = 1 AND t.tgtype & 4 = 4 AND {OURS} ORDER BY 1, 2"
        );
        for row in asked.rows_if_any(&sql)? {
            let [Some(sql), Some(trigger)] = row.as_slice() else { continue };
            if let Some(table) = self.tables.iter_mut().find(|table| table.sql == *sql) {
                table.triggers.push(trigger.clone());
            }
        }
        Ok(())
    }

    /// Indexes, each column with its operators, collation and direction. One that is looked at when the transaction ends does not do for one
    /// that refuses rows at once, and no other does for one that takes NULL once. One of a partitioned table goes with those of its
    /// partitions, and is not valid for as long as one of them lacks it; one that is being built CONCURRENTLY is not valid yet, and its
    /// table locked as for that.
    fn read_indexes(&mut self, asked: &mut Asked<'_>) -> Result<()> {
        let sql = format!(
            "SELECT pg_catalog.quote_ident(n.nspname) || '.' || pg_catalog.quote_ident(c.relname), \
                 pg_catalog.quote_ident(n.nspname) || '.' || pg_catalog.quote_ident(i.relname), x.indisunique AND x.indimmediate, x.indisvalid, \
                 coalesce(pg_catalog.to_jsonb(x) ->> 'indnullsnotdistinct', 'false') = 'true' OR x.indisprimary OR x.indisreplident OR x.indisclustered OR i.relispartition \
                     OR EXISTS (SELECT 1 FROM pg_catalog.pg_constraint o WHERE o.conindid = i.oid), \
                 CASE WHEN m.amname = 'btree' AND x.indpred IS NULL AND x.indexprs IS NULL AND x.indnatts = x.indnkeyatts THEN '' \
                     ELSE pg_catalog.regexp_replace(pg_catalog.pg_get_indexdef(i.oid), '^.*? USING ', '') END, \
                 a.attname::text, x.indclass[k.n - 1]::text || ' ' || x.indcollation[k.n - 1]::text || ' ' || x.indoption[k.n - 1]::text \
             FROM pg_catalog.pg_index x JOIN pg_catalog.pg_class i ON i.oid = x.indexrelid \
             JOIN pg_catalog.pg_class c ON c.oid = x.indrelid JOIN pg_catalog.pg_namespace n ON n.oid = c.relnamespace \
             JOIN pg_catalog.pg_am m ON m.oid = i.relam \
             CROSS JOIN LATERAL pg_catalog.generate_series(1, x.indnkeyatts) k(n) \
             LEFT JOIN pg_catalog.pg_attribute a ON a.attrelid = c.oid AND a.attnum = x.indkey[k.n - 1] \
             WHERE {OURS} AND {LASTING} AND (x.indisvalid OR i.relkind = 'i' AND NOT EXISTS (SELECT 1 FROM pg_catalog.pg_locks l \
                 WHERE l.relation = c.oid AND l.mode = 'ShareUpdateExclusiveLock' AND l.granted \
                     AND l.database = (SELECT d.oid FROM pg_catalog.pg_database d WHERE d.datname = pg_catalog.current_database()))) \
             ORDER BY 1, 5 DESC, 2, k.n"
        );
        let rows = asked.rows(&sql, "indexes", "takes a server of version 11 or later")?;
        for row in rows.unwrap_or_default() {
            let mut row = row.into_iter().map(Option::unwrap_or_default);
            let mut next = || row.next().unwrap_or_default();
            let (table, name) = (next(), next());
            let (is_unique, is_valid, is_kept) = (next() == "t", next() == "t", next() == "t");
            let (kind, column, how) = (next(), next(), next());
            if !is_valid {
                let is_known = self.invalid.last().is_some_and(|last| last.sql == name);
                if !is_known && !is_kept {
                    self.invalid.push(Invalid::new(name, table, is_unique));
                }
                continue;
            }
            if self.indexes.last().is_none_or(|last| last.name != name) {
                let columns = Vec::new();
                self.indexes.push(Index { table, name, columns, kind, is_unique, is_kept });
            }
            if let Some(index) = self.indexes.last_mut() {
                index.columns.push(format!("{column}\0{how}"));
            }
        }
        Ok(())
    }

    fn read_foreign_keys(&mut self, asked: &mut Asked<'_>) -> Result<()> {
        let sql = format!(
            "SELECT pg_catalog.quote_ident(n.nspname) || '.' || pg_catalog.quote_ident(c.relname), o.oid::text, a.attname::text, \
                 (SELECT pg_catalog.quote_ident(m.nspname) || '.' || pg_catalog.quote_ident(p.relname) FROM pg_catalog.pg_class p \
                     JOIN pg_catalog.pg_namespace m ON m.oid = p.relnamespace WHERE p.oid = o.confrelid) \
             FROM pg_catalog.pg_constraint o JOIN pg_catalog.pg_class c ON c.oid = o.conrelid \
             JOIN pg_catalog.pg_namespace n ON n.oid = c.relnamespace \
             CROSS JOIN LATERAL pg_catalog.unnest(o.conkey) WITH ORDINALITY k(attnum, n) \
             JOIN pg_catalog.pg_attribute a ON a.attrelid = c.oid AND a.attnum = k.attnum \
             WHERE o.contype = 'f' AND o.conparentid = 0 AND {OURS} ORDER BY 1, o.oid, k.n"
        );
        let mut last = String::new();
        for row in asked.rows_if_any(&sql)? {
            let [Some(table), Some(id), Some(column), Some(parent)] = row.as_slice() else {
                continue;
            };
            if *id != last {
                last.clone_from(id);
                let (table, parent) = (table.clone(), parent.clone());
                self.foreign_keys.push(ForeignKey { table, parent, columns: Vec::new() });
            }
            if let Some(key) = self.foreign_keys.last_mut() {
                key.columns.push(column.clone());
            }
        }
        Ok(())
    }

    /// Looks at the first keys of tables whose primary key is one column that UUIDs fit into.
    fn read_keys(&mut self, asked: &mut Asked<'_>) -> Result<()> {
        let sql = format!(
            "SELECT pg_catalog.quote_ident(n.nspname) || '.' || pg_catalog.quote_ident(c.relname), a.attname::text \
             FROM pg_catalog.pg_index x JOIN pg_catalog.pg_class c ON c.oid = x.indrelid \
             JOIN pg_catalog.pg_namespace n ON n.oid = c.relnamespace \
             JOIN pg_catalog.pg_attribute a ON a.attrelid = c.oid AND a.attnum = x.indkey[0] \
             WHERE x.indisprimary AND x.indnatts = 1 AND {OURS} \
                 AND a.atttypid::pg_catalog.regtype::text IN ('uuid', 'text', 'character', 'character varying', 'bytea') ORDER BY 1"
        );
        for row in asked.rows_if_any(&sql)?.into_iter().take(LOOKED_AT_MAX) {
            let [Some(name), Some(column)] = row.as_slice() else { continue };
            let sql = format!("SELECT {}::text FROM {name} LIMIT {KEYS}", quote(column));
            let what = format!("whether the keys of {name} ascend");
            let values = asked.rows(&sql, &what, "takes SELECT on the table")?;
            let values: Vec<String> =
                values.unwrap_or_default().into_iter().flatten().flatten().collect();
            // Bytes are \x and digits.
            let keys = values.iter().map(|key| key.strip_prefix("\\x").unwrap_or(key).trim_end());
            if keys::are_random(keys.map(str::as_bytes))
                && let Some(table) = self.tables.iter_mut().find(|table| table.sql == *name)
            {
                table.random = Some(column.clone());
            }
        }
        Ok(())
    }

    /// The database's own since PostgreSQL 15, and those that columns name.
    fn read_collations(&mut self, asked: &mut Asked<'_>) -> Result<()> {
        let of_database = "SELECT 'database', datcollversion, pg_catalog.pg_database_collation_actual_version(oid) \
             FROM pg_catalog.pg_database WHERE datname = pg_catalog.current_database() \
             AND datcollversion <> pg_catalog.pg_database_collation_actual_version(oid)";
        let named = "SELECT 'collation ' || c.oid::pg_catalog.regcollation::text, c.collversion, pg_catalog.pg_collation_actual_version(c.oid) \
             FROM pg_catalog.pg_collation c WHERE c.collversion <> pg_catalog.pg_collation_actual_version(c.oid) \
             AND EXISTS (SELECT 1 FROM pg_catalog.pg_attribute a WHERE a.attcollation = c.oid AND a.attrelid >= 16384)";
        for sql in [of_database, named] {
            for row in asked.rows_if_any(sql)? {
                if let Ok([Some(what), Some(before), Some(now)]) =
                    <[Option<String>; 3]>::try_from(row)
                {
                    self.collations.push((what, before, now));
                }
            }
        }
        Ok(())
    }

    /// A setting, in its unit; empty where the server has none of the name, or does not show it.
    pub(super) fn value(&self, name: &str) -> &str {
        self.settings.get(name).map_or("", |setting| setting.value.as_str())
    }

    /// As people read it.
    pub(super) fn shown(&self, name: &str) -> String {
        let Some(setting) = self.settings.get(name) else { return "empty".to_owned() };
        match (self.bytes(name), setting.unit.as_str()) {
            (Some(size), "8kB" | "kB" | "MB" | "B") => inrush_core::wording::bytes(size),
            (_, "") => setting.value.clone(),
            (_, unit) => format!("{} {unit}", setting.value),
        }
    }

    pub(super) fn source(&self, name: &str) -> &str {
        self.settings.get(name).map_or("", |setting| setting.source.as_str())
    }

    /// Whether a change counts only after a restart.
    pub(super) fn wants_restart(&self, name: &str) -> bool {
        self.settings.get(name).is_some_and(|setting| setting.context == "postmaster")
    }

    /// A number, of sizes in bytes, of times in their unit.
    pub(super) fn bytes(&self, name: &str) -> Option<u64> {
        let setting = self.settings.get(name)?;
        let unit = match setting.unit.as_str() {
            "8kB" => 8 << 10,
            "kB" => 1 << 10,
            "MB" => 1 << 20,
            _ => 1,
        };
        setting.value.parse::<u64>().ok()?.checked_mul(unit)
    }

    /// Memory of the server's machine.
    pub(super) fn memory_bytes(&self) -> Option<u64> {
        self.around.memory_bytes.filter(|_| self.is_here)
    }

    /// Bytes of the load, or of the largest table, whichever is more.
    pub(super) fn weight(&self) -> u64 {
        let largest = self.tables.iter().map(|table| table.bytes).max().unwrap_or(0);
        largest.max(self.around.load_bytes.unwrap_or(0))
    }

    /// Rows that were deleted and not yet removed.
    pub(super) fn dead_rows(&self) -> u64 {
        self.tables.iter().map(|table| table.dead_rows).sum()
    }

    /// Where its files are, if they are on this machine.
    pub(super) fn folders(&self) -> Vec<PathBuf> {
        let data = PathBuf::from(self.value("data_directory"));
        if self.is_here { vec![data.clone(), data.join("pg_wal")] } else { Vec::new() }
    }

    /// The settings that bear on loads.
    pub(super) fn bearing(&self) -> Vec<(String, String)> {
        let known = BEARING.iter().filter_map(|&name| Some((name, self.settings.get(name)?)));
        known
            .map(|(name, setting)| {
                let value = match (self.bytes(name), setting.unit.as_str()) {
                    (Some(size), "8kB" | "kB" | "MB") => format!("{}kB", size >> 10),
                    (_, unit) => format!("{}{unit}", setting.value),
                };
                (name.to_owned(), value)
            })
            .collect()
    }
}
