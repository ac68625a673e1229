//! What [`Store::encode`] says, held against a server that is asked to store the same values.
//!
//! ```text
//! INRUSH_TEST_SERVERS="postgres-15=postgres://..." PROPTEST_CASES=2000 cargo test -p inrush-postgres --lib types::oracle -- --nocapture
//! ```
//!
//! What is kept must be what the server stores for the text: the same bytes from its send function, also when they went through its
//! receive function. What the server refuses must be refused, except for [`is_read_by_us_alone`]. What it takes and shows just as it was
//! written must be kept, except for [`is_refused_on_purpose`]; what it takes and shows otherwise may be refused, and is printed.

use std::collections::BTreeMap;
use std::fmt::Write as _;
use std::io::Write as _;
use std::path::Path;
use std::process::{Command, Stdio};

use inrush_core::{Basis, Column, Type};

use super::{Locale, Store, declared, spell, sql_type};
use random::Random;

mod random;
mod values;

const VARIABLE: &str = "INRUSH_TEST_SERVERS";

/// What the types below want that isn't built in.
const PRELUDE: &str = "\
    CREATE TYPE mood AS ENUM ('sad', 'it''s ok', 'a = b', ''); \
    CREATE DOMAIN zip AS varchar(5); CREATE DOMAIN ints AS integer[];";

/// Types of existing columns, the values they are tried with, and their send functions.
const DECLARED: &[(&str, &[&[&str]], &str)] = &[
    ("smallint", &[values::NUMBERS], "int2send"),
    ("integer", &[values::NUMBERS], "int4send"),
    ("bigint", &[values::NUMBERS], "int8send"),
    ("oid", &[values::NUMBERS], "oidsend"),
    ("real", &[values::NUMBERS], "float4send"),
    ("double precision", &[values::NUMBERS], "float8send"),
    ("numeric", &[values::NUMBERS], "numeric_send"),
    ("numeric(10,2)", &[values::NUMBERS], "numeric_send"),
    ("numeric(5,0)", &[values::NUMBERS], "numeric_send"),
    ("numeric(3,-2)", &[values::NUMBERS], "numeric_send"),
    ("numeric(2,5)", &[values::NUMBERS], "numeric_send"),
    ("numeric(1000,1000)", &[values::NUMBERS], "numeric_send"),
    ("numeric(40,17)", &[values::NUMBERS], "numeric_send"),
    ("money", &[values::NUMBERS, values::AMOUNTS], "cash_send"),
    ("boolean", &[values::TRUTHS, values::TEXTS], "boolsend"),
    ("date", &[values::DAYS, values::MOMENTS], "date_send"),
    ("timestamp without time zone", &[values::DAYS, values::MOMENTS], "timestamp_send"),
    ("timestamp(3) without time zone", &[values::DAYS, values::MOMENTS], "timestamp_send"),
    ("timestamp(0) without time zone", &[values::MOMENTS], "timestamp_send"),
    ("timestamp with time zone", &[values::DAYS, values::MOMENTS], "timestamptz_send"),
    ("timestamp(2) with time zone", &[values::DAYS, values::MOMENTS], "timestamptz_send"),
    ("time without time zone", &[values::TIMES], "time_send"),
    ("time(1) without time zone", &[values::TIMES], "time_send"),
    ("time with time zone", &[values::TIMES], "timetz_send"),
    ("time(4) with time zone", &[values::TIMES], "timetz_send"),
    ("interval", &[values::INTERVALS, values::TIMES], "interval_send"),
    ("interval(2)", &[values::INTERVALS], "interval_send"),
    ("interval second(2)", &[values::INTERVALS, values::TIMES], "interval_send"),
    ("interval minute to second", &[values::INTERVALS, values::TIMES], "interval_send"),
    ("interval day to hour", &[values::INTERVALS], "interval_send"),
    ("interval day", &[values::INTERVALS], "interval_send"),
    ("interval year to month", &[values::INTERVALS], "interval_send"),
    ("interval year", &[values::INTERVALS], "interval_send"),
    ("text", &[values::TEXTS], "textsend"),
    ("character varying", &[values::TEXTS], "varcharsend"),
    ("character varying(5)", &[values::TEXTS], "varcharsend"),
    ("character(5)", &[values::TEXTS], "bpcharsend"),
    ("bpchar", &[values::TEXTS], "bpcharsend"),
    ("name", &[values::TEXTS], "namesend"),
    ("mood = enum('sad','it''s ok','a = b','')", &[values::TEXTS], "enum_send"),
    ("zip = character varying(5)", &[values::TEXTS], "varcharsend"),
    ("bytea", &[values::BYTES, values::TEXTS], "byteasend"),
    ("json", &[values::JSON], "json_send"),
    ("jsonb", &[values::JSON], "jsonb_send"),
    ("uuid", &[values::UUIDS], "uuid_send"),
    ("inet", &[values::ADDRESSES], "inet_send"),
    ("cidr", &[values::ADDRESSES], "cidr_send"),
    ("macaddr", &[values::CARDS], "macaddr_send"),
    ("macaddr8", &[values::CARDS], "macaddr8_send"),
    ("bit(1)", &[values::BITS], "bit_send"),
    ("bit(12)", &[values::BITS], "bit_send"),
    ("bit varying", &[values::BITS], "varbit_send"),
    ("bit varying(9)", &[values::BITS], "varbit_send"),
    ("integer[]", &[values::ARRAYS], "array_send"),
    ("ints = integer[]", &[values::ARRAYS], "array_send"),
    ("text[]", &[values::ARRAYS], "array_send"),
    ("numeric(10,2)[]", &[values::ARRAYS], "array_send"),
    ("character varying(3)[]", &[values::ARRAYS], "array_send"),
    ("character(3)[]", &[values::ARRAYS], "array_send"),
    ("timestamp(3) without time zone[]", &[values::ARRAYS], "array_send"),
    ("boolean[]", &[values::ARRAYS], "array_send"),
    ("jsonb[]", &[values::ARRAYS], "array_send"),
    ("inet[]", &[values::ARRAYS], "array_send"),
    ("bytea[]", &[values::ARRAYS], "array_send"),
];

