//! The built-in timing as a shared library: the package that the binary bundles, under a name of its own.

aiperf_sdk::export!(aiperf_timing::BuiltIn as "native-timing", [Timing]);
