//! The log joins with requests by id, and tells what was scripted.

use std::collections::BTreeMap;
use std::path::Path;

use aiperf_mock_server::{LogRecord, Server, Settings};

use crate::client::{CHAT, COMPLETIONS, Client, post};

const MS: u64 = 1_000_000;

fn server(query: &str, log: &Path) -> Server {
    let settings = Settings {
        log: Some(log.to_owned()),
        ..Settings::from_query(query).unwrap()
    };
    Server::spawn(settings).unwrap()
}

fn read(log: &Path) -> BTreeMap<String, LogRecord> {
    let text = std::fs::read_to_string(log).unwrap();
    let lines = text
        .lines()
        .map(|line| serde_json::from_str::<LogRecord>(line).unwrap());
    lines.map(|line| (line.request_id.clone().unwrap(), line)).collect()
}

#[test]
fn streams_leave_on_schedule_and_never_early() {
    let folder = tempfile::tempdir().unwrap();
    let log = folder.path().join("log");
    let server = server("ttft=10&itl=3&tokens=6&done_delay=4", &log);
    let mut clients: Vec<_> = (0..4).map(|_| Client::new(server.addr)).collect();
    for (index, client) in clients.iter_mut().enumerate() {
        let body = r#"{"model":"m","messages":[],"stream":true}"#;
        client.send(post(CHAT, &format!("x-request-id: \"r{index}\"\r\n"), body).as_bytes());
    }
    for client in &mut clients {
        client.response().unwrap();
    }
    server.stop().unwrap();
    let lines = read(&log);
    assert_eq!(
        lines.keys().collect::<Vec<_>>(),
        ["\"r0\"", "\"r1\"", "\"r2\"", "\"r3\""]
    );
    for line in lines.values() {
        assert_eq!((&*line.path, line.status, line.complete), (CHAT, Some(200), true));
        let received = line.received_ns;
        assert_eq!(line.events_ns.len(), 6);
        for (index, time) in line.events_ns.iter().enumerate() {
            assert!(
                *time >= received + 10 * MS + index as u64 * 3 * MS,
                "event {index} is early: {line:?}"
            );
        }
        assert!(
            line.events_ns.is_sorted_by(|a, b| a < b),
            "each event has a write of its own"
        );
        assert!(line.done_ns.unwrap() >= received + (10 + 5 * 3 + 4) * MS);
        assert!(line.wall_ns > 1_700_000_000_000_000_000);
    }
}

#[test]
fn whole_answers_and_failures() {
    let folder = tempfile::tempdir().unwrap();
    let log = folder.path().join("log");
    let server = server("ttft=2&itl=1&tokens=4&error_rate=0.5&error_kind=reset", &log);
    for index in 0..20 {
        let mut client = Client::new(server.addr);
        let body = r#"{"model":"m","prompt":"x"}"#;
        client.send(post(COMPLETIONS, &format!("x-request-id: {index}\r\n"), body).as_bytes());
        // Half of them are resets.
        let _ = client.response();
    }
    let mut client = Client::new(server.addr);
    client.send(post(COMPLETIONS, "x-request-id: bad\r\n", "{}").as_bytes());
    assert_eq!(client.response().unwrap().status, 400);
    server.stop().unwrap();
    let lines = read(&log);
    assert_eq!(lines.len(), 21);
    assert_eq!(lines["bad"].status, Some(400));
    let (mut reset, mut whole) = (0, 0);
    for (_, line) in lines.iter().filter(|(id, _)| *id != "bad") {
        assert!(line.events_ns.is_empty());
        let took = line.done_ns.unwrap() - line.received_ns;
        if line.status.is_none() {
            reset += 1;
            assert!(took >= 2 * MS);
        } else {
            whole += 1;
            assert!(took >= 5 * MS, "with its last token");
        }
    }
    assert!(reset > 0 && whole > 0 && reset + whole == 20);
}

#[test]
fn an_answer_cut_by_the_end_of_the_server_is_not_complete() {
    let folder = tempfile::tempdir().unwrap();
    let log = folder.path().join("log");
    let server = server("ttft=3600000", &log);
    let mut client = Client::new(server.addr);
    client.send(post(CHAT, "x-request-id: cut\r\n", r#"{"model":"m","messages":[]}"#).as_bytes());
    // Ask until the request has been read.
    let mut other = Client::new(server.addr);
    while !String::from_utf8(other.get("/metrics").body)
        .unwrap()
        .contains("mock_requests_running 1")
    {}
    server.stop().unwrap();
    let line = &read(&log)["cut"];
    assert_eq!((line.done_ns, line.complete), (None, false));
}

#[test]
fn a_log_that_cannot_be_created_is_an_error_that_names_it() {
    let folder = tempfile::tempdir().unwrap();
    let log = folder.path().join("no/such/folder");
    let error = Server::spawn(Settings {
        log: Some(log),
        ..Settings::default()
    })
    .unwrap_err();
    assert!(error.to_string().contains("no/such/folder"), "{error}");
}
