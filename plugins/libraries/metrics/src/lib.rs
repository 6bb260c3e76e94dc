//! The built-in metrics as a shared library: the package that the binary bundles, under a name of its own.

aiperf_sdk::export!(aiperf_metrics::BuiltIn as "native-metrics", [Metric]);
