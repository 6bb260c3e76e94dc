//! The state machine of a phase.
//!
//! Invariants: every credit issued is in `in_flight` until it returns, once; a session holds its slot from its first turn
//! to its end; nothing is issued once sending is closed.

use std::{
    cmp::Reverse,
    collections::{BinaryHeap, VecDeque},
};

use aiperf_plugin_api::timing::{AT_ONCE, Action, Event, LimitKind, OnFull, Outcome, Pick, Returned};
use rustc_hash::FxHashMap;
use uuid::Uuid;

use super::limits::{Sent, Slots, StopConditions};
use crate::message::{CancelReason, Credit, CreditReturn, PhaseCounts};

/// Turn metadata of the dataset's root conversations.
#[derive(Debug, Clone, Default)]
pub struct RootTurns {
    /// Dataset index of each root.
    pub conversation: Vec<u32>,
    /// Per root: recorded time and delay of each turn, in ms.
    pub turns: Vec<Vec<(Option<f64>, Option<f64>)>>,
}

/// What a phase is made of.
#[derive(Debug, Clone)]
pub struct PhaseSetup {
    /// Position among all phases.
    pub index: u32,
    /// Start.
    pub start_ns: u64,
    /// Limit on concurrent conversations.
    pub concurrency: Option<u32>,
    /// When to stop.
    pub stop: StopConditions,
    /// ns after the duration until what is in flight is cancelled; `None` waits for ever.
    pub grace_ns: Option<u64>,
    /// Number of base URLs.
    pub urls: u32,
    /// A credit is issued so many ns before it is due, so that its request is ready to be sent when it is.
    pub lead_ns: u64,
}

/// What may be asked for and wait, at most; a mode that asks for ever must not fill the memory.
const MAX_PENDING: usize = if cfg!(test) { 100_000 } else { 10_000_000 };

/// A session that is running.
#[derive(Debug, Clone)]
struct Session {
    root: u32,
    correlation_id: u128,
    turns: u32,
    url: u32,
    max_tokens: Option<u32>,
}

/// What is due at some time, in order of time, then of request.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord)]
struct Due {
    at_ns: u64,
    sequence: u64,
    what: What,
}

#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord)]
enum What {
    Start(PendingStart),
    Continue { session: u64, turn: u32 },
}

#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord)]
struct PendingStart {
    session: u64,
    root: Option<u32>,
    wait: bool,
    max_turns: Option<u32>,
    max_tokens: Option<u32>,
    first_turn: u32,
}

/// What the timing mode did that it must not do.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum TimingFault {
    /// A session number was used twice.
    #[error("session {0} was started twice")]
    StartedTwice(u64),
    /// A root that isn't there.
    #[error("conversation {0} was asked for; the dataset has {1}")]
    NoSuchRoot(u32, usize),
    /// A turn of a session that isn't running, or a turn that it doesn't have.
    #[error("turn {1} of session {0} was asked for, which can't be sent")]
    NoSuchTurn(u64, u32),
    /// Slots per tree are not there yet.
    #[error("session {0} belongs to a tree of conversations, which is not supported yet")]
    Tree(u64),
    /// It asks for more and more while nothing can be sent.
    #[error("more than {MAX_PENDING} turns were asked for and cannot be sent yet")]
    TooMany,
    /// Nothing is in flight or due, and nothing was asked for.
    #[error("nothing is in flight, and the timing mode asks for nothing more")]
    Stalled,
}

/// A phase.
pub struct PhaseState<S> {
    setup: PhaseSetup,
    roots: RootTurns,
    sampler: S,
    due: BinaryHeap<Reverse<Due>>,
    waiting: VecDeque<(u64, PendingStart)>,
    sequence: u64,
    sessions: FxHashMap<u64, Session>,
    in_flight: FxHashMap<u64, (u64, u32)>,
    slots: Slots,
    sent: Sent,
    counts: PhaseCounts,
    next_url: u32,
    closed: bool,
    done: bool,
    grace_fired: bool,
    events: Vec<Event>,
    notes: Vec<String>,
    next_wake_ns: Option<u64>,
}

