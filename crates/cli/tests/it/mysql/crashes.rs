use std::fs::Permissions;
use std::os::unix::fs::PermissionsExt as _;
use std::thread::sleep;
use std::time::Duration;

use crate::bad_target::on_a_small_disk;
use crate::crash::go_on;
use crate::fixture::{INRUSH, Outcome, Random, finish, size, start, thorough, wait_until};

use super::server::{Extras, for_each_private_server, for_some_servers, rows};
use crate::disk::{Disk, has_mounts_of_its_own};

/// Rows that keep a load busy for some tenths of a second.
const ROWS: u32 = 60_000;

fn file(rows: u32) -> String {
    let rows: String = (1..=rows).map(|id| format!("{id},name of {id}\n")).collect();
    format!("id,name\n{rows}")
}

#[test]
fn a_server_that_goes_away_has_the_table_as_it_was() {
    for_each_private_server(
        |name| thorough() || name.starts_with("mariadb"),
        Extras::default(),
        |private, server| {
            let mut random = Random(0x17);
            server.write("t.csv", file(ROWS));
            let old = "INSERT INTO t VALUES (-1, 'old'), (-2, 'old')";
            let cases = [(old, true), ("", false), ("", true)];
            for &(rows, is_killed) in &cases[..size(2, 3)] {
                server
                    .drop_table("t")
                    .sql("CREATE TABLE t (id INT PRIMARY KEY, name VARCHAR(30)) ENGINE=InnoDB")
                    .sql(rows);
                let before = server.query("SELECT * FROM t ORDER BY id");
                let url = server.url();
                let args = ["load", "t.csv", &url, "--if-exists", "append", "--chunk-size", "8k"];
                let (child, _) = server.caught(|| {
                    server.sql("DELETE FROM t WHERE id > 0");
                    start(&mut server.command(&args))
                });
                go_on(&child);
                if is_killed {
                    sleep(Duration::from_millis(50).mul_f64(random.share()));
                    private.kill().unwrap();
                } else {
                    private.stop().unwrap();
                }
                let run = Outcome::of("load, without a server".to_owned(), finish(child, b""));
                let run = run.exits(1).ends_with_nothing_changed();
                if is_killed {
                    let run = run.says(&["the connection to", "error log"]);
                    println!("{}", run.stderr);
                }
                // Nobody is there at all.
                let run = server.load(&["t.csv"]).exits(1).ends_with_nothing_changed();
                run.says(&["check that the server runs"]);
                private.restart().unwrap();
                server.connect_again();
                assert_eq!(server.query("SELECT * FROM t ORDER BY id"), before, "{}", server.name);
                server.inrush(&args).exits(0);
                assert_eq!(server.count("t") as usize, ROWS as usize + before.len());
                assert_eq!(server.tables(), ["t"], "left over on {}", server.name);
            }
        },
    );
}

#[test]
fn a_load_in_steps_goes_on_when_its_server_is_back() {
    for_each_private_server(
        |name| thorough() || name.starts_with("mariadb"),
        Extras::default(),
        |private, server| {
            server.write("t.csv", file(ROWS));
            let url = server.url();
            let steps = ["--guarantee", "chunks", "--commit-rows", "2000", "--chunk-size", "16k"];
            let load = [&["load", "t.csv", &url, "--primary-key", "id"], &steps[..]].concat();
            let child = start(&mut server.command(&load));
            wait_until("some steps", || {
                let is_begun = server.tables().iter().any(|table| table == "inrush_steps");
                is_begun && server.number("SELECT coalesce(max(steps), 0) FROM inrush_steps") > 1
            });
            private.kill().unwrap();
            let run = Outcome::of("load, without a server".to_owned(), finish(child, b""));
            let run = run.exits(1).says(&["the connection to"]);
            assert!(run.stderr.lines().last().unwrap().contains("resumable"), "{run:?}");
            private.restart().unwrap();
            server.connect_again();
            let committed = server.count("t");
            assert!((2_000..i64::from(ROWS)).contains(&committed), "{committed} rows");
            let report = server.inrush(&[&load[..], &["--resume", "--json"]].concat()).exits(0);
            let report = report.json();
            assert_eq!(report["steps"]["rows_loaded_before"].as_i64(), Some(committed));
            assert_eq!(server.count("t"), i64::from(ROWS));
            assert_eq!(server.number("SELECT count(DISTINCT id) FROM t"), i64::from(ROWS));
        },
    );
}

#[test]
#[ignore = "full disks: make test-all"]
fn a_server_that_has_no_room_left() {
    // InnoDB in a file of fixed size, which some servers can't be started with.
    let small = [("innodb-data-file-path", "ibdata1:24M"), ("innodb-file-per-table", "0")];
    let is_meant = |name: &str| name.starts_with("mariadb-10");
    let extras = Extras { settings: &small, ..Extras::default() };
    for_each_private_server(is_meant, extras, |_, server| {
        server.write("t.csv", file(600_000));
        for lanes in ["1", "2"] {
            let run = server.refuses(&["t.csv", "--lanes", lanes]);
            run.says(&["is full", "make room"]);
        }
        server.sql("CREATE TABLE t (id INT, name VARCHAR(30));; INSERT INTO t VALUES (0, 'old')");
        for strategy in ["load-data", "values"] {
            let load = ["t.csv", "--if-exists", "append", "--strategy", strategy];
            server.refuses(&load).says(&["is full", "make room"]);
        }
        // What was rolled back is room again.
        server.write("t.csv", file(1000)).load(&["t.csv", "--if-exists", "append"]).exits(0);
        assert_eq!(server.count("t"), 1001);
    });
}

