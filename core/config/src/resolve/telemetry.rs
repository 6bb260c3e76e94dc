//! What is collected beside the requests.

use crate::error::{ConfigError, ConfigErrorKind};
use crate::plan::{GpuCollectorPlan, UrlSpec};
use crate::typed::Typed;

use super::endpoint::server_url;

const FLAG: &str = "gpu-telemetry";

/// Items of the original's grammar whose collectors or displays this version does not have.
const LATER: [&str; 3] = ["pynvml", "amdsmi", "dashboard"];

/// Reads `NAME [URL...] NAME [URL...]`: each URL belongs to the collector named before it.
pub(super) fn gpu_collectors(typed: &Typed) -> Result<Vec<GpuCollectorPlan>, ConfigError> {
    let mut collectors: Vec<GpuCollectorPlan> = Vec::new();
    for item in typed.list(FLAG)? {
        if LATER.contains(&item.to_ascii_lowercase().as_str()) {
            return Err(later(typed, &item, "is not in this version"));
        }
        if item.ends_with(".csv") {
            return Err(later(typed, &item, "files that name fields are not in this version"));
        }
        if UrlSpec::is_mock_text(&item) {
            return Err(typed.bad(FLAG, "the mock server has no GPUs to ask about").value(item));
        }
        if item.contains([':', '/']) {
            let source = server_url(typed, FLAG, item)?;
            let Some(collector) = collectors.last_mut() else {
                let problem = "a URL without the name of a collector before it stands for the DCGM collector, which is \
                               not in this version";
                return Err(later(typed, &source.to_string(), problem));
            };
            if collector.sources.contains(&source) {
                return Err(typed
                    .bad(FLAG, "the same URL was given twice to one collector")
                    .value(source.to_string()));
            }
            collector.sources.push(source);
            continue;
        }
        let name = typed.entry_name(FLAG, &item)?;
        if collectors.iter().any(|known| known.name == name) {
            return Err(typed
                .bad(FLAG, format!("the collector {name} was named twice"))
                .remedy("name it once, with all its URLs behind it"));
        }
        collectors.push(GpuCollectorPlan {
            name,
            sources: Vec::new(),
        });
    }
    if typed.switch("no-gpu-telemetry") && !collectors.is_empty() {
        return Err(typed
            .conflict(FLAG, "contradicts --no-gpu-telemetry")
            .remedy("leave out one of the two"));
    }
    Ok(collectors)
}

fn later(typed: &Typed, item: &str, problem: &str) -> ConfigError {
    ConfigError::new(ConfigErrorKind::NotSupportedYet, typed.spelling(FLAG), problem)
        .value(item)
        .remedy("name a GPU collector of a plugin; `aiperf plugins gpu_collector` lists them")
}
