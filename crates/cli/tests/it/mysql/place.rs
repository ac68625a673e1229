use super::server::{Rows, Server, for_each_server};
use crate::contract::Place;
use crate::fixture::Fixture;

impl Place for Server {
    const TARGET: &'static str = "mysql";
    /// One that only MariaDB has, and those for tables without transactions.
    const SPECIAL: &'static [&'static str] =
        &["mysql/bulk", "mysql/csv-file", "mysql/convert", "mysql/insert-delayed"];

    fn for_each(test: impl Fn(&Self)) {
        for_each_server(test);
    }

    fn files(&self) -> &Fixture {
        self
    }

    fn url(&self) -> String {
        Self::url(self)
    }

    fn rows(&self, columns: &[&str]) -> Option<Rows> {
        let is_there = self.tables().iter().any(|name| name == self.table());
        is_there.then(|| {
            let columns: Vec<String> = columns.iter().map(|name| format!("`{name}`")).collect();
            self.query(&format!("SELECT {} FROM {}", columns.join(", "), self.table()))
        })
    }
}
