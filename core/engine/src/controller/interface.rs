//! What goes into a run and what comes out of it.

use std::{
    path::{Path, PathBuf},
    sync::Arc,
};

use aiperf_config::{RunPlan, UrlSpec};
use aiperf_host::PluginHost;
use aiperf_plugin_api::{report::ErrorGroup, validity::Validity};
use crossbeam_channel::Receiver;

use crate::{
    message::{Failure, Progress},
    services::SharedTokenizer,
};

/// Everything that a run needs from outside.
pub struct RunRequest {
    /// What to do.
    pub plan: RunPlan,
    /// Plugins.
    pub host: Arc<PluginHost>,
    /// Base URLs: the plan's, with the mock server's address in place of `mock:`.
    pub urls: Vec<UrlSpec>,
    /// The tokenizer, perhaps still loading.
    pub tokenizer: Arc<SharedTokenizer>,
    /// Version of this tool.
    pub version: String,
    /// Each message is a request to stop.
    pub interrupts: Receiver<()>,
    /// What the calibration of this machine says.
    pub calibrated: Calibrated,
}

/// Says by what a load exceeds what this machine was calibrated for; `None` if by nothing, or if there is no calibration.
pub type Calibrated = Box<dyn Fn(&Load) -> Option<String>>;

/// Sees a run happen.
pub trait Observer {
    /// A phase goes on: its name and whether it is a warmup.
    fn progress(&mut self, phase: &str, warmup: bool, progress: &Progress) {
        let _ = (phase, warmup, progress);
    }
    /// Something the user should know now.
    fn warn(&mut self, message: &str) {
        let _ = message;
    }
    /// The first interrupt has been taken in.
    fn interrupted(&mut self) {}
    /// The artifact folder exists now.
    fn folder_made(&mut self, folder: &Path) {
        let _ = folder;
    }
}

/// What a run demanded of this tool; `None` where it is not known.
#[derive(Debug, Clone, Copy, Default, PartialEq)]
pub struct Load {
    /// Requests in flight at most.
    pub streams: Option<f64>,
    /// Requests completed per second.
    pub rate: Option<f64>,
    /// Parts of answers received per second.
    pub events_per_s: Option<f64>,
}

/// How a run went.
#[derive(Debug, Clone, PartialEq)]
pub struct RunOutcome {
    /// Texts for the console, in order.
    pub console: Vec<String>,
    /// The artifact folder.
    pub folder: PathBuf,
    /// Artifacts, relative to it.
    pub files: Vec<String>,
    /// Valid records of profiling phases.
    pub valid: u64,
    /// `benchmark_duration` of the profiling phases together, in ns.
    pub duration_ns: Option<u64>,
    /// Errors of the profiling phases, the most frequent first.
    pub errors: Vec<ErrorGroup>,
    /// How far the figures can be trusted; `None` if there are none.
    pub validity: Option<Validity>,
    /// The user cut it short.
    pub interrupted: bool,
    /// Why the run is not whole, if a service failed.
    pub failure: Option<Failure>,
}
