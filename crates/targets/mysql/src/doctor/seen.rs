//! What is read of a server and a database.

use std::collections::{BTreeMap, BTreeSet};
use std::path::{Path, PathBuf};

use inrush_core::doctor::indexes::Index;
use inrush_core::doctor::{Asked, Surroundings, keys};
use inrush_core::error::Result;

use inrush_core::target::JOB_PREFIX;
use inrush_net::staging;

use crate::ddl::quote;
use crate::facts::numbers;
use crate::rights::{SHOW_GRANTS, sees_all_tables};

/// Keys that are looked at to see whether they come in an order.
const KEYS: u32 = 100;

/// Tables whose keys are looked at: each is a query.
const KEYED_MAX: usize = 300;

/// Databases of the server's own.
const SYSTEM: [&str; 4] = ["information_schema", "mysql", "performance_schema", "sys"];

/// Variables that a private server has to have to be like this one.
const BEARING: [&str; 20] = [
    "bulk_insert_buffer_size",
    "general_log",
    "innodb_buffer_pool_size",
    "innodb_change_buffering",
    "innodb_doublewrite",
    "innodb_file_per_table",
    "innodb_flush_log_at_trx_commit",
    "innodb_flush_method",
    "innodb_io_capacity",
    "innodb_io_capacity_max",
    "innodb_log_buffer_size",
    "innodb_log_file_size",
    "innodb_log_files_in_group",
    "innodb_page_size",
    "innodb_redo_log_capacity",
    "key_buffer_size",
    "local_infile",
    "max_allowed_packet",
    "sql_mode",
    "sync_binlog",
];

/// <https://dev.mysql.com/doc/refman/8.0/en/innodb-limits.html>
const INNODB_COLUMNS_MAX: u64 = 1017;

/// The most bytes that a value takes in a page of InnoDB, where a long one lies elsewhere but for 20 bytes that say where: MariaDB counts
/// these for what may have more than 255, and MySQL, for what may have more than 40, as many as it may leave in the page. Found by making
/// tables of MariaDB 10.11 and MySQL 8.0 (<https://mariadb.com/kb/en/troubleshooting-row-size-too-large-errors-with-innodb/>).
fn in_page(ty: &str, octets: Option<u64>, is_single_byte: bool, is_mariadb: bool) -> u64 {
    let (longest, elsewhere) = if is_mariadb { (255, 21) } else { (40, 41) };
    match (ty, octets) {
        ("enum" | "set", _) => 8,
        ("char" | "binary", Some(octets)) if is_single_byte => octets,
        (_, Some(octets)) if octets <= longest => octets + 1,
        (_, Some(_)) => elsewhere,
        ("decimal", None) => 30,
        ("uuid" | "inet6", None) => 16,
        (
            "tinyint" | "smallint" | "mediumint" | "int" | "bigint" | "float" | "double" | "bit"
            | "date" | "time" | "datetime" | "timestamp" | "year" | "inet4",
            None,
        ) => 8,
        (_, None) => elsewhere,
    }
}

/// A table of the database.
#[derive(Clone, Debug, Default)]
pub(super) struct Table {
    pub(super) name: String,
    /// In lower case.
    pub(super) engine: String,
    /// In lower case.
    pub(super) row_format: String,
    pub(super) options: String,
    /// About how many; of tables without transactions exactly.
    pub(super) rows: u64,
    /// Of rows and indexes.
    pub(super) bytes: u64,
    /// Columns in the three-byte character set.
    pub(super) narrow: Vec<String>,
    /// Collations of its columns, each once.
    pub(super) collations: BTreeSet<String>,
    /// The column that the server counts by itself.
    pub(super) counted: Option<String>,
    /// Whether the server keeps what its rows were before.
    pub(super) is_versioned: bool,
    /// Names of all columns.
    pub(super) columns: Vec<String>,
    /// The most bytes that values of a row take in a page of InnoDB.
    in_page: u64,
    /// The column of the primary key, where it is one, and its values are random.
    pub(super) random: Option<String>,
}

