//! Which plugins a run uses and how they are configured.

use std::collections::BTreeMap;
use std::path::PathBuf;

use serde::{Deserialize, Serialize};

use super::PluginOptions;

/// Which plugins a run uses and how they are configured. Names are in lower case with underscores.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
pub struct PluginPlan {
    /// Registry files to read besides the built-in and installed ones.
    pub registries: Vec<PathBuf>,
    /// Entries for which the user chose the package.
    pub pins: Vec<PluginPin>,
    /// Options by entry, which is written `category/name`.
    pub options: BTreeMap<String, PluginOptions>,
    /// What packages may do beyond computing, for this run.
    pub grants: Vec<PluginGrant>,
    /// Timing plugin of the profiling phases; `None` = the built-in one that fits the load flags.
    pub timing: Option<String>,
    /// Metrics to run besides the built-in ones.
    pub metrics: Vec<String>,
    /// Exporters to run besides the built-in ones.
    pub exporters: Vec<String>,
    /// Refuse native plugins that are not built in.
    pub wasm_only: bool,
    /// Limit on one call of a WebAssembly plugin, in seconds; `None` = that of the host.
    pub wasm_timeout_s: Option<f64>,
    /// Limit on the memory of one instance of a WebAssembly plugin, in MiB; `None` = that of the host.
    pub wasm_memory_mib: Option<u64>,
    /// Limit on the processor time for compiling a WebAssembly plugin, in seconds; `None` = that of the host.
    pub wasm_compile_timeout_s: Option<u64>,
}

impl PluginPlan {
    /// Options of one entry; empty if it was given none.
    #[must_use]
    pub fn options_of(&self, category: &str, name: &str) -> PluginOptions {
        self.options
            .get(&format!("{category}/{name}"))
            .cloned()
            .unwrap_or_default()
    }
}

/// "This package may do that."
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
pub struct PluginGrant {
    /// Package, as typed.
    pub package: String,
    /// Capability, as typed: `http:HOST:PORT` or `secrets`.
    pub capability: String,
}

/// "Take this entry from that package."
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
pub struct PluginPin {
    /// Category, such as `endpoint`.
    pub category: String,
    /// Entry, such as `chat`.
    pub name: String,
    /// Package that provides it, as typed.
    pub package: String,
}
