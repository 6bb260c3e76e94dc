//! The plugin host of a run.

use crate::capability::Capability;
use crate::grants::{GrantError, Granted, Grants};
use crate::handle::{
    DatasetHandle, EndpointHandle, ExporterHandle, GpuCollectorHandle, Handle, MetricHandle, TimingHandle,
};
use crate::load::{BundledPackage, LoadError, LoadedPackage, Loader};
use crate::meter::{Plugin, Watch};
use crate::name::Name;
use crate::options::{OptionError, Options};
use crate::resolve::{EntryRef, Resolution, ResolveError};
use crate::wasm::WasmSettings;
use aiperf_plugin_api::package::{Open, Opened};
use aiperf_plugin_api::{Host, PluginError, Root};
use serde_json::{Map, Value};
use std::collections::{BTreeMap, BTreeSet};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

/// Why an entry cannot be used.
#[derive(Debug, Clone, thiserror::Error)]
pub enum HostError {
    /// Its name does not lead to it.
    #[error(transparent)]
    Resolve(#[from] ResolveError),
    /// Its package cannot be opened.
    #[error(transparent)]
    Load(#[from] Arc<LoadError>),
    /// The plugin refused; the message begins with its name.
    #[error(transparent)]
    Plugin(#[from] PluginError),
}

/// The resolved registry and the packages opened so far. Nothing is opened before an entry of it is.
pub struct PluginHost {
    resolution: Resolution,
    loader: Loader,
    options: Options,
    grants: Grants,
    packages: Mutex<BTreeMap<PackageKey, PackageState>>,
    plugins: Mutex<BTreeMap<EntryRef, Arc<Plugin>>>,
}

/// A package, by the index of its registry file and its name.
pub(crate) type PackageKey = (usize, Name);

/// An open package, or why it cannot be opened.
type PackageState = Result<Arc<LoadedPackage>, Arc<LoadError>>;

impl std::fmt::Debug for PluginHost {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("PluginHost")
            .field("resolution", &self.resolution)
            .finish_non_exhaustive()
    }
}

impl PluginHost {
    /// A host that opens the packages of `resolution`, the bundled ones from `bundled`.
    pub fn new(resolution: Resolution, bundled: &[BundledPackage]) -> Self {
        Self {
            grants: Grants::default(),
            resolution,
            loader: Loader {
                bundled: bundled.to_vec(),
                wasm_only: false,
                wasm: WasmSettings::default(),
            },
            options: Options::default(),
            packages: Mutex::default(),
            plugins: Mutex::default(),
        }
    }

    /// Refuses native packages that are not bundled.
    #[must_use]
    pub fn wasm_only(mut self, only: bool) -> Self {
        self.loader.wasm_only = only;
        self
    }

    /// Says how components are compiled and bounded.
    #[must_use]
    pub fn with_wasm(mut self, settings: WasmSettings) -> Self {
        self.loader.wasm = settings;
        self
    }

    /// Lets packages do what installed ones were granted, and what is granted here by package name. Until this is called,
    /// none may do anything.
    ///
    /// # Errors
    /// There is no such package, or it does not ask for that.
    pub fn with_grants<'a>(
        mut self,
        grants: impl IntoIterator<Item = (&'a str, &'a Capability)>,
    ) -> Result<Self, GrantError> {
        self.grants = Grants::new(&self.resolution, grants)?;
        Ok(self)
    }

    /// Takes the user's options, given by `category/name`. Entries are opened with them.
    ///
    /// # Errors
    /// An option of an entry that does not exist, or that the schema of the entry's package refuses.
    pub fn with_options<'a>(
        mut self,
        options: impl IntoIterator<Item = (&'a str, &'a Map<String, Value>)>,
    ) -> Result<Self, OptionError> {
        self.options = Options::assign(&self.resolution, options)?;
        Ok(self)
    }

    /// An option that has had no effect so far, as `category/name` and key: its entry has not been opened.
    pub fn unused_option(&self) -> Option<(&str, &str)> {
        let used = self.used();
        self.options.unused(|entry| used.contains_key(&entry))
    }

    /// Who wins which name, and what the registry says about each entry.
    pub fn resolution(&self) -> &Resolution {
        &self.resolution
    }