/// What the server and the database are.
#[derive(Default)]
pub(super) struct Seen {
    variables: BTreeMap<String, String>,
    pub(super) is_mariadb: bool,
    pub(super) version: (u32, u32, u32),
    /// Whether it runs on this machine.
    is_here: bool,
    pub(super) around: Surroundings,
    pub(super) schema: String,
    pub(super) tables: Vec<Table>,
    pub(super) indexes: Vec<Index>,
    /// Unique indexes that let NULL in, and so no key: table and index.
    loose: BTreeSet<(String, String)>,
    /// Whether a table has moments that are converted between time zones.
    pub(super) has_timestamps: bool,
    /// Whether the server knows time zones by name.
    pub(super) knows_zones: bool,
}

impl Seen {
    /// Reads all of it, by queries.
    pub(super) fn read(
        asked: &mut Asked<'_>,
        is_near: bool,
        around: &Surroundings,
    ) -> Result<Self> {
        let variables = asked.rows("SHOW GLOBAL VARIABLES", "settings", "takes a login")?;
        let mut seen = Self { around: around.clone(), ..Self::default() };
        for row in variables.unwrap_or_default() {
            if let [Some(name), value] = row.as_slice() {
                let value = value.clone().unwrap_or_default();
                seen.variables.insert(name.to_ascii_lowercase(), value);
            }
        }
        seen.read_log(asked)?;
        let version = seen.variable("version").to_owned();
        seen.is_mariadb = version.contains("MariaDB");
        seen.version = numbers(&version);
        seen.is_here =
            is_near && !around.host.is_empty() && seen.variable("hostname") == around.host;
        if !seen.is_here {
            asked.not_known(
                "memory, disk and processors of the server's machine: doctor has to run on that machine",
            );
        }
        // MySQL 8.0 shows figures of yesterday otherwise.
        asked.rows_if_any("SET SESSION information_schema_stats_expiry = 0")?;
        seen.schema = asked.value("SELECT DATABASE()")?.unwrap_or_default();
        // Its own tables are as the server wants them.
        if !SYSTEM.contains(&seen.schema.to_ascii_lowercase().as_str()) {
            seen.read_tables(asked)?;
            seen.read_columns(asked)?;
            seen.read_indexes(asked)?;
            seen.read_keys(asked)?;
        }
        let zone = "SELECT CONVERT_TZ('2024-01-01 00:00:00', 'UTC', 'Europe/Berlin')";
        seen.knows_zones = asked.value(zone)?.is_some();
        Ok(seen)
    }

    /// From MySQL 8.0.30 on the log has the capacity that was set, or else what two older settings come to, and then the variable goes on
    /// saying its default (<https://dev.mysql.com/doc/refman/8.0/en/innodb-redo-log.html>). What it has stands in the place of all three.
    fn read_log(&mut self, asked: &mut Asked<'_>) -> Result<()> {
        let status = "SHOW GLOBAL STATUS LIKE 'Innodb_redo_log_capacity_resized'";
        let rows = asked.rows_if_any(status)?;
        if let Some([_, Some(bytes)]) = rows.first().map(Vec::as_slice) {
            self.variables.insert("innodb_redo_log_capacity".to_owned(), bytes.clone());
            self.variables.remove("innodb_log_file_size");
            self.variables.remove("innodb_log_files_in_group");
        }
        Ok(())
    }

