//! Distributions of values that held for different lengths of time.
//!
//! The values are dealt out to buckets in their order. The buckets know how long their values held, and the first two
//! moments of these, which give mean and deviation. Their times tell which ones hold the percentiles, and only what goes to
//! those is kept and sorted when the values come a second time.

use super::statistics::Segment;
use crate::{statistics::Statistics, summation::CompensatedSum};

/// The percentiles reported for curves, ascending.
pub(super) const CURVE_PERCENTILES: [u8; 4] = [50, 90, 95, 99];

/// Sign and exponent of a number: what it has in common with others of about its size.
const SIZE_BITS: u32 = 12;
/// Digits in base 2 by which numbers of one size are told apart.
const DIGITS: u32 = 9;

/// Values that are about the same.
#[derive(Clone, Copy, Debug, Default)]
struct Bucket {
    /// How long they held, together.
    duration: f64,
    /// The first of them, from which the others are counted: so next to nothing of the moments is lost to rounding.
    origin: f64,
    /// Sum of `value - origin`, each times its duration.
    first_moment: f64,
    /// Sum of the squares of `value - origin`, each times its duration.
    second_moment: f64,
    /// Whether another value followed.
    is_mixed: bool,
}

/// How long which values held. 20 KiB for each size of number there is, and 8 KiB.
#[derive(Clone, Debug)]
pub(super) struct Distribution {
    /// For each size which buckets are its own, counted from 1; 0 if it has none. Empty while there are no values.
    sizes: Vec<u16>,
    /// `2^DIGITS` for each size, in the order in which they came.
    buckets: Vec<Bucket>,
    min: f64,
    max: f64,
}

impl Default for Distribution {
    fn default() -> Self {
        Self {
            sizes: Vec::new(),
            buckets: Vec::new(),
            min: f64::INFINITY,
            max: f64::NEG_INFINITY,
        }
    }
}

impl Distribution {
    pub(super) fn add(&mut self, Segment { value, duration }: Segment) {
        // As the processor has it, unlike `f64::min`; what is not a number leaves the range as it is.
        self.min = if value < self.min { value } else { self.min };
        self.max = if value > self.max { value } else { self.max };
        let number = number(value);
        let (size, digits) = ((number >> DIGITS) as usize, number as usize % (1 << DIGITS));
        let own = match self.sizes.get(size) {
            Some(&own) if own > 0 => usize::from(own),
            _ => self.add_size(size),
        };
        self.buckets[((own - 1) << DIGITS) + digits].add(value, duration);
    }

    #[cold]
    fn add_size(&mut self, size: usize) -> usize {
        self.sizes.resize(1 << SIZE_BITS, 0);
        self.buckets
            .resize(self.buckets.len() + (1 << DIGITS), Bucket::default());
        let own = self.buckets.len() >> DIGITS;
        // There are 2^12 sizes.
        self.sizes[size] = own as u16;
        own
    }

