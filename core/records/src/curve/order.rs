//! Puts the changes of a curve in order of time.

use super::builder::Change;

/// Fewer changes than this are sorted as they are.
const FEW: usize = 256;
/// Changes per bucket for which the last pass is the fastest sort.
const CROWD: usize = 16;

/// So many changes stay in the cache until they are visited.
const RUN: usize = 512;

/// Memory for ordering changes, kept from one curve to the next.
#[derive(Clone, Debug, Default)]
pub(super) struct Spare {
    /// Where each span begins.
    starts: Vec<u32>,
    /// Where its next change goes.
    places: Vec<u32>,
}

/// Shows `changes` to `visit` in order of time, in no particular order within an instant: run by run, an instant never in
/// two of them.
///
/// Records arrive about in the order of time, and a run is about as busy at each of its moments. So changes are dealt out
/// to equal spans of time, a few to each, within the list: fresh memory costs more than the exchange of neighbours, which
/// hardly leaves the cache. What is still out of order is so by a few places. Where a run was idle for long and then
/// crowded, the crowded spans are sorted on their own.
pub(super) fn by_time(changes: &mut [Change], spare: &mut Spare, mut visit: impl FnMut(&[Change])) {
    if changes.len() < FEW || u32::try_from(changes.len()).is_err() {
        changes.sort_unstable_by_key(|change| change.time_ns);
        return visit(changes);
    }
    let (first, last) = changes.iter().fold((u64::MAX, 0), |(first, last), change| {
        (first.min(change.time_ns), last.max(change.time_ns))
    });
    let bits = |n: u64| u64::BITS - n.leading_zeros();
    // Between half a change and two per bucket.
    let shift = bits(last - first).saturating_sub(bits(changes.len() as u64));
    let bucket = |change: &Change| ((change.time_ns - first) >> shift) as usize;

    let Spare { starts, places } = spare;
    starts.clear();
    starts.resize(((last - first) >> shift) as usize + 1, 0);
    for change in &*changes {
        starts[bucket(change)] += 1;
    }
    let mut next = 0;
    for start in &mut *starts {
        next += std::mem::replace(start, next);
    }
    places.clone_from(starts);
    for span in 0..places.len() {
        let end = starts.get(span + 1).map_or(changes.len(), |end| *end as usize);
        while (places[span] as usize) < end {
            // Who stands here goes to its span, and whom it drives out there to its own, until one belongs here.
            let here = places[span] as usize;
            let mut change = changes[here];
            loop {
                let its = bucket(&change);
                let place = places[its] as usize;
                places[its] += 1;
                if its == span {
                    changes[here] = change;
                    break;
                }
                std::mem::swap(&mut change, &mut changes[place]);
            }
        }
    }
    let (mut begin, mut run) = (0, 0);
    // By now every place is the end of its span.
    for end in places {
        let end = *end as usize;
        if end - begin > CROWD {
            changes[begin..end].sort_unstable_by_key(|change| change.time_ns);
        }
        begin = end;
        if end - run >= RUN {
            insertion_sort(&mut changes[run..end]);
            visit(&changes[run..end]);
            run = end;
        }
    }
    insertion_sort(&mut changes[run..]);
    visit(&changes[run..]);
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
            starts: vec![5; 3],
            places: vec![7; 2],
        };
        let mut visited: Vec<Change> = Vec::new();
        by_time(&mut changes, &mut spare, |run| {
            let before = visited.last().map(|change| change.time_ns);
            assert!(
                run.first()
                    .is_none_or(|first| before.is_none_or(|before| before < first.time_ns))
            );
            visited.extend(run);
        });
        visited
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
