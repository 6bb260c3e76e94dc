//! What the server counted, and the stages of HTTP.

use super::{one, streamed, with};
use crate::testing::{
    Cell::{Int, Real},
    derive, open, row, total,
};

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
