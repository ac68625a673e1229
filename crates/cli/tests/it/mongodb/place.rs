use super::server::{Rows, Server, for_each_server};
use crate::contract::Place;
use crate::fixture::Fixture;

impl Place for Server {
    const TARGET: &'static str = "mongodb";
    /// There is no transaction for so many.
    const UNDOES_APPENDS: bool = false;
    /// It is `_id` there.
    const WITH_KEY: &'static [&'static str] = &["--primary-key", "id"];

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
            let mut rows = self.query(&format!(r#"{{"find": "{}"}}"#, self.table()));
            if rows.len() < MANY && columns.len() < MANY {
                let columns: Vec<_> = columns.iter().map(|name| self.column(name)).collect();
                return (0..rows.len())
                    .map(|row| columns.iter().map(|values| values[row].clone()).collect())
                    .collect();
            }
            // Before the columns there is an id, where none of them is it.
            rows.iter_mut().for_each(|row| drop(row.drain(..row.len() - columns.len())));
            rows
        })
    }
}

/// From here on it takes too long to ask for each column, and all documents have to have their fields in the columns' order.
const MANY: usize = 100;

impl Server {
    /// A field of all documents, by their ids; of a field that none has, the ids.
    fn column(&self, name: &str) -> Vec<Option<String>> {
        let find = format!(
            r#"{{"find": "{}", "sort": {{"_id": 1}}, "projection": {{"_id": 1, "{name}": 1}}}}"#,
            self.table()
        );
        let last = |row: Vec<Option<String>>| row.into_iter().next_back().expect("an id");
        self.query(&find).into_iter().map(last).collect()
    }
}
