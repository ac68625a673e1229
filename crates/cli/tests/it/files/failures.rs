use std::fs::{self, Permissions};
use std::io::Write as _;
use std::os::unix::fs::PermissionsExt as _;
use std::process::{Child, Command};
use std::thread::sleep;
use std::time::Instant;

use crate::disk::{Disk, has_mounts_of_its_own};
use crate::fixture::{Fixture, INRUSH, Outcome, Random, finish, is_root, size, start, wait_until};

const ROWS: u32 = 60_000;

fn rows() -> String {
    (0..ROWS).map(|n| format!("{n},name {n}\n")).collect()
}

#[test]
fn places_where_no_file_can_be() {
    let fixture = Fixture::new();
    fixture.write("in.csv", "id\n1\n");
    fs::create_dir(fixture.path("folder")).unwrap();
    for scheme in ["csv", "jsonl", "parquet"] {
        let refuses = |path: &str| {
            let target = format!("{scheme}:{path}");
            fixture.refuses(&["in.csv", &target])
        };
        refuses("nowhere/out").says(&["the directory nowhere does not exist", "mkdir -p nowhere"]);
        refuses("folder").says(&["folder is a directory"]);
        refuses("folder/none/").says(&["names a directory"]);
        refuses("/dev/null").says(&["no plain file"]);
    }
    let misused = |args: &[&str]| fixture.misused(&[&["load", "in.csv"], args].concat());
    misused(&["parquet:-"]).says(&["a Parquet file is whole or none"]);
    misused(&["arrow:out"]).says(&["an Arrow stream goes to standard output only: arrow:-"]);
    misused(&["csv:-", "--verify", "checksum"]).says(&["--verify checksum reads back"]);
    misused(&["csv:-", "--if-exists", "append"]).says(&["--if-exists append"]);
    misused(&["csv:-", "--guarantee", "chunks"]).says(&["takes no --guarantee chunks"]);
    misused(&["csv:out.csv.bz2"]).says(&["compressed by gzip or zstd", "csv:out.csv.gz"]);
    misused(&["csv:out", "--primary-key", "id"]).says(&["no keys"]);
    misused(&["jsonl:out", "--index", "id"]).says(&["no indexes"]);
    misused(&["csv:out", "--on-conflict", "skip"]).says(&["no keys"]);
    misused(&["csv:out", "--strategy", "jsonl"]).says(&["the target is a CSV file"]);
    // Files have no keys, whatever is to be done about them: that is said at once.
    misused(&["csv:out", "--key", "id"]).says(&["no keys"]);
    // The strategy that writes such files says what it has.
    for (target, knob, words) in [
        ("csv:out", "rows=array", &["files/csv has no knob 'rows'", "fsync, rows_per_flush"][..]),
        ("csv:out", "delimiter=tab", &["files/csv has no knob 'delimiter'", "fsync"]),
        ("out.parquet", "compression=lzo", &["compression takes one of zstd, snappy"]),
        ("out.parquet", "compression=zstd:19", &["compression takes one of zstd, snappy"]),
        ("out.parquet", "level=3", &["files/parquet has no knob 'level'", "row_group_rows"]),
        ("arrow:-", "level=3", &["files/arrow has no knob 'level'", "leave --set level=3 out"]),
    ] {
        let run = misused(&[target, "--set", knob]);
        assert!(!run.stderr.contains("its knobs: \n"), "{}", run.stderr);
        run.says(words);
    }
    // A name promises what the file is.
    misused(&["csv:out.zip"]).says(&["called like an archive", "csv:out.csv"]);
    misused(&["csv:out.parquet"]).says(&["called like a Parquet file", "parquet:out.parquet"]);
    misused(&["parquet:out.csv"]).says(&["called like a CSV file"]);
    misused(&["csv:out", "--lanes", "0"]).says(&["at least 1"]);
    misused(&["out.csv"]).says(&[
        "'out.csv' is not a supported target",
        "say csv:out.csv",
        "csv:PATH, jsonl:PATH or FILE.parquet",
    ]);
}

#[test]
fn a_file_is_not_source_and_target() {
    let fixture = Fixture::new();
    fixture.write("in.csv", "id\n1\n").write("other.csv", "id\n2\n");
    std::os::unix::fs::symlink("in.csv", fixture.path("link")).unwrap();
    fs::hard_link(fixture.path("in.csv"), fixture.path("hard")).unwrap();
    for target in ["csv:in.csv", "csv:./in.csv", "csv:link", "csv:hard", "jsonl:in.csv"] {
        let args = ["load", "*.csv", target, "--if-exists", "replace"];
        fixture.misused(&args).says(&["in.csv is source and target"]);
    }
}

