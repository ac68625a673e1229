use crate::crash::insist;
use crate::fixture::{Outcome, finish, size, some, start, wait_until};
use crate::servers::{OnDrop, strategies};

use super::server::{Extras, Rows, Server, for_each_private_server, for_each_server, psql, rows};

/// Runs `work` while new connections to the database begin with these settings; those of the test are recreated for it, where
/// they have to have them too.
fn with_settings(server: &Server, settings: &[&str], work: impl FnOnce()) {
    let database = &server.database;
    for setting in settings {
        server.sql(&format!("ALTER DATABASE {database} SET {setting}"));
    }
    let _reset = OnDrop(|| server.try_sql(&format!("ALTER DATABASE {database} RESET ALL")));
    work();
}

/// Ways to write, by turns over one connection and over two.
fn ways() -> Vec<[String; 4]> {
    let way = |id: String, lanes: &str| {
        ["--strategy".to_owned(), id, "--lanes".to_owned(), lanes.to_owned()]
    };
    let all = strategies("postgres");
    let both = |(number, id): (usize, &String)| {
        let lanes = &["1", "2"][..];
        let some = size(&lanes[number % 2..=number % 2], lanes);
        some.iter().map(|lanes| way(id.clone(), lanes)).collect::<Vec<_>>()
    };
    some(all.iter().enumerate().flat_map(both).collect())
}

/// A file that is loaded in these ways into a new table and an existing one, with the rows that are to be in it.
fn assert_loads(server: &Server, options: &[&str]) {
    let text: String = (1..=200).map(|id| format!("{id},name {id} \\ '\n")).collect();
    server.write("t.csv", format!("id,name\n{text}"));
    for way in ways() {
        let mut load = vec!["t.csv", "--chunk-size", "1k", "--verify", "checksum"];
        load.extend(way.iter().map(String::as_str).chain(options.iter().copied()));
        server.load(&[&load[..], &["--primary-key", "id"]].concat()).exits(0);
        assert_eq!(server.query("SELECT count(*), max(name) FROM t"), rows![[200, "name 99 \\ '"]]);
        if way[3] == "1" {
            server.load(&[&load[..], &["--if-exists", "truncate"]].concat()).exits(0);
            assert_eq!(server.count("t"), 200);
            let update = ["--if-exists", "append", "--on-conflict", "update", "--verify", "count"];
            let update = [&["t.csv"][..], &load[5..], &update].concat();
            server.load(&update).exits(0);
            assert_eq!(server.count("t"), 200);
        }
        server.load(&[&load[..], &["--if-exists", "replace"]].concat()).exits(0);
        assert_eq!(server.count("t"), 200);
        assert_eq!(server.tables(), ["t"], "{way:?}");
        server.drop_table("t");
    }
}

#[test]
fn names_in_quotes_are_the_same_types() {
    for_each_server(|server| {
        server.write("t.csv", "doc,word\n\"{\"\"a\"\":1,\"\"a\"\":2}\",abc\n");
        with_settings(server, &["quote_all_identifiers = on"], || {
            server.sql("CREATE TABLE t (doc jsonb, word name)");
            server.refuses(&["t.csv"]).says(&["t.csv: line 2, column doc", "no key twice"]);
            server.drop_table("t");
            assert_loads(server, &[]);
        });
    });
}

#[test]
fn transactions_that_are_serializable_by_default() {
    for_each_server(|server| {
        let settings = ["default_transaction_isolation = 'serializable'"];
        with_settings(server, &settings, || assert_loads(server, &[]));
    });
}

