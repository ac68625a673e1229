use std::net::TcpListener;
use std::process::Command;

use crate::fixture::{Outcome, finish, start};

use super::server::{Server, for_each_server, for_some_servers, rows};

pub(super) const SECRET: &str = "tiger-7-teeth";

/// A user of this test, with the password, who may do what `grants` says in the test's database. Gone afterwards.
pub(super) struct User<'s> {
    server: &'s Server,
    name: String,
}

impl<'s> User<'s> {
    pub(super) fn new(server: &'s Server, grants: &str) -> Self {
        // At most 16 characters on old servers.
        let name = format!("u{}", server.database.trim_start_matches("inrush_"));
        let database = &server.database;
        for host in ["localhost", "127.0.0.1"] {
            server.sql(&format!("CREATE USER '{name}'@'{host}' IDENTIFIED BY '{SECRET}'"));
            server.sql(&format!("GRANT {grants} ON {database}.* TO '{name}'@'{host}'"));
        }
        Self { server, name }
    }

    pub(super) fn name(&self) -> &str {
        &self.name
    }

    pub(super) fn url(&self) -> String {
        self.server.url_of(&self.name)
    }

    pub(super) fn url_with(&self, password: &str) -> String {
        self.server.url_of(&format!("{}:{password}", self.name))
    }
}

impl Drop for User<'_> {
    fn drop(&mut self) {
        for host in ["localhost", "127.0.0.1"] {
            self.server.drop_user(&format!("'{}'@'{host}'", self.name));
        }
    }
}

#[track_caller]
fn secret_kept(run: Outcome) -> Outcome {
    for output in [&run.stdout, &run.stderr] {
        assert!(!output.contains("tiger") && !output.contains("teeth"), "{run:?}");
    }
    run
}

/// The command with an environment of its own.
pub(super) fn run(server: &Server, args: &[&str], environment: &[(&str, &str)]) -> Outcome {
    let mut command: Command = server.command(args);
    command.env_remove("MYSQL_PWD").env_remove("INRUSH_PASSWORD").env("HOME", server.dir());
    command.envs(environment.iter().copied());
    let run = finish(start(&mut command), b"");
    secret_kept(Outcome::of(args.join(" ").replace(SECRET, "..."), run))
}

#[test]
fn passwords_from_everywhere_and_nobody_sees_them() {
    for_some_servers(|server| {
        let user = User::new(server, "ALL");
        server.write("t.csv", "id,name\n1,a\nx\n2,b\n");
        let variables = [("MYSQL_PWD", SECRET), ("INRUSH_PASSWORD", SECRET)];
        let (plain, with) = (user.url(), user.url_with(SECRET));
        let verbose = ["--max-rejects", "1", "-v", "--progress", "plain"];
        for (url, environment) in
            [(&with, &[][..]), (&plain, &variables[..1]), (&plain, &variables[1..])]
        {
            for options in [&verbose[..], &["--max-rejects", "1", "--json"]] {
                let load = [&["load", "t.csv", url], options].concat();
                run(server, &load, environment).exits(3);
                assert_eq!(server.query("SELECT * FROM t ORDER BY id"), rows![[1, "a"], [2, "b"]]);
                for name in ["t.rejects.csv", "t.rejects.csv.jsonl"] {
                    assert!(!String::from_utf8(server.read(name)).unwrap().contains("tiger"));
                }
                server.drop_table("t");
            }
            run(server, &["plan", "t.csv", url, "--json"], environment).exits(0);
            run(server, &["load", "t.csv", url], environment).exits(1).says(&["t.csv: line 3"]);
        }
        // The client's own file: everything may come from it, or the password alone.
        server.write(
            ".my.cnf",
            format!(
                "[mysqld]\nuser=nobody\n[client]\nuser = {}\npassword = \"{SECRET}\" # mine\n",
                user.name
            ),
        );
        let nobody = plain.replacen(&format!("{}@", user.name), "", 1);
        for url in [&plain, &nobody] {
            run(server, &["load", "t.csv", url, "--max-rejects", "1"], &[]).exits(3);
            server.drop_table("t");
        }
        // The URL overrides the environment, and that above the file.
        run(server, &["load", "t.csv", &plain], &[("MYSQL_PWD", "wrong")])
            .exits(1)
            .says(&["Access denied"]);
        run(server, &["load", "t.csv", &with, "--max-rejects", "1"], &[("MYSQL_PWD", "wrong")])
            .exits(3);
    });
}

