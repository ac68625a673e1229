//! The one HTTP client: for files of web servers, and for requests of object stores.

use std::env;
use std::io;
use std::path::PathBuf;
use std::process;
use std::sync::{Arc, OnceLock};
use std::time::Duration;

use inrush_net::{Distrust, DistrustKind};
use rustls::pki_types::CertificateDer;
use rustls::pki_types::pem::PemObject as _;
use ureq::config::Config;
use ureq::tls::{Certificate, RootCerts, TlsConfig};
use ureq::{Agent, AsSendBody, Body, Proxy, ProxyBuilder, ProxyProtocol};

use super::trouble::{Again, Trouble};
use crate::stored::Fault;

/// How long a server may take to accept a connection, and to send the next bytes.
pub(super) const CONNECT_MAX: Duration = Duration::from_secs(10);
const SILENCE_MAX: Duration = Duration::from_secs(30);

/// Sends a request. Redirects are answers, and so are failures that the server reports.
pub(super) fn exchange(
    request: http::Request<impl AsSendBody>,
    connect_max: Duration,
) -> Result<http::Response<Body>, Trouble> {
    let uri = request.uri().clone();
    let agent = agent();
    if let Some(fault) = unspoken(&uri) {
        return Err(Trouble::never(fault));
    }
    let request = agent.configure_request(request).timeout_connect(Some(connect_max)).build();
    agent.run(request).map_err(|error| trouble(error, &Way::of(&uri)))
}

/// Whom a request is for, and by whom it goes.
struct Way {
    /// Host and port.
    host: String,
    proxy: Option<Through>,
}

/// A proxy.
struct Through {
    /// The variable that names it.
    variable: &'static str,
    /// Its host and port.
    host: String,
}

/// Variables that name a proxy, in the order in which ureq looks at them.
const PROXIES: [&str; 6] =
    ["ALL_PROXY", "all_proxy", "HTTPS_PROXY", "https_proxy", "HTTP_PROXY", "http_proxy"];

impl Way {
    fn of(uri: &http::Uri) -> Self {
        let host = uri.authority().map_or_else(String::new, |authority| {
            // What stands before the host is a name and a password.
            let shown = authority.as_str();
            shown.rsplit_once('@').map_or(shown, |(_, host)| host).to_owned()
        });
        let proxy = proxy_of(uri).filter(|proxy| speaks_http(proxy));
        let proxy = proxy.zip(proxy_variable()).map(|(proxy, variable)| Through {
            variable,
            host: format!("{}:{}", proxy.host(), proxy.port()),
        });
        Self { host, proxy }
    }

    /// The first that a connection is made to, in words.
    fn next(&self) -> String {
        match &self.proxy {
            Some(proxy) => format!("the proxy {}", proxy.host),
            None => self.host.clone(),
        }
    }

    /// All of it, in words.
    fn all(&self) -> String {
        match &self.proxy {
            Some(proxy) => format!("{}, by the proxy {},", self.host, proxy.host),
            None => self.host.clone(),
        }
    }

    /// A name that is not known, in words.
    fn unknown(&self) -> String {
        match &self.proxy {
            Some(proxy) => format!("the proxy's name, {}, is not known", bare(&proxy.host)),
            None => format!("the name {} is not known", bare(&self.host)),
        }
    }

    fn advice(&self) -> String {
        match &self.proxy {
            Some(Through { variable, .. }) => {
                let host = bare(&self.host);
                format!("check {variable}, which names the proxy; NO_PROXY={host} goes without it")
            }
            None => {
                "check the address and the network; HTTPS_PROXY names a proxy, where one is needed"
                    .to_owned()
            }
        }
    }
}

/// The proxy that a request is to go by.
fn proxy_of(uri: &http::Uri) -> Option<&'static Proxy> {
    agent().config().proxy().filter(|proxy| !proxy.is_no_proxy(uri))
}

fn speaks_http(proxy: &Proxy) -> bool {
    matches!(proxy.protocol(), ProxyProtocol::Http | ProxyProtocol::Https)
}

/// The variable that names the proxy.
fn proxy_variable() -> Option<&'static str> {
    let names_one = |name: &&str| env::var(name).is_ok_and(|value| Proxy::new(&value).is_ok());
    PROXIES.into_iter().find(names_one)
}

/// The first variable that is set, where that names no proxy.
fn misnamed(uri: &http::Uri) -> Option<&'static str> {
    let set = PROXIES
        .into_iter()
        .find(|name| env::var_os(name).is_some_and(|value| !value.is_empty()))?;
    let is_misnamed = proxy_variable() != Some(set) && !goes_without(uri);
    is_misnamed.then_some(set)
}

/// Whether the request goes by no proxy, whichever there is.
fn goes_without(uri: &http::Uri) -> bool {
    let hosts = ["NO_PROXY", "no_proxy"]
        .into_iter()
        .find_map(|name| env::var(name).ok())
        .unwrap_or_default();
    let any = hosts.split(',').fold(Proxy::builder(ProxyProtocol::Http), ProxyBuilder::no_proxy);
    any.build().is_ok_and(|proxy| proxy.is_no_proxy(uri))
}

/// What is wrong with a proxy that the request should go by, and that is none, or speaks no HTTP: ureq, as it is built here, would go
/// without it.
fn unspoken(uri: &http::Uri) -> Option<Fault> {
    let what = match misnamed(uri) {
        Some(variable) => format!("{variable} names no proxy that is known"),
        None => {
            let proxy = proxy_of(uri).filter(|proxy| !speaks_http(proxy))?;
            format!(
                "{} names the SOCKS proxy {}:{}, and only proxies of HTTP are spoken to",
                proxy_variable()?,
                proxy.host(),
                proxy.port()
            )
        }
    };
    let way = Way::of(uri);
    let host = bare(&way.host);
    Some(Fault::new(what).advise(format!(
        "name an http:// or https:// proxy there; NO_PROXY={host} goes without one"
    )))
}

