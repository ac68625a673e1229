use super::proxy::{Proxy, Trick};
use super::server::{for_some_servers, rows};

const SECRET: &str = "the launch code is 0000";

#[test]
fn a_server_that_asks_for_another_file_gets_the_rows() {
    for_some_servers(|server| {
        let rows: String = (1..=2000).map(|id| format!("{id},name {id}\n")).collect();
        server.write("t.csv", format!("id,name\n{rows}")).write("secret", SECRET);
        server.tool("mkfifo", &["fifo"], b"");
        // Who opened the second would wait for ever.
        for file in ["secret", "fifo"] {
            for lanes in ["1", "2"] {
                let path = server.path(file).to_str().unwrap().to_owned();
                let proxy = Proxy::start(&server.address, Trick::OtherFile(path));
                let url = server.url_at(&proxy.address);
                let load = [
                    "load",
                    "t.csv",
                    &url,
                    "--strategy",
                    "load-data",
                    "--lanes",
                    lanes,
                    "--chunk-size",
                    "4k",
                ];
                server.inrush(&load).exits(0);
                assert_eq!(
                    server.query("SELECT COUNT(*), SUM(id) FROM t"),
                    rows![[2000, 2_001_000]]
                );
                assert!(proxy.changed() > 0, "nobody asked for a file");
                assert!(!proxy.has_seen(SECRET.as_bytes()));
                assert!(proxy.has_seen(b"1999\tname 1999\n"), "the rows went another way");
                server.drop_table("t");
            }
        }
    });
}

#[test]
fn a_server_that_asks_for_a_file_without_being_offered_one_gets_nothing() {
    for_some_servers(|server| {
        let rows: String = (1..=500).map(|id| format!("{id},name {id}\n")).collect();
        server.write("t.csv", format!("id,name\n{rows}")).write("secret", SECRET);
        server.sql("CREATE TABLE u (id INT PRIMARY KEY, name VARCHAR(20));; INSERT INTO u VALUES (0, 'old')");
        let path = server.path("secret").to_str().unwrap().to_owned();
        for (strategy, words) in [
            ("load-data", "SHOW VARIABLES"),
            ("load-data", "information_schema.TABLES"),
            ("load-data", "SET NAMES"),
            ("load-data", "CREATE TABLE"),
            ("load-data", "SELECT COUNT(*) FROM `inrush"),
            ("load-data", "START TRANSACTION"),
            ("load-data", "COMMIT"),
            ("values", "INSERT INTO"),
            ("row-sql", "INSERT INTO"),
        ] {
            let trick = Trick::AskAt { words, file: path.clone() };
            let proxy = Proxy::start(&server.address, trick);
            let url = server.url_at(&proxy.address);
            let run = server.load_at(&url, &["t.csv", "--strategy", strategy]);
            let given = proxy.given().unwrap_or_else(|| panic!("nobody said {words}"));
            assert!(given.is_empty(), "{words}: {}", String::from_utf8_lossy(&given));
            assert!(!proxy.has_seen(SECRET.as_bytes()), "{words}");
            let run = run
                .exits(1)
                .says(&["asks for a file that it was not offered"])
                .ends_with_nothing_changed();
            assert!(!run.stderr.contains(SECRET));
            drop(proxy);
            server.wait_until_alone();
            assert!(!server.tables().contains(&"t".to_owned()), "{words}");
            assert_eq!(server.query("SELECT * FROM u"), rows![[0, "old"]]);
        }
        // Sweeps away what the cut connections left.
        server.load(&["t.csv"]).exits(0);
    });
}

#[test]
fn files_that_are_asked_for_after_a_statement_of_an_insert_are_not_sent_either() {
    for_some_servers(|server| {
        server
            .write("t.csv", "id\n1\n")
            .write("secret", SECRET)
            .sql("CREATE TABLE t (id INT);; INSERT INTO t VALUES (0)");
        let path = server.path("secret").to_str().unwrap().to_owned();
        for (strategy, words) in [
            ("load-data", "COMMIT"),
            ("values", "START TRANSACTION"),
            ("load-data", "START TRANSACTION"),
        ] {
            let proxy = Proxy::start(&server.address, Trick::AskAt { words, file: path.clone() });
            let url = server.url_at(&proxy.address);
            let run =
                server.load_at(&url, &["t.csv", "--if-exists", "append", "--strategy", strategy]);
            assert_eq!(proxy.given().as_deref(), Some(&b""[..]), "{words}");
            assert!(!proxy.has_seen(SECRET.as_bytes()), "{words}");
            run.exits(1).says(&["asks for a file that it was not offered"]);
            drop(proxy);
            server.wait_until_alone();
            assert_eq!(server.query("SELECT * FROM t"), rows![[0]], "{words}");
        }
    });
}
