use std::fs::{self, Permissions};
use std::net::TcpListener;
use std::os::unix::fs::{MetadataExt as _, PermissionsExt as _, chown};
use std::path::Path;
use std::process::Command;

use inrush_servers::{Installed, Server as Private};

use crate::fixture::{Outcome, finish, size, start, wait_until_it_waits};
use crate::servers::Database as _;

use super::server::{Extras, Server, for_each_private_server, for_each_server, rows};

const SECRET: &str = "tiger-7-teeth";

#[track_caller]
fn secret_kept(run: Outcome) -> Outcome {
    for output in [&run.stdout, &run.stderr] {
        assert!(!output.contains("tiger") && !output.contains("teeth"), "{run:?}");
    }
    run
}

/// The command with an environment of its own.
fn run(server: &Server, args: &[&str], environment: &[(&str, &str)]) -> Outcome {
    let mut command: Command = server.command(args);
    let known = std::env::vars().map(|(name, _)| name);
    for name in known.filter(|name| name.starts_with("PG")).chain(["INRUSH_PASSWORD".to_owned()]) {
        command.env_remove(name);
    }
    command.env("HOME", server.dir()).envs(environment.iter().copied());
    let run = finish(start(&mut command), b"");
    secret_kept(Outcome::of(args.join(" ").replace(SECRET, "..."), run))
}

/// Loads `t.csv`, which has one row, and takes the table away again.
#[track_caller]
fn gets_in(server: &Server, url: &str, environment: &[(&str, &str)]) {
    run(server, &["load", "t.csv", url], environment).exits(0);
    assert_eq!(server.query("SELECT * FROM t"), rows![[1]], "{url} {environment:?}");
    server.drop_table("t");
}

#[track_caller]
fn stays_out(server: &Server, url: &str, environment: &[(&str, &str)], words: &[&str]) {
    let run = server.leaves_everything(|| run(server, &["load", "t.csv", url], environment));
    run.exits(1).says(words).ends_with_nothing_changed();
}

/// The users of a private server: each is named after the method by which they prove who they are.
const METHODS: [(&str, &str); 3] =
    [("scram", "scram-sha-256"), ("md5", "md5"), ("clear", "password")];

/// Makes the users, and has the server ask them for their passwords.
fn ask_for_passwords(private: &mut Private, server: &Server) {
    let mut rules = "local all postgres trust\nhost all postgres 127.0.0.1/32 trust\n".to_owned();
    for (user, method) in METHODS {
        let stored = if user == "md5" { "md5" } else { "scram-sha-256" };
        server.sql(&format!(
            "SET password_encryption = '{stored}'; CREATE ROLE {user} LOGIN PASSWORD '{SECRET}'"
        ));
        for kind in ["local all", "host all"] {
            let place = if kind.starts_with("host") { "127.0.0.1/32" } else { "" };
            rules += &format!("{kind} {user} {place} {method}\n");
        }
    }
    server.sql("GRANT ALL ON SCHEMA public TO public");
    fs::write(private.directory().join("data/pg_hba.conf"), rules).unwrap();
    private.restart().unwrap();
    server.connect_again();
}

/// The user by TCP, and by the unix socket.
fn urls(private: &Private, server: &Server, user: &str) -> [String; 2] {
    let (port, database) = (private.port(), &server.database);
    let folder = private.directory().display();
    [
        format!("postgres://{user}@127.0.0.1:{port}/{database}"),
        format!("postgresql://{user}@/{database}?host={folder}&port={port}"),
    ]
}

#[test]
fn passwords_from_everywhere_and_nobody_sees_them() {
    for_each_private_server(
        |_| true,
        Extras::default(),
        |private, server| {
            ask_for_passwords(private, server);
            server.write("t.csv", "id\n1\n");
            for (number, (user, _)) in METHODS.into_iter().enumerate() {
                // By both ways, each method by one of them where the tests do not take their time.
                let ways = size(number % 2..number % 2 + 1, 0..2);
                for url in &urls(private, server, &format!("{user}:{SECRET}"))[ways.clone()] {
                    // Above the environment.
                    gets_in(server, url, &[("PGPASSWORD", "wrong")]);
                    for more in [&["--json"][..], &["-v", "--progress", "plain"]] {
                        let load = [&["load", "t.csv", url, "--chunk-size", "1k"], more].concat();
                        run(server, &load, &[]).exits(0);
                        server.drop_table("t");
                        run(server, &[&["plan", "t.csv", url], &more[..1]].concat(), &[]);
                    }
                }
                for url in &urls(private, server, user)[ways] {
                    gets_in(server, url, &[("PGPASSWORD", SECRET)]);
                    gets_in(server, url, &[("INRUSH_PASSWORD", SECRET)]);
                    let wrong = ["password authentication failed", user, "PGPASSWORD"];
                    stays_out(server, url, &[("PGPASSWORD", "tiger-8-teeth")], &wrong);
                    stays_out(server, url, &[], &["asks for a password", "PGPASSWORD"]);
                }
            }
            let nobody = urls(private, server, &format!("nobody:{SECRET}"));
            for url in nobody {
                stays_out(server, &url, &[], &["nobody"]);
            }
        },
    );
}

