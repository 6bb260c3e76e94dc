//! The built-in metrics as a shared library: the same package that the binary bundles.

aiperf_sdk::export!(aiperf_metrics::BuiltIn, [Metric]);
