//! The readings of a run by source and device.
//!
//! Memory: 16 bytes per field and reading. Eight devices with twelve fields, read three times a second, take 17 MB an hour.

use aiperf_plugin_api::{
    gpu::Reading,
    report::gpu::{GpuDevice, GpuField},
};

use super::{
    fields::{self, VENDORS},
    series::{Growth, Series, Span},
};
use crate::{statistics::Statistics, units::display_factor};

/// All readings of a run.
#[derive(Debug, Default)]
pub struct GpuAccumulator {
    sources: Vec<Source>,
}

#[derive(Debug, Default)]
struct Source {
    devices: Vec<Device>,
    polls: u64,
    left_out: u64,
}

#[derive(Debug)]
struct Device {
    gpu: u32,
    uuid: String,
    model: String,
    platform: Option<String>,
    host: Option<String>,
    namespace: Option<String>,
    pod: Option<String>,
    fields: Vec<Field>,
}

#[derive(Debug)]
struct Field {
    name: String,
    unit: String,
    counter: bool,
    series: Series,
}

/// Power and energy of a vendor's devices in a phase. What no device tells is `None`.
#[derive(Debug, Clone, Copy, PartialEq, Default)]
pub struct Vendor {
    /// Sum over devices of mean power, in W.
    pub power_w: Option<f64>,
    /// Sum over devices of the energy taken, in J.
    pub energy_j: Option<f64>,
    /// Time from the first to the last reading of the run, in s; `None` unless it is positive.
    pub span_s: Option<f64>,
}

/// A label by name.
#[must_use]
pub fn label<'a>(reading: &'a Reading, name: &str) -> Option<&'a str> {
    let found = reading.labels.iter().find(|(label, _)| label == name)?;
    Some(found.1.as_str()).filter(|value| !value.is_empty())
}

/// The platform that a reading speaks of: what its label says, else the vendor in the field's name.
#[must_use]
pub fn platform(reading: &Reading) -> Option<&str> {
    label(reading, "platform").or_else(|| fields::vendor_of(&reading.field))
}

/// A reading as it is kept and exported: in the original's units where its files leave the unit out.
#[must_use]
pub fn exported(mut reading: Reading) -> Reading {
    let (unit, factor) = fields::exported(&reading.field, &reading.unit);
    reading.value *= factor;
    reading.unit = unit.to_owned();
    reading
}

impl GpuAccumulator {
    /// One for so many sources.
    #[must_use]
    pub fn new(sources: usize) -> Self {
        Self {
            sources: (0..sources).map(|_| Source::default()).collect(),
        }
    }

    /// Adds what a poll of a source brought. Readings of one source must come in the order of their time. What is not
    /// finite, or comes in another unit than earlier readings of the field, is left out and counted.
    pub fn add(&mut self, source: usize, at_ns: u64, readings: &[Reading]) {
        let Some(source) = self.sources.get_mut(source) else {
            return;
        };
        source.polls += u64::from(!readings.is_empty());
        for reading in readings {
            if !reading.value.is_finite() || !device_of(&mut source.devices, reading).add(at_ns, reading) {
                source.left_out += 1;
            }
        }
    }

    /// How often a source brought readings.
    #[must_use]
    pub fn polls(&self, source: usize) -> u64 {
        self.sources.get(source).map_or(0, |source| source.polls)
    }

    /// Readings of a source that were left out.
    #[must_use]
    pub fn left_out(&self, source: usize) -> u64 {
        self.sources.get(source).map_or(0, |source| source.left_out)
    }

    /// The devices that were read within a span, and warnings.
    #[must_use]
    pub fn devices(&self, span: Span) -> (Vec<GpuDevice>, Vec<String>) {
        let mut warnings = Vec::new();
        let mut devices = Vec::new();
        for (index, source) in self.sources.iter().enumerate() {
            for device in &source.devices {
                let fields = device.report(span, &mut warnings);
                if !fields.is_empty() {
                    devices.push(device.described(u32::try_from(index).unwrap_or(u32::MAX), fields));
                }
            }
        }
        (devices, warnings)
    }

    /// Power within a span and energy within another, by vendor; vendors without devices are left out. Power is taken
    /// over the phase itself, energy up to the reading that closes it.
    #[must_use]
    pub fn vendors(&self, power: Span, energy: Span) -> Vec<(&'static str, Vendor)> {
        let of = |(vendor, power_field, energy_field): (&'static str, &str, &str)| {
            let devices = || {
                let all = self.sources.iter().flat_map(|source| &source.devices);
                all.filter(|device| device.platform.as_deref() == Some(vendor))
            };
            devices().next()?;
            let ends = devices()
                .flat_map(|device| &device.fields)
                .filter_map(|field| field.series.ends());
            let span = ends.reduce(|(from, to), (first, last)| (from.min(first), to.max(last)));
            let found = Vendor {
                power_w: sum(devices().filter_map(|device| device.power_w(power_field, power))),
                energy_j: sum(devices().filter_map(|device| device.energy_j(energy_field, energy))),
                span_s: span
                    .filter(|(from, to)| to > from)
                    .map(|(from, to)| (to - from) as f64 * 1e-9),
            };
            Some((vendor, found))
        };
        VENDORS.into_iter().filter_map(of).collect()
    }
}

