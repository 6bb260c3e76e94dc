//! Readings of one field over time.

use crate::statistics::Statistics;

/// A span of time, both ends included, in ns of the monotonic clock.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Span {
    /// First instant.
    pub start_ns: u64,
    /// Last instant.
    pub end_ns: u64,
}

/// How much a counter grew.
#[derive(Debug, Clone, Copy, PartialEq)]
pub enum Growth {
    /// By so much.
    By(f64),
    /// Too few readings to tell.
    Unknown,
    /// It went back in between: it was reset, and what it counted before that is lost.
    Reset,
}

/// The readings of a field, in order of time. 16 bytes each.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct Series {
    at_ns: Vec<u64>,
    values: Vec<f64>,
}

impl Series {
    /// Adds a reading, which must not be older than the last one. The value must be finite.
    pub fn push(&mut self, at_ns: u64, value: f64) {
        debug_assert!(value.is_finite() && self.at_ns.last().is_none_or(|&last| last <= at_ns));
        self.at_ns.push(at_ns);
        self.values.push(value);
    }

    /// When the first and the last reading came.
    #[must_use]
    pub fn ends(&self) -> Option<(u64, u64)> {
        Some((*self.at_ns.first()?, *self.at_ns.last()?))
    }

    fn range(&self, span: Span) -> std::ops::Range<usize> {
        let from = self.at_ns.partition_point(|&at| at < span.start_ns);
        let to = self.at_ns.partition_point(|&at| at <= span.end_ns);
        from..to.max(from)
    }

    /// Statistics of a gauge within a span; `None` without a reading in it.
    #[must_use]
    pub fn gauge(&self, span: Span) -> Option<Statistics> {
        Statistics::of_sample(&mut self.values[self.range(span)].to_vec())
    }

    /// Growth of a counter: from the last reading before the span, else the first in it, to the last in it.
    #[must_use]
    pub fn growth(&self, span: Span) -> Growth {
        let within = self.range(span);
        if within.is_empty() {
            return Growth::Unknown;
        }
        let readings = &self.values[within.start.saturating_sub(1)..within.end];
        match readings {
            [first, .., last] if readings.is_sorted() => Growth::By(last - first),
            [_, _, ..] => Growth::Reset,
            _ => Growth::Unknown,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn series(readings: &[(u64, f64)]) -> Series {
        let mut series = Series::default();
        for &(at, value) in readings {
            series.push(at, value);
        }
        series
    }

    const fn span(start_ns: u64, end_ns: u64) -> Span {
        Span { start_ns, end_ns }
    }

    #[test]
    fn gauges_have_the_statistics_of_a_sample_within_the_span() {
        let series = series(&[(1, 900.0), (10, 100.0), (20, 200.0), (30, 300.0), (31, 900.0)]);
        let stats = series.gauge(span(10, 30)).unwrap();
        assert_eq!(
            (stats.avg, stats.min, stats.max),
            (Some(200.0), Some(100.0), Some(300.0))
        );
        // Deviations of -100, 0 and 100: 20,000 over n - 1 = 2.
        assert_eq!((stats.std, stats.sum, stats.count), (Some(100.0), Some(600.0), Some(3)));
        // Ranks 0.02, 1 and 1.98 of three values.
        assert_eq!(
            (stats.p1, stats.p50, stats.p99),
            (Some(102.0), Some(200.0), Some(298.0))
        );
        assert_eq!(series.gauge(span(11, 19)), None);
        assert_eq!(series.gauge(span(32, 5)), None);
        let one = series.gauge(span(20, 20)).unwrap();
        assert_eq!((one.avg, one.std, one.count), (Some(200.0), None, Some(1)));
    }

    #[test]
    fn counters_grow_from_the_last_reading_before_the_span() {
        let counter = series(&[(0, 5.0), (8, 7.0), (12, 8.0), (20, 11.5), (40, 50.0)]);
        for (within, expected) in [
            (span(10, 20), Growth::By(4.5)),
            (span(8, 20), Growth::By(6.5)),
            // Nothing came before: from the first reading within.
            (span(0, 20), Growth::By(6.5)),
            (span(0, 0), Growth::Unknown),
            (span(13, 19), Growth::Unknown),
            (span(41, 50), Growth::Unknown),
            (span(40, 50), Growth::By(38.5)),
        ] {
            assert_eq!(counter.growth(within), expected, "{within:?}");
        }
        let reset = series(&[(0, 5.0), (1, 9.0), (2, 1.0), (3, 10.0)]);
        assert_eq!(reset.growth(span(1, 3)), Growth::Reset);
        assert_eq!(reset.growth(span(3, 3)), Growth::By(9.0));
        assert_eq!(series(&[(0, 3.0), (5, 3.0)]).growth(span(1, 9)), Growth::By(0.0));
    }

    proptest::proptest! {
        #[test]
        fn growth_adds_up_over_adjacent_spans(steps in proptest::collection::vec(0_u32..100, 3..40), cut in 1_u64..39) {
            let mut total = 0.0;
            let readings: Vec<(u64, f64)> = (0..).zip(&steps).map(|(at, &step)| {
                total += f64::from(step);
                (at, total)
            }).collect();
            let last = readings.len() as u64 - 1;
            let cut = cut.min(last);
            let series = series(&readings);
            let growth = |span| match series.growth(span) {
                Growth::By(value) => value,
                _ => 0.0,
            };
            let sum = growth(span(0, cut - 1)) + growth(span(cut, last));
            proptest::prop_assert_eq!(sum, growth(span(0, last)));
        }
    }
}
