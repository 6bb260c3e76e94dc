//! Cutting a phase into slices of time.

use super::{PhaseAccumulator, presence::Presence};
use crate::window::Window;

/// A slice of a phase and the records that started in it.
#[derive(Clone, Debug)]
pub struct Slice {
    /// The slice.
    pub window: Window,
    /// Whether it has the full width.
    pub is_complete: bool,
    pub(crate) records: Presence,
}

impl PhaseAccumulator {
    /// The phase in slices of `width_ns` from the earliest start of a record on; the last one ends with the last record.
    /// A record belongs to the slice in which it started. Slices in which none started are left out, so the position in
    /// the list says nothing about time. Empty without records or width.
    #[must_use]
    pub fn slices(&self, width_ns: u64) -> Vec<Slice> {
        let (Some(first), Some(last), true) = (
            self.spans().map(|span| span.0).min(),
            self.spans().map(|span| span.1).max(),
            width_ns > 0,
        ) else {
            return Vec::new();
        };
        let mut slices = std::collections::BTreeMap::<u64, Slice>::new();
        for (record, (start, _)) in self.spans().enumerate() {
            let number = (start - first) / width_ns;
            let slice = slices.entry(number).or_insert_with(|| {
                let start_ns = first + number * width_ns;
                let full = start_ns.saturating_add(width_ns);
                Slice {
                    window: Window {
                        start_ns,
                        end_ns: full.min(last),
                    },
                    is_complete: full <= last,
                    records: Presence::default(),
                }
            });
            slice.records.insert(record);
        }
        slices.into_values().collect()
    }
}

#[cfg(test)]
mod tests {
    use std::sync::Arc;

    use super::super::{Budget, RecordOutcome};
    use super::*;
    use crate::catalogue::Catalogue;

    fn slices(spans: &[(u64, u64)], width_ns: u64) -> Vec<(u64, u64, bool, Vec<usize>)> {
        let catalogue = Catalogue::new(Vec::new(), Vec::new(), |_, _| true).unwrap();
        let mut accumulator = PhaseAccumulator::new(Arc::new(catalogue), Budget::default());
        let records: Vec<_> = spans
            .iter()
            .map(|&(start_ns, end_ns)| RecordOutcome {
                start_ns,
                end_ns,
                error: None,
            })
            .collect();
        accumulator.add(&records, &[]).unwrap();
        let shape = |s: Slice| {
            (
                s.window.start_ns,
                s.window.end_ns,
                s.is_complete,
                s.records.iter().collect(),
            )
        };
        accumulator.slices(width_ns).into_iter().map(shape).collect()
    }

    #[test]
    fn records_belong_where_they_start() {
        // The slice from 120 has no start and is dropped; the one from 130 ends with the last response.
        assert_eq!(
            slices(&[(115, 131), (100, 138), (110, 112), (109, 140), (131, 138)], 10),
            [
                (100, 110, true, vec![1, 3]),
                (110, 120, true, vec![0, 2]),
                (130, 140, true, vec![4]),
            ]
        );
        assert_eq!(slices(&[(100, 105)], 10), [(100, 105, false, vec![0])]);
    }

    #[test]
    fn nothing_to_cut() {
        assert!(slices(&[], 10).is_empty());
        assert!(slices(&[(1, 2)], 0).is_empty());
    }
}