/// The agent of a process, with its connections.
struct Client {
    process: u32,
    agent: Agent,
    /// That of a process which this one has forked. It has copies of these connections, whose answers would be another's: they stay as
    /// they are, neither used nor closed.
    forked: OnceLock<Box<Client>>,
}

impl Client {
    fn new() -> Box<Self> {
        let agent = Agent::new_with_config(config());
        Box::new(Self { process: process::id(), agent, forked: OnceLock::new() })
    }
}

/// The agent of this process.
fn agent() -> &'static Agent {
    static FIRST: OnceLock<Box<Client>> = OnceLock::new();
    let mut client = FIRST.get_or_init(Client::new);
    while client.process != process::id() {
        client = client.forked.get_or_init(Client::new);
    }
    &client.agent
}

fn config() -> Config {
    Agent::config_builder()
        .user_agent(concat!("inrush/", env!("CARGO_PKG_VERSION")))
        .http_status_as_error(false)
        .max_redirects(0)
        .max_redirects_will_error(false)
        .timeout_recv_response(Some(SILENCE_MAX))
        .timeout_per_read(Some(SILENCE_MAX))
        .tls_config(TlsConfig::builder().root_certs(roots()).build())
        .build()
}

/// The authorities of this machine, or those of `SSL_CERT_FILE`; Mozilla's where it has none.
fn roots() -> RootCerts {
    let found = rustls_native_certs::load_native_certs();
    let named = std::env::var_os("SSL_CERT_FILE").is_some();
    if found.certs.is_empty() && !named {
        return RootCerts::WebPki;
    }
    let of = |der: &CertificateDer<'_>| Certificate::from_der(der).to_owned();
    RootCerts::Specific(Arc::new(found.certs.iter().map(of).collect()))
}

/// Why `SSL_CERT_FILE` names no authority, where it does not.
fn no_authorities() -> Option<String> {
    let path = PathBuf::from(env::var_os("SSL_CERT_FILE")?);
    let why = match std::fs::read(&path) {
        Err(error) => format!("can't be read: {}", inrush_core::error::reason(&error)),
        Ok(bytes) => match CertificateDer::pem_slice_iter(&bytes).any(|found| found.is_ok()) {
            true => return None,
            false => "has no certificate in it".to_owned(),
        },
    };
    Some(format!("SSL_CERT_FILE names {}, which {why}", inrush_core::path::text(&path)))
}

/// What went wrong, and whether another request may fare better.
fn trouble(error: ureq::Error, way: &Way) -> Trouble {
    let host = way.host.as_str();
    if let ureq::Error::Io(inner) = &error {
        if let Some(fault) = Fault::within(inner) {
            return Trouble::never(fault.clone());
        }
        if let Some(why) = inner.get_ref().and_then(|inner| inner.downcast_ref::<rustls::Error>()) {
            return by_tls(why, host);
        }
    }
    let (what, again) = match &error {
        ureq::Error::Rustls(why) => return by_tls(why, host),
        ureq::Error::HostNotFound => (way.unknown(), Again::OnceAnswered),
        ureq::Error::Timeout(_) => (format!("{} does not answer", way.all()), Again::OnceAnswered),
        ureq::Error::Io(inner) => match inner.kind() {
            io::ErrorKind::ConnectionRefused => {
                (format!("{} refuses the connection", way.next()), Again::OnceAnswered)
            }
            io::ErrorKind::TimedOut => {
                (format!("{} does not answer", way.all()), Again::OnceAnswered)
            }
            // Names are looked up by the system, which has no kind for one that it doesn't find.
            _ if inner.to_string().contains("lookup address") => {
                (way.unknown(), Again::OnceAnswered)
            }
            _ => (format!("the connection to {host} was lost: {inner}"), Again::Always),
        },
        ureq::Error::ConnectProxyFailed(_) | ureq::Error::InvalidProxyUrl => {
            (format!("{} does not connect to {host}", way.next()), Again::OnceAnswered)
        }
        other => (format!("{host} does not answer as a web server does: {other}"), Again::Never),
    };
    Trouble::new(Fault::new(what).advise(way.advice()), again)
}

/// A host without its port.
fn bare(host: &str) -> &str {
    host.rsplit_once(':').map_or(host, |(name, _)| name)
}

fn by_tls(error: &rustls::Error, host: &str) -> Trouble {
    let host = bare(host);
    let fault = match (Distrust::of(error), error) {
        (Some(distrust), _) => {
            let advice = match distrust.kind {
                DistrustKind::WrongName => "check the address",
                DistrustKind::Dates => {
                    "check this machine's clock; if it is right, who runs the server has to renew it"
                }
                DistrustKind::Authority => {
                    "SSL_CERT_FILE=FILE names the authorities to trust, if another one is right"
                }
                DistrustKind::IsAuthority => {
                    "let the server have a certificate of its own; one that it signs itself needs basicConstraints=CA:FALSE, \
                     and SSL_CERT_FILE to name it"
                }
            };
            let fault = Fault::new(format!("the certificate of {host} {distrust}"));
            match no_authorities().filter(|_| distrust.kind == DistrustKind::Authority) {
                Some(why) => fault.advise(why),
                None => fault.advise(advice),
            }
        }
        (None, rustls::Error::InvalidMessage(_)) => {
            Fault::new(format!("{host} does not speak TLS there"))
                .advise("check the port, or say http:// if that is meant")
        }
        (None, other) => Fault::new(format!("no TLS connection to {host}: {other}")),
    };
    Trouble::never(fault)
}
