//! `aiperf profile`.

use std::{ffi::OsString, sync::Arc};

use aiperf_config::{ExitCode, RunPlan, TokenizerChoice};
use aiperf_engine::{Observer, RunRequest, SharedTokenizer, run as run_plan};
use aiperf_tokenizer::{Request, Tokenizer, resolve};

use crate::{bundled, failure::Failure, mock::MockServers, signals};

/// Runs a benchmark.
///
/// # Errors
/// Before anything was measured. What goes wrong later is in the report and the exit code.
pub fn run(arguments: &[OsString]) -> Result<ExitCode, Failure> {
    if aiperf_config::wants_help(arguments) {
        println!("{}", aiperf_config::help());
        return Ok(ExitCode::Ok);
    }
    let plan = aiperf_config::parse_profile(arguments)?;
    let tokenizer = Arc::new(tokenizer(&plan)?);
    let (host, warnings) = bundled::host(&plan.plugins)?;
    for warning in warnings {
        eprintln!("warning: {warning}");
    }
    let mut mocks = MockServers::default();
    let urls = mocks.start(&plan.endpoint.urls)?;
    let interrupts = signals::interrupts().map_err(|error| Failure::usage(format!("no signal handler: {error}")))?;
    let request = RunRequest {
        plan,
        host,
        urls,
        tokenizer,
        version: env!("CARGO_PKG_VERSION").into(),
        interrupts,
    };
    let outcome = run_plan(request, &mut Plain)?;
    for text in &outcome.console {
        print!("{text}");
    }
    if let Some((message, plugin)) = outcome.failure {
        return Err(if plugin {
            Failure::plugin(message)
        } else {
            Failure::usage(message)
        });
    }
    Ok(if outcome.valid > 0 {
        ExitCode::Ok
    } else {
        ExitCode::Failed
    })
}

struct Plain;
impl Observer for Plain {
    fn warn(&mut self, message: &str) {
        eprintln!("warning: {message}");
    }
}

fn tokenizer(plan: &RunPlan) -> Result<SharedTokenizer, Failure> {
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
    Ok(choice.map_or_else(SharedTokenizer::none, |choice| {
        SharedTokenizer::loading(Tokenizer::load_in_background(choice.source))
    }))
}
