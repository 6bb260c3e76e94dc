//! Open entries. A handle is used like the plugin itself: it implements the same trait. What comes back is checked here, once;
//! nothing behind a handle doubts a length, an index or a header.

use crate::meter::{Plugin, Watch};
use aiperf_plugin_api::dataset::{DatasetInfo, Sample};
use aiperf_plugin_api::endpoint::{EndpointDescription, NextStep};
use aiperf_plugin_api::exporter::ExporterNeeds;
use aiperf_plugin_api::metric::Window;
use aiperf_plugin_api::timing::{Step, TimingPlan};
use aiperf_plugin_api::{
    Batch, Column, Conversation, Dataset, Decoded, Endpoint, Event, Exchange, Exporter, GpuCollector, HttpRequest,
    Metric, MetricFamily, MetricKind, Output, Probe, RequestInfo, Result, Source, Timing,
};
use aiperf_plugin_api::{HttpAnswer, gpu::Poll};
use std::sync::OnceLock;

/// An instance of an entry. Every call is counted and timed; every error begins with the plugin's name and the call; after
/// a panic the instance is not called again.
pub struct Handle<T: ?Sized> {
    watch: Watch,
    instance: Box<T>,
    /// Kinds of the metrics that a family has described, in order.
    described: OnceLock<Vec<MetricKind>>,
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
        Self {
            watch,
            instance,
            described: OnceLock::new(),
        }
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

/// Number of events of a request's exchanges: what chunks refer to.
fn events(exchanges: &[Exchange<'_>]) -> usize {
    exchanges.iter().map(|exchange| exchange.ends.len()).sum()
}

impl Endpoint for EndpointHandle {
    fn describe(&self) -> Result<EndpointDescription> {
        self.watch
            .checked("describe", || self.instance.describe(), EndpointDescription::check)
    }
    fn prepare(&self, request: RequestInfo) -> Result<HttpRequest> {
        self.watch
            .checked("prepare", || self.instance.prepare(request), HttpRequest::check)
    }
    fn next(&self, exchanges: &[Exchange<'_>]) -> Result<NextStep> {
        let check = |step: &NextStep| match step {
            NextStep::Done => Ok(()),
            NextStep::Request { request, .. } => request.check(),
        };
        self.watch.checked("next", || self.instance.next(exchanges), check)
    }
    fn decode(&self, exchanges: &[Exchange<'_>]) -> Result<Decoded> {
        let check = |decoded: &Decoded| decoded.check(events(exchanges));
        self.watch.checked("decode", || self.instance.decode(exchanges), check)
    }
}

impl Dataset for DatasetHandle {
    fn probe(&self, sample: &Sample) -> Result<Probe> {
        self.watch.call("probe", || self.instance.probe(sample))
    }
    fn open(&mut self, source: Box<dyn Source>) -> Result<DatasetInfo> {
        self.watch.call("open", || self.instance.open(source))
    }
    fn next(&mut self, count: u32) -> Result<Vec<Conversation>> {
        let check = |batch: &Vec<Conversation>| {
            if batch.len() > count as usize {
                return Err(format!("{} conversations; {count} were asked for", batch.len()));
            }
            batch.iter().try_for_each(Conversation::check)
        };
        self.watch.checked("next", || self.instance.next(count), check)
    }
    fn order(&self, conversations: u32, pass: u32) -> Result<Vec<u32>> {
        let check = |order: &Vec<u32>| match order.iter().find(|&&index| index >= conversations) {
            Some(index) => Err(format!("conversation {index} of {conversations}")),
            None if order.is_empty() && conversations > 0 => Err(format!("no order of {conversations} conversations")),
            None => Ok(()),
        };
        self.watch
            .checked("order", || self.instance.order(conversations, pass), check)
    }
}

impl Timing for TimingHandle {
    fn start(&mut self, plan: &TimingPlan) -> Result<()> {
        self.watch.call("start", || self.instance.start(plan))
    }
    fn step(&mut self, now_ns: u64, events: &[Event]) -> Result<Step> {
        self.watch.call("step", || self.instance.step(now_ns, events))
    }
    fn intervals(&mut self, rate: f64, count: u32) -> Result<Vec<u64>> {
        let check = |intervals: &Vec<u64>| match intervals.len() {
            len if len == count as usize => Ok(()),
            len => Err(format!("{len} intervals; {count} were asked for")),
        };
        self.watch
            .checked("intervals", || self.instance.intervals(rate, count), check)
    }
    fn state(&self) -> Result<String> {
        self.watch.call("state", || self.instance.state())
    }
    fn value_at(&self, progress: f64) -> Result<f64> {
        let check = |share: &f64| match share {
            0.0..=1.0 => Ok(()),
            _ => Err(format!("{share}, which is no share from 0 to 1")),
        };
        self.watch
            .checked("value_at", || self.instance.value_at(progress), check)
    }
}

impl MetricHandle {
    /// One column for each described metric that is not derived, of its kind and as long as the batch.
    fn check_columns(&self, columns: &[Column], len: usize) -> std::result::Result<(), String> {
        if let Some(kinds) = self.described.get() {
            let expected: Vec<MetricKind> = kinds
                .iter()
                .copied()
                .filter(|kind| *kind != MetricKind::Derived)
                .collect();
            if columns.len() != expected.len() {
                return Err(format!(
                    "{} columns for {} metrics that have one",
                    columns.len(),
                    expected.len()
                ));
            }
            let misfit = columns
                .iter()
                .zip(&expected)
                .position(|(column, kind)| !fits(column, *kind));
            if let Some(index) = misfit {
                return Err(format!("column {index} of another kind than its metric"));
            }
        }
        for (index, column) in columns.iter().enumerate() {
            column
                .check(len)
                .map_err(|problem| format!("column {index} as {problem}"))?;
        }
        Ok(())
    }

    /// One value for each described metric that is derived, each a number.
    fn check_derived(&self, values: &[Option<f64>]) -> std::result::Result<(), String> {
        let kinds = self.described.get();
        let expected = kinds.map(|kinds| kinds.iter().filter(|kind| **kind == MetricKind::Derived).count());
        if let Some(expected) = expected.filter(|expected| *expected != values.len()) {
            return Err(format!("{} values for {expected} derived metrics", values.len()));
        }
        match values
            .iter()
            .position(|value| value.is_some_and(|value| !value.is_finite()))
        {
            Some(index) => Err(format!("value {index} as a number that is not finite")),
            None => Ok(()),
        }
    }
}

fn fits(column: &Column, kind: MetricKind) -> bool {
    match column {
        Column::U64 { .. } | Column::F64 { .. } => {
            matches!(
                kind,
                MetricKind::Record | MetricKind::Sum | MetricKind::Min | MetricKind::Max
            )
        }
        Column::U64List { .. } | Column::F64List { .. } => kind == MetricKind::List,
        Column::Intervals { .. } => kind == MetricKind::Interval,
        Column::Steps { .. } => kind == MetricKind::Steps,
    }
}

impl Metric for MetricHandle {
    fn describe(&self) -> Result<MetricFamily> {
        let family = self.watch.call("describe", || self.instance.describe())?;
        // A second description that differs is judged by the first: that is what the run was set up with.
        self.described
            .get_or_init(|| family.metrics.iter().map(|metric| metric.kind).collect());
        Ok(family)
    }
    fn record(&self, batch: &Batch<'_>) -> Result<Vec<Column>> {
        let check = |columns: &Vec<Column>| self.check_columns(columns, batch.len);
        self.watch.checked("record", || self.instance.record(batch), check)
    }
    fn derive(&self, window: &Window) -> Result<Vec<Option<f64>>> {
        let check = |values: &Vec<Option<f64>>| self.check_derived(values);
        self.watch.checked("derive", || self.instance.derive(window), check)
    }
}

fn check_outputs(outputs: &[Output]) -> std::result::Result<(), String> {
    outputs.iter().try_for_each(Output::check)
}

impl Exporter for ExporterHandle {
    fn begin(&mut self, info: &str) -> Result<ExporterNeeds> {
        self.watch
            .checked("begin", || self.instance.begin(info), ExporterNeeds::check)
    }
    fn write_table(&mut self, table: &str, batch: &Batch<'_>) -> Result<Vec<Output>> {
        self.watch.checked(
            "write_table",
            || self.instance.write_table(table, batch),
            |outputs| check_outputs(outputs),
        )
    }
    fn write(&mut self, batch: &Batch<'_>) -> Result<Vec<Output>> {
        self.watch
            .checked("write", || self.instance.write(batch), |outputs| check_outputs(outputs))
    }
    fn finish(&mut self, report: &str) -> Result<Vec<Output>> {
        self.watch.checked(
            "finish",
            || self.instance.finish(report),
            |outputs| check_outputs(outputs),
        )
    }
}

impl GpuCollector for GpuCollectorHandle {
    fn poll(&mut self, now_ns: u64, answer: Option<HttpAnswer>) -> Result<Poll> {
        self.watch
            .checked("poll", || self.instance.poll(now_ns, answer), Poll::check)
    }
}
