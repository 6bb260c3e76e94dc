//! `aiperf plugins test`: the conformance suite on the entries of a package, each in a child process that may crash.

use std::{ffi::OsString, fmt::Write as _};

use aiperf_config::ExitCode;
use aiperf_host::{Role, resolve::EntryRef};
use clap::{Arg, Command, value_parser};
use serde::Serialize;

use super::{
    arguments::{Words, output_argument, registry_argument},
    json,
    subject::{self, Subject},
    suite::{self, Task, option_argument},
};
use crate::{failure::Failure, stdout};

fn command() -> Command {
    Command::new("aiperf plugins test")
        .about("Run the conformance suite on a package; exit code 3 if a requirement is broken.")
        .arg(
            Arg::new("package")
                .value_name("PACKAGE|FILE")
                .default_value(".")
                .help("Name of a package, or the path of a registry file or of its folder"),
        )
        .arg(
            Arg::new("entry")
                .long("entry")
                .value_name("CATEGORY/NAME")
                .help("Only this entry"),
        )
        .arg(
            Arg::new("case")
                .long("case")
                .value_name("ID")
                .help("Only this case, such as every.instances"),
        )
        .arg(
            Arg::new("seed")
                .long("seed")
                .value_name("N")
                .value_parser(value_parser!(u64))
                .default_value("42")
                .help("Seed of everything that is random; the same one gives the same cases"),
        )
        .arg(option_argument())
        .arg(registry_argument())
        .arg(output_argument())
}

/// What came of an entry.
#[derive(Debug, Serialize)]
struct Tested {
    entry: String,
    package: String,
    version: String,
    passed: bool,
    /// The suite's report.
    #[serde(skip_serializing_if = "Option::is_none")]
    report: Option<serde_json::Value>,
    /// Why there is none.
    #[serde(skip_serializing_if = "Option::is_none")]
    problem: Option<String>,
    #[serde(skip)]
    text: String,
}

/// Tests a package.
///
/// # Errors
/// When there is no such package or entry.
pub(super) fn run(arguments: &[OsString]) -> Result<ExitCode, Failure> {
    let words = match Words::read(command(), arguments)? {
        Words::Help(text) => return stdout::print(&text).map(|()| ExitCode::Ok),
        found => found,
    };
    let case = words.optional("case");
    if let Some(case) = &case {
        known_case(case)?;
    }
    let mut subjects = subject::find(&words.text("package"), words.registries())?;
    if let Some(entry) = words.optional("entry") {
        keep(&mut subjects, &entry)?;
    }
    let options = suite::options(&words)?;
    let task = Task {
        seed: words.number("seed").unwrap_or(42),
        case: case.as_deref().unwrap_or_default(),
        options: &options,
    };
    let mut all = Vec::new();
    for subject in &subjects {
        for &entry in &subject.entries {
            let tested = test(subject, entry, task);
            // The suite takes seconds per entry: each is shown when it is through.
            if !words.json() {
                stdout::print(&tested.text)?;
            }
            all.push(tested);
        }
    }
    stdout::print(&if words.json() { json(&all)? } else { summary(&all) })?;
    let passed = all.iter().all(|tested| tested.passed);
    Ok(if passed { ExitCode::Ok } else { ExitCode::Plugin })
}

fn known_case(id: &str) -> Result<(), Failure> {
    let known: Vec<&str> = aiperf_conformance::requirements().map(|one| one.case).collect();
    if known.contains(&id) {
        return Ok(());
    }
    let near = aiperf_host::near(id, known.iter().copied());
    Err(
        Failure::usage(format!("there is no case `{id}`")).with_help(if near.is_empty() {
            "docs/plugins/component-specification.md lists them".to_owned()
        } else {
            format!("did you mean {}?", near.join(" or "))
        }),
    )
}

/// `category/name` of an entry.
pub(super) fn label(subject: &Subject, entry: EntryRef) -> String {
    let declared = subject.host.resolution().entry(entry);
    format!("{}/{}", declared.role, declared.name)
}

/// Leaves the entry that `word` names.
fn keep(subjects: &mut Vec<Subject>, word: &str) -> Result<(), Failure> {
    let (category, name) = word
        .split_once('/')
        .ok_or_else(|| Failure::usage(format!("--entry `{word}` is not CATEGORY/NAME")))?;
    let role = Role::parse(category);
    let wanted = aiperf_host::Name::parse(name);
    let before: Vec<String> = subjects
        .iter()
        .flat_map(|subject| subject.entries.iter().map(|&entry| label(subject, entry)))
        .collect();
    for subject in subjects.iter_mut() {
        let host = std::sync::Arc::clone(&subject.host);
        subject.entries.retain(|&entry| {
            let declared = host.resolution().entry(entry);
            Some(&declared.name) == wanted.as_ref()
                && role.is_some_and(|role| declared.role == role || declared.role.category().name() == category)
        });
    }
    subjects.retain(|subject| !subject.entries.is_empty());
    if subjects.is_empty() {
        return Err(Failure::usage(format!("the package has no entry `{word}`"))
            .with_help(format!("it has: {}", before.join(", "))));
    }
    Ok(())
}

fn test(subject: &Subject, entry: EntryRef, task: Task<'_>) -> Tested {
    let label = label(subject, entry);
    let result = suite::in_child(subject, entry, task);
    let (passed, report, problem, text) = match result {
        Ok(found) => (found.passed, Some(found.report), None, found.text),
        Err(problem) => {
            let mut text = format!("{label} of {} {}\n  FAILED\n", subject.package, subject.version);
            for line in problem.lines() {
                let _ = writeln!(text, "  {line}");
            }
            (false, None, Some(problem), text)
        }
    };
    Tested {
        entry: label,
        package: subject.package.clone(),
        version: subject.version.clone(),
        passed,
        report,
        problem,
        text: text + "\n",
    }
}

fn summary(all: &[Tested]) -> String {
    let failed: Vec<&str> = all
        .iter()
        .filter(|one| !one.passed)
        .map(|one| one.entry.as_str())
        .collect();
    match failed.as_slice() {
        [] if all.len() == 1 => "The entry conforms.\n".to_owned(),
        [] => format!("All {} entries conform.\n", all.len()),
        failed => format!(
            "{} of {} entries do not conform: {}\n",
            failed.len(),
            all.len(),
            failed.join(", ")
        ),
    }
}
