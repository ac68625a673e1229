use super::double::{DAYS_TO_1900, Double, Table, clock};
use super::tds::Value;
use super::{STRATEGIES, int, load, text};
use crate::contract::days;
use crate::fixture::Fixture;

/// Of a type: how the column is declared, a value in the file, and what arrives. Not all types go with INSERT BULK.
fn cases() -> Vec<(&'static str, &'static str, Value, bool)> {
    let moment = |day: &str, time: &str, scale| Value::Moment(days(day), clock(time, scale));
    let utf = "\u{1f600} \u{e9}";
    vec![
        ("bit", "true", int(1), true),
        ("tinyint", "255", int(255), true),
        ("tinyint", "0", int(0), true),
        ("smallint", "-32768", int(-32_768), true),
        ("int", "-2147483648", int(i32::MIN.into()), true),
        ("bigint", "9223372036854775807", int(i64::MAX), true),
        ("bigint", "-9223372036854775808", int(i64::MIN), true),
        ("decimal(9,2)", "-1234567.89", Value::Decimal(-123_456_789), true),
        ("decimal(19,0)", "9999999999999999999", Value::Decimal(9_999_999_999_999_999_999), true),
        ("numeric(28,10)", "0.0000000001", Value::Decimal(1), true),
        (
            "decimal(38,37)",
            "-9.9999999999999999999999999999999999999",
            Value::Decimal(1 - 10_i128.pow(38)),
            true,
        ),
        ("money", "922337203685477.5807", int(i64::MAX), true),
        ("money", "-0.0001", int(-1), true),
        ("smallmoney", "-214748.3648", int(i32::MIN.into()), true),
        ("real", "0.1", Value::Float(f64::from(0.1_f32)), true),
        ("float", "-1.7976931348623157e308", Value::Float(f64::MIN), true),
        ("float", "2.2250738585072014e-308", Value::Float(f64::MIN_POSITIVE), true),
        ("date", "0001-01-01", Value::Date(0), true),
        ("date", "9999-12-31", Value::Date(days("9999-12-31")), true),
        ("time(7)", "23:59:59.9999999", Value::Time(863_999_999_999), true),
        ("time(0)", "23:59:59", Value::Time(86_399), false),
        ("datetime2(0)", "2024-02-29 12:30:01", moment("2024-02-29", "12:30:01", 0), true),
        ("datetime2(3)", "2024-02-29 12:30:01.5", moment("2024-02-29", "12:30:01.5", 3), true),
        (
            "datetime2(7)",
            "9999-12-31 23:59:59.9999999",
            moment("9999-12-31", "23:59:59.9999999", 7),
            true,
        ),
        ("datetime", "1753-01-01 00:00:00.003", Value::DateTime(-53_690, 1), true),
        (
            "datetime",
            "9999-12-31 23:59:59.997",
            Value::DateTime((days("9999-12-31") - DAYS_TO_1900) as i32, 25_919_999),
            true,
        ),
        ("smalldatetime", "2079-06-06 23:59", Value::SmallDateTime(65_535, 1439), false),
        (
            "datetimeoffset(7)",
            "2024-01-01 00:30:00+02:00",
            Value::Offset(days("2023-12-31"), clock("22:30:00", 7), 120),
            true,
        ),
        (
            "datetimeoffset(2)",
            "2024-01-01 00:30:00.25 -03:30",
            Value::Offset(days("2024-01-01"), clock("04:00:00.25", 2), -210),
            false,
        ),
        ("nvarchar(9)", utf, text(utf), true),
        ("nvarchar(max)", utf, text(utf), true),
        ("nvarchar(2001)", utf, text(utf), false),
        ("nchar(3)", "a", text("a  "), true),
        ("varchar(9)", "\u{20ac}\u{e9}", text("\u{20ac}\u{e9}"), true),
        ("char(3)", "\u{e9}", text("\u{e9}  "), true),
        ("varbinary(4)", "0x00ff", Value::Bytes(vec![0, 255]), true),
        ("varbinary(max)", "0x", Value::Bytes(Vec::new()), true),
        ("binary(2)", "0x0102", Value::Bytes(vec![1, 2]), true),
        (
            "uniqueidentifier",
            "00112233-4455-6677-8899-aabbccddeeff",
            Value::Guid(std::array::from_fn(|at| at as u8 * 0x11)),
            true,
        ),
        ("xml", "<a>\u{e9}</a>", text("<a>\u{e9}</a>"), false),
    ]
}

