//! Whom an https client trusts and who it says it is: the files that a user names, read once before a run.

use std::fmt;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::{SystemTime, UNIX_EPOCH};

use rustls::client::danger::{HandshakeSignatureValid, ServerCertVerified, ServerCertVerifier};
use rustls::crypto::{CryptoProvider, verify_tls12_signature, verify_tls13_signature};
use rustls::pki_types::pem::{self, PemObject};
use rustls::pki_types::{CertificateDer, PrivateKeyDer, ServerName, UnixTime};
use rustls::{ClientConfig, DigitallySignedStruct, RootCertStore, SignatureScheme};

use crate::validity::Validity;

const CA_FILE: &str = "--tls-ca-file";
const CLIENT_CERT: &str = "--tls-client-cert";
const CLIENT_KEY: &str = "--tls-client-key";

/// What a user says about https. The default checks servers against the certificates that the system trusts.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct TlsSettings {
    /// Accept every certificate.
    pub insecure: bool,
    /// PEM file with the certificates to trust instead of the system's.
    pub ca_file: Option<PathBuf>,
    /// PEM file with the client's certificate, followed by those that lead to its root.
    pub client_cert: Option<PathBuf>,
    /// PEM file with the private key of the client's certificate. None: it stands in the file of the certificate.
    pub client_key: Option<PathBuf>,
}

/// Settings with their files read, ready for connections; clones share them.
#[derive(Clone)]
pub struct Tls(pub(crate) Arc<ClientConfig>);

impl fmt::Debug for Tls {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        // Keys have no business in a log.
        f.write_str("Tls")
    }
}

/// Why https can't be set up.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum TlsError {
    /// A file that a flag names can't be used.
    #[error("{flag} {path:?}: {problem}")]
    File {
        /// The flag.
        flag: &'static str,
        /// The file.
        path: PathBuf,
        /// What is wrong with it and what to do.
        problem: String,
    },
    /// The machine has no certificate to trust.
    #[error("no trusted certificate was found on this machine ({reason}): name a file with some by --tls-ca-file")]
    NoRoots {
        /// What was in the way.
        reason: String,
    },
    /// The TLS library refuses its own defaults.
    #[error("TLS can't be set up: {0}")]
    Library(String),
}

impl TlsSettings {
    /// Reads the files.
    ///
    /// # Errors
    /// When a file can't be read, holds nothing of the kind, holds an encrypted key, a key that is not the
    /// certificate's, or a certificate that is not valid now. The error names the flag and the file.
    pub fn load(&self) -> Result<Tls, TlsError> {
        let provider = Arc::new(rustls::crypto::ring::default_provider());
        let builder = ClientConfig::builder_with_provider(Arc::clone(&provider))
            .with_safe_default_protocol_versions()
            .map_err(|error| TlsError::Library(error.to_string()))?;
        let builder = if self.insecure {
            builder
                .dangerous()
                .with_custom_certificate_verifier(Arc::new(TrustAnyone(provider)))
        } else {
            let roots = match &self.ca_file {
                Some(path) => roots_of(path)?,
                None => system_roots()?,
            };
            builder.with_root_certificates(roots)
        };
        let mut config = match &self.client_cert {
            None => builder.with_no_client_auth(),
            Some(path) => {
                let chain = certificates(CLIENT_CERT, path)?;
                let now = now();
                if let Some(problem) = chain.first().and_then(|own| out_of_time(own, now)) {
                    return Err(TlsError::new(CLIENT_CERT, path, problem));
                }
                let (flag, key_path) = match &self.client_key {
                    Some(key) => (CLIENT_KEY, key),
                    None => (CLIENT_CERT, path),
                };
                let key = private_key(flag, key_path)?;
                builder.with_client_auth_cert(chain, key).map_err(|error| match error {
                    rustls::Error::InconsistentKeys(_) => TlsError::new(
                        flag,
                        key_path,
                        format!("the key does not belong to the certificate in {path:?}"),
                    ),
                    other => TlsError::new(flag, key_path, format!("the key can't be used: {other}")),
                })?
            }
        };
        config.alpn_protocols = vec![b"http/1.1".to_vec()];
        Ok(Tls(Arc::new(config)))
    }
}

