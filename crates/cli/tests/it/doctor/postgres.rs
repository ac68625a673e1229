//! PostgreSQL.

use inrush_servers::Server as Private;
use serde_json::{Value as Json, json};

use super::{answer, named, statements};
use crate::fixture::{Fixture, wait_until};
use crate::postgres::server::Postgres;
use crate::servers::{Extras, Server, for_each_private_server, for_each_server};

/// What doctor says of the server's database.
fn examined(server: &Server<Postgres>, code: i32) -> Json {
    answer(&server.inrush(&["doctor", &server.url(), "--json"]).exits(code))
}

#[test]
fn five_bad_settings_are_named_and_are_gone_after_the_statements() {
    for_each_private_server::<Postgres>(
        |_| true,
        Extras::default(),
        |_, server| {
            for setting in [
                "fsync = off",
                "full_page_writes = off",
                "checkpoint_timeout = '1min'",
                "max_parallel_maintenance_workers = 0",
                "statement_timeout = '1h'",
            ] {
                server.query(&format!("ALTER SYSTEM SET {setting}"));
            }
            server.query("SELECT pg_reload_conf()");
            let found = examined(server, 3);
            assert_eq!(
                named(&found),
                [
                    "risk fsync",
                    "risk full_page_writes",
                    "slow checkpoint_timeout",
                    "slow max_parallel_maintenance_workers",
                    "note statement_timeout",
                ]
            );
            for sql in statements(&found) {
                server.query(&sql);
            }
            assert_eq!(named(&examined(server, 0)), [""; 0]);
        },
    );
}

#[test]
fn what_a_role_or_a_database_has_set_is_reset_there() {
    for_each_private_server::<Postgres>(
        |_| true,
        Extras::default(),
        |_, server| {
            let database = server.query("SELECT current_database()")[0][0].clone().unwrap();
            for setting in ["statement_timeout = '1h'", "session_replication_role = replica"] {
                server.query(&format!("ALTER ROLE ALL SET {setting}"));
            }
            server.query("ALTER ROLE postgres SET synchronous_commit = off");
            server.query(&format!("ALTER DATABASE {database} SET zero_damaged_pages = on"));
            server.query(&format!(
                "ALTER ROLE postgres IN DATABASE {database} SET log_statement = 'all'"
            ));
            let found = examined(server, 3);
            assert_eq!(
                named(&found),
                [
                    "risk zero_damaged_pages",
                    "risk session_replication_role",
                    "slow log_statement",
                    "note synchronous_commit",
                    "note statement_timeout"
                ]
            );
            let is = |at: usize| found["findings"][at]["is"].as_str().unwrap().to_owned();
            assert_eq!(is(0), format!("on, by ALTER DATABASE \"{database}\""));
            assert_eq!(is(1), "replica, by ALTER ROLE ALL");
            assert_eq!(is(3), "off, by ALTER ROLE \"postgres\"");
            for sql in statements(&found) {
                server.query(&sql);
            }
            assert_eq!(named(&examined(server, 0)), [""; 0]);
        },
    );
}

/// What a connection brings along, no statement of the server's changes.
#[test]
fn what_the_connection_sets_is_said_and_no_statement_proposed() {
    for_each_server::<Postgres>(|server| {
        let url = format!("{}&options=-c%20synchronous_commit%3Doff", server.url());
        let found = answer(&server.inrush(&["doctor", &url, "--json"]).exits(0));
        assert_eq!(named(&found), ["note synchronous_commit"]);
        let finding = &found["findings"][0];
        assert_eq!(finding["is"], "off, by the options of the connection");
        assert_eq!((&finding["statements"], &finding["file_lines"]), (&json!([]), &json!([])));
    });
}

