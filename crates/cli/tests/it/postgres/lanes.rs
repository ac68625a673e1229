use crate::contract::Place as _;
use crate::fixture::{Outcome, finish, some, start, wait_until, wait_until_it_waits};
use crate::servers::OnDrop;

use super::proxy::{Proxy, Trick};
use super::server::{Extras, Server, for_each_private_server, for_each_server, rows};

const STRATEGIES: [&str; 7] =
    ["copy-binary", "copy-text", "copy-server", "unnest", "values", "prepared", "row-sql"];

/// Many small chunks for several connections.
fn over<'a>(strategy: &'a str, lanes: &'a str) -> [&'a str; 6] {
    ["--strategy", strategy, "--lanes", lanes, "--chunk-size", "1k"]
}

#[test]
fn of_two_rows_with_one_key_the_later_one_in_the_file_is_the_bad_one() {
    for_each_server(|server| {
        let row = |id: usize| match id {
            900 => "10,late\n".to_owned(),
            _ => format!("{id},name {id}\n"),
        };
        let text: String = (1..=1000).map(row).collect();
        server.write("t.csv", format!("id,name\n{text}"));
        let ways = STRATEGIES.into_iter().zip(["2", "4", "3", "2", "1", "2", "3"]);
        for (strategy, lanes) in some(ways.collect()) {
            for indexes in ["indexes=before", "indexes=after"] {
                let key = ["t.csv", "--primary-key", "id", "--set", indexes];
                let load = [&key[..], &over(strategy, lanes)].concat();
                let refused = server.refuses(&load);
                if indexes.ends_with("before") {
                    refused.says(&["t.csv: line 901"]);
                }
                if indexes.ends_with("after") {
                    continue;
                }
                server.load(&[&load[..], &["--max-rejects", "1"]].concat()).exits(3);
                assert_eq!(server.read("t.rejects.csv"), b"id,name\n10,late\n", "{strategy}");
                let stored = server.query("SELECT count(*), min(id), max(id) FROM t");
                assert_eq!(stored, rows![[999, 1, 1000]], "{strategy}");
                assert_eq!(server.query("SELECT name FROM t WHERE id = 10"), rows![["name 10"]]);
                server.drop_table("t");
                for file in ["t.rejects.csv", "t.rejects.csv.jsonl"] {
                    std::fs::remove_file(server.path(file)).unwrap();
                }
            }
        }
        // Nobody has said how: the same row is the bad one.
        let load = ["t.csv", "--primary-key", "id", "--lanes", "3", "--chunk-size", "1k"];
        server.refuses(&load).says(&["t.csv: line 901"]);
    });
}

#[test]
fn several_connections_share_the_work() {
    for_each_server(|server| {
        let text: String = (1..=4000).map(|id| format!("{id},{}\n", "x".repeat(50))).collect();
        server.write("t.csv", format!("id,name\n{text}"));
        let report =
            server.report(&["t.csv", "--lanes", "3", "--chunk-size", "4k", "--verify", "checksum"]);
        assert_eq!(report["plan"]["lanes"], 3);
        assert_eq!(server.query("SELECT count(*), sum(id) FROM t"), rows![[4000, 8_002_000]]);
        // An existing table is written to over one.
        let append = ["t.csv", "--if-exists", "append", "--lanes", "2"];
        let report = server.report(&append);
        assert_eq!(report["plan"]["lanes"], 1);
        let warnings = report["warnings"].to_string();
        assert!(warnings.contains("--lanes 2") && warnings.contains("can use 1"), "{warnings}");
    });
}

