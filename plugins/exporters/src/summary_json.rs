//! The summary as JSON. The keys of the original come first, in its order; ours (`validity`, `credits`, `packages`,
//! `warnings`) last.

use aiperf_sdk::{
    Exporter, PluginError, Result,
    api::report::{ErrorGroup, MetricResult, PackageUse, PhaseReport, Report, Stats},
    api::validity::Validity,
    exporter::{ExporterNeeds, Output},
};
use jiff::{SignedDuration, Timestamp, tz::TimeZone};
use serde_json::Value;

use crate::{
    gpu,
    package::{read_info, read_report},
    pretty::Pretty,
    summary::{Stat, displayed, profiling, shown, warmup, warnings},
};

/// Version of the summary's schema, that of the original.
const SCHEMA_VERSION: &str = "1.4";

/// Metrics that stand ahead of the run's facts, in this order.
const FIRST: [&str; 25] = [
    "request_throughput",
    "request_latency",
    "request_count",
    "time_to_first_token",
    "time_to_second_token",
    "inter_token_latency",
    "output_token_throughput",
    "output_token_throughput_per_user",
    "output_sequence_length",
    "input_sequence_length",
    "goodput",
    "good_request_count",
    "output_token_count",
    "reasoning_token_count",
    "min_request_timestamp",
    "max_response_timestamp",
    "inter_chunk_latency",
    "total_output_tokens",
    "total_reasoning_tokens",
    "benchmark_duration",
    "total_isl",
    "total_osl",
    "error_request_count",
    "error_isl",
    "total_error_isl",
];

/// Statistics in the order of this file.
const STATS: [(&str, Stat); 13] = [
    ("avg", |stats| stats.avg),
    ("p1", |stats| stats.p1),
    ("p5", |stats| stats.p5),
    ("p10", |stats| stats.p10),
    ("p25", |stats| stats.p25),
    ("p50", |stats| stats.p50),
    ("p75", |stats| stats.p75),
    ("p90", |stats| stats.p90),
    ("p95", |stats| stats.p95),
    ("p99", |stats| stats.p99),
    ("min", |stats| stats.min),
    ("max", |stats| stats.max),
    ("std", |stats| stats.std),
];

/// Writes the summary JSON.
pub(crate) struct SummaryJson;

impl Exporter for SummaryJson {
    fn begin(&mut self, info: &str) -> Result<ExporterNeeds> {
        Ok(ExporterNeeds {
            columns: Vec::new(),
            files: vec![read_info(info)?.artifacts.json],
            tables: Vec::new(),
        })
    }

    fn finish(&mut self, report: &str) -> Result<Vec<Output>> {
        let report = read_report(report)?;
        let data = render(&report, &TimeZone::system())?;
        Ok(vec![Output {
            file: report.info.artifacts.json,
            order: 0,
            append: false,
            data,
        }])
    }
}

fn render(report: &Report, zone: &TimeZone) -> Result<Vec<u8>> {
    let phase = profiling(report);
    let metrics: Vec<&MetricResult> = phase.into_iter().flat_map(shown).collect();
    let times = match phase {
        Some(phase) => Some((
            local_time(phase.start_wall_ns, zone)?,
            local_time(phase.end_wall_ns, zone)?,
        )),
        None => None,
    };
    let section = report.gpu()?;
    let mut json = Pretty::default();
    json.object(|json| {
        json.key("schema_version").text(SCHEMA_VERSION);
        json.key("aiperf_version").text(&report.info.tool_version);
        json.key("benchmark_id").text(&report.info.benchmark_id);
        for tag in FIRST {
            for metric in metrics.iter().filter(|metric| metric.spec.tag == tag) {
                write_metric(json, metric);
            }
        }
        if let Some(section) = &section {
            let time = |wall_ns| local_time(wall_ns, zone).ok();
            json.key("telemetry_data")
                .object(|json| gpu::Shown::new(section, phase).write_json(json, phase, time));
        }
        json.key("input_config").value(&report.info.input_config);
        json.key("run_info").object(|json| write_run_info(json, report));
        json.key("was_cancelled").truth(report.was_cancelled);
        json.key("is_complete").truth(report.is_complete);
        if let Some(reason) = &report.incomplete_reason {
            json.key("incomplete_reason").text(reason);
        }
        json.key("error_summary").list(|json| {
            for group in phase.into_iter().flat_map(|phase| &phase.errors) {
                json.item().object(|json| write_errors(json, group));
            }
        });
        if let Some((start, end)) = &times {
            json.key("start_time").text(start);
            json.key("end_time").text(end);
        }
        if let Some(warmup) = warmup(report).filter(|phase| shown(phase).next().is_some()) {
            json.key("warmup_metrics").object(|json| {
                for metric in shown(warmup) {
                    write_metric(json, metric);
                }
            });
        }
        for metric in metrics
            .iter()
            .filter(|metric| !FIRST.contains(&metric.spec.tag.as_str()))
        {
            write_metric(json, metric);
        }
        write_additions(json, report);
    });
    Ok(json.into_bytes())
}

