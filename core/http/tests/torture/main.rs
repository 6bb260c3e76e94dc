//! The client against servers that follow a script byte by byte, however rude.

#![allow(clippy::unwrap_used, clippy::expect_used, reason = "a test may fail by panicking")]

mod bodies;
mod connections;
mod encodings;
mod events;
mod heads;
mod reference;
mod script;

use std::sync::Arc;
use std::time::Duration;

use aiperf_http::{Body, Bytes, Cancel, Client, ErrorKind, Exchange, Method, Options, Request, Target};

use script::{Script, Step, serve};

/// Far beyond what any of these exchanges takes: a test that hangs fails instead.
const LONG: Duration = Duration::from_secs(60);

/// What of an exchange must be the same however its bytes were split over reads.
#[derive(Debug, PartialEq)]
struct Outcome {
    status: Option<u16>,
    error: Option<ErrorKind>,
    body: String,
    /// Whether the connection went back into the pool.
    kept: bool,
}

fn run<T>(test: impl AsyncFnOnce(Client) -> T) -> T {
    let runtime = tokio::runtime::Builder::new_current_thread()
        .enable_all()
        .build()
        .unwrap();
    tokio::task::LocalSet::new().block_on(&runtime, test(Client::new(Options::default())))
}

fn post(port: u16) -> Request {
    let target = Target::parse(&format!("127.0.0.1:{port}"), Some("/v1/test")).unwrap();
    let mut request = Request::new(Method::POST, Arc::new(target), Bytes::from_static(b"{}"));
    request.timeout = Some(LONG);
    request
}

/// One exchange with a server that plays `script` on its only connection.
fn exchange(script: Script) -> (Exchange, bool) {
    run(async |client| {
        let server = serve(vec![script]).await;
        let exchange = client.send(&post(server.port), &Cancel::new()).await;
        let kept = client.idle_connections() == 1;
        drop(client);
        server.finish().await;
        (exchange, kept)
    })
}

fn outcome(script: Script) -> Outcome {
    let (exchange, kept) = exchange(script);
    Outcome {
        status: exchange.status,
        error: exchange.error.as_ref().map(|error| error.kind),
        body: shown(&exchange.body),
        kept,
    }
}

/// The events one per line in brackets with their names, or the bytes of another body.
fn shown(body: &Body) -> String {
    match body {
        Body::Empty => String::new(),
        Body::Whole { bytes, .. } => String::from_utf8_lossy(bytes).into_owned(),
        Body::Events(events) => (0..events.len())
            .map(|index| {
                let text = |bytes: Option<&[u8]>| String::from_utf8_lossy(bytes.unwrap_or_default()).into_owned();
                format!("[{}|{}]", text(events.name(index)), text(events.data(index)))
            })
            .collect(),
    }
}

/// Checks a response: sent at once, and byte by byte with the client reading in between.
#[track_caller]
fn check(name: &str, response: &[u8], last: Step, expected: &Outcome) {
    for (manner, split) in [("at once", response.len().max(1)), ("byte by byte", 1)] {
        let mut script = vec![Step::Request];
        script.extend(response.chunks(split).map(|piece| Step::Send(piece.to_vec())));
        script.push(last.clone());
        assert_eq!(&outcome(script), expected, "{name}, {manner}");
    }
}

/// A complete answer; whether its connection is kept, too.
fn ok(status: u16, body: &str, kept: bool) -> Outcome {
    Outcome {
        status: Some(status),
        error: None,
        body: body.into(),
        kept,
    }
}

/// A failure, and what had come before it.
fn failed(error: ErrorKind, status: Option<u16>, body: &str) -> Outcome {
    Outcome {
        status,
        error: Some(error),
        body: body.into(),
        kept: false,
    }
}
