//! Lines worked out by hand from the reference's sample.

use aiperf_sdk::{MetricSpec, api::report::RunInfo};

use super::*;
use crate::testing::{
    factor, info, open,
    records::{
        self,
        Cell::{Int, Ints, Real, Text},
        Row,
    },
    spec,
};

fn catalogue() -> Vec<MetricSpec> {
    let with = |mut spec: MetricSpec, kind, flags| {
        spec.kind = kind;
        spec.flags = flags;
        spec
    };
    use MetricKind::{Derived, List, Record, Sum};
    vec![
        with(spec("request_latency", "", "ns", "ms"), Record, flags::INTEGER),
        with(spec("inter_token_latency", "", "ns", "ms"), Record, 0),
        with(spec("output_sequence_length", "", "tokens", ""), Record, flags::INTEGER),
        with(
            spec("e2e_output_token_throughput", "", "tokens/sec/user", ""),
            Record,
            0,
        ),
        with(spec("inter_chunk_latency", "", "ns", "ms"), List, flags::INTEGER),
        with(
            spec("good_request_count", "", "requests", ""),
            Sum,
            flags::INTEGER | flags::GOODPUT,
        ),
        with(spec("error_isl", "", "tokens", ""), Record, flags::INTEGER),
        with(
            spec("video_seconds", "", "sec", ""),
            Record,
            flags::INTEGER | flags::REAL,
        ),
        with(spec("request_count", "", "requests", ""), Sum, flags::NOT_PER_RECORD),
        with(spec("requested_osl", "", "tokens", ""), Record, flags::INTERNAL),
        with(
            spec("thinking_efficiency", "", "ratio", ""),
            Record,
            flags::EXPERIMENTAL,
        ),
        with(spec("request_throughput", "", "requests/sec", ""), Derived, 0),
    ]
}

fn run_info() -> RunInfo {
    let mut info = info();
    info.catalogue = catalogue()
        .into_iter()
        .map(|spec| CatalogueEntry {
            factor: factor(&spec.unit, &spec.display_unit),
            spec,
        })
        .collect();
    info
}

/// What the exporter writes for the records, given in batches of `size`.
fn export(rows: &[Row], size: usize) -> String {
    records::export("record_export", &run_info(), "profile_export.jsonl", rows, size)
}

fn completed() -> Row {
    Row::from([
        ("session_num", Int(0)),
        ("request_id", Text("11111111-2222")),
        ("correlation_id", Text("33333333-4444")),
        ("conversation_id", Text("session_000000")),
        ("turn_index", Int(0)),
        ("start_ns", Int(1_000_000)),
        ("start_wall_ns", Int(1_767_225_600_000_000_000)),
        ("credit_ns", Int(999_000)),
        ("ack_ns", Int(1_500_000)),
        ("end_ns", Int(73_000_000)),
        ("worker_id", Text("worker_ab")),
        ("record_processor_id", Text("record_processor_cd")),
        ("phase_name", Text("profiling")),
        ("phase_kind", Text("profiling")),
        ("phase_index", Int(1)),
        ("profiling_index", Int(0)),
        ("cancelled", Int(0)),
        // Native units.
        ("request_latency", Int(71_060_000)),
        ("inter_token_latency", Real(4_350_000.0)),
        ("output_sequence_length", Int(25)),
        ("e2e_output_token_throughput", Real(352.0)),
        ("inter_chunk_latency", Ints(vec![4_350_000, 0, 4_530_000])),
        ("good_request_count", Int(1)),
        // Computed, but not for the eyes of a reader of records.
        ("request_count", Int(1)),
        ("requested_osl", Int(100)),
        ("thinking_efficiency", Real(0.5)),
    ])
}

const COMPLETED: &str = concat!(
    r#"{"metadata":{"session_num":0,"x_request_id":"11111111-2222","x_correlation_id":"33333333-4444","#,
    r#""conversation_id":"session_000000","turn_index":0,"credit_issued_ns":1767225599999999000,"#,
    r#""request_start_ns":1767225600000000000,"request_ack_ns":1767225600000500000,"#,
    r#""request_end_ns":1767225600072000000,"worker_id":"worker_ab","record_processor_id":"record_processor_cd","#,
    r#""benchmark_phase":"profiling","phase_index":1,"profiling_index":0,"phase_name":"profiling","#,
    r#""phase_kind":"profiling","was_cancelled":false,"context_overflow_skip":false,"agent_depth":0,"#,
    r#""root_correlation_id":"33333333-4444"},"#,
    r#""metrics":{"request_latency":{"value":71.06,"unit":"ms"},"inter_token_latency":{"value":4.35,"unit":"ms"},"#,
    r#""output_sequence_length":{"value":25,"unit":"tokens"},"#,
    r#""e2e_output_token_throughput":{"value":352.0,"unit":"tokens/sec/user"},"#,
    r#""inter_chunk_latency":{"value":[4.35,0.0,4.529999999999999],"unit":"ms"},"#,
    r#""good_request_count":{"value":1,"unit":"requests"}}}"#,
    "\n"
);

