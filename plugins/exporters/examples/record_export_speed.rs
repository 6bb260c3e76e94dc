//! Measures `record_export`: `cargo run --release -p aiperf-exporters --example record_export_speed`.

use std::{error::Error, sync::Arc, time::Instant};

use aiperf_exporters::BuiltIn;
use aiperf_sdk::{
    Batch, ColumnRef, MetricKind, MetricSpec, Package, Validity,
    api::report::{ArtifactNames, CatalogueEntry, RunInfo},
    fields,
    host::NoHost,
    metric::{Population, flags},
    package::Open,
};

const RECORDS: usize = 1024;
const BATCHES: usize = 200;

/// Metrics of a streaming chat run: twelve times in ns shown in ms, three counts, three rates.
const TIMES: usize = 12;
const COUNTS: usize = 3;
const RATES: usize = 3;

fn entry(tag: String, kind: MetricKind, unit: &str, display_unit: &str, flags: u64, factor: f64) -> CatalogueEntry {
    CatalogueEntry {
        spec: MetricSpec {
            tag,
            header: String::new(),
            short_header: String::new(),
            unit: unit.to_owned(),
            display_unit: display_unit.to_owned(),
            kind,
            population: Population::Valid,
            group: "default".to_owned(),
            order: None,
            flags,
        },
        factor,
    }
}

fn run_info(with_gaps: bool) -> RunInfo {
    let time = |i| {
        entry(
            format!("some_latency_{i:02}"),
            MetricKind::Record,
            "ns",
            "ms",
            flags::INTEGER,
            1e-6,
        )
    };
    let count = |i| {
        entry(
            format!("token_count_{i:02}"),
            MetricKind::Record,
            "tokens",
            "",
            flags::INTEGER,
            1.0,
        )
    };
    let rate = |i| {
        entry(
            format!("throughput_{i:02}"),
            MetricKind::Record,
            "tokens/sec/user",
            "",
            0,
            1.0,
        )
    };
    let gaps = entry(
        "inter_chunk_latency".to_owned(),
        MetricKind::List,
        "ns",
        "ms",
        flags::INTEGER,
        1e-6,
    );
    let mut catalogue: Vec<CatalogueEntry> = (0..TIMES).map(time).collect();
    catalogue.extend((0..COUNTS).map(count));
    catalogue.extend((0..RATES).map(rate));
    catalogue.extend(with_gaps.then_some(gaps));
    RunInfo {
        schema_version: "1.0".to_owned(),
        tool_version: "0".to_owned(),
        benchmark_id: String::new(),
        cli_command: String::new(),
        random_seed: None,
        input_config: serde_json::Value::Null,
        endpoint_type: "chat".to_owned(),
        metrics_title: "LLM Metrics".to_owned(),
        artifacts: ArtifactNames {
            json: String::new(),
            csv: String::new(),
            records: Some("profile_export.jsonl".to_owned()),
            raw: None,
            gpu: None,
            console: String::new(),
        },
        catalogue,
        console_width: 140,
        http_trace: false,
    }
}

fn measure(gaps_per_record: usize) -> Result<(), Box<dyn Error>> {
    let open = Open {
        entry: "record_export".to_owned(),
        options: String::new(),
        core: String::new(),
        host: Arc::new(NoHost),
    };
    let mut exporter = BuiltIn::exporter(open)?;
    let needs = exporter.begin(&serde_json::to_string(&run_info(gaps_per_record > 0))?)?;

    let uuid = "0b5f3b9e-6f7e-4c58-9d0c-6a4d3f1b2c7d";
    let text = uuid.repeat(RECORDS);
    let text_ends: Vec<u32> = (1..=RECORDS).map(|i| (i * uuid.len()) as u32).collect();
    let numbers: Vec<u64> = (0..RECORDS as u64)
        .map(|i| 1_767_225_600_000_000_000 + i * 7_919_131)
        .collect();
    let times: Vec<u64> = (0..RECORDS as u64).map(|i| 12_345_678 + i * 7_919).collect();
    let counts: Vec<u64> = (0..RECORDS as u64).map(|i| i % 900).collect();
    let rates: Vec<f64> = times.iter().map(|&time| 1e9 / time as f64).collect();
    let gap_ends: Vec<u32> = (1..=RECORDS).map(|i| (i * gaps_per_record) as u32).collect();
    let gaps: Vec<u64> = (0..(RECORDS * gaps_per_record) as u64)
        .map(|i| 4_000_000 + i * 131 % 900_001)
        .collect();

    let columns: Vec<ColumnRef<'_>> = needs
        .columns
        .iter()
        .map(|name| match name.as_str() {
            fields::REQUEST_ID
            | fields::CORRELATION_ID
            | fields::CONVERSATION_ID
            | fields::WORKER_ID
            | fields::RECORD_PROCESSOR_ID
            | fields::PHASE_NAME
            | fields::PHASE_KIND => ColumnRef::Text(&text_ends, &text, Validity::All),
            fields::ERROR_CODE | fields::ERROR_TYPE | fields::ERROR_MESSAGE => ColumnRef::Missing,
            "inter_chunk_latency" => ColumnRef::U64List(&gap_ends, &gaps, Validity::All),
            name if name.starts_with("some_latency") => ColumnRef::U64(&times, Validity::All),
            name if name.starts_with("token_count") => ColumnRef::U64(&counts, Validity::All),
            name if name.starts_with("throughput") => ColumnRef::F64(&rates, Validity::All),
            _ => ColumnRef::U64(&numbers, Validity::All),
        })
        .collect();
    let batch = Batch {
        len: RECORDS,
        columns: &columns,
    };
    let (start, mut bytes) = (Instant::now(), 0);
    for _ in 0..BATCHES {
        bytes += exporter
            .write(&batch)?
            .iter()
            .map(|output| output.data.len())
            .sum::<usize>();
    }
    let records = (RECORDS * BATCHES) as f64;
    println!(
        "{gaps_per_record:>4} gaps: {:.2} us and {:.0} bytes per record",
        start.elapsed().as_secs_f64() * 1e6 / records,
        bytes as f64 / records,
    );
    Ok(())
}

fn main() -> Result<(), Box<dyn Error>> {
    for gaps in [0, 20, 200] {
        measure(gaps)?;
    }
    Ok(())
}
