//! `--measure`: what a change is worth, found on databases of our own.

use std::fs;
use std::os::unix::fs::PermissionsExt as _;
use std::path::Path;
use std::process::Stdio;

use serde_json::Value as Json;

use super::{answer, named};
use crate::crash::send;
use crate::fixture::{Fixture, Outcome, find_servers, finish, start, wait_until};
use crate::mysql::server::MySql;
use crate::postgres::server::Postgres;
use crate::servers::{Extras, for_each_private_server};

/// What each finding is worth, by its id: of those that were measured.
fn worth(answer: &Json) -> Vec<String> {
    let findings = answer["findings"].as_array().unwrap().iter();
    let measured = findings.filter(|finding| finding["worth"]["measured"] == true);
    measured
        .map(|finding| {
            let number = |key: &str| finding["worth"][key].as_f64().unwrap();
            let (low, ratio, high) = (number("low"), number("ratio"), number("high"));
            assert!(0.0 < low && low <= ratio && ratio <= high, "{finding}");
            finding["id"].as_str().unwrap().to_owned()
        })
        .collect()
}

/// A folder for temporary files of the command's own, in which nothing may stay.
fn examined(fixture: &Fixture, args: &[&str]) -> Json {
    fs::create_dir_all(fixture.path("tmp")).unwrap();
    let mut command = fixture.command(args);
    let command = find_servers(&mut command).env("TMPDIR", fixture.path("tmp"));
    let output = command.output().unwrap();
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
    let left: Vec<_> = fs::read_dir(fixture.path("tmp")).unwrap().collect();
    assert!(left.is_empty(), "{left:?}");
    serde_json::from_slice(&output.stdout).unwrap()
}

fn with_two_faults() -> Fixture {
    let fixture = Fixture::new();
    fixture.sql(
        "t.db",
        "PRAGMA auto_vacuum = FULL; CREATE TABLE t (id INTEGER PRIMARY KEY, a TEXT, b REAL);
         CREATE INDEX one ON t (a); CREATE INDEX two ON t (a); INSERT INTO t VALUES (1, 'kept', 1)",
    );
    let rows: String = (0..2000).map(|row| format!("{row},name {row},0.5\n")).collect();
    fixture.write("t.csv", format!("id,a,b\n{rows}"));
    fixture
}

#[test]
fn a_file_s_changes_are_measured_on_copies() {
    let fixture = with_two_faults();
    let before = fixture.read("t.db");
    let found = examined(&fixture, &["doctor", "t.db", "t.csv", "--measure", "--json"]);
    assert_eq!(named(&found), ["slow auto_vacuum", "slow redundant-index"]);
    assert_eq!(worth(&found), ["auto_vacuum", "redundant-index"], "{found:#}");
    assert_eq!(fixture.read("t.db"), before);
    assert_eq!(fixture.names(), ["t.csv", "t.db", "tmp"]);
}

#[test]
fn an_interrupted_measurement_leaves_nothing() {
    let fixture = with_two_faults();
    fs::create_dir(fixture.path("tmp")).unwrap();
    let mut command = fixture.command(&["doctor", "t.db", "--measure", "--quiet"]);
    command.env("TMPDIR", fixture.path("tmp")).stdout(Stdio::null()).stderr(Stdio::null());
    let mut child = command.spawn().unwrap();
    let is_empty = || fs::read_dir(fixture.path("tmp")).unwrap().next().is_none();
    wait_until("it measures", || !is_empty());
    send(&child, "INT");
    assert_eq!(child.wait().unwrap().code(), Some(130));
    assert!(is_empty());
}

