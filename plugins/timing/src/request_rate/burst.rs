//! Without a rate: a free slot is filled at once.

use aiperf_sdk::timing::{AT_ONCE, Action, Event, Step};

use super::mode::after_delay;

/// Conversations that wait in line beyond those that hold a slot, so that slots which come free together are filled
/// without a call in between.
const RESERVE: u64 = 16;

/// State of a burst.
#[derive(Debug)]
pub(super) struct Burst {
    /// Conversations to have asked for before the first one has started.
    initial: u64,
    asked: u64,
    started: u64,
}

impl Burst {
    pub(super) fn new(concurrency: u32) -> Self {
        Self {
            initial: u64::from(concurrency) + RESERVE,
            asked: 0,
            started: 0,
        }
    }

    pub(super) fn step(&mut self, events: &[Event]) -> Step {
        let mut step = Step::default();
        for event in events {
            match *event {
                Event::Started { .. } => self.started += 1,
                // The conversation holds its slot, so nothing but its delay keeps the turn back.
                Event::Ready {
                    session,
                    turn,
                    at_ns,
                    delay_ms,
                    ..
                } => step.actions.push(Action::Continue {
                    session,
                    turn,
                    at_ns: after_delay(at_ns, delay_ms),
                }),
                _ => {}
            }
        }
        let wanted = self.initial.max(self.started + RESERVE);
        while self.asked < wanted {
            step.actions.push(Action::start(self.asked, AT_ONCE));
            self.asked += 1;
        }
        step
    }
}
