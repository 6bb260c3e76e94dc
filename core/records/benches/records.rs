//! What accumulating and summarising costs per record.
//!
//! `cargo bench -p aiperf-records [-- RECORDS [TOKENS [ROUNDS]]]` prints, for records of a streaming run with a closed
//! loop of 64 requests, the least time of several rounds in ns per record.

use std::{error::Error, sync::Arc, time::Instant};

use aiperf_plugin_api::{
    column::Column,
    metric::{MetricFamily, MetricKind, MetricSpec, Population, flags},
};
use aiperf_records::{
    accumulator::{Budget, PhaseAccumulator, RecordOutcome},
    catalogue::{Catalogue, CatalogueError},
    composition,
    summary::Visibility,
    window::Window,
};

// The allocator of the binary, since much of the time goes into fresh pages.
#[global_allocator]
static ALLOCATOR: mimalloc::MiMalloc = mimalloc::MiMalloc;

const CONCURRENCY: usize = 64;
/// Records per batch, as record processors send them.
const BATCH: usize = 256;
/// Numbers per record, about as many as the built-in metrics of a streaming run.
const NUMBERS: usize = 16;
const INTERVALS: [(&str, &str); 7] = [
    ("effective_concurrency", "requests"),
    ("effective_prefill_throughput", "tokens/sec"),
    ("effective_decode_concurrency", "requests"),
    ("effective_prefill_concurrency", "requests"),
    ("request_decode_throughput", "tokens/sec"),
    ("prompt_tokens_in_flight", "tokens"),
    ("first_tokens_in_flight", "tokens"),
];
const STEPS: [(&str, &str); 2] = [
    ("effective_decode_throughput", "tokens/sec"),
    ("chunk_tokens", "tokens"),
];

/// One request: its start, first token and end on the wall clock, and the gaps between its chunks.
struct Request {
    start: u64,
    first: u64,
    end: u64,
    input: u64,
    gaps: Vec<u64>,
}

/// A small generator of numbers (Knuth's MMIX), for data that is the same in each run.
struct Numbers(u64);

impl Numbers {
    fn below(&mut self, bound: u64) -> u64 {
        self.0 = self
            .0
            .wrapping_mul(6_364_136_223_846_793_005)
            .wrapping_add(1_442_695_040_888_963_407);
        (self.0 >> 33) % bound
    }
}

/// Requests in the order in which they complete.
fn requests(count: usize, tokens: usize) -> Vec<Request> {
    let mut numbers = Numbers(7);
    let mut free = vec![1_767_225_600_000_000_000; CONCURRENCY];
    let mut requests: Vec<Request> = (0..count)
        .map(|i| {
            let start = free[i % CONCURRENCY] + numbers.below(50_000);
            let first = start + 2_000_000 + numbers.below(6_000_000);
            let gaps: Vec<u64> = (1..tokens)
                .map(|_| 200_000 + numbers.below(100_000) * numbers.below(20))
                .collect();
            let end = first + gaps.iter().sum::<u64>() + numbers.below(20_000);
            free[i % CONCURRENCY] = end;
            Request {
                start,
                first,
                end,
                input: 500 + numbers.below(100),
                gaps,
            }
        })
        .collect();
    requests.sort_by_key(|request| request.end);
    requests
}

/// The metrics, with or without curves.
fn catalogue(curves: bool) -> Result<Catalogue, CatalogueError> {
    let spec = |tag: &str, unit: &str, kind| MetricSpec::new(tag, tag, unit, kind);
    let latency = |i: usize| MetricSpec {
        flags: flags::ERROR_ADJUSTED,
        ..spec(&format!("number_{i}"), "ns", MetricKind::Record)
    };
    let mut metrics: Vec<MetricSpec> = (0..NUMBERS).map(latency).collect();
    metrics.push(spec("inter_chunk_latency", "ns", MetricKind::List));
    let part = |tag: &str| {
        if tag.starts_with("effective") {
            0
        } else {
            flags::INTERNAL
        }
    };
    metrics.extend(INTERVALS.map(|(tag, unit)| MetricSpec {
        population: Population::All,
        flags: part(tag),
        ..spec(tag, unit, MetricKind::Interval)
    }));
    metrics.extend(STEPS.map(|(tag, unit)| MetricSpec {
        flags: part(tag),
        ..spec(tag, unit, MetricKind::Steps)
    }));
    let family = MetricFamily {
        needs: Vec::new(),
        derive_needs: Vec::new(),
        metrics,
    };
    Catalogue::new(vec![family], composition::standard(|_| true), |_, spec| {
        curves || !matches!(spec.kind, MetricKind::Interval | MetricKind::Steps)
    })
}

