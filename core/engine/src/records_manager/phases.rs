//! Accumulation and completion of phases. A phase is complete when it has ended and as many records have come as credits
//! were issued.

use std::sync::Arc;

use aiperf_plugin_api::{
    ColumnRef, Metric, PluginError, fields,
    report::{self, Credits, ErrorGroup},
    validity::Fidelity,
};
use aiperf_records::{
    accumulator::{AccumulateError, Budget, PhaseAccumulator, RecordOutcome},
    catalogue::Catalogue,
    errors::ErrorDetails,
    summary::Visibility,
    window::Window,
};

use super::{exporters::ColumnMap, gpu::Gpu};
use crate::{
    columns::FieldColumn,
    message::{PhaseComplete, PhaseCounts, RecordBatch},
    processor::{Families, build::PhaseLabel},
    validity::Observed,
};

/// A phase as far as the records manager knows it.
struct Phase {
    label: PhaseLabel,
    accumulator: PhaseAccumulator,
    observed: Observed,
    received: u64,
    /// Requests that were sent again over a fresh connection.
    resent: u64,
    complete: Option<PhaseComplete>,
}

/// All phases of a run.
pub struct Phases {
    phases: Vec<Phase>,
    catalogue: Arc<Catalogue>,
    positions: Positions,
}

/// Where the columns are that the core itself reads.
struct Positions {
    start_wall: Option<usize>,
    start: Option<usize>,
    end: Option<usize>,
    valid: Option<usize>,
    code: Option<usize>,
    kind: Option<usize>,
    message: Option<usize>,
}

impl Phases {
    /// Phases without records.
    pub fn new(labels: &[PhaseLabel], catalogue: Arc<Catalogue>, map: &ColumnMap) -> Self {
        let phases = labels
            .iter()
            .map(|label| Phase {
                label: label.clone(),
                accumulator: PhaseAccumulator::new(catalogue.clone(), Budget::default()),
                observed: Observed::new(map),
                received: 0,
                resent: 0,
                complete: None,
            })
            .collect();
        let positions = Positions {
            start_wall: map.field(fields::START_WALL),
            start: map.field(fields::START),
            end: map.field(fields::END),
            valid: map.field(fields::VALID),
            code: map.field(fields::ERROR_CODE),
            kind: map.field(fields::ERROR_TYPE),
            message: map.field(fields::ERROR_MESSAGE),
        };
        Self {
            phases,
            catalogue,
            positions,
        }
    }

    /// Adds a batch.
    ///
    /// # Errors
    /// When a metric's columns do not fit.
    pub fn add(&mut self, batch: &RecordBatch) -> Result<(), AccumulateError> {
        let outcomes = self.positions.outcomes(batch);
        let Some(phase) = self.phases.get_mut(batch.phase as usize) else {
            return Ok(());
        };
        phase.received += batch.len as u64;
        phase.observed.add(batch.len, &batch.fields);
        phase.resent += batch.resent;
        if batch.cancelled {
            return Ok(());
        }
        phase.accumulator.add(&outcomes, &batch.metrics)
    }

    /// A phase has ended.
    pub fn complete(&mut self, complete: PhaseComplete) {
        if let Some(phase) = self.phases.get_mut(complete.phase as usize) {
            phase.complete = Some(complete);
        }
    }

    /// Every phase has ended and all its records are in.
    pub fn all_in(&self) -> bool {
        self.phases.iter().all(|phase| {
            phase
                .complete
                .as_ref()
                .is_some_and(|complete| phase.received >= complete.counts.issued)
        })
    }

    /// How exactly the phases that have ended were timed, in the order of their reports.
    pub fn fidelity(&self) -> Vec<Fidelity> {
        let ended = self.phases.iter().filter(|phase| phase.complete.is_some());
        ended.map(|phase| phase.observed.fidelity()).collect()
    }

    /// Valid records of profiling phases so far.
    pub fn valid_profiling(&self) -> u64 {
        let profiling = self.phases.iter().filter(|phase| !phase.label.warmup);
        profiling.map(|phase| phase.accumulator.valid_records()).sum()
    }

    /// Reports of the phases that have ended. A family that fails to derive costs its own values alone.
    pub fn report(&self, families: &Families, visibility: Visibility, gpu: &Gpu) -> Reported {
        let mut reported = Reported::default();
        for phase in &self.phases {
            if let Some(complete) = &phase.complete {
                let facts = facts(&phase.label, gpu.facts(complete));
                let report = self.report_phase(phase, complete, families, visibility, &facts, &mut reported);
                reported.phases.push(report);
            }
        }
        reported
    }

    /// The phases that have ended.
    pub fn completed(&self) -> impl Iterator<Item = &PhaseComplete> {
        self.phases.iter().filter_map(|phase| phase.complete.as_ref())
    }

