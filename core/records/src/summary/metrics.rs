//! The metrics of one window.

use std::sync::Arc;

use aiperf_plugin_api::metric::{MetricKind, MetricSpec, Total, flags};

use super::MetricResult;
use crate::{
    accumulator::{Lost, PhaseAccumulator, Series, Slice, presence::Presence},
    catalogue::{Catalogue, twin_tag},
    precision::Precision,
    statistics::Statistics,
    summation::pairwise_sum,
    window::Window,
};

/// Which hidden metrics are shown after all.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Visibility {
    /// Show internal metrics.
    pub internal: bool,
    /// Show experimental metrics.
    pub experimental: bool,
}

impl Visibility {
    /// Whether the metric is shown.
    fn shows(self, spec: &MetricSpec) -> bool {
        (self.internal || !spec.is(flags::INTERNAL)) && (self.experimental || !spec.is(flags::EXPERIMENTAL))
    }
}

/// The metrics of one window.
#[derive(Clone, Debug)]
pub struct Summary {
    pub(super) catalogue: Arc<Catalogue>,
    visibility: Visibility,
    pub(super) window: Window,
    pub(super) duration_ns: Option<u64>,
    pub(super) valid: u64,
    pub(super) errors: u64,
    /// For each metric of the catalogue its value, if it has one.
    pub(super) values: Vec<Option<Value>>,
    /// Error-adjusted twins, each with its metric's position.
    twins: Vec<(usize, Statistics)>,
    /// Positions of the metrics whose values outgrew their memory.
    lost: Vec<usize>,
}

/// A metric that has a value.
#[derive(Clone, Debug)]
pub(super) struct Value {
    pub(super) statistics: Statistics,
    pub(super) precision: Option<Precision>,
    pub(super) total: Total,
}

impl Value {
    /// Of a distribution. What else derives from it gets the mean.
    pub(super) fn distribution(statistics: Statistics, precision: Option<Precision>) -> Self {
        let total = Total {
            count: statistics.count.unwrap_or(0),
            sum: statistics.sum,
            min: statistics.min,
            max: statistics.max,
            value: statistics.avg,
        };
        Self {
            statistics,
            precision,
            total,
        }
    }
}

impl PhaseAccumulator {
    /// The metrics of all records over `window`. Rates divide by `duration_ns`, or by the length of the window if that is
    /// `None`: with several phases of a kind it is the sum of theirs.
    ///
    /// Curves that are neither visible nor needed for what is are not computed: they are most of the work.
    #[must_use]
    pub fn summary(&self, window: Window, duration_ns: Option<u64>, visibility: Visibility) -> Summary {
        let duration_ns = duration_ns.unwrap_or(window.duration_ns());
        self.summarise(window, duration_ns, visibility, None)
    }

    /// The metrics of the records of a slice. List metrics that are no longer exact are absent.
    #[must_use]
    pub fn slice_summary(&self, slice: &Slice, visibility: Visibility) -> Summary {
        let duration_ns = slice.window.duration_ns();
        self.summarise(slice.window, duration_ns, visibility, Some(&slice.records))
    }

    fn summarise(
        &self,
        window: Window,
        duration_ns: u64,
        visibility: Visibility,
        selected: Option<&Presence>,
    ) -> Summary {
        let errors = selected.map_or_else(|| self.errors().len(), |records| records.common(self.errors()));
        let records = selected.map_or(self.valid_records() + self.error_records(), Presence::len);
        let mut summary = Summary {
            catalogue: Arc::clone(self.catalogue()),
            visibility,
            window,
            duration_ns: Some(duration_ns).filter(|&duration| duration > 0),
            valid: records - errors,
            errors,
            values: vec![None; self.series().len()],
            twins: Vec::new(),
            lost: Vec::new(),
        };
        for (position, series) in self.series().iter().enumerate() {
            summary.add_series(position, series, selected);
        }
        summary.add_curves(self, selected);
        summary
    }
}

impl Summary {
    /// The observation window.
    #[must_use]
    pub fn window(&self) -> Window {
        self.window
    }

    /// Totals of a metric, if it has a value.
    #[must_use]
    pub fn total(&self, tag: &str) -> Option<&Total> {
        self.values[self.catalogue.position(tag)?]
            .as_ref()
            .map(|value| &value.total)
    }

