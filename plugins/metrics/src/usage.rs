//! Token counts as the server reports them, their totals, and how far they are from the counts made here.

use aiperf_sdk::{MetricKind, fields, metric::flags};

use crate::{definition::Definition, inputs::inputs, length::osl_of};

inputs! {
    /// Usage of one request, and the counts made here.
    Usages => Usage<'a> {
        prompt: u64 = fields::USAGE_PROMPT,
        cache_read: u64 = fields::USAGE_CACHE_READ,
        cache_write: u64 = fields::USAGE_CACHE_WRITE,
        cache_miss: u64 = fields::USAGE_CACHE_MISS,
        prompt_audio: u64 = fields::USAGE_PROMPT_AUDIO,
        tool_use_prompt: u64 = fields::USAGE_TOOL_USE_PROMPT,
        prompt_audio_seconds: f64 = fields::USAGE_PROMPT_AUDIO_SECONDS,
        completion: u64 = fields::USAGE_COMPLETION,
        reasoning: u64 = fields::USAGE_REASONING,
        completion_audio: u64 = fields::USAGE_COMPLETION_AUDIO,
        accepted_prediction: u64 = fields::USAGE_ACCEPTED_PREDICTION,
        rejected_prediction: u64 = fields::USAGE_REJECTED_PREDICTION,
        total: u64 = fields::USAGE_TOTAL,
        counted_input: u64 = fields::INPUT_TOKENS,
        counted_output: u64 = fields::OUTPUT_TOKENS,
        counted_reasoning: u64 = fields::REASONING_TOKENS,
    }
}

/// A difference of more than this many percent is a discrepancy.
const DISCREPANCY_PCT: f64 = 10.0;

fn difference_pct(reported: Option<u64>, counted: Option<u64>) -> Option<f64> {
    let (reported, counted) = (reported?, counted.filter(|&count| count > 0)?);
    Some(reported.abs_diff(counted) as f64 / counted as f64 * 100.0)
}

fn prompt_diff(usage: &Usage<'_>) -> Option<f64> {
    difference_pct(usage.prompt, usage.counted_input)
}

fn completion_diff(usage: &Usage<'_>) -> Option<f64> {
    difference_pct(usage.completion, osl_of(usage.counted_output, usage.counted_reasoning))
}

fn reasoning_diff(usage: &Usage<'_>) -> Option<f64> {
    difference_pct(usage.reasoning, usage.counted_reasoning)
}

fn discrepancy(usage: &Usage<'_>) -> Option<u64> {
    let worst = prompt_diff(usage)?
        .max(completion_diff(usage)?)
        .max(reasoning_diff(usage).unwrap_or(0.0));
    Some(u64::from(worst > DISCREPANCY_PCT))
}

/// A count per request and its total.
macro_rules! count {
    ($name:literal, $header:literal, $short:literal, $order:literal, $flags:expr, $field:ident) => {
        count!(
            $name,
            $header,
            $short,
            "tokens",
            $order,
            $flags,
            $field,
            integer,
            flags::INTEGER
        )
    };
    ($name:literal, $header:literal, $short:literal, $unit:literal, $order:literal, $flags:expr, $field:ident,
     $constructor:ident, $total_flags:expr) => {
        [
            Define::$constructor(
                concat!("usage_", $name),
                concat!("Usage ", $header),
                concat!("Usage ", $short),
                $unit,
                |usage| usage.$field,
            )
            .group("usage")
            .order($order)
            .flags($flags),
            Define::derived(
                concat!("total_usage_", $name),
                concat!("Total Usage ", $header),
                concat!("Total Usage ", $short),
                $unit,
                &[concat!("usage_", $name)],
                |totals| totals.sum(concat!("usage_", $name)),
            )
            .group("usage")
            .order($order + 1000)
            .flags($flags | $total_flags),
        ]
    };
}

type Define = Definition<Usages>;

