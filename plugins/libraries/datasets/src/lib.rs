//! The built-in datasets as a shared library: the same package that the binary bundles.

aiperf_sdk::export!(aiperf_datasets::BuiltIn, [Dataset]);
