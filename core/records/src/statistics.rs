//! Statistics of a set of values: one struct for every kind of metric, because exporters print them alike.

use serde::{Deserialize, Serialize};

use crate::summation::pairwise_sum;

/// The percentiles every distribution is reported with, in ascending order.
pub const PERCENTILES: [u8; 9] = [1, 5, 10, 25, 50, 75, 90, 95, 99];

/// Statistics of one metric. A statistic that is not defined for the metric is `None` and stays out of every file:
/// it is never 0 and never NaN.
///
/// Which fields are set depends on where the struct comes from: [`Statistics::of`] sets all of them,
/// [`Statistics::single`] only `avg`, [`crate::adjusted`] leaves out what an infinite latency makes infinite, and
/// [`crate::curve`] leaves out `sum`, `count` and the percentiles that are not reported for curves.
#[derive(Clone, Copy, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct Statistics {
    /// Arithmetic mean; for a curve the mean over time; for a single value the value itself.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub avg: Option<f64>,
    /// Smallest value.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub min: Option<f64>,
    /// Largest value.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub max: Option<f64>,
    /// Sum of the values.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub sum: Option<f64>,
    /// 1st percentile.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub p1: Option<f64>,
    /// 5th percentile.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub p5: Option<f64>,
    /// 10th percentile.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub p10: Option<f64>,
    /// 25th percentile.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub p25: Option<f64>,
    /// Median.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub p50: Option<f64>,
    /// 75th percentile.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub p75: Option<f64>,
    /// 90th percentile.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub p90: Option<f64>,
    /// 95th percentile.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub p95: Option<f64>,
    /// 99th percentile.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub p99: Option<f64>,
    /// Standard deviation: that of the population (divisor n), or of a sample for [`Statistics::of_sample`].
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub std: Option<f64>,
    /// Number of values.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub count: Option<u64>,
}

impl Statistics {
    /// Statistics of `values`, which it sorts. `None` if there are none.
    ///
    /// Percentiles interpolate linearly at rank `q/100 * (n-1)`; the standard deviation is that of the population;
    /// sums are pairwise over the sorted values, so the result does not depend on the order of arrival.
    ///
    /// The values must be finite: a value that is not belongs to no distribution and is turned away where it enters
    /// (see [`crate::accumulator`]).
    pub fn of(values: &mut [f64]) -> Option<Self> {
        radsort::sort(values);
        let values = &*values;
        Self::of_sorted(values.len(), |i| values[i])
    }

    /// As [`Statistics::of`], for values that are a sample of something that goes on between them: the standard
    /// deviation divides by n - 1, and one value has none.
    pub fn of_sample(values: &mut [f64]) -> Option<Self> {
        let mut statistics = Self::of(values)?;
        let n = values.len() as f64;
        statistics.std = statistics
            .std
            .filter(|_| n > 1.0)
            .map(|std| std * (n / (n - 1.0)).sqrt());
        Some(statistics)
    }

    /// Statistics of `n` values in ascending order, read through `at`, so that compact storage needs no copy as `f64`.
    pub fn of_sorted(n: usize, at: impl Fn(usize) -> f64) -> Option<Self> {
        if n == 0 {
            return None;
        }
        let sum = pairwise_sum(n, &at);
        let avg = sum / n as f64;
        // The deviations are taken from the mean itself, not from a running sum of squares: nothing cancels.
        let variance = pairwise_sum(n, &|i| {
            let deviation = at(i) - avg;
            deviation * deviation
        }) / n as f64;
        let mut statistics = Self {
            avg: Some(avg),
            min: Some(at(0)),
            max: Some(at(n - 1)),
            sum: Some(sum),
            std: Some(variance.sqrt()),
            count: Some(n as u64),
            ..Self::default()
        };
        for q in PERCENTILES {
            statistics.set_percentile(q, percentile_of_sorted(n, &at, q));
        }
        Some(statistics.finite())
    }

    /// A metric that is one number: only `avg` is set.
    #[must_use]
    pub fn single(value: f64) -> Self {
        Self {
            avg: Some(value),
            ..Self::default()
        }
    }

    /// The same statistics in another unit. Every statistic is multiplied (a division by the inverse factor would
    /// differ in the last bit); `count` stays.
    #[must_use]
    pub fn scaled(mut self, factor: f64) -> Self {
        for (_, value) in self.values_mut() {
            if let Some(value) = value {
                *value *= factor;
            }
        }
        self.finite()
    }