#[test]
fn transactions_that_only_read_by_default_are_left_alone() {
    for_each_server(|server| {
        server.write("t.csv", "id,name\n1,a\n").sql("CREATE TABLE t (id int, name text)");
        let words = ["transactions only read here", "default_transaction_read_only"];
        let url = server.url();
        let begin = ["job", "begin", &url, "--table", "t", "--like", "t.csv"];
        with_settings(server, &["default_transaction_read_only = on"], || {
            for way in [&[][..], &["--strategy", "values", "--set", "rows_per_transaction=1"]] {
                for if_exists in ["empty", "append", "truncate", "replace"] {
                    let load = ["t.csv", "--if-exists", if_exists];
                    server.misused(&[&load[..], way].concat()).says(&words);
                }
                server.misused(&[&["t.csv", "--table", "new"][..], way].concat()).says(&words);
            }
            server.leaves_everything(|| server.inrush(&begin).exits(2)).says(&words);
            // Who means it says so.
            let writes = format!(
                "{url}{}options=-c%20default_transaction_read_only%3Doff",
                if url.contains('?') { '&' } else { '?' }
            );
            server.load_at(&writes, &["t.csv"]).exits(0);
            assert_eq!(server.count("t"), 1);
        });
    });
}

#[test]
fn transactions_that_are_deferred_by_default() {
    for_each_server(|server| {
        let settings = [
            "default_transaction_deferrable = on",
            "default_transaction_isolation = 'repeatable read'",
        ];
        with_settings(server, &settings, || assert_loads(server, &[]));
    });
}

#[test]
fn backslashes_that_mean_something_in_strings() {
    for_each_server(|server| {
        let settings = [
            "standard_conforming_strings = off",
            "escape_string_warning = on",
            "backslash_quote = off",
        ];
        with_settings(server, &settings, || assert_loads(server, &[]));
    });
}

#[test]
fn a_commit_that_may_get_lost_is_mended_or_told() {
    for_each_server(|server| {
        server.write("t.csv", "id\n1\n");
        with_settings(server, &["synchronous_commit = off"], || {
            for strategy in some(strategies("postgres")) {
                let report = server.report(&["t.csv", "--strategy", &strategy]);
                assert_eq!(report["plan"]["durability"], "durable", "{strategy}");
                assert_eq!(report["durability_read_back"]["synchronous_commit"], "on");
                server.drop_table("t");
            }
            let keep = ["t.csv", "--set", "synchronous_commit=keep"];
            let report = server.report(&[&keep[..], &["--durability", "none"]].concat());
            assert_eq!(report["durability_read_back"]["synchronous_commit"], "off");
            let append = ["--if-exists", "append"];
            let report = server.report(&["t.csv", "--if-exists", "append"]);
            assert_eq!(report["durability_read_back"]["synchronous_commit"], "on");
            // Rows that stay as soon as they are committed stay for good.
            for rows in ["rows_per_transaction=1", "rows_per_transaction=7"] {
                let piecemeal = ["--if-exists", "append", "--strategy", "values", "--set", rows];
                let report = server.report(&[&["t.csv"], &piecemeal[..]].concat());
                assert_eq!(report["plan"]["durability"], "durable", "{rows}");
                assert_eq!(report["durability_read_back"]["synchronous_commit"], "on", "{rows}");
            }
            let off = ["t.csv", "--set", "synchronous_commit=off"];
            server.misused(&[&off[..], &append].concat()).says(&[
                "with synchronous_commit=off",
                "'durable' is asked for",
                "--durability none",
            ]);
        });
    });
}

/// Has a server of its own wait for a standby at each commit, but for those of `server` itself; until the guard goes.
fn wait_for_a_standby(server: &Server) -> OnDrop<impl FnMut()> {
    for sql in ["SET synchronous_commit = local", "SELECT 1"] {
        server.sql(sql).try_sql(sql);
    }
    let reset = OnDrop(|| {
        server.try_sql("ALTER SYSTEM RESET synchronous_standby_names");
        server.try_sql("SELECT pg_reload_conf()");
    });
    server.sql("ALTER SYSTEM SET synchronous_standby_names = 'nobody'");
    server.sql("SELECT pg_reload_conf()");
    let sql = "SHOW synchronous_standby_names";
    let psql = psql();
    let new = || {
        server.tool(
            psql.get_program().to_str().unwrap(),
            &["-X", "-Atd", &server.url(), "-c", sql],
            b"",
        )
    };
    wait_until("the server has read its settings", || new() == b"nobody\n");
    reset
}

