//! Puts the changes of a curve in order of time.

use super::builder::Change;

/// Fewer changes than this are sorted as they are.
const FEW: usize = 256;
/// Changes per bucket for which the last pass is the fastest sort.
const CROWD: usize = 16;

/// Memory for ordering changes, which all curves share.
#[derive(Debug, Default)]
pub(crate) struct Spare {
    /// Changes in the order in which they were contributed.
    pub(super) changes: Vec<Change>,
    /// The same in order of time.
    pub(super) ordered: Vec<Change>,
    /// Where the changes of each span of time go.
    places: Vec<u32>,
}

impl Spare {
    /// Orders `changes` by time, in no particular order within an instant.
    ///
    /// Records arrive about in the order of time, and a run is about as busy at each of its moments. So changes are dealt
    /// out to equal spans of time, a few to each; what is still out of order is so by a few places. Where a run was idle for
    /// long and then crowded, the crowded spans are sorted on their own.
    pub(super) fn order(&mut self) {
        let Self {
            changes,
            ordered,
            places,
        } = self;
        ordered.clear();
        if changes.len() < FEW || u32::try_from(changes.len()).is_err() {
            ordered.append(changes);
            return ordered.sort_unstable_by_key(|change| change.time_ns);
        }
        let (first, last) = changes.iter().fold((u64::MAX, 0), |(first, last), change| {
            (first.min(change.time_ns), last.max(change.time_ns))
        });
        let bits = |n: u64| u64::BITS - n.leading_zeros();
        // Between half a change and two per bucket.
        let shift = bits(last - first).saturating_sub(bits(changes.len() as u64));
        let bucket = |change: &Change| ((change.time_ns - first) >> shift) as usize;

        places.clear();
        places.resize(((last - first) >> shift) as usize + 1, 0);
        for change in &*changes {
            places[bucket(change)] += 1;
        }
        let mut next = 0;
        for place in &mut *places {
            next += std::mem::replace(place, next);
        }
        ordered.resize(changes.len(), Change::default());
        for change in changes.drain(..) {
            let place = &mut places[bucket(&change)];
            ordered[*place as usize] = change;
            *place += 1;
        }
        // By now every place is the end of its span.
        let mut begin = 0;
        for &end in &*places {
            let end = end as usize;
            if end - begin > CROWD {
                ordered[begin..end].sort_unstable_by_key(|change| change.time_ns);
            }
            begin = end;
        }
        insertion_sort(ordered);
    }
}

fn insertion_sort(changes: &mut [Change]) {
    for i in 1..changes.len() {
        let change = changes[i];
        let mut place = i;
        while place > 0 && changes[place - 1].time_ns > change.time_ns {
            changes[place] = changes[place - 1];
            place -= 1;
        }
        if place < i {
            changes[place] = change;
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn ordered(times: &[u64]) -> Vec<Change> {
        // The weight tells which change it was.
        let change = |(i, &time_ns): (usize, &u64)| Change {
            time_ns,
            fall: 0.0,
            rise: i as f64,
        };
        let mut spare = Spare {
            changes: times.iter().enumerate().map(change).collect(),
            ordered: vec![Change::default(); 4],
            places: vec![7; 2],
        };
        spare.order();
        assert!(spare.changes.is_empty());
        spare.ordered
    }

    proptest! {
        #[test]
        fn is_a_permutation_in_order(
            busy in prop::collection::vec(1_000_000u64..1_010_000, 0..700),
            crowd in prop::collection::vec(5_000_000_000u64..5_000_000_100, 0..200),
            far in prop::collection::vec(any::<u64>(), 0..3),
        ) {
            let times = [busy, crowd, far].concat();
            let changes = ordered(&times);
            prop_assert!(changes.is_sorted_by_key(|change| change.time_ns));
            let mut seen: Vec<usize> = changes.iter().map(|change| change.rise as usize).collect();
            for (place, change) in seen.iter().zip(&changes) {
                prop_assert_eq!(times[*place], change.time_ns);
            }
            seen.sort_unstable();
            prop_assert!(seen.into_iter().eq(0..times.len()));
        }
    }

    #[test]
    fn one_instant_and_the_ends_of_time() {
        assert_eq!(ordered(&[7; 1000]).len(), 1000);
        let mut times = vec![u64::MAX, 0];
        times.extend(0..1000);
        assert!(ordered(&times).is_sorted_by_key(|change| change.time_ns));
    }
}
