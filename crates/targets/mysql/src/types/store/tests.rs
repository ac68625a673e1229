use super::*;
use inrush_core::Basis;

const MODES: Modes = Modes {
    zero_date: false,
    zero_in_date: false,
    invalid_dates: false,
    zone: SessionZone::Servers,
    last_day: LastDay::OF_31_BITS,
};

fn existing(declared: &str) -> Store {
    with_modes(declared, MODES)
}

fn with_modes(declared: &str, modes: Modes) -> Store {
    of(declared::declared(declared), Some(declared), true, modes)
}

fn made(ty: Type, pinned: bool) -> Store {
    of(ty, None, pinned, MODES)
}

fn of(ty: Type, declared: Option<&str>, pinned: bool, modes: Modes) -> Store {
    let column = Column {
        name: "c".to_owned(),
        ty,
        declared: declared.map(str::to_owned),
        basis: if pinned { Basis::Declared } else { Basis::Inferred },
        required: false,
    };
    let spelled = declared::spell(ty, true, false);
    Store::of(&column, declared.unwrap_or(&spelled), modes).unwrap()
}

/// What becomes of a value: the text that is shown, or the fault's code in brackets.
fn outcome(store: &Store, value: &str) -> String {
    let mut out = Vec::new();
    match store.keep(value.as_bytes(), &mut out) {
        Ok(Kept::AsIs) => value.to_owned(),
        Ok(Kept::Written) => String::from_utf8(out).unwrap(),
        Err((code, _)) => format!("[{code}]"),
    }
}

/// Cases are `value=shown`, or just the value where it is shown as it is, with `|` between.
#[track_caller]
fn check(store: &Store, cases: &str) {
    let pair = |case| str::split_once(case, '=').unwrap_or((case, case));
    check_pairs(store, &cases.split('|').map(pair).collect::<Vec<_>>());
}

#[track_caller]
fn check_pairs(store: &Store, cases: &[(&str, &str)]) {
    for (value, wanted) in cases {
        assert_eq!(outcome(store, value), *wanted, "{value:?} in {store:?}");
    }
}

#[test]
fn what_lacks_digits_for_a_fraction_is_said_to() {
    for (declared, value, words) in [
        ("time", "01:02:03.5", "time (-838:59:59 to 838:59:59), without a fraction of a second"),
        (
            "time(1)",
            "01:02:03.04",
            "time(1) (-838:59:59 to 838:59:59), with 1 digit of a second's fraction",
        ),
        (
            "datetime(3)",
            "2020-01-01 01:02:03.0004",
            "datetime(3), with 3 digits of a second's fraction",
        ),
    ] {
        let store = existing(declared);
        assert_eq!(store.keep(value.as_bytes(), &mut Vec::new()), Err((Code::Range, words)));
    }
}

#[test]
fn integers_have_ranges_to_the_last_number() {
    for (declared, min, below, max, above) in [
        ("tinyint(4)", "-128", "-129", "127", "128"),
        ("tinyint(3) unsigned", "0", "-1", "255", "256"),
        ("smallint", "-32768", "-32769", "32767", "32768"),
        ("mediumint(9)", "-8388608", "-8388609", "8388607", "8388608"),
        ("mediumint unsigned", "0", "-1", "16777215", "16777216"),
        ("int(11)", "-2147483648", "-2147483649", "2147483647", "2147483648"),
        ("int unsigned", "0", "-1", "4294967295", "4294967296"),
        (
            "bigint(20)",
            "-9223372036854775808",
            "-9223372036854775809",
            "9223372036854775807",
            "9223372036854775808",
        ),
        ("bigint(20) unsigned", "0", "-1", "18446744073709551615", "18446744073709551616"),
    ] {
        let store = existing(declared);
        check_pairs(&store, &[(min, min), (max, max), (below, "[range]"), (above, "[range]")]);
    }
}

#[test]
fn integers_are_shown_without_what_means_nothing() {
    check(
        &existing("int(11)"),
        "+7=7|007=7|-0=0|1.00=1|-01.0=-1|1.5=[type]|1.=[type]|.0=[type]|1e3=[type]|=[type]|-=[type]| 1=[type]|\
         0x1=[type]",
    );
    check(&existing("int(5) unsigned zerofill"), "7=00007|00007|123456");
    check(
        &made(Type::Integer, false),
        "-7|+7=[type]|007=[type]|-0=[type]|1.0=[type]|9223372036854775808=[range]",
    );
}

