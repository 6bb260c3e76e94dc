//! What the server is asked: bodies, headers, histories.

use serde_json::{Value, json};

use crate::harness::{Answer, Folder, Request, Run, Scripted, number, text};

/// Runs against a server that answers each chat with a text of its own and returns what it was asked.
fn asked(folder: Folder, flags: &str) -> Vec<Request> {
    let served = std::sync::atomic::AtomicUsize::new(0);
    let server = Scripted::new(move |request| {
        let number = served.fetch_add(1, std::sync::atomic::Ordering::Relaxed);
        if request.body.get("prompt").is_some() {
            let choices = json!([{ "index": 0, "text": format!("reply {number}"), "finish_reason": "stop" }]);
            Answer::json(
                200,
                json!({ "object": "text_completion", "choices": choices }).to_string(),
            )
        } else if request.body["stream"] == true {
            let chunk = |delta: Value| json!({ "object": "chat.completion.chunk", "choices": [{ "index": 0, "delta": delta }] });
            let (first, second) = (
                chunk(json!({ "content": "reply " })),
                chunk(json!({ "content": number.to_string() })),
            );
            Answer::events(&[&first.to_string(), &second.to_string()])
        } else {
            Answer::chat(&format!("reply {number}"))
        }
    });
    let line = format!("--url {} --model the-model --tokenizer builtin {flags}", server.url());
    Run::profile_in(folder, &line).succeed();
    server.requests()
}

fn contents(request: &Request) -> Vec<(String, String)> {
    let messages = request.body["messages"].as_array().unwrap().iter();
    messages
        .map(|message| (text(message, "/role").to_owned(), text(message, "/content").to_owned()))
        .collect()
}

fn pairs(messages: &[(&str, &str)]) -> Vec<(String, String)> {
    messages
        .iter()
        .map(|(role, content)| ((*role).to_owned(), (*content).to_owned()))
        .collect()
}

#[test]
fn single_turn_file() {
    let folder = Folder::new();
    let rows = "{\"text\": \"first prompt\"}\n{\"text\": \"second prompt\", \"output_length\": 7}\n";
    let file = folder.file("rows.jsonl", rows);
    let flags = format!("--input-file {file} --custom-dataset-type single_turn --request-count 4");
    let requests = asked(folder, &flags);
    let prompts: Vec<_> = requests.iter().map(contents).collect();
    let (first, second) = (pairs(&[("user", "first prompt")]), pairs(&[("user", "second prompt")]));
    assert_eq!(prompts, [first.clone(), second.clone(), first, second]);
    for (request, limit) in requests.iter().zip([Value::Null, json!(7), Value::Null, json!(7)]) {
        assert_eq!(request.line, "POST /v1/chat/completions HTTP/1.1");
        assert_eq!(request.body["model"], "the-model");
        assert_eq!(request.body["max_completion_tokens"], limit);
        assert_ne!(request.body["stream"], true);
        assert_eq!(request.header("content-type"), Some("application/json"));
        assert!(request.header("x-request-id").is_some() && request.header("x-correlation-id").is_some());
        assert!(request.header("authorization").is_none());
    }
}

#[test]
fn multi_turn_file_with_live_history() {
    for streaming in ["", "--streaming"] {
        let folder = Folder::new();
        let row = json!({ "session_id": "s", "turns": [{ "text": "one" }, { "text": "two" }, { "text": "three" }] });
        let file = folder.file("rows.jsonl", format!("{row}\n"));
        let flags = format!("--input-file {file} --custom-dataset-type multi_turn --num-conversations 1 {streaming}");
        let requests = asked(folder, &flags);
        let histories: Vec<_> = requests.iter().map(contents).collect();
        let whole = pairs(&[
            ("user", "one"),
            ("assistant", "reply 0"),
            ("user", "two"),
            ("assistant", "reply 1"),
            ("user", "three"),
        ]);
        assert_eq!(histories, [&whole[..1], &whole[..3], &whole[..5]], "{streaming}");
        let sessions: Vec<_> = requests
            .iter()
            .map(|request| request.header("x-correlation-id").unwrap())
            .collect();
        assert!(sessions.iter().all(|session| *session == sessions[0]), "{sessions:?}");
    }
}

