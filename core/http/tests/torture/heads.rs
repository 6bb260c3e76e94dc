//! Status lines and header lines.

use aiperf_http::ErrorKind;

use crate::script::{Step, send};
use crate::{check, exchange, failed, ok};

/// A header line of `length` bytes.
fn padding(length: usize) -> String {
    format!("X-Padding: {}\r\n", "p".repeat(length))
}

#[test]
fn heads_that_are_read() {
    let many: String = (0..98).map(|index| format!("X-{index}: {index}\r\n")).collect();
    let chunked = "Transfer-Encoding: chunked\r\n";
    let length = "Content-Length: 2\r\n";
    let text = "Content-Type: text/event-stream\r\n";
    for (name, head, body, expected) in [
        (
            "plain",
            format!("HTTP/1.1 200 OK\r\n{length}\r\n"),
            "ok",
            ok(200, "ok", true),
        ),
        (
            "no reason",
            format!("HTTP/1.1 200\r\n{length}\r\n"),
            "ok",
            ok(200, "ok", true),
        ),
        (
            "odd reason",
            format!("HTTP/1.1 200 \u{fc}ber ~\r\n{length}\r\n"),
            "ok",
            ok(200, "ok", true),
        ),
        (
            "odd status",
            format!("HTTP/1.1 799 X\r\n{length}\r\n"),
            "ok",
            ok(799, "ok", true),
        ),
        (
            "lines end with LF",
            "HTTP/1.1 200 OK\nContent-Length: 2\n\n".into(),
            "ok",
            ok(200, "ok", true),
        ),
        (
            "letter case",
            "HTTP/1.1 200 OK\r\ncOnTeNt-LeNgTh: 2\r\n\r\n".into(),
            "ok",
            ok(200, "ok", true),
        ),
        (
            "blanks",
            "HTTP/1.1 200 OK\r\nContent-Length:  \t2 \t\r\n\r\n".into(),
            "ok",
            ok(200, "ok", true),
        ),
        (
            "a fold",
            format!("HTTP/1.1 200 OK\r\nX-Note: one\r\n two\r\n\tthree\r\n{length}\r\n"),
            "ok",
            ok(200, "ok", true),
        ),
        (
            "many lines",
            format!("HTTP/1.1 200 OK\r\n{many}{length}\r\n"),
            "ok",
            ok(200, "ok", true),
        ),
        (
            "an empty value",
            format!("HTTP/1.1 200 OK\r\nX-Empty:\r\n{length}\r\n"),
            "ok",
            ok(200, "ok", true),
        ),
        (
            "bytes above ASCII",
            format!("HTTP/1.1 200 OK\r\nX-Note: \u{fc}\r\n{length}\r\n"),
            "ok",
            ok(200, "ok", true),
        ),
        (
            "length twice, equal",
            format!("HTTP/1.1 200 OK\r\n{length}{length}\r\n"),
            "ok",
            ok(200, "ok", true),
        ),
        (
            "chunked wins over length",
            format!("HTTP/1.1 200 OK\r\nContent-Length: 9\r\n{chunked}\r\n"),
            "2\r\nok\r\n0\r\n\r\n",
            ok(200, "ok", true),
        ),
        (
            "asked to close",
            format!("HTTP/1.1 200 OK\r\nConnection: close\r\n{length}\r\n"),
            "ok",
            ok(200, "ok", false),
        ),
        (
            "asked to close among others",
            format!("HTTP/1.1 200 OK\r\nConnection: x, Close\r\n{length}\r\n"),
            "ok",
            ok(200, "ok", false),
        ),
        (
            "1.0 closes",
            format!("HTTP/1.0 200 OK\r\n{length}\r\n"),
            "ok",
            ok(200, "ok", false),
        ),
        (
            "1.0 keeps on request",
            format!("HTTP/1.0 200 OK\r\nConnection: keep-alive\r\n{length}\r\n"),
            "ok",
            ok(200, "ok", true),
        ),
        (
            "continue",
            format!("HTTP/1.1 100 Continue\r\n\r\nHTTP/1.1 200 OK\r\n{length}\r\n"),
            "ok",
            ok(200, "ok", true),
        ),
        (
            "hints, twice",
            format!(
                "HTTP/1.1 103 Early Hints\r\nLink: </a>\r\n\r\nHTTP/1.1 103 Early Hints\r\nContent-Length: 5\r\n\r\n\
                 HTTP/1.1 200 OK\r\n{length}\r\n"
            ),
            "ok",
            ok(200, "ok", true),
        ),
        (
            "no content",
            "HTTP/1.1 204 No Content\r\n\r\n".into(),
            "",
            ok(204, "", true),
        ),
        (
            "no content with a length",
            "HTTP/1.1 204 No Content\r\nContent-Length: 5\r\n\r\n".into(),
            "",
            ok(204, "", true),
        ),
        (
            "not modified with a length",
            "HTTP/1.1 304 Not Modified\r\nContent-Length: 5\r\n\r\n".into(),
            "",
            ok(304, "", true),
        ),
        (
            "type in another case",
            "HTTP/1.1 200 OK\r\ncontent-TYPE: Text/Event-Stream ; charset=UTF-8\r\nContent-Length: 9\r\n\r\n".into(),
            "data: a\n\n",
            ok(200, "[|a]", true),
        ),
        (
            "a stream of nothing",
            format!("HTTP/1.1 200 OK\r\n{text}Content-Length: 0\r\n\r\n"),
            "",
            ok(200, "", true),
        ),
    ] {
        check(name, format!("{head}{body}").as_bytes(), Step::Wait, &expected);
    }
}

