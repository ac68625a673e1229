//! Where the server is, and how to get in: the URL, the environment, and the client's own option file.

use std::borrow::Cow;
use std::path::{Path, PathBuf};
use std::time::Duration;

use percent_encoding::percent_decode_str;
use url::Url;

use inrush_core::error::{Error, Result, escape_advice, without_secrets};
use inrush_core::target::{Location, Spare, behind_database};
use inrush_net::account;
use inrush_net::channel::{Address, Believe, Patience, Tls};

/// A server that does not answer for so long is not there.
const CONNECT_TIMEOUT: Duration = Duration::from_secs(10);

const PORT: u16 = 3306;

/// Everything that it takes to connect.
#[derive(Clone)]
pub(super) struct Place {
    pub(super) address: Address,
    pub(super) user: Option<String>,
    pub(super) password: Option<String>,
    pub(super) database: String,
    /// `None` where nobody on the way can read along, or the user does not mind.
    pub(super) tls: Option<Tls>,
    pub(super) compress: bool,
    pub(super) patience: Patience,
    /// An option file that everybody may write to.
    pub(super) passed_over: Option<PathBuf>,
    /// Whether the server runs on this machine, as far as the way there tells.
    pub(super) is_local: bool,
    /// Host and port, or the socket, for messages.
    pub(super) shown: String,
    /// Where it is noted what statements wait for.
    pub(super) spare: Spare,
}

/// The location that a URL names.
pub(super) fn claim(text: &str) -> Option<Location> {
    let scheme = text.split_once("://")?.0.to_ascii_lowercase();
    if !matches!(scheme.as_str(), "mysql" | "mariadb") {
        return None;
    }
    let is_clear = escape_advice(text).is_none();
    let shown = Url::parse(text).ok().filter(|_| is_clear).and_then(|url| shown(&url));
    let shown = shown.unwrap_or_else(|| without_secrets(text));
    Some(Location::new(text.to_owned(), shown, Vec::new()))
}

/// The URL without the password, and of the parameters only the socket.
fn shown(url: &Url) -> Option<String> {
    let mut plain = url.clone();
    // A URL without a host has none, and takes none to be taken away.
    if plain.password().is_some() {
        plain.set_password(None).ok()?;
    }
    plain.set_query(None);
    plain.set_fragment(None);
    let socket = url.query_pairs().find(|(name, _)| name == "socket");
    let socket = socket.map(|(_, path)| format!("?socket={path}")).unwrap_or_default();
    Some(format!("{plain}{socket}"))
}

/// What a client's option file may say.
#[derive(Debug, Default, PartialEq, Eq)]
struct OptionFile {
    user: Option<String>,
    password: Option<String>,
    host: Option<String>,
    port: Option<String>,
    socket: Option<String>,
    ssl_ca: Option<String>,
    passed_over: Option<PathBuf>,
    /// What the names of groups may end in that count as well.
    suffix: String,
}

impl OptionFile {
    /// `~/.my.cnf`, as <https://dev.mysql.com/doc/refman/8.0/en/option-files.html> describes it; a later line overrides an
    /// earlier one. A file that can't be read says nothing, as for the client itself.
    fn of_user(variable: impl Fn(&str) -> Option<String>) -> Self {
        let suffix = variable("MYSQL_GROUP_SUFFIX").unwrap_or_default();
        let mut options = Self { suffix, ..Self::default() };
        if let Some(home) = std::env::var_os("HOME") {
            options.read(&PathBuf::from(home).join(".my.cnf"), INCLUDES_MAX);
        }
        options
    }

    /// Takes what a file says, and those that it includes. One that everybody may write to is passed over, as by the clients: whoever
    /// writes there would say where rows go.
    fn read(&mut self, path: &Path, includes_max: usize) {
        if is_open_to_all(path) {
            self.passed_over = Some(path.to_owned());
        } else if let Ok(text) = std::fs::read_to_string(path) {
            self.parse(&text, includes_max);
        }
    }

