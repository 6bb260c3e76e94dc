//! Reading responses event by event.

use std::{
    borrow::Cow,
    sync::{
        Arc,
        atomic::{AtomicBool, Ordering},
    },
};

use aiperf_sdk::{Decoded, Exchange, Host, PluginError, Result, host::LogLevel};
use serde::de::IgnoredAny;

use crate::{
    answer::{Answer, Content},
    error::{excerpt, invalid_response},
    pattern::{Pattern, Place},
    pull::{self, NotJson},
};

/// Reads responses.
pub(crate) struct Reader {
    host: Arc<dyn Host>,
    per_chunk_usage: bool,
    content: Content,
    warned: AtomicBool,
}

impl Reader {
    /// A reader for a dialect.
    pub(crate) fn new(host: Arc<dyn Host>, per_chunk_usage: bool, content: Content) -> Self {
        Self {
            host,
            per_chunk_usage,
            content,
            warned: AtomicBool::new(false),
        }
    }

    /// Reads a response.
    ///
    /// An event that is not JSON is skipped (a stream may carry remarks), a whole body that is not is an error.
    pub(crate) fn decode(&self, exchanges: &[Exchange<'_>]) -> Result<Decoded> {
        let mut answer = Answer::default();
        let mut index = 0_u32;
        for exchange in exchanges {
            answer.begin(exchange.ends.len(), self.per_chunk_usage && exchange.streamed);
            let mut pattern: Option<Pattern<'_>> = None;
            for bytes in exchange.events() {
                let bytes = bytes.trim_ascii();
                match pattern.and_then(|pattern| Some((pattern.kind, pattern.text(bytes)?))) {
                    Some((kind, text)) => answer.push(index, kind, text)?,
                    None => {
                        pattern = self
                            .event(bytes, exchange.streamed, index, &mut answer)?
                            .and_then(|text| Pattern::of(bytes, text));
                    }
                }
                index = index
                    .checked_add(1)
                    .ok_or_else(|| PluginError::input("a response has more than 4294967295 events"))?;
            }
        }
        Ok(answer.finish())
    }

    /// Reads an event. If it said nothing but a text, tells where that is.
    fn event(&self, bytes: &[u8], streamed: bool, index: u32, answer: &mut Answer) -> Result<Option<Place>> {
        let text = str::from_utf8(bytes).map_or_else(|_| String::from_utf8_lossy(bytes), Cow::Borrowed);
        if matches!(&*text, "" | "null" | "[DONE]") {
            return Ok(None);
        }
        match pull::read(&text) {
            Ok(event) => answer.event(&event, &text, index, self.content),
            Err(NotJson) => {
                if streamed {
                    self.warn(&text);
                } else {
                    answer.fail(invalid_response(&text));
                }
                Ok(None)
            }
        }
    }

    /// Once for each endpoint: a server that does it does it in every response.
    #[cold]
    fn warn(&self, text: &str) {
        if !self.warned.swap(true, Ordering::Relaxed) {
            let why = serde_json::from_str::<IgnoredAny>(text).err();
            let why = why.map_or_else(|| "out of range".to_owned(), |error| error.to_string());
            let message = format!("skipped an event that is not JSON ({why}): {}", excerpt(text));
            self.host.log(LogLevel::Warning, &message);
        }
    }
}

#[cfg(test)]
#[path = "reader_tests.rs"]
mod tests;
