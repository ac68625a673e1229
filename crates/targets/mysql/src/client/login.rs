//! Logging in: who the user is, and what both sides can do
//! (<https://dev.mysql.com/doc/dev/mysql-server/latest/page_protocol_connection_phase.html>).

use mysql_common::constants::{CapabilityFlags, MariadbCapabilities};
use mysql_common::crypto;
use mysql_common::io::ParseBuf;
use mysql_common::packets::{
    AuthMoreData, AuthPlugin, AuthSwitchRequest, HandshakePacket, HandshakeResponse, SslRequest,
};
use mysql_common::proto::MySerialize;
use rustls::pki_types::SubjectPublicKeyInfoDer;
use rustls::pki_types::pem::PemObject;

use super::link::Link;
use crate::connect::Place;
use crate::session::{Failure, Refusal};
use inrush_net::LostKind;
use inrush_net::channel::Address;

/// What we speak. What the server does not speak is left out.
const WANTED: CapabilityFlags = CapabilityFlags::CLIENT_LONG_PASSWORD
    .union(CapabilityFlags::CLIENT_LONG_FLAG)
    .union(CapabilityFlags::CLIENT_PROTOCOL_41)
    .union(CapabilityFlags::CLIENT_TRANSACTIONS)
    .union(CapabilityFlags::CLIENT_SECURE_CONNECTION)
    .union(CapabilityFlags::CLIENT_CONNECT_WITH_DB)
    .union(CapabilityFlags::CLIENT_LOCAL_FILES)
    .union(CapabilityFlags::CLIENT_MULTI_STATEMENTS)
    .union(CapabilityFlags::CLIENT_MULTI_RESULTS)
    .union(CapabilityFlags::CLIENT_PS_MULTI_RESULTS)
    .union(CapabilityFlags::CLIENT_PLUGIN_AUTH);

/// utf8mb4_general_ci, which every server has since MySQL 5.5.3.
const COLLATION: u8 = 45;

/// What the client says of the packets that it takes; servers look at it for nothing but this greeting.
const PACKET_MAX: u32 = 1 << 24;

/// What the server told of itself.
pub(super) struct Greeted {
    pub(super) id: u32,
    pub(super) has_bulk: bool,
}

/// What the greeting says of the nonce's length: behind the version, the server's name, and 20 bytes.
fn nonce_length(greeting: &[u8]) -> Option<u8> {
    let name = greeting.get(1..)?;
    name.get(memchr::memchr(0, name)? + 1 + 20).copied()
}

pub(super) fn login<'a>(mut link: Link<'a>, place: &Place) -> Result<(Link<'a>, Greeted), Failure> {
    let mut packet = Vec::new();
    link.read(&mut packet)?;
    let garbled = |_| Failure::garbled();
    // mysql_common takes the length of the nonce for a signed number, and trips over one that is far too large.
    if nonce_length(&packet).is_some_and(|length| length > i8::MAX as u8) {
        return Err(Failure::garbled());
    }
    let greeting: HandshakePacket<'_> = ParseBuf(&packet).parse(()).map_err(garbled)?;
    let offered = greeting.capabilities();
    let mut spoken = WANTED & offered;
    if place.compress {
        spoken |= offered & CapabilityFlags::CLIENT_COMPRESS;
    }
    // MariaDB tells by the bit that every MySQL sets that more follow
    // (https://mariadb.com/kb/en/connection/#initial-handshake-packet).
    let extended = match offered.contains(CapabilityFlags::CLIENT_LONG_PASSWORD) {
        true => MariadbCapabilities::empty(),
        false => {
            greeting.mariadb_ext_capabilities()
                & MariadbCapabilities::MARIADB_CLIENT_STMT_BULK_OPERATIONS
        }
    };
    if let (Some(tls), Address::Host(host, _)) = (&place.tls, &place.address) {
        if !offered.contains(CapabilityFlags::CLIENT_SSL) {
            return Err(Failure::lost(LostKind::NoTls, "the server speaks no TLS"));
        }
        spoken |= CapabilityFlags::CLIENT_SSL;
        let request = SslRequest::new(spoken, PACKET_MAX, COLLATION);
        send(&mut link, &request.with_mariadb_capabilities(extended))?;
        link = link.encrypt(tls, host)?;
    }
    let mut nonce = greeting.nonce();
    // The server's own default; which one the user has, it tells later.
    let mut plugin = match greeting.auth_plugin() {
        Some(AuthPlugin::CachingSha2Password) => AuthPlugin::CachingSha2Password,
        _ => AuthPlugin::MysqlNativePassword,
    };
    let password = place.password.as_deref();
    let answer = plugin.gen_data(password, &nonce);
    let response = HandshakeResponse::new(
        answer.as_deref(),
        // Of a version it only wants to know whether there is utf8mb4.
        (5, 5, 3),
        place.user.as_deref().map(str::as_bytes),
        Some(place.database.as_bytes()),
        Some(plugin.borrow()),
        spoken,
        None,
        PACKET_MAX,
    );
    send(&mut link, &response.with_mariadb_ext_capabilities(extended))?;
    let greeted = Greeted {
        id: greeting.connection_id(),
        has_bulk: extended.contains(MariadbCapabilities::MARIADB_CLIENT_STMT_BULK_OPERATIONS),
    };

    let mut packet = Vec::new();
    let mut asked_for_key = false;
    loop {
        link.read(&mut packet)?;
        match packet.first() {
            Some(0x00) => break,
            Some(0xfe) if packet.len() > 1 => {
                let switch: AuthSwitchRequest<'_> = ParseBuf(&packet).parse(()).map_err(garbled)?;
                plugin = spoken_plugin(switch.auth_plugin())?;
                nonce = match plugin {
                    AuthPlugin::Ed25519 => raw_nonce(&packet),
                    _ => switch.plugin_data().to_vec(),
                };
                match plugin.gen_data(password, &nonce) {
                    Some(answer) => send(&mut link, &answer)?,
                    None => send_bytes(&mut link, b"")?,
                }
            }
            Some(0x01) if plugin == AuthPlugin::CachingSha2Password => {
                let more: AuthMoreData<'_> = ParseBuf(&packet).parse(()).map_err(garbled)?;
                let password = password.unwrap_or_default();
                asked_for_key = prove(&mut link, more.data(), password, &nonce, asked_for_key)?;
            }
            // The plugin of before MySQL 4.1.
            Some(0xfe) => return Err(unspoken("mysql_old_password")),
            _ => return Err(Failure::garbled()),
        }
    }
    if spoken.contains(CapabilityFlags::CLIENT_COMPRESS) {
        link.compress();
    }
    Ok((link, greeted))
}

