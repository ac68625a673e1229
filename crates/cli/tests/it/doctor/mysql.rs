//! MySQL and MariaDB.

use std::cell::Cell;

use inrush_servers::{Installed, Server as Private};
use serde_json::Value as Json;

use super::{answer, named, statements};
use crate::fixture::Fixture;
use crate::mysql::server::MySql;
use crate::servers::{
    Database as _, Extras, Server, alone_on_each_server, console, for_each_private_server,
    for_each_server, for_one_private_server, for_one_server,
};

/// What doctor says of the server's database.
fn examined(server: &Server<MySql>, code: i32) -> Json {
    answer(&server.inrush(&["doctor", &server.url(), "--json"]).exits(code))
}

/// The same without what the defaults of old servers deserve by themselves.
fn named_besides_defaults(server: &Server<MySql>, found: &Json) -> Vec<String> {
    let mut named = named(found);
    if !server.is_from((5, 7, 0)) {
        named.retain(|name| !["slow max_allowed_packet", "note sql_mode"].contains(&name.as_str()));
    }
    named
}

#[test]
fn five_bad_settings_are_named_and_are_gone_after_the_statements() {
    let settings = [
        ("innodb-flush-log-at-trx-commit", "0"),
        ("max-allowed-packet", "1048576"),
        ("general-log", "1"),
        ("local-infile", "0"),
        ("sql-mode", "NO_ENGINE_SUBSTITUTION"),
    ];
    let extras = Extras { settings: &settings, ..Extras::default() };
    for_one_private_server::<MySql>(extras, |_, server| {
        let found = examined(server, 3);
        assert_eq!(
            named(&found),
            [
                "risk innodb_flush_log_at_trx_commit",
                "slow local_infile",
                "slow max_allowed_packet",
                "slow general_log",
                "note sql_mode",
            ]
        );
        for sql in statements(&found) {
            server.query(&sql);
        }
        assert_eq!(named(&examined(server, 0)), [""; 0]);
    });
}

#[test]
fn five_bad_tables_are_named_and_are_gone_after_the_statements() {
    for_each_server::<MySql>(|server| {
        server.query("CREATE TABLE `my``isam` (a INT) ENGINE=MyISAM");
        server.query("INSERT INTO `my``isam` VALUES (1)");
        server.query("CREATE TABLE emptied (a INT, KEY (a)) ENGINE=MyISAM");
        server.query("CREATE TABLE keyless (a INT, my_row_id INT, UNIQUE (a)) ENGINE=InnoDB");
        server.query("CREATE TABLE narrow (a INT PRIMARY KEY, b VARCHAR(9) CHARACTER SET utf8) ENGINE=InnoDB");
        server.query(
            "CREATE TABLE twice (a INT PRIMARY KEY, b INT, c INT, d CHAR(20) CHARACTER SET latin1, KEY `b c` (b, c), KEY b (b), KEY d (d), \
             UNIQUE KEY b2 (b), KEY part (d(3))) ENGINE=InnoDB",
        );
        server.query("CREATE TABLE packed (a INT PRIMARY KEY) ENGINE=InnoDB ROW_FORMAT=COMPRESSED");
        server.query(
            "CREATE TABLE random (id CHAR(36) CHARACTER SET latin1 PRIMARY KEY) ENGINE=InnoDB",
        );
        for i in 0..10 {
            server.query(&format!(
                "INSERT INTO random VALUES ('{i}47ac10b-58cc-4372-a567-0e02b2c3d479')"
            ));
        }
        let mut found = examined(server, 3);
        // Other tests use the server as well.
        let of_server = |finding: &Json| finding["object"] == "server";
        found["findings"].as_array_mut().unwrap().retain(|finding| !of_server(finding));
        let mut wanted = vec![
            "risk table-without-transactions",
            "slow redundant-index",
            "slow redundant-index",
            "slow random-key",
            "slow row-format",
            "note table-without-key",
            "note utf8mb3",
        ];
        // By their defaults older ones have no such format.
        wanted.retain(|name| *name != "slow row-format" || server.is_from((5, 7, 0)));
        assert_eq!(named(&found), wanted);
        for sql in statements(&found) {
            server.query(&sql);
        }
        // No statement changes the keys that a program makes, and none adds a key where columns can't be invisible.
        let keyless = ["note table-without-key"; 2];
        let keyless = if server.is_from((8, 0, 23)) { &keyless[..0] } else { &keyless };
        let left = named_besides_defaults(server, &examined(server, 0));
        assert_eq!(left, [&["slow random-key"], keyless].concat());
        assert_eq!(server.number("SELECT COUNT(*) FROM `my``isam`"), 1);
    });
}

