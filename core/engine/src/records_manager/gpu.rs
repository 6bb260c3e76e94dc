//! GPU telemetry as far as the records manager knows it.

use aiperf_plugin_api::report::gpu::{GpuPhase, GpuSection, GpuSource};
use aiperf_records::gpu::{GpuAccumulator, Span, Vendor};
use serde_json::{Map, Value, json};

use crate::{
    gpu::GRACE,
    message::{GpuReadings, PhaseComplete},
};

/// A source of readings, as reports call it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct SourceLabel {
    /// The URL without credentials, or `NAME://localhost`.
    pub source: String,
    /// Name of the collector's entry.
    pub collector: String,
}

/// The readings of a run.
pub struct Gpu {
    labels: Vec<SourceLabel>,
    readings: GpuAccumulator,
}

impl Gpu {
    /// No readings yet of these sources; without sources there will be none.
    pub fn new(labels: Vec<SourceLabel>) -> Self {
        Self {
            readings: GpuAccumulator::new(labels.len()),
            labels,
        }
    }

    /// The source of readings.
    pub fn label(&self, source: u32) -> Option<&SourceLabel> {
        self.labels.get(source as usize)
    }

    /// Adds readings.
    pub fn add(&mut self, readings: &GpuReadings) {
        self.readings
            .add(readings.source as usize, readings.at_ns, &readings.readings);
    }

    /// What metrics derive from: power over the phase, energy up to the reading that closes it, by vendor. `None` for a
    /// run without collectors, or before any device was seen.
    pub fn facts(&self, phase: &PhaseComplete) -> Option<Value> {
        let within = Span {
            start_ns: phase.start_ns,
            end_ns: phase.end_ns,
        };
        let vendors = self.readings.vendors(within, closed(phase));
        if vendors.is_empty() {
            return None;
        }
        let fact = |(name, vendor): (&str, Vendor)| {
            let known = [
                ("power_w", vendor.power_w),
                ("energy_j", vendor.energy_j),
                ("span_s", vendor.span_s),
            ];
            let known: Map<String, Value> = known
                .into_iter()
                .filter_map(|(key, value)| Some((key.to_owned(), json!(value?))))
                .collect();
            (name.to_owned(), Value::Object(known))
        };
        Some(Value::Object(vendors.into_iter().map(fact).collect()))
    }

    /// The section of the report, and warnings; `None` for a run without collectors.
    pub fn section<'a>(&self, phases: impl Iterator<Item = &'a PhaseComplete>) -> Option<(GpuSection, Vec<String>)> {
        if self.labels.is_empty() {
            return None;
        }
        let mut warnings = Vec::new();
        let phases = phases
            .map(|phase| {
                let (devices, more) = self.readings.devices(closed(phase));
                warnings.extend(more);
                GpuPhase {
                    phase: phase.phase,
                    devices,
                }
            })
            .collect();
        let sources = self.labels.iter().enumerate().map(|(index, label)| {
            let left_out = self.readings.left_out(index);
            if left_out > 0 {
                warnings.push(format!(
                    "GPU telemetry of {} ({}): {left_out} readings are left out: not finite, or in another unit than those \
                     before",
                    label.collector, label.source
                ));
            }
            GpuSource {
                source: label.source.clone(),
                collector: label.collector.clone(),
                polls: self.readings.polls(index),
                error: None,
            }
        });
        let sources = sources.collect();
        Some((GpuSection { sources, phases }, warnings))
    }
}

/// A phase with the reading that closes it.
fn closed(phase: &PhaseComplete) -> Span {
    let grace = u64::try_from(GRACE.as_nanos()).unwrap_or(u64::MAX);
    Span {
        start_ns: phase.start_ns,
        end_ns: phase.end_ns.saturating_add(grace),
    }
}

#[cfg(test)]
mod tests {
    use aiperf_plugin_api::gpu::Reading;

    use super::*;
    use crate::message::PhaseCounts;

    const MS: u64 = 1_000_000;

    fn gpu() -> Gpu {
        let label = |source: &str, collector: &str| SourceLabel {
            source: source.into(),
            collector: collector.into(),
        };
        Gpu::new(vec![label("http://h:1", "acme"), label("dull://localhost", "dull")])
    }

    fn phase() -> PhaseComplete {
        PhaseComplete {
            phase: 1,
            start_ns: 1_000 * MS,
            start_wall_ns: 0,
            end_ns: 2_000 * MS,
            counts: PhaseCounts::default(),
            notes: Vec::new(),
            interrupted: false,
        }
    }

    fn reading(field: &str, unit: &str, counter: bool, value: f64) -> Reading {
        Reading {
            gpu: 0,
            uuid: "U".into(),
            model: "M".into(),
            field: field.into(),
            unit: unit.into(),
            counter,
            value,
            host: None,
            labels: Vec::new(),
        }
    }

    fn read(gpu: &mut Gpu, at_ms: u64, power_w: f64, energy_mj: f64) {
        gpu.add(&GpuReadings {
            source: 0,
            at_ns: at_ms * MS,
            wall_ns: 0,
            readings: vec![
                reading("nvidia_power_usage", "W", false, power_w),
                reading("nvidia_energy_consumption", "MJ", true, energy_mj),
            ],
        });
    }

    #[test]
    fn a_phase_is_closed_by_the_readings_up_to_two_thirds_of_a_second_after_it() {
        let mut gpu = gpu();
        for (at_ms, power_w, energy_mj) in [
            (900, 50.0, 0.5),
            (1_500, 100.0, 0.5),
            (2_000, 300.0, 1.0),
            (2_666, 800.0, 2.5),
            (2_667, 999.0, 9.0),
        ] {
            read(&mut gpu, at_ms, power_w, energy_mj);
        }
        let facts = gpu.facts(&phase()).unwrap();
        // Power within the phase alone: (100 + 300) / 2. Energy from before it to the end of the grace: 2.5 - 0.5 MJ.
        assert_eq!(
            facts,
            json!({"nvidia": {"power_w": 200.0, "energy_j": 2e6, "span_s": 1_767.0 * 1e6 * 1e-9}})
        );
        let (section, warnings) = gpu.section([phase()].iter()).unwrap();
        assert_eq!(warnings, Vec::<String>::new());
        assert_eq!(
            section.sources.iter().map(|source| source.polls).collect::<Vec<_>>(),
            [5, 0]
        );
        let device = &section.phases[0].devices[0];
        assert_eq!((section.phases[0].phase, device.source), (1, 0));
        // (100 + 300 + 800) / 3.
        assert_eq!(device.fields[0].stats.avg, Some(400.0));
        assert_eq!(device.fields[1].stats.avg, Some(2.0));
    }

    #[test]
    fn without_collectors_there_is_no_section_and_without_devices_no_fact() {
        assert_eq!(Gpu::new(Vec::new()).section([phase()].iter()), None);
        assert_eq!(gpu().facts(&phase()), None);
        let (section, _) = gpu().section([phase()].iter()).unwrap();
        assert_eq!((section.sources.len(), section.phases[0].devices.len()), (2, 0));
    }

    #[test]
    fn readings_that_were_left_out_are_told() {
        let mut gpu = gpu();
        read(&mut gpu, 1_100, f64::NAN, 1.0);
        let (_, warnings) = gpu.section([phase()].iter()).unwrap();
        assert!(warnings[0].contains("acme (http://h:1): 1 readings"), "{warnings:?}");
    }
}
