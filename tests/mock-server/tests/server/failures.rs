//! Scripted failures and the rate limit.

use std::io::ErrorKind;

use crate::client::{CHAT, Client, post, server};

const BODY: &str = r#"{"model":"m","messages":[]}"#;
const STREAM: &str = r#"{"model":"m","messages":[],"stream":true}"#;

#[test]
fn status() {
    let server = server("error_rate=1&error_status=529");
    let mut client = Client::new(server.addr);
    for body in [BODY, STREAM] {
        let response = client.post(CHAT, body);
        assert_eq!(response.status, 529);
        assert_eq!(response.json()["error"]["type"], "server_error");
    }
    assert_eq!(client.get("/v1/models").status, 200, "only generation fails");
}

#[test]
fn bodies_with_status_200() {
    for (kind, whole_is_json, stream) in [
        (
            "object",
            true,
            "data: {\"error\":{\"message\":\"scripted failure\",\"type\":\"server_error\",\"param\":null,\"code\":null}}\n\ndata: [DONE]\n\n",
        ),
        (
            "event",
            true,
            ": scripted failure\nevent: error\ndata: {\"error\":{\"message\":\"scripted failure\",\"type\":\"server_error\",\"param\":null,\"code\":null}}\n\n",
        ),
        ("garbage", false, "data: {\"id\":\"scripted garbage\n\ndata: [DONE]\n\n"),
    ] {
        let server = server(&format!("error_rate=1&error_kind={kind}"));
        let mut client = Client::new(server.addr);
        let response = client.post(CHAT, BODY);
        assert_eq!(
            (response.status, response.header("content-type")),
            (200, Some("application/json"))
        );
        let json: Result<serde_json::Value, _> = serde_json::from_slice(&response.body);
        assert_eq!(json.is_ok(), whole_is_json, "{kind}");
        assert!(json.map_or(true, |body| body["error"].is_object()));

        let response = client.post(CHAT, STREAM);
        assert_eq!(response.status, 200);
        assert_eq!(
            response.header("content-type"),
            Some("text/event-stream; charset=utf-8")
        );
        assert_eq!(String::from_utf8(response.body).unwrap(), stream);
    }
}

#[test]
fn reset() {
    let server = server("error_rate=1&error_kind=reset&ttft=1");
    for body in [BODY, STREAM] {
        let mut client = Client::new(server.addr);
        client.send(post(CHAT, "", body).as_bytes());
        assert_eq!(client.response().unwrap_err().kind(), ErrorKind::ConnectionReset);
    }
}

#[test]
fn the_same_requests_fail_under_the_same_seed() {
    let outcomes = |seed: u64| -> Vec<u16> {
        let server = server(&format!("error_rate=0.3&seed={seed}"));
        let mut client = Client::new(server.addr);
        (0..300).map(|_| client.post(CHAT, BODY).status).collect()
    };
    let first = outcomes(1);
    let failed = first.iter().filter(|status| **status == 503).count();
    // 90 expected, standard deviation 8; the draws are fixed by the seed.
    assert!((60..=120).contains(&failed), "{failed}");
    assert_eq!(first, outcomes(1));
    assert_ne!(first, outcomes(2));
}

#[test]
fn beyond_the_rate_limit_429() {
    // One request per 1000 s: the first passes, no other does while this test runs.
    let server = server("rate_limit=0.001");
    let mut client = Client::new(server.addr);
    assert_eq!(client.post(CHAT, BODY).status, 200);
    let refused = client.post(CHAT, STREAM);
    assert_eq!(refused.status, 429);
    assert_eq!(refused.json()["error"]["type"], "rate_limit_error");
}