#[test]
fn a_password_with_characters_that_mean_something_in_a_url() {
    for_each_server(|server| {
        let user = User::new(server, "ALL");
        let password = "p@ss:w/rd? #%&'\u{e9}";
        let quoted = password.replace('\'', "''");
        for host in ["localhost", "127.0.0.1"] {
            server.sql(&format!(
                "SET PASSWORD FOR '{}'@'{host}' = {}",
                user.name,
                match server.is_mariadb || server.version < (5, 7) {
                    true => format!("PASSWORD('{quoted}')"),
                    false => format!("'{quoted}'"),
                }
            ));
        }
        server.write("t.csv", "id\n1\n");
        let url = user.url_with("p%40ss%3Aw%2Frd%3F%20%23%25%26%27%C3%A9");
        run(server, &["load", "t.csv", &url], &[]).exits(0);
        run(
            server,
            &["load", "t.csv", &user.url(), "--if-exists", "append"],
            &[("MYSQL_PWD", password)],
        )
        .exits(0);
        assert_eq!(server.count("t"), 2);
    });
}

#[test]
fn a_wrong_password() {
    for_some_servers(|server| {
        let user = User::new(server, "ALL");
        server.write("t.csv", "id\n1\n");
        let words = ["Access denied", &user.name, "MYSQL_PWD"];
        for url in [
            user.url(),
            user.url_with("tiger-8-teeth"),
            server.url_of(&format!("nosuchuser:{SECRET}")),
        ] {
            let refused = run(server, &["load", "t.csv", &url], &[])
                .exits(1)
                .says(&words[..1])
                .says(&words[2..]);
            refused.ends_with_nothing_changed();
        }
        run(server, &["load", "t.csv", &user.url_with("tiger-8-teeth")], &[]).says(&words);
    });
}

#[test]
fn a_database_that_is_not_there() {
    for_some_servers(|server| {
        server.write("t.csv", "id\n1\n");
        let url = server.url().replacen(&server.database, "inrush_nowhere", 1);
        server
            .load_at(&url, &["t.csv"])
            .exits(1)
            .says(&["inrush_nowhere", "CREATE DATABASE `inrush_nowhere`"])
            .ends_with_nothing_changed();
        let url = server.url().replacen(&server.database, "", 1);
        server
            .load_at(&url, &["t.csv"])
            .exits(2)
            .says(&["names no database"])
            .ends_with_nothing_changed();
    });
}

#[test]
fn nothing_listens_there() {
    for_some_servers(|server| {
        server.write("t.csv", "id\n1\n");
        let listener = TcpListener::bind("127.0.0.1:0").unwrap();
        let address = listener.local_addr().unwrap().to_string();
        drop(listener);
        let run = server.load_at(&server.url_at(&address), &["t.csv"]);
        run.exits(1)
            .says(&[&address, "refused", "check that the server runs"])
            .ends_with_nothing_changed();
        let url = format!("mysql://root@localhost/{}?socket=/nowhere/s.sock", server.database);
        let run = server.load_at(&url, &["t.csv"]);
        run.exits(1).says(&["/nowhere/s.sock", "No such file"]).ends_with_nothing_changed();
        // Somebody who accepts and says nothing.
        let silent = TcpListener::bind("127.0.0.1:0").unwrap();
        let url = server.url_at(&silent.local_addr().unwrap().to_string()) + "?connect-timeout=1";
        server
            .load_at(&url, &["t.csv"])
            .exits(1)
            .says(&["no answer within 1 s"])
            .ends_with_nothing_changed();
        // Somebody who speaks another language.
        let other = TcpListener::bind("127.0.0.1:0").unwrap();
        let address = other.local_addr().unwrap().to_string();
        std::thread::spawn(move || {
            for stream in other.incoming() {
                let _ = std::io::Write::write_all(
                    &mut stream.unwrap(),
                    b"HTTP/1.1 400 Bad Request\r\n\r\n",
                );
            }
        });
        let run = server.load_at(&server.url_at(&address), &["t.csv"]);
        run.exits(1).says(&[&address]).ends_with_nothing_changed();
    });
}

