//! A request to its scripted answer.

use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering::Relaxed};

use http::StatusCode;

use crate::answer::{Answer, Exchange};
use crate::clock::{delay_ns, monotonic_ns, wall_ns};
use crate::failure::FailureKind;
use crate::generation::Generation;
use crate::hash::{hash, unit};
use crate::log::LogRecord;
use crate::metrics::Metrics;
use crate::rate_limit::RateLimit;
use crate::request::{Request, RequestError};
use crate::schedule::Schedule;
use crate::settings::Settings;
use crate::shape::{self, Chunks, Endpoint, Shape, Usage, UsageMode};
use crate::stream::Stream;

const JSON: &str = "application/json";
const SSE: &str = "text/event-stream; charset=utf-8";
const TEXT: &str = "text/plain; version=0.0.4; charset=utf-8";

/// The index of a draw that no event has.
const FAILS: u64 = u64::MAX;

/// What all serving threads share.
#[derive(Debug)]
pub(crate) struct Service {
    settings: Settings,
    metrics: Arc<Metrics>,
    /// Generation requests so far.
    ordinals: AtomicU64,
    rate_limit: Option<RateLimit>,
}

/// The moment at which a request had been read fully.
#[derive(Debug, Clone, Copy)]
struct Received {
    wall_ns: u64,
    monotonic_ns: u64,
}

/// A body with what describes it.
struct Reply {
    status: u16,
    content_type: &'static str,
    body: Vec<u8>,
}

impl Reply {
    fn json(status: u16, body: Vec<u8>) -> Self {
        Self {
            status,
            content_type: JSON,
            body,
        }
    }

    fn error(status: u16, message: &str) -> Self {
        let kind = match status {
            404 => "not_found_error",
            429 => "rate_limit_error",
            400..=499 => "invalid_request_error",
            _ => "server_error",
        };
        Self::json(status, shape::error(message, kind))
    }
}

impl Service {
    pub(crate) fn new(settings: Settings) -> Self {
        let rate_limit = settings.rate_limit.map(RateLimit::new);
        Self {
            settings,
            metrics: Arc::default(),
            ordinals: AtomicU64::new(0),
            rate_limit,
        }
    }

    /// How long before an event a thread stops sleeping.
    pub(crate) fn spin_ns(&self) -> u64 {
        delay_ns(self.settings.spin)
    }

