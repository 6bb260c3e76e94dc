//! The GPU collector: a simulated accelerator. Its numbers are made up, a function of time alone, and every reading says so.
//!
//! Power falls and rises linearly: with the period T = 20 s, x = t/T modulo 1,
//! P(t) = 100 W + 200 W · |2x − 1|. Energy is its exact integral, so that the two always agree.

use aiperf_sdk::prelude::*;

const NS_PER_S: f64 = 1e9;
const NS_PER_MS: u64 = 1_000_000;
const PERIOD_S: f64 = 20.0;
const IDLE_W: f64 = 100.0;
const SWING_W: f64 = 200.0;

/// Options of the entry (`--plugin-opt gpu_collector/acme_simulated.devices=4`).
#[derive(Debug, Clone, Copy, serde::Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct Options {
    /// Number of devices, 1 to 64.
    pub devices: u32,
    /// Time between readings in ms, 1 to 60,000.
    pub interval_ms: u64,
}

impl Default for Options {
    fn default() -> Self {
        Self {
            devices: 2,
            interval_ms: 500,
        }
    }
}

/// The collector.
#[derive(Debug)]
pub struct Simulated {
    options: Options,
    /// When to read next.
    due_ns: Option<u64>,
}

impl Simulated {
    /// A collector.
    ///
    /// # Errors
    /// When an option is out of range.
    pub fn new(options: Options) -> Result<Self> {
        if !(1..=64).contains(&options.devices) {
            let message = format!("`devices` is {}, and must be 1 to 64", options.devices);
            return Err(PluginError::options(message));
        }
        if !(1..=60_000).contains(&options.interval_ms) {
            let message = format!("`interval_ms` is {}, and must be 1 to 60000", options.interval_ms);
            return Err(PluginError::options(message));
        }
        Ok(Self { options, due_ns: None })
    }

    fn read(&self, now_ns: u64) -> Vec<Reading> {
        let time_s = now_ns as f64 / NS_PER_S;
        let fields = [
            ("power_usage", "W", false, power_w(time_s)),
            ("energy_consumption", "J", true, energy_j(time_s)),
            ("utilization", "%", false, 100.0 * (power_w(time_s) - IDLE_W) / SWING_W),
        ];
        let reading = |gpu, (field, unit, counter, value): (&str, &str, bool, f64)| Reading {
            gpu,
            uuid: format!("ACME-SIMULATED-{gpu}"),
            model: "Acme A1 (simulated)".into(),
            field: field.into(),
            unit: unit.into(),
            counter,
            value,
            host: None,
            labels: vec![("simulated".into(), "true".into()), ("platform".into(), "acme".into())],
        };
        (0..self.options.devices)
            .flat_map(|gpu| fields.map(|field| reading(gpu, field)))
            .collect()
    }
}

fn power_w(time_s: f64) -> f64 {
    let x = (time_s / PERIOD_S).fract();
    IDLE_W + SWING_W * (2.0 * x - 1.0).abs()
}

/// The integral of [`power_w`] from 0. That of |2x − 1| is x − x² up to the middle and x² − x + 1/2 beyond.
fn energy_j(time_s: f64) -> f64 {
    let periods = (time_s / PERIOD_S).floor();
    let x = (time_s / PERIOD_S).fract();
    let part = if x < 0.5 { x - x * x } else { x * x - x + 0.5 };
    IDLE_W * time_s + SWING_W * PERIOD_S * (periods * 0.5 + part)
}

impl GpuCollector for Simulated {
    fn poll(&mut self, now_ns: u64, _: Option<HttpAnswer>) -> Result<Poll> {
        match self.due_ns {
            Some(due_ns) if now_ns < due_ns => Ok(Poll::Wait((due_ns - now_ns).div_ceil(NS_PER_MS))),
            _ => {
                self.due_ns = Some(now_ns + self.options.interval_ms * NS_PER_MS);
                Ok(Poll::Readings(self.read(now_ns)))
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use aiperf_sdk::testing;

    fn collector(options: &str) -> Result<Simulated> {
        Simulated::new(testing::open("acme_simulated", options).options()?)
    }

    #[test]
    fn readings_come_at_their_interval_and_say_that_they_are_simulated() {
        let mut collector = collector(r#"{"devices": 3, "interval_ms": 5000}"#).unwrap();
        let all = testing::readings(&mut collector, 12_000, |_| unreachable!("it asks nothing")).unwrap();
        let times: Vec<u64> = all.iter().map(|(ms, _)| *ms).collect();
        assert_eq!(times, [0, 5_000, 10_000]);
        let value = |at: usize, field: &str| {
            let found = all[at]
                .1
                .iter()
                .find(|reading| reading.field == field && reading.gpu == 2);
            found.unwrap().value
        };
        // 300 W at the start, 200 W after a quarter of the period, 100 W after half of it; in between, the mean of both.
        assert_eq!([0, 1, 2].map(|at| value(at, "power_usage")), [300.0, 200.0, 100.0]);
        assert_eq!(
            [0, 1, 2].map(|at| value(at, "energy_consumption")),
            [0.0, 1_250.0, 2_000.0]
        );
        assert_eq!([0, 1, 2].map(|at| value(at, "utilization")), [100.0, 50.0, 0.0]);
        for reading in all.iter().flat_map(|(_, readings)| readings) {
            assert!(reading.model.contains("simulated"), "{reading:?}");
        }
    }

    #[test]
    fn energy_is_the_integral_of_power() {
        // A period of 20 s at 200 W on average.
        for periods in [1.0, 2.0, 10.0] {
            assert_eq!(energy_j(periods * PERIOD_S), periods * 4_000.0);
        }
        for step in 1..400 {
            let (from, to) = (f64::from(step) * 0.1 - 0.1, f64::from(step) * 0.1);
            let mean_w = (energy_j(to) - energy_j(from)) / (to - from);
            let middle_w = power_w((from + to) / 2.0);
            assert!((mean_w - middle_w).abs() < 1.0, "{from}: {mean_w} and {middle_w}");
        }
    }

    #[test]
    fn wrong_options_are_refused() {
        for (options, part) in [
            (r#"{"devices": 0}"#, "devices"),
            (r#"{"interval_ms": 70000}"#, "interval_ms"),
            (r#"{"device": 1}"#, "device"),
        ] {
            let error = collector(options).unwrap_err();
            assert!(error.message.contains(part), "{error}");
        }
    }
}
