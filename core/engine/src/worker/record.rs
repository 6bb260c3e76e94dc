//! An exchange becomes a record: arrival times of content, texts, usage, and whether it is valid.

use std::borrow::Cow;

use aiperf_config::redact;
use aiperf_http::{Arrival, Body, ErrorKind, Exchange as HttpExchange, Headers};
use aiperf_plugin_api::{
    Decoded, Exchange, PluginError,
    endpoint::{ChunkKind, Chunks},
};

use crate::message::{ArrivalFacts, CancelReason, Credit, RecordError, RequestRecord, Stamp, Transport};

/// Type of the error of a response without content.
pub const NO_CONTENT: &str = "InvalidInferenceResultError";

/// Most characters that a message shows of where a redirect leads.
const LONGEST_LOCATION: usize = 300;

/// What is known about a request besides its exchanges.
#[derive(Debug, Clone)]
pub struct RequestFacts {
    /// The credit.
    pub credit: Credit,
    /// Identity of the request.
    pub request_id: u128,
    /// The worker.
    pub worker: u32,
    /// The conversation's identity in the dataset.
    pub conversation_id: String,
    /// Model asked for.
    pub model: String,
    /// When the worker received the credit.
    pub received_ns: u64,
    /// Limit on output tokens asked for.
    pub max_tokens: Option<u32>,
    /// Body of the first request.
    pub body: bytes::Bytes,
    /// Its headers as a JSON object, credentials redacted, where the run keeps them.
    pub headers: Option<String>,
    /// Numbers that the dataset knows about the turn.
    pub facts: Vec<(String, f64)>,
    /// Texts that the dataset knows about the conversation.
    pub labels: Vec<(String, String)>,
}

/// Whether a request was cancelled.
#[derive(Debug, Clone, Copy)]
pub struct Cancellation {
    /// It was to be, and why.
    pub asked: Option<CancelReason>,
    /// Its last exchange had ended by then, but another was to follow.
    pub cut_short: bool,
}

/// An exchange in the form of the contract. `whole_end` holds the end of a body that is one event.
pub fn view<'a>(exchange: &'a HttpExchange, whole_end: &'a mut [u32; 1]) -> Exchange<'a> {
    let content_type = exchange.content_type.as_deref().unwrap_or_default();
    let status = exchange.status.unwrap_or(0);
    match &exchange.body {
        Body::Events(events) => Exchange {
            status,
            streamed: true,
            content_type,
            bytes: &events.bytes,
            ends: &events.ends,
        },
        Body::Whole { bytes, .. } => {
            whole_end[0] = u32::try_from(bytes.len()).unwrap_or(u32::MAX);
            Exchange {
                status,
                streamed: false,
                content_type,
                bytes,
                ends: whole_end,
            }
        }
        Body::Empty => Exchange {
            status,
            streamed: false,
            content_type,
            bytes: &[],
            ends: &[],
        },
    }
}

/// The error that the transport or the status shows, if any.
pub fn transport_error(exchange: &HttpExchange) -> Option<RecordError> {
    if let Some(error) = &exchange.error {
        let message = match error.kind {
            // Intended: nothing is to be done.
            ErrorKind::Cancelled | ErrorKind::CancelledAfterSend => error.message.clone(),
            kind => format!("{}; {}", error.message, kind.remedy()),
        };
        return Some(RecordError {
            code: error.kind.code(),
            kind: error.kind.type_name().to_owned(),
            message,
        });
    }
    let status = exchange.status?;
    if (200..300).contains(&status) {
        return None;
    }
    let text = match (&exchange.undecoded, &exchange.body) {
        (Some(encoding), _) => format!("(an explanation encoded as {encoding:?}, which can't be read)"),
        (None, Body::Whole { bytes, .. }) => String::from_utf8_lossy(bytes).into_owned(),
        (None, Body::Events(events)) => String::from_utf8_lossy(&events.bytes).into_owned(),
        (None, Body::Empty) => String::new(),
    };
    let message = if (300..400).contains(&status) {
        redirect(exchange.location.as_deref(), &text)
    } else {
        text
    };
    Some(RecordError {
        code: Some(status),
        kind: exchange.reason.clone().into_owned(),
        message,
    })
}

/// What to tell of a redirect. Where it leads may hold credentials, and stands once more in the explanation then.
fn redirect(location: Option<&str>, text: &str) -> String {
    match location.filter(|location| !location.is_empty()) {
        None => format!("the server redirects, which is not followed; give the final address as --url. {text}")
            .trim_end()
            .to_owned(),
        Some(location) => {
            let shown: String = redact::url(location).chars().take(LONGEST_LOCATION).collect();
            format!("the server redirects to {shown:?}, which is not followed; give the final address as --url")
        }
    }
}

