//! The server under test and how to talk to it.

use std::fmt;
use std::path::PathBuf;

use serde::{Deserialize, Deserializer, Serialize, Serializer};
use serde_json::{Map, Value};

use super::{Headers, Secret};
use crate::redact;

/// Prefix of the pseudo-URL that stands for the built-in mock server.
const MOCK_SCHEME: &str = "mock:";

/// The server under test and how to talk to it.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct EndpointPlan {
    /// Base URLs, used round robin; never empty.
    pub urls: Vec<UrlSpec>,
    /// Endpoint plugin, in lower case with underscores, such as `chat` or `nim_embeddings`.
    pub endpoint_type: String,
    /// Path that replaces the endpoint's own; starts with `/`.
    pub custom_path: Option<String>,
    /// Ask for a stream of events.
    pub streaming: bool,
    /// Bearer token or whatever the endpoint's authentication makes of it.
    pub api_key: Option<Secret>,
    /// Headers to add to each request, in the order given.
    pub headers: Headers,
    /// Members to merge into each request body, in the order given.
    pub extra: Map<String, Value>,
    /// Limit on a whole request from connect to last byte, in seconds; above 0 and finite.
    pub timeout_s: f64,
    /// Whom to trust and who to be over https.
    pub tls: TlsPlan,
    /// HTTP proxy for all requests.
    pub proxy: Option<UrlSpec>,
    /// Trust the token counts that the server reports.
    pub use_server_token_count: bool,
    /// Ask for token counts on every chunk of a stream.
    pub per_chunk_usage: bool,
    /// Send `max_tokens` rather than `max_completion_tokens`.
    pub legacy_max_tokens: bool,
}

/// Whom to trust and who to be over https. Without files and insecurity, what the system trusts.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct TlsPlan {
    /// Accept every certificate.
    pub insecure: bool,
    /// PEM file with the certificates to trust.
    pub ca_file: Option<PathBuf>,
    /// PEM file with the client's certificate chain.
    pub client_cert: Option<PathBuf>,
    /// PEM file with the client's private key; `None` = it stands in the file of the certificate.
    pub client_key: Option<PathBuf>,
}

/// One URL. Printing and serialising it redacts credentials; [`UrlSpec::expose`] does not.
#[derive(Clone, PartialEq, Eq, Hash)]
pub enum UrlSpec {
    /// An `http` or `https` URL with a host.
    Server(String),
    /// The built-in mock server: `mock:` or `mock:?key=value&…`, as typed.
    Mock(String),
}

impl UrlSpec {
    /// True if this text names the built-in mock server.
    #[must_use]
    pub fn is_mock_text(text: &str) -> bool {
        text.strip_prefix(MOCK_SCHEME)
            .is_some_and(|rest| rest.is_empty() || rest.starts_with('?'))
    }

    /// The URL with whatever credentials it holds. Not for logs and files.
    #[must_use]
    pub fn expose(&self) -> &str {
        match self {
            Self::Server(url) | Self::Mock(url) => url,
        }
    }

    /// True for the built-in mock server.
    #[must_use]
    pub fn is_mock(&self) -> bool {
        matches!(self, Self::Mock(_))
    }
}

impl fmt::Display for UrlSpec {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&redact::url(self.expose()))
    }
}

impl fmt::Debug for UrlSpec {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let name = if self.is_mock() { "Mock" } else { "Server" };
        f.debug_tuple(name).field(&self.to_string()).finish()
    }
}

impl Serialize for UrlSpec {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.collect_str(self)
    }
}

impl<'de> Deserialize<'de> for UrlSpec {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        let text = String::deserialize(deserializer)?;
        Ok(if Self::is_mock_text(&text) {
            Self::Mock(text)
        } else {
            Self::Server(text)
        })
    }
}
