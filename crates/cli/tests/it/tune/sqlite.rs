//! SQLite: a folder beside the file.

use std::process::Child;

use rusqlite::types::Value;
use serde_json::json;

use super::{
    ROWS, in_favour_of, keep, measured, names, options, orders, planned, reasons, tuned,
    with_strategy,
};
use crate::crash::send;
use crate::disk::{Disk, has_mounts_of_its_own};
use crate::fixture::{Fixture, finish, start, wait_until};

#[test]
fn what_was_measured_is_gone_by_and_nothing_else_is_left() {
    let fixture = Fixture::new();
    orders(&fixture);
    let found = tuned(&fixture, &["orders.csv", "shop.db"]);
    assert!(found["candidates"].as_array().unwrap().len() > 1, "{found}");
    assert!(found["seconds"].as_f64().unwrap() < 60.0, "{found}");
    assert_eq!(fixture.names(), ["orders.csv", "out", "p.toml"]);
    assert!(found["load_bytes"].as_u64().unwrap() >= 8 << 19, "{found}");

    with_strategy(&fixture, "sqlite/values");
    let plan = planned(&fixture, &["orders.csv", "shop.db"]);
    assert_eq!(plan["strategy"], "sqlite/values");
    assert_eq!(plan["measured"]["ratio"], 1.5);
    assert!(reasons(&plan).contains("measured here on 20"), "{plan}");
    assert!(reasons(&plan).contains("1.50 times the default, 1.50 to 1.50"), "{plan}");
    let report = fixture.report(&["orders.csv", "shop.db", "--profiles", "p.toml"]);
    assert_eq!(report["plan"]["strategy"], "sqlite/values");
    assert_eq!(report["rows_loaded"], ROWS);

    // Listed, printed, and forgotten.
    let kept = ["--profiles", "p.toml"];
    fixture.inrush(&[&["tune", "--list"], &kept[..]].concat()).exits(0).prints(&["sqlite/values"]);
    let exported = fixture.inrush(&[&["tune", "--export"], &kept[..]].concat()).exits(0).stdout;
    assert!(exported.starts_with("version = 1\n"), "{exported}");
    fixture
        .inrush(&[&["tune", "--forget", "shop.db"], &kept[..]].concat())
        .exits(0)
        .prints(&["1 profile"]);
    fixture
        .inrush(&[&["tune", "--list"], &kept[..]].concat())
        .exits(0)
        .prints(&["nothing was measured"]);
    let forgotten = fixture.inrush(&[&["tune", "--forget", "all", "--json"], &kept[..]].concat());
    assert_eq!(forgotten.exits(0).json(), json!({ "forgotten": 0 }));
    // A file that is named wrong is said, and not made.
    for missing in ["none.toml", "nodir/none.toml"] {
        let forget = ["tune", "--forget", "all", "--profiles", missing];
        let run = fixture.leaves_all(|| fixture.inrush(&forget)).exits(0);
        run.prints(&[&format!("forgot 0 profiles: there is no file {missing}")]);
    }
    fixture
        .inrush(&[&["tune", "--forget", "nonsense"], &kept[..]].concat())
        .exits(2)
        .says(&["nothing of it was measured", "--list"]);
}

/// Fewer loads than say anything: it is said what is enough, and in which loads there were how many bytes.
#[test]
fn a_budget_that_is_too_small_says_what_is_enough_and_keeps_nothing() {
    let fixture = Fixture::new();
    orders(&fixture);
    let found = super::measured_for("1s", &fixture, &["orders.csv", "shop.db"]);
    assert_eq!(found["is_decided"], false, "{found}");
    let sentence = found["sentence"].as_str().unwrap();
    assert!(sentence.contains("fit into the time; try --budget"), "{sentence}");
    let load = found["load_bytes"].as_u64().unwrap();
    assert!(load == 0 || load >= 8 << 19, "{found}");
    assert_eq!(found["profile"], "not kept: too little was measured");
    assert_eq!(fixture.names(), ["orders.csv", "out"]);
    let mut args = vec!["tune", "orders.csv", "shop.db"];
    args.extend(&options("1s")[..6]);
    let each = [&args[..], &["-q"]].concat();
    let quiet = fixture.inrush(&each).exits(0);
    assert_eq!((quiet.stdout.as_str(), quiet.stderr.as_str()), ("", ""));
}

