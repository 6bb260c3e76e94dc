//! Vtables as plain traits: the host's side.

use abi_stable::std_types::RVec;

use super::{
    export,
    root::{OpenAbi, PluginModuleRef},
    traits::{
        AbiResult, ColumnRefAbi, DatasetBox, EndpointBox, ExchangeAbi, ExporterBox, GpuCollectorBox, HostBox,
        MetricBox, SourceBox, TimingBox,
    },
};
use crate::{
    Batch, Column, Conversation, Dataset, Decoded, Endpoint, Entry, Exchange, Exporter, GpuCollector, Host, HttpAnswer,
    HttpRequest, Metric, MetricFamily, Output, PluginError, Probe, RequestInfo, Result, Source, Timing,
    dataset::{DatasetInfo, Sample},
    endpoint::{EndpointDescription, NextStep},
    exporter::ExporterNeeds,
    gpu::Poll,
    host::LogLevel,
    metric::Window,
    mirror::{self, Mirror},
    package::{Open, Opened},
    timing::{Event, Step, TimingPlan},
};

fn result<T: Mirror>(abi: AbiResult<T::Abi>) -> Result<T> {
    match abi.into_result() {
        Ok(value) => Ok(T::from_abi(value)?),
        Err(error) => Err(PluginError::from_abi(error)?),
    }
}

pub(super) struct ImportedHost(pub(super) HostBox);

impl Host for ImportedHost {
    fn log(&self, level: LogLevel, message: &str) {
        self.0.log(level.code(), message.into());
    }
    fn encode(&self, text: &str) -> Result<Vec<u32>> {
        result(self.0.encode(text.into()))
    }
    fn decode(&self, tokens: &[u32]) -> Result<String> {
        result(self.0.decode(tokens.into()))
    }
    fn prompt(&self, stream: &str, tokens: u32) -> Result<String> {
        result(self.0.prompt(stream.into(), tokens))
    }
    fn seed(&self, stream: &str) -> u64 {
        self.0.seed(stream.into())
    }
    fn separator(&self) -> Option<u32> {
        self.0.separator().into()
    }
    fn intervals(&self, rate: f64, count: u32) -> Result<Vec<u64>> {
        result(self.0.intervals(rate, count))
    }
    fn http(&self, origin: &str, request: HttpRequest, timeout_ms: u32) -> Result<HttpAnswer> {
        result(self.0.http(origin.into(), request.into_abi(), timeout_ms))
    }
    fn api_key(&self) -> Result<Option<String>> {
        result(self.0.api_key())
    }
}

pub(super) struct ImportedSource(pub(super) SourceBox);

impl Source for ImportedSource {
    fn files(&self) -> Vec<String> {
        Mirror::from_abi(self.0.files()).unwrap_or_default()
    }
    fn len(&self, file: u32) -> Result<u64> {
        result(self.0.file_len(file))
    }
    fn read(&self, file: u32, offset: u64, length: u32) -> Result<Vec<u8>> {
        result(self.0.read(file, offset, length))
    }
}

struct ImportedEndpoint(EndpointBox);