#[test]
fn a_completed_record() {
    // The products are those of Python: times are multiplied by 1e-06, which is why 4.53 comes out as it does there.
    assert_eq!(export(&[completed()], 1), COMPLETED);
}

#[test]
fn a_trace_stands_behind_the_metrics_where_the_run_wants_it() {
    let mut info = run_info();
    info.http_trace = true;
    let with = Row::from([
        ("session_num", Int(1)),
        ("good_request_count", Int(1)),
        ("http.trace", Text("{\"a\":[[1,2]]}")),
        ("error.message", Text("e")),
    ]);
    let without = Row::from([("session_num", Int(2)), ("good_request_count", Int(1))]);
    let text = records::export("record_export", &info, "profile_export.jsonl", &[with, without], 2);
    let lines: Vec<&str> = text.lines().collect();
    assert!(
        lines[0].ends_with("\"unit\":\"requests\"}},\"trace_data\":{\"a\":[[1,2]]},\"error\":{\"message\":\"e\"}}"),
        "{text}"
    );
    assert!(!lines[1].contains("trace_data"), "{text}");
    assert!(!export(&[completed()], 1).contains("trace_data"));
}

#[test]
fn an_error_record() {
    let failed = Row::from([
        ("session_num", Int(3)),
        ("start_ns", Int(5)),
        ("start_wall_ns", Int(100)),
        ("end_ns", Int(5)),
        ("phase_kind", Text("warmup")),
        ("phase_name", Text("warm\"up")),
        ("phase_index", Int(0)),
        ("cancelled", Int(1)),
        ("cancelled_wall_ns", Int(107)),
        ("error.code", Int(499)),
        ("error.type", Text("RequestCancellationError")),
        ("error.message", Text("cut\noff")),
        ("error_isl", Int(12)),
    ]);
    let expected = concat!(
        r#"{"metadata":{"session_num":3,"request_start_ns":100,"request_end_ns":100,"benchmark_phase":"warmup","#,
        r#""phase_index":0,"phase_name":"warm\"up","phase_kind":"warmup","was_cancelled":true,"#,
        r#""cancellation_time_ns":107,"context_overflow_skip":false,"agent_depth":0},"#,
        r#""metrics":{"error_isl":{"value":12,"unit":"tokens"}},"#,
        r#""error":{"code":499,"type":"RequestCancellationError","message":"cut\noff"}}"#,
        "\n"
    );
    assert_eq!(export(std::slice::from_ref(&failed), 1), expected);

    let mut bare = failed;
    for name in ["error_isl", "error.code", "error.type"] {
        bare.remove(name);
    }
    let text = export(&[bare], 1);
    assert!(
        text.ends_with("\"metrics\":{},\"error\":{\"message\":\"cut\\noff\"}}\n"),
        "{text}"
    );
}

#[test]
fn values_keep_their_nature() {
    for (name, cell, expected) in [
        ("output_sequence_length", Int(0), Some("0")),
        ("output_sequence_length", Int(u64::MAX), Some("18446744073709551615")),
        ("output_sequence_length", Real(7.0), Some("7")),
        ("output_sequence_length", Real(7.5), Some("7.5")),
        ("output_sequence_length", Real(1e17), Some("1e+17")),
        ("video_seconds", Int(3), Some("3.0")),
        ("e2e_output_token_throughput", Int(3), Some("3.0")),
        ("request_latency", Int(10), Some("9.999999999999999e-06")),
        ("inter_chunk_latency", Ints(Vec::new()), Some("[]")),
        ("inter_token_latency", Real(f64::NAN), None),
        ("inter_token_latency", Real(f64::INFINITY), None),
        ("inter_token_latency", Text("x"), None),
    ] {
        let record = Row::from([(name, cell.clone()), ("error.message", Text("e"))]);
        let text = export(&[record], 1);
        let value: serde_json::Value = serde_json::from_str(&text).unwrap();
        match expected {
            Some(number) => assert!(
                text.contains(&format!("{{\"value\":{number},\"unit\"")),
                "{cell:?}: {text}"
            ),
            None => assert_eq!(value["metrics"], serde_json::json!({}), "{cell:?}"),
        }
    }
}

#[test]
fn records_without_anything_to_tell_are_left_out() {
    let empty = Row::from([("session_num", Int(1))]);
    assert_eq!(export(&[empty.clone(), completed(), empty.clone()], 3), COMPLETED);
    assert_eq!(export(&[empty], 1), "");
}

#[test]
fn batches_do_not_show() {
    let mut other = completed();
    other.remove("inter_chunk_latency");
    other.insert("worker_id", Text("é"));
    let rows = [completed(), other, Row::new(), completed()];
    let whole = export(&rows, 4);
    assert_eq!(whole.lines().count(), 3);
    for size in 1..4 {
        assert_eq!(export(&rows, size), whole);
    }
}

#[test]
fn a_run_without_records_writes_none() {
    let mut info = run_info();
    info.artifacts.records = None;
    let mut exporter = open("record_export");
    let needs = exporter.begin(&serde_json::to_string(&info).unwrap()).unwrap();
    assert!(needs.columns.is_empty() && needs.files.is_empty());
}
