//! Files that the core writes itself: the requests before a run, the marker after it.

use std::io::Write;

use aiperf_config::RunPlan;
use aiperf_plugin_api::Endpoint;

use super::interface::RunOutcome;
use crate::{
    dataset::DatasetStore,
    records_manager::{ArtifactError, Artifacts},
    setup::{SetupError, endpoint::EndpointSetup},
};

/// The author of the core's own files.
const CORE: &str = "aiperf itself";

/// Keeps the names of the core's own files, whoever else may want them.
pub(super) fn claim_own(plan: &RunPlan, artifacts: &mut Artifacts) -> Result<(), ArtifactError> {
    let own = [
        plan.artifacts.inputs_json(),
        plan.artifacts.log_file(),
        plan.artifacts.ready_marker(),
    ];
    for path in own {
        if let Ok(name) = path.strip_prefix(&plan.artifacts.dir) {
            artifacts.claim(&name.to_string_lossy(), CORE)?;
        }
    }
    Ok(())
}

/// `inputs.json`: the body of each turn alone.
pub(super) fn write_inputs(
    endpoint: &EndpointSetup,
    store: &DatasetStore,
    plan: &RunPlan,
    artifacts: &mut Artifacts,
) -> Result<(), SetupError> {
    let model = plan.models.first().map_or("", String::as_str);
    let path = plan.artifacts.inputs_json();
    let io = |source| ArtifactError::Io {
        path: path.clone(),
        source,
    };
    artifacts.create("inputs.json", CORE)?;
    let mut file = std::io::BufWriter::new(std::fs::File::create(&path).map_err(io)?);
    file.write_all(b"{\n  \"data\": [").map_err(io)?;
    for index in 0..store.len() {
        let conversation = store.conversation(index)?;
        let requests = endpoint.handle.preview(&conversation, model, endpoint.streaming)?;
        let separator = if index == 0 { "" } else { "," };
        let id = serde_json::Value::from(conversation.id);
        write!(
            file,
            "{separator}\n    {{\n      \"session_id\": {id},\n      \"payloads\": ["
        )
        .map_err(io)?;
        for (position, request) in requests.iter().enumerate() {
            let separator = if position == 0 { "" } else { "," };
            // Bodies that aren't JSON (multipart) have no place here.
            let body: serde_json::Value = serde_json::from_slice(&request.body).unwrap_or(serde_json::Value::Null);
            let text = serde_json::to_string_pretty(&body)
                .unwrap_or_default()
                .replace('\n', "\n        ");
            write!(file, "{separator}\n        {text}").map_err(io)?;
        }
        file.write_all(b"\n      ]\n    }").map_err(io)?;
    }
    file.write_all(b"\n  ]\n}").map_err(io)?;
    file.flush().map_err(io)?;
    Ok(())
}

/// `.aiperf_results_ready.json`, written last.
pub(super) fn write_marker(plan: &RunPlan, outcome: &RunOutcome) {
    let marker = serde_json::json!({
        "ready": true,
        "was_cancelled": outcome.interrupted,
        "partial": outcome.failure.is_some(),
    });
    let path = plan.artifacts.ready_marker();
    let temporary = path.with_extension("json.partial");
    let written = std::fs::write(&temporary, marker.to_string()).and_then(|()| std::fs::rename(&temporary, &path));
    if let Err(error) = written {
        tracing::warn!("{}: {error}", path.display());
    }
}
