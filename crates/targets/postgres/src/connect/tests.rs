use std::fs;
use std::os::unix::fs::PermissionsExt;

use super::*;
use inrush_net::channel::{Believe, Tls};

/// What `url` means where nothing else says anything but `variables`.
fn opened(url: &str, variables: &[(&str, &str)]) -> Result<Place> {
    let variable = |name: &str| {
        let found = variables.iter().find(|(known, _)| *known == name);
        found.or((name == "USER").then_some(&("USER", "me"))).map(|(_, value)| (*value).to_owned())
    };
    let socket_directories = &["/no/sockets"];
    place_with(url, &Surroundings { variable: &variable, account: None, socket_directories })
}

fn failure(url: &str, variables: &[(&str, &str)]) -> String {
    opened(url, variables).err().map(|error| error.to_string()).unwrap_or_default()
}

fn passwords(place: &Place) -> Vec<Option<&str>> {
    place.servers.iter().map(|server| server.password.as_deref()).collect()
}

/// A home with a password file and a service file.
fn home() -> (tempfile::TempDir, String) {
    let home = tempfile::tempdir().unwrap();
    let passwords = home.path().join(".pgpass");
    fs::write(&passwords, "h1:*:*:*:one\nlocalhost:5432:*:*:local\nh2:6:*:*:two\n").unwrap();
    fs::set_permissions(&passwords, PermissionsExt::from_mode(0o600)).unwrap();
    let services = "[s]\nhost=serviced\nport=7\nuser=servant\ndbname=sd\nsslmode=disable\n";
    fs::write(home.path().join(".pg_service.conf"), services).unwrap();
    let path = home.path().to_str().unwrap().to_owned();
    (home, path)
}

#[test]
fn the_url_stands_above_the_service_and_that_above_the_environment() {
    let (home, path) = home();
    let environment = [
        ("HOME", path.as_str()),
        ("PGHOST", "h1"),
        ("PGPORT", "6"),
        ("PGUSER", "envy"),
        ("PGDATABASE", "ed"),
        ("PGAPPNAME", "app"),
        ("PGOPTIONS", "-c a=b"),
        ("PGCONNECT_TIMEOUT", "3"),
    ];
    let place = opened("postgres://", &environment).unwrap();
    assert_eq!((place.user.as_str(), place.database.as_str()), ("envy", "ed"));
    assert_eq!(place.shown, "h1:6");
    assert_eq!(passwords(&place), [Some("one")]);
    assert_eq!(place.patience.connect, Duration::from_secs(3));
    let options = [("application_name", "app"), ("options", "-c a=b")];
    assert_eq!(place.options, options.map(|(name, value)| (name, value.to_owned())));

    let place = opened("postgres:///?service=s", &environment).unwrap();
    assert_eq!((place.user.as_str(), place.database.as_str()), ("servant", "sd"));
    assert_eq!((place.shown.as_str(), passwords(&place)), ("serviced:7", vec![None]));
    let place = opened("postgres://u@h2:6/d?service=s", &environment).unwrap();
    assert_eq!((place.user.as_str(), place.database.as_str()), ("u", "d"));
    assert_eq!((place.shown.as_str(), passwords(&place)), ("h2:6", vec![Some("two")]));
    assert_eq!(place.servers[0].tls, TlsMode::Never);

    let mut serviced = environment.to_vec();
    serviced.push(("PGSERVICE", "s"));
    assert_eq!(opened("postgres://", &serviced).unwrap().shown, "serviced:7");
    assert!(failure("postgres:///?service=none", &environment).contains("no service none"));
    serviced.push(("PGSERVICEFILE", "/no/file"));
    assert!(failure("postgres://", &serviced).contains("/no/file"));
    let system = [("PGSYSCONFDIR", path.as_str()), ("PGSERVICE", "t")];
    fs::write(home.path().join("pg_service.conf"), "[t]\nhost=t\n").unwrap();
    assert_eq!(opened("postgres://", &system).unwrap().shown, "t:5432");
}

