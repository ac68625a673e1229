use crate::fixture::Random;

use super::server::{Server, for_each_server, rows};

const STRATEGIES: [&str; 5] = ["load-data", "load-data-server", "values", "prepared", "row-sql"];

/// Those that can have several connections.
fn strategies(server: &Server) -> Vec<&'static str> {
    let bulk = server.has_bulk().then_some("bulk");
    STRATEGIES.into_iter().chain(bulk).collect()
}

/// Many small chunks for several connections.
fn over<'a>(strategy: &'a str, lanes: &'a str) -> [&'a str; 6] {
    ["--strategy", strategy, "--lanes", lanes, "--chunk-size", "1k"]
}

#[test]
fn of_two_rows_with_one_key_the_later_one_in_the_file_is_the_bad_one() {
    for_each_server(|server| {
        let row = |id: usize| match id {
            3900 => "10,late\n".to_owned(),
            _ => format!("{id},name {id}\n"),
        };
        let text: String = (1..=4000).map(row).collect();
        server.write("t.csv", format!("id,name\n{text}"));
        for (strategy, lanes) in strategies(server).into_iter().zip(["2", "4", "3", "2", "2", "2"])
        {
            let load = [&["t.csv", "--primary-key", "id"], &over(strategy, lanes)[..]].concat();
            server.refuses(&load).says(&["t.csv: line 3901"]);
            server.load(&[&load[..], &["--max-rejects", "1"]].concat()).exits(3);
            assert_eq!(server.read("t.rejects.csv"), b"id,name\n10,late\n", "{strategy}");
            let stored = server.query("SELECT COUNT(*), MIN(id), MAX(id) FROM t");
            assert_eq!(stored, rows![[3999, 1, 4000]], "{strategy}");
            assert_eq!(server.query("SELECT name FROM t WHERE id = 10"), rows![["name 10"]]);
            server.drop_table("t");
        }
    });
}

#[test]
fn many_rows_with_one_key_all_over_the_file() {
    for_each_server(|server| {
        let mut random = Random(0x7);
        let mut seen = std::collections::BTreeMap::new();
        let (mut text, mut rejects) = ("id,name\n".to_owned(), "id,name\n".to_owned());
        for line in 0..3000 {
            let id = random.next() % 20_000;
            let row = format!("{id},line {line}\n");
            text += &row;
            if *seen.entry(id).or_insert(line) != line {
                rejects += &row;
            }
        }
        server.write("t.csv", text);
        for strategy in strategies(server) {
            server.sql("CREATE TABLE t (id INT PRIMARY KEY, name VARCHAR(20))");
            let load = [&["t.csv", "--max-rejects", "50%"], &over(strategy, "3")[..]].concat();
            server.load(&load).exits(3);
            assert_eq!(
                String::from_utf8(server.read("t.rejects.csv")).unwrap(),
                rejects,
                "{strategy}"
            );
            assert_eq!(server.count("t"), seen.len() as i64, "{strategy}");
            server.drop_table("t");
        }
    });
}

#[test]
fn bad_rows_of_all_connections_are_put_aside_in_the_order_of_the_file() {
    for_each_server(|server| {
        let (mut text, mut rejects) = ("id,n\n".to_owned(), "id,n\n".to_owned());
        for id in 0..4000 {
            let row = match id % 97 {
                0 => format!("{id},300\n"),
                // Only the server knows of this one.
                1 if id % 2 == 0 => format!("{id},13\n"),
                _ => format!("{id},{}\n", id % 7),
            };
            if row.ends_with(",300\n") || row.ends_with(",13\n") {
                rejects += &row;
            }
            text += &row;
        }
        server.write("t.csv", text);
        let checks = server.is_mariadb || server.version >= (8, 0);
        for strategy in strategies(server) {
            let n = if checks {
                "n TINYINT UNSIGNED CHECK (n <> 13)"
            } else {
                "n ENUM('0','1','2','3','4','5','6')"
            };
            server.sql(&format!("CREATE TABLE t (id INT PRIMARY KEY, {n})"));
            let load = [&["t.csv", "--max-rejects", "100"], &over(strategy, "3")[..]].concat();
            server.load(&load).exits(3);
            assert_eq!(
                String::from_utf8(server.read("t.rejects.csv")).unwrap(),
                rejects,
                "{strategy}"
            );
            assert_eq!(server.number("SELECT SUM(n = 13) FROM t"), 0, "{strategy}");
            assert_eq!(server.count("t") as usize, 4001 - rejects.lines().count(), "{strategy}");
            server.drop_table("t");
        }
    });
}

#[test]
fn several_connections_share_the_work() {
    for_each_server(|server| {
        let text: String = (1..=20_000).map(|id| format!("{id},{}\n", "x".repeat(50))).collect();
        server.write("t.csv", format!("id,name\n{text}"));
        let report =
            server.report(&["t.csv", "--lanes", "3", "--chunk-size", "4k", "--verify", "checksum"]);
        assert_eq!(report["plan"]["lanes"], 3);
        assert_eq!(server.query("SELECT COUNT(*), SUM(id) FROM t"), rows![[20_000, 200_010_000]]);
        // A table that holds rows is written to over one.
        let append = ["t.csv", "--if-exists", "append", "--lanes", "2"];
        let report = server.report(&append);
        assert_eq!(report["plan"]["lanes"], 1);
        let warnings = report["warnings"].to_string();
        assert!(warnings.contains("--lanes 2") && warnings.contains("can use 1"), "{warnings}");
    });
}