#[test]
fn the_type_of_a_file_is_found_out() {
    for (rows, requests) in [
        ("{\"text\": \"a\"}\n{\"text\": \"b\"}\n", 2),
        (
            "{\"turns\": [{\"text\": \"a\"}, {\"text\": \"b\"}, {\"text\": \"c\"}]}\n",
            3,
        ),
    ] {
        let folder = Folder::new();
        let file = folder.file("rows.jsonl", rows);
        let asked = asked(folder, &format!("--input-file {file} --request-count {requests}"));
        assert_eq!(asked.len(), requests);
    }
}

#[test]
fn synthetic_conversations() {
    let folder = Folder::new();
    let flags = "--num-conversations 4 --conversation-turn-mean 3 --isl 10 --osl 5 --concurrency 2";
    let requests = asked(folder, flags);
    assert_eq!(requests.len(), 12);
    let mut lengths: Vec<usize> = requests.iter().map(|request| contents(request).len()).collect();
    lengths.sort_unstable();
    assert_eq!(lengths, [1, 1, 1, 1, 3, 3, 3, 3, 5, 5, 5, 5]);
    assert!(
        requests
            .iter()
            .all(|request| request.body["max_completion_tokens"] == 5)
    );
}

#[test]
fn think_times_are_kept() {
    let run = Run::profile(
        "--url mock: --num-conversations 2 --conversation-turn-mean 3 --conversation-turn-delay-mean 120 --concurrency 2",
    )
    .succeed();
    let mut records = run.records();
    assert_eq!(records.len(), 6);
    records.sort_by_key(|record| {
        let id = text(record, "/metadata/x_correlation_id").to_owned();
        (id, number(record, "/metadata/turn_index") as u64)
    });
    for session in records.chunks(3) {
        for turns in session.windows(2) {
            let (before, after) = (&turns[0], &turns[1]);
            let pause = number(after, "/metadata/request_start_ns") - number(before, "/metadata/request_end_ns");
            assert!(pause >= 119e6, "a pause of {pause} ns instead of 120 ms");
        }
    }
}

#[test]
fn completions_send_a_prompt() {
    let folder = Folder::new();
    let file = folder.file("rows.jsonl", "{\"text\": \"once upon\", \"output_length\": 3}\n");
    let flags =
        format!("--endpoint-type completions --input-file {file} --custom-dataset-type single_turn --request-count 1");
    let requests = asked(folder, &flags);
    assert_eq!(requests[0].line, "POST /v1/completions HTTP/1.1");
    assert_eq!(requests[0].body["prompt"], "once upon");
    assert_eq!(requests[0].body["max_tokens"], 3);
}

#[test]
fn flags_shape_the_request() {
    let folder = Folder::new();
    let requests = asked(
        folder,
        "--request-count 1 --osl 4 --streaming --use-legacy-max-tokens --custom-endpoint /other/path --api-key sk-12345 \
         --header X-Team:blue --extra-inputs temperature:0.5 ignore_eos:true",
    );
    let Request { line, body, .. } = &requests[0];
    assert_eq!(line, "POST /other/path HTTP/1.1");
    assert_eq!(body["max_tokens"], 4);
    assert!(body.get("max_completion_tokens").is_none());
    assert_eq!(body["stream"], true);
    assert_eq!(body["stream_options"]["include_usage"], true);
    assert_eq!((&body["temperature"], &body["ignore_eos"]), (&json!(0.5), &json!(true)));
    assert_eq!(requests[0].header("authorization"), Some("Bearer sk-12345"));
    assert_eq!(requests[0].header("x-team"), Some("blue"));
}

#[test]
fn the_inputs_are_listed() {
    let folder = Folder::new();
    let row = json!({ "turns": [{ "text": "one" }, { "text": "two" }] });
    let file = folder.file(
        "rows.jsonl",
        format!("{row}\n{{\"turns\": [{{\"text\": \"other\"}}]}}\n"),
    );
    let line = format!("--url mock: --input-file {file} --custom-dataset-type multi_turn --request-count 3");
    let inputs: Value =
        serde_json::from_str(&Run::profile_in(folder, &line).succeed().artifact("inputs.json")).unwrap();
    let data = inputs["data"].as_array().unwrap();
    let turns: Vec<usize> = data
        .iter()
        .map(|session| session["payloads"].as_array().unwrap().len())
        .collect();
    assert_eq!(turns, [2, 1], "{inputs}");
    // Each turn alone, without what came before.
    let second = &data[0]["payloads"][1]["messages"];
    assert_eq!(second.as_array().unwrap().len(), 1, "{inputs}");
    assert_eq!(second[0]["content"], "two", "{inputs}");
}