#[test]
fn what_takes_a_restart_says_the_line_of_the_file() {
    let settings = [("innodb-doublewrite", "0")];
    let extras = Extras { settings: &settings, ..Extras::default() };
    for_one_private_server::<MySql>(extras, |private, server| {
        let found = examined(server, 3);
        assert_eq!(named_besides_defaults(server, &found), ["risk innodb_doublewrite"]);
        let finding = &found["findings"][0];
        assert_eq!(finding["file_lines"], serde_json::json!(["innodb_doublewrite = ON"]));
        assert_eq!(finding["restart"], true);
        assert_eq!(finding["statements"], serde_json::json!([]));

        let mut settings = private.installed().test_settings();
        settings.push(("innodb_doublewrite".to_owned(), "ON".to_owned()));
        let changed = Private::start(private.installed(), &settings).unwrap();
        let url = changed.url().replace("/?", "/mysql?");
        let fixture = Fixture::new();
        let after = fixture.inrush(&["doctor", &url, "--json"]).exits(0);
        let after = named(&answer(&after));
        assert!(!after.contains(&"risk innodb_doublewrite".to_owned()), "{after:?}");
    });
}

/// MariaDB's defaults are good; MySQL 8.0 refuses LOAD DATA LOCAL.
#[test]
fn a_server_with_its_defaults_has_no_risk() {
    for (name, _) in crate::servers::named(&MySql::FAMILY) {
        let installed = match Installed::find(&name) {
            Ok(installed) => installed,
            Err(error) => {
                eprintln!("SKIPPED: {error}");
                continue;
            }
        };
        let plain = Private::start(&installed, &[]).unwrap();
        let fixture = Fixture::new();
        let url = plain.url().replace("/?", "/mysql?");
        let found = answer(&fixture.inrush(&["doctor", &url, "--json"]).exits(0));
        match name.as_str() {
            "mysql-8.0" => assert_eq!(named(&found), ["slow local_infile"]),
            name if name.starts_with("mariadb") => assert_eq!(named(&found), [""; 0], "{name}"),
            _ => assert!(!named(&found).iter().any(|found| found.starts_with("risk")), "{name}"),
        }
    }
}

#[test]
fn what_is_too_small_for_a_load_is_named_and_grows() {
    for (name, log) in [
        ("mariadb-10.11", ("innodb-log-file-size", "4M")),
        ("mysql-8.0", ("innodb-redo-log-capacity", "8M")),
        // Two of them, while the variable of the capacity says its default.
        ("mysql-8.0", ("innodb-log-file-size", "4M")),
    ] {
        let settings = [log, ("innodb-buffer-pool-size", "24M")];
        let extras = Extras { settings: &settings, ..Extras::default() };
        for_each_private_server::<MySql>(
            |meant| meant == name,
            extras,
            |_, server| {
                assert_eq!(
                    named(&examined(server, 0)),
                    [""; 0],
                    "without a load nothing is too small"
                );
                server
                    .write("big.csv", format!("a,b\n{}", "1,2345678901234567\n".repeat(2_500_000)));
                let run = || {
                    answer(&server.inrush(&["doctor", &server.url(), "big.csv", "--json"]).exits(0))
                };
                let found = run();
                let size = match name.starts_with("mariadb") {
                    true => vec![
                        "slow innodb_log_file_size",
                        "slow innodb_buffer_pool_size",
                        "slow innodb_io_capacity",
                    ],
                    false => vec![
                        "slow innodb_log_file_size",
                        "slow innodb_buffer_pool_size",
                        "slow innodb_io_capacity",
                        "slow innodb_flush_method",
                    ],
                };
                assert_eq!(named(&found), size);
                for sql in statements(&found) {
                    server.query(&sql);
                }
                assert_eq!(named(&run()), [""; 0]);
            },
        );
    }
}

