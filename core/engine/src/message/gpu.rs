//! What GPU collectors say.

use aiperf_plugin_api::gpu::Reading;
use serde::{Deserialize, Serialize};

/// What a GPU collector read at one time: to the records manager.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct GpuReadings {
    /// Position among all collectors and sources of the run.
    pub source: u32,
    /// When it was read.
    pub at_ns: u64,
    /// The same instant on the wall clock.
    pub wall_ns: u64,
    /// What was read.
    pub readings: Vec<Reading>,
}

/// A GPU collector reads no more.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct GpuEnd {
    /// Position among all collectors and sources of the run.
    pub index: u32,
    /// Why it was switched off; `None` if the run was over.
    pub error: Option<String>,
    /// It was granted a source, and never asked it.
    pub unasked: bool,
}
