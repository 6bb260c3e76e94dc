//! A `.wasm` file becomes a package whose entries can be opened.

use super::bindings::exports::aiperf::plugin::manifest;
use super::cache;
use super::categories;
use super::compiler::Compiler;
use super::engine::Runtime;
use super::guest::Guest;
use super::inspect;
use super::trap;
use crate::load::LoadCause;
use crate::registry::Sha256;
use aiperf_plugin_api::host::NoHost;
use aiperf_plugin_api::package::{Open, Opened};
use aiperf_plugin_api::record::VersionInfo;
use aiperf_plugin_api::wit::Carry;
use aiperf_plugin_api::{Category, Dataset, Endpoint, Entry, Exporter, GpuCollector, Host, Metric, Result, Timing};
use sha2::Digest;
use std::path::PathBuf;
use std::sync::Arc;
use std::time::Duration;
use wasmtime::Store;
use wasmtime::component::{Instance, InstancePre};

/// How components are compiled and bounded.
#[derive(Debug, Clone)]
pub struct WasmSettings {
    /// How long one call may take. Opening an instance, reading a dataset and writing a report may take ten times as long.
    pub call: Duration,
    /// Linear memory that one instance may have, in bytes.
    pub memory: usize,
    /// Where compiled code is kept; `None` compiles each time.
    pub cache: Option<PathBuf>,
    /// Who compiles.
    pub compiler: Compiler,
}

impl Default for WasmSettings {
    fn default() -> Self {
        Self {
            call: Duration::from_secs(5),
            memory: 512 << 20,
            cache: None,
            compiler: Compiler::Here,
        }
    }
}

/// A component that has been read and looked at.
pub(crate) struct ComponentFile {
    bytes: Vec<u8>,
    /// Of the component, which is not that of the file where the file is a core module.
    digest: Sha256,
    pub(crate) info: VersionInfo,
}

impl ComponentFile {
    /// Looks at the bytes of a file, whose digest is known: it must be a component of this contract that wants nothing but
    /// its services, or a core module that can be made one.
    pub(crate) fn new(file: Vec<u8>, digest: Sha256, compiler: &Compiler) -> std::result::Result<Self, LoadCause> {
        let as_it_is = inspect::is_component(&file);
        let bytes = inspect::component(file, compiler)?;
        let info = inspect::component_info(&bytes)?;
        // A core module and the component that `plugins install` makes of it share their compiled code.
        let digest = if as_it_is {
            digest
        } else {
            Sha256(sha2::Sha256::digest(&bytes).into())
        };
        Ok(Self { bytes, digest, info })
    }
}

/// A compiled component, ready to be instantiated.
pub(crate) struct WasmPackage {
    runtime: &'static Runtime,
    pre: InstancePre<Guest>,
    settings: WasmSettings,
    categories: u8,
    name: String,
    version: String,
    entries: Vec<Entry>,
}

impl WasmPackage {
    /// Compiles a component, or takes it from the cache, and asks it for its name, version and entries.
    pub(crate) fn load(
        component: &ComponentFile,
        settings: &WasmSettings,
    ) -> std::result::Result<Arc<Self>, LoadCause> {
        let runtime = Runtime::get().map_err(|message| LoadCause::Compile { message })?;
        let compiled = cache::load(&runtime.engine, &component.bytes, component.digest, settings)?;
        let pre = runtime
            .linker
            .instantiate_pre(&compiled)
            .map_err(|error| LoadCause::Link {
                message: inspect::one_line(&format!("{error:#}")),
            })?;
        let mut package = Self {
            runtime,
            pre,
            settings: settings.clone(),
            categories: component.info.categories,
            name: String::new(),
            version: String::new(),
            entries: Vec::new(),
        };
        package.ask().map_err(|message| LoadCause::Start { message })?;
        Ok(Arc::new(package))
    }

    /// Reads the manifest.
    fn ask(&mut self) -> std::result::Result<(), String> {
        let allowed = self.slow();
        let (mut store, instance) = self.instantiate(Arc::new(NoHost))?;
        let mut ask = || {
            let manifest = manifest::GuestIndices::new(&self.pre)?.load(&mut store, &instance)?;
            trap::limit(&mut store, allowed);
            let entries = manifest.call_entries(&mut store)?;
            Ok((
                manifest.call_name(&mut store)?,
                manifest.call_version(&mut store)?,
                entries,
            ))
        };
        let answer: wasmtime::Result<_> = ask();
        let (name, version, entries) = answer.map_err(|error| trap::explain(&error, &store, allowed))?;
        (self.name, self.version, self.entries) = (name, version, entries.carry());
        Ok(())
    }

    /// How long one of the many calls may take.
    pub(super) fn quick(&self) -> Duration {
        self.settings.call
    }

    /// How long a call may take that is made once, or reads or writes much.
    pub(super) fn slow(&self) -> Duration {
        self.settings.call * 10
    }

    pub(super) fn pre(&self) -> &InstancePre<Guest> {
        &self.pre
    }

    /// A fresh instance in a store of its own.
    pub(super) fn instantiate(&self, services: Arc<dyn Host>) -> std::result::Result<(Store<Guest>, Instance), String> {
        let mut store = Store::new(&self.runtime.engine, Guest::new(services, self.settings.memory));
        store.limiter(|guest| guest);
        trap::limit(&mut store, self.slow());
        match self.pre.instantiate(&mut store) {
            Ok(instance) => Ok((store, instance)),
            Err(error) => Err(trap::explain(&error, &store, self.slow())),
        }
    }

    fn provides(&self, category: Category, open: &Open) -> Result<()> {
        if self.categories & 1 << category.code() == 0 {
            return Err(open.unknown());
        }
        Ok(())
    }
}

/// A package in the form that the rest of the host uses.
pub(crate) struct Component(pub(crate) Arc<WasmPackage>);

impl Opened for Component {
    fn name(&self) -> &str {
        &self.0.name
    }
    fn version(&self) -> &str {
        &self.0.version
    }
    fn entries(&self) -> Result<Vec<Entry>> {
        Ok(self.0.entries.clone())
    }
    fn endpoint(&self, open: Open) -> Result<Box<dyn Endpoint>> {
        self.0.provides(Category::Endpoint, &open)?;
        Ok(Box::new(categories::WasmEndpoint::open(&self.0, open)?))
    }
    fn dataset(&self, open: Open) -> Result<Box<dyn Dataset>> {
        self.0.provides(Category::Dataset, &open)?;
        Ok(Box::new(categories::WasmDataset::open(&self.0, open)?))
    }
    fn timing(&self, open: Open) -> Result<Box<dyn Timing>> {
        self.0.provides(Category::Timing, &open)?;
        Ok(Box::new(categories::WasmTiming::open(&self.0, open)?))
    }
    fn metric(&self, open: Open) -> Result<Box<dyn Metric>> {
        self.0.provides(Category::Metric, &open)?;
        Ok(Box::new(categories::WasmMetric::open(&self.0, open)?))
    }
    fn exporter(&self, open: Open) -> Result<Box<dyn Exporter>> {
        self.0.provides(Category::Exporter, &open)?;
        Ok(Box::new(categories::WasmExporter::open(&self.0, open)?))
    }
    fn gpu_collector(&self, open: Open) -> Result<Box<dyn GpuCollector>> {
        self.0.provides(Category::GpuCollector, &open)?;
        Ok(Box::new(categories::WasmGpuCollector::open(&self.0, open)?))
    }
}