    /// The buckets that are not empty by their numbers, ascending.
    fn filled(&self) -> impl Iterator<Item = (u64, Bucket)> + '_ {
        let sizes = (0u64..).zip(&self.sizes).filter(|&(_, &own)| own > 0);
        sizes.flat_map(|(size, &own)| {
            let own = usize::from(own);
            let buckets = &self.buckets[(own - 1) << DIGITS..own << DIGITS];
            let numbers = size << DIGITS..;
            numbers
                .zip(buckets.iter().copied())
                .filter(|(_, bucket)| bucket.duration > 0.0)
        })
    }

    /// Statistics of the values of several distributions together, and the search for the percentiles that they lack.
    /// `None` if there are no values.
    ///
    /// The percentile q is the smallest value that, with all smaller ones, covers at least the share q of the time.
    pub(super) fn statistics(parts: &[&Self]) -> Option<(Statistics, Search)> {
        let mut buckets: Vec<_> = parts.iter().flat_map(|part| part.filled()).collect();
        buckets.sort_by_key(|&(number, _)| number);
        let sum = |of: &dyn Fn(&Bucket) -> f64| {
            let mut sum = CompensatedSum::default();
            buckets.iter().for_each(|(_, bucket)| sum.add(of(bucket)));
            sum.value()
        };
        let total = sum(&|bucket| bucket.duration);
        if total == 0.0 {
            return None;
        }
        let min = parts.iter().fold(f64::INFINITY, |min, part| min.min(part.min));
        let max = parts.iter().fold(f64::NEG_INFINITY, |max, part| max.max(part.max));
        let avg = min + sum(&|bucket| bucket.duration * (bucket.origin - min) + bucket.first_moment) / total;
        let variance = sum(&|bucket| bucket.squares(avg)) / total;
        let mut statistics = Statistics {
            avg: Some(avg),
            min: Some(min),
            max: Some(max),
            // Rounding may leave less than nothing.
            std: Some(if variance < 0.0 { 0.0 } else { variance.sqrt() }),
            ..Statistics::default()
        };
        let (mut covered, mut wanted, mut sought) = (0.0, &CURVE_PERCENTILES[..], Vec::new());
        for alike in buckets.chunk_by(|a, b| a.0 == b.0) {
            let (number, first) = alike[0];
            let reached = covered + alike.iter().map(|(_, bucket)| bucket.duration).sum::<f64>();
            let (here, later) = wanted.split_at(reached_by(reached / total, wanted));
            if alike
                .iter()
                .all(|(_, bucket)| !bucket.is_mixed && bucket.origin == first.origin)
            {
                here.iter().for_each(|&q| statistics.set_percentile(q, first.origin));
            } else if !here.is_empty() {
                sought.push(Sought {
                    number,
                    covered,
                    percentiles: here,
                    segments: Vec::new(),
                });
            }
            (covered, wanted) = (reached, later);
        }
        Some((statistics, Search { total, sought }))
    }
}

impl Bucket {
    fn add(&mut self, value: f64, duration: f64) {
        self.origin = if self.duration == 0.0 { value } else { self.origin };
        let distance = value - self.origin;
        let moment = distance * duration;
        self.duration += duration;
        self.first_moment += moment;
        self.second_moment += distance * moment;
        self.is_mixed |= distance != 0.0;
    }

    /// Sum of the squares of `value - avg`, each times its duration.
    fn squares(&self, avg: f64) -> f64 {
        let distance = self.origin - avg;
        (self.duration * distance + 2.0 * self.first_moment) * distance + self.second_moment
    }
}

/// How many of `percentiles` are at most `share`.
fn reached_by(share: f64, percentiles: &[u8]) -> usize {
    let reached = percentiles.iter().take_while(|&&q| share >= f64::from(q) / 100.0);
    reached.count()
}

/// The search for percentiles in the buckets that hold them.
#[derive(Clone, Debug)]
pub(super) struct Search {
    total: f64,
    sought: Vec<Sought>,
}

/// A bucket that holds percentiles.
#[derive(Clone, Debug)]
struct Sought {
    number: u64,
    /// How long all smaller values held.
    covered: f64,
    percentiles: &'static [u8],
    /// What went to it.
    segments: Vec<Segment>,
}

impl Search {
    /// Whether nothing is sought.
    pub(super) fn is_over(&self) -> bool {
        self.sought.is_empty()
    }

    /// Looks at a value for the second time.
    pub(super) fn add(&mut self, segment: Segment) {
        let number = number(segment.value);
        for sought in &mut self.sought {
            if sought.number == number {
                sought.segments.push(segment);
            }
        }
    }

    /// Sets what was found.
    pub(super) fn finish(self, statistics: &mut Statistics) {
        for mut sought in self.sought {
            sought.segments.sort_unstable_by(|a, b| a.value.total_cmp(&b.value));
            let (mut covered, mut wanted) = (sought.covered, sought.percentiles);
            for Segment { value, duration } in sought.segments {
                covered += duration;
                let (here, later) = wanted.split_at(reached_by(covered / self.total, wanted));
                here.iter().for_each(|&q| statistics.set_percentile(q, value));
                wanted = later;
            }
        }
    }
}

