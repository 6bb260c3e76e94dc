//! Answers that are not streams.

use aiperf_http::{Body, Cancel, ErrorKind, Method, Options};

use crate::server::Server;
use crate::{exchange, handler, post, run, whole};

#[test]
fn the_request_is_written_as_given_and_its_answer_timed() {
    let server = Server::start(vec![handler(|mut peer| {
        let request = peer.read_request();
        let host = request
            .lines()
            .nth(1)
            .unwrap()
            .strip_prefix("Host: 127.0.0.1:")
            .unwrap()
            .to_string();
        assert_eq!(
            request.replace(&host, "PORT"),
            "POST /v1/test HTTP/1.1\r\nHost: 127.0.0.1:PORT\r\nX-Request-ID: 7\r\naccept: */*\r\n\
             Content-Length: 4\r\n\r\nbody"
        );
        peer.send("HTTP/1.1 200 OK\r\ncontent-type: application/json\r\ncontent-length: 2\r\n\r\n{}");
    })]);
    let port = server.port;
    let exchange = run(Options::default(), async |client| {
        let mut request = post(port, "body");
        request.headers.extend([("X-Request-ID", "7"), ("accept", "*/*")]);
        request.trace_chunks = true;
        client.send(&request, &Cancel::new()).await
    });
    server.finish();

    assert!(exchange.is_success(), "{exchange:?}");
    assert_eq!((exchange.status, &*exchange.reason), (Some(200), "OK"));
    assert_eq!(exchange.content_type.as_deref(), Some("application/json"));
    assert_eq!(whole(&exchange), "{}");
    assert_eq!(exchange.bytes_received, 72);
    assert_eq!(exchange.bytes_sent, 97 + port.to_string().len() as u64);
    assert_eq!(exchange.remote.unwrap().port(), port);
    assert!(exchange.local.unwrap().ip().is_loopback());
    assert!(!exchange.reused && !exchange.resent);

    let timings = &exchange.timings;
    let (connect, send) = (timings.connect.unwrap(), timings.send.unwrap());
    let (first, last) = (timings.first_byte.unwrap(), timings.last_byte.unwrap());
    let order = [
        timings.start,
        connect.start,
        connect.end,
        send.start,
        timings.headers.unwrap(),
        first,
        last,
        timings.end,
    ];
    assert!(order.is_sorted(), "{timings:?}");
    assert!(send.start <= send.end && send.end <= timings.end, "{timings:?}");
    assert_eq!((timings.pool_wait, timings.dns), (None, None));
    let Body::Whole { arrival, .. } = exchange.body else {
        unreachable!()
    };
    assert_eq!(arrival.at(), last);
    assert_eq!(exchange.chunk_count as usize, exchange.chunks.len());
    assert_eq!(exchange.chunks.iter().map(|chunk| chunk.bytes).sum::<u32>(), 2);
}

#[test]
fn answers_and_what_is_kept_of_them() {
    for (response, status, reason, body) in [
        ("HTTP/1.1 200 OK\r\nContent-Length: 5\r\n\r\nhello", 200, "OK", "hello"),
        (
            "HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n3\r\nhel\r\n2;x=y\r\nlo\r\n0\r\nT: x\r\n\r\n",
            200,
            "OK",
            "hello",
        ),
        ("HTTP/1.1 200 OK\r\n\r\nuntil the end", 200, "OK", "until the end"),
        ("HTTP/1.0 200 OK\r\n\r\nold", 200, "OK", "old"),
        ("HTTP/1.1 200 OK\r\nContent-Length: 0\r\n\r\n", 200, "OK", ""),
        ("HTTP/1.1 204 No Content\r\n\r\n", 204, "No Content", ""),
        (
            "HTTP/1.1 100 Continue\r\n\r\nHTTP/1.1 102 Wait\r\n\r\nHTTP/1.1 201 Made\r\nContent-Length: 1\r\n\r\nx",
            201,
            "Made",
            "x",
        ),
        (
            "HTTP/1.1 404 Not Found\r\nContent-Length: 8\r\n\r\nno model",
            404,
            "Not Found",
            "no model",
        ),
        (
            "HTTP/1.1 429 Slow Down\r\nContent-Length: 1\r\n\r\n!",
            429,
            "Slow Down",
            "!",
        ),
        // No redirect is followed, and no stream is looked for in an error.
        (
            "HTTP/1.1 307 Temporary Redirect\r\nLocation: /x\r\nContent-Length: 0\r\n\r\n",
            307,
            "Temporary Redirect",
            "",
        ),
        (
            "HTTP/1.1 500 Oops\r\nContent-Type: text/event-stream\r\nContent-Length: 9\r\n\r\ndata: a\n\n",
            500,
            "Oops",
            "data: a\n\n",
        ),
    ] {
        let server = Server::start(vec![handler(|mut peer| {
            peer.read_request();
            peer.send(response);
        })]);
        let exchange = exchange(server.port);
        server.finish();
        assert_eq!(exchange.error, None, "{response:?}");
        assert_eq!(
            (exchange.status, &*exchange.reason),
            (Some(status), reason),
            "{response:?}"
        );
        if body.is_empty() {
            assert_eq!(exchange.body, Body::Empty, "{response:?}");
            assert_eq!(exchange.timings.first_byte, None, "{response:?}");
        } else {
            assert_eq!(whole(&exchange), body, "{response:?}");
        }
        let success = (200..300).contains(&status);
        assert_eq!(exchange.is_success(), success, "{response:?}");
        assert_eq!(exchange.timings.headers.is_some(), success, "{response:?}");
        assert_eq!(exchange.bytes_received, response.len() as u64, "{response:?}");
    }
}

