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
        ("table = \n", "bad.toml, line 1"),
        ("if-exists = \"never\"\n", "bad.toml: invalid value 'never' for '--if-exists"),
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