/// Types of columns that the load makes. Bytes go as they are, which no text says.
const MADE: &[(Type, &[&[&str]], &str)] = &[
    (Type::Integer, &[values::NUMBERS], "int8send"),
    (Type::Float, &[values::NUMBERS], "float8send"),
    (Type::Decimal { precision: 10, scale: 2 }, &[values::NUMBERS], "numeric_send"),
    (Type::Decimal { precision: 0, scale: 0 }, &[values::NUMBERS], "numeric_send"),
    (Type::Boolean, &[values::TRUTHS], "boolsend"),
    (Type::Date, &[values::DAYS], "date_send"),
    (Type::Timestamp { zone: false }, &[values::DAYS, values::MOMENTS], "timestamp_send"),
    (Type::Timestamp { zone: true }, &[values::DAYS, values::MOMENTS], "timestamptz_send"),
    (Type::Text, &[values::TEXTS], "textsend"),
    (Type::Json, &[values::JSON], "json_send"),
];

/// A value in a column, and what `encode` says.
struct Case {
    value: String,
    kept: Result<Vec<u8>, String>,
}

/// A column that values are tried with.
struct Trial {
    declared: String,
    send: &'static str,
    pinned: bool,
    compares: bool,
    cases: Vec<Case>,
}

impl Trial {
    fn new(column: &Column, declared: &str, send: &'static str, values: Vec<String>) -> Self {
        let store = Store::of(column, declared, &Locale::of("UTC", "$12,345.00"));
        assert!(store.is_binary(), "{declared}");
        let case = |value: String| {
            let mut out = b"before".to_vec();
            let kept = match store.encode(value.as_bytes(), &mut out) {
                Ok(()) => Ok(out.split_off(6)),
                Err((code, wanted)) => Err(format!("{code}: {wanted}")),
            };
            assert_eq!(out, b"before", "{declared} {value:?}");
            Case { value, kept }
        };
        let cases = values.into_iter().map(case).collect();
        let (pinned, compares) = (column.is_pinned(), store.compares());
        Self { declared: declared.to_owned(), send, pinned, compares, cases }
    }
}

fn trials(cases: usize) -> Vec<Trial> {
    let mut random = Random(0x9e37_79b9_7f4a_7c15);
    let mut values = |families: &[&[&str]], name: &str| {
        let listed = families.iter().flat_map(|family| family.iter());
        let mut values: Vec<String> =
            listed.flat_map(|line| line.split('|')).map(str::to_owned).collect();
        values.extend(values::long(name));
        values.extend(super::store::tests::cases::listed(name).map(str::to_owned));
        for _ in 0..cases {
            let mutated = random.mutated(&values);
            let written = random.written(name, &values);
            values.extend([mutated, written]);
        }
        // The client's lines have no NUL.
        values.retain(|value| !value.contains('\0'));
        values.sort();
        values.dedup();
        values
    };
    let column = |ty, declared: Option<&str>| Column {
        name: "v".to_owned(),
        ty,
        declared: declared.map(str::to_owned),
        basis: if declared.is_some() { Basis::Declared } else { Basis::Inferred },
        required: false,
    };
    let existing = DECLARED.iter().map(|(text, families, send)| {
        let column = column(declared(text), Some(text));
        (column, (*text).to_owned(), *families, *send)
    });
    let made =
        MADE.iter().map(|(ty, families, send)| (column(*ty, None), spell(*ty), *families, *send));
    existing
        .chain(made)
        .map(|(column, text, families, send)| {
            let values = values(families, &text);
            Trial::new(&column, &text, send, values)
        })
        .collect()
}

