//! From a report to Markdown.

use std::fmt::Write;

use aiperf_sdk::report::{MetricResult, PhaseReport, Report, Stats};

/// A statistic of a metric.
type Stat = fn(&Stats) -> Option<f64>;

/// Columns of a metric table.
const COLUMNS: [(&str, Stat); 6] = [
    ("avg", |stats| stats.avg),
    ("min", |stats| stats.min),
    ("p50", |stats| stats.p50),
    ("p90", |stats| stats.p90),
    ("p99", |stats| stats.p99),
    ("max", |stats| stats.max),
];

/// The report as text.
pub fn render(title: &str, report: &Report) -> String {
    let mut text = format!("# {}\n\n", escaped(title));
    let info = &report.info;
    row(&mut text, ["run", &info.benchmark_id]);
    row(&mut text, ["---", "---"]);
    row(&mut text, ["tool", &info.tool_version]);
    row(&mut text, ["endpoint", &info.endpoint_type]);
    row(&mut text, ["command", &info.cli_command]);
    if let Some(reason) = &report.incomplete_reason {
        let _ = writeln!(text, "\n**Incomplete:** {}", escaped(reason));
    }
    for warning in &report.warnings {
        let _ = writeln!(text, "\n**Warning:** {}", escaped(warning));
    }
    for phase in &report.phases {
        write_phase(&mut text, phase);
    }
    if !report.packages.is_empty() {
        text.push_str("\n## Packages\n\n");
        row(&mut text, ["package", "version", "form", "entries"]);
        row(&mut text, ["---"; 4]);
        for package in &report.packages {
            row(
                &mut text,
                [
                    &package.name,
                    &package.version,
                    &package.form,
                    &package.entries.join(", "),
                ],
            );
        }
    }
    text
}

fn write_phase(text: &mut String, phase: &PhaseReport) {
    let credits = &phase.credits;
    let cancelled: u64 = credits.cancelled.iter().map(|(_, count)| count).sum();
    let seconds = phase.end_wall_ns.saturating_sub(phase.start_wall_ns) as f64 / 1e9;
    let _ = writeln!(
        text,
        "\n## Phase {}\n\n{} requests in {seconds:.2} s: {} completed, {} failed, {cancelled} cancelled.",
        escaped(&phase.name),
        credits.issued,
        credits.completed,
        credits.failed,
    );
    let shown: Vec<&MetricResult> = phase
        .metrics
        .iter()
        .filter(|metric| metric.spec.group != "none")
        .collect();
    if !shown.is_empty() {
        text.push('\n');
        let names = COLUMNS.map(|(name, _)| name);
        row(text, ["metric"].iter().chain(&names));
        row(text, ["---"].iter().chain(&["---:"; COLUMNS.len()]));
        for metric in shown {
            let header = format!("{} ({})", metric.spec.header, metric.spec.reported_unit());
            let cells = COLUMNS.map(|(_, stat)| number(metric.displayed(stat(&metric.stats))));
            row(text, [header].iter().chain(&cells));
        }
    }
    if !phase.errors.is_empty() {
        text.push_str("\n### Errors\n\n");
        row(text, ["count", "code", "type", "message"]);
        row(text, ["---:", "---:", "---", "---"]);
        for group in &phase.errors {
            let code = group.code.map(|code| code.to_string()).unwrap_or_default();
            row(text, [&group.count.to_string(), &code, &group.kind, &group.message]);
        }
    }
}

fn row<T: AsRef<str>>(text: &mut String, cells: impl IntoIterator<Item = T>) {
    text.push('|');
    for cell in cells {
        let _ = write!(text, " {} |", escaped(cell.as_ref()));
    }
    text.push('\n');
}

/// What does not exist is an empty cell, not 0.
fn number(value: Option<f64>) -> String {
    value.map(|value| format!("{value:.2}")).unwrap_or_default()
}

/// A text that can't end its cell or line, or be taken for markup.
fn escaped(text: &str) -> String {
    let mut plain = String::with_capacity(text.len());
    for letter in text.chars() {
        match letter {
            '\n' | '\r' => plain.push(' '),
            '|' | '\\' | '`' | '*' | '_' | '<' | '[' => plain.extend(['\\', letter]),
            letter => plain.push(letter),
        }
    }
    plain
}

#[cfg(test)]
mod tests {
    use super::*;
    use aiperf_sdk::{prelude::*, report::ErrorGroup, testing};

    fn latency() -> MetricResult {
        let spec = MetricSpec {
            display_unit: "ms".into(),
            ..MetricSpec::new("request_latency", "Request Latency", "ns", MetricKind::Record)
        };
        let stats = Stats {
            avg: Some(2.5e6),
            min: Some(1e6),
            max: Some(4_000.004e6),
            ..Stats::default()
        };
        testing::result(spec, 1e-6, stats)
    }

    #[test]
    fn a_report() {
        let hidden = MetricSpec {
            group: "none".into(),
            ..MetricSpec::new("hidden", "Hidden", "ns", MetricKind::Record)
        };
        let mut report = testing::report(vec![latency(), testing::result(hidden, 1.0, Stats::default())]);
        report.phases[0].errors.push(ErrorGroup {
            code: Some(503),
            kind: "Busy".into(),
            message: "try\nagain | later".into(),
            count: 2,
        });
        report.warnings.push("the client was late".into());
        assert_eq!(
            render("A *run*", &report),
            r"# A \*run\*

| run | 0123456789abcdef |
| --- | --- |
| tool | 0.1.0 |
| endpoint | chat |
| command | aiperf profile --model test-model |

**Warning:** the client was late

## Phase profiling

3 requests in 1.50 s: 3 completed, 0 failed, 0 cancelled.

| metric | avg | min | p50 | p90 | p99 | max |
| --- | ---: | ---: | ---: | ---: | ---: | ---: |
| Request Latency (ms) | 2.50 | 1.00 |  |  |  | 4000.00 |

### Errors

| count | code | type | message |
| ---: | ---: | --- | --- |
| 2 | 503 | Busy | try again \| later |
"
        );
    }
}
