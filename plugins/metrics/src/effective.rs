//! What every request contributes to the curves of a run: how many requests were being served, how fast tokens went in and
//! came out, how many were held, each at every moment. The core adds the contributions up, composes further curves of
//! them, and weights their statistics by time.
//!
//! With `s` the start of a request, `g` its first token and `e` its end, all on the wall clock, prefill is `s` to `g` and
//! decode `g` to `e`. Without streaming there is no `g`, and curves that need it stay 0. A failed request has no first token
//! and no lengths: it counts as a request, and nowhere else.

use aiperf_sdk::{
    fields,
    metric::{
        Population,
        flags::{INTERNAL, LARGER_IS_BETTER},
    },
};

use crate::{
    definition::{Definition, Interval, Steps},
    inputs::inputs,
    latency::chunk_gaps,
    length::osl_of,
};

inputs! {
    /// Times and lengths of one request.
    Service => Served<'a> {
        start: u64 = fields::START,
        start_wall: u64 = fields::START_WALL,
        end: u64 = fields::END,
        content: &'a [u64] = fields::CONTENT,
        input: u64 = fields::INPUT_TOKENS,
        output: u64 = fields::OUTPUT_TOKENS,
        reasoning: u64 = fields::REASONING_TOKENS,
    }
}

impl Served<'_> {
    /// An instant of the request on the wall clock.
    fn wall(&self, at: u64) -> Option<u64> {
        self.start_wall?.checked_add(at.checked_sub(self.start?)?)
    }

    /// `e`.
    fn end(&self) -> Option<u64> {
        self.wall(self.end?)
    }

    /// `g`, where the run tells it from the end.
    fn first_token(&self) -> Option<u64> {
        let streams = self.options.streaming && self.options.produces_tokens;
        self.wall(*self.content.filter(|_| streams)?.first()?)
    }

    /// Output tokens, if there are any.
    fn tokens(&self) -> Option<u64> {
        osl_of(self.output, self.reasoning).filter(|&tokens| tokens > 0)
    }

    /// Tokens after the first one, if there are any.
    fn decoded(&self) -> Option<f64> {
        self.tokens()
            .filter(|&tokens| tokens > 1)
            .map(|tokens| (tokens - 1) as f64)
    }

    fn is_chunked(&self) -> bool {
        self.content.is_some_and(|content| chunk_gaps(content).is_some())
    }

    fn whole(&self, weight: f64) -> Option<Interval> {
        Interval::new(self.start_wall?, self.end()?, weight)
    }

    fn prefill(&self, weight: f64) -> Option<Interval> {
        Interval::new(self.start_wall?, self.first_token()?, weight)
    }

    fn decode(&self, weight: f64) -> Option<Interval> {
        Interval::new(self.first_token()?, self.end()?, weight)
    }
}

/// Each gap between chunks brings the same number of tokens; gaps without length can't, for they have no rate. A response
/// of one chunk has its tokens spread from `g` to `e`.
fn decode_throughput(one: &Served<'_>, gaps: &mut Vec<u64>) -> Option<Steps> {
    let (first, decoded) = (one.first_token()?, one.decoded()?);
    match one.content.and_then(chunk_gaps) {
        Some(chunks) => gaps.extend(chunks),
        None => gaps.push(one.end()?.checked_sub(first)?),
    }
    let carrying = gaps.iter().filter(|&&gap| gap > 0).count();
    (carrying > 0).then(|| Steps {
        from: first,
        weight: decoded / carrying as f64,
    })
}

/// Each chunk after the first one brings the same number of tokens.
fn chunk_tokens(one: &Served<'_>, gaps: &mut Vec<u64>) -> Option<Steps> {
    let (first, decoded) = (one.first_token()?, one.decoded()?);
    gaps.extend(one.content.and_then(chunk_gaps)?);
    Some(Steps {
        from: first,
        weight: decoded / gaps.len() as f64,
    })
}

/// Every metric of the family. Rates are per ns, as curves want them.
pub(crate) fn definitions() -> Vec<Definition<Service>> {
    type Define = Definition<Service>;
    let part = |define: Define| define.group("none").flags(INTERNAL);
    let shown = |define: Define| define.group("effective");
    vec![
        shown(Define::interval(
            "effective_concurrency",
            "Effective Concurrency",
            "requests",
            |one| one.whole(1.0),
        ))
        .population(Population::All),
        shown(Define::steps(
            "effective_decode_throughput",
            "Effective Decode Throughput",
            "tokens/sec",
            decode_throughput,
        ))
        .flags(LARGER_IS_BETTER),
        shown(Define::interval(
            "effective_prefill_throughput",
            "Effective Prefill Throughput",
            "tokens/sec",
            |one| one.prefill(one.input? as f64)?.rate(),
        ))
        .flags(LARGER_IS_BETTER),
        shown(Define::interval(
            "effective_decode_concurrency",
            "Effective Decode Concurrency",
            "requests",
            |one| one.decode(1.0),
        )),
        shown(Define::interval(
            "effective_prefill_concurrency",
            "Effective Prefill Concurrency",
            "requests",
            |one| one.prefill(1.0),
        )),
        part(Define::interval(
            "request_decode_throughput",
            "Request Decode Throughput",
            "tokens/sec",
            |one| one.decode(one.decoded()?)?.rate(),
        )),
        part(Define::interval(
            "prompt_tokens_in_flight",
            "Prompt Tokens In Flight",
            "tokens",
            |one| {
                one.prefill(0.0)?;
                one.whole(one.input? as f64)
            },
        )),
        part(Define::interval(
            "first_tokens_in_flight",
            "First Tokens In Flight",
            "tokens",
            |one| {
                let tokens = one.tokens()?;
                one.decode(if one.is_chunked() { 1.0 } else { tokens as f64 })
            },
        )),
        part(Define::steps("chunk_tokens", "Chunk Tokens", "tokens", chunk_tokens)),
    ]
}
