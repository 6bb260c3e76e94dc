//! Options. The core passes the same ones to every timing entry; each reads those that concern it.

use aiperf_sdk::{PluginError, Result};
use serde::Deserialize;

/// Options of the timing entries.
#[derive(Debug, Default, Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct Options {
    smoothness: Option<f64>,
}

impl Options {
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
