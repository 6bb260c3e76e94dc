//! Endpoints: format a request, read its response. Pure functions of their input; the core does the sending.

use crate::{
    Result,
    conversation::{Conversation, Turn},
    error::PluginError,
};

contract_enum! {
    /// How the core authenticates a request. The key never reaches the plugin.
    pub enum AuthKind: u8 {
        /// `Authorization: Bearer KEY`.
        Bearer = 0,
        /// The key alone in the header [`EndpointDescription::auth_header`].
        Header = 1,
        /// No key is sent.
        None = 2,
    } else Bearer
}

contract_enum! {
    /// What a content chunk holds.
    pub enum ChunkKind: u8 {
        /// Output text; counts as output tokens.
        Text = 0,
        /// Reasoning; counts as reasoning tokens.
        Reasoning = 1,
        /// Name and arguments of a tool call; counts as output tokens.
        ToolCall = 2,
        /// Content that isn't text (an embedding, an image, a ranking).
        Data = 3,
    } else Data
}

contract! {
    /// What an endpoint is, beyond what its registry entry says.
    pub struct EndpointDescription / EndpointDescriptionAbi {
        /// Path behind the base URL; empty means the base URL as given.
        pub path: String,
        /// Path for streaming requests where it differs.
        pub streaming_path: Option<String>,
        /// Authentication that the core adds.
        pub auth: AuthKind,
        /// Header name for [`AuthKind::Header`].
        pub auth_header: String,
    }

    /// Everything that `prepare` may look at.
    pub struct RequestInfo / RequestInfoAbi {
        /// Model of this request.
        pub model: String,
        /// The run asks for streaming.
        pub streaming: bool,
        /// Turns to send, oldest first; the last one is the new one. Earlier answers stand among them as turns of the role
        /// `assistant`.
        pub turns: Vec<Turn>,
        /// System message of the conversation.
        pub system_message: Option<String>,
        /// User context of the conversation.
        pub user_context: Option<String>,
        /// What this endpoint gave back for the previous turn ([`Decoded::carry`]).
        pub carry: Option<String>,
        /// Identity of the request (UUID).
        pub request_id: String,
        /// Identity of the conversation instance.
        pub correlation_id: String,
    }

    /// One part of a multipart body.
    pub struct Part / PartAbi {
        /// Field name.
        pub name: String,
        /// File name; makes it a file part.
        pub file_name: Option<String>,
        /// Content type.
        pub content_type: Option<String>,
        /// Bytes.
        pub data: Vec<u8>,
    }

    /// A request. The core adds `Host`, lengths, the multipart boundary, identity headers and authentication.
    pub struct HttpRequest / HttpRequestAbi {
        /// `POST`, `GET`, …
        pub method: String,
        /// Replaces the configured path; origin form only (`/v1/videos/7`).
        pub path: Option<String>,
        /// Headers beyond the core's own. Framing headers and CR/LF are refused.
        pub headers: Vec<(String, String)>,
        /// Body, unless `parts` is given.
        pub body: Vec<u8>,
        /// Parts of a multipart body.
        pub parts: Vec<Part>,
    }

    /// An answer to a request of a plugin of its own: of a GPU collector, or through [`Host::http`](crate::Host::http).
    pub struct HttpAnswer / HttpAnswerAbi {
        /// HTTP status; 0 when no answer came to a collector.
        pub status: u16,
        /// Content type.
        pub content_type: String,
        /// Body, or the error's text where no answer came.
        pub body: Vec<u8>,
    }

    /// Token counts that a server reports. Absent is not 0.
    #[derive(Default, Copy)]
    pub struct Usage / UsageAbi {
        /// Prompt tokens.
        pub prompt: Option<u64>,
        /// Completion tokens, reasoning included.
        pub completion: Option<u64>,
        /// Total as the server states it.
        pub total: Option<u64>,
        /// Reasoning tokens.
        pub reasoning: Option<u64>,
        /// Prompt tokens read from a cache.
        pub cache_read: Option<u64>,
        /// Prompt tokens written to a cache.
        pub cache_write: Option<u64>,
        /// Prompt tokens not found in a cache.
        pub cache_miss: Option<u64>,
        /// Audio tokens of the prompt.
        pub prompt_audio: Option<u64>,
        /// Audio tokens of the completion.
        pub completion_audio: Option<u64>,
        /// Accepted prediction tokens.
        pub accepted_prediction: Option<u64>,
        /// Rejected prediction tokens.
        pub rejected_prediction: Option<u64>,
        /// Prompt tokens of tool use.
        pub tool_use_prompt: Option<u64>,
        /// Seconds of audio in the prompt.
        pub prompt_audio_seconds: Option<f64>,
    }

    /// Content chunks by event, as columns: chunk `i` belongs to event `events[i]` and holds
    /// `text[ends[i-1]..ends[i]]`. One event may give several chunks (reasoning and text). A chunk may be empty: it then
    /// counts as content at its time and adds no tokens.
    #[derive(Default)]
    pub struct Chunks / ChunksAbi {
        /// Index of the event over all exchanges of the request, ascending.
        pub events: Vec<u32>,
        /// [`ChunkKind`] codes.
        pub kinds: Vec<u8>,
        /// End of each chunk's text, in bytes.
        pub ends: Vec<u32>,
        /// All texts, joined.
        pub text: String,
    }

    /// An error that the response itself reports, though its status may say 200.
    pub struct ResponseError / ResponseErrorAbi {
        /// A code, where the server gives a number.
        pub code: Option<u16>,
        /// Type of the error, for grouping.
        pub kind: String,
        /// The server's message.
        pub message: String,
    }

    /// What a response says.
    #[derive(Default)]
    pub struct Decoded / DecodedAbi {
        /// Content.
        pub chunks: Chunks,
        /// The last usage that is not empty.
        pub usage: Option<Usage>,
        /// Cumulative completion tokens at the first content event, where usage came with it.
        pub first_chunk_tokens: Option<u64>,
        /// Why the model stopped.
        pub finish_reason: Option<String>,
        /// An error inside the response.
        pub error: Option<ResponseError>,
        /// The answer as a turn for the history, where it is more than a text (tool calls, items of the endpoint's own).
        /// `None`: what the chunks say, the text or else the reasoning.
        pub reply: Option<Turn>,
        /// Given to the next turn's `prepare`.
        pub carry: Option<String>,
        /// Other numbers of the response by name (`video_inference_time`), for metrics.
        pub facts: Vec<(String, f64)>,
        /// Other texts or JSON of the response by name (`speculative_decoding`), for metrics.
        pub labels: Vec<(String, String)>,
    }
}