impl<S: FnMut() -> u32> PhaseState<S> {
    /// A phase that has just started. `sampler` gives the next root.
    pub fn new(setup: PhaseSetup, roots: RootTurns, sampler: S) -> Self {
        Self {
            slots: Slots::new(setup.concurrency),
            next_wake_ns: Some(setup.start_ns),
            setup,
            roots,
            sampler,
            due: BinaryHeap::new(),
            waiting: VecDeque::new(),
            sequence: 0,
            sessions: FxHashMap::default(),
            in_flight: FxHashMap::default(),
            sent: Sent::default(),
            counts: PhaseCounts::default(),
            next_url: 0,
            closed: false,
            done: false,
            grace_fired: false,
            events: Vec::new(),
            notes: Vec::new(),
        }
    }

    /// Takes what the timing mode asked for.
    ///
    /// # Errors
    /// When it asked for something impossible.
    pub fn ask(&mut self, actions: Vec<Action>, next_wake_ns: Option<u64>) -> Result<(), TimingFault> {
        self.next_wake_ns = next_wake_ns;
        for action in actions {
            match action {
                Action::Start {
                    session,
                    pick,
                    at_ns,
                    on_full,
                    max_turns,
                    max_tokens,
                    first_turn,
                    tree,
                } => {
                    if tree.is_some() {
                        return Err(TimingFault::Tree(session));
                    }
                    let root = match pick {
                        Pick::Next => None,
                        Pick::Index(index) => Some(index),
                    };
                    let start = PendingStart {
                        session,
                        root,
                        wait: on_full == OnFull::Wait,
                        max_turns,
                        max_tokens,
                        first_turn,
                    };
                    self.push(at_ns, What::Start(start));
                }
                Action::Continue { session, turn, at_ns } => self.push(at_ns, What::Continue { session, turn }),
                Action::Revoke { session } => self.revoke(session),
                Action::SetLimit {
                    kind: LimitKind::Sessions,
                    value,
                } => {
                    self.slots.set_limit(value);
                    self.events.push(Event::Limit {
                        kind: LimitKind::Sessions,
                        value: Some(value),
                    });
                }
                Action::SetLimit {
                    kind: LimitKind::Prefill,
                    ..
                } => {
                    self.events.push(Event::Limit {
                        kind: LimitKind::Prefill,
                        value: None,
                    });
                }
                Action::Note(line) => self.notes.push(line),
                Action::Done => self.done = true,
            }
        }
        if self.due.len() + self.waiting.len() > MAX_PENDING {
            return Err(TimingFault::TooMany);
        }
        Ok(())
    }

    fn push(&mut self, at_ns: u64, what: What) {
        self.sequence += 1;
        self.due.push(Reverse(Due {
            at_ns,
            sequence: self.sequence,
            what,
        }));
    }

    fn revoke(&mut self, session: u64) {
        self.due.retain(|Reverse(due)| match &due.what {
            What::Start(start) => start.session != session,
            What::Continue { session: other, .. } => *other != session,
        });
        self.waiting.retain(|(_, start)| start.session != session);
        let busy = self.in_flight.values().any(|(other, _)| *other == session);
        if !busy && self.sessions.remove(&session).is_some() {
            self.slots.give_back();
        }
    }

    /// Up to when the schedule is followed at `now_ns`: what is due until then is issued now, and sent when it is due.
    pub fn horizon(&self, now_ns: u64) -> u64 {
        now_ns.saturating_add(self.setup.lead_ns)
    }

    /// Issues what is due. Credits are appended to `out` in the order in which they are to be sent.
    ///
    /// # Errors
    /// When the timing mode asked for something impossible, or for nothing at all.
    pub fn fire(&mut self, now_ns: u64, out: &mut Vec<Credit>) -> Result<(), TimingFault> {
        let horizon_ns = self.horizon(now_ns);
        let elapsed = horizon_ns.saturating_sub(self.setup.start_ns);
        if self.setup.stop.duration_ns.is_some_and(|limit| elapsed >= limit) {
            self.close();
        }
        while !self.closed && !self.waiting.is_empty() && self.slots.try_take() {
            if let Some((at_ns, start)) = self.waiting.pop_front() {
                self.start(at_ns, start, now_ns, out)?;
            }
        }
        while !self.closed && self.due.peek().is_some_and(|Reverse(due)| due.at_ns <= horizon_ns) {
            let Some(Reverse(due)) = self.due.pop() else { break };
            match due.what {
                What::Start(start) => {
                    if !self.setup.stop.may_start(self.sent, elapsed) {
                        continue;
                    }
                    // Those who wait in line go first.
                    if self.waiting.is_empty() && self.slots.try_take() {
                        self.start(due.at_ns, start, now_ns, out)?;
                    } else if start.wait {
                        self.waiting.push_back((due.at_ns, start));
                    } else {
                        self.events.push(Event::Refused { session: start.session });
                    }
                }
                What::Continue { session, turn } => {
                    if self.setup.stop.may_send(self.sent, elapsed) {
                        self.issue(session, turn, due.at_ns, now_ns, out)?;
                    }
                }
            }
        }
        self.check_stalled()
    }

