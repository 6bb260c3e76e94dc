//! Failing servers: each request is a record, each message tells why.

use serde_json::Value;

use crate::harness::{Answer, Finished, Run, Scripted, avg, number, text};

/// A run in which every request fails: exit code 1, and yet records and a summary with the errors.
#[track_caller]
fn all_fail(url: &str, flags: &str) -> (Finished, Value) {
    let line = format!("--url {url} --model m --tokenizer builtin --request-count 3 {flags}");
    let run = Run::profile(&line).finish();
    assert_eq!(run.code, Some(1), "{run}");
    let (records, summary) = (run.records(), run.summary());
    assert_eq!(records.len(), 3, "{run}");
    assert_eq!(avg(&summary, "error_request_count"), 3.0);
    assert!(summary.get("request_latency").is_none(), "{summary}");
    assert_eq!(summary["credits"][0]["failed"], 3, "{summary}");
    let errors = summary["error_summary"].as_array().unwrap();
    let total: f64 = errors.iter().map(|error| number(error, "/count")).sum();
    assert_eq!(total, 3.0, "{summary}");
    let first = errors[0]["error_details"].clone();
    assert_eq!(records[0]["error"]["message"], first["message"]);
    (run, first)
}

#[test]
fn each_kind_of_failure_tells_why() {
    for streaming in ["", "--streaming"] {
        for (query, code, parts) in [
            (
                "error_kind=status&error_status=503",
                Some(503),
                &["scripted failure"][..],
            ),
            ("error_kind=status&error_status=404", Some(404), &["scripted failure"]),
            ("error_kind=object", None, &["scripted failure"]),
            ("error_kind=event", None, &["scripted failure"]),
            ("error_kind=garbage", None, &[]),
            ("error_kind=reset", None, &[]),
        ] {
            let (run, error) = all_fail(&format!("mock:?error_rate=1&{query}"), streaming);
            let case = format!("{query} {streaming}: {error}");
            if let Some(code) = code {
                assert_eq!(error["code"], code, "{case}");
            }
            let message = text(&error, "/message");
            assert!(!message.is_empty() && !text(&error, "/type").is_empty(), "{case}");
            for part in parts {
                assert!(message.contains(part), "{case}");
            }
            // The user sees it without opening a file.
            let shown = format!("{}{}", run.stdout, run.stderr);
            assert!(shown.contains("Error Summary"), "{run}");
            assert!(run.stderr.contains("error:"), "code 1 without a word: {run}");
        }
    }
}

#[test]
fn reasons_come_from_the_status() {
    let (_, error) = all_fail("mock:?error_rate=1&error_status=503", "");
    assert_eq!(text(&error, "/type"), "Service Unavailable");
}

#[test]
fn nobody_listens() {
    let address = {
        let free = std::net::TcpListener::bind("127.0.0.1:0").unwrap();
        free.local_addr().unwrap()
    };
    let (run, error) = all_fail(&format!("http://{address}"), "");
    let message = text(&error, "/message");
    assert!(message.contains("refused"), "{error}");
    assert!(
        message.contains(&address.to_string()) || run.stderr.contains(&address.to_string()),
        "{run}"
    );
}

#[test]
fn the_name_does_not_resolve() {
    let (_, error) = all_fail("http://no-such-host.invalid:1234", "");
    assert!(text(&error, "/message").contains("no-such-host.invalid"), "{error}");
}

#[test]
fn too_slow() {
    let (_, error) = all_fail("mock:?ttft=30000", "--streaming --request-timeout-seconds 0.3");
    let said = error.to_string().to_lowercase();
    assert!(said.contains("timeout") || said.contains("timed out"), "{error}");
}

#[test]
fn answers_that_are_none() {
    type Script = fn() -> Answer;
    let cases: [(&str, &str, Script, &str); 7] = [
        (
            "not json",
            "",
            || Answer::json(200, "<html>hello</html>"),
            "<html>hello",
        ),
        ("empty body", "", || Answer::json(200, ""), ""),
        (
            "no choices",
            "",
            || Answer::json(200, "{\"object\":\"chat.completion\",\"choices\":[]}"),
            "",
        ),
        ("empty content", "", || Answer::chat(""), ""),
        (
            "error object",
            "",
            || Answer::json(200, "{\"error\":{\"message\":\"out of memory\",\"type\":\"x\"}}"),
            "out of memory",
        ),
        (
            "error in a stream",
            "--streaming",
            || {
                let chunk = r#"{"object":"chat.completion.chunk","choices":[{"index":0,"delta":{"content":"hi"}}]}"#;
                Answer::events(&[chunk, r#"{"error":{"message":"out of memory","type":"x"}}"#])
            },
            "out of memory",
        ),
        (
            "redirect",
            "",
            || Answer::json(307, "").header("location", "/elsewhere"),
            "",
        ),
    ];
    for (name, flags, script, part) in cases {
        let server = Scripted::new(move |_| script());
        let (_, error) = all_fail(&server.url(), flags);
        let message = text(&error, "/message");
        assert!(message.contains(part), "{name}: {error}");
        assert!(
            !format!("{}{message}", text(&error, "/type")).is_empty(),
            "{name}: {error}"
        );
    }
}

#[test]
fn some_failures_do_not_fail_the_run() {
    let run = Run::profile("--url mock:?error_rate=0.5&seed=3 --request-count 40 --streaming").succeed();
    let summary = run.summary();
    let (good, bad) = (avg(&summary, "request_count"), avg(&summary, "error_request_count"));
    assert_eq!(good + bad, 40.0);
    assert!(good > 5.0 && bad > 5.0, "{good} and {bad}");
    for record in run.records() {
        assert_ne!(
            record.get("error").is_some(),
            record.pointer("/metrics/request_latency").is_some(),
            "{record}"
        );
    }
    assert!(run.stdout.contains("Error Summary"), "{run}");
}

#[test]
fn errors_of_a_limited_server_are_grouped() {
    let run = Run::profile("--url mock:?error_rate=1&error_kind=object --request-count 5").finish();
    let summary = run.summary();
    assert_eq!(summary["error_summary"].as_array().unwrap().len(), 1, "{summary}");
    assert_eq!(summary["error_summary"][0]["count"], 5);
}