    fn parse(&mut self, text: &str, includes_max: usize) {
        let mut ours = false;
        for line in text.lines().map(str::trim) {
            if let Some((group, _)) = line.strip_prefix('[').and_then(|line| line.split_once(']')) {
                let end = |name| group.trim_end().strip_prefix(name);
                let mut ends = GROUPS.into_iter().filter_map(end);
                ours = ends.any(|end| end.is_empty() || end == self.suffix);
            } else if let Some(directive) = line.strip_prefix('!') {
                if includes_max > 0 {
                    included(directive).iter().for_each(|path| self.read(path, includes_max - 1));
                }
            } else if ours && !line.starts_with(['#', ';']) {
                let line = without_comment(line);
                let (name, value) = line.split_once('=').unwrap_or((line, ""));
                let value = Some(option_value(value.trim()));
                match name.trim().replace('_', "-").as_str() {
                    "user" => self.user = value,
                    "password" => self.password = value,
                    "host" => self.host = value,
                    "port" => self.port = value,
                    "socket" => self.socket = value,
                    "ssl-ca" => self.ssl_ca = value,
                    _ => {}
                }
            }
        }
    }
}

/// The groups of an option file that all clients read.
const GROUPS: [&str; 3] = ["client", "client-server", "client-mariadb"];

/// How deep option files may include others, as for the clients.
const INCLUDES_MAX: usize = 10;

/// The files of an `!include` or `!includedir`, in the order of their names.
fn included(directive: &str) -> Vec<PathBuf> {
    let Some((word, path)) = directive.trim().split_once(char::is_whitespace) else {
        return Vec::new();
    };
    let path = PathBuf::from(path.trim());
    match word {
        "include" => vec![path],
        "includedir" => {
            let entries = std::fs::read_dir(&path).into_iter().flatten().flatten();
            let files = entries.map(|entry| entry.path());
            let is_ours = |path: &PathBuf| path.extension().is_some_and(|ending| ending == "cnf");
            let mut files: Vec<PathBuf> = files.filter(is_ours).collect();
            files.sort();
            files
        }
        _ => Vec::new(),
    }
}

#[cfg(unix)]
fn is_open_to_all(path: &Path) -> bool {
    use std::os::unix::fs::PermissionsExt as _;
    let found = std::fs::metadata(path);
    found.is_ok_and(|found| found.is_file() && found.permissions().mode() & 0o002 != 0)
}

#[cfg(not(unix))]
fn is_open_to_all(_path: &Path) -> bool {
    false
}

/// A line up to its comment, which begins at any `#` that is in no quotes. Quotes count wherever they are, as for the clients.
fn without_comment(line: &str) -> &str {
    let (mut quote, mut is_escaped) = (None, false);
    for (at, c) in line.char_indices() {
        match (quote, c) {
            (None, '#') => return &line[..at],
            (None, '\'' | '"') => quote = Some(c),
            (Some(open), _) if open == c && !is_escaped => quote = None,
            _ => {}
        }
        is_escaped = quote.is_some() && c == '\\' && !is_escaped;
    }
    line
}

/// A value without its quotes, and with its escapes undone.
fn option_value(raw: &str) -> String {
    let within = |quote| raw.strip_prefix(quote).and_then(|rest: &str| rest.strip_suffix(quote));
    let body = within('"').or_else(|| within('\'')).unwrap_or(raw);
    let mut out = String::new();
    let mut chars = body.chars();
    while let Some(c) = chars.next() {
        match (c, c == '\\') {
            (_, true) => match chars.next() {
                Some('n') => out.push('\n'),
                Some('t') => out.push('\t'),
                Some('r') => out.push('\r'),
                Some('b') => out.push('\u{8}'),
                Some('s') => out.push(' '),
                Some(quote @ ('\'' | '"')) => out.push(quote),
                Some('\\') | None => out.push('\\'),
                Some(other) => out.extend(['\\', other]),
            },
            _ => out.push(c),
        }
    }
    out
}

/// Takes a URL apart and adds what the environment and the option file say.
///
/// # Errors
/// When the URL is none, names no database, or has a parameter that isn't known.
pub(super) fn place(url: &str, spare: &Spare) -> Result<Place> {
    let variable = |name: &str| std::env::var(name).ok();
    let place = place_with(url, &OptionFile::of_user(variable), variable)?;
    Ok(Place { spare: spare.clone(), ..place })
}

fn place_with(
    text: &str,
    file: &OptionFile,
    variable: impl Fn(&str) -> Option<String>,
) -> Result<Place> {
    taken_apart(text, file, variable).map_err(|error| error.of_url(text))
}

