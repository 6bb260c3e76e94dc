//! What a case works with: fresh instances of the subject, random numbers, the log.

use std::sync::Arc;

use aiperf_sdk::{
    Dataset, Endpoint, Exporter, GpuCollector, Metric, Result, Timing, api::abi::import::Root, package::Open,
};
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

    /// Options of a usual run, as an instance gets them.
    pub(crate) fn usual_options(&self) -> String {
        self.with_user_options(core_options::usual(&self.subject))
    }

    /// The user's options over the core's.
    pub(crate) fn with_user_options(&self, core: Value) -> String {
        core_options::merged(core, &self.subject.options).to_string()
    }

    fn watched<T: ?Sized>(
        &self,
        options: &str,
        open: impl FnOnce(&Root, Open) -> Result<Box<T>>,
    ) -> Result<Box<Watched<T>>> {
        let host = FakeHost::new(self.options.seed, self.log.clone());
        let request = Open {
            entry: self.subject.name.clone(),
            options: options.to_owned(),
            host: Arc::new(host),
        };
        let instance = self.panics.watch("open", || open(&self.subject.root, request))?;
        Ok(Box::new(Watched::new(instance, self.panics.clone())))
    }
}

macro_rules! open {
    ($($name:ident, $with:ident: $trait:ident;)*) => {
        impl Bench {
            $(
                /// A fresh instance with usual options.
                pub(crate) fn $name(&self) -> Result<Box<dyn $trait>> {
                    self.$with(&self.usual_options())
                }

                /// A fresh instance.
                pub(crate) fn $with(&self, options: &str) -> Result<Box<dyn $trait>> {
                    let instance: Box<Watched<dyn $trait>> = self.watched(options, Root::$name)?;
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
