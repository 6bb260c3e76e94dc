//! `aiperf profile`.

use std::{ffi::OsString, path::Path, sync::Arc};

use aiperf_config::{ArtifactPlan, ExitCode, RunPlan, Secrets};
use aiperf_engine::{Load, Observer, RunOutcome, RunRequest, message::Progress, run as run_plan};
use aiperf_plugin_api::validity::Verdict;
use tracing::Level;

use crate::{
    allocator, bundled,
    calibrate::calibration,
    closing,
    failure::Failure,
    log::{Log, LogWriter},
    mock::MockServers,
    open_files,
    progress::ProgressDisplay,
    signals, stdout,
    terminal::Terminal,
    tokenizer,
};

/// Runs a benchmark.
///
/// # Errors
/// When nothing could be measured, or not all that was asked for. What was measured is reported before.
pub(crate) fn run(arguments: &[OsString]) -> Result<ExitCode, Failure> {
    if aiperf_config::wants_help(arguments) {
        stdout::print(&aiperf_config::help())?;
        return Ok(ExitCode::Ok);
    }
    let plan = aiperf_config::parse_profile(arguments)?;
    // Before there are other threads.
    allocator::prepare_for(concurrency(&plan));
    let secrets = Secrets::of(&plan);
    let terminal = Arc::new(Terminal::default());
    let (writer, log) = LogWriter::start(&plan, terminal.clone()).map_err(|error| no_thread(&error))?;
    let done = measure(plan, &log, &terminal, &secrets).map_err(|failure| Failure {
        message: secrets.blot(failure.message),
        help: failure.help.map(|help| secrets.blot(help)),
        code: failure.code,
    });
    if let Err(failure) = &done {
        log.record(Level::ERROR, failure.message.clone());
    }
    drop(writer);
    done
}

fn measure(plan: RunPlan, log: &Log, terminal: &Arc<Terminal>, secrets: &Secrets) -> Result<ExitCode, Failure> {
    let interrupts = signals::interrupts(terminal.clone()).map_err(|error| no_thread(&error))?;
    tracing::info!("aiperf {}: {}", env!("CARGO_PKG_VERSION"), plan.command_line);
    let tokenizer = Arc::new(tokenizer::start(&plan)?);
    let (host, problems) = bundled::host(&plan.plugins)?;
    for problem in problems {
        tracing::warn!("plugins left out: {problem}");
    }
    if let Some(shortage) = concurrency(&plan).and_then(open_files::shortage) {
        tracing::warn!("{shortage}");
    }
    let mut mocks = MockServers::default();
    let urls = mocks.start(&plan.endpoint.urls)?;
    let (artifacts, command_line) = (plan.artifacts.clone(), plan.command_line.clone());
    let require_valid = plan.require_valid;
    let mut screen = Screen {
        progress: ProgressDisplay::new(plan.ui, &plan.phases, terminal.clone()),
        log: log.clone(),
        artifacts: artifacts.clone(),
    };
    let request = RunRequest {
        plan,
        host: host.clone(),
        urls,
        tokenizer,
        version: env!("CARGO_PKG_VERSION").into(),
        interrupts,
        calibrated: Box::new(beyond_calibration),
    };
    let outcome = run_plan(request, &mut screen);
    screen.progress.finish();
    let outcome = outcome?;
    drop(mocks);
    let mut text = outcome.console.concat();
    text.push_str(&closing::lines(&command_line, &artifacts, &outcome, &host.usage()));
    stdout::print(&secrets.blot(text))?;
    verdict(outcome, require_valid)
}

/// Most requests at a time, where the plan limits them.
fn concurrency(plan: &RunPlan) -> Option<u32> {
    plan.phases.iter().filter_map(|phase| phase.concurrency).max()
}

/// By what a load went beyond those that this machine's calibration vouches for; `None` also where there is none.
fn beyond_calibration(load: &Load) -> Option<String> {
    let path = calibration::path(&|name| std::env::var_os(name))?;
    match calibration::load(&path, &calibration::Machine::this()) {
        Ok(table) => calibration::beyond(&table?, load.streams, load.rate, load.events_per_s),
        Err(error) => {
            tracing::warn!(
                "{}: the calibration can't be read: {error}; `aiperf calibrate` makes a new one",
                path.display()
            );
            None
        }
    }
}

