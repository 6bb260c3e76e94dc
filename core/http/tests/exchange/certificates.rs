//! Whom the client trusts, and who it says it is.

use std::io::{BufReader, Write};
use std::net::TcpListener;
use std::path::PathBuf;
use std::sync::Arc;
use std::thread::JoinHandle;

use aiperf_http::{Body, Cancel, ErrorKind, Exchange, Options, TlsSettings};
use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use rcgen::{BasicConstraints, CertificateParams, IsCa, Issuer, KeyPair};
use rustls::pki_types::PrivateKeyDer;
use rustls::server::WebPkiClientVerifier;
use rustls::{RootCertStore, ServerConfig, ServerConnection, StreamOwned};
use tempfile::TempDir;

use crate::encrypted::{Peer, https, read_request, send, trusting};
use crate::{events, run};

/// Years for which a certificate is valid.
type Years = (i32, i32);

const NOW: Years = (2020, 4000);
const PAST: Years = (2001, 2002);

struct Authority {
    issuer: Issuer<'static, KeyPair>,
    certificate: rcgen::Certificate,
}

impl Authority {
    fn new(years: Years) -> Self {
        let mut params = params("an authority", years);
        params.is_ca = IsCa::Ca(BasicConstraints::Unconstrained);
        let key = KeyPair::generate().unwrap();
        let certificate = params.self_signed(&key).unwrap();
        Self {
            issuer: Issuer::new(params, key),
            certificate,
        }
    }

    fn issue(&self, name: &str, years: Years) -> (rcgen::Certificate, KeyPair) {
        let key = KeyPair::generate().unwrap();
        (params(name, years).signed_by(&key, &self.issuer).unwrap(), key)
    }
}

fn pem(what: &str, der: &[u8]) -> String {
    let text = STANDARD.encode(der);
    format!("-----BEGIN {what}-----\n{text}\n-----END {what}-----\n")
}

fn params(name: &str, (from, until): Years) -> CertificateParams {
    let mut params = CertificateParams::new([name.replace(' ', "-")]).unwrap();
    params.not_before = rcgen::date_time_ymd(from, 1, 1);
    params.not_after = rcgen::date_time_ymd(until, 1, 1);
    params
}

/// A server at 127.0.0.1 with a certificate of `authority`; it may ask for one, too. It answers `answers` requests, and
/// tells whether the client showed a certificate.
fn serve(authority: &Authority, years: Years, ask: bool) -> (u16, JoinHandle<bool>) {
    let (certificate, key) = authority.issue("127.0.0.1", years);
    let provider = Arc::new(rustls::crypto::ring::default_provider());
    let builder = ServerConfig::builder_with_provider(Arc::clone(&provider))
        .with_safe_default_protocol_versions()
        .unwrap();
    let builder = if ask {
        let mut roots = RootCertStore::empty();
        roots.add(authority.certificate.der().clone()).unwrap();
        let verifier = WebPkiClientVerifier::builder_with_provider(Arc::new(roots), provider);
        builder.with_client_cert_verifier(verifier.build().unwrap())
    } else {
        builder.with_no_client_auth()
    };
    let key = PrivateKeyDer::try_from(key.serialize_der()).unwrap();
    let config = builder.with_single_cert(vec![certificate.der().clone()], key).unwrap();
    let listener = TcpListener::bind(("127.0.0.1", 0)).unwrap();
    let port = listener.local_addr().unwrap().port();
    let server = std::thread::spawn(move || {
        let (stream, _) = listener.accept().unwrap();
        let session = ServerConnection::new(Arc::new(config)).unwrap();
        let mut peer: Peer = BufReader::new(StreamOwned::new(session, stream));
        while peer.get_ref().conn.is_handshaking() {
            let stream = peer.get_mut();
            if stream.conn.complete_io(&mut stream.sock).is_err() {
                // Tells the client why.
                let _ = stream.conn.write_tls(&mut stream.sock);
                return false;
            }
        }
        let shown = peer.get_ref().conn.peer_certificates().is_some();
        read_request(&mut peer);
        send(&mut peer, "HTTP/1.1 200 OK\r\nContent-Type: text/event-stream\r\n\r\n");
        for _ in 0..20 {
            send(&mut peer, "data: a\n\n");
        }
        peer.get_mut().conn.send_close_notify();
        let _ = peer.get_mut().flush();
        shown
    });
    (port, server)
}

/// A folder of PEM files.
struct Files(TempDir);

