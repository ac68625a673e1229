//! Servers of a bench's own, and the user's.

use std::fs;
use std::process::Command;

use super::{bench, run_folder, samples, statuses, suite};
use crate::fixture::{Fixture, find_servers, start, thorough, wait_until};
use crate::mysql::server::MySql;
use crate::postgres::server::Postgres;
use crate::servers::{Database, Server, for_each_server, named};

/// One target with the server's defaults, one with a setting of the suite's.
fn text(strategy: &str, setting: &str) -> String {
    let (family, _) = strategy.split_once('/').unwrap();
    let targets = format!(
        r#"
[target.plain]
family = "{family}"
about = "its defaults"
server = {{}}
durability = "durable"

[target.set]
family = "{family}"
about = "with a setting"
server = {{ settings = {{ {setting} }} }}
durability = "none"

[target.far]
family = "{family}"
about = "a round trip away"
server = {{}}
transport = "relay"
delay_ms = 5.0
durability = "durable"
"#
    );
    let experiment = format!(
        r#"
targets = ["plain", "set", "far"]
workers = 2
metric = "load.rows_per_s"
[[experiment.phase]]
id = "table"
timed = false
sql = ["DROP TABLE IF EXISTS {{table}}", "CREATE TABLE {{table}} (i INT, i2 INT)"]
[[experiment.phase]]
id = "load"
load = {{ dataset = "pairs", strategy = "{strategy}" }}
[[experiment.phase]]
id = "loaded"
verify = {{ dataset = "pairs", sql = "SELECT * FROM {{table}}" }}
[[experiment.phase]]
id = "one"
repeat = 20
sql = "INSERT INTO {{table}} VALUES ({{n}}, 0)"
"#
    );
    suite(&targets, &experiment)
}

fn measures<D: Database>(strategy: &str, setting: &str, databases: &str) {
    // Of each family the first version, or all of them.
    let first = named(&D::FAMILY).into_iter().next().map(|(name, _)| name);
    for_each_server::<D>(|server| {
        if !thorough() && first.as_deref() != Some(server.name()) {
            return;
        }
        let own = private::<D>(server, strategy, setting);
        let before = server.query(databases);
        let of_url = by_url(server, strategy, setting);
        let ours = |name: &Option<String>| {
            name.as_ref().is_some_and(|name| name.starts_with("inrush_bench_"))
        };
        let left = server.query(databases);
        assert!(!left.iter().flatten().any(ours), "{before:?} {left:?}");
        // The same cells, except for what only a private server can have.
        assert_eq!(own.len(), of_url.len(), "{own:?} {of_url:?}");
    });
}

/// On a private server of the same version, which is gone afterwards.
fn private<D: Database>(server: &Server<D>, strategy: &str, setting: &str) -> Vec<String> {
    let fixture = Fixture::new();
    fixture.write("suite.toml", text(strategy, setting));
    bench(&fixture, &["--server", server.name()]).exits(0);
    for (label, (status, error)) in statuses(&fixture) {
        assert_eq!(status, "ok", "{label}: {error}");
    }
    assert_eq!(fs::read_dir(fixture.path("place")).unwrap().count(), 0);
    for sample in samples(&fixture) {
        let load = super::phase(&sample, "load");
        assert_eq!(load["rows"], 1000);
        assert!(load["resources"]["server_memory_bytes"].as_u64().unwrap() > 1 << 20, "{load:#}");
    }
    let targets = fs::read_to_string(run_folder(&fixture).join("targets.json")).unwrap();
    let targets: serde_json::Value = serde_json::from_str(&targets).unwrap();
    let trip = |target: &str| {
        let found = targets.as_array().unwrap().iter().find(|found| found["target"] == target);
        found.unwrap()["round_trip"]["p50_us"].as_f64().unwrap()
    };
    // What the relay holds back is on top of the way there, which a busy machine makes longer for both.
    assert!(trip("far") >= 5_000.0, "{}", trip("far"));
    assert!(trip("plain") < trip("far"), "{} {}", trip("plain"), trip("far"));
    statuses(&fixture).into_keys().collect()
}

/// On the server that is there, which is as before afterwards.
fn by_url<D: Database>(server: &Server<D>, strategy: &str, setting: &str) -> Vec<String> {
    let fixture = Fixture::new();
    fixture.write("suite.toml", text(strategy, setting));
    // Only the administrator may make databases there.
    let admin = named(&D::FAMILY).into_iter().find(|(name, _)| name == server.name());
    bench(&fixture, &["--server", &admin.unwrap().1]).exits(0);
    let statuses = statuses(&fixture);
    for (label, (status, error)) in &statuses {
        let wanted = if label.starts_with("plain") { "ok" } else { "unavailable" };
        assert_eq!(status, wanted, "{label}: {error}");
    }
    assert!(statuses.iter().any(|(label, (_, error))| {
        label.starts_with("set") && error.contains("only be had on a private server")
    }));
    statuses.into_keys().collect()
}

