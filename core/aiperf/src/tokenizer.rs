//! The tokenizer of a run. It loads on a thread of its own while everything else is set up.

use aiperf_config::{RunPlan, TokenizerChoice};
use aiperf_engine::SharedTokenizer;
use aiperf_tokenizer::{Reason, Request, Tokenizer, resolve};

use crate::failure::Failure;

/// Starts to load what the plan asks for.
///
/// # Errors
/// When nothing suitable is on this machine.
pub(crate) fn start(plan: &RunPlan) -> Result<SharedTokenizer, Failure> {
    let path;
    let (name, model) = match &plan.tokenizer {
        TokenizerChoice::None => return Ok(SharedTokenizer::none()),
        TokenizerChoice::Builtin => (Some("builtin"), ""),
        TokenizerChoice::Path(given) => {
            path = given.to_string_lossy().into_owned();
            (Some(path.as_str()), "")
        }
        TokenizerChoice::ModelCache(model) => (None, model.as_str()),
    };
    let request = Request {
        tokenizer: name,
        model,
        revision: "main",
    };
    let choice =
        resolve(&request, &|name| std::env::var_os(name)).map_err(|error| Failure::usage(error.to_string()))?;
    let Some(choice) = choice else {
        return Ok(SharedTokenizer::none());
    };
    if choice.reason == Reason::PlaceholderModel {
        tracing::warn!(
            "model name '{model}' looks like a placeholder: tokens are counted with the built-in encoding \
             (o200k_base); give --tokenizer to choose another, or --tokenizer builtin to silence this"
        );
    }
    Ok(SharedTokenizer::loading(Tokenizer::load_in_background(choice.source)))
}
