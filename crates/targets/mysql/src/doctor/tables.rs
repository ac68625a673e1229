//! Rules of tables.

use inrush_core::doctor::indexes::{Index, covered_where};
use inrush_core::doctor::{Check, Found, Rule, Severity};
use inrush_core::wording::counted;

use super::seen::{Seen, Table};
use crate::ddl::quote;

const WRITES_TABLE: &str =
    "the statement writes the whole table anew, and may shut out writers meanwhile";

/// Whether the other column of an index finds all that this one does: the same, or with more of its values' beginnings.
fn serves(own: &str, other: &str) -> bool {
    let parts = |column: &str| {
        let mut parts = column.split('\0').map(str::to_owned);
        (parts.next(), parts.next().and_then(|part| part.parse::<u64>().ok()), parts.next())
    };
    let ((name, part, order), (other_name, other_part, other_order)) = (parts(own), parts(other));
    let has_more = match (part, other_part) {
        (_, None) => true,
        (None, Some(_)) => false,
        (Some(part), Some(other_part)) => part <= other_part,
    };
    name == other_name && order == other_order && has_more
}

pub(super) static CHECKS: &[Check<Seen>] = &[
    Check {
        rule: Rule {
            id: "table-without-transactions",
            severity: Severity::Risk,
            reads: "information_schema.TABLES",
            finds: "a table of MyISAM, or of Aria with TRANSACTIONAL=0, that has rows",
            why: "a crash leaves it damaged or without its last rows, and nothing is undone when a statement fails halfway",
            source: "https://dev.mysql.com/doc/refman/8.0/en/converting-tables-to-innodb.html",
            change: "ALTER TABLE ... ENGINE=InnoDB, with an invisible key where there is none; one with AUTO_INCREMENT needs an index that begins \
                     with that column, one with system versioning another table, and one of more or longer columns than a row of InnoDB \
                     has room for other columns",
            risk: "the statement writes the whole table anew and locks it meanwhile; an InnoDB table takes more room, and can't be part of a \
                   MERGE table",
        },
        look: |seen| {
            let is_meant = |table: &&Table| {
                let is_aria = table.engine == "aria" && table.options.contains("transactional=0");
                (table.engine == "myisam" || is_aria) && table.rows > 0
            };
            let found = |table: &Table| {
                let engine =
                    if table.engine == "aria" { "Aria, TRANSACTIONAL=0" } else { "MyISAM" };
                let is = format!("{engine}, {}", counted(table.rows, "row"));
                let object = format!("table {}", table.name);
                if !seen.fits_innodb(table) {
                    return Found::new(
                        object,
                        is,
                        "InnoDB, whose rows have no room for all of its columns",
                    );
                }
                let found = Found::new(object, is, "InnoDB");
                // InnoDB counts by an index that begins with the column; of history the server lets nothing be written anew.
                let counts = |column: &String| seen.begins_index(table, column);
                if table.is_versioned || !table.counted.as_ref().is_none_or(counts) {
                    return found;
                }
                let mut sql = format!("ALTER TABLE {} ENGINE=InnoDB", seen.sql_name(&table.name));
                if table.options.contains("row_format=") {
                    sql.push_str(", ROW_FORMAT=DYNAMIC");
                }
                // What has no key would be named for that next.
                if let Some(key) = key_column(seen, table).filter(|_| !seen.has_key(table)) {
                    sql = format!("{sql}, {key}");
                }
                found.statement(sql)
            };
            seen.tables.iter().filter(is_meant).map(found).collect()
        },
    },
    Check {
        rule: Rule {
            id: "redundant-index",
            severity: Severity::Slow,
            reads: "information_schema.STATISTICS",
            finds: "an index of the kind BTREE whose columns, or beginnings of columns, are those of another one that queries use, or begin them",
            why: "every row is written into both indexes, and the other one answers all that this one can",
            source: "https://dev.mysql.com/doc/refman/8.0/en/sys-schema-redundant-indexes.html",
            change: "ALTER TABLE ... DROP INDEX",
            risk: "a query that names it in an index hint fails",
        },
        look: |seen| {
            let found = |(index, other): (&Index, &Index)| {
                let table = seen.sql_name(&index.table);
                Found::new(
                    format!("index {} of table {}", index.name, index.table),
                    format!("covered by {}", other.name),
                    "no index",
                )
                .statement(format!("ALTER TABLE {table} DROP INDEX {}", quote(&index.name)))
                .tried_on(Some(&index.table))
            };
            covered_where(&seen.indexes, serves).into_iter().map(found).collect()
        },
    },
    Check {
        rule: Rule {
            id: "random-key",
            severity: Severity::Slow,
            reads: "the first 100 keys",
            finds: "a primary key of one column of which nine tenths are UUIDs of a version other than 6 and 7",
            why: "InnoDB keeps rows in the key's order: each new one goes to another page, which is read, split and written by itself once the \
                  table is larger than the buffer pool",
            source: "https://dev.mysql.com/doc/refman/8.0/en/innodb-index-types.html",
            change: "the program that makes the keys: AUTO_INCREMENT, or UUIDs of version 7, which ascend",
            risk: "keys of existing rows stay as they are",
        },
        look: |seen| {
            let found = |table: &Table| {
                let column = table.random.as_ref().filter(|_| table.engine == "innodb")?;
                let is = format!("{column} holds random UUIDs");
                Some(Found::new(format!("table {}", table.name), is, "keys that ascend"))
            };
            seen.tables.iter().filter_map(found).collect()
        },
    },
    Check {
        rule: Rule {
            id: "row-format",
            severity: Severity::Slow,
            reads: "information_schema.TABLES",
            finds: "ROW_FORMAT=COMPRESSED",
            why: "every page is compressed when it is written, again when it overflows, and kept twice in the buffer pool",
            source: "https://dev.mysql.com/doc/refman/8.0/en/innodb-compression-tuning.html",
            change: "ALTER TABLE ... ROW_FORMAT=DYNAMIC KEY_BLOCK_SIZE=0",
            risk: "the table takes more room; the statement writes all of it anew",
        },
        look: |seen| {
            let is_meant = |table: &&Table| {
                // A KEY_BLOCK_SIZE beside another format is ignored.
                table.engine == "innodb" && table.row_format == "compressed"
            };
            let found = |table: &Table| {
                let sql = format!(
                    "ALTER TABLE {} ROW_FORMAT=DYNAMIC KEY_BLOCK_SIZE=0",
                    seen.sql_name(&table.name)
                );
                Found::new(format!("table {}", table.name), "COMPRESSED", "DYNAMIC")
                    .statement(sql)
                    .tried_on(Some(&table.name))
            };
            seen.tables.iter().filter(is_meant).map(found).collect()
        },
    },
    Check {
        rule: Rule {
            id: "table-without-key",
            severity: Severity::Note,
            reads: "information_schema.STATISTICS",
            finds: "an InnoDB table without a primary key, and without a unique one over columns that are NOT NULL",
            why: "InnoDB numbers its rows by a counter that all such tables share; a row that comes twice is not noticed, and a replica reads \
                  the whole table for each changed row",
            source: "https://dev.mysql.com/doc/refman/8.0/en/create-table-gipks.html",
            change: "ALTER TABLE ... ADD PRIMARY KEY, or an invisible column that numbers the rows",
            risk: WRITES_TABLE,
        },
        look: |seen| {
            let is_meant = |table: &&Table| table.engine == "innodb" && !seen.has_key(table);
            let found = |table: &Table| {
                let found = Found::new(format!("table {}", table.name), "no key", "a primary key");
                match key_column(seen, table) {
                    Some(key) => {
                        found.statement(format!("ALTER TABLE {} {key}", seen.sql_name(&table.name)))
                    }
                    None => found,
                }
            };
            seen.tables.iter().filter(is_meant).map(found).collect()
        },
    },
    Check {
        rule: Rule {
            id: "utf8mb3",
            severity: Severity::Note,
            reads: "information_schema.COLUMNS",
            finds: "columns in the character set utf8mb3",
            why: "characters outside the Basic Multilingual Plane, such as emoji, do not fit: a strict server refuses their rows, another cuts \
                  the text off",
            source: "https://dev.mysql.com/doc/refman/8.0/en/charset-unicode-utf8mb3.html",
            change: "ALTER TABLE ... CONVERT TO CHARACTER SET utf8mb4 with the same collation where all columns have one; else MODIFY each column",
            risk: "the statement writes the whole table anew, and TEXT becomes MEDIUMTEXT; an index over long texts may become too wide, and \
                   columns of a foreign key have to change together",
        },
        look: |seen| {
            let found = |table: &Table| {
                let is = format!("utf8mb3 in {}", table.narrow.join(", "));
                let found = Found::new(format!("table {}", table.name), is, "utf8mb4");
                // The statement changes all columns, and without a collation to another one: keys and comparisons would not be what they were.
                match wide_collation(table) {
                    Some(collation) => found.statement(format!(
                        "ALTER TABLE {} CONVERT TO CHARACTER SET utf8mb4 COLLATE {collation}",
                        seen.sql_name(&table.name)
                    )),
                    None => found,
                }
            };
            seen.tables.iter().filter(|table| !table.narrow.is_empty()).map(found).collect()
        },
    },
];