#[test]
fn a_commit_that_waits_for_a_standby_which_is_not_there_ends_with_the_second_interrupt_or_warns() {
    // A server of its own: what it is told here holds for all of its connections.
    for_each_private_server(
        |_| true,
        Extras::default(),
        |_, server| {
            server.write("t.csv", "id\n1\n");
            let reset = wait_for_a_standby(server);
            server.load(&["t.csv", "--set", "synchronous_commit=local"]).exits(0);
            server.drop_table("t");
            let url = server.url();
            let mut child = start(&mut server.command(&["load", "t.csv", &url]));
            let waiting = "SELECT count(*) FROM pg_stat_activity WHERE wait_event = 'SyncRep'";
            wait_until("the commit waits", || server.number(waiting) > 0);
            assert!(child.try_wait().unwrap().is_none(), "it is over");
            // Nobody can say what the first should leave; the second ends the process at once.
            insist(&mut child, "INT");
            let run = Outcome::of("load, interrupted".to_owned(), finish(child, b"")).exits(130);
            // It is committed here, and seen when it is where it should be, too.
            drop(reset);
            server.wait_until_alone();
            assert_eq!(server.count("t"), 1);
            assert!(!run.stderr.contains("nothing changed"), "{run:?}");

            // What the server warns of at a commit is reported, of loads and of jobs.
            server.drop_table("t");
            let begin = ["job", "begin", &url, "--table", "u", "--like", "t.csv"];
            server.write("job.json", server.inrush(&begin).exits(0).stdout);
            let write = ["job", "write", "job.json", "t.csv"];
            server.write("token.json", server.inrush(&write).exits(0).stdout);
            let _reset = wait_for_a_standby(server);
            for command in [
                &["load", "t.csv", &url, "--json"][..],
                &["job", "publish", "job.json", "token.json"],
            ] {
                let mut child = start(&mut server.command(command));
                // The administrator has each commit go on without the standby.
                while child.try_wait().unwrap().is_none() {
                    server.try_sql(
                        "SELECT pg_cancel_backend(pid) FROM pg_stat_activity WHERE wait_event = 'SyncRep'",
                    );
                }
                let run = Outcome::of(command.join(" "), finish(child, b"")).exits(0);
                run.prints(&[
                    "the server at the commit: canceling wait for synchronous replication",
                ]);
            }
        },
    );
}

#[test]
fn a_server_that_does_not_write_to_its_disk_promises_less() {
    let unsafe_server = [("fsync", "off"), ("full_page_writes", "off"), ("wal_level", "logical")];
    let extras = Extras { settings: &unsafe_server, ..Extras::default() };
    for_each_private_server(
        |_| true,
        extras,
        |_, server| {
            server.write("t.csv", "id\n1\n");
            let run = server.misused(&["t.csv", "--durability", "durable"]);
            let run = run.says(&[
                "with fsync=off, a setting of the server, a load is 'process' at best",
                "'durable' is asked for",
                "say --durability process",
            ]);
            // Nobody has chosen a strategy.
            assert!(!run.stderr.contains("postgres/"), "{run:?}");
            let report = server.report(&["t.csv", "--durability", "process"]);
            assert_eq!(report["plan"]["durability"], "process");
            assert_eq!(report["durability_read_back"]["fsync"], "off");
            // An unlogged table is empty after a crash of the server.
            server.sql("CREATE UNLOGGED TABLE u (id int)");
            let load = ["t.csv", "--table", "u", "--if-exists", "append"];
            server.misused(&[&load[..], &["--durability", "process"]].concat()).says(&["'none'"]);
            server.load(&[&load[..], &["--durability", "none"]].concat()).exits(0);
            a_subscriber_of_all_tables_is_thought_of(server);
        },
    );
}

