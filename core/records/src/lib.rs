//! What is known about a run once requests are over: statistics and accumulators. The report that
//! is made of them is part of the plugin contract (`aiperf_plugin_api::report`).
//!
//! Everything here is pure: no clock, no input or output, no threads.
//!
//! | module | what it does |
//! |---|---|
//! | [`statistics`] | mean, percentiles and so on of a set of values |
//! | [`adjusted`] | the same with failed requests as infinitely slow ones |
//! | [`curve`] | step functions of time and their time-weighted statistics |
//! | [`gaps`] | exact storage of list values in four bytes each, up to a budget |
//! | [`gpu`] | readings of GPU telemetry by device, and their statistics |
//! | [`precision`] | how exact a metric is when memory did not suffice |
//! | [`window`] | the span that rates and curves refer to |
//! | [`units`] | from native to display units |
//! | [`errors`] | failed requests, grouped |
//! | [`catalogue`] | the metrics of a run, checked |
//! | [`composition`] | curves made of other curves |
//! | [`accumulator`] | everything kept of a phase while it runs |
//! | [`summary`] | the metrics of a phase or slice |
#![forbid(unsafe_code)]

pub mod accumulator;
pub mod adjusted;
pub mod catalogue;
pub mod composition;
pub mod curve;
pub mod errors;
pub mod gaps;
pub mod gpu;
mod lists;
mod pieces;
pub mod precision;
pub mod statistics;
pub mod summary;
mod summation;
#[cfg(test)]
mod testing;
pub mod units;
pub mod window;
