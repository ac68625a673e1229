//! Options of a file, and of the environment.

use serde_json::Value;

use crate::fixture::{Fixture, Outcome, rows};

const SETTINGS: &str = r#"
source = "orders.csv"
target = "shop.db"
table = "orders"
decimal = ","
null = ["NA", "-"]
not-null = "id"
trim = true
quiet = false
max-rejects = 5

[columns."Order ID"]
rename = "id"
type = "integer"

[columns.day]
format = ["%d.%m.%Y", "%d/%m/%Y"]
null = "never"

[columns.at]
format = "%d.%m.%Y %H:%M"
"#;

const ORDERS: &str = "Order ID;day;at;price\n1; 31.12.2024;31.12.2024 23:59;1,5\n2;never;NA;-\n";

fn with_files() -> Fixture {
    let files = Fixture::new();
    files.write("orders.csv", ORDERS).write("load.toml", SETTINGS);
    files
}

fn plan(run: Outcome) -> Value {
    run.exits(0).json()
}

/// The command with variables of the environment.
fn with(files: &Fixture, args: &[&str], environment: &[(&str, &str)]) -> Outcome {
    let mut command = files.command(args);
    command.envs(environment.iter().copied());
    let done = command.output().unwrap();
    Outcome::of(format!("inrush {}", args.join(" ")), (done.status, done.stdout, done.stderr))
}

#[test]
fn a_file_of_settings_is_as_good_as_the_command_line() {
    let files = with_files();
    files.inrush(&["load", "--config", "load.toml"]).exits(0);
    let found = files.query("shop.db", "SELECT id, day, at, price FROM orders ORDER BY id");
    assert_eq!(found, rows![[1, "2024-12-31", "2024-12-31 23:59:00", 1.5], [2, (), (), ()]]);
    // A target that is typed stands above that of the file.
    files.inrush(&["load", "orders.csv", "other.db", "--config", "load.toml"]).exits(0);
    assert!(files.path("other.db").exists());
}