#[test]
fn mysql_is_measured_on_a_private_server_and_on_the_users() {
    measures::<MySql>("mysql/values", "innodb-flush-log-at-trx-commit = 0", "SHOW DATABASES");
}

#[test]
fn postgresql_is_measured_on_a_private_server_and_on_the_users() {
    let databases = "SELECT datname FROM pg_database";
    measures::<Postgres>("postgres/copy-text", "fsync = \"off\"", databases);
}

/// What was asked for and can't be had at all has failed.
#[test]
fn a_server_of_the_users_that_does_not_answer_has_failed() {
    let fixture = Fixture::new();
    fixture.write("suite.toml", text("mysql/values", "innodb-flush-log-at-trx-commit = 0"));
    let run = bench(&fixture, &["--server", "mysql://root@127.0.0.1:1/", "--json"]).exits(3);
    // The plain one, and once more for the noise; the others are for private servers only.
    assert_eq!(run.json()["failed_cells"], 2);
}

/// Neither a hangup nor a kill leaves a database on the user's server.
fn drops<D: Database>(strategy: &str, setting: &str, databases: &str) {
    let Some((first, admin)) = named(&D::FAMILY).into_iter().next() else { return };
    for_each_server::<D>(|server| {
        if first != server.name() {
            return;
        }
        let fixture = Fixture::new();
        let endless = text(strategy, setting).replace("repeat = 20", "repeat = 1000000");
        fixture.write("suite.toml", endless);
        let left = || {
            let ours = |name: &&Option<String>| {
                name.as_ref().is_some_and(|name| name.starts_with("inrush_bench_"))
            };
            server.query(databases).iter().flatten().filter(ours).count()
        };
        for signal in ["-HUP", "-KILL"] {
            let args = ["bench", "suite.toml", "--place", ".", "--server", &admin];
            let mut child = start(&mut fixture.command(&args));
            wait_until("its database is made", || left() > 0);
            let sent = Command::new("kill").args([signal, &child.id().to_string()]).status();
            assert!(sent.unwrap().success());
            child.wait().unwrap();
            wait_until("its database is gone", || left() == 0);
        }
        // The hung up one has kept what it had.
        let is_kept = fs::read_dir(fixture.path("results")).unwrap().any(|run| {
            let manifest = fs::read_to_string(run.unwrap().path().join("manifest.json"));
            manifest.is_ok_and(|manifest| manifest.contains("\"interrupted\""))
        });
        assert!(is_kept);
    });
}

#[test]
fn a_bench_that_is_ended_leaves_no_database_on_the_users_mysql() {
    drops::<MySql>("mysql/values", "innodb-flush-log-at-trx-commit = 0", "SHOW DATABASES");
}

#[test]
fn a_bench_that_is_ended_leaves_no_database_on_the_users_postgresql() {
    drops::<Postgres>("postgres/copy-text", "fsync = \"off\"", "SELECT datname FROM pg_database");
}

/// A kill leaves nobody who could stop the server, except for the process that waits for just that.
#[test]
fn a_server_whose_bench_was_killed_is_ended() {
    for_each_server::<Postgres>(|server| {
        let fixture = Fixture::new();
        let endless =
            text("postgres/row-sql", "fsync = \"off\"").replace("repeat = 20", "repeat = 1000000");
        fixture.write("suite.toml", endless);
        let place = fixture.path("place");
        fs::create_dir(&place).unwrap();
        let args = ["bench", "suite.toml", "--place", "place", "--server", server.name()];
        let mut command = fixture.command(&args);
        find_servers(&mut command);
        let mut child = start(&mut command);
        let marks = place.to_str().unwrap().to_owned();
        let servers = || {
            let all = fixture.tool("ps", &["-eo", "args"], b"");
            let all = String::from_utf8_lossy(&all).into_owned();
            all.lines().filter(|line| line.contains("postgres") && line.contains(&marks)).count()
        };
        wait_until("a server starts", || servers() > 0);
        child.kill().unwrap();
        child.wait().unwrap();
        wait_until("the server ends", || servers() == 0);
        wait_until("its folder is gone", || fs::read_dir(&place).unwrap().count() == 0);
    });
}
