use super::double::{Double, Table};
use super::{STRATEGIES, int, load, text};
use crate::crash::signal;
use crate::fixture::{Fixture, finish, json_lines, start, wait_until};

fn table() -> Table {
    Table::new("t", "id int NOT NULL;name nvarchar(20);size int")
}

/// Rows with these ids.
fn lines(ids: impl Iterator<Item = i64>) -> String {
    ids.map(|id| format!("{id},name of {id},{id}\n")).collect()
}

#[test]
fn exactly_the_bad_rows_are_put_aside() {
    for strategy in STRATEGIES {
        let count = if strategy == "row-sql" { 500 } else { 10_000 };
        let double = Double::with(table());
        let fixture = Fixture::new();
        // One for the encoder, one for the server.
        let file = format!(
            "id,name,size\n{}{count},a,x\n{}7,again,1\n",
            lines(1..count / 2),
            lines(count / 2..count)
        );
        let options = ["--strategy", strategy, "--max-rejects", "5", "--verify", "checksum"];
        load(&fixture, &double, &file, &options).exits(3);
        assert_eq!(double.rows().len() as i64, count - 1, "{strategy}");
        let notes = json_lines(&fixture.read("t.rejects.csv.jsonl"));
        assert_eq!(notes.len(), 2);
        assert_eq!(
            (&notes[0]["line"], &notes[0]["code"]),
            (&(count / 2 + 1).into(), &"type".into())
        );
        assert_eq!(
            (&notes[1]["line"], &notes[1]["code"]),
            (&(count + 2).into(), &"duplicate-key".into())
        );
        assert!(notes[1]["message"].as_str().unwrap().contains("PRIMARY KEY"));
        let rejects = String::from_utf8(fixture.read("t.rejects.csv")).unwrap();
        assert_eq!(rejects, format!("id,name,size\n{count},a,x\n7,again,1\n"));
    }
}

#[test]
fn a_bad_row_ends_the_load_and_nothing_changes() {
    for strategy in STRATEGIES {
        let double = Double::with(table());
        let file = format!("id,name,size\n{}3,again,1\n", lines(1..500));
        load(&Fixture::new(), &double, &file, &["--strategy", strategy])
            .exits(1)
            .says(&["t.csv: line 501", "2627"])
            .ends_with_nothing_changed();
        assert!(double.rows().is_empty(), "{strategy}");
        // A table that the load has made is gone.
        let double = Double::start();
        let options = ["--strategy", strategy, "--primary-key", "id"];
        load(&Fixture::new(), &double, &file, &options).exits(1).ends_with_nothing_changed();
        assert!(double.state().table.is_none());
    }
}

#[test]
fn errors_of_the_server_have_their_reasons() {
    let cases = [
        (
            547,
            "The INSERT statement conflicted with the FOREIGN KEY constraint \"fk\". The conflict occurred in database \"shop\", table \"dbo.p\", column 'id'.",
            "foreign-key",
        ),
        (
            547,
            "The INSERT statement conflicted with the CHECK constraint \"ck\". The conflict occurred in database \"shop\", table \"dbo.t\", column 'size'.",
            "constraint",
        ),
        (
            2628,
            "String or binary data would be truncated in table 'shop.dbo.t', column 'name'. Truncated value: 'n'.",
            "too-long",
        ),
        (8115, "Arithmetic overflow error converting numeric to data type numeric.", "range"),
        (241, "Conversion failed when converting date and/or time from character string.", "type"),
        (50_000, "not today", "constraint"),
    ];
    for strategy in STRATEGIES {
        for (number, message, code) in cases {
            let double = Double::with(table());
            double.script(|script| {
                script.refuses = Some(Box::new(move |row| {
                    (row[0] == int(333)).then(|| (number, message.to_owned()))
                }));
            });
            let fixture = Fixture::new();
            let file = format!("id,name,size\n{}", lines(1..400));
            load(&fixture, &double, &file, &["--strategy", strategy, "--max-rejects", "1"])
                .exits(3);
            let notes = json_lines(&fixture.read("t.rejects.csv.jsonl"));
            assert_eq!((&notes[0]["line"], &notes[0]["code"]), (&334.into(), &code.into()));
            if message.contains("column 'size'") {
                assert_eq!(notes[0]["column"], "size");
            }
            assert_eq!(double.rows().len(), 398);
        }
    }
}

#[test]
fn rows_that_the_server_leaves_out_are_bad_rows() {
    for strategy in STRATEGIES {
        let double = Double::with(table());
        double.script(|script| script.ignores_repeats = true);
        let fixture = Fixture::new();
        let file = format!("id,name,size\n{}5,again,1\n6,again,1\n", lines(1..100));
        load(&fixture, &double, &file, &["--strategy", strategy, "--max-rejects", "2"]).exits(3);
        let notes = json_lines(&fixture.read("t.rejects.csv.jsonl"));
        let found: Vec<_> = notes.iter().map(|note| note["line"].clone()).collect();
        assert_eq!(found, [101, 102]);
        assert_eq!(double.rows().len(), 99);
    }
}

#[test]
fn what_the_server_stores_otherwise_is_no_success() {
    for strategy in STRATEGIES {
        let double = Double::with(Table::new("t", "id int NOT NULL;name nvarchar(20)"));
        double.script(|script| script.lies = true);
        let options = ["--strategy", strategy, "--verify", "checksum"];
        load(&Fixture::new(), &double, "id,name\n1,a\n", &options)
            .exits(1)
            .says(&["column name"])
            .ends_with_nothing_changed();
        assert!(double.rows().is_empty());
    }
}

