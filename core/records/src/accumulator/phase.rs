//! The accumulator of one phase.

use std::sync::Arc;

use aiperf_plugin_api::{
    column::Column,
    metric::{MetricKind, Population},
};

use super::{Budget, Series, presence::Presence};
use crate::{
    catalogue::{Catalogue, Origin},
    errors::{ErrorDetails, ErrorSummary, ErrorTally},
    pieces::{Compact, Pieces},
};

/// What came of a request, beside its metrics.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct RecordOutcome {
    /// When it was sent, ns on the wall clock.
    pub start_ns: u64,
    /// When it ended, ns on the wall clock.
    pub end_ns: u64,
    /// Why it failed; `None` for a valid record.
    pub error: Option<ErrorDetails>,
}

/// A batch does not fit; nothing of it was added.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum AccumulateError {
    /// Results of more or fewer families than the run has.
    #[error("results of {given} metric families, but the run has {expected}")]
    Families {
        /// Number of results.
        given: usize,
        /// Number of families.
        expected: usize,
    },
    /// A family returned too many or too few columns.
    #[error(
        "the metric family of `{tag}` returned {given} columns instead of {expected}: one for each metric that is not derived"
    )]
    Columns {
        /// First tag of the family.
        tag: String,
        /// Number of columns it returned.
        given: usize,
        /// Number of its metrics that are not derived.
        expected: usize,
    },
    /// A column does not fit the batch.
    #[error("metric `{tag}` returned {problem}")]
    Column {
        /// The metric.
        tag: String,
        /// What is wrong with its column.
        problem: String,
    },
    /// A column has the wrong type for its metric.
    #[error("metric `{tag}` of kind {kind:?} returned a column of another type, or of another type than before")]
    Type {
        /// The metric.
        tag: String,
        /// Its kind.
        kind: MetricKind,
    },
}

/// Collects the records of one phase.
#[derive(Clone, Debug)]
pub struct PhaseAccumulator {
    catalogue: Arc<Catalogue>,
    /// One for each metric of the catalogue.
    series: Vec<Series>,
    /// Start of each record.
    starts: Pieces<u64>,
    /// Time from its start to its end.
    lengths: Compact,
    /// The records with an error.
    errors: Presence,
    tally: ErrorTally,
    /// For each family the number of records it was skipped for.
    skipped: Vec<u64>,
}

impl PhaseAccumulator {
    /// An accumulator without records.
    #[must_use]
    pub fn new(catalogue: Arc<Catalogue>, budget: Budget) -> Self {
        let series = catalogue
            .metrics()
            .iter()
            .map(|metric| match metric.origin {
                Origin::Column { .. } => Series::new(metric.entry.spec.kind, budget),
                Origin::Derived { .. } | Origin::Composed(_) => Series::Later,
            })
            .collect();
        let skipped = vec![0; catalogue.families().len()];
        Self {
            catalogue,
            series,
            starts: Pieces::default(),
            lengths: Compact::default(),
            errors: Presence::default(),
            tally: ErrorTally::default(),
            skipped,
        }
    }

    /// Adds a batch of records. `results` has for each family of the catalogue the columns it returned, or `None` if the
    /// family failed and is to be skipped for this batch. Values of records outside a metric's population are ignored.
    ///
    /// # Errors
    /// If a result does not fit. Then nothing of the batch has been added, and the caller decides whether to try again
    /// with the family skipped.
    pub fn add(&mut self, records: &[RecordOutcome], results: &[Option<Vec<Column>>]) -> Result<(), AccumulateError> {
        self.check(records.len(), results)?;
        let first = self.starts.len();
        let metrics = self.catalogue.metrics();
        for (metric, series) in metrics.iter().zip(&mut self.series) {
            if let Origin::Column { family, column } = metric.origin
                && let Some(columns) = &results[family]
            {
                let population = metric.entry.spec.population;
                series.add(&columns[column], first, records, |row| match population {
                    Population::Valid => records[row].error.is_none(),
                    Population::Errors => records[row].error.is_some(),
                    Population::All => true,
                });
            }
        }
        for (skipped, result) in self.skipped.iter_mut().zip(results) {
            if result.is_none() {
                *skipped += records.len() as u64;
            }
        }
        for (row, record) in records.iter().enumerate() {
            self.starts.push(record.start_ns);
            self.lengths.push(record.end_ns.saturating_sub(record.start_ns));
            if let Some(error) = &record.error {
                self.errors.insert(first + row);
                self.tally.add(error);
            }
        }
        Ok(())
    }

