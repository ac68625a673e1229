//! Where the server is, and how to get in: the URL and the environment.

use std::borrow::Cow;
use std::net::{ToSocketAddrs as _, UdpSocket};
use std::path::PathBuf;
use std::sync::atomic::{AtomicBool, Ordering::Relaxed};
use std::time::{Duration, Instant};

use percent_encoding::percent_decode_str;
use url::Url;

use inrush_core::error::{Error, Result, escape_advice, without_secrets};
use inrush_core::target::Location;
use inrush_net::channel::{Address, Believe, Broken, Patience, TICK, Tls};
use inrush_net::{Lost, LostKind};

/// A server that does not answer for so long is not there.
const CONNECT_TIMEOUT: Duration = Duration::from_secs(15);

const PORT: u16 = 1433;

/// The variable with a token of Microsoft Entra ID (Azure Active Directory).
const TOKEN: &str = "INRUSH_MSSQL_TOKEN";

/// Everything that it takes to connect.
#[derive(Clone)]
pub(super) struct Place {
    pub(super) host: String,
    /// `None` where the server's browser service knows it.
    pub(super) port: Option<u16>,
    pub(super) instance: Option<String>,
    pub(super) database: String,
    pub(super) login: Login,
    pub(super) encryption: Encryption,
    pub(super) application: String,
    pub(super) patience: Patience,
    pub(super) packet_size: u32,
    /// Host and port, for messages.
    pub(super) shown: String,
}

/// Who we are.
#[derive(Clone)]
pub(super) enum Login {
    Password { user: String, password: String },
    Token(String),
}

/// Whether bytes are encrypted.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum Encryption {
    No,
    /// Where the server insists: it is on this machine, and nobody on the way can read along.
    IfWanted,
    Yes(Tls),
}

/// The location that a URL names.
pub(super) fn claim(text: &str) -> Option<Location> {
    let scheme = text.split_once("://")?.0.to_ascii_lowercase();
    if !matches!(scheme.as_str(), "mssql" | "sqlserver") {
        return None;
    }
    let is_clear = escape_advice(text).is_none();
    let shown = Url::parse(text).ok().filter(|_| is_clear).and_then(|url| shown(&url));
    let shown = shown.unwrap_or_else(|| without_secrets(text));
    Some(Location::new(text.to_owned(), shown, Vec::new()))
}

/// The URL without the password, and without parameters.
fn shown(url: &Url) -> Option<String> {
    let mut plain = url.clone();
    plain.set_password(None).ok()?;
    plain.set_query(None);
    plain.set_fragment(None);
    Some(plain.to_string())
}

/// Takes a URL apart and adds what the environment says.
///
/// # Errors
/// When the URL is none, names no database, or has a parameter that isn't known.
pub(super) fn place(url: &str) -> Result<Place> {
    place_with(url, |name| std::env::var(name).ok())
}

/// Properties of JDBC's URLs, of which nearly every one has some.
const PROPERTIES: [&str; 8] = [
    "user",
    "userName",
    "password",
    "database",
    "databaseName",
    "encrypt",
    "integratedSecurity",
    "trustServerCertificate",
];

/// Whether it is one of JDBC's URLs: `sqlserver://host:1433;user=u`. A password may have semicolons, too.
fn has_properties(text: &str) -> bool {
    let mut names =
        text.split(';').skip(1).filter_map(|property| Some(property.split_once('=')?.0));
    names.any(|name| PROPERTIES.iter().any(|known| known.eq_ignore_ascii_case(name)))
}

fn place_with(text: &str, variable: impl Fn(&str) -> Option<String>) -> Result<Place> {
    taken_apart(text, variable).map_err(|error| error.of_url(text))
}

