//! Plain traits as vtables: the plugin's side. A panic, in a call or in `Drop`, never leaves this module.

use std::{
    panic::{AssertUnwindSafe, catch_unwind},
    sync::Arc,
};

use abi_stable::{
    erased_types::TD_Opaque,
    prefix_type::PrefixTypeTrait,
    std_types::{ROption, RResult, RSlice, RStr, RString, RVec},
};

use super::{
    import,
    root::{OpenAbi, PluginModule, PluginModuleRef},
    timing::{FlatEventAbi, FlatStepAbi},
    traits::{
        AbiResult, ColumnAbi, ColumnRefAbi, DatasetBox, DatasetObject, DatasetObject_TO, EndpointBox, EndpointObject,
        EndpointObject_TO, ExchangeAbi, ExporterBox, ExporterObject, ExporterObject_TO, GpuCollectorBox,
        GpuCollectorObject, GpuCollectorObject_TO, HostBox, HostObject, HostObject_TO, MetricBox, MetricObject,
        MetricObject_TO, NextStepAbi, PollAbi, SourceBox, SourceObject, SourceObject_TO, TimingBox, TimingObject,
        TimingObject_TO,
    },
};
use crate::{
    Batch, ColumnRef, Dataset, Endpoint, ErrorKind, Exchange, Exporter, GpuCollector, Host, Metric, Package,
    PluginError, Result, Source, Timing,
    conversation::ConversationAbi,
    dataset::{DatasetInfoAbi, ProbeAbi, SampleAbi},
    endpoint::{DecodedAbi, EndpointDescriptionAbi, HttpAnswerAbi, HttpRequestAbi, RequestInfoAbi},
    entry::EntryAbi,
    error::PluginErrorAbi,
    exporter::{ExporterNeedsAbi, OutputAbi},
    host::LogLevel,
    metric::{MetricFamilyAbi, WindowAbi},
    mirror::{self, Mirror},
    package::Open,
    timing::{Event, TimingPlanAbi},
};

/// The root module of a package; what a library exports and what the binary bundles.
pub fn root<P: Package>() -> PluginModuleRef {
    PluginModule {
        name: P::NAME.into(),
        version: P::VERSION.into(),
        entries: entries::<P>,
        endpoint: open_endpoint::<P>,
        dataset: open_dataset::<P>,
        timing: open_timing::<P>,
        metric: open_metric::<P>,
        exporter: open_exporter::<P>,
        gpu_collector: open_gpu_collector::<P>,
    }
    .leak_into_prefix()
}

/// Runs plugin code; a panic becomes an error.
fn caught<T>(call: impl FnOnce() -> Result<T>) -> Result<T> {
    catch_unwind(AssertUnwindSafe(call)).unwrap_or_else(|payload| {
        let text = payload
            .downcast_ref::<&str>()
            .map(|text| (*text).to_owned())
            .or_else(|| payload.downcast_ref::<String>().cloned());
        // The payload's own Drop may panic as well.
        let _ = catch_unwind(AssertUnwindSafe(move || drop(payload)));
        let text = text.unwrap_or_else(|| "no message".to_owned());
        Err(PluginError::new(
            ErrorKind::Panicked,
            format!("the plugin panicked: {text}"),
        ))
    })
}

fn answer<T: Mirror>(call: impl FnOnce() -> Result<T>) -> AbiResult<T::Abi> {
    caught(call).map(T::into_abi).map_err(Mirror::into_abi).into()
}

/// Holds a plugin's object; its `Drop` is plugin code too.
struct Held<T: ?Sized>(Option<Box<T>>);

impl<T: ?Sized> Held<T> {
    fn get(&self) -> Result<&T> {
        self.0
            .as_deref()
            .ok_or_else(|| PluginError::failed("the instance is gone"))
    }
    fn get_mut(&mut self) -> Result<&mut T> {
        self.0
            .as_deref_mut()
            .ok_or_else(|| PluginError::failed("the instance is gone"))
    }
}

impl<T: ?Sized> Drop for Held<T> {
    fn drop(&mut self) {
        let inner = self.0.take();
        let _ = caught(move || {
            drop(inner);
            Ok(())
        });
    }
}

extern "C" fn entries<P: Package>() -> RResult<RVec<EntryAbi>, PluginErrorAbi> {
    answer(|| Ok(P::entries()))
}

fn opened(abi: OpenAbi) -> Open {
    Open {
        entry: abi.entry.into_string(),
        options: abi.options.into_string(),
        core: abi.core.into_string(),
        host: Arc::new(import::ImportedHost(abi.host)),
    }
}

