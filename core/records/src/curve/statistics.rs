//! Statistics of a curve over a window, weighted by time: over the whole of it, and over the part that is active, which is
//! when another curve, the mask, is positive.
//!
//! A curve passes by piece by piece: [`First`] deals its values out to buckets. What these leave open, [`Second`] finds when
//! the curve passes once more: the values of the buckets in which the percentiles are.

use super::{
    Curve,
    distribution::{Distribution, Search},
};
use crate::{statistics::Statistics, window::Window};

/// A stretch of time with one value.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Segment {
    pub(super) value: f64,
    /// Length in ns; a whole number, and what is done with it is exact up to 2^53 (a hundred days).
    pub(super) duration: f64,
}

impl Curve {
    /// Mean, standard deviation, minimum, maximum, p50, p90, p95 and p99 over `window`, each value weighted by how long
    /// it held. `None` if the window has no length.
    ///
    /// The time before the first change counts as 0, so an empty curve is 0 throughout. The percentile q is the
    /// smallest value that, with all smaller ones, covers at least the share q of the time.
    #[must_use]
    pub fn statistics(&self, window: Window) -> Option<Statistics> {
        self.both_statistics(None, window).0
    }

    /// The same over the part of `window` during which `mask` is positive: the intensity while something happens, not
    /// diluted by idle time. `None` if that never is.
    #[must_use]
    pub fn statistics_while(&self, mask: &Self, window: Window) -> Option<Statistics> {
        self.both_statistics(Some(mask), window).1
    }

    /// Of the whole window, and of its active part.
    fn both_statistics(&self, mask: Option<&Self>, window: Window) -> (Option<Statistics>, Option<Statistics>) {
        let mut first = Cut::first(window, mask.is_some());
        first.add(self, mask);
        let mut second = first.second(true, true);
        second.add(self, mask);
        second.statistics()
    }

    /// Whether it is positive from beginning to end.
    fn is_positive(&self) -> bool {
        self.before > 0.0 && self.breakpoints.iter().all(|breakpoint| breakpoint.value > 0.0)
    }
}

/// What is done with the segments of a curve.
pub(crate) trait Pass {
    /// Takes the next one, which is in the active part or not.
    fn segment(&mut self, segment: Segment, is_active: bool);
}

/// Cuts a curve to a window, and leaves the segments in it to a pass.
#[derive(Clone, Debug)]
pub(crate) struct Cut<P> {
    window: Window,
    is_masked: bool,
    since_ns: u64,
    value: f64,
    is_active: bool,
    pass: P,
}

impl<P: Pass> Cut<P> {
    fn new(window: Window, is_masked: bool, pass: P) -> Self {
        Self {
            window,
            is_masked,
            since_ns: window.start_ns,
            value: 0.0,
            is_active: !is_masked,
            pass,
        }
    }

    /// Takes the next piece of the curve, and of its mask if it has one; without, all of it is active.
    pub(crate) fn add(&mut self, curve: &Curve, mask: Option<&Curve>) {
        match mask.filter(|mask| !mask.is_positive()) {
            Some(mask) => curve.each_change(mask, |time_ns, value, mask| self.at(time_ns, value, mask > 0.0)),
            None => curve
                .breakpoints
                .iter()
                .for_each(|breakpoint| self.at(breakpoint.time_ns, breakpoint.value, true)),
        }
    }

    /// From `time_ns` on the curve has another value.
    fn at(&mut self, time_ns: u64, value: f64, is_active: bool) {
        let time_ns = time_ns.max(self.window.start_ns).min(self.window.end_ns);
        if time_ns > self.since_ns {
            let segment = Segment {
                value: self.value,
                // As a signed number, which the processor converts at once.
                duration: (time_ns - self.since_ns) as i64 as f64,
            };
            self.pass.segment(segment, self.is_active);
        }
        (self.since_ns, self.value, self.is_active) = (time_ns, value, is_active);
    }

    /// The curve is over.
    fn end(mut self) -> P {
        self.at(self.window.end_ns, 0.0, false);
        self.pass
    }
}

/// What is taken from a curve when it passes for the first time.
#[derive(Clone, Debug, Default)]
pub(crate) struct First {
    active: Distribution,
    idle: Distribution,
}

