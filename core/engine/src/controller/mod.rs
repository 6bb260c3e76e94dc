//! The system controller: sets a run up, follows it, ends it, and says how it went.
//!
//! * [`interface`]: what goes in and what comes out.
//! * [`run`]: setting up and taking down.
//! * `follow`: from the first credit to the report.
//! * `collectors`: GPU collectors, aside from it.
//! * `files`: the requests before a run, the marker after it.

mod collectors;
mod files;
mod follow;
pub mod interface;
mod run;

pub use interface::{Calibrated, Load, Observer, RunOutcome, RunRequest};
pub use run::run;
