//! The endpoint: `POST /v2/generate`, key in `X-Acme-Key`, answers as a stream of events or in one piece.

use aiperf_sdk::prelude::*;
use serde_json::{Map, Value, json};

use crate::event::{Counts, Event};

/// Options of the entry (`--plugin-opt endpoint/acme_generate.tier=priority`).
#[derive(Debug, Default, serde::Deserialize)]
#[serde(default, deny_unknown_fields)]
struct Options {
    /// Sent as `X-Acme-Tier`.
    tier: Tier,
}

/// Which queue of the server takes a request.
#[derive(Debug, Default, Clone, Copy, serde::Deserialize)]
#[serde(rename_all = "lowercase")]
enum Tier {
    #[default]
    Standard,
    Priority,
}

/// What the core passes, as far as it matters here.
#[derive(Debug, Default, serde::Deserialize)]
#[serde(default)]
struct Core {
    /// `--extra-inputs`: merged over the top level of each body.
    extra: Map<String, Value>,
}

/// The endpoint.
pub struct Generate {
    tier: Tier,
    extra: Map<String, Value>,
}

impl Generate {
    /// Reads its options.
    ///
    /// # Errors
    /// When one is unknown or wrong.
    pub fn new(open: &Open) -> Result<Self> {
        let Options { tier } = open.options()?;
        let Core { extra } = open.core()?;
        Ok(Self { tier, extra })
    }
}

impl Endpoint for Generate {
    fn describe(&self) -> Result<EndpointDescription> {
        Ok(EndpointDescription {
            path: "/v2/generate".into(),
            streaming_path: None,
            auth: AuthKind::Header,
            auth_header: "X-Acme-Key".into(),
        })
    }

    fn prepare(&self, request: RequestInfo) -> Result<HttpRequest> {
        let mut lines = Vec::new();
        if let Some(system) = &request.system_message {
            lines.push(json!({ "speaker": "system", "say": system }));
        }
        if let Some(context) = &request.user_context {
            lines.push(json!({ "speaker": "user", "say": context }));
        }
        for turn in &request.turns {
            lines.push(json!({ "speaker": turn.role(), "say": text_of(turn)? }));
        }
        let mut body = Map::new();
        body.insert("model".into(), request.model.into());
        body.insert("stream".into(), request.streaming.into());
        body.insert("conversation".into(), lines.into());
        let last = request.turns.last();
        if let Some(limit) = last.and_then(|turn| turn.max_tokens) {
            body.insert("limits".into(), json!({ "tokens": limit }));
        }
        body.extend(self.extra.clone());
        if let Some(extra) = last.and_then(|turn| turn.extra_body.as_deref()) {
            let extra: Map<String, Value> = serde_json::from_str(extra)
                .map_err(|error| PluginError::input(format!("the turn's extra body: {error}")))?;
            body.extend(extra);
        }
        let mut http = HttpRequest::post(Value::Object(body).to_string().into_bytes());
        let tier = match self.tier {
            Tier::Standard => "standard",
            Tier::Priority => "priority",
        };
        http.headers.push(("X-Acme-Tier".into(), tier.into()));
        http.headers
            .extend(last.iter().flat_map(|turn| turn.extra_headers.clone()));
        Ok(http)
    }

    fn decode(&self, exchanges: &[Exchange<'_>]) -> Result<Decoded> {
        let mut decoded = Decoded::default();
        let events = exchanges.iter().flat_map(Exchange::events);
        for (index, data) in (0..).zip(events) {
            let event: Event = serde_json::from_slice(data)
                .map_err(|error| PluginError::input(format!("event {index} of the response is not Acme's: {error}")))?;
            match event {
                Event::Thought { text } => decoded.chunks.push(index, ChunkKind::Reasoning, &text)?,
                Event::Delta { text } => {
                    decoded.chunks.push(index, ChunkKind::Text, &text)?;
                }
                Event::Answer { text, reason, counts } => {
                    decoded.chunks.push(index, ChunkKind::Text, &text)?;
                    finish(&mut decoded, reason, counts);
                }
                Event::End(end) => finish(&mut decoded, end.reason, end.counts),
                Event::Error { code, message } => {
                    decoded.error = Some(ResponseError {
                        code,
                        kind: "AcmeError".into(),
                        message,
                    });
                }
                Event::Unknown => {}
            }
        }
        Ok(decoded)
    }
}

fn finish(decoded: &mut Decoded, reason: Option<String>, counts: Option<Counts>) {
    decoded.finish_reason = reason;
    decoded.usage = counts.map(Usage::from).filter(|usage| !usage.is_empty());
}

/// The text of a turn. What the dialect can't say is an error: a request without its image would measure something else.
fn text_of(turn: &Turn) -> Result<String> {
    let unsupported = [
        (!turn.images.is_empty(), "images"),
        (!turn.audios.is_empty(), "audio"),
        (!turn.videos.is_empty(), "videos"),
        (turn.raw_messages.is_some(), "messages of another dialect"),
        (turn.raw_tools.is_some(), "tools"),
    ];
    if let Some((_, what)) = unsupported.iter().find(|(present, _)| *present) {
        return Err(PluginError::input(format!("the Acme API takes no {what}"))
            .with_help("use a dataset of plain text with this endpoint"));
    }
    let texts: Vec<&str> = turn
        .texts
        .iter()
        .flat_map(|group| &group.contents)
        .map(String::as_str)
        .collect();
    Ok(texts.join("\n"))
}

#[cfg(test)]
mod tests {
    use super::*;
    use aiperf_sdk::testing::{self, Response};

