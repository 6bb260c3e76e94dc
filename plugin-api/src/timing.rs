//! Timing: when to send. A timing mode is a state machine that is told the time and what happened, and answers with
//! actions; it never sleeps. All times are ns on the core's monotonic clock.

use crate::{
    Result,
    error::PluginError,
    mirror::{Imported, Mirror},
};

contract_enum! {
    /// How a request ended.
    pub enum Outcome: u8 {
        /// With a valid response.
        Completed = 0,
        /// With an error.
        Failed = 1,
        /// Revoked by the core.
        Cancelled = 2,
    } else Failed
}

contract_enum! {
    /// Limits that a timing mode may move.
    pub enum LimitKind: u8 {
        /// Concurrent conversations.
        Sessions = 0,
        /// Requests before their first token.
        Prefill = 1,
    } else Sessions
}

contract! {
    /// Turn metadata of the dataset as columns: conversation `i` has the turns `ends[i-1]..ends[i]`. Roots come first, and
    /// only they can be picked by `next`.
    #[derive(Default)]
    pub struct DatasetColumns / DatasetColumnsAbi {
        /// End of each conversation's turns.
        pub ends: Vec<u32>,
        /// Recorded time of each turn in ms; NaN where there is none.
        pub timestamps_ms: Vec<f64>,
        /// Delay of each turn in ms; NaN where there is none.
        pub delays_ms: Vec<f64>,
        /// Index of each conversation's parent, `u32::MAX` for roots; empty if all are roots.
        pub parents: Vec<u32>,
    }

    /// What a timing mode is started with.
    pub struct TimingPlan / TimingPlanAbi {
        /// Name of the phase.
        pub phase: String,
        /// It is a warmup.
        pub warmup: bool,
        /// Start of the phase.
        pub start_ns: u64,
        /// Requests per second, if the plan has a rate.
        pub rate: Option<f64>,
        /// Limit on concurrent conversations, if any.
        pub concurrency: Option<u32>,
        /// Limit on requests before their first token, if any.
        pub prefill_concurrency: Option<u32>,
        /// Stop after so many requests. The core enforces it.
        pub requests: Option<u64>,
        /// Stop starting conversations after so many. The core enforces it.
        pub sessions: Option<u64>,
        /// Stop sending after so long. The core enforces it.
        pub duration_ns: Option<u64>,
        /// The dataset's conversations.
        pub dataset: DatasetColumns,
        /// What the phase before left with [`Timing::state`], if it ran the same entry; else empty.
        pub state: String,
    }

    /// What happened to a request.
    pub struct Returned / ReturnedAbi {
        /// Conversation instance, as numbered by the timing mode.
        pub session: u64,
        /// Turn.
        pub turn: u32,
        /// It was the conversation's last turn.
        pub last: bool,
        /// How it ended.
        pub outcome: Outcome,
        /// When.
        pub at_ns: u64,
        /// From send to last content, if it completed.
        pub latency_ns: Option<u64>,
        /// From send to first content, if it completed.
        pub ttft_ns: Option<u64>,
        /// Output tokens as the server reports them.
        pub tokens: Option<u64>,
    }
}

/// What a timing mode is told.
#[derive(Debug, Clone, PartialEq)]
pub enum Event {
    /// A conversation got its slot and its first turn was sent.
    Started {
        /// Conversation instance.
        session: u64,
        /// When.
        at_ns: u64,
        /// Root conversation taken from the dataset.
        index: u32,
        /// Turns it will have.
        turns: u32,
    },
    /// A request came back.
    Returned(Returned),
    /// The next turn of a conversation may be sent: its predecessor returned and all joins are resolved.
    Ready {
        /// Conversation instance.
        session: u64,
        /// Turn.
        turn: u32,
        /// Since when.
        at_ns: u64,
        /// The dataset's think time.
        delay_ms: Option<f64>,
        /// The dataset's recorded time.
        timestamp_ms: Option<f64>,
    },
    /// A `Start` with [`OnFull::Refuse`] found no free slot.
    Refused {
        /// Conversation instance.
        session: u64,
    },
    /// A conversation is over, its slot is free.
    Ended {
        /// Conversation instance.
        session: u64,
        /// When.
        at_ns: u64,
    },
    /// A limit has a new value.
    Limit {
        /// Which.
        kind: LimitKind,
        /// Value; `None` is unlimited.
        value: Option<u32>,
    },
    /// The rate that the mode was started with has changed: a ramp or a rate series, which the core evaluates.
    Rate {
        /// When.
        at_ns: u64,
        /// Requests per second.
        rate: f64,
    },
}

