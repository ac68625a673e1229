//! Logging in: whether to encrypt, who the user is
//! (<https://www.postgresql.org/docs/current/protocol-flow.html#PROTOCOL-FLOW-START-UP>).

use fallible_iterator::FallibleIterator;
use postgres_protocol::authentication::md5_hash;
use postgres_protocol::authentication::sasl::{
    ChannelBinding, SCRAM_SHA_256, SCRAM_SHA_256_PLUS, ScramSha256,
};
use postgres_protocol::message::backend::Message;
use postgres_protocol::message::frontend;
use sha2::{Digest, Sha256, Sha384, Sha512};

use super::link::{Link, failed, refusal};
use crate::connect::{ChannelBinding as Binding, Place, Server};
use crate::session::{Failure, denied};
use inrush_net::LostKind;
use inrush_net::channel::Tls;

/// What the server told of itself.
#[derive(Default)]
pub(super) struct Greeted {
    /// Its number of the connection, and the secret that ends what it does.
    pub(super) key: (i32, i32),
}

/// More rounds than any server's default by far: a hostile one must not have us count for ever.
const ROUNDS_MAX: u32 = 10_000_000;

/// Asks the server to encrypt; whether it can.
pub(super) fn encrypted<'a>(
    mut link: Link<'a>,
    tls: &Tls,
    host: &str,
    demanded: bool,
) -> Result<Link<'a>, Failure> {
    frontend::ssl_request(&mut link.outgoing);
    link.flush()?;
    match link.read_byte()? {
        b'S' => link.encrypt(tls, host),
        b'N' if !demanded => Ok(link),
        b'N' => Err(Failure::lost(LostKind::NoTls, "the server speaks no TLS")),
        _ => Err(Failure::garbled()),
    }
}

/// Says who we are, proves it, and hears what the server is.
pub(super) fn login(
    link: &mut Link<'_>,
    place: &Place,
    server: &Server,
) -> Result<Greeted, Failure> {
    let fixed = [
        ("user", place.user.as_str()),
        ("database", place.database.as_str()),
        ("client_encoding", "UTF8"),
    ];
    let more = place.options.iter().map(|(name, value)| (*name, value.as_str()));
    frontend::startup_message(fixed.into_iter().chain(more), &mut link.outgoing).map_err(failed)?;
    link.flush()?;
    let password = || {
        let missing = || match &place.password_file_refused {
            Some(why) => denied(&format!("the server asks for a password, and {why}")),
            None => denied("the server asks for a password"),
        };
        server.password.as_deref().ok_or_else(missing)
    };
    let mut greeted = Greeted::default();
    let mut bound = false;
    loop {
        match link.read()? {
            Message::AuthenticationOk if place.channel_binding == Binding::Require && !bound => {
                return Err(denied(
                    "channel_binding=require, and the server did not ask for a proof that binds",
                ));
            }
            Message::AuthenticationOk => {}
            Message::AuthenticationCleartextPassword | Message::AuthenticationMd5Password(_)
                if place.channel_binding == Binding::Require =>
            {
                return Err(denied(
                    "channel_binding=require, and the server asks for a plain password",
                ));
            }
            Message::AuthenticationCleartextPassword => {
                // Whoever is on the way could read it, or be the one who asks.
                if !link.channel.is_private() && !link.channel.is_local() {
                    return Err(denied(
                        "the server asks for the password in plain text over a connection that is not encrypted",
                    ));
                }
                frontend::password_message(password()?.as_bytes(), &mut link.outgoing)
                    .map_err(failed)?;
                link.flush()?;
            }
            Message::AuthenticationMd5Password(body) => {
                let hash = md5_hash(place.user.as_bytes(), password()?.as_bytes(), body.salt());
                frontend::password_message(hash.as_bytes(), &mut link.outgoing).map_err(failed)?;
                link.flush()?;
            }
            Message::AuthenticationSasl(body) => {
                let mut offered = Vec::new();
                let mut mechanisms = body.mechanisms();
                while let Some(mechanism) = mechanisms.next().map_err(failed)? {
                    offered.push(mechanism.to_owned());
                }
                bound = scram(link, &offered, password()?.as_bytes(), place.channel_binding)?;
            }
            Message::BackendKeyData(body) => greeted.key = (body.process_id(), body.secret_key()),
            Message::ParameterStatus(_) => {}
            Message::ReadyForQuery(_) => return Ok(greeted),
            Message::ErrorResponse(body) => return Err(refusal(&body)),
            Message::AuthenticationGss
            | Message::AuthenticationSspi
            | Message::AuthenticationKerberosV5
            | Message::AuthenticationScmCredential => {
                return Err(denied(
                    "the server wants GSSAPI, SSPI or the like, which inrush does not speak",
                ));
            }
            _ => return Err(Failure::garbled()),
        }
    }
}

