//! What a vendor ships: how to talk to the servers of Acme, and how to read its accelerators. Acme does not exist; the
//! accelerator is simulated.
//!
//! * [`generate`]: the endpoint `acme_generate`; [`event`]: what its servers say.
//! * [`simulated`]: the GPU collector `acme_simulated`.
#![forbid(unsafe_code)]

pub mod event;
pub mod generate;
pub mod simulated;

use aiperf_sdk::prelude::*;

/// The package.
pub struct Acme;

impl Package for Acme {
    const NAME: &'static str = "acme-inference";
    const VERSION: &'static str = env!("CARGO_PKG_VERSION");

    fn entries() -> Vec<Entry> {
        vec![
            Entry::new(Category::Endpoint, "acme_generate"),
            Entry::new(Category::GpuCollector, "acme_simulated"),
        ]
    }

    fn endpoint(open: Open) -> Result<Box<dyn Endpoint>> {
        match open.entry.as_str() {
            "acme_generate" => Ok(Box::new(generate::Generate::new(&open)?)),
            _ => Err(open.unknown()),
        }
    }

    fn gpu_collector(open: Open) -> Result<Box<dyn GpuCollector>> {
        match open.entry.as_str() {
            "acme_simulated" => Ok(Box::new(simulated::Simulated::new(open.options()?)?)),
            _ => Err(open.unknown()),
        }
    }
}

aiperf_sdk::export!(crate::Acme, [Endpoint, GpuCollector]);
