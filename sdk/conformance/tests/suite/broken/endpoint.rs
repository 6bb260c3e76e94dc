//! An endpoint of the completions dialect.

use std::sync::atomic::{AtomicU64, Ordering};

use aiperf_sdk::{
    Decoded, Endpoint, Exchange, HttpRequest, PluginError, RequestInfo, Result,
    endpoint::{AuthKind, ChunkKind, EndpointDescription, NextStep, Usage},
};
use serde_json::{Value, json};

use super::{Fault, unique};

pub(super) const FAULTS: &[Fault] = &[
    ("good", &[]),
    // Of any entry.
    ("unregistered", &["every.registered"]),
    ("accepts_any_option", &["every.unknown_option"]),
    (
        "panics_on_bad_options",
        &["every.unknown_option", "every.malformed_options"],
    ),
    ("refuses_custom_paths", &["every.core_options"]),
    ("refuses_later_options", &["every.later_core_options"]),
    ("shares_state", &["every.instances", "endpoint.describe"]),
    ("leaks", &["every.memory"]),
    ("never_returns", &["every.instances", "every.returns"]),
    // Of endpoints.
    ("describes_anew", &["endpoint.describe"]),
    ("describes_another_server", &["endpoint.describe"]),
    ("refuses_everything", &["endpoint.prepare.accepts"]),
    ("refuses_as_failed", &["endpoint.prepare.accepts"]),
    ("no_json", &["endpoint.prepare.body"]),
    ("quotes_in_part_names", &["endpoint.prepare.body"]),
    ("line_break_in_header", &["endpoint.prepare.headers"]),
    ("frames_itself", &["endpoint.prepare.headers"]),
    ("another_server", &["endpoint.prepare.path"]),
    ("ascii_only", &["endpoint.prepare.text"]),
    ("numbers_requests", &["endpoint.prepare.pure"]),
    (
        "panics_on_garbage",
        &[
            "endpoint.decode.hostile",
            "endpoint.decode.shape",
            "endpoint.decode.pure",
        ],
    ),
    ("text_in_no_chunk", &["endpoint.decode.shape"]),
    ("loses_text", &["endpoint.decode.golden"]),
    ("last_exchange_only", &["endpoint.decode.split"]),
    ("remembers", &["endpoint.decode.split", "endpoint.decode.pure"]),
    ("polls_without_end", &["endpoint.next"]),
    ("polls_another_server", &["endpoint.next"]),
];

pub(super) struct Broken {
    fault: String,
    calls: AtomicU64,
}

impl Broken {
    pub(super) fn new(fault: String) -> Self {
        Self {
            fault,
            calls: AtomicU64::new(0),
        }
    }

    fn has(&self, fault: &str) -> bool {
        self.fault == fault
    }

    fn count(&self) -> u64 {
        self.calls.fetch_add(1, Ordering::Relaxed)
    }
}

impl Endpoint for Broken {
    fn describe(&self) -> Result<EndpointDescription> {
        let path = match self.fault.as_str() {
            "shares_state" => format!("/{}", unique()),
            "describes_anew" => format!("/{}", self.count()),
            "describes_another_server" => "http://127.0.0.1:1/v1".to_owned(),
            "never_returns" => loop {
                std::thread::sleep(std::time::Duration::from_secs(3600));
            },
            _ => "/v1/completions".to_owned(),
        };
        Ok(EndpointDescription {
            path,
            streaming_path: None,
            auth: AuthKind::Bearer,
            auth_header: String::new(),
        })
    }

    fn prepare(&self, request: RequestInfo) -> Result<HttpRequest> {
        let texts: Vec<String> = request
            .turns
            .iter()
            .flat_map(|turn| &turn.texts)
            .flat_map(|group| group.contents.clone())
            .collect();
        if texts.is_empty() || self.has("refuses_everything") {
            let message = "a text is needed";
            return Err(if self.has("refuses_as_failed") {
                PluginError::failed(message)
            } else {
                PluginError::input(message)
            });
        }
        let mut text = texts.join("\n");
        if self.has("ascii_only") {
            text.retain(|c| c.is_ascii());
        }
        let mut body = json!({ "prompt": text, "model": request.model, "stream": request.streaming });
        if self.has("numbers_requests") {
            body["number"] = self.count().into();
        }
        let mut prepared = HttpRequest::post(body.to_string().into_bytes());
        match self.fault.as_str() {
            "no_json" => prepared.body = format!("prompt={text}").into_bytes(),
            "quotes_in_part_names" => prepared.parts.push(aiperf_sdk::endpoint::Part {
                name: "a\"b".to_owned(),
                file_name: None,
                content_type: None,
                data: text.into_bytes(),
            }),
            "line_break_in_header" => prepared
                .headers
                .push(("X-Model".to_owned(), "a\r\nX-Evil: b".to_owned())),
            "frames_itself" => prepared.headers.push(("content-length".to_owned(), "3".to_owned())),
            "another_server" => prepared.path = Some("//127.0.0.2/v1".to_owned()),
            _ => {}
        }
        Ok(prepared)
    }

    fn next(&self, exchanges: &[Exchange<'_>]) -> Result<NextStep> {
        let request = |path: &str| HttpRequest {
            method: "GET".to_owned(),
            path: Some(path.to_owned()),
            ..HttpRequest::post(Vec::new())
        };
        Ok(match self.fault.as_str() {
            "polls_without_end" => NextStep::Request {
                request: request("/v1/jobs/7"),
                after_ms: 0,
            },
            "polls_another_server" if exchanges.len() == 1 => NextStep::Request {
                request: request("http://127.0.0.2/v1/jobs/7"),
                after_ms: 10,
            },
            _ => NextStep::Done,
        })
    }

    fn decode(&self, exchanges: &[Exchange<'_>]) -> Result<Decoded> {
        let mut decoded = Decoded::default();
        let exchanges = match exchanges {
            [.., last] if self.has("last_exchange_only") => std::slice::from_ref(last),
            all => all,
        };
        for (index, event) in exchanges.iter().flat_map(Exchange::events).enumerate() {
            if event == b"[DONE]" {
                continue;
            }
            let parsed = serde_json::from_slice::<Value>(event);
            let event: Value = if self.has("panics_on_garbage") {
                parsed.unwrap()
            } else {
                parsed.unwrap_or_default()
            };
            if event["object"] != "text_completion" {
                continue;
            }
            let lost = self.has("loses_text") && index == 0;
            if let Some(text) = event["choices"][0]["text"].as_str().filter(|_| !lost) {
                decoded.chunks.push(index as u32, ChunkKind::Text, text)?;
            }
            if let Some(reason) = event["choices"][0]["finish_reason"].as_str() {
                decoded.finish_reason = Some(reason.to_owned());
            }
            if event["usage"].is_object() {
                decoded.usage = Some(Usage {
                    prompt: event["usage"]["prompt_tokens"].as_u64(),
                    completion: event["usage"]["completion_tokens"].as_u64(),
                    ..Usage::default()
                });
            }
        }
        match self.fault.as_str() {
            "text_in_no_chunk" => decoded.chunks.text.push('x'),
            "remembers" => decoded.facts.push(("calls".to_owned(), self.count() as f64)),
            _ => {}
        }
        Ok(decoded)
    }
}