impl Files {
    fn new() -> Self {
        Self(tempfile::tempdir().unwrap())
    }

    fn write(&self, name: &str, text: impl AsRef<[u8]>) -> Option<PathBuf> {
        let path = self.0.path().join(name);
        std::fs::write(&path, text).unwrap();
        Some(path)
    }
}

fn ask(port: u16, settings: &TlsSettings) -> Exchange {
    let options = Options {
        tls: Some(settings.load().unwrap()),
        ..Options::default()
    };
    run(options, async |client| {
        client.send(&https(port, 2), &Cancel::new()).await
    })
}

#[test]
fn an_authority_that_is_named_is_trusted_and_stamps_come_from_below() {
    let (files, authority) = (Files::new(), Authority::new(NOW));
    let settings = TlsSettings {
        ca_file: files.write("ca.pem", pem("CERTIFICATE", authority.certificate.der())),
        ..TlsSettings::default()
    };
    let (port, server) = serve(&authority, NOW, false);
    let exchange = ask(port, &settings);
    assert_eq!(exchange.error, None);
    assert_eq!(events(&exchange).len(), 20);
    let Body::Events(events) = &exchange.body else {
        unreachable!()
    };
    if cfg!(target_os = "linux") {
        let last = events.arrivals.last().unwrap();
        assert!(last.kernel().is_some_and(|kernel| kernel <= last.user()), "{last:?}");
    }
    assert!(!server.join().unwrap());

    let (port, server) = serve(&Authority::new(NOW), NOW, false);
    let error = ask(port, &settings).error.unwrap();
    assert_eq!(error.kind, ErrorKind::Tls, "{error}");
    assert!(error.message.contains("invalid peer certificate"), "{error}");
    server.join().unwrap();
}

#[test]
fn an_expired_server_is_told_as_such() {
    let (files, authority) = (Files::new(), Authority::new(NOW));
    let settings = TlsSettings {
        ca_file: files.write("ca.pem", pem("CERTIFICATE", authority.certificate.der())),
        ..TlsSettings::default()
    };
    let (port, server) = serve(&authority, PAST, false);
    let error = ask(port, &settings).error.unwrap();
    assert_eq!(error.kind, ErrorKind::Tls, "{error}");
    assert!(
        error.message.contains("expired") && error.message.contains("127.0.0.1"),
        "{error}"
    );
    server.join().unwrap();

    let (port, server) = serve(&authority, PAST, false);
    let options = Options {
        tls: Some(trusting()),
        ..Options::default()
    };
    let exchange = run(options, async |client| {
        client.send(&https(port, 2), &Cancel::new()).await
    });
    assert_eq!(exchange.error, None, "--insecure trusts anyone");
    server.join().unwrap();
}

#[test]
fn a_client_shows_its_certificate_to_who_asks() {
    let (files, authority) = (Files::new(), Authority::new(NOW));
    let (certificate, key) = authority.issue("a client", NOW);
    let ca_file = files.write("ca.pem", pem("CERTIFICATE", authority.certificate.der()));
    for (client_cert, client_key) in [
        (
            files.write("cert.pem", pem("CERTIFICATE", certificate.der())),
            files.write("key.pem", pem("PRIVATE KEY", &key.serialize_der())),
        ),
        (
            files.write(
                "both.pem",
                format!(
                    "{}{}",
                    pem("PRIVATE KEY", &key.serialize_der()),
                    pem("CERTIFICATE", certificate.der())
                ),
            ),
            None,
        ),
    ] {
        let (port, server) = serve(&authority, NOW, true);
        let settings = TlsSettings {
            ca_file: ca_file.clone(),
            client_cert,
            client_key,
            ..TlsSettings::default()
        };
        assert_eq!(ask(port, &settings).error, None);
        assert!(server.join().unwrap());
    }
    // Without one the server refuses, after the handshake is over for the client.
    let (port, server) = serve(&authority, NOW, true);
    let settings = TlsSettings {
        ca_file,
        ..TlsSettings::default()
    };
    let error = ask(port, &settings).error.unwrap();
    assert_eq!(error.kind, ErrorKind::Tls, "{error}");
    assert!(error.message.contains("CertificateRequired"), "{error}");
    assert!(!server.join().unwrap());
}

