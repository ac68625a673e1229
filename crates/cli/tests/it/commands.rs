//! What surrounds a load: plan, help, lists, completions, progress, and how mistakes on the command line are told.

use std::process::Stdio;

use serde_json::{Value as Json, json};

use crate::fixture::Fixture;

#[test]
fn what_is_wrong_on_the_command_line_is_told_with_exit_code_2() {
    let fixture = Fixture::new();
    fixture.write("in.csv", "id,name\n1,a\n");
    let cases: [(&[&str], &str); 22] = [
        (&["--strategy", "sqlite/warp"], "sqlite/pages"),
        (&["--strategy", "mysql/load-data"], "sqlite/bind"),
        (&["--set", "warp=9"], "rows_per_transaction"),
        (&["--strategy", "bind", "--set", "rows_per_statement=9"], "rows_per_statement"),
        (&["--set", "journal_mode=diary"], "wal"),
        (&["--set", "rows_per_transaction=-1"], "rows_per_transaction"),
        (&["--set", "busy_timeout=soon"], "busy_timeout"),
        (&["--set", "page_size"], "KNOB=VALUE"),
        (&["--type", "id=elephant"], "elephant"),
        (&["--type", "id"], "COL=TYPE"),
        (&["--type", "nobody=text"], "nobody"),
        (&["--types", "guess"], "infer"),
        (&["--if-exists", "sometimes"], "append"),
        (&["--on-conflict", "ignore"], "skip"),
        (&["--durability", "eternal"], "durable"),
        (&["--verify", "twice"], "checksum"),
        (&["--max-rejects", "-1"], "-1"),
        (&["--chunk-size", "huge"], "256k"),
        (&["--lanes", "2"], "lanes"),
        (&["--delimiter", "ab"], "one ASCII character"),
        (&["--encoding", "klingon"], "klingon"),
        (&["--warp"], "--warp"),
    ];
    for (options, word) in cases {
        fixture.misused(&[&["load", "in.csv", "t.db"], options].concat()).says(&[word]);
        fixture.misused(&[&["plan", "in.csv", "t.db"], options].concat()).says(&[word]);
    }
    fixture.misused(&["load"]);
    fixture.misused(&["load", "in.csv"]);
    fixture.misused(&[]);
    fixture.misused(&["fly"]);
}

#[test]
fn a_plan_says_what_load_would_do_and_touches_nothing() {
    let fixture = Fixture::new();
    fixture
        .write("in.csv", "id,name\n1,a\n2,b\n")
        .sql("t.db", "CREATE TABLE t (id INTEGER, name TEXT)");
    let plan =
        |args: &[&str]| fixture.leaves_all(|| fixture.inrush(&[&["plan"], args].concat()).exits(0));
    plan(&["in.csv", "new.db"]).prints(&[
        "sqlite/pages",
        "id",
        "integer",
        "name",
        "text",
        "commas",
        "header",
        "will be made",
        "durable",
        "MB of memory",
    ]);
    plan(&["in.csv", "t.db", "--table", "t"]).prints(&["is there and empty", "by name", "INTEGER"]);
    let strategy = plan(&["in.csv", "new.db", "--strategy", "values"]);
    strategy.prints(&["sqlite/values", "rows_per_statement=100", "was asked for"]);
    let json = plan(&["in.csv", "new.db", "--json"]).json();
    assert_eq!(json["strategy"], "sqlite/pages");
    assert_eq!(json["columns"][1], json!({"name": "name", "type": "text"}));
    // What load would refuse, plan refuses.
    fixture.sql("t.db", "INSERT INTO t VALUES (1, 'x')");
    fixture.leaves_all(|| {
        fixture
            .inrush(&["plan", "in.csv", "t.db", "--table", "t"])
            .exits(1)
            .says(&["holds rows already"])
    });
    fixture.leaves_all(|| fixture.inrush(&["plan", "in.csv", "nowhere/new.db"]).exits(1));
}