    fn endpoint(options: &str) -> Generate {
        Generate::new(&testing::open("acme_generate", options)).unwrap()
    }

    fn body(endpoint: &Generate, request: RequestInfo) -> Value {
        serde_json::from_slice(&endpoint.prepare(request).unwrap().body).unwrap()
    }

    #[test]
    fn a_conversation_is_lines_with_speakers() {
        let reply = Turn {
            role: "assistant".into(),
            ..Turn::text("Hello")
        };
        let last = Turn {
            max_tokens: Some(5),
            extra_body: Some(r#"{"seed": 1}"#.into()),
            ..Turn::text("How are you?")
        };
        let mut request = testing::request(vec![Turn::text("Hi"), reply, last]);
        request.system_message = Some("Be brief.".into());
        let mut open = testing::open("acme_generate", "");
        open.core = r#"{"extra": {"seed": 7, "top_k": 3}}"#.into();
        let with_extra = Generate::new(&open).unwrap();
        assert_eq!(
            body(&with_extra, request),
            json!({
                "model": "test-model",
                "stream": true,
                "conversation": [
                    { "speaker": "system", "say": "Be brief." },
                    { "speaker": "user", "say": "Hi" },
                    { "speaker": "assistant", "say": "Hello" },
                    { "speaker": "user", "say": "How are you?" },
                ],
                "limits": { "tokens": 5 },
                "seed": 1,
                "top_k": 3,
            })
        );
    }

    #[test]
    fn the_key_goes_into_a_header_and_the_tier_too() {
        let endpoint = endpoint(r#"{"tier": "priority"}"#);
        let description = endpoint.describe().unwrap();
        assert_eq!(
            (description.auth, description.auth_header.as_str()),
            (AuthKind::Header, "X-Acme-Key")
        );
        let http = endpoint.prepare(testing::request(vec![Turn::text("Hi")])).unwrap();
        assert_eq!(http.headers, [("X-Acme-Tier".to_owned(), "priority".to_owned())]);
    }

    #[test]
    fn wrong_options_and_turns_are_refused() {
        for (options, named) in [
            (r#"{"tier": "gold"}"#, "`tier`"),
            (r#"{"teir": "priority"}"#, "`teir`"),
            (r#"{"extra": {}}"#, "`extra`"),
        ] {
            let error = Generate::new(&testing::open("acme_generate", options)).err().unwrap();
            assert!(error.message.contains(named), "{error}");
        }
        let image = Turn {
            images: vec![Media::one("http://127.0.0.1/a.png")],
            ..Turn::text("What is this?")
        };
        let error = endpoint("").prepare(testing::request(vec![image])).unwrap_err();
        assert!(error.message.contains("images") && error.help.is_some(), "{error}");
    }

    #[test]
    fn a_stream() {
        let decoded = testing::decode(
            &endpoint(""),
            &Response::events([
                r#"{"kind": "thought", "text": "Hm."}"#,
                r#"{"kind": "delta", "text": "Hel"}"#,
                r#"{"kind": "heartbeat"}"#,
                r#"{"kind": "delta", "text": "lo", "since": "2.1"}"#,
                r#"{"kind": "end", "reason": "stop", "counts": {"prompt": 12, "generated": 5}}"#,
            ]),
        )
        .unwrap();
        assert_eq!(
            testing::chunks(&decoded),
            [
                (0, ChunkKind::Reasoning, "Hm."),
                (1, ChunkKind::Text, "Hel"),
                (3, ChunkKind::Text, "lo"),
            ]
        );
        let usage = decoded.usage.unwrap();
        assert_eq!((usage.prompt, usage.completion, usage.total), (Some(12), Some(5), None));
        assert_eq!(decoded.finish_reason.as_deref(), Some("stop"));
    }

    #[test]
    fn an_answer_in_one_piece() {
        let response = Response::json(r#"{"kind": "answer", "text": "Hello", "counts": {}}"#);
        let decoded = testing::decode(&endpoint(""), &response).unwrap();
        assert_eq!(testing::chunks(&decoded), [(0, ChunkKind::Text, "Hello")]);
        assert_eq!((decoded.usage, decoded.finish_reason), (None, None), "unknown is not 0");
    }

    #[test]
    fn failures_inside_a_response() {
        let response = Response::events([r#"{"kind": "error", "code": 429, "message": "too many"}"#]);
        let error = testing::decode(&endpoint(""), &response).unwrap().error.unwrap();
        assert_eq!((error.code, error.message.as_str()), (Some(429), "too many"));
        for event in ["", "[DONE]", "{}", r#"{"kind": "delta"}"#] {
            let error = testing::decode(&endpoint(""), &Response::events([event])).unwrap_err();
            assert!(error.message.contains("event 0"), "{error}");
        }
    }
}
