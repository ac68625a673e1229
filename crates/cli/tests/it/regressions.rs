use crate::fixture::{Fixture, rows, sql_strategies, strategies};

const ROWS: &str = "a,b\n1,2\n";

/// A value that an integer column can't hold.
const BAD: &str = "a,b\nx,2\n";

fn with(files: &[(&str, &str)]) -> Fixture {
    let fixture = Fixture::new();
    for (name, text) in files {
        fixture.write(name, text);
    }
    fixture
}

/// SQLite gives `:memory:` and `file:` names a meaning of their own: rows went into a database that was gone at the end, or into
/// another file than the one that was looked at.
#[test]
fn names_that_mean_something_to_sqlite_are_files() {
    let fixture = with(&[("m.csv", ROWS)]);
    for target in ["sqlite::memory:", "sqlite::memory:m"] {
        let args = ["load", "m.csv", target, "--durability", "none"];
        fixture.misused(&args).says(&["in memory would be gone", "name a file"]);
    }
    fixture.sql("x.db", "CREATE TABLE keep (a)");
    fixture.misused(&["load", "m.csv", "sqlite:file:x.db"]).says(&["write sqlite:x.db"]);
    for table in ["m", "again"] {
        fixture.load(&["m.csv", "./file:x.db", "--table", table]).exits(0);
    }
    assert_eq!(fixture.query("x.db", "SELECT name FROM sqlite_schema"), rows![["keep"]]);
    assert!(fixture.path("file:x.db").exists());
}

/// The journal of a database that is gone was played into the new one by whoever opened it next.
#[test]
fn a_new_database_does_not_take_over_anothers_journal() {
    for suffix in ["-wal", "-journal"] {
        let fixture = with(&[("m.csv", ROWS)]);
        let name = format!("x.db{suffix}");
        fixture.write(&name, "somebody's only copy");
        fixture.leaves_all(|| {
            fixture.refuses(&["m.csv", "x.db"]).says(&[&name, "a database that is gone"])
        });
    }
}

/// In a container every load has the same process id, so the id in a killed load's file says nothing.
#[test]
fn what_a_killed_load_left_is_not_taken_for_ours() {
    let fixture = with(&[("m.csv", ROWS)]);
    let script =
        "f=.k.db.inrush-$$-0; sqlite3 $f 'CREATE TABLE junk (a)'; exec \"$0\" load m.csv k.db";
    fixture.tool("sh", &["-c", script, env!("CARGO_BIN_EXE_inrush")], b"");
    assert_eq!(fixture.query("k.db", "SELECT name FROM sqlite_schema"), rows![["m"]]);
}

#[test]
fn emptying_a_table_is_undone_or_admitted() {
    for (word, knob) in
        [("truncate", "rows_per_transaction=0"), ("replace", "rows_per_transaction=0")]
    {
        let fixture = with(&[("m.csv", BAD)]);
        fixture.sql("t.db", "CREATE TABLE m (a INTEGER, b INTEGER); INSERT INTO m VALUES (5, 6)");
        let args = ["m.csv", "t.db", "--if-exists", word, "--type", "a=integer", "--set", knob];
        fixture.leaves_all(|| fixture.refuses(&args));
        let args = [
            "load",
            "m.csv",
            "t.db",
            "--if-exists",
            word,
            "--type",
            "a=integer",
            "--set",
            "rows_per_transaction=1",
        ];
        let run = fixture.inrush(&args).exits(1);
        run.says(&["no row was committed", "may have been emptied"]);
    }
}

