use std::fmt::Write as _;
use std::path::Path;
use std::thread::sleep;
use std::time::Duration;

use crate::contract::Place as _;
use crate::fixture::{Random, finish, start, thorough, wait_until};

use super::server::{Server, for_each_server, rows};

/// By the strategy, where a binary log is no reason against it.
const WAY: [&str; 4] = ["--strategy", "mysql/tablespace", "--set", "sql_log_bin=off"];

/// Whether the server's files are known.
fn is_known(server: &Server) -> bool {
    match server.is_mariadb {
        true => server.version == (10, 11),
        false => matches!(server.version, (5, 7) | (8, 0)),
    }
}

/// Runs a test on each server whose files are known; the others say so.
fn for_each_known(test: impl Fn(&Server)) {
    for_each_server(|server| {
        if is_known(server) {
            return test(server);
        }
        server.write("t.csv", "id\n1\n");
        let run = server.load(&[&["t.csv"], &WAY[..]].concat()).exits(2);
        run.ends_with_nothing_changed().says(&["is not one of the servers whose files are known"]);
    });
}

/// A number below `end`.
fn below(random: &mut Random, end: u64) -> u64 {
    random.next() % end
}

/// Values of every type that the load's tables have, among them some that go off their page.
fn values(rows: u32) -> String {
    let mut random = Random(0x23);
    let mut text = String::from("id,whole,real,exact,truth,day,moment,zoned,words\n");
    for id in 0..rows {
        let number = below(&mut random, 1 << 40) as i64 - (1 << 39);
        let real = number as f64 / 1024.0;
        let (whole, cents) = (number / 977, below(&mut random, 100));
        let (year, month, day) =
            (1 + below(&mut random, 9999), 1 + below(&mut random, 12), 1 + below(&mut random, 28));
        let (hour, minute, second) =
            (below(&mut random, 24), below(&mut random, 60), below(&mut random, 60));
        let micros = below(&mut random, 1_000_000);
        let clock = format!("{hour:02}:{minute:02}:{second:02}.{micros:06}");
        let words = match below(&mut random, 40) {
            0 => "long ".repeat(below(&mut random, 9000) as usize),
            1 => "\u{1f980} \u{fc} ".to_owned(),
            length => "w".repeat(length as usize),
        };
        let row = [
            number.to_string(),
            real.to_string(),
            format!("{whole}.{cents:02}"),
            (number % 2 == 0).to_string(),
            format!("{year:04}-{month:02}-{day:02}"),
            format!("{year:04}-{month:02}-{day:02} {clock}"),
            format!("{year:04}-{month:02}-{day:02} {clock}+00:00"),
            words,
        ];
        let row = row.map(|value| if below(&mut random, 9) == 0 { String::new() } else { value });
        let _ = writeln!(text, "{},{}", u64::from(id) * 3, row.join(","));
    }
    text
}

const TYPES: [&str; 10] = [
    "--type",
    "exact=decimal(24,2)",
    "--type",
    "real=float",
    "--type",
    "truth=boolean",
    "--type",
    "moment=timestamp",
    "--type",
    "zoned=timestamptz",
];