macro_rules! open {
    ($($function:ident, $call:ident, $object:ident, $boxed:ident;)*) => {$(
        extern "C" fn $function<P: Package>(abi: OpenAbi) -> RResult<$boxed, PluginErrorAbi> {
            caught(|| P::$call(opened(abi)))
                .map(|inner| $object::from_value(Held(Some(inner)), TD_Opaque))
                .map_err(Mirror::into_abi)
                .into()
        }
    )*};
}
open! {
    open_endpoint, endpoint, EndpointObject_TO, EndpointBox;
    open_dataset, dataset, DatasetObject_TO, DatasetBox;
    open_timing, timing, TimingObject_TO, TimingBox;
    open_metric, metric, MetricObject_TO, MetricBox;
    open_exporter, exporter, ExporterObject_TO, ExporterBox;
    open_gpu_collector, gpu_collector, GpuCollectorObject_TO, GpuCollectorBox;
}

/// Exchanges back in their plain form; nearly always one.
fn exchanges<'a>(abi: RSlice<'a, ExchangeAbi<'a>>) -> Vec<Exchange<'a>> {
    abi.as_slice().iter().map(Exchange::from).collect()
}

fn columns<'a>(abi: RSlice<'a, ColumnRefAbi<'a>>) -> Vec<ColumnRef<'a>> {
    abi.as_slice().iter().map(ColumnRef::from).collect()
}

impl EndpointObject for Held<dyn Endpoint> {
    fn describe(&self) -> RResult<EndpointDescriptionAbi, PluginErrorAbi> {
        answer(|| self.get()?.describe())
    }
    fn prepare(&self, request: RequestInfoAbi) -> RResult<HttpRequestAbi, PluginErrorAbi> {
        answer(|| self.get()?.prepare(Mirror::from_abi(request)?))
    }
    fn next_step(&self, abi: RSlice<'_, ExchangeAbi<'_>>) -> RResult<NextStepAbi, PluginErrorAbi> {
        answer(|| self.get()?.next(&exchanges(abi)))
    }
    fn decode(&self, abi: RSlice<'_, ExchangeAbi<'_>>) -> RResult<DecodedAbi, PluginErrorAbi> {
        answer(|| self.get()?.decode(&exchanges(abi)))
    }
}

impl DatasetObject for Held<dyn Dataset> {
    fn probe(&self, sample: SampleAbi) -> RResult<ProbeAbi, PluginErrorAbi> {
        answer(|| self.get()?.probe(&Mirror::from_abi(sample)?))
    }
    fn open(&mut self, source: SourceBox) -> RResult<DatasetInfoAbi, PluginErrorAbi> {
        answer(|| self.get_mut()?.open(Box::new(import::ImportedSource(source))))
    }
    fn next_batch(&mut self, count: u32) -> RResult<RVec<ConversationAbi>, PluginErrorAbi> {
        answer(|| self.get_mut()?.next(count))
    }
    fn order(&self, conversations: u32, pass: u32) -> RResult<RVec<u32>, PluginErrorAbi> {
        answer(|| self.get()?.order(conversations, pass))
    }
}

impl TimingObject for Held<dyn Timing> {
    fn start(&mut self, plan: TimingPlanAbi) -> RResult<(), PluginErrorAbi> {
        caught(|| self.get_mut()?.start(&Mirror::from_abi(plan)?))
            .map_err(Mirror::into_abi)
            .into()
    }
    fn step(&mut self, now_ns: u64, events: RVec<FlatEventAbi>) -> RResult<FlatStepAbi, PluginErrorAbi> {
        answer(|| {
            let events: Vec<Event> = Mirror::from_abi(events)?;
            self.get_mut()?.step(now_ns, &events)
        })
    }
    fn intervals(&mut self, rate: f64, count: u32) -> RResult<RVec<u64>, PluginErrorAbi> {
        answer(|| self.get_mut()?.intervals(rate, count))
    }
    fn state(&self) -> RResult<RString, PluginErrorAbi> {
        answer(|| self.get()?.state())
    }
    fn value_at(&self, progress: f64) -> RResult<f64, PluginErrorAbi> {
        answer(|| self.get()?.value_at(progress))
    }
}

impl MetricObject for Held<dyn Metric> {
    fn describe(&self) -> RResult<MetricFamilyAbi, PluginErrorAbi> {
        answer(|| self.get()?.describe())
    }
    fn record(&self, len: u32, abi: RSlice<'_, ColumnRefAbi<'_>>) -> RResult<RVec<ColumnAbi>, PluginErrorAbi> {
        answer(|| {
            self.get()?.record(&Batch {
                len: len as usize,
                columns: &columns(abi),
            })
        })
    }
    fn derive(&self, window: WindowAbi) -> RResult<RVec<ROption<f64>>, PluginErrorAbi> {
        answer(|| self.get()?.derive(&Mirror::from_abi(window)?))
    }
}

