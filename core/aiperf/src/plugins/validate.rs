//! `aiperf plugins --validate`: opens every package, each in a child process that may crash.

use std::{
    collections::BTreeSet,
    ffi::OsString,
    io::{self, Read},
    process::{Child, Command, ExitStatus, Stdio},
    thread,
    time::Duration,
};

use aiperf_config::{ExitCode, PluginPlan};
use aiperf_host::{
    Role,
    resolve::{EntryRef, Resolution},
};
use crossbeam_channel::bounded;
use serde::Serialize;

use super::{arguments::Arguments, json, view::PackageView};
use crate::{bundled, failure::Failure, stdout};

/// The command that opens one package: `REGISTRY PACKAGE [FILE...]`. Only [`run`] calls it.
pub(crate) const LOAD_COMMAND: &str = "__load-package";

/// The last thing that a child says. Its exit code alone would not do: a library can end the process.
const LOADED: &str = "aiperf: package loaded";

/// A package that takes longer to open hangs.
const PATIENCE: Duration = Duration::from_secs(30);

/// Bytes of a child's messages that are kept.
const LONGEST_MESSAGE: u64 = 16 * 1024;

/// What came of one package.
#[derive(Debug, Serialize)]
struct Checked {
    #[serde(flatten)]
    package: PackageView,
    ok: bool,
    #[serde(skip_serializing_if = "Option::is_none")]
    problem: Option<String>,
}

/// Opens every package and reports.
///
/// # Errors
/// When the report can't be written.
pub(super) fn run(resolution: &Resolution, arguments: &Arguments) -> Result<ExitCode, Failure> {
    let mut checked = Vec::new();
    for (entry, package) in packages(resolution) {
        let source = resolution.file(entry).source.to_string();
        let problem = open_in_child(&source, &package.name, arguments).err();
        checked.push(Checked {
            package,
            ok: problem.is_none(),
            problem,
        });
    }
    let failed = checked.iter().filter(|checked| !checked.ok).count();
    let text = if arguments.json {
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

/// Every package that brings an entry, with one of its entries.
fn packages(resolution: &Resolution) -> Vec<(EntryRef, PackageView)> {
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

fn open_in_child(source: &str, package: &str, arguments: &Arguments) -> Result<(), String> {
    let failed = |error: io::Error| format!("no process can be started to open it: {error}");
    let program = std::env::current_exe().map_err(failed)?;
    let mut child = Command::new(program)
        .args([LOAD_COMMAND, source, package])
        .args(&arguments.registries)
        .stdin(Stdio::null())
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .spawn()
        .map_err(failed)?;
    let Some((said, complaint)) = listen(&mut child) else {
        let _ = child.kill();
        let _ = child.wait();
        return Err(format!("it was not open after {} s: it hangs", PATIENCE.as_secs()));
    };
    let status = child.wait().map_err(failed)?;
    if status.success() && said.trim_end().ends_with(LOADED) {
        return Ok(());
    }
    Err(match complaint.trim_end().strip_prefix("error: ") {
        Some(message) => message.to_owned(),
        None => crash(status, complaint.trim_end()),
    })
}

/// What the child writes to both outputs until it ends; `None` if that takes too long.
fn listen(child: &mut Child) -> Option<(String, String)> {
    let (sender, receiver) = bounded(1);
    let (mut stdout, stderr) = (child.stdout.take()?, child.stderr.take()?);
    let complaint = thread::spawn(move || {
        let mut text = Vec::new();
        let _ = stderr.take(LONGEST_MESSAGE).read_to_end(&mut text);
        String::from_utf8_lossy(&text).into_owned()
    });
    thread::spawn(move || {
        let mut text = Vec::new();
        let _ = stdout.read_to_end(&mut text);
        let said = String::from_utf8_lossy(&text).into_owned();
        let _ = sender.send((said, complaint.join().unwrap_or_default()));
    });
    receiver.recv_timeout(PATIENCE).ok()
}

fn crash(status: ExitStatus, complaint: &str) -> String {
    let mut text = format!("opening it ended the process: {status}");
    if !complaint.is_empty() {
        text.push('\n');
        text.push_str(complaint);
    }
    text
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