#[test]
fn what_the_user_says_stands_above_what_was_measured() {
    let fixture = Fixture::new();
    orders(&fixture);
    in_favour_of("sqlite/values", &fixture, &["orders.csv", "shop.db"]);
    let load = ["orders.csv", "shop.db"];
    for (options, words) in [
        (&["--strategy", "bind"][..], "--strategy is yours"),
        (&["--chunk-size", "100k"], "--chunk-size is yours"),
        (&["--set", "cache=1000000"], "--set cache=1000000 is yours"),
        (&["--durability", "process"], "guarantee was"),
        (&["--primary-key", "id"], ""),
        (&["--types", "text"], ""),
    ] {
        let plan = planned(&fixture, &[&load[..], options].concat());
        assert_ne!(plan["strategy"], "sqlite/values", "{options:?}");
        assert_eq!(plan["measured"], json!(null), "{options:?}");
        assert!(reasons(&plan).contains(words), "{options:?}: {plan}");
    }
    // One connection is what this strategy can use.
    let kept = fixture.read("p.toml");
    let text = String::from_utf8(kept.clone()).unwrap();
    fixture.write("p.toml", text.replace("lanes = 1", "lanes = 99"));
    let plan = fixture.inrush(&["plan", "orders.csv", "shop.db", "--profiles", "p.toml"]).exits(0);
    let plan = plan
        .prints(&["is passed over: sqlite/values over 99 connections: it can use 1 connection"]);
    assert!(!plan.stdout.contains("--lanes"), "{}", plan.stdout);
    assert_eq!(planned(&fixture, &load)["measured"], json!(null));
    fixture.write("p.toml", kept);
    let plan = planned(&fixture, &[&load[..], &["--strategy", "values"]].concat());
    assert_eq!(plan["strategy"], "sqlite/values");
    let without =
        fixture.inrush(&["plan", "orders.csv", "shop.db", "--json", "--profiles", "none"]);
    assert_eq!(without.exits(0).json()["measured"], json!(null));
    // A few rows are no matter of what was measured with many.
    fixture.write("few.csv", "id,amount,customer\n1,1.5,a\n");
    assert_eq!(planned(&fixture, &["few.csv", "shop.db"])["strategy"], "sqlite/pages");
}

#[test]
fn what_tune_can_not_do_is_said_before_it_measures() {
    let fixture = Fixture::new();
    fixture.write("t.csv", "id\n1\n");
    let alone = fixture.inrush(&["tune", "t.csv"]).exits(2);
    alone.says(&["stands alone", "try: inrush tune FILE.csv DATABASE.db"]);
    let tune = ["tune", "t.csv", "t.db", "--budget", "1s", "--profiles", "t.csv/p.toml"];
    let run = fixture.leaves_all(|| fixture.inrush(&tune).exits(1));
    let run = run.says(&["cannot write t.csv/p.toml", "--profiles FILE names another place"]);
    assert!(run.stdout.is_empty(), "{run:?}");
}

