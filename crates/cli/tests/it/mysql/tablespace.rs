use std::fmt::Write as _;
use std::path::Path;

use crate::fixture::{Random, repository, size, thorough};

use super::server::{
    Extras, Server, for_each_private_server, for_each_server, for_one_server, for_some_servers,
    rows,
};

/// By the strategy, where a binary log is no reason against it.
pub(super) const WAY: [&str; 4] = ["--strategy", "mysql/tablespace", "--set", "binlog=skip"];

/// Whether the server's files are known.
pub(super) fn is_known(server: &Server) -> bool {
    match server.is_mariadb {
        true => matches!(server.version, (10, 11) | (11, 4)),
        false => matches!(server.version, (5, 7) | (8, 0)),
    }
}

/// Runs a test on each server whose files are known; the others say so.
pub(super) fn for_each_known(test: impl Fn(&Server)) {
    for_each_server(|server| if_known(server, &test));
}

/// The same on one of both kinds.
pub(super) fn for_some_known(test: impl Fn(&Server)) {
    for_some_servers(|server| if_known(server, &test));
}

/// The same on the first server alone.
pub(super) fn for_one_known(test: impl Fn(&Server)) {
    for_one_server(|server| if_known(server, &test));
}

fn if_known(server: &Server, test: &impl Fn(&Server)) {
    if is_known(server) {
        return test(server);
    }
    server.write("t.csv", "id\n1\n");
    let run = server.load(&[&["t.csv"], &WAY[..]].concat()).exits(2);
    run.ends_with_nothing_changed().says(&["is not one of the servers whose files are known"]);
}

