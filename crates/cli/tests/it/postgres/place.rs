use super::server::{Rows, Server, for_each_server};
use crate::contract::Place;
use crate::fixture::{Fixture, quoted};

impl Place for Server {
    const TARGET: &'static str = "postgres";

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
            let columns: Vec<String> = columns.iter().map(|name| quoted(name)).collect();
            self.query(&format!("SELECT {} FROM {}", columns.join(", "), self.table()))
        })
    }
}
