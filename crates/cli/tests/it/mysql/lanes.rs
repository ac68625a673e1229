use std::time::Duration;

use super::proxy::{Proxy, Trick};
use super::server::{for_some_servers, rows};

#[test]
fn several_connections_share_the_work() {
    for_some_servers(|server| {
        let text: String = (1..=3_000).map(|id| format!("{id},{}\n", "x".repeat(50))).collect();
        server.write("t.csv", format!("id,name\n{text}"));
        let report =
            server.report(&["t.csv", "--lanes", "3", "--chunk-size", "4k", "--verify", "checksum"]);
        assert_eq!(report["plan"]["lanes"], 3);
        assert_eq!(server.query("SELECT COUNT(*), SUM(id) FROM t"), rows![[3_000, 4_501_500]]);
        // A table that holds rows is written to over one.
        let append = ["t.csv", "--if-exists", "append", "--lanes", "2"];
        let report = server.report(&append);
        assert_eq!(report["plan"]["lanes"], 1);
        let warnings = report["warnings"].to_string();
        assert!(warnings.contains("--lanes 2") && warnings.contains("can use 1"), "{warnings}");
    });
}

/// InnoDB numbers the rows of a table without a key itself.
#[test]
fn short_rows_without_a_key_keep_to_one_connection() {
    for_some_servers(|server| {
        let row = |bytes: usize| format!("1,{}\n", "x".repeat(bytes));
        let json = format!("{{\"id\": 1, \"name\": \"{}\"}}\n", "x".repeat(50));
        server.write("short.csv", format!("id,name\n{}", row(50).repeat(100_000)));
        server.write("long.csv", format!("id,name\n{}", row(400).repeat(20_000)));
        server.write("short.jsonl", json.repeat(100_000));
        let plan = |args: &[&str]| {
            let url = server.url();
            let args = [&["plan", args[0], url.as_str(), "--json"], &args[1..]].concat();
            server.inrush(&args).exits(0).json()
        };
        for file in ["short.csv", "short.jsonl"] {
            let alone = plan(&[file]);
            assert_eq!(alone["lanes"], 1, "{file}");
            assert!(alone["reasons"].to_string().contains("wait for each other"), "{alone}");
            assert!(plan(&[file, "--primary-key", "id"])["lanes"].as_u64() > Some(1), "{file}");
            let other = [file, "--set", "engine=myisam", "--durability", "process"];
            assert!(plan(&other)["lanes"].as_u64() > Some(1), "{file}");
        }
        assert!(plan(&["long.csv"])["lanes"].as_u64() > Some(1));
        let asked = plan(&["short.csv", "--lanes", "2"]);
        assert_eq!(asked["lanes"], 2);
        assert!(!asked["reasons"].to_string().contains("one connection"), "{asked}");
    });
}

/// Where each answer takes its time, few are waited for.
#[test]
fn a_server_that_is_far_is_asked_seldom() {
    for_some_servers(|server| {
        server.write("t.csv", "id,name\n1,a\n2,b\n");
        server.load(&["t.csv"]).exits(0);
        let proxy = Proxy::start(&server.address, Trick::Slow(Duration::from_millis(15)));
        let url = server.url_at(&proxy.address);
        let args = ["t.csv", url.as_str(), "--if-exists", "append"];
        server.inrush(&[&["plan"], &args[..], &["--json"]].concat()).exits(0);
        // Logging in, what there is, the table's columns and its keys.
        assert!(proxy.asked() <= 5, "{} times on {}", proxy.asked(), server.name);
        let planned = proxy.asked();
        server.inrush(&[&["load"], &args[..]].concat()).exits(0);
        let asked = proxy.asked() - planned;
        assert!(asked <= 19, "{asked} times on {}", server.name);
        // Where there is more than one chunk, they are large.
        let rows: String = (3..60_000).map(|id| format!("{id},the name of a row\n")).collect();
        server.write("t.csv", format!("id,name\n{rows}"));
        let plan = server.inrush(&[&["plan"], &args[..], &["--json"]].concat()).exits(0).json();
        assert_eq!(plan["chunk_bytes"], 3 << 20, "{plan}");
        assert!(plan["reasons"].to_string().contains("ms to answer"), "{plan}");
    });
}
