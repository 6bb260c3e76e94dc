//! The contract's traits over instances of components.

use super::bindings::aiperf::plugin::types;
use super::bindings::exports::aiperf::plugin::{dataset, endpoint, exporter, gpu_collector, metric, timing};
use super::component::WasmPackage;
use super::guest::Guest;
use super::instance::{Answer, Interface};
use super::pool::Pool;
use super::single::Single;
use aiperf_plugin_api::dataset::{DatasetInfo, Sample};
use aiperf_plugin_api::endpoint::{EndpointDescription, NextStep};
use aiperf_plugin_api::exporter::ExporterNeeds;
use aiperf_plugin_api::metric::Window;
use aiperf_plugin_api::package::Open;
use aiperf_plugin_api::timing::{Step, TimingPlan};
use aiperf_plugin_api::wit::Carry;
use aiperf_plugin_api::{
    Batch, Column, Conversation, Dataset, Decoded, Endpoint, Event, Exchange, Exporter, GpuCollector, HttpRequest,
    Metric, MetricFamily, Output, PluginError, Probe, RequestInfo, Result, Source, Timing,
};
use aiperf_plugin_api::{HttpAnswer, gpu::Poll};
use std::sync::Arc;
use wasmtime::Store;
use wasmtime::component::{self, InstancePre, ResourceAny};

macro_rules! interface {
    ($($module:ident),*) => {$(
        impl Interface for $module::Guest {
            fn load(
                pre: &InstancePre<Guest>,
                store: &mut Store<Guest>,
                from: &component::Instance,
            ) -> wasmtime::Result<Self> {
                $module::GuestIndices::new(pre)?.load(store, from)
            }
            fn open(&self, store: &mut Store<Guest>, open: &types::Open) -> Answer<ResourceAny> {
                self.instance().call_open(store, open)
            }
        }
    )*};
}
interface!(endpoint, dataset, timing, metric, exporter, gpu_collector);

