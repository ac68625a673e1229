use std::io::{Read as _, Write as _};
use std::net::TcpStream;
use std::os::unix::fs::MetadataExt as _;
use std::os::unix::net::UnixStream;
use std::process::{Child, Command, Stdio};
use std::time::Instant;

use inrush_servers::{Installed, Server};

use super::{given, process, start};
use crate::fixture::PATIENCE;

/// `psql` by the socket, with answers as bare as they get.
fn psql(url: &str) -> Command {
    let mut command = crate::postgres::server::psql();
    command.args(["--no-psqlrc", "--quiet", "--tuples-only", "--no-align"]);
    command.args(["--set=ON_ERROR_STOP=1", "--dbname", url]).stdin(Stdio::null());
    command
}

/// What a statement answers.
#[track_caller]
fn answer(url: &str, sql: &str) -> String {
    let output = psql(url).args(["--command", sql]).output();
    let output = output.expect("psql, of Debian's postgresql-client");
    let told = String::from_utf8_lossy(&output.stderr);
    assert!(output.status.success(), "{sql}: {told}");
    String::from_utf8_lossy(&output.stdout).trim().to_owned()
}

/// The server as a target that goes by TCP.
fn url_by_port(server: &Server) -> String {
    server.url().split_once('?').unwrap().0.to_owned()
}

/// A client that is in the middle of a statement, for minutes.
fn busy_client(server: &Server) -> Child {
    let mut command = psql(&server.url());
    // Nobody is told about the connection that it loses.
    command.stdout(Stdio::null()).stderr(Stdio::null());
    let statement = "SELECT count(*) FROM generate_series(1, 1000000000000)";
    let client = command.args(["--command", statement]).spawn().unwrap();
    let before = Instant::now();
    let busy =
        "SELECT count(*) FROM pg_stat_activity WHERE query LIKE 'SELECT count(*) FROM generate%'";
    while answer(&server.url(), busy) != "1" {
        assert!(before.elapsed() < PATIENCE, "the client is not busy");
    }
    client
}

/// Whether a process runs there, as all of a server's do.
fn is_in_use(directory: &std::path::Path) -> bool {
    let entries = std::fs::read_dir("/proc").unwrap().flatten();
    let mut folders = entries.filter_map(|entry| entry.path().join("cwd").read_link().ok());
    folders.any(|folder| folder.starts_with(directory))
}

#[test]
fn a_postgres_server_leaves_no_process_and_no_directory() {
    let server = start("postgres-15");
    let (directory, process, port) =
        (server.directory().to_owned(), process(&server), server.port());
    assert_eq!(
        server.url(),
        format!("postgres://postgres@127.0.0.1:{port}/postgres?host={}", directory.display())
    );
    assert_eq!(server.socket(), directory.join(format!(".s.PGSQL.{port}")));
    assert_eq!(answer(&server.url(), "SELECT 1"), "1");
    assert_eq!(answer(&url_by_port(&server), "SELECT 1"), "1");
    let linux = cfg!(target_os = "linux");
    assert!(!linux || process.exists() && is_in_use(&directory));
    // Not even a busy client keeps it.
    let mut client = busy_client(&server);
    drop(server);
    assert!(!client.wait().unwrap().success());
    assert!(!process.exists());
    assert!(!linux || !is_in_use(&directory));
    assert!(!directory.exists());
    assert!(TcpStream::connect(("127.0.0.1", port)).is_err());
}

/// By the protocol alone, where no client is installed: a request to start, and the word that no password is wanted.
#[test]
fn a_postgres_server_that_was_started_takes_clients_at_once() {
    let server = start("postgres-15");
    let mut stream = UnixStream::connect(server.socket()).unwrap();
    let mut request = Vec::from([0, 0, 0, 0, 0, 3, 0, 0]);
    request.extend_from_slice(b"user\0postgres\0database\0postgres\0\0");
    request[3] = u8::try_from(request.len()).unwrap();
    stream.write_all(&request).unwrap();
    let mut begin = [0; 9];
    stream.read_exact(&mut begin).unwrap();
    assert_eq!(begin, [b'R', 0, 0, 0, 8, 0, 0, 0, 0], "AuthenticationOk");
    stream.write_all(&[b'X', 0, 0, 0, 4]).unwrap();
}

