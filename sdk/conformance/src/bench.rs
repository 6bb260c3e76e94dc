//! What a case works with: fresh instances of the subject, random numbers, the log.

use std::sync::Arc;

use aiperf_sdk::{Dataset, Endpoint, Exporter, GpuCollector, Metric, Result, Timing, api::Opened, package::Open};
use serde_json::Value;

use crate::{
    core_options,
    host::{FakeHost, Log},
    random::Random,
    subject::Subject,
    suite::Options,
    watched::{Panics, Watched},
};

/// The bench of one case.
#[derive(Clone)]
pub(crate) struct Bench {
    pub(crate) subject: Subject,
    pub(crate) options: Options,
    pub(crate) log: Log,
    pub(crate) panics: Panics,
}

/// What an instance is opened with.
#[derive(Debug, Clone)]
pub(crate) struct Given {
    /// The user's options as JSON.
    pub(crate) options: String,
    /// What the core passes, as JSON.
    pub(crate) core: String,
}

impl Bench {
    /// A bench with an empty log.
    pub(crate) fn new(subject: Subject, options: Options) -> Self {
        Self {
            subject,
            options,
            log: Log::default(),
            panics: Panics::default(),
        }
    }

    /// Random numbers of their own for a part of a case.
    pub(crate) fn random(&self, name: &str) -> Random {
        Random::of(self.options.seed, name)
    }

    /// What an instance of a usual run is opened with.
    pub(crate) fn usual(&self) -> Given {
        self.given(core_options::usual(&self.subject))
    }

    /// The user's options beside what the core passes.
    pub(crate) fn given(&self, core: Value) -> Given {
        Given {
            options: Value::Object(self.subject.options.clone()).to_string(),
            core: core.to_string(),
        }
    }

    fn watched<T: ?Sized>(
        &self,
        given: &Given,
        open: impl FnOnce(&dyn Opened, Open) -> Result<Box<T>>,
    ) -> Result<Box<Watched<T>>> {
        let host = FakeHost::new(self.options.seed, self.log.clone());
        let request = Open {
            entry: self.subject.name.clone(),
            options: given.options.clone(),
            core: given.core.clone(),
            host: Arc::new(host),
        };
        let instance = self.panics.watch("open", || open(&*self.subject.root, request))?;
        Ok(Box::new(Watched::new(instance, self.panics.clone())))
    }
}

macro_rules! open {
    ($($name:ident, $with:ident: $trait:ident;)*) => {
        impl Bench {
            $(
                /// A fresh instance of a usual run.
                pub(crate) fn $name(&self) -> Result<Box<dyn $trait>> {
                    self.$with(&self.usual())
                }

                /// A fresh instance.
                pub(crate) fn $with(&self, given: &Given) -> Result<Box<dyn $trait>> {
                    let instance: Box<Watched<dyn $trait>> = self.watched(given, |root, open| root.$name(open))?;
                    Ok(instance)
                }
            )*
        }
    };
}
open! {
    endpoint, endpoint_with: Endpoint;
    dataset, dataset_with: Dataset;
    timing, timing_with: Timing;
    metric, metric_with: Metric;
    exporter, exporter_with: Exporter;
    gpu_collector, gpu_collector_with: GpuCollector;
}
