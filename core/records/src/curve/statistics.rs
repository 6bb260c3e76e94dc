//! Statistics of a curve over a window, weighted by time.
//!
//! A curve passes by twice, piece by piece: [`First`] takes its mean and deals its values out to buckets, [`Second`] takes
//! the deviation from that mean and the values of the buckets in which the percentiles are.

use super::{
    Curve,
    percentiles::{Buckets, Search},
};
use crate::{statistics::Statistics, summation::CompensatedSum, window::Window};

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
        let mut first = Cut::first(window, true);
        first.add(self);
        let mut second = first.second()?;
        second.add(self);
        Some(second.statistics())
    }

    /// The same over the part of `window` during which `mask` is positive: the intensity while something happens, not
    /// diluted by idle time. `None` if that never is.
    #[must_use]
    pub fn statistics_while(&self, mask: &Self, window: Window) -> Option<Statistics> {
        let mut first = Cut::first(window, false);
        first.add_while(self, mask);
        let mut second = first.second()?;
        second.add_while(self, mask);
        Some(second.statistics())
    }
}

/// What is done with the segments of a curve.
pub(crate) trait Pass {
    /// Takes the next one.
    fn segment(&mut self, segment: Segment);
}

/// Cuts a curve to a window, and leaves to a pass what counts.
#[derive(Clone, Debug)]
pub(crate) struct Cut<P> {
    window: Window,
    /// Whether the time before the first change counts.
    counts_before: bool,
    since_ns: u64,
    value: f64,
    counts: bool,
    pass: P,
}

impl<P: Pass> Cut<P> {
    fn new(window: Window, counts_before: bool, pass: P) -> Self {
        Self {
            window,
            counts_before,
            since_ns: window.start_ns,
            value: 0.0,
            counts: counts_before,
            pass,
        }
    }

    /// Takes the next piece of the curve.
    pub(crate) fn add(&mut self, curve: &Curve) {
        for breakpoint in &curve.breakpoints {
            self.at(breakpoint.time_ns, breakpoint.value, true);
        }
    }

    /// Takes the next piece, which counts while `mask` is positive.
    pub(crate) fn add_while(&mut self, curve: &Curve, mask: &Curve) {
        curve.each_change(mask, |time_ns, value, mask| self.at(time_ns, value, mask > 0.0));
    }

    /// From `time_ns` on the curve has another value.
    fn at(&mut self, time_ns: u64, value: f64, counts: bool) {
        let time_ns = time_ns.max(self.window.start_ns).min(self.window.end_ns);
        if self.counts && time_ns > self.since_ns {
            self.pass.segment(Segment {
                value: self.value,
                duration: (time_ns - self.since_ns) as f64,
            });
        }
        (self.since_ns, self.value, self.counts) = (time_ns, value, counts);
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
    /// Of the values, each times its duration.
    sum: CompensatedSum,
    buckets: Buckets,
}

impl Pass for First {
    fn segment(&mut self, segment: Segment) {
        self.sum.add(segment.value * segment.duration);
        self.buckets.add(segment);
    }
}

impl Cut<First> {
    /// For a curve over `window`, whose time before the first change counts (as 0) or not.
    pub(crate) fn first(window: Window, counts_before: bool) -> Self {
        Self::new(window, counts_before, First::default())
    }

    /// Ends the first pass; `None` if nothing of the curve counts.
    pub(crate) fn second(self) -> Option<Cut<Second>> {
        let (window, counts_before) = (self.window, self.counts_before);
        let First { sum, buckets } = self.end();
        let total = buckets.total();
        if total == 0.0 {
            return None;
        }
        let (min, max) = buckets.range();
        let avg = sum.value() / total;
        let mut statistics = Statistics {
            avg: Some(avg),
            min: Some(min),
            max: Some(max),
            ..Statistics::default()
        };
        let search = buckets.percentiles(&mut statistics);
        let second = Second {
            statistics,
            avg,
            total,
            squares: CompensatedSum::default(),
            search,
        };
        Some(Cut::new(window, counts_before, second))
    }
}

/// What is taken from a curve when it passes for the second time.
#[derive(Clone, Debug)]
pub(crate) struct Second {
    statistics: Statistics,
    avg: f64,
    total: f64,
    /// Of the deviations, each times its duration.
    squares: CompensatedSum,
    search: Search,
}

impl Pass for Second {
    fn segment(&mut self, segment: Segment) {
        let deviation = segment.value - self.avg;
        self.squares.add(deviation * deviation * segment.duration);
        self.search.add(segment);
    }
}

impl Cut<Second> {
    /// Ends the second pass.
    pub(crate) fn statistics(self) -> Statistics {
        let Second {
            mut statistics,
            total,
            squares,
            search,
            ..
        } = self.end();
        statistics.std = Some((squares.value() / total).sqrt());
        search.finish(&mut statistics);
        statistics
    }
}

#[cfg(test)]
mod tests {
    use super::super::{Breakpoint, CurveBuilder, percentiles::CURVE_PERCENTILES};
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
