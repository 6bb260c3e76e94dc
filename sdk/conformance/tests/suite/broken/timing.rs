//! A mode that keeps a rate, or a number of conversations.

use std::collections::HashSet;

use aiperf_sdk::{
    Action, Event, PluginError, Result, Timing,
    timing::{AT_ONCE, LimitKind, OnFull, Outcome, Pick, Step, TimingPlan},
};

use super::{Fault, unique};

pub(super) const FAULTS: &[Fault] = &[
    ("good", &[]),
    ("steps_before_start", &["timing.start"]),
    ("stops_early", &["timing.completes", "timing.failures", "timing.limits"]),
    ("too_early", &["timing.not_early", "timing.not_in_the_past"]),
    ("in_the_past", &["timing.not_in_the_past"]),
    ("numbers_sessions_again", &["timing.sessions", "timing.refused"]),
    (
        "sends_turns_twice",
        &[
            "timing.completes",
            "timing.continues",
            "timing.failures",
            "timing.limits",
        ],
    ),
    (
        "picks_beyond_the_end",
        &["timing.completes", "timing.picks", "timing.failures", "timing.limits"],
    ),
    ("insists", &["timing.sessions", "timing.refused"]),
    ("wakes_at_once_for_ever", &["timing.wakes"]),
    ("wakes_each_microsecond", &["timing.wakes"]),
    ("not_deterministic", &["timing.deterministic"]),
    ("stops_at_failures", &["timing.failures"]),
    ("moves_a_limit_to_0", &["timing.limits"]),
    (
        "goes_on_after_done",
        &["timing.completes", "timing.failures", "timing.limits", "timing.done"],
    ),
    ("gives_up_when_late", &["timing.late_call"]),
    ("panics_on_strangers", &["timing.odd_events"]),
    ("leaves_what_it_can_not_read", &["timing.state"]),
];

const RESERVE: u64 = 16;
const MS: u64 = 1_000_000;

pub(super) struct Broken {
    fault: String,
    plan: Option<TimingPlan>,
    interval_ns: Option<u64>,
    next_ns: u64,
    asked: u64,
    started: u64,
    known: HashSet<u64>,
    over: bool,
}

impl Broken {
    pub(super) fn new(fault: String) -> Self {
        Self {
            fault,
            plan: None,
            interval_ns: None,
            next_ns: 0,
            asked: 0,
            started: 0,
            known: HashSet::new(),
            over: false,
        }
    }

    fn has(&self, fault: &str) -> bool {
        self.fault == fault
    }

    fn start_of(&mut self, at_ns: u64, on_full: OnFull) -> Action {
        let mut session = self.asked;
        self.asked += 1;
        if self.has("numbers_sessions_again") {
            session %= 150;
        }
        self.known.insert(session);
        let count = self.plan.as_ref().map_or(0, |plan| plan.dataset.ends.len() as u32);
        Action::Start {
            session,
            pick: if self.has("picks_beyond_the_end") {
                Pick::Index(count)
            } else {
                Pick::Next
            },
            at_ns: self.shifted(at_ns),
            on_full,
            max_turns: None,
            max_tokens: None,
            first_turn: 0,
            tree: None,
        }
    }

    fn shifted(&self, at_ns: u64) -> u64 {
        let start_ns = self.plan.as_ref().map_or(0, |plan| plan.start_ns);
        match self.fault.as_str() {
            "too_early" => start_ns - 500 * MS,
            "in_the_past" if at_ns > start_ns + 500 * MS => at_ns - 100 * MS,
            "not_deterministic" => at_ns + unique() % 7,
            _ => at_ns,
        }
    }

