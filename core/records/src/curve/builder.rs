//! Sums intervals and steps into a curve.

use super::{Breakpoint, Curve, Spare};
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
/// interval or gap (where a gap follows another, the two share theirs), until it is in a piece of the curve.
#[derive(Clone, Debug, Default)]
pub struct CurveBuilder {
    changes: Vec<Change>,
    running: Running,
    at_one_instant: Vec<f64>,
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

    /// The sum of all contributions, and no contributions for the next curve.
    ///
    /// Changes are ordered by time, decreases before increases. At one instant they meet in one breakpoint. The running
    /// value is kept with its rounding error, and what is left of it near 0 is set to 0.
    #[must_use]
    pub fn build(&mut self) -> Curve {
        loop {
            let (mut pass, mut curve) = (self.clone(), Curve::default());
            pass.piece(None, &mut Spare::default(), &mut curve);
            if pass.is_settled() {
                *self = Self::default();
                return curve;
            }
            self.running = pass.running.again();
        }
    }

    /// Number of changes that are in no piece yet.
    pub(crate) fn pending(&self) -> usize {
        self.changes.len()
    }

    /// Makes `curve`, which is the piece before, the next piece: with all changes before `until_ns`, or all there are.
    /// Later contributions may not begin before that.
    pub(crate) fn piece(&mut self, until_ns: Option<u64>, spare: &mut Spare, curve: &mut Curve) {
        curve.go_on();
        let Self {
            changes,
            at_one_instant,
            ..
        } = self;
        let (mut running, mut value) = (self.running, curve.before);
        let mut ordered = spare.order(changes, until_ns).map(|place| changes[place]).peekable();
        while let Some(Change { time_ns, fall, rise }) = ordered.next() {
            let same = |next: &Change| next.time_ns == time_ns;
            if ordered.peek().is_some_and(same) {
                at_one_instant.clear();
                at_one_instant.extend([fall, rise]);
                while let Some(next) = ordered.next_if(same) {
                    at_one_instant.extend([next.fall, next.rise]);
                }
                at_one_instant.sort_unstable_by(f64::total_cmp);
                at_one_instant.iter().for_each(|&change| running.sum.add(change));
            } else {
                running.sum.add(fall.min(rise));
                running.sum.add(fall.max(rise));
            }
            let before = std::mem::replace(&mut value, running.value());
            if value != before {
                curve.breakpoints.push(Breakpoint { time_ns, value });
            }
        }
        self.running = running;
        match until_ns {
            Some(until_ns) => changes.retain(|change| change.time_ns >= until_ns),
            None => changes.clear(),
        }
    }

    /// Whether nothing counted as more than rounding that was less, as the largest value came only later. If not, the
    /// pieces are to be built again.
    pub(crate) fn is_settled(&self) -> bool {
        self.running.least >= NOISE * self.running.largest
    }

    /// Begins the same curve again. What was contributed until now is in it no more, but how large it was is known.
    pub(crate) fn restart(&mut self) {
        self.changes.clear();
        self.running = self.running.again();
    }

    fn change(&mut self, time_ns: u64, fall: f64, rise: f64) {
        self.changes.push(Change { time_ns, fall, rise });
    }
}

/// The value of a curve as time goes on.
#[derive(Clone, Copy, Debug)]
struct Running {
    sum: CompensatedSum,
    /// The largest it was, or is known to become.
    largest: f64,
    /// The least above rounding.
    least: f64,
}

impl Default for Running {
    fn default() -> Self {
        Self {
            sum: CompensatedSum::default(),
            largest: 0.0,
            least: f64::INFINITY,
        }
    }
}

impl Running {
    fn again(self) -> Self {
        Self {
            largest: self.largest,
            ..Self::default()
        }
    }

    /// The value, or 0 if it is no more than rounding.
    fn value(&mut self) -> f64 {
        let value = self.sum.value();
        let size = value.abs();
        // As the processor has it, unlike `f64::max`; what is not a number changes nothing.
        self.largest = if size > self.largest { size } else { self.largest };
        if size == 0.0 || size < NOISE * self.largest {
            return 0.0;
        }
        self.least = if size < self.least { size } else { self.least };
        value
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
        // Below 1e-9 of the largest value everything counts as rounding, even before that.
        assert_eq!(points(builder), [(10, 1e15), (20, 0.0)]);
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
