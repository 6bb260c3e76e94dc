//! One line of JSON per GPU and reading, as readings come: those before the phases and during a warmup too.

use aiperf_sdk::{
    Batch, Exporter, Result,
    exporter::{ExporterNeeds, Output, TableNeeds},
    fields::gpu,
};

use crate::{
    json::push_string,
    numbers::{push_float, push_integer},
    package::read_info,
};

/// The columns, in the order asked for.
const COLUMNS: [&str; 13] = [
    gpu::INDEX,
    gpu::UUID,
    gpu::MODEL,
    "labels.pci_bus_id",
    "labels.device",
    gpu::HOST,
    "labels.namespace",
    "labels.pod",
    gpu::PLATFORM,
    gpu::TIMESTAMP_WALL,
    gpu::SOURCE,
    gpu::FIELD,
    gpu::VALUE,
];
const INDEX: usize = 0;
const UUID: usize = 1;
const MODEL: usize = 2;
const PLATFORM: usize = 8;
const TIMESTAMP: usize = 9;
const SOURCE: usize = 10;
const FIELD: usize = 11;
const VALUE: usize = 12;

/// Texts of a device, with their columns. Those that are not told are left out, but for the first two.
const TEXTS: [(&str, usize); 8] = [
    ("gpu_uuid", UUID),
    ("gpu_model_name", MODEL),
    ("pci_bus_id", 3),
    ("device", 4),
    ("hostname", 5),
    ("namespace", 6),
    ("pod_name", 7),
    ("platform", PLATFORM),
];

/// Writes the readings; nothing where the run has none.
#[derive(Default)]
pub(crate) struct GpuTelemetryJsonlWriter {
    file: Option<String>,
}

impl Exporter for GpuTelemetryJsonlWriter {
    fn begin(&mut self, info: &str) -> Result<ExporterNeeds> {
        self.file = read_info(info)?.artifacts.gpu;
        let Some(file) = &self.file else {
            return Ok(ExporterNeeds::default());
        };
        Ok(ExporterNeeds {
            columns: Vec::new(),
            files: vec![file.clone()],
            tables: vec![TableNeeds {
                table: "gpu".to_owned(),
                columns: COLUMNS.map(str::to_owned).to_vec(),
            }],
        })
    }

    fn write_table(&mut self, _: &str, batch: &Batch<'_>) -> Result<Vec<Output>> {
        let Some(file) = &self.file else {
            return Ok(Vec::new());
        };
        let mut out = Vec::new();
        let mut written: Vec<(Option<&str>, Option<u64>)> = Vec::new();
        for i in 0..batch.len {
            let device = device(batch, i);
            if !written.contains(&device) {
                written.push(device);
                write_line(&mut out, batch, i);
            }
        }
        Ok(vec![Output {
            file: file.clone(),
            order: 0,
            append: true,
            data: out,
        }])
    }

    fn finish(&mut self, _: &str) -> Result<Vec<Output>> {
        Ok(Vec::new())
    }
}

/// What tells devices apart: UUID, and index where it has none.
fn device<'a>(batch: &Batch<'a>, i: usize) -> (Option<&'a str>, Option<u64>) {
    let uuid = batch.column(UUID).text(i);
    let index = batch.column(INDEX).u64(i).filter(|_| uuid.is_none());
    (uuid, index)
}

/// Writes the device of row `first` with all its fields.
fn write_line(out: &mut Vec<u8>, batch: &Batch<'_>, first: usize) {
    let own = device(batch, first);
    let rows = || (first..batch.len).filter(|&i| device(batch, i) == own);
    out.extend_from_slice(b"{\"gpu_index\":");
    push_integer(out, batch.column(INDEX).u64(first).unwrap_or(0));
    for (key, column) in TEXTS {
        // Any of its rows may be the one that tells.
        let told = rows().find_map(|i| batch.column(column).text(i));
        let text = match column {
            UUID | MODEL => Some(told.unwrap_or_default()),
            PLATFORM => Some(told.unwrap_or("unknown")),
            _ => told,
        };
        if let Some(text) = text {
            out.push(b',');
            push_string(out, key);
            out.push(b':');
            push_string(out, text);
        }
    }
    if let Some(at) = batch.column(TIMESTAMP).u64(first) {
        out.extend_from_slice(b",\"timestamp_ns\":");
        push_integer(out, at);
    }
    if let Some(source) = batch.column(SOURCE).text(first) {
        out.extend_from_slice(b",\"telemetry_source_url\":");
        push_string(out, source);
    }
    out.extend_from_slice(b",\"telemetry_data\":{");
    let mut fields: Vec<&str> = Vec::new();
    for i in rows() {
        let (Some(field), Some(value)) = (batch.column(FIELD).text(i), batch.column(VALUE).f64(i)) else {
            continue;
        };
        // A field that a source tells twice: the first counts.
        if fields.contains(&field) || !value.is_finite() {
            continue;
        }
        if !fields.is_empty() {
            out.push(b',');
        }
        fields.push(field);
        push_string(out, field);
        out.push(b':');
        push_float(out, value);
    }
    out.extend_from_slice(b"}}\n");
}

