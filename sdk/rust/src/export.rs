//! The export macro.

/// Makes a `cdylib` crate a plugin library: the root module, and the version record that can be read without loading.
///
/// ```ignore
/// aiperf_sdk::export!(acme::AcmePackage, [Endpoint, GpuCollector]);
/// ```
#[macro_export]
macro_rules! export {
    ($package:ty, [$($category:ident),* $(,)?]) => {
        /// What this library is, for those who only read the file.
        #[used]
        #[unsafe(link_section = ".aiperf")]
        static AIPERF_VERSION_RECORD: $crate::api::VersionRecord = $crate::api::VersionRecord::new(
            <$package as $crate::api::Package>::NAME,
            <$package as $crate::api::Package>::VERSION,
            0 $(| 1 << $crate::api::Category::$category.code())*,
        );

        /// The entrance, under the name that the host looks for.
        #[unsafe(export_name = "_1as_0lib_1header_0root_bmodule_bloader")]
        static AIPERF_LIBRARY_HEADER: $crate::api::abi::LibHeader = $crate::api::abi::header::<$package>();
    };
}
