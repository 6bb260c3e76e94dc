//! The built-in timing as a shared library: the same package that the binary bundles.

aiperf_sdk::export!(aiperf_timing::BuiltIn, [Timing]);
