//! Storage of list values, such as the gaps between chunks in ns: exact in four bytes each up to a budget, beyond it a
//! histogram of stated precision.

use hdrhistogram::Histogram;

use crate::{
    lists::ExactLists,
    precision::Precision,
    statistics::{PERCENTILES, Statistics, rank},
};

/// Significant decimal digits of the histogram: percentiles are off by at most 0.01 %.
const SIGNIFICANT_DIGITS: u8 = 4;
/// Largest value the histogram can hold; anything larger counts as this in percentiles (never in min, max or sum).
const HISTOGRAM_MAX: u64 = i64::MAX as u64 / 2;

/// The lists of one metric, one list per record in the order they were pushed.
///
/// Costs 4 bytes per value and per list and 16 more per value above 4.29 s; when that exceeds the budget, all values
/// move to a histogram (a few MiB, independent of their number) and the lists of single records are gone.
#[derive(Clone, Debug)]
pub struct GapStore {
    budget_bytes: usize,
    storage: Storage,
}

#[derive(Clone, Debug)]
enum Storage {
    Exact(ExactLists),
    Histogram(Box<Sketch>),
}

impl GapStore {
    /// An empty store that keeps exact values in up to `budget_bytes`.
    #[must_use]
    pub fn new(budget_bytes: usize) -> Self {
        Self {
            budget_bytes,
            storage: Storage::Exact(ExactLists::default()),
        }
    }

    /// Adds the list of one record.
    pub fn push(&mut self, list: &[u64]) {
        match &mut self.storage {
            Storage::Exact(exact) => {
                exact.push(list);
                if exact.bytes() > self.budget_bytes {
                    let mut sketch = Box::new(Sketch::new());
                    exact.values().for_each(|value| sketch.record(value));
                    self.storage = Storage::Histogram(sketch);
                }
            }
            Storage::Histogram(sketch) => list.iter().for_each(|&value| sketch.record(value)),
        }
    }

    /// Number of values in all lists.
    #[must_use]
    pub fn count(&self) -> u64 {
        match &self.storage {
            Storage::Exact(exact) => exact.count() as u64,
            Storage::Histogram(sketch) => sketch.count,
        }
    }

    /// Bytes held for exact values; 0 once there is a histogram.
    pub(crate) fn bytes(&self) -> usize {
        match &self.storage {
            Storage::Exact(exact) => exact.bytes(),
            Storage::Histogram(_) => 0,
        }
    }

    /// The list pushed as number `index` (from 0). `None` if there is no such list, or none any more.
    #[must_use]
    pub fn list(&self, index: usize) -> Option<impl Iterator<Item = u64> + Clone + '_> {
        match &self.storage {
            Storage::Exact(exact) => exact.list(index),
            Storage::Histogram(_) => None,
        }
    }

    /// How exact [`GapStore::statistics`] is.
    #[must_use]
    pub fn precision(&self) -> Precision {
        match &self.storage {
            Storage::Exact(_) => Precision::Exact,
            Storage::Histogram(_) => Precision::Histogram {
                significant_digits: SIGNIFICANT_DIGITS,
            },
        }
    }

    /// Statistics of all values of all lists pooled. `None` if there are none. Takes 4 more bytes per exact value while
    /// it runs.
    #[must_use]
    pub fn statistics(&self) -> Option<Statistics> {
        match &self.storage {
            Storage::Exact(exact) => exact.statistics(),
            Storage::Histogram(sketch) => sketch.statistics(),
        }
    }
}

#[derive(Clone, Debug)]
struct Sketch {
    histogram: Histogram<u64>,
    count: u64,
    sum: u128,
    min: u64,
    max: u64,
    /// Running mean and sum of squared deviations from it (Welford), which unlike a sum of squares does not cancel.
    mean: f64,
    squares: f64,
}

impl Sketch {
    #[expect(clippy::expect_used, reason = "fails only for more than five digits")]
    fn new() -> Self {
        let histogram = Histogram::new(SIGNIFICANT_DIGITS).expect("the number of digits is valid");
        Self {
            histogram,
            count: 0,
            sum: 0,
            min: u64::MAX,
            max: 0,
            mean: 0.0,
            squares: 0.0,
        }
    }

    fn record(&mut self, value: u64) {
        let counted = value.min(HISTOGRAM_MAX);
        if self.histogram.record(counted).is_err() {
            // Below its maximum a growing histogram takes every value; should it refuse, the count stays right.
            self.histogram.saturating_record(counted);
        }
        self.count += 1;
        self.sum += u128::from(value);
        self.min = self.min.min(value);
        self.max = self.max.max(value);
        let deviation = value as f64 - self.mean;
        self.mean += deviation / self.count as f64;
        self.squares += deviation * (value as f64 - self.mean);
    }