#[test]
fn every_type_keeps_its_values_and_null() {
    for strategy in STRATEGIES {
        let by = |case: &(_, _, _, bool)| strategy != "bulk" || case.3;
        let cases: Vec<_> = cases().into_iter().filter(by).collect();
        let list = |text: &dyn Fn(usize) -> String| (0..cases.len()).map(text).collect::<String>();
        // Columns that take NULL are other types on the wire than those that don't.
        for null in ["", " NOT NULL"] {
            let declared = list(&|n| format!(";v{n} {}{null}", cases[n].0));
            let double = Double::with(Table::new("t", &format!("id int NOT NULL{declared}")));
            let header = list(&|n| format!(",v{n}"));
            let values = list(&|n| format!(",{}", cases[n].1));
            let mut file = format!("id{header}\n1{values}\n");
            let mut rows = vec![vec![int(1)]];
            rows[0].extend(cases.iter().map(|(_, _, wanted, _)| wanted.clone()));
            if null.is_empty() {
                file += &format!("2{}\n", ",".repeat(cases.len()));
                rows.push(vec![int(2)]);
                rows[1].resize(1 + cases.len(), Value::Null);
            }
            let options = ["--strategy", strategy, "--verify", "checksum"];
            load(&Fixture::new(), &double, &file, &options).exits(0);
            for (row, (found, wanted)) in double.rows().iter().zip(&rows).enumerate() {
                assert_eq!(found[0], wanted[0]);
                for (at, (ty, written, ..)) in (1..).zip(&cases) {
                    let what = format!("{strategy} {ty}{null} {written}, row {row}");
                    assert_eq!(found[at], wanted[at], "{what}");
                }
            }
            assert_eq!(double.rows().len(), rows.len());
        }
    }
}

#[test]
fn what_bulk_cannot_send_goes_another_way_and_the_plan_says_why() {
    let fixture = Fixture::new();
    for (ty, _, _, _) in cases().into_iter().filter(|(_, _, _, is_bulk)| !is_bulk) {
        let double = Double::with(Table::new("t", &format!("id int NOT NULL;v {ty}")));
        fixture.write("t.csv", "id,v\n1,\n");
        let url = double.url();
        fixture.inrush(&["plan", "t.csv", &url]).exits(0).prints(&["mssql/values", "INSERT BULK"]);
        load(&fixture, &double, "id,v\n1,\n", &["--strategy", "bulk"]).exits(2);
    }
}

/// Values that are easily changed on their way into SQL text.
const NASTY: [&str; 10] = [
    "it's",
    "quote \" comma , semicolon ; newline\nreturn\r\n",
    "",
    " leading and trailing ",
    "backslash \\\nbefore a line end \\\r\n and \\ alone \\",
    "'); DROP TABLE t; --",
    "\u{1f600} \u{e9}\u{301} \u{202e}\u{2028}",
    "NUL \0 in the middle, and \\\n\0'",
    "NULL",
    "N'x' + $(var) /* */ [a]]b]",
];

#[test]
fn any_text_arrives_as_it_is() {
    for strategy in STRATEGIES {
        let double = Double::start();
        let quoted = NASTY
            .iter()
            .enumerate()
            .map(|(id, text)| format!("{id},\"{}\"\n", text.replace('"', "\"\"")));
        let file = format!("id,text\n{}99,\n", quoted.collect::<String>());
        let options = ["--strategy", strategy, "--verify", "checksum"];
        load(&Fixture::new(), &double, &file, &options).exits(0);
        let mut rows: Vec<Vec<Value>> =
            NASTY.iter().enumerate().map(|(id, value)| vec![int(id as i64), text(value)]).collect();
        rows.push(vec![int(99), Value::Null]);
        assert_eq!(double.rows(), rows, "{strategy}");
    }
}

