//! What exporters are told.

use aiperf_sdk::{
    MetricKind, MetricSpec,
    api::report::{
        ArtifactNames, CatalogueEntry, Credits, ErrorGroup, MetricResult, PackageUse, PhaseReport, Report, RunInfo,
        SCHEMA_VERSION, Stats,
    },
    metric::flags,
};
use serde_json::json;

/// As it crosses.
pub(crate) fn json(value: &impl serde::Serialize) -> String {
    serde_json::to_string(value).unwrap_or_default()
}

/// Facts of a usual run, as they cross.
pub(crate) fn info_json() -> String {
    json(&info())
}

fn entry(tag: &str, header: &str, unit: &str, display: &str, kind: MetricKind, flags: u64) -> CatalogueEntry {
    CatalogueEntry {
        spec: MetricSpec {
            short_header: header.split(' ').next().unwrap_or_default().to_owned(),
            display_unit: display.to_owned(),
            flags,
            ..MetricSpec::new(tag, header, unit, kind)
        },
        factor: if (unit, display) == ("ns", "ms") { 1e-6 } else { 1.0 },
    }
}

fn catalogue() -> Vec<CatalogueEntry> {
    use MetricKind::{Derived, List, Record, Sum};
    vec![
        entry(
            "time_to_first_token",
            "Time to First Token",
            "ns",
            "ms",
            Record,
            flags::INTEGER,
        ),
        entry("request_latency", "Request Latency", "ns", "ms", Record, flags::INTEGER),
        entry("inter_token_latency", "Inter Token Latency", "ns", "ms", Record, 0),
        entry(
            "inter_chunk_latency",
            "Inter Chunk Latency",
            "ns",
            "ms",
            List,
            flags::INTEGER,
        ),
        entry(
            "output_sequence_length",
            "Output Sequence Length",
            "tokens",
            "",
            Record,
            flags::INTEGER,
        ),
        entry("acme_score", "Acme Score", "points", "", Record, flags::REAL),
        entry("request_count", "Request Count", "requests", "", Sum, flags::INTEGER),
        entry(
            "request_throughput",
            "Request Throughput",
            "requests/sec",
            "",
            Derived,
            flags::LARGER_IS_BETTER,
        ),
        entry("hidden", "Hidden", "ns", "ms", Record, flags::INTERNAL),
    ]
}

fn info() -> RunInfo {
    RunInfo {
        schema_version: SCHEMA_VERSION.to_owned(),
        tool_version: "0.1.0".to_owned(),
        benchmark_id: "0123456789abcdef".to_owned(),
        cli_command: "aiperf profile --model m --url http://127.0.0.1:8000".to_owned(),
        random_seed: Some(42),
        input_config: json!({ "endpoint": { "type": "chat", "streaming": true }, "phases": [{ "rate": 2.5 }] }),
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
        catalogue: catalogue(),
        console_width: 100,
        http_trace: false,
    }
}

fn stats(kind: MetricKind, scale: f64) -> Stats {
    if !matches!(kind, MetricKind::Record | MetricKind::List) {
        return Stats {
            avg: Some(64.0 * scale),
            ..Stats::default()
        };
    }
    Stats {
        avg: Some(5.5 * scale),
        p1: Some(1.0 * scale),
        p5: Some(1.5 * scale),
        p10: Some(2.0 * scale),
        p25: Some(3.25 * scale),
        p50: Some(5.5 * scale),
        p75: Some(7.75 * scale),
        p90: Some(9.0 * scale),
        p95: Some(9.5 * scale),
        p99: Some(9.9 * scale),
        min: Some(1.0 * scale),
        max: Some(10.0 * scale),
        std: Some(2.87 * scale),
        count: Some(64),
        sum: Some(352.0 * scale),
    }
}

fn phase(kind: &str, index: u32, metrics: Vec<MetricResult>, errors: Vec<ErrorGroup>) -> PhaseReport {
    let failed = errors.iter().map(|group| group.count).sum();
    PhaseReport {
        name: kind.to_owned(),
        kind: kind.to_owned(),
        index,
        profiling_index: (kind == "profiling").then_some(0),
        start_wall_ns: 1_767_225_600_000_000_000,
        end_wall_ns: 1_767_225_612_500_000_000,
        credits: Credits {
            issued: 64 + failed,
            completed: if metrics.is_empty() { 0 } else { 64 },
            failed,
            cancelled: Vec::new(),
        },
        metrics,
        errors,
        slices: Vec::new(),
    }
}

