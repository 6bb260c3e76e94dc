//! Times reading and formatting of chat messages: `cargo run --release -p aiperf-endpoints --example chat_speed`.

use std::{hint::black_box, sync::Arc, time::Instant};

use aiperf_endpoints::BuiltIn;
use aiperf_sdk::{Endpoint, Exchange, Package, RequestInfo, Result, Turn, host::NoHost, package::Open};

const EVENTS: usize = 500;
const ROUNDS: usize = 400;

fn endpoint(core: &str) -> Result<Box<dyn Endpoint>> {
    BuiltIn::endpoint(Open {
        entry: "chat".to_owned(),
        options: String::new(),
        core: core.to_owned(),
        host: Arc::new(NoHost),
    })
}

/// Best of a few runs, in ns per `per`.
fn time(name: &str, per: usize, mut run: impl FnMut() -> Result<()>) -> Result<()> {
    let mut best = f64::INFINITY;
    for _ in 0..5 {
        let start = Instant::now();
        for _ in 0..ROUNDS {
            run()?;
        }
        best = best.min(start.elapsed().as_nanos() as f64 / (ROUNDS * per) as f64);
    }
    println!("{name}: {best:.0} ns");
    Ok(())
}

fn decode(name: &str, rest: &str) -> Result<()> {
    let endpoint = endpoint(r#"{"per_chunk_usage":true}"#)?;
    let (mut bytes, mut ends) = (Vec::new(), Vec::new());
    for i in 0..EVENTS {
        let event = format!(
            r#"{{"id":"chatcmpl-7f0d6d3a4c5b4e0b9a8f","object":"chat.completion.chunk","created":1760000000,"model":"meta-llama/Llama-3.1-8B-Instruct","choices":[{{"index":0,"delta":{{"content":" word{i}"}},"logprobs":null,"finish_reason":null}}]{rest}}}"#
        );
        bytes.extend_from_slice(event.as_bytes());
        ends.push(bytes.len() as u32);
    }
    let exchange = Exchange {
        status: 200,
        streamed: true,
        content_type: "text/event-stream",
        bytes: &bytes,
        ends: &ends,
    };
    let length = bytes.len() / EVENTS;
    time(&format!("decode, {name}, per event of {length} bytes"), EVENTS, || {
        black_box(endpoint.decode(&[exchange])?);
        Ok(())
    })
}

fn prepare(name: &str, text: &str, turns: usize, options: &str) -> Result<()> {
    let endpoint = endpoint(options)?;
    let turn = Turn {
        max_tokens: Some(128),
        ..Turn::text(text)
    };
    let request = RequestInfo {
        model: "meta-llama/Llama-3.1-8B-Instruct".to_owned(),
        streaming: true,
        turns: vec![turn; turns],
        system_message: None,
        user_context: None,
        carry: None,
        request_id: String::new(),
        correlation_id: String::new(),
    };
    let length = endpoint.prepare(request.clone())?.body.len();
    time(
        &format!("prepare and clone, {name}, per body of {length} bytes"),
        1,
        || {
            black_box(endpoint.prepare(request.clone())?);
            Ok(())
        },
    )
}

fn main() -> Result<()> {
    decode("text", "")?;
    decode(
        "text and usage",
        r#","usage":{"prompt_tokens":550,"completion_tokens":17,"total_tokens":567}"#,
    )?;
    let text = "the quick brown fox jumps over the lazy dog ".repeat(60);
    prepare("short", "hi", 1, "{}")?;
    prepare(
        "extras",
        "hi",
        1,
        r#"{"extra":{"temperature":0,"seed":7,"ignore_eos":true}}"#,
    )?;
    prepare("550 tokens", &text, 1, "{}")?;
    prepare("ten turns of 550 tokens", &text, 10, "{}")
}