#[test]
fn the_nearest_password_counts() {
    let (home, path) = home();
    let file = [("HOME", path.as_str())];
    let ours = [file[0], ("INRUSH_PASSWORD", "ours")];
    let theirs = [file[0], ("INRUSH_PASSWORD", "ours"), ("PGPASSWORD", "theirs")];
    let password = |url, variables: &[_]| {
        let place = opened(url, variables).unwrap();
        place.servers[0].password.clone().unwrap_or_default()
    };
    assert_eq!(password("postgres://u:p%2Fw@h1/d", &theirs), "p/w");
    assert_eq!(password("postgres://h1/d?password=p%26w", &theirs), "p&w");
    assert_eq!(password("postgres://h1/d", &theirs), "theirs");
    assert_eq!(password("postgres://h1/d", &ours), "ours");
    assert_eq!(password("postgres://h1/d", &file), "one");
    assert_eq!(password("postgres://h2/d", &file), "");
    // As libpq has it: a password that is empty is none.
    assert_eq!(password("postgres://h1/d", &[file[0], ("PGPASSWORD", "")]), "one");
    // The directory where sockets are by default goes by the name of localhost, another by its own.
    assert_eq!(password("postgres:///d?host=/no/sockets", &file), "local");
    assert_eq!(password("postgres:///d?host=/other", &file), "");
    let place = opened("postgres://h2:6,h1,h3/d", &file).unwrap();
    assert_eq!(passwords(&place), [Some("two"), Some("one"), None]);
    assert_eq!(place.password_file_refused, None);

    let path = home.path().join(".pgpass");
    fs::set_permissions(&path, PermissionsExt::from_mode(0o644)).unwrap();
    let place = opened("postgres://h1/d", &file).unwrap();
    assert_eq!(passwords(&place), [None]);
    assert!(place.password_file_refused.is_some_and(|why| why.contains("chmod 600")));
    assert_eq!(opened("postgres://h1/d", &ours).unwrap().password_file_refused, None);
    let other = path.to_str().unwrap();
    fs::set_permissions(&path, PermissionsExt::from_mode(0o600)).unwrap();
    assert_eq!(password("postgres://h1/d", &[("PGPASSFILE", other)]), "one");
    assert_eq!(password(&format!("postgres://h1/d?passfile={other}"), &[]), "one");
}

#[test]
fn servers_are_hosts_sockets_or_several() {
    let shown = |url, variables: &[_]| opened(url, variables).unwrap().shown;
    assert_eq!(shown("postgres://h:5/d", &[]), "h:5");
    assert_eq!(shown("postgres://h1,h2:6,[::1]/d", &[]), "h1:5432, h2:6, ::1:5432");
    assert_eq!(shown("postgres:///d?host=h1,h2&port=7", &[]), "h1:7, h2:7");
    assert_eq!(shown("postgres://h/d", &[("PGPORT", "7")]), "h:7");
    assert_eq!(shown("postgres://%2Frun%2Fpg:7/d", &[]), "/run/pg/.s.PGSQL.7");
    assert_eq!(shown("postgres:///d?host=/run/pg,h", &[]), "/run/pg/.s.PGSQL.5432, h:5432");
    assert_eq!(shown("postgres://h/d?host=/run/pg", &[]), "/run/pg/.s.PGSQL.5432");
    assert_eq!(shown("postgres:///d", &[]), "localhost:5432");

    let place = opened("postgres://db.example.org/d", &[("PGHOSTADDR", "127.0.0.1")]).unwrap();
    assert_eq!(place.shown, "127.0.0.1:5432");
    assert_eq!(place.servers[0].name, "db.example.org");

    assert!(failure("postgres:///d?host=a,b&port=1,2,3", &[]).contains("do not fit together"));
    assert!(failure("postgres:///d?host=a,b&hostaddr=1.1.1.1", &[]).contains("fit together"));
    assert!(failure("postgres://h:0/d", &[]).contains("65535"));
    assert!(failure("postgres://%40h/d", &[]).contains("not supported"));
}