    /// Without what has overflowed: a statistic too large for an `f64` is missing, not infinite.
    fn finite(mut self) -> Self {
        for (_, value) in self.values_mut() {
            *value = value.filter(|value| value.is_finite());
        }
        self
    }

    /// The statistics by name, in the order of the summary CSV: avg, min, max, sum, p1 … p99, std.
    #[must_use]
    pub fn values(&self) -> [(&'static str, Option<f64>); 14] {
        let mut copy = *self;
        copy.values_mut().map(|(name, value)| (name, *value))
    }

    /// Whether any percentile is set, i.e. the metric is a distribution and not a single number.
    #[must_use]
    pub fn has_percentiles(&self) -> bool {
        PERCENTILES.iter().any(|&q| self.percentile(q).is_some())
    }

    /// Percentile `q`, if it is one of [`PERCENTILES`] and set.
    #[must_use]
    pub fn percentile(&self, q: u8) -> Option<f64> {
        let mut copy = *self;
        *copy.percentile_mut(q)?
    }

    /// Sets percentile `q`; a `q` that is not one of [`PERCENTILES`] is not reported and is ignored.
    pub(crate) fn set_percentile(&mut self, q: u8, value: f64) {
        if let Some(percentile) = self.percentile_mut(q) {
            *percentile = Some(value);
        }
    }

    fn percentile_mut(&mut self, q: u8) -> Option<&mut Option<f64>> {
        Some(match q {
            1 => &mut self.p1,
            5 => &mut self.p5,
            10 => &mut self.p10,
            25 => &mut self.p25,
            50 => &mut self.p50,
            75 => &mut self.p75,
            90 => &mut self.p90,
            95 => &mut self.p95,
            99 => &mut self.p99,
            _ => return None,
        })
    }

    fn values_mut(&mut self) -> [(&'static str, &mut Option<f64>); 14] {
        [
            ("avg", &mut self.avg),
            ("min", &mut self.min),
            ("max", &mut self.max),
            ("sum", &mut self.sum),
            ("p1", &mut self.p1),
            ("p5", &mut self.p5),
            ("p10", &mut self.p10),
            ("p25", &mut self.p25),
            ("p50", &mut self.p50),
            ("p75", &mut self.p75),
            ("p90", &mut self.p90),
            ("p95", &mut self.p95),
            ("p99", &mut self.p99),
            ("std", &mut self.std),
        ]
    }
}

/// Percentile `q` of values in ascending order, interpolated linearly at rank `q/100 * (n-1)`. `n` is at least 1.
fn percentile_of_sorted(n: usize, at: &impl Fn(usize) -> f64, q: u8) -> f64 {
    let rank = rank(n, q);
    let below = rank.floor();
    let low = below as usize;
    let (a, b) = (at(low), at((low + 1).min(n - 1)));
    a + (rank - below) * (b - a)
}

/// Where percentile `q` lies in `n` sorted values, counted from 0; a fraction lies between two of them.
pub(crate) fn rank(n: usize, q: u8) -> f64 {
    f64::from(q) / 100.0 * (n - 1) as f64
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    #[test]
    fn by_hand() {
        // Ranks for n = 5: p1 0.04, p5 0.2, p10 0.4, p25 1, p50 2, p75 3, p90 3.6, p95 3.8, p99 3.96.
        let s = Statistics::of(&mut [40.0, 10.0, 50.0, 20.0, 30.0]).unwrap();
        assert_eq!(s.count, Some(5));
        let expected = [
            ("avg", 30.0),
            ("min", 10.0),
            ("max", 50.0),
            ("sum", 150.0),
            ("p1", 10.4),
            ("p5", 12.0),
            ("p10", 14.0),
            ("p25", 20.0),
            ("p50", 30.0),
            ("p75", 40.0),
            ("p90", 46.0),
            ("p95", 48.0),
            ("p99", 49.6),
            // Deviations 20, 10, 0, 10, 20: variance 1000/5.
            ("std", 200f64.sqrt()),
        ];
        for ((name, value), (wanted_name, wanted)) in s.values().into_iter().zip(expected) {
            assert_eq!(name, wanted_name);
            assert!(
                (value.unwrap() - wanted).abs() <= 1e-12 * wanted,
                "{name}: {value:?} instead of {wanted}"
            );
        }
    }

    #[test]
    fn one_value_is_every_statistic_and_deviates_by_zero() {
        let s = Statistics::of(&mut [7.5]).unwrap();
        for (name, value) in s.values() {
            assert_eq!(value, Some(if name == "std" { 0.0 } else { 7.5 }), "{name}");
        }
        assert_eq!(s.count, Some(1));
    }

    #[test]
    fn no_values_no_statistics() {
        assert_eq!(Statistics::of(&mut []), None);
    }

    /// Values of numpy 2.4 (`np.sum`, `np.std` of the sorted array), which the original's numbers come from.
    #[test]
    fn sum_and_deviation_are_those_of_numpy_to_the_bit() {
        for (n, sum, std) in [
            (5u64, 325_426.285_714_285_7, 43_487.053_838_894_85),
            (8, 568_335.428_571_428_6, 46_635.003_795_924_78),
            (127, 9_401_389.714_285_715, 41_326.929_464_266_82),
            (128, 9_448_577.0, 41_232.945_665_927_39),
            (129, 9_556_878.428_571_43, 41_184.017_025_040_33),
            (1000, 71_851_564.857_142_87, 41_264.380_666_030_84),
            (4099, 293_326_583.0, 41_248.908_593_479_29),
        ] {
            let mut values: Vec<f64> = (0..n).map(|i| ((i * 2_654_435_761) % 1_000_003) as f64 / 7.0).collect();
            let s = Statistics::of(&mut values).unwrap();
            assert_eq!((s.sum, s.std), (Some(sum), Some(std)), "n = {n}");
        }
    }

    #[test]
    fn scaling_multiplies_everything_but_the_count() {
        let s = Statistics::of(&mut [3e6, 1e6]).unwrap().scaled(1e-6);
        assert_eq!(
            (s.avg, s.min, s.sum, s.std, s.p50),
            (Some(2.0), Some(1.0), Some(4.0), Some(1.0), Some(2.0))
        );
        assert_eq!(s.count, Some(2));
        assert_eq!(Statistics::single(5.0).scaled(2.0), Statistics::single(10.0));
    }

    #[test]
    fn what_overflows_is_missing() {
        let s = Statistics::of(&mut [1e308, 1e308]).unwrap();
        assert_eq!(
            (s.sum, s.avg, s.std, s.min, s.p50),
            (None, None, None, Some(1e308), Some(1e308))
        );
        assert_eq!(s.scaled(10.0).max, None);
    }

    #[test]
    fn undefined_statistics_leave_no_key() {
        assert_eq!(
            serde_json::to_string(&Statistics::single(1.5)).unwrap(),
            r#"{"avg":1.5}"#
        );
        assert!(!Statistics::single(1.5).has_percentiles());
    }

    proptest! {
        #[test]
        fn agrees_with_the_definition(values in prop::collection::vec(-1e12f64..1e12, 1..600)) {
            let s = Statistics::of(&mut values.clone()).unwrap();
            let n = values.len() as f64;
            let mut sorted = values.clone();
            sorted.sort_by(f64::total_cmp);
            let mean = sorted.iter().sum::<f64>() / n;
            let std = (sorted.iter().map(|v| (v - mean).powi(2)).sum::<f64>() / n).sqrt();
            let scale = sorted.iter().fold(0f64, |m, v| m.max(v.abs()));
            prop_assert!((s.avg.unwrap() - mean).abs() <= 1e-12 * scale);
            prop_assert!((s.std.unwrap() - std).abs() <= 1e-12 * scale);
            prop_assert_eq!(s.min.unwrap(), sorted[0]);
            prop_assert_eq!(s.max.unwrap(), sorted[sorted.len() - 1]);
            for q in PERCENTILES {
                // The weights of both neighbours, as an independent form of the same definition.
                let position = f64::from(q) * (n - 1.0) / 100.0;
                let (low, high) = (position.floor() as usize, position.ceil() as usize);
                let naive = sorted[low] * (1.0 - position.fract()) + sorted[high] * position.fract();
                prop_assert!((s.percentile(q).unwrap() - naive).abs() <= 1e-12 * scale, "p{}", q);
            }
        }

        #[test]
        fn order_of_arrival_does_not_matter(mut values in prop::collection::vec(-1e9f64..1e9, 1..400)) {
            let forward = Statistics::of(&mut values.clone());
            values.reverse();
            prop_assert_eq!(forward, Statistics::of(&mut values));
        }
    }
}
