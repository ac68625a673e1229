use serde_json::Value as Json;

use crate::contract::{Place, records};
use crate::fixture::{Fixture, json_lines};
use crate::servers::Rows;

/// A file of each format, in a directory of the test's own.
pub(crate) struct Csv(Fixture);
pub(crate) struct JsonLines(Fixture);
#[cfg(feature = "parquet")]
pub(crate) struct Parquet(Fixture);

impl Place for Csv {
    const TARGET: &'static str = "files";
    const SPECIAL: &'static [&'static str] = &["files/jsonl", "files/parquet"];
    const HAS_KEYS: bool = false;

    fn for_each(test: impl Fn(&Self)) {
        test(&Self(Fixture::new()));
    }

    fn files(&self) -> &Fixture {
        &self.0
    }

    fn url(&self) -> String {
        "csv:out".to_owned()
    }

    fn rows(&self, columns: &[&str]) -> Option<Rows> {
        let text = text(&self.0)?;
        let mut rows = records(&text);
        let header: Vec<String> = rows.remove(0).into_iter().flatten().collect();
        assert_eq!(header, columns);
        Some(rows)
    }
}

impl Place for JsonLines {
    const TARGET: &'static str = "files";
    const SPECIAL: &'static [&'static str] = &["files/csv", "files/parquet"];
    const HAS_KEYS: bool = false;

    fn for_each(test: impl Fn(&Self)) {
        test(&Self(Fixture::new()));
    }

    fn files(&self) -> &Fixture {
        &self.0
    }

    fn url(&self) -> String {
        "jsonl:out".to_owned()
    }

    fn rows(&self, columns: &[&str]) -> Option<Rows> {
        let value = |value: &Json| match value {
            Json::Null => None,
            Json::String(text) => Some(text.clone()),
            other => Some(other.to_string()),
        };
        let row = |row: Json| {
            assert_eq!(row.as_object().unwrap().len(), columns.len());
            columns.iter().map(|name| value(row.get(name).expect("a field"))).collect()
        };
        Some(json_lines(text(&self.0)?.as_bytes()).into_iter().map(row).collect())
    }
}

fn text(files: &Fixture) -> Option<String> {
    files.path("out").exists().then(|| String::from_utf8(files.read("out")).unwrap())
}

#[cfg(feature = "parquet")]
impl Place for Parquet {
    const TARGET: &'static str = "files";
    const SPECIAL: &'static [&'static str] = &["files/csv", "files/jsonl"];
    const HAS_KEYS: bool = false;

    fn for_each(test: impl Fn(&Self)) {
        test(&Self(Fixture::new()));
    }

    fn files(&self) -> &Fixture {
        &self.0
    }

    fn url(&self) -> String {
        "parquet:out".to_owned()
    }

    fn rows(&self, columns: &[&str]) -> Option<Rows> {
        use parquet::record::Field;
        let value = |field: Field| match field {
            Field::Null => None,
            Field::Str(text) => Some(text),
            Field::Bytes(bytes) => Some(String::from_utf8(bytes.data().to_vec()).unwrap()),
            Field::Double(number) => Some(number.to_string()),
            other => Some(other.to_string()),
        };
        self.0.path("out").exists().then(|| {
            let row = |row: Vec<Field>| {
                assert_eq!(row.len(), columns.len());
                row.into_iter().map(value).collect()
            };
            super::parquet::rows(&self.0, "out").into_iter().map(row).collect()
        })
    }
}
