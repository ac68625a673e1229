use inrush_findings::suite::Suite;

/// A suite without a fault.
const SOUND: &str = r#"
format = 1
id = "sound"
title = "t"
about = "a"

[profile.smoke]
axes = { kind = ["a"] }
vars = { some = 5 }
blocks_min = 1
blocks_max = 1
budget_s = 1

[dataset.rows]
kind = "pairs"
rows = 10
seed = 1

[target.file]
family = "sqlite"
about = "a"

[target.server]
family = "mysql"
about = "a"
server = { settings_on = { "mysql-8" = { x = "{some}" } } }

[[experiment]]
id = "load"
title = "t"
targets = ["file", "server"]
axes = { kind = ["a", "b"] }
metric = "load.rows_per_s"

[[experiment.phase]]
id = "load"
when = [{ target = "file" }]
load = { dataset = "rows", rows = "{some}", strategy = "sqlite/values", set = { rows_per_statement = 2 } }

[[experiment.phase]]
id = "load"
when = [{ target = "server" }]
load = { dataset = "rows" }

[[experiment.phase]]
id = "query"
repeat = 3
sql = { sqlite = "SELECT '{db}', {n}", mysql = "SELECT '{socket}', {n}" }
expect = "{sum.rows.i}"

[[experiment.phase]]
id = "mix"
[experiment.phase.mix]
requests = 3
step = [{ id = "one", sql = "SELECT {r}" }, { id = "two", when = "one", sql = "" }]
check = [{ about = "a", sql = "SELECT 1", steps = ["two"] }]

[[experiment.phase]]
id = "size"
size = "SELECT 1"

[[experiment.phase]]
id = "verify"
verify = { dataset = "rows", sql = "SELECT 1", added = { i2 = 1 } }

[[reference]]
id = "published"
title = "t"
experiment = "load"
metric = "size.bytes"
unit = "MB"
baseline = { target = "file", kind = "a" }
values = [{ cell = { target = "file", kind = "a" }, value = 1 }]

[[claim]]
id = "said"
text = "t"
at_least = 1
[claim.ratio]
of = { experiment = "load", cell = { kind = "a" }, metric = "query.statement_p99_ms" }
to = { experiment = "load", cell = { kind = "b", server = "mysql-8" }, metric = "mix.failed" }
"#;

fn faults(text: &str) -> String {
    let suite: Suite = toml::from_str(text).unwrap();
    super::faults(&suite).join("\n")
}

#[test]
fn nothing_is_said_of_a_sound_suite() {
    assert_eq!(faults(SOUND), "");
}

/// Where there is no server, nothing could be faster without it.
#[test]
fn a_suite_may_use_the_ceiling_of_a_load_into_a_server() {
    let of_ceiling = SOUND.replace("load.rows_per_s", "load.ceiling_rows_per_s");
    assert_eq!(faults(&of_ceiling), "");
    let of_reference = SOUND.replace("size.bytes", "load.ceiling_rows_per_s");
    assert_eq!(faults(&of_reference), "");
    let without = of_ceiling.replace("[\"file\", \"server\"]", "[\"file\"]");
    let told = faults(&without);
    assert!(told.contains("the phase 'load' has no metric 'ceiling_rows_per_s'"), "{told}");
    let of_query = SOUND.replace("\"load.rows_per_s", "\"query.ceiling_rows_per_s");
    assert!(faults(&of_query).contains("no metric 'ceiling_rows_per_s'"));
}