    fn hear(&mut self, event: &Event, actions: &mut Vec<Action>) {
        match *event {
            Event::Started { .. } => self.started += 1,
            Event::Ready {
                session,
                turn,
                at_ns,
                delay_ms,
                ..
            } => {
                let delay_ns = (delay_ms.unwrap_or(0.0) * 1e6) as u64;
                let at_ns = at_ns.saturating_add(delay_ns);
                actions.push(Action::Continue { session, turn, at_ns });
                if self.has("sends_turns_twice") {
                    actions.push(Action::Continue { session, turn, at_ns });
                }
            }
            Event::Returned(ref returned) => {
                self.over |= self.has("stops_at_failures") && returned.outcome == Outcome::Failed;
                if self.has("panics_on_strangers") {
                    assert!(self.known.contains(&returned.session), "who is {}?", returned.session);
                }
            }
            // Once more, and under the same number.
            Event::Refused { session } if self.has("insists") && self.known.remove(&session) => {
                actions.push(Action::Start {
                    session,
                    pick: Pick::Next,
                    at_ns: self.next_ns + 5 * MS,
                    on_full: OnFull::Refuse,
                    max_turns: None,
                    max_tokens: None,
                    first_turn: 0,
                    tree: None,
                })
            }
            Event::Rate { rate, .. } => self.interval_ns = Some((1e9 / rate) as u64),
            _ => {}
        }
    }
}

impl Timing for Broken {
    fn start(&mut self, plan: &TimingPlan) -> Result<()> {
        if !plan.state.is_empty() && self.has("leaves_what_it_can_not_read") {
            return Err(PluginError::input("what is this?"));
        }
        self.interval_ns = match (plan.rate, plan.concurrency) {
            (Some(rate), _) if (1e-3..=1e6).contains(&rate) => Some((1e9 / rate) as u64),
            (None, Some(1..)) => None,
            _ => return Err(PluginError::input("a rate or a concurrency is needed")),
        };
        self.next_ns = plan.start_ns;
        self.plan = Some(plan.clone());
        Ok(())
    }

    fn state(&self) -> Result<String> {
        Ok(self.asked.to_string())
    }

    fn step(&mut self, now_ns: u64, events: &[Event]) -> Result<Step> {
        let Some(plan) = self.plan.clone() else {
            if self.has("steps_before_start") {
                return Ok(Step::default());
            }
            return Err(PluginError::failed("`step` before `start`"));
        };
        let mut actions = Vec::new();
        if self.asked == 0 && self.has("moves_a_limit_to_0") {
            let kind = LimitKind::Prefill;
            actions.push(Action::SetLimit { kind, value: 0 });
        }
        if self.has("goes_on_after_done") {
            actions.push(Action::Done);
        }
        for event in events {
            self.hear(event, &mut actions);
        }
        self.over |= self.has("stops_early") && self.asked >= 100;
        if self.over {
            return Ok(Step {
                actions,
                next_wake_ns: None,
            });
        }
        let Some(interval_ns) = self.interval_ns else {
            let wanted = self.started.max(u64::from(plan.concurrency.unwrap_or(1))) + RESERVE;
            while self.asked < wanted {
                let at_ns = if self.has("too_early") || self.has("not_deterministic") {
                    now_ns
                } else {
                    AT_ONCE
                };
                let start = self.start_of(at_ns, OnFull::Wait);
                actions.push(start);
            }
            let next_wake_ns = match self.fault.as_str() {
                "wakes_at_once_for_ever" => Some(now_ns),
                _ => None,
            };
            return Ok(Step { actions, next_wake_ns });
        };
        if self.has("gives_up_when_late") && now_ns > self.next_ns + 500 * MS {
            return Err(PluginError::failed("too late"));
        }
        while self.next_ns <= now_ns {
            let at_ns = self.next_ns;
            self.next_ns += interval_ns;
            let start = self.start_of(at_ns, OnFull::Refuse);
            actions.push(start);
        }
        let next_wake_ns = match self.fault.as_str() {
            "wakes_at_once_for_ever" => now_ns,
            "wakes_each_microsecond" => now_ns + 1_000,
            _ => self.next_ns,
        };
        Ok(Step {
            actions,
            next_wake_ns: Some(next_wake_ns),
        })
    }
}
