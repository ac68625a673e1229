//! 336,776 rows of the real world, or the first of them.

use crate::fixture::{Fixture, compare, repository, size};

const ROWS: usize = 336_776;

/// The first of the flights in the test's directory, and their text.
fn bring_flights(fixture: &Fixture, rows: usize) -> String {
    let flights = repository("target/testdata/flights.csv");
    assert!(flights.exists(), "no target/testdata/flights.csv: run `make testdata`");
    let whole = std::fs::read_to_string(flights).unwrap();
    let text: String = whole.split_inclusive('\n').take(rows + 1).collect();
    fixture.write("flights.csv", &text);
    text
}

/// The first of them as text, and as a Parquet file that is made of it.
#[cfg(feature = "parquet")]
pub(crate) fn bring_parquet(fixture: &Fixture, rows: usize) -> String {
    let text = bring_flights(fixture, rows);
    let report = fixture.report(&["flights.csv", "parquet:flights.parquet", "--null", "NA"]);
    assert_eq!(report["rows_loaded"], rows);
    text
}

/// As many as there are where the tests take their time.
#[cfg(feature = "parquet")]
pub(crate) fn rows() -> usize {
    size(30_000, ROWS)
}

#[test]
fn the_flights_are_value_for_value_what_python_reads() {
    let fixture = Fixture::new();
    let rows = size(40_000, ROWS);
    let text = bring_flights(&fixture, rows);
    let report = fixture.report(&["flights.csv", "air.db", "--null", "NA"]);
    assert_eq!(report["rows_loaded"], rows);
    assert_eq!(compare(&fixture, "flights.csv", "air.db", "flights", "NA"), rows as u64);

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
    let is_cancelled = |line: &&str| line.split(',').nth(5) == Some("NA");
    let cancelled = text.lines().filter(is_cancelled).count();
    assert!(cancelled == 8_255 || rows < ROWS && cancelled > 100, "{cancelled}");
    let unknown = fixture.number("air.db", "SELECT count(*) FROM flights WHERE dep_delay IS NULL");
    assert_eq!(unknown, cancelled as i64);
}
