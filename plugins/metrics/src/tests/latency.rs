//! Latencies of a record, and where there are none.

use aiperf_sdk::Package;

use super::{STREAMING, WHOLE, one, streamed, with};
use crate::{
    BuiltIn,
    testing::{
        Cell::{Int, List, Real},
        Row, compute, open, row,
    },
};

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
