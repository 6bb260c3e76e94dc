//! Where phases stand, and what came of them.

use aiperf_plugin_api::{
    report::{PhaseReport, gpu::GpuSection},
    validity::Fidelity,
};
use serde::{Deserialize, Serialize};

/// Counts of a phase.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize)]
pub struct PhaseCounts {
    /// Credits issued.
    pub issued: u64,
    /// Ended with a valid response.
    pub completed: u64,
    /// Ended with an error.
    pub failed: u64,
    /// Cancelled at the end of grace.
    pub cancelled_grace: u64,
    /// Cancelled by the user.
    pub cancelled_interrupt: u64,
    /// Cancelled because the run was given up.
    pub cancelled_abort: u64,
    /// Conversations started.
    pub sessions: u64,
}

impl PhaseCounts {
    /// Credits that have ended.
    pub fn returned(&self) -> u64 {
        self.completed + self.failed + self.cancelled_grace + self.cancelled_interrupt + self.cancelled_abort
    }
}

/// A phase has ended: every credit has returned.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct PhaseComplete {
    /// Position among all phases.
    pub phase: u32,
    /// When it began to issue credits.
    pub start_ns: u64,
    /// The same instant on the wall clock.
    pub start_wall_ns: u64,
    /// When the last credit had returned.
    pub end_ns: u64,
    /// Its counts.
    pub counts: PhaseCounts,
    /// Lines of the timing mode's event log.
    pub notes: Vec<String>,
    /// The phase was cut short.
    pub interrupted: bool,
}

/// Where a phase stands.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Progress {
    /// Position among all phases.
    pub phase: u32,
    /// Its counts so far.
    pub counts: PhaseCounts,
    /// Time since it began.
    pub elapsed_ns: u64,
    /// No more credits will be issued.
    pub sending_complete: bool,
}

/// What came of the phases: from records manager to controller.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct PhasesReport {
    /// The phases that have ended.
    pub phases: Vec<PhaseReport>,
    /// How exactly each of them was timed.
    pub fidelity: Vec<Fidelity>,
    /// What the user should know.
    pub warnings: Vec<String>,
    /// Valid records of profiling phases.
    pub valid: u64,
    /// What GPU collectors read; `None` for a run without any.
    pub gpu: Option<GpuSection>,
}
