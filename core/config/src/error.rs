//! What is wrong with a configuration, where, and what to do about it.

use std::fmt;

use crate::ExitCode;

/// The class of a configuration error.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[non_exhaustive]
pub enum ConfigErrorKind {
    /// A flag that does not exist, or a token that belongs to no flag.
    Unknown,
    /// A flag or form that exists in AIPerf 0.13.0 and not yet here.
    NotSupportedYet,
    /// A flag without its value, or with one that it cannot take.
    BadValue,
    /// A setting that takes one value was given twice.
    Repeated,
    /// A setting that cannot take effect, or contradicts another.
    Conflict,
    /// A setting that must be given is not there.
    Missing,
}

/// One configuration error. Its text names the flag, the value if it may be shown, what is wrong and what to do.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub struct ConfigError {
    /// The class.
    pub kind: ConfigErrorKind,
    /// The flag as it was typed, or its main name; `None` for tokens that belong to no flag.
    pub flag: Option<String>,
    /// The value as it may be shown; secrets are redacted.
    pub value: Option<String>,
    /// What is wrong.
    pub problem: String,
    /// What to do.
    pub remedy: Option<String>,
}

impl ConfigError {
    /// An error about a flag.
    pub(crate) fn new(kind: ConfigErrorKind, flag: impl Into<String>, problem: impl Into<String>) -> Self {
        Self {
            kind,
            flag: Some(flag.into()),
            value: None,
            problem: problem.into(),
            remedy: None,
        }
    }

    /// An error about a token that belongs to no flag.
    pub(crate) fn stray(problem: impl Into<String>) -> Self {
        Self {
            kind: ConfigErrorKind::Unknown,
            flag: None,
            value: None,
            problem: problem.into(),
            remedy: None,
        }
    }

    /// Adds the value, which must be fit to be shown.
    pub(crate) fn value(mut self, shown: impl Into<String>) -> Self {
        self.value = Some(shown.into());
        self
    }

    /// Adds what to do.
    pub(crate) fn remedy(mut self, remedy: impl Into<String>) -> Self {
        self.remedy = Some(remedy.into());
        self
    }

    /// The exit code that fits: always [`ExitCode::Failed`].
    #[must_use]
    pub fn exit_code(&self) -> ExitCode {
        ExitCode::Failed
    }
}

/// Longest value that an error quotes, in characters; an error stays on one screen.
const LONGEST_VALUE: usize = 200;

impl fmt::Display for ConfigError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        if let Some(flag) = &self.flag {
            f.write_str(&cut(flag))?;
            if let Some(value) = &self.value {
                write!(f, " {}", shortened(value))?;
            }
            // "--foo is not supported yet" reads as one sentence.
            f.write_str(if self.problem.starts_with("is ") { " " } else { ": " })?;
        }
        f.write_str(&self.problem)?;
        if let Some(remedy) = &self.remedy {
            write!(f, "; {remedy}")?;
        }
        Ok(())
    }
}

/// The text in quotes, without control characters, cut if long.
pub(crate) fn shortened(text: &str) -> String {
    format!("'{}'", cut(text))
}

fn cut(text: &str) -> String {
    let mut shown: String = text
        .chars()
        .take(LONGEST_VALUE)
        .map(|c| if c.is_control() { '?' } else { c })
        .collect();
    if text.chars().nth(LONGEST_VALUE).is_some() {
        shown.push_str("...");
    }
    shown
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn text_names_flag_value_problem_and_remedy() {
        let error = ConfigError::new(ConfigErrorKind::BadValue, "--isl", "expected a whole number")
            .value("1\n2")
            .remedy("give one number");
        assert_eq!(
            error.to_string(),
            "--isl '1?2': expected a whole number; give one number"
        );
        let error = ConfigError::new(ConfigErrorKind::NotSupportedYet, "--foo", "is not supported yet");
        assert_eq!(error.to_string(), "--foo is not supported yet");
        assert_eq!(error.exit_code().code(), 1);
    }

    #[test]
    fn long_values_are_cut() {
        let error = ConfigError::new(ConfigErrorKind::BadValue, "--isl", "no").value("x".repeat(10_000));
        assert!(error.to_string().len() < 250);
    }
}
