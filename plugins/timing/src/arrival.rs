//! Arrival patterns: intervals between requests (load-engine §3.5).

use aiperf_sdk::{Host, PluginError, Result, Timing};
use rand_chacha::{ChaCha8Rng, rand_core::SeedableRng};
use rand_distr::{Distribution, Exp1, Gamma};

const NS_PER_S: f64 = 1e9;

/// An arrival pattern.
#[derive(Debug)]
pub(crate) enum Pattern {
    /// No waiting: pacing is left to the slots.
    Burst,
    /// Equal intervals.
    Constant { rate: f64, given: u64 },
    /// Exponential intervals.
    Poisson { rng: Box<ChaCha8Rng> },
    /// Gamma intervals of the mean 1/rate; the shape is the smoothness.
    Gamma { shape: f64, rng: Box<ChaCha8Rng> },
}

impl Pattern {
    pub(crate) fn burst() -> Self {
        Self::Burst
    }

    pub(crate) fn constant() -> Self {
        Self::Constant { rate: 0.0, given: 0 }
    }

    pub(crate) fn poisson(host: &dyn Host) -> Self {
        let rng = seeded(host, "timing.request.poisson_interval");
        Self::Poisson { rng }
    }

    pub(crate) fn gamma(host: &dyn Host, shape: f64) -> Self {
        let rng = seeded(host, "timing.request.gamma_interval");
        Self::Gamma { shape, rng }
    }
}

fn seeded(host: &dyn Host, stream: &str) -> Box<ChaCha8Rng> {
    Box::new(ChaCha8Rng::seed_from_u64(host.seed(stream)))
}

impl Timing for Pattern {
    fn intervals(&mut self, rate: f64, count: u32) -> Result<Vec<u64>> {
        if let Self::Burst = self {
            return Ok(vec![0; count as usize]);
        }
        if !(rate.is_finite() && rate > 0.0) {
            return Err(PluginError::input(format!("a rate of {rate} requests per second"))
                .with_help("give a positive rate, or none for a burst"));
        }
        let mean_ns = NS_PER_S / rate;
        let count = 0..count;
        Ok(match self {
            Self::Burst => Vec::new(),
            Self::Constant { rate: last, given } => {
                if *last != rate {
                    (*last, *given) = (rate, 0);
                }
                // Differences of rounded times, so that rounding never adds up.
                let due_ns = |n: u64| (n as f64 * NS_PER_S / rate).round() as u64;
                count
                    .map(|_| {
                        *given += 1;
                        due_ns(*given) - due_ns(*given - 1)
                    })
                    .collect()
            }
            Self::Poisson { rng } => count
                .map(|_| {
                    let interval: f64 = Exp1.sample(rng);
                    (interval * mean_ns).round() as u64
                })
                .collect(),
            Self::Gamma { shape, rng } => {
                let gamma = Gamma::new(*shape, mean_ns / *shape).map_err(|error| {
                    PluginError::options(format!("`smoothness` of {shape} at a rate of {rate}: {error}"))
                })?;
                count.map(|_| gamma.sample(rng).round() as u64).collect()
            }
        })
    }
}
