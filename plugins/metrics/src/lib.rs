//! Built-in metrics. Each entry is a family of its own file; a family is a table of definitions over the columns that it
//! reads ([`family`]). Tags, headers, units, groups, orders and formulas are those of the metric reference.
//!
//! A value that can't be computed for a record is missing, never 0. Latencies are whole nanoseconds.
#![forbid(unsafe_code)]

mod count;
mod definition;
mod effective;
mod family;
mod goodput;
mod gpu_power_efficiency;
mod http_trace;
mod inputs;
mod latency;
mod length;
mod options;
mod package;
mod schedule;
#[cfg(test)]
mod testing;
#[cfg(test)]
mod tests;
mod throughput;
mod usage;

pub use package::BuiltIn;
