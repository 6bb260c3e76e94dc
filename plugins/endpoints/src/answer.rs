//! What the events of a response add up to.

use aiperf_sdk::{
    Decoded, Result, Turn,
    endpoint::{ChunkKind, ResponseError, Usage},
};

use crate::{
    error::response_error,
    form::Said,
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
    /// Where the text of the chunk was that the last event gave.
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

    /// Adds what an event says. Tells whether that is no more than a form can say.
    pub(crate) fn event(&mut self, event: &Event<'_>, text: &str, index: u32, content: Content) -> Result<bool> {
        let choice = &event.choice.0;
        let error = event.error.0.is_some() || event.object.as_str() == "error";
        if error {
            self.fail_with(event, text);
        }
        let chunks = self.decoded.chunks.len();
        self.place = None;
        content(event, index, self)?;
        let finish_reason = Some(choice.finish_reason.as_str()).filter(|reason| !reason.is_empty());
        self.note(chunks == 0, finish_reason, event.usage.usage.as_deref());
        let stats = event.metrics.speculative_decoding.0;
        if let Some(stats) = stats.filter(|json| json.starts_with('{')) {
            self.speculative_decoding = Some(stats.to_owned());
        }
        let mut messages = [&choice.delta, &choice.message].into_iter().flatten();
        Ok(self.decoded.chunks.len() <= chunks + 1
            && !error
            && stats.is_none()
            && messages.all(|message| message.tool_calls.0.is_empty() && message.function_call.is_empty()))
    }

    /// Adds what an event of a known form says.
    pub(crate) fn said(&mut self, index: u32, said: &Said<'_>) -> Result<()> {
        let first = self.decoded.chunks.is_empty();
        if let Some((kind, text)) = said.text {
            self.push(index, kind, text)?;
        }
        self.note(first, said.finish_reason, said.usage.as_ref());
        Ok(())
    }

    /// `first` says that there was no content before this event.
    fn note(&mut self, first: bool, finish_reason: Option<&str>, usage: Option<&Usage>) {
        let decoded = &mut self.decoded;
        if let Some(usage) = usage {
            if self.first_chunk_usage && first && !decoded.chunks.is_empty() {
                decoded.first_chunk_tokens = usage.completion;
            }
            decoded.usage = Some(*usage);
        }
        if let Some(reason) = finish_reason {
            decoded.finish_reason = Some(reason.to_owned());
        }
    }

    /// Where the text of the chunk is that the last event gave.
    pub(crate) fn place(&self) -> Option<Place> {
        self.place
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

    /// The answer for the history, if it has tool calls: the message as the server would have it.
    fn reply(&self) -> Option<Turn> {
        if self.calls.is_empty() {
            return None;
        }
        let text = self.decoded.chunks.text_of(ChunkKind::Text);
        Some(Turn {
            role: "assistant".to_owned(),
            raw_messages: Some(self.calls.messages(&text)),
            ..Turn::default()
        })
    }
}

#[cfg(test)]
#[path = "answer_tests.rs"]
mod tests;
