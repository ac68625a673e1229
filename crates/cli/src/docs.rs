//! Keeps the tables in `docs/` equal to the code: they are generated here, and a test compares them.
//! `UPDATE_DOCS=1 cargo test -p inrush-cli docs` writes them.

use std::fmt::Write as _;
use std::path::Path;

use inrush::target::Target;

use crate::help;

fn strategies(target: &dyn Target) -> String {
    let mut out = String::new();
    for strategy in target.strategies() {
        let _ = writeln!(out, "### `{}`\n\n{}.\n", strategy.id(), strategy.about());
        let _ = writeln!(out, "| knob | values | default | meaning |\n|---|---|---|---|");
        for knob in strategy.knobs() {
            let values = knob.kind.to_string().replace('|', ", ");
            let _ =
                writeln!(out, "| `{}` | {values} | {} | {} |", knob.name, knob.default, knob.about);
        }
        out.push('\n');
    }
    out
}

fn rules(rules: &[&inrush::doctor::Rule]) -> String {
    let mut out = String::from(
        "| rule | severity | reads | finds | why | what changes it | what that risks |\n|---|---|---|---|---|---|---|\n",
    );
    for rule in rules {
        let cells = [
            format!("[`{}`]({})", rule.id, rule.source),
            rule.severity.word().to_owned(),
            rule.reads.to_owned(),
            rule.finds.to_owned(),
            rule.why.to_owned(),
            rule.change.to_owned(),
            rule.risk.to_owned(),
        ];
        let cells = cells.map(|cell| cell.replace('|', "\\|"));
        let _ = writeln!(out, "| {} |", cells.join(" | "));
    }
    out
}

fn options() -> String {
    let command = help::command();
    let load = command.find_subcommand("load").expect("the load command");
    let mut out = String::from("| option | meaning |\n|---|---|\n");
    for arg in load.get_arguments().filter(|arg| !arg.is_positional() && arg.get_id() != "help") {
        let value = match arg.get_value_names() {
            Some(names) if arg.get_action().takes_values() => match arg.is_require_equals_set() {
                true => format!("[={}]", names.join(" ")),
                false => format!(" {}", names.join(" ")),
            },
            _ => String::new(),
        };
        let name = format!("--{}{value}", arg.get_long().expect("every option has a long name"));
        let told = arg.get_help().map(ToString::to_string).unwrap_or_default();
        let told = format!("{told} {}", help::default(arg)).trim().replace('|', "\\|");
        let _ = writeln!(out, "| `{}` | {told} |", name.replace('|', "\\|"));
    }
    out
}

fn check(file: &str, section: &str, generated: &str) {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../docs").join(file);
    let text = std::fs::read_to_string(&path)
        .unwrap_or_else(|error| panic!("every target has a page, docs/{file}: {error}"));
    let begin = format!("<!-- generated: {section} -->\n");
    let (head, rest) = text.split_once(&begin).expect("the section's begin");
    let (_, tail) = rest.split_once("<!-- end -->").expect("the section's end");
    let wanted = format!("{head}{begin}\n{}\n\n<!-- end -->{tail}", generated.trim());
    if std::env::var_os("UPDATE_DOCS").is_some() {
        std::fs::write(&path, wanted).unwrap();
    } else {
        assert!(
            text == wanted,
            "docs/{file} is out of date: UPDATE_DOCS=1 cargo test -p inrush-cli docs"
        );
    }
}

#[test]
fn strategy_tables_are_true() {
    for target in inrush::target::ALL {
        check(
            &format!("{}.md", target.name()),
            &format!("strategies {}", target.name()),
            &strategies(*target),
        );
    }
}

#[test]
fn option_table_is_true() {
    check("options.md", "options", &options());
}

#[test]
fn every_rule_of_the_doctor_is_listed() {
    check("doctor.md", "rules machine", &rules(&inrush::doctor::machine_rules()));
    for target in inrush::target::ALL {
        if let Some(doctor) = target.doctor() {
            let section = format!("rules {}", target.name());
            check("doctor.md", &section, &rules(&doctor.rules()));
        }
    }
}
