//! 336,776 rows of the real world.

use crate::fixture::{Fixture, compare, repository, rows};
use crate::servers::{Database, for_each_server};

const ROWS: i64 = 336_776;

/// The flights in the test's directory.
fn bring_flights(fixture: &Fixture) {
    let flights = repository("target/testdata/flights.csv");
    assert!(flights.exists(), "no target/testdata/flights.csv: run `make testdata`");
    std::os::unix::fs::symlink(flights.canonicalize().unwrap(), fixture.path("flights.csv"))
        .unwrap();
}

/// And as a Parquet file that is made of them.
#[cfg(feature = "parquet")]
fn bring_parquet(fixture: &Fixture) {
    bring_flights(fixture);
    let report = fixture.report(&["flights.csv", "parquet:flights.parquet", "--null", "NA"]);
    assert_eq!(report["rows_loaded"], ROWS);
}

#[test]
fn the_flights_are_value_for_value_what_python_reads() {
    let fixture = Fixture::new();
    bring_flights(&fixture);
    let report = fixture.report(&["flights.csv", "air.db", "--null", "NA"]);
    assert_eq!(report["rows_loaded"], ROWS);
    assert_eq!(compare(&fixture, "flights.csv", "air.db", "flights", "NA"), 336_776);

    let columns = report["plan"]["columns"].as_array().unwrap();
    let ty = |name: &str| {
        let column = columns.iter().find(|column| column["name"] == name);
        column.unwrap_or_else(|| panic!("no column {name}"))["type"].as_str().unwrap()
    };
    for name in ["year", "dep_time", "dep_delay", "arr_delay", "flight", "air_time", "distance"] {
        assert_eq!(ty(name), "integer", "{name}");
    }
    for name in ["carrier", "tailnum", "origin", "dest"] {
        assert_eq!(ty(name), "text", "{name}");
    }
    assert!(ty("time_hour").starts_with("timestamp"), "{}", ty("time_hour"));
    // Of those that did not fly the delay is unknown, not 0.
    let cancelled = "SELECT count(*) FROM flights WHERE dep_delay IS NULL";
    assert_eq!(fixture.number("air.db", cancelled), 8_255);
}

#[cfg(feature = "parquet")]
#[test]
fn flights_through_parquet_are_the_same_in_sqlite_and_in_files() {
    let fixture = Fixture::new();
    bring_parquet(&fixture);
    fixture.load(&["flights.csv", "a.db", "--null", "NA"]).exits(0);
    fixture.load(&["flights.parquet", "b.db", "--verify", "checksum"]).exits(0);
    // And once more through each of the files that inrush writes.
    for (file, table) in [("csv:c.csv", "c"), ("jsonl:j.jsonl", "j"), ("parquet:p.parquet", "p")] {
        let path = file.split_once(':').unwrap().1;
        fixture.load(&["flights.parquet", file]).exits(0);
        fixture.load(&[path, "b.db", "--table", table]).exits(0);
    }
    // A moment in UTC may be written in several ways.
    let names: Vec<String> = fixture
        .columns("a.db", "flights")
        .into_iter()
        .map(|(name, _)| match name.as_str() {
            "time_hour" => "strftime('%s', time_hour)".to_owned(),
            _ => format!("typeof({name}), {name}"),
        })
        .collect();
    let names = names.join(", ");
    fixture.sql(
        "b.db",
        &format!(
            "ATTACH '{}' AS a; CREATE TABLE x AS SELECT {names} FROM a.flights",
            fixture.path("a.db").display()
        ),
    );
    for table in ["flights", "c", "j", "p"] {
        let sql = format!(
            "SELECT count(*), (SELECT count(*) FROM (SELECT * FROM x EXCEPT SELECT {names} FROM {table})) FROM {table}"
        );
        assert_eq!(fixture.query("b.db", &sql), rows![[ROWS, 0]], "{table}");
    }
}

/// Loaded from Parquet and from CSV, the tables of a server are the same.
#[cfg(feature = "parquet")]
fn are_the_same_on_a_server<D: Database>() {
    for_each_server::<D>(|server| {
        bring_parquet(server);
        server.load(&["flights.csv", "--table", "a", "--null", "NA"]).exits(0);
        server.load(&["flights.parquet", "--table", "b", "--verify", "checksum"]).exits(0);
        let different = "SELECT (SELECT count(*) FROM b), count(*) FROM (SELECT * FROM a EXCEPT SELECT * FROM b) x";
        let number = |number: i64| Some(number.to_string());
        assert_eq!(server.query(different), [[number(ROWS), number(0)]], "{}", server.name());
    });
}

#[cfg(all(feature = "parquet", feature = "postgres"))]
#[test]
fn flights_through_parquet_are_the_same_in_postgres() {
    are_the_same_on_a_server::<crate::postgres::server::Postgres>();
}

#[cfg(all(feature = "parquet", feature = "mysql"))]
#[test]
fn flights_through_parquet_are_the_same_in_mysql() {
    are_the_same_on_a_server::<crate::mysql::server::MySql>();
}

#[cfg(all(feature = "parquet", feature = "duckdb"))]
#[test]
fn flights_through_parquet_are_the_same_in_duckdb() {
    let Some(fixture) = crate::duckdb::fixture() else { return };
    bring_parquet(&fixture);
    fixture.load(&["flights.csv", "t.duckdb", "--table", "a", "--null", "NA"]).exits(0);
    fixture.load(&["flights.parquet", "t.duckdb", "--table", "b", "--verify", "checksum"]).exits(0);
    for (one, other) in [("a", "b"), ("b", "a")] {
        let sql = format!(
            "SELECT (SELECT count(*) FROM b), count(*) FROM (SELECT * FROM {one} EXCEPT ALL SELECT * FROM {other})"
        );
        assert_eq!(crate::duckdb::lines(&fixture, "t.duckdb", &sql), [format!("{ROWS}|0")]);
    }
}

#[cfg(all(feature = "parquet", feature = "mongodb"))]
#[test]
fn flights_through_parquet_are_the_same_in_mongodb() {
    use crate::mongodb::server::Mongodb;
    for_each_server::<Mongodb>(|server| {
        bring_parquet(server);
        let load = ["flights.parquet", "--table", "b", "--verify", "checksum"];
        let report = server.report(&load);
        assert_eq!(report["rows_loaded"], ROWS);
        server.load(&["flights.csv", "--table", "a", "--null", "NA"]).exits(0);
        let all = |name| {
            let find = format!(
                r#"{{"find": "{name}", "sort": {{"_id": 1}}, "projection": {{"_id": 0}}, "limit": 20000}}"#
            );
            server.query(&find)
        };
        let (a, b) = (all("a"), all("b"));
        assert_eq!(a.len(), 20_000);
        assert!(a == b, "documents differ");
    });
}
