//! What [`Store::keep`] says, held against a server that is asked to store the same values: MariaDB, of those of `INRUSH_TEST_SERVERS`.
//!
//! What is kept must be stored without a warning and shown as `keep` wrote it, sent as a literal or as a string. What is refused
//! should be refused by the server too, or changed; where it isn't, the value is printed: there we are stricter.

use std::collections::BTreeMap;
use std::fmt::Write as _;
use std::io::Write as _;
use std::process::{Command, Stdio};
use std::sync::atomic::{AtomicU32, Ordering::Relaxed};

use inrush_core::{Basis, Column, Type};

use super::{Class, Kept, LastDay, Modes, SessionZone, Store, declared, spell};

/// The session that the server is asked in is in UTC.
const MODES: Modes = Modes {
    zero_date: false,
    zero_in_date: false,
    invalid_dates: false,
    zone: SessionZone::Utc,
    last_day: LastDay::OF_32_BITS,
};

/// Types of existing columns.
pub(crate) const DECLARED: &[&str] = &[
    "tinyint(4)",
    "tinyint(3) unsigned",
    "tinyint(1)",
    "smallint(6)",
    "smallint(5) unsigned",
    "mediumint(9)",
    "mediumint(8) unsigned",
    "int(11)",
    "int(10) unsigned",
    "int(5) unsigned zerofill",
    "bigint(20)",
    "bigint(20) unsigned",
    "bigint(20) unsigned zerofill",
    "decimal(10,2)",
    "decimal(10,2) unsigned",
    "decimal(10,2) unsigned zerofill",
    "decimal(5,5)",
    "decimal(5,5) unsigned zerofill",
    "decimal(10,0)",
    "decimal(65,30)",
    "decimal(65,0)",
    "decimal(1,0)",
    "float",
    "float unsigned",
    "float(10,2)",
    "double",
    "double unsigned",
    "double(10,2)",
    "double(5,0) unsigned",
    "bit(1)",
    "bit(3)",
    "bit(64)",
    "date",
    "datetime",
    "datetime(3)",
    "datetime(6)",
    "timestamp",
    "timestamp(6)",
    "time",
    "time(2)",
    "time(6)",
    "year(4)",
    "char(5)",
    "varchar(5)",
    "varchar(0)",
    "tinytext",
    "text",
    "longtext",
    "char(5) character set latin1",
    "varchar(5) character set latin1",
    "varchar(5) character set ascii",
    "varchar(5) character set utf8mb3",
    "varchar(5) character set ucs2",
    "varchar(5) character set utf16",
    "tinytext character set utf8mb3",
    "tinytext character set latin1",
    "tinytext character set ucs2",
    "tinytext character set utf16",
    "tinytext character set utf32",
    "tinytext character set gbk",
    "varchar(5) character set koi8r",
    "varchar(5) character set sjis",
    "binary(3)",
    "varbinary(3)",
    "tinyblob",
    "blob",
    "enum('a','B','it''s','','1','x y','\\\\','\u{e9}','a,b')",
    "enum('a','b')",
    "set('a','B','it''s','1','x y','\\\\','\u{e9}')",
    "json",
    "uuid",
    "inet4",
    "inet6",
];

/// Types of columns that the load makes.
pub(crate) const MADE: &[Type] = &[
    Type::Integer,
    Type::Float,
    Type::Decimal { precision: 10, scale: 2 },
    Type::Decimal { precision: 0, scale: 0 },
    Type::Boolean,
    Type::Date,
    Type::Timestamp { zone: false },
    Type::Timestamp { zone: true },
    Type::Text,
    Type::Json,
];