#[test]
fn a_file_of_profiles_that_makes_no_sense_is_a_warning() {
    let fixture = Fixture::new();
    fixture.write("t.csv", "id\n1\n");
    for (text, words) in [
        ("version = 2\n", "is of version 2"),
        ("version = 1\nprofile = 7\n", "line 2"),
        ("hello", "line 1"),
        ("version = 1\n[[profile]]\ndate = \"2026\"\n", "missing field"),
    ] {
        fixture.write("p.toml", text);
        let plan = fixture.inrush(&["plan", "t.csv", "t.db", "--profiles", "p.toml"]);
        plan.exits(0).prints(&["what was measured here is passed over", words]);
        let plan = fixture.inrush(&["plan", "t.csv", "t.db", "--profiles", "p.toml", "--json"]);
        plan.exits(0).says(&["what was measured here is passed over", words]);
        let forget = fixture.inrush(&["tune", "--forget", "all", "--profiles", "p.toml"]);
        forget.exits(1).says(&["nothing is forgotten", words, "remove"]);
        assert_eq!(String::from_utf8(fixture.read("p.toml")).unwrap(), text);
        for options in [&["--list"][..], &["--list", "--json"], &["--export"]] {
            let list = [&["tune", "--profiles", "p.toml"], options].concat();
            let list = fixture.inrush(&list).exits(1);
            let list = list.says(&["what was measured can't be read", words]);
            assert_eq!(list.stdout.is_empty(), !options.contains(&"--json"), "{options:?}");
        }
    }
    let report = fixture.report(&["t.csv", "t.db", "--profiles", "p.toml"]);
    assert!(report["warnings"].to_string().contains("passed over"), "{report}");
    // Nor is it written over.
    orders(&fixture);
    fixture
        .inrush(&[&["tune", "orders.csv", "u.db"], &options("1s")[..]].concat())
        .exits(0)
        .says(&["what is found is not kept", "missing field"]);
    assert!(
        String::from_utf8(fixture.read("p.toml"))
            .unwrap()
            .starts_with("version = 1\n[[profile]]\ndate")
    );
}

#[test]
fn a_profile_takes_no_promise_away() {
    let fixture = Fixture::new();
    shop(&fixture);
    orders(&fixture);
    let load = ["orders.csv", "shop.db", "--table", "new"];
    let key = measured(&fixture, &load)["key"].clone();
    let with = |knob: &str| {
        keep(&fixture, &key, "sqlite/bind", knob);
        fixture.inrush(&[&["plan", "--profiles", "p.toml"], &load[..]].concat()).exits(0)
    };
    with("cache = \"8388608\"").prints(&["measured here on 2026-11-26: sqlite/bind"]);
    for (knob, why) in [
        ("rows_per_transaction = \"1000\"", "rows of a load that fails would stay"),
        ("synchronous = \"off\"", "a load is 'process' at best"),
        // The database would keep the mode.
        ("journal_mode = \"wal\"", "journal_mode=wal is for the user to say"),
    ] {
        let plan = with(knob).prints(&["is passed over: sqlite/bind", why, "all rows or none"]);
        assert!(plan.stdout.contains("strategy  sqlite/pages"), "{}", plan.stdout);
    }
    // Nor does what was measured on files hold for what can be read only once.
    with("cache = \"8388608\"");
    let plan = ["plan", "--profiles", "p.toml", "-", "shop.db", "--table", "new"];
    let run = fixture.inrush_reading(&fixture.read("orders.csv"), &plan);
    run.exits(0).prints(&["measured here on 2026-11-26 is for files", "strategy  sqlite/pages"]);
}

#[test]
fn a_table_that_refers_to_others_is_not_measured_and_one_that_refers_to_itself_is() {
    let fixture = Fixture::new();
    orders(&fixture);
    fixture.sql(
        "shop.db",
        "CREATE TABLE customers (name PRIMARY KEY);
         CREATE TABLE orders (id INTEGER PRIMARY KEY, amount, customer REFERENCES customers);
         CREATE TABLE tree (id INTEGER PRIMARY KEY, amount, customer REFERENCES Tree (id));",
    );
    let before = fixture.read("shop.db");
    let tune = ["tune", "orders.csv", "shop.db", "--profiles", "none", "--budget", "1s"];
    fixture.inrush(&tune).exits(1).says(&[
        "orders refers to rows of another table, which are not copied: FOREIGN KEY (customer) REFERENCES customers",
        "name a target that isn't there yet",
    ]);
    assert_eq!(fixture.read("shop.db"), before);
    let tree = [&tune[..], &["--table", "tree", "--columns", "id,amount"]].concat();
    fixture.inrush(&tree).exits(0);
    // A colon in a file's name is no scheme.
    fixture
        .inrush(&["tune", "orders.csv", "2024:x.db", "--profiles", "none", "--budget", "1s"])
        .exits(0)
        .prints(&["not kept: --profiles none"]);
}