/// The second attempt found a table half filled by the first, and said that nothing had changed.
#[test]
fn a_mismatch_after_commits_on_the_way_says_what_stays() {
    let fixture = Fixture::new();
    // Wide rows, of which a third is looked at before.
    let wide = "w".repeat(1000);
    let mut text = String::from("id,v,wide\n");
    (1..=3_000).for_each(|n| {
        text.push_str(&format!("{n},{},{wide}\n", if n == 2_001 { "abc" } else { "7" }));
    });
    fixture.write("sur.csv", text).sql("r.db", "CREATE TABLE other (a)");
    let load = |source| [source, "r.db", "--table", "sur", "--set", "rows_per_transaction=100"];
    let run = fixture.load_reading(&fixture.read("sur.csv"), &load("-")).exits(1);
    let rows = fixture.number("r.db", "SELECT count(*) FROM sur");
    assert!(rows > 0 && rows % 100 == 0, "{rows}");
    run.says(&["line 2002", "'abc'", "--type v=text", "were committed before, and stay"]);
    // Of what can be read twice all values are looked at before.
    fixture.sql("r.db", "DROP TABLE sur");
    fixture.load(&load("sur.csv")).exits(0);
    assert_eq!(fixture.number("r.db", "SELECT count(*) FROM sur WHERE typeof(v) = 'text'"), 3_000);
}

/// An option for one column was one for another column, too, that is given its name.
#[test]
fn a_name_that_another_column_is_given_means_the_sources_own() {
    let text = "price;new_price;day;sent\n\
        1.234;1.234;01/03/2024;01/03/2024\n\
        2.500;;13/03/2024;03/13/2024\n";
    let fixture = with(&[("p.csv", text)]);
    let options = "--decimal price=, --thousands price=. --rename price=old_price --rename new_price=price \
        --date-format day=%d/%m/%Y --date-format sent=%m/%d/%Y --rename day=sent --rename sent=day --not-null price";
    let options: Vec<&str> = options.split_whitespace().collect();
    fixture.load(&[&["p.csv", "t.db"], &options[..]].concat()).exits(0);
    let wanted =
        rows![[1234, 1.234, "2024-03-01", "2024-01-03"], [2500, (), "2024-03-13", "2024-03-13"],];
    assert_eq!(fixture.table("t.db", "p"), wanted);
}

#[test]
fn a_failed_load_leaves_the_journal_mode_alone() {
    let fixture = with(&[("m.csv", BAD)]);
    fixture.sql("t.db", "CREATE TABLE m (a INTEGER, b INTEGER)");
    // Byte for byte it can't be: SQLite counts the changes of the mode in the header.
    fixture
        .inrush(&["load", "m.csv", "t.db", "--set", "journal_mode=wal"])
        .exits(1)
        .ends_with_nothing_changed();
    assert_eq!(fixture.query("t.db", "PRAGMA journal_mode"), rows![["delete"]]);
}

#[cfg(unix)]
#[test]
fn a_link_to_a_database_that_is_not_there_is_followed() {
    let fixture = with(&[("m.csv", ROWS)]);
    std::os::unix::fs::symlink("real.db", fixture.path("link.db")).unwrap();
    fixture.load(&["m.csv", "link.db"]).exits(0);
    assert_eq!(fixture.table("real.db", "m"), rows![[1, 2]]);
    fixture.load(&["m.csv", "link.db", "--if-exists", "append"]).exits(0);
    assert_eq!(fixture.number("real.db", "SELECT count(*) FROM m"), 2);
}

/// A schema's own answer to conflicts made rows vanish, or be sent twice.
#[test]
fn the_schemas_conflict_clauses_lose_no_rows() {
    for clause in ["ROLLBACK", "FAIL", "IGNORE", "REPLACE", "ABORT"] {
        for strategy in strategies() {
            let fixture = with(&[("t.csv", "id,v\n1,a\n2,b\n1,c\n4,d\n,e\n5,f\n")]);
            fixture.sql(
                "t.db",
                &format!("CREATE TABLE t (id INT NOT NULL ON CONFLICT {clause} UNIQUE ON CONFLICT {clause}, v)"),
            );
            let args = [
                "t.csv",
                "t.db",
                "--max-rejects",
                "5",
                "--verify",
                "checksum",
                "--strategy",
                &strategy,
            ];
            fixture.load(&args).exits(3);
            assert_eq!(
                fixture.table("t.db", "t"),
                rows![[1, "a"], [2, "b"], [4, "d"], [5, "f"]],
                "{clause} {strategy}"
            );
        }
    }
}

