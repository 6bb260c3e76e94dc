//! Phases: who decides when requests start, how fast, and when it ends.

use serde::{Deserialize, Serialize};

/// Whether a phase counts.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum PhaseKind {
    /// Warms the server up; left out of the results.
    Warmup,
    /// Measured.
    Profiling,
}

/// One phase of a run. At least one of `requests`, `sessions`, `duration_s` is set; the first one reached ends it.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct PhasePlan {
    /// Unique name, such as `warmup` or `profiling`.
    pub name: String,
    /// Whether it counts.
    pub kind: PhaseKind,
    /// Timing plugin, in lower case with underscores; [`PhasePlan::REQUEST_RATE`] by default.
    pub timing: String,
    /// Arrival pattern: `constant`, `poisson`, `gamma`, [`PhasePlan::BURST`], or that of a plugin.
    pub arrival: String,
    /// Requests per second, above 0; `None` = no rate, only `concurrency` holds requests back.
    pub rate: Option<f64>,
    /// Shape of the gamma distribution, above 0; set exactly if `arrival` is `gamma`.
    pub smoothness: Option<f64>,
    /// Conversations in flight at most, at least 1; `None` = unlimited.
    pub concurrency: Option<u32>,
    /// Stop after sending this many requests, at least 1.
    pub requests: Option<u64>,
    /// Stop after starting this many conversations, at least 1.
    pub sessions: Option<u64>,
    /// Stop sending after this many seconds, above 0.
    pub duration_s: Option<f64>,
    /// Seconds to wait for answers after `duration_s`, at least 0; `None` = as long as it takes.
    pub grace_s: Option<f64>,
}

impl PhasePlan {
    /// The timing plugin that serves plain rates and plain concurrency.
    pub const REQUEST_RATE: &'static str = "request_rate";
    /// The arrival pattern without a rate: as soon as `concurrency` permits.
    pub const BURST: &'static str = "concurrency_burst";
    /// The arrival pattern that takes a smoothness.
    pub const GAMMA: &'static str = "gamma";

    /// What the phase is called in the `type` member of the configuration: the arrival pattern, with plain
    /// concurrency under its own name; a timing plugin's phases carry the plugin's name.
    #[must_use]
    pub fn type_name(&self) -> &str {
        match (self.timing.as_str(), self.arrival.as_str()) {
            (Self::REQUEST_RATE, Self::BURST) => "concurrency",
            (Self::REQUEST_RATE, arrival) => arrival,
            (timing, _) => timing,
        }
    }

    /// Short description of the load for directory names: `concurrency8`, `concurrency8-request_rate2.5`, …
    /// Rates are written as floats (`request_rate50.0`).
    #[must_use]
    pub fn stimulus(&self) -> String {
        let timing = (self.timing != Self::REQUEST_RATE).then(|| self.timing.clone());
        let concurrency = self.concurrency.map(|limit| format!("concurrency{limit}"));
        let rate = self.rate.map(|rate| format!("request_rate{rate:?}"));
        timing
            .into_iter()
            .chain(concurrency)
            .chain(rate)
            .collect::<Vec<_>>()
            .join("-")
    }
}
