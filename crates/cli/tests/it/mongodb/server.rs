use std::cell::Cell;
use std::collections::BTreeMap;
use std::ops::Deref;
use std::thread::sleep;
use std::time::Duration;

use crate::contract::Traits;
use crate::fixture::{Fixture, wait_until};
use crate::servers::{self, Database, Family, ask, new_database};
pub(crate) use crate::servers::{Rows, rows};

pub(crate) type Server = servers::Server<Mongodb>;

/// A database of the test's own, and files to load.
pub(crate) struct Mongodb {
    fixture: Fixture,
    name: String,
    /// Without a database.
    base: String,
    database: String,
}

impl Deref for Mongodb {
    type Target = Fixture;

    fn deref(&self) -> &Fixture {
        &self.fixture
    }
}

impl Database for Mongodb {
    const FAMILY: Family = Family {
        name: "MongoDB",
        schemes: &["mongodb://"],
        example: "ferretdb-1.24=mongodb://127.0.0.1:27017/",
    };

    const TRAITS: Traits = Traits {
        // FerretDB takes two thousand rows a second.
        slow: true,
        // There is no transaction for so many.
        undoes_appends: false,
        takes_any: true,
        // It is `_id` there.
        with_key: &["--primary-key", "id"],
        // `_id` is every collection's.
        lost: "INDEX ",
        ..Traits::of("mongodb")
    };

    fn make(name: &str, url: &str) -> Self {
        let base = url.trim_end_matches('/').to_owned();
        let (name, database) = (name.to_owned(), new_database());
        Self { fixture: Fixture::new(), name, base, database }
    }

    fn discard(&mut self, quietly: bool) {
        if !quietly {
            self.query("{\"dropDatabase\": 1}");
        }
    }

    fn name(&self) -> &str {
        &self.name
    }

    fn url(&self) -> String {
        format!("{}/{}", self.base, self.database)
    }

    fn query(&self, command: &str) -> Rows {
        ask(&self.url(), command)
    }

    fn tables(&self) -> Vec<String> {
        let listed = self.query("{\"listCollections\": 1, \"nameOnly\": true}");
        let mut names: Vec<String> =
            listed.into_iter().filter_map(|row| row.into_iter().next()?).collect();
        names.sort();
        names
    }

    fn rows(&self, table: &str, columns: &[&str]) -> Rows {
        let mut rows = self.query(&format!(r#"{{"find": "{table}"}}"#));
        if rows.len() < MANY && columns.len() < MANY {
            let columns: Vec<_> = columns.iter().map(|name| self.column(table, name)).collect();
            return (0..rows.len())
                .map(|row| columns.iter().map(|values| values[row].clone()).collect())
                .collect();
        }
        // Before the columns there is an id, where none of them is it.
        rows.iter_mut().for_each(|row| drop(row.drain(..row.len() - columns.len())));
        rows
    }

    fn state(&self) -> servers::State {
        let of = |name: String| {
            let indexes = self.query(&format!("{{\"listIndexes\": \"{name}\"}}"));
            let rows = self.query(&format!("{{\"find\": \"{name}\", \"sort\": {{\"_id\": 1}}}}"));
            (name, (indexes, rows))
        };
        self.tables().into_iter().map(of).collect::<BTreeMap<_, _>>()
    }

    fn connections(&self) -> Vec<String> {
        // FerretDB does not say.
        Vec::new()
    }

    fn settle(&self) {
        // Nor that: what a dead load had sent comes for a while, and recreates what the next load has dropped.
        let rows = || self.tables().iter().map(|name| self.count(name)).sum::<i64>();
        let last = Cell::new((rows(), 0));
        wait_until("no row comes any more", || {
            sleep(Duration::from_millis(50));
            let (before, times) = last.get();
            let now = rows();
            last.set((now, if now == before { times + 1 } else { 0 }));
            last.get().1 >= 6
        });
    }

    fn bring_rows(&self) -> Vec<String> {
        let has_rows = |name: &String| self.count(name) > 0;
        self.tables().into_iter().filter(has_rows).collect()
    }
}

/// From here on it takes too long to ask for each column, and all documents have to have their fields in the columns' order.
const MANY: usize = 100;

impl Mongodb {
    /// Where the server listens.
    pub(crate) fn address(&self) -> &str {
        self.base.rsplit('/').next().expect("a host")
    }

    /// The database, over another address.
    pub(crate) fn url_at(&self, address: &str) -> String {
        format!("mongodb://{address}/{}", self.database)
    }

    /// A field of all documents, by their ids; of a field that none has, the ids.
    pub(crate) fn column(&self, table: &str, name: &str) -> Vec<Option<String>> {
        let find = format!(
            r#"{{"find": "{table}", "sort": {{"_id": 1}}, "projection": {{"_id": 1, "{name}": 1}}}}"#
        );
        let last = |row: Vec<Option<String>>| row.into_iter().next_back().expect("an id");
        self.query(&find).into_iter().map(last).collect()
    }

    /// Documents of a collection.
    pub(crate) fn count(&self, collection: &str) -> i64 {
        let rows = self.query(&format!("{{\"count\": \"{collection}\"}}"));
        rows[0][0].as_ref().unwrap().parse().unwrap()
    }

    /// All documents, by their id; without it where it is one that was made.
    pub(crate) fn documents(&self, collection: &str) -> Rows {
        self.query(&format!("{{\"find\": \"{collection}\", \"sort\": {{\"_id\": 1}}}}"))
    }

    /// Fields of all documents but their ids.
    pub(crate) fn fields(&self, collection: &str) -> Rows {
        let mut rows = self.documents(collection);
        rows.iter_mut().for_each(|row| drop(row.remove(0)));
        rows
    }
}

pub(crate) fn for_each_server(test: impl Fn(&Server)) {
    servers::for_each_server(test);
}

/// Both ways to write.
pub(crate) const STRATEGIES: [&str; 2] = ["mongodb/insert-many", "mongodb/insert-one"];
