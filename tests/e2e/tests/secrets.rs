//! Keys appear nowhere: not in artifacts, not in logs, not on the console.

use crate::harness::{Answer, Run, Scripted};

const KEY: &str = "sk-Zq7xV2mN0pLr8Tw3";

#[test]
fn in_a_good_run() {
    for flags in [
        format!("--api-key {KEY}"),
        format!("--api-key={KEY} -vv"),
        format!("--header Authorization:{KEY} --log-level TRACE"),
        format!("--header X-Api-Key:{KEY} -v"),
    ] {
        Run::profile(&format!("--url mock: --request-count 3 --streaming {flags}"))
            .secret(KEY)
            .succeed();
    }
}

#[test]
fn when_the_server_repeats_it() {
    let server = Scripted::new(|request| {
        let sent = request
            .header("authorization")
            .unwrap_or_default()
            .replace("Bearer ", "");
        Answer::json(
            401,
            format!("{{\"error\":{{\"message\":\"Incorrect API key provided: {sent}\"}}}}"),
        )
    });
    let line = format!(
        "--url {} --model m --tokenizer builtin --request-count 2 --api-key {KEY}",
        server.url()
    );
    let run = Run::profile(&line).secret(KEY).finish();
    assert_eq!(run.code, Some(1), "{run}");
    assert!(
        run.artifact("profile_export.jsonl")
            .contains("Incorrect API key provided"),
        "{run}"
    );
}

#[test]
fn in_messages_about_mistakes() {
    for flags in [
        format!("--api-key {KEY} --concurrency 0"),
        format!("--api-key {KEY} --api-key {KEY}"),
        format!("--header Authorization:{KEY} --no-such-flag 1"),
        format!("--url http://user:{KEY}@127.0.0.1:1/ --isl 0"),
        format!("--url http://user:{KEY}@127.0.0.1:99999/"),
        // Credentials in a URL are refused, and the message does not repeat them.
        format!("--url http://user:{KEY}@127.0.0.1:1/"),
    ] {
        let run = Run::profile(&format!("--model m --tokenizer builtin {flags}"))
            .secret(KEY)
            .finish();
        assert_eq!(run.code, Some(1), "{run}");
    }
}
