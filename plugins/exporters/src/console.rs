//! The tables that a run ends with: errors, then one table per group of metrics, those of GPUs, then what became of the
//! credits, and warnings. The same text goes to the console and into a file.

use aiperf_sdk::{
    Exporter, Result,
    api::report::{Credits, MetricResult, PhaseReport, Report},
    exporter::{ExporterNeeds, Output},
    metric::flags,
};

use crate::{
    gpu,
    numbers::{count_with_separators, with_separators},
    package::{read_info, read_report},
    summary::{Stat, displayed, profiling, shown, warnings},
    table::{Align, Table},
};

/// Place on the console among other exporters.
const ORDER: i32 = 100;

/// A header longer than this pushes its unit to a second line.
const LONG_HEADER: usize = 30;

/// Groups in the order of their tables. `default` is the main table; groups of plugins follow it.
const GROUPS: [&str; 8] = [
    "effective",
    "active",
    "usage",
    "cache",
    "prediction",
    "audio",
    "reasoning",
    DEFAULT,
];
const DEFAULT: &str = "default";
const HIDDEN: &str = "none";

/// Groups of GPU efficiency, with the titles of their tables; their metrics have one value.
const EFFICIENCY: [(&str, &str); 2] = [
    ("gpu_power_efficiency_nvidia", "GPU Power Efficiency (NVIDIA)"),
    ("gpu_power_efficiency_amd", "GPU Power Efficiency (AMD)"),
];

const COLUMNS: [(&str, Stat); 7] = [
    ("avg", |stats| stats.avg),
    ("min", |stats| stats.min),
    ("max", |stats| stats.max),
    ("p99", |stats| stats.p99),
    ("p90", |stats| stats.p90),
    ("p50", |stats| stats.p50),
    ("std", |stats| stats.std),
];

/// Writes the tables.
pub(crate) struct Console;

impl Exporter for Console {
    fn begin(&mut self, info: &str) -> Result<ExporterNeeds> {
        Ok(ExporterNeeds {
            columns: Vec::new(),
            files: vec![read_info(info)?.artifacts.console],
            tables: Vec::new(),
        })
    }

    fn finish(&mut self, report: &str) -> Result<Vec<Output>> {
        let report = read_report(report)?;
        let data = render(&report)?.into_bytes();
        let to = |file: String| Output {
            file,
            order: ORDER,
            append: false,
            data: data.clone(),
        };
        Ok(vec![to(String::new()), to(report.info.artifacts.console)])
    }
}

fn render(report: &Report) -> Result<String> {
    let width = usize::from(report.info.console_width);
    let mut out = String::new();
    if !report.is_complete {
        let reason = report.incomplete_reason.as_deref().unwrap_or("the run was cut short");
        out.push_str(&format!("\nThese results are incomplete: {reason}\n"));
    }
    if let Some(phase) = profiling(report) {
        if !phase.errors.is_empty() {
            out.push_str("\n\n");
            out.push_str(&error_table(phase).draw(width));
        }
        let tables = metric_tables(&report.info.metrics_title, phase);
        if !tables.is_empty() {
            out.push_str("\n\n");
            out.extend(tables.iter().map(|table| table.draw(width)));
        }
    }
    if let Some(section) = report.gpu()? {
        push_gpu(
            &mut out,
            &gpu::Shown::new(&section, profiling(report)),
            profiling(report),
            width,
        );
    }
    out.push('\n');
    if let Some(validity) = &report.validity {
        out.push_str(&format!("Validity: {}\n", validity.line()));
    }
    for phase in &report.phases {
        out.push_str(&format!(
            "Credits of phase `{}`: {}\n",
            phase.name,
            accounting(&phase.credits)
        ));
    }
    for note in profiling(report).into_iter().flat_map(notes).chain(warnings(report)) {
        out.push_str(&format!("Warning: {note}\n"));
    }
    Ok(out)
}

/// Efficiency by vendor, then a table per GPU.
fn push_gpu(out: &mut String, shown: &gpu::Shown<'_>, phase: Option<&PhaseReport>, width: usize) {
    let tables = shown.tables();
    if tables.is_empty() {
        out.push_str(&format!(
            "\n\n{}\nNo GPU telemetry was collected during the run.\n",
            shown.summary()
        ));
        return;
    }
    out.push_str(&format!(
        "\n\nGPU platform: {}. What a GPU metric means depends on its platform; compare across platforms with care.\n",
        shown.platforms().join(", ")
    ));
    for (group, title) in EFFICIENCY {
        let rows = phase
            .into_iter()
            .flat_map(shown_in_tables)
            .filter(|one| group_of(one) == group);
        let mut rows: Vec<&MetricResult> = rows.collect();
        if !rows.is_empty() {
            rows.sort_by_key(|metric| metric.spec.order.unwrap_or(i32::MAX));
            out.push_str("\n\n");
            out.push_str(&metric_table(title.to_owned(), &COLUMNS[..1], &rows).draw(width));
        }
    }
    out.push('\n');
    for table in &tables {
        out.push('\n');
        out.push_str(&table.draw(width));
    }
}