#[test]
fn what_is_typed_stands_above_the_file_and_that_above_the_environment() {
    let files = with_files();
    let environment =
        [("INRUSH_NULL", "x,y"), ("INRUSH_VERIFY", "none"), ("INRUSH_TABLE", "other")];
    let typed = ["plan", "--config", "load.toml", "--null", "NA", "--json"];
    let plan = plan(with(&files, &typed, &environment));
    let given = |option: &str| {
        let all = plan["options"].as_array().unwrap();
        let found = all.iter().find(|given| given["option"] == option).unwrap();
        (found["values"].to_string(), found["from"].as_str().unwrap().to_owned())
    };
    // A list replaces the other one.
    assert_eq!(given("--null"), (r#"["NA"]"#.to_owned(), "command line".to_owned()));
    assert_eq!(given("--table"), (r#"["orders"]"#.to_owned(), "load.toml".to_owned()));
    assert_eq!(given("--verify"), (r#"["none"]"#.to_owned(), "INRUSH_VERIFY".to_owned()));
    let shown = with(&files, &["plan", "--config", "load.toml"], &environment).exits(0);
    shown.prints(&["options", "--verify none (INRUSH_VERIFY)", "--table orders (load.toml)"]);
}

#[test]
fn a_plan_as_settings_gives_the_same_plan() {
    let files = with_files();
    files.write("b.csv", ORDERS);
    let typed = ["orders.csv", "b.csv", "shop.db", "--table", "t", "--rename", "Order ID=id"];
    let more = ["--null", "NA", "--null", "day=never", "--trim", "--decimal", ",", "--lanes", "1"];
    let words = [&["plan"], &typed[..], &more[..]].concat();
    let settings = files.inrush(&[&words[..], &["--as-config"]].concat()).exits(0).stdout;
    files.write("made.toml", &settings);
    let mut typed = plan(files.inrush(&[&words[..], &["--json"]].concat()));
    let mut read = plan(files.inrush(&["plan", "--config", "made.toml", "--json"]));
    for plan in [&mut typed, &mut read] {
        plan.as_object_mut().unwrap().remove("options");
    }
    assert_eq!(typed, read, "{settings}");
}

#[test]
fn passwords_stay_out_of_printed_settings() {
    let files = with_files();
    let url = "postgres://me:hidden@127.0.0.1:1/shop";
    let run = files.inrush(&["plan", "orders.csv", url, "--as-config"]).exits(0);
    let run = run.prints(&["# without its password", "postgres://me@127.0.0.1:1/shop"]);
    assert!(!run.stdout.contains("hidden"), "{}", run.stdout);
    let url = "postgres://me@127.0.0.1:1/shop";
    let run = files.inrush(&["plan", "orders.csv", url, "--as-config"]).exits(0).prints(&[url]);
    assert!(!run.stdout.contains('#'), "{}", run.stdout);
}

#[test]
fn a_variable_names_the_file_of_settings() {
    let files = with_files();
    files.write("other.toml", "table = \"others\"\n");
    let named = [("INRUSH_CONFIG", "load.toml")];
    with(&files, &["load"], &named).exits(0);
    assert_eq!(files.number("shop.db", "SELECT count(*) FROM orders"), 2);
    let typed = ["plan", "orders.csv", "t.db", "--config", "other.toml"];
    with(&files, &typed, &named).exits(0).prints(&["others"]);
    let missing = [("INRUSH_CONFIG", "none.toml")];
    with(&files, &["load"], &missing).exits(1).says(&["cannot read none.toml"]);
}

#[test]
fn a_variable_that_is_nearly_one_of_an_option_is_refused() {
    let files = with_files();
    let load = ["load", "orders.csv", "t.db"];
    for (name, right) in [
        ("INRUSH_MAX_REJECT", "INRUSH_MAX_REJECTS"),
        ("INRUSH_IF_EXIST", "INRUSH_IF_EXISTS"),
        ("INRUSH_TABEL", "INRUSH_TABLE"),
    ] {
        with(&files, &load, &[(name, "all")]).exits(2).says(&[name, &format!("write {right}")]);
    }
    with(&files, &load, &[("INRUSH_HOME", "/opt"), ("INRUSH_BASE", "/x")]).exits(0);
}

#[test]
fn a_key_that_is_nearly_an_option_is_told_which() {
    let files = with_files();
    for (key, hint) in [
        ("max_rejects", "write max-rejects"),
        ("Max-Rejects", "write max-rejects"),
        ("max-rejetcs", "did you mean max-rejects?"),
        ("tabel", "did you mean table?"),
        ("sources", "did you mean source?"),
        ("sep", "say --delimiter C"),
        ("config", "say --config on the command line"),
        ("as_config", "the keys are the options"),
    ] {
        files.write("bad.toml", format!("{key} = \"1\"\n"));
        let run = files.misused(&["load", "--config", "bad.toml", "orders.csv", "t.db"]);
        run.says(&[&format!("there is no option --{key}"), hint]);
    }
}

#[test]
fn what_no_option_is_is_said_with_its_line() {
    let files = with_files();
    for (settings, words) in [
        ("table = \"t\"\ntabel = \"u\"\n", "bad.toml, line 2: there is no option --tabel"),
        ("[columns.a]\ntyp = \"text\"\n", "bad.toml, line 2: columns.a.typ: takes type, format"),
        ("quiet = 5\n", "bad.toml, line 1: quiet: takes true or false"),
        ("target = [\"t.db\"]\n", "bad.toml, line 1: target: takes one text"),
        ("table = true\n", "bad.toml, line 1: table: takes no true; in quotes"),
        ("[columns.a]\nnull = false\n", "bad.toml, line 2: columns.a.null: takes no false"),
        ("[columns.a]\nnot-null = \"true\"\n", "columns.a.not-null: takes true or false"),
        ("[columns.a]\nnot-null = 1\n", "bad.toml, line 2: columns.a.not-null: takes true or"),
        ("null = { a = \"x\" }\n", "bad.toml, line 1: null: takes no table"),
        ("table = \n", "bad.toml, line 1"),
        (
            "columns = [\"a\"]\n[columns.a]\n",
            "bad.toml, line 2: the list columns and a table [columns.NAME]",
        ),
        ("columns = \"a\"\n[columns.\"a b\"]\n", "bad.toml, line 2: the list columns and a table"),
        ("columns.a.type = \"text\"\ncolumns = [\"a\"]\n", "line 2: the list columns and a table"),
        ("columns = [\"a\"]\ncolumns = [\"b\"]\n", "bad.toml, line 2: duplicate key"),
        ("if-exists = \"never\"\n", "bad.toml: invalid value 'never' for '--if-exists"),
        ("table = [\"a\", \"b\"]\n", "bad.toml: the argument '--table <NAME>' cannot be used mult"),
        ("quiet = true\nverbose = true\n", "bad.toml: the argument '--quiet' cannot be used with"),
    ] {
        files.write("bad.toml", settings);
        files
            .inrush(&["load", "orders.csv", "t.db", "--config", "bad.toml"])
            .exits(2)
            .says(&[words]);
        assert!(!files.path("t.db").exists());
    }
    files.inrush(&["load", "--config", "none.toml"]).exits(1).says(&["cannot read none.toml"]);
    files.inrush(&["load"]).exits(2);
    for wrong in [("INRUSH_QUIET", "perhaps"), ("INRUSH_LANES", "two")] {
        with(&files, &["load", "orders.csv", "t.db"], &[wrong]).exits(2).says(&[wrong.0, wrong.1]);
    }
}

/// Commas and all; of an option that may be repeated each line is a value.
#[test]
fn a_variable_is_what_would_be_typed() {
    let files = Fixture::new();
    files.write("in.csv", "a,b,day\n1.25,\"2,5\",\"Jan 31, 2024\"\n");
    let options = |run: Outcome| {
        let options = plan(run)["options"].clone();
        let values = options.as_array().unwrap().iter().map(|given| given["values"].to_string());
        values.collect::<Vec<_>>()
    };
    let plan = ["plan", "in.csv", "t.db", "--json"];
    for (typed, variable) in [
        (&["--index", "a,b"][..], ("INRUSH_INDEX", "a,b")),
        (&["--index", "a,b", "--index", "b"], ("INRUSH_INDEX", "a,b\nb")),
        (&["--primary-key", "a,b"], ("INRUSH_PRIMARY_KEY", "a,b")),
        (&["--type", "a=decimal(10,2)"], ("INRUSH_TYPE", "a=decimal(10,2)")),
        (&["--type", "a=text", "--type", "b=text"], ("INRUSH_TYPE", "a=text\nb=text\n")),
        (
            &["--type", "a=decimal(10,2)", "--type", "b=text"],
            ("INRUSH_TYPE", "a=decimal(10,2),b=text"),
        ),
        (&["--decimal", "a=,", "--decimal", "b=,"], ("INRUSH_DECIMAL", "a=,,b=,")),
        (&["--decimal", ","], ("INRUSH_DECIMAL", ",")),
        (&["--decimal", "b=,"], ("INRUSH_DECIMAL", "b=,")),
        (&["--delimiter", ","], ("INRUSH_DELIMITER", ",")),
        (&["--date-format", "day=%b %d, %Y"], ("INRUSH_DATE_FORMAT", "day=%b %d, %Y")),
        (&["--true", "yes,y"], ("INRUSH_TRUE", "yes,y")),
        (&["--null", "NA", "--null", "-"], ("INRUSH_NULL", "NA\n-")),
        (&["--null", "NA", "--null", "a=-"], ("INRUSH_NULL", "NA,a=-")),
    ] {
        let said = options(with(&files, &plan, &[variable]));
        assert_eq!(said, options(files.inrush(&[&plan[..], typed].concat())), "{variable:?}");
    }
    let index = [("INRUSH_INDEX", "a,b")];
    with(&files, &["load", "in.csv", "t.db"], &index).exits(0);
    let indexes = "SELECT count(*) FROM sqlite_schema WHERE type = 'index'";
    assert_eq!(files.number("t.db", indexes), 1);
}

#[test]
fn a_failure_is_json_whoever_asks_for_it() {
    let files = Fixture::new();
    files.write("in.csv", "a\n1\n").write("json.toml", "json = true\n").write("bad.toml", "x");
    files.write("plain.toml", "json = false\n");
    files.write("key.toml", "json = true\nxyzzy = 1\n");
    files.write("value.toml", "json = true\nlanes = \"many\"\n");
    files.write("syntax.toml", "json = true\nlanes = = 2\n");
    let on = [("INRUSH_JSON", "1")];
    for (args, environment, code) in [
        (&["load", "none.csv", "t.db"][..], &on[..], 1),
        (&["load", "none.csv", "t.db", "--config", "json.toml"], &[], 1),
        (&["check", "none.csv"], &on, 1),
        (&["load", "in.csv", "t.db", "--xyzzy"], &on, 2),
        (&["load", "in.csv", "t.db", "--config", "bad.toml"], &on, 2),
        (&["load", "in.csv", "t.db", "--config", "none.toml", "--json"], &[], 1),
        (&["load", "in.csv", "t.db", "--config", "key.toml"], &[], 2),
        (&["load", "in.csv", "t.db", "--config=value.toml"], &[], 2),
        (&["load", "in.csv", "t.db", "--config", "syntax.toml"], &[], 2),
        (&["load", "in.csv", "t.db", "--config", "json.toml", "--bogus"], &[], 2),
        (&["load", "in.csv", "t.db", "--bogus"], &[("INRUSH_CONFIG", "json.toml")], 2),
    ] {
        let run = with(&files, args, environment).exits(code);
        assert!(run.json()["error"]["message"].is_string(), "{run:?}");
    }
    for (args, environment) in [
        (&["load", "none.csv", "t.db"][..], &[("INRUSH_JSON", "0")][..]),
        (&["load", "none.csv", "t.db", "--config", "plain.toml"], &on),
        (&["load", "in.csv", "t.db", "--config", "plain.toml", "--bogus"], &on),
        // These are no options of this command.
        (&["strategies", "paper"], &on),
    ] {
        assert_eq!(with(&files, args, environment).stdout, "", "{args:?}");
    }
}

/// A proposal is typed, and replaces what the file says of other columns: so that is typed as well.
#[test]
fn a_command_that_is_proposed_keeps_what_stands_below_it() {
    let files = Fixture::new();
    let formats = "[columns.d1]\nformat = \"%d.%m.%Y\"\n";
    files.write("d.csv", "d1,d2\n01.02.2024,01/31/2024\n03.04.2024,02/28/2024\n");
    files.write("d.toml", formats);
    for (args, environment) in [
        (&["plan", "d.csv", "d.db", "--config", "d.toml"][..], &[][..]),
        (&["plan", "d.csv", "d.db"], &[("INRUSH_DATE_FORMAT", "d1=%d.%m.%Y")]),
    ] {
        let run = with(&files, args, environment).exits(0);
        let command = run.stdout.lines().last().unwrap();
        let words: Vec<&str> = command.split_whitespace().skip(1).collect();
        with(&files, &words, environment).exits(0);
        let found = files.query("d.db", "SELECT min(d1), max(d2) FROM d");
        assert_eq!(found, rows![["2024-02-01", "2024-02-28"]], "{command}");
        std::fs::remove_file(files.path("d.db")).unwrap();
    }
}

#[test]
fn what_the_file_says_rules_out_what_a_variable_says_against_it() {
    let files = with_files();
    files.write("quiet.toml", "quiet = true\n");
    let load = ["load", "orders.csv", "t.db", "--config", "quiet.toml"];
    let quiet = with(&files, &load, &[("INRUSH_VERBOSE", "1"), ("INRUSH_PROGRESS", "plain")]);
    let quiet = quiet.exits(0);
    assert_eq!((quiet.stdout.as_str(), quiet.stderr.as_str()), ("", ""));
    let both = [("INRUSH_VERBOSE", "1"), ("INRUSH_QUIET", "1")];
    let run = with(&files, &load[..3], &both).exits(2);
    run.says(&["INRUSH_QUIET, INRUSH_VERBOSE: the argument"]);
}

#[test]
fn control_characters_in_printed_settings_are_what_they_were() {
    let files = with_files();
    let null = "\u{85}\"x";
    let plan = ["plan", "orders.csv", "t.db", "--null", null, "--as-config"];
    let run = files.inrush(&plan).exits(0).prints(&[r#"null = "\u0085\"x""#]);
    files.write("again.toml", &run.stdout);
    let run = files.inrush(&["plan", "--config", "again.toml", "--json"]).exits(0).json();
    assert_eq!(run["dialect"]["nulls"][0], null);
}

#[test]
fn quiet_that_is_typed_is_quiet() {
    let files = with_files();
    let plain = [("INRUSH_PROGRESS", "plain"), ("INRUSH_VERBOSE", "1")];
    let load = ["load", "orders.csv", "t.db", "--if-exists", "replace"];
    let quiet = with(&files, &[&load[..], &["-q"]].concat(), &plain).exits(0);
    assert_eq!((quiet.stdout.as_str(), quiet.stderr.as_str()), ("", ""));
    with(&files, &load, &plain[..1]).exits(0).says(&["loading"]);
    // As it is below the file that says no.
    files.write("no.toml", "quiet = false\n");
    let not_quiet = [&load[..], &["--config", "no.toml"]].concat();
    with(&files, &not_quiet, &[("INRUSH_QUIET", "1")]).exits(0).prints(&["2 rows loaded"]);
    let both = [&load[..], &["-q", "--progress", "plain"]].concat();
    with(&files, &both, &[]).exits(0).says(&["loading"]);
}

#[test]
fn what_a_value_leaves_no_use_for_is_ruled_out_from_below() {
    let files = with_files();
    let load = ["load", "orders.csv", "t.db", "--delimiter", ";"];
    files.write("steps.toml", "guarantee = \"chunks\"\ncommit-rows = 5\nresume = true\n");
    let atomic = ["--config", "steps.toml", "--guarantee", "atomic"];
    let keyed = ["--primary-key", "Order ID"];
    files.inrush(&[&load[..], &keyed, &atomic].concat()).exits(0);
    let steps = [("INRUSH_RESUME", "1"), ("INRUSH_COMMIT_ROWS", "5")];
    let load = [&load[..], &["--if-exists", "append"]].concat();
    let empty = [&load[..], &["--guarantee", "atomic", "--max-rejects", "all"]].concat();
    with(&files, &empty, &steps).exits(3);
    files.write("update.toml", "on-conflict = \"update\"\nkey = \"Order ID\"\n");
    let update = [&load[..], &["--config", "update.toml"]].concat();
    files.inrush(&update).exits(0).prints(&["2 rows"]);
    let fail = [&update[..], &["--on-conflict", "fail", "--max-rejects", "all"]].concat();
    files.inrush(&fail).exits(3);
}

#[test]
fn an_error_says_where_an_option_is_from_that_was_not_typed() {
    let files = with_files();
    let load = ["load", "orders.csv", "t.db"];
    files.write("key.toml", "key = \"Order ID\"\n");
    let run = files.inrush(&[&load[..], &["--config", "key.toml"]].concat()).exits(2);
    run.says(&["--key", "--key was not typed: it is from key.toml"]);
    let run = with(&files, &load, &[("INRUSH_COMMIT_ROWS", "5")]).exits(2);
    run.says(&["--commit-rows was not typed: it is from INRUSH_COMMIT_ROWS"]);
    let run = files.inrush(&[&load[..], &["--commit-rows", "5"]].concat()).exits(2);
    assert!(!run.stderr.contains("not typed"), "{run:?}");
}

#[test]
fn the_last_source_of_a_file_without_a_target_is_none() {
    let files = Fixture::new();
    files.write("a.csv", "n\n1\n").write("b.csv", "n\n2\n");
    for name in ["a", "b"] {
        files.inrush(&["load", &format!("{name}.csv"), &format!("{name}.parquet")]).exits(0);
    }
    files.write("load.toml", "source = [\"a.parquet\", \"b.parquet\"]\nif-exists = \"replace\"\n");
    for command in ["load", "plan", "check", "tune"] {
        let run = files.inrush(&[command, "--config", "load.toml"]).exits(2);
        run.says(&["load.toml names a source, and no target", "target = \"DATABASE.db\""]);
    }
    files.write("check.toml", "source = [\"a.csv\", \"b.csv\"]\n");
    files.inrush(&["check", "--config", "check.toml"]).exits(0).prints(&["2 rows"]);
    files.inrush(&["load", "--config", "load.toml", "t.db", "--table", "t"]).exits(0);
    assert_eq!(files.query("t.db", "SELECT n FROM t ORDER BY n"), rows![[1], [2]]);
}
