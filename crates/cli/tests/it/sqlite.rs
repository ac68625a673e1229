use rusqlite::types::Value;

use crate::contract::{Place, Traits, select};
use crate::fixture::{Fixture, quoted};
use crate::servers::Rows;

/// A database in a directory of the test's own.
pub(crate) struct File(Fixture);

const NAME: &str = "t.db";

impl Place for File {
    const TRAITS: Traits =
        Traits { fresh: &["sqlite/pages"], has_steps: true, ..Traits::of("sqlite") };

    fn for_each(test: impl Fn(&Self)) {
        test(&Self(Fixture::new()));
    }

    fn files(&self) -> &Fixture {
        &self.0
    }

    fn url(&self) -> String {
        NAME.to_owned()
    }

    fn rows(&self, columns: &[&str]) -> Option<Rows> {
        let is_there = self.0.path(NAME).exists() && !self.0.columns(NAME, self.table()).is_empty();
        is_there.then(|| {
            let rows = self.0.query(NAME, &select(self.table(), columns, quoted));
            rows.into_iter().map(|row| row.into_iter().map(text).collect()).collect()
        })
    }
}

fn text(value: Value) -> Option<String> {
    Some(match value {
        Value::Null => return None,
        Value::Integer(number) => number.to_string(),
        Value::Real(number) => number.to_string(),
        Value::Text(text) => text,
        Value::Blob(bytes) => format!("{bytes:?}"),
    })
}
