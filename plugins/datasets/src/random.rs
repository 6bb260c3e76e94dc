//! Random numbers: one generator for each purpose, so that one option never moves what another one draws.

use aiperf_sdk::Host;
use rand::SeedableRng;
use rand_chacha::ChaCha8Rng;
use rand_distr::Distribution;

use crate::options::Normal;

/// Draws before the mean is taken instead.
const ATTEMPTS: usize = 10_000;

/// The generator of the random stream `name`.
pub(crate) fn stream(host: &dyn Host, name: &str) -> ChaCha8Rng {
    ChaCha8Rng::seed_from_u64(host.seed(name))
}

impl Normal {
    /// A whole number from 1 up: drawn again while negative, then rounded up. Without deviation the rounded mean (halves to
    /// even).
    pub(crate) fn sample(&self, rng: &mut ChaCha8Rng) -> u32 {
        let value = match rand_distr::Normal::new(self.mean, self.stddev) {
            Ok(normal) if self.stddev > 0.0 => (0..ATTEMPTS)
                .map(|_| normal.sample(rng))
                .find(|value| *value >= 0.0)
                .unwrap_or(self.mean)
                .ceil(),
            _ => self.mean.round_ties_even(),
        };
        // Options bound the mean, so nothing is cut here but the far tail of a huge deviation.
        (value as u32).max(1)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use aiperf_sdk::host::NoHost;

    #[test]
    fn no_deviation_gives_the_rounded_mean_and_at_least_one() {
        let mut rng = stream(&NoHost, "x");
        for (mean, expected) in [(550.0, 550), (2.5, 2), (3.5, 4), (0.2, 1), (0.0, 1)] {
            assert_eq!(Normal { mean, stddev: 0.0 }.sample(&mut rng), expected, "{mean}");
        }
    }

    #[test]
    fn samples_have_the_mean_and_the_deviation() {
        let mut rng = stream(&NoHost, "x");
        let normal = Normal {
            mean: 100.0,
            stddev: 10.0,
        };
        let samples: Vec<f64> = (0..20_000).map(|_| f64::from(normal.sample(&mut rng))).collect();
        let mean = samples.iter().sum::<f64>() / 20_000.0;
        let variance = samples.iter().map(|x| (x - mean).powi(2)).sum::<f64>() / 20_000.0;
        // Rounding up adds a half. Six standard errors of the mean are 0.42, of the deviation 0.3.
        assert!((mean - 100.5).abs() < 0.42, "{mean}");
        assert!((variance.sqrt() - 10.0).abs() < 0.3, "{variance}");
    }

    #[test]
    fn negative_draws_are_drawn_again() {
        let mut rng = stream(&NoHost, "x");
        let normal = Normal {
            mean: 0.0,
            stddev: 50.0,
        };
        let ones = (0..1_000).filter(|_| normal.sample(&mut rng) == 1).count();
        // Cut off at 0 instead, half of the draws would be 1; drawn again, P(0..1) is 2 × 0.008.
        assert!(ones < 100, "{ones}");
    }
}
