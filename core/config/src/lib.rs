//! Command-line flags and configuration files, turned into one validated run plan.
//!
//! Two stages. Stage 1 (`typed`) keeps what was typed and where, by the grammar of the flag table (`flags`).
//! Stage 2 (`resolve`) says what it means: defaults, cross-checks, one immutable [`RunPlan`]. A flag that cannot take
//! effect is an error that names it. Another source of settings, such as a YAML file, is another stage 1.

#![forbid(unsafe_code)]

mod error;
mod exit_code;
mod flags;
mod input_config;
mod pairs;
pub mod plan;
mod quote;
pub mod redact;
mod resolve;
mod secrets;
mod shown;
mod typed;
mod values;

pub use error::{ConfigError, ConfigErrorKind};
pub use exit_code::ExitCode;
pub use flags::{help, reference_markdown};
pub use plan::{
    ArtifactPlan, DatasetPlan, DatasetSource, EndpointPlan, ExportLevel, GpuCollectorPlan, Headers, LogLevel,
    NormalSpec, PhaseKind, PhasePlan, PluginGrant, PluginOptions, PluginPin, PluginPlan, RunPlan, Sampling, Secret,
    TlsPlan, TokenizerChoice, Ui, UrlSpec,
};
pub use secrets::Secrets;

use std::ffi::OsStr;

/// Turns the arguments after `aiperf profile` into a run plan. Of the environment, `AIPERF_HTTP_SSL_VERIFY` counts.
///
/// # Errors
/// The first thing that is wrong, with the flag it concerns and what to do about it.
pub fn parse_profile<S: AsRef<OsStr>>(arguments: &[S]) -> Result<RunPlan, ConfigError> {
    resolve::resolve(&typed::Typed::parse(arguments)?)
}

/// True if the arguments after `aiperf profile` ask for [`help`] with `--help` or `-h`.
#[must_use]
pub fn wants_help<S: AsRef<OsStr>>(arguments: &[S]) -> bool {
    arguments
        .iter()
        .any(|argument| matches!(argument.as_ref().to_str(), Some("--help" | "-h")))
}