impl Pass for First {
    fn segment(&mut self, segment: Segment, is_active: bool) {
        let part = if is_active { &mut self.active } else { &mut self.idle };
        part.add(segment);
    }
}

impl Cut<First> {
    /// For a curve over `window`, with a mask or without.
    pub(crate) fn first(window: Window, is_masked: bool) -> Self {
        Self::new(window, is_masked, First::default())
    }

    /// Ends the first pass, of which the statistics of the whole window are wanted, those of its active part, or both.
    pub(crate) fn second(self, whole: bool, active: bool) -> Cut<Second> {
        let (window, is_masked) = (self.window, self.is_masked);
        let first = self.end();
        let find = |is_wanted, parts: &[&Distribution]| {
            let (statistics, search) = Some(parts).filter(|_| is_wanted).and_then(Distribution::statistics)?;
            Some(Found { statistics, search })
        };
        let second = Second {
            whole: find(whole, &[&first.active, &first.idle]),
            active: find(active, &[&first.active]),
        };
        Cut::new(window, is_masked, second)
    }
}

/// Statistics, and the search for the percentiles that they lack.
#[derive(Clone, Debug)]
struct Found {
    statistics: Statistics,
    search: Search,
}

/// What is taken from a curve when it passes for the second time.
#[derive(Clone, Debug)]
pub(crate) struct Second {
    whole: Option<Found>,
    active: Option<Found>,
}

impl Pass for Second {
    fn segment(&mut self, segment: Segment, is_active: bool) {
        if let Some(found) = &mut self.whole {
            found.search.add(segment);
        }
        if is_active && let Some(found) = &mut self.active {
            found.search.add(segment);
        }
    }
}

impl Cut<Second> {
    /// Whether the first pass has left nothing open.
    pub(crate) fn is_over(&self) -> bool {
        let found = [&self.pass.whole, &self.pass.active];
        found.into_iter().flatten().all(|found| found.search.is_over())
    }

    /// Ends the second pass: the statistics of the whole window and of its active part, each if it has a length and they are
    /// wanted.
    pub(crate) fn statistics(self) -> (Option<Statistics>, Option<Statistics>) {
        let Second { whole, active } = self.end();
        let finish = |found: Found| {
            let mut statistics = found.statistics;
            found.search.finish(&mut statistics);
            statistics
        };
        (whole.map(finish), active.map(finish))
    }
}

#[cfg(test)]
mod tests {
    use super::super::{Breakpoint, CurveBuilder, distribution::CURVE_PERCENTILES};
    use super::*;
    use proptest::prelude::*;

    fn window(start_ns: u64, end_ns: u64) -> Window {
        Window { start_ns, end_ns }
    }

    fn concurrency(intervals: &[(u64, u64)]) -> Curve {
        let mut builder = CurveBuilder::new();
        intervals.iter().for_each(|&(from, to)| builder.interval(from, to, 1.0));
        builder.build()
    }

    #[test]
    fn by_hand() {
        // 0 for 10 ns, 1 for 10, 2 for 70, 1 for 10: mean (10 + 140 + 10)/100, squares (10 + 280 + 10)/100 = 3.
        let s = concurrency(&[(10, 90), (20, 100)]).statistics(window(0, 100)).unwrap();
        let std = (3.0f64 - 1.6 * 1.6).sqrt();
        assert!((s.avg.unwrap() - 1.6).abs() < 1e-15);
        assert!((s.std.unwrap() - std).abs() < 1e-12);
        // Shares: 0 covers 0.1, 1 up to 0.3, 2 up to 1.
        assert_eq!(
            (s.min, s.max, s.p50, s.p90),
            (Some(0.0), Some(2.0), Some(2.0), Some(2.0))
        );
        assert_eq!((s.sum, s.count, s.p75, s.p25), (None, None, None, None));
    }

    #[test]
    fn a_share_reached_exactly_is_reached() {
        // 1 for 50 ns, 2 for 40, 3 for 10: p50 is still 1, p90 still 2.
        let s = concurrency(&[(0, 100), (50, 100), (90, 100)])
            .statistics(window(0, 100))
            .unwrap();
        assert_eq!(
            (s.p50, s.p90, s.p95, s.p99),
            (Some(1.0), Some(2.0), Some(3.0), Some(3.0))
        );
    }

