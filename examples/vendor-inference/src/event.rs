//! What the servers of Acme say, one JSON object per event. A whole response is one object of the kind `answer`.
//!
//! ```text
//! {"kind": "thought", "text": "Hm."}
//! {"kind": "delta", "text": "Hel"}
//! {"kind": "end", "reason": "stop", "counts": {"prompt": 12, "generated": 5}}
//! {"kind": "error", "code": 429, "message": "too many requests"}
//! {"kind": "answer", "text": "Hello", "reason": "stop", "counts": {"prompt": 12, "generated": 1}}
//! ```

use aiperf_sdk::prelude::*;

/// An event. Fields that are not known are ignored, so that a newer server does no harm.
#[derive(Debug, Clone, PartialEq, serde::Deserialize)]
#[serde(tag = "kind", rename_all = "snake_case")]
pub enum Event {
    /// Reasoning.
    Thought {
        /// A piece of text.
        text: String,
    },
    /// Output.
    Delta {
        /// A piece of text.
        text: String,
    },
    /// The last event of a stream.
    End(End),
    /// A response in one piece.
    Answer {
        /// All of the output.
        text: String,
        /// Why the model stopped.
        reason: Option<String>,
        /// Token counts.
        counts: Option<Counts>,
    },
    /// A failure, though the status was 200.
    Error {
        /// Like an HTTP status.
        code: Option<u16>,
        /// What happened.
        message: String,
    },
    /// A kind that this plugin does not know.
    #[serde(other)]
    Unknown,
}

/// The end of a response.
#[derive(Debug, Clone, PartialEq, Eq, serde::Deserialize)]
pub struct End {
    /// Why the model stopped.
    pub reason: Option<String>,
    /// Token counts.
    pub counts: Option<Counts>,
}

/// Token counts. What the server leaves out is not known; it is not 0.
#[derive(Debug, Clone, Copy, PartialEq, Eq, serde::Deserialize)]
pub struct Counts {
    /// Of the prompt.
    pub prompt: Option<u64>,
    /// Of the output, thoughts included.
    pub generated: Option<u64>,
}

impl From<Counts> for Usage {
    fn from(counts: Counts) -> Self {
        Self {
            prompt: counts.prompt,
            completion: counts.generated,
            ..Self::default()
        }
    }
}