/// Which conversation to start.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Pick {
    /// The sampler's next one.
    Next,
    /// Root conversation of this index.
    Index(u32),
}

/// What to do when no slot is free at the time of a `Start`.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum OnFull {
    /// Wait in line; first come, first served.
    Wait,
    /// Don't start; say [`Event::Refused`].
    Refuse,
}

/// The time of an [`Action`] that follows no schedule: as soon as possible. Its intended time is when it is sent.
pub const AT_ONCE: u64 = 0;

/// What a timing mode asks for. `at_ns` may lie in the future: the core fires it then without another call, and it is the
/// intended time of the record, unless it is [`AT_ONCE`].
#[derive(Debug, Clone, PartialEq)]
pub enum Action {
    /// Start a conversation.
    Start {
        /// Number of the new conversation instance; never used before in this phase.
        session: u64,
        /// Which conversation.
        pick: Pick,
        /// When.
        at_ns: u64,
        /// What if no slot is free.
        on_full: OnFull,
        /// Truncates the conversation to so many turns.
        max_turns: Option<u32>,
        /// Replaces the limit on output tokens.
        max_tokens: Option<u32>,
        /// First turn to send (replays that begin in the middle).
        first_turn: u32,
        /// Conversations of one tree share a slot, held from the first start to the last end among them.
        tree: Option<u64>,
    },
    /// Send the next turn of a conversation.
    Continue {
        /// Conversation instance.
        session: u64,
        /// Turn.
        turn: u32,
        /// When.
        at_ns: u64,
    },
    /// Forget what was asked for a conversation and has not been sent; ends it.
    Revoke {
        /// Conversation instance.
        session: u64,
    },
    /// Move a limit.
    SetLimit {
        /// Which.
        kind: LimitKind,
        /// Value.
        value: u32,
    },
    /// A line of JSON for the phase's event log (adaptive modes).
    Note(String),
    /// Nothing more will be asked for.
    Done,
}

impl Action {
    /// Starts the sampler's next conversation, whole; it waits in line if no slot is free.
    pub fn start(session: u64, at_ns: u64) -> Self {
        Self::Start {
            session,
            pick: Pick::Next,
            at_ns,
            on_full: OnFull::Wait,
            max_turns: None,
            max_tokens: None,
            first_turn: 0,
            tree: None,
        }
    }
}

/// Answer of a step.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct Step {
    /// Actions in order.
    pub actions: Vec<Action>,
    /// When to call again if nothing happens; `None` means only on events.
    pub next_wake_ns: Option<u64>,
}

/// A timing mode, an arrival pattern (`kind: arrival`) or a ramp (`kind: ramp`), as the entry's metadata says.
pub trait Timing: Send {
    /// Starts a phase.
    ///
    /// # Errors
    /// When the plan or the dataset lacks what the mode needs.
    fn start(&mut self, plan: &TimingPlan) -> Result<()> {
        let _ = plan;
        Err(PluginError::unsupported("start"))
    }

    /// Time has passed or something has happened.
    ///
    /// # Errors
    /// Ends the run.
    fn step(&mut self, now_ns: u64, events: &[Event]) -> Result<Step> {
        let _ = (now_ns, events);
        Err(PluginError::unsupported("step"))
    }

    /// What the next phase of the same entry is to know, asked for once the phase has ended.
    ///
    /// # Errors
    /// Ends the run.
    fn state(&self) -> Result<String> {
        Ok(String::new())
    }

    /// Arrival patterns: the next `count` intervals in ns at `rate` per second.
    ///
    /// # Errors
    /// When the entry is no arrival pattern.
    fn intervals(&mut self, rate: f64, count: u32) -> Result<Vec<u64>> {
        let _ = (rate, count);
        Err(PluginError::unsupported("intervals"))
    }

    /// Ramps: the share of the target (0 to 1) reached at `progress` (0 to 1) of the ramp's time.
    ///
    /// # Errors
    /// When the entry is no ramp.
    fn value_at(&self, progress: f64) -> Result<f64> {
        let _ = progress;
        Err(PluginError::unsupported("value_at"))
    }
}

