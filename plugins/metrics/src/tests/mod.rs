//! Records worked out by hand, over all families.

mod catalogue;
mod curves;
mod goodput;
mod latency;
mod lengths;
mod properties;
mod totals;
mod usage_and_http;

use crate::testing::{
    Cell::{Int, List},
    Row, compute, open, row,
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