fn error_table(phase: &PhaseReport) -> Table {
    let columns = [
        ("Code", Align::Right),
        ("Type", Align::Right),
        ("Message", Align::Left),
        ("Count", Align::Right),
    ];
    let mut table = Table::new("NVIDIA AIPerf | Error Summary", columns);
    let missing = || "N/A".to_owned();
    for group in &phase.errors {
        table.row(vec![
            group
                .code
                .filter(|&code| code != 0)
                .map_or_else(missing, |code| code.to_string()),
            if group.kind.is_empty() {
                missing()
            } else {
                group.kind.clone()
            },
            group.message.clone(),
            count_with_separators(group.count),
        ]);
    }
    table
}

/// One table per group that has metrics.
fn metric_tables(metrics_title: &str, phase: &PhaseReport) -> Vec<Table> {
    let efficiency = |metric: &&MetricResult| EFFICIENCY.iter().any(|(group, _)| group_of(metric) == *group);
    let visible: Vec<&MetricResult> = shown_in_tables(phase).filter(|metric| !efficiency(metric)).collect();
    let mut groups = GROUPS.to_vec();
    for metric in &visible {
        if !groups.contains(&group_of(metric)) {
            groups.push(group_of(metric));
        }
    }
    groups
        .into_iter()
        .filter_map(|group| {
            let mut rows: Vec<&MetricResult> = visible.iter().copied().filter(|one| group_of(one) == group).collect();
            // Stable: what has no order keeps the order of arrival, behind the rest.
            rows.sort_by_key(|metric| metric.spec.order.filter(|&order| order != 0).unwrap_or(i32::MAX));
            (!rows.is_empty()).then(|| metric_table(title(metrics_title, group), &COLUMNS, &rows))
        })
        .collect()
}

fn shown_in_tables(phase: &PhaseReport) -> impl Iterator<Item = &MetricResult> {
    shown(phase).filter(|metric| !metric.spec.is(flags::ERROR_ONLY) && metric.spec.group != HIDDEN)
}

fn group_of(metric: &MetricResult) -> &str {
    if metric.spec.group.is_empty() {
        DEFAULT
    } else {
        &metric.spec.group
    }
}

fn title(metrics_title: &str, group: &str) -> String {
    if group == DEFAULT {
        return format!("NVIDIA AIPerf | {metrics_title}");
    }
    let mut words = String::new();
    let mut starts = true;
    for one in group.chars() {
        if starts {
            words.extend(one.to_uppercase());
        } else {
            words.push(one);
        }
        starts = !one.is_alphanumeric();
    }
    format!("NVIDIA AIPerf | {metrics_title}: {words}")
}

