//! The contract, driven through the ABI both ways: a plugin exported and imported must behave like the plugin itself.

#![allow(clippy::expect_used, reason = "helpers of tests, outside of `#[test]` functions")]

mod core;
mod coverage;
mod datasets;
mod endpoints;
mod exporters;
mod faults;
mod gpu;
mod metrics;
mod mirrors;
mod timing;
mod wit;

use std::sync::Arc;

use aiperf_contract_tests::TestPackage;
use aiperf_sdk::{
    Host,
    api::{Root, abi},
    host::NoHost,
    package::Open,
};

/// The package as a host sees it.
fn imported() -> Root {
    Root::new(abi::root::<TestPackage>())
}

fn open(entry: &str, options: &str) -> Open {
    open_with(entry, options, Arc::new(NoHost))
}

fn open_with(entry: &str, options: &str, host: Arc<dyn Host>) -> Open {
    Open {
        entry: entry.to_owned(),
        options: options.to_owned(),
        core: r#"{"c":2}"#.to_owned(),
        host,
    }
}

#[test]
fn the_package_says_what_it_provides() {
    use aiperf_sdk::Package;
    let root = imported();
    assert_eq!((root.name(), root.version()), ("contract-tests", "0.1.0"));
    assert_eq!(root.entries().expect("entries"), TestPackage::entries());
}
