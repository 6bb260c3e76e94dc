//! GPU power efficiency: power and energy of the GPUs of a vendor, and what was served for them.
//!
//! With `P` the sum over GPUs of mean power in W, `E` the sum of the energy they took in J and `d` the length of the window in
//! s: energy comes from counters where a GPU has one, else it is `P · d`; average power is `E / d`, else `P`.

use aiperf_sdk::{
    Batch, Column, Metric, MetricFamily, MetricKind, MetricSpec, PluginError, Result,
    metric::{Window, flags},
};
use serde::Deserialize;

use crate::options::Options;

/// Prefix of tags, group, and the order of the first metric.
const VENDORS: [(&str, &str, i32); 2] = [
    ("nvidia", "gpu_power_efficiency_nvidia", 700),
    ("amd", "gpu_power_efficiency_amd", 800),
];

/// What is derived from, with the flags without which it does not exist.
const NEEDS: [(&str, u64); 7] = [
    (OUTPUT_TOKENS, TOKENS),
    (INPUT_TOKENS, flags::TOKENIZES_INPUT),
    (REQUESTS, 0),
    (REQUEST_LATENCY, 0),
    (REQUEST_THROUGHPUT, 0),
    (OUTPUT_TOKEN_THROUGHPUT, TOKENS),
    (GOODPUT, flags::GOODPUT),
];
const OUTPUT_TOKENS: &str = "total_osl";
const INPUT_TOKENS: &str = "total_isl";
const REQUESTS: &str = "request_count";
const REQUEST_LATENCY: &str = "request_latency";
const REQUEST_THROUGHPUT: &str = "request_throughput";
const OUTPUT_TOKEN_THROUGHPUT: &str = "output_token_throughput";
const GOODPUT: &str = "goodput";

/// A metric: tag without its vendor, header, unit, order behind the vendor's first, flags, formula.
type Row = (
    &'static str,
    &'static str,
    &'static str,
    i32,
    u64,
    fn(&Inputs) -> Option<f64>,
);

const LARGER: u64 = flags::LARGER_IS_BETTER;
const TOKENS: u64 = flags::PRODUCES_TOKENS;

const ROWS: [Row; 12] = [
    ("energy_delay_product", "Energy Delay Product", "J*s", 0, 0, |it| {
        // The mean latency is in ns.
        Some(it.energy_per_request()? * it.request_latency_ns? * 1e-9)
    }),
    (
        "performance_per_watt",
        "Performance per Watt",
        "requests/sec/W",
        10,
        LARGER,
        |it| Some(it.request_throughput? / it.average_w?),
    ),
    (
        "output_tps_per_watt",
        "Output Tokens per Second per Watt",
        "tokens/sec/W",
        12,
        LARGER | TOKENS,
        |it| Some(it.output_token_throughput? / it.average_w?),
    ),
    (
        "goodput_per_watt",
        "Goodput per Watt",
        "good-req/s/W",
        14,
        LARGER,
        |it| Some(it.goodput? / it.average_w?),
    ),
    ("average_gpu_power", "Average GPU Power", "W", 20, 0, |it| it.average_w),
    ("total_gpu_energy", "Total GPU Energy", "J", 30, 0, |it| it.energy_j),
    ("total_gpu_power", "Total GPU Power", "W", 40, 0, |it| it.power_w),
    (
        "energy_per_total_token",
        "Energy per Total Token",
        "mJ/token",
        45,
        0,
        |it| {
            let tokens = it.input_tokens.unwrap_or(0.0) + it.output_tokens.unwrap_or(0.0);
            Some(it.energy_j? * 1e3 / positive(tokens)?)
        },
    ),
    (
        "energy_per_output_token",
        "Energy per Output Token",
        "mJ/token",
        50,
        TOKENS,
        |it| Some(it.energy_j? * 1e3 / positive(it.output_tokens?)?),
    ),
    (
        "energy_per_request",
        "Energy per Request",
        "joules/request",
        55,
        0,
        Inputs::energy_per_request,
    ),
    (
        "output_tokens_per_joule",
        "Output Tokens per Joule",
        "tokens/J",
        60,
        LARGER | TOKENS,
        |it| Some(positive(it.output_tokens?)? / it.energy_j?),
    ),
    ("energy_per_user", "Energy per User", "joules/user", 65, 0, |it| {
        Some(it.energy_j? / positive(it.concurrency?)?)
    }),
];

fn positive(value: f64) -> Option<f64> {
    (value > 0.0).then_some(value)
}

/// The family, of the metrics that apply to the run.
pub(crate) struct GpuPowerEfficiency {
    rows: Vec<&'static Row>,
    needs: Vec<&'static str>,
}

impl GpuPowerEfficiency {
    pub(crate) fn new(options: &Options) -> Self {
        let applies = |flags: u64| options.lacks(flags).is_none();
        let needs = NEEDS.into_iter().filter(|(_, flags)| applies(*flags));
        Self {
            rows: ROWS.iter().filter(|row| applies(row.4)).collect(),
            needs: needs.map(|(tag, _)| tag).collect(),
        }
    }
}