/// Values for all of them, with `|` between; a blank belongs to its value.
const VALUES: &[&str] = &[
    "|0|-0|+0|00|1|-1|+1|01|001|-01|7|10|127|128|-128|-129|255|256|32767|32768|-32768|-32769|65535|65536",
    "8388607|8388608|-8388608|-8388609|16777215|16777216|16777217|-16777217|2147483647|2147483648|-2147483648|-2147483649",
    "4294967295|4294967296|9007199254740992|9007199254740993|-9007199254740993|9223372036854775807|9223372036854775808",
    "-9223372036854775808|-9223372036854775809|18446744073709551615|18446744073709551616|99999999999999999999",
    "00000000000000000000000000000000000000000001|12345678901234567890123456789012345|1e3|1E3|1e-3|1e+3|1e0|-1e0|10e-1|1e400|-1e400",
    "1e-400|1e308|1.8e308|3.4028234e38|3.4028235e38|3.4028236e38|1e39|1e-46|1.5|-1.5|+1.5|1.0|1.00|-1.0|-0.0|-0.00|0.0|.5|-.5|5.|.|-",
    "+|--1|1-|1.2.3|1e|e1|1e5.5|0x10|0b101|0b1|b'101'|b'1'|b''|B'11'|b'1111'|b'2'|1,5|1_000| 1|1 |1\t|\t1|\n|1\n|\u{a0}1|\u{660}",
    "0.1|0.10|0.12|0.123|0.120|0.12345|0.123456|0.99999|99999999.99|99999999.999|100000000|-99999999.99|12.5|1234567890|12345678901",
    "99999|100000|12345.67|0.1234567890123456789|123456789012345.12|1234567.12345678|0.000000000000000000000000000000000000000000000000000012",
    "12345678901234567890.5|3.141592653589793238462643383279502884197169399375105820974944592307816406286208998628034825342117068",
    "99999999999999999999999999999999999.999999999999999999999999999999|0.000000000000000000000000000001|0.0000000000000000000000000000001",
    "99999999999999999999999999999999999999999999999999999999999999999|100000000000000000000000000000000000000000000000000000000000000000",
    "1e64|1e65|12345e-30|1e-30|1e-31|0e99999999999|0e-99999999999|1e99999999999|1e-99999999999|inf|Infinity|NaN|nan|-inf|NULL|null|\\N",
    "true|false|True|TRUE|FALSE|t|f|yes|no|on|Y",
    "2020-01-01|2020-02-29|2019-02-29|2020-02-30|2020-02-31|2020-04-31|2020-13-01|2020-00-01|2020-01-00|2020-01-32|2020-00-00",
    "0000-00-00|0000-01-01|0000-02-29|0000-02-28|0000-00-01|0000-01-00|0001-01-01|9999-12-31|1900-02-29|2000-02-29|2020-1-1|20-01-01|20200101",
    "2020/01/01|2020.01.01|2020-01-01 |10000-01-01|0000-00-00 00:00:00|0000-00-00 12:00:00|0000-00-00 00:00:00.1|0000-01-01 00:00:00",
    "2020-01-01 10:11:12|2020-01-01T10:11:12|2020-01-01 10:11|2020-01-01T10:11|2020-01-01 10|2020-01-01 24:00:00|2020-01-01 23:59:59",
    "2020-01-01 23:59:60|2020-01-01 23:60:00|2020-01-01 10:11:12.|2020-01-01 10:11:12.5|2020-01-01 10:11:12.123|2020-01-01 10:11:12.1234",
    "2020-01-01 10:11:12.123456|2020-01-01 10:11:12.1234567|2020-01-01 10:11:12.123000|2020-01-01 10:11:12.1230000|2020-01-01 10:11:12.000000000",
    "2020-01-01 10:11:12.000000001|2020-01-01T10:11:12Z|2020-01-01 10:11:12+02:00|2020-01-01 10:11:12 -0330|2020-01-01T00:30:00.5+01",
    "2020-02-31 10:11:12|2020-00-01 10:11:12|2020-02-00 00:00:00|0001-01-01 00:00:00|0001-01-01 00:00:00+01:00|9999-12-31 23:59:59.999999",
    "9999-12-31 23:30:00-01:00|1970-01-01 00:00:00|1970-01-01 00:00:01|1969-12-31 23:59:59|2038-01-19 03:14:07|2038-01-19 03:14:08",
    "2038-01-19 03:14:07.999999|2037-06-01 00:00:00|2107-01-01 00:00:00|1968-01-01 00:00:00|2020-01-01  10:11:12|2020-01-01 1:2:3|2020-06-15 12:00:00Z",
    "10:11:12|10:11|1:02:03|1:2:3|001:02:03|100:00:00|838:59:59|838:59:59.5|838:59:60|839:00:00|-838:59:59|-839:00:00|-00:00:00|-00:00:01",
    "-00:00:00.01|-00:00:00.001|00:60:00|00:00:60|10:11:12.5|10:11:12.50|10:11:12.555|10:11:12.123456|10:11:12.1234567|10:11:12.|:11:12|10:|101112",
    "1 10:11:12|+10:11:12|0838:59:59|24:00:00|10.5|1901|2155|1900|2156|2000|0000|000|99|70|69|1999",
    "a|A|b|B|a |a,b|b,a|a,a|a,B|B,a|A,b|,a|a,|,|1,a|a,1,B|it's|IT'S|x y|X Y|\\|a,\\|\u{e9}|\u{c9}|e|\u{e9},a|a, B",
    "abc|abcd|abcde|abcdef|abcde |abcd |abcdef |  a|\u{e9}\u{e9}\u{e9}\u{e9}\u{e9}|\u{e9}\u{e9}\u{e9}\u{e9}\u{e9}\u{e9}|\u{20ac}|\u{81}|\u{9d}|\u{152}|\u{1f600}|\u{1f600}\u{1f600}\u{1f600}\u{1f600}\u{1f600}",
    "\u{1f600}\u{1f600}\u{1f600}\u{1f600}\u{1f600}\u{1f600}|\u{416}|\u{3042}|\u{2551}|a\u{301}|\0|a\0b|ab\0|'|''|\"|\\'|\\\\|a\\|\t|\r\n|%_|\u{feff}|\u{ffff}",
    "{}|[]|{\"a\":1}|{\"a\":1,\"a\":2}|[1,]|{a:1}|\"x\"|nul|[1.0,1e400]|{\"b\":1,\"a\":[1, 2]}| {}|{} |[\"\\u0000\"]|[\"\\ud800\"]|01",
    "123e4567-e89b-12d3-a456-426655440000|123E4567-E89B-12D3-A456-426655440000|123e4567e89b12d3a456426655440000|00000000-0000-0000-0000-000000000000",
    "123e4567-e89b-12d3-a456-42665544000|{123e4567-e89b-12d3-a456-426655440000}|123e4567-e89b12d3-a456-426655440000|g23e4567-e89b-12d3-a456-426655440000",
    "ffffffff-ffff-ffff-ffff-ffffffffffff|123e4567-e89b-42d3-0456-426655440000|123e4567-e89b-72d3-c456-426655440000",
    "1.2.3.4|0.0.0.0|255.255.255.255|256.1.1.1|01.2.3.4|1.2.3|::|::1|1::|::ffff:1.2.3.4|::1.2.3.4|::FFFF:0102:0304|1:0:0:2:0:0:0:3|1:0:0:2:3:0:0:4",
    "1:0:2:3:4:5:6:7|1:2:3:4:5:6:7:8|1:2:3:4:5:6:7:8:9|0:0:0:0:0:0:0:0|ABCD::|abcd:ef01::0001|::2:0:0|64:ff9b::1.2.3.4|fe80::1%eth0|::ffff:0:0|::fffe:1.2.3.4|0:0:0:0:0:1:2:3|1:2:3:4:5:6:1.2.3.4|::1:2:3|::ffff:1:2:3",
];

