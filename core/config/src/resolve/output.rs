//! Results, objectives and what the user sees meanwhile.

use std::path::{Path, PathBuf};

use crate::error::{ConfigError, ConfigErrorKind, shortened};
use crate::plan::{ArtifactPlan, EndpointPlan, ExportLevel, LogLevel, PhaseKind, PhasePlan, Ui};
use crate::typed::Typed;

pub(super) fn artifacts(
    typed: &Typed,
    models: &[String],
    endpoint: &EndpointPlan,
    phases: &[PhasePlan],
) -> Result<ArtifactPlan, ConfigError> {
    let dir = match typed.full_text("output-artifact-dir")? {
        Some(dir) => PathBuf::from(dir),
        None => Path::new(ArtifactPlan::DEFAULT_ROOT).join(default_directory(models, endpoint, phases)),
    };
    let prefix = match typed.full_text("profile-export-prefix")? {
        Some(prefix) => Some(
            ArtifactPlan::prefix_base(prefix)
                .ok_or_else(|| typed.bad_value("profile-export-prefix", "leaves no file name"))?,
        ),
        None => None,
    };
    let level = match typed.choice("export-level")? {
        Some("summary") => ExportLevel::Summary,
        Some("raw") => ExportLevel::Raw,
        _ => ExportLevel::Records,
    };
    let http_trace = typed.switch("export-http-trace");
    if http_trace && level == ExportLevel::Summary {
        return Err(typed
            .conflict(
                "export-http-trace",
                "needs records, and --export-level summary writes none",
            )
            .remedy("leave out one of the two"));
    }
    Ok(ArtifactPlan {
        dir,
        prefix,
        level,
        http_trace,
    })
}

/// `<model>[_multi]-openai-<endpoint>-<load>`, one path component.
fn default_directory(models: &[String], endpoint: &EndpointPlan, phases: &[PhasePlan]) -> String {
    let model = models.first().map_or("", String::as_str).replace(['/', '\0'], "_");
    let multi = if models.len() > 1 { "_multi" } else { "" };
    let load = phases
        .iter()
        .find(|phase| phase.kind == PhaseKind::Profiling)
        .map(PhasePlan::stimulus);
    let load = load
        .filter(|load| !load.is_empty())
        .map_or_else(String::new, |load| format!("-{load}"));
    format!("{model}{multi}-openai-{}{load}", endpoint.endpoint_type)
}

/// Goodput objectives. The last one for a tag wins. Whether the tags exist is for the metrics to say.
pub(super) fn slos(typed: &Typed) -> Result<Vec<(String, f64)>, ConfigError> {
    let Some(text) = typed.text("goodput") else {
        return Ok(Vec::new());
    };
    let mut slos: Vec<(String, f64)> = Vec::new();
    for objective in text.split_whitespace() {
        let parsed = objective.split_once(':').and_then(|(tag, threshold)| {
            let threshold = threshold
                .parse::<f64>()
                .ok()
                .filter(|threshold| threshold.is_finite())?;
            (!tag.is_empty()).then(|| (tag.to_owned(), threshold))
        });
        let (tag, threshold) = parsed.ok_or_else(|| {
            typed
                .bad_value("goodput", format!("{} is not tag:number", shortened(objective)))
                .remedy("write --goodput \"request_latency:250 inter_token_latency:10\"")
        })?;
        match slos.iter_mut().find(|(other, _)| *other == tag) {
            Some((_, earlier)) => *earlier = threshold,
            None => slos.push((tag, threshold)),
        }
    }
    if slos.is_empty() {
        return Err(typed
            .bad("goodput", "names no objective")
            .remedy("write --goodput \"request_latency:250 inter_token_latency:10\""));
    }
    Ok(slos)
}

pub(super) fn ui(typed: &Typed) -> Result<Ui, ConfigError> {
    match typed.choice("ui-type")? {
        Some("dashboard") => Err(ConfigError::new(
            ConfigErrorKind::NotSupportedYet,
            format!("{} dashboard", typed.spelling("ui-type")),
            "is not supported yet",
        )
        .remedy("use simple or none")),
        Some("none") => Ok(Ui::None),
        Some(_) => Ok(Ui::Simple),
        None if typed.switch("verbose") || typed.switch("extra-verbose") => Ok(Ui::Simple),
        None => Ok(Ui::Auto),
    }
}

/// One of `--log-level`, `--verbose` and `--extra-verbose` sets the level; two would contradict each other.
pub(super) fn log_level(typed: &Typed) -> Result<LogLevel, ConfigError> {
    let short = [("extra-verbose", LogLevel::Trace), ("verbose", LogLevel::Debug)];
    let short: Vec<_> = short.into_iter().filter(|(id, _)| typed.switch(id)).collect();
    let explicit = typed.choice("log-level")?;
    match (short.as_slice(), explicit) {
        ([(id, _), ..], Some(_)) => Err(typed
            .conflict("log-level", format!("contradicts {}", typed.spelling(id)))
            .remedy("leave out one of the two")),
        ([(first, _), (second, _), ..], None) => Err(typed
            .conflict(second, format!("contradicts {}", typed.spelling(first)))
            .remedy("leave out one of the two")),
        ([(_, level)], None) => Ok(*level),
        ([], None) => Ok(LogLevel::Info),
        ([], Some(name)) => Ok(match name {
            "TRACE" => LogLevel::Trace,
            "DEBUG" => LogLevel::Debug,
            "NOTICE" => LogLevel::Notice,
            "WARNING" => LogLevel::Warning,
            "SUCCESS" => LogLevel::Success,
            "ERROR" => LogLevel::Error,
            "CRITICAL" => LogLevel::Critical,
            _ => LogLevel::Info,
        }),
    }
}
