//! The built-in plugins: linked in, registered like any other.

use std::{ffi::OsString, sync::Arc};

use aiperf_config::PluginPlan;
use aiperf_host::{
    BundledPackage, Capability, PluginHost,
    discovery::{Places, discover},
    resolve::{Pin, resolve},
};
use aiperf_plugin_api::{Package, abi::root};

use crate::{components, failure::Failure};

/// The built-in registry file.
pub(crate) const REGISTRY: &str = include_str!("../../../registry.yaml");

/// The packages that are linked into this binary.
pub(crate) fn packages() -> Vec<BundledPackage> {
    const fn package<P: Package>() -> BundledPackage {
        BundledPackage {
            name: P::NAME,
            root: root::<P>,
        }
    }
    vec![
        package::<aiperf_endpoints::BuiltIn>(),
        package::<aiperf_datasets::BuiltIn>(),
        package::<aiperf_timing::BuiltIn>(),
        package::<aiperf_metrics::BuiltIn>(),
        package::<aiperf_exporters::BuiltIn>(),
    ]
}

/// What is wrong with `--plugin-grant`.
fn granting(problem: impl std::fmt::Display) -> Failure {
    Failure::usage(format!("--plugin-grant: {problem}"))
}

/// The host of a plan: the built-in registry, installed ones, and those that were named. With it, what was wrong with
/// installed registry files that were left out.
///
/// # Errors
/// When a registry file that was named is broken, names collide, or an option leads nowhere.
pub(crate) fn host(plan: &PluginPlan) -> Result<(Arc<PluginHost>, Vec<String>), Failure> {
    let environment = |name: &str| -> Option<OsString> { std::env::var_os(name) };
    let places = Places {
        builtin: REGISTRY,
        environment: &environment,
        named: &plan.registries,
    };
    let discovered = discover(&places)?;
    let pins = plan
        .pins
        .iter()
        .map(|pin| Pin::parse(&format!("{}/{}={}", pin.category, pin.name, pin.package)))
        .collect::<Result<Vec<_>, _>>()?;
    let resolution = resolve(discovered.files, pins)?;
    let warnings = discovered.warnings.iter().map(ToString::to_string).collect();
    let options = plan
        .options
        .iter()
        .map(|(section, options)| (section.as_str(), &options.0));
    let grants = plan
        .grants
        .iter()
        .map(|grant| match Capability::parse(&grant.capability) {
            Some(capability) => Ok((grant.package.as_str(), capability)),
            None => Err(granting(format!("unknown capability `{}`", grant.capability)).with_help(Capability::FORM)),
        })
        .collect::<Result<Vec<_>, _>>()?;
    let host = PluginHost::new(resolution, &packages())
        .wasm_only(plan.wasm_only)
        .with_wasm(components::settings(plan))
        .with_grants(grants.iter().map(|(package, capability)| (*package, capability)))
        .map_err(granting)?
        .with_options(options)?;
    Ok((Arc::new(host), warnings))
}
