//! Endpoints beyond one JSON exchange.

use aiperf_sdk::{
    Chunks, Decoded, Endpoint, Exchange, HttpRequest, PluginError, RequestInfo, Result, Turn,
    endpoint::{AuthKind, ChunkKind, EndpointDescription, NextStep, Part, ResponseError, Usage},
};
use serde_json::Value;

fn described(path: &str) -> EndpointDescription {
    EndpointDescription {
        path: path.to_owned(),
        streaming_path: Some(format!("{path}/stream")),
        auth: AuthKind::Header,
        auth_header: "x-api-key".to_owned(),
    }
}

fn request(method: &str, path: Option<String>) -> HttpRequest {
    HttpRequest {
        method: method.to_owned(),
        path,
        headers: vec![("X-Version".to_owned(), "7".to_owned())],
        body: Vec::new(),
        parts: Vec::new(),
    }
}

/// Body of the last exchange as JSON.
fn last_body(exchanges: &[Exchange<'_>]) -> Result<Value> {
    let last = exchanges.last().ok_or_else(|| PluginError::input("no exchange"))?;
    serde_json::from_slice(last.bytes).map_err(|error| PluginError::input(error.to_string()))
}

/// Uploads a file with a prompt; the answer is an event stream.
pub struct Multipart;

impl Endpoint for Multipart {
    fn describe(&self) -> Result<EndpointDescription> {
        Ok(described("/v1/edits"))
    }

    fn prepare(&self, info: RequestInfo) -> Result<HttpRequest> {
        let turn = info.turns.last().ok_or_else(|| PluginError::input("no turn"))?;
        let first = |media: &[aiperf_sdk::Media]| media.first().and_then(|group| group.contents.first()).cloned();
        let text = first(&turn.texts).ok_or_else(|| PluginError::input("no text"))?;
        let image = first(&turn.images).ok_or_else(|| PluginError::input("no image"))?;
        let part = |name: &str, data: Vec<u8>| Part {
            name: name.to_owned(),
            file_name: None,
            content_type: None,
            data,
        };
        let mut prepared = request("POST", None);
        prepared.parts = vec![
            part("prompt", text.into_bytes()),
            part("model", info.model.into_bytes()),
            Part {
                name: "image".to_owned(),
                file_name: Some("image.png".to_owned()),
                content_type: Some("image/png".to_owned()),
                // Bytes that no text could carry.
                data: image.bytes().map(|byte| !byte).collect(),
            },
        ];
        Ok(prepared)
    }

    fn decode(&self, exchanges: &[Exchange<'_>]) -> Result<Decoded> {
        let mut chunks = Chunks::default();
        for (i, event) in (0..).zip(exchanges.iter().flat_map(Exchange::events)) {
            let text = std::str::from_utf8(event).map_err(|error| PluginError::input(error.to_string()))?;
            let (thought, output) = text.split_once('|').unwrap_or(("", text));
            if !thought.is_empty() {
                chunks.push(i, ChunkKind::Reasoning, thought)?;
            }
            chunks.push(i, ChunkKind::Text, output)?;
        }
        Ok(Decoded {
            reply: Some(Turn::text(chunks.text.clone())),
            usage: Some(Usage {
                completion: Some(chunks.len() as u64),
                prompt_audio_seconds: Some(0.25),
                ..Usage::default()
            }),
            first_chunk_tokens: Some(1),
            finish_reason: Some("stop".to_owned()),
            carry: Some("resp_1".to_owned()),
            facts: vec![("image_area".to_owned(), 64.0)],
            labels: vec![("speculative_decoding".to_owned(), "{\"steps\":2}".to_owned())],
            chunks,
            error: None,
        })
    }
}

/// Submits a job, asks for it until it is over.
pub struct Polling;

impl Endpoint for Polling {
    fn describe(&self) -> Result<EndpointDescription> {
        Ok(described("/v1/videos"))
    }

    fn prepare(&self, info: RequestInfo) -> Result<HttpRequest> {
        let mut prepared = request("POST", None);
        prepared.body = serde_json::json!({ "model": info.model }).to_string().into_bytes();
        Ok(prepared)
    }

    fn next(&self, exchanges: &[Exchange<'_>]) -> Result<NextStep> {
        let job = last_body(exchanges)?;
        if matches!(job["status"].as_str(), Some("completed" | "failed")) {
            return Ok(NextStep::Done);
        }
        // The first look is at once, later ones 100 ms apart.
        let after_ms = if exchanges.len() > 1 { 100 } else { 0 };
        // The job's name stands in the first answer.
        let submitted = last_body(&exchanges[..1])?;
        let id = submitted["id"]
            .as_str()
            .ok_or_else(|| PluginError::input("the job has no `id`"))?;
        Ok(NextStep::Request {
            request: request("GET", Some(format!("/v1/videos/{id}"))),
            after_ms,
        })
    }

    fn decode(&self, exchanges: &[Exchange<'_>]) -> Result<Decoded> {
        let job = last_body(exchanges)?;
        let mut decoded = Decoded::default();
        if job["status"] == "failed" {
            decoded.error = Some(ResponseError {
                code: Some(500),
                kind: "VideoGenerationError".to_owned(),
                message: job["message"].as_str().unwrap_or_default().to_owned(),
            });
            return Ok(decoded);
        }
        let last = u32::try_from(exchanges.len() - 1).map_err(|_| PluginError::failed("too many exchanges"))?;
        decoded.chunks.push(last, ChunkKind::Data, "")?;
        if let Some(seconds) = job["inference_time_s"].as_f64() {
            decoded.facts.push(("video_inference_time".to_owned(), seconds));
        }
        Ok(decoded)
    }
}
