//! GPU telemetry: one thread per collector and source, aside from the measuring path.
//!
//! * [`drive`]: what a collector wants next, as a pure state machine.
//! * [`scrape`]: its requests, performed against the source that it was granted.
//! * [`service`]: the thread, `gpu_telemetry_manager_N`: it joins both with the clock and the bus.
//! * [`table`]: readings as the table `gpu` of exporters.

pub mod drive;
pub mod scrape;
pub mod service;
pub mod table;

use std::time::Duration;

pub use service::{GpuManager, GpuSetup};

/// Collectors are told to read so often (`interval_ms` of what the core passes); it is up to them.
pub const INTERVAL: Duration = Duration::from_millis(333);
/// Readings up to so long after the end of a phase close it.
pub const GRACE: Duration = Duration::from_millis(666);