impl Endpoint for ImportedEndpoint {
    fn describe(&self) -> Result<EndpointDescription> {
        result(self.0.describe())
    }
    fn prepare(&self, request: RequestInfo) -> Result<HttpRequest> {
        result(self.0.prepare(request.into_abi()))
    }
    fn next(&self, exchanges: &[Exchange<'_>]) -> Result<NextStep> {
        let abi: Vec<_> = exchanges.iter().map(ExchangeAbi::from).collect();
        result(self.0.next_step(abi.as_slice().into()))
    }
    fn decode(&self, exchanges: &[Exchange<'_>]) -> Result<Decoded> {
        let abi: Vec<_> = exchanges.iter().map(ExchangeAbi::from).collect();
        result(self.0.decode(abi.as_slice().into()))
    }
}

struct ImportedDataset(DatasetBox);

impl Dataset for ImportedDataset {
    fn probe(&self, sample: &Sample) -> Result<Probe> {
        result(self.0.probe(sample.clone().into_abi()))
    }
    fn open(&mut self, source: Box<dyn Source>) -> Result<DatasetInfo> {
        result(self.0.open(export::source(source)))
    }
    fn next(&mut self, count: u32) -> Result<Vec<Conversation>> {
        result(self.0.next_batch(count))
    }
    fn order(&self, conversations: u32, pass: u32) -> Result<Vec<u32>> {
        result(self.0.order(conversations, pass))
    }
}

struct ImportedTiming(TimingBox);

impl Timing for ImportedTiming {
    fn start(&mut self, plan: &TimingPlan) -> Result<()> {
        match self.0.start(plan.clone().into_abi()).into_result() {
            Ok(()) => Ok(()),
            Err(error) => Err(PluginError::from_abi(error)?),
        }
    }
    fn step(&mut self, now_ns: u64, events: &[Event]) -> Result<Step> {
        let events: RVec<_> = events.iter().cloned().map(Mirror::into_abi).collect();
        result(self.0.step(now_ns, events))
    }
    fn intervals(&mut self, rate: f64, count: u32) -> Result<Vec<u64>> {
        result(self.0.intervals(rate, count))
    }
    fn state(&self) -> Result<String> {
        result(self.0.state())
    }
    fn value_at(&self, progress: f64) -> Result<f64> {
        result(self.0.value_at(progress))
    }
}

struct ImportedMetric(MetricBox);

impl Metric for ImportedMetric {
    fn describe(&self) -> Result<MetricFamily> {
        result(self.0.describe())
    }
    fn record(&self, batch: &Batch<'_>) -> Result<Vec<Column>> {
        let abi: Vec<_> = batch.columns.iter().map(ColumnRefAbi::from).collect();
        result(self.0.record(rows(batch)?, abi.as_slice().into()))
    }
    fn derive(&self, window: &Window) -> Result<Vec<Option<f64>>> {
        result(self.0.derive(window.clone().into_abi()))
    }
}

struct ImportedExporter(ExporterBox);

impl Exporter for ImportedExporter {
    fn begin(&mut self, info: &str) -> Result<ExporterNeeds> {
        result(self.0.begin(info.into()))
    }
    fn write(&mut self, batch: &Batch<'_>) -> Result<Vec<Output>> {
        self.write_table("", batch)
    }
    fn write_table(&mut self, table: &str, batch: &Batch<'_>) -> Result<Vec<Output>> {
        let abi: Vec<_> = batch.columns.iter().map(ColumnRefAbi::from).collect();
        result(self.0.write(table.into(), rows(batch)?, abi.as_slice().into()))
    }
    fn finish(&mut self, report: &str) -> Result<Vec<Output>> {
        result(self.0.finish(report.into()))
    }
}

struct ImportedGpuCollector(GpuCollectorBox);

impl GpuCollector for ImportedGpuCollector {
    fn poll(&mut self, now_ns: u64, answer: Option<HttpAnswer>) -> Result<Poll> {
        result(self.0.poll(now_ns, answer.into_abi()))
    }
}

fn rows(batch: &Batch<'_>) -> Result<u32> {
    u32::try_from(batch.len).map_err(|_| PluginError::failed("a batch of more than 2^32 records"))
}

/// Stands for a name that is not UTF-8; no package is called so.
const NO_TEXT: &str = "(not UTF-8)";

/// A module of a library, or of a package that is linked in.
impl Opened for PluginModuleRef {
    fn name(&self) -> &str {
        mirror::text(PluginModuleRef::name(self)).unwrap_or(NO_TEXT)
    }
    fn version(&self) -> &str {
        mirror::text(PluginModuleRef::version(self)).unwrap_or(NO_TEXT)
    }
    fn entries(&self) -> Result<Vec<Entry>> {
        result((PluginModuleRef::entries(self))())
    }
    fn endpoint(&self, open: Open) -> Result<Box<dyn Endpoint>> {
        let object = opened(PluginModuleRef::endpoint(self), open)?;
        Ok(Box::new(ImportedEndpoint(object)))
    }
    fn dataset(&self, open: Open) -> Result<Box<dyn Dataset>> {
        let object = opened(PluginModuleRef::dataset(self), open)?;
        Ok(Box::new(ImportedDataset(object)))
    }
    fn timing(&self, open: Open) -> Result<Box<dyn Timing>> {
        let object = opened(PluginModuleRef::timing(self), open)?;
        Ok(Box::new(ImportedTiming(object)))
    }
    fn metric(&self, open: Open) -> Result<Box<dyn Metric>> {
        let object = opened(PluginModuleRef::metric(self), open)?;
        Ok(Box::new(ImportedMetric(object)))
    }
    fn exporter(&self, open: Open) -> Result<Box<dyn Exporter>> {
        let object = opened(PluginModuleRef::exporter(self), open)?;
        Ok(Box::new(ImportedExporter(object)))
    }
    fn gpu_collector(&self, open: Open) -> Result<Box<dyn GpuCollector>> {
        let object = opened(PluginModuleRef::gpu_collector(self), open)?;
        Ok(Box::new(ImportedGpuCollector(object)))
    }
}

fn opened<T>(open: extern "C" fn(OpenAbi) -> AbiResult<T>, with: Open) -> Result<T> {
    let abi = OpenAbi {
        entry: with.entry.into(),
        options: with.options.into(),
        core: with.core.into(),
        host: export::host(with.host),
    };
    match open(abi).into_result() {
        Ok(object) => Ok(object),
        Err(error) => Err(PluginError::from_abi(error)?),
    }
}
