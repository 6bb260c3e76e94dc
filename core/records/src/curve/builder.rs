//! Sums intervals and steps into a curve.

use super::{Breakpoint, Curve, push};
use crate::summation::CompensatedSum;

/// A cumulative value below this share of the largest one is rounding left over from contributions that have ended.
const NOISE: f64 = 1e-9;

/// Collects contributions in any order. Weights must be finite. Holds 16 bytes per change: two per interval, two per
/// gap.
#[derive(Clone, Debug, Default)]
pub struct CurveBuilder {
    /// `value` is the change at that time.
    changes: Vec<Breakpoint>,
}

impl CurveBuilder {
    /// A builder without contributions.
    #[must_use]
    pub fn new() -> Self {
        Self::default()
    }

    /// Adds `weight` from `from_ns` until `to_ns`. An interval without length contributes nothing.
    pub fn interval(&mut self, from_ns: u64, to_ns: u64, weight: f64) {
        if to_ns > from_ns {
            self.change(from_ns, weight);
            self.change(to_ns, -weight);
        }
    }

    /// Spreads `weight` evenly over each gap: with consecutive `gaps` starting at `from_ns`, adds `weight / gap` (per
    /// ns) for the length of that gap. Gaps of 0 carry no rate and are skipped.
    pub fn rates(&mut self, from_ns: u64, gaps: impl IntoIterator<Item = u64>, weight: f64) {
        let mut at = from_ns;
        for gap in gaps {
            let next = at.saturating_add(gap);
            if gap > 0 {
                self.interval(at, next, weight / gap as f64);
            }
            at = next;
        }
    }

    /// Adds `weight` at the end of each gap (0 included) and keeps it until `until_ns`, when all of it goes. What
    /// arrives at or after `until_ns` counts as just before it, so that nothing is taken away before it was added.
    pub fn levels(&mut self, from_ns: u64, gaps: impl IntoIterator<Item = u64>, weight: f64, until_ns: u64) {
        let Some(last_ns) = until_ns.checked_sub(1) else { return };
        let (mut at, mut steps) = (from_ns, 0u64);
        for gap in gaps {
            at = at.saturating_add(gap);
            self.change(at.min(last_ns), weight);
            steps += 1;
        }
        if steps > 0 {
            self.change(until_ns, -(weight * steps as f64));
        }
    }

    /// Adds a whole curve.
    pub(super) fn curve(&mut self, curve: &Curve) {
        let mut before = 0.0;
        for &Breakpoint { time_ns, value } in curve.breakpoints() {
            // Taken away and added, not as a difference, whose rounding would stay.
            self.change(time_ns, -before);
            self.change(time_ns, value);
            before = value;
        }
    }

    /// The sum of all contributions.
    ///
    /// Changes are ordered by time, decreases before increases. At one instant they meet in one breakpoint. The running
    /// value is kept with its rounding error, and what is left of it near 0 is set to 0.
    #[must_use]
    pub fn build(self) -> Curve {
        let mut changes = self.changes;
        changes.sort_unstable_by(|a, b| a.time_ns.cmp(&b.time_ns).then(a.value.total_cmp(&b.value)));
        let mut sum = CompensatedSum::default();
        let mut largest = 0f64;
        for change in &mut changes {
            sum.add(change.value);
            change.value = sum.value();
            largest = largest.max(change.value.abs());
        }
        let mut breakpoints = Vec::new();
        for at_one_instant in changes.chunk_by(|a, b| a.time_ns == b.time_ns) {
            if let Some(&Breakpoint { time_ns, value }) = at_one_instant.last() {
                push(
                    &mut breakpoints,
                    time_ns,
                    if value.abs() < NOISE * largest { 0.0 } else { value },
                );
            }
        }
        Curve { breakpoints }
    }

    fn change(&mut self, time_ns: u64, value: f64) {
        self.changes.push(Breakpoint { time_ns, value });
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn points(builder: CurveBuilder) -> Vec<(u64, f64)> {
        builder
            .build()
            .breakpoints()
            .iter()
            .map(|b| (b.time_ns, b.value))
            .collect()
    }

    #[test]
    fn concurrency_of_overlapping_requests() {
        let mut builder = CurveBuilder::new();
        for (from, to) in [(0, 10), (5, 20), (10, 30), (40, 40)] {
            builder.interval(from, to, 1.0);
        }
        // At 10 one request ends as another starts: concurrency stays 2.
        assert_eq!(points(builder), [(0, 1.0), (5, 2.0), (20, 1.0), (30, 0.0)]);
    }

    #[test]
    fn rates_spread_each_weight_over_its_gap() {
        let mut builder = CurveBuilder::new();
        builder.rates(100, [10, 0, 40], 2.0);
        assert_eq!(points(builder), [(100, 0.2), (110, 0.05), (150, 0.0)]);
    }

    #[test]
    fn levels_rise_at_each_arrival_and_fall_together() {
        let mut builder = CurveBuilder::new();
        // Arrivals at 10, 10 and 25; the last one is past the end and counts at 19.
        builder.levels(0, [10, 0, 15], 1.5, 20);
        assert_eq!(points(builder), [(10, 3.0), (19, 4.5), (20, 0.0)]);
    }

    #[test]
    fn a_slow_rate_survives_a_fast_one() {
        // While the fast gap lasts the slow rate is below its rounding; afterwards it must be what it was.
        let mut builder = CurveBuilder::new();
        builder.interval(0, 100, 1e-3);
        builder.interval(10, 20, 1e15);
        let value = builder.build().breakpoints()[2].value;
        // Below 1e-9 of the largest value everything counts as rounding.
        assert_eq!(value, 0.0);
        let mut builder = CurveBuilder::new();
        builder.interval(0, 100, 0.1);
        builder.interval(10, 20, 1e7);
        assert_eq!(
            builder.build().breakpoints()[2],
            Breakpoint {
                time_ns: 20,
                value: 0.1
            }
        );
    }

    proptest! {
        #[test]
        fn agrees_with_adding_up_at_each_moment(
            intervals in prop::collection::vec((0u64..200, 0u64..50, 0.5f64..100.0), 0..40),
        ) {
            let mut builder = CurveBuilder::new();
            for &(from, length, weight) in &intervals {
                builder.interval(from, from + length, weight);
            }
            let curve = builder.build();
            prop_assert!(curve.breakpoints().is_sorted_by(|a, b| a.time_ns < b.time_ns));
            for t in 0..260 {
                let expected: f64 =
                    intervals.iter().filter(|(f, l, _)| (*f..f + l).contains(&t)).map(|(_, _, w)| w).sum();
                let held = curve.breakpoints().iter().rev().find(|b| b.time_ns <= t).map_or(0.0, |b| b.value);
                prop_assert!((held - expected).abs() <= 1e-12 * 4000.0, "at {}: {} instead of {}", t, held, expected);
                prop_assert_eq!(held == 0.0, expected == 0.0);
            }
        }

        #[test]
        fn rates_carry_every_token(from in 0u64..1000, gaps in prop::collection::vec(0u64..100, 1..50)) {
            let mut builder = CurveBuilder::new();
            builder.rates(from, gaps.iter().copied(), 3.0);
            let curve = builder.build();
            let area: f64 = curve
                .breakpoints()
                .windows(2)
                .map(|w| w[0].value * (w[1].time_ns - w[0].time_ns) as f64)
                .sum();
            let expected = 3.0 * gaps.iter().filter(|&&g| g > 0).count() as f64;
            prop_assert!((area - expected).abs() < 1e-9);
        }
    }
}
