//! The record processor: counts tokens and computes per-record metrics, in batches.
//!
//! * [`service`]: the thread.
//! * [`tokens`]: input, output and reasoning tokens of a record.
//! * [`input_text`]: the text of a request body.
//! * [`build`]: records as columns.
//! * [`families`]: the metric families of a run.

pub mod build;
pub mod families;
pub mod input_text;
pub mod service;
pub mod tokens;

pub use families::{Families, Family};
pub use service::{ProcessorSetup, RecordProcessor};
pub use tokens::{TokenCounter, TokenPolicy};
