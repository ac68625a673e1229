//! The one HTTP client: for files of web servers, and for requests of object stores.

use std::io;
use std::net::{IpAddr, Ipv4Addr, Ipv6Addr};
use std::sync::{Arc, OnceLock};
use std::time::Duration;

use http::Uri;
use ureq::config::Config;
use ureq::tls::{Certificate, RootCerts, TlsConfig};
use ureq::unversioned::resolver::{DefaultResolver, ResolvedSocketAddrs, Resolver};
use ureq::unversioned::transport::{DefaultConnector, NextTimeout};
use ureq::{Agent, AsSendBody, Body};

use super::trouble::{Again, Trouble};
use crate::stored::Fault;

/// How long a server may take to accept a connection, and to send the next bytes.
pub(super) const CONNECT_MAX: Duration = Duration::from_secs(10);
const SILENCE_MAX: Duration = Duration::from_secs(30);

/// Which addresses a request may go to.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Reach {
    /// Any: the user has named the host.
    All,
    /// Not those of this machine and its network: a server has named the host.
    Public,
}

/// Sends a request. Redirects are answers, and so are failures that the server reports.
pub(super) fn exchange(
    request: http::Request<impl AsSendBody>,
    reach: Reach,
    connect_max: Duration,
) -> Result<http::Response<Body>, Trouble> {
    let host = request.uri().authority().map_or_else(String::new, |authority| {
        // What stands before the host is a name and a password.
        let shown = authority.as_str();
        shown.rsplit_once('@').map_or(shown, |(_, host)| host).to_owned()
    });
    if reach == Reach::Public && names_local(request.uri()) {
        return Err(Trouble::never(local(&host)));
    }
    let agent = agent(reach);
    let request = agent.configure_request(request).timeout_connect(Some(connect_max)).build();
    agent.run(request).map_err(|error| trouble(error, &host))
}

fn agent(reach: Reach) -> &'static Agent {
    static ALL: OnceLock<Agent> = OnceLock::new();
    static PUBLIC: OnceLock<Agent> = OnceLock::new();
    match reach {
        Reach::All => ALL.get_or_init(|| Agent::new_with_config(config())),
        Reach::Public => PUBLIC.get_or_init(|| {
            Agent::with_parts(config(), DefaultConnector::default(), PublicOnly::default())
        }),
    }
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
    let of = |der: &rustls::pki_types::CertificateDer<'_>| Certificate::from_der(der).to_owned();
    RootCerts::Specific(Arc::new(found.certs.iter().map(of).collect()))
}

/// Looks names up, and takes no answer that is within this machine or its network.
#[derive(Debug, Default)]
struct PublicOnly(DefaultResolver);

impl Resolver for PublicOnly {
    fn resolve(
        &self,
        uri: &Uri,
        config: &Config,
        timeout: NextTimeout,
    ) -> Result<ResolvedSocketAddrs, ureq::Error> {
        let found = self.0.resolve(uri, config, timeout)?;
        match found.iter().any(|address| is_local(address.ip())) {
            true => Err(ureq::Error::Io(local(uri.host().unwrap_or_default()).into())),
            false => Ok(found),
        }
    }
}

fn local(host: &str) -> Fault {
    Fault::new(format!("redirected to {host}, which is within this machine or a private network"))
        .advise("name that address itself, if it is the one that is meant")
}

/// Whether an address is spelt out that is local: a proxy would look it up by itself.
fn names_local(uri: &Uri) -> bool {
    let host = uri.host().unwrap_or_default().trim_matches(['[', ']']);
    let name = host.trim_end_matches('.').to_ascii_lowercase();
    name == "localhost" || name.ends_with(".localhost") || host.parse().is_ok_and(is_local)
}

/// Whether only this machine, or those of its network, can be meant.
pub(super) fn is_local(address: IpAddr) -> bool {
    match address {
        IpAddr::V4(v4) => is_local_v4(v4),
        IpAddr::V6(v6) => match v6.to_ipv4_mapped() {
            Some(v4) => is_local_v4(v4),
            None => is_local_v6(v6),
        },
    }
}

fn is_local_v4(address: Ipv4Addr) -> bool {
    let [a, b, ..] = address.octets();
    // 0.0.0.0/8 is this network, 100.64.0.0/10 that of a provider (RFC 6890).
    a == 0
        || (a == 100 && (64..128).contains(&b))
        || address.is_loopback()
        || address.is_private()
        || address.is_link_local()
        || address.is_broadcast()
}

