//! Plugin flags. Whether the entries exist is for the plugin host to say.

use std::collections::BTreeMap;
use std::path::PathBuf;

use serde_json::Value;

use crate::error::ConfigError;
use crate::plan::{PluginGrant, PluginOptions, PluginPin, PluginPlan};
use crate::typed::Typed;

pub(super) fn plugins(typed: &Typed) -> Result<PluginPlan, ConfigError> {
    let registries = typed.each("plugin-registry");
    if registries.iter().any(String::is_empty) {
        return Err(typed.bad("plugin-registry", "needs the path of a registry file"));
    }
    Ok(PluginPlan {
        registries: registries.iter().map(PathBuf::from).collect(),
        pins: pins(typed)?,
        options: options(typed)?,
        grants: grants(typed)?,
        timing: typed.name("timing")?,
        metrics: typed.names("metric")?,
        exporters: typed.names("exporter")?,
        wasm_only: typed.switch("wasm-only"),
        wasm_timeout_s: typed.float("wasm-timeout")?,
        wasm_memory_mib: typed.int("wasm-memory")?,
        wasm_compile_timeout_s: typed.int("wasm-compile-timeout")?,
    })
}

fn pins(typed: &Typed) -> Result<Vec<PluginPin>, ConfigError> {
    let mut pins: Vec<PluginPin> = Vec::new();
    for value in typed.each("plugin") {
        let bad = || {
            typed
                .bad("plugin", "expected category/name=package")
                .value(value.as_str())
        };
        let (entry, package) = value.split_once('=').ok_or_else(bad)?;
        let (category, name) = entry.split_once('/').ok_or_else(bad)?;
        if package.trim().is_empty() {
            return Err(bad());
        }
        let (category, name) = (typed.entry_name("plugin", category)?, typed.entry_name("plugin", name)?);
        if pins.iter().any(|pin| pin.category == category && pin.name == name) {
            return Err(typed
                .bad("plugin", format!("{category}/{name} was given a package twice"))
                .value(value.as_str()));
        }
        pins.push(PluginPin {
            category,
            name,
            package: package.trim().to_owned(),
        });
    }
    Ok(pins)
}

/// Which capabilities there are, and whether a package asks for one, is for the plugin host to say.
fn grants(typed: &Typed) -> Result<Vec<PluginGrant>, ConfigError> {
    let read = |value: String| match value.split_once('=') {
        Some((package, capability)) if !package.trim().is_empty() && !capability.trim().is_empty() => Ok(PluginGrant {
            package: package.trim().to_owned(),
            capability: capability.trim().to_owned(),
        }),
        _ => Err(typed
            .bad("plugin-grant", "expected package=capability")
            .value(value.as_str())
            .remedy("write --plugin-grant acme=http:telemetry.example.com:443 or --plugin-grant acme=secrets")),
    };
    typed.each("plugin-grant").iter().cloned().map(read).collect()
}

fn options(typed: &Typed) -> Result<BTreeMap<String, PluginOptions>, ConfigError> {
    let mut options: BTreeMap<String, PluginOptions> = BTreeMap::new();
    for value in typed.each("plugin-opt") {
        // The value may be a secret: errors show the option only.
        let (option, text) = value
            .split_once('=')
            .ok_or_else(|| typed.bad("plugin-opt", "expected category/name.key=value, and there is no ="))?;
        let bad = || {
            typed
                .bad("plugin-opt", "expected category/name.key=value")
                .value(format!("{option}=..."))
        };
        let (category, rest) = option.split_once('/').ok_or_else(bad)?;
        let (name, key) = rest
            .split_once('.')
            .filter(|(_, key)| !key.is_empty())
            .ok_or_else(bad)?;
        let entry = match (
            typed.entry_name("plugin-opt", category),
            typed.entry_name("plugin-opt", name),
        ) {
            (Ok(category), Ok(name)) => format!("{category}/{name}"),
            _ => return Err(bad()),
        };
        let parsed = serde_json::from_str(text).unwrap_or_else(|_| Value::from(text));
        let earlier = options.entry(entry).or_default().0.insert(key.to_owned(), parsed);
        if earlier.is_some() {
            return Err(typed
                .bad("plugin-opt", format!("{option} was given twice"))
                .remedy("give it once"));
        }
    }
    Ok(options)
}
