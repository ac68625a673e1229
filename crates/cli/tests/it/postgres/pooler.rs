use std::fs::{self, File, Permissions};
use std::net::{TcpListener, TcpStream};
use std::os::unix::fs::PermissionsExt as _;
use std::path::Path;
use std::process::{Child, Command, Stdio};
use std::time::{Duration, Instant};

use crate::fixture::{Outcome, PATIENCE, is_root, size};
use crate::servers::strategies;

use super::server::{Server, for_each_server, psql, rows};

/// Connections to the server, which all clients share.
const POOL: usize = 4;

/// PgBouncer, which gives a client a connection to the server for one transaction at a time.
struct Pooler {
    child: Child,
    port: u16,
}

impl Pooler {
    /// `None` where there is none on this machine.
    fn start(server: &Server) -> Option<Self> {
        let places = ["/usr/sbin/pgbouncer", "/usr/local/sbin/pgbouncer", "/usr/bin/pgbouncer"];
        let Some(program) = places.into_iter().find(|place| Path::new(place).exists()) else {
            assert!(std::env::var("CI").is_err(), "no pgbouncer");
            eprintln!("SKIPPED: no pgbouncer on this machine; `make deps-all` installs it");
            return None;
        };
        let port = TcpListener::bind("127.0.0.1:0").unwrap().local_addr().unwrap().port();
        let server_port = server.address.rsplit(':').next().unwrap();
        server.write(
            "pgbouncer.ini",
            format!(
                "[databases]\n* = host=127.0.0.1 port={server_port} user=postgres\n\
                 [pgbouncer]\nlisten_addr = 127.0.0.1\nlisten_port = {port}\nunix_socket_dir =\n\
                 auth_type = any\npool_mode = transaction\ndefault_pool_size = {POOL}\n"
            ),
        );
        // It does not run as root, and has to read its file.
        fs::set_permissions(server.dir(), Permissions::from_mode(0o755)).unwrap();
        let mut command = Command::new(program);
        command.arg("-q").args(is_root().then_some(["-u", "nobody"]).iter().flatten());
        let log = File::create(server.path("pgbouncer.log")).unwrap();
        command.arg("pgbouncer.ini").current_dir(server.dir());
        let child = command.stdin(Stdio::null()).stdout(Stdio::null()).stderr(log).spawn();
        let mut pooler = Self { child: child.unwrap(), port };
        let before = Instant::now();
        while TcpStream::connect(("127.0.0.1", port)).is_err() {
            let log = || String::from_utf8_lossy(&server.read("pgbouncer.log")).into_owned();
            assert!(pooler.child.try_wait().unwrap().is_none(), "{}", log());
            assert!(before.elapsed() < PATIENCE, "{}", log());
            std::thread::sleep(Duration::from_millis(10));
        }
        Some(pooler)
    }

    fn url(&self, server: &Server) -> String {
        server.url_at(&format!("127.0.0.1:{}", self.port))
    }
}

