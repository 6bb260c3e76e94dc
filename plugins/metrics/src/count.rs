//! How many requests ended how, and over which time.

use aiperf_sdk::{
    MetricKind, fields,
    metric::{Population, flags},
};

use crate::{
    definition::{Definition, Totals},
    inputs::inputs,
};

inputs! {
    /// End of one request.
    Ends => Ended<'a> {
        start: u64 = fields::START,
        start_wall: u64 = fields::START_WALL,
        content: &'a [u64] = fields::CONTENT,
        message: &'a str = fields::ERROR_MESSAGE,
    }
}

/// Pieces of messages by which servers say that a prompt does not fit the model.
const CONTEXT_OVERFLOW: [&str; 4] = [
    "context length",
    "maximum context",
    "context_length_exceeded",
    "prompt is too long",
];

fn overflowed(ended: &Ended<'_>) -> Option<u64> {
    let message = ended.message.unwrap_or_default().to_ascii_lowercase();
    Some(u64::from(CONTEXT_OVERFLOW.iter().any(|piece| message.contains(piece))))
}

fn response_wall(ended: &Ended<'_>) -> Option<u64> {
    let latency = ended.content?.last()?.checked_sub(ended.start?)?;
    ended.start_wall?.checked_add(latency)
}

fn completed(totals: &Totals<'_>) -> Option<f64> {
    let completed = totals.window.valid + totals.window.errors;
    (completed > 0).then_some(completed as f64)
}

/// Every metric of the family.
pub(crate) fn definitions() -> Vec<Definition<Ends>> {
    use flags::{ERROR_ONLY, INTEGER, INTERNAL, LARGER_IS_BETTER, NOT_PER_RECORD};
    type Define = Definition<Ends>;
    let count = |tag, header, short_header, formula: fn(&Ended<'_>) -> Option<u64>| {
        Define::integer(tag, header, short_header, "requests", formula)
            .kind(MetricKind::Sum)
            .flags(NOT_PER_RECORD)
    };
    let timestamp = |tag, header, short_header, formula: fn(&Ended<'_>) -> Option<u64>| {
        Define::integer(tag, header, short_header, "ns", formula)
            .group("none")
            .flags(NOT_PER_RECORD | INTERNAL)
    };
    vec![
        count("request_count", "Request Count", "Requests", |_| Some(1))
            .order(1100)
            .flags(LARGER_IS_BETTER),
        count("error_request_count", "Error Request Count", "Error Count", |_| Some(1))
            .population(Population::Errors)
            .flags(ERROR_ONLY),
        count(
            "context_overflow_count",
            "Context Overflow Count",
            "Ctx Overflow",
            overflowed,
        )
        .population(Population::Errors)
        .flags(ERROR_ONLY),
        timestamp(
            "min_request_timestamp",
            "Minimum Request Timestamp",
            "Min Req",
            |ended| ended.start_wall,
        )
        .kind(MetricKind::Min),
        timestamp(
            "max_response_timestamp",
            "Maximum Response Timestamp",
            "Max Resp",
            response_wall,
        )
        .kind(MetricKind::Max),
        Define::derived(
            "completed_request_count",
            "Completed Requests (Success + Error)",
            "Completed",
            "requests",
            &[],
            completed,
        )
        .order(1075)
        .flags(NOT_PER_RECORD | INTEGER),
        Define::derived(
            "request_error_rate",
            "Request Error Rate",
            "Err %",
            "%",
            &[],
            |totals| Some(100.0 * totals.window.errors as f64 / completed(totals)?),
        )
        .order(1080)
        .flags(NOT_PER_RECORD),
        Define::derived(
            "benchmark_duration",
            "Benchmark Duration",
            "Duration",
            "ns",
            &["min_request_timestamp", "max_response_timestamp"],
            |totals| totals.records_span_ns(),
        )
        .shown_in("sec")
        .group("none")
        .flags(INTEGER),
    ]
}
