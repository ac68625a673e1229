//! DuckDB: a folder beside the file, as of SQLite.

use super::{in_favour_of, measured, names, planned, reasons, some_orders};
use crate::contract::Place as _;
use crate::disk::{Disk, has_mounts_of_its_own};
use crate::duckdb::File;
use crate::servers::ask;

/// Its chunks are larger than others'.
const ROWS: u64 = 3_700;

#[test]
fn what_was_measured_on_duckdb_serves_its_loads() {
    File::for_each(|file| {
        let fixture = file.files();
        some_orders(fixture, ROWS);
        in_favour_of("duckdb/appender", fixture, &["orders.csv", "shop.duckdb"]);
        assert_eq!(names(fixture), ["orders.csv", "out"]);
        let plan = planned(fixture, &["orders.csv", "shop.duckdb"]);
        assert_eq!(plan["strategy"], "duckdb/appender");
        assert!(reasons(&plan).contains("measured here on 20"), "{plan}");
        let report = fixture.report(&["orders.csv", "shop.duckdb", "--profiles", "p.toml"]);
        assert_eq!(report["plan"]["strategy"], "duckdb/appender");
        assert_eq!(report["rows_loaded"], ROWS);
    });
}

#[test]
fn a_database_of_duckdb_that_is_there_stays_as_it_is_to_the_byte() {
    File::for_each(|file| {
        let fixture = file.files();
        some_orders(fixture, ROWS);
        let url = format!("duckdb:{}", fixture.path("shop.duckdb").display());
        for sql in [
            "CREATE SEQUENCE numbers START 5",
            "CREATE TABLE orders (n INTEGER DEFAULT nextval('numbers'), id BIGINT PRIMARY KEY, amount DOUBLE CHECK (amount >= 0), \
             customer VARCHAR, kind ENUM ('it''s') DEFAULT 'it''s', \"up \"\"per\" BIGINT GENERATED ALWAYS AS (id + 1))",
            "CREATE INDEX by_amount ON orders (amount)",
            "INSERT INTO orders (id, amount, customer) VALUES (-1, 1, 'a')",
            "CREATE TABLE lines (order_id BIGINT REFERENCES orders (id))",
            "CREATE SCHEMA more",
            "CREATE SEQUENCE more.numbers",
            "CREATE TABLE more.orders (n INTEGER DEFAULT nextval('more.numbers'), id BIGINT, amount DOUBLE, customer VARCHAR)",
            "INSERT INTO more.orders VALUES (1, -1, 1, 'a')",
            "CHECKPOINT",
        ] {
            ask(&url, sql);
        }
        let before = fixture.read("shop.duckdb");
        let load = ["orders.csv", "shop.duckdb", "--if-exists", "append"];
        let found = measured(fixture, &load);
        assert!(found["key"]["shape"].as_str().unwrap().contains("holds rows"), "{found}");
        assert_eq!(fixture.read("shop.duckdb"), before);
        assert_eq!(names(fixture), ["orders.csv", "out", "shop.duckdb"]);
        let other = measured(fixture, &[&load[..], &["--table", "more.orders"]].concat());
        assert!(other["key"]["shape"].as_str().unwrap().contains("holds rows"), "{other}");
        let again = measured(fixture, &["orders.csv", "shop.duckdb", "--table", "more.new"]);
        assert!(again["key"]["shape"].as_str().unwrap().contains("that the load makes"), "{again}");
        assert_eq!(fixture.read("shop.duckdb"), before);

        // What refers to rows of another table can't be filled without them.
        fixture.write("lines.csv", fixture.read("orders.csv"));
        let only = ["--table", "lines", "--rename", "id=order_id", "--columns", "id"];
        let run = fixture.leaves_all(|| {
            fixture.inrush(&[&["tune", "lines.csv", "shop.duckdb"], &only[..]].concat())
        });
        run.exits(1).says(&["lines refers to rows of another table", "FOREIGN KEY"]);
    });
}

#[test]
fn a_disk_that_duckdb_fills_ends_it_and_leaves_nothing() {
    let test = "tune::duckdb::a_disk_that_duckdb_fills_ends_it_and_leaves_nothing";
    if !has_mounts_of_its_own(test) {
        return;
    }
    File::for_each(|file| {
        let fixture = file.files();
        some_orders(fixture, ROWS);
        std::fs::create_dir(fixture.path("disk")).unwrap();
        let _disk = Disk::over(fixture.path("disk"), "1m");
        let load = ["tune", "orders.csv", "disk/shop.duckdb", "--budget", "5s"];
        let run = fixture.inrush(&[&load[..], &["--profiles", "none"]].concat()).exits(1);
        assert!(run.stderr.contains("No space left") || run.stderr.contains("full"), "{run:?}");
        assert_eq!(fixture.path("disk").read_dir().unwrap().count(), 0);
        assert_eq!(fixture.names(), ["disk", "orders.csv"]);
    });
}