fn exchanges(exchanges: &[Exchange<'_>]) -> Vec<types::Exchange> {
    exchanges.iter().map(Carry::carry).collect()
}

fn batch(batch: &Batch<'_>) -> Result<types::Batch> {
    Ok(types::Batch {
        len: u32::try_from(batch.len).map_err(|_| PluginError::failed("a batch of more than 2^32 records"))?,
        columns: batch.columns.iter().map(Carry::carry).collect(),
    })
}

pub(super) struct WasmEndpoint(Pool<endpoint::Guest>);

impl WasmEndpoint {
    pub(super) fn open(package: &Arc<WasmPackage>, open: Open) -> Result<Self> {
        Ok(Self(Pool::open(package, open)?))
    }
}

impl Endpoint for WasmEndpoint {
    fn describe(&self) -> Result<EndpointDescription> {
        self.0
            .call(|guest, store, entry| guest.instance().call_describe(store, entry))
    }
    fn prepare(&self, request: RequestInfo) -> Result<HttpRequest> {
        let request = request.carry();
        self.0
            .call(|guest, store, entry| guest.instance().call_prepare(store, entry, &request))
    }
    fn next(&self, past: &[Exchange<'_>]) -> Result<NextStep> {
        let past = exchanges(past);
        self.0
            .call(|guest, store, entry| guest.instance().call_next(store, entry, &past))
    }
    fn decode(&self, past: &[Exchange<'_>]) -> Result<Decoded> {
        let past = exchanges(past);
        self.0
            .call(|guest, store, entry| guest.instance().call_decode(store, entry, &past))
    }
}

pub(super) struct WasmMetric(Pool<metric::Guest>);

impl WasmMetric {
    pub(super) fn open(package: &Arc<WasmPackage>, open: Open) -> Result<Self> {
        Ok(Self(Pool::open(package, open)?))
    }
}

impl Metric for WasmMetric {
    fn describe(&self) -> Result<MetricFamily> {
        self.0
            .call(|guest, store, entry| guest.instance().call_describe(store, entry))
    }
    fn record(&self, records: &Batch<'_>) -> Result<Vec<Column>> {
        let records = batch(records)?;
        self.0
            .call(|guest, store, entry| guest.instance().call_record(store, entry, &records))
    }
    fn derive(&self, window: &Window) -> Result<Vec<Option<f64>>> {
        let window = window.clone().carry();
        self.0
            .call(|guest, store, entry| guest.instance().call_derive(store, entry, &window))
    }
}

pub(super) struct WasmDataset(Single<dataset::Guest>);

impl WasmDataset {
    pub(super) fn open(package: &Arc<WasmPackage>, open: Open) -> Result<Self> {
        Ok(Self(Single::open(package, &open)?))
    }
}

impl Dataset for WasmDataset {
    fn probe(&self, sample: &Sample) -> Result<Probe> {
        let sample = sample.clone().carry();
        self.0
            .slow(|guest, store, entry| guest.instance().call_probe(store, entry, &sample))
    }
    fn open(&mut self, source: Box<dyn Source>) -> Result<DatasetInfo> {
        self.0.give(source);
        self.0
            .slow(|guest, store, entry| guest.instance().call_start(store, entry))
    }
    fn next(&mut self, count: u32) -> Result<Vec<Conversation>> {
        self.0
            .slow(|guest, store, entry| guest.instance().call_next(store, entry, count))
    }
    fn order(&self, conversations: u32, pass: u32) -> Result<Vec<u32>> {
        self.0
            .slow(|guest, store, entry| guest.instance().call_order(store, entry, conversations, pass))
    }
}

pub(super) struct WasmTiming(Single<timing::Guest>);

impl WasmTiming {
    pub(super) fn open(package: &Arc<WasmPackage>, open: Open) -> Result<Self> {
        Ok(Self(Single::open(package, &open)?))
    }
}

/// An answer without a value.
struct Nothing;

impl Carry<()> for Nothing {
    fn carry(self) {}
}

impl Timing for WasmTiming {
    fn start(&mut self, plan: &TimingPlan) -> Result<()> {
        let plan = plan.clone().carry();
        self.0.slow(|guest, store, entry| {
            let answer = guest.instance().call_start(store, entry, &plan)?;
            Ok(answer.map(|()| Nothing))
        })
    }
    fn step(&mut self, now_ns: u64, events: &[Event]) -> Result<Step> {
        let events: Vec<types::Event> = events.to_vec().carry();
        self.0
            .quick(|guest, store, entry| guest.instance().call_step(store, entry, now_ns, &events))
    }
    fn state(&self) -> Result<String> {
        self.0
            .quick(|guest, store, entry| guest.instance().call_state(store, entry))
    }
    fn intervals(&mut self, rate: f64, count: u32) -> Result<Vec<u64>> {
        self.0
            .quick(|guest, store, entry| guest.instance().call_intervals(store, entry, rate, count))
    }
    fn value_at(&self, progress: f64) -> Result<f64> {
        self.0
            .quick(|guest, store, entry| guest.instance().call_value_at(store, entry, progress))
    }
}

pub(super) struct WasmExporter(Single<exporter::Guest>);

impl WasmExporter {
    pub(super) fn open(package: &Arc<WasmPackage>, open: Open) -> Result<Self> {
        Ok(Self(Single::open(package, &open)?))
    }
}

impl Exporter for WasmExporter {
    fn begin(&mut self, info: &str) -> Result<ExporterNeeds> {
        self.0
            .slow(|guest, store, entry| guest.instance().call_begin(store, entry, info))
    }
    fn write(&mut self, records: &Batch<'_>) -> Result<Vec<Output>> {
        let records = batch(records)?;
        self.0
            .quick(|guest, store, entry| guest.instance().call_write(store, entry, &records))
    }
    fn write_table(&mut self, table: &str, records: &Batch<'_>) -> Result<Vec<Output>> {
        let records = batch(records)?;
        self.0
            .quick(|guest, store, entry| guest.instance().call_write_table(store, entry, table, &records))
    }
    fn finish(&mut self, report: &str) -> Result<Vec<Output>> {
        self.0
            .slow(|guest, store, entry| guest.instance().call_finish(store, entry, report))
    }
}

pub(super) struct WasmGpuCollector(Single<gpu_collector::Guest>);

impl WasmGpuCollector {
    pub(super) fn open(package: &Arc<WasmPackage>, open: Open) -> Result<Self> {
        Ok(Self(Single::open(package, &open)?))
    }
}

impl GpuCollector for WasmGpuCollector {
    fn poll(&mut self, now_ns: u64, answer: Option<HttpAnswer>) -> Result<Poll> {
        let answer: Option<types::HttpAnswer> = answer.carry();
        self.0
            .quick(|guest, store, entry| guest.instance().call_poll(store, entry, now_ns, answer.as_ref()))
    }
}