fn taken_apart(text: &str, variable: impl Fn(&str) -> Option<String>) -> Result<Place> {
    let scheme = without_secrets(text);
    let wrong = |what: String| {
        Error::usage(what)
            .advise("write mssql://user@host:port/database, or mssql://user@host/instance/database")
    };
    if has_properties(text) {
        let what = format!("{scheme} has properties behind semicolons, as JDBC writes them");
        return Err(wrong(what).advise("the password can be in INRUSH_PASSWORD"));
    }
    let url = Url::parse(text).map_err(|error| wrong(format!("{scheme} is no URL: {error}")))?;
    let decode = |part: &str| {
        let decoded = percent_decode_str(part).decode_utf8().map(Cow::into_owned);
        decoded.map_err(|_| wrong(format!("{scheme}: a name is not UTF-8")))
    };
    let path: Vec<&str> = url.path().split('/').filter(|part| !part.is_empty()).collect();
    let mut database = None;
    let mut instance = None;
    match path.as_slice() {
        [] => {}
        [name] => database = Some(decode(name)?),
        [name, rest] => {
            instance = Some(decode(name)?);
            database = Some(decode(rest)?);
        }
        _ => return Err(wrong("the URL's path has more than instance and database".to_owned())),
    }
    let mut encrypt = None;
    let mut trusts = false;
    let mut authority = None;
    let mut auth = None;
    let mut application = "inrush".to_owned();
    let mut connect_timeout = CONNECT_TIMEOUT;
    let mut read_timeout = None;
    for (name, value) in url.query_pairs() {
        let is_yes = || match value.to_ascii_lowercase().as_str() {
            "yes" | "true" | "1" | "mandatory" => Ok(true),
            "no" | "false" | "0" | "optional" => Ok(false),
            _ => Err(wrong(format!("{name}={value}: takes yes or no"))),
        };
        let seconds = || match value.parse::<u64>() {
            Ok(seconds @ 1..=86_400) => Ok(Duration::from_secs(seconds)),
            _ => Err(wrong(format!("{name}={value}: takes seconds from 1 to 86400"))),
        };
        // Users of other clients write trustServerCertificate, or trust-server-certificate.
        let word: String = name.chars().filter(|c| !matches!(c, '-' | '_' | ' ')).collect();
        match word.to_ascii_lowercase().as_str() {
            "encrypt" => encrypt = Some(is_yes()?),
            "trustservercertificate" => trusts = is_yes()?,
            "ca" => authority = Some(PathBuf::from(&*value)),
            "applicationname" | "appname" => application = value.into_owned(),
            "auth" => auth = Some(value.into_owned()),
            "instance" => instance = Some(value.into_owned()),
            "database" | "databasename" => database = Some(value.into_owned()),
            "connecttimeout" => connect_timeout = seconds()?,
            "readtimeout" => read_timeout = Some(seconds()?),
            _ => {
                return Err(wrong(format!("the URL has an unknown parameter {name}")).advise(
                    "use encrypt, trust_server_certificate, ca, application_name, auth, instance, connect-timeout or read-timeout",
                ));
            }
        }
    }
    let database = database
        .filter(|name| !name.is_empty())
        .ok_or_else(|| wrong("the URL names no database".to_owned()))?;
    let host = match url.host_str().filter(|host| !host.is_empty()) {
        Some(host) => decode(host.trim_start_matches('[').trim_end_matches(']'))?,
        None => "localhost".to_owned(),
    };
    let login = match auth.as_deref() {
        None | Some("sql") => Login::Password {
            user: decode(url.username())?,
            password: match url.password() {
                Some(password) => decode(password)?,
                None => variable("INRUSH_PASSWORD").unwrap_or_default(),
            },
        },
        Some("aad-token") => Login::Token(variable(TOKEN).ok_or_else(|| {
            Error::usage(format!("auth=aad-token: the variable {TOKEN} holds no token"))
                .advise(format!("{TOKEN}=$(az account get-access-token --resource https://database.windows.net --query accessToken -o tsv)"))
        })?),
        Some("windows") => {
            return Err(Error::usage("auth=windows: this build has no Kerberos")
                .advise("use a login of the server's own (auth=sql), or a token (auth=aad-token)"));
        }
        Some(other) => {
            return Err(wrong(format!("auth={other}: takes sql, aad-token or windows")));
        }
    };
    let port = url.port().or(instance.is_none().then_some(PORT));
    let is_local = Address::Host(host.clone(), 0).is_local();
    let believe = if trusts { Believe::Anybody } else { Believe::Host };
    if trusts && authority.is_some() {
        return Err(wrong(
            "trust_server_certificate=yes asks no authority, and ca names one".to_owned(),
        ));
    }
    // What stays on this machine can't be listened to; what leaves it is encrypted, and the server has to prove itself.
    let encrypt = encrypt.or((trusts || authority.is_some() || !is_local).then_some(true));
    let encryption = match encrypt {
        Some(true) => Encryption::Yes(Tls { believe, authority }),
        Some(false) if trusts || authority.is_some() => {
            return Err(wrong("encrypt=no asks for no certificate".to_owned()));
        }
        Some(false) => Encryption::No,
        None => Encryption::IfWanted,
    };
    if matches!(login, Login::Token(_)) && !matches!(encryption, Encryption::Yes(_)) {
        return Err(wrong(
            "auth=aad-token wants encrypt=yes: whoever has the token gets in".to_owned(),
        ));
    }
    let shown = match (&instance, port) {
        (Some(instance), None) => format!("{host}\\{instance}"),
        (_, port) => format!("{host}:{}", port.unwrap_or(PORT)),
    };
    Ok(Place {
        host,
        port,
        instance,
        database,
        login,
        encryption,
        application,
        patience: Patience { connect: connect_timeout, answer: read_timeout },
        packet_size: 32_767,
        shown,
    })
}