fn values() -> Vec<Vec<u8>> {
    let mut values: Vec<Vec<u8>> = VALUES
        .iter()
        .flat_map(|line| line.split('|'))
        .map(|value| value.as_bytes().into())
        .collect();
    for (piece, counts) in [
        ("a", &[255, 256, 65_535, 65_536][..]),
        ("\u{e9}", &[127, 128, 255, 256]),
        ("\u{20ac}", &[85, 86]),
        ("\u{1f600}", &[63, 64]),
        ("1 ", &[127, 128]),
        ("7", &[30, 31, 64, 65, 81, 82, 200, 309, 310]),
    ] {
        values.extend(counts.iter().map(|count| piece.repeat(*count).into_bytes()));
    }
    for (digits, zeros) in [(1, 30), (17, 60), (5, 300), (3, 330)] {
        values.push(format!("0.{}{}", "0".repeat(zeros), "7".repeat(digits)).into_bytes());
        values.push(format!("{}{}.5", "7".repeat(digits), "0".repeat(zeros / 2)).into_bytes());
    }
    values.extend([b"\xff".to_vec(), b"a\xffb".to_vec(), b"\xe9".to_vec()]);
    values.sort();
    values.dedup();
    values
}

/// A value in a column, and what `keep` says.
struct Case {
    declared: String,
    value: Vec<u8>,
    class: Class,
    /// The text that the server should show.
    kept: Result<Vec<u8>, String>,
}

