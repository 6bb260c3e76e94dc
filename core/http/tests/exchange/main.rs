//! Whole exchanges against hand-written servers on the loopback interface.

#![allow(clippy::unwrap_used, clippy::expect_used, reason = "a test may fail by panicking")]

mod addresses;
mod answers;
mod certificates;
mod connections;
mod encrypted;
mod endings;
mod proxies;
mod server;
mod streams;

use std::sync::Arc;
use std::time::Duration;

use aiperf_http::{Arrival, Bytes, Cancel, Client, Exchange, Method, Observer, Options, Request, Target};

use server::{Handler, Peer};

/// Far beyond what any of these exchanges takes: a test that hangs fails instead.
const LONG: Duration = Duration::from_secs(60);

/// Head of an event stream in chunks.
const STREAM: &str =
    "HTTP/1.1 200 OK\r\nContent-Type: text/event-stream; charset=utf-8\r\nTransfer-Encoding: chunked\r\n\r\n";

/// Runs `test` as the I/O thread would.
fn run<T>(options: Options, test: impl AsyncFnOnce(Client) -> T) -> T {
    let runtime = tokio::runtime::Builder::new_current_thread()
        .enable_all()
        .build()
        .unwrap();
    tokio::task::LocalSet::new().block_on(&runtime, test(Client::new(options)))
}

fn handler(play: impl FnOnce(Peer) + Send + 'static) -> Handler {
    Box::new(play)
}

fn post(port: u16, body: &'static str) -> Request {
    let target = Target::parse(&format!("127.0.0.1:{port}"), Some("/v1/test")).unwrap();
    let mut request = Request::new(Method::POST, Arc::new(target), Bytes::from_static(body.as_bytes()));
    request.timeout = Some(LONG);
    request
}

/// One request on a fresh client with default options.
fn exchange(port: u16) -> Exchange {
    run(Options::default(), async |client| {
        client.send(&post(port, "{}"), &Cancel::new()).await
    })
}

/// Calls a closure at each event.
struct OnEvent<F>(F);

impl<F: FnMut(&[u8])> Observer for OnEvent<F> {
    fn event(&mut self, data: &[u8], _: Arrival) {
        (self.0)(data);
    }
}

/// The data of an exchange's events, as text.
fn events(exchange: &Exchange) -> Vec<String> {
    let aiperf_http::Body::Events(events) = &exchange.body else {
        panic!("no events: {exchange:?}")
    };
    events
        .iter()
        .map(|(data, _)| String::from_utf8_lossy(data).into_owned())
        .collect()
}

/// An exchange's body that is no stream, as text.
fn whole(exchange: &Exchange) -> &str {
    let aiperf_http::Body::Whole { bytes, .. } = &exchange.body else {
        panic!("no whole body: {exchange:?}")
    };
    std::str::from_utf8(bytes).unwrap()
}
