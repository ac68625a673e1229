use std::process::Child;
use std::thread::sleep;
use std::time::Duration;

use super::server::{STRATEGIES, for_each_server, rows};
use crate::crash::signal;
use crate::fixture::{Outcome, finish, start};
use crate::proxy::{Proxy, Tricks};

/// Cuts all connections after so many bytes.
struct Cut(u64);

impl Tricks for Cut {
    fn cut_after(&self) -> Option<u64> {
        Some(self.0)
    }
}

#[track_caller]
fn end_of(child: Child) -> Outcome {
    Outcome::of("load, disturbed".to_owned(), finish(child, b""))
}

fn file(rows: usize) -> String {
    let rows: String = (0..rows).map(|n| format!("{n},name of {n}\n")).collect();
    format!("id,name\n{rows}")
}

#[test]
fn one_bad_row_in_a_hundred_thousand() {
    for_each_server(|server| {
        let mut text = file(100_000);
        text = text.replace("\n77777,", "\n77777,\u{1f600}\"broken\n77777x,");
        text = text.replace("\n77777,\u{1f600}\"broken\n", "\n");
        server.write("t.csv", &text);
        let typed = ["--type", "id=integer", "--primary-key", "id"];
        server
            .refuses(&[&["t.csv"], &typed[..]].concat())
            .says(&["t.csv: line 77779, column id", "'77777x'"]);
        let report = server
            .load(&[&["t.csv", "--max-rejects", "1", "--json"], &typed[..]].concat())
            .exits(3)
            .json();
        assert_eq!((&report["rows_loaded"], &report["rows_rejected"]), (&99_999.into(), &1.into()));
        assert_eq!(server.read("t.rejects.csv"), b"id,name\n77777x,name of 77777\n");
        // A guess is another matter: the load starts again with text.
        server.load(&["t.csv", "--table", "u"]).exits(0);
        assert_eq!(server.count("u"), 100_000);
    });
}

#[test]
fn a_killed_load_leaves_nothing_that_the_next_does_not_sweep() {
    for_each_server(|server| {
        server.write("t.csv", file(60_000));
        for strategy in STRATEGIES {
            server.query("{\"drop\": \"t\"}");
            let url = server.url();
            let args = ["load", "t.csv", &url, "--strategy", strategy, "--chunk-size", "8k"];
            let mut child = start(&mut server.command(&args));
            server.wait_for_rows();
            child.kill().unwrap();
            child.wait().unwrap();
            assert!(!server.tables().contains(&"t".to_owned()), "{strategy}");
            assert_eq!(server.hidden().len(), 1, "{strategy}");
            // What its connection had sent may still be on its way.
            sleep(Duration::from_millis(300));
            server.write("small.csv", "id\n1\n");
            server.load(&["small.csv", "--table", "t"]).exits(0);
            assert_eq!(server.tables(), ["t"], "{strategy}");
        }
    });
}

#[test]
fn a_living_load_is_not_swept() {
    for_each_server(|server| {
        server.write("t.csv", file(3000)).write("small.csv", "id\n1\n");
        let url = server.url();
        let args = ["load", "t.csv", &url, "--strategy", "insert-one", "--chunk-size", "8k"];
        let child = start(&mut server.command(&args));
        server.wait_for_rows();
        server.load(&["small.csv"]).exits(0);
        end_of(child).exits(0);
        assert_eq!(server.count("t"), 3000);
    });
}

#[test]
fn a_load_that_is_stopped_leaves_nothing() {
    for_each_server(|server| {
        server.write("t.csv", file(100_000));
        let url = server.url();
        let args = ["load", "t.csv", &url, "--strategy", "insert-one"];
        let child = start(&mut server.command(&args));
        server.wait_for_rows();
        signal(&child, "INT");
        end_of(child).exits(130).ends_with_nothing_changed();
        assert_eq!(server.tables(), [""; 0]);
    });
}

#[test]
fn a_connection_that_is_cut_ends_the_load() {
    for_each_server(|server| {
        server.write("t.csv", file(20_000)).write("old.csv", "id,name\n-1,old\n");
        let url = server.url();
        let (_, rest) = url.split_once("//").unwrap();
        let (address, database) = rest.split_once('/').unwrap();
        for strategy in STRATEGIES {
            let proxy: Proxy<Cut> = Proxy::start(address, Cut(300_000));
            let cut = format!("mongodb://{}/{database}", proxy.address);
            let load = ["t.csv", "--strategy", strategy, "--chunk-size", "8k"];
            // The way there is gone, so what it left stays for the next load.
            server
                .load_at(&cut, &load)
                .exits(1)
                .says(&["the connection to 127.0.0.1"])
                .ends_with_nothing_changed();
            assert!(!server.tables().contains(&"t".to_owned()));
            server.load(&["old.csv", "--table", "t", "--if-exists", "replace"]).exits(0);
            assert_eq!(server.tables(), ["t"]);
            let proxy: Proxy<Cut> = Proxy::start(address, Cut(300_000));
            let cut = format!("mongodb://{}/{database}", proxy.address);
            let run =
                server.load_at(&cut, &[&load[..], &["--if-exists", "append"]].concat()).exits(1);
            // Some rows are there, and nobody knows of the last ones.
            assert!(server.count("t") > 1);
            let last = run.stderr.lines().last().unwrap();
            assert!(!last.contains("nothing changed"), "{last}");
            server.query("{\"drop\": \"t\"}");
        }
    });
}

#[test]
fn servers_that_are_not_there() {
    let fixture = crate::fixture::Fixture::new();
    fixture.write("t.csv", "id\n1\n");
    let listener = std::net::TcpListener::bind("127.0.0.1:0").unwrap();
    let gone = listener.local_addr().unwrap();
    drop(listener);
    let url = format!("mongodb://u:secret@{gone}/d");
    let run =
        fixture.refuses(&["t.csv", &url]).says(&["no connection to", "check that the server runs"]);
    assert!(!run.stderr.contains("secret"));
    // One that does not answer.
    let listener = std::net::TcpListener::bind("127.0.0.1:0").unwrap();
    let url = format!("mongodb://{}/d?connectTimeoutMS=300", listener.local_addr().unwrap());
    fixture.refuses(&["t.csv", &url]).says(&["no answer within"]);
    fixture.misused(&["load", "t.csv", "mongodb+srv://h.example.org/d"]).says(&["DNS", "dig"]);
    fixture.misused(&["load", "t.csv", "mongodb://h/"]).says(&["no database"]);
}

#[test]
fn rows_that_come_slowly_are_waited_for() {
    for_each_server(|server| {
        let run = server
            .load_reading(b"id,name\n1,a\n2,b\n", &["-", "--table", "t", "--primary-key", "id"]);
        run.exits(0);
        assert_eq!(server.documents("t"), rows![[1, "a"], [2, "b"]]);
    });
}
