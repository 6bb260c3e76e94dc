//! Records worked out by hand, over all families.

use aiperf_sdk::{
    Category, ErrorKind, MetricSpec, Package,
    metric::{Population, flags},
};
use proptest::prelude::*;

use crate::{
    BuiltIn,
    testing::{
        Cell::{Int, List, Real, Text},
        Row, compute, derive, open, open_with, row, total,
    },
};

const STREAMING: &str = "{}";
const WHOLE: &str = r#"{"streaming":false}"#;

/// Start 1,000; head at 1,400; content at 2,000, 2,300, 2,300, 4,000; 7 output and 3 reasoning tokens, 20 of input.
fn streamed() -> Row {
    row([
        ("valid", Int(1)),
        ("start_ns", Int(1_000)),
        ("start_wall_ns", Int(1_700_000_000_000_000_000)),
        ("end_ns", Int(9_000)),
        ("ack_ns", Int(1_400)),
        ("credit_ns", Int(900)),
        ("credit_received_ns", Int(950)),
        ("turn_index", Int(0)),
        ("content_ns", List(vec![2_000, 2_300, 2_300, 4_000])),
        ("first_output_ns", Int(2_300)),
        ("input_tokens", Int(20)),
        ("output_tokens", Int(7)),
        ("reasoning_tokens", Int(3)),
        ("requested_output_tokens", Int(20)),
    ])
}

fn with<const N: usize>(mut base: Row, changes: [(&str, Option<crate::testing::Cell>); N]) -> Row {
    for (name, cell) in changes {
        match cell {
            Some(cell) => base.insert(name.to_owned(), cell),
            None => base.remove(name),
        };
    }
    base
}

fn one(entry: &str, options: &str, record: Row) -> Row {
    compute(&*open(entry, options).unwrap(), &[record]).remove(0)
}

#[test]
fn latencies_of_a_streamed_response() {
    let expected = row([
        ("time_to_first_token", Int(1_000)),
        ("time_to_second_token", Int(300)),
        ("time_to_first_output_token", Int(1_300)),
        ("request_latency", Int(3_000)),
        ("decode_duration", Int(2_000)),
        // 2,000 ns over 9 tokens after the first.
        ("inter_token_latency", Real(2_000.0 / 9.0)),
        ("inter_chunk_latency", List(vec![300, 0, 1_700])),
        ("output_token_throughput_per_user", Real(1.0 / (2_000.0 / 9.0 * 1e-9))),
        // 10 tokens in 3 us, 20 in 1 us.
        ("e2e_output_token_throughput", Real(10.0 / (3_000.0 * 1e-9))),
        ("prefill_throughput_per_user", Real(20.0 / (1_000.0 * 1e-9))),
        ("stream_setup_latency", Int(400)),
        ("stream_prefill_latency", Int(600)),
        ("credit_drop_latency", Int(50)),
    ]);
    assert_eq!(one("latency", STREAMING, streamed()), expected);
}