#[test]
fn a_load_goes_on_with_the_connection_that_has_looked_at_the_table() {
    for_each_server(|server| {
        server.write("t.csv", "id\n1\n");
        let proxy = Proxy::start(&server.address, Trick::Nothing);
        let url = server.url_at(&proxy.address);
        for (loads, if_exists) in (1..).zip(["fail", "append", "truncate", "replace"]) {
            server.inrush(&["load", "t.csv", &url, "--if-exists", if_exists]).exits(0);
            assert_eq!(proxy.connections(), loads, "{if_exists}");
        }
        // A job has one that holds its lock besides; publishing reads the ledger over one, and copies rows over another.
        let begun = server.inrush(&["job", "begin", &url, "--table", "j", "--like", "t.csv"]);
        server.write("job.json", begun.exits(0).stdout);
        let written = server.inrush(&["job", "write", "job.json", "t.csv"]).exits(0);
        server.write("token.json", written.stdout);
        server.inrush(&["job", "publish", "job.json", "token.json"]).exits(0);
        assert_eq!(proxy.connections(), 4 + 1 + 2 + 3);
        assert_eq!(server.count("j"), 1);
    });
}

#[test]
fn a_connection_that_ends_before_the_rows_come_is_made_again() {
    for_each_server(|server| {
        server.drop_table("t");
        let child = start(&mut server.command(&["load", "-", &server.url(), "--table", "t"]));
        wait_until("the load has connected", || !server.connections().is_empty());
        // Until it has looked at the table, and waits for rows.
        wait_until_it_waits(&child);
        server.end_connections();
        server.wait_until_alone();
        Outcome::of("load".to_owned(), finish(child, b"id\n1\n2\n")).exits(0);
        assert_eq!(server.count("t"), 2);
    });
}

#[test]
fn more_connections_than_the_server_has_room_for() {
    let few = [("max_connections", "8"), ("max_wal_senders", "0")];
    let extras = Extras { settings: &few, ..Extras::default() };
    for_each_private_server(
        |_| true,
        extras,
        |_, server| {
            let text: String = (1..=2000).map(|id| format!("{id}\n")).collect();
            server.write("t.csv", format!("id\n{text}"));
            let run = server.refuses(&["t.csv", "--lanes", "20", "--chunk-size", "1k"]);
            run.says(&["too many clients", "--lanes 1"]);
            server.wait_until_alone();
            server.load(&["t.csv", "--lanes", "3", "--chunk-size", "1k"]).exits(0);
            assert_eq!(server.count("t"), 2000);
            assert_eq!(server.tables(), ["t"]);
        },
    );
}

/// Runs `work` with a URL for a user of this test who may do what is granted, and nothing else.
fn with_user(server: &Server, grants: &[&str], work: impl FnOnce(&str)) {
    let user = format!("u{}", server.database);
    server.sql(&format!("CREATE ROLE {user} LOGIN"));
    let _gone =
        OnDrop(|| server.try_sql(&format!("DROP OWNED BY {user} CASCADE; DROP ROLE {user}")));
    for grant in grants {
        server.sql(&format!("GRANT {grant} TO {user}"));
    }
    work(&server.url_of(&user));
}

const TABLE: &str =
    "CREATE TABLE t (id int PRIMARY KEY, name text); INSERT INTO t VALUES (0, 'old')";

#[test]
fn rights_that_are_missing_are_named() {
    for_each_server(|server| {
        server.write("t.csv", "id,name\n1,a\n").sql(TABLE);
        let cases = [
            // No right to make tables.
            (&[][..], &["--table", "new"][..], "permission denied for schema public"),
            (&["SELECT ON t"], &["--if-exists", "append"], "permission denied for table t"),
            // The existing rows have to be counted.
            (&["INSERT ON t"], &["--if-exists", "append"], "permission denied for table t"),
            // Others may not empty it.
            (
                &["SELECT, INSERT ON t"],
                &["--if-exists", "truncate"],
                "permission denied for table t",
            ),
            (&["SELECT, INSERT ON t"], &["--on-conflict", "update"], "permission denied"),
        ];
        for (grants, options, words) in cases {
            with_user(server, grants, |url| {
                let append = options.contains(&"update").then_some(["--if-exists", "append"]);
                let load =
                    [&["t.csv"][..], options, append.as_ref().map_or(&[][..], |more| &more[..])];
                let run = server.refuses_at(url, &load.concat());
                run.says(&[words, "ask for that privilege"]);
            });
        }
        // Or put another one in its place.
        with_user(server, &["ALL ON t", "CREATE ON SCHEMA public"], |url| {
            let run = server.refuses_at(url, &["t.csv", "--if-exists", "replace"]);
            run.says(&["table t, and this user is not its owner", "--if-exists append"]);
        });
    });
}

