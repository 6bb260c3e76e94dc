//! Framing of bodies, and where it breaks.

use aiperf_http::ErrorKind;

use crate::script::Step;
use crate::{Outcome, check, failed, ok};

const CHUNKED: &str = "HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n";
const STREAM: &str = "HTTP/1.1 200 OK\r\nContent-Type: text/event-stream\r\nTransfer-Encoding: chunked\r\n\r\n";

#[test]
fn framings_that_are_read() {
    for (name, head, body, last, expected) in [
        (
            "chunks",
            CHUNKED,
            "3\r\nhel\r\n2\r\nlo\r\n0\r\n\r\n",
            Step::Wait,
            ok(200, "hello", true),
        ),
        (
            "extensions",
            CHUNKED,
            "3;a=b;c=\"d\"\r\nhel\r\n2 ; x\r\nlo\r\n0;e\r\n\r\n",
            Step::Wait,
            ok(200, "hello", true),
        ),
        (
            "hex in either case",
            CHUNKED,
            "00A\r\n0123456789\r\n0b\r\n0123456789a\r\n000\r\n\r\n",
            Step::Wait,
            ok(200, "01234567890123456789a", true),
        ),
        (
            "trailers",
            CHUNKED,
            "2\r\nok\r\n0\r\nX-Sum: 1\r\nX-Other: 2\r\n\r\n",
            Step::Wait,
            ok(200, "ok", true),
        ),
        (
            "until the end",
            "HTTP/1.1 200 OK\r\n\r\n",
            "all of it",
            Step::Close,
            ok(200, "all of it", false),
        ),
        (
            "nothing until the end",
            "HTTP/1.1 200 OK\r\n\r\n",
            "",
            Step::Close,
            ok(200, "", false),
        ),
        (
            "a stream until the end",
            "HTTP/1.1 200 OK\r\nContent-Type: text/event-stream\r\n\r\n",
            "data: a\n\ndata: b",
            Step::Close,
            ok(200, "[|a][|b]", false),
        ),
        (
            "a chunk per byte",
            STREAM,
            "1\r\nd\r\n1\r\na\r\n1\r\nt\r\n1\r\na\r\n1\r\n:\r\n1\r\nx\r\n1\r\n\n\r\n1\r\n\n\r\n0\r\n\r\n",
            Step::Wait,
            ok(200, "[|x]", true),
        ),
    ] {
        check(name, format!("{head}{body}").as_bytes(), last, &expected);
    }
}

/// Every prefix of a response, followed by a close or a reset, is an error that keeps what came; none is sent again.
#[test]
fn an_end_anywhere_is_an_error_that_keeps_what_came() {
    let incomplete = |body: &str| failed(ErrorKind::BodyIncomplete, Some(200), body);
    let chunked = "9\r\ndata: a\n\n\r\n9\r\ndata: b\n\n\r\n0\r\nX-Sum: 1\r\n\r\n";
    let fixed = "HTTP/1.1 200 OK\r\nContent-Type: text/event-stream\r\nContent-Length: 18\r\n\r\n";
    let events = |came: usize, ends: [usize; 2]| match ends.iter().filter(|end| came >= **end).count() {
        0 => "",
        1 => "[|a]",
        _ => "[|a][|b]",
    };
    for (head, body, ends) in [(STREAM, chunked, [12, 26]), (fixed, "data: a\n\ndata: b\n\n", [9, 18])] {
        let response = format!("{head}{body}");
        for came in 0..response.len() {
            for (last, before_head) in [(Step::Close, ErrorKind::Closed), (Step::Reset, ErrorKind::Reset)] {
                // Each reset waits for the client; a few are enough.
                if matches!(last, Step::Reset) && came % 11 != 0 {
                    continue;
                }
                let expected = match came.checked_sub(head.len()) {
                    None => failed(before_head, None, ""),
                    Some(came) => incomplete(events(came, ends)),
                };
                let script = vec![Step::Request, Step::Send(response.as_bytes()[..came].to_vec()), last];
                assert_eq!(crate::outcome(script), expected, "{came} of {response:?}");
            }
        }
    }
}

#[test]
fn chunks_that_are_none() {
    for (name, body) in [
        ("no number", "xyz\r\nok\r\n0\r\n\r\n"),
        ("a sign", "-1\r\nok\r\n0\r\n\r\n"),
        ("a number beyond 64 bits", "fffffffffffffffff\r\nok"),
        ("no end behind the data", "2\r\nokok\r\n0\r\n\r\n"),
        ("no LF behind the size", "2\rok\r\n0\r\n\r\n"),
    ] {
        let response = format!("{CHUNKED}{body}");
        let script = vec![Step::Request, Step::Send(response.into_bytes()), Step::Wait];
        let Outcome {
            status, error, kept, ..
        } = crate::outcome(script);
        assert_eq!((status, kept), (Some(200), false), "{name}");
        assert_eq!(error, Some(ErrorKind::Protocol), "{name}");
    }
}
