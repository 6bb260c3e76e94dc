//! The conformance suite in a child process.

use std::{ffi::OsString, path::PathBuf, time::Duration};

use aiperf_config::{ExitCode, PluginPlan};
use aiperf_conformance::{Kind, Options, Subject as Tested};
use aiperf_host::{Role, resolve::EntryRef};
use clap::{Arg, ArgAction};
use serde::{Deserialize, Serialize};

use super::{
    arguments::Words,
    child,
    subject::{self, Subject},
};
use crate::{bundled, failure::Failure, stdout};

/// The command that tests one entry. Only [`in_child`] calls it.
pub(crate) const TEST_COMMAND: &str = "__test-entry";

/// What the last line of a child begins with. What comes before it, the plugin has written.
const REPORT: &str = "aiperf: tested ";

/// Time for the cases of an entry.
const BUDGET: Duration = Duration::from_secs(120);

/// Beyond its budget, for starting and for the report.
const GRACE: Duration = Duration::from_secs(30);

/// In place of a case: none, only the speed.
pub(super) const SPEED_ONLY: &str = "speed";

/// What a child is to do.
#[derive(Debug, Clone, Copy)]
pub(super) struct Task<'a> {
    pub(super) seed: u64,
    /// The id of a case; empty: all; [`SPEED_ONLY`]: none.
    pub(super) case: &'a str,
    /// Options of entries, from `--plugin-opt`.
    pub(super) options: &'a PluginPlan,
}

/// What a child found.
#[derive(Debug, Serialize, Deserialize)]
pub(super) struct Found {
    pub(super) passed: bool,
    /// The report as the user reads it.
    pub(super) text: String,
    /// The report as data.
    pub(super) report: serde_json::Value,
}

/// `--plugin-opt`, for entries that can't be opened without.
pub(super) fn option_argument() -> Arg {
    Arg::new("plugin-opt")
        .long("plugin-opt")
        .alias("plugin_opt")
        .value_name("CATEGORY/NAME.KEY=VALUE")
        .action(ArgAction::Append)
        .help("Option of an entry, as for a run; for entries that can't be opened without")
}

/// What `--plugin-opt` says, read as a run reads it.
///
/// # Errors
/// When it is not as the help says.
pub(super) fn options(words: &Words) -> Result<PluginPlan, Failure> {
    let mut line = vec!["--url".to_owned(), "mock:".to_owned()];
    for option in words.all("plugin-opt") {
        line.extend(["--plugin-opt".to_owned(), option]);
    }
    Ok(aiperf_config::parse_profile(&line)?.plugins)
}

/// Runs the suite on an entry.
///
/// # Errors
/// In a screen, why there is no report: the package can't be opened, or it ended the process.
pub(super) fn in_child(subject: &Subject, entry: EntryRef, task: Task<'_>) -> Result<Found, String> {
    let resolution = subject.host.resolution();
    if let Some(unbuilt) = subject::unbuilt(resolution.file(entry), resolution.package(entry)) {
        return Err(unbuilt);
    }
    let found = ask(subject, entry, task);
    match found {
        Err(Trouble::Ended(problem)) if task.case.is_empty() => Err(locate(subject, entry, task, problem)),
        found => found.map_err(Trouble::text),
    }
}

/// Why there is no report.
enum Trouble {
    /// It could not begin, and says why.
    Refused(String),
    /// It ended in the middle.
    Ended(String),
}

impl Trouble {
    fn text(self) -> String {
        match self {
            Self::Refused(text) | Self::Ended(text) => text,
        }
    }
}

fn ask(subject: &Subject, entry: EntryRef, task: Task<'_>) -> Result<Found, Trouble> {
    let declared = subject.host.resolution().entry(entry);
    let (role, name) = (declared.role.as_str(), declared.name.as_str());
    let own = serde_json::Value::Object(task.options.options_of(role, name).0);
    let words = [
        TEST_COMMAND,
        &subject.source,
        &subject.package,
        role,
        name,
        &task.seed.to_string(),
        task.case,
        &own.to_string(),
    ]
    .map(OsString::from);
    let files = subject.registries.iter().map(|file| file.clone().into_os_string());
    let patience = BUDGET + GRACE + child::compile_time(subject.host.resolution().package(entry));
    let ended = child::run(words.into_iter().chain(files), patience).map_err(Trouble::Ended)?;
    let report = ended
        .said
        .lines()
        .next_back()
        .and_then(|line| line.strip_prefix(REPORT));
    match report.and_then(|report| serde_json::from_str(report).ok()) {
        Some(found) if ended.status.success() => Ok(found),
        _ if ended.complaint.starts_with("error: ") => Err(Trouble::Refused(ended.problem(""))),
        _ => Err(Trouble::Ended(ended.problem("testing it"))),
    }
}

