use inrush_sqlite_pages::{PageSize, SchemaRow};

use crate::assembler::{Assembler, Cell, Column, Layout, Table, TempFile, assemble};
use crate::oracle::{check, check_integrity, open};

/// The text of a table grows by a byte at a time, past what fits on page 1 and past X.
#[test]
fn text_of_every_length() {
    for size in [PageSize::ALL[0], PageSize::ALL[1]] {
        for length in 1..size.bytes() + 40 {
            let mut table = Table::of_one_column([Cell::Integer(length as i64)]);
            // SQLite takes names of any length; three times, once in the statement.
            table.name = "n".repeat(length.div_ceil(3));
            table.columns = vec![Column::Any; 1 + length % 3];
            table.rows[0].1.resize(1 + length % 3, Cell::Null);
            let file = assemble(Layout::of(size), std::slice::from_ref(&table));
            let connection = open(file.path());
            check_integrity(&connection);
            crate::oracle::check_rows(&connection, &table, &table.rows);
        }
    }
}

#[test]
fn widest_table() {
    let columns: Vec<Column> = (0..2000).map(|i| [Column::Any, Column::Real][i % 2]).collect();
    let row = |rowid: i64| (rowid, (0..2000).map(|i| Cell::Real(f64::from(i) / 2.0)).collect());
    let table = Table::new(&columns, (1..20).map(row).collect());
    for size in PageSize::ALL {
        check(
            assemble(Layout::of(size), std::slice::from_ref(&table)).path(),
            std::slice::from_ref(&table),
            7,
        );
    }
}

/// So many tables that the schema's root is an interior page, of one, two and three levels.
#[test]
fn many_tables() {
    for size in [PageSize::ALL[0], PageSize::ALL[3], PageSize::ALL[7]] {
        for count in [1, 2, 3, 4, 5, 8, 20, 50, 200, 1000] {
            let tables: Vec<Table> = (0..count)
                .map(|i| {
                    let mut table = Table::of_one_column([Cell::Integer(i)]);
                    table.name = format!("table_{i}_{}", "x".repeat(i as usize % 100));
                    table
                })
                .collect();
            let file = assemble(Layout::of(size), &tables);
            let connection = open(file.path());
            check_integrity(&connection);
            for table in &tables {
                crate::oracle::check_rows(&connection, table, &table.rows);
            }
            connection
                .execute_batch("CREATE TABLE another(a); DROP TABLE table_0_; VACUUM")
                .expect("life");
            check_integrity(&connection);
        }
    }
}

#[test]
fn no_table() {
    for size in PageSize::ALL {
        let file = TempFile::new();
        Assembler::new(Layout::of(size), file.path()).finish(&[]);
        let connection = open(file.path());
        check_integrity(&connection);
        connection.execute_batch("CREATE TABLE t(a); INSERT INTO t VALUES(1)").expect("a table");
        check_integrity(&connection);
    }
}

/// Page 1 is used to its last byte before another one is.
#[test]
fn page_one_is_filled() {
    let size = PageSize::ALL[0];
    for length in 370..400 {
        let sql = "s".repeat(length);
        let row =
            SchemaRow { kind: "table", name: "t", table_name: "t", root_page: 2, sql: Some(&sql) };
        let schema = inrush_sqlite_pages::schema(size, &[row], 3);
        // 2 bytes of payload length, 1 of rowid, 7 of record header, 8 of other values.
        let cell = 2 + 1 + 7 + 8 + length;
        let fits = 100 + 8 + 2 + cell <= size.bytes();
        assert_eq!(schema.page_one[100], if fits { 0x0d } else { 0x05 }, "{length}");
        assert_eq!(schema.pages.is_empty(), fits);
    }
}

/// What the header says, as SQLite reads it.
#[test]
fn header_fields() {
    for size in PageSize::ALL {
        let table = Table::of_one_column([Cell::Null]);
        let file = assemble(Layout::of(size), &[table]);
        let connection = open(file.path());
        let pragma = |name: &str| {
            let ask = format!("PRAGMA {name}");
            let answer: rusqlite::types::Value =
                connection.query_row(&ask, [], |row| row.get(0)).expect("an answer");
            match answer {
                rusqlite::types::Value::Integer(number) => number.to_string(),
                rusqlite::types::Value::Text(text) => text,
                other => panic!("{other:?}"),
            }
        };
        assert_eq!(pragma("page_size"), size.bytes().to_string());
        let answers = [
            ("page_count", "2"),
            ("encoding", "UTF-8"),
            ("journal_mode", "delete"),
            ("auto_vacuum", "0"),
            ("application_id", "0"),
            ("user_version", "0"),
            ("schema_version", "1"),
            ("freelist_count", "0"),
        ];
        for (name, answer) in answers {
            assert_eq!(pragma(name), answer, "{name}");
        }
    }
}

/// A row of the schema without SQL, which is what an automatic index has.
#[test]
fn a_row_without_sql() {
    let row = SchemaRow { kind: "index", name: "i", table_name: "t", root_page: 3, sql: None };
    let schema = inrush_sqlite_pages::schema(PageSize::ALL[0], &[row], 4);
    // Payload and rowid; header length and serial types; the values, the last one NULL.
    let cell = [&[14, 1][..], &[6, 0x17, 15, 15, 1, 0], b"indexit\x03"].concat();
    assert!(schema.pages.is_empty());
    assert_eq!(schema.next_page(), 4);
    assert!(schema.page_one.ends_with(&cell));
    assert!(schema.page_one[..100].iter().all(|byte| *byte == 0));
}
