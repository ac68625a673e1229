//! Certificates: which servers are believed.

use std::path::{Path, PathBuf};
use std::sync::Arc;

use rustls::client::WebPkiServerVerifier;
use rustls::client::danger::{HandshakeSignatureValid, ServerCertVerified, ServerCertVerifier};
use rustls::crypto::{CryptoProvider, ring, verify_tls12_signature, verify_tls13_signature};
use rustls::pki_types::pem::PemObject;
use rustls::pki_types::{CertificateDer, ServerName, UnixTime};
use rustls::{
    CertificateError, ClientConfig, ClientConnection, DigitallySignedStruct, Error, RootCertStore,
    SignatureScheme,
};

use super::Broken;
use crate::failure::{Lost, LostKind};

/// Whom to believe.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Believe {
    /// Whoever answers.
    Anybody,
    /// Somebody whom an authority vouches for, whatever name it vouches for.
    AnyName,
    /// The host that was asked for.
    Host,
}

/// How to encrypt.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Tls {
    /// Whom to believe.
    pub believe: Believe,
    /// The authority that is believed, in PEM or DER; without it, those that this machine and Mozilla believe.
    pub authority: Option<PathBuf>,
}

impl Tls {
    /// A client's end that will believe only the right server.
    pub(super) fn client(&self, host: &str) -> Result<ClientConnection, Broken> {
        let failed = |error: Error| Broken::Lost(Lost::by_tls(&error));
        let provider = Arc::new(ring::default_provider());
        let any_name = |authorities| AnyName { authorities, provider: Arc::clone(&provider) };
        let verifier: Arc<dyn ServerCertVerifier> = match self.believe {
            Believe::Anybody => Arc::new(any_name(None)),
            Believe::AnyName => Arc::new(any_name(Some(self.authorities(&provider)?))),
            Believe::Host => self.authorities(&provider)?,
        };
        let config = ClientConfig::builder_with_provider(provider)
            .with_safe_default_protocol_versions()
            .map_err(failed)?
            .dangerous()
            .with_custom_certificate_verifier(verifier)
            .with_no_client_auth();
        let name = ServerName::try_from(host.to_owned()).map_err(|_| {
            let why = format!("TLS: {host} is no name that a certificate could hold");
            Broken::Lost(Lost::new(LostKind::Tls, why))
        })?;
        ClientConnection::new(Arc::new(config), name).map_err(failed)
    }

    fn authorities(
        &self,
        provider: &Arc<CryptoProvider>,
    ) -> Result<Arc<WebPkiServerVerifier>, Broken> {
        /// The certificates that this machine trusts.
        const SYSTEM: &str = "/etc/ssl/certs/ca-certificates.crt";
        let mut roots = RootCertStore::empty();
        match &self.authority {
            Some(path) => {
                for certificate in certificates(path)? {
                    roots.add(certificate).map_err(|_| {
                        no_authority(format!("{} is no certificate", path.display()))
                    })?;
                }
            }
            None => {
                roots.extend(webpki_roots::TLS_SERVER_ROOTS.iter().cloned());
                roots
                    .add_parsable_certificates(certificates(Path::new(SYSTEM)).unwrap_or_default());
            }
        }
        WebPkiServerVerifier::builder_with_provider(Arc::new(roots), Arc::clone(provider))
            .build()
            .map_err(|error| no_authority(format!("TLS: no certificate to go by: {error}")))
    }
}

/// The user's file does not say whom to believe.
fn no_authority(why: String) -> Broken {
    Broken::Lost(Lost::new(LostKind::CertificateFile, why))
}

fn certificates(path: &Path) -> Result<Vec<CertificateDer<'static>>, Broken> {
    let wrong = |why: String| no_authority(format!("certificate {}: {why}", path.display()));
    let bytes = std::fs::read(path).map_err(|error| wrong(error.to_string()))?;
    let found: Result<Vec<_>, _> = CertificateDer::pem_slice_iter(&bytes).collect();
    match found {
        Ok(found) if found.is_empty() && !bytes.is_empty() => Ok(vec![bytes.into()]),
        Ok(found) => Ok(found),
        Err(error) => Err(wrong(error.to_string())),
    }
}

/// Looks at less than the name: at nothing, or at who has signed the certificate. Those that MySQL makes for itself name no host.
#[derive(Debug)]
struct AnyName {
    /// Who has to have signed it; `None` for anybody.
    authorities: Option<Arc<WebPkiServerVerifier>>,
    provider: Arc<CryptoProvider>,
}

impl ServerCertVerifier for AnyName {
    fn verify_server_cert(
        &self,
        end_entity: &CertificateDer<'_>,
        intermediates: &[CertificateDer<'_>],
        server_name: &ServerName<'_>,
        ocsp_response: &[u8],
        now: UnixTime,
    ) -> Result<ServerCertVerified, Error> {
        let Some(authorities) = &self.authorities else {
            return Ok(ServerCertVerified::assertion());
        };
        let verified = authorities.verify_server_cert(
            end_entity,
            intermediates,
            server_name,
            ocsp_response,
            now,
        );
        match verified {
            // The name is looked at last, when all else is right.
            Err(Error::InvalidCertificate(
                CertificateError::NotValidForName | CertificateError::NotValidForNameContext { .. },
            )) => Ok(ServerCertVerified::assertion()),
            verified => verified,
        }
    }

    fn verify_tls12_signature(
        &self,
        message: &[u8],
        certificate: &CertificateDer<'_>,
        signed: &DigitallySignedStruct,
    ) -> Result<HandshakeSignatureValid, Error> {
        let known = &self.provider.signature_verification_algorithms;
        verify_tls12_signature(message, certificate, signed, known)
    }

    fn verify_tls13_signature(
        &self,
        message: &[u8],
        certificate: &CertificateDer<'_>,
        signed: &DigitallySignedStruct,
    ) -> Result<HandshakeSignatureValid, Error> {
        let known = &self.provider.signature_verification_algorithms;
        verify_tls13_signature(message, certificate, signed, known)
    }

    fn supported_verify_schemes(&self) -> Vec<SignatureScheme> {
        self.provider.signature_verification_algorithms.supported_schemes()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn lost(believe: Believe, authority: Option<&Path>, host: &str) -> Lost {
        let tls = Tls { believe, authority: authority.map(Path::to_owned) };
        match tls.client(host) {
            Err(Broken::Lost(lost)) => lost,
            other => panic!("{other:?}"),
        }
    }

    #[test]
    fn a_file_that_names_no_authority_is_told_from_a_bad_server() {
        let path = std::env::temp_dir().join(inrush_core::unique::word());
        let kind = || lost(Believe::Host, Some(&path), "h").kind();
        assert_eq!(kind(), LostKind::CertificateFile, "no file");
        for contents in ["", "no certificate", "-----BEGIN CERTIFICATE-----\n!\n"] {
            std::fs::write(&path, contents).unwrap();
            assert_eq!(kind(), LostKind::CertificateFile, "{contents}");
        }
        std::fs::remove_file(&path).unwrap();
        assert_eq!(lost(Believe::Anybody, None, "no name").kind(), LostKind::Tls);
    }
}
