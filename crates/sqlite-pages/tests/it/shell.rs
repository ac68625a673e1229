use std::process::Command;

use inrush_sqlite_pages::PageSize;

use crate::assembler::{Cell, Column, Layout, RootPage, Table, assemble};

#[test]
fn the_systems_sqlite_reads_it() {
    let version = Command::new("sqlite3").arg("--version").output();
    let Ok(version) = version else {
        eprintln!("SKIPPED: there is no `sqlite3` in the path");
        return;
    };
    assert!(version.status.success());
    for size in PageSize::ALL {
        let row = |i: i64| {
            let text = Cell::Text("long text ".repeat(i as usize * 37 % 1999));
            (i, vec![Cell::Null, Cell::Real(i as f64 / 2.0), text])
        };
        let columns = [Column::Key, Column::Real, Column::Text];
        let table = Table::new(&columns, (1..=1000).map(row).collect());
        let length: usize = (1..=1000).map(|i| i * 37 % 1999 * 10).sum();
        let layout = Layout { size, run_rows: 100, root: RootPage::First };
        let file = assemble(layout, std::slice::from_ref(&table));
        let sql = "PRAGMA integrity_check;
            SELECT count(*), sum(c0), sum(c1), sum(length(c2)), min(typeof(c1)), max(typeof(c1))
                FROM t;
            DELETE FROM t WHERE c0 % 3 = 0; INSERT INTO t(c2) VALUES('new'); VACUUM;
            PRAGMA integrity_check; SELECT count(*) FROM t;";
        let shell =
            Command::new("sqlite3").args(["-batch", "-bail"]).arg(file.path()).arg(sql).output();
        let shell = shell.expect("the shell runs");
        let expected = format!("ok\n1000|500500|250250.0|{length}|real|real\nok\n668\n");
        assert_eq!(String::from_utf8_lossy(&shell.stdout), expected);
        assert_eq!(String::from_utf8_lossy(&shell.stderr), "");
    }
}