    fn start(
        &mut self,
        at_ns: u64,
        start: PendingStart,
        now_ns: u64,
        out: &mut Vec<Credit>,
    ) -> Result<(), TimingFault> {
        let elapsed = self.horizon(now_ns).saturating_sub(self.setup.start_ns);
        if !self.setup.stop.may_start(self.sent, elapsed) {
            self.slots.give_back();
            return Ok(());
        }
        if self.sessions.contains_key(&start.session) {
            return Err(TimingFault::StartedTwice(start.session));
        }
        let root = start.root.unwrap_or_else(|| (self.sampler)());
        let Some(turns) = self.roots.turns.get(root as usize) else {
            return Err(TimingFault::NoSuchRoot(root, self.roots.turns.len()));
        };
        let all = u32::try_from(turns.len()).unwrap_or(u32::MAX);
        let turns = start
            .max_turns
            .map_or(all, |limit| all.min(start.first_turn.saturating_add(limit)));
        if start.first_turn >= turns {
            return Err(TimingFault::NoSuchTurn(start.session, start.first_turn));
        }
        let session = Session {
            root,
            correlation_id: Uuid::new_v4().as_u128(),
            turns,
            url: self.next_url,
            max_tokens: start.max_tokens,
        };
        self.next_url = (self.next_url + 1) % self.setup.urls.max(1);
        self.sessions.insert(start.session, session);
        self.sent.sessions += 1;
        self.sent.planned_turns += u64::from(turns - start.first_turn);
        self.counts.sessions += 1;
        self.events.push(Event::Started {
            session: start.session,
            at_ns: now_ns,
            index: root,
            turns,
        });
        self.issue(start.session, start.first_turn, at_ns, now_ns, out)
    }

    fn issue(
        &mut self,
        session: u64,
        turn: u32,
        at_ns: u64,
        now_ns: u64,
        out: &mut Vec<Credit>,
    ) -> Result<(), TimingFault> {
        let Some(running) = self.sessions.get(&session).filter(|running| turn < running.turns) else {
            return Err(TimingFault::NoSuchTurn(session, turn));
        };
        let credit = Credit {
            id: self.counts.issued,
            phase: self.setup.index,
            session,
            correlation_id: running.correlation_id,
            conversation: self
                .roots
                .conversation
                .get(running.root as usize)
                .copied()
                .unwrap_or(running.root),
            turn,
            turns: running.turns,
            url: running.url,
            intended_ns: if at_ns == AT_ONCE { now_ns } else { at_ns },
            issued_ns: now_ns,
            max_tokens: running.max_tokens,
        };
        self.counts.issued += 1;
        self.sent.requests += 1;
        self.in_flight.insert(credit.id, (session, turn));
        out.push(credit);
        if self.setup.stop.exhausted(self.sent) {
            self.close();
        }
        Ok(())
    }

    /// A credit has come back. A number that isn't in flight is ignored: each credit ends once.
    pub fn on_return(&mut self, returned: &CreditReturn, now_ns: u64) {
        let Some((session, turn)) = self.in_flight.remove(&returned.id) else {
            return;
        };
        match (returned.outcome, returned.cancelled) {
            (Outcome::Completed, _) => self.counts.completed += 1,
            (Outcome::Failed, _) => self.counts.failed += 1,
            (Outcome::Cancelled, Some(CancelReason::Interrupt)) => self.counts.cancelled_interrupt += 1,
            (Outcome::Cancelled, Some(CancelReason::Abort)) => self.counts.cancelled_abort += 1,
            (Outcome::Cancelled, _) => self.counts.cancelled_grace += 1,
        }
        let Some(running) = self.sessions.get(&session) else {
            return;
        };
        let last = turn + 1 >= running.turns;
        let next = self
            .roots
            .turns
            .get(running.root as usize)
            .and_then(|turns| turns.get(turn as usize + 1))
            .copied();
        self.events.push(Event::Returned(Returned {
            session,
            turn,
            last,
            outcome: returned.outcome,
            at_ns: now_ns,
            latency_ns: returned.latency_ns,
            ttft_ns: returned.ttft_ns,
            tokens: returned.tokens,
        }));
        if last || self.closed || returned.outcome == Outcome::Cancelled {
            self.sessions.remove(&session);
            self.slots.give_back();
            self.events.push(Event::Ended { session, at_ns: now_ns });
        } else {
            let (timestamp_ms, delay_ms) = next.unwrap_or((None, None));
            self.events.push(Event::Ready {
                session,
                turn: turn + 1,
                at_ns: now_ns,
                delay_ms,
                timestamp_ms,
            });
        }
    }