/// It looks for a table of the name that the new one has while its rows come.
fn a_subscriber_of_all_tables_is_thought_of(server: &Server) {
    let said = |table: &str| {
        let load = ["t.csv", "--table", table, "--durability", "process"];
        let report = server.report(&load);
        server.drop_table(table);
        report["warnings"].to_string().contains("published (p) under a hidden name")
    };
    assert!(!said("n"));
    for of in ["ALL TABLES", "TABLES IN SCHEMA public"] {
        server.sql(&format!("CREATE PUBLICATION p FOR {of}"));
        assert!(said("n"), "{of}");
        server.sql("CREATE TABLE n (id int)");
        assert!(!said("n"), "{of}");
        server.sql("DROP PUBLICATION p");
    }
}

#[test]
fn a_trigger_that_talks_about_every_row() {
    // More than the connection has room for, either way.
    let rows = size(4000, 100_000);
    for_each_server(|server| {
        let text: String = (1..=rows).map(|id| format!("{id},{}\n", "x".repeat(100))).collect();
        server.write("t.csv", format!("id,name\n{text}"));
        let settings = ["client_min_messages = debug5", "log_min_messages = panic"];
        with_settings(server, &settings, || {
            // INFO goes to the client whatever it wants to hear, while the load is still sending rows.
            for level in ["NOTICE", "INFO"] {
                server.drop_table("t").sql(&format!(
                    "CREATE TABLE t (id int, name text);
                     CREATE OR REPLACE FUNCTION talk() RETURNS trigger LANGUAGE plpgsql AS
                         'BEGIN RAISE {level} ''row % of many: %'', new.id, repeat(''y'', 300); RETURN new; END';
                     CREATE TRIGGER talk BEFORE INSERT ON t FOR EACH ROW EXECUTE FUNCTION talk()"
                ));
                let url = format!("{}&read_timeout=30", server.url());
                for strategy in ["copy-binary", "values"] {
                    let load = ["t.csv", "--if-exists", "truncate", "--strategy", strategy];
                    server.load_at(&url, &load).exits(0);
                    assert_eq!(server.count("t"), rows);
                }
            }
        });
    });
}

/// Columns whose values mean something else, or look another way, in other places.
const MOMENTS: &str = "id int, day date, at timestamp, zoned timestamptz, clock timetz, lasts interval, bytes bytea, n float8";

const MOMENT_ROWS: &str = "id,day,at,zoned,clock,lasts,bytes,n
1,2024-03-04,2024-03-04 05:06:07.000008,2024-07-08 09:10:11,12:13:14+02,1 day 02:03:04,\\x00ff,0.1
2,2024-12-11,2024-12-11T10:09:08,2024-01-02 03:04:05,12:13:14Z,-3 mons,\\xDEADBEEF,1e300
3,1999-01-02,1999-01-02 00:00:00,2024-03-31 02:30:00+00,00:00:00-11:30,00:00:01.5,\\x,-0.3333333333333333
4,0044-03-15 BC,infinity,2024-10-27 02:30:00,23:59:59.999999-03:30,1 year 2 mons 3 days,\\x5c,NaN
";

/// What psql makes of the file, in a session like those of the load.
fn as_psql_has_it(server: &Server, columns: &str) -> Rows {
    let path = server.path("t.csv");
    let copy = format!("\\copy expected from '{}' csv header", path.display());
    server.drop_table("expected").sql(&format!("CREATE TABLE expected ({columns})"));
    let create = ["-X", "-q", "-d", &server.url(), "-c", &copy];
    server.tool(psql().get_program().to_str().unwrap(), &create, b"");
    server.query("SELECT * FROM expected ORDER BY id")
}