/// `None` without values.
fn sum(values: impl Iterator<Item = f64>) -> Option<f64> {
    values.reduce(|sum, value| sum + value)
}

/// The device that a reading is of: by UUID, by index where it has none.
fn device_of<'a>(devices: &'a mut Vec<Device>, reading: &Reading) -> &'a mut Device {
    let same = |device: &Device| device.uuid == reading.uuid && (!reading.uuid.is_empty() || device.gpu == reading.gpu);
    let index = devices.iter().position(same).unwrap_or(devices.len());
    if index == devices.len() {
        devices.push(Device::new(reading));
    }
    &mut devices[index]
}

impl Device {
    fn new(reading: &Reading) -> Self {
        let label = |name| label(reading, name).map(str::to_owned);
        Self {
            gpu: reading.gpu,
            uuid: reading.uuid.clone(),
            model: reading.model.clone(),
            platform: None,
            host: reading.host.clone(),
            namespace: label("namespace"),
            pod: label("pod"),
            fields: Vec::new(),
        }
    }

    /// `false` if the reading is left out.
    fn add(&mut self, at_ns: u64, reading: &Reading) -> bool {
        if self.platform.is_none() {
            self.platform = platform(reading).map(str::to_owned);
        }
        let known = self.fields.iter_mut().find(|field| field.name == reading.field);
        match known {
            Some(field) if field.unit != reading.unit || field.counter != reading.counter => false,
            Some(field) => {
                field.series.push(at_ns, reading.value);
                true
            }
            None => {
                let mut series = Series::default();
                series.push(at_ns, reading.value);
                self.fields.push(Field {
                    name: reading.field.clone(),
                    unit: reading.unit.clone(),
                    counter: reading.counter,
                    series,
                });
                true
            }
        }
    }

    fn report(&self, span: Span, warnings: &mut Vec<String>) -> Vec<GpuField> {
        let mut fields: Vec<&Field> = self.fields.iter().collect();
        // Stable: fields that the original does not know keep the order in which they were seen.
        fields.sort_by_key(|field| fields::position(&field.name).unwrap_or(usize::MAX));
        let mut stats = |field: &Field| {
            if !field.counter {
                return field.series.gauge(span);
            }
            match field.series.growth(span) {
                Growth::By(growth) => Some(Statistics::single(growth)),
                Growth::Unknown => None,
                Growth::Reset => {
                    warnings.push(format!(
                        "GPU {} ({}): the counter `{}` went back during the phase; its growth is left out",
                        self.gpu, self.uuid, field.name
                    ));
                    None
                }
            }
        };
        fields
            .into_iter()
            .filter_map(|field| {
                Some(GpuField {
                    field: field.name.clone(),
                    header: fields::header(&field.name),
                    unit: field.unit.clone(),
                    counter: field.counter,
                    stats: stats(field)?.into(),
                })
            })
            .collect()
    }

    fn described(&self, source: u32, fields: Vec<GpuField>) -> GpuDevice {
        GpuDevice {
            source,
            gpu: self.gpu,
            uuid: self.uuid.clone(),
            model: self.model.clone(),
            platform: self.platform.clone().unwrap_or_else(|| "unknown".to_owned()),
            host: self.host.clone(),
            namespace: self.namespace.clone(),
            pod: self.pod.clone(),
            fields,
        }
    }

    fn field(&self, name: &str, counter: bool) -> Option<&Field> {
        self.fields
            .iter()
            .find(|field| field.name == name && field.counter == counter)
    }

    fn power_w(&self, name: &str, span: Span) -> Option<f64> {
        let field = self.field(name, false)?;
        let factor = display_factor(&field.unit, "W").ok()?;
        Some(field.series.gauge(span)?.avg? * factor)
    }

    fn energy_j(&self, name: &str, span: Span) -> Option<f64> {
        let field = self.field(name, true)?;
        let factor = display_factor(&field.unit, "J").ok()?;
        match field.series.growth(span) {
            Growth::By(growth) => Some(growth * factor),
            Growth::Unknown | Growth::Reset => None,
        }
    }
}

#[cfg(test)]
mod tests;
