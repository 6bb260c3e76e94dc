//! A package: what one library provides.

use std::sync::Arc;

use crate::{Dataset, Endpoint, Entry, Exporter, GpuCollector, Host, Metric, PluginError, Result, Timing};

/// What an instance is opened with.
#[derive(Clone)]
pub struct Open {
    /// Name of the entry, as registered.
    pub entry: String,
    /// Options as a JSON object: the user's `--plugin-opt` values over what the core passes to every entry of the category.
    pub options: String,
    /// Services of the core.
    pub host: Arc<dyn Host>,
}

impl std::fmt::Debug for Open {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Open")
            .field("entry", &self.entry)
            .field("options", &self.options)
            .finish_non_exhaustive()
    }
}

/// Options that the core passes to entries, by name; an entry has no options of its own under these names. Names that are
/// added later begin with `core.`.
pub const CORE_OPTIONS: &[&str] = &[
    // Endpoints.
    "extra",
    "use_legacy_max_tokens",
    "use_server_token_count",
    "per_chunk_usage",
    "custom_path",
    // Datasets.
    "seeded",
    "supports_system_message",
    "entries",
    "isl",
    "osl",
    "turns",
    "turn_delay_ms",
    "turn_delay_ratio",
    // Arrival patterns.
    "smoothness",
    // Metrics.
    "streaming",
    "produces_tokens",
    "tokenizes_input",
    "slos",
    "catalogue",
    // GPU collectors: how often, in ms, the original reads (333); a collector may read at a pace of its own.
    "core.interval_ms",
];

impl Open {
    /// Reads the options that are the entry's own: those the core does not pass ([`CORE_OPTIONS`]). With
    /// `#[serde(deny_unknown_fields)]` on `T` a mistyped option is an error instead of having no effect.
    ///
    /// # Errors
    /// Names the field that is unknown, missing or wrong.
    pub fn own_options<T: serde::de::DeserializeOwned>(&self) -> Result<T> {
        let mut options: serde_json::Map<String, serde_json::Value> = self.options()?;
        options.retain(|name, _| !CORE_OPTIONS.contains(&name.as_str()) && !name.starts_with("core."));
        T::deserialize(serde_json::Value::Object(options))
            .map_err(|error| PluginError::options(format!("options of `{}`: {error}", self.entry)))
    }

    /// Reads the options, the entry's own and those of the core, into a type of the plugin's.
    ///
    /// # Errors
    /// Names the field that is missing or wrong.
    pub fn options<T: serde::de::DeserializeOwned>(&self) -> Result<T> {
        let text = if self.options.is_empty() { "{}" } else { &self.options };
        serde_json::from_str(text)
            .map_err(|error| PluginError::options(format!("options of `{}`: {error}", self.entry)))
    }

    /// The error for a name that the package does not have.
    pub fn unknown(&self) -> PluginError {
        PluginError::failed(format!("the package has no entry `{}` in this category", self.entry))
    }
}

/// A package. Everything is optional but the list of entries.
pub trait Package: 'static {
    /// Name, as in the registry file.
    const NAME: &'static str;
    /// Version, as in the registry file.
    const VERSION: &'static str;

    /// Everything it provides.
    fn entries() -> Vec<Entry>;

    /// Opens an endpoint.
    ///
    /// # Errors
    /// When the options are wrong or the entry is unknown.
    fn endpoint(open: Open) -> Result<Box<dyn Endpoint>> {
        Err(open.unknown())
    }
    /// Opens a dataset.
    ///
    /// # Errors
    /// As above.
    fn dataset(open: Open) -> Result<Box<dyn Dataset>> {
        Err(open.unknown())
    }
    /// Opens a timing mode, an arrival pattern or a ramp.
    ///
    /// # Errors
    /// As above.
    fn timing(open: Open) -> Result<Box<dyn Timing>> {
        Err(open.unknown())
    }
    /// Opens a metric family.
    ///
    /// # Errors
    /// As above.
    fn metric(open: Open) -> Result<Box<dyn Metric>> {
        Err(open.unknown())
    }
    /// Opens an exporter.
    ///
    /// # Errors
    /// As above.
    fn exporter(open: Open) -> Result<Box<dyn Exporter>> {
        Err(open.unknown())
    }
    /// Opens a GPU collector.
    ///
    /// # Errors
    /// As above.
    fn gpu_collector(open: Open) -> Result<Box<dyn GpuCollector>> {
        Err(open.unknown())
    }
}