/// Proves that we know the password without saying it, and has the server prove the same; whether the proof is bound to this
/// very connection (<https://www.postgresql.org/docs/current/sasl-authentication.html>).
fn scram(
    link: &mut Link<'_>,
    offered: &[String],
    password: &[u8],
    binding: Binding,
) -> Result<bool, Failure> {
    let has = |mechanism: &str| offered.iter().any(|name| name == mechanism);
    let hash = match binding {
        Binding::Disable => None,
        Binding::Prefer | Binding::Require => {
            link.channel.certificate().and_then(|certificate| end_point(&certificate))
        }
    };
    let (mechanism, channel) = match hash {
        Some(hash) if has(SCRAM_SHA_256_PLUS) => {
            (SCRAM_SHA_256_PLUS, ChannelBinding::tls_server_end_point(hash))
        }
        _ if binding == Binding::Require => {
            return Err(denied(
                "channel_binding=require, and this connection can't be bound: it takes TLS and a server that offers SCRAM-SHA-256-PLUS",
            ));
        }
        _ if !has(SCRAM_SHA_256) => {
            return Err(denied("the server knows no SCRAM-SHA-256"));
        }
        Some(_) => (SCRAM_SHA_256, ChannelBinding::unrequested()),
        None => (SCRAM_SHA_256, ChannelBinding::unsupported()),
    };
    let mut scram = ScramSha256::new(password, channel);
    frontend::sasl_initial_response(mechanism, scram.message(), &mut link.outgoing)
        .map_err(failed)?;
    link.flush()?;
    match link.read()? {
        Message::AuthenticationSaslContinue(body) if rounds(body.data()) <= Some(ROUNDS_MAX) => {
            scram.update(body.data()).map_err(failed)?;
        }
        Message::ErrorResponse(body) => return Err(refusal(&body)),
        _ => return Err(Failure::garbled()),
    }
    frontend::sasl_response(scram.message(), &mut link.outgoing).map_err(failed)?;
    link.flush()?;
    match link.read()? {
        Message::AuthenticationSaslFinal(body) => scram.finish(body.data()).map_err(failed)?,
        Message::ErrorResponse(body) => return Err(refusal(&body)),
        _ => return Err(Failure::garbled()),
    }
    Ok(mechanism == SCRAM_SHA_256_PLUS)
}

/// How often the server has the password hashed: `r=...,s=...,i=4096`; `None` where it doesn't say, which the library refuses.
fn rounds(message: &[u8]) -> Option<u32> {
    let text = std::str::from_utf8(message).ok()?;
    let rounds = text.split(',').find_map(|part| part.strip_prefix("i="))?;
    Some(rounds.parse().unwrap_or(u32::MAX))
}

/// What the proof is bound to: the certificate's hash, by the algorithm that its signature uses, SHA-256 where that one is too
/// weak (<https://datatracker.ietf.org/doc/html/rfc5929#section-4.1>). `None` where the algorithm is not known to have one.
fn end_point(certificate: &[u8]) -> Option<Vec<u8>> {
    // Object identifiers in DER (<https://datatracker.ietf.org/doc/html/rfc5912>).
    const RSA: &[u8] = b"\x2a\x86\x48\x86\xf7\x0d\x01\x01";
    const ECDSA_SHA1: &[u8] = b"\x2a\x86\x48\xce\x3d\x04\x01";
    const ECDSA_SHA2: &[u8] = b"\x2a\x86\x48\xce\x3d\x04\x03";
    // Certificate ::= SEQUENCE { tbsCertificate, signatureAlgorithm SEQUENCE { algorithm OBJECT IDENTIFIER, ... }, ... }
    let (body, _) = element(certificate)?;
    let (_, behind) = element(body)?;
    let (algorithm, _) = element(behind)?;
    let (identifier, _) = element(algorithm)?;
    let (family, number) = identifier.split_at(identifier.len().checked_sub(1)?);
    Some(match (family, number[0]) {
        // MD5, SHA-1 and SHA-256 with RSA.
        (RSA, 4 | 5 | 11) | (ECDSA_SHA2, 2) => Sha256::digest(certificate).to_vec(),
        (RSA, 12) | (ECDSA_SHA2, 3) => Sha384::digest(certificate).to_vec(),
        (RSA, 13) | (ECDSA_SHA2, 4) => Sha512::digest(certificate).to_vec(),
        _ if identifier == ECDSA_SHA1 => Sha256::digest(certificate).to_vec(),
        _ => return None,
    })
}

/// The contents of the first element of DER, and what is behind it.
fn element(der: &[u8]) -> Option<(&[u8], &[u8])> {
    let (length, rest) = match *der.get(1)? {
        short @ 0..=0x7f => (usize::from(short), der.get(2..)?),
        long => {
            let bytes = usize::from(long & 0x7f);
            let digits = der.get(2..2 + bytes).filter(|_| bytes <= 4)?;
            let length = digits.iter().fold(0, |length, digit| length << 8 | usize::from(*digit));
            (length, der.get(2 + bytes..)?)
        }
    };
    (rest.len() >= length).then(|| rest.split_at(length))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_rounds_that_a_server_wants_are_read() {
        assert_eq!(rounds(b"r=abc,s=def,i=4096"), Some(4096));
        assert_eq!(rounds(b"r=abc,i=99999999999999"), Some(u32::MAX));
        assert_eq!(rounds(b"e=no"), None);
    }

    #[test]
    fn a_certificate_is_hashed_by_its_own_algorithm() {
        let signed_by = |identifier: &[u8]| {
            let identifier = [&[6, identifier.len() as u8][..], identifier].concat();
            let algorithm = [&[0x30, identifier.len() as u8][..], &identifier].concat();
            let body = [&[0x30, 0x81, 1, 0][..], &algorithm].concat();
            let certificate = [&[0x30, body.len() as u8][..], &body].concat();
            end_point(&certificate).map(|hash| hash.len())
        };
        assert_eq!(signed_by(b"\x2a\x86\x48\x86\xf7\x0d\x01\x01\x0b"), Some(32));
        assert_eq!(signed_by(b"\x2a\x86\x48\x86\xf7\x0d\x01\x01\x05"), Some(32));
        assert_eq!(signed_by(b"\x2a\x86\x48\xce\x3d\x04\x03\x03"), Some(48));
        assert_eq!(signed_by(b"\x2a\x86\x48\x86\xf7\x0d\x01\x01\x0d"), Some(64));
        assert_eq!(signed_by(b"\x2b\x65\x70"), None);
        assert_eq!(signed_by(b""), None);
        assert_eq!(end_point(b"\x30\x85\xff\xff\xff\xff\xff"), None);
    }
}