/// What the run has come to.
fn verdict(outcome: RunOutcome, require_valid: bool) -> Result<ExitCode, Failure> {
    if let Some(failed) = outcome.failure {
        const MEASURED: &str = "what was measured until then is in the report";
        return Err(match (failed.plugin, failed.help) {
            (true, Some(help)) => Failure::plugin(failed.message).with_help(format!("{help}; {MEASURED}")),
            (true, None) => Failure::plugin(failed.message)
                .with_help(format!("{MEASURED}; the fault is the plugin's: tell its vendor")),
            (false, _) => Failure::usage(failed.message),
        });
    }
    if outcome.valid > 0 {
        return match outcome.validity {
            Some(validity) if require_valid && validity.verdict != Verdict::Valid => Err(Failure::not_valid(format!(
                "--require-valid: the run is {}",
                validity.line()
            ))),
            _ => Ok(ExitCode::Ok),
        };
    }
    let failed: u64 = outcome.errors.iter().map(|error| error.count).sum();
    Err(match outcome.errors.first() {
        Some(error) => Failure::usage(format!(
            "no request succeeded, {failed} failed; {}: {}{}: {}",
            if error.count == failed {
                "all with".to_owned()
            } else {
                format!("{} with", error.count)
            },
            error.code.map(|code| format!("{code} ")).unwrap_or_default(),
            error.kind,
            error.message
        ))
        .with_help("check --url, --endpoint-type and the server's own log; the records hold every error"),
        None if outcome.interrupted => Failure::usage("no results: interrupted before a request had been answered"),
        None => Failure::usage("no results: no request has been answered")
            .with_help("a --benchmark-duration and --benchmark-grace-period as long as the answers take give results"),
    })
}

fn no_thread(error: &std::io::Error) -> Failure {
    Failure::usage(format!("the run can't be started: {error}"))
}

/// The run as the user sees it.
struct Screen {
    progress: ProgressDisplay,
    log: Log,
    artifacts: ArtifactPlan,
}

impl Observer for Screen {
    fn progress(&mut self, phase: &str, _warmup: bool, progress: &Progress) {
        self.progress.update(phase, progress);
        let counts = progress.counts;
        if progress.sending_complete && counts.returned() == counts.issued {
            tracing::info!(
                "phase {phase} is over: {} issued, {} completed, {} failed, {} cancelled",
                counts.issued,
                counts.completed,
                counts.failed,
                counts.returned() - counts.completed - counts.failed
            );
        }
    }

    fn warn(&mut self, message: &str) {
        tracing::warn!("{message}");
    }

    fn interrupted(&mut self) {
        tracing::info!("interrupted by the user");
    }

    fn folder_made(&mut self, _folder: &Path) {
        let path = self.artifacts.log_file();
        if let Err(error) = self.log.open(&path) {
            tracing::warn!("{}: no log is written: {error}", path.display());
        }
    }
}

#[cfg(test)]
mod tests {
    use aiperf_plugin_api::{
        report::ErrorGroup,
        validity::{MachineUse, Validity},
    };

    use super::*;

    fn outcome() -> RunOutcome {
        RunOutcome {
            console: Vec::new(),
            folder: "a".into(),
            files: Vec::new(),
            valid: 0,
            duration_ns: None,
            errors: Vec::new(),
            validity: None,
            interrupted: false,
            failure: None,
        }
    }

    #[test]
    fn one_valid_request_makes_a_run() {
        let outcome = RunOutcome { valid: 1, ..outcome() };
        assert_eq!(verdict(outcome, false).ok(), Some(ExitCode::Ok));
    }

    #[test]
    fn a_run_that_is_not_valid_fails_where_that_is_required() {
        let validity = |verdict| Validity {
            verdict,
            reasons: Vec::new(),
            phases: Vec::new(),
            machine: MachineUse::default(),
        };
        for (verdict_, required, code) in [
            (Verdict::Valid, true, None),
            (Verdict::Suspect, false, None),
            (Verdict::Suspect, true, Some(ExitCode::NotValid)),
            (Verdict::Invalid, true, Some(ExitCode::NotValid)),
        ] {
            let outcome = RunOutcome {
                valid: 1,
                validity: Some(validity(verdict_)),
                ..outcome()
            };
            assert_eq!(verdict(outcome, required).err().map(|failure| failure.code), code);
        }
    }

    #[test]
    fn what_went_wrong_is_said() {
        let error = |count, message: &str| ErrorGroup {
            code: Some(503),
            kind: "Service Unavailable".into(),
            message: message.into(),
            count,
        };
        let cases = [
            (
                RunOutcome {
                    errors: vec![error(7, "busy"), error(2, "gone")],
                    ..outcome()
                },
                ExitCode::Failed,
                "no request succeeded, 9 failed; 7 with: 503 Service Unavailable: busy",
            ),
            (
                RunOutcome {
                    interrupted: true,
                    ..outcome()
                },
                ExitCode::Failed,
                "no results: interrupted before",
            ),
            (outcome(), ExitCode::Failed, "no results: no request"),
            (
                RunOutcome {
                    valid: 5,
                    failure: Some(aiperf_engine::message::Failure {
                        service: "worker_0".into(),
                        message: "metric/x panicked".into(),
                        plugin: true,
                        help: None,
                    }),
                    ..outcome()
                },
                ExitCode::Plugin,
                "metric/x panicked",
            ),
        ];
        for (outcome, code, message) in cases {
            let failure = verdict(outcome, false).unwrap_err();
            assert_eq!(failure.code, code);
            assert!(failure.message.starts_with(message), "{}", failure.message);
        }
    }
}