#[test]
fn truths_are_numbers() {
    for declared in ["tinyint(1)", "bit(1)"] {
        check(&existing(declared), "true=1|FALSE=0|1|yes=[type]|=[type]");
    }
    check(&existing("tinyint(1)"), "-5|128=[range]");
    check(&existing("tinyint(4)"), "true=[type]");
    check(&made(Type::Boolean, false), "True=1|1=[type]|t=[type]");
    check(&made(Type::Boolean, true), "0|1|True=1|2=[type]|-1=[type]|1.0=[type]");
    let typed = |number| made(Type::Boolean, true).keep_typed(Typed::Integer(number));
    assert_eq!((typed(1), typed(2)), (Some(Exact::Integer(1)), None));
}

#[test]
fn decimals_lose_no_digit() {
    check(
        &existing("decimal(5,2)"),
        ".5=0.50|5.=5.00|-0.00=0.00|+007.5=7.50|999.99|-999.990=-999.99|1000=[range]|0.001=[range]|1e2=100.00|\
         1e3=[range]|1.5E-1=0.15|1e-3=[range]|0e99999999999999999999=0.00|e1=[type]|1e=[type]|.=[type]|1,5=[type]|\
         NaN=[type]|=[type]",
    );
    check(&existing("decimal(3,3)"), "0.5=0.500|0.500|1=[range]|00.125=0.125");
    check(&existing("decimal(5,2) unsigned"), "-0.0=0.00|-0.01=[range]|-1.00=[range]");
    check(&existing("decimal(5,2) unsigned zerofill"), "1.5=001.50|0=000.00|001.50");
    check_pairs(
        &existing("decimal(65)"),
        &[(&"9".repeat(65), &"9".repeat(65)), (&"9".repeat(66), "[range]")],
    );
    check(
        &made(Type::Decimal { precision: 5, scale: 2 }, false),
        "1.5=1.50|7=7.00|-0.00=[type]|.5=[type]|+1=[type]|1e1=[type]|1.500=[range]",
    );
    check_pairs(
        &made(Type::Decimal { precision: 70, scale: 40 }, true),
        &[("0.5000", "0.5000"), (".5", "[type]"), (&"9".repeat(31), "[range]")],
    );
}

#[test]
fn floats_round_measurements_and_keep_counts() {
    check(
        &existing("double"),
        "1.5|1e308|1e309=[range]|9007199254740993=[range]|9007199254740994|100000000000000000000000=[range]|\
         18446744073709551616|-0.0=-0e0|nan=[type]|inf=[type]|0x1p3=[type]|0.1234567890123456789|\
         0.000000000000000000000000000000000000000001=0.000000000000000000000000000000000000000001e0",
    );
    check(&existing("double unsigned"), "-1.5=[range]|-0.0=0|1.5");
    check(&existing("float"), "16777216|16777217=[range]|16777218|0.1|3.4e38|3.5e38=[range]");
    check(&existing("float(5,2)"), "1.25|1.250|1.255=[range]|999.99|1000=[range]");
    check(&made(Type::Float, false), "1.50|1e5|0.1234567890123456789=[type]|+1=[type]");
}

#[test]
fn bits_are_numbers() {
    check(
        &existing("bit(3)"),
        "7|007=[type]|00000101=[type]|0|00=[type]|8=[range]|b'101'=5|0b0111=7|b'1000'=[range]|b''=[type]|b'2'=[type]|-1=[type]|true=[type]",
    );
    check(&existing("bit(64)"), "18446744073709551615|18446744073709551616=[range]|\u{1}=[type]");
    check(&existing("bit(1)"), "0|1|\0=0|\u{1}=1|\u{2}=[type]|01=[type]|b'1'=1|2=[range]");
}

