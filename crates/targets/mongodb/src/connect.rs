//! Where the servers are, and how to get in: the URL, as all of MongoDB's drivers read it
//! (<https://www.mongodb.com/docs/manual/reference/connection-string/>).

use std::borrow::Cow;
use std::path::PathBuf;
use std::time::Duration;

use percent_encoding::percent_decode_str;

use inrush_core::error::{Error, Result, escape_advice, without_secrets};
use inrush_core::target::{Location, behind_database};
use inrush_net::channel::{Address, Believe, Patience, Tls};

/// A server that does not answer for so long is not there.
pub(super) const CONNECT_TIMEOUT: Duration = Duration::from_secs(10);

/// The longest that a timeout may be.
const TIMEOUT_MILLIS_MAX: u64 = 86_400_000;

const PORT: u16 = 27_017;

/// Everything that it takes to connect. It has no `Debug`, for it has a password.
#[derive(Clone)]
pub(super) struct Place {
    /// Tried in this order; at least one.
    pub(super) servers: Vec<Address>,
    pub(super) user: Option<String>,
    pub(super) password: Option<String>,
    /// The database that knows the user.
    pub(super) authority: String,
    pub(super) mechanism: Option<Mechanism>,
    pub(super) database: String,
    pub(super) tls: Option<Tls>,
    pub(super) replica_set: Option<String>,
    /// The server that is named is meant, and not its replica set.
    pub(super) direct: bool,
    pub(super) app_name: String,
    pub(super) patience: Patience,
    /// What a wait for other members of the replica set may take.
    pub(super) write_timeout: Option<i64>,
    /// What the URL says that writes wait for, where the user sets no knob.
    pub(super) write_concern: Option<String>,
    pub(super) journal: Option<bool>,
    /// Hosts and ports, or sockets, for messages.
    pub(super) shown: String,
}

/// How a user proves who they are.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Mechanism {
    ScramSha1,
    ScramSha256,
    Plain,
}

impl Mechanism {
    pub(super) const ALL: [Self; 3] = [Self::ScramSha256, Self::ScramSha1, Self::Plain];

    pub(super) fn name(self) -> &'static str {
        match self {
            Self::ScramSha1 => "SCRAM-SHA-1",
            Self::ScramSha256 => "SCRAM-SHA-256",
            Self::Plain => "PLAIN",
        }
    }
}

/// The options that mean something to a load.
const OPTIONS: &str = "authSource, authMechanism, tls, tlsCAFile, tlsAllowInvalidCertificates, tlsAllowInvalidHostnames, tlsInsecure, replicaSet, \
     directConnection, w, journal, wtimeoutMS, appName, connectTimeoutMS, serverSelectionTimeoutMS or socketTimeoutMS";

/// Options with which a load is the same: reads of ours go where the rows went, and there is one connection a lane.
const IDLE: [&str; 14] = [
    "compressors",
    "heartbeatfrequencyms",
    "loadbalanced",
    "localthresholdms",
    "maxconnecting",
    "maxidletimems",
    "maxpoolsize",
    "minpoolsize",
    "readconcernlevel",
    "readpreference",
    "readpreferencetags",
    "retryreads",
    "retrywrites",
    "uuidrepresentation",
];

/// The location that a URL names.
pub(super) fn claim(text: &str) -> Option<Location> {
    let (scheme, _) = text.split_once("://")?;
    if !matches!(scheme.to_ascii_lowercase().as_str(), "mongodb" | "mongodb+srv") {
        return None;
    }
    // What makes no sense may hold a piece of a password where none belongs.
    let is_clear = escape_advice(text).is_none() && place_with(text, &|_| None).is_ok();
    let shown = Parts::of(text).filter(|_| is_clear).map(|parts| {
        let user = parts.user.map(|user| format!("{user}@")).unwrap_or_default();
        format!("mongodb://{user}{}/{}", parts.hosts, parts.database.trim_end_matches('/'))
    });
    let shown = shown.unwrap_or_else(|| without_secrets(text));
    Some(Location::new(text.to_owned(), shown, Vec::new()))
}

/// A URL taken apart, nothing of it decoded.
struct Parts<'t> {
    user: Option<&'t str>,
    password: Option<&'t str>,
    hosts: &'t str,
    database: &'t str,
    options: &'t str,
}