#[test]
fn files_that_cannot_be_used_are_named_with_their_flags() {
    let (files, authority) = (Files::new(), Authority::new(NOW));
    let (certificate, key) = authority.issue("a client", NOW);
    let (expired, expired_key) = authority.issue("a client", PAST);
    let (_, other_key) = authority.issue("another", NOW);
    let (future, future_key) = authority.issue("a client", (3000, 4000));
    let missing = Some(files.0.path().join("missing.pem"));
    let text = files.write("text.pem", "hello");
    let broken = files.write(
        "broken.pem",
        "-----BEGIN CERTIFICATE-----\n%%%\n-----END CERTIFICATE-----\n",
    );
    let no_certificate = files.write(
        "junk.pem",
        "-----BEGIN CERTIFICATE-----\nAAAA\n-----END CERTIFICATE-----\n",
    );
    let old = files.write("old.pem", pem("CERTIFICATE", Authority::new(PAST).certificate.der()));
    let cert = files.write("cert.pem", pem("CERTIFICATE", certificate.der()));
    let ca = |ca_file: &Option<PathBuf>| TlsSettings {
        ca_file: ca_file.clone(),
        ..TlsSettings::default()
    };
    let client = |client_cert: &Option<PathBuf>, client_key: Option<PathBuf>| TlsSettings {
        insecure: true,
        ca_file: None,
        client_cert: client_cert.clone(),
        client_key,
    };
    let pkcs8 = "-----BEGIN ENCRYPTED PRIVATE KEY-----\nAAAA\n-----END ENCRYPTED PRIVATE KEY-----\n";
    let traditional = "-----BEGIN RSA PRIVATE KEY-----\nProc-Type: 4,ENCRYPTED\nDEK-Info: AES-256-CBC,00\n\nAAAA\n\
                       -----END RSA PRIVATE KEY-----\n";
    for (settings, flag, file, part) in [
        (ca(&missing), "--tls-ca-file", "missing.pem", "can't be read"),
        (ca(&text), "--tls-ca-file", "text.pem", "no certificate"),
        (ca(&broken), "--tls-ca-file", "broken.pem", "not well-formed"),
        (ca(&no_certificate), "--tls-ca-file", "junk.pem", "can't be used"),
        (ca(&old), "--tls-ca-file", "old.pem", "expired on 2002-01-01"),
        (
            client(&missing, None),
            "--tls-client-cert",
            "missing.pem",
            "can't be read",
        ),
        (client(&cert, None), "--tls-client-cert", "cert.pem", "no private key"),
        (
            client(&cert, missing.clone()),
            "--tls-client-key",
            "missing.pem",
            "can't be read",
        ),
        (
            client(&cert, text.clone()),
            "--tls-client-key",
            "text.pem",
            "no private key",
        ),
        (
            client(&cert, files.write("pkcs8.pem", pkcs8)),
            "--tls-client-key",
            "pkcs8.pem",
            "encrypted",
        ),
        (
            client(&cert, files.write("rsa.pem", traditional)),
            "--tls-client-key",
            "rsa.pem",
            "encrypted",
        ),
        (
            client(
                &cert,
                files.write("other.pem", pem("PRIVATE KEY", &other_key.serialize_der())),
            ),
            "--tls-client-key",
            "other.pem",
            "does not belong to the certificate",
        ),
        (
            client(
                &files.write("expired.pem", pem("CERTIFICATE", expired.der())),
                files.write("expired.key", pem("PRIVATE KEY", &expired_key.serialize_der())),
            ),
            "--tls-client-cert",
            "expired.pem",
            "expired on 2002-01-01",
        ),
        (
            client(
                &files.write("future.pem", pem("CERTIFICATE", future.der())),
                files.write("future.key", pem("PRIVATE KEY", &future_key.serialize_der())),
            ),
            "--tls-client-cert",
            "future.pem",
            "not valid before 3000-01-01",
        ),
    ] {
        let error = settings.load().unwrap_err().to_string();
        assert!(error.starts_with(flag), "{error}");
        assert!(error.contains(file) && error.contains(part), "{part}: {error}");
    }
    // One that still holds is enough.
    let bundle = format!(
        "{}{}",
        pem("CERTIFICATE", Authority::new(PAST).certificate.der()),
        pem("CERTIFICATE", authority.certificate.der())
    );
    assert!(ca(&files.write("bundle.pem", bundle)).load().is_ok());
    assert!(
        client(&cert, files.write("key.pem", pem("PRIVATE KEY", &key.serialize_der())))
            .load()
            .is_ok()
    );
}
