//! A library with a version record of today and a root module of another shape: what a changed copy of the plugin API
//! gives.

#![allow(
    non_local_definitions,
    reason = "abi_stable's macros define impls inside function bodies"
)]

extern crate self as abi_stable;
pub use aiperf_plugin_api::abi::abi_stable::*;

use aiperf_plugin_api::VersionRecord;
use prefix_type::PrefixTypeTrait;
use std_types::RStr;

/// Name and version have changed places with the entries.
#[repr(C)]
#[derive(StableAbi)]
#[sabi(kind(Prefix(prefix_ref = PluginModuleRef)))]
#[sabi(missing_field(option))]
pub struct PluginModule {
    /// Number of entries.
    pub entries: u64,
    /// Name of the package.
    #[sabi(last_prefix_field)]
    pub name: RStr<'static>,
}

impl library::RootModule for PluginModuleRef {
    declare_root_module_statics! {PluginModuleRef}
    const BASE_NAME: &'static str = "aiperf_plugin";
    const NAME: &'static str = "aiperf_plugin";
    const VERSION_STRINGS: sabi_types::VersionStrings = sabi_types::VersionStrings::new("1.0.0");
}

#[used]
#[cfg_attr(target_vendor = "apple", unsafe(link_section = "__DATA,__aiperf"))]
#[cfg_attr(not(target_vendor = "apple"), unsafe(link_section = ".aiperf"))]
static RECORD: VersionRecord = VersionRecord::new("fixture", "1.2.3", 1);

fn root() -> PluginModuleRef {
    PluginModule {
        entries: 0,
        name: RStr::from_str("fixture"),
    }
    .leak_into_prefix()
}

extern "C" fn erased_root() -> library::RootModuleResult {
    library::__call_root_module_loader(root)
}

/// What abi_stable's `export_root_module` writes, with the name it looks for.
#[unsafe(export_name = "_1as_0lib_1header_0root_bmodule_bloader")]
pub static LOADER: library::LibHeader =
    // SAFETY: `erased_root` returns the root module of this very type.
    unsafe { library::LibHeader::from_constructor::<PluginModuleRef>(erased_root, library::CheckTypeLayout::Yes) };