#[test]
fn a_socket_that_is_there_is_the_default() {
    let directory = tempfile::tempdir().unwrap();
    let path = directory.path().to_str().unwrap();
    let surroundings = Surroundings {
        variable: &|name| (name == "LOGNAME").then(|| "me".to_owned()),
        account: None,
        socket_directories: &["/no/sockets", path],
    };
    fs::write(directory.path().join(".s.PGSQL.5433"), "").unwrap();
    let place = |url| place_with(url, &surroundings).unwrap();
    assert_eq!(place("postgres://").shown, "localhost:5432");
    let found = place("postgres://:5433");
    assert_eq!(found.servers[0].address, Address::Socket(format!("{path}/.s.PGSQL.5433")));
    assert_eq!((found.user.as_str(), found.database.as_str()), ("me", "me"));
}

#[test]
fn sslmode_means_what_libpq_means_by_it() {
    let tls = |url: &str, variables: &[_]| opened(url, variables).unwrap().servers[0].tls.clone();
    let asks = |believe, file: Option<&str>| Tls { believe, authority: file.map(PathBuf::from) };
    let (anybody, any_name) = (asks(Believe::Anybody, None), asks(Believe::AnyName, Some("/ca")));
    let (host, known) = (asks(Believe::Host, None), asks(Believe::Host, Some("/ca")));
    for (parameters, expected) in [
        ("", TlsMode::Demand(host.clone())),
        ("sslmode=disable", TlsMode::Never),
        ("sslmode=allow", TlsMode::Allow(anybody.clone())),
        ("sslmode=prefer", TlsMode::Prefer(anybody.clone())),
        ("sslmode=require", TlsMode::Demand(anybody.clone())),
        ("ssl=true", TlsMode::Demand(anybody.clone())),
        ("sslmode=verify-full", TlsMode::Demand(host.clone())),
        ("sslrootcert=/ca", TlsMode::Demand(known.clone())),
        ("sslrootcert=/ca&sslmode=disable", TlsMode::Never),
        ("sslrootcert=/ca&sslmode=prefer", TlsMode::Prefer(any_name.clone())),
        ("sslrootcert=/ca&sslmode=require", TlsMode::Demand(any_name.clone())),
        ("sslrootcert=/ca&sslmode=verify-ca", TlsMode::Demand(any_name.clone())),
        ("sslrootcert=/ca&sslmode=verify-full", TlsMode::Demand(known.clone())),
        ("sslrootcert=system", TlsMode::Demand(host.clone())),
        ("sslrootcert=system&sslmode=verify-full", TlsMode::Demand(host.clone())),
    ] {
        assert_eq!(tls(&format!("postgres://db.example.org/d?{parameters}"), &[]), expected);
    }
    let local = "postgres://127.0.0.1/d";
    assert_eq!(tls(local, &[]), TlsMode::Prefer(anybody.clone()));
    assert_eq!(tls(local, &[("PGSSLROOTCERT", "/ca")]), TlsMode::Demand(any_name));
    assert_eq!(tls(local, &[("PGSSLROOTCERT", "system")]), TlsMode::Demand(host));
    assert_eq!(tls("postgres:///d?host=/s&sslmode=verify-full", &[]), TlsMode::Never);

    let several = opened("postgres://localhost,db.example.org/d", &[]).unwrap();
    assert_eq!(several.servers[0].tls, TlsMode::Prefer(anybody));
    assert!(matches!(several.servers[1].tls, TlsMode::Demand(_)));

    assert!(failure(local, &[("PGSSLMODE", "on")]).contains("PGSSLMODE=on"));
    assert!(failure("postgres://h/d?sslmode=verify-ca", &[]).contains("sslrootcert=FILE"));
    for mode in ["disable", "prefer", "require", "verify-ca"] {
        let url = format!("postgres://h/d?sslrootcert=system&sslmode={mode}");
        assert!(failure(&url, &[]).contains("verify-full"), "{mode}");
    }
}

