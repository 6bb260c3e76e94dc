//! One metric over one window, and its form in the report.

use aiperf_plugin_api::{
    metric::MetricSpec,
    report::{self, Stats},
};

use crate::{precision::Precision, statistics::Statistics};

/// A metric and its values over one window.
#[derive(Clone, Debug, PartialEq)]
pub struct MetricResult {
    /// Tag, header, units, group, order, flags.
    pub spec: MetricSpec,
    /// What native values are multiplied by to be in the spec's display unit.
    pub factor: f64,
    /// The statistics in native units; `avg` alone for a metric that is one number.
    pub statistics: Statistics,
    /// How exact they are, where they are not exact by nature.
    pub precision: Option<Precision>,
}

impl MetricResult {
    /// The statistics in the display unit.
    #[must_use]
    pub fn displayed(&self) -> Statistics {
        self.statistics.scaled(self.factor)
    }
}

impl From<Statistics> for Stats {
    fn from(statistics: Statistics) -> Self {
        Self {
            avg: statistics.avg,
            p1: statistics.p1,
            p5: statistics.p5,
            p10: statistics.p10,
            p25: statistics.p25,
            p50: statistics.p50,
            p75: statistics.p75,
            p90: statistics.p90,
            p95: statistics.p95,
            p99: statistics.p99,
            min: statistics.min,
            max: statistics.max,
            std: statistics.std,
            count: statistics.count,
            sum: statistics.sum,
        }
    }
}

impl From<MetricResult> for report::MetricResult {
    fn from(result: MetricResult) -> Self {
        let precision = match result.precision {
            None | Some(Precision::Exact) => None,
            Some(Precision::Histogram { significant_digits }) => Some(format!(
                "percentiles from a histogram, {significant_digits} significant digits"
            )),
            Some(Precision::EvenPerRecord) => Some("steps evened out within each record".to_owned()),
        };
        Self {
            spec: result.spec,
            factor: result.factor,
            stats: result.statistics.into(),
            precision,
        }
    }
}
