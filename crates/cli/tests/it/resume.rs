//! What a load in steps says that can't go on.

use std::collections::BTreeSet;
use std::fs;

use crate::fixture::{Fixture, Outcome};

/// Options that decide what a row means, or which indexes there are: another word for each than the first run had, and what is said of the two.
const DECIDING: [(&[&str], &str); 33] = [
    (&["--match", "position"], "--match was not said, and is position"),
    (&["--on-conflict", "skip"], "--on-conflict was fail, and is skip"),
    (&["--key", "a"], "--key was not said, and is a"),
    (&["--primary-key", "a"], "--primary-key was not said, and is a"),
    (&["--index", "a,b", "--index", "b"], "--index was not said, and is a,b --index b"),
    (&["--type", "b=text"], "--type was a=integer, and is a=integer, b=text"),
    (&["--types", "text"], "--types was infer, and is text"),
    (&["--format", "tsv"], "--delimiter was comma, and is tab"),
    (&["--flatten"], "--flatten was not said, and is said"),
    (&["--delimiter", ";"], "--delimiter was comma, and is semicolon"),
    (&["--quote", "none"], r#"--quote was '"', and is none"#),
    (&["--escape", r"\"], r"--escape was none, and is '\'"),
    (&["--empty", "text"], "--empty was not said, and is text"),
    (&["--header", "no"], "--header was yes, and is no"),
    (&["--null", "7", "--null", "n a"], "--null was not said, and is 7 'n a'"),
    (&["--decimal", ","], "--decimal was not said, and is ,"),
    (&["--thousands", "."], "--thousands was not said, and is ."),
    (&["--date-format", "%d.%m.%Y"], "--date-format was not said, and is %d.%m.%Y"),
    (&["--timestamp-format", "%d %H:%M %Y"], "--timestamp-format was not said, and is %d"),
    (&["--true", "y"], "--true was not said, and is y"),
    (&["--false", "n"], "--false was not said, and is n"),
    (&["--time-zone", "UTC"], "--time-zone was not said, and is UTC"),
    (&["--trim"], "--trim was not said, and is unquoted"),
    (&["--columns", "a"], "--columns was not said, and is a"),
    (&["--drop", "b"], "--drop was not said, and is b"),
    (&["--rename", "b=c"], "--rename was not said, and is b=c"),
    (&["--add", "c=1"], "--add was not said, and is c=1"),
    (&["--not-null", "b"], "--not-null was not said, and is b"),
    (&["--case", "snake"], "--case was not said, and is snake"),
    (&["--new-columns", "ignore"], "--new-columns was not said, and is ignore"),
    (&["--missing-columns", "null"], "--missing-columns was not said, and is null"),
    (&["--encoding", "latin1"], "--encoding was UTF-8, and is windows-1252"),
    (&["--verify", "checksum"], "--verify was count, and is checksum"),
];

/// Those that the first run has to be without.
const OF_LINES: [(&[&str], &str); 2] = [
    (&["--skip-lines", "1"], "--skip-lines was 0, and is 1"),
    (&["--comment", "#"], "--comment was not said, and is '#'"),
];

/// Options that may be others: they decide where rows go, how they get there, or what is said of it.
const OTHERS: [&str; 22] = [
    "--table",
    "--if-exists",
    "--max-expand",
    "--strategy",
    "--set",
    "--lanes",
    "--encoders",
    "--chunk-size",
    "--duckdb-lib",
    "--profiles",
    "--durability",
    "--guarantee",
    "--commit-rows",
    "--resume",
    "--max-rejects",
    "--rejects",
    "--config",
    "--dry-run",
    "--json",
    "--progress",
    "--quiet",
    "--verbose",
];

#[test]
fn options_that_have_changed_are_named_as_they_are_typed() {
    let fixture = Fixture::new();
    let rows: String = (0..2_000).map(|n| format!("{n},x\n")).collect();
    fixture.write("in.csv", format!("a,b\n{rows}q,q\n"));
    let first = ["in.csv", "first.db", "--table", "t", "--type", "a=integer"];
    let steps = ["--guarantee", "chunks", "--commit-rows", "500", "--chunk-size", "4k"];
    fixture.load(&[&first[..], &steps].concat()).exits(1).says(&["resumable"]);
    let help = fixture.inrush(&["load", "--help"]).exits(0).stdout;
    let options: BTreeSet<&str> = help
        .lines()
        .filter(|line| line.trim_start().starts_with('-'))
        .filter_map(|line| line.split_whitespace().find(|word| word.starts_with("--")))
        .map(|word| word.split(['[', '=', ',']).next().unwrap())
        .filter(|option| *option != "--help")
        .collect();
    let cases = || DECIDING.iter().chain(&OF_LINES);
    let known: BTreeSet<&str> = cases().map(|(typed, _)| typed[0]).chain(OTHERS).collect();
    assert_eq!(options, known, "every option of a load decides what a row means, or does not");
    let again =
        ["in.csv", "t.db", "--table", "t", "--type", "a=integer", "--resume", "--max-rejects", "1"];
    for (typed, says) in cases() {
        fs::copy(fixture.path("first.db"), fixture.path("t.db")).unwrap();
        let run = fixture.load(&[&again[..], typed].concat()).exits(2).says(&[says]);
        let line = run.stderr.lines().find(|line| line.contains("have changed")).unwrap();
        for word in line.split_whitespace().filter(|word| word.starts_with("--")) {
            assert!(options.contains(word), "{word} is no option: {line}");
        }
    }
    fs::copy(fixture.path("first.db"), fixture.path("t.db")).unwrap();
    fixture.load(&[&again[..], &["--lanes", "1"]].concat()).exits(3);
    assert_eq!(fixture.number("t.db", "SELECT count(*) FROM t"), 2_000);
}

const STEPS: [&str; 6] = ["--guarantee", "chunks", "--commit-rows", "500", "--chunk-size", "4k"];

/// A file whose last row ends a load behind some steps, and what was committed of it.
fn stopped(more: &[&str]) -> (Fixture, i64) {
    let fixture = Fixture::new();
    let rows: String = (0..2_000).map(|n| format!("{n},x\n")).collect();
    fixture.write("in.csv", format!("a,b\n{rows}q,q\n"));
    let load = ["in.csv", "t.db", "--table", "t", "--type", "a=integer"];
    fixture.load(&[&load[..], &STEPS, more].concat()).exits(1).says(&["resumable"]);
    let committed = fixture.number("t.db", "SELECT count(*) FROM t");
    assert!((500..2_000).contains(&committed), "{committed} rows");
    (fixture, committed)
}

#[test]
#[cfg(unix)]
fn a_file_is_the_same_however_it_is_named() {
    let (fixture, committed) = stopped(&[]);
    fs::create_dir(fixture.path("sub")).unwrap();
    std::os::unix::fs::symlink("in.csv", fixture.path("link.csv")).unwrap();
    let load = |name: &str, more: &[&str]| {
        let options = ["t.db", "--table", "t", "--type", "a=integer", "--max-rejects", "1"];
        fixture.load(&[&[name], &options[..], more].concat())
    };
    let count = || fixture.number("t.db", "SELECT count(*) FROM t");
    for name in ["in.csv", "./sub/../in.csv", "link.csv"] {
        load(name, &["--if-exists", "append"]).exits(1).says(&["is unfinished", "in.csv"]);
        load(name, &["--if-exists", "append", "--guarantee", "chunks"])
            .exits(1)
            .says(&["unfinished"]);
        assert_eq!(count(), committed, "{name}");
    }
    // Older versions wrote the name that was said.
    let path = |name: &str| fixture.dir().join(name).to_str().unwrap().to_owned();
    let real = fs::canonicalize(fixture.path("in.csv")).unwrap();
    let rename = |from: &str, to: &str| {
        let sql =
            format!("UPDATE inrush_steps SET entry = replace(entry, '\"{from}\"', '\"{to}\"')");
        fixture.sql("t.db", &sql);
    };
    rename(real.to_str().unwrap(), &path("link.csv"));
    load("link.csv", &["--if-exists", "append"]).exits(1).says(&["is unfinished"]);
    load("link.csv", &["--resume"]).exits(3);
    assert_eq!(count(), 2_000);
    // It has the name that does not change now.
    load("sub/../in.csv", &["--resume"]).exits(0).prints(&["nothing to do"]);
    assert_eq!(count(), 2_000);
}

/// A copy of a file that was loaded is a file of its own, as long as the other one is where it was.
#[test]
#[cfg(unix)]
fn a_file_that_was_loaded_is_known_where_it_has_moved_and_its_copy_is_not() {
    let fixture = Fixture::new();
    fixture.write("in.csv", "a\n1\n").sql("t.db", "CREATE TABLE t (a INTEGER)");
    let load = |name: &str| {
        let steps = ["--guarantee", "chunks", "--resume", "--if-exists", "append"];
        fixture.load(&[&[name, "t.db", "--table", "t"], &steps[..]].concat()).exits(0)
    };
    load("in.csv");
    fixture.tool("cp", &["-p", "in.csv", "copy.csv"], b"");
    load("copy.csv").prints(&["no load of these files"]);
    fs::rename(fixture.path("in.csv"), fixture.path("moved.csv")).unwrap();
    load("moved.csv").prints(&["nothing to do"]);
    assert_eq!(fixture.number("t.db", "SELECT count(*) FROM t"), 2);
}

/// Fixed widths and a time that tools set (reproducible archives) give two files the same size, time and beginning.
#[test]
#[cfg(unix)]
fn an_unfinished_load_does_not_go_on_with_another_file_that_looks_alike() {
    let fixture = Fixture::new();
    let rows = |of: &str, bad: &str| -> String {
        let row = |n: usize| match n {
            15_000 => format!("{bad},same row\n"),
            n if n < 14_000 => format!("{n:05},same row\n"),
            n => format!("{n:05},{of} row\n"),
        };
        format!("id,day\n{}", (0..20_000).map(row).collect::<String>())
    };
    fixture.write("mon.csv", rows("mond", "bad_1")).write("tue.csv", rows("tues", "bad_2"));
    fixture.write("copy.csv", rows("mond", "bad_1"));
    fixture.tool("touch", &["-d", "@1000000000", "mon.csv", "tue.csv", "copy.csv"], b"");
    let load = |name: &str, more: &[&str]| {
        let options = ["--table", "t", "--type", "id=integer"];
        fixture.load(&[&[name, "t.db"], &options[..], &STEPS, more].concat())
    };
    load("mon.csv", &[]).exits(1).says(&["resumable"]);
    // A copy beside it, and then in its place.
    load("copy.csv", &["--resume"]).exits(1).says(&[
        "copy.csv has the size, time, beginning and end of ",
        "name ",
        "mon.csv to go on with that load",
        "touch ",
    ]);
    // As a log that is rotated: the first name is another file's.
    fs::rename(fixture.path("mon.csv"), fixture.path("away.csv")).unwrap();
    fixture.write("mon.csv", "id,day\n7,new\n");
    let fresh = ["--resume", "--if-exists", "append", "--max-rejects", "5"];
    load("copy.csv", &fresh).exits(3).prints(&["copy.csv is taken for ", "mon.csv"]);
    load("copy.csv", &fresh).exits(0).prints(&["nothing to do", "1 bad row rejected to"]);
    // Another file is none, whether the first one is there or not.
    load("tue.csv", &fresh).exits(3).prints(&["no load of these files"]);
    for (day, rows) in [("mond", 5_999), ("tues", 5_999), ("same", 28_000)] {
        let count = format!("SELECT count(*) FROM t WHERE day = '{day} row'");
        assert_eq!(fixture.number("t.db", &count), rows);
    }
    // So is a later one of a name that the file of a load had.
    fixture.write("mon.csv", "id,day\n1,wednesday\n");
    load("mon.csv", &fresh).exits(0).prints(&["no load of these files", "1 row"]);
}

#[test]
fn a_table_of_another_program_in_the_place_of_the_ledger_is_named() {
    let fixture = Fixture::new();
    fixture.write("in.csv", "a\n1\n").sql("t.db", "CREATE TABLE inrush_steps (own INTEGER)");
    let run = fixture.load(&[&["in.csv", "t.db", "--table", "t"], &STEPS[..]].concat());
    run.exits(1).says(&["try: look at table inrush_steps", "another name"]);
}

/// A row more than the load has brought is another program's, or a trigger's.
#[test]
fn rows_of_others_in_a_load_in_steps_are_let_in_by_going_on_without_comparing() {
    let fixture = Fixture::new();
    let rows: String = (0..2_000).map(|n| format!("{n},x\n")).collect();
    fixture.write("in.csv", format!("a,b\n{rows}"));
    fixture.sql(
        "t.db",
        "CREATE TABLE t (a INTEGER, b TEXT); CREATE TRIGGER more AFTER INSERT ON t WHEN NEW.a = 7 BEGIN INSERT INTO t VALUES (-1, 'y'); END",
    );
    let load = ["in.csv", "t.db", "--table", "t", "--if-exists", "append"];
    let load = |more: &[&str]| fixture.load(&[&load[..], &STEPS, more].concat());
    let words = ["other programs", "triggers", "--resume --verify none", "resumable"];
    load(&[]).exits(1).says(&words);
    load(&["--resume", "--verify", "none"]).exits(0);
    assert_eq!(fixture.number("t.db", "SELECT count(*) FROM t"), 2_001);
}

/// The bad rows of both runs are in one file, though that is named in two ways.
#[test]
fn bad_rows_stay_in_their_file_however_the_source_is_named() {
    let fixture = Fixture::new();
    fs::create_dir(fixture.path("sub")).unwrap();
    let rows: String = (0..2_000).map(|n| format!("{n},x\n")).collect();
    fixture.write("in.csv", format!("a,b\nfirst,q\n{rows}last,q\n"));
    let load = |name: &str, more: &[&str]| {
        let options = ["t.db", "--table", "t", "--type", "a=integer"];
        fixture.load(&[&[name], &options[..], &STEPS, more].concat())
    };
    load("in.csv", &["--max-rejects", "1"]).exits(1).says(&["resumable"]);
    load("sub/../in.csv", &["--max-rejects", "2", "--resume"]).exits(3);
    assert_eq!(fixture.read("in.rejects.csv"), b"a,b\nfirst,q\nlast,q\n");
    assert_eq!(fixture.number("t.db", "SELECT count(*) FROM t"), 2_000);
}

/// A load that ended behind some steps, with one bad row in them; and how it goes on.
fn with_a_bad_row() -> (Fixture, impl Fn(&Fixture, &[&str]) -> Outcome) {
    let fixture = Fixture::new();
    let rows: String = (0..2_000).map(|n| format!("{n},x\n")).collect();
    fixture.write("in.csv", format!("a,b\nfirst,q\n{rows}last,q\n"));
    let load = |fixture: &Fixture, more: &[&str]| {
        let options = ["in.csv", "t.db", "--table", "t", "--type", "a=integer"];
        fixture.load(&[&options[..], &STEPS, more].concat())
    };
    load(&fixture, &["--max-rejects", "1"]).exits(1).says(&["resumable"]);
    assert_eq!(fixture.read("in.rejects.csv"), OF_STEPS);
    (fixture, load)
}

const OF_STEPS: &[u8] = b"a,b\nfirst,q\n";

#[test]
fn a_file_of_bad_rows_is_cut_only_where_it_is_what_the_steps_have_left() {
    let (fixture, load) = with_a_bad_row();
    let on = ["--max-rejects", "2", "--resume"];
    let elsewhere = [&on[..], &["--rejects", "new.csv"]].concat();
    let names = ["in.rejects.csv", "in.rejects.csv.jsonl"];
    let of_steps = names.map(|name| fixture.read(name));
    let database = fixture.read("t.db");
    let again = || {
        fixture.write("t.db", &database);
        for (name, bytes) in names.iter().zip(&of_steps) {
            fixture.write(name, bytes);
        }
    };
    let fix = || {
        fixture.write(names[0], "a,b\n-1,a row that is fixed\n");
    };
    let load_another = || {
        fixture.write("other.csv", "a,b\n1,y\nother,y\nthird,y\n");
        let other = ["other.csv", "other.db", "--type", "a=integer", "--max-rejects", "all"];
        let other = [&other[..], &["--rejects", names[0], "--if-exists", "replace"]].concat();
        fixture.load(&other).exits(3);
    };
    let change_notes = || {
        fixture.write(names[1], [&b"{}"[..], &of_steps[1]].concat());
    };
    let shorten = || {
        fixture.write(names[0], "a,b\n");
    };
    let others: [&dyn Fn(); 4] = [&fix, &load_another, &change_notes, &shorten];
    for change in others {
        again();
        change();
        let before = names.map(|name| fixture.read(name));
        load(&fixture, &on).exits(1).says(&["in.rejects.csv", "has changed", "--rejects"]);
        assert!(names.map(|name| fixture.read(name)) == before, "bad rows were changed");
        let run = load(&fixture, &elsewhere).exits(3);
        run.prints(&["in.rejects.csv", "has changed", "stays as it is"]);
        assert!(names.map(|name| fixture.read(name)) == before, "bad rows were changed");
        assert_eq!(fixture.read("new.csv"), b"a,b\nlast,q\n");
        assert_eq!(fixture.number("t.db", "SELECT count(*) FROM t"), 2_000);
    }
    // Without the files nothing says that bad rows are in them.
    again();
    names.iter().for_each(|name| fs::remove_file(fixture.path(name)).unwrap());
    let lost = "in.rejects.csv, which held bad rows of the steps so far, is not there any more";
    load(&fixture, &on).exits(1).says(&[lost, "those of the steps are lost"]);
    let run = load(&fixture, &elsewhere).exits(3);
    let run = run.prints(&[lost, "they are lost", "2 bad rows rejected to new.csv"]);
    assert!(!run.stdout.contains("stays as it is"), "{run:?}");
    // What a run that was killed has left behind the last step.
    for older in [false, true] {
        again();
        if older {
            // Older versions wrote no sums.
            let sql =
                "UPDATE inrush_steps SET entry = json_remove(entry, '$.so_far.rejects[0].sums')";
            fixture.sql("t.db", sql);
        }
        fixture.write(names[0], [OF_STEPS, b"last,q\n"].concat());
        load(&fixture, &on).exits(3);
        assert_eq!(fixture.read(names[0]), b"a,b\nfirst,q\nlast,q\n");
        assert_eq!(fixture.number("t.db", "SELECT count(*) FROM t"), 2_000);
    }
}

#[test]
fn bad_rows_behind_the_last_step_are_in_one_file_though_they_go_elsewhere() {
    let (fixture, load) = with_a_bad_row();
    let notes = fixture.read("in.rejects.csv.jsonl");
    fixture.write("in.rejects.csv", [OF_STEPS, b"last,q\n"].concat());
    fixture.write("in.rejects.csv.jsonl", notes.repeat(2));
    load(&fixture, &["--max-rejects", "2", "--resume", "--rejects", "new.csv"]).exits(3);
    assert_eq!(fixture.read("in.rejects.csv"), OF_STEPS);
    assert_eq!(fixture.read("in.rejects.csv.jsonl"), notes);
    assert_eq!(fixture.read("new.csv"), b"a,b\nlast,q\n");
}

#[test]
fn a_load_that_begins_by_deleting_rows_forgets_the_loads_that_brought_them() {
    let fixture = Fixture::new();
    fixture.write("a.csv", "id,v\n1,a\n2,a\n").write("b.csv", "id,v\n3,b\n");
    let load = |name: &str, more: &[&str]| {
        fixture.load(&[&[name, "t.db", "--table", "t", "--resume"], more].concat())
    };
    load("a.csv", &[]).exits(0).prints(&["no table t", "begins at the first row"]);
    load("b.csv", &["--if-exists", "truncate"]).exits(0).prints(&["no load of these files"]);
    load("a.csv", &["--if-exists", "append"]).exits(0).prints(&["no load of these files"]);
    assert_eq!(fixture.number("t.db", "SELECT sum(id) FROM t"), 6);
    load("a.csv", &["--if-exists", "append"]).exits(0).prints(&["nothing to do"]);
}

#[test]
#[cfg(unix)]
fn the_name_of_a_file_is_one_in_all_runs_of_a_load() {
    let names = ["--add", "p=%path", "--add", "f=%file"];
    let (fixture, _) = stopped(&names);
    fs::create_dir(fixture.path("sub")).unwrap();
    std::os::unix::fs::symlink("../in.csv", fixture.path("sub/other.csv")).unwrap();
    let load = ["sub/other.csv", "t.db", "--table", "t", "--type", "a=integer"];
    let more = ["--resume", "--max-rejects", "1"];
    fixture.load(&[&load[..], &names, &more].concat()).exits(3);
    let found = fixture.query("t.db", "SELECT DISTINCT p, f, count(*) FROM t GROUP BY p, f");
    assert_eq!(found, crate::fixture::rows![["in.csv", "in.csv", 2_000]]);
}

#[test]
fn the_moment_of_a_load_is_one_in_all_of_its_runs() {
    let (fixture, _) = stopped(&["--add", "at=%now"]);
    let load = ["in.csv", "t.db", "--table", "t", "--type", "a=integer", "--add", "at=%now"];
    fixture.load(&[&load[..], &["--resume", "--max-rejects", "1"]].concat()).exits(3);
    assert_eq!(fixture.number("t.db", "SELECT count(*) FROM t"), 2_000);
    assert_eq!(fixture.number("t.db", "SELECT count(DISTINCT at) FROM t"), 1);
}
