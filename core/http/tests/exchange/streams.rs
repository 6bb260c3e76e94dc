//! Event streams.

use std::sync::mpsc::channel;

use aiperf_http::{Body, Cancel, ErrorKind, Options};

use crate::server::Server;
use crate::{OnEvent, STREAM, events, exchange, handler, post, run};

#[test]
fn each_event_has_the_stamp_of_its_own_read() {
    let (seen, next) = channel();
    let server = Server::start(vec![handler(move |mut peer| {
        peer.read_request();
        peer.send(STREAM);
        for text in ["one", "two", "three"] {
            peer.send_chunk(&format!("data: {text}\n\n"));
            assert_eq!(next.recv().unwrap(), text);
        }
        peer.send("0\r\n\r\n");
        peer.wait_for_close();
    })]);
    let port = server.port;
    let exchange = run(Options::default(), async |client| {
        let mut observer = OnEvent(|data: &[u8]| seen.send(String::from_utf8_lossy(data).into_owned()).unwrap());
        client
            .send_observed(&post(port, "{}"), &Cancel::new(), &mut observer)
            .await
    });
    server.finish();

    assert!(exchange.is_success(), "{exchange:?}");
    assert_eq!(events(&exchange), ["one", "two", "three"]);
    let Body::Events(events) = &exchange.body else {
        unreachable!()
    };
    let at: Vec<_> = events.arrivals.iter().map(|arrival| arrival.at()).collect();
    assert!(at.is_sorted() && at[0] < at[2], "{at:?}");
    assert!(
        events.arrivals.iter().all(|arrival| arrival.lower().is_none()),
        "{:?}",
        events.arrivals
    );
    assert!(
        events.arrivals.iter().all(|arrival| arrival.at() <= arrival.user()),
        "{:?}",
        events.arrivals
    );
    assert_eq!(exchange.timings.first_byte, Some(at[0]));
    assert_eq!(exchange.timings.last_byte, Some(at[2]));
    assert_eq!(exchange.chunk_count, 3);
    // The third event comes long after timestamping was switched on.
    if cfg!(target_os = "linux") {
        let last = events.arrivals[2];
        assert!(
            last.kernel().is_some_and(|kernel| kernel > exchange.timings.start),
            "{last:?}"
        );
    }
}

#[test]
fn events_that_share_a_read_are_bounded() {
    let server = Server::start(vec![handler(|mut peer| {
        peer.read_request();
        peer.send(&format!("{STREAM}9\r\ndata: a\n\n\r\n9\r\ndata: b\n\n\r\n0\r\n\r\n"));
    })]);
    let exchange = exchange(server.port);
    server.finish();
    assert_eq!(events(&exchange), ["a", "b"]);
    let Body::Events(events) = &exchange.body else {
        unreachable!()
    };
    let send = exchange.timings.send.unwrap();
    for arrival in &events.arrivals {
        assert_eq!(arrival.at(), events.arrivals[0].at());
        assert_eq!(
            arrival.lower(),
            Some(send.start),
            "nothing arrives before the request is sent"
        );
    }
}

#[test]
fn the_read_counts_where_that_is_wanted() {
    let server = Server::start(vec![handler(|mut peer| {
        peer.read_request();
        peer.send("HTTP/1.1 200 OK\r\nContent-Type: text/event-stream\r\n\r\ndata: a\n\ndata: tail");
    })]);
    let port = server.port;
    let options = Options {
        kernel_timestamps: false,
        ..Options::default()
    };
    let exchange = run(options, async |client| {
        client.send(&post(port, "{}"), &Cancel::new()).await
    });
    server.finish();
    assert_eq!(events(&exchange), ["a", "tail"]);
    let Body::Events(events) = &exchange.body else {
        unreachable!()
    };
    assert!(
        events
            .arrivals
            .iter()
            .all(|arrival| arrival.at() == arrival.user() && arrival.kernel().is_some())
    );
}

#[test]
fn an_event_split_over_writes_arrives_with_its_delimiter() {
    let server = Server::start(vec![handler(|mut peer| {
        peer.read_request();
        peer.send("HTTP/1.1 200 OK\r\nContent-Type: Text/Event-Stream\r\nContent-Length: 36\r\n\r\n");
        for byte in "data: \u{fc}\u{fc}\r\n\r\nevent: x\ndata: [DONE]\n\n".as_bytes() {
            peer.send(&String::from_utf8_lossy(std::slice::from_ref(byte)).replace('\u{fffd}', "?"));
        }
    })]);
    let exchange = exchange(server.port);
    server.finish();
    assert_eq!(exchange.error, None);
    assert_eq!(events(&exchange), ["????", "[DONE]"]);
    let Body::Events(events) = &exchange.body else {
        unreachable!()
    };
    assert_eq!((events.name(0), events.name(1)), (None, Some(&b"x"[..])));
}

#[test]
fn an_error_event_ends_the_exchange_and_keeps_what_came() {
    let server = Server::start(vec![handler(|mut peer| {
        peer.read_request();
        peer.send(STREAM);
        peer.send_chunk("data: a\n\n");
        peer.send_chunk("event: error\ndata: out of memory\n\n");
        peer.wait_for_close();
    })]);
    let exchange = exchange(server.port);
    server.finish();
    let error = exchange.error.clone().unwrap();
    assert_eq!((error.kind, error.kind.code()), (ErrorKind::SseError, Some(502)));
    assert_eq!(error.message, "the stream reported an error: out of memory");
    assert_eq!(events(&exchange), ["a"]);
}