#[test]
fn parameters_that_nobody_knows() {
    for_some_servers(|server| {
        server.write("t.csv", "id\n1\n");
        let user = User::new(server, "ALL");
        let separator = if user.url().contains('?') { '&' } else { '?' };
        for (parameter, words) in [
            ("sslmode=off", "sslmode"),
            ("ssl-mode=maybe", "ssl-mode"),
            ("ssl-mode=verify_ca", "ssl-ca=FILE"),
            ("ssl-mode=disabled&ssl-ca=ca.pem", "ssl-ca"),
            ("compress=lots", "compress"),
            ("connect-timeout=soon", "connect-timeout"),
            ("password=tiger-7-teeth", "password"),
        ] {
            let url = format!("{}{separator}{parameter}", user.url_with(SECRET));
            run(server, &["load", "t.csv", &url], &[])
                .exits(2)
                .says(&[words])
                .ends_with_nothing_changed();
        }
        let url = format!("{}{separator}compress=yes&connect-timeout=5", user.url_with(SECRET));
        run(server, &["load", "t.csv", &url], &[]).exits(0);
        assert_eq!(server.count("t"), 1);
    });
}

#[test]
fn privileges_that_are_missing() {
    for_some_servers(|server| {
        server
            .write("t.csv", "id\n1\n")
            .sql("CREATE TABLE t (id INT) ENGINE=InnoDB;; INSERT INTO t VALUES (0)");
        let load = |user: &User<'_>, more: &[&str]| {
            let url = user.url_with(SECRET);
            server
                .leaves_everything(|| run(server, &[&["load", "t.csv", &url], more].concat(), &[]))
        };
        let reader = User::new(server, "SELECT");
        let refused = load(&reader, &["--if-exists", "append"]).exits(1);
        refused.says(&["command denied", "privilege"]).ends_with_nothing_changed();
        let refused = load(&reader, &["--table", "new"]).exits(1);
        refused.says(&["command denied", "privilege"]).ends_with_nothing_changed();
        drop(reader);
        // Who may write rows needs no more to add some, not even the right to read the server's files.
        let writer = User::new(server, "SELECT, INSERT");
        let url = writer.url_with(SECRET);
        run(server, &["load", "t.csv", &url, "--if-exists", "append"], &[]).exits(0);
        assert_eq!(server.count("t"), 2);
    });
}

#[test]
fn tls_believes_whom_the_mode_says() {
    for_each_server(|server| {
        server.write("t.csv", "id\n1\n");
        let port = server.number("SELECT @@port");
        let load = |parameters: &str| {
            let url = format!("{}?{parameters}", server.url_at(&format!("127.0.0.1:{port}")));
            server.load_at(&url, &["t.csv", "--if-exists", "replace"])
        };
        let setting = |name: &str| {
            let rows = server.query(&format!("SHOW VARIABLES LIKE '{name}'"));
            rows.into_iter().flatten().flatten().nth(1).unwrap_or_default()
        };
        if setting("have_ssl") != "YES" {
            load("ssl-mode=required")
                .exits(1)
                .says(&["speaks no TLS", "ssl-mode=disabled"])
                .ends_with_nothing_changed();
            return;
        }
        // Of TLS before 1.2, which old servers speak, nobody should rely on a word.
        if !setting("tls_version").contains("TLSv1.2") {
            return;
        }
        // MySQL up to 8.0.15 comes with an OpenSSL that agrees on no keys by elliptic curves, and there are no others here.
        if !server.is_from((8, 0, 16)) {
            load("ssl-mode=required").exits(1).says(&["TLS"]).ends_with_nothing_changed();
            return;
        }
        let folder = setting("datadir");
        let authority = format!("{folder}ca.pem");
        load("ssl-mode=required").exits(0);
        load("ssl-mode=required&compress=yes").exits(0);
        if std::path::Path::new(&authority).exists() {
            load(&format!("ssl-mode=verify_ca&ssl-ca={authority}")).exits(0);
            // Who names an authority has it asked.
            load(&format!("ssl-ca={authority}")).exits(0);
            let another = format!("{folder}client-cert.pem");
            for parameters in
                [format!("ssl-ca={another}"), format!("ssl-mode=required&ssl-ca={another}")]
            {
                load(&parameters).exits(1).says(&["certificate"]).ends_with_nothing_changed();
            }
            // The server made it for itself: it names no host.
            load(&format!("ssl-mode=verify_identity&ssl-ca={authority}"))
                .exits(1)
                .says(&["is for no name at all, and not for", "verify_ca"])
                .ends_with_nothing_changed();
        }
        load("ssl-mode=verify_identity")
            .exits(1)
            .says(&["certificate", "ssl-ca=FILE"])
            .ends_with_nothing_changed();
        load("ssl-mode=verify_ca&ssl-ca=t.csv").exits(1).says(&["certificate"]);
        load("ssl-mode=verify_ca&ssl-ca=none.pem").exits(1).says(&["none.pem"]);
    });
}
