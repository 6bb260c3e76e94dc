//! Exchanges that end badly.

use std::net::TcpListener;
use std::sync::Arc;
use std::sync::mpsc::channel;
use std::time::Duration;

use aiperf_http::{Body, Cancel, ErrorKind, Exchange, Options, Target};

use crate::server::Server;
use crate::{OnEvent, STREAM, events, exchange, handler, post, run};

fn kind(exchange: &Exchange) -> Option<ErrorKind> {
    exchange.error.as_ref().map(|error| error.kind)
}

#[test]
fn broken_answers_are_told_apart() {
    for (response, expected, status) in [
        ("", ErrorKind::Closed, None),
        ("HTTP/1.1 200 OK\r\nContent-", ErrorKind::Closed, None),
        ("\u{1}\u{2}garbage\r\n\r\n", ErrorKind::Protocol, None),
        ("SSH-2.0-x\r\n", ErrorKind::Protocol, None),
        (
            "HTTP/1.1 200 OK\r\nContent-Length: x\r\n\r\n",
            ErrorKind::Protocol,
            None,
        ),
        (
            "HTTP/1.1 200 OK\r\nContent-Length: 9\r\n\r\nhalf",
            ErrorKind::BodyIncomplete,
            Some(200),
        ),
        (
            "HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n9\r\nhalf",
            ErrorKind::BodyIncomplete,
            Some(200),
        ),
        (
            "HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n4\r\nhalf\r\n",
            ErrorKind::BodyIncomplete,
            Some(200),
        ),
        (
            "HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\nxyz\r\n",
            ErrorKind::Protocol,
            Some(200),
        ),
    ] {
        let server = Server::start(vec![handler(|mut peer| {
            peer.read_request();
            peer.send(response);
        })]);
        let exchange = exchange(server.port);
        server.finish();
        assert_eq!(
            (kind(&exchange), exchange.status),
            (Some(expected), status),
            "{response:?}: {:?}",
            exchange.error
        );
        assert_eq!(exchange.bytes_received, response.len() as u64, "{response:?}");
        assert!(!exchange.is_success() && !exchange.resent, "{response:?}");
    }
}

#[test]
fn a_reset_is_no_close() {
    let server = Server::start(vec![handler(|mut peer| {
        peer.read_request();
        peer.reset();
    })]);
    let exchange = exchange(server.port);
    server.finish();
    assert_eq!(kind(&exchange), Some(ErrorKind::Reset), "{:?}", exchange.error);
    assert!(exchange.timings.send.is_some());
}

#[test]
fn a_reset_within_the_body_keeps_what_came() {
    let (seen, next) = channel();
    let server = Server::start(vec![handler(move |mut peer| {
        peer.read_request();
        peer.send(STREAM);
        peer.send_chunk("data: a\n\ndata: half");
        next.recv().unwrap();
        peer.reset();
    })]);
    let port = server.port;
    let exchange = run(Options::default(), async |client| {
        let mut observer = OnEvent(|_: &[u8]| seen.send(()).unwrap());
        client
            .send_observed(&post(port, "{}"), &Cancel::new(), &mut observer)
            .await
    });
    server.finish();
    assert_eq!(kind(&exchange), Some(ErrorKind::BodyIncomplete), "{:?}", exchange.error);
    assert_eq!(events(&exchange), ["a"]);
    let Body::Events(events) = &exchange.body else {
        unreachable!()
    };
    assert_eq!(events.bytes, b"a", "half an event is none");
}

#[test]
fn a_slow_head_runs_into_the_timeout() {
    let server = Server::start(vec![handler(|mut peer| {
        peer.read_request();
        peer.send("HTTP/1.1 200 OK\r\n");
        peer.wait_for_close();
    })]);
    let port = server.port;
    let exchange = run(Options::default(), async |client| {
        let mut request = post(port, "{}");
        request.timeout = Some(Duration::from_millis(50));
        client.send(&request, &Cancel::new()).await
    });
    server.finish();
    assert_eq!(kind(&exchange), Some(ErrorKind::Timeout));
    assert_eq!(exchange.status, None);
    assert!(exchange.timings.end - exchange.timings.start >= 50_000_000);
    assert!(exchange.timings.send.is_some());
}

