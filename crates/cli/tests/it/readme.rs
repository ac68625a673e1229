//! The README's commands, run as written; what they print must be what it shows, except for times and rates.

use std::fmt::Write as _;
use std::path::Path;
use std::process::Command;

use crate::postgres::server::Postgres;
use crate::servers::for_each_server;

/// The `console` blocks of a document: (first line, text).
fn console_blocks(text: &str) -> Vec<(usize, String)> {
    let mut blocks = Vec::new();
    let mut open: Option<(usize, String)> = None;
    for (index, line) in text.lines().enumerate() {
        match (&mut open, line) {
            (None, "```console") => open = Some((index + 2, String::new())),
            (Some(_), "```") => blocks.extend(open.take()),
            (Some((_, block)), _) => writeln!(block, "{line}").unwrap(),
            _ => {}
        }
    }
    blocks
}

/// Puts `#` for numbers that another machine, or another run, measures differently: those before a unit of time or rate, the
/// machine's number of encoders, and the memory that follows from it.
fn without_measurements(text: &str) -> String {
    let units = ["s:", "rows/s,", "MB/s,", "encoder,", "encoders,"];
    let mut lines = Vec::new();
    for line in text.lines() {
        let memory = line.starts_with("work");
        let mut words: Vec<&str> = line.split(' ').collect();
        for index in 1..words.len() {
            if ["bytes/s,", "kB/s,", "GB/s,"].contains(&words[index]) {
                words[index] = "MB/s,";
            }
            if units.contains(&words[index]) || memory && words[index] == "MB" {
                words[index - 1] = "#";
            }
            if words[index] == "encoders," {
                words[index] = "encoder,";
            }
        }
        lines.push(words.join(" "));
    }
    lines.join("\n")
}

/// The database of the README's examples for PostgreSQL; tests have another one in its place.
const POSTGRES: &str = "postgres://ana@localhost/crm";

/// Runs the blocks in a directory that has the examples, with another URL in place of [`POSTGRES`]; how many there were.
fn run(directory: &Path, postgres: &str, is_meant: impl Fn(&str) -> bool) -> usize {
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("../..").canonicalize().unwrap();
    let readme = std::fs::read_to_string(root.join("README.md")).unwrap();
    std::fs::create_dir(directory.join("examples")).unwrap();
    for file in std::fs::read_dir(root.join("examples")).unwrap() {
        let file = file.unwrap();
        std::fs::copy(file.path(), directory.join("examples").join(file.file_name())).unwrap();
    }
    let binary = Path::new(env!("CARGO_BIN_EXE_inrush"));
    let path = format!("{}:{}", binary.parent().unwrap().display(), std::env::var("PATH").unwrap());

    let mut blocks = 0;
    for (line, block) in console_blocks(&readme).into_iter().filter(|(_, block)| is_meant(block)) {
        let mut exit_code = 0;
        let mut printed = String::new();
        for command in block.lines().filter_map(|line| line.strip_prefix("$ ")) {
            writeln!(printed, "$ {command}").unwrap();
            // The suite has built the binary; building it once more would test cargo.
            let run = command
                .replace("cargo run --release --", "inrush")
                .replace(POSTGRES, &format!("'{postgres}'"))
                .replace("$?", &exit_code.to_string());
            let output = Command::new("sh")
                .args(["-c", &format!("{{ {run}; }} 2>&1")])
                .current_dir(directory)
                .env("PATH", &path)
                .output()
                .unwrap();
            exit_code = output.status.code().unwrap();
            printed
                .push_str(&String::from_utf8(output.stdout).unwrap().replace(postgres, POSTGRES));
        }
        assert_eq!(
            without_measurements(&printed),
            without_measurements(&block),
            "README.md, line {line}; it printed:\n{printed}"
        );
        blocks += 1;
    }
    blocks
}

#[test]
fn readme_shows_what_the_commands_print() {
    let place = tempfile::tempdir().unwrap();
    let blocks = run(place.path(), POSTGRES, |block| !block.contains(POSTGRES));
    assert!(blocks >= 5, "the README has lost its examples");
}

#[test]
fn readme_updates_a_table_of_postgresql() {
    for_each_server::<Postgres>(|server| {
        server.query(
            "CREATE TABLE customers (id bigint PRIMARY KEY, name text NOT NULL, email text, since date)",
        );
        server.query(
            "INSERT INTO customers VALUES (2, 'Benjamin', 'b@old.example.org', '2023-07-19')",
        );
        let place = tempfile::tempdir().unwrap();
        assert_eq!(run(place.path(), &server.url(), |block| block.contains(POSTGRES)), 1);
        let names = server.query("SELECT name FROM customers ORDER BY id");
        let names: Vec<_> = names.iter().map(|row| row[0].as_deref().unwrap()).collect();
        assert_eq!(names, ["Ana", "Ben", "Cai"]);
    });
}