#[test]
fn a_table_is_the_one_that_load_data_makes() {
    for_each_known(|server| {
        server.write("t.csv", values(4000));
        for key in [&["--primary-key", "id"][..], &[]] {
            let table = [&["t.csv", "--if-exists", "replace"], &TYPES[..], key].concat();
            server.load(&[&table[..], &["--table", "sent"]].concat()).exits(0);
            let checksum = ["--verify", "checksum", "--index", "whole,day"];
            let written = [&table[..], &["--table", "t"], &WAY, &checksum].concat();
            server.load(&written).exits(0).prints(&["by mysql/tablespace"]);
            let sums = server.query("CHECKSUM TABLE sent, t");
            assert_eq!(sums[0][1], sums[1][1], "{key:?}");
            // The server goes on with it as with its own.
            server.sql(
                "INSERT INTO t SELECT * FROM sent WHERE id < 0;;\
                 UPDATE t SET words = CONCAT(COALESCE(words, ''), REPEAT('more', 30)) WHERE id % 5 = 0;;\
                 DELETE FROM t WHERE id % 7 = 0;;\
                 UPDATE sent SET words = CONCAT(COALESCE(words, ''), REPEAT('more', 30)) WHERE id % 5 = 0;;\
                 DELETE FROM sent WHERE id % 7 = 0",
            );
            let sums = server.query("CHECKSUM TABLE sent, t");
            assert_eq!(sums[0][1], sums[1][1], "changed, {key:?}");
            let check = server.query("CHECK TABLE t EXTENDED");
            assert_eq!(check.last().unwrap()[3].as_deref(), Some("OK"), "{check:?}");
        }
        assert_eq!(server.tables(), ["sent", "t"]);
        assert_eq!(files_of_ours(server), Vec::<String>::new());
    });
}

/// Hidden tables' files in the database's folder.
fn files_of_ours(server: &Server) -> Vec<String> {
    let directory = server.query("SELECT @@datadir")[0][0].clone().unwrap();
    let folder = Path::new(&directory).join(&server.database);
    let names = std::fs::read_dir(folder).unwrap();
    let names = names.map(|file| file.unwrap().file_name().to_string_lossy().into_owned());
    names.filter(|name| name.starts_with("inrush")).collect()
}

#[test]
fn rows_that_can_not_be_written_into_a_table_s_file_are_bad_ones() {
    for_each_known(|server| {
        server.write("t.csv", "id,name\n1,a\n2,b\n2,c\nx,d\n3,e\n");
        let all = ["--max-rejects", "all", "--type", "id=integer", "--primary-key", "id"];
        let run = server.load(&[&["t.csv"], &WAY[..], &all].concat()).exits(3);
        run.prints(&["2 bad rows rejected"]);
        let found = server.query("SELECT id, name FROM t ORDER BY id");
        assert_eq!(found, rows![[1, "a"], [2, "b"], [3, "e"]]);
        let rejects = String::from_utf8(server.read("t.rejects.csv")).unwrap();
        assert_eq!(rejects, "id,name\n2,c\nx,d\n");
    });
}

#[test]
fn rows_in_any_order_are_sorted_by_their_key() {
    for_each_known(|server| {
        // Keys of every type that can be one; of rows with the same the first is kept.
        let mut random = Random(0x31);
        let mut text = String::from("id,whole,part,day,name\n");
        for id in 0..20_000_u32 {
            let number = below(&mut random, 20_000_000) as i64 - 10_000_000;
            let (month, day) = (1 + number.rem_euclid(12), 1 + number.rem_euclid(28));
            let day = format!("{}-{month:02}-{day:02}", 1900 + number.rem_euclid(150));
            // Comparing as if spaces followed, and code points of two, three and four bytes.
            let name = match number % 5 {
                0 => format!("{number}\u{1}"),
                1 => format!("{number}\u{fc}"),
                2 => format!("{number}\u{fffd}"),
                3 => format!("{number}\u{1f980}"),
                _ => number.to_string(),
            };
            let _ = writeln!(
                text,
                "{id},{number},{}.{:02},{day},{name}",
                number / 7,
                number.rem_euclid(100)
            );
        }
        server.write("t.csv", text);
        let way = [&WAY[..], &["--set", "sort_memory=1048576", "--max-rejects", "all"]].concat();
        for key in [&["name"][..], &["part", "day"], &["name", "id"]] {
            let keys = key.join(",");
            let all = [
                "t.csv",
                "--if-exists",
                "replace",
                "--type",
                "part=decimal(20,2)",
                "--type",
                "name=text",
                "--primary-key",
                &keys,
            ];
            let sent = ["--table", "sent", "--max-rejects", "all", "--rejects", "sent.csv"];
            let sent = server.load(&[&all[..], &sent].concat());
            let written = ["--table", "t", "--rejects", "t.rejects.csv"];
            let written = server.load(&[&all[..], &written, &way].concat());
            let wanted = if key.contains(&"id") { 0 } else { 3 };
            sent.exits(wanted);
            written.exits(wanted);
            assert_eq!(server.read("sent.csv"), server.read("t.rejects.csv"), "{key:?}");
            let sums = server.query("CHECKSUM TABLE sent, t");
            assert_eq!(sums[0][1], sums[1][1], "{key:?}");
            let check = server.query("CHECK TABLE t EXTENDED");
            assert_eq!(check.last().unwrap()[3].as_deref(), Some("OK"), "{key:?} {check:?}");
        }
        assert_eq!(files_of_ours(server), Vec::<String>::new());
        // A pipe can't be read again.
        let piped = [&["-", "--table", "p", "--primary-key", "id"], &WAY[..]].concat();
        let run = server.load_reading(b"id\n2\n1\n", &piped);
        run.exits(1)
            .ends_with_nothing_changed()
            .says(&["order of the primary key", "row_order=any"]);
    });
}

