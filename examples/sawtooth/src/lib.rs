//! A timing mode whose rate rises linearly from `low_rate` to `high_rate` within `period_s`, drops, and rises again: how does
//! a server take a growing load, and how fast does it recover?
//!
//! Within a period of length T, t after its start, the rate is r(t) = low + (high − low) · t/T, so by then
//! N(t) = low · t + (high − low) · t² / 2T requests are due. Request k (from 0) is sent when N, counted over all periods,
//! reaches k; no random numbers are involved. A conversation's further turns follow their predecessor after its delay.
#![forbid(unsafe_code)]

mod mode;
mod teeth;

pub use mode::Sawtooth;
pub use teeth::Teeth;

use aiperf_sdk::prelude::*;

/// The package.
pub struct SawtoothPackage;

impl Package for SawtoothPackage {
    const NAME: &'static str = "sawtooth";
    const VERSION: &'static str = env!("CARGO_PKG_VERSION");

    fn entries() -> Vec<Entry> {
        vec![Entry::new(Category::Timing, "sawtooth")]
    }

    fn timing(open: Open) -> Result<Box<dyn Timing>> {
        match open.entry.as_str() {
            "sawtooth" => Ok(Box::new(Sawtooth::new(Teeth::new(open.options()?)?))),
            _ => Err(open.unknown()),
        }
    }
}

aiperf_sdk::export!(crate::SawtoothPackage, [Timing]);
