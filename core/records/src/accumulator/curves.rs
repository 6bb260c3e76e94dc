//! What each record contributes to a curve.

use super::{presence::Presence, series::each_selected};
use crate::{curve::CurveBuilder, lists::ExactLists, precision::Precision};

/// One interval per record, in 24 bytes, and one bit per record of the phase.
#[derive(Clone, Debug, Default)]
pub(crate) struct Intervals {
    presence: Presence,
    intervals: Vec<(u64, u64, f64)>,
}

impl Intervals {
    pub(crate) fn push(&mut self, record: usize, from_ns: u64, to_ns: u64, weight: f64) {
        self.presence.insert(record);
        self.intervals.push((from_ns, to_ns, weight));
    }

    pub(crate) fn contribute(&self, curve: &mut CurveBuilder, selected: Option<&Presence>) {
        curve.reserve(self.intervals.len(), 0);
        each_selected(&self.presence, selected, |place, _| {
            let (from_ns, to_ns, weight) = self.intervals[place];
            curve.interval(from_ns, to_ns, weight);
        });
    }

    pub(crate) fn bytes(&self) -> usize {
        self.presence.bytes() + size_of_val(&*self.intervals)
    }
}

/// Steps per record: 16 bytes, 4 per gap (see [`ExactLists`]), and one bit per record of the phase. Beyond the budget
/// 32 bytes per record whatever the number of gaps.
#[derive(Clone, Debug)]
pub(crate) struct Steps {
    budget_bytes: usize,
    presence: Presence,
    /// Start in ns, weight of each step.
    starts: Vec<(u64, f64)>,
    gaps: Gaps,
}

#[derive(Clone, Debug)]
enum Gaps {
    Exact(ExactLists),
    Even(Vec<Even>),
}

/// The gaps of a record when only their sum is kept.
#[derive(Clone, Copy, Debug)]
struct Even {
    total_ns: u64,
    steps: u32,
    /// Steps with a gap of 0, which carry no rate.
    instant: u32,
}

impl Even {
    fn of(gaps: impl Iterator<Item = u64>) -> Self {
        gaps.fold(
            Self {
                total_ns: 0,
                steps: 0,
                instant: 0,
            },
            |sum, gap| Self {
                total_ns: sum.total_ns.saturating_add(gap),
                steps: sum.steps.saturating_add(1),
                instant: sum.instant.saturating_add(u32::from(gap == 0)),
            },
        )
    }
}

impl Steps {
    pub(crate) fn new(budget_bytes: usize) -> Self {
        Self {
            budget_bytes,
            presence: Presence::default(),
            starts: Vec::new(),
            gaps: Gaps::Exact(ExactLists::default()),
        }
    }

    pub(crate) fn push(&mut self, record: usize, from_ns: u64, gaps: &[u64], weight: f64) {
        self.presence.insert(record);
        self.starts.push((from_ns, weight));
        match &mut self.gaps {
            Gaps::Exact(lists) => {
                lists.push(gaps.iter().copied());
                if lists.bytes() > self.budget_bytes {
                    let even = (0..self.starts.len())
                        .filter_map(|i| lists.list(i))
                        .map(Even::of)
                        .collect();
                    self.gaps = Gaps::Even(even);
                }
            }
            Gaps::Even(even) => even.push(Even::of(gaps.iter().copied())),
        }
    }

    pub(crate) fn precision(&self) -> Precision {
        match self.gaps {
            Gaps::Exact(_) => Precision::Exact,
            Gaps::Even(_) => Precision::EvenPerRecord,
        }
    }

    /// As rates: each step's weight spread over its gap.
    pub(crate) fn contribute(&self, curve: &mut CurveBuilder, selected: Option<&Presence>) {
        curve.reserve(self.starts.len(), self.exact_gaps());
        each_selected(&self.presence, selected, |place, _| {
            let (from_ns, weight) = self.starts[place];
            match &self.gaps {
                Gaps::Exact(lists) => curve.rates(from_ns, lists.list(place).into_iter().flatten(), weight),
                Gaps::Even(even) => {
                    let Even {
                        total_ns,
                        steps,
                        instant,
                    } = even[place];
                    curve.rates(from_ns, [total_ns], weight * f64::from(steps - instant));
                }
            }
        });
    }