#[test]
fn an_index_of_a_partitioned_table_that_repeats_another_is_named() {
    for_each_server::<Postgres>(|server| {
        server.query("CREATE TABLE parts (a int, b int, c int) PARTITION BY RANGE (a)");
        server.query("CREATE TABLE parts_1 PARTITION OF parts FOR VALUES FROM (0) TO (10)");
        server.query("CREATE TABLE parts_2 PARTITION OF parts FOR VALUES FROM (10) TO (20)");
        server.query("CREATE INDEX parts_b ON parts (b)");
        server.query("CREATE INDEX parts_bc ON parts (b, c)");
        // Not valid, for the partitions have none of it: it answers no query.
        server.query("CREATE INDEX parts_cb ON ONLY parts (c, b)");
        server.query("CREATE INDEX parts_c ON parts (c)");
        let found = examined(server, 0);
        assert_eq!(named(&found), ["slow redundant-index"]);
        for sql in statements(&found) {
            server.query(&sql);
        }
        assert_eq!(named(&examined(server, 0)), [""; 0]);
        let left = "SELECT relname::text FROM pg_class WHERE relkind IN ('i', 'I') AND relname LIKE 'parts%b_%idx'";
        assert_eq!(server.query(left).len(), 2, "those of the partitions are gone, too");
    });
}

#[test]
fn unique_indexes_that_refuse_other_rows_are_not_redundant() {
    for_each_server::<Postgres>(|server| {
        server.query("CREATE TABLE late (a int, UNIQUE (a) DEFERRABLE)");
        server.query("CREATE UNIQUE INDEX at_once ON late (a)");
        if server.number("SELECT current_setting('server_version_num')::int") >= 150_000 {
            server.query("CREATE TABLE once (a int UNIQUE)");
            server.query("CREATE UNIQUE INDEX of_null ON once (a) NULLS NOT DISTINCT");
        }
        assert_eq!(named(&examined(server, 0)), [""; 0]);
    });
}

#[test]
fn bad_tables_are_named_and_are_gone_after_the_statements() {
    for_each_server::<Postgres>(|server| {
        server.query("CREATE SCHEMA \"s \"\"1\"");
        server.query("CREATE UNLOGGED TABLE \"s \"\"1\".\"un logged\" (a int)");
        server.query("INSERT INTO \"s \"\"1\".\"un logged\" VALUES (1)");
        server.query("CREATE UNLOGGED TABLE emptied (a int)");
        server.query("INSERT INTO emptied VALUES (1)");
        server.query("DELETE FROM emptied");
        server.query("CREATE TABLE parent (id int PRIMARY KEY, name text)");
        server.query("CREATE TABLE child (id int PRIMARY KEY, \"of\" int REFERENCES parent, again int REFERENCES parent)");
        server.query("CREATE INDEX ON child (again, id)");
        server.query("CREATE INDEX ON child (again)");
        server.query("CREATE INDEX ON child (again) WHERE id > 5");
        server.query("CREATE INDEX ON child USING hash (again)");
        server.query("CREATE INDEX ON parent (name)");
        server.query("CREATE INDEX ON parent (name text_pattern_ops)");
        for (name, sql) in [("broken", "broken"), ("\"by N_ccnew2\"", "by N_ccnew2")] {
            server.query(&format!("CREATE INDEX {name} ON parent (lower(name))"));
            server.query(&format!(
                "UPDATE pg_index SET indisvalid = false FROM pg_class i WHERE indexrelid = i.oid AND i.relname = '{sql}'"
            ));
        }
        server.query("CREATE TABLE random (id uuid PRIMARY KEY)");
        server.query("INSERT INTO random SELECT gen_random_uuid() FROM generate_series(1, 20)");
        server.query("CREATE TABLE kept (a int) WITH (autovacuum_enabled = no)");
        server.query("INSERT INTO kept VALUES (1), (2)");
        server.query("DELETE FROM kept WHERE a = 1");
        server.query("SELECT pg_stat_force_next_flush()");
        let wanted = [
            "risk unlogged-table",
            "risk autovacuum_enabled",
            "slow redundant-index",
            "slow invalid-index",
            "slow invalid-index",
            "slow foreign-key-without-index",
            "slow random-key",
        ];
        // The server tells of dead rows a moment later.
        wait_until("seven findings", || named(&examined(server, 3)).len() == wanted.len());
        let found = examined(server, 3);
        assert_eq!(named(&found), wanted);
        let indexes: Vec<String> =
            statements(&found).into_iter().filter(|sql| sql.contains(" INDEX public.")).collect();
        // What a REINDEX has left is not built a second time.
        assert!(indexes.contains(&"REINDEX INDEX public.broken".to_owned()), "{indexes:?}");
        assert!(indexes.contains(&"DROP INDEX public.\"by N_ccnew2\"".to_owned()), "{indexes:?}");
        for sql in statements(&found) {
            server.query(&sql);
        }
        // No statement changes the keys that a program makes.
        assert_eq!(named(&examined(server, 0)), ["slow random-key"]);
        assert_eq!(server.number("SELECT count(*) FROM \"s \"\"1\".\"un logged\""), 1);
    });
}

