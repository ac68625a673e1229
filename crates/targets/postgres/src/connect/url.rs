//! Connection URIs, which are not quite URLs: several hosts, none, or a directory
//! (<https://www.postgresql.org/docs/current/libpq-connect.html#LIBPQ-CONNSTRING-URIS>).
//!
//! What is wrong with one is said without quoting it, for any piece may be one of a password in which a `/` or an `@` was not
//! encoded.

use std::borrow::Cow;

use percent_encoding::percent_decode_str;

/// The pieces of a URI, still percent-encoded.
pub(super) struct Uri<'a> {
    scheme: &'a str,
    user: &'a str,
    password: &'a str,
    /// Hosts with their ports, separated by commas.
    servers: &'a str,
    database: &'a str,
    parameters: &'a str,
}

/// Whether `text` is meant to be a connection URI.
pub(super) fn is_uri(text: &str) -> bool {
    let scheme = text.split_once("://").map(|(scheme, _)| scheme.to_ascii_lowercase());
    matches!(scheme.as_deref(), Some("postgres" | "postgresql"))
}

impl<'a> Uri<'a> {
    /// Takes a URI apart, as libpq does. Where libpq's reading would make a host, a database or a user of what may be the rest of a
    /// password, it is refused: those are shown.
    pub(super) fn parse(text: &'a str) -> Result<Self, String> {
        let (scheme, rest) = text.split_once("://").ok_or("no URL")?;
        // Whatever comes before an @ says who comes in, unless a slash comes first.
        let (access, rest) = match rest.find(['@', '/']) {
            Some(end) if rest[end..].starts_with('@') => (&rest[..end], &rest[end + 1..]),
            _ => ("", rest),
        };
        if access.split_once('?').is_some_and(|(_, behind)| behind.contains('=')) {
            return Err("it is not clear what the @ belongs to: write %3F for a ? in a password, \
                        and %40 for an @ in a parameter"
                .to_owned());
        }
        let (user, password) = access.split_once(':').unwrap_or((access, ""));
        let (place, parameters) = rest.split_once('?').unwrap_or((rest, ""));
        if place.contains('@') {
            return Err(
                "there is an @ in the host or the database: write %40 for an @ in a name or \
                        a password, and %2F for a / in a password"
                    .to_owned(),
            );
        }
        let (servers, database) = place.split_once('/').unwrap_or((place, ""));
        Ok(Self { scheme, user, password, servers, database, parameters })
    }

    /// What it says, decoded, by the names of libpq's parameters; a later one overrides an earlier one.
    pub(super) fn settings(&self) -> Result<Vec<(String, String)>, String> {
        let (hosts, ports) = self.hosts_and_ports()?;
        let pieces = [
            ("user", self.user),
            ("password", self.password),
            ("host", &hosts),
            ("port", &ports),
            ("dbname", self.database),
        ];
        let mut settings = Vec::new();
        for (name, value) in pieces.into_iter().filter(|(_, value)| !value.is_empty()) {
            settings.push((name.to_owned(), decoded(value)?));
        }
        settings.extend(self.parameters()?);
        Ok(settings)
    }

    fn parameters(&self) -> Result<Vec<(String, String)>, String> {
        let mut settings = Vec::new();
        for parameter in self.parameters.split('&').filter(|parameter| !parameter.is_empty()) {
            let (name, value) =
                parameter.split_once('=').ok_or("a parameter has no = behind its name")?;
            if value.contains('=') {
                return Err("a parameter has more than one =: write %3D for one that belongs to \
                            its value"
                    .to_owned());
            }
            settings.push(match (decoded(name)?, decoded(value)?) {
                // As JDBC's URLs say it, and libpq understands it.
                (name, value) if name == "ssl" && value == "true" => {
                    ("sslmode".to_owned(), "require".to_owned())
                }
                setting => setting,
            });
        }
        Ok(settings)
    }

    /// Both lists as libpq keeps them, with a comma for each comma of the URI, so that the second port is the second host's.
    fn hosts_and_ports(&self) -> Result<(String, String), String> {
        let (mut hosts, mut ports) = (Vec::new(), Vec::new());
        for server in self.servers.split(',') {
            let (host, port) = match server.strip_prefix('[') {
                Some(server) => {
                    let (host, behind) =
                        server.split_once(']').ok_or("an IPv6 address has no ] behind it")?;
                    let port = behind.strip_prefix(':');
                    if host.is_empty() || port.is_none() && !behind.is_empty() {
                        return Err("an IPv6 address is written [address]:port".to_owned());
                    }
                    (host, port.unwrap_or(""))
                }
                None => server.split_once(':').unwrap_or((server, "")),
            };
            hosts.push(host);
            ports.push(port);
        }
        Ok((hosts.join(","), ports.join(",")))
    }