#[test]
fn days_exist_or_are_allowed() {
    let zero = "0000-00-00";
    check_pairs(
        &existing("date"),
        &[
            ("2012-02-29", "2012-02-29"),
            ("2013-02-29", "[type]"),
            (zero, "[type]"),
            ("0000-01-01", "0000-01-01"),
            ("0000-02-29", "[type]"),
            ("2020-00-01", "[type]"),
            ("20120229", "[type]"),
            ("2012-2-9", "[type]"),
        ],
    );
    let zeros = Modes { zero_date: true, ..MODES };
    check_pairs(&with_modes("date", zeros), &[(zero, zero), ("2020-00-01", "[type]")]);
    check_pairs(
        &with_modes("timestamp", zeros),
        &[(zero, "0000-00-00 00:00:00"), ("0000-00-00 00:00:01", "[type]")],
    );
    let parts = Modes { zero_in_date: true, ..MODES };
    check_pairs(
        &with_modes("date", parts),
        &[(zero, "[type]"), ("2020-00-31", "2020-00-31"), ("2020-01-00", "2020-01-00")],
    );
    check(&with_modes("timestamp", parts), "2020-01-00 00:00:00=[range]");
    let invalid = Modes { invalid_dates: true, ..MODES };
    check(&with_modes("date", invalid), "2013-02-31|2013-02-32=[type]|2013-13-01=[type]");
    check(&of(Type::Date, None, false, invalid), "2013-02-31=[type]");
}

#[test]
fn moments_are_shown_with_all_their_digits() {
    check(
        &existing("datetime"),
        "2012-02-29 10:11:12|2012-02-29T10:11:12=2012-02-29 10:11:12|2012-02-29 10:11=2012-02-29 10:11:00|\
         2012-02-29=2012-02-29 00:00:00|2012-02-29 10:11:12.000=2012-02-29 10:11:12|2012-02-29 10:11:12.5=[range]|\
         2012-02-29 10:11:12Z=[type]|2012-02-29 24:00:00=[type]|2012-02-29 10=[type]|2013-02-29 10:11:12=[type]|\
         =[type]",
    );
    check(
        &existing("datetime(3)"),
        "2012-02-29 10:11:12=2012-02-29 10:11:12.000|2012-02-29 10:11:12.25=2012-02-29 10:11:12.250|\
         2012-02-29 10:11:12.2500000=2012-02-29 10:11:12.250|2012-02-29 10:11:12.2505=[range]|\
         2012-02-29 10:11:12.0000001=[range]",
    );
    check(
        &existing("timestamp"),
        "1970-01-01 00:00:01|1969-12-31 12:00:01|1969-12-30 23:59:59=[range]|1900-01-01 00:00:00=[range]|\
         2038-01-19 17:14:07|2038-01-20 00:00:00=[range]|2038-01-20=[range]|2107-01-01 00:00:00=[range]|\
         2012-02-29 10:11:12+00:00=[type]",
    );
    check(
        &with_modes("timestamp", Modes { last_day: LastDay::OF_32_BITS, ..MODES }),
        "2038-01-20 00:00:00|2106-02-07 20:28:15|2106-02-08 00:00:00=[range]",
    );
    let utc = Modes { zone: SessionZone::Utc, ..MODES };
    check(
        &with_modes("timestamp(6)", utc),
        "2012-02-29T23:30:00-01:00=2012-03-01 00:30:00.000000|2012-02-29 10:11:12=2012-02-29 10:11:12.000000|\
         2012-02-29=2012-02-29 00:00:00.000000|2012-02-29 10:11:12.1234567Z=[range]|2107-01-01 00:00:00Z=[range]|\
         1968-12-31 22:00:00-01:00=[range]|yesterday=[type]",
    );
    check(
        &with_modes("timestamp", Modes { zone: SessionZone::UtcForLoad, ..MODES }),
        "2012-02-29T23:30:00-01:00=2012-03-01 00:30:00|2012-02-29 10:11:12=[type]|2012-02-29=[type]",
    );
    check(&with_modes("datetime", utc), "2012-02-29 10:11:12+00:00=[type]|2012-02-29 10:11:12");
    check(
        &made(Type::Timestamp { zone: false }, false),
        "2012-02-29 10:11:12=2012-02-29 10:11:12.000000|2012-02-29=[type]|2012-02-29 10:11:12Z=[type]|\
         2012-02-29 10:11:12.123456789=[range]",
    );
    check(
        &made(Type::Timestamp { zone: true }, false),
        "2012-02-29T23:30:00-01:00=2012-03-01 00:30:00.000000|2012-02-29 10:11:12.5Z=2012-02-29 10:11:12.500000|\
         2012-02-29 10:11:12=[type]|0001-01-01 00:30:00+01:00=[range]|9999-12-31 23:30:00-01:00=[range]|\
         2012-02-29 10:11:12.1234567Z=[range]",
    );
    check(
        &existing("datetime(6) comment 'UTC'"),
        "2012-02-29T23:30:00-01:00=2012-03-01 00:30:00.000000|2012-02-29 10:11:12=2012-02-29 10:11:12.000000|\
         2012-02-29=2012-02-29 00:00:00.000000|2012-02-29 10:11:12.1234567Z=[range]|yesterday=[type]",
    );
}

