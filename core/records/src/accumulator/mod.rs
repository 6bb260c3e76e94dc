//! Everything that is kept of a phase while it runs.
//!
//! A [`PhaseAccumulator`] takes batches of records with the columns that metric plugins computed from them, and keeps
//! each metric in a column of its own. At the end (or at any time) a [`crate::summary::Summary`] is taken from it.
//!
//! Memory per record: 12 bytes for its span; for each metric one and a half bits, and if the record has a value 4 bytes (a
//! whole number below 2^32) or 8, but nothing while all values of the metric are the same. Intervals and steps have such a
//! value as their weight and take 8 bytes more, lists 4. Lists and steps take 4 bytes per element, up to a [`Budget`], after
//! which they take none (lists) or 16 (steps) per record. Times beyond 4.29 s take 16 bytes more, errors are grouped in
//! bounded memory. Nothing moves when it grows.

pub(crate) mod curves;
mod lists;
mod numbers;
mod phase;
pub(crate) mod presence;
mod series;
mod slices;

pub(crate) use lists::Lost;
pub use phase::{AccumulateError, PhaseAccumulator, RecordOutcome};
pub use series::Budget;
pub(crate) use series::Series;
pub use slices::Slice;