/// The port that an instance listens on, as the browser service of its machine tells
/// (<https://learn.microsoft.com/en-us/openspecs/windows_protocols/mc-sqlr/1ea6e25f-bff9-4364-ba21-5dc449a601b7>).
pub(super) fn port_of(
    host: &str,
    instance: &str,
    patience: Patience,
    stop: Option<&AtomicBool>,
) -> Result<u16, Broken> {
    const BROWSER: u16 = 1434;
    const ASK_FOR_ONE: u8 = 4;
    let none = |why: String| Broken::Lost(Lost::new(LostKind::Connection, why));
    let began = Instant::now();
    let address = (host, BROWSER)
        .to_socket_addrs()?
        .next()
        .ok_or_else(|| none("the name has no address".to_owned()))?;
    let any = if address.is_ipv6() { "[::]:0" } else { "0.0.0.0:0" };
    let socket = UdpSocket::bind(any)?;
    socket.connect(address)?;
    socket.set_read_timeout(Some(TICK))?;
    let question = [&[ASK_FOR_ONE], instance.as_bytes(), &[0]].concat();
    let mut answer = [0; 2048];
    let mut asked: Option<Instant> = None;
    while began.elapsed() < patience.connect {
        if stop.is_some_and(|stop| stop.load(Relaxed)) {
            return Err(Broken::Stopped);
        }
        // A datagram may get lost.
        if asked.is_none_or(|asked| asked.elapsed() > Duration::from_secs(1)) {
            socket.send(&question)?;
            asked = Some(Instant::now());
        }
        if let Ok(length) = socket.recv(&mut answer) {
            return port_in(&answer[..length])
                .ok_or_else(|| none(format!("instance {instance} listens to no TCP port")));
        }
    }
    Err(none("no answer from the browser service (UDP port 1434)".to_owned()))
}

