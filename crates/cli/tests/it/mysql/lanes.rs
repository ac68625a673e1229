use super::server::{for_each_server, rows};

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
