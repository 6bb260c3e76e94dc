//! GPU collectors of a run: one instance for each source, one for a collector without sources.

use std::sync::Arc;

use aiperf_host::Role;
use serde_json::json;

use super::{Opener, SetupError};
use crate::{
    gpu::{GpuSetup, INTERVAL},
    outgoing::Destination,
    records_manager::gpu::SourceLabel,
};

/// Opens the collectors that the plan names.
///
/// # Errors
/// When one can't be opened, or a URL can't be used.
pub fn gpu_collectors(opener: &Opener<'_>, version: &str) -> Result<Vec<(GpuSetup, SourceLabel)>, SetupError> {
    let mut opened = Vec::new();
    for named in &opener.plan.gpu_collectors {
        let entry = opener.find(Role::GpuCollector, &named.name)?;
        let collector = opener.host.resolution().entry(entry).name.key().to_owned();
        let core = json!({ "interval_ms": INTERVAL.as_millis() as u64 }).to_string();
        let mut open = |source: Option<Destination>, label: String| {
            let instance = opener
                .host
                .open_gpu_collector(entry, &core, Arc::new(opener.services(entry)))?;
            let setup = GpuSetup {
                index: u32::try_from(opened.len()).unwrap_or(u32::MAX),
                collector: Box::new(instance),
                source,
            };
            let label = SourceLabel {
                source: label,
                collector: collector.clone(),
            };
            opened.push((setup, label));
            Ok::<_, SetupError>(())
        };
        if named.sources.is_empty() {
            open(None, format!("{collector}://localhost"))?;
        }
        for url in &named.sources {
            let source = Destination::new(url.expose(), version).map_err(|error| SetupError::Flag {
                flag: "--gpu-telemetry",
                problem: error.to_string(),
            })?;
            open(Some(source), url.to_string())?;
        }
    }
    Ok(opened)
}