#[test]
fn a_new_table_has_the_types_of_the_values() {
    let file = "id,whole,real,exact,truth,day,at,zoned,text\n\
        1,-7,1e-5,12.340,true,2024-02-29,2024-02-29 01:02:03.4,2024-02-29T01:02:03+02:00,a\n\
        2,8,2.5,0.5,false,0001-01-01,1999-12-31 23:59:59,2024-02-29T01:02:03Z,\n";
    for strategy in STRATEGIES {
        let double = Double::start();
        let options = ["--strategy", strategy, "--primary-key", "id", "--verify", "checksum"];
        load(&Fixture::new(), &double, file, &options).exits(0);
        let state = double.state();
        let table = state.table.as_ref().unwrap();
        let types: Vec<&str> = table.columns.iter().map(|column| column.ty.as_str()).collect();
        assert_eq!(types[..3], ["bigint", "bigint", "float(53)"]);
        assert!(types[3].starts_with("decimal("), "{types:?}");
        assert_eq!(
            types[4..],
            ["bit", "date", "datetime2(7)", "datetimeoffset(7)", "nvarchar(max)"]
        );
        assert!(!table.columns[0].nullable && table.columns[1].nullable);
        assert_eq!(table.key, [0]);
        let offset = Value::Offset(days("2024-02-28"), clock("23:02:03", 7), 120);
        assert_eq!(table.rows[0][7], offset);
        assert_eq!(table.rows[0][6], Value::Moment(days("2024-02-29"), clock("01:02:03.4", 7)));
        assert_eq!(table.rows[1][4..6], [int(0), Value::Date(0)]);
    }
}

#[test]
fn wide_rows_long_values_and_many_rows_arrive() {
    for strategy in STRATEGIES {
        let names: Vec<String> = (0..300).map(|column| format!("c{column}")).collect();
        let row: Vec<String> = (0..300).map(|column| format!("value {column}")).collect();
        let double = Double::start();
        let file = format!("{}\n{}\n", names.join(","), row.join(","));
        load(&Fixture::new(), &double, &file, &["--strategy", strategy]).exits(0);
        assert_eq!(double.rows(), [row.iter().map(|value| text(value)).collect::<Vec<_>>()]);
        // Longer than any packet, and than what is cut off at 8000 bytes.
        let long = "x\u{e9}".repeat(60_000);
        let double = Double::start();
        let options = ["--strategy", strategy, "--verify", "checksum"];
        let file = format!("a,b\n1,x\n2,{long}\n3,{long}\n4,y\n");
        load(&Fixture::new(), &double, &file, &options).exits(0);
        let wanted = [(1, "x"), (2, &long), (3, &long), (4, "y")];
        assert!(
            double.rows() == wanted.map(|(id, value)| vec![int(id), text(value)]),
            "{strategy}"
        );
        let count = if strategy == "row-sql" { 500 } else { 10_000 };
        let rows: String = (0..count).map(|id| format!("{id},name of {id}\n")).collect();
        let double = Double::start();
        let report = load(
            &Fixture::new(),
            &double,
            &format!("id,name\n{rows}"),
            &[&options[..], &["--json", "--chunk-size", "64k"]].concat(),
        )
        .exits(0)
        .json();
        assert_eq!(report["rows_loaded"], count);
        let wanted: Vec<Vec<Value>> =
            (0..count).map(|id| vec![int(id), text(&format!("name of {id}"))]).collect();
        assert!(double.rows() == wanted, "{strategy}");
    }
}

#[test]
fn no_rows_are_a_table_without_rows() {
    for strategy in STRATEGIES {
        let double = Double::start();
        load(&Fixture::new(), &double, "id,name\n", &["--strategy", strategy]).exits(0);
        assert_eq!(double.state().table.as_ref().unwrap().columns.len(), 2);
        assert!(double.rows().is_empty());
    }
}

#[test]
fn a_type_that_a_later_row_disproves_is_widened() {
    for strategy in STRATEGIES {
        let rows: String = (0..20_000).map(|id| format!("{id},{id}\n")).collect();
        let file = format!("id,v\n{rows}20000,007\n");
        let double = Double::start();
        let rows = if strategy == "row-sql" { 500 } else { 20_000 };
        let file = if rows == 500 {
            let rows: String = (0..500).map(|id| format!("{id},{id}\n")).collect();
            format!("id,v\n{rows}500,007\n")
        } else {
            file
        };
        load(&Fixture::new(), &double, &file, &["--strategy", strategy]).exits(0);
        assert_eq!(double.rows()[rows], [int(rows as i64), text("007")]);
        assert_eq!(double.rows()[1], [int(1), text("1")]);
    }
}