/// A record of a request that never reached the network.
pub fn unsent(facts: RequestFacts, now_ns: u64, now_wall_ns: u64, error: &PluginError) -> RequestRecord {
    let mut record = blank(facts, now_ns, now_wall_ns);
    record.error = Some(RecordError {
        code: None,
        kind: "EndpointError".into(),
        message: error.to_string(),
    });
    record
}

/// A record of a request that was cancelled before it was sent.
pub fn cancelled_unsent(facts: RequestFacts, now_ns: u64, now_wall_ns: u64, reason: CancelReason) -> RequestRecord {
    let mut record = blank(facts, now_ns, now_wall_ns);
    record.error = Some(cancel_error(reason));
    record.cancelled = Some((reason, now_wall_ns));
    record
}

fn blank(facts: RequestFacts, start_ns: u64, start_wall_ns: u64) -> RequestRecord {
    RequestRecord {
        request_id: facts.request_id,
        worker: facts.worker,
        conversation_id: facts.conversation_id,
        model: facts.model,
        received_ns: facts.received_ns,
        start_ns,
        start_wall_ns,
        end_ns: start_ns,
        ack_ns: None,
        status: None,
        content_ns: Vec::new(),
        first_output_ns: None,
        output: None,
        reasoning: None,
        usage: None,
        first_chunk_tokens: None,
        requested_output_tokens: facts.max_tokens,
        request_headers: facts.headers,
        responses: None,
        trace: None,
        first_content: None,
        last_content: None,
        send_ns: None,
        body: facts.body.into(),
        facts: facts.facts,
        labels: facts.labels,
        transport: Transport::default(),
        arrivals: ArrivalFacts::default(),
        error: None,
        cancelled: None,
        credit: facts.credit,
    }
}

/// The record of a request whose exchanges are over. `decoded` is what the endpoint read, if it was asked.
pub fn finished(
    facts: RequestFacts,
    exchanges: &[HttpExchange],
    decoded: Option<Result<Decoded, PluginError>>,
    cancelled: Cancellation,
    wall: impl Fn(u64) -> u64,
) -> RequestRecord {
    let (Some(first), Some(last)) = (exchanges.first(), exchanges.last()) else {
        return blank(facts, 0, 0);
    };
    let body_bytes = facts.body.len() as u64;
    let mut record = blank(facts, first.timings.start, first.timings.start_wall);
    record.ack_ns = first.timings.headers;
    record.status = last.status;
    record.send_ns = first.timings.send.map(|span| (span.start, span.end));
    record.transport = transport(exchanges, first, last, body_bytes);

    let arrivals = match exchanges {
        [exchange] => Cow::Borrowed(arrivals_of(exchange)),
        several => several.iter().flat_map(arrivals_of).copied().collect(),
    };
    record.arrivals = ArrivalFacts {
        lag_ns: arrivals.iter().filter_map(Arrival::lag).max(),
        send_bracket_ns: first.timings.send.map(|span| span.end.saturating_sub(span.start)),
        ..ArrivalFacts::default()
    };
    // An exchange that ended with its last event ends with that event; an error or a cancellation ends when it is known.
    record.end_ns = match (&last.error, arrivals.last()) {
        (None, Some(arrival)) => arrival.at(),
        _ => last.timings.end,
    }
    .max(record.start_ns);

    record.error = transport_error(last);
    match decoded {
        Some(Ok(decoded)) => apply(&mut record, decoded, &arrivals),
        Some(Err(error)) if record.error.is_none() => {
            record.error = Some(RecordError {
                code: None,
                kind: "EndpointError".into(),
                message: error.to_string(),
            });
        }
        _ => {}
    }
    let on_the_way = last
        .error
        .as_ref()
        .is_some_and(|error| error.kind == ErrorKind::Cancelled);
    if let Some(reason) = cancelled.asked
        && (on_the_way || cancelled.cut_short)
    {
        record.cancelled = Some((reason, wall(last.timings.end)));
        record.error = Some(cancel_error(reason));
    }
    if record.error.is_none() && record.content_ns.is_empty() {
        record.error = Some(RecordError {
            code: None,
            kind: NO_CONTENT.into(),
            message: "the response has no content".into(),
        });
    }
    record
}