#[test]
fn latencies_that_do_not_exist_are_missing() {
    let absent = |changes: Row, tags: &[&str]| {
        for tag in tags {
            assert!(!changes.contains_key(*tag), "{tag} in {changes:?}");
        }
    };
    let single = one(
        "latency",
        STREAMING,
        with(
            streamed(),
            [
                ("content_ns", Some(List(vec![2_000]))),
                ("output_tokens", Some(Int(1))),
                ("reasoning_tokens", None),
            ],
        ),
    );
    assert_eq!(single["time_to_first_token"], single["request_latency"]);
    assert_eq!(single["decode_duration"], Int(0));
    absent(
        single,
        &[
            "time_to_second_token",
            "inter_token_latency",
            "inter_chunk_latency",
            "output_token_throughput_per_user",
        ],
    );

    // A whole response in one chunk: the tokens after the first took no time, and no speed follows from that.
    let bundled = one(
        "latency",
        STREAMING,
        with(streamed(), [("content_ns", Some(List(vec![2_000])))]),
    );
    assert_eq!(bundled["inter_token_latency"], Real(0.0));
    absent(bundled, &["output_token_throughput_per_user"]);

    let uncounted = one(
        "latency",
        STREAMING,
        with(
            streamed(),
            [
                ("output_tokens", None),
                ("reasoning_tokens", None),
                ("input_tokens", None),
                ("ack_ns", None),
                ("first_output_ns", None),
                ("turn_index", Some(Int(1))),
            ],
        ),
    );
    assert_eq!(uncounted["request_latency"], Int(3_000));
    absent(
        uncounted,
        &[
            "inter_token_latency",
            "e2e_output_token_throughput",
            "prefill_throughput_per_user",
            "stream_setup_latency",
            "stream_prefill_latency",
            "time_to_first_output_token",
            "credit_drop_latency",
        ],
    );

    let failed = one("latency", STREAMING, with(streamed(), [("valid", Some(Int(0)))]));
    assert_eq!(failed, Row::new(), "errors have no latency, whatever arrived before");
}

#[test]
fn two_tokens_and_reasoning_only() {
    let two = with(
        streamed(),
        [
            ("content_ns", Some(List(vec![1_500, 1_700]))),
            ("output_tokens", Some(Int(2))),
            ("reasoning_tokens", None),
        ],
    );
    let values = one("latency", STREAMING, two);
    assert_eq!(values["inter_token_latency"], Real(200.0));
    assert_eq!(values["time_to_second_token"], Int(200));
    assert_eq!(values["inter_chunk_latency"], List(vec![200]));

    let reasoning = with(
        streamed(),
        [
            ("output_tokens", None),
            ("reasoning_tokens", Some(Int(5))),
            ("first_output_ns", None),
        ],
    );
    // 2,000 ns over 4 tokens.
    assert_eq!(
        one("latency", STREAMING, reasoning.clone())["inter_token_latency"],
        Real(500.0)
    );
    let lengths = one("length", STREAMING, reasoning);
    assert_eq!(lengths["output_sequence_length"], Int(5));
    assert!(!lengths.contains_key("output_token_count"));
}

#[test]
fn the_first_chunk_may_hold_several_tokens() {
    // OSL 10, decode 2,000 ns.
    for (first, itl) in [
        (Some(6), 500.0),
        (Some(1), 2_000.0 / 9.0),
        (Some(9), 2_000.0),
        (Some(0), 2_000.0 / 9.0),
        (Some(10), 2_000.0 / 9.0),
        (Some(50), 2_000.0 / 9.0),
        (None, 2_000.0 / 9.0),
    ] {
        let record = with(streamed(), [("first_chunk_tokens", first.map(Int))]);
        assert_eq!(
            one("latency", STREAMING, record)["inter_token_latency"],
            Real(itl),
            "{first:?}"
        );
    }
}

#[test]
fn a_contradicting_first_chunk_is_warned_of_once() {
    use std::sync::{Arc, Mutex};

    use aiperf_sdk::{Host, host::LogLevel, package::Open};

    #[derive(Default)]
    struct Log(Mutex<Vec<String>>);
    impl Host for Log {
        fn log(&self, level: LogLevel, message: &str) {
            assert_eq!(level, LogLevel::Warning);
            self.0.lock().unwrap().push(message.to_owned());
        }
    }
    let log = Arc::new(Log::default());
    let metric = BuiltIn::metric(Open {
        entry: "latency".to_owned(),
        options: String::new(),
        core: String::new(),
        host: Arc::<Log>::clone(&log),
    })
    .unwrap();
    compute(&*metric, &[streamed()]);
    assert!(log.0.lock().unwrap().is_empty());
    let contradicting = with(streamed(), [("first_chunk_tokens", Some(Int(10)))]);
    compute(&*metric, &[streamed(), contradicting.clone()]);
    compute(&*metric, &[contradicting]);
    let lines = log.0.lock().unwrap().clone();
    assert_eq!(lines.len(), 1);
    assert!(lines[0].contains("10 tokens in the first chunk"), "{}", lines[0]);
}