#[test]
fn autovacuum_that_is_off_is_a_risk_once_rows_are_dead() {
    for_each_private_server::<Postgres>(
        |_| true,
        Extras::default(),
        |_, server| {
            server.query("ALTER SYSTEM SET autovacuum = off");
            server.query("SELECT pg_reload_conf()");
            assert_eq!(named(&examined(server, 0)), ["note autovacuum"]);
            server.query("CREATE TABLE t (a int)");
            server.query("INSERT INTO t VALUES (1), (2)");
            server.query("DELETE FROM t WHERE a = 1");
            // Its counters are those of a moment ago, and looking at them costs less than the doctor does.
            let dead = "SELECT n_dead_tup > 0 FROM pg_stat_user_tables WHERE relname = 't'";
            let is_counted = || server.query(dead) == [[Some("t".to_owned())]];
            wait_until("the server tells of its dead row", is_counted);
            let run = server.inrush(&["doctor", &server.url(), "--json"]);
            assert_eq!(named(&answer(&run)), ["risk autovacuum"]);
        },
    );
}

#[test]
fn what_takes_a_restart_says_the_line_of_the_file() {
    let settings = [("fsync", "off")];
    let extras = Extras { settings: &settings, ..Extras::default() };
    for_each_private_server::<Postgres>(
        |_| true,
        extras,
        |_, server| {
            let found = examined(server, 3);
            assert_eq!(named(&found), ["risk fsync"]);
            let finding = &found["findings"][0];
            assert_eq!(finding["is"], "off, by the server's command line");
            assert_eq!(finding["file_lines"], json!(["fsync = 'on'"]));
            assert_eq!((&finding["restart"], &finding["statements"]), (&json!(true), &json!([])));
        },
    );
}

#[test]
fn what_is_too_small_for_a_load_is_named_and_grows() {
    for_each_private_server::<Postgres>(
        |_| true,
        Extras::default(),
        |private, server| {
            for setting in
                ["max_wal_size = '32MB'", "min_wal_size = '32MB'", "shared_buffers = '16MB'"]
            {
                server.query(&format!("ALTER SYSTEM SET {setting}"));
            }
            private.restart().unwrap();
            server.connect_again();
            assert_eq!(named(&examined(server, 0)), [""; 0], "without a load nothing is too small");
            server.write("big.csv", format!("a,b\n{}", "1,2345678901234567\n".repeat(8_000_000)));
            let run =
                || answer(&server.inrush(&["doctor", &server.url(), "big.csv", "--json"]).exits(0));
            let found = run();
            assert_eq!(named(&found), ["slow max_wal_size", "slow shared_buffers"]);
            assert_eq!(found["findings"][1]["restart"], true);
            for sql in statements(&found) {
                server.query(&sql);
            }
            private.restart().unwrap();
            server.connect_again();
            assert_eq!(named(&run()), [""; 0]);
        },
    );
}

#[test]
fn a_server_with_its_defaults_has_no_findings() {
    for_each_private_server::<Postgres>(
        |_| true,
        Extras::default(),
        |private, _| {
            let plain = Private::start(private.installed(), &[]).unwrap();
            let fixture = Fixture::new();
            let found = answer(&fixture.inrush(&["doctor", &plain.url(), "--json"]).exits(0));
            assert_eq!(named(&found), [""; 0]);
            assert_eq!(found["not_known"], json!([]));
        },
    );
}