/// A number below `end`.
pub(super) fn below(random: &mut Random, end: u64) -> u64 {
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
        server.write("t.csv", values(1000));
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
pub(super) fn files_of_ours(server: &Server) -> Vec<String> {
    let directory = server.query("SELECT @@datadir")[0][0].clone().unwrap();
    let folder = Path::new(&directory).join(&server.database);
    let names = std::fs::read_dir(folder).unwrap();
    let names = names.map(|file| file.unwrap().file_name().to_string_lossy().into_owned());
    names.filter(|name| name.starts_with("inrush")).collect()
}

/// Rows as those of the nodes of OpenStreetMap.
fn nodes(rows: usize) -> String {
    let users = ["rubensd", "j3m", "P\u{e9}p\u{e9}", "\u{410}\u{43b}", "O'Brien \"\"Bob\"\""];
    let mut random = Random(0x2014);
    let mut text = String::from("id,lat,lon,version,at,changeset,uid,user\n");
    let mut node = 171_772;
    for _ in 0..rows {
        node += 1 + below(&mut random, 40);
        let degrees = |random: &mut Random, from: i64, to: u64| {
            let point = (from + below(random, to) as i64) as f64;
            format!("{:.7}", point / 1e7)
        };
        let lat = degrees(&mut random, 360_000_000, 79_999_999);
        let lon = degrees(&mut random, -90_000_000, 129_999_999);
        let version = 1 + below(&mut random, 9);
        let (year, month, day) =
            (2006 + below(&mut random, 8), 1 + below(&mut random, 12), 1 + below(&mut random, 28));
        let (hour, minute, second) =
            (below(&mut random, 24), below(&mut random, 60), below(&mut random, 60));
        let (changeset, uid) =
            (600_000 + below(&mut random, 12_000_000), 1000 + below(&mut random, 500_000));
        let user = users[below(&mut random, 5) as usize];
        let _ = writeln!(
            text,
            "{node},{lat},{lon},{version},{year}-{month:02}-{day:02} {hour:02}:{minute:02}:{second:02},{changeset},{uid},\"{user}\""
        );
    }
    text
}

#[test]
fn flights_and_nodes_are_those_that_load_data_makes() {
    for_some_known(|server| {
        let flights = std::fs::read_to_string(repository("target/testdata/flights.csv")).unwrap();
        let flights: String = flights.split_inclusive('\n').take(size(4_000, usize::MAX)).collect();
        server.write("flights.csv", flights).write("nodes.csv", nodes(size(6_000, 1_000_000)));
        for (file, more) in [
            ("flights.csv", &["--null", "NA"][..]),
            ("nodes.csv", &["--primary-key", "id", "--type", "lat=decimal(9,7)"]),
        ] {
            let all = [&[file, "--if-exists", "replace"], more].concat();
            // Over one connection rows without a key have the order of the file.
            let sent = ["--table", "sent", "--strategy", "load-data", "--lanes", "1"];
            server.load(&[&all[..], &sent].concat()).exits(0);
            server.load(&[&all[..], &["--table", "made"], &WAY].concat()).exits(0);
            let sums = server.query("CHECKSUM TABLE sent, made");
            assert_eq!(sums[0][1], sums[1][1], "{file}");
            let sent = server.dump("sent").replace("INSERT INTO `sent`", "INSERT INTO `made`");
            assert!(sent.len() > 100_000, "{file}");
            // Not compared by assert_eq!, which would show all of it.
            assert!(sent == server.dump("made"), "the dumps of {file} differ");
        }
    });
}

#[test]
fn a_binary_log_has_nothing_of_a_table_whose_file_was_written() {
    let settings = [("log-bin", "binlog"), ("server-id", "1")];
    let extras = Extras { settings: &settings, ..Extras::default() };
    for_each_private_server(
        |name| thorough() || name.starts_with("mariadb"),
        extras,
        |_, server| {
            if !is_known(server) {
                return;
            }
            server.write("t.csv", values(100));
            let load = ["t.csv", "--strategy", "mysql/tablespace"];
            let run = server.load(&load).exits(2).ends_with_nothing_changed();
            run.says(&["replicas would stop", "--set binlog=skip"]);
            let position = || server.query("SHOW MASTER STATUS")[0][..2].to_vec();
            let before = position();
            server.load(&[&load[..], &["--set", "binlog=skip"]].concat()).exits(0);
            assert_eq!(position(), before, "{}", server.name);
            assert_eq!(server.count("t"), 100);
            server.sql("INSERT INTO t SELECT * FROM t WHERE id < 0;;DELETE FROM t WHERE id < 9");
            assert_ne!(position(), before, "{}", server.name);
        },
    );
}

#[test]
fn rows_that_can_not_be_written_into_a_table_s_file_are_bad_ones() {
    for_some_known(|server| {
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
    for_some_known(|server| {
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

/// A type of a column, and its values.
struct Kind {
    declared: String,
    /// Whether a key may have it.
    orders: bool,
    value: Box<dyn Fn(&mut Random) -> String>,
}

impl Kind {
    fn new(
        declared: impl Into<String>,
        orders: bool,
        value: impl Fn(&mut Random) -> String + 'static,
    ) -> Self {
        Self { declared: declared.into(), orders, value: Box::new(value) }
    }

    /// Whole numbers of so many bytes, the ends of the range among them.
    fn whole(name: &str, bytes: u32, is_signed: bool) -> Self {
        let declared = if is_signed { name.to_owned() } else { format!("{name} unsigned") };
        Self::new(declared, true, move |random| {
            let end = 1_i128 << (8 * bytes);
            let number = match below(random, 9) {
                0 => 0,
                1 => end - 1,
                _ => i128::from(random.next()) % end,
            };
            (if is_signed { number - end / 2 } else { number }).to_string()
        })
    }

    fn decimal(random: &mut Random) -> Self {
        let precision = 1 + below(random, 65);
        let scale = below(random, precision.min(30) + 1);
        Self::new(format!("decimal({precision},{scale})"), true, move |random| {
            let digits = |random: &mut Random, most: u64| {
                let count = below(random, most + 1);
                (0..count).map(|_| char::from(b'0' + below(random, 10) as u8)).collect::<String>()
            };
            let whole = digits(random, precision - scale);
            let fraction = digits(random, scale);
            let sign = if below(random, 2) == 0 { "-" } else { "" };
            format!("{sign}0{whole}.{fraction}0")
        })
    }

    /// Characters of two bytes or of one at most, in a column of so many characters at most.
    fn text(declared: String, orders: bool, most: u64, letters: &'static [&'static str]) -> Self {
        Self::new(declared, orders, move |random| {
            let length = match below(random, 5) {
                0 => most,
                _ => below(random, most.min(40)) + 1,
            };
            let letter = |_| letters[below(random, letters.len() as u64) as usize];
            let text: String = (0..length.min(most)).map(letter).collect();
            format!("\"{text}\"")
        })
    }

    fn any(random: &mut Random) -> Self {
        const WIDE: &[&str] = &["a", "B", " ", "\u{fc}", "\u{20ac}", "\u{1f980}", "\"\"", "\u{1}"];
        const THREE: &[&str] = &["a", "B", " ", "\u{fc}", "\u{20ac}"];
        const LATIN: &[&str] = &["a", "B", " ", "\u{fc}", "\u{20ac}", "\u{ff}"];
        const ASCII: &[&str] = &["a", "B", " ", "~", "\u{1}"];
        let digits = below(random, 7);
        let bits = 1 + below(random, 63);
        let is_signed = below(random, 2) == 0;
        let length = 1 + below(random, 60);
        let clock = move |random: &mut Random, hours: u64| {
            let (hour, minute, second) =
                (below(random, hours), below(random, 60), below(random, 60));
            let fraction: String =
                (0..digits).map(|_| char::from(b'0' + below(random, 10) as u8)).collect();
            let point = if digits > 0 { "." } else { "" };
            format!("{hour:02}:{minute:02}:{second:02}{point}{fraction}")
        };
        let day = |random: &mut Random, from: u64, years: u64| {
            let year = from + below(random, years);
            format!("{year:04}-{:02}-{:02}", 1 + below(random, 12), 1 + below(random, 28))
        };
        match below(random, 26) {
            0 => Self::whole("tinyint", 1, is_signed),
            1 => Self::whole("smallint", 2, is_signed),
            2 => Self::whole("mediumint", 3, is_signed),
            3 => Self::whole("int", 4, is_signed),
            4 => Self::whole("bigint", 8, is_signed),
            5 | 6 => Self::decimal(random),
            7 => Self::new("float", false, |random| {
                format!("{}e{}", below(random, 1 << 22) as f64 / 64.0, below(random, 9))
            }),
            8 => Self::new("double", false, |random| {
                format!("-{}", below(random, 1 << 50) as f64 / 4096.0)
            }),
            9 => Self::new("date", true, move |random| day(random, 1000, 9000)),
            10 => Self::new(format!("datetime({digits})"), true, move |random| {
                format!("{} {}", day(random, 1000, 9000), clock(random, 24))
            }),
            11 => Self::new(format!("timestamp({digits})"), true, move |random| {
                /// At the ends of what the type holds, and behind them.
                const ENDS: [&str; 4] = [
                    "1970-01-01 00:00:00",
                    "1970-01-01 00:00:01",
                    "2038-01-19 03:14:07",
                    "2038-01-19 03:14:08",
                ];
                match below(random, 100) {
                    end @ 0..4 => ENDS[end as usize].to_owned(),
                    _ => format!("{} {}", day(random, 1971, 66), clock(random, 24)),
                }
            }),
            12 => Self::new(format!("time({digits})"), true, move |random| {
                let sign = if below(random, 2) == 0 { "-" } else { "" };
                format!("{sign}{}", clock(random, 800))
            }),
            13 => Self::new("year", true, |random| (1901 + below(random, 255)).to_string()),
            14 => Self::new(format!("bit({bits})"), true, move |random| {
                below(random, 1 << bits).to_string()
            }),
            15 => Self::new("enum('a','it''s','\u{fc}','z')", true, |random| {
                ["a", "it's", "\u{fc}", "z"][below(random, 4) as usize].to_owned()
            }),
            16 => Self::new("set('a','b','c','d','e','f','g','h','i')", true, |random| {
                let all = ["a", "b,c", "\"b,i\"", "h"];
                let member = all[below(random, 4) as usize];
                if member.contains(',') && !member.starts_with('"') {
                    return format!("\"{member}\"");
                }
                member.to_owned()
            }),
            17 => Self::text(format!("char({length})"), true, length, WIDE),
            18 => Self::text(
                format!("char({length}) character set latin1 collate latin1_bin"),
                true,
                length,
                LATIN,
            ),
            19 => Self::text(format!("varchar({length})"), true, length, WIDE),
            20 => Self::text(
                format!("varchar({length}) character set latin1 collate latin1_bin"),
                true,
                length,
                LATIN,
            ),
            21 => Self::text(
                format!("varchar({length}) character set utf8 collate utf8_bin"),
                true,
                length,
                THREE,
            ),
            22 => Self::text("varchar(2000) character set ascii".to_owned(), false, 2000, ASCII),
            23 => Self::text(format!("varbinary({length})"), true, length, ASCII),
            24 => Self::text("tinytext".to_owned(), false, 60, WIDE),
            _ => {
                let (name, most) = [("text", 15_000), ("mediumtext", 30_000), ("longblob", 50_000)]
                    [below(random, 3) as usize];
                let letters = if name == "longblob" { ASCII } else { WIDE };
                Self::text(name.to_owned(), false, most, letters)
            }
        }
    }
}

/// A table of random columns and keys, as SQL, and a file of rows for it.
fn random_table(random: &mut Random) -> (String, String) {
    let count = 1 + below(random, 12);
    let kinds: Vec<Kind> = (0..count).map(|_| Kind::any(random)).collect();
    let mut parts = vec!["`id` int NOT NULL".to_owned()];
    let mut nullable = vec![false];
    let (mut key, mut index) = (Vec::new(), Vec::new());
    for (at, kind) in kinds.iter().enumerate() {
        let in_key = kind.orders && key.len() < 3 && below(random, 5) == 0;
        if in_key {
            key.push(format!("`c{at}`"));
        } else if kind.orders && below(random, 6) == 0 {
            index.push(format!("KEY (`c{at}`)"));
        }
        let may = !in_key && below(random, 3) > 0;
        nullable.push(may);
        let null = match may {
            true => "NULL",
            // Else MySQL 5.7 has one changed with its row.
            false if kind.declared.starts_with("timestamp") => "NOT NULL DEFAULT '2001-02-03'",
            false => "NOT NULL",
        };
        parts.push(format!("`c{at}` {} {null}", kind.declared));
    }
    match below(random, 4) {
        0 => {}
        1 => parts.push("PRIMARY KEY (`id`)".to_owned()),
        _ => parts.push(format!(
            "PRIMARY KEY ({}`id`)",
            key.iter().fold(String::new(), |all, column| all + column + ",")
        )),
    }
    parts.extend(index);
    let table = format!(
        "CREATE TABLE t ({}) ENGINE=InnoDB DEFAULT CHARACTER SET utf8mb4 COLLATE utf8mb4_bin",
        parts.join(", ")
    );
    let rows = 1 + below(random, 1500);
    let steps = [1, rows + 1 + below(random, 100)][below(random, 2) as usize];
    let mut file = String::from("id");
    // What the file has nothing of is NULL.
    let written: Vec<usize> =
        (0..kinds.len()).filter(|at| !nullable[at + 1] || below(random, 5) > 0).collect();
    for at in &written {
        let _ = write!(file, ",c{at}");
    }
    for row in 0..rows {
        // In order, or in leaps round a circle.
        let id = row * steps % (rows.max(2) * 2 + 1);
        let _ = write!(file, "\n{id}");
        for at in &written {
            let value = match nullable[at + 1] && below(random, 6) == 0 {
                true => String::new(),
                false => (kinds[*at].value)(random),
            };
            let _ = write!(file, ",{value}");
        }
    }
    (table, file + "\n")
}

#[test]
fn tables_of_any_columns_are_those_that_load_data_makes() {
    for_each_known(|server| {
        let mut random = Random(0x37);
        for case in 0..size(4, 200) {
            let (table, file) = random_table(&mut random);
            server.write("t.csv", file);
            let sent = table.replacen("TABLE t", "TABLE sent", 1);
            server.sql(&format!("DROP TABLE IF EXISTS t, sent;;{table};;{sent}"));
            let all = ["t.csv", "--if-exists", "append", "--max-rejects", "all"];
            let sent =
                server.load(&[&all[..], &["--table", "sent", "--rejects", "sent.csv"]].concat());
            let written = server
                .load(&[&all[..], &["--table", "t", "--rejects", "t.rejects.csv"], &WAY].concat());
            let said = || format!("{case}: {table}\n{}{}", written.stdout, written.stderr);
            assert_eq!(
                sent.status.code(),
                written.status.code(),
                "{}\n{}{}",
                said(),
                sent.stdout,
                sent.stderr
            );
            let same = |when: &str| {
                let sums = server.query("CHECKSUM TABLE sent, t");
                assert_eq!(sums[0][1], sums[1][1], "{when} {}", said());
                let check = server.query("CHECK TABLE t EXTENDED");
                assert_eq!(
                    check.last().unwrap()[3].as_deref(),
                    Some("OK"),
                    "{when} {check:?} {}",
                    said()
                );
            };
            same("loaded");
            let changes = |table: &str| {
                format!(
                    "DELETE FROM {table} WHERE id % 3 = 0;;UPDATE {table} SET id = id + 100000 WHERE id % 5 = 0"
                )
            };
            server.sql(&format!("{};;{}", changes("t"), changes("sent")));
            same("changed");
        }
        assert_eq!(files_of_ours(server), Vec::<String>::new());
    });
}

#[test]
fn what_can_not_be_a_table_s_file_is_refused_by_name() {
    for_each_known(|server| {
        server.write("t.csv", "id,name,part\n2,b,1.5\n1,a,0.5\n");
        let load = |more: &[&str]| server.load(&[&["t.csv"], &WAY[..], more].concat());
        let run = load(&["--primary-key", "part"]).exits(2).ends_with_nothing_changed();
        run.says(&["column part is of type double"]);
        assert_eq!(server.tables(), Vec::<String>::new());
        load(&[]).exits(0);
        let run = load(&["--if-exists", "append"]).exits(2).ends_with_nothing_changed();
        run.says(&["the table holds rows"]);
        server.sql(
            "CREATE TABLE counts (id int NOT NULL AUTO_INCREMENT, name text, part double, PRIMARY KEY (id));;\
             CREATE TABLE folds (id int, name varchar(20) CHARACTER SET latin1 COLLATE latin1_swedish_ci, part double, PRIMARY KEY (name));;\
             CREATE TABLE alone (id int, name varchar(20), part double, UNIQUE KEY (id));;\
             CREATE TABLE older (id int, name varchar(20), part double) ROW_FORMAT=COMPACT;;\
             CREATE TABLE fills (id int, name varchar(20), part double, more int DEFAULT 7);;\
             CREATE TABLE words (id int, name varchar(20), part double, more varchar(9) DEFAULT 'NULL')",
        );
        for (table, reason) in [
            ("counts", "AUTO_INCREMENT of id"),
            ("folds", "latin1_swedish_ci"),
            ("alone", "UNIQUE KEY id"),
            ("older", "ROW_FORMAT=COMPACT"),
            ("fills", "lacks column more"),
            ("words", "lacks column more"),
        ] {
            let run = load(&["--if-exists", "append", "--table", table]);
            assert_ne!(run.status.code(), Some(0), "{table}");
            run.says(&[reason]);
            assert_eq!(server.count(table), 0);
            server.drop_table(table);
        }
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