#[test]
fn a_user_who_may_read_and_write_the_table_needs_no_more() {
    for_each_server(|server| {
        server.write("t.csv", "id,name\n1,a\nx,b\n0,c\n2,d\n");
        let database = &server.database;
        server.sql(&format!("REVOKE TEMPORARY ON DATABASE {database} FROM public"));
        for strategy in some(STRATEGIES.to_vec()) {
            if strategy == "copy-server" {
                continue;
            }
            server.drop_table("t").sql(TABLE);
            with_user(server, &["SELECT, INSERT ON t"], |url| {
                let load = ["t.csv", "--if-exists", "append", "--max-rejects", "2"];
                let load = [&load[..], &["--strategy", strategy, "--verify", "checksum"]].concat();
                server.load_at(url, &load).exits(3);
            });
            let expected = rows![[0, "old"], [1, "a"], [2, "d"]];
            assert_eq!(server.query("SELECT * FROM t ORDER BY id"), expected, "{strategy}");
        }
        // With temporary tables, or without.
        server.drop_table("t").sql(TABLE);
        with_user(server, &["SELECT, INSERT, UPDATE ON t"], |url| {
            let load = ["t.csv", "--if-exists", "append", "--on-conflict", "update"];
            server.load_at(url, &[&load[..], &["--max-rejects", "1"]].concat()).exits(3);
        });
        let expected = rows![[0, "c"], [1, "a"], [2, "d"]];
        assert_eq!(server.query("SELECT * FROM t ORDER BY id"), expected);
    });
}

#[test]
fn a_user_who_may_not_have_the_server_read_files_is_told_so() {
    for_each_server(|server| {
        server.write("t.csv", "id,name\n1,a\n").sql(TABLE);
        with_user(server, &["SELECT, INSERT ON t"], |url| {
            let load = ["t.csv", "--if-exists", "append", "--strategy", "copy-server"];
            let run = server.leaves_everything(|| server.load_at(url, &load));
            run.exits(2).says(&["pg_read_server_files"]);
        });
    });
}

#[test]
fn rights_to_columns_are_enough_for_rows_that_repeat_a_key() {
    for_each_server(|server| {
        let rows: String = (0..40).map(|line| format!("1,{line}\n")).collect();
        server.write("t.csv", format!("k,a\n{rows}"));
        server.sql("CREATE TABLE t (k int PRIMARY KEY, a int, b int)");
        with_user(server, &["SELECT (k, a), INSERT (k, a), UPDATE (k, a) ON t"], |url| {
            let load = ["t.csv", "--if-exists", "append", "--on-conflict", "update"];
            server.load_at(url, &load).exits(0);
        });
        assert_eq!(server.query("SELECT k, a FROM t"), rows![[1, 39]]);
    });
}

#[test]
fn a_user_with_few_connections_has_lanes_for_them() {
    for_each_server(|server| {
        let text: String = (1..=9000).map(|id| format!("{id},{}\n", "x".repeat(500))).collect();
        server.write("t.csv", format!("id,name\n{text}"));
        for (limit, lanes) in [(1, 1), (2, 1), (4, 2)] {
            with_user(server, &["CREATE, USAGE ON SCHEMA public"], |url| {
                let user = format!("u{}", server.database);
                server.sql(&format!("ALTER ROLE {user} CONNECTION LIMIT {limit}"));
                let report = server.load_at(url, &["t.csv", "--json"]).exits(0).json();
                assert_eq!(report["plan"]["lanes"], lanes, "{limit}");
                server.wait_until_alone();
            });
        }
    });
}