#[test]
fn a_file_that_is_standard_input_is_not_written() {
    let fixture = Fixture::new();
    fixture.write("in.csv", "id\n1\nx\n").write("b.csv", "id\n2\n");
    fs::hard_link(fixture.path("in.csv"), fixture.path("hard")).unwrap();
    let bad = ["--type", "id=integer", "--max-rejects", "1"];
    for (args, says) in [
        (&["csv:in.csv", "--if-exists", "append"][..], "- is source and target"),
        (&["csv:hard", "--if-exists", "replace"], "- is source and target"),
        (&["b.csv", "jsonl:./in.csv", "--if-exists", "append"], "- is source and target"),
        (&[&["t.db", "--rejects", "in.csv"], &bad[..]].concat(), "in.csv, and that is an input"),
        (&[&["t.db", "--rejects", "hard"], &bad[..]].concat(), "hard, and that is an input"),
    ] {
        fixture.leaves_all(|| {
            let mut command = fixture.command(&[&["load", "-"], args].concat());
            let run = command.stdin(fs::File::open(fixture.path("in.csv")).unwrap()).output();
            let run = run.unwrap();
            Outcome::of(format!("{args:?}"), (run.status, run.stdout, run.stderr))
                .exits(2)
                .says(&[says]);
        });
    }
}

#[test]
fn a_file_or_directory_that_is_read_only() {
    if is_root() {
        eprintln!("SKIPPED: root may write everything");
        return;
    }
    let fixture = Fixture::new();
    fixture.write("in.csv", "id\n1\n").write("out", "id\n7\n");
    fs::set_permissions(fixture.path("out"), Permissions::from_mode(0o444)).unwrap();
    let append = ["in.csv", "csv:out", "--if-exists", "append"];
    fixture.refuses(&append).says(&["cannot write out", "permissions of the file"]);
    fs::set_permissions(fixture.dir(), Permissions::from_mode(0o555)).unwrap();
    let run = fixture.refuses(&["in.csv", "csv:new"]);
    fs::set_permissions(fixture.dir(), Permissions::from_mode(0o755)).unwrap();
    run.says(&["cannot write new", "permissions of the directory"]);
}

/// Kills loads at moments that look random, spread over the time that one takes.
pub(super) fn kill_loads(seed: u64, target: &str, how: &str, old: &[u8], settings: &[&str]) {
    let fixture = Fixture::new();
    fixture.write("in.csv", format!("id,name\n{}", rows())).write("out", old);
    let args = [&["load", "in.csv", target, "--if-exists", how], settings].concat();
    let began = Instant::now();
    fixture.inrush(&args).exits(0);
    let mut whole = began.elapsed();
    let new = fixture.read("out");
    let mut random = Random(seed);
    println!("seed {seed:#x}, {target}, {how}, a whole load takes {whole:?}");
    let (mut cut, kills) = (0, size(2, 5));
    while cut < kills {
        fixture.write("out", old);
        let moment = whole.mul_f64((f64::from(cut) + random.share()) / f64::from(kills));
        let mut child = start(&mut fixture.command(&args));
        sleep(moment);
        child.kill().unwrap();
        child.wait().unwrap();
        let found = fixture.read("out");
        if found == new {
            // The load was over before the signal came: other tests had left it more of the machine than the first.
            whole = whole.mul_f64(0.8);
            continue;
        }
        assert!(found == old, "neither nothing nor all");
        cut += 1;
    }
    // What the dead left is swept.
    fixture.inrush(&args).exits(0);
    assert!(fixture.read("out") == new);
    assert_eq!(fixture.names(), ["in.csv", "out"]);
}

#[test]
fn a_killed_load_leaves_the_old_file() {
    let slowly = ["--set", "rows_per_flush=100"];
    kill_loads(0x1, "csv:out", "append", b"id,name\n7,\"old\"\n", &slowly);
    kill_loads(0x2, "csv:out", "replace", b"what,ever\n1,2\n", &slowly);
    kill_loads(0x3, "jsonl:out", "append", b"{\"id\":7,\"name\":\"old\"}\n", &slowly);
}

/// Feeds a load until it writes to its hidden file, and then no more.
fn begin(fixture: &Fixture, child: &mut Child) {
    let input = child.stdin.as_mut().unwrap();
    input.write_all(b"id,name\n").unwrap();
    // More than a load looks at before it begins.
    (0..5).for_each(|_| input.write_all(rows().as_bytes()).unwrap());
    let is_hidden = |name: &String| name.starts_with(".out.inrush-");
    wait_until("a hidden file", || fixture.names().iter().any(is_hidden));
}

/// A load that a row ends, and one that is interrupted while it waits for a source that never ends.
pub(super) fn stop_loads(target: &str, old: &[u8]) {
    let fixture = Fixture::new();
    fixture.write("in.csv", format!("id,name\n{}x\n", rows())).write("out", old);
    fixture.refuses(&["in.csv", target, "--if-exists", "append"]).says(&["line 60002"]);
    let args = ["load", "-", target, "--if-exists", "append", "--header", "yes"];
    let before = fixture.snapshot();
    let mut child = start(&mut fixture.command(&args));
    begin(&fixture, &mut child);
    let pid = child.id().to_string();
    assert!(Command::new("kill").args(["-INT", &pid]).status().unwrap().success());
    let run = Outcome::of(args.join(" "), (child.wait().unwrap(), Vec::new(), Vec::new()));
    assert_eq!(run.status.code(), Some(130));
    fixture.assert_unchanged(&before);
}