fn write_metric(json: &mut Pretty, metric: &MetricResult) {
    json.key(&metric.spec.tag).object(|json| {
        json.key("unit").text(metric.spec.reported_unit());
        write_stats(json, &metric.stats, |stat| displayed(metric, stat));
        if let Some(precision) = &metric.precision {
            json.key("precision").text(precision);
        }
    });
}

/// Writes what there is of statistics; `value` gives each as it is to be shown.
pub(crate) fn write_stats(json: &mut Pretty, stats: &Stats, value: impl Fn(Stat) -> Option<f64>) {
    for (name, stat) in STATS {
        if let Some(value) = value(stat) {
            json.key(name).real(value);
        }
    }
    if let Some(count) = stats.count {
        json.key("count").integer(count);
    }
    if let Some(sum) = value(|stats| stats.sum) {
        json.key("sum").real(sum);
    }
}

fn write_run_info(json: &mut Pretty, report: &Report) {
    json.key("benchmark_id").text(&report.info.benchmark_id);
    if let Some(seed) = report.info.random_seed {
        json.key("random_seed").integer(seed);
    }
    json.key("trial").integer(0);
    json.key("cli_command").text(&report.info.cli_command);
}

fn write_errors(json: &mut Pretty, group: &ErrorGroup) {
    json.key("error_details").object(|json| {
        if let Some(code) = group.code {
            json.key("code").integer(code.into());
        }
        json.key("type").text(&group.kind);
        json.key("message").text(&group.message);
    });
    json.key("count").integer(group.count);
}

fn write_additions(json: &mut Pretty, report: &Report) {
    if let Some(validity) = &report.validity {
        json.key("validity").value(&validity_value(validity));
    }
    json.key("credits").list(|json| {
        for phase in &report.phases {
            json.item().object(|json| write_credits(json, phase));
        }
    });
    json.key("packages").list(|json| {
        for package in &report.packages {
            json.item().object(|json| write_package(json, package));
        }
    });
    json.key("warnings").list(|json| write_texts(json, &warnings(report)));
}

/// The verdict; times as they are, in ns.
fn validity_value(validity: &Validity) -> Value {
    let mut value = serde_json::to_value(validity).unwrap_or_default();
    // Each phase an object with its name, rather than a pair.
    value["phases"] = validity
        .phases
        .iter()
        .map(|(name, fidelity)| {
            let mut fidelity = serde_json::to_value(fidelity).unwrap_or_default();
            fidelity["phase"] = name.as_str().into();
            fidelity
        })
        .collect();
    value
}

fn write_credits(json: &mut Pretty, phase: &PhaseReport) {
    json.key("phase").text(&phase.name);
    json.key("kind").text(&phase.kind);
    json.key("issued").integer(phase.credits.issued);
    json.key("completed").integer(phase.credits.completed);
    json.key("failed").integer(phase.credits.failed);
    json.key("cancelled").object(|json| {
        for (reason, count) in &phase.credits.cancelled {
            json.key(reason).integer(*count);
        }
    });
}

fn write_package(json: &mut Pretty, package: &PackageUse) {
    json.key("name").text(&package.name);
    json.key("version").text(&package.version);
    json.key("form").text(&package.form);
    if let Some(sha256) = &package.sha256 {
        json.key("sha256").text(sha256);
    }
    json.key("entries").list(|json| write_texts(json, &package.entries));
    json.key("shadowed").list(|json| write_texts(json, &package.shadowed));
    if !package.granted.is_empty() {
        json.key("granted").list(|json| write_texts(json, &package.granted));
    }
    json.key("calls").integer(package.calls);
    json.key("time_ns").integer(package.time_ns);
    json.key("skipped").integer(package.skipped);
}

