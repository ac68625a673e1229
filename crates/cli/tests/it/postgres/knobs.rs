use crate::fixture::some;

use super::server::{Server, Way, for_each_server, rows};

/// A strategy, the setting of a knob, and what has to be asked for besides.
type Case = (&'static str, &'static str, &'static [&'static str]);

const NEW: [Case; 14] = [
    ("copy-binary", "freeze=on", &["--lanes", "1"]),
    ("copy-text", "freeze=on", &["--lanes", "1"]),
    ("copy-server", "freeze=off", &["--lanes", "1"]),
    ("copy-binary", "freeze=off", &["--lanes", "3"]),
    ("copy-binary", "unlogged=on", &["--lanes", "1"]),
    ("copy-text", "unlogged=on", &["--lanes", "2"]),
    ("values", "unlogged=on", &["--lanes", "1"]),
    ("copy-binary", "synchronous_commit=remote_write", &[]),
    ("unnest", "synchronous_commit=off", &["--durability", "none"]),
    ("values", "rows_per_statement=1", &[]),
    ("copy-binary", "rows_per_statement=7", &["--lanes", "2"]),
    ("unnest", "rows_per_statement=1000000", &[]),
    ("prepared", "rows_per_transaction=1", &[]),
    ("row-sql", "rows_per_transaction=100", &[]),
];

/// 500 rows.
fn write(server: &Server) {
    let rows: String = (1..=500).map(|id| format!("{id},{}\n", id % 100)).collect();
    server.write("t.csv", format!("id,n\n{rows}"));
}

#[test]
fn every_knob_leaves_the_same_table() {
    for_each_server(|server| {
        write(server);
        let persistence = "SELECT relpersistence FROM pg_class WHERE oid = 't'::regclass";
        for (strategy, set, more) in NEW {
            let load = [
                "t.csv",
                "--strategy",
                strategy,
                "--set",
                set,
                "--primary-key",
                "id",
                "--chunk-size",
                "1k",
            ];
            server.load(&[&load[..], more, &["--verify", "checksum"]].concat()).exits(0);
            let stored = server.query("SELECT count(*), sum(id), sum(n) FROM t");
            assert_eq!(stored, rows![[500, 125_250, 24_750]], "{strategy} {set}");
            // Whatever it was while the rows came.
            assert_eq!(server.query(persistence), rows![["p"]], "{strategy} {set}");
            assert_eq!(server.tables(), ["t"], "{strategy} {set}");
            server.drop_table("t");
        }
    });
}

#[test]
fn a_table_that_is_truncated_takes_frozen_rows_and_bad_ones_are_found_without() {
    for_each_server(|server| {
        write(server);
        let load = ["t.csv", "--if-exists", "truncate", "--set"];
        server.sql("CREATE TABLE t (id int PRIMARY KEY, n int); INSERT INTO t VALUES (1000, 1)");
        server.load(&[&load[..], &["freeze=on"]].concat()).exits(0);
        assert_eq!(server.count("t"), 500);
        server
            .misused(&[
                "t.csv",
                "--strategy",
                "copy-binary",
                "--if-exists",
                "append",
                "--set",
                "freeze=on",
            ])
            .says(&["freeze=on"]);
        server.sql("TRUNCATE t; ALTER TABLE t ADD CHECK (n > 0)");
        server.refuses(&[&load[..], &["freeze=on"]].concat()).says(&["refused"]);
        server
            .refuses(&[&load[..], &["freeze=off"]].concat())
            .says(&["t.csv: line 101", "t_n_check"]);
        server.load(&["t.csv", "--if-exists", "truncate", "--max-rejects", "5"]).exits(3);
        assert_eq!(server.count("t"), 495);
    });
}

#[test]
fn rows_that_are_committed_on_the_way_are_told() {
    for_each_server(|server| {
        write(server);
        let ways = server.ways_into_used().into_iter();
        let ways = ways.filter(|way: &Way| !way.strategy.contains("copy"));
        for way in some(ways.collect()) {
            server.sql("CREATE TABLE t (id int PRIMARY KEY, n int CHECK (id <> 350))");
            for rows in ["100", "1"] {
                let set = format!("rows_per_transaction={rows}");
                let load =
                    ["t.csv", "--set", &set, "--strategy", &way.strategy, "--chunk-size", "1k"];
                server.plan(&load).exits(0).prints(&["committed on the way"]);
                let run = server.load(&load).exits(1).says(&["t.csv: line 351"]);
                let last = run.stderr.lines().last().unwrap();
                let stayed = server.count("t");
                // All the others, where the lane was through before the load heard of the bad row.
                let whole = stayed % rows.parse::<i64>().unwrap() == 0 || stayed == 499;
                assert!(stayed > 0 && whole, "{stayed} {way:?}");
                assert!(
                    last.contains(&format!("{stayed} rows")) && last.contains("stay"),
                    "{last}"
                );
                server.sql("TRUNCATE t");
            }
            server.drop_table("t");
        }
    });
}