#[test]
fn progress_is_for_standard_error_and_can_be_read_by_programs() {
    let fixture = Fixture::new();
    let rows: String = (0..200_000).map(|n| format!("{n},name {n}\n")).collect();
    fixture.write("in.csv", format!("id,name\n{rows}"));
    let run = fixture.load(&["in.csv", "t.db", "--progress", "json", "--json"]).exits(0);
    run.json();
    assert!(!run.stderr.is_empty());
    for line in run.stderr.lines() {
        let line: Json =
            serde_json::from_str(line).unwrap_or_else(|error| panic!("{line}: {error}"));
        assert!(line.get("phase").is_some() || line.get("rows").is_some(), "{line}");
    }
    let load = |options: &[&str]| {
        fixture.load(&[&["in.csv", "t.db", "--if-exists", "replace"], options].concat()).exits(0)
    };
    // Nothing but the report where nobody watches.
    assert_eq!(load(&[]).stderr, "");
    assert_eq!(load(&["--progress", "none"]).stderr, "");
    let quiet = load(&["--quiet"]);
    assert_eq!((quiet.stdout.as_str(), quiet.stderr.as_str()), ("", ""));
    load(&["--progress", "plain"]).says(&["loading", "committing"]);
    load(&["--verbose"]).says(&["strategy  sqlite/pages"]).prints(&["busy", "synchronous = full"]);
}

#[test]
fn help_is_there_for_every_command_and_shows_the_options_that_work() {
    let fixture = Fixture::new();
    fixture.inrush(&["--version"]).exits(0).prints(&["inrush 0."]);
    fixture.inrush(&["--help"]).exits(0).prints(&["load", "plan", "strategies", "Exit codes"]);
    for command in ["load", "plan"] {
        let help = fixture.inrush(&[command, "--help"]).exits(0);
        help.prints(&[
            "--table",
            "--if-exists",
            "--on-conflict",
            "--key",
            "--primary-key",
            "--index",
            "--type",
            "--types",
            "--format",
            "--delimiter",
            "--quote",
            "--escape",
            "--header",
            "--null",
            "--encoding",
            "--skip-lines",
            "--comment",
            "--strategy",
            "--set",
            "--lanes",
            "--encoders",
            "--chunk-size",
            "--durability",
            "--max-rejects",
            "--rejects",
            "--verify",
            "--json",
            "--progress",
            "--quiet",
            "--verbose",
        ]);
    }
    for command in ["strategies", "report", "compare", "completions", "man"] {
        fixture.inrush(&[command, "--help"]).exits(0);
    }
}

#[test]
fn strategies_lists_ids_and_knobs() {
    let fixture = Fixture::new();
    for args in [&["strategies"][..], &["strategies", "sqlite"], &["strategies", "any.db"]] {
        fixture.inrush(args).exits(0).prints(&[
            "sqlite/bind",
            "sqlite/values",
            "sqlite/row-sql",
            "rows_per_statement",
            "rows_per_transaction",
            "journal_mode",
            "synchronous",
            "begin",
            "busy_timeout",
            "page_size",
            "cache",
        ]);
    }
    fixture.misused(&["strategies", "paper"]).says(&["paper"]);
}

#[test]
fn completions_are_scripts_that_their_shells_read() {
    let fixture = Fixture::new();
    for shell in ["bash", "zsh", "fish"] {
        let script = fixture.inrush(&["completions", shell]).exits(0).stdout;
        assert!(script.contains("inrush") && script.contains("max-rejects"), "{shell}");
        if std::process::Command::new(shell)
            .arg("--version")
            .stdout(Stdio::null())
            .status()
            .is_err()
        {
            eprintln!("SKIPPED: no {shell} here to read its script");
            continue;
        }
        fixture.tool(shell, &["-n"], script.as_bytes());
    }
    fixture.misused(&["completions", "abacus"]).says(&["bash"]);
}

#[test]
fn the_manual_page_is_one() {
    let page = Fixture::new().inrush(&["man"]).exits(0).stdout;
    assert!(page.contains(".TH inrush 1"), "{page}");
    assert!(page.contains(".SH NAME") && page.contains(".SH SYNOPSIS"), "{page}");
    assert!(page.contains("max\\-rejects"), "{page}");
}

#[test]
fn whoever_stops_reading_our_output_has_seen_enough() {
    let fixture = Fixture::new();
    let script = "for args in man 'completions bash' strategies; do \"$0\" $args | head -c 1; done";
    let run = fixture.tool("bash", &["-o", "pipefail", "-ec", script, crate::fixture::INRUSH], b"");
    assert_eq!(run.len(), 3);
}
