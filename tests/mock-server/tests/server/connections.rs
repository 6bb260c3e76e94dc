//! HTTP as far as clients of such servers use it.

use crate::client::{CHAT, COMPLETIONS, Client, post, server};

const BODY: &str = r#"{"model":"m","prompt":"one two three"}"#;
const STREAM: &str = r#"{"model":"m","prompt":"one two three","stream":true}"#;

#[test]
fn a_connection_serves_request_after_request() {
    let server = server("tokens=2");
    let mut client = Client::new(server.addr);
    for _ in 0..20 {
        assert_eq!(client.post(COMPLETIONS, STREAM).events().len(), 3);
        assert_eq!(client.post(COMPLETIONS, BODY).json()["usage"]["prompt_tokens"], 3);
        assert_eq!(client.post(COMPLETIONS, "{}").status, 400);
        assert_eq!(client.get("/nothing").status, 404);
        assert_eq!(client.get(CHAT).status, 405);
    }
}

#[test]
fn requests_sent_ahead_are_answered_in_order() {
    let server = server("tokens=1&ttft=1");
    let mut client = Client::new(server.addr);
    let both = [
        post(COMPLETIONS, "x-request-id: first\r\n", STREAM),
        post(COMPLETIONS, "x-request-id: second\r\n", BODY),
    ];
    client.send(both.concat().as_bytes());
    assert_eq!(client.response().unwrap().header("x-request-id"), Some("first"));
    assert_eq!(client.response().unwrap().header("x-request-id"), Some("second"));
}

#[test]
fn chunked_request_body_in_single_bytes() {
    let server = server("");
    let mut client = Client::new(server.addr);
    let (a, b) = BODY.split_at(7);
    let request = format!(
        "POST {COMPLETIONS} HTTP/1.1\r\ntransfer-encoding: chunked\r\n\r\n{:x}\r\n{a}\r\n{:x}\r\n{b}\r\n0\r\n\r\n",
        a.len(),
        b.len()
    );
    for byte in request.as_bytes() {
        client.send(&[*byte]);
    }
    assert_eq!(client.response().unwrap().json()["usage"]["prompt_tokens"], 3);
}

#[test]
fn large_prompt() {
    let server = server("tokens=1");
    let mut client = Client::new(server.addr);
    let prompt = "word ".repeat(400_000);
    let body = client
        .post(COMPLETIONS, &format!(r#"{{"model":"m","prompt":"{prompt}"}}"#))
        .json();
    assert_eq!(body["usage"]["prompt_tokens"], 400_000);
}

#[test]
fn continue_is_sent_before_the_body() {
    let server = server("");
    let mut client = Client::new(server.addr);
    let request = post(COMPLETIONS, "expect: 100-continue\r\n", BODY);
    let (head, body) = request.split_at(request.len() - BODY.len());
    client.send(head.as_bytes());
    assert_eq!(client.response().unwrap().status, 100);
    client.send(body.as_bytes());
    assert_eq!(client.response().unwrap().status, 200);
}

#[test]
fn connection_close_and_http_1_0() {
    let server = server("tokens=2");
    let mut client = Client::new(server.addr);
    client.send(post(COMPLETIONS, "connection: close\r\n", STREAM).as_bytes());
    let response = client.response().unwrap();
    assert_eq!(response.header("connection"), Some("close"));
    assert_eq!(response.events().len(), 3);
    assert!(client.closed());

    for (body, length) in [(STREAM, false), (BODY, true)] {
        let mut client = Client::new(server.addr);
        client.send(post(COMPLETIONS, "", body).replace("HTTP/1.1", "HTTP/1.0").as_bytes());
        let response = client.response().unwrap();
        assert_eq!(response.header("transfer-encoding"), None);
        assert_eq!(response.header("content-length").is_some(), length);
        if !length {
            assert_eq!(response.events().len(), 3);
        }
        assert!(client.closed());
    }

    let mut client = Client::new(server.addr);
    let request = post(COMPLETIONS, "connection: keep-alive\r\n", BODY).replace("HTTP/1.1", "HTTP/1.0");
    for _ in 0..2 {
        client.send(request.as_bytes());
        assert_eq!(client.response().unwrap().header("connection"), Some("keep-alive"));
    }
}

#[test]
fn what_is_no_request_is_refused_and_ends_the_connection() {
    let server = server("");
    for (bytes, status) in [
        ("nonsense\r\n\r\n", 400),
        ("POST / HTTP/1.1\r\ntransfer-encoding: gzip\r\n\r\n", 501),
        ("POST / HTTP/1.1\r\ncontent-length: 999999999\r\n\r\n", 413),
    ] {
        let mut client = Client::new(server.addr);
        client.send(bytes.as_bytes());
        let response = client.response().unwrap();
        assert_eq!(response.status, status, "{bytes:?}");
        assert!(response.json()["error"]["message"].is_string());
        assert!(client.closed());
    }
}

#[test]
fn a_client_that_does_not_read_holds_nobody_up_and_misses_nothing() {
    let server = server("tokens=100000");
    let mut slow = Client::new(server.addr);
    slow.send(post(COMPLETIONS, "", STREAM).as_bytes());
    let mut quick = Client::new(server.addr);
    for _ in 0..10 {
        assert_eq!(quick.get("/health").status, 200);
    }
    assert_eq!(slow.response().unwrap().events().len(), 100_001);
    assert_eq!(slow.get("/health").status, 200);
}

#[test]
fn many_connections_at_once_on_several_threads() {
    for query in ["tokens=3&ttft=5&itl=1&jitter=1", "tokens=3&ttft=5&itl=1&threads=3"] {
        let server = server(query);
        let mut clients: Vec<_> = (0..200).map(|_| Client::new(server.addr)).collect();
        for _ in 0..2 {
            for (index, client) in clients.iter_mut().enumerate() {
                client.send(post(COMPLETIONS, &format!("x-request-id: {index}\r\n"), STREAM).as_bytes());
            }
            for (index, client) in clients.iter_mut().enumerate() {
                let response = client.response().unwrap();
                assert_eq!(response.header("x-request-id"), Some(index.to_string().as_str()));
                assert_eq!(response.events().len(), 4);
            }
        }
        server.stop().unwrap();
    }
}

#[test]
fn a_taken_port_is_an_error_that_names_it() {
    let server = server("");
    let port = server.addr.port();
    let settings = aiperf_mock_server::Settings {
        port,
        ..Default::default()
    };
    let error = aiperf_mock_server::Server::spawn(settings).unwrap_err();
    assert!(error.to_string().contains(&format!("127.0.0.1:{port}")), "{error}");
}