    /// Statistics of a metric in native units, if it has a value.
    #[must_use]
    pub fn statistics(&self, tag: &str) -> Option<&Statistics> {
        self.values[self.catalogue.position(tag)?]
            .as_ref()
            .map(|value| &value.statistics)
    }

    /// Tags of the metrics whose values outgrew their memory and are absent for that reason.
    pub fn lost(&self) -> impl Iterator<Item = &str> {
        self.lost.iter().map(|&position| self.spec(position).tag.as_str())
    }

    /// The metrics that have a value and are not hidden, in the order of the catalogue, error-adjusted twins last.
    #[must_use]
    pub fn results(&self) -> Vec<MetricResult> {
        let result = |position: usize, spec: MetricSpec, statistics, precision| MetricResult {
            spec,
            factor: self.catalogue.metrics()[position].entry.factor,
            statistics,
            precision,
        };
        let metrics = self.values.iter().enumerate().filter_map(|(position, value)| {
            let value = value.as_ref()?;
            Some(result(
                position,
                self.spec(position).clone(),
                value.statistics,
                value.precision,
            ))
        });
        let twins = self
            .twins
            .iter()
            .map(|&(position, statistics)| result(position, twin(self.spec(position)), statistics, None));
        metrics
            .chain(twins)
            .filter(|metric| self.visibility.shows(&metric.spec))
            .collect()
    }

    /// Whether anybody is going to look at the metric itself.
    pub(super) fn is_wanted(&self, position: usize) -> bool {
        let spec = self.spec(position);
        let needs = self.catalogue.families().iter().flat_map(|family| &family.derive_needs);
        let asks = |need: &String| {
            let rest = need.strip_prefix(spec.tag.as_str());
            rest.is_some_and(|rest| rest.is_empty() || rest.starts_with('.'))
        };
        self.visibility.shows(spec) || needs.into_iter().any(asks)
    }

    pub(super) fn spec(&self, position: usize) -> &MetricSpec {
        &self.catalogue.metrics()[position].entry.spec
    }

    fn add_series(&mut self, position: usize, series: &Series, selected: Option<&Presence>) {
        let spec = self.spec(position);
        self.values[position] = match series {
            Series::Numbers(numbers) => {
                if spec.kind != MetricKind::Record {
                    aggregate(spec.kind, &numbers.select(selected))
                } else {
                    let sorted = numbers.sorted(selected);
                    if spec.is(flags::ERROR_ADJUSTED)
                        && let Some(adjusted) = sorted.error_adjusted(self.errors)
                    {
                        self.twins.push((position, adjusted));
                    }
                    sorted
                        .statistics()
                        .map(|statistics| Value::distribution(statistics, None))
                }
            }
            Series::Lists(lists) => match lists.pooled(selected) {
                Ok(pooled) => pooled.map(|(statistics, precision)| Value::distribution(statistics, Some(precision))),
                Err(Lost) => {
                    self.lost.push(position);
                    None
                }
            },
            Series::Intervals(_) | Series::Steps(_) | Series::Later => None,
        };
    }
}

/// The one number of a sum, minimum or maximum.
fn aggregate(kind: MetricKind, values: &[f64]) -> Option<Value> {
    let min = values.iter().copied().reduce(f64::min)?;
    let max = values.iter().copied().reduce(f64::max)?;
    let sum = pairwise_sum(values.len(), &|i| values[i]);
    let value = match kind {
        MetricKind::Min => min,
        MetricKind::Max => max,
        _ => sum,
    };
    Some(Value {
        statistics: Statistics::single(value),
        precision: None,
        total: Total {
            count: values.len() as u64,
            sum: Some(sum),
            min: Some(min),
            max: Some(max),
            value: Some(value),
        },
    })
}

/// The error-adjusted twin of a metric.
fn twin(spec: &MetricSpec) -> MetricSpec {
    MetricSpec {
        tag: twin_tag(&spec.tag),
        header: format!("{} (error-adjusted)", spec.header),
        short_header: String::new(),
        group: "default".to_owned(),
        order: None,
        flags: spec.flags & !flags::ERROR_ADJUSTED,
        ..spec.clone()
    }
}
