//! Any records.

use proptest::prelude::*;

use super::{STREAMING, one, with};
use crate::testing::{
    Cell::{Int, List, Text},
    Row, compute, open, row,
};

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
