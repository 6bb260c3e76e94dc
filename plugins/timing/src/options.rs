//! What the core passes to arrival patterns.

use aiperf_sdk::{PluginError, Result};
use serde::Deserialize;

/// What `gamma` reads of it.
#[derive(Debug, Default, Deserialize)]
#[serde(default)]
pub(crate) struct Core {
    smoothness: Option<f64>,
}

impl Core {
    /// Shape of the gamma distribution; 1 makes it exponential.
    pub(crate) fn smoothness(&self) -> Result<f64> {
        let smoothness = self.smoothness.unwrap_or(1.0);
        if smoothness.is_finite() && smoothness > 0.0 {
            return Ok(smoothness);
        }
        Err(PluginError::options(format!("`smoothness` is {smoothness}"))
            .with_help("give a positive number; 1 equals Poisson arrivals, larger is smoother"))
    }
}
