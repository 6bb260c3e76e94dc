//! The root module.

use abi_stable::{
    StableAbi, declare_root_module_statics,
    library::{__call_root_module_loader, CheckTypeLayout, LibHeader, RootModule, RootModuleResult},
    package_version_strings,
    sabi_types::VersionStrings,
    std_types::{RResult, RStr, RString, RVec},
};

use super::traits::{DatasetBox, EndpointBox, ExporterBox, GpuCollectorBox, HostBox, MetricBox, TimingBox};
use crate::{entry::EntryAbi, error::PluginErrorAbi};

/// [`crate::package::Open`] as it crosses.
#[repr(C)]
#[derive(StableAbi)]
pub struct OpenAbi {
    /// Name of the entry.
    pub entry: RString,
    /// The user's options as JSON.
    pub options: RString,
    /// What the core passes, as JSON.
    pub core: RString,
    /// Services of the core.
    pub host: HostBox,
}

/// What a library exports. New fields go to the end, behind `last_prefix_field`; a library that lacks them reads as `None`.
#[repr(C)]
#[derive(StableAbi)]
#[sabi(kind(Prefix(prefix_ref = PluginModuleRef)))]
#[sabi(missing_field(option))]
pub struct PluginModule {
    /// Name of the package.
    pub name: RStr<'static>,
    /// Version of the package.
    pub version: RStr<'static>,
    /// Everything the package provides.
    pub entries: extern "C" fn() -> RResult<RVec<EntryAbi>, PluginErrorAbi>,
    /// Opens an endpoint.
    pub endpoint: extern "C" fn(OpenAbi) -> RResult<EndpointBox, PluginErrorAbi>,
    /// Opens a dataset.
    pub dataset: extern "C" fn(OpenAbi) -> RResult<DatasetBox, PluginErrorAbi>,
    /// Opens a timing entry.
    pub timing: extern "C" fn(OpenAbi) -> RResult<TimingBox, PluginErrorAbi>,
    /// Opens a metric family.
    pub metric: extern "C" fn(OpenAbi) -> RResult<MetricBox, PluginErrorAbi>,
    /// Opens an exporter.
    pub exporter: extern "C" fn(OpenAbi) -> RResult<ExporterBox, PluginErrorAbi>,
    /// Opens a GPU collector.
    #[sabi(last_prefix_field)]
    pub gpu_collector: extern "C" fn(OpenAbi) -> RResult<GpuCollectorBox, PluginErrorAbi>,
}

impl RootModule for PluginModuleRef {
    declare_root_module_statics! {PluginModuleRef}
    const BASE_NAME: &'static str = "aiperf_plugin";
    const NAME: &'static str = "aiperf_plugin";
    const VERSION_STRINGS: VersionStrings = package_version_strings!();
}

/// The header that a library exports under [`abi_stable`]'s name for it. For the SDK's `export!` macro, which cannot use
/// the attribute of `abi_stable`: that one names its own crate, which an author's crate does not depend on.
pub const fn header<P: crate::Package>() -> LibHeader {
    extern "C" fn construct<P: crate::Package>() -> RootModuleResult {
        __call_root_module_loader(super::export::root::<P>)
    }
    // SAFETY: the constructor returns exactly the module type that the header is made for.
    unsafe { LibHeader::from_constructor::<PluginModuleRef>(construct::<P>, CheckTypeLayout::Yes) }
}

#[cfg(test)]
mod tests {
    #[test]
    fn the_sdk_exports_under_the_name_that_loaders_look_for() {
        // As written in the SDK's `export!`.
        assert_eq!(
            abi_stable::library::ROOT_MODULE_LOADER_NAME,
            "_1as_0lib_1header_0root_bmodule_bloader"
        );
    }
}