/// The random bytes that an ed25519 signature is over: 32 of them, whose last may be 0, where the library takes that for an end
/// (<https://mariadb.com/kb/en/authentication-plugin-ed25519/>).
fn raw_nonce(switch: &[u8]) -> Vec<u8> {
    const BYTES: usize = 32;
    let name_end = switch.iter().skip(1).position(|byte| *byte == 0).map_or(1, |at| at + 2);
    switch.iter().skip(name_end).take(BYTES).copied().collect()
}

/// caching_sha2_password goes on. Returns whether the server was asked for its key
/// (<https://dev.mysql.com/doc/dev/mysql-server/latest/page_caching_sha2_authentication_exchanges.html>).
fn prove(
    link: &mut Link<'_>,
    said: &[u8],
    password: &str,
    nonce: &[u8],
    asked_for_key: bool,
) -> Result<bool, Failure> {
    const KNOWN: u8 = 3;
    const PROVE: u8 = 4;
    const ASK_FOR_KEY: u8 = 2;
    /// What OAEP needs of the 256 bytes of a 2048-bit key, and the terminator.
    const PASSWORD_MAX: usize = 256 - 42 - 1;
    let mut secret = [password.as_bytes(), b"\0"].concat();
    match said {
        [KNOWN] => Ok(false),
        [PROVE] if link.channel.is_private() => {
            send_bytes(link, &secret).map(|()| false)
        }
        // Whoever answers can give a key of his own: on this machine that is the server, elsewhere nobody knows.
        [PROVE] if !link.channel.is_local() => Err(denied(
            "the server wants the password itself, and the connection is not encrypted (ssl-mode=required would be)".to_owned(),
        )),
        [PROVE] if password.len() > PASSWORD_MAX => Err(denied(
            "the password is too long for the server's key (ssl-mode=required does without)".to_owned(),
        )),
        [PROVE] => send_bytes(link, &[ASK_FOR_KEY]).map(|()| true),
        // The server's key: what only its owner can read is the password, mixed with the nonce.
        key if asked_for_key && SubjectPublicKeyInfoDer::from_pem_slice(key).is_ok() => {
            secret.iter_mut().zip(nonce.iter().cycle()).for_each(|(byte, key)| *byte ^= key);
            // The library panics over a key that is none.
            let encrypted = std::panic::catch_unwind(|| crypto::encrypt(&secret, key));
            send_bytes(link, &encrypted.map_err(|_| Failure::garbled())?).map(|()| false)
        }
        _ => Err(Failure::garbled()),
    }
}

/// The plugins whose answers tell nobody the password.
fn spoken_plugin(asked: AuthPlugin<'_>) -> Result<AuthPlugin<'static>, Failure> {
    match asked {
        AuthPlugin::CachingSha2Password | AuthPlugin::MysqlNativePassword | AuthPlugin::Ed25519 => {
            Ok(asked.into_owned())
        }
        other => Err(unspoken(&String::from_utf8_lossy(other.as_bytes()))),
    }
}

/// Before it says no to a user that it doesn't know, MySQL 8 asks for any of its plugins, so that nobody can tell.
fn unspoken(plugin: &str) -> Failure {
    denied(format!(
        "Access denied: the server asks for authentication by {plugin}, which inrush does not speak; \
         MySQL may ask so for a user that it does not know"
    ))
}

/// We say no in the server's place, as it says it.
fn denied(message: String) -> Failure {
    Failure::Server(Box::new(Refusal { code: 1045, state: "28000".to_owned(), message }))
}

fn send(link: &mut Link<'_>, packet: &impl MySerialize) -> Result<(), Failure> {
    let mut bytes = Vec::new();
    packet.serialize(&mut bytes);
    send_bytes(link, &bytes)
}

fn send_bytes(link: &mut Link<'_>, bytes: &[u8]) -> Result<(), Failure> {
    link.write(bytes)?;
    link.flush()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_nonce_may_end_with_a_zero() {
        let nonce: Vec<u8> = (1..32).chain([0]).collect();
        let switch = [b"\xfeclient_ed25519\0", nonce.as_slice()].concat();
        assert_eq!(raw_nonce(&switch), nonce);
        assert!(raw_nonce(b"\xfe").is_empty() && raw_nonce(b"\xfename").len() < 32);
    }
}