#[test]
fn places_and_styles_change_nothing_of_the_values() {
    for_each_server(|server| {
        server.write("t.csv", MOMENT_ROWS);
        let zones =
            ["TimeZone = 'Europe/Berlin'", "TimeZone = 'America/St_Johns'", "TimeZone = 'UTC'"];
        for (number, style) in
            ["German, DMY", "SQL, DMY", "Postgres, MDY", "ISO, YMD"].into_iter().enumerate()
        {
            let style = format!("DateStyle = '{style}'");
            let interval = ["postgres", "sql_standard", "iso_8601", "postgres_verbose"][number];
            let interval = format!("IntervalStyle = '{interval}'");
            let settings = [
                zones[number % 3],
                &style,
                &interval,
                "bytea_output = 'escape'",
                "extra_float_digits = -10",
            ];
            with_settings(server, &settings, || {
                let expected = as_psql_has_it(server, MOMENTS);
                // Each style by one of them, and by that which is taken where none is asked for.
                let strategies = ["copy-text", "values", "prepared", "unnest"];
                let strategies = size(&strategies[number..=number], &strategies[..]);
                for strategy in strategies.iter().copied().map(Some).chain([None]) {
                    server.drop_table("t").sql(&format!("CREATE TABLE t ({MOMENTS})"));
                    let mut load = vec!["t.csv", "--if-exists", "append", "--verify", "checksum"];
                    load.extend(strategy.iter().flat_map(|strategy| ["--strategy", *strategy]));
                    let run = server.load(&load);
                    if strategy.is_some() && run.status.code() == Some(2) {
                        // It says why it can't; then another one is taken where none is asked for.
                        run.says(&["zone"]);
                        continue;
                    }
                    run.exits(0);
                    let found = server.query("SELECT * FROM t ORDER BY id");
                    assert_eq!(found, expected, "{settings:?} {strategy:?}");
                }
            });
        }
    });
}

#[test]
fn the_environment_has_sessions_begin_as_those_of_psql() {
    for_each_server(|server| {
        let columns = "id int, zoned timestamptz, days daterange";
        let row = "1,2024-07-08 09:10:11,\"[01/02/2024,03/02/2024)\"\n";
        server.write("t.csv", format!("id,zoned,days\n{row}"));
        let path = server.path("t.csv");
        let copy = format!("\\copy t from '{}' csv header", path.display());
        let tokyo = format!("{}&options=-c%20timezone%3DAsia/Tokyo", server.url());
        let rows = |seconds: i64, month: i64| rows![[seconds, month]];
        let found = "SELECT extract(epoch FROM zoned)::int - 1720422611, extract(month FROM lower(days))::int FROM t";
        for (url, environment, wanted) in [
            (server.url(), &[("PGTZ", "Europe/Berlin")][..], rows(0, 1)),
            (tokyo.clone(), &[("PGTZ", "Europe/Berlin"), ("PGDATESTYLE", "SQL, DMY")], rows(0, 2)),
            (tokyo, &[("PGTZ", "default"), ("PGDATESTYLE", "DEFAULT")], rows(-25_200, 1)),
        ] {
            let load = ["load", "t.csv", &url, "--table", "t", "--if-exists", "append"];
            let mut commands = [server.command(&load), psql()];
            commands[1].args(["-X", "-q", "-d", &url, "-c", &copy]);
            for command in &mut commands {
                server.drop_table("t").sql(&format!("CREATE TABLE t ({columns})"));
                let run = finish(start(command.envs(environment.iter().copied())), b"");
                Outcome::of(format!("{command:?}"), run).exits(0);
                assert_eq!(server.query(found), wanted, "{command:?}");
            }
        }
        let mut load = server.command(&["load", "t.csv", &server.url(), "--table", "t"]);
        let run = finish(start(load.env("PGTZ", "Nowhere")), b"");
        Outcome::of("load with PGTZ=Nowhere".to_owned(), run).exits(1).says(&[
            "TimeZone",
            "Nowhere",
            "try: check what sessions begin with",
            "PGTZ",
        ]);
    });
}

