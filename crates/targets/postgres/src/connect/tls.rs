//! What libpq's `sslmode` asks for (<https://www.postgresql.org/docs/current/libpq-ssl.html#LIBPQ-SSL-PROTECTION>).

use std::path::{Path, PathBuf};

use super::parameter::Settings;
use inrush_net::channel::{Address, Believe, Tls};

/// Whether to encrypt, and whom to believe then.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum TlsMode {
    /// Not at all.
    Never,
    /// When the server refuses to talk in the clear: in a second attempt.
    Allow(Tls),
    /// When the server can. One that can, but fails to, is tried again in the clear.
    Prefer(Tls),
    /// In any case, or there is no connection.
    Demand(Tls),
}

/// One try at a connection.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Encrypts {
    No,
    /// When the server can.
    Perhaps,
    Yes,
}

impl TlsMode {
    /// The tries, until one succeeds.
    pub(crate) fn tries(&self) -> &'static [Encrypts] {
        match self {
            Self::Never => &[Encrypts::No],
            Self::Allow(_) => &[Encrypts::No, Encrypts::Yes],
            Self::Prefer(_) => &[Encrypts::Perhaps, Encrypts::No],
            Self::Demand(_) => &[Encrypts::Yes],
        }
    }

    /// How to encrypt, where it may come to that.
    pub(crate) fn settings(&self) -> Option<&Tls> {
        match self {
            Self::Never => None,
            Self::Allow(tls) | Self::Prefer(tls) | Self::Demand(tls) => Some(tls),
        }
    }

    /// The mode of libpq, where one is set. Where none is, what stays on this machine can't be listened to, and what leaves it is
    /// encrypted, and the server has to prove itself; libpq would leave both to the server.
    ///
    /// `authority_of_user` is there when `sslrootcert` is not set.
    pub(super) fn of(
        settings: &Settings,
        address: &Address,
        authority_of_user: Option<&Path>,
    ) -> Result<Self, String> {
        const SYSTEM: &str = "system";
        let named = settings.get("sslrootcert");
        let mode = settings.get("sslmode");
        let mode = match mode {
            Some("disable" | "allow" | "prefer" | "require" | "verify-ca" | "verify-full") => mode,
            Some(other) => {
                return Err(format!(
                    "{}={other}: takes disable, allow, prefer, require, verify-ca or verify-full",
                    settings.called("sslmode")
                ));
            }
            None => None,
        };
        // Public authorities vouch for anybody who owns a name, so only the name tells servers apart.
        if let (Some(SYSTEM), Some(mode)) = (named, mode)
            && mode != "verify-full"
        {
            return Err(format!(
                "{}={mode} does not look at the server's name, which {}=system needs: use verify-full",
                settings.called("sslmode"),
                settings.called("sslrootcert"),
            ));
        }
        if matches!(address, Address::Socket(_)) {
            return Ok(Self::Never);
        }
        let anybody = Tls { believe: Believe::Anybody, authority: None };
        let authority = match named {
            Some(SYSTEM) => None,
            Some(file) => Some(PathBuf::from(file)),
            None => authority_of_user.map(Path::to_owned),
        };
        // Who names an authority wants it asked.
        let vouched_for = match &authority {
            Some(_) => Tls { believe: Believe::AnyName, authority: authority.clone() },
            None => anybody.clone(),
        };
        let host = Tls { believe: Believe::Host, authority };
        Ok(match mode {
            Some("disable") => Self::Never,
            Some("allow") => Self::Allow(vouched_for),
            Some("prefer") => Self::Prefer(vouched_for),
            Some("verify-ca") if vouched_for.authority.is_none() => {
                return Err(format!(
                    "{}=verify-ca takes a certificate for any name, so sslrootcert=FILE has to say whose",
                    settings.called("sslmode")
                ));
            }
            Some("require" | "verify-ca") => Self::Demand(vouched_for),
            Some(_) => Self::Demand(host),
            None if !address.is_local() || named == Some(SYSTEM) => Self::Demand(host),
            None if named.is_some() => Self::Demand(vouched_for),
            None => Self::Prefer(anybody),
        })
    }
}