    /// The answer to a request read fully at this moment.
    pub(crate) fn answer(&self, request: &Request) -> Exchange {
        let received = Received {
            wall_ns: wall_ns(),
            monotonic_ns: monotonic_ns(),
        };
        let reply = match (request.method.as_str(), request.path.as_str()) {
            ("POST", "/v1/chat/completions") => return self.generate(Endpoint::Chat, request, received),
            ("POST", "/v1/completions") => return self.generate(Endpoint::Completions, request, received),
            ("GET", "/v1/models") => Reply::json(
                200,
                shape::models(&self.settings.model, received.wall_ns / 1_000_000_000),
            ),
            ("GET", "/health") => Reply::json(200, br#"{"status":"ok"}"#.to_vec()),
            ("GET", "/metrics") => Reply {
                status: 200,
                content_type: TEXT,
                body: self.metrics.text().into_bytes(),
            },
            (_, "/v1/chat/completions" | "/v1/completions" | "/v1/models" | "/health" | "/metrics") => {
                Reply::error(405, &format!("{} is not allowed on {}", request.method, request.path))
            }
            (_, path) => Reply::error(404, &format!("there is no {path}")),
        };
        plain(request, reply, received.monotonic_ns, None)
    }

    /// The answer to bytes that are no request; it ends the connection.
    pub(crate) fn refuse(&self, error: RequestError) -> Exchange {
        let status = match error {
            RequestError::HeadTooLong => 431,
            RequestError::BodyTooLong => 413,
            RequestError::TransferEncoding => 501,
            RequestError::Head(_) | RequestError::ContentLength | RequestError::Chunk => 400,
        };
        let request = Request {
            version_11: true,
            ..Request::default()
        };
        plain(&request, Reply::error(status, &error.to_string()), 0, None)
    }

    fn generate(&self, endpoint: Endpoint, request: &Request, received: Received) -> Exchange {
        self.metrics.requested(endpoint);
        let record = self.settings.log.is_some().then(|| LogRecord {
            request_id: request.request_id.clone(),
            path: endpoint.path().into(),
            status: Some(200),
            wall_ns: received.wall_ns,
            received_ns: received.monotonic_ns,
            events_ns: Vec::new(),
            done_ns: None,
            complete: false,
        });
        let refuse = |reply, record| {
            self.metrics.failed();
            plain(request, reply, received.monotonic_ns, record)
        };
        if let Some(Err(retry_at)) = self.rate_limit.as_ref().map(|limit| limit.admit(received.monotonic_ns)) {
            let wait = (retry_at - received.monotonic_ns).div_ceil(1_000_000);
            return refuse(
                Reply::error(429, &format!("rate limit reached, try again in {wait} ms")),
                record,
            );
        }
        let generation = match Generation::parse(&request.body) {
            Ok(generation) => generation,
            Err(message) => return refuse(Reply::error(400, &message), record),
        };
        let ordinal = self.ordinals.fetch_add(1, Relaxed);
        let seed = self.settings.seed;
        let schedule = Schedule::new(&self.settings, ordinal, received.monotonic_ns);
        if unit(seed, ordinal, FAILS) < self.settings.error_rate {
            self.metrics.failed();
            return self.fail(&generation, request, schedule.event(0), record);
        }

        let usage = self.counts(endpoint, &generation);
        let finish_reason = if generation.limit.is_some() { "length" } else { "stop" };
        let running = self.metrics.started(usage.prompt, usage.completion);
        let shape = Shape {
            endpoint,
            ordinal,
            created: received.wall_ns / 1_000_000_000,
            model: generation.model,
            // Of the request, not of its place: whoever asks for the same gets the same, in whatever order requests come.
            text_start: hash(seed, usage.prompt, usage.completion),
        };
        if !generation.stream {
            let reply = Reply::json(200, shape.whole(usage, self.settings.usage, finish_reason));
            let exchange = plain(
                request,
                reply,
                schedule.event(usage.completion.saturating_sub(1)),
                record,
            );
            return Exchange {
                running: Some(running),
                ..exchange
            };
        }
        let mode = match (
            self.settings.usage && generation.include_usage,
            generation.continuous_usage,
        ) {
            (false, _) => UsageMode::Off,
            (true, false) => UsageMode::Last,
            (true, true) => UsageMode::Each,
        };
        // Only HTTP/1.1 knows chunks; for an older client the end of the connection ends the body.
        let keep_alive = request.keep_alive && request.version_11;
        let framing = if request.version_11 {
            "transfer-encoding: chunked\r\n"
        } else {
            ""
        };
        let head = head(200, SSE, framing, keep_alive, request);
        let chunks = Chunks::new(&shape, mode, finish_reason);
        let stream = Stream::new(head, request.version_11, chunks, schedule, usage);
        Exchange {
            answer: Answer::Stream(Box::new(stream)),
            keep_alive,
            record,
            running: Some(running),
        }
    }

    /// How many tokens the answer has.
    fn counts(&self, endpoint: Endpoint, generation: &Generation) -> Usage {
        let wanted = match endpoint {
            Endpoint::Chat => self.settings.reasoning,
            Endpoint::Completions => 0,
        };
        let completion = generation.limit.unwrap_or(wanted + self.settings.tokens);
        Usage {
            prompt: generation.prompt_tokens,
            completion,
            reasoning: wanted.min(completion),
        }
    }

    fn fail(&self, generation: &Generation, request: &Request, due: u64, mut record: Option<LogRecord>) -> Exchange {
        const MESSAGE: &str = "scripted failure";
        let error = || shape::error(MESSAGE, "server_error");
        let reply = match (self.settings.error_kind, generation.stream) {
            (FailureKind::Status, _) => Reply::error(self.settings.error_status, MESSAGE),
            (FailureKind::Object | FailureKind::Event, false) => Reply::json(200, error()),
            (FailureKind::Garbage, false) => Reply::json(200, b"<html>scripted garbage".to_vec()),
            (FailureKind::Object, true) => sse(&[b"data: ", &error(), b"\n\n", shape::DONE]),
            (FailureKind::Event, true) => sse(&[b": scripted failure\nevent: error\ndata: ", &error(), b"\n\n"]),
            (FailureKind::Garbage, true) => sse(&[b"data: {\"id\":\"scripted garbage\n\n", shape::DONE]),
            (FailureKind::Reset, _) => {
                if let Some(record) = &mut record {
                    record.status = None;
                }
                return Exchange {
                    answer: Answer::Reset { due },
                    keep_alive: false,
                    record,
                    running: None,
                };
            }
        };
        plain(request, reply, due, record)
    }
}

fn sse(parts: &[&[u8]]) -> Reply {
    Reply {
        status: 200,
        content_type: SSE,
        body: parts.concat(),
    }
}

/// An answer in one piece, written at `due`.
fn plain(request: &Request, reply: Reply, due: u64, mut record: Option<LogRecord>) -> Exchange {
    if let Some(record) = &mut record {
        record.status = Some(reply.status);
    }
    let framing = format!("content-length: {}\r\n", reply.body.len());
    let mut bytes = head(reply.status, reply.content_type, &framing, request.keep_alive, request);
    bytes.extend_from_slice(&reply.body);
    Exchange {
        answer: Answer::Plain { due, bytes },
        keep_alive: request.keep_alive,
        record,
        running: None,
    }
}

fn head(status: u16, content_type: &str, framing: &str, keep_alive: bool, request: &Request) -> Vec<u8> {
    let reason = StatusCode::from_u16(status)
        .ok()
        .and_then(|status| status.canonical_reason())
        .unwrap_or("Unknown");
    let connection = match (keep_alive, request.version_11) {
        (false, _) => "connection: close\r\n",
        (true, false) => "connection: keep-alive\r\n",
        (true, true) => "",
    };
    let request_id = match &request.request_id {
        Some(id) => format!("x-request-id: {id}\r\n"),
        None => String::new(),
    };
    format!(
        "HTTP/1.1 {status} {reason}\r\ncontent-type: {content_type}\r\ncache-control: no-cache\r\n\
         {framing}{request_id}{connection}\r\n"
    )
    .into_bytes()
}
