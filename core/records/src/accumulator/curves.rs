//! What each record contributes to a curve.

use super::{numbers::Values, presence::Presence};
use crate::{
    curve::CurveBuilder,
    lists::ExactLists,
    pieces::{Compact, Pieces},
    precision::Precision,
};

/// One interval per record, in 8 bytes and those of its weight (see [`Values`]).
#[derive(Clone, Debug, Default)]
pub(crate) struct Intervals {
    presence: Presence,
    /// In ns after the start of the record.
    from: Compact,
    /// Length in ns.
    length: Compact,
    weight: Values,
}

impl Intervals {
    /// Adds that of a record which started at `start_ns`.
    pub(crate) fn push(&mut self, record: usize, start_ns: u64, (from_ns, to_ns): (u64, u64), weight: f64) {
        self.presence.insert(record);
        // Wrapping, so that times before the start come back too.
        self.from.push(from_ns.wrapping_sub(start_ns));
        self.length.push(to_ns.wrapping_sub(from_ns));
        self.weight.push(weight);
    }

    /// Start, end and weight of a record's.
    pub(crate) fn get(&self, record: usize, start_ns: u64) -> Option<(u64, u64, f64)> {
        let place = self.presence.place(record)?;
        let from_ns = start_ns.wrapping_add(self.from.at(place));
        let to_ns = from_ns.wrapping_add(self.length.at(place));
        Some((from_ns, to_ns, self.weight.at(place)))
    }

    /// When that of a record begins, if it has one.
    pub(crate) fn begin_ns(&self, record: usize, start_ns: u64) -> Option<u64> {
        Some(start_ns.wrapping_add(self.from.at(self.presence.place(record)?)))
    }

    /// Those of `records`, whose starts are among `starts`.
    pub(crate) fn contribute(
        &self,
        curve: &mut CurveBuilder,
        records: impl Iterator<Item = usize>,
        starts: &Pieces<u64>,
    ) {
        for record in records {
            if let Some((from_ns, to_ns, weight)) = self.get(record, starts.at(record)) {
                curve.interval(from_ns, to_ns, weight);
            }
        }
    }

    pub(crate) fn bytes(&self) -> usize {
        self.presence.bytes() + self.from.bytes() + self.length.bytes() + self.weight.bytes()
    }
}

/// Steps per record: 8 bytes, those of their weight (see [`Values`]), and 4 per gap (see [`ExactLists`]). Beyond the
/// budget 20 bytes and the weight, whatever the number of gaps.
#[derive(Clone, Debug)]
pub(crate) struct Steps {
    budget_bytes: usize,
    presence: Presence,
    /// In ns after the start of the record.
    from: Compact,
    /// Of each step.
    weight: Values,
    gaps: Gaps,
}