#[test]
fn a_login_that_may_see_nothing_is_told_what_it_takes() {
    alone_on_each_server::<MySql>(|server| {
        // Of any host an old server would take it for its user without a name on this one.
        let user = "'inrush_blind'@'localhost'";
        takes(server, &format!("DROP USER {user}"));
        server.query(&format!("CREATE USER {user} IDENTIFIED BY 'x'"));
        let database = server.query("SELECT DATABASE()")[0][0].clone().unwrap();
        server.query("CREATE TABLE `t t` (id CHAR(36) CHARACTER SET latin1 PRIMARY KEY, a INT, KEY k (a), KEY l (a))");
        server.query(&format!("GRANT INSERT ON `{database}`.* TO {user}"));
        let url = server.url().replace("root@", "inrush_blind:x@");
        let found = answer(&server.inrush(&["doctor", &url, "--json"]).exits(0));
        server.query(&format!("DROP USER {user}"));
        let not_known = found["not_known"].to_string();
        assert!(not_known.contains("takes SELECT on the table"), "{found:#}");
        assert!(!not_known.contains(":x@"), "{not_known}");
    });
}

/// What the server does not list is not known to be as it should be.
#[test]
fn a_login_that_sees_some_tables_only_is_told_that_there_may_be_others() {
    alone_on_each_server::<MySql>(|server| {
        let database = server.query("SELECT DATABASE()")[0][0].clone().unwrap();
        server.query("CREATE TABLE idx (id INT PRIMARY KEY) ENGINE=InnoDB");
        server.query("CREATE TABLE hidden (id INT PRIMARY KEY) ENGINE=MyISAM");
        server.query("INSERT INTO hidden VALUES (1)");
        let url = server.url().replace("root@", "inrush_some:x@");
        let pattern = format!("`{}%`", &database[..database.len() - 1]);
        let mut cases = vec![
            (format!("GRANT SELECT ON `{database}`.idx"), false),
            (format!("GRANT EXECUTE, LOCK TABLES ON `{database}`.*"), false),
            (format!("GRANT SELECT ON `{database}`.*"), true),
            (format!("GRANT INSERT ON {pattern}.*"), true),
            ("GRANT SELECT ON *.*".to_owned(), true),
        ];
        let has_roles = server.is_from((8, 0, 0));
        if has_roles {
            cases.push((
                format!("GRANT SELECT ON `{database}`.* TO inrush_role; GRANT inrush_role"),
                true,
            ));
        }
        for (grant, sees_all) in cases {
            takes(server, "DROP USER 'inrush_some'@'localhost'");
            server.query("CREATE USER 'inrush_some'@'localhost' IDENTIFIED BY 'x'");
            if has_roles {
                server.query("DROP ROLE IF EXISTS inrush_role");
                server.query("CREATE ROLE inrush_role");
            }
            let own = match grant.split_once("; ") {
                Some((first, own)) => {
                    server.query(first);
                    own
                }
                None => &grant,
            };
            server.query(&format!("{own} TO 'inrush_some'@'localhost'"));
            if own.ends_with("inrush_role") {
                let everyone = "SET DEFAULT ROLE ALL TO 'inrush_some'@'localhost'";
                if !takes(server, everyone) {
                    server.query("SET DEFAULT ROLE inrush_role FOR 'inrush_some'@'localhost'");
                }
            }
            let found = answer(&server.inrush(&["doctor", &url, "--json"]));
            let not_known = found["not_known"].to_string();
            let is_told = not_known.contains(&format!("takes SELECT on `{database}`.*"));
            assert_eq!(is_told, !sees_all, "{grant}: {found:#}");
            let finds = named(&found).contains(&"risk table-without-transactions".to_owned());
            assert_eq!(finds, sees_all, "{grant}: {found:#}");
        }
        server.query("DROP USER 'inrush_some'@'localhost'");
        if has_roles {
            server.query("DROP ROLE inrush_role");
        }
    });
}

