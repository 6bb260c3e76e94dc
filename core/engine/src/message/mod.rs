//! Messages between services: plain data, no `Arc`, descriptor or channel inside, so that any [`Bus`](crate::bus::Bus) can
//! carry them. All times are ns on the monotonic clock unless the name says `wall`.

mod credit;
mod gpu;
mod phase;
mod record;

use aiperf_plugin_api::{PluginError, report::Report};
use serde::{Deserialize, Serialize};

pub use credit::{CancelReason, Credit, CreditReturn};
pub use gpu::{GpuEnd, GpuReadings};
pub use phase::{PhaseComplete, PhaseCounts, PhasesReport, Progress};
pub use record::{ArrivalFacts, RecordBatch, RecordError, RequestRecord, Stamp, Transport};

/// What the exporters left.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct ExportDone {
    /// Texts for the console, in order.
    pub console: Vec<String>,
    /// Failures that were skipped.
    pub skipped: Vec<String>,
    /// Files, relative to the artifact folder.
    pub files: Vec<String>,
}

/// A failure that ends the run.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Failure {
    /// The service.
    pub service: String,
    /// What happened.
    pub message: String,
    /// A plugin is at fault.
    pub plugin: bool,
    /// What the user can do, where the plugin says so.
    pub help: Option<String>,
}

impl Failure {
    /// A plugin that failed in a service.
    pub fn of_plugin(service: impl Into<String>, error: &PluginError) -> Self {
        Self {
            service: service.into(),
            message: error.to_string(),
            plugin: true,
            help: error.help.clone(),
        }
    }
}

/// Everything that services say to each other.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub enum Message {
    /// Timing manager → worker.
    Credit(Credit),
    /// Timing manager → worker: end these requests of a phase now.
    Cancel {
        /// The phase.
        phase: u32,
        /// Numbers of the credits.
        ids: Vec<u64>,
        /// Why.
        reason: CancelReason,
    },
    /// Worker → timing manager.
    Returned(CreditReturn),
    /// Worker → record processor, always before the return of its credit.
    Record(Box<RequestRecord>),
    /// Record processor → records manager.
    Records(Box<RecordBatch>),
    /// Timing manager → records manager, controller.
    PhaseComplete(Box<PhaseComplete>),
    /// Timing manager → controller.
    Progress(Progress),
    /// Records manager → controller: all records of all phases are in.
    RecordsComplete,
    /// Controller → records manager: report the phases.
    Summarise,
    /// Records manager → controller.
    Phases(Box<PhasesReport>),
    /// Controller → records manager: give this report to the exporters.
    Export(Box<Report>),
    /// Records manager → controller.
    Exported(Box<ExportDone>),
    /// Any service → controller.
    Failed(Failure),
    /// Controller → timing manager: stop issuing and cancel what is in flight.
    Interrupt(CancelReason),
    /// GPU telemetry manager → controller: the readings before the phases are in, or there are none yet.
    GpuReady(u32),
    /// GPU telemetry manager → records manager.
    GpuReadings(Box<GpuReadings>),
    /// Controller → GPU telemetry manager: the phases are over; read once more and end.
    CloseGpu,
    /// GPU telemetry manager → controller, always after its last readings.
    GpuEnded(GpuEnd),
    /// Controller → any service.
    Shutdown,
}

#[cfg(test)]
#[path = "message_tests.rs"]
mod tests;