#[derive(Clone, Debug)]
enum Gaps {
    Exact(ExactLists),
    Even(Pieces<Even>),
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
            from: Compact::default(),
            weight: Values::default(),
            gaps: Gaps::Exact(ExactLists::default()),
        }
    }

    /// Adds those of a record which started at `start_ns`.
    pub(crate) fn push(&mut self, record: usize, start_ns: u64, from_ns: u64, gaps: &[u64], weight: f64) {
        self.presence.insert(record);
        self.from.push(from_ns.wrapping_sub(start_ns));
        self.weight.push(weight);
        match &mut self.gaps {
            Gaps::Exact(lists) => {
                lists.push(gaps);
                if lists.bytes() > self.budget_bytes {
                    let mut even = Pieces::default();
                    let lists = (0..self.from.len()).filter_map(|place| lists.list(place));
                    lists.for_each(|list| even.push(Even::of(list)));
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

    /// Those of `records`, whose starts are among `starts`, as rates: each step's weight spread over its gap.
    pub(crate) fn contribute(
        &self,
        curve: &mut CurveBuilder,
        records: impl Iterator<Item = usize>,
        starts: &Pieces<u64>,
    ) {
        for record in records {
            let Some(place) = self.presence.place(record) else {
                continue;
            };
            let (from_ns, weight) = (
                starts.at(record).wrapping_add(self.from.at(place)),
                self.weight.at(place),
            );
            match &self.gaps {
                Gaps::Exact(lists) => curve.rates(from_ns, lists.list(place).into_iter().flatten(), weight),
                Gaps::Even(even) => {
                    let Even {
                        total_ns,
                        steps,
                        instant,
                    } = even.at(place);
                    curve.rates(from_ns, [total_ns], weight * f64::from(steps - instant));
                }
            }
        }
    }

    /// The same as levels: each step's weight added at its end and held until the end of the record's interval in `until`.
    pub(crate) fn contribute_held(
        &self,
        curve: &mut CurveBuilder,
        until: &Intervals,
        records: impl Iterator<Item = usize>,
        starts: &Pieces<u64>,
    ) {
        for record in records {
            let start_ns = starts.at(record);
            let (Some(place), Some((_, until_ns, _))) = (self.presence.place(record), until.get(record, start_ns))
            else {
                continue;
            };
            let (from_ns, weight) = (start_ns.wrapping_add(self.from.at(place)), self.weight.at(place));
            match &self.gaps {
                Gaps::Exact(lists) => {
                    curve.levels(from_ns, lists.list(place).into_iter().flatten(), weight, until_ns);
                }
                // Without the arrivals everything counts from the start, as for a request without chunks.
                Gaps::Even(even) => curve.interval(from_ns, until_ns, weight * f64::from(even.at(place).steps)),
            }
        }
    }

    /// When those of a record begin, if it has any.
    pub(crate) fn begin_ns(&self, record: usize, start_ns: u64) -> Option<u64> {
        Some(start_ns.wrapping_add(self.from.at(self.presence.place(record)?)))
    }

    pub(crate) fn bytes(&self) -> usize {
        self.presence.bytes()
            + self.from.bytes()
            + self.weight.bytes()
            + match &self.gaps {
                Gaps::Exact(lists) => lists.bytes(),
                Gaps::Even(even) => even.bytes(),
            }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const START: u64 = 1 << 40;
    const RECORDS: std::ops::Range<usize> = 0..3;

    /// Three records that started at the same time; what they contribute, counted from then.
    fn points(contribute: impl Fn(&mut CurveBuilder, &Pieces<u64>)) -> Vec<(u64, f64)> {
        let (mut curve, mut starts) = (CurveBuilder::new(), Pieces::default());
        RECORDS.for_each(|_| starts.push(START));
        contribute(&mut curve, &starts);
        curve
            .build()
            .breakpoints()
            .iter()
            .map(|b| (b.time_ns - START, b.value))
            .collect()
    }

    fn steps(budget: usize) -> Steps {
        let mut steps = Steps::new(budget);
        steps.push(0, START, START + 100, &[10, 0, 30], 2.0);
        steps.push(2, START, START + 200, &[40], 4.0);
        steps
    }

    fn intervals(all: [(u64, u64, f64); 3]) -> Intervals {
        let mut intervals = Intervals::default();
        for (record, (from, to, weight)) in all.into_iter().enumerate() {
            intervals.push(record, START, (START + from, START + to), weight);
        }
        intervals
    }

    #[test]
    fn beyond_the_budget_steps_are_evened_out_and_none_is_lost() {
        let exact = steps(1000);
        assert_eq!(exact.precision(), Precision::Exact);
        assert_eq!(
            points(|curve, starts| exact.contribute(curve, RECORDS, starts)),
            [(100, 0.2), (110, 2.0 / 30.0), (140, 0.0), (200, 0.1), (240, 0.0)]
        );
        // Two steps with a length: 4 over 40 ns.
        let even = steps(0);
        assert_eq!(even.precision(), Precision::EvenPerRecord);
        assert_eq!(
            points(|curve, starts| even.contribute(curve, RECORDS, starts)),
            [(100, 0.1), (140, 0.0), (200, 0.1), (240, 0.0)]
        );
    }

    #[test]
    fn held_steps_end_with_their_own_record() {
        let until = intervals([(90, 150, 1.0), (90, 500, 1.0), (190, 300, 1.0)]);
        let held = |budget| points(|curve, starts| steps(budget).contribute_held(curve, &until, RECORDS, starts));
        assert_eq!(held(1000), [(110, 4.0), (140, 6.0), (150, 0.0), (240, 4.0), (300, 0.0)]);
        assert_eq!(held(0), [(100, 6.0), (150, 0.0), (200, 4.0), (300, 0.0)]);
    }

    #[test]
    fn only_the_records_in_question_contribute() {
        let intervals = intervals([(0, 10, 1.0), (0, 10, 1.0), (5, 20, 3.0)]);
        assert_eq!(
            points(|curve, starts| intervals.contribute(curve, [2].into_iter(), starts)),
            [(5, 3.0), (20, 0.0)]
        );
        assert_eq!(
            points(|curve, starts| steps(1000).contribute(curve, [2].into_iter(), starts)),
            [(200, 0.1), (240, 0.0)]
        );
    }

    #[test]
    fn times_far_from_the_start_come_back() {
        let all = [
            (START - 7, START + (1 << 35), 1.0),
            (0, u64::MAX, 0.5),
            (u64::MAX, 0, 2.0),
        ];
        let mut intervals = Intervals::default();
        for (record, (from, to, weight)) in all.into_iter().enumerate() {
            intervals.push(record, START, (from, to), weight);
        }
        for (record, expected) in all.into_iter().enumerate() {
            assert_eq!(intervals.get(record, START), Some(expected));
        }
        assert_eq!(intervals.get(3, START), None);
    }
}