impl<'t> Parts<'t> {
    fn of(text: &'t str) -> Option<Self> {
        let (_, rest) = text.split_once("://")?;
        let (rest, options) = rest.split_once('?').unwrap_or((rest, ""));
        let (who_where, database) = rest.split_once('/').unwrap_or((rest, ""));
        let (who, hosts) = match who_where.rsplit_once('@') {
            Some((who, hosts)) => (Some(who), hosts),
            None => (None, who_where),
        };
        let (user, password) = match who.map(|who| who.split_once(':').ok_or(who)) {
            Some(Ok((user, password))) => (Some(user), Some(password)),
            Some(Err(user)) => (Some(user), None),
            None => (None, None),
        };
        Some(Self { user, password, hosts, database, options })
    }
}

/// Takes a URL apart, and adds the password that the environment has.
///
/// # Errors
/// When the URL is none, names no database, or has an option that can't be had.
pub(super) fn place(url: &str) -> Result<Place> {
    place_with(url, &|name| std::env::var(name).ok())
}

/// An error in the URL itself; an option's own says what the option takes.
fn wrong(what: impl Into<String>) -> Error {
    Error::usage(what).advise("write mongodb://user@host:port/database")
}

fn place_with(text: &str, variable: &dyn Fn(&str) -> Option<String>) -> Result<Place> {
    taken_apart(text, variable).map_err(|error| error.of_url(text))
}

fn taken_apart(text: &str, variable: &dyn Fn(&str) -> Option<String>) -> Result<Place> {
    let scheme = without_secrets(text);
    if text.get(..11).is_some_and(|scheme| scheme.eq_ignore_ascii_case("mongodb+srv")) {
        return Err(Error::usage("mongodb+srv:// names servers that only DNS knows, and inrush does not ask it")
            .advise("write the servers out: mongodb://user@host1:port,host2:port/database?tls=true&replicaSet=NAME&authSource=admin")
            .advise("`dig +short SRV _mongodb._tcp.HOST` lists the hosts, `dig +short TXT HOST` the options"));
    }
    let parts = Parts::of(text).ok_or_else(|| wrong(format!("{scheme} is no URL")))?;
    let decode = |part: &str| {
        let decoded = percent_decode_str(part).decode_utf8().map(Cow::into_owned);
        decoded.map_err(|_| wrong(format!("{scheme}: a name is not UTF-8")))
    };
    let path = parts.database.trim_end_matches('/');
    if let Some((database, collection)) = path.split_once('/') {
        return Err(behind_database(database, collection));
    }
    let database = decode(path)?;
    if database.is_empty() || database.contains(['/', '\\', '.', ' ', '"', '$', '\0']) {
        return Err(match database.is_empty() {
            true => wrong("the URL names no database"),
            false => wrong(format!("'{database}' is no name of a database")),
        });
    }
    let servers =
        parts.hosts.split(',').map(|host| address(host, &decode)).collect::<Result<Vec<_>>>()?;
    let user = parts.user.map(decode).transpose()?.filter(|user| !user.is_empty());
    let password = match parts.password {
        Some(password) => Some(decode(password)?),
        None => variable("INRUSH_PASSWORD").filter(|password| !password.is_empty()),
    };
    let shown: Vec<String> = servers.iter().map(ToString::to_string).collect();
    let mut place = Place {
        shown: shown.join(", "),
        servers,
        user,
        password,
        authority: String::new(),
        mechanism: None,
        tls: None,
        replica_set: None,
        direct: false,
        app_name: "inrush".to_owned(),
        patience: Patience { connect: CONNECT_TIMEOUT, answer: None },
        write_timeout: None,
        write_concern: None,
        journal: None,
        database,
    };
    options(parts.options, &decode, &mut place)?;
    if place.direct && place.servers.len() > 1 {
        let what = "directConnection=true means one server, and the URL names several";
        return Err(
            Error::usage(what).advise("name that server alone, or leave directConnection out")
        );
    }
    Ok(place)
}

fn address(host: &str, decode: &dyn Fn(&str) -> Result<String>) -> Result<Address> {
    let host = decode(host)?;
    if host.starts_with('/') {
        return Ok(Address::Socket(host));
    }
    server(&host)
        .ok_or_else(|| wrong("the URL names no host, or a port that is no number from 1 to 65535"))
}

