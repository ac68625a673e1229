//! What surrounds a load: plan, help, lists, completions, progress, and how mistakes on the command line are told.

use std::process::Stdio;

use serde_json::{Value as Json, json};

use crate::fixture::{Fixture, rows};

#[test]
fn what_is_wrong_on_the_command_line_is_told_with_exit_code_2() {
    let fixture = Fixture::new();
    fixture.write("in.csv", "id,name\n1,a\n");
    let cases: [(&[&str], &str); 24] = [
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
        (&["--lanes", "0"], "lanes"),
        (&["--delimiter", "ab"], "one ASCII character"),
        (&["--encoding", "klingon"], "klingon"),
        (&["--warp"], "--warp"),
        (&["--guarantee", "atomic", "--resume"], "leave one of the two out"),
        (&["--guarantee", "atomic", "--set", "rows_per_transaction=9"], "commits rows before"),
    ];
    for (options, word) in cases {
        fixture.misused(&[&["load", "in.csv", "t.db"], options].concat()).says(&[word]);
        fixture.misused(&[&["plan", "in.csv", "t.db"], options].concat()).says(&[word]);
    }
    let stray = ["load", "--trim", "all", "in.csv", "t.db"];
    fixture.misused(&stray).says(&["--trim all", "try: --trim=all"]);
    let stray = ["load", "in.csv", "t.db", "--trim", "unquoted"];
    fixture.misused(&stray).says(&["--trim unquoted", "try: --trim=unquoted"]);
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
        "will be created",
        "durable",
        "MB of memory",
    ]);
    plan(&["in.csv", "t.db", "--table", "t"]).prints(&["is there and empty", "by name", "INTEGER"]);
    let strategy = plan(&["in.csv", "new.db", "--strategy", "values"]);
    strategy.prints(&["sqlite/values", "rows_per_statement=100", "was asked for"]);
    let json = plan(&["in.csv", "new.db", "--json"]).json();
    assert_eq!(json["strategy"], "sqlite/pages");
    assert_eq!(json["columns"][1], json!({"name": "name", "type": "text"}));
    // No control character reaches a terminal, and to programs names are what they are.
    fixture.write("odd.csv", "id,a\u{85}b\u{7f}\n1,x\n");
    let odd = plan(&["odd.csv", "new.db", "--json"]);
    assert!(!odd.stdout.contains(['\u{85}', '\u{7f}']), "{}", odd.stdout);
    assert_eq!(odd.json()["columns"][1]["name"], "a\u{85}b\u{7f}");
    plan(&["odd.csv", "new.db"]).prints(&["a\\u0085b\\u007f"]);
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
    let rows: String = (0..4_000).map(|n| format!("{n},name {n}{:900}\n", ".")).collect();
    fixture.write("in.csv", format!("id,name\n{rows}"));
    let run = fixture.load(&["in.csv", "t.db", "--progress", "json", "--json"]).exits(0);
    run.json();
    assert!(!run.stderr.is_empty());
    for line in run.stderr.lines() {
        let line: Json =
            serde_json::from_str(line).unwrap_or_else(|error| panic!("{line}: {error}"));
        assert!(line.get("phase").is_some() || line.get("rows").is_some(), "{line}");
    }
    // However fast it is, the last line of rows is the whole.
    let last = run.stderr.lines().rfind(|line| line.contains("\"rows\"")).unwrap();
    let last: Json = serde_json::from_str(last).unwrap();
    assert_eq!(last["rows"], 4_000);
    assert!(last["bytes"].as_u64() >= Some(rows.len() as u64), "{last}");
    // What happens on the way, too.
    // Between the places that are looked at before.
    let middle = rows.find("\n2750,").unwrap();
    let (before, behind) = rows.split_at(middle);
    fixture.write("late.csv", format!("id,name\n{before}\nlate,x{behind}"));
    let run = fixture.load(&["late.csv", "late.db", "--progress", "json"]).exits(0);
    let lines = run.stderr.lines().map(|line| serde_json::from_str(line).expect(line));
    let lines: Vec<Json> = lines.collect();
    assert!(lines.iter().any(|line| line["note"].to_string().contains("started again")), "{run:?}");
    let load = |options: &[&str]| {
        fixture.load(&[&["in.csv", "t.db", "--if-exists", "replace"], options].concat()).exits(0)
    };
    // Nothing but the report where nobody watches.
    assert_eq!(load(&[]).stderr, "");
    assert_eq!(load(&["--progress", "none"]).stderr, "");
    let quiet = load(&["--quiet"]);
    assert_eq!((quiet.stdout.as_str(), quiet.stderr.as_str()), ("", ""));
    load(&["--progress", "plain"]).says(&["loading", "4,000 rows", "committing"]);
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
fn help_of_a_job_lists_what_jobs_do_with_a_table() {
    let help = Fixture::new().inrush(&["job", "begin", "--help"]).exits(0);
    let help = help.prints(&["--if-exists <empty|append|replace>"]);
    assert!(!help.stdout.contains("truncate"), "{}", help.stdout);
}

