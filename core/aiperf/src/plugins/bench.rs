//! `aiperf plugins bench`: how long the calls of a package take.

use std::ffi::OsString;

use aiperf_config::ExitCode;
use clap::{Arg, Command};
use serde::{Deserialize, Serialize};

use super::{
    arguments::{Words, output_argument, registry_argument},
    columns::aligned,
    json, subject,
    suite::{self, SPEED_ONLY, Task, option_argument},
    test::label,
};
use crate::{failure::Failure, stdout};

fn command() -> Command {
    Command::new("aiperf plugins bench")
        .about(
            "How long the calls of a package take, as a run makes them: through the host, which counts and times each.",
        )
        .arg(
            Arg::new("package")
                .value_name("PACKAGE|FILE")
                .default_value(".")
                .help("Name of a package, or the path of a registry file or of its folder"),
        )
        .arg(option_argument())
        .arg(registry_argument())
        .arg(output_argument())
}

/// A call.
#[derive(Debug, Serialize)]
struct Row {
    entry: String,
    #[serde(flatten)]
    speed: Speed,
}

/// As the suite reports it.
#[derive(Debug, Serialize, Deserialize)]
struct Speed {
    call: String,
    per: String,
    ns: f64,
    calls: u64,
}

/// Measures.
///
/// # Errors
/// When there is no such package, or it can't be opened or ends the process.
pub(super) fn run(arguments: &[OsString]) -> Result<ExitCode, Failure> {
    let words = match Words::read(command(), arguments)? {
        Words::Help(text) => return stdout::print(&text).map(|()| ExitCode::Ok),
        found => found,
    };
    let options = suite::options(&words)?;
    let mut rows = Vec::new();
    for subject in subject::find(&words.text("package"), words.registries())? {
        for &entry in &subject.entries {
            let entry_label = label(&subject, entry);
            let task = Task {
                seed: 42,
                case: SPEED_ONLY,
                options: &options,
            };
            let mut found = suite::in_child(&subject, entry, task)
                .map_err(|problem| Failure::plugin(format!("{entry_label} of {}: {problem}", subject.package)))?;
            let speeds: Vec<Speed> = serde_json::from_value(found.report["speed"].take())
                .map_err(|error| Failure::plugin(format!("{entry_label}: {error}")))?;
            rows.extend(speeds.into_iter().map(|speed| Row {
                entry: entry_label.clone(),
                speed,
            }));
        }
    }
    stdout::print(&if words.json() { json(&rows)? } else { table(&rows) })?;
    Ok(ExitCode::Ok)
}

fn table(rows: &[Row]) -> String {
    let cells: Vec<_> = rows
        .iter()
        .map(|Row { entry, speed }| {
            [
                entry.clone(),
                speed.call.clone(),
                format!("{:.1} ns", speed.ns),
                speed.per.clone(),
                speed.calls.to_string(),
            ]
        })
        .collect();
    aligned(["ENTRY", "CALL", "TIME", "PER", "CALLS MADE"], &cells)
}
