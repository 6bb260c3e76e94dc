//! One run of the virtual engine.

use std::collections::{BTreeMap, BTreeSet, VecDeque};

use aiperf_plugin_api::{
    PluginError, Result, Timing,
    timing::{AT_ONCE, Action, Event, LimitKind, OnFull, Outcome, Pick, Returned, Step},
};

use super::engine::{Reply, Run, Sent, VirtualEngine};

/// Steps at one time after which the timing mode is taken to loop.
const STEPS_AT_ONE_TIME: u32 = 100_000;

struct Start {
    session: u64,
    at_ns: u64,
    pick: Pick,
    wait: bool,
    max_turns: Option<u32>,
    max_tokens: Option<u32>,
    first_turn: u32,
    tree: Option<u64>,
}

enum Due {
    Start(Start),
    Continue { session: u64, turn: u32, at_ns: u64 },
}

struct Session {
    index: u32,
    turns: u32,
    max_tokens: Option<u32>,
    tree: Option<u64>,
    busy: bool,
}

/// Slots in use: one per conversation, one for all of a tree.
fn slots_used(sessions: &BTreeMap<u64, Session>) -> u32 {
    let trees: BTreeSet<u64> = sessions.values().filter_map(|session| session.tree).collect();
    let alone = sessions.values().filter(|session| session.tree.is_none());
    (alone.count() + trees.len()) as u32
}

/// There is a slot for a conversation of this tree: a free one, or the tree's own.
fn has_slot(slots: Option<u32>, sessions: &BTreeMap<u64, Session>, tree: Option<u64>) -> bool {
    let of_tree = tree.is_some() && sessions.values().any(|session| session.tree == tree);
    of_tree || slots.is_none_or(|slots| slots_used(sessions) < slots)
}

pub(super) struct Machine<'a> {
    engine: &'a mut VirtualEngine,
    run: Run,
    now_ns: u64,
    wake_ns: Option<u64>,
    events: Vec<Event>,
    /// By time, then order of asking.
    due: BTreeMap<(u64, u64), Due>,
    /// By time of return, then order of sending.
    flying: BTreeMap<(u64, u64), (Sent, Reply)>,
    waiting: VecDeque<Start>,
    sessions: BTreeMap<u64, Session>,
    slots: Option<u32>,
    sampled: u32,
    sequence: u64,
    started: u64,
    /// Turns that the started conversations have in all.
    planned: u64,
    rates: VecDeque<(u64, f64)>,
    closed: bool,
    done: bool,
}

impl<'a> Machine<'a> {
    pub(super) fn new(engine: &'a mut VirtualEngine) -> Self {
        let start_ns = engine.plan.start_ns;
        Self {
            run: Run::default(),
            now_ns: start_ns,
            wake_ns: Some(start_ns),
            events: Vec::new(),
            due: BTreeMap::new(),
            flying: BTreeMap::new(),
            waiting: VecDeque::new(),
            sessions: BTreeMap::new(),
            slots: engine.plan.concurrency,
            sampled: 0,
            sequence: 0,
            started: 0,
            planned: 0,
            rates: engine.rates.iter().copied().collect(),
            closed: false,
            done: false,
            engine,
        }
    }

    pub(super) fn run(mut self, timing: &mut dyn Timing) -> Result<Run> {
        let mut steps_now = 0;
        loop {
            self.land();
            self.change_rate();
            let stop_ns = self.stop_ns();
            if stop_ns.is_some_and(|stop_ns| stop_ns <= self.now_ns) {
                self.close();
            }
            self.fire()?;
            if self.wants_step() {
                steps_now += 1;
                if steps_now > STEPS_AT_ONE_TIME {
                    return Err(PluginError::failed(format!("time stands still at {} ns", self.now_ns)));
                }
                let events = std::mem::take(&mut self.events);
                self.run.steps += 1;
                let step = timing.step(self.now_ns, &events)?;
                self.ask(step);
                continue;
            }
            let landing = self.flying.keys().next().map(|&(at_ns, _)| at_ns);
            let next_ns = if self.closed {
                landing
            } else {
                let due = self.due.keys().next().map(|&(at_ns, _)| at_ns);
                let wake = self.wake_ns.filter(|_| !self.done);
                let rate = self.rates.front().map(|&(at_ns, _)| at_ns);
                [landing, due, wake, rate, stop_ns].into_iter().flatten().min()
            };
            match next_ns {
                Some(next_ns) => {
                    steps_now = 0;
                    self.now_ns = self.now_ns.max(next_ns);
                }
                None if self.closed || self.done => {
                    self.run.end_ns = self.now_ns;
                    return Ok(self.run);
                }
                None => {
                    return Err(PluginError::failed(format!(
                        "nothing is in flight at {} ns, and the timing mode asks for nothing more",
                        self.now_ns
                    )));
                }
            }
        }
    }