/// Every metric of the family.
pub(crate) fn specs() -> Vec<MetricSpec> {
    VENDORS
        .into_iter()
        .flat_map(|vendor| ROWS.iter().map(move |row| spec(vendor, row)))
        .collect()
}

fn spec((vendor, group, first): (&str, &str, i32), &(tag, header, unit, order, flags, _): &Row) -> MetricSpec {
    MetricSpec {
        group: group.to_owned(),
        order: Some(first + order),
        flags,
        ..MetricSpec::new(format!("{vendor}_{tag}"), header, unit, MetricKind::Derived)
    }
}

impl Metric for GpuPowerEfficiency {
    fn describe(&self) -> Result<MetricFamily> {
        let metrics = VENDORS
            .into_iter()
            .flat_map(|vendor| self.rows.iter().map(move |row| spec(vendor, row)))
            .collect();
        Ok(MetricFamily {
            needs: Vec::new(),
            derive_needs: self.needs.iter().map(|&tag| tag.to_owned()).collect(),
            metrics,
        })
    }

    fn record(&self, _: &Batch<'_>) -> Result<Vec<Column>> {
        Ok(Vec::new())
    }

    fn derive(&self, window: &Window) -> Result<Vec<Option<f64>>> {
        let facts = Facts::of(window)?;
        let mut values = Vec::with_capacity(VENDORS.len() * self.rows.len());
        for vendor in [facts.gpu.nvidia, facts.gpu.amd] {
            let inputs = vendor.map(|vendor| Inputs::new(&vendor, facts.concurrency, window, &self.needs));
            let value = |row: &&Row| inputs.as_ref().and_then(row.5).filter(|value| value.is_finite());
            values.extend(self.rows.iter().map(value));
        }
        Ok(values)
    }
}

/// Those of the core's facts that count here.
#[derive(Debug, Default, Deserialize)]
#[serde(default)]
struct Facts {
    concurrency: Option<f64>,
    gpu: Gpu,
}

#[derive(Debug, Default, Deserialize)]
#[serde(default)]
struct Gpu {
    nvidia: Option<Vendor>,
    amd: Option<Vendor>,
}

#[derive(Debug, Default, Deserialize)]
#[serde(default)]
struct Vendor {
    power_w: Option<f64>,
    energy_j: Option<f64>,
    span_s: Option<f64>,
}

impl Facts {
    fn of(window: &Window) -> Result<Self> {
        if window.facts.is_empty() {
            return Ok(Self::default());
        }
        serde_json::from_str(&window.facts)
            .map_err(|error| PluginError::input(format!("the facts of the window: {error}")))
    }
}

/// What the formulas see. Energy and average power are positive where they exist.
#[derive(Debug, Default, Clone, Copy)]
struct Inputs {
    power_w: Option<f64>,
    energy_j: Option<f64>,
    average_w: Option<f64>,
    concurrency: Option<f64>,
    output_tokens: Option<f64>,
    input_tokens: Option<f64>,
    requests: Option<f64>,
    request_latency_ns: Option<f64>,
    request_throughput: Option<f64>,
    output_token_throughput: Option<f64>,
    goodput: Option<f64>,
}

impl Inputs {
    fn new(vendor: &Vendor, concurrency: Option<f64>, window: &Window, needs: &[&str]) -> Self {
        let total = |tag: &str| {
            let index = needs.iter().position(|need| *need == tag)?;
            window.totals.get(index)?.value
        };
        let window_s = window.duration_ns.filter(|&ns| ns > 0).map(|ns| ns as f64 * 1e-9);
        let seconds = window_s.or(vendor.span_s).and_then(positive);
        let counted = vendor.energy_j.and_then(positive);
        let drawn = vendor.power_w.and_then(positive);
        let (energy_j, average_w) = match (counted, drawn, seconds) {
            (Some(energy), _, Some(seconds)) => (Some(energy), Some(energy / seconds)),
            (Some(energy), _, None) => (Some(energy), None),
            (None, Some(power), Some(seconds)) => (Some(power * seconds), Some(power)),
            (None, ..) => (None, None),
        };
        Self {
            power_w: vendor.power_w,
            energy_j,
            average_w,
            concurrency,
            output_tokens: total(OUTPUT_TOKENS),
            input_tokens: total(INPUT_TOKENS),
            requests: total(REQUESTS),
            request_latency_ns: total(REQUEST_LATENCY),
            request_throughput: total(REQUEST_THROUGHPUT),
            output_token_throughput: total(OUTPUT_TOKEN_THROUGHPUT),
            goodput: total(GOODPUT),
        }
    }

    fn energy_per_request(&self) -> Option<f64> {
        Some(self.energy_j? / positive(self.requests?)?)
    }
}

#[cfg(test)]
mod tests {
    use aiperf_sdk::metric::Total;

    use super::*;
    use crate::testing::open;

    const SLOS: &str = r#"{"slos": {"request_latency": 100}}"#;

