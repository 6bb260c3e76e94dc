//! Puts the changes of a curve in order of time.

use super::builder::Change;

/// Fewer changes than this are sorted as they are.
const FEW: usize = 256;
/// Changes per bucket for which the last pass is the fastest sort.
const CROWD: usize = 16;

/// Memory for ordering changes, kept from one curve to the next.
#[derive(Clone, Debug, Default)]
pub(super) struct Spare {
    changes: Vec<Change>,
    places: Vec<usize>,
}

/// Sorts `changes` by time, in no particular order within an instant.
///
/// Records arrive about in the order of time, and a run is about as busy at each of its moments. So changes are dealt out
/// to equal spans of time, a few to each, which hardly leaves the cache, and what is still out of order is so by a few
/// places. Where a run was idle for long and then crowded, the crowded spans are sorted on their own.
pub(super) fn by_time(changes: &mut Vec<Change>, spare: &mut Spare) {
    if changes.len() < FEW {
        changes.sort_unstable_by_key(|change| change.time_ns);
        return;
    }
    let (first, last) = changes.iter().fold((u64::MAX, 0), |(first, last), change| {
        (first.min(change.time_ns), last.max(change.time_ns))
    });
    let bits = |n: u64| u64::BITS - n.leading_zeros();
    // Between one and four changes per bucket.
    let shift = bits(last - first).saturating_sub(bits(changes.len() as u64 / 2));
    let bucket = |change: &Change| ((change.time_ns - first) >> shift) as usize;

    let Spare { changes: spare, places } = spare;
    places.clear();
    places.resize(((last - first) >> shift) as usize + 1, 0);
    for change in &*changes {
        places[bucket(change)] += 1;
    }
    let mut next = 0;
    let mut crowds = Vec::new();
    for place in &mut *places {
        let (start, len) = (next, *place);
        next += len;
        *place = start;
        if len > CROWD {
            crowds.push(start..next);
        }
    }
    // Every place is going to be written to.
    spare.resize(changes.len(), Change::default());
    for change in &*changes {
        let place = &mut places[bucket(change)];
        spare[*place] = *change;
        *place += 1;
    }
    std::mem::swap(changes, spare);
    for crowd in crowds {
        changes[crowd].sort_unstable_by_key(|change| change.time_ns);
    }
    insertion_sort(changes);
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
        let mut changes: Vec<Change> = times.iter().enumerate().map(change).collect();
        let mut spare = Spare {
            changes: vec![Change::default(); 3],
            places: vec![7; 2],
        };
        by_time(&mut changes, &mut spare);
        changes
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
