use std::io::ErrorKind;

use rustls::CertificateError;

use super::*;

const ADVICE: Advice = Advice {
    without_tls: Some("no TLS"),
    with_tls: None,
    any_name: "any name",
    authority: "authority",
    unchecked: "unchecked",
    certificate_file: "file",
    replica_set: None,
    writable: Some("writable"),
    check_server: "check",
};

fn lost(error: io::Error) -> Lost {
    match Broken::from(error) {
        Broken::Lost(lost) => lost,
        Broken::Stopped => panic!("nobody stopped it"),
    }
}

/// As rustls hands its errors to whoever reads and writes.
fn by_tls(error: rustls::Error) -> Lost {
    lost(io::Error::new(ErrorKind::InvalidData, error))
}

#[test]
fn kinds_come_from_types() {
    let name = || CertificateError::NotValidForNameContext {
        expected: "h".try_into().unwrap(),
        presented: Vec::new(),
    };
    for (why, kind) in [
        (name(), LostKind::WrongName),
        (CertificateError::NotValidForName, LostKind::WrongName),
        (CertificateError::UnknownIssuer, LostKind::BadCertificate),
        (CertificateError::Expired, LostKind::Expired),
    ] {
        let lost = by_tls(rustls::Error::InvalidCertificate(why));
        assert_eq!(lost.kind(), kind);
        assert!(lost.to_string().starts_with("TLS: the server's certificate "), "{lost}");
    }
    for error in [
        rustls::Error::HandshakeNotComplete,
        // What a message says decides nothing.
        rustls::Error::General("invalid peer certificate".to_owned()),
    ] {
        let words = format!("TLS: {error}");
        let lost = by_tls(error);
        assert_eq!((lost.kind(), lost.to_string()), (LostKind::Tls, words));
    }
    let closed = lost(ErrorKind::UnexpectedEof.into());
    assert_eq!(
        (closed.kind(), closed.to_string().as_str()),
        (LostKind::Closed, "the server closed it")
    );
    let refused = lost(ErrorKind::ConnectionRefused.into());
    assert_eq!(refused.kind(), LostKind::Connection);
    let ours = Lost::new(LostKind::WantsTls, "it wants TLS");
    assert_eq!(lost(ours.clone().into()), ours);
}

#[test]
fn advice_is_for_the_kind() {
    let advice = |kind| -> Vec<&str> { ADVICE.on(kind).into_iter().flatten().collect() };
    assert_eq!(advice(LostKind::NoTls), ["no TLS"]);
    assert_eq!(advice(LostKind::WrongName), ["any name"]);
    assert_eq!(advice(LostKind::BadCertificate), ["authority", "unchecked"]);
    assert_eq!(advice(LostKind::Expired), [RENEW, "unchecked"]);
    assert_eq!(advice(LostKind::CertificateFile), ["file"]);
    assert_eq!(advice(LostKind::NotWritable), ["writable"]);
    for kind in [LostKind::Connection, LostKind::Tls, LostKind::WantsTls, LostKind::WrongReplicaSet]
    {
        assert_eq!(advice(kind), ["check"], "{kind:?}");
    }
    let error = Lost::new(LostKind::Connection, "nobody answers").no_connection("h:1", &ADVICE);
    assert_eq!(error.what(), "no connection to h:1: nobody answers");
}

struct Wire {
    was_stopped: bool,
}

impl Wired for Wire {
    fn was_stopped(&self) -> bool {
        self.was_stopped
    }
}

#[test]
fn a_connection_is_held_as_long_as_there_is_something_to_say() {
    let driven = |was_stopped, outcome: Result<(), Failure<u8>>| {
        let mut held = Some(Wire { was_stopped });
        let outcome = drive(&mut held, |_| outcome);
        (outcome, held.is_some())
    };
    let lost = || Failure::lost(LostKind::Connection, "gone");
    assert!(matches!(driven(false, Ok(())), (Ok(()), true)));
    assert!(matches!(driven(false, Err(Failure::Server(7))), (Err(Failure::Server(7)), true)));
    assert!(matches!(driven(false, Err(lost())), (Err(Failure::Lost(_)), false)));
    assert!(matches!(driven(false, Err(Failure::Stopped)), (Err(Failure::Stopped), false)));
    // The server came to the end of the command before it heard that it should not.
    assert!(matches!(driven(true, Ok(())), (Ok(()), true)));
    assert!(matches!(driven(true, Err(Failure::Server(7))), (Err(Failure::Stopped), true)));
    assert!(matches!(driven(true, Err(lost())), (Err(Failure::Stopped), false)));
    let closed = drive(&mut None::<Wire>, |_| Ok::<_, Failure<u8>>(()));
    assert_eq!(closed.unwrap_err().lost_kind(), Some(LostKind::Closed));
}
