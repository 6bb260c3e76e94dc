//! A plugin that breaks every rule on demand. Without options every entry behaves; `--plugin-opt CATEGORY/NAME.do=FAULT` says
//! what it does wrong, `after` how often it behaves before that.

mod behaviour;
mod dataset;
mod endpoint;
mod exporter;
mod gpu;
mod metric;
mod timing;

use aiperf_sdk::prelude::*;
use behaviour::Behaviour;

/// The package. The names `sequential` and `gamma` stand before built-in ones: samplers and arrival patterns cannot be
/// chosen by a name of their own.
struct Hostile;

impl Package for Hostile {
    const NAME: &'static str = "hostile";
    const VERSION: &'static str = "1.0.0";

    fn entries() -> Vec<Entry> {
        assert!(std::env::var_os("HOSTILE_ENTRIES").is_none(), "hostile in entries");
        vec![
            Entry::new(Category::Endpoint, "hostile"),
            Entry::new(Category::Dataset, "hostile"),
            Entry::new(Category::Dataset, "sequential"),
            Entry::new(Category::Timing, "hostile"),
            Entry::new(Category::Timing, "gamma"),
            Entry::new(Category::Metric, "hostile"),
            Entry::new(Category::Exporter, "hostile"),
            Entry::new(Category::GpuCollector, "hostile"),
        ]
    }

    fn endpoint(open: Open) -> Result<Box<dyn Endpoint>> {
        Ok(Box::new(endpoint::Hostile(Behaviour::open(&open)?)))
    }
    fn dataset(open: Open) -> Result<Box<dyn Dataset>> {
        Ok(Box::new(dataset::Hostile::new(Behaviour::open(&open)?)))
    }
    fn timing(open: Open) -> Result<Box<dyn Timing>> {
        Ok(Box::new(timing::Hostile::new(Behaviour::open(&open)?)))
    }
    fn metric(open: Open) -> Result<Box<dyn Metric>> {
        Ok(Box::new(metric::Hostile(Behaviour::open(&open)?)))
    }
    fn exporter(open: Open) -> Result<Box<dyn Exporter>> {
        Ok(Box::new(exporter::Hostile(Behaviour::open(&open)?)))
    }
    fn gpu_collector(open: Open) -> Result<Box<dyn GpuCollector>> {
        Ok(Box::new(gpu::Hostile(Behaviour::open(&open)?)))
    }
}

aiperf_sdk::export!(Hostile, [Endpoint, Dataset, Timing, Metric, Exporter, GpuCollector]);