#[test]
fn moments_without_an_offset_are_those_of_the_servers_zone_which_the_server_itself_reads() {
    for_each_server(|server| {
        server.write("t.csv", "id,zoned\n1,2024-07-08 09:10:11\n2,2024-07-08 09:10:11+00\n");
        let used = ["t.csv", "--if-exists", "append"];
        with_settings(server, &["TimeZone = 'Europe/Berlin'"], || {
            server.sql("CREATE TABLE t (id int, zoned timestamptz)");
            let report = server.report(&used);
            assert_eq!(report["plan"]["strategy"], "postgres/copy-text");
            let seconds = "SELECT extract(epoch FROM zoned)::int - 1720422611 FROM t ORDER BY id";
            assert_eq!(server.query(seconds), rows![[0], [7200]]);
            let binary = [&used[..], &["--strategy", "copy-binary"]].concat();
            server.misused(&binary).says(&["depends on the server's time zone"]);
            // So are elements of arrays in braces.
            server
                .write("t.csv", "id,zoned\n1,{2024-07-08 09:10:11}\n2,{2024-07-08 09:10:11+00}\n");
            server.sql("DROP TABLE t; CREATE TABLE t (id int, zoned timestamptz[])");
            server.load(&used).exits(0);
            assert_eq!(server.query(&seconds.replace("zoned", "zoned[1]")), rows![[0], [7200]]);
            let run = server.misused(&binary);
            run.says(&["column zoned (timestamp with time zone[])", "server's time zone"]);
        });
    });
}

/// Another database of the server, gone afterwards.
struct Other<'s> {
    server: &'s Server,
    name: String,
}

impl<'s> Other<'s> {
    fn new(server: &'s Server, encoding: &str) -> Self {
        let name = format!("{}_{}", server.database, encoding.to_lowercase());
        server.sql(&format!(
            "CREATE DATABASE {name} ENCODING '{encoding}' LOCALE 'C' TEMPLATE template0"
        ));
        Self { server, name }
    }

    fn url(&self) -> String {
        self.server.url().replacen(&self.server.database, &self.name, 1)
    }

    /// What a query answers.
    fn query(&self, sql: &str) -> String {
        let url = self.url();
        let args = ["-X", "-q", "-A", "-t", "-v", "ON_ERROR_STOP=1", "-d", &url, "-c", sql];
        let answer = self.server.tool(psql().get_program().to_str().unwrap(), &args, b"");
        String::from_utf8(answer).unwrap().trim_end().to_owned()
    }
}

impl Drop for Other<'_> {
    fn drop(&mut self) {
        self.server.try_sql(&format!("DROP DATABASE {} WITH (FORCE)", self.name));
    }
}

#[test]
fn characters_that_the_database_does_not_have_make_bad_rows() {
    for_each_server(|server| {
        let latin = Other::new(server, "LATIN1");
        server.write(
            "t.csv",
            "id,name\n1,caf\u{e9}\n2,\u{4e2d}\u{6587}\n3,plain\n4,\u{20ac} 5\n5,\u{ff}\n",
        );
        for (number, strategy) in some(strategies("postgres")).into_iter().enumerate() {
            let lanes = ["2", "1"];
            for lanes in size(&lanes[number % 2..=number % 2], &lanes[..]).iter().copied() {
                let load = ["t.csv", "--strategy", &strategy, "--lanes", lanes];
                let url = latin.url();
                let run = server.load_at(&url, &load).exits(1).says(&["t.csv: line 3"]);
                run.ends_with_nothing_changed();
                let rejects = ["--max-rejects", "2", "--verify", "checksum"];
                server.load_at(&url, &[&load[..], &rejects].concat()).exits(3);
                let expected = "id,name\n2,\u{4e2d}\u{6587}\n4,\u{20ac} 5\n";
                assert_eq!(server.read("t.rejects.csv"), expected.as_bytes(), "{strategy}");
                let bytes = "SELECT string_agg(id || ':' || encode(convert_to(name, 'LATIN1'), 'hex'), ' ' ORDER BY id) FROM t";
                assert_eq!(latin.query(bytes), "1:636166e9 3:706c61696e 5:ff", "{strategy}");
                latin.query("DROP TABLE t");
                for file in ["t.rejects.csv", "t.rejects.csv.jsonl"] {
                    std::fs::remove_file(server.path(file)).unwrap();
                }
            }
        }
    });
}

