//! Objects, counts and usage rules of the endpoints.

use serde_json::{Value, json};

use crate::client::{CHAT, COMPLETIONS, Client, server};

fn text(events: &[Value], pointer: &str) -> String {
    events
        .iter()
        .filter_map(|event| event.pointer(pointer))
        .filter_map(Value::as_str)
        .collect()
}

/// All chunks of one stream have the same of these.
fn check_common(events: &[Value], object: &str, prefix: &str, model: &str) {
    for event in events {
        assert_eq!(event["object"], object);
        assert_eq!(event["model"], model);
        assert_eq!(event["id"], events[0]["id"]);
        assert!(event["id"].as_str().unwrap().starts_with(prefix));
        assert!(event["created"].as_u64().unwrap() > 1_700_000_000);
    }
}

#[test]
fn chat_stream() {
    let server = server("tokens=3");
    let response = Client::new(server.addr).post(
        CHAT,
        r#"{"model":"a \"model\"","messages":[{"role":"user","content":"x"}],"stream":true}"#,
    );
    assert_eq!(response.status, 200);
    let events = response.events();
    check_common(&events, "chat.completion.chunk", "chatcmpl-", "a \"model\"");
    // Role, three tokens, finish reason; no usage unasked.
    assert_eq!(events.len(), 5);
    let choice =
        |delta: Value, finish: Value| json!([{"index":0,"delta":delta,"logprobs":null,"finish_reason":finish}]);
    assert_eq!(
        events[0]["choices"],
        choice(json!({"role":"assistant","content":""}), Value::Null)
    );
    for event in &events[1..4] {
        let content = event["choices"][0]["delta"]["content"].as_str().unwrap();
        assert!(content.starts_with(' ') && content.len() > 1);
        assert_eq!(event["choices"], choice(json!({"content":content}), Value::Null));
    }
    assert_eq!(events[4]["choices"], choice(json!({}), json!("stop")));
    assert!(events.iter().all(|event| event.get("usage").is_none()));
}

#[test]
fn chat_whole() {
    let server = server("tokens=3");
    let response = Client::new(server.addr).post(
        CHAT,
        r#"{"model":"m","messages":[{"role":"user","content":"one two"}]}"#,
    );
    assert_eq!(
        (response.status, response.header("content-type")),
        (200, Some("application/json"))
    );
    let body = response.json();
    check_common(std::slice::from_ref(&body), "chat.completion", "chatcmpl-", "m");
    let content = body["choices"][0]["message"]["content"].as_str().unwrap();
    assert_eq!(content.split_whitespace().count(), 3);
    assert_eq!(
        body["choices"],
        json!([{"index":0,"message":{"role":"assistant","content":content,"refusal":null},"logprobs":null,"finish_reason":"stop"}])
    );
    assert_eq!(
        body["usage"],
        json!({"prompt_tokens":2,"completion_tokens":3,"total_tokens":5,"completion_tokens_details":{"reasoning_tokens":0}})
    );
}

