use super::*;
use inrush_core::Basis;

pub(in crate::types) mod cases;

use cases::CASES;

fn utc() -> Locale {
    Locale::of("UTC", "$12,345.00")
}

fn existing(declared: &str) -> Store {
    let column = column(declared::declared(declared), Some(declared), true);
    Store::of(&column, declared, &utc())
}

fn made(ty: Type, pinned: bool) -> Store {
    Store::of(&column(ty, None, pinned), &declared::spell(ty), &utc())
}

fn column(ty: Type, declared: Option<&str>, pinned: bool) -> Column {
    Column {
        name: "c".to_owned(),
        ty,
        declared: declared.map(str::to_owned),
        basis: if pinned { Basis::Declared } else { Basis::Inferred },
        required: false,
    }
}

/// What becomes of a value: its bytes in hexadecimal, or the fault's code in brackets.
fn outcome(store: &Store, value: &str) -> String {
    let mut out = b"before".to_vec();
    let encoded = store.encode(value.as_bytes(), &mut out);
    let written = out.split_off(6);
    assert_eq!(out, b"before");
    match encoded {
        Ok(()) => written.iter().map(|byte| format!("{byte:02x}")).collect(),
        Err((code, _)) => {
            assert_eq!(written, b"", "{value:?}");
            format!("[{code}]")
        }
    }
}

/// The values that become something else.
fn wrong(store: &Store, cases: &[(&str, &str)]) -> Vec<String> {
    let differs = |(value, wanted): &(&str, &str)| {
        let (found, wanted) = (outcome(store, value), wanted.replace(' ', ""));
        (found != wanted).then(|| format!("{value:?} is {found}, not {wanted}"))
    };
    cases.iter().filter_map(differs).collect()
}

#[track_caller]
fn check(store: &Store, cases: &[(&str, &str)]) {
    let wrong = wrong(store, cases);
    assert!(wrong.is_empty(), "{store:?}\n{}", wrong.join("\n"));
}

#[test]
fn binary_forms_are_the_servers() {
    let mut all = Vec::new();
    for (declared, cases) in CASES {
        let store = existing(declared);
        assert!(store.is_binary(), "{declared}");
        all.extend(wrong(&store, cases).into_iter().map(|wrong| format!("{declared}: {wrong}")));
    }
    assert!(all.is_empty(), "{}", all.join("\n"));
}

#[test]
fn inferred_types_keep_what_stays_as_it_is_written() {
    check(
        &made(Type::Integer, false),
        &[
            ("-7", "fffffffffffffff9"),
            ("007", "[type]"),
            ("1.0", "[type]"),
            ("9223372036854775808", "[range]"),
        ],
    );
    check(
        &made(Type::Float, false),
        &[
            ("1e5", "40f86a0000000000"),
            ("1.10", "3ff199999999999a"),
            ("NaN", "[type]"),
            ("+1.5", "[type]"),
            ("0.12345678901234567890", "[type]"),
        ],
    );
    let decimal = Type::Decimal { precision: 5, scale: 2 };
    check(
        &made(decimal, false),
        &[
            ("1.50", "0002 0000 0000 0002 0001 1388"),
            ("1.500", "[range]"),
            (".5", "[type]"),
            ("1e1", "[type]"),
            ("-0.00", "[type]"),
            ("NaN", "[type]"),
        ],
    );
    check(&made(Type::Boolean, false), &[("True", "01"), ("t", "[type]"), ("1", "[type]")]);
    check(
        &made(Type::Date, false),
        &[("2000-01-02", "00000001"), ("infinity", "[type]"), ("10000-01-01", "[type]")],
    );
    check(
        &made(Type::Timestamp { zone: false }, false),
        &[
            ("2000-01-01T00:00", "0000000000000000"),
            ("2000-01-01", "[type]"),
            ("2000-01-01 00:00Z", "[type]"),
            ("2000-01-01 00:00:00.0000001", "[range]"),
        ],
    );
    for pinned in [false, true] {
        check(
            &made(Type::Timestamp { zone: true }, pinned),
            &[
                ("2000-01-01 01:00:00+01:00", "0000000000000000"),
                ("2000-01-01 00:00:00", "[type]"),
                ("2000-01-01", "[type]"),
            ],
        );
    }
    check(&made(Type::Bytes, false), &[("\\x00", "5c783030")]);
}

#[test]
fn an_interval_of_few_units_takes_no_smaller_ones() {
    let tables: [(&str, &[&str], &[&str]); 6] = [
        ("interval second(2)", &["1.25 s", "1 day"], &["1.234 s"]),
        ("interval day to second(1)", &["1 day 00:00:01.5"], &["00:00:01.25"]),
        ("interval day to hour", &["1 mon 1 day 02:00:00"], &["00:01:00", "1 sec"]),
        ("interval year to month", &["1 year 2 mons"], &["1 year 2 days", "00:00:01"]),
        ("interval year", &["24 mons"], &["13 mons", "1 day"]),
        ("interval minute to second", &["00:04:05", "P1DT1S"], &[]),
    ];
    for (declared, kept, lost) in tables {
        let store = existing(declared);
        assert!(store.is_binary(), "{declared}");
        for value in kept {
            assert_eq!(
                store.encode(value.as_bytes(), &mut Vec::new()),
                Ok(()),
                "{declared} {value}"
            );
        }
        check(&store, &lost.iter().map(|value| (*value, "[range]")).collect::<Vec<_>>());
    }
    // Minutes and seconds to the server.
    check(&existing("interval minute to second"), &[("04:05", "[type]")]);
}