#[test]
fn a_killed_measurement_leaves_nothing() {
    let killed = |fixture: &Fixture, target: &str, is_under_way: &dyn Fn(&Path) -> bool| {
        let folder = fixture.path("tmp");
        fs::create_dir(&folder).unwrap();
        // Whoever a server runs as has to get into it.
        fs::set_permissions(&folder, fs::Permissions::from_mode(0o755)).unwrap();
        let mut command = fixture.command(&["doctor", target, "--measure", "--quiet"]);
        command.env("TMPDIR", &folder).stdout(Stdio::null()).stderr(Stdio::null());
        let mut child = find_servers(&mut command).spawn().unwrap();
        wait_until("it measures", || is_under_way(&folder));
        child.kill().unwrap();
        child.wait().unwrap();
        wait_until("nothing is left", || fs::read_dir(&folder).unwrap().next().is_none());
    };
    let is_filled = |folder: &Path| fs::read_dir(folder).unwrap().next().is_some();
    killed(&with_two_faults(), "t.db", &is_filled);
    for_each_private_server::<MySql>(
        |name| name.starts_with("mariadb"),
        Extras::default(),
        |_, server| {
            server
                .query("CREATE TABLE t (id INT PRIMARY KEY, a INT, KEY one (a), KEY two (a, id))");
            let socket = |entry: fs::DirEntry| entry.path().join("s.sock").exists();
            let serves = |folder: &Path| fs::read_dir(folder).unwrap().flatten().any(socket);
            killed(server, &server.url(), &serves);
        },
    );
}

#[test]
fn a_server_s_settings_and_tables_are_measured_on_private_servers() {
    let settings = [("general-log", "1")];
    let extras = Extras { settings: &settings, ..Extras::default() };
    for_each_private_server::<MySql>(
        |name| name.starts_with("mariadb"),
        extras,
        |_, server| {
            server.query("CREATE TABLE p (id INT PRIMARY KEY)");
            server.query(
            "CREATE TABLE t (id INT PRIMARY KEY, a VARCHAR(20), b INT, KEY one (a), KEY two (a, b), FOREIGN KEY (b) REFERENCES p (id))",
        );
            let rows: String = (0..2000).map(|row| format!("{row},name {row},{row}\n")).collect();
            server.write("t.csv", format!("id,a,b\n{rows}"));
            let found =
                examined(server, &["doctor", &server.url(), "t.csv", "--measure", "--json"]);
            assert_eq!(worth(&found), ["general_log", "redundant-index"], "{found:#}");
            assert_eq!(server.number("SELECT COUNT(*) FROM t"), 0);
        },
    );
    for_each_private_server::<Postgres>(
        |_| true,
        Extras::default(),
        |_, server| {
            server.query("ALTER SYSTEM SET checkpoint_timeout = '1min'");
            server.query("SELECT pg_reload_conf()");
            server.query("CREATE TABLE \"t t\" (id int PRIMARY KEY, a text, b int)");
            server.query("CREATE INDEX ON \"t t\" (a)");
            server.query("CREATE INDEX ON \"t t\" (a, b)");
            let rows: String = (0..2000).map(|row| format!("{row},name {row},{row}\n")).collect();
            server.write("t t.csv", format!("id,a,b\n{rows}"));
            // Whoever the server runs as has to get into its directory.
            let url = server.url();
            let mut command = server.command(&["doctor", &url, "t t.csv", "--measure", "--json"]);
            let run = finish(start(find_servers(&mut command)), b"");
            let found = answer(&Outcome::of("inrush doctor".to_owned(), run).exits(0));
            assert_eq!(worth(&found), ["checkpoint_timeout", "redundant-index"], "{found:#}");
            assert_eq!(server.number("SELECT count(*) FROM \"t t\""), 0);
        },
    );
}

#[test]
fn a_server_that_is_missing_is_named_with_the_way_to_get_it() {
    let settings = [("local-infile", "0")];
    let extras = Extras { settings: &settings, ..Extras::default() };
    for_each_private_server::<MySql>(
        |name| name == "mysql-8.0",
        extras,
        |_, server| {
            let output = server
                .command(&["doctor", &server.url(), "--measure", "--json"])
                .env("INRUSH_SERVERS", "/nowhere")
                .output()
                .unwrap();
            let found: Json = serde_json::from_slice(&output.stdout).unwrap();
            assert_eq!(worth(&found), [""; 0]);
            let not_known = found["not_known"].to_string();
            assert!(
                not_known.contains("what local_infile is worth: no private server of MySQL 8.0"),
                "{not_known}"
            );
            assert!(not_known.contains("scripts/servers.sh mysql-8.0"), "{not_known}");
        },
    );
}
