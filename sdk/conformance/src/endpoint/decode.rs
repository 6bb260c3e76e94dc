//! What comes of responses.

use aiperf_sdk::{
    Decoded, Endpoint, Exchange,
    endpoint::{ChunkKind, NextStep},
};

use super::{
    answers::{self, Golden, Response},
    in_threads, prepare,
};
use crate::{
    bench::Bench,
    case::{Verdict, told},
};

/// Exchanges that a polling protocol is followed for; a job that never ends is for the core to end.
const STEPS: usize = 100;

/// Requests without a pause in between that a protocol may need.
const AT_ONCE: usize = 20;

fn exchanges(responses: &[Response]) -> Vec<Exchange<'_>> {
    responses.iter().map(Response::exchange).collect()
}

pub(super) fn hostile(bench: &Bench) -> Verdict {
    let endpoint = bench.endpoint()?;
    for (what, responses) in answers::hostile(bench) {
        let result = endpoint.decode(&exchanges(&responses));
        if let Some(panic) = bench.panics.first() {
            fail!("{what}: {panic}");
        }
        if let Err(error) = result {
            ensure!(!error.message.trim().is_empty(), "{what}: an error without a message");
        }
    }
    Ok(())
}

pub(super) fn shape(bench: &Bench) -> Verdict {
    let endpoint = bench.endpoint()?;
    let golden = answers::golden();
    let golden = golden
        .iter()
        .map(|golden| (golden.what.to_owned(), vec![golden.response.clone()]));
    for (what, responses) in golden.chain(answers::hostile(bench)) {
        if let Ok(decoded) = endpoint.decode(&exchanges(&responses)) {
            let events = responses.iter().map(|response| response.ends.len()).sum();
            if let Err(problem) = well_formed(&decoded, events) {
                fail!("{what}: {problem}");
            }
        }
    }
    Ok(())
}

fn well_formed(decoded: &Decoded, events: usize) -> Result<(), String> {
    let chunks = &decoded.chunks;
    if chunks.kinds.len() != chunks.events.len() || chunks.ends.len() != chunks.events.len() {
        return Err(format!(
            "{} events, {} kinds and {} ends for the chunks",
            chunks.events.len(),
            chunks.kinds.len(),
            chunks.ends.len()
        ));
    }
    if chunks.events.windows(2).any(|pair| pair[0] > pair[1]) {
        return Err("the chunks are not in the order of their events".to_owned());
    }
    if let Some(&event) = chunks.events.iter().find(|&&event| event as usize >= events) {
        return Err(format!("a chunk of event {event}; there are {events}"));
    }
    if let Some(&kind) = chunks
        .kinds
        .iter()
        .find(|&&kind| ChunkKind::from_code(kind).code() != kind)
    {
        return Err(format!("a chunk of the unknown kind {kind}"));
    }
    let mut from = 0;
    for &end in &chunks.ends {
        if chunks.text.get(from..end as usize).is_none() {
            return Err(format!(
                "a chunk that ends at {end}, in a text of {}",
                chunks.text.len()
            ));
        }
        from = end as usize;
    }
    if from != chunks.text.len() {
        return Err(format!("{} bytes of text in no chunk", chunks.text.len() - from));
    }
    let seconds = decoded.usage.and_then(|usage| usage.prompt_audio_seconds);
    let numbers = decoded.facts.iter().map(|(_, value)| *value).chain(seconds);
    for value in numbers {
        if !value.is_finite() {
            return Err(format!("a number that is not finite: {value}"));
        }
    }
    Ok(())
}

/// It finds any content, so the answer is of its dialect.
pub(super) fn reads(endpoint: &dyn Endpoint, golden: &Golden) -> bool {
    let decoded = endpoint.decode(&[golden.response.exchange()]);
    decoded.is_ok_and(|decoded| decoded.chunks.iter().any(|(_, _, text)| !text.is_empty()))
}

/// The answers of its dialect.
fn readable(endpoint: &dyn Endpoint) -> Vec<Golden> {
    let mut golden = answers::golden();
    golden.retain(|golden| reads(endpoint, golden));
    golden
}

