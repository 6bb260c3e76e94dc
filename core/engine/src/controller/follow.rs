//! Following a run through the controller's inbox, to its report.

use std::time::{Duration, Instant};

use aiperf_config::{PhasePlan, RunPlan};
use aiperf_host::PluginHost;
use aiperf_plugin_api::{
    report::{ErrorGroup, PackageUse, PhaseReport, Report, RunInfo, Stats, gpu},
    validity::{MachineUse, Validity},
};
use crossbeam_channel::{Receiver, never, select};

use super::{
    collectors::Collectors,
    interface::{Calibrated, Load, Observer, RunOutcome},
};
use crate::{
    bus::Route,
    message::{CancelReason, ExportDone, Failure, Message, PhasesReport},
    validity::{Expected, judge},
};

/// After a service has failed, the others get so long to bring their records home.
const ABORT_PATIENCE: Duration = Duration::from_secs(5);
/// Summaries and exports may take long; a service that says nothing for this long is lost.
const REPORT_PATIENCE: Duration = Duration::from_secs(300);

/// GPU collectors get so long for their first readings before the run begins without them.
const BASELINE_PATIENCE: Duration = Duration::from_secs(10);
/// After the phases GPU collectors get so long for their last readings.
const CLOSING_PATIENCE: Duration = Duration::from_secs(3);

/// Follows a run through the controller's inbox.
pub(super) struct Follow<'a> {
    pub(super) inbox: Receiver<Message>,
    pub(super) interrupts: Receiver<()>,
    pub(super) observer: &'a mut dyn Observer,
    pub(super) names: Vec<(String, bool)>,
    pub(super) timing: Route,
    pub(super) records: Route,
    pub(super) collectors: Collectors,
    pub(super) interrupted: bool,
    pub(super) failure: Option<Failure>,
}

