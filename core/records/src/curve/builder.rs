//! Sums intervals and steps into a curve.

use super::{Breakpoint, Curve, make_room, order};
use crate::summation::CompensatedSum;

/// A cumulative value below this share of the largest one is rounding left over from contributions that have ended.
const NOISE: f64 = 1e-9;

/// What one contribution takes away and adds at an instant. Taken away and added, not their difference, whose rounding
/// would stay.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Change {
    pub(super) time_ns: u64,
    pub(super) fall: f64,
    pub(super) rise: f64,
}

/// Collects contributions in any order. Weights must be finite. Holds 24 bytes per change, one for each end of an
/// interval or gap (where a gap follows another, the two share theirs), and about 8 more from the first
/// [`CurveBuilder::build`] on, all of which it keeps for later curves.
#[derive(Clone, Debug, Default)]
pub struct CurveBuilder {
    changes: Vec<Change>,
    /// Memory for ordering them.
    spare: order::Spare,
    /// Memory of curves that are no longer needed.
    used: Vec<Vec<Breakpoint>>,
}

impl CurveBuilder {
    /// A builder without contributions.
    #[must_use]
    pub fn new() -> Self {
        Self::default()
    }

    /// Makes room for that many intervals and gaps, so that memory is taken once.
    pub(crate) fn reserve(&mut self, intervals: usize, gaps: usize) {
        let more = 2 * intervals + gaps;
        if self.changes.is_empty() {
            make_room(&mut self.changes, more);
        } else {
            self.changes.reserve(more);
        }
    }

    /// Adds `weight` from `from_ns` until `to_ns`. An interval without length contributes nothing.
    pub fn interval(&mut self, from_ns: u64, to_ns: u64, weight: f64) {
        if to_ns > from_ns {
            self.change(from_ns, 0.0, weight);
            self.change(to_ns, -weight, 0.0);
        }
    }

    /// Spreads `weight` evenly over each gap: with consecutive `gaps` starting at `from_ns`, adds `weight / gap` (per
    /// ns) for the length of that gap. Gaps of 0 carry no rate and are skipped.
    pub fn rates(&mut self, from_ns: u64, gaps: impl IntoIterator<Item = u64>, weight: f64) {
        let (mut at, mut before) = (from_ns, 0.0);
        for gap in gaps {
            let next = at.saturating_add(gap);
            if next > at {
                let rate = weight / gap as f64;
                self.change(at, -before, rate);
                before = rate;
            }
            at = next;
        }
        if at > from_ns {
            self.change(at, -before, 0.0);
        }
    }

    /// Adds `weight` at the end of each gap (0 included) and keeps it until `until_ns`, when all of it goes. What
    /// arrives at or after `until_ns` counts as just before it, so that nothing is taken away before it was added.
    pub fn levels(&mut self, from_ns: u64, gaps: impl IntoIterator<Item = u64>, weight: f64, until_ns: u64) {
        let Some(last_ns) = until_ns.checked_sub(1) else { return };
        let (mut at, mut steps) = (from_ns, 0u64);
        for gap in gaps {
            at = at.saturating_add(gap);
            self.change(at.min(last_ns), 0.0, weight);
            steps += 1;
        }
        if steps > 0 {
            self.change(until_ns, -(weight * steps as f64), 0.0);
        }
    }

    /// The sum of all contributions, and no contributions for the next curve, which uses the same memory.
    ///
    /// Changes are ordered by time, decreases before increases. At one instant they meet in one breakpoint. The running
    /// value is kept with its rounding error, and what is left of it near 0 is set to 0.
    #[must_use]
    pub fn build(&mut self) -> Curve {
        let mut breakpoints = self.breakpoints(self.changes.len());
        let mut running = Running::default();
        let mut at_one_instant = Vec::new();
        order::by_time(&mut self.changes, &mut self.spare, |changes| {
            let mut changes = changes.iter().peekable();
            while let Some(change) = changes.next() {
                let time_ns = change.time_ns;
                let same = |next: &&Change| next.time_ns == time_ns;
                if changes.peek().is_some_and(same) {
                    at_one_instant.clear();
                    at_one_instant.extend([change.fall, change.rise]);
                    while let Some(next) = changes.next_if(same) {
                        at_one_instant.extend([next.fall, next.rise]);
                    }
                    at_one_instant.sort_unstable_by(f64::total_cmp);
                    at_one_instant.iter().for_each(|&value| running.add(value));
                } else {
                    running.add(change.fall.min(change.rise));
                    running.add(change.fall.max(change.rise));
                }
                breakpoints.push(Breakpoint {
                    time_ns,
                    value: running.value(),
                });
            }
        });
        self.changes.clear();
        let noise = NOISE * running.largest;
        let mut before = None;
        breakpoints.retain_mut(|breakpoint| {
            if breakpoint.value.abs() < noise {
                breakpoint.value = 0.0;
            }
            let changes = before != Some(breakpoint.value);
            before = Some(breakpoint.value);
            changes
        });
        Curve { breakpoints }
    }

    /// The sum of several curves.
    #[must_use]
    pub fn sum<'a>(&mut self, curves: impl IntoIterator<Item = &'a Curve>) -> Curve {
        curves.into_iter().fold(Curve::default(), |sum, curve| {
            let next = self.combined(&sum, curve, |a, b| a + b);
            self.recycle(sum);
            next
        })
    }

    /// A curve divided by another at every moment, 0 where the divisor is not positive: throughput per user is throughput
    /// over concurrency, and 0 while there are no users.
    #[must_use]
    pub fn ratio(&mut self, dividend: &Curve, divisor: &Curve) -> Curve {
        if dividend.is_empty() || divisor.is_empty() {
            return Curve::default();
        }
        let divide = |dividend, divisor| if divisor > 0.0 { dividend / divisor } else { 0.0 };
        self.combined(dividend, divisor, divide)
    }

    /// Uses the memory of a curve for later ones.
    pub(crate) fn recycle(&mut self, curve: Curve) {
        self.used.push(curve.breakpoints);
    }

    /// The curve of `value` of both curves' values.
    fn combined(&mut self, left: &Curve, right: &Curve, value: impl Fn(f64, f64) -> f64) -> Curve {
        let mut breakpoints = self.breakpoints(left.breakpoints.len() + right.breakpoints.len());
        let mut before = None;
        left.each_change(right, |time_ns, a, b| {
            let value = value(a, b);
            if before != Some(value) {
                breakpoints.push(Breakpoint { time_ns, value });
                before = Some(value);
            }
        });
        Curve { breakpoints }
    }

    /// An empty list with room for `most`, in the memory of a used one that fits best.
    fn breakpoints(&mut self, most: usize) -> Vec<Breakpoint> {
        self.used.sort_unstable_by_key(Vec::capacity);
        let fits = self.used.partition_point(|used| used.capacity() < most);
        let mut breakpoints = if fits < self.used.len() {
            self.used.swap_remove(fits)
        } else {
            self.used.pop().unwrap_or_default()
        };
        make_room(&mut breakpoints, most);
        breakpoints
    }

    fn change(&mut self, time_ns: u64, fall: f64, rise: f64) {
        self.changes.push(Change { time_ns, fall, rise });
    }
}

/// The running value and the largest it was.
#[derive(Default)]
struct Running {
    sum: CompensatedSum,
    largest: f64,
}

impl Running {
    fn add(&mut self, value: f64) {
        self.sum.add(value);
        self.largest = self.largest.max(self.value().abs());
    }

    fn value(&self) -> f64 {
        self.sum.value()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn points(mut builder: CurveBuilder) -> Vec<(u64, f64)> {
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
