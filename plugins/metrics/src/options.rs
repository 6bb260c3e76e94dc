//! What the core tells every metric entry about the run, and the options of the user.

use std::collections::BTreeMap;

use aiperf_sdk::{
    MetricSpec, Result,
    metric::flags,
    package::{NoOptions, Open},
};
use serde::Deserialize;

/// What a built-in family is opened with. What is absent leaves every metric in.
#[derive(Debug, Clone, Deserialize)]
#[serde(default)]
pub(crate) struct Options {
    /// Responses are streamed.
    pub(crate) streaming: bool,
    /// The endpoint produces tokens.
    pub(crate) produces_tokens: bool,
    /// The endpoint tokenizes its input.
    pub(crate) tokenizes_input: bool,
    /// Token counts are the server's, so comparing them with the server's says nothing.
    pub(crate) use_server_token_count: bool,
    /// Service level objectives: metric tag to threshold in the display unit.
    pub(crate) slos: BTreeMap<String, f64>,
    /// The metrics of the run's other families.
    pub(crate) catalogue: Vec<MetricSpec>,
    /// When an output length counts as another one than was asked for. The user's.
    #[serde(skip)]
    pub(crate) osl_mismatch: OslMismatch,
}

/// An output length mismatches when it differs by more than the smaller of the two.
#[derive(Debug, Clone, Copy, PartialEq, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub(crate) struct OslMismatch {
    /// Percent of the requested length.
    pub(crate) pct: f64,
    /// Tokens.
    pub(crate) max_tokens: f64,
}

impl Default for OslMismatch {
    fn default() -> Self {
        Self {
            pct: 5.0,
            max_tokens: 50.0,
        }
    }
}

impl Default for Options {
    fn default() -> Self {
        Self {
            streaming: true,
            produces_tokens: true,
            tokenizes_input: true,
            use_server_token_count: false,
            slos: BTreeMap::new(),
            catalogue: Vec::new(),
            osl_mismatch: OslMismatch::default(),
        }
    }
}

/// The user's options of `length`.
#[derive(Debug, Default, Deserialize)]
#[serde(default, deny_unknown_fields)]
struct LengthOptions {
    osl_mismatch: OslMismatch,
}

impl Options {
    /// Reads what the core passes and the user's options; only `length` has any.
    pub(crate) fn of(open: &Open) -> Result<Self> {
        let mut options: Self = open.core()?;
        if open.entry == "length" {
            let LengthOptions { osl_mismatch } = open.options()?;
            options.osl_mismatch = osl_mismatch;
        } else {
            let NoOptions {} = open.options()?;
        }
        Ok(options)
    }

    /// What a metric of these flags lacks in this run; `None` if it applies.
    pub(crate) fn lacks(&self, flags: u64) -> Option<&'static str> {
        let has = |flag| flags & flag != 0;
        if has(flags::STREAMING) && !self.streaming {
            Some("it needs a streaming run")
        } else if has(flags::PRODUCES_TOKENS) && !self.produces_tokens {
            Some("the endpoint produces no tokens")
        } else if has(flags::TOKENIZES_INPUT) && !self.tokenizes_input {
            Some("the endpoint does not tokenize its input")
        } else if has(flags::NO_SERVER_COUNTS) && self.use_server_token_count {
            Some("token counts come from the server")
        } else if has(flags::GOODPUT) && self.slos.is_empty() {
            Some("the run has no service level objectives")
        } else {
            None
        }
    }
}
