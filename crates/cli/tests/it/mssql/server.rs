//! What the double is a double of: the same contract, where `INRUSH_TEST_MSSQL` names a database that tests may make tables in.

use super::STRATEGIES;
use crate::fixture::Fixture;

const VARIABLE: &str = "INRUSH_TEST_MSSQL";

/// The server; none, and a word about it, where nobody has named any.
pub(super) fn named() -> Option<String> {
    let url = std::env::var(VARIABLE).ok().filter(|url| !url.is_empty());
    if url.is_none() {
        eprintln!(
            "SKIPPED: no SQL Server to test with: set {VARIABLE} to mssql://user:password@host:1433/database"
        );
    }
    url
}

/// Values of every type that a table is made with, and of text that is easily changed on its way.
const FILE: &str = "id,whole,real,exact,truth,day,at,zoned,text\n\
    1,-9223372036854775808,1.7976931348623157e308,12.340,true,2024-02-29,2024-02-29 01:02:03.4,2024-02-29T01:02:03+02:00,it's\n\
    2,9223372036854775807,2.2250738585072014e-308,0.5,false,0001-01-01,9999-12-31 23:59:59.9999999,2024-02-29T01:02:03Z,\"a\\\nb\"\n\
    3,0,-0.1,-99.999,true,9999-12-31,0001-01-01 00:00:00,0001-01-02T00:00:00+14:00,\"\"\n\
    4,,,,,,,,\n\
    5,1,0.1,1.5,true,2000-01-01,2000-01-01 00:00:00,2000-01-01T00:00:00Z,\u{1f600} \u{e9}\n";

#[test]
fn a_server_keeps_what_the_double_keeps() {
    let Some(url) = named() else { return };
    for strategy in STRATEGIES {
        let table = format!("inrush_test_{}_{}", std::process::id(), strategy.replace('-', "_"));
        let fixture = Fixture::new();
        fixture.write("t.csv", FILE).write("bad.csv", "id,whole\n6,1\n1,2\n7,3\n");
        let options = ["--strategy", strategy, "--table", &table, "--verify", "checksum"];
        let load = |more: &[&str]| fixture.load(&[more, &options, &[url.as_str()]].concat());
        load(&["t.csv", "--primary-key", "id", "--if-exists", "replace"]).exits(0);
        // The row with a duplicate key, and no other, is rejected.
        load(&["bad.csv", "--if-exists", "append", "--max-rejects", "1"]).exits(3);
        assert_eq!(fixture.read("bad.rejects.csv"), b"id,whole\n1,2\n");
        // And without leave for it, nothing changes.
        load(&["bad.csv", "--if-exists", "append"]).exits(1).ends_with_nothing_changed();
        load(&["t.csv", "--if-exists", "truncate"]).exits(0);
    }
}