#[test]
fn an_answer_to_head_has_no_body() {
    let server = Server::start(vec![handler(|mut peer| {
        assert!(peer.read_request().starts_with("HEAD "));
        peer.send("HTTP/1.1 200 OK\r\nContent-Length: 5\r\n\r\n");
        peer.wait_for_close();
    })]);
    let port = server.port;
    let exchange = run(Options::default(), async |client| {
        let mut request = post(port, "");
        request.method = Method::HEAD;
        client.send(&request, &Cancel::new()).await
    });
    server.finish();
    assert_eq!(
        (exchange.error, exchange.status, exchange.body),
        (None, Some(200), Body::Empty)
    );
}

#[test]
fn a_large_request_is_written_to_its_end() {
    const SIZE: usize = 16 << 20;
    let server = Server::start(vec![handler(|mut peer| {
        let request = peer.read_request();
        peer.answer(&(request.len() - request.find("\r\n\r\n").unwrap() - 4).to_string());
    })]);
    let port = server.port;
    let exchange = run(Options::default(), async |client| {
        let mut request = post(port, "");
        request.body = vec![b'x'; SIZE].into();
        client.send(&request, &Cancel::new()).await
    });
    server.finish();
    assert_eq!(exchange.error, None);
    assert_eq!(whole(&exchange), SIZE.to_string());
    assert!(exchange.bytes_sent > SIZE as u64);
    assert!(exchange.timings.send.unwrap().end <= exchange.timings.end);
}

#[test]
fn an_answer_that_comes_before_the_whole_request_counts() {
    let server = Server::start(vec![handler(|mut peer| {
        peer.read_head();
        peer.send("HTTP/1.1 413 Payload Too Large\r\nContent-Length: 3\r\n\r\nbig");
        // Held open, unread: the client must end without having written everything.
        std::mem::forget(peer);
    })]);
    let port = server.port;
    run(Options::default(), async |client| {
        let mut request = post(port, "");
        request.body = vec![b'x'; 64 << 20].into();
        let exchange = client.send(&request, &Cancel::new()).await;
        assert_eq!((exchange.error.as_ref(), exchange.status), (None, Some(413)));
        assert_eq!(whole(&exchange), "big");
        assert_eq!(exchange.timings.send, None, "the request was never completely written");
        assert_eq!(client.idle_connections(), 0, "a half-written connection is not reused");
    });
    server.finish();
}

#[test]
fn a_body_over_the_limit_is_refused() {
    let server = Server::start(vec![handler(|mut peer| {
        peer.read_request();
        peer.answer("0123456789");
    })]);
    let port = server.port;
    let options = Options {
        max_body: 9,
        ..Options::default()
    };
    let exchange = run(options, async |client| {
        client.send(&post(port, "{}"), &Cancel::new()).await
    });
    server.finish();
    assert_eq!(exchange.error.map(|error| error.kind), Some(ErrorKind::BodyTooLarge));
}
