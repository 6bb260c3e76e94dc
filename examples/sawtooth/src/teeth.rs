//! When requests are due.

use aiperf_sdk::prelude::*;

/// Options of the entry (`--plugin-opt timing/sawtooth.high_rate=50`).
#[derive(Debug, Clone, Copy, serde::Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Options {
    /// Requests per second at the start of a period; not negative.
    #[serde(default)]
    pub low_rate: f64,
    /// Requests per second at its end; above `low_rate`, at most a million.
    pub high_rate: f64,
    /// Length of a period in s; positive, at most a day.
    pub period_s: f64,
}

/// The due times.
#[derive(Debug, Clone, Copy)]
pub struct Teeth {
    options: Options,
}

impl Teeth {
    /// Checks the options.
    ///
    /// # Errors
    /// When one is out of range, or no request would ever be due.
    pub fn new(options: Options) -> Result<Self> {
        let Options {
            low_rate,
            high_rate,
            period_s,
        } = options;
        if !(0.0..=1e6).contains(&low_rate) || !(0.0..=1e6).contains(&high_rate) || high_rate <= low_rate {
            return Err(
                PluginError::options(format!("a rate from {low_rate} to {high_rate} per second"))
                    .with_help("`low_rate` is at least 0, `high_rate` is above it and at most 1000000"),
            );
        }
        if !(period_s > 0.0 && period_s <= 86_400.0) {
            return Err(PluginError::options(format!("`period_s` is {period_s}"))
                .with_help("give a positive number of seconds, at most a day"));
        }
        Ok(Self { options })
    }

    /// When request `k` is due, in ns after the start of the phase.
    pub fn due_ns(&self, k: u64) -> u64 {
        let Options {
            low_rate,
            high_rate,
            period_s,
        } = self.options;
        let per_period = (low_rate + high_rate) / 2.0 * period_s;
        let periods = (k as f64 / per_period).floor();
        let rest = k as f64 - periods * per_period;
        // low·t + growth·t²/2 = rest
        let growth = (high_rate - low_rate) / period_s;
        let within_s = ((low_rate * low_rate + 2.0 * growth * rest).sqrt() - low_rate) / growth;
        ((periods * period_s + within_s) * 1e9).round() as u64
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn teeth(low_rate: f64, high_rate: f64, period_s: f64) -> Result<Teeth> {
        Teeth::new(Options {
            low_rate,
            high_rate,
            period_s,
        })
    }

    #[test]
    fn due_times_worked_out_by_hand() {
        // From 0 to 10 per second in 10 s: N(t) = t²/2, 50 requests per period.
        let rising = teeth(0.0, 10.0, 10.0).unwrap();
        for (k, seconds) in [(0, 0), (2, 2), (8, 4), (18, 6), (32, 8), (50, 10), (52, 12), (100, 20)] {
            assert_eq!(rising.due_ns(k), seconds * 1_000_000_000, "request {k}");
        }
        // From 1 to 3 per second in 2 s: N(t) = t + t²/2, 4 requests per period; 1.5 of them after 1 s.
        let raised = teeth(1.0, 3.0, 2.0).unwrap();
        assert_eq!([0, 4, 8].map(|k| raised.due_ns(k)), [0, 2_000_000_000, 4_000_000_000]);
        let half = teeth(2.0, 6.0, 2.0).unwrap();
        assert_eq!(half.due_ns(3), 1_000_000_000, "N(1) = 2 + 1");
    }

    #[test]
    fn due_times_never_go_back() {
        // 3.675 requests per period: periods begin between two requests.
        let teeth = teeth(0.5, 3.0, 2.1).unwrap();
        let due: Vec<u64> = (0..1_000).map(|k| teeth.due_ns(k)).collect();
        assert!(due.is_sorted());
    }

    #[test]
    fn wrong_options_are_refused() {
        for (low, high, period) in [
            (5.0, 5.0, 1.0),
            (-1.0, 5.0, 1.0),
            (0.0, 1e7, 1.0),
            (0.0, f64::NAN, 1.0),
            (0.0, 5.0, 0.0),
            (0.0, 5.0, f64::INFINITY),
        ] {
            assert!(teeth(low, high, period).is_err(), "{low} {high} {period}");
        }
    }
}