fn is_local_v6(address: Ipv6Addr) -> bool {
    address.is_loopback()
        || address.is_unspecified()
        || address.is_unique_local()
        || address.is_unicast_link_local()
}

/// What went wrong, and whether another request may fare better.
fn trouble(error: ureq::Error, host: &str) -> Trouble {
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
        ureq::Error::HostNotFound => (format!("the name {host} is not known"), Again::OnceAnswered),
        ureq::Error::Timeout(_) => (format!("{host} does not answer"), Again::OnceAnswered),
        ureq::Error::Io(inner) => match inner.kind() {
            io::ErrorKind::ConnectionRefused => {
                (format!("{host} refuses the connection"), Again::OnceAnswered)
            }
            io::ErrorKind::TimedOut => (format!("{host} does not answer"), Again::OnceAnswered),
            // Names are looked up by the system, which has no kind for one that it doesn't find.
            _ if inner.to_string().contains("lookup address") => {
                (format!("the name {} is not known", bare(host)), Again::OnceAnswered)
            }
            _ => (format!("the connection to {host} was lost: {inner}"), Again::Always),
        },
        ureq::Error::ConnectProxyFailed(_) | ureq::Error::InvalidProxyUrl => {
            ("the proxy does not connect".to_owned(), Again::OnceAnswered)
        }
        other => (format!("{host} does not answer as a web server does: {other}"), Again::Never),
    };
    let fault = Fault::new(what).advise("check the address, the network, and HTTPS_PROXY");
    Trouble::new(fault, again)
}

/// A host without its port.
fn bare(host: &str) -> &str {
    host.rsplit_once(':').map_or(host, |(name, _)| name)
}

fn by_tls(error: &rustls::Error, host: &str) -> Trouble {
    let host = bare(host);
    let fault = match error {
        rustls::Error::InvalidCertificate(why) => {
            let (what, advice) = by_certificate(why);
            Fault::new(format!("the certificate of {host} {what}")).advise(advice)
        }
        rustls::Error::InvalidMessage(_) => Fault::new(format!("{host} does not speak TLS there"))
            .advise("check the port, or say http:// if that is meant"),
        other => Fault::new(format!("no TLS connection to {host}: {other}")),
    };
    Trouble::never(fault)
}

fn by_certificate(why: &rustls::CertificateError) -> (String, &'static str) {
    use rustls::CertificateError as Why;
    const AUTHORITY: &str =
        "SSL_CERT_FILE=FILE names the authorities to trust, if another one is right";
    match why {
        Why::NotValidForName | Why::NotValidForNameContext { .. } => {
            ("is for another name".to_owned(), "check the address")
        }
        Why::Expired | Why::ExpiredContext { .. } => {
            ("has expired".to_owned(), "check this machine's clock")
        }
        Why::NotValidYet | Why::NotValidYetContext { .. } => {
            ("is not valid yet".to_owned(), "check this machine's clock")
        }
        Why::UnknownIssuer => ("is by no authority that is trusted here".to_owned(), AUTHORITY),
        other => (format!("is not valid: {other}"), AUTHORITY),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn addresses_of_this_machine_and_its_network_are_told() {
        let local = [
            "127.0.0.1",
            "127.9.9.9",
            "10.1.2.3",
            "172.16.0.1",
            "172.31.255.255",
            "192.168.1.1",
            "169.254.169.254",
            "0.0.0.0",
            "100.64.0.1",
            "::1",
            "::",
            "fe80::1",
            "fd00::1",
            "::ffff:127.0.0.1",
            "::ffff:10.0.0.1",
        ];
        for address in local {
            assert!(is_local(address.parse().unwrap()), "{address}");
        }
        for address in ["1.1.1.1", "172.32.0.1", "100.128.0.1", "2606:4700::1", "::ffff:8.8.8.8"] {
            assert!(!is_local(address.parse().unwrap()), "{address}");
        }
        for uri in
            ["http://localhost/", "http://a.localhost:8/", "http://[::1]/", "http://10.0.0.1/"]
        {
            assert!(names_local(&uri.parse().unwrap()), "{uri}");
        }
        assert!(!names_local(&"http://localhost.example.org/".parse().unwrap()));
    }
}
