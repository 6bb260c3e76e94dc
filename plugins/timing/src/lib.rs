//! Built-in timing: the mode `request_rate` (also bursts: a run without a rate), and the arrival patterns `constant`,
//! `poisson`, `gamma` and `concurrency_burst`.
#![forbid(unsafe_code)]

mod arrival;
mod options;
mod request_rate;

use aiperf_sdk::{
    Category, Entry, Package, Result, Timing,
    package::{NoOptions, Open},
};

use crate::{arrival::Pattern, options::Core, request_rate::RequestRate};

/// The package.
pub struct BuiltIn;

impl Package for BuiltIn {
    const NAME: &'static str = "aiperf-timing";
    const VERSION: &'static str = env!("CARGO_PKG_VERSION");

    fn entries() -> Vec<Entry> {
        ["request_rate", "concurrency_burst", "constant", "gamma", "poisson"]
            .into_iter()
            .map(|name| Entry::new(Category::Timing, name))
            .collect()
    }

    fn timing(open: Open) -> Result<Box<dyn Timing>> {
        let NoOptions {} = open.options()?;
        let core: Core = open.core()?;
        Ok(match open.entry.as_str() {
            "request_rate" => Box::new(RequestRate::new(open.host)),
            "concurrency_burst" => Box::new(Pattern::burst()),
            "constant" => Box::new(Pattern::constant()),
            "gamma" => Box::new(Pattern::gamma(&*open.host, core.smoothness()?)),
            "poisson" => Box::new(Pattern::poisson(&*open.host)),
            _ => return Err(open.unknown()),
        })
    }
}

#[cfg(test)]
mod tests;
