//! What the user sees when something can't be done: what happened and where, then what to do.

use std::fmt;

use aiperf_config::{ConfigError, ExitCode};
use aiperf_engine::SetupError;
use aiperf_host::{HostError, OptionError, load::LoadError, registry::RegistryError, resolve::ResolveError};

/// A command has failed.
#[derive(Debug)]
pub(crate) struct Failure {
    /// What happened and where.
    pub(crate) message: String,
    /// What to do, where the message does not say it.
    pub(crate) help: Option<String>,
    /// Exit code.
    pub(crate) code: ExitCode,
}

impl Failure {
    /// Wrong input, or nothing came of it.
    pub(crate) fn usage(message: impl Into<String>) -> Self {
        Self {
            message: message.into(),
            help: None,
            code: ExitCode::Failed,
        }
    }

    /// A plugin can't be loaded, or has failed.
    pub(crate) fn plugin(message: impl Into<String>) -> Self {
        Self {
            message: message.into(),
            help: None,
            code: ExitCode::Plugin,
        }
    }

    /// The results do not show what they should, and that was required.
    pub(crate) fn not_valid(message: impl Into<String>) -> Self {
        Self {
            message: message.into(),
            help: None,
            code: ExitCode::NotValid,
        }
    }

    /// Adds what to do.
    #[must_use]
    pub(crate) fn with_help(mut self, help: impl Into<String>) -> Self {
        self.help = Some(help.into());
        self
    }

    /// Moves the remedy at the end of the message, behind `separator`, into the help line.
    fn split(mut self, separator: &str, remedy: &str) -> Self {
        if let Some(message) = self.message.strip_suffix(&format!("{separator}{remedy}")) {
            self.message = message.to_owned();
            self.help = Some(remedy.to_owned());
        }
        self
    }
}

impl fmt::Display for Failure {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        // Names and messages of others are quoted in it: they must not steer the terminal.
        let plain = |text: &str| text.replace(|c: char| c.is_control() && c != '\n', "?");
        writeln!(f, "error: {}", plain(&self.message))?;
        if let Some(help) = &self.help {
            writeln!(f, "help: {}", plain(help))?;
        }
        Ok(())
    }
}

impl From<ConfigError> for Failure {
    fn from(error: ConfigError) -> Self {
        let failure = Self::usage(error.to_string());
        match &error.remedy {
            Some(remedy) => failure.split("; ", remedy),
            None => failure,
        }
    }
}

impl From<RegistryError> for Failure {
    fn from(error: RegistryError) -> Self {
        Self::plugin(error.to_string()).split("; ", &error.help)
    }
}

impl From<ResolveError> for Failure {
    fn from(error: ResolveError) -> Self {
        Self::usage(error.to_string())
    }
}

impl From<OptionError> for Failure {
    fn from(error: OptionError) -> Self {
        match &error {
            OptionError::Schema { error: schema, .. } => Self::plugin(error.to_string()).split("; ", &schema.help),
            _ => Self::usage(error.to_string()),
        }
    }
}

impl From<&LoadError> for Failure {
    fn from(error: &LoadError) -> Self {
        Self::plugin(error.to_string()).split("\n  next: ", error.cause.remedy())
    }
}

impl From<SetupError> for Failure {
    fn from(error: SetupError) -> Self {
        if let SetupError::Host(HostError::Load(error)) = &error {
            return Self::from(&**error);
        }
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

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn problem_and_remedy_stand_on_lines_of_their_own() {
        let error = aiperf_config::parse_profile(&["--url", "mock:", "--concurrency", "0"]).unwrap_err();
        let text = Failure::from(error).to_string();
        let lines: Vec<&str> = text.lines().collect();
        assert!(lines[0].starts_with("error: --concurrency '0'"), "{text}");
        assert!(lines.len() <= 2, "{text}");
        let error = RegistryError {
            file: "r.yaml".into(),
            position: None,
            field: "packages.a".into(),
            problem: "has no version".into(),
            help: "add `version:`".into(),
        };
        let failure = Failure::from(error);
        assert_eq!(failure.code, ExitCode::Plugin);
        assert_eq!(
            failure.to_string(),
            "error: r.yaml: packages.a: has no version\nhelp: add `version:`\n"
        );
    }

    #[test]
    fn quoted_text_does_not_steer_the_terminal() {
        let failure = Failure::usage("a\u{1b}[2Jb\nc\r");
        assert_eq!(failure.to_string(), "error: a?[2Jb\nc?\n");
    }
}
