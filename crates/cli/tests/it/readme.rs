//! The README's commands, run as written; what they print must be what it shows, but for times and rates.

use std::fmt::Write as _;
use std::path::Path;
use std::process::Command;

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

#[test]
fn readme_shows_what_the_commands_print() {
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("../..").canonicalize().unwrap();
    let readme = std::fs::read_to_string(root.join("README.md")).unwrap();
    let place = tempfile::tempdir().unwrap();
    std::fs::create_dir(place.path().join("examples")).unwrap();
    for file in ["weather.csv.gz", "orders.csv"] {
        std::fs::copy(root.join("examples").join(file), place.path().join("examples").join(file))
            .unwrap();
    }
    let binary = Path::new(env!("CARGO_BIN_EXE_inrush"));
    let path = format!("{}:{}", binary.parent().unwrap().display(), std::env::var("PATH").unwrap());

    let mut blocks = 0;
    for (line, block) in console_blocks(&readme) {
        let mut exit_code = 0;
        let mut printed = String::new();
        for command in block.lines().filter_map(|line| line.strip_prefix("$ ")) {
            writeln!(printed, "$ {command}").unwrap();
            // The suite has built the binary; building it once more would test cargo.
            let run = command
                .replace("cargo run --release --", "inrush")
                .replace("$?", &exit_code.to_string());
            let output = Command::new("sh")
                .args(["-c", &format!("{{ {run}; }} 2>&1")])
                .current_dir(place.path())
                .env("PATH", &path)
                .output()
                .unwrap();
            exit_code = output.status.code().unwrap();
            printed.push_str(&String::from_utf8(output.stdout).unwrap());
        }
        assert_eq!(
            without_measurements(&printed),
            without_measurements(&block),
            "README.md, line {line}; it printed:\n{printed}"
        );
        blocks += 1;
    }
    assert!(blocks >= 5, "the README has lost its examples");
}