#[cfg(test)]
mod tests {
    use aiperf_sdk::{ColumnRef, Validity};

    use super::*;
    use crate::testing::{info, open};

    struct Texts(Vec<u32>, String, Vec<u8>);

    impl Texts {
        fn new(texts: &[Option<&str>]) -> Self {
            let (mut ends, mut all, mut valid) = (Vec::new(), String::new(), Vec::new());
            for text in texts {
                all.push_str(text.unwrap_or_default());
                ends.push(all.len() as u32);
                valid.push(u8::from(text.is_some()));
            }
            Self(ends, all, valid)
        }

        fn column(&self) -> ColumnRef<'_> {
            ColumnRef::Text(&self.0, &self.1, Validity::Mask(&self.2))
        }
    }

    #[test]
    fn devices_of_one_reading_are_lines_in_the_layout_of_the_original() {
        let mut exporter = open("gpu_telemetry_jsonl_writer");
        let needs = exporter.begin(&serde_json::to_string(&info()).unwrap()).unwrap();
        assert_eq!(needs.files, ["gpu_telemetry_export.jsonl"]);
        assert_eq!(needs.tables[0].table, "gpu");

        let (index, uuids) = (
            [0, 1, 0, 1],
            Texts::new(&[Some("GPU-a"), Some("GPU-b"), Some("GPU-a"), Some("GPU-b")]),
        );
        let models = Texts::new(&[Some("H"), None, Some("H"), None]);
        let hosts = Texts::new(&[Some("n"), None, Some("n"), None]);
        let platforms = Texts::new(&[None, None, Some("nvidia"), None]);
        let sources = Texts::new(&[Some("http://h:1/metrics"); 4]);
        let fields = Texts::new(&[Some("own"), Some("own"), Some("nvidia_power_usage"), Some("own")]);
        let (times, values) = ([1_767_225_600_000_000_001_u64; 4], [1.0, 2.0, 250.25, 9.0]);
        let columns = [
            ColumnRef::U64(&index, Validity::All),
            uuids.column(),
            models.column(),
            ColumnRef::Missing,
            ColumnRef::Missing,
            hosts.column(),
            ColumnRef::Missing,
            ColumnRef::Missing,
            platforms.column(),
            ColumnRef::U64(&times, Validity::All),
            sources.column(),
            fields.column(),
            ColumnRef::F64(&values, Validity::All),
        ];
        let outputs = exporter
            .write_table(
                "gpu",
                &Batch {
                    len: 4,
                    columns: &columns,
                },
            )
            .unwrap();
        assert!(outputs[0].append);
        let expected = "\
            {\"gpu_index\":0,\"gpu_uuid\":\"GPU-a\",\"gpu_model_name\":\"H\",\"hostname\":\"n\",\"platform\":\"nvidia\",\
            \"timestamp_ns\":1767225600000000001,\"telemetry_source_url\":\"http://h:1/metrics\",\
            \"telemetry_data\":{\"own\":1.0,\"nvidia_power_usage\":250.25}}\n\
            {\"gpu_index\":1,\"gpu_uuid\":\"GPU-b\",\"gpu_model_name\":\"\",\"platform\":\"unknown\",\
            \"timestamp_ns\":1767225600000000001,\"telemetry_source_url\":\"http://h:1/metrics\",\
            \"telemetry_data\":{\"own\":2.0}}\n";
        assert_eq!(String::from_utf8(outputs[0].data.clone()).unwrap(), expected);
    }

    #[test]
    fn a_run_without_gpu_telemetry_has_no_file() {
        let mut info = info();
        info.artifacts.gpu = None;
        let mut exporter = open("gpu_telemetry_jsonl_writer");
        let needs = exporter.begin(&serde_json::to_string(&info).unwrap()).unwrap();
        assert!(needs.files.is_empty() && needs.tables.is_empty());
    }
}