#[test]
fn passwords_and_services_of_files() {
    for_each_private_server(
        |_| true,
        Extras::default(),
        |private, server| {
            ask_for_passwords(private, server);
            server.write("t.csv", "id\n1\n");
            let (port, database) = (private.port(), &server.database);
            let [tcp, socket] = urls(private, server, "scram");
            let folder = private.directory().display();
            let line = |host: &str| format!("{host}:{port}:{database}:scram:{SECRET}\n");
            let lines =
                format!("# mine\n*:1:*:*:no\n{}{}", line("127.0.0.1"), line(&folder.to_string()));
            for (name, environment) in [(".pgpass", &[][..]), ("mine", &[("PGPASSFILE", "mine")])] {
                server.write(name, &lines);
                // Others may read it, so that it is not believed; libpq does the same.
                fs::set_permissions(server.path(name), Permissions::from_mode(0o644)).unwrap();
                stays_out(server, &tcp, environment, &["asks for a password", name]);
                fs::set_permissions(server.path(name), Permissions::from_mode(0o600)).unwrap();
                for url in [&tcp, &socket] {
                    gets_in(server, url, environment);
                }
                fs::remove_file(server.path(name)).unwrap();
            }
            server.write(
                "services",
                format!("[main]\nhost=127.0.0.1\nport={port}\nuser=scram\ndbname={database}\npassword={SECRET}\n"),
            );
            let file = ("PGSERVICEFILE", "services");
            gets_in(server, "postgres://?service=main", &[file]);
            gets_in(server, "postgres://", &[file, ("PGSERVICE", "main")]);
            server.write(".pg_service.conf", server.read("services"));
            gets_in(server, "postgres://?service=main", &[]);
            // The URL overrides it.
            stays_out(server, "postgres://md5:no@?service=main", &[], &["password", "md5"]);
            run(server, &["load", "t.csv", "postgres://?service=other"], &[file])
                .exits(2)
                .says(&["no service other", "PGSERVICEFILE"])
                .ends_with_nothing_changed();
            // Everything from the environment.
            let port = port.to_string();
            let all = [
                ("PGHOST", "127.0.0.1"),
                ("PGPORT", &port),
                ("PGUSER", "scram"),
                ("PGDATABASE", database),
                ("PGPASSWORD", SECRET),
            ];
            gets_in(server, "postgres://", &all);
        },
    );
}

#[test]
fn a_password_with_characters_that_mean_something_in_a_url() {
    for_each_private_server(
        |_| true,
        Extras::default(),
        |private, server| {
            ask_for_passwords(private, server);
            server.write("t.csv", "id\n1\n");
            let password = "p@ss:w/rd? #%&'\u{e9}";
            server.sql(&format!("ALTER ROLE scram PASSWORD '{}'", password.replace('\'', "''")));
            let encoded = "p%40ss%3Aw%2Frd%3F%20%23%25%26%27%C3%A9";
            for url in urls(private, server, &format!("scram:{encoded}")) {
                gets_in(server, &url, &[]);
            }
            let [_, socket] = urls(private, server, "scram");
            gets_in(server, &format!("{socket}&password={encoded}"), &[]);
            gets_in(server, &socket, &[("PGPASSWORD", password)]);
        },
    );
}

#[test]
fn passwords_are_not_on_the_list_of_processes() {
    for_each_server(|server| {
        let mut command = server.command(&["load", "-", &server.url(), "--table", "t"]);
        let mut child = start(command.env("PGPASSWORD", SECRET));
        wait_until_it_waits(&child);
        // Of other tests' processes it may have other passwords.
        let id = child.id().to_string();
        let list = server.tool("ps", &["-o", "args", "--pid", &id, "--ppid", &id], b"");
        assert!(!String::from_utf8_lossy(&list).contains(SECRET));
        let seen = "SELECT count(*) FROM pg_stat_activity a WHERE a::text LIKE '%tiger-7%' AND pid <> pg_backend_pid()";
        assert_eq!(server.number(seen), 0);
        child.kill().unwrap();
        child.wait().unwrap();
        server.wait_until_alone();
    });
}

#[test]
fn a_database_that_is_not_there() {
    for_each_server(|server| {
        server.write("t.csv", "id\n1\n");
        let url = server.url().replacen(&server.database, "inrush_nowhere", 1);
        stays_out(server, &url, &[], &["inrush_nowhere", "CREATE DATABASE \"inrush_nowhere\""]);
    });
}