/// When the messages of an exchange arrived.
fn arrivals_of(exchange: &HttpExchange) -> &[Arrival] {
    match &exchange.body {
        Body::Events(events) => &events.arrivals,
        Body::Whole { arrival, .. } => std::slice::from_ref(arrival),
        Body::Empty => &[],
    }
}

fn cancel_error(reason: CancelReason) -> RecordError {
    let message = match reason {
        CancelReason::GracePeriod => "cancelled at the end of the grace period",
        CancelReason::Interrupt => "cancelled by the user's interrupt",
        CancelReason::Abort => "cancelled because the run was given up",
    };
    RecordError {
        code: Some(499),
        kind: "RequestCancelled".into(),
        message: message.into(),
    }
}

fn apply(record: &mut RequestRecord, decoded: Decoded, arrivals: &[Arrival]) {
    let chunks = &decoded.chunks;
    record.content_ns.reserve_exact(chunks.len());
    let mut previous = None;
    for (event, kind, text) in chunks.iter() {
        // An index outside the events (a faulty plugin) has no time, so it is no content.
        let Some(arrival) = arrivals.get(event as usize) else {
            continue;
        };
        let at = arrival.at();
        if previous != Some(event) {
            record.content_ns.push(at);
            let stamp = stamp(arrival);
            record.first_content.get_or_insert(stamp);
            record.last_content = Some(stamp);
            record.arrivals.messages = record.arrivals.messages.saturating_add(1);
            record.arrivals.bounded += u32::from(arrival.lower().is_some());
            previous = Some(event);
        }
        if kind.is_output() && !text.is_empty() && record.first_output_ns.is_none() {
            record.first_output_ns = Some(at);
        }
    }
    (record.output, record.reasoning) = texts(decoded.chunks, arrivals.len());
    record.usage = decoded.usage;
    record.first_chunk_tokens = decoded.first_chunk_tokens;
    record.facts.extend(decoded.facts);
    record.labels.extend(decoded.labels);
    if let Some(reason) = decoded.finish_reason {
        record.labels.push(("finish_reason".into(), reason));
    }
    if record.error.is_none()
        && let Some(error) = decoded.error
    {
        record.error = Some(RecordError {
            code: error.code,
            kind: error.kind,
            message: error.message,
        });
    }
}

/// Output and reasoning of chunks whose events are among the first `events`; `None` where there is no chunk of that kind.
fn texts(chunks: Chunks, events: usize) -> (Option<String>, Option<String>) {
    let is_output = |&kind: &u8| ChunkKind::from_code(kind).is_output();
    let all_timed = chunks.events.iter().all(|&event| (event as usize) < events);
    let all_text = chunks.ends.is_sorted() && chunks.ends.last().is_some_and(|&end| end as usize == chunks.text.len());
    if all_timed && all_text && chunks.kinds.iter().all(is_output) {
        return (Some(chunks.text), None);
    }
    // One of the two gets most of it.
    let begin = || String::with_capacity(chunks.text.len());
    let (mut output, mut reasoning) = (None, None);
    for (_, kind, text) in chunks.iter().filter(|(event, ..)| (*event as usize) < events) {
        match kind {
            ChunkKind::Text | ChunkKind::ToolCall => output.get_or_insert_with(begin).push_str(text),
            ChunkKind::Reasoning => reasoning.get_or_insert_with(begin).push_str(text),
            ChunkKind::Data => {}
        }
    }
    (output, reasoning)
}

fn stamp(arrival: &Arrival) -> Stamp {
    Stamp {
        kernel: arrival.kernel(),
        user: arrival.user(),
        lower: arrival.lower(),
    }
}

fn transport(exchanges: &[HttpExchange], first: &HttpExchange, last: &HttpExchange, body_bytes: u64) -> Transport {
    let width = |span: Option<aiperf_http::Span>| span.map(|span| span.end.saturating_sub(span.start));
    let between = |from: Option<u64>, to: Option<u64>| Some(to?.saturating_sub(from?));
    let sent = first.timings.send.map(|span| span.end);
    Transport {
        blocked_ns: Some(width(first.timings.pool_wait).unwrap_or(0)),
        dns_ns: Some(width(first.timings.dns).unwrap_or(0)),
        connect_ns: Some(width(first.timings.connect).unwrap_or(0)),
        sending_ns: between(Some(first.timings.start), sent),
        waiting_ns: between(sent, first.timings.first_byte),
        receiving_ns: between(last.timings.first_byte, last.timings.last_byte),
        reused: first.reused,
        resent: exchanges.iter().map(|exchange| u32::from(exchange.resent)).sum(),
        bytes_sent: body_bytes,
        bytes_received: last.body_bytes,
        chunks_received: u64::from(last.chunk_count),
    }
}

