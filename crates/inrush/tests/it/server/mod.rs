/// MySQL and MariaDB.
mod mysql;
/// PostgreSQL.
mod postgres;

use std::path::{Path, PathBuf};

use inrush::server::{Installed, Server};

fn start(name: &str) -> Server {
    let installed = Installed::find(name).unwrap();
    Server::start(&installed, &installed.test_settings()).unwrap()
}

fn process(server: &Server) -> PathBuf {
    Path::new("/proc").join(server.pid().unwrap().to_string())
}

/// The servers of a family that the tests were started with, or else the one that needs nothing fetched.
fn given(scheme: &str, otherwise: &str) -> Vec<String> {
    let given = std::env::var("INRUSH_TEST_SERVERS").unwrap_or_default();
    let names: Vec<_> = given
        .split_whitespace()
        .filter_map(|named| named.split_once('='))
        .filter(|(_, url)| url.starts_with(scheme))
        .map(|(name, _)| name.to_owned())
        .collect();
    if names.is_empty() { vec![otherwise.to_owned()] } else { names }
}

#[test]
fn unknown_names_are_told_with_those_there_are() {
    let error = Installed::find("mysql-4.0").unwrap_err();
    assert_eq!(error.kind(), inrush::Kind::Usage);
    let names: Vec<_> = Installed::names().collect();
    assert!(names.contains(&"mysql-8.0") && names.contains(&"postgres-18"), "{names:?}");
    assert!(error.what().contains(&names.join(", ")), "{error}");
    assert!(error.what().contains("'mysql-4.0'"), "{error}");
}
