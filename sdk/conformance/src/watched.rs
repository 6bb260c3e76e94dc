//! Instances whose panics are noted, whatever a case makes of the error.

use std::sync::{Arc, Mutex, PoisonError};

use aiperf_sdk::{
    Batch, Column, Conversation, Dataset, Decoded, Endpoint, ErrorKind, Event, Exchange, Exporter, GpuCollector,
    HttpAnswer, HttpRequest, Metric, MetricFamily, Output, PluginError, Probe, RequestInfo, Result, Source, Timing,
    dataset::{DatasetInfo, Sample},
    endpoint::{EndpointDescription, NextStep},
    exporter::ExporterNeeds,
    gpu::Poll,
    metric::Window,
    timing::{Step, TimingPlan},
};

/// Panics of a plugin: the call and the message.
#[derive(Debug, Clone, Default)]
pub(crate) struct Panics(Arc<Mutex<Vec<String>>>);

impl Panics {
    /// Makes a call and notes its panic. Once a plugin has panicked it is not called again.
    pub(crate) fn watch<T>(&self, call: &str, make: impl FnOnce() -> Result<T>) -> Result<T> {
        if let Some(panic) = self.first() {
            return Err(PluginError::new(ErrorKind::Panicked, panic));
        }
        let result = make();
        if let Err(error) = &result
            && error.kind == ErrorKind::Panicked
        {
            let mut panics = self.0.lock().unwrap_or_else(PoisonError::into_inner);
            panics.push(format!("`{call}`: {}", error.message));
        }
        result
    }

    /// The first panic.
    pub(crate) fn first(&self) -> Option<String> {
        let panics = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        panics.first().cloned()
    }
}

/// An instance and where its panics are noted.
pub(crate) struct Watched<T: ?Sized> {
    instance: Box<T>,
    panics: Panics,
}

impl<T: ?Sized> Watched<T> {
    /// Watches an instance.
    pub(crate) fn new(instance: Box<T>, panics: Panics) -> Self {
        Self { instance, panics }
    }
}

impl Endpoint for Watched<dyn Endpoint> {
    fn describe(&self) -> Result<EndpointDescription> {
        self.panics.watch("describe", || self.instance.describe())
    }
    fn prepare(&self, request: RequestInfo) -> Result<HttpRequest> {
        self.panics.watch("prepare", || self.instance.prepare(request))
    }
    fn next(&self, exchanges: &[Exchange<'_>]) -> Result<NextStep> {
        self.panics.watch("next", || self.instance.next(exchanges))
    }
    fn decode(&self, exchanges: &[Exchange<'_>]) -> Result<Decoded> {
        self.panics.watch("decode", || self.instance.decode(exchanges))
    }
}

impl Dataset for Watched<dyn Dataset> {
    fn probe(&self, sample: &Sample) -> Result<Probe> {
        self.panics.watch("probe", || self.instance.probe(sample))
    }
    fn open(&mut self, source: Box<dyn Source>) -> Result<DatasetInfo> {
        self.panics.watch("open", || self.instance.open(source))
    }
    fn next(&mut self, count: u32) -> Result<Vec<Conversation>> {
        self.panics.watch("next", || self.instance.next(count))
    }
    fn order(&self, conversations: u32, pass: u32) -> Result<Vec<u32>> {
        self.panics.watch("order", || self.instance.order(conversations, pass))
    }
}

impl Timing for Watched<dyn Timing> {
    fn start(&mut self, plan: &TimingPlan) -> Result<()> {
        self.panics.watch("start", || self.instance.start(plan))
    }
    fn step(&mut self, now_ns: u64, events: &[Event]) -> Result<Step> {
        self.panics.watch("step", || self.instance.step(now_ns, events))
    }
    fn intervals(&mut self, rate: f64, count: u32) -> Result<Vec<u64>> {
        self.panics.watch("intervals", || self.instance.intervals(rate, count))
    }
    fn state(&self) -> Result<String> {
        self.panics.watch("state", || self.instance.state())
    }
    fn value_at(&self, progress: f64) -> Result<f64> {
        self.panics.watch("value_at", || self.instance.value_at(progress))
    }
}

impl Metric for Watched<dyn Metric> {
    fn describe(&self) -> Result<MetricFamily> {
        self.panics.watch("describe", || self.instance.describe())
    }
    fn record(&self, batch: &Batch<'_>) -> Result<Vec<Column>> {
        self.panics.watch("record", || self.instance.record(batch))
    }
    fn derive(&self, window: &Window) -> Result<Vec<Option<f64>>> {
        self.panics.watch("derive", || self.instance.derive(window))
    }
}

impl Exporter for Watched<dyn Exporter> {
    fn begin(&mut self, info: &str) -> Result<ExporterNeeds> {
        self.panics.watch("begin", || self.instance.begin(info))
    }
    fn write(&mut self, batch: &Batch<'_>) -> Result<Vec<Output>> {
        self.panics.watch("write", || self.instance.write(batch))
    }
    fn write_table(&mut self, table: &str, batch: &Batch<'_>) -> Result<Vec<Output>> {
        self.panics
            .watch("write_table", || self.instance.write_table(table, batch))
    }
    fn finish(&mut self, report: &str) -> Result<Vec<Output>> {
        self.panics.watch("finish", || self.instance.finish(report))
    }
}

impl GpuCollector for Watched<dyn GpuCollector> {
    fn poll(&mut self, now_ns: u64, answer: Option<HttpAnswer>) -> Result<Poll> {
        self.panics.watch("poll", || self.instance.poll(now_ns, answer))
    }
}