    /// The URI without the password, and of the parameters only what says which place it is.
    pub(super) fn shown(&self) -> String {
        const PLACE: [&str; 6] = ["service", "host", "hostaddr", "port", "dbname", "user"];
        let Self { scheme, user, servers, database, parameters, .. } = self;
        let at = if user.is_empty() { "" } else { "@" };
        let slash = if database.is_empty() { "" } else { "/" };
        let is_shown = |parameter: &&str| {
            let name = parameter.split('=').next().unwrap_or_default();
            // Around an @ may be a password that was not encoded.
            PLACE.contains(&name) && !parameters.contains('@')
        };
        let shown: Vec<&str> = parameters.split('&').filter(is_shown).collect();
        let mark = if shown.is_empty() { "" } else { "?" };
        let shown = shown.join("&");
        format!("{scheme}://{user}{at}{servers}{slash}{database}{mark}{shown}")
    }

    /// Whether the name of a parameter may be a piece of a password with a `&` or an `@` that was not encoded.
    pub(super) fn names_are_secret(&self) -> bool {
        self.parameters.contains('@') || self.parameters.contains("password")
    }
}

/// What `raw` stands for. A plus sign is one: libpq knows no other way to write a space than `%20`.
fn decoded(raw: &str) -> Result<String, String> {
    let is_escape = |escape: &[u8]| matches!(escape, [high, low, ..] if high.is_ascii_hexdigit() && low.is_ascii_hexdigit());
    let bytes = raw.as_bytes();
    let mut percents = bytes.iter().enumerate().filter(|(_, byte)| **byte == b'%');
    if percents.any(|(at, _)| !is_escape(&bytes[at + 1..])) {
        return Err(
            "a % is followed by two hexadecimal digits; write %25 for one that stands for \
                    itself"
                .to_owned(),
        );
    }
    let decoded = percent_decode_str(raw).decode_utf8().map(Cow::into_owned);
    decoded.map_err(|_| "a name or a value is not UTF-8".to_owned())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn settings(text: &str) -> Result<Vec<(String, String)>, String> {
        Uri::parse(text)?.settings()
    }

    #[test]
    fn each_form_of_libpq_is_understood() {
        // The manual's examples, and those of libpq's own tests (src/interfaces/libpq/t/001_uri.pl).
        let forms = [
            ("postgresql://", ""),
            ("postgresql://localhost", "host=localhost"),
            ("postgresql://localhost:5433", "host=localhost port=5433"),
            ("postgresql://localhost/mydb", "host=localhost dbname=mydb"),
            ("postgresql://user@localhost", "user=user host=localhost"),
            ("postgres://u:secret@localhost", "user=u password=secret host=localhost"),
            (
                "postgresql://other@localhost/otherdb?connect_timeout=10&application_name=my%20app",
                "user=other host=localhost dbname=otherdb connect_timeout=10 application_name=my app",
            ),
            (
                "postgresql://host1:123,host2:456/somedb?target_session_attrs=any",
                "host=host1,host2 port=123,456 dbname=somedb target_session_attrs=any",
            ),
            ("postgresql:///mydb?host=localhost&port=5433", "dbname=mydb host=localhost port=5433"),
            ("postgresql://[2001:db8::1234]/database", "host=2001:db8::1234 dbname=database"),
            ("postgres://[::1],h:2", "host=::1,h port=,2"),
            ("postgres://%2Fvar%2Flib%2Fpostgresql/d", "host=/var/lib/postgresql dbname=d"),
            (
                "postgres://u%40x:p%2F+w%3a@h:5/d%20b",
                "user=u@x password=p/+w: host=h port=5 dbname=d b",
            ),
            ("postgresql://@host", "host=host"),
            ("postgresql://host?", "host=host"),
            ("postgresql://?host=/tmp&user=a@b", "host=/tmp user=a@b"),
            ("postgresql:///?host=/tmp&user=a@b", "host=/tmp user=a@b"),
            ("postgresql://:12345/", "port=12345"),
            ("postgresql://u:se?c#ret@h", "user=u password=se?c#ret host=h"),
            ("postgresql://h?ssl=true", "host=h sslmode=require"),
        ];
        for (text, expected) in forms {
            let found = settings(text).unwrap_or_default();
            let found: Vec<_> =
                found.iter().map(|(name, value)| format!("{name}={value}")).collect();
            assert_eq!(found.join(" "), expected, "{text}");
        }
    }

    #[test]
    fn what_makes_no_sense_is_refused() {
        for text in [
            "postgres://[::1/d",
            "postgres://[]/d",
            "postgres://[::1]5432/d",
            "postgres://h/d?user",
            "postgres://h/d?user=a=b",
            "postgres://h/%",
            "postgres://h/%zz",
            // libpq leaves this to the server.
            "postgres://h/%c3%28",
        ] {
            assert!(settings(text).is_err(), "{text}");
        }
    }
}
