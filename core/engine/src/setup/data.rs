//! The dataset of a run: which entry reads it, and its sampler.

use std::{path::Path, sync::Arc};

use aiperf_config::{DatasetSource, NormalSpec};
use aiperf_host::{DatasetHandle, Role, resolve::EntryRef};
use aiperf_plugin_api::{Dataset, PluginError, dataset::NoSource};
use serde_json::{Value, json};

use super::{Opener, SetupError, endpoint::EndpointSetup};
use crate::{
    dataset::{DatasetStore, FileSource},
    sampler::Sampler,
};

/// Prepares the plan's dataset. Returns the store and notes for the user.
///
/// # Errors
/// When no entry reads it, or the one that does finds a fault.
pub fn prepare(opener: &Opener<'_>, endpoint: &EndpointSetup) -> Result<(DatasetStore, Vec<String>), SetupError> {
    let normal = |spec: &NormalSpec| json!({ "mean": spec.mean, "stddev": spec.stddev });
    let mut core = json!({
        "seeded": opener.plan.seed.is_some(),
        "supports_system_message": endpoint.system_message,
    });
    let mut handle;
    let info = match &opener.plan.dataset.source {
        DatasetSource::Synthetic {
            entries,
            isl,
            osl,
            turns,
            turn_delay_ms,
            turn_delay_ratio,
        } => {
            core["entries"] = json!(entries);
            core["isl"] = normal(isl);
            core["osl"] = osl.as_ref().map_or(Value::Null, normal);
            core["turns"] = normal(turns);
            core["turn_delay_ms"] = normal(turn_delay_ms);
            core["turn_delay_ratio"] = json!(turn_delay_ratio);
            let entry = opener.find(Role::Dataset, "synthetic")?;
            handle = open(opener, entry, core)?;
            handle.open(Box::new(NoSource))?
        }
        DatasetSource::File {
            path,
            format,
            entries,
            osl,
        } => {
            core["osl"] = osl.as_ref().map_or(Value::Null, normal);
            if let Some(entries) = entries {
                core["entries"] = json!(entries);
            }
            let source = FileSource::open(path).map_err(|error| SetupError::Flag {
                flag: "--input-file",
                problem: format!("{}: {error}", path.display()),
            })?;
            handle = match format {
                Some(format) => open(opener, opener.find(Role::Dataset, format)?, core)?,
                None => detect(opener, &core, &source, path)?,
            };
            handle.open(Box::new(source))?
        }
    };
    Ok((DatasetStore::build(&mut handle)?, info.notes))
}

fn open(opener: &Opener<'_>, entry: EntryRef, core: Value) -> Result<DatasetHandle, SetupError> {
    Ok(opener
        .host
        .open_dataset(entry, &core.to_string(), Arc::new(opener.services(entry)))?)
}

/// Every dataset is asked; exactly one must accept.
fn detect(opener: &Opener<'_>, core: &Value, source: &FileSource, path: &Path) -> Result<DatasetHandle, SetupError> {
    let sample = source.sample()?;
    if let Some(name) = declared_type(&sample.head)
        && let Ok(entry) = opener.find(Role::Dataset, &name)
    {
        return open(opener, entry, core.clone());
    }
    let (mut accepted, mut reasons) = (Vec::new(), Vec::new());
    let names: Vec<String> = opener
        .host
        .resolution()
        .names(Role::Dataset)
        .map(|(name, _)| name.as_str().to_owned())
        .collect();
    for name in &names {
        let entry = opener.find(Role::Dataset, name)?;
        if opener.fact(entry, "generated") {
            continue;
        }
        let handle = open(opener, entry, core.clone())?;
        match handle.probe(&sample) {
            Ok(probe) if probe.accepts => accepted.push((name.clone(), handle)),
            Ok(probe) => reasons.push(format!("{name}: {}", probe.reason)),
            Err(error) if error.kind == aiperf_plugin_api::ErrorKind::Unsupported => {}
            Err(error) => return Err(error.into()),
        }
    }
    let problem = match accepted.len() {
        1 => {
            return accepted
                .pop()
                .map(|(_, handle)| handle)
                .ok_or_else(|| PluginError::failed("no dataset").into());
        }
        0 => format!(
            "{}: no dataset recognises it ({}); correct the first row, or name the format with --custom-dataset-type",
            path.display(),
            reasons.join("; ")
        ),
        _ => {
            let names: Vec<&str> = accepted.iter().map(|(name, _)| name.as_str()).collect();
            format!(
                "{}: {} can read it; say which with --custom-dataset-type",
                path.display(),
                names.join(" and ")
            )
        }
    };
    Err(SetupError::Flag {
        flag: "--input-file",
        problem,
    })
}

/// The `type` of the first row, if it is one.
fn declared_type(head: &[u8]) -> Option<String> {
    let line = head
        .split(|&byte| byte == b'\n')
        .find(|line| !line.trim_ascii().is_empty())?;
    let row: Value = serde_json::from_slice(line).ok()?;
    row.get("type").and_then(Value::as_str).map(str::to_owned)
}

/// The plan's sampler over the store's roots.
///
/// # Errors
/// When it can't be opened.
pub fn sampler(opener: &Opener<'_>, store: &DatasetStore) -> Result<Sampler, SetupError> {
    let entry = opener.find(Role::Sampler, opener.plan.dataset.sampling.name())?;
    let handle = opener.host.open_dataset(entry, "", Arc::new(opener.services(entry)))?;
    let roots = u32::try_from(store.roots().turns.len()).unwrap_or(u32::MAX);
    Ok(Sampler::new(Box::new(handle), roots))
}
