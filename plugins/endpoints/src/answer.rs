//! What the events of a response add up to.

use std::{
    borrow::Cow,
    sync::{
        Arc,
        atomic::{AtomicBool, Ordering},
    },
};

use aiperf_sdk::{
    Decoded, Exchange, Host, PluginError, Result, Turn,
    endpoint::{ChunkKind, ResponseError},
    host::LogLevel,
};
use serde_json::Value;

use crate::{
    pattern::{Pattern, Place},
    tool_call::ToolCalls,
    wire::{Event, Message},
};

/// Kind of an error whose type the server does not tell.
const RESPONSE_ERROR: &str = "ResponseError";
/// Kind of an answer that is no JSON.
const INVALID_RESPONSE: &str = "InvalidResponse";
/// Characters of such an answer that are kept.
const EXCERPT: usize = 200;

/// Adds the content of an event with the given index.
type Content = fn(&Event<'_>, u32, &mut Answer) -> Result<()>;

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
            answer.first_chunk_usage = self.per_chunk_usage && exchange.streamed;
            answer.reserve(exchange.ends.len());
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
        match serde_json::from_str(&text) {
            Ok(event) => return self.add(&event, &text, index, answer),
            Err(error) if streamed => self.warn(&text, &error),
            Err(_) => answer.fail(ResponseError {
                code: None,
                kind: INVALID_RESPONSE.to_owned(),
                message: format!("the answer is not JSON: {}", excerpt(&text)),
            }),
        }
        Ok(None)
    }

    fn add(&self, event: &Event<'_>, text: &str, index: u32, answer: &mut Answer) -> Result<Option<Place>> {
        let choice = &event.choice.0;
        let error = event.error.is_some() || event.object.as_str() == "error";
        if error {
            answer.fail_with(event, text);
        }
        let chunks = answer.decoded.chunks.len();
        answer.place = None;
        (self.content)(event, index, answer)?;
        let only_text = answer.decoded.chunks.len() == chunks + 1
            && !error
            && event.usage.0.is_none()
            && choice.finish_reason.as_str().is_empty()
            && [&choice.delta, &choice.message]
                .into_iter()
                .flatten()
                .all(|message| message.tool_calls.0.is_empty())
            && event.metrics.speculative_decoding.is_none();
        let decoded = &mut answer.decoded;
        if let Some(usage) = &event.usage.0 {
            if answer.first_chunk_usage && chunks == 0 && !decoded.chunks.is_empty() {
                decoded.first_chunk_tokens = usage.completion;
            }
            decoded.usage = Some(**usage);
        }
        if !choice.finish_reason.as_str().is_empty() {
            decoded.finish_reason = Some(choice.finish_reason.as_str().to_owned());
        }
        if let Some(stats) = event
            .metrics
            .speculative_decoding
            .filter(|json| json.get().starts_with('{'))
        {
            answer.speculative_decoding = Some(stats.get().to_owned());
        }
        Ok(answer.place.filter(|_| only_text))
    }

    /// Once for each endpoint: a server that does it does it in every response.
    fn warn(&self, text: &str, error: &serde_json::Error) {
        if !self.warned.swap(true, Ordering::Relaxed) {
            let message = format!("skipped an event that is not JSON ({error}): {}", excerpt(text));
            self.host.log(LogLevel::Warning, &message);
        }
    }
}

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

    fn reserve(&mut self, events: usize) {
        let chunks = &mut self.decoded.chunks;
        chunks.events.reserve(events);
        chunks.kinds.reserve(events);
        chunks.ends.reserve(events);
    }

    /// The first error of a response is the cause of the others.
    fn fail(&mut self, error: ResponseError) {
        self.decoded.error.get_or_insert(error);
    }

    #[cold]
    fn fail_with(&mut self, event: &Event<'_>, text: &str) {
        let error = match event.error {
            Some(error) => response_error(error.get()),
            // vLLM's older form: the error's fields are the event's.
            None => response_error(text),
        };
        if let Some(error) = error {
            self.fail(error);
        }
    }

    fn finish(mut self) -> Decoded {
        self.decoded.reply = self.reply();
        if let Some(stats) = self.speculative_decoding {
            self.decoded.labels.push(("speculative_decoding".to_owned(), stats));
        }
        self.decoded
    }

    /// The answer for the history: the text, else the reasoning; with tool calls the message as the server would have it.
    fn reply(&self) -> Option<Turn> {
        let of_kind = |wanted: ChunkKind| -> String {
            let chunks = self.decoded.chunks.iter();
            chunks
                .filter(|(_, kind, _)| *kind == wanted)
                .map(|(_, _, text)| text)
                .collect()
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

/// An error from its JSON: an object or a bare message. Values that say "no error" (null, false, empty) give none.
fn response_error(json: &str) -> Option<ResponseError> {
    let value: Value = serde_json::from_str(json).ok()?;
    let error = |message: String| ResponseError {
        code: None,
        kind: RESPONSE_ERROR.to_owned(),
        message,
    };
    match &value {
        Value::Null | Value::Bool(false) => None,
        Value::String(message) if message.is_empty() => None,
        Value::String(message) => Some(error(message.clone())),
        Value::Object(fields) if fields.is_empty() => None,
        Value::Object(fields) => {
            let text = |name: &str| {
                let text = fields.get(name).and_then(Value::as_str);
                text.filter(|text| !text.is_empty()).map(str::to_owned)
            };
            Some(ResponseError {
                code: fields
                    .get("code")
                    .and_then(Value::as_u64)
                    .and_then(|code| u16::try_from(code).ok()),
                kind: text("type")
                    .or_else(|| text("code"))
                    .unwrap_or_else(|| RESPONSE_ERROR.to_owned()),
                message: text("message").unwrap_or_else(|| json.to_owned()),
            })
        }
        _ => Some(error(json.to_owned())),
    }
}

fn excerpt(text: &str) -> String {
    text.chars().take(EXCERPT).collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::testing::{TestHost, chunks, decode, endpoint, endpoint_with};
    use ChunkKind::{Reasoning, Text, ToolCall};

    fn chat(streamed: bool, events: &[&str]) -> Decoded {
        decode(&*endpoint("chat", "").unwrap(), streamed, events)
    }

    /// A stream event with this delta.
    fn delta(delta: &str) -> String {
        format!(
            r#"{{"id":"x","object":"chat.completion.chunk","created":1,"choices":[{{"index":0,"delta":{delta}}}]}}"#
        )
    }

    fn stream(deltas: &[&str]) -> Decoded {
        let events: Vec<String> = deltas.iter().map(|text| delta(text)).collect();
        decode(&*endpoint("chat", "").unwrap(), true, &events)
    }

    #[test]
    fn content_of_an_event() {
        for (json, expected) in [
            (r#"{"role":"assistant","content":""}"#, vec![]),
            (r#"{"content":null}"#, vec![]),
            (r#"{}"#, vec![]),
            ("null", vec![]),
            (r#"{"content":"a\nb"}"#, vec![(Text, "a\nb")]),
            (r#"{"content":["odd"],"role":7}"#, vec![]),
            (r#"{"reasoning_content":"r"}"#, vec![(Reasoning, "r")]),
            (r#"{"reasoning":"r","reasoning_content":null}"#, vec![(Reasoning, "r")]),
            (
                r#"{"reasoning":"no","reasoning_content":"r","content":"c"}"#,
                vec![(Reasoning, "r"), (Text, "c")],
            ),
            (r#"{"reasoning":"","content":"c"}"#, vec![(Text, "c")]),
            (
                r#"{"content":"c","tool_calls":[{"function":{"name":"f","arguments":"{"}},{"function":{"arguments":"}"}}]}"#,
                vec![(Text, "c"), (ToolCall, "f{}")],
            ),
            (r#"{"tool_calls":[{"index":0,"id":"i","function":null}]}"#, vec![]),
            (r#"{"tool_calls":null,"content":"c"}"#, vec![(Text, "c")]),
            (
                r#"{"function_call":{"name":"f","arguments":"x"}}"#,
                vec![(ToolCall, "fx")],
            ),
        ] {
            let expected: Vec<_> = expected
                .into_iter()
                .map(|(kind, text)| (0, kind, text.to_owned()))
                .collect();
            assert_eq!(chunks(&stream(&[json])), expected, "{json}");
            let whole = format!(r#"{{"object":"chat.completion","choices":[{{"message":{json}}}]}}"#);
            assert_eq!(chunks(&chat(false, &[&whole])), expected, "{whole}");
        }
    }

    proptest::proptest! {
        /// An event says the same after others as it says alone.
        #[test]
        fn events_are_read_one_by_one(picks in proptest::collection::vec(0..12usize, 0..12)) {
            let kinds = [
                r#"{"content":"a"}"#, r#"{"content":" b"}"#, r#"{"content":"c\"}"#, r#"{"content":"d\\"}"#,
                r#"{"content":""}"#, r#"{"content":"e","tool_calls":[]}"#, r#"{"content":"f","tool_calls":[{}]}"#,
                r#"{"reasoning":"g"}"#, r#"{"reasoning":"h"}"#, r#"{"reasoning":"i","content":"j"}"#,
                r#"{"reasoning":"k","reasoning_content":"k"}"#, r#"{"content":"l"},"finish_reason":"stop""#,
            ];
            let deltas: Vec<&str> = picks.iter().map(|&pick| kinds[pick]).collect();
            let alone: Vec<_> = (0..)
                .zip(&deltas)
                .flat_map(|(index, delta)| {
                    chunks(&stream(&[delta])).into_iter().map(move |(_, kind, text)| (index, kind, text))
                })
                .collect();
            proptest::prop_assert_eq!(chunks(&stream(&deltas)), alone);
        }
    }

    #[test]
    fn the_object_says_which_events_have_content() {
        for (event, content) in [
            (
                r#"{"object":"chat.completion.chunk","choices":[{"delta":{"content":"c"}}],"usage":{"total_tokens":3}}"#,
                true,
            ),
            (
                r#"{"object":"chat.completion.chunk","choices":[{"message":{"content":"c"}}],"usage":{"total_tokens":3}}"#,
                false,
            ),
            (
                r#"{"object":"chat.completion","choices":[{"delta":{"content":"c"}}],"usage":{"total_tokens":3}}"#,
                false,
            ),
            (
                r#"{"object":"text_completion","choices":[{"delta":{"content":"c"}}],"usage":{"total_tokens":3}}"#,
                false,
            ),
            (
                r#"{"choices":[{"delta":{"content":"c"}}],"usage":{"total_tokens":3}}"#,
                false,
            ),
            (
                r#"{"object":"chat.completion.chunk","choices":[],"usage":{"total_tokens":3}}"#,
                false,
            ),
            (
                r#"{"object":"chat.completion.chunk","choices":null,"usage":{"total_tokens":3}}"#,
                false,
            ),
        ] {
            let decoded = chat(true, &[event]);
            assert_eq!(!decoded.chunks.is_empty(), content, "{event}");
            assert_eq!(
                decoded.usage.and_then(|usage| usage.total),
                Some(3),
                "usage is read anyway: {event}"
            );
        }
    }

    #[test]
    fn a_stream_adds_up() {
        let events = [
            delta(r#"{"role":"assistant","content":""}"#),
            delta(r#"{"reasoning_content":"Hm. "}"#),
            delta(r#"{"content":"Hel"}"#),
            String::new(),
            delta(r#"{"content":"lo"}"#),
            r#"{"object":"chat.completion.chunk","choices":[{"delta":{},"finish_reason":"stop"}],"usage":null}"#
                .to_owned(),
            r#"{"object":"chat.completion.chunk","choices":[],"usage":{"prompt_tokens":9,"completion_tokens":4}}"#
                .to_owned(),
            r#"{"object":"chat.completion.chunk","choices":[],"usage":{}}"#.to_owned(),
            " [DONE] ".to_owned(),
        ];
        let decoded = decode(&*endpoint("chat", "").unwrap(), true, &events);
        let expected = [(1, Reasoning, "Hm. "), (2, Text, "Hel"), (4, Text, "lo")];
        assert_eq!(
            chunks(&decoded),
            expected.map(|(event, kind, text)| (event, kind, text.to_owned()))
        );
        let usage = decoded.usage.unwrap();
        assert_eq!((usage.prompt, usage.completion, usage.total), (Some(9), Some(4), None));
        assert_eq!(decoded.finish_reason.as_deref(), Some("stop"));
        assert_eq!((decoded.error, decoded.first_chunk_tokens), (None, None));
        let reply = decoded.reply.unwrap();
        assert_eq!(
            (reply.role(), reply.texts[0].contents.as_slice()),
            ("assistant", &["Hello".to_owned()][..])
        );
    }

    #[test]
    fn tokens_of_the_first_chunk_are_told_where_usage_comes_with_each() {
        let event = |content: &str, tokens: u64| {
            format!(
                r#"{{"object":"chat.completion.chunk","choices":[{{"delta":{{"content":"{content}"}}}}],
                    "usage":{{"completion_tokens":{tokens}}}}}"#
            )
        };
        let events = [event("", 0), event("a", 2), event("b", 5)];
        for (options, expected) in [(r#"{"per_chunk_usage":true}"#, Some(2)), ("{}", None)] {
            let decoded = decode(&*endpoint("chat", options).unwrap(), true, &events);
            assert_eq!(decoded.first_chunk_tokens, expected);
            assert_eq!(decoded.usage.and_then(|usage| usage.completion), Some(5));
        }
    }

    #[test]
    fn replies() {
        for (deltas, texts, raw) in [
            (
                vec![r#"{"reasoning":"only "}"#, r#"{"reasoning":"this"}"#],
                Some("only this"),
                None,
            ),
            (vec![r#"{"reasoning":"r","content":"c"}"#], Some("c"), None),
            (vec![r#"{"content":""}"#], None, None),
            (
                vec![
                    r#"{"content":"I look."}"#,
                    r#"{"tool_calls":[{"index":1,"id":"b","type":"function","function":{"name":"g","arguments":""}}]}"#,
                    r#"{"tool_calls":[{"index":0,"id":"a","type":"function","function":{"name":"f","arguments":"{\"x\""}}]}"#,
                    r#"{"tool_calls":[{"index":0,"function":{"arguments":":1}"}},{"index":1,"function":{"arguments":"{}"}}]}"#,
                ],
                None,
                Some(concat!(
                    r#"[{"role":"assistant","content":"I look.","tool_calls":["#,
                    r#"{"id":"a","type":"function","function":{"name":"f","arguments":"{\"x\":1}"}},"#,
                    r#"{"id":"b","type":"function","function":{"name":"g","arguments":"{}"}}]}]"#
                )),
            ),
            // Without an index each is a call of its own.
            (
                vec![r#"{"tool_calls":[{"id":"a","function":{"name":"f"}},{"id":"b","function":{"name":"g"}}]}"#],
                None,
                Some(concat!(
                    r#"[{"role":"assistant","content":null,"tool_calls":["#,
                    r#"{"id":"a","type":"function","function":{"name":"f","arguments":""}},"#,
                    r#"{"id":"b","type":"function","function":{"name":"g","arguments":""}}]}]"#
                )),
            ),
            (
                vec![
                    r#"{"function_call":{"name":"f","arguments":"{"}}"#,
                    r#"{"function_call":{"arguments":"}"}}"#,
                ],
                None,
                Some(
                    r#"[{"role":"assistant","content":null,"tool_calls":[{"type":"function","function":{"name":"f","arguments":"{}"}}]}]"#,
                ),
            ),
        ] {
            let reply = stream(&deltas).reply;
            let found = reply
                .as_ref()
                .and_then(|turn| turn.texts.first())
                .map(|text| text.contents.concat());
            assert_eq!(found.as_deref(), texts, "{deltas:?}");
            assert_eq!(reply.and_then(|turn| turn.raw_messages).as_deref(), raw, "{deltas:?}");
        }
    }

    #[test]
    fn errors_inside_a_response_keep_the_servers_words() {
        for (event, code, kind, message) in [
            (
                r#"{"error":{"message":"overloaded","type":"server_error","code":503}}"#,
                Some(503),
                "server_error",
                "overloaded",
            ),
            (
                r#"{"error":{"message":"slow down","type":null,"code":"rate_limit"}}"#,
                None,
                "rate_limit",
                "slow down",
            ),
            (r#"{"error":"boom"}"#, None, "ResponseError", "boom"),
            (
                r#"{"error":{"reason":"odd"}}"#,
                None,
                "ResponseError",
                r#"{"reason":"odd"}"#,
            ),
            (r#"{"error":{"message":"m","code":70000}}"#, None, "ResponseError", "m"),
            (
                r#"{"object":"error","message":"too long","type":"BadRequestError","param":null,"code":400}"#,
                Some(400),
                "BadRequestError",
                "too long",
            ),
        ] {
            for (streamed, events) in [
                (false, vec![event]),
                (true, vec![&delta(r#"{"content":"a"}"#), event, "[DONE]"]),
            ] {
                let error = chat(streamed, &events).error.unwrap();
                let found = (error.code, error.kind.as_str(), error.message.as_str());
                assert_eq!(found, (code, kind, message), "{event}");
            }
        }
        for event in [
            r#"{"object":"chat.completion","error":null}"#,
            r#"{"error":false}"#,
            r#"{"error":""}"#,
            r#"{"error":{}}"#,
        ] {
            assert_eq!(chat(false, &[event]).error, None, "{event}");
        }
        let first = chat(true, &[r#"{"error":"first"}"#, r#"{"error":"second"}"#])
            .error
            .unwrap();
        assert_eq!(first.message, "first");
    }

    #[test]
    fn a_body_that_is_not_json_is_an_error_with_its_beginning() {
        let page = format!("<html>{}</html>", "é".repeat(300));
        let error = chat(false, &[&page]).error.unwrap();
        assert_eq!((error.code, error.kind.as_str()), (None, "InvalidResponse"));
        assert_eq!(
            error.message,
            format!("the answer is not JSON: <html>{}", "é".repeat(194))
        );
        for nothing in ["", " \n", "null", "[DONE]"] {
            assert_eq!(chat(false, &[nothing]), Decoded::default(), "{nothing:?}");
        }
    }

    #[test]
    fn an_event_that_is_not_json_is_skipped_with_one_warning() {
        let host = Arc::new(TestHost::default());
        let endpoint = endpoint_with("chat", "", host.clone()).unwrap();
        let event = delta(r#"{"content":"a"}"#);
        for _ in 0..2 {
            let decoded = decode(&*endpoint, true, &["not json", "{\"a\":1}\n{\"b\":2}", &event]);
            assert_eq!(chunks(&decoded), [(2, Text, "a".to_owned())]);
            assert_eq!(decoded.error, None);
        }
        let log = host.0.lock().unwrap();
        assert_eq!(log.len(), 1, "{log:?}");
        assert!(log[0].ends_with(": not json"), "{log:?}");
    }

    #[test]
    fn bad_utf_8_is_replaced() {
        let event = [&delta(r#"{"content":"a#"}"#).into_bytes()[..]].concat();
        let event: Vec<u8> = event
            .into_iter()
            .map(|byte| if byte == b'#' { 0xff } else { byte })
            .collect();
        let decoded = decode(&*endpoint("chat", "").unwrap(), true, &[event]);
        assert_eq!(decoded.chunks.text, "a\u{fffd}");
    }

    #[test]
    fn speculative_decoding_is_passed_on() {
        let event =
            r#"{"object":"chat.completion.chunk","choices":[],"metrics":{"speculative_decoding":{"accepted":[1, 2]}}}"#;
        let decoded = chat(true, &[event]);
        let expected = ("speculative_decoding".to_owned(), r#"{"accepted":[1, 2]}"#.to_owned());
        assert_eq!(decoded.labels, [expected]);
        let none = r#"{"object":"chat.completion.chunk","metrics":{"speculative_decoding":null}}"#;
        assert!(chat(true, &[none]).labels.is_empty());
    }

    #[test]
    fn events_are_numbered_over_all_exchanges() {
        let endpoint = endpoint("chat", "").unwrap();
        let event = delta(r#"{"content":"a"}"#);
        let exchange = Exchange {
            status: 200,
            streamed: true,
            content_type: "",
            bytes: event.as_bytes(),
            ends: &[event.len() as u32],
        };
        let decoded = endpoint.decode(&[exchange, exchange]).unwrap();
        assert_eq!(decoded.chunks.events, [0, 1]);
    }

    /// JSON of the usual names with values of any kind.
    fn odd_json() -> impl proptest::strategy::Strategy<Value = String> {
        use proptest::prelude::*;
        let leaf = prop_oneof![
            Just("null".to_owned()),
            Just("1e3".to_owned()),
            Just("-7".to_owned()),
            Just("\"chat.completion.chunk\"".to_owned()),
            any::<u64>().prop_map(|number| number.to_string()),
        ];
        let names = proptest::sample::select(vec![
            "object",
            "choices",
            "delta",
            "message",
            "content",
            "reasoning",
            "tool_calls",
            "function",
            "name",
            "arguments",
            "index",
            "usage",
            "tokens",
            "meta",
            "prompt_tokens",
            "input_tokens",
            "prompt_tokens_details",
            "error",
            "code",
            "metrics",
            "speculative_decoding",
            "finish_reason",
        ]);
        leaf.prop_recursive(8, 60, 6, move |inner| {
            prop_oneof![
                proptest::collection::vec(inner.clone(), 0..3).prop_map(|items| format!("[{}]", items.join(","))),
                proptest::collection::vec((names.clone(), inner), 0..6).prop_map(|fields| {
                    let fields: Vec<String> = fields
                        .iter()
                        .map(|(name, value)| format!("\"{name}\":{value}"))
                        .collect();
                    format!("{{{}}}", fields.join(","))
                }),
            ]
        })
    }

    proptest::proptest! {
        #[test]
        fn no_bytes_make_it_panic(events: Vec<Vec<u8>>, streamed: bool, chat: bool) {
            let endpoint = endpoint(if chat { "chat" } else { "completions" }, "").unwrap();
            decode(&*endpoint, streamed, &events);
        }

        #[test]
        fn no_json_makes_it_panic_or_is_taken_for_something_else(json in odd_json(), chat: bool) {
            let endpoint = endpoint(if chat { "chat" } else { "completions" }, "").unwrap();
            let error = decode(&*endpoint, false, &[&json]).error;
            proptest::prop_assert!(error.is_none_or(|error| error.kind != INVALID_RESPONSE), "{}", json);
        }
    }
}