pub(super) fn golden(bench: &Bench) -> Verdict {
    let endpoint = bench.endpoint()?;
    let known = readable(&*endpoint);
    if known.is_empty() {
        skip!("its dialect is none of those that the suite knows");
    }
    for golden in known {
        let decoded = endpoint.decode(&[golden.response.exchange()])?;
        // Empty chunks only mark a time.
        let chunks: Vec<(u32, ChunkKind, &str)> =
            decoded.chunks.iter().filter(|(_, _, text)| !text.is_empty()).collect();
        ensure!(
            chunks == golden.chunks,
            "{}: read as {chunks:?}\ninstead of {:?}",
            golden.what,
            golden.chunks
        );
        let usage = decoded.usage.map(|usage| (usage.prompt, usage.completion));
        let expected = golden
            .usage
            .map(|(prompt, completion)| (Some(prompt), Some(completion)));
        ensure!(
            usage == expected,
            "{}: prompt and completion tokens are {usage:?}\ninstead of {expected:?}",
            golden.what
        );
        ensure!(
            decoded.finish_reason.as_deref() == golden.finish_reason,
            "{}: the finish reason is {:?}\ninstead of {:?}",
            golden.what,
            decoded.finish_reason,
            golden.finish_reason
        );
        ensure!(
            decoded.error.is_none(),
            "{}: read as an error: {:?}",
            golden.what,
            decoded.error
        );
    }
    Ok(())
}

pub(super) fn split(bench: &Bench) -> Verdict {
    let endpoint = bench.endpoint()?;
    let known = readable(&*endpoint);
    if known.is_empty() {
        skip!("its dialect is none of those that the suite knows");
    }
    for golden in known {
        let whole = endpoint.decode(&[golden.response.exchange()])?;
        for at in 0..=golden.response.ends.len() {
            let parts = golden.response.split(at);
            let decoded = endpoint.decode(&exchanges(&parts))?;
            ensure!(
                decoded == whole,
                "{}: split after {at} events it is read as {decoded:?}\ninstead of {whole:?}",
                golden.what
            );
        }
    }
    Ok(())
}

pub(super) fn pure(bench: &Bench) -> Verdict {
    let (one, two) = (bench.endpoint()?, bench.endpoint()?);
    let mut all = answers::hostile(bench);
    // The huge ones add nothing here but time.
    all.retain(|(_, responses)| responses.iter().map(|response| response.bytes.len()).sum::<usize>() < 1 << 20);
    let first: Vec<_> = all
        .iter()
        .map(|(_, responses)| one.decode(&exchanges(responses)))
        .collect();
    for ((what, responses), expected) in all.iter().zip(&first).rev() {
        let again = two.decode(&exchanges(responses));
        ensure!(
            again == *expected,
            "{what}: decoded again, in another instance, it differs"
        );
    }
    let decode_all = |endpoint: &dyn Endpoint| {
        let decoded = all.iter().map(|(_, responses)| endpoint.decode(&exchanges(responses)));
        decoded.collect::<Vec<_>>()
    };
    for results in in_threads(&*one, decode_all) {
        if let Some(index) = results.iter().zip(&first).position(|(now, before)| now != before) {
            fail!("{}: decoded in several threads at once, it differs", all[index].0);
        }
    }
    Ok(())
}

pub(super) fn next(bench: &Bench) -> Verdict {
    let endpoint = bench.endpoint()?;
    let golden = answers::golden().into_iter();
    let golden = golden.map(|golden| (golden.what.to_owned(), vec![golden.response]));
    let mut all = answers::hostile(bench);
    all.retain(|(_, responses)| responses.len() == 1);
    for (what, mut responses) in golden.chain(all) {
        let big = responses[0].bytes.len() > 1 << 20;
        let steps = if big { 2 } else { STEPS };
        let mut at_once = 0;
        for _ in 0..steps {
            match endpoint.next(&exchanges(&responses)) {
                Ok(NextStep::Done) => break,
                Ok(NextStep::Request { request, after_ms }) => {
                    if let Err(problem) = prepare::check_all(&request) {
                        fail!("{what}: `next` asks for a bad request: {problem}");
                    }
                    at_once += usize::from(after_ms == 0);
                    ensure!(
                        at_once < AT_ONCE,
                        "{what}: `next` asks {AT_ONCE} times without a pause, and gets the same answer"
                    );
                    // The server says the same once more.
                    responses.push(responses[0].clone());
                }
                Err(error) => {
                    ensure!(
                        !error.message.trim().is_empty(),
                        "{what}: an error without a message: {}",
                        told(&error)
                    );
                    break;
                }
            }
        }
    }
    Ok(())
}
