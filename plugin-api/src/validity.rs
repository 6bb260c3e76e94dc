//! How far the figures of a run can be trusted: a verdict with its reasons, and the figures that it rests on.

use serde::{Deserialize, Serialize};

/// From best to worst.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Verdict {
    /// Nothing speaks against the figures.
    Valid,
    /// Something may have shifted them; the reasons say what and how much.
    Suspect,
    /// They do not show what the run was meant to measure.
    Invalid,
}

impl Verdict {
    /// The name in reports.
    #[must_use]
    pub fn name(self) -> &'static str {
        match self {
            Self::Valid => "valid",
            Self::Suspect => "suspect",
            Self::Invalid => "invalid",
        }
    }
}

/// One thing that speaks against the figures.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Reason {
    /// What kind of thing, for programs: `schedule_lag`, `client_lag`, `stall`, `starved`, `cpu`, `rate`, `concurrency`,
    /// `bounded_timestamps`, `buffering`, `exhaustion`, `clock_step`, `uncalibrated`, or one that is added later.
    pub code: String,
    /// [`Verdict::Suspect`] or [`Verdict::Invalid`].
    pub severity: Verdict,
    /// The phase, unless it is about the whole run.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub phase: Option<String>,
    /// What was found, its limit, and what to do, for people.
    pub message: String,
    /// What was found, in `unit`.
    pub value: f64,
    /// From where on it counts, in `unit`.
    pub limit: f64,
    /// Unit of both.
    pub unit: String,
}

/// A distribution in ns.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub struct Quantiles {
    /// Median.
    pub p50: u64,
    /// 99th percentile.
    pub p99: u64,
    /// Largest.
    pub max: u64,
}

/// How exactly the requests of a phase were timed. What was not observed is `None`. Distributions are kept with three
/// significant digits.
#[derive(Debug, Clone, PartialEq, Default, Serialize, Deserialize)]
pub struct Fidelity {
    /// Requests that were sent.
    pub requests: u64,
    /// From the intended to the actual start of a request.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub schedule_lag_ns: Option<Quantiles>,
    /// From the intended start of a request to the end of its response: what a user with that intention sees, whatever
    /// held the request back.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub latency_from_schedule_ns: Option<Quantiles>,
    /// For each request the longest time between the kernel's receipt of bytes and their reading.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub client_lag_ns: Option<Quantiles>,
    /// Width of the bracket around the write that completed a request.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub send_bracket_ns: Option<Quantiles>,
    /// Requests per second from the first to the last start.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub achieved_rate: Option<f64>,
    /// Messages of responses with content: events of streams, whole bodies.
    pub messages: u64,
    /// Those of which only bounds are known, since more bytes came in the same read.
    pub bounded_messages: u64,
    /// Requests whose arrivals were stamped by the kernel.
    pub kernel_stamped: u64,
    /// Streams of eight messages or more.
    pub streams: u64,
    /// Those of which most messages came together with others, though the client was not late.
    pub bursty_streams: u64,
    /// Requests that failed for want of file descriptors or local ports.
    pub exhausted: u64,
}

/// What the run cost the machine.
#[derive(Debug, Clone, PartialEq, Default, Serialize, Deserialize)]
pub struct MachineUse {
    /// Cores that this process may use.
    pub cores: u32,
    /// CPU time of this process over the length of the run, in cores.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub own_cores: Option<f64>,
    /// Share of the machine's CPU time that somebody used, 0 to 1.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub busy: Option<f64>,
    /// Scheduling priority of the threads that read sockets, as the kernel numbers it: 20 is ordinary, less is preferred,
    /// below 0 is real time. The least preferred of them; `None` where the system does not tell.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub io_priority: Option<i64>,
    /// Idle processors were kept from falling asleep, from which they wake late. It takes the right to write to
    /// `/dev/cpu_dma_latency` (Linux, root).
    #[serde(default)]
    pub kept_awake: bool,
    /// Longest time for which this process did not run although it wanted to, ns.
    pub longest_stall_ns: u64,
    /// All such times of 10 ms and more, ns.
    pub stalled_ns: u64,
    /// How far the wall clock was stepped, ns; 0 if it was not.
    pub clock_step_ns: i64,
}

/// The verdict on a run.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Validity {
    /// The worst of the reasons.
    pub verdict: Verdict,
    /// The worst first.
    pub reasons: Vec<Reason>,
    /// By profiling phase, in order: its name and how exactly it was timed.
    pub phases: Vec<(String, Fidelity)>,
    /// What the run cost the machine.
    pub machine: MachineUse,
}

impl Validity {
    /// The verdict and its reasons in one line.
    #[must_use]
    pub fn line(&self) -> String {
        let reasons: Vec<&str> = self.reasons.iter().map(|reason| reason.message.as_str()).collect();
        match reasons.as_slice() {
            [] => self.verdict.name().to_owned(),
            reasons => format!("{}: {}", self.verdict.name(), reasons.join("; ")),
        }
    }
}