impl TlsError {
    fn new(flag: &'static str, path: &Path, problem: impl Into<String>) -> Self {
        Self::File {
            flag,
            path: path.to_owned(),
            problem: problem.into(),
        }
    }
}

fn roots_of(path: &Path) -> Result<RootCertStore, TlsError> {
    let certificates = certificates(CA_FILE, path)?;
    let now = now();
    let problems: Vec<_> = certificates.iter().map(|one| out_of_time(one, now)).collect();
    let mut roots = RootCertStore::empty();
    for (certificate, _) in certificates
        .iter()
        .zip(&problems)
        .filter(|(_, problem)| problem.is_none())
    {
        roots.add(certificate.clone()).map_err(|error| {
            TlsError::new(
                CA_FILE,
                path,
                format!("it holds a certificate that can't be used: {error}"),
            )
        })?;
    }
    match problems.into_iter().flatten().next() {
        Some(problem) if roots.is_empty() => Err(TlsError::new(CA_FILE, path, problem)),
        _ => Ok(roots),
    }
}

fn system_roots() -> Result<RootCertStore, TlsError> {
    let mut roots = RootCertStore::empty();
    let found = rustls_native_certs::load_native_certs();
    roots.add_parsable_certificates(found.certs);
    if roots.is_empty() {
        let reasons: Vec<_> = found.errors.iter().map(ToString::to_string).collect();
        let reason = match reasons.is_empty() {
            true => "it has none".to_owned(),
            false => reasons.join("; "),
        };
        return Err(TlsError::NoRoots { reason });
    }
    Ok(roots)
}

/// All certificates of a file; at least one.
fn certificates(flag: &'static str, path: &Path) -> Result<Vec<CertificateDer<'static>>, TlsError> {
    let text = read(flag, path)?;
    let found: Result<Vec<_>, _> = CertificateDer::pem_slice_iter(&text).collect();
    match found {
        Ok(certificates) if certificates.is_empty() => Err(TlsError::new(
            flag,
            path,
            "it holds no certificate; expected PEM, with lines -----BEGIN CERTIFICATE-----",
        )),
        Ok(certificates) => Ok(certificates),
        Err(error) => Err(TlsError::new(flag, path, malformed(&error))),
    }
}

fn private_key(flag: &'static str, path: &Path) -> Result<PrivateKeyDer<'static>, TlsError> {
    let text = read(flag, path)?;
    PrivateKeyDer::from_pem_slice(&text).map_err(|error| {
        let problem = if is_encrypted(&text) {
            "the key is encrypted, and there is nobody to ask for its passphrase; decrypt it first \
             (openssl pkey -in FILE -out DECRYPTED)"
                .to_owned()
        } else if matches!(error, pem::Error::NoItemsFound) {
            "it holds no private key; expected PEM, with a line -----BEGIN PRIVATE KEY-----".to_owned()
        } else {
            malformed(&error)
        };
        TlsError::new(flag, path, problem)
    })
}

/// PKCS #8 has a name of its own for encrypted keys; the older forms say it in a header.
fn is_encrypted(pem: &[u8]) -> bool {
    pem.split(|byte| *byte == b'\n').any(|line| {
        line.starts_with(b"-----BEGIN ENCRYPTED PRIVATE KEY-----")
            || (line.starts_with(b"Proc-Type:") && line.trim_ascii().ends_with(b"ENCRYPTED"))
    })
}

fn read(flag: &'static str, path: &Path) -> Result<Vec<u8>, TlsError> {
    std::fs::read(path).map_err(|error| TlsError::new(flag, path, format!("it can't be read: {error}")))
}

fn malformed(error: &pem::Error) -> String {
    format!("it is not well-formed PEM: {error}")
}

/// Why a certificate can't be used at this time. One whose dates can't be read is left to the handshake.
fn out_of_time(certificate: &CertificateDer<'_>, now: i64) -> Option<String> {
    let validity = Validity::of(certificate)?;
    if now > validity.until {
        return Some(format!("the certificate has expired on {}", validity.last_day()));
    }
    (now < validity.from).then(|| format!("the certificate is not valid before {}", validity.first_day()))
}

/// Seconds since the Unix epoch.
fn now() -> i64 {
    let since = SystemTime::now().duration_since(UNIX_EPOCH).unwrap_or_default();
    i64::try_from(since.as_secs()).unwrap_or(i64::MAX)
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