#[test]
fn an_error_that_takes_the_transaction_ends_the_load() {
    for strategy in STRATEGIES {
        let double = Double::with(table());
        double.script(|script| script.dooms = true);
        let file = "id,name,size\n1,a,1\n1,b,1\n";
        load(&Fixture::new(), &double, file, &["--strategy", strategy, "--max-rejects", "5"])
            .exits(1)
            .says(&["taken the whole transaction back"])
            .ends_with_nothing_changed();
        assert!(double.rows().is_empty());
    }
}

#[test]
fn a_connection_that_is_cut_leaves_nothing() {
    for strategy in STRATEGIES {
        let double = Double::with(table());
        double.script(|script| script.cuts_after = Some(700));
        let file = format!("id,name,size\n{}", lines(1..2000));
        load(&Fixture::new(), &double, &file, &["--strategy", strategy, "--chunk-size", "8k"])
            .exits(1)
            .says(&["the connection to", "was lost"])
            .ends_with_nothing_changed();
        assert!(double.rows().is_empty());
        // Whether the end was the end nobody can say.
        let double = Double::with(table());
        double.script(|script| script.cuts_commit = true);
        let run =
            load(&Fixture::new(), &double, "id,name,size\n1,a,1\n", &["--strategy", strategy])
                .exits(1);
        let last = run.stderr.lines().last().unwrap();
        assert!(!last.contains("nothing changed"), "{last}");
    }
}

#[test]
fn ctrl_c_ends_a_wait_at_once_and_nothing_changes() {
    for strategy in STRATEGIES {
        let double = Double::with(table());
        double.script(|script| script.hangs = true);
        let fixture = Fixture::new();
        fixture.write("t.csv", format!("id,name,size\n{}", lines(1..100)));
        let url = double.url();
        let child = start(&mut fixture.command(&["load", "t.csv", &url, "--strategy", strategy]));
        wait_until("rows come", || double.state().rows_sent > 0);
        signal(&child, "INT");
        let (status, _, stderr) = finish(child, b"");
        assert_eq!(status.code(), Some(130), "{}", String::from_utf8_lossy(&stderr));
        assert!(double.rows().is_empty());
    }
}

#[test]
fn a_killed_load_leaves_the_table_as_it_was() {
    for strategy in STRATEGIES {
        let double = Double::with(table());
        double.script(|script| script.hangs = true);
        let fixture = Fixture::new();
        fixture.write("t.csv", format!("id,name,size\n{}", lines(1..100)));
        let url = double.url();
        let mut child =
            start(&mut fixture.command(&["load", "t.csv", &url, "--strategy", strategy]));
        wait_until("rows come", || double.state().rows_sent > 0);
        child.kill().unwrap();
        child.wait().unwrap();
        assert!(double.rows().is_empty());
        double.script(|script| script.hangs = false);
        load(&fixture, &double, "id,name,size\n1,a,1\n", &["--strategy", strategy]).exits(0);
        assert_eq!(double.rows(), [[int(1), text("a"), int(1)]]);
    }
}

#[test]
fn who_does_not_get_in_reads_why_and_no_password_is_told() {
    let double = Double::start();
    double.script(|script| script.password = Some("other".to_owned()));
    let run = load(&Fixture::new(), &double, "id\n1\n", &[])
        .exits(1)
        .says(&["Login failed for user 'sa'", "INRUSH_PASSWORD"])
        .ends_with_nothing_changed();
    assert!(!run.stderr.contains("secret"), "{}", run.stderr);
    double.script(|script| script.password = Some("secret".to_owned()));
    load(&Fixture::new(), &double, "id\n1\n", &[]).exits(0);
    let state = double.state();
    let [user, password, database, application] = state.logins.last().unwrap();
    assert_eq!((user.as_str(), password.as_str()), ("sa", "secret"));
    assert_eq!((database.as_str(), application.as_str()), ("shop", "inrush"));
    assert_eq!(state.packet_sizes.last(), Some(&32_767));
    drop(state);
    // The size of packets is a knob.
    load(
        &Fixture::new(),
        &double,
        "id\n2\n",
        &["--if-exists", "append", "--set", "packet_size=512"],
    )
    .exits(0);
    assert_eq!(double.state().packet_sizes.last(), Some(&512));
    assert_eq!(double.rows(), [[int(1)], [int(2)]]);
    // A server that wants TLS is not talked to without it where the user says so.
    let double = Double::start();
    double.script(|script| script.wants_tls = true);
    let url = format!("{}?encrypt=no", double.url());
    let fixture = Fixture::new();
    fixture.write("t.csv", "id\n1\n");
    fixture.load(&["t.csv", &url]).exits(1).says(&["encrypted", "?encrypt=yes"]);
    assert!(double.state().logins.is_empty(), "no password before TLS");
}

#[test]
fn a_server_that_is_not_there_is_told_by_its_place() {
    let fixture = Fixture::new();
    fixture.write("t.csv", "id\n1\n");
    fixture
        .load(&["t.csv", "mssql://sa:secret@127.0.0.1:1/shop"])
        .exits(1)
        .says(&["no connection to 127.0.0.1:1", "check that the server runs"]);
    for wrong in [
        "mssql://sa:secret@h",
        "mssql://sa:secret@h/d?colour=red",
        "mssql://sa:secret@h/d?auth=windows",
    ] {
        let run = fixture.misused(&["load", "t.csv", wrong]);
        assert!(!run.stderr.contains("secret"), "{}", run.stderr);
    }
}
