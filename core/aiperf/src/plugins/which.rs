//! `aiperf plugins which`: who answers to a name, and why.

use std::ffi::OsString;

use aiperf_config::ExitCode;
use aiperf_host::{
    Name,
    resolve::{EntryRef, Resolution, Verdict},
};
use clap::{Arg, Command};
use serde::Serialize;

use super::{
    arguments::{Words, output_argument, registry_argument},
    columns::aligned,
    json,
    list::status,
    role, subject,
    view::EntryView,
};
use crate::{failure::Failure, stdout};

fn command() -> Command {
    Command::new("aiperf plugins which")
        .about("Who answers to a name and why, and who else claims it.")
        .arg(Arg::new("category").value_name("CATEGORY").required(true))
        .arg(
            Arg::new("name")
                .value_name("NAME")
                .required(true)
                .help("Name or alias of an entry, or the tag of a metric"),
        )
        .arg(registry_argument())
        .arg(output_argument())
}

#[derive(Debug, Serialize)]
struct Which {
    /// The package that answers; none while entries tie.
    winner: Option<String>,
    why: String,
    claims: Vec<EntryView>,
}

/// Tells.
///
/// # Errors
/// When nobody claims the name; exit code 1 as well while entries tie.
pub(super) fn run(arguments: &[OsString]) -> Result<ExitCode, Failure> {
    let words = match Words::read(command(), arguments)? {
        Words::Help(text) => return stdout::print(&text).map(|()| ExitCode::Ok),
        found => found,
    };
    let (category, name) = (role(&words.text("category"))?, words.text("name"));
    let host = subject::host(&words.registries())?;
    let resolution = host.resolution();
    let contest = match Name::parse(&name).and_then(|name| resolution.contest(category, &name)) {
        Some(contest) => Some(contest),
        // An alias, or the tag of a metric.
        None => {
            let entry = resolution.find(category, &name)?;
            resolution.contest(category, &resolution.entry(entry).name)
        }
    };
    let claims = contest.map(|contest| contest.claims()).unwrap_or_default();
    let which = Which {
        winner: winner(claims).map(|entry| resolution.entry(entry).package.to_string()),
        why: why(resolution, claims),
        claims: claims
            .iter()
            .map(|(entry, verdict)| EntryView::new(resolution, *entry, verdict))
            .collect(),
    };
    stdout::print(&if words.json() { json(&which)? } else { text(&which) })?;
    Ok(if which.winner.is_some() {
        ExitCode::Ok
    } else {
        ExitCode::Failed
    })
}

fn winner(claims: &[(EntryRef, Verdict)]) -> Option<EntryRef> {
    claims
        .iter()
        .find(|(_, verdict)| *verdict == Verdict::Won)
        .map(|claim| claim.0)
}

/// Why the winner is the winner, from what the best loser is told.
fn why(resolution: &Resolution, claims: &[(EntryRef, Verdict)]) -> String {
    let Some(winner) = winner(claims) else {
        return "several claim it with equal priority: set `priority:`, or choose with --plugin CATEGORY/NAME=PACKAGE"
            .to_owned();
    };
    let loser = claims
        .iter()
        .map(|claim| &claim.1)
        .find(|verdict| **verdict != Verdict::Won);
    match loser {
        None => "nobody else claims the name".to_owned(),
        Some(Verdict::LowerPriority { own, winner }) => format!("its priority, {winner}, is above {own}"),
        Some(Verdict::YieldsToExternal) => "at equal priority an external entry beats a built-in one".to_owned(),
        Some(Verdict::NotPinned { .. }) => "--plugin gives it the name".to_owned(),
        Some(_) => format!(
            "{} is named more explicitly than other files that declare the package",
            resolution.file(winner).source
        ),
    }
}

fn text(which: &Which) -> String {
    let mut text = match which.claims.first() {
        Some(first) => {
            let name = format!("{}/{}", first.category, first.name);
            match &which.winner {
                Some(package) => format!("{name} is that of package {package}: {}\n\n", which.why),
                None => format!("{name} is nobody's: {}\n\n", which.why),
            }
        }
        None => String::new(),
    };
    let rows: Vec<_> = which
        .claims
        .iter()
        .map(|entry| {
            [
                entry.package.clone(),
                entry.version.clone(),
                entry.priority.to_string(),
                status(entry),
                entry.declared.clone(),
            ]
        })
        .collect();
    text.push_str(&aligned(
        ["PACKAGE", "VERSION", "PRIORITY", "STATUS", "DECLARED"],
        &rows,
    ));
    text
}
