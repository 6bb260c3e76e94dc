//! Builders for tests.

use aiperf_plugin_api::metric::{MetricFamily, MetricKind, MetricSpec, Population};

/// A metric over valid records with nothing special about it.
pub(crate) fn spec(tag: &str, unit: &str, kind: MetricKind) -> MetricSpec {
    MetricSpec {
        tag: tag.to_owned(),
        header: tag.to_owned(),
        short_header: String::new(),
        unit: unit.to_owned(),
        display_unit: String::new(),
        kind,
        population: Population::Valid,
        group: "default".to_owned(),
        order: None,
        flags: 0,
    }
}

/// A family that needs nothing.
pub(crate) fn family(metrics: Vec<MetricSpec>) -> MetricFamily {
    MetricFamily {
        needs: Vec::new(),
        derive_needs: Vec::new(),
        metrics,
    }
}
