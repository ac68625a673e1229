//! PostgreSQL, MySQL and MariaDB: a hidden table in the user's own database.

use std::process::Child;

use super::{ROWS, in_favour_of, measured, orders, planned, reasons};
use crate::crash::send;
use crate::fixture::{Fixture, start, wait_until};
use crate::mysql::server::MySql;
use crate::postgres::server::Postgres;
use crate::servers::{
    Database, Extras, Server, alone_on_one_server, for_each_private_server, for_each_server,
    for_one_server,
};

/// Hidden tables.
const HIDDEN_POSTGRES: &str =
    "SELECT relname FROM pg_class WHERE relname LIKE 'inrush\\_staging%' AND relkind = 'r'";
const HIDDEN_MYSQL: &str = "SELECT TABLE_NAME FROM information_schema.TABLES WHERE TABLE_SCHEMA = DATABASE() \
     AND TABLE_NAME LIKE 'inrush\\_staging%'";

/// Measures a new table; the profile serves the load, and nothing is left of it.
fn serves<D: Database>(server: &Server<D>, other: &str) {
    orders(server);
    let url = server.url();
    let load = ["orders.csv", url.as_str(), "--primary-key", "id"];
    in_favour_of(other, server, &load);
    assert_eq!(server.tables(), [""; 0], "nothing is left");
    let plan = planned(server, &load);
    assert_eq!(plan["strategy"], other, "{plan}");
    assert!(reasons(&plan).contains("measured here on 20"), "{plan}");
    let fixture: &Fixture = server;
    let report = fixture.report(&[&load[..], &["--profiles", "p.toml"]].concat());
    assert_eq!(report["plan"]["strategy"], other);
    assert_eq!(report["rows_loaded"], ROWS);
    // Another table has another shape.
    let plain = planned(server, &["orders.csv", &url, "--table", "plain"]);
    assert_eq!(plain["measured"], serde_json::json!(null), "{plain}");
}

#[test]
fn what_was_measured_on_mysql_serves_its_loads() {
    for_one_server::<MySql>(|server| {
        // To older ones chunks go that are too large for so few rows.
        if server.is_from((5, 7, 0)) {
            serves(server, "mysql/values");
        }
    });
}

#[test]
fn what_was_measured_on_postgres_serves_its_loads() {
    for_each_server::<Postgres>(|server| serves(server, "postgres/copy-text"));
}

#[test]
fn a_setting_that_was_changed_takes_the_profile_out_until_it_is_back() {
    alone_on_one_server::<MySql>(|server| {
        orders(server);
        let url = server.url();
        let load = ["orders.csv", url.as_str()];
        in_favour_of("mysql/values", server, &load);
        let strategy = || planned(server, &load)["strategy"].as_str().unwrap().to_owned();
        assert_eq!(strategy(), "mysql/values");
        server.query("SET GLOBAL max_allowed_packet = 33554432");
        let plan = planned(server, &load);
        assert_ne!(plan["strategy"], "mysql/values", "{plan}");
        assert!(reasons(&plan).contains("max_allowed_packet was"), "{plan}");
        server.query("SET GLOBAL max_allowed_packet = DEFAULT");
        assert_eq!(strategy(), "mysql/values");
    });
}

#[test]
fn a_table_that_holds_rows_is_neither_touched_nor_counted_up() {
    for_each_server::<Postgres>(|server| {
        orders(server);
        server.query(
            "CREATE TABLE orders (n serial PRIMARY KEY, id bigint, amount numeric, customer text)",
        );
        server.query("INSERT INTO orders (id, amount, customer) VALUES (-1, 1, 'a')");
        let state = "SELECT xmin::text, n FROM orders UNION ALL SELECT 'next', last_value FROM orders_n_seq";
        let before = server.query(state);
        let url = server.url();
        measured(server, &["orders.csv", &url, "--if-exists", "append"]);
        assert_eq!(server.query(state), before);
        assert_eq!(server.tables(), ["orders"]);
    });
    for_one_server::<MySql>(|server| {
        orders(server);
        server.query("CREATE TABLE orders (n INT AUTO_INCREMENT PRIMARY KEY, id BIGINT, amount DOUBLE, customer TEXT, \
             KEY (customer(50))) ENGINE=InnoDB");
        server.query("INSERT INTO orders (id, amount, customer) VALUES (-1, 1, 'a')");
        let before =
            (server.query("SELECT * FROM orders"), server.query("SHOW CREATE TABLE orders"));
        let url = server.url();
        measured(server, &["orders.csv", &url, "--if-exists", "append"]);
        let after =
            (server.query("SELECT * FROM orders"), server.query("SHOW CREATE TABLE orders"));
        assert_eq!(after, before);
        assert_eq!(server.tables(), ["orders"]);
    });
}