fn cases(modes: Modes) -> Vec<Case> {
    let values = values();
    let existing = DECLARED.iter().map(|text| {
        let column = Column {
            name: "v".into(),
            ty: declared(text),
            declared: Some((*text).to_owned()),
            basis: Basis::Declared,
            required: false,
        };
        ((*text).to_owned(), column)
    });
    let made = MADE.iter().map(|ty| {
        let column = Column {
            name: "v".into(),
            ty: *ty,
            declared: None,
            basis: Basis::Inferred,
            required: false,
        };
        (spell(*ty, true, false), column)
    });
    let mut cases = Vec::new();
    for (declared, column) in existing.chain(made) {
        let store = Store::of(&column, &declared, modes).unwrap();
        for value in &values {
            if std::str::from_utf8(value).is_err() && column.ty != Type::Bytes {
                continue;
            }
            let mut out = b"before".to_vec();
            let kept = match store.keep(value, &mut out) {
                Ok(Kept::AsIs) => Ok(value.clone()),
                Ok(Kept::Written) => Ok(out.split_off(6)),
                Err((code, wanted)) => Err(format!("{code}: {wanted}")),
            };
            assert_eq!(out, b"before", "{declared} {}", value.escape_ascii());
            if !column.is_pinned() {
                assert_survives(column.ty, value, &kept);
            }
            cases.push(Case {
                declared: declared.clone(),
                value: value.clone(),
                class: store.class(),
                kept,
            });
        }
    }
    cases
}

/// In a table that the load makes a number's text survives, except for zeros behind a decimal.
fn assert_survives(ty: Type, value: &[u8], kept: &Result<Vec<u8>, String>) {
    let Ok(kept) = kept else { return };
    let survives = match ty {
        Type::Decimal { .. } => {
            kept.strip_prefix(value).is_some_and(|rest| rest.iter().all(|b| b".0".contains(b)))
        }
        Type::Integer | Type::Date | Type::Text | Type::Json => kept == value,
        _ => true,
    };
    assert!(survives, "{ty} {} {}", value.escape_ascii(), kept.escape_ascii());
}

fn hex(bytes: &[u8]) -> String {
    bytes.iter().fold(String::new(), |mut hex, byte| {
        write!(hex, "{byte:02x}").unwrap();
        hex
    })
}

fn quoted(bytes: &[u8]) -> String {
    if bytes.is_empty() { "''".to_owned() } else { format!("_utf8mb4 x'{}'", hex(bytes)) }
}

fn literal(class: Class, bytes: &[u8]) -> String {
    match class {
        class if class.is_number() => String::from_utf8(bytes.to_vec()).unwrap(),
        Class::Bytes => format!("x'{}'", hex(bytes)),
        _ => quoted(bytes),
    }
}

/// What became of a value.
#[derive(Debug, Default)]
struct Stored {
    warnings: Option<String>,
    /// `None` where there is no row.
    shown: Option<Vec<u8>>,
}

/// The socket of a MariaDB that tests run on: MySQL's client shows other warnings.
fn mariadb() -> Option<String> {
    let servers = std::env::var("INRUSH_TEST_SERVERS").unwrap_or_default();
    let url = servers.split_whitespace().find(|server| server.starts_with("mariadb-"));
    let Some((_, url)) = url.and_then(|server| server.split_once('=')) else {
        eprintln!(
            "SKIPPED: no MariaDB to test with: `make test` starts one, and sets INRUSH_TEST_SERVERS"
        );
        return None;
    };
    let url = url::Url::parse(url).unwrap();
    let socket = url.query_pairs().find(|(name, _)| name == "socket").map(|(_, path)| path);
    Some(socket.expect("a server of ours has a socket").into_owned())
}

/// Runs a script, on past errors.
fn query(socket: &str, script: String) -> String {
    let mut client = Command::new("mariadb")
        .args(["--no-defaults", "--user=root", "--batch", "--skip-column-names", "--force"])
        .args(["--default-character-set=utf8mb4", "--socket", socket])
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .stderr(Stdio::null())
        .spawn()
        .unwrap();
    let mut stdin = client.stdin.take().unwrap();
    let writer = std::thread::spawn(move || stdin.write_all(script.as_bytes()));
    let output = client.wait_with_output().unwrap();
    writer.join().unwrap().unwrap();
    String::from_utf8(output.stdout).unwrap()
}