impl Follow<'_> {
    /// Until every GPU collector has read once, so that counters have a value from before the phases. A collector that has
    /// nothing to say, or fails, is not waited for.
    pub(super) fn until_collectors_are_ready(&mut self) {
        let deadline = Instant::now() + BASELINE_PATIENCE;
        while !self.interrupted && self.failure.is_none() && !self.collectors.not_ready().is_empty() {
            select! {
                recv(self.inbox) -> message => match message {
                    Ok(message) => self.take(message),
                    Err(_) => return,
                },
                recv(self.interrupts) -> signal => self.interrupt(signal.is_err()),
                default(deadline.saturating_duration_since(Instant::now())) => {
                    for name in self.collectors.not_ready() {
                        self.observer.warn(&format!(
                            "{name}: no reading within {} s; the run begins without one",
                            BASELINE_PATIENCE.as_secs()
                        ));
                    }
                    return;
                }
            }
        }
    }

    /// Until every GPU collector has read once more and ended, but no longer than they are given.
    pub(super) fn until_collectors_have_ended(&mut self) {
        self.collectors.close();
        let deadline = Instant::now() + CLOSING_PATIENCE;
        while !self.collectors.all_ended() {
            match self.inbox.recv_deadline(deadline) {
                Ok(message) => self.take(message),
                Err(_) => return,
            }
        }
    }

    /// Until every record is with the records manager, or a failure has made that hopeless.
    pub(super) fn until_records_are_in(&mut self) {
        let mut give_up = self.failure.is_some().then(|| Instant::now() + ABORT_PATIENCE);
        loop {
            let timeout = give_up.map_or(Duration::from_secs(3600), |at| {
                at.saturating_duration_since(Instant::now())
            });
            select! {
                recv(self.inbox) -> message => match message {
                    Ok(Message::RecordsComplete) | Err(_) => return,
                    Ok(message) => {
                        self.take(message);
                        if self.failure.is_some() {
                            give_up = give_up.or_else(|| Some(Instant::now() + ABORT_PATIENCE));
                        }
                    }
                },
                recv(self.interrupts) -> signal => self.interrupt(signal.is_err()),
                default(timeout) => if give_up.is_some() { return },
            }
        }
    }

    /// What may come at any time of a run.
    fn take(&mut self, message: Message) {
        match message {
            Message::Progress(progress) => {
                if let Some((name, warmup)) = self.names.get(progress.phase as usize) {
                    self.observer.progress(name, *warmup, &progress);
                }
            }
            // The readings that close the last phase are due now, not when its records have been worked through.
            Message::PhaseComplete(complete) if complete.phase as usize + 1 == self.names.len() => {
                self.collectors.close();
            }
            Message::GpuReady(index) => self.collectors.ready(index),
            Message::GpuEnded(end) => {
                if let Some(warning) = self.collectors.ended(end) {
                    self.observer.warn(&warning);
                }
            }
            Message::Failed(failure) => self.fail(failure),
            _ => {}
        }
    }

    /// `gone`: nobody is left who could interrupt.
    fn interrupt(&mut self, gone: bool) {
        if gone {
            self.interrupts = never();
        } else if !self.interrupted {
            self.interrupted = true;
            self.observer.interrupted();
            // A timing manager that has gone has nothing to stop.
            let _ = self.timing.send(Message::Interrupt(CancelReason::Interrupt));
        }
    }

    fn fail(&mut self, failure: Failure) {
        self.observer.warn(&format!(
            "{}: {}; the run is given up",
            failure.service, failure.message
        ));
        let _ = self.timing.send(Message::Interrupt(CancelReason::Abort));
        self.failure.get_or_insert(failure);
    }

    /// Has the phases summarised and the report exported. `machine`: what the phases cost it.
    pub(super) fn report(
        &mut self,
        info: &RunInfo,
        host: &PluginHost,
        plan: &RunPlan,
        machine: MachineUse,
        calibrated: &Calibrated,
    ) -> RunOutcome {
        let mut outcome = RunOutcome {
            console: Vec::new(),
            folder: plan.artifacts.dir.clone(),
            files: Vec::new(),
            valid: 0,
            duration_ns: None,
            errors: Vec::new(),
            validity: None,
            interrupted: self.interrupted,
            failure: None,
        };
        if let Some(phases) = self.ask_phases() {
            outcome.valid = phases.valid;
            outcome.duration_ns = benchmark_duration(&phases.phases);
            outcome.errors = errors(&phases.phases);
            let validity = judged(plan, &phases, machine, calibrated);
            outcome.validity = Some(validity.clone());
            if let Some(done) = self.ask_export(info, host, phases, validity) {
                for skipped in &done.skipped {
                    self.observer.warn(skipped);
                }
                outcome.console = done.console;
                outcome.files = done.files;
            }
        }
        outcome.failure = self.failure.clone();
        outcome
    }

    fn ask_phases(&mut self) -> Option<PhasesReport> {
        self.records.send(Message::Summarise).ok()?;
        self.wait_for(|message| match message {
            Message::Phases(phases) => Some(*phases),
            _ => None,
        })
    }

    fn ask_export(
        &mut self,
        info: &RunInfo,
        host: &PluginHost,
        mut phases: PhasesReport,
        validity: Validity,
    ) -> Option<ExportDone> {
        let mut sections = serde_json::Map::new();
        if let Some(mut section) = phases.gpu {
            phases.warnings.extend(self.collectors.complete(&mut section));
            sections.extend(
                serde_json::to_value(section)
                    .ok()
                    .map(|section| (gpu::SECTION.to_owned(), section)),
            );
        }
        let complete = !self.interrupted && self.failure.is_none();
        let report = Report {
            info: info.clone(),
            phases: phases.phases,
            was_cancelled: self.interrupted,
            is_complete: complete,
            incomplete_reason: match &self.failure {
                Some(failure) => Some(format!("{}: {}", failure.service, failure.message)),
                None if self.interrupted => Some("interrupted by the user".into()),
                None => None,
            },
            packages: packages(host),
            warnings: phases.warnings,
            validity: Some(validity),
            sections,
        };
        self.records.send(Message::Export(Box::new(report))).ok()?;
        self.wait_for(|message| match message {
            Message::Exported(done) => Some(*done),
            _ => None,
        })
    }

    fn wait_for<T>(&mut self, pick: impl Fn(Message) -> Option<T>) -> Option<T> {
        let deadline = Instant::now() + REPORT_PATIENCE;
        loop {
            let message = self.inbox.recv_deadline(deadline).ok()?;
            if let Message::Failed(failure) = message {
                self.observer.warn(&format!("{}: {}", failure.service, failure.message));
                self.failure.get_or_insert(failure);
            } else if let Some(found) = pick(message) {
                return Some(found);
            }
        }
    }
}

