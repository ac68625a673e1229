//! SCRAM: both sides prove that they know the password, and neither says it (RFC 5802, RFC 7677;
//! <https://github.com/mongodb/specifications/blob/master/source/auth/auth.md#scram-sha-1>).

use base64::prelude::{BASE64_STANDARD, Engine as _};
use hmac::{Hmac, KeyInit as _, Mac as _};
use md5::Md5;
use sha1::Sha1;
use sha2::{Digest as _, Sha256};

use inrush_core::value::hex;

/// More rounds than any server's default by far: a hostile one must not have us count for ever.
const ROUNDS_MAX: u32 = 10_000_000;

/// RFC 7677 wants no fewer, and a server that asks for fewer wants to learn the password.
const ROUNDS_MIN: u32 = 4096;

/// The hash that all is made of.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Hash {
    Sha1,
    Sha256,
}

/// A conversation under way.
pub(super) struct Scram {
    hash: Hash,
    password: Vec<u8>,
    nonce: String,
    /// The first message without its head.
    first: String,
    /// What the server's last message has to be.
    signature: Vec<u8>,
}

/// Why it can't go on: one sentence without a full stop.
pub(super) type Doubt = &'static str;

impl Scram {
    /// `nonce`: printable, without a comma, and nobody can guess it.
    pub(super) fn new(hash: Hash, user: &str, password: &str, nonce: String) -> Self {
        let password = match hash {
            // What servers keep of passwords is older than SCRAM.
            Hash::Sha1 => {
                let mut digits = Vec::new();
                hex::put(&Md5::digest(format!("{user}:mongo:{password}")), &mut digits);
                digits
            }
            // One that can't be prepared is taken as it is, as servers do.
            Hash::Sha256 => stringprep::saslprep(password).map_or_else(
                |_| password.as_bytes().to_vec(),
                |password| password.as_bytes().to_vec(),
            ),
        };
        let user = user.replace('=', "=3D").replace(',', "=2C");
        let first = format!("n={user},r={nonce}");
        Self { hash, password, nonce, first, signature: Vec::new() }
    }

    /// The first message.
    pub(super) fn first(&self) -> String {
        format!("n,,{}", self.first)
    }

    /// The last message, after the server's first one.
    ///
    /// # Errors
    /// When that makes no sense, or asks for too much or too little.
    pub(super) fn last(&mut self, server: &str) -> Result<String, Doubt> {
        const GARBLED: Doubt = "the server's side of the login makes no sense";
        let part = |name: &str| server.split(',').find_map(|part| part.strip_prefix(name));
        let nonce = part("r=").ok_or(GARBLED)?;
        if !nonce.starts_with(&self.nonce) || nonce.len() == self.nonce.len() {
            return Err(GARBLED);
        }
        let salt = part("s=").and_then(|salt| BASE64_STANDARD.decode(salt).ok()).ok_or(GARBLED)?;
        let rounds: u32 = part("i=").and_then(|rounds| rounds.parse().ok()).ok_or(GARBLED)?;
        if rounds > ROUNDS_MAX {
            return Err("the server wants the password hashed too often");
        }
        if rounds < ROUNDS_MIN {
            return Err("the server wants the password hashed so little that it could be guessed");
        }
        let salted = self.hash.salted(&self.password, &salt, rounds);
        let without_proof = format!("c=biws,r={nonce}");
        let said = format!("{},{server},{without_proof}", self.first);
        let client_key = self.hash.mac(&salted, b"Client Key");
        let mut proof = self.hash.mac(&self.hash.digest(&client_key), said.as_bytes());
        proof.iter_mut().zip(&client_key).for_each(|(byte, key)| *byte ^= key);
        let server_key = self.hash.mac(&salted, b"Server Key");
        self.signature = self.hash.mac(&server_key, said.as_bytes());
        Ok(format!("{without_proof},p={}", BASE64_STANDARD.encode(proof)))
    }

    /// Whether the server's last message proves that it knows the password as well.
    pub(super) fn is_proved(&self, server: &str) -> bool {
        let said = server.split(',').find_map(|part| part.strip_prefix("v="));
        let said = said.and_then(|said| BASE64_STANDARD.decode(said).ok());
        !self.signature.is_empty() && said.as_deref() == Some(&self.signature)
    }
}

