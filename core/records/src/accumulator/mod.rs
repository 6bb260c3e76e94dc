//! Everything that is kept of a phase while it runs.
//!
//! A [`PhaseAccumulator`] takes batches of records with the columns that metric plugins computed from them, and keeps
//! each metric in a column of its own. At the end (or at any time) a [`crate::summary::Summary`] is taken from it.
//!
//! Memory per record: 16 bytes for its span; for each metric one bit, and if the record has a value 4 bytes (a whole
//! number below 2^32) or 8; 24 per interval; 16 per record with steps. Lists and steps take 4 bytes more per element, up
//! to a [`Budget`], after which they take none (lists) or 16 (steps) per record. Errors are grouped in bounded memory.

mod curves;
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
