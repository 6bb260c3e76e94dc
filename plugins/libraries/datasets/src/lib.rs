//! The built-in datasets as a shared library: the package that the binary bundles, under a name of its own.

aiperf_sdk::export!(aiperf_datasets::BuiltIn as "native-datasets", [Dataset]);
