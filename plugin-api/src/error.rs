//! The one error type of the contract.

use crate::mirror::NotText;

contract_enum! {
    /// What kind of failure a plugin reports.
    pub enum ErrorKind: u8 {
        /// The plugin could not do what it was asked.
        Failed = 0,
        /// An option of the entry is missing or wrong.
        InvalidOptions = 1,
        /// The input (a row, a response, a request) is not what the plugin accepts.
        InvalidInput = 2,
        /// The entry does not provide this call.
        Unsupported = 3,
        /// The plugin panicked; the instance must not be used again.
        Panicked = 4,
        /// What the plugin returned breaks the contract: lengths or indexes that do not fit, a text that is not UTF-8, a
        /// header that splits the request. The host finds it and refuses the whole answer.
        Breach = 5,
    } else Failed
}

contract! {
    /// An error of a plugin. The host adds the plugin's name, its package and its file.
    #[derive(thiserror::Error)]
    #[error("{message}")]
    pub struct PluginError / PluginErrorAbi {
        /// The kind of failure.
        pub kind: ErrorKind,
        /// What happened and where (file, line, field), as a lower-case sentence fragment.
        pub message: String,
        /// What the user can do about it.
        pub help: Option<String>,
    }
}

impl PluginError {
    /// An error of the given kind without a remedy.
    pub fn new(kind: ErrorKind, message: impl Into<String>) -> Self {
        Self {
            kind,
            message: message.into(),
            help: None,
        }
    }
    /// The plugin could not do what it was asked.
    pub fn failed(message: impl Into<String>) -> Self {
        Self::new(ErrorKind::Failed, message)
    }
    /// An option is missing or wrong.
    pub fn options(message: impl Into<String>) -> Self {
        Self::new(ErrorKind::InvalidOptions, message)
    }
    /// The input is not what the plugin accepts.
    pub fn input(message: impl Into<String>) -> Self {
        Self::new(ErrorKind::InvalidInput, message)
    }
    /// The plugin's answer breaks the contract.
    pub fn breach(message: impl Into<String>) -> Self {
        Self::new(ErrorKind::Breach, message)
    }
    /// The plugin itself is broken: no input explains it, and nothing it returns can be relied on.
    pub fn is_fault(&self) -> bool {
        matches!(self.kind, ErrorKind::Panicked | ErrorKind::Breach)
    }
    /// The entry does not provide this call.
    pub fn unsupported(call: &str) -> Self {
        Self::new(ErrorKind::Unsupported, format!("this entry does not provide `{call}`"))
    }
    /// Adds the remedy.
    #[must_use]
    pub fn with_help(mut self, help: impl Into<String>) -> Self {
        self.help = Some(help.into());
        self
    }
}

impl From<NotText> for PluginError {
    fn from(error: NotText) -> Self {
        Self::breach(format!("it returned {error}"))
    }
}

/// Result of a plugin call.
pub type Result<T> = std::result::Result<T, PluginError>;
