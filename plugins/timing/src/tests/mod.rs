//! All entries, opened as the core opens them, in virtual time.

mod arrivals;
mod burst;
mod errors;
mod paced;

use std::sync::Arc;

use aiperf_sdk::{
    Package, Result, Timing,
    package::Open,
    testing::{FakeHost, VirtualTurn},
};

const MS: u64 = 1_000_000;

/// Opens an entry to which the core passes `core`.
fn open(entry: &str, core: &str, host: FakeHost) -> Result<Box<dyn Timing>> {
    open_with(entry, "", core, host)
}

/// Opens an entry with options of the user.
fn open_with(entry: &str, options: &str, core: &str, host: FakeHost) -> Result<Box<dyn Timing>> {
    crate::BuiltIn::timing(Open {
        entry: entry.to_owned(),
        options: options.to_owned(),
        core: core.to_owned(),
        host: Arc::new(host),
    })
}

/// The mode, bound to an arrival pattern without options.
fn request_rate(pattern: &str) -> Box<dyn Timing> {
    let arrivals = open(pattern, "", FakeHost::new()).expect("a pattern");
    open("request_rate", "", FakeHost::new().with_arrivals(arrivals)).expect("the mode")
}

/// Conversations of two turns, the second `delay_ms` after the first has returned.
fn two_turns(count: usize, delay_ms: f64) -> Vec<Vec<VirtualTurn>> {
    let second = VirtualTurn {
        delay_ms: Some(delay_ms),
        ..VirtualTurn::default()
    };
    vec![vec![VirtualTurn::default(), second]; count]
}

#[test]
fn every_registered_entry_opens() {
    for entry in crate::BuiltIn::entries() {
        assert!(
            open(&entry.name, "{\"smoothness\": 2.0}", FakeHost::new()).is_ok(),
            "{}",
            entry.name
        );
    }
}