/// The report of a usual run.
pub(crate) fn usual() -> Report {
    let info = info();
    let metrics: Vec<MetricResult> = info
        .catalogue
        .iter()
        .map(|entry| MetricResult {
            spec: entry.spec.clone(),
            factor: entry.factor,
            stats: stats(entry.spec.kind, if entry.factor == 1.0 { 1.0 } else { 1e6 }),
            precision: None,
        })
        .collect();
    let errors = vec![ErrorGroup {
        code: Some(503),
        kind: "Service Unavailable".to_owned(),
        message: "the server is busy".to_owned(),
        count: 3,
    }];
    Report {
        phases: vec![
            phase("warmup", 0, metrics.clone(), Vec::new()),
            phase("profiling", 1, metrics, errors),
        ],
        was_cancelled: false,
        is_complete: true,
        incomplete_reason: None,
        packages: vec![PackageUse {
            name: "acme".to_owned(),
            version: "1.0.0".to_owned(),
            form: "native".to_owned(),
            sha256: Some("00".repeat(32)),
            entries: vec!["endpoint/acme".to_owned()],
            shadowed: Vec::new(),
            granted: Vec::new(),
            calls: 67,
            time_ns: 12_345,
            skipped: 0,
        }],
        warnings: vec!["a warning".to_owned()],
        validity: None,
        sections: serde_json::Map::new(),
        info,
    }
}

/// The report of a run without phases: nothing was sent.
pub(crate) fn nothing() -> Report {
    let mut report = usual();
    report.phases.clear();
    report.packages.clear();
    report.warnings.clear();
    report.info.catalogue.clear();
    report.info.random_seed = None;
    report.info.artifacts.records = None;
    report.info.artifacts.raw = None;
    report.info.artifacts.gpu = None;
    report
}

/// The report of a run in which every request failed and which was cut short.
pub(crate) fn errors_only() -> Report {
    let mut report = usual();
    let group = |code, kind: &str, message: &str| ErrorGroup {
        code,
        kind: kind.to_owned(),
        message: message.to_owned(),
        count: 7,
    };
    let errors = vec![
        group(Some(500), "Internal Server Error", "out of memory"),
        group(None, "ConnectError", "connection refused"),
        group(None, "", ""),
    ];
    let mut phase = phase("profiling", 0, Vec::new(), errors);
    phase.credits.cancelled = vec![("grace_period".to_owned(), 4), ("interrupt".to_owned(), 1)];
    report.phases = vec![phase];
    report.was_cancelled = true;
    report.is_complete = false;
    report.incomplete_reason = Some("cancelled by the user".to_owned());
    report
}

/// A usual report in which most statistics don't exist.
pub(crate) fn missing() -> Report {
    let mut report = usual();
    for (index, metric) in report
        .phases
        .iter_mut()
        .flat_map(|phase| &mut phase.metrics)
        .enumerate()
    {
        metric.stats = match index % 3 {
            0 => Stats::default(),
            1 => Stats {
                avg: Some(0.0),
                count: Some(0),
                ..Stats::default()
            },
            _ => Stats {
                avg: Some(1e300),
                min: Some(-1e300),
                max: Some(5e-324),
                ..Stats::default()
            },
        };
    }
    report
}

/// A usual report with an odd text wherever a text is free.
pub(crate) fn odd(text: &str) -> Report {
    let mut report = usual();
    let odd = || text.to_owned();
    report.info.cli_command = odd();
    report.info.endpoint_type = odd();
    report.info.metrics_title = odd();
    report.info.input_config = json!({ "model": text, text: [text] });
    for entry in &mut report.info.catalogue {
        entry.spec.header = odd();
    }
    for phase in &mut report.phases {
        phase.name = odd();
        phase.errors.push(ErrorGroup {
            code: None,
            kind: odd(),
            message: odd(),
            count: 1,
        });
        for metric in &mut phase.metrics {
            metric.spec.header = odd();
            metric.spec.display_unit = odd();
            metric.precision = Some(odd());
        }
    }
    report.incomplete_reason = Some(odd());
    report.warnings.push(odd());
    report
}
