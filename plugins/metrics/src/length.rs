//! Token lengths of requests, their totals, and how far outputs missed the length that was asked for.

use aiperf_sdk::{
    MetricKind, fields,
    metric::{Population, flags},
};

use crate::{
    definition::{Definition, Totals},
    inputs::inputs,
};

inputs! {
    /// Token counts of one request.
    Lengths => Tokens<'a> {
        input: u64 = fields::INPUT_TOKENS,
        output: u64 = fields::OUTPUT_TOKENS,
        reasoning: u64 = fields::REASONING_TOKENS,
        requested: u64 = fields::REQUESTED_OUTPUT_TOKENS,
    }
}

/// Output sequence length: output and reasoning together; missing only if both are.
pub(crate) fn osl_of(output: Option<u64>, reasoning: Option<u64>) -> Option<u64> {
    if output.is_none() && reasoning.is_none() {
        return None;
    }
    output.unwrap_or(0).checked_add(reasoning.unwrap_or(0))
}

fn osl(tokens: &Tokens<'_>) -> Option<u64> {
    osl_of(tokens.output, tokens.reasoning)
}

/// A count of 0 is no value here: the response held no output text.
fn output_tokens(tokens: &Tokens<'_>) -> Option<u64> {
    tokens.output.filter(|&count| count > 0)
}

/// Requested and actual output length; missing where none, or 0, was asked for.
fn lengths(tokens: &Tokens<'_>) -> Option<(f64, f64)> {
    let requested = tokens.requested.filter(|&count| count > 0)?;
    Some((requested as f64, osl(tokens)? as f64))
}

fn mismatch_pct(tokens: &Tokens<'_>) -> Option<f64> {
    let (requested, actual) = lengths(tokens)?;
    Some((actual - requested) / requested * 100.0)
}

fn mismatches(tokens: &Tokens<'_>) -> Option<u64> {
    let (requested, actual) = lengths(tokens)?;
    let limits = tokens.options.osl_mismatch;
    let allowed = (requested * (limits.pct / 100.0)).min(limits.max_tokens);
    Some(u64::from((actual - requested).abs() > allowed))
}

fn thinking_efficiency(tokens: &Tokens<'_>) -> Option<f64> {
    Some(tokens.reasoning? as f64 / output_tokens(tokens)? as f64)
}

/// Every metric of the family.
pub(crate) fn definitions() -> Vec<Definition<Lengths>> {
    use flags::{
        ERROR_ONLY, EXPERIMENTAL, INTEGER, INTERNAL, LARGER_IS_BETTER, NO_ACCURACY, NOT_PER_RECORD, PRODUCES_TOKENS,
        TOKENIZES_INPUT,
    };
    type Define = Definition<Lengths>;
    let length = |tag, header, short_header, formula: fn(&Tokens<'_>) -> Option<u64>| {
        Define::integer(tag, header, short_header, "tokens", formula)
    };
    let total = |tag, header, short_header, needs, formula: fn(&Totals<'_>) -> Option<f64>| {
        Define::derived(tag, header, short_header, "tokens", needs, formula)
            .group("none")
            .flags(INTEGER | LARGER_IS_BETTER)
    };
    vec![
        length("output_sequence_length", "Output Sequence Length", "OSL", osl)
            .order(600)
            .flags(PRODUCES_TOKENS | LARGER_IS_BETTER),
        length("input_sequence_length", "Input Sequence Length", "ISL", |tokens| {
            tokens.input
        })
        .order(700)
        .flags(TOKENIZES_INPUT | LARGER_IS_BETTER),
        length(
            "output_token_count",
            "Output Token Count",
            "Output Tokens",
            output_tokens,
        )
        .group("none")
        .flags(PRODUCES_TOKENS | LARGER_IS_BETTER),
        length(
            "reasoning_token_count",
            "Reasoning Token Count",
            "Reasoning Tokens",
            |tokens| tokens.reasoning,
        )
        .group("none")
        .flags(PRODUCES_TOKENS | LARGER_IS_BETTER),
        length("error_isl", "Error Input Sequence Length", "Error ISL", |tokens| {
            tokens.input
        })
        .population(Population::Errors)
        .group("none")
        .order(700)
        .flags(TOKENIZES_INPUT | ERROR_ONLY | LARGER_IS_BETTER),
        length("requested_osl", "Requested OSL", "Req OSL", |tokens| tokens.requested)
            .group("none")
            .flags(PRODUCES_TOKENS | INTERNAL),
        Define::real(
            "osl_mismatch_diff_pct",
            "OSL Mismatch Diff %",
            "OSL Diff",
            "%",
            mismatch_pct,
        )
        .group("none")
        .flags(PRODUCES_TOKENS | NO_ACCURACY),
        Define::integer(
            "osl_mismatch_count",
            "OSL Mismatch Count",
            "OSL Mismatches",
            "requests",
            mismatches,
        )
        .kind(MetricKind::Sum)
        .group("none")
        .flags(PRODUCES_TOKENS | NOT_PER_RECORD | NO_ACCURACY),
        Define::real(
            "thinking_efficiency",
            "Thinking Efficiency",
            "",
            "ratio",
            thinking_efficiency,
        )
        .flags(PRODUCES_TOKENS | EXPERIMENTAL),
        total(
            "total_isl",
            "Total Input Sequence Length",
            "Total ISL",
            &["input_sequence_length"],
            |totals| totals.sum("input_sequence_length"),
        )
        .flags(TOKENIZES_INPUT),
        total(
            "total_osl",
            "Total Output Sequence Length",
            "Total OSL",
            &["output_sequence_length"],
            |totals| totals.sum("output_sequence_length"),
        )
        .flags(PRODUCES_TOKENS),
        total(
            "total_output_tokens",
            "Total Output Tokens",
            "Total Output",
            &["output_token_count"],
            |totals| totals.sum("output_token_count"),
        )
        .flags(PRODUCES_TOKENS),
        total(
            "total_reasoning_tokens",
            "Total Reasoning Tokens",
            "Total Reasoning",
            &["reasoning_token_count"],
            |totals| totals.sum("reasoning_token_count"),
        )
        .flags(PRODUCES_TOKENS),
        total(
            "total_error_isl",
            "Total Error Input Sequence Length",
            "Total Error ISL",
            &["error_isl"],
            |totals| totals.sum("error_isl"),
        )
        .flags(TOKENIZES_INPUT | ERROR_ONLY),
        Define::derived(
            "overall_thinking_efficiency",
            "Overall Thinking Efficiency",
            "Overall Eff.",
            "ratio",
            &["reasoning_token_count", "output_token_count"],
            |totals| {
                let output = totals.sum("output_token_count").filter(|&sum| sum > 0.0)?;
                Some(totals.sum("reasoning_token_count")? / output)
            },
        )
        .flags(PRODUCES_TOKENS | EXPERIMENTAL),
    ]
}