/// Stores each value in its column; the answers by the keys that the caller chose.
fn ask(socket: &str, sql_mode: &str, asked: &[(usize, String, String)]) -> BTreeMap<usize, Stored> {
    static COUNT: AtomicU32 = AtomicU32::new(0);
    let database = format!("inrush_oracle_{}_{}", std::process::id(), COUNT.fetch_add(1, Relaxed));
    let mut script = format!(
        "CREATE DATABASE {database} CHARACTER SET utf8mb4; USE {database}; \
         SET time_zone='+00:00', sql_mode='STRICT_ALL_TABLES,{sql_mode}';\n"
    );
    let mut table = "";
    for (key, declared, value) in asked {
        if table != declared {
            writeln!(script, "CREATE OR REPLACE TABLE t (v {declared} NULL) ENGINE=MyISAM;")
                .unwrap();
            table = declared;
        }
        let shown = match &declared[..3] {
            "flo" | "dou" => "CONCAT(v + 0e0)",
            "bit" => "CONCAT(v + 0)",
            "bin" | "var" | "tin" | "blo"
                if declared.contains("bin") || declared.contains("blob") =>
            {
                "v"
            }
            _ => "CONVERT(CONCAT(v) USING utf8mb4)",
        };
        writeln!(
            script,
            "INSERT INTO t VALUES ({value});\nSELECT {key}, 'w', @@warning_count;\nSELECT {key}, 'v', HEX({shown}) FROM t;\nDELETE FROM t;"
        )
        .unwrap();
    }
    writeln!(script, "DROP DATABASE {database};").unwrap();
    let output = query(socket, script);
    let mut answers = BTreeMap::<usize, Stored>::new();
    for line in output.lines() {
        let parts: Vec<&str> = line.split('\t').collect();
        let answer = answers.entry(parts[0].parse().unwrap()).or_default();
        match parts[1] {
            "w" => answer.warnings = (parts[2] != "0").then(|| parts[2].to_owned()),
            _ => {
                let byte = |at: usize| u8::from_str_radix(&parts[2][at..at + 2], 16).unwrap();
                answer.shown = Some((0..parts[2].len()).step_by(2).map(byte).collect());
            }
        }
    }
    answers
}

/// Whether the server may refuse what was kept: it knows its own character sets, its last second, and the surrogates of JSON.
fn is_left_to_server(declared: &str) -> bool {
    ["timestamp", "json", "tinytext character set gbk", "varchar(5) character set sjis"]
        .iter()
        .any(|left| declared.starts_with(left))
}

/// Whether the shown text is the value: the same bytes, or for floats the same number.
fn is_same(declared: &str, shown: &[u8], value: &[u8]) -> bool {
    let number = |text: &[u8]| std::str::from_utf8(text).ok()?.parse::<f64>().ok();
    match (&declared[..3], number(shown), number(value)) {
        ("flo", Some(shown), Some(value)) => shown as f32 == value as f32,
        ("dou", Some(shown), Some(value)) => shown == value,
        _ => shown == value,
    }
}

#[test]
fn what_is_kept_is_stored_and_shown_the_same() {
    stored_and_shown_the_same(&[("", Modes { zero_date: true, zero_in_date: true, ..MODES })]);
}

#[test]
#[ignore = "every sql_mode: make test-all"]
fn what_is_kept_is_stored_and_shown_the_same_whatever_the_sql_mode() {
    stored_and_shown_the_same(&[
        (
            "ALLOW_INVALID_DATES",
            Modes { zero_date: true, zero_in_date: true, invalid_dates: true, ..MODES },
        ),
        ("NO_ZERO_DATE,NO_ZERO_IN_DATE", MODES),
        ("NO_ZERO_DATE", Modes { zero_in_date: true, ..MODES }),
        ("NO_ZERO_IN_DATE", Modes { zero_date: true, ..MODES }),
    ]);
}

