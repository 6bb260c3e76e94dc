//! The package of all test plugins.

use aiperf_sdk::{
    Category, Dataset, Endpoint, Entry, Exporter, GpuCollector, Metric, Package, Result, Timing, package::Open,
};

use crate::{
    dataset::{Lines, Reversed},
    endpoint::{Multipart, Polling},
    exporter::Texts,
    fault::Fault,
    gpu::Scraper,
    idle::Idle,
    metric::{Busy, ChunkGaps},
    timing::{Adaptive, FixedSchedule, UserCentric},
};

/// The package. The entries `fault` and `idle` exist in every category.
pub struct TestPackage;

impl Package for TestPackage {
    const NAME: &'static str = "contract-tests";
    const VERSION: &'static str = "0.1.0";

    fn entries() -> Vec<Entry> {
        let named = [
            (Category::Endpoint, "multipart"),
            (Category::Endpoint, "polling"),
            (Category::Dataset, "lines"),
            (Category::Dataset, "reversed"),
            (Category::Timing, "user_centric"),
            (Category::Timing, "fixed_schedule"),
            (Category::Timing, "adaptive"),
            (Category::Metric, "chunk_gaps"),
            (Category::Metric, "busy"),
            (Category::Exporter, "texts"),
            (Category::GpuCollector, "scraper"),
        ];
        let everywhere = Category::ALL
            .into_iter()
            .flat_map(|category| ["fault", "idle"].map(|name| (category, name)));
        named
            .into_iter()
            .chain(everywhere)
            .map(|(category, name)| Entry::new(category, name))
            .collect()
    }

    fn endpoint(open: Open) -> Result<Box<dyn Endpoint>> {
        Ok(match open.entry.as_str() {
            "multipart" => Box::new(Multipart),
            "polling" => Box::new(Polling),
            "fault" => Box::new(Fault::open(&open)?),
            "idle" => Box::new(Idle),
            _ => return Err(open.unknown()),
        })
    }

    fn dataset(open: Open) -> Result<Box<dyn Dataset>> {
        Ok(match open.entry.as_str() {
            "lines" => Box::new(Lines::default()),
            "reversed" => Box::new(Reversed),
            "fault" => Box::new(Fault::open(&open)?),
            "idle" => Box::new(Idle),
            _ => return Err(open.unknown()),
        })
    }

    fn timing(open: Open) -> Result<Box<dyn Timing>> {
        Ok(match open.entry.as_str() {
            "user_centric" => Box::new(UserCentric::new(open.options()?)),
            "fixed_schedule" => Box::new(FixedSchedule::new(open.options()?)),
            "adaptive" => Box::new(Adaptive::new(open.options()?)),
            "fault" => Box::new(Fault::open(&open)?),
            "idle" => Box::new(Idle),
            _ => return Err(open.unknown()),
        })
    }

    fn metric(open: Open) -> Result<Box<dyn Metric>> {
        Ok(match open.entry.as_str() {
            "chunk_gaps" => Box::new(ChunkGaps),
            "busy" => Box::new(Busy),
            "fault" => Box::new(Fault::open(&open)?),
            "idle" => Box::new(Idle),
            _ => return Err(open.unknown()),
        })
    }

    fn exporter(open: Open) -> Result<Box<dyn Exporter>> {
        Ok(match open.entry.as_str() {
            "texts" => Box::new(Texts),
            "fault" => Box::new(Fault::open(&open)?),
            "idle" => Box::new(Idle),
            _ => return Err(open.unknown()),
        })
    }

    fn gpu_collector(open: Open) -> Result<Box<dyn GpuCollector>> {
        Ok(match open.entry.as_str() {
            "scraper" => Box::new(Scraper::new(&open.core()?)),
            "fault" => Box::new(Fault::open(&open)?),
            "idle" => Box::new(Idle),
            _ => return Err(open.unknown()),
        })
    }
}
