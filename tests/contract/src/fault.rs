//! Fails or panics wherever it is called, and in `Drop`.

use aiperf_sdk::{
    Batch, Column, Conversation, Dataset, Decoded, Endpoint, ErrorKind, Exchange, Exporter, GpuCollector, HttpAnswer,
    HttpRequest, Metric, MetricFamily, Output, PluginError, Probe, RequestInfo, Result, Source, Timing,
    dataset::{DatasetInfo, Sample},
    endpoint::{EndpointDescription, NextStep},
    exporter::ExporterNeeds,
    gpu::Poll,
    metric::Window,
    package::Open,
    timing::{Event, Step, TimingPlan},
};
use serde::Deserialize;

/// How to fail.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "snake_case")]
enum Way {
    /// With an error of kind, message and help.
    Error,
    /// With a panic.
    Panic,
    /// With a panic whose payload is no text and panics when it is dropped.
    OddPanic,
    /// Already when it is opened.
    PanicOnOpen,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Options {
    way: Way,
}

/// Every trait of the contract, always failing.
#[derive(Debug)]
pub struct Fault(Way);

struct OddPayload;

impl Drop for OddPayload {
    fn drop(&mut self) {
        panic!("the payload");
    }
}

impl Fault {
    /// Opens it.
    ///
    /// # Errors
    /// When the options are wrong.
    pub fn open(open: &Open) -> Result<Self> {
        let Options { way } = open.options()?;
        if way == Way::PanicOnOpen {
            panic!("opening");
        }
        Ok(Self(way))
    }

    /// The error of the way `error`.
    pub fn error(call: &str) -> PluginError {
        PluginError::new(ErrorKind::InvalidInput, format!("{call}: line 7 of a.jsonl")).with_help("mend it")
    }

    fn fail<T>(&self, call: &str) -> Result<T> {
        match self.0 {
            Way::Error => Err(Self::error(call)),
            Way::Panic | Way::PanicOnOpen => panic!("{call} of the fault"),
            Way::OddPanic => std::panic::panic_any(OddPayload),
        }
    }
}

impl Drop for Fault {
    fn drop(&mut self) {
        if self.0 != Way::Error {
            panic!("dropping the fault");
        }
    }
}

impl Endpoint for Fault {
    fn describe(&self) -> Result<EndpointDescription> {
        self.fail("describe")
    }
    fn prepare(&self, _: RequestInfo) -> Result<HttpRequest> {
        self.fail("prepare")
    }
    fn next(&self, _: &[Exchange<'_>]) -> Result<NextStep> {
        self.fail("next")
    }
    fn decode(&self, _: &[Exchange<'_>]) -> Result<Decoded> {
        self.fail("decode")
    }
}

impl Dataset for Fault {
    fn probe(&self, _: &Sample) -> Result<Probe> {
        self.fail("probe")
    }
    fn open(&mut self, _: Box<dyn Source>) -> Result<DatasetInfo> {
        self.fail("open")
    }
    fn next(&mut self, _: u32) -> Result<Vec<Conversation>> {
        self.fail("next")
    }
    fn order(&self, _: u32, _: u32) -> Result<Vec<u32>> {
        self.fail("order")
    }
}

impl Timing for Fault {
    fn start(&mut self, _: &TimingPlan) -> Result<()> {
        self.fail("start")
    }
    fn step(&mut self, _: u64, _: &[Event]) -> Result<Step> {
        self.fail("step")
    }
    fn intervals(&mut self, _: f64, _: u32) -> Result<Vec<u64>> {
        self.fail("intervals")
    }
    fn value_at(&self, _: f64) -> Result<f64> {
        self.fail("value_at")
    }
}

impl Metric for Fault {
    fn describe(&self) -> Result<MetricFamily> {
        self.fail("describe")
    }
    fn record(&self, _: &Batch<'_>) -> Result<Vec<Column>> {
        self.fail("record")
    }
    fn derive(&self, _: &Window) -> Result<Vec<Option<f64>>> {
        self.fail("derive")
    }
}

impl Exporter for Fault {
    fn begin(&mut self, _: &str) -> Result<ExporterNeeds> {
        self.fail("begin")
    }
    fn write(&mut self, _: &Batch<'_>) -> Result<Vec<Output>> {
        self.fail("write")
    }
    fn write_table(&mut self, _: &str, _: &Batch<'_>) -> Result<Vec<Output>> {
        self.fail("write_table")
    }
    fn finish(&mut self, _: &str) -> Result<Vec<Output>> {
        self.fail("finish")
    }
}

impl GpuCollector for Fault {
    fn poll(&mut self, _: u64, _: Option<HttpAnswer>) -> Result<Poll> {
        self.fail("poll")
    }
}
