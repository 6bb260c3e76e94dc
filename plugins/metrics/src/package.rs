//! What the package registers and how its entries open.

use aiperf_sdk::{Category, Entry, Metric, MetricSpec, Package, Result, package::Open};

use crate::{
    count, effective, family::Family, goodput, gpu_power_efficiency, http_trace, latency, length, options::Options,
    schedule, throughput, usage,
};

/// The package.
pub struct BuiltIn;

/// Every entry.
const ENTRIES: [&str; 10] = [
    "latency",
    "length",
    "count",
    "throughput",
    "usage",
    "schedule",
    "effective",
    "http_trace",
    "goodput",
    "gpu_power_efficiency",
];

impl Package for BuiltIn {
    const NAME: &'static str = "aiperf-metrics";
    const VERSION: &'static str = env!("CARGO_PKG_VERSION");

    fn entries() -> Vec<Entry> {
        ENTRIES.iter().map(|&name| Entry::new(Category::Metric, name)).collect()
    }

    fn metric(open: Open) -> Result<Box<dyn Metric>> {
        let options = Options::of(&open)?;
        Ok(match open.entry.as_str() {
            "latency" => Box::new(latency::Latency::new(options, open.host)),
            "length" => Box::new(Family::new(options, length::definitions())),
            "count" => Box::new(Family::new(options, count::definitions())),
            "throughput" => Box::new(Family::new(options, throughput::definitions())),
            "usage" => Box::new(Family::new(options, usage::definitions())),
            "schedule" => Box::new(Family::new(options, schedule::definitions())),
            "effective" => Box::new(Family::new(options, effective::definitions())),
            "http_trace" => Box::new(Family::new(options, http_trace::definitions())),
            "goodput" => Box::new(goodput::Goodput::new(&options)?),
            "gpu_power_efficiency" => Box::new(gpu_power_efficiency::GpuPowerEfficiency::new(&options)),
            _ => return Err(open.unknown()),
        })
    }
}

/// All metrics that the built-in families could give, whether or not they apply to a run; for messages about those that
/// don't.
pub(crate) fn every_spec() -> Vec<MetricSpec> {
    let mut specs = latency::definitions()
        .into_iter()
        .map(|one| one.spec)
        .collect::<Vec<_>>();
    specs.extend(length::definitions().into_iter().map(|one| one.spec));
    specs.extend(count::definitions().into_iter().map(|one| one.spec));
    specs.extend(throughput::definitions().into_iter().map(|one| one.spec));
    specs.extend(usage::definitions().into_iter().map(|one| one.spec));
    specs.extend(schedule::definitions().into_iter().map(|one| one.spec));
    specs.extend(effective::definitions().into_iter().map(|one| one.spec));
    specs.extend(http_trace::definitions().into_iter().map(|one| one.spec));
    specs.extend(goodput::specs());
    specs.extend(gpu_power_efficiency::specs());
    specs
}