#[test]
fn a_trigger_that_rolls_everything_back_ends_the_load() {
    for (raise, code) in [("ROLLBACK, 'no'", 1), ("ABORT, 'no'", 3), ("IGNORE", 3)] {
        for strategy in sql_strategies() {
            let fixture = with(&[("t.csv", "id,v\n1,a\n2,b\n3,bad\n4,d\n")]);
            fixture.sql(
                "t.db",
                &format!(
                    "CREATE TABLE t (id INT, v);
                     CREATE TRIGGER guard BEFORE INSERT ON t WHEN new.v = 'bad' BEGIN SELECT RAISE({raise}); END"
                ),
            );
            let run =
                fixture.load(&["t.csv", "t.db", "--max-rejects", "5", "--strategy", &strategy]);
            let run = run.exits(code);
            if code == 1 {
                run.says(&["roll back", "RAISE(ABORT)"]).ends_with_nothing_changed();
            }
            let kept = if code == 1 { vec![] } else { rows![[1], [2], [4]] };
            assert_eq!(
                fixture.query("t.db", "SELECT id FROM t ORDER BY id"),
                kept,
                "{raise} {strategy}"
            );
        }
    }
}

#[test]
fn skipped_rows_are_in_no_checksum() {
    for strategy in sql_strategies() {
        let fixture = with(&[("t.csv", "id,v\n2,zz\n3,c\n")]);
        fixture.sql("t.db", "CREATE TABLE t (id INTEGER PRIMARY KEY, v TEXT); INSERT INTO t VALUES (1, 'a'), (2, 'b')");
        let args = ["t.csv", "t.db", "--if-exists", "append", "--on-conflict", "skip"];
        fixture
            .load(&[&args[..], &["--verify", "checksum", "--strategy", &strategy]].concat())
            .exits(0);
        assert_eq!(fixture.table("t.db", "t"), rows![[1, "a"], [2, "b"], [3, "c"]]);
    }
}

/// The file of bad rows may be their only copy, with corrections in it.
#[test]
fn an_earlier_loads_bad_rows_are_kept() {
    let fixture = with(&[("m.csv", "a,b\n1,2\nx,3\n")]);
    fixture.write("m.rejects.csv", "a,b\n7,half fixed\n");
    fixture.sql("t.db", "CREATE TABLE m (a INTEGER, b INTEGER)");
    fixture.load(&["m.csv", "t.db", "--max-rejects", "5"]).exits(3).prints(&["m.rejects.csv.1"]);
    assert_eq!(fixture.read("m.rejects.csv"), b"a,b\nx,3\n");
    assert_eq!(fixture.read("m.rejects.csv.1"), b"a,b\n7,half fixed\n");
}

#[test]
fn a_commit_that_fails_puts_an_earlier_loads_bad_rows_back() {
    let fixture = with(&[("m.csv", "a,b\n1,2\nx,3\n")]);
    fixture.write("m.rejects.csv", "a,b\n7,half fixed\n");
    // Without a log the COMMIT waits for who reads, and no longer than is said.
    fixture.sql("t.db", "CREATE TABLE m (a INTEGER, b INTEGER, CHECK (a > 0))");
    let reader = fixture.db("t.db");
    reader.execute_batch("BEGIN; SELECT * FROM m").unwrap();
    let args = ["m.csv", "t.db", "--max-rejects", "5", "--set", "busy_timeout=100"];
    fixture.load(&args).exits(1).says(&["locked"]);
    drop(reader);
    assert_eq!(fixture.number("t.db", "SELECT count(*) FROM m"), 0);
    assert_eq!(fixture.read("m.rejects.csv"), b"a,b\n7,half fixed\n");
}

#[test]
fn bad_rows_among_committed_ones_are_kept() {
    let fixture = Fixture::new();
    let row = |n: u64| {
        if [5, 6, 900, 901].contains(&n) { format!("{n},x\n") } else { format!("{n},1\n") }
    };
    fixture.write("n.csv", format!("id,v\n{}", (1..=1000).map(row).collect::<String>()));
    fixture.sql("t.db", "CREATE TABLE n (id INTEGER, v INTEGER)");
    let args = [
        "load",
        "n.csv",
        "t.db",
        "--max-rejects",
        "3",
        "--set",
        "rows_per_transaction=100",
        "--chunk-size",
        "1k",
    ];
    let run = fixture.inrush(&args).exits(1);
    run.says(&["n.rejects.csv", "were committed before, and stay"]);
    let rejects = String::from_utf8(fixture.read("n.rejects.csv")).unwrap();
    assert!(rejects.starts_with("id,v\n5,x\n6,x\n"), "{rejects}");
}