#[test]
fn each_fault_is_said_once_and_with_its_place() {
    let cases = [
        ("kind = \"pairs\"", "kind = \"pears\"", "dataset rows: no generator is called 'pears'"),
        (
            "[\"file\", \"server\"]",
            "[\"file\", \"severs\"]",
            "experiment load: there is no target 'severs'",
        ),
        ("kind = [\"a\"] }", "kind = [\"c\"] }", "profile smoke: the axis 'kind' has no value 'c'"),
        (
            "kind = [\"a\"] }",
            "kinds = [\"a\"] }",
            "profile smoke: no experiment has an axis 'kinds'",
        ),
        ("kind = [\"a\"] }", "kind = [] }", "profile smoke: leaves experiment load without a cell"),
        (
            "blocks_min = 1",
            "blocks_min = 2",
            "profile smoke: blocks_min has to be from 1 to blocks_max",
        ),
        (
            "metric = \"load.rows_per_s\"",
            "metric = \"loads.seconds\"",
            "experiment load: experiment load has no phase 'loads' there",
        ),
        (
            "metric = \"load.rows_per_s\"",
            "metric = \"load.bytes\"",
            "experiment load: the phase 'load' has no metric 'bytes'",
        ),
        (
            "rows = \"{some}\"",
            "rows = \"{same}\"",
            "no value for the placeholder {same} in '{same}' (in the cell file kind=a)",
        ),
        ("rows = \"{some}\"", "rows = \"{kind}\"", "phase load: 'a' is not a number"),
        (
            "x = \"{some}\"",
            "x = \"{same}\"",
            "profile smoke, experiment load, settings: no value for the placeholder {same}",
        ),
        ("sqlite/values", "sqlite/value", "phase load: there is no strategy 'sqlite/value'"),
        ("rows_per_statement = 2", "rows_per_statment = 2", "rows_per_statment"),
        (
            "when = [{ target = \"server\" }]",
            "when = [{ target = \"file\" }]",
            "phase load: two phases of this name are done",
        ),
        (
            "sqlite = \"SELECT '{db}', {n}\", ",
            "",
            "phase query: no statement for target file (of sqlite)",
        ),
        ("'{socket}'", "'{db}'", "phase query: no value for the placeholder {db}"),
        ("{sum.rows.i}", "{sum.rows.i3}", "no value for the placeholder {sum.rows.i3}"),
        ("when = \"one\"", "when = \"two\"", "phase mix: step two: no step 'two' comes before it"),
        (
            "steps = [\"two\"]",
            "steps = [\"three\"]",
            "phase mix: there is no step 'three' to check",
        ),
        (
            "added = { i2 = 1 }",
            "added = { i3 = 1 }",
            "phase verify: 'rows' has no integer column 'i3'",
        ),
        (
            "size = \"SELECT 1\"",
            "size = \"SELECT 1\"\nsql = \"\"",
            "phase size: takes exactly one of",
        ),
        (
            "size = \"SELECT 1\"",
            "command = { run = [\"a\"], waits = true, input = \"a\" }",
            "phase size: a program that waits has no input",
        ),
        (
            "size = \"SELECT 1\"",
            "command = { run = [\"a\"], needs = [\"{b}\"] }",
            "no value for the placeholder {b} in '{b}'",
        ),
        (
            "baseline = { target = \"file\", kind = \"a\" }",
            "baseline = { target = \"file\" }",
            "reference published: its baseline has no value",
        ),
        (
            "cell = { target = \"file\", kind = \"a\" }",
            "cell = { target = \"file\", kind = \"d\" }",
            "reference published: experiment load has no kind 'd'",
        ),
        ("at_least = 1\n", "", "claim said: says neither at_least nor at_most"),
        (
            "query.statement_p99_ms",
            "query.statement_p98_ms",
            "claim said: the phase 'query' has no metric 'statement_p98_ms'",
        ),
        (
            "cell = { kind = \"a\" }",
            "cell = { sort = \"a\" }",
            "claim said: experiment load has no axis 'sort'",
        ),
    ];
    for (sound, faulty, expected) in cases {
        assert!(SOUND.contains(sound), "{sound}");
        let said = faults(&SOUND.replacen(sound, faulty, 1));
        assert_eq!(said.matches(expected).count(), 1, "{faulty}:\n{said}");
    }
}