/// Compares all cases with what the server makes of them, under each of these sql_modes.
fn stored_and_shown_the_same(sql_modes: &[(&str, Modes)]) {
    let Some(socket) = mariadb() else { return };
    let mut wrong = Vec::new();
    for &(sql_mode, modes) in sql_modes {
        let cases: Vec<Case> = cases(modes)
            .into_iter()
            .filter(|case| sql_mode.is_empty() || case.declared.starts_with(['d', 't']))
            .collect();
        let asked: Vec<(usize, String, String)> = cases
            .iter()
            .enumerate()
            .flat_map(|(index, case)| {
                let value = case.kept.as_ref().unwrap_or(&case.value);
                let forms = match (&case.kept, case.class) {
                    (Ok(_), Class::Bit) => vec![literal(case.class, value)],
                    (Ok(_), Class::Bytes) | (Err(_), Class::Bytes) => {
                        vec![literal(Class::Bytes, value)]
                    }
                    (Ok(_), _) => vec![literal(case.class, value), quoted(value)],
                    (Err(_), _) => vec![quoted(value)],
                };
                let ask = move |(form, value)| (2 * index + form, case.declared.clone(), value);
                forms.into_iter().enumerate().map(ask)
            })
            .collect();
        let answers = ask(&socket, sql_mode, &asked);
        assert_eq!(answers.len(), asked.len());
        println!("== {} values, sql_mode '{sql_mode}'", asked.len());
        for (key, declared, sent) in &asked {
            let (case, stored) = (&cases[key / 2], &answers[key]);
            let shown = |text: &[u8]| text[..text.len().min(70)].escape_ascii().to_string();
            let says = format!(
                "{declared} <- {} as {}: {} warnings, shown {:?}",
                shown(&case.value),
                &sent[..sent.len().min(70)],
                stored.warnings.as_deref().unwrap_or("no"),
                stored.shown.as_deref().map(shown),
            );
            match (&case.kept, &stored.shown) {
                (Ok(kept), Some(shown))
                    if stored.warnings.is_none() && is_same(declared, shown, kept) => {}
                (Ok(_), None) if is_left_to_server(declared) => {}
                (Ok(kept), _) => wrong.push(format!("kept as {}: {says}", shown(kept))),
                (Err(why), Some(shown))
                    if stored.warnings.is_none() && is_same(declared, shown, &case.value) =>
                {
                    println!("stricter ({why}): {says}");
                }
                (Err(_), _) => {}
            }
        }
    }
    assert!(wrong.is_empty(), "{} wrong:\n{}", wrong.len(), wrong.join("\n"));
}

/// A character that the server's set has must not be refused; of the others it warns by itself.
#[test]
fn character_sets_have_what_the_server_has() {
    let Some(socket) = mariadb() else { return };
    let mut wrong = Vec::new();
    for name in [
        "latin1", "latin2", "latin5", "latin7", "greek", "hebrew", "koi8r", "koi8u", "cp850",
        "cp852", "cp866", "cp1250", "cp1251", "cp1256", "cp1257", "macroman", "macce", "tis620",
        "dec8", "hp8", "armscii8", "keybcs2", "geostd8",
    ] {
        let script = (0x80..=0xff).fold(String::new(), |mut script, byte: u8| {
            writeln!(script, "SELECT HEX(CONVERT(_{name} x'{byte:02x}' USING utf8mb4));").unwrap();
            script
        });
        let texts = query(&socket, script);
        assert_eq!(texts.lines().count(), 128, "{name}");
        let declared = format!("text character set {name}");
        let column = Column {
            name: "v".into(),
            ty: Type::Text,
            declared: Some(declared.clone()),
            basis: Basis::Declared,
            required: false,
        };
        let modes = MODES;
        let store = Store::of(&column, &declared, modes).unwrap();
        for (byte, hex) in (0x80_u8..=0xff).zip(texts.lines()) {
            let text: Vec<u8> = (0..hex.len())
                .step_by(2)
                .map(|at| u8::from_str_radix(&hex[at..at + 2], 16).unwrap())
                .collect();
            if store.keep(&text, &mut Vec::new()).is_err() {
                wrong.push(format!("{name} {byte:02x} is {hex}"));
            }
        }
    }
    assert!(wrong.is_empty(), "{} wrong:\n{}", wrong.len(), wrong.join("\n"));
}
