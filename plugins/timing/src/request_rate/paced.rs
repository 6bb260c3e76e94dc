//! With a rate: one request per tick.

use std::{
    cmp::Reverse,
    collections::{BinaryHeap, VecDeque},
    sync::Arc,
};

use aiperf_sdk::{
    Host, PluginError, Result,
    timing::{Action, Event, OnFull, Pick, Step},
};

use super::mode::after_delay;

/// A backlog up to this long is caught up with; a longer one is forgotten.
const BACKLOG_NS: u64 = 10_000_000;

/// Intervals fetched per call.
const BATCH: u32 = 64;

/// A turn that waits for a tick: since when, order of arrival, conversation, turn.
type Waiting = (u64, u64, u64, u32);

/// State of a paced phase.
pub(super) struct Paced {
    arrivals: Arrivals,
    /// The next tick.
    next_ns: u64,
    /// Number of the next conversation.
    session: u64,
    waiting: BinaryHeap<Reverse<Waiting>>,
    arrived: u64,
}

impl Paced {
    pub(super) fn new(host: Arc<dyn Host>, start_ns: u64, rate: f64) -> Result<Self> {
        let mut arrivals = Arrivals {
            host,
            rate,
            fetched: VecDeque::new(),
        };
        Ok(Self {
            next_ns: start_ns.saturating_add(arrivals.next()?),
            arrivals,
            session: 0,
            waiting: BinaryHeap::new(),
            arrived: 0,
        })
    }

    pub(super) fn step(&mut self, now_ns: u64, events: &[Event]) -> Result<Step> {
        for event in events {
            match *event {
                Event::Ready {
                    session,
                    turn,
                    at_ns,
                    delay_ms,
                    ..
                } => {
                    let since_ns = after_delay(at_ns, delay_ms);
                    self.waiting.push(Reverse((since_ns, self.arrived, session, turn)));
                    self.arrived += 1;
                }
                Event::Rate { at_ns, rate } if self.arrivals.rate != rate => {
                    self.arrivals.set_rate(rate);
                    self.next_ns = self.next_ns.min(at_ns.saturating_add(self.arrivals.next()?));
                }
                // A refused tick is lost.
                _ => {}
            }
        }
        let mut actions = Vec::new();
        while self.next_ns <= now_ns {
            if self.next_ns < now_ns.saturating_sub(BACKLOG_NS) {
                self.next_ns = now_ns;
            }
            let tick_ns = self.next_ns;
            self.next_ns = tick_ns.saturating_add(self.arrivals.next()?);
            actions.push(self.tick(tick_ns));
        }
        Ok(Step {
            actions,
            next_wake_ns: Some(self.next_ns),
        })
    }

    /// What a tick is used for: turns that have been waiting, in order, go before new conversations.
    fn tick(&mut self, at_ns: u64) -> Action {
        if let Some(&Reverse((since_ns, _, session, turn))) = self.waiting.peek()
            && since_ns <= at_ns
        {
            self.waiting.pop();
            return Action::Continue { session, turn, at_ns };
        }
        let session = self.session;
        self.session += 1;
        // The sampler moves on only when a conversation starts, so a refused one is kept for the next tick.
        Action::Start {
            session,
            pick: Pick::Next,
            at_ns,
            on_full: OnFull::Refuse,
            max_turns: None,
            max_tokens: None,
            first_turn: 0,
            tree: None,
        }
    }
}

/// Intervals of the phase's arrival pattern, fetched in batches.
struct Arrivals {
    host: Arc<dyn Host>,
    rate: f64,
    fetched: VecDeque<u64>,
}

impl Arrivals {
    fn next(&mut self) -> Result<u64> {
        if self.fetched.is_empty() {
            let intervals = self.host.intervals(self.rate, BATCH)?;
            // Also when there are none at all: the loop of ticks would never end.
            if intervals.iter().all(|&interval| interval == 0) {
                return Err(PluginError::failed(format!(
                    "the arrival pattern leaves no time between requests at {} per second",
                    self.rate
                ))
                .with_help("leave out the rate for a burst"));
            }
            self.fetched.extend(intervals);
        }
        Ok(self.fetched.pop_front().unwrap_or_default())
    }

    /// Intervals at the old rate are dropped.
    fn set_rate(&mut self, rate: f64) {
        self.rate = rate;
        self.fetched.clear();
    }
}