#[test]
fn a_server_is_asked_and_not_changed() {
    let settings = [("general-log", "1"), ("log-output", "TABLE")];
    let extras = Extras { settings: &settings, ..Extras::default() };
    for_each_private_server::<MySql>(
        |_| true,
        extras,
        |_, server| {
            server.query("CREATE TABLE t (id CHAR(36) PRIMARY KEY)");
            server.query("SET GLOBAL general_log = OFF");
            server.query("TRUNCATE TABLE mysql.general_log");
            server.query("SET GLOBAL general_log = ON");
            examined(server, 0);
            server.query("SET GLOBAL general_log = OFF");
            let rows =
                server.query("SELECT argument FROM mysql.general_log WHERE command_type = 'Query'");
            let asked = Cell::new(0);
            for sql in rows.into_iter().flatten().flatten() {
                let is_query =
                    ["SELECT", "SHOW", "SET SESSION", "SET NAMES", "SET GLOBAL general_log"]
                        .iter()
                        .any(|verb| sql.starts_with(verb));
                assert!(is_query, "{sql}");
                asked.set(asked.get() + 1);
            }
            assert!(asked.get() > 5, "{}", asked.get());
        },
    );
}

#[test]
fn two_hundred_tables_take_less_than_a_second() {
    for_one_server::<MySql>(|server| {
        for i in 0..200 {
            server.query(&format!(
                "CREATE TABLE t{i} (id CHAR(36) CHARACTER SET latin1 PRIMARY KEY, a INT, b INT, KEY a (a, b)) ENGINE=InnoDB"
            ));
        }
        let found = examined(server, 0);
        let seconds = found["seconds"].as_f64().unwrap();
        println!("{seconds:.3} s");
        assert!(seconds < 10.0, "{seconds} s");
    });
}

#[test]
fn a_server_that_is_not_there_is_an_error() {
    let fixture = Fixture::new();
    let run = fixture.inrush(&["doctor", "mysql://root:secret@127.0.0.1:1/d"]).exits(1);
    assert!(run.stderr.contains("no connection"), "{}", run.stderr);
    assert!(!run.stderr.contains("secret"), "{}", run.stderr);
    assert_eq!(run.stdout, "");
}

/// Runs a statement that not every server knows; whether this one does.
fn takes(server: &Server<MySql>, sql: &str) -> bool {
    console(&server.url()).and_then(|mut console| console.execute(sql)).is_ok()
}

/// The findings of a rule: what each is about, and its statements.
fn of_rule(found: &Json, rule: &str) -> Vec<(String, usize)> {
    let all = found["findings"].as_array().unwrap().iter();
    let of_it = all.filter(|finding| finding["id"] == rule);
    let about = |finding: &Json| {
        let statements = finding["statements"].as_array().map_or(0, Vec::len);
        (finding["object"].as_str().unwrap().to_owned(), statements)
    };
    of_it.map(about).collect()
}