#[test]
fn completions() {
    let server = server("tokens=3&reasoning=2");
    let mut client = Client::new(server.addr);
    let body = client
        .post(COMPLETIONS, r#"{"model":"m","prompt":"one two","max_tokens":4}"#)
        .json();
    check_common(std::slice::from_ref(&body), "text_completion", "cmpl-", "m");
    let whole = body["choices"][0]["text"].as_str().unwrap();
    assert_eq!(
        body["choices"],
        json!([{"index":0,"text":whole,"logprobs":null,"finish_reason":"length"}])
    );
    assert_eq!(whole.split_whitespace().count(), 4);

    let events = client
        .post(COMPLETIONS, r#"{"model":"m","prompt":"one two","stream":true}"#)
        .events();
    check_common(&events, "text_completion", "cmpl-", "m");
    // No role, no reasoning.
    assert_eq!(events.len(), 4);
    assert_eq!(text(&events, "/choices/0/text").split_whitespace().count(), 3);
    assert_eq!(
        events[3]["choices"],
        json!([{"index":0,"text":"","logprobs":null,"finish_reason":"stop"}])
    );
}

#[test]
fn limits_of_the_request_take_precedence() {
    let server = server("tokens=3");
    let mut client = Client::new(server.addr);
    for (limit, tokens) in [
        ("", 3),
        (r#","max_tokens":7"#, 7),
        (r#","max_completion_tokens":1"#, 1),
        (r#","max_output_tokens":9"#, 9),
        (r#","max_tokens":7,"max_completion_tokens":2"#, 2),
    ] {
        let body = format!(r#"{{"model":"m","messages":[],"stream":true{limit}}}"#);
        let events = client.post(CHAT, &body).events();
        assert_eq!(
            text(&events, "/choices/0/delta/content").split_whitespace().count(),
            tokens,
            "{limit}"
        );
        assert_eq!(events.len(), tokens + 2, "{limit}");
        let reason = if limit.is_empty() { "stop" } else { "length" };
        assert_eq!(events.last().unwrap()["choices"][0]["finish_reason"], reason);
    }
}

#[test]
fn a_client_counts_as_many_tokens_as_there_are_events() {
    let server = server("tokens=500");
    let tokenizer = bpe_openai::o200k_base();
    let mut client = Client::new(server.addr);
    for _ in 0..5 {
        let events = client
            .post(CHAT, r#"{"model":"m","messages":[],"stream":true}"#)
            .events();
        assert_eq!(tokenizer.count(&text(&events, "/choices/0/delta/content")), 500);
    }
}

#[test]
fn reasoning_comes_first_and_counts_towards_a_limit() {
    let server = server("tokens=3&reasoning=2");
    let mut client = Client::new(server.addr);
    for (limit, reasoning, content) in [("", 2, 3), (r#","max_tokens":4"#, 2, 2), (r#","max_tokens":1"#, 1, 0)] {
        let options = r#""stream_options":{"include_usage":true}"#;
        let body = format!(r#"{{"model":"m","messages":[],"stream":true,{options}{limit}}}"#);
        let events = client.post(CHAT, &body).events();
        let kinds: Vec<_> = events[1..1 + reasoning + content]
            .iter()
            .map(|event| {
                event["choices"][0]["delta"]
                    .as_object()
                    .unwrap()
                    .keys()
                    .next()
                    .unwrap()
                    .as_str()
            })
            .collect();
        assert_eq!(kinds[..reasoning], vec!["reasoning_content"; reasoning]);
        assert_eq!(kinds[reasoning..], vec!["content"; content]);
        let usage = &events.last().unwrap()["usage"];
        assert_eq!(usage["completion_tokens"], reasoning + content);
        assert_eq!(usage["completion_tokens_details"]["reasoning_tokens"], reasoning);

        let body = format!(r#"{{"model":"m","messages":[]{limit}}}"#);
        let message = client.post(CHAT, &body).json()["choices"][0]["message"].clone();
        assert_eq!(
            message["reasoning_content"]
                .as_str()
                .unwrap()
                .split_whitespace()
                .count(),
            reasoning
        );
        assert_eq!(message["content"].as_str().unwrap().split_whitespace().count(), content);
    }
}

#[test]
fn usage_rules_of_streams() {
    let request = |options: &str| {
        format!(
            r#"{{"model":"m","messages":[{{"role":"user","content":"a b c"}}],"stream":true,"max_tokens":2{options}}}"#
        )
    };
    let include = r#","stream_options":{"include_usage":true}"#;
    let each = r#","stream_options":{"include_usage":true,"continuous_usage_stats":true}"#;
    let on = server("");
    let mut client = Client::new(on.addr);

    let events = client.post(CHAT, &request(include)).events();
    let last = events.last().unwrap();
    assert_eq!(last["choices"], json!([]));
    assert_eq!(last["usage"]["prompt_tokens"], 3);
    assert_eq!(last["usage"]["completion_tokens"], 2);
    assert_eq!(last["usage"]["total_tokens"], 5);
    assert_eq!(events.len(), 5);
    assert!(
        events[..4]
            .iter()
            .all(|event| event["usage"].is_null() && event.get("usage").is_some())
    );

    let events = client.post(CHAT, &request(each)).events();
    let counts: Vec<_> = events
        .iter()
        .map(|event| event["usage"]["completion_tokens"].as_u64().unwrap())
        .collect();
    assert_eq!(counts, [0, 1, 2, 2, 2]);
    assert!(events.iter().all(|event| event["usage"]["prompt_tokens"] == 3));

    let off = server("usage=false");
    let mut client = Client::new(off.addr);
    for options in ["", include, each] {
        let events = client.post(CHAT, &request(options)).events();
        assert_eq!(events.len(), 4);
        assert!(events.iter().all(|event| event.get("usage").is_none()));
    }
    assert!(
        client
            .post(CHAT, r#"{"model":"m","messages":[]}"#)
            .json()
            .get("usage")
            .is_none()
    );
}

#[test]
fn an_answer_without_tokens_still_has_its_frame() {
    let server = server("tokens=0");
    let events = Client::new(server.addr)
        .post(CHAT, r#"{"model":"m","messages":[],"stream":true}"#)
        .events();
    assert_eq!(events.len(), 2);
    assert_eq!(events[0]["choices"][0]["delta"]["role"], "assistant");
    assert_eq!(events[1]["choices"][0]["finish_reason"], "stop");
}

#[test]
fn same_seed_same_text() {
    let text_of = |seed: u64| {
        let server = server(&format!("seed={seed}&tokens=40"));
        let body = Client::new(server.addr)
            .post(COMPLETIONS, r#"{"model":"m","prompt":"x"}"#)
            .json();
        body["choices"][0]["text"].as_str().unwrap().to_owned()
    };
    assert_eq!(text_of(5), text_of(5));
    assert_ne!(text_of(5), text_of(6));
}

#[test]
fn models_health_and_metrics() {
    let server = server("model=Qwen/Qwen3&tokens=5");
    let mut client = Client::new(server.addr);
    let models = client.get("/v1/models").json();
    assert_eq!(models["object"], "list");
    assert_eq!(models["data"][0]["id"], "Qwen/Qwen3");
    assert_eq!(models["data"][0]["object"], "model");
    assert_eq!(client.get("/health?probe=1").status, 200);

    client.post(CHAT, r#"{"model":"m","messages":[{"role":"user","content":"a b"}]}"#);
    client.post(
        CHAT,
        r#"{"model":"m","messages":[{"role":"user","content":"c"}],"stream":true,"max_tokens":7}"#,
    );
    client.post(COMPLETIONS, "nonsense");
    let metrics = client.get("/metrics");
    let text = String::from_utf8(metrics.body).unwrap();
    for line in [
        "# TYPE mock_requests_total counter",
        "mock_requests_total{endpoint=\"/v1/chat/completions\"} 2",
        "mock_requests_total{endpoint=\"/v1/completions\"} 1",
        "mock_requests_failed_total 1",
        "mock_requests_running 0",
        "mock_prompt_tokens_total 3",
        "mock_generation_tokens_total 12",
    ] {
        assert!(text.lines().any(|found| found == line), "{line} in {text}");
    }
}