    /// Opens the package of an entry, unless it is open already.
    ///
    /// # Errors
    /// The package cannot be opened; each further call says so again without a new attempt.
    pub fn load(&self, entry: EntryRef) -> Result<(), Arc<LoadError>> {
        self.package(entry).map(drop)
    }

    /// The root module of the package of an entry, unwatched: for a conformance suite, which judges every call itself.
    ///
    /// # Errors
    /// The package cannot be opened.
    pub fn root(&self, entry: EntryRef) -> Result<Root, Arc<LoadError>> {
        self.package(entry).map(|package| package.root.clone())
    }

    fn package(&self, entry: EntryRef) -> PackageState {
        let file = self.resolution.file(entry);
        let declared = self.resolution.entry(entry);
        let package = self.resolution.package(entry);
        let mut packages = locked(&self.packages);
        let key = (entry.file, declared.package.clone());
        let label = format!("{}/{}", declared.role, declared.name);
        packages
            .entry(key)
            .or_insert_with(|| self.loader.open(file, package, label).map(Arc::new))
            .clone()
    }

    /// The entry as it appears in messages and counters.
    fn plugin(&self, entry: EntryRef) -> Arc<Plugin> {
        let mut plugins = locked(&self.plugins);
        let new = || {
            let declared = self.resolution.entry(entry);
            let version = &self.resolution.package(entry).version;
            let label = format!(
                "{}/{} (package {} {version})",
                declared.role, declared.name, declared.package
            );
            Arc::new(Plugin::new(label, declared.on_error))
        };
        Arc::clone(plugins.entry(entry).or_insert_with(new))
    }

    fn open<T: ?Sized>(
        &self,
        entry: EntryRef,
        core: &str,
        services: Arc<dyn Host>,
        open: impl FnOnce(&dyn Opened, Open) -> Result<Box<T>, PluginError>,
    ) -> Result<Handle<T>, HostError> {
        let package = self.package(entry)?;
        let name = self.resolution.entry(entry).name.key().to_owned();
        let watch = Watch::new(self.plugin(entry));
        let of_package = (entry.file, self.resolution.package(entry).name.clone());
        let services = Granted::new(services, of_package.1.clone(), self.grants.of(&of_package));
        let instance = watch.call("open", || {
            open(
                &*package.root,
                Open {
                    entry: name,
                    options: self.options.json(entry),
                    core: core.to_owned(),
                    host: Arc::new(services),
                },
            )
            .map_err(|error| self.options.named(entry, error))
        })?;
        Ok(Handle::new(watch, instance))
    }

    /// What a package may do.
    pub(crate) fn granted(&self, package: &PackageKey) -> BTreeSet<Capability> {
        self.grants.of(package)
    }

    /// The packages opened so far and those that could not be.
    pub(crate) fn opened(&self) -> BTreeMap<PackageKey, PackageState> {
        locked(&self.packages).clone()
    }

    /// The entries used so far.
    pub(crate) fn used(&self) -> BTreeMap<EntryRef, Arc<Plugin>> {
        locked(&self.plugins).clone()
    }
}

macro_rules! open {
    ($($name:ident: $call:ident -> $handle:ident, $what:literal;)*) => {
        impl PluginHost {
            $(
                #[doc = concat!("Opens ", $what, ".")]
                ///
                /// `core` is what the core passes to the category, a JSON object or empty; `services` are what it offers to
                /// the instance.
                ///
                /// # Errors
                /// The package cannot be opened, or the plugin refuses the options.
                pub fn $name(
                    &self,
                    entry: EntryRef,
                    core: &str,
                    services: Arc<dyn Host>,
                ) -> Result<$handle, HostError> {
                    self.open(entry, core, services, |root, open| root.$call(open))
                }
            )*
        }
    };
}
open! {
    open_endpoint: endpoint -> EndpointHandle, "an endpoint";
    open_dataset: dataset -> DatasetHandle, "a dataset or a sampler";
    open_timing: timing -> TimingHandle, "a timing mode, an arrival pattern or a ramp";
    open_metric: metric -> MetricHandle, "a metric family";
    open_exporter: exporter -> ExporterHandle, "an exporter";
    open_gpu_collector: gpu_collector -> GpuCollectorHandle, "a GPU collector";
}

/// The maps hold no invariant that a panic could break.
fn locked<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}
