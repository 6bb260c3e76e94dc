//! Lists of integers in four bytes per value, none lost.

use crate::statistics::Statistics;

/// Marks a value that does not fit and stands in [`ExactLists::large`]. A gap of `u32::MAX - 1` ns is 4.29 s.
const ESCAPE: u32 = u32::MAX;

/// Lists in the order they were pushed.
#[derive(Clone, Debug, Default)]
pub(crate) struct ExactLists {
    values: Vec<u32>,
    /// Position and value of each entry that is [`ESCAPE`], ascending in position.
    large: Vec<(usize, u64)>,
    /// For each list the position after its last value.
    ends: Vec<usize>,
}

impl ExactLists {
    /// Adds a list.
    pub(crate) fn push(&mut self, list: impl IntoIterator<Item = u64>) {
        for value in list {
            let stored = u32::try_from(value).unwrap_or(ESCAPE);
            if stored == ESCAPE {
                self.large.push((self.values.len(), value));
            }
            self.values.push(stored);
        }
        self.ends.push(self.values.len());
    }

    /// What is stored, in bytes: 4 per value, 8 per list, 16 more per large value.
    pub(crate) fn bytes(&self) -> usize {
        size_of_val(&*self.values) + size_of_val(&*self.large) + size_of_val(&*self.ends)
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
        let end = *self.ends.get(index)?;
        let start = index.checked_sub(1).map_or(0, |before| self.ends[before]);
        Some(self.range(start..end))
    }

    fn range(&self, range: std::ops::Range<usize>) -> impl Iterator<Item = u64> + Clone + '_ {
        let first_large = self.large.partition_point(|&(position, _)| position < range.start);
        let mut large = self.large[first_large..].iter();
        self.values[range].iter().map(move |&value| match value {
            ESCAPE => large.next().map_or(u64::from(ESCAPE), |&(_, value)| value),
            value => u64::from(value),
        })
    }

    /// Statistics of all values pooled. Takes 4 more bytes per value while it runs.
    pub(crate) fn statistics(&self) -> Option<Statistics> {
        let mut values = self.values.clone();
        values.sort_unstable();
        let mut large: Vec<u64> = self.large.iter().map(|&(_, value)| value).collect();
        large.sort_unstable();
        // The marks sort last, and every value they stand for is larger than all others.
        let small = values.len() - large.len();
        Statistics::of_sorted(values.len(), |i| {
            if i < small {
                f64::from(values[i])
            } else {
                large[i - small] as f64
            }
        })
    }
}
