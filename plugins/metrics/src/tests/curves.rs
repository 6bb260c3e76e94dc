//! What records contribute to curves over time.

use super::{STREAMING, WHOLE, one, streamed, with};
use crate::testing::{
    Cell::{Int, List},
    Row, row,
};

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