#[test]
fn a_request_nobody_reads_is_told_from_one_nobody_answers() {
    for (cancel_after_send, expected) in [
        (None, ErrorKind::Timeout),
        (Some(Duration::from_secs(1)), ErrorKind::SendTimeout),
    ] {
        // The kernel completes the connection; nobody ever reads from it.
        let listener = TcpListener::bind(("127.0.0.1", 0)).unwrap();
        let port = listener.local_addr().unwrap().port();
        let exchange = run(Options::default(), async |client| {
            let mut request = post(port, "");
            request.body = vec![b'x'; 64 << 20].into();
            request.timeout = Some(Duration::from_millis(100));
            request.cancel_after_send = cancel_after_send;
            client.send(&request, &Cancel::new()).await
        });
        assert_eq!(kind(&exchange), Some(expected));
        assert_eq!(exchange.timings.send, None);
    }
}

#[test]
fn cancelling_keeps_what_came() {
    let server = Server::start(vec![handler(|mut peer| {
        peer.read_request();
        peer.send(STREAM);
        peer.send_chunk("data: a\n\n");
        peer.wait_for_close();
    })]);
    let port = server.port;
    let exchange = run(Options::default(), async |client| {
        let cancel = Cancel::new();
        let switch = cancel.clone();
        // Thrown from a task of its own, as the owner would.
        let (seen, next) = tokio::sync::oneshot::channel();
        tokio::task::spawn_local(async move {
            next.await.unwrap();
            switch.cancel();
        });
        let mut seen = Some(seen);
        let mut observer = OnEvent(move |_: &[u8]| seen.take().unwrap().send(()).unwrap());
        client.send_observed(&post(port, "{}"), &cancel, &mut observer).await
    });
    server.finish();
    assert_eq!(kind(&exchange), Some(ErrorKind::Cancelled));
    assert_eq!((exchange.status, events(&exchange)), (Some(200), vec!["a".to_string()]));
}

#[test]
fn cancelled_before_the_start_nothing_is_sent() {
    let exchange = run(Options::default(), async |client| {
        let cancel = Cancel::new();
        cancel.cancel();
        // Nobody listens there: sending would fail otherwise.
        client.send(&post(1, "{}"), &cancel).await
    });
    assert_eq!(kind(&exchange), Some(ErrorKind::Cancelled));
    assert_eq!(exchange.timings.connect, None);
}

#[test]
fn the_cancellation_delay_starts_when_the_request_is_sent() {
    let server = Server::start(vec![handler(|mut peer| {
        peer.read_request();
        peer.wait_for_close();
    })]);
    let port = server.port;
    let exchange = run(Options::default(), async |client| {
        let mut request = post(port, "{}");
        request.cancel_after_send = Some(Duration::from_millis(30));
        client.send(&request, &Cancel::new()).await
    });
    server.finish();
    assert_eq!(kind(&exchange), Some(ErrorKind::CancelledAfterSend));
    assert!(exchange.timings.end - exchange.timings.send.unwrap().end >= 30_000_000);
}

#[test]
fn a_finished_answer_beats_the_cancellation_delay() {
    let server = Server::start(vec![handler(|mut peer| {
        peer.read_request();
        peer.answer("x");
    })]);
    let port = server.port;
    let exchange = run(Options::default(), async |client| {
        let mut request = post(port, "{}");
        request.cancel_after_send = Some(crate::LONG);
        client.send(&request, &Cancel::new()).await
    });
    server.finish();
    assert!(exchange.is_success());
}

#[test]
fn nobody_listens() {
    let port = TcpListener::bind(("127.0.0.1", 0))
        .unwrap()
        .local_addr()
        .unwrap()
        .port();
    let exchange = exchange(port);
    let error = exchange.error.unwrap();
    assert_eq!(error.kind, ErrorKind::ConnectRefused);
    assert!(error.message.contains(&format!("127.0.0.1:{port}")), "{error}");
    assert!(exchange.timings.connect.is_some() && exchange.timings.send.is_none());
}

#[test]
fn a_name_without_address() {
    let exchange = run(Options::default(), async |client| {
        let mut request = post(1, "{}");
        // Longer than any label may be: no resolver asks the network for it.
        let name = "a".repeat(64);
        request.target = Arc::new(Target::parse(&name, None).unwrap());
        client.send(&request, &Cancel::new()).await
    });
    assert_eq!(kind(&exchange), Some(ErrorKind::Dns), "{:?}", exchange.error);
}

#[test]
fn a_header_that_breaks_the_framing_is_not_sent() {
    let exchange = run(Options::default(), async |client| {
        let mut request = post(1, "{}");
        request.headers.push("x", "a\r\nb: c");
        client.send(&request, &Cancel::new()).await
    });
    assert_eq!(kind(&exchange), Some(ErrorKind::InvalidRequest));
}