fn profiling(phases: &[PhaseReport]) -> impl Iterator<Item = &PhaseReport> {
    phases.iter().filter(|phase| phase.profiling_index.is_some())
}

/// The verdict on the profiling phases.
fn judged(plan: &RunPlan, phases: &PhasesReport, machine: MachineUse, calibrated: &Calibrated) -> Validity {
    let profiling = phases
        .phases
        .iter()
        .zip(&phases.fidelity)
        .filter(|(phase, _)| phase.profiling_index.is_some());
    let judged = profiling
        .map(|(phase, fidelity)| {
            let planned = plan.phases.get(phase.index as usize);
            let peak = phase
                .metrics
                .iter()
                .find(|metric| metric.spec.tag == "effective_concurrency");
            let expected = Expected {
                phase: phase.name.clone(),
                rate: planned.and_then(|planned| planned.rate),
                random: planned.is_some_and(|planned| planned.arrival != "constant"),
                concurrency: planned
                    .filter(|planned| planned.arrival == PhasePlan::BURST)
                    .and_then(|planned| planned.concurrency),
                peak: peak.and_then(|metric| metric.stats.max),
                duration_ns: phase.end_wall_ns.saturating_sub(phase.start_wall_ns),
                user_timestamps: !plan.kernel_timestamps,
            };
            (expected, fidelity.clone())
        })
        .collect();
    judge(judged, machine, calibrated(&load(&phases.phases)))
}

/// The sum over the profiling phases that have one.
fn benchmark_duration(phases: &[PhaseReport]) -> Option<u64> {
    profiling(phases)
        .flat_map(|phase| &phase.metrics)
        .filter(|metric| metric.spec.tag == "benchmark_duration")
        .filter_map(|metric| metric.stats.avg)
        .reduce(|sum, duration| sum + duration)
        .map(|sum| sum as u64)
}

fn load(phases: &[PhaseReport]) -> Load {
    let highest = |of: &dyn Fn(&PhaseReport) -> Option<f64>| profiling(phases).filter_map(of).reduce(f64::max);
    Load {
        streams: highest(&|phase| stats(phase, "effective_concurrency")?.max),
        rate: highest(&|phase| stats(phase, "request_throughput")?.avg),
        events_per_s: highest(&|phase| {
            let seconds = stats(phase, "benchmark_duration")?.avg? / 1e9;
            Some(stats(phase, "http_req_chunks_received")?.sum? / seconds).filter(|rate| rate.is_finite())
        }),
    }
}

fn stats<'a>(phase: &'a PhaseReport, tag: &str) -> Option<&'a Stats> {
    phase
        .metrics
        .iter()
        .find(|metric| metric.spec.tag == tag)
        .map(|metric| &metric.stats)
}

fn errors(phases: &[PhaseReport]) -> Vec<ErrorGroup> {
    let mut errors: Vec<ErrorGroup> = profiling(phases)
        .flat_map(|phase| phase.errors.iter().cloned())
        .collect();
    errors.sort_by_key(|error| std::cmp::Reverse(error.count));
    errors
}

fn packages(host: &PluginHost) -> Vec<PackageUse> {
    host.usage()
        .into_iter()
        .map(|used| PackageUse {
            name: used.package,
            version: used.version,
            form: used.form.to_owned(),
            sha256: used.sha256,
            granted: used.granted,
            calls: used.entries.iter().map(|entry| entry.calls).sum(),
            time_ns: used.entries.iter().map(|entry| entry.total_ns).sum(),
            skipped: used.entries.iter().map(|entry| entry.errors).sum(),
            shadowed: used
                .entries
                .iter()
                .flat_map(|entry| entry.shadowed.iter().cloned())
                .collect(),
            entries: used
                .entries
                .iter()
                .map(|entry| format!("{}/{}", entry.role, entry.name))
                .collect(),
        })
        .collect()
}