    fn read_tables(&mut self, asked: &mut Asked<'_>) -> Result<()> {
        // The catalogue keeps quiet about what the login has no right to.
        let grants = asked.rows_if_any(SHOW_GRANTS)?;
        let grants: Vec<String> = grants.into_iter().flatten().flatten().collect();
        if !grants.is_empty() && !self.schema.is_empty() && !sees_all_tables(&grants, &self.schema)
        {
            asked.not_known(format!(
                "tables that the login has no right to, if there are any: takes SELECT on {}.*",
                quote(&self.schema)
            ));
        }
        let sql = "SELECT TABLE_NAME, LOWER(ENGINE), LOWER(ROW_FORMAT), CREATE_OPTIONS, TABLE_ROWS, DATA_LENGTH + INDEX_LENGTH, \
             TABLE_TYPE <> 'BASE TABLE' FROM information_schema.TABLES \
             WHERE TABLE_SCHEMA = DATABASE() AND TABLE_TYPE IN ('BASE TABLE', 'SYSTEM VERSIONED') ORDER BY TABLE_NAME";
        for row in asked.rows(sql, "tables", "takes a privilege on them")?.unwrap_or_default() {
            let mut row = row.into_iter().map(Option::unwrap_or_default);
            let mut next = || row.next().unwrap_or_default();
            let (name, engine, row_format, options) = (next(), next(), next(), next());
            let mut number = || next().parse().unwrap_or(0);
            let (rows, bytes) = (number(), number());
            // Those of jobs and loads under way come and go.
            if [JOB_PREFIX, staging::PREFIX].iter().any(|prefix| name.starts_with(prefix)) {
                continue;
            }
            let is_versioned = number() == 1;
            let table = Table {
                name,
                engine,
                row_format,
                options,
                rows,
                bytes,
                is_versioned,
                ..Table::default()
            };
            self.tables.push(table);
        }
        Ok(())
    }

    fn read_columns(&mut self, asked: &mut Asked<'_>) -> Result<()> {
        let sql = "SELECT TABLE_NAME, COLUMN_NAME, CHARACTER_SET_NAME, DATA_TYPE, COLLATION_NAME, EXTRA, CHARACTER_OCTET_LENGTH, \
             CHARACTER_MAXIMUM_LENGTH FROM information_schema.COLUMNS WHERE TABLE_SCHEMA = DATABASE() ORDER BY TABLE_NAME, ORDINAL_POSITION";
        let rows = asked.rows(sql, "columns", "takes a privilege on them")?.unwrap_or_default();
        for row in rows {
            let mut row = row.into_iter().map(Option::unwrap_or_default);
            let mut next = || row.next().unwrap_or_default();
            let (table, column, charset, ty) = (next(), next(), next(), next());
            let (collation, extra) = (next(), next());
            let (octets, characters) = (next().parse().ok(), next().parse().ok());
            let in_page = in_page(&ty, octets, octets == characters, self.is_mariadb);
            self.has_timestamps |= ty == "timestamp";
            let Some(table) = self.tables.iter_mut().find(|known| known.name == table) else {
                continue;
            };
            if matches!(charset.as_str(), "utf8" | "utf8mb3") {
                table.narrow.push(column.clone());
            }
            if !collation.is_empty() {
                table.collations.insert(collation);
            }
            if extra.contains("auto_increment") {
                table.counted = Some(column.clone());
            }
            table.columns.push(column);
            table.in_page += in_page;
        }
        Ok(())
    }

    fn read_indexes(&mut self, asked: &mut Asked<'_>) -> Result<()> {
        // An index that no query uses covers none.
        let used = match (self.is_mariadb, self.version) {
            (true, (10, 6.., _) | (11.., ..)) => "IGNORED = 'NO'",
            (false, (8.., ..)) => "IS_VISIBLE = 'YES'",
            _ => "TRUE",
        };
        let sql = format!(
            "SELECT TABLE_NAME, INDEX_NAME, NON_UNIQUE, COLUMN_NAME, SUB_PART, COLLATION, INDEX_TYPE, NULLABLE, {used} \
             FROM information_schema.STATISTICS WHERE TABLE_SCHEMA = DATABASE() \
             ORDER BY TABLE_NAME, INDEX_NAME <> 'PRIMARY', INDEX_NAME, SEQ_IN_INDEX"
        );
        let rows = asked.rows(&sql, "indexes", "takes a privilege on their tables")?;
        for row in rows.unwrap_or_default() {
            let Ok([table, name, is_double, column, part, order, method, nullable, used]) =
                <[Option<String>; 9]>::try_from(row)
            else {
                continue;
            };
            let (table, name) = (table.unwrap_or_default(), name.unwrap_or_default());
            if nullable.as_deref() == Some("YES") {
                self.loose.insert((table.clone(), name.clone()));
            }
            if self.indexes.last().is_none_or(|last| last.table != table || last.name != name) {
                let is_tree = method.as_deref() == Some("BTREE") && used.as_deref() == Some("1");
                self.indexes.push(Index {
                    is_kept: name == "PRIMARY",
                    is_unique: is_double.as_deref() == Some("0"),
                    // A hash finds nothing by its first columns alone, words are found by exactly the columns of their index, and by what
                    // parser is not said here.
                    kind: if is_tree { String::new() } else { format!("kind of {name}") },
                    table,
                    name,
                    columns: Vec::new(),
                });
            }
            if let Some(index) = self.indexes.last_mut() {
                match column {
                    Some(column) => index.columns.push(format!(
                        "{column}\0{}\0{}",
                        part.unwrap_or_default(),
                        order.unwrap_or_default()
                    )),
                    // An expression: whether another one is equal can't be told here.
                    None => index.kind = format!("expression of {}", index.name),
                }
            }
        }
        Ok(())
    }

