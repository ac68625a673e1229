use std::io::Write as _;

use crate::fixture::{some, start, wait_until};

use super::server::{Server, alone_on_each_server, for_each_server, for_some_servers, rows};

const AFTER: [&str; 2] = ["--set", "indexes=after"];
const BEFORE: [&str; 2] = ["--set", "indexes=before"];

/// Strategies with the knob, over one connection or over two.
fn ways() -> Vec<[&'static str; 6]> {
    let ways = [("load-data", "2"), ("load-data-server", "1"), ("values", "2"), ("prepared", "1")]
        .map(|(strategy, lanes)| ["--strategy", strategy, "--lanes", lanes, "--chunk-size", "1k"]);
    some(ways.to_vec())
}

/// SHOW CREATE TABLE in lines.
fn made(server: &Server) -> Vec<String> {
    let text = server.state()["t"].0[0][1].clone().unwrap();
    text.lines().map(|line| line.trim_end_matches(',').to_owned()).collect()
}

fn sorted(mut lines: Vec<String>) -> Vec<String> {
    lines.sort();
    lines
}

/// What plain indexes can have, in this version.
fn plain(server: &Server) -> Vec<&'static str> {
    let mut keys = vec![
        "KEY odd (u) USING HASH COMMENT 'odd, (x) it''s \\\\'",
        "KEY `b``t, (` (n(5), u) USING BTREE",
        "KEY f (f(7))",
        "KEY kb (u, id) KEY_BLOCK_SIZE=8",
        "KEY again (u, id)",
    ];
    if server.is_mariadb {
        keys.extend(["KEY ignored (u) IGNORED", "KEY falls (n DESC, u)"]);
    } else if server.version >= (8, 0) {
        keys.extend(["KEY unseen (u) INVISIBLE", "KEY falls (n DESC, u)"]);
    }
    keys
}

/// Keys that stay where they are, and columns for them.
fn others(server: &Server) -> Vec<&'static str> {
    let new = server.version >= (8, 0);
    let mut keys = vec!["KEY counts (id)", "KEY counts_too (id, u)", "UNIQUE KEY un (u, n)"];
    if server.version >= (5, 6) {
        keys.push("FULLTEXT KEY words (f)");
    }
    if server.is_mariadb || server.version >= (5, 7) {
        keys.extend(["v INT GENERATED ALWAYS AS (u + 1) VIRTUAL", "KEY v (u, v)"]);
    }
    if new {
        keys.extend(["g POINT NOT NULL DEFAULT (POINT(1, 1))", "SPATIAL KEY place (g)"]);
    }
    if new && !server.is_mariadb {
        keys.extend(["KEY lower ((LOWER(n)), u)", "CHECK (u >= 0)"]);
    }
    keys
}

fn create(keys: &[&str]) -> String {
    format!(
        "CREATE TABLE t (id INT NOT NULL AUTO_INCREMENT, u INT, n VARCHAR(60) NOT NULL COMMENT 'a, `b` (c) it''s', f TEXT, {})
         ENGINE=InnoDB DEFAULT CHARACTER SET utf8mb4",
        keys.join(", ")
    )
}

fn file() -> String {
    let rows: String =
        (1..=400).map(|id| format!("{id},{},name {id},some words\n", id % 7)).collect();
    format!("id,u,n,f\n{rows}")
}

#[test]
fn plain_indexes_are_the_same_and_in_order_whenever_they_are_built() {
    for_each_server(|server| {
        server.write("t.csv", file());
        let keys = [vec!["PRIMARY KEY (id)", "UNIQUE KEY un (u, n)"], plain(server)].concat();
        server.sql(&create(&keys));
        let before = made(server);
        for way in ways() {
            for (set, empties) in [(AFTER, false), (AFTER, true), (BEFORE, true)] {
                let if_exists = if empties { "truncate" } else { "empty" };
                let load = ["t.csv", "--verify", "checksum", "--if-exists", if_exists];
                let report = server.report(&[&load[..], &way, &set].concat());
                let what = format!("{way:?} {set:?} on {}", server.name);
                assert_eq!(report["seconds"]["index"].as_f64() > Some(0.0), set == AFTER, "{what}");
                assert_eq!(made(server), before, "{what}");
                let by_index = "SELECT COUNT(*), SUM(id) FROM t FORCE INDEX (odd) WHERE u = 3";
                assert_eq!(server.query(by_index), rows![[57, 11343]], "{what}");
                let check = server.query("CHECK TABLE t");
                assert_eq!(check.last().unwrap()[3].as_deref(), Some("OK"), "{what}: {check:?}");
            }
            server.sql("DELETE FROM t");
        }
    });
}

