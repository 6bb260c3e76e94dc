//! Event streams, split over reads in every way.

use aiperf_http::ErrorKind;
use proptest::prelude::*;

use crate::script::{Script, Step, send};
use crate::{Outcome, check, exchange, failed, ok, outcome, shown};

fn stream(body: &str) -> Vec<u8> {
    let head = "HTTP/1.1 200 OK\r\nContent-Type: text/event-stream\r\n\r\n";
    format!("{head}{body}").into_bytes()
}

#[test]
fn streams_and_their_events() {
    for (name, body, events) in [
        ("comments", ": hi\ndata: a\n: there\n\n:\n\n", "[|a]"),
        ("CRLF", "data: a\r\n\r\ndata: b\r\n\r\n", "[|a][|b]"),
        ("lone CR", "data: a\r\rdata: b\r\r", "[|a][|b]"),
        (
            "mixed endings",
            "data: a\r\n\ndata: b\n\r\ndata: c\r\n\r",
            "[|a][|b][|c]",
        ),
        (
            "characters of many bytes",
            "data: \u{fc}\u{20ac}\u{1f600}\n\n",
            "[|\u{fc}\u{20ac}\u{1f600}]",
        ),
        ("several data lines", "data: a\ndata:\ndata: b\n\n", "[|a\n\nb]"),
        ("a byte order mark", "\u{feff}data: a\n\n", "[|a]"),
        ("id and retry", "id: 1\nretry: 10\ndata: a\n\nid: 2\n\n", "[|a]"),
        ("names", "event: x\ndata: a\n\ndata: b\n\n", "[x|a][|b]"),
        ("no last blank line", "data: a\n\ndata: b\n", "[|a][|b]"),
        ("no last line end", "data: a\n\ndata: b", "[|a][|b]"),
        ("done", "data: a\n\ndata: [DONE]\n\n", "[|a][|[DONE]]"),
        ("not UTF-8 in a comment", ": \u{fffd}\ndata: a\n\n", "[|a]"),
        ("nothing but comments", ": a\n\n: b\n\n", ""),
    ] {
        check(name, &stream(body), Step::Close, &ok(200, events, false));
    }
    let error = failed(ErrorKind::SseError, Some(200), "[|a]");
    check(
        "an error",
        &stream("data: a\n\nevent: error\ndata: boom\n\ndata: b\n\n"),
        Step::Wait,
        &error,
    );
}

#[test]
fn an_event_of_ten_megabytes() {
    let text = "x".repeat(10 << 20);
    let response = stream(&format!("data: {text}\n\ndata: after\n\n"));
    let mut script: Script = vec![Step::Request];
    script.extend(response.chunks(1 << 20).map(send));
    let (answer, _) = exchange(script);
    assert_eq!(answer.error, None);
    assert_eq!(shown(&answer.body), format!("[|{text}][|after]"));
}

#[test]
fn ten_thousand_events_in_one_write() {
    let body: String = (0..10_000).map(|index| format!("data: {index}\n\n")).collect();
    let expected: String = (0..10_000).map(|index| format!("[|{index}]")).collect();
    let (answer, _) = exchange(vec![Step::Request, send(stream(&body))]);
    assert_eq!((answer.error.as_ref(), shown(&answer.body)), (None, expected));
}

fn tokens() -> impl Strategy<Value = String> {
    let token = prop::sample::select(vec![
        "data",
        ":",
        " ",
        "\n",
        "\r",
        "\r\n",
        "\n\n",
        "\r\n\r\n",
        "event",
        "id: 1",
        "a",
        "{",
        "}",
        "data: x",
        "data:y\n\n",
        ": c",
        "\u{feff}",
        "\u{fc}",
        "\u{1f600}",
        "[DONE]",
    ]);
    prop::collection::vec(token, 0..60).prop_map(|tokens| tokens.concat())
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(64))]

    /// The whole client, on a stream in chunks: any split over writes gives what one write gives.
    #[test]
    fn any_split_gives_the_same_outcome(
        body in tokens(),
        chunk in 1usize..20,
        cuts in prop::collection::vec(0usize..2000, 0..8),
    ) {
        let mut response = b"HTTP/1.1 200 OK\r\nContent-Type: text/event-stream\r\nTransfer-Encoding: chunked\r\n\r\n".to_vec();
        for part in body.as_bytes().chunks(chunk) {
            response.extend_from_slice(format!("{:x}\r\n", part.len()).as_bytes());
            response.extend_from_slice(part);
            response.extend_from_slice(b"\r\n");
        }
        response.extend_from_slice(b"0\r\n\r\n");
        let whole: Outcome = outcome(vec![Step::Request, send(&response), Step::Wait]);
        let mut cuts: Vec<_> = cuts.into_iter().map(|cut| cut % response.len()).collect();
        cuts.sort_unstable();
        cuts.push(response.len());
        let mut script = vec![Step::Request];
        let mut from = 0;
        for cut in cuts {
            script.push(send(&response[from..cut]));
            from = cut;
        }
        script.push(Step::Wait);
        prop_assert_eq!(outcome(script), whole);
    }
}
