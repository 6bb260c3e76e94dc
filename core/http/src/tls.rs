//! TLS over the stamped socket, without I/O of its own: rustls turns bytes into bytes, the socket moves them.

use std::cell::OnceCell;
use std::io::{self, Read, Write};
use std::net::TcpStream;
use std::sync::Arc;

use rustls::client::danger::{HandshakeSignatureValid, ServerCertVerified, ServerCertVerifier};
use rustls::crypto::{CryptoProvider, verify_tls12_signature, verify_tls13_signature};
use rustls::pki_types::{CertificateDer, ServerName, UnixTime};
use rustls::{ClientConfig, ClientConnection, DigitallySignedStruct, RootCertStore, SignatureScheme};
use tokio::io::unix::AsyncFd;

use crate::error::{ErrorKind, ExchangeError};

/// Makes TLS sessions; reads the system's certificates when the first one is made.
pub(crate) struct Connector {
    verify: bool,
    config: OnceCell<Arc<ClientConfig>>,
}

impl Connector {
    pub(crate) fn new(verify: bool) -> Self {
        Self {
            verify,
            config: OnceCell::new(),
        }
    }

    /// Shakes hands over a connected stream.
    pub(crate) async fn handshake(&self, stream: &AsyncFd<TcpStream>, host: &str) -> Result<Session, ExchangeError> {
        let failure = |reason: &dyn std::fmt::Display| {
            ExchangeError::new(ErrorKind::Tls, format!("TLS handshake with {host:?} failed: {reason}"))
        };
        let name = ServerName::try_from(host.to_string()).map_err(|error| failure(&error))?;
        let mut tls = ClientConnection::new(self.config()?, name).map_err(|error| failure(&error))?;
        loop {
            while tls.wants_write() {
                match tls.write_tls(&mut stream.get_ref()) {
                    Ok(_) => {}
                    Err(error) if error.kind() == io::ErrorKind::WouldBlock => {
                        stream.writable().await.map_err(|error| failure(&error))?.clear_ready();
                    }
                    Err(error) => return Err(failure(&error)),
                }
            }
            if !tls.is_handshaking() {
                return Ok(Session { tls, accepted: 0 });
            }
            match tls.read_tls(&mut stream.get_ref()) {
                Ok(0) => return Err(failure(&"the server closed the connection")),
                Ok(_) => {
                    if let Err(error) = tls.process_new_packets() {
                        // The alert that tells the server why; whether it arrives doesn't matter any more.
                        let _ = tls.write_tls(&mut stream.get_ref());
                        return Err(failure(&error));
                    }
                }
                Err(error) if error.kind() == io::ErrorKind::WouldBlock => {
                    stream.readable().await.map_err(|error| failure(&error))?.clear_ready();
                }
                Err(error) => return Err(failure(&error)),
            }
        }
    }

    fn config(&self) -> Result<Arc<ClientConfig>, ExchangeError> {
        if let Some(config) = self.config.get() {
            return Ok(Arc::clone(config));
        }
        let failure = |reason: String| ExchangeError::new(ErrorKind::Tls, reason);
        let provider = Arc::new(rustls::crypto::ring::default_provider());
        let builder = ClientConfig::builder_with_provider(Arc::clone(&provider))
            .with_safe_default_protocol_versions()
            .map_err(|error| failure(format!("TLS can't be set up: {error}")))?;
        let mut config = if self.verify {
            builder
                .with_root_certificates(system_roots().map_err(failure)?)
                .with_no_client_auth()
        } else {
            let verifier = Arc::new(TrustAnyone(provider));
            builder
                .dangerous()
                .with_custom_certificate_verifier(verifier)
                .with_no_client_auth()
        };
        config.alpn_protocols = vec![b"http/1.1".to_vec()];
        Ok(Arc::clone(self.config.get_or_init(|| Arc::new(config))))
    }
}

fn system_roots() -> Result<RootCertStore, String> {
    let mut roots = RootCertStore::empty();
    let found = rustls_native_certs::load_native_certs();
    roots.add_parsable_certificates(found.certs);
    if roots.is_empty() {
        let reasons: Vec<_> = found.errors.iter().map(ToString::to_string).collect();
        return Err(format!(
            "no trusted certificate was found on this machine ({})",
            reasons.join("; ")
        ));
    }
    Ok(roots)
}

/// An established TLS session.
pub(crate) struct Session {
    tls: ClientConnection,
    /// Bytes accepted for encryption that have not all left yet.
    accepted: usize,
}

impl Session {
    /// Decrypts what a read brought into `buffer`; tells how many bytes of content that made. Content is never longer than
    /// what carried it.
    pub(crate) fn decrypt(&mut self, mut bytes: &[u8], buffer: &mut [u8]) -> io::Result<usize> {
        let mut length = 0;
        while !bytes.is_empty() {
            self.tls.read_tls(&mut bytes)?;
            self.tls
                .process_new_packets()
                .map_err(|error| io::Error::new(io::ErrorKind::InvalidData, error))?;
            loop {
                match self.tls.reader().read(&mut buffer[length..]) {
                    Ok(0) => break,
                    Ok(read) => length += read,
                    Err(error) if error.kind() == io::ErrorKind::WouldBlock => break,
                    Err(error) => return Err(error),
                }
            }
        }
        Ok(length)
    }

    /// Encrypts and writes `slices`. How many of their bytes were accepted is told only once all of those have left;
    /// until then the caller comes back with the same slices.
    pub(crate) fn write(&mut self, slices: &[io::IoSlice<'_>], mut stream: &TcpStream) -> io::Result<usize> {
        if self.accepted == 0 {
            self.accepted = self.tls.writer().write_vectored(slices)?;
        }
        while self.tls.wants_write() {
            self.tls.write_tls(&mut stream)?;
        }
        Ok(std::mem::take(&mut self.accepted))
    }

    /// Whether the server has ended the session, as far as has been read.
    pub(crate) fn is_over(&mut self) -> bool {
        // Without new bytes, reading tells the state: nothing there yet, or the end.
        !matches!(self.tls.reader().read(&mut [0]), Err(error) if error.kind() == io::ErrorKind::WouldBlock)
    }
}

/// Accepts every certificate, for servers under test that have none to show.
#[derive(Debug)]
struct TrustAnyone(Arc<CryptoProvider>);

impl ServerCertVerifier for TrustAnyone {
    fn verify_server_cert(
        &self,
        _: &CertificateDer<'_>,
        _: &[CertificateDer<'_>],
        _: &ServerName<'_>,
        _: &[u8],
        _: UnixTime,
    ) -> Result<ServerCertVerified, rustls::Error> {
        Ok(ServerCertVerified::assertion())
    }

    fn verify_tls12_signature(
        &self,
        message: &[u8],
        certificate: &CertificateDer<'_>,
        signature: &DigitallySignedStruct,
    ) -> Result<HandshakeSignatureValid, rustls::Error> {
        verify_tls12_signature(
            message,
            certificate,
            signature,
            &self.0.signature_verification_algorithms,
        )
    }

    fn verify_tls13_signature(
        &self,
        message: &[u8],
        certificate: &CertificateDer<'_>,
        signature: &DigitallySignedStruct,
    ) -> Result<HandshakeSignatureValid, rustls::Error> {
        verify_tls13_signature(
            message,
            certificate,
            signature,
            &self.0.signature_verification_algorithms,
        )
    }

    fn supported_verify_schemes(&self) -> Vec<SignatureScheme> {
        self.0.signature_verification_algorithms.supported_schemes()
    }
}
