use super::fixture;
use crate::contract::{Place, Traits, select};
use crate::fixture::{Fixture, quoted};
use crate::servers::{Rows, answer, console};

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
        let path = self.0.path(NAME);
        if !path.exists() {
            return None;
        }
        // To open a database takes longer than to ask it.
        let mut console = console(&format!("duckdb:{}", path.display())).unwrap();
        let sql = format!("SELECT 1 FROM duckdb_tables() WHERE table_name = '{}'", self.table());
        let is_there = !answer(&mut *console, &sql).is_empty();
        is_there.then(|| answer(&mut *console, &select(self.table(), columns, quoted)))
    }

    fn leaves_as_it_was<T: std::fmt::Debug>(&self, _: &[&str], work: impl FnOnce() -> T) -> T {
        self.0.leaves_all(work)
    }
}
