//! Private servers: what they leave behind, and what they say when they can't start.

/// MySQL and MariaDB.
mod mysql;
/// PostgreSQL.
mod postgres;

use std::path::{Path, PathBuf};
use std::sync::atomic::AtomicBool;

use inrush::target::{Console, find};
use inrush_servers::{Installed, Server};

use crate::fixture::size;

fn start(name: &str) -> Server {
    let installed = Installed::find(name).unwrap();
    Server::start(&installed, &installed.test_settings()).unwrap()
}

fn process(server: &Server) -> PathBuf {
    Path::new("/proc").join(server.pid().unwrap().to_string())
}

/// The servers of a family that the tests were started with, the first of them where nobody has much time, or else the one that needs nothing fetched.
fn given(scheme: &str, otherwise: &str) -> Vec<String> {
    let given = std::env::var("INRUSH_TEST_SERVERS").unwrap_or_default();
    let names: Vec<_> = given
        .split_whitespace()
        .filter_map(|named| named.split_once('='))
        .filter(|(_, url)| url.starts_with(scheme))
        .map(|(name, _)| name.to_owned())
        .take(size(1, usize::MAX))
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

#[test]
fn clients_come_by_socket_or_by_tcp_and_the_server_reads_its_files() {
    static GO_ON: AtomicBool = AtomicBool::new(false);
    for name in given("mysql", "mariadb-10.11").into_iter().chain(given("postgres", "postgres-15"))
    {
        let server = start(&name);
        let family = server.installed().family();
        let console = |url: &str| -> Box<dyn Console> {
            // MySQL has a database of that name.
            let (target, location) = find(&url.replacen("/?", "/mysql?", 1)).unwrap();
            assert_eq!(target.name(), family, "{name}");
            target.console(&location, &GO_ON).unwrap()
        };
        // By TCP a client has a port, which a server tells of as well.
        let port = match family {
            "mysql" => {
                "SELECT NULLIF(SUBSTRING_INDEX(HOST, ':', -1), HOST) FROM information_schema.PROCESSLIST WHERE ID = CONNECTION_ID()"
            }
            _ => "SELECT inet_client_port()",
        };
        let mut by_socket = console(&server.url());
        assert_eq!(by_socket.value(port).unwrap(), None, "{name}");
        let url = server.tcp_url(server.port());
        let url = if family == "mysql" { url + "?" } else { url };
        let mut by_tcp = console(&url);
        assert!(by_tcp.value(port).unwrap().is_some(), "{name}");

        let path = server.files().join("rows");
        std::fs::write(&path, "1\n2\n3\n").unwrap();
        let copy = match family {
            "mysql" => format!("LOAD DATA INFILE '{}' INTO TABLE numbers", path.display()),
            _ => format!("COPY numbers FROM '{}'", path.display()),
        };
        by_tcp.execute("CREATE TABLE numbers (n INTEGER)").unwrap();
        assert_eq!(by_tcp.execute(&copy).unwrap(), 3, "{name}");
    }
}