#[test]
fn a_database_without_an_encoding_keeps_the_bytes() {
    for_each_server(|server| {
        let ascii = Other::new(server, "SQL_ASCII");
        server.write("t.csv", "id,name\n1,caf\u{e9}\n2,\u{4e2d}\u{6587}\n");
        for strategy in some(strategies("postgres")) {
            let load = ["t.csv", "--strategy", &strategy, "--verify", "checksum"];
            server.load_at(&ascii.url(), &load).exits(0);
            let bytes = "SELECT string_agg(encode(name::bytea, 'hex'), ' ' ORDER BY id) FROM t";
            assert_eq!(ascii.query(bytes), "636166c3a9 e4b8ade69687", "{strategy}");
            ascii.query("DROP TABLE t");
        }
    });
}

#[test]
fn a_server_that_speaks_another_language() {
    for_each_server(|server| {
        server.write("t.csv", "id,n\n1,a\n2,x\n3,b\n1,c\n");
        let language = "de_DE.UTF-8";
        let locales = server.tool("locale", &["-a"], b"");
        let has = |name: &str| String::from_utf8_lossy(&locales).lines().any(|line| line == name);
        if !has("de_DE.utf8") && !has(language) {
            eprintln!("SKIPPED: no locale {language} on this machine");
            return;
        }
        with_settings(server, &[&format!("lc_messages = '{language}'")], || {
            for strategy in some(strategies("postgres")) {
                server
                    .drop_table("t")
                    .sql("CREATE TABLE t (id int PRIMARY KEY, n text CHECK (n <> 'x'))");
                let load = ["t.csv", "--if-exists", "append", "--strategy", &strategy];
                server.load(&load).exits(1).says(&["t.csv: line 3"]);
                server.load(&[&load[..], &["--max-rejects", "2"]].concat()).exits(3);
                assert_eq!(server.read("t.rejects.csv"), b"id,n\n2,x\n1,c\n", "{strategy}");
                assert_eq!(server.count("t"), 2);
            }
        });
    });
}

#[test]
fn tables_are_looked_for_along_the_search_path() {
    for_each_server(|server| {
        server.write("t.csv", "id\n1\n");
        server.sql("CREATE SCHEMA first; CREATE SCHEMA \"Second, too\"");
        server.sql("CREATE TABLE public.t (id int); CREATE TABLE \"Second, too\".t (id int)");
        with_settings(server, &["search_path = first, \"Second, too\", public"], || {
            let append = ["t.csv", "--if-exists", "append"];
            server.load(&append).exits(0);
            assert_eq!(server.number("SELECT count(*) FROM \"Second, too\".t"), 1);
            // A new table comes into the first schema that there is.
            for lanes in ["1", "2"] {
                server.load(&["t.csv", "--table", "new", "--lanes", lanes]).exits(0);
                assert_eq!(server.number("SELECT count(*) FROM first.new"), 1);
                server.sql("DROP TABLE first.new");
            }
            server.load(&["t.csv", "--table", "public.t", "--if-exists", "replace"]).exits(0);
            assert_eq!(server.number("SELECT count(*) FROM public.t"), 1);
        });
        with_settings(server, &["search_path = nowhere"], || {
            let run = server.refuses(&["t.csv"]);
            run.says(&["search path", "--table SCHEMA.TABLE"]);
            server.load(&["t.csv", "--table", "first.t"]).exits(0);
        });
        // Names that hide those of the server.
        server.sql(
            "CREATE FUNCTION public.txid_current() RETURNS bigint LANGUAGE sql AS 'SELECT 1/0';
             CREATE TABLE public.pg_class (id int); CREATE TABLE public.pg_settings (id int)",
        );
        with_settings(server, &["search_path = public, pg_catalog"], || {
            for options in [&["--lanes", "1"][..], &["--lanes", "2"], &["--index", "id"]] {
                server.load(&[&["t.csv", "--table", "u"], options].concat()).exits(0);
                server.drop_table("u");
            }
            server.load(&["t.csv", "--if-exists", "append"]).exits(0);
        });
        server.sql("DROP TABLE public.pg_class, public.pg_settings");
    });
}