#[test]
fn the_short_help_is_one_screen_and_the_long_one_has_everything() {
    let fixture = Fixture::new();
    let commands =
        ["load", "plan", "bench", "strategies", "report", "compare", "completions", "man"];
    for command in commands.map(Some).into_iter().chain([None]) {
        let ask = |how| {
            let args: Vec<&str> = command.into_iter().chain([how]).collect();
            fixture.inrush(&args).exits(0).stdout
        };
        let (short, long) = (ask("-h"), ask("--help"));
        let lines = short.lines().count();
        assert!(lines <= 60, "{command:?}: {lines} lines\n{short}");
        assert!(long.lines().count() >= lines, "{command:?}: {long}");
    }
    let long = fixture.inrush(&["load", "--help"]).exits(0);
    for target in inrush::target::ALL {
        // The words may be broken into lines.
        let spelling = target.spelling().split(' ').next().unwrap();
        long.stdout.contains(spelling).then_some(()).expect(spelling);
    }
    for default in ["empty", "fail", "infer", "auto", "0", "durable", "count"] {
        let shown = format!("[default: {default}]");
        assert!(long.stdout.contains(&shown), "{shown}: {}", long.stdout);
    }
    // All options are named on the one screen, too.
    let short = fixture.inrush(&["load", "-h"]).exits(0).stdout;
    for word in long.stdout.split_whitespace().filter(|word| word.starts_with("--")) {
        let option = word.trim_end_matches(|c: char| !c.is_ascii_alphanumeric());
        if option != "--help" && option.len() > 2 && !option.contains('=') {
            assert!(short.contains(option), "{option}: {short}");
        }
    }
}

#[test]
fn words_of_other_tools_are_told_in_ours() {
    let fixture = Fixture::new();
    fixture.write("in.csv", "id,name\n1,a\n");
    let cases: [(&[&str], &str); 26] = [
        (&["--write-disposition", "replace"], "say --if-exists replace"),
        (&["--write-disposition=append"], "say --if-exists append"),
        (&["--write-disposition", "merge"], "say --on-conflict update"),
        (&["--mode", "WRITE_TRUNCATE"], "say --if-exists truncate"),
        (&["--mode", "new"], "say --if-exists append, truncate or replace"),
        (&["--timeout", "9"], "?connect-timeout=SECONDS"),
        (&["--na", "-"], "say --null S"),
        (&["--version"], "say inrush --version"),
        (&["--upsert"], "say --on-conflict update --key COLUMN"),
        (&["--overwrite"], "--if-exists replace"),
        (&["--threads", "4"], "--encoders N"),
        (&["--jobs=4"], "--lanes N"),
        (&["-j", "4"], "--lanes N"),
        (&["--limit", "5"], "head -n"),
        (&["--batch_size", "100"], "--set rows_per_statement=N"),
        (&["--skip-errors"], "--max-rejects N"),
        (&["--sep", ";"], "--delimiter C"),
        (&["--no-header"], "--header no"),
        (&["--create-table"], "leave it out"),
        (&["--schema", "s"], "--table SCHEMA.TABLE"),
        (&["--user", "root"], "mysql://USER@HOST:PORT/DATABASE"),
        (&["--database", "d"], "name the target last"),
        (&["--validate"], "say inrush check"),
        (&["--explain"], "say inrush plan"),
        (&["--if-exists", "overwrite"], "say --if-exists replace"),
        (&["--header", "true"], "say --header yes"),
    ];
    for (options, hint) in cases {
        let run = fixture.misused(&[&["load", "in.csv", "t.db"], options].concat()).says(&[hint]);
        assert!(!run.stderr.contains("similar"), "{}", run.stderr);
        fixture.misused(&[&["plan", "in.csv", "t.db"], options].concat()).says(&[hint]);
    }
    fixture.misused(&["import", "in.csv", "t.db"]).says(&["say inrush load"]);
    fixture.misused(&["validate", "in.csv"]).says(&["say inrush check SOURCE... [TARGET]"]);
    fixture.misused(&["in.csv", "t.db"]).says(&["say inrush load"]);
    fixture.misused(&["load", "in.csv", "out.csv"]).says(&["say csv:out.csv"]);
    fixture.misused(&["load", "in.csv", "out.json"]).says(&["say jsonl:out.jsonl"]);
}

