//! What is sent and what counts its tokens.

use std::path::{Path, PathBuf};

use crate::error::{ConfigError, ConfigErrorKind};
use crate::plan::{DatasetPlan, DatasetSource, EndpointPlan, NormalSpec, Sampling, TokenizerChoice, UrlSpec};
use crate::typed::Typed;

const DEFAULT_ENTRIES: u32 = 100;
const DEFAULT_ISL: u32 = 550;

/// Settings that shape synthetic conversations and mean nothing to a file.
const SYNTHETIC_ONLY: [&str; 7] = [
    "prompt-input-tokens-mean",
    "prompt-input-tokens-stddev",
    "conversation-turn-mean",
    "conversation-turn-stddev",
    "conversation-turn-delay-mean",
    "conversation-turn-delay-stddev",
    "conversation-turn-delay-ratio",
];

pub(super) fn dataset(typed: &Typed, tokenizer: &TokenizerChoice) -> Result<DatasetPlan, ConfigError> {
    let sampling = match typed.choice("dataset-sampling-strategy")? {
        Some("random") => Sampling::Random,
        Some("shuffle") => Sampling::Shuffle,
        _ => Sampling::Sequential,
    };
    let source = match typed.full_text("input-file")? {
        Some(path) => file(typed, Path::new(path))?,
        None => synthetic(typed, tokenizer)?,
    };
    Ok(DatasetPlan { source, sampling })
}

fn file(typed: &Typed, path: &Path) -> Result<DatasetSource, ConfigError> {
    if let Some(id) = typed.first_of(&SYNTHETIC_ONLY) {
        return Err(typed
            .conflict(
                id,
                "shapes synthetic conversations and has no effect on those of --input-file",
            )
            .remedy("leave out one of the two"));
    }
    if !path.exists() {
        return Err(typed.bad_value("input-file", "there is no such file or directory"));
    }
    Ok(DatasetSource::File {
        path: path.to_owned(),
        format: typed.name("custom-dataset-type")?,
        entries: entries(typed)?,
        osl: osl(typed)?,
    })
}

fn synthetic(typed: &Typed, tokenizer: &TokenizerChoice) -> Result<DatasetSource, ConfigError> {
    if typed.has("custom-dataset-type") {
        return Err(typed
            .conflict(
                "custom-dataset-type",
                "names the format of a file, and no file was given",
            )
            .remedy("add --input-file"));
    }
    if *tokenizer == TokenizerChoice::None {
        return Err(typed
            .conflict(
                "tokenizer",
                "synthetic prompts of a given length cannot be made without a tokenizer",
            )
            .value("none")
            .remedy("use --tokenizer builtin, or send a dataset with --input-file"));
    }
    let turns = NormalSpec {
        mean: f64::from(typed.int32("conversation-turn-mean")?.unwrap_or(1)),
        stddev: f64::from(typed.int32("conversation-turn-stddev")?.unwrap_or(0)),
    };
    let turn_delay_ms = NormalSpec {
        mean: typed.float("conversation-turn-delay-mean")?.unwrap_or(0.0),
        stddev: typed.float("conversation-turn-delay-stddev")?.unwrap_or(0.0),
    };
    let turn_delay_ratio = typed.float("conversation-turn-delay-ratio")?.unwrap_or(1.0);
    let delays = [
        "conversation-turn-delay-mean",
        "conversation-turn-delay-stddev",
        "conversation-turn-delay-ratio",
    ];
    if turns == NormalSpec::constant(1.0)
        && let Some(id) = typed.first_of(&delays)
    {
        return Err(typed
            .conflict(id, "delays follow-up turns, and each conversation has one turn")
            .remedy("add --conversation-turn-mean with 2 or more"));
    }
    if typed.has("conversation-turn-delay-ratio") && typed.first_of(&delays[..2]).is_none() {
        return Err(typed
            .conflict(
                "conversation-turn-delay-ratio",
                "scales think times, and there are none",
            )
            .remedy("add --conversation-turn-delay-mean"));
    }
    Ok(DatasetSource::Synthetic {
        entries: entries(typed)?.unwrap_or(DEFAULT_ENTRIES),
        isl: NormalSpec {
            mean: f64::from(typed.int32("prompt-input-tokens-mean")?.unwrap_or(DEFAULT_ISL)),
            stddev: typed.float("prompt-input-tokens-stddev")?.unwrap_or(0.0),
        },
        osl: osl(typed)?,
        turns,
        turn_delay_ms,
        turn_delay_ratio,
    })
}

