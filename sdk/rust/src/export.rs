//! The export macro.

/// Makes a `cdylib` crate a plugin library: the root module, and the version record that can be read without loading. Built
/// for `wasm32-unknown-unknown` it makes the crate a component instead.
///
/// ```ignore
/// aiperf_sdk::export!(acme::AcmePackage, [Endpoint, GpuCollector]);
/// ```
///
/// `as` gives the package another name than its own, for a library that stands beside a package that is linked in:
///
/// ```ignore
/// aiperf_sdk::export!(acme::AcmePackage as "acme-next", [Endpoint]);
/// ```
#[macro_export]
macro_rules! export {
    ($package:ty as $name:literal, [$($category:ident),* $(,)?]) => {
        /// The package under its other name.
        struct Renamed;

        impl $crate::api::Package for Renamed {
            const NAME: &'static str = $name;
            const VERSION: &'static str = <$package as $crate::api::Package>::VERSION;

            fn entries() -> Vec<$crate::api::Entry> {
                <$package as $crate::api::Package>::entries()
            }
            fn endpoint(open: $crate::api::package::Open) -> $crate::api::Result<Box<dyn $crate::api::Endpoint>> {
                <$package as $crate::api::Package>::endpoint(open)
            }
            fn dataset(open: $crate::api::package::Open) -> $crate::api::Result<Box<dyn $crate::api::Dataset>> {
                <$package as $crate::api::Package>::dataset(open)
            }
            fn timing(open: $crate::api::package::Open) -> $crate::api::Result<Box<dyn $crate::api::Timing>> {
                <$package as $crate::api::Package>::timing(open)
            }
            fn metric(open: $crate::api::package::Open) -> $crate::api::Result<Box<dyn $crate::api::Metric>> {
                <$package as $crate::api::Package>::metric(open)
            }
            fn exporter(open: $crate::api::package::Open) -> $crate::api::Result<Box<dyn $crate::api::Exporter>> {
                <$package as $crate::api::Package>::exporter(open)
            }
            fn gpu_collector(
                open: $crate::api::package::Open,
            ) -> $crate::api::Result<Box<dyn $crate::api::GpuCollector>> {
                <$package as $crate::api::Package>::gpu_collector(open)
            }
        }

        $crate::export!(Renamed, [$($category),*]);
    };
    ($package:ty, [$($category:ident),* $(,)?]) => {
        /// What this library is, for those who only read the file.
        #[used]
        #[cfg_attr(target_vendor = "apple", unsafe(link_section = "__DATA,__aiperf"))]
        #[cfg_attr(not(target_vendor = "apple"), unsafe(link_section = ".aiperf"))]
        static AIPERF_VERSION_RECORD: $crate::api::VersionRecord = $crate::api::VersionRecord::new(
            <$package as $crate::api::Package>::NAME,
            <$package as $crate::api::Package>::VERSION,
            0 $(| 1 << $crate::api::Category::$category.code())*,
        );

        /// The entrance, under the name that the host looks for.
        #[cfg(not(target_family = "wasm"))]
        #[unsafe(export_name = "_1as_0lib_1header_0root_bmodule_bloader")]
        static AIPERF_LIBRARY_HEADER: $crate::api::abi::LibHeader = $crate::api::abi::header::<$package>();

        /// The interfaces of a component.
        #[cfg(target_family = "wasm")]
        const _: () = {
            type Exported = $crate::wasm::Exported<$package>;
            $crate::export!(@interface manifest Exported);
            $($crate::export!(@interface $category Exported);)*
        };
    };
    (@interface manifest $exported:ident) => {
        $crate::wasm::bindings::manifest::export_manifest!($exported with_types_in $crate::wasm::bindings::manifest);
    };
    (@interface Endpoint $exported:ident) => {
        $crate::wasm::bindings::endpoint::export_endpoint!($exported with_types_in $crate::wasm::bindings::endpoint);
    };
    (@interface Dataset $exported:ident) => {
        $crate::wasm::bindings::dataset::export_dataset!($exported with_types_in $crate::wasm::bindings::dataset);
    };
    (@interface Timing $exported:ident) => {
        $crate::wasm::bindings::timing::export_timing!($exported with_types_in $crate::wasm::bindings::timing);
    };
    (@interface Metric $exported:ident) => {
        $crate::wasm::bindings::metric::export_metric!($exported with_types_in $crate::wasm::bindings::metric);
    };
    (@interface Exporter $exported:ident) => {
        $crate::wasm::bindings::exporter::export_exporter!($exported with_types_in $crate::wasm::bindings::exporter);
    };
    (@interface GpuCollector $exported:ident) => {
        $crate::wasm::bindings::gpu_collector::export_gpu_collector!(
            $exported with_types_in $crate::wasm::bindings::gpu_collector
        );
    };
}

#[cfg(test)]
mod tests {
    use aiperf_plugin_api::record::{MACH_O_SECTION, SECTION};

    #[test]
    fn the_record_lies_where_hosts_look_for_it() {
        // An attribute takes no constant, so the names stand in the macro once more.
        let written = include_str!("export.rs");
        let (segment, section) = MACH_O_SECTION;
        for name in [SECTION.to_owned(), format!("{segment},{section}")] {
            assert!(written.contains(&format!("link_section = \"{name}\"")), "{name}");
        }
    }
}