fn taken_apart(
    text: &str,
    file: &OptionFile,
    variable: impl Fn(&str) -> Option<String>,
) -> Result<Place> {
    let scheme = without_secrets(text);
    let wrong = |what: String| {
        Error::usage(what)
            .advise("write mysql://user@host:port/database, with ?socket=/path for a unix socket")
    };
    let url = Url::parse(text).map_err(|error| wrong(format!("{scheme} is no URL: {error}")))?;
    let decode = |part: &str| {
        let decoded = percent_decode_str(part).decode_utf8().map(Cow::into_owned);
        decoded.map_err(|_| wrong(format!("{scheme}: a name is not UTF-8")))
    };
    let path = url.path().trim_matches('/');
    if let Some((database, table)) = path.split_once('/') {
        return Err(behind_database(database, table));
    }
    let database = decode(path)?;
    if database.is_empty() {
        return Err(wrong("the URL names no database".to_owned()));
    }
    let mut socket = None;
    // The words are those of MySQL's own clients
    // (https://dev.mysql.com/doc/refman/8.0/en/connection-options.html#option_general_ssl-mode).
    let mut ssl_mode = None;
    let mut ssl_ca = file.ssl_ca.clone();
    let mut compress = false;
    let mut connect_timeout = CONNECT_TIMEOUT;
    let mut read_timeout = None;
    for (name, value) in url.query_pairs() {
        let seconds = || match value.parse::<u64>() {
            Ok(seconds @ 1..=86_400) => Ok(Duration::from_secs(seconds)),
            _ => Err(wrong(format!("{name}={value}: takes seconds from 1 to 86400"))),
        };
        match &*name {
            "socket" => socket = Some(value.clone().into_owned()),
            "ssl-mode" => {
                ssl_mode = Some(match value.to_ascii_lowercase().replace('-', "_").as_str() {
                    "disabled" => None,
                    "required" => Some(Believe::Anybody),
                    "verify_ca" => Some(Believe::AnyName),
                    "verify_identity" => Some(Believe::Host),
                    _ => {
                        return Err(wrong(format!(
                            "ssl-mode={value}: takes disabled, required, verify_ca or verify_identity"
                        )));
                    }
                });
            }
            "ssl-ca" => ssl_ca = Some(value.clone().into_owned()),
            "compress" => {
                compress = match &*value {
                    "yes" | "true" | "1" => true,
                    "no" | "false" | "0" => false,
                    _ => return Err(wrong(format!("compress={value}: takes yes or no"))),
                };
            }
            "connect-timeout" => connect_timeout = seconds()?,
            "read-timeout" => read_timeout = Some(seconds()?),
            _ => {
                return Err(wrong(format!("the URL has an unknown parameter {name}")).advise(
                    "use socket, ssl-mode, ssl-ca, compress, connect-timeout or read-timeout",
                ));
            }
        }
    }
    // As for the clients, the environment says what the option file doesn't.
    let said = |name| variable(name).filter(|value| !value.is_empty());
    let host = match url.host_str().filter(|host| !host.is_empty()) {
        Some(host) => decode(host.trim_start_matches('[').trim_end_matches(']'))?,
        None => {
            let host = file.host.clone().or_else(|| said("MYSQL_HOST"));
            host.unwrap_or_else(|| "localhost".to_owned())
        }
    };
    // To the clients, localhost without a port means the socket; where that is, only these know.
    if socket.is_none() && host == "localhost" && url.port().is_none() {
        socket = file.socket.clone().or_else(|| said("MYSQL_UNIX_PORT"));
    }
    let other_port = file.port.clone().or_else(|| said("MYSQL_TCP_PORT"));
    let other_port = other_port.and_then(|port| port.parse().ok());
    let port = url.port().or(other_port).unwrap_or(PORT);
    let user = match url.username() {
        // As MySQL's own clients do.
        "" => file.user.clone().or_else(account).or_else(|| variable("USER")),
        user => Some(decode(user)?),
    };
    let password = match url.password() {
        Some(password) => Some(decode(password)?),
        None => variable("MYSQL_PWD")
            .or_else(|| variable("INRUSH_PASSWORD"))
            .or_else(|| file.password.clone()),
    };
    let address = match socket {
        Some(path) => Address::Socket(path),
        None => Address::Host(host, port),
    };
    let is_local = address.is_local();
    // What stays on this machine can't be listened to; what leaves it is encrypted, and the server has to prove itself.
    // Who names an authority wants it asked, as with MySQL's own clients.
    let names_authority = url.query_pairs().any(|(name, _)| name == "ssl-ca");
    let believe = match ssl_mode {
        Some(None) if names_authority => {
            return Err(wrong(
                "ssl-mode=disabled asks no authority, and ssl-ca names one".to_owned(),
            ));
        }
        Some(Some(Believe::AnyName)) if ssl_ca.is_none() => {
            return Err(wrong(
                "ssl-mode=verify_ca takes a certificate for any name, so ssl-ca=FILE has to say whose".to_owned(),
            ));
        }
        Some(Some(Believe::Anybody)) if names_authority => Some(Believe::AnyName),
        Some(believe) => believe,
        None if !is_local => Some(Believe::Host),
        None => names_authority.then_some(Believe::AnyName),
    };
    let tls = believe.map(|believe| Tls { believe, authority: ssl_ca.map(PathBuf::from) });
    let shown = address.to_string();
    Ok(Place {
        address,
        user,
        password,
        database,
        tls,
        compress,
        patience: Patience { connect: connect_timeout, answer: read_timeout },
        passed_over: file.passed_over.clone(),
        is_local,
        shown,
        spare: Spare::default(),
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn opened(url: &str, file: &str, variables: &[(&str, &str)]) -> Result<Place> {
        let mut options = OptionFile::default();
        options.parse(file, INCLUDES_MAX);
        place_with(url, &options, |name| {
            variables.iter().find(|(known, _)| *known == name).map(|(_, value)| (*value).to_owned())
        })
    }

    #[test]
    fn the_url_stands_above_the_environment_and_that_above_the_option_file() {
        let file = "[client]\nuser = filer\npassword='fi\\\\le # x' # comment\nport=4000\n[mysqld]\nport=1\n";
        let place = opened("mysql://h1/d", file, &[]).unwrap();
        assert_eq!(place.user.as_deref(), Some("filer"));
        assert_eq!(place.password.as_deref(), Some("fi\\le # x"));
        assert_eq!(place.address, Address::Host("h1".to_owned(), 4000));
        let place = opened("mysql://h1/d", file, &[("MYSQL_PWD", "env")]).unwrap();
        assert_eq!(place.password.as_deref(), Some("env"));
        let place =
            opened("mysql://u%40x:p%2Fw@h1:5/d%20b", file, &[("MYSQL_PWD", "env")]).unwrap();
        assert_eq!((place.user.as_deref(), place.password.as_deref()), (Some("u@x"), Some("p/w")));
        assert_eq!((place.shown.as_str(), place.database.as_str()), ("h1:5", "d b"));
    }

    /// Where MariaDB's client connects to.
    #[test]
    fn the_environment_says_where_the_server_is_if_nothing_else_does() {
        let all = [
            ("MYSQL_HOST", "env"),
            ("MYSQL_TCP_PORT", "4"),
            ("MYSQL_UNIX_PORT", "/env.sock"),
            ("MYSQL_PWD", ""),
        ];
        let shown = |url, file, from| opened(url, file, &all[from..]).unwrap().shown;
        assert_eq!(shown("mysql:///d", "", 0), "env:4");
        assert_eq!(shown("mysql://h/d", "", 0), "h:4");
        assert_eq!(shown("mysql://h:5/d", "", 0), "h:5");
        assert_eq!(shown("mysql:///d", "[client]\nhost=h\nport=6\n", 0), "h:6");
        assert_eq!(shown("mysql:///d", "", 1), "/env.sock");
        assert_eq!(shown("mysql://localhost:5/d", "", 1), "localhost:5");
        assert_eq!(shown("mysql:///d", "[client]\nsocket=/s\n", 1), "/s");
        assert_eq!(
            opened("mysql:///d", "", &[("MYSQL_HOST", "")]).unwrap().shown,
            "localhost:3306"
        );
    }

    #[test]
    fn groups_with_the_suffix_of_the_environment_count_in_their_order() {
        let host = |suffix: &str, file: &str| {
            let mut options = OptionFile { suffix: suffix.to_owned(), ..OptionFile::default() };
            options.parse(file, INCLUDES_MAX);
            options.host
        };
        let file = "[client]\nhost=a\n[client_x]\nhost=b\n[client_y]\nhost=c\n";
        let own = |text: &str| Some(text.to_owned());
        assert_eq!([host("", file), host("_x", file)], [own("a"), own("b")]);
        assert_eq!(host("_x", "[client_x]\nhost=b\n[client]\nhost=a\n"), own("a"));
    }

    /// What MariaDB's `my_print_defaults` prints of these lines.
    #[test]
    fn values_of_an_option_file_are_read_as_the_clients_do() {
        for (line, value) in [
            ("password=ab#c", "ab"),
            ("password=ab #c", "ab"),
            ("password=#c", ""),
            (r#"password="ab#c""#, "ab#c"),
            ("password = 'ab#c' # x", "ab#c"),
            (r##"password="ab\"#c""##, r##"ab"#c"##),
            (r##"password="a\\"#b""##, r"a\"),
            ("password=it's#x", "it's#x"),
            (r##"password=ab"#"c # d"##, r##"ab"#"c"##),
            (r#"password="q" b"#, r#""q" b"#),
            (r#"password="ab' # x"#, r#""ab' # x"#),
            (r#"password=""#, r#"""#),
            (r"password='a\'b'", "a'b"),
            (r"password=a\#b", r"a\"),
            (r"password=a\sb\qc\\d\", r"a b\qc\d\"),
            (r##"password = " sp "# c"##, " sp "),
            ("password=a;b", "a;b"),
        ] {
            for group in ["[client]", "[client] # mine", " [client]"] {
                let file = format!("{group}\n{line}\n[mysqld] # not mine\npassword=other\n");
                let place = opened("mysql://h/d", &file, &[]).unwrap();
                assert_eq!(place.password.as_deref(), Some(value), "{line}");
            }
        }
    }

    #[cfg(unix)]
    #[test]
    fn option_files_include_others_but_none_that_everybody_may_write_to() {
        use std::os::unix::fs::PermissionsExt as _;
        let home = tempfile::tempdir().unwrap();
        let path = |name: &str| home.path().join(name);
        let shown = home.path().display();
        std::fs::create_dir(path("more")).unwrap();
        let client = |line: &str| format!("[client]\n{line}\n");
        std::fs::write(
            path("one"),
            client("user=one\nport=1\nhost=a") + &format!("!include {shown}/one"),
        )
        .unwrap();
        std::fs::write(path("more/b.cnf"), client("port=3")).unwrap();
        std::fs::write(path("more/a.cnf"), client("port=2\nsocket=s")).unwrap();
        std::fs::write(path("more/c.txt"), client("port=4")).unwrap();
        let text = format!("[client]\n!include {shown}/one\nuser=mine\n!includedir {shown}/more\n");
        std::fs::write(path(".my.cnf"), text).unwrap();
        let read = || {
            let mut options = OptionFile::default();
            options.read(&path(".my.cnf"), INCLUDES_MAX);
            options
        };
        let own = |text: &str| Some(text.to_owned());
        let found = read();
        assert_eq!((found.user, found.host, found.port), (own("mine"), own("a"), own("3")));
        assert_eq!((found.socket, found.passed_over), (own("s"), None));
        std::fs::set_permissions(path("one"), std::fs::Permissions::from_mode(0o666)).unwrap();
        let found = read();
        assert_eq!((found.host, found.passed_over), (None, Some(path("one"))));
    }

    #[test]
    fn the_database_ends_the_url() {
        assert_eq!(opened("mysql://h/d/", "", &[]).unwrap().database, "d");
        let error = opened("mysql://h/d/t1", "", &[]).err().unwrap();
        assert_eq!(error.advice(), ["end it with the database, and say --table t1"]);
    }

    #[test]
    fn what_leaves_the_machine_is_encrypted_and_verified() {
        let tls = |url| opened(url, "", &[]).unwrap().tls;
        assert_eq!(tls("mysql://u@127.0.0.1/d"), None);
        assert_eq!(tls("mysql://u@h/d?socket=/s"), None);
        assert_eq!(tls("mysql://u@db.example.org/d?ssl-mode=disabled"), None);
        let remote = tls("mariadb://u@db.example.org/d");
        assert_eq!(remote, Some(Tls { believe: Believe::Host, authority: None }));
    }

    #[test]
    fn passwords_are_not_shown() {
        let location = claim("mysql://u:secret@h:5/d?socket=/run/s.sock&ssl-ca=/x").unwrap();
        assert_eq!(location.shown, "mysql://u@h:5/d?socket=/run/s.sock");
        assert_eq!(claim("mysql:///d").unwrap().shown, "mysql:///d");
        assert_eq!(claim("mysql:///d?socket=/s").unwrap().shown, "mysql:///d?socket=/s");
        for url in [
            "mysql://u:secret@h:99999/d",
            "mysql://u:secret@",
            "mysql://u:secret@h/",
            "mysql://u:1/2?secret=x@h/d",
            "mysql://u:1/secret?socket=x@h",
        ] {
            let shown = claim(url).unwrap().shown;
            let error = opened(url, "", &[]).err().map(|error| error.to_string());
            assert!(!shown.contains("secret"), "{shown}");
            assert!(!error.unwrap_or_default().contains("secret"));
        }
        assert!(claim("postgres://u@h/d").is_none());
    }
}