/// Every metric of the family.
pub(crate) fn definitions() -> Vec<Define> {
    use flags::{
        AUDIO, LARGER_IS_BETTER as LARGER, NO_SERVER_COUNTS, NOT_PER_RECORD, PRODUCES_TOKENS as PRODUCES,
        TOKENIZES_INPUT,
    };
    let counts = [
        count!(
            "prompt_tokens",
            "Prompt Tokens",
            "Prompt",
            1000,
            TOKENIZES_INPUT | LARGER,
            prompt
        ),
        count!(
            "prompt_cache_read_tokens",
            "Prompt Cache Read Tokens",
            "Prompt Cache Read",
            1010,
            LARGER,
            cache_read
        ),
        count!(
            "prompt_cache_write_tokens",
            "Prompt Cache Write Tokens",
            "Prompt Cache Write",
            1015,
            0,
            cache_write
        ),
        count!(
            "prompt_cache_miss_tokens",
            "Prompt Cache Miss Tokens",
            "Prompt Cache Miss",
            1017,
            0,
            cache_miss
        ),
        count!(
            "prompt_audio_tokens",
            "Prompt Audio Tokens",
            "Prompt Audio",
            1020,
            AUDIO | LARGER,
            prompt_audio
        ),
        count!(
            "tool_use_prompt_tokens",
            "Tool Use Prompt Tokens",
            "Tool Prompt",
            1030,
            0,
            tool_use_prompt
        ),
        count!(
            "prompt_audio_seconds",
            "Prompt Audio Seconds",
            "Prompt Audio Sec",
            "sec",
            1040,
            AUDIO | LARGER,
            prompt_audio_seconds,
            real,
            0
        ),
        count!(
            "completion_tokens",
            "Completion Tokens",
            "Completion",
            1100,
            PRODUCES | LARGER,
            completion
        ),
        count!(
            "reasoning_tokens",
            "Reasoning Tokens",
            "Reasoning",
            1110,
            PRODUCES | LARGER,
            reasoning
        ),
        count!(
            "completion_audio_tokens",
            "Completion Audio Tokens",
            "Completion Audio",
            1120,
            PRODUCES | AUDIO | LARGER,
            completion_audio
        ),
        count!(
            "accepted_prediction_tokens",
            "Accepted Prediction Tokens",
            "Accepted Pred",
            1130,
            PRODUCES | LARGER,
            accepted_prediction
        ),
        count!(
            "rejected_prediction_tokens",
            "Rejected Prediction Tokens",
            "Rejected Pred",
            1140,
            PRODUCES,
            rejected_prediction
        ),
        count!("total_tokens", "Total Tokens", "Total", 1200, PRODUCES | LARGER, total),
    ];
    let difference = |tag, header, short_header, formula: fn(&Usage<'_>) -> Option<f64>| {
        Define::real(tag, header, short_header, "%", formula)
            .group("none")
            .flags(NO_SERVER_COUNTS)
    };
    let mut definitions: Vec<Define> = counts.into_iter().flatten().collect();
    definitions.extend([
        Define::derived(
            "overall_usage_prompt_cache_read_pct",
            "Overall Usage Prompt Cache Read %",
            "Overall Cache Read %",
            "%",
            &["usage_prompt_cache_read_tokens", "usage_prompt_tokens"],
            |totals| {
                let prompt = totals.sum("usage_prompt_tokens").filter(|&sum| sum > 0.0)?;
                Some(totals.sum("usage_prompt_cache_read_tokens")? / prompt * 100.0)
            },
        )
        .group("usage")
        .order(2012)
        .flags(LARGER)
        .requires(TOKENIZES_INPUT),
        difference(
            "usage_prompt_tokens_diff_pct",
            "Usage Prompt Diff %",
            "Prompt Diff",
            prompt_diff,
        )
        .flags(TOKENIZES_INPUT),
        difference(
            "usage_completion_tokens_diff_pct",
            "Usage Completion Diff %",
            "Completion Diff",
            completion_diff,
        )
        .flags(PRODUCES),
        difference(
            "usage_reasoning_tokens_diff_pct",
            "Usage Reasoning Diff %",
            "Reasoning Diff",
            reasoning_diff,
        )
        .flags(PRODUCES),
        Define::integer(
            "usage_discrepancy_count",
            "Usage Discrepancy Count",
            "Discrepancies",
            "requests",
            discrepancy,
        )
        .kind(MetricKind::Sum)
        .group("none")
        .flags(NOT_PER_RECORD | NO_SERVER_COUNTS),
    ]);
    definitions
}
