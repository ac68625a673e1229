use super::*;
use inrush_core::Basis;

fn column(declared: Option<&str>, ty: Type, pinned: bool) -> Column {
    Column {
        name: "c".to_owned(),
        ty,
        declared: declared.map(str::to_owned),
        basis: if pinned { Basis::Declared } else { Basis::Inferred },
        required: false,
    }
}

/// What an existing column makes of a value: as a literal, and why not.
fn kept(declared: &str, value: &str) -> Result<String, (Code, String)> {
    let store = Store::of(&column(Some(declared), Type::Text, true), declared);
    let mut written = Vec::new();
    let kept = store
        .keep(value.as_bytes(), &mut written)
        .map_err(|(code, wanted)| (code, wanted.to_owned()))?;
    let bytes = if kept == Kept::AsIs { value.as_bytes() } else { &written };
    let mut literal = Vec::new();
    store.literal(kept, bytes, &mut literal);
    Ok(String::from_utf8(literal).unwrap())
}

#[test]
fn each_type_keeps_what_it_can_show_again() {
    let cases: [(&str, &str, &str); 34] = [
        ("bit", "yes", "1"),
        ("tinyint", "255", "255"),
        ("smallint", "-32768", "-32768"),
        ("int", "2147483647", "2147483647"),
        ("bigint", "-9223372036854775808", "-9223372036854775808"),
        ("int", "1.0", "1"),
        ("decimal(10,2)", "-1.5", "-1.50"),
        (
            "numeric(38,0)",
            "99999999999999999999999999999999999999",
            "99999999999999999999999999999999999999",
        ),
        ("decimal(38,38)", "0.1", "0.10000000000000000000000000000000000000"),
        ("money", "922337203685477.5807", "922337203685477.5807"),
        ("smallmoney", "-214748.3648", "-214748.3648"),
        ("float", "1.5", "1.5e0"),
        ("float", "1.7976931348623157e308", "1.7976931348623157e308"),
        ("real", "0.1", "1.0000000149011612e-1"),
        ("date", "0001-01-01", "'0001-01-01'"),
        ("date", "9999-12-31", "'9999-12-31'"),
        ("time(3)", "23:59:59.120", "'23:59:59.120'"),
        ("time(7)", "00:00", "'00:00:00.0000000'"),
        ("datetime2(0)", "2024-02-29 12:00", "'2024-02-29T12:00:00'"),
        ("datetime2(7)", "0001-01-01 00:00:00.0000001", "'0001-01-01T00:00:00.0000001'"),
        ("datetime", "1753-01-01 00:00:00.003", "'1753-01-01T00:00:00.003'"),
        ("datetime", "9999-12-31 23:59:59.997", "'9999-12-31T23:59:59.997'"),
        ("smalldatetime", "2079-06-06 23:59", "'2079-06-06T23:59:00'"),
        ("datetimeoffset(7)", "2024-01-01T00:30:00+02:00", "'2024-01-01T00:30:00.0000000+02:00'"),
        ("datetimeoffset(0)", "2024-01-01 00:30 -03:30", "'2024-01-01T00:30:00-03:30'"),
        ("nvarchar(5)", "it's", "N'it''s'"),
        ("nvarchar(2)", "\u{1f600}", "N'\u{1f600}'"),
        ("nchar(3)", "a", "N'a  '"),
        ("varchar(3) code page 1252", "\u{20ac}\u{e9}", "N'\u{20ac}\u{e9}'"),
        ("char(3) code page 1252", "\u{e9}", "N'\u{e9}  '"),
        ("varbinary(3)", "0x01FF", "0x01ff"),
        ("binary(2)", "0x0000", "0x0000"),
        ("varbinary(max)", "0x", "0x"),
        (
            "uniqueidentifier",
            "6F9619FF-8B86-D011-B42D-00C04FC964FF",
            "'6f9619ff-8b86-d011-b42d-00c04fc964ff'",
        ),
    ];
    for (declared, value, literal) in cases {
        assert_eq!(kept(declared, value).as_deref(), Ok(literal), "{declared} {value}");
    }
}

#[test]
fn what_would_change_is_refused() {
    let cases = [
        ("bit", "2", Code::Type),
        ("tinyint", "-1", Code::Range),
        ("tinyint", "256", Code::Range),
        ("int", "2147483648", Code::Range),
        ("bigint", "9223372036854775808", Code::Range),
        ("int", "1.5", Code::Type),
        ("decimal(10,2)", "1.005", Code::Range),
        ("decimal(3,2)", "10", Code::Range),
        ("money", "1.00001", Code::Range),
        ("money", "922337203685477.5808", Code::Range),
        ("smallmoney", "214748.3648", Code::Range),
        ("float", "1e309", Code::Range),
        ("float", "9007199254740993", Code::Range),
        ("real", "16777217", Code::Range),
        ("date", "2023-02-29", Code::Type),
        ("date", "2023-02-28 10:00", Code::Type),
        ("time(3)", "10:00:00.0001", Code::Range),
        ("time(0)", "24:00:00", Code::Type),
        ("datetime2(0)", "2024-01-01 00:00:00.5", Code::Range),
        ("datetime2(7)", "2024-01-01 00:00:00+00:00", Code::Type),
        ("datetime", "2024-01-01 00:00:00.001", Code::Range),
        ("datetime", "1752-12-31", Code::Range),
        ("smalldatetime", "2024-01-01 00:00:30", Code::Range),
        ("smalldatetime", "2079-06-07", Code::Range),
        ("datetimeoffset(7)", "2024-01-01 00:00:00", Code::Type),
        ("datetimeoffset(7)", "0001-01-01 00:00:00+01:00", Code::Range),
        ("nvarchar(1)", "\u{1f600}", Code::TooLong),
        ("varchar(2) code page 1252", "abc", Code::TooLong),
        ("varchar(9) code page 1252", "\u{142}", Code::Type),
        ("varchar(2) code page 65001", "\u{20ac}", Code::TooLong),
        ("varchar(9) code page 932", "\u{3042}", Code::Type),
        ("varbinary(1)", "0x0102", Code::TooLong),
        ("varbinary(1)", "ab", Code::Type),
        ("binary(2)", "0x01", Code::Type),
        ("uniqueidentifier", "nothing", Code::Type),
        ("json", "{", Code::Type),
    ];
    for (declared, value, code) in cases {
        assert_eq!(
            kept(declared, value).map_err(|(code, _)| code),
            Err(code),
            "{declared} {value}"
        );
    }
}