/// Each version that tests were started with.
#[test]
fn postgres_servers_come_back_after_a_crash_and_after_a_stop() {
    for name in given("postgres://", "postgres-15") {
        let mut server = start(&name);
        let (_, number) = name.split_once('-').unwrap();
        let url = server.url();
        let version = answer(&url, "SHOW server_version");
        assert!(version.starts_with(&format!("{number}.")), "{name} is {version}");
        let encoding = "SELECT current_setting('server_encoding'), datcollate FROM pg_database WHERE datname = 'postgres'";
        assert_eq!(answer(&url, encoding), "UTF8|C", "{name}");
        answer(&url, "CREATE TABLE kept (number int); INSERT INTO kept VALUES (1), (2)");
        let (port, killed) = (server.port(), process(&server));
        let mut client = busy_client(&server);

        server.kill().unwrap();
        assert_eq!(server.pid(), None);
        assert!(!killed.exists(), "{name}");
        // What is left is there for another.
        server.restart().unwrap();
        assert!(!client.wait().unwrap().success());
        assert_eq!((server.port(), server.url()), (port, url.clone()), "{name}");
        assert_eq!(answer(&url, "SELECT sum(number) FROM kept"), "3", "{name}");

        let mut client = busy_client(&server);
        server.stop().unwrap();
        server.stop().unwrap();
        assert_eq!(server.pid(), None);
        assert!(!client.wait().unwrap().success());
        assert!(server.directory().exists(), "{name}");
        server.restart().unwrap();
        assert_eq!(answer(&url_by_port(&server), "SELECT sum(number) FROM kept"), "3", "{name}");
        server.stop().unwrap();
    }
}

#[test]
fn a_postgres_server_that_ended_by_itself_is_not_stopped_silently() {
    let mut server = start("postgres-15");
    let pid = server.pid().unwrap().to_string();
    assert!(Command::new("kill").args(["-9", &pid]).status().unwrap().success());
    let error = server.stop().unwrap_err();
    assert!(error.what().contains("ended in disorder (signal: 9 (SIGKILL))"), "{error}");
    assert_eq!(server.pid(), None);
}

#[test]
fn postgres_has_the_settings_that_it_was_started_with() {
    let installed = Installed::find("postgres-15").unwrap();
    let setting = |name: &str, value: &str| (name.to_owned(), value.to_owned());
    let settings = [
        installed.test_settings(),
        vec![
            setting("work_mem", "8MB"),
            // A later one replaces an earlier one, and an empty value is a value.
            setting("max_prepared_transactions", "7"),
            setting("bytea_output", "hex"),
            setting("bytea_output", "escape"),
            setting("search_path", ""),
        ],
    ]
    .concat();
    let server = Server::start(&installed, &settings).unwrap();
    let show = |name: &str| answer(&server.url(), &format!("SHOW {name}"));
    assert_eq!(show("work_mem"), "8MB");
    assert_eq!(show("max_prepared_transactions"), "7");
    assert_eq!(show("bytea_output"), "escape");
    assert_eq!(show("search_path"), "");
}

#[test]
fn a_setting_that_postgres_does_not_know_is_told_in_its_own_words() {
    let installed = Installed::find("postgres-15").unwrap();
    for (name, value, words) in [
        ("no_such_setting", "1", "unrecognized configuration parameter \"no_such_setting\""),
        ("work_mem", "big", "invalid value for parameter \"work_mem\": \"big\""),
    ] {
        let error = Server::start(&installed, &[(name.to_owned(), value.to_owned())]).unwrap_err();
        assert!(error.what().starts_with("postgres-15 ended before it answered"), "{error}");
        assert!(error.what().contains(words), "{error}");
    }
}

/// PostgreSQL writes there itself, for COPY TO a file.
#[test]
fn the_files_of_a_postgres_server_are_its_user_s() {
    let server = start("postgres-15");
    let file = server.directory().join("files/one");
    answer(&server.url(), &format!("COPY (SELECT 1) TO '{}'", file.display()));
    assert_eq!(std::fs::read_to_string(&file).unwrap(), "1\n");
    let owner = std::fs::metadata(file).unwrap().uid();
    assert_eq!(owner, std::fs::metadata(server.directory()).unwrap().uid());
    assert_ne!(owner, 0);
}