#[test]
fn what_can_not_be_a_table_s_file_is_refused_by_name() {
    for_each_known(|server| {
        server.write("t.csv", "id,name,part\n2,b,1.5\n1,a,0.5\n");
        let load = |more: &[&str]| server.load(&[&["t.csv"], &WAY[..], more].concat());
        let run = load(&["--primary-key", "part"]).exits(2).ends_with_nothing_changed();
        run.says(&["column part is a float"]);
        assert_eq!(server.tables(), Vec::<String>::new());
        load(&[]).exits(0);
        let run = load(&["--if-exists", "append"]).exits(2).ends_with_nothing_changed();
        run.says(&["tables that the load makes"]);
        assert_eq!(files_of_ours(server), Vec::<String>::new());
        // It is never chosen by itself, and says what it gives up.
        let plan = |way: &[&str]| {
            let target = server.url();
            let args = [&["plan", "t.csv", &target, "--table", "other"], way].concat();
            server.inrush(&args).exits(0).stdout
        };
        assert!(!plan(&[]).contains("tablespace"), "{}", plan(&[]));
        assert!(plan(&WAY).contains("replicas and backups"), "{}", plan(&WAY));
    });
}

#[test]
fn a_load_that_is_killed_leaves_nothing_that_the_next_does_not_sweep() {
    for_each_known(|server| {
        let mut random = Random(0x29);
        let text: String = (0..60_000).map(|id| format!("{id},name of {id}\n")).collect();
        server.write("t.csv", format!("id,name\n{text}"));
        let url = server.url();
        let args =
            [&["load", "t.csv", &url, "--primary-key", "id", "--chunk-size", "16k"], &WAY[..]];
        let args = args.concat();
        for _ in 0..if thorough() { 100 } else { 6 } {
            let mut child = start(&mut server.command(&args));
            sleep(Duration::from_millis(below(&mut random, 400)));
            let _ = child.kill();
            let (status, _, _) = finish(child, b"");
            // A statement under way may end when its client is gone.
            server.end_connections();
            wait_until("the server has ended the connection", || server.connections().is_empty());
            let whole = server.tables().contains(&"t".to_owned());
            assert!(whole || !status.success(), "a load that ended well has left no table");
            if whole {
                assert_eq!(server.count("t"), 60_000);
                server.drop_table("t");
            }
        }
        server.load(&[&["t.csv", "--primary-key", "id"], &WAY[..]].concat()).exits(0);
        assert_eq!(server.count("t"), 60_000);
        let check = server.query("CHECK TABLE t EXTENDED");
        assert_eq!(check.last().unwrap()[3].as_deref(), Some("OK"), "{check:?}");
        assert_eq!(server.tables(), ["t"]);
        assert_eq!(files_of_ours(server), Vec::<String>::new());
    });
}
