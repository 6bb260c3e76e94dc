//! What happened on the connection of a request, as the `trace_data` of its record. The keys of the original hold wall
//! time in ns since the epoch; `monotonic_ns` holds the instants that latencies and schedules are judged by, unconverted.

use std::net::SocketAddr;

use aiperf_http::{Exchange, Span};
use serde::Serialize;

use crate::message::{RequestRecord, Stamp};

/// Instants on the machine's monotonic clock.
#[derive(Serialize)]
struct Monotonic {
    /// When the schedule wanted the request to be sent.
    intended: u64,
    credit_issued: u64,
    credit_received: u64,
    request_start: u64,
    #[serde(skip_serializing_if = "Option::is_none")]
    send_start: Option<u64>,
    #[serde(skip_serializing_if = "Option::is_none")]
    send_end: Option<u64>,
    #[serde(skip_serializing_if = "Option::is_none")]
    first_content: Option<Stamp>,
    #[serde(skip_serializing_if = "Option::is_none")]
    last_content: Option<Stamp>,
    /// How many content responses there were.
    content_count: usize,
}

/// Serialises its members in this order; `Option`s that are none are left out.
struct Members<'a> {
    record: &'a RequestRecord,
    first: &'a Exchange,
    last: &'a Exchange,
}

/// The trace of a record as a JSON object. A request that took several exchanges is sent with the first of them and
/// answered by the last; one that was never sent has no trace.
pub fn text(record: &RequestRecord, exchanges: &[Exchange]) -> Option<String> {
    let (first, last) = (exchanges.first()?, exchanges.last()?);
    // Numbers, lists and texts under names that are strings: serialising them can't fail.
    serde_json::to_string(&Members { record, first, last }).ok()
}

impl Members<'_> {
    /// Wall time of a monotonic instant. The wall clock may step during a run; the distance from the start never does.
    fn wall(&self, at: u64) -> u64 {
        self.record
            .start_wall_ns
            .wrapping_add(at.wrapping_sub(self.record.start_ns))
    }
}

impl Serialize for Members<'_> {
    fn serialize<S: serde::Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        use serde::ser::SerializeMap;
        let mut map = serializer.serialize_map(None)?;
        let (sent, answered) = (&self.first.timings, &self.last.timings);
        let transport = &self.record.transport;
        let numbers = |map: &mut S::SerializeMap, members: &[(&str, Option<u64>)]| {
            members
                .iter()
                .filter_map(|(key, value)| Some((key, (*value)?)))
                .try_for_each(|(key, value)| map.serialize_entry(key, &value))
        };
        let start = |span: Option<Span>| span.map(|span| self.wall(span.start));
        let end = |span: Option<Span>| span.map(|span| self.wall(span.end));
        let at = |instant: Option<u64>| instant.map(|instant| self.wall(instant));

        map.serialize_entry("trace_type", "aiperf")?;
        numbers(
            &mut map,
            &[
                ("request_send_start_ns", at(Some(sent.start))),
                ("request_headers_sent_ns", end(sent.send)),
                ("request_send_end_ns", end(sent.send)),
                ("request_chunks_count", Some(u64::from(sent.send.is_some()))),
                ("request_bytes_total", Some(transport.bytes_sent)),
                ("response_status_code", self.last.status.map(u64::from)),
            ],
        )?;
        if !self.last.reason.is_empty() {
            map.serialize_entry("response_reason", &self.last.reason)?;
        }
        numbers(
            &mut map,
            &[
                ("response_receive_start_ns", at(answered.first_byte)),
                ("response_headers_received_ns", at(answered.headers)),
            ],
        )?;
        let chunks: Vec<(u64, u32)> = self
            .last
            .chunks
            .iter()
            .map(|chunk| (self.wall(chunk.at), chunk.bytes))
            .collect();
        map.serialize_entry("response_chunks", &chunks)?;
        numbers(
            &mut map,
            &[
                ("response_chunks_count", Some(transport.chunks_received)),
                ("response_bytes_total", Some(transport.bytes_received)),
                ("response_receive_end_ns", at(answered.last_byte)),
                (
                    "error_timestamp_ns",
                    self.last.error.as_ref().map(|_| self.wall(answered.end)),
                ),
                ("connection_pool_wait_start_ns", start(sent.pool_wait)),
                ("connection_pool_wait_end_ns", end(sent.pool_wait)),
                ("tcp_connect_start_ns", start(sent.connect)),
                ("tcp_connect_end_ns", end(sent.connect)),
                ("dns_lookup_start_ns", start(sent.dns)),
                ("dns_lookup_end_ns", end(sent.dns)),
            ],
        )?;
        for (side, address) in [("local", self.last.local), ("remote", self.last.remote)] {
            if let Some(address) = address {
                let address: SocketAddr = address;
                map.serialize_entry(&format!("{side}_ip"), &address.ip())?;
                map.serialize_entry(&format!("{side}_port"), &address.port())?;
            }
        }
        let duration = answered.last_byte.map(|last| last.saturating_sub(sent.start));
        numbers(
            &mut map,
            &[
                ("sending_ns", transport.sending_ns),
                ("waiting_ns", transport.waiting_ns),
                ("receiving_ns", transport.receiving_ns),
                ("duration_ns", duration),
                ("blocked_ns", transport.blocked_ns),
                ("dns_lookup_ns", transport.dns_ns),
                ("connecting_ns", transport.connect_ns),
            ],
        )?;
        map.serialize_entry("connection_reused", &self.first.reused)?;
        map.serialize_entry("monotonic_ns", &self.monotonic())?;
        map.end()
    }
}

