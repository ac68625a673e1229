//! 336,776 rows of the real world.

use crate::fixture::{Fixture, compare, repository};

const ROWS: i64 = 336_776;

/// The flights in the test's directory.
fn bring_flights(fixture: &Fixture) {
    let flights = repository("target/testdata/flights.csv");
    assert!(flights.exists(), "no target/testdata/flights.csv: run `make testdata`");
    std::os::unix::fs::symlink(flights.canonicalize().unwrap(), fixture.path("flights.csv"))
        .unwrap();
}

/// The first of them as text, and as a Parquet file that is made of it.
#[cfg(feature = "parquet")]
pub(crate) fn bring_parquet(fixture: &Fixture, rows: usize) -> String {
    let whole = fixture.path("whole.csv");
    bring_flights(fixture);
    std::fs::rename(fixture.path("flights.csv"), &whole).unwrap();
    let whole = std::fs::read_to_string(whole).unwrap();
    let text: String = whole.split_inclusive('\n').take(rows + 1).collect();
    fixture.write("flights.csv", &text);
    let report = fixture.report(&["flights.csv", "parquet:flights.parquet", "--null", "NA"]);
    assert_eq!(report["rows_loaded"], rows);
    text
}

/// As many as there are where the tests take their time.
#[cfg(feature = "parquet")]
pub(crate) fn rows() -> usize {
    crate::fixture::size(30_000, ROWS as usize)
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
