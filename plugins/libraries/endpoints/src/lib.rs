//! The built-in endpoints as a shared library: the same package that the binary bundles.

aiperf_sdk::export!(aiperf_endpoints::BuiltIn, [Endpoint]);
