//! Endpoints.
//!
//! * [`requests`]: conversations to prepare. [`prepare`]: what comes of them.
//! * [`answers`]: responses to decode. [`decode`]: what comes of them.

mod answers;
mod decode;
pub(crate) mod prepare;
mod requests;

use aiperf_sdk::{Endpoint, endpoint::AuthKind};

use crate::{
    bench::Bench,
    case::{Definition, Stop, Verdict, must, should},
    speed::Speed,
    text::{is_origin_form, is_token},
};

pub(crate) const CASES: &[Definition] = &[
    must(
        "EP-1",
        "endpoint.describe",
        "`describe` gives the same answer each time, with a path in origin form or none",
        describe,
    ),
    must(
        "EP-2",
        "endpoint.prepare.accepts",
        "at least one conversation of a usual shape can be prepared; the others are refused as invalid input",
        prepare::accepts,
    ),
    must(
        "EP-3",
        "endpoint.prepare.body",
        "a body is valid JSON, or parts whose names have no quotes and no line breaks",
        prepare::body,
    ),
    must(
        "EP-4",
        "endpoint.prepare.headers",
        "headers have valid names and values; framing and authentication are left to the core",
        prepare::headers,
    ),
    must(
        "EP-5",
        "endpoint.prepare.path",
        "a path is in origin form, so that no request leaves for another server; the method is one of HTTP",
        prepare::path,
    ),
    must(
        "EP-6",
        "endpoint.prepare.text",
        "the text of the new turn is sent unchanged, whatever characters it has",
        prepare::text,
    ),
    must(
        "EP-7",
        "endpoint.prepare.pure",
        "`prepare` depends on its argument alone: the same request gives the same bytes, in any instance and thread",
        prepare::pure,
    ),
    must(
        "EP-8",
        "endpoint.decode.hostile",
        "any response gives a result or an error: empty, cut short, garbled, nested deeply, 16 MiB long",
        decode::hostile,
    ),
    must(
        "EP-9",
        "endpoint.decode.shape",
        "chunks are well formed: columns of one length, events in order and in range, ends inside the text",
        decode::shape,
    ),
    must(
        "EP-10",
        "endpoint.decode.golden",
        "answers of a known dialect are read as they are meant: text by event, usage, finish reason",
        decode::golden,
    ),
    should(
        "EP-11",
        "endpoint.decode.split",
        "events count over all exchanges: the same events in several exchanges give the same answer",
        decode::split,
    ),
    must(
        "EP-12",
        "endpoint.decode.pure",
        "`decode` depends on its argument alone: the same exchanges give the same answer, in any instance and thread",
        decode::pure,
    ),
    must(
        "EP-13",
        "endpoint.next",
        "`next` asks for valid requests, and pauses between them where the answer stays the same",
        decode::next,
    ),
];

fn describe(bench: &Bench) -> Verdict {
    let first = bench.endpoint()?;
    let description = first.describe()?;
    for path in [Some(&description.path), description.streaming_path.as_ref()]
        .into_iter()
        .flatten()
    {
        ensure!(
            path.is_empty() || is_origin_form(path),
            "the path is {path:?}, which is not in origin form"
        );
    }
    ensure!(
        description.auth != AuthKind::Header || is_token(&description.auth_header),
        "the key is to go into the header {:?}, which is no header name",
        description.auth_header
    );
    let again = first.describe()?;
    ensure!(
        again == description,
        "asked again, it says {again:?}\ninstead of {description:?}"
    );
    let other = bench.endpoint()?.describe()?;
    ensure!(
        other == description,
        "another instance says {other:?}\ninstead of {description:?}"
    );
    Ok(())
}

/// The same call in four threads at once.
fn in_threads<T: Send + PartialEq>(endpoint: &dyn Endpoint, call: impl Fn(&dyn Endpoint) -> T + Sync) -> Vec<T> {
    std::thread::scope(|scope| {
        let threads: Vec<_> = (0..4).map(|_| scope.spawn(|| call(endpoint))).collect();
        // A panic of a plugin arrives as an error, so a thread that is gone has nothing to tell.
        threads.into_iter().filter_map(|thread| thread.join().ok()).collect()
    })
}

pub(crate) fn speed(bench: &Bench) -> Result<Vec<Speed>, Stop> {
    let endpoint = bench.endpoint()?;
    let mut speeds = Vec::new();
    let requests = requests::table(bench);
    if let Some(request) = requests
        .iter()
        .find(|request| endpoint.prepare(request.info.clone()).is_ok())
    {
        let what = format!("prepare ({})", request.what);
        speeds.push(Speed::measure(what, "call", 1, || {
            endpoint.prepare(request.info.clone())
        }));
    }
    for golden in answers::golden() {
        let exchanges = [golden.response.exchange()];
        if decode::reads(&*endpoint, &golden) {
            let events = golden.response.ends.len();
            let what = format!("decode ({}, {events} events)", golden.what);
            speeds.push(Speed::measure(what, "call", 1, || endpoint.decode(&exchanges)));
        }
    }
    Ok(speeds)
}