    /// Stops sending; what was asked for and not sent is forgotten.
    pub fn close(&mut self) {
        if self.closed {
            return;
        }
        self.closed = true;
        self.due.clear();
        self.waiting.clear();
        // Sessions between two turns will not be continued.
        let in_flight = &self.in_flight;
        let busy: std::collections::HashSet<u64> = in_flight.values().map(|(session, _)| *session).collect();
        let slots = &mut self.slots;
        self.sessions.retain(|session, _| {
            let keep = busy.contains(session);
            if !keep {
                slots.give_back();
            }
            keep
        });
    }

    /// Credits to cancel because the grace period is over; each is named once.
    pub fn overdue(&mut self, now_ns: u64) -> Vec<u64> {
        match self.grace_end() {
            Some(end) if self.closed && !self.grace_fired && now_ns >= end => {
                self.grace_fired = true;
                self.in_flight()
            }
            _ => Vec::new(),
        }
    }

    /// Credits that have not come back.
    pub fn in_flight(&self) -> Vec<u64> {
        let mut ids: Vec<u64> = self.in_flight.keys().copied().collect();
        ids.sort_unstable();
        ids
    }

    /// When something is to be done if nothing happens before.
    pub fn next_deadline(&self) -> Option<u64> {
        if self.closed {
            return self.grace_end().filter(|_| !self.grace_fired);
        }
        let due = self.due.peek().map(|Reverse(due)| due.at_ns);
        let end = self
            .setup
            .stop
            .duration_ns
            .map(|limit| self.setup.start_ns.saturating_add(limit));
        let next = [due, end, self.next_wake_ns].into_iter().flatten().min();
        next.map(|at| at.saturating_sub(self.setup.lead_ns))
    }

    /// The timing mode has to be called: something happened, or it asked to be woken.
    pub fn wants_step(&self, now_ns: u64) -> bool {
        let woken = !self.done && self.next_wake_ns.is_some_and(|at| at <= self.horizon(now_ns));
        !self.closed && (woken || !self.events.is_empty())
    }

    /// What happened since the last call.
    pub fn take_events(&mut self) -> Vec<Event> {
        std::mem::take(&mut self.events)
    }

    /// No more credits will be issued.
    pub fn sending_complete(&self) -> bool {
        self.closed
    }

    /// Every credit has returned and none will be issued.
    pub fn is_complete(&self) -> bool {
        self.closed && self.in_flight.is_empty()
    }

    /// Counts so far.
    pub fn counts(&self) -> PhaseCounts {
        self.counts
    }

    /// Sessions that hold a slot.
    pub fn sessions_in_flight(&self) -> u32 {
        self.slots.used()
    }

    /// Lines of the timing mode's event log.
    pub fn take_notes(&mut self) -> Vec<String> {
        std::mem::take(&mut self.notes)
    }

    fn grace_end(&self) -> Option<u64> {
        let duration = self.setup.stop.duration_ns?;
        Some(
            self.setup
                .start_ns
                .saturating_add(duration)
                .saturating_add(self.setup.grace_ns?),
        )
    }

    fn check_stalled(&mut self) -> Result<(), TimingFault> {
        let idle = !self.closed && self.in_flight.is_empty() && self.due.is_empty() && self.events.is_empty();
        // With nothing in flight no slot will become free, so those who wait for one wait for ever.
        let wakes = !self.done && self.next_wake_ns.is_some();
        if idle && self.done && self.waiting.is_empty() {
            self.close();
        } else if idle && !wakes && self.setup.stop.duration_ns.is_none() {
            return Err(TimingFault::Stalled);
        }
        Ok(())
    }
}
