//! What the user sees when something can't be done.

use std::fmt;

use aiperf_config::{ConfigError, ExitCode};
use aiperf_engine::SetupError;

/// A command has failed.
#[derive(Debug)]
pub struct Failure {
    /// What happened and where.
    pub message: String,
    /// What to do, where the message does not say it.
    pub help: Option<String>,
    /// Exit code.
    pub code: ExitCode,
}

impl Failure {
    /// Wrong input.
    pub fn usage(message: impl Into<String>) -> Self {
        Self {
            message: message.into(),
            help: None,
            code: ExitCode::Failed,
        }
    }

    /// A plugin can't be loaded, or has failed.
    pub fn plugin(message: impl Into<String>) -> Self {
        Self {
            message: message.into(),
            help: None,
            code: ExitCode::Plugin,
        }
    }

    /// Adds what to do.
    #[must_use]
    pub fn with_help(mut self, help: impl Into<String>) -> Self {
        self.help = Some(help.into());
        self
    }
}

impl fmt::Display for Failure {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        writeln!(f, "error: {}", self.message)?;
        if let Some(help) = &self.help {
            writeln!(f, "help: {help}")?;
        }
        Ok(())
    }
}

impl From<ConfigError> for Failure {
    fn from(error: ConfigError) -> Self {
        Self::usage(error.to_string())
    }
}

impl From<SetupError> for Failure {
    fn from(error: SetupError) -> Self {
        let failure = if error.is_plugin() {
            Self::plugin(error.to_string())
        } else {
            Self::usage(error.to_string())
        };
        match error.help() {
            Some(help) => failure.with_help(help),
            None => failure,
        }
    }
}
