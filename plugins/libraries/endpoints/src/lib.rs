//! The built-in endpoints as a shared library: the package that the binary bundles, under a name of its own.

aiperf_sdk::export!(aiperf_endpoints::BuiltIn as "native-endpoints", [Endpoint]);
