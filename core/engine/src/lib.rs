//! The load engine. [`run`] takes a plan and a plugin host to a report.
//!
//! Services are threads that talk only through the [`bus`]: the controller ([`controller`]), the timing manager
//! ([`timing_manager`], around the pure state machine of a [`phase`]), workers ([`worker`]), record processors
//! ([`processor`]), the records manager ([`records_manager`]) and, where the run has GPU telemetry, its collectors ([`gpu`]).

pub mod bus;
pub mod columns;
pub mod controller;
pub mod dataset;
pub mod gpu;
pub mod message;
pub mod outgoing;
pub mod phase;
mod priority;
pub mod processor;
pub mod records_manager;
pub mod router;
pub mod sampler;
pub mod services;
pub mod setup;
mod supervise;
pub mod timing_manager;
pub mod validity;
pub mod worker;

pub use controller::{Calibrated, Load, Observer, RunOutcome, RunRequest, run};
pub use services::SharedTokenizer;
pub use setup::SetupError;

/// Messages that a service's queue holds before its senders wait.
pub const QUEUE: usize = 8192;
