//! https in front of a server.

use std::io::{Read, Write};
use std::net::{SocketAddr, TcpListener, TcpStream};
use std::sync::Arc;
use std::thread;
use std::time::Duration;

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use rcgen::{BasicConstraints, CertificateParams, IsCa, Issuer, KeyPair};
use rustls::pki_types::PrivateKeyDer;
use rustls::server::WebPkiClientVerifier;
use rustls::{RootCertStore, ServerConfig, ServerConnection};

/// An https front at 127.0.0.1 that asks clients for a certificate of its own authority.
pub(crate) struct Tls {
    pub(crate) port: u16,
    /// The authority's certificate, as PEM.
    pub(crate) authority: String,
    /// A client's certificate and key, as PEM.
    pub(crate) client: (String, String),
}

impl Tls {
    /// `strict`: refuses clients that show none.
    pub(crate) fn before(server: SocketAddr, strict: bool) -> Self {
        let mut params = CertificateParams::new(["an-authority".to_owned()]).unwrap();
        params.is_ca = IsCa::Ca(BasicConstraints::Unconstrained);
        let key = KeyPair::generate().unwrap();
        let authority = params.self_signed(&key).unwrap();
        let issuer = Issuer::new(params, key);
        let issue = |name: &str| {
            let key = KeyPair::generate().unwrap();
            let params = CertificateParams::new([name.to_owned()]).unwrap();
            (params.signed_by(&key, &issuer).unwrap(), key.serialize_der())
        };

        let provider = Arc::new(rustls::crypto::ring::default_provider());
        let mut roots = RootCertStore::empty();
        roots.add(authority.der().clone()).unwrap();
        let mut verifier = WebPkiClientVerifier::builder_with_provider(Arc::new(roots), Arc::clone(&provider));
        if !strict {
            verifier = verifier.allow_unauthenticated();
        }
        let (certificate, key) = issue("127.0.0.1");
        let config = ServerConfig::builder_with_provider(provider)
            .with_safe_default_protocol_versions()
            .unwrap()
            .with_client_cert_verifier(verifier.build().unwrap())
            .with_single_cert(vec![certificate.der().clone()], PrivateKeyDer::try_from(key).unwrap())
            .unwrap();
        let config = Arc::new(config);
        let listener = TcpListener::bind("127.0.0.1:0").unwrap();
        let port = listener.local_addr().unwrap().port();
        thread::spawn(move || {
            for client in listener.incoming().flatten() {
                let session = ServerConnection::new(Arc::clone(&config)).unwrap();
                // A client that goes away ends its thread, and that is all.
                thread::spawn(move || relay(session, client, TcpStream::connect(server).ok()?));
            }
        });
        let (client, client_key) = issue("a-client");
        Self {
            port,
            authority: pem("CERTIFICATE", authority.der()),
            client: (pem("CERTIFICATE", client.der()), pem("PRIVATE KEY", &client_key)),
        }
    }
}

/// Carries bytes both ways, in turns: these servers answer only when asked.
fn relay(mut session: ServerConnection, mut client: TcpStream, mut server: TcpStream) -> Option<()> {
    server.set_read_timeout(Some(Duration::from_millis(5))).ok()?;
    client.set_read_timeout(Some(Duration::from_millis(5))).ok()?;
    let mut buffer = [0; 16 * 1024];
    loop {
        match session.read_tls(&mut client) {
            Ok(0) => return None,
            Ok(_) => {
                let judged = session.process_new_packets();
                if judged.is_err() {
                    // Tells the client why.
                    session.write_tls(&mut client).ok()?;
                }
                judged.ok()?;
            }
            Err(error) if is_timeout(&error) => {}
            Err(_) => return None,
        }
        while let Ok(length @ 1..) = session.reader().read(&mut buffer) {
            server.write_all(&buffer[..length]).ok()?;
        }
        match server.read(&mut buffer) {
            Ok(0) => return None,
            Ok(length) => session.writer().write_all(&buffer[..length]).ok()?,
            Err(error) if is_timeout(&error) => {}
            Err(_) => return None,
        }
        while session.wants_write() {
            session.write_tls(&mut client).ok()?;
        }
    }
}

fn is_timeout(error: &std::io::Error) -> bool {
    matches!(
        error.kind(),
        std::io::ErrorKind::WouldBlock | std::io::ErrorKind::TimedOut
    )
}

fn pem(what: &str, der: &[u8]) -> String {
    format!(
        "-----BEGIN {what}-----\n{}\n-----END {what}-----\n",
        STANDARD.encode(der)
    )
}
