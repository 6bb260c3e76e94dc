//! Reading responses event by event.

use std::{
    borrow::Cow,
    ops::Range,
    sync::{
        Arc, Mutex,
        atomic::{AtomicBool, Ordering},
    },
};

use aiperf_sdk::{Decoded, Exchange, Host, PluginError, Result, host::LogLevel};
use serde::de::IgnoredAny;

use crate::{
    answer::{Answer, Content},
    error::{excerpt, invalid_response},
    form::{Forms, Gap},
    pattern::{Pattern, Place},
    pull::Pull,
    wire::Event,
};

/// Reads responses.
pub(crate) struct Reader {
    host: Arc<dyn Host>,
    per_chunk_usage: bool,
    content: Content,
    forms: Mutex<Forms>,
    warned: AtomicBool,
}

impl Reader {
    /// A reader for a dialect.
    pub(crate) fn new(host: Arc<dyn Host>, per_chunk_usage: bool, content: Content) -> Self {
        Self {
            host,
            per_chunk_usage,
            content,
            forms: Mutex::default(),
            warned: AtomicBool::new(false),
        }
    }

    /// Reads a response.
    ///
    /// An event that is not JSON is skipped (a stream may carry remarks), a whole body that is not is an error.
    pub(crate) fn decode(&self, exchanges: &[Exchange<'_>]) -> Result<Decoded> {
        let mut answer = Answer::default();
        let mut index = 0_u32;
        // Nobody waits for what another thread learns: then this response is read without.
        let mut known = self.forms.try_lock();
        let mut none = Forms::default();
        let forms = known.as_deref_mut().unwrap_or(&mut none);
        for exchange in exchanges {
            answer.begin(exchange.ends.len(), self.per_chunk_usage && exchange.streamed);
            let mut pattern: Option<Pattern<'_>> = None;
            for bytes in exchange.events() {
                let bytes = bytes.trim_ascii();
                match pattern.and_then(|pattern| Some((pattern.kind, pattern.text(bytes)?))) {
                    Some((kind, text)) => answer.push(index, kind, text)?,
                    None => {
                        let text = self.event(bytes, exchange.streamed, index, forms, &mut answer)?;
                        pattern = text.and_then(|text| Pattern::of(bytes, text));
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
    fn event(
        &self,
        bytes: &[u8],
        streamed: bool,
        index: u32,
        forms: &mut Forms,
        answer: &mut Answer,
    ) -> Result<Option<Place>> {
        if matches!(bytes, b"" | b"null" | b"[DONE]") {
            return Ok(None);
        }
        if let Some(said) = forms.read(bytes) {
            answer.said(index, &said)?;
            let only_text = said.usage.is_none() && said.finish_reason.is_none();
            return Ok(said
                .text
                .filter(|_| only_text)
                .map(|(kind, text)| Place::of(text, kind)));
        }
        let text = str::from_utf8(bytes).map_or_else(|_| String::from_utf8_lossy(bytes), Cow::Borrowed);
        let mut json = Pull::new(&text);
        let Ok(event) = json.whole::<Event<'_>>() else {
            if streamed {
                self.warn(&text);
            } else {
                answer.fail(invalid_response(&text));
            }
            return Ok(None);
        };
        if answer.event(&event, &text, index, self.content)? {
            learn(forms, bytes, &event, json.into_gaps(), answer.place());
        }
        Ok(None)
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

/// Learns the form of an event that said no more than a form can say. The text, if there is one, is at `text`.
fn learn(forms: &mut Forms, bytes: &[u8], event: &Event<'_>, mut gaps: Vec<(Range<usize>, Gap)>, text: Option<Place>) {
    if let Some(text) = text {
        let Some(place) = text.within(bytes) else { return };
        gaps.push((place, Gap::Text(text.kind)));
    }
    if event.usage.usage.is_some() {
        gaps.push((event.usage.place.clone(), Gap::Usage));
    }
    let finish_reason = event.choice.0.finish_reason.as_str();
    forms.learn(bytes, gaps, Some(finish_reason).filter(|reason| !reason.is_empty()));
}

#[cfg(test)]
#[path = "reader_tests.rs"]
mod tests;
