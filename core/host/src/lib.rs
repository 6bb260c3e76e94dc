//! Plugin host: registry, resolver, loaders and adapters.
//!
//! * [`registry`]: what registry files say. Pure data.
//! * [`discovery`]: which registry files there are.
//! * [`resolve`]: which entry wins a name. A pure function.
//! * [`load`]: a package becomes a root module. Unsafe code is confined to `load::native` and `wasm::cache`.
//! * [`Capability`]: what a package may ask for; `grants`: what the user lets it do.
//! * `wasm`: packages as WebAssembly components.
//! * [`ConfigSchema`]: the JSON Schema that a package gives for its options.
//! * `options`: what the user sets for entries.
//! * [`PluginHost`]: opens entries of the winners, each package at most once.
//! * [`Handle`]: an open entry, timed and counted, whose errors name the plugin.
#![deny(unsafe_code)]

mod capability;
mod config_schema;
pub mod discovery;
mod grants;
mod handle;
mod host;
pub mod load;
mod meter;
mod name;
mod options;
pub mod registry;
pub mod resolve;
mod usage;
mod wasm;

pub use capability::Capability;
pub use config_schema::{ConfigSchema, OptionInfo};
pub use grants::{GRANTED_FILE, GrantError, granted_at_installation};
pub use handle::{
    DatasetHandle, EndpointHandle, ExporterHandle, GpuCollectorHandle, Handle, MetricHandle, TimingHandle,
};
pub use host::{HostError, PluginHost};
pub use load::BundledPackage;
pub use meter::Plugin;
pub use name::{Name, Role, near};
pub use options::OptionError;
pub use usage::{EntryUse, PackageUse};
pub use wasm::{Compiler, Task, WasmSettings, component, component_info};