#[test]
fn what_is_no_option_is_never_said_to_be_a_file() {
    let fixture = Fixture::new();
    fixture.write("in.csv", "id,name\n1,a\n");
    for (words, says) in [
        (&["--max-rejets", "3"][..], "a similar argument exists: '--max-rejects'"),
        (&["--laness", "-1"], "a similar argument exists: '--lanes'"),
        (&["--xyzzy"], "unexpected argument '--xyzzy'"),
        (&["-1"], "unexpected argument '-1'"),
        (&["--max-rejects", "-1"], "invalid value '-1' for '--max-rejects"),
        (&["--lanes", "-1"], "invalid value '-1' for '--lanes"),
        (&["--skip-lines", "-1"], "invalid value '-1' for '--skip-lines"),
        (&["--chunk-size", "-1"], "--chunk-size -1: takes a size"),
    ] {
        for json in [&[][..], &["--json"]] {
            let run = fixture.misused(&[&["load", "in.csv", "t.db"], json, words].concat());
            let run = run.says(&[says]);
            assert!(!run.stderr.contains("as a value") && !run.stdout.contains("as a value"));
        }
    }
    for command in ["check", "doctor", "strategies", "job", "tune"] {
        let run = fixture.misused(&[command, "--xyzzy"]);
        assert!(!run.stderr.contains("as a value"), "{}", run.stderr);
    }
    fixture.misused(&["laod"]).says(&["similar subcommand exists: 'load'"]);
    fixture.misused(&["help", "laod"]).says(&["similar subcommand exists: 'load'"]);
    fixture.misused(&["help", "xyzzy"]).says(&["'xyzzy'"]);
}

#[test]
fn places_that_are_in_another_order_or_one_word_are_told_as_they_are_meant() {
    let fixture = Fixture::new();
    fixture.write("p.csv", "id,name\n1,a\n").write("q.csv", "id,name\n1,a\n").write("a.zip", "PK");
    for (args, says) in [
        (&["load", "t.db", "p.csv"][..], "try: name the database last: inrush load p.csv t.db"),
        (&["load", "t.db"], "inrush load - t.db --table NAME"),
        (&["load", "t.db", "people", "p.csv"], "inrush load p.csv t.db --table people"),
        (
            &["load", "p.csv", "q.csv", "t.db", "people"],
            "inrush load p.csv q.csv t.db --table people",
        ),
        (&["load", "p.csv", "t.db:people"], "inrush load p.csv t.db --table people"),
        (&["load", "p.csv", "t.db/people"], "inrush load p.csv t.db --table people"),
        (&["load", "p.csv", "t.db?table=people"], "inrush load p.csv t.db --table people"),
        (&["load", "mysql://u:geheim@h/d", "t.db"], "CLIENT ... | inrush load - TARGET"),
        (&["load", "postgres://h/d", "t.db"], "CLIENT ... | inrush load - TARGET"),
        (&["load", "p.csv,q.csv", "t.db"], "put blanks between them: p.csv q.csv"),
        (&["load", "a.zip/p.csv", "t.db"], "named behind a !: 'a.zip!p.csv'"),
        (&["load", "p.csv", "u/geheim@host/db"], "'u/...' is not a supported target"),
        (&["load", "p.csv", "user:pw-geheim@host/x.db"], "'user:...' is not a supported target"),
    ] {
        let run = fixture.leaves_all(|| fixture.inrush(args)).says(&[says]);
        assert!(!run.stderr.contains("geheim"), "{}", run.stderr);
    }
}

