//! What plugin authors use: plain Rust traits, exported through the stable ABI.
