//! A streamed answer of 16 tokens on its way from bytes to text.

use std::hint::black_box;

use aiperf_http::{
    response::{Piece, Response},
    sse::Parser,
};
use aiperf_sdk::{Package, testing};

/// Data of the events: role, 16 tokens, finish, usage, `[DONE]`.
fn events() -> Vec<String> {
    let event = |delta: &str, finish: &str| {
        format!(
            r#"{{"id":"chatcmpl-0123456789abcdef","object":"chat.completion.chunk","created":1767225600,"model":"m","choices":[{{"index":0,"delta":{delta},"logprobs":null,"finish_reason":{finish}}}]}}"#
        )
    };
    let mut events = vec![event(r#"{"role":"assistant","content":""}"#, "null")];
    events.extend((0..16).map(|i| event(&format!(r#"{{"content":" word{i}"}}"#), "null")));
    events.push(event("{}", "\"stop\""));
    events.push(
        r#"{"id":"chatcmpl-0123456789abcdef","object":"chat.completion.chunk","created":1767225600,"model":"m","choices":[],"usage":{"prompt_tokens":32,"completion_tokens":16,"total_tokens":48}}"#
            .to_owned(),
    );
    events.push("[DONE]".to_owned());
    events
}

/// A read each: the events in the form of the stream.
fn stream() -> Vec<String> {
    events().into_iter().map(|data| format!("data: {data}\n\n")).collect()
}

/// Splits a stream, read event by event, into events.
pub(crate) fn sse(times: usize) {
    let reads = stream();
    for _ in 0..times {
        let (mut parser, mut data, mut start) = (Parser::new(), Vec::with_capacity(8192), 0);
        for read in &reads {
            let mut input = black_box(read.as_bytes());
            while parser.next(&mut input, &mut data, start).is_some() {
                start = data.len();
            }
        }
        assert!(start > 0);
        black_box(&data);
    }
}

/// Reads head and chunks of the same answer, a read each.
pub(crate) fn response(times: usize) {
    let head = "HTTP/1.1 200 OK\r\ncontent-type: text/event-stream\r\ntransfer-encoding: chunked\r\ndate: Thu, 01 Jan 2026 00:00:00 GMT\r\n\r\n";
    let mut reads = vec![head.to_owned()];
    reads.extend(stream().iter().map(|event| format!("{:x}\r\n{event}\r\n", event.len())));
    reads.push("0\r\n\r\n".to_owned());
    for _ in 0..times {
        let (mut response, mut bytes, mut over) = (Response::new(false), 0, false);
        for read in &reads {
            let mut input = black_box(read.as_bytes());
            while let Ok(Some(piece)) = response.next(&mut input) {
                match piece {
                    Piece::Body(part) => bytes += part.len(),
                    Piece::Head(head) => assert_eq!(head.status, 200),
                    Piece::End => {
                        over = true;
                        break;
                    }
                }
            }
        }
        assert!(over && bytes > 0);
    }
}

/// Reads the same answer as the chat endpoint does.
pub(crate) fn decode(times: usize) {
    let Ok(endpoint) = aiperf_endpoints::BuiltIn::endpoint(testing::open("chat", "{}")) else {
        return;
    };
    let response = testing::Response::events(events());
    for _ in 0..times {
        let decoded = testing::decode(&*endpoint, black_box(&response));
        assert!(decoded.is_ok_and(|decoded| decoded.chunks.len() == 16));
    }
}
