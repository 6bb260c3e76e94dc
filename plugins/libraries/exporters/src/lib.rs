//! The built-in exporters as a shared library: the same package that the binary bundles.

aiperf_sdk::export!(aiperf_exporters::BuiltIn, [Exporter]);
