//! The way in, encrypted: a server that can no more than that. The one with tables is in the command's tests.

use std::io::{Read as _, Write as _};
use std::net::{TcpListener, TcpStream};
use std::path::Path;
use std::process::{Command, Stdio};

use rustls::pki_types::pem::PemObject;
use rustls::pki_types::{CertificateDer, PrivateKeyDer};
use rustls::{ServerConfig, ServerConnection, StreamOwned};

use super::*;
use crate::link::Wrapped;

/// Makes a certificate for `localhost` that vouches for itself; false where the machine can't.
fn make_certificate(directory: &Path) -> bool {
    let status = Command::new("openssl")
        .args([
            "req",
            "-x509",
            "-newkey",
            "ec",
            "-pkeyopt",
            "ec_paramgen_curve:prime256v1",
            "-nodes",
        ])
        .args(["-keyout", "key.pem", "-out", "cert.pem", "-days", "2", "-subj", "/CN=localhost"])
        .args(["-addext", "subjectAltName=DNS:localhost"])
        .args(["-addext", "basicConstraints=critical,CA:FALSE"])
        .current_dir(directory)
        .stderr(Stdio::null())
        .status();
    status.is_ok_and(|status| status.success())
}

/// One packet, with its head.
fn packet(stream: &mut impl std::io::Read) -> Vec<u8> {
    let mut head = [0; 8];
    stream.read_exact(&mut head).unwrap();
    let mut packet = head.to_vec();
    packet.resize(u16::from_be_bytes([head[2], head[3]]).into(), 0);
    stream.read_exact(&mut packet[8..]).unwrap();
    packet
}

/// Wants encryption, and tells whoever comes through it that he isn't let in.
fn serve(mut stream: TcpStream, config: Arc<ServerConfig>) -> std::io::Result<()> {
    const REQUIRED: u8 = 3;
    packet(&mut stream);
    let options = [0, 0, 11, 0, 6, 1, 0, 17, 0, 1, 0xff, 16, 0, 0x10, 4, 0, 0, REQUIRED];
    stream.write_all(&[&[4, 1, 0, 8 + options.len() as u8, 0, 0, 0, 0], &options[..]].concat())?;
    let mut tls = ServerConnection::new(config).unwrap();
    let mut wrapped = Wrapped::over(&mut stream);
    while tls.is_handshaking() {
        tls.complete_io(&mut wrapped)?;
    }
    wrapped.flush()?;
    let mut stream = StreamOwned::new(tls, stream);
    assert_eq!(packet(&mut stream)[0], 0x10, "LOGIN7");
    // ERROR 18456, class 14, and DONE.
    let text: Vec<u8> = "Login failed.".encode_utf16().flat_map(u16::to_le_bytes).collect();
    let body = [&[0x18, 0x48, 0, 0, 1, 14, 13, 0], &text[..], &[0, 0, 1, 0, 0, 0]].concat();
    let mut answer = [&[0xaa, body.len() as u8, 0], &body[..]].concat();
    answer.extend([0xfd, 2, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0]);
    stream.write_all(&[&[4, 1, 0, 8 + answer.len() as u8, 0, 0, 0, 0], &answer[..]].concat())?;
    stream.flush()?;
    // Until the client hangs up.
    let _ = stream.read(&mut [0]);
    Ok(())
}

#[test]
fn encryption_is_settled_before_a_password_is_sent() {
    let directory = tempfile::tempdir().unwrap();
    assert!(make_certificate(directory.path()), "openssl makes certificates");
    let (cert, key) = (directory.path().join("cert.pem"), directory.path().join("key.pem"));
    let provider = Arc::new(rustls::crypto::ring::default_provider());
    let config = ServerConfig::builder_with_provider(provider)
        .with_protocol_versions(&[&rustls::version::TLS12])
        .unwrap()
        .with_no_client_auth()
        .with_single_cert(
            vec![CertificateDer::from_pem_file(&cert).unwrap()],
            PrivateKeyDer::from_pem_file(&key).unwrap(),
        )
        .unwrap();
    let config = Arc::new(config);
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    let port = listener.local_addr().unwrap().port();
    std::thread::spawn(move || {
        for stream in listener.incoming().flatten() {
            // A client that believes nobody hangs up.
            let _ = serve(stream, Arc::clone(&config));
        }
    });
    let stop = AtomicBool::new(false);
    let opened = |host: &str, options: &str| {
        let url = format!("mssql://sa:secret@{host}:{port}/d{options}");
        let place = Arc::new(connect::place(&url).unwrap());
        Session::open(&place, &stop).err().unwrap().to_string()
    };
    let ca = format!("?ca={}", cert.display());
    for (host, options) in [
        ("localhost", ""),
        ("localhost", ca.as_str()),
        ("127.0.0.1", "?trust_server_certificate=yes"),
    ] {
        let error = opened(host, options);
        assert!(error.contains("Login failed."), "{options}: {error}");
    }
    let error = opened("localhost", "?encrypt=yes");
    assert!(error.contains("certificate") && error.contains("?ca=FILE"), "{error}");
    let error = opened("127.0.0.1", &ca);
    assert!(
        error.contains("certificate") && error.contains("name the server in the URL"),
        "{error}"
    );
    let error = opened("localhost", &format!("?ca={}", key.display()));
    assert!(error.contains("is no certificate") && error.contains("in PEM or DER"), "{error}");
    let error = opened("localhost", "?encrypt=no");
    assert!(error.contains("the server wants the connection to be encrypted"), "{error}");
}