#[test]
fn keys_of_every_kind_are_there_after_a_load() {
    for_each_server(|server| {
        server.write("t.csv", file());
        for first in [&[][..], &["PRIMARY KEY (n(10), id)"], &["PRIMARY KEY (id)"]] {
            server.drop_table("t").sql(&create(&[first, &others(server), &plain(server)].concat()));
            let before = sorted(made(server));
            for way in ways() {
                let load = ["t.csv", "--if-exists", "truncate"];
                let report = server.report(&[&load[..], &way, &AFTER].concat());
                let what = format!("{way:?} on {}", server.name);
                assert!(report["seconds"]["index"].as_f64() > Some(0.0), "{what}");
                assert_eq!(sorted(made(server)), before, "{what}");
                assert_eq!(server.count("t"), 400, "{what}");
            }
        }
    });
}

#[test]
fn partitions_and_engines_that_gain_nothing() {
    for_each_server(|server| {
        server.write("t.csv", file());
        let keys = [vec!["PRIMARY KEY (id)"], plain(server)].concat();
        let few = ["PRIMARY KEY (id)", "KEY u (u)"];
        for (table, gains) in [
            (create(&keys) + " PARTITION BY HASH (id) PARTITIONS 3", true),
            (create(&few).replace("InnoDB", "MyISAM"), false),
            (create(&["PRIMARY KEY (id)"]), false),
        ] {
            server.drop_table("t").sql(&table);
            let before = made(server);
            let load = ["t.csv", "--durability", "none"];
            let report = server.report(&[&load[..], &AFTER].concat());
            assert_eq!(report["seconds"]["index"].as_f64() > Some(0.0), gains, "{table}");
            assert_eq!(made(server), before, "{table} on {}", server.name);
            assert_eq!(server.count("t"), 400);
        }
    });
}

#[test]
fn rows_that_repeat_a_unique_key_are_bad_rows_whatever_is_built_after_them() {
    for_some_servers(|server| {
        server.write("t.csv", "id,u,n,f\n1,1,a,\n2,2,b,\n3,1,a,\n4,4,d,\n2,5,e,\n");
        let keys = [vec!["PRIMARY KEY (id)", "UNIQUE KEY un (u, n)"], plain(server)].concat();
        server.sql(&create(&keys)).sql("INSERT INTO t VALUES (9, 9, 'old', NULL)");
        let before = made(server);
        for way in ways() {
            let load = [&["t.csv", "--if-exists", "truncate"], &way[..], &AFTER].concat();
            server.refuses(&load).says(&["t.csv: line 4"]);
            server.load(&[&load[..], &["--max-rejects", "2"]].concat()).exits(3);
            assert_eq!(server.read("t.rejects.csv"), b"id,u,n,f\n3,1,a,\n2,5,e,\n", "{way:?}");
            assert_eq!(server.query("SELECT id FROM t ORDER BY id"), rows![[1], [2], [4]]);
            assert_eq!(made(server), before, "{way:?} on {}", server.name);
        }
    });
}

