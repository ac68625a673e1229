//! What an existing table is, as far as only a load that writes its file has to know.
//!
//! Its place is taken by a hidden table that the server makes like it (`CREATE TABLE ... LIKE`), so that it has to be known what of
//! such a table is not in the pages that are written here, or not checked where they are written.

use std::collections::{BTreeMap, BTreeSet};

use crate::ddl::literal;
use crate::indexes;
use crate::session::{Failure, Session};

/// An existing table.
#[derive(Debug, Default)]
pub(crate) struct Existing {
    /// What it has that a file written without the server lacks, or would break.
    pub(super) obstacle: Option<String>,
    /// The collations of its texts, by column.
    collations: BTreeMap<String, String>,
    /// Columns that are something else than NULL where a row says nothing of them.
    defaults: BTreeSet<String>,
}

impl Existing {
    /// Reads it.
    ///
    /// # Errors
    /// When the server can't be asked.
    pub(crate) fn read(session: &mut Session<'_>, table: &str) -> Result<Self, Failure> {
        let create = indexes::show(session, table)?;
        // MariaDB shows defaults as SQL, so that NULL is one and the text 'NULL' has quotes.
        let rows = session.table(&format!(
            "SELECT COLUMN_NAME, COLLATION_NAME, IS_NULLABLE = 'NO' \
             OR COLUMN_DEFAULT IS NOT NULL AND NOT (COLUMN_DEFAULT = 'NULL' AND VERSION() LIKE '%MariaDB%') \
             FROM information_schema.COLUMNS WHERE TABLE_SCHEMA = DATABASE() AND TABLE_NAME = {}",
            literal(table)
        ))?;
        let mut existing = Self { obstacle: obstacle(&create), ..Self::default() };
        for row in rows {
            let mut row = row.into_iter();
            let name = row.next().flatten().unwrap_or_default();
            if let Some(collation) = row.next().flatten() {
                existing.collations.insert(name.clone(), collation.to_ascii_lowercase());
            }
            if row.next().flatten().as_deref() == Some("1") {
                existing.defaults.insert(name);
            }
        }
        Ok(existing)
    }

    /// The collation of a column's texts; empty where it has none.
    pub(super) fn collation(&self, column: &str) -> &str {
        self.collations.get(column).map_or("", String::as_str)
    }

    /// Whether a row that says nothing of the column has NULL in it.
    pub(super) fn may_be_left_out(&self, column: &str) -> bool {
        !self.defaults.contains(column)
    }
}

/// What stands in the way, by what SHOW CREATE TABLE says.
fn obstacle(create: &str) -> Option<String> {
    let is_known = |part: &String| {
        ["NOT NULL on ", "DEFAULT of ", "COMMENT of ", "ON UPDATE of ", "INDEX "]
            .iter()
            .any(|known| part.starts_with(known))
            || part.strip_prefix("PRIMARY KEY (").is_some_and(is_plain_key)
    };
    let beside = indexes::beside_columns(create);
    if let Some(part) = beside.into_iter().find(|part| !is_known(part)) {
        return Some(format!("the table has {part}"));
    }
    let options = indexes::options(create).to_ascii_uppercase();
    let row_format = options.split_once("ROW_FORMAT=").map(|(_, format)| format);
    if let Some(format) = row_format.filter(|format| !format.starts_with("DYNAMIC")) {
        let format = format.split(' ').next().unwrap_or_default();
        return Some(format!("the table has ROW_FORMAT={format}, and it takes DYNAMIC"));
    }
    ["ENCRYPT", "COMPRESS", "KEY_BLOCK_SIZE", "TABLESPACE", "DIRECTORY", "SYSTEM VERSIONING"]
        .into_iter()
        .find(|option| options.contains(option))
        .map(|option| format!("the table has the option {option}"))
}

/// Whether a key has its columns whole, and ascending.
fn is_plain_key(columns: &str) -> bool {
    columns
        .strip_suffix(')')
        .is_some_and(|columns| !columns.contains('(') && !columns.contains(" DESC"))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_a_file_has_not_is_an_obstacle() {
        let table = |parts: &str, options: &str| {
            format!(
                "CREATE TABLE `t` (\n  `a` int(11) NOT NULL,\n  {parts}\n) ENGINE=InnoDB {options}"
            )
        };
        for (parts, options, wanted) in [
            (
                "`b` varchar(9) DEFAULT NULL COMMENT 'x) UNIQUE',\n  PRIMARY KEY (`a`),\n  KEY `k` (`b`)",
                "DEFAULT CHARSET=utf8mb4",
                None,
            ),
            (
                "PRIMARY KEY (`a`)",
                "DEFAULT CHARSET=utf8mb4 ROW_FORMAT=DYNAMIC COMMENT='ENCRYPTED'",
                None,
            ),
            ("PRIMARY KEY (`a`(10))", "", Some("PRIMARY KEY (a(10))")),
            ("PRIMARY KEY (`a` DESC)", "", Some("PRIMARY KEY (a DESC)")),
            ("UNIQUE KEY `u` (`a`)", "", Some("UNIQUE KEY u (a)")),
            ("FULLTEXT KEY `f` (`a`)", "", Some("FULLTEXT KEY f (a)")),
            (
                "`g` int(11) GENERATED ALWAYS AS (`a` + 1) STORED",
                "",
                Some("the generated column g"),
            ),
            ("CONSTRAINT `c` CHECK (`a` > 1)", "", Some("CONSTRAINT c CHECK (a > 1)")),
            ("`j` longtext CHECK (json_valid(`j`))", "", Some("CHECK of j")),
            ("`n` int(11) NOT NULL AUTO_INCREMENT", "", Some("AUTO_INCREMENT of n")),
            ("PRIMARY KEY (`a`)", "ROW_FORMAT=COMPRESSED", Some("ROW_FORMAT=COMPRESSED")),
            ("PRIMARY KEY (`a`)", "`PAGE_COMPRESSED`=1", Some("COMPRESS")),
            ("PRIMARY KEY (`a`)", "/*!80016 ENCRYPTION='Y' */", Some("ENCRYPT")),
            ("PRIMARY KEY (`a`)", "PARTITION BY HASH (`a`)", Some("its partitions")),
        ] {
            let found = obstacle(&table(parts, options));
            match wanted {
                None => assert_eq!(found, None, "{parts} {options}"),
                Some(wanted) => assert!(
                    found.as_ref().is_some_and(|found| found.contains(wanted)),
                    "{parts} {options}: {found:?}"
                ),
            }
        }
    }
}