/// The columns that metrics return for a batch.
fn columns(batch: &[Request]) -> Vec<Column> {
    let number = |i: usize| match i % 4 {
        0 => Column::f64s(batch.iter().map(|r| Some(15e9 / (r.end - r.first) as f64))),
        1 => Column::u64s(batch.iter().map(|r| Some(r.first - r.start))),
        2 => Column::u64s(batch.iter().map(|r| Some(r.input))),
        _ => Column::u64s(batch.iter().map(|r| Some(r.end - r.start))),
    };
    let interval = |of: &dyn Fn(&Request) -> (u64, u64, f64)| {
        let rows: Vec<_> = batch.iter().map(of).collect();
        Column::Intervals {
            from: rows.iter().map(|row| row.0).collect(),
            to: rows.iter().map(|row| row.1).collect(),
            weight: rows.iter().map(|row| row.2).collect(),
            validity: vec![1; rows.len()],
        }
    };
    let ends = || -> Vec<u32> {
        let ends = batch.iter().scan(0, |end, r| {
            *end += r.gaps.len() as u32;
            Some(*end)
        });
        ends.collect()
    };
    let gaps = || -> Vec<u64> { batch.iter().flat_map(|r| r.gaps.iter().copied()).collect() };
    let steps = || Column::Steps {
        from: batch.iter().map(|r| r.first).collect(),
        ends: ends(),
        gaps: gaps(),
        weight: vec![1.0; batch.len()],
        validity: vec![1; batch.len()],
    };
    let mut columns: Vec<Column> = (0..NUMBERS).map(number).collect();
    columns.push(Column::U64List {
        ends: ends(),
        values: gaps(),
        validity: vec![1; batch.len()],
    });
    let decoded = |r: &Request| r.gaps.len() as f64;
    columns.extend([
        interval(&|r| (r.start, r.end, 1.0)),
        interval(&|r| (r.start, r.first, r.input as f64 / (r.first - r.start) as f64)),
        interval(&|r| (r.first, r.end, 1.0)),
        interval(&|r| (r.start, r.first, 1.0)),
        interval(&|r| (r.first, r.end, decoded(r) / (r.end - r.first).max(1) as f64)),
        interval(&|r| (r.start, r.end, r.input as f64)),
        interval(&|r| (r.first, r.end, 1.0)),
    ]);
    columns.extend([steps(), steps()]);
    columns
}

fn main() -> Result<(), Box<dyn Error>> {
    // `cargo bench` adds `--bench`.
    let mut arguments = std::env::args().skip(1).filter_map(|argument| argument.parse().ok());
    let mut argument = |default: usize| arguments.next().unwrap_or(default);
    let (count, tokens, rounds) = (argument(50_000), argument(16), argument(5));
    let requests = requests(count, tokens);
    let batches: Vec<_> = requests
        .chunks(BATCH)
        .map(|batch| {
            let outcome = |r: &Request| RecordOutcome {
                start_ns: r.start,
                end_ns: r.end,
                error: None,
            };
            (
                batch.iter().map(outcome).collect::<Vec<_>>(),
                vec![Some(columns(batch))],
            )
        })
        .collect();
    let window = Window {
        start_ns: requests.iter().map(|r| r.start).min().unwrap_or(0),
        end_ns: requests.iter().map(|r| r.end).max().unwrap_or(0),
    };
    let per_record = |start: Instant| start.elapsed().as_nanos() as f64 / count.max(1) as f64;
    let all = Visibility {
        internal: true,
        experimental: true,
    };
    println!("{count} records of {tokens} tokens, per record, least of {rounds} rounds:");
    for (curves, label) in [(false, "without curves"), (true, "with curves")] {
        let catalogue = Arc::new(catalogue(curves)?);
        let (mut add, mut summarise, mut bytes) = (f64::MAX, f64::MAX, 0);
        for round in 0..rounds {
            let mut accumulator = PhaseAccumulator::new(Arc::clone(&catalogue), Budget::default());
            let start = Instant::now();
            for (records, results) in &batches {
                accumulator.add(records, results)?;
            }
            add = add.min(per_record(start));
            let start = Instant::now();
            drop(accumulator.summary(window, None, Visibility::default()));
            summarise = summarise.min(per_record(start));
            bytes = accumulator.bytes();
            if curves && round == 0 && std::env::var_os("RESULTS").is_some() {
                for result in accumulator.summary(window, None, all).results() {
                    println!("{} {:?}", result.spec.tag, result.statistics);
                }
            }
        }
        let bytes = bytes as f64 / count.max(1) as f64;
        println!("{label:15} add {add:8.1} ns, summary {summarise:8.1} ns, {bytes:6.1} bytes held");
    }
    Ok(())
}
