//! What is kept of one metric, per record.

use aiperf_plugin_api::{column::Column, metric::MetricKind};

use super::{
    curves::{Intervals, Steps},
    lists::Lists,
    numbers::Numbers,
    phase::RecordOutcome,
    presence::Presence,
};

/// Memory for what grows faster than the number of records.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Budget {
    /// Bytes for the exact values of each list metric; beyond it percentiles come from a histogram.
    pub list_bytes: usize,
    /// Bytes for the gaps of each steps metric; beyond it steps are evened out within each record.
    pub steps_bytes: usize,
}

impl Default for Budget {
    fn default() -> Self {
        Self {
            list_bytes: 256 << 20,
            steps_bytes: 64 << 20,
        }
    }
}

/// The values of one metric over all records of a phase.
#[derive(Clone, Debug)]
pub(crate) enum Series {
    /// One value per record.
    Numbers(Numbers),
    /// A list per record.
    Lists(Lists),
    /// An interval per record.
    Intervals(Intervals),
    /// Steps per record.
    Steps(Steps),
    /// Nothing: derived or composed at the end.
    Later,
}

impl Series {
    pub(crate) fn new(kind: MetricKind, budget: Budget) -> Self {
        match kind {
            MetricKind::Record | MetricKind::Sum | MetricKind::Min | MetricKind::Max => {
                Self::Numbers(Numbers::default())
            }
            MetricKind::List => Self::Lists(Lists::new(budget.list_bytes)),
            MetricKind::Interval => Self::Intervals(Intervals::default()),
            MetricKind::Steps => Self::Steps(Steps::new(budget.steps_bytes)),
            MetricKind::Derived => Self::Later,
        }
    }

    /// Whether this is a column for the series: the right type, after earlier columns.
    pub(crate) fn accepts(&self, column: &Column) -> bool {
        match (self, column) {
            (Self::Numbers(_), Column::U64 { .. } | Column::F64 { .. })
            | (Self::Intervals(_), Column::Intervals { .. })
            | (Self::Steps(_), Column::Steps { .. }) => true,
            (Self::Lists(lists), Column::U64List { .. } | Column::F64List { .. }) => lists.accepts(column),
            _ => false,
        }
    }

    /// Adds the values of those records of a batch that `counts` accepts by their place in it; the first record of the
    /// batch has the number `first`. The column has been checked against the batch and is accepted by the series.
    pub(crate) fn add(
        &mut self,
        column: &Column,
        first: usize,
        records: &[RecordOutcome],
        counts: impl Fn(usize) -> bool,
    ) {
        let rows = rows(column).filter(|&row| counts(row));
        let is_full = rows.clone().count() == records.len();
        match (self, column) {
            (Self::Numbers(numbers), Column::U64 { values, .. }) if is_full => {
                numbers.extend(first, values.iter().map(|&value| value as f64));
            }
            (Self::Numbers(numbers), Column::F64 { values, .. }) if is_full => {
                numbers.extend(first, values.iter().copied());
            }
            (Self::Numbers(numbers), Column::U64 { values, .. }) => {
                rows.for_each(|row| numbers.push(first + row, values[row] as f64));
            }
            (Self::Numbers(numbers), Column::F64 { values, .. }) => {
                rows.for_each(|row| numbers.push(first + row, values[row]));
            }
            (Self::Lists(lists), Column::U64List { ends, values, .. }) => {
                rows.for_each(|row| lists.push_integers(first + row, &values[span(ends, row)]));
            }
            (Self::Lists(lists), Column::F64List { ends, values, .. }) => {
                rows.for_each(|row| lists.push_reals(first + row, &values[span(ends, row)]));
            }
            (Self::Intervals(intervals), Column::Intervals { from, to, weight, .. }) => {
                rows.for_each(|row| {
                    intervals.push(first + row, records[row].start_ns, (from[row], to[row]), weight[row]);
                });
            }
            (
                Self::Steps(steps),
                Column::Steps {
                    from,
                    ends,
                    gaps,
                    weight,
                    ..
                },
            ) => {
                rows.for_each(|row| {
                    let (start_ns, gaps) = (records[row].start_ns, &gaps[span(ends, row)]);
                    steps.push(first + row, start_ns, from[row], gaps, weight[row]);
                });
            }
            _ => {}
        }
    }

    /// Bytes held for values.
    pub(crate) fn bytes(&self) -> usize {
        match self {
            Self::Numbers(numbers) => numbers.bytes(),
            Self::Lists(lists) => lists.bytes(),
            Self::Intervals(intervals) => intervals.bytes(),
            Self::Steps(steps) => steps.bytes(),
            Self::Later => 0,
        }
    }
}

/// Numbers of the rows of a column that have a value.
fn rows(column: &Column) -> impl Iterator<Item = usize> + Clone + '_ {
    let (len, validity) = match column {
        Column::U64 { values, validity } => (values.len(), validity),
        Column::F64 { values, validity } => (values.len(), validity),
        Column::U64List { ends, validity, .. } | Column::F64List { ends, validity, .. } => (ends.len(), validity),
        Column::Intervals { from, validity, .. } | Column::Steps { from, validity, .. } => (from.len(), validity),
    };
    (0..len).filter(|&row| validity.get(row).is_none_or(|&byte| byte != 0))
}

/// Where the list of a row lies among the joined values.
fn span(ends: &[u32], row: usize) -> std::ops::Range<usize> {
    let start = row.checked_sub(1).map_or(0, |before| ends[before] as usize);
    start..ends[row] as usize
}

/// Calls `use_entry` with the place (among the present ones) and number of each present record that is selected.
pub(crate) fn each_selected(presence: &Presence, selected: Option<&Presence>, mut use_entry: impl FnMut(usize, usize)) {
    for (place, record) in presence.iter().enumerate() {
        if selected.is_none_or(|selected| selected.contains(record)) {
            use_entry(place, record);
        }
    }
}