#[test]
fn heads_that_are_refused() {
    let many: String = (0..101).map(|index| format!("X-{index}: {index}\r\n")).collect();
    for (name, response) in [
        ("nothing like HTTP", "hello\r\n\r\n".to_owned()),
        ("like HTTP/0.9", "<html>hello</html>".to_owned()),
        ("another protocol", "HTTP/2.0 200 OK\r\n\r\n".to_owned()),
        ("no version", "HTTP 200 OK\r\n\r\n".to_owned()),
        ("no status", "HTTP/1.1 OK\r\n\r\n".to_owned()),
        ("a status of two digits", "HTTP/1.1 20 OK\r\n\r\n".to_owned()),
        ("a line without colon", "HTTP/1.1 200 OK\r\nnonsense\r\n\r\n".to_owned()),
        (
            "a blank before the colon",
            "HTTP/1.1 200 OK\r\nX : 1\r\n\r\n".to_owned(),
        ),
        ("a control character", "HTTP/1.1 200 OK\r\nX: a\0b\r\n\r\n".to_owned()),
        ("too many lines", format!("HTTP/1.1 200 OK\r\n{many}\r\n")),
        (
            "lengths that differ",
            "HTTP/1.1 200 OK\r\nContent-Length: 2\r\nContent-Length: 3\r\n\r\nok".to_owned(),
        ),
        (
            "lengths that differ in one line",
            "HTTP/1.1 200 OK\r\nContent-Length: 2, 3\r\n\r\nok".to_owned(),
        ),
        (
            "a negative length",
            "HTTP/1.1 200 OK\r\nContent-Length: -1\r\n\r\n".to_owned(),
        ),
        (
            "a signed length",
            "HTTP/1.1 200 OK\r\nContent-Length: +2\r\n\r\nok".to_owned(),
        ),
        (
            "a length beyond 64 bits",
            "HTTP/1.1 200 OK\r\nContent-Length: 99999999999999999999\r\n\r\n".to_owned(),
        ),
    ] {
        check(
            name,
            response.as_bytes(),
            Step::Wait,
            &failed(ErrorKind::Protocol, None, ""),
        );
    }
}

#[test]
fn a_large_head_is_read_and_an_endless_one_refused() {
    let large = format!("HTTP/1.1 200 OK\r\n{}Content-Length: 2\r\n\r\nok", padding(100_000));
    let (answer, kept) = exchange(vec![Step::Request, send(large), Step::Wait]);
    assert_eq!((answer.error, answer.status, kept), (None, Some(200), true));

    let mut script = vec![Step::Request, send("HTTP/1.1 200 OK\r\n")];
    script.extend((0..90).map(|_| send(padding(100_000))));
    script.push(Step::Wait);
    let (answer, _) = exchange(script);
    let error = answer.error.unwrap();
    assert_eq!(error.kind, ErrorKind::Protocol, "{error}");
    assert!(error.message.contains("too large"), "{error}");
    assert!(
        answer.bytes_received < 2_000_000,
        "{} bytes were read",
        answer.bytes_received
    );
}

#[test]
fn a_switch_of_protocols_is_no_answer() {
    let response = "HTTP/1.1 101 Switching Protocols\r\nUpgrade: x\r\nConnection: upgrade\r\n\r\n";
    let (answer, kept) = exchange(vec![Step::Request, send(response), Step::Close]);
    assert!(!answer.is_success() && !kept, "{answer:?}");
}

#[test]
fn the_head_that_counts_is_stamped() {
    let hints = "HTTP/1.1 103 Early Hints\r\n\r\n";
    let mut script = vec![Step::Request, send(hints)];
    script.extend((0..20).map(|_| send("")));
    script.extend([
        send("HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\n"),
        send("ok"),
        Step::Wait,
    ]);
    let (answer, _) = exchange(script);
    let timings = &answer.timings;
    assert!(timings.headers.unwrap() <= timings.first_byte.unwrap(), "{timings:?}");
    assert!(timings.headers.unwrap() > timings.send.unwrap().start, "{timings:?}");
}

#[test]
fn a_redirect_says_where_to() {
    for (status, location) in [(301, "/elsewhere"), (302, "https://user:secret@h/x"), (308, "")] {
        let response = format!("HTTP/1.1 {status} Moved\r\nLocation: {location}\r\nContent-Length: 0\r\n\r\n");
        let (answer, kept) = exchange(vec![Step::Request, send(response), Step::Wait]);
        assert_eq!((answer.error.clone(), answer.status, kept), (None, Some(status), true));
        assert_eq!(answer.location.as_deref(), Some(location));
        assert!(!answer.is_success());
    }
    let (answer, _) = exchange(vec![
        Step::Request,
        send("HTTP/1.1 201 Made\r\nLocation: /made\r\nContent-Length: 0\r\n\r\n"),
        Step::Wait,
    ]);
    assert_eq!((answer.location.clone(), answer.is_success()), (None, true));
}
