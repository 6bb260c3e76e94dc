//! Credits: permits to send.

use aiperf_plugin_api::timing::Outcome;
use serde::{Deserialize, Serialize};

/// A permit for one request. It ends exactly once, in one [`CreditReturn`].
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Credit {
    /// Number within the phase, from 0.
    pub id: u64,
    /// Position of the phase among all phases.
    pub phase: u32,
    /// Conversation instance, as the timing mode numbers it.
    pub session: u64,
    /// Identity of the conversation instance.
    pub correlation_id: u128,
    /// Index of the conversation in the dataset.
    pub conversation: u32,
    /// Turn to send, from 0.
    pub turn: u32,
    /// Turns that this instance will send in all; the last one has index `turns - 1`.
    pub turns: u32,
    /// Index of the base URL.
    pub url: u32,
    /// When the schedule wanted it to be sent.
    pub intended_ns: u64,
    /// When it was issued.
    pub issued_ns: u64,
    /// Replaces the turn's limit on output tokens.
    pub max_tokens: Option<u32>,
}

impl Credit {
    /// It is the conversation's last turn.
    pub fn is_last_turn(&self) -> bool {
        self.turn + 1 >= self.turns
    }
}

/// Why a credit was cancelled.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum CancelReason {
    /// The grace period was over.
    GracePeriod,
    /// The user interrupted the run.
    Interrupt,
    /// A service failed and the run was given up.
    Abort,
}

impl CancelReason {
    /// The name in reports.
    pub fn name(self) -> &'static str {
        match self {
            Self::GracePeriod => "grace_period",
            Self::Interrupt => "interrupt",
            Self::Abort => "abort",
        }
    }
}

/// How a credit ended.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct CreditReturn {
    /// The credit's number within its phase.
    pub id: u64,
    /// Its phase.
    pub phase: u32,
    /// The worker that had it.
    pub worker: u32,
    /// Completed, failed or cancelled.
    pub outcome: Outcome,
    /// Why it was cancelled.
    pub cancelled: Option<CancelReason>,
    /// From send to last content.
    pub latency_ns: Option<u64>,
    /// From send to first content.
    pub ttft_ns: Option<u64>,
    /// Output tokens as the server reports them.
    pub tokens: Option<u64>,
}