    fn report_phase(
        &self,
        phase: &Phase,
        complete: &PhaseComplete,
        families: &Families,
        visibility: Visibility,
        facts: &str,
        reported: &mut Reported,
    ) -> report::PhaseReport {
        let duration_ns = complete.end_ns.saturating_sub(complete.start_ns);
        let window = Window {
            start_ns: complete.start_wall_ns,
            end_ns: complete.start_wall_ns + duration_ns,
        };
        let mut summary =
            phase
                .accumulator
                .summary(window, Some(duration_ns).filter(|&duration| duration > 0), visibility);
        for &index in self.catalogue.derive_order() {
            let Some(family) = families.families().get(index) else {
                continue;
            };
            let derived = family
                .handle
                .derive(&summary.derive_input(index, facts.to_owned()))
                .and_then(|values| {
                    summary
                        .set_derived(index, &values)
                        .map_err(|error| PluginError::failed(format!("{}: {error}", family.handle.plugin().label())))
                });
            match derived {
                Ok(()) => {}
                Err(error) if family.skip_on_error => reported
                    .warnings
                    .push(format!("{error}; its derived metrics are missing")),
                Err(error) => reported.failures.push(error),
            }
        }
        let name = &phase.label.name;
        reported.warnings.extend(
            summary
                .lost()
                .map(|tag| format!("phase `{name}`: the values of `{tag}` outgrew their memory")),
        );
        reported
            .warnings
            .extend(phase.accumulator.skipped().map(|(index, records)| {
                let label = families
                    .families()
                    .get(index)
                    .map_or("a metric family", |family| family.handle.plugin().label());
                format!("phase `{name}`: {label} was skipped for {records} records")
            }));
        if phase.resent > 0 {
            reported.warnings.push(format!(
                "phase `{name}`: {} requests were sent again over a fresh connection, because the server had closed the \
                 kept one; their times include the first try",
                phase.resent
            ));
        }
        let errors = phase.accumulator.error_summary();
        let mut groups: Vec<ErrorGroup> = errors
            .groups
            .iter()
            .map(|group| ErrorGroup {
                code: group.error_details.code.and_then(|code| u16::try_from(code).ok()),
                kind: group.error_details.kind.clone().unwrap_or_default(),
                message: group.error_details.message.clone(),
                count: group.count,
            })
            .collect();
        if errors.ungrouped > 0 {
            groups.push(ErrorGroup {
                code: None,
                kind: "Other".into(),
                message: "errors of other kinds, more than are told apart".into(),
                count: errors.ungrouped,
            });
        }
        report::PhaseReport {
            name: name.clone(),
            kind: if phase.label.warmup { "warmup" } else { "profiling" }.into(),
            index: complete.phase,
            profiling_index: phase.label.profiling_index,
            start_wall_ns: window.start_ns,
            end_wall_ns: window.end_ns,
            credits: credits(complete.counts),
            metrics: summary.results().into_iter().map(Into::into).collect(),
            errors: groups,
            slices: Vec::new(),
        }
    }
}

/// What the phases have come to.
#[derive(Debug, Default)]
pub struct Reported {
    /// One for each phase that has ended.
    pub phases: Vec<report::PhaseReport>,
    /// What the reader should know.
    pub warnings: Vec<String>,
    /// Families that failed to derive and may not be skipped; the reports lack their values.
    pub failures: Vec<PluginError>,
}

impl Positions {
    fn outcomes(&self, batch: &RecordBatch) -> Vec<RecordOutcome> {
        let column = |position: Option<usize>| {
            position
                .and_then(|position| batch.fields.get(position))
                .map_or(ColumnRef::Missing, FieldColumn::borrow)
        };
        let (start_wall, start, end) = (column(self.start_wall), column(self.start), column(self.end));
        let (valid, code) = (column(self.valid), column(self.code));
        let (kind, message) = (column(self.kind), column(self.message));
        (0..batch.len)
            .map(|row| {
                let start_ns = start_wall.u64(row).unwrap_or(0);
                let length = end.u64(row).unwrap_or(0).saturating_sub(start.u64(row).unwrap_or(0));
                let error = (valid.u64(row) != Some(1)).then(|| ErrorDetails {
                    code: code.u64(row).and_then(|code| i64::try_from(code).ok()),
                    kind: kind.text(row).map(str::to_owned),
                    message: message.text(row).unwrap_or_default().to_owned(),
                });
                RecordOutcome {
                    start_ns,
                    end_ns: start_ns + length,
                    error,
                }
            })
            .collect()
    }
}

/// Facts for metrics that derive from more than records (`metric::Window::facts`), as JSON; empty if none is known.
fn facts(label: &PhaseLabel, gpu: Option<serde_json::Value>) -> String {
    let known = [
        ("concurrency", label.concurrency.map(serde_json::Value::from)),
        ("gpu", gpu),
    ];
    let known: serde_json::Map<_, _> = known
        .into_iter()
        .filter_map(|(name, value)| Some((name.to_owned(), value?)))
        .collect();
    if known.is_empty() {
        return String::new();
    }
    serde_json::Value::Object(known).to_string()
}

/// Counts in the form of the report.
pub fn credits(counts: PhaseCounts) -> Credits {
    let reasons = [
        ("grace_period", counts.cancelled_grace),
        ("interrupt", counts.cancelled_interrupt),
        ("abort", counts.cancelled_abort),
    ];
    Credits {
        issued: counts.issued,
        completed: counts.completed,
        failed: counts.failed,
        cancelled: reasons
            .into_iter()
            .filter(|(_, count)| *count > 0)
            .map(|(name, count)| (name.into(), count))
            .collect(),
    }
}