#[test]
fn a_literal_is_the_text_whatever_is_in_it() {
    assert_eq!(kept("nvarchar(max)", "a\\b").unwrap(), "N'a\\b'");
    assert_eq!(
        kept("nvarchar(max)", "a\\\nb").unwrap(),
        "CONVERT(nvarchar(max),N'')+N'a\\'+N'\nb'"
    );
    assert_eq!(
        kept("nvarchar(max)", "\\\r\n\0'").unwrap(),
        "CONVERT(nvarchar(max),N'')+N'\\'+N'\r\n'+NCHAR(0)+N''''"
    );
    assert_eq!(kept("nvarchar(max)", "").unwrap(), "N''");
}

#[test]
fn a_guess_holds_only_for_what_stays_as_it_is_written() {
    let holds = |ty, value: &str| {
        let store = Store::of(&column(None, ty, false), &declared::spell(ty));
        store.keep(value.as_bytes(), &mut Vec::new()).is_ok()
    };
    assert!(
        holds(Type::Integer, "-5") && !holds(Type::Integer, "007") && !holds(Type::Integer, "1.0")
    );
    assert!(holds(Type::Boolean, "true") && !holds(Type::Boolean, "1"));
    assert!(holds(Type::Float, "0.1") && !holds(Type::Float, "0.10000000000000000001"));
    let decimal = Type::Decimal { precision: 5, scale: 2 };
    assert!(holds(decimal, "1.5") && !holds(decimal, "1.555") && !holds(decimal, "-0.00"));
    let plain = Type::Timestamp { zone: false };
    assert!(holds(plain, "2024-01-01 00:00:00") && !holds(plain, "2024-01-01"));
    let zoned = Type::Timestamp { zone: true };
    assert!(holds(zoned, "2024-01-01 00:00:00Z") && !holds(zoned, "2024-01-01 00:00:00"));
    assert!(holds(Type::Json, "[1]") && !holds(Type::Json, "["));
}

#[test]
fn what_is_sent_is_what_sums_are_taken_of() {
    let cases = [
        ("bit", "1"),
        ("tinyint", "7"),
        ("bigint", "-7"),
        ("decimal(10,2)", "-1.5"),
        ("float", "0.1"),
        ("real", "0.1"),
        ("date", "2024-02-29"),
        ("time(3)", "01:02:03.004"),
        ("datetime2(4)", "2024-02-29 01:02:03.0004"),
        ("datetime", "1753-02-01 01:02:03.007"),
        ("smalldatetime", "1999-02-01 01:02"),
        ("datetimeoffset(7)", "2024-02-29 01:02:03-01:30"),
        ("nvarchar(9)", "abc"),
        ("varbinary(9)", "0x0102"),
        ("uniqueidentifier", "6F9619FF-8B86-D011-B42D-00C04FC964FF"),
    ];
    for (declared, value) in cases {
        let store = Store::of(&column(Some(declared), Type::Text, true), declared);
        let mut written = Vec::new();
        let kept = store.keep(value.as_bytes(), &mut written).unwrap();
        let bytes = if kept == Kept::AsIs { value.as_bytes() } else { &written };
        let (cell, sent) = match kept {
            Kept::Integer(number) => (Cell::Integer(number), Stored::Integer(number)),
            Kept::Real(number) => (Cell::Real(number), Stored::Real(number)),
            _ if store.is_text() => {
                (Cell::Text(inrush_core::flow::Home::Wire, NOWHERE), Stored::Text(bytes))
            }
            _ => (Cell::Bytes(inrush_core::flow::Home::Wire, NOWHERE), Stored::Bytes(bytes)),
        };
        let data = store.data(cell, bytes).unwrap();
        let mut memory = Vec::new();
        assert_eq!(store.stored(&data, &mut memory), sent, "{declared}");
        let null = store.data(Cell::Null, b"").unwrap();
        assert_eq!(store.stored(&null, &mut memory), Stored::Null, "{declared}");
    }
}

const NOWHERE: inrush_core::flow::Span = inrush_core::flow::Span { at: 0, len: 0 };

#[test]
fn bulk_takes_what_the_driver_declares_as_it_sends_it() {
    let takes = |declared: &str| {
        Store::of(&column(Some(declared), Type::Text, true), declared).not_bulk().is_none()
    };
    for declared in [
        "bigint",
        "nvarchar(max)",
        "nvarchar(2000)",
        "datetime2(3)",
        "time(7)",
        "varchar(9) code page 1252",
    ] {
        assert!(takes(declared), "{declared}");
    }
    for declared in [
        "nvarchar(2001)",
        "nchar(2001)",
        "time(3)",
        "datetimeoffset(3)",
        "smalldatetime",
        "varchar(9) code page 65001",
        "ntext",
        "geography",
        "xml",
        "json",
    ] {
        assert!(!takes(declared), "{declared}");
    }
}
