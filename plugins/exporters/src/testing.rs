//! Reports and records for tests.

pub(crate) mod records;

use std::sync::Arc;

use aiperf_sdk::{
    Exporter, MetricKind, MetricSpec, Package,
    api::report::{ArtifactNames, Credits, ErrorGroup, MetricResult, PhaseReport, Report, RunInfo, Stats},
    exporter::Output,
    host::NoHost,
    metric::Population,
    package::Open,
};

use crate::BuiltIn;

/// Opens an exporter.
pub(crate) fn open(entry: &str) -> Box<dyn Exporter> {
    BuiltIn::exporter(Open {
        entry: entry.to_owned(),
        options: String::new(),
        core: String::new(),
        host: Arc::new(NoHost),
    })
    .unwrap()
}

/// Runs an exporter that wants no records.
pub(crate) fn finish(entry: &str, report: &Report) -> Vec<Output> {
    let mut exporter = open(entry);
    let needs = exporter.begin(&serde_json::to_string(&report.info).unwrap()).unwrap();
    assert!(needs.columns.is_empty());
    let outputs = exporter.finish(&serde_json::to_string(report).unwrap()).unwrap();
    for output in outputs.iter().filter(|output| !output.file.is_empty()) {
        assert!(needs.files.contains(&output.file), "{} was announced", output.file);
    }
    outputs
}

pub(crate) fn spec(tag: &str, header: &str, unit: &str, display_unit: &str) -> MetricSpec {
    MetricSpec {
        tag: tag.to_owned(),
        header: header.to_owned(),
        short_header: String::new(),
        unit: unit.to_owned(),
        display_unit: display_unit.to_owned(),
        kind: MetricKind::Record,
        population: Population::Valid,
        group: "default".to_owned(),
        order: None,
        flags: 0,
    }
}

pub(crate) fn factor(unit: &str, display_unit: &str) -> f64 {
    match (unit, display_unit) {
        ("ns", "ms") => 1e-6,
        ("ns", "sec") => 1e-9,
        _ => 1.0,
    }
}

pub(crate) fn metric(tag: &str, header: &str, unit: &str, display_unit: &str, stats: Stats) -> MetricResult {
    MetricResult {
        spec: spec(tag, header, unit, display_unit),
        factor: factor(unit, display_unit),
        stats,
        precision: None,
    }
}

/// A metric of one value.
pub(crate) fn value(tag: &str, header: &str, unit: &str, avg: f64) -> MetricResult {
    let stats = Stats {
        avg: Some(avg),
        ..Stats::default()
    };
    metric(tag, header, unit, "", stats)
}

/// The latencies of the reference's sample, in ns.
pub(crate) fn latency_stats() -> Stats {
    Stats {
        avg: Some(71.06e6),
        p1: Some(62.44e6),
        p5: Some(63.51e6),
        p10: Some(65.83e6),
        p25: Some(67.57e6),
        p50: Some(70.70e6),
        p75: Some(73.98e6),
        p90: Some(76.87e6),
        p95: Some(78.68e6),
        p99: Some(80.11e6),
        min: Some(62.24e6),
        max: Some(80.47e6),
        std: Some(4.57e6),
        count: Some(24),
        sum: Some(1_705.51e6),
    }
}

pub(crate) fn error_group() -> ErrorGroup {
    ErrorGroup {
        code: Some(503),
        kind: "Service Unavailable".to_owned(),
        message: "upstream\nis down".to_owned(),
        count: 4,
    }
}

/// A phase of 24 requests from 2026-01-01T00:00:00.161565Z to 0.812906.
pub(crate) fn phase(kind: &str, metrics: Vec<MetricResult>) -> PhaseReport {
    PhaseReport {
        name: kind.to_owned(),
        kind: kind.to_owned(),
        index: 0,
        profiling_index: (kind == "profiling").then_some(0),
        start_wall_ns: 1_767_225_600_161_565_000,
        end_wall_ns: 1_767_225_600_812_906_000,
        credits: Credits {
            issued: 24,
            completed: 24,
            failed: 0,
            cancelled: Vec::new(),
        },
        metrics,
        errors: Vec::new(),
        slices: Vec::new(),
    }
}

pub(crate) fn info() -> RunInfo {
    RunInfo {
        schema_version: "1.0".to_owned(),
        tool_version: "0.1.0".to_owned(),
        benchmark_id: "abc123".to_owned(),
        cli_command: "aiperf profile -m \"a b\"".to_owned(),
        random_seed: None,
        input_config: serde_json::json!({}),
        endpoint_type: "chat".to_owned(),
        metrics_title: "LLM Metrics".to_owned(),
        artifacts: ArtifactNames {
            json: "profile_export_aiperf.json".to_owned(),
            csv: "profile_export_aiperf.csv".to_owned(),
            records: Some("profile_export.jsonl".to_owned()),
            raw: Some("profile_export_raw.jsonl".to_owned()),
            gpu: Some("gpu_telemetry_export.jsonl".to_owned()),
            console: "profile_export_console.txt".to_owned(),
        },
        catalogue: Vec::new(),
        console_width: 140,
        http_trace: false,
    }
}

pub(crate) fn report(phases: Vec<PhaseReport>) -> Report {
    Report {
        info: info(),
        phases,
        was_cancelled: false,
        is_complete: true,
        incomplete_reason: None,
        packages: Vec::new(),
        warnings: Vec::new(),
        validity: None,
        sections: serde_json::Map::new(),
    }
}
