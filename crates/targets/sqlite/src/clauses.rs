//! What the schema itself says becomes of rows that are refused: the ON CONFLICT clauses of a table, and what its triggers say.

use rusqlite::Connection;

use inrush_core::mentions::{Sql, tokens};

/// What a statement that inserts rows into a table has to mind.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) struct Clauses {
    /// The table's own constraints say it, which only an OR clause of the statement overrides.
    pub(super) of_table: bool,
    /// Statements of triggers say it, which such a clause overrides as well (<https://sqlite.org/lang_createtrigger.html>).
    pub(super) of_triggers: bool,
    /// A trigger may leave a row out without refusing it, as RAISE(IGNORE) does.
    pub(super) leave_out: bool,
    /// A refused row, or what its triggers have done, may stay, as with RAISE(FAIL).
    pub(super) keep_refused: bool,
}

impl Clauses {
    pub(super) fn read(connection: &Connection, table: &str) -> rusqlite::Result<Self> {
        let mut schema = connection.prepare(
            "SELECT type, tbl_name = ?1 COLLATE NOCASE, sql FROM sqlite_schema WHERE type IN ('table', 'trigger')",
        )?;
        let mut rows = schema.query([table])?;
        let (mut clauses, mut has_triggers) = (Self::default(), false);
        while let Some(row) = rows.next()? {
            let (kind, is_own, sql): (String, bool, String) =
                (row.get(0)?, row.get(1)?, row.get(2)?);
            let words: Vec<String> =
                tokens(&sql, Sql::Sqlite).map(str::to_ascii_uppercase).collect();
            let says = |word: &str| words.iter().any(|said| said == word);
            let pairs = || words.windows(2).map(|pair| (pair[0].as_str(), pair[1].as_str()));
            // A trigger's statements may have triggers of other tables run, and meet those tables' constraints.
            clauses.keep_refused |= says("FAIL");
            if kind == "trigger" {
                has_triggers |= is_own;
                clauses.leave_out |= is_own && says("IGNORE");
                clauses.of_triggers |= pairs().any(|pair| {
                    matches!(
                        pair,
                        ("OR", "IGNORE" | "REPLACE" | "FAIL" | "ROLLBACK") | ("REPLACE", "INTO")
                    )
                });
            } else if is_own {
                clauses.of_table = pairs().any(|pair| pair == ("ON", "CONFLICT"));
            }
        }
        clauses.keep_refused &= has_triggers;
        clauses.of_triggers &= has_triggers;
        Ok(clauses)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_a_schema_says_of_refused_rows_is_found() {
        let read = |sql: &str| {
            let connection = Connection::open_in_memory().unwrap();
            connection.execute_batch("CREATE TABLE u (a UNIQUE ON CONFLICT FAIL)").unwrap();
            connection.execute_batch(sql).unwrap();
            Clauses::read(&connection, "T").unwrap()
        };
        let none = Clauses::default();
        assert_eq!(
            read("CREATE TABLE t (\"on conflict\" DEFAULT 'or fail' /* ON CONFLICT */)"),
            none
        );
        let table = "CREATE TABLE t (a UNIQUE on\nconflict ignore);";
        assert_eq!(read(table), Clauses { of_table: true, ..none });
        let trigger = |says: &str| {
            let when = "CREATE TRIGGER g BEFORE INSERT ON t BEGIN";
            read(&format!("{table} {when} {says}; END"))
        };
        let of_table = Clauses { of_table: true, keep_refused: true, ..none };
        assert_eq!(trigger("INSERT INTO u VALUES (1)"), of_table);
        let ignores = Clauses { leave_out: true, ..of_table };
        assert_eq!(trigger("SELECT raise(ignore)"), ignores);
        let of_triggers = Clauses { of_triggers: true, ..of_table };
        assert_eq!(trigger("REPLACE INTO u VALUES (1)"), of_triggers);
        assert_eq!(trigger("UPDATE or Fail u SET a = 1"), of_triggers);
    }
}