#[test]
fn a_null_in_an_array_is_one_where_the_server_would_read_a_text() {
    for_each_server(|server| {
        server.write("t.csv", "id;n;s\n1;{1,NULL};{a,null}\n2;{NULL};{\"NULL\",b}\n");
        let create = "CREATE TABLE t (id int, n int[], s text[])";
        let one_by_one = ["--set", "rows_per_transaction=1"];
        let appended = ["t.csv", "--if-exists", "append"];
        with_settings(server, &["array_nulls = off"], || {
            for way in ways() {
                for more in [&[][..], &one_by_one] {
                    server.drop_table("t").sql(create);
                    let args: Vec<&str> = way.iter().map(String::as_str).collect();
                    let run = server.load(&[&appended[..], &args, more].concat());
                    if run.status.code() == Some(2) {
                        // It has no such knob, takes no arrays, or one connection.
                        continue;
                    }
                    run.exits(0);
                    assert_eq!(
                        server.query("SELECT id, n[1], n[2], s[1], s[2] FROM t ORDER BY id"),
                        rows![[1, 1, (), "a", ()], [2, (), (), "NULL", "b"]],
                        "{way:?} {more:?}"
                    );
                }
            }
        });
    });
}

#[test]
fn keys_that_take_more_temporary_files_than_the_user_may_have() {
    for_each_server(|server| {
        let rows: String = (1..=3000).map(|id| format!("{id}\n")).collect();
        server.write("t.csv", format!("id\n{rows}"));
        // Parallel workers leave what they have sorted in files.
        let settings = ["temp_file_limit = 0", "min_parallel_table_scan_size = 0"];
        with_settings(server, &settings, || {
            let load = ["t.csv", "--primary-key", "id", "--lanes", "2"];
            let run = server.refuses(&load);
            run.says(&["keys and indexes can't be built", "temp_file_limit", "indexes=before"]);
        });
    });
}

#[test]
fn names_that_the_database_has_no_characters_for_are_told() {
    for_each_server(|server| {
        let latin = Other::new(server, "LATIN1");
        server.write("t.csv", "id,caf\u{e9},\u{65e5}\u{672c}\n1,2,3\n");
        for lanes in ["1", "2"] {
            let run = server.load_at(&latin.url(), &["t.csv", "--lanes", lanes]).exits(1);
            run.ends_with_nothing_changed().says(&[
                "column \u{65e5}\u{672c}",
                "LATIN1",
                "--rename",
            ]);
        }
        let table = ["t.csv", "--table", "\u{65e5}\u{672c}"];
        let run = server.load_at(&latin.url(), &table).exits(1);
        run.ends_with_nothing_changed().says(&["table \u{65e5}\u{672c}", "--table NAME"]);
        latin.query("CREATE TABLE t AS SELECT 1 AS id, 2 AS \"caf\u{e9}\"");
        let add = ["t.csv", "--if-exists", "append", "--new-columns", "add"];
        let run = server.load_at(&latin.url(), &add).exits(1);
        run.ends_with_nothing_changed().says(&["column \u{65e5}\u{672c}", "--rename"]);
        let renamed = ["--rename", "\u{65e5}\u{672c}=japan"];
        server.load_at(&latin.url(), &[&add[..], &renamed].concat()).exits(0);
    });
}
