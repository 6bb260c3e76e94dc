//! The phases of a run: timing modes with their arrival patterns.

use std::sync::Arc;

use aiperf_config::{PhaseKind, PhasePlan};
use aiperf_host::Role;
use serde_json::json;

use super::{Opener, SetupError};
use crate::{phase::StopConditions, processor::build::PhaseLabel, timing_manager::PhaseJob};

/// Opens the plan's phases.
///
/// # Errors
/// When a timing entry can't be opened.
pub fn phases(opener: &Opener<'_>) -> Result<Vec<PhaseJob>, SetupError> {
    opener.plan.phases.iter().map(|phase| job(opener, phase)).collect()
}

fn job(opener: &Opener<'_>, phase: &PhasePlan) -> Result<PhaseJob, SetupError> {
    let pattern = opener.find(Role::ArrivalPattern, &phase.arrival)?;
    let core = phase
        .smoothness
        .map_or_else(|| json!({}), |smoothness| json!({ "smoothness": smoothness }));
    let pattern = opener
        .host
        .open_timing(pattern, &core.to_string(), Arc::new(opener.services(pattern)))?;
    let mode = opener.find(Role::Timing, &phase.timing)?;
    let services = opener.services(mode).with_arrival(Box::new(pattern));
    let timing = opener.host.open_timing(mode, "", Arc::new(services))?;
    Ok(PhaseJob {
        name: phase.name.clone(),
        mode: phase.timing.clone(),
        plugin: timing.plugin().label().to_owned(),
        warmup: phase.kind == PhaseKind::Warmup,
        timing: Box::new(timing),
        rate: phase.rate,
        concurrency: phase.concurrency,
        stop: StopConditions {
            requests: phase.requests,
            sessions: phase.sessions,
            duration_ns: phase.duration_s.map(nanoseconds),
        },
        grace_ns: phase.grace_s.map(nanoseconds),
    })
}

/// Seconds in ns; more than 584 years are as good as for ever.
fn nanoseconds(seconds: f64) -> u64 {
    (seconds * 1e9).round() as u64
}

/// Names of the phases for records.
pub fn labels(phases: &[PhasePlan]) -> Vec<PhaseLabel> {
    let mut profiling = 0..;
    phases
        .iter()
        .map(|phase| PhaseLabel {
            name: phase.name.clone(),
            warmup: phase.kind == PhaseKind::Warmup,
            profiling_index: (phase.kind == PhaseKind::Profiling).then(|| profiling.next()).flatten(),
            concurrency: phase.concurrency,
        })
        .collect()
}