    /// Values by tag, of totals in the order of [`NEEDS`].
    fn derived(facts: &str, totals: [Option<f64>; 7], duration_ns: Option<u64>) -> Vec<(String, f64)> {
        let family = open("gpu_power_efficiency", SLOS).unwrap();
        let total = |value| Total {
            value,
            ..Total::default()
        };
        let window = Window {
            start_ns: 0,
            end_ns: 0,
            duration_ns,
            valid: 1,
            errors: 0,
            totals: totals.map(total).to_vec(),
            facts: facts.to_owned(),
        };
        let values = family.derive(&window).unwrap();
        let metrics = family.describe().unwrap().metrics;
        assert_eq!(values.len(), metrics.len());
        let tagged = metrics.into_iter().zip(values);
        tagged.filter_map(|(spec, value)| Some((spec.tag, value?))).collect()
    }

    #[track_caller]
    fn check(found: &[(String, f64)], expected: &[(&str, f64)]) {
        let tags: Vec<&str> = found.iter().map(|(tag, _)| tag.as_str()).collect();
        assert_eq!(tags, expected.iter().map(|(tag, _)| *tag).collect::<Vec<_>>());
        for ((tag, value), (_, wanted)) in found.iter().zip(expected) {
            assert!(
                (value - wanted).abs() <= 1e-12 * wanted.abs(),
                "{tag}: {value} instead of {wanted}"
            );
        }
    }

    /// 500 output and 1,500 input tokens in 10 requests of 2 s on average; 2 requests, 100 tokens, 1 good request a second.
    const TOTALS: [Option<f64>; 7] = [
        Some(500.0),
        Some(1_500.0),
        Some(10.0),
        Some(2e9),
        Some(2.0),
        Some(100.0),
        Some(1.0),
    ];

    #[test]
    fn with_a_counter_energy_is_counted() {
        // 4,000 J in 5 s: 800 W on average, whatever the gauges say.
        let facts = r#"{"concurrency": 8, "gpu": {"nvidia": {"power_w": 700.0, "energy_j": 4000.0, "span_s": 9.0}}}"#;
        check(
            &derived(facts, TOTALS, Some(5_000_000_000)),
            &[
                ("nvidia_energy_delay_product", 800.0),
                ("nvidia_performance_per_watt", 0.0025),
                ("nvidia_output_tps_per_watt", 0.125),
                ("nvidia_goodput_per_watt", 0.00125),
                ("nvidia_average_gpu_power", 800.0),
                ("nvidia_total_gpu_energy", 4_000.0),
                ("nvidia_total_gpu_power", 700.0),
                ("nvidia_energy_per_total_token", 2_000.0),
                ("nvidia_energy_per_output_token", 8_000.0),
                ("nvidia_energy_per_request", 400.0),
                ("nvidia_output_tokens_per_joule", 0.125),
                ("nvidia_energy_per_user", 500.0),
            ],
        );
    }

    #[test]
    fn without_a_counter_energy_is_power_times_time() {
        let facts = r#"{"gpu": {"amd": {"power_w": 400.0, "span_s": 3.0}}}"#;
        let none = [None, None, Some(4.0), None, None, None, None];
        let expected = |energy| {
            [
                ("amd_average_gpu_power", 400.0),
                ("amd_total_gpu_energy", energy),
                ("amd_total_gpu_power", 400.0),
                ("amd_energy_per_request", energy / 4.0),
            ]
        };
        check(&derived(facts, none, Some(2_000_000_000)), &expected(800.0));
        // Without a window, the span of the readings.
        check(&derived(facts, none, None), &expected(1_200.0));
    }

    #[test]
    fn what_is_unknown_is_left_out() {
        for facts in ["", "{}", r#"{"concurrency": 3}"#, r#"{"gpu": {"nvidia": {}}}"#] {
            assert_eq!(derived(facts, TOTALS, Some(1)), [], "{facts}");
        }
        // A counter that did not move, and no gauge.
        let still = r#"{"gpu": {"nvidia": {"energy_j": 0.0}}}"#;
        assert_eq!(derived(still, TOTALS, Some(1_000_000_000)), []);
        // Energy, but no time to divide it by.
        let timeless = r#"{"gpu": {"nvidia": {"energy_j": 10.0}}}"#;
        let tags: Vec<String> = derived(timeless, [None; 7], None)
            .into_iter()
            .map(|(tag, _)| tag)
            .collect();
        assert_eq!(tags, ["nvidia_total_gpu_energy"]);
        // No request met its objectives: that is a value.
        let bad = [None, None, None, None, None, None, Some(0.0)];
        let facts = r#"{"gpu": {"amd": {"power_w": 2.0}}}"#;
        assert!(derived(facts, bad, Some(1_000_000_000)).contains(&("amd_goodput_per_watt".to_owned(), 0.0)));
    }

    #[test]
    fn metrics_of_tokens_need_tokens() {
        let family = open("gpu_power_efficiency", r#"{"produces_tokens": false}"#).unwrap();
        let described = family.describe().unwrap();
        assert_eq!(described.metrics.len(), 18);
        assert!(!described.metrics.iter().any(|spec| spec.tag.contains("output")));
        let orders: Vec<_> = specs().iter().map(|spec| spec.order).collect();
        assert_eq!(orders[0], Some(700));
        assert_eq!(orders[23], Some(865));
    }
}