/// The port in `ServerName;X;InstanceName;Y;...;tcp;1433;;`, behind three bytes.
fn port_in(answer: &[u8]) -> Option<u16> {
    let text = String::from_utf8_lossy(answer.get(3..)?).into_owned();
    let mut words = text.split(';');
    words.find(|word| word.eq_ignore_ascii_case("tcp"))?;
    words.next()?.parse().ok()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn opened(url: &str, variables: &[(&str, &str)]) -> Result<Place> {
        place_with(url, |name| {
            variables.iter().find(|(known, _)| *known == name).map(|(_, value)| (*value).to_owned())
        })
    }

    #[test]
    fn a_url_names_host_instance_and_database() {
        let place =
            opened("mssql://u%40x:p%2Fw@h1:5/d%20b", &[("INRUSH_PASSWORD", "env")]).unwrap();
        assert_eq!((place.shown.as_str(), place.database.as_str()), ("h1:5", "d b"));
        assert!(
            matches!(&place.login, Login::Password { user, password } if user == "u@x" && password == "p/w")
        );
        let place = opened("sqlserver://u@h1/SQLEXPRESS/d", &[("INRUSH_PASSWORD", "env")]).unwrap();
        assert_eq!((place.port, place.instance.as_deref()), (None, Some("SQLEXPRESS")));
        assert!(matches!(&place.login, Login::Password { password, .. } if password == "env"));
        let place = opened("sqlserver://u@h1/SQLEXPRESS?database=d", &[]).unwrap();
        assert_eq!(place.database, "d");
        assert_eq!(opened("mssql://u@h/d", &[]).unwrap().port, Some(1433));
        for wrong in
            ["mssql://u@h", "mssql://u@h/a/b/c", "mssql://u@h/d?x=1", "mssql://u@h/d?auth=windows"]
        {
            assert!(opened(wrong, &[]).is_err(), "{wrong}");
        }
    }

    #[test]
    fn what_leaves_the_machine_is_encrypted_and_verified() {
        let encryption = |url| opened(url, &[]).unwrap().encryption;
        let yes = |believe, authority: Option<&str>| {
            Encryption::Yes(Tls { believe, authority: authority.map(PathBuf::from) })
        };
        assert_eq!(encryption("mssql://u@localhost/d"), Encryption::IfWanted);
        assert_eq!(encryption("mssql://u@db.example.org/d"), yes(Believe::Host, None));
        assert_eq!(encryption("mssql://u@db.example.org/d?encrypt=no"), Encryption::No);
        assert_eq!(
            encryption("mssql://u@localhost/d?trustServerCertificate=true"),
            yes(Believe::Anybody, None)
        );
        assert_eq!(encryption("mssql://u@h/d?ca=/x.pem"), yes(Believe::Host, Some("/x.pem")));
        assert!(opened("mssql://u@h/d?encrypt=no&ca=/x", &[]).is_err());
        let token = [(TOKEN, "secret")];
        assert!(opened("mssql://u@localhost/d?auth=aad-token", &token).is_err());
        assert!(opened("mssql://h/d?auth=aad-token", &token).is_ok());
        assert!(opened("mssql://h/d?auth=aad-token", &[]).is_err());
    }

    #[test]
    fn passwords_are_not_shown() {
        let location = claim("mssql://u:secret@h:5/d?ca=/x").unwrap();
        assert_eq!(location.shown, "mssql://u@h:5/d");
        for url in [
            "mssql://u:secret@h:99999/d",
            "mssql://u:secret@",
            "mssql://u:secret@h/",
            "mssql://u:1/2?secret=x@h/d",
            "mssql://u:1/secret?auth=sql@h",
        ] {
            let shown = claim(url).unwrap().shown;
            let error = opened(url, &[]).err().map(|error| error.to_string());
            assert!(!shown.contains("secret"), "{shown}");
            assert!(!error.unwrap_or_default().contains("secret"));
        }
        assert!(claim("postgres://u@h/d").is_none());
    }

    #[test]
    fn a_url_of_jdbc_is_told_how_it_is_written() {
        for url in [
            "sqlserver://h:1433;user=u;password=secret",
            "sqlserver://h\\i;databaseName=d;password=sec@ret/;",
            "mssql://h:1;IntegratedSecurity=true",
        ] {
            let error = opened(url, &[]).err().unwrap();
            assert!(error.what().contains("as JDBC writes them"), "{error}");
            assert!(error.advice()[0].starts_with("write mssql://"), "{error}");
            assert!(!format!("{error} {:?}", error.advice()).contains("sec"), "{error}");
        }
        for url in ["mssql://u:se;cret@h/d?encrypt=no", "mssql://u:se;c=t@h:1/d"] {
            assert!(opened(url, &[]).is_ok(), "{url}");
        }
    }

    #[test]
    fn a_browser_tells_the_port() {
        let answer = b"\x05\x5a\x00ServerName;H;InstanceName;SQLEXPRESS;IsClustered;No;Version;16.0.1;tcp;51433;;";
        assert_eq!(port_in(answer), Some(51_433));
        assert_eq!(port_in(b"\x05\x01\x00ServerName;H;np;x;;"), None);
        assert_eq!(port_in(b""), None);
    }
}
