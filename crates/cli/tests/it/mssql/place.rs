use std::sync::atomic::{AtomicU32, Ordering::Relaxed};

use super::double::{Column, Double};
use super::server::named;
use super::tds::Value;
use crate::contract::{Place, Traits, date, select};
use crate::fixture::Fixture;
use crate::servers::{Rows, ask, console};

/// A double, or the server that `INRUSH_TEST_MSSQL` names, and a table of the test's own.
pub(crate) struct Server {
    files: Fixture,
    end: End,
}

enum End {
    Double(Double),
    Real { url: String, table: String },
}

impl Place for Server {
    const TRAITS: Traits = Traits::of("mssql");

    fn for_each(test: impl Fn(&Self)) {
        static COUNT: AtomicU32 = AtomicU32::new(0);
        test(&Self { files: Fixture::new(), end: End::Double(Double::start()) });
        if let Some(url) = named() {
            let table =
                format!("inrush_test_{}_{}", std::process::id(), COUNT.fetch_add(1, Relaxed));
            test(&Self { files: Fixture::new(), end: End::Real { url, table } });
        }
    }

    fn files(&self) -> &Fixture {
        &self.files
    }

    fn url(&self) -> String {
        match &self.end {
            End::Double(double) => double.url(),
            End::Real { url, .. } => url.clone(),
        }
    }

    fn table(&self) -> &str {
        match &self.end {
            End::Double(_) => "t",
            End::Real { table, .. } => table,
        }
    }

    fn rows(&self, columns: &[&str]) -> Option<Rows> {
        match &self.end {
            End::Double(double) => {
                let state = double.state();
                let table = state.table.as_ref()?;
                let names: Vec<&str> = table.columns.iter().map(|it| it.name.as_str()).collect();
                assert_eq!(names, columns);
                let shown = |row: &Vec<Value>| {
                    row.iter()
                        .zip(&table.columns)
                        .map(|(value, column)| text(value, column))
                        .collect()
                };
                Some(table.rows.iter().map(shown).collect())
            }
            End::Real { url, table } => {
                console(url).unwrap().value(&format!("SELECT OBJECT_ID(N'{table}')")).unwrap()?;
                Some(ask(url, &select(table, columns, |name| format!("[{name}]"))))
            }
        }
    }
}

impl Drop for Server {
    fn drop(&mut self) {
        if let End::Real { url, table } = &self.end {
            let drop = format!("DROP TABLE IF EXISTS [{table}]");
            let done = console(url).and_then(|mut console| console.execute(&drop));
            assert!(done.is_ok() || std::thread::panicking(), "{drop} failed");
        }
    }
}

/// A value of the types that a load makes columns of, as ISO 8601 and JSON write it.
fn text(value: &Value, column: &Column) -> Option<String> {
    let scale = || {
        let inner = column.ty.trim_end_matches(')').rsplit(['(', ',']).next();
        inner.unwrap().trim().parse::<usize>().expect("a scale")
    };
    Some(match value {
        Value::Null => return None,
        Value::Integer(number) => number.to_string(),
        Value::Float(number) => number.to_string(),
        Value::Decimal(units) => {
            let (sign, units) = (if *units < 0 { "-" } else { "" }, units.unsigned_abs());
            let digits = format!("{units:0>width$}", width = scale() + 1);
            let (whole, fraction) = digits.split_at(digits.len() - scale());
            format!("{sign}{whole}.{fraction}")
        }
        Value::Text(text) => text.clone(),
        Value::Bytes(bytes) => bytes.escape_ascii().to_string(),
        Value::Date(days) => date(*days),
        Value::Moment(days, units) => format!("{} {}", date(*days), clock(*units, scale())),
        Value::Offset(days, units, _) => format!("{} {}Z", date(*days), clock(*units, scale())),
        Value::Time(units) => clock(*units, scale()),
        Value::Guid(bytes) => uuid(bytes),
        other => panic!("no load makes a column for {other:?}"),
    })
}

fn uuid(bytes: &[u8; 16]) -> String {
    let digits: String = bytes.iter().map(|byte| format!("{byte:02x}")).collect();
    [&digits[..8], &digits[8..12], &digits[12..16], &digits[16..20], &digits[20..]].join("-")
}

fn clock(units: u64, scale: usize) -> String {
    let second = 10_u64.pow(scale as u32);
    let (all, fraction) = (units / second, units % second);
    let (minutes, seconds) = (all / 60, all % 60);
    format!("{:02}:{:02}:{seconds:02}.{fraction:0>scale$}", minutes / 60, minutes % 60)
}