#[test]
fn inputs_in_different_order_do_not_share_a_rejects_file() {
    let fixture = with(&[("x.csv", "a,b\n1,2\n"), ("x.tsv", "b\ta\n2\t1\n")]);
    fixture.misused(&["load", "x.csv", "x.csv", "t.db", "--delimiter", "#", "--comment", "#"]);
    fixture.write("x.csv.gz", fixture.tool("gzip", &["-c"], b"b,a\n3,4\n"));
    let both = ["load", "x.csv", "x.csv.gz", "t.db", "--max-rejects", "1"];
    fixture.misused(&both).says(&["x.rejects.csv", "one by one"]);
}

/// Records that speak for an escape or for apostrophes as quotes changed values that have nothing to do with them.
#[test]
fn backslashes_and_apostrophes_in_a_few_rows_change_no_others() {
    let mut text = String::from("id,v\n");
    (1..=50).for_each(|n| text.push_str(&format!("{n},C:\\new\\dir{n}\n")));
    text.push_str("60,\"say \\\"hi\\\" now\"\n");
    let fixture = with(&[("p.csv", &text)]);
    fixture.refuses(&["p.csv", "t.db"]).says(&["line 52", "text after a closing quote"]);

    let mut text = String::from("id,v\n");
    (1..=2000).for_each(|n| text.push_str(&format!("{n},x\n")));
    text = text.replace("\n5,x\n", "\n5,'quoted'\n") + "2001,\"hello\"\n";
    let fixture = with(&[("q.csv", &text)]);
    fixture.load(&["q.csv", "t.db"]).exits(0);
    let found = fixture.query("t.db", "SELECT v FROM q WHERE id IN (5, 2001) ORDER BY id");
    assert_eq!(found, rows![["'quoted'"], ["hello"]]);
}

/// What had to be skipped reached beyond the bytes that are looked at, and was loaded.
#[test]
fn long_preambles_are_skipped_in_every_input() {
    let body = "a,b\n1,2\n";
    for (line, option) in [("#,x\n", ["--skip-lines", "60000"]), ("#,x\n", ["--comment", "#"])] {
        let short = line.repeat(60_000) + body;
        let long = line.replace(",x", &format!(",{}", "x".repeat(30))).repeat(60_000) + body;
        let fixture = with(&[("s1.csv", &short), ("s2.csv", &long)]);
        for inputs in [&["s1.csv", "s2.csv"][..], &["s2.csv", "s1.csv"], &["s2.csv"]] {
            fixture
                .load(
                    &[inputs, &["t.db", "--table", "t", "--if-exists", "replace"], &option]
                        .concat(),
                )
                .exits(0);
            let wanted = inputs.iter().flat_map(|_| rows![[1, 2]]).collect::<Vec<_>>();
            assert_eq!(fixture.table("t.db", "t"), wanted, "{inputs:?} {option:?}");
        }
    }
}

#[test]
fn the_users_dialect_is_taken_or_refused() {
    let fixture = with(&[("d.csv", "a;b\n1;\"x \"\"y\"\"\"\n")]);
    fixture
        .load(&["d.csv", "t.db", "--delimiter", ";", "--quote", "\"", "--escape", "\""])
        .exits(0);
    assert_eq!(fixture.table("t.db", "d"), rows![[1, "x \"y\""]]);
    fixture.misused(&["load", "d.csv", "t.db", "--delimiter", ";", "--comment", ";"]);
}

#[test]
fn inputs_that_end_their_lines_otherwise_are_not_mixed() {
    let fixture = with(&[("n.csv", "1\n2\n"), ("r.csv", "3\r4\r")]);
    fixture.refuses(&["n.csv", "r.csv", "t.db", "--header", "no"]).says(&["r.csv", "line"]);
}

#[test]
fn threads_have_a_bound() {
    let fixture = with(&[("m.csv", ROWS)]);
    for encoders in ["0", "100000"] {
        fixture.misused(&["load", "m.csv", "t.db", "--encoders", encoders]).says(&["--encoders"]);
    }
    fixture.misused(&["load", "m.csv", "t.db", "--lanes", "0"]).says(&["--lanes"]);
}