#[test]
fn what_only_the_server_can_read_goes_as_text() {
    for declared in [
        "int4range",
        "xml",
        "tsvector",
        "point[]",
        "mood[] = enum('sad')[]",
        "citext",
        "public.\"integer\"",
        "moods = mood[] = enum('sad')[]",
    ] {
        let store = existing(declared);
        assert!(!store.is_binary() && !store.compares(), "{declared}");
        check(&store, &[("x", "78")]);
    }
    // Elements of a domain are looked at, and the server alone knows the number of their type.
    for declared in ["zip[] = character varying(2)[]", "zips = zip[] = character varying(2)[]"] {
        let store = existing(declared);
        assert!(!store.is_binary() && !store.compares(), "{declared}");
        check(&store, &[("{x}", "7b787d"), ("{xyz}", "[too-long]"), ("x", "[type]")]);
    }
    let moment = Type::Timestamp { zone: true };
    for (declared, ty) in
        [("timestamp with time zone", moment), ("timestamp(3) with time zone[]", Type::Text)]
    {
        let is_binary = |zone| {
            let column = column(ty, Some(declared), true);
            Store::of(&column, declared, &Locale::of(zone, "")).is_binary()
        };
        assert!(!is_binary("Europe/Berlin"));
        assert!(is_binary("UTC"));
    }
    let made = column(moment, None, true);
    let declared = "timestamp with time zone";
    assert!(Store::of(&made, declared, &Locale::of("Europe/Berlin", "")).is_binary());
}

/// The server reads no `1.0` as an integer, and no lists.
#[test]
fn integers_go_as_their_digits_where_the_server_reads_text() {
    for (declared, value, text) in [
        ("smallint", "-1.0", "-1"),
        ("oid", "4294967295.0", "4294967295"),
        ("integer[]", "{}", "{}"),
        ("integer[]", "{1.0,NULL,-3}", "{1,NULL,-3}"),
        ("bigint[]", "[2:3][0:0]={{1.0},{2}}", "[2:3][0:0]={{1},{2}}"),
        ("integer[]", "[[[1.0,2],[3,4]],[[5,6],[7,8]]]", "{{{1,2},{3,4}},{{5,6},{7,8}}}"),
        ("wholes = whole[] = integer[]", "[1.0]", "{1}"),
        ("text[]", "[1.0]", "{1.0}"),
    ] {
        let store = existing(declared);
        let (mut binary, mut written) = (Vec::new(), Vec::new());
        store.encode(value.as_bytes(), &mut binary).unwrap();
        let sent = store.text(value.as_bytes(), &binary, &mut written);
        assert_eq!(String::from_utf8_lossy(sent), text, "{declared}");
    }
}

#[test]
fn a_char_in_quotes_has_one_character_or_none() {
    check(
        &existing("\"char\""),
        &[("x", "78"), ("", "00"), ("\\", "5c"), ("xy", "[too-long]"), ("\u{e9}", "[too-long]")],
    );
}

/// In whatever table: what it was given in the load's first run it is given in all of them.
#[test]
fn what_the_load_says_of_a_column_is_what_its_values_mean() {
    let store = |ty, basis, declared: &str| {
        let column = Column { basis, ..column(ty, Some(declared), true) };
        Store::of(&column, declared, &Locale::of("Europe/Berlin", ""))
    };
    let (bytes, moment) = (Type::Bytes, Type::Timestamp { zone: true });
    for basis in [Basis::Asked, Basis::Settled] {
        check(&store(bytes, basis, "bytea"), &[(r"\101", "5c313031")]);
        check(&store(bytes, basis, "raw = bytea"), &[(r"\101", "5c313031")]);
        let at = "timestamp with time zone";
        check(&store(moment, basis, at), &[("2024-01-01 00:00:00", "[type]")]);
        assert!(store(moment, basis, at).is_binary());
        assert!(matches!(store(bytes, basis, "bytea").kind, Kind::RawBytes));
    }
    check(&store(bytes, Basis::Declared, "bytea"), &[(r"\101", "41")]);
    // Of the bytes it says nothing.
    check(&store(Type::Text, Basis::Asked, "bytea"), &[(r"\101", "41")]);
}