#[test]
fn a_login_that_may_see_nothing_is_told_what_it_takes() {
    for_each_private_server::<Postgres>(
        |_| true,
        Extras::default(),
        |_, server| {
            server.query("CREATE ROLE blind LOGIN");
            server.query("CREATE TABLE t (id uuid PRIMARY KEY)");
            server.query("ALTER SYSTEM SET fsync = off");
            server.query("SELECT pg_reload_conf()");
            let url = server.url().replace("postgres@", "blind@");
            let found = answer(&server.inrush(&["doctor", &url, "--json"]).exits(3));
            assert_eq!(named(&found), ["risk fsync"]);
            let not_known = found["not_known"].to_string();
            assert!(not_known.contains("pg_read_all_settings"), "{not_known}");
            assert!(not_known.contains("takes SELECT on the table"), "{not_known}");
        },
    );
}

#[test]
fn a_server_is_asked_and_not_changed() {
    let settings = [("log_statement", "all"), ("default_transaction_read_only", "off")];
    let extras = Extras { settings: &settings, ..Extras::default() };
    for_each_private_server::<Postgres>(
        |_| true,
        extras,
        |_, server| {
            server.query("CREATE TABLE t (id uuid PRIMARY KEY)");
            let database = server.query("SELECT current_database()")[0][0].clone().unwrap();
            // In such a transaction the server refuses whatever writes.
            server.query(&format!(
                "ALTER DATABASE {database} SET default_transaction_read_only = on"
            ));
            let found = examined(server, 0);
            assert_eq!(named(&found), ["slow log_statement"]);
            assert_eq!(found["not_known"], json!([]), "nothing was refused");
        },
    );
}

#[test]
fn two_hundred_tables_take_less_than_a_second() {
    for_each_server::<Postgres>(|server| {
        server.query(
            "DO $$ BEGIN FOR i IN 1..200 LOOP EXECUTE format( \
             'CREATE TABLE t%s (id uuid PRIMARY KEY, a int, b int REFERENCES first); CREATE INDEX ON t%s (b, a)', i, i); END LOOP; END $$"
                .replace("BEGIN FOR", "BEGIN CREATE TABLE first (id int PRIMARY KEY); FOR")
                .as_str(),
        );
        let found = examined(server, 0);
        assert_eq!(named(&found), [""; 0]);
        let seconds = found["seconds"].as_f64().unwrap();
        println!("{seconds:.3} s");
        assert!(seconds < 10.0, "{seconds} s");
    });
}

/// A logged table refers to logged ones alone, so these come first; and what a job has made is no table of the user's.
#[test]
fn unlogged_tables_are_logged_in_an_order_that_works() {
    for_each_server::<Postgres>(|server| {
        server.query("CREATE UNLOGGED TABLE z_empty (a int PRIMARY KEY)");
        server.query("CREATE UNLOGGED TABLE p (a int PRIMARY KEY, b int REFERENCES z_empty)");
        server.query("CREATE UNLOGGED TABLE c (a int REFERENCES p, b int REFERENCES c (b) UNIQUE)");
        server.query("INSERT INTO p VALUES (1)");
        server.query("INSERT INTO c VALUES (1)");
        server.query("CREATE UNLOGGED TABLE inrush_job_0123456789abcdef_x (a int)");
        server.query("INSERT INTO inrush_job_0123456789abcdef_x VALUES (1)");
        let unlogged = |found: &Json| {
            named(found).into_iter().filter(|name| name == "risk unlogged-table").count()
        };
        let found = examined(server, 3);
        assert_eq!(unlogged(&found), 2);
        for sql in statements(&found).iter().filter(|sql| sql.contains("SET LOGGED")) {
            server.query(sql);
        }
        assert_eq!(unlogged(&examined(server, 0)), 0);
    });
}
