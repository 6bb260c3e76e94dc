//! Timing: when to send. A timing mode is a state machine that is told the time and what happened, and answers with
//! actions; it never sleeps. All times are ns on the core's monotonic clock.

use crate::{Result, error::PluginError};

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