fn osl(typed: &Typed) -> Result<Option<NormalSpec>, ConfigError> {
    let stddev = typed.float("prompt-output-tokens-stddev")?;
    match (typed.int32("prompt-output-tokens-mean")?, stddev) {
        (Some(mean), stddev) => Ok(Some(NormalSpec {
            mean: f64::from(mean),
            stddev: stddev.unwrap_or(0.0),
        })),
        (None, Some(_)) => Err(typed
            .conflict("prompt-output-tokens-stddev", "needs a mean to deviate from")
            .remedy("add --osl")),
        (None, None) => Ok(None),
    }
}

/// How many entries to build: asked for, else one for each conversation, else one for each request.
fn entries(typed: &Typed) -> Result<Option<u32>, ConfigError> {
    if let Some(entries) = typed.int32("num-dataset-entries")? {
        return Ok(Some(entries));
    }
    let wanted = match typed.int("conversation-num")? {
        Some(conversations) => Some(conversations),
        None => typed.int("request-count")?,
    };
    // More than 32 bits of entries would not fit anywhere; requests beyond them reuse entries.
    Ok(wanted.map(|wanted| u32::try_from(wanted).unwrap_or(u32::MAX)))
}

pub(super) fn tokenizer(
    typed: &Typed,
    models: &[String],
    endpoint: &EndpointPlan,
) -> Result<TokenizerChoice, ConfigError> {
    let Some(choice) = typed.full_text("tokenizer")?.map(str::trim) else {
        if endpoint.urls.iter().all(UrlSpec::is_mock) {
            return Ok(TokenizerChoice::Builtin);
        }
        let model = models.first().ok_or_else(|| {
            ConfigError::new(
                ConfigErrorKind::Missing,
                "--tokenizer",
                "there is no model to take a tokenizer from",
            )
        })?;
        // Servers often name a model by the directory it was loaded from.
        let path = Path::new(model);
        let is_local = path.is_absolute() && path.exists();
        return Ok(if is_local {
            TokenizerChoice::Path(path.to_owned())
        } else {
            TokenizerChoice::ModelCache(model.clone())
        });
    };
    match choice.to_ascii_lowercase().as_str() {
        "builtin" | "o200k_base" => return Ok(TokenizerChoice::Builtin),
        "none" => {
            if typed.has("use-server-token-count") && !typed.switch("use-server-token-count") {
                return Err(typed
                    .conflict("tokenizer", "without a tokenizer only the server can count tokens")
                    .value("none")
                    .remedy("leave out --use-server-token-count=false"));
            }
            return Ok(TokenizerChoice::None);
        }
        _ => {}
    }
    let path = Path::new(choice);
    if path.exists() {
        return Ok(TokenizerChoice::Path(path.to_owned()));
    }
    if is_clearly_a_path(choice) {
        return Err(typed.bad_value("tokenizer", "there is no such file or directory"));
    }
    Ok(TokenizerChoice::ModelCache(choice.to_owned()))
}

/// `org/name` could be either; these could not be a model name.
fn is_clearly_a_path(choice: &str) -> bool {
    PathBuf::from(choice).is_absolute()
        || choice.starts_with('.')
        || choice.starts_with('~')
        || choice.ends_with(".json")
}
