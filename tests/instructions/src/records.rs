//! Records of 16 tokens on their way to statistics, in batches of 256.

use std::{hint::black_box, sync::Arc};

use aiperf_plugin_api::metric::{MetricFamily, MetricSpec};
use aiperf_records::{
    accumulator::{Budget, PhaseAccumulator, RecordOutcome},
    catalogue::Catalogue,
    summary::Visibility,
    window::Window,
};
use aiperf_sdk::{Batch, Column, ColumnRef, MetricKind, Package, Validity, fields, testing};

const BATCH: usize = 256;
const TOKENS: usize = 16;

/// When record `i` of a closed loop of 64 requests starts, in ns.
fn start(i: usize) -> u64 {
    1_767_225_600_000_000_000 + (i / 64) as u64 * 10_000_000 + (i % 64) as u64 * 1_357
}

/// From the start to content `token`, in ns: no two alike.
fn after(i: usize, token: usize) -> u64 {
    2_000_000 + token as u64 * 400_000 + ((i * 7_919 + token * 104_729) % 1_000) as u64 * 100
}

/// Columns of the latency metrics of a batch.
pub(crate) fn metrics(times: usize) {
    let Ok(metric) = aiperf_metrics::BuiltIn::metric(testing::open("latency", "{}")) else {
        return;
    };
    let Ok(family) = metric.describe() else { return };
    let starts: Vec<u64> = (0..BATCH).map(start).collect();
    let ends: Vec<u64> = (0..BATCH).map(|i| start(i) + after(i, TOKENS)).collect();
    let contents: Vec<u64> = (0..BATCH)
        .flat_map(|i| (0..TOKENS).map(move |token| start(i) + after(i, token)))
        .collect();
    let content_ends: Vec<u32> = (1..=BATCH).map(|i| (i * TOKENS) as u32).collect();
    let tokens = vec![TOKENS as u64; BATCH];
    let columns: Vec<ColumnRef<'_>> = family
        .needs
        .iter()
        .map(|name| match name.as_str() {
            fields::CONTENT => ColumnRef::U64List(&content_ends, &contents, Validity::All),
            fields::END => ColumnRef::U64(&ends, Validity::All),
            name if name.contains("tokens") => ColumnRef::U64(&tokens, Validity::All),
            _ => ColumnRef::U64(&starts, Validity::All),
        })
        .collect();
    let batch = Batch {
        len: BATCH,
        columns: &columns,
    };
    for _ in 0..times {
        assert!(
            metric
                .record(black_box(&batch))
                .is_ok_and(|columns| !columns.is_empty())
        );
    }
}

/// Adds batches of 16 numbers and a list per record to a phase.
pub(crate) fn accumulate(times: usize) {
    let number = |i: usize| MetricSpec::new(format!("number_{i}"), "n", "ns", MetricKind::Record);
    let mut specs: Vec<MetricSpec> = (0..16).map(number).collect();
    specs.push(MetricSpec::new("gaps", "g", "ns", MetricKind::List));
    let family = MetricFamily {
        needs: Vec::new(),
        derive_needs: Vec::new(),
        metrics: specs,
    };
    let Ok(catalogue) = Catalogue::new(vec![family], Vec::new(), |_, _| true) else {
        return;
    };
    let mut columns: Vec<Column> = (0..16)
        .map(|n| match n % 2 {
            0 => Column::u64s((0..BATCH).map(|i| Some(after(i, n)))),
            _ => Column::f64s((0..BATCH).map(|i| Some(1e9 / after(i, n) as f64))),
        })
        .collect();
    columns.push(Column::U64List {
        ends: (1..=BATCH).map(|i| (i * (TOKENS - 1)) as u32).collect(),
        values: (0..BATCH)
            .flat_map(|i| (1..TOKENS).map(move |token| after(i, token) - after(i, token - 1)))
            .collect(),
        validity: vec![1; BATCH],
    });
    let outcomes: Vec<RecordOutcome> = (0..BATCH)
        .map(|i| RecordOutcome {
            start_ns: start(i),
            end_ns: start(i) + after(i, TOKENS),
            error: None,
        })
        .collect();
    let results = [Some(columns)];
    let mut accumulator = PhaseAccumulator::new(Arc::new(catalogue), Budget::default());
    for _ in 0..times {
        assert!(accumulator.add(black_box(&outcomes), black_box(&results)).is_ok());
    }
}

/// The curve of what `times` batches of records generate, and its statistics, as the end of a run makes them.
pub(crate) fn curves(times: usize) {
    let family = MetricFamily {
        needs: Vec::new(),
        derive_needs: Vec::new(),
        metrics: vec![MetricSpec::new("decode", "d", "tokens/sec", MetricKind::Steps)],
    };
    let Ok(catalogue) = Catalogue::new(vec![family], Vec::new(), |_, _| true) else {
        return;
    };
    let mut accumulator = PhaseAccumulator::new(Arc::new(catalogue), Budget::default());
    let records = times * BATCH;
    let outcomes: Vec<RecordOutcome> = (0..records)
        .map(|i| RecordOutcome {
            start_ns: start(i),
            end_ns: start(i) + after(i, TOKENS),
            error: None,
        })
        .collect();
    let steps = Column::Steps {
        from: (0..records).map(|i| start(i) + after(i, 0)).collect(),
        ends: (1..=records).map(|i| (i * (TOKENS - 1)) as u32).collect(),
        gaps: (0..records)
            .flat_map(|i| (1..TOKENS).map(move |token| after(i, token) - after(i, token - 1)))
            .collect(),
        weight: vec![1.0; records],
        validity: vec![1; records],
    };
    assert!(accumulator.add(&outcomes, &[Some(vec![steps])]).is_ok());
    let window = Window {
        start_ns: start(0),
        end_ns: start(records) + after(0, TOKENS),
    };
    let summary = accumulator.summary(window, None, Visibility::default());
    assert!(
        summary
            .statistics("decode")
            .is_some_and(|statistics| statistics.p99.is_some())
    );
}
