//! Lines worked out by hand from the reference.

use crate::testing::{
    info, open,
    records::{
        self,
        Cell::{Int, Text},
        Row,
    },
};

fn export(rows: &[Row], size: usize) -> String {
    records::export("raw_record_writer", &info(), "profile_export_raw.jsonl", rows, size)
}

fn streamed() -> Row {
    Row::from([
        ("session_num", Int(0)),
        ("request_id", Text("11111111-2222")),
        ("start_ns", Int(1_000_000)),
        ("start_wall_ns", Int(1_767_225_600_000_000_000)),
        ("end_ns", Int(73_000_000)),
        ("phase_kind", Text("warmup")),
        ("cancelled", Int(0)),
        ("status", Int(200)),
        (
            "request.headers",
            Text(r#"{"Authorization":"<redacted>","Accept":"text/event-stream"}"#),
        ),
        (
            "request.body",
            Text("{\"model\": \"m\",\r\n \"messages\":[],\"x\":1e400}"),
        ),
        (
            "response.events",
            Text(r#"[{"perf_ns":73000000,"packets":[{"name":"data","value":"[DONE]"}]}]"#),
        ),
    ])
}

/// The body keeps its blanks, its numbers and the order of its members; the line stays one line.
const STREAMED: &str = concat!(
    r#"{"metadata":{"session_num":0,"x_request_id":"11111111-2222","request_start_ns":1767225600000000000,"#,
    r#""request_end_ns":1767225600072000000,"benchmark_phase":"warmup","phase_kind":"warmup","was_cancelled":false,"#,
    r#""context_overflow_skip":false,"agent_depth":0},"start_perf_ns":1000000,"#,
    r#""request_headers":{"Authorization":"<redacted>","Accept":"text/event-stream"},"status":200,"#,
    r#""responses":[{"perf_ns":73000000,"packets":[{"name":"data","value":"[DONE]"}]}],"#,
    r#""payload":{"model": "m",   "messages":[],"x":1e400}}"#,
    "\n"
);

#[test]
fn a_streamed_record() {
    assert_eq!(export(&[streamed()], 1), STREAMED);
}

#[test]
fn a_record_that_was_never_sent_has_no_payload_and_no_status() {
    let unsent = Row::from([
        ("session_num", Int(3)),
        ("start_ns", Int(5)),
        ("error.type", Text("EndpointError")),
        ("error.message", Text("no")),
    ]);
    let expected = concat!(
        r#"{"metadata":{"session_num":3,"was_cancelled":false,"context_overflow_skip":false,"agent_depth":0},"#,
        r#""start_perf_ns":5,"responses":[],"error":{"type":"EndpointError","message":"no"}}"#,
        "\n"
    );
    assert_eq!(export(&[unsent], 1), expected);
}

#[test]
fn a_body_that_is_no_json_is_a_string() {
    for (body, payload) in [
        ("--b\r\nx: \"y\"\r\n", r#""--b\r\nx: \"y\"\r\n""#),
        ("{\"a\":1} {", r#""{\"a\":1} {""#),
        ("[1]", "[1]"),
    ] {
        let text = export(&[Row::from([("request.body", Text(body))])], 1);
        assert!(text.ends_with(&format!(",\"payload\":{payload}}}\n")), "{text}");
        serde_json::from_str::<serde_json::Value>(&text).unwrap();
    }
}

#[test]
fn batches_do_not_show() {
    let rows = [streamed(), Row::new(), streamed()];
    let whole = export(&rows, 3);
    assert_eq!(whole.lines().count(), 3);
    for size in 1..3 {
        assert_eq!(export(&rows, size), whole);
    }
}

#[test]
fn only_the_raw_level_writes() {
    let mut info = info();
    info.artifacts.raw = None;
    let mut exporter = open("raw_record_writer");
    let needs = exporter.begin(&serde_json::to_string(&info).unwrap()).unwrap();
    assert!(needs.columns.is_empty() && needs.files.is_empty());
}