fn write_texts(json: &mut Pretty, texts: &[String]) {
    for text in texts {
        json.item().text(text);
    }
}

/// A time of the wall clock as the original prints it: local, without offset, in microseconds, which are left out when 0.
fn local_time(wall_ns: u64, zone: &TimeZone) -> Result<String> {
    let micros = wall_ns / 1_000 + u64::from(wall_ns % 1_000 >= 500);
    let time = Timestamp::UNIX_EPOCH
        .checked_add(SignedDuration::from_micros(micros as i64))
        .map_err(|error| PluginError::input(format!("the report: {wall_ns} ns is no time: {error}")))?
        .to_zoned(zone.clone());
    let format = if micros.is_multiple_of(1_000_000) {
        "%Y-%m-%dT%H:%M:%S"
    } else {
        "%Y-%m-%dT%H:%M:%S.%6f"
    };
    Ok(time.strftime(format).to_string())
}

#[cfg(test)]
mod tests {
    use aiperf_sdk::api::report::Credits;

    use super::*;
    use crate::testing::{error_group, latency_stats, metric, phase, report, value};

    fn text(report: &Report) -> String {
        String::from_utf8(render(report, &TimeZone::UTC).unwrap()).unwrap()
    }

    /// Keys of the outermost object, in the order of the file.
    fn keys(text: &str) -> Vec<String> {
        text.lines()
            .filter_map(|line| {
                line.strip_prefix("  \"")?
                    .split_once('"')
                    .map(|(key, _)| key.to_owned())
            })
            .collect()
    }

    #[test]
    fn keys_stand_in_the_order_of_the_reference() {
        let mut report = report(vec![
            phase("warmup", vec![value("request_count", "Request Count", "requests", 2.0)]),
            phase(
                "profiling",
                vec![
                    value("decode_duration", "Decode Duration", "ns", 1.0),
                    value("total_isl", "Total Input Sequence Length", "tokens", 240.0),
                    metric("request_latency", "Request Latency", "ns", "ms", latency_stats()),
                    value("request_throughput", "Request Throughput", "requests/sec", 36.0),
                ],
            ),
        ]);
        report.incomplete_reason = Some("interrupted".to_owned());
        assert_eq!(
            keys(&text(&report)),
            [
                "schema_version",
                "aiperf_version",
                "benchmark_id",
                "request_throughput",
                "request_latency",
                "total_isl",
                "input_config",
                "run_info",
                "was_cancelled",
                "is_complete",
                "incomplete_reason",
                "error_summary",
                "start_time",
                "end_time",
                "warmup_metrics",
                "decode_duration",
                "credits",
                "packages",
                "warnings",
            ]
        );
    }

