//! Latencies of a request and the speeds that one user sees.

use std::sync::{
    Arc,
    atomic::{AtomicBool, Ordering},
};

use aiperf_sdk::{
    Batch, Column, Host, Metric, MetricFamily, Result, fields,
    host::LogLevel,
    metric::{Window, flags},
};

use crate::{definition::Definition, family::Family, inputs::inputs, length::osl_of, options::Options};

/// Nanoseconds to seconds. Multiplied, not divided by 1e9, to match the original to the last bit.
const SECONDS: f64 = 1e-9;

inputs! {
    /// Times and lengths of one request.
    Times => Request<'a> {
        start: u64 = fields::START,
        ack: u64 = fields::ACK,
        credit_received: u64 = fields::CREDIT_RECEIVED,
        turn: u64 = fields::TURN_INDEX,
        content: &'a [u64] = fields::CONTENT,
        first_output: u64 = fields::FIRST_OUTPUT,
        input: u64 = fields::INPUT_TOKENS,
        output: u64 = fields::OUTPUT_TOKENS,
        reasoning: u64 = fields::REASONING_TOKENS,
        first_chunk: u64 = fields::FIRST_CHUNK_TOKENS,
    }
}

fn ttft(request: &Request<'_>) -> Option<u64> {
    request.content?.first()?.checked_sub(request.start?)
}

fn ttst(request: &Request<'_>) -> Option<u64> {
    let [first, second, ..] = request.content? else {
        return None;
    };
    second.checked_sub(*first)
}

fn ttfo(request: &Request<'_>) -> Option<u64> {
    request.first_output?.checked_sub(request.start?)
}

fn request_latency(request: &Request<'_>) -> Option<u64> {
    request.content?.last()?.checked_sub(request.start?)
}

fn decode_duration(request: &Request<'_>) -> Option<u64> {
    request_latency(request)?.checked_sub(ttft(request)?)
}

/// Tokens that arrived after the first content response, for an OSL of at least 2. The server may say how many the first one
/// held; where it does not, or says something impossible, it held one.
fn decoded_tokens(request: &Request<'_>) -> Option<u64> {
    let osl = osl_of(request.output, request.reasoning).filter(|&osl| osl >= 2)?;
    let first = request
        .first_chunk
        .filter(|&first| first > 0 && first < osl)
        .unwrap_or(1);
    Some(osl - first)
}

fn first_chunk_contradicts(request: &Request<'_>) -> bool {
    let osl = osl_of(request.output, request.reasoning).filter(|&osl| osl >= 2);
    osl.zip(request.first_chunk)
        .is_some_and(|(osl, first)| first == 0 || first >= osl)
}

fn itl(request: &Request<'_>) -> Option<f64> {
    Some(decode_duration(request)? as f64 / decoded_tokens(request)? as f64)
}

/// Times between the content responses of a request; `None` if there are less than two, or they are not in order.
pub(crate) fn chunk_gaps(content: &[u64]) -> Option<impl Iterator<Item = u64>> {
    let usable = content.len() >= 2 && content.is_sorted();
    usable.then(|| content.windows(2).map(|pair| pair[1] - pair[0]))
}

fn icl(request: &Request<'_>, gaps: &mut Vec<u64>) -> bool {
    let chunks = request.content.and_then(chunk_gaps);
    let has = chunks.is_some();
    gaps.extend(chunks.into_iter().flatten());
    has
}

fn per_second(amount: f64, ns: f64) -> Option<f64> {
    (ns > 0.0).then(|| amount / (ns * SECONDS))
}

fn output_tps_per_user(request: &Request<'_>) -> Option<f64> {
    per_second(1.0, itl(request)?)
}

fn e2e_output_tps(request: &Request<'_>) -> Option<f64> {
    let osl = osl_of(request.output, request.reasoning)?;
    per_second(osl as f64, request_latency(request)? as f64)
}

fn prefill_tps_per_user(request: &Request<'_>) -> Option<f64> {
    per_second(request.input? as f64, ttft(request)? as f64)
}

fn stream_setup(request: &Request<'_>) -> Option<u64> {
    request.ack?.checked_sub(request.start?)
}

fn stream_prefill(request: &Request<'_>) -> Option<u64> {
    ttft(request)?.checked_sub(stream_setup(request)?)
}

fn credit_drop(request: &Request<'_>) -> Option<u64> {
    if request.turn? != 0 {
        return None;
    }
    request
        .start?
        .checked_sub(request.credit_received?)
        .filter(|&ns| ns > 0)
}