contract! {
    /// [`Event`] as one flat record; `kind` says which fields hold.
    pub struct FlatEvent / FlatEventAbi {
        /// 0 started, 1 returned, 2 ready, 3 refused, 4 ended, 5 limit, 6 rate.
        pub kind: u8,
        /// Conversation instance.
        pub session: u64,
        /// Turn; root index for `started`; limit code for `limit`.
        pub turn: u32,
        /// Turns of the conversation, or a limit's value.
        pub count: u32,
        /// `last` of a return; a limit that is set.
        pub flag: bool,
        /// [`Outcome`] of a return.
        pub outcome: Outcome,
        /// When.
        pub at_ns: u64,
        /// Latency of a return.
        pub latency_ns: Option<u64>,
        /// TTFT of a return.
        pub ttft_ns: Option<u64>,
        /// Tokens of a return.
        pub tokens: Option<u64>,
        /// Delay of a ready turn.
        pub delay_ms: Option<f64>,
        /// Timestamp of a ready turn.
        pub timestamp_ms: Option<f64>,
        /// New rate.
        pub rate: Option<f64>,
    }

    /// [`Action`] as one flat record; `kind` says which fields hold.
    pub struct FlatAction / FlatActionAbi {
        /// 0 start, 1 continue, 2 revoke, 3 set limit, 4 note, 5 done.
        pub kind: u8,
        /// Conversation instance.
        pub session: u64,
        /// Turn; first turn of a start; limit code.
        pub turn: u32,
        /// Root index of a start with a pick; a limit's value.
        pub value: Option<u32>,
        /// When.
        pub at_ns: u64,
        /// A start that is refused when full.
        pub refuse: bool,
        /// See [`Action::Start`].
        pub tree: Option<u64>,
        /// See [`Action::Start`].
        pub max_turns: Option<u32>,
        /// See [`Action::Start`].
        pub max_tokens: Option<u32>,
        /// Text of a note.
        pub text: String,
    }

    /// [`Step`] as it crosses.
    pub struct FlatStep / FlatStepAbi {
        /// Actions.
        pub actions: Vec<FlatAction>,
        /// Next wake.
        pub next_wake_ns: Option<u64>,
    }
}

impl From<Event> for FlatEvent {
    fn from(event: Event) -> Self {
        let mut flat = Self {
            kind: 0,
            session: 0,
            turn: 0,
            count: 0,
            flag: false,
            outcome: Outcome::Completed,
            at_ns: 0,
            latency_ns: None,
            ttft_ns: None,
            tokens: None,
            delay_ms: None,
            timestamp_ms: None,
            rate: None,
        };
        match event {
            Event::Started {
                session,
                at_ns,
                index,
                turns,
            } => {
                (flat.session, flat.at_ns, flat.turn, flat.count) = (session, at_ns, index, turns);
            }
            Event::Returned(returned) => {
                flat.kind = 1;
                (flat.session, flat.turn, flat.flag) = (returned.session, returned.turn, returned.last);
                (flat.outcome, flat.at_ns) = (returned.outcome, returned.at_ns);
                (flat.latency_ns, flat.ttft_ns, flat.tokens) = (returned.latency_ns, returned.ttft_ns, returned.tokens);
            }
            Event::Ready {
                session,
                turn,
                at_ns,
                delay_ms,
                timestamp_ms,
            } => {
                flat.kind = 2;
                (flat.session, flat.turn, flat.at_ns) = (session, turn, at_ns);
                (flat.delay_ms, flat.timestamp_ms) = (delay_ms, timestamp_ms);
            }
            Event::Refused { session } => (flat.kind, flat.session) = (3, session),
            Event::Ended { session, at_ns } => (flat.kind, flat.session, flat.at_ns) = (4, session, at_ns),
            Event::Limit { kind, value } => {
                (flat.kind, flat.turn) = (5, u32::from(kind.code()));
                (flat.flag, flat.count) = (value.is_some(), value.unwrap_or(0));
            }
            Event::Rate { at_ns, rate } => (flat.kind, flat.at_ns, flat.rate) = (6, at_ns, Some(rate)),
        }
        flat
    }
}

