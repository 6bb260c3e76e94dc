//! GPU telemetry: what is known of fields, and what is kept of readings until a phase is summarised.
//!
//! * [`fields`]: the fields of the original, their names, units and order.
//! * [`series`]: readings of one field over time: statistics of gauges, growth of counters.
//! * [`accumulator`]: the series of a run by source and device.

pub mod accumulator;
pub mod fields;
pub mod series;

pub use accumulator::{GpuAccumulator, Vendor};
pub use series::Span;
