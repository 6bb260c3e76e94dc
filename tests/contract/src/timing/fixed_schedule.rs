//! Every conversation once, at its recorded time (load-engine §3.8).

use aiperf_sdk::{
    PluginError, Result, Timing,
    timing::{AT_ONCE, Action, Event, OnFull, Pick, Step, TimingPlan},
};
use serde::Deserialize;

/// Options of the mode.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields, default)]
pub struct Options {
    auto_offset: bool,
    start_offset_ms: Option<f64>,
}

impl Default for Options {
    fn default() -> Self {
        Self {
            auto_offset: true,
            start_offset_ms: None,
        }
    }
}

/// The mode.
pub struct FixedSchedule {
    options: Options,
    start_ns: u64,
    zero_ms: f64,
    asked: Vec<Action>,
}

impl FixedSchedule {
    /// The mode.
    pub fn new(options: Options) -> Self {
        Self {
            options,
            start_ns: 0,
            zero_ms: 0.0,
            asked: Vec::new(),
        }
    }

    fn at_ns(&self, timestamp_ms: f64) -> u64 {
        self.start_ns + ((timestamp_ms - self.zero_ms) * 1e6).round() as u64
    }
}

impl Timing for FixedSchedule {
    fn start(&mut self, plan: &TimingPlan) -> Result<()> {
        let dataset = &plan.dataset;
        let firsts = std::iter::once(0).chain(dataset.ends.iter().map(|&end| end as usize));
        let mut schedule = Vec::with_capacity(dataset.ends.len());
        for (index, first) in (0..).zip(firsts.take(dataset.ends.len())) {
            match dataset.timestamps_ms.get(first) {
                Some(timestamp_ms) if timestamp_ms.is_finite() => schedule.push((*timestamp_ms, index)),
                _ => return Err(PluginError::input(format!("conversation {index} has no timestamp"))),
            }
        }
        schedule.sort_by(|a, b| a.0.total_cmp(&b.0));
        self.start_ns = plan.start_ns;
        self.zero_ms = match schedule.first() {
            Some(&(earliest_ms, _)) if self.options.auto_offset => earliest_ms,
            _ => self.options.start_offset_ms.unwrap_or(0.0),
        };
        self.asked = schedule
            .into_iter()
            .map(|(timestamp_ms, index)| Action::Start {
                session: u64::from(index),
                pick: Pick::Index(index),
                at_ns: self.at_ns(timestamp_ms),
                on_full: OnFull::Wait,
                max_turns: None,
                max_tokens: None,
                first_turn: 0,
                tree: None,
            })
            .collect();
        Ok(())
    }

    fn step(&mut self, _: u64, events: &[Event]) -> Result<Step> {
        let mut actions = std::mem::take(&mut self.asked);
        for event in events {
            if let Event::Ready {
                session,
                turn,
                at_ns,
                delay_ms,
                timestamp_ms,
            } = *event
            {
                let at_ns = match (timestamp_ms, delay_ms) {
                    (Some(timestamp_ms), _) => self.at_ns(timestamp_ms),
                    (None, Some(delay_ms)) => at_ns + (delay_ms * 1e6).round() as u64,
                    (None, None) => AT_ONCE,
                };
                actions.push(Action::Continue { session, turn, at_ns });
            }
        }
        Ok(Step {
            actions,
            next_wake_ns: None,
        })
    }
}
