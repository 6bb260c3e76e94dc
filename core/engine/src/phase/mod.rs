//! One phase as a state machine: what the timing mode asked for, what may be issued now, what came back. It is told the
//! time; it knows no clock, no thread and no channel.
//!
//! * [`state`]: the machine.
//! * [`limits`]: slots and stop conditions.

pub mod limits;
pub mod state;

pub use limits::{Slots, StopConditions};
pub use state::{PhaseSetup, PhaseState, RootTurns, TimingFault};

#[cfg(test)]
mod state_tests;
