//! 336,776 rows of the real world.

use crate::fixture::{Fixture, compare, repository};

#[test]
fn the_flights_are_value_for_value_what_python_reads() {
    let flights = repository("target/testdata/flights.csv");
    assert!(flights.exists(), "no target/testdata/flights.csv: run `make testdata`");
    let fixture = Fixture::new();
    std::os::unix::fs::symlink(flights.canonicalize().unwrap(), fixture.path("flights.csv"))
        .unwrap();
    let report = fixture.report(&["flights.csv", "air.db", "--null", "NA"]);
    assert_eq!(report["rows_loaded"], 336_776);
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
