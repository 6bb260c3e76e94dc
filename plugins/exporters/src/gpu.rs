//! GPU telemetry in the summaries: the section of the report as JSON, as rows of the CSV and as tables.

use aiperf_sdk::api::report::{
    PhaseReport,
    gpu::{GpuDevice, GpuField, GpuSection, GpuSource},
};

use crate::{
    numbers::adaptive,
    pretty::Pretty,
    summary::{STATS, Stat},
    summary_json,
    table::{Align, Table},
};

/// Readings up to so long after the end of a phase still close it: the end that the original names.
const GRACE_NS: u64 = 666_000_000;

const COLUMNS: [(&str, Stat); 7] = [
    ("avg", |stats| stats.avg),
    ("min", |stats| stats.min),
    ("max", |stats| stats.max),
    ("p99", |stats| stats.p99),
    ("p90", |stats| stats.p90),
    ("p50", |stats| stats.p50),
    ("std", |stats| stats.std),
];

/// What was read in the phase that summaries show.
pub(crate) struct Shown<'a> {
    section: &'a GpuSection,
    devices: Vec<&'a GpuDevice>,
}

impl<'a> Shown<'a> {
    pub(crate) fn new(section: &'a GpuSection, phase: Option<&PhaseReport>) -> Self {
        let index = phase.map(|phase| phase.index);
        let phases = section.phases.iter().filter(|one| Some(one.phase) == index);
        Self {
            section,
            devices: phases.flat_map(|one| &one.devices).collect(),
        }
    }

