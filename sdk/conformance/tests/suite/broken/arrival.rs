//! An arrival pattern of uniform intervals.

use aiperf_sdk::{Host, PluginError, Result, Timing};

use super::Fault;

pub(super) const FAULTS: &[Fault] = &[
    ("good", &[]),
    ("burst", &[]),
    (
        "one_too_few",
        &[
            "arrival.count",
            "arrival.mean",
            "arrival.deterministic",
            "arrival.rate_change",
        ],
    ),
    ("too_slow", &["arrival.mean", "arrival.rate_change"]),
    ("no_time_at_high_rates", &["arrival.mean"]),
    ("starts_over_each_call", &["arrival.deterministic"]),
    ("keeps_the_first_rate", &["arrival.rate_change"]),
    ("takes_any_rate", &["arrival.bad_rate"]),
];

pub(super) struct Broken {
    fault: String,
    seed: u64,
    state: u64,
    rate: Option<f64>,
}

impl Broken {
    pub(super) fn new(fault: &str, host: &dyn Host) -> Self {
        let seed = host.seed("arrival") | 1;
        Self {
            fault: fault.to_owned(),
            seed,
            state: seed,
            rate: None,
        }
    }

    /// From 0 to 1, by xorshift64.
    fn unit(&mut self) -> f64 {
        self.state ^= self.state << 13;
        self.state ^= self.state >> 7;
        self.state ^= self.state << 17;
        (self.state >> 11) as f64 / (1_u64 << 53) as f64
    }
}

impl Timing for Broken {
    fn intervals(&mut self, rate: f64, count: u32) -> Result<Vec<u64>> {
        let mut rate = rate;
        let (mut factor, mut count) = (1.0, count);
        match self.fault.as_str() {
            "burst" => return Ok(vec![0; count as usize]),
            "one_too_few" => count = count.saturating_sub(1),
            "too_slow" => factor = 1.1,
            "no_time_at_high_rates" if rate > 1e5 => return Ok(vec![0; count as usize]),
            "starts_over_each_call" => self.state = self.seed,
            "keeps_the_first_rate" => rate = *self.rate.get_or_insert(rate),
            "takes_any_rate" if rate <= 0.0 || rate.is_nan() => return Ok(vec![7; count as usize]),
            _ => {}
        }
        if !(rate.is_finite() && rate > 0.0) {
            return Err(PluginError::input(format!("a rate of {rate}")));
        }
        let mean_ns = factor * 1e9 / rate;
        Ok((0..count)
            .map(|_| ((0.5 + self.unit()) * mean_ns).round() as u64)
            .collect())
    }
}
