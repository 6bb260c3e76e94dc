//! Bodies that come compressed although nobody asked for it.

use std::io::Write;

use aiperf_http::{Body, ErrorKind};
use flate2::Compression;
use flate2::write::{GzEncoder, ZlibEncoder};

use crate::script::{Step, send};
use crate::{check, exchange, failed, ok};

fn gzip(text: &str) -> Vec<u8> {
    let mut encoder = GzEncoder::new(Vec::new(), Compression::default());
    encoder.write_all(text.as_bytes()).unwrap();
    encoder.finish().unwrap()
}

fn zlib(text: &str) -> Vec<u8> {
    let mut encoder = ZlibEncoder::new(Vec::new(), Compression::default());
    encoder.write_all(text.as_bytes()).unwrap();
    encoder.finish().unwrap()
}

fn response(status: &str, encoding: &str, content_type: &str, body: &[u8]) -> Vec<u8> {
    let head = format!(
        "HTTP/1.1 {status}\r\nContent-Type: {content_type}\r\nContent-Encoding: {encoding}\r\nContent-Length: {}\r\n\r\n",
        body.len()
    );
    [head.as_bytes(), body].concat()
}

#[test]
fn gzip_and_deflate_are_decoded() {
    for (name, encoding, body) in [
        ("gzip", "gzip", gzip("{\"a\": 1}")),
        ("x-gzip", "X-GZIP", gzip("{\"a\": 1}")),
        ("deflate", "deflate", zlib("{\"a\": 1}")),
        ("identity", "identity", b"{\"a\": 1}".to_vec()),
    ] {
        let all = response("200 OK", encoding, "application/json", &body);
        check(name, &all, Step::Wait, &ok(200, "{\"a\": 1}", true));
    }
    let stream = gzip("data: a\n\ndata: b\n\n");
    let all = response("200 OK", "gzip", "text/event-stream", &stream);
    check("a stream", &all, Step::Wait, &ok(200, "[|a][|b]", true));
    let refused = response("503 Busy", "gzip", "text/plain", &gzip("too busy"));
    check("an error's body", &refused, Step::Wait, &ok(503, "too busy", true));
}

#[test]
fn other_encodings_are_named() {
    for encoding in ["br", "zstd", "compress", "gzip, br"] {
        let (answer, kept) = exchange(vec![
            Step::Request,
            Step::Send(response("200 OK", encoding, "application/json", b"\x01\x02")),
            Step::Wait,
        ]);
        let error = answer.error.unwrap();
        assert_eq!(
            (error.kind, answer.status, kept),
            (ErrorKind::Encoding, Some(200), false)
        );
        assert!(error.message.contains(&format!("{encoding:?}")), "{error}");
    }
    // The status is the reason here; that its explanation can't be read is told beside it.
    let (answer, _) = exchange(vec![
        Step::Request,
        Step::Send(response("503 Busy", "br", "text/plain", b"\x01\x02")),
        Step::Wait,
    ]);
    assert_eq!((answer.error, answer.status), (None, Some(503)));
    assert_eq!(answer.undecoded.as_deref(), Some("br"));
}

#[test]
fn damage_keeps_what_came() {
    let mut body = gzip("data: a\n\ndata: b\n\n");
    let end = body.len();
    body[end - 8] ^= 1;
    let all = response("200 OK", "gzip", "text/event-stream", &body);
    check(
        "checksum",
        &all,
        Step::Wait,
        &failed(ErrorKind::Encoding, Some(200), "[|a][|b]"),
    );

    let body = &gzip("data: a\n\ndata: b\n\n")[..end - 3];
    let all = response("200 OK", "gzip", "text/event-stream", body);
    check(
        "cut",
        &all,
        Step::Wait,
        &failed(ErrorKind::BodyIncomplete, Some(200), "[|a][|b]"),
    );
}

#[test]
fn a_decoded_event_is_as_old_as_its_bytes() {
    let mut encoder = GzEncoder::new(Vec::new(), Compression::default());
    let mut script = vec![
        Step::Request,
        send("HTTP/1.1 200 OK\r\nContent-Type: text/event-stream\r\nContent-Encoding: gzip\r\n\r\n"),
    ];
    for text in ["data: a\n\n", "data: b\n\n", "data: c\n\n"] {
        encoder.write_all(text.as_bytes()).unwrap();
        encoder.flush().unwrap();
        script.push(Step::Send(std::mem::take(encoder.get_mut())));
    }
    script.push(Step::Send(encoder.finish().unwrap()));
    let (answer, _) = exchange(script);
    assert_eq!(answer.error, None);
    let Body::Events(events) = &answer.body else {
        panic!("no events: {answer:?}")
    };
    let at: Vec<_> = events.arrivals.iter().map(|arrival| arrival.at()).collect();
    assert_eq!(at.len(), 3);
    assert!(at.is_sorted() && at[0] < at[2], "{at:?}");
    let (first, last) = (answer.timings.first_byte.unwrap(), answer.timings.last_byte.unwrap());
    assert!(first <= at[0] && at[2] <= last, "{first} {at:?} {last}");
}
