//! Counts, rates and timestamps, of records and of windows.

use super::{STREAMING, one, streamed, with};
use crate::testing::{
    Cell::{Int, Text},
    Row, derive, open, row, total,
};

#[test]
fn counts_and_timestamps() {
    let wall = 1_700_000_000_000_000_000;
    assert_eq!(
        one("count", STREAMING, streamed()),
        row([
            ("request_count", Int(1)),
            ("min_request_timestamp", Int(wall)),
            ("max_response_timestamp", Int(wall + 3_000)),
        ])
    );
    for (message, overflow) in [
        (Some("This model's maximum context length is 4096"), 1),
        (Some("{\"code\":\"CONTEXT_LENGTH_EXCEEDED\"}"), 1),
        (Some("Prompt is too long: 9 > 8"), 1),
        (Some("overloaded"), 0),
        (None, 0),
    ] {
        let failed = with(
            streamed(),
            [
                ("valid", Some(Int(0))),
                ("error.message", message.map(|text| Text(text.to_owned()))),
            ],
        );
        assert_eq!(
            one("count", STREAMING, failed),
            row([
                ("error_request_count", Int(1)),
                ("context_overflow_count", Int(overflow))
            ]),
            "{message:?}"
        );
    }
}

#[test]
fn derived_counts() {
    let metric = open("count", "{}").unwrap();
    let span = [
        ("min_request_timestamp", total(1e9)),
        ("max_response_timestamp", total(3e9)),
    ];
    let values = derive(&*metric, (12, 4, Some(2_500_000_000)), &span);
    assert_eq!(values["completed_request_count"], 16.0);
    assert_eq!(values["request_error_rate"], 25.0);
    assert_eq!(values["benchmark_duration"], 2e9);
    assert!(derive(&*metric, (0, 0, Some(1)), &[]).is_empty());
    let backwards = [
        ("min_request_timestamp", total(3e9)),
        ("max_response_timestamp", total(3e9)),
    ];
    assert!(!derive(&*metric, (1, 0, Some(1)), &backwards).contains_key("benchmark_duration"));
}

#[test]
fn rates_divide_by_the_window() {
    let metric = open("throughput", "{}").unwrap();
    let totals = [
        ("input_sequence_length", total(300.0)),
        ("output_sequence_length", total(100.0)),
        ("min_request_timestamp", total(1e9)),
        ("max_response_timestamp", total(2e9)),
    ];
    let values = derive(&*metric, (10, 3, Some(2_000_000_000)), &totals);
    assert_eq!(values["request_throughput"], 5.0);
    assert_eq!(values["output_token_throughput"], 50.0);
    assert_eq!(values["input_token_throughput"], 150.0);
    assert_eq!(values["total_token_throughput"], 200.0);
    assert!(derive(&*metric, (10, 3, None), &totals).is_empty(), "no window");
    assert!(
        derive(&*metric, (10, 3, Some(2_000_000_000)), &totals[..2]).is_empty(),
        "no span of records"
    );
    let no_output = derive(
        &*metric,
        (10, 3, Some(2_000_000_000)),
        &[totals[0].clone(), totals[2].clone(), totals[3].clone()],
    );
    assert_eq!(
        no_output.keys().collect::<Vec<_>>(),
        ["input_token_throughput", "request_throughput"]
    );
}

#[test]
fn latencies_from_the_schedule_count_errors_too() {
    let expected = row([("effective_latency", Int(8_100)), ("credit_to_start_latency", Int(100))]);
    assert_eq!(one("schedule", "{}", streamed()), expected);
    assert_eq!(
        one("schedule", "{}", with(streamed(), [("valid", Some(Int(0)))])),
        expected
    );
    let early = with(streamed(), [("credit_ns", Some(Int(5_000)))]);
    assert_eq!(one("schedule", "{}", early)["credit_to_start_latency"], Int(0));
    let manual = with(streamed(), [("credit_ns", None)]);
    assert_eq!(one("schedule", "{}", manual), Row::new());
}