#[test]
fn what_the_user_says_of_values_holds_in_an_existing_column_too() {
    let said = |ty, declared: &str, basis| {
        let column = Column {
            name: "c".to_owned(),
            ty,
            declared: Some(declared.to_owned()),
            basis,
            required: false,
        };
        Store::of(&column, declared, MODES).unwrap()
    };
    for basis in [Basis::Asked, Basis::Settled] {
        check(
            &said(Type::Timestamp { zone: true }, "datetime(6) comment 'UTC'", basis),
            "2012-02-29T23:30:00-01:00=2012-03-01 00:30:00.000000|2012-02-29 10:11:12=[type]",
        );
    }
    check(&said(Type::Boolean, "tinyint(1)", Basis::Asked), "true=1|0|1|5=[type]");
    check(&said(Type::Boolean, "tinyint(1)", Basis::Declared), "true=1|0|1|5");
}

#[test]
fn times_and_years() {
    check(
        &existing("time"),
        "10:11=10:11:00|1:02:03=01:02:03|001:02:03=01:02:03|-838:59:59|839:00:00=[range]|-00:00:00=00:00:00|\
         10:11:12.0=10:11:12|10:11:12.5=[range]|10:60:00=[type]|101112=[type]|1 10:11:12=[type]|+10:11=[type]|\
         10:1=[type]",
    );
    check(
        &existing("time(2)"),
        "10:11:12.5=10:11:12.50|-0:00:00.01=-00:00:00.01|838:59:59.5=[range]",
    );
    check(
        &existing("time(2)"),
        "PT48600S=13:30:00.00|PT-93600.5S=-26:00:00.50|PT3020399S=838:59:59.00|PT3020400S=[range]|PT0.005S=[range]|\
         PT99999999999999999999S=[range]|PT-0S=00:00:00.00|PT1H=[type]|PT=[type]|PT1.S=[type]|P1D=[type]",
    );
    check(&existing("year(4)"), "1901|2155|0000|1900=[range]|99=[type]|0=[type]");
}

#[test]
fn texts_fit_by_characters_or_by_bytes() {
    let snow = "\u{2603}";
    check_pairs(
        &existing("varchar(3)"),
        &[
            ("abc", "abc"),
            ("abcd", "[too-long]"),
            (&snow.repeat(3), &snow.repeat(3)),
            (&snow.repeat(4), "[too-long]"),
            ("a  ", "a  "),
        ],
    );
    check(&existing("char(3)"), "abc| ab|a =[type]|");
    check_pairs(
        &existing("tinytext"),
        &[(&snow.repeat(85), &snow.repeat(85)), (&snow.repeat(86), "[too-long]")],
    );
    check_pairs(
        &existing("tinytext character set utf16"),
        &[
            (&"a".repeat(127), &"a".repeat(127)),
            (&"a".repeat(128), "[too-long]"),
            (&"\u{1f600}".repeat(64), "[too-long]"),
        ],
    );
    check(&existing("longtext"), "|a\0b ");
    assert_eq!(
        existing("varchar(20)").keep(&[b'a'; 21], &mut Vec::new()),
        Err((Code::TooLong, "a text of at most 20 characters"))
    );
}

#[test]
fn character_sets_refuse_what_they_have_not() {
    check(&existing("text character set utf8mb3"), "\u{2603}|\u{1f600}=[type]");
    check(&existing("text character set ucs2"), "\u{2603}|\u{1f600}=[type]");
    check(&existing("text character set ascii"), "a|\u{e9}=[type]");
    check(
        &existing("text character set latin1"),
        "\u{e9}\u{20ac}\u{81}|\u{2603}=[type]|\u{80}=[type]",
    );
    check(&existing("text character set cp1251"), "\u{416}|\u{e9}=[type]");
    // The server warns.
    check(&existing("text character set keybcs2"), "\u{2603}");
}

#[test]
fn bytes_are_neither_padded_nor_cut() {
    check(&existing("binary(3)"), "abc|ab=[type]|abcd=[too-long]");
    check(&existing("varbinary(3)"), "|abcd=[too-long]");
    assert_eq!(existing("blob").keep(b"\xff\0", &mut Vec::new()), Ok(Kept::AsIs));
    assert_eq!(existing("varchar(3) character set binary").class(), Class::Bytes);
}

