use crate::fixture::{some, start, wait_until};
use crate::servers::OnDrop;

use super::login::{SECRET, User, run};
use super::server::{for_each_server, for_some_servers, rows};

/// Servers show triggers to nobody but those who may make some.
#[test]
fn triggers_that_the_login_may_not_see_stay_and_have_their_say() {
    for_some_servers(|server| {
        server.write("t.csv", "id,n\n1,1\n2,2\n");
        let user = User::new(server, "SELECT, INSERT, DELETE, CREATE, DROP, ALTER");
        let url = user.url_with(SECRET);
        // The server reads files for nobody but those with a right for all databases.
        let ways = server.ways_into_empty().into_iter().filter(|way| !way.is("load-data-server"));
        for way in some(ways.collect::<Vec<_>>()) {
            server.sql(
                "CREATE TABLE t (id INT PRIMARY KEY, n INT) ENGINE=InnoDB;;
                 CREATE TRIGGER more BEFORE INSERT ON t FOR EACH ROW SET NEW.n = NEW.n + 10",
            );
            server.load_at(&url, &[&["t.csv"], &way.options()[..]].concat()).exits(0);
            let stored = rows![[1, 11], [2, 12]];
            assert_eq!(server.query("SELECT * FROM t ORDER BY id"), stored, "{way:?}");
            server
                .load_at(&url, &["t.csv", "--if-exists", "truncate", "--strategy", &way.strategy])
                .exits(0);
            assert_eq!(server.query("SELECT * FROM t ORDER BY id"), stored, "{way:?}");
            assert_eq!(server.query("SHOW TRIGGERS").len(), 1, "{way:?}");
            server.drop_table("t");
        }
    });
}

#[test]
fn a_parent_of_tables_that_the_login_may_not_see_stays_one() {
    for_each_server(|server| {
        let others = format!("{}_others", server.database);
        let parent = format!("`{}`.t", server.database);
        let _gone = OnDrop(|| {
            server.sql(&format!("DROP DATABASE {others}"));
        });
        server.write("t.csv", "id\n1\n2\n");
        server.sql(&format!(
            "CREATE TABLE t (id INT PRIMARY KEY) ENGINE=InnoDB;; CREATE DATABASE {others};;
             CREATE TABLE {others}.child (t INT, FOREIGN KEY (t) REFERENCES {parent} (id)) ENGINE=InnoDB"
        ));
        let user = User::new(server, "ALL");
        let url = user.url_with(SECRET);
        let refers = || {
            let made = server.query(&format!("SHOW CREATE TABLE {others}.child"));
            made[0][1].as_ref().unwrap().contains(&format!("REFERENCES `{}`.`t`", server.database))
        };
        for if_exists in ["append", "truncate", "replace"] {
            // Where it deletes rows it asks for all foreign keys, and loads past those.
            if if_exists == "truncate" && server.lists_foreign_keys() {
                // Older ones do not say by which rule.
                if !server.is_from((8, 0, 31)) {
                    let load = ["t.csv", "--if-exists", if_exists];
                    server.refuses_at(&url, &load).says(&["whose foreign keys say so"]);
                    continue;
                }
                server.load_at(&url, &["t.csv", "--if-exists", if_exists]).exits(0);
                assert!(refers() && server.count("t") == 2);
                server.sql("DELETE FROM t");
                continue;
            }
            server
                .refuses_at(&url, &["t.csv", "--if-exists", if_exists])
                .says(&["foreign key", "can't see"]);
            assert!(refers(), "{if_exists}");
        }
        // A job that replaces it.
        let job = |args: &[&str]| run(server, &[&["job"], args].concat(), &[("MYSQL_PWD", SECRET)]);
        let begin = ["begin", &user.url(), "--table", "t", "--like", "t.csv"];
        let begun = job(&[&begin[..], &["--if-exists", "replace"]].concat()).exits(0);
        server.write("job.json", &begun.stdout);
        server.write("token", job(&["write", "job.json", "t.csv"]).exits(0).stdout);
        job(&["publish", "job.json", "token"]).exits(1).says(&["foreign key", "can't see"]);
        assert!(refers());
        assert_eq!(server.count("t"), 0);
        job(&["abort", "job.json"]).exits(0);
        server.sql("DROP TABLE inrush_jobs");
        // Who sees it loads past it.
        server.load(&["t.csv"]).exits(0);
        server.sql(&format!("INSERT INTO {others}.child VALUES (1)"));
        assert!(refers());
        server.refuses(&["t.csv", "--if-exists", "replace"]).says(&["child"]);
    });
}