impl From<FlatEvent> for Event {
    fn from(flat: FlatEvent) -> Self {
        match flat.kind {
            0 => Self::Started {
                session: flat.session,
                at_ns: flat.at_ns,
                index: flat.turn,
                turns: flat.count,
            },
            1 => Self::Returned(Returned {
                session: flat.session,
                turn: flat.turn,
                last: flat.flag,
                outcome: flat.outcome,
                at_ns: flat.at_ns,
                latency_ns: flat.latency_ns,
                ttft_ns: flat.ttft_ns,
                tokens: flat.tokens,
            }),
            2 => Self::Ready {
                session: flat.session,
                turn: flat.turn,
                at_ns: flat.at_ns,
                delay_ms: flat.delay_ms,
                timestamp_ms: flat.timestamp_ms,
            },
            3 => Self::Refused { session: flat.session },
            4 => Self::Ended {
                session: flat.session,
                at_ns: flat.at_ns,
            },
            6 => Self::Rate {
                at_ns: flat.at_ns,
                rate: flat.rate.unwrap_or(0.0),
            },
            _ => Self::Limit {
                kind: LimitKind::from_code(u8::try_from(flat.turn).unwrap_or(0)),
                value: flat.flag.then_some(flat.count),
            },
        }
    }
}

impl From<Action> for FlatAction {
    fn from(action: Action) -> Self {
        let mut flat = Self {
            kind: 0,
            session: 0,
            turn: 0,
            value: None,
            at_ns: 0,
            refuse: false,
            tree: None,
            max_turns: None,
            max_tokens: None,
            text: String::new(),
        };
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
                flat.tree = tree;
                (flat.session, flat.at_ns, flat.turn) = (session, at_ns, first_turn);
                flat.value = match pick {
                    Pick::Next => None,
                    Pick::Index(index) => Some(index),
                };
                flat.refuse = on_full == OnFull::Refuse;
                (flat.max_turns, flat.max_tokens) = (max_turns, max_tokens);
            }
            Action::Continue { session, turn, at_ns } => {
                (flat.kind, flat.session, flat.turn, flat.at_ns) = (1, session, turn, at_ns);
            }
            Action::Revoke { session } => (flat.kind, flat.session) = (2, session),
            Action::SetLimit { kind, value } => {
                (flat.kind, flat.turn, flat.value) = (3, u32::from(kind.code()), Some(value));
            }
            Action::Note(text) => (flat.kind, flat.text) = (4, text),
            Action::Done => flat.kind = 5,
        }
        flat
    }
}

impl From<FlatAction> for Action {
    fn from(flat: FlatAction) -> Self {
        match flat.kind {
            0 => Self::Start {
                session: flat.session,
                pick: flat.value.map_or(Pick::Next, Pick::Index),
                at_ns: flat.at_ns,
                on_full: if flat.refuse { OnFull::Refuse } else { OnFull::Wait },
                max_turns: flat.max_turns,
                max_tokens: flat.max_tokens,
                first_turn: flat.turn,
                tree: flat.tree,
            },
            1 => Self::Continue {
                session: flat.session,
                turn: flat.turn,
                at_ns: flat.at_ns,
            },
            2 => Self::Revoke { session: flat.session },
            3 => Self::SetLimit {
                kind: LimitKind::from_code(u8::try_from(flat.turn).unwrap_or(0)),
                value: flat.value.unwrap_or(0),
            },
            4 => Self::Note(flat.text),
            _ => Self::Done,
        }
    }
}

impl Mirror for Event {
    type Abi = FlatEventAbi;
    fn into_abi(self) -> FlatEventAbi {
        FlatEvent::from(self).into_abi()
    }
    fn from_abi(abi: FlatEventAbi) -> Imported<Self> {
        FlatEvent::from_abi(abi).map(Self::from)
    }
}

impl Mirror for Step {
    type Abi = FlatStepAbi;
    fn into_abi(self) -> FlatStepAbi {
        FlatStep {
            actions: self.actions.into_iter().map(FlatAction::from).collect(),
            next_wake_ns: self.next_wake_ns,
        }
        .into_abi()
    }
    fn from_abi(abi: FlatStepAbi) -> Imported<Self> {
        let flat = FlatStep::from_abi(abi)?;
        Ok(Self {
            actions: flat.actions.into_iter().map(Action::from).collect(),
            next_wake_ns: flat.next_wake_ns,
        })
    }
}