#[test]
fn members_are_named_as_they_are_declared() {
    check(
        &existing("enum('a','B','it''s','1','x\\\\y')"),
        "a|A=a|b=B|it's|x\\y|1|2=[type]|=[type]|a =[type]",
    );
    check(&existing("enum('a','A') collate utf8mb4_bin"), "A|a");
    check(&existing("enum('a') collate utf8mb4_bin"), "A=[type]");
    check(&existing("enum('a','')"), "");
    check(&existing("enum('a','b,c)','d')"), "b,c)|d");
    check(&existing("set('a','B','1')"), "|a|b,a,a=a,B|1,a=a,1|a,=[type]|a, B=[type]|3=[type]");
}

#[test]
fn identifiers_and_documents() {
    let uuid = "123e4567-e89b-12d3-a456-426655440000";
    check_pairs(
        &existing("uuid"),
        &[
            (uuid, uuid),
            (&uuid.to_uppercase(), uuid),
            (&uuid.replace('-', ""), uuid),
            (&uuid[1..], "[type]"),
            ("", "[type]"),
        ],
    );
    check(&existing("inet4"), "1.2.3.4|1.2.3=[type]|256.1.1.1=[type]");
    check(
        &existing("inet6"),
        "::|0:0:0:0:0:0:0:1=::1|ABCD::=abcd::|::ffff:102:304=::ffff:1.2.3.4|::102:304=::1.2.3.4|\
         1:0:2:3:4:5:6:7=1::2:3:4:5:6:7|1:0:0:2:0:0:0:3=1:0:0:2::3|1.2.3.4=[type]",
    );
    check(&existing("json"), "{\"a\": 1}|{a}=[type]|=[type]");
    check(&made(Type::Json, false), "[1]|x=[type]");
}

#[test]
fn a_text_column_is_checked_for_the_type_that_was_asked_for() {
    let store = of(Type::Integer, Some("varchar(3)"), true, MODES);
    check(&store, "007|x=[type]|1000=[too-long]");
    assert_eq!(store.class(), Class::Text);
    // What is a document in a text, the table says.
    check(&of(Type::Json, Some("longtext"), true, MODES), "[1]|1.");
    check(&of(Type::Json, Some("longtext"), false, MODES), "[1]|1.=[type]");
}

#[test]
fn some_types_take_no_text() {
    for declared in ["vector(3)", "year(2)"] {
        let column = Column {
            name: "c".to_owned(),
            ty: Type::Bytes,
            declared: Some(declared.to_owned()),
            basis: Basis::Declared,
            required: false,
        };
        assert!(Store::of(&column, declared, MODES).is_err(), "{declared}");
    }
}

/// What is taken at a glance is what a closer look would say.
#[test]
fn plain_values_are_kept_as_any_value_is() {
    let values = "0 -0 7 -7 +7 007 127 128 -128 1.0 1.5 -1.50 .5 1e5 16777217 9007199254740993 40.2103345 0.00 -0.0 99.99 x";
    for declared in [
        "tinyint(4)",
        "tinyint(1)",
        "bigint(20) unsigned",
        "int(3) zerofill",
        "double",
        "float unsigned",
        "float(3,1)",
        "varchar(3)",
        "char(3)",
    ] {
        let store = existing(declared);
        for value in values.split(' ').chain(["2012-02-29 10:11:12", ""]) {
            let (mut out, mut any) = (Vec::new(), Vec::new());
            let kept = store.keep(value.as_bytes(), &mut out);
            assert_eq!(kept, store.keep_any(value.as_bytes(), &mut any), "{value} in {declared}");
            assert_eq!(out, any);
        }
    }
    for digits in 0..=6 {
        for declared in ["datetime", "timestamp"] {
            let store = existing(&format!("{declared}({digits})"));
            for value in [
                "2012-02-29 10:11:12",
                "2012-02-29T10:11:12",
                "2013-02-29 10:11:12",
                "1968-01-01 00:00:00",
            ] {
                let (mut out, mut any) = (Vec::new(), Vec::new());
                let kept = store.keep(value.as_bytes(), &mut out);
                assert_eq!(
                    kept,
                    store.keep_any(value.as_bytes(), &mut any),
                    "{value} with {digits}"
                );
                assert_eq!(out, any);
            }
        }
    }
}