/// What follows an exchange.
#[derive(Debug, Clone, PartialEq)]
pub enum NextStep {
    /// The request is complete.
    Done,
    /// Another exchange of the same request (polling protocols).
    Request {
        /// The request. Its path is merged with the base URL like the endpoint's own.
        request: HttpRequest,
        /// Send it only after so many ms.
        after_ms: u64,
    },
}

/// One exchange as it came in, borrowed from the core.
#[derive(Debug, Clone, Copy)]
pub struct Exchange<'a> {
    /// HTTP status.
    pub status: u16,
    /// The response was an event stream and has been cut into events.
    pub streamed: bool,
    /// Content type, empty if none.
    pub content_type: &'a str,
    /// Event data (or the whole body, as one event), joined.
    pub bytes: &'a [u8],
    /// End of each event in `bytes`.
    pub ends: &'a [u32],
}

impl<'a> Exchange<'a> {
    /// The events in order.
    pub fn events(&self) -> impl Iterator<Item = &'a [u8]> + 'a {
        let (bytes, ends) = (self.bytes, self.ends);
        (0..ends.len()).map(move |i| {
            let from = if i == 0 { 0 } else { ends[i - 1] as usize };
            bytes.get(from..ends[i] as usize).unwrap_or_default()
        })
    }
}

/// An endpoint: one API dialect.
pub trait Endpoint: Send + Sync {
    /// What it is. Pure and constant.
    fn describe(&self) -> Result<EndpointDescription>;

