//! GPU collectors: sans-IO like the rest, so that scrapers of DCGM-like exporters run as WASM too. Native ones that call a
//! driver answer [`Poll::Readings`] at once and run on a thread of their own.

use crate::{
    Result,
    endpoint::{HttpAnswer, HttpRequest},
};

contract! {
    /// One field of one device at one time.
    pub struct Reading / ReadingAbi {
        /// Index of the device.
        pub gpu: u32,
        /// UUID of the device.
        pub uuid: String,
        /// Model name.
        pub model: String,
        /// Field (`nvidia_power_usage`).
        pub field: String,
        /// Unit (`W`).
        pub unit: String,
        /// The field only grows.
        pub counter: bool,
        /// Value.
        pub value: f64,
        /// Host, where the source tells.
        pub host: Option<String>,
        /// Other labels. Reports show `platform` (of accelerators whose fields begin with neither `nvidia_` nor `amd_`),
        /// `namespace`, `pod`, `pci_bus_id` and `device`.
        pub labels: Vec<(String, String)>,
    }
}

/// What a collector does next.
#[derive(Debug, Clone, PartialEq)]
pub enum Poll {
    /// Ask this; the answer comes with the next poll. The path is absolute within the granted source.
    Request(HttpRequest),
    /// Nothing now; poll again after so many ms.
    Wait(u64),
    /// Values read now.
    Readings(Vec<Reading>),
}

/// A GPU collector.
pub trait GpuCollector: Send {
    /// Next step. `now_ns` is monotonic; `answer` is that of the request asked for last.
    ///
    /// # Errors
    /// The collector is switched off for the run, with this message in the report.
    fn poll(&mut self, now_ns: u64, answer: Option<HttpAnswer>) -> Result<Poll>;
}