/// The server changes their rows with those of the table, and says nothing.
#[test]
fn rows_of_tables_that_the_login_may_not_see_are_not_changed_with_others() {
    for_each_server(|server| {
        // Older ones have no list of InnoDB's own that PROCESS would show.
        if !server.is_from((5, 6, 0)) {
            return;
        }
        server.write("t.csv", "id,name\n1,new\n");
        let user = User::new(server, "CREATE TEMPORARY TABLES");
        let (url, database) = (user.url_with(SECRET), &server.database);
        let grant = |rights: &str, on: &str| {
            for host in ["localhost", "127.0.0.1"] {
                server.sql(&format!("GRANT {rights} ON {on} TO '{}'@'{host}'", user.name()));
            }
        };
        let base = "CREATE TABLE t (id INT PRIMARY KEY, name VARCHAR(9)) ENGINE=InnoDB;; INSERT INTO t VALUES (1, 'old')";
        let child = |rule: &str| {
            server.sql(&format!(
                "CREATE TABLE child (p INT, FOREIGN KEY (p) REFERENCES t (id) {rule}) ENGINE=InnoDB;; INSERT INTO child VALUES (1)"
            ));
        };
        server.sql(base);
        grant("SELECT, INSERT, UPDATE, DELETE", &format!("{database}.t"));
        let truncate = &["t.csv", "--if-exists", "truncate"][..];
        let replace = &["t.csv", "--if-exists", "append", "--on-conflict", "replace"][..];
        let said = match server.lists_foreign_keys() {
            true => &["change those of child"][..],
            false => &["not known", "GRANT PROCESS ON *.* TO"],
        };
        for rule in ["ON DELETE CASCADE", "ON DELETE SET NULL"] {
            child(rule);
            for load in [truncate, replace] {
                let refused = || server.refuses_at(&url, load);
                server.leaves_everything(refused).says(said);
            }
            server.drop_table("child");
        }
        let update = ["t.csv", "--if-exists", "append", "--on-conflict", "update"];
        server.load_at(&url, &update).exits(0);
        // It sees them now, and who has it sees those of other databases, too.
        grant("PROCESS", "*.*");
        for rule in ["ON DELETE CASCADE", "ON DELETE SET NULL"] {
            child(rule);
            for load in [truncate, replace] {
                let refused = || server.refuses_at(&url, load);
                server.leaves_everything(refused).says(&["change those of child"]);
            }
            server.drop_table("child");
        }
        for load in [truncate, replace] {
            let report = server.load_at(&url, &[load, &["--json"]].concat()).exits(0).json();
            assert!(!report["warnings"].to_string().contains("foreign keys"), "{report}");
        }
        // Where the rows can't be deleted, the server says so.
        child("");
        server.leaves_everything(|| server.refuses_at(&url, truncate)).says(&["foreign key"]);
    });
}

/// Who may write into the table need not have the right to make another one.
#[test]
fn a_load_in_steps_without_the_right_to_make_its_ledger_says_what_it_takes() {
    for_some_servers(|server| {
        server.write("t.csv", "id,name\n1,new\n");
        server.sql("CREATE TABLE t (id INT, name VARCHAR(9)) ENGINE=InnoDB");
        let user = User::new(server, "CREATE TEMPORARY TABLES");
        let url = user.url_with(SECRET);
        let grant = |rights: &str, table: &str| {
            for host in ["localhost", "127.0.0.1"] {
                let (on, name) = (&server.database, user.name());
                server.sql(&format!("GRANT {rights} ON {on}.{table} TO '{name}'@'{host}'"));
            }
        };
        grant("SELECT, INSERT", "t");
        let append = ["t.csv", "--if-exists", "append"];
        let steps = [&append[..], &["--guarantee", "chunks"]].concat();
        let words = ["inrush_steps", "CREATE", "or leave --guarantee chunks out"];
        server.load_at(&url, &steps).exits(1).says(&words).ends_with_nothing_changed();
        server.load_at(&url, &append).exits(0);
        // One that another user has made.
        server.load(&steps).exits(0);
        grant("SELECT", "inrush_steps");
        server.write("t.csv", "id,name\n2,newer\n3,newer\n");
        server.load_at(&url, &steps).exits(1).says(&words).ends_with_nothing_changed();
        grant("INSERT, UPDATE, DELETE", "inrush_steps");
        server.load_at(&url, &steps).exits(0);
    });
}