    pub(crate) fn series(&self) -> &[Series] {
        &self.series
    }

    /// Start of each record in ns.
    pub(crate) fn starts(&self) -> &Pieces<u64> {
        &self.starts
    }

    /// Start and end of each record in ns.
    pub(super) fn spans(&self) -> impl Iterator<Item = (u64, u64)> + '_ {
        let span = |(record, start)| (start, self.lengths.at(record).saturating_add(start));
        self.starts.iter().enumerate().map(span)
    }

    pub(crate) fn errors(&self) -> &Presence {
        &self.errors
    }

    fn check(&self, len: usize, results: &[Option<Vec<Column>>]) -> Result<(), AccumulateError> {
        let families = self.catalogue.families();
        if results.len() != families.len() {
            return Err(AccumulateError::Families {
                given: results.len(),
                expected: families.len(),
            });
        }
        for (family, columns) in families.iter().zip(results) {
            let expected = family
                .metrics
                .iter()
                .filter(|metric| metric.kind != MetricKind::Derived)
                .count();
            if let Some(columns) = columns
                && columns.len() != expected
            {
                let tag = family
                    .metrics
                    .first()
                    .map_or_else(String::new, |metric| metric.tag.clone());
                return Err(AccumulateError::Columns {
                    tag,
                    given: columns.len(),
                    expected,
                });
            }
        }
        for (metric, series) in self.catalogue.metrics().iter().zip(&self.series) {
            if let Origin::Column { family, column } = metric.origin
                && let Some(columns) = &results[family]
            {
                let (spec, column) = (&metric.entry.spec, &columns[column]);
                let tag = || spec.tag.clone();
                column
                    .check(len)
                    .map_err(|problem| AccumulateError::Column { tag: tag(), problem })?;
                if !series.accepts(column) {
                    return Err(AccumulateError::Type {
                        tag: tag(),
                        kind: spec.kind,
                    });
                }
            }
        }
        Ok(())
    }

    /// The metrics it collects.
    #[must_use]
    pub fn catalogue(&self) -> &Arc<Catalogue> {
        &self.catalogue
    }

    /// Number of records without an error.
    #[must_use]
    pub fn valid_records(&self) -> u64 {
        self.starts.len() as u64 - self.error_records()
    }

    /// Number of records with an error.
    #[must_use]
    pub fn error_records(&self) -> u64 {
        self.errors.len()
    }

    /// The errors so far.
    #[must_use]
    pub fn error_summary(&self) -> &ErrorSummary {
        self.tally.summary()
    }

    /// For each family that was skipped, its number and for how many records.
    pub fn skipped(&self) -> impl Iterator<Item = (usize, u64)> + '_ {
        self.skipped
            .iter()
            .copied()
            .enumerate()
            .filter(|&(_, records)| records > 0)
    }

    /// Bytes held for the values of records, without what vectors keep in reserve.
    #[must_use]
    pub fn bytes(&self) -> usize {
        self.starts.bytes()
            + self.lengths.bytes()
            + self.errors.bytes()
            + self.series.iter().map(Series::bytes).sum::<usize>()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::testing::{family, spec};

    fn accumulator(metrics: Vec<aiperf_plugin_api::metric::MetricSpec>) -> PhaseAccumulator {
        let catalogue = Catalogue::new(vec![family(metrics)], Vec::new(), |_, _| true).unwrap();
        PhaseAccumulator::new(
            Arc::new(catalogue),
            Budget {
                list_bytes: 4000,
                steps_bytes: 4000,
            },
        )
    }

    fn valid(n: usize) -> Vec<RecordOutcome> {
        vec![
            RecordOutcome {
                start_ns: 1,
                end_ns: 2,
                error: None
            };
            n
        ]
    }

    #[test]
    fn a_batch_that_does_not_fit_adds_nothing() {
        let mut accumulator = accumulator(vec![
            spec("latency", "ns", MetricKind::Record),
            spec("total", "ns", MetricKind::Derived),
            spec("gaps", "ns", MetricKind::List),
        ]);
        let good = || Column::u64s([Some(1), None]);
        let list = || Column::U64List {
            ends: vec![1, 1],
            values: vec![5],
            validity: Vec::new(),
        };
        for (results, message) in [
            (vec![], "results of 0 metric families, but the run has 1"),
            (vec![Some(vec![good()])], "of `latency` returned 1 columns instead of 2"),
            (
                vec![Some(vec![Column::u64s([Some(1)]), list()])],
                "metric `latency` returned a column of 1 rows",
            ),
            (
                vec![Some(vec![Column::f64s([Some(f64::NAN), None]), list()])],
                "a value that is not finite",
            ),
            (
                vec![Some(vec![good(), good()])],
                "metric `gaps` of kind List returned a column of another type",
            ),
        ] {
            let error = accumulator.add(&valid(2), &results).unwrap_err().to_string();
            assert!(error.contains(message), "{error}");
        }
        assert_eq!((accumulator.valid_records(), accumulator.bytes()), (0, 0));
        accumulator.add(&valid(2), &[Some(vec![good(), list()])]).unwrap();
        // Whole numbers and reals do not mix in one list metric.
        let reals = Column::F64List {
            ends: vec![0, 0],
            values: vec![],
            validity: Vec::new(),
        };
        assert!(accumulator.add(&valid(2), &[Some(vec![good(), reals])]).is_err());
        assert_eq!(accumulator.valid_records(), 2);
    }

    #[test]
    fn a_missing_value_that_is_not_a_number_is_just_missing() {
        let mut accumulator = accumulator(vec![spec("latency", "ns", MetricKind::Record)]);
        let column = Column::F64 {
            values: vec![f64::NAN, 1.0],
            validity: vec![0, 1],
        };
        accumulator.add(&valid(2), &[Some(vec![column])]).unwrap();
    }

    #[test]
    fn skipped_families_are_counted() {
        let mut accumulator = accumulator(vec![spec("latency", "ns", MetricKind::Record)]);
        accumulator.add(&valid(3), &[None]).unwrap();
        accumulator
            .add(&valid(2), &[Some(vec![Column::u64s([Some(1), Some(2)])])])
            .unwrap();
        assert_eq!(accumulator.skipped().collect::<Vec<_>>(), [(0, 3)]);
        assert_eq!(accumulator.valid_records(), 5);
    }

    #[test]
    fn memory_per_record_is_what_the_documentation_says() {
        let n = 6400;
        let mut accumulator = accumulator(vec![
            spec("tokens", "tokens", MetricKind::Record),
            spec("rate", "tokens/sec", MetricKind::Record),
            spec("absent", "tokens", MetricKind::Sum),
            spec("busy", "requests", MetricKind::Interval),
            spec("decode", "tokens/sec", MetricKind::Steps),
            spec("gaps", "ns", MetricKind::List),
        ]);
        let one = || {
            vec![1u32; n]
                .into_iter()
                .scan(0, |end, gaps| {
                    *end += gaps;
                    Some(*end)
                })
                .collect::<Vec<_>>()
        };
        let columns = vec![
            Column::u64s((0..n as u64).map(Some)),
            Column::f64s(vec![Some(0.5); n]),
            Column::u64s(vec![None; n]),
            Column::Intervals {
                from: vec![1; n],
                to: vec![2; n],
                weight: vec![1.0; n],
                validity: vec![],
            },
            Column::Steps {
                from: vec![1; n],
                ends: one(),
                gaps: vec![3; n],
                weight: vec![1.0; n],
                validity: vec![],
            },
            Column::U64List {
                ends: one(),
                values: vec![3; n],
                validity: vec![],
            },
        ];
        accumulator.add(&valid(n), &[Some(columns)]).unwrap();
        // Span, 4, nothing of what is always the same, interval, steps beyond their budget, list beyond it; five times one
        // and a half bits per record.
        assert_eq!(accumulator.bytes(), n * (12 + 4 + 8 + 20) + 15 * n / 16);
    }
}