fn hex(bytes: &[u8]) -> String {
    bytes.iter().fold(String::new(), |mut hex, byte| {
        write!(hex, "{byte:02x}").unwrap();
        hex
    })
}

fn unhex(hex: &str) -> Vec<u8> {
    let byte = |at: usize| u8::from_str_radix(&hex[at..at + 2], 16).unwrap();
    (0..hex.len()).step_by(2).map(byte).collect()
}

/// Runs a script, on past errors; what it printed, and what the server complained of.
fn query(url: &str, script: String) -> (String, String) {
    let mut client = Command::new("psql")
        .args(["-X", "-A", "-t", "-q", "-d", url])
        .env("PGTZ", "UTC")
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .spawn()
        .expect("psql in the path");
    let mut stdin = client.stdin.take().unwrap();
    let writer = std::thread::spawn(move || stdin.write_all(script.as_bytes()));
    let output = client.wait_with_output().unwrap();
    writer.join().unwrap().unwrap();
    let text = |bytes| String::from_utf8(bytes).unwrap();
    (text(output.stdout), text(output.stderr))
}

/// What the server said of a value.
#[derive(Debug, Default)]
struct Answer {
    error: Option<String>,
    /// What its send function made of the value that it read as text,
    sent: Vec<u8>,
    /// what it shows for it,
    shown: String,
    /// and what its send function made of the value that it received.
    received: Option<Vec<u8>>,
}

/// Makes a file for COPY of what is kept.
fn write_copy(path: &Path, cases: &[Case]) {
    let mut file = b"PGCOPY\n\xff\r\n\0\0\0\0\0\0\0\0\0".to_vec();
    for (key, case) in cases.iter().enumerate() {
        if let Ok(kept) = &case.kept {
            file.extend_from_slice(&[0, 2, 0, 0, 0, 4]);
            file.extend_from_slice(&(key as u32).to_be_bytes());
            file.extend_from_slice(&(kept.len() as u32).to_be_bytes());
            file.extend_from_slice(kept);
        }
    }
    file.extend_from_slice(&[0xff, 0xff]);
    std::fs::write(path, file).unwrap();
}

/// Stores all values as texts and, where they are kept, in binary.
fn ask(url: &str, directory: &Path, trials: &[Trial]) -> BTreeMap<(usize, usize), Answer> {
    let name = format!("inrush_types_{}", std::process::id());
    let mut script = format!(
        "CREATE DATABASE {name} TEMPLATE template0 ENCODING 'UTF8';\n\\c {name}\n\
         SET client_encoding = 'UTF8'; SET client_min_messages = warning; {PRELUDE}\n\
         CREATE FUNCTION try(trial int, send text, value text) RETURNS text LANGUAGE plpgsql AS $$ \
         DECLARE answer text; BEGIN \
         EXECUTE format('INSERT INTO t%s VALUES (%L) RETURNING ''ok '' || encode(%s(v), ''hex'') \
         || '' '' || encode(convert_to(concat(v), ''UTF8''), ''hex'')', trial, value, send) INTO answer; \
         RETURN answer; EXCEPTION WHEN OTHERS THEN RETURN 'error ' || sqlerrm; END $$;\n"
    );
    for (at, trial) in trials.iter().enumerate() {
        let ty = sql_type(&trial.declared);
        writeln!(
            script,
            "CREATE TEMP TABLE t{at} (v {ty}); CREATE TEMP TABLE r{at} (k int, v {ty});"
        )
        .unwrap();
        for (batch, cases) in trial.cases.chunks(500).enumerate() {
            let rows: Vec<String> = cases
                .iter()
                .enumerate()
                .map(|(key, case)| {
                    format!("({},'{}')", 500 * batch + key, hex(case.value.as_bytes()))
                })
                .collect();
            writeln!(
                script,
                "SELECT '{at} ' || k || ' ' || replace(try({at}, '{}', convert_from(decode(h, 'hex'), 'UTF8')), E'\\n', ' ') \
                 FROM (VALUES {}) AS x (k, h);",
                trial.send,
                rows.join(",")
            )
            .unwrap();
        }
        let path = directory.join(format!("{at}.copy"));
        write_copy(&path, &trial.cases);
        writeln!(
            script,
            "\\copy r{at} FROM '{}' (FORMAT binary)\n\
             SELECT '{at} ' || k || ' received ' || encode({}(v), 'hex') FROM r{at};",
            path.display(),
            trial.send
        )
        .unwrap();
    }
    writeln!(script, "\\c postgres\nDROP DATABASE {name};").unwrap();
    let (output, errors) = query(url, script);
    if !errors.is_empty() {
        println!("{}", &errors[..errors.floor_char_boundary(4000)]);
    }
    let mut answers = BTreeMap::<(usize, usize), Answer>::new();
    for line in output.lines() {
        let mut words = line.splitn(4, ' ');
        let mut number = || words.next().and_then(|word| word.parse::<usize>().ok());
        let (Some(at), Some(key)) = (number(), number()) else { panic!("{line}") };
        let answer = answers.entry((at, key)).or_default();
        let (kind, rest) = (words.next().unwrap(), words.next().unwrap_or_default());
        match kind {
            "ok" => {
                let (sent, shown) = rest.split_once(' ').unwrap();
                answer.sent = unhex(sent);
                answer.shown = String::from_utf8(unhex(shown)).unwrap();
            }
            "error" => answer.error = Some(rest.to_owned()),
            _ => answer.received = Some(unhex(rest)),
        }
    }
    answers
}

