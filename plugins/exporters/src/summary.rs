//! What the summaries have in common: which phase they show, which metrics, in which unit.

use aiperf_sdk::{
    api::report::{MetricResult, PhaseReport, Report, Stats},
    metric::flags,
};

/// Reads one statistic.
pub(crate) type Stat = fn(&Stats) -> Option<f64>;

/// Statistics by name, in the order of the summary CSV.
pub(crate) const STATS: [(&str, Stat); 14] = [
    ("avg", |stats| stats.avg),
    ("min", |stats| stats.min),
    ("max", |stats| stats.max),
    ("sum", |stats| stats.sum),
    ("p1", |stats| stats.p1),
    ("p5", |stats| stats.p5),
    ("p10", |stats| stats.p10),
    ("p25", |stats| stats.p25),
    ("p50", |stats| stats.p50),
    ("p75", |stats| stats.p75),
    ("p90", |stats| stats.p90),
    ("p95", |stats| stats.p95),
    ("p99", |stats| stats.p99),
    ("std", |stats| stats.std),
];

/// The phase that the summary is about: the profiling phase.
pub(crate) fn profiling(report: &Report) -> Option<&PhaseReport> {
    report.phases.iter().find(|phase| phase.kind == "profiling")
}

/// The warmup phase.
pub(crate) fn warmup(report: &Report) -> Option<&PhaseReport> {
    report.phases.iter().find(|phase| phase.kind == "warmup")
}

/// Warnings of the run, and those about what a summary can't show.
pub(crate) fn warnings(report: &Report) -> Vec<String> {
    let mut warnings = report.warnings.clone();
    for kind in ["profiling", "warmup"] {
        let mut names = report
            .phases
            .iter()
            .filter(|phase| phase.kind == kind)
            .map(|phase| &phase.name);
        if let (Some(first), others @ 1..) = (names.next(), names.count()) {
            warnings.push(format!(
                "the run had {} {kind} phases; the summary shows `{first}` alone",
                others + 1
            ));
        }
    }
    warnings
}

/// The metrics of a phase that are shown at all.
pub(crate) fn shown(phase: &PhaseReport) -> impl Iterator<Item = &MetricResult> {
    phase
        .metrics
        .iter()
        .filter(|metric| metric.spec.flags & (flags::INTERNAL | flags::EXPERIMENTAL) == 0)
}

/// A statistic in the display unit; `None` where it does not exist or is no number.
pub(crate) fn displayed(metric: &MetricResult, stat: Stat) -> Option<f64> {
    stat(&metric.stats)
        .map(|value| value * metric.factor)
        .filter(|value| value.is_finite())
}
