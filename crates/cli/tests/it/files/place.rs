use std::marker::PhantomData;

use serde_json::Value as Json;

use crate::contract::{Place, Traits, records};
use crate::fixture::{Fixture, json_lines};
use crate::servers::Rows;

/// A format that a file may have.
pub(crate) trait Format {
    /// The target as a user writes it; the file is [`NAME`].
    const URL: &'static str;

    /// The strategies of the other formats.
    const OTHERS: &'static [&'static str];

    /// Whether a value is its text, whatever its column's type.
    const IS_TEXT: bool = false;

    /// What is in the file; the columns have to be these.
    fn rows(files: &Fixture, columns: &[&str]) -> Rows;
}

/// A file in a directory of the test's own.
pub(crate) struct File<F>(Fixture, PhantomData<F>);

const NAME: &str = "out";

impl<F: Format> Place for File<F> {
    const TRAITS: Traits =
        Traits { special: F::OTHERS, has_keys: false, is_text: F::IS_TEXT, ..Traits::of("files") };

    fn for_each(test: impl Fn(&Self)) {
        test(&Self(Fixture::new(), PhantomData));
    }

    fn files(&self) -> &Fixture {
        &self.0
    }

    fn url(&self) -> String {
        F::URL.to_owned()
    }

    fn rows(&self, columns: &[&str]) -> Option<Rows> {
        self.0.path(NAME).exists().then(|| F::rows(&self.0, columns))
    }

    fn leaves_as_it_was<T: std::fmt::Debug>(&self, _: &[&str], work: impl FnOnce() -> T) -> T {
        self.0.leaves_all(work)
    }
}

fn text(files: &Fixture) -> String {
    String::from_utf8(files.read(NAME)).unwrap()
}

pub(crate) struct Csv;

impl Format for Csv {
    const URL: &'static str = "csv:out";
    const OTHERS: &'static [&'static str] = &["files/jsonl", "files/parquet", "files/arrow"];
    const IS_TEXT: bool = true;

    fn rows(files: &Fixture, columns: &[&str]) -> Rows {
        let mut rows = records(&text(files));
        let header: Vec<String> = rows.remove(0).into_iter().flatten().collect();
        assert_eq!(header, columns);
        rows
    }
}

pub(crate) struct JsonLines;

impl Format for JsonLines {
    const URL: &'static str = "jsonl:out";
    const OTHERS: &'static [&'static str] = &["files/csv", "files/parquet", "files/arrow"];

    fn rows(files: &Fixture, columns: &[&str]) -> Rows {
        let value = |value: &Json| match value {
            Json::Null => None,
            Json::String(text) => Some(text.clone()),
            other => Some(other.to_string()),
        };
        let row = |row: Json| {
            assert_eq!(row.as_object().unwrap().len(), columns.len());
            columns.iter().map(|name| value(row.get(name).expect("a field"))).collect()
        };
        json_lines(text(files).as_bytes()).into_iter().map(row).collect()
    }
}

/// A moment that is so many nanoseconds after 1970-01-01.
#[cfg(feature = "parquet")]
fn moment(nanos: i64) -> String {
    let (seconds, nanos) = (nanos.div_euclid(1_000_000_000), nanos.rem_euclid(1_000_000_000));
    let (day, second) = (seconds.div_euclid(86_400), seconds.rem_euclid(86_400));
    let day = crate::contract::date(day + crate::contract::days("1970-01-01"));
    format!("{day} {:02}:{:02}:{:02}.{nanos:09}", second / 3600, second / 60 % 60, second % 60)
}

#[cfg(feature = "parquet")]
pub(crate) struct Parquet;

#[cfg(feature = "parquet")]
impl Format for Parquet {
    const URL: &'static str = "parquet:out";
    const OTHERS: &'static [&'static str] = &["files/csv", "files/jsonl", "files/arrow"];

    fn rows(files: &Fixture, columns: &[&str]) -> Rows {
        use parquet::record::Field;
        let value = |field: Field| match field {
            Field::Null => None,
            Field::Str(text) => Some(text),
            Field::Bytes(bytes) => Some(String::from_utf8(bytes.data().to_vec()).unwrap()),
            Field::Double(number) => Some(number.to_string()),
            other => Some(other.to_string()),
        };
        // That reader has no moments of nanoseconds.
        let fine = super::parquet::nanosecond_columns(files, NAME);
        let row = |row: Vec<Field>| {
            assert_eq!(row.len(), columns.len());
            let cell = |(field, fine)| match (field, fine) {
                (Field::Long(nanos), true) => Some(moment(nanos)),
                (field, _) => value(field),
            };
            row.into_iter().zip(&fine).map(|(field, fine)| cell((field, *fine))).collect()
        };
        super::parquet::rows(files, NAME).into_iter().map(row).collect()
    }
}
