//! Chat, as the mock server speaks it.

use aiperf_sdk::prelude::*;
use serde_json::{Value, json};

use crate::behaviour::{Behaviour, Fault, no_text};

pub(crate) struct Hostile(pub(crate) Behaviour);

impl Endpoint for Hostile {
    fn describe(&self) -> Result<EndpointDescription> {
        self.0.enter("describe");
        let path = if self.0.is("foreign_path") {
            "http://192.0.2.1/v1"
        } else {
            "/v1/chat/completions"
        };
        Ok(EndpointDescription {
            path: path.into(),
            streaming_path: None,
            auth: AuthKind::Bearer,
            auth_header: String::new(),
        })
    }

    fn prepare(&self, request: RequestInfo) -> Result<HttpRequest> {
        self.0.enter("prepare");
        let content = request
            .turns
            .last()
            .and_then(|turn| turn.texts.first()?.contents.first().cloned())
            .unwrap_or_default();
        let body =
            json!({ "model": request.model, "messages": [{ "role": "user", "content": content }], "max_tokens": 3 });
        let mut prepared = HttpRequest::post(body.to_string().into_bytes());
        let faults: [Fault<HttpRequest>; 11] = [
            ("method_break", |r| {
                r.method = "POST / HTTP/1.1\r\nX: y\r\n\r\nGET".into()
            }),
            ("path_break", |r| {
                r.path = Some("/v1 HTTP/1.1\r\nHost: 192.0.2.1\r\n\r\n".into())
            }),
            ("path_absolute", |r| r.path = Some("http://192.0.2.1/v1".into())),
            ("path_other_host", |r| r.path = Some("//192.0.2.1/v1".into())),
            ("header_name_break", |r| {
                r.headers.push(("X\r\nEvil".into(), "v".into()))
            }),
            ("header_value_break", |r| {
                r.headers.push(("X".into(), "v\r\nEvil: v".into()))
            }),
            ("header_host", |r| r.headers.push(("Host".into(), "192.0.2.1".into()))),
            ("header_length", |r| {
                r.headers.push(("Content-Length".into(), "1".into()))
            }),
            ("header_chunked", |r| {
                r.headers.push(("transfer-encoding".into(), "chunked".into()))
            }),
            ("no_text_in_path", |r| r.path = Some(no_text())),
            ("no_text_in_header", |r| r.headers.push(("X".into(), no_text()))),
        ];
        for (fault, change) in faults {
            if self.0.is(fault) {
                change(&mut prepared);
            }
        }
        Ok(prepared)
    }

    fn next(&self, _: &[Exchange<'_>]) -> Result<NextStep> {
        self.0.enter("next");
        let later = |path: &str, after_ms| NextStep::Request {
            request: HttpRequest::get(path),
            after_ms,
        };
        if self.0.is("poll_other_host") {
            return Ok(later("http://192.0.2.1/", 0));
        }
        if self.0.is("poll_for_ever") {
            return Ok(later("/health", 1));
        }
        if self.0.is("poll_next_century") {
            return Ok(later("/health", u64::MAX));
        }
        Ok(NextStep::Done)
    }

    fn decode(&self, exchanges: &[Exchange<'_>]) -> Result<Decoded> {
        self.0.enter("decode");
        if self.0.is("refuse") {
            return Err(PluginError::failed("I will not read this"));
        }
        let mut decoded = Decoded::default();
        for exchange in exchanges {
            for body in exchange.events() {
                let body: Value = serde_json::from_slice(body).unwrap_or_default();
                if let Some(text) = body.pointer("/choices/0/message/content").and_then(Value::as_str) {
                    decoded.chunks.push(0, ChunkKind::Text, text)?;
                }
            }
        }
        let faults: [Fault<Decoded>; 9] = [
            ("chunk_count", |d| d.chunks.kinds.clear()),
            ("chunk_ends", |d| d.chunks.ends = vec![u32::MAX; d.chunks.events.len()]),
            ("chunk_lost", |d| d.chunks.text.push_str(" lost")),
            ("chunk_event", |d| {
                d.chunks.events = vec![u32::MAX; d.chunks.events.len()]
            }),
            ("chunk_order", |d| {
                d.chunks.events.insert(0, 1);
                d.chunks.kinds.insert(0, 0);
                d.chunks.ends.insert(0, 0);
            }),
            ("fact_nan", |d| d.facts.push(("speed".into(), f64::NAN))),
            ("no_text_in_chunks", |d| {
                d.chunks.text = no_text();
                d.chunks.ends = vec![3; d.chunks.events.len()];
            }),
            ("no_text_in_label", |d| d.labels.push(("a".into(), no_text()))),
            ("no_text_in_reply", |d| d.reply = Some(Turn::text(no_text()))),
        ];
        for (fault, change) in faults {
            if self.0.is(fault) {
                change(&mut decoded);
            }
        }
        if self.0.is("no_text_in_error") {
            return Err(PluginError::failed(no_text()));
        }
        Ok(decoded)
    }
}