/// An index of another kind, or one that no query uses, does not do what a tree of its own does.
#[test]
fn an_index_that_nothing_replaces_is_not_redundant() {
    for_each_server::<MySql>(|server| {
        let texts = "CREATE TABLE words (a INT PRIMARY KEY, b TEXT, c TEXT, FULLTEXT f (b), FULLTEXT g (b, c))";
        assert!(takes(server, texts) || !server.is_from((5, 6, 0)));
        server.query("CREATE TABLE hashed (a INT PRIMARY KEY, b INT, c INT, KEY b (b), KEY bc (b, c)) ENGINE=MEMORY");
        server.query(
            "CREATE TABLE plain (a INT PRIMARY KEY, b INT, c INT, KEY b (b), KEY bc (b, c))",
        );
        let hides = |word: &str| {
            takes(
                server,
                &format!(
                    "CREATE TABLE unused (a INT PRIMARY KEY, b INT, c INT, KEY b (b), KEY bc (b, c) {word})"
                ),
            )
        };
        let hides = hides("IGNORED") || hides("INVISIBLE");
        let found = examined(server, 0);
        let wanted = ("index b of table plain".to_owned(), 1);
        assert_eq!(of_rule(&found, "redundant-index"), [wanted], "hides: {hides:?}");
        server.query(
            "CREATE TABLE begun (a INT PRIMARY KEY, c VARCHAR(50), d INT, UNIQUE u (c(9)), KEY k5 (c(10)), KEY k6 (c), KEY k7 (d, c(5)), \
             KEY k8 (d, c(6)), KEY k9 (c(11), d))",
        );
        let found = of_rule(&examined(server, 0), "redundant-index");
        // The unique one refuses what the others let in, and of the last the second column is found by no other.
        let of = |index: &str| (format!("index {index} of table begun"), 1);
        assert_eq!(found[..2], [of("k5"), of("k7")]);
    });
}

/// What a statement would change besides, or could not do, is not proposed.
#[test]
fn statements_of_tables_run_as_given_and_change_nothing_else() {
    for_each_server::<MySql>(|server| {
        let narrow = "CHARACTER SET utf8 COLLATE utf8_bin";
        server.query(&format!(
            "CREATE TABLE exact (a VARCHAR(9) {narrow} PRIMARY KEY, b TEXT {narrow})"
        ));
        server.query("INSERT INTO exact VALUES ('a', 'x'), ('A', 'y')");
        server.query(&format!("CREATE TABLE mixed (a VARCHAR(9) {narrow} PRIMARY KEY, b VARCHAR(9) CHARACTER SET latin1)"));
        server.query("CREATE TABLE counting (a INT, b INT AUTO_INCREMENT, KEY (b)) ENGINE=InnoDB");
        server.query("CREATE TABLE counted (a INT, b INT AUTO_INCREMENT, KEY (b)) ENGINE=MyISAM");
        server.query(
            "CREATE TABLE grouped (a INT, b INT AUTO_INCREMENT, PRIMARY KEY (a, b)) ENGINE=MyISAM",
        );
        server.query("CREATE TABLE fixed (a INT) ENGINE=MyISAM ROW_FORMAT=FIXED");
        let texts: Vec<String> = (0..401).map(|number| format!("c{number} TEXT")).collect();
        server.query(&format!("CREATE TABLE wide (a INT, {}) ENGINE=MyISAM", texts.join(", ")));
        for table in ["counted", "grouped", "fixed", "wide"] {
            server.query(&format!("INSERT INTO {table} (a) VALUES (1)"));
        }
        let has_history =
            takes(server, "CREATE TABLE history (a INT) ENGINE=MyISAM WITH SYSTEM VERSIONING");
        if has_history {
            server.query("INSERT INTO history VALUES (1)");
        }
        let found = examined(server, 3);
        let name = |name: &str, statements| (format!("table {name}"), statements);
        let mut wanted = vec![name("counted", 1), name("fixed", 1), name("grouped", 0)];
        wanted.extend(has_history.then(|| name("history", 0)));
        wanted.push(name("wide", 0));
        assert_eq!(of_rule(&found, "table-without-transactions"), wanted);
        assert_eq!(of_rule(&found, "utf8mb3"), [name("exact", 1), name("mixed", 0)]);
        assert!(of_rule(&found, "table-without-key").contains(&name("counting", 0)), "{found}");
        for sql in statements(&found) {
            server.query(&sql);
        }
        assert_eq!(server.query("SELECT b FROM exact WHERE a = 'A'").len(), 1);
        let left = examined(server, 3);
        assert_eq!(of_rule(&left, "table-without-transactions").len(), wanted.len() - 2);
        assert_eq!(of_rule(&left, "utf8mb3"), [name("mixed", 0)]);
    });
}