#[test]
fn settings_of_a_file_and_of_the_environment_are_measured_too() {
    let fixture = Fixture::new();
    orders(&fixture);
    fixture
        .write("load.toml", "source = \"orders.csv\"\ntarget = \"shop.db\"\ntable = \"others\"\n");
    let mut command =
        fixture.command(&[&["tune", "--config", "load.toml"], &options("1s")[..]].concat());
    let output = command.env("INRUSH_DURABILITY", "none").output().unwrap();
    let found: serde_json::Value = serde_json::from_slice(&output.stdout).unwrap();
    assert_eq!(found["table"], "others");
    assert!(found["key"]["guarantee"].as_str().unwrap().starts_with("none,"), "{found}");
    let tune = ["tune", "orders.csv", "shop.db", "--config"];
    fixture.inrush(&[&tune[..], &["missing.toml"]].concat()).exits(1).says(&["missing.toml"]);
    fixture.write("bad.toml", "tabel = \"t\"\n");
    fixture.misused(&[&tune[..], &["bad.toml"]].concat()).says(&["did you mean table?"]);
    fixture.write("dry.toml", "dry-run = true\n");
    fixture.misused(&[&tune[..], &["dry.toml"]].concat()).says(&["--dry-run"]);
    // What lists takes nothing of them. In a second a fast machine may have measured something, which p.toml keeps.
    let list = ["tune", "--list", "--profiles", "q.toml", "--config", "load.toml"];
    fixture.inrush(&list).exits(0).prints(&["nothing was measured"]);
}

#[test]
fn what_can_not_be_written_is_said_before_and_nothing_of_others_is_replaced() {
    let fixture = Fixture::new();
    orders(&fixture);
    std::fs::create_dir(fixture.path("mine")).unwrap();
    fixture.write("mine/report.html", "<h1>mine</h1>");
    let tune =
        ["tune", "orders.csv", "shop.db", "--budget", "1s", "--profiles", "none", "--report"];
    fixture.leaves_all(|| {
        let run = fixture.inrush(&[&tune[..], &["/dev/null/x"]].concat());
        run.exits(1).says(&["cannot write /dev/null/x", "--report DIR"]);
        let run = fixture.misused(&[&tune[..], &["mine"]].concat());
        run.says(&["mine/report.html is there, and tune has not written it"]);
    });
    // Of a day there may be several.
    for folders in 1..=2 {
        fixture.inrush(&tune[..7]).exits(0).prints(&["report: inrush-tune-20"]);
        let is_one = |name: &&String| name.starts_with("inrush-tune-20");
        assert_eq!(fixture.names().iter().filter(is_one).count(), folders);
    }
}

/// What fails after the measurement takes nothing of it away.
#[test]
fn a_report_that_can_not_be_written_any_more_costs_neither_table_nor_profile() {
    let fixture = Fixture::new();
    orders(&fixture);
    let child = under_way_for(&fixture, "2s");
    // As the folder is not there yet.
    fixture.write("out", "in its place");
    let output = child.wait_with_output().unwrap();
    let told = String::from_utf8_lossy(&output.stderr).into_owned();
    assert_eq!(output.status.code(), Some(1), "{told}");
    assert!(told.contains("cannot write out"), "{told}");
    let shown = String::from_utf8_lossy(&output.stdout).into_owned();
    assert!(shown.contains("(the default)") && shown.contains("report: none"), "{shown}");
    assert!(shown.contains("kept"), "{shown}");
}

/// Whoever forgets a profile while another one is measured has forgotten it.
#[test]
fn what_was_forgotten_meanwhile_does_not_come_back() {
    let fixture = Fixture::new();
    orders(&fixture);
    fixture.write(
        "p.toml",
        "version = 1\n[[profile]]\ndate = \"2026-11-20\"\ninrush = \"0.1.0\"\nis_default = true\n\
         ratio = 1.0\nlow = 1.0\nhigh = 1.0\npairs = 9\nsample_bytes = 1000\n\
         [profile.recipe]\nstrategy = \"mysql/bulk\"\nlanes = 2\nencoders = 1\nchunk_bytes = 262144\n\
         [profile.key]\nmachine = \"m\"\nengine = \"e\"\ntarget = \"mysql at elsewhere\"\nshape = \"s\"\nguarantee = \"g\"\n",
    );
    let child = under_way_for(&fixture, "2s");
    let forget = ["tune", "--forget", "mysql at elsewhere", "--profiles", "p.toml"];
    fixture.inrush(&forget).exits(0).prints(&["forgot 1 profile"]);
    let output = child.wait_with_output().unwrap();
    assert_eq!(output.status.code(), Some(0), "{}", String::from_utf8_lossy(&output.stderr));
    let left = String::from_utf8(fixture.read("p.toml")).unwrap();
    assert!(!left.contains("elsewhere"), "{left}");
}

