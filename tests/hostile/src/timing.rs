//! All requests at once, and constant intervals.

use aiperf_sdk::{prelude::*, timing::AT_ONCE, timing::LimitKind};

use crate::behaviour::Behaviour;

pub(crate) struct Hostile {
    behaviour: Behaviour,
    started: u64,
    requests: u64,
}

impl Hostile {
    pub(crate) fn new(behaviour: Behaviour) -> Self {
        Self {
            behaviour,
            started: 0,
            requests: 0,
        }
    }

    fn start(&mut self) -> Action {
        self.started += 1;
        Action::start(self.started, AT_ONCE)
    }
}

impl Timing for Hostile {
    fn start(&mut self, plan: &TimingPlan) -> Result<()> {
        self.behaviour.enter("start");
        self.requests = plan.requests.unwrap_or(1);
        Ok(())
    }

    fn step(&mut self, _: u64, events: &[Event]) -> Result<Step> {
        self.behaviour.enter("step");
        let mut step = Step::default();
        if self.behaviour.is("stalled") {
            return Ok(step);
        }
        if self.behaviour.is("wake_in_the_past") {
            step.next_wake_ns = Some(1);
            return Ok(step);
        }
        if self.behaviour.is("ask_for_ever") {
            step.actions = (0..1000).map(|_| self.start()).collect();
            step.next_wake_ns = Some(1);
            return Ok(step);
        }
        if self.started == 0 {
            if self.behaviour.is("no_slots") {
                step.actions.push(Action::SetLimit {
                    kind: LimitKind::Sessions,
                    value: 0,
                });
            }
            for _ in 0..self.requests {
                let start = self.start();
                step.actions.push(start);
            }
        }
        for event in events {
            if let Event::Ready { session, turn, .. } = *event {
                step.actions.push(Action::Continue {
                    session,
                    turn,
                    at_ns: AT_ONCE,
                });
            }
        }
        let faults: [(&str, Action); 4] = [
            ("same_session", Action::start(1, AT_ONCE)),
            (
                "no_such_session",
                Action::Continue {
                    session: 99,
                    turn: 0,
                    at_ns: AT_ONCE,
                },
            ),
            (
                "no_such_turn",
                Action::Continue {
                    session: 1,
                    turn: u32::MAX,
                    at_ns: AT_ONCE,
                },
            ),
            (
                "no_such_root",
                Action::Start {
                    session: 77,
                    pick: Pick::Index(u32::MAX),
                    at_ns: AT_ONCE,
                    on_full: OnFull::Wait,
                    max_turns: None,
                    max_tokens: None,
                    first_turn: 0,
                    tree: None,
                },
            ),
        ];
        for (fault, action) in faults {
            if self.behaviour.is(fault) {
                step.actions.insert(0, action);
            }
        }
        Ok(step)
    }

    fn state(&self) -> Result<String> {
        self.behaviour.enter("state");
        Ok(String::new())
    }

    fn intervals(&mut self, rate: f64, count: u32) -> Result<Vec<u64>> {
        self.behaviour.enter("intervals");
        if self.behaviour.is("few_intervals") {
            return Ok(Vec::new());
        }
        Ok(vec![(1e9 / rate) as u64; count as usize])
    }
}
