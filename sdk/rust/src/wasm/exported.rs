//! A package as the interfaces that the host calls.

use std::{cell::RefCell, marker::PhantomData};

use aiperf_plugin_api::{
    Dataset, Endpoint, Event, Exporter, GpuCollector, Metric, Package, Timing, timing::TimingPlan, wit::Carry,
};

use super::{
    bindings::{dataset, endpoint, exporter, gpu_collector, manifest, metric, timing, types},
    services::{Offered, crossing, exchanges, opened, with_batch},
};

/// A package whose interfaces are exported.
pub struct Exported<P>(PhantomData<P>);

/// What a call gives.
type Answer<T> = Result<T, types::PluginError>;

impl<P: Package> manifest::Guest for Exported<P> {
    fn name() -> String {
        P::NAME.to_owned()
    }
    fn version() -> String {
        P::VERSION.to_owned()
    }
    fn entries() -> Vec<types::Entry> {
        P::entries().carry()
    }
}

/// An opened entry without state.
pub struct Pure<P, T: ?Sized>(Box<T>, PhantomData<P>);

/// An opened entry with state. A component runs one call at a time, and no call leads back into it.
pub struct Stateful<P, T: ?Sized>(RefCell<Box<T>>, PhantomData<P>);

macro_rules! guest {
    ($($module:ident, $holder:ident<$trait:ident>, $make:expr;)*) => {$(
        impl<P: Package> $module::Guest for Exported<P> {
            type Instance = $holder<P, dyn $trait>;
        }

        impl<P: Package> $holder<P, dyn $trait> {
            fn opened(open: types::Open) -> Answer<$module::Instance> {
                let instance = P::$module(opened(open)).map_err(Carry::carry)?;
                Ok($module::Instance::new(Self($make(instance), PhantomData)))
            }
        }
    )*};
}
guest! {
    endpoint, Pure<Endpoint>, std::convert::identity;
    metric, Pure<Metric>, std::convert::identity;
    dataset, Stateful<Dataset>, RefCell::new;
    timing, Stateful<Timing>, RefCell::new;
    exporter, Stateful<Exporter>, RefCell::new;
    gpu_collector, Stateful<GpuCollector>, RefCell::new;
}

impl<P: Package> endpoint::GuestInstance for Pure<P, dyn Endpoint> {
    fn open(open: types::Open) -> Answer<endpoint::Instance> {
        Self::opened(open)
    }
    fn describe(&self) -> Answer<types::EndpointDescription> {
        crossing(self.0.describe())
    }
    fn prepare(&self, request: types::RequestInfo) -> Answer<types::HttpRequest> {
        crossing(self.0.prepare(request.carry()))
    }
    fn next(&self, past: Vec<types::Exchange>) -> Answer<types::NextStep> {
        crossing(self.0.next(&exchanges(&past)))
    }
    fn decode(&self, past: Vec<types::Exchange>) -> Answer<types::Decoded> {
        crossing(self.0.decode(&exchanges(&past)))
    }
}

impl<P: Package> metric::GuestInstance for Pure<P, dyn Metric> {
    fn open(open: types::Open) -> Answer<metric::Instance> {
        Self::opened(open)
    }
    fn describe(&self) -> Answer<types::MetricFamily> {
        crossing(self.0.describe())
    }
    fn record(&self, batch: types::Batch) -> Answer<Vec<types::Column>> {
        crossing(with_batch(&batch, |batch| self.0.record(batch)))
    }
    fn derive(&self, window: types::Window) -> Answer<Vec<Option<f64>>> {
        crossing(self.0.derive(&window.carry()))
    }
}

impl<P: Package> dataset::GuestInstance for Stateful<P, dyn Dataset> {
    fn open(open: types::Open) -> Answer<dataset::Instance> {
        Self::opened(open)
    }
    fn probe(&self, sample: types::Sample) -> Answer<types::Probe> {
        crossing(self.0.borrow().probe(&sample.carry()))
    }
    fn start(&self) -> Answer<types::DatasetInfo> {
        crossing(self.0.borrow_mut().open(Box::new(Offered)))
    }
    fn next(&self, count: u32) -> Answer<Vec<types::Conversation>> {
        crossing(self.0.borrow_mut().next(count))
    }
    fn order(&self, conversations: u32, pass: u32) -> Answer<Vec<u32>> {
        crossing(self.0.borrow().order(conversations, pass))
    }
}

impl<P: Package> timing::GuestInstance for Stateful<P, dyn Timing> {
    fn open(open: types::Open) -> Answer<timing::Instance> {
        Self::opened(open)
    }
    fn start(&self, plan: types::TimingPlan) -> Answer<()> {
        let plan: TimingPlan = plan.carry();
        self.0.borrow_mut().start(&plan).map_err(Carry::carry)
    }
    fn step(&self, now_ns: u64, events: Vec<types::Event>) -> Answer<types::Step> {
        let events: Vec<Event> = events.carry();
        crossing(self.0.borrow_mut().step(now_ns, &events))
    }
    fn state(&self) -> Answer<String> {
        crossing(self.0.borrow().state())
    }
    fn intervals(&self, rate: f64, count: u32) -> Answer<Vec<u64>> {
        crossing(self.0.borrow_mut().intervals(rate, count))
    }
    fn value_at(&self, progress: f64) -> Answer<f64> {
        crossing(self.0.borrow().value_at(progress))
    }
}

impl<P: Package> exporter::GuestInstance for Stateful<P, dyn Exporter> {
    fn open(open: types::Open) -> Answer<exporter::Instance> {
        Self::opened(open)
    }
    fn begin(&self, info: String) -> Answer<types::ExporterNeeds> {
        crossing(self.0.borrow_mut().begin(&info))
    }
    fn write(&self, batch: types::Batch) -> Answer<Vec<types::Output>> {
        crossing(with_batch(&batch, |batch| self.0.borrow_mut().write(batch)))
    }
    fn write_table(&self, table: String, batch: types::Batch) -> Answer<Vec<types::Output>> {
        crossing(with_batch(&batch, |batch| {
            self.0.borrow_mut().write_table(&table, batch)
        }))
    }
    fn finish(&self, report: String) -> Answer<Vec<types::Output>> {
        crossing(self.0.borrow_mut().finish(&report))
    }
}

impl<P: Package> gpu_collector::GuestInstance for Stateful<P, dyn GpuCollector> {
    fn open(open: types::Open) -> Answer<gpu_collector::Instance> {
        Self::opened(open)
    }
    fn poll(&self, now_ns: u64, answer: Option<types::HttpAnswer>) -> Answer<types::Poll> {
        crossing(self.0.borrow_mut().poll(now_ns, answer.carry()))
    }
}