/// Every metric of the family.
pub(crate) fn definitions() -> Vec<Definition<Times>> {
    use flags::{
        ERROR_ADJUSTED, EXPERIMENTAL, INTERNAL, LARGER_IS_BETTER, PRODUCES_TOKENS, STREAMING, TOKENIZES_INPUT,
    };
    type Define = Definition<Times>;
    let speed = |tag, header, short_header, formula: fn(&Request<'_>) -> Option<f64>| {
        Define::real(tag, header, short_header, "tokens/sec/user", formula).flags(LARGER_IS_BETTER)
    };
    let tokens = STREAMING | PRODUCES_TOKENS;
    vec![
        Define::time("time_to_first_token", "Time to First Token", "TTFT", ttft)
            .order(100)
            .flags(tokens | ERROR_ADJUSTED),
        Define::time("time_to_second_token", "Time to Second Token", "TTST", ttst)
            .order(200)
            .flags(tokens),
        Define::time("time_to_first_output_token", "Time to First Output Token", "TTFO", ttfo)
            .order(210)
            .flags(tokens),
        Define::time("request_latency", "Request Latency", "Req Latency", request_latency)
            .order(300)
            .flags(ERROR_ADJUSTED),
        Define::time("decode_duration", "Decode Duration", "Decode Duration", decode_duration)
            .order(350)
            .flags(tokens | ERROR_ADJUSTED),
        Define::real("inter_token_latency", "Inter Token Latency", "ITL", "ns", itl)
            .shown_in("ms")
            .order(400)
            .flags(tokens | ERROR_ADJUSTED),
        Define::integers("inter_chunk_latency", "Inter Chunk Latency", "ICL", "ns", icl)
            .shown_in("ms")
            .group("none")
            .flags(tokens),
        speed(
            "output_token_throughput_per_user",
            "Output Token Throughput Per User",
            "Output TPS/User",
            output_tps_per_user,
        )
        .order(500)
        .flags(tokens),
        speed(
            "e2e_output_token_throughput",
            "E2E Output Token Throughput",
            "E2E Output TPS/User",
            e2e_output_tps,
        )
        .order(510)
        .flags(PRODUCES_TOKENS),
        speed(
            "prefill_throughput_per_user",
            "Prefill Throughput Per User",
            "Prefill TPS/User",
            prefill_tps_per_user,
        )
        .group("none")
        .flags(tokens | TOKENIZES_INPUT),
        Define::time("stream_setup_latency", "Stream Setup Latency", "", stream_setup).flags(STREAMING | EXPERIMENTAL),
        Define::time("stream_prefill_latency", "Stream Prefill Latency", "", stream_prefill)
            .flags(tokens | EXPERIMENTAL),
        Define::time(
            "credit_drop_latency",
            "Credit Drop Latency",
            "Credit Latency",
            credit_drop,
        )
        .group("none")
        .flags(INTERNAL),
    ]
}

/// The family, and the one warning that it may have to give.
pub(crate) struct Latency {
    family: Family<Times>,
    options: Options,
    host: Arc<dyn Host>,
    warned: AtomicBool,
}

impl Latency {
    pub(crate) fn new(options: Options, host: Arc<dyn Host>) -> Self {
        Self {
            family: Family::new(options.clone(), definitions()),
            options,
            host,
            warned: AtomicBool::new(false),
        }
    }

    fn warn_of_contradiction(&self, batch: &Batch<'_>) {
        use crate::inputs::Inputs;
        let contradiction = (0..batch.len)
            .map(|i| Times::read(batch, 1, i, &self.options))
            .find(first_chunk_contradicts);
        if let Some(request) = contradiction
            && !self.warned.swap(true, Ordering::Relaxed)
        {
            self.host.log(
                LogLevel::Warning,
                &format!(
                    "inter token latency: the server reports {} tokens in the first chunk of a response of {} tokens; \
                     such responses count as if it held one token",
                    request.first_chunk.unwrap_or(0),
                    osl_of(request.output, request.reasoning).unwrap_or(0),
                ),
            );
        }
    }
}

impl Metric for Latency {
    fn describe(&self) -> Result<MetricFamily> {
        self.family.describe()
    }

    fn record(&self, batch: &Batch<'_>) -> Result<Vec<Column>> {
        if self.options.streaming && !self.warned.load(Ordering::Relaxed) {
            self.warn_of_contradiction(batch);
        }
        self.family.record(batch)
    }

    fn derive(&self, window: &Window) -> Result<Vec<Option<f64>>> {
        self.family.derive(window)
    }
}
