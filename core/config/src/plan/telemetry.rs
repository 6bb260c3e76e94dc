//! What is collected beside the requests.

use serde::{Deserialize, Serialize};

use super::UrlSpec;

/// A GPU collector to run.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct GpuCollectorPlan {
    /// Name of the entry, in lower case with underscores.
    pub name: String,
    /// The servers that it may ask; one instance of the collector runs for each. Empty: one instance that asks nobody.
    pub sources: Vec<UrlSpec>,
}
