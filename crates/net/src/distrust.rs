//! Why a server's certificate is not believed, in words: one rule for database servers, web servers and object stores.

use std::fmt;

use inrush_core::encode::{Moment, Typed};
use rustls::pki_types::UnixTime;
use rustls::{CertificateError, Error};

/// What is wrong with a certificate.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Distrust {
    /// What can be decided by.
    pub kind: DistrustKind,
    what: String,
}

/// What can be done about it depends on this.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum DistrustKind {
    /// It is valid, but for other names.
    WrongName,
    /// It has expired, or is not valid yet.
    Dates,
    /// No authority that is trusted has signed it, or it is broken.
    Authority,
    /// It is that of an authority.
    IsAuthority,
}

/// Names of a certificate that are shown.
const NAMES_MAX: usize = 4;

impl Distrust {
    /// What TLS says of a certificate; `None` where it fails for another reason.
    pub fn of(error: &Error) -> Option<Self> {
        use CertificateError as Why;
        use DistrustKind::{Authority, Dates, IsAuthority, WrongName};
        let why = match error {
            Error::InvalidCertificate(why) => why,
            Error::NoCertificatesPresented => {
                return Some(Self { kind: Authority, what: "is missing".to_owned() });
            }
            _ => return None,
        };
        let (kind, what) = match why {
            Why::NotValidForNameContext { expected, presented } => {
                (WrongName, format!("is {}, and not for {}", whose(presented), expected.to_str()))
            }
            Why::NotValidForName => (WrongName, "is for another name".to_owned()),
            Why::ExpiredContext { not_after, .. } => (Dates, format!("expired {}", at(*not_after))),
            Why::Expired => (Dates, "has expired".to_owned()),
            Why::NotValidYetContext { not_before, .. } => {
                (Dates, format!("is not valid before {}", day(*not_before)))
            }
            Why::NotValidYet => (Dates, "is not valid yet".to_owned()),
            Why::UnknownIssuer => (Authority, "is by no authority that is trusted here".to_owned()),
            Why::BadSignature => {
                (Authority, "is not signed by the authority that it names".to_owned())
            }
            Why::Revoked => (Authority, "has been revoked by its authority".to_owned()),
            Why::BadEncoding => (Authority, "is broken".to_owned()),
            Why::InvalidPurpose | Why::InvalidPurposeContext { .. } => {
                (Authority, "is for another purpose than a server's".to_owned())
            }
            Why::Other(other) if is_own_authority(other) => (
                IsAuthority,
                "is signed by itself: it is that of an authority, and none for a server".to_owned(),
            ),
            other => (Authority, format!("is not valid: {}", shown(&other.to_string()))),
        };
        Some(Self { kind, what })
    }
}

/// What it is that the certificate does or is: "expired on 2024-01-31 12:00:00 UTC".
impl fmt::Display for Distrust {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.what)
    }
}

/// Whether a server shows the certificate of an authority, as who signs one for himself in a hurry does. The verifier's own error is the
/// only one that says so, and it has no type here: another spelling costs no more than plain words.
fn is_own_authority(error: &rustls::OtherError) -> bool {
    format!("{error:?}").contains("CaUsedAsEndEntity")
}

/// For whom a certificate is: its names come from the server, as `DnsName("a.org")` or `IpAddress(10.0.0.1)`.
fn whose(presented: &[String]) -> String {
    let plain = |name: &String| {
        let inner = name.split_once('(').and_then(|(_, rest)| rest.strip_suffix(')'));
        shown(inner.unwrap_or(name).trim_matches('"'))
    };
    let names: Vec<String> = presented.iter().take(NAMES_MAX).map(plain).collect();
    match presented.len() {
        0 => "for no name at all".to_owned(),
        all if all > names.len() => {
            format!("for {} and {} more names", names.join(", "), all - names.len())
        }
        _ => format!("for {}", names.join(" and ")),
    }
}

/// What a server says, as a terminal may show it.
fn shown(text: &str) -> String {
    /// The longest name of a host.
    const CHARACTERS_MAX: usize = 253;
    text.escape_debug().take(CHARACTERS_MAX).collect()
}

fn at(moment: UnixTime) -> String {
    format!("on {}", day(moment))
}

fn day(moment: UnixTime) -> String {
    let seconds = i64::try_from(moment.as_secs()).unwrap_or(i64::MAX);
    let mut text = Vec::new();
    Typed::Moment(Moment { seconds, nanos: 0, zone: false }).write(&mut text);
    format!("{} UTC", String::from_utf8_lossy(&text))
}

#[cfg(test)]
mod tests {
    use std::time::Duration;

    use super::*;

    #[test]
    fn certificates_are_distrusted_in_words() {
        use CertificateError as Why;
        use DistrustKind::{Authority, Dates, WrongName};
        let name = |presented: &[&str]| Why::NotValidForNameContext {
            expected: "db.example.org".try_into().unwrap(),
            presented: presented.iter().map(|name| (*name).to_owned()).collect(),
        };
        let time = |seconds| UnixTime::since_unix_epoch(Duration::from_secs(seconds));
        let (then, now) = (time(1_706_702_400), time(1_800_000_000));
        for (why, kind, words) in [
            (
                name(&["DnsName(\"a.org\")", "IpAddress(10.0.0.1)"]),
                WrongName,
                "is for a.org and 10.0.0.1, and not for db.example.org",
            ),
            (
                name(&["DnsName(\"*.a.org\")"; 9]),
                WrongName,
                "is for *.a.org, *.a.org, *.a.org, *.a.org and 5 more names, and not for db.example.org",
            ),
            (name(&[]), WrongName, "is for no name at all, and not for db.example.org"),
            (
                name(&["DnsName(\"\u{1b}[2J\")"]),
                WrongName,
                "is for \\u{1b}[2J, and not for db.example.org",
            ),
            (
                Why::ExpiredContext { time: now, not_after: then },
                Dates,
                "expired on 2024-01-31 12:00:00 UTC",
            ),
            (
                Why::NotValidYetContext { time: then, not_before: now },
                Dates,
                "is not valid before 2027-01-15 08:00:00 UTC",
            ),
            (Why::UnknownIssuer, Authority, "is by no authority that is trusted here"),
            (Why::BadEncoding, Authority, "is broken"),
        ] {
            let distrust = Distrust::of(&Error::InvalidCertificate(why)).unwrap();
            assert_eq!((distrust.kind, distrust.to_string().as_str()), (kind, words));
        }
        assert_eq!(Distrust::of(&Error::HandshakeNotComplete), None);
    }
}
