//! Input, output and reasoning tokens of a record: counted here, or by the server where the run says so.

use std::{
    collections::HashMap,
    hash::{DefaultHasher, Hasher},
    sync::Arc,
};

use super::input_text::input_text;
use crate::{message::RequestRecord, services::SharedTokenizer};

/// Bodies whose counts are remembered; datasets repeat themselves, and counting costs more than the rest of a record.
const REMEMBERED: usize = 65_536;

/// Who counts.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct TokenPolicy {
    /// The server's usage counts.
    pub server: bool,
    /// The endpoint produces tokens.
    pub produces_tokens: bool,
    /// The endpoint tokenizes its input.
    pub tokenizes_input: bool,
}

/// Token counts of a record. What is not known is `None`.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct TokenCounts {
    /// Input.
    pub input: Option<u64>,
    /// Output without reasoning.
    pub output: Option<u64>,
    /// Reasoning.
    pub reasoning: Option<u64>,
}

/// Counts tokens.
pub struct TokenCounter {
    policy: TokenPolicy,
    tokenizer: Arc<SharedTokenizer>,
    inputs: HashMap<u128, Option<u64>>,
}

impl TokenCounter {
    /// A counter.
    pub fn new(policy: TokenPolicy, tokenizer: Arc<SharedTokenizer>) -> Self {
        Self {
            policy,
            tokenizer,
            inputs: HashMap::new(),
        }
    }

    /// Counts of a record.
    ///
    /// # Errors
    /// When the tokenizer can't be loaded, or fails on a text.
    pub fn count(&mut self, record: &RequestRecord) -> Result<TokenCounts, String> {
        if self.policy.server {
            let usage = record.usage.unwrap_or_default();
            return Ok(TokenCounts {
                input: usage.prompt,
                output: usage
                    .completion
                    .map(|completion| completion.saturating_sub(usage.reasoning.unwrap_or(0))),
                reasoning: usage.reasoning,
            });
        }
        if !self.policy.produces_tokens && !self.policy.tokenizes_input {
            return Ok(TokenCounts::default());
        }
        let text = |text: &Option<String>| text.as_deref().map(|text| self.text(text)).transpose();
        let (output, reasoning) = (text(&record.output)?.flatten(), text(&record.reasoning)?.flatten());
        let input = if record.body.is_empty() {
            None
        } else {
            self.input(&record.body)?
        };
        Ok(TokenCounts {
            input,
            output,
            reasoning,
        })
    }

    fn text(&self, text: &str) -> Result<Option<u64>, String> {
        let Some(tokenizer) = self.tokenizer.get()? else {
            return Ok(None);
        };
        if text.is_empty() {
            return Ok(None);
        }
        tokenizer
            .count(text)
            .map(|count| Some(count as u64))
            .map_err(|error| error.to_string())
    }

    fn input(&mut self, body: &[u8]) -> Result<Option<u64>, String> {
        let key = digest(body);
        if let Some(known) = self.inputs.get(&key) {
            return Ok(*known);
        }
        let count = match input_text(body) {
            None => None,
            Some(input) => {
                let counted = input.text.as_deref().map(|text| self.text(text)).transpose()?.flatten();
                match (counted, input.tokens) {
                    (None, 0) => None,
                    (counted, ready) => Some(counted.unwrap_or(0) + ready),
                }
            }
        };
        if self.inputs.len() >= REMEMBERED {
            self.inputs.clear();
        }
        self.inputs.insert(key, count);
        Ok(count)
    }
}

/// 128 bits: two hashes over the same bytes with different starts. A collision among 65,536 bodies is out of reach.
fn digest(body: &[u8]) -> u128 {
    let half = |start: u8| {
        let mut hasher = DefaultHasher::new();
        hasher.write_u8(start);
        hasher.write(body);
        hasher.finish()
    };
    u128::from(half(0)) << 64 | u128::from(half(1))
}
