//! What stands under the tables when a run has ended.

use std::{fmt::Write as _, path::Path};

use aiperf_config::ArtifactPlan;
use aiperf_engine::RunOutcome;
use aiperf_host::PackageUse;

/// The closing lines: command, duration, files, plugins of others, log.
pub(crate) fn lines(command_line: &str, plan: &ArtifactPlan, outcome: &RunOutcome, packages: &[PackageUse]) -> String {
    let mut text = format!("\nCLI Command: {command_line}\n");
    // Writing to a string does not fail.
    if let Some(duration) = outcome.duration_ns {
        let early = if outcome.interrupted { " (cancelled early)" } else { "" };
        let _ = writeln!(text, "Benchmark Duration: {:.2} sec{early}", duration as f64 / 1e9);
    }
    for package in packages.iter().filter(|package| package.unsandboxed) {
        let _ = writeln!(
            text,
            "Plugin: {} {} (native, unsandboxed)",
            package.package, package.version
        );
    }
    for package in packages.iter().filter(|package| !package.granted.is_empty()) {
        let granted = package.granted.join(", ");
        let _ = writeln!(text, "Granted to {} {}: {granted}", package.package, package.version);
    }
    let folder = absolute(&outcome.folder);
    let _ = writeln!(text, "Artifacts: {folder}");
    for (label, file) in exports(plan, &outcome.files) {
        let _ = writeln!(text, "{label}: {folder}/{file}");
    }
    let _ = writeln!(text, "Log File: {}", absolute(&plan.log_file()));
    if outcome.interrupted {
        text.push_str("The run was interrupted: the figures cover what had been measured until then.\n");
    }
    text
}

/// The files with what they are, the summaries first.
fn exports<'a>(plan: &ArtifactPlan, files: &'a [String]) -> Vec<(&'static str, &'a str)> {
    let known = [
        (plan.summary_csv(), "CSV Export"),
        (plan.summary_json(), "JSON Export"),
        (plan.records_jsonl(), "Records Export"),
        (plan.raw_jsonl(), "Raw Records"),
        (plan.console_txt(), "Console Export"),
        (plan.inputs_json(), "Inputs"),
    ];
    let rank = |file: &str| {
        let path = plan.dir.join(file);
        known
            .iter()
            .position(|(known, _)| *known == path)
            .unwrap_or(known.len())
    };
    let mut files: Vec<&str> = files.iter().map(String::as_str).collect();
    files.sort_by_key(|file| rank(file));
    files
        .into_iter()
        .map(|file| (known.get(rank(file)).map_or("Export", |(_, label)| *label), file))
        .collect()
}

/// The path as it can be used from anywhere.
fn absolute(path: &Path) -> String {
    std::path::absolute(path)
        .unwrap_or_else(|_| path.to_owned())
        .display()
        .to_string()
}

#[cfg(test)]
mod tests {
    use aiperf_config::ExportLevel;

    use super::*;

    fn outcome() -> RunOutcome {
        RunOutcome {
            console: Vec::new(),
            folder: "/runs/a".into(),
            files: ["inputs.json", "foo.jsonl", "extra/x.bin", "foo.json", "foo.csv"]
                .map(str::to_owned)
                .to_vec(),
            valid: 3,
            duration_ns: Some(1_234_567_890),
            errors: Vec::new(),
            validity: None,
            interrupted: false,
            failure: None,
        }
    }

    fn plan() -> ArtifactPlan {
        ArtifactPlan {
            dir: "/runs/a".into(),
            prefix: Some("foo".into()),
            level: ExportLevel::Records,
            http_trace: false,
        }
    }

    #[test]
    fn a_whole_run() {
        assert_eq!(
            lines("aiperf profile --url mock:", &plan(), &outcome(), &[]),
            "\nCLI Command: aiperf profile --url mock:\n\
             Benchmark Duration: 1.23 sec\n\
             Artifacts: /runs/a\n\
             CSV Export: /runs/a/foo.csv\n\
             JSON Export: /runs/a/foo.json\n\
             Records Export: /runs/a/foo.jsonl\n\
             Inputs: /runs/a/inputs.json\n\
             Export: /runs/a/extra/x.bin\n\
             Log File: /runs/a/logs/aiperf.log\n"
        );
    }

    #[test]
    fn an_interrupted_run_without_results() {
        let outcome = RunOutcome {
            interrupted: true,
            duration_ns: None,
            files: Vec::new(),
            ..outcome()
        };
        assert_eq!(
            lines("aiperf", &plan(), &outcome, &[]),
            "\nCLI Command: aiperf\nArtifacts: /runs/a\nLog File: /runs/a/logs/aiperf.log\n\
             The run was interrupted: the figures cover what had been measured until then.\n"
        );
    }
}