    /// Looks at the first keys of tables whose primary key is one column that UUIDs fit into.
    fn read_keys(&mut self, asked: &mut Asked<'_>) -> Result<()> {
        let sql = "SELECT c.TABLE_NAME, c.COLUMN_NAME FROM information_schema.COLUMNS c \
             WHERE c.TABLE_SCHEMA = DATABASE() AND c.COLUMN_KEY = 'PRI' \
             AND (c.DATA_TYPE = 'uuid' OR c.CHARACTER_MAXIMUM_LENGTH BETWEEN 16 AND 64)";
        let keyed = asked.rows_if_any(sql)?;
        for row in keyed.into_iter().take(KEYED_MAX) {
            let [Some(name), Some(column)] = row.as_slice() else { continue };
            let of_key = |index: &&Index| index.table == *name && index.name == "PRIMARY";
            let is_alone =
                self.indexes.iter().find(of_key).is_some_and(|index| index.columns.len() == 1);
            if !is_alone {
                continue;
            }
            let sql = format!(
                "SELECT HEX({}) FROM {}.{} LIMIT {KEYS}",
                quote(column),
                quote(&self.schema),
                quote(name)
            );
            let Some(values) = asked.rows(
                &sql,
                &format!("whether the keys of {name} ascend"),
                "takes SELECT on the table",
            )?
            else {
                continue;
            };
            let values: Vec<Vec<u8>> =
                values.into_iter().flatten().flatten().filter_map(|hex| unhex(&hex)).collect();
            if keys::are_random(values.iter().map(Vec::as_slice))
                && let Some(table) = self.tables.iter_mut().find(|table| table.name == *name)
            {
                table.random = Some(column.clone());
            }
        }
        Ok(())
    }

    /// Whether something identifies the table's rows.
    pub(super) fn has_key(&self, table: &Table) -> bool {
        let is_key = |index: &&Index| {
            let name = (index.table.clone(), index.name.clone());
            index.table == table.name && index.is_unique && !self.loose.contains(&name)
        };
        self.indexes.iter().any(|index| is_key(&index))
    }

    /// Whether the table's rows surely fit into pages of InnoDB, of which each holds two, with a key besides.
    pub(super) fn fits_innodb(&self, table: &Table) -> bool {
        let page = self.variable("innodb_page_size").parse().unwrap_or(16 << 10);
        let columns = table.columns.len() as u64;
        // A header, two columns of the engine's own, the key, and a bit for each NULL.
        let bytes = table.in_page + 5 + 13 + 8 + columns.div_ceil(8);
        columns < INNODB_COLUMNS_MAX && bytes < u64::min((page - 132) / 2, 16_383)
    }

    /// Whether an index of the table begins with the column.
    pub(super) fn begins_index(&self, table: &Table, column: &str) -> bool {
        let begins = |index: &Index| {
            let first = index.columns.first().and_then(|column| column.split('\0').next());
            index.table == table.name
                && first.is_some_and(|first| first.eq_ignore_ascii_case(column))
        };
        self.indexes.iter().any(begins)
    }

