//! A set of record numbers in one and a half bits each.

/// Which records have a value, or are selected. Grows with the highest number set; numbers beyond are not in the set.
#[derive(Clone, Debug, Default, PartialEq)]
pub(crate) struct Presence {
    words: Vec<u64>,
    /// For each word how many numbers stand in those before it.
    before: Vec<u32>,
}

impl Presence {
    /// Adds a number, which must be greater than all in the set.
    pub(crate) fn insert(&mut self, record: usize) {
        let word = record / 64;
        if word >= self.words.len() {
            let len = self.len();
            self.words.resize(word + 1, 0);
            self.before.resize(word + 1, len as u32);
        }
        debug_assert!(self.words[word] >> (record % 64) == 0, "records come in order");
        self.words[word] |= 1 << (record % 64);
    }

    pub(crate) fn contains(&self, record: usize) -> bool {
        self.words
            .get(record / 64)
            .is_some_and(|word| word >> (record % 64) & 1 == 1)
    }

    /// Adds consecutive numbers, which must be greater than all in the set.
    pub(crate) fn insert_all(&mut self, records: std::ops::Range<usize>) {
        let mut begin = records.start;
        while begin < records.end {
            let end = records.end.min((begin / 64 + 1) * 64);
            self.insert(begin);
            self.words[begin / 64] |= (u64::MAX >> (64 - (end - begin))) << (begin % 64);
            begin = end;
        }
    }

    /// How many numbers in the set are below `record`, if it is in the set.
    pub(crate) fn place(&self, record: usize) -> Option<usize> {
        let (word, bit) = (*self.words.get(record / 64)?, record % 64);
        let below = self.before[record / 64] + (word & ((1 << bit) - 1)).count_ones();
        (word >> bit & 1 == 1).then_some(below as usize)
    }

    pub(crate) fn len(&self) -> u64 {
        let last = self.words.last().zip(self.before.last());
        last.map_or(0, |(word, before)| u64::from(word.count_ones() + before))
    }

    /// The numbers in the set, ascending.
    pub(crate) fn iter(&self) -> impl Iterator<Item = usize> + '_ {
        self.words.iter().enumerate().flat_map(|(i, &word)| {
            let mut rest = word;
            std::iter::from_fn(move || {
                let bit = (rest != 0).then(|| rest.trailing_zeros() as usize)?;
                rest &= rest - 1;
                Some(i * 64 + bit)
            })
        })
    }

    /// Size of the intersection.
    pub(crate) fn common(&self, other: &Self) -> u64 {
        self.words
            .iter()
            .zip(&other.words)
            .map(|(a, b)| u64::from((a & b).count_ones()))
            .sum()
    }

    pub(crate) fn bytes(&self) -> usize {
        size_of_val(&*self.words) + size_of_val(&*self.before)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;
    use std::collections::BTreeSet;

    #[test]
    fn many_at_once_are_the_same_as_one_by_one() {
        let (mut many, mut one_by_one) = (Presence::default(), Presence::default());
        for range in [3..5, 5..64, 64..64, 70..71, 100..300] {
            range.clone().for_each(|record| one_by_one.insert(record));
            many.insert_all(range);
            assert_eq!(many, one_by_one);
        }
    }

    proptest! {
        #[test]
        fn is_a_set(a in prop::collection::btree_set(0usize..400, 0..60), b in prop::collection::btree_set(0usize..400, 0..60)) {
            let presence = |set: &BTreeSet<usize>| {
                let mut presence = Presence::default();
                set.iter().for_each(|&record| presence.insert(record));
                presence
            };
            let (pa, pb) = (presence(&a), presence(&b));
            prop_assert_eq!(pa.iter().collect::<BTreeSet<_>>(), a.clone());
            prop_assert!(pa.iter().is_sorted());
            prop_assert_eq!(pa.len(), a.len() as u64);
            prop_assert_eq!(pa.common(&pb), a.intersection(&b).count() as u64);
            for record in 0..500 {
                prop_assert_eq!(pa.contains(record), a.contains(&record));
                let place = a.iter().position(|&known| known == record);
                prop_assert_eq!(pa.place(record), place);
            }
        }
    }
}
