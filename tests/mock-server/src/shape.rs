//! The JSON of answers: OpenAI's chat and completions objects, and error objects. Only text, no timing.

use crate::words::word;

/// The two generating endpoints.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Endpoint {
    Chat,
    Completions,
}

impl Endpoint {
    pub(crate) fn path(self) -> &'static str {
        match self {
            Endpoint::Chat => "/v1/chat/completions",
            Endpoint::Completions => "/v1/completions",
        }
    }
}

/// Token counts as reported so far.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Usage {
    pub(crate) prompt: u64,
    /// Completion tokens, reasoning included.
    pub(crate) completion: u64,
    pub(crate) reasoning: u64,
}

impl Usage {
    fn write(self, out: &mut Vec<u8>) {
        let mut digits = itoa::Buffer::new();
        for (key, value) in [
            (&br#"{"prompt_tokens":"#[..], self.prompt),
            (br#","completion_tokens":"#, self.completion),
            (br#","total_tokens":"#, self.prompt + self.completion),
            (br#","completion_tokens_details":{"reasoning_tokens":"#, self.reasoning),
        ] {
            out.extend_from_slice(key);
            out.extend_from_slice(digits.format(value).as_bytes());
        }
        out.extend_from_slice(b"}}");
    }
}

/// What the chunks of a stream say about usage.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum UsageMode {
    /// Nothing.
    Off,
    /// `null`, and a last chunk with the counts.
    Last,
    /// The counts so far in each chunk, and a last chunk.
    Each,
}

/// What all objects of one answer have in common.
#[derive(Debug)]
pub(crate) struct Shape {
    pub(crate) endpoint: Endpoint,
    /// Number of this request, from which its id follows.
    pub(crate) ordinal: u64,
    /// Unix seconds.
    pub(crate) created: u64,
    pub(crate) model: String,
    /// Where in the words this answer's text starts.
    pub(crate) text_start: u64,
}

impl Shape {
    /// `{"id":…,"object":…,"created":…,"model":…`, to be continued.
    fn opening(&self, object: &str) -> String {
        let prefix = match self.endpoint {
            Endpoint::Chat => "chatcmpl",
            Endpoint::Completions => "cmpl",
        };
        let (ordinal, created) = (self.ordinal, self.created);
        let model = quoted(&self.model);
        format!(r#"{{"id":"{prefix}-{ordinal:016x}","object":"{object}","created":{created},"model":{model}"#)
    }

    /// An answer that is not streamed.
    pub(crate) fn whole(&self, usage: Usage, report_usage: bool, finish_reason: &str) -> Vec<u8> {
        let text = |range: std::ops::Range<u64>| -> String { range.map(|i| word(self.text_start, i)).collect() };
        let content = text(usage.reasoning..usage.completion);
        let (object, choice) = match self.endpoint {
            Endpoint::Chat => {
                let reasoning = match usage.reasoning {
                    0 => String::new(),
                    count => format!(r#","reasoning_content":"{}""#, text(0..count)),
                };
                let message = format!(r#"{{"role":"assistant","content":"{content}","refusal":null{reasoning}}}"#);
                ("chat.completion", format!(r#""message":{message}"#))
            }
            Endpoint::Completions => ("text_completion", format!(r#""text":"{content}""#)),
        };
        let opening = self.opening(object);
        let mut body = format!(
            r#"{opening},"choices":[{{"index":0,{choice},"logprobs":null,"finish_reason":"{finish_reason}"}}]"#
        )
        .into_bytes();
        if report_usage {
            body.extend_from_slice(br#","usage":"#);
            usage.write(&mut body);
        }
        body.push(b'}');
        body
    }
}

/// The messages of one stream, preformatted except for word and counts. Each is written as `data: {…}` and a blank line.
#[derive(Debug)]
pub(crate) struct Chunks {
    text_start: u64,
    /// Sent before the first token (chat).
    role: Option<Vec<u8>>,
    reasoning: Vec<u8>,
    content: Vec<u8>,
    /// Closes a token's choice.
    close: &'static [u8],
    finish: Vec<u8>,
    /// Up to the value of usage.
    last: Vec<u8>,
    usage: UsageMode,
}

pub(crate) const DONE: &[u8] = b"data: [DONE]\n\n";

impl Chunks {
    pub(crate) fn new(shape: &Shape, usage: UsageMode, finish_reason: &str) -> Self {
        let object = match shape.endpoint {
            Endpoint::Chat => "chat.completion.chunk",
            Endpoint::Completions => "text_completion",
        };
        let opening = format!("data: {}", shape.opening(object));
        let start = format!(r#"{opening},"choices":[{{"index":0,"#);
        let bytes = |rest: &str| format!("{start}{rest}").into_bytes();
        let finish_end = format!(r#""logprobs":null,"finish_reason":"{finish_reason}"}}]"#);
        let (role, reasoning, content, close, finish): (_, _, _, &'static [u8], _) = match shape.endpoint {
            Endpoint::Chat => (
                Some(bytes(
                    r#""delta":{"role":"assistant","content":""},"logprobs":null,"finish_reason":null}]"#,
                )),
                bytes(r#""delta":{"reasoning_content":""#),
                bytes(r#""delta":{"content":""#),
                br#""},"logprobs":null,"finish_reason":null}]"#,
                bytes(&format!(r#""delta":{{}},{finish_end}"#)),
            ),
            Endpoint::Completions => (
                None,
                Vec::new(),
                bytes(r#""text":""#),
                br#"","logprobs":null,"finish_reason":null}]"#,
                bytes(&format!(r#""text":"",{finish_end}"#)),
            ),
        };
        let last = format!(r#"{opening},"choices":[],"usage":"#).into_bytes();
        Self {
            text_start: shape.text_start,
            role,
            reasoning,
            content,
            close,
            finish,
            last,
            usage,
        }
    }

    /// The chunk before the first token, if this endpoint has one.
    pub(crate) fn role(&self, usage: Usage, out: &mut Vec<u8>) -> bool {
        let Some(role) = &self.role else { return false };
        out.extend_from_slice(role);
        self.end(usage, out);
        true
    }

    /// The token at `index`; `usage` includes it.
    pub(crate) fn token(&self, index: u64, reasoning: bool, usage: Usage, out: &mut Vec<u8>) {
        out.extend_from_slice(if reasoning { &self.reasoning } else { &self.content });
        out.extend_from_slice(word(self.text_start, index).as_bytes());
        out.extend_from_slice(self.close);
        self.end(usage, out);
    }

    /// The chunk with the finish reason.
    pub(crate) fn finish(&self, usage: Usage, out: &mut Vec<u8>) {
        out.extend_from_slice(&self.finish);
        self.end(usage, out);
    }

    /// The chunk with no choice and the usage, if usage is reported.
    pub(crate) fn last(&self, usage: Usage, out: &mut Vec<u8>) -> bool {
        if self.usage == UsageMode::Off {
            return false;
        }
        out.extend_from_slice(&self.last);
        usage.write(out);
        out.extend_from_slice(b"}\n\n");
        true
    }

    fn end(&self, usage: Usage, out: &mut Vec<u8>) {
        match self.usage {
            UsageMode::Off => out.extend_from_slice(b"}\n\n"),
            UsageMode::Last => out.extend_from_slice(b",\"usage\":null}\n\n"),
            UsageMode::Each => {
                out.extend_from_slice(br#","usage":"#);
                usage.write(out);
                out.extend_from_slice(b"}\n\n");
            }
        }
    }
}

/// An error as OpenAI words it.
pub(crate) fn error(message: &str, kind: &str) -> Vec<u8> {
    format!(
        r#"{{"error":{{"message":{},"type":"{kind}","param":null,"code":null}}}}"#,
        quoted(message)
    )
    .into_bytes()
}

/// The list of models.
pub(crate) fn models(model: &str, created: u64) -> Vec<u8> {
    let model = quoted(model);
    format!(
        r#"{{"object":"list","data":[{{"id":{model},"object":"model","created":{created},"owned_by":"mock-server"}}]}}"#
    )
    .into_bytes()
}

fn quoted(text: &str) -> String {
    serde_json::Value::from(text).to_string()
}