#[test]
fn foreign_keys_of_databases_that_the_login_may_not_see_are_told_of() {
    for_each_server(|server| {
        server.write("t.csv", "id,name\n1,new\n");
        server.sql("CREATE TABLE t (id INT PRIMARY KEY, name VARCHAR(9)) ENGINE=InnoDB;; INSERT INTO t VALUES (1, 'old')");
        let user = User::new(server, "SELECT, INSERT, UPDATE, DELETE, CREATE TEMPORARY TABLES");
        let url = user.url_with(SECRET);
        let answers = ["--on-conflict", "replace", "--if-exists", "append"];
        for load in [&answers[..], &["--if-exists", "truncate"]] {
            let load = [&["t.csv", "--json"], load].concat();
            let report = server.load_at(&url, &load).exits(0).json();
            let is_said = report["warnings"].to_string().contains("other databases");
            assert_eq!(is_said, !server.lists_foreign_keys(), "{report}");
        }
    });
}

/// MariaDB shows them those alone whose columns they have a right to.
#[test]
fn keys_that_a_login_with_rights_to_columns_may_not_see_are_none_to_answer_for() {
    for_each_server(|server| {
        server.write("t.csv", "id,e\n7,new\n");
        server.sql(
            "CREATE TABLE t (id INT PRIMARY KEY, e VARCHAR(20), code INT DEFAULT 5, UNIQUE (code)) ENGINE=InnoDB;; INSERT INTO t (id, e) VALUES (1, 'old')",
        );
        let user = User::new(server, "CREATE TEMPORARY TABLES");
        let url = user.url_with(SECRET);
        let grant = |rights: &str| {
            for host in ["localhost", "127.0.0.1"] {
                let (on, name) = (&server.database, user.name());
                server.sql(&format!("GRANT {rights} ON {on}.t TO '{name}'@'{host}'"));
            }
        };
        grant("SELECT (id, e), INSERT (id, e), UPDATE (id, e)");
        for answer in ["update", "replace", "skip"] {
            let load = ["t.csv", "--if-exists", "append", "--on-conflict", answer];
            let refused = || server.refuses_at(&url, &load);
            let said = match server.is_mariadb {
                true => &["rights to single columns of table t", "GRANT SELECT ON `"][..],
                false if answer == "replace" => &["several unique keys"],
                false => &["t.csv: line 2", "another unique key"],
            };
            server.leaves_everything(refused).says(said);
        }
        grant("SELECT");
        let update = ["t.csv", "--if-exists", "append", "--on-conflict", "update"];
        server.refuses_at(&url, &update).says(&["t.csv: line 2", "another unique key"]);
        server.sql("ALTER TABLE t DROP INDEX code");
        server.load_at(&url, &update).exits(0);
        assert_eq!(server.query("SELECT id, e FROM t ORDER BY id"), rows![[1, "old"], [7, "new"]]);
    });
}

#[test]
fn an_update_trigger_that_the_login_may_not_see_is_named_where_it_changes_rows() {
    for_some_servers(|server| {
        server.write("t.csv", "id,n\n1,9\n").sql(
            "CREATE TABLE t (id INT PRIMARY KEY, n INT) ENGINE=InnoDB;; INSERT INTO t VALUES (1, 1);;
             CREATE TRIGGER changed BEFORE UPDATE ON t FOR EACH ROW SET NEW.n = OLD.n + 100",
        );
        // Older ones ask for rights to each temporary table.
        if !server.is_from((5, 6, 0)) {
            return;
        }
        let user = User::new(server, "SELECT, INSERT, UPDATE, CREATE TEMPORARY TABLES");
        for way in some(server.ways_into_used()) {
            if way.is("load-data-server") {
                continue;
            }
            let load = ["t.csv", "--if-exists", "append", "--on-conflict", "skip"];
            let load = [&load[..], &way.options()].concat();
            let run = server.leaves_everything(|| server.refuses_at(&user.url_with(SECRET), &load));
            let run = run.says(&["UPDATE trigger"]);
            assert!(!run.stderr.contains("such as InnoDB"), "{run:?}");
        }
    });
}

#[test]
fn the_right_to_a_table_in_between_is_named() {
    for_each_server(|server| {
        server.write("t.csv", "id\n1\n2\n");
        server.sql("CREATE TABLE t (id INT PRIMARY KEY) ENGINE=InnoDB;; INSERT INTO t VALUES (1)");
        let user = User::new(server, "SELECT, INSERT, UPDATE");
        let load = ["t.csv", "--if-exists", "append", "--on-conflict", "skip"];
        let by = |strategy| [&load[..], &["--strategy", strategy]].concat();
        let url = user.url_with(SECRET);
        server
            .refuses_at(&url, &by("load-data"))
            .says(&["CREATE TEMPORARY TABLES", "--strategy values"]);
        let run = server.load_at(&url, &by("values")).exits(0);
        assert_eq!(server.query("SELECT * FROM t ORDER BY id"), rows![[1], [2]]);
        if !server.is_mariadb {
            run.prints(&["whether table t has UPDATE triggers is not known"]);
        }
    });
}

