//! The run plan: everything a run needs to know, validated and immutable. It is the only form of configuration that
//! the engine sees.
//!
//! Secrets never leave a plan by accident: [`Secret`], [`Headers`], [`UrlSpec`] and [`PluginOptions`] print and
//! serialise redacted. A plan that was serialised and read back therefore equals the original only if it held no
//! secrets.

mod artifacts;
mod dataset;
mod endpoint;
mod phase;
mod plugins;
mod secret;
mod telemetry;

pub use artifacts::{ArtifactPlan, ExportLevel};
pub use dataset::{DatasetPlan, DatasetSource, NormalSpec, Sampling, TokenizerChoice};
pub use endpoint::{EndpointPlan, TlsPlan, UrlSpec};
pub use phase::{PhaseKind, PhasePlan};
pub use plugins::{PluginGrant, PluginPin, PluginPlan};
pub use secret::{Headers, PluginOptions, Secret};
pub use telemetry::GpuCollectorPlan;

use std::collections::BTreeSet;

use serde::{Deserialize, Serialize};

/// One validated run.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct RunPlan {
    /// Models to ask for, in the order given; never empty.
    pub models: Vec<String>,
    /// The server and how to talk to it.
    pub endpoint: EndpointPlan,
    /// What counts tokens and makes text of a given length.
    pub tokenizer: TokenizerChoice,
    /// What is sent.
    pub dataset: DatasetPlan,
    /// Seed of every random choice; `None` = entropy.
    pub seed: Option<u64>,
    /// Phases in the order they run; at least one has kind [`PhaseKind::Profiling`].
    pub phases: Vec<PhasePlan>,
    /// Goodput objectives: metric tag and threshold in the metric's display unit. Tags are unique.
    pub slos: Vec<(String, f64)>,
    /// GPU collectors to run, in the order given; empty for no GPU telemetry.
    pub gpu_collectors: Vec<GpuCollectorPlan>,
    /// Where results go.
    pub artifacts: ArtifactPlan,
    /// Arrivals are the kernel's receive timestamps where it gives them, else those of the reads.
    pub kernel_timestamps: bool,
    /// A run that is not valid is a failure.
    pub require_valid: bool,
    /// How progress is shown.
    pub ui: Ui,
    /// Least severe level that is logged.
    pub log_level: LogLevel,
    /// Upper limit on workers; `None` = the engine decides.
    pub workers: Option<u32>,
    /// Number of record processors; `None` = the engine decides.
    pub record_processors: Option<u32>,
    /// Which plugins to use and how they are configured.
    pub plugins: PluginPlan,
    /// The command that was typed, with secrets redacted, quoted so that a shell reads it back.
    pub command_line: String,
    /// Names of the settings that were given explicitly: main flag names without dashes in front, such as
    /// `concurrency` or `prompt-input-tokens-mean`.
    pub explicit: BTreeSet<String>,
}

impl RunPlan {
    /// True if the setting with this name (`concurrency`, `request-count`, …) was given explicitly.
    #[must_use]
    pub fn is_explicit(&self, setting: &str) -> bool {
        self.explicit.contains(setting)
    }

    /// The first profiling phase. It names the artifact directory.
    #[must_use]
    pub fn first_profiling_phase(&self) -> Option<&PhasePlan> {
        self.phases.iter().find(|phase| phase.kind == PhaseKind::Profiling)
    }
}

/// How progress is shown.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Ui {
    /// [`Ui::Simple`] on a terminal, a plain line now and then otherwise.
    Auto,
    /// Progress bars.
    Simple,
    /// No progress, only log lines and the final tables.
    None,
}

/// Log levels, most verbose first.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(rename_all = "UPPERCASE")]
pub enum LogLevel {
    /// Everything.
    Trace,
    /// Details for developers.
    Debug,
    /// The normal course of a run.
    Info,
    /// Normal but noteworthy.
    Notice,
    /// Something may be wrong.
    Warning,
    /// Milestones reached.
    Success,
    /// Something failed.
    Error,
    /// The run cannot go on.
    Critical,
}

impl LogLevel {
    /// The name as written in the configuration, upper case.
    #[must_use]
    pub fn name(self) -> &'static str {
        match self {
            Self::Trace => "TRACE",
            Self::Debug => "DEBUG",
            Self::Info => "INFO",
            Self::Notice => "NOTICE",
            Self::Warning => "WARNING",
            Self::Success => "SUCCESS",
            Self::Error => "ERROR",
            Self::Critical => "CRITICAL",
        }
    }
}
