//! What can go wrong before or while serving.

use std::io;
use std::path::PathBuf;

/// A setting that cannot be used. The message names the setting and says what would be accepted.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum SettingsError {
    /// The key is in no row of the table of settings.
    #[error("mock server has no setting `{key}`; known settings: {known}")]
    Unknown {
        /// The key as typed.
        key: String,
        /// Every known key, separated by commas.
        known: String,
    },
    /// The value does not parse or lies outside the range.
    #[error("mock server setting `{key}` cannot be `{value}`: expected {expected}")]
    BadValue {
        /// The setting's key.
        key: &'static str,
        /// The value as typed.
        value: String,
        /// What would be accepted.
        expected: String,
    },
    /// A flag is the last argument and lacks its value.
    #[error("mock server setting `{key}` lacks a value: expected {expected}")]
    MissingValue {
        /// The setting's key.
        key: &'static str,
        /// What would be accepted.
        expected: String,
    },
    /// The same setting was given twice.
    #[error("mock server setting `{key}` is given twice")]
    Duplicate {
        /// The setting's key.
        key: &'static str,
    },
}

/// A failure of the server itself.
#[derive(Debug, thiserror::Error)]
pub enum Error {
    /// `host` names no address of this machine.
    #[error("mock server cannot resolve host `{host}`")]
    Resolve {
        /// The host as set.
        host: String,
        /// What the resolver said.
        #[source]
        source: io::Error,
    },
    /// The address cannot be listened on.
    #[error("mock server cannot listen on {address}")]
    Listen {
        /// Host and port as set.
        address: String,
        /// What the system said.
        #[source]
        source: io::Error,
    },
    /// The log file cannot be created or written.
    #[error("mock server cannot write its log {path}", path = path.display())]
    Log {
        /// The path as set.
        path: PathBuf,
        /// What the system said.
        #[source]
        source: io::Error,
    },
    /// Threads, timers, signals or the readiness queue cannot be set up or failed later.
    #[error("mock server cannot {action}")]
    System {
        /// What was tried.
        action: &'static str,
        /// What the system said.
        #[source]
        source: io::Error,
    },
    /// A serving thread panicked, which is a defect of this crate.
    #[error("a thread of the mock server panicked")]
    Panicked,
}

impl Error {
    /// For `map_err`: what was tried, then what the system said.
    pub(crate) fn system(action: &'static str) -> impl FnOnce(io::Error) -> Error {
        move |source| Error::System { action, source }
    }
}