impl Drop for Pooler {
    fn drop(&mut self) {
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

/// What is left in the connections to the server, of which all are looked at: settings, tables, locks, cursors.
#[track_caller]
fn assert_nothing_is_left(server: &Server, pooler: &Pooler, what: &dyn std::fmt::Debug) {
    let url = pooler.url(server);
    // Each keeps its connection until all have one.
    let look = format!(
        "BEGIN; DO $$ DECLARE tries int := 0; BEGIN LOOP
             PERFORM pg_stat_clear_snapshot();
             EXIT WHEN tries = 1000 OR {POOL} = (SELECT count(*) FROM pg_stat_activity WHERE query LIKE 'BEGIN; DO %' AND state = 'active'
                 AND datname = current_database());
             PERFORM pg_sleep(0.01); tries := tries + 1;
         END LOOP; PERFORM pg_sleep(0.3); END $$;
         SELECT pg_backend_pid(), (SELECT string_agg(name || '=' || setting, ' ') FROM pg_settings WHERE source = 'session'
             AND name NOT IN ('application_name', 'client_encoding', 'DateStyle', 'TimeZone', 'standard_conforming_strings', 'IntervalStyle')),
             (SELECT count(*) FROM pg_cursors);
         COMMIT"
    );
    let ask = || {
        let mut command = psql();
        command.args(["-X", "-q", "-A", "-t", "-d", &url, "-c", &look]);
        command.stdout(Stdio::piped()).spawn().unwrap()
    };
    let children: Vec<Child> = (0..POOL).map(|_| ask()).collect();
    let mut seen = Vec::new();
    for child in children {
        let answer = String::from_utf8(child.wait_with_output().unwrap().stdout).unwrap();
        let line = answer.lines().find(|line| line.contains('|')).unwrap().to_owned();
        let (connection, rest) = line.split_once('|').unwrap();
        assert_eq!(rest, "|0", "{what:?}");
        seen.push(connection.to_owned());
    }
    seen.sort();
    seen.dedup();
    assert_eq!(seen.len(), POOL);
    let of_all = "SELECT (SELECT count(*) FROM pg_class WHERE relpersistence = 't'), (SELECT count(*) FROM pg_locks WHERE locktype = 'advisory' \
        AND database = (SELECT oid FROM pg_database WHERE datname = current_database()))";
    assert_eq!(server.query(of_all), rows![[0, 0]], "{what:?}");
}

#[test]
#[ignore = "a pooler: make test-all"]
fn every_way_goes_through_a_pooler_of_transactions() {
    for_each_server(|server| {
        let Some(pooler) = Pooler::start(server) else { return };
        let url = pooler.url(server);
        let text: String = (1..=3000).map(|id| format!("{id},name {id}\n")).collect();
        server.write("t.csv", format!("id,name\n{text}"));
        for strategy in strategies("postgres") {
            for lanes in size(&["1", "3"][..], &["1", "2", "3"]).iter().copied() {
                let load = ["t.csv", "--strategy", &strategy, "--chunk-size", "1k"];
                let make = ["--lanes", lanes, "--primary-key", "id", "--verify", "checksum"];
                server.load_at(&url, &[&load[..], &make].concat()).exits(0);
                let sums = server.query("SELECT count(*), sum(id) FROM t");
                assert_eq!(sums, rows![[3000, 4_501_500]], "{strategy}");
                if lanes == "1" {
                    for conflict in ["update", "skip"] {
                        let append = ["--if-exists", "append", "--on-conflict", conflict];
                        server.load_at(&url, &[&load[..], &append].concat()).exits(0);
                        assert_eq!(server.count("t"), 3000);
                    }
                }
                assert_eq!(server.tables(), ["t"]);
                server.drop_table("t");
            }
            assert_nothing_is_left(server, &pooler, &strategy);
        }
    });
}

#[test]
#[ignore = "a pooler: make test-all"]
fn bad_rows_are_found_through_a_pooler() {
    for_each_server(|server| {
        let Some(pooler) = Pooler::start(server) else { return };
        let url = pooler.url(server);
        let (mut text, mut rejects) = ("id,name\n".to_owned(), "id,name\n".to_owned());
        for id in 1..=2000 {
            let row = match id % 100 {
                7 => format!("{},again\n", id - 5),
                8 => format!("{id},x\n"),
                9 => format!("number,{id}\n"),
                _ => format!("{id},name {id}\n"),
            };
            if (7..10).contains(&(id % 100)) {
                rejects += &row;
            }
            text += &row;
        }
        server.write("t.csv", text);
        for strategy in strategies("postgres") {
            server.sql("CREATE TABLE t (id int PRIMARY KEY, name text CHECK (name <> 'x'))");
            let load = ["t.csv", "--if-exists", "append", "--strategy", &strategy];
            let more = ["--chunk-size", "2k", "--max-rejects", "60", "--verify", "checksum"];
            server.load_at(&url, &[&load[..], &more].concat()).exits(3);
            let found = String::from_utf8(server.read("t.rejects.csv")).unwrap();
            assert_eq!(found, rejects, "{strategy}");
            assert_eq!(server.count("t"), 1940, "{strategy}");
            // One row too many, and everything is as it was.
            let before = server.state();
            let run = server.load_at(&url, &load).exits(1).ends_with_nothing_changed();
            run.says(&["t.csv: line 2"]);
            assert_eq!(server.state(), before);
            server.drop_table("t");
            assert_nothing_is_left(server, &pooler, &strategy);
        }
    });
}

#[test]
#[ignore = "a pooler: make test-all"]
fn a_load_through_a_pooler_can_be_killed_or_interrupted() {
    for_each_server(|server| {
        let Some(pooler) = Pooler::start(server) else { return };
        let url = pooler.url(server);
        let text: String = (1..=60_000).map(|id| format!("{id},name {id}\n")).collect();
        server.write("t.csv", format!("id,name\n{text}"));
        for lanes in ["1", "2"] {
            let load = ["load", "t.csv", &url, "--lanes", lanes, "--chunk-size", "4k"];
            for is_killed in [true, false] {
                let (mut child, _) = server.caught(|| {
                    server.drop_table("t");
                    crate::fixture::start(&mut server.command(&load))
                });
                crate::crash::go_on(&child);
                if is_killed {
                    child.kill().unwrap();
                    child.wait().unwrap();
                } else {
                    crate::crash::signal(&child, "INT");
                    let end = crate::fixture::finish(child, b"");
                    let run = Outcome::of("load, interrupted".to_owned(), end).exits(130);
                    run.ends_with_nothing_changed();
                    assert!(server.tables().is_empty(), "{:?}", server.tables());
                }
                assert!(!server.tables().contains(&"t".to_owned()));
            }
            // The pooler sees that the killed one is gone when it next looks, and the server rolls back.
            let since = Instant::now();
            loop {
                server.inrush(&load).exits(0);
                if server.tables() == ["t"] {
                    break;
                }
                assert!(since.elapsed() < PATIENCE, "{:?}", server.tables());
                server.drop_table("t");
            }
            assert_eq!(server.count("t"), 60_000);
            server.drop_table("t");
            assert_nothing_is_left(server, &pooler, &lanes);
        }
    });
}
