//! Percentiles of values that held for different lengths of time.

use super::statistics::{Range, Segment};
use crate::statistics::Statistics;

/// The percentiles reported for curves, ascending.
pub(super) const CURVE_PERCENTILES: [u8; 4] = [50, 90, 95, 99];

/// So few are sorted.
const FEW: usize = 256;
/// Digits of a number in base 2 by which the others are told apart.
const BITS: u32 = 12;
/// A value this share of the largest one counts as small: those below are told apart only if a percentile is among them.
/// Without it the zeros of idle time would leave a single bucket for everything else.
const SMALL: f64 = 1.0 / (1u64 << 32) as f64;

/// Sets the percentiles of `segments`, whose values lie in `range` and which together last `total` ns. Percentile q is the
/// smallest value that, with all smaller ones, covers at least the share q of the time.
pub(super) fn find(segments: &[Segment], range: Range, total: f64, statistics: &mut Statistics) {
    Search { total, statistics }.among(segments, range, 0.0, &CURVE_PERCENTILES);
}

struct Search<'a> {
    total: f64,
    statistics: &'a mut Statistics,
}

impl Search<'_> {
    /// Finds the percentiles `wanted` among `segments`, where they are known to be; smaller values than these cover
    /// `covered`.
    ///
    /// The values are dealt out to buckets in their order; the times of the buckets tell which ones hold the percentiles,
    /// and only those are looked into.
    fn among(&mut self, segments: &[Segment], range: Range, mut covered: f64, mut wanted: &[u8]) {
        if segments.len() <= FEW {
            return self.sorted(segments.to_vec(), covered, wanted);
        }
        let Range { min, max } = range;
        if min == max {
            return self.set(wanted, min);
        }
        let small = if max > 0.0 { min.max(max * SMALL) } else { min };
        let (least, span) = (order(small), order(max).saturating_sub(order(small)));
        let shift = (u64::BITS - span.leading_zeros()).saturating_sub(BITS);
        // What is not a number, after an overflow, goes to the last one; its statistics will be dropped.
        let bucket = |segment: &Segment| (order(segment.value).saturating_sub(least).min(span) >> shift) as usize;

        let mut buckets = vec![Bucket::default(); (span >> shift) as usize + 1];
        for segment in segments {
            let bucket = &mut buckets[bucket(segment)];
            bucket.duration += segment.duration;
            bucket.range.add(segment.value);
        }
        let mut looked_into = Vec::new();
        for (number, bucket) in buckets.iter_mut().enumerate() {
            let reached = covered + bucket.duration;
            let here = self.reached(wanted, reached);
            if here > 0 {
                let Range { min, max } = bucket.range;
                if min == max {
                    self.set(&wanted[..here], min);
                } else {
                    bucket.is_looked_into = true;
                    looked_into.push((number, covered, &wanted[..here]));
                }
                wanted = &wanted[here..];
            }
            covered = reached;
        }
        if looked_into.is_empty() {
            return;
        }
        let marked = |segment: &&Segment| buckets[bucket(segment)].is_looked_into;
        let candidates: Vec<Segment> = segments.iter().filter(marked).copied().collect();
        for (number, covered, wanted) in looked_into {
            let inside = candidates.iter().filter(|segment| bucket(segment) == number);
            let inside: Vec<Segment> = inside.copied().collect();
            if inside.len() < segments.len() {
                self.among(&inside, buckets[number].range, covered, wanted);
            } else {
                self.sorted(inside, covered, wanted);
            }
        }
    }

    /// The same by sorting.
    fn sorted(&mut self, mut segments: Vec<Segment>, mut covered: f64, mut wanted: &[u8]) {
        segments.sort_unstable_by(|a, b| a.value.total_cmp(&b.value));
        for segment in segments {
            covered += segment.duration;
            let here = self.reached(wanted, covered);
            self.set(&wanted[..here], segment.value);
            wanted = &wanted[here..];
        }
    }

    /// How many of the percentiles are reached by covering so much time.
    fn reached(&self, wanted: &[u8], covered: f64) -> usize {
        let share = covered / self.total;
        wanted.iter().take_while(|&&q| share >= f64::from(q) / 100.0).count()
    }

    fn set(&mut self, percentiles: &[u8], value: f64) {
        percentiles
            .iter()
            .for_each(|&q| self.statistics.set_percentile(q, value));
    }
}

/// Values that are about the same.
#[derive(Clone, Default)]
struct Bucket {
    /// How long they held, together.
    duration: f64,
    range: Range,
    is_looked_into: bool,
}

/// A number that is greater the greater the value is.
fn order(value: f64) -> u64 {
    let bits = value.to_bits();
    // Negative numbers count backwards, below the others.
    let flip = (bits as i64 >> 63) as u64 | 1 << 63;
    bits ^ flip
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn both(segments: &[Segment]) -> [Statistics; 2] {
        let total: f64 = segments.iter().map(|s| s.duration).sum();
        let mut range = Range::default();
        segments.iter().for_each(|segment| range.add(segment.value));
        let (mut found, mut sorted) = (Statistics::default(), Statistics::default());
        find(segments, range, total, &mut found);
        let mut search = Search {
            total,
            statistics: &mut sorted,
        };
        search.sorted(segments.to_vec(), 0.0, &CURVE_PERCENTILES);
        [found, sorted]
    }

    fn segments(values: impl IntoIterator<Item = (f64, u64)>) -> Vec<Segment> {
        let segment = |(value, ns)| Segment {
            value,
            duration: ns as f64,
        };
        values.into_iter().map(segment).collect()
    }

    #[test]
    fn by_hand() {
        // A thousand values of 1 ns: the percentile q is the one after which q % have passed.
        let [found, _] = both(&segments((0..1000).rev().map(|i| (f64::from(i), 1))));
        assert_eq!(
            (found.p50, found.p90, found.p95, found.p99),
            (Some(499.0), Some(899.0), Some(949.0), Some(989.0))
        );
        // Idle for 80 % of the time, then close together.
        let mut idle = segments((0..1000).map(|i| (1000.0 + f64::from(i) / 1000.0, 1)));
        idle.push(Segment {
            value: 0.0,
            duration: 4000.0,
        });
        let [found, _] = both(&idle);
        assert_eq!(
            (found.p50, found.p90, found.p95),
            (Some(0.0), Some(1000.499), Some(1000.749))
        );
    }

    #[test]
    fn what_overflowed_does_not_stop_the_search() {
        for odd in [f64::NAN, f64::INFINITY, f64::NEG_INFINITY] {
            let mut segments = segments((0..1000).map(|i| (f64::from(i), 1)));
            segments[3].value = odd;
            segments[4].value = odd;
            both(&segments);
        }
    }

    proptest! {
        #[test]
        fn agrees_with_sorting(
            values in prop::collection::vec(
                (prop_oneof![
                    Just(0.0), Just(-0.0), 0f64..1e-3, 100f64..101.0, -5f64..5.0, (0u32..4).prop_map(f64::from),
                    any::<f64>().prop_filter("finite", |v| v.is_finite()),
                ], 1u64..1000),
                1..2000,
            ),
        ) {
            let [found, sorted] = both(&segments(values));
            prop_assert_eq!(found, sorted);
        }

        #[test]
        fn order_is_that_of_the_values(a in any::<f64>(), b in any::<f64>()) {
            prop_assert_eq!(order(a).cmp(&order(b)), a.total_cmp(&b));
        }
    }
}
