//! OpenAI completions.

use std::sync::Arc;

use aiperf_sdk::{
    Decoded, Endpoint, Exchange, Host, HttpRequest, PluginError, RequestInfo, Result,
    endpoint::{AuthKind, ChunkKind, EndpointDescription},
};

use crate::{
    answer::Answer,
    body::{Body, Value, estimated_length, verbatim},
    json::{Object, write_string},
    options::Core,
    reader::Reader,
    wire::Event,
};

/// The endpoint.
pub(crate) struct Completions {
    core: Core,
    reader: Reader,
}

impl Completions {
    /// An endpoint with its options.
    pub(crate) fn new(core: Core, host: Arc<dyn Host>) -> Self {
        Self {
            reader: Reader::new(host, core.per_chunk_usage, content),
            core,
        }
    }
}

impl Endpoint for Completions {
    fn describe(&self) -> Result<EndpointDescription> {
        let path = self.core.custom_path.as_deref();
        Ok(EndpointDescription {
            path: path.unwrap_or("/v1/completions").to_owned(),
            streaming_path: None,
            auth: AuthKind::Bearer,
            auth_header: String::new(),
        })
    }

    fn prepare(&self, mut request: RequestInfo) -> Result<HttpRequest> {
        if let Some(ready) = verbatim(&mut request) {
            return Ok(ready);
        }
        let [turn] = request.turns.as_slice() else {
            return Err(PluginError::input(format!(
                "a completions request takes exactly one turn, but this one has {}",
                request.turns.len()
            ))
            .with_help("use the endpoint type `chat` for conversations of several turns"));
        };
        let extra_body = match &turn.extra_body {
            Some(json) => Object::parse(json, "extra_body")?,
            None => Object::default(),
        };
        let texts = || {
            let all = turn.texts.iter().flat_map(|group| &group.contents);
            all.filter(|text| !text.is_empty())
        };
        let prompt = |out: &mut Vec<u8>| {
            let several = texts().count() != 1;
            if several {
                out.push(b'[');
            }
            for (i, text) in texts().enumerate() {
                if i > 0 {
                    out.push(b',');
                }
                write_string(out, text);
            }
            if several {
                out.push(b']');
            }
            Ok(())
        };

        let mut body = Body::new();
        body.set("prompt", Value::Written(&prompt));
        body.set("model", Value::Text(turn.model.as_deref().unwrap_or(&request.model)));
        body.set("stream", Value::Bool(request.streaming));
        if let Some(limit) = turn.max_tokens.filter(|&limit| limit > 0) {
            body.set("max_tokens", Value::Count(limit));
        }
        body.merge(&self.core.extra);
        body.merge(&extra_body);
        body.ask_for_usage(false)?;
        Ok(HttpRequest {
            headers: turn.extra_headers.clone(),
            ..HttpRequest::post(body.write(estimated_length(&request))?)
        })
    }

    fn decode(&self, exchanges: &[Exchange<'_>]) -> Result<Decoded> {
        self.reader.decode(exchanges)
    }
}

/// The content of an event: the text of the first choice.
fn content(event: &Event<'_>, index: u32, answer: &mut Answer) -> Result<()> {
    let text = event.choice.0.text.as_str();
    if matches!(event.object.as_str(), "text_completion" | "completion") && !text.is_empty() {
        answer.push(index, ChunkKind::Text, text)?;
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::testing::{body, chunks, decode, endpoint, request};
    use aiperf_sdk::{Media, Turn};

    #[test]
    fn bodies() {
        let several = Turn {
            texts: vec![Media {
                contents: vec!["a".into(), String::new(), "b".into()],
                ..Media::default()
            }],
            ..Turn::default()
        };
        let limited = |limit| Turn {
            max_tokens: Some(limit),
            ..Turn::text("hi")
        };
        for (turn, streaming, options, expected) in [
            (
                limited(5),
                true,
                "{}",
                r#"{"prompt":"hi","model":"m","stream":true,"max_tokens":5,"stream_options":{"include_usage":true}}"#,
            ),
            (limited(0), false, "{}", r#"{"prompt":"hi","model":"m","stream":false}"#),
            (
                several,
                false,
                "{}",
                r#"{"prompt":["a","b"],"model":"m","stream":false}"#,
            ),
            (
                Turn::default(),
                false,
                "{}",
                r#"{"prompt":[],"model":"m","stream":false}"#,
            ),
            (
                limited(5),
                true,
                r#"{"extra":{"n": 1, "stream_options": null},"per_chunk_usage":true}"#,
                r#"{"prompt":"hi","model":"m","stream":true,"max_tokens":5,"n":1,"stream_options":{"include_usage":true}}"#,
            ),
            (
                Turn {
                    extra_body: Some(r#"{ "max_tokens": 9, "n": 2 }"#.into()),
                    ..limited(5)
                },
                false,
                r#"{"extra":{"n":1}}"#,
                r#"{"prompt":"hi","model":"m","stream":false,"max_tokens":9,"n":2}"#,
            ),
        ] {
            let mut request = request(vec![turn]);
            request.streaming = streaming;
            assert_eq!(body("completions", options, request), expected);
        }
    }

    #[test]
    fn only_one_turn() {
        let endpoint = endpoint("completions", "").unwrap();
        for turns in [vec![], vec![Turn::text("a"), Turn::text("b")]] {
            let error = endpoint.prepare(request(turns)).unwrap_err();
            assert!(error.message.contains("exactly one turn"), "{error}");
        }
    }

    #[test]
    fn the_path_is_the_users_or_the_usual_one() {
        for (options, expected) in [
            ("{}", "/v1/completions"),
            (r#"{"custom_path":"/x"}"#, "/x"),
            (r#"{"custom_path":""}"#, ""),
        ] {
            let description = endpoint("completions", options).unwrap().describe().unwrap();
            assert_eq!(
                (description.path.as_str(), description.auth),
                (expected, AuthKind::Bearer)
            );
        }
    }

    #[test]
    fn streams_and_whole_bodies_hold_the_text_of_the_first_choice() {
        let endpoint = endpoint("completions", "").unwrap();
        let decoded = decode(
            &*endpoint,
            true,
            &[
                r#"{"object":"text_completion","choices":[{"text":"a"},{"text":"other"}]}"#,
                r#"{"object":"text_completion","choices":[{"text":""}]}"#,
                r#"{"object":"completion","choices":[{"text":"b","finish_reason":"length"}]}"#,
                r#"{"object":"chat.completion.chunk","choices":[{"text":"c","delta":{"content":"d"}}]}"#,
                r#"{"object":"text_completion","choices":[],"usage":{"completion_tokens":2}}"#,
                "[DONE]",
            ],
        );
        let text = |event, text: &str| (event, ChunkKind::Text, text.to_owned());
        assert_eq!(chunks(&decoded), [text(0, "a"), text(2, "b")]);
        assert_eq!(decoded.finish_reason.as_deref(), Some("length"));
        assert_eq!(decoded.usage.and_then(|usage| usage.completion), Some(2));
        assert_eq!(decoded.reply, None);
    }
}
