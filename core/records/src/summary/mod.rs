//! The metrics of a phase or a slice: statistics, error-adjusted twins, curves, and what plugins derive from them.
//!
//! A summary is taken from an accumulator, then each family that derives something is given its
//! [`Summary::derive_input`] and its answer goes to [`Summary::set_derived`], in the catalogue's
//! [`derive_order`](crate::catalogue::Catalogue::derive_order); [`Summary::results`] is for the report.

mod curves;
mod derive;
mod metrics;
mod result;
mod sweep;
#[cfg(test)]
mod tests;

pub use derive::DeriveError;
pub use metrics::{Summary, Visibility};
pub use result::MetricResult;