#[test]
fn the_authority_in_the_home_is_believed_unless_another_is_named() {
    let home = tempfile::tempdir().unwrap();
    fs::create_dir(home.path().join(".postgresql")).unwrap();
    let file = home.path().join(".postgresql/root.crt");
    fs::write(&file, "").unwrap();
    let variables = [("HOME", home.path().to_str().unwrap())];
    let tls = |url| opened(url, &variables).unwrap().servers[0].tls.clone();
    let asks = |believe| Tls { believe, authority: Some(file.clone()) };
    assert_eq!(tls("postgres://h/d"), TlsMode::Demand(asks(Believe::Host)));
    assert_eq!(tls("postgres://h/d?sslmode=require"), TlsMode::Demand(asks(Believe::AnyName)));
    assert_eq!(tls("postgres://h/d?sslmode=verify-ca"), TlsMode::Demand(asks(Believe::AnyName)));
    let system = Tls { believe: Believe::Host, authority: None };
    assert_eq!(tls("postgres://h/d?sslrootcert=system"), TlsMode::Demand(system));
    let anybody = Tls { believe: Believe::Anybody, authority: None };
    assert_eq!(tls("postgres://localhost/d"), TlsMode::Prefer(anybody));
}

#[test]
fn other_parameters_are_used_idle_or_refused() {
    let place = opened(
        "postgres://h/d?target_session_attrs=read-write&channel_binding=require&read_timeout=9\
         &connect_timeout=0&fallback_application_name=f&options=-c%20work_mem%3D1GB",
        &[],
    );
    let place = place.unwrap();
    assert!(place.must_write);
    assert_eq!(place.channel_binding, ChannelBinding::Require);
    let patience = Patience { connect: CONNECT_TIMEOUT, answer: Some(Duration::from_secs(9)) };
    assert_eq!(place.patience, patience);
    let options = [("application_name", "f"), ("options", "-c work_mem=1GB")];
    assert_eq!(place.options, options.map(|(name, value)| (name, value.to_owned())));
    for idle in ["keepalives=0", "client_encoding=UTF8", "gssencmode=prefer", "sslcompression=1"] {
        assert!(opened(&format!("postgres://h/d?{idle}"), &[]).is_ok(), "{idle}");
    }
    for (refused, why) in [
        ("gssencmode=require", "GSSAPI"),
        ("client_encoding=latin1", "UTF-8"),
        ("sslcert=/c", "client certificates are not supported"),
        ("replication=database", "takes no rows"),
        ("tcp_user_timeout=5", "read_timeout"),
        ("target_session_attrs=standby", "has to write"),
        ("channel_binding=yes", "require"),
        ("connect_timeout=soon", "seconds"),
        ("read_timeout=86401", "86400"),
        ("colour=red", "unknown parameter colour; use host, "),
        ("user=a%00b", "zero byte"),
    ] {
        let error = failure(&format!("postgres://h/d?{refused}"), &[]);
        assert!(error.contains(why), "{refused}: {error}");
    }
    assert!(failure("postgres://h/d", &[("PGREQUIREAUTH", "md5")]).contains("PGREQUIREAUTH"));
    assert!(failure("postgres://h/d", &[("USER", "")]).contains("no user"));
}

/// As libpq's first message has it, in which what comes later counts.
#[test]
fn the_environment_says_what_a_session_begins_with() {
    let options = |url, variables: &[_]| opened(url, variables).unwrap().options.split_off(1);
    let all = [
        ("PGTZ", "Asia/Tokyo"),
        ("PGDATESTYLE", "SQL, DMY"),
        ("PGGEQO", "off"),
        ("PGOPTIONS", "-c a=b"),
    ];
    let wanted = [
        ("options", "-c a=b"),
        ("datestyle", "SQL, DMY"),
        ("timezone", "Asia/Tokyo"),
        ("geqo", "off"),
    ];
    let wanted = wanted.map(|(name, value)| (name, value.to_owned()));
    assert_eq!(options("postgres://h/d", &all), wanted);
    let in_url = "postgres://h/d?options=-c%20timezone%3DUTC";
    let both = [("options", "-c timezone=UTC"), ("timezone", "Asia/Tokyo")];
    assert_eq!(options(in_url, &all[..1]), both.map(|(name, value)| (name, value.to_owned())));
    assert_eq!(options("postgres://h/d", &[("PGTZ", "Default")]), []);
    // What is empty the server refuses.
    assert_eq!(options("postgres://h/d", &[("PGTZ", "")]), [("timezone", String::new())]);
    assert!(failure("postgres://h/d?timezone=UTC", &[]).contains("unknown parameter timezone"));
}