/// Finds the case in which the process ended: each once more, in a child of its own.
fn locate(subject: &Subject, entry: EntryRef, task: Task<'_>, problem: String) -> String {
    let declared = subject.host.resolution().entry(entry);
    let category = kind(declared.role).category().name();
    let ids: Vec<&str> = aiperf_conformance::requirements().map(|one| one.case).collect();
    let culprit = ids
        .into_iter()
        .filter(|id| id.starts_with("every.") || belongs(id, declared.role, category))
        .find(|case| matches!(ask(subject, entry, Task { case, ..task }), Err(Trouble::Ended(_))));
    let declared_at = format!("declared: {}:{}", subject.source, declared.at);
    let Some(case) = culprit else {
        return format!(
            "{problem}\n{declared_at}\nlikely cause: the plugin aborts or exits, now and then\nnext: run it again under a debugger"
        );
    };
    let required = aiperf_conformance::requirements().find(|one| one.case == case);
    format!(
        "{problem}\nin case: {case}{}\n{declared_at}\nlikely cause: the plugin aborts, exits, overflows its stack or breaks memory; or it is \
         built with panic = \"abort\"\nnext: aiperf plugins test {} --entry {}/{} --case {case} --seed {}",
        required.map_or(String::new(), |one| format!(
            " ({} {}: {})",
            one.id, one.level, one.text
        )),
        subject.source,
        declared.role,
        declared.name,
        task.seed,
    )
}

/// Whether a case is one of this role's: the first word of its id is the kind's, more or less.
fn belongs(id: &str, role: Role, category: &str) -> bool {
    let first = id.split('.').next().unwrap_or_default();
    [role.as_str(), category].iter().any(|word| word.contains(first))
}

/// The suite's word for a role.
fn kind(role: Role) -> Kind {
    match role {
        Role::Endpoint => Kind::Endpoint,
        Role::Dataset => Kind::Dataset,
        Role::Sampler => Kind::Sampler,
        Role::Timing => Kind::TimingMode,
        Role::ArrivalPattern => Kind::ArrivalPattern,
        Role::Ramp => Kind::Ramp,
        Role::Metric => Kind::Metric,
        Role::Exporter => Kind::Exporter,
        Role::GpuCollector => Kind::GpuCollector,
    }
}

/// The command of the child: `SOURCE PACKAGE ROLE NAME SEED CASE OPTIONS [FILE...]`.
///
/// # Errors
/// When the package can't be opened.
pub(crate) fn run(arguments: &[OsString]) -> Result<ExitCode, Failure> {
    let words: Vec<String> = arguments
        .iter()
        .map(|word| word.to_string_lossy().into_owned())
        .collect();
    let [source, package, role, name, seed, case, own, ..] = words.as_slice() else {
        return Err(Failure::usage(format!("{TEST_COMMAND} is for `aiperf plugins test`")));
    };
    let plan = PluginPlan {
        registries: arguments.iter().skip(7).map(PathBuf::from).collect(),
        ..PluginPlan::default()
    };
    let (host, _) = bundled::host(&plan)?;
    let resolution = host.resolution();
    let entry = Role::parse(role)
        .into_iter()
        .flat_map(|role| resolution.entries(role))
        .find(|&entry| {
            let declared = resolution.entry(entry);
            resolution.file(entry).source.to_string() == *source
                && declared.package.as_str() == package
                && declared.name.as_str() == name
        })
        .ok_or_else(|| Failure::usage(format!("{source} declares no {role}/{name} of package {package}")))?;
    let declared = resolution.entry(entry).clone();
    let root = host.root(entry).map_err(|error| Failure::from(&*error))?;
    let tested = Tested {
        metadata: declared.metadata,
        options: serde_json::from_str(own).unwrap_or_default(),
        ..Tested::new(root, kind(declared.role), declared.name.key())
    };
    let options = Options {
        seed: seed.parse().unwrap_or(42),
        time_budget: BUDGET,
        only: match case.as_str() {
            "" => Vec::new(),
            // The one case that makes no call.
            SPEED_ONLY => vec!["every.returns".to_owned()],
            case => vec![case.to_owned()],
        },
        speed: case.is_empty() || case == SPEED_ONLY,
        ..Options::default()
    };
    let conformance = aiperf_conformance::run(&tested, &options);
    let report = serde_json::to_value(&conformance).and_then(|report| {
        serde_json::to_string(&Found {
            passed: conformance.passed(),
            text: conformance.to_string(),
            report,
        })
    });
    let report = report.map_err(|error| Failure::usage(error.to_string()))?;
    stdout::print(&format!("\n{REPORT}{report}\n"))?;
    Ok(ExitCode::Ok)
}
