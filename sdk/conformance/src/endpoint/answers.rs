//! Responses to decode.

use aiperf_sdk::{Exchange, endpoint::ChunkKind};

use crate::bench::Bench;

/// A response in the form that an [`Exchange`] borrows from.
#[derive(Debug, Clone)]
pub(super) struct Response {
    pub(super) status: u16,
    pub(super) streamed: bool,
    pub(super) content_type: &'static str,
    pub(super) bytes: Vec<u8>,
    pub(super) ends: Vec<u32>,
}

impl Response {
    /// A stream of events.
    pub(super) fn events<T: AsRef<[u8]>>(events: &[T]) -> Self {
        let mut response = Self {
            status: 200,
            streamed: true,
            content_type: "text/event-stream",
            bytes: Vec::new(),
            ends: Vec::new(),
        };
        for event in events {
            response.bytes.extend_from_slice(event.as_ref());
            response.ends.push(response.bytes.len() as u32);
        }
        response
    }

    /// A whole body.
    pub(super) fn body(body: impl Into<Vec<u8>>) -> Self {
        let bytes = body.into();
        Self {
            status: 200,
            streamed: false,
            content_type: "application/json",
            ends: vec![bytes.len() as u32],
            bytes,
        }
    }

    /// As the core hands it over.
    pub(super) fn exchange(&self) -> Exchange<'_> {
        Exchange {
            status: self.status,
            streamed: self.streamed,
            content_type: self.content_type,
            bytes: &self.bytes,
            ends: &self.ends,
        }
    }

    /// The first events, and the rest as an exchange of its own.
    pub(super) fn split(&self, at: usize) -> [Self; 2] {
        let events: Vec<&[u8]> = self.exchange().events().collect();
        let (first, second) = events.split_at(at.min(events.len()));
        [first, second].map(|events| {
            Self {
                ends: Vec::new(),
                bytes: Vec::new(),
                ..self.clone()
            }
            .with(events)
        })
    }

    fn with(mut self, events: &[&[u8]]) -> Self {
        for event in events {
            self.bytes.extend_from_slice(event);
            self.ends.push(self.bytes.len() as u32);
        }
        self
    }
}