    fn statistics(&self) -> Option<Statistics> {
        if self.count == 0 {
            return None;
        }
        let n = self.count as f64;
        let mut statistics = Statistics {
            avg: Some(self.sum as f64 / n),
            min: Some(self.min as f64),
            max: Some(self.max as f64),
            sum: Some(self.sum as f64),
            std: Some((self.squares / n).sqrt()),
            count: Some(self.count),
            ..Statistics::default()
        };
        for q in PERCENTILES {
            let rank = rank(self.count as usize, q);
            let below = self.at_rank(rank.floor() as u64);
            let above = self.at_rank(rank.ceil() as u64);
            statistics.set_percentile(q, below + rank.fract() * (above - below));
        }
        Some(statistics)
    }

    /// The value of the given rank, counted from 0, as the middle of its bucket but never outside the values seen.
    fn at_rank(&self, rank: u64) -> f64 {
        let mut seen = 0;
        let bucket = self.histogram.iter_recorded().find(|bucket| {
            seen += bucket.count_at_value();
            seen > rank
        });
        let value = bucket.map_or(self.max, |bucket| {
            self.histogram.median_equivalent(bucket.value_iterated_to())
        });
        value.clamp(self.min, self.max) as f64
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    const LARGE: u64 = 10_000_000_000;

    fn store(budget: usize, lists: &[Vec<u64>]) -> GapStore {
        let mut store = GapStore::new(budget);
        lists.iter().for_each(|list| store.push(list));
        store
    }

    #[test]
    fn lists_come_back_with_their_large_values() {
        let edge = u64::from(u32::MAX);
        let lists = [vec![1, LARGE, 3], vec![], vec![edge, edge - 1, edge + 1, 0], vec![7]];
        let store = store(usize::MAX, &lists);
        for (i, list) in lists.iter().enumerate() {
            assert_eq!(&store.list(i).unwrap().collect::<Vec<_>>(), list);
        }
        assert!(store.list(4).is_none());
        assert_eq!((store.count(), store.precision()), (8, Precision::Exact));
        let s = store.statistics().unwrap();
        assert_eq!((s.min, s.max, s.count), (Some(0.0), Some(1e10), Some(8)));
    }

    #[test]
    fn the_budget_is_kept_to_the_byte() {
        // Three values and one list: 3·4 + 4 = 16 bytes.
        assert_eq!(store(16, &[vec![1, 2, 3]]).precision(), Precision::Exact);
        let over = store(15, &[vec![1, 2, 3]]);
        assert_eq!(over.precision(), Precision::Histogram { significant_digits: 4 });
        assert!(over.list(0).is_none());
        assert_eq!(over.count(), 3);
        // A large value costs 16 more.
        assert_eq!(store(32, &[vec![1, 2, LARGE]]).precision(), Precision::Exact);
        assert_ne!(store(31, &[vec![1, 2, LARGE]]).precision(), Precision::Exact);
    }

    #[test]
    fn no_values_no_statistics() {
        assert_eq!(store(100, &[]).statistics(), None);
        assert_eq!(store(100, &[vec![], vec![]]).statistics(), None);
        assert_eq!(store(0, &[vec![]]).statistics(), None);
    }

    #[test]
    fn absurdly_large_values_do_not_break_the_histogram() {
        let s = store(0, &[vec![u64::MAX, 1]]).statistics().unwrap();
        assert_eq!((s.min, s.max, s.count), (Some(1.0), Some(u64::MAX as f64), Some(2)));
    }

    proptest! {
        #[test]
        fn exact_storage_equals_plain_statistics(
            lists in prop::collection::vec(
                prop::collection::vec(prop_oneof![0u64..5_000_000, 4_294_967_290u64..20_000_000_000], 0..20), 0..20),
        ) {
            let mut all: Vec<f64> = lists.iter().flatten().map(|&v| v as f64).collect();
            prop_assert_eq!(store(usize::MAX, &lists).statistics(), Statistics::of(&mut all));
        }

        #[test]
        fn histogram_is_within_its_precision(
            lists in prop::collection::vec(prop::collection::vec(0u64..50_000_000_000, 1..40), 1..20),
            budget in 0usize..2000,
        ) {
            let exact = store(usize::MAX, &lists).statistics().unwrap();
            let got = store(budget, &lists).statistics().unwrap();
            prop_assert_eq!((got.min, got.max, got.sum, got.count), (exact.min, exact.max, exact.sum, exact.count));
            prop_assert!((got.avg.unwrap() - exact.avg.unwrap()).abs() <= 1e-12 * exact.avg.unwrap());
            prop_assert!((got.std.unwrap() - exact.std.unwrap()).abs() <= 1e-9 * exact.avg.unwrap());
            for q in PERCENTILES {
                let (got, exact) = (got.percentile(q).unwrap(), exact.percentile(q).unwrap());
                prop_assert!((got - exact).abs() <= 1e-4 * exact, "p{}: {} instead of {}", q, got, exact);
            }
        }
    }
}