impl ExporterObject for Held<dyn Exporter> {
    fn begin(&mut self, info: RStr<'_>) -> RResult<ExporterNeedsAbi, PluginErrorAbi> {
        answer(|| self.get_mut()?.begin(info.as_str()))
    }
    fn write(
        &mut self,
        table: RStr<'_>,
        len: u32,
        abi: RSlice<'_, ColumnRefAbi<'_>>,
    ) -> RResult<RVec<OutputAbi>, PluginErrorAbi> {
        answer(|| {
            let batch = Batch {
                len: len as usize,
                columns: &columns(abi),
            };
            let exporter = self.get_mut()?;
            if table.is_empty() {
                exporter.write(&batch)
            } else {
                exporter.write_table(table.as_str(), &batch)
            }
        })
    }
    fn finish(&mut self, report: RStr<'_>) -> RResult<RVec<OutputAbi>, PluginErrorAbi> {
        answer(|| self.get_mut()?.finish(report.as_str()))
    }
}

impl GpuCollectorObject for Held<dyn GpuCollector> {
    fn poll(&mut self, now_ns: u64, scrape: ROption<HttpAnswerAbi>) -> RResult<PollAbi, PluginErrorAbi> {
        answer(|| self.get_mut()?.poll(now_ns, Mirror::from_abi(scrape)?))
    }
}

/// The core's services as a vtable. Errors and panics of the core travel the same way. Texts come from the plugin, so they
/// are checked.
struct ServedHost(Arc<dyn Host>);

impl HostObject for ServedHost {
    fn log(&self, level: u8, message: RStr<'_>) {
        let _ = caught(|| {
            let message = String::from_utf8_lossy(message.as_rslice().as_slice());
            self.0.log(LogLevel::from_code(level), &message);
            Ok(())
        });
    }
    fn encode(&self, text: RStr<'_>) -> RResult<RVec<u32>, PluginErrorAbi> {
        answer(|| self.0.encode(mirror::text(text)?))
    }
    fn decode(&self, tokens: RSlice<'_, u32>) -> RResult<RString, PluginErrorAbi> {
        answer(|| self.0.decode(tokens.as_slice()))
    }
    fn prompt(&self, stream: RStr<'_>, tokens: u32) -> RResult<RString, PluginErrorAbi> {
        answer(|| self.0.prompt(mirror::text(stream)?, tokens))
    }
    fn separator(&self) -> ROption<u32> {
        caught(|| Ok(self.0.separator())).unwrap_or(None).into()
    }
    fn seed(&self, stream: RStr<'_>) -> u64 {
        caught(|| Ok(self.0.seed(mirror::text(stream)?))).unwrap_or(0)
    }
    fn intervals(&self, rate: f64, count: u32) -> RResult<RVec<u64>, PluginErrorAbi> {
        answer(|| self.0.intervals(rate, count))
    }
    fn http(
        &self,
        origin: RStr<'_>,
        request: HttpRequestAbi,
        timeout_ms: u32,
    ) -> RResult<HttpAnswerAbi, PluginErrorAbi> {
        answer(|| {
            self.0
                .http(mirror::text(origin)?, Mirror::from_abi(request)?, timeout_ms)
        })
    }
    fn api_key(&self) -> RResult<ROption<RString>, PluginErrorAbi> {
        answer(|| self.0.api_key())
    }
}

/// The core's services in the form that crosses.
pub fn host(host: Arc<dyn Host>) -> HostBox {
    HostObject_TO::from_value(ServedHost(host), TD_Opaque)
}

struct ServedSource(Box<dyn Source>);

impl SourceObject for ServedSource {
    fn files(&self) -> RVec<RString> {
        caught(|| Ok(self.0.files())).unwrap_or_default().into_abi()
    }
    fn file_len(&self, file: u32) -> RResult<u64, PluginErrorAbi> {
        answer(|| self.0.len(file))
    }
    fn read(&self, file: u32, offset: u64, length: u32) -> RResult<RVec<u8>, PluginErrorAbi> {
        answer(|| self.0.read(file, offset, length))
    }
}

/// A source in the form that crosses.
pub fn source(source: Box<dyn Source>) -> SourceBox {
    SourceObject_TO::from_value(ServedSource(source), TD_Opaque)
}