#[test]
fn words_may_be_in_any_case() {
    let fixture = Fixture::new();
    fixture.write("in.csv", "id\tname\n1\ta\n").write("soh.csv", "id\u{1}name\n2\u{1}b\n");
    let words = ["--delimiter", "TAB", "--strategy", "SQLITE/BIND", "--if-exists", "TRUNCATE"];
    let types = ["--type", "id=NUMERIC(10,2)", "--table", "t"];
    fixture.sql("t.db", "CREATE TABLE t (id NUMERIC, name TEXT)");
    fixture.load(&[&["in.csv", "t.db"], &words[..], &types].concat()).exits(0);
    fixture.load(&["soh.csv", "t.db", "--table", "u", "--delimiter", "0x01"]).exits(0);
    assert_eq!(fixture.table("t.db", "u"), rows![[2, "b"]]);
}

#[test]
fn a_file_of_profiles_that_is_not_there_is_a_note() {
    let fixture = Fixture::new();
    fixture.write("in.csv", "id\n1\n");
    let run = fixture.load(&["in.csv", "t.db", "--profiles", "none.toml"]).exits(0);
    assert!(run.stdout.contains("there is no file none.toml"), "{}", run.stdout);
}

#[test]
fn no_example_of_a_help_is_longer_than_its_lines() {
    let fixture = Fixture::new();
    let job = fixture.inrush(&["job", "--help"]).exits(0).stdout;
    let begin = job.lines().find(|line| line.contains("inrush job begin")).unwrap();
    assert!(begin.ends_with("> job.json"), "{begin}");
    for command in ["load", "plan", "check", "doctor", "tune", "job", "bench"] {
        let help = fixture.inrush(&[command, "--help"]).exits(0).stdout;
        let (_, examples) = help.split_once("Examples:\n").unwrap_or(("", ""));
        let examples = examples.split("\n\n").next().unwrap();
        for line in examples.lines() {
            let is_example =
                line.trim_start().starts_with("inrush ") || line.contains(" | inrush ");
            assert!(is_example, "{command}: {line}");
        }
    }
}

#[test]
fn the_name_of_a_strategy_is_checked_before_a_server_is_asked() {
    let fixture = Fixture::new();
    fixture.write("in.csv", "id,name\n1,a\n");
    for target in inrush::target::ALL {
        let url = match target.name() {
            "sqlite" => "t.db".to_owned(),
            "duckdb" => "duckdb:t.duckdb".to_owned(),
            "files" => "csv:t.csv".to_owned(),
            // Nothing listens there.
            name => format!("{name}://u:hidden@127.0.0.1:1/d"),
        };
        for command in ["load", "plan", "check"] {
            let args = [command, "in.csv", &url, "--strategy", "warp/nine"];
            let run = fixture.misused(&args).says(&["'warp/nine' is no strategy", "use one of"]);
            assert!(!run.stderr.contains("hidden"));
        }
    }
}

#[test]
fn a_knob_that_no_strategy_has_or_that_is_said_twice_is_refused() {
    let fixture = Fixture::new();
    fixture.write("in.csv", "id,name\n1,a\n");
    let load = ["load", "in.csv", "t.db", "--set"];
    // `page_size` is a knob of one strategy, and `begin` of another.
    let run = fixture.misused(&[&load[..], &["foo=1"]].concat());
    run.says(&["none of sqlite/pages, ", "has a knob 'foo'", "begin", "page_size"]);
    let named = ["foo=1", "--strategy", "sqlite/bind"];
    fixture.misused(&[&load[..], &named].concat()).says(&["sqlite/bind has no knob 'foo'"]);
    let twice = ["cache=1MiB", "--set", "cache=2MiB"];
    let says = ["--set cache=2MiB: another --set says otherwise of cache"];
    fixture.misused(&[&load[..], &twice].concat()).says(&says);
    fixture.load(&["in.csv", "t.db", "--set", "cache=1MiB", "--set", "cache=1MiB"]).exits(0);
}

