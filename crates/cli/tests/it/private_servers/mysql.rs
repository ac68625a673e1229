use std::io::Read;
use std::net::TcpStream;
use std::os::unix::net::UnixStream;
use std::process::Command;

use inrush_servers::{Installed, Server};

use super::{given, process, start};

/// What a MySQL server says first: after the packet's header and the protocol's number, its version.
fn version(mut stream: impl Read) -> String {
    let mut packet = [0; 64];
    let mut length = 0;
    while length < 32 {
        let read = stream.read(&mut packet[length..]).unwrap();
        assert_ne!(read, 0, "the server hung up");
        length += read;
    }
    assert_eq!(packet[4], 10, "protocol");
    String::from_utf8_lossy(packet[5..].split(|byte| *byte == 0).next().unwrap()).into_owned()
}

fn version_by_socket(server: &Server) -> String {
    version(UnixStream::connect(server.socket()).unwrap())
}

fn version_by_port(server: &Server) -> String {
    version(TcpStream::connect(("127.0.0.1", server.port())).unwrap())
}

#[test]
fn a_mysql_server_leaves_no_process_and_no_directory() {
    let server = start("mariadb-10.11");
    let (directory, process, port) =
        (server.directory().to_owned(), process(&server), server.port());
    assert_eq!(version_by_socket(&server), version_by_port(&server));
    assert_eq!(
        server.url(),
        format!("mysql://root@127.0.0.1:{port}/?socket={}/s.sock", directory.display())
    );
    assert!(process.exists() || !cfg!(target_os = "linux"));
    drop(server);
    assert!(!process.exists());
    assert!(!directory.exists());
    assert!(TcpStream::connect(("127.0.0.1", port)).is_err());
}

/// Each version that tests were started with.
#[test]
fn mysql_servers_come_back_after_a_crash_and_after_a_stop() {
    for name in given("mysql://", "mariadb-10.11") {
        let mut server = start(&name);
        let (_, number) = name.split_once('-').unwrap();
        let first = version_by_socket(&server);
        assert!(first.contains(number), "{name} is {first}");
        let (port, url, killed) = (server.port(), server.url(), process(&server));

        server.kill().unwrap();
        assert_eq!(server.pid(), None);
        assert!(!killed.exists(), "{name}");
        server.restart().unwrap();
        assert_eq!((server.port(), server.url()), (port, url), "{name}");
        assert_eq!(version_by_port(&server), first);

        server.stop().unwrap();
        server.stop().unwrap();
        assert_eq!(server.pid(), None);
        assert!(server.directory().exists(), "{name}");
        server.restart().unwrap();
        assert_eq!(version_by_socket(&server), first);
        server.stop().unwrap();
    }
}

#[test]
fn a_mysql_server_that_ended_by_itself_is_not_stopped_silently() {
    let mut server = start("mariadb-10.11");
    let pid = server.pid().unwrap().to_string();
    assert!(Command::new("kill").args(["-9", &pid]).status().unwrap().success());
    let error = server.stop().unwrap_err();
    assert!(error.what().contains("ended in disorder (signal: 9 (SIGKILL))"), "{error}");
    assert_eq!(server.pid(), None);
    server.restart().unwrap();
}

#[test]
fn a_setting_that_a_mysql_server_does_not_know_is_told_in_its_own_words() {
    let installed = Installed::find("mariadb-10.11").unwrap();
    for (name, value, words) in [
        ("no-such-setting", "1", "unknown variable 'no-such-setting=1'"),
        // Known before the data directory is made.
        ("innodb-page-size", "big", "value 'big' to 'innodb-page-size'"),
    ] {
        let error = Server::start(&installed, &[(name.to_owned(), value.to_owned())]).unwrap_err();
        assert!(error.what().starts_with("mariadb-10.11 "), "{error}");
        assert!(error.what().contains(words), "{error}");
    }
}

#[test]
fn a_later_mysql_setting_replaces_an_earlier_one() {
    let installed = Installed::find("mariadb-10.11").unwrap();
    let version = |value: &str| ("version".to_owned(), value.to_owned());
    let settings = [version("10.11.1-first"), version("10.11.2-second")];
    let server = Server::start(&installed, &settings).unwrap();
    assert!(version_by_socket(&server).contains("10.11.2-second"));
}