/// A measurement of which a hidden table is seen; one that was over before any was seen is begun again.
fn under_way<D: Database>(server: &Server<D>, tables: &str, options: &[&str]) -> Child {
    let url = server.url();
    let args = ["tune", "orders.csv", &url, "--profiles", "p.toml", "--report", "out"];
    let args = [&args[..], options].concat();
    let mut said = String::new();
    for _ in 0..5 {
        let mut child = start(server.command(&args).stdin(std::process::Stdio::null()));
        while child.try_wait().unwrap().is_none() {
            if !server.query(tables).is_empty() {
                return child;
            }
            std::thread::sleep(std::time::Duration::from_millis(5));
        }
        let output = child.wait_with_output().unwrap();
        said = String::from_utf8_lossy(&output.stderr).into_owned();
    }
    panic!("no hidden table was seen, and the last measurement said: {said}");
}

/// Another connection writes into the user's table while it is measured beside it: it does not wait, and all of its rows are there.
fn keeps_what_others_write<D: Database>(server: &Server<D>, tables: &str) {
    orders(server);
    server.query(
        "CREATE TABLE orders (id bigint PRIMARY KEY, amount double precision, customer text)",
    );
    let mut child = under_way(server, tables, &["--if-exists", "append", "--budget", "1s"]);
    let mut written = 0;
    while child.try_wait().unwrap().is_none() {
        written += 1;
        server.query(&format!("INSERT INTO orders VALUES (-{written}, 1, 'another')"));
    }
    let output = child.wait_with_output().unwrap();
    let told = String::from_utf8_lossy(&output.stderr).into_owned();
    assert_eq!(output.status.code(), Some(0), "{told}");
    assert!(written > 1, "{told}");
    assert_eq!(server.number("SELECT count(*) FROM orders"), written);
    assert_eq!(server.number("SELECT count(*) FROM orders WHERE id < 0"), written);
    assert_eq!(server.tables(), ["orders"]);
}

#[test]
fn a_table_that_others_write_to_meanwhile_has_their_rows_and_no_others() {
    for_each_server::<Postgres>(|server| keeps_what_others_write(server, HIDDEN_POSTGRES));
    for_one_server::<MySql>(|server| keeps_what_others_write(server, HIDDEN_MYSQL));
}

#[test]
fn a_server_that_is_read_only_says_what_to_do() {
    alone_on_one_server::<MySql>(|server| {
        orders(server);
        let url = server.url();
        server.query("SET GLOBAL read_only = 1");
        let run = server.inrush(&["tune", "orders.csv", &url, "--budget", "5s"]);
        server.query("SET GLOBAL read_only = 0");
        run.exits(1).says(&["the server is read-only", "--beside"]);
        assert_eq!(server.tables(), [""; 0]);
    });
    for_each_server::<Postgres>(|server| {
        orders(server);
        let database = server.query("SELECT current_database()")[0][0].clone().unwrap();
        let set = format!("ALTER DATABASE {database} SET default_transaction_read_only = on");
        server.query(&set);
        let url = server.url();
        let run = server.inrush(&["tune", "orders.csv", &url, "--budget", "5s"]);
        server.query(&format!("ALTER DATABASE {database} RESET ALL"));
        run.exits(1).says(&["transactions only read here", "--beside"]);
        assert_eq!(server.tables(), [""; 0]);
    });
}

/// Kills a measurement under way; the next load sweeps what it has left.
fn is_swept<D: Database>(server: &Server<D>, tables: &str) {
    orders(server);
    let url = server.url();
    let mut child = under_way(server, tables, &["--budget", "60s"]);
    send(&child, "KILL");
    child.wait().unwrap();
    server.write("few.csv", "id\n1\n");
    let fixture: &Fixture = server;
    // The server may notice a little later that the one who had the locks is gone.
    wait_until("it is swept", || {
        fixture.load(&["few.csv", &url, "--if-exists", "replace"]).exits(0);
        server.query(tables).is_empty()
    });
}

#[test]
fn what_a_killed_one_has_left_on_a_server_is_swept_by_the_next_load() {
    for_each_server::<Postgres>(|server| is_swept(server, HIDDEN_POSTGRES));
    for_one_server::<MySql>(|server| is_swept(server, HIDDEN_MYSQL));
}

