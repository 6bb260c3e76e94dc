//! Lists of integers in four bytes per value, none lost.

use crate::{pieces::Compact, statistics::Statistics};

/// Lists in the order they were pushed.
#[derive(Clone, Debug, Default)]
pub(crate) struct ExactLists {
    values: Compact,
    /// For each list the position after its last value.
    ends: Compact,
}

impl ExactLists {
    /// Adds a list.
    pub(crate) fn push(&mut self, list: &[u64]) {
        self.values.extend(list);
        self.ends.push(self.values.len() as u64);
    }

    /// What is stored, in bytes: 4 per value and per list, 16 more per value above 4.29 s and per list beyond 2^32 values.
    pub(crate) fn bytes(&self) -> usize {
        self.values.bytes() + self.ends.bytes()
    }

    /// Number of values in all lists.
    pub(crate) fn count(&self) -> usize {
        self.values.len()
    }

    /// The values of all lists, one after the other.
    pub(crate) fn values(&self) -> impl Iterator<Item = u64> + Clone + '_ {
        self.range(0..self.values.len())
    }

    /// The list pushed as number `index` (from 0).
    pub(crate) fn list(&self, index: usize) -> Option<impl Iterator<Item = u64> + Clone + '_> {
        (index < self.ends.len()).then(|| {
            let start = index.checked_sub(1).map_or(0, |before| self.ends.at(before));
            self.range(start as usize..self.ends.at(index) as usize)
        })
    }

    fn range(&self, range: std::ops::Range<usize>) -> impl Iterator<Item = u64> + Clone + '_ {
        range.map(|place| self.values.at(place))
    }

    /// Statistics of all values pooled. Takes 4 more bytes per value while it runs.
    pub(crate) fn statistics(&self) -> Option<Statistics> {
        let (small, large) = self.values.sorted();
        Statistics::of_sorted(small.len() + large.len(), |i| match small.get(i) {
            Some(&value) => f64::from(value),
            None => large[i - small.len()] as f64,
        })
    }
}
