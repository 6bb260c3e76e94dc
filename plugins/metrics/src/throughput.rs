//! Rates of the whole system over the observation window, which is longer than the time that the records span.

use aiperf_sdk::metric::flags;

use crate::{
    definition::{Definition, Totals},
    inputs::Nothing,
};

const ISL: &str = "input_sequence_length";
const OSL: &str = "output_sequence_length";
const FROM: &str = "min_request_timestamp";
const TO: &str = "max_response_timestamp";

/// Every metric of the family.
pub(crate) fn definitions() -> Vec<Definition<Nothing>> {
    use flags::{LARGER_IS_BETTER, PRODUCES_TOKENS, TOKENIZES_INPUT};
    let rate = |tag, header, short_header, unit, needs, formula: fn(&Totals<'_>) -> Option<f64>| {
        Definition::<Nothing>::derived(tag, header, short_header, unit, needs, formula).flags(LARGER_IS_BETTER)
    };
    vec![
        rate(
            "request_throughput",
            "Request Throughput",
            "Req/sec",
            "requests/sec",
            &[FROM, TO],
            |totals| totals.per_second(totals.window.valid as f64),
        )
        .order(900),
        rate(
            "output_token_throughput",
            "Output Token Throughput",
            "Output TPS",
            "tokens/sec",
            &[OSL, FROM, TO],
            |totals| totals.per_second(totals.sum(OSL)?),
        )
        .order(800)
        .flags(PRODUCES_TOKENS),
        rate(
            "input_token_throughput",
            "Input Token Throughput",
            "Input TPS",
            "tokens/sec",
            &[ISL, FROM, TO],
            |totals| totals.per_second(totals.sum(ISL)?),
        )
        .order(805)
        .requires(TOKENIZES_INPUT),
        rate(
            "total_token_throughput",
            "Total Token Throughput",
            "Total TPS",
            "tokens/sec",
            &[ISL, OSL, FROM, TO],
            |totals| totals.per_second(totals.sum(ISL)? + totals.sum(OSL)?),
        )
        .group("none")
        .flags(PRODUCES_TOKENS)
        .requires(TOKENIZES_INPUT),
    ]
}
