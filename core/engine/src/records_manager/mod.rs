//! The records manager: takes batches, feeds accumulators and exporters, and turns phases into reports.
//!
//! * [`service`]: the thread.
//! * [`artifacts`]: files in the artifact folder; the only place that writes them.
//! * [`exporters`]: exporters in use.
//! * [`gpu`]: readings of GPU collectors.
//! * [`phases`]: accumulation and completion of phases.

pub mod artifacts;
pub mod exporters;
pub mod gpu;
pub mod phases;
pub mod service;

pub use artifacts::{ArtifactError, Artifacts};
pub use exporters::ExporterInUse;
pub use service::{RecordsManager, RecordsSetup};