/// The collation of four bytes that compares as that of all the table's columns does.
fn wide_collation(table: &Table) -> Option<String> {
    let mut all = table.collations.iter();
    let (Some(one), None) = (all.next(), all.next()) else { return None };
    let rule = one.strip_prefix("utf8mb3_").or_else(|| one.strip_prefix("utf8_"))?;
    // MySQL 5.1's mistake was not repeated.
    (rule != "general_mysql500_ci" && !table.is_versioned).then(|| format!("utf8mb4_{rule}"))
}

/// What adds a key: a column that no query sees and that numbers the rows, where the server has such.
fn key_column(seen: &Seen, table: &Table) -> Option<String> {
    // There can be one column that counts; a key of a partitioned table has what it is divided by, too.
    if table.counted.is_some() || table.is_versioned || table.options.contains("partitioned") {
        return None;
    }
    let is_possible = match seen.is_mariadb {
        true => seen.version >= (10, 3, 0),
        false => seen.version >= (8, 0, 23),
    };
    let names = std::iter::once("my_row_id".to_owned())
        .chain((2..100).map(|number| format!("my_row_id_{number}")));
    let is_free =
        |name: &String| !table.columns.iter().any(|column| column.eq_ignore_ascii_case(name));
    let name = names.into_iter().find(is_free).filter(|_| is_possible)?;
    let name = quote(&name);
    Some(format!(
        "ADD COLUMN {name} BIGINT UNSIGNED NOT NULL AUTO_INCREMENT INVISIBLE PRIMARY KEY FIRST"
    ))
}