impl Members<'_> {
    fn monotonic(&self) -> Monotonic {
        let record = self.record;
        Monotonic {
            intended: record.credit.intended_ns,
            credit_issued: record.credit.issued_ns,
            credit_received: record.received_ns,
            request_start: record.start_ns,
            send_start: record.send_ns.map(|(start, _)| start),
            send_end: record.send_ns.map(|(_, end)| end),
            first_content: record.first_content,
            last_content: record.last_content,
            content_count: record.content_ns.len(),
        }
    }
}

#[cfg(test)]
mod tests {
    use aiperf_http::{Chunk, Timings};
    use serde_json::json;

    use super::*;
    use crate::{
        message::Credit,
        worker::record::{self, RequestFacts},
    };

    fn facts() -> RequestFacts {
        RequestFacts {
            credit: Credit {
                id: 0,
                phase: 0,
                session: 0,
                correlation_id: 0,
                conversation: 0,
                turn: 0,
                turns: 1,
                url: 0,
                intended_ns: 90,
                issued_ns: 91,
                max_tokens: None,
            },
            request_id: 0,
            worker: 0,
            conversation_id: String::new(),
            model: String::new(),
            received_ns: 92,
            max_tokens: None,
            body: bytes::Bytes::from_static(b"{}"),
            headers: None,
            facts: Vec::new(),
            labels: Vec::new(),
        }
    }

    #[test]
    fn times_are_wall_times_and_the_stamps_stay_monotonic() {
        let span = |start, end| Some(Span { start, end });
        let exchange = Exchange {
            timings: Timings {
                start: 100,
                start_wall: 1_000_100,
                connect: span(101, 104),
                send: span(110, 112),
                headers: Some(150),
                first_byte: Some(150),
                last_byte: Some(190),
                end: 200,
                ..Timings::default()
            },
            status: Some(200),
            reason: "OK".into(),
            body_bytes: 30,
            chunk_count: 2,
            chunks: vec![Chunk { at: 150, bytes: 10 }, Chunk { at: 190, bytes: 20 }],
            remote: "127.0.0.1:80".parse().ok(),
            ..Exchange::default()
        };
        let exchanges = [exchange];
        let whole = record::Cancellation {
            asked: None,
            cut_short: false,
        };
        let mut record = record::finished(facts(), &exchanges, None, whole, |mono| mono);
        record.last_content = Some(Stamp {
            kernel: Some(188),
            user: 190,
            lower: Some(150),
        });
        let trace: serde_json::Value = serde_json::from_str(&text(&record, &exchanges).expect("sent")).expect("JSON");
        let expected = json!({
            "trace_type": "aiperf",
            "request_send_start_ns": 1_000_100,
            "request_headers_sent_ns": 1_000_112,
            "request_send_end_ns": 1_000_112,
            "request_chunks_count": 1,
            "request_bytes_total": 2,
            "response_status_code": 200,
            "response_reason": "OK",
            "response_receive_start_ns": 1_000_150,
            "response_headers_received_ns": 1_000_150,
            "response_chunks": [[1_000_150, 10], [1_000_190, 20]],
            "response_chunks_count": 2,
            "response_bytes_total": 30,
            "response_receive_end_ns": 1_000_190,
            "tcp_connect_start_ns": 1_000_101,
            "tcp_connect_end_ns": 1_000_104,
            "remote_ip": "127.0.0.1",
            "remote_port": 80,
            "sending_ns": 12,
            "waiting_ns": 38,
            "receiving_ns": 40,
            "duration_ns": 90,
            "blocked_ns": 0,
            "dns_lookup_ns": 0,
            "connecting_ns": 3,
            "connection_reused": false,
            "monotonic_ns": {
                "intended": 90,
                "credit_issued": 91,
                "credit_received": 92,
                "request_start": 100,
                "send_start": 110,
                "send_end": 112,
                "last_content": { "kernel": 188, "user": 190, "lower": 150 },
                "content_count": 0,
            },
        });
        assert_eq!(trace, expected);
    }

    #[test]
    fn a_request_that_was_never_sent_has_no_trace() {
        let record = record::unsent(facts(), 1, 2, &aiperf_plugin_api::PluginError::failed("no"));
        assert_eq!(text(&record, &[]), None);
    }
}