#[test]
fn a_database_that_is_a_source_is_told_how_its_rows_come() {
    let fixture = Fixture::new();
    fixture.sql("h.db", "CREATE TABLE t (a); INSERT INTO t VALUES (1)");
    fixture.refuses(&["h.db", "csv:x.csv"]).says(&[
        "if it is the target",
        "sqlite3 -json FILE 'SELECT ...' | inrush load - TARGET, with --type c=float",
        "iif(c IS NULL, NULL, hex(c))",
    ]);
    // As it is advised.
    fixture.sql(
        "s.db",
        "CREATE TABLE t (n INTEGER, r REAL, s TEXT, b BLOB);
             INSERT INTO t VALUES (9007199254740993, 0.1, '', x'00ff'), (NULL, 0.30000000000000004, 'a''b', NULL), (1, NULL, NULL, x'');",
    );
    let select = "SELECT n, r, s, iif(b IS NULL, NULL, hex(b)) AS b FROM t";
    let rows = fixture.tool("sqlite3", &["-json", "s.db", select], b"");
    let load = ["-", "new.db", "--table", "t", "--type", "r=float", "--type", "b=text"];
    fixture.load_reading(&rows, &load).exits(0);
    assert_eq!(fixture.query("new.db", "SELECT * FROM t"), fixture.query("s.db", select));
}

#[test]
fn a_dry_run_is_the_plan() {
    let fixture = Fixture::new();
    fixture.write("in.csv", "id,name\n1,a\n");
    for more in [&[][..], &["--json"], &["--verbose"]] {
        let args = [&["in.csv", "t.db"], more].concat();
        let dry = fixture.leaves_all(|| fixture.load(&[&args[..], &["--dry-run"]].concat()));
        let plan = fixture.leaves_all(|| fixture.inrush(&[&["plan"], &args[..]].concat()).exits(0));
        assert_eq!((dry.exits(0).stdout, ""), (plan.stdout, plan.stderr.as_str()));
    }
    fixture.misused(&["load", "in.csv", "t.db", "--dry-run", "--strategy", "warp"]);
}

#[test]
fn more_connections_than_can_be_used_are_a_note() {
    let fixture = Fixture::new();
    fixture.write("in.csv", "id,name\n1,a\n");
    let report = fixture.report(&["in.csv", "t.db", "--lanes", "4"]);
    assert_eq!(report["plan"]["lanes"], 1);
    let note = report["warnings"][0].as_str().unwrap();
    assert!(note.starts_with("--lanes 4: sqlite/") && note.contains("can use 1"), "{note}");
    fixture.inrush(&["plan", "in.csv", "u.db", "--lanes", "4"]).exits(0).prints(&["--lanes 4"]);
}

#[test]
fn a_number_agrees_with_its_noun() {
    let fixture = Fixture::new();
    fixture.write("in.csv", "id,name\n1,a\n\nx,b\n");
    let args = ["in.csv", "t.db", "--type", "id=integer", "--max-rejects", "1"];
    let run = fixture.load(&args).exits(3);
    run.prints(&["1 row loaded into", "1 bad row rejected", "1 blank line was left out"]);
    fixture.inrush(&["check", "in.csv"]).exits(0).prints(&["1 blank line was left out"]);
    let plan = fixture.inrush(&[&["plan"], &args[..], &["--if-exists", "append"]].concat());
    plan.exits(0).prints(&["at most 1 bad row;"]);
}