/// A response of a known dialect and what it says.
pub(super) struct Golden {
    pub(super) what: &'static str,
    pub(super) response: Response,
    /// Event, kind, text of each chunk.
    pub(super) chunks: Vec<(u32, ChunkKind, &'static str)>,
    /// Prompt and completion tokens.
    pub(super) usage: Option<(u64, u64)>,
    pub(super) finish_reason: Option<&'static str>,
}

/// Answers in the dialects of OpenAI.
pub(super) fn golden() -> Vec<Golden> {
    use ChunkKind::{Reasoning, Text};
    vec![
        Golden {
            what: "a streamed chat completion",
            response: Response::events(&[
                r#"{"id":"c","object":"chat.completion.chunk","choices":[{"index":0,"delta":{"role":"assistant","content":""},"finish_reason":null}]}"#,
                r#"{"id":"c","object":"chat.completion.chunk","choices":[{"index":0,"delta":{"content":"Hello"},"finish_reason":null}]}"#,
                r#"{"id":"c","object":"chat.completion.chunk","choices":[{"index":0,"delta":{"content":" \"wörld\" \ud83c\udf0a"},"finish_reason":null}]}"#,
                r#"{"id":"c","object":"chat.completion.chunk","choices":[{"index":0,"delta":{},"finish_reason":"stop"}]}"#,
                r#"{"id":"c","object":"chat.completion.chunk","choices":[],"usage":{"prompt_tokens":11,"completion_tokens":4,"total_tokens":15}}"#,
                "[DONE]",
            ]),
            chunks: vec![(1, Text, "Hello"), (2, Text, " \"wörld\" 🌊")],
            usage: Some((11, 4)),
            finish_reason: Some("stop"),
        },
        Golden {
            what: "a streamed chat completion with reasoning",
            response: Response::events(&[
                r#"{"object":"chat.completion.chunk","choices":[{"index":0,"delta":{"reasoning_content":"Hm."},"finish_reason":null}]}"#,
                r#"{"object":"chat.completion.chunk","choices":[{"index":0,"delta":{"content":"Yes."},"finish_reason":"length"}]}"#,
                "[DONE]",
            ]),
            chunks: vec![(0, Reasoning, "Hm."), (1, Text, "Yes.")],
            usage: None,
            finish_reason: Some("length"),
        },
        Golden {
            what: "a chat completion",
            response: Response::body(
                r#"{"id":"c","object":"chat.completion","choices":[{"index":0,"message":{"role":"assistant","content":"Hello world"},"finish_reason":"stop"}],"usage":{"prompt_tokens":11,"completion_tokens":2,"total_tokens":13}}"#,
            ),
            chunks: vec![(0, Text, "Hello world")],
            usage: Some((11, 2)),
            finish_reason: Some("stop"),
        },
        Golden {
            what: "a streamed completion",
            response: Response::events(&[
                r#"{"id":"c","object":"text_completion","choices":[{"index":0,"text":"Hello","finish_reason":null}]}"#,
                r#"{"id":"c","object":"text_completion","choices":[{"index":0,"text":" world","finish_reason":"stop"}]}"#,
                r#"{"id":"c","object":"text_completion","choices":[],"usage":{"prompt_tokens":5,"completion_tokens":2,"total_tokens":7}}"#,
                "[DONE]",
            ]),
            chunks: vec![(0, Text, "Hello"), (1, Text, " world")],
            usage: Some((5, 2)),
            finish_reason: Some("stop"),
        },
        Golden {
            what: "a completion",
            response: Response::body(
                r#"{"id":"c","object":"text_completion","choices":[{"index":0,"text":"Hello world","finish_reason":"stop"}],"usage":{"prompt_tokens":5,"completion_tokens":2,"total_tokens":7}}"#,
            ),
            chunks: vec![(0, Text, "Hello world")],
            usage: Some((5, 2)),
            finish_reason: Some("stop"),
        },
    ]
}

/// Responses that no server should send, and what each is.
pub(super) fn hostile(bench: &Bench) -> Vec<(String, Vec<Response>)> {
    let mut random = bench.random("endpoint.answers");
    let mut all: Vec<(String, Vec<Response>)> = vec![("no exchange".to_owned(), Vec::new())];
    let mut add = |what: &str, payload: &[u8]| {
        all.push((format!("{what}, as a body"), vec![Response::body(payload)]));
        all.push((format!("{what}, as an event"), vec![Response::events(&[payload])]));
    };
    add("nothing", b"");
    add("spaces", b"  \n ");
    add("no JSON", b"<html>502 Bad Gateway</html>");
    add("invalid UTF-8", b"{\"choices\":[{\"text\":\"\xff\xfe\xc3\x28\"}]}");
    add("zero bytes", &[0; 64]);
    add("random bytes", &random.bytes(4096));
    for scalar in [
        "null", "true", "-1", "1e999", "\"text\"", "[]", "{}", "[[[]]]", "[DONE]",
    ] {
        add(scalar, scalar.as_bytes());
    }
    add("100,000 open brackets", "[".repeat(100_000).as_bytes());
    add("100,000 open objects", "{\"a\":".repeat(100_000).as_bytes());
    add(
        "fields of the wrong types",
        br#"{"object":7,"choices":"no","usage":[],"error":3,"data":{}}"#,
    );
    add("numbers out of range", br#"{"object":"chat.completion","choices":[],"usage":{"prompt_tokens":-1,"completion_tokens":99999999999999999999999,"total_tokens":1.5}}"#);
    add(
        "a lone surrogate",
        br#"{"object":"chat.completion","choices":[{"message":{"content":"\ud800"}}]}"#,
    );
    add(
        "null choices",
        br#"{"object":"chat.completion.chunk","choices":[null,null],"usage":null}"#,
    );
    let huge = "x".repeat(16 << 20);
    add("16 MiB without structure", huge.as_bytes());
    let huge = format!(r#"{{"object":"chat.completion","choices":[{{"message":{{"content":"{huge}"}},"text":"t"}}]}}"#);
    add("an answer of 16 MiB", huge.as_bytes());

    all.push((
        "a stream without events".to_owned(),
        vec![Response::events::<&str>(&[])],
    ));
    all.push((
        "50,000 empty events".to_owned(),
        vec![Response::events(&vec![""; 50_000])],
    ));
    for golden in golden() {
        // Cut short at every byte, and with bytes changed.
        let response = golden.response;
        for length in 0..response.bytes.len() {
            let mut cut = response.clone();
            cut.bytes.truncate(length);
            cut.ends = response.ends.iter().map(|&end| end.min(length as u32)).collect();
            all.push((format!("{}, cut after {length} bytes", golden.what), vec![cut]));
        }
        for round in 0..200 {
            let mut garbled = response.clone();
            for _ in 0..=random.below(4) {
                let at = random.below(garbled.bytes.len() as u64) as usize;
                garbled.bytes[at] = random.next() as u8;
            }
            all.push((format!("{}, garbled (round {round})", golden.what), vec![garbled]));
        }
        for status in [0, 204, 404, 500] {
            let other = Response {
                status,
                ..response.clone()
            };
            all.push((format!("{}, status {status}", golden.what), vec![other]));
        }
        all.push((format!("{}, twice", golden.what), vec![response.clone(), response]));
    }
    all
}