fn metric_table(title: String, columns: &[(&'static str, Stat)], metrics: &[&MetricResult]) -> Table {
    let names = std::iter::once("Metric").chain(columns.iter().map(|(name, _)| *name));
    let mut table = Table::new(title, names.map(|name| (name, Align::Right)));
    for metric in metrics {
        let value = |stat| displayed(metric, stat).map_or_else(|| "N/A".to_owned(), with_separators);
        let mut row = vec![label(metric)];
        row.extend(columns.iter().map(|(_, stat)| value(*stat)));
        table.row(row);
    }
    table
}

fn label(metric: &MetricResult) -> String {
    let header = &metric.spec.header;
    let separator = if header.chars().count() > LONG_HEADER {
        '\n'
    } else {
        ' '
    };
    format!("{header}{separator}({})", metric.spec.reported_unit())
}

/// `24 issued, 20 completed, 3 failed, 1 cancelled (1 grace_period)`.
fn accounting(credits: &Credits) -> String {
    let cancelled: u64 = credits.cancelled.iter().map(|(_, count)| count).sum();
    let reasons: Vec<String> = credits
        .cancelled
        .iter()
        .map(|(reason, count)| format!("{} {reason}", count_with_separators(*count)))
        .collect();
    let reasons = if reasons.is_empty() {
        String::new()
    } else {
        format!(" ({})", reasons.join(", "))
    };
    format!(
        "{} issued, {} completed, {} failed, {} cancelled{reasons}",
        count_with_separators(credits.issued),
        count_with_separators(credits.completed),
        count_with_separators(credits.failed),
        count_with_separators(cancelled),
    )
}

/// What the numbers themselves say about how far to trust token counts.
fn notes(phase: &PhaseReport) -> Vec<String> {
    let value = |tag: &str| {
        let metric = phase.metrics.iter().find(|metric| metric.spec.tag == tag)?;
        metric.stats.avg.filter(|&value| value > 0.0)
    };
    let share = |tag: &str, what: &str| {
        let (count, of) = (value(tag)?, value("request_count")?);
        Some(format!("{count} of {of} requests ({:.1}%) {what}", 100.0 * count / of))
    };
    [
        share(
            "usage_discrepancy_count",
            "have token counts that differ from those of the server (see usage_*_diff_pct in the records)",
        ),
        share(
            "osl_mismatch_count",
            "have another output length than was asked for (see osl_mismatch_diff_pct in the records)",
        ),
    ]
    .into_iter()
    .flatten()
    .collect()
}

#[cfg(test)]
mod tests {
    use aiperf_sdk::api::report::Stats;

    use super::*;
    use crate::testing::{error_group, finish, metric, phase, report, value};

    fn spread(avg: f64, [min, max, p99, p90, p50, std]: [f64; 6]) -> Stats {
        Stats {
            avg: Some(avg),
            min: Some(min),
            max: Some(max),
            p99: Some(p99),
            p90: Some(p90),
            p50: Some(p50),
            std: Some(std),
            ..Stats::default()
        }
    }

    fn grouped(mut metric: MetricResult, group: &str, order: Option<i32>) -> MetricResult {
        group.clone_into(&mut metric.spec.group);
        metric.spec.order = order;
        metric
    }

    #[test]
    fn the_tables_are_those_of_the_original() {
        let effective = metric(
            "effective_latency",
            "Effective Latency (CO-aware)",
            "ms",
            "",
            spread(80.25, [70.0, 90.5, 90.4, 88.0, 80.0, 4.0]),
        );
        let per_user = metric(
            "output_token_throughput_per_user",
            "Output Token Throughput Per User",
            "tokens/sec/user",
            "",
            spread(728.23, [700.0, 750.5, 750.0, 749.0, 730.0, 12.345]),
        );
        let ttft = metric(
            "time_to_first_token",
            "Time to First Token",
            "ns",
            "ms",
            spread(37_984_000.0, [31.67e6, 43.48e6, 43.4e6, 42.77e6, 38.52e6, 3.5e6]),
        );
        let mut errors = value("error_request_count", "Error Request Count", "requests", 4.0);
        errors.spec.flags |= flags::ERROR_ONLY;
        let profiling = phase(
            "profiling",
            vec![
                grouped(
                    value("request_count", "Request Count", "requests", 1_179.105),
                    "default",
                    Some(1100),
                ),
                grouped(per_user, "default", Some(500)),
                grouped(effective, "effective", None),
                grouped(ttft, "default", Some(100)),
                grouped(errors, "default", None),
                grouped(value("total_isl", "Total", "tokens", 1.0), "none", None),
            ],
        );
        // Drawn by the library that the original uses.
        let expected = "

                           NVIDIA AIPerf | LLM Metrics: Effective                           
┏━━━━━━━━━━━━━━━━━━━━━━━━━━━━━━━━━━━┳━━━━━━━┳━━━━━━━┳━━━━━━━┳━━━━━━━┳━━━━━━━┳━━━━━━━┳━━━━━━┓
┃                            Metric ┃   avg ┃   min ┃   max ┃   p99 ┃   p90 ┃   p50 ┃  std ┃
┡━━━━━━━━━━━━━━━━━━━━━━━━━━━━━━━━━━━╇━━━━━━━╇━━━━━━━╇━━━━━━━╇━━━━━━━╇━━━━━━━╇━━━━━━━╇━━━━━━┩
│ Effective Latency (CO-aware) (ms) │ 80.25 │ 70.00 │ 90.50 │ 90.40 │ 88.00 │ 80.00 │ 4.00 │
└───────────────────────────────────┴───────┴───────┴───────┴───────┴───────┴───────┴──────┘
                                    NVIDIA AIPerf | LLM Metrics                                     
┏━━━━━━━━━━━━━━━━━━━━━━━━━━━━━━━━━━┳━━━━━━━━━━┳━━━━━━━━┳━━━━━━━━┳━━━━━━━━┳━━━━━━━━┳━━━━━━━━┳━━━━━━━┓
┃                           Metric ┃      avg ┃    min ┃    max ┃    p99 ┃    p90 ┃    p50 ┃   std ┃
┡━━━━━━━━━━━━━━━━━━━━━━━━━━━━━━━━━━╇━━━━━━━━━━╇━━━━━━━━╇━━━━━━━━╇━━━━━━━━╇━━━━━━━━╇━━━━━━━━╇━━━━━━━┩
│         Time to First Token (ms) │    37.98 │  31.67 │  43.48 │  43.40 │  42.77 │  38.52 │  3.50 │
│ Output Token Throughput Per User │   728.23 │ 700.00 │ 750.50 │ 750.00 │ 749.00 │ 730.00 │ 12.35 │
│                (tokens/sec/user) │          │        │        │        │        │        │       │
│         Request Count (requests) │ 1,179.11 │    N/A │    N/A │    N/A │    N/A │    N/A │   N/A │
└──────────────────────────────────┴──────────┴────────┴────────┴────────┴────────┴────────┴───────┘

Credits of phase `profiling`: 24 issued, 24 completed, 0 failed, 0 cancelled
";
        assert_eq!(render(&report(vec![profiling])).unwrap(), expected);
    }

    #[test]
    fn errors_stand_first_and_credits_and_warnings_last() {
        let mut failed = phase(
            "profiling",
            vec![value("request_error_rate", "Request Error Rate", "%", 100.0)],
        );
        failed.errors = vec![error_group()];
        failed.credits = Credits {
            issued: 1_007,
            completed: 0,
            failed: 1_004,
            cancelled: vec![("grace_period".to_owned(), 2), ("interrupt".to_owned(), 1)],
        };
        let mut report = report(vec![failed]);
        report.is_complete = false;
        report.incomplete_reason = Some("interrupted by the user".to_owned());
        report.warnings = vec!["the client lagged".to_owned()];
        let text = render(&report).unwrap();
        let places: Vec<usize> = [
            "These results are incomplete: interrupted by the user\n",
            "NVIDIA AIPerf | Error Summary",
            "│  503 │ Service Unavailable │ upstream │     4 │\n│      │                     │ is down  │       │\n",
            "NVIDIA AIPerf | LLM Metrics",
            "Request Error Rate (%)",
            "1,007 issued, 0 completed, 1,004 failed, 3 cancelled (2 grace_period, 1 interrupt)\n",
            "Warning: the client lagged\n",
        ]
        .iter()
        .map(|piece| text.find(piece).unwrap_or_else(|| panic!("{piece} in\n{text}")))
        .collect();
        assert!(places.is_sorted(), "{text}");
    }

    #[test]
    fn console_and_file_get_the_same() {
        let outputs = finish("console", &report(vec![phase("profiling", Vec::new())]));
        let files: Vec<&str> = outputs.iter().map(|output| output.file.as_str()).collect();
        assert_eq!(files, ["", "profile_export_console.txt"]);
        assert_eq!(outputs[0].data, outputs[1].data);
        assert!(
            !String::from_utf8_lossy(&outputs[0].data).contains('┏'),
            "no tables without metrics"
        );
    }

    #[test]
    fn several_profiling_phases_are_not_mistaken_for_one() {
        let mut second = phase("profiling", Vec::new());
        second.name = "high".to_owned();
        let text = render(&report(vec![phase("profiling", Vec::new()), second])).unwrap();
        assert!(
            text.contains("Warning: the run had 2 profiling phases; the summary shows `profiling` alone\n"),
            "{text}"
        );
    }

    #[test]
    fn token_counts_that_disagree_are_noted() {
        let text = render(&report(vec![phase(
            "profiling",
            vec![
                value("request_count", "Request Count", "requests", 24.0),
                grouped(value("usage_discrepancy_count", "D", "requests", 3.0), "none", None),
                grouped(value("osl_mismatch_count", "M", "requests", 0.0), "none", None),
            ],
        )]))
        .unwrap();
        assert!(
            text.contains("Warning: 3 of 24 requests (12.5%) have token counts"),
            "{text}"
        );
        assert!(!text.contains("output length"), "{text}");
    }

    #[test]
    fn groups_of_plugins_get_tables_of_their_own() {
        assert_eq!(
            title("LLM Metrics", "spec_decode"),
            "NVIDIA AIPerf | LLM Metrics: Spec_Decode"
        );
        let text = render(&report(vec![phase(
            "profiling",
            vec![
                grouped(value("a", "A", "count", 1.0), "acme", None),
                value("b", "B", "count", 1.0),
            ],
        )]))
        .unwrap();
        let (main, own) = (text.find("| LLM Metrics  "), text.find("LLM Metrics: Acme"));
        assert!(main.is_some() && main < own, "{text}");
    }
}
