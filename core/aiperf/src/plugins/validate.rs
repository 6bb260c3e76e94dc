//! `aiperf plugins --validate`: opens every package, each in a child process that may crash.

use std::{
    collections::BTreeSet,
    ffi::OsString,
    path::{Path, PathBuf},
    time::Duration,
};

use aiperf_config::{ExitCode, PluginPlan};
use aiperf_host::{
    Role,
    registry::Package,
    resolve::{EntryRef, Resolution},
};
use clap::Arg;
use serde::Serialize;

use super::{
    arguments::{Words, output_argument, registry_argument},
    child, json, subject,
    view::PackageView,
};
use crate::{bundled, failure::Failure, stdout};

/// The command that opens one package: `REGISTRY PACKAGE [FILE...]`. Only [`run`] calls it.
pub(crate) const LOAD_COMMAND: &str = "__load-package";

/// The last thing that a child says. Its exit code alone would not do: a library can end the process.
const LOADED: &str = "aiperf: package loaded";

/// A package that takes longer to open hangs.
const PATIENCE: Duration = Duration::from_secs(30);

/// What came of one package.
#[derive(Debug, Serialize)]
struct Checked {
    #[serde(flatten)]
    package: PackageView,
    ok: bool,
    #[serde(skip_serializing_if = "Option::is_none")]
    problem: Option<String>,
}

/// Opens every package, or those of one registry file, and reports.
///
/// # Errors
/// When the report can't be written.
pub(super) fn run(
    resolution: &Resolution,
    registries: &[PathBuf],
    only: Option<&Path>,
    as_json: bool,
) -> Result<ExitCode, Failure> {
    let mut checked = Vec::new();
    for (entry, package) in packages(resolution) {
        if only.is_some_and(|file| resolution.file(entry).source.file() != file) {
            continue;
        }
        let source = resolution.file(entry).source.to_string();
        let problem = open_in_child(&source, resolution.package(entry), registries).err();
        checked.push(Checked {
            package,
            ok: problem.is_none(),
            problem,
        });
    }
    let failed = checked.iter().filter(|checked| !checked.ok).count();
    let text = if as_json {
        json(&checked)?
    } else {
        report(&checked, failed)
    };
    stdout::print(&text)?;
    Ok(if failed == 0 { ExitCode::Ok } else { ExitCode::Plugin })
}

fn report(checked: &[Checked], failed: usize) -> String {
    let mut text = String::from("Validating plugins...\n");
    for Checked { package, problem, .. } in checked {
        let label = format!("{} {} ({})", package.name, package.version, package.form_text());
        match problem {
            None => text.push_str(&format!("(OK)   {label}\n")),
            Some(problem) => {
                text.push_str(&format!("(FAIL) {label}\n"));
                for line in problem.lines() {
                    text.push_str(&format!("       {line}\n"));
                }
            }
        }
    }
    text.push_str(&match failed {
        0 => "All checks passed\n".to_owned(),
        _ => format!("Validation failed: {failed} of {} packages\n", checked.len()),
    });
    text
}

fn words() -> clap::Command {
    clap::Command::new("aiperf plugins validate")
        .about("Open every package, or those of a file, each in a child process; exit code 3 if one can't be opened.")
        .arg(
            Arg::new("file")
                .value_name("FILE")
                .help("Path of a registry file or of its folder: only its packages"),
        )
        .arg(registry_argument())
        .arg(output_argument())
}

/// `aiperf plugins validate`.
///
/// # Errors
/// When a registry file that was named is broken.
pub(super) fn command(arguments: &[OsString]) -> Result<ExitCode, Failure> {
    let words = match Words::read(words(), arguments)? {
        Words::Help(text) => return stdout::print(&text).map(|()| ExitCode::Ok),
        found => found,
    };
    let mut registries = words.registries();
    let mut only = None;
    if let Some(word) = words.optional("file") {
        let file = subject::registry_file(&word).unwrap_or_else(|| PathBuf::from(&word));
        only = Some(file.canonicalize().unwrap_or_else(|_| file.clone()));
        registries.push(file);
    }
    let host = subject::host(&registries)?;
    run(host.resolution(), &registries, only.as_deref(), words.json())
}

/// Every package that brings an entry, with one of its entries.
pub(super) fn packages(resolution: &Resolution) -> Vec<(EntryRef, PackageView)> {
    let mut seen = BTreeSet::new();
    Role::ALL
        .into_iter()
        .flat_map(|role| resolution.entries(role))
        .filter_map(|entry| {
            let package = PackageView::new(resolution.file(entry), resolution.package(entry));
            seen.insert(package.declared.clone()).then_some((entry, package))
        })
        .collect()
}

/// Opens a package in a child.
///
/// # Errors
/// Why it can't be opened, in a screen.
pub(super) fn open_in_child(source: &str, package: &Package, registries: &[PathBuf]) -> Result<(), String> {
    let words = [LOAD_COMMAND, source, package.name.as_str()].map(OsString::from);
    let files = registries.iter().map(|file| file.clone().into_os_string());
    let patience = PATIENCE + child::compile_time(package);
    let ended = child::run(words.into_iter().chain(files), patience)?;
    if ended.status.success() && ended.said.trim_end().ends_with(LOADED) {
        return Ok(());
    }
    Err(ended.problem("opening it"))
}

/// The command of the child.
///
/// # Errors
/// When the package can't be opened.
pub(crate) fn load(arguments: &[OsString]) -> Result<ExitCode, Failure> {
    open(arguments)?;
    stdout::print(&format!("{LOADED}\n"))?;
    Ok(ExitCode::Ok)
}

fn open(arguments: &[OsString]) -> Result<(), Failure> {
    let [source, package, registries @ ..] = arguments else {
        return Err(Failure::usage(format!(
            "{LOAD_COMMAND} is for `aiperf plugins --validate`"
        )));
    };
    let plan = PluginPlan {
        registries: registries.iter().map(Into::into).collect(),
        ..PluginPlan::default()
    };
    let (host, _) = bundled::host(&plan)?;
    let resolution = host.resolution();
    let (source, package) = (source.to_string_lossy(), package.to_string_lossy());
    let entry = packages(resolution)
        .into_iter()
        .find(|(entry, view)| resolution.file(*entry).source.to_string() == source && view.name == package)
        .map(|(entry, _)| entry)
        .ok_or_else(|| Failure::usage(format!("{source} declares no package {package}")))?;
    host.load(entry).map_err(|error| Failure::from(&*error))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_built_in_package_is_checked_once_and_opens() {
        let (host, _) = bundled::host(&PluginPlan::default()).unwrap();
        let packages = packages(host.resolution());
        assert_eq!(packages.len(), bundled::packages().len());
        for (_, package) in packages {
            let arguments = ["built-in registry", &package.name].map(OsString::from);
            assert!(open(&arguments).is_ok(), "{}", package.name);
        }
    }

    #[test]
    fn what_is_not_there_is_refused() {
        let failure = open(&["built-in registry", "nobody"].map(OsString::from)).unwrap_err();
        assert!(failure.message.contains("nobody"), "{}", failure.message);
        assert!(open(&[]).is_err());
    }
}
