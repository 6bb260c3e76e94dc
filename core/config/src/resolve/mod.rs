//! Stage 2: what the typed settings mean. Defaults, cross-checks and the resolved plan.

mod dataset;
mod endpoint;
mod load;
mod output;
mod plugins;
mod telemetry;
mod transport;

use crate::error::ConfigError;
use crate::plan::RunPlan;
use crate::typed::Typed;

/// Resolves all settings. Looks at the file system only to see whether files that were named exist.
pub(crate) fn resolve(typed: &Typed) -> Result<RunPlan, ConfigError> {
    let plugins = plugins::plugins(typed)?;
    let mut endpoint = endpoint::endpoint(typed)?;
    let models = endpoint::models(typed, &endpoint)?;
    let tokenizer = dataset::tokenizer(typed, &models, &endpoint)?;
    if tokenizer == crate::TokenizerChoice::None {
        endpoint.use_server_token_count = true;
    }
    let phases = load::phases(typed, &plugins)?;
    let artifacts = output::artifacts(typed, &models, &endpoint, &phases)?;
    Ok(RunPlan {
        dataset: dataset::dataset(typed, &tokenizer)?,
        seed: typed.int("random-seed")?,
        slos: output::slos(typed)?,
        kernel_timestamps: typed.choice("timestamp-source")? != Some("user"),
        require_valid: typed.switch("require-valid"),
        gpu_collectors: telemetry::gpu_collectors(typed)?,
        ui: output::ui(typed)?,
        log_level: output::log_level(typed)?,
        workers: typed.int32("workers-max")?,
        record_processors: typed.int32("record-processor-service-count")?,
        command_line: typed.command_line.clone(),
        explicit: typed.ids().map(str::to_owned).collect(),
        models,
        endpoint,
        tokenizer,
        phases,
        artifacts,
        plugins,
    })
}