    #[test]
    fn the_window_cuts_at_both_ends() {
        let curve = concurrency(&[(0, 1000), (100, 300)]);
        let s = curve.statistics(window(200, 400)).unwrap();
        assert_eq!((s.avg, s.min, s.max), (Some(1.5), Some(1.0), Some(2.0)));
        // Nothing changes inside, nothing has begun, everything is over.
        assert_eq!(curve.statistics(window(500, 600)).unwrap().min, Some(1.0));
        assert_eq!(
            concurrency(&[(50, 60)]).statistics(window(0, 50)).unwrap().max,
            Some(0.0)
        );
        assert_eq!(curve.statistics(window(2000, 2001)).unwrap().avg, Some(0.0));
    }

    #[test]
    fn empty_curve_and_empty_window() {
        let zero = Curve::default().statistics(window(0, 10)).unwrap();
        assert_eq!(
            (zero.avg, zero.max, zero.p99, zero.std),
            (Some(0.0), Some(0.0), Some(0.0), Some(0.0))
        );
        assert_eq!(concurrency(&[(0, 10)]).statistics(window(5, 5)), None);
        assert_eq!(concurrency(&[(0, 10)]).statistics(window(6, 5)), None);
    }

    #[test]
    fn active_time_only() {
        let mut rate = CurveBuilder::new();
        rate.interval(10, 20, 4.0);
        rate.interval(50, 60, 8.0);
        let rate = rate.build();
        // Active from 10 to 30 and 50 to 60: 4 for 10 ns, 0 for 10, 8 for 10.
        let mask = concurrency(&[(10, 30), (50, 60)]);
        let s = rate.statistics_while(&mask, window(0, 100)).unwrap();
        assert_eq!(
            (s.avg, s.min, s.max, s.p50),
            (Some(4.0), Some(0.0), Some(8.0), Some(4.0))
        );
        assert_eq!(rate.statistics_while(&mask, window(70, 100)), None);
        assert_eq!(rate.statistics_while(&Curve::default(), window(0, 100)), None);
    }

    proptest! {
        #[test]
        fn agrees_with_one_sample_per_nanosecond(
            changes in prop::collection::btree_map(0u64..120, 0u32..6, 0..30),
            mask in prop::collection::btree_map(0u64..120, 0u32..2, 0..10),
            start in 0u64..100, length in 1u64..60,
        ) {
            let curve = |points: &std::collections::BTreeMap<u64, u32>| Curve {
                before: 0.0,
                breakpoints:
                    points.iter().map(|(&time_ns, &v)| Breakpoint { time_ns, value: f64::from(v) }).collect(),
            };
            let at = |points: &std::collections::BTreeMap<u64, u32>, t: u64| {
                points.range(..=t).next_back().map_or(0.0, |(_, &v)| f64::from(v))
            };
            let span = window(start, start + length);
            for masked in [false, true] {
                let mut samples: Vec<f64> =
                    (start..start + length).filter(|&t| !masked || at(&mask, t) > 0.0).map(|t| at(&changes, t)).collect();
                let got = if masked {
                    curve(&changes).statistics_while(&curve(&mask), span)
                } else {
                    curve(&changes).statistics(span)
                };
                prop_assert_eq!(got.is_none(), samples.is_empty());
                let Some(got) = got else { continue };
                samples.sort_by(f64::total_cmp);
                let expected = Statistics::of(&mut samples.clone()).unwrap();
                prop_assert!((got.avg.unwrap() - expected.avg.unwrap()).abs() < 1e-12);
                prop_assert!((got.std.unwrap() - expected.std.unwrap()).abs() < 1e-12);
                prop_assert_eq!((got.min, got.max), (expected.min, expected.max));
                for q in CURVE_PERCENTILES {
                    let needed = (0..samples.len())
                        .find(|i| (i + 1) as f64 / samples.len() as f64 >= f64::from(q) / 100.0)
                        .unwrap();
                    prop_assert_eq!(got.percentile(q), Some(samples[needed]));
                }
            }
        }
    }
}
