//! The summary as CSV: metrics with percentiles, those of one value, GPU telemetry.

use aiperf_sdk::{
    Exporter, Result,
    api::report::{MetricResult, PhaseReport},
    exporter::{ExporterNeeds, Output},
};

use crate::{
    gpu,
    package::{read_info, read_report},
    summary::{STATS, displayed, profiling, shown},
};

/// Writes the summary CSV.
pub(crate) struct SummaryCsv;

impl Exporter for SummaryCsv {
    fn begin(&mut self, info: &str) -> Result<ExporterNeeds> {
        Ok(ExporterNeeds {
            columns: Vec::new(),
            files: vec![read_info(info)?.artifacts.csv],
            tables: Vec::new(),
        })
    }

    fn finish(&mut self, report: &str) -> Result<Vec<Output>> {
        let report = read_report(report)?;
        let mut text = profiling(&report).map(render).unwrap_or_default();
        if let Some(section) = report.gpu()? {
            text.push_str("\r\n\r\n");
            for cells in gpu::Shown::new(&section, profiling(&report)).rows() {
                row(&mut text, cells);
            }
        }
        Ok(vec![Output {
            file: report.info.artifacts.csv,
            order: 0,
            append: false,
            data: text.into_bytes(),
        }])
    }
}

fn render(phase: &PhaseReport) -> String {
    let mut metrics: Vec<&MetricResult> = shown(phase).collect();
    metrics.sort_by(|a, b| a.spec.tag.cmp(&b.spec.tag));
    let (distributions, values): (Vec<_>, Vec<_>) = metrics.into_iter().partition(|metric| has_percentiles(metric));

    let mut out = String::new();
    if !distributions.is_empty() {
        row(
            &mut out,
            std::iter::once("Metric".to_owned()).chain(STATS.map(|(name, _)| name.to_owned())),
        );
        for metric in &distributions {
            let cells = STATS.map(|(_, stat)| cell(displayed(metric, stat)));
            row(&mut out, std::iter::once(name(metric)).chain(cells));
        }
    }
    if !values.is_empty() {
        if !distributions.is_empty() {
            out.push_str("\r\n");
        }
        row(&mut out, ["Metric".to_owned(), "Value".to_owned()]);
        for metric in &values {
            row(&mut out, [name(metric), cell(displayed(metric, |stats| stats.avg))]);
        }
    }
    out
}

fn has_percentiles(metric: &MetricResult) -> bool {
    STATS
        .iter()
        .any(|(name, stat)| name.starts_with('p') && displayed(metric, *stat).is_some())
}

/// Header and unit; units that the header says already are left out.
fn name(metric: &MetricResult) -> String {
    let (header, unit) = (&metric.spec.header, metric.spec.reported_unit());
    if unit.is_empty() || unit.eq_ignore_ascii_case("count") || unit.eq_ignore_ascii_case("requests") {
        header.clone()
    } else {
        format!("{header} ({unit})")
    }
}

fn cell(value: Option<f64>) -> String {
    value.map(|value| format!("{value:.2}")).unwrap_or_default()
}

/// Appends a row. Only cells that need quotes get them.
fn row(out: &mut String, cells: impl IntoIterator<Item = String>) {
    for (i, cell) in cells.into_iter().enumerate() {
        if i > 0 {
            out.push(',');
        }
        if cell.contains([',', '"', '\r', '\n']) {
            out.push('"');
            out.push_str(&cell.replace('"', "\"\""));
            out.push('"');
        } else {
            out.push_str(&cell);
        }
    }
    out.push_str("\r\n");
}

#[cfg(test)]
mod tests {
    use aiperf_sdk::api::report::Stats;

    use super::*;
    use crate::testing::{finish, latency_stats, metric, phase, report, value};

    fn csv(metrics: Vec<MetricResult>) -> String {
        let outputs = finish("csv", &report(vec![phase("profiling", metrics)]));
        assert_eq!(outputs.len(), 1);
        assert_eq!(outputs[0].file, "profile_export_aiperf.csv");
        String::from_utf8(outputs[0].data.clone()).unwrap()
    }

    #[test]
    fn the_rows_are_those_of_the_reference() {
        let effective = Stats {
            avg: Some(2.81),
            min: Some(0.0),
            max: Some(3.0),
            p50: Some(3.0),
            p90: Some(3.0),
            p95: Some(3.0),
            p99: Some(3.0),
            std: Some(0.51),
            ..Stats::default()
        };
        let adjusted = Stats {
            min: Some(12.42e6),
            p1: Some(12.42e6),
            p5: Some(12.46e6),
            p10: Some(12.55e6),
            p25: Some(12.74e6),
            p50: Some(17.27e6),
            p75: Some(17.61e6),
            ..Stats::default()
        };
        let text = csv(vec![
            value("request_count", "Request Count", "requests", 24.0),
            metric("request_latency", "Request Latency", "ns", "ms", latency_stats()),
            metric(
                "effective_concurrency",
                "Effective Concurrency",
                "requests",
                "",
                effective,
            ),
            metric(
                "adj_decode_duration",
                "Decode Duration (error-adjusted)",
                "ns",
                "ms",
                adjusted,
            ),
            metric(
                "benchmark_duration",
                "Benchmark Duration",
                "ns",
                "sec",
                Stats {
                    avg: Some(641_826_560.0),
                    ..Stats::default()
                },
            ),
        ]);
        let expected = "Metric,avg,min,max,sum,p1,p5,p10,p25,p50,p75,p90,p95,p99,std\r\n\
            Decode Duration (error-adjusted) (ms),,12.42,,,12.42,12.46,12.55,12.74,17.27,17.61,,,,\r\n\
            Effective Concurrency,2.81,0.00,3.00,,,,,,3.00,,3.00,3.00,3.00,0.51\r\n\
            Request Latency (ms),71.06,62.24,80.47,1705.51,62.44,63.51,65.83,67.57,70.70,73.98,76.87,78.68,80.11,4.57\r\n\
            \r\n\
            Metric,Value\r\n\
            Benchmark Duration (sec),0.64\r\n\
            Request Count,24.00\r\n";
        assert_eq!(text, expected);
    }

    #[test]
    fn a_run_of_errors_has_values_alone_and_an_empty_one_nothing() {
        let text = csv(vec![value(
            "error_request_count",
            "Error Request Count",
            "requests",
            4.0,
        )]);
        assert_eq!(text, "Metric,Value\r\nError Request Count,4.00\r\n");
        assert_eq!(csv(Vec::new()), "");
        assert_eq!(finish("csv", &report(Vec::new()))[0].data, b"");
    }

    #[test]
    fn headers_of_plugins_are_quoted_where_needed() {
        let text = csv(vec![
            value("a", "Speed, \"net\"", "MB/s", 1.0),
            value("b", "B", "count", f64::NAN),
        ]);
        assert_eq!(text, "Metric,Value\r\n\"Speed, \"\"net\"\" (MB/s)\",1.00\r\nB,\r\n");
    }

    #[test]
    fn internal_metrics_stay_inside() {
        let mut internal = value("min_request_timestamp", "Minimum Request Timestamp", "ns", 1.0);
        internal.spec.flags |= aiperf_sdk::metric::flags::INTERNAL;
        assert_eq!(csv(vec![internal]), "");
    }
}