impl Hash {
    fn mac(self, key: &[u8], text: &[u8]) -> Vec<u8> {
        // Keys of any length are taken.
        match self {
            Hash::Sha1 => Hmac::<Sha1>::new_from_slice(key)
                .map(|mac| mac.chain_update(text).finalize().into_bytes().to_vec()),
            Hash::Sha256 => Hmac::<Sha256>::new_from_slice(key)
                .map(|mac| mac.chain_update(text).finalize().into_bytes().to_vec()),
        }
        .unwrap_or_default()
    }

    fn digest(self, text: &[u8]) -> Vec<u8> {
        match self {
            Hash::Sha1 => Sha1::digest(text).to_vec(),
            Hash::Sha256 => Sha256::digest(text).to_vec(),
        }
    }

    /// PBKDF2 with one block.
    fn salted(self, password: &[u8], salt: &[u8], rounds: u32) -> Vec<u8> {
        let mut last = self.mac(password, &[salt, &[0, 0, 0, 1]].concat());
        let mut sum = last.clone();
        for _ in 1..rounds {
            last = self.mac(password, &last);
            sum.iter_mut().zip(&last).for_each(|(byte, more)| *byte ^= more);
        }
        sum
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The example of RFC 7677, section 3.
    #[test]
    fn the_example_of_the_rfc_with_sha_256() {
        let mut scram =
            Scram::new(Hash::Sha256, "user", "pencil", "rOprNGfwEbeRWgbNEkqO".to_owned());
        assert_eq!(scram.first(), "n,,n=user,r=rOprNGfwEbeRWgbNEkqO");
        let server = "r=rOprNGfwEbeRWgbNEkqO%hvYDpWUa2RaTCAfuxFIlj)hNlF$k0,s=W22ZaJ0SNY7soEsUEjb6gQ==,i=4096";
        let last = scram.last(server).unwrap();
        assert_eq!(
            last,
            "c=biws,r=rOprNGfwEbeRWgbNEkqO%hvYDpWUa2RaTCAfuxFIlj)hNlF$k0,p=dHzbZapWIk4jUhN+Ute9ytag9zjfMHgsqmmiz7AndVQ="
        );
        assert!(scram.is_proved("v=6rriTRBi23WpRR/wtup+mMhUZUn/dB5nLTJRsjl95G4="));
        assert!(!scram.is_proved("v=6rriTRBi23WpRR/wtup+mMhUZUn/dB5nLTJRsjl95G5="));
        assert!(!scram.is_proved("e=other-error"));
    }

    /// MongoDB's specification of authentication has this one.
    #[test]
    fn the_example_of_the_specification_with_sha_1() {
        let mut scram =
            Scram::new(Hash::Sha1, "user", "pencil", "fyko+d2lbbFgONRv9qkxdawL".to_owned());
        let server = "r=fyko+d2lbbFgONRv9qkxdawLHo+Vgk7qvUOKUwuWLIWg4l/9SraGMHEE,s=rQ9ZY3MntBeuP3E1TDVC4w==,i=10000";
        assert_eq!(
            scram.last(server).unwrap(),
            "c=biws,r=fyko+d2lbbFgONRv9qkxdawLHo+Vgk7qvUOKUwuWLIWg4l/9SraGMHEE,p=MC2T8BvbmWRckDw8oWl5IVghwCY="
        );
        assert!(scram.is_proved("v=UMWeI25JD1yNYZRMpZ4VHvhZ9e0="));
    }

    #[test]
    fn servers_that_ask_for_something_else_get_nothing() {
        let mut scram = Scram::new(Hash::Sha256, "a=b,c", "p", "nonce".to_owned());
        assert_eq!(scram.first(), "n,,n=a=3Db=2Cc,r=nonce");
        for server in [
            "",
            "r=other,s=AAAA,i=4096",
            "r=nonce,s=AAAA,i=4096",
            "r=nonce1,s=?,i=4096",
            "r=nonce1,s=AAAA,i=1",
            "r=nonce1,s=AAAA,i=99999999",
        ] {
            assert!(scram.last(server).is_err(), "{server}");
        }
        assert!(!scram.is_proved("v="));
    }
}
