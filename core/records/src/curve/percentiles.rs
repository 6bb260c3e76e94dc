//! Percentiles of values that held for different lengths of time.
//!
//! The values are dealt out to buckets in their order. The times of the buckets tell which ones hold the percentiles, and
//! only what goes to those is kept and sorted when the values come a second time.

use super::statistics::Segment;
use crate::statistics::Statistics;

/// The percentiles reported for curves, ascending.
pub(super) const CURVE_PERCENTILES: [u8; 4] = [50, 90, 95, 99];

/// Sign and exponent of a number: what it has in common with others of about its size.
const SIZE_BITS: u32 = 12;
/// Digits in base 2 by which numbers of one size are told apart.
const DIGITS: u32 = 9;

/// Values that are about the same.
#[derive(Clone, Copy, Debug)]
struct Bucket {
    /// How long they held, together.
    duration: f64,
    min: f64,
    max: f64,
}

const EMPTY: Bucket = Bucket {
    duration: 0.0,
    min: f64::INFINITY,
    max: f64::NEG_INFINITY,
};

/// How long which values held. 12 KiB for each size of number there is, and 16 KiB.
#[derive(Clone, Debug)]
pub(super) struct Buckets {
    /// For each size the position of its first bucket, if it has any.
    sizes: Vec<Option<u16>>,
    /// `2^DIGITS` for each size, in the order in which they came.
    buckets: Vec<Bucket>,
}

impl Default for Buckets {
    fn default() -> Self {
        Self {
            sizes: vec![None; 1 << SIZE_BITS],
            buckets: Vec::new(),
        }
    }
}

impl Buckets {
    pub(super) fn add(&mut self, Segment { value, duration }: Segment) {
        let bucket = number(value);
        let (size, digits) = ((bucket >> DIGITS) as usize, bucket as usize % (1 << DIGITS));
        let size = match self.sizes[size] {
            Some(known) => usize::from(known),
            None => self.add_size(size),
        };
        let bucket = &mut self.buckets[(size << DIGITS) + digits];
        bucket.duration += duration;
        // As the processor has it, unlike `f64::min`; what is not a number leaves the range as it is.
        bucket.min = if value < bucket.min { value } else { bucket.min };
        bucket.max = if value > bucket.max { value } else { bucket.max };
    }

    #[cold]
    fn add_size(&mut self, size: usize) -> usize {
        let next = self.buckets.len() >> DIGITS;
        // There are 2^12 sizes.
        self.sizes[size] = Some(next as u16);
        self.buckets.resize(self.buckets.len() + (1 << DIGITS), EMPTY);
        next
    }

    /// The buckets that are not empty by their numbers, ascending.
    fn filled(&self) -> impl Iterator<Item = (u64, Bucket)> + '_ {
        let sizes = self.sizes.iter().enumerate();
        sizes
            .filter_map(|(size, known)| Some((size, usize::from((*known)?))))
            .flat_map(|(size, known)| {
                let buckets = &self.buckets[known << DIGITS..(known + 1) << DIGITS];
                let numbers = ((size as u64) << DIGITS)..;
                numbers
                    .zip(buckets.iter().copied())
                    .filter(|(_, bucket)| bucket.duration > 0.0)
            })
    }

    /// How long all values held.
    pub(super) fn total(&self) -> f64 {
        self.filled().map(|(_, bucket)| bucket.duration).sum()
    }

    /// The least and the largest value.
    pub(super) fn range(&self) -> (f64, f64) {
        self.filled().fold((EMPTY.min, EMPTY.max), |(min, max), (_, bucket)| {
            (min.min(bucket.min), max.max(bucket.max))
        })
    }

    /// The percentiles: the smallest value that, with all smaller ones, covers at least the share of the time. Sets those
    /// that are known by now, and gives the search for the others.
    pub(super) fn percentiles(&self, statistics: &mut Statistics) -> Search {
        let total = self.total();
        let (mut covered, mut wanted, mut sought) = (0.0, &CURVE_PERCENTILES[..], Vec::new());
        for (number, bucket) in self.filled() {
            let reached = covered + bucket.duration;
            let (here, later) = wanted.split_at(reached_by(reached / total, wanted));
            if bucket.min == bucket.max {
                here.iter().for_each(|&q| statistics.set_percentile(q, bucket.min));
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
        Search { total, sought }
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
        let (mut buckets, mut statistics) = (Buckets::default(), Statistics::default());
        segments.iter().for_each(|&segment| buckets.add(segment));
        let mut search = buckets.percentiles(&mut statistics);
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
            prop_assert_eq!(found(&segments), sorted(&segments));
        }

        #[test]
        fn order_is_that_of_the_values(a in any::<f64>(), b in any::<f64>()) {
            prop_assert_eq!(order(a).cmp(&order(b)), a.total_cmp(&b));
        }
    }
}