    fn wants_step(&self) -> bool {
        !self.closed
            && !self.done
            && (!self.events.is_empty() || self.wake_ns.is_some_and(|at_ns| at_ns <= self.now_ns))
    }

    fn stop_ns(&self) -> Option<u64> {
        let plan = &self.engine.plan;
        plan.duration_ns.map(|duration| plan.start_ns.saturating_add(duration))
    }

    fn ask(&mut self, step: Step) {
        self.wake_ns = step.next_wake_ns;
        for action in step.actions {
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
                } => self.push(
                    at_ns,
                    Due::Start(Start {
                        session,
                        at_ns,
                        pick,
                        wait: on_full == OnFull::Wait,
                        max_turns,
                        max_tokens,
                        first_turn,
                        tree,
                    }),
                ),
                Action::Continue { session, turn, at_ns } => self.push(at_ns, Due::Continue { session, turn, at_ns }),
                Action::Revoke { session } => self.revoke(session),
                Action::SetLimit { kind, value } => {
                    self.run.limits.push((self.now_ns, kind, value));
                    if kind == LimitKind::Sessions {
                        self.slots = Some(value);
                    }
                    let value = Some(value);
                    self.events.push(Event::Limit { kind, value });
                }
                Action::Note(text) => self.run.notes.push(text),
                Action::Done => self.done = true,
            }
        }
    }

    fn push(&mut self, at_ns: u64, due: Due) {
        self.sequence += 1;
        self.due.insert((at_ns, self.sequence), due);
    }

    fn revoke(&mut self, session: u64) {
        self.waiting.retain(|start| start.session != session);
        self.due.retain(|_, due| match due {
            Due::Start(start) => start.session != session,
            Due::Continue { session: other, .. } => *other != session,
        });
        if self.sessions.get(&session).is_some_and(|running| !running.busy) {
            self.end(session);
        }
    }

    fn change_rate(&mut self) {
        while let Some(&(at_ns, rate)) = self.rates.front()
            && at_ns <= self.now_ns
        {
            self.rates.pop_front();
            self.events.push(Event::Rate { at_ns, rate });
        }
    }

    /// Sends what is due, those who wait in line first.
    fn fire(&mut self) -> Result<()> {
        while !self.closed
            && let Some(start) = self
                .waiting
                .pop_front_if(|start| has_slot(self.slots, &self.sessions, start.tree))
        {
            self.start(start)?;
        }
        while !self.closed
            && let Some(entry) = self.due.first_entry()
            && entry.key().0 <= self.now_ns
        {
            match entry.remove() {
                Due::Start(start) if self.may_start() => {
                    if self.waiting.is_empty() && has_slot(self.slots, &self.sessions, start.tree) {
                        self.start(start)?;
                    } else if start.wait {
                        self.waiting.push_back(start);
                    } else {
                        self.run.refused += 1;
                        let session = start.session;
                        self.events.push(Event::Refused { session });
                    }
                }
                Due::Start(_) => {}
                Due::Continue { session, turn, at_ns } => self.send(session, turn, at_ns)?,
            }
        }
        Ok(())
    }

    fn may_start(&self) -> bool {
        self.engine.plan.sessions.is_none_or(|sessions| self.started < sessions)
    }

    fn start(&mut self, start: Start) -> Result<()> {
        if !self.may_start() {
            return Ok(());
        }
        let session = start.session;
        if self.sessions.contains_key(&session) {
            return Err(PluginError::failed(format!("session {session} was started twice")));
        }
        let roots = self.engine.conversations.len() as u32;
        let index = match start.pick {
            Pick::Index(index) => index,
            Pick::Next => {
                self.sampled += 1;
                (self.sampled - 1) % roots.max(1)
            }
        };
        let Some(turns) = self.engine.conversations.get(index as usize) else {
            return Err(PluginError::failed(format!(
                "conversation {index} was asked for; there are {roots}"
            )));
        };
        let all = turns.len() as u32;
        let turns = start
            .max_turns
            .map_or(all, |limit| all.min(start.first_turn.saturating_add(limit)));
        self.sessions.insert(
            session,
            Session {
                index,
                turns,
                max_tokens: start.max_tokens,
                tree: start.tree,
                busy: false,
            },
        );
        self.started += 1;
        self.planned += u64::from(turns.saturating_sub(start.first_turn));
        self.events.push(Event::Started {
            session,
            at_ns: self.now_ns,
            index,
            turns,
        });
        self.send(session, start.first_turn, start.at_ns)
    }

    fn send(&mut self, session: u64, turn: u32, intended_ns: u64) -> Result<()> {
        let in_flight = self.flying.len() as u32 + 1;
        let sessions = slots_used(&self.sessions);
        let Some(running) = self
            .sessions
            .get_mut(&session)
            .filter(|running| turn < running.turns && !running.busy)
        else {
            return Err(PluginError::failed(format!(
                "turn {turn} of session {session} can't be sent"
            )));
        };
        running.busy = true;
        let sent = Sent {
            session,
            index: running.index,
            turn,
            last: turn + 1 == running.turns,
            intended_ns: if intended_ns == AT_ONCE {
                self.now_ns
            } else {
                intended_ns
            },
            at_ns: self.now_ns,
            max_tokens: running.max_tokens,
            in_flight,
            sessions,
        };
        let reply = (self.engine.server)(&sent);
        self.sequence += 1;
        let return_ns = self.now_ns.saturating_add(reply.latency_ns);
        self.flying.insert((return_ns, self.sequence), (sent, reply));
        self.run.sent.push(sent);
        let requests = self.run.sent.len() as u64;
        let plan = &self.engine.plan;
        let all_sent = plan.requests.is_some_and(|limit| requests >= limit)
            || plan
                .sessions
                .is_some_and(|limit| self.started >= limit && requests >= self.planned);
        if all_sent {
            self.close();
        }
        Ok(())
    }

    /// Nothing more is sent.
    fn close(&mut self) {
        self.closed = true;
        self.due.clear();
        self.waiting.clear();
        self.events.clear();
    }

    /// Takes back the requests that have returned.
    fn land(&mut self) {
        while let Some(entry) = self.flying.first_entry()
            && entry.key().0 <= self.now_ns
        {
            let (sent, reply) = entry.remove();
            self.returned(sent, reply);
        }
    }

    fn returned(&mut self, sent: Sent, reply: Reply) {
        let Some(running) = self.sessions.get_mut(&sent.session) else {
            return;
        };
        running.busy = false;
        let completed = reply.outcome == Outcome::Completed;
        self.events.push(Event::Returned(Returned {
            session: sent.session,
            turn: sent.turn,
            last: sent.last,
            outcome: reply.outcome,
            at_ns: self.now_ns,
            latency_ns: completed.then_some(reply.latency_ns),
            ttft_ns: reply.ttft_ns.filter(|_| completed),
            tokens: reply.tokens.filter(|_| completed),
        }));
        if sent.last || self.closed || reply.outcome == Outcome::Cancelled {
            self.end(sent.session);
            return;
        }
        let turns = self.engine.conversations.get(sent.index as usize);
        let next = turns.and_then(|turns| turns.get(sent.turn as usize + 1));
        let next = next.copied().unwrap_or_default();
        self.events.push(Event::Ready {
            session: sent.session,
            turn: sent.turn + 1,
            at_ns: self.now_ns,
            delay_ms: next.delay_ms,
            timestamp_ms: next.timestamp_ms,
        });
    }

    fn end(&mut self, session: u64) {
        self.sessions.remove(&session);
        self.events.push(Event::Ended {
            session,
            at_ns: self.now_ns,
        });
    }
}