#[test]
fn a_time_that_clocks_of_the_session_skip_is_none() {
    let column = |declared| column(declared::declared(declared), Some(declared), true);
    let hex = |text: &str| {
        let mut digits = Vec::new();
        inrush_core::value::hex::put(text.as_bytes(), &mut digits);
        String::from_utf8(digits).unwrap()
    };
    let moment = column("timestamp(3) with time zone");
    let (day, gap, after) = ("2024-03-10", "2024-03-10 02:30:00", "2024-03-10T03:00:00.123");
    let store =
        Store::of(&moment, "timestamp(3) with time zone", &Locale::of("America/New_York", ""));
    for kept in [day, after, "2024-03-10 02:30:00Z", "-infinity", "0044-03-15 01:02:03 BC"] {
        check(&store, &[(kept, &hex(kept))]);
    }
    check(&store, &[(gap, "[range]"), ("12024-03-10 02:30:00", "[range]"), ("today", "[type]")]);
    // There the day begins an hour late.
    let store =
        Store::of(&moment, "timestamp(3) with time zone", &Locale::of("America/Asuncion", ""));
    check(&store, &[("2023-10-01", "[range]"), ("2023-10-02", &hex("2023-10-02"))]);
    let store = Store::of(&moment, "timestamp(3) with time zone", &Locale::of("localtime", ""));
    check(&store, &[(day, "[range]"), ("2024-03-10 00:00Z", &hex("2024-03-10 00:00Z"))]);
    let array = column("timestamp with time zone[]");
    let store =
        Store::of(&array, "timestamp with time zone[]", &Locale::of("America/New_York", ""));
    let all = format!("{{\"{gap}\"}}");
    check(&store, &[(&all, "[range]"), ("{2024-03-10}", &hex("{2024-03-10}")), ("{x}", "[type]")]);
    // In a list each has to have an offset.
    let list = r#"["2024-03-10T02:30:00Z",null,"infinity"]"#;
    check(&store, &[(list, &hex(r#"{"2024-03-10T02:30:00Z",NULL,"infinity"}"#))]);
    check(&store, &[(r#"["2024-03-10 00:00:00"]"#, "[type]"), (r#"["2024-03-10"]"#, "[type]")]);
}

#[test]
fn types_of_their_own_are_what_is_underneath() {
    check(
        &existing("mood = enum('it''s ok','a)','x = y')"),
        &[("it's ok", "69742773206f6b"), ("a)", "6129"), ("x = y", "78203d2079"), ("A)", "[type]")],
    );
    check(
        &existing("\"my = zip\" = character varying(2)"),
        &[("ab", "6162"), ("abc", "[too-long]")],
    );
    check(&existing("ints = integer[]"), &[("{}", "00000000 00000000 00000017")]);
    for (declared, ty, name) in [
        ("\"my = zip\" = numeric(3,1)", Type::Decimal { precision: 3, scale: 1 }, "\"my = zip\""),
        ("mood = enum('a = b')", Type::Text, "mood"),
        ("numeric(3,-2)", Type::Decimal { precision: 5, scale: 0 }, "numeric(3,-2)"),
        ("numeric(2,5)", Type::Decimal { precision: 5, scale: 5 }, "numeric(2,5)"),
        ("integer[]", Type::Text, "integer[]"),
        ("character varying(5)", Type::Text, "character varying(5)"),
        (
            "timestamp(3) with time zone",
            Type::Timestamp { zone: true },
            "timestamp(3) with time zone",
        ),
        ("oid", Type::Integer, "oid"),
        ("jsonb", Type::Json, "jsonb"),
        ("inet", Type::Text, "inet"),
    ] {
        assert_eq!(declared::declared(declared), ty, "{declared}");
        assert_eq!(declared::sql_type(declared), name);
    }
}

#[test]
fn what_is_spelled_is_declared_to_be_the_same() {
    for ty in [
        Type::Integer,
        Type::Float,
        Type::Decimal { precision: 0, scale: 0 },
        Type::Decimal { precision: 1000, scale: 30 },
        Type::Boolean,
        Type::Date,
        Type::Timestamp { zone: false },
        Type::Timestamp { zone: true },
        Type::Text,
        Type::Json,
        Type::Bytes,
    ] {
        assert_eq!(declared::declared(&declared::spell(ty)), ty);
    }
    assert_eq!(declared::spell(Type::Decimal { precision: 1001, scale: 2 }), "numeric");
}

#[test]
fn a_text_can_be_asked_to_be_something_else_as_well() {
    let column = column(Type::Integer, Some("text"), true);
    check(&Store::of(&column, "text", &utc()), &[("007", "303037"), ("x", "[type]")]);
}

#[test]
fn rewritten_values_do_not_compare() {
    for (declared, compares) in [
        ("integer", true),
        ("jsonb", false),
        ("jsonb[]", false),
        ("character(3)", true),
        ("text[]", true),
    ] {
        assert_eq!(existing(declared).compares(), compares, "{declared}");
    }
}

#[test]
fn nothing_takes_a_gigabyte() {
    let value = vec![b' '; VALUE_LEN_MAX + 1];
    let mut out = Vec::new();
    assert_eq!(
        existing("text").encode(&value, &mut out).map_err(|(code, _)| code),
        Err(Code::TooLong)
    );
    assert!(out.is_empty());
}
