use super::{fixture, rows};
use crate::contract::{Place, Traits, select};
use crate::fixture::{Fixture, quoted};
use crate::servers::Rows;

/// A database in a directory of the test's own.
pub(crate) struct File(Fixture);

const NAME: &str = "t.duckdb";

impl Place for File {
    const TRAITS: Traits = Traits {
        // For files that the library reads by itself.
        special: &["duckdb/read-file"],
        has_steps: true,
        ..Traits::of("duckdb")
    };

    fn for_each(test: impl Fn(&Self)) {
        if let Some(files) = fixture() {
            test(&Self(files));
        }
    }

    fn files(&self) -> &Fixture {
        &self.0
    }

    fn url(&self) -> String {
        NAME.to_owned()
    }

    fn rows(&self, columns: &[&str]) -> Option<Rows> {
        let is_there = || {
            let sql =
                format!("SELECT 1 FROM duckdb_tables() WHERE table_name = '{}'", self.table());
            !rows(&self.0, NAME, &sql).is_empty()
        };
        (self.0.path(NAME).exists() && is_there())
            .then(|| rows(&self.0, NAME, &select(self.table(), columns, quoted)))
    }
}