/// A database with rows, an index and other tables.
fn shop(fixture: &Fixture) {
    fixture.write("few.csv", "id,amount,customer\n-1,1.5,a\n-2,2.5,b\n");
    fixture
        .load(&[
            "few.csv",
            "shop.db",
            "--table",
            "orders",
            "--primary-key",
            "id",
            "--index",
            "customer",
        ])
        .exits(0);
    fixture.load(&["few.csv", "shop.db", "--table", "others"]).exits(0);
}

#[test]
fn a_database_that_is_there_stays_as_it_is_to_the_byte() {
    let fixture = Fixture::new();
    shop(&fixture);
    let before = fixture.read("shop.db");
    orders(&fixture);
    let found = measured(&fixture, &["orders.csv", "shop.db", "--if-exists", "append"]);
    assert!(found["key"]["shape"].as_str().unwrap().contains("holds rows"), "{found}");
    assert_eq!(fixture.read("shop.db"), before);
    assert_eq!(names(&fixture), ["few.csv", "orders.csv", "out", "shop.db"]);
    // What load refuses without the option is measured, and the option said.
    fixture.load(&["orders.csv", "shop.db"]).exits(1).says(&["--if-exists append"]);
    assert_eq!(measured(&fixture, &["orders.csv", "shop.db"])["if_exists"], "append");
    let again = measured(&fixture, &["orders.csv", "shop.db", "--table", "new"]);
    assert!(again["key"]["shape"].as_str().unwrap().contains("that the load makes"), "{again}");
    assert_eq!(fixture.read("shop.db"), before);
}

#[test]
fn a_database_that_others_write_to_meanwhile_has_their_rows_and_no_others() {
    let fixture = Fixture::new();
    shop(&fixture);
    orders(&fixture);
    let load = ["tune", "orders.csv", "shop.db", "--if-exists", "append", "--budget", "1s"];
    let args = [&load[..], &["--profiles", "p.toml", "--report", "out"]].concat();
    let mut child = start(fixture.command(&args).stdin(std::process::Stdio::null()));
    let mut written: i64 = 0;
    while child.try_wait().unwrap().is_none() {
        written += 1;
        let id = 1_000_000 + written;
        fixture.sql("shop.db", &format!("INSERT INTO orders VALUES ({id}, 1, 'another')"));
    }
    let output = child.wait_with_output().unwrap();
    let told = String::from_utf8_lossy(&output.stderr).into_owned();
    assert_eq!(output.status.code(), Some(0), "{told}");
    // Two were there before.
    let rows = fixture.query("shop.db", "SELECT count(*), sum(id > 1000000) FROM orders");
    assert_eq!(rows, [[Value::Integer(written + 2), Value::Integer(written)]]);
    assert_eq!(names(&fixture), ["few.csv", "orders.csv", "out", "shop.db"]);
}

/// A measurement that has begun to load.
fn under_way(fixture: &Fixture) -> Child {
    under_way_for(fixture, "60s")
}

fn under_way_for(fixture: &Fixture, budget: &str) -> Child {
    let args = [
        "tune",
        "orders.csv",
        "shop.db",
        "--budget",
        budget,
        "--profiles",
        "p.toml",
        "--report",
        "out",
    ];
    let child = start(fixture.command(&args).stdin(std::process::Stdio::null()));
    let is_hidden = |name: &String| {
        let folder = fixture.path(name);
        name.starts_with(".shop.db.inrush-")
            && folder.read_dir().is_ok_and(|mut files| files.next().is_some())
    };
    wait_until("a load is measured", || fixture.names().iter().any(is_hidden));
    child
}