#[test]
fn rows_of_other_tables_do_not_go_with_a_replaced_one() {
    let fixture = with(&[("p.csv", "id\n1\n")]);
    fixture.sql(
        "t.db",
        "CREATE TABLE p (id INTEGER PRIMARY KEY);
         CREATE TABLE ch (pid REFERENCES p ON DELETE CASCADE);
         INSERT INTO p VALUES (1); INSERT INTO ch VALUES (1)",
    );
    for word in ["replace", "truncate"] {
        fixture
            .leaves_all(|| fixture.refuses(&["p.csv", "t.db", "--if-exists", word]).says(&["ch"]));
    }
    fixture.load(&["p.csv", "t.db", "--if-exists", "append", "--on-conflict", "skip"]).exits(0);
}

/// Versions are no numbers: 1.1 and 1.10 became the same.
#[test]
fn numbers_padded_with_zeros_keep_them() {
    let fixture = with(&[("v.csv", "version,price\n1.1,19.90\n1.10,5.00\n1.2,7.25\n")]);
    fixture.load(&["v.csv", "t.db"]).exits(0);
    assert_eq!(fixture.table("t.db", "v"), rows![["1.1", 19.9], ["1.10", 5.0], ["1.2", 7.25]]);
}

#[test]
fn a_new_database_can_be_in_wal_mode() {
    let fixture = with(&[("m.csv", ROWS)]);
    fixture.load(&["m.csv", "w.db", "--set", "journal_mode=wal"]).exits(0);
    assert_eq!(fixture.query("w.db", "PRAGMA journal_mode"), rows![["wal"]]);
    assert_eq!(fixture.table("w.db", "m"), rows![[1, 2]]);
}

/// A row became the header, and nobody was told.
#[test]
fn a_header_that_is_only_assumed_is_said() {
    let fixture =
        with(&[("ht.csv", "Bob,London\nAl,Paris\n"), ("y.csv", "country,2019,2021\nDE,5,6\n")]);
    fixture.load(&["ht.csv", "new.db"]).exits(0).prints(&["taken as the header", "--header no"]);
    fixture.load(&["y.csv", "new.db"]).exits(0).prints(&["no header", "--header yes"]);
    fixture.sql("t.db", "CREATE TABLE ht (name TEXT, city TEXT)");
    // Where the table exists, a row is not to be made of a header either.
    fixture.load(&["ht.csv", "t.db"]).exits(1).says(&["'Bob', 'London'", "--header no"]);
    fixture.load(&["ht.csv", "t.db", "--header", "no"]).exits(0).prints(&["by position"]);
    assert_eq!(fixture.number("t.db", "SELECT count(*) FROM ht"), 2);
}

/// As root the null device itself would have been replaced by a file.
#[test]
fn bad_rows_go_to_plain_files_only() {
    let fixture = with(&[("m.csv", ROWS)]);
    for (place, why) in
        [("/dev/null", "no plain file"), ("nowhere/r.csv", "directory does not exist")]
    {
        fixture
            .misused(&["load", "m.csv", "t.db", "--max-rejects", "1", "--rejects", place])
            .says(&[why]);
    }
}

/// Loaded with the same options as its input, it was decoded twice.
#[test]
fn bad_rows_of_another_encoding_load_again() {
    let fixture = Fixture::new();
    fixture
        .write("l.csv", b"id,v\n1,caf\xe9\n2,th\xe9,3\n")
        .sql("t.db", "CREATE TABLE l (id INTEGER, v TEXT)");
    let options = ["--encoding", "latin1", "--max-rejects", "1"];
    fixture.load(&[&["l.csv", "t.db"], &options[..]].concat()).exits(3);
    let fixed = String::from_utf8(fixture.read("l.rejects.csv")).unwrap().replace(",3", "");
    fixture.write("l.rejects.csv", fixed);
    let again = ["l.rejects.csv", "t.db", "--table", "l", "--if-exists", "append"];
    fixture.load(&[&again, &options[..]].concat()).exits(0);
    assert_eq!(fixture.table("t.db", "l"), rows![[1, "caf\u{e9}"], [2, "th\u{e9}"]]);
}

