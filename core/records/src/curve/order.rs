//! Puts the changes of a curve in order of time.

use super::builder::Change;

/// Fewer changes than this are sorted by comparison.
const FEW: usize = 128;

/// Memory for ordering changes, which all curves share.
#[derive(Debug, Default)]
pub(crate) struct Spare {
    /// The time of a change after the first one in the upper half, as exact as it fits, and its place in the lower.
    keys: Vec<u64>,
}

impl Spare {
    /// The places of those `changes` that are before `until_ns`, in order of time and in no particular order within an
    /// instant. There must be fewer than 2^32 changes.
    pub(super) fn order(&mut self, changes: &[Change], until_ns: Option<u64>) -> impl Iterator<Item = usize> + '_ {
        self.sort(changes, until_ns);
        self.keys.iter().map(|&key| key as u32 as usize)
    }

    fn sort(&mut self, changes: &[Change], until_ns: Option<u64>) {
        let keys = &mut self.keys;
        let is_before = |change: &Change| until_ns.is_none_or(|until_ns| change.time_ns < until_ns);
        let (mut first, mut last, mut count) = (u64::MAX, 0, 0);
        for change in changes {
            let counts = is_before(change);
            first = if counts { first.min(change.time_ns) } else { first };
            last = if counts { last.max(change.time_ns) } else { last };
            count += usize::from(counts);
        }
        let bits = u64::BITS - last.saturating_sub(first).leading_zeros();
        let shift = bits.saturating_sub(u32::BITS);
        // Where one does not count, the next is written over it.
        keys.resize(changes.len() + 1, 0);
        let mut next = 0;
        for (place, change) in (0u64..).zip(changes) {
            keys[next] = change.time_ns.wrapping_sub(first) >> shift << 32 | place;
            next += usize::from(is_before(change));
        }
        keys.truncate(count);
        if count < FEW {
            keys.sort_unstable();
        } else {
            radsort::sort_by_key(keys, |&key| (key >> 32) as u32);
        }
        if shift > 0 {
            for alike in keys.chunk_by_mut(|a, b| a >> 32 == b >> 32) {
                alike.sort_unstable_by_key(|&key| changes[key as u32 as usize].time_ns);
            }
        }
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
        let mut spare = Spare { keys: vec![3; 3] };
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