/// An address where nobody listens.
fn nowhere() -> String {
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    listener.local_addr().unwrap().to_string()
}

#[test]
fn nothing_listens_there() {
    for_each_server(|server| {
        server.write("t.csv", "id\n1\n");
        let address = nowhere();
        let words = [&address, "refused", "check that the server runs"];
        stays_out(server, &server.url_at(&address), &[], &words);
        let url = format!("postgres://postgres@/{}?host=/nowhere", server.database);
        stays_out(server, &url, &[], &["/nowhere/.s.PGSQL.5432", "No such file"]);
    });
}

#[test]
fn of_several_servers_the_first_that_is_there_is_taken() {
    for_each_server(|server| {
        server.write("t.csv", "id\n1\n");
        let (down, up) = (nowhere(), &server.address);
        gets_in(server, &server.url_at(&format!("{down},{up}")), &[]);
        gets_in(server, &server.url_at(&format!("{up},{down}")), &[]);
        let none = server.url_at(&format!("{down},{}", nowhere()));
        stays_out(server, &none, &[], &["refused"]);
    });
}

#[test]
fn a_standby_only_reads_and_is_passed_over_where_that_is_asked_for() {
    for_each_private_server(
        |_| true,
        Extras::default(),
        |primary, server| {
            server.write("t.csv", "id\n1\n");
            let installed = Installed::find(server.name()).unwrap();
            let mut standby = Private::start(&installed, &installed.test_settings()).unwrap();
            let create = format!("CREATE DATABASE {}", server.database);
            server.tool("psql", &["-X", "-q", "-d", &standby.url(), "-c", &create], b"");
            standby.stop().unwrap();
            fs::write(standby.directory().join("data/standby.signal"), "").unwrap();
            standby.restart().unwrap();
            let at = |ports: &[u16]| {
                let hosts: Vec<_> = ports.iter().map(|port| format!("127.0.0.1:{port}")).collect();
                server.url_at(&hosts.join(","))
            };
            let run = server.load_at(&at(&[standby.port()]), &["t.csv"]);
            assert_ne!(run.status.code(), Some(0));
            run.says(&["standby"]).ends_with_nothing_changed();
            for attributes in ["read-write", "primary"] {
                let parameter = format!("?target_session_attrs={attributes}");
                let both = at(&[standby.port(), primary.port()]);
                gets_in(server, &format!("{both}{parameter}"), &[]);
                let alone = format!("{}{parameter}", at(&[standby.port()]));
                stays_out(server, &alone, &[], &["takes no writes"]);
            }
        },
    );
}

/// Makes an authority, and has it sign a certificate for `localhost`, here.
fn make_certificates(server: &Server) {
    let openssl = |args: &str| {
        let args: Vec<_> = args.split(' ').collect();
        server.tool("openssl", &args, b"");
    };
    let new = "req -x509 -newkey ec -pkeyopt ec_paramgen_curve:prime256v1 -nodes -days 2";
    for name in ["authority", "other"] {
        openssl(&format!("{new} -keyout {name}.key -out {name}.pem -subj /CN={name}"));
    }
    openssl(
        "req -newkey ec -pkeyopt ec_paramgen_curve:prime256v1 -nodes -keyout server.key -out server.csr -subj /CN=localhost",
    );
    server.write("names", "subjectAltName=DNS:localhost\nbasicConstraints=CA:FALSE\n");
    openssl(
        "x509 -req -in server.csr -CA authority.pem -CAkey authority.key -CAcreateserial -days 2 -out server.pem -extfile names",
    );
}

/// Has the server speak TLS with that certificate.
fn speak_tls(private: &mut Private, server: &Server) {
    let data = private.directory().join("data");
    let owner = fs::metadata(&data).unwrap();
    for (from, to) in [("server.pem", "server.crt"), ("server.key", "server.key")] {
        give(&server.path(from), &data.join(to), owner.uid(), owner.gid());
    }
    server.sql("ALTER SYSTEM SET ssl = on");
    private.restart().unwrap();
    server.connect_again();
}

fn give(from: &Path, to: &Path, user: u32, group: u32) {
    fs::copy(from, to).unwrap();
    fs::set_permissions(to, Permissions::from_mode(0o600)).unwrap();
    chown(to, Some(user), Some(group)).unwrap();
}