    #[test]
    fn a_whole_file() {
        let mut profiling = phase(
            "profiling",
            vec![
                metric(
                    "time_to_first_token",
                    "Time to First Token",
                    "ns",
                    "ms",
                    Stats {
                        avg: Some(24_000_000.0),
                        p50: Some(24_500_000.0),
                        min: Some(10.0),
                        max: Some(f64::INFINITY),
                        count: Some(2),
                        sum: Some(48_000_000.0),
                        ..Stats::default()
                    },
                ),
                value("request_count", "Request Count", "requests", 24.0),
            ],
        );
        profiling.errors = vec![error_group()];
        profiling.credits = Credits {
            issued: 7,
            completed: 2,
            failed: 4,
            cancelled: vec![("grace_period".to_owned(), 1)],
        };
        let mut report = report(vec![profiling]);
        report.info.input_config = serde_json::json!({"phases": [{"rate": 10.0, "requests": 24}]});
        report.info.random_seed = Some(1);
        report.warnings = vec!["the client lagged".to_owned()];
        let expected = r#"{
  "schema_version": "1.4",
  "aiperf_version": "0.1.0",
  "benchmark_id": "abc123",
  "request_count": {
    "unit": "requests",
    "avg": 24.0
  },
  "time_to_first_token": {
    "unit": "ms",
    "avg": 24.0,
    "p50": 24.5,
    "min": 9.999999999999999e-06,
    "count": 2,
    "sum": 48.0
  },
  "input_config": {
    "phases": [
      {
        "rate": 10.0,
        "requests": 24
      }
    ]
  },
  "run_info": {
    "benchmark_id": "abc123",
    "random_seed": 1,
    "trial": 0,
    "cli_command": "aiperf profile -m \"a b\""
  },
  "was_cancelled": false,
  "is_complete": true,
  "error_summary": [
    {
      "error_details": {
        "code": 503,
        "type": "Service Unavailable",
        "message": "upstream\nis down"
      },
      "count": 4
    }
  ],
  "start_time": "2026-01-01T00:00:00.161565",
  "end_time": "2026-01-01T00:00:00.812906",
  "credits": [
    {
      "phase": "profiling",
      "kind": "profiling",
      "issued": 7,
      "completed": 2,
      "failed": 4,
      "cancelled": {
        "grace_period": 1
      }
    }
  ],
  "packages": [],
  "warnings": [
    "the client lagged"
  ]
}"#;
        assert_eq!(text(&report), expected);
    }

    #[test]
    fn statistics_stand_in_their_order() {
        let text = text(&report(vec![phase(
            "profiling",
            vec![metric(
                "request_latency",
                "Request Latency",
                "ns",
                "ms",
                latency_stats(),
            )],
        )]));
        let from = text.find("\"request_latency\"").unwrap();
        let object = &text[from..text.find("\"input_config\"").unwrap()];
        let names: Vec<&str> = object
            .lines()
            .filter_map(|line| line.strip_prefix("    \"")?.split_once('"').map(|(key, _)| key))
            .collect();
        assert_eq!(
            names,
            [
                "unit", "avg", "p1", "p5", "p10", "p25", "p50", "p75", "p90", "p95", "p99", "min", "max", "std",
                "count", "sum"
            ]
        );
        assert!(object.contains("\"count\": 24,"));
    }

    #[test]
    fn runs_without_metrics_or_phases_are_valid_json() {
        let mut failed = phase("profiling", Vec::new());
        failed.errors = vec![error_group()];
        for report in [report(vec![failed]), report(Vec::new())] {
            let value: serde_json::Value = serde_json::from_str(&text(&report)).unwrap();
            assert_eq!(value["error_summary"].as_array().unwrap().len(), report.phases.len());
            assert_eq!(value.get("start_time").is_some(), !report.phases.is_empty());
        }
    }

    #[test]
    fn packages_are_named() {
        let mut report = report(Vec::new());
        report.packages = vec![PackageUse {
            name: "acme".to_owned(),
            version: "2.1.0".to_owned(),
            form: "native".to_owned(),
            sha256: Some("4f0c".to_owned()),
            entries: vec!["endpoint/acme_chat".to_owned()],
            shadowed: Vec::new(),
            granted: vec!["secrets".into()],
            calls: 3,
            time_ns: 4,
            skipped: 0,
        }];
        let value: serde_json::Value = serde_json::from_str(&text(&report)).unwrap();
        let package = serde_json::json!([{
            "name": "acme", "version": "2.1.0", "form": "native", "sha256": "4f0c",
            "entries": ["endpoint/acme_chat"], "shadowed": [], "granted": ["secrets"], "calls": 3, "time_ns": 4, "skipped": 0
        }]);
        assert_eq!(value["packages"], package);
    }

    #[test]
    fn local_times_have_microseconds_unless_they_are_zero() {
        let paris = TimeZone::fixed(jiff::tz::offset(1));
        // 2026-01-01T00:00:00Z is 1,767,225,600 s.
        for (wall_ns, zone, expected) in [
            (1_767_225_600_000_000_000, &TimeZone::UTC, "2026-01-01T00:00:00"),
            (1_767_225_600_000_000_499, &TimeZone::UTC, "2026-01-01T00:00:00"),
            (1_767_225_600_000_000_500, &TimeZone::UTC, "2026-01-01T00:00:00.000001"),
            (1_767_225_600_123_456_789, &paris, "2026-01-01T01:00:00.123457"),
        ] {
            assert_eq!(local_time(wall_ns, zone).unwrap(), expected);
        }
    }
}
