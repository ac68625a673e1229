use super::server::Mongodb;
use crate::fixture::Fixture;
use crate::servers::{Database as _, ask, named};

/// A private server that lets in only who has a password, and the first of its users.
fn guarded(test: impl Fn(&inrush_servers::Server)) {
    for (name, _) in named(&Mongodb::FAMILY) {
        let installed = match inrush_servers::Installed::find(&name) {
            Ok(installed) => installed,
            Err(error) => {
                eprintln!("SKIPPED: {error}");
                continue;
            }
        };
        let settings = [
            ("test-enable-new-auth", "true"),
            ("setup-database", "admin"),
            ("setup-username", "ada"),
            ("setup-password", "p\u{e9}ncil, = 1"),
        ];
        let settings: Vec<_> = settings
            .iter()
            .map(|(name, value)| ((*name).to_owned(), (*value).to_owned()))
            .collect();
        test(&inrush_servers::Server::start(&installed, &settings).unwrap());
    }
}

#[test]
fn users_get_in_with_their_passwords_and_nobody_reads_them() {
    guarded(|server| {
        let fixture = Fixture::new();
        fixture.write("t.csv", "id\n1\n");
        let password = "p%C3%A9ncil%2C%20%3D%201";
        let url = |user: &str, options: &str| {
            format!("mongodb://{user}127.0.0.1:{}/d?authSource=admin{options}", server.port())
        };
        let owner = format!("ada:{password}@");
        for options in ["", "&authMechanism=SCRAM-SHA-256", "&authMechanism=SCRAM-SHA-1"] {
            let load = ["t.csv", &url(&owner, options), "--if-exists", "replace"];
            let run = fixture.load(&load);
            if options.ends_with("SHA-1") && run.status.code() != Some(0) {
                // FerretDB keeps the first user's password for SCRAM-SHA-256 alone.
                run.exits(1).says(&["authSource"]);
                continue;
            }
            let run = run.exits(0);
            assert!(!run.stdout.contains("ncil") && !run.stderr.contains("ncil"));
        }
        assert_eq!(ask(&url(&owner, ""), "{\"count\": \"t\"}")[0][0].as_deref(), Some("1"));
        let mut command =
            fixture.command(&["load", "t.csv", &url("ada@", ""), "--if-exists", "replace"]);
        let status = command.env("INRUSH_PASSWORD", "p\u{e9}ncil, = 1").status().unwrap();
        assert!(status.success());
        for (user, says) in [
            ("ada:wr0ng@", "authSource=admin names another"),
            ("ada@", "no password is known"),
            ("eve:wr0ng@", "check the user"),
        ] {
            let run = fixture.refuses(&["t.csv", &url(user, "")]).says(&[says]);
            assert!(!run.stderr.contains("wr0ng"), "{run:?}");
        }
        fixture.refuses(&["t.csv", &url("", "")]).says(&["the URL names no user"]);
    });
}

#[test]
fn a_unix_socket_is_a_host_as_well() {
    for (name, _) in named(&Mongodb::FAMILY) {
        let Ok(installed) = inrush_servers::Installed::find(&name) else { continue };
        let server = inrush_servers::Server::start(&installed, &[]).unwrap();
        let fixture = Fixture::new();
        fixture.write("t.csv", "id\n1\n");
        let socket = server.socket().display().to_string().replace('/', "%2F");
        let url = format!("mongodb://{socket}/d");
        fixture.load(&["t.csv", &url]).exits(0);
        assert_eq!(ask(&url, "{\"count\": \"t\"}")[0][0].as_deref(), Some("1"));
    }
}