#[test]
fn what_does_not_apply_is_left_out() {
    let tags = |entry, options| -> Vec<String> {
        let family = open(entry, options).unwrap().describe().unwrap();
        family.metrics.into_iter().map(|spec| spec.tag).collect()
    };
    assert_eq!(
        tags("latency", WHOLE),
        ["request_latency", "e2e_output_token_throughput", "credit_drop_latency"]
    );
    let embeddings = r#"{"streaming":false,"produces_tokens":false}"#;
    assert_eq!(tags("latency", embeddings), ["request_latency", "credit_drop_latency"]);
    assert_eq!(
        tags("length", embeddings),
        ["input_sequence_length", "error_isl", "total_isl", "total_error_isl"]
    );
    assert_eq!(
        tags("throughput", embeddings),
        ["request_throughput", "input_token_throughput"]
    );
    let neither = r#"{"streaming":false,"produces_tokens":false,"tokenizes_input":false}"#;
    assert_eq!(tags("throughput", neither), ["request_throughput"]);
    assert!(tags("length", neither).is_empty());
    assert!(tags("goodput", "{}").is_empty());
    assert!(tags("usage", "{}").contains(&"usage_discrepancy_count".to_owned()));
    let server = tags("usage", r#"{"use_server_token_count":true}"#);
    assert!(
        server
            .iter()
            .all(|tag| !tag.contains("diff") && !tag.contains("discrepancy"))
    );
}

#[test]
fn no_family_needs_a_tag_that_another_leaves_out() {
    for options in [
        "{}",
        WHOLE,
        r#"{"streaming":false,"produces_tokens":false}"#,
        r#"{"streaming":false,"produces_tokens":false,"tokenizes_input":false}"#,
        r#"{"streaming":true,"tokenizes_input":false}"#,
    ] {
        let families: Vec<_> = BuiltIn::entries()
            .iter()
            .map(|entry| open(&entry.name, options).unwrap().describe().unwrap())
            .collect();
        let tags: Vec<&str> = families
            .iter()
            .flat_map(|family| family.metrics.iter().map(|spec| spec.tag.as_str()))
            .collect();
        for need in families.iter().flat_map(|family| &family.derive_needs) {
            assert!(tags.contains(&need.as_str()), "{need} with {options}");
        }
        for need in families.iter().flat_map(|family| &family.needs) {
            assert!(aiperf_sdk::fields::ALL.contains(&need.as_str()), "{need}");
        }
    }
}

#[test]
fn lengths_and_mismatches() {
    let values = one("length", STREAMING, streamed());
    let expected = row([
        ("output_sequence_length", Int(10)),
        ("input_sequence_length", Int(20)),
        ("output_token_count", Int(7)),
        ("reasoning_token_count", Int(3)),
        ("requested_osl", Int(20)),
        ("osl_mismatch_diff_pct", Real(-50.0)),
        ("osl_mismatch_count", Int(1)),
        ("thinking_efficiency", Real(3.0 / 7.0)),
    ]);
    assert_eq!(values, expected);

    // (requested, actual, mismatch): 5 % of 100 is 5; of 2,000 it is 100, but 50 is the most.
    for (requested, actual, mismatch) in [
        (100, 95, Some(0)),
        (100, 94, Some(1)),
        (100, 105, Some(0)),
        (100, 106, Some(1)),
        (2_000, 1_950, Some(0)),
        (2_000, 1_949, Some(1)),
        (0, 10, None),
    ] {
        let record = with(
            streamed(),
            [
                ("requested_output_tokens", Some(Int(requested))),
                ("output_tokens", Some(Int(actual))),
                ("reasoning_tokens", None),
            ],
        );
        assert_eq!(
            one("length", STREAMING, record).get("osl_mismatch_count"),
            mismatch.map(Int).as_ref(),
            "{requested} {actual}"
        );
    }
    let mismatches = |options: &str| {
        let metric = open_with("length", options, STREAMING).unwrap();
        compute(&*metric, &[streamed()])[0]["osl_mismatch_count"].clone()
    };
    let strict = r#"{"osl_mismatch":{"pct":50,"max_tokens":9}}"#;
    assert_eq!(mismatches(strict), Int(1));
    let lenient = r#"{"osl_mismatch":{"pct":50,"max_tokens":10}}"#;
    assert_eq!(mismatches(lenient), Int(0));
}

#[test]
fn zero_tokens_and_failed_requests_have_lengths_of_their_own() {
    let empty = with(
        streamed(),
        [("output_tokens", Some(Int(0))), ("reasoning_tokens", Some(Int(0)))],
    );
    let values = one("length", STREAMING, empty);
    assert_eq!(values["output_sequence_length"], Int(0));
    assert_eq!(values["reasoning_token_count"], Int(0));
    assert!(!values.contains_key("output_token_count"));
    assert!(!values.contains_key("thinking_efficiency"));

    let failed = with(streamed(), [("valid", Some(Int(0)))]);
    assert_eq!(one("length", STREAMING, failed), row([("error_isl", Int(20))]));
}

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

#[test]
fn contributions_to_curves() {
    const WALL: u64 = 1_700_000_000_000_000_000;
    use crate::testing::Cell::{Interval, Steps};
    let at = |ns: u64| WALL + ns;
    // On the wall clock s = 0, g = 1,000 with chunks at 1,300, 1,300 and 3,000, e = 8,000; ISL 20, OSL 10.
    let whole = |weight| Interval(at(0), at(8_000), weight);
    let prefill = |weight| Interval(at(0), at(1_000), weight);
    let decode = |weight| Interval(at(1_000), at(8_000), weight);
    let chunked = [
        ("effective_concurrency", whole(1.0)),
        // Nine tokens over the two gaps that last.
        (
            "effective_decode_throughput",
            Steps(at(1_000), vec![300, 0, 1_700], 4.5),
        ),
        ("effective_prefill_throughput", prefill(20.0 / 1_000.0)),
        ("effective_decode_concurrency", decode(1.0)),
        ("effective_prefill_concurrency", prefill(1.0)),
        ("request_decode_throughput", decode(9.0 / 7_000.0)),
        ("prompt_tokens_in_flight", whole(20.0)),
        ("first_tokens_in_flight", decode(1.0)),
        // Nine tokens in three chunks.
        ("chunk_tokens", Steps(at(1_000), vec![300, 0, 1_700], 3.0)),
    ];
    assert_eq!(one("effective", STREAMING, streamed()), row(chunked.clone()));
    let without = |changes: &[(&str, Option<crate::testing::Cell>)]| {
        with(row(chunked.clone()), [])
            .into_iter()
            .filter_map(
                |(tag, cell)| match changes.iter().find(|(changed, _)| *changed == tag) {
                    Some((_, changed)) => changed.clone().map(|cell| (tag, cell)),
                    None => Some((tag, cell)),
                },
            )
            .collect::<Row>()
    };
    let only_concurrency = || row([("effective_concurrency", whole(1.0))]);
    for (name, record, options, expected) in [
        (
            "one chunk: its tokens are spread over the decode and held from its start",
            with(streamed(), [("content_ns", Some(List(vec![2_000])))]),
            STREAMING,
            without(&[
                ("effective_decode_throughput", Some(Steps(at(1_000), vec![7_000], 9.0))),
                ("first_tokens_in_flight", Some(decode(10.0))),
                ("chunk_tokens", None),
            ]),
        ),
        (
            "one token: nothing is decoded after it",
            with(
                streamed(),
                [("output_tokens", Some(Int(1))), ("reasoning_tokens", None)],
            ),
            STREAMING,
            without(&[
                ("effective_decode_throughput", None),
                ("request_decode_throughput", None),
                ("chunk_tokens", None),
            ]),
        ),
        (
            "unknown lengths",
            with(
                streamed(),
                [
                    ("output_tokens", None),
                    ("reasoning_tokens", None),
                    ("input_tokens", None),
                ],
            ),
            STREAMING,
            row([
                ("effective_concurrency", whole(1.0)),
                ("effective_decode_concurrency", decode(1.0)),
                ("effective_prefill_concurrency", prefill(1.0)),
            ]),
        ),
        (
            "all chunks at once, and nothing after them: no decode, but tokens until the end",
            with(
                streamed(),
                [
                    ("content_ns", Some(List(vec![2_000, 2_000]))),
                    ("end_ns", Some(Int(2_000))),
                ],
            ),
            STREAMING,
            row([
                ("effective_concurrency", prefill(1.0)),
                ("effective_prefill_throughput", prefill(20.0 / 1_000.0)),
                ("effective_prefill_concurrency", prefill(1.0)),
                ("prompt_tokens_in_flight", prefill(20.0)),
                ("chunk_tokens", Steps(at(1_000), vec![0], 9.0)),
            ]),
        ),
        (
            "a first token without delay: no prefill",
            with(
                streamed(),
                [("start_ns", Some(Int(2_000))), ("start_wall_ns", Some(Int(at(1_000))))],
            ),
            STREAMING,
            without(&[
                ("effective_concurrency", Some(decode(1.0))),
                ("effective_prefill_throughput", None),
                ("effective_prefill_concurrency", None),
                ("prompt_tokens_in_flight", None),
            ]),
        ),
        ("no streaming: no first token", streamed(), WHOLE, only_concurrency()),
        (
            "a failed request",
            with(streamed(), [("valid", Some(Int(0)))]),
            STREAMING,
            only_concurrency(),
        ),
        (
            "no wall clock",
            with(streamed(), [("start_wall_ns", None)]),
            STREAMING,
            Row::new(),
        ),
    ] {
        assert_eq!(one("effective", options, record), expected, "{name}");
    }
}

#[test]
fn usage_and_its_differences() {
    let record = with(
        streamed(),
        [
            ("usage.prompt", Some(Int(22))),
            ("usage.completion", Some(Int(10))),
            ("usage.reasoning", Some(Int(6))),
            ("usage.cache_read", Some(Int(0))),
            ("usage.prompt_audio_seconds", Some(Real(1.5))),
            ("usage.total", Some(Int(32))),
        ],
    );
    let expected = row([
        ("usage_prompt_tokens", Int(22)),
        ("usage_completion_tokens", Int(10)),
        ("usage_reasoning_tokens", Int(6)),
        ("usage_prompt_cache_read_tokens", Int(0)),
        ("usage_prompt_audio_seconds", Real(1.5)),
        ("usage_total_tokens", Int(32)),
        // 22 for 20, 10 for 10, 6 for 3.
        ("usage_prompt_tokens_diff_pct", Real(10.0)),
        ("usage_completion_tokens_diff_pct", Real(0.0)),
        ("usage_reasoning_tokens_diff_pct", Real(100.0)),
        ("usage_discrepancy_count", Int(1)),
    ]);
    assert_eq!(one("usage", "{}", record.clone()), expected);
    // 10 % is still no discrepancy, and reasoning is optional.
    let plain = with(record, [("usage.reasoning", None)]);
    assert_eq!(one("usage", "{}", plain.clone())["usage_discrepancy_count"], Int(0));
    let uncounted = with(plain, [("input_tokens", Some(Int(0)))]);
    let values = one("usage", "{}", uncounted);
    assert!(!values.contains_key("usage_discrepancy_count") && !values.contains_key("usage_prompt_tokens_diff_pct"));

    let metric = open("usage", "{}").unwrap();
    let values = derive(
        &*metric,
        (2, 0, Some(1)),
        &[
            ("usage_prompt_tokens", total(40.0)),
            ("usage_prompt_cache_read_tokens", total(10.0)),
        ],
    );
    assert_eq!(values["total_usage_prompt_tokens"], 40.0);
    assert_eq!(values["overall_usage_prompt_cache_read_pct"], 25.0);
    assert_eq!(values.len(), 3, "{values:?}");
}

#[test]
fn stages_of_http() {
    let traced = row([
        ("valid", Int(1)),
        ("http.blocked_ns", Int(1)),
        ("http.dns_ns", Int(20)),
        ("http.connect_ns", Int(300)),
        ("http.sending_ns", Int(4_000)),
        ("http.waiting_ns", Int(50_000)),
        ("http.receiving_ns", Int(600_000)),
        ("http.reused", Int(0)),
        ("http.bytes_sent", Int(2_048)),
    ]);
    let values = one("http_trace", "{}", traced.clone());
    assert_eq!(values["http_req_connection_overhead"], Int(321));
    assert_eq!(values["http_req_duration"], Int(654_000));
    assert_eq!(values["http_req_total"], Int(654_321));
    assert_eq!(values["http_req_data_sent"], Int(2_048));
    assert!(!values.contains_key("http_req_data_received"));
    let cut = one("http_trace", "{}", with(traced, [("http.receiving_ns", None)]));
    assert!(!cut.contains_key("http_req_duration") && !cut.contains_key("http_req_total"));
}

/// Options for goodput: the objectives, and the catalogue that the other families give.
fn goodput_options(slos: &str, facts: &str) -> String {
    let catalogue: Vec<MetricSpec> = ["latency", "length", "count", "throughput", "usage", "schedule"]
        .iter()
        .flat_map(|entry| open(entry, facts).unwrap().describe().unwrap().metrics)
        .collect();
    let facts = facts.trim_matches(['{', '}']);
    let comma = if facts.is_empty() { "" } else { "," };
    format!(
        "{{{facts}{comma}\"slos\":{slos},\"catalogue\":{}}}",
        serde_json::to_string(&catalogue).unwrap()
    )
}

#[test]
fn goodput_of_records() {
    let slos = r#"{"request_latency":250,"output_token_throughput_per_user":20}"#;
    let metric = open("goodput", &goodput_options(slos, "{}")).unwrap();
    let needs = metric.describe().unwrap().needs;
    assert_eq!(needs, ["valid", "output_token_throughput_per_user", "request_latency"]);
    let record = |valid, latency, speed: Option<f64>| {
        let record = row([("valid", Int(valid)), ("request_latency", Int(latency))]);
        with(record, [("output_token_throughput_per_user", speed.map(Real))])
    };
    let values = compute(
        &*metric,
        &[
            record(1, 250_000_000, Some(20.0)),
            record(1, 250_000_001, Some(20.0)),
            record(1, 1, Some(19.99)),
            record(1, 1, None),
            record(0, 1, Some(99.0)),
        ],
    );
    let good: Vec<_> = values.iter().map(|row| row.get("good_request_count")).collect();
    let (yes, no) = (Int(1), Int(0));
    assert_eq!(good, [Some(&yes), Some(&no), Some(&no), Some(&no), None]);

    let span = [
        ("min_request_timestamp", total(1e9)),
        ("max_response_timestamp", total(2e9)),
    ];
    let mut totals = vec![("good_request_count", total(3.0))];
    totals.extend(span);
    let values = derive(&*metric, (4, 2, Some(2_000_000_000)), &totals);
    assert_eq!(values["goodput"], 1.5);
    assert_eq!(values["good_request_fraction"], 0.5);
    let only_errors = derive(&*metric, (0, 2, Some(2_000_000_000)), &[]);
    assert_eq!(
        only_errors.into_iter().collect::<Vec<_>>(),
        [("good_request_fraction".to_owned(), 0.0)]
    );
    assert!(derive(&*metric, (0, 0, Some(1)), &[]).is_empty());
}

#[test]
fn objectives_that_can_not_be_judged_are_refused() {
    for (slos, facts, message, help) in [
        (
            r#"{"time_to_first_tokn":1}"#,
            "{}",
            "`time_to_first_tokn` can't be a service level objective: no metric of that tag exists",
            "`time_to_first_token`",
        ),
        (
            r#"{"time_to_first_token":1}"#,
            WHOLE,
            "`time_to_first_token` can't be a service level objective: it needs a streaming run",
            "",
        ),
        (
            r#"{"inter_chunk_latency":1}"#,
            "{}",
            "it has many values per request",
            "`inter_token_latency`",
        ),
        (r#"{"request_throughput":1}"#, "{}", "it has no value per request", ""),
        (r#"{"error_isl":1}"#, "{}", "it looks at failed requests only", ""),
        (
            r#"{"http_req_total":1}"#,
            "{}",
            "it is not among the metrics of this run",
            "",
        ),
    ] {
        let error = open("goodput", &goodput_options(slos, facts)).err().unwrap();
        assert_eq!(error.kind, ErrorKind::InvalidOptions);
        assert!(error.message.contains(message), "{}", error.message);
        let hint = error.help.unwrap();
        assert!(hint.contains(help), "{hint}");
    }
}

#[test]
fn unknown_options_and_entries_are_refused() {
    for entry in BuiltIn::entries() {
        // What the core passes is no option of the user's.
        for option in ["no_such_option", "streaming", "slos"] {
            let options = format!(r#"{{"{option}": {{}}}}"#);
            let error = open_with(&entry.name, &options, "{}").err().unwrap();
            assert_eq!(error.kind, ErrorKind::InvalidOptions);
            assert!(error.message.contains(&format!("`{option}`")), "{}", error.message);
        }
        // A newer core may say more.
        assert!(open(&entry.name, r#"{"later": 1}"#).is_ok(), "{}", entry.name);
    }
    assert!(open("nothing", "{}").is_err());
}

#[test]
fn the_catalogue_is_well_formed() {
    let specs = crate::package::every_spec();
    let mut tags: Vec<&str> = specs.iter().map(|spec| spec.tag.as_str()).collect();
    tags.sort_unstable();
    let count = tags.len();
    tags.dedup();
    assert_eq!(tags.len(), count, "tags are unique");
    for entry in BuiltIn::entries() {
        assert_eq!(entry.category, Category::Metric);
    }
    let spec = |tag: &str| specs.iter().find(|spec| spec.tag == tag).unwrap();
    // (tag, header, short, unit, shown in, group, order, flags) as the reference's tables have them.
    for (tag, header, short, unit, shown, group, order, flags) in [
        (
            "time_to_first_token",
            "Time to First Token",
            "TTFT",
            "ns",
            "ms",
            "default",
            Some(100),
            flags::STREAMING | flags::PRODUCES_TOKENS | flags::ERROR_ADJUSTED | flags::INTEGER,
        ),
        (
            "inter_token_latency",
            "Inter Token Latency",
            "ITL",
            "ns",
            "ms",
            "default",
            Some(400),
            flags::STREAMING | flags::PRODUCES_TOKENS | flags::ERROR_ADJUSTED,
        ),
        (
            "error_isl",
            "Error Input Sequence Length",
            "Error ISL",
            "tokens",
            "tokens",
            "none",
            Some(700),
            flags::TOKENIZES_INPUT | flags::ERROR_ONLY | flags::LARGER_IS_BETTER | flags::INTEGER,
        ),
        (
            "completed_request_count",
            "Completed Requests (Success + Error)",
            "Completed",
            "requests",
            "requests",
            "default",
            Some(1075),
            flags::NOT_PER_RECORD | flags::INTEGER,
        ),
        (
            "benchmark_duration",
            "Benchmark Duration",
            "Duration",
            "ns",
            "sec",
            "none",
            None,
            flags::INTEGER,
        ),
        (
            "total_usage_prompt_audio_seconds",
            "Total Usage Prompt Audio Seconds",
            "Total Usage Prompt Audio Sec",
            "sec",
            "sec",
            "usage",
            Some(2040),
            flags::AUDIO | flags::LARGER_IS_BETTER,
        ),
        (
            "goodput",
            "Goodput",
            "Goodput",
            "requests/sec",
            "requests/sec",
            "default",
            Some(1000),
            flags::GOODPUT,
        ),
        (
            "http_req_data_received",
            "HTTP Data Received",
            "Received",
            "B",
            "KB",
            "none",
            Some(2090),
            flags::INTEGER,
        ),
    ] {
        let known = spec(tag);
        assert_eq!(known.header, header);
        assert_eq!(known.short_header, short, "{tag}");
        assert_eq!(known.unit, unit, "{tag}");
        assert_eq!(known.reported_unit(), shown, "{tag}");
        assert_eq!(known.group, group, "{tag}");
        assert_eq!(known.order, order, "{tag}");
        assert_eq!(known.flags, flags, "{tag}");
    }
    assert_eq!(spec("effective_latency").population, Population::All);
    assert_eq!(spec("effective_concurrency").population, Population::All);
}

fn any_record() -> impl Strategy<Value = Row> {
    let small = || proptest::option::of(0_u64..60);
    (
        (any::<bool>(), 0_u64..5_000, proptest::collection::vec(0_u64..400, 0..6)),
        (small(), small(), small(), small(), small()),
        proptest::option::of("[a-z ]{0,8}context length"),
    )
        .prop_map(
            |((valid, start, gaps), (input, output, reasoning, first, requested), message)| {
                let content = gaps
                    .iter()
                    .scan(start, |at, gap| {
                        *at += gap;
                        Some(*at)
                    })
                    .collect();
                with(
                    row([
                        ("valid", Int(u64::from(valid))),
                        ("start_ns", Int(start)),
                        ("start_wall_ns", Int(start + 1_000_000)),
                        ("content_ns", List(content)),
                    ]),
                    [
                        ("input_tokens", input.map(Int)),
                        ("output_tokens", output.map(Int)),
                        ("reasoning_tokens", reasoning.map(Int)),
                        ("first_chunk_tokens", first.map(Int)),
                        ("requested_output_tokens", requested.map(Int)),
                        ("usage.prompt", requested.map(Int)),
                        ("usage.completion", first.map(Int)),
                        ("error.message", message.map(Text)),
                    ],
                )
            },
        )
}

proptest! {
    #[test]
    fn cuts_into_batches_change_nothing(records in proptest::collection::vec(any_record(), 1..12), cut in 0_usize..12) {
        let cut = cut.min(records.len());
        for entry in ["latency", "length", "count", "usage", "schedule", "effective", "http_trace"] {
            let metric = open(entry, "{}").unwrap();
            let whole = compute(&*metric, &records);
            let (left, right) = records.split_at(cut);
            let mut parts = Vec::new();
            for part in [left, right] {
                if !part.is_empty() {
                    parts.extend(compute(&*metric, part));
                }
            }
            prop_assert_eq!(whole, parts, "{}", entry);
        }
    }

    #[test]
    fn latencies_add_up(record in any_record()) {
        let values = one("latency", STREAMING, record);
        let int = |tag: &str| match values.get(tag) {
            Some(Int(value)) => Some(*value),
            _ => None,
        };
        if let Some(latency) = int("request_latency") {
            prop_assert_eq!(Some(latency), int("time_to_first_token").zip(int("decode_duration")).map(|(a, b)| a + b));
        }
        if let Some(List(gaps)) = values.get("inter_chunk_latency") {
            prop_assert_eq!(Some(gaps.iter().sum::<u64>()), int("decode_duration"));
        }
    }
}
