//! What a request did on its connection, of every body byte, `[DONE]` included.

use aiperf_sdk::fields;

use crate::{definition::Definition, inputs::inputs};

inputs! {
    /// Connection facts of one request.
    Trace => Traced<'a> {
        blocked: u64 = fields::HTTP_BLOCKED,
        dns: u64 = fields::HTTP_DNS,
        connect: u64 = fields::HTTP_CONNECT,
        sending: u64 = fields::HTTP_SENDING,
        waiting: u64 = fields::HTTP_WAITING,
        receiving: u64 = fields::HTTP_RECEIVING,
        reused: u64 = fields::HTTP_REUSED,
        bytes_sent: u64 = fields::HTTP_BYTES_SENT,
        bytes_received: u64 = fields::HTTP_BYTES_RECEIVED,
        chunks_sent: u64 = fields::HTTP_CHUNKS_SENT,
        chunks_received: u64 = fields::HTTP_CHUNKS_RECEIVED,
    }
}

fn overhead(one: &Traced<'_>) -> Option<u64> {
    one.blocked?.checked_add(one.dns?)?.checked_add(one.connect?)
}

/// From the start of the request to its last body bytes.
fn duration(one: &Traced<'_>) -> Option<u64> {
    one.sending?.checked_add(one.waiting?)?.checked_add(one.receiving?)
}

/// The sum of all stages. On a new connection the time to connect is in `sending` too, as in the original.
fn total(one: &Traced<'_>) -> Option<u64> {
    overhead(one)?.checked_add(duration(one)?)
}

/// Every metric of the family.
pub(crate) fn definitions() -> Vec<Definition<Trace>> {
    type Define = Definition<Trace>;
    let time = |tag, header, short_header, order, formula: fn(&Traced<'_>) -> Option<u64>| {
        Define::time(tag, header, short_header, formula).order(order)
    };
    let number = |tag, header, short_header, unit, order, formula: fn(&Traced<'_>) -> Option<u64>| {
        Define::integer(tag, header, short_header, unit, formula).order(order)
    };
    let definitions = vec![
        time("http_req_blocked", "HTTP Blocked", "Blocked", 2000, |one| one.blocked),
        time("http_req_dns_lookup", "HTTP DNS Lookup", "DNS", 2010, |one| one.dns),
        time("http_req_connecting", "HTTP Connecting", "Connecting", 2020, |one| {
            one.connect
        }),
        time("http_req_sending", "HTTP Sending", "Sending", 2030, |one| one.sending),
        time("http_req_waiting", "HTTP Waiting (TTFB)", "TTFB", 2040, |one| {
            one.waiting
        }),
        time("http_req_receiving", "HTTP Receiving", "Receiving", 2050, |one| {
            one.receiving
        }),
        number(
            "http_req_connection_reused",
            "HTTP Connection Reused",
            "Conn Reused",
            "ratio",
            2060,
            |one| one.reused,
        ),
        number("http_req_data_sent", "HTTP Data Sent", "Sent", "B", 2070, |one| {
            one.bytes_sent
        })
        .shown_in("KB"),
        number(
            "http_req_chunks_sent",
            "HTTP Chunks Sent",
            "Chunks Sent",
            "count",
            2080,
            |one| one.chunks_sent,
        ),
        number(
            "http_req_data_received",
            "HTTP Data Received",
            "Received",
            "B",
            2090,
            |one| one.bytes_received,
        )
        .shown_in("KB"),
        number(
            "http_req_chunks_received",
            "HTTP Chunks Received",
            "Chunks Recv",
            "count",
            2100,
            |one| one.chunks_received,
        ),
        time(
            "http_req_connection_overhead",
            "HTTP Connection Overhead",
            "Conn Overhead",
            2110,
            overhead,
        ),
        time(
            "http_req_duration",
            "HTTP Duration (excl. conn)",
            "Dur (excl)",
            2120,
            duration,
        ),
        time("http_req_total", "HTTP Total Time", "Total", 2130, total),
    ];
    definitions.into_iter().map(|one| one.group("none")).collect()
}