    /// A global variable; empty where the server doesn't know it.
    pub(super) fn variable(&self, name: &str) -> &str {
        self.variables.get(name).map_or("", String::as_str)
    }

    pub(super) fn knows(&self, name: &str) -> bool {
        self.variables.contains_key(name)
    }

    pub(super) fn number(&self, name: &str) -> Option<u64> {
        self.variable(name).parse().ok()
    }

    pub(super) fn is_on(&self, name: &str) -> bool {
        matches!(self.variable(name), "ON" | "1" | "YES")
    }

    pub(super) fn is_off(&self, name: &str) -> bool {
        matches!(self.variable(name), "OFF" | "0" | "NO")
    }

    /// Whether SET PERSIST exists (<https://dev.mysql.com/doc/refman/8.0/en/persisted-system-variables.html>).
    pub(super) fn persists(&self) -> bool {
        !self.is_mariadb && self.version >= (8, 0, 0) && !self.is_off("persisted_globals_load")
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

    /// A table's name as statements take it, whatever database they run in.
    pub(super) fn sql_name(&self, table: &str) -> String {
        format!("{}.{}", quote(&self.schema), quote(table))
    }

    /// Where its files are, if they are on this machine.
    pub(super) fn folders(&self) -> Vec<PathBuf> {
        if !self.is_here {
            return Vec::new();
        }
        let data = Path::new(self.variable("datadir"));
        let all =
            ["datadir", "innodb_log_group_home_dir", "tmpdir"].map(|name| self.variable(name));
        // What is relative is so to the folder of the data; of several folders for temporary files the first will do.
        all.iter()
            .filter(|folder| !folder.is_empty())
            .map(|folder| data.join(folder.split(':').next().unwrap_or_default()))
            .collect()
    }

    /// The settings that bear on loads.
    pub(super) fn settings(&self) -> Vec<(String, String)> {
        let known = BEARING.iter().filter_map(|&name| Some((name, self.variables.get(name)?)));
        let mut settings: Vec<_> =
            known.map(|(name, value)| (name.to_owned(), value.clone())).collect();
        if self.is_off("log_bin") {
            settings.push(("skip-log-bin".to_owned(), String::new()));
        } else if self.is_on("log_bin") {
            settings.push(("log-bin".to_owned(), "binlog".to_owned()));
            settings.push(("server-id".to_owned(), "1".to_owned()));
        }
        settings
    }
}

/// The bytes that hexadecimal digits stand for.
fn unhex(hex: &str) -> Option<Vec<u8>> {
    let digits = hex.as_bytes().chunks_exact(2);
    let byte = |pair: &[u8]| u8::from_str_radix(std::str::from_utf8(pair).ok()?, 16).ok();
    digits.map(byte).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The most columns that the servers have made tables of.
    #[test]
    fn rows_fit_as_far_as_the_servers_say() {
        for (is_mariadb, ty, octets, most) in [
            (true, "text", Some(65_535), 382),
            (true, "varchar", Some(255), 31),
            (true, "varchar", Some(40), 196),
            (true, "bigint", None, 997),
            (false, "longtext", Some(u64::from(u32::MAX)), 196),
            (false, "json", None, 196),
            (false, "varchar", Some(39), 201),
            (false, "varchar", Some(255), 196),
            (false, "bigint", None, 997),
        ] {
            let seen = Seen::default();
            let of = |columns: usize| Table {
                columns: vec![String::new(); columns],
                in_page: columns as u64 * in_page(ty, octets, false, is_mariadb),
                ..Table::default()
            };
            let what = format!("{ty} {octets:?} {is_mariadb}");
            assert!(seen.fits_innodb(&of(most - 2)), "{what}");
            assert!(!seen.fits_innodb(&of(most + 2)), "{what}");
        }
        assert_eq!(in_page("char", Some(200), true, false), 200);
        assert_eq!(in_page("char", Some(160), false, true), 161);
    }
}