/// Also where clap finds the mistake, and for every command that has the option.
#[test]
fn failures_are_objects_for_programs() {
    let fixture = Fixture::new();
    fixture.write("in.csv", "id,name\n1,a\n").write("empty.csv", "");
    let error = |args: &[&str], code: i32| {
        let run = fixture.leaves_all(|| fixture.inrush(&[args, &["--json"]].concat())).exits(code);
        assert_eq!(run.stdout.lines().count(), 1, "{}", run.stdout);
        assert!(run.stderr.starts_with("error: "), "{}", run.stderr);
        run.json()["error"].clone()
    };
    let unknown = error(&["load", "in.csv", "t.db", "--upsert"], 2);
    assert_eq!(unknown["kind"], "usage");
    assert_eq!(unknown["message"], "unexpected argument '--upsert' found");
    assert_eq!(unknown["advice"], json!(["say --on-conflict update --key COLUMN"]));
    assert_eq!(unknown["aftermath"], Json::Null);
    let missing = error(&["plan", "none.csv", "t.db"], 1);
    assert_eq!((&missing["kind"], &missing["file"]), (&"source".into(), &"none.csv".into()));
    let empty = error(&["load", "empty.csv", "t.db"], 1);
    assert_eq!((&empty["file"], &empty["line"]), (&"empty.csv".into(), &Json::Null));
    assert_eq!(empty["aftermath"], "nothing-changed");
    let target = error(&["load", "in.csv", "none/t.db"], 1);
    assert_eq!((&target["kind"], &target["file"]), (&"target".into(), &Json::Null));
    assert_eq!(target["advice"], json!(["mkdir -p none"]));
    assert_eq!(error(&["compare", "a", "b"], 1)["aftermath"], Json::Null);
    assert_eq!(error(&["bench", "no-such-suite"], 2)["kind"], "usage");
    // A value that no sample could have shown the type of, from a pipe: there is no second try.
    let rows: String = (0..200_000).map(|n| format!("{n}\n")).collect();
    let args = ["load", "-", "p.db", "--table", "t", "--json"];
    let run = fixture.inrush_reading(format!("id\n{rows}x\n").as_bytes(), &args).exits(1);
    let error = &run.json()["error"];
    assert_eq!((&error["file"], &error["line"]), (&"-".into(), &200_002.into()));
    assert_eq!((&error["column"], &error["record"]), (&"id".into(), &200_001.into()));
}

