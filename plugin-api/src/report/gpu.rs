//! The section `gpu` of a report: what GPU collectors read, by phase and device.

use serde::{Deserialize, Serialize};

use super::{Report, Stats};
use crate::{PluginError, Result};

/// Name of the section in [`Report::sections`].
pub const SECTION: &str = "gpu";

/// The section.
#[derive(Debug, Clone, PartialEq, Default, Serialize, Deserialize)]
pub struct GpuSection {
    /// What was asked, in the order in which the user named it.
    pub sources: Vec<GpuSource>,
    /// What was read, by phase.
    pub phases: Vec<GpuPhase>,
}

/// A source of readings: one instance of a collector.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct GpuSource {
    /// The URL it was granted, without credentials; `NAME://localhost` for a collector that was granted none.
    pub source: String,
    /// Name of the entry.
    pub collector: String,
    /// How many times it brought readings.
    pub polls: u64,
    /// Why it was switched off.
    pub error: Option<String>,
}

/// The devices in one phase.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct GpuPhase {
    /// Position among all phases ([`PhaseReport::index`](super::PhaseReport::index)).
    pub phase: u32,
    /// The devices that were read in it, by source, in the order in which they were first seen.
    pub devices: Vec<GpuDevice>,
}

/// One device in one phase.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct GpuDevice {
    /// Position in [`GpuSection::sources`].
    pub source: u32,
    /// Index of the device.
    pub gpu: u32,
    /// Its UUID; may be empty.
    pub uuid: String,
    /// Model name; may be empty.
    pub model: String,
    /// `nvidia`, `amd`, what the collector's label `platform` says, or `unknown`.
    pub platform: String,
    /// Host, where the source tells.
    pub host: Option<String>,
    /// Kubernetes namespace, where the source tells.
    pub namespace: Option<String>,
    /// Kubernetes pod, where the source tells.
    pub pod: Option<String>,
    /// Its fields: those of the original in its order, then others as they were first seen.
    pub fields: Vec<GpuField>,
}

/// One field of a device in one phase.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct GpuField {
    /// Field (`nvidia_power_usage`).
    pub field: String,
    /// Name for tables, without unit.
    pub header: String,
    /// Unit of the values.
    pub unit: String,
    /// It only grows: `avg` alone, which is by how much it grew.
    pub counter: bool,
    /// Of a gauge: statistics of what was read, `std` being that of a sample.
    pub stats: Stats,
}

impl Report {
    /// The section `gpu`; `None` for a run without GPU telemetry.
    ///
    /// # Errors
    /// When it has another shape.
    pub fn gpu(&self) -> Result<Option<GpuSection>> {
        self.sections
            .get(SECTION)
            .map(|section| {
                GpuSection::deserialize(section)
                    .map_err(|error| PluginError::input(format!("the report's section `{SECTION}`: {error}")))
            })
            .transpose()
    }
}
