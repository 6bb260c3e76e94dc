//! What the events of a response add up to.

use aiperf_sdk::{
    Decoded, Result, Turn,
    endpoint::{ChunkKind, ResponseError},
};

use crate::{
    error::response_error,
    pattern::Place,
    tool_call::ToolCalls,
    wire::{Event, Message},
};

/// About the bytes of a token.
const TOKEN: usize = 6;

/// Adds the content of an event with the given index.
pub(crate) type Content = fn(&Event<'_>, u32, &mut Answer) -> Result<()>;

/// A response so far.
#[derive(Default)]
pub(crate) struct Answer {
    decoded: Decoded,
    calls: ToolCalls,
    speculative_decoding: Option<String>,
    first_chunk_usage: bool,
    /// Where the last chunk's text was.
    place: Option<Place>,
}

impl Answer {
    /// Makes room for the events of an exchange. `first_chunk_usage` says that usage comes with each.
    pub(crate) fn begin(&mut self, events: usize, first_chunk_usage: bool) {
        self.first_chunk_usage = first_chunk_usage;
        let chunks = &mut self.decoded.chunks;
        chunks.events.reserve(events);
        chunks.kinds.reserve(events);
        chunks.ends.reserve(events);
        chunks.text.reserve(events.saturating_mul(TOKEN));
    }

    /// Adds what an event says. If that is nothing but a text, tells where it is.
    pub(crate) fn event(
        &mut self,
        event: &Event<'_>,
        text: &str,
        index: u32,
        content: Content,
    ) -> Result<Option<Place>> {
        let choice = &event.choice.0;
        let error = event.error.0.is_some() || event.object.as_str() == "error";
        if error {
            self.fail_with(event, text);
        }
        let chunks = self.decoded.chunks.len();
        self.place = None;
        content(event, index, self)?;
        let only_text = self.decoded.chunks.len() == chunks + 1
            && !error
            && event.usage.0.is_none()
            && choice.finish_reason.as_str().is_empty()
            && [&choice.delta, &choice.message]
                .into_iter()
                .flatten()
                .all(|message| message.tool_calls.0.is_empty())
            && event.metrics.speculative_decoding.0.is_none();
        let decoded = &mut self.decoded;
        if let Some(usage) = &event.usage.0 {
            if self.first_chunk_usage && chunks == 0 && !decoded.chunks.is_empty() {
                decoded.first_chunk_tokens = usage.completion;
            }
            decoded.usage = Some(**usage);
        }
        if !choice.finish_reason.as_str().is_empty() {
            decoded.finish_reason = Some(choice.finish_reason.as_str().to_owned());
        }
        let stats = event.metrics.speculative_decoding.0;
        if let Some(stats) = stats.filter(|json| json.starts_with('{')) {
            self.speculative_decoding = Some(stats.to_owned());
        }
        Ok(self.place.filter(|_| only_text))
    }

    /// Adds a content chunk.
    pub(crate) fn push(&mut self, event: u32, kind: ChunkKind, text: &str) -> Result<()> {
        self.place = Some(Place::of(text, kind));
        self.decoded.chunks.push(event, kind, text)
    }

    /// Adds the tool calls of a message: names and arguments joined are its chunk.
    pub(crate) fn tool_calls(&mut self, event: u32, message: &Message<'_>) -> Result<()> {
        let calls = message.tool_calls.0.iter().map(|call| &call.function);
        let text: String = calls
            .chain([&message.function_call])
            .flat_map(|function| [function.name.as_str(), function.arguments.as_str()])
            .collect();
        if !text.is_empty() {
            self.push(event, ChunkKind::ToolCall, &text)?;
        }
        self.calls.add(message);
        Ok(())
    }

    /// The first error of a response is the cause of the others.
    pub(crate) fn fail(&mut self, error: ResponseError) {
        self.decoded.error.get_or_insert(error);
    }

    #[cold]
    fn fail_with(&mut self, event: &Event<'_>, text: &str) {
        let error = match event.error.0 {
            Some(error) => response_error(error),
            // vLLM's older form: the error's fields are the event's.
            None => response_error(text),
        };
        if let Some(error) = error {
            self.fail(error);
        }
    }

    /// What the response says.
    pub(crate) fn finish(mut self) -> Decoded {
        self.decoded.reply = self.reply();
        if let Some(stats) = self.speculative_decoding {
            self.decoded.labels.push(("speculative_decoding".to_owned(), stats));
        }
        self.decoded
    }

    /// The answer for the history: the text, else the reasoning; with tool calls the message as the server would have it.
    fn reply(&self) -> Option<Turn> {
        let chunks = &self.decoded.chunks;
        let of_kind = |wanted: ChunkKind| -> String {
            // As nearly always: all of it.
            if chunks.kinds.iter().all(|&kind| kind == wanted.code()) {
                return chunks.text.clone();
            }
            let of_kind = chunks.iter().filter(|(_, kind, _)| *kind == wanted);
            of_kind.map(|(_, _, text)| text).collect()
        };
        let mut text = of_kind(ChunkKind::Text);
        let mut turn = Turn {
            role: "assistant".to_owned(),
            ..Turn::default()
        };
        if !self.calls.is_empty() {
            turn.raw_messages = Some(self.calls.messages(&text));
            return Some(turn);
        }
        if text.is_empty() {
            text = of_kind(ChunkKind::Reasoning);
        }
        if text.is_empty() {
            return None;
        }
        turn.texts = Turn::text(text).texts;
        Some(turn)
    }
}

#[cfg(test)]
#[path = "answer_tests.rs"]
mod tests;