    /// As levels: each step's weight added at its end and held until the end of the record's interval in `until`.
    pub(crate) fn contribute_held(&self, curve: &mut CurveBuilder, until: &Intervals, selected: Option<&Presence>) {
        curve.reserve(self.starts.len(), self.exact_gaps());
        let mut ends = until.presence.iter().zip(&until.intervals).peekable();
        each_selected(&self.presence, selected, |place, record| {
            while ends.next_if(|(other, _)| *other < record).is_some() {}
            let Some((_, &(_, until_ns, _))) = ends.next_if(|(other, _)| *other == record) else {
                return;
            };
            let (from_ns, weight) = self.starts[place];
            match &self.gaps {
                Gaps::Exact(lists) => {
                    curve.levels(from_ns, lists.list(place).into_iter().flatten(), weight, until_ns);
                }
                // Without the arrivals everything counts from the start, as for a request without chunks.
                Gaps::Even(even) => curve.interval(from_ns, until_ns, weight * f64::from(even[place].steps)),
            }
        });
    }

    fn exact_gaps(&self) -> usize {
        match &self.gaps {
            Gaps::Exact(lists) => lists.count(),
            Gaps::Even(_) => 0,
        }
    }

    pub(crate) fn bytes(&self) -> usize {
        self.presence.bytes()
            + size_of_val(&*self.starts)
            + match &self.gaps {
                Gaps::Exact(lists) => lists.bytes(),
                Gaps::Even(even) => size_of_val(&**even),
            }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn points(contribute: impl Fn(&mut CurveBuilder)) -> Vec<(u64, f64)> {
        let mut curve = CurveBuilder::new();
        contribute(&mut curve);
        curve
            .build()
            .breakpoints()
            .iter()
            .map(|b| (b.time_ns, b.value))
            .collect()
    }

    fn steps(budget: usize) -> Steps {
        let mut steps = Steps::new(budget);
        steps.push(0, 100, &[10, 0, 30], 2.0);
        steps.push(2, 200, &[40], 4.0);
        steps
    }

    #[test]
    fn beyond_the_budget_steps_are_evened_out_and_none_is_lost() {
        let exact = steps(1000);
        assert_eq!(exact.precision(), Precision::Exact);
        assert_eq!(
            points(|curve| exact.contribute(curve, None)),
            [(100, 0.2), (110, 2.0 / 30.0), (140, 0.0), (200, 0.1), (240, 0.0)]
        );
        // Two steps with a length: 4 over 40 ns.
        let even = steps(0);
        assert_eq!(even.precision(), Precision::EvenPerRecord);
        assert_eq!(
            points(|curve| even.contribute(curve, None)),
            [(100, 0.1), (140, 0.0), (200, 0.1), (240, 0.0)]
        );
    }

    #[test]
    fn held_steps_end_with_their_own_record() {
        let mut until = Intervals::default();
        until.push(0, 90, 150, 1.0);
        until.push(1, 90, 500, 1.0);
        until.push(2, 190, 300, 1.0);
        let exact = points(|curve| steps(1000).contribute_held(curve, &until, None));
        assert_eq!(exact, [(110, 4.0), (140, 6.0), (150, 0.0), (240, 4.0), (300, 0.0)]);
        let even = points(|curve| steps(0).contribute_held(curve, &until, None));
        assert_eq!(even, [(100, 6.0), (150, 0.0), (200, 4.0), (300, 0.0)]);
    }

    #[test]
    fn only_selected_records_contribute() {
        let mut selected = Presence::default();
        selected.insert(2);
        let mut intervals = Intervals::default();
        intervals.push(0, 0, 10, 1.0);
        intervals.push(2, 5, 20, 3.0);
        assert_eq!(
            points(|c| intervals.contribute(c, Some(&selected))),
            [(5, 3.0), (20, 0.0)]
        );
        assert_eq!(
            points(|c| steps(1000).contribute(c, Some(&selected))),
            [(200, 0.1), (240, 0.0)]
        );
    }
}
