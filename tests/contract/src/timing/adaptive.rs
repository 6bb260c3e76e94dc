//! Raises the concurrency while a latency objective is met, then holds it (load-engine §3.11, one filter, fixed step).

use std::collections::BTreeSet;

use aiperf_sdk::{
    Result, Timing,
    timing::{AT_ONCE, Action, Event, LimitKind, Outcome, Step, TimingPlan},
};
use serde::Deserialize;

/// Options of the mode.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Options {
    max: u32,
    step: u32,
    window_ms: u64,
    sustain_ms: u64,
    /// The mean latency of a window may be so long.
    latency_ms: f64,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum State {
    Discover,
    /// Since when, and whether the last window failed.
    Sustain {
        since_ns: u64,
        failed: bool,
    },
    Over,
}

/// The mode.
pub struct Adaptive {
    options: Options,
    state: State,
    current: u32,
    last_good: Option<u32>,
    window_end_ns: u64,
    latencies_ns: Vec<u64>,
    session: u64,
    waiting: BTreeSet<u64>,
    actions: Vec<Action>,
}

impl Adaptive {
    /// The mode.
    pub fn new(options: Options) -> Self {
        Self {
            options,
            state: State::Discover,
            current: 1,
            last_good: None,
            window_end_ns: 0,
            latencies_ns: Vec::new(),
            session: 0,
            waiting: BTreeSet::new(),
            actions: Vec::new(),
        }
    }

    fn window_ns(&self) -> u64 {
        self.options.window_ms * 1_000_000
    }

    fn set(&mut self, value: u32) {
        self.current = value;
        let kind = LimitKind::Sessions;
        self.actions.push(Action::SetLimit { kind, value });
    }

    /// The window passes; `None` when it says nothing.
    fn verdict(&mut self) -> Option<bool> {
        let latencies = std::mem::take(&mut self.latencies_ns);
        let mean_ns = latencies.iter().sum::<u64>() as f64 / latencies.len() as f64;
        (!latencies.is_empty()).then_some(mean_ns <= self.options.latency_ms * 1e6)
    }

    fn close_window(&mut self, now_ns: u64) {
        let Some(passed) = self.verdict() else { return };
        let note = format!("{{\"concurrency\":{},\"passed\":{passed}}}", self.current);
        self.actions.push(Action::Note(note));
        match (self.state, passed, self.last_good) {
            (State::Discover, true, _) => {
                self.last_good = Some(self.current);
                if self.current >= self.options.max {
                    return self.end("incomplete");
                }
                self.set((self.current + self.options.step).min(self.options.max));
            }
            (State::Discover, false, None) => self.end("failed"),
            (State::Discover, false, Some(good)) => {
                self.set(good);
                self.state = State::Sustain {
                    since_ns: now_ns,
                    failed: false,
                };
            }
            (State::Sustain { since_ns, .. }, true, _) => {
                if now_ns - since_ns >= self.options.sustain_ms * 1_000_000 {
                    return self.end("completed");
                }
                self.state = State::Sustain {
                    since_ns,
                    failed: false,
                };
            }
            (State::Sustain { failed: true, .. }, false, _) => self.end("failed"),
            (State::Sustain { since_ns, .. }, false, _) => {
                if self.current == 1 {
                    return self.end("failed");
                }
                self.set(self.current.saturating_sub(self.options.step).max(1));
                self.state = State::Sustain { since_ns, failed: true };
            }
            (State::Over, ..) => {}
        }
    }

    fn end(&mut self, how: &str) {
        self.state = State::Over;
        self.actions.push(Action::Note(format!("{{\"end\":\"{how}\"}}")));
        for session in std::mem::take(&mut self.waiting) {
            self.actions.push(Action::Revoke { session });
        }
        self.actions.push(Action::Done);
    }
}

impl Timing for Adaptive {
    fn start(&mut self, plan: &TimingPlan) -> Result<()> {
        self.window_end_ns = plan.start_ns + self.window_ns();
        self.set(1);
        Ok(())
    }

    fn step(&mut self, now_ns: u64, events: &[Event]) -> Result<Step> {
        for event in events {
            match event {
                Event::Started { session, .. } => {
                    self.waiting.remove(session);
                }
                Event::Returned(returned) if returned.outcome == Outcome::Completed => {
                    self.latencies_ns.extend(returned.latency_ns);
                }
                _ => {}
            }
        }
        if now_ns >= self.window_end_ns && self.state != State::Over {
            self.close_window(now_ns);
            self.window_end_ns += self.window_ns();
        }
        // As many wait in line as the limit can ever let in at once.
        while self.state != State::Over && self.waiting.len() < self.options.max as usize {
            self.waiting.insert(self.session);
            self.actions.push(Action::start(self.session, AT_ONCE));
            self.session += 1;
        }
        Ok(Step {
            actions: std::mem::take(&mut self.actions),
            next_wake_ns: (self.state != State::Over).then_some(self.window_end_ns),
        })
    }
}
