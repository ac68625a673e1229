use std::process::Child;

use super::server::{STRATEGIES, Server, for_each_server, rows};
use crate::crash::go_on;
use crate::fixture::{Outcome, finish, start};
use crate::proxy::{Fate, Proxy, Tricks};
use crate::servers::Database as _;

/// Cuts all connections after so many bytes.
struct Cut(u64);

impl Tricks for Cut {
    fn cut_after(&self) -> Option<(u64, Fate)> {
        Some((self.0, Fate::CutForGood))
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
fn a_killed_load_leaves_nothing_that_the_next_does_not_sweep() {
    for_each_server(|server| {
        server.write("t.csv", file(20_000));
        for strategy in STRATEGIES {
            server.query("{\"drop\": \"t\"}");
            let url = server.url();
            let args = ["load", "t.csv", &url, "--strategy", strategy, "--chunk-size", "8k"];
            let (mut child, _) = server.caught(|| {
                server.query("{\"drop\": \"t\"}");
                start(&mut server.command(&args))
            });
            child.kill().unwrap();
            child.wait().unwrap();
            assert!(!server.tables().contains(&"t".to_owned()), "{strategy}");
            let hidden = server.hidden();
            assert_eq!(hidden.len(), 1, "{strategy}");
            server.settle();
            server.write("small.csv", "id\n1\n");
            server.load(&["small.csv", "--table", "t"]).exits(0);
            assert_eq!(server.tables(), ["t"], "{strategy}");
            // An insert that comes later than the sweep makes the collection again.
            server.query(&format!("{{\"create\": \"{}\"}}", hidden[0]));
            server.load(&["small.csv", "--table", "t", "--if-exists", "replace"]).exits(0);
            assert_eq!(server.tables(), ["t"], "{strategy}");
        }
    });
}

#[test]
fn a_living_load_is_not_swept() {
    for_each_server(|server| {
        server.write("t.csv", file(1000)).write("small.csv", "id\n1\n");
        let url = server.url();
        let args = ["load", "t.csv", &url, "--strategy", "insert-one", "--chunk-size", "8k"];
        let (child, _) = server.caught(|| {
            server.query("{\"drop\": \"t\"}");
            start(&mut server.command(&args))
        });
        server.load(&["small.csv"]).exits(0);
        go_on(&child);
        end_of(child).exits(0);
        assert_eq!(server.count("t"), 1000);
    });
}

#[test]
fn a_connection_that_is_cut_ends_the_load() {
    for_each_server(|server| {
        server.write("t.csv", file(4_000)).write("old.csv", "id,name\n-1,old\n");
        let url = server.url();
        let (_, rest) = url.split_once("//").unwrap();
        let (address, database) = rest.split_once('/').unwrap();
        for strategy in STRATEGIES {
            let proxy: Proxy<Cut> = Proxy::start(address, Cut(60_000));
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
            let proxy: Proxy<Cut> = Proxy::start(address, Cut(60_000));
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
    fixture.refuses(&["t.csv", &url]).says(&["no answer within", "check that the server runs"]);
    // Nor does one that takes the greeting of TLS for the beginning of a message.
    fixture
        .refuses(&["t.csv", &format!("{url}&tls=true")])
        .says(&["no TLS: no answer within", "leave tls out of the URL"]);
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

#[test]
fn collections_that_are_called_nearly_as_hidden_ones_stay() {
    for_each_server(Server::keeps_tables_of_nearly_hidden_names);
}