#[test]
fn what_takes_no_files_is_not_said_to_be_missing() {
    let fixture = Fixture::new();
    fixture.write("in.csv", "id,name\n1,a\n");
    for target in ["/proc/x.db", "csv:/proc/x.csv"] {
        let run = fixture.refuses(&["in.csv", target]);
        assert!(!run.stderr.contains("does not exist"), "{}", run.stderr);
        run.says(&["the directory /proc takes no new files"]);
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
    let run =
        fixture.misused(&["strategies", "paper"]).says(&["paper", "say one of sqlite, mysql"]);
    assert!(!run.stderr.contains("last") && !run.stderr.contains("nothing changed"), "{run:?}");
    let named = fixture.inrush(&["strategies", "mariadb"]).exits(0).prints(&["mysql/values"]);
    assert!(!named.stdout.contains("sqlite/"), "{}", named.stdout);
}

#[test]
fn where_there_is_no_target_nothing_is_said_of_one() {
    let fixture = Fixture::new();
    let without = fixture.inrush(&["check", "none.csv", "--json"]).exits(1);
    assert_eq!(without.json()["error"]["aftermath"], Json::Null);
    assert!(!without.stderr.contains("the target"), "{}", without.stderr);
    let with = fixture.inrush(&["check", "none.csv", "t.db", "--json"]).exits(1);
    assert_eq!(with.says(&["nothing changed"]).json()["error"]["aftermath"], "nothing-changed");
}

/// Runs a command as it was proposed, with more options.
fn as_proposed(fixture: &Fixture, command: &str, more: &[&str]) -> crate::fixture::Outcome {
    let words: Vec<&str> = command.split_whitespace().collect();
    assert_eq!(words[..2], ["inrush", "load"], "{command}");
    fixture.inrush(&[&words[1..2], more, &words[2..]].concat())
}

#[test]
fn a_command_that_is_proposed_can_be_run_as_it_is() {
    let fixture = Fixture::new();
    fixture.write("de.csv", "id,amount,note\n1,\"1.000,5\",a\n2,\"2.000,5\",b\n");
    for args in [
        &["load", "--dry-run", "--", "de.csv", "new.db"][..],
        &["load", "de.csv", "--dry-run", "new.db"],
        &["plan", "--", "de.csv", "new.db"],
        &["plan", "de.csv", "new.db"],
    ] {
        let run = fixture.leaves_all(|| fixture.inrush(args).exits(0));
        let command = run.stdout.lines().last().unwrap();
        assert!(command.contains("--decimal") && !command.contains("--dry-run"), "{run:?}");
        as_proposed(&fixture, command, &[]).exits(0);
        assert_eq!(fixture.number("new.db", "SELECT count(*) FROM de WHERE amount > 1000"), 2);
        std::fs::remove_file(fixture.path("new.db")).unwrap();
    }
    let rows: String = (0..60_000).map(|n| format!("{n},{n}\n")).collect();
    fixture.write("in.csv", format!("id,n\n{rows}1,2,3\n"));
    let steps = ["--guarantee", "chunks", "--commit-rows", "10000"];
    for places in [&["in.csv", "a.db"][..], &["--", "in.csv", "b.db"]] {
        let run = fixture.load(&[&steps[..], places].concat()).exits(1).says(&["resumable"]);
        let last = run.stderr.lines().last().unwrap();
        let command = &last[last.find("inrush load").unwrap_or_else(|| panic!("{last}"))..];
        as_proposed(&fixture, command, &["--max-rejects", "1"]).exits(3);
        let found = fixture.number(places.last().unwrap(), "SELECT count(*) FROM \"in\"");
        assert_eq!(found, 60_000);
    }
}

#[test]
fn options_that_a_command_has_no_use_for_are_refused() {
    let fixture = Fixture::new();
    fixture.write("in.csv", "id\n1\nx\n");
    let dry = ["tune", "in.csv", "t.db", "--dry-run"];
    fixture.misused(&dry).says(&["--dry-run", "inrush plan SOURCE... TARGET"]);
    for (args, one, other) in [
        (&["plan", "in.csv", "t.db", "--as-config", "--json"][..], "--as-config", "--json"),
        (&["tune", "--list", "in.csv", "t.db"], "--list", "SOURCE"),
        (&["tune", "--forget", "all", "--table", "t"], "--forget", "--table"),
        (&["tune", "--export", "--json"], "--export", "--json"),
        (&["bench", "--resume", "run", "--blocks", "3"], "--resume", "--blocks"),
        (&["bench", "--resume", "run", "--only", "x"], "--resume", "--only"),
        (&["bench", "--resume", "run", "--dry-run"], "--resume", "--dry-run"),
        (&["bench", "--resume", "run", "--seed", "1"], "--resume", "--seed"),
        (&["bench", "--resume=run", "--budget", "5"], "--resume", "--budget"),
        (&["bench", "--resume", "run", "--profile", "quick"], "--resume", "--profile"),
    ] {
        let advice = if one == "--resume" { "leave it out: a run goes on with" } else { "" };
        fixture.misused(args).says(&["cannot be used with", one, other, advice]);
    }
    // A check writes nothing but bad rows, and these neither in a dry run.
    let check = ["check", "in.csv", "--type", "id=integer", "--rejects", "bad.csv", "--dry-run"];
    fixture.leaves_all(|| fixture.inrush(&check).exits(3));
}

#[test]
fn completions_are_scripts_that_their_shells_read() {
    let fixture = Fixture::new();
    for shell in ["bash", "zsh", "fish"] {
        let script = fixture.inrush(&["completions", shell]).exits(0).stdout;
        assert!(script.contains("inrush") && script.contains("max-rejects"), "{shell}");
        assert!(script.contains("version") && !script.contains("bench-worker"), "{shell}");
        for words in [["skip", "update"], ["per_partition", "atomic"], ["checksum", "count"]] {
            assert!(words.iter().all(|word| script.contains(word)), "{words:?} of {shell}");
        }
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
fn files_are_completed_where_a_command_takes_them() {
    let fixture = Fixture::new();
    let script = fixture.inrush(&["completions", "bash"]).exits(0).stdout;
    fixture.write("inrush.sh", script);
    let proposed = |words: &str, count: usize| {
        let ask = format!(
            "source inrush.sh; COMP_WORDS=({words} ''); COMP_CWORD={count}; _inrush inrush '' load; echo ${{#COMPREPLY[@]}}"
        );
        String::from_utf8(fixture.tool("bash", &["-c", &ask], b"")).unwrap().trim().to_owned()
    };
    // Where it proposes nothing, bash has files.
    assert_eq!([proposed("inrush load", 2), proposed("inrush job write", 3)], ["0", "0"]);
    assert_ne!(proposed("inrush job", 2), "0");
}

#[test]
fn the_manual_page_is_one() {
    let page = Fixture::new().inrush(&["man"]).exits(0).stdout;
    assert!(page.contains(".TH inrush 1"), "{page}");
    assert!(page.contains(".SH NAME") && page.contains(".SH SYNOPSIS"), "{page}");
    assert!(page.contains("max\\-rejects"), "{page}");
    // What the steps of a job take, too.
    assert!(page.contains("connections") && page.contains("older\\-than"), "{page}");
}

/// A line of the text that is longer than the terminal's would be cut, and its rest stand alone.
#[test]
fn paragraphs_of_the_help_are_whole() {
    let fixture = Fixture::new();
    for command in ["load", "plan", "check", "doctor", "tune", "job", "bench", "report", "compare"]
    {
        let help = fixture.inrush(&[command, "--help"]).exits(0).stdout;
        let (_, prose) = help.split_once("Examples:").unwrap();
        let lines: Vec<&str> = prose.lines().collect();
        for three in lines.windows(3) {
            let is_prose = |line: &&str| !line.is_empty() && !line.starts_with(' ');
            let ends = three[1].ends_with(['.', ':']);
            let is_rest = three.iter().all(is_prose) && three[1].len() < 60 && !ends;
            assert!(!is_rest, "{command}: {three:#?}");
        }
    }
}

#[test]
fn every_command_has_a_manual_page() {
    let fixture = Fixture::new();
    let run = fixture.inrush(&["man", "--out", "man/man1"]).exits(0);
    let read = |name: &str| String::from_utf8(fixture.read(&format!("man/man1/{name}"))).unwrap();
    assert!(
        read("inrush.1").contains(".TH inrush 1") && read("inrush.1").contains("inrush\\-load(1)")
    );
    for command in
        ["load", "plan", "bench", "strategies", "report", "compare", "completions", "man"]
    {
        let name = format!("inrush-{command}.1");
        run.stdout.lines().any(|line| line.ends_with(&name)).then_some(()).expect(&name);
        assert!(read(&name).contains(&format!(".TH inrush-{command} 1")), "{}", read(&name));
    }
    assert!(read("inrush-load.1").contains("max\\-rejects"));
    for step in ["begin", "write", "publish", "abort", "list", "recover", "gc"] {
        let page = read(&format!("inrush-job-{step}.1"));
        assert!(page.contains(&format!(".TH inrush-job-{step} 1")), "{page}");
    }
    assert!(read("inrush-job-begin.1").contains("max\\-rejects"));
    assert!(!run.stdout.contains("help"), "{}", run.stdout);
    assert!(!run.stdout.contains("worker"), "{}", run.stdout);
    fixture.write("file", "");
    fixture.inrush(&["man", "--out", "file"]).exits(1).says(&["file"]);
}

#[test]
fn whoever_stops_reading_our_output_has_seen_enough() {
    let fixture = Fixture::new();
    let script = "for args in man 'completions bash' strategies; do \"$0\" $args | head -c 1; done";
    let run = fixture.tool("bash", &["-o", "pipefail", "-ec", script, crate::fixture::INRUSH], b"");
    assert_eq!(run.len(), 3);
}