#[test]
fn without_the_right_to_make_tables_it_says_what_to_do() {
    for_each_server::<Postgres>(|server| {
        orders(server);
        server.query("CREATE TABLE orders (id bigint, amount numeric, customer text)");
        let role = format!("reader_{}", std::process::id());
        server.query(&format!("DROP ROLE IF EXISTS {role}"));
        server.query(&format!("CREATE ROLE {role} LOGIN"));
        server.query("REVOKE CREATE ON SCHEMA public FROM PUBLIC");
        server.query(&format!("GRANT SELECT, INSERT ON orders TO {role}"));
        let url = server.url().replace("postgres@", &format!("{role}@"));
        let run = server.inrush(&["tune", "orders.csv", &url, "--budget", "5s"]);
        run.exits(1).says(&["may not", "--beside"]);
        assert_eq!(server.tables(), ["orders"]);
        server.query(&format!("REVOKE ALL ON orders FROM {role}"));
        server.query(&format!("DROP ROLE {role}"));
    });
    for_one_server::<MySql>(|server| {
        orders(server);
        server.query("CREATE TABLE orders (id BIGINT, amount DOUBLE, customer TEXT)");
        let user = format!("reader_{}", std::process::id());
        server.query(&format!("CREATE USER '{user}'@'localhost' IDENTIFIED BY 'secret'"));
        let database = server.query("SELECT DATABASE()")[0][0].clone().unwrap();
        server.query(&format!("GRANT SELECT, INSERT ON {database}.* TO '{user}'@'localhost'"));
        let url = server.url().replace("root@", &format!("{user}:secret@"));
        let run = server.inrush(&["tune", "orders.csv", &url, "--budget", "5s"]);
        server.query(&format!("DROP USER '{user}'@'localhost'"));
        run.exits(1).says(&["denied", "--beside"]);
        assert_eq!(server.tables(), ["orders"]);
    });
}

/// A measurement during which the server is started anew: it may end in one way or the other, and leaves nothing.
fn survives<D: Database>(
    private: &mut inrush_servers::Server,
    server: &Server<D>,
    tables: &str,
    connect_again: impl Fn(&Server<D>),
) {
    orders(server);
    let url = server.url();
    let child = under_way(server, tables, &["--budget", "4s"]);
    private.restart().unwrap();
    connect_again(server);
    let output = child.wait_with_output().unwrap();
    let told = String::from_utf8_lossy(&output.stderr).into_owned();
    assert!(matches!(output.status.code(), Some(0 | 1)), "{:?}: {told}", output.status);
    server.write("few.csv", "id\n1\n");
    let fixture: &Fixture = server;
    fixture.load(&["few.csv", &url]).exits(0);
    assert!(server.query(tables).is_empty(), "{told}");
    assert_eq!(server.tables(), ["few"]);
}

#[test]
fn a_server_that_is_started_anew_meanwhile_keeps_nothing_of_it() {
    for_each_private_server::<Postgres>(
        |_| true,
        Extras::default(),
        |private, server| {
            survives(private, server, HIDDEN_POSTGRES, |server| server.connect_again())
        },
    );
    for_each_private_server::<MySql>(
        |name| name.starts_with("mariadb"),
        Extras::default(),
        |private, server| survives(private, server, HIDDEN_MYSQL, |server| server.connect_again()),
    );
}

#[test]
fn beside_measures_for_who_may_make_no_table() {
    for_each_server::<Postgres>(|server| {
        orders(server);
        server.query("CREATE TABLE orders (id bigint, amount double precision, customer text)");
        server.query("INSERT INTO orders VALUES (-1, 1, 'a')");
        let url = server.url();
        let load = ["orders.csv", &url, "--if-exists", "append", "--beside"];
        let found = in_favour_of("postgres/copy-text", server, &load);
        assert!(found["key"]["shape"].as_str().unwrap().contains("holds rows"), "{found}");
        assert_eq!(server.query("SELECT count(*)::text FROM orders"), [[Some("1".to_owned())]]);
        let plan = planned(server, &["orders.csv", &url, "--if-exists", "append"]);
        assert!(reasons(&plan).contains("measured here on 20"), "{plan}");
    });
}

/// Interrupts a measurement under way: it reports, and drops what it has made.
fn is_interrupted<D: Database>(server: &Server<D>, tables: &str) {
    orders(server);
    let child = under_way(server, tables, &["--budget", "60s"]);
    send(&child, "INT");
    let output = child.wait_with_output().unwrap();
    assert_eq!(output.status.code(), Some(130), "{}", String::from_utf8_lossy(&output.stderr));
    assert!(server.query(tables).is_empty());
    assert_eq!(server.tables(), [""; 0]);
}

#[test]
fn an_interruption_leaves_no_table() {
    for_each_server::<Postgres>(|server| is_interrupted(server, HIDDEN_POSTGRES));
    for_one_server::<MySql>(|server| is_interrupted(server, HIDDEN_MYSQL));
}
