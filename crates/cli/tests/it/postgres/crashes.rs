use std::thread::sleep;
use std::time::Duration;

use crate::crash::go_on;
use crate::disk::{Disk, has_mounts_of_its_own};
use crate::fixture::{Outcome, Random, finish, size, start, wait_until};

use super::proxy::{Act, Proxy, Trick};
use super::server::{Extras, for_each_private_server};

/// Rows that keep a load busy for some tenths of a second.
const ROWS: u32 = 80_000;

fn file(rows: u32) -> String {
    let rows: String = (1..=rows).map(|id| format!("{id},name of {id}\n")).collect();
    format!("id,name\n{rows}")
}

const USED: &str = "CREATE TABLE t (id int PRIMARY KEY, name varchar(30));
    INSERT INTO t VALUES (-1, 'old'), (-2, 'old')";

#[test]
fn a_server_that_goes_away_has_the_table_as_it_was() {
    for_each_private_server(
        |_| true,
        Extras::default(),
        |private, server| {
            let mut random = Random(0x17);
            server.write("t.csv", file(ROWS));
            let append = ["--if-exists", "append"];
            let cases = [
                (USED, &append[..], true),
                ("", &["--lanes", "2"], true),
                (USED, &append, false),
                ("", &["--lanes", "1"], true),
                ("", &["--lanes", "2", "--set", "unlogged=on"], true),
            ];
            for &(made, options, is_killed) in &cases[..size(2, 5)] {
                let prepare = || server.drop_table("t").sql(made).state();
                let before = prepare();
                let url = server.url();
                let load = ["load", "t.csv", &url, "--chunk-size", "8k"];
                let args = [&load[..], options].concat();
                let (child, _) = server.caught(|| {
                    prepare();
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
                run.says(&["the connection to", "log"]);
                // Nobody is there at all.
                let run = server.load(&["t.csv"]).exits(1).ends_with_nothing_changed();
                run.says(&["check that the server runs"]);
                private.restart().unwrap();
                server.connect_again();
                for (table, state) in &before {
                    assert_eq!(server.state().get(table), Some(state), "{options:?}");
                }
                assert!(server.tables().len() <= before.len() + 1, "{:?}", server.tables());
                server.inrush(&args).exits(0);
                let old = if made.is_empty() { 0 } else { 2 };
                assert_eq!(server.count("t"), i64::from(ROWS) + old);
                assert_eq!(server.tables(), ["t"], "left over after {options:?}");
            }
        },
    );
}

#[test]
fn a_load_in_steps_goes_on_when_its_server_is_back() {
    for_each_private_server(
        |_| true,
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
fn a_server_that_crashes_at_the_commit_is_asked_when_it_is_back() {
    for_each_private_server(
        |_| true,
        Extras::default(),
        |private, server| {
            server.write("t.csv", file(2000));
            for (act, options, code) in [
                // It has heard of the commit, or never has.
                (Act::Swallow, &["--if-exists", "append"][..], 0),
                (Act::Cut, &["--if-exists", "append"], 1),
                (Act::Swallow, &["--if-exists", "replace", "--lanes", "2"], 0),
            ] {
                server.drop_table("t").sql(USED);
                let before = server.state();
                let trick = Trick::At { after: "txid_current", words: "COMMIT", act };
                let proxy = Proxy::start(&server.address, trick);
                let url = server.url_at(&proxy.address);
                let load = ["load", "t.csv", &url, "--chunk-size", "8k"];
                let child = start(&mut server.command(&[&load[..], options].concat()));
                wait_until("the commit", || proxy.has_happened());
                if code == 0 {
                    // On a busy machine it takes a while.
                    wait_until("the rows", || server.count("t") >= 2000);
                }
                // The connection is lost, and a load that is quick has asked before the crash.
                // Others ask while nobody is there.
                sleep(Duration::from_millis(20));
                private.kill().unwrap();
                private.restart().unwrap();
                server.connect_again();
                let run = Outcome::of("load, crashed".to_owned(), finish(child, b"")).exits(code);
                match code {
                    0 => {
                        let old = if options.contains(&"append") { 2 } else { 0 };
                        assert_eq!(server.count("t"), 2000 + old, "{run:?}");
                    }
                    _ => {
                        run.ends_with_nothing_changed();
                        assert_eq!(server.state(), before);
                    }
                }
                assert_eq!(server.tables(), ["t"]);
            }
        },
    );
}

#[test]
#[ignore = "full disks: make test-all"]
fn a_server_that_has_no_room_left_for_tables() {
    if !has_mounts_of_its_own("postgres::crashes::a_server_that_has_no_room_left_for_tables") {
        return;
    }
    for_each_private_server(
        |_| true,
        Extras::default(),
        |private, server| {
            server.write("t.csv", file(ROWS)).write("few.csv", file(10));
            // A disk for the rows alone, as a tablespace of the database's own.
            let place = private.directory().join("files");
            let disk = Disk::over(&place, "2m");
            hand_over(&place, private.directory());
            server.sql(&format!("CREATE TABLESPACE small LOCATION '{}'", place.display()));
            server.sql("CREATE TABLE u (id int PRIMARY KEY, name varchar(30)) TABLESPACE small");
            server.sql("INSERT INTO u VALUES (-1, 'old'), (-2, 'old')");
            let small =
                format!("ALTER DATABASE {} SET default_tablespace = small", server.database);
            server.sql(&small);
            let used = ["--table", "u", "--if-exists", "append"];
            for case in [
                &["--lanes", "1"][..],
                &["--lanes", "2"],
                &["--lanes", "2", "--strategy", "values"],
                &used,
                &[&used[..], &["--strategy", "prepared"]].concat(),
            ] {
                let run = server.refuses(&[&["t.csv"], case].concat());
                println!("{case:?}: {}", run.stderr);
                run.says(&["No space left on device", "make room"]);
            }
            // What was rolled back is room again when the server has tidied up, for which it needs some.
            disk.resize("3m");
            server.sql("VACUUM u");
            server.load(&[&["few.csv"], &used[..]].concat()).exits(0);
            disk.resize("64m");
            server.load(&["t.csv"]).exits(0);
            assert_eq!((server.count("t"), server.count("u")), (i64::from(ROWS), 12));
            assert_eq!(server.tables(), ["t", "u"]);
            server.sql(&format!("ALTER DATABASE {} RESET ALL", server.database));
            server.sql("DROP TABLE t, u; DROP TABLESPACE small");
        },
    );
}

#[test]
#[ignore = "full disks: make test-all"]
fn a_server_that_has_no_room_left_for_its_log() {
    if !has_mounts_of_its_own("postgres::crashes::a_server_that_has_no_room_left_for_its_log") {
        return;
    }
    for_each_private_server(
        |_| true,
        Extras::default(),
        |private, server| {
            server.write("t.csv", file(600_000)).sql(USED);
            let before = server.state();
            // The log goes on on a small disk: it lies in files of 16 MB, which the server has one or two of.
            private.stop().unwrap();
            let log = private.directory().join("data/pg_wal");
            let kept = private.directory().join("log-before");
            std::fs::rename(&log, &kept).unwrap();
            std::fs::create_dir(&log).unwrap();
            let disk = Disk::over(&log, "40m");
            hand_over(&log, private.directory());
            server.tool(
                "cp",
                &["-a", &format!("{}/.", kept.display()), log.to_str().unwrap()],
                b"",
            );
            private.restart().unwrap();
            server.connect_again();
            let load = ["t.csv", "--if-exists", "append"];
            let run = server.load(&load);
            println!("{}", run.stderr);
            // Where it can't write its log the server refuses, or stops as a whole.
            let why = if run.stderr.contains("connection") { "log" } else { "disk is full" };
            run.exits(1).says(&[why]).ends_with_nothing_changed();
            disk.resize("512m");
            // It may be up again by itself, or not yet.
            let _ = private.kill();
            private.restart().unwrap();
            server.connect_again();
            assert_eq!(server.state(), before);
            server.load(&load).exits(0);
            assert_eq!(server.count("t"), 600_002);
            // The small disk goes before the server does.
            private.stop().unwrap();
            std::fs::remove_dir_all(&kept).unwrap();
            server.tool("cp", &["-a", log.to_str().unwrap(), kept.to_str().unwrap()], b"");
            drop(disk);
            std::fs::remove_dir(&log).unwrap();
            std::fs::rename(&kept, &log).unwrap();
            private.restart().unwrap();
            server.connect_again();
        },
    );
}

/// Gives what was mounted there to whom the server belongs to.
fn hand_over(place: &std::path::Path, server: &std::path::Path) {
    use std::os::unix::fs::{MetadataExt as _, PermissionsExt as _, chown};
    let owner = std::fs::metadata(server).unwrap();
    chown(place, Some(owner.uid()), Some(owner.gid())).unwrap();
    std::fs::set_permissions(place, std::fs::Permissions::from_mode(0o700)).unwrap();
}
