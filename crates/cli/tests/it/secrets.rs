//! Passwords in URLs: they are needed to connect, and nobody else needs to see them.

use crate::fixture::{Fixture, Outcome};

const SECRET: &str = "tiger-7-teeth";

#[track_caller]
fn assert_secret_kept(run: &Outcome) {
    for output in [&run.stdout, &run.stderr] {
        assert!(
            !output.contains("tiger") && !output.contains("teeth"),
            "{}\n{output}",
            run.command
        );
    }
}

#[test]
fn a_password_in_a_target_that_nobody_knows_is_not_repeated() {
    let fixture = Fixture::new();
    fixture.write("in.csv", "id\n1\n");
    for url in [
        "oracle://scott:SECRET@db.example/x",
        "oracle://scott:SECRET@db.example:1521/x?y=z",
        "oracle://:SECRET@db.example/x",
        "oracle://scott:SECRET/and@more@db.example/x",
        "oracle://db.example/x?user=scott&password=SECRET",
        "oracle://db.example/x?PASSWORD=SECRET&user=scott",
        "oracle://db.example/x?user=scott&pwd=SECRET",
        "oracle:scott:SECRET@db.example/x",
    ] {
        let url = url.replace("SECRET", SECRET);
        for command in ["load", "plan"] {
            for options in [&[][..], &["--json"], &["-v"], &["--progress", "plain"]] {
                let args = [&[command, "in.csv", &url], options].concat();
                let run = fixture.misused(&args);
                assert_secret_kept(&run);
                // What is shown says at least which one is meant.
                run.says(&["oracle:", "is not a supported target"]);
            }
        }
        assert_secret_kept(&fixture.misused(&["strategies", &url]));
    }
}

#[test]
fn a_password_in_the_wrong_place_is_not_repeated() {
    let fixture = Fixture::new();
    fixture.write("in.csv", "id\n1\n");
    let url = format!("oracle://scott:{SECRET}@db.example/x");
    // Source and target in the wrong order, a target forgotten, two targets.
    for args in [
        &["load", &url, "t.db"][..],
        &["load", &url, "in.csv"],
        &["load", "in.csv", &url, "t.db"],
        &["load", "in.csv", &url, &url],
        &["load", &url],
        &["plan", &url, "t.db"],
    ] {
        let run = fixture.leaves_all(|| fixture.inrush(args));
        assert!(!run.status.success());
        assert_secret_kept(&run);
    }
}

/// Of a file, which takes none: whatever the parameter is called.
#[test]
fn the_parameters_of_a_file_are_not_repeated() {
    let fixture = Fixture::new();
    fixture.write("in.csv", "id\n1\n");
    for place in [
        "sqlite:x.db?password=SECRET",
        "sqlite:x.db?cipher=a&key=SECRET",
        "sqlite:///x.db?password=SECRET",
        "sqlite:file:x.db?hexkey=SECRET",
        "sqlite://u:SECRET@h/x.db?mode=ro",
        "duckdb:x.duckdb?encryption_key=SECRET",
    ] {
        let place = place.replace("SECRET", SECRET);
        for options in [&[][..], &["--json"]] {
            assert_secret_kept(&fixture.misused(&[&["load", "in.csv", &place], options].concat()));
        }
    }
    let run = fixture.misused(&["load", "in.csv", "sqlite:x.db?key=none"]);
    run.says(&["takes no parameters, and would take ?key=... for a part", "write sqlite:x.db;"]);
}

/// A scheme of files says that all behind it is a name, which it hardly is.
#[test]
fn a_url_behind_the_scheme_of_a_file_is_not_repeated() {
    let fixture = Fixture::new();
    fixture.write("in.csv", "id\n1\n");
    for scheme in ["sqlite:", "duckdb:", "csv:", "jsonl:", "parquet:", "sqlite:///"] {
        for url in ["postgres://u:SECRET@h/x", "https://u:SECRET@h/x", "https://h/x?key=SECRET"] {
            let place = format!("{scheme}{}", url.replace("SECRET", SECRET));
            for options in [&["load"][..], &["plan"], &["plan", "--json"]] {
                let run = fixture.misused(&[options, &["in.csv", &place]].concat());
                assert_secret_kept(&run);
                run.says(&["takes a file, and this is a URL"]);
            }
        }
    }
}

/// Of a place that stands where a command, a name or an option's value belongs.
#[test]
fn a_password_is_not_repeated_by_what_refuses_the_word() {
    let fixture = Fixture::new();
    fixture.write("in.csv", "id\n1\n");
    let url = format!("postgres://u:{SECRET}@h.invalid/db");
    let option = format!("--if-exists={url}");
    for args in [
        &[url.as_str(), "in.csv"][..],
        &["tune", "--forget", &format!("postgre://u:{SECRET}@h/db")],
        &["job", &url],
        &["job", "list", "mysql://h/db", &url],
        &["strategies", "a", &url],
        &["load", "in.csv", "t.db", "--config", &url],
        &["load", "in.csv", "t.db", "--if-exists", &url],
        &["load", "in.csv", "t.db", &option],
        &["report", &url],
        &["bench", &url],
        &["compare", &url, &url],
    ] {
        for json in [&[][..], &["--json"]] {
            let run = fixture.inrush(&[args, json].concat());
            assert!(!run.status.success(), "{}", run.command);
            assert_secret_kept(&run);
        }
    }
    fixture.write("bad.toml", format!("if-exists = \"{url}\"\n"));
    let load = ["load", "in.csv", "t.db", "--config", "bad.toml"];
    assert_secret_kept(&fixture.misused(&load).says(&["bad.toml", "postgres://u@h.invalid/db"]));
    let mut command = fixture.command(&load[..3]);
    let done = command.env("INRUSH_CONFIG", &url).output().unwrap();
    let run = Outcome::of("load".to_owned(), (done.status, done.stdout, done.stderr));
    assert_secret_kept(&run.says(&["cannot read postgres://u@h.invalid/db"]));
}