/// `host:port`, as servers name each other, too.
pub(super) fn server(text: &str) -> Option<Address> {
    let (host, port) = match text.strip_prefix('[').and_then(|text| text.split_once(']')) {
        Some((host, rest)) => (host, rest.strip_prefix(':')),
        None => match text.rsplit_once(':') {
            Some((host, port)) => (host, Some(port)),
            None => (text, None),
        },
    };
    let port = match port {
        None => PORT,
        Some(port) => port.parse().ok().filter(|port| *port > 0)?,
    };
    (!host.is_empty()).then(|| Address::Host(host.to_owned(), port))
}

/// What the URL says behind its question mark.
fn options(text: &str, decode: &dyn Fn(&str) -> Result<String>, place: &mut Place) -> Result<()> {
    let mut tls = None;
    let (mut any_certificate, mut any_name, mut authority) = (false, false, None);
    let mut source = None;
    for pair in text.split(['&', ';']).filter(|pair| !pair.is_empty()) {
        let (name, value) = pair.split_once('=').unwrap_or((pair, ""));
        let (name, value) = (decode(name)?, decode(value)?);
        let takes = |what: &str| {
            Error::usage(format!("the URL's option {name}={value}: {name} takes {what}"))
                .advise(format!("give it such a value, or leave {name} out"))
        };
        let truth = || match value.as_str() {
            "true" => Ok(true),
            "false" => Ok(false),
            _ => Err(takes("true or false")),
        };
        let millis = || match value.parse::<u64>() {
            Ok(0) => Ok(None),
            Ok(millis @ 1..=TIMEOUT_MILLIS_MAX) => Ok(Some(Duration::from_millis(millis))),
            _ => Err(takes("milliseconds")),
        };
        match name.to_ascii_lowercase().as_str() {
            "authsource" => source = Some(value),
            "authmechanism" => {
                let known = Mechanism::ALL.into_iter().find(|known| known.name() == value);
                let names = Mechanism::ALL.map(Mechanism::name).join(", ");
                place.mechanism = Some(known.ok_or_else(|| takes(&format!("one of {names}")))?);
            }
            "tls" | "ssl" => tls = Some(truth()?),
            "tlscafile" => authority = Some(PathBuf::from(value)),
            "tlsallowinvalidcertificates" => any_certificate = truth()?,
            "tlsallowinvalidhostnames" => any_name = truth()?,
            "tlsinsecure" => any_certificate = truth()?,
            "replicaset" => place.replica_set = Some(value),
            "directconnection" => place.direct = truth()?,
            "w" => match value.as_str() {
                "majority" | "1" | "0" => place.write_concern = Some(value),
                _ => return Err(takes("majority, 1 or 0")),
            },
            "journal" | "j" => place.journal = Some(truth()?),
            "wtimeoutms" | "wtimeout" => {
                place.write_timeout =
                    millis()?.and_then(|wait| i64::try_from(wait.as_millis()).ok());
            }
            "appname" => place.app_name = value,
            "connecttimeoutms" | "serverselectiontimeoutms" => {
                place.patience.connect = millis()?.unwrap_or(CONNECT_TIMEOUT);
            }
            "sockettimeoutms" => place.patience.answer = millis()?,
            idle if IDLE.contains(&idle) => {}
            _ => {
                let what = format!("the URL has an option {name}, which inrush does not know");
                return Err(Error::usage(what).advise(format!("use {OPTIONS}")));
            }
        }
    }
    place.authority = match source {
        Some(source) => source,
        None if place.mechanism == Some(Mechanism::Plain) => "$external".to_owned(),
        // Users are nearly always the server's, and not one database's; drivers look in the database that the URL names.
        None => place.database.clone(),
    };
    let encrypts = tls.unwrap_or(any_certificate || any_name || authority.is_some());
    if !encrypts && authority.is_some() {
        return Err(Error::usage("tls=false asks no authority, and tlsCAFile names one")
            .advise("leave one of them out of the URL"));
    }
    place.tls = encrypts.then_some(Tls {
        believe: match (any_certificate, any_name) {
            (true, _) => Believe::Anybody,
            (false, true) => Believe::AnyName,
            (false, false) => Believe::Host,
        },
        authority,
    });
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn opened(url: &str) -> Place {
        place_with(url, &|name| (name == "INRUSH_PASSWORD").then(|| "env".to_owned())).unwrap()
    }

    #[test]
    fn urls_are_read_as_drivers_read_them() {
        let place = opened(
            "mongodb://u%40x:p%2Fw@h1,h2:5,[::1]:6/d%2Db?authSource=admin&w=majority&journal=true&wtimeoutMS=500&retryWrites=true",
        );
        assert_eq!((place.user.as_deref(), place.password.as_deref()), (Some("u@x"), Some("p/w")));
        let host = |name: &str, port| Address::Host(name.to_owned(), port);
        assert_eq!(place.servers, [host("h1", 27_017), host("h2", 5), host("::1", 6)]);
        assert_eq!((place.database.as_str(), place.authority.as_str()), ("d-b", "admin"));
        assert_eq!((place.write_concern.as_deref(), place.journal), (Some("majority"), Some(true)));
        assert_eq!(place.write_timeout, Some(500));
        let place = opened("mongodb://u@%2Ftmp%2Fm.sock/d");
        assert_eq!(place.servers, [Address::Socket("/tmp/m.sock".to_owned())]);
        assert_eq!((place.password.as_deref(), place.authority.as_str()), (Some("env"), "d"));
    }

    #[test]
    fn the_database_ends_the_url() {
        assert_eq!(opened("mongodb://h/d/").database, "d");
        let error = place_with("mongodb://h/d/t1", &|_| None).err().unwrap();
        assert_eq!(error.advice(), ["end it with the database, and say --table t1"]);
    }

    #[test]
    fn encryption_is_what_was_asked_for() {
        let tls =
            |options: &str| opened(&format!("mongodb://h/d?{options}")).tls.map(|tls| tls.believe);
        assert_eq!(tls(""), None);
        assert_eq!(tls("tls=true"), Some(Believe::Host));
        assert_eq!(tls("ssl=true&tlsAllowInvalidHostnames=true"), Some(Believe::AnyName));
        assert_eq!(tls("tls=true&tlsAllowInvalidCertificates=true"), Some(Believe::Anybody));
        assert_eq!(tls("tlsCAFile=/x"), Some(Believe::Host));
        // Who says how to encrypt is never sent in the clear, unless that is said, too.
        assert_eq!(tls("tlsAllowInvalidCertificates=true"), Some(Believe::Anybody));
        assert_eq!(tls("tls=false&tlsAllowInvalidCertificates=true"), None);
    }

    #[test]
    fn mistakes_are_named_and_passwords_are_not() {
        for (url, says) in [
            ("mongodb://u:secret@h/", "no database"),
            ("mongodb://u:secret@h:99999/d", "port"),
            ("mongodb://u:secret@/d", "no host"),
            ("mongodb://u:secret@h/d?tls=maybe", "true or false"),
            ("mongodb://u:secret@h/d?w=7", "majority, 1 or 0"),
            ("mongodb://u:secret@h/d?tls=false&tlsCAFile=/x", "no authority"),
            ("mongodb://u:secret@h/d?colour=red", "colour"),
            ("mongodb://u:secret@h/d?authMechanism=MONGODB-X509", "SCRAM-SHA-256"),
            ("mongodb://u:secret@h,i/d?directConnection=true", "several"),
            ("mongodb+srv://u:secret@h/d", "DNS"),
        ] {
            let error = place_with(url, &|_| None).err().unwrap();
            // How a URL is written is no advice about an option.
            let advice = error.advice().join("; ");
            assert_eq!(
                advice.contains("write mongodb://user@host"),
                !url.contains('?') && !url.contains("srv"),
                "{advice}"
            );
            assert!(!advice.is_empty() && !advice.contains("secret"), "{advice}");
            let error = error.to_string();
            assert!(error.contains(says) && !error.contains("secret"), "{url}: {error}");
            assert!(!claim(url).unwrap().shown.contains("secret"));
        }
        for url in [
            "mongodb://u:a/secret@h/d",
            "mongodb://u:1/secret@h/d",
            "mongodb://u:1/a?secret@h/d",
            "mongodb://u:1/a?w=secret@h/d",
            "mongodb://u:1/secret?appName=a@h",
        ] {
            assert!(!claim(url).unwrap().shown.contains("secret"), "{url}");
            if let Err(error) = place_with(url, &|_| None) {
                assert!(!error.to_string().contains("secret"), "{url}: {error}");
                assert!(error.advice()[0].contains("%2F"), "{error}");
            }
        }
        let location = claim("mongodb://u:secret@h:5,i/d?authSource=x").unwrap();
        assert_eq!(location.shown, "mongodb://u@h:5,i/d");
        assert!(claim("postgres://u@h/d").is_none());
    }
}