/// The lock that keeps others off while a hidden table takes another's place is for who has that right.
#[test]
fn a_login_without_the_right_to_lock_tables_replaces_them_all_the_same() {
    for_some_servers(|server| {
        server.write("t.csv", "id\n1\n2\n");
        let user = User::new(server, "SELECT, INSERT, DELETE, CREATE, DROP, ALTER, TRIGGER");
        let url = user.url_with(SECRET);
        server.sql("CREATE TABLE t (id INT PRIMARY KEY) ENGINE=InnoDB");
        for if_exists in ["empty", "truncate", "replace"] {
            server.load_at(&url, &["t.csv", "--if-exists", if_exists]).exits(0);
            assert_eq!(server.count("t"), 2, "{if_exists} on {}", server.name);
            assert!(server.hidden().is_empty());
        }
    });
}

/// The server waits on for a table that a client is gone for, which wanted to rename it.
#[test]
fn a_killed_load_without_the_right_to_lock_tables_does_not_replace_one_later() {
    for_some_servers(|server| {
        server.write("t.csv", "id\n1\n2\n");
        let user = User::new(server, "SELECT, INSERT, DELETE, CREATE, DROP, ALTER, TRIGGER");
        let url = user.url_with(SECRET);
        server.sql(
            "CREATE TABLE t (id INT PRIMARY KEY) ENGINE=InnoDB;; INSERT INTO t VALUES (7);;
             BEGIN;; SELECT COUNT(*) FROM t",
        );
        let load = ["load", "t.csv", &url, "--table", "t", "--if-exists", "replace"];
        let mut child = start(&mut server.command(&load));
        let waiting = "SELECT 1 FROM information_schema.PROCESSLIST \
                       WHERE INFO LIKE '%RENAME TABLE%' AND STATE LIKE 'Waiting for %'";
        let waits = || !server.query(waiting).is_empty();
        wait_until("the load waits for the reader", waits);
        child.kill().unwrap();
        child.wait().unwrap();
        wait_until("the server gives up the renaming", || !waits());
        server.sql("COMMIT");
        assert_eq!(server.query("SELECT id FROM t"), rows![[7]], "{}", server.name);
        server.wait_until_alone();
        server.load_at(&url, &["t.csv", "--if-exists", "replace"]).exits(0);
        assert_eq!(server.count("t"), 2);
        assert!(server.hidden().is_empty());
    });
}

/// One for the hidden table, and the others for its rows.
#[test]
fn a_login_opens_no_more_connections_than_it_may() {
    for_each_server(|server| {
        let rows: String = (1..=20_000).map(|id| format!("{id},name\n")).collect();
        server.write("t.csv", format!("id,name\n{rows}"));
        if !server.is_from((5, 7, 6)) {
            return;
        }
        let user = User::new(server, "ALL");
        let name = user.name();
        for host in ["localhost", "127.0.0.1"] {
            server.sql(&format!("ALTER USER '{name}'@'{host}' WITH MAX_USER_CONNECTIONS 3"));
        }
        let args = ["t.csv", "--lanes", "8", "--chunk-size", "8k", "--primary-key", "id"];
        let url = user.url_with(SECRET);
        server.load_at(&url, &args).exits(0).prints(&["--lanes 8", "it is 2"]);
        assert_eq!(server.count("t"), 20_000);
        for host in ["localhost", "127.0.0.1"] {
            server.sql(&format!("ALTER USER '{name}'@'{host}' WITH MAX_USER_CONNECTIONS 1"));
        }
        for if_exists in ["empty", "truncate", "replace"] {
            let load = ["t.csv", "--chunk-size", "8k", "--if-exists", if_exists];
            if if_exists == "empty" {
                server.drop_table("t");
            }
            server.load_at(&url, &load).exits(0);
            assert_eq!(server.count("t"), 20_000, "{if_exists}");
        }
        server.drop_table("t");
    });
}

#[test]
fn a_limit_of_time_is_named() {
    for_each_server(|server| {
        // MySQL has one for queries alone.
        if !server.is_mariadb {
            return;
        }
        server.write("t.csv", "id\n1\n");
        let user = User::new(server, "ALL");
        for host in ["localhost", "127.0.0.1"] {
            let name = user.name();
            server.sql(&format!("ALTER USER '{name}'@'{host}' WITH MAX_STATEMENT_TIME 0.0001"));
        }
        let run = server.refuses_at(&user.url_with(SECRET), &["t.csv"]);
        run.says(&["max_statement_time exceeded", "SET GLOBAL max_statement_time = 0"]);
    });
}
