//! What is sent: synthetic conversations or those of a file, and what counts their tokens.

use std::path::PathBuf;

use serde::{Deserialize, Serialize};

/// What counts tokens and makes text of a given length.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum TokenizerChoice {
    /// The built-in `o200k_base`; needs no file.
    Builtin,
    /// A tokenizer file, or a directory that holds one.
    Path(PathBuf),
    /// A model name, looked up in the local model cache.
    ModelCache(String),
    /// No tokenizer: only the server counts.
    None,
}

/// What is sent and in which order.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct DatasetPlan {
    /// Where conversations come from.
    pub source: DatasetSource,
    /// The order in which conversations are taken.
    pub sampling: Sampling,
}

/// Where conversations come from.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum DatasetSource {
    /// Generated text.
    Synthetic {
        /// Conversations to generate, at least 1.
        entries: u32,
        /// Input tokens per turn.
        isl: NormalSpec,
        /// Output tokens to ask for; `None` = the request names no limit.
        osl: Option<NormalSpec>,
        /// Turns per conversation.
        turns: NormalSpec,
        /// Think time before every turn but the first, in milliseconds, before scaling.
        turn_delay_ms: NormalSpec,
        /// Factor on all think times.
        turn_delay_ratio: f64,
    },
    /// A file or directory of conversations.
    File {
        /// Where it lies; it existed when the plan was made.
        path: PathBuf,
        /// Dataset plugin that reads it, in lower case with underscores; `None` = detect.
        format: Option<String>,
        /// Number of entries to build, for formats that draw entries from a pool; others send all they hold.
        entries: Option<u32>,
        /// Output tokens to ask for in rows that name none.
        osl: Option<NormalSpec>,
    },
}

/// A normal distribution; `stddev` 0 is a constant.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
pub struct NormalSpec {
    /// Mean.
    pub mean: f64,
    /// Standard deviation, at least 0.
    pub stddev: f64,
}

impl NormalSpec {
    /// A constant.
    #[must_use]
    pub const fn constant(mean: f64) -> Self {
        Self { mean, stddev: 0.0 }
    }
}

/// The order in which conversations are taken from a dataset.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Sampling {
    /// In order, from the start again after the end.
    Sequential,
    /// At random with replacement.
    Random,
    /// In a random order without replacement, shuffled again on each pass.
    Shuffle,
}

impl Sampling {
    /// The name as written in the configuration.
    #[must_use]
    pub fn name(self) -> &'static str {
        match self {
            Self::Sequential => "sequential",
            Self::Random => "random",
            Self::Shuffle => "shuffle",
        }
    }
}