    /// The first request of a turn.
    ///
    /// # Errors
    /// When the turn can't be expressed in this dialect; the request then fails with this message.
    fn prepare(&self, request: RequestInfo) -> Result<HttpRequest>;

    /// What follows the exchanges so far; most protocols are done after one.
    ///
    /// # Errors
    /// The request fails with this message.
    fn next(&self, exchanges: &[Exchange<'_>]) -> Result<NextStep> {
        let _ = exchanges;
        Ok(NextStep::Done)
    }

    /// Reads the exchanges of a finished request whose last status was 2xx.
    ///
    /// # Errors
    /// The request fails with this message.
    fn decode(&self, exchanges: &[Exchange<'_>]) -> Result<Decoded>;

    /// The body of each turn alone, without history, for `inputs.json`.
    ///
    /// # Errors
    /// As [`Endpoint::prepare`].
    fn preview(&self, conversation: &Conversation, model: &str, streaming: bool) -> Result<Vec<HttpRequest>> {
        conversation
            .turns
            .iter()
            .filter(|turn| !turn.no_request)
            .map(|turn| {
                self.prepare(RequestInfo {
                    model: turn.model.clone().unwrap_or_else(|| model.to_owned()),
                    streaming,
                    turns: vec![turn.clone()],
                    system_message: conversation.system_message.clone(),
                    user_context: conversation.user_context.clone(),
                    carry: None,
                    request_id: String::new(),
                    correlation_id: String::new(),
                })
            })
            .collect()
    }
}

impl ChunkKind {
    /// Its text counts as output tokens.
    pub fn is_output(self) -> bool {
        matches!(self, Self::Text | Self::ToolCall)
    }
}

impl Chunks {
    /// Adds a chunk.
    ///
    /// # Errors
    /// When the text of one response exceeds 4 GiB.
    #[inline]
    pub fn push(&mut self, event: u32, kind: ChunkKind, text: &str) -> Result<()> {
        self.text.push_str(text);
        let end =
            u32::try_from(self.text.len()).map_err(|_| PluginError::input("the text of one response exceeds 4 GiB"))?;
        self.events.push(event);
        self.kinds.push(kind.code());
        self.ends.push(end);
        Ok(())
    }

    /// Number of chunks.
    pub fn len(&self) -> usize {
        self.events.len()
    }

    /// No content at all.
    pub fn is_empty(&self) -> bool {
        self.events.is_empty()
    }

    /// The text of all chunks of a kind, joined.
    pub fn text_of(&self, wanted: ChunkKind) -> String {
        let of_kind = self.iter().filter(|(_, kind, _)| *kind == wanted);
        of_kind.map(|(_, _, text)| text).collect()
    }

    /// The chunks in order: event, kind, text. Ends outside the text (a faulty plugin) give empty chunks.
    pub fn iter(&self) -> impl Iterator<Item = (u32, ChunkKind, &str)> {
        (0..self.len()).map(move |i| {
            let from = if i == 0 {
                0
            } else {
                self.ends.get(i - 1).copied().unwrap_or(0) as usize
            };
            let to = self.ends.get(i).copied().unwrap_or(0) as usize;
            let kind = ChunkKind::from_code(self.kinds.get(i).copied().unwrap_or(u8::MAX));
            (self.events[i], kind, self.text.get(from..to).unwrap_or_default())
        })
    }
}

impl Usage {
    /// No field is present.
    pub fn is_empty(&self) -> bool {
        *self == Self::default()
    }
}

impl HttpRequest {
    /// A JSON `POST` to the endpoint's own path.
    pub fn post(body: Vec<u8>) -> Self {
        Self {
            method: "POST".into(),
            path: None,
            headers: Vec::new(),
            body,
            parts: Vec::new(),
        }
    }

    /// A `GET` of a path (origin form).
    pub fn get(path: impl Into<String>) -> Self {
        Self {
            method: "GET".into(),
            path: Some(path.into()),
            headers: Vec::new(),
            body: Vec::new(),
            parts: Vec::new(),
        }
    }
}
