//! Puts the changes of a curve in order of time.

use super::builder::Change;

/// Fewer changes than this are sorted as they are.
const FEW: usize = 256;
/// Changes per bucket for which the last pass is the fastest sort.
const CROWD: u32 = 16;

/// Memory for ordering changes, which all curves share.
///
/// What is put in order are keys: the time of a change after the first one in the upper half, its place in the lower.
#[derive(Debug, Default)]
pub(crate) struct Spare {
    keys: Vec<u64>,
    ordered: Vec<u64>,
    /// Where the changes of each span of time go.
    places: Vec<u32>,
}

impl Spare {
    /// The places of those `changes` that are before `until_ns`, in order of time and in no particular order within an
    /// instant. There must be fewer than 2^32 changes.
    ///
    /// Records arrive about in the order of time, and a run is about as busy at each of its moments. So changes are dealt
    /// out to equal spans of time, a few to each; what is still out of order is so by a few places. Where a run was idle for
    /// long and then crowded, the crowded spans are sorted on their own.
    pub(super) fn order(&mut self, changes: &[Change], until_ns: Option<u64>) -> impl Iterator<Item = usize> + '_ {
        self.sort(changes, until_ns);
        self.ordered.iter().map(|&key| key as u32 as usize)
    }

    fn sort(&mut self, changes: &[Change], until_ns: Option<u64>) {
        let Self { keys, ordered, places } = self;
        let is_before = |change: &Change| until_ns.is_none_or(|until_ns| change.time_ns < until_ns);
        let (mut first, mut last, mut count) = (u64::MAX, 0, 0);
        for change in changes {
            let counts = is_before(change);
            first = if counts { first.min(change.time_ns) } else { first };
            last = if counts { last.max(change.time_ns) } else { last };
            count += usize::from(counts);
        }
        let span = last.saturating_sub(first);
        if count < FEW || span > u64::from(u32::MAX) {
            let places = (0..).zip(changes).filter(|(_, change)| is_before(change));
            ordered.clear();
            ordered.extend(places.map(|(place, _)| place));
            return ordered.sort_unstable_by_key(|&place| changes[place as usize].time_ns);
        }
        // Where one does not count, the next is written over it.
        keys.resize(changes.len() + 1, 0);
        let mut next = 0;
        for (place, change) in (0u64..).zip(changes) {
            keys[next] = change.time_ns.wrapping_sub(first) << 32 | place;
            next += usize::from(is_before(change));
        }
        keys.truncate(count);
        let bits = |n: u64| u64::BITS - n.leading_zeros();
        // Between half a change and two per bucket.
        let shift = bits(span).saturating_sub(bits(count as u64));
        let bucket = |key: u64| (key >> 32 >> shift) as usize;

        places.clear();
        places.resize((span >> shift) as usize + 1, 0);
        let mut crowd = 0;
        for &key in &*keys {
            let place = &mut places[bucket(key)];
            *place += 1;
            crowd = crowd.max(*place);
        }
        let mut next = 0;
        for place in &mut *places {
            next += std::mem::replace(place, next);
        }
        ordered.resize(count, 0);
        for &key in &*keys {
            let place = &mut places[bucket(key)];
            ordered[*place as usize] = key;
            *place += 1;
        }
        if crowd > CROWD {
            // By now every place is the end of its span.
            let mut begin = 0;
            for &end in &*places {
                if end - begin > CROWD {
                    ordered[begin as usize..end as usize].sort_unstable();
                }
                begin = end;
            }
        }
        insertion_sort(ordered);
    }
}

fn insertion_sort(keys: &mut [u64]) {
    for i in 1..keys.len() {
        let key = keys[i];
        let mut place = i;
        while place > 0 && keys[place - 1] > key {
            keys[place] = keys[place - 1];
            place -= 1;
        }
        keys[place] = key;
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn ordered(times: &[u64], until_ns: Option<u64>) -> Vec<usize> {
        let change = |&time_ns: &u64| Change {
            time_ns,
            ..Change::default()
        };
        let mut spare = Spare {
            keys: vec![3; 3],
            ordered: vec![9; 4],
            places: vec![7; 2],
        };
        let changes: Vec<Change> = times.iter().map(change).collect();
        spare.order(&changes, until_ns).collect()
    }

    proptest! {
        #[test]
        fn all_that_is_before_in_order(
            busy in prop::collection::vec(1_000_000u64..1_010_000, 0..700),
            crowd in prop::collection::vec(5_000_000_000u64..5_000_000_100, 0..200),
            far in prop::collection::vec(any::<u64>(), 0..3),
            until_ns in prop_oneof![1_000_000u64..1_010_000, 5_000_000_000u64..5_000_000_100, any::<u64>()],
        ) {
            let times = [busy, crowd, far].concat();
            for until_ns in [None, Some(until_ns)] {
                let mut places = ordered(&times, until_ns);
                prop_assert!(places.is_sorted_by_key(|&place| times[place]));
                places.sort_unstable();
                let expected = (0..times.len()).filter(|&place| until_ns.is_none_or(|until_ns| times[place] < until_ns));
                prop_assert!(places.into_iter().eq(expected));
            }
        }
    }

    #[test]
    fn one_instant_and_the_ends_of_time() {
        assert_eq!(ordered(&[7; 1000], None).len(), 1000);
        let mut times = vec![u64::MAX, 0];
        times.extend(0..1000);
        assert!(ordered(&times, None).is_sorted_by_key(|&place| times[place]));
        assert!(ordered(&times, Some(0)).is_empty());
        assert_eq!(ordered(&times, Some(1)).len(), 2);
        assert_eq!(ordered(&times, Some(u64::MAX)).len(), 1001);
    }
}