#[test]
fn few_rows_meet_indexes_that_are_there_and_the_user_has_the_last_word() {
    for_some_servers(|server| {
        let long = "x".repeat(100);
        let rows: String = (1..=45_000).map(|id| format!("{id},{id},name,{long}\n")).collect();
        server.write("few.csv", file()).write("t.csv", format!("id,u,n,f\n{rows}"));
        server.sql(&create(&["PRIMARY KEY (id)", "KEY u (u)", "KEY n (n)"]));
        let plan = |args: &[&str]| {
            let plan = server.plan(&[args, &["--table", "t", "--json"]].concat()).exits(0).json();
            let told = plan["reasons"].to_string().contains("2 indexes are built after the rows");
            (plan["knobs"]["indexes"].as_str().unwrap().to_owned(), told)
        };
        let (after, before) = (("after".to_owned(), true), ("before".to_owned(), false));
        assert_eq!(plan(&["few.csv"]), before);
        assert_eq!(plan(&[&["few.csv"], &AFTER[..]].concat()), after);
        assert_eq!(plan(&["t.csv"]), after);
        assert_eq!(plan(&[&["t.csv"], &BEFORE[..]].concat()), before);
        let report = server.report(&["t.csv"]);
        assert!(report["seconds"]["index"].as_f64() > Some(0.0));
        // Now it holds rows.
        assert_eq!(plan(&["t.csv", "--if-exists", "append"]), before);
        let append = [&["t.csv", "--if-exists", "append"], &AFTER[..]].concat();
        server.misused(&append).says(&["indexes=after takes a hidden table"]);
        // A new table has those that were asked for, before its rows or after.
        for (set, is_after) in [(AFTER, true), (BEFORE, false)] {
            let load = ["few.csv", "--table", "new", "--index", "u,id", "--index", "id"];
            let report = server.report(&[&load[..], &set].concat());
            assert_eq!(report["seconds"]["index"].as_f64() > Some(0.0), is_after, "{set:?}");
            let made = server.query(
                "SELECT COLUMN_NAME AS c FROM information_schema.STATISTICS WHERE TABLE_SCHEMA = DATABASE()
                 AND TABLE_NAME = 'new' ORDER BY INDEX_NAME, SEQ_IN_INDEX",
            );
            assert_eq!(made, rows![["id"], ["u"], ["id"]], "{set:?} on {}", server.name);
            server.drop_table("new");
        }
    });
}

#[test]
fn an_index_that_somebody_adds_or_drops_during_a_load_is_not_lost() {
    for_some_servers(|server| {
        for change in ["ADD KEY late (n)", "DROP KEY u"] {
            server.drop_table("t").sql(&create(&["PRIMARY KEY (id)", "KEY u (u)"]));
            let url = server.url();
            let args = ["load", "-", &url, "--table", "t", "--set", "indexes=after"];
            let mut child = start(&mut server.command(&args));
            let mut input = child.stdin.take().unwrap();
            let rows: String = (1..200_000).map(|id| format!("{id},{id},name,\n")).collect();
            input.write_all(format!("id,u,n,f\n{rows}").as_bytes()).unwrap();
            wait_until("a hidden table", || !server.hidden().is_empty());
            server.wait_for_rows();
            server.sql(&format!("ALTER TABLE t {change}"));
            let changed = made(server);
            drop(input);
            let run = child.wait_with_output().unwrap();
            let said = String::from_utf8_lossy(&run.stderr);
            assert_eq!(run.status.code(), Some(1), "{said}");
            assert!(said.contains("table t has other columns or indexes"), "{said}");
            assert!(said.trim_end().ends_with("nothing changed in the target"), "{said}");
            assert_eq!(made(server), changed, "{change} on {}", server.name);
            assert_eq!(server.count("t"), 0);
        }
    });
}

#[test]
fn servers_that_spell_names_otherwise() {
    alone_on_each_server(|server| {
        server.write("t.csv", file());
        let keys = [vec!["PRIMARY KEY (id)"], plain(server)].concat();
        server.sql(&create(&keys));
        let before = made(server);
        let load = [&["t.csv", "--if-exists", "truncate"], &AFTER[..]].concat();
        let loads = || {
            let report = server.report(&load);
            assert!(report["seconds"]["index"].as_f64() > Some(0.0), "{}", server.name);
            assert_eq!(made(server), before, "{}", server.name);
        };
        server.with_global("sql_mode", "'ANSI_QUOTES,NO_BACKSLASH_ESCAPES'", loads);
        server.with_global("sql_quote_show_create", "0", loads);
    });
}