/// What we take and the server doesn't, as text: whole numbers written like other decimals.
fn is_read_by_us_alone(trial: &Trial, value: &str) -> bool {
    let is_integer = ["int2send", "int4send", "int8send", "oidsend", "array_send"];
    let has_point = value.contains(".0") && !value.contains(['e', 'E']);
    is_integer.contains(&trial.send) && has_point
}

/// What the server takes and shows as it is, and we refuse all the same.
fn is_refused_on_purpose(trial: &Trial, value: &str) -> bool {
    // Versions before 17 have no endless interval. An inferred type keeps to the usual ways to write its values, and zeros that
    // are written.
    !trial.pinned || (trial.declared.starts_with("interval") && value.ends_with("infinity"))
}

#[test]
fn what_is_kept_is_what_the_server_stores() {
    let servers = std::env::var(VARIABLE).unwrap_or_default();
    let urls: Vec<&str> = servers
        .split_whitespace()
        .filter_map(|server| server.split_once('='))
        .map(|(_, url)| url)
        .filter(|url| url.starts_with("postgres://") || url.starts_with("postgresql://"))
        .collect();
    if urls.is_empty() {
        eprintln!("SKIPPED: no PostgreSQL in {VARIABLE}");
        return;
    }
    let cases = std::env::var("PROPTEST_CASES").ok().and_then(|cases| cases.parse().ok());
    for url in urls {
        let trials = trials(cases.unwrap_or(25));
        let directory = tempfile::tempdir().unwrap();
        let answers = ask(url, directory.path(), &trials);
        let total: usize = trials.iter().map(|trial| trial.cases.len()).sum();
        let kept = trials.iter().flat_map(|trial| &trial.cases).filter(|case| case.kept.is_ok());
        println!("{total} values, {} of them kept", kept.count());
        assert_eq!(answers.len(), total);
        let mut wrong = Vec::new();
        for ((at, key), answer) in &answers {
            let trial = &trials[*at];
            judge(trial, &trial.cases[*key], answer, &mut wrong);
        }
        wrong.truncate(200);
        assert!(wrong.is_empty(), "{} wrong:\n{}", wrong.len(), wrong.join("\n"));
    }
}

fn judge(trial: &Trial, case: &Case, answer: &Answer, wrong: &mut Vec<String>) {
    let cut = |text: &str| text.chars().take(90).collect::<String>();
    let says = format!(
        "{}{} <- {:?}",
        trial.declared,
        if trial.pinned { "" } else { " (made)" },
        cut(&case.value)
    );
    match (&case.kept, &answer.error) {
        (Ok(_), Some(_)) if is_read_by_us_alone(trial, &case.value) => {}
        (Ok(_), Some(error)) => wrong.push(format!("kept: {says}: {error}")),
        (Ok(kept), None) => {
            if trial.compares && *kept != answer.sent {
                let (ours, theirs) = (cut(&hex(kept)), cut(&hex(&answer.sent)));
                wrong.push(format!("other bytes: {says}: {ours} stored as {theirs}"));
            }
            if answer.received.as_ref() != Some(&answer.sent) {
                let received = answer.received.as_deref().map(hex).unwrap_or_default();
                wrong.push(format!("received as {}: {says}", cut(&received)));
            }
        }
        (Err(_), Some(_)) => {}
        (Err(why), None) if answer.shown == case.value => {
            if !is_refused_on_purpose(trial, &case.value) {
                wrong.push(format!("refused ({why}): {says}"));
            }
        }
        (Err(why), None) => println!("stricter ({why}): {says}, shown as {:?}", cut(&answer.shown)),
    }
}
