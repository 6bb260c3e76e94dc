//! A case: one requirement and the check that executes it.

use aiperf_sdk::{ErrorKind, PluginError};
use serde::Serialize;

use crate::bench::Bench;

/// How binding a requirement is, in the words of RFC 2119.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
#[serde(rename_all = "UPPERCASE")]
pub enum Level {
    /// A plugin that fails it is not accepted.
    Must,
    /// A plugin that fails it works, but gives its users trouble.
    Should,
}

impl std::fmt::Display for Level {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.pad(match self {
            Self::Must => "MUST",
            Self::Should => "SHOULD",
        })
    }
}

/// A requirement of the component specification.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
pub struct Requirement {
    /// Number, as in the specification (`EP-3`).
    pub id: &'static str,
    /// How binding it is.
    pub level: Level,
    /// What is required, in short.
    pub text: &'static str,
    /// The case that executes it.
    pub case: &'static str,
}

/// A requirement with its check.
pub(crate) struct Definition {
    pub(crate) requirement: Requirement,
    pub(crate) check: fn(&Bench) -> Verdict,
}

/// A requirement that a plugin must meet.
pub(crate) const fn must(
    id: &'static str,
    case: &'static str,
    text: &'static str,
    check: fn(&Bench) -> Verdict,
) -> Definition {
    Definition {
        requirement: Requirement {
            id,
            level: Level::Must,
            text,
            case,
        },
        check,
    }
}

/// A requirement that a plugin should meet.
pub(crate) const fn should(
    id: &'static str,
    case: &'static str,
    text: &'static str,
    check: fn(&Bench) -> Verdict,
) -> Definition {
    Definition {
        requirement: Requirement {
            id,
            level: Level::Should,
            text,
            case,
        },
        check,
    }
}

/// Why a case ended before its end.
#[derive(Debug)]
pub(crate) enum Stop {
    /// The requirement is not met: what was done, what was expected, what came.
    Failed(String),
    /// The requirement can't be checked with this plugin, and why.
    Skipped(String),
}

/// How a case ended.
pub(crate) type Verdict = Result<(), Stop>;

impl From<PluginError> for Stop {
    fn from(error: PluginError) -> Self {
        Self::Failed(format!("the plugin failed: {}", told(&error)))
    }
}

/// An error of a plugin in one line.
pub(crate) fn told(error: &PluginError) -> String {
    let kind = match error.kind {
        ErrorKind::Failed => "failed",
        ErrorKind::InvalidOptions => "invalid options",
        ErrorKind::InvalidInput => "invalid input",
        ErrorKind::Unsupported => "unsupported",
        ErrorKind::Panicked => "panicked",
        ErrorKind::Breach => "broke the contract",
    };
    format!("{kind}: {}", error.message)
}

/// Adds what was being done to an error.
pub(crate) trait During<T> {
    /// Fails with the error and what was being done.
    fn during(self, what: impl std::fmt::Display) -> Result<T, Stop>;
}

impl<T> During<T> for aiperf_sdk::Result<T> {
    fn during(self, what: impl std::fmt::Display) -> Result<T, Stop> {
        self.map_err(|error| Stop::Failed(format!("{what}: {}", told(&error))))
    }
}

/// Fails the case.
macro_rules! fail {
    ($($message:tt)+) => {
        return Err($crate::case::Stop::Failed(format!($($message)+)))
    };
}

/// Skips the case.
macro_rules! skip {
    ($($message:tt)+) => {
        return Err($crate::case::Stop::Skipped(format!($($message)+)))
    };
}

/// Fails the case unless the condition holds.
macro_rules! ensure {
    ($condition:expr, $($message:tt)+) => {
        match $condition {
            true => {}
            false => fail!($($message)+),
        }
    };
}