/// The number of the bucket of a value, the greater the greater the value is.
fn number(value: f64) -> u64 {
    order(value) >> (u64::BITS - SIZE_BITS - DIGITS)
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

    fn found(segments: &[Segment]) -> Statistics {
        // In two parts, which must not matter.
        let mut parts = [Distribution::default(), Distribution::default()];
        for (i, &segment) in segments.iter().enumerate() {
            parts[usize::from(i % 3 == 0)].add(segment);
        }
        let (mut statistics, mut search) = Distribution::statistics(&[&parts[0], &parts[1]]).unwrap();
        segments.iter().for_each(|&segment| search.add(segment));
        search.finish(&mut statistics);
        statistics
    }

    /// The same by sorting all.
    fn sorted(segments: &[Segment]) -> Statistics {
        let (mut segments, mut statistics) = (segments.to_vec(), Statistics::default());
        segments.sort_by(|a, b| a.value.total_cmp(&b.value));
        let total: f64 = segments.iter().map(|segment| segment.duration).sum();
        for q in CURVE_PERCENTILES {
            let mut covered = 0.0;
            let reaches = |segment: &&Segment| {
                covered += segment.duration;
                covered / total >= f64::from(q) / 100.0
            };
            statistics.set_percentile(q, segments.iter().find(reaches).unwrap().value);
        }
        statistics
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
        let found_ = found(&segments((0..1000).rev().map(|i| (f64::from(i), 1))));
        assert_eq!(
            (found_.p50, found_.p90, found_.p95, found_.p99),
            (Some(499.0), Some(899.0), Some(949.0), Some(989.0))
        );
        // Idle for 80 % of the time, then close together.
        let mut idle = segments((0..1000).map(|i| (1000.0 + f64::from(i) / 1000.0, 1)));
        idle.push(Segment {
            value: 0.0,
            duration: 4000.0,
        });
        let found = found(&idle);
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
            found(&segments);
        }
    }

    proptest! {
        #[test]
        fn agrees_with_sorting(
            values in prop::collection::vec(
                (prop_oneof![
                    Just(0.0), 0f64..1e-3, 100f64..101.0, -5f64..5.0, (0u32..4).prop_map(f64::from),
                    any::<f64>().prop_filter("finite", |v| v.is_finite()),
                ], 1u64..1000),
                1..2000,
            ),
        ) {
            let segments = segments(values);
            let (found, sorted) = (found(&segments), sorted(&segments));
            for q in CURVE_PERCENTILES {
                prop_assert_eq!(found.percentile(q), sorted.percentile(q));
            }
            let by_value = |a: &&Segment, b: &&Segment| a.value.total_cmp(&b.value);
            prop_assert_eq!(found.min, segments.iter().min_by(by_value).map(|segment| segment.value));
            prop_assert_eq!(found.max, segments.iter().max_by(by_value).map(|segment| segment.value));
        }

        #[test]
        fn mean_and_deviation_of_values_far_from_zero(
            values in prop::collection::vec((0u32..3000, 1u64..1000), 1..500),
        ) {
            // Whole numbers, whose moments are exact as integers.
            let total: i128 = values.iter().map(|&(_, ns)| i128::from(ns)).sum();
            let moment = |power: u32| -> i128 {
                values.iter().map(|&(value, ns)| i128::from(value).pow(power) * i128::from(ns)).sum()
            };
            let variance = (total * moment(2) - moment(1) * moment(1)) as f64 / (total * total) as f64;
            let far = 1e9;
            let found = found(&segments(values.iter().map(|&(value, ns)| (far + f64::from(value), ns))));
            prop_assert!((found.avg.unwrap() - (far + moment(1) as f64 / total as f64)).abs() <= 1e-6);
            prop_assert!((found.std.unwrap() - variance.sqrt()).abs() <= 1e-9 * variance.sqrt());
        }

        #[test]
        fn order_is_that_of_the_values(a in any::<f64>(), b in any::<f64>()) {
            prop_assert_eq!(order(a).cmp(&order(b)), a.total_cmp(&b));
        }
    }
}
