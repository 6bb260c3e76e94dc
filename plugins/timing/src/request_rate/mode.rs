//! The mode itself: one of two ways, chosen by the plan.

use std::sync::Arc;

use aiperf_sdk::{
    Host, PluginError, Result, Timing,
    timing::{Event, Step, TimingPlan},
};

use super::{burst::Burst, paced::Paced};

/// The mode.
pub(crate) struct RequestRate {
    host: Arc<dyn Host>,
    phase: Option<Phase>,
}

/// What a phase needs.
enum Phase {
    Burst(Burst),
    Paced(Paced),
}

impl RequestRate {
    pub(crate) fn new(host: Arc<dyn Host>) -> Self {
        Self { host, phase: None }
    }
}

impl Timing for RequestRate {
    fn start(&mut self, plan: &TimingPlan) -> Result<()> {
        self.phase = Some(match (plan.rate, plan.concurrency) {
            (Some(rate), _) => Phase::Paced(Paced::new(Arc::clone(&self.host), plan.start_ns, rate)?),
            (None, Some(concurrency)) => Phase::Burst(Burst::new(concurrency)),
            (None, None) => {
                return Err(PluginError::input(format!(
                    "phase `{}` has neither a request rate nor a concurrency",
                    plan.phase
                ))
                .with_help("give a rate, a concurrency, or both"));
            }
        });
        Ok(())
    }

    fn step(&mut self, now_ns: u64, events: &[Event]) -> Result<Step> {
        match &mut self.phase {
            Some(Phase::Burst(burst)) => Ok(burst.step(events)),
            Some(Phase::Paced(paced)) => paced.step(now_ns, events),
            None => Err(PluginError::failed("`step` before `start`")),
        }
    }
}

/// When a ready turn may be sent: after the dataset's think time.
pub(super) fn after_delay(at_ns: u64, delay_ms: Option<f64>) -> u64 {
    // A float that is negative or not a number becomes 0 here.
    let delay_ns = (delay_ms.unwrap_or(0.0) * 1e6).round() as u64;
    at_ns.saturating_add(delay_ns)
}