#[test]
fn a_load_that_is_stopped_or_fails_leaves_the_old_file() {
    stop_loads("csv:out", b"id,name\n7,o\n");
    stop_loads("jsonl:out", b"{\"id\":7,\"name\":\"o\"}\n");
}

/// Of loads at the same time those that succeed have all their rows in the file.
#[test]
fn loads_into_one_file_at_once_lose_no_rows() {
    const LOADS: usize = 25;
    let fixture = Fixture::new();
    fixture.write("in.csv", "id\n1\n").write("out.csv", "id\n0\n");
    let args = ["in.csv", "csv:out.csv", "--if-exists", "append", "--durability", "none"];
    let load = || match fixture.load(&args) {
        run if run.status.success() => 1,
        run => {
            run.exits(1).says(&["out.csv "]).ends_with_nothing_changed();
            0
        }
    };
    let loaded: usize = std::thread::scope(|scope| {
        let lanes: Vec<_> =
            (0..4).map(|_| scope.spawn(|| (0..LOADS).map(|_| load()).sum::<usize>())).collect();
        lanes.into_iter().map(|lane| lane.join().unwrap()).sum()
    });
    assert!(loaded > 0);
    let rows = fixture.read("out.csv").iter().filter(|byte| **byte == b'\n').count() - 2;
    assert_eq!(rows, loaded);
    assert_eq!(fixture.names(), ["in.csv", "out.csv"]);
}

#[test]
fn what_somebody_else_has_written_meanwhile_is_not_lost() {
    for old in [None, Some("id,name\n")] {
        let fixture = Fixture::new();
        if let Some(old) = old {
            fixture.write("out", old);
        }
        let mut child = start(&mut fixture.command(&["load", "-", "csv:out", "--header", "yes"]));
        begin(&fixture, &mut child);
        fixture.write("out", "id,name\n1,theirs\n");
        let run = Outcome::of("load".to_owned(), finish(child, b"1,ours\n"));
        run.exits(1).says(&["changed by another process"]).ends_with_nothing_changed();
        assert_eq!(fixture.read("out"), b"id,name\n1,theirs\n");
        assert_eq!(fixture.names(), ["out"]);
    }
}

#[test]
fn a_full_disk() {
    if !has_mounts_of_its_own("files::failures::a_full_disk") {
        return;
    }
    let fixture = Fixture::new();
    fixture.write("in.csv", format!("id,name\n{}", rows()));
    fs::create_dir(fixture.path("disk")).unwrap();
    let disk = Disk::over(fixture.path("disk"), "256k");
    for target in ["csv:disk/out", "jsonl:disk/out", "parquet:disk/out"] {
        let knob = if target.starts_with("parquet") { "compression=none" } else { "fsync=end" };
        let args = ["in.csv", target, "--set", knob];
        fixture.refuses(&args).says(&["the disk is full", "df -h disk"]);
        assert!(fs::read_dir(fixture.path("disk")).unwrap().next().is_none());
    }
    // Two thirds of it are taken: the copy does not fit, and the old file is as it was.
    let old = format!("id,name\n{}", "1,a\n".repeat(40_000));
    fixture.write("disk/out", &old);
    let append = ["in.csv", "csv:disk/out", "--if-exists", "append"];
    fixture.refuses(&append).says(&["the disk is full"]);
    assert!(fixture.read("disk/out") == old.as_bytes());
    disk.resize("64m");
    fixture.load(&append).exits(0);
}

#[test]
fn a_file_size_limit() {
    let fixture = Fixture::new();
    fixture.write("in.csv", format!("id,name\n{}", rows()));
    let script = "trap '' XFSZ; ulimit -f 100; exec \"$0\" load in.csv csv:out";
    let mut command = Command::new("bash");
    command.args(["-c", script, INRUSH]).current_dir(fixture.dir());
    let run = Outcome::of(script.to_owned(), finish(start(&mut command), b""));
    run.exits(1).says(&["file size limit", "ulimit -f"]).ends_with_nothing_changed();
    assert_eq!(fixture.names(), ["in.csv"]);
}

#[test]
fn what_is_advised_for_standard_output_can_be_done() {
    let fixture = Fixture::new();
    fixture.write("in.csv", "id\n1\n");
    for target in ["arrow:out.arrow", "arrow:out"] {
        let run = fixture.misused(&["load", "in.csv", target]);
        run.says(&["an Arrow stream goes to standard output only: arrow:-", "arrow:- > out"]);
    }
    fixture
        .misused(&["load", "in.csv", "arrow:-", "--primary-key", "id"])
        .says(&["an Arrow stream has no keys"]);
    fixture
        .refuses(&["in.csv", "csv:/dev/full"])
        .says(&["no plain file", "standard output as csv:-"]);
}
