//! What the core offers to a plugin instance.

use crate::{HttpAnswer, HttpRequest, Result, error::PluginError};

contract_enum! {
    /// Level of a log line.
    pub enum LogLevel: u8 {
        /// Details for debugging.
        Debug = 0,
        /// Progress.
        Info = 1,
        /// Something the user should know.
        Warning = 2,
        /// Something went wrong.
        Error = 3,
    } else Info
}

/// Milliseconds that a request of a plugin's own may take, from connecting to the last byte, where the plugin names none.
pub const HTTP_TIMEOUT_MS: u32 = 10_000;

/// Services of the core. Each instance gets a handle of its own, which outlives it.
pub trait Host: Send + Sync {
    /// A line for the run's log.
    fn log(&self, level: LogLevel, message: &str);

    /// Tokens of a text, no special tokens added.
    ///
    /// # Errors
    /// When the run has no tokenizer.
    fn encode(&self, text: &str) -> Result<Vec<u32>> {
        let _ = text;
        Err(PluginError::unsupported("encode"))
    }

    /// Text of tokens.
    ///
    /// # Errors
    /// When the run has no tokenizer.
    fn decode(&self, tokens: &[u32]) -> Result<String> {
        let _ = tokens;
        Err(PluginError::unsupported("decode"))
    }

    /// Text of exactly `tokens` tokens. Each call gives another text; the sequence depends on the run's seed and on
    /// `stream` alone. A stream named `CORPUS/…` takes its text from that corpus (`coding`, `random`), others are prose.
    ///
    /// # Errors
    /// When the run has no tokenizer.
    fn prompt(&self, stream: &str, tokens: u32) -> Result<String> {
        let _ = (stream, tokens);
        Err(PluginError::unsupported("prompt"))
    }

    /// The token that separates blocks of text (the tokenizer's BOS, else EOS), if it has one.
    fn separator(&self) -> Option<u32> {
        None
    }

    /// Seed of a named random stream, derived from the run's seed.
    fn seed(&self, stream: &str) -> u64 {
        let _ = stream;
        0
    }

    /// Timing modes: the next `count` intervals in ns of the phase's arrival pattern at `rate` per second.
    ///
    /// # Errors
    /// When the phase has no arrival pattern.
    fn intervals(&self, rate: f64, count: u32) -> Result<Vec<u64>> {
        let _ = (rate, count);
        Err(PluginError::unsupported("intervals"))
    }

    /// Asks the server at `origin`, which is `http://HOST[:PORT]` or `https://HOST[:PORT]`; the path is that of the request,
    /// `/` without one. Any whole answer is one, whatever its status; redirects are not followed. `timeout_ms` 0 is
    /// [`HTTP_TIMEOUT_MS`]; a component has no more time than the limit on its call leaves.
    ///
    /// # Errors
    /// When the user has not granted `http:HOST:PORT`, the request can't be sent, or no whole answer comes in time.
    fn http(&self, origin: &str, request: HttpRequest, timeout_ms: u32) -> Result<HttpAnswer> {
        let _ = (origin, request, timeout_ms);
        Err(PluginError::unsupported("http"))
    }

    /// The API key, if the run has one.
    ///
    /// # Errors
    /// When the user has not granted `secrets`.
    fn api_key(&self) -> Result<Option<String>> {
        Err(PluginError::unsupported("api_key"))
    }
}

/// A host that offers nothing, for tests of plugins that need nothing.
#[derive(Debug, Clone, Copy, Default)]
pub struct NoHost;

impl Host for NoHost {
    fn log(&self, _: LogLevel, _: &str) {}
}
