use super::server::{Server, for_each_server, rows};
use crate::fixture::some;

const AFTER: [&str; 2] = ["--set", "indexes=after"];
const BEFORE: [&str; 2] = ["--set", "indexes=before"];

/// Keys and indexes of table t, by name.
fn made(server: &Server) -> Vec<String> {
    let rows = server.query(
        "SELECT replace(pg_get_indexdef(indexrelid), 'public.', '') FROM pg_index WHERE indrelid = 't'::regclass AND indisvalid \
         ORDER BY indexrelid::regclass::text",
    );
    rows.into_iter().flatten().flatten().collect()
}

fn file() -> String {
    let rows: String = (1..=300).map(|id| format!("{id},{},text {}\n", id % 10, id % 7)).collect();
    format!("id,ten,Seven\n{rows}")
}

#[test]
fn keys_and_indexes_are_named_as_if_made_by_hand() {
    for_each_server(|server| {
        server.write("t.csv", file());
        server.sql(
            "CREATE TABLE t (id bigint, ten bigint, \"Seven\" text); ALTER TABLE t ADD PRIMARY KEY (id, ten);
             CREATE INDEX ON t (ten, \"Seven\"); CREATE INDEX ON t (\"Seven\"); CREATE INDEX ON t (\"Seven\")",
        );
        let right = made(server);
        assert!(
            right[0].contains(" t_Seven_idx ") || right[0].contains("\"t_Seven_idx\""),
            "{right:?}"
        );
        server.drop_table("t");
        for way in some(server.ways_into_new()) {
            for set in [AFTER, BEFORE] {
                let load = [
                    "t.csv",
                    "--primary-key",
                    "id,ten",
                    "--index",
                    "ten,seven",
                    "--index",
                    "seven",
                    "--index",
                    "seven",
                ];
                let report = server.report(&[&load[..], &set, &way.options()].concat());
                assert_eq!(
                    report["seconds"]["index"].as_f64() > Some(0.0),
                    set == AFTER,
                    "{way:?} {set:?}"
                );
                assert_eq!(made(server), right, "{way:?} {set:?}");
                let constraint = server.query("SELECT conname FROM pg_constraint WHERE conrelid = 't'::regclass AND contype = 'p'");
                assert_eq!(constraint, rows![["t_pkey"]], "{way:?} {set:?}");
                server.sql("SET enable_seqscan = off");
                assert_eq!(
                    server.query(
                        "SELECT count(*), sum(id) FROM t WHERE ten = 3 AND \"Seven\" = 'text 0'"
                    ),
                    rows![[4, 672]]
                );
                server.drop_table("t");
            }
        }
        server.misused(&["t.csv", "--index", "eleven"]).says(&["eleven"]);
        // For an existing table they are its owner's business.
        server.sql("CREATE TABLE t (id int, ten int, seven text)");
        server.misused(&["t.csv", "--index", "id"]).says(&["--index"]);
    });
}

#[test]
fn names_that_are_taken_get_a_number() {
    for_each_server(|server| {
        server.write("t.csv", file());
        server.sql("CREATE TABLE t_pkey (id int); CREATE TABLE t_ten_idx (id int); CREATE VIEW t_ten_idx1 AS SELECT 1");
        for way in some(server.ways_into_new()) {
            let load = ["t.csv", "--primary-key", "id", "--index", "ten"];
            server.load(&[&load[..], &way.options()].concat()).exits(0);
            let names = server.query("SELECT indexrelid::regclass FROM pg_index WHERE indrelid = 't'::regclass ORDER BY 1::text");
            let mut names: Vec<_> = names.into_iter().flatten().flatten().collect();
            names.sort();
            assert_eq!(names, ["t_pkey1", "t_ten_idx2"], "{way:?}");
            server.drop_table("t");
        }
    });
}

#[test]
fn names_as_long_as_names_can_be() {
    for_each_server(|server| {
        // 63 bytes, and a character of two at the place where it would be cut.
        let table = format!("{}\u{e9}{}", "t".repeat(56), "x".repeat(5));
        let quoted = format!("\"{table}\"");
        server.write("t.csv", file());
        for way in some(server.ways_into_new()) {
            let load = ["t.csv", "--table", &quoted, "--primary-key", "id", "--index", "ten"];
            server.load(&[&load[..], &way.options()].concat()).exits(0);
            assert_eq!(
                server.number(&format!("SELECT count(*) FROM {quoted} WHERE id > 0")),
                300,
                "{way:?}"
            );
            let names = server.query(&format!("SELECT indexrelid::regclass::text FROM pg_index WHERE indrelid = '{quoted}'::regclass"));
            for name in names.into_iter().flatten().flatten() {
                let name = name.trim_matches('"');
                assert!(
                    name.starts_with(&"t".repeat(50))
                        && (name.ends_with("_pkey") || name.ends_with("_idx")),
                    "{name}"
                );
            }
            server.sql(&format!("DROP TABLE {quoted}"));
        }
        let longer = format!("\"{table}x\"");
        server.misused(&["t.csv", "--table", &longer]).says(&["64 bytes"]);
    });
}

#[test]
fn a_replaced_table_has_the_keys_that_were_asked_for_under_its_own_names() {
    for_each_server(|server| {
        server.write("t.csv", file());
        server.sql("CREATE TABLE t (id int PRIMARY KEY, ten int); CREATE INDEX ON t (ten); INSERT INTO t VALUES (1, 1)");
        for way in some(server.ways_into_new()) {
            let load = ["t.csv", "--primary-key", "id", "--index", "ten", "--if-exists", "replace"];
            server.load(&[&load[..], &way.options()].concat()).exits(0);
            let right = [
                "CREATE UNIQUE INDEX t_pkey ON t USING btree (id)",
                "CREATE INDEX t_ten_idx ON t USING btree (ten)",
            ];
            assert_eq!(made(server), right, "{way:?}");
            assert_eq!(server.count("t"), 300);
        }
    });
}

#[test]
fn indexes_of_a_table_that_is_there_stay_as_they_are() {
    for_each_server(|server| {
        server.write("t.csv", file());
        server.sql(
            "CREATE TABLE t (id int PRIMARY KEY, ten int NOT NULL, \"Seven\" text, EXCLUDE USING hash (\"Seven\" WITH =) WHERE (id > 1000));
             CREATE INDEX odd ON t USING brin (ten); CREATE INDEX lower ON t ((lower(\"Seven\")) text_pattern_ops DESC) INCLUDE (id)
                WHERE ten > 3;
             CREATE STATISTICS two ON ten, id FROM t",
        );
        let before = server.state()["public.t"].0.clone();
        for way in some(server.ways_into_used()) {
            for word in ["truncate", "append"] {
                server.sql("TRUNCATE t");
                let load = ["t.csv", "--verify", "checksum", "--if-exists", word];
                server.load(&[&load[..], &way.options()].concat()).exits(0);
                assert_eq!(server.state()["public.t"].0, before, "{way:?}");
                assert_eq!(server.count("t"), 300);
            }
        }
    });
}

#[test]
fn a_value_that_no_index_takes_is_a_bad_row() {
    for_each_server(|server| {
        // Digits that no compression makes short.
        let mut state = 7_u64;
        let mut word = || {
            state = state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1);
            format!("{:016x}", state ^ (state >> 29))
        };
        let long: String = (0..900).map(|_| word()).collect();
        server.write("t.csv", format!("k,n\na,1\n{long},2\nb,3\n"));
        for keys in [["--primary-key", "k"], ["--index", "k"]] {
            for lanes in ["1", "2"] {
                let load = [&["t.csv", "--type", "k=text", "--lanes", lanes], &keys[..]].concat();
                server.refuses(&load).says(&["t.csv: line 3", "index row", "54000"]);
                server.load(&[&load[..], &["--max-rejects", "1"]].concat()).exits(3);
                assert_eq!(server.query("SELECT k FROM t ORDER BY k"), rows![["a"], ["b"]]);
                server.drop_table("t");
            }
        }
    });
}
