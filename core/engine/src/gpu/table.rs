//! Readings as the table `gpu` of exporters: one row per reading, one batch per poll.

use aiperf_plugin_api::{fields::gpu, gpu::Reading};
use aiperf_records::gpu::accumulator::{label, platform};

use crate::{columns::FieldColumn, message::GpuReadings};

/// Name of the table.
pub const TABLE: &str = "gpu";

/// The columns of these names. `source` and `collector` are those of the readings.
pub fn columns(readings: &GpuReadings, source: &str, collector: &str, names: &[String]) -> Vec<FieldColumn> {
    let rows = || readings.readings.iter();
    let texts = |of: for<'a> fn(&'a Reading) -> Option<&'a str>| FieldColumn::texts(rows().map(of));
    names
        .iter()
        .map(|name| match name.as_str() {
            gpu::TIMESTAMP_WALL => FieldColumn::u64s(rows().map(|_| Some(readings.wall_ns))),
            gpu::SOURCE => FieldColumn::texts(rows().map(|_| Some(source))),
            gpu::COLLECTOR => FieldColumn::texts(rows().map(|_| Some(collector))),
            gpu::INDEX => FieldColumn::u64s(rows().map(|reading| Some(reading.gpu.into()))),
            gpu::UUID => texts(|reading| full(&reading.uuid)),
            gpu::MODEL => texts(|reading| full(&reading.model)),
            gpu::PLATFORM => texts(platform),
            gpu::HOST => texts(|reading| reading.host.as_deref()),
            gpu::FIELD => texts(|reading| Some(&reading.field)),
            gpu::UNIT => texts(|reading| Some(&reading.unit)),
            gpu::COUNTER => FieldColumn::u64s(rows().map(|reading| Some(reading.counter.into()))),
            gpu::VALUE => {
                FieldColumn::f64s(rows().map(|reading| Some(reading.value).filter(|value| value.is_finite())))
            }
            other => match other.strip_prefix(gpu::LABELS) {
                Some(name) => FieldColumn::texts(rows().map(|reading| label(reading, name))),
                None => FieldColumn::Missing,
            },
        })
        .collect()
}

fn full(text: &str) -> Option<&str> {
    (!text.is_empty()).then_some(text)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_column_has_its_values() {
        let reading = |field: &str, host: Option<&str>, labels: &[(&str, &str)]| Reading {
            gpu: 2,
            uuid: String::new(),
            model: "H".into(),
            field: field.into(),
            unit: "W".into(),
            counter: host.is_some(),
            value: 1.5,
            host: host.map(str::to_owned),
            labels: labels
                .iter()
                .map(|&(name, value)| (name.into(), value.into()))
                .collect(),
        };
        let readings = GpuReadings {
            source: 0,
            at_ns: 1,
            wall_ns: 9,
            readings: vec![
                reading("amd_power", Some("n"), &[("pod", "p")]),
                reading("power", None, &[]),
            ],
        };
        let u64s = |first, second| FieldColumn::u64s([first, second].into_iter());
        let texts = |first, second| FieldColumn::texts([first, second].into_iter());
        for (name, expected) in [
            ("timestamp_ns", u64s(Some(9), Some(9))),
            ("source", texts(Some("http://h"), Some("http://h"))),
            ("collector", texts(Some("acme"), Some("acme"))),
            ("gpu", u64s(Some(2), Some(2))),
            ("uuid", texts(None, None)),
            ("model", texts(Some("H"), Some("H"))),
            ("platform", texts(Some("amd"), None)),
            ("host", texts(Some("n"), None)),
            ("field", texts(Some("amd_power"), Some("power"))),
            ("unit", texts(Some("W"), Some("W"))),
            ("counter", u64s(Some(1), Some(0))),
            ("value", FieldColumn::f64s([Some(1.5), Some(1.5)].into_iter())),
            ("labels.pod", texts(Some("p"), None)),
            ("labels.other", texts(None, None)),
            ("nothing", FieldColumn::Missing),
        ] {
            let columns = columns(&readings, "http://h", "acme", &[name.to_owned()]);
            assert_eq!(columns, [expected], "{name}");
        }
    }
}
