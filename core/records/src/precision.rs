//! How exact a metric is when memory did not suffice to keep everything.

use serde::{Deserialize, Serialize};

/// How exact the statistics of a list metric or a curve made of steps are. Of lists mean, sum, minimum, maximum and
/// count are always exact.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Precision {
    /// Every value was kept.
    Exact,
    /// The budget was spent; percentiles come from a histogram.
    Histogram {
        /// Significant decimal digits of the percentiles.
        significant_digits: u8,
    },
    /// The budget was spent; within each record the steps of the curve are evened out, what they add up to is exact.
    EvenPerRecord,
}