#[test]
fn tls_believes_whom_the_mode_says() {
    for_each_private_server(
        |_| true,
        Extras::default(),
        |private, server| {
            server.write("t.csv", "id\n1\n");
            let address = |host: &str| server.url_at(&format!("{host}:{}", private.port()));
            let (right, wrong) = (address("localhost"), address("127.0.0.1"));
            let none = format!("{right}?sslmode=require");
            stays_out(server, &none, &[], &["speaks no TLS", "sslmode=disable"]);
            for mode in ["disable", "allow", "prefer"] {
                gets_in(server, &format!("{right}?sslmode={mode}"), &[]);
            }
            make_certificates(server);
            speak_tls(private, server);
            for mode in ["disable", "allow", "prefer", "require"] {
                gets_in(server, &format!("{right}?sslmode={mode}"), &[]);
            }
            let by = |url: &str, mode: &str, authority: &str| {
                format!("{url}?sslmode={mode}&sslrootcert={authority}")
            };
            for mode in ["require", "verify-ca", "verify-full"] {
                gets_in(server, &by(&right, mode, "authority.pem"), &[]);
                // Who names an authority has it asked.
                stays_out(server, &by(&right, mode, "other.pem"), &[], &["certificate"]);
            }
            gets_in(
                server,
                &right,
                &[("PGSSLMODE", "verify-ca"), ("PGSSLROOTCERT", "authority.pem")],
            );
            gets_in(server, &by(&wrong, "verify-ca", "authority.pem"), &[]);
            let full = by(&wrong, "verify-full", "authority.pem");
            stays_out(
                server,
                &full,
                &[],
                &["is for localhost, and not for 127.0.0.1", "verify-ca"],
            );
            let unknown = format!("{right}?sslmode=verify-full");
            stays_out(server, &unknown, &[], &["certificate", "sslrootcert=FILE"]);
            stays_out(server, &by(&right, "verify-ca", "t.csv"), &[], &["certificate"]);
            stays_out(server, &by(&right, "verify-ca", "none.pem"), &[], &["none.pem"]);
            // A user whom the server lets in with TLS alone, or without it alone.
            for (kind, modes) in
                [("hostssl", ["prefer", "allow"]), ("hostnossl", ["prefer", "allow"])]
            {
                let rules =
                    format!("local all all trust\n{kind} all postgres 127.0.0.1/32 trust\n");
                fs::write(private.directory().join("data/pg_hba.conf"), rules).unwrap();
                private.restart().unwrap();
                server.connect_again();
                for mode in modes {
                    gets_in(server, &format!("{right}?sslmode={mode}"), &[]);
                }
                let other = if kind == "hostssl" { "disable" } else { "require" };
                let url = format!("{right}?sslmode={other}");
                stays_out(server, &url, &[], &["pg_hba.conf"]);
            }
        },
    );
}

#[test]
fn a_password_can_be_bound_to_the_connection() {
    for_each_private_server(
        |_| true,
        Extras::default(),
        |private, server| {
            ask_for_passwords(private, server);
            server.write("t.csv", "id\n1\n");
            let url = |user: &str, parameters: &str| {
                let address = format!("127.0.0.1:{}", private.port());
                format!("postgres://{user}:{SECRET}@{address}/{}?{parameters}", server.database)
            };
            let (scram, bound) = (url("scram", ""), "channel_binding=require");
            gets_in(server, &format!("{scram}channel_binding=prefer"), &[]);
            let plain = format!("{scram}{bound}");
            stays_out(server, &plain, &[], &[bound, "it takes TLS"]);
            make_certificates(server);
            let with_tls = [
                url("scram", &format!("sslmode=require&{bound}")),
                url("scram", "sslmode=require&channel_binding=disable"),
                url("scram", "sslmode=require"),
                url("clear", "sslmode=require"),
            ];
            let unbound = ["md5", "clear", "postgres"]
                .map(|user| url(user, &format!("sslmode=require&{bound}")));
            speak_tls(private, server);
            for url in &with_tls {
                gets_in(server, url, &[]);
            }
            for url in &unbound {
                stays_out(server, url, &[], &[bound]);
            }
        },
    );
}

#[test]
fn parameters_that_nobody_knows() {
    for_each_server(|server| {
        server.write("t.csv", "id\n1\n");
        let url = server.url_at(&format!("me:{SECRET}@{}", server.address));
        let url = url.replacen("postgres@", "", 1);
        for (parameter, words) in [
            ("ssl=off", "ssl"),
            ("sslmode=maybe", "sslmode"),
            ("sslmode=verify-ca", "sslrootcert=FILE"),
            ("channel_binding=no", "channel_binding"),
            ("connect_timeout=soon", "connect_timeout"),
            ("target_session_attrs=standby", "target_session_attrs"),
            ("sslcert=me.pem", "client certificates"),
            ("passwort=tiger-7-teeth", "unknown parameter"),
        ] {
            let url = format!("{url}?{parameter}");
            let run = server.leaves_everything(|| run(server, &["load", "t.csv", &url], &[]));
            run.exits(2).says(&[words]).ends_with_nothing_changed();
        }
    });
}
