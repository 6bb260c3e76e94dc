//! The built-in exporters as a shared library: the package that the binary bundles, under a name of its own.

aiperf_sdk::export!(aiperf_exporters::BuiltIn as "native-exporters", [Exporter]);
