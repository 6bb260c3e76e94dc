//! Open entries. A handle is used like the plugin itself: it implements the same trait.

use crate::meter::{Plugin, Watch};
use aiperf_plugin_api::dataset::{DatasetInfo, Sample};
use aiperf_plugin_api::endpoint::{EndpointDescription, NextStep};
use aiperf_plugin_api::exporter::ExporterNeeds;
use aiperf_plugin_api::gpu::{Poll, Scrape};
use aiperf_plugin_api::metric::Window;
use aiperf_plugin_api::timing::{Step, TimingPlan};
use aiperf_plugin_api::{
    Batch, Column, Conversation, Dataset, Decoded, Endpoint, Event, Exchange, Exporter, GpuCollector, HttpRequest,
    Metric, MetricFamily, Output, PluginError, Probe, RequestInfo, Result, Source, Timing,
};

/// An instance of an entry. Every call is counted and timed; every error begins with the plugin's name; after a panic
/// the instance is not called again.
pub struct Handle<T: ?Sized> {
    watch: Watch,
    instance: Box<T>,
}

/// An open endpoint.
pub type EndpointHandle = Handle<dyn Endpoint>;
/// An open dataset or sampler.
pub type DatasetHandle = Handle<dyn Dataset>;
/// An open timing mode, arrival pattern or ramp.
pub type TimingHandle = Handle<dyn Timing>;
/// An open metric family.
pub type MetricHandle = Handle<dyn Metric>;
/// An open exporter.
pub type ExporterHandle = Handle<dyn Exporter>;
/// An open GPU collector.
pub type GpuCollectorHandle = Handle<dyn GpuCollector>;

impl<T: ?Sized> Handle<T> {
    pub(crate) fn new(watch: Watch, instance: Box<T>) -> Self {
        Self { watch, instance }
    }

    /// The entry: its name for messages and its counters.
    pub fn plugin(&self) -> &Plugin {
        self.watch.plugin()
    }
}

impl<T: ?Sized> std::fmt::Debug for Handle<T> {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Handle")
            .field("plugin", self.plugin())
            .finish_non_exhaustive()
    }
}

impl Endpoint for EndpointHandle {
    fn describe(&self) -> Result<EndpointDescription> {
        self.watch.call(|| self.instance.describe())
    }
    fn prepare(&self, request: RequestInfo) -> Result<HttpRequest> {
        self.watch.call(|| self.instance.prepare(request))
    }
    fn next(&self, exchanges: &[Exchange<'_>]) -> Result<NextStep> {
        self.watch.call(|| self.instance.next(exchanges))
    }
    fn decode(&self, exchanges: &[Exchange<'_>]) -> Result<Decoded> {
        self.watch.call(|| self.instance.decode(exchanges))
    }
}

impl Dataset for DatasetHandle {
    fn probe(&self, sample: &Sample) -> Result<Probe> {
        self.watch.call(|| self.instance.probe(sample))
    }
    fn open(&mut self, source: Box<dyn Source>) -> Result<DatasetInfo> {
        self.watch.call(|| self.instance.open(source))
    }
    fn next(&mut self, count: u32) -> Result<Vec<Conversation>> {
        self.watch.call(|| self.instance.next(count))
    }
    fn order(&self, conversations: u32, pass: u32) -> Result<Vec<u32>> {
        self.watch.call(|| self.instance.order(conversations, pass))
    }
}

impl Timing for TimingHandle {
    fn start(&mut self, plan: &TimingPlan) -> Result<()> {
        self.watch.call(|| self.instance.start(plan))
    }
    fn step(&mut self, now_ns: u64, events: &[Event]) -> Result<Step> {
        self.watch.call(|| self.instance.step(now_ns, events))
    }
    fn intervals(&mut self, rate: f64, count: u32) -> Result<Vec<u64>> {
        self.watch.call(|| self.instance.intervals(rate, count))
    }
    fn state(&self) -> Result<String> {
        self.watch.call(|| self.instance.state())
    }
    fn value_at(&self, progress: f64) -> Result<f64> {
        self.watch.call(|| self.instance.value_at(progress))
    }
}

impl Metric for MetricHandle {
    fn describe(&self) -> Result<MetricFamily> {
        self.watch.call(|| self.instance.describe())
    }
    /// A column that does not fit the batch is an error here, so that no wrong number travels on.
    fn record(&self, batch: &Batch<'_>) -> Result<Vec<Column>> {
        self.watch.call(|| {
            let columns = self.instance.record(batch)?;
            for (index, column) in columns.iter().enumerate() {
                column
                    .check(batch.len)
                    .map_err(|problem| PluginError::failed(format!("returned, as column {index}, {problem}")))?;
            }
            Ok(columns)
        })
    }
    /// A derived value that is not finite is an error here.
    fn derive(&self, window: &Window) -> Result<Vec<Option<f64>>> {
        self.watch.call(|| {
            let values = self.instance.derive(window)?;
            match values
                .iter()
                .position(|value| value.is_some_and(|value| !value.is_finite()))
            {
                Some(index) => Err(PluginError::failed(format!(
                    "derived, as value {index}, a number that is not finite"
                ))),
                None => Ok(values),
            }
        })
    }
}

impl Exporter for ExporterHandle {
    fn begin(&mut self, info: &str) -> Result<ExporterNeeds> {
        self.watch.call(|| self.instance.begin(info))
    }
    fn write_table(&mut self, table: &str, batch: &Batch<'_>) -> Result<Vec<Output>> {
        self.watch.call(|| self.instance.write_table(table, batch))
    }
    fn write(&mut self, batch: &Batch<'_>) -> Result<Vec<Output>> {
        self.watch.call(|| self.instance.write(batch))
    }
    fn finish(&mut self, report: &str) -> Result<Vec<Output>> {
        self.watch.call(|| self.instance.finish(report))
    }
}

impl GpuCollector for GpuCollectorHandle {
    fn poll(&mut self, now_ns: u64, answer: Option<Scrape>) -> Result<Poll> {
        self.watch.call(|| self.instance.poll(now_ns, answer))
    }
}
