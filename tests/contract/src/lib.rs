//! Plugins of every shape that the contract must carry. They are no built-ins: each is the smallest one that needs what
//! it proves. The tests open them twice, directly and through the ABI, and compare.
//!
//! * [`timing`]: user-centric, fixed schedule and adaptive modes.
//! * [`endpoint`]: multipart bodies, polling.
//! * [`dataset`]: a reader of lines, a sampler.
//! * [`metric`]: a list, a time-weighted curve.
//! * [`exporter`], [`gpu`]: one each.
//! * [`fault`]: fails or panics wherever it is called. [`idle`]: does nothing, for measuring what a call costs.
#![forbid(unsafe_code)]

pub mod dataset;
pub mod endpoint;
pub mod exporter;
pub mod fault;
pub mod gpu;
pub mod idle;
pub mod metric;
pub mod package;
pub mod timing;

pub use package::TestPackage;

aiperf_sdk::export!(
    crate::TestPackage,
    [Endpoint, Dataset, Timing, Metric, Exporter, GpuCollector]
);
