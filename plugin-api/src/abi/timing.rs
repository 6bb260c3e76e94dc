//! How events and actions of timing modes cross: each as one flat record, whose `kind` says which fields hold.

use crate::{
    mirror::{Imported, Mirror},
    timing::{Action, Event, LimitKind, OnFull, Outcome, Pick, Returned, Step},
};

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