/// Headers as a JSON object, credentials redacted.
pub fn headers(headers: &Headers) -> String {
    let members: serde_json::Map<_, _> = headers
        .iter()
        .map(|(name, value)| (name.to_owned(), redact::header_value(name, value).into()))
        .collect();
    serde_json::Value::from(members).to_string()
}

/// The responses as a JSON array in the form of the raw export: events as packets, anything else as text.
pub fn responses(exchanges: &[HttpExchange]) -> String {
    let text = |bytes: &[u8]| serde_json::Value::from(String::from_utf8_lossy(bytes));
    let mut all = Vec::new();
    for exchange in exchanges {
        match &exchange.body {
            Body::Events(events) => all.extend((0..events.len()).map(|index| {
                let packet = |name: &str, value: &[u8]| serde_json::json!({ "name": name, "value": text(value) });
                let event = events.name(index).map(|name| packet("event", name));
                let data = packet("data", events.data(index).unwrap_or_default());
                let packets: Vec<_> = event.into_iter().chain([data]).collect();
                let at = events.arrivals.get(index).map(Arrival::at);
                serde_json::json!({ "perf_ns": at, "packets": packets })
            })),
            Body::Whole { bytes, arrival } => all.push(serde_json::json!({
                "perf_ns": arrival.at(),
                "text": text(bytes),
                "content_type": exchange.content_type,
            })),
            Body::Empty => {}
        }
    }
    serde_json::Value::from(all).to_string()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn output_and_reasoning_are_told_apart() {
        use ChunkKind::{Data, Reasoning, Text, ToolCall};
        let of = |chunks: &[(u32, ChunkKind, &str)], events| {
            let mut all = Chunks::default();
            for &(event, kind, text) in chunks {
                all.push(event, kind, text).unwrap();
            }
            texts(all, events)
        };
        let both =
            |output: Option<&str>, reasoning: Option<&str>| (output.map(str::to_owned), reasoning.map(str::to_owned));
        let plain = [(0, Text, "a"), (1, ToolCall, "b"), (2, Text, "")];
        assert_eq!(of(&plain, 3), both(Some("ab"), None));
        assert_eq!(of(&[(0, Text, "")], 1), both(Some(""), None));
        assert_eq!(of(&[], 1), both(None, None));
        // What has no time is no content.
        assert_eq!(of(&plain, 1), both(Some("a"), None));
        assert_eq!(of(&plain, 0), both(None, None));
        let mixed = [(0, Reasoning, "r"), (1, Text, "t"), (1, Data, "d"), (2, Reasoning, "s")];
        assert_eq!(of(&mixed, 3), both(Some("t"), Some("rs")));
        // Of a faulty plugin: ends that do not cover the text.
        for ends in [vec![1, 2], vec![2, 1]] {
            let faulty = Chunks {
                events: vec![0, 0],
                kinds: vec![Text.code(); 2],
                ends,
                text: "abc".into(),
            };
            let (output, _) = texts(faulty, 1);
            assert_eq!(output.as_deref(), Some("ab"));
        }
    }

    #[test]
    fn an_error_tells_what_to_do() {
        let said = |exchange: HttpExchange| transport_error(&exchange).map(|error| (error.code, error.message));
        let redirect = |location: &str| HttpExchange {
            status: Some(302),
            location: Some(location.into()),
            ..HttpExchange::default()
        };
        for (location, shown) in [
            ("/v2", "\"/v2\""),
            ("https://user:secret@h/x", "\"https://<redacted>@h/x\""),
            ("//user:secret@h/x", "\"//<redacted>@h/x\""),
            ("/x?api_key=secret", "\"/x?api_key=<redacted>\""),
        ] {
            let expected =
                format!("the server redirects to {shown}, which is not followed; give the final address as --url");
            assert_eq!(said(redirect(location)), Some((Some(302), expected)));
        }
        let unreadable = HttpExchange {
            status: Some(503),
            undecoded: Some("br".into()),
            ..HttpExchange::default()
        };
        let expected = "(an explanation encoded as \"br\", which can't be read)".to_owned();
        assert_eq!(said(unreadable), Some((Some(503), expected)));
    }

    #[test]
    fn kept_headers_hold_no_credentials() {
        let given = [("Authorization", "Bearer k"), ("X-API-Key", "k"), ("Accept", "a\"b")];
        assert_eq!(
            headers(&given.into_iter().collect()),
            r#"{"Authorization":"<redacted>","X-API-Key":"<redacted>","Accept":"a\"b"}"#
        );
    }
}