    /// Name of a source in tables: without scheme and trailing `/metrics`, unless another source has that name.
    fn display(&self, source: &'a GpuSource) -> &'a str {
        let name = without_scheme(&source.source);
        let alike = self
            .section
            .sources
            .iter()
            .filter(|one| without_scheme(&one.source) == name);
        if alike.count() > 1 { &source.source } else { name }
    }

    /// The sources with their names and devices.
    fn sources(&self) -> impl Iterator<Item = (&'a str, Vec<&'a GpuDevice>)> {
        let sources = (0..).zip(&self.section.sources);
        sources.map(|(index, source)| {
            let devices = self.devices.iter().copied().filter(|device| device.source == index);
            (self.display(source), devices.collect())
        })
    }

    /// The member `telemetry_data` of the summary.
    pub(crate) fn write_json(
        &self,
        json: &mut Pretty,
        phase: Option<&PhaseReport>,
        time: impl Fn(u64) -> Option<String>,
    ) {
        let sources = &self.section.sources;
        json.key("summary").object(|json| {
            json.key("endpoints_configured").list(|json| {
                sources.iter().for_each(|source| json.item().text(&source.source));
            });
            json.key("endpoints_successful").list(|json| {
                let successful = sources.iter().filter(|source| source.polls > 0);
                successful.for_each(|source| json.item().text(&source.source));
            });
            let times = phase.map(|phase| (phase.start_wall_ns, phase.end_wall_ns.saturating_add(GRACE_NS)));
            for (key, wall_ns) in [("start_time", times.map(|it| it.0)), ("end_time", times.map(|it| it.1))] {
                if let Some(text) = wall_ns.and_then(&time) {
                    json.key(key).text(&text);
                }
            }
        });
        json.key("endpoints").object(|json| {
            for (name, devices) in self.sources().filter(|(_, devices)| !devices.is_empty()) {
                json.key(name).object(|json| {
                    json.key("gpus").object(|json| {
                        for (position, device) in devices.iter().enumerate() {
                            // Two devices of one index (of two hosts behind one source) are two devices.
                            let taken = devices[..position].iter().any(|earlier| earlier.gpu == device.gpu);
                            let suffix = if taken {
                                format!("_{}", device.uuid)
                            } else {
                                String::new()
                            };
                            json.key(&format!("gpu_{}{suffix}", device.gpu))
                                .object(|json| write_device(json, device));
                        }
                    });
                });
            }
        });
        json.key("error_summary").list(|json| {
            for source in sources {
                if let Some(error) = &source.error {
                    json.item().object(|json| {
                        json.key("error_details").object(|json| {
                            json.key("type").text("GpuCollectorError");
                            json.key("message")
                                .text(&format!("{} ({}): {error}", source.collector, source.source));
                        });
                        json.key("count").integer(1);
                    });
                }
            }
        });
    }

    /// The rows of the CSV, the head first.
    pub(crate) fn rows(&self) -> Vec<Vec<String>> {
        type Optional = (&'static str, fn(&GpuDevice) -> Option<&String>);
        let optional: [Optional; 3] = [
            ("Hostname", |device| device.host.as_ref()),
            ("Namespace", |device| device.namespace.as_ref()),
            ("Pod Name", |device| device.pod.as_ref()),
        ];
        let told: Vec<Optional> = optional
            .into_iter()
            .filter(|(_, of)| self.devices.iter().any(|device| of(device).is_some()))
            .collect();
        let head = ["Endpoint", "GPU_Index", "GPU_Name", "GPU_UUID", "Platform", "Metric"].map(str::to_owned);
        let head = head.into_iter().chain(STATS.map(|(name, _)| name.to_owned()));
        let mut rows = vec![head.chain(told.iter().map(|(name, _)| (*name).to_owned())).collect()];
        for (name, devices) in self.sources() {
            for device in devices {
                for field in &device.fields {
                    let mut row = vec![
                        name.to_owned(),
                        device.gpu.to_string(),
                        device.model.clone(),
                        device.uuid.clone(),
                        device.platform.clone(),
                        label(field),
                    ];
                    row.extend(
                        STATS.map(|(_, stat)| value(field, stat).map_or_else(String::new, |it| format!("{it:.2}"))),
                    );
                    row.extend(told.iter().map(|(_, of)| of(device).cloned().unwrap_or_default()));
                    rows.push(row);
                }
            }
        }
        rows
    }

    /// The platforms of the devices; empty without devices.
    pub(crate) fn platforms(&self) -> Vec<&str> {
        let mut platforms: Vec<&str> = self.devices.iter().map(|device| device.platform.as_str()).collect();
        platforms.sort_unstable();
        platforms.dedup();
        platforms
    }

    /// One table per device; the first says which sources answered.
    pub(crate) fn tables(&self) -> Vec<Table> {
        let mut tables = Vec::new();
        for (name, devices) in self.sources() {
            for device in devices {
                let title = format!("{name} | GPU {} | {}", device.gpu, device.model);
                let title = if tables.is_empty() {
                    format!("{}\n\n{title}", self.summary())
                } else {
                    title
                };
                tables.push(table(title, device));
            }
        }
        tables
    }

    /// Which sources answered, in lines.
    pub(crate) fn summary(&self) -> String {
        let sources = &self.section.sources;
        let reached = sources.iter().filter(|source| source.polls > 0).count();
        let mut text = format!(
            "AIPerf | GPU Telemetry Summary\n{reached}/{} telemetry sources reachable",
            sources.len()
        );
        for source in sources {
            let mark = if source.polls > 0 {
                "\u{2714}"
            } else {
                "\u{2718} (unreachable)"
            };
            text.push_str(&format!("\n\u{2022} {} {mark}", self.display(source)));
        }
        text
    }
}

fn without_scheme(source: &str) -> &str {
    let rest = source.split_once("://").map_or(source, |(_, rest)| rest);
    let rest = rest.split(['?', '#']).next().unwrap_or(rest);
    rest.strip_suffix("/metrics").unwrap_or(rest)
}

fn write_device(json: &mut Pretty, device: &GpuDevice) {
    json.key("gpu_index").integer(device.gpu.into());
    json.key("gpu_name").text(&device.model);
    json.key("gpu_uuid").text(&device.uuid);
    json.key("platform").text(&device.platform);
    for (key, text) in [
        ("hostname", &device.host),
        ("namespace", &device.namespace),
        ("pod_name", &device.pod),
    ] {
        if let Some(text) = text {
            json.key(key).text(text);
        }
    }
    json.key("metrics").object(|json| {
        for field in &device.fields {
            json.key(&field.field).object(|json| {
                json.key("unit").text(&field.unit);
                summary_json::write_stats(json, &field.stats, |stat| value(field, stat));
            });
        }
    });
}

fn table(title: String, device: &GpuDevice) -> Table {
    let names = std::iter::once("Metric").chain(COLUMNS.map(|(name, _)| name));
    let mut table = Table::new(title, names.map(|name| (name, Align::Right)));
    for field in &device.fields {
        let mut row = vec![label(field)];
        row.extend(COLUMNS.map(|(_, stat)| value(field, stat).map_or_else(|| "N/A".to_owned(), adaptive)));
        table.row(row);
    }
    table
}

fn label(field: &GpuField) -> String {
    if field.unit.is_empty() {
        field.header.clone()
    } else {
        format!("{} ({})", field.header, field.unit)
    }
}

fn value(field: &GpuField, stat: Stat) -> Option<f64> {
    stat(&field.stats).filter(|value| value.is_finite())
}

#[cfg(test)]
mod tests;