/// Without a journal nothing can be undone, and it was said that nothing had changed.
#[test]
fn a_load_that_cannot_be_undone_must_be_asked_for() {
    let fixture = with(&[("m.csv", BAD)]);
    fixture.sql("t.db", "CREATE TABLE m (a INTEGER, b INTEGER)");
    let off = ["load", "m.csv", "t.db", "--set", "journal_mode=off"];
    fixture.leaves_all(|| fixture.misused(&off).says(&["--durability none"]));
    let run = fixture.inrush(&[&off[..], &["--durability", "none"]].concat()).exits(1);
    run.says(&["look at it before you go on"]);
}

/// A journal in memory is gone with the process: it was taken for one that makes a load durable.
#[test]
fn a_journal_that_a_kill_loses_must_be_asked_for() {
    let fixture = with(&[("m.csv", BAD)]);
    let load = ["m.csv", "t.db", "--set", "journal_mode=memory"];
    // A new database gets its name when it is whole.
    let plan = fixture.inrush(&[&["plan"], &load[..]].concat()).exits(0);
    assert!(!plan.stdout.contains("may destroy"), "{plan:?}");
    fixture.sql("t.db", "CREATE TABLE m (a INTEGER, b INTEGER)");
    for durability in ["durable", "process"] {
        let load = [&["load"], &load[..], &["--durability", durability]].concat();
        let says = ["a load that is killed may destroy", "--durability none", "leave --set"];
        fixture.leaves_all(|| fixture.misused(&load).says(&says));
    }
    let none = [&load[..], &["--durability", "none"]].concat();
    let plan = fixture.inrush(&[&["plan"], &none[..]].concat()).exits(0);
    plan.prints(&["a load that is killed may destroy an existing database", "all rows or none"]);
    fixture.refuses(&none);
    assert_eq!(fixture.number("t.db", "SELECT count(*) FROM m"), 0);
}

/// Messages for rows that nobody will look at filled the memory.
#[cfg(target_os = "linux")]
#[test]
fn a_file_of_bad_rows_takes_no_more_memory_than_another() {
    let fixture = Fixture::new();
    fixture
        .write("bad.csv", "x\n".repeat(4_000_000))
        .sql("t.db", "CREATE TABLE bad (a INTEGER, b INTEGER)");
    for limit in ["0", "100000000"] {
        let mut child = fixture
            .command(&["load", "bad.csv", "t.db", "--header", "no", "--max-rejects", limit])
            .spawn()
            .unwrap();
        let mut peak_kib = 0;
        while child.try_wait().unwrap().is_none() {
            let status =
                std::fs::read_to_string(format!("/proc/{}/status", child.id())).unwrap_or_default();
            let line = status.lines().find_map(|line| line.strip_prefix("VmHWM:"));
            let kib = line.and_then(|line| line.trim().trim_end_matches(" kB").parse::<u64>().ok());
            peak_kib = peak_kib.max(kib.unwrap_or(0));
            std::thread::sleep(std::time::Duration::from_millis(5));
        }
        assert!(peak_kib < 150_000, "--max-rejects {limit}: {peak_kib} KiB");
    }
}

/// The message named neither the line nor the row.
#[test]
fn a_row_that_makes_a_trigger_fail_is_a_bad_row() {
    for strategy in sql_strategies() {
        let fixture = with(&[("t.csv", "id,v\n1,a\n2,b\n3,c\n")]);
        fixture.sql(
            "t.db",
            "CREATE TABLE t (id INT, v);
             CREATE TRIGGER guard BEFORE INSERT ON t WHEN new.id = 2
             BEGIN SELECT abs(-9223372036854775807 - 1); END",
        );
        let args = ["t.csv", "t.db", "--strategy", &strategy];
        fixture.leaves_all(|| fixture.refuses(&args).says(&["line 3", "integer overflow"]));
        fixture.load(&[&args[..], &["--max-rejects", "1"]].concat()).exits(3);
        assert_eq!(fixture.query("t.db", "SELECT id FROM t"), rows![[1], [3]]);
    }
}
