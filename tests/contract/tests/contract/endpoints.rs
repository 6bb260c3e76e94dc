use aiperf_sdk::{
    Conversation, Endpoint, Exchange, HttpRequest, Media, RequestInfo, Turn,
    endpoint::{AuthKind, ChunkKind, NextStep, Part},
};

use super::{imported, open};

fn endpoint(entry: &str) -> Box<dyn Endpoint> {
    imported().endpoint(open(entry, "")).expect("the endpoint")
}

fn info(turns: Vec<Turn>) -> RequestInfo {
    RequestInfo {
        model: "m".to_owned(),
        streaming: true,
        turns,
        system_message: Some("S".to_owned()),
        user_context: None,
        carry: Some("resp_0".to_owned()),
        request_id: "r".to_owned(),
        correlation_id: "c".to_owned(),
    }
}

fn exchange<'a>(bytes: &'a [u8], ends: &'a [u32], streamed: bool) -> Exchange<'a> {
    Exchange {
        status: 200,
        streamed,
        content_type: "application/json",
        bytes,
        ends,
    }
}

#[test]
fn a_description_crosses() {
    let described = endpoint("multipart").describe().expect("a description");
    assert_eq!(described.path, "/v1/edits");
    assert_eq!(described.streaming_path.as_deref(), Some("/v1/edits/stream"));
    assert_eq!(
        (described.auth, described.auth_header.as_str()),
        (AuthKind::Header, "x-api-key")
    );
}

fn picture() -> Turn {
    Turn {
        images: vec![Media::one("\u{0}\r\n--x")],
        ..Turn::text("draw")
    }
}

#[test]
fn parts_carry_any_bytes() {
    let prepared = endpoint("multipart").prepare(info(vec![picture()])).expect("a request");
    let part = |name: &str, file_name: Option<&str>, content_type: Option<&str>, data: &[u8]| Part {
        name: name.to_owned(),
        file_name: file_name.map(str::to_owned),
        content_type: content_type.map(str::to_owned),
        data: data.to_vec(),
    };
    let image = [0xff, 0xf2, 0xf5, 0xd2, 0xd2, 0x87];
    let expected = [
        part("prompt", None, None, b"draw"),
        part("model", None, None, b"m"),
        part("image", Some("image.png"), Some("image/png"), &image),
    ];
    assert_eq!(prepared.parts, expected);
    assert_eq!(
        (prepared.method.as_str(), prepared.path, prepared.body.len()),
        ("POST", None, 0)
    );
    assert_eq!(prepared.headers, [("X-Version".to_owned(), "7".to_owned())]);
}

#[test]
fn a_turn_that_does_not_fit_is_refused_with_the_reason() {
    let error = endpoint("multipart")
        .prepare(info(vec![Turn::text("draw")]))
        .expect_err("no image");
    assert_eq!(error.message, "no image");
}

#[test]
fn previews_are_made_turn_by_turn() {
    let silent = Turn {
        no_request: true,
        ..Turn::default()
    };
    let conversation = Conversation::new("c", vec![picture(), silent, picture()]);
    let bodies = endpoint("multipart")
        .preview(&conversation, "m", false)
        .expect("previews");
    assert_eq!(bodies.len(), 2);
}

#[test]
fn chunks_belong_to_their_events() {
    let (bytes, ends) = (b"hm|helloworld".as_slice(), [8, 8, 13].as_slice());
    let decoded = endpoint("multipart")
        .decode(&[exchange(bytes, ends, true)])
        .expect("an answer");
    let chunks: Vec<(u32, ChunkKind, &str)> = decoded.chunks.iter().collect();
    assert_eq!(
        chunks,
        [
            (0, ChunkKind::Reasoning, "hm"),
            (0, ChunkKind::Text, "hello"),
            (1, ChunkKind::Text, ""),
            (2, ChunkKind::Text, "world"),
        ]
    );
    let usage = decoded.usage.expect("usage");
    assert_eq!(
        (usage.completion, usage.prompt, usage.prompt_audio_seconds),
        (Some(4), None, Some(0.25))
    );
    assert_eq!(
        decoded.reply.map(|turn| turn.texts),
        Some(vec![Media::one("hmhelloworld")])
    );
    assert_eq!(
        (decoded.first_chunk_tokens, decoded.finish_reason.as_deref()),
        (Some(1), Some("stop"))
    );
    assert_eq!(decoded.carry.as_deref(), Some("resp_1"));
    assert_eq!(decoded.facts, [("image_area".to_owned(), 64.0)]);
    assert_eq!(
        decoded.labels,
        [("speculative_decoding".to_owned(), "{\"steps\":2}".to_owned())]
    );
    assert_eq!(decoded.error, None);
}

/// Plays a job's server: the answers in order.
fn poll(answers: &[&str]) -> (Vec<String>, u64, aiperf_sdk::Decoded) {
    let endpoint = endpoint("polling");
    let mut last = endpoint.prepare(info(vec![Turn::text("x")])).expect("a request");
    let (mut asked, mut waited_ms, mut bodies) = (Vec::new(), 0, Vec::new());
    loop {
        let HttpRequest { method, path, .. } = &last;
        asked.push(format!("{method} {}", path.as_deref().unwrap_or("")));
        bodies.push(answers[bodies.len()].as_bytes());
        let ends: Vec<[u32; 1]> = bodies.iter().map(|body| [body.len() as u32]).collect();
        let exchanges: Vec<Exchange<'_>> = bodies
            .iter()
            .zip(&ends)
            .map(|(body, ends)| exchange(body, ends, false))
            .collect();
        match endpoint.next(&exchanges).expect("a step") {
            NextStep::Done => return (asked, waited_ms, endpoint.decode(&exchanges).expect("an answer")),
            NextStep::Request { request, after_ms } => {
                waited_ms += after_ms;
                last = request;
            }
        }
    }
}

#[test]
fn a_job_is_polled_until_it_is_over() {
    let (asked, waited_ms, decoded) = poll(&[
        "{\"id\":\"v7\",\"status\":\"queued\"}",
        "{\"status\":\"running\"}",
        "{\"status\":\"running\"}",
        "{\"status\":\"completed\",\"inference_time_s\":2.5}",
    ]);
    assert_eq!(
        asked,
        ["POST ", "GET /v1/videos/v7", "GET /v1/videos/v7", "GET /v1/videos/v7"]
    );
    assert_eq!(waited_ms, 200);
    assert_eq!(decoded.facts, [("video_inference_time".to_owned(), 2.5)]);
    assert_eq!(decoded.chunks.iter().collect::<Vec<_>>(), [(3, ChunkKind::Data, "")]);
}

#[test]
fn a_failed_job_is_an_error_of_the_response() {
    let (asked, _, decoded) = poll(&["{\"id\":\"v7\",\"status\":\"failed\",\"message\":\"too long\"}"]);
    assert_eq!(asked, ["POST "]);
    let error = decoded.error.expect("an error");
    assert_eq!(
        (error.code, error.kind.as_str(), error.message.as_str()),
        (Some(500), "VideoGenerationError", "too long")
    );
}
