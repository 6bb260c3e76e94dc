//! Lengths in tokens, and their mismatches.

use super::{STREAMING, one, streamed, with};
use crate::testing::{
    Cell::{Int, Real},
    compute, open_with, row,
};

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