#[test]
fn what_the_environment_says_of_encryption_is_not_left_out() {
    for variable in [("PGSSLCERTMODE", "require"), ("PGSSLSNI", "0")] {
        let refused = failure("postgres://localhost/d", &[variable]);
        assert!(refused.contains(variable.0), "{variable:?}");
    }
}

#[test]
fn the_account_is_the_user_where_nobody_names_one() {
    let user = |url, variables: &[(&str, &str)]| {
        let variable = |name: &str| {
            let found = variables.iter().find(|(known, _)| *known == name);
            found.map(|(_, value)| (*value).to_owned())
        };
        let account = Some("smith".to_owned());
        let socket_directories = &["/no/sockets"];
        let place =
            place_with(url, &Surroundings { variable: &variable, account, socket_directories });
        let place = place.unwrap();
        (place.user, place.database)
    };
    let both = |name: &str| (name.to_owned(), name.to_owned());
    // The environment of whoever switched users may still be the other's: libpq asks the system.
    assert_eq!(user("postgres://h", &[("USER", "jones")]), both("smith"));
    assert_eq!(user("postgres://h", &[("PGUSER", "jones")]), both("jones"));
    assert_eq!(user("postgres://kim@h", &[("PGUSER", "jones")]), both("kim"));
}

#[test]
fn passwords_are_not_shown() {
    let shown = |url| claim(url).unwrap().shown;
    assert_eq!(shown("postgres://u:secret@h:5/d?sslmode=require"), "postgres://u@h:5/d");
    assert_eq!(
        shown("postgresql://h/d%20b?password=secret&host=/run/pg"),
        "postgresql://h/d%20b?host=/run/pg"
    );
    assert_eq!(shown("postgres://u@%2Frun%2Fpg,[::1]:6/"), "postgres://u@%2Frun%2Fpg,[::1]:6");
    assert_eq!(shown("postgres://"), "postgres://");
    assert_eq!(shown("postgres://?service=x&sslmode=require"), "postgres://?service=x");
    assert_eq!(
        shown("postgres:///?host=h&password=secret&dbname=d"),
        "postgres://?host=h&dbname=d"
    );
    for url in [
        "postgres://u:secret",
        "postgres://u:secret@h:99999/d",
        "postgres://u:sec@ret@h/d",
        "postgres://u:12/secret@h/d",
        "postgres://u:12/c?secret=et@h/d",
        "postgres://u:p?a=secret&secret=b@h/d",
        "postgres://h?password=secret@secret",
        "postgres://h/d?password=a&secret=b",
        "postgres://h/d?secret",
        "postgres://u:secret%@h/d",
        "postgres://u:secret%ff@h/d",
        "postgres://u:secret@[h/d",
        "postgres://h/d?sslpassword=secret",
        "postgres://u:secret@h/d?colour=red",
        "postgres://u:secret@h/d?sslmode=on",
    ] {
        assert!(!shown(url).contains("secret"), "{}", shown(url));
        let error = failure(url, &[]);
        assert!(!error.is_empty() && !error.contains("secret"), "{url}: {error}");
    }
    assert!(!format!("{:?}", claim("postgres://u:secret@h/d").unwrap()).contains("secret"));
    assert!(claim("mysql://u@h/d").is_none());
    assert!(claim("host=h dbname=d").is_none());
}