#[test]
fn what_a_killed_one_has_left_is_swept_by_whoever_comes_next() {
    for next in [&["load", "few.csv", "shop.db", "--table", "t"][..], &["doctor", "shop.db"]] {
        let fixture = Fixture::new();
        shop(&fixture);
        orders(&fixture);
        let mut child = under_way(&fixture);
        let before = fixture.read("shop.db");
        send(&child, "KILL");
        child.wait().unwrap();
        assert!(fixture.names().iter().any(|name| name.starts_with('.')));
        assert_eq!(fixture.read("shop.db"), before);
        fixture.inrush(next).exits(0);
        let left: Vec<String> =
            fixture.names().into_iter().filter(|name| name.starts_with('.')).collect();
        assert_eq!(left, [""; 0], "{next:?}");
    }
}

#[test]
fn an_interruption_reports_what_is_known_and_leaves_nothing() {
    let fixture = Fixture::new();
    orders(&fixture);
    let child = under_way(&fixture);
    send(&child, "INT");
    let output = child.wait_with_output().unwrap();
    assert_eq!(output.status.code(), Some(130), "{}", String::from_utf8_lossy(&output.stderr));
    assert!(
        String::from_utf8(fixture.read("out/report.json")).unwrap().contains("\"interrupted\"")
    );
    assert_eq!(fixture.names(), ["orders.csv", "out"]);
}

#[test]
fn what_can_not_be_measured_says_what_to_do_and_changes_nothing() {
    let fixture = Fixture::new();
    fixture.write("few.csv", "id\n1\n2\n");
    orders(&fixture);
    let tune = |args: &[&str]| fixture.leaves_all(|| fixture.inrush(&[&["tune"], args].concat()));
    tune(&["few.csv", "shop.db"]).exits(1).says(&["at least 8 chunks", "name a larger source"]);
    tune(&["orders.csv", "shop.db", "--sample", "1m"])
        .exits(1)
        .says(&["the sample has", "--sample SIZE"]);
    tune(&["orders.csv", "shop.db", "--type", "customer=integer"]).exits(1).says(&["customer"]);
    tune(&["orders.csv", "shop.db", "--budget", "soon"]).exits(2).says(&["--budget soon"]);
    tune(&["orders.csv", "shop.db", "--guarantee", "chunks"]).exits(2).says(&["all or nothing"]);
    tune(&["orders.csv", "shop.db", "--resume"]).exits(2).says(&["all or nothing"]);
    let none = ["--list", "--profiles", "none"];
    tune(&none).exits(2).says(&["--profiles none: nothing is kept there"]);
    // A target that is last is not told to be.
    fixture.write("no.db", "hello");
    let run = tune(&["orders.csv", "no.db"]).exits(1);
    run.says(&["no.db is not an SQLite database", "see what it is: file no.db"]);
    tune(&["orders.csv", "csv:-"]).exits(2).says(&["name a file"]);
    tune(&["orders.csv", "nowhere/shop.db"]).exits(1).says(&["does not exist"]);
    let (status, ..) = finish(start(&mut fixture.command(&["tune", "-", "shop.db"])), b"id\n1\n");
    assert_eq!(status.code(), Some(1));
}

#[test]
fn a_full_disk_ends_it_and_leaves_nothing() {
    let test = "tune::sqlite::a_full_disk_ends_it_and_leaves_nothing";
    if !has_mounts_of_its_own(test) {
        return;
    }
    let fixture = Fixture::new();
    orders(&fixture);
    std::fs::create_dir(fixture.path("disk")).unwrap();
    // Room for the folder, and for no load.
    let _disk = Disk::over(fixture.path("disk"), "100k");
    let run = fixture.inrush(&[
        "tune",
        "orders.csv",
        "disk/shop.db",
        "--budget",
        "5s",
        "--profiles",
        "none",
    ]);
    run.exits(1).says(&["full"]);
    assert_eq!(fixture.path("disk").read_dir().unwrap().count(), 0);
    assert_eq!(fixture.names(), ["disk", "orders.csv"]);
}
