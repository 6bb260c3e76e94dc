//! A mode whose steps are watched.

use aiperf_sdk::{
    Action, Event, PluginError, Result, Timing,
    timing::{Step, TimingPlan},
};

/// Calls at one time without an event or an action, after which time stands still.
const IDLE_CALLS: u32 = 100;

/// Calls per request, and those that every phase may make besides.
const CALLS_PER_REQUEST: u64 = 100;
const CALLS: u64 = 2_000;

/// A call of `step`: what the mode was told, and what it asked for.
pub(super) struct Call {
    pub(super) now_ns: u64,
    pub(super) events: Vec<Event>,
    pub(super) step: Step,
}

/// Watches a mode, and ends the phase when it calls without end.
pub(super) struct Spy {
    timing: Box<dyn Timing>,
    pub(super) calls: Vec<Call>,
    /// How the mode keeps calling for nothing.
    pub(super) endless: Option<String>,
    /// What the core adds to the events of each call.
    extra: fn(usize) -> Vec<Event>,
    idle: u32,
    requests: u64,
}

impl Spy {
    pub(super) fn new(timing: Box<dyn Timing>) -> Self {
        Self {
            timing,
            calls: Vec::new(),
            endless: None,
            extra: |_| Vec::new(),
            idle: 0,
            requests: 0,
        }
    }

    /// Adds events to those of the engine, by the number of the call.
    pub(super) fn adding(mut self, extra: fn(usize) -> Vec<Event>) -> Self {
        self.extra = extra;
        self
    }

    fn moves_on(&mut self, now_ns: u64, events: &[Event], step: &Step) -> std::result::Result<(), String> {
        let before_ns = self.calls.last().map(|call| call.now_ns);
        let idle = events.is_empty() && step.actions.is_empty() && before_ns == Some(now_ns);
        self.idle = if idle { self.idle + 1 } else { 0 };
        if self.idle > IDLE_CALLS {
            return Err(format!(
                "at {now_ns} ns it was called {IDLE_CALLS} times at its own wish, and asked for nothing"
            ));
        }
        let asked = step.actions.iter().filter(|action| is_request(action)).count();
        self.requests += asked as u64;
        let calls = self.calls.len() as u64;
        if calls > CALLS + CALLS_PER_REQUEST * self.requests {
            return Err(format!("{calls} calls for {} requests asked for", self.requests));
        }
        Ok(())
    }
}

pub(super) fn is_request(action: &Action) -> bool {
    matches!(action, Action::Start { .. } | Action::Continue { .. })
}

impl Timing for Spy {
    fn start(&mut self, plan: &TimingPlan) -> Result<()> {
        self.timing.start(plan)
    }

    fn step(&mut self, now_ns: u64, events: &[Event]) -> Result<Step> {
        let mut events = events.to_vec();
        events.extend((self.extra)(self.calls.len()));
        let step = self.timing.step(now_ns, &events)?;
        if let Err(problem) = self.moves_on(now_ns, &events, &step) {
            self.endless = Some(problem.clone());
            return Err(PluginError::failed(problem));
        }
        self.calls.push(Call {
            now_ns,
            events,
            step: step.clone(),
        });
        Ok(step)
    }
}