#[test]
#[ignore = "full disks: make test-all"]
fn a_server_without_room_for_temporary_files() {
    if !has_mounts_of_its_own("mysql::crashes::a_server_without_room_for_temporary_files") {
        return;
    }
    // What a transaction writes is kept for the binary log in a temporary file, as far as it is more than 32 kB.
    let settings = [("log-bin", "binlog"), ("server-id", "1")];
    let extras = Extras { settings: &settings, ..Extras::default() };
    for_each_private_server(
        |_| true,
        extras,
        |private, server| {
            let disk = Disk::over(private.directory().join("tmp"), "1m");
            server.write("t.csv", file(60_000)).write("few.csv", file(10));
            let old = "CREATE TABLE u (id INT PRIMARY KEY, name VARCHAR(30)) ENGINE=InnoDB;;
                       INSERT INTO u VALUES (-1, 'old'), (-2, 'old')";
            server.sql(old);
            // Among the rows, into a hidden table or the table itself; and afterwards, where the rows are sorted for an index.
            let used = ["--table", "u", "--if-exists", "append"];
            let unlogged = ["--set", "sql_log_bin=off", "--index", "name"];
            let cases = [
                ["--strategy", "load-data"].to_vec(),
                [&["--strategy", "load-data"], &used[..]].concat(),
                [&["--strategy", "values"], &used[..]].concat(),
                unlogged.to_vec(),
            ];
            for case in &cases {
                let run = server.refuses(&[&["t.csv"], &case[..]].concat());
                println!("{case:?}: {}", run.stderr);
                run.says(&["tmpdir", "make room"]);
            }
            // Not even a table of the catalogue can be read.
            let all = [&["t.csv"], &used[..]].concat();
            let run = server.leaves_everything(|| disk.full(|| server.load(&all)));
            println!("{}", run.stderr);
            run.exits(1).says(&["tmpdir", "make room"]).ends_with_nothing_changed();
            // What was rolled back is room again.
            server.load(&[&["few.csv"], &used[..]].concat()).exits(0);
            disk.resize("64m");
            for case in [&cases[0], &cases[3]] {
                server.load(&[&["t.csv"], &case[..]].concat()).exits(0);
                assert_eq!(server.count("t"), 60_000);
                assert_eq!(server.tables(), ["t", "u"], "left over on {}", server.name);
                server.drop_table("t");
            }
            server.sql("DELETE FROM u WHERE id > 0");
            server.load(&all).exits(0);
            assert_eq!(server.count("u"), 60_002);
        },
    );
}

#[test]
fn no_room_for_the_files_that_a_server_is_to_read() {
    for_some_servers(|server| {
        let private = server.query("SELECT COALESCE(@@secure_file_priv, '') AS folder");
        if private != rows![[""]] {
            // They would be in a folder of the server's.
            return;
        }
        server.write("t.csv", file(120_000)).sql("CREATE TABLE t (id INT, name VARCHAR(30))");
        let script = format!(
            "head -c 500000 /dev/zero >disk/full; TMPDIR=\"$PWD/disk\" '{INRUSH}' load t.csv '{}' --strategy load-data-server --chunk-size 2m; echo exit $?; ls -A disk; echo end",
            server.url()
        );
        let Some(said) = server.leaves_tables(|| on_a_small_disk(server, &script)) else { return };
        assert!(said.contains("exit 1\nfull\nend\n"), "{said}");
        assert!(said.contains("No space left on device"), "{said}");
        assert!(said.trim_end().ends_with("nothing changed in the target"), "{said}");
    });
}

#[test]
fn files_that_a_server_is_to_read_are_gone_afterwards() {
    for_some_servers(|server| {
        server.write("t.csv", file(2000)).write("bad.csv", file(2000) + "x\n");
        let folder = server.query("SELECT COALESCE(@@secure_file_priv, '') AS folder")[0][0]
            .clone()
            .unwrap();
        let folder = if folder.is_empty() { server.dir().to_owned() } else { folder.into() };
        let load = |file: &str, code: i32| {
            let url = server.url();
            let mut command = server.command(&[
                "load",
                file,
                &url,
                "--strategy",
                "load-data-server",
                "--chunk-size",
                "4k",
            ]);
            command.env("TMPDIR", server.dir());
            let child = start(&mut command);
            // Loads of other tests have their files in the same folder.
            let ours = format!("inrush_{}", child.id());
            Outcome::of("load".to_owned(), finish(child, b"")).exits(code);
            let left = std::fs::read_dir(&folder).unwrap().map(|entry| entry.unwrap().file_name());
            let left: Vec<_> = left
                .filter(|name| name.to_str().is_some_and(|name| name.contains(&ours)))
                .collect();
            assert!(left.is_empty(), "{left:?} in {}", folder.display());
        };
        // The server may be another user, to whom the way to the files has to be open.
        std::fs::set_permissions(server.dir(), Permissions::from_mode(0o755)).unwrap();
        load("t.csv", 0);
        load("bad.csv", 1);
    });
}
